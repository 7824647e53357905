"""Whatever a client sends, it is answered with an envelope, a payload or an error of the protocol, and nothing else.

The calls are drawn from the published schemas and spoilt in one place, or made up altogether. They are the same ones
every time; FALSIFY_TEST_FUZZ_CALLS says how many.
"""

import asyncio
import base64
import gc
import http.client
import itertools
import json
import math
import os
import random
import re
import select
import socket
import string
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest
from mcp import MCPError
from mcp_types import ResourceTemplateReference

from falsify.brain.events import OrgAccepted
from falsify.clock import SteppingClock
from falsify.log import EventLog
from falsify.recorders.memory import MemoryRecorder
from surfaces.brain import Brain
from surfaces.envelope import STATUSES
from surfaces.mcp.http.serving import Address, listen, serve_http
from surfaces.mcp.rows import NOTICE, Row, rows
from surfaces.workspace import Workspace
from tests.brain_writes_world import ORG, PAGES, SilentJudge, page, record
from tests.catalogue_world import World
from tests.mcp_world import serve_in_memory
from tests.mirror_world import HashEmbedder

CALLS = int(os.environ.get("FALSIFY_TEST_FUZZ_CALLS", "20000"))
SEED = 20_261_130
BLOCK = 500
"""Calls of one client before the next one connects."""

CALLERS = (("agent:scribe", None), ("person:olga", None), ("agent:clerk", frozenset({"p1"})))
"""An agent that may write, the owner of the organisation, and an agent whose token names one project."""

ROWS = rows()

TELLTALES = re.compile(r"Traceback|\.py\"?, line \d|\bsurfaces[./]|<module>|object at 0x")
"""What an answer has in it when a program fell over its own feet."""


# --- what is sent ---------------------------------------------------------------------------------------------


def nested(levels: int, inner: object = 0, *, name: str = "") -> object:
    for _ in range(levels):
        inner = {name: inner} if name else [inner]
    return inner


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


ATOMS: tuple[object, ...] = (
    None, True, False, 0, 1, -1, 1.0, 0.5, -0.0, 2**31, 2**53, 2**53 - 1, 2**63, -(2**63) - 1, 10**400, 1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"), "", " ", "\0", "p1\0", "a\0b", "\ud800", "x\udfff", "\ud83d\ude00",
    "\x1b[2J", "\u202ep1", "\u2028", "\ufeff", "é", "0", "1", "-1", "true", "null", "NaN", "1e999", "٣", "１２", "²",
    "2026-01-01", "2026-13-45", "0000-00-00", "9999-12-31", "10000-01-01", "２０２６-01-01", "2026-01-01T00:00:00Z",
    "2026-01-01T24:00:00+99:99", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "-1-01-01", "20260101",
    "1e9-01-01", "../../../etc/passwd", "memory/../../x.md", "memory/ops/\0.md", "/", ".", "..", "memory/", "C:\\x",
    "memory/ops/pump.md", "__proto__", "constructor", "__class__", "{0.__class__}", "%s%n", "${x}", "' OR 1=1 --",
    "*", "%", "_", '"', "NEAR(a b, 3)", "a AND", "-a", "NOT", "[[", "]]", "[[" * 500, "|" * 500, "`" * 500, "#" * 500,
    "(" * 5000, "[" * 5000, "{" * 5000, "\n" * 5000, "---\na: [" + "[" * 2000 + "\n---\n",
    "---\na: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n", "---\n- " * 400,
    "---\n" + "".join(f"{' ' * n}a:\n" for n in range(600)) + "---\n", "---\na: !!python/name:os.system\n---\n",
    "---\n? {\n", "---\ntitle: 2026-01-01\ntype: [1, {}]\naliases: {a: 1}\n---\n# x\n", "---\n1: 2\nnull: 3\n---\n",
    "---\n---\n", "---", encoded([0, []]), encoded([2**70, ["x"]]), encoded(nested(300)), "A" * 256, "=" * 8,
    "\u0301" * 300, "😀" * 300, "x" * 65, "x" * 97, "x" * 121, "x" * 501, "x" * 2001, "x" * 9000, "a " * 9000, [], {},
    [[]], [None], [{}], ["x"] * 9, ["x"] * 10_000, [1, "1", None, {}], {"": ""}, {"__proto__": {"ok": True}},
    {"\0": 1}, {str(n): n for n in range(10_000)}, {"type": "object", "properties": {}},
    {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}},
    {"type": ["object"], "properties": [], "required": 1}, {"$ref": "#"},
    {"type": "object", "properties": nested(200, name="properties")}, nested(200), nested(200, name="a"),
    nested(150, name="__proto__"),
)  # fmt: skip

