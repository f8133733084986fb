"""Cases of the functions that leave NaN out."""

import numpy as np

from .case import SPREAD, case
from .reductions import along

NAN = np.nan
GAPS = np.array([[0.5, NAN, 2.0], [1.5, 0.25, -0.75], [NAN, 1.25, -1.5]])  # no two numbers alike, some missing
CUBE = np.array([[[1.5, NAN], [0.75, 2.0]], [[NAN, 0.25], [1.25, -2.0]], [[0.6, 1.1], [-0.4, NAN]]])
ROW = np.array([[NAN, NAN, NAN], [0.5, NAN, 2.0]])  # one row has nothing else

AXES = (None, 0, -1, (0, 2), (-1, 1))

CASES = [
    *along("nansum:", np.nansum, CUBE, AXES),
    *along("nanmean:", np.nanmean, CUBE, AXES),
    *along("nanprod:", np.nanprod, CUBE, AXES),
    *along("nanmax:", np.nanmax, CUBE, AXES, real=True),
    *along("nanmin:", np.nanmin, CUBE, AXES, real=True),
    *along("nanvar:", np.nanvar, CUBE, AXES),
    *along("nanstd:", np.nanstd, CUBE, AXES),
    *along("nanmedian:", np.nanmedian, CUBE, AXES, real=True),
    *along("nanvar ddof=1:", lambda x, **options: np.nanvar(x, ddof=1, **options), GAPS, (None, 0, 1)),
    *along("nanstd ddof=1:", lambda x, **options: np.nanstd(x, ddof=1, **options), GAPS, (None, 0, 1)),
    *(
        case(f"{f.__name__} of {name}", f, given, real=f in (np.nanmax, np.nanmin, np.nanmedian))
        for f in (np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nanmedian)
        for name, given in [("numbers only", SPREAD), ("a vector", GAPS[0]), ("a scalar", 0.7)]
        if (f, name) != (np.nanstd, "a scalar")
    ),
    case("nansum of a row of NaN", lambda x: np.nansum(x, axis=1), ROW),
    case("nanprod of a row of NaN", lambda x: np.nanprod(x, axis=1), ROW),
    case("nancumsum", np.nancumsum, GAPS),
    case("nancumsum axis=0", lambda x: np.nancumsum(x, axis=0), GAPS),
    case("nancumprod", np.nancumprod, GAPS),
    case("nancumprod axis=-1", lambda x: np.nancumprod(x, axis=-1), GAPS),
    case("nanquantile 0.3", lambda x: np.nanquantile(x, 0.3), GAPS, real=True),
    case("nanquantile of several", lambda x: np.nanquantile(x, [0.1, 0.5, 1.0]), GAPS, real=True),
    case("nanquantile axis=1", lambda x: np.nanquantile(x, [0.25, 0.8], axis=1), GAPS, real=True),
    case("nanquantile axis=0 keepdims", lambda x: np.nanquantile(x, 0.25, axis=0, keepdims=True), GAPS, real=True),
    case(
        "nanquantile of several, keepdims",
        lambda x: np.nanquantile(x, [[0.0, 0.6]], axis=(1, 0), keepdims=True),
        GAPS,
        real=True,
    ),
    case("nanpercentile", lambda x: np.nanpercentile(x, 30), GAPS, real=True),
    case("nanpercentile of several axis=-1", lambda x: np.nanpercentile(x, [10, 90], axis=-1), GAPS, real=True),
]
