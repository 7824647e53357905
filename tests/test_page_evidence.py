"""A page's claims are evidence for as long as the page holds; what rested on them falls with it, and comes back."""

from textwrap import dedent

import pytest

from falsify.belief.events import RevisionOpened
from falsify.brain.events import PageMoved, PageRecorded, PageRemoved
from falsify.errors import ConflictError, NotFoundError
from replay.verify import mislabelled, redecide
from surfaces.belief_file import Document
from surfaces.brain import Brain
from surfaces.intake import Wishes
from surfaces.pages.evidence import follow, take_page
from tests.test_workspace import opened

POLICY = "memory/company/policy.md"


def page(status="active", body="The PX-200 sensor costs 412 EUR.\n\nThe warranty lasts 36 months.", **front):
    more = "".join(f"{name}: {value}\n" for name, value in front.items())
    return f"---\ntitle: Price policy\nlifecycle_status: {status}\n{more}---\n\n{body}\n"


class World:
    def __init__(self, workspace):
        self.workspace, self.brain, self.day = workspace, Brain(workspace), 1

    def write(self, *events):
        self.brain.perform(lambda _: events, lambda _: b"{}", tool="test", caller="owner")

    def record(self, text, rel_path=POLICY):
        self.day += 1
        known = f"2026-01-{self.day:02}T00:00:00Z"
        fact = PageRecorded(rel_path=rel_path, text=text, known_at=known, author="Ada", commit="", message="")
        self.write(fact)

    def take(self, rel_path=POLICY, caller="owner"):
        return take_page(self.workspace, self.brain, rel_path, Wishes(), caller=caller)

    def follow(self):
        return [(f.rel_path, f.ended) for f in follow(self.workspace, self.brain)]

    def states(self):
        return {n.text: n.state for n in self.workspace.graph.nodes.values() if n.kind in {"evidence", "conclusion"}}


@pytest.fixture
def world(tmp_path):
    with opened(tmp_path) as workspace:
        workspace.ask("What does it cost?")
        made = World(workspace)
        made.record(page())
        made.take()
        yield made
        graph, divergence = redecide(workspace.records())
        assert (divergence, list(mislabelled(graph))) == (None, [])


PRICE, WARRANTY = "The PX-200 sensor costs 412 EUR.", "The warranty lasts 36 months."


def test_what_a_page_says_is_evidence_with_its_title_and_date(world):
    (node,) = [n for n in world.workspace.graph.nodes.values() if n.text == PRICE]
    (said,) = node.assertions.values()
    source = world.workspace.graph.sources[said.source_id]
    assert (source.title, said.asserted_at, said.location) == (
        "Price policy",
        "2026-01-02",
        f"brain:{POLICY}#line=6&char=54",
    )


def test_a_superseded_page_supersedes_its_claims_and_what_rested_on_them_falls(world):
    rests = """
        question: What does it cost?
        evidence: []
        conclusions:
          - {id: C1, statement: We can sell at 412., depends_on: [{evidence: EVIDENCE}]}
    """
    (price,) = [n.id for n in world.workspace.graph.nodes.values() if n.text == PRICE]
    world.workspace.ingest(Document("beliefs.yaml", dedent(rests).replace("EVIDENCE", price)))
    successor = page(body="The PX-200 sensor costs 435 EUR.", supersedes=f"[{POLICY}]").replace("Price", "New price")
    world.record(successor, "memory/company/policy-2.md")
    world.record(page("superseded"))
    assert world.follow() == [(POLICY, "superseded")]
    fate = f"The page Price policy ({POLICY}) is superseded since 2026-01-04, and New price policy took its place."
    assert world.states() == {
        PRICE: "superseded", WARRANTY: "superseded", "We can sell at 412.": "forgotten", fate: "alive",
    }  # fmt: skip
    assert world.follow() == []


def test_a_page_that_holds_again_brings_its_claims_back(world):
    world.record(page("archived"))
    world.follow()
    world.record(page("active"))
    assert world.follow() == [(POLICY, "")]
    assert {world.states()[claim] for claim in (PRICE, WARRANTY)} == {"alive"}


def test_a_removed_page_supersedes_its_claims(world):
    world.write(PageRemoved(rel_path=POLICY, known_at="2026-02-01T00:00:00Z", author="Ada", commit=""))
    assert world.follow() == [(POLICY, "removed")]
    assert world.states()[PRICE] == "superseded"


