"""Runs: the worker that executes the queue, and what a run leaves behind."""
