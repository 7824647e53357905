"""The right to erasure: the key of a person is destroyed, and what was sealed with it cannot be read any more."""

from collections.abc import Iterator

from falsify.brain.events import Sealed, SubjectErased
from falsify.brain.library import Library
from falsify.brain.scope import is_owner
from falsify.errors import ForbiddenError, NotFoundError
from falsify.identity import OWNER


def require_owner(library: Library, caller: str) -> None:
    """Raise ForbiddenError for anybody but the owner."""
    if not is_owner(library.org, caller):
        raise ForbiddenError("only the owner may erase somebody", hint="ask the owner", reason="unauthorized")


def subject_named(library: Library, name: str, *, remains: bool) -> str:
    """Return whom a name stands for: a person of the org map, one that had been, or one of whom a key `remains`.

    Raises NotFoundError for nobody.
    """
    slug = name.strip().removeprefix("person:")
    known = {person.slug for person in library.org.people} | library.erased
    if slug in known or remains or (slug == OWNER and not library.org.owner):
        return slug
    raise NotFoundError(
        f"there is no person {ascii(slug)[:80]}, and nothing is sealed for one",
        hint="name somebody by their slug on the org map",
        reason="no_person",
    )


def erase(library: Library, subject: str, *, erased_by: str, destroyed: bool) -> list[SubjectErased]:
    """Return the erasure; nothing where it was recorded before and no key was `destroyed` since."""
    require_owner(library, erased_by)
    if subject in library.erased and not destroyed:
        return []
    return [SubjectErased(subject=subject, erased_by=erased_by)]


def sealed(library: Library) -> Iterator[Sealed]:
    """Yield all that is sealed in the brain: traces, questions, comments."""
    yield from (trace.sealed for trace in library.traces.values() if trace.sealed)
    yield from (answer.question for answer in library.answers.values() if answer.question)
    yield from (rating.comment for rating in library.ratings.values() if rating.comment)
