"""Adapters of the Embedder port."""
