"""Writes a replay test of a live log: the log itself, and all that it says at the end of each epoch."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from falsify.belief.graph import NANO, BeliefGraph, Conclusion, Hypothesis, Question
from falsify.errors import CheckFailedError, InvalidInputError, NotFoundError, RefusedError, UnavailableError
from falsify.events import Recorded
from falsify.log import EventLog, open_log
from falsify.ports import Embedder
from falsify.transfer import export_log, import_log
from projections.beliefs import BELIEFS, digest
from replay.asking import Asker
from replay.golden import LOG_SUFFIX, SUFFIX, Checkpoint, Golden, RecallExpectation, write
from replay.naming import Names
from replay.verify import redecide

LIMIT = 5
"""How many nodes recall may find, unless told otherwise."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def record(
    log: EventLog,
    stream: str,
    *,
    name: str,
    folder: Path,
    queries: Sequence[str] = (),
    embedder: Embedder | None = None,
    limit: int = LIMIT,
    force: bool = False,
) -> tuple[Path, Path]:
    """Write `NAME.log.jsonl` and `NAME.golden.yaml` into a folder and return their paths.

    The golden has a checkpoint for each epoch of the stream, with the recall of each query. The same log gives the
    same bytes. Raises RefusedError if one of the files exists, unless told to `force`, and CheckFailedError for a log
    that the rules of today would not have written.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"{name!r} cannot be the name of a golden", hint="use letters, digits, dots, dashes and underscores"
        )
    log_path, golden_path = folder / f"{name}{LOG_SUFFIX}", folder / f"{name}{SUFFIX}"
    for path in (log_path, golden_path):
        if path.exists() and not force:
            raise RefusedError(f"{path} exists", hint="choose another name, or overwrite it with --force")
    lines = list(export_log(log))  # what is recorded meanwhile is in neither file
    text = _golden_text(lines, stream, log_path.name, _Queries(tuple(queries), limit, embedder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(log_path, b"".join(lines))
        _replace(golden_path, text.encode())
    except OSError as error:
        raise UnavailableError(
            f"{folder} cannot be written to: {error.strerror}", hint="choose a folder that you can write to"
        ) from error
    return log_path, golden_path


@dataclass(frozen=True, slots=True)
class _Queries:
    """What recall is asked at every epoch, and with which embedder (none: the bundled one)."""

    texts: tuple[str, ...]
    limit: int
    embedder: Embedder | None


def _golden_text(lines: list[bytes], stream: str, log_name: str, queries: _Queries) -> str:
    log = open_log("memory:")
    import_log(log, lines)
    if stream not in log.streams():
        known = ", ".join(log.streams()) or "none"
        raise NotFoundError(f"the log has no stream {stream!r}", hint=f"its streams: {known}")
    whole, divergence = redecide(log.read(stream=stream))
    if divergence is not None:
        raise CheckFailedError(
            f"position {divergence.position}, epoch {divergence.epoch}: {divergence.message}",
            hint="a golden records what is right: see `falsify verify`",
        )
    names, asker = Names(whole), Asker(whole, queries.embedder)
    golden = Golden(
        log=log_name,
        stream=stream,
        embedder=asker.embedder.name if queries.texts else "",
        checkpoints=tuple(_checkpoints(log.read(stream=stream), names, asker, queries)),
    )
    return write(golden, notes={node.id: node.text for node in whole.nodes.values()})


def _checkpoints(records: Iterator[Recorded], names: Names, asker: Asker, queries: _Queries) -> Iterator[Checkpoint]:
    """Yield a checkpoint for each epoch; for epoch 0 too where the log begins with a revision."""
    graph, begun = BeliefGraph(), False
    for epoch, of_epoch in groupby(records, key=lambda r: r.epoch):
        if epoch and not begun:
            yield Checkpoint(epoch=0, digest=digest(graph))
        begun = True
        graph = BELIEFS.fold(of_epoch, graph)
        nodes = sorted(graph.nodes.values(), key=lambda n: n.order)
        yield Checkpoint(
            epoch=epoch,
            digest=digest(graph),
            labels={names.of(n): n.state for n in nodes if not isinstance(n, Question)},
            frontier={names.question(q): names.of(q.frontier) if q.frontier else None for q in graph.questions()},
            standings={names.of(n): n.standing / NANO for n in nodes if isinstance(n, Hypothesis)},
            confidence={names.of(n): round(graph.confidence(n), 9) for n in nodes if isinstance(n, Conclusion)},
            recall=tuple(_expected(graph, names, asker, text, queries.limit) for text in queries.texts),
        )


def _expected(graph: BeliefGraph, names: Names, asker: Asker, query: str, limit: int) -> RecallExpectation:
    """Return what recall says now, and that what a search without truth-states would cite is never cited."""
    answer = asker.recall(graph, query, limit=limit)
    dead = [n for n in asker.nearest(graph, query, limit=limit) if graph.nodes[n].state not in {"alive", "contested"}]
    return RecallExpectation(
        query=query,
        top=tuple(names.of(hit["id"]) for hit in answer.hits),
        never=tuple(names.of(n) for n in dead),
        conflicts=tuple(names.of(hit["id"]) for hit in answer.conflicts),
        limit=limit,
    )


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
