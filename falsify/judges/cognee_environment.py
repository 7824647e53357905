"""How Cognee is imported: offline, silent, and confined to one folder.

Cognee reads its settings from the process environment while it is imported, so this comes first. Left to itself it
loads any `.env` it finds, posts telemetry, writes next to its own code and into the home folder, fetches price lists
and tokenizers, clears the host's logging handlers and replaces `sys.excepthook`.
"""

import importlib
import importlib.util
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from falsify.errors import UnavailableError

_LOCK = threading.Lock()


def prepare(root: Path) -> None:
    """Point Cognee at a folder that it may write to. The first call in a process counts; later ones change nothing.

    A process that imported Cognee by itself keeps its own settings.
    """
    with _LOCK:
        if _OURS or "cognee" in sys.modules:
            return
        root = root.absolute()
        root.mkdir(parents=True, exist_ok=True)
        (root / "cognee.env").touch()
        _OURS.update(_settings(root))
        _BEFORE.update({name: os.environ[name] for name in _OURS if name in os.environ})
        os.environ.update(_OURS)


def undisturbed() -> dict[str, str]:
    """Return the environment as it was before `prepare`, for processes that are none of Cognee's.

    Experiments, say: an offline Hugging Face would not be what they expect.
    """
    return {name: value for name, value in {**os.environ, **_BEFORE}.items() if name in _BEFORE or name not in _OURS}


def import_cognee() -> Any:
    """Return the cognee package: 4 to 12 seconds the first time. Logging and `sys.excepthook` stay as they were.

    Raises UnavailableError if it cannot be imported.
    """
    with _LOCK:
        if "cognee" in sys.modules:
            return sys.modules["cognee"]
        if not _OURS:
            raise RuntimeError("prepare(root) comes first: Cognee would write into its own package")
        root = logging.getLogger()
        handlers, level, filters, hook = list(root.handlers), root.level, list(root.filters), sys.excepthook
        try:
            cognee = importlib.import_module("cognee")
            _hush(importlib.import_module("structlog"))
        except ImportError as error:
            raise UnavailableError(
                f"Cognee cannot be imported: {error}", hint="`pip install --force-reinstall falsify-log` mends it"
            ) from error
        finally:
            sys.excepthook = hook
            root.handlers[:] = handlers
            root.filters[:] = filters
            root.setLevel(level)
        return cognee


def _hush(structlog: Any) -> None:
    """Drop what Cognee logs below the level of an error. Its loggers go by all kinds of names, so no level does that.

    The list is changed in place, because loggers that were used during the import keep a reference to it.
    """

    def drop(_: Any, method: str, event: Any) -> Any:
        if method in {"debug", "info", "warning", "warn"}:
            raise structlog.DropEvent
        return event

    structlog.get_config()["processors"].insert(0, drop)


_OURS: dict[str, str] = {}
_BEFORE: dict[str, str] = {}


def _settings(root: Path) -> dict[str, str]:
    return {
        "COGNEE_ENV_FILE": str(root / "cognee.env"),  # else any .env above us is loaded, and wins
        "DATA_ROOT_DIRECTORY": str(root / "data"),  # the defaults of these five lie in site-packages or in the home
        "SYSTEM_ROOT_DIRECTORY": str(root / "system"),
        "CACHE_ROOT_DIRECTORY": str(root / "cache"),
        "COGNEE_LOGS_DIR": str(root / "logs"),
        "COGNEE_REPOS_DIR": str(root / "repos"),
        "TELEMETRY_DISABLED": "1",
        "COGNEE_LOG_FILE": "false",
        "LOG_LEVEL": "ERROR",
        "COGNEE_LOG_SEARCH_HISTORY": "false",  # it would keep the text of what is forgotten later
        "ENABLE_BACKEND_ACCESS_CONTROL": "false",  # else every dataset is a database of its own
        "CACHING": "false",
        "COGNEE_SKIP_CONNECTION_TEST": "true",
        "RECALL_WARMUP_SHORTCIRCUIT": "false",
        "GRAPH_DATABASE_SUBPROCESS_ENABLED": "false",
        "VECTOR_DB_SUBPROCESS_ENABLED": "false",
        "KUZU_BUFFER_POOL_SIZE": str(1 << 28),  # the defaults reserve 32 GB of address space each
        "KUZU_MAX_DB_SIZE": str(1 << 32),
        # Built but never called: the mirror brings its own embedder. A name that the local tokenizer table knows.
        "EMBEDDING_PROVIDER": "openai_compatible",
        "EMBEDDING_MODEL": "text-embedding-3-small",
        "EMBEDDING_DIMENSIONS": "384",
        "HF_HUB_OFFLINE": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        **_tokenizers(),
    }


def _tokenizers() -> dict[str, str]:
    """Return where tiktoken's table lies on this machine: inside litellm, of all places."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    folder = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
    return {"TIKTOKEN_CACHE_DIR": folder, "CUSTOM_TIKTOKEN_CACHE_DIR": folder}
