"""The reading tools about what a run left behind: the run itself, and the evidence of its node."""

from collections.abc import Iterable
from typing import Any, Final

from falsify.workbench.contract import contract_of
from falsify.workbench.project import Project, Run, StoredEvidence
from falsify.workbench.runs import run_of
from falsify.workbench.verdicts import node_of, reference_of
from projections.comparisons import opposition
from projections.exhibits import exhibit_row, exhibits, run_log
from projections.reproductions import contradictions
from projections.runs import Line, curves, last_values, run_row
from projections.soundness import refuted
from surfaces.envelope import Envelope, NextAction
from surfaces.running.ending import told_apart
from surfaces.running.folders import folder_of
from surfaces.tools import previews, suggestions
from surfaces.tools.cursor import Cursor, seal
from surfaces.tools.fence import Fence
from surfaces.tools.reading import answer, left_off, named_metrics, plain, sent
from surfaces.tools.workbench_inputs import GetRun, ListEvidence
from surfaces.workbench import Sight, Workbench

PAGE: Final = 20
LOG_PREVIEW: Final = 2048
EVIDENCE_PREVIEW: Final = 1024
"""Bytes, as all previews are measured."""


# --- a run ----------------------------------------------------------------------------------------------------


def get_run(workbench: Workbench, given: GetRun, caller: str, fence: Fence) -> Envelope:
    """Answer how a run goes or went, with what it measured and the end of its log."""
    sight = workbench.sight(caller)
    run = run_of(sight.project, given.run_id)
    row = plain(fence, run_row(run, now=sight.now), "reason")
    if run.status == "FAILED":
        row |= _failure(run, fence)
    if run.status == "CANCELLED":
        row["cancel_reason"] = fence.inline(run.note)
    if sent(given.include_metrics, True):
        row |= _measured(workbench, sight.project, run, fence)
    warnings = _doubts(sight, run)
    if sent(given.include_log_preview, False):
        limit = sent(given.log_preview_bytes, LOG_PREVIEW)
        row["log_preview"], wrong = _log(workbench, sight.project, run, fence, limit)
        warnings += wrong
    return answer(sight, row, fence, warnings=warnings, next_actions=tuple(_after_run(sight, run)))


def _doubts(sight: Sight, run: Run) -> tuple[str, ...]:
    """Return what speaks against a measurement: that it is refuted, or contradicts what it was to reproduce."""
    project, node = sight.project, sight.project.nodes[run.node_id]
    if node.frozen_by != run.id:
        return ()
    told = (refuted(node),) if node.id in sight.unsound else ()
    against = contradictions(project, node)
    if not against:
        return told
    return (*told, *against, opposition(project, node, reference_of(project, node, unsound=sight.unsound)))


def _failure(run: Run, fence: Fence) -> dict[str, Any]:
    """Return why a run failed, in the words of Falsify, and the words of the run that these quote."""
    why, said = told_apart(run.note)
    quoted = fence.wrap(said, limit=LOG_PREVIEW, origin=f"run {run.id}") if said else None
    if not why:
        return {"failure_reason": quoted, "failure_output": None}
    return {"failure_reason": fence.inline(why, limit=LOG_PREVIEW), "failure_output": quoted}


def _measured(workbench: Workbench, project: Project, run: Run, fence: Fence) -> dict[str, Any]:
    """Return the last values of a run's metrics, and their curves as it reported them."""
    contract, lines = contract_of(project), _lines(workbench, run)
    drawn = curves(lines, primary=contract.metric, direction=contract.direction)
    return {
        "metrics": named_metrics(fence, run.metrics or last_values(lines)),
        "curves": {fence.inline(name, limit=120): curve for name, curve in drawn.items()},
        "reported_lines": len(lines),
    }


def _lines(workbench: Workbench, run: Run) -> list[Line]:
    """Return what a run reported: its own stream holds nothing but reports."""
    records = workbench.log.read(stream=f"run:{workbench.project_id}:{run.id}", through=workbench.through)
    return [line for recorded in records for line in getattr(recorded.event, "lines", ())]


