"""The command that serves the tools to agents: mcp, and mcp config."""

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from falsify.errors import ForbiddenError, InvalidInputError
from falsify.identity import identity, is_agent
from surfaces.commands.session import Session, note, project_named

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from surfaces.mcp.server import Identify, Options, ToolNames
    from surfaces.workspace import Workspace


@click.group(invoke_without_command=True)
@click.option("--as", "named", metavar="IDENTITY", help="Who calls: owner, person:SLUG or agent:NAME; else `actor`.")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP at /mcp, to the bearers of tokens.")
@click.option("--allow-host", "hosts", metavar="NAME", multiple=True, help="Another name of this server, over HTTP.")
@click.option(
    "--tool-names",
    type=click.Choice(["dotted", "underscore"]),
    default="dotted",
    show_default=True,
    help="How names are published: underscore for clients that refuse dots. Both can be called.",
)
@click.option(
    "--approval-url",
    metavar="URL",
    default="",
    help="Where people answer requests, with {id} in it; clients that can are asked to open it. Else `approval_url`.",
)
@click.option("--worker/--no-worker", default=True, show_default=True, help="Execute queued runs while serving.")
@click.option("--project", "project_id", metavar="ID", help="The project whose settings hold.")
@click.option("-w", "--workspace", "folder", type=click.Path(), help="The workspace.")
@click.pass_context
def mcp(
    context: click.Context,
    folder: str | None,
    project_id: str | None,
    named: str | None,
    address: str | None,
    hosts: tuple[str, ...],
    tool_names: "ToolNames",
    approval_url: str,
    worker: bool,
) -> None:
    """Serve the tools to agents over the Model Context Protocol, until the client closes or SIGTERM.

    Without --http it is one client at standard input and output, who is the setting `actor` or --as. With --http it
    is whoever brings a token (see `falsify token create`); with --as too, no token is needed on this machine, and
    everybody is that agent. Reads leave nothing in the log; what a call does is there under the name of its caller.
    """
    if context.invoked_subcommand is not None:
        context.obj = {**(context.obj or {}), **({"folder": folder} if folder else {})}
        return
    with _uncollected():
        from surfaces.mcp.server import Options
        from surfaces.settings import approval_page

    session = _session(context, folder, project_id)
    options = Options(tool_names=tool_names, approval_url=approval_page(approval_url))
    if address is None:
        _over_stdio(session, named, options, worker=worker)
    else:
        _over_http(session, address, named, hosts, options, worker=worker)


def _session(context: click.Context, folder: str | None, project: str | None = None) -> Session:
    given = context.obj or {}
    named = project_named(project or given.get("project") or "")
    return Session(folder or given.get("folder"), as_json=False, project=named)


def _over_stdio(session: Session, named: str | None, options: "Options", *, worker: bool) -> None:
    with ExitStack() as life:
        with _uncollected():
            from surfaces.mcp import journal
            from surfaces.mcp.identity import Caller
            from surfaces.mcp.server import always
            from surfaces.mcp.stdio import serve_stdio

            life.enter_context(journal.kept())
            workspace = life.enter_context(session.workspace())
            who = _caller(workspace, named)
            server = _opened(session, workspace, life, always(Caller(who)), options, worker=worker)
        if not is_agent(who):
            note(f"every call is {who}'s own: nothing waits for approval; name an agent with --as agent:NAME")
        serve_stdio(server, life)


def _over_http(
    session: Session, listens: str, named: str | None, hosts: tuple[str, ...], options: "Options", *, worker: bool
) -> None:
    from surfaces.commands.worker import Interruption
    from surfaces.mcp import journal
    from surfaces.mcp.http.serving import Address, allowed, by_token, http_app, listen, serve_http
    from surfaces.mcp.identity import Caller
    from surfaces.mcp.server import always
    from surfaces.mcp.tokens import Tokens

    address = Address.parse(listens)
    names = allowed(address, hosts)
    # uvicorn raises the signal anew that ended it: then it is ours, and what is open is closed in order.
    with ExitStack() as life, journal.kept(), Interruption().awaited() as asked_to_end:
        workspace = life.enter_context(session.workspace())
        tokens = Tokens(workspace.log, workspace.clock) if named is None else None
        identify = by_token if named is None else always(Caller(_without_token(workspace, named, address.loopback)))
        server = _opened(session, workspace, life, identify, options, worker=worker)
        listening = life.enter_context(listen(address))
        if not address.loopback:
            note(
                f"{address.host} is not only this machine: tokens cross the network in the clear, unless TLS ends here"
            )
        note(f"serving at {address.url(listening.getsockname()[1])}")
        serve_http(http_app(server, tokens=tokens, names=names), listening, asked_to_end=asked_to_end)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector off what starting makes: none of it ever goes away, and there is much of it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _opened(
    session: Session, workspace: "Workspace", life: ExitStack, identify: "Identify", options: "Options", *, worker: bool
) -> "Server[object]":
    """Return a server of the workspace; what it needs is closed with `life`, the worker first."""
    from surfaces.mcp.desk import Desk
    from surfaces.mcp.server import make_server

    desk = life.enter_context(Desk(workspace))
    if worker:
        life.enter_context(_at_work(session, workspace))
    approval_url = options.approval_url or workspace.settings.approval_url
    return make_server(desk, identify, replace(options, approval_url=approval_url))


def _at_work(session: Session, workspace: "Workspace") -> "AbstractContextManager[None]":
    from surfaces.running.worker import serving

    return serving(workspace.root, project=session.project)


def _caller(workspace: "Workspace", named: str | None) -> str:
    """Return who calls; a workspace that is an agent's is served to nobody else."""
    actor = workspace.settings.actor
    who = identity(named or actor)
    if is_agent(actor) and who != actor:
        raise ForbiddenError(f"{actor} may not serve as {who}", hint="leave --as out", reason="not_yourself")
    return who


def _without_token(workspace: "Workspace", named: str, loopback: bool) -> str:
    """Return who everybody is that connects without a token: an agent, and only on this machine."""
    who = _caller(workspace, named)
    if not loopback or not is_agent(who):
        raise InvalidInputError(
            "without tokens, HTTP is served on this machine only, and only to an agent",
            hint="leave --as out and make tokens with `falsify token create`",
        )
    return who


@mcp.command()
@click.argument("client", type=click.Choice(["claude-desktop", "claude-code", "codex", "vscode"]))
@click.option("--as", "named", metavar="IDENTITY", help="Who the client is; else agent: and its name.")
@click.option("-w", "--workspace", "folder", type=click.Path(), help="The workspace.")
@click.pass_context
def config(context: click.Context, client: str, named: str | None, folder: str | None) -> None:
    """Print the configuration with which a client starts this server, as an agent of its name.

    It says on stderr where that goes. Names have underscores where the client refuses dots.
    """
    from surfaces.mcp.clients import CLIENTS, configuration

    with _session(context, folder).workspace() as workspace:
        who = _caller(workspace, named or (None if is_agent(workspace.settings.actor) else f"agent:{client}"))
        click.echo(configuration(client, workspace.root, identity=who))
    note(f"put it into {CLIENTS[client].where}")
