"""Adapters of the Judge port."""