def _log(
    workbench: Workbench, project: Project, run: Run, fence: Fence, limit: int
) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Return the end of a run's log: of its file while it goes on, of its evidence afterwards; and what is wrong."""
    if run.active and workbench.through is not None:
        return None, (f"what {run.id} had printed by then was not kept",)
    if run.active:
        place = folder_of(workbench.workspace.folder, workbench.project_id, run.id)
        end = previews.tail_of(place.log, limit)
        return (_end(fence, end), ()) if end else (None, (f"{run.id} has printed nothing yet",))
    stored = run_log(project, run.id)
    if stored is None:
        return None, (f"{run.id} left no log behind",)
    store = workbench.workspace.artifacts
    wrong = previews.damage(store, stored)
    if wrong:
        return None, (_damaged(stored, wrong),)
    return _end(fence, previews.tail(store, stored, limit)), ()


def _end(fence: Fence, end: previews.Tail) -> dict[str, Any]:
    return {"text": fence.wrap(end.text, origin="run log"), "bytes_left_out_before": end.left_out}


def _after_run(sight: Sight, run: Run) -> Iterable[NextAction]:
    project, node = sight.project, sight.project.nodes[run.node_id]
    if run.active:
        yield suggestions.poll(project, run)
    elif run.status == "SUCCEEDED" and not node.decision_id and node.id != project.baseline:
        yield suggestions.compare_node(project, node)
    elif run.status == "FAILED":
        yield suggestions.evidence(project, node, run_id=run.id)


# --- evidence -------------------------------------------------------------------------------------------------


def list_evidence(workbench: Workbench, given: ListEvidence, caller: str, fence: Fence) -> Envelope:
    """Answer a page of a node's evidence; a file that is not what was stored is named, and never served."""
    sight = workbench.sight(caller)
    project, node, run_id = sight.project, node_of(sight.project, given.node_id), sent(given.run_id, "")
    kinds: frozenset[Any] = frozenset(sent(given.kind, ()))
    bound = {
        "tool": "falsify.evidence.list",
        "project_id": project.id,
        "node_id": node.id,
        "run_id": run_id,
        "kind": sorted(kinds),
    }
    at = left_off(given.cursor, bound, project, length=1)
    found = exhibits(project, node, run_id=run_id, kinds=kinds, revision=at.revision)
    last = at.key[0] if at.key else 0
    ahead, limit = [entry for entry in found if entry[0] > last], sent(given.limit, PAGE)
    size = sent(given.preview_bytes, EVIDENCE_PREVIEW) if sent(given.include_preview, False) else None
    rows = [_exhibit(workbench, stored, fence, size) for _, stored in ahead[:limit]]
    told = {"evidence": rows, "total": len(found), "as_of_revision": at.revision}
    if len(ahead) > limit:
        told["nextCursor"] = seal(Cursor(at.revision, (ahead[limit - 1][0],)), bound=bound)
    damaged = [
        _damaged(stored, row["damage"]) for (_, stored), row in zip(ahead, rows, strict=False) if not row["intact"]
    ]
    return answer(sight, told, fence, warnings=tuple(damaged))


def _exhibit(workbench: Workbench, stored: StoredEvidence, fence: Fence, size: int | None) -> dict[str, Any]:
    """Return a piece of evidence, with a preview of at most `size` bytes unless that is None."""
    store = workbench.workspace.artifacts
    wrong = previews.damage(store, stored)
    row = plain(fence, exhibit_row(stored), "name", "media_type")
    row |= {"intact": not wrong, "damage": wrong or None}
    if size is None:
        return row
    if wrong:
        return {**row, "preview": None, "preview_note": "the file is not what was stored"}
    if not previews.textual(stored.exhibit.media_type):
        return {**row, "preview": None, "preview_note": "the file is binary"}
    preview = fence.wrap(previews.head(store, stored, size), limit=size, origin=f"{stored.exhibit.kind} {stored.id}")
    cut = stored.exhibit.size > size
    return {**row, "preview": preview, "preview_note": f"the first {size} bytes" if cut else "the whole file"}


def _damaged(stored: StoredEvidence, wrong: str) -> str:
    return f"{stored.id} ({stored.exhibit.kind} of {stored.node_id}) is not served: {wrong}"
