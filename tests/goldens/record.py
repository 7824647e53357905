"""Records the golden logs of this folder. Run from the root of the repository: `python -m tests.goldens.record NAME`.

What is committed here stays for ever (README.md), so this never overwrites anything. To add a golden, write its story
below, give it a name in STORIES, and record it.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from falsify.belief.revision import AssertFact, Weighing
from falsify.belief.text import node_id
from falsify.clock import SteppingClock
from falsify.embedders.bundled import BundledEmbedder
from falsify.ports import Abstention, Embedder, Opinion, Relation, Statement
from replay.scenario import record
from surfaces.belief_file import Document
from surfaces.intake import Found, Wishes, take
from surfaces.workspace import Workspace

HERE = Path(__file__).parent


@dataclass(frozen=True)
class ScriptedJudge:
    """Gives the verdicts of a story: (words of the fact, words of the claim) -> relation. Other pairs are unrelated."""

    verdicts: dict[tuple[str, str], Relation]
    silent: bool = False
    name: str = "scripted"
    version: str = "1"

    def judge(self, fact: Statement, claims: Sequence[Statement]) -> list[Opinion | Abstention]:
        return [self._opinion(fact.text, claim.text) for claim in claims]

    def _opinion(self, fact: str, claim: str) -> Opinion | Abstention:
        for (said, of), relation in self.verdicts.items():
            if said in fact and of in claim:
                if self.silent:
                    return Abstention("the judge did not answer within 20 s")
                return Opinion(relation, 0.9, f"{said!r} against {of!r}")
        return Opinion("unrelated", 0.9, "they can both hold")


class Storyteller:
    """Tells a story to a workspace: everything by handle."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        # An hour between one reading of the clock and the next, so that epochs can be told apart by date.
        self.clock = SteppingClock(step=3_600_000_000)
        self.workspace = Workspace.init(
            folder, environ={}, clock=self.clock, judge=ScriptedJudge({}), embedder=embedder
        )

    def document(self, name: str, text: str) -> None:
        file = self.workspace.root / name
        file.write_text(text, encoding="utf-8")
        take(self.workspace, Found(file, named=True), Wishes())

    def judges(self, verdicts: dict[tuple[str, str], Relation], *, silent: bool = False) -> None:
        """From now on these are the verdicts."""
        self.workspace.judge = ScriptedJudge(verdicts, silent=silent)

    def ingest(self, text: str) -> None:
        self.workspace.ingest(Document("story.yaml", text))

    def fact(
        self, text: str, *, handle: str = "", question: str | None = None, supports: Sequence[str] = (), **more: object
    ) -> None:
        weighs = tuple(Weighing(self.workspace.find(h).id, "supports", 0.5) for h in supports)
        question_id = node_id("question", question) if question else self.workspace.question().id
        self.workspace.fact(AssertFact(question_id, text, handle=handle, weighs=weighs, **more))

    def retract(self, handle: str, *, restored: bool = False, reason: str = "") -> None:
        self.workspace.retract(self.workspace.find(handle).id, restored=restored, reason=reason)

    def rules(self, fact: str, claim: str, relation: Relation, rationale: str) -> None:
        find = self.workspace.find
        self.workspace.rule(find(fact).id, find(claim).id, relation=relation, confidence=1.0, rationale=rationale)

    def adjudicates(self, fact: str) -> None:
        self.workspace.adjudicate(self.workspace.find(fact).id)


def company_x(tell: Storyteller) -> None:
    """The contract's story: one line of fact, and the QA report, what rested on it and its hypothesis fall."""
    tell.ingest("""
question: Did Company X know about the defect before the recall?
sources:
  - {id: qa-report, title: QA report of March 2021}
  - {id: supplier-email, title: Supplier email of January 2021}
hypotheses:
  - {id: A, statement: "X knew through the QA report, March 2021", prior: 0.5}
  - {id: B, statement: "X knew through the supplier email, January 2021", prior: 0.3}
  - {id: C, statement: X did not know before the recall, prior: 0.2}
evidence:
  - id: E_qa
    claim: The QA report of March 2021 documents the defect in Company X's product
    source_id: qa-report
    quote: Field returns show the latch fault in 4 % of units; see appendix B.
    asserted_at: 2021-03-15
    supports: [{hypothesis: A, weight: 0.8}]
  - id: E_email
    claim: A supplier email of January 2021 warns Company X of the defect
    source_id: supplier-email
    quote: We have seen the latch fail in our own tests and ask you to hold shipments.
    asserted_at: 2021-01-20
    supports: [{hypothesis: B, weight: 0.6}]
conclusions:
  - {id: K, statement: X knew by March 2021, depends_on: [{evidence: E_qa, critical: true}]}
""")
    tell.judges({("back-dated", "QA report of March 2021"): "contradicts"})
    tell.fact(
        "Forensic audit: the March QA report was back-dated.",
        source_id="forensic-audit",
        source_title="Forensic audit",
    )


