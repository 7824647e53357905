"""An organisation for the tests of what is written to the brain: who may propose what, and who decides."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from falsify.brain.events import BrainEvent, OrgAccepted, PageRecorded
from falsify.brain.org import Agent, Department, Org, Person, canonical
from falsify.clock import SteppingClock
from falsify.log import Command
from falsify.ports import Abstention, Opinion, Statement
from surfaces.brain import STREAM, Brain
from surfaces.workspace import Workspace

if TYPE_CHECKING:
    from falsify.events import Event

OWNER = "owner"
SCRIBE, READER, CLERK = "agent:scribe", "agent:reader", "agent:clerk"
OLGA, VERA, WIM, NOBODY = "person:olga", "person:vera", "person:wim", "person:nobody"

ORG = canonical(
    Org(
        owner="olga",
        departments=(
            Department(slug="ops", name="Operations"),
            Department(slug="finance", name="Finance"),
        ),
        people=(
            Person(slug="olga", name="Olga Brandt", role="Director", departments=("ops", "finance")),
            Person(slug="vera", name="Vera Lindt", departments=("ops",), validates=("process",)),
            Person(slug="wim", name="Wim Maas", departments=("ops",)),
            Person(slug="fay", name="Fay Roth", departments=("finance",), decides=("budget",)),
        ),
        agents=(
            Agent(name="scribe", write=("ops", "general")),
            Agent(name="reader", read=("ops", "general")),
            Agent(name="clerk", write=("finance", "ops"), deny=("finance",)),
        ),
        ceilings={"mcp": "internal"},
    )
)

PUMP = """\
---
title: Pump maintenance
type: process
department: ops
---
The pump is greased every 14 days by the morning shift.
"""
BUDGET = """\
---
title: Budget
department: finance
---
The budget of the year is decided in November.
"""

PAGES = {"memory/ops/pump.md": PUMP, "memory/finance/budget.md": BUDGET}


class SilentJudge:
    """A judge that finds nothing related."""

    name, version = "silent", "1"

    def judge(self, _fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        return [Opinion("unrelated", 0.9, "") for _ in claims]


class NumberJudge(SilentJudge):
    """A judge for whom two statements about a pump contradict each other where their numbers differ."""

    name = "numbers"

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        return [
            Opinion("contradicts", 0.9, "the numbers differ")
            if "pump" in fact.text.lower() and numbers(fact.text) != numbers(claim.text)
            else Opinion("unrelated", 0.9, "")
            for claim in claims
        ]


def numbers(text: str) -> list[str]:
    return [word for word in text.split() if word.isdecimal()]


def open_brain(root: Path, *, pages: Mapping[str, str] = PAGES, org: Org = ORG, **options) -> Brain:
    """Return the brain of a new workspace that has the organisation and the pages."""
    options = {"environ": {}, "judge": SilentJudge(), "clock": SteppingClock(), **options}
    workspace = Workspace.init(root, **options)
    brain = Brain(workspace)
    record(brain, OrgAccepted(org=org.as_json(), source="memory/org.yaml"), *(page(p, t) for p, t in pages.items()))
    return brain


DYING = """\
import os, sys
from pathlib import Path
from falsify.log import EventLog
from falsify.sealing import Keyring
from surfaces.brain import Brain
from surfaces.brain_proposals import proposed
from surfaces.brain_writes import erase_person
from surfaces.workspace import Workspace

def dies(owner, name, when):
    act = getattr(owner, name)
    def dying(*words, **options):
        if when == "before":
            os._exit(9)
        act(*words, **options)
        os._exit(9)
    setattr(owner, name, dying)

root, owner, name, when, work = sys.argv[1:]
with Workspace.open(Path(root), environ={}) as workspace:
    brain = Brain(workspace)
    brain.library
    dies({"EventLog": EventLog, "Keyring": Keyring}[owner], name, when)
    exec(work)
"""
"""Does something, and is gone before or after it calls a method for the first time, as a process is that is killed."""


def dies(brain: Brain, *, calling: str, when: str, work: str) -> bool:
    """Do some work in a process that dies before or after it calls `Class.method`; return whether it did."""
    words = [sys.executable, "-c", DYING, str(brain.workspace.root), *calling.split("."), when, work]
    return subprocess.run(words, check=False, timeout=120).returncode == 9


def page(rel_path: str, text: str) -> PageRecorded:
    return PageRecorded(
        rel_path=rel_path, text=text, known_at="2020-01-01T00:00:00Z", author="import", commit="", message=""
    )


def record(brain: Brain, *events: BrainEvent) -> None:
    """Append events as they are."""
    told: Sequence[Event] = events
    revision = brain.log.revision(STREAM)
    command = Command(id=f"test-{revision}", actor=OWNER, tool="test")
    brain.log.append(STREAM, told, expected_revision=revision, command=command)
