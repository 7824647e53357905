"""Streamable HTTP: who may connect, under which names, for how long and how often, and who the bearer of a token is."""
