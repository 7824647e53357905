"""The golden file of a replay test: which log, and what it must say at which points. Read with places, written as text.

docs/replay-tests.md describes every key; a test holds it against these models.
"""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from falsify import located_yaml
from falsify.belief.events import TruthState
from falsify.belief.ingest import Moment, Share, Text
from falsify.located_yaml import Located
from replay.cutoff import Cutoff

SUFFIX = ".golden.yaml"
LOG_SUFFIX = ".log.jsonl"

State = TruthState | Literal["absent"]
Name = Annotated[str, Field(min_length=1)]
"""A handle, or an id where a handle is not enough."""
Question = Annotated[str, Field(min_length=1)]
"""The text, handle or id of a question."""
Count = Annotated[int, Field(ge=0)]


class Part(BaseModel):
    """A part of a golden file: no key that it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RecallExpectation(Part):
    """What recall must answer to one query."""

    query: Annotated[Text, Field(description="what is asked")]
    top: Annotated[
        tuple[Name, ...],
        Field(strict=False, description="the nodes that must be cited first, in this order; more may follow"),
    ] = ()
    never: Annotated[
        tuple[Name, ...],
        Field(strict=False, description="nodes that must be neither cited nor given as the frontier"),
    ] = ()
    conflicts: Annotated[
        tuple[Name, ...] | None,
        Field(strict=False, description="the open conflicts that must be reported: these and no others, in any order"),
    ] = None
    limit: Annotated[int, Field(ge=1, le=1000, description="how many nodes recall may find")] = 5


class Checkpoint(Part):
    """What the log must say at one point. Leave out `epoch`, `position` and `as_of` for its end."""

    epoch: Annotated[Count | None, Field(description="at the end of this epoch")] = None
    position: Annotated[Count | None, Field(description="at this position of the log")] = None
    as_of: Annotated[Moment, Field(description="at the end of this date: what was known then")] = ""
    valid_at: Annotated[Moment, Field(description="only claims asserted by this date: what was true then")] = ""
    digest: Annotated[
        str,
        Field(
            pattern=r"^(v\d+-[0-9a-f]{64})?$", description="the digest of the whole state (`falsify replay --digest`)"
        ),
    ] = ""
    snapshot: Annotated[
        str,
        Field(
            description="a file beside this one with what `falsify replay --json` said there; when the digest differs, "
            "the differences from it are listed"
        ),
    ] = ""
    labels: Annotated[
        dict[Name, State],
        Field(description="node to truth-state, or `absent`; nodes that are not listed are not checked"),
    ] = {}
    frontier: Annotated[
        dict[Question, Name | None], Field(description="question to its best living hypothesis, `null` for none")
    ] = {}
    standings: Annotated[dict[Name, float], Field(description="hypothesis to standing, to nine decimals")] = {}
    confidence: Annotated[dict[Name, Share], Field(description="conclusion to confidence, to nine decimals")] = {}
    recall: Annotated[
        tuple[RecallExpectation, ...], Field(strict=False, description="queries, and what must come of them")
    ] = ()

    @model_validator(mode="after")
    def _names_one_point(self) -> "Checkpoint":
        given = [name for name in ("epoch", "position", "as_of") if getattr(self, name) not in {None, ""}]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} each name a point in the log: give one of them")
        return self

    @property
    def cutoff(self) -> Cutoff:
        """Where in the log the checkpoint is."""
        return Cutoff(epoch=self.epoch, position=self.position, as_of=self.as_of or None)

    @property
    def name(self) -> str:
        """What the checkpoint is called in reports."""
        return f"{self.cutoff}, valid at {self.valid_at}" if self.valid_at else str(self.cutoff)


class Golden(Part):
    """A whole golden file."""

    log: Annotated[
        str, Field(pattern=r"^[^\x00]+\.jsonl$", description="the exported log, a path from the folder of this file")
    ]
    stream: Annotated[str, Field(min_length=1, description="which of the log's streams")] = "project:main"
    embedder: Annotated[
        str, Field(description="the embedder that recall was recorded with; with another one recall is not comparable")
    ] = ""
    checkpoints: Annotated[
        tuple[Checkpoint, ...], Field(strict=False, min_length=1, description="what the log must say, point by point")
    ]

    @field_validator("checkpoints")
    @classmethod
    def _each_point_once(cls, checkpoints: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
        names = Counter(checkpoint.name for checkpoint in checkpoints)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice:
            raise ValueError(f"{twice} has two checkpoints: make them one")
        return checkpoints


def read(path: Path) -> Located[Golden]:
    """Return the golden file at `path`. Raises InvalidInputError that names line and column of the first fault."""
    begins = "it starts with `log: NAME.log.jsonl`; see docs/replay-tests.md"
    return located_yaml.read(path, Golden, what="golden file", begins=begins)


def write(golden: Golden, *, notes: dict[str, str]) -> str:
    """Return the golden file as text, the same for the same values; `notes` are remarks on names."""
    return "".join(f"{line}\n" for line in _document(golden, notes))


# --- as text -----------------------------------------------------------------------------------------------

_HEAD = (
    "# What the log beside this file must replay to. Written by `falsify record-golden`; edit it as you like.",
    "# Every key is described in docs/replay-tests.md.",
)
_NOTE = 90
"""How much of a text a remark quotes."""


def _document(golden: Golden, notes: dict[str, str]) -> Iterator[str]:
    yield from _HEAD
    for key in ("log", "stream", "embedder"):
        if getattr(golden, key):
            yield f"{key}: {_scalar(getattr(golden, key))}"
    yield "checkpoints:"
    for checkpoint in golden.checkpoints:
        for number, line in enumerate(list(_checkpoint(checkpoint, notes)) or ["{}"]):
            yield ("  - " if number == 0 else "    ") + line


def _checkpoint(checkpoint: Checkpoint, notes: dict[str, str]) -> Iterator[str]:
    for key in ("epoch", "position", "as_of", "valid_at", "digest", "snapshot"):
        value = getattr(checkpoint, key)
        if value not in {None, ""}:
            yield f"{key}: {_scalar(value)}"
    for key in ("labels", "frontier", "standings", "confidence"):
        values = getattr(checkpoint, key)
        if values:
            yield f"{key}:"
            yield from (
                f"  {_scalar(name)}: {_scalar(value)}{_note(notes, name) or _note(notes, value)}"
                for name, value in values.items()
            )
    if checkpoint.recall:
        yield "recall:"
    for expectation in checkpoint.recall:
        yield f"  - query: {_scalar(expectation.query)}"
        for key in ("top", "never", "conflicts"):
            names = getattr(expectation, key)
            if names or (key == "conflicts" and names is not None):
                yield f"    {key}:{'' if names else ' []'}"
                yield from (f"      - {_scalar(name)}{_note(notes, name)}" for name in names)
        if expectation.limit != RecallExpectation.model_fields["limit"].default:
            yield f"    limit: {expectation.limit}"


def _scalar(value: Any) -> str:
    """Return a text, number or null on one line, quoted where YAML would read it as something else."""
    if isinstance(value, str) and not value.isprintable():
        return yaml.safe_dump(value, default_style='"', allow_unicode=True, width=math.inf).removesuffix("\n")
    return yaml.safe_dump(value, allow_unicode=True, width=math.inf).removesuffix("\n").removesuffix("\n...")


def _note(notes: dict[str, str], name: Any) -> str:
    text = notes.get(name, "")
    words = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return f"  # {words if len(words) <= _NOTE else words[:_NOTE].rstrip() + '…'}" if words else ""
