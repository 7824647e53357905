"""Ratings: whoever was given an answer says whether it was any good, once. A signal to people that changes nothing."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal

from falsify.brain.events import AnswerRated, Rating
from falsify.brain.library import Library
from falsify.brain.org import Org
from falsify.brain.page import Page
from falsify.brain.scope import is_owner
from falsify.brain.traces import Seal, subject_of
from falsify.errors import RefusedError

Reason = Literal["unknown_answer", "already_rated", "invalid_rating", "comment_too_long", "not_permitted"]

MAX_COMMENT: Final = 2_000
WINDOW: Final = 30 * 86_400_000_000
"""Microseconds for which an answer can be rated."""

ANONYMOUS: Final = "agent:anonymous"
"""The identity of demonstrations, which stands for nobody and so has nothing to say."""

_RATINGS: Final[Mapping[str, Rating]] = {"up": "up", "down": "down"}
_TOLD: Final[Mapping[Reason, str]] = {
    "unknown_answer": "there is no such answer of yours that could be rated",
    "already_rated": "this answer was rated already",
    "invalid_rating": "a rating is up or down",
    "comment_too_long": f"a comment has at most {MAX_COMMENT:,} characters",
    "not_permitted": "an anonymous identity cannot rate answers",
}


def rate(
    library: Library,
    answer_id: str,
    *,
    rating: str,
    comment: str,
    caller: str,
    age: int,
    pages: Mapping[str, Page],
    seal: Seal,
) -> AnswerRated:
    """Return the rating. `age` is how long ago the answer was given (microseconds), `pages` the cited ones.

    Raises RefusedError whose reason is the error of the contract. An answer that was given to somebody else, or too
    long ago, is unknown.
    """
    if caller == ANONYMOUS:
        raise _refused("not_permitted")
    if rating not in _RATINGS:
        raise _refused("invalid_rating")
    if len(comment) > MAX_COMMENT:
        raise _refused("comment_too_long")
    answer = library.answers.get(answer_id)
    subject = subject_of(library.org, caller)
    if answer is None or subject_of(library.org, answer.asked_by) != subject or age > WINDOW:
        raise _refused("unknown_answer")
    if answer_id in library.ratings:
        raise _refused("already_rated")
    cited = {pages[path].department for path in answer.citations if path in pages}
    return AnswerRated(
        answer_id=answer_id,
        rel_path=f"memory/feedback/{subject.removeprefix('agent:')}/{answer_id}.md",
        rated_by=caller,
        rating=_RATINGS[rating],
        # An agent's comment on what it asked for somebody is about them: whoever that is, erasing them erases it.
        comment=seal(answer.on_behalf_of.removeprefix("person:") or subject, comment) if comment.strip() else None,
        raised_to=responsible(library.org, cited) if rating == "down" else (),
    )


def responsible(org: Org, departments: Collection[str]) -> tuple[str, ...]:
    """Return who decides or validates something in any of the departments; where nobody does, the owner."""
    found = [p.slug for p in org.people if (p.decides or p.validates) and set(p.departments) & set(departments)]
    return tuple(sorted(found)) or ((org.owner,) if org.owner else ())


def may_read(org: Org, caller: str, rating: AnswerRated) -> bool:
    """Return whether a rating is somebody's to read: their own, one that was raised to them, or the owner's."""
    slug = subject_of(org, caller)
    return is_owner(org, caller) or slug in rating.raised_to or slug == subject_of(org, rating.rated_by)


def readable(ratings: Iterable[AnswerRated], org: Org, caller: str) -> list[AnswerRated]:
    """Return the ratings that somebody may read, by their answers."""
    return sorted((each for each in ratings if may_read(org, caller, each)), key=lambda each: each.answer_id)


def _refused(reason: Reason) -> RefusedError:
    return RefusedError(_TOLD[reason], reason=reason)
