"""The laws of scope, for all 22 tools: what may not be seen leaves no byte in any answer, whoever calls, for whom."""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Self

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from falsify.brain.events import PageMoved, PageRecorded, PageRemoved
from falsify.brain.org import AREAS, GENERAL, Agent, Department, Org
from falsify.brain.page import Page, read_page
from falsify.brain.scope import SENSITIVITIES, Scope, is_owner, may_write
from falsify.events import Event
from surfaces.tools.brain_catalogue import BRAIN_CATALOGUE, call_brain
from surfaces.tools.brain_org import UNAUTHORIZED
from surfaces.tools.brain_reads import NO_PAGE, WITHHELD
from tests.brain_orgs import DEPARTMENTS, PEOPLE, agents, orgs
from tests.search_world import World, page

OWNER, BOT, LESS = "owner", "agent:bot", "agent:less"

# --- pages ----------------------------------------------------------------------------------------------------

NAMES = ("Refund", "Pump", "Alpha plan", "Ledger")
ENTITIES = ("clients", "suppliers", "employees", "products")
TYPES = ("page", "decision", "lesson", "rule", "digest", "glossary", "process", "index", "entity", "pack")
DAYS = ("2026-01-10", "2026-02-10", "2026-03-10", "2026-04-10")
AUTHORS = ("", "Ann", "Bob <bob@falsify.example>", "person:cid", "agent:bot, approved by person:ann", "owner")


