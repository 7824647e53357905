"""Questions to a large language model, through Cognee's gateway: answered in a bounded time, or not at all.

Cognee retries a failing endpoint for four minutes, so every question has a deadline of its own here, and what is late,
refused or malformed is an abstention with its reason.
"""

import asyncio
import hashlib
import math
import os
import sys
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from falsify.judges.cognee_environment import import_cognee, prepare
from falsify.ports import Abstention

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class Gateway:
    """Asks the model named by LLM_PROVIDER, LLM_ENDPOINT, LLM_MODEL and LLM_API_KEY.

    `root` is the folder below which Cognee may write. `timeout` is the most that one question may take, in seconds; at
    most `concurrency` are asked at a time. Importing Cognee, once in a process, comes on top.
    """

    def __init__(
        self, *, root: Path, timeout: float = 20.0, concurrency: int = 4, environ: Mapping[str, str] | None = None
    ) -> None:
        self._root = root
        self._timeout = timeout
        self._concurrency = concurrency
        self._settings = _llm_settings(os.environ if environ is None else environ)

    def version(self, prompt: str) -> str:
        """Return the model's name and a short digest of the prompt."""
        digest = hashlib.sha256(prompt.encode()).hexdigest()[:8]
        return f"{self._settings.get('llm_model', 'default')}+{digest}"

    def ask(self, questions: Sequence[str], *, prompt: str, form: type[M], about: str) -> list[M | Abstention]:
        """Return one answer of the given form for each question, in order, within a time that their number bounds.

        Once the model has failed and never answered, the rest is not asked. `about` is what a question is about, in the
        plural, for the reason that is given then.
        """
        if not questions:
            return []
        try:
            prepare(self._root)
            import_cognee()
        except Exception as error:  # noqa: BLE001  # importing Cognee runs much code of others
            return [Abstention(f"the language model cannot be asked: {_brief(error)}")] * len(questions)
        _quiet_litellm()
        waves = math.ceil(len(questions) / self._concurrency)
        turns = asyncio.Semaphore(self._concurrency)
        asking = _Round(self._settings, turns, prompt=prompt, form=form, about=about, timeout=self._timeout)
        try:
            return _LOOP.run(asking.all(questions), timeout=waves * self._timeout + _GRACE)
        except FutureTimeoutError:
            return [Abstention("the language model's client stopped responding")] * len(questions)


class _Round:
    """One round of questions, and whether the endpoint has failed, or ever answered, in it."""

    def __init__(
        self,
        settings: Mapping[str, str],
        turns: asyncio.Semaphore,
        *,
        prompt: str,
        form: type[BaseModel],
        about: str,
        timeout: float,
    ) -> None:
        self._settings = settings
        self._prompt = prompt
        self._form = form
        self._about = about
        self._timeout = timeout
        self._turns = turns
        self._failed = False
        self._answered = False

    async def all(self, questions: Sequence[str]) -> list[Any]:
        return await asyncio.gather(*map(self._one, questions))

    async def _one(self, question: str) -> Any:
        async with self._turns:
            if self._failed and not self._answered:
                return Abstention(f"not asked: the language model failed for the {self._about} before this one")
            try:
                answer = await asyncio.wait_for(self._call(question), self._timeout)
            except TimeoutError:
                self._failed = True
                return Abstention(f"the language model gave no usable answer within {self._timeout:g} s")
            except Exception as error:  # noqa: BLE001  # whatever a provider raises, it is no answer
                self._failed = True
                return Abstention(f"the language model failed: {_brief(error)}")
            self._answered = True
            if not isinstance(answer, self._form):
                return Abstention(f"the language model answered with a {type(answer).__name__}, not as it was asked to")
            return answer

    async def _call(self, question: str) -> Any:
        from cognee.context_global_variables import llm_config
        from cognee.infrastructure.llm.config import LLMConfig
        from cognee.infrastructure.llm.LLMGateway import LLMGateway

        llm_config.set(LLMConfig(**self._settings))  # of this task only: a context variable
        return await LLMGateway.acreate_structured_output(
            text_input=question, system_prompt=self._prompt, response_model=self._form
        )


def fenced(blocks: Mapping[str, str]) -> str:
    """Return titled texts, each fenced by marks that none of them can contain.

    The marks carry a digest of all texts: to write them into a text, one would have to know its own digest.
    """
    digest = hashlib.sha256("\0".join(blocks.values()).encode()).hexdigest()[:24]
    return "\n\n".join(f"{title}\n<<<{digest}\n{text}\n{digest}>>>" for title, text in blocks.items())


_GRACE: Final = 5.0  # what cancelling a call may take beyond its deadline

_VARIABLES: Final = {
    "LLM_PROVIDER": "llm_provider",
    "LLM_ENDPOINT": "llm_endpoint",
    "LLM_MODEL": "llm_model",
    "LLM_API_KEY": "llm_api_key",
    "LLM_API_VERSION": "llm_api_version",
}


def _llm_settings(environ: Mapping[str, str]) -> dict[str, str]:
    return {field: environ[name] for name, field in _VARIABLES.items() if environ.get(name)}


def _brief(error: BaseException) -> str:
    first = (str(error).strip() or "no message").splitlines()[0]
    return f"{type(error).__name__}: {first[:300]}"


def _quiet_litellm() -> None:
    """Keep litellm from printing advice to the standard output, where an answer or a protocol may be."""
    litellm: Any = sys.modules.get("litellm")
    if litellm is not None:
        litellm.suppress_debug_info = True


class _Loop:
    """One event loop on a daemon thread, for the life of the process: Cognee's clients belong to the loop they met."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, T], *, timeout: float) -> T:
        """Run a coroutine from synchronous code. A loop that does not come back in time is abandoned."""
        loop = self._running()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(timeout)
        except FutureTimeoutError:
            future.cancel()
            with self._lock:
                self._loop = None
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="falsify-llm", daemon=True).start()
            return self._loop


_LOOP: Final = _Loop()
