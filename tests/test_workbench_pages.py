"""The pages of one listing are all of one moment: whatever happens between them, nothing is skipped or repeated."""

import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsify import join
from falsify.errors import InvalidInputError
from falsify.workbench import tickets
from surfaces.tools.cursor import Cursor, seal
from tests.lab import Lab, idea

CASES = settings(max_examples=20, deadline=None)

SORTS = ("rank", "created_at", "priority")


def pages(lab, tool, items, *, between=lambda: None, **arguments):
    """Return the ids on each page, and the totals that the pages told."""
    found, totals, cursor = [], set(), {}
    while True:
        told = lab.result(tool, **arguments, **cursor)
        found.append([each["id"] for each in told[items]])
        totals.add(told["total"])
        if "nextCursor" not in told:
            return found, totals
        cursor = {"cursor": told["nextCursor"]}
        between()


def flat(found):
    return [each for page in found for each in page]


# --- tickets --------------------------------------------------------------------------------------------------

numbers = count()


def insert(lab, _ticket_id):
    lab.propose(idea(f"another {next(numbers)}"))


def pin(lab, ticket_id):
    lab.record(lambda s: [*tickets.pin_ticket(s.project, ticket_id, pinned=True, caller=s.caller)])


def unpin(lab, ticket_id):
    lab.record(lambda s: [*tickets.pin_ticket(s.project, ticket_id, pinned=False, caller=s.caller)])


def prioritize(lab, ticket_id):
    lab.record(lambda s: [*tickets.prioritize_ticket(s.project, ticket_id, priority=9, caller=s.caller)])


def demote(lab, ticket_id):
    lab.record(lambda s: [*tickets.prioritize_ticket(s.project, ticket_id, priority=-9, caller=s.caller)])


def claim(lab, ticket_id):
    if lab.project.tickets[ticket_id].status == "ELIGIBLE":
        lab.claim(ticket_id)


def branch(lab, _ticket_id):
    """Try another hidden width, which makes every ticket that names it less worth."""
    lab.branch({"hidden_width": 100 + next(numbers)})


CHANGES = (insert, pin, unpin, prioritize, demote, claim, branch)
changes = st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(1, 10)), max_size=3)


@CASES
@given(
    st.sampled_from(SORTS),
    st.sampled_from([{}, {"status": ["ELIGIBLE"]}, {"pinned": False}, {"source": ["agent"], "round_id": "round-1"}]),
    st.integers(1, 4),
    changes,
    st.lists(changes, min_size=12, max_size=12),
)
def test_no_ticket_is_skipped_or_repeated_whatever_happens_between_the_pages(sort, filters, limit, before, later):
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        lab.baseline()
        lab.propose(*(idea(("hidden_width", "activation", "learning rate")[n % 3] + f" {n}") for n in range(6)))
        lab.propose(*(idea(f"idea {n}") for n in range(4)))
        happen(lab, before)
        asked = {"sort": sort, **filters}
        whole = flat(pages(lab, "ticket.list", "tickets", limit=50, **asked)[0])
        steps = iter(later)
        found, totals = pages(
            lab, "ticket.list", "tickets", limit=limit, between=lambda: happen(lab, next(steps, [])), **asked
        )
        assert (flat(found), totals) == (whole, {len(whole)})
        assert {len(page) for page in found[:-1]} <= {limit}


def happen(lab, events):
    for change, number in events:
        change(lab, f"T-{number}")


def test_a_page_tells_its_tickets_as_they_are_now(tmp_path):
    lab = Lab(tmp_path)
    lab.baseline()
    lab.propose(idea("one"), idea("two"))
    first = lab.result("ticket.list", status=["ELIGIBLE"], limit=1)
    lab.claim("T-2")
    second = lab.result("ticket.list", status=["ELIGIBLE"], limit=1, cursor=first["nextCursor"])
    assert [(ticket["id"], ticket["status"]) for ticket in second["tickets"]] == [("T-2", "CLAIMED")]
    assert second["as_of_revision"] == first["as_of_revision"] < lab.project.revision


# --- nodes and evidence ---------------------------------------------------------------------------------------


def tree(lab):
    """Return a baseline with two measured children, and children of those."""
    lab.baseline()
    for width in (16, 32):
        lab.measure(lab.branch({"hidden_width": width}), 0.8 + width / 1000)
    for width, parent in ((64, "N-3"), (65, "N-2"), (66, "N-3"), (67, "N-2")):
        lab.branch({"hidden_width": width}, parent_node_id=parent)


