"""Changing the org map: foreseen and done by the same function, undone by a later event, and the owner's alone."""

import re
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import orjson
import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from falsify.brain import governance
from falsify.brain.arguments import ADDING, agent_of, person_of
from falsify.brain.events import BrainEvent, GovernanceApplied, OrgAccepted
from falsify.brain.library import Library, evolve
from falsify.brain.operations import OPERATIONS
from falsify.brain.org import AREAS, EMPTY, GENERAL, Org
from falsify.brain.org_difference import left_over, steps
from falsify.brain.org_rules import SEVERITIES, errors, identities
from falsify.brain.scope import reach
from falsify.codec import decode, encode, topic
from falsify.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError, RefusedError
from surfaces.commands.brain.governance import governance as governance_group
from surfaces.commands.brain.governance import org as org_group
from surfaces.governance import history, import_org, undo
from surfaces.tools.brain_org import UNAUTHORIZED, governance_apply, governance_model, governance_preview
from surfaces.workspace import Workspace
from tests.brain_orgs import CATEGORIES, DEPARTMENTS, MAP, OWNER, PEOPLE, brain_at, orgs

VALUES = {
    "slug": PEOPLE,
    "dept": (*DEPARTMENTS, GENERAL),
    "target": (*PEOPLE, "none"),
    "category": (*CATEGORIES, "new_one"),
    "agent": ("bot",),
    "area": AREAS,
    "mode": ("read", "write"),
}

REASONS = {"no_change", "unknown_person", "unknown_agent", "cycle", "ownership", "orphan", "no_validator"}
"""Why a call that is well-formed may be refused."""


@st.composite
def calls(draw):
    op = draw(st.sampled_from(tuple(OPERATIONS)))
    return op, {name: draw(st.sampled_from(VALUES[name])) for name in OPERATIONS[op].takes}


def library_of(org: Org) -> Library:
    return happened(Library(), [OrgAccepted(org=org.as_json(), source="test")])


def happened(library: Library, events: list[BrainEvent]) -> Library:
    for event in events:
        written = decode(topic(event), encode(event))
        assert written == event
        evolve(library, written, library.revision + 1, library.revision + 1)
    return library


def refusal(library, op, **arguments):
    with pytest.raises(RefusedError) as told:
        governance.apply(library, op, arguments, caller=OWNER)
    return told.value.reason


@pytest.fixture
def brain(tmp_path):
    return brain_at(tmp_path)


# --- laws -----------------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(orgs(), calls())
def test_what_undoes_an_operation_leads_back_to_the_very_same_map(org, call):
    op, arguments = call
    library = library_of(org)
    try:
        (applied,) = governance.apply(library, op, arguments, caller=OWNER)
    except RefusedError:
        assert library.org == org
        return
    happened(library, [applied])
    assert library.org != org
    assert errors(library.org) == []
    happened(library, governance.undo(library, applied.operation_id, caller=OWNER))
    assert library.org == org


@settings(max_examples=300)
@given(orgs(), calls())
def test_an_operation_comes_to_what_was_foreseen(org, call):
    op, arguments = call
    library = library_of(org)
    try:
        foreseen = governance.plan(org, op, arguments)
    except RefusedError:
        foreseen = None
    if foreseen is None:
        assert refusal(library, op, **arguments) in REASONS
        return
    happened(library, governance.apply(library, op, arguments, caller=OWNER))
    assert library.org == foreseen.after
    assert foreseen.moved == sorted(i for i in identities(org) if reach(org, i) != reach(foreseen.after, i))


@settings(max_examples=300)
@given(orgs(), calls())
def test_whoever_comes_to_see_or_change_more_is_told_of_before(org, call):
    op, arguments = call
    try:
        foreseen = governance.plan(org, op, arguments)
    except RefusedError:
        return
    wider = {i for i in identities(org) if reach(foreseen.after, i) - reach(org, i)}
    told = {warning.split()[1] for warning in foreseen.warnings if warning.startswith("widening: ")}
    assert told == wider


