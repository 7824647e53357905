"""What to do next: calls of real tools with every argument filled in, made out of how things stand.

No mutation is made up: what to try is for whoever does the research. What the domain would refuse is not suggested, and
a command that waits for a person already not again to who asked for it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from falsify import join
from falsify.errors import RefusedError
from falsify.log import canonical
from falsify.workbench.events import Action, TicketStatus, VerdictName
from falsify.workbench.plan import resolved
from falsify.workbench.project import Node, Project, Run, Ticket
from falsify.workbench.ranking import rank_score
from falsify.workbench.runs import admits_run, budget, exhausted, queue_run
from falsify.workbench.tickets import READING, waits_for
from falsify.workbench.verdicts import Comparison, compare, numbers, reference_of
from projections.queue import points
from projections.recovery import (
    earlier_incumbent,
    goes_on,
    measured_again,
    promotable,
    reproductions,
    stated,
    to_reproduce,
    under_way,
    unopposed,
)
from projections.reproductions import contradictions
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
    """Return what makes a claimed reproduction a node; it names what is measured again."""
    parent = resolved(project, ticket, ticket.round_id)
    why = f"you hold {ticket.id}; without a mutation it measures {parent} again"
    return act(project, "falsify.experiment.materialize", why, ticket_id=ticket.id, parent_node_id=parent)


def tickets(project: Project, why: str, status: TicketStatus) -> NextAction:
    """Return the list of the tickets that are in a state, each with what it asks for and what it waits for."""
    return read(project, "falsify.ticket.list", why, status=[status])


def measure(project: Project, node: Node) -> NextAction:
    """Return the run of a node, or the look at the budget where that admits none."""
    if admits_run(project):
        return start(project, node)
    sections = ["budget", "active_runs"]
    return read(project, "falsify.project.get_state", f"{node.id} cannot run: {exhausted(project)}", include=sections)


def start(project: Project, node: Node) -> NextAction:
    """Return the run of a node."""
    why = f"{node.id} is {node.status}: a run measures it, and spends at most {_seconds(project):g} s of the budget"
    return act(project, "falsify.run.start", why, node_id=node.id, reason=f"Measure {node.id}.")


def poll(project: Project, run: Run) -> NextAction:
    """Return the look at a run."""
    return read(project, "falsify.run.get", f"{run.id} of {run.node_id} is {run.status}", run_id=run.id)


def compare_node(project: Project, node: Node, why: str = "", **arguments: Any) -> NextAction:
    """Return the comparison of a node with what a decision about it is held against, or with what is named."""
    why = why or f"{node.id} is frozen and nobody decided about it"
    return read(project, "falsify.node.compare", why, node_id=node.id, **arguments)


def evidence(project: Project, node: Node, **arguments: Any) -> NextAction:
    """Return the list of a node's evidence."""
    return read(project, "falsify.evidence.list", f"see what {node.id} left behind", node_id=node.id, **arguments)


def reproduce(project: Project, node: Node) -> NextAction:
    """Return the ticket that measures a frozen node again, with another seed; its title says which node it is of."""
    policy = "baseline" if node.id == project.baseline else "incumbent"
    ticket = {
        "title": f"Reproduce {node.id}",
        "type": "reproduction",
        "hypothesis": f"What {node.id} measured holds with another seed.",
        "instruction": f"Materialize it with parent_node_id {node.id} and without a config_mutation; the run has a "
        "seed that this configuration was not measured with before.",
        "parent_policy": policy,
    }
    return act(project, "falsify.ticket.create", f"find out whether what {node.id} measured holds", tickets=[ticket])


