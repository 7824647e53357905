"""Settings: `falsify.toml` at the root of a workspace, overruled by FALSIFY_* variables.

The table of settings is the model itself; docs/settings.md is checked against it.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from falsify.errors import InvalidInputError

FILE = "falsify.toml"

JudgeKind = Literal["auto", "offline", "llm", "pinned"]


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
            "is set, else the bundled offline judge"
        ),
    ] = "auto"
    judge_timeout: Annotated[float, Field(gt=0, le=600, description="seconds the LLM judge may take for a verdict")] = (
        20.0
    )
    log: Annotated[str, Field(description="where the log is kept: a path below the workspace")] = ".falsify/log.sqlite"


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
