"""The command that takes in files: documents of several formats, and belief files."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, common, note, writes

if TYPE_CHECKING:
    from falsify.errors import FalsifyError
    from surfaces.intake import Found, Taken, Wishes
    from surfaces.workspace import Workspace


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--from-brain", "page", metavar="PAGE", help="A page of the brain, memory/...; it is followed from then on."
)
@click.option("--question", help="Which question the claims bear on, where there are several.")
@click.option("--source", "source_id", default="", help="Who asserts the claims; the file's path, if not given.")
@click.option("--source-title", default="", help="The source's title; the document's own, if not given.")
@click.option("--asserted-at", metavar="DATE", default="", help="When they were asserted; if not given, as it says.")
@click.option("--trust", type=float, help="How far the source is trusted; equal trust is the default, 1.")
@click.option("--extract", type=click.Choice(["sentences", "llm"]), help="Who finds the claims in prose.")
@click.option("--judge/--no-judge", "judged", default=False, help="Hold new claims against those recorded before.")
@writes
@common
def ingest(
    session: Session, files: tuple[Path, ...], page: str | None, key: str | None, dry_run: bool, **wishes: Any
) -> int:
    """Record files and folders: text, markdown, HTML, PDF, JSON Lines and CSV of claims, and belief files.

    A document is a source, and its claims are evidence that it asserts; of an edited one, what is new is recorded and
    what is gone is withdrawn. A file is recorded as a whole or not at all; the same file twice changes nothing. What
    is taken from a page of the brain is superseded when the page is. See docs/ingest.md, and docs/belief-files.md for
    YAML and JSON.
    """
    from surfaces.intake import Wishes, find, take
    from surfaces.text import answer

    if bool(files) == bool(page):
        raise click.UsageError("name files, or one page with --from-brain")
    if page:
        _page(session, page, Wishes(**{**wishes, "extract": wishes["extract"] or ""}), key=key, dry_run=dry_run)
        return 0
    found, others = find(files)
    single = len(files) == 1 and not files[0].is_dir()
    if key is not None and not single:
        raise click.UsageError("an idempotency key belongs to one file: ingest them one by one")
    wished = Wishes(**{**wishes, "extract": wishes["extract"] or ""})
    with session.workspace() as workspace:
        if not single:
            return _several(session, workspace, found, wished, dry_run=dry_run, passed_over=len(others))
        taken = take(
            workspace,
            found[0],
            wished,
            key=key,
            dry_run=dry_run,
            watch=lambda claims: session.progress(claims, length=len(claims), label="Judging"),
        )
        if taken is not None:
            _note([taken])
            session.outcome(taken.outcome, answer)
            _embed(workspace, [taken], dry_run=dry_run)
    return 0


def _page(session: Session, page: str, wishes: "Wishes", *, key: str | None, dry_run: bool) -> None:
    from surfaces.brain import Brain
    from surfaces.pages.evidence import take_page
    from surfaces.text import answer

    with session.workspace() as workspace:
        caller = workspace.settings.actor
        taken = take_page(
            workspace,
            Brain(workspace),
            page,
            wishes,
            caller=caller,
            key=key,
            dry_run=dry_run,
            watch=lambda claims: session.progress(claims, length=len(claims), label="Judging"),
        )
        _note([taken])
        session.outcome(taken.outcome, answer)
        _embed(workspace, [taken], dry_run=dry_run)


def _several(
    session: Session,
    workspace: "Workspace",
    found: "list[Found]",
    wishes: "Wishes",
    *,
    dry_run: bool,
    passed_over: int,
) -> int:
    from falsify.errors import InvalidInputError, NotFoundError
    from surfaces.intake import take
    from surfaces.text import taken as render

    done: list[Taken] = []
    failed: list[tuple[str, FalsifyError]] = []
    for file in session.progress(found, length=len(found), label="Recording"):
        try:
            taken = take(workspace, file, wishes, dry_run=dry_run)
        except (InvalidInputError, NotFoundError) as error:
            failed.append((str(file.path), error))
            continue
        if taken is None:
            passed_over += 1
        else:
            done.append(taken)
    _note(done)
    session.show(_told(done, failed, passed_over, dry_run=dry_run), render)
    _embed(workspace, done, dry_run=dry_run)
    return InvalidInputError.exit_code if failed else 0


def _told(
    done: "list[Taken]", failed: "list[tuple[str, FalsifyError]]", passed_over: int, *, dry_run: bool
) -> dict[str, Any]:
    files = [{"path": taken.path, "notes": list(taken.notes), **taken.outcome.as_json()} for taken in done]
    return {
        "ok": not failed,
        "status": failed[0][1].status if failed else "ok",
        "tool": "ingest",
        "dry_run": dry_run,
        "files": files,
        "failed": [
            {"path": path, "error": {"message": error.message, "hint": error.hint, "exit_code": error.exit_code}}
            for path, error in failed
        ],
        "totals": {
            "files": len(files),
            "unchanged": sum(not file["recorded"] and not file["changes"] for file in files),
            "claims": sum(file["document"]["new"] for file in files if "document" in file),
            "failed": len(failed),
            "passed_over": passed_over,
        },
    }


def _note(done: "list[Taken]") -> None:
    for taken in done:
        for text in taken.notes:
            note(f"{taken.path}: {text}")


def _embed(workspace: "Workspace", done: "list[Taken]", *, dry_run: bool) -> None:
    """Bring the claims index up to the present, so that the next fact or recall does not wait for it."""
    if not dry_run and any("document" in taken.outcome.as_json() for taken in done):
        _ = workspace.index
