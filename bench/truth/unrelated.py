"""Sentences of many domains of which no two conflict: what most new facts are to most claims.

A subject (a place or a name, and a noun) has each of its domain's predicates at most once, and the predicates of a
domain are compatible, so whatever is drawn is consistent. It is still hard for a judge: many sentences share their
subject, and many share their predicate with another value.
"""

import random
from collections.abc import Iterator

PLACES = (  # noqa: SIM905  # as it is read
    "Riga Oslo Porto Ghent Turin Lagos Quito Osaka Tampa Perth Cairo Delhi Leeds Basel Tunis Dakar Izmir Busan Minsk "
    "Sofia Accra Lima Hanoi Doha Bergen Malmo Nice Utrecht Graz Cork"
).split()
PEOPLE = (  # noqa: SIM905  # as it is read
    "Amara Bruno Chidi Dagny Elias Farah Goran Hana Ivo Jamal Kaya Lars Mina Noor Otto Paula Qadir Rosa Stig Tilda "
    "Umar Vera Wanda Xenia Yusuf Zoe Anton Birgit Cyrus Delia"
).split()

DOMAINS = {
    "library": ("The {place} library", PLACES, (
        "opens at {} on weekdays|eight nine ten", "has {} floors|two three four", "lends board games",
        "was designed by a {} architect|Danish Spanish Japanese", "keeps a collection of old maps",
        "employs {} people|twelve twenty thirty")),
    "bakery": ("The bakery in {place}", PLACES, (
        "sells {} bread|rye spelt corn", "closes on {}|Mondays Sundays Tuesdays", "takes orders by phone",
        "buys its flour from a local mill", "has a {} oven|gas wood-fired electric", "delivers to three schools")),
    "person's work": ("{place}", PEOPLE, (
        "works as a {}|clerk writer trainer", "plays for the {} team|chess rowing judo", "joined in {}|2015 2018 2020",
        "speaks {} fluently|Polish Arabic Korean", "reports to the head of operations", "sits on the safety board")),
    "person's life": ("{place}'s neighbour", PEOPLE, (
        "plays the {}|cello flute drums", "keeps {} hens|four six nine", "grew up in a fishing village",
        "drives a {} van|green white yellow", "collects stamps", "rises before {}|five six seven")),
    "server": ("The {place} data centre", PLACES, (
        "runs on {} power|solar hydro wind", "hosts {} racks|forty ninety sixty", "has two fibre links",
        "is cooled with sea water", "was certified in {}|March June October", "stores medical images")),
    "software": ("The {place} module of the scheduler", PEOPLE, (
        "is written in {}|Rust Go Kotlin", "has {} unit tests|eighty ninety fifty", "logs to standard error",
        "retries a failed job {} times|two three five", "depends on the clock service", "was reviewed last week")),
    "bridge": ("The bridge at {place}", PLACES, (
        "is {} metres long|90 140 220", "was painted {}|red grey blue", "carries a tram line",
        "is inspected every {}|spring autumn winter", "has a separate path for cyclists", "rests on granite piers")),
    "clinic": ("The {place} clinic", PLACES, (
        "treats {} patients a day|60 80 110", "has a children's ward", "stores its records on paper",
        "performs {} surgery|knee eye dental", "is reached by bus line {}|4 7 12", "was founded by nuns")),
    "trial": ("The {place} trial", PEOPLE, (
        "enrolled {} patients|120 240 310", "was sponsored by a foundation", "measured {}|sleep weight pain",
        "lasted {} weeks|six ten twelve", "excluded smokers", "was published in a regional journal")),
    "river": ("The river below {place}", PLACES, (
        "is home to {}|otters herons trout", "floods most often in {}|April May November", "powers two old mills",
        "carries a lot of silt", "is crossed by a ferry", "is {} kilometres from the border|8 15 30")),
    "museum": ("The museum of {place}", PLACES, (
        "owns a {} painting|Flemish French Dutch", "charges {} euros|six nine eleven", "closes for lunch",
        "has a garden with statues", "shows {} exhibitions a year|three four five", "lends works to schools")),
    "football": ("The football club of {place}", PLACES, (
        "plays in {}|green black orange", "has a stadium for {} people|9,000 14,000 22,000", "trains on Thursdays",
        "was founded by dockers", "signed a goalkeeper from {}|Ghana Chile Norway", "runs a youth academy")),
    "bank": ("The {place} branch of the bank", PLACES, (
        "has {} counters|three five six", "rents out safe boxes", "advises farmers",
        "lends mostly to {}|builders students bakers", "moved its archive to the cellar",
        "opens on Saturday mornings")),
    "ship": ("The ferry {place}", PEOPLE, (
        "carries {} cars|40 65 90", "was built in {}|Turku Gdansk Nagasaki", "burns marine gas oil",
        "has a café on the upper deck", "is overhauled in dry dock", "sails under the {} flag|Danish Greek Finnish")),
    "farm": ("The farm of {place}", PEOPLE, (
        "grows {}|barley hops beans", "keeps {} goats|15 30 45", "sells cheese at the market",
        "draws its water from a well", "covers {} hectares|12 28 50", "employs pickers in summer")),
    "school": ("The school in {place}", PLACES, (
        "teaches {} as a second language|Latin Chinese Italian", "has {} classrooms|eighteen twenty thirty",
        "owns a greenhouse", "won a prize for its choir", "serves lunch at {}|noon one two",
        "shares its gym with a judo club")),
    "restaurant": ("The restaurant of chef {place}", PEOPLE, (
        "is known for its {}|lamb squid dumplings", "seats {} guests|30 45 60", "takes no cards",
        "has a terrace", "changes its menu every {}|week month season", "buys fish at the harbour")),
    "weather": ("The weather station at {place}", PLACES, (
        "measures {}|snow wind rain", "sends data every {} minutes|five ten fifteen", "stands on a hill",
        "was hit by lightning", "is run by {}|volunteers students pilots", "has a solar panel")),
    "vendor": ("The supplier {place} & Sons", PEOPLE, (
        "makes {}|valves bolts pumps", "ships within {} days|two four six", "offers a five-year warranty",
        "bought a second warehouse", "invoices in {}|dollars euros francs", "trains its drivers")),
    "book": ("The novel by {place}", PEOPLE, (
        "is set in {}|Peru Kenya Iceland", "has {} chapters|twelve twenty thirty", "was translated by a poet",
        "sold well in the north", "opens with a {}|storm wedding trial", "has a blue cover")),
    "mine": ("The mine near {place}", PLACES, (
        "produces {}|zinc copper salt", "is {} metres deep|300 450 700", "was closed for two winters",
        "pumps out warm water", "employs {} engineers|eleven sixteen twenty", "has a narrow railway")),
    "tower": ("The radio tower of {place}", PLACES, (
        "broadcasts {}|jazz news sermons", "is {} metres tall|80 120 160", "is lit at night",
        "stands beside a reservoir", "was repaired in {}|May July September", "can be seen from the sea")),
}  # fmt: skip
"""For each domain: what its subjects are, their names, and predicates; behind a bar, the values one is drawn of."""

