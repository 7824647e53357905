"""The trainer as a process, which reads its orders from the environment as any command of an experiment does.

FALSIFY_CONFIG names a file with the configuration (a JSON object), FALSIFY_RUN_DIR the folder to leave files in, and
FALSIFY_METRICS the file to append a line of JSON to for each epoch. It exits 0 when it is done, 2 if it cannot do
what it is told to, 3 if the loss stops being a number, and 1 if a file cannot be written.
"""
# ruff: noqa: T201 - a process of its own, whose output is the log of its run

import os
import sys
from pathlib import Path

from falsify.errors import InvalidInputError
from falsify.executors.trainer import ONE_THREAD

DONE, FAILED, MISTAKEN, DIVERGED = 0, 1, 2, 3


def main() -> int:
    """Run the experiment that the environment describes, and return the exit code."""
    os.environ.update(ONE_THREAD)  # before numpy is imported, which reads them once
    try:
        return _run(_path("FALSIFY_CONFIG"), folder=_path("FALSIFY_RUN_DIR"), metrics=_path("FALSIFY_METRICS"))
    except InvalidInputError as error:
        print(f"{error.message}; {error.hint}" if error.hint else error.message, file=sys.stderr)
        return MISTAKEN
    except OSError as error:
        print(f"a file of the run cannot be written: {error}", file=sys.stderr)
        return FAILED


def _run(config: Path, *, folder: Path, metrics: Path) -> int:
    from falsify.executors.trainer.configuration import read_configuration
    from falsify.executors.trainer.experiment import Experiment, line

    experiment = Experiment(read_configuration(config))
    problem = experiment.problem
    print(f"training on {len(problem.training.labels)} points, validating on {len(problem.validation.labels)}")
    experiment.leave_environment(folder)
    with metrics.open("a", encoding="utf-8") as file:
        for epoch in experiment.run():
            file.write(line(epoch))
            file.flush()
    if not epoch.finite:
        rate = experiment.configuration.learning_rate
        print(f"the loss is not finite after epoch {epoch.epoch}; try a learning_rate below {rate:g}", file=sys.stderr)
        return DIVERGED
    print(f"val_acc {epoch.val_acc:.4f} after epoch {epoch.epoch}; {experiment.leave_boundary(folder)}")
    return DONE


def _path(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        raise InvalidInputError(f"{variable} is not set", hint="it must be a path")
    return Path(value)


if __name__ == "__main__":
    sys.exit(main())
