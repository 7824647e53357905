"""Commands that ask: recall, show, graph, why, scoreboard."""

from typing import Any

import click

from surfaces.commands.session import Session, at_a_cutoff, common, cutoff


@click.command()
@click.argument("query")
@click.option("-k", "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="How many at the most.")
@at_a_cutoff
@common
def recall(session: Session, query: str, limit: int, valid_at: str, **when: Any) -> None:
    """Answer from what is alive, and only from that.

    Living nodes, nearest first, each with its sources and what it rests on; open conflicts apart from them. Where one
    claim, or a chain of them, answers a question, the answer comes first, with what it was read from.
    """
    from surfaces.text import recalled

    with session.workspace() as workspace:
        view = workspace.view(cutoff(**when), valid_at=valid_at)
        found = workspace.recall(query, limit=limit, graph=view.graph).as_json()
        session.show({"query": query, "position": view.position, "epoch": view.graph.epoch, **found}, recalled)


@click.command()
@click.argument("node")
@at_a_cutoff
@common
def show(session: Session, node: str, valid_at: str, **when: Any) -> None:
    """Show one node: its text, state, sources and edges. NODE is an id, its beginning, or a short name."""
    from projections.beliefs import cite, edges
    from surfaces.answers import name
    from surfaces.text import shown

    with session.workspace() as workspace:
        graph = workspace.view(cutoff(**when), valid_at=valid_at).graph
        found = workspace.find(node, graph=graph)
        touching = [
            {**edge, "from": name(graph, edge["from"]), "to": name(graph, edge["to"])}
            for edge in edges(graph)
            if found.id in {edge["from"], edge["to"]}
        ]
        session.show({**cite(graph, found), "edges": touching}, shown)


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "dot", "mermaid"]), default="table", show_default=True
)
@click.option("--all", "everything", is_flag=True, help="Forgotten nodes too: the log still has them.")
@at_a_cutoff
@common
def graph(session: Session, form: str, everything: bool, valid_at: str, **when: Any) -> None:
    """Show the belief graph: as a table, as JSON, or for Graphviz or Mermaid to draw."""
    from projections.beliefs import snapshot
    from projections.drawing import dot, mermaid
    from surfaces.text import graph_table

    with session.workspace() as workspace:
        state = snapshot(workspace.view(cutoff(**when), valid_at=valid_at).graph)
    if not everything:
        gone = {n["id"] for n in state["nodes"] if n["state"] == "forgotten"}
        state["nodes"] = [n for n in state["nodes"] if n["id"] not in gone]
        state["edges"] = [e for e in state["edges"] if not {e["from"], e["to"]} & gone]
    session.as_json = session.as_json or form == "json"
    render = {"dot": lambda s: [dot(s)], "mermaid": lambda s: [mermaid(s)]}.get(form, graph_table)
    session.show(state, render)


@click.command()
@click.argument("node")
@click.option("--mermaid", "drawn", is_flag=True, help="As a Mermaid flowchart.")
@at_a_cutoff
@common
def why(session: Session, node: str, drawn: bool, valid_at: str, **when: Any) -> None:
    """Tell why a node died, or what keeps it alive.

    For a dead node: the chain from the fact that started it, through verdict and judge and each justification that was
    lost, and what would bring it back. For a living one: what it rests on and what would kill it.

    A tree of many steps goes on at the margin, in numbered parts. JSON nests 125 steps; where there are more it is
    cut_off, and ask_next has the ids to ask about.
    """
    from projections.obituary import mermaid
    from surfaces.text import obituary

    if valid_at:
        raise click.UsageError("why tells what was recorded: use --epoch, --position or --as-of")
    with session.workspace() as workspace:
        reason = workspace.why(node, cutoff(**when))
    if drawn:
        click.echo(mermaid(reason), nl=False)
    else:
        # Lines have room for a tree of any depth; JSON has not.
        session.show(reason.as_json() if session.as_json else reason.as_json(deepest=None), obituary)


@click.command()
@click.argument("query", required=False)
@click.option("-k", "--limit", type=click.IntRange(1, 100), default=3, show_default=True, help="How many citations.")
@click.option("--cognee", "in_cognee", is_flag=True, help="Ask Cognee's own recall, on the mirror.")
@common
def scoreboard(session: Session, query: str | None, limit: int, in_cognee: bool) -> None:
    """Answer with and without truth-states, side by side: Falsify's recall against plain RAG on the same vectors."""
    from surfaces.scoreboard import scoreboard as compare
    from surfaces.text import scores

    with session.workspace() as workspace:
        session.show(compare(workspace, query, limit=limit, in_cognee=in_cognee), scores)
