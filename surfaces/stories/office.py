"""The office that a story of the brain plays in: the people and agents of an organisation, each with their own sight.

Nothing here does what the product does: agents call rows of the tool catalogue, people what the command line calls.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from falsify.belief.graph import Evidence
from falsify.clock import SteppingClock
from falsify.errors import CheckFailedError
from projections.obituary import Reason
from projections.pages import past
from surfaces import brain_writes, governance
from surfaces.belief_file import Document
from surfaces.brain import Brain
from surfaces.brain_proposals import proposed
from surfaces.health import verify
from surfaces.intake import Wishes
from surfaces.lines.page import version_row
from surfaces.pages.evidence import Followed, follow, take_page
from surfaces.pages.transfer import import_folder
from surfaces.stories.payloads import Told
from surfaces.tools.brain_catalogue import call_brain
from surfaces.workspace import FOLDER, Workspace

OWNER: Final = "owner"
SALES: Final = "agent:sales-assistant"
QUALITY: Final = "agent:quality-copilot"
SOPHIE: Final = "person:sophie-lambert"

NAMES: Final[Mapping[str, str]] = {OWNER: "owner", SALES: "sales agent", QUALITY: "quality agent", SOPHIE: "Sophie"}
"""What the story calls its people and agents."""

_TODAY: Final = 1_796_029_200  # 2026-11-30T09:00:00Z in seconds, two weeks after the last commit of the sample
_STEP: Final = 1_000


def story_clock() -> SteppingClock:
    """Return the clock of the story. Its day is always the same, so that the story is too: ranking knows the date."""
    return SteppingClock(_TODAY * 1_000_000, _STEP)


class Office:
    """The brain of a workspace, who works with it, and the folder that their pages lie in."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace = workspace
        self.brain = Brain(workspace)
        self.folder = folder

    # --- everybody ----------------------------------------------------------------------------------------

    def call(self, caller: str, tool: str, **arguments: Any) -> bytes:
        """Let somebody call a tool; return the payload as it is."""
        return call_brain(self.brain, tool, arguments, caller=caller)

    def ask(self, caller: str, tool: str, **arguments: Any) -> Told:
        """Let somebody call a tool that answers with JSON. Raises CheckFailedError for a refusal or a note."""
        payload = self.call(caller, tool, **arguments)
        told = orjson.loads(payload) if payload.startswith(b"{") else {"message": payload.decode(), "error": ""}
        if "error" in told:
            raise CheckFailedError(f"{tool} answered {caller}: {told['message']}", hint="see `falsify doctor`")
        return dict(told)

    def search(self, caller: str, query: str, **arguments: Any) -> Told:
        """Let somebody search; results come with all they have."""
        return self.ask(caller, "search_company_context", query=query, format="full", **arguments)

    def trace(self, caller: str, rel_path: str) -> str:
        """Return a trace as whoever may read it reads it."""
        text = brain_writes.read_trace(self.brain, caller, rel_path)
        if text is None:
            raise CheckFailedError(f"{caller} cannot read {rel_path}", hint="see `falsify doctor`")
        return text

    # --- people -------------------------------------------------------------------------------------------

    def write(self, pages: Mapping[str, str]) -> None:
        """Let somebody write files into the folder, today."""
        for name, text in pages.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (_TODAY, _TODAY))

    def take_in(self) -> Told:
        """Let the owner import the folder; return what that came to."""
        return import_folder(self.brain, self.folder, caller=OWNER)

    def history(self, rel_path: str) -> list[Told]:
        """Return the versions of a page, over its moves."""
        return [version_row(version) for version in past(self.brain.library, rel_path)]

    def waiting(self, caller: str) -> dict[str, Told]:
        """Return what waits for somebody in the Approval Center, by id, as it is shown there."""
        return {each.id: each.detail() for each in proposed(self.brain, caller) if each.pending}

    def approve(self, caller: str, proposal_id: str, *, note: str) -> Told:
        """Let a person approve what waits for them, which lands it; return what the approval came to."""
        every = {each.id: each for each in proposed(self.brain, caller)}
        return dict(orjson.loads(every[proposal_id].approve(caller, note))["result"]["approval"])

    def undo(self, operation_id: str) -> Told:
        """Let the owner take an operation of governance back."""
        return governance.undo(self.brain, operation_id, caller=OWNER)

    def erase(self, slug: str) -> Told:
        """Let the owner make what was written on a person's behalf unreadable."""
        return brain_writes.erase_person(self.brain, OWNER, slug)

    # --- beliefs ------------------------------------------------------------------------------------------

    def conclude(self, question: str, statement: str, *, rel_path: str, words: str) -> Told:
        """Let the owner ask a question, take a page's claims as evidence, and rest a conclusion on one of them.

        `words` are what the claim says among other things. Returns what taking the page came to.
        """
        self.workspace.ask(question)
        taken = take_page(self.workspace, self.brain, rel_path, Wishes(), caller=OWNER).outcome.as_json()
        claims = [n for n in self.workspace.graph.nodes.values() if isinstance(n, Evidence) and words in n.text]
        if len(claims) != 1:
            raise CheckFailedError(f"{len(claims)} claims of {rel_path} say {words!r}", hint="see `falsify doctor`")
        rests = {"id": "C1", "statement": statement, "depends_on": [{"evidence": claims[0].id, "critical": True}]}
        beliefs = {"question": question, "evidence": [], "conclusions": [rests]}
        self.workspace.ingest(Document("beliefs.json", orjson.dumps(beliefs).decode()))
        return dict(taken)

    def follow(self) -> list[Followed]:
        """Bring what rests on pages up to what became of them, as every command that changes the brain does."""
        return follow(self.workspace, self.brain)

    def why(self, name: str) -> Reason:
        """Return why something is believed or not."""
        return self.workspace.why(name)

    # --- the disk -----------------------------------------------------------------------------------------

    def verify(self) -> list[Told]:
        """Return what `falsify verify` checks, each part with its faults."""
        return verify(self.workspace, with_mirror=False, anchor=None)

    def files_with(self, text: str) -> list[Path]:
        """Return the files of the workspace that hold a text: the log, the indexes, the keys."""
        every = (path for path in (self.workspace.root / FOLDER).rglob("*") if path.is_file())
        return [path for path in every if text.encode() in path.read_bytes()]
