"""Embeddings from any endpoint that speaks OpenAI's protocol, set up by the names that Cognee uses.

EMBEDDING_ENDPOINT, EMBEDDING_MODEL, EMBEDDING_API_KEY (else LLM_API_KEY), EMBEDDING_DIMENSIONS; EMBEDDING_PROVIDER may
be `openai`, or `openai_compatible` for a server of one's own. Texts leave this machine; nothing else does.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from falsify.embedders.calibration import OPENAI, calibration
from falsify.errors import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    import httpx
    import numpy as np
    from numpy.typing import NDArray

OFFICIAL: Final = "https://api.openai.com/v1"
DEFAULT_MODEL: Final = "text-embedding-3-small"
PROVIDERS: Final = frozenset({"openai", "openai_compatible"})

DIMENSIONS: Final = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
"""What the models of OpenAI return; of others EMBEDDING_DIMENSIONS must tell."""

_BATCH: Final = 64
_CHARACTERS: Final = 8_000  # of a text; OpenAI's models refuse more than 8,191 tokens
_ATTEMPTS: Final = 3
_PAUSE: Final = 0.5  # seconds before the second attempt, twice that before the third
_PASSING: Final = frozenset({408, 409, 429, 500, 502, 503, 504})


class OpenAICompatibleEmbedder:
    """Asks an endpoint for embeddings, in batches, each answered within `timeout` seconds or tried again twice.

    Raises InvalidInputError if the configuration does not say enough. The endpoint is first asked when a text is
    embedded.
    """

    def __init__(
        self, *, environ: Mapping[str, str] | None = None, threshold: float | None = None, timeout: float = 30.0
    ) -> None:
        environ = os.environ if environ is None else environ
        provider = environ.get("EMBEDDING_PROVIDER") or "openai"
        if provider not in PROVIDERS:
            raise InvalidInputError(
                f"EMBEDDING_PROVIDER is {provider!r}, which is not spoken here",
                hint=f"it may be {' or '.join(sorted(PROVIDERS))}; many servers offer that protocol under /v1",
            )
        self._model = _model(environ.get("EMBEDDING_MODEL") or DEFAULT_MODEL)
        self._url = _url(environ.get("EMBEDDING_ENDPOINT") or OFFICIAL)
        self._key = environ.get("EMBEDDING_API_KEY") or environ.get("LLM_API_KEY") or ""
        if not self._key and self._url.startswith(OFFICIAL):
            raise InvalidInputError("OpenAI's embeddings need a key", hint="set EMBEDDING_API_KEY")
        self.dimensions = _dimensions(self._model, environ.get("EMBEDDING_DIMENSIONS", ""))
        self.name = f"{OPENAI}{self._model}:{self.dimensions}"
        self.threshold = calibration(self.name).threshold if threshold is None else threshold
        self._timeout = timeout

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one L2-normalised row for each text; what lies beyond 8,000 characters of a text is not read.

        Raises UnavailableError that says what the endpoint did instead of answering.
        """
        import numpy as np  # heavy: not before a text is to be embedded

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        import httpx  # heavy

        with httpx.Client(timeout=self._timeout, headers=self._headers()) as client:
            for start in range(0, len(texts), _BATCH):
                batch = [text[:_CHARACTERS] or " " for text in texts[start : start + _BATCH]]  # "" is refused
                rows[start : start + len(batch)] = self._vectors(self._ask(client, batch), len(batch))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._unusable("a vector without a direction")
        return np.asarray(rows / lengths, dtype=np.float32)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _ask(self, client: "httpx.Client", batch: list[str]) -> Any:
        """Return the answer's JSON; an endpoint that is busy or broken is asked again, a bounded number of times."""
        import httpx

        body: dict[str, Any] = {"model": self._model, "input": batch, "encoding_format": "float"}
        if self._model.startswith("text-embedding-3") and self.dimensions != DIMENSIONS.get(self._model):
            body["dimensions"] = self.dimensions
        problem = ""
        for pause in _pauses():
            time.sleep(pause)
            try:
                response = client.post(self._url, json=body)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                problem = f"{type(error).__name__}: {error}"
                continue
            if response.is_success:
                return _json(response)
            problem = f"HTTP {response.status_code}: {_brief(response)}"
            if response.status_code not in _PASSING:
                break
        raise UnavailableError(
            f"{self._url} gave no embeddings: {problem}",
            hint='check EMBEDDING_ENDPOINT, EMBEDDING_MODEL and EMBEDDING_API_KEY, or set embedder = "bundled"',
        )

    def _vectors(self, answer: Any, wanted: int) -> list[list[float]]:
        """Return the vectors of an answer in the order of the texts, or raise UnavailableError that says what it is."""
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or len(entries) != wanted:
            raise self._unusable(f"{len(entries) if isinstance(entries, list) else 'no'} vectors for {wanted} texts")
        try:
            placed = {int(entry.get("index", place)): entry["embedding"] for place, entry in enumerate(entries)}
            vectors = [[float(number) for number in placed[place]] for place in range(wanted)]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self._unusable(f"vectors that cannot be read ({type(error).__name__}: {error})") from error
        lengths = {len(vector) for vector in vectors}
        if lengths != {self.dimensions}:
            raise self._unusable(f"vectors of {', '.join(map(str, sorted(lengths)))} dimensions")
        return vectors

    def _unusable(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"{self._url} answered with {what}; expected one of {self.dimensions} dimensions for each text",
            hint="EMBEDDING_DIMENSIONS says how many there are",
        )


def _model(name: str) -> str:
    return name.removeprefix("openai/")  # Cognee's spelling of it


def _url(endpoint: str) -> str:
    url = endpoint.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise InvalidInputError(f"EMBEDDING_ENDPOINT is {endpoint!r}, which is no http address")
    return url if url.endswith("/embeddings") else f"{url}/embeddings"


def _dimensions(model: str, named: str) -> int:
    if named:
        if not named.isdecimal() or not 0 < int(named) <= 65_536:
            raise InvalidInputError(f"EMBEDDING_DIMENSIONS is {named!r}; it must be a whole number of at least 1")
        return int(named)
    if model not in DIMENSIONS:
        raise InvalidInputError(
            f"how many dimensions {model} has is not known here", hint="set EMBEDDING_DIMENSIONS to their number"
        )
    return DIMENSIONS[model]


def _pauses() -> Iterator[float]:
    yield from (_PAUSE * attempt for attempt in range(_ATTEMPTS))


def _json(response: "httpx.Response") -> Any:
    try:
        return response.json()
    except ValueError:  # not JSON, or not even text
        return None


def _brief(response: "httpx.Response") -> str:
    return " ".join(response.text.split())[:200] or "no message"
