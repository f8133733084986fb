"""Cases of the functions that reduce an array along axes, or accumulate along one."""

import numpy as np

from .case import NUMPY, SPREAD, case

THREE = np.array([[[1.5, -0.5], [0.75, 2.0]], [[-1.0, 0.25], [1.25, -2.0]], [[0.6, 1.1], [-0.4, 0.9]]])
ZEROS = np.array([[0.0, 2.0, -1.5], [0.5, 0.0, 0.0]])  # none, one and two zeros in a row or column


def along(name, function, given, axes, **options):
    """A function with each of the axes, and with the axes kept."""
    for axis in axes:
        for keepdims in (False, True):
            yield case(
                f"{name} axis={axis}{' keepdims' * keepdims}",
                lambda x, _a=axis, _k=keepdims: function(x, axis=_a, keepdims=_k),
                given,
                **options,
            )


AXES = (None, 0, -1, (0, 2), (-1, 1))

CASES = [
    case("sum", np.sum, (2, 3)),
    case("sum axis=0", lambda x: np.sum(x, axis=0), (2, 3, 2)),
    case("sum axis=1, positional", lambda x: np.sum(x, 1), (2, 3, 2)),
    case("sum axis=-1", lambda x: np.sum(x, axis=-1), (2, 3, 2)),
    case("sum axis=(0, -1)", lambda x: np.sum(x, axis=(0, -1)), (2, 3, 2)),
    case("sum keepdims", lambda x: np.sum(x, keepdims=True), (2, 3)),
    case("sum axis=1 keepdims", lambda x: np.sum(x, axis=1, keepdims=True), (2, 3)),
    case("sum axis=()", lambda x: np.sum(x, axis=()), (2, 3)),
    case("x.sum", lambda x: x.sum(0), (2, 3)),
    case("sum of a scalar", np.sum, ()),
    case("add.reduce", np.add.reduce, (2, 3)),
    case("add.reduce axis=1", lambda x: np.add.reduce(x, axis=1), (2, 3)),
    case("mean", np.mean, (2, 3)),
    case("mean axis=0", lambda x: np.mean(x, axis=0), (2, 3)),
    case("mean axis=(1, 2) keepdims", lambda x: np.mean(x, axis=(1, 2), keepdims=True), (2, 3, 2)),
    case("max", np.max, SPREAD, real=True),
    case("max axis=0", lambda x: np.max(x, axis=0), SPREAD, real=True),
    case("max axis=-1 keepdims", lambda x: np.max(x, axis=-1, keepdims=True), SPREAD, real=True),
    case("max axis=(0, 1)", lambda x: np.max(x, axis=(0, 1)), SPREAD, real=True),
    case("amax", np.amax, SPREAD, real=True),
    case("min", np.min, SPREAD, real=True),
    case("min axis=1", lambda x: np.min(x, axis=1), SPREAD, real=True),
    case("min keepdims", lambda x: np.min(x, keepdims=True), SPREAD, real=True),
    *along("sum of three axes:", np.sum, (3, 2, 2), AXES),
    *along("mean of three axes:", np.mean, (3, 2, 2), AXES),
    *along("prod:", np.prod, (3, 2, 2), AXES),
    *along("max of three axes:", np.max, THREE, AXES, real=True),
    *along("min of three axes:", np.min, THREE, AXES, real=True),
    *along("ptp:", np.ptp, THREE, AXES, real=True),
    *along("var:", np.var, (3, 2, 2), AXES),
    *along("std:", np.std, (3, 2, 2), AXES),
    *along("var ddof=1:", lambda x, **options: np.var(x, ddof=1, **options), (3, 2), (None, 0, 1, (0, 1))),
    *along("std ddof=0.5:", lambda x, **options: np.std(x, ddof=0.5, **options), (3, 2), (None, 0, 1, (0, 1))),
    *along("logaddexp.reduce:", np.logaddexp.reduce, (3, 2, 2), AXES, real=True),
    case("amin", np.amin, SPREAD, real=True),
    case("prod", np.prod, (2, 3)),
    case("prod of zeros", np.prod, ZEROS),
    case("prod of one zero", np.prod, [2.0, 0.0, 3.0, -1.5]),
    case("prod of zeros along axis 0", lambda x: np.prod(x, axis=0), ZEROS),
    case("prod of zeros along axis 1, kept", lambda x: np.prod(x, axis=1, keepdims=True), ZEROS),
    case("prod of a scalar", np.prod, ()),
    case("prod of nothing", lambda x: np.prod(x, axis=0), (0, 3)),
    case("cumsum", np.cumsum, (2, 3)),
    case("cumsum axis=0", lambda x: np.cumsum(x, axis=0), (2, 3, 2)),
    case("cumsum axis=-1", lambda x: np.cumsum(x, axis=-1), (2, 3, 2)),
    case("cumsum of a scalar", np.cumsum, ()),
    case("x.cumsum(1)", lambda x: x.cumsum(1), (2, 3)),
    case("cumprod", np.cumprod, (2, 3)),
    case("cumprod axis=0", lambda x: np.cumprod(x, axis=0), (3, 2)),
    case("cumprod axis=-2", lambda x: np.cumprod(x, axis=-2), (2, 3, 2)),
    case("cumprod of zeros", lambda x: np.cumprod(x, axis=1), ZEROS),
    case("cumprod of zeros along axis 0", lambda x: np.cumprod(x, axis=0), ZEROS),
    case("cumprod of one zero", np.cumprod, [2.0, 0.0, 3.0, -1.5]),
    case("add.accumulate", np.add.accumulate, (2, 3)),
    case("add.accumulate axis=1", lambda x: np.add.accumulate(x, axis=1), (2, 3)),
    case("maximum.accumulate", np.maximum.accumulate, (3, 2), real=True),
    case("minimum.accumulate", lambda x: np.minimum.accumulate(x, axis=-1), (2, 3), real=True),
    case("multiply.accumulate", lambda x: np.multiply.accumulate(x, axis=-1), (2, 3)),
    case("multiply.reduce", np.multiply.reduce, (2, 3)),
    case("maximum.reduce", lambda x: np.maximum.reduce(x, axis=1), SPREAD, real=True),
    case("minimum.reduce", lambda x: np.minimum.reduce(x, axis=None), SPREAD, real=True),
    case("maximum.reduce along axis 0", np.maximum.reduce, SPREAD, real=True),
    case("logaddexp.reduce along axis 0", np.logaddexp.reduce, (2, 3), real=True),
    case("logaddexp.reduce of large numbers", np.logaddexp.reduce, [800.0, 801.5, -900.0], real=True, half=False),
    case("x.var(ddof=1)", lambda x: x.var(ddof=1), (4,)),
    case("x.std(axis=0)", lambda x: x.std(axis=0), (3, 2)),
    case("x.mean(0)", lambda x: x.mean(0), (3, 2)),
    case("x.max and x.min", lambda x: x.max(axis=0) * x.min(), SPREAD, real=True),
    case("x.prod and x.min", lambda x: x.prod(0) + x.min(axis=1, keepdims=True), SPREAD, real=True),
    case("sum of nothing", lambda x: np.sum(x, axis=1), (3, 0)),
    case("mean along an axis beside an empty one", lambda x: np.mean(x, axis=1), (0, 3)),
    case("max of size 1", lambda x: np.max(x, axis=1), (3, 1), real=True),
    case("var of sizes 1", lambda x: np.var(x, axis=(0, 2)), (1, 3, 1)),
    case("cumsum of nothing", lambda x: np.cumsum(x, axis=0), (0, 2)),
    *(
        [
            case("cumulative_sum", np.cumulative_sum, (3,)),
            case("cumulative_sum axis=0", lambda x: np.cumulative_sum(x, axis=0), (2, 3)),
            case("cumulative_sum from 0", lambda x: np.cumulative_sum(x, axis=1, include_initial=True), (2, 3, 2)),
            case("cumulative_prod", np.cumulative_prod, (3,)),
            case("cumulative_prod from 1", lambda x: np.cumulative_prod(x, axis=-1, include_initial=True), (2, 3)),
        ]
        if NUMPY >= "2.1.0"
        else []
    ),
]
