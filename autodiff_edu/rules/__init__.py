"""The derivative tables: for every operation, how a cotangent is pulled back to each argument.

`core/rule.py` says what a rule is; `taking.py`, `rearranging.py`, `sampling.py`, `nans.py`, `choosing.py` and
`linalg_results.py` write other functions in terms of those that have a rule, and `account.py` says why the rest of
NumPy has none.

>>> import numpy as np
>>> RULES[np.sin].kind
'elementwise'
>>> pull = RULES[np.sin].pull(0)
>>> print(pull(5.0, np.sin(0.0), 0.0))  # from the cotangent, the output and the argument
5.0
"""

from ..core.rule import RULES, Rule
from . import elementwise, products, reductions, shapes  # noqa: F401 - they fill the tables
from .unruled import complete

__all__ = ["RULES", "Rule", "complete"]
