"""The facts of governed knowledge: which pages there were, who may see and change what, what was proposed and asked.

They lie in the stream `brain`. What is personal in them is sealed with a key of the person it is about: when the key is
destroyed, the text is gone, and order and hashes stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from falsify.events import Event, event

Rating = Literal["up", "down"]
TraceStatus = Literal["success", "failure", "partial"]
ProposalKind = Literal["lesson", "rule", "page", "governance"]

# What events hold has no slots: the codec makes it as it makes events (docs/decisions/0003-event-classes.md).


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """Text that only one key opens: `box` is base64 of a nonce and an AES-GCM ciphertext.

    `key` names the key, 32 hex digits drawn for it. Whose key it is only the key itself says, so that with the key the
    attribution is gone as well.
    """

    key: str
    box: str


# --- pages ---------------------------------------------------------------------------------------------------


@event("brain.page_recorded")
class PageRecorded(Event):
    """A page was written, or written anew: `text` is the whole file, front matter included.

    `known_at` is when it became known (`YYYY-MM-DDTHH:MM:SSZ`): the date of its commit where it was imported from a
    git history, else that of its file or of its recording; never later than that. `author` is who wrote it, as
    the history or the proposal names them.
    """

    rel_path: str
    text: str
    known_at: str
    author: str
    commit: str
    message: str


@event("brain.page_moved")
class PageMoved(Event):
    """A page has another path; what it says is as it was."""

    rel_path: str
    was: str
    known_at: str
    author: str
    commit: str


@event("brain.page_removed")
class PageRemoved(Event):
    """A page was deleted; its past is as it was."""

    rel_path: str
    known_at: str
    author: str
    commit: str


# --- who may what --------------------------------------------------------------------------------------------


@event("brain.org_accepted")
class OrgAccepted(Event):
    """The org map as it was imported, after it was found valid."""

    org: Mapping[str, Any]
    source: str


@event("brain.governance_applied")
class GovernanceApplied(Event):
    """The owner changed who may see or decide what; `org` is the whole map after it, `inverse` what undoes it."""

    operation_id: str
    op: str
    arguments: Mapping[str, str]
    inverse_op: str
    inverse_arguments: Mapping[str, str]
    org: Mapping[str, Any]
    applied_by: str
    undoes: str


# --- proposals -----------------------------------------------------------------------------------------------


@event("brain.proposal_staged")
class ProposalStaged(Event):
    """Somebody proposed a page, and the guard had nothing against it; a person decides.

    `text` is the page as it would be recorded, `digest` its SHA-256. `findings` are what the guard noticed, `judge` who
    said so. `rel_path` is what the proposer was told; where a page that they cannot see has it, `lands_at` is the path
    that the page will have instead. `supersedes` is the page that would be superseded by this one.
    """

    proposal_id: str
    proposes: ProposalKind
    rel_path: str
    title: str
    department: str
    text: str
    refs: tuple[str, ...]
    proposed_by: str
    findings: tuple[str, ...]
    judge: str
    digest: str
    lands_at: str = ""
    supersedes: tuple[str, ...] = ()


@event("brain.proposal_approved")
class ProposalApproved(Event):
    """A person approved; the page is recorded in the same command."""

    proposal_id: str
    digest: str
    approved_by: str
    note: str


@event("brain.proposal_rejected")
class ProposalRejected(Event):
    """A person said no."""

    proposal_id: str
    rejected_by: str
    reason: str


# --- what is used --------------------------------------------------------------------------------------------


@event("brain.trace_logged")
class TraceLogged(Event):
    """An agent recorded what it did.

    `content` is task, summary and detail as JSON; where it was done on somebody's behalf it is empty, and `sealed` has
    it, with who that was.
    """

    rel_path: str
    agent: str
    status: TraceStatus
    duration_seconds: float | None
    refs: tuple[str, ...]
    content: str
    sealed: Sealed | None


@event("brain.answer_given")
class AnswerGiven(Event):
    """A question was answered. The question is sealed for who asked it; `citations` are the pages that were cited."""

    answer_id: str
    asked_by: str
    on_behalf_of: str
    question: Sealed | None
    citations: tuple[str, ...]
    confidence: Literal["normal", "low"]
    mode: Literal["question", "guidance"]


@event("brain.answer_rated")
class AnswerRated(Event):
    """Who had asked said whether the answer was any good; the comment is sealed.

    `raised_to` are the people who look after the cited pages, where the answer was no good.
    """

    answer_id: str
    rel_path: str
    rated_by: str
    rating: Rating
    comment: Sealed | None
    raised_to: tuple[str, ...]


@event("brain.subject_erased")
class SubjectErased(Event):
    """The key of a person was destroyed: what was sealed for them until then cannot be read any more."""

    subject: str
    erased_by: str


BrainEvent = (
    PageRecorded
    | PageMoved
    | PageRemoved
    | OrgAccepted
    | GovernanceApplied
    | ProposalStaged
    | ProposalApproved
    | ProposalRejected
    | TraceLogged
    | AnswerGiven
    | AnswerRated
    | SubjectErased
)
"""What changes the brain."""