@settings(max_examples=300)
@given(orgs(), orgs())
def test_operations_lead_from_any_map_to_another_but_for_what_is_named(before, after):
    reached = before
    for op, arguments in steps(before, after):
        reached = OPERATIONS[op].change(reached, arguments)
    rest = left_over(before, after)
    assert (reached == after) == (rest == [])
    if [p.slug for p in before.people] == [p.slug for p in after.people]:
        assert "people" not in rest
    if [a.name for a in before.agents] == [a.name for a in after.agents]:
        assert "agents" not in rest


# --- the vocabulary -------------------------------------------------------------------------------------------


def told(brain, op, **arguments):
    return orjson.loads(governance_preview(brain, OWNER, op=op, **arguments))


@pytest.mark.parametrize(
    ("op", "arguments", "before", "after"),
    [
        (
            "assign_department",
            {"slug": "bob", "dept": "legal"},
            {"fr": "Bob Petit (bob) appartient à : Commerce.", "en": "Bob Petit (bob) is in: Commerce."},
            {
                "fr": "Bob Petit (bob) appartient à : Commerce et Legal affairs.",
                "en": "Bob Petit (bob) is in: Commerce and Legal affairs.",
            },
        ),
        (
            "unassign_department",
            {"slug": "lea", "dept": "finance"},
            {
                "fr": "Léa Morel (lea) appartient à : Finance et Legal affairs.",
                "en": "Léa Morel (lea) is in: Finance and Legal affairs.",
            },
            {"fr": "Léa Morel (lea) appartient à : Legal affairs.", "en": "Léa Morel (lea) is in: Legal affairs."},
        ),
        (
            "set_reports_to",
            {"slug": "lea", "target": "bob"},
            {
                "fr": "Léa Morel (lea) rend compte à Marie Durand (marie).",
                "en": "Léa Morel (lea) reports to Marie Durand (marie).",
            },
            {
                "fr": "Léa Morel (lea) rend compte à Bob Petit (bob).",
                "en": "Léa Morel (lea) reports to Bob Petit (bob).",
            },
        ),
        (
            "remove_decides",
            {"slug": "bob", "category": "pricing"},
            {
                "fr": "Bob Petit (bob) décide de : discounts et pricing.",
                "en": "Bob Petit (bob) decides on: discounts and pricing.",
            },
            {"fr": "Bob Petit (bob) décide de : discounts.", "en": "Bob Petit (bob) decides on: discounts."},
        ),
        (
            "add_validates",
            {"slug": "marie", "category": "pricing"},
            {"fr": "Marie Durand (marie) ne valide rien.", "en": "Marie Durand (marie) validates nothing."},
            {"fr": "Marie Durand (marie) valide : pricing.", "en": "Marie Durand (marie) validates: pricing."},
        ),
        (
            "unrequire_validation",
            {"category": "pricing"},
            {
                "fr": "Doivent être validées les décisions sur : pricing.",
                "en": "Decisions that need a validation: pricing.",
            },
            {"fr": "Aucune décision ne doit être validée.", "en": "No decision needs a validation."},
        ),
        (
            "deny_department",
            {"agent": "clerk", "dept": "legal"},
            {
                "fr": "L'agent clerk peut lire : Legal affairs. Il peut proposer des pages dans : aucun département.",
                "en": "The agent clerk may read: Legal affairs. It may propose pages to: no department.",
            },
            {
                "fr": "L'agent clerk peut lire : Legal affairs. Il peut proposer des pages dans : aucun département. "
                "Lui sont interdits, quoi qu'il lui soit accordé : Legal affairs.",
                "en": "The agent clerk may read: Legal affairs. It may propose pages to: no department. "
                "It is denied, whatever it is granted: Legal affairs.",
            },
        ),
        (
            "revoke_area",
            {"agent": "crm", "area": "clients"},
            {
                "fr": "L'agent crm peut lire, dans tous les départements : clients. "
                "Il peut y proposer des pages de : aucun domaine.",
                "en": "The agent crm may read, across all departments: clients. "
                "It may propose pages there of: no area.",
            },
            {
                "fr": "L'agent crm peut lire, dans tous les départements : aucun domaine. "
                "Il peut y proposer des pages de : aucun domaine.",
                "en": "The agent crm may read, across all departments: no area. "
                "It may propose pages there of: no area.",
            },
        ),
    ],
)
def test_an_operation_is_told_before_and_after_in_both_languages(brain, op, arguments, before, after):
    answer = told(brain, op, **arguments)
    answer.pop("warning", None)
    assert answer == {"op": op, "file": "memory/org.yaml", "before": before, "after": after}


