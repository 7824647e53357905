"""Personal data in a text that is to be the organisation's: what identifies somebody privately, or tells of their life.

Rules, and no more than rules: they find what has a form (addresses, numbers with a check digit) and what joins a person
to health, pay or private life. Business addresses and the names of people at their work are no personal matter here.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

Class = Literal["business", "private", "mixed"]


class Classifier(Protocol):
    """Says what a text is about."""

    @property
    def name(self) -> str: ...

    def classify(self, text: str) -> Class:
        """Return what the text is. Raises UnavailableError where it cannot say: then nothing is written."""
        ...


@dataclass(frozen=True, slots=True)
class RuleClassifier:
    """The classifier that needs no model: what the rules of this module find. `people` are the names it knows."""

    people: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return what it is called."""
        return "rules"

    def classify(self, text: str) -> Class:
        """Return business where nothing personal is found, private where every sentence has some, else mixed."""
        if not any(True for _ in personal(text, people=self.people)):
            return "business"
        every = [sentence for sentence in _sentences(text) if sentence.strip()]
        return "private" if all(any(True for _ in personal(s, people=self.people)) for s in every) else "mixed"


def personal(text: str, *, people: Collection[str] = ()) -> Iterator[str]:
    """Yield what is personal in the text, without repeating it. `people` are the full names of the organisation's."""
    plain = unicodedata.normalize("NFKC", text)
    for what, found in (
        ("a private e-mail address", _private_address(plain)),
        ("a phone number", _phone(plain)),
        ("a bank account number (IBAN)", _iban(plain)),
        ("the number of a payment card", _card(plain)),
        ("a national identity, social security or tax number", _national_id(plain)),
        ("a date of birth", bool(_BORN.search(plain))),
        ("a private address", bool(_HOME.search(plain))),
        ("somebody's health, pay or private life", _private_life(plain, people)),
    ):
        if found:
            yield what


# --- what has a form --------------------------------------------------------------------------------------------------

_ADDRESS: Final = re.compile(
    r"[\w.+-]{1,64}\s?(?:@|\(at\)|\[at\])\s?([\w-]+(?:\s?(?:\.|\(dot\)|\[dot\])\s?[\w-]+)+)", re.IGNORECASE
)
_PRIVATE_HOSTS: Final = re.compile(
    r"(?:gmail|googlemail|gmx|web|yahoo|ymail|hotmail|outlook|live|msn|icloud|me|mac|aol|proton|protonmail|pm|t-online"
    r"|freenet|orange|free|laposte|wanadoo|sfr|bluewin|libero|virgilio|alice|yandex|qq|163|126|fastmail|tutanota"
    r"|zoho|hispeed|sunrise|btinternet|comcast|verizon|sbcglobal|att|cox|posteo|mailbox)"
    r"\.(?:com|net|org|de|ch|at|fr|it|es|co\.uk|co\.in|me|ru|eu|io|be|nl|pl|fm)(?![\w-])"
)


def _private_address(text: str) -> bool:
    hosts = (re.sub(r"\(dot\)|\[dot\]", ".", found[1].lower()).replace(" ", "") for found in _ADDRESS.finditer(text))
    return any(_PRIVATE_HOSTS.match(host) for host in hosts)


_INTERNATIONAL: Final = re.compile(r"(?<![\w+.,/-])(?:\+|00)[1-9][\d ()./-]{7,22}\d(?!\w)")
_AMERICAN: Final = re.compile(r"(?<![\w-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-.])[2-9]\d{2}[-.]\d{4}(?![\w-])")
_NATIONAL: Final = re.compile(
    r"\b(?:tel(?:efon|ephone|éphone)?|phone|mobile?|cell|natel|handy|whatsapp|signal|call|ring|ruf\w*|anruf\w*|appele[zr]"
    r"|joignable|fax)\b\W{0,3}(?:\w+\W{1,3}){0,5}\(?0?[1-9][\d ()./-]{5,16}\d(?!\w)",
    re.IGNORECASE,
)
_TOLL_FREE: Final = re.compile(
    r"(?:\+|00)?(?:1\D{0,2})?\(?0?80[0-9]\D|(?:\+|00)\d{2}\D{0,3}80[0-9]\D|0?8(?:00|08|40|42|44|48)\D"
)


def _phone(text: str) -> bool:
    found = (*_INTERNATIONAL.finditer(text), *_AMERICAN.finditer(text), *_NATIONAL.finditer(text))
    return any(_is_phone(re.sub(r"^[^\d+(]+", "", each[0])) for each in found)


def _is_phone(written: str) -> bool:
    digits = re.sub(r"\D", "", written)
    decimal = re.fullmatch(r"\+?\d+\.\d+", written)  # +3.14159265, which nobody answers
    grouped = re.fullmatch(r"\d{1,3}(?:[. ]\d{3})+", written)
    date = re.match(r"\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4}", written)
    return 7 <= len(digits) <= 15 and not (decimal or grouped or date or _TOLL_FREE.match(written))


