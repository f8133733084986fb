"""The table of cases that every differentiable operation is tested by: one line a case.

A case is a function and its arguments. A tuple among the arguments is a shape, for which numbers are drawn; anything
else is taken as it is. To cover a new rule, add a line to the CASES of its topic.
"""

from . import (
    choosing,
    elementwise,
    fourier,
    indexing,
    linalg,
    nans,
    products,
    rearranging,
    reductions,
    sampling,
    together,
)
from .case import NUMPY, Case, case

TOPICS = [elementwise, reductions, nans, products, rearranging, indexing, choosing, sampling, linalg, fourier, together]
TABLE = [entry for topic in TOPICS for entry in topic.CASES]

__all__ = ["NUMPY", "TABLE", "TOPICS", "Case", "case"]
