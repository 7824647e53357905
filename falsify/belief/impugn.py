"""Statements about a source: "the March QA report was back-dated" says nothing of what the report says, and ends it.

A judge of sentences sees no conflict between such a fact and a claim taken from the report, and the two embed far
apart. So this is a rule: read whom the fact accuses, and of what; leave out what it denies, doubts or only reports.
Where the grammar is unclear the rule stays silent, because a false accusation kills true beliefs. English only.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, takewhile
from typing import Final

from falsify.belief.naming import MONTHS, likeness, named

__all__ = ["Charge", "Impugnment", "impugns", "mentions", "named", "sentences", "strongest"]


@dataclass(frozen=True, slots=True)
class Charge:
    """What is said against something: "was back-dated" of "the March QA report"."""

    subject: str
    predicate: str


@dataclass(frozen=True, slots=True)
class Impugnment:
    """The charges that a fact brings, at least one."""

    charges: tuple[Charge, ...]


def impugns(fact_text: str) -> Impugnment | None:
    """Return what the fact says against sources, or None. Denials, doubts, questions and hearsay are not charges."""
    charges: list[Charge] = []
    line: _Line | None = None
    for sentence in sentences(fact_text):
        line = _line(sentence, line)
        if "?" not in line.low:
            charges += _charges(line)
    return Impugnment(tuple(dict.fromkeys(charges))) if charges else None


def mentions(impugnment: Impugnment, title: str) -> float:
    """Return how well the accused is named by a source's title (or a claim's text), 0 to 1."""
    return strongest(impugnment, title)[1]


def strongest(impugnment: Impugnment, title: str) -> tuple[Charge, float]:
    """Return the charge whose subject names `title` best, and how well it does."""
    scored = [(charge, _naming(charge.subject, title)) for charge in impugnment.charges]
    return max(scored, key=lambda pair: pair[1])


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, trimmed. Abbreviations, initials and decimal points end none."""
    pieces: list[str] = []
    start = 0
    for match in _STOP.finditer(text):
        before = text[start : match.start()].rsplit(None, 1)
        if match[0] == "." and before and _abbreviates(before[-1], text[match.end() :].lstrip()[:1]):
            continue
        pieces.append(text[start : match.end()])
        start = match.end()
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


_STOP: Final = re.compile(r"[.!?]+[\"'”’)]*(?=\s+[\"'“‘(]*[A-Z0-9])|\n+")  # noqa: RUF001  # typographic quotes are meant
_ABBREVIATION: Final = re.compile(
    r"[\"'(]*(?:dr|mr|mrs|ms|prof|st|vs|etc|e\.g|i\.e|inc|ltd|co|corp|al|approx|dept|jan|feb|mar|apr|jun|jul|aug|sept?|"
    r"oct|nov|dec|(?:[a-z]\.)+[a-z])",
    re.IGNORECASE,
)
_BEFORE_A_NUMBER: Final = re.compile(r"(?:no|nr|fig|p|pp|art|sec|vol)", re.IGNORECASE)


def _abbreviates(word: str, following: str) -> bool:
    if following.isdigit() and _BEFORE_A_NUMBER.fullmatch(word):
        return True
    return bool(_ABBREVIATION.fullmatch(word)) or (len(word) == 1 and word.isupper())


def _naming(subject: str, title: str) -> float:
    """Return how well the subject, or one of several it joins, names the title."""
    parts = [part for part in _JOINED.split(subject) if part.strip()]
    return max(likeness(part, title) for part in (subject, *parts))


_JOINED: Final = re.compile(r"\s*,\s*|\s+(?:and|or|as well as)\s+", re.IGNORECASE)


