"""Collects these tests only where PyTorch and JAX are installed, which the README's command doesn't do."""

from importlib.util import find_spec

collect_ignore_glob = [f"*{name}*.py" for name in ("torch", "jax") if find_spec(name) is None]
