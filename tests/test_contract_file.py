"""A contract comes from options, a file and defaults, and whoever writes nonsense is told where."""

from dataclasses import replace
from pathlib import Path

import pytest

from falsify.config_keys import parse_key
from falsify.errors import FalsifyError, InvalidInputError, NotFoundError
from falsify.executors import trainer
from falsify.workbench.events import Contract
from surfaces.adapters import make_executor
from surfaces.research.contract_file import EXAMPLE, Terms, assigned, draw_up, executor_named, read_terms, read_toml
from surfaces.settings import Settings, load

ROOT = Path("/workspace")
BUILTIN = make_executor(Settings(), ROOT, "builtin")

OWN = """
[executor.mine]
argv = ["{python}", "train.py"]
[executor.mine.keys]
width = "int:[1,512]"
rate = "float:(0,10]"
[executor.mine.fixed]
corpus = "text"
"""


def drawn(present=None, *, root=ROOT, **said):
    return draw_up(Terms(**said), executor=BUILTIN, root=root, present=present)


def own(tmp_path):
    (tmp_path / "falsify.toml").write_text(OWN, encoding="utf-8")
    return make_executor(load(tmp_path, {}), tmp_path, "mine")


def refused(call, *args, **more):
    with pytest.raises(FalsifyError) as caught:
        call(*args, **more)
    return type(caught.value), caught.value.message, caught.value.hint


def test_what_nobody_said_is_the_default():
    assert drawn() == Contract(
        metric="val_acc",
        direction="maximize",
        minimum_effect=0.005,
        noise_floor=0.005,
        tolerance=0.005,
        keys=trainer.KEYS,
        base=trainer.DEFAULTS,
        seed=0,
        executor="builtin",
        budget_runs=20,
        budget_seconds=3600.0,
        run_seconds=300.0,
        required_evidence=(),
    )


def test_the_example_in_the_help_is_a_contract(tmp_path):
    (tmp_path / "project.toml").write_text(EXAMPLE, encoding="utf-8")
    terms = read_terms(tmp_path / "project.toml")
    assert (terms.objective, terms.mode) == ("Which settings classify the spirals best?", "COPILOT")
    assert draw_up(terms, executor=BUILTIN, root=tmp_path) == Contract(
        metric="val_acc",
        direction="maximize",
        minimum_effect=0.005,
        noise_floor=0.01,
        tolerance=0.01,
        keys=(
            parse_key("hidden_width=int:[4,64]"),
            *(key for name in ("learning_rate", "activation") for key in trainer.KEYS if key.name == name),
        ),
        base={**trainer.DEFAULTS, "dataset": "spirals", "hidden_width": 8},
        seed=7,
        executor="builtin",
        budget_runs=12,
        budget_seconds=600.0,
        run_seconds=60.0,
        required_evidence=("curve",),
    )


def test_an_option_overrules_the_file_and_sets_overrule_key_by_key():
    file = Terms(min_effect=0.1, mutable=["l2"], set={"noise": 0.3, "points": 100})
    assert file.overruled(min_effect=0.2, metric=None, mutable=[], set={"noise": 0.5}) == Terms(
        min_effect=0.2, mutable=["l2"], set={"noise": 0.5, "points": 100}
    )


def test_an_option_of_zero_says_something():
    assert Terms(seed=3).overruled(seed=0).seed == 0


@pytest.mark.parametrize(
    ("said", "floor", "tolerance"),
    [
        ({"min_effect": 0.02}, 0.02, 0.02),
        ({"min_effect": 0.02, "noise_floor": 0.05}, 0.05, 0.05),
        ({"min_effect": 0.02, "noise_floor": 0.0}, 0.0, 0.02),
        ({"min_effect": 0.02, "tolerance": 0.5}, 0.02, 0.5),
    ],
)
def test_noise_floor_and_tolerance_follow_from_what_was_said(said, floor, tolerance):
    contract = drawn(**said)
    assert (contract.noise_floor, contract.tolerance) == (floor, tolerance)


