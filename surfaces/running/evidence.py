"""What a run leaves for good: its metrics, curve, log and environment, how its configuration differs, and its files."""

import json
import mimetypes
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from falsify.artifacts import ArtifactStore, Found, Stored, collect
from falsify.config_keys import Value
from falsify.errors import InvalidInputError, UnavailableError
from falsify.executors.command import PRESET
from falsify.executors.local import LocalExecutor
from falsify.executors.run_folder import RunFolder
from falsify.log import canonical
from falsify.ports import Executor, Metrics
from falsify.workbench.contract import contract_of
from falsify.workbench.events import EvidenceKind, Exhibit
from falsify.workbench.project import Node, Project
from surfaces.running.ending import measured

MOST_FILES: Final = 100
MOST_BYTES: Final = 200 * 1024 * 1024
"""How many files of a run become evidence, and how many bytes they have together."""

ENVIRONMENT: Final = "environment.json"
"""The file in which a run says itself where it took place."""

JSON: Final = "application/json"

_LONGEST_LOG: Final = 1024 * 1024
"""Bytes of a log that are read: an executor keeps fewer, but the file lies where the run can write."""

_TYPES = mimetypes.MimeTypes(filenames=())  # not what this machine has in /etc: the log is to be the same everywhere
_TYPES.add_type("application/x-ndjson", ".jsonl")
_TYPES.add_type("application/toml", ".toml")
_TYPES.add_type("application/yaml", ".yaml")


@dataclass(frozen=True, slots=True)
class Kept:
    """A piece of evidence that is stored, and has no id yet."""

    kind: EvidenceKind
    name: str
    media_type: str
    stored: Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What there is of a run that has ended: its node and folder, what it reported, and what ran it, if known."""

    project: Project
    node: Node
    folder: RunFolder
    lines: Sequence[Metrics]
    executor: Executor | None


def of_success(store: ArtifactStore, remains: Remains) -> list[Kept]:
    """Store all that a run left. Raises UnavailableError if the store cannot keep it."""
    found, left_out = collect(remains.folder.out, max_files=MOST_FILES, max_bytes=MOST_BYTES)
    files = list(_files(store, remains, found, left_out))
    contract = contract_of(remains.project)
    metrics = {"metrics": measured(remains.lines), "primary": contract.metric}
    return [
        _json(store, "metric", "metrics.json", metrics),
        *_curve(store, remains),
        _json(store, "diff", "diff.json", differences(remains.project, remains.node)),
        _log(store, remains, left_out),
        *_environment(store, remains, files),
        *(file for file in files if file.kind == "artifact"),
    ]


def of_failure(store: ArtifactStore, remains: Remains) -> list[Kept]:
    """Store what tells why a run failed: log, curve and environment. Raises UnavailableError."""
    found, _ = collect(remains.folder.out, max_files=MOST_FILES, max_bytes=MOST_BYTES)
    stated = list(_files(store, remains, [file for file in found if file.name == ENVIRONMENT], []))
    return [*_curve(store, remains), _log(store, remains, []), *_environment(store, remains, stated)]


def exhibits(project: Project, kept: Sequence[Kept]) -> tuple[Exhibit, ...]:
    """Return the evidence with the ids that follow the project's last."""
    return tuple(
        Exhibit(
            evidence_id=f"EV-{number}",
            kind=each.kind,
            name=each.name,
            media_type=each.media_type,
            sha256=each.stored.sha256,
            size=each.stored.size,
        )
        for number, each in enumerate(kept, len(project.evidence) + 1)
    )


def differences(project: Project, node: Node) -> dict[str, Any]:
    """Return how a node's configuration differs from its parent's, JSON-ready; the baseline differs from nothing."""
    parent = project.nodes.get(node.parent_id)
    return {
        "node": node.id,
        "parent": node.parent_id or None,
        "changed": _changed({**parent.config, "seed": parent.seed}, {**node.config, "seed": node.seed})
        if parent
        else {},
        "config": {**node.config, "seed": node.seed},
    }


def read_log(path: Path) -> str:
    """Return what a run printed; empty where there is no log that can be read. Follows no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor is no path
            return file.read(_LONGEST_LOG).decode(errors="replace")
    except OSError:
        return ""


def _changed(before: Mapping[str, Value], after: Mapping[str, Value]) -> dict[str, Any]:
    return {
        name: {"from": before.get(name), "to": after.get(name)}
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    }


def _curve(store: ArtifactStore, remains: Remains) -> Iterator[Kept]:
    if remains.lines:
        lines = {"primary": contract_of(remains.project).metric, "lines": [dict(line) for line in remains.lines]}
        yield _json(store, "curve", "curve.json", lines)


def _log(store: ArtifactStore, remains: Remains, left_out: Sequence[str]) -> Kept:
    printed = read_log(remains.folder.log)
    more = [f"falsify: not kept: {each}" for each in left_out]
    if more and printed and not printed.endswith("\n"):
        printed += "\n"
    text = printed + "".join(f"{line}\n" for line in more)
    return Kept("run_log", "log.txt", "text/plain; charset=utf-8", store.put(text.encode()))


def _environment(store: ArtifactStore, remains: Remains, files: Sequence[Kept]) -> Iterator[Kept]:
    """Yield what the run says of where it took place, or else what can be said for it."""
    stated = [file for file in files if file.kind == "environment"]
    yield from stated or [_json(store, "environment", ENVIRONMENT, environment(remains.executor, remains.node.seed))]


def environment(executor: Executor | None, seed: int) -> dict[str, Any]:
    """Return where a run took place, as far as it is seen from outside."""
    told: dict[str, Any] = {
        "seed": seed,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "executor": executor.name if executor else "",
    }
    if isinstance(executor, LocalExecutor):
        seen = executor.command.environment(os.environ, {})
        told |= {"argv": list(executor.command.argv), "threads": {n: seen[n] for n in PRESET if n.endswith("THREADS")}}
    return told


def _files(store: ArtifactStore, remains: Remains, found: Sequence[Found], left_out: list[str]) -> Iterator[Kept]:
    """Store the files that a run left; note those that cannot be had any more."""
    for file in found:
        kind: EvidenceKind = "environment" if file.name == ENVIRONMENT and _is_json(file.path) else "artifact"
        try:
            stored = store.put_file(file.path, within=remains.folder.out)
        except InvalidInputError as error:  # something that it started goes on, and put a link there
            left_out.append(f"{file.name}: {error.message}")
            continue
        except UnavailableError:
            if os.access(file.path, os.R_OK):  # then it is the store that fails
                raise
            left_out.append(f"{file.name}: it cannot be read")
            continue
        yield Kept(kind, file.name, media_type(file.name), stored)


def _is_json(path: Path) -> bool:
    try:
        return isinstance(json.loads(read_log(path)), dict)
    except (ValueError, RecursionError):
        return False


def media_type(name: str) -> str:
    """Return the media type of a file by its name."""
    guessed, encoding = _TYPES.guess_type(name)
    return guessed if guessed and not encoding else "application/octet-stream"


def _json(store: ArtifactStore, kind: EvidenceKind, name: str, value: object) -> Kept:
    return Kept(kind, name, JSON, store.put(canonical(value)))
