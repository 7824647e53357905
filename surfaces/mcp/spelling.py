"""How names of tools are spelt for a client: with dots, or with underscores where it refuses dots.

Log, approvals and policy know the dotted name alone. What Falsify itself says to a client names tools as they are
listed there, since a host may let a model call only what it listed; what others wrote is not touched.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from surfaces.mcp.rows import Reply


class Spelling:
    """The spelling of a server's tools; without `underscores`, everything is as it is."""

    def __init__(self, names: Iterable[str], *, underscores: bool) -> None:
        self._names = {name: underscored(name) for name in names} if underscores else {}
        dotted = "|".join(re.escape(name) for name in sorted(self._names, key=len, reverse=True) if "." in name)
        self._dotted = re.compile(rf"(?<![\w.])(?:{dotted})(?![\w])") if dotted else None

    def name(self, name: str) -> str:
        """Return a tool's name as it is listed."""
        return self._names.get(name, name)

    def said(self, text: str) -> str:
        """Return a text of Falsify's own with every tool in it as it is listed."""
        return self._dotted.sub(lambda found: self._names[found[0]], text) if self._dotted is not None else text

    def reply(self, reply: Reply) -> Reply:
        """Return an envelope whose next actions, warnings and error name tools as they are listed; else the reply."""
        if self._dotted is None or "projectRevision" not in reply.structured:
            return reply
        told = dict(reply.structured)
        if "warnings" in told:
            told["warnings"] = [self.said(each) if isinstance(each, str) else each for each in told["warnings"]]
        if "nextActions" in told:
            told["nextActions"] = [
                {**each, "tool": self.name(each["tool"]), "why": self.said(each["why"])} for each in told["nextActions"]
            ]
        if not told["ok"] and "result" in told:
            told["result"] = {**told["result"], "error": self._error(told["result"].get("error", {}))}
        return replace(reply, text=orjson.dumps(told).decode(), structured=told)

    def _error(self, error: Mapping[str, Any]) -> dict[str, Any]:
        own = {name: self.said(error[name]) for name in ("message", "hint") if isinstance(error.get(name), str)}
        return {**error, **own}


def underscored(name: str) -> str:
    """Return a tool's name for clients that refuse dots."""
    return name.replace(".", "_")