# --- the words -------------------------------------------------------------------------------------------------


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Said of a document, these end it. Those that somebody does to it are also read in the active voice.
_DONE_TO_IT: Final = _set(
    "backdated antedated forged fabricated falsified doctored faked fudged altered manipulated retracted rescinded "
    "revoked discredited debunked plagiarised plagiarized invented invalidated annulled voided nullified repudiated "
    "disavowed misdated mislabelled mislabeled mistranslated tampered withdrawn withdrew forges fabricates doctors "
    "retracts withdraws rescinds revokes discredits debunks repudiates disavows"
)
_PARTICIPLES: Final = (
    _DONE_TO_IT
    - _set(
        "withdrew forges fabricates doctors retracts withdraws rescinds revokes discredits debunks repudiates disavows"
    )
) | _set(
    "disproved disproven refuted staged rigged overturned misattributed miscalibrated miscounted misrecorded "
    "miscopied corrupted contaminated compromised spoofed photoshopped"
)
_ADJECTIVES: Final = _set(
    "unreliable invalid flawed erroneous mistaken fake fraudulent bogus false untrue inaccurate incorrect wrong "
    "untrustworthy unsound inauthentic counterfeit spurious void fictitious inadmissible misleading worthless "
    "uncalibrated faulty"
)
_NOUNS: Final = _set("hoax forgery fake fabrication fraud lie sham deepfake fiction counterfeit")
_PRAISE: Final = _set("reliable valid authentic genuine credible trustworthy accurate correct sound calibrated")
# Before a noun: "the retracted study" says so in passing; "the wrong study" says something else.
_BEFORE_A_NOUN: Final = (_PARTICIPLES - _set("altered compromised overturned rigged refuted tampered")) | _set(
    "fake fraudulent bogus counterfeit fictitious flawed unreliable invalid erroneous"
)

_BE: Final = _set("is are was were be been being got gets get")
_LINKS: Final = _set("turned turns out proved proves remains remained became becomes stands")
_SEEMING: Final = _set("seems seem seemed appears appear appeared looks look looked")
_HAVE: Final = _set("has have had having")
_MODALS: Final = _set("may might could would should can must will shall")
_NEGATIONS: Final = _set(
    "not no never nobody none neither nor nothing without hardly scarcely barely failed fails unable insufficient "
    "little lack lacks lacked refused declined"
)
_HEDGES: Final = _set(
    "allegedly reportedly supposedly purportedly possibly perhaps maybe apparently seemingly probably presumably "
    "potentially likely arguably almost nearly virtually"
)
_ADVERBS: Final = _set(
    "later since also already then now all both itself themselves himself herself just even again once so very quite "
    "too indeed still first ultimately longer ago"
)
_NO_ADVERBS: Final = _set("family supply reply monthly weekly daily yearly july italy early assembly anomaly only")

# What stands between a speaker and the charge: it makes the charge known, or only reported, or denied.
_FACTIVE: Final = _set(
    "found finds shown shows showed proven proved proves known knew knows revealed reveals discovered discovers "
    "confirmed confirms determined determines exposed unmasked declared declares ruled deemed judged established "
    "establishes demonstrated demonstrates verified verifies identified recognised recognized uncovered acknowledged "
    "acknowledges admitted admits concluded concludes learned learnt announced announces stated noted agree "
    "agreed agrees know realised realized accept accepted "
    "warned warns testified detected ascertained dismissed"
)
_TOLD: Final = _set("said says reported reports told")  # by somebody: a statement; "it is said": hearsay
_DOUBTS: Final = re.compile(
    r"alleg\w+|accus\w+|claim(?:s|ed|ing)?|rumou?r\w*|suspe[ct]\w+|suspicio\w+|believ\w+|beliefs?|thinks|thinking|"
    r"thought|fear\w*|worr\w+|suggest\w*|hint\w*|insinuat\w+|speculat\w+|argu(?:e|es|ed|ing)|contend\w*|insist\w*|"
    r"maintain(?:s|ed)|assert\w*|suppos\w+|presum\w+|assum\w+|hypothe\w+|theory|theories|possib\w+|perhaps|maybe|"
    r"(?:un)?likely|probabl[ey]|conceivabl[ey]|doubt\w*|question(?:ed|able)|wonder\w*|ask(?:s|ed|ing)?|"
    r"hop(?:e|es|ed|ing)|wish\w*|pretend\w*|imagin\w+|unclear|uncertain|unknown|unproven|unconfirmed|unverified|"
    r"unsubstantiated|purport\w+|gossip|hearsay|conspiracy|critics|s[kc]eptics|opponents|threaten\w*|prevent\w*|"
    r"avoid\w*|seek\w*|sought|searching|investigating|checking|considered|considering|regarded|viewed|intend\w*|"
    r"tried|tries|attempt\w*|expected|yet"
)
_DENIALS: Final = re.compile(
    r"den(?:y|ies|ied|ying|ial|ials)|refut\w+|rebut\w*|reject\w*|disput\w+|disprov\w+|untrue|false|myths?|"
    r"im(?:possibl|plausibl|probabl)[ey]|inconceivabl[ey]|unfounded|baseless|cleared|exonerat\w+|disagree\w*|dismiss\w*"
)
_CONDITIONS: Final = _set("if whether unless suppose supposing assuming provided imagine")
_CONCESSIONS: Final = _set("although though despite contrary while whereas unlike regardless notwithstanding even")

