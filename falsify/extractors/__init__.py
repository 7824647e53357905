"""Adapters of the port Extractor: what finds the claims in prose, when it is not to be taken sentence by sentence."""
