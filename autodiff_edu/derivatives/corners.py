"""Corners on a tape: where an operation has one slope on the left and another on the right, so that its rule chose.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable([-1.0, 0.0, 2.0])
>>> with ad.GradientTape() as tape:
...     y = np.sum(np.maximum(x, 0.0))
>>> corners(tape, y, x)
(<Corner: maximum, doctest, line 2: any slope from 0 to 1 fits at [1]; this rule takes 0.5>,)

`rules/corners.py` knows which operations have corners, and where.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.active import only
from ..core.entry import Entry
from ..core.reach import ahead, behind
from ..core.rule import rule_of, runs_code
from ..core.tape import Tape
from ..rules.corners import CHOOSING, CORNERS, LOGIC, Motion, Sides, along_an_axis, condition, parts
from ..rules.operations import clip
from ..text.formatting import list_elements, number
from ..text.places import Place
from .requests import tensors_of
from .tangents import push_parts, shaped

Index = tuple[int, ...]

ONE_OF_TWO = {np.maximum, np.minimum, np.fmax, np.fmin, np.where}
"""The operations that pick one of their last two arguments; at a corner, the slopes of the two add up to 1."""
ONE_OF_MANY = {np.max, np.min, np.nanmax, np.nanmin, np.sort, np.partition}
"""The operations that pick one element for each result; at a corner, the slopes of the elements add up to 1."""


@dataclass(frozen=True, eq=False, repr=False)
class Corner:
    """An operation that stands at a corner: the slopes of its result on the two sides of an argument differ.

    Each attribute from `elements` on has one value for each pair of an argument's element and a result's element
    between which there is a corner. They are None if the tape has released its arrays: then the operation can have
    corners, but whether it stood at one is no longer known.

    Attributes
    ----------
    entry : Entry
        The operation.
    argument : int
        The position of the argument that moves; the first, if one tensor is several arguments.
    elements : tuple of tuple of int
        The indices of the argument's elements; `()` is that of a scalar.
    results : tuple of tuple of int
        The indices of the result's elements.
    slope : ndarray
        The slopes that the rule takes.
    left, right : ndarray
        The slopes on the two sides: where the argument is a little smaller, and a little larger. If a condition
        chooses, it is all sources that are.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(0.0)
    >>> with ad.GradientTape() as tape:
    ...     y = np.abs(x)
    >>> (corner,) = tape.corners(y, x)
    >>> corner.interval, corner.slope
    ((array([-1.]), array([1.])), array([0.]))
    """

    entry: Entry
    argument: int
    elements: tuple[Index, ...] | None = None
    results: tuple[Index, ...] | None = None
    slope: Any = None
    left: Any = None
    right: Any = None

    @property
    def place(self) -> Place:
        """The file, the line and the columns of the user's code."""
        place: Place = self.entry.place
        return place

    @property
    def interval(self) -> tuple[Any, Any] | None:
        """The smallest and the largest slope that fit."""
        if self.left is None:
            return None
        return np.minimum(self.left, self.right), np.maximum(self.left, self.right)

    def __repr__(self) -> str:
        return f"<Corner: {self}>"

    def __str__(self) -> str:
        return f"{self.entry.name}, {self.place}: {self.text}"

    @property
    def text(self) -> str:
        """What was chosen, without the name and the line."""
        if self.elements is None or self.interval is None:
            return "this may have been a corner; the tape has released its arrays"
        low, high = self.interval
        alike: dict[tuple[str, ...], dict[Index, None]] = {}  # an element may have a corner with several results
        for element, *slopes in zip(self.elements, low.tolist(), high.tolist(), self.slope.tolist(), strict=True):
            alike.setdefault(tuple(map(number, slopes)), {})[element] = None
        ((low, high, taken), first), *rest = alike.items()
        at = f" at {list_elements(first)}" if () not in first else ""
        text = f"any slope from {low} to {high} fits{at}{self._describe_limit(len(first) > 1)}; this rule takes {taken}"
        others = {element: None for _, elements in rest for element in elements if element not in first}
        more = "another corner is" if len(others) == 1 else "other corners are"
        return f"{text} ({more} at {list_elements(others)})" if others else text

    def _describe_limit(self, several: bool) -> str:
        """Return the condition on slopes that share a result, or a note that several of them are independent, if so."""
        operation, ids = self.entry.operation, set(self.entry.ids[-2:])
        shapes = set(map(np.shape, (self.entry.values or ())[-2:]))
        if operation in ONE_OF_TWO and None not in ids and len(ids) == 2 and len(shapes) == 1:
            return ", as long as the slopes of the two arguments add up to 1"
        if not several:
            return ""
        if operation is np.linalg.norm and self.entry.parameters.get("ord") in (None, 2, "fro", "f"):
            each = " for each result" if np.ndim(self.entry.output_value) else ""
            return f", as long as their squares add up to at most 1{each}"
        if operation in ONE_OF_MANY:
            return ", as long as the slopes for each result add up to 1"
        return ", each by itself" if isinstance(operation, np.ufunc) or operation is clip else ""


