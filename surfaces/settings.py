"""Settings: `falsify.toml` at the root of a workspace, overruled by FALSIFY_* variables; commands that run experiments.

The table of settings is the model itself; docs/settings.md is checked against it.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from falsify.belief.slots import Arity
from falsify.brain.scope import Sensitivity
from falsify.config_keys import Key, parse_key
from falsify.errors import InvalidInputError
from falsify.executors.command import Command, Limits
from falsify.identity import PROJECT_ID
from falsify.workbench.events import Mode

FILE = "falsify.toml"
BUILTIN = "builtin"
TABLES = ("executor",)
"""The fields that are tables of the file: no variable overrules them."""

JudgeKind = Literal["auto", "offline", "llm", "pinned", "panel"]
Member = Literal["offline", "llm", "pinned"]
ExtractorKind = Literal["sentences", "llm"]
EmbedderKind = Literal["bundled", "fastembed", "openai"]
ConsultationKind = Literal["auto", "extractive", "llm"]

ExecutorName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class ExecutorTable(BaseModel):
    """A command that runs an experiment: `[executor.NAME]` in falsify.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    argv: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="the command line, never a shell's; `{python}`, `{config}`, `{out}`, `{metrics}` and `{seed}` "
            "are filled in, `{{` and `}}` are braces",
        ),
    ]
    cwd: Annotated[str, Field(min_length=1, description="where it runs: a path relative to the workspace")] = "."
    timeout_s: Annotated[
        float, Field(gt=0, le=604_800, description="seconds that a run may take before it is asked to end")
    ] = 600.0
    memory_mb: Annotated[
        int,
        Field(
            ge=0,
            description="megabytes of address space of each of its processes; 0 is no limit: a program that maps the "
            "memory of a GPU needs that",
        ),
    ] = 4096
    cpu_s: Annotated[
        int,
        Field(ge=0, description="seconds on a core of each of its processes; 0 is what `timeout_s` has on all cores"),
    ] = 0
    file_mb: Annotated[int, Field(ge=0, description="megabytes of the largest file it may write; 0 is no limit")] = 1024
    env: Annotated[
        tuple[str, ...],
        Field(
            description="variables of the environment that it sees beside the few that every program needs; no others "
            "are passed on"
        ),
    ] = ()
    keys: Annotated[
        dict[str, str],
        Field(
            description="the config keys that experiments may change, and what each may be: "
            '`width = "int:[1,512]"`, `rate = "float:(0,10]"`, `activation = "choice:tanh,relu"`'
        ),
    ] = Field(default_factory=dict)
    fixed: Annotated[
        dict[str, str],
        Field(description="likewise, those that a contract sets for good; beside all of them there is always `seed`"),
    ] = Field(default_factory=dict)

    @field_validator("argv", "env")
    @classmethod
    def _runnable(cls, words: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        line, env = (words, ()) if info.field_name == "argv" else (("true",), words)
        with _explained():
            Command(name="", argv=line, cwd=Path(), env=env)
        return words

    @field_validator("keys", "fixed")
    @classmethod
    def _readable(cls, keys: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for taken in {"seed": "", **info.data.get("keys", {})}:
            if taken in keys:
                raise ValueError(f"there is a key {taken} already")
        with _explained():
            _parsed(keys)
        return keys

    def command(self, name: str, root: Path) -> Command:
        """Return the command that this describes in the workspace at `root`."""
        limits = Limits(
            timeout_seconds=self.timeout_s, memory_mb=self.memory_mb, cpu_seconds=self.cpu_s, file_mb=self.file_mb
        )
        return Command(
            name=name,
            argv=self.argv,
            cwd=root / self.cwd,
            env=self.env,
            keys=_parsed(self.keys),
            fixed=_parsed(self.fixed),
            limits=limits,
        )


def _parsed(keys: Mapping[str, str]) -> tuple[Key, ...]:
    return tuple(parse_key(f"{name}={described}") for name, described in keys.items())


@contextmanager
def _explained() -> Iterator[None]:
    """Say what our own rules refuse in the way in which pydantic expects it of a validator."""
    try:
        yield
    except InvalidInputError as error:
        raise ValueError(f"{error.message}; {error.hint}") from error


class Settings(BaseModel):
    """What can be set. Each field but TABLES is read from falsify.toml, and from FALSIFY_<FIELD> before that."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    actor: Annotated[
        str, Field(pattern=r"^(owner|person:[a-z0-9-]+|agent:[A-Za-z0-9_.-]+)$", description="who records")
    ] = "owner"
    project: Annotated[str, Field(pattern=f"^{PROJECT_ID}$", description="which project's stream")] = "main"
    agent_mode: Annotated[
        Mode,
        Field(
            description="how much agents may do by themselves to beliefs that belong to no research project; a project "
            "has a mode of its own"
        ),
    ] = "COPILOT"
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
    consultation: Annotated[
        ConsultationKind,
        Field(
            description="who answers the brain's questions: the best sentences of its pages (`extractive`), or the "
            "`llm` that LLM_* names, from extracts; `auto` takes the LLM where LLM_API_KEY is set, not under DEMO_MODE"
        ),
    ] = "auto"
    consultation_timeout: Annotated[
        float, Field(gt=0, le=600, description="seconds the LLM may take for an answer; then it is an extractive one")
    ] = 60.0
    consultation_sensitivity: Annotated[
        Sensitivity,
        Field(description="the most sensitive pages that the LLM is shown; with it, others take no part in answers"),
    ] = "internal"
    guidance: Annotated[
        bool,
        Field(description="whether the brain gives guidance for a `task`; false refuses it as `guidance_disabled`"),
    ] = True
    max_answer_tokens: Annotated[
        int, Field(ge=200, le=4_000, description="about how long an answer of the brain is")
    ] = 600
    questions_per_day: Annotated[
        int, Field(ge=0, description="questions to the brain that each person may ask in a day (UTC); 0 is no limit")
    ] = 0
    consultations_per_month: Annotated[
        int,
        Field(ge=0, description="the budget: questions that may go to the LLM in a calendar month; 0 is no limit"),
    ] = 10_000
    consultations_per_day: Annotated[
        int, Field(ge=0, description="the hard limit: questions that may go to the LLM in a day; 0 is no limit")
    ] = 1_000
    approval_url: Annotated[
        str,
        Field(
            description="where people answer requests: an http or https URL with `{id}` behind its host; a client that "
            "can is asked to open it"
        ),
    ] = ""
    log: Annotated[str, Field(description="where the log is kept: a path below the workspace")] = ".falsify/log.sqlite"
    executor: Annotated[
        dict[ExecutorName, ExecutorTable], Field(description="commands that run experiments, by their names")
    ] = Field(default_factory=dict)

    @field_validator("panel", "functional", "many_valued", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [word.strip() for word in value.split(",")] if isinstance(value, str) else value

    @field_validator("approval_url")
    @classmethod
    def _openable(cls, url: str) -> str:
        with _explained():
            return approval_page(url)

    @property
    def arity(self) -> Arity:
        """What is said of how many values relations have."""
        return Arity.of(functional=self.functional, many_valued=self.many_valued)

    @field_validator("executor")
    @classmethod
    def _of_the_user(cls, tables: dict[str, ExecutorTable]) -> dict[str, ExecutorTable]:
        if BUILTIN in tables:
            raise ValueError(f"{BUILTIN} is the executor that comes with Falsify: give yours another name")
        return tables

    @field_validator("panel")
    @classmethod
    def _different(cls, members: tuple[Member, ...]) -> tuple[Member, ...]:
        if len(set(members)) < len(members):
            raise ValueError("a judge cannot agree with itself: name each member once")
        return members


def approval_page(url: str) -> str:
    """Return the URL under which people answer requests, "" for none. Raises InvalidInputError for what is neither.

    Clients open it for whoever sits before them: it is the web's alone, and what is seen of it is all of it.
    """
    if not url:
        return url
    try:
        parts = urlsplit(url.replace("{id}", "A-1"))
        web = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # such as half an address in brackets, or a port that is no number
        web = False
    shown = url.isprintable() and not any(each.isspace() for each in url)
    behind_host = "{id}" in url.partition("://")[2].partition("/")[2]
    if not (web and shown and behind_host):
        raise InvalidInputError(
            f"{ascii(url)[:200]} is no page for a request",
            hint="write a URL of http or https with {id} in its path, and no blanks: https://HOST/approvals/{id}",
        )
    return url


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
    for name in (each for each in Settings.model_fields if each not in TABLES):
        variable = f"FALSIFY_{name.upper()}"
        if environ.get(variable):
            values[name] = environ[variable]
            named[name] = variable
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        words = [part for part in first["loc"] if isinstance(part, str) and part != "[key]"]
        name, *below = words or [FILE]
        raise InvalidInputError(
            f"{'.'.join([named.get(name, name), *below])}: {first['msg'].removeprefix('Value error, ')}",
            hint="see docs/settings.md for the settings there are",
        ) from error
