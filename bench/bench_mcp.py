"""How the server of the tools does beside a bare one of the same SDK: its start, and its calls over stdio and HTTP.

    python bench/bench_mcp.py

The bare server lists the same tools, schemas and all, and answers every call with a constant, which is what
`falsify.project.get_state` answers of this project: the difference is what Falsify does. Both are processes that the
official client talks to, and take turns. A start is from the spawn to the answer to tools/list, at most 1.5 times the
bare one's; calls are to be at least 0.7 times as many a second.
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from mcp import Client, StdioServerParameters  # noqa: E402 - the project is found by its path
from mcp.client.stdio import stdio_client  # noqa: E402

from falsify import join  # noqa: E402
from falsify.config_keys import parse_key  # noqa: E402
from falsify.workbench import nodes  # noqa: E402
from falsify.workbench.contract import checked  # noqa: E402
from falsify.workbench.events import Contract  # noqa: E402
from surfaces.workbench import Work, Workbench  # noqa: E402
from surfaces.workspace import Workspace  # noqa: E402

READ = ("falsify.project.get_state", {"project_id": "p1"})
AGENT = "agent:bench"

BARE = """\
import json, socket, sys
from pathlib import Path

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

known = json.loads(Path(sys.argv[1]).read_bytes())
listed = types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in known["tools"]])
answer = known["answer"]


async def list_tools(context, params):
    return listed


async def call_tool(context, params):
    text = types.TextContent(type="text", text=answer)
    return types.CallToolResult(content=[text], structured_content=json.loads(answer))


schemas = {tool.name: tool.input_schema for tool in listed.tools}
server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=schemas.get)


async def over_stdio():
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if sys.argv[2] == "stdio":
    anyio.run(over_stdio)
else:
    import uvicorn

    # With the protocol named, as asyncio sends without delay only then.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    print(f"serving at http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    app = server.streamable_http_app(streamable_http_path="/mcp")
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listening])
"""


# --- the two servers ------------------------------------------------------------------------------------------


def prepare(folder: Path) -> None:
    """Make a workspace with a project, and the bare server that knows its answer."""
    keys = (parse_key("hidden_width=int:[1,128]"),)
    terms = Contract(
        metric="val_acc", direction="maximize", minimum_effect=0.01, noise_floor=0.005, tolerance=0.02, keys=keys,
        base={"hidden_width": 8, "dataset": "spirals"}, seed=7, executor="builtin", budget_runs=20,
        budget_seconds=600.0, run_seconds=60.0, required_evidence=(),
    )  # fmt: skip
    agreed = checked(terms, keys, (parse_key("dataset=choice:spirals,moons"),))
    begun = {"project_id": "p1", "objective": "What helps?", "mode": "AUTORESEARCH", "contract": agreed, "parent": ""}
    with Workspace.init(folder, environ={}) as workspace:
        bench = Workbench(workspace, "p1", new=True)
        for decide in (
            lambda s: join.create_project(s.project, s.graph, caller="owner", **begun),
            lambda s: [*nodes.register_baseline(s.project, caller="owner")],
        ):
            bench.perform(Work(tool="bench", arguments={}, decide=decide, result=lambda _s, _e: {}), caller="owner")
    (folder / "bare.py").write_text(BARE, encoding="utf-8")
    (folder / "known.json").write_text(json.dumps(asyncio.run(known_of(ours(folder)))), encoding="utf-8")


async def known_of(command: list[str]) -> dict[str, object]:
    """Return the tools that a server lists, as they are on the wire, and what it answers to the read."""
    async with Client(spawned(command)) as client:
        tools = (await client.list_tools()).tools
        told = await client.call_tool(*READ)
        listed = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
        return {"tools": listed, "answer": told.content[0].text}


def ours(folder: Path, *words: str) -> list[str]:
    return [str(ROOT / "cli.py"), "-w", str(folder), "mcp", "--as", AGENT, *words]


def bare(folder: Path, over: str) -> list[str]:
    return [str(folder / "bare.py"), str(folder / "known.json"), over]


def spawned(command: list[str]):
    return stdio_client(
        StdioServerParameters(command=sys.executable, args=command, cwd=ROOT), errlog=subprocess.DEVNULL
    )


@contextmanager
def listening(command: list[str]):
    """Yield the URL of a server that tells it on its standard error."""
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield next(found[1] for line in process.stderr if (found := re.search(r"serving at (http://\S+)", line)))
    finally:
        process.terminate()
        process.communicate()


# --- measuring ------------------------------------------------------------------------------------------------


async def start(command: list[str]) -> float:
    """Return the seconds from the spawn of a server to its answer to tools/list."""
    began = time.perf_counter()
    async with Client(spawned(command)) as client:
        await client.list_tools()
        return time.perf_counter() - began


async def calls_a_second(connect: Callable[[], object], calls: int) -> float:
    """Return how many reads a second a server answers, one after the other, to a client that has made some."""
    async with Client(connect()) as client:
        for _ in range(20):
            await client.call_tool(*READ)
        began = time.perf_counter()
        for _ in range(calls):
            await client.call_tool(*READ)
        return calls / (time.perf_counter() - began)


def compared(name: str, unit: str, rounds: int, measure: tuple[Callable[[], float], Callable[[], float]]) -> None:
    """Measure both sides in turns, and print their medians and the ratio."""
    own, other = [], []
    for _ in range(rounds):
        other.append(measure[1]())
        own.append(measure[0]())
    middle, base = statistics.median(own), statistics.median(other)
    spread = sorted(mine / theirs for mine, theirs in zip(own, other, strict=True))
    print(
        f"{name:28}{middle:>10.2f}{base:>10.2f} {unit:8}{middle / base:>7.2f}x  ({spread[0]:.2f} to {spread[-1]:.2f})"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=300, help="calls of each side in a round")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as open_:
        folder = Path(name)
        prepare(folder)
        tools = json.loads((folder / "known.json").read_bytes())["tools"]
        print(f"{len(tools)} tools\n{'':28}{'ours':>10}{'bare':>10}")

        def both(measure, *sides):
            return tuple(lambda side=side: asyncio.run(measure(side)) for side in sides)

        sides = (ours(folder, "--no-worker"), bare(folder, "stdio"))
        compared("spawn to tools/list", "s", options.rounds, both(start, ours(folder), sides[1]))
        compared("the same without a worker", "s", options.rounds, both(start, *sides))
        throughput = both(lambda side: calls_a_second(lambda: spawned(side), options.calls), *sides)
        compared("get_state over stdio", "calls/s", options.rounds, throughput)
        addresses = (ours(folder, "--no-worker", "--http", "127.0.0.1:0"), bare(folder, "http"))
        urls = [open_.enter_context(listening(command)) for command in addresses]
        throughput = both(lambda url: calls_a_second(lambda: url, options.calls), *urls)
        compared("get_state over HTTP", "calls/s", options.rounds, throughput)


if __name__ == "__main__":
    main()
