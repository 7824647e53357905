"""The README's ten minutes, played as they are written."""

import re
import shlex
from pathlib import Path

import cli

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def tour():
    """Return the commands of the tour, comments and the shell's own words taken away."""
    block = re.search(r"## Ten minutes\n\n```sh\n(.+?)```", README, re.DOTALL)
    assert block is not None
    words = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    return [line for line in words if line and line[0] == "falsify"]


def test_the_ten_minutes_of_the_readme_work_as_written(tmp_path, monkeypatch, capfd):
    (tmp_path / "surfaces").symlink_to(Path(__file__).parent.parent / "surfaces")
    monkeypatch.chdir(tmp_path)
    commands = tour()
    assert len(commands) > 12
    for words in commands:
        here = words[1 : words.index("&&")] if "&&" in words else words[1:]
        assert cli.run(here) == 0, (words, capfd.readouterr().err)
        if "&&" in words:
            monkeypatch.chdir(tmp_path / "inquiry")
    out = capfd.readouterr().out
    assert "What would bring it back" in out
    assert "STALE" in out
