"""What a search of the brain takes, beside the bare queries it is made of, in one run and in turns.

    python bench/bench_brain.py [--pages 10000] [--bundled]

The pages are generated: four sections each, ten departments, a tenth of them with an older version. The bare side is an
FTS5 query by rank and a product of all vectors with the query's, over the present chunks, each with its best 60; no
scope, no date, no fusion, no text. Both sides embed the query. A search may take twice as long, and one of the past
half as long again as one of the present. Without --bundled vectors are random, but the same for the same text.
"""

import argparse
import hashlib
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from falsify.brain.events import OrgAccepted, PageRecorded
from falsify.brain.org import Agent, Department, Org
from falsify.brain.page import read_page
from falsify.clock import SteppingClock
from falsify.embedders.bundled import BundledEmbedder
from falsify.log import Command
from projections.search.chunks import chunks
from projections.search.view import Admission
from surfaces.brain import STREAM, Brain
from surfaces.tools.brain_search import grep_company_context, search_company_context
from surfaces.workspace import Workspace

DEPARTMENTS = (
    "sales", "finance", "legal", "support", "engineering", "marketing", "people", "logistics", "security", "research",
)  # fmt: skip
NOON = 1_780_315_200_000_000  # 2026-06-01T12:00:00Z
TOPICS = (
    "refund", "invoice", "contract", "onboarding", "incident", "release", "budget", "forecast", "warehouse", "shipment",
    "password", "audit", "campaign", "newsletter", "interview", "salary", "holiday", "database", "backup", "tender",
    "supplier", "certificate", "trial", "licence", "renewal", "discount", "complaint", "warranty", "prototype",
    "patent", "experiment", "lawsuit", "insurance", "travel", "expense", "payroll", "retention", "escalation",
    "migration",
)  # fmt: skip
PLACES = ("Lyon", "Berlin", "Porto", "Turin", "Ghent", "Malmö", "Graz", "Brno", "Nantes", "Leeds", "Cork", "Vilnius")
PEOPLE = ("Ada", "Bruno", "Chloé", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Inès", "Jonas", "Katya", "Liam")
SENTENCES = (
    "The {a} of {place} is handled by {person} within {n} days.",
    "Before a {a} is approved, {person} checks the {b} and writes down what was found.",
    "If the {a} is above {n} euros, it goes to {person} in {place}, who decides on the {b}.",
    "We keep every {a} for {n} months, because the {b} asks for it.",
    "After the {a} in {place} the {b} was changed: see [[{link}]].",
    "Nobody starts a {a} on a Friday unless {person} has seen the {b}.",
    "The {b} that came with the {a} number {n} was the reason for {code}.",
    "{person} wrote the first {a} for {place}; the {b} came {n} weeks later.",
    "A {a} without a {b} is sent back to {place} with the remark {code}.",
)
QUESTIONS = (
    "Who handles the {a} in {place}?",
    "When is a {b} sent back?",
    "{a} {b} {place}",
    "What does {person} decide about a {a}?",
    "How long do we keep a {a} after the {b}?",
    "why was {code} written down",
    "{a} above {n} euros",
)


class Random:
    """Unit vectors drawn from the text's own hash."""

    name, dimensions, threshold = "random-384", 384, 0.55

    def embed(self, texts):
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
            row[:] = np.random.default_rng(seed).standard_normal(self.dimensions, dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# --- the pages ------------------------------------------------------------------------------------------------


def filled(draw: random.Random, pattern: str, pages: int) -> str:
    return pattern.format(
        a=draw.choice(TOPICS), b=draw.choice(TOPICS), place=draw.choice(PLACES), person=draw.choice(PEOPLE),
        n=draw.randint(2, 900), code=f"{draw.choice('ABCDEFG')}{draw.randint(100, 999)}",
        link=f"page-{draw.randrange(pages):05}",
    )  # fmt: skip


def section(draw: random.Random, pages: int) -> str:
    return " ".join(filled(draw, draw.choice(SENTENCES), pages) for _ in range(draw.randint(3, 7)))


def written(draw: random.Random, number: int, pages: int) -> tuple[str, str]:
    """Return path and text of a page."""
    department = draw.choice(DEPARTMENTS)
    title = f"{draw.choice(TOPICS).capitalize()} and {draw.choice(TOPICS)} in {draw.choice(PLACES)} {number}"
    kind = draw.choice(["page", "page", "process", "decision", "lesson", "rule"])
    front = f"title: {title}\ntype: {kind}\nupdated: 2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}\n"
    front += f"source_trust: {draw.choice(['verified', 'declared', 'imported', 'unverified'])}\n"
    parts = [f"# {title}\n\n{section(draw, pages)}"]
    parts += [f"## {draw.choice(TOPICS).capitalize()} {n}\n\n{section(draw, pages)}" for n in range(1, 4)]
    return f"memory/{department}/page-{number:05}.md", f"---\n{front}---\n\n" + "\n\n".join(parts) + "\n"


def history(count: int) -> list[PageRecorded]:
    """Return the versions of all pages: older ones first for a tenth of them."""
    draw = random.Random(1)
    events = []
    for number in range(count):
        path, text = written(draw, number, count)
        if number % 10 == 0:
            older = text.replace("## ", "## Former ", 1).replace(" days", " weeks")
            events.append(recorded(path, older, f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"))
        events.append(recorded(path, text, f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"))
    return events


def recorded(path: str, text: str, day: str) -> PageRecorded:
    return PageRecorded(rel_path=path, text=text, known_at=f"{day}T09:00:00Z", author="", commit="", message="")


def opened(root: Path, count: int, embedder) -> Brain:
    workspace = Workspace.init(root, embedder=embedder, clock=SteppingClock(NOON, 0), environ={})
    org = Org(
        departments=tuple(Department(slug=each, name=each) for each in DEPARTMENTS),
        agents=(Agent(name="helper", read=("sales", "general")),),
    )
    events = [OrgAccepted(org=org.as_json(), source=""), *history(count)]
    for start in range(0, len(events), 500):
        command = Command(id=f"c{start}", actor="owner", tool="bench")
        workspace.log.append(STREAM, events[start : start + 500], expected_revision=start, command=command)
    return Brain(workspace)


# --- the bare side --------------------------------------------------------------------------------------------


class Bare:
    """The present chunks in an FTS5 table and a matrix, and nothing else."""

    def __init__(self, brain: Brain, path: Path) -> None:
        self.embedder = brain.workspace.embedder
        present = [(path, v[-1].text) for path, v in brain.library.pages.items()]
        found = [chunk for path, text in present for chunk in chunks(read_page(path, text, departments=DEPARTMENTS))]
        self.table = sqlite3.connect(path)
        self.table.execute("CREATE VIRTUAL TABLE f USING fts5(title, headings, text)")
        rows = [(n, c.title, c.context, c.text) for n, c in enumerate(found)]
        self.table.executemany("INSERT INTO f (rowid, title, headings, text) VALUES (?, ?, ?, ?)", rows)
        self.table.commit()
        view = brain.index.view(Admission(scope=brain.scope("owner"), day=brain.today))
        self.matrix = np.array(view.snapshot.vectors[view.passages()])

    def search(self, query: str) -> None:
        words = " OR ".join(f'"{word}"' for word in query.replace("?", "").split())
        self.table.execute("SELECT rowid, rank FROM f WHERE f MATCH ? ORDER BY rank LIMIT 60", (words,)).fetchall()
        scores = self.matrix @ self.embedder.embed([query])[0]
        nearest = np.argpartition(scores, -60)[-60:]
        nearest[np.argsort(-scores[nearest])]


# --- measuring ------------------------------------------------------------------------------------------------


def timed(call) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def shown(name: str, times: list[float], beside: list[float] | None = None) -> float:
    ratio = statistics.median(times) / statistics.median(beside) if beside else 0.0
    print(
        f"{name:52} p50 {statistics.median(times):7.1f} ms   p90 {statistics.quantiles(times, n=10)[-1]:7.1f} ms"
        + (f"   {ratio:5.2f}x" if beside else "")
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--bundled", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options)


def measure(root: Path, options: argparse.Namespace) -> None:
    brain = opened(root, options.pages, BundledEmbedder() if options.bundled else Random())
    marks = {}
    _ = brain.library
    began = time.perf_counter()
    brain.build_index(lambda what, _done, _of: marks.update({what: time.perf_counter()}))
    whole, text = time.perf_counter() - began, marks["pages"] - began
    versions = len(history(options.pages))
    size = sum(each.stat().st_size for each in (root / ".falsify").glob("search.*"))
    print(f"{options.pages:,} pages, {versions:,} versions; indexed in {whole:.1f} s: {versions / whole:,.0f} a second")
    print(f"  without vectors {versions / text:,.0f} a second; files {size / 1e6:,.0f} MB")
    first = timed(lambda: search_company_context(brain, "owner", query="refund"))
    bare = Bare(brain, root / "bare.sqlite")
    draw = random.Random(2)
    queries = [filled(draw, draw.choice(QUESTIONS), options.pages) for _ in range(options.queries)]
    days = [f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}" for _ in queries]
    times: dict[str, list[float]] = {}

    def take(name: str, call, *given: str, **more: str) -> None:
        times.setdefault(name, []).append(timed(lambda: call(*given, **more)))

    search, grep = partial(search_company_context, brain), partial(grep_company_context, brain)
    bare.search("refund")
    for query, day in zip(queries, days, strict=True):
        word = query.split()[-1].strip("?")
        take("bare", bare.search, query)
        take("owner", search, "owner", query=query)
        take("scoped", search, "agent:helper", query=query)
        take("past", search, "owner", query=query, as_of=day)
        take("same past", search, "owner", query=query, as_of="2025-12-31")
        take("grep", grep, "owner", pattern=word)
        take("grep, rare", grep, "owner", pattern=f"{word} {day}")
        take("grep, scoped", grep, "agent:helper", pattern=word)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"first search of the process {first:.0f} ms; peak {peak} MB")
    shown("FTS5 by rank + product of all vectors, bare", times["bare"])
    shown("search, who may see all", times["owner"], times["bare"])
    shown("search, one department in ten", times["scoped"], times["bare"])
    shown("search as of another day each time / today", times["past"], times["owner"])
    shown("search as of one day again and again / today", times["same past"], times["owner"])
    for name in ("grep", "grep, rare", "grep, scoped"):
        shown(name, times[name])


if __name__ == "__main__":
    main()
