"""The tree of refusals: one class for each thing a caller can do something about.

Every error carries the `status` an answer has on the wire and the `exit_code` a command ends with; surfaces
translate once, by these two attributes, and nowhere else.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class FalsifyError(Exception):
    """Something was refused or could not be done.

    `hint` says what to do next. `reason` is a stable word for the rule that refused, and `details` the numbers and
    names it refused by, JSON-ready. `status` and `exit_code` are part of the published contract (docs/cli.md).
    """

    status: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(
        self, message: str, *, hint: str = "", reason: str = "", details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.reason = reason
        self.details = dict(details or {})


class CheckFailedError(FalsifyError):
    """A verification, a digest or a replay test did not hold."""

    exit_code = 1


class InvalidInputError(FalsifyError):
    """The caller's words are malformed or out of range."""

    status = "invalid_request"
    exit_code = 2


class NotFoundError(FalsifyError):
    """The thing named does not exist at this point of the log."""

    status = "not_found"
    exit_code = 3


class ConflictError(FalsifyError):
    """The world moved on, or somebody else holds what is needed."""

    status = "conflict"
    exit_code = 4


class StaleRevisionError(ConflictError):
    """The stream is no longer at the revision the caller decided on; `current` is where it is."""

    def __init__(self, stream: str, *, expected: int, current: int) -> None:
        super().__init__(
            f"{stream} is at revision {current}, not {expected}",
            hint="read the state again, decide again, and send the current revision",
            reason="stale_revision",
            details={"expected": expected, "current": current},
        )
        self.stream = stream
        self.expected = expected
        self.current = current


class KeyReusedError(ConflictError):
    """An idempotency key was sent again with another body."""


class RefusedError(FalsifyError):
    """A rule of the domain forbids it."""

    status = "refused"
    exit_code = 6


class ForbiddenError(FalsifyError):
    """It may be done, but not by this caller: an agent cannot do what is a person's to do."""

    status = "forbidden"
    exit_code = 9


class DamagedError(FalsifyError):
    """A stored file is not what was written: truncated, edited, or from a newer version."""

    exit_code = 7


class UnavailableError(FalsifyError):
    """The environment failed: a full disk, a read-only folder, a missing model, an engine that does not start."""

    exit_code = 8
