"""Cases of the functions that choose between values, or apply a function to parts."""

import numpy as np

from .case import MASK, SPREAD, case

NUMBERS = np.array([[0, 2, 1], [1, 0, 2]])
SIGNS = [SPREAD < 0, SPREAD > 1]

CASES = [
    case("select", lambda x, y: np.select([MASK, ~MASK], [x, y]), (2, 3), (2, 3)),
    case("select, both hold, broadcast", lambda x, y: np.select([MASK, MASK[:1]], [x, y], 2.0), (3,), ()),
    case("select with a default", lambda x, y: np.select([MASK], [x], default=y), (2, 3), (2, 1)),
    case("select by comparisons", lambda x: np.select([x > 1, x < 0], [x * x, np.sin(x)], x), SPREAD, real=True),
    case("choose", lambda *xs: np.choose(NUMBERS, xs), (2, 3), (2, 3), (2, 3)),
    case("choose, broadcast", lambda *xs: np.choose(NUMBERS[0], [*xs]), (2, 3), (), (2, 1)),
    case("choose of rows", lambda x: np.choose(NUMBERS, x), (3, 2, 3)),
    case("choose mode='wrap'", lambda *xs: np.choose(NUMBERS - 4, xs, mode="wrap"), (3,), (2, 3)),
    case("choose mode='clip'", lambda *xs: np.choose(3 * NUMBERS - 3, xs, mode="clip"), (3,), (2, 3)),
    case("choose of one", lambda x: np.choose(np.zeros((2, 3), int), [x]), (3,)),
    case("piecewise", lambda x: np.piecewise(x, SIGNS, [lambda v: v * v, np.sin]), SPREAD, real=True),
    case("piecewise with otherwise", lambda x: np.piecewise(x, SIGNS, [np.sin, np.cos, np.exp]), SPREAD, real=True),
    case("piecewise of comparisons", lambda x: np.piecewise(x, [x < 1, x < 0], [np.exp, np.sin]), SPREAD, real=True),
    case("piecewise with a number", lambda x: np.piecewise(x, [True, False, False], [3.0, np.sin]), (3,)),
    case("piecewise with a tensor", lambda x, w: np.piecewise(x, [MASK], [w, np.sin]), (2, 3), ()),
    case("piecewise with options", lambda x: np.piecewise(x, [MASK], [lambda v, k, p: k * v**p], 2.0, p=3), (2, 3)),
    case("piecewise of a scalar", lambda x: np.piecewise(x, [x < 0, x >= 0], [np.exp, np.sin]), 0.5, real=True),
    case("compress", lambda x: np.compress([True, False, True], x, axis=1), (2, 3)),
    case("compress of all", lambda x: np.compress([False, True, True, False, True], x), (2, 3)),
    case("extract", lambda x: np.extract(MASK, x), (2, 3)),
    case("extract by a comparison", lambda x: np.extract(x > 0, x), SPREAD, real=True),
    case("real_if_close", np.real_if_close, (2, 3)),
    case("real_if_close of small imaginary parts", lambda x: np.real_if_close(x + 1e-17j), (3,), real=True, half=False),
    case("apply_along_axis", lambda x: np.apply_along_axis(np.sum, 0, x), (2, 3)),
    case("apply_along_axis to vectors", lambda x: np.apply_along_axis(np.cumsum, 1, x), (2, 3, 2)),
    case("apply_along_axis to matrices", lambda x: np.apply_along_axis(np.outer, -2, x, [1.0, -2.0]), (2, 3, 2)),
    case("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x, [0, -1]), (2, 3, 2)),
    case(
        "apply_over_axes, axes kept",
        lambda x: np.apply_over_axes(lambda a, axis: np.mean(a, axis, keepdims=True), x, 1),
        (2, 3),
    ),
]
