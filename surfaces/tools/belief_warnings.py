"""What is said beside what was recorded: what is not believed all the same, and what was not taken as it was sent."""

from collections.abc import Iterable, Iterator

from falsify.belief.graph import BeliefGraph, Evidence
from falsify.events import NodeId
from surfaces.tools.belief_inputs import SourceNamed
from surfaces.tools.belief_rows import called, inline
from surfaces.tools.reading import sent


def lifeless(graph: BeliefGraph, node_ids: Iterable[NodeId]) -> Iterator[str]:
    """Yield which of the nodes are not believed, what they rest on in vain, and for what they speak in vain."""
    node_ids = list(dict.fromkeys(node_ids))
    for node_id in node_ids:
        yield from _standing(graph, node_id)
    for node_id in node_ids:
        node = graph.nodes[node_id]
        told = [called(graph, i) for i in dict.fromkeys(weight.hypothesis_id for weight in graph.weighs.of(node_id))]
        if isinstance(node, Evidence) and not node.alive and told:
            neither = f"{called(graph, node_id)} speaks neither for nor against {', '.join(told)}"
            yield f"{neither} while it is {node.state}"


def _standing(graph: BeliefGraph, node_id: NodeId) -> Iterator[str]:
    node = graph.nodes[node_id]
    on = dict.fromkeys(dependency.on_id for dependency in graph.depends.of(node_id))
    lost = ", ".join(f"{called(graph, i)} ({graph.nodes[i].state})" for i in on if not graph.nodes[i].alive)
    if not node.alive:
        rests = f": it rests on {lost}" if lost else ""
        yield f"{called(graph, node_id)} is {node.state}, and not believed{rests}"
    elif lost:
        yield f"{called(graph, node_id)} is not held up by {lost}, which it rests on too"


def kept_titles(graph: BeliefGraph, named: Iterable[SourceNamed]) -> Iterator[str]:
    """Yield which sources keep another title than the one that was sent."""
    other = [source.id for source in named if sent(source.title, "").strip() not in {"", _title(graph, source.id)}]
    yield from (f"the source {inline(source_id)} keeps the title that it has" for source_id in dict.fromkeys(other))


def _title(graph: BeliefGraph, source_id: str) -> str:
    source = graph.sources.get(source_id)
    return source.title if source else ""
