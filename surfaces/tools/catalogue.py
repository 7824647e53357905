"""The catalogue: every tool that answers with an envelope, as a row.

Surfaces fold over it: the command line, the reference page, and whoever serves it to agents.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from falsify.errors import NotFoundError
from surfaces.tools.belief_catalogue import BELIEF_CATALOGUE
from surfaces.tools.calling import MakeWork, Read, Tool, acting, answering, call, tool_of
from surfaces.tools.deferred import Deferred
from surfaces.tools.schema import parse
from surfaces.tools.workbench_inputs import WORKBENCH_INPUTS
from surfaces.workbench import Work

if TYPE_CHECKING:
    from surfaces.tools import evidence_reads
    from surfaces.tools import workbench_acts as acts
    from surfaces.tools import workbench_reads as reads
else:
    acts = Deferred("surfaces.tools.workbench_acts")
    evidence_reads = Deferred("surfaces.tools.evidence_reads")
    reads = Deferred("surfaces.tools.workbench_reads")

__all__ = ["BELIEF_CATALOGUE", "CATALOGUE", "TOOLS", "Tool", "call", "tool_of", "work_of"]

_READS: Mapping[str, Read] = {
    "falsify.project.get_state": reads.get_state,
    "falsify.ticket.list": reads.list_tickets,
    "falsify.graph.get": reads.get_graph,
    "falsify.node.compare": reads.compare_node,
    "falsify.run.get": evidence_reads.get_run,
    "falsify.evidence.list": evidence_reads.list_evidence,
}

_ACTS: Mapping[str, MakeWork] = {
    "falsify.ticket.create": acts.create_tickets,
    "falsify.ticket.claim": acts.claim_ticket,
    "falsify.experiment.materialize": acts.materialize_experiment,
    "falsify.run.start": acts.start_run,
    "falsify.run.cancel": acts.cancel_run,
    "falsify.decision.commit": acts.commit_decision,
}

_UNDOES: Final = frozenset({"falsify.run.cancel"})
"""The tools that throw away what was done."""

_QUOTES: Final = frozenset({"falsify.ticket.list", "falsify.run.get", "falsify.evidence.list"})
"""The tools that return what strangers wrote."""

CATALOGUE: Mapping[str, Tool] = {
    **{n: answering(n, WORKBENCH_INPUTS[n], read, quotes=n in _QUOTES) for n, read in _READS.items()},
    **{n: acting(n, WORKBENCH_INPUTS[n], work, undoes=n in _UNDOES) for n, work in _ACTS.items()},
}
"""The tools of the research workbench by their canonical names, in the order in which they are listed."""

TOOLS: Mapping[str, Tool] = {**CATALOGUE, **BELIEF_CATALOGUE}
"""Those, and the tools of beliefs."""


def work_of(tool: str, arguments: Mapping[str, Any]) -> Work:
    """Return the command that an approval is about, made again out of its recorded arguments.

    Raises NotFoundError for a tool that this version does not have.
    """
    row = tool_of(TOOLS, tool)
    if row.work is None:
        raise NotFoundError(f"{tool} does nothing that could be approved", hint="see `falsify tools`", reason="no_tool")
    return row.work(parse(row.model, {**arguments, "idempotency_key": "approved", "expected_project_revision": 0}))
