"""Tickets: who may create, queue, claim, rank and end them, and when agents' tickets open by themselves."""

import pytest

from falsify.codec import canonical, decode
from falsify.errors import FalsifyError
from falsify.workbench import contract as contracts
from falsify.workbench import tickets
from falsify.workbench.events import (
    ModeChanged,
    RoundOpened,
    TicketBlocked,
    TicketCancelled,
    TicketClaimed,
    TicketCompleted,
    TicketCreated,
    TicketMadeEligible,
    TicketMaterialized,
    TicketPinned,
    TicketPrioritized,
    TicketQueued,
    TicketReleased,
)
from falsify.workbench.nodes import materialize, register_baseline
from falsify.workbench.project import Dated
from falsify.workbench.tickets import waits_for
from tests.workbench_world import ALICE, BOB, OWNER, Research, idea, refused, research


def create(project, *ideas, author=ALICE, source="agent", draft=False):
    return tickets.create_tickets(
        project, ideas, author=author, source=source, hypothesis_id=lambda text: f"H {text}", draft=draft
    )


def created(ticket_id, asked, *, round_id="round-1", status="QUEUED", author=ALICE, source="agent", reproduces=""):
    return TicketCreated(
        ticket_id=ticket_id,
        round_id=round_id,
        title=asked.title,
        type=asked.type,
        hypothesis=asked.hypothesis,
        hypothesis_id=f"H {asked.hypothesis}",
        instruction=asked.instruction,
        parent_policy=asked.parent_policy,
        required_evidence=asked.required_evidence,
        source=source,
        author=author,
        status=status,
        reproduces=reproduces,
    )


def opened(ticket_id):
    return TicketMadeEligible(ticket_id=ticket_id, because="its parent N-1 is frozen")


# --- creating ------------------------------------------------------------------------------------------------


def test_tickets_that_are_created_together_are_a_round():
    one, two = idea("one"), idea("two", type="literature", required_evidence=("literature",))
    assert create(Research("MANUAL").project, one, two) == [
        RoundOpened(round_id="round-1", parent_id=""),
        created("T-1", one),
        created("T-2", two),
    ]


@pytest.mark.parametrize(
    ("mode", "source", "draft", "opens"),
    [
        ("AUTORESEARCH", "agent", False, True),
        ("COPILOT", "agent", False, True),
        ("MANUAL", "agent", False, False),
        ("AUTORESEARCH", "human", False, False),
        ("AUTORESEARCH", "literature", False, False),
        ("AUTORESEARCH", "system", False, False),
        ("AUTORESEARCH", "agent", True, False),
    ],
)
def test_an_agents_ticket_is_eligible_at_once_outside_manual_where_its_parent_is_frozen(mode, source, draft, opens):
    project = Research(mode, baseline=0.8).project
    asked = idea()
    status = "DRAFT" if draft else "QUEUED"
    expected = [
        RoundOpened(round_id="round-1", parent_id="N-1"),
        created("T-1", asked, source=source, status=status),
        *([opened("T-1")] if opens else []),
    ]
    assert create(project, asked, source=source, draft=draft) == expected


@pytest.mark.parametrize("policy", ["incumbent", "baseline", "round-parent"])
def test_tickets_wait_for_the_baseline_and_open_when_it_freezes(policy):
    waiting = Research()
    waiting.propose(idea(parent_policy=policy), idea("a person's", parent_policy=policy))
    waiting.propose(idea("not an agent's", parent_policy=policy), source="human", author=OWNER)
    assert [t.status for t in waiting.project.tickets.values()] == ["QUEUED"] * 3
    waiting.record([*register_baseline(waiting.project, caller=OWNER)])
    assert [t.status for t in waiting.project.tickets.values()] == ["QUEUED"] * 3
    measured = research(waiting.measure("N-1", 0.8))
    assert measured[-2:] == [opened("T-1"), opened("T-2")]
    assert [t.status for t in waiting.project.tickets.values()] == ["ELIGIBLE", "ELIGIBLE", "QUEUED"]


@pytest.mark.parametrize("count", [0, 9])
def test_one_to_eight_tickets_are_created_at_once(count):
    asked = [idea(f"{n}") for n in range(count)]
    assert refused(create, Research().project, *asked) == ("invalid_request", "")
    assert len(create(Research().project, *[idea(f"{n}") for n in range(8)])) == 9


def test_tickets_are_created_all_or_none():
    project = Research().project
    assert refused(create, project, idea(), idea(required_evidence=("vibes",)))[0] == "invalid_request"
    assert (project.tickets, project.rounds) == ({}, {})


