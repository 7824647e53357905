"""Commands for evidence: list, show, attach."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from surfaces.commands.session import Session, at_a_point, note, point, research, whole_file, writes

if TYPE_CHECKING:
    from falsify.artifacts import ArtifactStore
    from falsify.workbench.project import Project, StoredEvidence

KINDS = ("metric", "curve", "diff", "run_log", "artifact", "literature", "analysis", "environment")
PREVIEW = 2048


@click.group()
def evidence() -> None:
    """Evidence: the files that belong to a node. What a run leaves is attached by itself.

    Files are kept by the hash of their bytes; one that was changed or lost is reported, and never shown.
    """


@evidence.command("list")
@click.argument("node_id", metavar="NODE")
@click.option("--run", "run_id", metavar="RUN", help="Only what this run left.")
@click.option("--kind", multiple=True, type=click.Choice(KINDS), help="Only these; repeatable.")
@click.option("--preview", "include_preview", is_flag=True, help="Show how each begins.")
@click.option("--limit", type=click.IntRange(1, 50), default=50, show_default=True, help="How many at the most.")
@click.option("--cursor", help="Go on where a page ended.")
@at_a_point
@research
def list_(session: Session, kind: tuple[str, ...], **wanted: Any) -> int:
    """List the evidence of a node in the order in which it was attached."""
    from surfaces.lines.research import exhibit_page

    with session.workbench(**point(wanted)) as workbench:
        return session.read(workbench, "falsify.evidence.list", exhibit_page, kind=list(kind), **wanted)


@evidence.command()
@click.argument("evidence_id", metavar="EVIDENCE")
@click.option("--out", type=click.Path(path_type=Path), help="Write the file there, which must be new; - is stdout.")
@research
def show(session: Session, evidence_id: str, out: Path | None) -> int:
    """Show a piece of evidence and how it begins; with --out, have its bytes."""
    from falsify.errors import DamagedError
    from surfaces.lines.research import exhibit

    with session.workbench() as workbench:
        stored, artifacts = _stored(workbench.project, evidence_id), workbench.workspace.artifacts
        if out is not None:
            _write(out, artifacts.read(stored.exhibit.sha256))
            return 0
        told = _told(stored, artifacts)
    session.show(told, exhibit)
    return DamagedError.exit_code if told["fault"] else 0


@evidence.command()
@click.argument("node_id", metavar="NODE")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kind", type=click.Choice(KINDS), required=True, help="literature or analysis: runs bring the rest.")
@click.option("--name", help="What it is called.  [the name of the file]")
@writes
@research
def attach(
    session: Session, node_id: str, file: Path, kind: Any, name: str | None, key: str | None, dry_run: bool
) -> int:
    """Attach what was read or worked out to a node; the file is copied into the workspace."""
    import hashlib
    import mimetypes

    from falsify.workbench.attachments import attach as check
    from surfaces.lines.research import done
    from surfaces.research.works import attach_evidence

    content = _content(file)
    described = {
        "kind": kind,
        "name": name or file.name,
        "media_type": mimetypes.guess_type(file.name)[0] or "application/octet-stream",
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }
    with session.workbench() as workbench:
        # What a rule refuses leaves no file behind either.
        check(workbench.project, node_id, caller=workbench.workspace.settings.actor, **described)
        if not dry_run:
            workbench.workspace.artifacts.put(content)
        return session.perform(workbench, attach_evidence(node_id, **described), done, key=key, dry_run=dry_run)


def _content(file: Path) -> bytes:
    """Return the bytes of a file, one more at the most than may be attached."""
    from falsify.errors import NotFoundError
    from falsify.workbench.attachments import LARGEST

    try:
        with file.open("rb") as source:
            return source.read(LARGEST + 1)
    except OSError as error:
        raise NotFoundError(f"{file} cannot be read: {error.strerror}", hint="is it a file, and readable?") from error


def _stored(project: "Project", evidence_id: str) -> "StoredEvidence":
    from falsify.errors import NotFoundError

    if evidence_id not in project.evidence:
        raise NotFoundError(
            f"there is no evidence {evidence_id!r}", hint="see `falsify evidence list NODE`", reason="no_evidence"
        )
    return project.evidence[evidence_id]


def _told(stored: "StoredEvidence", artifacts: "ArtifactStore") -> dict[str, Any]:
    from projections.exhibits import exhibit_row
    from surfaces.tools.previews import damage, head, textual

    fault = damage(artifacts, stored)
    shown = not fault and textual(stored.exhibit.media_type)
    return {
        **exhibit_row(stored),
        "path": str(artifacts.path(stored.exhibit.sha256)),
        "fault": fault or None,
        "preview": head(artifacts, stored, PREVIEW) if shown else None,
    }


def _write(out: Path, content: bytes) -> None:
    from falsify.errors import InvalidInputError

    if str(out) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    try:
        with whole_file(out, "xb") as file:
            file.write(content)
    except OSError as error:
        raise InvalidInputError(f"{out} cannot be written: {error.strerror}", hint="name a new file") from error
    note(f"wrote {len(content):,} bytes to {out}")