def reinstatement(tell: Storyteller) -> None:
    """What a refuter killed comes back when the refuter is refuted, even what was forgotten; and goes again."""
    tell.ingest("""
question: Does the new catalyst raise the yield?
sources:
  - {id: lab-book, title: Lab book of group 3}
  - {id: old-series, title: Yield series of last year}
hypotheses:
  - {id: raises, statement: The new catalyst raises the yield by more than 5 percent, prior: 0.4}
  - {id: nothing, statement: The new catalyst makes no difference to the yield, prior: 0.6}
evidence:
  - id: E_run
    claim: Run 12 with the new catalyst reached a yield of 91 percent
    source_id: lab-book
    asserted_at: 2024-05-02
    supports: [{hypothesis: raises, weight: 0.9}]
  - id: E_mean
    claim: The mean yield with the new catalyst is 90 percent
    depends_on: [{evidence: E_run}]
    supports: [{hypothesis: raises, weight: 0.1}]
  - id: E_old
    claim: Last year's runs without it reached yields between 84 and 92 percent
    source_id: old-series
    asserted_at: 2023-12-20
    supports: [{hypothesis: nothing, weight: 0.3}]
conclusions:
  - {id: K_better, statement: The new catalyst beats the old one, depends_on: [{evidence: E_run}]}
  - {id: K_order, statement: We should order 20 kg of the new catalyst, depends_on: [{conclusion: K_better}]}
  - {id: K_budget, statement: The catalyst budget must grow, depends_on: [{conclusion: K_order}]}
""")
    tell.judges({
        ("contaminated", "Run 12"): "contradicts",
        ("swapped", "contaminated"): "contradicts",
    })  # fmt: skip
    tell.fact(
        "The sample of run 12 was contaminated with the reference product, its yield of 91 percent is not real",
        handle="F_dirty", source_id="qc", source_title="Quality control", asserted_at="2024-05-10",
    )  # fmt: skip
    tell.fact(
        "Quality control had swapped the vials: it was not run 12 whose sample was contaminated",
        handle="F_swap", source_id="audit", source_title="Audit of quality control", asserted_at="2024-05-20",
    )  # fmt: skip
    tell.retract("F_swap", reason="the audit looked at another week")
    tell.retract("F_swap", restored=True, reason="the week was right after all")


def contested(tell: Storyteller) -> None:
    """Three witnesses who contradict each other in a ring: nothing is served as truth until somebody rules."""
    tell.ingest("""
question: Who opened the valve?
sources:
  - {id: guard, title: Statement of the guard}
  - {id: driver, title: Statement of the driver}
  - {id: foreman, title: Statement of the foreman}
hypotheses:
  - {id: by_guard, statement: The guard opened the valve}
  - {id: by_driver, statement: The driver opened the valve}
  - {id: by_foreman, statement: The foreman opened the valve}
evidence:
  - id: W_guard
    claim: The guard says that the driver opened the valve
    source_id: guard
    asserted_at: 2022-08-01
    supports: [{hypothesis: by_driver, weight: 0.7}]
    contradicts: [{evidence: W_driver, rationale: the driver puts it on the foreman}]
  - id: W_driver
    claim: The driver says that the foreman opened the valve
    source_id: driver
    asserted_at: 2022-08-01
    supports: [{hypothesis: by_foreman, weight: 0.6}]
    contradicts: [{evidence: W_foreman, rationale: the foreman puts it on the guard}]
  - id: W_foreman
    claim: The foreman says that the guard opened the valve
    source_id: foreman
    asserted_at: 2022-08-01
    supports: [{hypothesis: by_guard, weight: 0.5}]
    contradicts: [{evidence: W_guard, rationale: the guard puts it on the driver}]
  - id: E_leak
    claim: The valve stood open at noon
    asserted_at: 2022-08-01
conclusions:
  - {id: K_driver, statement: The driver is to be questioned again, depends_on: [{evidence: W_guard}]}
  - {id: K_open, statement: Somebody opened the valve before noon, depends_on: [{evidence: E_leak}]}
""")
    tell.judges({("badge", "the guard opened the valve"): "contradicts"})
    tell.fact(
        "The badge reader shows that nobody but the driver was in the hall, so the guard cannot have opened the valve",
        handle="F_badge", source_id="badges", source_title="Badge reader", asserted_at="2022-08-09",
        supports=["by_driver"],
    )  # fmt: skip
    tell.rules("W_driver", "F_badge", "contradicts", "the reader's clock was off by an hour")
    tell.retract("W_driver", reason="the driver took it back")


