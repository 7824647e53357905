"""The public data sets, read from the folder that FALSIFY_TEST_DATA names."""

import gzip
import json
import os
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_FACT = re.compile(r"(arg|att)\(([^)]*)\)\.")
_STEP = re.compile(r"(?P<premises>[^;>]+?) -> (?P<head>\w+)")

needs_public_data = pytest.mark.skipif(
    "FALSIFY_TEST_DATA" not in os.environ, reason="FALSIFY_TEST_DATA does not name the folder of public data"
)


@dataclass(frozen=True)
class Framework:
    """An abstract argumentation framework."""

    name: str
    arguments: tuple[str, ...]
    attacks: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tree:
    """An entailment tree; `steps` are (premises, what they entail)."""

    name: str
    question: str
    texts: dict[str, str]
    distractors: frozenset[str]
    steps: tuple[tuple[tuple[str, ...], str], ...]


def frameworks() -> Iterator[Framework]:
    """Yield the 500 frameworks by name."""
    with tarfile.open(_folder() / "argumentation_frameworks.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            content = archive.extractfile(member)
            if content is not None:
                yield _framework(Path(member.name).stem, content.read().decode())


def trees() -> Iterator[Tree]:
    """Yield the 187 trees."""
    with gzip.open(_folder() / "entailment_trees_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield _tree(json.loads(line))


def _folder() -> Path:
    return Path(os.environ["FALSIFY_TEST_DATA"])


def _framework(name: str, text: str) -> Framework:
    facts = [(kind, tuple(body.replace(" ", "").split(","))) for kind, body in _FACT.findall(text)]
    return Framework(
        name=name,
        arguments=tuple(body[0] for kind, body in facts if kind == "arg"),
        attacks=tuple(dict.fromkeys((body[0], body[1]) for kind, body in facts if kind == "att")),
    )


def _tree(record: dict) -> Tree:
    meta = record["meta"]
    steps = tuple(
        (tuple(p.strip() for p in step["premises"].split("&")), step["head"])
        for step in _STEP.finditer(meta["step_proof"])
    )
    texts = {**meta["triples"], **meta["intermediate_conclusions"], "hypothesis": record["hypothesis"]}
    return Tree(record["id"], record["question"], texts, frozenset(meta["distractors"]), steps)
