"""What can be set: commands that run experiments, and where people answer requests; what is wrong is named."""

import json
from pathlib import Path

import pytest

from falsify.config_keys import Key
from falsify.errors import InvalidInputError
from falsify.executors.command import Command, Limits
from surfaces.settings import ExecutorTable, Settings, approval_page, load


def test_without_a_table_there_is_no_executor(tmp_path):
    assert load(tmp_path, {}).executor == Settings().executor == {}


def test_a_table_describes_a_command_in_the_workspace(tmp_path):
    (tmp_path / "falsify.toml").write_text(
        """
[executor.my-train]
argv = ["{python}", "train.py", "--config", "{config}"]
cwd = "code"
timeout_s = 30
memory_mb = 0
cpu_s = 20
file_mb = 10
env = ["CUDA_VISIBLE_DEVICES"]

[executor.my-train.keys]
width = "int:[1,512]"
activation = "choice:tanh,relu"

[executor.my-train.fixed]
epochs = "int:[1,100]"

[executor.other]
argv = ["make", "run"]
"""
    )
    tables = load(tmp_path, {}).executor
    assert list(tables) == ["my-train", "other"]
    assert tables["my-train"].command("my-train", tmp_path) == Command(
        name="my-train",
        argv=("{python}", "train.py", "--config", "{config}"),
        cwd=tmp_path / "code",
        env=("CUDA_VISIBLE_DEVICES",),
        keys=(
            Key(name="width", type="int", minimum=1, maximum=512),
            Key(name="activation", type="choice", choices=("tanh", "relu")),
        ),
        fixed=(Key(name="epochs", type="int", minimum=1, maximum=100),),
        limits=Limits(timeout_seconds=30, memory_mb=0, cpu_seconds=20, file_mb=10),
    )
    assert tables["other"].command("other", tmp_path) == Command(name="other", argv=("make", "run"), cwd=tmp_path)


def test_what_a_table_does_not_say_is_as_in_the_limits():
    assert ExecutorTable(argv=("x",)).command("x", Path()).limits == Limits()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[executor.a]", "executor.a.argv: Field required"),
        ("[executor.a]\nargv = []", "executor.a.argv: Tuple should have at least 1 item"),
        ('[executor.a]\nargv = "train.py"', "executor.a.argv: Input should be a valid tuple"),
        ('[executor.a]\nargv = ["{pyhton}"]', r"executor.a.argv: '\{pyhton\}' has a placeholder that is not known"),
        ('[executor.a]\nargv = ["x"]\nenv = ["A=1"]', "executor.a.env: 'A=1' is no variable"),
        ('[executor.a]\nargv = ["x"]\nshell = true', "executor.a.shell: Extra inputs are not permitted"),
        ('[executor.a]\nargv = ["x"]\ntimeout_s = 0', "executor.a.timeout_s: Input should be greater than 0"),
        ('[executor.a]\nargv = ["x"]\nmemory_mb = -1', "executor.a.memory_mb: Input should be greater than or"),
        ('[executor.a]\nargv = ["x"]\nkeys.width = "int:[1,"', "executor.a.keys: 'width=int:.1,' describes no"),
        ('[executor.a]\nargv = ["x"]\nkeys.width = 3', "executor.a.keys.width: Input should be a valid string"),
        ('[executor.a]\nargv = ["x"]\nkeys.seed = "int:[0,9]"', "executor.a.keys: there is a key seed already"),
        (
            '[executor.a]\nargv = ["x"]\nkeys.width = "int:[1,2]"\nfixed.width = "int:[1,2]"',
            "executor.a.fixed: there is a key width already",
        ),
        ('[executor.builtin]\nargv = ["x"]', "executor: builtin is the executor that comes with Falsify"),
        ('[executor."a b"]\nargv = ["x"]', "executor.a b: String should match pattern"),
        ("executor = 3", "executor: Input should be a valid dictionary"),
    ],
)
def test_what_is_wrong_in_a_table_is_named_with_its_file_and_key(tmp_path, text, said):
    (tmp_path / "falsify.toml").write_text(text)
    with pytest.raises(InvalidInputError, match=f"^falsify.toml: {said}"):
        load(tmp_path, {})


def test_no_variable_makes_an_executor(tmp_path):
    assert load(tmp_path, {"FALSIFY_EXECUTOR": '{"a": {"argv": ["x"]}}'}).executor == {}


# --- where people answer requests -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8787/approvals/{id}",
        "https://e.example/{id}?again={id}",
        "http://[::1]:80/#{id}",
        "HTTP://e/{id}",
        "",
    ],
)
def test_a_page_for_a_request_is_a_url_with_a_place_for_its_id(tmp_path, url):
    assert approval_page(url) == load(tmp_path, {"FALSIFY_APPROVAL_URL": url}).approval_url == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)//{id}", "data:text/html,{id}", "file:///{id}", "{id}", "/approvals/{id}", "//e/{id}",
        "http:///{id}", "http://[bad/{id}", "http://e:x/{id}", "http://{id}.example/", "http://e/", "http://e/{ID}",
        "http://e/\n{id}", "http://e/{id}\r", "http://e/ {id}", " http://e/{id}", "   ", "http://e/\x1b{id}",
        "http://e/\u202e{id}", "http://e/\u00a0{id}",
    ],
)  # fmt: skip
def test_what_is_no_page_for_a_request_is_named_with_where_it_was_set(tmp_path, url):
    with pytest.raises(InvalidInputError, match="is no page for a request"):
        approval_page(url)
    with pytest.raises(InvalidInputError, match=r"FALSIFY_APPROVAL_URL: .* is no page for a request; write a URL"):
        load(tmp_path, {"FALSIFY_APPROVAL_URL": url})
    (tmp_path / "falsify.toml").write_text(f"approval_url = {json.dumps(url)}", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"falsify\.toml: approval_url: "):
        load(tmp_path, {})
