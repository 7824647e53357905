"""Completions: what an argument of a prompt or a part of a URI may be, as far as the caller may know."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from falsify.errors import NotFoundError
from falsify.workbench.project import Project
from surfaces.mcp.desk import Served
from surfaces.mcp.identity import Caller
from surfaces.mcp.prompts import PROMPTS
from surfaces.mcp.resources import RESOURCES, projects
from surfaces.tools.deferred import Deferred
from surfaces.tools.fence import harmless

if TYPE_CHECKING:
    from surfaces.tools import sight
else:
    sight = Deferred("surfaces.tools.sight")

MOST: Final = 100
"""How many values an answer holds at the most, by the protocol."""

_ID: Final = re.compile(r"[QHEC]-[0-9a-f]{16}")

Given = Mapping[str, str]
"""What is in the other arguments already."""

Source = Callable[[Served, Caller, Given], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Typing:
    """An argument that somebody types: of which prompt or resource template, as far as it is, beside which others."""

    about: str
    argument: str
    begun: str
    given: Given


@dataclass(frozen=True, slots=True)
class Completion:
    """The first values that fit, and how many fit in all."""

    values: tuple[str, ...]
    total: int


def complete(typing: Typing, caller: Caller, served: Served) -> Completion:
    """Return what an argument may be: first what begins with what is typed, then what contains it.

    One that takes words of one's own has no completion. Raises NotFoundError where there is no such prompt or template.
    """
    if typing.about not in _KNOWN:
        raise NotFoundError("there is no such prompt or resource", hint="list those there are")
    source, typed = _SOURCES.get((typing.about, typing.argument)), typing.begun.casefold()
    known = source(served, caller, typing.given) if source is not None else ()
    # Ids are what is left where no word fits.
    fitting = sorted(
        (not name.casefold().startswith(typed), bool(_ID.fullmatch(name)), name)
        for name in known
        if typed in name.casefold()
    )
    return Completion(tuple(name for *_, name in fitting[:MOST]), len(fitting))


# --- where values come from -----------------------------------------------------------------------------------


def _projects(served: Served, caller: Caller, _given: Given) -> Iterable[str]:
    return projects(served, caller)


def _nodes(served: Served, caller: Caller, given: Given) -> Iterable[str]:
    """Return the names of what is believed, or was: short ones, where they are words that harm nobody, and ids."""
    project = given.get("project", "")
    workspace = served.workspace_for(caller, project)
    if not workspace.knows(project):
        return ()
    graph = workspace.of(project).graph
    short = {node: name for (_, name), node in graph.handles.items() if harmless(name) == name}
    return {*short.values(), *graph.nodes}


def _sources(served: Served, caller: Caller, given: Given) -> Iterable[str]:
    project = given.get("project_id", "")
    workspace = served.workspace_for(caller, project)
    known = workspace.of(project).graph.sources if workspace.knows(project) else ()
    return [each for each in known if harmless(each) == each]


def _evidence(served: Served, caller: Caller, given: Given) -> Iterable[str]:
    return _project(served, caller, given.get("project", "")).evidence


def _waiting(served: Served, caller: Caller, given: Given) -> Iterable[str]:
    known = _project(served, caller, given.get("project_id", "")).approvals.values()
    return [each.id for each in known if each.status == "pending"]


def _requests(served: Served, caller: Caller, given: Given) -> Iterable[str]:
    return _project(served, caller, given.get("project", "")).approvals


def _pages(served: Served, caller: Caller, _given: Given) -> Iterable[str]:
    return sight.sight(served.brain, caller.identity, "").seen


def _project(served: Served, caller: Caller, project: str) -> Project:
    workspace = served.workspace_for(caller, project)
    return workspace.of(project).project if workspace.knows(project) else Project()


_SOURCES: Final[Mapping[tuple[str, str], Source]] = {
    **{(prompt.name, "project_id"): _projects for prompt in PROMPTS},
    ("revise-belief", "source"): _sources,
    ("review-approval", "approval_id"): _waiting,
    ("falsify://project/{id}", "id"): _projects,
    ("falsify://page/{+path}", "path"): _pages,
    ("falsify://obituary/{project}/{node}", "project"): _projects,
    ("falsify://obituary/{project}/{node}", "node"): _nodes,
    ("falsify://evidence/{project}/{id}", "project"): _projects,
    ("falsify://evidence/{project}/{id}", "id"): _evidence,
    ("falsify://approval/{project}/{id}", "project"): _projects,
    ("falsify://approval/{project}/{id}", "id"): _requests,
}
"""What each argument is completed from."""

_KNOWN: Final = {each.name for each in PROMPTS} | {each.template for each in RESOURCES}
