"""Adapters of the Executor port: what runs an experiment in a process of its own."""
