"""Records one run of a function with examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.active import always
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..program.comparison import Difference, find_differences
from ..program.instructions import Listing, mapped, values_in
from .examples import STEP, Examples
from .recording import FileRecorder
from .side_effects import SideEffects


class Run:
    """What a function did with some arrays.

    Attributes
    ----------
    listing : Listing
        What it computed, unless the function failed.
    result : structure
        The result, with values in place of its tensors.
    failure : Exception or None
        The error if it failed, which only `attempt` allows.
    """

    listing: Listing

    def __init__(
        self,
        function: Callable[..., Any],
        given: Examples,
        custom_gradients: bool,
        arrays: list[Any],
        moved: bool = False,
        attempt: bool = False,
        marked: list[Variable] | None = None,
    ) -> None:
        self.failure: Exception | None = None
        tensors, arguments = given.arguments(arrays)
        self.recorder = recorder = FileRecorder(tensors, marked)
        self.side_effects = SideEffects(recorder)

        def record() -> None:
            result = function(*arguments)
            self.result = _with_values(result, "the result", recorder)
            values = [*values_in(self.result)]
            if custom_gradients:
                recorder.differentiate(recorder.instructions, values, _moved_seed if moved else _seed)
            self.listing = recorder.listing(values)

        with self.side_effects.profiling():
            try:
                recorder.run(record, *always.listeners, self.side_effects)
            except Exception as failure:
                if not attempt:
                    raise
                self.failure = failure

    def find_differences(self, other: Run) -> Iterator[Difference]:
        """Yield the differences between this run and another, up to where their paths part."""
        yield from find_differences(self.listing, other.listing)
        if self._form() != other._form():
            yield Difference(-1, "path", None)

    def _form(self) -> Any:
        return mapped(self.result, lambda value: None)


def _seed(output: Any) -> Any:
    """Return the cotangent with which a backward function is recorded: ones, or zeros for integers."""
    return (np.ones if output.dtype.kind in "fc" else np.zeros)(output.shape, output.dtype)[()]


def _moved_seed(output: Any) -> Any:
    return _seed(output) * np.asarray(1 + STEP, output.dtype)[()]


def _with_values(result: Any, path: str, recorder: FileRecorder) -> Any:
    """Return a result with the values of its tensors in their place; named tuples become tuples."""
    match result:
        case Tensor():
            return recorder.value_of(result)
        case Mapping():
            return {key: _with_values(part, f"{path}[{key!r}]", recorder) for key, part in result.items()}
        case list() | tuple():
            parts = [_with_values(part, f"{path}[{k}]", recorder) for k, part in enumerate(result)]
            return parts if isinstance(result, list) else tuple(parts)
    raise TypeError(
        f"{path} is {result!r:.60} of type {type(result).__name__}; return a tensor, or a list, tuple or dict of them, "
        "computed from the arguments without float(), .numpy() or np.asarray on the way"
    )
