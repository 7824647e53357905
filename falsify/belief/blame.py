"""The words of blame, of doubt and of denial: what statements about a source are made of. English only."""

import re
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Said of a document, these end it. Those that somebody does to it are also read in the active voice.
DONE_TO_IT: Final = _set(
    "backdated antedated forged fabricated falsified doctored faked fudged altered manipulated retracted rescinded "
    "revoked discredited debunked plagiarised plagiarized invented invalidated annulled voided nullified repudiated "
    "disavowed misdated mislabelled mislabeled mistranslated tampered withdrawn withdrew forges fabricates doctors "
    "retracts withdraws rescinds revokes discredits debunks repudiates disavows"
)
PARTICIPLES: Final = (
    DONE_TO_IT
    - _set(
        "withdrew forges fabricates doctors retracts withdraws rescinds revokes discredits debunks repudiates disavows"
    )
) | _set(
    "disproved disproven refuted staged rigged overturned misattributed miscalibrated miscounted misrecorded "
    "miscopied corrupted contaminated compromised spoofed photoshopped"
)
ADJECTIVES: Final = _set(
    "unreliable invalid flawed erroneous mistaken fake fraudulent bogus false untrue inaccurate incorrect wrong "
    "untrustworthy unsound inauthentic counterfeit spurious void fictitious inadmissible misleading worthless "
    "uncalibrated faulty"
)
NOUNS: Final = _set("hoax forgery fake fabrication fraud lie sham deepfake fiction counterfeit")
PRAISE: Final = _set("reliable valid authentic genuine credible trustworthy accurate correct sound calibrated")
# Before a noun: "the retracted study" says so in passing; "the wrong study" says something else.
BEFORE_A_NOUN: Final = (PARTICIPLES - _set("altered compromised overturned rigged refuted tampered")) | _set(
    "fake fraudulent bogus counterfeit fictitious flawed unreliable invalid erroneous"
)

BE: Final = _set("is are was were be been being got gets get")
LINKS: Final = _set("turned turns out proved proves remains remained became becomes stands")
SEEMING: Final = _set("seems seem seemed appears appear appeared looks look looked")
HAVE: Final = _set("has have had having")
MODALS: Final = _set("may might could would should can must will shall")
NEGATIONS: Final = _set(
    "not no never nobody none neither nor nothing without hardly scarcely barely failed fails unable insufficient "
    "little lack lacks lacked refused declined"
)
HEDGES: Final = _set(
    "allegedly reportedly supposedly purportedly possibly perhaps maybe apparently seemingly probably presumably "
    "potentially likely arguably almost nearly virtually"
)
ADVERBS: Final = _set(
    "later since also already then now all both itself themselves himself herself just even again once so very quite "
    "too indeed still first ultimately longer ago"
)
NO_ADVERBS: Final = _set("family supply reply monthly weekly daily yearly july italy early assembly anomaly only")

# What stands between a speaker and the charge: it makes the charge known, or only reported, or denied.
FACTIVE: Final = _set(
    "found finds shown shows showed proven proved proves known knew knows revealed reveals discovered discovers "
    "confirmed confirms determined determines exposed unmasked declared declares ruled deemed judged established "
    "establishes demonstrated demonstrates verified verifies identified recognised recognized uncovered acknowledged "
    "acknowledges admitted admits concluded concludes learned learnt announced announces stated noted agree "
    "agreed agrees know realised realized accept accepted "
    "warned warns testified detected ascertained dismissed"
)
TOLD: Final = _set("said says reported reports told")  # by somebody: a statement; "it is said": hearsay
DOUBTS: Final = re.compile(
    r"alleg\w+|accus\w+|claim(?:s|ed|ing)?|rumou?r\w*|suspe[ct]\w+|suspicio\w+|believ\w+|beliefs?|thinks|thinking|"
    r"thought|fear\w*|worr\w+|suggest\w*|hint\w*|insinuat\w+|speculat\w+|argu(?:e|es|ed|ing)|contend\w*|insist\w*|"
    r"maintain(?:s|ed)|assert\w*|suppos\w+|presum\w+|assum\w+|hypothe\w+|theory|theories|possib\w+|perhaps|maybe|"
    r"(?:un)?likely|probabl[ey]|conceivabl[ey]|doubt\w*|question(?:ed|able)|wonder\w*|ask(?:s|ed|ing)?|"
    r"hop(?:e|es|ed|ing)|wish\w*|pretend\w*|imagin\w+|unclear|uncertain|unknown|unproven|unconfirmed|unverified|"
    r"unsubstantiated|purport\w+|gossip|hearsay|conspiracy|critics|s[kc]eptics|opponents|threaten\w*|prevent\w*|"
    r"avoid\w*|seek\w*|sought|searching|investigating|checking|considered|considering|regarded|viewed|intend\w*|"
    r"tried|tries|attempt\w*|expected|yet"
)
DENIALS: Final = re.compile(
    r"den(?:y|ies|ied|ying|ial|ials)|refut\w+|rebut\w*|reject\w*|disput\w+|disprov\w+|untrue|false|myths?|"
    r"im(?:possibl|plausibl|probabl)[ey]|inconceivabl[ey]|unfounded|baseless|cleared|exonerat\w+|disagree\w*|dismiss\w*"
)
CONDITIONS: Final = _set("if whether unless suppose supposing assuming provided imagine")
CONCESSIONS: Final = _set("although though despite contrary while whereas unlike regardless notwithstanding even")

