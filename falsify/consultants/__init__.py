"""Adapters of the port Consultant: who answers from extracts, where it is not to be done sentence by sentence."""
