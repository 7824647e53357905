"""What the tests of the mirror share: a small embedder, the investigation of the contract, and endless histories."""

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from falsify.belief.events import BeliefEvent
from falsify.belief.text import node_id
from falsify.events import NodeId
from tests.driver import InMemory, judged

QUESTION = "Did Company X know about the defect before the recall?"
AUDIT = "Forensic audit: the March QA report was back-dated"


class HashEmbedder:
    """Bags of words as vectors: near if they share words, the same on every machine."""

    name: ClassVar[str] = "hash"
    dimensions: ClassVar[int] = 64
    threshold: ClassVar[float] = 0.7

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()) or [text]:
                digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
                row[digest % self.dimensions] += 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class OtherEmbedder(HashEmbedder):
    """The same idea in fewer dimensions, as another model would be."""

    name: ClassVar[str] = "hash-32"
    dimensions: ClassVar[int] = 32


def company_x() -> InMemory:
    """Return the contract's investigation after its first session."""
    world = InMemory(QUESTION)
    world.ingest(
        sources=[
            {"id": "qa", "title": "QA report of March 2021"},
            {"id": "mail", "title": "Supplier mail of January 2021"},
        ],
        hypotheses=[
            {"id": "A", "statement": "X knew via QA report, Mar 2021"},
            {"id": "B", "statement": "X knew via supplier email, Jan 2021"},
            {"id": "C", "statement": "X did not know"},
        ],
        evidence=[
            {
                "id": "E_qa",
                "claim": "The March QA report documents the defect",
                "source_id": "qa",
                "quote": 'Lot 7:\nthe valve “sticks”, said O\'Hara \\ "twice" … 漢字 🙂',
                "asserted_at": "2021-03-15",
                "supports": [{"hypothesis": "A", "weight": 0.9}],
            },
            {
                "id": "E_email",
                "claim": "A supplier email warns X of the defect",
                "source_id": "mail",
                "asserted_at": "2021-01-20T08:00:00Z",
                "supports": [{"hypothesis": "B", "weight": 0.8}],
            },
        ],
        conclusions=[
            {
                "id": "K",
                "statement": "X knew by March 2021",
                "confidence": 0.9,
                "depends_on": [{"evidence": "E_qa"}],
            }
        ],
    )
    return world


def audit(world: InMemory) -> list[BeliefEvent]:
    """Let the forensic audit arrive, and a judge say that it contradicts the QA report."""
    finding = judged(fact_id(world, AUDIT), world.id("E_qa"))
    return world.fact(AUDIT, finding, source_id="audit", source_title="Forensic audit", handle="E_audit")


def fact_id(world: InMemory, text: str) -> NodeId:
    """Return the id of a fact that is yet to arrive."""
    return node_id("evidence", text, question_id=world.question_id)


def texts_under(folder: Path, text: str) -> list[str]:
    """Return the files below the folder among whose bytes the text is, as it is or as JSON escapes it."""
    needles = {text.encode(), text.encode("unicode_escape")}
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            if any(needle in content for needle in needles):
                found.append(path.relative_to(folder).as_posix())
    return found


def steps(world: InMemory, seed: int) -> Iterator[list[BeliefEvent]]:
    """Yield the events of one random command after another, for ever."""
    rng = random.Random(seed)
    world.ingest(hypotheses=[{"id": f"H{i}", "statement": f"Answer {i}", "prior": i / 4} for i in range(3)])
    yield world.events[:]
    for number in range(1_000_000):
        step = rng.choice(_STEPS)
        events = step(world, rng, number)
        if events:
            yield events


def _evidence(world: InMemory) -> list[NodeId]:
    return [node.id for node in world.graph.nodes.values() if node.kind == "evidence"]


def _fact(world: InMemory, rng: random.Random, number: int) -> list[BeliefEvent]:
    text = f"Fact {number} of “{rng.choice(['lot', 'valve', 'Straße', '漢字'])}”\nsays so"
    known = _evidence(world)
    targets = rng.sample(known, min(len(known), rng.randint(0, 2)))
    relations = ("contradicts", "supersedes", "supports")
    findings = [judged(fact_id(world, text), target, rng.choice(relations), rng.random()) for target in targets]
    stances = [("H" + str(rng.randrange(3)), rng.choice(("supports", "refutes")), rng.random())]
    return world.fact(
        text,
        *findings,
        weighs=stances if rng.random() < 0.7 else (),
        source_id=f"s{rng.randrange(4)}",
        asserted_at=rng.choice(("", "2021-01-01", "2022-02-02")),
        quote=rng.choice(("", "so it \"is\" 'said' \\n")),
    )


def _conclude(world: InMemory, rng: random.Random, number: int) -> list[BeliefEvent]:
    known = [node.id for node in world.graph.nodes.values() if node.kind in {"evidence", "conclusion"}]
    if not known:
        return []
    rests_on = [
        {
            "evidence" if on.startswith("E") else "conclusion": on,
            "critical": rng.random() < 0.6,
            "group": rng.choice(("", "both")),
        }
        for on in rng.choices(known, k=3)
    ]
    conclusion = {
        "id": f"K{number}",
        "statement": f"Conclusion {number}",
        "confidence": rng.random(),
        "depends_on": rests_on,
    }
    return world.ingest(conclusions=[conclusion])


def _trust(world: InMemory, rng: random.Random, number: int) -> list[BeliefEvent]:
    source = {"id": f"s{rng.randrange(4)}", "title": f"Source, edition {number}", "trust": rng.choice((0.2, 1.0, 3.0))}
    return world.ingest(sources=[source])


def _withdraw(world: InMemory, rng: random.Random, number: int) -> list[BeliefEvent]:
    known = _evidence(world)
    if not known:
        return []
    chosen = rng.choice(known)
    return (world.restore if world.graph.evidence(chosen).retracted else world.retract)(chosen)


def _rule(world: InMemory, rng: random.Random, number: int) -> list[BeliefEvent]:
    known = _evidence(world)
    if len(known) < 2:
        return []
    fact, claim = rng.sample(known, 2)
    return world.rule(fact, claim, rng.choice(("contradicts", "supersedes", "unrelated")))


_STEPS = (_fact, _fact, _fact, _conclude, _conclude, _trust, _withdraw, _withdraw, _rule)


def flicker() -> Iterator[tuple[InMemory, list[BeliefEvent]]]:
    """Yield a world after each step of a history without end, in which a conclusion is forgotten and comes back."""
    world = company_x()
    yield world, world.events[:]
    yield world, audit(world)
    while True:
        yield world, world.retract("E_audit")
        yield world, world.fact("Something else altogether", source_id="mail", weighs=[("C", "supports", 0.1)])
        yield world, world.restore("E_audit")
