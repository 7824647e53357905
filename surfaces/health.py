"""Where things stand and whether they are right: status, doctor, verify."""

import importlib.metadata
import platform
import sqlite3
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from falsify.belief.text import written
from falsify.errors import FalsifyError, UnavailableError
from falsify.version import __version__
from projections.claims import checkpoint_on_disk
from replay.verify import mislabelled, misplaced, redecide
from surfaces.workspace import SEARCH, Workspace

PACKAGES = (
    "click",
    "cognee",
    "eventsourcing",
    "ladybug",
    "lancedb",
    "numpy",
    "onnxruntime",
    "orjson",
    "pydantic",
    "tokenizers",
)
OLDEST, NEWEST = (3, 11), (3, 13)


def status(workspace: Workspace) -> dict[str, Any]:
    """Return where log and projections stand; Cognee is not imported for it."""
    head = workspace.log.head()
    graph = workspace.graph
    indexed, mirrored, _ = (position for _, position in _checkpoints(workspace))
    states: dict[str, int] = {}
    for node in graph.nodes.values():
        states[node.state] = states.get(node.state, 0) + 1
    return {
        "version": __version__,
        "workspace": str(workspace.root),
        "stream": workspace.stream,
        "log": {
            "position": head.position,
            "revision": workspace.log.revision(workspace.stream),
            "epoch": graph.epoch,
            "recorded_at": written(head.recorded_at) if head.position else None,
            "anchor": f"{head.position}:{head.hash.hex()}",
        },
        "nodes": {"total": len(graph.nodes), **dict(sorted(states.items()))},
        "index": {"position": indexed, "behind": head.position - (indexed or 0)},
        "mirror": {"position": mirrored, "behind": head.position - (mirrored or 0)},
        "judge": workspace.settings.judge,
        "actor": workspace.settings.actor,
    }


def verify(workspace: Workspace, *, with_mirror: bool, anchor: tuple[int, bytes] | None) -> list[dict[str, Any]]:
    """Return what was checked, in order, each with its faults: a list of lines, empty where all is well."""
    chain = workspace.log.verify(anchor)
    parts = [_part("hash chain", [] if chain.ok else [str(chain)])]
    if not chain.ok:
        return parts  # what an altered log says about beliefs says nothing
    graph, divergence = redecide(workspace.records())
    told = [f"position {divergence.position} (epoch {divergence.epoch}): {divergence.message}"] if divergence else []
    parts.append(_part("decisions", told))
    parts.append(_part("labels", mislabelled(graph) if divergence is None else []))
    if workspace.project.exists:
        parts.append(_part("research", misplaced(workspace.records())))
        parts.append(_part("artifacts", _damaged(workspace)))
    head = workspace.log.head().position
    ahead = [
        f"the {name} has read up to position {position}, and the log ends at {head}"
        for name, position in _checkpoints(workspace)
        if position is not None and position > head
    ]
    parts.append(_part("checkpoints", ahead))
    parts.append(_part("claims index", workspace.index.differences(workspace.graph)))
    if with_mirror:
        workspace.sync_mirror()
        parts.append(_part("mirror", workspace.mirror.compare(workspace.graph)))
    return parts


def _damaged(workspace: Workspace) -> Iterable[str]:
    """Yield a line for each file of evidence that is missing or is not what was stored."""
    for stored in workspace.project.evidence.values():
        exhibit = stored.exhibit
        if fault := workspace.artifacts.check(exhibit.sha256, exhibit.size):
            yield f"{stored.id} ({exhibit.kind} {exhibit.name} of {stored.node_id}): {fault}"


def examine(folder: Path | None) -> list[dict[str, Any]]:
    """Return what `doctor` looked at: for each thing whether it is well, and what was found."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("python", _python),
        ("packages", _packages),
        ("sqlite", lambda: sqlite3.sqlite_version),
        ("bundled models", _models),
        ("judge", _judge),
        ("workspace", lambda: _workspace(folder)),
    ]
    return [_finding(name, check) for name, check in checks]


def _finding(name: str, check: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"check": name, "ok": True, "found": check(), "hint": ""}
    except FalsifyError as error:
        return {"check": name, "ok": False, "found": error.message, "hint": error.hint}


def _python() -> str:
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise UnavailableError(f"Python {platform.python_version()}", hint="use Python 3.11, 3.12 or 3.13")
    return f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"


def _packages() -> str:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise UnavailableError(f"not installed: {', '.join(missing)}", hint="install falsify-log anew with pip")
    return ", ".join(found)


def _models() -> str:
    from falsify import models

    models.verify()
    return "hashes as shipped"


def _judge() -> str:
    import os

    if os.environ.get("DEMO_MODE", "") not in {"", "0", "false"}:
        return "pinned, because DEMO_MODE is set"
    if os.environ.get("LLM_API_KEY"):
        return f"an LLM, because LLM_API_KEY is set ({os.environ.get('LLM_MODEL', 'its default model')})"
    return (
        "the bundled offline judge: English, finds about two thirds of contradictions; set LLM_API_KEY for a better one"
    )


def _workspace(folder: Path | None) -> str:
    with Workspace.open(folder) as workspace:
        head = workspace.log.head()
        return f"{workspace.root}, {head.position} records"


def _part(name: str, faults: Iterable[str]) -> dict[str, Any]:
    return {"check": name, "faults": list(faults)}


def _checkpoints(workspace: Workspace) -> list[tuple[str, int | None]]:
    """Return how far the projections on disk have read, without bringing them up to date; None for one not built."""
    return [
        ("claims index", checkpoint_on_disk(workspace.own_folder / "claims.sqlite")),
        ("mirror", workspace.mirror.checkpoint() or None),
        ("search index", checkpoint_on_disk(workspace.folder / SEARCH)),
    ]