# --- reproductions --------------------------------------------------------------------------------------------


def again(title="Once more", **words):
    return idea(title, type="reproduction", **{"hypothesis": "It holds.", "instruction": "Measure it again.", **words})


@pytest.mark.parametrize(
    ("asked", "of"),
    [
        (again("Reproduce N-2"), "N-2"),
        (again("Is N-2's number right?"), "N-2"),
        (again("Reproduce N-2 against N-1", hypothesis="What N-2 measured holds."), "N-2"),
        (again(hypothesis="What N-2 measured holds."), "N-2"),
        (again(instruction="Materialize it with parent_node_id N-2."), "N-2"),
        (again("Reproduce N-1", hypothesis="What N-2 measured holds."), "N-1"),
        (again("N-1 or N-2", hypothesis="One of N-1 and N-2 holds."), ""),
        (again("Reproduce N-9"), ""),
        (again("Reproduce EN-2, N-2x, N-2-b and n-2"), ""),
        (again(), ""),
        (idea("Better than N-2"), ""),
    ],
)
def test_a_reproduction_is_of_the_node_that_it_names(asked, of):
    one = Research(baseline=0.8)
    one.branch(width=64)
    assert create(one.project, asked, draft=True) == [
        RoundOpened(round_id="round-2", parent_id="N-1"),
        created("T-2", asked, round_id="round-2", status="DRAFT", reproduces=of),
    ]


def test_a_reproduction_branches_from_the_node_that_it_is_of_whatever_the_policy_says():
    one = Research(baseline=0.8)
    for width, value in ((64, 0.9), (32, 0.7)):
        one.measure(one.branch(width=width), value)
    one.decide("N-2", "IMPROVED", "PROMOTE")
    one.claimed(again("Reproduce N-3"))
    (node, _) = materialize(one.project, "T-3", mutation={}, caller=ALICE)
    assert (node.parent_id, node.reproduces, node.config["width"], node.seed) == ("N-3", "N-3", 32, 8)
    (named, _) = materialize(one.project, "T-3", mutation={}, parent_node_id="N-1", caller=ALICE)
    assert (named.parent_id, named.reproduces) == ("N-1", "N-1")


def test_a_reproduction_of_what_was_not_measured_yet_waits_for_that():
    one = Research(baseline=0.8)
    one.branch(width=64)
    one.propose(again("Reproduce N-2"))
    assert (one.project.tickets["T-2"].status, waits_for(one.project, one.project.tickets["T-2"])) == (
        "QUEUED",
        "N-2 is measured",
    )
    measured = research(one.measure("N-2", 0.9))
    assert measured[-1] == TicketMadeEligible(ticket_id="T-2", because="its parent N-2 is frozen")


def test_a_ticket_that_was_recorded_before_reproductions_named_their_node_is_read_as_it_was():
    recorded = created("T-1", again("Reproduce N-2")).__dict__
    body = canonical({name: value for name, value in recorded.items() if name != "reproduces"})
    assert decode("workbench.ticket_created/1", body) == created("T-1", again("Reproduce N-2"))


# --- what a ticket waits for ----------------------------------------------------------------------------------


def waiting(one, ticket_id="T-1"):
    return waits_for(one.project, one.project.tickets[ticket_id])


def test_a_ticket_says_what_it_waits_for():
    one = Research("MANUAL")
    one.propose(idea("one"), draft=True)
    one.propose(idea("two"))
    one.propose(idea("three", type="literature"))
    eligible = "a person makes it eligible: `falsify ticket eligible T-2`"
    assert [waiting(one, ticket_id) for ticket_id in ("T-1", "T-2")] == [
        "a person queues it: `falsify ticket queue T-1`",
        f"the baseline is measured, and {eligible}",
    ]
    one.record([*register_baseline(one.project, caller=OWNER)])
    one.measure("N-1", 0.8)
    assert waiting(one, "T-2") == eligible
    for ticket_id in ("T-2", "T-3"):
        one.record([*tickets.make_eligible(one.project, ticket_id, caller=OWNER)])
        assert waiting(one, ticket_id) == ""
        one.claim(ticket_id)
    assert waiting(one, "T-3") == "a person completes it: `falsify ticket complete T-3`"
    assert waiting(one, "T-2") == f"{ALICE} makes it a node"
    one.materialize("T-2", mutation={"width": 64})
    assert waiting(one, "T-2") == "a decision about N-2 settles it"
    one.record([*tickets.block_ticket(one.project, "T-2", reason="no", caller=OWNER)])
    assert waiting(one, "T-2") == "a person takes it up again: `falsify ticket queue T-2`"
    one.record([*tickets.cancel_ticket(one.project, "T-2", reason="no", caller=OWNER)])
    assert waiting(one, "T-2") == ""


