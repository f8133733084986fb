"""Records one run of a function with examples, and turns it into a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..rules.account import remedy
from ..text.functions import name_of
from ..text.places import place
from .examples import STEP, Examples
from .listening import recorded
from .operations import operations
from .program import Program, program_of
from .reading import FORMAT, VERSION
from .recording import CUSTOM, Note, Recording, kept, references


class Run:
    """What a function did with some arrays.

    Attributes
    ----------
    program : Program or None
        The program that led to the result; None if the function failed, which only `attempt` allows.
    failure : Exception or None
        The error if it failed.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        given: Examples,
        arrays: list[Any],
        custom_gradients: bool,
        moved: bool = False,
        attempt: bool = False,
    ) -> None:
        self.program: Program | None = None
        self.failure: Exception | None = None
        tensors, arguments = given.arguments(arrays)
        with recorded(tensors) as (self.recording, self.watching):
            try:
                result = function(*arguments)
                written = _result(self.recording, result, "the result")
                if custom_gradients:
                    self.recording.differentiate(self.recording.notes, written, _moved_seed if moved else _seed)
            except Exception as failure:
                if not attempt:
                    raise
                self.failure = failure
                return
        _check_runnable(kept(self.recording.notes, written))
        self.program = program_of(self.recording, written)
        self.is_floating = any(leaf.dtype.kind in "fc" for leaf in _leaves(result))


def document_of(
    function: Callable[..., Any], given: Examples, run: Run, free: dict[int, int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the document and the arrays of a run; `free` has the group of each length that may vary."""
    program = run.program
    assert program is not None
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
        **program.document,
    }
    return document, arrays


def check_differentiable(run: Run, given: Examples) -> None:
    """Raise a ValueError if nothing in the result can have a gradient."""
    program = run.program
    assert program is not None
    used = references(program.document, "input")
    if not run.is_floating:
        raise ValueError(
            "the result holds integers or booleans, which have no derivative; return the values they are computed from"
        )
    if not program.variables and not any(given.arrays[k].dtype.kind in "fc" for k in used):
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


def _result(recording: Recording, result: Any, path: str) -> Any:
    """Write a result as data; named tuples become tuples."""
    match result:
        case Tensor():
            return recording.written(result)
        case Mapping():
            return {"dict": [[key, _result(recording, part, f"{path}[{key!r}]")] for key, part in result.items()]}
        case list() | tuple():
            form = "list" if isinstance(result, list) else "tuple"
            return {form: [_result(recording, part, f"{path}[{k}]") for k, part in enumerate(result)]}
    raise TypeError(
        f"{path} is {result!r:.60} of type {type(result).__name__}; return a tensor, or a list, tuple or dict of them, "
        "computed from the arguments without float(), .numpy() or np.asarray on the way"
    )


def _leaves(result: Any) -> list[Any]:
    if isinstance(result, Tensor):
        return [result]
    return [leaf for part in (result.values() if isinstance(result, Mapping) else result) for leaf in _leaves(part)]


def _check_runnable(notes: list[Note], table: Any = None) -> None:
    """Raise an error if a file cannot represent what was recorded."""
    table = table or operations()
    for note in notes:
        at = f"{note.operation}, used at {place(note.where)},"
        if note.operation != CUSTOM and note.operation not in table:
            reason, instead = remedy(note.operation.replace("numpy.", "np.", 1))
            raise LookupError(
                f"{at} has no derivative rule{reason}, but only operations with a rule can be saved. {instead}, "
                "or register a rule with ad.register_gradient, here and before loading"
            )
        unknown = _unknown([note.arguments, note.parameters])
        if unknown:
            raise TypeError(f"{at} was given a {unknown}, which cannot be saved; use tensors, arrays and numbers")
        if note.backward is not None:
            _check_runnable(kept(note.backward.notes, note.backward.result), table)


def _unknown(written: Any) -> str | None:
    """Find the type of an argument that the format cannot express."""
    if isinstance(written, dict):
        if "unknown" in written:
            return str(written["unknown"])
        written = list(written.values())
    if isinstance(written, list):
        return next(filter(None, map(_unknown, written)), None)
    return None
