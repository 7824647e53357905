"""The golden file: what can stand in it, what is said of a fault, how it is written, and that the manual agrees."""

import re
from itertools import groupby
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined, to_json

from falsify.clock import SteppingClock
from falsify.errors import InvalidInputError, NotFoundError
from falsify.log import Command, open_log
from falsify.transfer import export_log, import_log
from replay import golden
from replay.cutoff import NOW, Cutoff
from replay.golden import Checkpoint, Golden, RecallExpectation
from replay.scenario import check
from tests.mirror_world import HashEmbedder

GOLDENS = Path(__file__).parent / "goldens"
MANUAL = (Path(__file__).parent.parent / "docs" / "replay-tests.md").read_text(encoding="utf-8")


def read(tmp_path, text, name="x.golden.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return golden.read(path)


# --- reading -------------------------------------------------------------------------------------------------


def test_everything_that_can_stand_in_a_golden_file(tmp_path):
    text = """
log: logs/x.log.jsonl
stream: project:q3
embedder: minilm
checkpoints:
  - epoch: 0
  - position: 12
    labels: {K: alive, L: absent}
  - as_of: 2021-03-15
    valid_at: 2020-12-31
    snapshot: x.json
    digest: v1-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  - frontier: {Why?: A, Q-12: null}
    standings: {A: 1, B: -0.5}
    confidence: {K: 0.72}
    recall:
      - {query: " Why? ", top: [A, B], never: [C], conflicts: [], limit: 7}
      - query: And else?
"""
    document = read(tmp_path, text)
    assert document.value == Golden(
        log="logs/x.log.jsonl",
        stream="project:q3",
        embedder="minilm",
        checkpoints=(
            Checkpoint(epoch=0),
            Checkpoint(position=12, labels={"K": "alive", "L": "absent"}),
            Checkpoint(
                as_of="2021-03-15",
                valid_at="2020-12-31",
                snapshot="x.json",
                digest="v1-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            ),
            Checkpoint(
                frontier={"Why?": "A", "Q-12": None},
                standings={"A": 1.0, "B": -0.5},
                confidence={"K": 0.72},
                recall=(
                    RecallExpectation(query="Why?", top=("A", "B"), never=("C",), conflicts=(), limit=7),
                    RecallExpectation(query="And else?"),
                ),
            ),
        ),
    )
    points = document.value.checkpoints
    assert [p.cutoff for p in points] == [Cutoff(epoch=0), Cutoff(position=12), Cutoff(as_of="2021-03-15"), NOW]
    assert [p.name for p in points] == ["epoch 0", "position 12", "as of 2021-03-15, valid at 2020-12-31", "now"]
    assert document.place(("checkpoints", 1)) == (7, 5)
    assert document.place(("checkpoints", 3, "recall", 0, "never")) == (17, 47)


LOG = "log: x.log.jsonl\n"
FAULTS = {
    LOG + "checkpoint: []\n": (2, 1, "unknown key 'checkpoint'", "checkpoints, embedder, log, stream"),
    LOG + "checkpoints:\n  - lables: {K: alive}\n": (3, 5, "unknown key 'lables'", "as_of, confidence, digest, epoch"),
    LOG + "checkpoints:\n  - recall:\n      - query: Why?\n        nver: [K]\n": (
        5, 9, "unknown key 'nver'", "conflicts, limit, never, query, top",
    ),
    "checkpoints: [{epoch: 0}]\n": (1, 1, "'log' is missing", ""),
    "log: x.txt\ncheckpoints: [{epoch: 0}]\n": (1, 6, "log: String should match pattern", ""),
    LOG + "checkpoints: []\n": (2, 14, "checkpoints: Tuple should have at least 1 item", ""),
    LOG + "checkpoints: [{epoch: -1}]\n": (2, 23, "checkpoints.0.epoch: Input should be greater", ""),
    LOG + "checkpoints: [{epoch: '1'}]\n": (2, 23, "checkpoints.0.epoch: Input should be a valid integer", ""),
    LOG + "checkpoints:\n  - epoch: 1\n    as_of: 2021-01-01\n": (
        3, 5, "checkpoints.0: epoch and as_of each name a point in the log: give one of them", "",
    ),
    LOG + "checkpoints:\n  - as_of: 2021-02-30\n": (3, 12, "'2021-02-30' is not a value", ""),
    LOG + "checkpoints:\n  - as_of: yesterday\n": (3, 12, "checkpoints.0.as_of: the date 'yesterday'", ""),
    LOG + "checkpoints:\n  - epoch: 1\n  - epoch: 1\n": (3, 3, "checkpoints: epoch 1 has two checkpoints", ""),
    LOG + "checkpoints:\n  - labels:\n      K: dead\n": (4, 10, "checkpoints.0.labels.K", ""),
    LOG + "checkpoints:\n  - labels:\n      2021: alive\n": (4, 7, "the key 2021 is not text", "put it in quotes"),
    LOG + "checkpoints:\n  - labels: {K: alive, K: refuted}\n": (3, 24, "the key 'K' is given twice", ""),
    LOG + "checkpoints:\n  - digest: abc\n": (3, 13, "checkpoints.0.digest: String should match", ""),
    LOG + "checkpoints:\n  - confidence: {K: 1.5}\n": (3, 21, "checkpoints.0.confidence.K: Input should be less", ""),
    LOG + "checkpoints:\n  - recall: [{query: ''}]\n": (3, 22, "checkpoints.0.recall.0.query: the text is empty", ""),
    LOG + "checkpoints: [{epoch: 0}\n": (3, 1, "this is not YAML", ""),
    "log: &a x.log.jsonl\ncheckpoints: &b [{epoch: 0}]\nstream: *b\n": (
        2, 14, "anchors and aliases are not part of a golden file", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), FAULTS.items(), ids=[told[2] for told in FAULTS.values()])
def test_a_fault_is_told_with_its_place(tmp_path, text, told):
    line, column, message, hint = told
    with pytest.raises(InvalidInputError) as refused:
        read(tmp_path, text)
    assert refused.value.message.startswith(f"{tmp_path / 'x.golden.yaml'}, line {line}, column {column}: {message}")
    assert hint in refused.value.hint


def test_what_is_no_golden_file_at_all_is_refused(tmp_path):
    with pytest.raises(NotFoundError, match="there is no file"):
        golden.read(tmp_path / "x.golden.yaml")
    with pytest.raises(InvalidInputError, match="is not a golden file") as refused:
        read(tmp_path, "- a list\n")
    assert "log: NAME.log.jsonl" in refused.value.hint
    with pytest.raises(InvalidInputError, match="is a folder"):
        golden.read(tmp_path)
    (tmp_path / "x.golden.yaml").write_bytes(b"log: \xff")
    with pytest.raises(InvalidInputError, match=r"is not UTF-8 text \(byte 5\)"):
        golden.read(tmp_path / "x.golden.yaml")


# --- writing -------------------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30) | st.sampled_from(
    [
        "yes",
        "null",
        "2021",
        "2021-03-15",
        "1e5",
        "a: b",
        "# no",
        "- x",
        "*a",
        "&a",
        "{",
        "'",
        '"',
        "=",
        "<<",
        "~",
        " x ",
    ]
)
states = st.sampled_from(["alive", "refuted", "forgotten", "absent"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
shares = st.floats(0, 1)


def told(model, **fields):
    """Return a strategy for a model whose validators may refuse, or strip, what is drawn."""
    return st.builds(dict, **fields).map(lambda values: _valid(model, values)).filter(lambda value: value is not None)


def _valid(model, values):
    try:
        return model(**values)
    except ValidationError:
        return None


recalls = told(
    RecallExpectation,
    query=words,
    top=st.lists(words, max_size=3).map(tuple),
    never=st.lists(words, max_size=3).map(tuple),
    conflicts=st.none() | st.lists(words, max_size=2).map(tuple),
    limit=st.integers(1, 20),
)
checkpoints = told(
    Checkpoint,
    epoch=st.none() | st.integers(0, 5),
    valid_at=st.sampled_from(["", "2021-03-15", "2021-03-15T10:00:00Z"]),
    digest=st.sampled_from(["", "v1-" + "0" * 64, "v1-" + "1e10" * 16]),
    snapshot=st.sampled_from(["", "x.json"]),
    labels=st.dictionaries(words, states, max_size=4),
    frontier=st.dictionaries(words, st.none() | words, max_size=2),
    standings=st.dictionaries(words, numbers, max_size=2),
    confidence=st.dictionaries(words, shares, max_size=2),
    recall=st.lists(recalls, max_size=2).map(tuple),
)
goldens = told(
    Golden,
    log=st.sampled_from(["x.log.jsonl", "yes: no.jsonl"]),
    stream=words,
    embedder=st.sampled_from(["", "minilm"]),
    checkpoints=st.lists(checkpoints, min_size=1, max_size=3, unique_by=lambda c: c.name).map(tuple),
)


@given(goldens, st.dictionaries(words, words))
def test_what_is_written_is_read_back(tmp_path_factory, written, notes):
    text = golden.write(written, notes=notes)
    assert text == golden.write(written, notes=dict(reversed(notes.items())))
    document = read(tmp_path_factory.getbasetemp(), text)
    assert document.value == written


def test_a_golden_file_reads_like_this():
    written = Golden(
        log="x.log.jsonl",
        checkpoints=(
            Checkpoint(
                epoch=1,
                digest="v1-" + "0" * 64,
                labels={"E-12": "alive", "K": "forgotten"},
                frontier={"Why: this?": "H-3", "Q2": None},
                standings={"A": 0.5},
                recall=(RecallExpectation(query="Why?", top=("E-12",), conflicts=()),),
            ),
        ),
    )
    notes = {"E-12": "A claim\n  over lines, " + "long " * 30, "H-3": "An answer"}
    assert (
        golden.write(written, notes=notes)
        == f"""\
# What the log beside this file must replay to. Written by `falsify record-golden`; edit it as you like.
# Every key is described in docs/replay-tests.md.
log: x.log.jsonl
stream: project:main
checkpoints:
  - epoch: 1
    digest: v1-{"0" * 64}
    labels:
      E-12: alive  # A claim over lines, long long long long long long long long long long long long long long…
      K: forgotten
    frontier:
      'Why: this?': H-3  # An answer
      Q2: null
    standings:
      A: 0.5
    recall:
      - query: Why?
        top:
          - E-12  # A claim over lines, long long long long long long long long long long long long long long…
        conflicts: []
"""
    )


# --- the manual ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "model"), [("The file", Golden), ("A checkpoint", Checkpoint), ("A recall", RecallExpectation)]
)
def test_the_manual_describes_every_key(heading, model):
    section = MANUAL.split(f"### {heading}\n")[1].split("\n#")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == list(reference(model))


def reference(model: type[BaseModel]):
    for name, field in model.model_fields.items():
        default = "required" if field.default is PydanticUndefined else f"`{to_json(field.default).decode()}`"
        yield f"| `{name}` | {default} | {field.description} |"


def test_the_examples_of_the_manual_are_what_they_say(tmp_path):
    examples = re.findall(r"```yaml\n(.+?)```", MANUAL, re.DOTALL)
    for example in examples:
        assert yaml.safe_load(example)
    files = [example for example in examples if "checkpoints:" in example]
    assert files
    for file in files:
        assert read(tmp_path, file).value.checkpoints


def test_the_failures_that_the_manual_shows_are_what_is_told(tmp_path):
    log, path = (tmp_path / name for name in ("company-x.log.jsonl", "company-x.golden.yaml"))
    committed = {file: (GOLDENS / file.name).read_bytes() for file in (log, path)}

    def told(file, content):
        for each, as_it_was in committed.items():
            each.write_bytes(as_it_was)
        file.write_bytes(content)
        failures = check(path, embedder=NoEmbedder()).failures
        lines = [f"{path.name}:{f.line}: {f}" for f in failures if "recall" not in str(f)]
        return re.sub(r"\b([0-9a-f]{4})[0-9a-f]{60}\b", r"\1…", "\n".join(lines))

    golden_text = committed[path].decode()
    epoch_1 = golden_text.index("  - epoch: 1")
    other_label = golden_text[:epoch_1] + golden_text[epoch_1:].replace("K: forgotten", "K: alive", 1)
    digest = re.compile(r"digest: v1-[0-9a-f]{4}").search(golden_text, epoch_1)
    other_digest = golden_text[: digest.end() - 4] + "c0de" + golden_text[digest.end() :]
    records = committed[log].splitlines(keepends=True)
    flip = next(n for n, line in enumerate(records) if b"belief.conclusion_invalidated" in line)
    shown = [
        told(path, other_label.encode()),
        told(log, committed[log].replace(b"back-dated.", b"accurate.")),
        told(log, without(committed[log], flip)),
        told(path, other_digest.encode()),
    ]
    assert shown == re.findall(r"```text\n(.+?)\n```", MANUAL, re.DOTALL)


def without(content, place):
    """Return an exported log without one of its records, hashed anew."""
    source, forged = open_log("memory:"), open_log("memory:", clock=SteppingClock(step=3_600_000_000))
    import_log(source, content.splitlines(keepends=True))
    for name, command in groupby(source.read(), key=lambda r: r.command):
        kept = [r for r in command if r.position != place]
        forged.append(
            kept[0].stream,
            [r.event for r in kept],
            expected_revision=forged.revision(kept[0].stream),
            command=Command(id=name, actor=kept[0].actor, tool="forgery"),
        )
    return b"".join(export_log(forged))


class NoEmbedder(HashEmbedder):
    """Stands in for the model, whose answers are compared elsewhere."""

    name = "none"
