"""Commands for what waits for a person, in research and in the brain: approvals list, show, approve, reject."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, research

if TYPE_CHECKING:
    from surfaces.approvals import Item
    from surfaces.workbench import Answer


@click.group()
def approvals() -> None:
    """What agents asked for and only a person may allow.

    A request is carried out once, and only if what it relied on still holds. An ID may be cut short as long as it
    stands for one request. Whoever answers is the setting `actor`, which must be a person.
    """


@approvals.command("list")
@click.option("--all", "settled", is_flag=True, help="Also what was approved or rejected.")
@research
def list_(session: Session, settled: bool) -> None:
    """List what waits in all projects and for the brain, the newest first."""
    from surfaces.approvals import items, row
    from surfaces.lines.requests import approval_list

    with session.workspace() as workspace:
        told = [row(item) for item in items(workspace, settled=settled)]
    session.show(told, approval_list)


@approvals.command()
@click.argument("name", metavar="ID")
@research
def show(session: Session, name: str) -> None:
    """Show one request: what it would do, what it relies on, and what has changed since; of a page, all it says."""
    from surfaces.approvals import detail, find
    from surfaces.lines.requests import approval
    from surfaces.tools.catalogue import work_of

    with session.workspace() as workspace:
        told = detail(find(workspace, name), work_of=work_of)
    session.show(told, approval)


@approvals.command()
@click.argument("name", metavar="ID")
@click.option("--note", default="", help="What to say with it.")
@research
def approve(session: Session, name: str, note: str) -> int:
    """Carry out what was asked for, once; if something it relied on has changed, it is a conflict and stays pending."""
    from surfaces.commands.brain.evidence import tell_followed
    from surfaces.lines.requests import approval_changes
    from surfaces.tools.catalogue import work_of

    def carry_out(item: "Item", actor: str) -> "Answer":
        from surfaces.brain_proposals import Proposed
        from surfaces.workbench import Answer

        if isinstance(item, Proposed):
            answer = Answer(item.approve(actor, note))
            if item.lands_a_page:
                tell_followed(item.brain.workspace, item.brain)
            return answer
        return item.workbench.approve(item.id, caller=actor, note=note, work_of=work_of)

    return _answer(session, name, carry_out, to="approve anything", words=note, before=approval_changes)


@approvals.command()
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, help="Why not; whoever asked is told.")
@research
def reject(session: Session, name: str, reason: str) -> int:
    """Refuse what was asked for; it has to be asked for again."""

    def refuse(item: "Item", actor: str) -> "Answer":
        from surfaces.brain_proposals import Proposed
        from surfaces.workbench import Answer

        if isinstance(item, Proposed):
            return Answer(item.reject(actor, reason))
        return item.workbench.reject(item.id, caller=actor, reason=reason)

    return _answer(session, name, refuse, to="reject a request", words=reason)


def _answer(
    session: Session,
    name: str,
    act: "Callable[[Item, str], Answer]",
    *,
    to: str,
    words: str,
    before: Callable[[Any], Iterable[str]] | None = None,
) -> int:
    """Answer a request and tell what came of it; `before` tells what a person sees first."""
    import orjson

    from falsify.belief.text import clean
    from falsify.identity import require_person
    from surfaces.approvals import detail, find
    from surfaces.lines.requests import approval_done
    from surfaces.tools.catalogue import work_of

    with session.workspace() as workspace:
        require_person(workspace.settings.actor, to)
        item = find(workspace, name)
        session.revision = item.revision
        if words:
            clean(words, what="what you say with it")
        if before is not None and not session.as_json:
            for line in before(detail(item, work_of=work_of)):
                click.echo(line)
        answer = act(item, workspace.settings.actor)
        told = detail(find(workspace, item.id), work_of=work_of)
    if session.as_json:
        session.show_bytes(answer.response)
    else:
        session.show(told, lambda row: approval_done(row, orjson.loads(answer.response)))
    return 0
