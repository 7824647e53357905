"""The command that lists the records of the brain: brain log."""

from collections import deque

import click

from surfaces.commands.session import Session, common


@click.command()
@click.option("-n", "--last", type=click.IntRange(min=1), help="Only the last so many records.")
@click.option("--after", type=click.IntRange(min=0), default=0, help="Only what comes after this position.")
@common
def log(session: Session, last: int | None, after: int) -> None:
    """List what was recorded in the brain: position, time, actor, and the event. The owner only.

    What is sealed for a person is listed as it lies in the log: closed. `falsify log` lists the records of a project.
    """
    from falsify.brain.scope import is_owner
    from falsify.errors import ForbiddenError
    from surfaces.brain import STREAM, Brain
    from surfaces.lines.brain_log import lines, row

    with session.workspace() as workspace:
        if not is_owner(Brain(workspace).library.org, workspace.settings.actor):
            hint = "the setting `actor` says who you are"
            raise ForbiddenError("only the owner may read the log of the brain", hint=hint, reason="owner_only")
        records = deque(workspace.log.read(after=after, stream=STREAM), maxlen=last)
        session.show([row(each) for each in records], lines)
