"""How long `falsify COMMAND --help` takes beside a bare click program with as many commands.

Both run as `python FILE --help` in the same interpreter, in turns; the ratio is that of the medians.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent

BARE = """\
import click

@click.group()
def cli():
    "A bare program."

def add(name):
    @cli.command(name)
    @click.argument("text")
    @click.option("--json", is_flag=True)
    def command(text, json):
        "Do something."

for number in range({count}):
    add(f"command-{{number}}")

cli()
"""


def seconds(command: list[str]) -> float:
    """Return how long a process takes from start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    sys.path.insert(0, str(ROOT))
    from cli import COMMANDS

    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE.format(count=len(COMMANDS)), encoding="utf-8")
        calls = {
            "bare click --help": [sys.executable, str(bare), "--help"],
            "falsify --help": [sys.executable, "cli.py", "--help"],
            **{
                f"falsify {name} --help": [sys.executable, "cli.py", name, "--help"]
                for name in ("fact", "why", "replay", "demo")
            },
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name, command in calls.items():
                times[name].append(seconds(command))
    base = statistics.median(times["bare click --help"])
    print(f"{'command':<24} {'median ms':>10} {'ratio':>7}")
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"{name:<24} {middle * 1000:>10.0f} {middle / base:>7.2f}")


if __name__ == "__main__":
    main()