def corners(tape: Tape, target: Any, sources: Any, lately: Iterable[Entry] = ()) -> tuple[Corner, ...]:
    """List the operations at a corner between sources and target; see `GradientTape.corners`.

    `lately` is what was computed recently: the lines of the journal, which know how conditions were combined.
    """
    targets = [one._id for one in tensors_of(target, "target")]
    moving = {one._id for one in tensors_of(sources, "sources")}
    if not tape.entries and not tape.watched:
        tape.check_usable()
    entries = [entry for entry in tape.entries if entry.output_id in tape.connected]
    reached = moving | {entry.output_id for entry in ahead(entries, moving, followed)}
    found: list[Corner] = []
    makers = {line.output_id: line for line in lately if callable(line.operation)}
    makers |= {entry.output_id: entry for entry in tape.entries}
    surroundings = Surroundings(makers, moving, reached)
    with only(), np.errstate(all="ignore"):
        for entry in behind(entries, targets, followed):
            if entry.operation in CORNERS:
                found += _corners_of(entry, reached, surroundings)
    return tuple(found)


def followed(entry: Entry) -> set[int]:
    """Return the ids of the tensors that an entry pulls cotangents back to."""
    rule = rule_of(entry.operation)
    return {id for k, id in enumerate(entry.ids) if id is not None and rule is not None and rule.pull(k)}


class Surroundings:
    """What is beside this point, on both sides, in a direction that no two branches share by chance.

    Parameters
    ----------
    makers : mapping of int to Entry
        By the ids of their outputs, in the order of computation.
    sources, reached : set of int
        The ids of the tensors that move by themselves, and of those that move with them, which they are among.
    """

    def __init__(self, makers: Mapping[int, Entry], sources: set[int], reached: set[int]) -> None:
        self.makers, self.sources, self.reached = makers, sources, reached
        self._compared: dict[Any, set[int]] = {}
        self._slopes: dict[int | None, Any] = {}
        self._behind: dict[Any, Any] = {}
        self._ahead: dict[Any, Any] = {}

    def compared(self, id: Any) -> set[int]:
        """Return the ids of the tensors that a condition compares and the sources reach."""
        for entry in parts(id, self.makers, self._compared):
            is_logic = entry.operation in LOGIC
            found = (self._compared.get(one, set()) for one in entry.ids) if is_logic else [set(entry.ids)]
            self._compared[entry.output_id] = self.reached.intersection(*[set[int]().union(*found)])
        return self._compared.get(id, set())

    def sides(self, id: Any) -> tuple[Any, Any] | None:
        """Return a condition just behind this point, and just ahead of it; None if it can't be known."""
        if not self.compared(id):
            return None
        pair = (-1, self._behind), (1, self._ahead)
        left, right = (condition(id, self.makers, self.slope, step, known) for step, known in pair)
        return None if left is None else (np.asarray(left), np.asarray(right))

    def slope(self, id: int | None, value: Any) -> Any:
        """Return how fast a tensor moves; NaN where that is not known."""
        if id not in self.reached:
            return 0.0
        needed: dict[int, Entry] = {}
        waiting = [id]
        while waiting:
            one = waiting.pop()
            entry = self.makers.get(one) if one in self.reached and one not in self.sources else None
            if entry is not None and one not in needed and one not in self._slopes:
                needed[one] = entry
                waiting += entry.ids
        for one in sorted(needed):
            self._slopes[one] = self._push(needed[one])
        return np.asarray(self._slopes[id] if id in needed else self._start(id, value))

    def _start(self, id: int | None, value: Any) -> Any:
        """Return how fast a source moves: each of its elements in its own way."""
        if id not in self._slopes:
            numbers = np.random.default_rng(len(self._slopes))
            rates = numbers.uniform(0.5, 1.5, np.shape(value))
            imaginary = 1j * numbers.uniform(0.5, 1.5, np.shape(value)) if np.iscomplexobj(value) else 0.0
            self._slopes[id] = (rates + imaginary).astype(value.dtype)
        return self._slopes[id]

    def _push(self, entry: Entry) -> Any:
        """Return how fast the output of an entry moves; NaN where sides of it differ, or if only user code knows."""
        if rule_of(entry.operation) is None or entry.values is None or runs_code(entry.operation):
            return np.nan
        moving = {}
        for k, (id, value) in enumerate(zip(entry.ids, entry.values, strict=True)):
            if id in self.reached:
                moving[k] = self._slopes[id] if id in self._slopes else self._start(id, value)
        if not (parts := push_parts(entry, moving, entry.output_value, entry.values)):
            return 0.0
        found = np.array(shaped(sum(parts.values()), entry.output_value, ()))
        if entry.operation in CHOOSING:
            for id, value in zip(entry.ids, entry.values, strict=True):
                left, right = self.sides(id) or (value, value)
                found[np.broadcast_to((left != value) | (right != value), found.shape)] = np.nan
        elif entry.operation in CORNERS:
            for id in {entry.ids[k] for k in parts}:
                sides, _ = _sides_of(entry, id, self)
                np.put(found, [] if sides is None else sides.results, np.nan)
        return found


