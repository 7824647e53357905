"""Evidence that people bring: what they read, and what they worked out. What a run measured comes from runs alone."""

from typing import Final

from falsify.errors import InvalidInputError, RefusedError
from falsify.identity import require_person
from falsify.workbench.contract import check_kinds
from falsify.workbench.events import EvidenceAttached, EvidenceKind, Exhibit, WorkbenchEvent
from falsify.workbench.project import Project
from falsify.workbench.verdicts import node_of

BROUGHT: Final[tuple[EvidenceKind, ...]] = ("literature", "analysis")
"""The kinds of evidence that no run leaves behind."""

LARGEST: Final = 10 * 1024 * 1024
"""Bytes of a file that is attached."""

LONGEST_NAME: Final = 200


def attach(
    project: Project,
    node_id: str,
    *,
    kind: EvidenceKind,
    name: str,
    media_type: str,
    sha256: str,
    size: int,
    caller: str,
) -> list[WorkbenchEvent]:
    """Return the file as evidence of a node; nothing if the node has the same bytes as that kind already.

    The node may be frozen: what was measured stays, and more is said of it.
    """
    require_person(caller, "attach evidence")
    node = node_of(project, node_id)
    _check(kind, name, size)
    there = (project.evidence[evidence_id].exhibit for evidence_id in node.evidence_ids)
    if any((exhibit.kind, exhibit.sha256) == (kind, sha256) for exhibit in there):
        return []
    exhibit = Exhibit(
        evidence_id=f"EV-{len(project.evidence) + 1}",
        kind=kind,
        name=name,
        media_type=media_type,
        sha256=sha256,
        size=size,
    )
    return [EvidenceAttached(node_id=node.id, run_id="", exhibits=(exhibit,))]


def _check(kind: str, name: str, size: int) -> None:
    check_kinds((kind,))
    if kind not in BROUGHT:
        raise RefusedError(
            f"evidence of the kind {kind} comes from runs",
            hint=f"a person attaches {' or '.join(BROUGHT)}",
            reason="measured_kind",
        )
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            f"{name[:LONGEST_NAME]!r} cannot be the name of evidence",
            hint=f"a name has 1 to {LONGEST_NAME} printable characters: --name",
        )
    if not 0 < size <= LARGEST:
        raise InvalidInputError(
            f"the file has {size:,} bytes", hint=f"it must have at least 1 and at most {LARGEST:,}", reason="file_size"
        )
