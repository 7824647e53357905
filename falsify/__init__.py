"""The write side: what may happen, and the log it is written to."""
