"""The group `brain`: governed knowledge. Its commands are rows of a table, each in a module that is loaded when called.

To add a command, write it in a module of surfaces.commands and give it a row.
"""

import importlib

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "import": ("brain.pages", "Read pages from a folder or an Obsidian vault, with their git history."),
    "export": ("brain.pages", "Write the pages to a folder, as they are or were."),
    "list": ("brain.pages", "List the pages that you may see."),
    "show": ("brain.pages", "Show one page as it is or was, or its history."),
    "follow": ("brain.evidence", "Bring investigations up to what became of pages they rest on."),
    "log": ("brain.record", "List what was recorded in the brain."),
    "proposals": ("brain.writes", "List what was proposed, and what became of it."),
    "traces": ("brain.writes", "List what agents recorded of their work, or show one trace."),
    "ratings": ("brain.writes", "List what was said of answers."),
    "erase-person": ("brain.writes", "Make what is sealed for a person unreadable, for good."),
    "org": ("brain.governance", "The org map: show, check, import."),
    "governance": ("brain.governance", "Who may see, decide and change what: preview, apply, undo."),
}
"""Every command of the group: its module below surfaces.commands, and its line in the help.

A command is named as its function is, with `-` for `_`; a function `list_` or `import_` is `list` or `import`.
"""


class BrainGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Return the command, importing it."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"surfaces.commands.{COMMANDS[cmd_name][0]}")
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(module, f"{name}_" if hasattr(module, f"{name}_") else name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        """Write the commands with their lines, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=BrainGroup)
def brain() -> None:
    """The brain: pages with their past, and who may see and change what."""