_DETERMINERS: Final = _set("a an the this that these those its his her their our your my some all both every each")
_POSSESSIVES: Final = _set("its his her their")
_PRONOUNS: Final = _set("it they these those he she")
_PREPOSITIONS: Final = _set("of from by on in for at about with under against to into over during")
_BREAKS: Final = _set("; : — because although though but while whereas when after before since if whether unless so")
_RELATIVES: Final = _set("who whom which whose where that")
_EXCEPTIONS: Final = _set("except unlike besides excluding")
# Words in -ed that belong to a noun: "the report dated March".
_NOUN_PARTICIPLES: Final = _set("dated published entitled titled signed filed issued united limited")

_FAULTS: Final = (
    r"(?:errors?|mistakes?|inaccurac(?:y|ies)|falsehoods?|fabrications?|forger(?:y|ies)|irregularit(?:y|ies)|"
    r"miscalculations?)(?! (?:margins?|bars?|rates?|codes?|messages?|handling|logs?|terms?|budgets?|bounds?)\b)"
)
_FALSE: Final = (
    r"(?:wrong|incorrect|false|fake|erroneous|fictitious|faulty|bogus|inaccurate|uncalibrated|flawed|invalid|"
    r"nonexistent)"
)
_BAD: Final = r"(?:forged|fabricated|falsified|invented|doctored|miscalibrated|plagiari[sz]ed|corrupted|contaminated)"
_ARTICLE: Final = "(?:an? |the |its |some |partly )?"
_NOUN: Final = r"(?! (?:the|an?|its|their|his|her|all|some|this|that|these|those)\b)(?: \w+)?"
# A whole predicate, whose subject stands before it.
_PHRASES: Final = re.compile(
    rf"\b(?:(?:contain(?:s|ed)?|include[sd]?|ha[sd]|have|made|makes|suffer(?:s|ed)? from|"
    rf"(?:is|are|was|were) (?:full of|riddled with|marred by)) (?P<amount>(?:\w+ ){{0,3}}?){_FAULTS}"
    rf"|(?:use[sd]?|applie[sd]|relie[sd] on|rest(?:s|ed) on|(?:is|are|was|were) based on|dr(?:aws|ew) on|"
    rf"contain(?:s|ed)?) {_ARTICLE}(?:{_BAD}|{_FALSE}){_NOUN}"
    rf"|(?:carrie[sd]|bears|bore|ha[sd]|have|gives|gave) {_ARTICLE}{_FALSE}{_NOUN}"
    r"|never (?:actually |really )?(?:happened|existed|took place|taken place|occurred)"
    r"|(?:did|does|do) not (?:actually |really )?(?:exist|happen|take place|occur)"
    r"|(?:was|were|been) never (?:actually |really )?(?:conducted|performed|run|held|sent|written|taken|made|recorded|"
    r"carried out|done|administered|collected|measured|calibrated)"
    r"|(?:overstate[sd]|understate[sd]|exaggerate[sd]|misstate[sd]|misreport(?:s|ed)|misrepresent(?:s|ed)|"
    r"misidentifie[sd]|miscalculate[sd]|miscounts|doublecount(?:s|ed)|lied|erred|confuse[sd]|conflate[sd]|mixed up)"
    r"|(?:got|gets) (?:\w+ ){1,4}?wrong"
    r"|lack(?:s|ed) (?:any |all )?(?:credibility|authenticity|validity|integrity)"
    r"|ha(?:s|d|ve) no (?:\w+ )?(?:credibility|validity|authenticity|probative value|evidential value|"
    r"evidentiary value|scientific value|scientific basis)"
    r"|made up(?! of)|thrown out|struck from the record)\b"
)
# The same, but its "cannot" and "should" are the charge and not a doubt about it.
_MISTRUST: Final = re.compile(
    r"\b(?:(?:can|could|should|must|may) (?:no longer|not|never) be (?:trusted|relied (?:up)?on|believed|"
    r"taken at face value|used as evidence|considered (?:reliable|valid|credible|authentic|genuine))"
    r"|(?:is|are|was|were) (?:no longer|not) (?:to be )?(?:trusted|considered (?:reliable|valid|credible|authentic))"
    r"|(?:should|must|has to|have to|ought to) (?:now )?be (?:disregarded|discarded|ignored|thrown out|set aside))\b"
)
_DISTRUST: Final = re.compile(
    r"\b(?:can|could|should|must|do) (?:no longer|not|never) (?:trust|rely (?:up)?on|believe)\b"
)
# What somebody did, or an act's name; the accused stands after it.
_ACTS: Final = re.compile(
    r"\b(?:(?:forger(?:y|ies)|falsification|fabrication|backdating|doctoring|retraction|withdrawal|plagiarism|"
    r"manipulation|rescission|invalidation) of"
    r"|(?:tampering|tampers) with"
    rf"|{_FAULTS}(?: (?:were|was|have been|has been|had been))?"
    r"(?: (?:found|discovered|detected|identified|uncovered))? in"
    r"|(?:forging|fabricating|falsifying|doctoring|backdating|faking|plagiari[sz]ing|retracting|withdrawing))(?= )"
)


