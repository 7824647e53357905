"""The folder of a run: what it was given, what it measured, printed and left behind."""

import json
from dataclasses import dataclass
from pathlib import Path

from falsify.errors import UnavailableError
from falsify.executors.command import CONFIG, METRICS, RUN_DIR, RUN_ID
from falsify.ports import RunOrder


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where in its folder a run finds and leaves what."""

    path: Path

    @classmethod
    def at(cls, folder: str | Path) -> "RunFolder":
        """Return the folder under the one name that a run and whoever looks for it later both know it by."""
        return cls(Path(folder).resolve())

    @property
    def config(self) -> Path:
        """The whole configuration, one JSON object."""
        return self.path / "config.json"

    @property
    def metrics(self) -> Path:
        """What the run measured, an object of numbers a line."""
        return self.path / "metrics.jsonl"

    @property
    def log(self) -> Path:
        """What it printed: the first half and the tail, if it was much."""
        return self.path / "log.txt"

    @property
    def process(self) -> Path:
        """Which process it is."""
        return self.path / "process.json"

    @property
    def out(self) -> Path:
        """What it leaves in here are its artifacts."""
        return self.path / "out"

    def prepare(self, order: RunOrder) -> None:
        """Make the folder ready for the run. Raises UnavailableError if it cannot be, or was before."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.out.mkdir()
            self.metrics.touch()
            self.config.write_text(json.dumps(dict(order.config), indent=1), encoding="utf-8")
        except FileExistsError as error:
            raise UnavailableError(
                f"{self.path} holds a run already", hint="each run has a folder of its own"
            ) from error
        except OSError as error:
            raise UnavailableError(
                f"the folder of run {order.run_id} cannot be made: {error}", hint="make room, or let it be written to"
            ) from error

    def environment(self, run_id: str) -> dict[str, str]:
        """Return what tells a process which run it is."""
        return {
            RUN_ID: run_id,
            CONFIG: str(self.config),
            RUN_DIR: str(self.out),
            METRICS: str(self.metrics),
        }
