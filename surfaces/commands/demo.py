"""The command that shows what it is all for: demo."""

from pathlib import Path

import click

from surfaces.commands.session import Session, common, note


@click.command()
@click.option(
    "--folder", type=click.Path(), help="Where to make the demo's workspace; a temporary folder if not given."
)
@click.option("--keep", is_flag=True, help="Keep the temporary workspace to look around in.")
@click.option(
    "--demo", "pinned", is_flag=True, help="Pin the verdict, as DEMO_MODE=1 does, whatever a judge would say."
)
@click.option("--no-mirror", is_flag=True, help="Leave Cognee out: seconds faster, and no stores to look into.")
@click.option("--session", "session_number", type=click.IntRange(1, 3), hidden=True, help="Play one session here.")
@common
def demo(
    session: Session,
    folder: str | None,
    keep: bool,
    pinned: bool,
    no_mirror: bool,
    session_number: int | None,
) -> None:
    """Play the Company X story: three sessions in three processes, on the real stores.

    The first builds a belief graph; the second pastes one line; the third, after a restart, recalls, replays epoch 0
    and tells why a conclusion died. The bundled judge decides, or the LLM that LLM_API_KEY and LLM_MODEL name.
    """
    if session_number is not None:
        _play(session, session_number, pinned=pinned, with_mirror=not no_mirror)
        return
    import os
    import shutil
    import tempfile

    from falsify.errors import InvalidInputError
    from surfaces.workspace import FOLDER

    if session.as_json:
        raise click.UsageError("the demo is a story, not data: use `falsify scoreboard --json` in its workspace")
    if not pinned and not os.environ.get("LLM_API_KEY") and not os.environ.get("DEMO_MODE"):
        note("no LLM_API_KEY: the bundled offline judge decides (set it, and LLM_MODEL, to let an LLM judge)")
    root = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="falsify-demo-"))
    if (root / FOLDER).exists():
        raise InvalidInputError(f"{root} is a workspace already", hint="give --folder a new or empty one")
    try:
        _play_all(root, pinned=pinned, no_mirror=no_mirror)
    finally:
        if not folder and not keep:
            shutil.rmtree(root, ignore_errors=True)
    if folder or keep:
        note(f"the workspace is {root}; try `falsify --workspace {root} why K`")


def _play_all(root: Path, *, pinned: bool, no_mirror: bool) -> None:
    import subprocess
    import sys

    from falsify.errors import UnavailableError
    from surfaces.stories.company_x import SESSIONS
    from surfaces.workspace import Workspace

    Workspace.init(root).close()
    flags = [flag for flag, wanted in (("--demo", pinned), ("--no-mirror", no_mirror)) if wanted]
    color = "always" if sys.stdout.isatty() else "never"
    for number in SESSIONS:
        # A process of its own for each session: nothing but the disk carries over.
        command = [sys.executable, "-m", "cli", "--color", color, "demo", "--session", str(number), "-w", str(root)]
        done = subprocess.run([*command, *flags], check=False)
        if done.returncode:
            raise UnavailableError(f"session {number} ended with exit code {done.returncode}", hint="see above")


def _play(session: Session, number: int, *, pinned: bool, with_mirror: bool) -> None:
    import os

    from surfaces.stories.company_x import TARGET, play

    environ = dict(os.environ)
    if number > 1 and (pinned or environ.get("DEMO_MODE")):
        environ |= {"DEMO_MODE": "1", "REFUTED_ID": environ.get("REFUTED_ID") or TARGET}
    with session.workspace(environ=environ) as workspace:
        for line in play(workspace, number, with_mirror=with_mirror):
            click.echo(line)