def grouped(tell: Storyteller) -> None:
    """Dependencies that stand or fall together, decay, trust, dates, and a judge that did not answer."""
    tell.ingest("""
question: Is the bridge safe for 40-tonne lorries?
sources:
  - {id: survey, title: Survey of 2023, trust: 1.0}
  - {id: model, title: Finite element model, trust: 0.8}
  - {id: forum, title: Posts in a drivers' forum, trust: 0.2}
hypotheses:
  - {id: safe, statement: The bridge carries lorries of 40 tonnes, prior: 0.5}
  - {id: unsafe, statement: The bridge does not carry lorries of 40 tonnes, prior: 0.5}
evidence:
  - id: E_steel
    claim: The steel of the girders has a yield strength of 355 megapascals
    source_id: survey
    asserted_at: 2023-06-01
    supports: [{hypothesis: safe, weight: 0.4}]
  - id: E_rivets
    claim: All rivets of the bridge were found tight
    source_id: survey
    asserted_at: 2023-06-01
  - id: E_model
    claim: The model gives a load factor of 1.8 at 40 tonnes
    source_id: model
    asserted_at: 2023-09-15
    supports: [{hypothesis: safe, weight: 0.3}]
  - id: E_paint
    claim: The paint of the bridge is sound
    source_id: survey
    asserted_at: 2023-06-01
  - id: E_test
    claim: A test drive with 44 tonnes bent the bridge by 9 millimetres, as computed
    asserted_at: 2024-03-01
    supports: [{hypothesis: safe, weight: 0.2}]
conclusions:
  - id: K_load
    statement: The girders carry 40 tonnes
    confidence: 0.9
    depends_on:
      - {evidence: E_steel, group: by computation}
      - {evidence: E_rivets, group: by computation}
      - {evidence: E_model, group: by computation}
      - {evidence: E_paint, critical: false}
  - id: K_open
    statement: The bridge can be opened for lorries
    depends_on: [{conclusion: K_load}, {evidence: E_test}]
  - {id: K_sign, statement: The weight sign can be removed, depends_on: [{conclusion: K_open}]}
""")
    tell.judges({
        ("rust", "paint of the bridge is sound"): "contradicts",
        ("rivets", "rivets"): "contradicts",
        ("lower than", "yield strength"): "contradicts",
        ("grade S355", "yield strength"): "supersedes",
        ("scale", "test drive"): "contradicts",
    })  # fmt: skip
    tell.fact(
        "Drivers write that the paint of the bridge is not sound: it is full of rust",
        handle="F_rust", source_id="forum", asserted_at="2024-04-01",
    )  # fmt: skip
    tell.ingest("""
question: Is the bridge safe for 40-tonne lorries?
sources:
  - {id: forum, title: "Posts in a drivers' forum, checked on site", trust: 1.0}
evidence:
  - id: E_girders  # another name for what is known as E_steel
    claim: the steel of the girders has a yield strength of 355 megapascals.
    source_id: survey
    asserted_at: 2023-06-01
""")
    tell.fact(
        "The inspection of May found four loose rivets in the bridge",
        handle="F_loose", source_id="inspection", source_title="Inspection of May 2024", asserted_at="2024-05-05",
        supports=["unsafe"],
    )  # fmt: skip
    tell.fact(
        "An expert opinion of 2019 put the strength of the steel lower than its yield strength of 355 megapascals",
        handle="F_2019", source_id="expert", source_title="Expert opinion", asserted_at="2019-02-11",
    )  # fmt: skip
    tell.judges({("scale", "test drive"): "contradicts"}, silent=True)
    tell.fact(
        "The scale at the test drive was not calibrated, the lorry may have weighed less than 44 tonnes",
        handle="F_scale", source_id="inspection", asserted_at="2024-05-06",
    )  # fmt: skip
    tell.judges({("scale", "test drive"): "contradicts"})
    tell.adjudicates("F_scale")
    tell.retract("F_loose", reason="the four rivets were on the footbridge")
    tell.retract("F_rust", reason="photographs of another bridge")