def test_a_change_leaves_what_it_does_not_name():
    present = drawn(seed=4, mutable=["l2"], set={"noise": 0.3}, required_evidence=["curve"], tolerance=0.5)
    assert drawn(present) == present
    assert drawn(present, budget_runs=3, set={"points": 100}) == replace(
        present, budget_runs=3, base={**present.base, "points": 100}
    )


def test_a_tolerance_that_nobody_chose_follows_the_change():
    assert drawn(drawn(), noise_floor=0.25).tolerance == 0.25
    assert drawn(drawn(tolerance=0.1), noise_floor=0.25).tolerance == 0.1


def test_a_table_of_the_settings_is_an_executor_with_its_own_keys(tmp_path):
    executor = own(tmp_path)
    terms = Terms(executor="mine", metric="loss", direction="minimize", set={"width": 4, "rate": 1, "corpus": "a.txt"})
    contract = draw_up(terms, executor=executor, root=tmp_path)
    assert (contract.executor, contract.keys, contract.base) == (
        "mine",
        (parse_key("width=int:[1,512]"), parse_key("rate=float:(0,10]")),
        {"width": 4, "rate": 1.0, "corpus": "a.txt"},
    )


def test_another_executor_takes_over_no_keys_and_no_configuration(tmp_path):
    executor = own(tmp_path)
    contract = draw_up(
        Terms(executor="mine", set={"width": 4, "rate": 1}), executor=executor, root=tmp_path, present=drawn(seed=9)
    )
    assert (contract.seed, contract.metric, dict(contract.base)) == (9, "val_acc", {"width": 4, "rate": 1.0})


def test_which_executor_it_is_is_said_or_kept_or_the_trainer():
    present = replace(drawn(), executor="mine")
    assert executor_named(Terms(executor="other"), present) == "other"
    assert executor_named(Terms(), present) == "mine"
    assert executor_named(Terms(), None) == "builtin"


def test_the_path_of_a_table_is_relative_to_the_workspace(tmp_path):
    (tmp_path / "points.csv").write_text("x,y,label\n", encoding="utf-8")
    base = drawn(root=tmp_path, set={"dataset": "csv", "csv_path": "points.csv", "csv_label": "label"}).base
    assert base["csv_path"] == str(tmp_path / "points.csv")


BAD = [
    ({"mutable": ["hidden_wdth"]}, "declares no mutable key 'hidden_wdth'", "hidden_width, activation"),
    ({"mutable": ["hidden_width=int:[1,1024]"]}, "may be a whole number in [1, 1024]", "[1, 512]"),
    ({"mutable": ["dataset"]}, "declares no mutable key 'dataset'", "it declares hidden_width"),
    ({"mutable": ["l2", "l2=float:[0,0.5]"]}, "named twice", "once"),
    ({"mutable": ["hidden_width=int:[32,64]"]}, "hidden_width is 16", "[32, 64]"),
    ({"mutable": ["hidden_width=1..3"]}, "describes no config key", "name=int:[1,512]"),
    ({"set": {"widht": 3}}, "there is no config key 'widht'", "hidden_width"),
    ({"set": {"hidden_width": 0}}, "hidden_width is 0", "[1, 512]"),
    ({"set": {"dataset": "csv"}}, "csv_path is ''", "not empty"),
    ({"set": {"csv_path": "x.csv"}}, "csv_path is", "left out unless"),
    ({"min_effect": -1.0}, "minimum_effect is -1", "at least 0"),
    ({"noise_floor": float("nan")}, "noise_floor is nan", "at least 0"),
    ({"budget_runs": 0}, "a budget of 0 runs", "at least 1"),
    ({"run_seconds": 0.0}, "run_seconds is 0", "more than 0"),
    ({"seed": -1}, "the seed is -1", "between 0"),
    ({"metric": "val acc"}, "'val acc' cannot be the name of a metric", "val_acc"),
    ({"required_evidence": ["photo"]}, "'photo' is no kind of evidence", "metric, curve"),
]