def hinted(call, *args, **more):
    with pytest.raises(FalsifyError) as caught:
        call(*args, **more)
    return caught.value.hint


def claim_hint(one, ticket_id, caller=ALICE):
    return hinted(tickets.claim_ticket, one.project, ticket_id, reason="next", agent_session_id="", caller=caller)


def test_who_cannot_claim_a_ticket_is_told_what_it_waits_for_and_whether_there_is_another():
    one = Research("MANUAL", baseline=0.8)
    one.propose(idea("one"), idea("two"))
    waits = "it waits until a person makes it eligible: `falsify ticket eligible T-1`"
    assert claim_hint(one, "T-1") == f"{waits}; no other ticket is ELIGIBLE now"
    one.record([*tickets.make_eligible(one.project, "T-2", caller=OWNER)])
    assert claim_hint(one, "T-1") == f"{waits}; choose another from falsify.ticket.list with status ELIGIBLE"
    one.claim("T-2")
    assert claim_hint(one, "T-2") == "you hold it: make it a node with falsify.experiment.materialize"
    assert claim_hint(one, "T-2", BOB) == "no other ticket is ELIGIBLE now"
    one.materialize("T-2", mutation={"width": 64})
    assert claim_hint(one, "T-2") == "it is N-2 already; no other ticket is ELIGIBLE now"


def test_who_cannot_materialize_a_ticket_is_told_what_can_be_done_with_it():
    one = Research("MANUAL", baseline=0.8)
    one.propose(*(idea(f"{n}") for n in range(5)))
    for ticket_id in ("T-2", "T-3", "T-4"):
        one.record([*tickets.make_eligible(one.project, ticket_id, caller=OWNER)])
    one.claim("T-3")
    one.materialize("T-3", mutation={"width": 64})
    one.record([*tickets.cancel_ticket(one.project, "T-4", reason="no", caller=OWNER)])
    one.record([*tickets.block_ticket(one.project, "T-5", reason="no", caller=OWNER)])
    told = {
        ticket_id: hinted(materialize, one.project, ticket_id, mutation={"width": 32}, caller=ALICE)
        for ticket_id in one.project.tickets
    }
    assert told == {
        "T-1": "it waits until a person makes it eligible: `falsify ticket eligible T-1`; claim it then",
        "T-2": "claim it first with falsify.ticket.claim",
        "T-3": "it is N-2 already: go on with that, or create another ticket",
        "T-4": "that is final: create another ticket",
        "T-5": "it waits until a person takes it up again: `falsify ticket queue T-5`; claim it then",
    }


def test_reading_is_completed_and_not_materialized_and_the_refusal_says_so():
    one = Research(baseline=0.8)
    one.claimed(idea(type="analysis"))
    assert hinted(materialize, one.project, "T-1", mutation={"width": 32}, caller=ALICE) == (
        "record what you find with falsify.belief.record; a person completes the ticket with "
        "`falsify ticket complete T-1`, or gives it back with `falsify ticket release T-1`"
    )


# --- queueing and opening ------------------------------------------------------------------------------------


def test_a_draft_of_an_agent_that_is_queued_opens_where_its_parent_is_frozen():
    one = Research(baseline=0.8)
    one.propose(draft=True)
    assert tickets.queue_ticket(one.project, "T-1", caller=OWNER) == [TicketQueued(ticket_id="T-1"), opened("T-1")]


def test_a_person_makes_a_queued_ticket_eligible():
    one = Research("MANUAL", baseline=0.8)
    one.propose()
    eligible = TicketMadeEligible(ticket_id="T-1", because="owner said so")
    assert tickets.make_eligible(one.project, "T-1", caller=OWNER) == [eligible]


def test_a_ticket_without_a_frozen_parent_is_made_eligible_by_nobody():
    one = Research("MANUAL")
    one.propose()
    assert refused(tickets.make_eligible, one.project, "T-1", caller=OWNER) == ("refused", "parent_unresolved")


def test_a_claim_is_not_taken_away_by_making_the_ticket_eligible():
    one = Research(baseline=0.8)
    one.claimed()
    assert refused(tickets.make_eligible, one.project, "T-1", caller=OWNER) == ("refused", "ticket_claimed")


