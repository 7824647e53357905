"""The facts of who may come in from outside. They lie in the stream `access`."""

from falsify.events import Event, event

# What events hold has no slots: the codec makes it as it makes events (docs/decisions/0003-event-classes.md).


@event("access.token_created")
class TokenCreated(Event):
    """A person let somebody in.

    Of the token only its SHA-256 is here (`digest`, hexadecimal). `identity` is who its bearer is, `projects` those
    that exist for them (none is every project), and `expires_at` when it ends, in microseconds since 1970; 0 is never.
    """

    token_id: str
    digest: str
    identity: str
    projects: tuple[str, ...]
    created_by: str
    expires_at: int


@event("access.token_revoked")
class TokenRevoked(Event):
    """A person took a token back."""

    token_id: str
    revoked_by: str


AccessEvent = TokenCreated | TokenRevoked
