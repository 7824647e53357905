"""Tokens let people and agents in over HTTP: made and taken back by people, kept as digests, gone at once."""

import hashlib
import json

import pytest
from click.testing import CliRunner

from cli import cli
from falsify.access.events import TokenCreated, TokenRevoked
from falsify.access.tokens import Access, Token, bearer, create_token, digest, evolve, revoke_token
from falsify.clock import SteppingClock
from falsify.errors import ForbiddenError, InvalidInputError, NotFoundError
from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from projections.access import ACCESS
from surfaces.mcp.tokens import STREAM, Tokens
from surfaces.workspace import Workspace

SECRET = "flsf_" + "x" * 43
KNOWN = hashlib.sha256(SECRET.encode()).hexdigest()
CREATED = TokenCreated(
    token_id=f"T-{KNOWN[:16]}",
    digest=KNOWN,
    identity="agent:bob",
    projects=("p1", "p2"),
    created_by="person:ann",
    expires_at=100,
)


def made(**changes):
    """Decide to make a token."""
    terms = {"identity_": "agent:bob", "projects": ("p1",), "expires_at": 0, "caller": "owner"}
    return create_token(SECRET, **{**terms, **changes})


def held(*events):
    """Return the tokens after the events."""
    access = Access()
    for event in events:
        evolve(access, event)
    return access


def tokens(start=0, step=1_000_000):
    """Return the tokens of an empty log whose clock goes on a second with each look."""
    clock = SteppingClock(start, step)
    return Tokens(EventLog(MemoryRecorder(), clock=clock), clock)


# --- deciding -------------------------------------------------------------------------------------------------


def test_making_a_token_records_its_digest_and_everything_else_about_it():
    assert made(projects=("p2", "p1", "p2"), expires_at=100, caller="person:ann") == CREATED


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"caller": "agent:bob"}, ForbiddenError),
        ({"identity_": "person:zoe", "caller": "person:ann"}, ForbiddenError),
        ({"identity_": "owner", "caller": "person:ann"}, ForbiddenError),
        ({"identity_": "agent:"}, InvalidInputError),
        ({"identity_": "agent:two words"}, InvalidInputError),
        ({"projects": ("../p1",)}, InvalidInputError),
    ],
)
def test_nobody_makes_a_token_that_is_not_theirs_to_make_or_names_nothing(changes, error):
    with pytest.raises(error):
        made(**changes)


def test_a_person_makes_tokens_of_agents_and_of_themself_and_the_owner_those_of_others():
    told = [
        made(caller="person:ann").identity,
        made(caller="person:ann", identity_="person:ann").identity,
        made(caller="owner", identity_="person:zoe").identity,
    ]
    assert told == ["agent:bob", "person:ann", "person:zoe"]


def test_a_token_is_revoked_once_by_a_person_and_only_if_there_is_one():
    revoked = TokenRevoked(token_id=CREATED.token_id, revoked_by="owner")
    assert revoke_token(held(CREATED).tokens, CREATED.token_id, caller="owner") == [revoked]
    assert revoke_token(held(CREATED, revoked).tokens, CREATED.token_id, caller="person:ann") == []
    with pytest.raises(NotFoundError):
        revoke_token({}, CREATED.token_id, caller="owner")
    with pytest.raises(ForbiddenError):
        revoke_token(held(CREATED).tokens, CREATED.token_id, caller="agent:bob")


# --- holding --------------------------------------------------------------------------------------------------


def test_a_token_is_known_until_the_moment_at_which_it_expires():
    known = Token(CREATED.token_id, KNOWN, "agent:bob", ("p1", "p2"), "person:ann", 100)
    told = [bearer(held(CREATED), SECRET, now=now) for now in (0, 99, 100, 101)]
    assert told == [known, known, None, None]


@pytest.mark.parametrize("other", ["", SECRET[:-1], SECRET + "x", SECRET.upper(), KNOWN, CREATED.token_id])
def test_what_is_not_the_token_itself_is_unknown(other):
    assert bearer(held(CREATED), other, now=0) is None


def test_a_revoked_token_is_unknown_and_says_by_whom():
    access = held(CREATED, TokenRevoked(token_id=CREATED.token_id, revoked_by="owner"))
    assert bearer(access, SECRET, now=0) is None
    assert (access.tokens[CREATED.token_id].status(0), access.tokens[CREATED.token_id].revoked_by) == (
        "revoked",
        "owner",
    )


# --- in the log -----------------------------------------------------------------------------------------------


