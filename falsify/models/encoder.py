"""One bundled ONNX encoder with its tokenizer: texts, or pairs of texts, to rows of numbers."""

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from falsify import models
from falsify.errors import UnavailableError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Text = str | tuple[str, str]

_BATCH = 32
_THREADS = 2  # a fixed number, so that a machine with more cores computes the same bits


class Encoder:
    """Runs one model file. It is loaded at the first use; several threads may share it."""

    def __init__(self, model: str, *, max_tokens: int, width: int) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._width = width
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def __call__(self, texts: Sequence[Text]) -> "NDArray[np.float32]":
        """Return one row for each text, in the order given, shape (len(texts), width).

        Raises UnavailableError if the model cannot be loaded or run.
        """
        import numpy as np  # heavy: not before a text is to be encoded

        rows = np.zeros((len(texts), self._width), dtype=np.float32)
        if not texts:
            return rows
        tokenizer, session = self._load()
        # One by one: encode_batch starts a thread pool that warns, and may deadlock, when the process forks.
        encodings = [tokenizer.encode(*text) if isinstance(text, tuple) else tokenizer.encode(text) for text in texts]
        for batch in _batches([len(encoding.ids) for encoding in encodings]):
            rows[batch] = self._run(session, _feed([encodings[place] for place in batch]))
        return rows

    def _run(self, session: Any, feed: "dict[str, NDArray[np.int64]]") -> "NDArray[np.float32]":
        try:
            output: NDArray[np.float32] = session.run(None, feed)[0]
        except Exception as error:  # onnxruntime's own exceptions share no base class with each other
            raise UnavailableError(f"the bundled model {self._model} failed: {error}") from error
        return output

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _open_tokenizer(self._max_tokens), _open_session(self._model)
            return self._loaded


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts of similar length together, so that little of a batch is padding."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), _BATCH):
        yield order[start : start + _BATCH]


def _feed(encodings: Sequence[Any]) -> "dict[str, NDArray[np.int64]]":
    import numpy as np  # see Encoder.__call__

    shape = len(encodings), max(len(encoding.ids) for encoding in encodings)
    feed = {name: np.zeros(shape, dtype=np.int64) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, encoding in enumerate(encodings):
        size = len(encoding.ids)
        feed["input_ids"][row, :size] = encoding.ids
        feed["attention_mask"][row, :size] = 1
        feed["token_type_ids"][row, :size] = encoding.type_ids
    return feed


def _open_tokenizer(max_tokens: int) -> Any:
    try:
        from tokenizers import Tokenizer  # heavy

        tokenizer = Tokenizer.from_file(str(models.path(models.TOKENIZER)))
    except UnavailableError:
        raise
    except Exception as error:  # tokenizers raises bare Exception for a file it cannot read
        raise _unavailable(models.TOKENIZER, error) from error
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _open_session(model: str) -> Any:
    file = models.path(model)
    try:
        import onnxruntime  # heavy

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _THREADS
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads sleep
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no base class with each other
        raise _unavailable(model, error) from error


def _unavailable(file: str, error: Exception) -> UnavailableError:
    return UnavailableError(
        f"the bundled model {file} cannot be loaded: {error}",
        hint="`falsify doctor` checks the bundled files",
    )
