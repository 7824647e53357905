"""A workspace: one folder with a log and its projections, wired together. All surfaces speak to this object.

Writing is always: load the graph, decide, append with the revision decided on, project. Reading is always a
projection over a prefix.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import orjson

from falsify.artifacts import ArtifactStore
from falsify.belief import documents
from falsify.belief.contradiction import Finding, adjudicate, examine, settled, statement
from falsify.belief.events import BeliefEvent, VerdictWithheld
from falsify.belief.graph import BeliefGraph, Evidence, Node, Question, evolve
from falsify.belief.ingest import BadReferenceError, claims, ingest
from falsify.belief.revision import (
    AssertFact,
    ask,
    assert_fact,
    record_verdicts,
    restore,
    retract,
    returned,
    rule,
)
from falsify.belief.text import a_kind, node_id, written
from falsify.clock import SystemClock
from falsify.errors import InvalidInputError, NotFoundError, UnavailableError
from falsify.events import Event, NodeId, Recorded
from falsify.identity import is_project_id
from falsify.join.research import measurements
from falsify.log import EventLog, canonical, open_log
from falsify.ports import Candidate, Clock, Embedder, Judge, Progress, Relation, Statement
from falsify.workbench.project import Project
from projections.beliefs import BELIEFS, Recall, cite, may_be_cited, recall
from projections.obituary import REGISTER, Reason, why
from projections.slots import SlotIndex
from projections.workbench import WORKBENCH
from replay.cutoff import NOW, Cutoff
from replay.replayer import View, replay, view
from surfaces import settings as settings_
from surfaces.adapters import make_embedder, make_judge
from surfaces.answers import answer
from surfaces.belief_file import Document
from surfaces.writing import Asked, Decided, append_decided

if TYPE_CHECKING:
    from projections.answers import Answerer
    from projections.claims import ClaimsIndex, VectorTable
    from projections.cognee import Mirror

FOLDER = ".falsify"
"""What makes a folder a workspace."""

SEARCH = "search.sqlite"
"""The file of the search index in a workspace's folder; its vectors lie beside it."""

SHORTEST = len("E-0123")
"""Characters that the beginning of an id must have to stand for it."""

MOST_MEANT = 3
"""How many names are said that one may have been meant for."""

_BEGINNING = re.compile(r"[QHEC]-")

IGNORED = """\
# Rebuilt from the log at any time.
claims.sqlite*
search.*
mirror/
projects/
# What runs leave while they go on; what they leave for good is in artifacts/.
runs/
workers/
"""
"""What a workspace's .gitignore says."""

Watch = Callable[[list[tuple[NodeId, documents.Claim]]], Iterable[tuple[NodeId, documents.Claim]]]
"""Passes claims on, and shows somebody how far it has come."""


def unwatched(claims: list[tuple[NodeId, documents.Claim]]) -> list[tuple[NodeId, documents.Claim]]:
    """Pass the claims on."""
    return claims


Examine = Callable[[BeliefGraph, NodeId, Statement], list[Finding]]
"""Says what a judge makes of a claim and the claims that it might bear on."""