def test_a_preview_writes_nothing(brain):
    before = brain.log.head()
    told(brain, "assign_department", slug="bob", dept="legal")
    assert brain.log.head() == before


def test_a_preview_warns_of_what_an_agent_will_see_and_change_beyond_today(brain):
    employees = told(brain, "grant_area", agent="clerk", area="employees", mode="read")
    commerce = told(brain, "grant_department", agent="clerk", dept="commerce", mode="write")
    fewer = told(brain, "revoke_department", agent="crm", dept="commerce", mode="write")
    assert employees["warning"] == "widening: agent:clerk may read more (area employees)"
    assert commerce["warning"] == (
        "widening: agent:clerk may read more (department commerce); "
        "widening: agent:clerk may propose more (department commerce)"
    )
    assert "warning" not in fewer


def test_a_grant_has_rungs_and_write_is_above_read(brain):
    def rungs():
        agent = brain.library.org.agent("clerk")
        return agent.read, agent.write

    def does(op, mode):
        answer = orjson.loads(governance_apply(brain, OWNER, op=op, agent="clerk", dept="legal", mode=mode))
        return answer.get("status", answer.get("reason"))

    assert (does("grant_department", "read"), rungs()) == ("no_change", (("legal",), ()))
    assert (does("grant_department", "write"), rungs()) == ("applied", ((), ("legal",)))
    assert (does("grant_department", "read"), rungs()) == ("no_change", ((), ("legal",)))
    assert (does("revoke_department", "write"), rungs()) == ("applied", (("legal",), ()))
    assert (does("revoke_department", "write"), rungs()) == ("no_change", (("legal",), ()))
    assert (does("revoke_department", ""), rungs()) == ("applied", ((), ()))


@pytest.mark.parametrize(
    ("reason", "op", "arguments"),
    [
        ("unknown_operation", "rewrite_everything", {}),
        ("unknown_operation", 7, {}),
        ("missing_argument", "assign_department", {"slug": "bob"}),
        ("unexpected_argument", "assign_department", {"slug": "bob", "dept": "legal", "mode": "read"}),
        ("unexpected_argument", "require_validation", {"category": "pricing", "glob": "memory/**"}),
        ("invalid_argument", "assign_department", {"slug": ["bob"], "dept": "legal"}),
        ("invalid_category", "add_decides", {"slug": "bob", "category": "All Of It"}),
        ("unknown_person", "assign_department", {"slug": "Bob Petit", "dept": "legal"}),
        ("unknown_person", "set_reports_to", {"slug": "bob", "target": "zoe"}),
        ("unknown_department", "assign_department", {"slug": "bob", "dept": "lgal"}),
        ("unknown_agent", "deny_department", {"agent": "robot", "dept": "legal"}),
        ("unknown_area", "grant_area", {"agent": "crm", "area": "memory/**", "mode": "read"}),
        ("unknown_mode", "grant_area", {"agent": "crm", "area": "decisions", "mode": "rw"}),
        ("no_change", "assign_department", {"slug": "bob", "dept": "commerce"}),
        ("no_change", "unassign_department", {"slug": "bob", "dept": "legal"}),
        ("no_change", "set_reports_to", {"slug": "marie", "target": "-"}),
        ("cycle", "set_reports_to", {"slug": "bob", "target": "bob"}),
        ("ownership", "set_reports_to", {"slug": "marie", "target": "bob"}),
        ("orphan", "unassign_department", {"slug": "bob", "dept": "commerce"}),
        ("no_validator", "remove_validates", {"slug": "bob", "category": "pricing"}),
        ("no_validator", "require_validation", {"category": "hiring"}),
    ],
)
def test_an_operation_is_refused_by_a_word_and_nothing_is_written(brain, reason, op, arguments):
    before = brain.log.head()
    answers = [governance_preview(brain, OWNER, op=op, **arguments), governance_apply(brain, OWNER, op=op, **arguments)]
    assert answers[0] == answers[1]
    answer = orjson.loads(answers[0])
    assert (list(answer), answer["error"], answer["reason"]) == (["error", "reason", "message"], "aor_refused", reason)
    assert brain.log.head() == before


