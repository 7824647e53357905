"""The bundled embedder: unit vectors, offline, the same for a text whatever it is embedded with."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from falsify import models
from falsify.embedders.bundled import BundledEmbedder
from falsify.errors import DamagedError, UnavailableError

TEXTS = [
    "All backups are encrypted at rest.",
    "The launch was moved from 3 May to 17 June, because the supplier of the housings could not deliver in time.",
    "EU churn was 9 % last quarter.",
    "",
    "Coffee lowers blood pressure.",
]


@pytest.fixture(scope="module")
def embedder():
    return BundledEmbedder()


def test_it_says_what_it_is(embedder):
    assert (embedder.name, embedder.dimensions, embedder.threshold) == ("minilm-l6-v2-w8", 384, 0.55)


def test_every_text_is_a_unit_row_of_32_bit_floats(embedder):
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_text_is_no_row(embedder):
    assert embedder.embed([]).shape == (0, 384)


def test_rows_come_in_the_order_of_the_texts_though_batches_are_sorted_by_length(embedder):
    many = [f"{'very ' * (number * 7 % 11)}short sentence number {number}" for number in range(70)]
    together = embedder.embed(many)
    alone = np.vstack([embedder.embed([text]) for text in many])
    assert np.abs(together - alone).max() < 1e-6


def test_the_same_call_gives_the_same_bits(embedder):
    assert embedder.embed(TEXTS).tobytes() == BundledEmbedder().embed(TEXTS).tobytes()


def test_what_lies_beyond_256_tokens_is_not_read(embedder):
    long = "word " * 254
    read, beyond = embedder.embed([long, long + "and then something else entirely"])
    assert np.abs(read - beyond).max() < 1e-6


def test_a_paraphrase_is_nearer_than_the_threshold_and_another_topic_is_not(embedder):
    claim, paraphrase, other = embedder.embed(
        [
            "The regulator approved the device.",
            "The device was approved by the regulator.",
            "The river froze last winter.",
        ]
    )
    assert 1 - claim @ paraphrase < 0.15
    assert 1 - claim @ other > embedder.threshold


def test_several_threads_may_use_it_for_the_first_time_at_once():
    fresh, rows = BundledEmbedder(), []
    threads = [threading.Thread(target=lambda: rows.append(fresh.embed(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(row, rows[0]) for row in rows)
    assert len(rows) == 4


def test_nothing_heavy_is_imported_before_a_text_is_embedded():
    program = """
import sys
from falsify.embedders.bundled import BundledEmbedder
from falsify.judges.offline import OfflineJudge
BundledEmbedder(), OfflineJudge().version
print(sorted({"onnxruntime", "tokenizers", "numpy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


# --- the files -----------------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Return a copy of the folder of model files in which small things stand for the large ones."""
    for name in (*models.sums(), "SHA256SUMS"):
        (tmp_path / name).write_bytes(models.path(name).read_bytes())
    monkeypatch.setattr(models, "_FOLDER", tmp_path)
    return tmp_path


def test_the_files_are_what_was_published():
    assert set(models.verify()) == {
        "minilm_embed_w8.onnx",
        "nli_ce_w8.onnx",
        "tokenizer.json",
        "antonyms.tsv",
        "LICENSE.all-MiniLM-L6-v2.Apache-2.0",
        "LICENSE.WordNet-3.0",
    }


def test_a_changed_file_is_named(elsewhere):
    with (elsewhere / "antonyms.tsv").open("ab") as file:
        file.write(b"up\tdown\tr\n")
    with pytest.raises(DamagedError, match=r"not what was shipped: antonyms\.tsv") as refusal:
        models.verify()
    assert "reinstall" in refusal.value.hint


def test_a_missing_file_is_named_with_what_to_do(elsewhere):
    (elsewhere / "minilm_embed_w8.onnx").unlink()
    for attempt in (models.verify, lambda: BundledEmbedder().embed(["a text"])):
        with pytest.raises(UnavailableError, match=r"minilm_embed_w8\.onnx is missing") as refusal:
            attempt()
        assert "reinstall" in refusal.value.hint


@pytest.mark.parametrize("name", ["minilm_embed_w8.onnx", "tokenizer.json"])
def test_a_damaged_file_is_a_refusal_and_no_crash(elsewhere, name):
    (elsewhere / name).write_bytes(b"not a model")
    with pytest.raises(UnavailableError, match=name.replace(".", r"\.")):
        BundledEmbedder().embed(["a text"])


def test_the_model_card_says_what_a_user_must_know():
    card = models.path("MODEL_CARD.md").read_text(encoding="utf-8")
    assert all(word in card for word in ("share-alike", "English only", "Apache-2.0", "WordNet", *models.sums()))
