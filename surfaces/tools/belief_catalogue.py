"""The tools of beliefs as rows, and how they are called: for any project that believes something, research or not."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from surfaces.tools.belief_inputs import BELIEF_INPUTS
from surfaces.tools.calling import MakeWork, Read, Tool, acting, answering, call
from surfaces.tools.deferred import Deferred
from surfaces.workspace import Workspace

if TYPE_CHECKING:
    from surfaces.tools import belief_acts as acts
    from surfaces.tools import belief_reads as reads
else:
    acts = Deferred("surfaces.tools.belief_acts")
    reads = Deferred("surfaces.tools.belief_reads")

_READS: Mapping[str, Read] = {
    "falsify.belief.recall": reads.recall,
    "falsify.belief.why": reads.why,
    "falsify.belief.graph": reads.graph,
    "falsify.belief.replay": reads.replay,
}

_ACTS: Mapping[str, MakeWork] = {
    "falsify.belief.record": acts.record,
    "falsify.belief.revise": acts.revise,
    "falsify.belief.retract": acts.retract,
}

_UNDOES: Final = frozenset({"falsify.belief.revise", "falsify.belief.retract"})
"""The tools by which what is believed may be believed no longer."""

BELIEF_CATALOGUE: Mapping[str, Tool] = {
    **{n: answering(n, BELIEF_INPUTS[n], read, quotes=True, beliefs=True) for n, read in _READS.items()},
    **{n: acting(n, BELIEF_INPUTS[n], work, undoes=n in _UNDOES, beliefs=True) for n, work in _ACTS.items()},
}
"""Every tool of beliefs by its canonical name, in the order in which they are listed."""


def call_belief(workspace: Workspace, name: str, arguments: object, *, caller: str) -> bytes:
    """Call a tool of beliefs as a caller; return the envelope, which is how refusals are told too."""
    return call(workspace, BELIEF_CATALOGUE, name, arguments, caller=caller)
