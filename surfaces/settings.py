"""Settings: `falsify.toml` at the root of a workspace, overruled by FALSIFY_* variables.

The table of settings is the model itself; docs/settings.md is checked against it.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from falsify.belief.slots import Arity
from falsify.errors import InvalidInputError

FILE = "falsify.toml"

JudgeKind = Literal["auto", "offline", "llm", "pinned", "panel"]
Member = Literal["offline", "llm", "pinned"]
ExtractorKind = Literal["sentences", "llm"]
EmbedderKind = Literal["bundled", "fastembed", "openai"]


class Settings(BaseModel):
    """What can be set. Each field is read from falsify.toml, and from FALSIFY_<FIELD> before that."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    actor: Annotated[
        str, Field(pattern=r"^(owner|person:[a-z0-9-]+|agent:[A-Za-z0-9_.-]+)$", description="who records")
    ] = "owner"
    project: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="which project's stream")] = "main"
    judge: Annotated[
        JudgeKind,
        Field(
            description="who gives verdicts: `auto` takes the pinned judge under DEMO_MODE, the LLM where LLM_API_KEY "
            "is set, else the bundled offline judge; `panel` takes several, who act where they agree"
        ),
    ] = "auto"
    panel: Annotated[
        tuple[Member, ...],
        Field(min_length=2, description="who sits on the panel; in the variable, names with commas between them"),
    ] = ("offline", "llm")
    judge_timeout: Annotated[float, Field(gt=0, le=600, description="seconds the LLM judge may take for a verdict")] = (
        20.0
    )
    embedder: Annotated[
        EmbedderKind,
        Field(
            description="who turns texts into vectors: the `bundled` model, one of the package `fastembed` (fetched "
            "once), or an `openai`-compatible endpoint (EMBEDDING_*); another one rebuilds claims index and mirror"
        ),
    ] = "bundled"
    embedder_model: Annotated[
        str,
        Field(
            description="which model of it; if empty, `sentence-transformers/all-MiniLM-L6-v2` or EMBEDDING_MODEL; the "
            "bundled one is what it is"
        ),
    ] = ""
    embedder_threshold: Annotated[
        float,
        Field(
            ge=0,
            le=2,
            description="cosine distance up to which a claim is a candidate; 0 takes the number calibrated for the "
            "embedder, see `falsify calibrate`",
        ),
    ] = 0.0
    functional: Annotated[
        tuple[str, ...],
        Field(
            description="relations that have one value at a time whatever the wording, as in `works at`: a new value "
            "replaces the old; in the variable, with commas between them"
        ),
    ] = ()
    many_valued: Annotated[
        tuple[str, ...],
        Field(description="relations that have many values whatever the wording, as in `official language`; likewise"),
    ] = ()
    extractor: Annotated[
        ExtractorKind,
        Field(
            description="who finds the claims in prose: the rule that takes `sentences`, or the `llm` that LLM_* names"
        ),
    ] = "sentences"
    log: Annotated[str, Field(description="where the log is kept: a path below the workspace")] = ".falsify/log.sqlite"

    @field_validator("panel", "functional", "many_valued", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [word.strip() for word in value.split(",")] if isinstance(value, str) else value

    @property
    def arity(self) -> Arity:
        """What is said of how many values relations have."""
        return Arity.of(functional=self.functional, many_valued=self.many_valued)

    @field_validator("panel")
    @classmethod
    def _different(cls, members: tuple[Member, ...]) -> tuple[Member, ...]:
        if len(set(members)) < len(members):
            raise ValueError("a judge cannot agree with itself: name each member once")
        return members


def load(root: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of the workspace at `root`.

    Raises InvalidInputError that names the file or the variable for anything it cannot take.
    """
    values: dict[str, Any] = {}
    file = root / FILE
    if file.exists():
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"{file} cannot be read: {error}", hint="see docs/settings.md") from error
    named = {name: f"{FILE}: {name}" for name in values}
    for name in Settings.model_fields:
        variable = f"FALSIFY_{name.upper()}"
        if environ.get(variable):
            values[name] = environ[variable]
            named[name] = variable
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else FILE
        raise InvalidInputError(
            f"{named.get(name, name)}: {first['msg']}", hint="see docs/settings.md for the settings there are"
        ) from error
