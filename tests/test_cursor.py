"""A cursor continues the listing it was given out for, and nothing else passes for one."""

import base64
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from falsify.errors import InvalidInputError
from surfaces.tools.cursor import MAX_LENGTH, Cursor, seal, unseal

CASES = settings(max_examples=300, deadline=None)
LISTING = {"tool": "falsify.ticket.list", "project_id": "P-1", "status": ["QUEUED"], "sort": "rank"}
CURSOR = Cursor(7, (0.25, 1700000000, "T-12"))

numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
keys = st.lists(numbers | st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=4).map(tuple)
cursors = st.builds(Cursor, st.integers(0, 2**53 - 1), keys)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
listings = st.dictionaries(words, words | st.booleans() | st.lists(words, max_size=2), max_size=3)


def refused(text, bound=None):
    with pytest.raises(InvalidInputError) as caught:
        unseal(text, bound=LISTING if bound is None else bound)
    assert caught.value.reason == "bad_cursor"
    return caught.value.message


@CASES
@given(cursors, listings)
def test_what_was_sealed_is_unsealed_of_the_same_types(cursor, bound):
    text = seal(cursor, bound=bound)
    again = unseal(text, bound=bound)
    assert (again, [type(each) for each in again.key]) == (cursor, [type(each) for each in cursor.key])
    assert 1 <= len(text) <= MAX_LENGTH
    assert text.replace("-", "").replace("_", "").isalnum()


def test_the_order_of_the_filters_does_not_matter():
    assert seal(CURSOR, bound=dict(reversed(LISTING.items()))) == seal(CURSOR, bound=LISTING)


@pytest.mark.parametrize(
    "other",
    [{"tool": "falsify.graph.get"}, {"project_id": "P-2"}, {"status": []}, {"sort": "priority"}, {"pinned": True}],
)
def test_a_cursor_of_another_listing_is_told_apart_from_garbage(other):
    text = seal(CURSOR, bound=LISTING | other)
    assert refused(text) == "the cursor belongs to another listing"


@CASES
@given(cursors, st.data())
def test_a_cursor_in_which_one_character_changed_is_garbage(cursor, data):
    text = seal(cursor, bound=LISTING)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda each: each != text[place]))
    assert refused(text[:place] + other + text[place + 1 :]) == "the cursor is not one that Falsify gave out"


@CASES
@given(cursors, st.data())
def test_a_cursor_that_was_cut_or_grew_is_garbage(cursor, data):
    text = seal(cursor, bound=LISTING)
    end = data.draw(st.integers(0, len(text) - 1))
    tail = data.draw(st.text(min_size=1, max_size=8))
    assert {refused(text[:end]), refused(text + tail)} == {"the cursor is not one that Falsify gave out"}


def test_another_spelling_of_the_same_bytes_is_garbage():
    text = seal(Cursor(10, ()), bound=LISTING)
    spellings = {each: base64.urlsafe_b64decode(text[:-1] + each + "===") for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    same = [each for each, raw in spellings.items() if raw == base64.urlsafe_b64decode(text + "===")]
    assert {refused(text[:-1] + each) for each in same if each != text[-1]} == {
        "the cursor is not one that Falsify gave out"
    }
    assert refused(text + "=") == "the cursor is not one that Falsify gave out"


@CASES
@given(st.text(max_size=300) | st.binary(max_size=200).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_garbage_is_refused_and_never_fails_otherwise(text):
    refused(text)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[1]",
        b"[1,[],2]",
        b'{"revision":1}',
        b"[-1,[]]",
        b"[true,[]]",
        b"[1.0,[]]",
        b"[1,[null]]",
        b"[1,[true]]",
        b"[1,[[2]]]",
        b'["1",[]]',
        b'[1,"ab"]',
        b"[1,[1e999]]",
        b"[1, []]",
        b'[1,["\xff"]]',
    ],
)
def test_a_cursor_that_somebody_made_with_the_right_digests_is_still_read_with_care(body):
    honest = seal(Cursor(1, ()), bound=LISTING)
    assert honest == forged(b"[1,[]]")
    assert refused(forged(body)) == "the cursor is not one that Falsify gave out"


def forged(body):
    """Return a cursor of any body, made as anybody can who has read the source."""

    def digest(data, size):
        return hashlib.blake2b(data, digest_size=size).digest()

    told = digest(json.dumps(LISTING, sort_keys=True, separators=(",", ":")).encode(), 8) + body
    return base64.urlsafe_b64encode(digest(told, 4) + told).decode().rstrip("=")


def test_a_key_too_long_for_a_cursor_is_a_fault_of_the_listing():
    longest = Cursor(2**53 - 1, (0.1234567890123456, 1893456000000000, "T" * 64))
    assert unseal(seal(longest, bound=LISTING), bound=LISTING) == longest
    with pytest.raises(ValueError, match="at most 256"):
        seal(Cursor(0, ("T" * 200,)), bound=LISTING)


def test_a_key_that_json_does_not_have_is_refused_when_it_is_sealed():
    with pytest.raises(InvalidInputError, match="not finite"):
        seal(Cursor(0, (float("nan"),)), bound=LISTING)
