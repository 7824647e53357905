"""Writes the pages of docs/ that are folds over the code: commands, events, settings.

python -m docs.generate            write them
python -m docs.generate --check    name the pages that are not what the code says, and end with 1
"""

import ast
import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, get_args

import click

import cli
import falsify
from falsify import errors, events
from falsify.errors import FalsifyError
from falsify.events import Event
from surfaces.envelope import STATUSES
from surfaces.mcp.rows import rows
from surfaces.settings import FILE, TABLES, ExecutorTable, Settings

FOLDER = Path(__file__).parent

WIDE: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100}

WRITTEN = "<!-- Written by `make docs` from the code; a test compares the two. Do not edit. -->"

VARIABLES = {
    "FALSIFY_WORKSPACE": "the workspace, where no `--workspace` names one; else it is the nearest folder upwards "
    "that is one",
    "LLM_API_KEY": 'the key of a language model; where it is set, `judge = "auto"` lets the model judge, and '
    '`consultation = "auto"` lets it answer from the brain',
    "LLM_PROVIDER": "who serves the model, as Cognee spells it: `openai`, `anthropic`, `ollama`, ...",
    "LLM_MODEL": "which model, as Cognee spells it",
    "LLM_ENDPOINT": "where the model is served, for a server of your own",
    "LLM_API_VERSION": "the version of that server's interface, where it wants one",
    "EMBEDDING_PROVIDER": 'under `embedder = "openai"`: `openai`, or `openai_compatible` for a server of your own',
    "EMBEDDING_ENDPOINT": "where that server is, for example `http://localhost:11434/v1`; OpenAI's, if not set",
    "EMBEDDING_MODEL": "which model of it; `text-embedding-3-small`, if not set",
    "EMBEDDING_API_KEY": "its key; LLM_API_KEY, if not set",
    "EMBEDDING_DIMENSIONS": "how many numbers a vector of that model has; known for OpenAI's own models",
    "FASTEMBED_CACHE_PATH": 'where the models of `embedder = "fastembed"` are kept; `~/.cache/fastembed`, if not set',
    "HF_HUB_OFFLINE": "`1` keeps fastembed from fetching a model that is not there",
    "DEMO_MODE": '`1` takes the pinned judge under `judge = "auto"`: its verdict is fixed, and no model is asked',
    "REFUTED_ID": "the node that the pinned judge says the next fact contradicts",
    "NO_COLOR": "set to anything, no colours; `TERM=dumb` does the same, and `--color always` overrules both",
}
"""What is read from the environment besides the settings."""

GIVEN = {
    "FALSIFY_RUN_ID": "which run it is",
    "FALSIFY_CONFIG": "a JSON file with the whole configuration, `seed` included; `{config}` in the command line",
    "FALSIFY_RUN_DIR": "a folder: every file that is left in it becomes an artifact of the run; `{out}`",
    "FALSIFY_METRICS": 'a file to append to, one JSON object of numbers a line: `{"epoch": 3, "val_acc": 0.91}`; '
    "`{metrics}`",
}
"""What a command that runs an experiment is given."""


def main(arguments: list[str]) -> int:
    """Write every page, or check that none has to be written."""
    stale = {name: text for name, text in pages().items() if not _says(FOLDER / name, text)}
    if "--check" in arguments:
        for name in stale:
            sys.stderr.write(f"docs/{name} is not what the code says; `make docs` writes it\n")
        return 1 if stale else 0
    for name, text in stale.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote docs/{name}\n")
    return 0


def pages() -> dict[str, str]:
    """Return the text of every generated page, by its name in docs/."""
    made = {"cli.md": _cli(), "events.md": _events(), "settings.md": _settings(), "tools.md": _tools()}
    return {name: "\n".join(lines).rstrip() + "\n" for name, lines in made.items()}


# --- commands ----------------------------------------------------------------------------------------------


def commands() -> Iterator[click.Context]:
    """Yield a context for `falsify` and for every command and subcommand, in the order of the help."""
    yield from _below(cli.cli, "falsify", None)


def _below(command: click.Command, name: str, parent: click.Context | None) -> Iterator[click.Context]:
    # Click keeps the help option that it made first: a command that was called by itself before has another.
    command._help_option = None  # noqa: SLF001 - there is no other way to let it make the option anew
    context = click.Context(command, parent=parent, info_name=name, **{**command.context_settings, **WIDE})
    yield context
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is None:
                raise LookupError(f"{name} lists {below}, which it does not have")
            yield from _below(found, below, context)


ASKED = STATUSES["approval_required"]


def exit_codes() -> list[tuple[int, str, str]]:
    """Return every exit code with the status of `--json` and when it is: 0 first, then the tree of refusals."""
    refusals = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, FalsifyError)]
    return sorted(
        [
            (0, "", "Done."),
            *((each.exit_code, each.status, _summary(each)) for each in refusals if each is not FalsifyError),
            (ASKED.exit_code, "approval_required", f"{ASKED.meaning[:1].upper()}{ASKED.meaning[1:]}."),
            (cli.BUG, "error", "The program is wrong: what it says then is a report for its authors."),
            (cli.INTERRUPTED, "", "Interrupted from the keyboard; nothing is half-written."),
        ],
        key=lambda row: row[0],
    )


