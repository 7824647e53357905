"""The command `falsify`: assembles the commands, loads each only when it is called, and ends with a documented code."""

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("workspace", "Make a folder a workspace."),
    "question": ("record", "Ask a question: start an investigation."),
    "ingest": ("ingest", "Record documents, tables of claims and belief files."),
    "fact": ("record", "Hold one new fact against what is believed."),
    "retract": ("record", "Withdraw a claim, or stand by it again."),
    "adjudicate": ("record", "Ask for verdicts that are missing, or give one."),
    "judge": ("judging", "Show what the judge says of A against B, and why."),
    "calibrate": ("judging", "Measure judge or embedder on labelled pairs."),
    "recall": ("ask", "Answer from what is alive, and only from that."),
    "show": ("ask", "Show one node: its text, state, sources and edges."),
    "graph": ("ask", "Show the belief graph: table, JSON, DOT or Mermaid."),
    "why": ("ask", "Tell why a node died, or what keeps it alive."),
    "scoreboard": ("ask", "Answer with and without truth-states, side by side."),
    "log": ("time", "List what was recorded."),
    "timeline": ("time", "One line for each epoch."),
    "replay": ("time", "What was believed at an epoch, position or date."),
    "diff": ("time", "What changed between two points of the log."),
    "record-golden": ("time", "Write a replay test of this log for your CI."),
    "verify": ("verify", "Check log, labels, index and mirror."),
    "mirror": ("mirror", "Cognee's copy: sync, rebuild, recall."),
    "export": ("workspace", "Write the log as JSON Lines."),
    "import": ("workspace", "Read an exported log into a new workspace."),
    "status": ("workspace", "Where log, index and mirror stand."),
    "doctor": ("workspace", "Check this machine and this installation."),
    "completion": ("workspace", "Print the completion script of a shell."),
    "project": ("project", "Research projects: contract, baseline, mode, state."),
    "ticket": ("ticket", "Tickets: ideas to be tested, and their queue."),
    "node": ("node", "Nodes: configurations, and what they measured."),
    "run": ("run", "Runs: start, cancel, list, show."),
    "worker": ("worker", "Execute the queued runs of all projects."),
    "decision": ("decision", "Decisions: what is made of a measured node."),
    "evidence": ("evidence", "Evidence: the files that belong to a node."),
    "approvals": ("approvals", "What waits for a person: list, show, approve, reject."),
    "brain": ("brain", "The brain: governed pages, imported and exported."),
    "tools": ("tools", "List the tools that agents call, with their schemas."),
    "call": ("tools", "Call a tool, and print its envelope."),
    "mcp": ("mcp", "Serve the tools to agents over MCP."),
    "token": ("token", "Tokens of agents: create, list, revoke."),
    "demo": ("demo", "Play the Company X story in three processes."),
}
"""Every command: the module in surfaces/commands/ that has it, and its line in the help."""

INTERRUPTED = 130
BUG = 70


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called, and not for its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, importing it."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"surfaces.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_").replace("import", "import_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their lines, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from falsify.version import __version__

        click.echo(f"falsify {__version__}")
        ctx.exit()


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-w",
    "--workspace",
    "folder",
    type=click.Path(),
    help="The workspace; else FALSIFY_WORKSPACE, else the nearest folder upwards that is one.",
)
@click.option("--project", metavar="ID", help="The project; else FALSIFY_PROJECT, else the setting `project`.")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours; NO_COLOR is respected."
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context, folder: str | None, project: str | None, color: str) -> None:
    """Belief revision with a memory: one contradicting fact, and what rested on it dies, with its reasons.

    Start with `falsify demo`, or `falsify init` and `falsify ingest FILE`. Commands take --json: one document,
    errors included.
    """
    ctx.obj = {"folder": folder, "project": project}
    ctx.color = _wants_color(color)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    code = run(words)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _unwritable(error)
    if "cognee" in sys.modules:
        # Cognee's interpreter shutdown takes seconds; everything of ours is flushed and closed.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(words: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    as_json = "--json" in words
    try:
        result: Any = cli.main(args=list(words), prog_name="falsify", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        return _refuse(as_json, "invalid_request", _with_usage(error, as_json=as_json), _hint(error), 2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; nothing is half-written", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us (`| head`) has enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the one place that translates refusals, and says so of a bug
        from falsify.errors import FalsifyError

        if isinstance(error, OSError) and error.errno in _FULL:
            return _unwritable(error)
        if not isinstance(error, FalsifyError):
            import traceback

            traceback.print_exc()
            message = f"this is a bug in Falsify: {type(error).__name__}: {error}"
            return _refuse(as_json, "error", message, "please report it with the lines above", BUG)
        return _refuse(as_json, error.status, error.message, error.hint, error.exit_code)
    return result if isinstance(result, int) else 0


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""What a full or failing disk says when something is written to it."""


def _unwritable(error: OSError) -> int:
    """Say that what was to be printed or stored could not be written, and keep the interpreter from trying again."""
    from falsify.errors import UnavailableError

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"Error: it cannot be written: {error.strerror}; free some space and try again", err=True)
    return UnavailableError.exit_code


def _refuse(as_json: bool, status: str, message: str, hint: str, code: int) -> int:
    if as_json:
        import orjson

        told = {"ok": False, "status": status, "error": {"message": message, "hint": hint, "exit_code": code}}
        sys.stdout.write(orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
    else:
        click.echo(f"{click.style('Error:', fg='red')} {message}", err=True, color=_wants_color("auto"))
        if hint:
            click.echo(f"  {hint}", err=True)
    return code


def _with_usage(error: click.ClickException, *, as_json: bool) -> str:
    usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx and not as_json else ""
    return "\n".join(part for part in (error.format_message(), usage) if part)


def _hint(error: click.ClickException) -> str:
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"see `{error.ctx.command_path} --help`"
    return ""


def _wants_color(choice: str) -> bool | None:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return None


if __name__ == "__main__":
    main()
