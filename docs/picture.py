"""Draws docs/demo.svg: what `falsify demo` prints, in its colours. Run it by `make picture`."""

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import NIGHT_OWLISH
from rich.text import Text

HERE = Path(__file__).parent
WIDTH = 132
_COMMENT = re.compile(r"<!--.*?-->")
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def main() -> None:
    """Play the demo and write the picture."""
    command = (
        "from surfaces.commands import demo; import cli, sys; sys.stdout.isatty = lambda: True; cli.main(['demo'])"
    )
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("LLM_", "FALSIFY_", "DEMO_"))}
    environ["PYTHONPATH"] = str(HERE.parent)
    done = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True, env={**environ, "FORCE_COLOR": "1"}
    )
    console = Console(record=True, width=WIDTH, file=Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - ends with the process
    console.print(Text.from_ansi("$ falsify demo\n" + done.stdout), soft_wrap=False)
    # The theme asks a font host for its font; the reader's own monospaced one does as well.
    svg = _COMMENT.sub("", _FONT.sub("", console.export_svg(title="falsify demo", theme=NIGHT_OWLISH))).replace(
        "Fira Code, ", ""
    )
    (HERE / "demo.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