def documents(tell: Storyteller) -> None:
    """A report that is read, edited and restored, a table that says some of the same, and a fact against both."""
    tell.ingest("""
question: Why does the pump leak?
hypotheses:
  - {id: seal, statement: The seal is worn}
  - {id: valve, statement: The valve does not close}
""")
    report = (
        "# Report of the fitter\n\nThe seal of the pump is worn. The valve closes.\n\n"
        "The pump leaks 3 litres a day. The gasket of the pump is new.\n"
    )
    table = "claim,source,asserted_at,supports\nThe pump leaks 3 litres a day.,meter,2024-02-01,\n"
    tell.document("report.md", report)
    tell.document("table.csv", f"{table}The seal of the pump is worn.,fitter,2024-02-02,seal:0.6\n")
    tell.judges({("does not close", "valve closes"): "contradicts"})
    tell.fact("The valve does not close: a grain of sand sits in it", handle="F_sand", supports=["valve"])
    edited = report.replace(" The valve closes.", "").replace("The pump leaks 3 litres a day. The gasket", "The bolt")
    tell.document("report.md", edited)
    tell.document("table.csv", f"{table}The pump is old.,fitter,,\n")
    tell.document("report.md", report)
    tell.document("report.md", report)


def two_questions(tell: Storyteller) -> None:
    """Two investigations in one log that use the same handles; what happens to one leaves the other alone."""
    tell.ingest("""
question: Why did the pump fail?
hypotheses:
  - {id: A, statement: The seal was worn, prior: 0.6}
  - {id: B, statement: The motor was overloaded, prior: 0.4}
evidence:
  - id: E1
    claim: The seal of the pump had been in use for nine years
    source_id: service-book
    asserted_at: 2020-01-10
    supports: [{hypothesis: A, weight: 0.6}]
  - id: E2
    claim: The pump drew 18 amperes on the day before it failed
    source_id: scada
    asserted_at: 2020-02-01
    supports: [{hypothesis: B, weight: 0.5}]
conclusions:
  - {id: K, statement: The seals of all pumps must be changed, depends_on: [{evidence: E1}]}
""")
    tell.ingest("""
question: Why was the spare part late?
hypotheses:
  - {id: A, statement: It was ordered late}
  - {id: B, statement: Customs held it}
evidence:
  - id: E1
    claim: The order for the seal is dated after the failure of the pump
    source_id: erp
    asserted_at: 2020-02-20
    supports: [{hypothesis: A, weight: 0.5}]
  - id: E2
    claim: The parcel lay at customs for three days
    source_id: carrier
    asserted_at: 2020-03-01
    supports: [{hypothesis: B, weight: 0.5}]
conclusions:
  - {id: K, statement: Orders must be placed earlier, depends_on: [{evidence: E1}]}
""")
    tell.judges({
        ("changed in 2019", "nine years"): "contradicts",
        ("entered twice", "order for the seal"): "supersedes",
    })  # fmt: skip
    tell.fact(
        "The seal of the pump was changed in 2019, the service book lacks the page",
        question="Why did the pump fail?", source_id="mechanic", source_title="The mechanic's diary",
        asserted_at="2020-04-01",
    )  # fmt: skip
    tell.fact(
        "The order for the seal was entered twice; the first entry is older than the failure of the pump",
        question="Why was the spare part late?", source_id="erp", asserted_at="2020-04-02",
    )  # fmt: skip
    tell.fact(
        "Customs records show no parcel for us before March",
        handle="F_customs", question="Why was the spare part late?", source_id="customs", asserted_at="2020-04-20",
    )  # fmt: skip


STORIES: dict[str, tuple[Callable[[Storyteller], None], tuple[str, ...]]] = {
    "company-x": (company_x, ("When did Company X know about the defect?", "Was the QA report back-dated?")),
    "reinstatement": (reinstatement, ("What yield did run 12 reach?", "Should we order the new catalyst?")),
    "contested": (contested, ("Who opened the valve?",)),
    "grouped": (grouped, ("Can the bridge be opened for lorries?", "What is known of the rivets?")),
    "documents": (documents, ("Is the seal worn?", "How much does the pump leak?")),
    "two-questions": (two_questions, ("Why did the pump fail?", "Why did the seal arrive late?")),
}
"""Each story, and what recall is asked at every epoch of it."""


def tell(name: str, folder: Path, embedder: Embedder) -> tuple[Path, Path]:
    """Record one golden into a folder."""
    story, queries = STORIES[name]
    with tempfile.TemporaryDirectory() as workspace:
        teller = Storyteller(Path(workspace), embedder)
        with teller.workspace as told:
            story(teller)
            return record(told.log, told.stream, name=name, folder=folder, queries=queries, embedder=embedder, limit=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=STORIES)
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    embedder = BundledEmbedder()
    for name in arguments.names:
        for path in tell(name, arguments.out, embedder):
            print(path)


if __name__ == "__main__":
    main()