def test_every_token_is_another_and_the_log_holds_none_of_them():
    kept = tokens()
    pairs = [kept.create(identity="agent:bob", caller="owner") for _ in range(20)]
    recorded = repr(list(kept._log.read()))
    assert len({secret for secret, _ in pairs}) == 20
    assert all(len(secret) == 48 and secret.startswith("flsf_") for secret, _ in pairs)
    assert not [secret for secret, _ in pairs if secret in recorded or secret[5:] in recorded]
    assert [known.digest for _, known in pairs] == [digest(secret) for secret, _ in pairs]


def test_a_token_that_another_process_takes_back_is_unknown_to_the_next_request():
    here = tokens()
    elsewhere = Tokens(here._log, here._clock)
    secret, known = here.create(identity="agent:bob", projects=["p1"], caller="owner")
    before = elsewhere.bearer(secret)
    here.revoke(known.id, caller="owner")
    assert (before, elsewhere.bearer(secret)) == (known, None)


def test_a_token_expires_by_the_clock_of_the_workspace():
    kept = tokens(step=10_000_000)  # ten seconds with each look
    secret, _ = kept.create(identity="agent:bob", ttl=25, caller="owner")
    told = [kept.bearer(secret) is not None for _ in range(4)]
    assert told == sorted(told, reverse=True)
    assert told[-1] is False


def test_tokens_are_a_projection_of_their_stream():
    kept = tokens()
    _, first = kept.create(identity="agent:bob", caller="owner")
    kept.create(identity="person:ann", caller="owner")
    kept.revoke(first.id, caller="owner")
    records = list(kept._log.read(stream=STREAM))
    halves = ACCESS.fold(records[2:], ACCESS.fold(records[:2]))
    assert ACCESS.fold(records) == halves == kept.access


# --- at the command line --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    Workspace.init(tmp_path).close()
    return tmp_path


def run(folder, *words, env=None):
    return CliRunner().invoke(cli, ["-w", str(folder), *words], env=env)


def test_a_token_is_printed_alone_on_standard_output_and_listed_without_itself(folder):
    told = run(folder, "token", "create", "--agent", "bob", "--project", "p1", "--project", "p2", "--ttl", "12h")
    secret = told.stdout.strip()
    (row,) = json.loads(run(folder, "token", "list", "--json").stdout)
    listed = run(folder, "token", "list").stdout
    expires_at = row.pop("expires_at")
    assert row == {
        "id": f"T-{digest(secret)[:16]}",
        "identity": "agent:bob",
        "projects": ["p1", "p2"],
        "status": "valid",
        "created_by": "owner",
        "revoked_by": None,
    }
    assert listed == f"{row['id']}  agent:bob  p1, p2  until {expires_at}, made by owner\n"
    assert secret not in listed
    assert row["id"] in told.stderr


def test_a_project_before_the_command_narrows_the_token_too(folder):
    told = CliRunner().invoke(
        cli, ["-w", str(folder), "--project", "p1", "token", "create", "--person", "ann", "--ttl", "never", "--json"]
    )
    row = json.loads(told.stdout)
    assert (row["identity"], row["projects"], row["expires_at"]) == ("person:ann", ["p1"], None)


def test_revoking_says_who_did_it(folder):
    row = json.loads(run(folder, "token", "create", "--agent", "bob", "--json").stdout)
    told = run(folder, "token", "revoke", row["id"], env={"FALSIFY_ACTOR": "person:ann"})
    assert told.stdout == f"{row['id']}  agent:bob  every project  revoked by person:ann, made by owner\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("create",), InvalidInputError),
        (("create", "--agent", "bob", "--person", "ann"), InvalidInputError),
        (("create", "--agent", "bob", "--ttl", "0d"), InvalidInputError),
        (("create", "--agent", "bob", "--ttl", "4000d"), InvalidInputError),
        (("create", "--agent", "bob", "--ttl", "soon"), InvalidInputError),
        (("revoke", "T-0"), NotFoundError),
    ],
)
def test_what_cannot_be_made_or_revoked_is_refused_in_words(folder, words, error):
    assert type(run(folder, "token", *words).exception) is error


@pytest.mark.parametrize("words", [("create", "--agent", "bob"), ("list",), ("revoke", "T-0")])
def test_agents_have_nothing_to_do_with_tokens(folder, words):
    told = run(folder, "token", *words, env={"FALSIFY_ACTOR": "agent:bob"})
    assert type(told.exception) is ForbiddenError
