"""Random histories: logs that hold an investigation of many commands, a day apart, with every kind of event."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from hypothesis import strategies as st

from falsify.belief.events import BeliefEvent
from falsify.belief.graph import Evidence
from falsify.belief.text import node_id
from falsify.clock import SteppingClock
from falsify.log import Command, EventLog, open_log
from tests.driver import InMemory, judged, withheld

STREAM = "project:main"
DAY = 86_400_000_000
EVIDENCE = [f"e{i}" for i in range(6)]
CONCLUSIONS = [f"c{i}" for i in range(4)]
HYPOTHESES = ["h0", "h1", "h2"]
DATES = ["", "", "2021-01-05", "2021-03-15", "2021-03-15T10:00:00Z", "2022-07-01"]


class History(InMemory):
    """An investigation in a log: what is decided is appended, a command a day."""

    def __init__(self, question: str = "What broke the pump?") -> None:
        super().__init__(question)
        self.log: EventLog = open_log("memory:", clock=SteppingClock(step=DAY))

    def record(self, events: Iterable[BeliefEvent]) -> list[BeliefEvent]:
        decided = super().record(list(events))
        if decided:
            revision = self.log.revision(STREAM)
            command = Command(id=f"command-{revision}", actor="owner", tool="test")
            self.log.append(STREAM, decided, expected_revision=revision, command=command)
        return decided

    def id_of(self, text: str) -> str:
        return node_id("evidence", text, question_id=self.question_id)

    def records(self):
        return list(self.log.read(stream=STREAM))


def claim(handle: str) -> str:
    return f"The record says {handle}"


@st.composite
def histories(draw, commands: int = 8) -> History:
    """Draw a history: a belief file with everything in it, then facts, rulings, retractions, more belief files."""
    history = History()
    history.ingest(**draw(belief_files(EVIDENCE, CONCLUSIONS)))
    for _ in range(draw(st.integers(0, commands))):
        draw(st.sampled_from(STEPS))(draw, history)
    return history


@st.composite
def belief_files(draw, evidence: list[str], conclusions: list[str]) -> dict[str, Any]:
    """Draw a belief file with these entries; they may rest on and attack one another."""
    dependencies = st.builds(
        lambda on, critical, group: {
            "evidence" if on in EVIDENCE else "conclusion": on, "critical": critical, "group": group,
        },
        st.sampled_from(evidence + conclusions), st.sampled_from([True, True, False]), st.sampled_from(["", "", "g"]),
    )  # fmt: skip
    attacks = st.builds(lambda on: {"evidence": on}, st.sampled_from(evidence))
    weighings = st.builds(
        lambda h, w: {"hypothesis": h, "weight": w}, st.sampled_from(HYPOTHESES), st.sampled_from([0.1, 0.3, 1.0])
    )

    def some(strategy, most):
        return draw(st.lists(strategy, max_size=most))

    return {
        "sources": [{"id": s, "trust": draw(st.sampled_from([0.2, 0.5, 1.0]))} for s in ("s0", "s1")],
        "hypotheses": [{"id": h, "statement": f"It was {h}"} for h in HYPOTHESES],
        "evidence": [
            {
                "id": e,
                "claim": claim(e),
                "source_id": draw(st.sampled_from(["s0", "s1"])),
                "asserted_at": draw(st.sampled_from(DATES)),
                "supports": some(weighings, 2),
                "refutes": some(weighings, 1),
                "depends_on": some(dependencies, 1) if draw(st.booleans()) else [],
                "contradicts": some(attacks, 1),
            }
            for e in evidence
        ],
        "conclusions": [{"id": c, "statement": f"So {c}", "depends_on": some(dependencies, 3)} for c in conclusions],
    }


def _fact(draw, history: History) -> None:
    text = claim(draw(st.sampled_from([*EVIDENCE, "f0", "f1"])))
    fact_id = history.id_of(text)
    others = [n.id for n in _evidence(history) if n.id != fact_id]
    found = [
        draw(st.sampled_from([judged, judged, judged, withheld]))(fact_id, other)
        for other in draw(st.lists(st.sampled_from(others), max_size=2, unique=True))
    ]
    history.fact(
        text,
        *found,
        source_id=draw(st.sampled_from(["s0", "s1", "s2"])),
        asserted_at=draw(st.sampled_from(DATES)),
        weighs=draw(st.lists(st.tuples(st.sampled_from(HYPOTHESES), st.just("supports"), st.just(0.5)), max_size=1)),
    )


def _rule(draw, history: History) -> None:
    some = st.sampled_from([n.id for n in _evidence(history)])
    fact, other = draw(some), draw(some)
    if fact != other:
        history.rule(fact, other, draw(st.sampled_from(["contradicts", "supersedes", "unrelated"])))


def _withdraw(draw, history: History) -> None:
    node = draw(st.sampled_from(_evidence(history)))
    (history.restore if node.retracted else history.retract)(node.id)


def _ingest(draw, history: History) -> None:
    history.ingest(**draw(belief_files(EVIDENCE[:2], CONCLUSIONS[:1])))


STEPS = [_fact, _fact, _rule, _withdraw, _ingest]


def _evidence(history: History) -> list[Evidence]:
    return [n for n in history.graph.nodes.values() if isinstance(n, Evidence)]


def rewritten(history: History, rewrite: Callable[[BeliefEvent], Iterable[BeliefEvent]]) -> EventLog:
    """Return a log with other events, chained anew from the first record: no hash tells that it was forged."""
    log = open_log("memory:", clock=SteppingClock(step=DAY))
    for name, command in groupby(history.records(), key=lambda r: r.command):
        events = [event for record in command for event in rewrite(record.event)]
        log.append(
            STREAM, events, expected_revision=log.revision(STREAM), command=Command(id=name, actor="owner", tool="test")
        )
    return log


def company_x() -> History:
    """Return the contract's investigation after the fact that ends it."""
    history = History("Did Company X know about the defect before the recall?")
    history.ingest(
        sources=[{"id": "qa", "title": "QA report of March 2021"}],
        hypotheses=[
            {"id": "A", "statement": "X knew through the QA report of March", "prior": 0.5},
            {"id": "B", "statement": "X knew through the supplier email of January", "prior": 0.3},
        ],
        evidence=[
            {
                "id": "E_qa", "claim": "The QA report of March 2021 documents the defect", "source_id": "qa",
                "asserted_at": "2021-03-15", "supports": [{"hypothesis": "A", "weight": 0.8}],
            },
            {
                "id": "E_email", "claim": "A supplier email of January warns Company X of the defect",
                "asserted_at": "2021-01-20", "supports": [{"hypothesis": "B", "weight": 0.6}],
            },
        ],
        conclusions=[{"id": "K", "statement": "X knew by March 2021", "depends_on": [{"evidence": "E_qa"}]}],
    )  # fmt: skip
    fact = "The QA report of March was back-dated"
    history.fact(fact, judged(history.id_of(fact), history.id("E_qa")), handle="F", source_id="audit")
    return history