_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b", re.IGNORECASE)


_IBAN_LENGTHS: Final = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS", 23: "AE IL IQ TL", 24: "AD CZ ES MD PK RO SA SE SK TN", 25: "PT",
    26: "IS TR", 27: "FR GR IT MC MR SM", 28: "AL AZ CY DO GT HU LB PL", 29: "BR EG PS QA UA", 30: "JO KW MU",
    31: "MT",
}  # fmt: skip
_IBAN_LENGTH: Final = {country: length for length, countries in _IBAN_LENGTHS.items() for country in countries.split()}


def _iban(text: str) -> bool:
    return any(_is_account(re.sub(r"[ -]", "", found[0]).upper()) for found in _IBAN.finditer(text))


def _is_account(written: str) -> bool:
    """Return whether the letters begin with an account number of their country, its check digits right."""
    length = _IBAN_LENGTH.get(written[:2], 0)
    turned = written[4:length] + written[:4]
    return 0 < length <= len(written) and int("".join(str(int(each, 36)) for each in turned)) % 97 == 1


_CARD: Final = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_BRANDS: Final = re.compile(
    r"4\d{15}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17}"
)


def _card(text: str) -> bool:
    numbers = (re.sub(r"[ -]", "", found[0]) for found in _CARD.finditer(text))
    return any(_BRANDS.fullmatch(number) and _luhn(number) for number in numbers)


def _luhn(number: str) -> bool:
    doubled = (int(each) * (2 if place % 2 else 1) for place, each in enumerate(reversed(number)))
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


_NATIONAL_IDS: Final = re.compile(
    r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"  # United States
    r"|(?<!\w)756[. ]\d{4}[. ]\d{4}[. ]\d{2}(?!\w)"  # Switzerland
    r"|(?<!\w)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\w)"  # France
    r"|(?<!\w)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)"  # Italy
    r"|(?<!\w)[A-CEGHJ-PR-TW-Z]{2} \d{2} \d{2} \d{2} [A-D](?!\w)"  # United Kingdom
    r"|\b(?i:passport|identity card|national id(?:entity)?|social security|national insurance|ssn|nino|tax id"
    r"|steuer-?id\w*|personalausweis\w*|reisepass\w*|ahv|sozialversicherung\w*|dni|nif"
    r"|numéro de sécurité sociale|carte d'identité)\b"
    r"[^\n\d]{0,25}(?!(?:19|20)\d\d(?!\d))[A-Z]{0,2}\d[A-Z0-9.-]{5,16}"
)


def _national_id(text: str) -> bool:
    return bool(_NATIONAL_IDS.search(text))


_DAY: Final = (
    r"(?:\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{4}-\d{2}-\d{2}"
    r"|\d{1,2}(?:st|nd|rd|th|\.|er)? (?:of )?[A-Za-zéûä]{3,10},? \d{4}"
    r"|[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?,? \d{4})"
)
_BIRTH: Final = (
    r"(?:born(?: on)?|date of birth|birth ?date|birthday|dob|geboren(?: am)?|geburtsdatum|geburtstag|née?(?:\(e\))? le"
    r"|date de naissance)"
)
_BORN: Final = re.compile(rf"\b{_BIRTH}\b\W{{0,3}}(?:\w+\W{{1,2}}){{0,3}}{_DAY}", re.IGNORECASE)
_HOME: Final = re.compile(
    r"\b(?:home address|private address|lives at|living at|privatadresse|wohnadresse|wohnt (?:in der|an der|am|im)"
    r"|adresse privée|adresse personnelle|habite (?:au|à|rue))\b[^.\n]{0,80}\d",
    re.IGNORECASE,
)


# --- what joins a person to their life ----------------------------------------------------------------------------