def _cli() -> Iterator[str]:
    yield "# The command line"
    yield ""
    yield WRITTEN
    yield ""
    yield from _wrapped(
        "Data goes to stdout and notes go to stderr. Under `--json` a command prints one JSON document, refusals "
        "included; documents that come with an idempotency key are repeated byte for byte."
    )
    yield ""
    yield "## Exit codes"
    yield ""
    yield from _table(
        ("code", "`status`", "when"),
        ((str(code), f"`{status}`" if status else "", when) for code, status, when in exit_codes()),
    )
    for context in commands():
        yield ""
        yield f"## `{context.command_path}`"
        yield ""
        yield "```text"
        yield context.get_help()
        yield "```"


# --- events ------------------------------------------------------------------------------------------------


def catalogue() -> dict[str, type[Event]]:
    """Return every kind of event the program itself records, in the order in which they are defined."""
    for module in pkgutil.walk_packages(falsify.__path__, "falsify."):
        if module.name.endswith(".events"):
            importlib.import_module(module.name)
    ours = {kind: each for kind, each in events.REGISTRY.items() if each.__module__.startswith("falsify.")}
    order = list(events.MODULES)
    return dict(sorted(ours.items(), key=lambda entry: order.index(entry[0].partition(".")[0])))


def _events() -> Iterator[str]:
    found = catalogue()
    yield "# The events"
    yield ""
    yield WRITTEN
    yield ""
    yield from _wrapped(
        "Everything Falsify knows is a list of these. A record in the log names its event by kind and version "
        "(`belief.question_asked/1`) and holds its fields as JSON; position, stream, revision, epoch, time, actor, "
        "command and hash stand beside it. A kind is never renamed and a version never changes its fields: a new "
        "shape is a new version, and the old ones are brought up to it when they are read."
    )
    for context, group in groupby(found, key=lambda kind: kind.partition(".")[0]):
        yield ""
        yield f"## {context}"
        for kind in group:
            yield ""
            yield from _event(found[kind])
    yield ""
    yield "## Types"
    yield ""
    yield from _table(("name", "what it is"), sorted(_types(found.values()).items()))


def _event(each: type[Event]) -> Iterator[str]:
    opens = ", opens an epoch" if each.opens_epoch else ""
    yield f"### `{each.kind}`"
    yield ""
    yield f"`{each.__name__}`, version {each.version}{opens}."
    yield ""
    yield inspect.getdoc(each) or ""
    yield ""
    yield from _table(
        ("field", "type"), ((f"`{name}`", f"`{ast.unparse(kind)}`") for name, kind in _fields(each).items())
    )


def _fields(each: type) -> dict[str, ast.expr]:
    """Return the fields and their types as the source spells them, which no Python version changes."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
    if not isinstance(definition, ast.ClassDef):
        raise TypeError(f"{each} is not defined by a class statement")
    return {
        line.target.id: line.annotation
        for line in definition.body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
    }


def _types(found: Iterable[type[Event]]) -> dict[str, str]:
    """Return what every type is that a field of an event has, or a field of a value that an event holds."""
    told: dict[str, str] = {}
    waiting: list[type] = list(found)
    while waiting:
        each = waiting.pop()
        for annotation in _fields(each).values():
            for part in ast.walk(annotation):
                name = part.id if isinstance(part, ast.Name) else ""
                value = vars(sys.modules[each.__module__]).get(name)
                if value is None or f"`{name}`" in told or _is_plain(value):
                    continue
                told[f"`{name}`"] = _type(name, value)
                if is_dataclass(value) and isinstance(value, type):
                    waiting.append(value)
    return told


def _is_plain(value: Any) -> bool:
    """Return whether everybody knows the type: Mapping, Any; not an alias of literals."""
    return not get_args(value) and getattr(value, "__module__", "") in {"collections.abc", "builtins", "typing"}


def _type(name: str, value: Any) -> str:
    if is_dataclass(value) and isinstance(value, type):
        fields = ", ".join(f"`{field}: {ast.unparse(kind)}`" for field, kind in _fields(value).items())
        return f"{_summary(value)} {fields}"
    choices = [f"`{getattr(choice, '__name__', choice)}`" for choice in get_args(value)]
    return f"one of {', '.join(choices)}" if choices else _described(name)


def _described(name: str) -> str:
    """Return the string that stands below the assignment to `name` in falsify/events.py."""
    lines = ast.parse(inspect.getsource(events)).body
    for line, below in pairwise(lines):
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == name:
            return str(ast.literal_eval(below.value)) if isinstance(below, ast.Expr) else ""
    raise LookupError(f"{name} is not described in falsify/events.py")


# --- tools --------------------------------------------------------------------------------------------------


def _tools() -> Iterator[str]:
    listed = [row.tool.published() for row in rows().values()]
    yield "# The tools"
    yield ""
    yield WRITTEN
    yield ""
    yield from _wrapped(
        f"The {len(listed)} tools that agents are served, in the order of their listing; `falsify tools NAME` prints "
        "one with its whole schema. How they are reached, and as whom, is in [agents.md](agents.md)."
    )
    for tool in listed:
        yield ""
        yield f"## `{tool['name']}`"
        yield ""
        hints = [words for hint, words in _HINTS if tool["annotations"].get(hint)]
        yield from _wrapped(f"*{', '.join(hints) or 'writes'}.* {tool['description']}")
        yield ""
        yield from _parameters(tool["inputSchema"])


_HINTS = (
    ("readOnlyHint", "reads"),
    ("destructiveHint", "ends something"),
    ("idempotentHint", "can be repeated"),
)


def _parameters(schema: dict[str, Any]) -> Iterator[str]:
    required = schema.get("required", [])
    taken = [
        (f"`{name}`" + ("" if name in required else " (optional)"), _kind(each))
        for name, each in schema.get("properties", {}).items()
    ]
    yield from _table(("parameter", "what it is"), taken) if taken else ["It takes nothing."]


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a parameter and its bounds, in the words of JSON Schema."""
    if "enum" in schema:
        return f"one of {', '.join(f'`{choice}`' for choice in schema['enum'])}"
    bounds = [f"{name} {schema[name]}" for name in _BOUNDS if name in schema]
    inside = f" of {_kind(schema['items'])}" if schema.get("items") else ""
    keys = f" with {', '.join(f'`{key}`' for key in schema['properties'])}" if schema.get("properties") else ""
    return f"{schema.get('type', 'anything')}{inside}{keys}{', ' if bounds else ''}{', '.join(bounds)}"


