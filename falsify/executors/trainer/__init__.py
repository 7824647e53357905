"""The built-in experiment: a small neural network that learns to tell classes of points apart.

It is run like anybody's own command, as a process (`COMMAND_ARGV`) that reads its orders from the environment; see
`falsify.executors.trainer.__main__`. This module holds what others need to know of it, and imports no numpy.
"""

from falsify.config_keys import Config, Key

COMMAND_ARGV = ("{python}", "-m", "falsify.executors.trainer")

KEYS = (
    Key(name="hidden_width", type="int", minimum=1, maximum=512),
    Key(name="activation", type="choice", choices=("tanh", "relu", "gelu", "sigmoid")),
    Key(name="optimizer", type="choice", choices=("adam", "sgd", "momentum")),
    Key(name="learning_rate", type="float", minimum=0, maximum=10, exclusive=True),
    Key(name="l2", type="float", minimum=0, maximum=1),
    Key(name="batch_size", type="int", minimum=1, maximum=4096),
    Key(name="schedule", type="choice", choices=("constant", "cosine", "step")),
    Key(name="warmup_fraction", type="float", minimum=0, maximum=1),
)
"""What a hypothesis may change."""

FIXED = (
    Key(name="dataset", type="choice", choices=("moons", "spirals", "circles", "csv")),
    Key(name="points", type="int", minimum=20, maximum=100_000),
    Key(name="noise", type="float", minimum=0, maximum=10),
    Key(name="validation_fraction", type="float", minimum=0.05, maximum=0.9),
    Key(name="epochs", type="int", minimum=1, maximum=10_000),
    Key(name="hidden_layers", type="int", minimum=1, maximum=4),
)
"""What is the same for all runs of a project: the problem, and how long it may be worked on.

`points` and `noise` (the standard deviation of each coordinate) describe a sample that is drawn; a CSV file is what it
is.
"""

SEED = Key(name="seed", type="int", minimum=0, maximum=2**53)  # beyond that, JSON numbers are not exact everywhere
"""What every run must be given; it has no default."""

TEXTS = ("csv_path", "csv_label")
"""The settings that are free text, for `dataset` csv: the file, and its column that holds the classes."""

DEFAULTS: Config = {
    "hidden_width": 16,
    "activation": "tanh",
    "optimizer": "adam",
    "learning_rate": 0.01,
    "l2": 0.0,
    "batch_size": 32,
    "schedule": "constant",
    "warmup_fraction": 0.0,
    "dataset": "moons",
    "points": 600,
    "noise": 0.2,
    "validation_fraction": 0.3,
    "epochs": 60,
    "hidden_layers": 2,
}
"""The baseline: every setting that a configuration leaves out."""

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""What a process is started with so that its numbers can be repeated: two threads add in another order than one."""
