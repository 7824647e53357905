"""Proposals: an agent proposes a page or a lesson, the guard reads it, and a person lands it, once.

What was staged is what is recorded: the page is written as it would be, front matter included, when it is proposed.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from falsify.brain import governance
from falsify.brain.contradictions import findings
from falsify.brain.drafts import LESSONS, draft_again, path_of, superseded_text, written
from falsify.brain.events import BrainEvent, PageRecorded, ProposalApproved, ProposalRejected, ProposalStaged
from falsify.brain.guard import Draft, Ground, likest, refusals, rules_of, second_thoughts
from falsify.brain.library import Library, Proposal, current
from falsify.brain.org import Org
from falsify.brain.page import read_page
from falsify.brain.scope import is_owner, may_write, readable
from falsify.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from falsify.identity import require_person
from falsify.ports import Judge

GroundOf = Callable[[str], Ground]
"""Makes what a proposer's text is held against, as it is now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a proposal: it is staged, the guard refused it, or a person has rejected the same before."""

    staged: ProposalStaged | None
    refusals: tuple[str, ...] = ()
    rejected: Proposal | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as the tools tell it. Nothing is ever written before a person approves.

        Of what was rejected the id and the path are those of then, and the one message is what the person said.
        """
        told = self.rejected.staged if self.rejected else self.staged
        said = (self.rejected.note,) if self.rejected and self.rejected.note else ()
        return {
            "outcome": "rejected" if self.rejected else "staged" if self.staged else "refused",
            "written": False,
            "rel_path": told.rel_path if told else None,
            "moderation_item_id": told.proposal_id if told else None,
            "refusal_messages": [*self.refusals, *said],
            "superseded": list(self.staged.supersedes) if self.staged else [],
        }


# --- proposing ----------------------------------------------------------------------------------------------------


def propose(library: Library, draft: Draft, ground: Ground, *, today: str, judge: Judge) -> Outcome:
    """Return the proposal, what the guard has against it, or that it was rejected. `today` is the date of the page."""
    refused = refusals(draft, ground)
    # Who may not write learns no more, of their own proposals either.
    if "R-SCOPE" not in rules_of(refused) and (known := _rejected(library, draft)):
        return Outcome(None, rejected=known)
    if refused:
        return Outcome(None, tuple(refused))
    rel_path = path_of(draft)
    if not readable(rel_path):
        return Outcome(None, ("R-SCOPE: you have no permission to write there",))
    if rel_path in ground.pages:
        return Outcome(None, (f"R-DUPLICATE: there is a page {rel_path} already",))
    found = list(findings(draft.body, ground.pages, judge))
    old, near = _superseded(draft, ground)
    text = written(draft, today=today, supersedes=old)
    try:
        read_page(rel_path, text)
    except InvalidInputError as error:
        return Outcome(None, (f"R-KEYS: {error.message}",))
    notes = (*near, *found)
    return Outcome(_staged(library, draft, text, notes=notes, judge=f"{judge.name} {judge.version}", supersedes=old))


def _rejected(library: Library, draft: Draft) -> Proposal | None:
    """Return the proposal of the same caller that a draft repeats, if a person rejected it."""
    own = (each for each in reversed(library.proposals.values()) if each.staged.proposed_by == draft.caller)
    last = next((each for each in own if _repeats(draft, each.staged)), None)
    return last if last and last.status == "rejected" else None


def _repeats(draft: Draft, staged: ProposalStaged) -> bool:
    """Return whether a draft, proposed on that day, would have been the page that was staged then."""
    if staged.proposes == "governance" or (draft.title, path_of(draft)) != (staged.title, staged.rel_path):
        return False
    then = read_page(staged.rel_path, staged.text).updated
    return written(draft, today=then, supersedes=staged.supersedes) == staged.text


def _staged(
    library: Library, draft: Draft, text: str, *, notes: tuple[str, ...], judge: str, supersedes: tuple[str, ...]
) -> ProposalStaged:
    rel_path = path_of(draft)
    digest = hashlib.sha256(text.encode()).hexdigest()
    # Made of nothing but what the proposer did: an id that depended on others' pages would tell of them.
    before = sum(each.staged.proposed_by == draft.caller for each in library.proposals.values())
    unique = hashlib.sha256(f"{draft.caller}\0{before}\0{digest}".encode()).hexdigest()
    landing = _free(library, rel_path)
    moved = () if landing == rel_path else (f"there is a page {rel_path} that the proposer does not see",)
    return ProposalStaged(
        proposal_id=f"P-{unique[:10]}",
        proposes=draft.kind,
        rel_path=rel_path,
        title=draft.title,
        department=draft.department,
        text=text,
        refs=draft.refs,
        proposed_by=draft.caller,
        findings=(*moved, *notes),
        judge=judge,
        digest=digest,
        lands_at="" if landing == rel_path else landing,
        supersedes=supersedes,
    )


def _free(library: Library, rel_path: str) -> str:
    """Return the path, or the first like it that no page has; upper and lower case are the same to some systems."""
    taken = {version.rel_path.casefold() for version in current(library)}
    stem, number, free = rel_path.removesuffix(".md"), 1, rel_path
    while free.casefold() in taken:
        number += 1
        free = f"{stem}-{number}.md"
    return free


def _superseded(draft: Draft, ground: Ground) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the page that this one would supersede, and what people should know of the page most like it.

    A lesson supersedes an active lesson of its department; other pages are only pointed at.
    """
    found = likest(draft, ground.pages)
    if found is None:
        return (), ()
    page = ground.pages[found.rel_path]
    replaces = (
        draft.kind in LESSONS
        and page.type in LESSONS
        and (page.lifecycle_status, page.department) == ("active", draft.department)
        and may_write(ground.org, draft.caller, page.department, page.area)
    )
    told = f"{'supersedes' if replaces else 'is like'} {found.rel_path}: {found.share:.0%} alike"
    return ((found.rel_path,) if replaces else ()), (told,)


