"""The tools as rows of one catalogue: what each takes, what it says it does, and the envelope it answers with."""
