"""What the seven tools of beliefs take. The docstrings are what a model reads about them.

No input says how far a source is trusted, and none gives a verdict: who could, would win every contradiction.
"""

from typing import Annotated

from pydantic import MISSING, Field

from falsify.belief.events import TruthState
from falsify.belief.text import NodeKind
from surfaces.tools.schema import INTEGRAL, ToolInput
from surfaces.tools.workbench_inputs import Cursor, Id, IdempotencyKey, Reason, Revision

Named = Annotated[str, Field(min_length=1, max_length=128)]
"""A node by its id, its short name or the beginning of its id, 6 characters or more; or the id of a source."""
ShortName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^\S+$")]
Sentence = Annotated[str, Field(min_length=1, max_length=4000)]
Title = Annotated[str, Field(min_length=1, max_length=300)]
Quote = Annotated[str, Field(max_length=8000)]
Date = Annotated[str, Field(min_length=8, max_length=40)]
Share = Annotated[float, Field(ge=0, le=1)]
Epoch = Annotated[int, Field(ge=0, le=2**53 - 1), INTEGRAL]


_UP_TO_16 = Field(max_length=16, strict=False)


# --- reading --------------------------------------------------------------------------------------------------


class Recall(ToolInput):
    """Ask what is believed about something, and may be cited.

    Answers with living nodes only, nearest first: evidence with the sources that stand by it and their own words,
    hypotheses with their standing, conclusions with their confidence and what they rest on. Claims in open conflict
    come apart from them, under `conflicts`; the best living hypothesis of each question under `frontier`; an answer
    under `answer` where the claims give one, with the chain that it was read from. Nothing that was refuted,
    superseded or withdrawn is among them. `epoch` or `as_of` asks what was believed then, `valid_at` what was true at
    a date; they compose. At most 20 nodes, 5 by default.
    """

    project_id: Id
    query: Annotated[str, Field(min_length=1, max_length=2000)]
    limit: Annotated[int, Field(ge=1, le=20), INTEGRAL] | MISSING = MISSING
    epoch: Epoch | MISSING = MISSING
    as_of: Date | MISSING = MISSING
    valid_at: Date | MISSING = MISSING


class Why(ToolInput):
    """Read why a node is dead, or what keeps it alive: the audit of one belief.

    `chain` has the node first and beneath it, each with the entry that it stands `under` and how it bears on that
    (refuted by, lost, rests on), what led to its state, down to the fact that started it, with the verdict, the
    judge, the sources and the record of each. `remedies` say what would change its state. `node` is an id, a short
    name, or the beginning of an id (6 characters or more). `epoch` or `as_of` asks why it was so then. At most 100
    entries.
    """

    project_id: Id
    node: Named
    epoch: Epoch | MISSING = MISSING
    as_of: Date | MISSING = MISSING


class Graph(ToolInput):
    """Read a slice of the belief graph, the dead included, and what became of the requests you made.

    Questions, hypotheses, evidence and conclusions with their truth-states, and the edges between them: depends_on,
    supports, refutes, and supersedes from an attacker to what it attacks. `kinds` and `states` filter; `focus` (an id,
    a short name, or the beginning of an id, 6 characters or more) with `depth` (2 by default) stays near one node.
    `epoch`, `as_of` and `valid_at` ask about the past. A page holds at most 500 nodes, 100 by default: pass the
    returned `nextCursor` as `cursor` to go on; an edge comes with the page of its later end. In a project without
    research, read this where research would call for `falsify.project.get_state`.
    """

    project_id: Id
    kinds: Annotated[tuple[NodeKind, ...], Field(max_length=4, strict=False)] | MISSING = MISSING
    states: Annotated[tuple[TruthState, ...], Field(max_length=6, strict=False)] | MISSING = MISSING
    focus: Named | MISSING = MISSING
    depth: Annotated[int, Field(ge=1, le=10), INTEGRAL] | MISSING = MISSING
    max_nodes: Annotated[int, Field(ge=1, le=500), INTEGRAL] | MISSING = MISSING
    epoch: Epoch | MISSING = MISSING
    as_of: Date | MISSING = MISSING
    valid_at: Date | MISSING = MISSING
    cursor: Cursor | MISSING = MISSING


class Replay(ToolInput):
    """Read what was believed at an epoch or a date, and what is different now.

    Answers with the digest of that state (the same prefix of the log gives the same digest, everywhere), how many
    nodes of each kind were in which state, the best hypothesis of each question, and `differs`: the nodes and edges
    that came, went or changed since, each field as [then, now]. `epoch` or `as_of` asks what was known then,
    `valid_at` what was true at a date; they compose. At most 100 entries of each list; the counts are of all.
    """

    project_id: Id
    epoch: Epoch | MISSING = MISSING
    as_of: Date | MISSING = MISSING
    valid_at: Date | MISSING = MISSING


# --- recording ------------------------------------------------------------------------------------------------


class SourceNamed(ToolInput):
    """Who or what says so; `title` is for a source that is new."""

    id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^\S+$")]
    title: Title | MISSING = MISSING


class Weight(ToolInput):
    """A hypothesis that evidence speaks for or against, and how much."""

    hypothesis: Named
    weight: Share | MISSING = MISSING


