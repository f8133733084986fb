"""Inner tensors that left a checkpointed function without being part of its result, called strays.

The tapes around a call have one entry for all of it. So they cannot know how a stray was computed, and what is computed
from it would silently lose this part of its gradient. That is why reading one is an error while such a tape records.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> kept = []
>>> @ad.checkpoint
... def layer(x):
...     kept.append(np.tanh(x))
...     return x * kept[-1]
>>> x = ad.Variable(0.5)
>>> with ad.GradientTape() as tape:
...     y = layer(x) + kept[-1]  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
RuntimeError: doctest, line 2: this reads a tensor that was computed inside layer, called at doctest, line 2, and ...
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..arrays.structures import flatten
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..text.frames import Where, here
from ..text.places import place


class IdRanges:
    """The ids of what was computed, in ascending order: the start and the end of each run of consecutive numbers.

    >>> ids = IdRanges()
    >>> for id in (3, 4, 5, 9):
    ...     ids.add(id)
    >>> list(ids.ends), 4 in ids, 6 in ids, 9 in ids
    ([3, 6, 9, 10], True, False, True)
    """

    def __init__(self) -> None:
        self.ends = array("q")  # a long function takes no more room than a short one, if a tape follows all of it

    def add(self, id: int) -> None:
        """Add an id that is larger than all others."""
        if self.ends and self.ends[-1] == id:
            self.ends[-1] = id + 1
        else:
            self.ends.extend((id, id + 1))

    def extend(self, others: IdRanges) -> None:
        """Add ids that are all larger."""
        self.ends.extend(others.ends)

    def __contains__(self, id: int) -> bool:
        return bisect_right(self.ends, id) % 2 == 1


class CheckpointCall(NamedTuple):
    """A call of a checkpointed function: when it began, the function's name, where; and whether it is running again."""

    began: int
    name: str
    where: Where
    again: bool = False


class InnerTensors:
    """What a tape must refuse, because it was computed in calls that it knows only as a whole."""

    def __init__(self) -> None:
        self.computed, self.calls = IdRanges(), list[CheckpointCall]()

    def check(self, ids: Iterable[int | None]) -> None:
        """Raise a RuntimeError if one of these is a stray."""
        ends = self.computed.ends  # every operation asks, so this is written out
        for id in ids:
            if id is not None and bisect_right(ends, id) % 2:
                raise RuntimeError(_refusal(self.call_of(id)))

    def call_of(self, id: int) -> CheckpointCall:
        """Return the call inside which a stray was computed."""
        return self.calls[bisect_right(self.calls, id, key=lambda call: call.began) - 1]


def set_apart(tape: Tape, computed: IdRanges, call: CheckpointCall) -> None:
    """Note that what was computed in a call is unknown to a tape."""
    tape.refused = tape.refused or InnerTensors()
    tape.refused.computed.extend(computed)
    tape.refused.calls.append(call)


def stray_of(tape: Tape, id: int) -> CheckpointCall | None:
    """Return the call from which a tensor strayed, if it did."""
    call: CheckpointCall | None = tape.refused.call_of(id) if tape.refused and id in tape.refused.computed else None
    return call


def check_value(tape: Tape, value: Any) -> None:
    """Raise a RuntimeError if a value to be differentiated has a stray in it."""
    for path, leaf in flatten(value, "the result"):
        call = stray_of(tape, leaf._id) if isinstance(leaf, Tensor) else None
        if call is not None:
            raise RuntimeError(f"{path} {describe_stray(call)}")


def describe_stray(call: CheckpointCall) -> str:
    """Return what a stray has done, and what to write instead."""
    return (
        f"was computed inside {call.name}, called at {place(call.where)}, and is not a tensor that this call returned, "
        f"so ad.checkpoint can pass no gradient back to it. Return it from {call.name} and use what the call returns, "
        "or compute it outside"
    )


def _refusal(call: CheckpointCall) -> str:
    if call.again:
        return (
            f"{place(here())}: {call.name} ran again here for the derivative, and this reads a tensor that its first "
            f"run computed and kept. Compute it outside, and pass it to {call.name}; or compute it anew in each run"
        )
    return (
        f"{place(here())}: this reads a tensor that {describe_stray(call)}. If you only need its numbers, use .numpy()"
    )