def test_who_is_not_on_a_map_without_anybody_is_refused_in_whole_sentences():
    hints = []
    for of in (person_of, agent_of):
        with pytest.raises(RefusedError) as caught:
            of(EMPTY, "robot")
        hints.append(caught.value.hint)
    assert hints == [f"there is nobody yet. {ADDING}", f"there is no agent yet. {ADDING}"]


def test_nothing_can_be_changed_before_there_is_a_map(tmp_path):
    brain = brain_at(tmp_path, "")
    answer = told(brain, "require_validation", category="pricing")
    assert (answer["reason"], answer["message"]) == (
        "no_org", "there is no org map yet; accept one: `falsify brain org import FILE`",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("op", "arguments", "known"),
    [
        ("grant_department", {"agent": "robot", "dept": "legal", "mode": "read"}, "there is no agent 'robot'; the"),
        ("add_decides", {"slug": "zoe", "category": "pricing"}, "there is no person 'zoe'; the people are bob,"),
        ("assign_department", {"slug": "bob", "dept": "lab"}, "there is no department 'lab'; it is one of commerce,"),
    ],
)
def test_who_names_what_is_not_on_the_map_is_told_how_it_is_added(brain, op, arguments, known):
    message = told(brain, op, **arguments)["message"]
    assert message.startswith(known)
    assert message.endswith(
        ". No operation adds one: write it into what `falsify brain org show` prints, and accept that with "
        "`falsify brain org import FILE --replace`"
    )


def test_an_operation_that_is_not_named_is_missing(brain):
    answer = orjson.loads(governance_preview(brain, OWNER))
    assert (answer["reason"], answer["message"].split("; ")[0]) == ("missing_argument", "op is missing")


def test_the_table_names_an_inverse_of_the_same_arguments_for_every_operation():
    library = library_of(EMPTY)
    assert library.org == EMPTY
    takes = {name: operation.takes for name, operation in OPERATIONS.items()}
    pairs = [
        ("assign", "unassign"),
        ("add", "remove"),
        ("require", "unrequire"),
        ("grant", "revoke"),
        ("deny", "allow"),
    ]
    for name, (do, undo_) in product(takes, pairs):
        verb, _, what = name.partition("_")
        if verb == do:
            assert takes[f"{undo_}_{what}"] == takes[name]


def test_the_page_documents_every_operation_and_every_rule():
    page = (Path(__file__).parents[1] / "docs" / "brain-governance.md").read_text(encoding="utf-8")
    for name, operation in OPERATIONS.items():
        (row,) = re.findall(rf"^\| `{name}` \| (.+?) \| (.+?) \| `\w+` \|$", page, re.MULTILINE)
        assert (re.findall(r"`(\w+)`", row[0]), row[1]) == (list(operation.takes), operation.does)
    assert dict(re.findall(r"^\| `(\w+)` \| (error|warning) \|", page, re.MULTILINE)) == dict(SEVERITIES)


# --- applying and undoing -------------------------------------------------------------------------------------


def applied(brain, op, **arguments):
    answer = orjson.loads(governance_apply(brain, OWNER, op=op, **arguments))
    assert answer["status"] == "applied"
    return answer["commit"]