HUGE = (
    "x" * 1_000_000,
    "é" * 500_000,
    "<" * 1_000_000,
    "&lt;" * 250_000,
    "a\n" * 500_000,
    "\0" * 1_000_000,
    "[[a]] " * 160_000,
)
"""Strings of a megabyte."""

WORDS = [
    "the",
    "pump",
    "is",
    "greased",
    "every",
    "14",
    "days",
    "and",
    "a",
    "wider",
    "hidden",
    "layer",
    "helps",
    "Acme",
    "in",
    "November",
]


@dataclass
class Draw:
    """Draws calls: valid by the schema, with names of what there is, and spoilt as often as asked."""

    world: World
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))
    answers: list[str] = field(default_factory=list)
    number: int = 0

    def call(self) -> tuple[Row, dict[str, Any]]:
        """Return a tool and its arguments: one in eight as it should be, the others spoilt in one place or in all."""
        row = self.chance.choice([*ROWS.values()])
        schema = row.tool.published()["inputSchema"]
        arguments = self.fitting(schema)
        match self.chance.randrange(8):
            case 0:
                return row, arguments
            case 1:
                return row, {name: self.hostile() for name in schema["properties"] if self.chance.random() < 0.7}
            case 2:
                arguments[self.chance.choice(("__proto__", "projectId", "", "\0", "ok", "caller", "x" * 9000))] = (
                    self.hostile()
                )
                return row, arguments
            case 3 if arguments:
                del arguments[self.chance.choice([*arguments])]
                return row, arguments
        return row, self.spoilt(arguments, schema)

    def spoilt(self, arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with one value replaced, however deep it lies."""
        names = [*arguments, *schema["properties"]]
        if not names:
            return {"x": self.hostile()}
        name = self.chance.choice(names)
        told = arguments.get(name)
        if isinstance(told, str) and self.chance.random() < 0.6:  # hostile, and as long as it may be
            words = [self.hostile() for _ in range(8)]
            text = "".join(word for word in words if isinstance(word, str))
            return {**arguments, name: text[: schema["properties"].get(name, {}).get("maxLength", 3000)]}
        if isinstance(told, list) and told and self.chance.random() < 0.7:
            place = self.chance.randrange(len(told))
            inner, items = told[place], schema["properties"][name].get("items", {})
            deeper = isinstance(inner, dict) and "properties" in items
            told[place] = self.spoilt(inner, items) if deeper else self.hostile()
            return arguments
        return {**arguments, name: self.hostile()}

    def hostile(self) -> object:
        match self.chance.randrange(100):
            case 0:
                return self.chance.choice(HUGE)
            case n if n < 10:
                return "".join(
                    self.chance.choices(
                        string.printable + "\0\x7f\x85\u200b\u202e\ud800😀é[]<>", k=self.chance.randrange(200)
                    )
                )
        return self.chance.choice(ATOMS)

    def fitting(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return an object that a schema admits: what it requires, and some of the rest."""
        needed = schema.get("required", ())
        return {
            name: self.value(name, inner)
            for name, inner in schema.get("properties", {}).items()
            if name in needed or self.chance.random() < 0.3
        }

    def value(self, name: str, schema: dict[str, Any]) -> Any:
        if known := self.known(name):
            return known
        if "anyOf" in schema:
            return self.value("", self.chance.choice(schema["anyOf"]))
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        match schema.get("type"):
            case "integer":
                low = schema.get("minimum", 0)
                return self.chance.randint(low, min(low + 50, schema.get("maximum", low + 50)))
            case "number":
                return round(self.chance.uniform(0.01, min(1, schema.get("maximum", 1))), 3)
            case "boolean":
                return self.chance.random() < 0.5
            case "array":
                length = self.chance.randint(schema.get("minItems", 0), max(1, schema.get("minItems", 0)))
                return [self.value("", schema.get("items", {})) for _ in range(length)]
            case "object":
                return self.fitting(schema)
            case "null":
                return None
        words = " ".join(self.chance.choices(WORDS, k=self.chance.randint(3, 12)))
        if "pattern" in schema:
            words = words.replace(" ", "-")
        return words[: schema.get("maxLength", 2000)]

    def known(self, name: str) -> Any:
        """Return something that there is, for the names of what there may be, and None for others."""
        project = self.world.project
        match name:
            case "project_id":
                return "p1"
            case "idempotency_key":
                self.number += 1
                return f"key-{self.chance.randint(1, self.number) if self.chance.random() < 0.1 else self.number}"
            case "expected_project_revision":
                return project.revision
            case "ticket_id":
                return self.chance.choice([*project.tickets])
            case "node_id" | "root_node_id" | "focus_node_id" | "against_node_id" | "parent_node_id":
                return self.chance.choice([*project.nodes])
            case "run_id":
                return self.chance.choice([*project.runs])
            case "node" | "focus" | "evidence_id" | "on" | "hypothesis":
                return self.chance.choice([handle for _, handle in self.world.bench.graph.handles] or ["none"])
            case "rel_path":
                return self.chance.choice([*PAGES])
            case "refs":
                return [self.chance.choice([*PAGES])]
            case "department" | "dept" | "write_back_department":
                return self.chance.choice(("ops", "finance", "general"))
            case "on_behalf_of" | "slug":
                return self.chance.choice(("vera", "wim", "fay"))
            case "agent":
                return self.chance.choice(("scribe", "reader", "clerk"))
            case "answer_id":
                return self.chance.choice(self.answers or ["none"])
            case "op":
                ops = (
                    "set_reports_to",
                    "add_decides",
                    "add_validates",
                    "add_grant",
                    "remove_grant",
                    "require_validation",
                )
                return self.chance.choice(ops)
            case "as_of" | "valid_at" | "asserted_at":
                return "2026-01-01"
        return None


# --- what comes back ------------------------------------------------------------------------------------------


def fault(row: Row, text: str, structured: Any) -> str:
    """Return what is wrong with the form of an answer, "" if nothing is."""
    if found := TELLTALES.search(text):
        return f"it tells of the program: {found[0]}"
    told = parsed(text)
    if row.name.startswith("falsify."):
        return envelope_fault(told, structured)
    if structured != (told if isinstance(told, dict) else {"text": text}):
        return "the object is not the payload"
    if isinstance(told, dict) and told.get("error") in {"internal", "error"}:
        return f"it is a bug: {told}"
    return ""


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def envelope_fault(told: Any, structured: Any) -> str:
    if not isinstance(told, dict) or told != structured:
        return "the text is not the object"
    if told["status"] not in STATUSES or told["ok"] != (told["status"] == "ok"):
        return "it says two things about how it went"
    if told["status"] == "error" or "internal" in str(told.get("result", {}).get("error", {}).get("reason")):
        return f"it is a bug: {told}"
    return ""


def admitted(row: Row, arguments: dict[str, Any]) -> bool:
    """Return whether the arguments fit the published schema, by an implementation that is not ours."""
    if not row.name.startswith("falsify."):  # a null, which is what JSON has for infinity, is as good as nothing there
        arguments = {name: None if unheard(value) else value for name, value in arguments.items()}
        arguments = {name: value for name, value in arguments.items() if value is not None or name == "department"}
    validator: Any = jsonschema.Draft202012Validator(row.tool.published()["inputSchema"])
    return validator.is_valid(arguments)


def unheard(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def done(row: Row, text: str) -> bool:
    """Return whether an answer says that something was done, or asked of a person."""
    told = parsed(text)
    if row.name.startswith("falsify."):
        return told["status"] in {"ok", "approval_required"}
    return not text.startswith("refused: ") and not (isinstance(told, dict) and "error" in told)


@dataclass
class Tally:
    """What was wrong, and how often what came back."""

    faults: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def fault(self, row: Row, arguments: object, what: str) -> None:
        self.faults.append(f"{row.name} {shortened(arguments)}: {what}"[:700])


def shortened(value: object) -> str:
    told = ascii(value)
    return told if len(told) <= 300 else f"{told[:200]}...{told[-80:]}"


async def send(client: Any, world: World, draw: Draw, tally: Tally) -> None:
    """Send one call, and hold what comes back and what it did to the log against the call."""
    row, arguments = draw.call()
    before = world.head
    try:
        told = await client.call_tool(row.name, arguments)
    except MCPError as error:
        return tally.fault(row, arguments, f"an error of the protocol for a tool that there is: {error}")
    block, *notice = told.content
    if wrong := fault(row, block.text, told.structured_content):
        tally.fault(row, arguments, wrong)
    if [each.text for each in notice] not in ([], [NOTICE]):
        tally.fault(row, arguments, f"more than the answer: {notice}")
    moved = world.head != before
    tally.count("moved" if moved else "refused" if told.is_error else "answered")
    if moved and row.tool.published()["annotations"]["readOnlyHint"]:
        tally.fault(row, arguments, "a read wrote to the log")
    if moved and not (admitted(row, arguments) and done(row, block.text)):
        tally.fault(row, arguments, f"it was not valid, and wrote to the log: {block.text[:200]}")
    if row.name == "ask_company_context" and "answer_id" in told.structured_content:
        draw.answers.append(told.structured_content["answer_id"])
    return None


# --- the world ------------------------------------------------------------------------------------------------


@contextmanager
def besieged(root: Path):
    """Yield a workspace with a project in AUTORESEARCH, work in every state, an organisation and its pages."""
    clock = SteppingClock()
    log = EventLog(MemoryRecorder(), clock=clock)
    options: dict[str, Any] = {"embedder": HashEmbedder(), "judge": SilentJudge(), "clock": clock, "environ": {}}
    with Workspace.init(root, log=log, **options) as workspace:
        world = World(workspace, "AUTORESEARCH", budget_runs=1000, budget_seconds=1e6)
        world.ticket(title="Another width")
        world.claimed(title="A claimed one")
        world.node(title="A ready one")
        world.running(world.node(title="One that runs", mutation={"hidden_width": 16}))
        world.frozen(title="A measured one", mutation={"hidden_width": 32})
        pages = (page(path, text) for path, text in PAGES.items())
        record(Brain(workspace), OrgAccepted(org=ORG.as_json(), source="memory/org.yaml"), *pages)
        yield world


@pytest.fixture
def world(tmp_path):
    with besieged(tmp_path) as made:
        yield made


# --- calls ----------------------------------------------------------------------------------------------------


def test_whatever_a_client_calls_it_gets_an_answer_and_only_valid_acts_reach_the_log(world):
    tally = asyncio.run(siege(world, Draw(world), CALLS))
    assert tally.faults == []
    assert sum(tally.counts.values()) == CALLS
    assert {name for name, count in tally.counts.items() if count >= CALLS / 100} == {"moved", "refused", "answered"}


async def siege(world: World, draw: Draw, calls: int) -> Tally:
    """Send so many calls, in blocks of one caller each, and see to it that every server answers a good call last."""
    tally = Tally()
    blocks = zip(itertools.cycle(CALLERS), range(0, calls, BLOCK), itertools.cycle(("auto", "auto", "auto", "legacy")))
    for (identity, projects), start, mode in blocks:
        async with serve_in_memory(world.workspace, identity, projects=projects, mode=mode) as client:
            for _ in range(min(BLOCK, calls - start)):
                await send(client, world, draw, tally)
            told = await client.call_tool("falsify.project.get_state", {"project_id": "p1"})
            assert told.structured_content["projectRevision"] == world.project.revision
    return tally


def test_what_is_refused_leaves_nothing_in_memory(world):
    head = world.head
    grown = asyncio.run(growth(world))
    assert world.head == head
    # Of the megabytes that are sent after the first look, none may stay.
    assert grown < 400_000


async def growth(world: World) -> int:
    """Return the bytes by which memory grew over calls that do nothing, and were sent before."""
    hostile: list[Any] = [*HUGE[:2], *ATOMS]
    async with serve_in_memory(world.workspace, "agent:scribe", projects=frozenset({"p1"})) as client:

        async def refused() -> None:
            for row, value in zip(itertools.cycle(ROWS.values()), hostile, strict=False):
                await client.call_tool(row.name, {"project_id": value, "op": value, "no-such-field": value})

        await refused()
        gc.collect()
        tracemalloc.start()
        try:
            await refused()
            await refused()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()


def test_a_tool_that_there_is_not_is_an_error_of_the_protocol(world):
    names = (
        "", " ", "falsify", "falsify.project", "FALSIFY.PROJECT.GET_STATE", "falsify/project/get_state", "__proto__",
        "falsify.project.get_state\0", "falsify..project", "x" * 9000, "../get_index", "日本", "\x1b[2J",
    )  # fmt: skip

    async def codes():
        async with serve_in_memory(world.workspace, "agent:scribe") as client:
            for name in names:
                with pytest.raises(MCPError) as caught:
                    await client.call_tool(name, {"project_id": "p1"})
                yield (
                    caught.value.error.code,
                    len(caught.value.error.message) < 200,
                    caught.value.error.message.isprintable(),
                )

    async def told():
        return {each async for each in codes()}

    assert asyncio.run(told()) == {(-32602, True, True)}


@pytest.mark.parametrize("project", [["p1"], {"p1": 1}, None, 7, True, [[]]])
def test_a_project_that_is_no_text_is_invalid_to_a_caller_of_some_projects_too(world, project):
    async def reason(projects):
        async with serve_in_memory(world.workspace, "agent:clerk", projects=projects) as client:
            told = await client.call_tool("falsify.project.get_state", {"project_id": project})
            return told.structured_content["result"]["error"]["reason"]

    assert asyncio.run(reason(frozenset({"p1"}))) == asyncio.run(reason(None)) == "invalid_arguments"


def test_a_prefix_that_no_json_can_hold_is_the_prefix_of_no_page(world):
    async def listed():
        async with serve_in_memory(world.workspace, "agent:scribe") as client:
            return (await client.call_tool("list_pages", {"prefix": "memory/\ud800"})).structured_content

    assert asyncio.run(listed()) == {"prefix": "memory/?", "pages": []}


def test_a_comment_that_no_json_can_hold_is_kept_without_what_it_cannot(world):
    async def rated():
        async with serve_in_memory(world.workspace, "agent:scribe") as client:
            asked = await client.call_tool("ask_company_context", {"question": "How often is the pump greased?"})
            sent = {"answer_id": asked.structured_content["answer_id"], "rating": "up", "comment": "good \ud800"}
            return (await client.call_tool("rate_answer", sent)).structured_content["recorded"]

    assert asyncio.run(rated()) is True


def test_whatever_resource_or_prompt_is_asked_for_there_is_a_text_or_an_error_of_the_protocol(world):
    kinds = (
        "project/",
        "page/",
        "obituary/p1/",
        "obituary/",
        "evidence/p1/",
        "evidence/",
        "approval/p1/",
        "projects",
        "",
        "nothing/",
    )
    words = [atom for atom in (*ATOMS, HUGE[0]) if isinstance(atom, str) and not re.search("[\ud800-\udfff]", atom)]
    uris = ["", "falsify:", "falsify://", "file:///etc/passwd", "FALSIFY://project/p1", "falsify://project/p1?x#y", "%"]
    uris += [f"falsify://{kind}{spelt}" for kind in kinds for word in words for spelt in {word, quote(word)}]

    async def codes():
        async with serve_in_memory(world.workspace, "agent:clerk", projects=frozenset({"p1"})) as client:
            for uri in uris:
                try:
                    told = await client.read_resource(uri)
                    yield 0 if not TELLTALES.search(told.contents[0].text) else uri
                except MCPError as error:
                    yield error.error.code if not TELLTALES.search(error.error.message) else uri
            names = [each.name for each in (await client.list_prompts()).prompts]
            for name, word in [*itertools.product(names, words), *zip(words, words, strict=True)]:
                try:
                    await client.get_prompt(name, {"project_id": word, word: word})
                except MCPError as error:
                    yield error.error.code
            templates = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
            for template, part, word in itertools.product(templates, ("id", "node", "path", "project"), words):
                kind = ResourceTemplateReference(type="ref/resource", uri=template)
                for typed, given in (("", {"project": word, word: word}), (word, {"project": "p1"})):
                    found = await client.complete(kind, {"name": part, "value": typed}, given)
                    yield 0 if not TELLTALES.search(json.dumps(found.completion.values)) else template

    async def told():
        return {each async for each in codes()}

    head = world.head
    assert asyncio.run(told()) == {0, -32602}
    assert world.head == head


# --- frames on standard input ---------------------------------------------------------------------------------


def frame(method: object = "tools/call", **more: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": "raw", "method": method, **more}).encode()


def raw_call(arguments: bytes, *, name: bytes = b'"falsify.project.get_state"') -> bytes:
    """Return a call whose arguments are these bytes."""
    return b'{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{"name":%b,"arguments":%b}}' % (name, arguments)


def project_raw(value: bytes) -> bytes:
    return raw_call(b'{"project_id":%b}' % value)


FRAMES: tuple[bytes, ...] = (
    b"garbage", b"", b" ", b"\0", b"\xff\xfe\x00", b"null", b"1", b'"x"', b"[]", b"{}", b"[{}]", b"true", b"{",
    b"[" * 100_000, b'{"a":' * 100_000, b"x" * 1_000_000, b'{"jsonrpc":"2.0","id":1,"method":"pi', b"\xed\xa0\x80",
    b"\xef\xbb\xbf" + frame("ping"), b"[" + frame("ping") + b"," + frame("ping") + b"]", frame("ping", id=None),
    frame("ping", id=1.5), frame("ping", id={"a": 1}), frame("ping", id=[1]), frame("ping", id=True),
    frame("ping", id=2**70), frame("ping", id="x" * 100_000), frame("ping", id=""), frame("ping", jsonrpc="1.0"),
    frame("ping", jsonrpc=2), frame("ping", params=[]), frame("ping", params=7), frame("ping", params={"_meta": []}),
    frame("ping", params={"_meta": {"progressToken": {}}}), frame("no/such"), frame(""), frame("__init__"),
    frame("rpc.discover"), frame(17), frame(None), frame([]), frame("x" * 100_000), frame("initialize"),
    frame("initialize", params={}), frame("initialize", params={"protocolVersion": 7}), frame("server/discover"),
    frame("tools/list", params={"cursor": "x"}), frame("tools/list", params={"cursor": 7}),
    frame("tools/list", params={"x": 1}), frame("resources/read", params={"uri": "falsify://../../etc/passwd"}),
    frame("resources/read", params={"uri": 7}), frame("resources/read", params={"uri": "x" * 100_000}),
    frame("resources/read", params={"uri": "\0"}), frame("resources/list", params={"cursor": "x"}),
    frame("prompts/get", params={"name": "x"}), frame("prompts/get", params={"name": "x", "arguments": {"a": 1}}),
    frame("prompts/get"), frame("completion/complete", params={}), frame("logging/setLevel", params={"level": "x"}),
    frame("sampling/createMessage"), frame(), frame(params=None), frame(params=[]), frame(params={}),
    frame(params={"name": 5}), frame(params={"name": None}), frame(params={"name": ["falsify.project.get_state"]}),
    frame(params={"name": "falsify.project.get_state"}),
    frame(params={"name": "falsify.project.get_state", "arguments": []}),
    frame(params={"name": "falsify.project.get_state", "arguments": "x"}),
    frame(params={"name": "falsify.project.get_state", "arguments": None}),
    frame(params={"name": "falsify.project.get_state", "task": {}}),
    frame(params={"name": "falsify.project.get_state", "inputResponses": {"x": 1}, "requestState": "forged"}),
    raw_call(b"{}", name=b'"\\ud800"'), raw_call(b"{}", name=b'"\\u0000"'),
    raw_call(b'{"project_id":"p1","project_id":"p2"}'), project_raw(b'"\\ud800"'), project_raw(b'"\\u0000"'),
    project_raw(b"NaN"), project_raw(b"Infinity"), project_raw(b"1e999"), project_raw(b"-0"),
    project_raw(b"9" * 4_000), project_raw(b"9" * 100_000), project_raw(b'"\xff"'), project_raw(b'"\xed\xa0\x80"'),
    project_raw(b'"' + b"x" * 1_000_000 + b'"'),
    *(project_raw(b"[" * levels + b"1" + b"]" * levels) for levels in (100, 190, 250, 1_000, 10_000, 100_000)),
    *(project_raw(b'{"a":' * levels + b"1" + b"}" * levels) for levels in (100, 190, 250, 1_000, 10_000, 100_000)),
    b'{"jsonrpc":"2.0","id":"raw","result":{}}', b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
    b'{"jsonrpc":"2.0","id":null,"error":7}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"raw"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","method":"notifications/nonsense","params":7}',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":"x"}}',
)  # fmt: skip
"""What is no frame, and what is one that nobody should send."""

GOOD = project_raw(b'"none"').replace(b'"raw"', b'"good"')


class Wire:
    """A server process, and what goes over its standard input and output."""

    def __init__(self, root: Path, *words: str) -> None:
        command = [sys.executable, "-m", "cli", "-w", str(root), "mcp", "--as", "agent:scribe", "--no-worker", *words]
        self.errors = (root / "stderr").open("wb")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0
        )
        self._rest = b""

    def send(self, data: bytes) -> None:
        sent = memoryview(data)
        while sent:  # without a buffer, a write may take less than it is given
            sent = sent[self.process.stdin.write(sent) or 0 :]

    def until(self, name: object, *, key: str = "id") -> list[dict[str, Any]]:
        """Return the frames that come, up to the one with an id, or another key, which is the last of them."""
        told: list[dict[str, Any]] = []
        while not told or told[-1].get(key, self) != name:
            line, newline, self._rest = self._rest.partition(b"\n")
            if newline:
                told.append(json.loads(line))
                continue
            assert select.select([self.process.stdout], [], [], 60)[0], f"nothing came back after {told}"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, f"the server is gone: {self.process.wait(10)}"
            self._rest = line + more
        return told

    def close(self) -> int:
        self.process.stdin.close()
        code = self.process.wait(30)
        self.process.stdout.close()
        self.errors.close()
        return code


@pytest.fixture
def wire(tmp_path):
    with Workspace.init(tmp_path, environ={}):
        pass
    opened = Wire(tmp_path)
    opened.send(
        b'{"jsonrpc":"2.0","id":"begin","method":"initialize","params":'
        b'{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}\n'
    )
    opened.until("begin")
    opened.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    yield opened
    opened.process.kill()
    opened.process.wait()


def sound(reply: dict[str, Any]) -> bool:
    """Return whether a frame is a result, that of a call an envelope, or an error of the protocol."""
    if TELLTALES.search(json.dumps(reply, ensure_ascii=False)):
        return False
    if "error" in reply:
        return reply["error"]["code"] in {-32700, -32600, -32601, -32602, -32002} and len(json.dumps(reply)) < 250_000
    result = reply.get("result", {})
    return "content" not in result or not envelope_fault(
        json.loads(result["content"][0]["text"]), result["structuredContent"]
    )


@pytest.mark.skipif(sys.platform == "win32", reason="select waits for pipes on POSIX only")
def test_whatever_comes_in_a_frame_the_server_goes_on_and_says_nothing_that_is_no_answer(wire, tmp_path):
    unsound = []
    for sent in FRAMES:
        wire.send(sent + b"\n" + GOOD + b"\n")
        *replies, good = wire.until("good")
        unsound += [(sent[:120], reply) for reply in (*replies, good) if not sound(reply)]
        assert good["result"]["structuredContent"]["status"] == "not_found", sent[:120]
    wire.send(b'{"jsonrpc":"2.0","id":"cut","method":"tools/ca')
    assert (unsound, wire.close()) == ([], 0)
    assert b"Traceback" not in (tmp_path / "stderr").read_bytes()
    with Workspace.open(tmp_path, environ={}) as workspace:
        assert workspace.log.head().position == 0


UNREADABLE = {
    b"garbage": (None, -32700), b'{"jsonrpc":"2.0","id":1,"method":"pi': (None, -32700), b"[" * 100_000: (None, -32700),
    b"[]": (None, -32600), b"null": (None, -32600), b"{}": (None, -32600), frame(17): ("raw", -32600),
    frame("ping", id=7, jsonrpc="1.0"): (7, -32600), frame("ping", params=[]): ("raw", -32600),
    frame("ping", id=True, params=[]): (None, -32600), frame("notifications/x", id=None, params=7): (None, -32600),
    frame("ping", id=1.5): (None, -32600), frame("ping", id=2.0): (None, -32600), frame("ping", id={}): (None, -32600),
    frame("ping", id=[1]): (None, -32600), frame("ping", id=False): (None, -32600),
    frame("ping", id=None): (None, -32600), b'{"jsonrpc":"2.0","method":"ping","id"\t:\t-1e3}': (None, -32600),
}  # fmt: skip
"""What is no message, and the id and the code of the error that answers it."""


@pytest.mark.skipif(sys.platform == "win32", reason="select waits for pipes on POSIX only")
def test_a_line_that_is_no_message_is_answered_with_an_error_for_whoever_waits_for_it(wire):
    told = {}
    for sent, (name, _) in UNREADABLE.items():
        wire.send(sent + b"\n")
        [error] = wire.until(name)
        told[sent] = (error["id"], error["error"]["code"])
    assert told == UNREADABLE


@pytest.mark.skipif(sys.platform == "win32", reason="select waits for pipes on POSIX only")
@pytest.mark.parametrize(
    "sent",
    [
        b"", b"  ", b'{"jsonrpc":"2.0","id":null,"error":7}', b'{"jsonrpc":"2.0","id":[],"result":{}}', b'{"error":{}}',
        b'{"jsonrpc":"2.0","id":9,"result":[]}', frame("notifications/initialized", id=None),
    ],
)  # fmt: skip
def test_an_empty_line_and_an_answer_that_is_none_are_not_answered(wire, sent):
    wire.send(sent + b"\n" + GOOD + b"\n")
    assert [each["id"] for each in wire.until("good")] == ["good"]


# --- bodies over HTTP -----------------------------------------------------------------------------------------


def test_who_is_told_the_address_can_connect_before_the_server_is_up():
    with (
        listen(Address.parse("127.0.0.1:0")) as listening,
        socket.create_connection(listening.getsockname(), timeout=5),
    ):
        pass


def test_a_server_that_was_asked_to_end_before_it_was_up_ends():
    async def app(_scope, _receive, _send):
        raise NotImplementedError

    with listen(Address.parse("127.0.0.1:0")) as listening:
        assert serve_http(app, listening, asked_to_end=lambda: True) is None


HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@contextmanager
def listening(root: Path):
    """Yield the port of a server process that takes everybody for one agent."""
    with Workspace.init(root, environ={}):
        pass
    command = [
        sys.executable,
        "-m",
        "cli",
        "-w",
        str(root),
        "mcp",
        "--http",
        "127.0.0.1:0",
        "--as",
        "agent:scribe",
        "--no-worker",
    ]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    told: list[str] = []
    try:
        for line in process.stderr:
            told.append(line.decode())
            if found := re.search(r"serving at http://127\.0\.0\.1:(\d+)/", told[-1]):
                yield int(found[1]), process
                break
        else:
            pytest.fail(f"the server did not start: {told}")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def post(port: int, body: bytes, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(
            "POST", "/mcp", body, {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
        )
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (BrokenPipeError, ConnectionResetError):  # it did not want to read so much
        return 413, ""
    finally:
        connection.close()


def test_whatever_comes_in_a_body_is_refused_and_the_server_goes_on(tmp_path):
    spoilt: list[tuple[bytes, dict[str, str]]] = [(body, {}) for body in FRAMES]
    spoilt += [
        (GOOD, {"Content_Type": "text/plain"}), (GOOD, {"Content_Type": "application/json; charset=utf-16"}),
        (GOOD, {"Accept": "text/html"}), (GOOD, {"MCP_Protocol_Version": "0"}),
        (GOOD, {"MCP_Protocol_Version": "x" * 5_000}), (GOOD, {"Mcp_Session_Id": "x"}),
        (GOOD, {"Mcp_Method": "tools/list", "MCP_Protocol_Version": "2026-07-28"}),
        (GOOD, {"Last_Event_ID": "9" * 5_000}), (GOOD, {"Content_Encoding": "gzip"}),
        (GOOD, {"Host": "evil.example"}), (GOOD, {"Origin": "https://evil.example"}), (b"x" * 20_000_000, {}),
    ]  # fmt: skip
    with listening(tmp_path) as (port, process):
        answers = [(*post(port, body, **headers), body[:120], headers) for body, headers in spoilt]
        assert process.poll() is None
        wrong = [each for each in answers if each[0] >= 500 or TELLTALES.search(each[1]) or '"internal"' in each[1]]
        assert wrong == []
        began = post(
            port,
            frame(
                "initialize",
                params={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "x", "version": "1"},
                },
            ),
        )
        assert began[0] == 200
    with Workspace.open(tmp_path, environ={}) as workspace:
        assert workspace.log.head().position == 0
