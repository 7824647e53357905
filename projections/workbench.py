"""Research as it stands: the fold of a project's stream, and the requests that wait for a person, JSON-ready."""

from typing import Any, cast, get_args

from falsify.events import Recorded
from falsify.workbench.events import WorkbenchEvent
from falsify.workbench.project import Project, evolve
from projections.projection import Projection

WORKBENCH_EVENTS: frozenset[type] = frozenset(get_args(WorkbenchEvent))


def _evolve(project: Project, recorded: Recorded) -> Project:
    event = recorded.event
    if type(event) in WORKBENCH_EVENTS:
        return evolve(project, cast("WorkbenchEvent", event), recorded.revision, recorded.recorded_at)
    project.revision = recorded.revision
    return project


WORKBENCH: Projection[Project] = Projection("workbench", Project, _evolve)


# --- approvals -----------------------------------------------------------------------------------------------


def approval_row(project: Project, approval_id: str) -> dict[str, Any]:
    """Return a request, JSON-ready: what, who, why, and what became of it.

    `effects` is what it would do; once it is carried out, what that came to.
    """
    approval = project.approvals[approval_id]
    asked = approval.request
    return {
        "id": asked.approval_id,
        "project_id": project.id,
        "status": approval.status,
        "tool": asked.tool,
        "arguments": dict(asked.arguments),
        "digest": asked.digest,
        "asked_by": asked.asked_by,
        "reason": asked.reason,
        "asked_at_revision": asked.asked_at,
        "effects": list(approval.done if approval.status == "executed" else asked.effects),
        "relies_on": [{"about": fact.about, "value": fact.value} for fact in asked.facts],
        "decided_by": approval.decided_by or None,
        "decided_at_revision": approval.decided_at or None,
        "note": approval.note or None,
    }