_STATES: Final = _PARTICIPLES | _DONE_TO_IT | _ADJECTIVES | _NOUNS | _PRAISE
# Without a verb, at the end of a clause: "QA report of March retracted".
_HEADLINES: Final = _PARTICIPLES | _set(
    "unreliable invalid fake fraudulent bogus flawed inadmissible counterfeit untrustworthy fictitious erroneous "
    "inaccurate"
)
_AFTER_A_HEADLINE: Final = frozenset({"", ",", ";", ":", "\u2014"}) | _set(
    "by in on after before because due following last yesterday today over amid for as at from during within"
)
_NO_OBJECT: Final = _set(
    "by in on at after before because due from to with and or as when while last yesterday today since for over under "
    "amid following within during if unless but not , ; : ? than"
) | {"\u2014"}
_NONE: Final = _set("no none neither nobody nor not nothing few hardly without")
_CONFESSIONS: Final = _set("admitted admits admitting confessed confesses caught guilty convicted by after")
_TAKING_BACK: Final = _set("which this that it he she they a an as critics")
_EXCEPTING: Final = {("other", "than"), ("apart", "from"), ("rather", "than"), ("instead", "of"), ("but", "not")}
_VICTIMS: Final = {
    "forg": "was forged",
    "fabricat": "was fabricated",
    "falsif": "was falsified",
    "backdat": "was back-dated",
    "doctor": "was doctored",
    "fak": "was faked",
    "retract": "was retracted",
    "withdr": "was withdrawn",
    "plagiar": "was plagiarised",
    "manipulat": "was manipulated",
    "resci": "was rescinded",
    "invalidat": "was invalidated",
    "revok": "was revoked",
    "discredit": "was discredited",
    "debunk": "was debunked",
    "repudiat": "was repudiated",
    "disavow": "was disavowed",
    "tamper": "was tampered with",
    "error": "has errors in it",
    "mistake": "has mistakes in it",
    "inaccurac": "has inaccuracies in it",
    "irregularit": "has irregularities in it",
    "falsehood": "has falsehoods in it",
    "miscalculation": "has miscalculations in it",
    "can": "cannot be trusted",
    "could": "cannot be trusted",
    "should": "is not to be trusted",
    "must": "is not to be trusted",
    "do": "is not to be trusted",
}


_MAX_WORDS: Final = 120
"""How much of a sentence is read. Longer ones are lists and logs, whose grammar is not followed here anyway."""


# --- the grammar -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """One sentence: its words as written, and in lower case without hyphens; punctuation among them."""

    words: tuple[str, ...]
    low: tuple[str, ...]
    before: "_Line | None" = None


@dataclass(slots=True)
class _Group:
    """What stands between a subject and what is said of it: "was later found to have been"."""

    start: int
    be: bool = False
    negated: bool = False
    hedged: bool = False
    infinitive: bool = False
    ruled: bool = False


def _line(sentence: str, before: _Line | None) -> _Line:
    text = unicodedata.normalize("NFKC", sentence)
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    words = tuple(islice((match[0] for match in _TOKEN.finditer(text)), _MAX_WORDS))
    return _Line(words, tuple(_lower(word, first=not place) for place, word in enumerate(words)), before)


def _lower(word: str, *, first: bool) -> str:
    if word == "May" and not first:
        return word  # a month, and no modal verb
    low = word.casefold()
    return low.replace("-", "") if low.startswith(("back-", "ante-", "mis-", "double-", "un-", "photo-")) else low


