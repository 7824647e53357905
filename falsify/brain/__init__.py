"""Governed knowledge: pages with their past, who may see and change what, proposals, traces and answers."""
