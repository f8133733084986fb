"""Where a NaN or an infinity is born: which operation turns finite numbers into one, forward or backward, and how.

`__init__.py` searches a whole tape for the origin of the damage; this module looks at one operation by itself.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable([1.0, 0.0], name="x")
>>> with ad.GradientTape() as tape, np.errstate(all="ignore"):
...     y = 1.0 / x
>>> born_forward(tape.entries[0])
Birth(value='inf', text='1 divided by 0 gives inf at element [1]')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.rule import RULES
from ..custom.call import Custom
from ..custom.checkpoint import Segment
from ..text.formatting import number
from .remedies import spoken

if TYPE_CHECKING:
    from ..core.entry import Entry

Index = tuple[int, ...]


class Birth(NamedTuple):
    """What was made, "nan", "inf" or "-inf", and how."""

    value: str
    text: str


def bad(value: Any) -> Any:
    """Mark the elements that are NaN or infinite; only floating and complex numbers have any."""
    dtype = getattr(value, "dtype", None)
    if isinstance(value, float | complex) or (dtype is not None and dtype.kind in "fc"):
        return np.logical_not(np.isfinite(np.asarray(value)))
    return np.False_


def is_elementwise(entry: Entry) -> bool:
    """Return whether an entry's operation works element by element."""
    return entry.operation in RULES and RULES[entry.operation].kind == "elementwise"


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
        return tuple(entry.values[: len(entry.values) - getattr(entry.operation, "hidden", 0)])
    shape = np.shape(entry.output_value)
    return tuple(np.broadcast_to(v, shape)[index] if is_number(v) else v for v in entry.values)


def is_number(value: Any) -> bool:
    """Return whether a value is a number or an array."""
    return isinstance(value, int | float | complex) or hasattr(value, "dtype")


def born_forward(entry: Entry) -> Birth | None:
    """Return how an operation made something that is not finite from finite inputs, if it did."""
    wrong = bad(entry.output_value)
    if not wrong.any() or bad_arguments(entry):
        return None
    index, value = first(entry.output_value, wrong)
    return Birth(value, f"{spoken(entry, inputs_of(entry, index))} gives {value}{at(index)}")


def born_backward(
    entry: Entry, argument: int, name: str, cotangent: Any, before: Any, value: Any, after: Any
) -> Birth | None:
    """Return how an entry's contribution spoiled the cotangent called `name`, if the contribution alone did."""
    made, is_sum = bad(value), False
    if made.any():
        tainted = any(bad(each).any() for each in (cotangent, entry.output_value, *entry.values))
    else:
        made, value, is_sum = bad(after), after, True
        tainted = before is not None and bad(before).any()
    if tainted or not made.any():
        return None
    index, kind = first(value, made)
    return Birth(kind, told_backward(entry, argument, name, cotangent, value, index, kind, is_sum))


def told_backward(
    entry: Entry, argument: int, name: str, cotangent: Any, sent: Any, index: Index, value: str, is_sum: bool
) -> str:
    """Describe how `value` entered a contribution to `name`, or the sum of all contributions."""
    if is_sum:
        return f"the contributions to {name} are finite, but add up to {value}{at(index)}"
    if is_elementwise(entry) and np.shape(cotangent) == np.shape(sent):
        inputs = inputs_of(entry, index)
        factor, arrived = factor_of(entry, argument, inputs, index), np.asarray(cotangent)[index]
        return (
            f"the derivative of {spoken(entry, inputs)} with respect to {name} is {number(factor)}, "
            f"and times the cotangent {number(arrived)} gives {value}{at(index)}"
        )
    if isinstance(entry.operation, Custom):
        what = "second run" if isinstance(entry.operation, Segment) else "backward function"
        return f"the {what} of {entry.name} gives {value}{at(index)} for {name}; its input is finite"
    return f"its contribution to {name} is {value}{at(index)}, although everything it is computed from is finite"
