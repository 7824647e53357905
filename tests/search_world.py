"""What the tests of the search index share: a brain on disk that is written to as an import writes, and its callers."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from falsify.brain.events import OrgAccepted, PageMoved, PageRecorded, PageRemoved
from falsify.brain.org import Agent, Department, Org, Person
from falsify.brain.scope import Destination
from falsify.clock import SteppingClock
from falsify.events import Event
from falsify.log import Command
from surfaces.brain import STREAM, Brain
from surfaces.workspace import Workspace
from tests.mirror_world import HashEmbedder

TODAY = "2026-06-01"
NOON = 1_780_315_200_000_000  # 2026-06-01T12:00:00Z

DEPARTMENTS = ("sales", "finance", "legal")

ORG = Org(
    owner="olga",
    departments=tuple(Department(slug=each, name=each.capitalize()) for each in DEPARTMENTS),
    people=(
        Person(slug="olga", name="Olga Owner"),
        Person(slug="sam", name="Sam Seller", departments=("sales",)),
        Person(slug="fay", name="Fay Finance", departments=("finance",)),
    ),
    agents=(
        Agent(name="helper", read=("sales", "general")),
        Agent(name="clerk", read=("sales", "finance", "general"), deny=("legal",)),
        Agent(name="teller", read_areas=("decisions",)),
    ),
    ceilings={"mcp": "internal"},
)

OWNER = "owner"


def page(title: str, body: str, **front: object) -> str:
    """Return the text of a page with its front matter."""
    lines = [f"{key}: {value}" for key, value in {"title": title, **front}.items()]
    return "\n".join(["---", *lines, "---", "", f"# {title}", "", body, ""])


class World:
    """A brain in a folder. Pages are recorded as of a day, each with a commit of its own."""

    def __init__(self, root: Path, *, embedder=None, destination: Destination = "cli", org: Org | None = ORG) -> None:
        self.root = root
        self.workspace = Workspace.init(
            root, embedder=embedder or HashEmbedder(), clock=SteppingClock(NOON, 0), environ={}
        )
        self.brain = Brain(self.workspace, destination=destination)
        if org is not None:
            self.append(OrgAccepted(org=org.as_json(), source="memory/org.yaml"))

    def close(self) -> None:
        self.workspace.close()

    def append(self, *events: Event) -> None:
        revision = self.workspace.log.revision(STREAM)
        command = Command(id=f"c{revision}", actor=OWNER, tool="test")
        self.workspace.log.append(STREAM, list(events), expected_revision=revision, command=command)

    def write(self, pages: Mapping[str, str], *, on: str = "2026-01-01") -> None:
        """Record pages, all in one command."""
        self.append(*(recorded(path, text, on=on) for path, text in pages.items()))

    def move(self, was: str, rel_path: str, *, on: str) -> None:
        self.append(PageMoved(rel_path=rel_path, was=was, known_at=f"{on}T09:00:00Z", author="", commit=""))

    def remove(self, rel_path: str, *, on: str) -> None:
        self.append(PageRemoved(rel_path=rel_path, known_at=f"{on}T09:00:00Z", author="", commit=""))


def recorded(rel_path: str, text: str, *, on: str) -> PageRecorded:
    return PageRecorded(rel_path=rel_path, text=text, known_at=f"{on}T09:00:00Z", author="", commit="", message="")


COMPANY = {
    "memory/sales/refunds.md": page(
        "Refund policy",
        "Customers of [[Acme]] get their money back within thirty days.\n\n## Exceptions\n\nSoftware licences are not "
        "refunded once activated.\n\n## Contact\n\nAsk the refunds desk in Lyon.",
        type="rule",
        source_trust="verified",
        updated="2026-05-01",
        sources="[handbook]",
        origin="{connector: drive, url: 'https://drive.example/refunds'}",
    ),
    "memory/sales/pricing.md": page(
        "Pricing 2026",
        "The list price of the standard plan is 40 euros a month. See [[Refund policy]].",
        updated="2026-03-01",
    ),
    "memory/finance/budget.md": page(
        "Budget 2026",
        "The marketing budget is 80,000 euros. Refunds are booked against revenue.",
        updated="2026-02-01",
        sensitivity="confidential",
    ),
    "memory/legal/lawsuit.md": page(
        "Lawsuit of Acme", "Acme sued over late refunds. The refund reserve is doubled.", sensitivity="restricted"
    ),
    "memory/entities/clients/acme.md": page(
        "Acme", "Acme Corporation buys the standard plan.", aliases="[Acme Corp]", department="sales"
    ),
    "memory/decisions/d1.md": page(
        "Drop the free plan", "We drop the free plan in favour of trials.", type="decision", department="sales"
    ),
    "memory/holidays.md": page("Holidays", "The office is closed in the last week of December."),
}
"""A small company: three departments, an entity, a decision, and a page for everybody."""


def company(root: Path, **options) -> World:
    world = World(root, **options)
    world.write(COMPANY)
    return world


def everything(world: World) -> dict[str, Sequence[tuple[object, ...]]]:
    """Return the whole index, table by table."""
    return world.brain.index.contents()


def main(root: str) -> None:
    """Index a brain whose log is there already, telling a line for each step: what the crash tests kill."""
    brain = Brain(Workspace.open(Path(root), embedder=HashEmbedder(), clock=SteppingClock(NOON, 0), environ={}))
    brain.build_index(lambda *told: print(*told, flush=True))


if __name__ == "__main__":
    main(sys.argv[1])