def test_an_operation_is_applied_as_an_attributed_event_and_holds_at_once(brain):
    answer = orjson.loads(governance_apply(brain, OWNER, op="assign_department", slug="bob", dept="legal"))
    *_, last = brain.log.read(stream="brain")
    assert answer == {
        "status": "applied",
        "op": "assign_department",
        "file": "memory/org.yaml",
        "commit": last.event.operation_id,
        "scope_propagation": "immediate: the scope of 1 identity changed",
    }
    assert last.event == GovernanceApplied(
        operation_id=answer["commit"],
        op="assign_department",
        arguments={"slug": "bob", "dept": "legal"},
        inverse_op="unassign_department",
        inverse_arguments={"slug": "bob", "dept": "legal"},
        org=brain.library.org.as_json(),
        applied_by=OWNER,
        undoes="",
    )
    assert brain.scope("person:bob").sees_department("legal")


def test_an_operation_that_moves_no_scope_says_so(brain):
    answer = orjson.loads(governance_apply(brain, OWNER, op="add_decides", slug="lea", category="contracts"))
    assert answer["scope_propagation"] == "immediate: nobody's scope changed"


def test_the_person_who_is_the_owner_may_govern_by_their_own_name(brain):
    answer = orjson.loads(governance_apply(brain, "person:marie", op="add_decides", slug="lea", category="contracts"))
    assert answer["status"] == "applied"


def test_an_operation_is_undone_once(brain):
    before = brain.library.org
    done = applied(brain, "assign_department", slug="bob", dept="legal")
    answer = undo(brain, done, caller=OWNER)
    assert (answer["op"], brain.library.org) == ("unassign_department", before)
    with pytest.raises(RefusedError) as told_:
        undo(brain, done, caller=OWNER)
    assert told_.value.reason == "already_undone"


def test_what_undid_an_operation_can_be_undone_itself(brain):
    done = applied(brain, "assign_department", slug="bob", dept="legal")
    after = brain.library.org
    undo(brain, undo(brain, done, caller=OWNER)["commit"], caller=OWNER)
    assert brain.library.org == after


def test_an_operation_is_not_undone_over_what_was_changed_since(brain):
    done = applied(brain, "set_reports_to", slug="lea", target="bob")
    applied(brain, "set_reports_to", slug="lea", target="none")
    with pytest.raises(RefusedError) as told_:
        undo(brain, done, caller=OWNER)
    assert told_.value.reason == "moved_on"


def test_an_operation_is_not_undone_where_the_map_would_not_be_valid_any_more(brain):
    done = applied(brain, "add_validates", slug="marie", category="hiring")
    applied(brain, "require_validation", category="hiring")
    with pytest.raises(RefusedError, match="nobody validates them") as told_:
        undo(brain, done, caller=OWNER)
    assert told_.value.reason == "moved_on"


def test_what_was_never_applied_cannot_be_undone(brain):
    with pytest.raises(NotFoundError):
        undo(brain, "G-0000000000", caller=OWNER)


def test_the_history_lists_imports_and_operations_with_who_did_them(brain):
    done = applied(brain, "assign_department", slug="bob", dept="legal")
    back = undo(brain, done, caller="person:marie")["commit"]
    rows = [
        {name: row[name] for name in ("id", "op", "actor", "undoes", "undone")} for row in history(brain, caller=OWNER)
    ]
    assert rows == [
        {"id": "", "op": "import", "actor": OWNER, "undoes": "", "undone": False},
        {"id": done, "op": "assign_department", "actor": OWNER, "undoes": "", "undone": True},
        {"id": back, "op": "unassign_department", "actor": "person:marie", "undoes": done, "undone": False},
    ]


# --- the owner alone ------------------------------------------------------------------------------------------

CALLS = (
    {},
    {"op": "assign_department", "slug": "bob", "dept": "legal"},
    {"op": "assign_department", "slug": "nobody", "dept": "nothing"},
    {"op": None, "slug": 7, "caller": OWNER, "brain": None},
    {"op": "x" * 100_000, "on_behalf_of": "marie"},
)


