"""Epoch, position or date to a prefix of the log. Now is the longest prefix; there is no second code path."""

import re
from dataclasses import dataclass

from falsify.belief.text import end_of, moment
from falsify.errors import InvalidInputError, NotFoundError
from falsify.log import EventLog


@dataclass(frozen=True, slots=True)
class Cutoff:
    """Where a prefix ends: at the end of an epoch of a stream, at a position, or at the end of a date; or nowhere."""

    epoch: int | None = None
    position: int | None = None
    as_of: str | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("epoch", "position", "as_of") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInputError(f"{' and '.join(given)} each name a point in the log: give one of them")

    def __str__(self) -> str:
        if self.epoch is not None:
            return f"epoch {self.epoch}"
        if self.position is not None:
            return f"position {self.position}"
        return f"as of {self.as_of}" if self.as_of is not None else "now"


NOW = Cutoff()

_NUMBERED = re.compile(r"(?:(epoch|position)\s*[: ]\s*)?([0-9]{1,18})", re.IGNORECASE)
_DATED = re.compile(r"as[ _-]of\s*[: ]\s*", re.IGNORECASE)


def parse(text: str) -> Cutoff:
    """Return the cutoff that a person wrote: `now`, `epoch:3` or `3`, `position:120`, or a date.

    What `str` makes of a cutoff is read back as that cutoff. Raises InvalidInputError for anything else.
    """
    words = text.strip()
    if words.lower() == "now":
        return NOW
    numbered = _NUMBERED.fullmatch(words)
    if numbered and numbered[1]:
        name, number = numbered[1].lower(), int(numbered[2])
        return Cutoff(epoch=number) if name == "epoch" else Cutoff(position=number)
    if numbered and len(words) < len("2021"):  # a longer number without a word may be meant as a year
        return Cutoff(epoch=int(words))
    try:
        return Cutoff(as_of=moment(_DATED.sub("", words, count=1)))
    except InvalidInputError:
        raise InvalidInputError(
            f"{text!r} is no point in the log", hint="write now, epoch:3, position:120, or a date such as 2021-03-15"
        ) from None


def resolve(log: EventLog, stream: str, cutoff: Cutoff) -> int:
    """Return the position of the last record of the prefix.

    Raises NotFoundError for an epoch or a position that the log has not reached.
    """
    head = log.head().position
    if cutoff.epoch is not None:
        reached = log.epoch(stream)
        if not 0 <= cutoff.epoch <= reached:
            raise NotFoundError(
                f"{stream} has no epoch {cutoff.epoch}",
                hint=f"its epochs are 0 to {reached}; see `falsify timeline`",
            )
        return log.position_of_epoch(stream, cutoff.epoch)
    if cutoff.position is not None:
        if not 0 <= cutoff.position <= head:
            raise NotFoundError(f"the log has no position {cutoff.position}", hint=f"its positions are 0 to {head}")
        return cutoff.position
    if cutoff.as_of is not None:
        return log.position_at(end_of(moment(cutoff.as_of, what="as_of")))
    return head
