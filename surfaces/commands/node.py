"""Commands for nodes: list, show, compare, ready, block, implement."""

from typing import Any

import click

from surfaces.commands.session import Session, at_a_point, point, research, writes
from surfaces.commands.ticket import UNSAID

STATUSES = ("DRAFT", "IMPLEMENTING", "READY", "RUNNING", "REPAIRABLE", "FROZEN", "BLOCKED")


@click.group()
def node() -> None:
    """Nodes: configurations that are measured, each a change of its parent's, from the baseline on.

    A node whose run succeeds is frozen with what it measured, and never changes again.
    """


@node.command("list")
@click.option("--root", "root_node_id", metavar="NODE", help="Only what was made of this node, and itself.")
@click.option("--focus", "focus_node_id", metavar="NODE", help="Likewise, and what led to it.")
@click.option("--depth", type=click.IntRange(1, 10), help="How many generations.")
@click.option("--status", multiple=True, type=click.Choice(STATUSES), help="Only these; repeatable.")
@click.option("--limit", "max_nodes", type=click.IntRange(1, 500), help="How many at the most.  [100]")
@click.option("--cursor", help="Go on where a page ended.")
@at_a_point
@research
def list_(session: Session, status: tuple[str, ...], **wanted: Any) -> int:
    """List nodes, the baseline first, then what was made of it, generation by generation."""
    from surfaces.lines.research import node_page

    with session.workbench(**point(wanted)) as workbench:
        return session.read(workbench, "falsify.graph.get", node_page, status=list(status), **wanted)


@node.command()
@click.argument("node_id", metavar="NODE")
@at_a_point
@research
def show(session: Session, node_id: str, **when: Any) -> None:
    """Show one node: its configuration, what it measured, its runs and its evidence."""
    from surfaces.lines.research import node as lines
    from surfaces.tools.research_rows import node_row

    with session.workbench(**when) as workbench:
        session.show(node_row(workbench.sight(workbench.workspace.settings.actor), node_id), lines)


@node.command()
@click.argument("node_id", metavar="NODE")
@click.argument("other_id", metavar="[OTHER]", required=False)
@click.option("--against", type=click.Choice(["parent", "baseline", "incumbent"]), help="Or one of these.")
@click.option("--metric", help="Another metric than that of the contract.")
@at_a_point
@research
def compare(session: Session, node_id: str, other_id: str | None, **how: Any) -> int:
    """Hold a node against another: both values, the difference and whether it counts, the keys that differ.

    Without OTHER or --against it is what a decision is held against: the incumbent; for the incumbent itself, or where
    its measurement is refuted, the nearest ancestor whose measurement stands.
    """
    from surfaces.lines.research import comparison

    with session.workbench(**point(how)) as workbench:
        return session.read(
            workbench, "falsify.node.compare", comparison, node_id=node_id, against_node_id=other_id, **how
        )


@node.command()
@click.argument("node_id", metavar="NODE")
@click.option("--reason", default=UNSAID, help="Why.")
@writes
@research
def ready(session: Session, node_id: str, **how: Any) -> int:
    """Let a node run: a draft, one that was blocked or repaired, or whose code was changed."""
    return _move(session, "ready_node", node_id, **how)


@node.command()
@click.argument("node_id", metavar="NODE")
@click.option("--reason", default=UNSAID, help="Why.")
@writes
@research
def block(session: Session, node_id: str, **how: Any) -> int:
    """Keep a node from running; `node ready` lets it run again."""
    return _move(session, "block_node", node_id, **how)


@node.command()
@click.argument("node_id", metavar="NODE")
@click.option("--reason", default=UNSAID, help="What is changed.")
@writes
@research
def implement(session: Session, node_id: str, **how: Any) -> int:
    """Keep a node from running while its code is changed; `node ready` ends that."""
    return _move(session, "implement_node", node_id, **how)


def _move(session: Session, name: str, node_id: str, *, reason: str, key: str | None, dry_run: bool) -> int:
    from falsify.belief.text import clean
    from surfaces.lines.research import done
    from surfaces.research import works

    work = getattr(works, name)(node_id, reason=clean(reason, what="the reason"))
    with session.workbench() as workbench:
        return session.perform(workbench, work, done, key=key, dry_run=dry_run)