_SPELLINGS: Final = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        ("[\u2018\u2019]", "'"),
        ("[\u2010\u2011]", "-"),
        (r"\b(back|ante) (?=dat(?:ed|ing)\b)", r"\1-"),
        (r"\bcan(?:not|'t)\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(it|that|there)'s\b", r"\1 is"),
        (r"\b(?:not only|no doubt|without (?:a )?doubt|beyond (?:any |all )?doubt)\b", ""),
        (r"\(([^()]{0,12}\d[^()]{0,12})\)", r" \1 "),  # a number belongs to the name: "the QA report (2021)"
        (r"[()]", " , "),
        ("\\s[-\u2013\u2014]+\\s|\u2014|--+", " \u2014 "),
    )
]
_TOKEN: Final = re.compile("[^\\W_]+(?:['./&-][^\\W_]+)*|[,;:?\u2014]")


def _charges(line: _Line) -> Iterator[Charge]:
    """Yield every charge that the sentence brings on its own authority."""
    text = " ".join(line.low)
    offsets = list(accumulate((len(word) + 1 for word in line.low), initial=0))
    taken: set[int] = set()
    for pattern, read in ((_MISTRUST, _phrase), (_PHRASES, _phrase), (_DISTRUST, _act), (_ACTS, _act)):
        for match in pattern.finditer(text):
            span = range(bisect_right(offsets, match.start()) - 1, bisect_right(offsets, match.end() - 1))
            if taken.isdisjoint(span) and not _NONE & set((match.groupdict().get("amount") or "").split()):
                taken.update(span)
                yield from read(line, span.start, span.stop)
    for place, word in enumerate(line.low):
        if place not in taken and word in _STATES:
            yield from _state(line, place, place + 2 if line.low[place + 1 : place + 2] == ("with",) else place + 1)


def _phrase(line: _Line, start: int, end: int) -> Iterator[Charge]:
    """Read a whole predicate: "contained errors", "cannot be trusted"."""
    group = _group(line.low, start)
    if not (group.negated or group.hedged):
        yield from _accuse(line, group, line.words[start if group.infinitive else group.start : end], end)


def _act(line: _Line, start: int, end: int) -> Iterator[Charge]:
    """Read an act and what it was done to: "the retraction of study 12", "errors were found in the log"."""
    gerund = line.low[start].endswith("ing") and line.low[end - 1] not in {"of", "with"}
    if not gerund or _done(line.low, start):
        yield from _accuse_object(line, start, end)


def _state(line: _Line, place: int, end: int) -> Iterator[Charge]:
    """Read one word of blame by its surroundings: passive, active, before a noun, or as a headline has it."""
    word, low = line.low[place], line.low
    group = _group(low, place, noun=word in _NOUNS)
    following = low[end] if end < len(low) else ""
    said = line.words[group.start : end]
    if word in _PRAISE:
        if group.be and group.negated and not (group.hedged or group.infinitive):
            yield from _accuse(line, group, said, end)
    elif group.negated or group.hedged or (word == "mistaken" and following == "for"):
        return
    elif group.be:
        yield from _accuse(line, group, ("was", *line.words[place:end]) if group.infinitive else said, end)
    elif _opens_object(following):
        if word in (_DONE_TO_IT if _has_agent(low, group.start) else _BEFORE_A_NOUN):
            yield from _accuse_object(line, place, end)
    elif (word in _HEADLINES or group.ruled) and following in _AFTER_A_HEADLINE:
        yield from _accuse(line, group, ("was", *line.words[place:end]), end)


def _group(low: Sequence[str], end: int, *, noun: bool = False) -> _Group:
    """Walk left from what is said over auxiliaries, adverbs and "found to"."""
    group = _Group(end)
    place = end - 1
    while place >= 0:
        word = low[place]
        if word in _BE or word in _LINKS or word in _SEEMING:
            group.be = True
            group.hedged |= word in _SEEMING
        elif word in _MODALS or word in _HEDGES or _reputed(word):
            group.hedged = True
        elif word in _NEGATIONS:
            group.negated = True
        elif word == "to":
            if not (place and _passes_on(low[place - 1])):
                group.infinitive, group.start = True, place
                break
        elif word in {"and", "or", "but", "nor", ","}:
            verb = _shared_verb(low, place)
            if verb is None:
                break
            group.be = True
            group.negated |= word != "but" and bool(_NEGATIONS & set(low[verb:place]))
            place = verb
        elif word in _FACTIVE:
            group.ruled = True
        elif word == "fact" and low[place - 1 : place] == ("in",):
            place -= 1
        elif not (
            _filler(word)
            or (word == "as" and place and low[place - 1] in _FACTIVE)
            or (noun and word in {"a", "an", "the"} and place == end - 1)
        ):
            break
        group.start = place
        place -= 1
    return group


