"""Belief revision: questions, hypotheses, evidence and conclusions, and what is true of them now."""
