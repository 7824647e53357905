"""The version of the program, kept apart so that building the package imports nothing."""

__version__ = "0.1.0"
