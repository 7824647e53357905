"""The org map of a workspace: imported from a file, told in plain words, changed by operations and changed back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from falsify import located_yaml
from falsify.belief.text import written
from falsify.brain import governance
from falsify.brain import org_sentences as tell
from falsify.brain.events import BrainEvent, GovernanceApplied, OrgAccepted, ProposalStaged
from falsify.brain.library import Library
from falsify.brain.operations import OPERATIONS
from falsify.brain.org import Agent, Org, Person, canonical, org_of
from falsify.brain.org_file import BEGINS, PATH, WHAT, OrgFile, org_in
from falsify.brain.org_rules import Fault, faults, moved, widened
from falsify.codec import canonical as canonical_bytes
from falsify.events import Event
from falsify.located_yaml import Located
from surfaces.brain import STREAM, Brain


@dataclass(frozen=True, slots=True)
class OrgDocument:
    """An org map as it was read: not accepted yet, and perhaps not valid."""

    org: Org
    faults: tuple[Fault, ...]
    located: Located[OrgFile]

    @property
    def warnings(self) -> list[str]:
        """What is odd about it, each with its place in the file."""
        return [self._at(fault) for fault in self.faults if fault.severity == "warning"]

    @property
    def errors(self) -> list[str]:
        """What keeps it from being accepted, each with its place in the file."""
        return [self._at(fault) for fault in self.faults if fault.severity == "error"]

    def check(self) -> None:
        """Raise InvalidInputError with line and column of the first error, if there is one."""
        found = [fault for fault in self.faults if fault.severity == "error"]
        if found:
            more = f"; {len(found) - 1} more faults like this" if len(found) > 1 else ""
            raise self.located.error(found[0].path, found[0].message, hint=found[0].hint + more)

    def _at(self, fault: Fault) -> str:
        place = self.located.place(fault.path)
        return f"{self.located.name}, line {place.line}, column {place.column}: {fault.rule}: {fault.message}"


@dataclass(frozen=True, slots=True)
class OrgImport:
    """What the import of an org map came to: whether anything changed, and what the owner should know."""

    accepted: bool
    warnings: tuple[str, ...]


def read_org(name: str, text: str) -> OrgDocument:
    """Return the org map that a text draws. Raises InvalidInputError with line and column where it is no such map."""
    located = located_yaml.parse(name, text, OrgFile, what=WHAT, begins=BEGINS)
    org = org_in(located.value)
    return OrgDocument(org, tuple(faults(org)), located)


def import_org(brain: Brain, text: str, source: str = PATH, *, caller: str, replace: bool = False) -> OrgImport:
    """Accept the org map that a text draws; the one that was accepted last, or that holds now, changes nothing.

    Raises InvalidInputError with the place of a fault, ForbiddenError for anybody but the owner, and RefusedError where
    another map holds and it is not to be replaced as a whole.
    """
    document = read_org(source, text)
    document.check()
    before, wanted = brain.library.org, canonical(document.org)
    if not replace and wanted in (before, _accepted(brain)):
        return OrgImport(False, tuple(document.warnings))
    wider = widened(before, wanted) if brain.library.org.owner else ()

    def decide(library: Library) -> Sequence[Event]:
        return governance.accept(library, document.org, source=source, caller=caller, replace=replace)

    response = brain.perform(decide, _counted, tool="import_org", caller=caller, body=canonical_bytes(wanted.as_json()))
    warnings = [f"widening: {identity} {what}" for identity, what in wider]
    return OrgImport(orjson.loads(response)["events"] > 0, (*document.warnings, *warnings))


# --- what the three tools answer ------------------------------------------------------------------------------


def model(brain: Brain, *, caller: str) -> dict[str, Any]:
    """Return who may see, decide and change what, JSON-ready and in plain words. Raises ForbiddenError."""
    org = brain.library.org
    governance.require_owner(org, caller)
    return {
        "owner": org.owner,
        "must_validate": list(org.must_validate),
        "people": [_person(org, person) for person in org.people],
        "agents": [_agent(org, agent) for agent in org.agents],
    }


def preview(brain: Brain, op: str, given: Mapping[str, object], *, caller: str) -> dict[str, Any]:
    """Return what an operation would change, in both languages. Raises ForbiddenError and RefusedError."""
    governance.require_owner(brain.library.org, caller)
    return _foreseen(governance.plan(brain.library.org, op, given))


def apply(brain: Brain, op: str, given: Mapping[str, object], *, caller: str) -> dict[str, Any]:
    """Carry an operation out, or stage it where changes are to be approved. Raises ForbiddenError and RefusedError."""
    governance.require_owner(brain.library.org, caller)
    arguments = dict(governance.plan(brain.library.org, op, given).arguments)
    body = canonical_bytes({"op": op, "arguments": arguments})

    def decide(library: Library) -> Sequence[Event]:
        return governance.apply(library, op, arguments, caller=caller)

    return _performed(brain, decide, "governance_apply", caller, body)


def preview_undo(brain: Brain, operation_id: str, *, caller: str) -> dict[str, Any]:
    """Return what undoing an operation would change. Raises ForbiddenError, NotFoundError and RefusedError."""
    governance.require_owner(brain.library.org, caller)
    return _foreseen(governance.plan_undo(brain.library, operation_id))


def undo(brain: Brain, operation_id: str, *, caller: str) -> dict[str, Any]:
    """Take an operation back by a new one. Raises ForbiddenError, NotFoundError and RefusedError."""
    governance.require_owner(brain.library.org, caller)
    body = canonical_bytes({"undoes": operation_id})

    def decide(library: Library) -> Sequence[Event]:
        return governance.undo(library, operation_id, caller=caller)

    return _performed(brain, decide, "governance_undo", caller, body)


def history(brain: Brain, *, caller: str) -> list[dict[str, Any]]:
    """Return every acceptance and operation, the oldest first. Raises ForbiddenError for anybody but the owner."""
    governance.require_owner(brain.library.org, caller)
    return [
        {"recorded_at": written(recorded.recorded_at), "actor": recorded.actor, **row}
        for recorded in brain.log.read(stream=STREAM)
        if (row := _row(brain.library, recorded.event))
    ]


def vocabulary() -> list[dict[str, Any]]:
    """Return every operation, what it takes and what it does."""
    return [
        {
            "op": name,
            "takes": list(operation.takes),
            "optional": [n for n, _ in operation.otherwise],
            "does": operation.does,
        }
        for name, operation in OPERATIONS.items()
    ]


def _foreseen(change: governance.Plan) -> dict[str, Any]:
    told = {"op": change.op, "file": PATH, "before": change.told(change.before), "after": change.told(change.after)}
    return {**told, "warning": "; ".join(change.warnings)} if change.warnings else told


def _performed(brain: Brain, decide: Any, tool: str, caller: str, body: bytes) -> dict[str, Any]:
    def respond(events: Sequence[Event]) -> bytes:
        return orjson.dumps(_came_to(brain.library.org, cast("BrainEvent", events[0])))

    answer: dict[str, Any] = orjson.loads(brain.perform(decide, respond, tool=tool, caller=caller, body=body))
    return answer


def _came_to(before: Org, event: BrainEvent) -> dict[str, Any]:
    match event:
        case GovernanceApplied():
            return {
                "status": "applied",
                "op": event.op,
                "file": PATH,
                "commit": event.operation_id,
                "scope_propagation": _propagation(len(moved(before, org_of(event.org)))),
            }
        case ProposalStaged():
            return {"status": "submitted_for_approval", "item_id": event.proposal_id}
        case _:
            raise TypeError(f"an operation came to a {event.kind}")


def _propagation(count: int) -> str:
    whose = {0: "nobody's scope changed", 1: "the scope of 1 identity changed"}
    return f"immediate: {whose.get(count, f'the scopes of {count} identities changed')}"


def _counted(events: Sequence[Event]) -> bytes:
    return orjson.dumps({"events": len(events)})


def _accepted(brain: Brain) -> Org | None:
    """Return the map that was imported last, whatever was done to it since."""
    last = None
    for recorded in brain.log.read(stream=STREAM):
        if isinstance(recorded.event, OrgAccepted):
            last = recorded.event
    return org_of(last.org) if last else None


def _person(org: Org, person: Person) -> dict[str, Any]:
    sentences = (tell.departments_of, tell.reporting_of, tell.decisions_of, tell.validations_of)
    return {
        "slug": person.slug,
        "name": person.name,
        "role": person.role,
        "departments": list(person.departments),
        "reports_to": person.reports_to or None,
        "decides": list(person.decides),
        "validates": list(person.validates),
        "plain": tell.joined(*(sentence(org, person) for sentence in sentences)),
    }


def _agent(org: Org, agent: Agent) -> dict[str, Any]:
    """Return an agent's grants; what it may write it may read, and is listed under both."""
    return {
        "name": agent.name,
        "departments": {
            "read": sorted({*agent.read, *agent.write}),
            "write": list(agent.write),
            "deny": list(agent.deny),
        },
        "areas": {"read": sorted({*agent.read_areas, *agent.write_areas}), "write": list(agent.write_areas)},
        "plain": tell.joined(tell.access_of(org, agent), tell.areas_of(org, agent)),
    }


def _row(library: Library, event: Event) -> dict[str, Any]:
    match event:
        case OrgAccepted():
            return {"id": "", "op": "import", "arguments": {"source": event.source}, "undoes": "", "undone": False}
        case GovernanceApplied():
            return {
                "id": event.operation_id,
                "op": event.op,
                "arguments": dict(event.arguments),
                "undoes": event.undoes,
                "undone": event.operation_id in library.undone,
            }
        case _:
            return {}
