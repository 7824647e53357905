"""The names by which a server may be addressed: a page of anybody else's must not reach it through a browser."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from falsify.errors import InvalidInputError

_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_ADDRESSED: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]/?#@\s]+)(?::[0-9]{1,5})?")


def host_name(text: str) -> str:
    """Return a host as it stands in a URL, in small letters. Raises InvalidInputError for what is none."""
    bare = text.lower().removeprefix("[").removesuffix("]")
    if ":" in bare and _is_address(bare):
        return f"[{bare}]"
    if not _NAME.fullmatch(text.lower()):
        raise InvalidInputError(
            f"{ascii(text)[:200]} is no name of a host",
            hint="write the name or the address alone, without scheme and port, and each with an --allow-host of its "
            "own: there is no name for all",
        )
    return text.lower()


@dataclass(frozen=True, slots=True)
class Names:
    """The hosts under which requests may address the server, on whatever port: a proxy has one of its own."""

    hosts: frozenset[str]

    @classmethod
    def of(cls, hosts: Iterable[str]) -> "Names":
        """Return the names of these hosts. Raises InvalidInputError for what is no host."""
        return cls(frozenset(host_name(host) for host in hosts))

    def admit(self, addressed: str) -> bool:
        """Return whether a request may say this as its Host."""
        found = _ADDRESSED.fullmatch(addressed.lower())
        return found is not None and found[1] in self.hosts

    def admit_page(self, origin: str) -> bool:
        """Return whether a request may come from a page of this Origin."""
        scheme, mark, host = origin.partition("://")
        return bool(mark) and scheme.lower() in {"http", "https"} and self.admit(host)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
