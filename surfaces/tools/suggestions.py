"""What to do next: calls of real tools with every argument filled in, made out of how things stand.

No mutation is made up: what to try is for whoever does the research. A command that waits for a person already is not
suggested again to who asked for it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from falsify import join
from falsify.log import canonical
from falsify.workbench.decisions import earlier_incumbents
from falsify.workbench.events import Action, VerdictName
from falsify.workbench.plan import resolved
from falsify.workbench.project import Node, Project, Run, Ticket
from falsify.workbench.ranking import rank_score
from falsify.workbench.runs import SHORTEST, budget
from falsify.workbench.verdicts import compare, numbers, reference_of
from projections.queue import points
from surfaces.envelope import NextAction
from surfaces.workbench import Sight

AT_ONCE: Final = 3
"""How many calls of one tool are suggested at once."""

ACTIONS: Final[dict[VerdictName, Action]] = {
    "IMPROVED": "PROMOTE",
    "NEUTRAL": "KEEP_FROZEN",
    "REGRESSED": "DISCARD",
    "INCONCLUSIVE": "REQUEST_MORE_EVIDENCE",
}
"""What a measured verdict calls for."""


# --- any call -------------------------------------------------------------------------------------------------


def read(project: Project, tool: str, why: str, **arguments: Any) -> NextAction:
    """Return the call of a tool that changes nothing."""
    return NextAction(tool, {"project_id": project.id, **arguments}, why)


def act(project: Project, tool: str, why: str, **arguments: Any) -> NextAction:
    """Return the call of a tool that changes something, with the present revision and a key that is fresh at it."""
    asked = {"project_id": project.id, **arguments}
    sent = {"idempotency_key": fresh_key(tool, asked, project.revision), "expected_project_revision": project.revision}
    return NextAction(tool, {**asked, **sent}, why)


def fresh_key(tool: str, arguments: dict[str, Any], revision: int) -> str:
    """Return an idempotency key for what is asked for at a revision: `next-` and 12 hexadecimal digits."""
    return f"next-{hashlib.sha256(canonical([tool, arguments, revision])).hexdigest()[:12]}"


# --- one thing ------------------------------------------------------------------------------------------------


def claim(project: Project, ticket: Ticket) -> NextAction:
    """Return the claim of an eligible ticket."""
    why = f"{ticket.id} is eligible, with a rank score of {points(rank_score(project, ticket)):g}"
    reason = f"{ticket.id} has a rank score of {points(rank_score(project, ticket)):g} points."
    return act(project, "falsify.ticket.claim", why, ticket_id=ticket.id, reason=reason)


def materialize(project: Project, ticket: Ticket) -> NextAction:
    """Return what makes a claimed reproduction a node; without a mutation it measures its parent again."""
    parent = resolved(project, ticket, ticket.round_id)
    why = f"you hold {ticket.id}; without a mutation it measures {parent} again"
    return act(project, "falsify.experiment.materialize", why, ticket_id=ticket.id)


def start(project: Project, node: Node) -> NextAction:
    """Return the run of a node."""
    why = f"{node.id} is {node.status}: a run measures it, and spends at most {_seconds(project):g} s of the budget"
    return act(project, "falsify.run.start", why, node_id=node.id, reason=f"Measure {node.id}.")


def poll(project: Project, run: Run) -> NextAction:
    """Return the look at a run."""
    return read(project, "falsify.run.get", f"{run.id} of {run.node_id} is {run.status}", run_id=run.id)


def compare_node(project: Project, node: Node, why: str = "") -> NextAction:
    """Return the comparison of a node with what it is held against."""
    why = why or f"{node.id} is frozen and nobody decided about it"
    return read(project, "falsify.node.compare", why, node_id=node.id)


def evidence(project: Project, node: Node, **arguments: Any) -> NextAction:
    """Return the list of a node's evidence."""
    return read(project, "falsify.evidence.list", f"see what {node.id} left behind", node_id=node.id, **arguments)


def reproduce(project: Project, node: Node) -> NextAction:
    """Return the ticket that measures a frozen node again, with another seed."""
    policy = "baseline" if node.id == project.baseline else "incumbent"
    direct = node.id in {project.baseline, project.incumbent}
    how = "Leave config_mutation out" if direct else f"Materialize it with parent_node_id {node.id} and no mutation"
    ticket = {
        "title": f"Reproduce {node.id}",
        "type": "reproduction",
        "hypothesis": f"What {node.id} measured holds with another seed.",
        "instruction": f"{how}; the run has a seed that this configuration was not measured with before.",
        "parent_policy": policy,
    }
    return act(project, "falsify.ticket.create", f"find out whether what {node.id} measured holds", tickets=[ticket])


def decide(project: Project, node: Node, unsound: frozenset[str]) -> NextAction | None:
    """Return the decision that the numbers call for about a frozen node, its rationale drafted; None if there is one.

    Of a measurement that is refuted they call for nothing: it is to be reproduced.
    """
    if node.status != "FROZEN" or node.decision_id:
        return None
    comparison = compare(project, node, reference_of(project, node, unsound=unsound))
    verdict = comparison.verdict or "INCONCLUSIVE"
    if node.id in unsound:
        why = f"what {node.id} measured is refuted"
        rationale = f"{numbers(comparison)}; but what {node.id} measured is refuted."
        return _decision(project, node, verdict="INCONCLUSIVE", action="REPRODUCE", rationale=rationale, why=why)
    why = f"the numbers say {verdict}: {comparison.because}"
    rationale = f"{numbers(comparison)}: {comparison.because}."
    return _decision(project, node, verdict=verdict, action=ACTIONS[verdict], rationale=rationale, why=why)


