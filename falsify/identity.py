"""Who acts: the owner, a person or an agent."""

import re
from typing import Final

from falsify.errors import ForbiddenError, InvalidInputError

OWNER: Final = "owner"
PROJECT_ID: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
"""What a project can be called: a name that is safe as that of a folder, too."""

_PROJECT_ID = re.compile(PROJECT_ID)
_IDENTITY = re.compile(r"owner|person:[a-z0-9-]+|agent:[A-Za-z0-9_.-]+")


def is_project_id(name: str) -> bool:
    """Return whether a project can be called so."""
    return _PROJECT_ID.fullmatch(name) is not None


def require_project_id(name: str) -> str:
    """Return the name, or raise InvalidInputError where no project can be called so."""
    if not is_project_id(name):
        raise InvalidInputError(
            f"{name!r} cannot be the id of a project", hint="use up to 64 letters, digits, _ . and -"
        )
    return name


def identity(name: str) -> str:
    """Return the name, or raise InvalidInputError where it names nobody."""
    if not _IDENTITY.fullmatch(name):
        raise InvalidInputError(f"{name!r} names nobody", hint="write owner, person:SLUG or agent:NAME")
    return name


def is_agent(caller: str) -> bool:
    """Return whether the caller is an agent."""
    return caller.startswith("agent:")


def require_person(caller: str, to: str) -> None:
    """Raise ForbiddenError for an agent: `to` says what only people may do."""
    if is_agent(caller):
        raise ForbiddenError(
            f"{caller} may not {to}", hint="that is for a person to do; ask the researcher", reason="people_only"
        )