@dataclass(frozen=True, slots=True)
class Edition:
    """What a page says for a while, and where it belongs then; its mark is in its text and nowhere else."""

    mark: str
    kind: str
    name: str
    department: str
    sensitivity: str
    front: tuple[tuple[str, Any], ...]
    links: tuple[str, ...]

    @property
    def text(self) -> str:
        head = {
            "title": self.name if self.mark.endswith("0") else f"{self.name} {self.mark}t",
            "type": self.kind,
            "description": f"About {self.mark}d",
            "sensitivity": self.sensitivity,
            **({"department": self.department} if self.department else {}),
            **dict(self.front),
        }
        lines = ["---", *(f"{key}: {json.dumps(value)}" for key, value in head.items()), "---", ""]
        links = " ".join(f"[[{target}]]" for target in self.links)
        body = f"The {self.name.lower()} of {self.mark}b takes thirty days. {links}"
        return "\n".join(
            [*lines, f"# {self.name}", "", body, "", "## More", "", f"Ask for {self.mark}m at the desk.", ""]
        )


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page with its past: its path, its editions by the day, where it went and whether it is gone."""

    rel_path: str
    editions: tuple[Edition, ...]
    authors: tuple[str, ...]
    moved_to: str = ""
    removed: bool = False

    @property
    def last_path(self) -> str:
        return self.moved_to or self.rel_path

    def events(self) -> Iterator[Event]:
        for day, edition, author in zip(DAYS, self.editions, self.authors, strict=False):
            yield PageRecorded(rel_path=self.rel_path, text=edition.text, author=author, message="", **_at(day, 9))
        if self.moved_to:
            yield PageMoved(rel_path=self.moved_to, was=self.rel_path, author="Ann", **_at(DAYS[-1], 9))
        if self.removed:
            yield PageRemoved(rel_path=self.last_path, author="Ann", **_at(DAYS[-1], 15))

    def today(self, org: Org) -> Page:
        """Return the page as it was last placed: what decides over all of its past."""
        return placed(org, self.last_path, self.editions[-1])


def _at(day: str, hour: int) -> dict[str, str]:
    return {"known_at": f"{day}T{hour:02}:00:00Z", "commit": ""}


def placed(org: Org, rel_path: str, edition: Edition) -> Page:
    return read_page(rel_path, edition.text, departments=[each.slug for each in org.departments])


FRONT: dict[str, st.SearchStrategy[Any]] = {
    "aliases": st.lists(st.sampled_from((*NAMES, "Beta")), max_size=2, unique=True),
    "lifecycle_status": st.sampled_from(("active", "superseded", "archived")),
    "source_trust": st.sampled_from(("verified", "declared")),
    "expires": st.sampled_from(("2026-02-20", "2027-01-01")),
    "updated": st.sampled_from(DAYS),
    "quotable": st.booleans(),
    "decided_by": st.sampled_from(PEOPLE),
    "author": st.sampled_from(PEOPLE),
    "date": st.sampled_from(DAYS),
    "answers": st.just([{"question": "How long?", "answered_by": "bob"}]),
}


@st.composite
def leaves(draw: st.DrawFn, number: int, paths: Sequence[str]) -> Leaf:
    """Draw a page; what it links to are names and the paths of all pages."""
    kind = draw(st.sampled_from(TYPES))
    folder = draw(st.sampled_from(("", *(f"{each}/" for each in DEPARTMENTS))))
    if kind == "entity":
        folder = f"entities/{draw(st.sampled_from(ENTITIES))}/"
    if kind == "pack":
        folder = "packs/"
    versions = draw(st.integers(1, 3))
    name = draw(st.sampled_from(NAMES))
    editions = tuple(draw(_editions(kind, name, f"qx{number}v{n}", paths)) for n in range(versions))
    movable = kind not in {"entity", "pack"} and draw(st.booleans()) and draw(st.booleans())
    return Leaf(
        rel_path=f"memory/{folder}p{number}.md",
        editions=editions,
        authors=tuple(draw(st.sampled_from(AUTHORS)) for _ in editions),
        moved_to=f"memory/{draw(st.sampled_from(DEPARTMENTS))}/moved{number}.md" if movable else "",
        removed=draw(st.integers(0, 7)) == 0,
    )


@st.composite
def _editions(draw: st.DrawFn, kind: str, name: str, mark: str, paths: Sequence[str]) -> Edition:
    keys = draw(st.lists(st.sampled_from(sorted(FRONT)), max_size=4, unique=True))
    front = {key: draw(FRONT[key]) for key in keys}
    targets = st.lists(st.sampled_from((*NAMES, "Beta", "Nowhere", *paths)), max_size=3)
    if kind == "decision":
        relations = draw(st.lists(st.sampled_from(("follows_from", "led_to", "supersedes")), max_size=2, unique=True))
        front |= {relation: draw(targets) for relation in relations}
    if kind == "pack":
        pages = [{"page": path} for path in draw(targets) if path.startswith("memory/")]
        front |= {
            "owner_aor": draw(st.sampled_from((*DEPARTMENTS, GENERAL))),
            "context": [*pages, {"query": "{task_hint} refund pump"}, {"entity": "{task_hint}"}],
            "never": ["memory/legal/**"] * draw(st.booleans()),
        }
    return Edition(
        mark=mark,
        kind=kind,
        name=name,
        department=draw(st.sampled_from(("", "", *DEPARTMENTS, GENERAL))),
        sensitivity=draw(st.sampled_from(("internal", *SENSITIVITIES))),
        front=tuple(front.items()),
        links=tuple(draw(targets)),
    )


@st.composite
def shelves(draw: st.DrawFn) -> tuple[Leaf, ...]:
    """Draw the pages of an organisation; no two have a mark in common."""
    most = draw(st.integers(3, 9))
    paths = [f"memory/{d}/p{n}.md" for n in range(most) for d in ("commerce", "legal")]
    return tuple(draw(leaves(number, paths)) for number in range(most))


# --- who asks -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asking:
    """Who calls, on whose behalf, and where the answer goes."""

    caller: str
    on_behalf_of: str
    destination: str

    def scope(self, world: World) -> Scope:
        return world.brain.scope(self.caller, self.on_behalf_of)


@st.composite
def organisations(draw: st.DrawFn) -> Org:
    """Draw a map with the agent `bot`, and `less`, who has some of its grants and is denied more."""
    bot = draw(agents)
    lost, denied = (draw(st.frozensets(st.sampled_from((*DEPARTMENTS, GENERAL)), max_size=3)) for _ in range(2))
    gone = draw(st.frozensets(st.sampled_from(AREAS), max_size=2))
    kept = {key: tuple(each for each in getattr(bot, key) if each not in lost) for key in ("read", "write")}
    areas = {
        key: tuple(each for each in getattr(bot, key) if each not in gone) for key in ("read_areas", "write_areas")
    }
    less = replace(bot, name="less", deny=tuple(sorted({*bot.deny, *denied})), **kept, **areas)
    return replace(draw(orgs()), agents=(bot, less))


CALLERS = (BOT, BOT, LESS, OWNER, *(f"person:{each}" for each in PEOPLE), "agent:other", "person:nobody")
askings = st.builds(
    Asking,
    caller=st.sampled_from(CALLERS),
    on_behalf_of=st.sampled_from(("", "", *PEOPLE, "nobody", "person:ann")),
    destination=st.sampled_from(("cli", "cli", "mcp", "web")),
)

# --- worlds and calls -----------------------------------------------------------------------------------------

Call = tuple[str, dict[str, Any]]


class Pair:
    """Worlds of one example, closed with it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._worlds: list[World] = []

    def world(self, org: Org, shelf: Sequence[Leaf], destination: str) -> World:
        root = Path(self._folder.name, str(len(self._worlds)))
        root.mkdir()
        made = World(root, org=org, destination=destination)  # type: ignore[arg-type]  # drawn from the three
        for leaf in shelf:
            made.append(*leaf.events())
        self._worlds.append(made)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for world in self._worlds:
            world.close()
        self._folder.cleanup()


