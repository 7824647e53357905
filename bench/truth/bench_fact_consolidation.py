"""FactConsolidation (MemoryAgentBench): facts that overrule each other, then questions, without a language model.

    python bench/truth/bench_fact_consolidation.py --data fact_consolidation_6k.json.gz

Every numbered fact is one `fact` command of a workspace, in order and undated, with the offline judge and the bundled
embedder. The questions are then put to recall. An answer is right by the benchmark's own rule: an accepted answer is a
substring of it, both in lower case without punctuation and articles. `exact` counts those that are an accepted answer
and nothing else. Plain RAG is the nearest sentence of all, by the same embedder.

As-of: at a sample of prefixes, every slot (or a sample of them) is asked for at that epoch; the truth is the latest
value with a number up to it, read by the patterns below and not by Falsify's own parser.
"""

import argparse
import gzip
import json
import random
import re
import string
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from falsify.belief.revision import AssertFact
from replay.cutoff import Cutoff
from surfaces.workspace import Workspace

QUESTION = "What is true?"

# How the data set words its facts, and how it asks for each: what the as-of check reads the truth by.
PATTERNS = [
    (re.compile(pattern), question)
    for pattern, question in (
        (r"(.+) was born in the city of (.+)", "Which city was {} born in?"),
        (r"(.+) died in the city of (.+)", "Which city did {} die in?"),
        (r"(.+) worked in the city of (.+)", "Which city did {} work in?"),
        (r"(.+) works in the field of (.+)", "What kind of work does {} do?"),
        (r"(.+) plays the position of (.+)", "What position does {} play?"),
        (r"The headquarters of (.+) is located in the city of (.+)", "Which city is the headquarter of {} located in?"),
        (r"(.+) is located in the continent of (.+)", "Which continent is {} located in?"),
        (r"(.+) is associated with the sport of (.+)", "Which sport is {} associated with?"),
        (r"(.+) is affiliated with the religion of (.+)", "Which religion is {} affiliated with?"),
        (r"(.+) was created in the country of (.+)", "Which country was {} created in?"),
        (r"(.+) was founded in the city of (.+)", "Where was {} founded?"),
        (r"(.+) was written in the language of (.+)", "What language was {} written in?"),
        (r"(.+) speaks the language of (.+)", "What language does {} speak?"),
        (r"(.+) is a citizen of (.+)", "What is the country of citizenship of {}?"),
        (r"(.+) is married to (.+)", "Who is {} married to?"),
        (r"(.+) is employed by (.+)", "Who is the employer of {}?"),
        (r"(.+) is famous for (.+)", "What is {} famous for?"),
        (r"(.+) was founded by (.+)", "Who founded {}?"),
        (r"(.+) was created by (.+)", "Who was {} created by?"),
        (r"(.+) was developed by (.+)", "Who is the developer of {}?"),
        (r"(.+) was performed by (.+)", "Who performed {}?"),
        (r"(.+)'s child is (.+)", "Who is {}'s child?"),
        (r"The univeristy where (.+) was educated is (.+)", "Which university was {} educated at?"),
        (r"The type of music that (.+) plays is (.+)", "What type of music does {} play?"),
        (r"The company that produced (.+) is (.+)", "Which company is {} produced by?"),
        (
            r"The name of the current head of state in (.+) is (.+)",
            "What is the name of the current head of state in {}?",
        ),
        (
            r"The name of the current head of the (.+) government is (.+)",
            "What is the name of the current head of the {} government?",
        ),
        (r"The author of (.+) is (.+)", "Who is the author of {}?"),
        (r"The director of (.+) is (.+)", "Who is the director of {}?"),
        (r"The capital of (.+) is (.+)", "What is the capital of {}?"),
        (r"The chairperson of (.+) is (.+)", "Who is the chairperson of {}?"),
        (r"The chief executive officer of (.+) is (.+)", "Who is the chief executive officer of {}?"),
        (r"The official language of (.+) is (.+)", "What is the official language of {}?"),
        (r"The origianl broadcaster of (.+) is (.+)", "Who is the original broadcaster of {}?"),
        (r"The (Prime Minister|President|Governor|Mayor|Chancellor) of (.+) is (.+)", "Who is the {} of {}?"),
    )
]


@dataclass(frozen=True)
class Asked:
    """What was answered to the questions of one kind."""

    name: str
    right: int
    exact: int
    answered: int
    plain: int
    total: int
    seconds: float


