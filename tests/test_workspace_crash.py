"""kill -9 in the middle of deciding, appending and projecting: reopened, the workspace verifies clean and whole."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surfaces.health import verify
from tests.test_workspace import opened

ROUNDS = int(os.environ.get("FALSIFY_CRASH_ROUNDS", "25"))

WRITER = """\
import sys
from pathlib import Path
from falsify.belief.revision import AssertFact
from surfaces.belief_file import Document
from tests.test_workspace import BELIEFS, opened

with opened(Path(sys.argv[1])) as workspace:
    workspace.ingest(Document("a.yaml", BELIEFS))
    print("ready", flush=True)
    number = workspace.log.head().position
    while True:
        number += 1
        text = f"sign {number}" if number % 3 else f"not sign {number - 1}"
        told = workspace.fact(AssertFact(question_id=workspace.question().id, text=text, handle=f"f{number}")).as_json()
        print(told["revision"], workspace.index.position, flush=True)
"""


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill_at_any_moment(tmp_path):
    chance = random.Random(20210315)
    env = {**os.environ, "PYTHONPATH": f"{Path(__file__).parent.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    for number in range(ROUNDS):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=env
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.0, 0.12))
        writer.send_signal(signal.SIGKILL)
        acknowledged = [line.split() for line in writer.stdout.read().splitlines()]
        writer.wait()
        writer.stdout.close()
        with opened(tmp_path) as workspace:
            if acknowledged and len(acknowledged[-1]) == 2:
                assert workspace.log.revision(workspace.stream) >= int(acknowledged[-1][0]), f"round {number}"
            faults = [part for part in verify(workspace, with_mirror=False, anchor=None) if part["faults"]]
            assert faults == [], f"round {number}"
