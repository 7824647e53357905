"""Keeps a Python process off the network: any address that is not loopback is refused, and written down.

The test session loads this itself, and every Python it starts finds it on PYTHONPATH under the one name that Python
imports on its own, so that `falsify` in a child process is held to the same rule. A refusal is an ordinary
"connection refused", which a library may swallow: tests/conftest.py fails the test by what was written down.
"""

import os
import sys

RECORD = "FALSIFY_TEST_NETWORK"
"""The variable that names the file in which attempts are written down; without it nothing is guarded."""

# Audit events that name where a packet or a question would go, and the argument that says so.
_WHERE = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}


def _refuse(event, arguments):
    where = _WHERE.get(event)
    if where is None:
        return
    address = arguments[where]
    host = address[0] if isinstance(address, tuple) and address else address
    if _is_here(host, is_address=event != "socket.getaddrinfo"):
        return
    with open(os.environ[RECORD], "a", encoding="utf-8") as record:  # noqa: PTH123 - pathlib would cost every child
        record.write(f"{event} {address!r} by {' '.join(sys.argv[:3])}\n")
    raise ConnectionRefusedError(f"tests never reach the network: {event} {address!r}")


def _is_here(host, *, is_address):
    if isinstance(host, bytes):
        # Bytes as an address are a Unix socket's; bytes as a name are a name.
        if is_address:
            return True
        host = host.decode("idna")
    if not isinstance(host, str) or not host:
        return True
    return host in {"localhost", "::1", "::", "0.0.0.0"} or host.startswith(("127.", "/", "\0"))  # noqa: S104


if os.environ.get(RECORD):
    sys.addaudithook(_refuse)
