"""Commands for decisions: list, show, commit, rollback."""

from typing import Any

import click

from surfaces.commands.session import Session, at_a_point, research, tool_input, writes

VERDICTS = ("IMPROVED", "REGRESSED", "NEUTRAL", "INCONCLUSIVE")
ACTIONS = ("PROMOTE", "KEEP_FROZEN", "DISCARD", "REPRODUCE", "REQUEST_MORE_EVIDENCE")


@click.group()
def decision() -> None:
    """Decisions: what is made of a frozen node, and the evidence it rests on.

    A decision is a conclusion: it dies when what it rests on is refuted, and `falsify why D-1` tells how.
    """


@decision.command("list")
@at_a_point
@research
def list_(session: Session, **when: Any) -> None:
    """List the decisions in order, each with its truth-state."""
    from surfaces.lines.research import decision_list
    from surfaces.tools.research_rows import decision_row

    with session.workbench(**when) as workbench:
        sight = workbench.sight(workbench.workspace.settings.actor)
        session.show([decision_row(sight, each) for each in sight.project.decisions], decision_list)


@decision.command()
@click.argument("decision_id", metavar="DECISION")
@at_a_point
@research
def show(session: Session, decision_id: str, **when: Any) -> None:
    """Show one decision: the numbers, the rationale, what it rests on and whether that stands."""
    from surfaces.lines.research import decision as lines
    from surfaces.tools.research_rows import decision_row

    with session.workbench(**when) as workbench:
        sight = workbench.sight(workbench.workspace.settings.actor)
        session.show(decision_row(sight, decision_id), lines)


@decision.command()
@click.argument("node_id", metavar="NODE")
@click.option("--verdict", type=click.Choice(VERDICTS), required=True, help="What the numbers say, or INCONCLUSIVE.")
@click.option("--action", type=click.Choice(ACTIONS), required=True, help="What to do; PROMOTE moves the incumbent.")
@click.option("--rationale", required=True, help="Why: 10 to 2000 characters.")
@click.option("--cite", "evidence_refs", multiple=True, metavar="EV", help="What it rests on.  [the measurement]")
@writes
@research
def commit(
    session: Session, node_id: str, evidence_refs: tuple[str, ...], key: str | None, dry_run: bool, **said: Any
) -> int:
    """Decide about a frozen node. `node compare` shows the numbers, which a verdict may not contradict."""
    from surfaces.lines.research import committed
    from surfaces.tools.workbench_acts import commit_decision

    with session.workbench() as workbench:
        sent = {"node_id": node_id, "evidence_refs": list(evidence_refs), **said}
        work = commit_decision(tool_input("falsify.decision.commit", workbench.project_id, **sent))
        return session.perform(workbench, work, committed, key=key, dry_run=dry_run)


@decision.command()
@click.option("--reason", default="", help="Why.")
@writes
@research
def rollback(session: Session, reason: str, key: str | None, dry_run: bool) -> int:
    """Go back to the last earlier incumbent whose measurement stands: a decision that promotes it.

    Its verdict is IMPROVED where the numbers say so against what stands now, and INCONCLUSIVE otherwise.
    """
    from falsify.belief.text import clean
    from surfaces.lines.research import done
    from surfaces.research.works import roll_back

    work = roll_back(reason=clean(reason, what="the reason") if reason else "")
    with session.workbench() as workbench:
        return session.perform(workbench, work, done, key=key, dry_run=dry_run)
