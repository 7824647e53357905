"""What the nodes of a log are called in a golden file: by handle where one is enough, by id where it is not."""

from difflib import get_close_matches

from falsify.belief.graph import BeliefGraph, Node, Question
from falsify.belief.text import a_kind, node_id
from falsify.errors import InvalidInputError, NotFoundError
from falsify.events import NodeId

LONGEST = 200
"""Of a question's text that serves as its name; YAML takes no key much longer than 1,000 characters."""


class Names:
    """The names of all nodes of a graph, in both directions."""

    def __init__(self, graph: BeliefGraph) -> None:
        self._graph = graph
        self._by_handle: dict[str, dict[NodeId, None]] = {}
        for (_, handle), target in graph.handles.items():
            self._by_handle.setdefault(handle, {})[target] = None
        self._handles: dict[NodeId, str] = {}
        for handle, targets in self._by_handle.items():
            if len(targets) == 1 and handle not in graph.nodes:
                (only,) = targets
                self._handles.setdefault(only, handle)
                if graph.nodes[only].handle == handle:
                    self._handles[only] = handle

    def of(self, node: Node | NodeId) -> str:
        """Return what a node is called."""
        target = node if isinstance(node, str) else node.id
        return self._handles.get(target, target)

    def question(self, question: Question) -> str:
        """Return what a question is called: its text, unless that is too long for a key."""
        text = question.text
        return text if len(text) <= LONGEST and text.isprintable() else self.of(question)

    def find(self, name: str) -> NodeId:
        """Return the node with this id or handle.

        Raises NotFoundError, or InvalidInputError where several have the handle.
        """
        if name in self._graph.nodes:
            return name
        found = list(self._by_handle.get(name, ()))
        if not found:
            close = get_close_matches(name, self._by_handle, n=1)
            raise NotFoundError(f"the log knows no {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        if len(found) > 1:
            raise InvalidInputError(f"{name!r} stands for {len(found)} nodes; use an id: {', '.join(found)}")
        return found[0]

    def find_question(self, name: str) -> NodeId:
        """Return the question with this text, handle or id, or raise as `find` does."""
        by_text = node_id("question", name)
        target = by_text if by_text in self._graph.nodes else self.find(name)
        if not isinstance(self._graph.nodes[target], Question):
            raise InvalidInputError(f"{name!r} is {a_kind(self._graph.nodes[target].kind)}, not a question")
        return target
