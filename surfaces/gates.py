"""The two gates, looked at without a workspace: what passes the first, what the second says, how good they are."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from falsify.belief.contradiction import find_candidates, statement
from falsify.belief.events import BeliefEvent
from falsify.belief.graph import ACTING_CONFIDENCE, UNATTRIBUTED, BeliefGraph, Evidence, evolve
from falsify.belief.revision import AssertFact, ask, assert_fact
from falsify.belief.text import clean
from falsify.errors import NotFoundError
from falsify.judges.panel import acts
from falsify.judges.quality import Pair, accuracy, acting, best_threshold, conflict_score, quality
from falsify.ports import Abstention, Embedder, Judge, Opinion, Statement
from surfaces import settings
from surfaces.adapters import make_embedder, make_judge
from surfaces.settings import JudgeKind
from surfaces.workspace import Workspace

if TYPE_CHECKING:
    from projections.claims import VectorTable


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the settings appoint: of the workspace that is named or found, else of this folder and the environment."""

    _settings: settings.Settings
    _folder: Path
    _workspace: Workspace | None
    _kind: JudgeKind | None

    @classmethod
    @contextmanager
    def of(cls, folder: Path | None, *, kind: JudgeKind | None = None) -> "Iterator[Wiring]":
        """Find the workspace for the time of a `with` block; only one that is named must be there."""
        try:
            workspace = Workspace.open(folder)
        except NotFoundError:
            if folder is not None or os.environ.get("FALSIFY_WORKSPACE"):
                raise
            home = Path.home() / ".cache" / "falsify" / "judge"
            yield cls(settings.load(Path.cwd()), home, None, kind)
        else:
            with workspace:
                yield cls(workspace.settings, workspace.folder / "judge", workspace, kind)

    @property
    def embedder(self) -> Embedder:
        """The embedder of the settings."""
        return make_embedder(self._settings, os.environ)

    @property
    def judge(self) -> Judge:
        """The judge that was asked for, else that of the settings."""
        return make_judge(self._settings, os.environ, folder=self._folder, pinned=self._text, kind=self._kind)

    def _text(self, name: str) -> str:
        if self._workspace is None:
            raise NotFoundError(
                f"{name!r} is looked for in a workspace, and here is none",
                hint="name one with --workspace, or take another judge",
            )
        return self._workspace.find(name, Evidence).text


def examine(fact: str, claim: str, *, source_title: str, embedder: Embedder, judge: Judge) -> dict[str, Any]:
    """Return what the gates make of a fact and a claim: the very decision, on a graph of nothing but the claim."""
    fact, claim = clean(fact, what="the fact"), clean(claim, what="the claim")
    graph, table, claim_id = _world(claim, source_title, embedder)
    command = AssertFact(question_id=graph.questions()[0].id, text=fact)
    shown = Statement(fact)
    candidates = [c for c in find_candidates(graph, command.fact_id, shown, table) if c.claim_id == claim_id]
    [distance] = table.distances(fact, [claim_id])
    [answer] = judge.judge(shown, [statement(graph, graph.evidence(claim_id))])
    told: dict[str, Any] = {"fact": fact, "claim": claim, "judge": judge.name, "judge_version": judge.version}
    if isinstance(answer, Opinion):
        told |= asdict(answer)
    else:
        told |= {"relation": None, "confidence": None, "rationale": answer.reason}
    return {
        **told,
        "acts": bool(candidates) and acts(answer),
        "gates": {
            "candidate": bool(candidates),
            "by": candidates[0].gate if candidates else None,
            "distance": distance,
            "threshold": embedder.threshold,
            "embedder": embedder.name,
            "acts_from": ACTING_CONFIDENCE,
        },
    }


def judged(pairs: Sequence[Pair], answers: Sequence[Opinion | Abstention], judge: Judge) -> dict[str, Any]:
    """Return how good a judge's answers to labelled pairs are, at the confidence that acts and at the best one."""
    truth, scores = [pair.conflict for pair in pairs], [conflict_score(answer) for answer in answers]
    threshold = best_threshold(truth, scores)
    return {
        "judge": judge.name,
        "judge_version": judge.version,
        "pairs": len(pairs),
        "conflicts": sum(truth),
        "abstained": sum(isinstance(answer, Abstention) for answer in answers),
        "acts_from": ACTING_CONFIDENCE,
        **asdict(quality(truth, acting(scores))),
        "accuracy": accuracy(pairs, answers),
        "threshold": threshold,
        "at_threshold": asdict(quality(truth, acting(scores, threshold))),
    }


def measured(pairs: Sequence[Pair], found: Sequence[float], embedder: Embedder) -> dict[str, Any]:
    """Return the distance that lets most of the true conflicts through, and what else it and the present one let."""
    from falsify.embedders.calibration import KEPT, calibration, keeping

    truth = [pair.conflict for pair in pairs]
    conflicts = [distance for distance, conflict in zip(found, truth, strict=True) if conflict]
    threshold = keeping(conflicts) if conflicts else embedder.threshold
    within = [distance < threshold for distance in found]
    return {
        "embedder": embedder.name,
        "pairs": len(pairs),
        "conflicts": sum(truth),
        "keeps": KEPT,
        **asdict(quality(truth, within)),
        "accuracy": sum(t == w for t, w in zip(truth, within, strict=True)) / len(pairs),
        "threshold": threshold,
        "present": embedder.threshold,
        "at_present": asdict(quality(truth, [distance < embedder.threshold for distance in found])),
        "table": calibration(embedder.name).made,
    }


def distances(embedder: Embedder, pairs: Sequence[Pair]) -> list[float]:
    """Return the cosine distance between fact and claim of each pair."""
    facts, claims = (embedder.embed(texts) for texts in ([p.fact for p in pairs], [p.claim for p in pairs]))
    return [round(float(1 - fact @ claim), 6) for fact, claim in zip(facts, claims, strict=True)]


def _world(claim: str, source_title: str, embedder: Embedder) -> "tuple[BeliefGraph, VectorTable, str]":
    """Return a graph in which one claim is believed, and its vector."""
    from projections.claims import VectorTable

    graph = _after(BeliefGraph(), ask(BeliefGraph(), "?"))
    command = AssertFact(
        question_id=graph.questions()[0].id,
        text=claim,
        source_id="source" if source_title else UNATTRIBUTED,
        source_title=source_title,
    )
    _after(graph, assert_fact(graph, command, []))
    table = VectorTable(embedder)
    table.slots.read(graph, [command.fact_id])
    table.put([command.fact_id], embedder.embed([graph.nodes[command.fact_id].text]))
    return graph, table, command.fact_id


def _after(graph: BeliefGraph, events: Sequence[BeliefEvent]) -> BeliefGraph:
    for event in events:
        evolve(graph, event)
    return graph
