"""The terms of a project as people write them: options of a command, a TOML file, and what is left to us.

An option overrules the file; the file overrules the contract that is changed, or that of the parent project; and what
none of them says is DEFAULTS.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from falsify.config_keys import Config, Key, Value, parse_key
from falsify.errors import InvalidInputError, NotFoundError
from falsify.ports import Executor
from falsify.workbench.contract import checked
from falsify.workbench.events import Contract
from surfaces.settings import BUILTIN

DEFAULTS: Final[Mapping[str, Any]] = {
    "direction": "maximize",
    "min_effect": 0.005,
    "seed": 0,
    "executor": BUILTIN,
    "budget_runs": 20,
    "budget_seconds": 3600.0,
    "run_seconds": 300.0,
    "required_evidence": (),
}
"""What a contract says where nobody said anything. The noise floor is then the minimum effect, the tolerance the
larger of the two, and the mutable keys all that the executor declares."""

DEFAULT_MODE: Final = "COPILOT"

TRAINER_METRIC: Final = "val_acc"
"""What the built-in trainer is measured by; another executor's metric has to be named."""

EXAMPLE: Final = """\
objective = "Which settings classify the spirals best?"
metric = "val_acc"
direction = "maximize"
min_effect = 0.005
noise_floor = 0.01
mutable = ["hidden_width=int:[4,64]", "learning_rate", "activation"]
seed = 7
executor = "builtin"
budget_runs = 12
budget_seconds = 600
run_seconds = 60
mode = "COPILOT"
required_evidence = ["curve"]

[set]
dataset = "spirals"
hidden_width = 8
"""

_FIELDS: Final[Mapping[str, str]] = {
    "min_effect": "minimum_effect",
    **{
        name: name
        for name in (
            *("metric", "direction", "noise_floor", "tolerance", "seed", "executor"),
            *("budget_runs", "budget_seconds", "run_seconds", "required_evidence"),
        )
    },
}
"""How what people write is called in a contract, where it is the same value."""

M = TypeVar("M", bound=BaseModel)


class Terms(BaseModel):
    """What somebody said of a project; None is what they did not say."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Annotated[str | None, Field(description="the project's id")] = None
    objective: Annotated[str | None, Field(description="the question that the project is to answer")] = None
    mode: Literal["MANUAL", "COPILOT", "AUTORESEARCH"] | None = None
    parent: Annotated[str | None, Field(description="the project that this one takes over from")] = None
    metric: str | None = None
    direction: Literal["maximize", "minimize"] | None = None
    min_effect: float | None = None
    noise_floor: float | None = None
    tolerance: float | None = None
    mutable: Annotated[list[str] | None, Field(description="keys, `name` or `name=type:range`")] = None
    set: Annotated[dict[str, int | float | str], Field(description="the baseline's configuration")] = {}
    seed: int | None = None
    executor: str | None = None
    budget_runs: int | None = None
    budget_seconds: float | None = None
    run_seconds: float | None = None
    required_evidence: list[str] | None = None

    def overruled(self, **options: Any) -> "Terms":
        """Return the terms with those options that say something; `set` is overruled key by key."""
        said = {name: value for name, value in options.items() if value is not None and value not in ((), {}, [])}
        if "set" in said:
            said["set"] = {**self.set, **said["set"]}
        return self.model_copy(update=said)


def executor_named(terms: Terms, present: Contract | None) -> str:
    """Return the name of the executor that the terms come to."""
    return terms.executor or (present.executor if present else str(DEFAULTS["executor"]))


def draw_up(terms: Terms, *, executor: Executor, root: Path, present: Contract | None = None) -> Contract:
    """Return the contract that the terms come to, checked against what its executor declares.

    `present` is the contract that they change. Paths are relative to the workspace at `root`. Raises InvalidInputError,
    or NotFoundError for a file that is not there.
    """
    kept = present if present and present.executor == executor.name else None
    values = {**_values(terms, present), "executor": executor.name}
    _fill(values)
    contract = Contract(**values, keys=_exact(_mutable(terms, executor, kept)), base=_base(terms, executor, kept, root))
    contract = checked(contract, executor.keys, executor.fixed)
    if executor.name == BUILTIN:
        _check_trainer(contract)
    return contract


def read_terms(path: Path) -> Terms:
    """Return the terms that a TOML file says. Raises InvalidInputError that names the file and the key."""
    return parse_table(Terms, read_toml(path), path.name)


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says. Raises NotFoundError, or InvalidInputError with the place of the mistake."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path.name} is no TOML: {error}", hint="see https://toml.io") from error
    except OSError as error:
        raise NotFoundError(f"{path} cannot be read: {error.strerror}", hint="is it there, and readable?") from error


def parse_table(model: type[M], table: Mapping[str, Any], where: str) -> M:
    """Return a table of a file as a model. Raises InvalidInputError for the first key that is not to be had so."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"] if part not in ("int", "float", "str"))
        if first["type"] == "extra_forbidden":
            raise _unknown(key, model, where) from error
        raise InvalidInputError(f"{where}: {key}: {first['msg']}", hint=f"change {key} in the file") from error


