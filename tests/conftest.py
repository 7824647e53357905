"""What holds for every test: no network, no settings of whoever runs them, and the same examples in CI every time."""

import importlib
import os
import re
import shutil
import tempfile
from pathlib import Path

import hypothesis
import pytest

OURS = re.compile(
    r"LLM_\w+|EMBEDDING_\w+|COGNEE_\w+|DEMO_MODE|REFUTED_ID|FALSIFY_(?!TEST_|CRASH_)\w+|(NO|FORCE)_COLOR|CLICOLOR\w*"
)
"""What the program reads from the environment; FALSIFY_TEST_* and FALSIFY_CRASH_* are the tests' own."""

hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")

_environment = pytest.MonkeyPatch()
_home = Path(tempfile.mkdtemp(prefix="falsify-tests-"))
_attempts = _home / "network-attempts"


def pytest_configure() -> None:
    """Take away what the person at the keyboard has set, and the network."""
    for name in list(os.environ):
        if OURS.fullmatch(name):
            _environment.delenv(name)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        _environment.setenv(name, str(_home))
    _environment.setenv("FALSIFY_TEST_NETWORK", str(_attempts))
    _environment.setenv("PYTHONPATH", str(Path(__file__).parent / "no_network"), prepend=os.pathsep)
    importlib.import_module("tests.no_network.sitecustomize")


def pytest_unconfigure() -> None:
    """Give back what was taken; the audit hook stays for the rest of the process."""
    _environment.undo()
    os.environ["FALSIFY_TEST_NETWORK"] = os.devnull
    shutil.rmtree(_home, ignore_errors=True)


@pytest.fixture(autouse=True)
def network_guard():
    """Fail a test that tried to reach anything but this machine, in this process or in a child of it."""
    yield
    if _attempts.exists():
        told = _attempts.read_text(encoding="utf-8")
        _attempts.unlink()
        pytest.fail(f"the test tried to reach the network:\n{told}", pytrace=False)


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Return the folder of public data sets, or skip where nobody has named it."""
    named = os.environ.get("FALSIFY_TEST_DATA")
    if not named:
        pytest.skip("FALSIFY_TEST_DATA does not name the folder of public data")
    return Path(named)
