"""Time: which prefix of the log, and what it says."""
