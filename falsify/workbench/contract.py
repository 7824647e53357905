"""The project and its contract: what is promised before the first run, and cannot be changed after it."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import get_args

import orjson

from falsify.config_keys import Key, Value, admit_all
from falsify.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from falsify.identity import require_person, require_project_id
from falsify.workbench.events import (
    Contract,
    ContractAmended,
    EvidenceKind,
    Mode,
    ModeChanged,
    ProjectCreated,
    WorkbenchEvent,
)
from falsify.workbench.plan import Plan
from falsify.workbench.project import Project

EVIDENCE_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)

_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_./-]{0,119}")


def create_project(
    project: Project,
    *,
    project_id: str,
    objective: str,
    question_id: str,
    mode: Mode,
    contract: Contract,
    parent: str,
    caller: str,
) -> list[WorkbenchEvent]:
    """Return the beginning of a project. Raises ConflictError where there is one of that name."""
    require_person(caller, "create a project")
    if project.exists:
        raise ConflictError(
            f"there is a project {project_id} already", hint="choose another id", reason="project_exists"
        )
    require_project_id(project_id)
    created = ProjectCreated(
        project_id=project_id,
        objective=objective,
        question_id=question_id,
        mode=mode,
        contract=contract,
        parent=parent,
    )
    return [created]


def amend_contract(project: Project, contract: Contract, *, caller: str) -> list[WorkbenchEvent]:
    """Return the change of a contract under which nothing ran yet; nothing if it is the same."""
    present = contract_of(project)
    require_person(caller, "change the contract")
    if project.contract_digest:
        raise RefusedError(
            f"the contract of {project.id} froze with its first run",
            hint=f"start a new project under other terms: `falsify project create NEW --parent {project.id} ...`",
            reason="contract_frozen",
            details={"digest": project.contract_digest},
        )
    if project.baseline and (contract.base, contract.seed) != (present.base, present.seed):
        raise RefusedError(
            f"the baseline {project.baseline} is registered with the configuration and the seed as they were",
            hint=f"start a new project: `falsify project create NEW --parent {project.id} ...`",
            reason="baseline_registered",
        )
    return [] if contract == present else [ContractAmended(contract=contract)]


def change_mode(project: Project, mode: Mode, *, reason: str, caller: str) -> list[WorkbenchEvent]:
    """Return the change of the autonomy mode, and what it opens for agents; nothing if it is the same."""
    contract_of(project)
    require_person(caller, "change the autonomy mode")
    if mode == project.mode:
        return []
    plan = Plan(project)
    plan.record(ModeChanged(mode=mode, previous=project.mode, reason=reason))
    plan.open_queue()
    return plan.events


def contract_of(project: Project) -> Contract:
    """Return the project's contract. Raises NotFoundError where the project was not created."""
    if project.contract is None:
        named = f"project {project.id!r}" if project.id else "project of that id"
        raise NotFoundError(f"there is no {named}", hint="see `falsify project list`", reason="no_project")
    return project.contract


def checked(contract: Contract, declared: Sequence[Key], fixed: Sequence[Key] = ()) -> Contract:
    """Return the contract with its base in the declared types, or raise InvalidInputError that says what is wrong.

    `declared` are the keys that the executor lets experiments change, `fixed` those that only a contract sets. The
    mutable keys are among the declared ones, and no wider.
    """
    known = {key.name: key for key in declared}
    for key in contract.keys:
        if key.name not in known:
            raise InvalidInputError(
                f"the executor {contract.executor!r} declares no mutable key {key.name!r}",
                hint=f"it declares {', '.join(known) or 'none'}",
            )
        if not key.within(known[key.name]):
            raise InvalidInputError(
                f"the mutable key {key.name} may be {key.bounds}", hint=f"the executor takes {known[key.name].bounds}"
            )
    if len({key.name for key in contract.keys}) < len(contract.keys):
        raise InvalidInputError("a mutable key is named twice", hint="name each key once")
    _check_numbers(contract)
    _check_names(contract)
    return Contract(**{**contract.__dict__, "base": _based(contract, (*declared, *fixed))})


def digest(contract: Contract) -> str:
    """Return the SHA-256 of the contract's canonical JSON, in hexadecimal."""
    return hashlib.sha256(orjson.dumps(asdict(contract), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _based(contract: Contract, declared: Sequence[Key]) -> Mapping[str, Value]:
    base = admit_all(declared, contract.base)
    missing = [key.name for key in contract.keys if key.name not in base]
    if missing:
        raise InvalidInputError(
            f"the baseline says nothing of {', '.join(missing)}", hint="give every mutable key its baseline value"
        )
    for key in contract.keys:
        key.admit(base[key.name])
    return base


def _check_numbers(contract: Contract) -> None:
    for name in ("minimum_effect", "noise_floor", "tolerance"):
        if not 0.0 <= getattr(contract, name) < math.inf:
            raise InvalidInputError(f"{name} is {getattr(contract, name)}", hint="it must be a number of at least 0")
    if contract.budget_runs < 1:
        raise InvalidInputError(f"a budget of {contract.budget_runs} runs measures nothing", hint="allow at least 1")
    for name in ("budget_seconds", "run_seconds"):
        if not 0.0 < getattr(contract, name) < math.inf:
            raise InvalidInputError(f"{name} is {getattr(contract, name)}", hint="it must be more than 0")
    if not 0 <= contract.seed < 2**53:
        raise InvalidInputError(f"the seed is {contract.seed}", hint="it must be between 0 and 2^53 - 1")


def _check_names(contract: Contract) -> None:
    if not _METRIC.fullmatch(contract.metric):
        raise InvalidInputError(f"{contract.metric!r} cannot be the name of a metric", hint="for example val_acc")
    check_kinds(contract.required_evidence)


def check_kinds(kinds: Sequence[str]) -> None:
    """Raise InvalidInputError for what is no kind of evidence."""
    for kind in kinds:
        if kind not in EVIDENCE_KINDS:
            raise InvalidInputError(
                f"{kind!r} is no kind of evidence", hint=f"the kinds are {', '.join(EVIDENCE_KINDS)}"
            )