@pytest.mark.parametrize(("said", "message", "hint"), BAD, ids=lambda value: str(value)[:40])
def test_terms_that_cannot_be_are_refused_before_anything_runs(said, message, hint):
    kind, told, advice = refused(drawn, **said)
    assert kind is InvalidInputError
    assert message in told
    assert hint in advice


def test_a_table_that_is_not_there_is_refused_before_anything_runs(tmp_path):
    said = {"dataset": "csv", "csv_path": "gone.csv", "csv_label": "label"}
    kind, told, _ = refused(drawn, root=tmp_path, set=said)
    assert (kind, told) == (NotFoundError, f"there is no file {tmp_path / 'gone.csv'}")


def test_another_executor_has_to_be_told_its_metric(tmp_path):
    kind, told, hint = refused(
        draw_up, Terms(executor="mine", set={"width": 4, "rate": 1}), executor=own(tmp_path), root=tmp_path
    )
    assert (kind, told) == (InvalidInputError, "nobody said what the executor mine is measured by")
    assert "--metric NAME" in hint


def test_another_executor_needs_a_baseline_for_every_mutable_key(tmp_path):
    _, told, _ = refused(draw_up, Terms(metric="loss", set={"width": 4}), executor=own(tmp_path), root=tmp_path)
    assert told == "the baseline says nothing of rate"


def test_an_executor_that_nobody_described_is_not_found(tmp_path):
    kind, told, hint = refused(make_executor, load(tmp_path, {}), tmp_path, "mine")
    assert (kind, told) == (NotFoundError, "there is no executor 'mine'")
    assert hint.startswith("there are builtin; a table [executor.NAME] of falsify.toml")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("metrik = 'x'", "p.toml: there is no key 'metrik'", "did you mean metric?"),
        ("min-effect = 1", "p.toml: there is no key 'min-effect'", "did you mean min_effect?"),
        ("[tset]\na = 1", "p.toml: there is no key 'tset'", "the keys are id, objective"),
        ("seed = 'x'", "p.toml: seed: ", "change seed"),
        ("seed = true", "p.toml: seed: ", "change seed"),
        ("mode = 'FAST'", "p.toml: mode: ", "change mode"),
        ("mutable = 'l2'", "p.toml: mutable: ", "change mutable"),
        ("[set]\na = [1]", "p.toml: set.a: ", "change set.a"),
        ("seed = ", "p.toml is no TOML: ", "https://toml.io"),
        ("seed = 1\nseed = 2", "p.toml is no TOML: ", "https://toml.io"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_file_and_key(tmp_path, text, message, hint):
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    kind, told, advice = refused(read_terms, tmp_path / "p.toml")
    assert kind is InvalidInputError
    assert told.startswith(message)
    assert hint in advice


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    assert refused(read_toml, tmp_path / "none.toml")[0] is NotFoundError
    assert refused(read_toml, tmp_path)[0] is NotFoundError
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    assert refused(read_toml, tmp_path / "binary.toml")[0] is InvalidInputError


def test_what_is_typed_becomes_what_the_key_takes():
    keys = (parse_key("width=int:[1,9]"), parse_key("name=text"), parse_key("kind=choice:1,2"))
    words = ["width=8", "name=8", "kind=1", "rate=1e-3", "unknown=some words=here"]
    assert assigned(words, keys) == {"width": 8, "name": "8", "kind": "1", "rate": 0.001, "unknown": "some words=here"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["width"], "--set width: it sets nothing"),
        (["=8"], "--set =8: it sets nothing"),
        (["width=8", "width=9"], "--set width=9: it sets a key that is set already"),
    ],
)
def test_words_that_set_nothing_are_refused(words, message):
    kind, told, _ = refused(assigned, words, ())
    assert (kind, told) == (InvalidInputError, message)