_LIFE: Final = re.compile(
    r"\b(?:sick leave|sick note|burn-?out|burned out|depress(?:ed|ion)|pregnan(?:t|cy)|miscarriage|chemotherapy|cancer"
    r"|diagnosed with|tumou?r|diabet(?:es|ic)|hiv|epilepsy|psychiatr\w*|psychotherap\w*|therapist|rehab|suicid\w*"
    r"|disability|on medication|antidepressants?|surgery|hospitali[sz]ed|in hospital|heart attack|alcoholi(?:c|sm)"
    r"|addict(?:ed|ion)|divorc\w+|marriage|separated from (?:her|his)|affair with|custody of (?:her|his|the) \w+"
    r"|girlfriend|boyfriend|wife|husband|is (?:gay|lesbian|bisexual|transgender)|sexual orientation"
    r"|is (?:an? )?(?:\w+ )?(?:catholic|protestant|muslim|jewish|atheist)|religious beliefs"
    r"|trade union member|union membership|criminal record|convicted|arrested|in debt|private debts?|bankrupt"
    r"|wages? (?:are|is) garnished|pay rise|pay cut|earns (?:about |around |over )?(?:[a-z]{3} |[€$£] ?)?\d"
    r"|krankgeschrieben|krankmeldung|krankheitsbedingt|schwanger\w*|depression\w*|krebs|chemotherapie|scheidung|geschieden"
    r"|ehefrau|ehemann|freundin|vorbestraft|verschuldet|katholisch|muslimisch|verdient \d"
    r"|arrêt maladie|enceinte|dépression|divorcée?|son épouse|son mari|sa femme|gagne \d)"
    r"|(?:'s|s'|\b(?:her|his|ihr|ihre|sein|seine|son|sa))\s(?:\w+\s){0,2}(?:salary|wages?|bonus|pay|payslip|compensation"
    r"|gehalt|lohn|salaire|prime)\b"
    r"|\b(?:salary|wages?|bonus|payslip|compensation|gehalt|lohn|salaire)\s(?:of|von|de)\s"
    r"|\b(?:salary|wages?|bonus|gehalt|lohn|salaire)\b[^\n]{0,60}\d[ '.,]?\d{3}"
    r"|\d[ '.,]?\d{3}[^\n]{0,40}\b(?:salary|wages?|bonus|gehalt|lohn|salaire)\b",
    re.IGNORECASE,
)
_TITLE: Final = (
    r"(?:M\. |(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Herrn|Frau|Monsieur|Madame|Mme)\.? )(?:[A-Z]\. )?[A-ZÄÖÜÉ][\w'-]+"
)
_FIRST_NAMES: Final = (
    "Adam Ahmed Alex Alexander Alice Amélie Ana Andrea Andreas Anna Anne Antoine Barbara Ben Bernd Camille Carlos "
    "Carmen Caroline Catherine Charles Charlotte Chiara Chloé Christian Christine Claire Claudia Clara Daniel "
    "David Elena Elisabeth Elizabeth Emma Eric Eva Fatima Felix Florian Francesca Frank Franz François Fritz "
    "George Giulia Hannah Hans Heidi Helen Helena Henry Ingrid Isabelle Jack James Jane Jean Jennifer Jessica "
    "Joan John Jonas José Juan Julia Julie Jürgen Karin Karl Katharina Kevin Klaus Laura Lena Léa Leon Lisa Louis "
    "Luca Lucas Lucia Lukas Manon Marc Marco Maria Marie Markus Martin Mary Matthew Michael Michelle Mohammed "
    "Monika Nathalie Nicolas Nicole Nina Noah Olivia Oliver Omar Patricia Paul Pedro Peter Petra Philipp Pierre "
    "Rachel Ralf Reto Richard Robert Sabine Samuel Sandra Sara Sarah Sebastian Simon Sofia Sophie Stefan Stefanie "
    "Stephan Steven Susan Susanne Sven Thomas Tim Tom Ursula Urs Victor Werner William Wolfgang Yasmin"
)
_ALSO_WORDS: Final = "Beat Jan Mark Max"
"""First names that are words, too: they are names where a surname follows."""
_SURNAME: Final = r"[A-ZÄÖÜÉ][\w'-]+"
_NAMED: Final = re.compile(
    rf"\b(?:{_TITLE}|(?:{'|'.join(_ALSO_WORDS.split())}) {_SURNAME}"
    rf"|(?:{'|'.join(_FIRST_NAMES.split())})\b(?: {_SURNAME})?)"
)
_SOMEBODY: Final = re.compile(r"\b(?:she|he|her|his|him|sie|er|ihr|ihre|sein|seine|elle|il|son|sa)\b", re.IGNORECASE)
_ANYBODY: Final = re.compile(
    r"\b(?:(?:he|him|his) or (?:she|her)|(?:she|her) or (?:he|him|his)|he/she|she/he|his/her|er oder sie)\b",
    re.IGNORECASE,
)


def _private_life(text: str, people: Collection[str]) -> bool:
    """Return whether a sentence tells something private of somebody named in it, or named before and meant by it."""
    known = _known(people)
    named = False
    for sentence in _sentences(text):
        here = bool(_NAMED.search(sentence) or (known and known.search(sentence)))
        meant = named and bool(_SOMEBODY.search(_ANYBODY.sub("", sentence)))
        if (here or meant) and _LIFE.search(sentence):
            return True
        named = named or here
    return False


def _known(people: Collection[str]) -> re.Pattern[str] | None:
    """Return what finds the organisation's people by their full names or surnames."""
    names = {name for person in people for name in (person, person.split()[-1] if person.split() else "")}
    found = sorted(re.escape(name) for name in names if len(name) > 2)
    return re.compile(rf"(?<!\w)(?:{'|'.join(found)})(?!\w)") if found else None


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!Mr\.)(?<!Ms\.)(?<!Dr\.)(?<!Mrs\.)\s+|\n\s*\n|\n(?=\s*[-*#\d])", text)
