"""The backward pass, entry by entry: the events of a walk, gathered into steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.entry import Entry
from ..core.tensor import as_tensor
from ..core.walk import Added, Arrived, Passed


class Contribution(NamedTuple):
    """What one entry sends back to one of its arguments, and the accumulator before (None at first) and after.

    Attributes
    ----------
    argument : int
        The position of the argument.
    id : int
        The id of its tensor.
    before, value, after : Tensor or None
        The accumulator before, the contribution, and their sum.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x * x
    >>> first, second = next(tape.steps(y, x)).contributions
    >>> second.argument, second.before, second.value, second.after
    (1, Tensor(3.), Tensor(3.), Tensor(6.))
    """

    argument: int
    id: int
    before: Any
    value: Any
    after: Any


class Step(NamedTuple):
    """One step of the backward pass: the entry, the cotangent that arrived at its output, and what it sent on.

    Attributes
    ----------
    entry : Entry
        The operation.
    cotangent : Tensor
        What arrived at its output.
    contributions : tuple of Contribution
        What it sent on, one for each argument on the way to a source.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = 5.0 * x**2
    >>> for step in tape.steps(y, x):
    ...     print(step.entry.name, step.cotangent, [sent.value for sent in step.contributions])
    multiply Tensor(1.) [Tensor(5.)]
    power Tensor(5.) [Tensor(30.)]
    """

    entry: Entry
    cotangent: Any
    contributions: tuple[Contribution, ...]


def steps(happenings: Iterator[Arrived | Added | Passed]) -> Iterator[Step]:
    """Gather the events of a walk, entry by entry."""
    sent: list[Contribution] = []
    for happening in happenings:
        if isinstance(happening, Arrived):
            arrived, sent = happening, []
        elif isinstance(happening, Added):
            entry, k, *sums = happening
            sent.append(Contribution(k, entry.ids[k], *sums))
        else:
            yield Step(*arrived, tuple(sent))


def as_tensors(walked: Iterator[Step]) -> Iterator[Step]:
    """Wrap the arrays of steps as tensors, for users."""
    for entry, cotangent, contributions in walked:
        sent = (Contribution(c.argument, c.id, *map(as_tensor, c[2:])) for c in contributions)
        yield Step(entry, as_tensor(cotangent), tuple(sent))
