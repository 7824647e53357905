"""Writes constraints.txt: the exact version of everything the program and its tests install.

    make constraints

Run it with the oldest supported Python: releases drop old Pythons first, so what resolves there resolves on the newer
ones too. pip resolves and nothing is installed; only names and versions are kept, never where they came from.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEAD = """\
# Everything `make demo` and `make test` install, at versions that hold for Python 3.11, 3.12 and 3.13.
# Written by `make constraints`; pip reads it with -c, so what a Python or a platform does not need is not installed.
"""


def main() -> None:
    """Resolve what pyproject.toml asks for, and write the file."""
    if sys.version_info[:2] != (3, 11):
        sys.exit("compile the constraints with Python 3.11, the oldest that is supported")
    pins = resolve(wanted(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))))
    lines = (f"{name}=={pins[name]}\n" for name in sorted(pins))
    (ROOT / "constraints.txt").write_text(HEAD + "".join(lines), encoding="utf-8")


def wanted(project: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return the requirements of the program, of its tests and of its build, and pip itself."""
    return [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
        "pip",
    ]


def resolve(requirements: list[str]) -> dict[str, str]:
    """Return the version pip would install of each package, by normalised name."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["-qq", "--dry-run", "--ignore-installed", "--report", str(report)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, *requirements], check=True)
        installs = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {_normal(each["metadata"]["name"]): each["metadata"]["version"] for each in installs}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