def roll_back(project: Project, unsound: frozenset[str]) -> NextAction | None:
    """Return the promotion of the last earlier incumbent whose measurement stands, None if there is none."""
    earlier = next((project.nodes[n] for n in earlier_incumbents(project) if n not in unsound), None)
    if earlier is None:
        return None
    comparison = compare(project, earlier, reference_of(project, earlier, unsound=unsound))
    verdict: VerdictName = "IMPROVED" if comparison.verdict == "IMPROVED" else "INCONCLUSIVE"
    why = f"{earlier.id} was the incumbent before, and what it measured stands"
    measured = f"; {numbers(comparison)}" if comparison.reference is not None else ""
    rationale = (
        f"Back to {earlier.id}, whose measurement stands, from {project.incumbent}, which rests on refuted evidence"
        f"{measured}."
    )
    return _decision(project, earlier, verdict=verdict, action="PROMOTE", rationale=rationale, why=why)


# --- how things stand -----------------------------------------------------------------------------------------


def next_steps(sight: Sight, unsound: frozenset[str], eligible: Iterable[Ticket]) -> tuple[NextAction, ...]:
    """Return what makes sense now for who looks: first what is wrong, then the work at hand, then new work.

    `eligible` are tickets to claim, the best first. Nothing where nothing was measured: a person runs the baseline.
    """
    waiting = _waiting(sight.project, sight.caller)
    return tuple(
        step for step in _steps(sight, unsound, eligible) if _subject(step.tool, step.arguments) not in waiting
    )


def undermined(project: Project, unsound: frozenset[str]) -> Iterator[NextAction]:
    """Yield what puts the incumbent on firm ground again, where it rests on refuted evidence."""
    incumbent = project.nodes[project.incumbent]
    yield reproduce(project, incumbent)
    back = roll_back(project, unsound)
    if back is not None:
        yield back
    if incumbent.parent_id:
        yield compare_node(project, incumbent, f"see what {incumbent.id} claims over its parent")


def _steps(sight: Sight, unsound: frozenset[str], eligible: Iterable[Ticket]) -> Iterator[NextAction]:
    project = sight.project
    if not project.incumbent:
        yield from (poll(project, project.runs[run_id]) for run_id in islice(project.active, AT_ONCE))
        return
    if join.incumbent_state(project, sight.graph) != "alive":
        yield from undermined(project, unsound)
    yield from (compare_node(project, node) for node in islice(_undecided(project), AT_ONCE))
    yield from (poll(project, project.runs[run_id]) for run_id in islice(project.active, AT_ONCE))
    if budget(project).runs_left and _seconds(project) >= SHORTEST:
        yield from (start(project, node) for node in islice(_startable(project), AT_ONCE))
    yield from (materialize(project, t) for t in islice(_reproductions(project, sight.caller), AT_ONCE))
    yield from (claim(project, ticket) for ticket in islice(eligible, 1))


def _undecided(project: Project) -> Iterator[Node]:
    return (
        node
        for node in project.nodes.values()
        if node.status == "FROZEN" and not node.decision_id and node.id != project.baseline
    )


def _startable(project: Project) -> Iterator[Node]:
    return (
        node
        for node in project.nodes.values()
        if node.status == "READY" and not (node.run_ids and node.run_ids[-1] in project.active)
    )


def _reproductions(project: Project, caller: str) -> Iterator[Ticket]:
    return (
        ticket
        for ticket in project.tickets.values()
        if ticket.status == "CLAIMED"
        and ticket.claimed_by == caller
        and ticket.type == "reproduction"
        and resolved(project, ticket, ticket.round_id)
    )


def _waiting(project: Project, caller: str) -> set[tuple[str, str]]:
    """Return what the caller asked for and no person answered yet."""
    asked = {
        _subject(a.request.tool, a.request.arguments)
        for a in project.approvals.values()
        if a.status == "pending" and a.request.asked_by == caller
    }
    # Who asked for a decision has read the numbers.
    return asked | {("falsify.node.compare", about) for tool, about in asked if tool == "falsify.decision.commit"}


def _subject(tool: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """Return a tool and what it is about."""
    about = next((str(arguments[name]) for name in ("ticket_id", "node_id", "run_id") if name in arguments), "")
    return tool, about or canonical(arguments.get("tickets", [])).decode()


def _seconds(project: Project) -> float:
    """Return what a run that is started now may take."""
    left = budget(project).seconds_left
    return min(left, project.contract.run_seconds) if project.contract else left


def _decision(
    project: Project, node: Node, *, verdict: VerdictName, action: Action, rationale: str, why: str
) -> NextAction:
    return act(
        project,
        "falsify.decision.commit",
        why,
        node_id=node.id,
        verdict=verdict,
        action=action,
        rationale=rationale,
    )
