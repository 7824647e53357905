"""Commands about pages as evidence: brain follow."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, common, note

if TYPE_CHECKING:
    from surfaces.brain import Brain
    from surfaces.pages.evidence import Followed
    from surfaces.workspace import Workspace


@click.command()
@common
def follow(session: Session) -> None:
    """Bring investigations up to what became of the pages they took claims from.

    Every change of the brain does this by itself; after a crash, this makes up for what was left.
    """
    from surfaces.brain import Brain
    from surfaces.pages.evidence import follow as followed

    with session.workspace() as workspace:
        session.show(_told(followed(workspace, Brain(workspace))), _lines)


def tell_followed(workspace: "Workspace", brain: "Brain") -> None:
    """Bring investigations up to the brain after it was changed, and say beside the data what that came to.

    The change itself stands: where this fails, it is said, and made up for later.
    """
    from falsify.errors import FalsifyError
    from surfaces.pages.evidence import follow as followed

    try:
        done = followed(workspace, brain)
    except FalsifyError as error:
        note(f"what became of the pages has not reached every investigation: {error.message}")
        note("  `falsify brain follow` does the rest")
        return
    for line in _lines(_told(done)) if done else ():
        note(line)


def _told(done: "list[Followed]") -> list[dict[str, Any]]:
    return [{"project": f.project, "rel_path": f.rel_path, "ended": f.ended or None, "events": f.events} for f in done]


def _lines(followed: list[dict[str, Any]]) -> Iterator[str]:
    """Render what became of pages that are evidence."""
    if not followed:
        yield "no investigation waits for a page"
    for each in followed:
        became = f"is {each['ended']}: its claims are superseded" if each["ended"] else "holds, and was read anew"
        yield f"{each['rel_path']} {became} in project {each['project']} ({each['events']} records)"
