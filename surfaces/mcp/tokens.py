"""Tokens in a workspace: made, taken back, and looked up for whoever knocks."""

import secrets
import threading
from collections.abc import Callable, Sequence

from falsify.access.events import AccessEvent
from falsify.access.tokens import PREFIX, Access, Token, bearer, could_be, create_token, revoke_token
from falsify.log import EventLog, canonical
from falsify.ports import Clock
from projections.access import ACCESS
from surfaces.writing import Asked, Decided, append_decided

STREAM = "access"


class Tokens:
    """The tokens of a log. Any thread may ask and write: of the log it needs nothing that belongs to one."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log, self._clock = log, clock
        self._access, self._position = Access(), 0
        self._folding = threading.Lock()

    @property
    def access(self) -> Access:
        """Every token as it stands now. Not to be changed by anybody but the log."""
        with self._folding:
            head = self._log.head().position
            if head > self._position:
                ACCESS.fold(self._log.read(after=self._position, through=head, stream=STREAM), self._access)
                self._position = head
            return self._access

    def create(self, *, identity: str, projects: Sequence[str] = (), ttl: int = 0, caller: str) -> tuple[str, Token]:
        """Make a token that holds for `ttl` seconds, 0 for ever; return it, which is kept nowhere, and its record."""
        token = PREFIX + secrets.token_urlsafe(32)
        expires_at = self._clock.now() + ttl * 1_000_000 if ttl else 0
        made = create_token(token, identity_=identity, projects=tuple(projects), expires_at=expires_at, caller=caller)
        self._append(made.token_id, lambda _access: [made], tool="token.create", caller=caller)
        return token, self.access.tokens[made.token_id]

    def revoke(self, token_id: str, *, caller: str) -> Token:
        """Take a token back: it is unknown from the next request on."""

        def decide(access: Access) -> list[AccessEvent]:
            return revoke_token(access.tokens, token_id, caller=caller)

        self._append(token_id, decide, tool="token.revoke", caller=caller)
        return self.access.tokens[token_id]

    def bearer(self, token: str) -> Token | None:
        """Return the token as it is known this very moment, None for one that does not hold."""
        return bearer(self.access, token, now=self._clock.now()) if could_be(token) else None

    def holds(self, token_id: str) -> bool:
        """Return whether the token of this id still lets its bearer in."""
        known = self.access.tokens.get(token_id)
        return known is not None and known.status(self._clock.now()) == "valid"

    def _append(self, about: str, decide: Callable[[Access], list[AccessEvent]], *, tool: str, caller: str) -> None:
        asked = Asked(stream=STREAM, actor=caller, tool=tool, body=canonical({"token_id": about}))
        append_decided(self._log, asked, lambda: Decided(self._log.revision(STREAM), decide(self.access)))
