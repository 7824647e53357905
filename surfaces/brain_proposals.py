"""Proposals to the brain: agents make them, people land them, and the Approval Center says what each would do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from falsify.belief.revision import remark
from falsify.belief.text import written
from falsify.brain import drafts, governance, proposals, traces
from falsify.brain.events import ProposalKind, ProposalStaged
from falsify.brain.guard import Draft, Ground, Kind
from falsify.brain.library import Library, Proposal
from falsify.brain.privacy import Classifier
from falsify.brain.proposals import Outcome
from falsify.errors import FalsifyError
from falsify.events import Event
from falsify.identity import require_person
from surfaces.brain import STREAM, Brain, Decide
from surfaces.envelope import Envelope

DraftOf = Callable[[Library], Draft]


# --- proposing ----------------------------------------------------------------------------------------------------


def propose_lesson(
    brain: Brain,
    caller: str,
    *,
    title: str,
    lesson: str,
    kind: Kind,
    department: str | None = None,
    refs: Sequence[str] = (),
    classifier: Classifier | None = None,
) -> bytes:
    """Propose a lesson or a rule; return what became of it, JSON."""

    def draft(library: Library) -> Draft:
        return drafts.lesson_draft(
            library.org, kind=kind, caller=caller, title=title, lesson=lesson, department=department, refs=refs
        )

    return _propose(brain, caller, "propose_lesson", draft, classifier)


def propose_page(
    brain: Brain,
    caller: str,
    *,
    title: str,
    content: str,
    department: str | None = None,
    refs: Sequence[str] = (),
    classifier: Classifier | None = None,
) -> bytes:
    """Propose a new page; return what became of it, JSON."""

    def draft(library: Library) -> Draft:
        return drafts.page_draft(
            library.org, caller=caller, title=title, content=content, department=department, refs=refs
        )

    return _propose(brain, caller, "propose_page", draft, classifier)


def ground(brain: Brain, caller: str, classifier: Classifier | None = None) -> Ground:
    """Return what the guard looks at for a caller: nothing that they cannot see."""
    library, scope = brain.library, brain.scope(caller)
    waiting = {
        proposal_id: known.staged.text.partition("\n---\n")[2]
        for proposal_id, known in library.proposals.items()
        if known.status == "pending" and known.staged.proposed_by == caller and known.staged.proposes != "governance"
    }
    return Ground(
        org=library.org,
        pages={path: page for path, page in brain.pages().pages.items() if scope.sees(page)},
        traces=traces.own_traces(library, caller),
        waiting=waiting,
        classifier=classifier,
    )


def _propose(brain: Brain, caller: str, tool: str, draft_of: DraftOf, classifier: Classifier | None) -> bytes:
    outcome = Outcome(None)

    def decide(library: Library) -> list[Event]:
        nonlocal outcome
        held, judge = ground(brain, caller, classifier), brain.workspace.judge
        outcome = proposals.propose(library, draft_of(library), held, today=brain.today, judge=judge)
        return [outcome.staged] if outcome.staged else []

    return brain.perform(decide, lambda _events: orjson.dumps(outcome.as_json()), tool=tool, caller=caller)


# --- deciding -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal as the Approval Center has it, beside the requests of research."""

    brain: Brain
    proposal: Proposal

    @property
    def id(self) -> str:
        """The id that it is named by."""
        return self.proposal.staged.proposal_id

    @property
    def pending(self) -> bool:
        """Whether nobody has decided."""
        return self.proposal.status == "pending"

    @property
    def lands_a_page(self) -> bool:
        """Whether approving it changes pages, and not the org map."""
        return self.proposal.staged.proposes != "governance"

    @property
    def position(self) -> int:
        """Where in the log it was staged."""
        return self.proposal.position

    @property
    def revision(self) -> int:
        """Where the stream is that it belongs to."""
        return self.brain.library.revision

    def row(self) -> dict[str, Any]:
        """Return it, JSON-ready, with when it was made and how long ago (seconds)."""
        staged = self.proposal.staged
        asked = next(self.brain.log.read(after=self.position - 1, through=self.position))
        age = max(0, self.brain.workspace.clock.now() - asked.recorded_at)
        return {
            "id": self.id,
            "project_id": STREAM,
            "status": self.proposal.status,
            "tool": _TOOLS[staged.proposes],
            "arguments": _arguments(staged),
            "digest": staged.digest,
            "asked_by": staged.proposed_by,
            "reason": "",
            "asked_at_revision": asked.revision,
            "effects": _effects(staged),
            "relies_on": [],
            "decided_by": self.proposal.decided_by,
            "note": self.proposal.note,
            "findings": list(staged.findings),
            "judge": staged.judge,
            "asked_at": written(asked.recorded_at),
            "age_seconds": age // 1_000_000,
        }

    def detail(self) -> dict[str, Any]:
        """Return all there is to know before it is decided, JSON-ready, as of a request of research."""
        would_do, obstacles = self._foreseen()
        return {
            **self.row(),
            "since": [],
            "can_be_carried_out": not obstacles,
            "obstacles": obstacles,
            "would_do": would_do,
            "done": _effects(self.proposal.staged) if self.proposal.status == "approved" else [],
        }

    def approve(self, caller: str, note: str = "") -> bytes:
        """Land it, in the same command as the approval: exactly once. Return the envelope.

        Raises ConflictError, and leaves it pending, where it cannot be landed any more.
        """
        require_person(caller, "approve anything")
        told = remark(note, what="the note")

        def decide(library: Library) -> Sequence[Event]:
            held, now = lambda proposer: ground(self.brain, proposer), self.brain.now
            return proposals.approve(library, self.id, caller=caller, now=now, ground_of=held, note=told)

        return self._perform(decide, "approvals.approve", caller)

    def reject(self, caller: str, reason: str) -> bytes:
        """Refuse it; return the envelope."""
        told = remark(reason, what="the reason")
        return self._perform(
            lambda library: proposals.reject(library, self.id, caller=caller, reason=told), "approvals.reject", caller
        )

    def _perform(self, decide: Decide, tool: str, caller: str) -> bytes:
        def respond(events: Sequence[Event]) -> bytes:
            library = self.brain.library
            warnings: tuple[str, ...] = ()
            by = caller
            if not events:
                by = library.proposals[self.id].decided_by
                warnings = (f"{self.id} was approved before by {by} and landed then; nothing was done now",)
            status = "rejected" if tool == "approvals.reject" else "approved"
            return Envelope(
                status="ok",
                project_revision=library.revision + len(events),
                result={"approval": {"id": self.id, "status": status, "decided_by": by}},
                warnings=warnings,
            ).to_bytes()

        return self.brain.perform(decide, respond, tool=tool, caller=caller)

    def _foreseen(self) -> tuple[list[str], list[str]]:
        """Return what it would do now, and what keeps it from being landed."""
        staged, library = self.proposal.staged, self.brain.library
        if not self.pending:
            return [], [f"it was {self.proposal.status} by {self.proposal.decided_by}"]
        if staged.proposes != "governance":
            found = proposals.obstacles(library, staged, ground(self.brain, staged.proposed_by))
            return ([], found) if found else (_effects(staged), [])
        try:
            change = governance.proposed(library, staged)
        except FalsifyError as error:
            return [], [error.message]
        return [change.told(change.after)["en"], *change.warnings], []


_TOOLS: Mapping[ProposalKind, str] = {
    "lesson": "propose_lesson",
    "rule": "propose_lesson",
    "page": "propose_page",
    "governance": "governance_apply",
}


def proposed(brain: Brain, caller: str) -> list[Proposed]:
    """Return the proposals that a caller may decide on or made, in the order in which they were made."""
    library = brain.library
    seen = (each for each in library.proposals.values() if proposals.may_see(library.org, caller, each.staged))
    return [Proposed(brain, each) for each in sorted(seen, key=lambda each: each.position)]


def _arguments(staged: ProposalStaged) -> dict[str, Any]:
    if staged.proposes == "governance":
        told: dict[str, Any] = orjson.loads(staged.text)
        return told
    return {
        "title": staged.title,
        "department": staged.department,
        "rel_path": staged.lands_at or staged.rel_path,
        "refs": list(staged.refs),
        "text": staged.text,
    }


def _effects(staged: ProposalStaged) -> list[str]:
    if staged.proposes == "governance":
        return [f"the org map is changed: {staged.title}"]
    return [
        f"{staged.lands_at or staged.rel_path} is recorded",
        *(f"{rel_path} is superseded by it" for rel_path in staged.supersedes),
    ]
