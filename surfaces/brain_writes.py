"""What is written to the brain beside pages: proposals and who lands them, traces, ratings, and erasure.

The rules are in falsify/brain; here they are given what they look at, and the keys.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from falsify.belief.revision import remark
from falsify.belief.text import written
from falsify.brain import erasure, governance, proposals, ratings, traces
from falsify.brain.events import AnswerRated, TraceLogged
from falsify.brain.guard import Draft, Ground, Kind
from falsify.brain.library import Library, Proposal
from falsify.brain.privacy import Classifier
from falsify.brain.proposals import Outcome
from falsify.errors import FalsifyError
from falsify.events import Event
from falsify.identity import require_person
from falsify.sealing import Keyring
from surfaces.brain import STREAM, Brain
from surfaces.tools.envelope import Envelope

KEYS = "keys"
"""The folder of a workspace that has the keys."""


def keyring(brain: Brain) -> Keyring:
    """Return the keys of a workspace."""
    return Keyring(brain.workspace.folder / KEYS)


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
        return proposals.lesson_draft(
            library.org, kind=kind, caller=caller, title=title, lesson=lesson, department=department, refs=refs
        )

    return _Proposing(brain, caller, classifier).propose("propose_lesson", draft)


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
        return proposals.page_draft(
            library.org, caller=caller, title=title, content=content, department=department, refs=refs
        )

    return _Proposing(brain, caller, classifier).propose("propose_page", draft)


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


class _Proposing:
    """One proposal on its way into the log."""

    def __init__(self, brain: Brain, caller: str, classifier: Classifier | None) -> None:
        self.brain, self.caller, self.classifier = brain, caller, classifier
        self.outcome = Outcome(None)

    def propose(self, tool: str, draft: "_DraftOf") -> bytes:
        def decide(library: Library) -> list[Event]:
            held = ground(self.brain, self.caller, self.classifier)
            judge = self.brain.workspace.judge
            self.outcome = proposals.propose(library, draft(library), held, today=self.brain.today, judge=judge)
            return [self.outcome.staged] if self.outcome.staged else []

        def respond(_events: Sequence[Event]) -> bytes:
            return orjson.dumps(self.outcome.as_json())

        return self.brain.perform(decide, respond, tool=tool, caller=self.caller)
