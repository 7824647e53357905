"""The guard that keeps tests off the network is itself on duty, here and in every child process."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ELSEWHERE = "192.0.2.1"  # TEST-NET-1: an address that is nobody's
ATTEMPT = f"""
import socket
try:
    socket.create_connection(("{ELSEWHERE}", 80), timeout=1)
except OSError as error:
    print(error)
"""


@pytest.fixture
def attempts():
    """Return what was written down so far, and wipe it so that the test that asked for it does not fail."""

    def read():
        record = Path(os.environ["FALSIFY_TEST_NETWORK"])
        told = record.read_text(encoding="utf-8") if record.exists() else ""
        record.unlink(missing_ok=True)
        return told

    return read


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: socket.create_connection((ELSEWHERE, 80), timeout=1),
        lambda: socket.getaddrinfo("example.invalid", 80),
        lambda: socket.gethostbyname("example.invalid"),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"?", (ELSEWHERE, 53)),
    ],
)
def test_whatever_leaves_the_machine_is_refused_and_written_down(attempt, attempts):
    with pytest.raises(ConnectionRefusedError, match="tests never reach the network"):
        attempt()
    assert attempts().startswith("socket.")


def test_a_child_process_is_held_to_the_same_rule(attempts):
    child = subprocess.run([sys.executable, "-c", ATTEMPT], capture_output=True, text=True, check=True)
    assert child.stdout.startswith("tests never reach the network")
    assert ELSEWHERE in attempts()


def test_loopback_is_free(attempts):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
    assert attempts() == ""


def test_nothing_of_the_person_who_runs_the_tests_reaches_them():
    assert [name for name in os.environ if name.startswith(("LLM_", "DEMO_MODE"))] == []
    assert Path.home() == Path(os.environ["XDG_CONFIG_HOME"])
