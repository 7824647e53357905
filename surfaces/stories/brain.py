"""The story of the brain: what a company knows, who may know it, and how that changes without anything being lost.

It is played on the sample organisation, two years of the pages of a maker of sensors. Every list, number and sentence
that is told is read from what the tools answer while the story plays. What an act needs to have come true is checked,
and where it has not the story ends with an error.
"""

import shlex
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import click

from surfaces.stories import brain_changing, brain_reading
from surfaces.stories.office import Office
from surfaces.workspace import Workspace

ACTS: Final = (
    brain_reading.take_in,
    brain_reading.search,
    brain_reading.hide,
    brain_reading.ask,
    brain_reading.find_precedents,
    brain_reading.remember,
    brain_reading.find_experts,
    brain_changing.learn,
    brain_changing.govern,
    brain_changing.fall,
    brain_changing.erase,
)

NEXT: Final = (
    """falsify call ask_company_context '{"question": "Which warranty does a PX-300 have?"}'""",
    """falsify call get_context_pack '{"pack": "quote-request"}' --as agent:sales-assistant""",
    """falsify call search_company_context '{"query": "PX-200", "as_of": "2025-01-31"}'""",
    "falsify brain governance log",
    "falsify tools search_company_context",
)
"""What works in the workspace as the story leaves it."""

OWN: Final = "falsify brain import FOLDER"


def play(workspace: Workspace, folder: Path, *, kept: bool = False) -> Generator[str, None, None]:
    """Play the story in a fresh workspace, yielding what there is to say; the company's pages are put into a folder.

    `kept` says that the workspace stays. Raises CheckFailedError where it does not come out as it is told.
    """
    office = Office(workspace, folder)
    for act in ACTS:
        yield from act(office)
    yield from _outlook(workspace.root if kept else None)


def _outlook(root: Path | None) -> Iterator[str]:
    """Yield what to try next, in the workspace at `root`, or one that is to be kept."""
    yield ""
    yield click.style("What to try next", bold=True)
    if root is None:
        yield "  Keep the workspace, with all that happened in it:"
        yield from _commands("falsify demo brain --folder corvane-brain", "cd corvane-brain")
    else:
        yield "  The workspace is kept, with all that happened in it:"
        yield from _commands(f"cd {shlex.quote(str(root))}")
    yield "  Ask it things yourself, as its owner or as somebody else:"
    yield from _commands(*NEXT)
    yield "  And in a workspace of your own, import your notes: an Obsidian vault, or any folder of markdown:"
    yield from _commands(OWN)


def _commands(*commands: str) -> Iterator[str]:
    yield from (f"    {click.style(f'$ {command}', dim=True)}" for command in commands)
