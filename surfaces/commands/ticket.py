"""Commands for tickets: create, list, show, and what moves them through the queue."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from surfaces.commands.session import Session, at_a_point, point, research, tool_input, writes

if TYPE_CHECKING:
    from surfaces.workbench import Work, Workbench

F = TypeVar("F", bound=Callable[..., Any])

TYPES = ("experiment", "ablation", "literature", "analysis", "reproduction", "verification")
STATUSES = ("DRAFT", "QUEUED", "ELIGIBLE", "CLAIMED", "MATERIALIZED", "COMPLETED", "BLOCKED", "CANCELLED")
SOURCES = ("human", "agent", "system", "literature")
POLICIES = ("incumbent", "baseline", "round-parent")
STRATEGIES = ("structured-config", "coding-agent", "manual")

UNSAID: Final = "no reason was given"


def _reason(command: F) -> F:
    return click.option("--reason", default=UNSAID, help="Why.")(command)


@click.group()
def ticket() -> None:
    """Tickets: ideas to be tested, in a queue.

    Each is a hypothesis, and what is to be done to test it. People queue, rank, block and cancel; whoever claims an
    eligible ticket turns it into a node. Agents create, claim and materialize as far as the project's mode lets them.
    """


@ticket.command()
@click.option("--title", help="3 to 120 characters.")
@click.option("--type", "kind", type=click.Choice(TYPES), help="What it asks for.  [experiment]")
@click.option("--hypothesis", help="What is supposed, as a sentence: 10 to 1200 characters.")
@click.option("--instruction", help="What is to be done: 10 to 2000 characters.")
@click.option("--parent-policy", type=click.Choice(POLICIES), help="What it branches from.  [incumbent]")
@click.option("--require", "required_evidence", multiple=True, metavar="KIND", help="Evidence its node must have.")
@click.option("--from", "file", type=click.Path(path_type=Path), help="A TOML file with 1 to 8 [[ticket]] tables.")
@click.option("--draft", is_flag=True, help="Write it down only; `ticket queue` queues it.")
@writes
@research
def create(session: Session, file: Path | None, draft: bool, key: str | None, dry_run: bool, **said: Any) -> int:
    """Create a ticket, or a round of up to eight from a file, all or none.

    A file has the names of the options, with underscores, and required_evidence for --require:

    \b
        [[ticket]]
        title = "A wider hidden layer"
        hypothesis = "A wider hidden layer classifies the spirals better."
        instruction = "Set hidden_width to 32 and leave the rest as it is."
    """  # noqa: D301 - the backspace is how click is told not to wrap lines
    from surfaces.lines.research import tickets_made
    from surfaces.research.works import draft_tickets
    from surfaces.tools.workbench_acts import create_tickets

    said["type"] = said.pop("kind")
    given = {name: value for name, value in said.items() if value not in (None, ())}
    if file is not None and given:
        raise click.UsageError("--from takes everything from the file, except for --draft")
    with session.workbench() as workbench:
        tables = [given] if file is None else _tables(file)
        rows = [{"type": "experiment", "parent_policy": "incumbent", **table} for table in tables]
        sent = tool_input("falsify.ticket.create", workbench.project_id, tickets=rows)
        work = draft_tickets(sent) if draft else create_tickets(sent)
        return session.perform(workbench, work, tickets_made, key=key, dry_run=dry_run)


@ticket.command("list")
@click.option("--status", multiple=True, type=click.Choice(STATUSES), help="Only these; repeatable.")
@click.option("--type", "type_", multiple=True, type=click.Choice(TYPES), help="Only these; repeatable.")
@click.option("--source", multiple=True, type=click.Choice(SOURCES), help="Only these; repeatable.")
@click.option("--round", "round_id", metavar="ID", help="Only those that were created together.")
@click.option("--pinned/--not-pinned", default=None, help="Only those that are pinned, or are not.")
@click.option("--sort", type=click.Choice(["rank", "created_at", "priority"]), help="In which order.  [rank]")
@click.option("--limit", type=click.IntRange(1, 50), default=50, show_default=True, help="How many at the most.")
@click.option("--cursor", help="Go on where a page ended.")
@at_a_point
@research
def list_(session: Session, **wanted: Any) -> int:
    """List the queue, what is to be worked on first on top."""
    from surfaces.lines.research import ticket_page

    wanted["type"] = wanted.pop("type_")
    with session.workbench(**point(wanted)) as workbench:
        return session.read(workbench, "falsify.ticket.list", ticket_page, **_lists(wanted))


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@at_a_point
@research
def show(session: Session, ticket_id: str, **when: Any) -> None:
    """Show one ticket: what it supposes, where it is and how it came there."""
    from surfaces.lines.research import ticket as lines
    from surfaces.tools.research_rows import ticket_row

    with session.workbench(**when) as workbench:
        session.show(ticket_row(workbench.project, ticket_id), lines)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@writes
@research
def queue(session: Session, ticket_id: str, **how: Any) -> int:
    """Put a draft, or a ticket that was blocked, into the queue."""
    return _move(session, "queue", ticket_id, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@writes
@research
def eligible(session: Session, ticket_id: str, **how: Any) -> int:
    """Let a queued ticket be claimed. What it branches from must have been measured."""
    return _move(session, "make_eligible", ticket_id, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@writes
@research
def pin(session: Session, ticket_id: str, **how: Any) -> int:
    """Put a ticket on top of the queue."""
    return _move(session, "pin", ticket_id, pinned=True, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@writes
@research
def unpin(session: Session, ticket_id: str, **how: Any) -> int:
    """Let a ticket have the place that its rank gives it."""
    return _move(session, "pin", ticket_id, pinned=False, **how)


@ticket.command(context_settings={"ignore_unknown_options": True})
@click.argument("ticket_id", metavar="TICKET")
@click.argument("priority", type=int)
@writes
@research
def priority(session: Session, ticket_id: str, priority: int, **how: Any) -> int:
    """Say how much a ticket matters: -9 to 9, and 0 is usual."""
    return _move(session, "prioritize", ticket_id, priority=priority, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@click.option("--reason", required=True, help="Why this one.")
@click.option("--session", "agent_session_id", metavar="ID", help="The session that an agent works in.")
@writes
@research
def claim(session: Session, ticket_id: str, key: str | None, dry_run: bool, **said: Any) -> int:
    """Take an eligible ticket, so that nobody else works on it."""
    from surfaces.lines.research import claimed
    from surfaces.tools.workbench_acts import claim_ticket

    with session.workbench() as workbench:
        given = tool_input("falsify.ticket.claim", workbench.project_id, ticket_id=ticket_id, **said)
        return session.perform(workbench, claim_ticket(given), claimed, key=key, dry_run=dry_run)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@_reason
@writes
@research
def release(session: Session, ticket_id: str, **how: Any) -> int:
    """End a claim: one's own, and a person any."""
    return _move(session, "release", ticket_id, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@click.option("--parent", "parent_node_id", metavar="NODE", help="Branch from this node, not by the ticket's policy.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="What to change; repeatable.")
@click.option("--summary", "change_summary", default="", help="What is changed, in words.")
@click.option("--strategy", type=click.Choice(STRATEGIES), default=STRATEGIES[0], show_default=True, help="How.")
@click.option("--draft", is_flag=True, help="Do not let it run yet; `node ready` does.")
@writes
@research
def materialize(session: Session, ticket_id: str, key: str | None, dry_run: bool, **said: Any) -> int:
    """Turn a claimed ticket into a node: its parent's configuration, changed in at least one key.

    A ticket of type reproduction changes nothing: its node measures the parent again, with another seed.
    """
    from surfaces.lines.research import materialized

    with session.workbench() as workbench:
        work = _materialization(workbench, ticket_id, **said)
        return session.perform(workbench, work, materialized, key=key, dry_run=dry_run)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@_reason
@writes
@research
def block(session: Session, ticket_id: str, **how: Any) -> int:
    """Keep a ticket from being worked on; `ticket queue` brings it back."""
    return _move(session, "block", ticket_id, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@_reason
@writes
@research
def cancel(session: Session, ticket_id: str, **how: Any) -> int:
    """End a ticket that will not be worked on, for good."""
    return _move(session, "cancel", ticket_id, **how)


@ticket.command()
@click.argument("ticket_id", metavar="TICKET")
@_reason
@writes
@research
def complete(session: Session, ticket_id: str, **how: Any) -> int:
    """End a ticket whose question is answered without a decision, such as one of type literature."""
    return _move(session, "complete", ticket_id, **how)


def _move(session: Session, name: str, ticket_id: str, *, key: str | None, dry_run: bool, **said: Any) -> int:
    from falsify.belief.text import clean
    from surfaces.lines.research import done
    from surfaces.research import works

    if "reason" in said:
        said["reason"] = clean(said["reason"], what="the reason")
    work: Work = getattr(works, name)(ticket_id, **said)
    with session.workbench() as workbench:
        return session.perform(workbench, work, done, key=key, dry_run=dry_run)


def _materialization(
    workbench: "Workbench", ticket_id: str, *, assignments: tuple[str, ...], draft: bool, strategy: str, **said: Any
) -> "Work":
    """Return the command. An agent's is that of the tool, so that it can be approved; a person has all keys."""
    from falsify.belief.text import clean
    from falsify.identity import is_agent
    from falsify.workbench.contract import contract_of
    from surfaces.research import works
    from surfaces.research.contract_file import assigned
    from surfaces.tools.workbench_acts import materialize_experiment

    mutation = assigned(assignments, contract_of(workbench.project).keys)
    if is_agent(workbench.workspace.settings.actor) and not draft:
        strategy_ = {"implementation_strategy": strategy}
        sent = {**said, **strategy_, "ticket_id": ticket_id, "config_mutation": mutation}
        return materialize_experiment(tool_input("falsify.experiment.materialize", workbench.project_id, **sent))
    summary = said["change_summary"]
    return works.materialize(
        ticket_id,
        parent_node_id=said["parent_node_id"] or "",
        strategy=strategy,  # type: ignore[arg-type]  # click has checked the choice
        mutation=mutation,
        change_summary=clean(summary, what="the summary") if summary else "",
        draft=draft,
    )


def _tables(file: Path) -> list[dict[str, Any]]:
    """Return the tables of a file; that they are tickets is for the tool's input to say."""
    from falsify.errors import InvalidInputError
    from surfaces.research.contract_file import read_toml

    read = read_toml(file)
    tables = read.pop("ticket", [])
    if read or not isinstance(tables, list) or not tables:
        wrong = f"there is no key {next(iter(read))!r}" if read else "there is no [[ticket]] table"
        raise InvalidInputError(f"{file.name}: {wrong}", hint="write each ticket as a table [[ticket]]")
    return tables


def _lists(wanted: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in wanted.items()}
