"""Commands for what is written to the brain beside pages: proposals, traces, ratings, erase-person."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from surfaces.commands.session import Session, common


@click.command()
@click.option("--pending", is_flag=True, help="Only what nobody has decided on.")
@common
def proposals(session: Session, pending: bool) -> None:
    """List the proposals that you may decide on or made, the oldest first.

    `falsify approvals show ID` shows one in full, and `approve` and `reject` decide.
    """
    from surfaces.brain import Brain
    from surfaces.brain_proposals import proposed
    from surfaces.lines.requests import approval_list

    with session.workspace() as workspace:
        found = proposed(Brain(workspace), workspace.settings.actor)
        told = [each.row() for each in found if each.pending or not pending]
    session.show(told, approval_list if told else _nothing("nothing was proposed that you may see"))


@click.command()
@click.argument("rel_path", metavar="[REL_PATH]", required=False)
@common
def traces(session: Session, rel_path: str | None) -> None:
    """List the traces that you may read, or show one. Agents read their own, the owner all.

    What was done on behalf of somebody who was erased says "(erased)".
    """
    from falsify.errors import NotFoundError
    from surfaces.brain import Brain
    from surfaces.brain_writes import read_trace, trace_rows
    from surfaces.tools.fence import harmless

    with session.workspace() as workspace:
        brain, actor = Brain(workspace), workspace.settings.actor
        if rel_path is None:
            rows = trace_rows(brain, actor)
            session.show(rows, _traces if rows else _nothing("there is no trace that you may read"))
            return
        text = read_trace(brain, actor, rel_path)
    if text is None:
        raise NotFoundError(f"there is no trace {ascii(rel_path)[:80]}", hint="see `falsify brain traces`")
    session.show({"rel_path": rel_path, "text": text}, lambda told: harmless(told["text"]).splitlines())


@click.command()
@common
def ratings(session: Session) -> None:
    """List the ratings that were raised to you or are yours; the owner sees all."""
    from surfaces.brain import Brain
    from surfaces.brain_writes import rating_rows

    with session.workspace() as workspace:
        rows = rating_rows(Brain(workspace), workspace.settings.actor)
    session.show(rows, _ratings if rows else _nothing("there is no rating that you may read"))


@click.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def erase_person(session: Session, slug: str, yes: bool) -> None:
    """Destroy the key of a person: what is sealed for them cannot be read any more, by anybody. The owner only.

    The log keeps its order and its hashes. What pages say of the person is not touched. There is no way back.
    """
    from falsify.errors import InvalidInputError
    from surfaces.brain import Brain
    from surfaces.brain_writes import erase_person, foresee_erasure

    with session.workspace() as workspace:
        brain, actor = Brain(workspace), workspace.settings.actor
        foreseen = foresee_erasure(brain, actor, slug)
        if not yes:
            if session.as_json:
                raise InvalidInputError("erasing somebody has to be confirmed", hint="say so with --yes")
            texts = foreseen["sealed_texts"]
            what = f"{texts} sealed {'text' if texts == 1 else 'texts'} of {foreseen['subject']}"
            click.confirm(f"Make {what} unreadable for good?", abort=True, err=True)
        told = erase_person(brain, actor, slug)
    session.show(told, _erased)


def _traces(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    from surfaces.tools.fence import Fence

    for row in rows:
        behalf = f"  for {row['on_behalf_of']}" if row["on_behalf_of"] else ""
        yield f"{click.style(row['rel_path'], bold=True)}  {row['status']}{behalf}"
        yield f"  {Fence().inline(row['task'])}: {Fence().inline(row['summary'])}"


def _ratings(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    from surfaces.tools.fence import Fence

    for row in rows:
        yield f"{click.style(row['answer_id'], bold=True)}  {row['rating']}  by {row['rated_by']}"
        if row["comment"]:
            yield f"  {Fence().inline(row['comment'], limit=2_000)}"
        yield from (f"  cited {path}" for path in row["cited"])


def _erased(told: Mapping[str, Any]) -> Iterator[str]:
    texts = told["sealed_texts"]
    yield f"{told['subject']} is erased: {texts} sealed {'text' if texts == 1 else 'texts'} cannot be read any more"
    yield from (f"  {note}" for note in told["notes"])


def _nothing(words: str) -> Any:
    return lambda _rows: [words]
