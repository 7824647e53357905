"""The closed classes of English that slots are read by: auxiliaries, prepositions, classifiers, and what is one-valued.

These are tables of the language and not of any data set: a word is listed because of how it behaves in a sentence.
"""

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS: Final = _set("the a an this that these those our my your his her its their")
BE: Final = _set("is are was were be been being am")
HAVE: Final = _set("has have had")
MODALS: Final = _set("will would can could may might must shall should")
DO: Final = _set("does do did")
NEGATIONS: Final = _set("not never no neither nor nobody nothing none without cannot")
ADVERBS: Final = _set(
    "now currently still also originally already just only officially formerly previously recently then today "
    "always  often usually really actually presently newly initially once"
)
RELATIVES: Final = _set("that which who whom where whose")
PREPOSITIONS: Final = _set("in on at to for from by with of about as into onto under over against near within between")
LINKS: Final = _set("of the a an and in on for de la le du van von der den del al el y at to with &")
"""Small words that may stand inside a name."""

SCOPES: Final = _set(
    "in on at when while whenever during since until till for under after before within throughout if unless "
    "because  with without by from per among across via than although though but despite"
)
"""Words that may open a phrase that says when, where or under which condition something holds."""

SUBORDINATORS: Final = _set("when while whenever if unless because after before since although though until as than")

PERSONS: Final = _set("i we you they he she it")
PLURALS: Final = _set("i we you they")

# "the city of London" is London, "the mayor of London" is not: these nouns are in apposition to what follows them.
PLACES: Final = _set(
    "city town village municipality borough country state nation province county region district continent island "
    "kingdom republic"
)
ROLES: Final = _set(
    "sport game religion faith position role post rank title profession occupation field area discipline subject genre "
    "name age colour color brand"
)
"""Who is in "the position of" something is in one: the article says so. (One may be in "the city of" many places.)"""
CLASSIFIERS: Final = PLACES | ROLES | _set("language year month day date company firm university school")

IRREGULAR: Final = {
    form: base
    for base, forms in {
        "be": "is are was were been am being",
        "have": "has had",
        "do": "does did done",
        "write": "wrote written",
        "speak": "spoke spoken",
        "bear": "born bore borne",
        "die": "dying died",
        "know": "knew known",
        "lead": "led",
        "build": "built",
        "buy": "bought",
        "sell": "sold",
        "hold": "held",
        "win": "won",
        "lose": "lost",
        "leave": "left",
        "teach": "taught",
        "think": "thought",
        "eat": "ate eaten",
        "drink": "drank drunk",
        "drive": "drove driven",
        "give": "gave given",
        "take": "took taken",
        "make": "made",
        "say": "said",
        "see": "saw seen",
        "send": "sent",
        "sing": "sang sung",
        "run": "ran",
        "rise": "rose risen",
        "fall": "fell fallen",
        "grow": "grew grown",
        "become": "became",
        "begin": "began begun",
        "choose": "chose chosen",
        "come": "came",
        "go": "went gone goes",
        "get": "got gotten",
        "keep": "kept",
        "meet": "met",
        "pay": "paid",
        "spend": "spent",
        "find": "finds",
        "wear": "wore worn",
        "cost": "costs",
        "cut": "cuts",
        "set": "sets",
        "read": "reads",
        "forbid": "forbade forbidden",
        "lie": "lay lain lies",
    }.items()
    for form in forms.split()
}

VERBS: Final = (
    _set(
        "accept acquire adore advise allow approve avoid ban base believe belong buy call cause charge close "
        "come compose  contain cost cover create deliver depend deploy design despise detest develop direct "
        "discover dislike  distribute drink drive earn eat employ enable end enjoy exclude expire favour favor "
        "feature fly follow forbid  found get give go graduate grow happen hate head hire hold host import "
        "include increase invent issue join keep  know last lead learn leave like list live loathe love lower "
        "maintain manage manufacture marry measure meet  mentor migrate move need offer oppose own paint "
        "perform permit play prefer produce prohibit provide publish  raise read recommend reduce reject "
        "release relocate report require reside return reply represent ride rise run  sell sing sit sleep "
        "speak specialise specialize spend sponsor start store study suffer supply support take  teach trust "
        "travel treat use visit want watch wear weigh win work write distrust retire switch stay remain "
        "become own has have took began inhibit leak boil block stands stand handles handle serve fall range"
    )
    | IRREGULAR.keys()
    | set(IRREGULAR.values())
)
"""Verbs that are taken for one even where an ending does not give them away."""

# What a relation is called, whatever the wording: only pairs that are one relation everywhere.
SYNONYMS: Final = {
    **dict.fromkeys(("marry to", "husband", "wif", "marry", "wed to"), "spouse"),
    **dict.fromkeys(
        (
            *("locat in", "locat at", "situat in", "situat at", "bas in", "headquarter in", "in", "at", "on"),
            *("liv in", "liv at", "resid in", "resid at", "mov to", "relocat to", "location", "mov into"),
            *("stand in", "stand at", "lie in", "headquarter locat in", "headquarter"),
        ),
        "place",
    ),
    **dict.fromkeys(("chief executiv officer", "chief executiv", "ceo"), "ceo"),
    **dict.fromkeys(("work at", "work for", "join", "employ at", "hir by"), "employ by"),
    **dict.fromkeys(("birthplac", "plac birth", "city birth"), "bear in"),
    **dict.fromkeys(("birthday", "dat birth", "birth dat", "bear on"), "bear when"),
    **dict.fromkeys(("plac death",), "die in"),
    **dict.fromkeys(("dat death", "die on"), "die when"),
    **dict.fromkeys(("call", "know as", "renam to", "renam"), "nam"),
    **dict.fromkeys(("cost", "pric at"), "pric"),
    **dict.fromkeys(("author", "writer"), "writ by"),
    **dict.fromkeys(("begin at", "open at"), "start at"),
    "begin when": "start when",
    "terminat when": "end when",
    "expir when": "end when",
    "nationality": "citizen of",
    "citizenship": "citizen of",
    "country citizenship": "citizen of",
    "employer": "employ by",
    "hold citizenship of": "citizen of",
}

