"""What the log costs over the bare SQLite it is written on: appending, and replaying a million records.

    python bench/bench_log.py --events 1000000

Both sides of a ratio run in turns, on the same table with the same pragmas, and each replay in a process of its own,
whose peak memory is what the table shows. A commit waits for the disk, so appending one event at a time measures the
disk more than either side.
"""

import argparse
import multiprocessing
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import orjson

from falsify.codec import encode, topic
from falsify.events import Event, event
from falsify.log import Command, EventLog, canonical, open_log
from falsify.recorders.sqlite_tables import LAYOUT

STREAM = "project:main"
COLUMNS = "position, originator_id, originator_version, epoch, recorded_at, actor, command, topic, hash, state"


@event("bench.evidence_noted")
class EvidenceNoted(Event):
    """About the size of a verdict: 530 bytes of JSON."""

    node_id: str
    question_id: str
    reason: str
    weight: float
    shown: tuple[str, ...]
    asserted_at: str
    text: str


def noted(number: int) -> EvidenceNoted:
    return EvidenceNoted(
        node_id=f"E-{number:016x}",
        question_id="Q-0123456789abcdef",
        reason="the sample was too small to tell. " * 3,
        weight=0.5,
        shown=("f" * 64, "e" * 64),
        asserted_at="2026-01-01T00:00:00Z",
        text="it holds for all temperatures " * 3,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000, help="records to replay")
    parser.add_argument("--appends", type=int, default=2_000, help="events to append for each size and round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, of which the median counts")
    parser.add_argument("--folder", type=Path, help="where to put the files; a temporary folder if not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = [*append_rows(Path(folder), options.appends, options.rounds)]
        rows += replay_rows(Path(folder) / "replay.db", options.events, options.rounds)
    print(f"{'':34}{'raw SQLite':>16}{'Falsify':>16}{'ratio':>8}{'peak RSS (MB)':>18}")
    for name, raw, ours, ratio, memory in rows:
        print(f"{name:34}{raw:>16}{ours:>16}{ratio:>8}{memory:>18}")


# --- appending -------------------------------------------------------------------------------------------


def append_rows(folder, events, rounds):
    for size in (1, 10, 100):
        count = events if size > 1 else events // 4
        pairs = []
        for number in range(rounds):
            raw = timed(append_raw, folder / f"raw-{size}-{number}.db", count, size)
            ours = timed(append_ours, folder / f"ours-{size}-{number}.db", count, size)
            pairs.append((raw, ours))
        yield row(f"append, {size} per transaction", count, pairs, "")


def append_raw(path, count, size):
    with sqlite3.connect(path, isolation_level=None) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("PRAGMA synchronous = FULL")
        for statement in LAYOUT:
            raw.execute(statement)
        batches = [[record(number) for number in range(at, at + size)] for at in range(1, count + 1, size)]
        started = time.perf_counter()
        for batch in batches:
            raw.execute("BEGIN")
            raw.executemany(f"INSERT INTO stored_events ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?)", batch)
            raw.execute("COMMIT")
        elapsed = time.perf_counter() - started
    raw.close()
    return elapsed


def record(number):
    fact = noted(number)
    return number, STREAM, number, 0, number, "agent:bench", f"c{number}", topic(fact), b"h" * 32, encode(fact)


def append_ours(path, count, size):
    with open_log(path) as log:
        batches = [[noted(number) for number in range(at, at + size)] for at in range(1, count + 1, size)]
        started = time.perf_counter()
        append_all(log, batches)
        return time.perf_counter() - started


def append_all(log: EventLog, batches) -> None:
    revision = 0
    for number, batch in enumerate(batches):
        body = canonical({"batch": number, "size": len(batch)})
        command = Command(id=f"c{number}", actor="agent:bench", tool="bench.note", key=f"k{number}", body=body)
        revision = log.append(STREAM, batch, expected_revision=revision, command=command).revision


# --- replaying -------------------------------------------------------------------------------------------


def replay_rows(path, events, rounds):
    apart(build, path, events)
    for name, ours in (("replay", replay_ours), ("replay of one stream", replay_stream), ("verify", verify)):
        pairs, memory = [], []
        for _ in range(rounds):
            (raw, raw_memory), (mine, my_memory) = apart(replay_raw, path), apart(ours, path)
            pairs.append((raw, mine))
            memory.append((raw_memory, my_memory))
        peak = " / ".join(f"{max(side):.0f}" for side in zip(*memory, strict=True))
        yield row(f"{name}, {events:,} records", events, pairs, peak)


def build(path, events):
    with open_log(path) as log:
        append_all(log, ([noted(n) for n in range(at, min(at + 1000, events))] for at in range(0, events, 1000)))


def replay_raw(path):
    raw = sqlite3.connect(path)
    started = time.perf_counter()
    for columns in raw.execute(f"SELECT {COLUMNS} FROM stored_events ORDER BY position"):
        orjson.loads(columns[9])
    return time.perf_counter() - started


def replay_ours(path):
    with open_log(path) as log:
        started = time.perf_counter()
        for _recorded in log.read():
            pass
        return time.perf_counter() - started


def replay_stream(path):
    with open_log(path) as log:
        started = time.perf_counter()
        deque(log.read(stream=STREAM), maxlen=0)
        return time.perf_counter() - started


def verify(path):
    with open_log(path) as log:
        started = time.perf_counter()
        assert log.verify().ok
        return time.perf_counter() - started


# --- measuring -------------------------------------------------------------------------------------------


def timed(function, path, *arguments):
    elapsed = function(path, *arguments)
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    return elapsed


def apart(function, *arguments):
    """Call the function in a fresh process; return what it returns, and the process's peak memory in MB."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, function, *arguments).result()


def measured(function, *arguments):
    result = function(*arguments)
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def row(name, events, pairs, memory):
    raw, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(mine / theirs for theirs, mine in pairs)
    return name, f"{events / raw:,.0f}/s", f"{events / ours:,.0f}/s", f"{ratio:.2f}x", memory


if __name__ == "__main__":
    main()