@pytest.mark.parametrize(
    "caller", ["person:bob", "person:nobody", "agent:crm", "agent:marie", "agent:owner", "x:marie", ""]
)
def test_everybody_but_the_owner_is_answered_the_same_bytes_whatever_they_send(brain, caller):
    before = brain.log.head()
    tools = (governance_model, governance_preview, governance_apply)
    assert {tool(brain, caller, **arguments) for tool in tools for arguments in CALLS} == {UNAUTHORIZED}
    assert orjson.loads(UNAUTHORIZED)["error"] == "unauthorized"
    assert brain.log.head() == before


def test_the_rule_itself_lets_nobody_but_the_owner_change_the_map(brain):
    done = applied(brain, "assign_department", slug="bob", dept="legal")
    for caller in ("person:bob", "agent:crm"):
        with pytest.raises(ForbiddenError):
            governance.apply(brain.library, "add_decides", {"slug": "bob", "category": "x"}, caller=caller)
        with pytest.raises(ForbiddenError):
            governance.undo(brain.library, done, caller=caller)
        with pytest.raises(ForbiddenError):
            import_org(brain, MAP, caller=caller, replace=True)


def test_the_model_tells_the_owner_who_may_what(brain):
    answer = orjson.loads(governance_model(brain, OWNER))
    assert (answer["owner"], answer["must_validate"]) == ("marie", ["pricing"])
    assert answer["people"][1] == {
        "slug": "bob",
        "name": "Bob Petit",
        "role": "Head of sales",
        "departments": ["commerce"],
        "reports_to": "marie",
        "decides": ["discounts", "pricing"],
        "validates": ["pricing"],
        "plain": {
            "fr": "Bob Petit (bob) appartient à : Commerce. Bob Petit (bob) rend compte à Marie Durand (marie). "
            "Bob Petit (bob) décide de : discounts et pricing. Bob Petit (bob) valide : pricing.",
            "en": "Bob Petit (bob) is in: Commerce. Bob Petit (bob) reports to Marie Durand (marie). "
            "Bob Petit (bob) decides on: discounts and pricing. Bob Petit (bob) validates: pricing.",
        },
    }
    assert {name: answer["agents"][0][name] for name in ("name", "departments", "areas")} == {
        "name": "crm",
        "departments": {"read": ["commerce", "finance"], "write": ["commerce"], "deny": ["finance"]},
        "areas": {"read": ["clients"], "write": []},
    }


# --- where changes are approved -------------------------------------------------------------------------------


@pytest.fixture
def careful(tmp_path):
    return brain_at(tmp_path, MAP + "meta_approval: true\n")


def staged(brain, op="assign_department", **arguments):
    return orjson.loads(governance_apply(brain, OWNER, op=op, **(arguments or {"slug": "bob", "dept": "legal"})))


def test_where_changes_are_approved_an_operation_waits_and_changes_nothing(careful):
    before = careful.library.org
    answer = staged(careful)
    waiting = careful.library.proposals[answer["item_id"]]
    assert answer == {"status": "submitted_for_approval", "item_id": waiting.staged.proposal_id}
    assert (waiting.staged.proposes, waiting.staged.rel_path, waiting.status) == (
        "governance",
        "memory/org.yaml",
        "pending",
    )
    assert waiting.staged.findings == ("widening: person:bob may read more (department legal)",)
    assert careful.library.org == before


def approve(brain, item, caller=OWNER):
    """Approve what is staged, as the Approval Center does; return the library after it."""

    def decide(library):
        return governance.approve(library, item, caller=caller, note="yes")

    brain.perform(decide, lambda _: b"{}", tool="approve", caller=caller, body=item.encode())
    return brain.library


def test_the_approval_of_a_staged_operation_applies_it(careful):
    item = staged(careful)["item_id"]
    library = approve(careful, item)
    assert library.org.person("bob").departments == ("commerce", "legal")
    assert (library.proposals[item].status, library.proposals[item].note) == ("approved", "yes")
    with pytest.raises(ConflictError):
        approve(careful, item)


