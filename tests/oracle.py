"""What ought to be believed, computed from the premises alone: naive, quadratic and obviously right.

Nothing here calls the program under test but its event classes; the labels are the alternating fixpoint of Van Gelder
(1989) over the equivalent logic program, spelled as in the textbook.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from falsify.belief.events import (
    AssertionRestored,
    AssertionRetracted,
    BeliefEvent,
    ConclusionDrawn,
    DependencyAdded,
    EvidenceAsserted,
    EvidenceRecorded,
    EvidenceWeighed,
    HypothesisProposed,
    QuestionAsked,
    RevisionOpened,
    SourceRecorded,
    VerdictGiven,
)

Rule = tuple[frozenset[str], frozenset[str]]
"""The body of a rule: what must hold, and what must not."""

Program = Mapping[str, list[Rule]]


def least_model(program: Program, assumed: set[str]) -> set[str]:
    """Return what the rules derive when `not x` means that x is not among the assumed."""
    derived: set[str] = set()
    growing = True
    while growing:
        growing = False
        for head, rules in program.items():
            if head not in derived and any(pos <= derived and not neg & assumed for pos, neg in rules):
                derived.add(head)
                growing = True
    return derived


def well_founded(program: Program) -> tuple[set[str], set[str]]:
    """Return what is true and what is undefined in the well-founded model."""
    true: set[str] = set()
    while True:
        possible = least_model(program, true)
        more = least_model(program, possible)
        if more == true:
            return true, possible - true
        true = more


def labels(program: Program) -> dict[str, str]:
    """Return alive, dead or contested for every head."""
    true, undefined = well_founded(program)
    return {n: "alive" if n in true else "contested" if n in undefined else "dead" for n in program}


def grounded(arguments: Iterable[str], attacks: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the grounded labelling of an abstract argumentation framework, by the textbook loop."""
    attackers: dict[str, set[str]] = {a: set() for a in arguments}
    for attacker, target in attacks:
        attackers[target].add(attacker)
    accepted: set[str] = set()
    rejected: set[str] = set()
    while True:
        more = {a for a, by in attackers.items() if a not in accepted and by <= rejected}
        if not more:
            return {a: "alive" if a in accepted else "refuted" if a in rejected else "contested" for a in attackers}
        accepted |= more
        rejected |= {a for a, by in attackers.items() if by & accepted}


@dataclass
class Said:
    """A source's word for a claim."""

    asserted_at: str
    order: int
    retracted: bool = False


@dataclass
class Premises:
    """The premises of a log, the last word on each thing."""

    kinds: dict[str, str] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    priors: dict[str, float] = field(default_factory=dict)
    confidences: dict[str, float] = field(default_factory=dict)
    trusts: dict[str, float] = field(default_factory=dict)
    said: dict[str, dict[str, Said]] = field(default_factory=dict)
    depends: dict[tuple[str, str, str], bool] = field(default_factory=dict)
    weights: dict[tuple[str, str, str], int] = field(default_factory=dict)
    rulings: dict[tuple[str, str], VerdictGiven] = field(default_factory=dict)
    judged: dict[frozenset[str], VerdictGiven] = field(default_factory=dict)
    assertions: int = 0
    epoch: int = 0

    def add(self, event: BeliefEvent) -> None:
        match event:
            case QuestionAsked():
                self._node(event.question_id, "question", event.question_id)
            case HypothesisProposed():
                self._node(event.hypothesis_id, "hypothesis", event.question_id)
                self.priors[event.hypothesis_id] = event.prior
            case EvidenceRecorded():
                self._node(event.evidence_id, "evidence", event.question_id)
                self.said[event.evidence_id] = {}
            case ConclusionDrawn():
                self._node(event.conclusion_id, "conclusion", event.question_id)
                self.confidences[event.conclusion_id] = event.confidence
            case SourceRecorded():
                self.trusts[event.source_id] = event.trust
            case EvidenceAsserted():
                self.assertions += 1
                self.said[event.evidence_id][event.source_id] = Said(event.asserted_at, self.assertions)
            case AssertionRetracted():
                self.said[event.evidence_id][event.source_id].retracted = True
            case AssertionRestored():
                self.said[event.evidence_id][event.source_id].retracted = False
            case DependencyAdded():
                self.depends[event.node_id, event.on_id, event.group] = event.critical
            case EvidenceWeighed():
                key = event.evidence_id, event.hypothesis_id, event.stance
                self.weights[key] = round(event.weight * 1_000_000_000)
            case VerdictGiven(directed=True):
                self.rulings[event.fact_id, event.claim_id] = event
            case VerdictGiven():
                self.judged[frozenset((event.fact_id, event.claim_id))] = event
            case RevisionOpened():
                self.epoch = event.epoch

    def _node(self, node_id: str, kind: str, question_id: str) -> None:
        self.kinds[node_id], self.questions[node_id] = kind, question_id


