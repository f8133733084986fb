"""The backward pass, entry by entry: the events of a walk, gathered into steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.entry import Entry
from ..core.events import Accumulate, Event, PullBack
from ..core.tensor import as_tensor
from ..core.walk import with_tensors

Contribution = Accumulate
"""The type of the contributions of a step."""


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


def steps(events: Iterator[Event]) -> Iterator[Step]:
    """Gather the events of a walk, entry by entry."""
    sent: list[Accumulate] = []
    for event in events:
        if isinstance(event, PullBack):
            arrived, sent = event, []
        elif isinstance(event, Accumulate):
            sent.append(event)
        else:
            yield Step(arrived.entry, arrived.cotangent, tuple(sent))


def as_tensors(walked: Iterator[Step]) -> Iterator[Step]:
    """Wrap the arrays of steps as tensors, for users."""
    for entry, cotangent, contributions in walked:
        yield Step(entry, as_tensor(cotangent), tuple(map(with_tensors, contributions)))
