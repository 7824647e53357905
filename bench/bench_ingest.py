"""How fast documents are taken in, offline: reading, deciding, recording, and one sync of the claims index with it.

A text of 2,000 different sentences, the same edited in a tenth of them, and the same again; then the text in 100 files.
Run: python bench/bench_ingest.py [SENTENCES]
"""

import sys
import tempfile
import time
from pathlib import Path

from falsify.clock import SteppingClock
from surfaces.intake import Found, Wishes, find, take
from surfaces.workspace import Workspace

SENTENCES = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
PARTS = ("pump", "valve", "seal", "motor", "gauge", "filter", "pipe", "tank", "fan", "sensor", "relay")
STATES = ("leaks", "is worn", "was replaced", "failed", "runs hot", "is new", "was inspected", "vibrates", "is shut")
WHERE = ("in hall 3", "on the roof", "at the north gate", "of line 2", "in the cellar", "behind the boiler", "at sea")


def sentence(number, *, edited=False):
    part, state, where = PARTS[number % 11], STATES[number % 9], WHERE[number % 7]
    return f"The {part} {number} {where} {state} since day {number % 365}{', as was seen later' if edited else ''}."


def text(numbers, *, edited=()):
    words = [sentence(n, edited=n in edited) for n in numbers]
    return "\n\n".join(" ".join(words[start : start + 8]) for start in range(0, len(words), 8)) + "\n"


def timed(what, claims, work):
    started = time.perf_counter()
    work()
    took = time.perf_counter() - started
    print(f"{what:<46}{took:>8.2f} s {claims / took * 60:>12,.0f} a minute")


def main():
    print(f"{'':<46}{'time':>8}   {'claims':>12}")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with Workspace.init(root, environ={}, clock=SteppingClock()) as workspace:
            workspace.ask("What broke?")
            workspace.embedder.embed(["warm up"])
            numbers, edited = range(SENTENCES), set(range(0, SENTENCES, 10))
            file = root / "text.txt"

            def ingest():
                take(workspace, Found(file, named=True), Wishes())

            file.write_text(text(numbers), encoding="utf-8")
            timed("one text: read, decide, record", SENTENCES, ingest)
            timed("its embeddings and the index", SENTENCES, lambda: workspace.index)
            timed("the same text again", SENTENCES, ingest)
            file.write_text(text(numbers, edited=edited), encoding="utf-8")
            timed("a tenth of its sentences edited, with the index", SENTENCES, lambda: (ingest(), workspace.index))

            many = root / "many"
            many.mkdir()
            shifted = range(SENTENCES, 2 * SENTENCES)
            for start in range(0, SENTENCES, max(1, SENTENCES // 100)):
                part = shifted[start : start + max(1, SENTENCES // 100)]
                (many / f"{start:06}.txt").write_text(text(part), encoding="utf-8")

            def folder_():
                for found in find([many])[0]:
                    take(workspace, found, Wishes())
                _ = workspace.index

            timed("the same many in 100 files, with the index", SENTENCES, folder_)
            timed("those 100 files again", SENTENCES, folder_)


if __name__ == "__main__":
    main()
