"""The two stores of one generation, through Cognee's own engines.

Cognee is asynchronous and keeps locks and connections that belong to one event loop, so the whole process has one
loop, in a thread of its own, on which everything of Cognee runs.
"""

import asyncio
import importlib.metadata
import sys
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TextIO, TypeVar

import orjson

from falsify.errors import DamagedError, UnavailableError
from falsify.events import NodeId
from falsify.judges.cognee_environment import import_cognee
from falsify.ports import Embedder
from projections.cognee import adapters, bulk
from projections.cognee.models import data_point, indexed
from projections.cognee.state import (
    COLLECTIONS,
    EdgeKey,
    Fields,
    MirrorNode,
    MirrorRow,
    MirrorState,
    RowKey,
    cognee_id,
    differences,
    row_id,
)

T = TypeVar("T")


class Stores:
    """One generation, opened. The methods block until the loop has done the work."""

    def __init__(self, generation: Path, embedder: Embedder) -> None:
        _check_version()
        _register()
        self._graph_config, self._vector_config = _configs(generation, adapters.admit(embedder))
        self._dimensions = embedder.dimensions
        self.generation = generation
        try:
            run(self._within(self._check_layout))
        except BaseException:
            self.close()
            raise

    def run(self, make: Callable[[], Awaitable[T]]) -> T:
        """Return what the awaitable comes to, run where Cognee's own functions see this generation."""
        return run(self._within(make))

    def read(self, node_ids: Collection[NodeId] | None = None) -> MirrorState:
        """Return what is there of these nodes, or everything.

        Of the edges at a node, those are included that it owns: where it depends or is depended on, what it
        speaks for, its attacks; but not what speaks for it.
        """
        return self.run(self._read_all if node_ids is None else lambda: self._read(list(node_ids)))

    def bring(self, found: MirrorState, wanted: MirrorState) -> None:
        """Write what differs, and make sure that it is there. Nothing is deleted but edges."""
        self.run(lambda: self._bring(found, wanted))

    def delete(self, node_ids: Collection[NodeId]) -> None:
        """Delete nodes from the graph and from every collection, and make sure that they are gone.

        Raises DamagedError if either store still has one of them.
        """
        self.run(lambda: self._delete(list(node_ids)))

    def close(self) -> None:
        """Let go of the files."""
        run(self._close())

    # --- reading -----------------------------------------------------------------------------------------

    async def _read_all(self) -> MirrorState:
        graph, vectors = await _engines()
        nodes = await graph.query("MATCH (n:Node) RETURN n.id, n.name, n.type, n.properties")
        edges = await graph.query(
            "MATCH (a:Node)-[r:EDGE]->(b:Node) RETURN a.id, b.id, r.relationship_name, r.properties"
        )
        parsed = [_node(*row) for row in nodes]
        names = {row[0]: node_id for row, (node_id, _) in zip(nodes, parsed, strict=True)}
        state = MirrorState(dict(parsed))
        for source, target, relation, properties in edges:
            state.edges[names[source], relation, names[target]] = orjson.loads(properties or "{}")
        for collection in await _collections(vectors):
            table = await vectors.get_collection(collection)
            rows = await table.query().select(["id", "payload"]).to_list()
            state.rows.update(_row(collection, row["id"], row["payload"]) for row in rows)
        return state

    async def _read(self, node_ids: list[NodeId]) -> MirrorState:
        graph, vectors = await _engines()
        ids = {"ids": [cognee_id(node_id) for node_id in node_ids]}
        nodes = await graph.query(
            "UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id, n.name, n.type, n.properties", ids
        )
        told = "RETURN a.properties, b.properties, r.relationship_name, r.properties"
        edges = [
            *await graph.query(f"UNWIND $ids AS i MATCH (a:Node {{id: i}})-[r:EDGE]->(b:Node) {told}", ids),
            *await graph.query(
                "UNWIND $ids AS i MATCH (a:Node)-[r:EDGE]->(b:Node {id: i}) "
                f"WHERE r.relationship_name IN ['depends_on', 'supersedes'] {told}",
                ids,
            ),
        ]
        state = MirrorState(dict(_node(*row) for row in nodes))
        for source, target, relation, properties in edges:
            ends = [orjson.loads(end or "{}").get("node_id") for end in (source, target)]
            if all(ends):  # an edge to what somebody else keeps here is none of ours
                state.edges[ends[0], relation, ends[1]] = orjson.loads(properties or "{}")
        for collection in COLLECTIONS:
            wanted = [row_id(collection, node_id) for node_id in node_ids]
            for point in await vectors.retrieve(collection, wanted):
                key, row = _row(collection, str(point.id), point.payload)
                state.rows[key] = row
        return state

    # --- writing -----------------------------------------------------------------------------------------

    async def _bring(self, found: MirrorState, wanted: MirrorState) -> None:
        graph, vectors = await _engines()
        await graph.add_nodes([data_point(n, node) for n, node in wanted.nodes.items() if found.nodes.get(n) != node])
        await _delete_edges(graph, [key for key in found.edges if key not in wanted.edges])
        await graph.add_edges(
            [
                (cognee_id(source), cognee_id(target), relation, fields)
                for (source, relation, target), fields in wanted.edges.items()
                if found.edges.get((source, relation, target)) != fields
            ]
        )
        for collection in COLLECTIONS:
            await _bring_rows(vectors, collection, _of(collection, found.rows), _of(collection, wanted.rows))
        wrong = differences(wanted, await self._read(list(wanted.nodes)))
        if wrong:
            raise DamagedError(f"Cognee did not keep what was written: {wrong[0]}", hint="rebuild the mirror")

    async def _delete(self, node_ids: list[NodeId]) -> None:
        graph, vectors = await _engines()
        await graph.delete_nodes([cognee_id(node_id) for node_id in node_ids])
        still = set((await self._read(node_ids)).nodes)
        for collection in await _collections(vectors):
            rows = {row_id(collection, node_id): node_id for node_id in node_ids}
            await vectors.delete_data_points(collection, list(rows))
            still |= {rows[str(point.id)] for point in await vectors.retrieve(collection, list(rows))}
        if still:
            raise DamagedError(
                f"Cognee still holds what it was told to forget: {', '.join(sorted(still))}", hint="sync it again"
            )

    # --- opening and closing -----------------------------------------------------------------------------

    async def _within(self, make: Callable[[], Awaitable[T]]) -> T:
        from cognee.context_global_variables import graph_db_config, vector_db_config

        _INSIDE.set(True)
        graph_db_config.set(self._graph_config)
        vector_db_config.set(self._vector_config)
        return await make()

    async def _check_layout(self) -> None:
        """Raise UnavailableError unless Cognee lays its tables out as `bulk` does."""
        graph, vectors = await _engines()
        for table, columns in (("Node", bulk.NODE_COLUMNS), ("EDGE", bulk.EDGE_COLUMNS)):
            found = await graph.query(f"CALL table_info('{table}') RETURN name, type")
            _agree(table, [tuple(row) for row in found], list(columns))
        from cognee.infrastructure.databases.vector.lancedb.LanceDBAdapter import IndexSchema, LanceDBAdapter

        schema = vectors.get_data_point_schema(IndexSchema)
        theirs = LanceDBAdapter._make_lance_datapoint_cls(schema, self._dimensions).to_arrow_schema()  # noqa: SLF001  # the pinned version has no public way to ask
        _agree("the collections", str(theirs), str(bulk.row_schema(self._dimensions)))

    async def _close(self) -> None:
        from cognee.infrastructure.databases.graph.get_graph_engine import create_graph_engine, graph_engine_cache
        from cognee.infrastructure.databases.vector.create_vector_engine import (
            create_vector_engine,
            vector_engine_cache,
        )

        # Forced: an eviction that waits for the last holder is finished by whichever thread collects the garbage, and
        # if that one is inside the cache just then, it waits for itself for ever.
        if graph_engine_cache.is_cached(**self._graph_config):
            await create_graph_engine(**self._graph_config).close()
            graph_engine_cache.evict(force_close=True, **self._graph_config)
        if vector_engine_cache.is_cached(**self._vector_config):
            await create_vector_engine(**self._vector_config).close()
            vector_engine_cache.evict(force_close=True, **self._vector_config)