def _reputed(word: str) -> bool:
    """Whether a participle makes what follows mere repute: "said to be", "alleged to have been"."""
    return word in {"said", "reported", "thought", "yet"} or bool(word.endswith("ed") and _DOUBTS.fullmatch(word))


def _passes_on(word: str) -> bool:
    """Whether "to" after this word only carries the charge on: "found to be", "turned out to be"."""
    return word in _FACTIVE | _TOLD | _SEEMING | _LINKS or bool(_DOUBTS.fullmatch(word))


def _filler(word: str) -> bool:
    return (
        word in _HAVE
        or word in _ADVERBS
        or word in {"did", "does", "do"}
        or (word.endswith("ly") and word not in _NO_ADVERBS)
    )


def _shared_verb(low: Sequence[str], joint: int) -> int | None:
    """Return the place of the verb that the second of two predicates shares: "was unsigned and forged"."""
    for place in range(joint - 1, max(-1, joint - 7), -1):
        if low[place] in _BE:
            return place
        if low[place] in _DETERMINERS | _PREPOSITIONS | _PRONOUNS:
            return None
    return None


def _done(low: Sequence[str], start: int) -> bool:
    """Whether a gerund tells what was done: "was forging", "admitted to having forged", "by forging"."""
    before = [word for word in low[max(0, start - 5) : start] if word not in {"to", "having", "for", "of", "been"}]
    return bool(before) and before[-1] in _BE | _CONFESSIONS


def _opens_object(word: str) -> bool:
    return bool(word) and not (
        word in _NO_OBJECT or word in _BE or word in _HAVE or word in _MODALS or word in _BREAKS or _filler(word)
    )


def _has_agent(low: Sequence[str], start: int) -> bool:
    """Whether somebody stands before the verb, and not the article of a noun."""
    return start > 0 and low[start - 1] not in _DETERMINERS | _PREPOSITIONS | _BREAKS | {",", "and", "or", "as", "no"}


def _accuse(line: _Line, group: _Group, said: Sequence[str], end: int) -> Iterator[Charge]:
    """Yield the charge against what stands before the group, if the sentence vouches for it."""
    boundary, start, stop = _subject(line.low, group.start)
    governor = line.low[boundary] if boundary >= 0 else ""
    if group.infinitive and governor not in _FACTIVE | _TOLD:
        return
    if _vouched_before(line.low, boundary) and _vouched_after(line.low[end:], clause=governor == "that"):
        predicate = " ".join(said).replace("can not", "cannot")
        for subject in _subjects(line, boundary, start, stop, following=line.low[end : end + 1]):
            yield Charge(subject, predicate)


def _accuse_object(line: _Line, start: int, end: int) -> Iterator[Charge]:
    """Yield the charge against what stands after the act, if the sentence vouches for it."""
    stop = _object_end(line.low, end)
    if (
        not _has_agent(line.low, start)
        and stop - end > 1
        and line.low[stop : stop + 1]
        and line.low[stop] in _DETERMINERS
    ):
        stop -= 1  # "the forged report misled the panel": the word before the next article is the verb
    if stop > end and _vouched_here(line.low, start) and _vouched_after(line.low[stop:], clause=False):
        words = line.words[end:stop]
        if line.low[end] in _POSSESSIVES:  # "the supplier withdrew its email": the supplier's email
            _, first, last = _subject(line.low, _group(line.low, start).start)
            words = (*line.words[first:last], *words[1:])
        yield Charge(" ".join(words), _done_to(line.low[start]))


def _done_to(act: str) -> str:
    """Return the act as it is said of its victim: "retracts" and "retraction" are "was retracted"."""
    return next((said for stem, said in _VICTIMS.items() if act.startswith(stem)), f"was {act}")


def _subject(low: Sequence[str], end: int) -> tuple[int, int, int]:
    """Return what bounds the subject that ends before `end` (a place, or -1), and where it starts and stops."""
    stop = end
    if stop and low[stop - 1] in _RELATIVES:  # "the QA report, which was forged"
        stop -= 1
        stop -= bool(stop and low[stop - 1] == ",")
        start = _phrase_start(low, stop)
        return start - 1, start, stop
    if stop and low[stop - 1] == ",":  # "the QA report, which Bob signed, was forged"
        opening = next((i for i in range(stop - 2, -1, -1) if low[i] == "," or low[i] in _BREAKS), -1)
        stop = opening if opening >= 0 and low[opening] == "," else stop - 1
    if stop and low[stop - 1] in {"and", "but"}:  # "the QA report was late and is invalid": the first verb's subject
        stop = next((place for place in range(1, stop - 1) if _has_verb(low[place - 1 : place + 1])), 0)
    place = stop - 1
    while place >= 0 and not _bounds_subject(low, place, stop):
        place -= 1
    return place, place + 1, stop


