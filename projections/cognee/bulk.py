"""Writes a whole generation in one go, as Cognee 1.6.5 lays its stores out, without importing Cognee.

Ten times faster than writing through Cognee's engines at 10,000 nodes (bench/bench_mirror.py). The price is that
these are Cognee's internal tables: its version is pinned, and both layouts are compared when a generation is opened.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from projections.cognee.state import (
    COLLECTIONS,
    EMBEDDED,
    PASSAGES,
    EdgeKey,
    Fields,
    MirrorNode,
    MirrorRow,
    MirrorState,
    RowKey,
    cognee_id,
    row_id,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

COGNEE = "1.6.5"
"""The version whose layout this module writes."""

GRAPH = Path("databases", "cognee_graph_ladybug")
VECTORS = Path("databases", "cognee.lancedb")
"""Where Cognee looks below its system root."""

BUFFER_POOL = 1 << 28
MAX_SIZE = 1 << 32
"""Bytes; Cognee's own defaults reserve 32 GB of address space for each."""

NODE_COLUMNS = (
    ("id", "STRING"),
    ("name", "STRING"),
    ("type", "STRING"),
    ("created_at", "TIMESTAMP"),
    ("updated_at", "TIMESTAMP"),
    ("properties", "STRING"),
    ("source_ref_keys", "STRING"),
    ("source_dataset_ids", "STRING"),
    ("source_run_ids", "STRING"),
    ("source_run_refs", "STRING"),
)
EDGE_COLUMNS = (("relationship_name", "STRING"), *NODE_COLUMNS[3:])

SCHEMA = (
    f"CREATE NODE TABLE Node({', '.join(map(' '.join, NODE_COLUMNS))}, PRIMARY KEY(id))",
    f"CREATE REL TABLE EDGE(FROM Node TO Node, {', '.join(map(' '.join, EDGE_COLUMNS))})",
    "CREATE NODE TABLE GraphMetadata(key STRING PRIMARY KEY, value STRING)",
)

BLANK: Mapping[str, Any] = {
    "created_at": 0,
    "updated_at": 0,
    "ontology_valid": False,
    "ontology_uri": None,
    "version": 1,
    "topological_rank": 0,
    "belongs_to_set": None,
    "source_pipeline": None,
    "source_task": None,
    "source_node_set": None,
    "source_user": None,
    "source_content_hash": None,
    "feedback_weight": 0.5,
    "importance_weight": 0.5,
}
"""What every data point of Cognee's has; the times are fixed, because the log tells the time."""


def build(generation: Path, state: MirrorState, vectors: "Mapping[RowKey, Vector]", dimensions: int) -> None:
    """Write both stores of an empty generation; `vectors` has one for each row of the state."""
    (generation / "databases").mkdir()
    _build_graph(generation / GRAPH, state)
    _build_vectors(generation / VECTORS, state.rows, vectors, dimensions)


def read_vectors(generation: Path) -> "dict[RowKey, tuple[str, Vector]]":
    """Return the texts and vectors of a generation; nothing if it cannot be read, for they can be made again."""
    import lancedb  # heavy

    found: dict[RowKey, tuple[str, Vector]] = {}
    try:
        connection = lancedb.connect(generation / VECTORS)
        for collection in COLLECTIONS:
            table = connection.open_table(collection).to_arrow()
            matrix = table["vector"].combine_chunks().flatten().to_numpy().reshape(len(table), -1)
            beside = table["payload"].combine_chunks()
            ids, texts = beside.field("source_chunk_id").to_pylist(), beside.field("text").to_pylist()
            found.update(
                ((collection, node_id), (text, vector))
                for node_id, text, vector in zip(ids, texts, matrix, strict=True)
            )
    except (RuntimeError, ValueError, OSError):
        return {}
    return found


def properties(node: MirrorNode) -> Fields:
    """Return what Cognee keeps of a node in one JSON object: everything but id, name and type."""
    fields = {key: value for key, value in node.fields.items() if key != "name"}
    return {**BLANK, **fields, "metadata": {"index_fields": [EMBEDDED[node.type]]}}


def row_schema(dimensions: int) -> Any:
    """Return the columns of a collection."""
    import pyarrow as pa  # heavy

    text, whole = pa.string(), pa.int64()
    payload = [
        pa.field("id", text, nullable=False),
        pa.field("created_at", whole, nullable=False),
        pa.field("updated_at", whole, nullable=False),
        pa.field("ontology_valid", pa.bool_(), nullable=False),
        pa.field("ontology_uri", text),
        pa.field("version", whole, nullable=False),
        pa.field("topological_rank", whole),
        pa.field("type", text, nullable=False),
        pa.field("belongs_to_set", pa.list_(text)),
        *(pa.field(f"source_{name}", text) for name in ("pipeline", "task", "node_set", "user", "content_hash")),
        pa.field("feedback_weight", pa.float64(), nullable=False),
        pa.field("importance_weight", pa.float64()),
        pa.field("text", text, nullable=False),
        pa.field("document_id", text),
        pa.field("document_name", text),
        pa.field("chunk_index", whole),
        pa.field("source_chunk_id", text),
        pa.field("external_metadata", text),
    ]
    return pa.schema(
        [
            pa.field("id", text, nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimensions)),
            pa.field("payload", pa.struct(payload), nullable=False),
        ]
    )


