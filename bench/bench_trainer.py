"""What the trainer costs over the matrix products that it cannot do without.

    python bench/bench_trainer.py --rounds 7

The floor is numpy multiplying matrices of the same shapes, as often, into arrays that are there already: forwards and
backwards for each batch, and forwards over all points for the quality after each epoch. Both sides run in turns, in
this process, with one thread. Where scikit-learn is installed its classifier learns the same points beside them; it
does less, for it looks at no validation points. A last line times the whole process: start, training and files.
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path

from falsify.executors.trainer import ONE_THREAD

os.environ.update(ONE_THREAD)  # before numpy is imported

import numpy as np

from falsify.executors.trainer.configuration import Configuration, configure
from falsify.executors.trainer.experiment import Experiment

SETTINGS = {"points": 1000, "hidden_width": 64, "hidden_layers": 2, "batch_size": 32, "epochs": 200, "seed": 1}
VARIANTS = {
    "tanh, adam": {},
    "relu, sgd": {"activation": "relu", "optimizer": "sgd"},
    "gelu, adam": {"activation": "gelu"},
    "tanh, adam, one batch": {"batch_size": 4096},
    "tanh, adam, width 512, 20 epochs": {"hidden_width": 512, "epochs": 20},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="rounds, of which the median counts")
    options = parser.parse_args()
    known = importlib.util.find_spec("sklearn") is not None
    print(
        f"{'CPU seconds':34}{'products':>10}{'trainer':>10}{'ratio':>8}{'scikit-learn':>14}{'ratio':>8}{'val_acc':>9}"
    )
    for name, variant in VARIANTS.items():
        configuration = configure({**SETTINGS, **variant})
        peer = sklearn if known and configuration.activation != "gelu" else None  # it has no gelu
        compare(name, configuration, peer, options.rounds)
    spent = [process() for _ in range(options.rounds)]
    print(f"{'the whole process, tanh, adam':34}{'':>10}{statistics.median(spent):>10.3f}")
    if not known:
        print("scikit-learn is not installed")


def compare(name, configuration: Configuration, peer, rounds: int) -> None:
    sides = [products, trainer, *([peer] if peer else [])]
    turns = [[side(configuration) for side in sides] for _ in range(rounds)]
    floor, ours, *theirs = (statistics.median(side) for side in zip(*turns, strict=True))
    ratio = statistics.median(turn[1] / turn[0] for turn in turns)
    beside = f"{'-':>14}{'-':>8}"
    if theirs:
        beside = f"{theirs[0]:>14.3f}{statistics.median(turn[1] / turn[2] for turn in turns):>7.2f}x"
    *_, last = Experiment(configuration).run()
    print(f"{name:34}{floor:>10.3f}{ours:>10.3f}{ratio:>7.2f}x{beside}{last.val_acc:>9.4f}")


# --- the sides -------------------------------------------------------------------------------------------


def trainer(configuration: Configuration) -> float:
    experiment = Experiment(configuration)
    started = time.process_time()
    for _epoch in experiment.run():
        pass
    return time.process_time() - started


def products(configuration: Configuration) -> float:
    """Multiply what the trainer multiplies, and nothing else."""
    held = round(configuration.validation_fraction * configuration.points)
    training = configuration.points - held
    sizes = [2, *[configuration.hidden_width] * configuration.hidden_layers, 2]
    full, rest = divmod(training, configuration.batch_size)
    steps = [(full, both_ways(configuration.batch_size, sizes)), (int(rest > 0), both_ways(rest, sizes))]
    looks = [forwards(training, sizes), forwards(held, sizes)]
    started = time.process_time()
    for _ in range(configuration.epochs):
        for times, batch in steps:
            for _ in range(times):
                multiply(batch)
        for look in looks:
            multiply(look)
    return time.process_time() - started


def multiply(triples) -> None:
    for left, right, out in triples:
        np.matmul(left, right, out=out)


def forwards(rows, sizes):
    random = np.random.default_rng(1)
    return [
        (random.random((rows, inputs)), random.random((inputs, outputs)), np.empty((rows, outputs)))
        for inputs, outputs in pairwise(sizes)
    ]


def both_ways(rows, sizes):
    """The products of one batch: forwards, then the slopes of all weights and of all inputs but the first."""
    there = forwards(rows, sizes)
    back = [(values.T, np.ones_like(out), np.empty_like(weights)) for values, weights, out in there]
    back += [(np.ones_like(out), weights.T, np.empty_like(values)) for values, weights, out in there[1:]]
    return there + back


def sklearn(configuration: Configuration) -> float:
    from sklearn.neural_network import MLPClassifier

    experiment = Experiment(configuration)
    points = experiment.problem.training
    features = experiment.problem.scale.apply(points.features)
    classifier = MLPClassifier(
        [configuration.hidden_width] * configuration.hidden_layers,
        activation=configuration.activation,
        solver=configuration.optimizer,
        momentum=0.0,
        learning_rate_init=configuration.learning_rate,
        alpha=configuration.l2,
        batch_size=min(configuration.batch_size, len(points.labels)),
        max_iter=configuration.epochs,
        tol=0.0,
        n_iter_no_change=configuration.epochs + 1,  # no stopping early
        random_state=configuration.seed,
    )
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged is what it was asked for
        classifier.fit(features, points.labels)
    elapsed = time.process_time() - started
    assert classifier.n_iter_ == configuration.epochs
    return elapsed


def process() -> float:
    """Run the trainer in a process of its own and return the CPU seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        config.write_text(json.dumps(SETTINGS))
        protocol = {
            "FALSIFY_CONFIG": config,
            "FALSIFY_RUN_DIR": folder,
            "FALSIFY_METRICS": Path(folder) / "metrics.jsonl",
        }
        before = children()
        subprocess.run(
            [sys.executable, "-m", "falsify.executors.trainer"],
            env={**os.environ, **{name: str(path) for name, path in protocol.items()}},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return children() - before


def children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