_BOUNDS = (
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "exclusiveMinimum", "maximum", "default",
)  # fmt: skip


# --- settings ----------------------------------------------------------------------------------------------


def _settings() -> Iterator[str]:
    schema = Settings.model_json_schema()["properties"]
    yield "# Settings"
    yield ""
    yield WRITTEN
    yield ""
    yield from _wrapped(
        f"A workspace may hold a file `{FILE}`; a variable of the environment overrules it. A setting that is not "
        "listed here, or a value that it cannot take, is an error that names the file or the variable."
    )
    yield ""
    yield from _table(
        ("setting", "variable", "default", "takes", "what it does"),
        (
            (f"`{name}`", f"`FALSIFY_{name.upper()}`", f"`{told['default']}`", _takes(told), told["description"])
            for name, told in schema.items()
            if name not in TABLES
        ),
    )
    yield ""
    yield from _executors()
    yield ""
    yield "## Other variables"
    yield ""
    yield from _table(("variable", "what it does"), ((f"`{name}`", what) for name, what in VARIABLES.items()))


def _executors() -> Iterator[str]:
    yield "## Commands that run experiments"
    yield ""
    yield from _wrapped(
        f"A table `[executor.NAME]` of `{FILE}` describes a command that runs an experiment; no variable overrules it. "
        "The command is ended with all that it started when its time is over, but it is not locked in: it reads, "
        "writes and connects as you can. Where that matters, let it begin with `bwrap`, `docker run` or the like."
    )
    yield ""
    yield "```toml"
    yield "[executor.my-train]"
    yield 'argv = ["{python}", "train.py", "--config", "{config}"]'
    yield "timeout_s = 300"
    yield ""
    yield "[executor.my-train.keys]"
    yield 'width = "int:[1,512]"'
    yield 'rate = "float:(0,10]"'
    yield "```"
    yield ""
    yield from _table(
        ("in the table", "default", "takes", "what it does"),
        (
            (f"`{name}`", f"`{told['default']}`" if "default" in told else "", _takes(told), told["description"])
            for name, told in ExecutorTable.model_json_schema()["properties"].items()
        ),
    )
    yield ""
    yield from _wrapped("The command finds in its environment:")
    yield ""
    yield from _table(("variable", "what it is"), ((f"`{name}`", what) for name, what in GIVEN.items()))


def _takes(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if schema["type"] == "object":
        return f"a table of {_takes(schema['additionalProperties'])}"
    if schema["type"] == "array":
        return f"a list of {_takes(schema['items'])}"
    if "pattern" in schema:
        return f"text like `{schema['pattern']}`"
    bounds = {
        "exclusiveMinimum": "more than",
        "minimum": "at least",
        "exclusiveMaximum": "less than",
        "maximum": "at most",
    }
    limits = [f"{words} {schema[bound]:g}" for bound, words in bounds.items() if bound in schema]
    kind = {"string": "text", "integer": "a whole number"}.get(schema["type"], f"a {schema['type']}")
    return ", ".join([kind, *limits])


# --- markdown ----------------------------------------------------------------------------------------------


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield _row(head)
    yield _row("---" for _ in head)
    for row in rows:
        yield _row(cell.replace("|", "\\|") for cell in row)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110)


def _summary(each: type) -> str:
    return (inspect.getdoc(each) or "").partition("\n\n")[0].replace("\n", " ")


def _says(page: Path, text: str) -> bool:
    return page.exists() and page.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