def decide(project: Project, node: Node, unsound: frozenset[str]) -> NextAction | None:
    """Return the decision that the numbers call for about a frozen node, its rationale drafted; None if there is one.

    Of a measurement that is refuted they call for nothing: it is to be reproduced, unless it was. A reproduction that
    contradicts what it reproduces says so, whatever the numbers call for.
    """
    if node.status != "FROZEN" or node.decision_id:
        return None
    reference = reference_of(project, node, unsound=unsound)
    comparison = compare(project, node, reference)
    verdict = comparison.verdict or "INCONCLUSIVE"
    if node.id in unsound:
        return _of_refuted(project, node, comparison, unsound)
    if unopposed(comparison) and project.incumbent in unsound:
        return promote(project, comparison)
    action, because = ACTIONS[verdict], comparison.because
    if reference is not None and reference.setup == node.setup and verdict != "INCONCLUSIVE":
        action, because = "KEEP_FROZEN", f"{because}, but it is the configuration of {reference.id} with another seed"
    why = _but(project, node, f"the numbers say {verdict}: {because}")
    rationale = f"{_but(project, node, f'{numbers(comparison)}: {because}')}."
    return _decision(project, node, verdict=verdict, action=action, rationale=rationale, why=why)


def promote(project: Project, comparison: Comparison) -> NextAction:
    """Return the promotion of a node whose measurement stands in the place of an incumbent that rests on refuted."""
    node = project.nodes[comparison.node_id]
    stands = f"what {node.id} measured stands, and the incumbent {project.incumbent} rests on refuted evidence"
    return _decision(
        project,
        node,
        verdict=stated(comparison),
        action="PROMOTE",
        rationale=f"{_but(project, node, f'{numbers(comparison)}: {stands}')}.",
        why=_but(project, node, stands),
    )


def roll_back(project: Project, unsound: frozenset[str]) -> NextAction | None:
    """Return the promotion of the last earlier incumbent whose measurement stands, None if there is none."""
    earlier = earlier_incumbent(project, unsound)
    if earlier is None:
        return None
    comparison = compare(project, earlier, reference_of(project, earlier, unsound=unsound))
    why = f"{earlier.id} was the incumbent before, and what it measured stands"
    measured = f"; {numbers(comparison)}" if comparison.reference is not None else ""
    rationale = (
        f"Back to {earlier.id}, whose measurement stands, from {project.incumbent}, which rests on refuted evidence"
        f"{measured}."
    )
    return _decision(project, earlier, verdict=stated(comparison), action="PROMOTE", rationale=rationale, why=why)


def _but(project: Project, node: Node, what: str) -> str:
    """Return what speaks for a decision, and which measurements that of the node contradicts, if it does."""
    against = contradictions(project, node)
    return f"{what}; but {'; '.join(against)}" if against else what


def _of_refuted(project: Project, node: Node, comparison: Comparison, unsound: frozenset[str]) -> NextAction:
    """Return the decision about a node whose measurement is refuted: reproduce it, unless that was done and stands."""
    again = measured_again(project, node, unsound)
    done = f", and {again} measured it again" if again else ""
    return _decision(
        project,
        node,
        verdict="INCONCLUSIVE",
        action="KEEP_FROZEN" if again else "REPRODUCE",
        rationale=f"{numbers(comparison)}; but what {node.id} measured is refuted{done}.",
        why=f"what {node.id} measured is refuted{done}",
    )


# --- how things stand -----------------------------------------------------------------------------------------


def next_steps(sight: Sight, unsound: frozenset[str], eligible: Iterable[Ticket]) -> tuple[NextAction, ...]:
    """Return what makes sense now for who looks: first what is wrong, then the work at hand, then new work.

    `eligible` are tickets to claim, the best first. Nothing where nothing was measured: a person runs the baseline.
    """
    waiting = _waiting(sight.project, sight.caller)
    steps = {canonical([step.tool, step.arguments]): step for step in _steps(sight, unsound, tuple(eligible))}
    return tuple(step for step in steps.values() if _subject(step.tool, step.arguments) not in waiting)


