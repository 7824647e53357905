"""The words that make up a question and say nothing of what it is about, in English and French, as words.py folds them.

They take part in the ranking as all words do; only how sure it is does not rest on them.
"""

from typing import Final

from projections.search.words import words

_ENGLISH: Final = """
who whom whose what which when where why how whether long big far much many few less more most often
a an the this that these those some any no each every all both either neither other another such same own one
i me my we us our you your he him his she it its her they them their there here
somebody someone anybody anyone everybody everyone nobody something anything everything nothing
am is are was were be been being do does did done have has had having will would shall should can could may might must
need let get gets got go goes going make makes made take takes took give gives given want wants wanted say says said
tell tells told use uses used happen happens happened mean means know please
and or but nor not if then than so as because while until unless though although
of in on at by to from for with without about into onto over under above below up down out off between through
during before after since within against among per via
now today just only also too very still yet again ever never always
"""

_FRENCH: Final = """
qui que qu quoi dont où quel quelle quels quelles quand comment pourquoi combien
un une le la les l de du des d au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs
je j tu il elle on nous vous ils elles me m te t se s y en lui eux c n
est sont suis es sommes êtes était être a ai as avons avez ont avoir peut peux puis peuvent pouvons doit dois doivent
fait faire et ou mais ni car si ne pas plus non avec sans pour par dans sur sous entre chez vers avant après depuis
pendant
"""

FILLERS: Final = frozenset(words(_ENGLISH + _FRENCH))
