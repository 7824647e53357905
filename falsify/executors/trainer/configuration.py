"""The configuration of one run: read from a file of JSON, and checked."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falsify.config_keys import admit_all
from falsify.errors import InvalidInputError
from falsify.executors.trainer import DEFAULTS, FIXED, KEYS, SEED, TEXTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Every setting of a run, in its type and within its bounds."""

    hidden_width: int
    activation: str
    optimizer: str
    learning_rate: float
    l2: float
    batch_size: int
    schedule: str
    warmup_fraction: float
    dataset: str
    points: int
    noise: float
    validation_fraction: float
    epochs: int
    hidden_layers: int
    seed: int
    csv_path: str = ""
    csv_label: str = ""


def read_configuration(path: Path) -> Configuration:
    """Return the configuration in a file; raises InvalidInputError."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"the configuration {path} cannot be read: {error}") from error
    if not isinstance(given, dict):
        raise InvalidInputError(f"the configuration {path} is no JSON object")
    return configure(given)


def configure(given: Mapping[str, object]) -> Configuration:
    """Return the configuration, with the defaults for what is not given; raises InvalidInputError naming the key."""
    tables = (*KEYS, *FIXED, SEED)
    unknown = sorted(given.keys() - {key.name for key in tables} - set(TEXTS))
    if unknown:
        names = [*(key.name for key in tables), *TEXTS]
        raise InvalidInputError(
            f"there is no config key {unknown[0]!r}", hint=f"the keys are {', '.join(names)}", reason="unknown_key"
        )
    if SEED.name not in given:
        raise InvalidInputError("seed is missing", hint=f"it must be {SEED.bounds}")
    numbers = {name: value for name, value in given.items() if name not in TEXTS}
    values: dict[str, Any] = admit_all(tables, {**DEFAULTS, **numbers})
    values.update(_texts(given, needed=values["dataset"] == "csv"))
    return Configuration(**values)


def _texts(given: Mapping[str, object], *, needed: bool) -> dict[str, str]:
    """Return where the CSV file is and which column has its labels: both or neither."""
    found = {name: given.get(name, "") for name in TEXTS}
    for name, value in found.items():
        if not isinstance(value, str) or bool(value) != needed:
            must = "a text that is not empty for the dataset csv" if needed else "left out unless the dataset is csv"
            raise InvalidInputError(f"{name} is {value!r}", hint=f"it must be {must}")
    return {name: str(value) for name, value in found.items()}
