"""What is said to people in commands, said to whoever calls tools in tools.

Hints and warnings are made where the rule is, for people at a command line. An agent has none: what a tool does is said
by the tool's name, and what only people can do stays a command, for the person who is told of it.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

_TOOLS: Final[Mapping[str, str]] = {
    "project list": "the resource falsify://projects",
    "project show": "falsify.project.get_state",
    "ticket list": "falsify.ticket.list",
    "node list": "falsify.graph.get",
    "node compare": "falsify.node.compare",
    "run list": "falsify.graph.get",
    "run show": "falsify.run.get",
    "run start": "falsify.run.start",
    "run cancel": "falsify.run.cancel",
    "decision list": "falsify.graph.get",
    "graph": "falsify.belief.graph",
    "why": "falsify.belief.why",
    "retract": "falsify.belief.retract",
    "timeline": "falsify.belief.replay",
    "tools": "tools/list",
}
"""The commands that do what a tool does, or a resource tells."""

_COMMAND: Final = re.compile(r"`falsify (?:--project \S+ )?(?P<words>[a-z-]+(?: [a-z-]+)*)(?=[ `])(?P<rest>[^`]*)`")

FOR_PEOPLE: Final = " (commands are for people: tell the person)"


def in_tools(document: bytes) -> bytes:
    """Return an envelope whose warnings, and whose error if it tells one, name tools where they named commands."""
    if b"`falsify " not in document:
        return document
    told = orjson.loads(document)
    if "warnings" in told:
        told["warnings"] = [said(each) if isinstance(each, str) else each for each in told["warnings"]]
    error: dict[str, Any] | None = (told.get("result") or {}).get("error") if not told["ok"] else None
    if error is not None:
        error.update({name: said(error[name]) for name in ("message", "hint") if isinstance(error.get(name), str)})
    return orjson.dumps(told)


def said(text: str) -> str:
    """Return a text with tools in it in place of the commands that do the same; of others it says whose they are."""
    spoken = _COMMAND.sub(_tool, text)
    return spoken + FOR_PEOPLE if _COMMAND.search(spoken) and "person" not in spoken else spoken


def _tool(command: re.Match[str]) -> str:
    """Return the tool that does what a command does, and about what; the command itself where none does."""
    words = command["words"].split(" ")
    for length in range(len(words), 0, -1):
        tool = _TOOLS.get(" ".join(words[:length]))
        if tool is not None:
            about = " ".join([*words[length:], command["rest"].strip()]).strip().replace(" --", ", ")
            return f"{tool} of {about}" if about else tool
    return command[0]
