"""Pictures of Jacobians and of functions of two variables, drawn by matplotlib.

Each function returns a matplotlib figure: as the value of a notebook cell it is shown, and `figure.savefig("name.svg")`
saves it. pyplot has closed it, so a notebook does not show it twice.

>>> import autodiff_edu as ad
>>> jacobian = ad.jacobian(lambda x: x**3)([1.0, 2.0])
>>> figure = heatmap(jacobian, title="by x")
>>> figure.axes[0].get_title()
'by x'
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays.structures import as_array
from .text.shared import colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOW, MIDDLE, HIGH, ODD = map(colour, ("low", "middle", "high", "idle"))
"""The colours below zero, at zero and above it, as in the player; and for NaN."""

POINTS = 61
"""How many points a grid has along each axis."""


def heatmap(matrix: Any, title: str = "", limit: float | None = None) -> Figure:
    """Draw a matrix, such as a Jacobian, in colours around zero.

    Parameters
    ----------
    matrix : array_like or Tensor
        Of rank 2, or of rank 1, which is one row; of real numbers. NaN is grey.
    title : str
        The title above the picture.
    limit : float, optional
        The magnitude at the ends of the scale; the largest in the matrix, if it is not given.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the rank is neither 1 nor 2, or the matrix is empty.
    TypeError
        If it does not hold real numbers.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> heatmap([[1.0, 0.0], [0.0, -2.0]]).axes[0].images[0].get_clim()
    (-2.0, 2.0)
    """
    array = _numbers(matrix, "heatmap")
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2:
        half = array.ndim // 2
        shape = tuple(int(np.prod(part)) for part in (array.shape[:half], array.shape[half:]))
        raise ValueError(
            f"heatmap draws a matrix, but this has shape {array.shape}; join the axes of the outputs and those of the "
            f"inputs, for example np.reshape(jacobian, {shape})"
        )
    rows, columns = array.shape
    size = min(7.0, 2.2 + 0.4 * columns), min(7.0, 1.4 + 0.4 * rows)
    figure, axes = _subplots(figsize=size, layout="constrained")
    image = _image(axes, array, limit if limit is not None else _limit(array))
    axes.set(title=title, xlabel="inputs", ylabel="outputs")
    _whole_ticks(axes)
    figure.colorbar(image, ax=axes)
    return figure


def batch_patches(batch_jacobian: Any, title: str = "") -> Figure:
    """Draw the Jacobians of a batch as patches with one scale.

    Parameters
    ----------
    batch_jacobian : array_like or Tensor
        Of shape (samples, outputs, inputs): a patch for each sample. Or a full Jacobian, of shape (samples, outputs,
        samples, inputs): a patch for each output and input, in which only the diagonal has a colour if the samples do
        not mix.
    title : str
        The title above the picture.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If the shape is different, a size is 0, or there would be more than 400 patches.
    TypeError
        If it does not hold real numbers.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> x = np.ones((4, 2))
    >>> len(batch_patches(np.ones((4, 3, 2))).axes)  # four patches and the scale
    5
    """
    array = _numbers(batch_jacobian, "batch_patches")
    full = array.ndim == 4 and array.shape[0] == array.shape[2]
    if array.ndim != 3 and not full:
        raise ValueError(
            "batch_patches draws (samples, outputs, inputs) or (samples, outputs, samples, inputs), but this has "
            "shape {array.shape}; join the axes of a sample's outputs, and those of its inputs, with np.reshape"
        )
    if full:
        patches = np.moveaxis(array, (1, 3), (0, 1))  # output, input, sample, sample
        names = [[f"output {i}, input {j}" for j in range(patches.shape[1])] for i in range(patches.shape[0])]
    else:
        columns = min(8, len(array))
        missing = -len(array) % columns
        padded = np.concatenate([array, np.full((missing, *array.shape[1:]), np.nan)]) if missing else array
        patches = padded.reshape(-1, columns, *array.shape[1:])
        names = [[f"sample {i * columns + j}" for j in range(columns)] for i in range(len(patches))]
    rows, columns = patches.shape[:2]
    if rows * columns > 400:
        raise ValueError(f"these are {rows * columns} patches, too many to see; draw some of them, up to 400")
    size = min(10.0, 1.5 + 1.1 * columns), min(10.0, 0.8 + 1.1 * rows)
    figure, grid = _subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    limit = _limit(array)
    for i, row in enumerate(grid):
        for j, axes in enumerate(row):
            if not full and i * columns + j >= len(array):
                axes.remove()
                continue
            image = _image(axes, patches[i, j], limit)
            axes.set(xticks=[], yticks=[])
            axes.set_title(names[i][j], fontsize=7)
    figure.suptitle(title)
    figure.colorbar(image, ax=figure.axes)
    return figure


def contours(
    f: Callable[..., Any],
    x: tuple[float, float],
    y: tuple[float, float],
    path: Any = None,
    levels: int = 14,
) -> Figure:
    """Draw the contours of a function of two variables and, over them, a path.

    Parameters
    ----------
    f : callable
        A function of one array of two numbers, or of two numbers; returns a scalar.
    x, y : tuple of float
        The range of each of the two.
    path : array_like, optional
        Points, of shape (points, 2), such as the iterates of gradient descent; the first is a square, the last a star.
    levels : int
        How many contours. They are closer where the function is low.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If a range is invalid, `f` does not return a scalar or is nowhere finite, or the path has another shape.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> figure = contours(lambda p: p[0] ** 2 + 3 * p[1] ** 2, x=(-2, 2), y=(-1, 1), path=[(1, 1), (0.5, 0.1), (0, 0)])
    >>> len(figure.axes[0].lines[0].get_xydata())
    3
    """
    ranges = (check_range(x, "x"), check_range(y, "y"))
    points = None if path is None else _numbers(path, "the path of contours")
    if points is not None and (points.ndim != 2 or points.shape[1] != 2):
        raise ValueError(f"a path has shape (points, 2), but this has shape {points.shape}")
    xs, ys, heights = grid(f, *ranges)
    wide, tall = (high - low for low, high in ranges)
    figure, axes = _subplots(figsize=(5.5, 4.5), layout="constrained")
    lines = axes.contour(xs, ys, heights, levels=heights_of(heights, levels), colors=LOW, linewidths=0.9)
    axes.clabel(lines, fontsize=7, fmt="%.3g")
    if points is not None:
        axes.plot(*points.T, "-o", color=HIGH, markersize=4)
        axes.plot(*points[0], "s", color=HIGH, markersize=7)
        axes.plot(*points[-1], "*", color=HIGH, markersize=12)
    axes.set(xlim=ranges[0], ylim=ranges[1], xlabel="x", ylabel="y")
    if 0.25 < wide / tall < 4:
        axes.set_aspect("equal")  # otherwise the gradient would not look perpendicular to the contours
    return figure


def of_two(f: Callable[..., Any]) -> Callable[[Any], Any]:
    """Turn `f` into a function of one array of two numbers, whichever way it takes them."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return f
    needed = [p for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    return (lambda point: f(point[0], point[1])) if len(needed) == 2 else f


def grid(f: Callable[..., Any], x: tuple[float, float], y: tuple[float, float]) -> tuple[Any, Any, Any]:
    """Evaluate `f` on a grid; return the places along x, the places along y, and the heights, a row for each y.

    Raises
    ------
    ValueError
        If `f` does not return a scalar, or is finite nowhere.
    """
    xs, ys, function = np.linspace(*x, POINTS), np.linspace(*y, POINTS), of_two(f)
    with np.errstate(all="ignore"):  # beyond its domain a function is NaN
        heights = np.array([[_scalar(function(np.array([a, b]))) for a in xs] for b in ys])
    if not np.isfinite(heights).any():
        raise ValueError(f"the function is finite nowhere in {x} × {y}: there are no contours to draw")
    return xs, ys, np.where(np.isfinite(heights), heights, np.nan)


def heights_of(heights: Any, count: int) -> Any:
    """Choose the heights of the contours: closer where the function is low, near its minimum.

    >>> heights_of(np.array([0.0, 4.0]), 3)
    array([0.25, 1.  , 2.25])
    """
    low, high = float(np.nanmin(heights)), float(np.nanmax(heights))
    if low == high:  # a flat surface has none, but matplotlib needs one
        return np.array([low])
    return low + (high - low) * (np.arange(1, count + 1) / (count + 1)) ** 2


def check_range(given: Any, name: str) -> tuple[float, float]:
    """Return a range as two floats.

    Raises
    ------
    ValueError
        If it is not two finite numbers, the smaller first.
    """
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = 0.0
    if not (low < high and np.isfinite(low) and np.isfinite(high)):
        raise ValueError(
            f"{name} must be a range from a smaller number to a larger one, as in {name}=(-3.0, 3.0); it is "
            f"{given!r:.60}"
        )
    return low, high


def round_numbers(low: float, high: float) -> list[float]:
    """List a few round numbers between two.

    >>> round_numbers(-1.0, 3.2)
    [0.0, 2.0]
    >>> round_numbers(0.0, 0.4)
    [0.0, 0.1, 0.2, 0.3, 0.4]
    """
    rough = (high - low) / 4
    size = 10.0 ** np.floor(np.log10(rough))
    gap = float(size * next(step for step in (1, 2, 5, 10) if step * size >= rough))
    ends = int(np.ceil(low / gap - 1e-9)), int(np.floor(high / gap + 1e-9))
    return [float(f"{k * gap:.12g}") for k in range(ends[0], ends[1] + 1)]


def _scalar(value: Any) -> float:
    if np.ndim(value) != 0:
        raise ValueError(f"contours needs a function that returns one number, but this returns shape {np.shape(value)}")
    return float(value)


def _numbers(values: Any, caller: str) -> Any:
    values = as_array(values)
    array = np.asarray(values.matrix() if hasattr(values, "matrix") else values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{caller} draws real numbers, but these are {array.dtype}; take np.real or np.abs of them")
    if array.size == 0:
        raise ValueError(f"{caller} has nothing to draw: the shape is {array.shape}")
    return array.astype(float)


def _limit(array: Any) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max(initial=0.0)) or 1.0


def _image(axes: Any, array: Any, limit: float) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("around zero", [LOW, MIDDLE, HIGH]).with_extremes(bad=ODD)
    return axes.imshow(array, cmap=colours, vmin=-limit, vmax=limit, interpolation="nearest")


def _whole_ticks(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _subplots(*shape: int, **options: Any) -> tuple[Figure, Any]:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"{error}; plots need matplotlib: pip install matplotlib") from error
    figure, axes = pyplot.subplots(*shape, **options)
    pyplot.close(figure)
    return figure, axes
