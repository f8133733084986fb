"""Cases that decide by their numbers, as users write it: an index, a branch or an order that other numbers change.

They are not part of the table: most of them are made of functions that are tested there.
"""

import numpy as np

from autodiff_edu import nn, stop_gradient

from .case import SPREAD, case

FOUR = np.array([0.3, -1.1, 2.2, 0.9])
SEVEN = np.array([0.3, -1.1, 2.2, 0.9, -0.4, 1.7, -2.3])
HOLED = np.array([0.3, np.nan, 2.2, 0.9, -0.4])
KNOTS = np.array([-1.0, -0.25, 0.5, 2.0])
LEVELS = np.array([1.0, 2.0, 4.0, -1.0])
REAL = np.array([[2.0, 1.0], [0.5, 1.0]])  # its eigenvalues are real; with other signs they are complex


def along(name, x, axis=-1):
    """Take the elements that a function like np.argsort finds along an axis."""
    return np.take_along_axis(x, getattr(np, name)(x, axis=axis, **({"kth": 1} if "part" in name else {})), axis)


def rows(function, *options):
    return lambda x: np.apply_along_axis(function, 1, x, *options)


CASES = [
    # An index that was computed, as an argument
    case("take of argsort", lambda x: np.take(x, np.argsort(x)), FOUR),
    case("take of argsort of a row", lambda x: np.take(x, np.argsort(x[0]), axis=1), SPREAD),
    case("take of argsort mode='clip'", lambda x: np.take(x, np.argsort(x) + 1, mode="clip"), FOUR),
    case("take of argpartition", lambda x: np.take(x, np.argpartition(x, 1)[:2]), FOUR),
    case("take of argmax", lambda x: np.take(x, np.argmax(x)), FOUR),
    case("take of argmin, axis=0", lambda x: np.take(x, np.argmin(x[:, 0]), axis=0), SPREAD),
    case("take of nanargmin", lambda x: np.take(x, np.nanargmin(x)), HOLED),
    case("take of searchsorted", lambda x: np.take(x, np.searchsorted(np.sort(x), 0.5) % 4), FOUR),
    case("take of digitize", lambda x, t: np.take(t, np.digitize(x, KNOTS)) * x, FOUR, (5,)),
    case("take from numbers", lambda x: np.take(LEVELS, np.searchsorted(KNOTS, x) % 4) * x, FOUR),
    case("x.take of argsort", lambda x: x.take(np.argsort(x)), FOUR),
    case("x.take of x.argsort", lambda x: x.take(x.argsort()[:2]), FOUR),
    case("one in the order of another", lambda x, y: np.take(y, np.argsort(x)) * x, FOUR, (4,)),
    case("take_along_axis of argsort", lambda x: along("argsort", x), SPREAD),
    case("take_along_axis of argsort, axis=0", lambda x: along("argsort", x, 0), SPREAD),
    case("take_along_axis of argsort, axis=None", lambda x: along("argsort", x, None), SPREAD),
    case("take_along_axis of argpartition", lambda x: along("argpartition", x), SPREAD),
    case("take_along_axis of argmax", lambda x: np.take_along_axis(x, np.argmax(x, 1)[:, None], 1), SPREAD),
    case("take_along_axis of argmin", lambda x: np.take_along_axis(x, np.argmin(x, 0, keepdims=True), 0), SPREAD),
    # An index that was computed, in brackets
    case("x[argsort]", lambda x: x[np.argsort(x)], FOUR),
    case("x[argsort] turned round", lambda x: x[np.argsort(x)[::-1]][:2], FOUR),
    case("x[argsort axis=None]", lambda x: np.ravel(x)[np.argsort(x, axis=None)], SPREAD),
    case("x[lexsort]", lambda x: x[np.lexsort((x,))], FOUR),
    case("x[argmax]", lambda x: x[np.argmax(x)], FOUR),
    case("x[nanargmax]", lambda x: x[np.nanargmax(x)], HOLED),
    case("x[argmax of norms]", lambda x: x[np.argmax(np.linalg.norm(x, axis=1))], SPREAD),
    case("x[argmax, :]", lambda x: x[np.argmax(x[:, 0]), :], SPREAD),
    case("x[..., argmax]", lambda x: x[..., np.argmax(x)], FOUR),
    case("x[..., argmax] of a matrix", lambda x: x[..., np.argmax(x[0])], SPREAD),
    case("x[:, argsort]", lambda x: x[:, np.argsort(x[0])], SPREAD),
    case("x[None, argsort]", lambda x: x[None, np.argsort(x)], FOUR),
    case("x[arange, argmax]", lambda x: x[np.arange(2), np.argmax(x, axis=1)], SPREAD),
    case("x[digitize]", lambda x, t: t[np.digitize(x, KNOTS)] * x, FOUR, (5,)),
    case("an array[searchsorted]", lambda x: LEVELS[np.searchsorted(KNOTS, x) % 4] * x, FOUR),
    # Numbers of places and ranks
    case("argsort of argsort", lambda x: np.argsort(np.argsort(x)) * x, FOUR),
    case("argpartition axis=None", lambda x: np.argpartition(x, 1, axis=None) * np.ravel(x), SPREAD),
    case("searchsorted", lambda x: np.searchsorted(KNOTS, x) * x, FOUR),
    case("digitize", lambda x: np.digitize(x, KNOTS) * x, FOUR),
    case("bincount", lambda x: np.bincount(np.digitize(x, KNOTS), minlength=5) * np.sum(x), FOUR),
    case("count_nonzero", lambda x: np.count_nonzero(x > 0) * x, FOUR),
    case("matrix_rank", lambda x: np.linalg.matrix_rank(x) * x, SPREAD),
    # An order
    case("the top two", lambda x: np.sort(x)[..., -2:], SPREAD),
    case("sort of squares", lambda x: np.sort(x * x), SEVEN),
    case("sort of sums", lambda x: np.sort(np.abs(x) + x[::-1]), FOUR),
    case("sort, cut off", lambda x: x * stop_gradient(np.sort(x)), FOUR),
    case("tril of sort", lambda x: np.tril(np.sort(x)), SPREAD),
    case("median of squares", lambda x: np.median(x * x, axis=0), SPREAD),
    case("percentile of several", lambda x: np.percentile(x, [30, 60], axis=-1), SPREAD),
    case("nanmedian of squares", lambda x: np.nanmedian(x * x), HOLED),
    case("nanquantile of sums", lambda x: np.nanquantile(x + x[::-1], 0.3), HOLED),
    case("ptp times argmax", lambda x: np.ptp(x, axis=0) * np.argmax(x, axis=0), SPREAD),
    case("max of norms", lambda x: np.max(np.linalg.norm(x, axis=1)), SPREAD),
    case("rows by sort", rows(np.sort), SPREAD),
    case("rows by median", rows(np.median), SPREAD),
    case("rows by max", rows(np.max), SPREAD),
    case("rows by quantile", rows(np.quantile, 0.3), SPREAD),
    case("rows by partition", rows(np.partition, 1), SPREAD),
    case("rows by where", rows(lambda row: np.where(row > 0, row * row, -row)), SPREAD),
    case("apply_over_axes of max", lambda x: np.apply_over_axes(np.max, x, [0, 1]), SPREAD),
    # A branch
    case("where", lambda x: np.where(x > 0, x**2, np.sin(x)), FOUR),
    case("where of two", lambda x, y: np.where(x > y, x * y, y**2), FOUR, (4,)),
    case("where in where", lambda x: np.where(x > 0, np.where(x > 1, x**3, x), -x), FOUR),
    case("where isnan", lambda x: np.where(np.isnan(x), 0.0, x**2), HOLED),
    case("where above the mean", lambda x: np.where(x > np.mean(x), x**2, -x), FOUR),
    case("where any", lambda x: np.where(np.any(x > 1), x**2, x), FOUR),
    case("where sign", lambda x: np.where(np.sign(x) == 1, x**2, x), FOUR),
    case("where isclose", lambda x: np.isclose(x, 0.5) * x + x**2, FOUR),
    case("times a comparison", lambda x: (x > 0) * x**2, FOUR),
    case("times a comparison as floats", lambda x: (x > 0).astype(float) * x**2, FOUR),
    case("piecewise of two", lambda x: np.piecewise(x, [x < 0, x >= 0], [np.square, np.sin]), FOUR),
    case("piecewise of one", lambda x: np.piecewise(x, [x < 0], [np.exp, np.sin]), FOUR),
    case("piecewise and a number", lambda x: np.piecewise(x, [x < 0, x > 1], [2.0, np.square, np.sin]), FOUR),
    case("select", lambda x: np.select([x < 0, x > 1], [x**2, np.exp(x)], np.sin(x)), FOUR),
    case("choose by a comparison", lambda x: np.choose((x > 0).astype(int), [x**2, np.sin(x)]), FOUR),
    case("choose by argmax", lambda x: np.choose(np.argmax(x), [x**2, np.sin(x), x, -x]), FOUR),
    case("choose by argsort", lambda x: np.choose(np.argsort(x), [x**2, np.sin(x), x, -x]), FOUR),
    case("choose by searchsorted", lambda x: np.choose(np.searchsorted(KNOTS, x) % 2, [x**2, np.sin(x)]), FOUR),
    case("clip between tensors", lambda x, low: np.clip(x, low, low + 1), FOUR, (4,)),
    case("heaviside", lambda x: np.heaviside(x, 0.5) * x**2, FOUR),
    case("floor and remainder", lambda x: x % 0.7 + np.floor(x) * x, FOUR),
    case("copysign", lambda x, y: np.copysign(x, y) * y, FOUR, (4,)),
    case("nan_to_num", lambda x: np.nan_to_num(x) ** 2, HOLED),
    case("unwrap of a multiple", lambda x: np.unwrap(3 * x), SEVEN),
    case("compress by a comparison", lambda x: np.compress(x > 0, x) ** 2, FOUR),
    case("x[comparison]", lambda x: x[x > 0] ** 2, FOUR),
    case("trim_zeros", lambda x: np.trim_zeros(x) ** 2, FOUR),
    case("if", lambda x: x**2 if np.sum(x) > 0 else np.sin(x), FOUR),
    case("max of Python", lambda x: max(x[0], x[1]) ** 2 * x, FOUR),
    case("relu", lambda x: nn.relu(x) ** 2, FOUR),
    # Interpolation
    case("interp by fp", lambda fp: np.interp(SEVEN, KNOTS, fp), (4,)),
    case("interp by xp", lambda xp: np.interp(SEVEN, np.sort(xp), LEVELS), KNOTS),
    case("interp by xp that is in order", lambda xp: np.interp(SEVEN, np.cumsum(np.abs(xp)), LEVELS), KNOTS),
    case("interp by x", lambda x: np.interp(x, KNOTS, LEVELS), SEVEN),
    case("interp by x and fp", lambda x, fp: np.interp(x, KNOTS, fp), SEVEN, (4,)),
    case("interp by all three", lambda x, xp, fp: np.interp(x, np.sort(xp), fp), SEVEN, KNOTS, (4,)),
    # Matrices
    case("eigvals", lambda m: np.real(np.linalg.eigvals(m)), REAL),
    case("eigvals, sizes", lambda m: np.abs(np.linalg.eigvals(m)), REAL),
    case("eig, values", lambda m: np.real(np.linalg.eig(m)[0]), REAL),
    case("eig, sizes of vectors", lambda m: np.abs(np.linalg.eig(m)[1]), REAL),
    case("eigh, sizes of vectors", lambda m: np.abs(np.linalg.eigh(m + m.T)[1]), (3, 3)),
    case("cond times", lambda m: np.linalg.cond(m) * m, (3, 3)),
]
