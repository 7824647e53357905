"""The server over HTTP among those who mean it no good: they connect and wait, open without end, and go away."""

import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cli import cli
from falsify.errors import InvalidInputError
from surfaces.mcp.desk import Desk
from surfaces.mcp.http import connections, serving, sessions
from surfaces.mcp.http.connections import Stage
from surfaces.mcp.http.names import Names, host_name
from surfaces.mcp.http.serving import Address, HttpServer, allowed, by_token, http_app, listen
from surfaces.mcp.server import make_server
from surfaces.mcp.tokens import Tokens
from surfaces.workspace import Workspace
from tests.catalogue_world import World, memory

ACCEPTS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
HELLO = json.dumps(
    {
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
    }
).encode()  # fmt: skip
HALF = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def serve(tmp_path):
    """Return what serves a project to the bearers of tokens in a thread, with room for so many connections."""
    world = World(memory(tmp_path))
    tokens = Tokens(world.workspace.log, world.workspace.clock)
    stack = ExitStack()

    @contextmanager
    def served(most):
        address = Address.parse("127.0.0.1:0")
        with pytest.MonkeyPatch.context() as patch, Desk(world.workspace) as desk, listen(address) as listening:
            patch.setattr(serving, "room", lambda: most)
            app = http_app(make_server(desk, by_token), tokens=tokens, names=allowed(address, ()))
            server = HttpServer(app)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()

            def stop():
                server.should_exit = True
                thread.join()

            try:
                yield SimpleNamespace(port=listening.getsockname()[1], tokens=tokens, bearer=bearer, stop=stop)
            finally:
                stop()

    def bearer(name="alice"):
        token, known = tokens.create(identity=f"agent:{name}", caller="owner")
        return SimpleNamespace(id=known.id, headers={"Authorization": f"Bearer {token}"})

    with stack:
        yield lambda most=64: stack.enter_context(served(most))


