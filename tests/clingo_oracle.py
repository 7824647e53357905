"""What ought to be believed, computed by clingo: an independent engine for an independent encoding.

Each node is an atom; each justification a rule whose body holds its members and, negated, the node's attackers. The
labels are the well-founded model: Van Gelder's alternating fixpoint, in which clingo computes the least model of each
reduct. `stable` gives what all stable models agree on, a second opinion: what lives in the well-founded model is in
every one of them, and what is dead in none.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import clingo


@dataclass(frozen=True)
class Bipolar:
    """Attacks (attacker, target), and for each node the sets that each suffice to keep it; none: none is needed."""

    nodes: tuple[str, ...]
    attacks: tuple[tuple[str, str], ...]
    justifications: dict[str, tuple[tuple[str, ...], ...]]

    def rules(self) -> Iterable[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Yield (head, what must hold, what must not)."""
        for node in self.nodes:
            attackers = tuple(a for a, target in self.attacks if target == node)
            for members in self.justifications.get(node) or ((),):
                yield node, members, attackers


def well_founded(graph: Bipolar) -> dict[str, str]:
    """Return the label of each node: alive, dead or contested."""
    possible = set(graph.nodes)
    while True:
        certain = _reduct(graph, possible)
        still_possible = _reduct(graph, certain)
        if still_possible == possible:
            break
        possible = still_possible
    return {n: "alive" if n in certain else "contested" if n in possible else "dead" for n in graph.nodes}


def stable(graph: Bipolar) -> tuple[set[str], set[str]] | None:
    """Return the atoms in all stable models and those in any, or None where there is no stable model."""
    text = "\n".join(
        f"{_atom(head)} :- {', '.join([*map(_atom, pos), *(f'not {_atom(a)}' for a in neg)])}."
        if pos or neg
        else f"{_atom(head)}."
        for head, pos, neg in graph.rules()
    )
    models = _models(text, "0")
    if not models:
        return None
    return set.intersection(*models), set.union(*models)


def _reduct(graph: Bipolar, assumed: set[str]) -> set[str]:
    """Return the least model of the rules that survive when exactly `assumed` is taken to hold in negations."""
    text = "\n".join(
        f"{_atom(head)} :- {', '.join(map(_atom, pos))}." if pos else f"{_atom(head)}."
        for head, pos, neg in graph.rules()
        if not set(neg) & assumed
    )
    (model,) = _models(text, "1")
    return model


def _models(text: str, number: str) -> list[set[str]]:
    control = clingo.Control([number, "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        return [{str(symbol).removeprefix("n_") for symbol in model.symbols(atoms=True)} for model in handle]


def _atom(node: str) -> str:
    return f"n_{node}"
