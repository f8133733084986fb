"""A function at a point: its derivatives in both modes, and central differences to compare them with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays.structures import flatten
from ..core.tensor import Tensor, constant
from ..derivatives.requests import tensors_of
from .forward import jvp
from .gradients import vjp

STEP = 1e-5
LEAST, MOST = 1e-3, 1e3  # outside this range, a step in proportion to the number is tried too
ROUNDING = 1e-10  # of a central difference, for numbers around 1: a few times the machine epsilon, divided by STEP
FEW = 24
"""The derivatives with respect to no more numbers than this are compared one by one."""

Arrays = list[Any]
Element = tuple[int, tuple[int, ...]]
"""The number of an array in a list, and an index."""


class Comparison:
    """A function of some arrays at a point, whose derivatives are to be compared with differences.

    Attributes
    ----------
    flat : callable
        The function, which returns a list of tensors.
    paths, primals : list
        What its arguments are called, and where it is compared.
    places, values : list
        What its results are called, and the arrays.
    """

    def __init__(self, f: Callable[..., Any], paths: list[str], primals: Arrays, places: Sequence[str] = ()) -> None:
        self.paths, self.primals = paths, primals

        def flat(*leaves: Any) -> list[Tensor]:
            result = f(*leaves)
            named = zip(flatten(result, "result"), tensors_of(result, "the result"), strict=True)
            smooth = {path: tensor for (path, _), tensor in named if tensor.dtype.kind in "fc"}
            self.places = places or list(smooth)
            return list(smooth.values())

        self.flat = flat
        result, pull = vjp(flat, *primals)
        if not result:
            raise ValueError("check_gradients has nothing to check: the result contains no floating or complex numbers")
        self._pull = pull
        self.values = [value._array for value in result]

    def pull(self, cotangents: Arrays) -> Arrays:
        """Pull cotangents of the results back to the arguments."""
        pulled = self._pull(cotangents)
        return [np.asarray(one) for one in (pulled if len(self.primals) > 1 else (pulled,))]

    def push(self, directions: Arrays) -> Arrays:
        """Push tangents of the arguments forward to the results."""
        return [np.asarray(one) for one in jvp(self.flat, tuple(self.primals), tuple(directions))[1]]

    def difference(self, directions: Arrays, step: float = STEP) -> Arrays:
        """Return central differences of every result along the directions."""
        moved = [[p + s * step * d for p, d in zip(self.primals, directions, strict=True)] for s in (1, -1)]
        ahead, behind = (self.flat(*map(constant, leaves)) for leaves in moved)
        return [(a._array - b._array) / (2 * step) for a, b in zip(ahead, behind, strict=True)]

    def scale_steps(self, directions: Arrays) -> tuple[Arrays, float]:
        """Return directions and a step that move each very small or large number by a part of itself.

        They move the others as far as before.
        """
        sizes = [np.abs(p) for p in self.primals]
        units = [np.where((size == 0) | ((size >= LEAST) & (size <= MOST)), 1.0, size) for size in sizes]
        least = min(float(np.min(unit[d != 0], initial=np.inf)) for unit, d in zip(units, directions, strict=True))
        return [d * (unit / least) for unit, d in zip(units, directions, strict=True)], STEP * least

    def reach(self, directions: Arrays) -> float:
        """Return the size of the largest number that moves."""
        return max(float(np.max(np.abs(p[d != 0]), initial=0)) for p, d in zip(self.primals, directions, strict=True))

    def slope(self, cotangents: Arrays, k: int, index: tuple[int, ...], step: float = STEP) -> Any:
        """Return the difference that a cotangent of one element of an argument should agree with."""
        unit = one_hot(self.primals, k, index)
        slope = total(cotangents, self.difference(unit, step))
        if np.iscomplexobj(self.primals[k]):
            slope = slope + 1j * total(cotangents, self.difference([1j * part for part in unit], step))
        return slope

    def derivative(self, cotangents: Arrays) -> Comparison:
        """Return the function that pulls these cotangents back, from any point, as one to compare in its turn."""

        def pulled_back(*leaves: Any) -> Any:
            return vjp(self.flat, *leaves)[1](cotangents)

        return Comparison(pulled_back, self.paths, self.primals, self.paths)

    def draw(self, rng: np.random.Generator) -> tuple[Arrays, Arrays]:
        """Draw random directions of the arguments, and random cotangents of the results."""
        return [_random(p, rng) for p in self.primals], [_random(v, rng) for v in self.values]

    def screen(self, directions: Arrays, cotangents: Arrays) -> tuple[str, list[Wrong]]:
        """Return the mode in which a derivative disagrees with differences, forward or reverse, and what disagrees.

        `directions` and `cotangents` stand for all of them; of an argument of few numbers, each is compared.
        """
        if wrong := self.wrong_tangents(directions):
            return "forward", wrong
        for k, found in enumerate(self.pull(cotangents)):
            if found.size > FEW:
                direction = _random(found, np.random.default_rng(1))
                along = [direction if j == k else np.zeros_like(p) for j, p in enumerate(self.primals)]
                wrong = self.wrong_sum(cotangents, along)
            else:
                indices = np.ndindex(found.shape)
                wrong = next(filter(None, (self.wrong_cotangent(cotangents, k, index) for index in indices)), [])
            if wrong:
                return "reverse", wrong
        return "", []

    def wrong_tangents(self, directions: Arrays) -> list[Wrong]:
        """Compare the tangents of the results with the difference along some directions."""

        def scaled() -> tuple[Arrays, Arrays]:
            longer, step = self.scale_steps(directions)
            return self.push(longer), self.difference(longer, step)

        difference = partial(self.difference, directions)
        return wrongs(self.push(directions), self.sizes(), self.reach(directions), difference, scaled)

    def wrong_sum(self, cotangents: Arrays, directions: Arrays) -> list[Wrong]:
        """Compare what these cotangents become with the difference along some directions, in one sum."""
        pulled = self.pull(cotangents)
        size = total(map(np.abs, cotangents), self.sizes())

        def difference(step: float, along: Arrays = directions) -> Arrays:
            return [total(cotangents, self.difference(along, step))]

        def scaled() -> tuple[Arrays, Arrays]:
            longer, step = self.scale_steps(directions)
            return [total(pulled, longer)], difference(step, longer)

        return wrongs([total(pulled, directions)], [size], self.reach(directions), difference, scaled)

    def wrong_cotangent(self, cotangents: Arrays, k: int, index: tuple[int, ...]) -> list[Wrong]:
        """Compare what these cotangents become at one element of an argument with a difference."""
        found, unit = self.pull(cotangents)[k][index], one_hot(self.primals, k, index)
        size = total(map(np.abs, cotangents), self.sizes())

        def difference(step: float) -> Arrays:
            return [self.slope(cotangents, k, index, step)]

        def scaled() -> tuple[Arrays, Arrays]:
            return [found], difference(self.scale_steps(unit)[1])

        return wrongs([found], [size], self.reach(unit), difference, scaled)

    def sizes(self) -> Arrays:
        """Return the sizes of the results, which say how much rounding to expect."""
        return [np.abs(value) for value in self.values]


class Wrong(NamedTuple):
    """A derivative that disagrees with a difference: the element of the results, and both numbers."""

    element: Element
    found: Any
    expected: Any

    @property
    def distance(self) -> float:
        """How far apart the two numbers are; infinite if one of them is not a number."""
        return float(np.nan_to_num(np.abs(self.found - self.expected), nan=np.inf))


def wrongs(
    found: Arrays,
    sizes: Arrays,
    reach: float,
    difference: Callable[[float], Arrays],
    scaled: Callable[[], tuple[Arrays, Arrays]],
) -> list[Wrong]:
    """List the derivatives that do not agree with differences.

    `sizes` are those of the values whose `difference` is taken, for a step, and `reach` that of the largest number that
    moves. `scaled` returns both for steps in proportion to the numbers. These decide only where a step of 1e-5 is far
    too long, so that other steps give other differences, or so short that it is lost in rounding.
    """
    expected = difference(STEP)
    others: list[Arrays] = []
    both: tuple[Arrays, Arrays] | None = None
    listed = []
    for k, (one, other, size) in enumerate(zip(map(np.asarray, found), expected, sizes, strict=True)):
        size = np.nan_to_num(size)  # np.isclose would warn about an infinite tolerance
        wrong = ~np.isclose(one, other, rtol=1e-4, atol=ROUNDING * (1 + size))
        if wrong.any():  # perhaps it is the difference that is wrong: then other steps give other numbers
            with np.errstate(all="ignore"):  # they may leave the function's domain
                others = others or [difference(STEP / 1.7), difference(STEP * 1.9)]  # by 2, errors could be the same
                near, far = (np.nan_to_num(np.abs(each[k] - other), nan=0, posinf=0) for each in others)
            doubt = np.minimum(10 * np.maximum(near, far), 0.1 * (1 + size))  # at a jump it would be much larger
            doubt = np.where(near < far, np.maximum(doubt, 3 * near), doubt)  # as the step shrinks, so does its error
            wrong &= ~np.isclose(one, other, rtol=0, atol=doubt)
        if wrong.any():
            with np.errstate(all="ignore"):
                gap, lost = np.abs(one - other), np.finfo(float).eps / STEP * (reach * np.abs(one) + size)
                is_far = ~np.isfinite(other) | (np.maximum(near, far) > 0.01 * np.abs(other))
                is_open = np.asarray(is_far | (gap < 4 * lost))
                if (wrong & is_open).any():
                    both = both or scaled()
                    derivatives, differences = (np.asarray(each[k]) for each in both)
                    is_open &= differences != 0  # else the step was too short to move the result
                    wrong &= ~(is_open & np.isclose(derivatives, differences, rtol=1e-4, atol=0))
                    one, other = np.where(is_open, derivatives, one), np.where(is_open, differences, other)
        for place in np.argwhere(wrong):
            index = tuple(map(int, place))
            listed.append(Wrong((k, index), one[index], np.asarray(other)[index]))
    return listed


def total(cotangents: Iterable[Any], moved: Iterable[Any]) -> Any:
    """Return the real part of the sum of products, which says how far the sum of the results moves."""
    return sum(np.sum(np.real(np.conjugate(c) * m)) for c, m in zip(cotangents, moved, strict=True))


def one_hot(arrays: Arrays, k: int, index: tuple[int, ...]) -> Arrays:
    """Return zeros like the arrays, with a 1 in one place."""
    found = [np.zeros_like(array) for array in arrays]
    found[k][index] = 1
    return found


def _random(like: Any, rng: np.random.Generator) -> Any:
    drawn = rng.standard_normal(np.shape(like))
    return drawn + 1j * rng.standard_normal(np.shape(like)) if np.iscomplexobj(like) else drawn