def test_an_undo_waits_for_approval_too_and_is_one_when_it_is_approved(careful):
    before = careful.library.org
    (done,) = approve(careful, staged(careful)["item_id"]).operations
    waiting = undo(careful, done, caller=OWNER)
    assert waiting["status"] == "submitted_for_approval"
    library = approve(careful, waiting["item_id"])
    assert (library.org, library.undone) == (before, {done})


def test_the_same_change_is_not_staged_twice(careful):
    staged(careful)
    assert staged(careful)["reason"] == "already_submitted"


def test_a_staged_operation_that_the_map_does_not_admit_any_more_is_refused_and_stays(careful):
    item = staged(careful)["item_id"]
    import_org(
        careful, MAP.replace("departments: [commerce]", "departments: [commerce, legal]"), caller=OWNER, replace=True
    )
    with pytest.raises(RefusedError) as told_:
        approve(careful, item)
    assert (told_.value.reason, careful.library.proposals[item].status) == ("no_change", "pending")


@pytest.mark.parametrize(("caller", "may"), [("person:marie", True), ("person:bob", False), ("agent:crm", False)])
def test_only_the_owner_or_who_validates_governance_may_approve(careful, caller, may):
    item = staged(careful)["item_id"]
    if may:
        assert len(governance.approve(careful.library, item, caller=caller)) == 2
    else:
        with pytest.raises(ForbiddenError):
            governance.approve(careful.library, item, caller=caller)


def test_who_validates_governance_may_approve(tmp_path):
    brain = brain_at(tmp_path, MAP.replace("[contracts]", "[governance]") + "meta_approval: true\n")
    item = staged(brain)["item_id"]
    assert len(governance.approve(brain.library, item, caller="person:lea")) == 2


# --- importing ------------------------------------------------------------------------------------------------


def test_the_same_file_again_changes_nothing_even_after_operations(brain):
    applied(brain, "assign_department", slug="bob", dept="legal")
    before = brain.log.head()
    assert not import_org(brain, MAP, caller=OWNER).accepted
    assert brain.log.head() == before


def test_a_changed_file_is_refused_with_the_operations_to_use_instead(brain):
    changed = MAP.replace("[legal, finance]", "[legal, commerce]").replace("write: [commerce]", "write: []")
    with pytest.raises(RefusedError) as told_:
        import_org(brain, changed, caller=OWNER)
    assert (told_.value.reason, told_.value.hint) == (
        "org_exists",
        (
            "change it with `falsify brain governance apply`: assign_department --slug lea --dept commerce; "
            "revoke_department --agent crm --dept commerce --mode write; "
            "unassign_department --slug lea --dept finance. "
            "Or accept it as a whole: `falsify brain org import FILE --replace`"
        ),
    )


def test_what_no_operation_changes_is_named_when_a_changed_file_is_refused(brain):
    with pytest.raises(RefusedError) as told_:
        import_org(brain, MAP.replace("Bob Petit", "Bob Grand"), caller=OWNER)
    assert (
        told_.value.hint
        == "no operation changes people like that. Accept it as a whole: `falsify brain org import FILE --replace`"
    )


def test_the_owner_may_replace_the_map_and_is_told_who_sees_more(brain):
    told_ = import_org(brain, MAP.replace("[legal]}", "[legal, finance]}"), caller=OWNER, replace=True)
    assert told_.accepted
    assert told_.warnings[-1] == "widening: agent:clerk may read more (department finance)"
    assert brain.library.org.agent("clerk").read == ("finance", "legal")


def test_a_map_with_a_fault_is_not_accepted_and_its_line_is_told(tmp_path):
    brain = brain_at(tmp_path, "")
    with pytest.raises(InvalidInputError, match=r"memory/org\.yaml, line 8, column 92: bob reports to 'mary'"):
        import_org(brain, MAP.replace("reports_to: marie", "reports_to: mary", 1), caller=OWNER)
    assert brain.library.org == EMPTY


