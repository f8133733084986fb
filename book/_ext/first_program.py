"""The program that the front page's player steps through; x is used twice."""
# ruff: noqa: D103 (the player shows the function as it stands)

import numpy as np


def f(x, y):
    a = x * y
    return a + np.sin(x)
