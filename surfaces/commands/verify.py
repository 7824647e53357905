"""The command that checks everything: verify."""

from typing import Any

import click

from surfaces.commands.session import Session, common, note


@click.command()
@click.option("--mirror", "with_mirror", is_flag=True, help="Read Cognee's stores back too, node by node.")
@click.option(
    "--anchor",
    metavar="POSITION:HASH",
    help="A head that `falsify status` printed earlier: the log must still hold it.",
)
@common
def verify(session: Session, with_mirror: bool, anchor: str | None) -> int:
    """Check the hash chain, every recorded flip, labels from scratch, checkpoints, claims index and mirror.

    Says what is wrong and where, and ends with 1; nothing is mended. An index or mirror can be rebuilt from the log.
    The hash chain is that of the whole log; the rest is about the project, and says which others there are.
    """
    from surfaces.health import verify as check
    from surfaces.text import verified

    with session.workspace() as workspace:
        report: list[dict[str, Any]] = check(workspace, with_mirror=with_mirror, anchor=_anchor(anchor))
        others = [name for name in workspace.log.streams() if name.startswith("project:") and name != workspace.stream]
    session.show(report, verified)
    if others and not session.as_json:
        names = ", ".join(name.removeprefix("project:") for name in others)
        note(f"not looked at: the projects {names}; `falsify --project ID verify` checks one")
    faults = sum(len(part["faults"]) for part in report)
    return session.fail(f"{faults} {'fault' if faults == 1 else 'faults'} found") if faults else 0


def _anchor(text: str | None) -> tuple[int, bytes] | None:
    if text is None:
        return None
    position, _, digest = text.partition(":")
    try:
        return int(position), bytes.fromhex(digest)
    except ValueError:
        raise click.BadParameter("write POSITION:HASH, as `falsify status` prints it", param_hint="--anchor") from None