DETERMINERS: Final = _set("a an the this that these those its his her their our your my some all both every each")
POSSESSIVES: Final = _set("its his her their")
PRONOUNS: Final = _set("it they these those he she")
PREPOSITIONS: Final = _set("of from by on in for at about with under against to into over during")
BREAKS: Final = _set("; : — because although though but while whereas when after before since if whether unless so")
RELATIVES: Final = _set("who whom which whose where that")
EXCEPTIONS: Final = _set("except unlike besides excluding")
# Words in -ed that belong to a noun: "the report dated March".
NOUN_PARTICIPLES: Final = _set("dated published entitled titled signed filed issued united limited")

FAULTS: Final = (
    r"(?:errors?|mistakes?|inaccurac(?:y|ies)|falsehoods?|fabrications?|forger(?:y|ies)|irregularit(?:y|ies)|"
    r"miscalculations?|label noise|noisy labels|label(?:l?ing)? errors?|mislabell?ed (?:points|examples|samples|rows)|"
    r"wrong labels|(?:data|label|test|train-test) leakage)"
    r"(?! (?:margins?|bars?|rates?|codes?|messages?|handling|logs?|terms?|budgets?|bounds?)\b)"
)
FALSE: Final = (
    r"(?:wrong|incorrect|false|fake|erroneous|fictitious|faulty|bogus|inaccurate|uncalibrated|flawed|invalid|"
    r"nonexistent)"
)
BAD: Final = r"(?:forged|fabricated|falsified|invented|doctored|miscalibrated|plagiari[sz]ed|corrupted|contaminated)"
ARTICLE: Final = "(?:an? |the |its |some |partly )?"
NOUN: Final = r"(?! (?:the|an?|its|their|his|her|all|some|this|that|these|those)\b)(?: \w+)?"
# A whole predicate, whose subject stands before it.
PHRASES: Final = re.compile(
    rf"\b(?:(?:contain(?:s|ed)?|include[sd]?|ha[sd]|have|made|makes|suffer(?:s|ed)? from|"
    rf"(?:is|are|was|were) (?:full of|riddled with|marred by)) (?P<amount>(?:\w+ ){{0,3}}?){FAULTS}"
    rf"|(?:use[sd]?|applie[sd]|relie[sd] on|rest(?:s|ed) on|(?:is|are|was|were) based on|dr(?:aws|ew) on|"
    rf"contain(?:s|ed)?) {ARTICLE}(?:{BAD}|{FALSE}){NOUN}"
    rf"|(?:carrie[sd]|bears|bore|ha[sd]|have|gives|gave) {ARTICLE}{FALSE}{NOUN}"
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
MISTRUST: Final = re.compile(
    r"\b(?:(?:can|could|should|must|may) (?:no longer|not|never) be (?:trusted|relied (?:up)?on|believed|"
    r"taken at face value|used as evidence|considered (?:reliable|valid|credible|authentic|genuine))"
    r"|(?:is|are|was|were) (?:no longer|not) (?:to be )?(?:trusted|considered (?:reliable|valid|credible|authentic))"
    r"|(?:should|must|has to|have to|ought to) (?:now )?be (?:disregarded|discarded|ignored|thrown out|set aside))\b"
)
DISTRUST: Final = re.compile(
    r"\b(?:can|could|should|must|do) (?:no longer|not|never) (?:trust|rely (?:up)?on|believe)\b"
)
# What somebody did, or an act's name; the accused stands after it.
ACTS: Final = re.compile(
    r"\b(?:(?:forger(?:y|ies)|falsification|fabrication|backdating|doctoring|retraction|withdrawal|plagiarism|"
    r"manipulation|rescission|invalidation) of"
    r"|(?:tampering|tampers) with"
    rf"|{FAULTS}(?: (?:were|was|have been|has been|had been))?"
    r"(?: (?:found|discovered|detected|identified|uncovered))? in"
    r"|(?:forging|fabricating|falsifying|doctoring|backdating|faking|plagiari[sz]ing|retracting|withdrawing))(?= )"
)


STATES: Final = PARTICIPLES | DONE_TO_IT | ADJECTIVES | NOUNS | PRAISE
# Without a verb, at the end of a clause: "QA report of March retracted".
HEADLINES: Final = PARTICIPLES | _set(
    "unreliable invalid fake fraudulent bogus flawed inadmissible counterfeit untrustworthy fictitious erroneous "
    "inaccurate"
)
AFTER_A_HEADLINE: Final = frozenset({"", ",", ";", ":", "\u2014"}) | _set(
    "by in on after before because due following last yesterday today over amid for as at from during within"
)
NO_OBJECT: Final = _set(
    "by in on at after before because due from to with and or as when while last yesterday today since for over under "
    "amid following within during if unless but not , ; : ? than"
) | {"\u2014"}
NONE: Final = _set("no none neither nobody nor not nothing few hardly without")
CONFESSIONS: Final = _set("admitted admits admitting confessed confesses caught guilty convicted by after")
TAKING_BACK: Final = _set("which this that it he she they a an as critics")
EXCEPTING: Final = {("other", "than"), ("apart", "from"), ("rather", "than"), ("instead", "of"), ("but", "not")}
VICTIMS: Final = {
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
    "label": "has wrong labels in it",
    "noisy": "has noisy labels in it",
    "mislabel": "has wrong labels in it",
    "wrong": "has wrong labels in it",
    "data": "has leakage in it",
    "test": "has leakage in it",
    "train": "has leakage in it",
    "can": "cannot be trusted",
    "could": "cannot be trusted",
    "should": "is not to be trusted",
    "must": "is not to be trusted",
    "do": "is not to be trusted",
}
