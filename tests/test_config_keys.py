"""Config keys: what each admits, how it is written, and when two configurations are one."""

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from falsify.config_keys import LONGEST_TEXT, Key, admit_all, fingerprint, parse_key
from falsify.errors import InvalidInputError
from tests.workbench_world import refused

WIDTH = Key(name="width", type="int", minimum=1, maximum=512)
RATE = Key(name="rate", type="float", minimum=0, maximum=10, exclusive=True)
ACTIVATION = Key(name="activation", type="choice", choices=("tanh", "relu"))
CORPUS = Key(name="corpus", type="text")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("width=int:[1,512]", WIDTH),
        ("rate=float:(0,10]", RATE),
        (" rate=float: (0 , 10] ".strip(), RATE),
        ("activation=choice:tanh, relu", ACTIVATION),
        ("corpus=text", CORPUS),
        ("shift=float:[-1e-3,1e3]", Key(name="shift", type="float", minimum=-0.001, maximum=1000)),
        ("fixed=int:[5,5]", Key(name="fixed", type="int", minimum=5, maximum=5)),
    ],
)
def test_a_key_is_written_as_name_type_and_range(text, key):
    assert parse_key(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "width",
        "width=",
        "=int:[1,2]",
        "1width=int:[1,2]",
        "width=integer:[1,2]",
        "width=int",
        "width=int:1,2",
        "width=int:[1,2)",
        "width=int:[2,1]",
        "width=int:[nan,2]",
        "width=int:[1,nan]",
        "width=int:[1,inf]",
        "width=int:[-inf,1]",
        "width=int:[a,2]",
        "activation=choice:",
        "activation=choice:tanh,,relu",
        "activation=choice:tanh,tanh",
    ],
)
def test_what_describes_no_key_is_refused(text):
    assert refused(parse_key, text) == ("invalid_request", "")


@pytest.mark.parametrize(
    ("key", "value", "admitted"),
    [
        (WIDTH, 1, 1),
        (WIDTH, 512.0, 512),
        (RATE, 10, 10.0),
        (RATE, 5e-324, 5e-324),
        (ACTIVATION, "relu", "relu"),
        (CORPUS, "data/a b.csv", "data/a b.csv"),
        (CORPUS, "", ""),
    ],
)
def test_a_value_is_admitted_in_the_type_of_the_key(key, value, admitted):
    assert (key.admit(value), type(key.admit(value))) == (admitted, type(admitted))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((WIDTH, v) for v in (0, 513, 1.5, True, "8", None, [8], math.nan, math.inf, 10**400, -(10**400))),
        *((RATE, v) for v in (0, -0.0, 10.1, False, "0.1", math.nan, math.inf, -math.inf, 10**400)),
        *((ACTIVATION, v) for v in ("Tanh", "", None, 0, ["tanh"], {"tanh": 1})),
        *((CORPUS, v) for v in (1, None, "a\nb", "a\0b", "\u202eb", "x" * (LONGEST_TEXT + 1))),
    ],
)
def test_a_value_out_of_range_is_refused(key, value):
    assert refused(key.admit, value) == ("invalid_request", "out_of_range")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [(WIDTH, "64", 64), (RATE, "0.5", 0.5), (RATE, "1e-3", 0.001), (ACTIVATION, "relu", "relu"), (CORPUS, "7", "7")],
)
def test_what_a_person_types_is_read_in_the_type_of_the_key(key, text, value):
    assert key.read(text) == value


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (WIDTH, "wide"),
        (WIDTH, "64.5"),
        (WIDTH, "9" * 400),
        (WIDTH, "9" * 5000),
        (RATE, "nan"),
        (RATE, ""),
        (RATE, "1e999"),
    ],
)
def test_what_a_person_types_out_of_range_is_refused(key, text):
    assert refused(key.read, text) == ("invalid_request", "out_of_range")


def test_a_refusal_says_the_bounds():
    bounds = [key.bounds for key in (WIDTH, RATE, ACTIVATION)]
    assert bounds == ["a whole number in [1, 512]", "a number in (0, 10]", "one of tanh, relu"]


def test_a_configuration_is_in_the_order_of_the_keys_whatever_order_it_was_given_in():
    assert list(admit_all([WIDTH, RATE], {"rate": 1, "width": 8.0}).items()) == [("width", 8), ("rate", 1.0)]


def test_a_key_that_there_is_not_is_refused():
    assert refused(admit_all, [WIDTH], {"depth": 3}) == ("invalid_request", "unknown_key")


def test_one_configuration_has_one_fingerprint_however_its_numbers_are_written():
    keys = [WIDTH, RATE]
    written = [{"width": 8, "rate": 1}, {"rate": 1.0, "width": 8.0}]
    assert len({fingerprint(admit_all(keys, config)) for config in written}) == 1


ends = st.integers(-20, 20)
numbers = st.builds(
    lambda low, more, exclusive, kind: Key(name="k", type=kind, minimum=low, maximum=low + more, exclusive=exclusive),
    ends,
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from(["int", "float"]),
)


@given(one=numbers, other=numbers, value=st.integers(-50, 50).map(lambda n: n / 2))
def test_a_key_within_another_admits_nothing_that_the_other_does_not(one, other, value):
    if one.within(other) and admits(one, value):
        assert admits(other, value)


@given(key=numbers)
def test_a_key_is_within_itself_and_reads_back_as_it_is_written(key):
    assert key.within(key)
    assert parse_key(f"k={key.type}:{key.interval}") == key


@given(key=numbers, value=st.floats() | st.integers())
def test_what_is_admitted_once_is_admitted_again_and_is_the_same(key, value):
    if admits(key, value):
        assert key.admit(key.admit(value)) == value


@pytest.mark.parametrize(
    ("narrow", "wide", "fits"),
    [
        (Key(name="a", type="choice", choices=("x",)), Key(name="a", type="choice", choices=("x", "y")), True),
        (Key(name="a", type="choice", choices=("x", "z")), Key(name="a", type="choice", choices=("x", "y")), False),
        (Key(name="a", type="int", minimum=1, maximum=2), Key(name="a", type="float", minimum=0, maximum=9), False),
        (CORPUS, CORPUS, True),
    ],
)
def test_choices_and_types_are_within_each_other_or_not(narrow, wide, fits):
    assert narrow.within(wide) is fits


def admits(key, value):
    try:
        key.admit(value)
    except InvalidInputError:
        return False
    return True


@pytest.mark.parametrize("text", ["k=float:(5,5]", "k=int:(5,5.5]", "k=int:[0.2,0.8]"])
def test_an_interval_that_admits_nothing_is_refused(text):
    assert refused(parse_key, text) == ("invalid_request", "")


def test_an_interval_is_told_with_all_its_digits():
    assert parse_key("k=int:[1,123456789]").interval == "[1, 123456789]"
    assert parse_key("k=float:(0.0000001,2.5]").interval == "(1e-07, 2.5]"


def test_a_number_that_no_float_can_hold_is_out_of_range():
    assert refused(parse_key("k=int:[1,512]").admit, 10**400) == ("invalid_request", "out_of_range")