SECOND = {
    "hotel": ("The hotel in {place}", PLACES, (
        "charges {} euros a night|70 95 130", "serves breakfast until {}|nine ten eleven", "lets dogs in",
        "has a view of the {}|harbour park hills", "changed its carpets", "is managed by a former sailor")),
    "laboratory": ("The laboratory of professor {place}", PEOPLE, (
        "studies {}|moss glaciers enzymes", "shares a microscope with two others",
        "has a grant until {}|May July August", "publishes its raw data", "took on {} students|two four five",
        "freezes its samples")),
    "train": ("The night train to {place}", PLACES, (
        "leaves from platform {}|2 5 9", "has {} sleeping cars|three five seven", "serves tea",
        "is pulled by an old engine", "stops in {} towns|four six eight", "must be booked in advance")),
    "backup": ("The backup job of {place}", PEOPLE, (
        "starts at {}|midnight dawn noon", "writes to tape", "takes {} minutes|20 45 70",
        "sends a mail when it ends", "skips temporary files", "was moved to another host")),
    "orchestra": ("The orchestra of {place}", PLACES, (
        "tunes to {} hertz|440 442 443", "toured {}|Canada Brazil India", "rehearses in a church",
        "hired a new oboist", "plays mostly {}|Brahms Haydn Ravel", "records its concerts")),
    "policy": ("The travel policy of department {place}", PEOPLE, (
        "allows {} flights a year|two three six", "covers taxi fares", "must be signed by a manager",
        "excludes {}|interns guests trainees", "was translated last summer", "has a section on visas")),
    "forest": ("The forest near {place}", PLACES, (
        "is mostly {}|beech pine oak", "is patrolled by {} rangers|two three five", "burned in a dry summer",
        "has a lake", "is home to {}|lynxes owls badgers", "belongs to the province")),
    "phone": ("The phone designed by {place}", PEOPLE, (
        "weighs {} grams|160 175 190", "has a {} case|glass steel bamboo", "charges without a cable",
        "comes with a spare battery", "survived a fall into water", "is sold in {} countries|nine twelve twenty")),
    "garden": ("The garden behind house {place}", PEOPLE, (
        "grows {}|roses kale mint", "gets watered at {}|dawn noon dusk", "slopes toward the canal",
        "attracts {}|bees foxes moths", "lost a plum tree", "has {} benches|two three four")),
    "invoice": ("Invoice {place}-7", PLACES, (
        "was paid in {}|March June August", "covers {} hours of consulting|12 30 45", "lists a discount",
        "was sent by courier", "names {} as the contact|Ines Marek Tomas", "is stored in the blue binder")),
    "endpoint": ("The {place} endpoint", PEOPLE, (
        "returns {}|JSON XML CSV", "requires a token", "caches responses for {} seconds|30 60 90",
        "accepts up to {} items per call|50 100 200", "was documented by an intern", "validates the postal code")),
    "airport": ("The airport of {place}", PLACES, (
        "handles {} flights a day|80 120 200", "sells local honey", "lies on reclaimed land", "has a chapel",
        "tests new {} scanners|baggage passport body", "bans drones within {} kilometres|3 5 8")),
    "choir": ("The choir that {place} conducts", PEOPLE, (
        "sings in {}|Latin Welsh Basque", "meets on {}|Fridays Mondays Sundays", "wears grey robes",
        "includes {} tenors|four five eight", "toured the islands", "raises money for a hospice")),
    "turbine": ("Turbine {place}-2", PLACES, (
        "produces {} megawatts|3 5 6", "was serviced in {}|April May October", "vibrates at low wind",
        "uses a ceramic bearing", "feeds the northern grid", "stands on a floating base")),
}  # fmt: skip
"""Written after the judge was mended on account of DOMAINS, to see whether that was a memory of them, and in part it
was: of the first eight, 126 of 700 facts retired something at first; of the other six, written after that, 18 of 540.
The judge has been mended on account of these, too, so none of them is held out now.
"""


def sentences(seed: int = 0, *, second: bool = False) -> Iterator[str]:
    """Yield the sentences in random order, the same for a seed: 3,960, or the 2,520 of the second set."""
    order = random.Random(seed)
    drawn = []
    for subject, names, predicates in (SECOND if second else DOMAINS).values():
        for name in names:
            for predicate in predicates:
                words, _, values = predicate.partition("|")
                about = subject.format(place=name)
                drawn.append(f"{about} {words.format(_value(order, values))}.")
    order.shuffle(drawn)
    yield from drawn


def _value(order: random.Random, values: str) -> str:
    return order.choice(values.split()) if values else ""
