"""What the import contracts cannot see: the domain asks neither clock nor disk, and nothing that differs by process."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OWN_FILES = {"claims.py", "golden.py", "recording.py", "scenario.py"}
DOMAIN = [
    *(ROOT / "falsify" / "belief").glob("*.py"),
    *(
        path
        for package in ("projections", "replay")
        for path in (ROOT / package).glob("*.py")
        if path.name not in OWN_FILES
    ),
]

OUTSIDE = {"open", "input", "print", "__import__"}
BY_PROCESS = {"hash", "id"}  # the hash of a string and the place of an object differ from process to process
CLOCKS = {"now", "today", "utcnow"}


@pytest.mark.parametrize("path", DOMAIN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_domain_calls_nothing_that_a_replay_could_not_repeat(path):
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    named = {call.id for call in calls if isinstance(call, ast.Name)} & (OUTSIDE | BY_PROCESS)
    asked = {ast.unparse(call) for call in calls if isinstance(call, ast.Attribute) and call.attr in CLOCKS}
    assert named | asked == set()


def test_the_domain_is_where_this_looks_for_it():
    assert {"falsify/belief/labelling.py", "projections/beliefs.py", "replay/cutoff.py"} <= {
        path.relative_to(ROOT).as_posix() for path in DOMAIN
    }