def test_an_edited_page_is_read_anew(world):
    world.record(page(body="The PX-200 sensor costs 435 EUR.\n\nThe warranty lasts 36 months."))
    assert world.follow() == [(POLICY, "")]
    states = world.states()
    assert states[PRICE] in {"refuted", "forgotten"}
    assert (states["The PX-200 sensor costs 435 EUR."], states[WARRANTY]) == ("alive", "alive")


def test_a_page_that_was_moved_holds_where_it_is_now(world):
    moved = PageMoved(rel_path="memory/x/p.md", was=POLICY, known_at="2026-02-01T00:00:00Z", author="Ada", commit="")
    world.write(moved)
    assert world.follow() == []
    assert world.states() == {PRICE: "alive", WARRANTY: "alive"}
    superseded = PageRecorded(
        rel_path="memory/x/p.md",
        text=page("superseded"),
        known_at="2026-02-02T00:00:00Z",
        author="",
        commit="",
        message="",
    )
    world.write(superseded)
    assert world.follow() == [("memory/x/p.md", "superseded")]
    assert {world.states()[claim] for claim in (PRICE, WARRANTY)} == {"superseded"}


def test_what_another_source_says_too_lives_on(world):
    other = (
        "question: What does it cost?\nevidence:\n  - {id: E1, claim: The PX-200 sensor costs 412 EUR., source_id: s}\n"
    )
    world.workspace.ingest(Document("beliefs.yaml", other))
    world.record(page("superseded"))
    world.follow()
    assert (world.states()[PRICE], world.states()[WARRANTY]) == ("alive", "superseded")


def test_a_page_that_nobody_took_claims_from_changes_nothing(world):
    world.record(page(body="Nothing to see."), "memory/company/other.md")
    before = world.workspace.log.head().position
    world.record(page("superseded", body="Nothing to see."), "memory/company/other.md")
    assert world.follow() == []
    assert not any(isinstance(r.event, RevisionOpened) for r in world.workspace.records(after=before))


@pytest.mark.parametrize("path", ["memory/company/none.md", "memory/personal/ada.md", "../secret.md"])
def test_a_page_that_is_not_there_cannot_be_taken(world, path):
    with pytest.raises(NotFoundError):
        world.take(path)


def test_a_page_that_the_caller_may_not_see_is_a_page_that_is_not_there(world):
    told = []
    for path in (POLICY, "memory/company/none.md"):
        with pytest.raises(NotFoundError) as refused:
            world.take(path, caller="agent:stranger")
        told.append(refused.value.message.replace(path, "PATH"))
    assert told[0] == told[1]


def test_a_page_that_holds_no_more_cannot_be_taken(world):
    world.record(page("superseded"))
    with pytest.raises(ConflictError):
        world.take()


# --- links ----------------------------------------------------------------------------------------------------------

LINKED = """\
The [[PX-200]] sensor follows [[follows_from::memory/decisions/Price of 2025.md]].

![[curve.png]] The [[Warranty terms#Length|warranty]] of [[supersedes::Old terms|the old terms]] lasts
36 months, and `array[[0]]` holds [[Terms#Scope]] too.
"""


def claims_of(world):
    graph = world.workspace.graph
    return {n.text: next(iter(n.assertions.values())) for n in graph.nodes.values() if n.kind == "evidence"}


@pytest.fixture
def linked(tmp_path):
    with opened(tmp_path) as workspace:
        workspace.ask("What does it cost?")
        made = World(workspace)
        made.record(page(body=LINKED))
        made.take()
        yield made


def test_a_claim_has_the_words_of_a_link_and_the_line_that_it_stands_on(linked):
    found = {text: said.location.partition("line=")[2].partition("&")[0] for text, said in claims_of(linked).items()}
    assert found == {
        "The PX-200 sensor follows Price of 2025.": "6",
        "The warranty of the old terms lasts 36 months, and array[[0]] holds Terms too.": "8",
    }


def test_a_page_with_links_is_not_read_anew_as_long_as_it_says_the_same(linked):
    head = linked.workspace.log.head().position
    assert linked.follow() == []
    linked.take()
    assert linked.workspace.log.head().position == head


def test_why_tells_that_the_fate_of_a_page_is_the_brains_word_and_nobodys_ruling(world):
    world.record(page("superseded"))
    world.follow()
    (price,) = [n.id for n in world.workspace.graph.nodes.values() if n.text == PRICE]
    (killer,) = world.workspace.why(price).reasons
    assert killer.verdict["won_by"] == "the brain says what becomes of its pages"