def test_a_ticket_that_was_blocked_as_a_node_goes_back_to_its_node():
    one = Research(baseline=0.8)
    one.branch(width=64)
    one.record([*tickets.block_ticket(one.project, "T-1", reason="", caller=OWNER)])
    assert tickets.queue_ticket(one.project, "T-1", caller=OWNER) == [
        TicketMaterialized(ticket_id="T-1", node_id="N-2")
    ]


def test_a_ticket_that_waits_again_is_claimed_by_nobody():
    one = Research("MANUAL", baseline=0.8)
    one.propose()
    one.record([*tickets.make_eligible(one.project, "T-1", caller=OWNER)])
    one.claim("T-1")
    one.record([*tickets.block_ticket(one.project, "T-1", reason="", caller=OWNER)])
    one.record([*tickets.queue_ticket(one.project, "T-1", caller=OWNER)])
    ticket = one.project.tickets["T-1"]
    assert (ticket.status, ticket.claimed_by, ticket.agent_session_id, ticket.claim_reason) == ("QUEUED", "", "", "")


# --- claiming ------------------------------------------------------------------------------------------------


def claim(project, ticket_id, caller):
    return tickets.claim_ticket(project, ticket_id, reason="next", agent_session_id="s1", caller=caller)


def test_an_eligible_ticket_is_claimed_once():
    one = Research(baseline=0.8)
    one.propose()
    claimed = TicketClaimed(ticket_id="T-1", claimed_by=ALICE, agent_session_id="s1", reason="next")
    assert one.record([*claim(one.project, "T-1", ALICE)]) == [claimed]
    assert refused(claim, one.project, "T-1", BOB) == ("refused", "ticket_claimed")
    assert refused(claim, one.project, "T-1", ALICE) == ("refused", "ticket_claimed")


def test_what_is_not_eligible_is_not_claimed():
    one = Research("MANUAL", baseline=0.8)
    one.propose(draft=True)
    assert refused(claim, one.project, "T-1", ALICE) == ("refused", "ticket_draft")
    one.record([*tickets.queue_ticket(one.project, "T-1", caller=OWNER)])
    assert refused(claim, one.project, "T-1", ALICE) == ("refused", "ticket_queued")
    assert refused(claim, one.project, "T-9", ALICE) == ("not_found", "no_ticket")


@pytest.mark.parametrize(("caller", "answer"), [(ALICE, ""), (OWNER, ""), ("person:ada", ""), (BOB, "not_your_claim")])
def test_a_claim_is_released_by_who_holds_it_or_by_a_person(caller, answer):
    one = Research(baseline=0.8)
    one.claimed()
    if answer:
        assert refused(tickets.release_ticket, one.project, "T-1", reason="", caller=caller) == ("forbidden", answer)
    else:
        released = tickets.release_ticket(one.project, "T-1", reason="ill", caller=caller)
        assert one.record([*released]) == [TicketReleased(ticket_id="T-1", reason="ill")]
        ticket = one.project.tickets["T-1"]
        assert (ticket.status, ticket.claimed_by, ticket.note) == ("ELIGIBLE", "", "ill")


def test_what_is_not_claimed_is_not_released():
    one = Research(baseline=0.8)
    one.propose()
    assert refused(tickets.release_ticket, one.project, "T-1", reason="", caller=ALICE)[1] == "ticket_not_claimed"


# --- blocking, ending, ranking -------------------------------------------------------------------------------

BY_PEOPLE = [
    ("queue", lambda p, who: tickets.queue_ticket(p, "T-1", caller=who)),
    ("open", lambda p, who: tickets.make_eligible(p, "T-1", caller=who)),
    ("block", lambda p, who: tickets.block_ticket(p, "T-1", reason="", caller=who)),
    ("cancel", lambda p, who: tickets.cancel_ticket(p, "T-1", reason="", caller=who)),
    ("complete", lambda p, who: tickets.complete_ticket(p, "T-1", reason="", caller=who)),
    ("pin", lambda p, who: tickets.pin_ticket(p, "T-1", pinned=True, caller=who)),
    ("rank", lambda p, who: tickets.prioritize_ticket(p, "T-1", priority=1, caller=who)),
]


@pytest.mark.parametrize("decide", [d for _, d in BY_PEOPLE], ids=[name for name, _ in BY_PEOPLE])
def test_what_is_for_people_no_agent_does_in_any_mode_nor_to_its_own_ticket(decide):
    for mode in ("MANUAL", "COPILOT", "AUTORESEARCH"):
        one = Research(mode, baseline=0.8)
        one.propose(author=ALICE)
        assert refused(decide, one.project, ALICE) == ("forbidden", "people_only")


