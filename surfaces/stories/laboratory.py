"""The laboratory that a story of research plays in: a project, a person, an agent who uses the tools, and a worker.

Nothing here does what the product does: the agent calls rows of the tool catalogue, the person what the command line
calls, and the worker is the real one.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import orjson

from falsify.errors import CheckFailedError, RefusedError
from falsify.ports import Metrics
from falsify.workbench.contract import contract_of
from falsify.workbench.events import Mode
from falsify.workbench.project import Run
from projections.obituary import Reason
from replay.cutoff import NOW, Cutoff
from surfaces.adapters import make_executor
from surfaces.research import works as research
from surfaces.research.contract_file import Terms, draw_up
from surfaces.running.telemetry import reported
from surfaces.running.worker import BUSY, Worker
from surfaces.settings import BUILTIN
from surfaces.stories.narration import progress
from surfaces.tools.catalogue import CATALOGUE, call, work_of
from surfaces.workbench import Workbench
from surfaces.workspace import Workspace

OWNER: Final = "owner"
AGENT: Final = "agent:scout"

Told = dict[str, Any]
"""An envelope, or a part of one."""

Watch = Callable[[str], None]
"""Shows somebody how far a run is, in a few words in the place of those before; none once it has ended."""


def unwatched(_text: str) -> None:
    """Show nobody."""


class Laboratory:
    """A project of a workspace, with a worker who has been entered."""

    def __init__(self, workspace: Workspace, project_id: str, worker: Worker, *, watch: Watch = unwatched) -> None:
        self.workspace = workspace.of(project_id)
        self.project_id = project_id
        self._worker = worker
        self._watch = watch
        self._keys = 0
        self._revision = 0  # the project's, as the agent read it last

    @property
    def bench(self) -> Workbench:
        """The project as people work on it."""
        return Workbench(self.workspace, self.project_id)

    # --- the agent ----------------------------------------------------------------------------------------

    def read(self, tool: str, **arguments: Any) -> Told:
        """Let the agent read something; return the envelope."""
        return self._call(tool, {"project_id": self.project_id, **arguments})

    def act(self, tool: str, **arguments: Any) -> Told:
        """Let the agent do something on the revision that it read last, under a key of its own; return the envelope."""
        self._keys += 1
        sent = {"idempotency_key": f"scout-{self._keys}", "expected_project_revision": self._revision}
        return self._call(tool, {"project_id": self.project_id, **arguments, **sent})

    def follow(self, told: Told, tool: str, instead: Mapping[str, Any] | None = None) -> Told:
        """Let the agent make the first call of a tool that an envelope suggests, some arguments being its own."""
        suggested = [step for step in told.get("nextActions", ()) if step["tool"] == tool]
        if not suggested:
            raise CheckFailedError(f"no call of {tool} is suggested", hint=f"suggested is {told.get('nextActions')}")
        return self._call(tool, {**suggested[0]["arguments"], **(instead or {})})

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> Told:
        response = call(self.workspace, CATALOGUE, tool, arguments, caller=AGENT)
        told = cast("Told", orjson.loads(response))
        self._revision = told["projectRevision"]
        if told["status"] not in {"ok", "approval_required"}:
            error = told["result"]["error"]
            raise RefusedError(f"{tool} answered {told['status']}: {error['message']}", hint=error["hint"])
        return told

    # --- the person ---------------------------------------------------------------------------------------

    def found(self, terms: Terms) -> None:
        """Let the person create the project."""
        root = self.workspace.root
        contract = draw_up(terms, executor=make_executor(self.workspace.settings, root, BUILTIN), root=root)
        work = research.create_project(
            self.project_id,
            objective=terms.objective or "",
            mode=terms.mode or "COPILOT",
            terms=contract,
            parent="",
        )
        Workbench(self.workspace, self.project_id, new=True).perform(work, caller=OWNER)

    def measure_baseline(self) -> None:
        """Let the person register the baseline, and queue its run."""
        self.bench.perform(research.register_baseline(run=True), caller=OWNER)

    def change_mode(self, mode: Mode, *, reason: str) -> None:
        """Let the person say how much the agent may do by itself."""
        self.bench.perform(research.change_mode(mode, reason=reason), caller=OWNER)

    def approve(self, approval_id: str, *, note: str) -> Told:
        """Let the person approve what the agent asked for, which carries it out."""
        answer = self.bench.approve(approval_id, caller=OWNER, note=note, work_of=work_of)
        return cast("Told", orjson.loads(answer.response))

    # --- the worker ---------------------------------------------------------------------------------------

    def work(self) -> list[Run]:
        """Let the worker execute what is queued, and return how it ended; raises CheckFailedError for a failure."""
        waiting = list(self.bench.project.active)
        try:
            while self._worker.tick():
                for run_id in self.bench.project.active:
                    self._watch(progress(run_id, self.lines(run_id), epochs=self._epochs))
                time.sleep(BUSY)
        finally:
            self._watch("")
        ended = [self.bench.project.runs[run_id] for run_id in waiting]
        for run in ended:
            if run.status != "SUCCEEDED":
                raise CheckFailedError(
                    f"{run.id} of {run.node_id} is {run.status}: {run.note}",
                    hint="`falsify doctor` checks this machine",
                )
        return ended

    def lines(self, run_id: str) -> list[Metrics]:
        """Return what a run has reported so far."""
        return [line for _, line in reported(self.workspace.log, self.project_id, run_id)]

    @property
    def _epochs(self) -> int:
        return int(contract_of(self.bench.project).base["epochs"])

    # --- beliefs ------------------------------------------------------------------------------------------

    @property
    def epoch(self) -> int:
        """The epoch of what is believed now."""
        return self.workspace.graph.epoch

    def why(self, name: str, *, epoch: int | None = None) -> Reason:
        """Return why something is believed or not, now or at the end of an epoch."""
        return self.workspace.why(name, NOW if epoch is None else Cutoff(epoch=epoch))

    def artifact(self, node_id: str, name: str) -> bytes:
        """Return a file that a node's run left, checked against its hash."""
        project = self.bench.project
        kept = (project.evidence[each].exhibit for each in project.nodes[node_id].evidence_ids)
        return self.workspace.artifacts.read(next(each.sha256 for each in kept if each.name == name))
