"""Replay tests: a golden log, and what it must say at each point. Any way in which it does not is told precisely.

A golden is two committed files, `NAME.log.jsonl` (an exported log) and `NAME.golden.yaml` (replay/golden.py). Every
command of the log is decided again, so that the first thing the rules would do otherwise today is named by its event.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from falsify.belief.graph import BeliefGraph
from falsify.errors import DamagedError, FalsifyError, InvalidInputError, NotFoundError, UnavailableError
from falsify.located_yaml import Steps
from falsify.log import EventLog, open_log
from falsify.ports import Embedder
from falsify.transfer import import_log
from projections.beliefs import BELIEFS, DIGEST_FORMAT, digest, snapshot
from replay import golden
from replay.asking import Asker
from replay.cutoff import resolve
from replay.diff import compare, lines
from replay.expectations import Examiner
from replay.naming import Names
from replay.recording import record
from replay.replayer import replay, view
from replay.verify import INCOHERENT, mislabelled, redecide

__all__ = ["DECISIONS", "Failure", "Report", "Scenario", "check", "record", "text"]

DECISIONS = "decisions"
"""The check of the log itself: its hash chain, its decisions and its labels."""

_MOST = 20
"""How many lines of one kind are told."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that is not as expected; `line` is where the golden file expects it."""

    where: str
    message: str
    line: int

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a replay test came to."""

    golden: str
    checkpoints: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def ok(self) -> bool:
        """Whether everything is as expected."""
        return not self.failures

    def as_json(self) -> dict[str, Any]:
        """Return the report JSON-ready."""
        return {
            "golden": self.golden,
            "ok": self.ok,
            "checkpoints": len(self.checkpoints),
            "failures": [str(failure) for failure in self.failures],
        }


def check(golden_path: Path, *, embedder: Embedder | None = None) -> Report:
    """Run a replay test. Without an `embedder` the bundled one is loaded, if recall is expected anywhere.

    Raises InvalidInputError, with line and column, for a golden file that cannot be read. A log that was altered or
    cannot be folded is one failure, and no checkpoint of it is looked at.
    """
    scenario = Scenario(golden_path, embedder=embedder)
    failures = scenario.decisions()
    if scenario.can_be_folded():
        for index in range(len(scenario.checkpoints)):
            failures += scenario.checkpoint(index)
    return Report(str(golden_path), tuple(scenario.checkpoints), tuple(failures))


def text(report: Report) -> str:
    """Return the report for people, a line for each failure."""
    head = f"{'ok' if report.ok else 'FAILED'} {report.golden} ({len(report.checkpoints)} checkpoints)"
    return "\n".join([head, *(f"{report.golden}:{failure.line}: {failure}" for failure in report.failures)])


class Scenario:
    """An opened replay test, whose parts can be run one by one. The log is read when the first of them needs it."""

    def __init__(self, path: Path, *, embedder: Embedder | None = None) -> None:
        self.path = path
        self._document = golden.read(path)
        self._golden = self._document.value
        self._embedder = embedder
        self._digests: dict[int, str] = {}
        self.checkpoints = [checkpoint.name for checkpoint in self._golden.checkpoints]

    def line(self, index: int | None = None) -> int:
        """Return the line on which a checkpoint begins, or the log is named."""
        return self._document.place(("log",) if index is None else ("checkpoints", index)).line

    def can_be_folded(self) -> bool:
        """Return whether the log is one, holds the stream, and makes a graph."""
        try:
            self._whole  # noqa: B018 - asked for, and kept
        except (FalsifyError, *INCOHERENT):
            return False
        return True

    def decisions(self) -> list[Failure]:
        """Check the hash chain, decide every command again, and compute every label from scratch."""
        try:
            _, divergence = redecide(self._log.read(stream=self._golden.stream))
        except FalsifyError as error:
            return [self._failure(DECISIONS, ("log",), error.message)]
        told: list[str] = []
        if divergence is not None:
            told = [f"position {divergence.position}, epoch {divergence.epoch}: {divergence.message}"]
        with suppress(*INCOHERENT, FalsifyError):  # of a log that makes no graph the divergence says enough
            told += _some(mislabelled(self._whole))
        return [self._failure(DECISIONS, ("log",), line) for line in told]

    def checkpoint(self, index: int) -> list[Failure]:
        """Check what the log says at one point. Raises UnavailableError if the embedder cannot be loaded."""
        here, name = ("checkpoints", index), self.checkpoints[index]
        try:
            return [self._failure(name, (*here, *steps), told) for steps, told in self._differences(index)]
        except UnavailableError:  # says nothing of the log
            raise
        except FalsifyError as error:
            return [self._failure(name, here, error.message)]
        except INCOHERENT as error:
            return [self._failure(name, here, f"the log cannot be folded ({error!r}): see {DECISIONS!r}")]

    def _differences(self, index: int) -> Iterable[tuple[Steps, str]]:
        point, graph = self._golden.checkpoints[index], self._graph(index)
        made_in = point.digest.partition("-")[0]
        if made_in not in {"", DIGEST_FORMAT}:
            told = f"the digest is of format {made_in}, and this Falsify makes {DIGEST_FORMAT}: record it again"
            yield ("digest",), told
        elif point.digest and (found := digest(graph)) != point.digest:
            yield ("digest",), f"the digest is {found}, expected {point.digest}; {self._first_other_digest(index)}"
            if point.snapshot:
                changes = _some(_since_snapshot(self.path.parent / point.snapshot, graph))
                yield from ((("snapshot",), f"since {point.snapshot}: {line}") for line in changes)
        yield from self._examiner.differences(point, graph)

    def _first_other_digest(self, index: int) -> str:
        """Return at which point of the log the digests begin to differ."""
        points = self._golden.checkpoints
        given = [i for i, p in enumerate(points) if p.digest and bool(p.valid_at) == bool(points[index].valid_at)]
        order = sorted(given, key=lambda i: (resolve(self._log, self._golden.stream, points[i].cutoff), i))
        first = next(i for i in order if self._digest(i) != points[i].digest)
        return "those before it agree" if first == index else f"{self.checkpoints[first]} is the first to differ"

    def _digest(self, index: int) -> str:
        if index not in self._digests:
            self._digests[index] = digest(self._graph(index))
        return self._digests[index]

    def _failure(self, where: str, steps: Steps, message: str) -> Failure:
        return Failure(where, message, self._document.place(steps).line)

    # --- the log and its graphs ---------------------------------------------------------------------------

    @cached_property
    def _log(self) -> EventLog:
        """The log in memory, every record hashed again."""
        file = self.path.parent / self._golden.log
        log = open_log("memory:")
        try:
            with file.open("rb") as exported:
                import_log(log, exported)
        except FileNotFoundError:
            raise NotFoundError(f"there is no log {file}") from None
        except OSError as error:
            raise InvalidInputError(f"the log {file} cannot be read: {error.strerror}") from error
        except DamagedError as error:
            told = "; ".join(part for part in (error.message, error.hint) if part)
            raise DamagedError(f"{self._golden.log}, {told}") from error
        if self._golden.stream not in log.streams():
            known = ", ".join(log.streams()) or "none"
            raise NotFoundError(f"{self._golden.log} has no stream {self._golden.stream!r}; its streams: {known}")
        return log

    @cached_property
    def _whole(self) -> BeliefGraph:
        return replay(self._log, self._golden.stream, BELIEFS)

    @cached_property
    def _examiner(self) -> Examiner:
        return Examiner(Names(self._whole), Asker(self._whole, self._embedder), self._golden.embedder)

    def _graph(self, index: int) -> BeliefGraph:
        point = self._golden.checkpoints[index]
        return view(self._log, self._golden.stream, point.cutoff, valid=point.valid_at).graph


def _since_snapshot(file: Path, graph: BeliefGraph) -> Iterable[str]:
    """Return how a graph differs from what `falsify replay --json` said, kept in a file."""
    try:
        recorded = orjson.loads(file.read_bytes())["state"]
        difference = compare(recorded, snapshot(graph))
    except OSError as error:
        raise NotFoundError(f"the snapshot {file} cannot be read: {error.strerror}") from error
    except INCOHERENT as error:
        raise InvalidInputError(f"{file} is not a snapshot ({error!r}); `falsify replay --json` writes one") from error
    return lines(difference)


def _some(of: Iterable[str]) -> list[str]:
    """Return the first of the lines, and how many more there are."""
    told = list(of)
    return told if len(told) <= _MOST else [*told[:_MOST], f"and {len(told) - _MOST} more"]