@dataclass
class Beliefs:
    """What follows from the premises; `causes` are, for every node that does not live, the reasons that hold now."""

    states: dict[str, str]
    causes: dict[str, set[str]]
    frontier: dict[str, str]
    standing: dict[str, int]
    supports: dict[str, tuple[int, int, int]]
    supported: dict[str, int]
    confidence: dict[str, float]


def believe(events: Iterable[BeliefEvent]) -> Beliefs:
    """Return what follows from the premises among the events; consequences among them are ignored."""
    known = Premises()
    for event in events:
        known.add(event)
    attacks = _attacks(known)
    label = labels(_program(known, attacks))
    living = {n for n, said in label.items() if said == "alive"}
    reasons = {n: _reason(known, attacks, label, n) for n in label}
    states = {q: "alive" for q, kind in known.kinds.items() if kind == "question"}
    states |= {n: state for n, (state, _) in reasons.items()}
    causes = {n: because for n, (_, because) in reasons.items()}
    supports = {h: _supports(known, label, h) for h in _of_kind(known, "hypothesis")}
    for hypothesis, (backing, alive, contested) in supports.items():
        rivals = {h for h, (_, n, _) in supports.items() if n and known.questions[h] == known.questions[hypothesis]} - {
            hypothesis
        }
        fallen = backing and not alive and rivals
        states[hypothesis] = ("contested" if contested else "superseded") if fallen else "alive"
        causes[hypothesis] = (
            {e for e, h, stance in known.weights if (h, stance, label[e]) == (hypothesis, "supports", "contested")}
            if states[hypothesis] == "contested"
            else rivals
        )
        if states[hypothesis] == "alive":
            living.add(hypothesis)
    states |= dict.fromkeys(_forgotten(known, attacks, states, living), "forgotten")
    standing = {h: _standing(known, living, h) for h in supports}
    order = {n: place for place, n in enumerate(known.kinds)}
    return Beliefs(
        states=states,
        causes=causes,
        frontier={
            q: max(
                (h for h in supports if known.questions[h] == q and h in living),
                key=lambda h: (standing[h], known.priors[h], -order[h]),
                default="",
            )
            for q in _of_kind(known, "question")
        },
        standing=standing,
        supports=supports,
        supported={
            q: sum(known.questions[h] == q and n > 0 for h, (_, n, _) in supports.items())
            for q in _of_kind(known, "question")
        },
        confidence={c: _confidence(known, living, c) for c in _of_kind(known, "conclusion")},
    )


def _of_kind(known: Premises, kind: str) -> list[str]:
    return [n for n, k in known.kinds.items() if k == kind]


def _acts(verdict: VerdictGiven) -> bool:
    return verdict.relation in ("contradicts", "supersedes") and verdict.confidence >= 0.6


def _attacks(known: Premises) -> dict[tuple[str, str], str]:
    """Return (attacker, target) -> relation."""
    attacks = {pair: v.relation for pair, v in known.rulings.items() if _acts(v)}
    ruled = {frozenset(pair) for pair in known.rulings}
    for pair, verdict in known.judged.items():
        if _acts(verdict) and pair not in ruled:
            fact, claim = verdict.fact_id, verdict.claim_id
            if verdict.impugned:
                if {s for s, a in known.said[claim].items() if not a.retracted} - set(verdict.impugned):
                    continue  # the claim has another ground than what the fact impugns
                first = _strength(known, fact)[0] >= _strength(known, claim)[0]
            else:
                first = _beats(known, fact, claim)
            winner, loser = (fact, claim) if first else (claim, fact)
            attacks[winner, loser] = verdict.relation
    return attacks