def main() -> None:
    """Run everything and print the table."""
    options = _options()
    sets = _sets(options.data)
    facts = _facts(sets[0]["context"])[: options.facts or None]
    with tempfile.TemporaryDirectory() as folder, Workspace.init(Path(folder)) as workspace:
        seconds = record(workspace, facts)
        print(f"{len(facts)} facts recorded in {seconds:.1f} s: {len(facts) / seconds:.1f} facts/s, judge included")
        states = [workspace.graph.nodes[i].state for i in _ids(workspace, facts)]
        print(f"living {states.count('alive')}, not living {len(states) - states.count('alive')}")
        print(f"\n{'questions':<28}{'recall':>8}{'exact':>8}{'answered':>10}{'plain RAG':>11}{'of':>6}{'ms each':>9}")
        for named in sets:
            told = ask(workspace, facts, named)
            each = 1000 * told.seconds / told.total
            print(
                f"{told.name:<28}{told.right:>8}{told.exact:>8}{told.answered:>10}{told.plain:>11}{told.total:>6}{each:>9.1f}"
            )
        if options.prefixes:
            right, asked, wrong, unread = as_of(workspace, facts, prefixes=options.prefixes, slots=options.slots)
            print(f"\nas of {options.prefixes} prefixes: {right} of {asked} slots right ({right / max(1, asked):.2%})")
            if unread:
                print(f"{unread} facts were worded in none of the ways this script knows")
            for line in wrong[: options.show]:
                print("  " + line)


def record(workspace: Workspace, facts: Sequence[str]) -> float:
    """Record every fact by a command of its own; return how many seconds that took."""
    workspace.ask(QUESTION)
    question_id = workspace.question().id
    started = time.perf_counter()
    for fact in facts:
        workspace.fact(AssertFact(question_id=question_id, text=fact))
    return time.perf_counter() - started


def ask(workspace: Workspace, facts: Sequence[str], named: dict) -> Asked:
    """Put the questions to recall and to plain RAG."""
    accepted = [[normal(a) for a in answers] for answers in named["answers"]]
    started = time.perf_counter()
    recalled = [workspace.recall(question, limit=1).answer for question in named["questions"]]
    seconds = time.perf_counter() - started
    texts = [normal(answer["text"]) if answer else "" for answer in recalled]
    sentences = workspace.embedder.embed(facts)
    nearest = np.argmax(workspace.embedder.embed(named["questions"]) @ sentences.T, axis=1)
    return Asked(
        name=named["source"].removeprefix("factconsolidation_"),
        right=sum(any(a in text for a in answers) for text, answers in zip(texts, accepted, strict=True)),
        exact=sum(text in answers for text, answers in zip(texts, accepted, strict=True)),
        answered=sum(answer is not None for answer in recalled),
        plain=sum(any(a in normal(facts[n]) for a in answers) for n, answers in zip(nearest, accepted, strict=True)),
        total=len(texts),
        seconds=seconds,
    )


def as_of(workspace: Workspace, facts: Sequence[str], *, prefixes: int, slots: int) -> tuple[int, int, list[str], int]:
    """Ask for slots at prefixes: how many were right, of how many, which were wrong, and how many facts were unread."""
    order = random.Random(6)
    read = [_read(fact) for fact in facts]
    ends = sorted(order.sample(range(1, len(facts) + 1), min(prefixes, len(facts))))
    right, asked, wrong = 0, 0, []
    for end in ends:
        truth = dict(pair for pair in read[:end] if pair)
        graph = workspace.view(Cutoff(epoch=end)).graph
        for question in order.sample(sorted(truth), min(slots, len(truth))) if slots else sorted(truth):
            answer = workspace.recall(question, limit=1, graph=graph).answer
            told = answer["text"] if answer else ""
            asked += 1
            if normal(truth[question]) in normal(told):
                right += 1
            else:
                wrong.append(f"at {end}: {question} {told!r} instead of {truth[question]!r}")
    return right, asked, wrong, sum(pair is None for pair in read)


def normal(text: str) -> str:
    """Return a text as the benchmark compares it: no case, punctuation or articles."""
    plain = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def _read(fact: str) -> tuple[str, str] | None:
    """Return the question that a fact answers, and the answer."""
    for pattern, question in PATTERNS:
        if found := pattern.fullmatch(fact.removesuffix(".")):
            *subject, value = found.groups()
            return question.format(*subject), value
    return None


def _ids(workspace: Workspace, facts: Sequence[str]) -> Iterator[str]:
    question_id = workspace.question().id
    yield from dict.fromkeys(AssertFact(question_id=question_id, text=fact).fact_id for fact in facts)


def _sets(path: Path) -> list[dict]:
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def _facts(context: str) -> list[str]:
    numbered = re.compile(r"(\d+)\. (.+)")
    return [found[2].strip() for line in context.splitlines() if (found := numbered.fullmatch(line.strip()))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a fact_consolidation file, .json or .json.gz")
    parser.add_argument("--facts", type=int, default=0, help="how many facts; 0 for all")
    parser.add_argument("--prefixes", type=int, default=20, help="how many prefixes to ask as of; 0 for none")
    parser.add_argument("--slots", type=int, default=0, help="how many slots of each prefix; 0 for all")
    parser.add_argument("--show", type=int, default=10, help="how many wrong answers to show")
    return parser.parse_args()


if __name__ == "__main__":
    main()
