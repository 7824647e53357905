"""Commands for research projects: project create, list, show, amend, mode, baseline."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from surfaces.commands.session import Session, at_a_point, note, project_named, research, writes

if TYPE_CHECKING:
    from falsify.workbench.events import Contract
    from falsify.workbench.project import Project
    from surfaces.research.contract_file import Terms
    from surfaces.workbench import Workbench
    from surfaces.workspace import Workspace

F = TypeVar("F", bound=Callable[..., Any])

MODES = ("MANUAL", "COPILOT", "AUTORESEARCH")


TERMS: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("--metric", {}, "What is measured: a metric that the executor reports.", "val_acc"),
    ("--direction", {"type": click.Choice(["maximize", "minimize"])}, "Which is better.", "maximize"),
    ("--min-effect", {"type": float}, "A smaller difference is neutral.", "0.005"),
    ("--noise-floor", {"type": float}, "So is one that chance makes.", "as --min-effect"),
    ("--tolerance", {"type": float}, "How far a reproduction may lie off.", "the larger of the two"),
    (
        "--mutable",
        {"multiple": True, "metavar": "KEY[=TYPE:RANGE]"},
        "What experiments may change, within these bounds or the executor's own; repeatable.",
        "all that it declares",
    ),
    (
        "--set",
        {"multiple": True, "metavar": "KEY=VALUE"},
        "The baseline's configuration, key by key; repeatable.",
        "the executor's",
    ),
    ("--seed", {"type": int}, "The seed with which everything is measured first.", "0"),
    ("--executor", {}, "Who runs experiments: builtin, or a table of falsify.toml.", "builtin"),
    ("--budget-runs", {"type": int}, "How many runs there may be.", "20"),
    ("--budget-seconds", {"type": float}, "How many seconds they may take in all.", "3600"),
    ("--run-seconds", {"type": float}, "How many seconds a single one may take.", "300"),
    (
        "--required-evidence",
        {"multiple": True, "metavar": "KIND"},
        "What no verdict is given without; repeatable.",
        "none",
    ),
)
"""The options that make up a contract: name, how click reads it, its help, and what holds where it is not said."""


def _terms(*, defaults: bool) -> Callable[[F], F]:
    """Give a command the options that make up a contract; their help tells the defaults or not."""

    def give(command: F) -> F:
        path = click.Path(path_type=Path)
        command = click.option("--from", "file", type=path, help="A TOML file that says it; options overrule it.")(
            command
        )
        for name, how, what, default in reversed(TERMS):
            named = (name, "assignments") if name == "--set" else (name,)
            command = click.option(*named, **how, help=f"{what}  [{default}]" if defaults else what)(command)
        return command

    return give


@click.group()
def project() -> None:
    """Research projects: a question, a contract about how it is answered, and a budget.

    A project is chosen by --project, FALSIFY_PROJECT or the setting `project`. Begin with `project create` and `project
    baseline`; then come tickets, nodes, runs and decisions.
    """


@project.command()
@click.argument("project_name", metavar="[ID]", required=False)
@click.option("--objective", help="The question that it is to answer.")
@_terms(defaults=True)
@click.option("--mode", type=click.Choice(MODES), help="How much agents may do by themselves.  [COPILOT]")
@click.option("--parent", metavar="ID", help="The project whose terms hold where nothing else is said.")
@writes
@research
def create(
    session: Session,
    project_name: str | None,
    assignments: tuple[str, ...],
    file: Path | None,
    key: str | None,
    dry_run: bool,
    **said: Any,
) -> int:
    """Begin a project. What is not said has the default in brackets; `project show` says it all.

    The contract can be amended until the first run, which freezes it. A file has the names of the options, with
    underscores; --set is a table of it:

    \b
        objective = "Which settings classify the spirals best?"
        min_effect = 0.01
        mutable = ["hidden_width=int:[4,64]", "learning_rate"]
        budget_runs = 12
        [set]
        dataset = "spirals"
        hidden_width = 8
    """  # noqa: D301 - the backspace is how click is told not to wrap lines
    from falsify.errors import InvalidInputError
    from surfaces.lines.project import created
    from surfaces.research import works
    from surfaces.research.contract_file import DEFAULT_MODE
    from surfaces.workbench import Workbench

    with session.workspace() as workspace:
        terms = _read(file).overruled(id=project_name, **_listed(said))
        parent = Workbench(workspace, terms.parent).project if terms.parent else None
        objective = terms.objective or (parent.objective if parent else "")
        if not terms.id or not objective:
            wanted = "an objective: --objective TEXT" if terms.id else "an ID"
            raise InvalidInputError(f"the project needs {wanted}", hint="or say it in a file: --from FILE.toml")
        work = works.create_project(
            terms.id,
            objective=objective,
            mode=terms.mode or (parent.mode if parent else DEFAULT_MODE),
            terms=_contract(workspace, terms, assignments, parent.contract if parent else None),
            parent=terms.parent or "",
        )
        _check_case(workspace, terms.id)
        workbench = Workbench(workspace, project_named(terms.id), new=True)
        return session.perform(workbench, work, created, key=key, dry_run=dry_run)


@project.command("list")
@research
def list_(session: Session) -> None:
    """List the research projects of the workspace; those that hold beliefs alone are named on stderr."""
    from surfaces.approvals import projects
    from surfaces.lines.project import projects as lines
    from surfaces.tools.research_rows import project_line

    with session.workspace() as workspace:
        caller = workspace.settings.actor
        every = list(projects(workspace, beliefs=True))
        session.show([project_line(each.sight(caller)) for each in every if each.project.exists], lines)
        for name in (each.project_id for each in every if not each.project.exists):
            note(f"{name} holds beliefs, and no research: see `falsify --project {name} graph`")


@project.command()
@click.argument("project_name", metavar="[ID]", required=False)
@at_a_point
@research
def show(session: Session, project_name: str | None, **when: Any) -> int:
    """Show where a project stands: contract, baseline and incumbent, budget, queue, and what happened lately.

    With --epoch, --position or --as-of where it stood then, by the same projection over that prefix of the log.
    """
    from functools import partial

    from surfaces.lines.project import project as lines

    session.project = project_name or session.project
    with session.workbench(**when) as workbench:
        told = partial(lines, past=workbench.through is not None)
        return session.read(workbench, "falsify.project.get_state", told, warn=False)


@project.command()
@_terms(defaults=False)
@writes
@research
def amend(
    session: Session, assignments: tuple[str, ...], file: Path | None, key: str | None, dry_run: bool, **said: Any
) -> int:
    """Change the contract, as long as nothing ran under it. What is not said stays as it is."""
    from surfaces.lines.project import changed
    from surfaces.research import works

    with session.workbench() as workbench:
        terms = _read(file)
        _check_unchanged(workbench, terms, file)
        contract = _contract(
            workbench.workspace, terms.overruled(**_listed(said)), assignments, workbench.project.contract
        )
        return session.perform(workbench, works.amend(contract), changed, key=key, dry_run=dry_run)


@project.command()
@click.argument("mode", type=click.Choice(MODES))
@click.option("--reason", default="", help="Why.")
@writes
@research
def mode(session: Session, mode: str, reason: str, key: str | None, dry_run: bool) -> int:
    """Change how much agents may do by themselves, which only a person can.

    MANUAL: they ask before everything but decisions that promote nothing. COPILOT: they ask before they start or cancel
    runs, promote, or revise or retract beliefs. AUTORESEARCH: they ask before they cancel a run, and for nothing else.
    """
    from surfaces.lines.research import done
    from surfaces.research import works

    with session.workbench() as workbench:
        work = works.change_mode(mode, reason=_words(reason))  # type: ignore[arg-type]  # click has checked the choice
        return session.perform(workbench, work, done, key=key, dry_run=dry_run)


@project.command()
@click.option("--wait", is_flag=True, help="Execute it here, and show how it goes.")
@click.option("--no-run", is_flag=True, help="Register it only; `falsify run start` queues its run.")
@writes
@research
def baseline(session: Session, wait: bool, no_run: bool, key: str | None, dry_run: bool) -> int:
    """Register the baseline and queue its run; `falsify worker` executes it, or --wait does it here.

    The baseline is the configuration of the contract. Once it is measured, it is the first incumbent. With --wait it
    ends with 0 if the run succeeded, and with 1 if not; --json is then what `run show` says of the run.
    """
    import orjson

    from surfaces.commands.run import follow
    from surfaces.lines.research import done
    from surfaces.research.works import register_baseline

    if wait and no_run:
        raise click.UsageError("--wait and --no-run exclude each other")
    with session.workbench() as workbench:
        active = _active_run(workbench.project)
        if wait and active and not dry_run:
            return follow(session, workbench, active)
        caller = workbench.workspace.settings.actor
        answer = workbench.perform(register_baseline(run=not no_run), caller=caller, key=key, dry_run=dry_run)
        told = orjson.loads(answer.response)
        follows = wait and not dry_run
        if not (session.as_json and follows):
            session.answer(answer, done, dry_run=dry_run)
        if follows:
            return follow(session, workbench, told["result"]["run_id"])
        if not (no_run or dry_run):
            note("`falsify worker` executes it; `falsify project baseline --wait` does, and shows how it goes")
    return 0


def _active_run(project: "Project") -> str:
    """Return the run of the baseline that is queued or goes on, or empty."""
    known = project.nodes.get(project.baseline)
    return known.run_ids[-1] if known and known.run_ids and known.run_ids[-1] in project.active else ""


def _read(file: Path | None) -> "Terms":
    from surfaces.research.contract_file import Terms, read_terms

    return Terms() if file is None else read_terms(file)


def _listed(said: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}


def _contract(
    workspace: "Workspace", terms: "Terms", assignments: tuple[str, ...], present: "Contract | None"
) -> "Contract":
    from surfaces.adapters import make_executor
    from surfaces.research.contract_file import assigned, draw_up, executor_named

    executor = make_executor(workspace.settings, workspace.root, executor_named(terms, present))
    terms = terms.overruled(set=assigned(assignments, (*executor.keys, *executor.fixed)))
    return draw_up(terms, executor=executor, root=workspace.root, present=present)


def _check_unchanged(workbench: "Workbench", terms: "Terms", file: Path | None) -> None:
    """Refuse a file that would change what is no part of the contract."""
    from falsify.errors import InvalidInputError

    for name, hint in (
        ("id", "a project keeps its id"),
        ("objective", "a project keeps its objective: start another one for another question"),
        ("parent", "a project keeps its parent"),
        ("mode", f"change it with `falsify project mode {terms.mode}`"),
    ):
        said, present = getattr(terms, name), getattr(workbench.project, name)
        if said is not None and said != present:
            raise InvalidInputError(f"{file}: {name} is {said!r}, and the project has {present!r}", hint=hint)


def _check_case(workspace: "Workspace", name: str) -> None:
    """Refuse an id whose folders would be those of another project, where file systems do not tell case apart."""
    from falsify.errors import ConflictError

    known = [each.removeprefix("project:") for each in workspace.log.streams() if each.startswith("project:")]
    for other in known:
        if other != name and other.casefold() == name.casefold():
            raise ConflictError(
                f"there is a project {other}, and {name} differs from it in case alone",
                hint="choose another id: on some systems their folders would be one",
                reason="project_exists",
            )


def _words(text: str) -> str:
    from falsify.belief.text import clean

    return clean(text, what="the reason") if text else ""