def undermined(project: Project, unsound: frozenset[str]) -> Iterator[NextAction]:
    """Yield what puts the incumbent on firm ground again, where it rests on refuted evidence.

    What nobody decided about is compared first, and promoted from there.
    """
    incumbent = project.nodes[project.incumbent]
    yield from (claim(project, t) for t in islice(under_way(project, incumbent), 1) if t.status == "ELIGIBLE")
    again = to_reproduce(project, unsound)
    if again is not None:
        yield reproduce(project, again)
    back = roll_back(project, unsound)
    if back is not None:
        yield back
    best = promotable(project, unsound)
    if best is not None and project.nodes[best.node_id].decision_id:
        yield promote(project, best)
    parent = project.nodes.get(incumbent.parent_id)
    if parent is not None and parent.setup != incumbent.setup:
        yield compare_node(project, incumbent, f"see what {incumbent.id} claims over its parent", against="parent")


def _steps(sight: Sight, unsound: frozenset[str], eligible: Sequence[Ticket]) -> Iterator[NextAction]:
    project, caller = sight.project, sight.caller
    if not project.incumbent:
        yield from (poll(project, project.runs[run_id]) for run_id in islice(project.active, AT_ONCE))
        yield from _waits(project)
        return
    if join.incumbent_state(project, sight.graph) != "alive":
        yield from undermined(project, unsound)
    yield from (compare_node(project, node) for node in islice(_undecided(project), AT_ONCE))
    yield from (poll(project, project.runs[run_id]) for run_id in islice(project.active, AT_ONCE))
    yield from (start(project, node) for node in islice(_startable(project), AT_ONCE))
    yield from _held(project, caller)
    yield from (reproduce(project, node) for node in islice(_unreproduced(project), 1))
    yield from (claim(project, ticket) for ticket in islice(eligible, 1))
    if not eligible:
        yield from _waits(project)


def _held(project: Project, caller: str) -> Iterator[NextAction]:
    """Yield how whoever holds tickets goes on with them; what somebody is to read is no tool's to end."""
    held = [ticket for ticket in project.tickets.values() if ticket.status == "CLAIMED" and ticket.claimed_by == caller]
    yield from (materialize(project, t) for t in islice((t for t in held if t.type == "reproduction"), AT_ONCE))
    asked = {about for tool, about in _waiting(project, caller) if tool == "falsify.experiment.materialize"}
    tried = [t.id for t in held if t.type not in {*READING, "reproduction"} and t.id not in asked]
    if tried:
        how = "make it a node with falsify.experiment.materialize and a config_mutation of yours"
        yield tickets(project, f"you hold {', '.join(tried[:AT_ONCE])}: read what is asked for, and {how}", "CLAIMED")


def _waits(project: Project) -> Iterator[NextAction]:
    """Yield the look at the tickets that nobody can claim yet, if there are any."""
    queued = next((ticket for ticket in project.tickets.values() if ticket.status == "QUEUED"), None)
    if queued:
        yield tickets(project, f"{queued.id} waits until {waits_for(project, queued)}", "QUEUED")


def _undecided(project: Project) -> Iterator[Node]:
    return (
        node
        for node in project.nodes.values()
        if node.status == "FROZEN" and not node.decision_id and node.id != project.baseline
    )


def _startable(project: Project) -> Iterator[Node]:
    ready = (node for node in project.nodes.values() if node.status == "READY")
    return (node for node in ready if _can_run(project, node)) if admits_run(project) else iter(())


def _can_run(project: Project, node: Node) -> bool:
    try:
        queue_run(project, node.id, reason="")
    except RefusedError:
        return False
    return True


def _unreproduced(project: Project) -> Iterator[Node]:
    """Yield the nodes that were to be reproduced by the last decision about them, and that nobody set about since."""
    for node in project.nodes.values():
        decision = project.decisions.get(node.decision_id)
        if decision is None or decision.action != "REPRODUCE":
            continue
        since = (t for t in reproductions(project, node) if t.created_at > decision.committed_at or goes_on(project, t))
        if not any(since):
            yield node


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