QUERIES = ("refund thirty days", "pump desk", "the ledger of Beta and the Alpha plan", "qx1v0b")
SCHEMA = {"type": "object", "properties": {"days": {"type": "string"}}}


def calls(shelf: Sequence[Leaf], org: Org) -> list[Call]:
    """Return calls of every tool, with and without their options; they name all that there is, and some that is not."""
    paths = sorted({path for leaf in shelf for path in (leaf.rel_path, leaf.last_path)})
    packs = [path.removeprefix("memory/packs/").removesuffix(".md") for path in paths if "/packs/" in path]
    return [
        *[("get_department", {"name": each}) for each in (*DEPARTMENTS, GENERAL, "Nothing")],
        *[("get_person_aor", {"name": each}) for each in (*PEOPLE, "Bob", "nobody")],
        *[("get_glossary_term", {"term": each}) for each in (*NAMES, "beta", "nothing")],
        *[("list_company_entities", given_) for given_ in ({}, {"type": "clients"}, {"type": "nothing"})],
        *[("search_company_context", {"query": each, "format": "full", "explain": True}) for each in QUERIES],
        ("search_company_context", {"query": QUERIES[0], "include_neighbors": True, "show_expired": True, "k": 3}),
        ("search_company_context", {"query": QUERIES[0], "include_indexes": True, "budget": 60}),
        ("search_company_context", {"query": QUERIES[1], "doc_types": ["decision", "index", "Entity"]}),
        *[("search_company_context", {"query": each, "as_of": day, "k": 50, "explain": True, "include_neighbors": True,
                                      "show_expired": True})
          for each in QUERIES[:2] for day in ("2026-01-20", "2026-03-20", "2026-05-01")],
        *[("grep_company_context", {"pattern": each, "k": 100}) for each in ("qx", "thirty", "memory/", "REFUND")],
        ("grep_company_context", {"pattern": "qx", "k": 2, "prefix": "memory/commerce/", "case_sensitive": True}),
        *[("read_page", {"rel_path": each}) for each in (*paths, "memory/nothing.md")],
        *[("read_page", {"rel_path": each, "section": 1}) for each in paths],
        *[("list_pages", {"prefix": each}) for each in ("", "memory/commerce/", "memory/entities/")],
        *[("get_links", {"rel_path": each}) for each in (*paths, "memory/nothing.md")],
        *[("get_index", {"scope": each}) for each in (GENERAL, *DEPARTMENTS, *(f"entities/{e}" for e in ENTITIES))],
        *[("who_knows", {"topic": each}) for each in (*QUERIES[:2], "pricing of the refund")],
        *[("find_precedents", {"situation": each, "chain_depth": 3, "k": 12}) for each in QUERIES[:3]],
        *[("get_context_pack", {"pack": each, "task_hint": "Refund and Beta"}) for each in (*packs, "nothing")],
        ("list_context_packs", {}),
        *[("ask_company_context", {"question": f"How long does the {each} take?", "explain": True}) for each in NAMES],
        ("ask_company_context", {"task": "Handle a refund at the desk", "k": 3, "budget": 40}),
        ("ask_company_context", {"question": "How many days does the refund take?", "response_schema": SCHEMA}),
        ("ask_company_context", {"question": "Refund of thirty days", "as_of": "2026-01-20"}),
        ("ask_company_context", {"question": "Pump at the desk", "as_of": "2026-03-20", "k": 24, "explain": True}),
        ("ask_company_context", {"question": "Which refund takes thirty days?", "write_back": True}),
        ("rate_answer", {"answer_id": "0" * 32, "rating": "up"}),
        ("log_trace", {"task": "Greased", "status": "success", "summary": "The pump runs.", "refs": paths[:2]}),
        *[("propose_lesson", {"title": f"Lesson on {NAMES[n]}", "lesson": _body(leaf), "kind": "lesson",
                              "department": (*DEPARTMENTS, None)[n % 5], "refs": [leaf.last_path]})
          for n, leaf in enumerate(shelf[:4])],
        *[("propose_page", {"title": _title(leaf), "department": leaf.last_path.split("/")[1],
                            "content": f"What the {leaf.editions[-1].name} is about is new here, number {n}."})
          for n, leaf in enumerate(shelf[:5])],
        ("propose_page", {"title": "Drop it", "content": "---\ntype: decision\n---\nThe plan of the year ends.",
                          "department": "Support"}),
        ("governance_model", {}),
        ("governance_preview", {"op": "grant_department", "agent": "bot", "dept": org.departments[0].slug,
                                "mode": "read"}),
        ("governance_apply", {"op": "nonsense"}),
    ]  # fmt: skip


