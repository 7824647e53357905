"""The keys of an experiment's configuration: which there are, and what each may be set to."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from falsify.errors import InvalidInputError

KeyType = Literal["int", "float", "choice", "text"]
Value = int | float | str
Config = dict[str, Value]

LONGEST_TEXT = 4096

_RANGE = re.compile(r"([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])])")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, kw_only=True)  # no slots: events hold keys, and the codec makes them (docs/decisions/0003)
class Key:
    """One key. A number lies between `minimum` and `maximum`, the minimum itself left out if it is `exclusive`.

    A text is whatever the executor makes of it, such as a path.
    """

    name: str
    type: KeyType
    minimum: float = 0.0
    maximum: float = 0.0
    exclusive: bool = False
    choices: tuple[str, ...] = ()

    def admit(self, value: object) -> Value:
        """Return the value in the key's type (1 and 1.0 are one configuration); raises InvalidInputError."""
        if self.type == "text":
            if isinstance(value, str) and len(value) <= LONGEST_TEXT and value.isprintable():
                return value
        elif self.type == "choice":
            if value in self.choices:
                return str(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and self._holds(value):
            return int(value) if self.type == "int" else float(value)
        raise InvalidInputError(f"{self.name} is {value!r}", hint=f"it must be {self.bounds}", reason="out_of_range")

    def read(self, text: str) -> Value:
        """Return the value that a person typed; raises InvalidInputError."""
        if self.type in ("choice", "text"):
            return self.admit(text)
        try:
            number = int(text) if self.type == "int" else float(text)
        except ValueError:
            return self.admit(text)
        return self.admit(number)

    @property
    def bounds(self) -> str:
        """What the key may be set to, in words."""
        if self.type == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.type == "text":
            return f"a printable text of at most {LONGEST_TEXT} characters"
        kind = "a whole number" if self.type == "int" else "a number"
        return f"{kind} in {self.interval}"

    @property
    def interval(self) -> str:
        """The bounds of a number as an interval: `(0, 10]`."""
        return f"{'(' if self.exclusive else '['}{_shown(self.minimum)}, {_shown(self.maximum)}]"

    def within(self, other: "Key") -> bool:
        """Return whether the key admits nothing that the other does not."""
        if self.type != other.type:
            return False
        if self.type == "text":
            return True
        if self.type == "choice":
            return set(self.choices) <= set(other.choices)
        above = self.minimum > other.minimum or (
            self.minimum == other.minimum and (self.exclusive or not other.exclusive)
        )
        return above and self.maximum <= other.maximum

    @property
    def admits_anything(self) -> bool:
        """Whether there is a value that the key may be set to."""
        if self.type == "text":
            return True
        if self.type == "choice":
            return bool(self.choices)
        if self.type == "float":
            return self.minimum < self.maximum or (self.minimum == self.maximum and not self.exclusive)
        lowest = math.floor(self.minimum) + 1 if self.exclusive else math.ceil(self.minimum)
        return lowest <= self.maximum

    def _holds(self, number: float) -> bool:
        """Return whether the number is in bounds; they come first, as a whole number may be too large for a float."""
        above = number > self.minimum if self.exclusive else number >= self.minimum
        return above and number <= self.maximum and (self.type != "int" or float(number).is_integer())


def parse_key(text: str) -> Key:
    """Return the key that `name=type:range` describes.

    `width=int:[1,512]`, `rate=float:(0,10]`, `activation=choice:tanh,relu`, `corpus=text`. Raises InvalidInputError.
    """
    name, _, described = text.partition("=")
    kind, _, bounds = described.partition(":")
    if not _NAME.fullmatch(name) or kind not in ("int", "float", "choice", "text"):
        raise _unreadable(text)
    if kind == "text":
        return Key(name=name, type="text")
    if kind == "choice":
        choices = tuple(choice.strip() for choice in bounds.split(","))
        if not all(choices) or len(set(choices)) < len(choices):
            raise _unreadable(text)
        return Key(name=name, type="choice", choices=choices)
    found = _RANGE.fullmatch(bounds.strip())
    try:
        low, high = (float(found[2]), float(found[3])) if found else (math.nan, math.nan)
    except ValueError:
        raise _unreadable(text) from None
    if found is None or not -math.inf < low <= high < math.inf or found[4] == ")":
        raise _unreadable(text)
    number: KeyType = "int" if kind == "int" else "float"
    key = Key(name=name, type=number, minimum=low, maximum=high, exclusive=found[1] == "(")
    if not key.admits_anything:
        raise InvalidInputError(f"{text!r} admits no value", hint=f"no number of that type lies in {key.interval}")
    return key


def admit_all(keys: Iterable[Key], config: Mapping[str, object]) -> Config:
    """Return the configuration with every value in its key's type, in the order of the keys.

    Raises InvalidInputError for a key that is not among them, and for a value out of range.
    """
    known = {key.name: key for key in keys}
    for name in config:
        if name not in known:
            raise InvalidInputError(
                f"there is no config key {name!r}", hint=f"the keys are {', '.join(known)}", reason="unknown_key"
            )
    return {name: key.admit(config[name]) for name, key in known.items() if name in config}


def fingerprint(config: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return what two equal configurations have in common, hashable."""
    return tuple(sorted(config.items()))


def _shown(number: float) -> str:
    """Return the number without what a float adds to it: 512 and not 512.0, and all digits."""
    return str(int(number)) if float(number).is_integer() and abs(number) <= 2**53 else repr(float(number))


def _unreadable(text: str) -> InvalidInputError:
    return InvalidInputError(
        f"{text!r} describes no config key",
        hint="write name=int:[1,512], name=float:(0,10], name=choice:a,b,c or name=text",
    )
