"""What every embedder keeps to, and what those of others do when they are not there."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from falsify import models
from falsify.embedders import openai_compatible
from falsify.embedders.bundled import BundledEmbedder
from falsify.embedders.calibration import DEFAULT, TABLE, calibration, keeping
from falsify.embedders.fastembed import FastembedEmbedder
from falsify.embedders.openai_compatible import OpenAICompatibleEmbedder
from falsify.errors import InvalidInputError, UnavailableError
from surfaces.adapters import make_embedder
from surfaces.settings import Settings
from surfaces.workspace import Workspace
from tests.embedding_endpoint import serving
from tests.mirror_world import HashEmbedder

TEXTS = [
    "All backups are encrypted at rest.",
    "The launch was moved from 3 May to 17 June, because the supplier could not deliver.",
    "",
    "EU churn was 9 % last quarter.",
    "日本語 \N{PILE OF POO} " * 400,
    *(f"Sentence number {number} of a longer list." for number in range(70)),
]

STAND_IN = "BAAI/bge-small-en-v1.5"
"""A model of fastembed's as wide as the bundled one, and without a pooling of its own."""


@pytest.fixture(scope="module")
def endpoint():
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """Return a cache of fastembed's in which the bundled model lies in the place of another of the same shape.

    Its file ends with the pooled sentence, so it can only stand for a model whose output fastembed takes as it is.
    """
    folder = tmp_path_factory.mktemp("fastembed")
    repository = folder / "models--qdrant--bge-small-en-v1.5-onnx-q"
    snapshot = repository / "snapshots" / "bundled"
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("bundled")
    shutil.copy(models.path(models.EMBEDDER), snapshot / "model_optimized.onnx")
    shutil.copy(models.path(models.TOKENIZER), snapshot / "tokenizer.json")
    for name, content in {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 256, "pad_token": "[PAD]"},
        "special_tokens_map.json": {},
    }.items():
        (snapshot / name).write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module", params=["bundled", "openai", "fastembed"])
def embedder(request, endpoint, cache):
    if request.param == "bundled":
        return BundledEmbedder()
    if request.param == "openai":
        return OpenAICompatibleEmbedder(environ=endpoint.environ())
    return FastembedEmbedder(STAND_IN, cache=cache)


def test_an_embedder_says_what_it_is(embedder):
    assert embedder.name.strip() == embedder.name != ""
    assert embedder.dimensions > 0
    assert 0 < embedder.threshold < 2
    assert embedder.threshold == calibration(embedder.name).threshold


def test_every_text_is_a_unit_row_of_32_bit_floats(embedder):
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_text_is_no_row(embedder):
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_rows_come_in_the_order_of_the_texts_and_depend_on_no_other_text(embedder):
    together = embedder.embed(TEXTS)
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5


def test_the_same_call_gives_the_same_numbers(embedder):
    assert np.array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_a_text_is_nearer_to_itself_than_to_another(embedder):
    rows = embedder.embed([TEXTS[0], TEXTS[0].upper(), TEXTS[3]])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


# --- fastembed -------------------------------------------------------------------------------------------------


def test_fastembed_computes_what_the_bundled_embedder_computes_from_the_same_file(cache):
    rows = FastembedEmbedder(STAND_IN, cache=cache).embed(TEXTS)
    assert np.abs(rows - BundledEmbedder().embed(TEXTS)).max() < 1e-5


def test_a_model_that_is_not_in_the_cache_is_refused_where_nothing_may_be_fetched(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UnavailableError, match=r"all-MiniLM-L6-v2 is not in .* and cannot be fetched") as refusal:
        FastembedEmbedder(cache=tmp_path)
    assert 'embedder = "bundled"' in refusal.value.hint
    assert capfd.readouterr().err == ""


def test_a_model_that_fastembed_does_not_have_is_refused_with_those_it_has(tmp_path):
    with pytest.raises(InvalidInputError, match="no model 'nobody/nothing'") as refusal:
        FastembedEmbedder("nobody/nothing", cache=tmp_path)
    assert STAND_IN in refusal.value.hint


def test_a_damaged_model_is_a_refusal_and_no_crash(cache, tmp_path):
    copy = tmp_path / "cache"
    shutil.copytree(cache, copy)
    next(copy.rglob("model_optimized.onnx")).write_bytes(b"not a model")
    with pytest.raises(UnavailableError, match="fastembed's model"):
        FastembedEmbedder(STAND_IN, cache=copy).embed(["a text"])


# --- an endpoint -----------------------------------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch):
    monkeypatch.setattr(openai_compatible, "_PAUSE", 0.01)
    with serving() as server:
        yield server


def test_texts_are_sent_in_batches_with_the_model_and_the_key(failing):
    OpenAICompatibleEmbedder(environ=failing.environ(EMBEDDING_API_KEY="k")).embed(["a text", "", *TEXTS])
    assert [len(request["input"]) for request in failing.requests] == [64, 13]
    assert failing.requests[0]["input"][:2] == ["a text", " "]  # OpenAI refuses an empty one
    assert {request["path"] for request in failing.requests} == {"/v1/embeddings"}
    assert {request["model"] for request in failing.requests} == {"bag-of-words"}
    assert set(failing.keys) == {"Bearer k"}


def test_an_endpoint_that_is_busy_is_asked_again(failing):
    failing.status, failing.failures = 503, 2
    assert OpenAICompatibleEmbedder(environ=failing.environ()).embed(["a text"]).shape == (1, 64)
    assert len(failing.requests) == 3