def _body(leaf: Leaf) -> str:
    return placed(Org(), leaf.last_path, leaf.editions[-1]).body.replace("[[", "").replace("]]", "")


def _title(leaf: Leaf) -> str:
    return leaf.last_path.rpartition("/")[2].removesuffix(".md")


TAKES_BEHALF = frozenset(n for n, row in BRAIN_CATALOGUE.items() if "on_behalf_of" in row.model.model_fields)


def answer(world: World, asking: Asking, name: str, given_: dict[str, Any]) -> str:
    behalf = {"on_behalf_of": asking.on_behalf_of} if asking.on_behalf_of and name in TAKES_BEHALF else {}
    return call_brain(world.brain, name, {**given_, **behalf}, caller=asking.caller).decode()


_UNLIKE = re.compile(r'"answer_id":"[0-9a-f]{32}"')
_WITHHELD = re.compile(r'"destination_filtered":\d+,?')


def same(told: str, *, but: re.Pattern[str] | None = None) -> str:
    """Return an answer without what the contract makes different each time."""
    told = _UNLIKE.sub('"answer_id":""', told)
    return (but.sub("", told) if but else told).replace(",}", "}")


# --- the laws -------------------------------------------------------------------------------------------------

LAWS = settings(
    max_examples=12,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a shrunken example takes minutes: raise what finds it
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@LAWS
@given(organisations(), shelves(), askings)
def test_an_answer_is_that_of_a_brain_that_never_held_what_may_not_be_seen(org, shelf, asking):
    with Pair() as pair:
        world = pair.world(org, shelf, asking.destination)
        scope = asking.scope(world)
        hidden = {leaf.last_path for leaf in shelf if not scope.sees(leaf.today(org))}
        withheld = {leaf.last_path for leaf in shelf if leaf.last_path in hidden and scope.admits(leaf.today(org))}
        less = pair.world(org, [leaf for leaf in shelf if leaf.last_path not in hidden], asking.destination)
        for name, given_ in calls(shelf, org):
            if name == "read_page" and given_["rel_path"] in withheld:
                continue  # a pointer says that there is something; what it says is another law's
            if asking.on_behalf_of and (name not in TAKES_BEHALF or "write_back" in given_):
                continue  # proposals are made as oneself, whoever one asks for
            told, wanted = (same(answer(each, asking, name, given_), but=_WITHHELD) for each in (world, less))
            differ = _differ(told, wanted)
            assert (name, given_, differ) == (name, given_, None)


def _differ(told: str, wanted: str) -> tuple[str, str] | None:
    """Return what two answers say from where they differ on; None where they do not."""
    at = next((n for n, (a, b) in enumerate(zip(told, wanted, strict=False)) if a != b), min(len(told), len(wanted)))
    return None if told == wanted else (told[max(0, at - 60) : at + 60], wanted[max(0, at - 60) : at + 60])


def allowed(shelf: Sequence[Leaf], org: Org, scope: Scope) -> set[str]:
    """Return the marks of the editions that some answer may show: of a page that may be seen today, as it then was."""
    return {
        edition.mark
        for leaf in shelf
        if scope.sees(leaf.today(org))
        for edition in leaf.editions
        if edition is leaf.editions[-1] or scope.sees(placed(org, leaf.rel_path, edition))
    }


def marks(told: str, given_: dict[str, Any]) -> set[str]:
    """Return the marks in an answer, but for those that the caller sent."""
    for sent in given_.values():
        told = told.replace(sent, "") if isinstance(sent, str) and sent else told
    return set(re.findall(r"qx\d+v\d+", told))


@LAWS
@given(organisations(), shelves(), askings)
def test_no_answer_has_a_byte_of_a_text_that_may_not_be_seen_whatever_its_date(org, shelf, asking):
    with Pair() as pair:
        world = pair.world(org, shelf, asking.destination)
        scope = asking.scope(world)
        shown = allowed(shelf, org, scope)
        for name, given_ in calls(shelf, org):
            # Proposals are the caller's own: on nobody's behalf.
            own = scope if name in TAKES_BEHALF else world.brain.scope(asking.caller)
            told = marks(answer(world, asking, name, given_), given_)
            assert (name, given_, told - (shown if own is scope else allowed(shelf, org, own))) == (name, given_, set())


@LAWS
@given(organisations(), shelves(), askings, st.booleans())
def test_a_narrower_scope_lists_less_and_counts_less(org, shelf, asking, by_person):
    narrow = replace(asking, on_behalf_of="bob") if by_person else replace(asking, caller=LESS)
    wide = replace(asking, on_behalf_of="") if by_person else replace(asking, caller=BOT)
    with Pair() as pair:
        world = pair.world(org, shelf, asking.destination)
        for name, given_ in calls(shelf, org):
            few, many = answer(world, narrow, name, given_), answer(world, wide, name, given_)
            if name in _LISTED:
                assert _LISTED[name](few) <= _LISTED[name](many), (name, given_)
            if BRAIN_CATALOGUE[name].nature == "reads":
                assert _numbers(few) <= _numbers(many) or "destination_filtered" not in many, (name, given_)


def _rows(key: str) -> Callable[[str], set[str]]:
    """Return what reads the rows of a list; a note has none."""
    return lambda told: {json.dumps(row) for row in json.loads(told)[key]} if told.startswith("{") else set()


_LISTED: dict[str, Callable[[str], set[str]]] = {
    "list_pages": _rows("pages"),
    "list_context_packs": _rows("packs"),
    "list_company_entities": lambda told: {line for line in told.splitlines() if line.startswith("- ")},
}


def _numbers(told: str) -> int:
    """Return how many pages an answer says the channel withholds."""
    return max(map(int, re.findall(r'"destination_filtered":(\d+)', told)), default=0)


@LAWS
@given(organisations(), shelves(), askings)
def test_what_is_hidden_is_named_as_what_is_not_there(org, shelf, asking):
    with Pair() as pair:
        world = pair.world(org, shelf, asking.destination)
        lot = count()
        for name, hidden, absent, value in _namings(world, org, shelf, asking):
            told, wanted = (_nameless(answer(world, asking, name, _anew(each, lot))) for each in (hidden, absent))
            assert (name, hidden, told.replace(value, "")) == (name, hidden, wanted.replace("zed", ""))


def _anew(given_: dict[str, Any], lot: Iterator[int]) -> dict[str, Any]:
    """Return a call that proposes what nobody has proposed before."""
    return {**given_, "content": f"{given_['content']} This is lot {next(lot)}."} if "content" in given_ else given_


_ITEM = re.compile(r'"moderation_item_id":"P-[0-9a-f]{10}"')


def _nameless(told: str) -> str:
    return _ITEM.sub('"moderation_item_id":""', told)


def _namings(
    world: World, org: Org, shelf: Sequence[Leaf], asking: Asking
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], str]]:
    """Yield calls that name something hidden, and the same that name something absent; and how the former is called."""
    scope, own = asking.scope(world), world.brain.scope(asking.caller)

    def naming(name: str, spelled: str, value: str, **more: Any) -> tuple[str, dict[str, Any], dict[str, Any], str]:
        (key, form), *_ = more.pop("form").items()
        return name, {**more, key: _said(form, spelled)}, {**more, key: _said(form, "zed")}, value

    for leaf in shelf:
        stem, today = _title(leaf), leaf.today(org)
        if not scope.admits(today):
            path = leaf.last_path.replace(f"{stem}.md", "{}.md")
            yield naming("read_page", stem, stem, form={"rel_path": path})
            yield naming("get_links", stem, stem, form={"rel_path": path})
            yield naming("get_context_pack", stem, stem, form={"pack": "{}"})
            yield naming("list_pages", stem, stem, form={"prefix": path})
        if not scope.sees(today) and today.type == "glossary" and today.title.endswith("t"):
            yield "get_glossary_term", {"term": today.title}, {"term": "zed"}, today.title
        if not own.sees(today):
            path = leaf.last_path.replace(f"{stem}.md", "{}.md")
            lesson = {"title": "On lathes", "lesson": "A lathe is oiled weekly.", "kind": "lesson", "department": None}
            yield naming("propose_lesson", stem, stem, form={"refs": [path]}, **lesson)
            place = {"department": leaf.last_path.split("/")[1], "content": f"Lathes of type {stem} are oiled."}
            yield naming("propose_page", stem, stem, form={"title": "{}"}, **place)
    for slug in DEPARTMENTS:
        if not scope.sees_department(slug):
            yield naming("get_department", slug, slug, form={"name": "{}"})
            yield naming("get_department", slug.title(), slug, form={"name": "{}"})
            yield naming("get_index", slug, slug, form={"scope": "{}"})
        if not own.sees_department(slug) and not may_write(org, asking.caller, slug, "decisions"):
            for spelled in (slug, slug.title()):
                decision = {"title": "On lathes", "content": "---\ntype: decision\n---\nThe lathe stays."}
                yield naming("propose_page", spelled, spelled, form={"department": "{}"}, **decision)
    for person in org.people:
        if not scope.everything and not any(map(scope.sees_department, person.departments)):
            yield naming("get_person_aor", person.slug, person.slug, form={"name": "{}"})
            yield naming("get_person_aor", person.name, person.name, form={"name": "{}"})