def _corners_of(entry: Entry, reached: set[int], surroundings: Surroundings) -> list[Corner]:
    found = []
    pulled = followed(entry) & reached
    for id in dict.fromkeys(one for one in entry.ids if one in pulled):
        if entry.values is not None:
            corner = corner_of(entry, id, surroundings)
            found += [] if corner is None else [corner]
        elif entry.operation not in CHOOSING or any(map(surroundings.compared, entry.ids)):
            found.append(Corner(entry, entry.ids.index(id)))
    return found


def corner_of(entry: Entry, id: int, motion: Motion | None) -> Corner | None:
    """Return the corner at which an entry of `CORNERS`, with its arrays, stands as one of its tensors moves."""
    sides, argument = _sides_of(entry, id, motion)
    return _corner(entry, argument, sides) if sides is not None and sides.results.size else None


def _sides_of(entry: Entry, id: int | None, motion: Motion | None) -> tuple[Sides | None, int]:
    """Return the sides of an entry of `CORNERS` as one of its tensors moves, and that argument."""
    moved = [k for k, one in enumerate(entry.ids) if one == id]
    return CORNERS[entry.operation](_computed(entry), moved, motion), moved[0]


def _computed(entry: Entry) -> Entry:
    """Return an entry whose arrays are NumPy's, and not those of another library, such as Dask."""
    if isinstance(entry.output_value, np.ndarray | np.generic):
        return entry
    values = tuple(np.asarray(value) if hasattr(value, "dtype") else value for value in entry.values)
    return Entry(entry.operation, entry.line, entry.parameters, values, np.asarray(entry.output_value), entry.call)


def _corner(entry: Entry, argument: int, sides: Sides) -> Corner:
    elements = _indices(sides.elements, np.shape(entry.values[argument]))
    results = _indices(sides.results, np.shape(entry.output_value))
    is_real = not np.any(np.imag(sides.slope))
    slope = np.real(sides.slope) if is_real else sides.slope
    if not (is_real or np.iscomplexobj(entry.output_value)):
        slope = along_an_axis(np.conjugate(slope))
    return Corner(entry, argument, elements, results, slope, sides.left, sides.right)


def _indices(positions: Any, shape: Index) -> tuple[Index, ...]:
    """Return indices from positions in a flattened array."""
    if not shape:
        return ((),) * len(positions)
    return tuple(zip(*(axis.tolist() for axis in np.unravel_index(positions, shape)), strict=True))