def assigned(words: Iterable[str], keys: Sequence[Key]) -> Config:
    """Return what the words `key=value` set; whether a key may be set so is for others to say.

    Raises InvalidInputError for what sets nothing.
    """
    texts = {key.name for key in keys if key.type in ("choice", "text")}
    config: Config = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or name in config:
            wrong = "sets a key that is set already" if name in config else "sets nothing"
            raise InvalidInputError(f"--set {word}: it {wrong}", hint="write --set key=value, once for each key")
        config[name] = text if name in texts else _number(text)
    return config


def _number(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _values(terms: Terms, present: Contract | None) -> dict[str, Any]:
    """Return the plain values of a contract: as they were said, or as they are, or as they are by default."""
    values = {}
    for said, name in _FIELDS.items():
        value = getattr(terms, said)
        if value is None:
            value = getattr(present, name) if present else DEFAULTS.get(said)
        values[name] = tuple(value) if isinstance(value, list) else value
    if present and terms.tolerance is None and present.tolerance == max(present.minimum_effect, present.noise_floor):
        values["tolerance"] = None  # it was not chosen, so it follows the two
    return values


def _fill(values: dict[str, Any]) -> None:
    """Give the values that follow from others, where nobody gave them."""
    if values["metric"] is None:
        values["metric"] = _metric(values["executor"])
    if values["noise_floor"] is None:
        values["noise_floor"] = values["minimum_effect"]
    if values["tolerance"] is None:
        values["tolerance"] = max(values["minimum_effect"], values["noise_floor"])


def _metric(executor: str) -> str:
    if executor != BUILTIN:
        raise InvalidInputError(
            f"nobody said what the executor {executor} is measured by",
            hint="name one of the metrics that it reports: --metric NAME",
        )
    return TRAINER_METRIC


def _mutable(terms: Terms, executor: Executor, present: Contract | None) -> tuple[Key, ...]:
    """Return the mutable keys: a name alone has the executor's own bounds."""
    if terms.mutable is None:
        return present.keys if present else executor.keys
    declared = {key.name: key for key in executor.keys}
    unknown = [word for word in terms.mutable if "=" not in word and word not in declared]
    if unknown:
        raise InvalidInputError(
            f"the executor {executor.name!r} declares no mutable key {unknown[0]!r}",
            hint=f"it declares {', '.join(declared) or 'none'}",
            reason="unknown_key",
        )
    return tuple(declared[word] if word in declared else parse_key(word) for word in terms.mutable)


def _exact(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Return keys whose bounds are the same bytes in the log, be they written 1 or 1.0."""
    return tuple(replace(key, minimum=float(key.minimum), maximum=float(key.maximum)) for key in keys)


def _base(terms: Terms, executor: Executor, present: Contract | None, root: Path) -> Config:
    from falsify.executors import trainer

    ours = trainer.DEFAULTS if executor.name == BUILTIN else {}
    base = {**(present.base if present else ours), **terms.set}
    path = base.get("csv_path")
    if executor.name == BUILTIN and isinstance(path, str):
        base["csv_path"] = os.path.abspath(root / path)  # noqa: PTH100 - Path.resolve would follow a link to elsewhere
    return base


def _check_trainer(contract: Contract) -> None:
    """Refuse now what the built-in trainer would refuse when the contract is frozen already."""
    from falsify.executors.trainer.configuration import configure

    configure({**contract.base, "seed": contract.seed})
    path = contract.base.get("csv_path")
    if path is not None and not Path(str(path)).is_file():
        raise NotFoundError(f"there is no file {path}", hint="csv_path is relative to the workspace")


def _unknown(key: str, model: type[BaseModel], where: str) -> InvalidInputError:
    close = get_close_matches(key.replace("-", "_"), model.model_fields, n=1, cutoff=0.5)
    known = f"the keys are {', '.join(model.model_fields)}"
    hint = f"did you mean {close[0]}? {known}" if close else known
    return InvalidInputError(f"{where}: there is no key {key!r}", hint=hint, reason="unknown_key")