def _bounds_subject(low: Sequence[str], place: int, stop: int) -> bool:
    """Whether a subject that runs to `stop` cannot reach over this word."""
    word, rest = low[place], low[place + 1 : stop]
    if word in _BREAKS:
        return True
    if word in {",", "and", "or"}:
        segment = list(takewhile(lambda w: w != "," and w not in _BREAKS, reversed(low[:place])))
        listed = word != "," or {"and", "or"} & set(rest)
        return not listed or _has_verb(segment[::-1])
    if word == "that":  # a relative clause has a verb of its own; "found that the QA report" has not
        return bool(rest) and not _has_verb(rest) and not (place and low[place - 1] in _PREPOSITIONS)
    if word == "out":
        return bool(rest and place and low[place - 1] in _LINKS)
    if place and rest and (word in _FACTIVE or word in _TOLD or _DOUBTS.fullmatch(word) or _DENIALS.fullmatch(word)):
        noun = low[place - 1] in _DETERMINERS | _PREPOSITIONS or rest[0] in _PREPOSITIONS
        return not noun and word != "known"
    return False


def _has_verb(words: Sequence[str]) -> bool:
    return any(
        word in _BE
        or word in _HAVE
        or word in _MODALS
        or word in {"did", "does", "do"}
        or (
            (word in _FACTIVE or word in _TOLD or (word.endswith("ed") and len(word) > 4))
            and word not in _NOUN_PARTICIPLES
            and (place and words[place - 1] not in _DETERMINERS | _PREPOSITIONS | {"and", "or"})
            and (word != "reports" or words[place + 1 : place + 2] in (["that"], ["the"], ("that",), ("the",)))
        )
        for place, word in enumerate(words)
    )


def _phrase_start(low: Sequence[str], stop: int) -> int:
    """Return where the noun phrase starts that stops at `stop`: at its article, with "of the" reaching further."""
    place = stop - 1
    while place > 0:
        if low[place] in _DETERMINERS and low[place - 1] not in {"of", "from", "by"}:
            return place
        if low[place - 1] in _BREAKS or low[place - 1] in {",", "and"}:
            return place
        place -= 1
    return 0


def _subjects(line: _Line, boundary: int, start: int, stop: int, *, following: Sequence[str]) -> Iterator[str]:
    """Yield the noun phrases accused: the subject trimmed, or what its pronoun may stand for."""
    if start == stop and boundary >= 0 and line.low[boundary] in {":", "\u2014"}:  # "QA report of March: forged"
        _, start, stop = _subject(line.low, boundary)
    if line.low[start] in _BE | _MODALS | {"had"}:  # "had study 12 been retracted": a condition, or a question
        return
    start, stop = _trimmed(line.low, start, stop)
    low = line.low[start:stop]
    if not low or low[0] in _NONE or _has_verb(low):
        return
    if all(word in _PRONOUNS for word in low):
        if list(following) not in (["that"], ["to"]):  # "it is false that"
            yield from _antecedents(line, boundary)
    elif low[0] in _POSSESSIVES and stop > start + 1:  # "its results": the results of what was spoken of
        for owner in _antecedents(line, boundary):
            yield " ".join((owner, *line.words[start + 1 : stop]))
    elif low not in (("this",), ("that",), ("there",)):
        yield " ".join(line.words[start:stop])


def _trimmed(low: Sequence[str], start: int, stop: int) -> tuple[int, int]:
    """Return the bounds without a leading "In 2023", and without a relative clause or an exception at the end."""
    while start < stop and (_filler(low[start]) or low[start] in {"however", "therefore", "and", "or", "thus"}):
        start += 1
    if start < stop and low[start] in _PREPOSITIONS:
        article = next((i for i in range(start + 2, stop) if low[i] in _DETERMINERS), None)
        start = (
            article if article is not None else next((i for i in range(start + 1, stop) if not _dates(low[i])), stop)
        )
    for place in range(start + 1, stop):
        pair = tuple(low[place : place + 2])
        if low[place] in _RELATIVES | _EXCEPTIONS or pair in _EXCEPTING:
            return start, place - (low[place - 1] == ",")
    return start, stop


