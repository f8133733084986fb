"""Records a function completely: every operation on tensors, whether or not a tape would follow it.

A tape notes what depends on what it watches, and stops at a comparison. A saved function must compute the comparison
again, for other numbers; so a `Recording` notes all operations. A function that is spelled in terms of others, such as
`np.sort`, is noted as one: its inner steps may fit only one array, or one number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.structures import flatten
from ..arrays.validate import copy_in
from ..core.active import Follower, now
from ..core.entry import Entry
from ..core.events import Begin, End, Return
from ..core.tape import Tape
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..custom.call import Call
from ..text.frames import Where, here
from .operations import name_of

CUSTOM = "custom_gradient"
DEEPEST = 4
"""How deep a custom gradient is followed into the custom gradients of its own backward function."""


class Note:
    """One operation that a recording saw: its name, its arguments as data, and the numbers of its results."""

    def __init__(self, operation: str, arguments: Any, parameters: Any, numbers: range, results: Any, where: Where):
        self.operation = operation
        self.arguments, self.parameters = arguments, parameters
        self.where = where
        self.set_results(numbers, results)
        self.call: Call | None = None
        self.backward: Backward | None = None

    def set_results(self, numbers: range, results: list[Tensor]) -> None:
        """Set the numbers of its results."""
        self.numbers = numbers
        self.results = [[result.dtype.name, list(result.shape)] for result in results]

    def refers_to(self, kind: str) -> set[int]:
        """List the numbers in the references of its arguments."""
        return references([self.arguments, *self.parameters.values()], kind)

    def used(self) -> set[int]:
        """List the numbers of the earlier results that it needs."""
        found = self.refers_to("result")
        return found if self.backward is None else found | self.backward.used()


class Backward:
    """What a custom gradient's backward function did in one call: from cotangents to one gradient per argument."""

    def __init__(self, cotangents: range, shapes: list[Any], notes: list[Note], result: Any) -> None:
        self.cotangents, self.shapes = cotangents, shapes
        self.notes, self.result = notes, result

    def used(self) -> set[int]:
        """List the numbers of the results that it needs, its own among them."""
        return references(self.result, "result").union(*(note.used() for note in self.notes))


