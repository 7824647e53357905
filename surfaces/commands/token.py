"""Commands for the tokens with which agents and people come in over HTTP: token create, list, revoke."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from falsify.errors import InvalidInputError
from falsify.identity import require_person
from surfaces.commands.session import Session, common, note

if TYPE_CHECKING:
    from falsify.access.tokens import Token
    from surfaces.mcp.tokens import Tokens
    from surfaces.workspace import Workspace

_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LONGEST: Final = 3_650 * 86_400


@click.group()
def token() -> None:
    """Tokens with which agents and people come in over HTTP; whoever has one is who it says.

    They are for people to make and to take back: the setting `actor` must be a person. Of a token only its SHA-256
    is kept.
    """


@token.command()
@click.option("--agent", metavar="NAME", help="Its bearer is agent:NAME.")
@click.option("--person", metavar="SLUG", help="Its bearer is person:SLUG.")
@click.option("--project", "projects", metavar="ID", multiple=True, help="Only this project exists for it. Repeatable.")
@click.option("--ttl", default="30d", show_default=True, help="How long it holds: 90s, 15m, 12h, 30d, 8w or never.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-w", "--workspace", "folder", type=click.Path(), help="The workspace.")
@click.pass_context
def create(
    context: click.Context,
    agent: str | None,
    person: str | None,
    projects: tuple[str, ...],
    ttl: str,
    as_json: bool,
    folder: str | None,
) -> None:
    """Make a token and print it, once: nobody can show it again."""
    given = context.obj or {}
    named = projects or ((given["project"],) if given.get("project") else ())
    session = Session(folder or given.get("folder"), as_json=as_json)
    with _tokens(session, "create tokens") as (workspace, tokens):
        for project in named:
            if not workspace.log.revision(f"project:{project}"):
                note(f"there is no project {project} yet")
        secret, known = tokens.create(
            identity=_bearer(agent, person), projects=named, ttl=_seconds(ttl), caller=workspace.settings.actor
        )
        row = _row(known, workspace.clock.now())
    session.show({"ok": True, "status": "ok", "token": secret, **row}, lambda told: [told["token"]])
    if not as_json:
        note(f"{known.id}: {_line(row)}; it is shown only now; take it back with `falsify token revoke {known.id}`")


@token.command("list")
@common
def list_(session: Session) -> None:
    """List the tokens there are and were, with who made them."""
    with _tokens(session, "list tokens") as (workspace, tokens):
        now = workspace.clock.now()
        told = [_row(each, now) for each in tokens.access.tokens.values()]
    session.show(told, _lines)


@token.command()
@click.argument("token_id", metavar="ID")
@common
def revoke(session: Session, token_id: str) -> None:
    """Take a token back: from its bearer's next request on it is unknown."""
    with _tokens(session, "revoke tokens") as (workspace, tokens):
        known = tokens.revoke(token_id, caller=workspace.settings.actor)
        row = _row(known, workspace.clock.now())
    session.show({"ok": True, "status": "ok", **row}, lambda told: [f"{told['id']}  {_line(told)}"])


@contextmanager
def _tokens(session: Session, to: str) -> "Iterator[tuple[Workspace, Tokens]]":
    """Open the tokens of the workspace; `to` says what an agent may not."""
    from surfaces.mcp.tokens import Tokens

    with session.workspace() as workspace:
        require_person(workspace.settings.actor, to)
        yield workspace, Tokens(workspace.log, workspace.clock)


def _bearer(agent: str | None, person: str | None) -> str:
    if (agent is None) == (person is None):
        raise InvalidInputError("a token has one bearer", hint="name it with --agent NAME or with --person SLUG")
    return f"agent:{agent}" if person is None else f"person:{person}"


def _seconds(ttl: str) -> int:
    """Return how long a token holds, 0 for one that never expires."""
    if ttl == "never":
        return 0
    written = re.fullmatch(r"([1-9][0-9]{0,8})([smhdw])", ttl, re.ASCII)
    seconds = int(written[1]) * _SECONDS[written[2]] if written else 0
    if not 0 < seconds <= _LONGEST:
        raise InvalidInputError(f"{ttl!r} is no time to live", hint="write 90s, 15m, 12h, 30d, 8w or never")
    return seconds


def _row(known: "Token", now: int) -> dict[str, Any]:
    from falsify.belief.text import written

    return {
        "id": known.id,
        "identity": known.identity,
        "projects": list(known.projects),
        "status": known.status(now),
        "created_by": known.created_by,
        "expires_at": written(known.expires_at) if known.expires_at else None,
        "revoked_by": known.revoked_by or None,
    }


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "there are no tokens"
    for row in rows:
        yield f"{click.style(row['id'], bold=True)}  {_line(row)}"


def _line(row: dict[str, Any]) -> str:
    where = ", ".join(row["projects"]) or "every project"
    until = f"until {row['expires_at']}" if row["expires_at"] else "for ever"
    state = {"valid": until, "expired": f"expired at {row['expires_at']}"}.get(
        row["status"], f"revoked by {row['revoked_by']}"
    )
    return f"{row['identity']}  {where}  {state}, made by {row['created_by']}"
