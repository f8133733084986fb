"""Where a NaN or an infinity is born: which operation turns finite numbers into one, forward or backward, and how.

`__init__.py` searches a whole tape for the origin of the damage; this module looks at one operation by itself.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable([1.0, 0.0], name="x")
>>> with ad.GradientTape() as tape, np.errstate(all="ignore"):
...     y = 1.0 / x
>>> find_forward_birth(tape.entries[0])
Birth(values=('inf',), text='1 divided by 0 gives inf at element [1]')
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.rule import RULES, kind_of, runs_code
from ..text.formatting import number, short_argument
from ..text.shared import operators

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.entry import Entry

Index = tuple[int, ...]


class Birth(NamedTuple):
    """What was made, of "nan", "inf" and "-inf", and how: the first element of each."""

    values: tuple[str, ...]
    text: str


def bad(value: Any) -> Any:
    """Mark the elements that are NaN or infinite; only floating and complex numbers have any."""
    dtype = getattr(value, "dtype", None)
    if isinstance(value, float | complex) or (dtype is not None and dtype.kind in "fc"):
        return np.logical_not(np.isfinite(np.asarray(value)))
    return np.False_


def is_elementwise(entry: Entry) -> bool:
    """Return whether an entry's operation works element by element."""
    kind = kind_of(entry.operation)
    return kind == "elementwise" or (kind == "step" and isinstance(entry.operation, np.ufunc))


def bad_arguments(entry: Entry) -> list[int]:
    """List the arguments that gave an entry its bad elements."""
    output, found = bad(entry.output_value), []
    for k, value in enumerate(entry.values):
        wrong = bad(value)
        if entry.operation is np.where and k:
            taken = np.asarray(entry.values[0], bool)
            wrong = wrong & (taken if k == 1 else ~taken)
        if is_elementwise(entry) and output.any():
            wrong = wrong & output
        if wrong.any():
            found.append(k)
    return found


def first(array: Any, wrong: Any) -> tuple[Index, str]:
    """Return the index of the first marked element, and the word for its value."""
    index = tuple(np.argwhere(wrong)[0].tolist())
    element = np.asarray(array)[index]
    return index, "nan" if np.isnan(element) else "inf" if np.iscomplexobj(element) or element > 0 else "-inf"


def firsts(array: Any, wrong: Any) -> list[tuple[Index, str]]:
    """Return the index of the first marked element of each kind, and the word for its value.

    >>> firsts(np.array([-np.inf, np.nan, 2.0, np.nan]), np.array([True, True, False, True]))
    [((0,), '-inf'), ((1,), 'nan')]
    """
    array, found = np.asarray(array), []
    nan, below = np.isnan(array), np.False_ if np.iscomplexobj(array) else array < 0
    for kind in (nan, below, ~(nan | below)):
        if (chosen := wrong & kind).any():
            found.append(first(array, chosen))
    return sorted(found)


def find_worst(array: Any, wrong: Any) -> tuple[Index, str]:
    """Find the first marked NaN, or else the first marked element.

    NaN comes first because a guard against an infinity does not mend it.
    """
    found = firsts(array, wrong)
    return next((each for each in found if each[1] == "nan"), found[0])


def at(index: Index) -> str:
    """Return the place of an element as the end of a sentence."""
    return f" at element [{', '.join(map(str, index))}]" if index else ""


def factor_of(entry: Entry, argument: int, inputs: Any, index: Index) -> Any:
    """Return the derivative of an elementwise operation at one element."""
    pull = RULES[entry.operation].pull(argument)
    assert pull is not None
    output = np.asarray(entry.output_value)[index]
    scalars = [v if isinstance(v, np.generic) else np.asarray(v)[()] for v in inputs]
    with np.errstate(all="ignore"):  # this computation is not the user's
        return np.asarray(pull(output.dtype.type(1), output, *scalars, **entry.parameters))[()]


def inputs_of(entry: Entry, index: Index | None) -> tuple[Any, ...]:
    """Return an operation's inputs; if it works element by element, at one element."""
    if index is None or not is_elementwise(entry):
        return tuple(entry.values)
    shape = np.shape(entry.output_value)
    return tuple(np.broadcast_to(v, shape)[index] if is_number(v) else v for v in entry.values)


def is_number(value: Any) -> bool:
    """Return whether a value is a number or an array."""
    return isinstance(value, int | float | complex) or hasattr(value, "dtype")


def describe(entry: Entry, inputs: tuple[Any, ...]) -> str:
    """Describe an operation with numbers: "log of 0", "1 divided by 0"."""
    parts = [short_argument(value) for value in inputs]
    operator = None if runs_code(entry.operation) else operators().get(entry.name)
    if entry.name == "cast":
        return f"{parts[0]} as {parts[1]}"
    if operator and len(parts) == 2:
        return f"{parts[0]} {operator.aloud} {parts[1]}"
    return f"{entry.name} of {' and '.join(parts)}"


def _level(value: Any) -> Any:
    """Grade each element: 0 if it is finite, 1 if it is infinite, 2 if it is NaN."""
    wrong = bad(value)
    return wrong.astype(int) + np.isnan(value) if wrong.any() else np.zeros((), int)


def _is_worse(result: Any, sources: Any, by_element: bool) -> Any:
    """Mark the elements that are worse than all that they are computed from; by element, or else from all of it."""
    levels = [_level(source) for source in sources]
    return _level(result) > (reduce(np.maximum, levels) if by_element else max(np.max(level) for level in levels))


