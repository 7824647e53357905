"""Commands for pages: import, export, list, show."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from surfaces.commands.brain.evidence import tell_followed
from surfaces.commands.brain.indexing import index
from surfaces.commands.session import Session, common

if TYPE_CHECKING:
    from falsify.brain.page import Page
    from falsify.brain.scope import Scope
    from projections.pages import PageView
    from surfaces.brain import Brain


@click.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--no-history", is_flag=True, help="Record the files as they are, without the git history.")
@click.option("--prune", is_flag=True, help="Remove every page that is not in the folder, however many they are.")
@click.option("--no-index", is_flag=True, help="Leave indexing to the first search.")
@click.option("--dry-run", is_flag=True, help="Show what would follow; append nothing.")
@common
def import_(session: Session, folder: Path, *, no_history: bool, prune: bool, no_index: bool, dry_run: bool) -> int:
    """Record the pages of a folder: markdown with front matter, as it is or below memory/; an Obsidian vault will do.

    Where git knows the folder, each commit's version is recorded with its date and author; what is not committed comes
    last, dated by its file. Only what is new is recorded, so an import can be repeated, and an edit, a move or a
    deletion becomes an event. A page that cannot be read is reported with file and line and left as it was; the rest
    is recorded, and the command ends with 2. Hidden folders, files that are no markdown, the templates of an Obsidian
    vault, and folders named `personal` are not recorded. Where more than half of the imported pages are not in the
    folder, it is taken for the wrong one: nothing is recorded without --prune. See docs/brain.md.

    Then the pages are indexed for search, some eight a second with the bundled embedder; cut short, it goes on where
    it was with the next import or search.
    """
    from falsify.errors import InvalidInputError
    from surfaces.brain import Brain
    from surfaces.lines.page import imported
    from surfaces.pages.transfer import import_folder

    with session.workspace() as workspace:
        brain = Brain(workspace)
        told = import_folder(
            brain,
            folder,
            caller=workspace.settings.actor,
            history=not no_history,
            prune=prune,
            dry_run=dry_run,
            watch=session.progress,
        )
        if not dry_run:
            tell_followed(workspace, brain)
        session.show(told, imported)
        if not (dry_run or no_index):
            index(session, brain)
    return 0 if told["ok"] else InvalidInputError.exit_code


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--as-of", metavar="DATE", help="As the pages were known at this date.")
@click.option("--force", is_flag=True, help="Write over what is in the folder.")
@common
def export(session: Session, folder: Path, as_of: str | None, *, force: bool) -> int:
    """Write the pages to an empty folder, word for word as they were recorded, with the org map.

    What is exported can be imported: that records nothing new.
    """
    from falsify.errors import InvalidInputError
    from surfaces.brain import Brain
    from surfaces.lines.page import exported
    from surfaces.pages.transfer import export_folder

    with session.workspace() as workspace:
        told = export_folder(
            Brain(workspace),
            folder,
            caller=workspace.settings.actor,
            known_at=_end_of_day(as_of),
            force=force,
            watch=session.progress,
        )
    session.show(told, exported)
    return 0 if told["ok"] else InvalidInputError.exit_code


@click.command("list")
@click.argument("prefix", default="")
@click.option("--as-of", metavar="DATE", help="As the pages were known at this date.")
@common
def list_(session: Session, prefix: str, as_of: str | None) -> None:
    """List the pages whose path begins with PREFIX: type, department, state, date and title."""
    from surfaces.brain import Brain
    from surfaces.lines.page import listed, page_row

    with session.workspace() as workspace:
        view, scope = _sight(Brain(workspace), as_of)
        rows = [
            page_row(view, page) for path, page in view.pages.items() if path.startswith(prefix) and scope.sees(page)
        ]
    session.show(rows, listed)


@click.command()
@click.argument("path", metavar="PAGE")
@click.option("--as-of", metavar="DATE", help="As the page was known at this date.")
@click.option("--history", is_flag=True, help="List its versions instead: when, who, and which commit.")
@common
def show(session: Session, path: str, as_of: str | None, *, history: bool) -> None:
    """Show a page as it was written. PAGE is its path, title, alias or file name."""
    from projections.pages import past
    from surfaces.brain import Brain
    from surfaces.lines.page import page_row, version_row, versions

    with session.workspace() as workspace:
        brain = Brain(workspace)
        view, scope = _sight(brain, as_of)
        page = _found(view, scope, path)
        version = view.versions[page.rel_path]
        if history:
            known = [v for v in past(brain.library, page.rel_path) if as_of is None or v.known_at <= version.known_at]
            session.show([version_row(each) for each in known], versions)
        elif session.as_json:
            session.show({**page_row(view, page), "text": version.text}, tuple)
        else:
            session.show_bytes((version.text or "").encode())


def _sight(brain: "Brain", as_of: str | None) -> "tuple[PageView, Scope]":
    """Return the pages of a moment, and what whoever asks may see of them."""
    view, scope = brain.pages(_end_of_day(as_of)), brain.scope(brain.workspace.settings.actor)
    return view.narrowed(brain.library, scope.sees) if as_of else view, scope


def _found(view: "PageView", scope: "Scope", name: str) -> "Page":
    """Return the page that a name means among those that may be seen. Raises NotFoundError where there is none."""
    from falsify.brain.links import resolve
    from falsify.errors import NotFoundError

    page = view.page(name)
    if page is not None and scope.sees(page):
        return page
    path = resolve(name, view.links, sees=lambda path: scope.sees(view.pages[path]))
    if path is None:
        hint = "see `falsify brain list`; one that is gone is shown with --as-of"
        raise NotFoundError(f"there is no page {name!r}", hint=hint)
    return view.pages[path]


def _end_of_day(as_of: str | None) -> str | None:
    """Return the moment that a date means: the end of that day in UTC."""
    if as_of is None:
        return None
    from falsify.belief.text import end_of, moment, written

    return written(end_of(moment(as_of, what="--as-of")))