# --- the loop --------------------------------------------------------------------------------------------

_INSIDE: ContextVar[bool] = ContextVar("inside", default=False)
_LOOP_LOCK = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what the coroutine comes to on Cognee's loop; the calling thread waits."""
    global _loop  # noqa: PLW0603  # one for the process, started when it is first needed
    with _LOOP_LOCK:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="cognee", daemon=True).start()
    future = asyncio.run_coroutine_threadsafe(work, _loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()  # what interrupts us interrupts the work; a failure of its own it has behind it
        raise


def refuse_inside() -> None:
    """Raise InvalidStateError for whoever runs on Cognee's loop, or in a thread started from there."""
    if _INSIDE.get():
        raise asyncio.InvalidStateError("what runs on Cognee's loop must not call the mirror: it would wait for itself")


# --- Cognee's side ---------------------------------------------------------------------------------------


def _check_version() -> None:
    installed = importlib.metadata.version("cognee")
    if installed != bulk.COGNEE:
        raise UnavailableError(
            f"the mirror is written for Cognee {bulk.COGNEE}, and {installed} is installed",
            hint=f"pip install cognee=={bulk.COGNEE}",
        )


@cache
def _register() -> None:
    """Make the adapters and the retriever known to Cognee, once in a process."""
    import_cognee()
    from cognee.infrastructure.databases.graph import use_graph_adapter
    from cognee.infrastructure.databases.vector import use_vector_adapter
    from cognee.modules.retrieval.register_retriever import use_retriever
    from cognee.modules.search.types import SearchType

    from projections.cognee.retriever import belief_retriever

    use_graph_adapter(adapters.GRAPH, adapters.graph_adapter())
    use_vector_adapter(adapters.VECTORS, adapters.vector_adapter())
    use_retriever(SearchType.GRAPH_COMPLETION, belief_retriever())


def _configs(generation: Path, key: str) -> tuple[Fields, Fields]:
    from cognee.infrastructure.databases.graph.config import get_graph_config
    from cognee.infrastructure.databases.vector.config import get_vectordb_config

    graph = {
        **get_graph_config().to_hashable_dict(),
        "graph_database_provider": adapters.GRAPH,
        "graph_database_url": str(generation / bulk.GRAPH),
    }
    vectors = {
        **get_vectordb_config().to_dict(),
        "vector_db_provider": adapters.VECTORS,
        "vector_db_url": str(generation / bulk.VECTORS),
        "vector_db_name": key,
        "vector_db_subprocess_enabled": False,
    }
    return graph, vectors


async def _engines() -> tuple[Any, Any]:
    from cognee.infrastructure.databases.graph import get_graph_engine
    from cognee.infrastructure.databases.vector import get_vector_engine_async

    return await get_graph_engine(), await get_vector_engine_async()


async def _collections(vectors: Any) -> list[str]:
    """Return all collections there are, ours or not."""
    connection = await vectors.get_connection()
    page = await connection.list_tables()
    names = list(page.tables)
    while page.page_token:
        page = await connection.list_tables(page_token=page.page_token)
        names += page.tables
    return names


async def _delete_edges(graph: Any, keys: Iterable[EdgeKey]) -> None:
    from cognee.infrastructure.databases.provenance import EdgeIdentity

    await graph.delete_edge_triples(
        [EdgeIdentity(cognee_id(source), cognee_id(target), relation) for source, relation, target in keys]
    )


async def _bring_rows(
    vectors: Any, collection: str, found: dict[NodeId, MirrorRow], wanted: dict[NodeId, MirrorRow]
) -> None:
    name, _, field = collection.rpartition("_")
    new = [n for n, row in wanted.items() if n not in found or found[n].text != row.text]
    if new:
        await vectors.create_vector_index(name, field)  # writing to a collection that is missing never returns
        await vectors.index_data_points(name, field, [indexed(collection, n, wanted[n]) for n in new])
    # Indexing a row again adds its tags to those it had; only an update of the payload replaces them.
    changed = [n for n, row in wanted.items() if n in found and found[n] != row]
    updates = {}
    for node_id in changed:
        own = bulk.beside(collection, node_id, wanted[node_id])
        updates[own["id"]] = {part: value for part, value in own.items() if part not in {"id", "text"}}
    await vectors.update_payload(collection, updates)


def _of(collection: str, rows: dict[RowKey, MirrorRow]) -> dict[NodeId, MirrorRow]:
    return {node_id: row for (place, node_id), row in rows.items() if place == collection}


def _node(cognee: str, name: str, kind: str, properties: str) -> tuple[NodeId, MirrorNode]:
    """Return a node as read; one that Falsify did not write goes by Cognee's id."""
    fields = {**orjson.loads(properties or "{}"), "name": name}
    for key in (*bulk.BLANK.keys() - {"feedback_weight", "belongs_to_set"}, "metadata"):
        fields.pop(key, None)
    return fields.get("node_id", cognee), MirrorNode(kind, fields)


def _row(collection: str, cognee: str, payload: Fields) -> tuple[RowKey, MirrorRow]:
    node_id = payload.get("source_chunk_id") or cognee
    row = MirrorRow(
        text=payload["text"],
        tags=tuple(payload.get("belongs_to_set") or ()),
        source_id=payload.get("document_id") or "",
        source_title=payload.get("document_name") or "",
    )
    return (collection, node_id), row


def _agree(what: str, theirs: Any, ours: Any) -> None:
    if theirs != ours:
        raise UnavailableError(
            f"this Cognee lays out {what} otherwise than {bulk.COGNEE} does: {theirs} instead of {ours}",
            hint=f"pip install --force-reinstall cognee=={bulk.COGNEE}",
        )


# --- silence ---------------------------------------------------------------------------------------------

_MUTED: ContextVar[bool] = ContextVar("muted", default=False)
_SET_UP_LOCK = threading.Lock()
_set_up = False


class _Quiet:
    """Standard output for everybody but those whose context is muted."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return len(text) if _MUTED.get() else self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def set_up() -> None:
    """Make Cognee's own tables (users and the like), which its recall cannot do without, once in a process.

    Cognee's migrations print. They run in this context and in copies of it, so that only they are silenced.
    """
    global _set_up  # noqa: PLW0603  # Cognee's database is one for the process, too
    with _SET_UP_LOCK:
        if _set_up:
            return
        quiet = _Quiet(sys.stdout)
        sys.stdout, before = quiet, sys.stdout
        try:
            run(_make_tables())
        finally:
            if sys.stdout is quiet:
                sys.stdout = before
        _set_up = True


async def _make_tables() -> None:
    from cognee.modules.engine.operations.setup import setup

    _MUTED.set(True)
    await setup()
