"""Records one run of a function with examples, and turns it into a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..core.active import always
from ..core.tensor import Tensor
from ..program.comparison import Difference, find_differences
from ..program.instructions import Listing, mapped, values_in
from ..text.functions import name_of
from .examples import STEP, Examples
from .reading import FORMAT, VERSION
from .recording import FileRecorder
from .side_effects import SideEffects
from .writing import Document


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
    ) -> None:
        self.failure: Exception | None = None
        tensors, arguments = given.arguments(arrays)
        self.recorder = recorder = FileRecorder(tensors)
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


def document_of(
    function: Callable[..., Any], given: Examples, run: Run, program: Document, free: dict[int, int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the document and the arrays of a run; `free` has the group of each length that may vary."""
    arrays = {f"constants/{k}": array for k, array in enumerate(program.constants)}
    arrays |= {f"variables/{k}": np.asarray(variable._array) for k, variable in enumerate(program.variables)}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": name_of(function),
        "arguments": {"list": given.written},
        "inputs": [
            {"name": name, **_declared(array), "group": free.get(len(array)) if array.ndim else None}
            for name, array in zip(given.names, given.arrays, strict=True)
        ],
        "constants": [_declared(array) for array in program.constants],
        "variables": [{"name": v.name, "trainable": v.trainable, **_declared(v)} for v in program.variables],
        "instructions": program.instructions,
        "result": program.write(run.result),
    }
    return document, arrays


def check_differentiable(run: Run, program: Document, given: Examples) -> None:
    """Raise a ValueError if nothing in the result can have a gradient."""
    if not any(value.dtype.kind in "fc" for value in run.listing.results):
        raise ValueError(
            "the result holds integers or booleans, which have no derivative; return the values they are computed from"
        )
    floats = [value for value in run.listing.arguments if value.dtype.kind in "fc"]
    if not program.variables and program.used.isdisjoint(floats):
        raise ValueError(
            "nothing in the result depends on a floating example or a variable, so there is nothing to differentiate: "
            "pass floats (3.0, not 3), and compute with the arguments directly, without float() or .numpy()"
        )


def _declared(array: Any) -> dict[str, Any]:
    return {"dtype": array.dtype.name, "shape": list(array.shape)}


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
