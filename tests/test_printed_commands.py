"""Every command line that Falsify prints as what to do next has what the command demands."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import cli

ROOT = Path(cli.__file__).parent
PLACEHOLDER = "X-1"
PRINTED = re.compile(r"`(falsify [^`\\]*)`")  # no regular expression


def texts(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the texts of a module with `X-1` where a value comes in: its docstrings, and parts of texts, apart."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node, "".join(str(v.value) if isinstance(v, ast.Constant) else PLACEHOLDER for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node, node.value


def docstrings(tree: ast.AST) -> set[int]:
    """Return what is only read in the code, or is the help of a command, which names other commands."""
    alone = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    helps = [word.value for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords
             if word.arg == "help"]  # fmt: skip
    return {id(node) for node in (*alone, *helps)}


def hints(tree: ast.AST) -> set[int]:
    """Return the texts that say what to do next."""
    told = [word.value for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords
            if word.arg == "hint"]  # fmt: skip
    return {id(node) for each in told for node in ast.walk(each)}


def printed() -> list[tuple[str, str]]:
    """Return the command lines that are printed with arguments, and all that a hint has, each with its place."""
    found = []
    for folder in ("falsify", "projections", "replay", "surfaces"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            quiet, told = docstrings(tree), hints(tree)
            found += [
                (line, f"{path.relative_to(ROOT)}:{node.lineno}")
                for node, text in texts(tree)
                if id(node) not in quiet
                for line in PRINTED.findall(text)
                if id(node) in told or _leads_to(line)[1]
            ]
    return found


def _leads_to(line: str) -> tuple[click.Command | None, list[str]]:
    """Return the command that a line calls, None for one whose name comes in later, and what it is given."""
    words = shlex.split(line.removesuffix(" ..."))[1:]
    command: click.Command = cli.cli
    while isinstance(command, click.Group):
        while words and words[0].startswith("--"):
            words = words[2:]
        if not words or words[0] == PLACEHOLDER:
            return None, []
        name, *words = words
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"`{line}`: there is no command {name!r}"
        command = found
    return command, words


def what_it_lacks(line: str) -> str:
    """Return what a command demands and the line does not give, or what the line gives and it does not take."""
    command, words = _leads_to(line)
    if command is None:
        return ""
    try:
        command.parse_args(click.Context(command, info_name=command.name), list(words))
    except click.MissingParameter as error:
        return error.format_message()
    except click.BadParameter:  # a placeholder is no value
        return ""
    except click.UsageError as error:
        return error.format_message()
    return ""


def test_every_command_line_that_is_printed_can_be_called():
    lines = printed()
    assert len(lines) > 50
    assert {place: (line, lacks) for line, place in lines if (lacks := what_it_lacks(line))} == {}


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("falsify approvals reject X-1", "Missing option '--reason'."),
        ("falsify approvals reject X-1 --reason TEXT", ""),
        ("falsify adjudicate", ""),
        ("falsify retract", "Missing argument 'EVIDENCE'."),
        ("falsify --project p1 why X-1 --nothing", "No such option '--nothing'."),
    ],
)
def test_what_a_line_lacks_is_found(line, lacks):
    assert what_it_lacks(line) == lacks
