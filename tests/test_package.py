"""What is shipped: the wheel has all that the program needs and nothing else, and works where there is no checkout."""

import ast
import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from falsify.version import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = ("falsify", "projections", "replay", "surfaces")
LICENCES = {"LICENSE", "falsify/models/LICENSE.WordNet-3.0", "falsify/models/LICENSE.all-MiniLM-L6-v2.Apache-2.0"}

BROUGHT_BY_COGNEE = {"fastembed", "httpx", "ladybug", "lancedb", "litellm", "loguru", "pyarrow", "structlog"}
"""Cognee's own engines, and what they come with: the exact pin of Cognee says which, and naming them again could only
disagree with it.
"""


def run(*words, **options):
    """Run a program as a stranger would: nothing of this checkout or this test session in its environment."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    guard = {"PYTHONPATH": str(Path(__file__).parent / "no_network")}
    done = subprocess.run(words, check=False, capture_output=True, text=True, env=environ | guard, **options)
    assert done.returncode == 0, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Return the wheel, built from this checkout by the build backend itself, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Return an environment that holds the wheel, and finds everything else where these tests run.

    The folder of the running environment joins the path last and its .pth files are not read, so an editable
    install there does not lend the checkout: what is found of ours comes from the wheel.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    bin_ = folder / "bin"
    offline = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", f"--python={bin_ / 'python'}", "install", *offline, str(wheel))
    (purelib,) = folder.glob("lib/python*/site-packages")
    (purelib / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return bin_


def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def ours(folder):
    """Return every file of a folder that git would keep."""
    left = {"__pycache__", ".DS_Store"}
    return {
        path.relative_to(ROOT).as_posix() for path in folder.rglob("*") if path.is_file() and not left & {*path.parts}
    }


def test_the_version_is_written_once():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "falsify/version.py"
    written = [
        path for path in ours(ROOT / "falsify") if path.endswith(".py") and __version__ in Path(ROOT, path).read_text()
    ]
    assert written == ["falsify/version.py"]


def test_everything_that_is_imported_is_declared():
    declared = {normal(re.split(r"[\[<>=~! ]", each)[0]) for each in PROJECT["project"]["dependencies"]}
    sold_as = packages_distributions()
    imported = {
        name.partition(".")[0]
        for path in (ROOT / "cli.py", *(p for package in PACKAGES for p in (ROOT / package).rglob("*.py")))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in imports(node)
    }
    foreign = imported - sys.stdlib_module_names - {"cli", *PACKAGES}
    undeclared = {
        name
        for name in foreign - BROUGHT_BY_COGNEE
        if not {normal(each) for each in sold_as[name]} & (declared | {"pytest"})
    }
    assert undeclared == set()


def imports(node):
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            return [node.module]
        case _:
            return []


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned_and_no_pin_says_where_it_came_from():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[\w.+!-]+", line)] == []
    pinned = {line.partition("==")[0] for line in lines}
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"], "pip"]
    assert {normal(re.split(r"[\[<>=~! ]", each)[0]) for each in wanted} - pinned == set()


@pytest.mark.slow
def test_the_wheel_holds_the_program_the_models_their_card_and_every_licence(wheel):
    held = names(wheel)
    assert held >= {"cli.py", *(file for package in PACKAGES for file in ours(ROOT / package))}
    assert held >= {
        "falsify/models/MODEL_CARD.md",
        "falsify/models/minilm_embed_w8.onnx",
        "falsify/models/nli_ce_w8.onnx",
    }
    info = f"falsify_log-{__version__}.dist-info"
    assert held >= {f"{info}/licenses/{licence}" for licence in LICENCES}


@pytest.mark.slow
def test_the_wheel_holds_nothing_of_tests_docs_or_tools(wheel):
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert tops == {"cli.py", "falsify_pytest.py", *PACKAGES, f"falsify_log-{__version__}.dist-info"}
    assert {name for name in names(wheel) if "__pycache__" in name or ".falsify/" in name} == set()


@pytest.mark.slow
def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        told = email.message_from_bytes(archive.read(f"falsify_log-{__version__}.dist-info/METADATA"))
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("falsify-log", __version__, "Apache-2.0")
    assert "make demo" in told.get_payload()


@pytest.mark.slow
def test_the_installed_wheel_is_what_runs_and_not_the_checkout(installed, tmp_path):
    where = run(installed / "python", "-c", "import falsify, cli; print(falsify.__file__, cli.__file__)", cwd=tmp_path)
    assert [Path(each).is_relative_to(installed.parent) for each in where.split()] == [True, True]
    assert run(installed / "falsify", "--version", cwd=tmp_path) == f"falsify {__version__}\n"
    assert run(installed / "falsify", "--help", cwd=tmp_path).startswith("Usage: falsify")


@pytest.mark.slow
def test_the_installed_wheel_brings_the_pytest_plugin_that_replays_golden_files(installed, tmp_path):
    for golden in (ROOT / "tests" / "goldens").glob("company-x.*"):
        shutil.copy(golden, tmp_path)
    told = run(installed / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path), cwd=tmp_path)
    assert re.search(r"^\d+ passed in", told, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.cognee
def test_the_demo_plays_from_the_installed_wheel(installed, tmp_path):
    told = run(installed / "falsify", "demo", cwd=tmp_path)
    assert "superseded" in told
    assert list(tmp_path.iterdir()) == []