def _said(form: Any, name: str) -> Any:
    return [each.format(name) for each in form] if isinstance(form, list) else form.format(name)


@LAWS
@given(organisations(), shelves(), askings)
def test_the_same_call_is_the_same_bytes_and_what_reads_appends_nothing(org, shelf, asking):
    reading = {n for n, row in BRAIN_CATALOGUE.items() if row.nature == "reads"}
    with Pair() as pair:
        world = pair.world(org, shelf, asking.destination)
        some = [(name, given_) for name, given_ in calls(shelf, org) if name in reading]
        before = world.workspace.log.head()
        first = [answer(world, asking, *each) for each in some]
        assert [answer(world, asking, *each) for each in some] == first
        assert world.workspace.log.head() == before


@LAWS
@given(organisations(), shelves(), askings)
def test_of_what_the_channel_withholds_a_pointer_is_all_and_governance_is_the_owners(org, shelf, asking):
    with Pair() as pair:
        world = pair.world(org, shelf, asking.destination)
        scope = asking.scope(world)
        for leaf in shelf:
            today = leaf.today(org)
            if leaf.removed or not scope.sees(today):
                there = scope.admits(today) and not leaf.removed
                assert answer(world, asking, "read_page", {"rel_path": leaf.last_path}) == (
                    WITHHELD if there else NO_PAGE
                )
        governed = {answer(world, asking, n, given_) for n, given_ in calls(shelf, org) if n.startswith("governance_")}
        assert (governed == {UNAUTHORIZED.decode()}) is not is_owner(org, asking.caller)