ACTIVE: Final = _set(
    "found create invent discover write author direct produce develop compose design own lead head employ "
    "build paint  publish manufacture"
)
"""Verbs whose active is told as the passive: "Maria founded Acme" is who Acme was founded by."""

ONE: Final = (
    _set("place spouse pric nam capital ceo population status deadlin email address phon version ag date")
    | {"bear in", "bear when", "die in", "die when", "found in", "found when", "establish in", "creat in", "writ by"}
    | {
        f"{verb} when"
        for verb in ("due", "start", "end", "launch", "build", "publish", "releas", "schedul", "open", "creat", "clos")
    }
    | {"start at", "end at", "clos at", "writ when"}
)
"""Relations that have one value at a time, whatever the wording."""

MANY: Final = _set(
    "child son daughter kid brother sister sibling parent friend colleague member customer client partner "
    "employee  student teacher hobby interest skill relative cousin aunt uncle nephew niece pet neighbour "
    "neighbor supplier  competitor exampl part featur benefit symptom caus side-effect award work book song "
    "film user speak know visit  read watch eat drink buy sell contain includ cover meet teach study writ like "
    "want need play own us hav support  offer provid requir"
) | {"member of", "fan of", "part of", "friend of", "belong to", "interest in", "one of", "travel to"}
"""Relations that have many values unless somebody says otherwise: "likes", "speaks", "is a member of", "child"."""

ATTRIBUTES: Final = _set(
    "date price name owner ceo version status address deadline location capital budget price size capacity "
    "headquarters headcount salary colour color birthday population"
)
"""Nouns that are an attribute of the noun before them: "the launch date" is the date of the launch."""

STATES: Final = {
    word: axis
    for axis, sides in {
        "open": "open/closed shut",
        "enabled": "enabled on active/disabled off inactive",
        "available": "available/unavailable",
        "alive": "alive/dead",
        "up": "up online/down offline",
        "safe": "safe/unsafe dangerous",
        "public": "public/private confidential",
        "married": "married/single divorced unmarried",
        "mandatory": "mandatory required compulsory obligatory/optional",
        "free": "free/occupied busy",
        "maintained": "maintained/abandoned unmaintained archived",
        "supported": "supported/unsupported deprecated",
        "vegetarian": "vegetarian vegan/carnivorous",
        "employed": "employed/unemployed",
        "healthy": "healthy/ill sick unhealthy",
        "legal": "legal lawful/illegal unlawful",
        "encrypted": "encrypted/unencrypted",
        "full": "full/empty",
        "approved": "approved/rejected unapproved",
        "paid": "paid/unpaid",
        "valid": "valid/invalid expired void",
        "secure": "secure/insecure",
        "stable": "stable/unstable",
    }.items()
    for word in sides.replace("/", " ").split()
}
"""States by the axis they lie on: one thing is in one of them at a time."""
STATES_BELOW: Final = _set(
    "closed shut disabled off inactive unavailable dead down offline unsafe dangerous private confidential "
    "single  divorced unmarried optional occupied busy abandoned unmaintained archived unsupported deprecated "
    "carnivorous  unemployed ill sick unhealthy illegal unlawful unencrypted empty rejected unapproved unpaid "
    "invalid expired void  insecure unstable"
)

POLES: Final = {
    word: (axis, side)
    for axis, sides in {
        "like": "like love enjoy adore/hate dislike loathe detest despise",
        "support": "support back favour favor/oppose",
        "trust": "trust/distrust mistrust",
        "allow": "allow permit/forbid ban prohibit",
        "accept": "accept approve/reject refuse",
        "enable": "enable/disable",
    }.items()
    for side, words in zip(("for", "against"), sides.split("/"), strict=True)
    for word in words.split()
}
"""Verbs that take a side: who loves a thing and who hates it say two values of one slot."""

BECOMING: Final = frozenset(
    {"becom", "tak over as", "take over as", "appoint", "appoint as", "nam", "nam as", "elect", "elect as"}
    | {"serv as", "promot to", "remain", "step in as", "start as", "act as", "work as", "confirm as"}
)
"""Verbs that put somebody into a role, so that "Priya became head of security" is whom security has as its head."""

SUPERLATIVE: Final = _set(
    "only main primary official current default favourite favorite first last sole principal chief best worst "
    "most least  preferred maximum minimum total average head lead"
)

UNITS: Final = _set(
    "ms s sec seconds second minutes minute min hours hour h days day weeks week months month years year % "
    "percent kg g  mg tonnes tons km m cm mm miles metres meters gb mb kb tb mw kw w litres liters ml degrees "
    "celsius fahrenheit  dollars euros pounds usd eur gbp points people users nodes"
)
NUMBER_WORDS: Final = _set(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen  eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
    "million billion"
)
HEDGES: Final = _set("about around roughly approximately nearly almost over under below above at least most up to than")
TODAY: Final = _set("now today currently presently anymore")
PARTICLES: Final = _set("over up down out off back in on away part")
REPORTING: Final = _set(
    "say says said found finds show shows showed claim claims claimed report reported reports argue argues "
    "argued think  thinks thought believe believes believed confirm confirms confirmed state states stated "
    "suggest suggests suggested  announced announces predicts predicted estimates estimated expects expected "
    "alleges alleged denies denied"
)
"""Verbs that tell what somebody says: what follows is theirs, and fills no slot."""
