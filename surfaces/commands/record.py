"""Commands that record: question, fact, retract, adjudicate."""

from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, common, note, writes

if TYPE_CHECKING:
    from falsify.belief.revision import Weighing
    from surfaces.workspace import Workspace

RELATIONS = ("contradicts", "supersedes", "supports", "unrelated")


@click.command()
@click.argument("text")
@click.option("--id", "handle", default="", help="A short name for it.")
@writes
@common
def question(session: Session, text: str, handle: str, key: str | None, dry_run: bool) -> None:
    """Ask a question: start an investigation.

    Hypotheses, evidence and conclusions come with `falsify ingest`; facts with `falsify fact`.
    """
    from surfaces.text import answer

    with session.workspace() as workspace:
        session.outcome(workspace.ask(text, handle=handle, key=key, dry_run=dry_run), answer)


@click.command()
@click.argument("text")
@click.option("--question", "question_name", help="Which question it bears on, where there are several.")
@click.option("--id", "handle", default="", help="A short name for the fact.")
@click.option("--source", "source_id", default="", help="Who or what says so.")
@click.option("--source-title", default="", help="The source's title.")
@click.option("--trust", type=float, help="How far the source is trusted; equal trust is the default, 1.")
@click.option("--quote", default="", help="The source's own words.")
@click.option("--asserted-at", metavar="DATE", default="", help="When it was said; now, if not given.")
@click.option("--supports", multiple=True, metavar="HYPOTHESIS[:WEIGHT]", help="What it speaks for.")
@click.option("--refutes", multiple=True, metavar="HYPOTHESIS[:WEIGHT]", help="What it speaks against.")
@click.option("--demo", is_flag=True, help="Pin the verdict on REFUTED_ID, as DEMO_MODE=1 does.")
@writes
@common
def fact(
    session: Session,
    text: str,
    question_name: str | None,
    supports: tuple[str, ...],
    refutes: tuple[str, ...],
    demo: bool,
    key: str | None,
    dry_run: bool,
    **said: Any,
) -> None:
    """Hold one new fact against what is believed.

    Claims it might bear on are found by meaning and by the sources it names; a judge says which it contradicts or
    supersedes; what falls, falls with everything that rested on it. --dry-run shows all that and appends nothing.
    """
    import os

    from falsify.belief.graph import UNATTRIBUTED
    from falsify.belief.revision import AssertFact
    from falsify.belief.text import clean
    from surfaces.text import answer

    text = clean(text, what="the fact")
    environ = {**os.environ, "DEMO_MODE": "1"} if demo else os.environ
    with session.workspace(environ=environ) as workspace:
        weighs = [
            *(_weighing(workspace, word, "supports") for word in supports),
            *(_weighing(workspace, word, "refutes") for word in refutes),
        ]
        command = AssertFact(
            question_id=workspace.question(question_name).id,
            text=text,
            weighs=tuple(weighs),
            **{**said, "source_id": said["source_id"] or UNATTRIBUTED},
        )
        session.outcome(workspace.fact(command, key=key, dry_run=dry_run), answer)


@click.command()
@click.argument("evidence")
@click.option("--source", "source_id", default="", help="The source that withdraws it; every source, if not given.")
@click.option("--reason", default="", help="Why.")
@click.option("--restore", "restored", is_flag=True, help="The source stands by it again.")
@writes
@common
def retract(session: Session, evidence: str, key: str | None, dry_run: bool, **how: Any) -> None:
    """Withdraw a claim. Evidence is refuted when no source asserts it any more.

    With --restore the source stands by it again, and what fell with it comes back.
    """
    from falsify.belief.graph import Evidence
    from surfaces.text import answer

    with session.workspace() as workspace:
        evidence_id = workspace.find(evidence, Evidence).id
        session.outcome(workspace.retract(evidence_id, key=key, dry_run=dry_run, **how), answer)


@click.command()
@click.argument("fact_name", metavar="[FACT]", required=False)
@click.argument("claim_name", metavar="[CLAIM]", required=False)
@click.option("--relation", type=click.Choice(RELATIONS), help="Give the verdict yourself: what FACT is to CLAIM.")
@click.option("--confidence", type=float, default=1.0, show_default=True, help="How sure you are, 0 to 1; 0.6 acts.")
@click.option("--rationale", default="", help="Why.")
@writes
@common
def adjudicate(
    session: Session,
    fact_name: str | None,
    claim_name: str | None,
    relation: str | None,
    key: str | None,
    dry_run: bool,
    **verdict: Any,
) -> None:
    """Ask for verdicts that are missing, or give one yourself.

    Without arguments: list the pairs for which no judge gave a verdict. With FACT: ask the judge about them again.
    With FACT, CLAIM and --relation: a person's verdict, which runs from FACT to CLAIM and overrules a judge's.
    """
    from falsify.belief.graph import Evidence
    from surfaces.text import answer, unadjudicated

    with session.workspace() as workspace:
        if fact_name is None:
            session.show(_pending(workspace), unadjudicated)
            return
        fact_id = workspace.find(fact_name, Evidence).id
        if relation is None:
            if claim_name is not None:
                raise click.UsageError("a verdict on FACT and CLAIM needs --relation")
            session.outcome(workspace.adjudicate(fact_id, key=key, dry_run=dry_run), answer)
            return
        if claim_name is None:
            raise click.UsageError("--relation needs both FACT and CLAIM")
        claim_id = workspace.find(claim_name, Evidence).id
        if fact_id == claim_id:
            note("a claim that contradicts itself is contested for as long as this verdict stands")
        outcome = workspace.rule(fact_id, claim_id, relation=relation, key=key, dry_run=dry_run, **verdict)  # type: ignore[arg-type]  # click has checked the choice
        session.outcome(outcome, answer)


def _weighing(workspace: "Workspace", word: str, stance: str) -> "Weighing":
    from falsify.belief.graph import Hypothesis
    from falsify.belief.revision import Weighing

    name, colon, weight = word.rpartition(":")
    try:
        number = float(weight) if colon else 1.0
    except ValueError:
        name, number = word, 1.0
    return Weighing(workspace.find(name if colon else word, Hypothesis).id, stance, number)  # type: ignore[arg-type]  # one of the two options


def _pending(workspace: "Workspace") -> list[dict[str, Any]]:
    from falsify.belief.graph import Evidence
    from falsify.join.research import measurements
    from surfaces.answers import name
    from surfaces.workspace import pending

    graph, measured = workspace.graph, measurements(workspace.project)
    return [
        {
            "fact": name(graph, event.fact_id),
            "claim": name(graph, event.claim_id),
            "reason": event.reason,
            "judge": event.judge,
            "distance": event.distance,
        }
        for node in graph.nodes.values()
        if isinstance(node, Evidence)
        for event in pending(graph, node.id, measured=measured)
    ]