@dataclass(frozen=True, slots=True)
class _Work:
    """A command: which tool, its canonical body, how it is decided, and the node that its answer is about."""

    tool: str
    body: dict[str, Any]
    subject: NodeId
    decide: Callable[[BeliefGraph], list[BeliefEvent]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command came to: its answer as JSON bytes, the same bytes for the same idempotency key."""

    response: bytes
    replayed: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the answer."""
        return cast("dict[str, Any]", orjson.loads(self.response))


@dataclass(slots=True)
class _Moment:
    """The position at which the log is read, None for its end. A workspace shares it with those of other projects."""

    head: int | None = None


class Workspace:
    """An open workspace. Close it, or use it as a context manager."""

    def __init__(
        self,
        root: Path,
        *,
        environ: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        judge: Judge | None = None,
        read_only: bool = False,
        project: str = "",
        log: EventLog | None = None,
        moment: _Moment | None = None,
    ) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.environ = environ
        self.settings = settings_.load(root, {**environ, "FALSIFY_PROJECT": project} if project else environ)
        self.clock = clock or SystemClock()
        self._given_embedder, self._given_judge = embedder, judge
        self._own_log = log is None
        self.log: EventLog = log or open_log(root / self.settings.log, clock=self.clock, read_only=read_only)
        # Until a research project is created, its name and its mode are what the settings say.
        unborn = Project(id=self.settings.project, mode=self.settings.agent_mode)
        self._graph, self._project, self._position = BeliefGraph(), unborn, 0
        self._others: dict[str, Workspace] = {}
        self._moment = moment or _Moment()
        self._past: tuple[BeliefGraph, VectorTable] | None = None

    @classmethod
    def init(cls, root: Path, **options: Any) -> "Workspace":
        """Make the folder a workspace and open it; one that is a workspace already is just opened."""
        try:
            (root / FOLDER).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(
                f"{root / FOLDER} cannot be made: {error.strerror}", hint="choose a folder that you can write to"
            ) from error
        ignore = root / FOLDER / ".gitignore"
        if not ignore.exists():
            ignore.write_text(IGNORED, encoding="utf-8")
        return cls(root, **options)

    @classmethod
    def open(cls, start: Path | None = None, *, environ: Mapping[str, str] = os.environ, **options: Any) -> "Workspace":
        """Open the workspace at `start`, or else the one FALSIFY_WORKSPACE names, or the nearest folder upwards.

        Raises NotFoundError where there is none.
        """
        named = start or (Path(environ["FALSIFY_WORKSPACE"]) if environ.get("FALSIFY_WORKSPACE") else None)
        if named is not None:
            if not (named / FOLDER).is_dir():
                raise NotFoundError(f"{named} is not a workspace", hint=f"make it one with `falsify init {named}`")
            return cls(named.resolve(), environ=environ, **options)
        here = Path.cwd().resolve()
        for folder in (here, *here.parents):
            if (folder / FOLDER).is_dir():
                return cls(folder, environ=environ, **options)
        raise NotFoundError(
            f"neither {here} nor a folder above it is a workspace",
            hint="make one with `falsify init`, or name one with --workspace or FALSIFY_WORKSPACE",
        )

    def close(self) -> None:
        """Close the log and what was opened beside it."""
        for other in self._others.values():
            other.close()
        if "_index" in self.__dict__:
            self._index.close()
        if "mirror" in self.__dict__:
            self.mirror.close()
        if self._own_log:
            self.log.close()

    def of(self, project: str) -> "Workspace":
        """Return the same workspace, working on another project; closed with this one."""
        if project == self.settings.project:
            return self
        if project not in self._others:
            self._others[project] = Workspace(
                self.root,
                environ=self.environ,
                clock=self.clock,
                embedder=self._given_embedder,
                judge=self._given_judge,
                project=project,
                log=self.log,
                moment=self._moment,
            )
        return self._others[project]

    def knows(self, project: str) -> bool:
        """Return whether anything was recorded of a project; of what is no project's id there is nothing.

        A project that is unknown leaves nothing behind here.
        """
        if not is_project_id(project):
            return False
        if (project == self.settings.project or project in self._others) and self.of(project).project.revision:
            return True
        return self.log.revision(f"project:{project}") > 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # --- what it is wired to ------------------------------------------------------------------------------

    @property
    def stream(self) -> str:
        """The stream of the project that is worked on."""
        return f"project:{self.settings.project}"

    @property
    def graph(self) -> BeliefGraph:
        """What is believed now. Not to be changed by anybody but the log."""
        self._catch_up()
        return self._graph

    @property
    def project(self) -> Project:
        """The research project as it stands now. Not to be changed by anybody but the log."""
        self._catch_up()
        return self._project

    @property
    def own_folder(self) -> Path:
        """Where this project's projections lie: those of `main` beside the log."""
        name = self.settings.project
        return self.folder if name == "main" else self.folder / "projects" / name

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """The files of evidence."""
        return ArtifactStore(self.folder / "artifacts")

    @cached_property
    def embedder(self) -> Embedder:
        """Turns texts into vectors."""
        if self._given_embedder is not None:
            return self._given_embedder
        return make_embedder(self.settings, self.environ)

    @cached_property
    def judge(self) -> Judge:
        """Gives verdicts, as the settings say."""
        if self._given_judge is not None:
            return self._given_judge
        return make_judge(
            self.settings,
            self.environ,
            folder=self.folder / "judge",
            pinned=lambda name: self.find(name, Evidence).text,
        )

    @property
    def index(self) -> "ClaimsIndex":
        """The claims index, brought up to the present."""
        self.build_index()
        return self._index

    def build_index(self, watch: Progress | None = None) -> None:
        """Bring the claims index up to the present, telling somebody how far it has come."""
        index = self._index
        graph, head = self.graph, self._position
        if index.position > head:
            index.rebuild(graph, head, watch=watch)
        elif index.position < head:
            index.sync(graph, head, (r.event for r in self.records(after=index.position)), watch=watch)
        if not index.slots:
            index.slots.read(graph, graph.nodes)  # the slots are not on the disk

    @cached_property
    def _index(self) -> "ClaimsIndex":
        from projections.claims import ClaimsIndex

        self.own_folder.mkdir(parents=True, exist_ok=True)
        return ClaimsIndex(self.own_folder / "claims.sqlite", self.embedder, SlotIndex(self.settings.arity))

    @cached_property
    def _answerer(self) -> "Answerer":
        from projections.answers import Answerer

        return Answerer(self.embedder)

    @cached_property
    def mirror(self) -> "Mirror":
        """Cognee's copy of what is believed. Opening it imports Cognee, which takes seconds."""
        from projections.cognee import Mirror

        return Mirror(self.own_folder / "mirror", self.embedder)

    def sync_mirror(self) -> int:
        """Bring the mirror up to the present; return how many positions it was behind."""
        from projections.cognee import touched

        graph, head = self.graph, self._position
        checkpoint = self.mirror.checkpoint()
        if checkpoint > head:
            self.mirror.rebuild(graph, head)
        else:
            changed = touched((r.event for r in self.records(after=checkpoint)), graph)
            self.mirror.sync(graph, head, changed)
        return head - checkpoint

    # --- names --------------------------------------------------------------------------------------------

    def find(self, name: str, *kinds: type[Node], graph: BeliefGraph | None = None) -> Node:
        """Return the node with this id, short name, or beginning of an id.

        Raises NotFoundError or, where several fit, InvalidInputError that lists them.
        """
        graph = graph or self.graph
        found = named(graph, name)
        fitting = [node for node in found if not kinds or isinstance(node, kinds)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            listed = "; ".join(f"{node.id} ({node.text})" for node in fitting)
            raise InvalidInputError(f"{name!r} stands for {len(fitting)} nodes", hint=f"use an id: {listed}")
        wanted = [kind.__name__.lower() for kind in kinds]
        if found:
            raise InvalidInputError(f"{name!r} is {a_kind(found[0].kind)}, not {a_kind(*wanted)}")
        hint = meant(graph, name) or "see `falsify graph` for what there is"
        raise NotFoundError(f"there is no {' or '.join(wanted) or 'node'} {name!r}", hint=hint)

    def question(self, name: str | None = None, *, graph: BeliefGraph | None = None) -> Question:
        """Return the question named, or the only one there is."""
        graph = graph or self.graph
        if name:
            return cast("Question", self.find(name, Question, graph=graph))
        questions = graph.questions()
        if len(questions) == 1:
            return questions[0]
        if not questions:
            raise NotFoundError(
                "there is no question yet", hint="ask one with `falsify question TEXT`, or `falsify ingest FILE`"
            )
        listed = "; ".join(f"{q.id} ({q.text})" for q in questions)
        raise InvalidInputError(f"there are {len(questions)} questions", hint=f"name one with --question: {listed}")

    # --- commands -----------------------------------------------------------------------------------------

    def ask(self, text: str, *, handle: str = "", key: str | None = None, dry_run: bool = False) -> Outcome:
        """Start an investigation."""
        body = {"text": text, "handle": handle}
        work = _Work("question", body, node_id("question", text), lambda graph: ask(graph, text, handle=handle))
        return self._carry_out(work, key=key, dry_run=dry_run)

    def ingest(
        self, document: Document, *, judged: bool = False, key: str | None = None, dry_run: bool = False
    ) -> Outcome:
        """Record a belief file; `judged` holds its new claims against those recorded before it."""
        file = document.beliefs

        def decide(graph: BeliefGraph) -> list[BeliefEvent]:
            findings: list[Finding] = []
            titles = {s.id: s.title for s in graph.sources.values()} | {s.id: s.title for s in file.sources if s.title}
            if judged:
                for evidence_id, entry in claims(graph, file):
                    title = titles.get(entry.source_id) or entry.source_id
                    fact = Statement(entry.claim, title, entry.quote, entry.asserted_at)
                    findings += self.examine(graph, evidence_id, fact)
            try:
                return ingest(graph, file, person=self.settings.actor, findings=findings)
            except BadReferenceError as error:
                raise document.located(error) from error

        body = {"file": file.model_dump(mode="json"), "judged": judged}
        work = _Work("ingest", body, node_id("question", file.question), decide)
        return self._carry_out(work, key=key, dry_run=dry_run)

    def ingest_document(
        self,
        question_id: NodeId,
        document: documents.Document | None,
        *,
        body: dict[str, Any],
        judged: bool = False,
        key: str | None = None,
        dry_run: bool = False,
        watch: Watch = unwatched,
    ) -> Outcome:
        """Record what an edition of a document says; None stands for one that says what was recorded before.

        `body` is what the caller asked for, `watch` what passes the new claims on while they are held against others.
        """

        def decide(graph: BeliefGraph) -> list[BeliefEvent]:
            if document is None:
                return []
            findings: list[Finding] = []
            if judged:
                new = list(documents.new_claims(graph, question_id, document))
                for evidence_id, claim in watch(new):
                    fact = documents.statement(graph, document, claim)
                    findings += self.examine(graph, evidence_id, fact)
            return documents.ingest_document(graph, question_id, document, findings)

        return self._carry_out(_Work("ingest", body, question_id, decide), key=key, dry_run=dry_run)

    def fact(self, fact: AssertFact, *, key: str | None = None, dry_run: bool = False) -> Outcome:
        """Hold a new fact against what is believed, and record what follows. A fact without a date is of now."""
        dated = fact if fact.asserted_at else replace(fact, asserted_at=written(self.clock.now()))
        shown = Statement(fact.text, fact.source_title or fact.source_id, fact.quote, dated.asserted_at)

        def decide(graph: BeliefGraph) -> list[BeliefEvent]:
            said = self.examine(graph, dated.fact_id, shown)
            return self._second_look(graph, lambda found: assert_fact(graph, dated, [*said, *found]))

        # The body is what the caller said, not when: a retry of an undated fact is the same command.
        return self._carry_out(_Work("fact", asdict(fact), fact.fact_id, decide), key=key, dry_run=dry_run)

    def retract(
        self,
        evidence_id: NodeId,
        *,
        source_id: str = "",
        reason: str = "",
        restored: bool = False,
        key: str | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Record that a source (by default every source) withdraws a claim, or stands by it again."""
        decision = restore if restored else retract
        body = {"evidence_id": evidence_id, "source_id": source_id, "reason": reason, "restored": restored}

        def decide(graph: BeliefGraph) -> list[BeliefEvent]:
            withdrawal = partial(decision, graph, evidence_id, source_id=source_id, reason=reason)
            return self._second_look(graph, withdrawal)

        return self._carry_out(_Work("retract", body, evidence_id, decide), key=key, dry_run=dry_run)

    def adjudicate(self, fact_id: NodeId, *, key: str | None = None, dry_run: bool = False) -> Outcome:
        """Ask the judge again about the pairs of a fact for which it gave no verdict."""

        def decide(graph: BeliefGraph) -> list[BeliefEvent]:
            withheld = pending(graph, fact_id, measured=measurements(self.project))
            if not withheld:
                raise InvalidInputError(
                    f"nothing about {fact_id} is unadjudicated", hint="see `falsify adjudicate` for what is"
                )
            fact = statement(graph, graph.evidence(fact_id))
            candidates = [Candidate(e.claim_id, e.distance, e.gate) for e in withheld]
            said = adjudicate(graph, fact_id, fact, candidates, self.judge)
            return self._second_look(graph, lambda found: record_verdicts(graph, fact_id, [*said, *found]))

        work = _Work("adjudicate", {"fact_id": fact_id}, fact_id, decide)
        return self._carry_out(work, key=key, dry_run=dry_run)

    def rule(
        self,
        fact_id: NodeId,
        claim_id: NodeId,
        *,
        relation: Relation,
        confidence: float,
        rationale: str,
        key: str | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Record a person's verdict on a fact and a claim."""
        body = {
            "fact_id": fact_id,
            "claim_id": claim_id,
            "relation": relation,
            "confidence": confidence,
            "rationale": rationale,
        }

        def decide(graph: BeliefGraph) -> list[BeliefEvent]:
            ruling = partial(
                rule,
                graph,
                fact_id,
                claim_id,
                relation=relation,
                confidence=confidence,
                rationale=rationale,
                person=self.settings.actor,
            )
            return self._second_look(graph, ruling)

        return self._carry_out(_Work("adjudicate", body, fact_id, decide), key=key, dry_run=dry_run)

    def examine(self, graph: BeliefGraph, fact_id: NodeId, fact: Statement) -> list[Finding]:
        """Return what the judge says of a fact against every claim that it might bear on."""
        measured = measurements(self.project)
        return examine(graph, fact_id, fact, neighbours=self.index, judge=self.judge, measured=measured)

    def _second_look(
        self, graph: BeliefGraph, decide: Callable[[list[Finding]], list[BeliefEvent]]
    ) -> list[BeliefEvent]:
        return second_look(graph, decide, self.examine)

    def _carry_out(self, work: _Work, *, key: str | None, dry_run: bool) -> Outcome:
        """Decide and append; decide anew where somebody else wrote in between."""
        asked = Asked(stream=self.stream, actor=self.settings.actor, tool=work.tool, body=canonical(work.body), key=key)
        if dry_run:
            decided, told, epoch = self._decided(work)
            return Outcome(orjson.dumps(told(revision=decided.revision, epoch=epoch, dry_run=True)))
        if key is not None and (first := self.log.answered(self.stream, asked.command())):
            return Outcome(first.response, replayed=True)
        receipt = append_decided(self.log, asked, lambda: self._decided(work)[0])
        return Outcome(receipt.response, receipt.replayed)

    def _decided(self, work: _Work) -> tuple[Decided, Callable[..., dict[str, Any]], int]:
        """Return the decision, what tells of it, and the epoch after it."""
        # The revision is read before the graph: a graph that is newer is refused, one that is older would not be.
        revision = self.log.revision(self.stream)
        events = work.decide(self.graph)
        after = self.graph.branch()
        for event in events:
            evolve(after, event)
        told = partial(answer, work.tool, after, events, work.subject)

        def respond(revision: int, epoch: int) -> bytes:
            return orjson.dumps(told(revision=revision, epoch=epoch))

        return Decided(revision, cast("Sequence[Event]", events), respond), told, after.epoch

    # --- queries ------------------------------------------------------------------------------------------

    def records(self, *, after: int = 0, through: int | None = None) -> Iterator[Recorded]:
        """Yield the records of the project's stream."""
        return self.log.read(after=after, through=through, stream=self.stream)

    def view(self, cutoff: Cutoff = NOW, *, valid_at: str = "") -> View:
        """Return what was believed at the cutoff."""
        if cutoff == NOW and not valid_at:
            graph = self.graph
            return View(self.stream, self._position, self._project.revision, "", graph)
        return view(self.log, self.stream, cutoff, valid=valid_at)

    def vectors(self, graph: BeliefGraph) -> "VectorTable":
        """Return the vectors of a graph's nodes: the index for the present, a table made for it otherwise."""
        if graph is self._graph:
            return self.index
        if self._past is None or self._past[0] is not graph:
            self._past = graph, self.index.over(graph)
        return self._past[1]

    def recall(self, query: str, *, limit: int = 5, graph: BeliefGraph | None = None) -> Recall:
        """Return what may be cited in answer to a query: living nodes, open conflicts, an answer if slots give one."""
        graph = graph or self.graph
        vectors = self.vectors(graph)
        found = recall(graph, vectors.search(query, limit=limit, within=2.0, admit=partial(may_be_cited, graph)))
        answer = self._answerer.answer(query, graph, vectors.slots)
        if answer is None:
            return found
        path = tuple(cite(graph, graph.nodes[node_id]) for node_id in answer.path)
        told = {"text": answer.text, "confidence": answer.confidence, "also": list(answer.also)}
        return replace(found, answer=told, path=path)

    def why(self, name: str, cutoff: Cutoff = NOW) -> Reason:
        """Return why a node is in the state it is in."""
        register = replay(self.log, self.stream, REGISTER, cutoff)
        return why(register, self.find(name, graph=register.graph).id)

    @property
    def position(self) -> int:
        """The position of the log up to which graph and project were read."""
        self._catch_up()
        return self._position

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let everything that is read in a `with` block, of any project, be of one moment: that at which it begins."""
        before = self._moment.head
        if before is None:
            self._moment.head = self.log.head().position
        try:
            yield
        finally:
            self._moment.head = before

    def _catch_up(self) -> None:
        head = self.log.head().position if self._moment.head is None else self._moment.head
        if head > self._position:
            for recorded in self.records(after=self._position, through=head):
                BELIEFS.evolve(self._graph, recorded)
                WORKBENCH.evolve(self._project, recorded)
            self._position = head


def second_look(
    graph: BeliefGraph, decide: Callable[[list[Finding]], list[BeliefEvent]], examine: Examine
) -> list[BeliefEvent]:
    """Decide; where forgotten claims come back, decide again with what the judge says of them now."""
    events = decide([])
    back = returned(events)
    if not back:
        return events
    findings = [f for node in back for f in examine(graph, node, statement(graph, graph.evidence(node)))]
    return decide(findings)


def pending(graph: BeliefGraph, fact_id: NodeId, *, measured: Collection[NodeId] = ()) -> list[VerdictWithheld]:
    """Return what was withheld about a fact, not given since, and not settled otherwise."""
    return [
        e
        for e in graph.considered.of(fact_id)
        if isinstance(e, VerdictWithheld) and not settled(graph, e.fact_id, e.claim_id, e.gate, measured=measured)
    ]


@contextmanager
def opened(start: Path | None = None, **options: Any) -> Iterator[Workspace]:
    """Open a workspace for the time of a `with` block."""
    with Workspace.open(start, **options) as workspace:
        yield workspace


def named(graph: BeliefGraph, name: str) -> list[Node]:
    """Return the nodes that an id, a short name or the beginning of an id stands for."""
    if name in graph.nodes:
        return [graph.nodes[name]]
    by_handle = dict.fromkeys(i for (_, handle), i in graph.handles.items() if handle == name)
    if by_handle:
        return [graph.nodes[i] for i in by_handle]
    if len(name) < SHORTEST:
        return []
    return [node for node_id, node in graph.nodes.items() if node_id.startswith(name)]


def meant(graph: BeliefGraph, name: str) -> str:
    """Return as a hint what a name may have been meant for that stands for nothing; "" if nothing is like it."""
    begun = [i for i in graph.nodes if i.startswith(name)] if _BEGINNING.match(name) else []
    if begun:
        asked = f": did you mean {' or '.join(begun)}?" if len(begun) <= MOST_MEANT else ""
        return f"the beginning of an id takes {SHORTEST} characters or more{asked}"
    close = get_close_matches(name, [handle for _, handle in graph.handles], n=MOST_MEANT)
    return f"did you mean {' or '.join(close)}?" if close else ""
