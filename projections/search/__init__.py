"""The search index of the brain, and how a question becomes a ranking."""
