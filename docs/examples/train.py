"""Learn which points lie inside a ring: a training script for docs/workbench.md, of Python's own library."""

import json
import math
import os
import random
from pathlib import Path

config = json.loads(Path(os.environ["FALSIFY_CONFIG"]).read_text())
draw = random.Random(config["seed"])  # noqa: S311 - an experiment, not a secret
points = [(draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(1000)]
inside = [math.hypot(x, y) + draw.gauss(0, 0.05) < 0.7 for x, y in points]
neurons = [[draw.gauss(0, 3) for _ in range(3)] for _ in range(config["hidden_width"])]
rows = [[1.0, *(math.tanh(a * x + b * y + c) for a, b, c in neurons)] for x, y in points]
weights = [0.0] * len(rows[0])
with Path(os.environ["FALSIFY_METRICS"]).open("a") as metrics:
    for epoch in range(1, config["epochs"] + 1):
        for row, label in zip(rows[:500], inside[:500], strict=True):
            said = sum(map(float.__mul__, weights, row))
            step = config["learning_rate"] * (label - 0.5 - 0.5 * math.tanh(said / 2))
            weights = [weight + step * each for weight, each in zip(weights, row, strict=True)]
        guesses = [sum(map(float.__mul__, weights, row)) > 0 for row in rows[500:]]
        right = sum(guess == label for guess, label in zip(guesses, inside[500:], strict=True))
        print(json.dumps({"epoch": epoch, "val_acc": right / 500}), file=metrics, flush=True)
Path(os.environ["FALSIFY_RUN_DIR"], "weights.json").write_text(json.dumps(weights))
