"""The command that shows what it is all for: demo."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from surfaces.commands.session import Session, common, note

if TYPE_CHECKING:
    from surfaces.stories.laboratory import Watch

COMPANY_X = "company-x"
WORKBENCH = "workbench"
BRAIN = "brain"

OPTIONS = {COMPANY_X: ("--demo", "--no-mirror"), WORKBENCH: ("--out",), BRAIN: ()}
"""The options that only one story has."""


@click.command()
@click.argument("story", type=click.Choice(tuple(OPTIONS)), default=COMPANY_X)
@click.option(
    "--folder", type=click.Path(), help="Where to make the demo's workspace; a temporary folder if not given."
)
@click.option("--keep", is_flag=True, help="Keep the temporary workspace to look around in.")
@click.option(
    "--demo",
    "pinned",
    is_flag=True,
    help="company-x: pin the verdict, as DEMO_MODE=1 does, whatever a judge would say.",
)
@click.option("--no-mirror", is_flag=True, help="company-x: leave Cognee out: seconds faster, no stores to look into.")
@click.option(
    "--out",
    type=click.Path(),
    help="workbench: where to write its pictures, curves.svg and boundary.png; else the workspace, if that is kept.",
)
@click.option("--session", "session_number", type=click.IntRange(1, 3), hidden=True, help="Play one session here.")
@common
def demo(
    session: Session,
    story: str,
    folder: str | None,
    keep: bool,
    pinned: bool,
    no_mirror: bool,
    out: str | None,
    session_number: int | None,
) -> None:
    """Play a story on the real thing: company-x, if none is named, workbench or brain.

    company-x is told in three sessions, each a process. The first builds a belief graph; the second pastes one line;
    the third, after a restart, recalls, replays epoch 0 and tells why a conclusion died. The bundled judge decides, or
    the LLM that LLM_API_KEY and LLM_MODEL name.

    workbench trains small networks: an agent proposes, asks and measures, a promotion follows from the numbers, and
    dies when its measurement cannot be repeated.

    brain reads in two years of a company's pages: who may see what, what was known when, why something was decided;
    what agents may propose and people land; and how a grant is undone and a person forgotten.
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
    _check_options(story, {"--demo": pinned, "--no-mirror": no_mirror, "--out": out is not None})
    if story == COMPANY_X and not (pinned or os.environ.get("LLM_API_KEY") or os.environ.get("DEMO_MODE")):
        note("no LLM_API_KEY: the bundled offline judge decides (set it, and LLM_MODEL, to let an LLM judge)")
    root = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="falsify-demo-"))
    if (root / FOLDER).exists():
        raise InvalidInputError(f"{root} is a workspace already", hint="give --folder a new or empty one")
    kept = bool(folder or keep)
    try:
        if story == WORKBENCH:
            _play_workbench(root, pictures=Path(out) if out else root if kept else None)
        elif story == BRAIN:
            _play_brain(root, kept=kept)
        else:
            _play_all(root, pinned=pinned, no_mirror=no_mirror)
    finally:
        if not kept:
            shutil.rmtree(root, ignore_errors=True)
    if kept and story in _LOOK_AROUND:
        note(f"the workspace is {root}; try `falsify --workspace {root} {_LOOK_AROUND[story]}`")


def _check_options(story: str, given: dict[str, bool]) -> None:
    """Refuse the options of other stories."""
    for name, is_given in given.items():
        if is_given and name not in OPTIONS[story]:
            raise click.UsageError(f"the story {story} has no option {name}")


_LOOK_AROUND = {COMPANY_X: "why K", WORKBENCH: "--project rings timeline"}
"""What to begin with in a workspace that is kept, where the story does not say so."""


# --- workbench ------------------------------------------------------------------------------------------------


def _play_workbench(root: Path, *, pictures: Path | None) -> None:
    import os
    from contextlib import closing

    from surfaces.stories.workbench import play
    from surfaces.workspace import Workspace

    # Who acts in the story, and in which project, is the story's: not what somebody has set for a project of theirs.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("FALSIFY_")}
    with (
        Workspace.init(root, environ=environ) as workspace,
        # Closed whatever happens in between: the story ends its runs then.
        closing(play(workspace, pictures=pictures, watch=_watch())) as lines,
    ):
        for line in lines:
            click.echo(line)
    if pictures is None:
        note("its curves and its boundary can be had as pictures: give --out FOLDER, or --keep the workspace")


def _watch() -> "Watch":
    """Return what shows how far a run is, if somebody is there to see it."""
    import sys

    from surfaces.stories.laboratory import unwatched

    if not sys.stderr.isatty():
        return unwatched
    return lambda text: click.echo(f"\r{text:<70}\r{text}", nl=False, err=True)


# --- brain ------------------------------------------------------------------------------------------------------


def _play_brain(root: Path, *, kept: bool) -> None:
    from contextlib import closing

    from surfaces.stories.brain import play
    from surfaces.stories.office import story_clock
    from surfaces.workspace import Workspace

    # No setting of anybody's takes part, nor an LLM that somebody has a key for: the story is the same everywhere.
    with (
        Workspace.init(root, environ={}, clock=story_clock()) as workspace,
        closing(play(workspace, root / "corvane", kept=kept)) as lines,
    ):
        for line in lines:
            click.echo(line)


# --- company-x ------------------------------------------------------------------------------------------------


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
