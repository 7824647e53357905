"""A small server that speaks OpenAI's embeddings API on the loopback, and answers as it is told."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.mirror_world import HashEmbedder


class Endpoint:
    """Answers with bags of words; `status` and `spoil` make it fail, for `failures` requests (for ever if negative)."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.failures = -1
        self.spoil = lambda body: body
        endpoint, embedder = self, HashEmbedder()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append({"path": self.path, **request})
                endpoint.keys.append(self.headers["Authorization"])
                failing = endpoint.status != 200 and endpoint.failures != 0
                endpoint.failures -= failing
                vectors = embedder.embed(request["input"]) * 3  # not of length 1, as some servers' are not
                data = [{"object": "embedding", "index": i, "embedding": v.tolist()} for i, v in enumerate(vectors)]
                answer = {"error": {"message": "told to fail"}} if failing else endpoint.spoil({"data": data[::-1]})
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(endpoint.status if failing else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def environ(self, **more: str) -> dict[str, str]:
        """Return the variables that lead to this server."""
        return {
            "EMBEDDING_PROVIDER": "openai_compatible",
            "EMBEDDING_ENDPOINT": self.url,
            "EMBEDDING_MODEL": "bag-of-words",
            "EMBEDDING_DIMENSIONS": str(HashEmbedder.dimensions),
            **more,
        }


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Serve for the time of a `with` block."""
    endpoint = Endpoint()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