def send(port, body=PING, method="POST", timeout=10, **headers):
    """Send a request; return the status of its answer, and the session that it names."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, "/mcp", body, {**ACCEPTS, **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("mcp-session-id")
    finally:
        connection.close()


def connect(port, begun=b""):
    made = socket.create_connection(("127.0.0.1", port), timeout=10)
    made.sendall(begun)
    return made


def ended(connection, seconds=10.0):
    """Return whether the other side ends a connection; whatever it says before is passed over."""
    deadline = time.monotonic() + seconds
    try:
        while (left := deadline - time.monotonic()) > 0:
            connection.settimeout(left)
            if not connection.recv(65536):
                return True
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return False


# --- connections --------------------------------------------------------------------------------------------------


def test_whoever_only_connects_shuts_nobody_out(serve, caplog):
    at = serve(most=8)
    alice = at.bearer()
    crowd = [connect(at.port, HALF) for _ in range(100)]
    assert [send(at.port, HELLO, **alice.headers)[0] for _ in range(20)] == [200] * 20
    assert sum(ended(each, 0.01) for each in crowd) >= 92
    assert {each.getMessage() for each in caplog.records} == {
        "all 8 connections are in use: one that waited for its client was ended"
    }
    for each in crowd:
        each.close()


@pytest.mark.parametrize(
    "begun",
    [b"", HALF, b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + HALF],
    ids=["nothing", "half a head", "half a head behind a request"],
)
def test_a_connection_without_a_whole_head_ends_after_some_seconds_though_bytes_drip_in(serve, monkeypatch, begun):
    monkeypatch.setitem(connections.PATIENCE, Stage.FIRST_HEAD, 1)
    monkeypatch.setitem(connections.PATIENCE, Stage.NEXT_HEAD, 1)
    waiting, began = connect(serve().port, begun), time.monotonic()
    try:
        while time.monotonic() - began < 10 and not ended(waiting, 0.2):
            if begun:
                waiting.sendall(b"X-Drip: 1\r\n")
    except ConnectionError:
        pass
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("bears", [True, False])
def test_a_body_that_does_not_come_ends_its_connection_with_a_token_and_without(serve, monkeypatch, bears, caplog):
    monkeypatch.setitem(connections.PATIENCE, Stage.NEXT_HEAD, 1)
    monkeypatch.setitem(connections.PATIENCE, Stage.BODY, 1)
    at = serve()
    headers = {**ACCEPTS, "Content-Length": "1000", **(at.bearer().headers if bears else {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    began = time.monotonic()
    assert ended(connect(at.port, HALF + lines.encode() + b"\r\n{"))
    assert 0.5 < time.monotonic() - began < 8
    assert caplog.records == []


def test_a_client_that_takes_no_answers_is_not_waited_for(serve, monkeypatch):
    monkeypatch.setitem(connections.PATIENCE, Stage.TAKEN, 1)
    at = serve()
    greedy = socket.socket()
    greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    greedy.connect(("127.0.0.1", at.port))
    greedy.settimeout(10)
    with pytest.raises(ConnectionError):
        greedy.sendall(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500_000)
    greedy.close()


def test_a_connection_that_is_served_is_left_alone_and_one_that_comes_is_turned_away(serve, monkeypatch):
    for stage in connections.PATIENCE:
        monkeypatch.setitem(connections.PATIENCE, stage, 1)
    at = serve(most=3)
    alice = at.bearer()
    streams = [stream(at.port, alice) for _ in range(3)]
    time.sleep(3)
    assert connect(at.port, HALF).recv(100).startswith(b"HTTP/1.1 503 ")
    assert [ended(each.sock, 0.01) for each in streams] == [False] * 3
    streams.pop().close()
    time.sleep(0.2)
    assert send(at.port, HELLO, **alice.headers)[0] == 200
    for each in streams:
        each.close()


def stream(port, bearer):
    """Open a session, and hold the stream of what the server has to say in it."""
    _, session = send(port, HELLO, **bearer.headers)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/mcp", None, {**ACCEPTS, **bearer.headers, "Mcp-Session-Id": session})
    answer = connection.getresponse()
    assert answer.status == 200
    return SimpleNamespace(sock=connection.sock, answer=answer, close=lambda: (answer.close(), connection.close()))


def over(held, seconds):
    """Return whether a stream ends."""
    held.sock.settimeout(seconds)
    try:
        held.answer.read()
    except TimeoutError:
        return False
    return True


def test_there_are_half_as_many_connections_as_files_may_be_open_and_no_more_than_so_many():
    resource = pytest.importorskip("resource")
    script = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0})); "
    script += "from surfaces.mcp.http.connections import room; print(room())"
    limits = [100, min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])]
    told = [subprocess.check_output([sys.executable, "-c", script.format(each)], text=True) for each in limits]
    assert [int(each) for each in told] == [50, min(connections.MOST, limits[1] // 2)]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of files to set")
def test_a_crowd_larger_than_the_files_a_server_may_open_neither_stops_it_nor_fills_its_errors(tmp_path):
    with Workspace.init(tmp_path) as workspace:
        World(workspace)
    token = CliRunner().invoke(cli, ["-w", str(tmp_path), "token", "create", "--agent", "bob"]).stdout.strip()
    said = tmp_path / "said"
    command = ["-m", "cli", "-w", str(tmp_path), "mcp", "--http", "127.0.0.1:0"]
    limited = ["sh", "-c", 'ulimit -n 128; exec "$@"', "sh", sys.executable, *command]
    with said.open("wb") as errors, subprocess.Popen(limited, stderr=errors) as server:
        try:
            while not (found := re.search(r"serving at http://127\.0\.0\.1:(\d+)/", said.read_text())):
                time.sleep(0.02)
            crowd = [connect(int(found[1]), HALF) for _ in range(400)]
            told = [send(int(found[1]), HELLO, Authorization=f"Bearer {token}")[0] for _ in range(5)]
            assert said.stat().st_size < 10_000
            for each in crowd:
                each.close()
        finally:
            server.terminate()
            code = server.wait(20)
    assert (told, code) == ([200] * 5, 0)


def test_no_connection_becomes_one_of_web_sockets(serve):
    handshake = (
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    asked = connect(serve().port, b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + handshake)
    assert asked.recv(100).startswith(b"HTTP/1.1 401 ")
    asked.close()


# --- sessions -----------------------------------------------------------------------------------------------------


def test_with_one_session_too_many_the_one_of_the_same_token_ends_that_was_idle_longest(serve, monkeypatch):
    monkeypatch.setattr(sessions, "OF_TOKEN", 2)
    at = serve()
    alice, bob = at.bearer(), at.bearer("bob")
    opened = [send(at.port, HELLO, **each.headers)[1] for each in (bob, alice, alice)]
    send(at.port, **alice.headers, **{"Mcp-Session-Id": opened[1]})  # used again, it is not the oldest
    opened.append(send(at.port, HELLO, **alice.headers)[1])
    bearers = (bob, alice, alice, alice)
    pinged = [
        send(at.port, **each.headers, **{"Mcp-Session-Id": session})[0]
        for each, session in zip(bearers, opened, strict=True)
    ]
    assert pinged == [200, 200, 404, 200]


def test_one_bearer_of_thousands_of_sessions_keeps_nobody_else_from_opening_one(serve, monkeypatch):
    monkeypatch.setattr(sessions, "OF_TOKEN", 4)
    monkeypatch.setattr(sessions, "IN_ALL", 20)
    at = serve()
    alice, bob = at.bearer(), at.bearer("bob")
    assert {send(at.port, HELLO, **alice.headers)[0] for _ in range(60)} == {200}
    assert send(at.port, HELLO, **bob.headers)[0] == 200


def test_what_opens_no_session_ends_none(serve, monkeypatch):
    monkeypatch.setattr(sessions, "OF_TOKEN", 1)
    at = serve()
    alice = at.bearer()
    _, session = send(at.port, HELLO, **alice.headers)
    refused = [send(at.port, PING, **alice.headers)[0], send(at.port, b"[]", **alice.headers)[0]]
    assert send(at.port, **alice.headers, **{"Mcp-Session-Id": session})[0] == 200
    assert refused == [400, 400]


def test_a_bearer_whose_sessions_are_all_in_use_is_told_so_and_nobody_else(serve, monkeypatch):
    monkeypatch.setattr(sessions, "OF_TOKEN", 2)
    at = serve()
    alice, bob = at.bearer(), at.bearer("bob")
    held = [stream(at.port, alice) for _ in range(2)]
    time.sleep(0.3)
    assert [send(at.port, HELLO, **each.headers)[0] for each in (alice, bob)] == [429, 200]
    held.pop().close()
    time.sleep(0.3)
    assert send(at.port, HELLO, **alice.headers)[0] == 200
    held.pop().close()


def test_so_many_requests_of_one_bearer_are_heard_at_a_time(serve, monkeypatch):
    monkeypatch.setattr(sessions, "AT_ONCE", 2)
    at = serve()
    alice, bob = at.bearer(), at.bearer("bob")
    held = [stream(at.port, alice) for _ in range(2)]
    time.sleep(0.3)
    assert [send(at.port, HELLO, **each.headers)[0] for each in (alice, bob)] == [429, 200]
    for each in held:
        each.close()


def test_the_sessions_of_a_token_end_with_it_and_the_streams_in_them(serve, monkeypatch):
    monkeypatch.setattr(sessions, "LOOK", 0.05)
    at = serve()
    alice, bob = at.bearer(), at.bearer("bob")
    streams = [stream(at.port, each) for each in (alice, bob)]
    at.tokens.revoke(alice.id, caller="owner")
    assert [over(each, 2.0) for each in streams] == [True, False]
    for each in streams:
        each.close()


def test_sessions_of_an_expired_token_are_forgotten_at_the_next_look(serve, monkeypatch):
    monkeypatch.setattr(sessions, "LOOK", 0.05)
    at = serve()
    token, _ = at.tokens.create(identity="agent:carl", ttl=30, caller="owner")
    carl = SimpleNamespace(headers={"Authorization": f"Bearer {token}"})
    held = stream(at.port, carl)  # each look at the clock of these tests is a step
    assert over(held, 5.0)
    assert send(at.port, HELLO, **carl.headers)[0] == 401
    held.close()


# --- names --------------------------------------------------------------------------------------------------------

NAMES = Names.of(["127.0.0.1", "localhost", "::1", "Falsify.example"])


def test_a_host_is_the_name_and_after_it_a_port_or_nothing():
    admitted = [
        "127.0.0.1", "127.0.0.1:80", "localhost:65535", "LOCALHOST:1", "[::1]", "[::1]:8788", "falsify.example:443",
    ]  # fmt: skip
    refused = [
        "", ":80", "127.0.0.1:", "127.0.0.1:evil.com", "127.0.0.1:80@evil.com", "127.0.0.1:80.evil.com", "::1", "[::1",
        "127.0.0.1:123456", "127.0.0.1 ", "127.0.0.1\n", "127.0.0.1:8\t", "127.0.0.2", "localhost.", "user@localhost",
        "*", "evil.com", "localhost.evil.com", "localhost:١", "localhost:80:80", "localhost/x",
    ]  # fmt: skip
    assert [NAMES.admit(each) for each in (*admitted, *refused)] == [True] * len(admitted) + [False] * len(refused)


def test_a_page_is_of_the_web_and_of_a_host_that_is_admitted():
    admitted = ["http://127.0.0.1", "https://localhost:3000", "http://[::1]:1"]
    refused = [
        "null", "http://127.0.0.1:80.evil.com", "http://localhost:@evil.com", "http://127.0.0.1.evil.com", "http://",
        "file://", "file://localhost", "chrome-extension://localhost", "localhost", "http:localhost", "http://localhost/",
    ]  # fmt: skip
    told = [NAMES.admit_page(each) for each in (*admitted, *refused)]
    assert told == [True] * len(admitted) + [False] * len(refused)


def test_whatever_is_behind_the_port_a_request_is_turned_away_before_its_token_is_looked_at(serve):
    at = serve()
    alice = at.bearer()
    told = [
        send(at.port, HELLO, **alice.headers, Host="127.0.0.1:evil.com")[0],
        send(at.port, HELLO, **alice.headers, Origin="http://127.0.0.1:80.evil.com")[0],
        send(at.port, HELLO, Host="evil.com")[0],
        send(at.port, HELLO, **alice.headers, Host=f"localhost:{at.port}", Origin="http://localhost:5173")[0],
    ]
    assert told == [421, 403, 421, 200]


@pytest.mark.parametrize(
    "given", ["x.test", "X.Test", "falsify_1", "10.0.0.7", "::1", "[::1]", "2001:DB8::1", "a" * 63]
)
def test_a_name_or_an_address_can_be_allowed(given):
    expected = {"::1": "[::1]", "2001:DB8::1": "[2001:db8::1]"}.get(given, given.lower())
    assert host_name(given) == expected


@pytest.mark.parametrize(
    "given",
    ["", " ", "*", "*.test", "x.test:80", "http://x.test", "x.test/", "x..test", ".x", "x.", "-x", "a" * 64, "é.test",
     "x\n", "x test", "[x]", "[::1]:80", "::g", "user@x", "x," + "y"],
)  # fmt: skip
def test_what_is_no_name_of_a_host_is_refused_with_a_hint(tmp_path, given):
    with Workspace.init(tmp_path):
        pass
    words = ["-w", str(tmp_path), "mcp", "--no-worker", "--http", "0.0.0.0:0", f"--allow-host={given}"]
    told = CliRunner().invoke(cli, words).exception
    assert isinstance(told, InvalidInputError)
    assert (told.message, told.hint[:42]) == (
        f"{given!a} is no name of a host",
        "write the name or the address alone, witho",
    )


# --- clients that go away -----------------------------------------------------------------------------------------


def test_a_client_that_goes_away_is_not_worth_a_word(serve, caplog):
    at = serve()
    alice = at.bearer()
    _, session = send(at.port, HELLO, **alice.headers)
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**ACCEPTS, **alice.headers}.items())
    for more in ("", f"Mcp-Session-Id: {session}\r\n", "MCP-Protocol-Version: 2026-07-28\r\n"):
        for length in (len(PING), 1000):
            head = f"{lines}{more}Content-Length: {length}\r\n\r\n".encode()
            connect(at.port, HALF + head + PING).close()
    time.sleep(0.5)
    assert send(at.port, **alice.headers, **{"Mcp-Session-Id": session})[0] == 200
    assert [each.getMessage() for each in caplog.records] == []


def test_a_server_that_ends_waits_for_no_client_and_says_nothing_of_those_who_kept_it_waiting(serve, caplog):
    at = serve()
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**ACCEPTS, **at.bearer().headers}.items())
    waiting = [
        connect(at.port, HALF),
        connect(at.port, HALF + f"{lines}Content-Length: 1000\r\n\r\n{{".encode()),
        connect(at.port, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
    ]
    time.sleep(0.3)
    began = time.monotonic()
    at.stop()
    assert time.monotonic() - began < 2
    assert [ended(each, 1.0) for each in waiting] == [True] * 3
    assert caplog.records == []
