"""Curves: every value has its place, a gap stays a gap, and nothing that a run reports breaks the picture."""

import sys
from xml.etree import ElementTree as ET

import hypothesis.strategies as st
import pytest
from hypothesis import given

from surfaces.lines.plots import Curve, curve, svg, terminal

values = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
SVG = "{http://www.w3.org/2000/svg}"


def parsed(picture):
    return ET.fromstring(picture)  # noqa: S314 - we have drawn it ourselves


def drawn(*heights):
    return Curve("loss", tuple((float(x), y) for x, y in enumerate(heights, 1)))


def test_a_curve_goes_by_the_epochs_that_its_lines_name():
    lines = [{"epoch": 2.0, "loss": 0.5}, {"epoch": 4.0, "other": 1.0}, {"epoch": 6.0, "loss": None}]
    assert curve(lines, "loss") == Curve("loss", ((2.0, 0.5), (6.0, None)))


@pytest.mark.parametrize("epochs", [(None, 2.0), (2.0, 1.0), (1.0, 1.0)], ids=["unknown", "backwards", "twice"])
def test_a_curve_without_epochs_in_order_goes_by_the_number_of_its_values(epochs):
    lines = [{"epoch": epoch, "loss": 0.5} for epoch in epochs]
    assert curve(lines, "loss").points == ((1.0, 0.5), (2.0, 0.5))


def test_a_rising_line_is_drawn_in_braille_from_lower_left_to_upper_right():
    assert list(terminal(drawn(0.0, 1.0), width=8, height=4)) == [
        "1 ┤      ⡠⠊",
        "  ┤    ⡠⠊",
        "  ┤  ⡠⠊",
        "0 ┤⡠⠊",
        "  └────────",
        "   1 loss 2",
    ]


def test_a_terminal_without_unicode_gets_asterisks():
    assert list(terminal(drawn(0.0, 1.0, 2.0), width=3, height=3, unicode=False)) == [
        "2 |  *",
        "  | *",
        "0 |*",
        "  +---",
        "   1loss3",
    ]


def test_a_value_that_is_not_finite_leaves_a_gap():
    assert drawn(1.0, None, 2.0, 3.0).pieces() == [[(1.0, 1.0)], [(3.0, 2.0), (4.0, 3.0)]]


def test_a_curve_without_a_finite_value_is_no_lines_and_says_so_as_a_picture():
    assert list(terminal(drawn(None, None))) == []
    assert "no finite value of loss" in svg(drawn(None), title="run R-1")


def test_a_picture_is_well_formed_whatever_its_title_says():
    picture = parsed(svg(drawn(0.25, 0.5, None, 0.75), title='<script>&"\x00'))
    assert picture.find(f"{SVG}title").text == '<script>&" '
    assert len(picture.findall(f"{SVG}polyline")) == 1
    assert len(picture.findall(f"{SVG}circle")) == 1


def test_the_scale_of_a_picture_has_round_numbers():
    picture = parsed(svg(drawn(0.0, 1.0), title="t"))
    texts = [each.text for each in picture.findall(f"{SVG}text")]
    assert texts[1:7] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


@given(st.lists(values, max_size=40))
def test_any_values_can_be_drawn_and_fill_no_more_than_their_room(heights):
    told = list(terminal(drawn(*heights), width=20, height=4))
    assert len(told) in {0, 6}
    assert all(len(line) < 60 for line in told)
    parsed(svg(drawn(*heights), title="any"))


@pytest.mark.parametrize("height", [0.0, -3.5, 5e-324, 1e300])
def test_a_value_that_never_changes_is_a_level_line_in_the_middle(height):
    told = list(terminal(drawn(height, height), width=4, height=3, unicode=False))
    assert [line.partition("|")[2] for line in told[:3]] == ["", "****", ""]


@pytest.mark.parametrize("height", [sys.float_info.max, -sys.float_info.max])
def test_the_largest_numbers_have_a_scale_too(height):
    told = list(terminal(drawn(height, height), width=4, height=3, unicode=False))
    assert sum("****" in line for line in told) == 1
