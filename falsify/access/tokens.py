"""Tokens: what their bearers are known by, how they are made and taken back, and which of them hold."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, assert_never

from falsify.access.events import AccessEvent, TokenCreated, TokenRevoked
from falsify.errors import ForbiddenError, NotFoundError
from falsify.identity import OWNER, identity, is_agent, require_person, require_project_id

PREFIX: Final = "flsf_"
"""What every token begins with, so that one that lies where it should not can be found."""

_TOKEN = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")

TokenStatus = Literal["valid", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; who revoked it, "" if nobody did."""

    id: str
    digest: str
    identity: str
    projects: tuple[str, ...]
    created_by: str
    expires_at: int
    revoked_by: str = ""

    def status(self, now: int) -> TokenStatus:
        """Return how it stands at a time, in microseconds since 1970."""
        if self.revoked_by:
            return "revoked"
        return "expired" if self.expires_at and now >= self.expires_at else "valid"


@dataclass(slots=True)
class Access:
    """Every token there ever was, by its id, and the ids by the digests."""

    tokens: dict[str, Token] = field(default_factory=dict)
    by_digest: dict[str, str] = field(default_factory=dict)


def evolve(access: Access, event: AccessEvent) -> Access:
    """Take in what happened, in place."""
    match event:
        case TokenCreated():
            access.tokens[event.token_id] = Token(
                event.token_id, event.digest, event.identity, event.projects, event.created_by, event.expires_at
            )
            access.by_digest[event.digest] = event.token_id
        case TokenRevoked():
            access.tokens[event.token_id] = replace(access.tokens[event.token_id], revoked_by=event.revoked_by)
        case _:
            assert_never(event)
    return access


def digest(token: str) -> str:
    """Return what is stored of a token.

    Neither salt nor a slow hash: a token is 256 random bits, of which nobody finds a second preimage by trying.
    """
    return hashlib.sha256(token.encode()).hexdigest()


def could_be(token: str) -> bool:
    """Return whether it is written as a token is."""
    return _TOKEN.fullmatch(token) is not None


def bearer(access: Access, token: str, *, now: int) -> Token | None:
    """Return the token as it is known, None for one that is unknown, expired or revoked."""
    known = access.tokens.get(access.by_digest.get(digest(token), ""))
    return known if known and known.status(now) == "valid" else None


def create_token(
    token: str, *, identity_: str, projects: tuple[str, ...], expires_at: int, caller: str
) -> TokenCreated:
    """Let somebody in. Raises ForbiddenError for an agent, and for a person who would pass for another."""
    require_person(caller, "create tokens")
    identity(identity_)
    if not is_agent(identity_) and caller not in {OWNER, identity_}:
        raise ForbiddenError(
            f"{caller} may not create a token of {identity_}",
            hint="make one of your own, or of an agent; the owner makes those of others",
            reason="not_yourself",
        )
    for project in projects:
        require_project_id(project)
    known = digest(token)
    return TokenCreated(
        token_id=f"T-{known[:16]}",
        digest=known,
        identity=identity_,
        projects=tuple(sorted(set(projects))),
        created_by=caller,
        expires_at=expires_at,
    )


def revoke_token(tokens: Mapping[str, Token], token_id: str, *, caller: str) -> list[AccessEvent]:
    """Take a token back; nothing happens to one that was taken back before. Raises NotFoundError for none."""
    require_person(caller, "revoke tokens")
    token = tokens.get(token_id)
    if token is None:
        raise NotFoundError(f"there is no token {token_id!r}", hint="see `falsify token list`", reason="no_token")
    return [] if token.revoked_by else [TokenRevoked(token_id=token_id, revoked_by=caller)]