# --- what the laws found, and the past ------------------------------------------------------------------------

MAP = Org(
    departments=tuple(Department(slug=each, name=each.title()) for each in ("commerce", "legal")),
    agents=(
        Agent(name="bot", read=("commerce", GENERAL)),
        Agent(name="scribe", write_areas=("decisions",), deny=("legal",)),
    ),
    ceilings={"mcp": "internal"},
)


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path, org=MAP)
    yield made
    made.close()


def told(world: World, name: str, caller: str = BOT, **given_: Any) -> str:
    return call_brain(world.brain, name, given_, caller=caller).decode()


def test_a_denied_department_is_proposed_to_as_one_that_is_not_there(world):
    decision = {"title": "On lathes", "content": "---\ntype: decision\n---\nThe lathe stays."}
    answers = {
        told(world, "propose_page", "agent:scribe", department=each, **decision) for each in ("legal", "Legal", "zed")
    }
    assert [json.loads(each)["refusal_messages"] for each in answers] == [
        ["R-SCOPE: you have no permission to write there"]
    ]


PATH = "memory/commerce/plan.md"
OPEN = page("Plan", "The merger begins in spring.")
SHUT = page("Plan", "The merger begins in spring.", department="legal")
QUESTION, BOTH = "The merger begins in spring", ["search_company_context", "ask_company_context"]
SECRET = page("Plan", "The merger begins in spring.", sensitivity="restricted")


