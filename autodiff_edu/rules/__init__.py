"""The derivative tables: for every operation, how a cotangent is pulled back to each argument.

`core/rule.py` says what a rule is; `rearranging.py` and `sampling.py` write functions in terms of those that have one.
"""

from ..core.rule import RULES, Rule
from . import account, elementwise, products, reductions, shapes  # noqa: F401 - they fill the tables
from .unruled import complete

__all__ = ["RULES", "Rule", "complete"]