@pytest.mark.parametrize(
    ("decide", "event"),
    [
        (tickets.block_ticket, TicketBlocked),
        (tickets.cancel_ticket, TicketCancelled),
        (tickets.complete_ticket, TicketCompleted),
    ],
)
def test_a_person_blocks_cancels_and_completes_but_not_under_an_active_run(decide, event):
    one = Research(baseline=0.8)
    node_id = one.branch(width=64)
    assert decide(one.project, "T-1", reason="enough", caller=OWNER) == [event(ticket_id="T-1", reason="enough")]
    one.queue(node_id)
    assert refused(decide, one.project, "T-1", reason="enough", caller=OWNER) == ("refused", "run_active")


@pytest.mark.parametrize("end", [tickets.cancel_ticket, tickets.complete_ticket])
def test_an_end_is_final(end):
    one = Research(baseline=0.8)
    one.propose()
    one.record([*end(one.project, "T-1", reason="", caller=OWNER)])
    final = f"ticket_{one.project.tickets['T-1'].status.lower()}"
    answers = {name: refused(decide, one.project, OWNER) for name, decide in BY_PEOPLE}
    assert answers == {name: ("refused", "ticket_final" if name in {"pin", "rank"} else final) for name, _ in BY_PEOPLE}
    assert refused(claim, one.project, "T-1", ALICE) == ("refused", final)


def test_pins_and_priorities_change_only_where_they_differ():
    one = Research()
    one.propose()
    pin = TicketPinned(ticket_id="T-1", pinned=True)
    assert one.record([*tickets.pin_ticket(one.project, "T-1", pinned=True, caller=OWNER)]) == [pin]
    assert tickets.pin_ticket(one.project, "T-1", pinned=True, caller=OWNER) == []
    ranked = TicketPrioritized(ticket_id="T-1", priority=-9)
    assert one.record([*tickets.prioritize_ticket(one.project, "T-1", priority=-9, caller=OWNER)]) == [ranked]
    assert tickets.prioritize_ticket(one.project, "T-1", priority=-9, caller=OWNER) == []


@pytest.mark.parametrize("priority", [-10, 10])
def test_priorities_go_from_minus_nine_to_nine(priority):
    one = Research()
    one.propose()
    answer = refused(tickets.prioritize_ticket, one.project, "T-1", priority=priority, caller=OWNER)
    assert answer == ("invalid_request", "")


def test_a_mode_change_opens_only_what_is_queued_and_an_agents():
    one = Research("MANUAL", baseline=0.8)
    one.propose(idea("queued"))
    one.propose(idea("draft"), draft=True)
    one.propose(idea("blocked"))
    one.record([*tickets.block_ticket(one.project, "T-3", reason="", caller=OWNER)])
    one.propose(idea("a person's"), source="human", author=OWNER)
    changed = ModeChanged(mode="AUTORESEARCH", previous="MANUAL", reason="")
    assert contracts.change_mode(one.project, "AUTORESEARCH", reason="", caller=OWNER) == [changed, opened("T-1")]


# --- a value and its history ---------------------------------------------------------------------------------


def test_the_reason_of_a_state_is_not_kept_for_the_next():
    one = Research(baseline=0.8)
    one.propose()
    assert one.project.tickets["T-1"].note == "its parent N-1 is frozen"
    one.claim("T-1")
    assert one.project.tickets["T-1"].note == ""
    one.materialize("T-1", mutation={"width": 64})
    one.record([*tickets.block_ticket(one.project, "T-1", reason="no room", caller=OWNER)])
    assert one.project.tickets["T-1"].note == "no room"
    one.record([*tickets.queue_ticket(one.project, "T-1", caller=OWNER)])
    assert (one.project.tickets["T-1"].status, one.project.tickets["T-1"].note) == ("MATERIALIZED", "")


def test_a_dated_value_is_what_it_was_at_each_revision():
    value = Dated(((3, "a"),)).become("b", 5).become("c", 9)
    assert (value.now, value.since) == ("c", 9)
    assert [value.at(revision) for revision in (3, 4, 5, 8, 9, 99)] == ["a", "a", "b", "b", "c", "c"]


def test_a_dated_value_that_changes_twice_in_one_revision_is_the_last_one_from_then_on():
    value = Dated(((3, "a"),)).become("b", 5).become("c", 5)
    assert [value.at(revision) for revision in (4, 5, 6)] == ["a", "c", "c"]
