"""Runs of other frameworks, as traces: PyTorch's and JAX's."""
