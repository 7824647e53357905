"""Runs replay tests under pytest: every `NAME.golden.yaml` is a test file, each of its checkpoints a test.

This module is imported by every pytest run in every environment that has Falsify installed, so it imports nothing
but pytest; the rest comes when a golden is collected.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from replay.scenario import Failure

INI = "falsify_goldens"
MARK = "falsify_golden"
SUFFIX = ".golden.yaml"

_LOG = re.compile(rb"^log\s*:\s*\S[^\n]*\.jsonl\b", re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting that switches collection off."""
    parser.addini(INI, f"collect *{SUFFIX} files as replay tests of Falsify logs", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that all replay tests carry."""
    config.addinivalue_line("markers", f"{MARK}: replays a recorded Falsify log (*{SUFFIX})")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "GoldenFile | None":
    """Return a golden as a collector; leave alone what other tools call golden."""
    if file_path.name.endswith(SUFFIX) and parent.config.getini(INI) and _is_ours(file_path):
        return GoldenFile.from_parent(parent, path=file_path)
    return None


class GoldenFile(pytest.File):
    """One golden: its decisions, and its checkpoints."""

    def collect(self) -> Iterator["GoldenItem"]:
        """Yield a test for the log itself, then one for each checkpoint."""
        from falsify.errors import FalsifyError
        from replay.scenario import DECISIONS, Scenario

        try:
            scenario = Scenario(self.path)
        except FalsifyError as error:
            raise self.CollectError(_told(error.message, error.hint)) from None
        yield GoldenItem.from_parent(self, name=DECISIONS, run=scenario.decisions, line=scenario.line())
        for index, name in enumerate(scenario.checkpoints):
            # Names that can be given to -k as they are.
            yield GoldenItem.from_parent(
                self,
                name=re.sub(r"[\s,]+", "-", name),
                run=lambda index=index: scenario.checkpoint(index),
                line=scenario.line(index),
            )


class GoldenItem(pytest.Item):
    """One test of a golden."""

    def __init__(self, *, run: Callable[[], "list[Failure]"], line: int, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]  # name and parent, as pytest hands them over
        self._run = run
        self._line = line
        self.add_marker(MARK)

    def runtest(self) -> None:
        """Replay, and fail with all that differs."""
        from falsify.errors import FalsifyError

        try:
            failures = self._run()
        except FalsifyError as error:
            raise GoldenFailed(_told(error.message, error.hint)) from None
        if failures:
            raise GoldenFailed("\n".join(f"{self.path.name}:{failure.line}: {failure}" for failure in failures))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # as pytest's own manual does
        """Return what differs, line by line; a traceback only for a fault of the program."""
        if isinstance(excinfo.value, GoldenFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the expectation stands."""
        return self.path, self._line - 1, f"{self.path.name}: {self.name}"


class GoldenFailed(Exception):  # noqa: N818 - a verdict, not an error of the program
    """The log does not say what was expected."""


def _is_ours(path: Path) -> bool:
    """Return whether a file names an exported log, or has one beside it."""
    beside = path.with_name(path.name.removesuffix(SUFFIX) + ".log.jsonl")
    return beside.is_file() or _LOG.search(path.read_bytes()) is not None


def _told(message: str, hint: str) -> str:
    return f"{message}\n{hint}" if hint else message