def test_the_first_map_may_be_imported_by_the_owner_that_it_names_and_by_no_agent(tmp_path):
    brain = brain_at(tmp_path, "")
    for caller in ("agent:crm", "person:bob"):
        with pytest.raises(ForbiddenError):
            import_org(brain, MAP, caller=caller)
    assert import_org(brain, MAP, caller="person:marie").accepted


# --- commands -------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    with Workspace.init(tmp_path, environ={}):
        pass
    runner = CliRunner()

    def call(group, *words, code=False):
        told_ = runner.invoke(group, [*words, "-w", str(tmp_path)], standalone_mode=not code)
        return (told_.return_value, told_.output) if code else told_

    return call


@pytest.fixture
def imported(tmp_path, run):
    from surfaces.brain import Brain

    with Workspace.open(tmp_path, environ={}) as workspace:
        import_org(Brain(workspace), MAP, caller=OWNER)
    return run


def test_the_commands_preview_apply_and_undo_an_operation(imported):
    words = ("assign_department", "--slug", "bob", "--dept", "legal")
    assert imported(governance_group, "preview", *words).output.splitlines() == [
        "Before: Bob Petit (bob) is in: Commerce.",
        "After:  Bob Petit (bob) is in: Commerce and Legal affairs.",
        "Avant : Bob Petit (bob) appartient à : Commerce.",
        "Après : Bob Petit (bob) appartient à : Commerce et Legal affairs.",
        "Warning: widening: person:bob may read more (department legal)",
    ]
    done = orjson.loads(imported(governance_group, "apply", *words, "--json").output)["commit"]
    assert "is in: Commerce and Legal affairs." in imported(governance_group, "model").output
    assert imported(governance_group, "undo", done, "--dry-run").output.startswith("Before: Bob Petit (bob) is in: Com")
    assert imported(governance_group, "undo", done).output.startswith("Applied unassign_department as G-")
    assert isinstance(imported(governance_group, "undo", done).exception, RefusedError)
    assert [line.split()[2] for line in imported(governance_group, "log").output.splitlines()] == [
        "import",
        "assign_department",
        "unassign_department",
    ]


def test_the_vocabulary_is_listed_whole(run):
    lines = run(governance_group, "operations").output.splitlines()
    assert [line.split()[0] for line in lines] == list(OPERATIONS)
    assert "revoke_area --agent --area [--mode]: take a grant back" in "\n".join(lines)


def test_the_map_is_shown_as_a_file_that_draws_it(imported, tmp_path):
    shown = tmp_path / "shown.yaml"
    shown.write_text(imported(org_group, "show").output, encoding="utf-8")
    checked = imported(org_group, "check", str(shown))
    assert (checked.exit_code, checked.output.splitlines()[-1]) == (0, "It would be accepted.")


def test_checking_a_file_tells_all_its_faults_and_imports_nothing(run, tmp_path):
    file = tmp_path / "org.yaml"
    file.write_text(MAP.replace("[legal]}", "[leagl]}").replace("owner: marie", "owner: mary"), encoding="utf-8")
    code, output = run(org_group, "check", str(file), "--json", code=True)
    told_ = orjson.loads(output)
    assert (code, told_["valid"]) == (1, False)
    assert [each.split(": ")[1] for each in told_["errors"]] == ["unknown_department", "unknown_person"]


def test_a_file_is_imported_once_and_replaces_the_map_only_when_told_to(run, tmp_path):
    file = tmp_path / "org.yaml"
    file.write_text(MAP, encoding="utf-8")
    assert run(org_group, "import", str(file)).output.splitlines()[0] == "The map was accepted."
    assert run(org_group, "import", str(file)).output.splitlines()[0] == "Nothing new: this map was accepted before."
    file.write_text(MAP.replace("[legal]}", "[finance]}"), encoding="utf-8")
    assert isinstance(run(org_group, "import", str(file)).exception, RefusedError)
    lines = run(org_group, "import", str(file), "--replace").output.splitlines()
    assert (lines[0], lines[-1]) == (
        "The map was accepted.",
        "warning: widening: agent:clerk may read more (department finance)",
    )
