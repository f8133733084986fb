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

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.active import only
from ..core.entry import Entry
from ..core.reach import ahead, behind
from ..core.rule import rule_of
from ..core.tape import Tape
from ..rules.corners import CHOOSING, CORNERS, LOGIC, Decided, Sides, along_an_axis, condition, parts
from ..text.formatting import number
from ..text.places import Place
from .requests import tensors_of

Index = tuple[int, ...]


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
        chooses, it is the tensor that it compares.

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
        index, *more = first
        at = f" at [{', '.join(map(str, index))}]" if index else ""
        at += f" and {len(more)} more" if more else ""
        others = len({element for elements in dict(rest).values() for element in elements} - first.keys())
        text = f"any slope from {low} to {high} fits{at}; this rule takes {taken}"
        return f"{text} (and there {'is' if others == 1 else 'are'} {others} more)" if others else text


def corners(tape: Tape, target: Any, sources: Any, lately: Iterable[Entry] = ()) -> tuple[Corner, ...]:
    """List the operations at a corner between sources and target; see `GradientTape.corners`.

    `lately` is what was computed recently: the lines of the journal, which know how conditions were combined.
    """
    targets = [one._id for one in tensors_of(target, "target")]
    reached = {one._id for one in tensors_of(sources, "sources")}
    if not tape.entries and not tape.watched:
        tape.check_usable()
    entries = [entry for entry in tape.entries if entry.output_id in tape.connected]
    reached |= {entry.output_id for entry in ahead(entries, reached, followed)}
    found: list[Corner] = []
    makers = {line.output_id: line for line in lately if callable(line.operation)}
    makers |= {entry.output_id: entry for entry in tape.entries}
    conditions = Conditions(makers, reached)
    with only(), np.errstate(all="ignore"):
        for entry in behind(entries, targets, followed):
            if entry.operation in CORNERS:
                found += _corners_of(entry, reached, conditions)
    return tuple(found)


def followed(entry: Entry) -> set[int]:
    """Return the ids of the tensors that an entry pulls cotangents back to."""
    rule = rule_of(entry.operation)
    return {id for k, id in enumerate(entry.ids) if id is not None and rule is not None and rule.pull(k)}


class Conditions:
    """What is known of the conditions that choose between branches.

    `makers` are the entries by the ids of their outputs; `reached` are the tensors that move with the sources.
    """

    def __init__(self, makers: Mapping[int, Entry], reached: set[int]) -> None:
        self.makers, self.reached = makers, reached
        self._compared: dict[Any, set[int]] = {}
        self._tied: dict[Any, set[int]] = {}
        self._sides: dict[Any, dict[Any, Any]] = defaultdict(dict)

    def compared(self, id: Any) -> set[int]:
        """Return the ids of the tensors that a condition compares and the sources reach."""
        return self._collect(id, self._compared, tied=False)

    def _collect(self, id: Any, known: dict[Any, set[int]], *, tied: bool) -> set[int]:
        """Do the same; if `tied`, only of those that are, or may be, equal somewhere to what they are compared with."""
        for entry in parts(id, self.makers, known):
            found: set[int] = set()
            if entry.operation in LOGIC:
                found = found.union(*(known.get(one, ()) for one in entry.ids))
            elif not tied or entry.values is None or np.any(np.equal(*entry.values)):
                found = self.reached.intersection(entry.ids)
            known[entry.output_id] = found
        return known.get(id, set())

    def __call__(self, id: Any) -> tuple[Any, Any] | None:
        """Return a condition on the two sides of the tensors that it compares; None if it can't be known."""
        sides = None
        for moving in sorted(self._collect(id, self._tied, tied=True)):
            left, right = (condition(id, self.makers, moving, step, self._sides[moving, step]) for step in (-1.0, 1.0))
            if left is None:
                return None
            left, right = np.asarray(left), np.asarray(right)
            if sides is not None:  # of several tensors, the first whose move changes the condition
                same, (old_left, old_right) = sides[0] == sides[1], sides
                left, right = np.where(same, left, old_left), np.where(same, right, old_right)
            sides = left, right
        return sides


def _corners_of(entry: Entry, reached: set[int], conditions: Conditions) -> list[Corner]:
    found = []
    pulled = followed(entry) & reached
    for id in dict.fromkeys(one for one in entry.ids if one in pulled):
        if entry.values is not None:
            corner = corner_of(entry, id, conditions)
            found += [] if corner is None else [corner]
        elif entry.operation not in CHOOSING or any(map(conditions.compared, entry.ids)):
            found.append(Corner(entry, entry.ids.index(id)))
    return found


def corner_of(entry: Entry, id: int, decided: Decided) -> Corner | None:
    """Return the corner at which an entry of `CORNERS`, with its arrays, stands as one of its tensors moves."""
    moved = [k for k, one in enumerate(entry.ids) if one == id]
    sides = CORNERS[entry.operation](_computed(entry), moved, decided)
    return _corner(entry, moved[0], sides) if sides is not None and sides.results.size else None


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
