"""Strangers' words become values: ids, clean texts and moments."""

import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from falsify.belief.text import MAX_TEXT, clean, end_of, moment, node_id, normalise, written
from falsify.errors import InvalidInputError

texts = st.text(max_size=40)
CASES = settings(max_examples=200, deadline=None)


@pytest.mark.parametrize(
    "same",
    [
        "The report was back-dated",
        "  the  REPORT was\nback-dated. ",
        "The report was back-dated...",
        "The report was back-dated . .",
        "The\u00a0report was\u2003back-dated",
        "Ｔｈｅ report was back-dated",
    ],
)
def test_wordings_that_differ_only_in_form_are_the_same_belief(same):
    assert node_id("evidence", same) == node_id("evidence", "The report was back-dated")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The report was back-dated", "The report was not back-dated"),
        ("It weighs 1.5 kg", "It weighs 15 kg"),
        ("Is it so?", "It is so"),
        ("Straße", "Strase"),
    ],
)
def test_other_words_are_another_belief(one, other):
    assert node_id("evidence", one) != node_id("evidence", other)


def test_the_same_words_of_another_kind_or_question_are_another_belief():
    kinds = ("question", "hypothesis", "evidence", "conclusion")
    ids = [node_id(kind, "So it is", question_id=q) for kind in kinds for q in ("", "Q-1", "Q-2")]
    assert len(set(ids)) == len(ids)
    assert [i[0] for i in ids[::3]] == ["Q", "H", "E", "C"]
    assert all(len(i) == 18 for i in ids)


@CASES
@given(texts)
@example("a . .")
@example("ǰ. ͅ")
@example("ᾳ ̓")
@example("K․")
def test_normalising_twice_is_normalising_once(text):
    assert normalise(normalise(text)) == normalise(text)


@CASES
@given(texts)
def test_unicode_form_and_case_never_matter(text):
    assert normalise(unicodedata.normalize("NFD", text)) == normalise(text)
    assert normalise(unicodedata.normalize("NFC", text)) == normalise(text)
    assert normalise(text.casefold()) == normalise(text)


@CASES
@given(st.text(st.characters(categories=["Cs", "Cc", "Ll"]), max_size=20))
def test_an_id_can_be_asked_of_anything(text):
    assert node_id("evidence", text).startswith("E-")


@CASES
@given(texts)
def test_what_is_clean_stays_clean_and_keeps_its_id(text):
    try:
        cleaned = clean(text, what="the claim")
    except InvalidInputError:
        return
    assert clean(cleaned, what="the claim") == cleaned
    assert node_id("evidence", cleaned) == node_id("evidence", text)
    cleaned.encode()


@pytest.mark.parametrize("empty", ["", "  \n", ".", " . . ", "\t...\n"])
def test_an_empty_text_is_refused(empty):
    with pytest.raises(InvalidInputError, match="the claim is empty"):
        clean(empty, what="the claim")


@pytest.mark.parametrize(
    ("character", "code"), [("\0", "0000"), ("\x1b", "001B"), ("\x9f", "009F"), ("\ud800", "D800")]
)
def test_an_invisible_control_character_is_refused_and_named(character, code):
    with pytest.raises(InvalidInputError, match=rf"U\+{code} at position 3"):
        clean(f"ab{character}c", what="the claim")


def test_a_text_of_several_lines_is_kept_as_it_is():
    assert clean(" one\n\ttwo \r\n", what="the quote") == "one\n\ttwo"


def test_the_limit_is_the_last_length_that_is_taken():
    assert clean("x" * MAX_TEXT, what="the claim")
    with pytest.raises(InvalidInputError, match="20,001 characters"):
        clean("x" * (MAX_TEXT + 1), what="the claim")


@pytest.mark.parametrize(
    ("written_so", "means"),
    [
        ("2021-03-15", "2021-03-15"),
        (" 2021-03-15 ", "2021-03-15"),
        ("20210315", "2021-03-15"),
        ("2021-W11-1", "2021-03-15"),
        ("2021-03-15T14:30", "2021-03-15T14:30:00Z"),
        ("2021-03-15 14:30:05.9", "2021-03-15T14:30:05Z"),
        ("2021-03-15T14:30:00+02:00", "2021-03-15T12:30:00Z"),
        ("2021-03-15T23:30:00-02:00", "2021-03-16T01:30:00Z"),
        ("2021-03-15T14:30:00Z", "2021-03-15T14:30:00Z"),
        ("0044-03-15", "0044-03-15"),
        ("0044-03-15T12:00", "0044-03-15T12:00:00Z"),
    ],
)
def test_a_moment_is_a_date_or_a_second_in_utc(written_so, means):
    assert moment(written_so) == means
    assert moment(means) == means


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "yesterday",
        "2021-02-30",
        "2021-13-01",
        "2021-03",
        "15.3.2021",
        "2021-03-15T25:00",
        "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:59:59-05:00",
        "٢٠٢١-٠٣-١٥",
    ],
)
def test_what_is_not_in_the_calendar_is_refused(wrong):
    with pytest.raises(InvalidInputError, match=r"asserted_at .* is not a date"):
        moment(wrong, what="asserted_at")


@CASES
@given(st.datetimes(timezones=st.timezones()) | st.datetimes())
def test_every_time_that_utc_can_tell_is_a_moment_that_sorts_by_time(time):
    try:
        instant = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return
    told = moment(time.isoformat())
    assert len(told) == len("2021-03-15T14:30:00Z")
    assert told[:10] == instant.date().isoformat()
    assert written(end_of(told)) == told


@CASES
@given(st.dates(max_value=date(9999, 12, 30)))
def test_a_date_covers_its_whole_day_in_utc(day):
    last = end_of(day.isoformat())
    assert written(last) == f"{day.isoformat()}T23:59:59Z"
    assert written(last + 1) == f"{(day + timedelta(days=1)).isoformat()}T00:00:00Z"


def test_a_second_covers_all_its_microseconds():
    noon = int(datetime(2021, 3, 15, 12, tzinfo=timezone.utc).timestamp()) * 1_000_000  # noqa: UP017 - both names are fine
    assert end_of("2021-03-15T12:00:00Z") == noon + 999_999
