"""Cases of the functions that difference, interpolate, sum up or combine samples."""

import numpy as np

from .case import SPREAD, case, joined

X = np.array([-1.0, -0.25, 0.5, 2.0])
AT = np.array([[-0.7, 0.1, 1.9], [-3.0, 2.5, 0.49]])  # inside and beyond X
SEVEN = np.array([0.3, -1.1, 2.2, 0.9, -0.4, 1.7, -2.3])

CASES = [
    case("diff", np.diff, (2, 4)),
    case("diff n=2", lambda x: np.diff(x, n=2), (2, 4)),
    case("diff n=0", lambda x: np.diff(x, n=0), (3,)),
    case("diff axis=0", lambda x: np.diff(x, axis=0), (3, 2)),
    case("diff axis=-2, n=2", lambda x: np.diff(x, 2, -2), (2, 4, 2)),
    case("diff prepend", lambda x: np.diff(x, prepend=0.0), (2, 3)),
    case("diff append, axis=0", lambda x, y: np.diff(x, axis=0, append=y), (2, 3), (1, 3)),
    case("diff prepend and append", lambda x, y: np.diff(x, prepend=y, append=2.0, n=2), (2, 3), (2, 1)),
    case("gradient", np.gradient, (4,)),
    case("gradient spacing", lambda x: np.gradient(x, 0.5), (4,)),
    case("gradient coordinates", lambda x: np.gradient(x, X), (4,)),
    case("gradient of two axes", lambda x: joined(np.gradient(x)), (3, 4)),
    case("gradient of two axes, spacings", lambda x: joined(np.gradient(x, 2.0, X)), (3, 4)),
    case("gradient axis=0", lambda x: np.gradient(x, axis=0), (3, 2)),
    case("gradient axis=(-1, 0)", lambda x: joined(np.gradient(x, axis=(-1, 0))), (3, 2, 3)),
    case("gradient edge_order=2", lambda x: np.gradient(x, X, edge_order=2), (4,)),
    case("gradient edge_order=2, axis=1", lambda x: np.gradient(x, 0.25, axis=1, edge_order=2), (2, 3)),
    case("gradient of two samples", np.gradient, (2,)),
    case("median", np.median, SPREAD, real=True),
    case("median of an odd number", np.median, SEVEN, real=True),
    case("median axis=0", lambda x: np.median(x, axis=0), SPREAD, real=True),
    case("median axis=-1 keepdims", lambda x: np.median(x, axis=-1, keepdims=True), SPREAD, real=True),
    case("median axis=(0, 1) keepdims", lambda x: np.median(x, axis=(0, 1), keepdims=True), SPREAD, real=True),
    case("quantile 0.3", lambda x: np.quantile(x, 0.3), SEVEN, real=True),
    case("quantile of several", lambda x: np.quantile(x, [0.1, 0.5, 1.0]), SEVEN, real=True),
    case("quantile axis=1", lambda x: np.quantile(x, [0.25, 0.8], axis=1), SPREAD, real=True),
    case("quantile axis=0 keepdims", lambda x: np.quantile(x, 0.25, axis=0, keepdims=True), SPREAD, real=True),
    case("quantile axis=(1, 0)", lambda x: np.quantile(x, [[0.0, 0.6], [0.45, 1.0]], axis=(1, 0)), SPREAD, real=True),
    case("quantile method='linear'", lambda x: np.quantile(x, 0.7, method="linear"), SEVEN, real=True),
    case("percentile", lambda x: np.percentile(x, 30), SEVEN, real=True),
    case("percentile of several axis=-1", lambda x: np.percentile(x, [10, 90], axis=-1), SPREAD, real=True),
    case("interp", lambda x, fp: np.interp(x, X, fp), AT, (4,), real=True),
    case("interp by every argument", lambda x, xp, fp: np.interp(x, xp, fp), AT, X, (4,), real=True),
    case("interp left and right", lambda x, fp: np.interp(x, X, fp, left=-1.0, right=5.0), AT, (4,), real=True),
    case("interp of a scalar", lambda x, fp: np.interp(x, X, fp), 0.3, (4,), real=True),
    *(
        case(f"convolve {a} and {v}, {mode}", lambda x, y, _m=mode: np.convolve(x, y, mode=_m), a, v)
        for mode in ("full", "same", "valid")
        for a, v in [((5,), (3,)), ((2,), (4,)), ((4,), (4,)), ((3,), (1,))]
    ),
    case("convolve of a constant", lambda x: np.convolve(x, [1.0, -2.0, 0.5]), (4,)),
    case("convolve with a tensor", lambda x: np.convolve(np.array([1.0, -2.0, 0.5, 3.0]), x, "same"), (2,)),
    case("linspace", lambda a, b: np.linspace(a, b, 5), (), ()),
    case("linspace of arrays", lambda a, b: np.linspace(a, b, 4), (2, 1), (3,)),
    case("linspace endpoint=False", lambda a, b: np.linspace(a, b, 4, endpoint=False), (2,), (2,)),
    case("linspace axis=-1", lambda a, b: np.linspace(a, b, 3, axis=-1), (2,), (2,)),
    case("linspace retstep", lambda a, b: joined(np.linspace(a, b, 3, retstep=True)), (), ()),
    case("linspace num=1", lambda a, b: np.linspace(a, b, 1), (2,), (2,)),
    case("linspace from a number", lambda b: np.linspace(0.0, b, 3), ()),
    case("full", lambda x: np.full((2, 3), x, like=x), ()),
    case("full of an array", lambda x: np.full((2, 3), x, like=x), (3,)),
    case("full_like", lambda x, y: np.full_like(x, y) * x, (2, 3), ()),
    case("full_like of a shape", lambda x: np.full_like(x, x[0, 0], shape=(4,)), (2, 3)),
    case("average", np.average, (2, 3)),
    case("average axis=0", lambda x: np.average(x, axis=0), (2, 3)),
    case("average weights", lambda x, w: np.average(x, weights=w), (2, 3), (2, 3), positive=True),
    case("average axis=1, weights", lambda x, w: np.average(x, axis=1, weights=w), (2, 3), (3,), positive=True),
    case("average axis=-2, keepdims", lambda x: np.average(x, axis=-2, keepdims=True), (2, 3)),
    case(
        "average returned",
        lambda x, w: joined(np.average(x, weights=w, axis=0, returned=True)),
        (2, 3),
        (2,),
        positive=True,
    ),
    case("trapezoid", np.trapezoid, (2, 4)),
    case("trapezoid dx, axis=0", lambda y: np.trapezoid(y, dx=0.5, axis=0), (3, 2)),
    case("trapezoid by both", np.trapezoid, (2, 4), (4,)),
    case("trapezoid of coordinates along axis 0", lambda y, x: np.trapezoid(y, x, axis=0), (3, 2), (3,)),
    case("trapezoid of coordinates of every row", lambda y, x: np.trapezoid(y, x, axis=0), (3, 2), (3, 2)),
]
