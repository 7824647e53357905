"""The adapters under which Cognee opens a generation, registered by its own extension points.

They are Cognee's own, but for two things: embeddings come from Falsify's embedder, and what Ladybug keeps in the
home folder, it keeps in the generation.
"""

import asyncio
from pathlib import Path
from typing import Any

from falsify.ports import Embedder
from projections.cognee.bulk import BUFFER_POOL, MAX_SIZE

GRAPH = "falsify_ladybug"
VECTORS = "falsify_lancedb"

_EMBEDDERS: dict[str, Embedder] = {}
"""By the name that Cognee hands to the vector adapter as the name of its database."""


def admit(embedder: Embedder) -> str:
    """Return the name under which the vector adapter finds this embedder."""
    key = f"{embedder.name}/{embedder.dimensions}"
    _EMBEDDERS[key] = embedder
    return key


def graph_adapter() -> Any:
    """Return the class of the graph adapter."""
    from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
    from ladybug import Connection, Database

    class FalsifyLadybug(LadybugAdapter):  # type: ignore[misc]  # Cognee is not type-checked here
        """Opens the database without looking into the home folder, and without discarding a log it cannot replay."""

        def __init__(self, graph_database_url: str, **_: Any) -> None:
            super().__init__(graph_database_url, kuzu_buffer_pool_size=BUFFER_POOL, kuzu_max_db_size=MAX_SIZE)

        def _initialize_connection(self) -> None:
            self.db = Database(self.db_path, buffer_pool_size=BUFFER_POOL, max_db_size=MAX_SIZE)
            self.db.init_database()
            self.connection = Connection(self.db)
            home = str(Path(self.db_path).parent).replace("\\", "/").replace("'", "\\'")
            self.connection.execute(f"CALL home_directory='{home}'")
            _load_json(self.connection)
            self._ensure_schema()

    return FalsifyLadybug


def vector_adapter() -> Any:
    """Return the class of the vector adapter."""
    from cognee.infrastructure.databases.vector.embeddings import EmbeddingGateway
    from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingResult
    from cognee.infrastructure.databases.vector.lancedb.LanceDBAdapter import LanceDBAdapter

    class Engine:
        """Falsify's embedder, as Cognee asks for one."""

        max_completion_tokens = 8192
        tokenizer = None
        batch_size = 512

        def __init__(self, embedder: Embedder) -> None:
            self.model = embedder.name
            self.dimensions = embedder.dimensions
            self._embedder = embedder

        async def embed_text(self, text: list[str]) -> Any:
            vectors = await asyncio.to_thread(self._embedder.embed, text)
            return EmbeddingResult(vectors.tolist(), tokens=0)

        def get_vector_size(self) -> int:
            return self.dimensions

        def get_batch_size(self) -> int:
            return self.batch_size

        async def input_limit(self) -> int:
            return self.max_completion_tokens

    class FalsifyLanceDB(LanceDBAdapter):  # type: ignore[misc]  # Cognee is not type-checked here
        """Cognee's own store; only the embeddings come from elsewhere."""

        def __init__(self, url: str, api_key: str | None, database_name: str, **_: Any) -> None:
            super().__init__(url, api_key or None, EmbeddingGateway(Engine(_EMBEDDERS[database_name])))

    return FalsifyLanceDB


def _load_json(connection: Any) -> None:
    """Load Ladybug's JSON functions from Cognee's package. Cognee would go on to the network, which we do not."""
    from cognee_db_workers._kuzu_helpers import (  # type: ignore[import-untyped]  # part of Cognee
        bundled_json_extension_path,
    )

    path = bundled_json_extension_path(connection.execute)
    if path is None:
        connection.execute("LOAD EXTENSION JSON")  # some builds have it in the library
    else:
        connection.execute(f"LOAD EXTENSION '{path}'")
