"""The one NumPy function by which the tests show what happens to a function without a derivative rule."""

import numpy as np

from autodiff_edu.core.composites import SPELLED
from autodiff_edu.core.rule import RULES

UNRULED = np.unique
NAME = f"np.{UNRULED.__name__}"

assert UNRULED not in {**RULES, **SPELLED}, f"{NAME} has a rule now: choose another function here"