def find_forward_birth(entry: Entry) -> Birth | None:
    """Return how an operation made an infinity from finite inputs, or a NaN from others, if it did.

    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> x = ad.Variable([2.0, np.inf])
    >>> with ad.GradientTape() as tape, np.errstate(all="ignore"):
    ...     y = 0.0 * x
    >>> find_forward_birth(tape.entries[0])
    Birth(values=('nan',), text='0 times inf gives nan at element [1]')
    """
    output = entry.output_value
    wrong = bad(output)
    if not wrong.any():
        return None
    return _birth(
        output, _is_worse(output, entry.values, is_elementwise(entry)), lambda *at: describe_forward(entry, *at)
    )


def find_backward_birth(
    entry: Entry, argument: int, name: str, cotangent: Any, before: Any, value: Any, after: Any
) -> Birth | None:
    """Return how an entry's contribution spoiled the cotangent called `name`, if it did.

    It did if the cotangent is worse than all that it is computed from.
    """
    if not bad(after).any():
        return None
    by_element = is_elementwise(entry) and np.shape(cotangent) == np.shape(value)
    made = _is_worse(value, (cotangent, before, entry.output_value, *entry.values), by_element)
    is_sum = not made.any()
    if is_sum:
        made, value = _is_worse(after, (before, value), True), after

    def tell(index: Index, kind: str) -> str:
        return describe_backward(entry, argument, name, cotangent, value, index, kind, is_sum)

    return _birth(value, made, tell)


def _birth(array: Any, made: Any, tell: Callable[[Index, str], str]) -> Birth | None:
    found = firsts(array, made) if made.any() else []
    return Birth(tuple(value for _, value in found), "; ".join(tell(*each) for each in found)) if found else None


def find_tangent_birth(
    entry: Entry, names: dict[int, str], output: str, moving: Any, contributions: Any, tangent: Any
) -> Birth | None:
    """Return how an operation spoiled the tangent of its `output`, if finite tangents moved finite values.

    `names` has the names of the arguments that are shown; `moving` and `contributions` have an item per argument, None
    for one that does not move.
    """
    made = bad(tangent)
    if not made.any() or any(bad(each).any() for each in (*moving, entry.output_value, *entry.values)):
        return None
    index, value = first(tangent, made)
    guilty = [k for k, part in enumerate(contributions) if bad(part).any()]
    if guilty:
        index, value = first(contributions[guilty[0]], bad(contributions[guilty[0]]))
    end = f"{value}{_at_of(entry, tangent, index)}"
    if not guilty:
        return Birth((value,), f"the contributions to the tangent of {output} are finite, but add up to {end}")
    (k, *_) = guilty
    product = _product(entry, k, names.get(k, ""), "tangent", moving[k], contributions[k], index)
    unexplained = f"the tangent of {output} is {end}, although everything it is computed from is finite"
    return Birth((value,), f"{product} gives {end}" if product else unexplained)


def describe_forward(entry: Entry, index: Index, value: str) -> str:
    """Describe how an operation made `value`."""
    return f"{describe(entry, inputs_of(entry, index))} gives {value}{at(index)}"


def describe_backward(
    entry: Entry, argument: int, name: str, cotangent: Any, sent: Any, index: Index, value: str, is_sum: bool
) -> str:
    """Describe how `value` entered a contribution to `name`, or the sum of all contributions."""
    end = f"{value}{_at_of(entry, cotangent, index)}"
    if is_sum and value == "nan":
        return f"the contributions to {name} are inf and -inf, which add up to {end}"
    if is_sum:
        return f"the contributions to {name} are finite, but add up to {end}"
    if product := _product(entry, argument, name, "cotangent", cotangent, sent, index):
        return f"{product} gives {end}"
    is_finite = not any(bad(each).any() for each in (cotangent, entry.output_value, *entry.values))
    if runs_code(entry.operation):
        what = "second run" if kind_of(entry.operation) == "checkpoint" else "backward function"
        its_input = "is finite" if is_finite else "has an infinity"
        return f"the {what} of {entry.name} gives {end} for {name}; its input {its_input}"
    why = (
        "although everything it is computed from is finite"
        if is_finite
        else "for 0 times inf and inf minus inf are nan"
    )
    return f"its contribution to {name} is {end}, {why}"


def _product(entry: Entry, argument: int, name: str, word: str, arrived: Any, sent: Any, index: Index) -> str:
    """Describe the product of an elementwise derivative and what arrived; empty if an element is not one product."""
    if not is_elementwise(entry) or np.shape(arrived) != np.shape(sent):
        return ""
    inputs = inputs_of(entry, index[_count_stack_axes(entry, arrived) :])
    factor = factor_of(entry, argument, inputs, index[_count_stack_axes(entry, arrived) :])
    return (
        f"the derivative of {describe(entry, inputs)} with respect to {name} is {number(factor)}, and times the {word} "
        f"{number(np.asarray(arrived)[index])}"
    )


def _count_stack_axes(entry: Entry, arrived: Any) -> int:
    """Count the axes that a cotangent or tangent of the output has in front: 1 for a stack of them, else 0."""
    return np.ndim(arrived) - np.ndim(entry.output_value)


def _at_of(entry: Entry, arrived: Any, index: Index) -> str:
    return at(index) + " of the stack" * _count_stack_axes(entry, arrived)
