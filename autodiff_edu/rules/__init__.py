"""The derivative tables: for every operation, how a cotangent is pulled back to each argument.

`kinds.py` says what a rule is; `rearranging.py` and `sampling.py` write functions in terms of those that have one.
"""

from importlib import import_module

from ..core.rule import RULES, Rule
from . import elementwise, products, reductions, shapes  # noqa: F401 - they fill the table

__all__ = ["RULES", "Rule", "complete"]


def complete() -> None:
    """Fill in the rest of the table: it is read when the first function comes that the usual tables do not have."""
    for room in ("rearranging", "sampling", "norms", "linalg", "fourier"):
        import_module(f"{__name__}.{room}")