# --- deciding -----------------------------------------------------------------------------------------------------


def may_decide(org: Org, caller: str, staged: ProposalStaged) -> bool:
    """Return whether somebody may land a proposal: the owner, or who validates something in its department.

    Of a change of the org map: the owner, or who validates governance.
    """
    if is_owner(org, caller):
        return True
    kind, _, slug = caller.partition(":")
    person = next((p for p in org.people if p.slug == slug), None) if kind == "person" else None
    if person is None:
        return False
    if staged.proposes == "governance":
        return governance.CATEGORY in person.validates
    return bool(person.validates) and staged.department in person.departments


def may_see(org: Org, caller: str, staged: ProposalStaged) -> bool:
    """Return whether a proposal exists for somebody: they may decide on it, or it is theirs."""
    return may_decide(org, caller, staged) or staged.proposed_by == caller


def proposal_of(library: Library, proposal_id: str, *, caller: str) -> Proposal:
    """Return a proposal that the caller may see; raises NotFoundError, the same for one they may not."""
    known = library.proposals.get(proposal_id)
    if known is None or not may_see(library.org, caller, known.staged):
        raise _absent(proposal_id)
    return known


def approve(
    library: Library, proposal_id: str, *, caller: str, now: str, ground_of: GroundOf, note: str = ""
) -> list[BrainEvent]:
    """Return the approval and what it lands; nothing if that has happened already. People only.

    Raises ConflictError, and the proposal stays pending, where the brain has changed so that it cannot be landed.
    """
    require_person(caller, "approve anything")
    known = _decided_by(library, proposal_id, caller)
    if known.status == "approved":
        return []
    if known.status == "rejected":
        raise RefusedError(
            f"{proposal_id} was rejected by {known.decided_by}",
            hint="who proposed it has to change it first: the same again is answered with the rejection",
            reason="rejected",
        )
    staged = known.staged
    if staged.proposes == "governance":
        return governance.approve(library, proposal_id, caller=caller, note=note)
    if found := obstacles(library, staged, ground_of(staged.proposed_by)):
        raise ConflictError(
            f"{proposal_id} cannot be landed any more: {'; '.join(found)}",
            hint=f"reject it with `falsify approvals reject {proposal_id} --reason TEXT`, and have it proposed anew, "
            "changed",
            reason="brain_changed",
            details={"proposal": proposal_id, "changed": found},
        )
    approved = ProposalApproved(proposal_id=proposal_id, digest=staged.digest, approved_by=caller, note=note)
    return [approved, *_landed(library, staged, approved_by=caller, now=now)]


def reject(library: Library, proposal_id: str, *, caller: str, reason: str) -> list[BrainEvent]:
    """Return the rejection of what is pending. People only."""
    require_person(caller, "reject a proposal")
    known = _decided_by(library, proposal_id, caller)
    if known.status != "pending":
        raise ConflictError(
            f"{proposal_id} was {known.status} by {known.decided_by}",
            hint="nothing more is to be done",
            reason="proposal_decided",
        )
    return [ProposalRejected(proposal_id=proposal_id, rejected_by=caller, reason=reason)]


def obstacles(library: Library, staged: ProposalStaged, ground: Ground) -> list[str]:
    """Return why a staged page cannot be landed now; empty if it can."""
    target = staged.lands_at or staged.rel_path
    taken = [] if _free(library, target) == target else [f"there is a page {target} by now"]
    return [*taken, *second_thoughts(draft_again(staged), replace(ground, waiting={}))]


def _decided_by(library: Library, proposal_id: str, caller: str) -> Proposal:
    known = proposal_of(library, proposal_id, caller=caller)
    if not may_decide(library.org, caller, known.staged):
        raise _absent(proposal_id)
    return known


def _absent(proposal_id: str) -> NotFoundError:
    message = f"there is no proposal {ascii(proposal_id)[:80]}"
    return NotFoundError(message, hint="see `falsify approvals list`", reason="no_proposal")


def _landed(library: Library, staged: ProposalStaged, *, approved_by: str, now: str) -> Iterator[BrainEvent]:
    """Yield the page, and the page that it supersedes as it is from now on."""

    def recorded(rel_path: str, text: str) -> PageRecorded:
        return PageRecorded(
            rel_path=rel_path,
            text=text,
            known_at=now,
            author=f"{staged.proposed_by}, approved by {approved_by}",
            commit="",
            message=f"proposal {staged.proposal_id}",
        )

    yield recorded(staged.lands_at or staged.rel_path, staged.text)
    for old in staged.supersedes:
        text = next((version.text for version in library.pages.get(old, ())[-1:]), None)
        if text is not None and (changed := superseded_text(old, text)):
            yield recorded(old, changed)