def _beats(known: Premises, fact: str, claim: str) -> bool:
    (trust, date, order), (trust2, date2, order2) = _strength(known, fact), _strength(known, claim)
    if trust != trust2:
        return trust > trust2
    shorter = min(len(date), len(date2))
    if date[:shorter] != date2[:shorter]:
        return date[:shorter] > date2[:shorter]
    return order > order2


def _strength(known: Premises, evidence: str) -> tuple[float, str, int]:
    said = known.said[evidence]
    standing = {s: a for s, a in said.items() if not a.retracted} or said
    return max((known.trusts[s], a.asserted_at, a.order) for s, a in standing.items())


def _retracted(known: Premises, node: str) -> bool:
    said = known.said.get(node)
    return bool(said) and all(a.retracted for a in said.values())


def _groups(known: Premises, node: str) -> list[frozenset[str]]:
    """Return the alternatives: each lone critical dependency, and each group of them."""
    alone = [
        frozenset([on]) for (n, on, group), critical in known.depends.items() if n == node and critical and not group
    ]
    named = {group for (n, _, group), critical in known.depends.items() if n == node and critical and group}
    return alone + [
        frozenset(on for (n, on, g), critical in known.depends.items() if (n, g) == (node, group) and critical)
        for group in sorted(named)
    ]


def _program(known: Premises, attacks: Mapping[tuple[str, str], str]) -> dict[str, list[Rule]]:
    program: dict[str, list[Rule]] = {}
    for node, kind in known.kinds.items():
        if kind in ("evidence", "conclusion"):
            against = frozenset(attacker for attacker, target in attacks if target == node)
            bodies = _groups(known, node) or [frozenset()]
            program[node] = [] if _retracted(known, node) else [(body, against) for body in bodies]
    return program


def _reason(
    known: Premises, attacks: Mapping[tuple[str, str], str], label: Mapping[str, str], node: str
) -> tuple[str, set[str]]:
    """Return the state of a node but for forgetting, and every cause that holds."""
    needed = {on for body in _groups(known, node) for on in body}
    attackers = {attacker: relation for (attacker, target), relation in attacks.items() if target == node}
    if label[node] == "alive":
        return "alive", set()
    if label[node] == "contested":
        return "contested", {n for n in (*attackers, *needed) if label[n] == "contested"}
    for relation, state in (("contradicts", "refuted"), ("supersedes", "superseded")):
        killers = {a for a, r in attackers.items() if r == relation and label[a] == "alive"}
        if killers:
            return state, killers | ({""} if state == "refuted" and _retracted(known, node) else set())
    if _retracted(known, node):
        return "refuted", {""}
    return "invalidated", {on for on in needed if label[on] != "alive"}


def _supports(known: Premises, label: Mapping[str, str], hypothesis: str) -> tuple[int, int, int]:
    backing = [e for e, h, stance in known.weights if h == hypothesis and stance == "supports"]
    return len(backing), sum(label[e] == "alive" for e in backing), sum(label[e] == "contested" for e in backing)


def _standing(known: Premises, living: set[str], hypothesis: str) -> int:
    return sum(
        weight if stance == "supports" else -weight
        for (e, h, stance), weight in known.weights.items()
        if h == hypothesis and e in living
    )


def _forgotten(
    known: Premises, attacks: Mapping[tuple[str, str], str], states: Mapping[str, str], living: set[str]
) -> set[str]:
    feeds: dict[str, set[str]] = {n: set() for n in known.kinds}
    for node, on, _ in known.depends:
        feeds[on].add(node)
    for evidence, hypothesis, stance in known.weights:
        if stance == "supports":
            feeds[evidence].add(hypothesis)
    return {
        n
        for n, state in states.items()
        if state in ("refuted", "invalidated")
        and not _reach(feeds, n) & living
        and not any(target == n and attacker in living for attacker, target in attacks)
    }


def _reach(feeds: Mapping[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    frontier = set(feeds[start])
    while frontier:
        reached |= frontier
        frontier = {above for n in frontier for above in feeds[n]} - reached
    return reached


def _confidence(known: Premises, living: set[str], conclusion: str) -> float:
    lost = sum(n == conclusion and not critical and on not in living for (n, on, _), critical in known.depends.items())
    return known.confidences[conclusion] * 0.8**lost
