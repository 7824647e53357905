"""The contract's classes as Cognee data points, with the whole truth-state as fields of their own.

Cognee's setters rewrite a node's whole property blob, lose concurrent updates and revive whatever is added again; a
node written with all its fields, under an id of our own, has none of these troubles.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from projections.cognee.bulk import beside
from projections.cognee.state import Fields, MirrorNode, MirrorRow, cognee_id


@cache
def classes() -> Mapping[str, Any]:
    """Return the classes by name. Cognee must have been imported through `import_cognee`."""
    from cognee.infrastructure.engine import DataPoint, Embeddable

    class Belief(DataPoint):  # type: ignore[misc]  # Cognee is not type-checked here
        node_id: str
        question_id: str
        name: str
        text: str
        status: str
        truth_alignment: list[str]
        truth_epoch: int

    class InvestigationQuestion(Belief):
        metadata: Fields = Field(default={"index_fields": ["question"]})
        question: Annotated[str, Embeddable()]

    class Hypothesis(Belief):
        metadata: Fields = Field(default={"index_fields": ["statement"]})
        statement: Annotated[str, Embeddable()]
        prior: float

    class Evidence(Belief):
        metadata: Fields = Field(default={"index_fields": ["claim"]})
        claim: Annotated[str, Embeddable()]
        stance: str
        source_id: str
        source_title: str
        quote: str
        asserted_at: str

    class Conclusion(Belief):
        metadata: Fields = Field(default={"index_fields": ["statement"]})
        statement: Annotated[str, Embeddable()]
        confidence: float
        depends_on_ids: list[str]

    class Indexed(DataPoint):  # type: ignore[misc]  # as above
        metadata: Fields = Field(default={"index_fields": ["text"]})
        text: Annotated[str, Embeddable()]
        source_chunk_id: str
        document_id: str | None
        document_name: str | None
        chunk_index: int | None

    return {cls.__name__: cls for cls in (InvestigationQuestion, Hypothesis, Evidence, Conclusion, Indexed)}


def data_point(node_id: str, node: MirrorNode) -> Any:
    """Return the node as Cognee takes it."""
    return classes()[node.type](id=cognee_id(node_id), created_at=0, updated_at=0, **node.fields)


def indexed(collection: str, node_id: str, row: MirrorRow) -> Any:
    """Return the row as Cognee takes it to be embedded into a collection."""
    return classes()["Indexed"](**beside(collection, node_id, row))
