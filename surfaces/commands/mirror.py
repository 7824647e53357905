"""Commands for Cognee's copy of what is believed: mirror sync, rebuild, recall."""

import click

from surfaces.commands.session import Session, common


@click.group()
def mirror() -> None:
    """Cognee's copy of what is believed, in its own graph and vector stores.

    The log decides and Cognee follows; these commands import Cognee, which takes seconds. See docs/cognee-mirror.md.
    """


@mirror.command()
@common
def sync(session: Session) -> None:
    """Bring the mirror up to the present."""
    with session.workspace() as workspace:
        behind = workspace.sync_mirror()
        told = {"behind": behind, "position": workspace.mirror.checkpoint()}
    session.show(told, lambda t: [f"the mirror is at position {t['position']}; it was {t['behind']} behind"])


@mirror.command()
@common
def rebuild(session: Session) -> None:
    """Build the mirror anew from the log, and swap it in."""
    with session.workspace() as workspace:
        view = workspace.view()
        workspace.mirror.rebuild(view.graph, view.position)
        told = {"position": workspace.mirror.checkpoint()}
    session.show(told, lambda t: [f"rebuilt the mirror at position {t['position']}"])


@mirror.command("recall")
@click.argument("query")
@click.option("-k", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many at the most.")
@click.option("--plain-rag", is_flag=True, help="Without truth-states: what plain RAG would cite.")
@common
def recall(session: Session, query: str, limit: int, plain_rag: bool) -> None:
    """Ask Cognee's own recall, which skips the dead; nothing is sent to a language model."""
    with session.workspace() as workspace:
        workspace.sync_mirror()
        ask = workspace.mirror.rag if plain_rag else workspace.mirror.recall
        told = {"query": query, "context": [answer._asdict() for answer in ask(query, limit)]}
    session.show(told, lambda t: (answer["text"] for answer in t["context"]))