class Recording(Follower):
    """Notes every operation on tensors as data, and spelled functions as one.

    But not while a tape is recording too: a backward pass needs what that tape saw inside the function.
    """

    def __init__(self, inputs: list[Tensor]) -> None:
        super().__init__({Entry: self._compute, Begin: self._begin, End: self._end, Return: self._return})
        self.notes: list[Note] = []
        self.variables: list[Variable] = []
        self.constants: list[tuple[Any, Where, Any]] = []
        self.count = 0
        self.varying: set[int] = set()
        """The numbers of the results that were computed from an input or a variable."""
        self._spelling: list[bool] = []  # for each spelled function that is being called, whether it is noted whole
        self._references: dict[int, Any] = {}
        self._arrays: dict[int, tuple[Any, Any]] = {}
        for k, tensor in enumerate(inputs):
            self._know(tensor, {"input": k})

    def _compute(self, entry: Entry) -> None:
        inputs = entry.given
        if self.inside:
            return
        if entry.call is not None:
            note = self.note(CUSTOM, ([*inputs], []), {"name": entry.name}, [entry.output], entry.where)
            note.call = entry.call
        else:
            self.note(name_of(entry.operation), inputs, entry.parameters, [entry.output], entry.where)

    def follows(self, ids: Any) -> bool:
        """Return True: rules must run on tensors, because their operations are noted too."""
        return not self.inside

    @property
    def inside(self) -> bool:
        """Whether a spelled function that is noted as one is running."""
        return any(self._spelling)

    def _begin(self, event: Begin) -> None:
        self._spelling.append(not any(isinstance(follower, Tape) for follower in now().followers))

    def _end(self, event: End) -> None:
        function, arguments, parameters, result = event
        if self._spelling.pop() and not self.inside and (outputs := tensors_in(result)):
            self.note(name_of(function), arguments, parameters, outputs, here())

    def note(self, operation: str, arguments: Any, parameters: Any, outputs: list[Tensor], where: Where) -> Note:
        """Append an operation, and remember its results by number."""
        numbers = self.number(outputs)
        written = [self.written(x) for x in arguments], {name: self.written(x) for name, x in parameters.items()}
        for number, output in zip(numbers, outputs, strict=True):
            self._know(output, {"result": number})
        if self.varies(written):
            self.varying.update(numbers)
        self.notes.append(Note(operation, *written, numbers, outputs, where))
        return self.notes[-1]

    def number(self, outputs: list[Tensor]) -> range:
        """Reserve a number for each of some results."""
        self.count += len(outputs)
        return range(self.count - len(outputs), self.count)

    def _return(self, event: Return) -> None:
        """Complete the note of a custom gradient once its results are known, one by one instead of packed."""
        call, inside, results = event
        if self.inside:
            return
        note = next((note for note in reversed(self.notes) if note.call is call), None)
        if note is not None:
            note.arguments[1] = {"list": [self.written(x if isinstance(x, Tensor) else copy_in(x)) for x in inside]}
            note.set_results(self.number(results), results)
            if self.varies(note.arguments):
                self.varying.update(note.numbers)
            for number, result in zip(note.numbers, results, strict=True):
                self._know(result, {"result": number})

    def differentiate(self, notes: list[Note], result: Any, seed: Callable[[Any], Any], depth: int = DEEPEST) -> None:
        """Record the backward functions of the custom gradients that lead to a result, and those inside them in turn.

        `seed` returns the cotangent of an output. A backward function that uses its own function would never end, so
        `depth` limits this.
        """
        while waiting := [note for note in kept(notes, result) if note.call is not None and note.backward is None]:
            for note in waiting:
                note.backward = self._pulled_back(note.call, seed)
                if depth > 1:
                    self.differentiate(note.backward.notes, note.backward.result, seed, depth - 1)

    def _pulled_back(self, call: Any, seed: Callable[[Any], Any]) -> Backward:
        outer, self.notes = self.notes, []
        cotangents = [wrap(seed(output)) for output in call.outputs]
        numbers = self.number(cotangents)
        self.varying.update(numbers)
        for number, cotangent in zip(numbers, cotangents, strict=True):
            self._know(cotangent, {"result": number})
        try:
            result = {"list": [self.written(gradient) for gradient in call.backward_of(cotangents)]}
        finally:
            notes, self.notes = self.notes, outer
        described = [[cotangent.dtype.name, list(cotangent.shape)] for cotangent in cotangents]
        return Backward(numbers, described, notes, result)

    def varies(self, written: Any) -> bool:
        """Return whether something written was computed from an input or a variable."""
        parts = [*written] if isinstance(written, tuple) else written
        if references(parts, "input") or references(parts, "variable"):
            return True
        return not self.varying.isdisjoint(references(parts, "result"))

    def depends(self, tensor: Tensor) -> bool:
        """Return whether a tensor was computed from an input or a variable, or is one."""
        return isinstance(tensor, Variable) or self.knows(tensor._id)

    def knows(self, id: int | None) -> bool:
        """Return the same for the id of a tensor that an operation used or returned."""
        return id is not None and self.varies(self._references.get(id))

    def _know(self, tensor: Tensor, reference: Any) -> None:
        self._references[tensor._id] = reference
        if not isinstance(tensor._array, np.bool_):  # of which there are only two
            self._arrays.setdefault(id(tensor._array), (tensor._array, reference))

    def written(self, value: Any) -> Any:
        """Write an argument as data; tensors, and the arrays taken out of them for an index, become references."""
        match value:
            case None | bool() | int() | str():
                return value
            case Tensor():
                return self._reference(value)
            case np.ndarray() | np.generic():
                known = self._arrays.get(id(value))
                return known[1] if known else {"constant": self._constant(value)}
            case float():
                return value if np.isfinite(value) else {"float": str(value)}
            case complex():
                return {"complex": [self.written(value.real), self.written(value.imag)]}
            case slice():
                return {"slice": [self.written(part) for part in (value.start, value.stop, value.step)]}
            case list():
                return {"list": [self.written(part) for part in value]}
            case tuple() | range():
                return {"tuple": [self.written(part) for part in value]}
            case dict():
                return {"dict": [[self.written(key), self.written(part)] for key, part in value.items()]}
            case np.dtype():
                return {"dtype": value.name}
        if value is ...:
            return {"ellipsis": None}
        if isinstance(value, type) and issubclass(value, np.number | np.bool_ | int | float | complex):
            return {"dtype": np.dtype(value).name}
        is_function = callable(value) and not isinstance(value, type)
        return {"unknown": "function" if is_function else type(value).__name__}

    def _reference(self, tensor: Tensor) -> Any:
        if tensor._id not in self._references:
            if isinstance(tensor, Variable):
                self.variables.append(tensor)
                self._know(tensor, {"variable": len(self.variables) - 1})
            else:  # not the result of an operation: a constant, or a known array in a new tensor
                return self.written(tensor._array)
        return self._references[tensor._id]

    def _constant(self, array: Any) -> int:
        for k, (kept, _, original) in enumerate(self.constants):
            if original is array and same_array(kept, array):  # unless it was written into in between
                return k
        self.constants.append((np.array(array), here(), array))
        return len(self.constants) - 1


def kept(notes: list[Note], result: Any) -> list[Note]:
    """List the notes that a result, given as references, depends on."""
    wanted, found = references(result, "result"), []
    for note in reversed(notes):
        if not wanted.isdisjoint(note.numbers):
            found.append(note)
            wanted |= note.used()
    return found[::-1]


def references(written: Any, kind: str) -> set[int]:
    """List the numbers in the references of one kind ("result", "constant", ...) within written arguments."""
    if isinstance(written, dict):
        if kind in written:
            return {written[kind]} if isinstance(written[kind], int) else set()
        return references(list(written.values()), kind)
    if isinstance(written, list):
        return set().union(*(references(part, kind) for part in written))
    return set()


def tensors_in(result: Any) -> list[Tensor]:
    """List the tensors among the results of an operation."""
    return [leaf for _, leaf in flatten(result, "result") if isinstance(leaf, Tensor)]


def same_array(a: Any, b: Any) -> bool:
    """Return whether two arrays are the same bit for bit, NaN included."""
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
