"""Corners: points at which an operation has another slope on the left than on the right. A column of the rule table.

For the operations that have some, `CORNERS` holds a function that finds the elements at a corner, with both slopes and
the one that the rule takes. A jump is not a corner: the operation has to be continuous there.

>>> import numpy as np
>>> from autodiff_edu.core.entry import Entry
>>> x = np.array([1.0, 0.0])
>>> CORNERS[np.absolute](Entry(np.absolute, ((1,), 2, None, 0), {}, (x,), np.abs(x)), [0], None)
Sides(results=array([1]), elements=array([1]), left=array([-1.]), right=array([1.]), slope=array([0.]))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.entry import Entry
from ..core.rule import rule_of
from .elementwise import or_one
from .linalg import eigh, h, positive, svd
from .operations import clip
from .reductions import length, restore


class Sides(NamedTuple):
    """The slopes at the corners of one operation: a number for each result and argument element that has two.

    Elements are given by their positions in the flattened result and in the flattened argument.
    """

    results: Any
    elements: Any
    left: Any
    right: Any
    slope: Any


class Motion(Protocol):
    """How the tensors move as the sources do, in a direction in which a condition and its branches are compared."""

    def slope(self, id: int | None, value: Any) -> Any:
        """Return how fast a tensor moves; NaN where that is not known."""

    def sides(self, id: int | None) -> tuple[Any, Any] | None:
        """Return a condition just behind this point, and just ahead of it; None if it can't be known."""


CORNERS: dict[Any, Callable[[Entry, list[int], Motion | None], Sides | None]] = {}
"""By operation: from an entry, the positions of the argument that moves, and the motion (which only those in
`CHOOSING` need), to the sides."""


def pull(entry: Entry, argument: int, g: Any) -> Any:
    """Pull a cotangent back by the entry's own rule."""
    rule: Any = rule_of(entry.operation)
    return rule.pull(argument)(g, entry.output_value, *entry.values, **entry.keywords)


def positions(x: Any) -> Any:
    """Return the position of each element in the flattened array."""
    return np.arange(np.size(x)).reshape(np.shape(x))


def along_an_axis(slope: Any) -> Any:
    """Return the slope of a real result along the real axis; if it is 0 there, along the imaginary axis."""
    return np.where(np.real(slope) == 0, np.imag(slope), np.real(slope))


# Element by element -------------------------------------------------------------------------------------------------


def elementwise(operation: Any, move: Callable[..., Any]) -> None:
    """Register how an operation moves as its arguments do: `move(z, *arguments, *directions)`, a one-sided slope."""

    def sides(entry: Entry, moved: list[int], _: Motion | None) -> Sides:
        y, values = entry.output_value, entry.values
        ahead = [float(k in moved) for k in range(len(values))]
        right = move(y, *values, *ahead)
        left = -move(y, *values, *(-step for step in ahead))
        return each(entry, moved, left, right)

    CORNERS[operation] = sides


def each(entry: Entry, moved: list[int], left: Any, right: Any) -> Sides:
    """Return the sides of an operation that works element by element, from the slopes of every result."""
    y = entry.output_value
    left, right = (np.broadcast_to(slopes, np.shape(y)).ravel() for slopes in (left, right))
    rule: Any = rule_of(entry.operation)
    pulled = [pull(entry, k, np.ones_like(y)) for k in moved if rule.pull(k)]
    slope = np.sum([np.broadcast_to(part, np.shape(y)) for part in pulled], axis=0).ravel()
    at = np.flatnonzero(np.isfinite(y).ravel() & (left != right))
    elements = np.broadcast_to(positions(entry.values[moved[0]]), np.shape(y)).ravel()[at]
    return Sides(at, elements, left[at], right[at], slope[at])


def move_size(y: Any, x: Any, dx: Any) -> Any:
    """Move |x|: at 0 it grows in every motion."""
    return np.where(x == 0, np.abs(dx), np.real(np.conjugate(np.sign(x)) * dx))


