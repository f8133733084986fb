"""The program whose gradient is None, on the page that says why; each of its two paths is cut."""
# ruff: noqa: D103 (the player shows the program as it stands)

import numpy as np

import autodiff_edu as ad


def explanation():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = np.round(x) * ad.stop_gradient(x)
    return tape.explain(y, x)