def january(world: World, caller: str = BOT) -> list[str]:
    """Return the tools that show the plan as it was known in January."""
    shown = {
        "search_company_context": told(world, "search_company_context", caller, query=QUESTION, as_of="2026-01-31"),
        "ask_company_context": told(world, "ask_company_context", caller, question=QUESTION, as_of="2026-01-31"),
    }
    assert all(f'"rel_path":"{PATH}"' in each or "in spring." not in each for each in shown.values())
    return [name for name, each in shown.items() if f'"rel_path":"{PATH}"' in each]


NOWHERE: list[str] = []


@pytest.fixture
def plan(world):
    world.write({PATH: OPEN, "memory/commerce/other.md": page("Other", "Lathes.")}, on="2026-01-05")
    assert january(world) == BOTH
    return world


def test_a_page_that_was_given_to_another_department_is_not_shown_as_it_was_before(plan):
    plan.write({PATH: SHUT}, on="2026-02-01")
    assert january(plan) == NOWHERE
    assert january(plan, OWNER) == BOTH


def test_a_page_that_became_too_sensitive_for_the_channel_is_not_shown_there_as_it_was_before(plan):
    plan.write({PATH: SECRET}, on="2026-02-01")
    plan.brain.destination = "mcp"
    assert january(plan, OWNER) == NOWHERE
    plan.brain.destination = "cli"
    assert january(plan) == BOTH


def test_a_page_that_was_removed_belongs_where_it_last_was(plan):
    plan.remove(PATH, on="2026-02-01")
    assert january(plan) == BOTH
    plan.write({PATH: SHUT}, on="2026-02-02")
    plan.remove(PATH, on="2026-02-03")
    assert january(plan) == NOWHERE


def test_a_page_that_was_moved_belongs_where_it_went_whatever_came_in_its_place(plan):
    plan.move(PATH, "memory/commerce/scheme.md", on="2026-02-01")
    assert january(plan) == BOTH
    plan.move("memory/commerce/scheme.md", "memory/legal/scheme.md", on="2026-02-02")
    plan.write({PATH: page("Plan", "Another plan.")}, on="2026-02-03")
    assert january(plan) == NOWHERE
    assert january(plan, OWNER) == BOTH
    plan.move("memory/legal/scheme.md", "memory/commerce/again.md", on="2026-02-04")
    assert january(plan) == BOTH


def test_where_a_page_belongs_today_is_the_same_in_an_index_that_grew_and_in_one_made_anew(plan):
    plan.move(PATH, "memory/legal/scheme.md", on="2026-02-01")
    grown = plan.brain.index.contents()
    plan.brain.index.rebuild(plan.brain.library, plan.brain.position)
    assert plan.brain.index.contents() == grown


def test_for_people_too_the_past_is_narrowed_by_where_pages_belong_today(plan):
    plan.write({PATH: SHUT}, on="2026-02-01")
    view = plan.brain.pages("2026-01-31T23:59:59Z")
    kept = {
        caller: list(view.narrowed(plan.brain.library, plan.brain.scope(caller).sees).pages) for caller in (BOT, OWNER)
    }
    assert kept == {BOT: ["memory/commerce/other.md"], OWNER: ["memory/commerce/other.md", PATH]}
