"""English verbs by their forms: enough to tell a sentence without a full stop from a heading.

Words that are nouns more often ("reports", "results") are here only in the form in which they are verbs more often.
"""

import re
from typing import Final

_AUXILIARIES = """
am is are was were be been being has have had having does do did done can cannot could may might must shall
should will would ought need needs
"""

_IRREGULAR = """
became become becomes began begin begins begun bent bet bit bled blew blown born borne bought bound break
breaks broke broken bring brings brought build builds built burn burnt burst buy buys came come comes catch
caught choose chose chosen cost costs cut cuts dealt drank draw drawn draws drew drive driven drives drove eat
ate eaten fall fallen falls fed feel feels felt fell fight fought find finds found fit fits flew flies flow
flows flown fly forbade forbid forget forgot froze frozen gave get gets give given gives go goes gone got grew
grow grown grows hang heard held hid hidden hit hits hold holds hung hurt keep keeps kept knew know known
knows laid lain lay lays lead leads leave leaves led left lend lent let lets lie lies lost lose loses made
make makes mean means meant meet meets met paid pay pays put puts quit ran rang read reads rise risen rises
rode rose run runs said sang sank sat saw say says see seen sees sell sells send sends sent set sets shook
shot show shown shows shrank shrink shrinks shrunk shut sing sings sink sit sits slept slid sold speak speaks
spent split spoke spoken sprang spread stand stands stole stolen stood stuck struck sunk swam swept swim swims
swore sworn take taken takes taught teach teaches tell tells thought threw throw thrown told took tore torn
understood wake wear wears went win wins withdrew withdrawn woke won wore worn write writes written wrote
"""

_REGULAR = """
accept add affect agree allow appear apply argue arrive ask assume attract avoid behave believe belong breathe
burn call carry cause change claim combine compete conduct connect consist consume contain continue contradict
contribute control convert cool cover create cross decay decide decline decompose decrease depend describe
destroy detect develop differ digest disagree disappear dissolve drain eat eliminate emit employ enable
encounter enter erode evaporate exceed exist expand expect expire explain fail flow follow form freeze
function generate germinate grow handle happen hatch heat help hibernate hunt ignore imply improve include
increase indicate inhabit inherit insulate interact involve lack last leak learn live look loosen love
maintain melt migrate move obtain occur offer open operate orbit originate perform play point possess prefer
prevent proceed produce promise protect prove provide pull reach react receive recommend reduce reflect refuse
release rely remain remove repel report represent reproduce require resemble reside resist rest retain reveal
rotate seem separate serve share shiver start stay stop store succeed suffer suggest supply support surround
survive tend transfer transform transmit transport travel turn undergo use vary want warn weigh work yield
"""

_SINGULAR_ONLY = """
absorbs celebrates confirms denies dies documents drips ends equals feeds founds hires houses likes loses
lowers matches names needs notes owns plants presents publishes raises ranks refers refracts rejects relates
replaces responds results returns revolves rules saves shines sounds speaks specialises specializes states
stems studies tastes walks worships
"""


def _singular(verb: str) -> str:
    if re.search(r"(?:s|sh|ch|x|z)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


VERBS: Final = frozenset(
    [
        *_AUXILIARIES.split(),
        *_IRREGULAR.split(),
        *_REGULAR.split(),
        *map(_singular, _REGULAR.split()),
        *_SINGULAR_ONLY.split(),
    ]
)
"""Forms that are verbs by themselves; a past in -ed is known by its ending."""

NO_PAST: Final = frozenset(
    ("need", "speed", "seed", "feed", "breed", "indeed", "hundred", "kindred", "sacred", "exceed", "proceed", "succeed")
)
"""Words in -ed that are no past."""

_DETERMINERS = """
the a an this that these those its his her their our my your no not it him them us me you all both each every some any
more less only to into up down out off over away back together
"""

AFTER_A_VERB: Final = frozenset(_DETERMINERS.split())
"""Words before which a word in -s is a verb rather than a plural."""