@pytest.mark.parametrize(("status", "asked"), [(500, 3), (429, 3), (401, 1), (404, 1)])
def test_an_endpoint_that_refuses_is_reported_after_a_bounded_number_of_requests(failing, status, asked):
    failing.status = status
    with pytest.raises(UnavailableError, match=f"gave no embeddings: HTTP {status}: .*told to fail"):
        OpenAICompatibleEmbedder(environ=failing.environ()).embed(["a text"])
    assert len(failing.requests) == asked


def test_an_endpoint_that_is_not_there_is_reported(failing):
    failing.server.server_close()
    failing.server.shutdown()
    with pytest.raises(UnavailableError, match="gave no embeddings: ConnectError"):
        OpenAICompatibleEmbedder(environ=failing.environ()).embed(["a text"])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda _: b"<html>", "no vectors for 1 texts"),
        (lambda _: {"data": []}, "0 vectors for 1 texts"),
        (lambda _: {"data": [{"index": 0}]}, "vectors that cannot be read"),
        (lambda _: {"data": [{"index": 3, "embedding": [1.0] * 64}]}, "vectors that cannot be read"),
        (lambda _: {"data": [{"index": 0, "embedding": "AAAA"}]}, "vectors that cannot be read"),
        (lambda _: {"data": [{"index": 0, "embedding": [1.0] * 7}]}, "vectors of 7 dimensions"),
        (lambda _: {"data": [{"index": 0, "embedding": [0.0] * 64}]}, "a vector without a direction"),
        (lambda _: {"data": [{"index": 0, "embedding": [float("nan")] * 64}]}, "a vector without a direction"),
    ],
)
def test_an_answer_that_is_none_is_reported(failing, spoil, says):
    failing.spoil = spoil
    with pytest.raises(UnavailableError, match=says):
        OpenAICompatibleEmbedder(environ=failing.environ()).embed(["a text"])


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"EMBEDDING_PROVIDER": "gemini"}, "EMBEDDING_PROVIDER is 'gemini'"),
        ({"EMBEDDING_MODEL": "mine", "EMBEDDING_API_KEY": "k"}, "how many dimensions mine has"),
        ({"EMBEDDING_DIMENSIONS": "many", "EMBEDDING_API_KEY": "k"}, "EMBEDDING_DIMENSIONS is 'many'"),
        ({"EMBEDDING_ENDPOINT": "localhost:1"}, "no http address"),
        ({}, "OpenAI's embeddings need a key"),
    ],
)
def test_a_configuration_that_does_not_say_enough_is_refused(environ, says):
    with pytest.raises(InvalidInputError, match=says):
        OpenAICompatibleEmbedder(environ=environ)


def test_cognees_spelling_of_a_model_is_understood():
    environ = {"EMBEDDING_MODEL": "openai/text-embedding-3-large", "LLM_API_KEY": "k"}
    made = OpenAICompatibleEmbedder(environ=environ)
    assert (made.name, made.dimensions, made.threshold) == ("openai:text-embedding-3-large:3072", 3072, 0.35)


# --- calibration and settings ----------------------------------------------------------------------------------


def test_every_threshold_says_how_it_was_made():
    assert all(0 < entry.threshold < 2 and entry.made for entry in (*TABLE.values(), DEFAULT))


def test_an_embedder_nobody_has_calibrated_gets_the_stated_default():
    assert calibration("fastembed:thenlper/gte-base") is DEFAULT


def test_the_threshold_that_keeps_a_share_is_just_above_the_last_distance_kept():
    distances = [number / 100 for number in range(20)]
    assert keeping(distances, 0.95) == 0.19
    assert sum(d < keeping(distances, 0.95) for d in distances) == 19
    assert keeping([0.123]) == 0.13


def test_the_settings_name_the_embedder_its_model_and_its_threshold(endpoint):
    settings = Settings(embedder="openai", embedder_model="another", embedder_threshold=0.4)
    made = make_embedder(settings, endpoint.environ())
    assert (made.name, made.threshold) == ("openai:another:64", 0.4)
    assert make_embedder(Settings(embedder_threshold=0.6), {}).threshold == 0.6


def test_another_embedder_rebuilds_the_claims_index(tmp_path, endpoint):
    (tmp_path / "falsify.toml").write_text('embedder = "openai"\n')
    with Workspace.init(tmp_path, environ=endpoint.environ()) as workspace:
        workspace.ask("Which way?")
        workspace.ingest(_document("The way is north"))
        assert len(workspace.index) == 1
    before = len(endpoint.requests)
    with Workspace.open(tmp_path, environ=endpoint.environ()) as workspace:
        assert len(workspace.index) == 1
        assert len(endpoint.requests) == before  # the same embedder embeds nothing twice
    with Workspace.open(tmp_path, environ=endpoint.environ(EMBEDDING_MODEL="bag-of-words-2")) as workspace:
        assert workspace.index.differences(workspace.graph) == []
        assert endpoint.requests[-1]["model"] == "bag-of-words-2"
    with Workspace.open(tmp_path, environ={}, embedder=HashEmbedder()) as workspace:
        assert len(workspace.index) == 1


def _document(statement):
    from surfaces.belief_file import Document

    return Document("a.yaml", f"question: Which way?\nhypotheses:\n  - {{id: N, statement: {statement}}}\n")
