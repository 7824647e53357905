"""Which embedder, judge and executor the settings ask for. Each is imported when it is made."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from falsify.errors import InvalidInputError, NotFoundError
from falsify.ports import Embedder, Executor, Judge
from surfaces.settings import BUILTIN, FILE, JudgeKind, Settings

if TYPE_CHECKING:
    from falsify.executors.command import Command

REFUTED = "REFUTED_ID"

_WEEK = 604_800.0


def make_embedder(settings: Settings, environ: Mapping[str, str]) -> Embedder:
    """Return the embedder that the settings name.

    Raises InvalidInputError or UnavailableError if it cannot be had as it is configured.
    """
    threshold = settings.embedder_threshold or None
    match settings.embedder:
        case "bundled":
            from falsify.embedders.bundled import BundledEmbedder

            return BundledEmbedder(threshold=threshold)
        case "fastembed":
            from falsify.embedders.fastembed import FastembedEmbedder

            return FastembedEmbedder(settings.embedder_model, threshold=threshold)
        case "openai":
            from falsify.embedders.openai_compatible import OpenAICompatibleEmbedder

            named = {"EMBEDDING_MODEL": settings.embedder_model} if settings.embedder_model else {}
            return OpenAICompatibleEmbedder(environ={**_as_given(environ), **named}, threshold=threshold)
        case _:
            assert_never(settings.embedder)


def make_judge(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    folder: Path,
    pinned: Callable[[str], str],
    kind: JudgeKind | None = None,
) -> Judge:
    """Return the judge of this kind, or the one that the settings name.

    Cognee, if a language model is asked through it, may write below `folder`. `pinned` returns the text of the claim
    with an id, for the judge that is pinned to it.
    """
    match _appointed(kind or settings.judge, environ):
        case "pinned":
            from falsify.judges.pinned import PinnedJudge

            target = environ.get(REFUTED, "")
            if not target:
                raise InvalidInputError(
                    "the pinned judge needs to know what to refute",
                    hint=f"set {REFUTED} to the id of a piece of evidence",
                )
            return PinnedJudge(pinned(target))
        case "llm":
            from falsify.judges.llm import LLMJudge

            return LLMJudge(root=folder, timeout=settings.judge_timeout)
        case "panel":
            from falsify.judges.panel import PanelJudge

            members = (
                make_judge(settings, environ, folder=folder, pinned=pinned, kind=member) for member in settings.panel
            )
            return PanelJudge(*members)
        case _:
            from falsify.judges.offline import OfflineJudge

            return OfflineJudge(settings.arity)


def make_executor(settings: Settings, root: Path, name: str) -> Executor:
    """Return the executor of this name: the built-in trainer, or a command of the workspace at `root`.

    Raises NotFoundError where neither is called so.
    """
    from falsify.executors.local import LocalExecutor

    if name == BUILTIN:
        return LocalExecutor(_trainer(root))
    table = settings.executor.get(name)
    if table is None:
        known = ", ".join([BUILTIN, *sorted(settings.executor)])
        raise NotFoundError(
            f"there is no executor {name!r}",
            hint=f"there are {known}; a table [executor.NAME] of {FILE} describes another (docs/settings.md)",
            reason="no_executor",
        )
    return LocalExecutor(table.command(name, root))


def _trainer(root: Path) -> "Command":
    """Return the built-in trainer as a command. How long a run of it may take is for the contract to say."""
    from falsify.config_keys import Key
    from falsify.executors import trainer
    from falsify.executors.command import Command, Limits

    texts = (Key(name=name, type="text") for name in trainer.TEXTS)
    return Command(
        name=BUILTIN,
        argv=trainer.COMMAND_ARGV,
        cwd=root,
        env=("PYTHONPATH",),  # it finds Falsify as this process does
        fixed_env={"PYTHONSAFEPATH": "1"},  # and nothing in the workspace passes for a module
        keys=trainer.KEYS,
        fixed=(*trainer.FIXED, *texts),
        limits=Limits(timeout_seconds=_WEEK),
    )


def _appointed(kind: JudgeKind, environ: Mapping[str, str]) -> JudgeKind:
    """Return who `auto` stands for."""
    if kind != "auto":
        return kind
    if environ.get("DEMO_MODE", "") not in {"", "0", "false"}:
        return "pinned"
    return "llm" if environ.get("LLM_API_KEY") else "offline"


def _as_given(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment without what Cognee's import was told: it is kept from embedding anything itself."""
    if environ is not os.environ:
        return environ
    from falsify.judges.cognee_environment import undisturbed

    return undisturbed()
