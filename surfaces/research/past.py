"""Research as it was: the same projections over a prefix of the log, to be read as the present is."""

from falsify.belief.graph import BeliefGraph
from falsify.belief.text import end_of, moment
from falsify.errors import NotFoundError
from falsify.events import Recorded
from falsify.workbench.project import Project
from projections.beliefs import BELIEFS
from projections.workbench import WORKBENCH
from replay.cutoff import Cutoff, resolve
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace


class PastWorkbench(Workbench):
    """The research of one project at a cutoff. It is there to be read: what is decided on it is stale.

    A command that the cutoff divides has not happened yet: a run that succeeded, and what that is evidence of, are one.
    Raises NotFoundError where there is no such project, or was none then, or for a cutoff that the log has not reached.
    """

    def __init__(self, workspace: Workspace, project_id: str, cutoff: Cutoff) -> None:
        super().__init__(workspace, project_id)
        self.through = resolve(self.log, self.stream, cutoff)
        records = self._whole(list(self.log.read(stream=self.stream, through=self.through)))
        self._project, self._graph = WORKBENCH.fold(records), BELIEFS.fold(records)
        if not self._project.exists:
            raise NotFoundError(
                f"there was no project {project_id} yet, {cutoff}",
                hint=f"see `falsify --project {project_id} log`",
                reason="no_project",
            )
        self._now = min(workspace.clock.now(), _end(cutoff, records[-1].recorded_at))

    @property
    def project(self) -> Project:
        """The project as it stood."""
        return self._project

    @property
    def graph(self) -> BeliefGraph:
        """What was believed."""
        return self._graph

    @property
    def now(self) -> int:
        """The end of the date that was asked for; else the time of the last record."""
        return self._now

    def _whole(self, records: list[Recorded]) -> list[Recorded]:
        """Return the records without those of a command that goes on after them, before which the past then ends."""
        divided = next((r.command for r in self.log.read(after=self.through or 0, stream=self.stream)), None)
        while records and records[-1].command == divided:
            self.through = records.pop().position - 1
        return records


def _end(cutoff: Cutoff, recorded_at: int) -> int:
    return recorded_at if cutoff.as_of is None else end_of(moment(cutoff.as_of))
