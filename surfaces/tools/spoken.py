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

_CLAUSE: Final = re.compile(r"(?<=[;.:]) ")

_OF_A_PROJECT: Final = (
    "ticket",
    "node",
    "run",
    "decision",
    "evidence",
    "adjudicate",
    "project baseline",
    "project mode",
)
"""The beginnings of the commands of people that have to be told of which project."""

FOR_PEOPLE: Final = " (commands are for people: tell the person)"


def in_tools(document: bytes, project: str) -> bytes:
    """Return an envelope in which what Falsify says names tools where it named commands, or else the project.

    That is its warnings, why its next actions make sense, and its error.
    """
    if b"`falsify " not in document:
        return document
    told = orjson.loads(document)
    if "warnings" in told:
        told["warnings"] = [said(each, project) if isinstance(each, str) else each for each in told["warnings"]]
    if "nextActions" in told:
        told["nextActions"] = [{**each, "why": said(each["why"], project)} for each in told["nextActions"]]
    error: dict[str, Any] | None = (told.get("result") or {}).get("error") if not told["ok"] else None
    if error is not None:
        error.update(
            {name: said(error[name], project) for name in ("message", "hint") if isinstance(error.get(name), str)}
        )
    return orjson.dumps(told)


def said(text: str, project: str = "") -> str:
    """Return a text with tools in place of the commands that do the same; of others it says whose they are.

    What a person is said to do is left a command, which names the project.
    """
    clauses = [each if "person" in each else _COMMAND.sub(_tool, each) for each in _CLAUSE.split(text)]
    spoken = " ".join(clauses)
    if not _COMMAND.search(spoken):
        return spoken
    named = _COMMAND.sub(lambda command: _of(project, command[0]), spoken) if project else spoken
    return named if "person" in named else named + FOR_PEOPLE


def _of(project: str, command: str) -> str:
    """Return a command that says of which project it is, where it does not and has to."""
    words = command.removeprefix("`falsify ")
    return f"`falsify --project {project} {words}" if words.startswith(_OF_A_PROJECT) else command


def _tool(command: re.Match[str]) -> str:
    """Return the tool that does what a command does, and about what; the command itself where none does."""
    words = command["words"].split(" ")
    for length in range(len(words), 0, -1):
        tool = _TOOLS.get(" ".join(words[:length]))
        if tool is not None:
            about = " ".join([*words[length:], command["rest"].strip()]).strip().replace(" --", ", ")
            return f"{tool} of {about}" if about else tool
    return command[0]