@pytest.mark.parametrize(
    "asked", [{}, {"focus_node_id": "N-2"}, {"root_node_id": "N-3"}, {"status": ["READY"]}, {"depth": 1}]
)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_node_or_edge_is_skipped_or_repeated_while_the_graph_grows(tmp_path, asked, size):
    lab = Lab(tmp_path)
    tree(lab)
    whole = lab.result("graph.get", **asked)
    widths = iter(range(200, 300))
    nodes, edges, cursor = [], [], {}
    while True:
        told = lab.result("graph.get", max_nodes=size, **asked, **cursor)
        nodes += [node["id"] for node in told["nodes"]]
        edges += [(edge["from"], edge["to"]) for edge in told["edges"]]
        if "nextCursor" not in told:
            break
        cursor = {"cursor": told["nextCursor"]}
        lab.branch({"hidden_width": next(widths)}, parent_node_id="N-2")
        lab.measure(lab.branch({"hidden_width": next(widths)}, parent_node_id="N-1"), 0.5)
    assert nodes == [node["id"] for node in whole["nodes"]]
    assert sorted(edges) == sorted((edge["from"], edge["to"]) for edge in whole["edges"])


def test_no_evidence_is_skipped_or_repeated_while_more_is_attached(tmp_path):
    lab = Lab(tmp_path)
    lab.baseline()
    node_id = lab.branch({"hidden_width": 64})
    names = (f"EV-{number}" for number in count(2))

    def fail():
        left = [lab.store(next(names), "artifact", b"%d" % number) for number in range(3)]
        lab.fail(lab.start(node_id), "no memory", *left)

    fail()
    fail()
    found, totals = pages(lab, "evidence.list", "evidence", between=fail, node_id=node_id, limit=2)
    assert (found, totals) == ([["EV-2", "EV-3"], ["EV-4", "EV-5"], ["EV-6", "EV-7"]], {6})


# --- cursors --------------------------------------------------------------------------------------------------


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path)
    tree(lab)
    return lab


def cursor_of(lab, tool, **arguments):
    return lab.result(tool, **arguments)["nextCursor"]


def bad(lab, tool, cursor, **arguments):
    with pytest.raises(InvalidInputError) as caught:
        lab.read(tool, cursor=cursor, **arguments)
    assert caught.value.reason == "bad_cursor"
    return caught.value.message


def test_a_cursor_goes_on_with_its_own_listing_only(lab):
    queue = cursor_of(lab, "ticket.list", limit=1)
    ranked = cursor_of(lab, "ticket.list", limit=1, status=["MATERIALIZED", "COMPLETED"])
    graph = cursor_of(lab, "graph.get", max_nodes=1)
    told = {
        bad(lab, "ticket.list", queue, sort="priority"),
        bad(lab, "ticket.list", queue, status=["ELIGIBLE"]),
        bad(lab, "ticket.list", graph),
        bad(lab, "graph.get", queue),
        bad(lab, "graph.get", graph, depth=2),
        bad(lab, "evidence.list", graph, node_id="N-1"),
    }
    assert told == {"the cursor belongs to another listing"}
    again = lab.result("ticket.list", limit=9, status=["COMPLETED", "MATERIALIZED"], cursor=ranked)
    assert len(again["tickets"]) == again["total"] - 1


@pytest.mark.parametrize("cursor", [Cursor(10**6, (0, 1)), Cursor(5, (1,)), Cursor(5, (0.5, 1)), Cursor(5, ("a", 1))])
def test_a_forged_cursor_is_refused(lab, cursor):
    bound = {"tool": "falsify.ticket.list", "project_id": "p1", "status": [], "type": [], "source": []}
    forged = seal(cursor, bound={**bound, "round_id": "", "pinned": None, "sort": "rank"})
    assert bad(lab, "ticket.list", forged) == "the cursor is not one that Falsify gave out"


def test_the_sizes_of_pages_are_twenty_by_default(tmp_path):
    lab = Lab(tmp_path)
    lab.baseline()
    for _ in range(3):
        lab.propose(*(idea(f"idea {next(numbers)}") for _ in range(8)))
    assert [len(page) for page in pages(lab, "ticket.list", "tickets")[0]] == [20, 4]
    lab.record(
        lambda s: join.create_tickets(s.project, s.graph, [idea("late")], author="owner", source="human", draft=True)
    )
    assert lab.result("ticket.list", status=["DRAFT"])["total"] == 1
