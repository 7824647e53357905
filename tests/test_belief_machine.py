"""Random investigations: after every command the live graph is the fold of its events and says what the oracle says."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from falsify.belief.cascade import expected_states
from falsify.belief.events import FrontierMoved, Premise, RevisionOpened
from falsify.belief.graph import BeliefGraph, Conclusion, Evidence, Hypothesis, Question, evolve
from falsify.belief.text import node_id
from falsify.codec import decode, encode, topic
from tests import oracle
from tests.canonical import canonical
from tests.driver import InMemory, judged, withheld

QUESTION = "What broke the pump?"
EVIDENCE = [f"e{i}" for i in range(5)]
CONCLUSIONS = [f"c{i}" for i in range(3)]
HYPOTHESES = [f"h{i}" for i in range(3)]
SOURCES = [f"s{i}" for i in range(3)]

evidence = st.sampled_from(EVIDENCE)
sources = st.sampled_from(["s0", "s0", "s1", "s2"])
confidences = st.sampled_from([0.3, 0.6, 0.9])
weights = st.sampled_from([0.1, 0.3, 0.5, 1.0])
trusts = st.sampled_from([0.2, 0.5, 1.0])
dates = st.sampled_from(["", "2021-01-05", "2021-03-15", "2021-03-15T10:00:00Z", "2022-07-01"])
relations = st.sampled_from(["contradicts", "contradicts", "contradicts", "supersedes", "supports", "unrelated"])
weighings = st.builds(lambda h, w: {"hypothesis": h, "weight": w}, st.sampled_from(HYPOTHESES), weights)
attacks = st.builds(lambda e, c: {"evidence": e, "confidence": c}, evidence, confidences)
dependencies = st.builds(
    lambda on, critical, group: {
        "evidence" if on in EVIDENCE else "conclusion": on,
        "critical": critical,
        "group": group,
    },
    st.sampled_from(EVIDENCE + CONCLUSIONS),
    st.sampled_from([True, True, False]),
    st.sampled_from(["", "", "g", "h"]),
)


def few(strategy):
    return st.lists(strategy, max_size=2)


evidence_entries = st.fixed_dictionaries(
    {
        "id": evidence,
        "source_id": sources,
        "asserted_at": dates,
        "supports": few(weighings),
        "refutes": few(weighings),
        "depends_on": few(dependencies),
        "contradicts": few(attacks),
        "supersedes": few(attacks),
    }
)
conclusion_entries = st.fixed_dictionaries(
    {"id": st.sampled_from(CONCLUSIONS), "depends_on": st.lists(dependencies, max_size=3)}
)
source_entries = st.fixed_dictionaries({"id": sources, "trust": trusts})
charged = st.sampled_from([(), (), ("s0",), ("s0", "s1")])
findings = st.tuples(evidence, relations, confidences, st.sampled_from([True, True, True, False]), charged)


def claim(handle):
    return f"The record says {handle}"


class Watched(InMemory):
    """Sees to it that no decision changes the graph it was given."""

    def __init__(self, question):
        super().__init__(question)
        self.before = canonical(self.graph)

    def record(self, events):
        assert canonical(self.graph) == self.before
        super().record(events)
        self.before = canonical(self.graph)
        return events


class Investigation(RuleBasedStateMachine):
    """Everything that can be said and done in an investigation, in any order."""

    def __init__(self):
        super().__init__()
        self.beliefs = Watched(QUESTION)

    @initialize(
        spoken=st.tuples(*(evidence_entries.map(lambda e, h=h: {**e, "id": h}) for h in EVIDENCE)),
        drawn=st.tuples(*(conclusion_entries.map(lambda c, h=h: {**c, "id": h}) for h in CONCLUSIONS)),
    )
    def begin(self, spoken, drawn):
        self.ingest(spoken, drawn, [])

    @rule(
        entries=st.lists(evidence_entries, max_size=3, unique_by=lambda e: e["id"]),
        drawn=st.lists(conclusion_entries, max_size=2, unique_by=lambda c: c["id"]),
        described=st.lists(source_entries, max_size=2, unique_by=lambda s: s["id"]),
    )
    def ingest(self, entries, drawn, described):
        parts = belief_file(entries, drawn, described)
        self.check(self.beliefs.ingest(**parts), quiet=True)
        assert self.beliefs.ingest(**parts) == []

    @rule(
        handle=evidence,
        source=sources,
        trust=st.none() | trusts,
        date=dates,
        found=few(findings),
        speaks=few(st.tuples(st.sampled_from(HYPOTHESES), st.sampled_from(["supports", "refutes"]), weights)),
    )
    def fact(self, handle, source, trust, date, found, speaks):
        known = [(h, stance, weight) for h, stance, weight in speaks if self.knows(h)]
        fact_id = node_id("evidence", claim(handle), question_id=self.beliefs.question_id)
        events = self.beliefs.fact(
            claim(handle),
            *self.verdicts_on(fact_id, found),
            handle=handle,
            source_id=source,
            trust=trust,
            asserted_at=date,
            weighs=known,
        )
        self.check(events)

    @precondition(lambda self: self.evidence())
    @rule(data=st.data(), every=st.booleans())
    def retract_or_restore(self, data, every):
        node = data.draw(st.sampled_from(self.evidence()))
        said = data.draw(st.sampled_from(sorted(node.assertions.values(), key=lambda a: a.order)))
        act = self.beliefs.restore if said.retracted else self.beliefs.retract
        self.check(act(node.id, source_id="" if every else said.source_id))

    @precondition(lambda self: self.evidence())
    @rule(data=st.data(), relation=relations, confidence=confidences)
    def a_person_rules(self, data, relation, confidence):
        some = st.sampled_from([node.id for node in self.evidence()])
        self.check(self.beliefs.rule(data.draw(some), data.draw(some), relation, confidence=confidence))

    @precondition(lambda self: self.evidence())
    @rule(data=st.data(), found=st.lists(findings, min_size=1, max_size=3))
    def adjudicate(self, data, found):
        fact_id = data.draw(st.sampled_from([node.id for node in self.evidence()]))
        results = self.verdicts_on(fact_id, found)
        self.check(self.beliefs.adjudicate(fact_id, *results), none=not results)

    def evidence(self):
        return [node for node in self.beliefs.graph.nodes.values() if isinstance(node, Evidence)]

    def knows(self, handle):
        return (self.beliefs.question_id, handle) in self.beliefs.graph.handles

    def verdicts_on(self, fact_id, found):
        return [
            judged(fact_id, self.beliefs.id(handle), relation, confidence, impugned=impugned)
            if answered
            else withheld(fact_id, self.beliefs.id(handle))
            for handle, relation, confidence, answered, impugned in found
            if self.knows(handle) and self.beliefs.id(handle) != fact_id
        ]

    def check(self, events, *, quiet=False, none=False):
        """Check that a revision is opened where it must be and that nothing follows twice."""
        opened = [place for place, event in enumerate(events) if isinstance(event, RevisionOpened)]
        flips = [e for e in events if not isinstance(e, Premise | FrontierMoved)]
        assert len(opened) == (1 if flips or not (quiet or none) else 0)
        assert not opened or opened[0] == 0
        assert len(flips) == len({_spoken(flip) for flip in flips})

    @invariant()
    def the_live_graph_is_the_fold_of_its_events(self):
        live = canonical(self.beliefs.graph)
        assert canonical(fold(self.beliefs.events)) == live
        assert canonical(fold(decode(topic(e), encode(e)) for e in self.beliefs.events)) == live

    @invariant()
    def the_live_graph_says_what_the_oracle_says(self):
        compare(self.beliefs)

    @invariant()
    def every_recorded_state_is_the_one_to_be_expected(self):
        graph = self.beliefs.graph
        assert {n: node.state for n, node in graph.nodes.items()} == expected_states(graph)


# --- the order of arrival --------------------------------------------------------------------------------------

STRENGTHS = [(trust, f"2021-0{month}-01") for trust in (0.3, 0.9) for month in (1, 2, 3)]
PRIORS = dict(zip(HYPOTHESES, (0.2, 0.5, 0.8), strict=True))


def once(key, strategy):
    return st.lists(strategy, max_size=6, unique_by=key)


def edge(step):
    """Return what a step is about: the same edge said again, otherwise, would make its order matter."""
    return step[:2]


def pair(step):
    return frozenset(step[:2])


def dependency(step):
    node, on = step
    return node, on.get("evidence"), on.get("conclusion"), on["group"]


@settings(max_examples=150, deadline=None)
@given(
    strengths=st.permutations(STRENGTHS),
    depends=once(
        dependency,
        st.tuples(st.sampled_from(EVIDENCE + CONCLUSIONS), dependencies),
    ),
    weighs=once(edge, st.tuples(evidence, st.sampled_from(HYPOTHESES), weights)),
    pairs=once(pair, st.tuples(evidence, evidence, relations)),
    rulings=once(edge, st.tuples(evidence, evidence, relations)),
    withdrawn=st.sets(evidence, max_size=2),
    order=st.randoms(use_true_random=False),
)
def test_the_states_do_not_depend_on_the_order_of_arrival(strengths, depends, weighs, pairs, rulings, withdrawn, order):
    said = dict(zip(EVIDENCE, strengths, strict=False))
    steps = [lambda b, d=d: _depend(b, said, *d) for d in depends]
    steps += [lambda b, w=w: _weigh(b, said, *w) for w in weighs]
    steps += [lambda b, p=p: _judge(b, said, *p) for p in pairs]
    steps += [lambda b, r=r: b.rule(_say(b, said, r[0]), _say(b, said, r[1]), r[2]) for r in rulings]
    steps += [lambda b, e=e: b.retract(_say(b, said, e)) for e in sorted(withdrawn)]
    shuffled = order.sample(steps, len(steps))

    one, other = InMemory(QUESTION), InMemory(QUESTION)
    for step in steps:
        step(one)
    for step in shuffled:
        step(other)

    assert other.states() == one.states()
    assert _frontier(other) == _frontier(one)
    compare(other)


def _say(beliefs, said, handle):
    """Return the id of a claim, said now if it was not before; the trust and the date of each are its own."""
    trust, date = said[handle]
    if handle not in beliefs.states():
        beliefs.ingest(sources=[{"id": f"source-{trust}", "trust": trust}])
        beliefs.fact(claim(handle), handle=handle, source_id=f"source-{trust}", asserted_at=date)
    return beliefs.id(handle)


def _depend(beliefs, said, node, on):
    for handle in {node, on.get("evidence")} & set(EVIDENCE):
        _say(beliefs, said, handle)
    parts = belief_file([], [{"id": node, "depends_on": [on]}] if node in CONCLUSIONS else [], [])
    if node in EVIDENCE:
        parts = belief_file([{**_as_said(said, node), "depends_on": [on]}], [], [])
    parts["evidence"] = [{**entry, **_as_said(said, entry["id"])} for entry in parts["evidence"]]
    beliefs.ingest(**parts)


def _weigh(beliefs, said, handle, hypothesis, weight):
    _say(beliefs, said, handle)
    parts = belief_file(
        [{**_as_said(said, handle), "supports": [{"hypothesis": hypothesis, "weight": weight}]}], [], []
    )
    parts["hypotheses"] = [{**h, "prior": PRIORS[h["id"]]} for h in parts["hypotheses"]]
    beliefs.ingest(**parts)


def _judge(beliefs, said, fact, other, relation):
    fact_id, claim_id = _say(beliefs, said, fact), _say(beliefs, said, other)
    if fact_id != claim_id:
        beliefs.adjudicate(fact, judged(fact_id, claim_id, relation))


def _as_said(said, handle):
    trust, date = said[handle]
    return {"id": handle, "source_id": f"source-{trust}", "asserted_at": date}


def _frontier(beliefs):
    best = oracle.believe(beliefs.events).frontier
    assert {q: beliefs.graph.nodes[q].frontier for q in best} == best
    return best


def belief_file(entries, drawn, described):
    """Return the parts of a belief file with these entries and a bare one for whatever else they name."""
    named = {d.get("evidence") for entry in (*entries, *drawn) for d in entry.get("depends_on", ())}
    named |= {a["evidence"] for entry in entries for key in ("contradicts", "supersedes") for a in entry.get(key, ())}
    bare = sorted(named - {None} - {entry["id"] for entry in entries})
    hypotheses = {w["hypothesis"] for entry in entries for key in ("supports", "refutes") for w in entry.get(key, ())}
    concluded = {d.get("conclusion") for entry in (*entries, *drawn) for d in entry.get("depends_on", ())}
    undrawn = sorted(concluded - {None} - {entry["id"] for entry in drawn})
    return {
        "sources": described,
        "hypotheses": [{"id": h, "statement": f"It was {h}", "prior": 0.5} for h in sorted(hypotheses)],
        "evidence": [{**e, "claim": claim(e["id"])} for e in (*entries, *({"id": b} for b in bare))],
        "conclusions": [{**c, "statement": f"So {c['id']}"} for c in (*drawn, *({"id": u} for u in undrawn))],
    }


def fold(events):
    graph = BeliefGraph()
    for event in events:
        evolve(graph, event)
    return graph


def compare(beliefs):
    """Check a live graph, node by node, against what follows from its premises."""
    graph, expected = beliefs.graph, oracle.believe(beliefs.events)
    nodes = list(graph.nodes.values())
    by_kind = {kind: [n for n in nodes if isinstance(n, kind)] for kind in (Question, Hypothesis, Conclusion)}
    assert {n.id: n.state for n in nodes} == expected.states
    assert {h.id: h.standing for h in by_kind[Hypothesis]} == expected.standing
    assert {h.id: (h.supports, h.living, h.contested) for h in by_kind[Hypothesis]} == expected.supports
    assert {q.id: q.supported for q in by_kind[Question]} == expected.supported
    assert {q.id: q.frontier for q in by_kind[Question]} == expected.frontier
    assert {c.id: graph.confidence(c) for c in by_kind[Conclusion]} == expected.confidence
    dead = [n for n in nodes if n.state not in ("alive", "forgotten")]
    stale = {n.id: n.cause for n in dead if n.cause not in expected.causes[n.id]}
    assert stale == {}


def _spoken(event):
    return topic(event), encode(event)


TestInvestigation = Investigation.TestCase
TestInvestigation.settings = settings(max_examples=80, stateful_step_count=25, deadline=None)