def _antecedents(line: _Line, boundary: int) -> Iterator[str]:
    """Yield what "it" may stand for: the first and the last noun phrase of what was said just before."""
    words, low = (line.words[:boundary], line.low[:boundary]) if boundary > 0 else ((), ())
    if not words and line.before:
        words, low = line.before.words, line.before.low
    if not words:
        return
    first = next(
        (place for place in range(1, len(low)) if _has_verb(low[: place + 1]) or low[place] in {",", ":"}), len(low)
    )
    yield " ".join(words[:first])
    yield " ".join(words[_phrase_start(low, len(low)) :])


def _object_end(low: Sequence[str], start: int) -> int:
    """Return where the noun phrase ends that starts at `start`."""
    for place in range(start, len(low)):
        word, before = low[place], low[place - 1]
        following = low[place + 1] if place + 1 < len(low) else ""
        if word in _BREAKS or word in _RELATIVES - {"that"} or word in {",", "?", "to", "than", "did", "does"}:
            return place
        if word in _BE or word in _HAVE or word in _MODALS:
            return place
        if word in _DETERMINERS and place > start and before not in _DETERMINERS | _PREPOSITIONS | {"and", "or"}:
            return place
        if word in {"in", "on", "during", "by"} and (_dates(following) or following.endswith("ing")):
            return place
        if word in {"and", "or"} and (following.endswith("ed") or following in _BE | _HAVE | _MODALS):
            return place
    return len(low)


def _dates(word: str) -> bool:
    return word[:1].isdigit() or word.casefold() in MONTHS or word in {"last", "next", "then", "now", "order"}


def _vouched_before(low: Sequence[str], boundary: int) -> bool:
    """Whether what comes before the subject leaves the charge standing."""
    governor = low[boundary] if boundary >= 0 else ";"
    if governor in _CONDITIONS:
        return False
    governed = governor == "that" or governor not in _BREAKS | {",", "and", "or"}
    if not governed and governor in _BREAKS - {":", "\u2014"}:
        return True
    for segment in _segments(low[: boundary + governed]):
        if segment[0] in _CONDITIONS or _doubted(segment):
            return False
        if (governed or governor == ":") and any(_DENIALS.fullmatch(word) for word in segment):
            return False
        if governed and any(word in _NEGATIONS or word in _MODALS for word in segment):
            return False
    return True


def _vouched_here(low: Sequence[str], start: int) -> bool:
    """Whether what comes before an act leaves it done, in the eyes of whoever wrote the sentence."""
    return not any(
        _doubted(segment)
        or any(
            word in _NEGATIONS or word in _MODALS or word in _CONDITIONS or _DENIALS.fullmatch(word) for word in segment
        )
        for segment in _segments(low[:start])
    )


def _vouched_after(rest: Sequence[str], *, clause: bool) -> bool:
    """Whether nothing after the charge takes it back: ", the defence claims", "if the clock was wrong"."""
    first, *others = _split(rest, {",", "\u2014", ";", "but"})
    if {"if", "unless", "whether"} & set(first) or _HEDGES & set(first) or tuple(first[:2]) == ("or", "not"):
        return False
    if clause and any(_DENIALS.fullmatch(word) or _DOUBTS.fullmatch(word) for word in first):
        return False
    for segment in others:
        aside = segment and segment[0] not in _CONCESSIONS and (len(segment) <= 5 or segment[0] in _TAKING_BACK)
        if aside and (_doubted(segment) or any(_DENIALS.fullmatch(word) for word in segment) or _untrue(segment)):
            return False
    return True


def _segments(low: Sequence[str]) -> list[list[str]]:
    """Return the parts of the text since its last hard stop, those apart that only concede something."""
    last = max((place for place, word in enumerate(low) if word in {";", "but", "\u2014"}), default=-1)
    parts = _split(low[last + 1 :], {",", ":"})
    return [part for part in parts if part and part[0] not in _CONCESSIONS]


def _split(low: Sequence[str], marks: set[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in low:
        if word in marks:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _doubted(segment: Sequence[str]) -> bool:
    """Whether these words leave open what they introduce: a claim, a rumour, "it is said"."""
    return any(
        word in _HEDGES
        or _DOUBTS.fullmatch(word)
        or (word in _TOLD and bool(_BE & set(segment[max(0, place - 2) : place])))
        for place, word in enumerate(segment)
    )


def _untrue(segment: Sequence[str]) -> bool:
    return "not" in segment and bool({"true", "so", "case", "correct"} & set(segment))