def move_larger(z: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    """Move the larger of two: at a tie, the one that grows more."""
    return np.where(x == y, np.maximum(dx, dy), np.where(z == x, dx, dy))


def move_smaller(z: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    """Move the smaller of two: at a tie, the one that grows less."""
    return np.where(x == y, np.minimum(dx, dy), np.where(z == x, dx, dy))


def move_clip(z: Any, x: Any, low: Any, high: Any, dx: Any, dlow: Any, dhigh: Any) -> Any:
    """Move the smaller of the upper bound and of the larger of x and the lower bound, which is what NumPy computes."""
    larger = np.maximum(x, low)
    return move_smaller(z, larger, high, move_larger(larger, x, low, dx, dlow), dhigh)


def move_hypot(z: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    """Move the length of (x, y): at 0 it grows in every motion."""
    return np.where((x == 0) & (y == 0), np.hypot(dx, dy), (x * dx + y * dy) / or_one(z))


def move_size_with_sign(z: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
    """Move |x| with the sign of y, which a y of 0 takes from its own move."""
    return move_size(z, x, dx) * np.copysign(1, np.where((y == 0) & (dy != 0), dy, y))


elementwise(np.absolute, move_size)
elementwise(np.fabs, move_size)
elementwise(np.maximum, move_larger)
elementwise(np.fmax, move_larger)
elementwise(np.minimum, move_smaller)
elementwise(np.fmin, move_smaller)
elementwise(clip, move_clip)
elementwise(np.hypot, move_hypot)
elementwise(np.copysign, move_size_with_sign)


# Conditions ---------------------------------------------------------------------------------------------------------

COMPARISONS = {np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal}
LOGIC = {np.logical_and, np.logical_or, np.logical_xor, np.logical_not}
LOGIC |= {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert}


def gap(one: Any, other: Any) -> Any:
    """Return one slope minus another: 0 where they are equal up to rounding, or one of them is not finite."""
    found = np.asarray(one) - other
    eps = np.finfo(np.result_type(found, np.float16)).eps
    noise = 64 * eps + eps**0.5 * np.maximum(np.abs(one), np.abs(other))
    return np.where(np.isfinite(found) & (np.abs(found) > noise), found, 0)


def condition(id: Any, makers: Mapping[int, Entry], slope: Callable[..., Any], step: int, known: dict[Any, Any]) -> Any:
    """Return what a condition is just beside this point: ahead of it for a `step` of 1, behind it for -1.

    `makers` are the entries by the ids of their outputs, and `slope` is that of a `Motion`. None if it is not known
    how the condition was computed. `known` keeps the conditions that it is combined from.
    """
    for entry in parts(id, makers, known):
        known[entry.output_id] = None
        if entry.operation in COMPARISONS and entry.values is not None:
            x, y = entry.values
            apart = step * gap(*map(slope, entry.ids, entry.values))
            known[entry.output_id] = np.where((x == y) & np.isfinite(x), entry.operation(apart, 0), entry.output_value)
        elif entry.operation in LOGIC and all(known.get(one) is not None for one in entry.ids):
            known[entry.output_id] = entry.operation(*(known[one] for one in entry.ids))
    return known.get(id)


def parts(id: Any, makers: Mapping[int, Entry], known: Mapping[Any, Any]) -> list[Entry]:
    """List how a condition was computed, in order: comparisons, and what combines them; nothing of what is known."""
    found: dict[int, Entry] = {}
    waiting = [id]
    while waiting:
        entry = makers.get(waiting.pop())
        if entry is None or entry.output_id in found or entry.output_id in known:
            continue
        if entry.operation in COMPARISONS or entry.operation in LOGIC:
            found[entry.output_id] = entry
            waiting += entry.ids if entry.operation in LOGIC else ()
    return [found[one] for one in sorted(found)]


def where_sides(entry: Entry, moved: list[int], motion: Motion | None) -> Sides | None:
    """Return the sides of a choice between two branches that meet, at an angle, where the condition changes."""
    if motion is None or (known := motion.sides(entry.ids[0])) is None:
        return None
    _, x, y = entry.values
    turns = gap(*map(motion.slope, entry.ids[1:], (x, y))) != 0
    dx, dy = (float(k in moved) for k in (1, 2))
    left, right = (np.where((known[0] != known[1]) & (x == y) & turns, np.where(side, dx, dy), 0) for side in known)
    return each(entry, moved, left, right)


def multiply_sides(entry: Entry, moved: list[int], motion: Motion | None) -> Sides | None:
    """Return the sides of a product with a condition that changes as the factor passes 0, such as x * (x > 0)."""
    k = moved[0]
    if motion is None or (known := motion.sides(entry.ids[1 - k])) is None:
        return None
    turns = gap(motion.slope(entry.ids[k], entry.values[k]), 0) != 0
    left, right = (np.where((entry.values[k] == 0) & turns, side, 0.0) for side in known)
    return each(entry, moved, left, right)


CHOOSING = {np.where: where_sides, np.multiply: multiply_sides}
CORNERS |= CHOOSING


# Reductions ---------------------------------------------------------------------------------------------------------


def options_of(entry: Entry, arrays: int = 1) -> dict[str, Any]:
    """Return what a function was given besides its first arrays, by name, whether it was named in the call or not."""
    names = [*signature(entry.operation).parameters][arrays:]
    return dict(zip(names, entry.values[arrays:], strict=False)) | dict(entry.parameters)


def reduction(operation: Any, slopes: Callable[..., tuple[Any, Any]]) -> None:
    """Register the slopes of a reduction, for every element: `slopes(y, x, axis, **parameters)`, with y's axes kept."""

    def sides(entry: Entry, moved: list[int], _: Motion | None) -> Sides:
        x, y, parameters = entry.values[0], entry.output_value, options_of(entry)
        axis, keepdims = parameters.pop("axis", None), parameters.pop("keepdims", False)
        kept = restore(y, x, axis, keepdims)
        left, right = (np.broadcast_to(side, np.shape(x)).ravel() for side in slopes(kept, x, axis, **parameters))
        slope = np.broadcast_to(pull(entry, 0, np.ones_like(y)), np.shape(x)).ravel()
        finite = np.broadcast_to(np.isfinite(kept), np.shape(x)).ravel()
        at = np.flatnonzero(finite & (left != right))
        results = np.broadcast_to(restore(positions(y), x, axis, keepdims), np.shape(x)).ravel()[at]
        return Sides(results, at, left[at], right[at], slope[at])

    CORNERS[operation] = sides


def is_tied(y: Any, x: Any, axis: Any) -> Any:
    """Return which elements are an extreme that others are equal to."""
    chosen = x == y
    return chosen & (np.sum(chosen, axis=axis, keepdims=True) > 1)


def larger_slopes(y: Any, x: Any, axis: Any, **_: Any) -> tuple[Any, Any]:
    """Of equal largest elements, one that grows takes the result along; one that shrinks leaves it behind."""
    return 0.0, is_tied(y, x, axis) * 1.0


def smaller_slopes(y: Any, x: Any, axis: Any, **_: Any) -> tuple[Any, Any]:
    """Of equal smallest elements, one that shrinks takes the result along."""
    return is_tied(y, x, axis) * 1.0, 0.0


def std_slopes(y: Any, x: Any, axis: Any, ddof: float = 0, **_: Any) -> tuple[Any, Any]:
    """Where all elements are equal, whichever of them moves, the deviation grows."""
    n = length(x, axis)
    if n <= ddof:  # NumPy returns NaN
        return 0.0, 0.0
    equal = np.max(x, axis=axis, keepdims=True) == np.min(x, axis=axis, keepdims=True)
    right = equal * np.sqrt((1 - 1 / n) / (n - ddof))
    return -right, right


def norm_slopes(y: Any, x: Any, axis: Any, ord: Any = None, **_: Any) -> tuple[Any, Any]:
    """Return the slopes of a norm at its corners: where a vector is 0, an element is 0, or largest sizes are equal."""
    size, n = np.abs(x), length(x, axis)
    zeros = np.sum(size == 0, axis=axis, keepdims=True)
    if ord in (None, 2, "fro", "f"):
        turns = zeros == n
    elif ord == 1:
        turns = size == 0
    elif ord < 0:  # like the smallest of the sizes
        turns = (size == 0) & (zeros == 1)
    else:
        turns = (size == 0) & ((zeros == n) | (ord < 1))
    right = np.where(turns, np.inf if ord not in (None, "fro", "f") and 0 < ord < 1 else 1.0, 0.0)
    right = np.where(zeros == n, np.minimum(right, 1.0), right)
    left = -right
    if ord in (np.inf, -np.inf):
        along = along_an_axis(np.sign(x))
        tied = is_tied(y, size, axis) & ~turns
        upper, lower = np.where(tied, np.maximum(along, 0), 0), np.where(tied, np.minimum(along, 0), 0)
        right, left = (right + upper, left + lower) if ord > 0 else (right + lower, left + upper)
    return left, right


for extreme in (np.max, np.nanmax):
    reduction(extreme, larger_slopes)
for extreme in (np.min, np.nanmin):
    reduction(extreme, smaller_slopes)
reduction(np.std, std_slopes)
reduction(np.linalg.norm, norm_slopes)


# Orders -------------------------------------------------------------------------------------------------------------


def in_order(entry: Entry, elements: Any, results: Any, left: Any, right: Any) -> Sides:
    """Return the sides of an order, whose rule takes 1 for the place from which an element's cotangent comes."""
    own = np.ravel(pull(entry, 0, positions(entry.output_value).astype(float)))[elements]
    return Sides(results, elements, left, right, 1.0 * (results == own))


def vectors(x: Any, axis: int) -> Any:
    """Return an array as a matrix whose rows are its vectors along an axis."""
    moved, n = np.moveaxis(x, axis, -1), np.shape(x)[axis]
    return np.reshape(moved, (np.size(x) // max(n, 1), n))


def sort_sides(entry: Entry, moved: list[int], _: Motion | None) -> Sides:
    """Return the sides of a sort: of equal elements, one that grows becomes the last, one that shrinks the first."""
    axis = options_of(entry).get("axis", -1)
    x, y, places = (vectors(a, axis) for a in (entry.values[0], entry.output_value, positions(entry.output_value)))
    found = [np.zeros((3, 0), int)]
    for row, ordered, place in zip(x, y, places, strict=True):
        first, last = np.searchsorted(ordered, row, "left"), np.searchsorted(ordered, row, "right") - 1
        tied = (first < last) & np.isfinite(row)
        found.append(np.stack([place[tied], place[first[tied]], place[last[tied]]]))
    elements, first, last = np.concatenate(found, axis=1)
    ones, zeros = np.ones(elements.size), np.zeros(elements.size)
    pairs = (first, ones, zeros), (last, zeros, ones)
    return in_order(entry, np.tile(elements, 2), *map(np.concatenate, zip(*pairs, strict=True)))


def partition_sides(entry: Entry, moved: list[int], _: Motion | None) -> Sides:
    """Return the sides of a partition: its order among others is its own, so move each element and look.

    Where that makes other elements change their places, the result jumps.
    """
    options = options_of(entry, 2)
    axis, kth = options.pop("axis", -1), entry.values[1]
    found = [np.zeros((4, 0))]
    for row, place in zip(*(vectors(a, axis) for a in (entry.values[0], positions(entry.output_value))), strict=True):
        ranks, counts = np.unique(row, return_inverse=True, return_counts=True)[1:]
        apart = np.where(np.isnan(row), row, 4 * ranks).astype(row.dtype)
        before = np.partition(apart, kth, **options)
        for k in np.flatnonzero((counts[ranks] > 1) & np.isfinite(row)):
            step = np.zeros_like(apart)
            step[k] = 1
            left, right = (s * (np.partition(apart + s * step, kth, **options) - before).real for s in (-1, 1))
            at = np.flatnonzero((left != right) & (np.abs(left) <= 1) & (np.abs(right) <= 1))
            found.append(np.stack([np.full(at.size, place[k]), place[at], left[at], right[at]]))
    elements, results, *slopes = np.concatenate(found, axis=1)
    return in_order(entry, elements.astype(int), results.astype(int), *slopes)


CORNERS[np.sort], CORNERS[np.partition] = sort_sides, partition_sides


# Interpolation ------------------------------------------------------------------------------------------------------


def interp_sides(entry: Entry, moved: list[int], _: Motion | None) -> Sides | None:
    """Return the sides of an interpolation: at a knot two segments meet, or one and the level beyond an end."""
    x, xp, fp = (np.ravel(value) for value in entry.values)
    if (0 in moved) == (1 in moved):  # neither moves, or x moves with its knot
        return None
    knots = np.minimum(np.searchsorted(xp, x), xp.size - 1)
    slopes = np.concatenate([[0], np.diff(fp) / np.diff(xp), [0]])
    left, right = slopes[knots], slopes[knots + 1]
    slope = np.ravel(pull(entry, 0, np.ones_like(entry.output_value)))
    at = np.flatnonzero((xp[knots] == x) & (left != right) & np.isfinite(left) & np.isfinite(right))
    left, right, slope, knots = left[at], right[at], slope[at], knots[at]
    elements = at
    if 1 in moved:  # a knot that moves to the right leaves x behind, on its left
        elements, left, right, slope = knots, -right, -left, -slope
    samples = 1.0 * ((2 in moved) & (elements == knots))  # the sample there, if it moves too
    return Sides(at, elements, left + samples, right + samples, slope + samples)


CORNERS[np.interp] = interp_sides


# Eigenvalues and singular values ------------------------------------------------------------------------------------


def spectrum(operation: Any, slopes: Callable[..., tuple[Any, Any]], row: int | None = None) -> None:
    """Register how the values of a matrix move with each of its elements: equal ones part, and singular ones turn at 0.

    `slopes` returns the slopes on both sides, of each value with respect to each element. If the vectors are packed
    into the same array, `row` is that of the values; -1 stands for the one after as many rows as the matrix has.
    """

    def values_in(packed: Any, m: int) -> Any:
        return packed if row is None else packed[..., m if row < 0 else row, :]

    def sides(entry: Entry, moved: list[int], _: Motion | None) -> Sides | None:
        if not np.size(entry.values[0]):
            return None
        (a, *rest), y, (m, n) = entry.values, entry.output_value, np.shape(entry.values[0])[-2:]
        places, elements = values_in(positions(y), m), np.reshape(positions(a), (-1, m, n))
        k = places.shape[-1]
        outputs = np.reshape(y, (-1, *np.shape(y)[(-1 if row is None else -2) :]))
        found = [np.zeros((5, 0))]
        matrices = np.reshape(a, (-1, m, n))
        for matrix, output, place, element in zip(
            matrices, outputs, np.reshape(places, (-1, k)), elements, strict=True
        ):
            left, right = (np.round(side, 12) for side in slopes(matrix, *rest, **entry.parameters))
            at = np.nonzero(np.abs(left - right) > 1e-6)
            if at[0].size:
                unit = np.zeros((k, *output.shape), output.dtype)
                values_in(unit, m)[np.arange(k), np.arange(k)] = 1
                alone = Entry(entry.operation, entry.line, entry.parameters, (matrix, *rest), output)
                slope = np.real(pull(alone, 0, unit))
                found.append(np.stack([place[at[0]], element[at[1:]], left[at], right[at], slope[at]]))
        results, moving, *numbers = np.concatenate(found, axis=1)
        return Sides(results.astype(int), moving.astype(int), *numbers)

    CORNERS[operation] = sides


def groups(values: Any) -> list[Any]:
    """Return the positions of values, sorted, with those that are equal up to rounding together."""
    noise = 10 * values.size * np.finfo(values.dtype).eps * np.max(np.abs(values), initial=0)
    return np.split(np.arange(values.size), np.flatnonzero(np.abs(np.diff(values)) > noise) + 1)


def products(u: Any, v: Any) -> Any:
    """Return u^H E v for every matrix E with a single 1."""
    return np.conjugate(u)[:, None, :, None] * v[None, :, None, :]


def eigenvalue_slopes(a: Any, uplo: Any = "L", **parameters: Any) -> tuple[Any, Any]:
    """Of equal eigenvalues, in order, those of the change in their space say how they part."""
    uplo = parameters.get("UPLO", uplo)
    w, v = np.linalg.eigh(a, uplo)
    left, right = (np.zeros((w.size, *a.shape)) for _ in "lr")
    read = np.tri(w.size) if uplo.upper() == "L" else np.tri(w.size).T  # an element moves its mirror image too
    for group in groups(w):
        change = products(v[:, group], v[:, group]) * read[..., None, None]
        change = change + np.where(np.eye(w.size)[..., None, None] == 1, 0, h(change))
        right[group] = np.moveaxis(np.linalg.eigvalsh(change), -1, 0)
        left[group] = right[group[::-1]]
    return left, right


def singular_value_slopes(a: Any, **_: Any) -> tuple[Any, Any]:
    """Of equal singular values, the symmetric part of the change says how they part; at 0 they grow with any change."""
    u, s, vh = np.linalg.svd(a)
    left, right = (np.zeros((s.size, *a.shape)) for _ in "lr")
    for group in groups(s):
        if positive(s)[group[0]]:
            change = products(u[:, group], h(vh)[:, group])
            right[group] = np.moveaxis(np.linalg.eigvalsh((change + h(change)) / 2)[..., ::-1], -1, 0)
            left[group] = right[group[::-1]]
        else:
            change = products(u[:, group[0] :], h(vh)[:, group[0] :])
            right[group] = np.moveaxis(np.linalg.svdvals(change), -1, 0)
            left[group] = -right[group]
    return left, right


spectrum(np.linalg.eigvalsh, eigenvalue_slopes)
spectrum(eigh, eigenvalue_slopes, 0)
spectrum(np.linalg.svdvals, singular_value_slopes)
spectrum(svd, singular_value_slopes, -1)