def beside(collection: str, node_id: str, row: MirrorRow) -> Fields:
    """Return what of a vector's payload is its own; `source_chunk_id` leads back to the node."""
    passage = collection == PASSAGES
    return {
        "id": row_id(collection, node_id),
        "text": row.text,
        "belongs_to_set": list(row.tags),
        "source_chunk_id": node_id,
        "document_id": row.source_id if passage else None,
        "document_name": row.source_title if passage else None,
        "chunk_index": 0 if passage else None,
    }


def _build_graph(path: Path, state: MirrorState) -> None:
    import ladybug  # heavy

    database = ladybug.Database(str(path), buffer_pool_size=BUFFER_POOL, max_db_size=MAX_SIZE)
    connection = ladybug.Connection(database)
    try:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute("COPY Node FROM $rows", {"rows": node_table(state.nodes)})
        connection.execute("COPY EDGE FROM $rows", {"rows": edge_table(state.edges)})
        connection.execute("CHECKPOINT")
    finally:
        connection.close()
        database.close()


def node_table(nodes: Mapping[str, MirrorNode]) -> Any:
    """Return the nodes as an Arrow table."""
    columns = {
        "id": [cognee_id(node_id) for node_id in nodes],
        "name": [node.fields["name"] for node in nodes.values()],
        "type": [node.type for node in nodes.values()],
        "properties": [orjson.dumps(properties(node)).decode() for node in nodes.values()],
    }
    return _table(NODE_COLUMNS, columns, len(nodes))


def edge_table(edges: Mapping[EdgeKey, Fields]) -> Any:
    """Return the edges as an Arrow table."""
    columns = {
        "from": [cognee_id(source) for source, _, _ in edges],
        "to": [cognee_id(target) for _, _, target in edges],
        "relationship_name": [relation for _, relation, _ in edges],
        "properties": [orjson.dumps(fields).decode() for fields in edges.values()],
    }
    return _table((("from", "STRING"), ("to", "STRING"), *EDGE_COLUMNS), columns, len(edges))


def _table(layout: Iterable[tuple[str, str]], columns: Mapping[str, list[str]], height: int) -> Any:
    """Return an Arrow table in that layout; times that no column gives are zero, texts are absent."""
    import pyarrow as pa  # heavy

    kinds = {"STRING": pa.string(), "TIMESTAMP": pa.timestamp("us")}
    blanks = {"STRING": None, "TIMESTAMP": 0}
    return pa.table(
        {name: pa.array(columns.get(name, [blanks[kind]] * height), type=kinds[kind]) for name, kind in layout}
    )


def _build_vectors(
    path: Path, rows: Mapping[RowKey, MirrorRow], vectors: "Mapping[RowKey, Vector]", dimensions: int
) -> None:
    import lancedb  # heavy

    by_collection: dict[str, dict[str, MirrorRow]] = {collection: {} for collection in COLLECTIONS}
    for (collection, node_id), row in rows.items():
        by_collection[collection][node_id] = row
    connection = lancedb.connect(path)
    schema = row_schema(dimensions)
    for collection, members in by_collection.items():
        if members:
            matrix = [vectors[collection, node_id] for node_id in members]
            connection.create_table(collection, row_table(collection, members, matrix, schema))
        else:
            connection.create_table(collection, schema=schema)


def row_table(collection: str, members: Mapping[str, MirrorRow], matrix: "list[Vector]", schema: Any) -> Any:
    """Return the rows of a collection as an Arrow table; `matrix` has their vectors in the same order."""
    import numpy as np  # heavy
    import pyarrow as pa  # heavy

    own = [beside(collection, node_id, row) for node_id, row in members.items()]
    blank = {**BLANK, "type": "IndexSchema", "external_metadata": None}
    kinds = schema.field("payload").type
    columns = [
        pa.repeat(pa.scalar(blank[kind.name], type=kind.type), len(own))
        if kind.name not in own[0]
        else pa.array([fields[kind.name] for fields in own], type=kind.type)
        for kind in kinds
    ]
    flat = pa.array(np.concatenate(matrix).astype(np.float32, copy=False))
    vectors = pa.FixedSizeListArray.from_arrays(flat, schema.field("vector").type.list_size)
    payload = pa.StructArray.from_arrays(columns, fields=list(kinds))
    return pa.table([payload.field("id"), vectors, payload], schema=schema)