class Dependency(ToolInput):
    """What something rests on: evidence or a conclusion."""

    on: Named
    critical: bool | MISSING = MISSING
    group: Annotated[str, Field(max_length=64)] | MISSING = MISSING


class NewHypothesis(ToolInput):
    """A possible answer."""

    id: ShortName
    statement: Sentence
    prior: Share | MISSING = MISSING


class NewEvidence(ToolInput):
    """A claim, who makes it, and what it bears on."""

    id: ShortName
    claim: Sentence
    source: SourceNamed | MISSING = MISSING
    quote: Quote | MISSING = MISSING
    asserted_at: Date | MISSING = MISSING
    supports: Annotated[tuple[Weight, ...], _UP_TO_16] | MISSING = MISSING
    refutes: Annotated[tuple[Weight, ...], _UP_TO_16] | MISSING = MISSING
    depends_on: Annotated[tuple[Dependency, ...], _UP_TO_16] | MISSING = MISSING


class NewConclusion(ToolInput):
    """A statement that rests on evidence or on other conclusions."""

    id: ShortName
    statement: Sentence
    confidence: Share | MISSING = MISSING
    depends_on: Annotated[tuple[Dependency, ...], Field(min_length=1, max_length=16, strict=False)]


class Record(ToolInput):
    """Record what is new: a question, or hypotheses, evidence and conclusions of one, without judging any of it.

    Name the question by its text (`question`) or by `question_id`; leave both out where there is only one. Each entry
    has a short name (`id`) by which the others, and later calls, refer to it. Any one of what a thing `depends_on`
    keeps it alive; those of one `group` do so only together, and one with `critical` false only lends confidence.
    Recording adds and never overwrites: nothing that is believed already changes its truth-state, and what would do
    that is refused; propose it with `falsify.belief.revise`. The same words recorded twice are one belief: what you
    leave out of it stays as it is recorded, and what you say otherwise (a prior, a confidence, a weight, a quote, a
    date) is refused. No judge is asked, so what you record is held against nothing yet: the next action holds the first
    of the new claims, and the others are held in the same way. Warnings name what rests on something dead. New sources
    are trusted like any other. Where a project has no research, the setting `agent_mode` is its autonomy mode.
    """

    project_id: Id
    question: Sentence | MISSING = MISSING
    question_id: Named | MISSING = MISSING
    hypotheses: Annotated[tuple[NewHypothesis, ...], _UP_TO_16] | MISSING = MISSING
    evidence: Annotated[tuple[NewEvidence, ...], _UP_TO_16] | MISSING = MISSING
    conclusions: Annotated[tuple[NewConclusion, ...], _UP_TO_16] | MISSING = MISSING
    reason: Reason | MISSING = MISSING
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class Revise(ToolInput):
    """Hold one fact against what is believed, and record what follows.

    Claims that it might bear on are found by meaning and by the sources that it names; a judge says which of them it
    contradicts or supersedes. What falls, falls with everything that rested on it; what the fallen had refuted comes
    back. The result has the verdicts and every change with its cause, in cascade order. A pair that the judge could
    not decide stays unadjudicated and changes nothing. A fact without `asserted_at` is of the moment at which it is
    recorded; one that its source asserted before is held as it is recorded, and keeps its date, words and weights
    unless you send others. Say honestly who says so (`source`), with the source's own words (`quote`). Leave
    `question_id` out where there is only one question. What waits for approval is judged again when it is approved.
    Where a project has no research, the setting `agent_mode` is its autonomy mode.
    """

    project_id: Id
    claim: Sentence
    question_id: Named | MISSING = MISSING
    id: ShortName | MISSING = MISSING
    source: SourceNamed | MISSING = MISSING
    quote: Quote | MISSING = MISSING
    asserted_at: Date | MISSING = MISSING
    supports: Annotated[tuple[Weight, ...], _UP_TO_16] | MISSING = MISSING
    refutes: Annotated[tuple[Weight, ...], _UP_TO_16] | MISSING = MISSING
    reason: Reason
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


class Retract(ToolInput):
    """Withdraw a claim: a source, by default every source, does not stand by it any more.

    Evidence that no source stands by is refuted, and what rested on it falls with it; claims that it had refuted come
    back. With `restore` the source stands by it again. The result has every change with its cause, in cascade order.
    `evidence_id` is an id, a short name, or the beginning of an id (6 characters or more). Where a project has no
    research, the setting `agent_mode` is its autonomy mode.
    """

    project_id: Id
    evidence_id: Named
    source_id: Named | MISSING = MISSING
    restore: bool | MISSING = MISSING
    reason: Reason
    idempotency_key: IdempotencyKey
    expected_project_revision: Revision


BELIEF_INPUTS: dict[str, type[ToolInput]] = {
    "falsify.belief.recall": Recall,
    "falsify.belief.why": Why,
    "falsify.belief.graph": Graph,
    "falsify.belief.replay": Replay,
    "falsify.belief.record": Record,
    "falsify.belief.revise": Revise,
    "falsify.belief.retract": Retract,
}
"""The tools by their canonical names, in the order in which they are listed."""
