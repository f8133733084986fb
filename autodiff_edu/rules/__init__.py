"""The derivative tables: for every operation, how a cotangent is pulled back to each argument.

`elementwise.py`, `reductions.py`, `shapes.py` and `products.py` hold the tables; `kinds.py` says what a rule is.
"""

from . import elementwise, products, reductions, shapes
from .kinds import RULES, Rule

__all__ = ["RULES", "Rule", "elementwise", "products", "reductions", "shapes"]
