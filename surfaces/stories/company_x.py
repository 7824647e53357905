"""The Company X story: what each of its three sessions does, and what it says about it.

Every session is a process of its own. What the second knows of the first, and the third of both, is what the log and
the stores on disk say.
"""

from collections.abc import Iterator
from importlib import resources
from typing import Any

import click

from falsify.belief.graph import BeliefGraph, Conclusion, Hypothesis
from falsify.belief.revision import AssertFact
from replay.cutoff import Cutoff
from surfaces.belief_file import Document
from surfaces.scoreboard import scoreboard
from surfaces.text import graph_table, obituary
from surfaces.workspace import Workspace

FACT = "Forensic audit: the March QA report was back-dated."
TARGET = "E_qa"
QUERY = "When did Company X know about the defect?"
SESSIONS = (1, 2, 3)


def story() -> Document:
    """Return the belief file of the story, as it ships with the package."""
    name = "company-x.yaml"
    return Document(name, resources.files("surfaces.stories").joinpath(name).read_text(encoding="utf-8"))


def play(workspace: Workspace, session: int, *, with_mirror: bool = True) -> Iterator[str]:
    """Play one session in this process, yielding what there is to say."""
    yield from {1: _build, 2: _revise, 3: _restart}[session](workspace, with_mirror)


def _build(workspace: Workspace, with_mirror: bool) -> Iterator[str]:  # noqa: FBT001 - one of three alike
    document = story()
    workspace.ingest(document)
    graph = workspace.graph
    yield _title(f'Session 1: built belief graph for "{document.beliefs.question}"')
    hypotheses = [n for n in graph.nodes.values() if isinstance(n, Hypothesis)]
    yield "    Hypotheses: " + "; ".join(f"{h.handle} ({h.text})" for h in hypotheses)
    for node in graph.nodes.values():
        if isinstance(node, Conclusion):
            on = ", ".join(graph.nodes[d.on_id].handle for d in graph.depends.of(node.id))
            yield f'    Conclusion {node.handle} ("{node.text}") depends_on {on}'
    if with_mirror:
        workspace.sync_mirror()
        yield _aside("    mirrored into Cognee: graph (Ladybug) and vectors (LanceDB)")


def _revise(workspace: Workspace, with_mirror: bool) -> Iterator[str]:  # noqa: FBT001 - as above
    yield _title(f'Session 2: new fact -> "{FACT}"')
    fact = AssertFact(
        question_id=workspace.question().id, text=FACT, source_id="forensic-audit", source_title="Forensic audit"
    )
    told = workspace.fact(fact).as_json()
    if with_mirror:
        workspace.sync_mirror()
    for verdict in told["verdicts"]:
        if verdict["acts"]:
            sure = f"judge={verdict['relation']} conf={verdict['confidence']:.2f}"
            yield f"    contradiction: {verdict['claim']['handle']} ({sure}, by {verdict['judge']})"
        elif verdict["relation"] is None:
            yield f"    unadjudicated: {verdict['claim']['handle']} ({verdict['reason']})"
    yield from _consequences(told, with_mirror=with_mirror)


def _consequences(told: dict[str, Any], *, with_mirror: bool) -> Iterator[str]:
    def those(*changes: str) -> list[str]:
        return [c["handle"] or c["id"] for c in told["changes"] if c["change"] in changes]

    if invalidated := those("conclusion_invalidated", "evidence_invalidated"):
        yield f"    forward cascade: {', '.join(invalidated)} invalidated"
    superseded = those("hypothesis_superseded")
    for moved in told["frontier"]:
        best = moved["hypothesis"]
        lost = f"{', '.join(superseded)} superseded -> " if superseded else ""
        yield f"    {lost}{best['handle'] if best else 'nobody'} ignites (new frontier)"
    if forgotten := those("node_forgotten"):
        stores = "Cognee's graph and vectors" if with_mirror else "the claims index"
        orphans = "orphan" if len(forgotten) == 1 else "orphans"
        yield f"    forgot {len(forgotten)} {orphans} ({', '.join(forgotten)}) from {stores}; the log keeps the story"
    if not told["changes"]:
        yield "    nothing fell: the judge found no contradiction"


def _restart(workspace: Workspace, with_mirror: bool) -> Iterator[str]:  # noqa: FBT001 - as above
    yield _title("Session 3: restarted; what does recall say now?")
    yield from board(workspace, with_mirror=with_mirror)
    yield _title("Replay of epoch 0: before the audit")
    yield from (f"    {line}" for line in graph_table(_state(workspace.view(Cutoff(epoch=0)).graph)))
    yield _title("why K")
    yield from (f"    {line}" for line in obituary(workspace.why("K").as_json()))


def board(workspace: Workspace, *, with_mirror: bool) -> Iterator[str]:
    """Yield the scoreboard: Falsify's recall and plain RAG, asked the same question of the same vectors."""
    told = scoreboard(workspace, QUERY, limit=2, in_cognee=with_mirror)
    yield click.style("[SCOREBOARD]", bold=True) + f" {QUERY}"
    best = [f["text"] for f in told["falsify"]["frontier"]]
    cited = [c["text"] for c in told["falsify"]["citations"] if c["kind"] == "evidence"]
    yield click.style(f"    FALSIFY recall : {'; '.join(best)} [revised]", fg="green")
    yield from (f"                     cites: {text}" for text in cited)
    stale = [c for c in told["plain_rag"]["citations"] if c["stale"]]
    for citation in told["plain_rag"]["citations"]:
        mark = click.style(" [STALE]", fg="red", bold=True) if citation in stale else ""
        yield f"    Plain RAG      : {citation['text']}{mark}"
    if with_mirror:
        yield from _cognee(told["cognee"], [c["text"] for c in stale])


def _cognee(told: dict[str, Any], stale: list[str]) -> Iterator[str]:
    for name, answers, color in (
        ("with truth-states", told["recall"], "green"),
        ("plain RAG", told["plain_rag"], "red"),
    ):
        context = "\n".join(answer["text"] for answer in answers)
        says = "cites" if any(text in context for text in stale) else "does not cite"
        yield click.style(f"    Cognee {name:<18}: its context {says} the back-dated report", fg=color)


def _state(graph: BeliefGraph) -> dict[str, Any]:
    from projections.beliefs import snapshot

    return snapshot(graph)


def _title(text: str) -> str:
    return click.style("[FALSIFY] ", fg="cyan", bold=True) + click.style(text, bold=True)


def _aside(text: str) -> str:
    return click.style(text, dim=True)
