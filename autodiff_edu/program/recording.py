"""Records one call of a function as a listing: every operation on tensors, whether a tape follows it or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import ref

import numpy as np

from ..arrays.provenance import is_marked, mark, refusal, unmark
from ..arrays.structures import flatten
from ..arrays.validate import can_change, freeze
from ..core.active import Follower, Hear, Listener, only, tick
from ..core.entry import Entry
from ..core.events import Accumulate, Assign, Make, Return
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..rules import operations
from ..text.failures import told
from ..text.frames import Where, here
from ..text.labels import names_of_arguments
from ..text.places import Names, names, place
from .instructions import Instruction, Listing, Value, mapped
from .spelling import same

NUMERICAL = (ArithmeticError, np.linalg.LinAlgError)
"""The errors by which operations say that they fail for these numbers, not for these shapes."""


class Recorder(Follower):
    """Writes down what is computed, as instructions.

    `ad.compile` adds guards to it, and `ad.save` keeps some functions whole.

    Parameters
    ----------
    tensors : list of Tensor
        The arrays among the arguments, each with a name.
    hears : mapping, optional
        More types of events, with the functions that receive them.
    marked : iterable of Variable, optional
        If given, the arrays of the arguments and of these variables are marked during the run, and what a rule computes
        from them unseen is refused; see `provenance`.

    Attributes
    ----------
    instructions : list of Instruction
    arguments : tuple of Value
    variables, assigned : dict
        By id: the variables that are read, with their values; those that are assigned to, with their new values.
    made, captured : set of int
        The ids of the variables made inside, and of the tensors made before, which are constants.
    failure : Exception or None
        The error that was raised, which the function may have caught.
    """

    def __init__(
        self,
        tensors: list[Tensor],
        hears: Mapping[type, Hear] | None = None,
        marked: Iterable[Variable] | None = None,
    ) -> None:
        ours: dict[type, Hear] = {
            Entry: self.hear_entry,
            Make: self.hear_make,
            Assign: self.hear_assign,
            Return: self.hear_return,
        }
        super().__init__({**ours, Accumulate: self.hear_accumulate, **(hears or {})})
        self.failure: Exception | None = None
        self._caught: Exception | None = None  # what is wrong if the function returns although an operation failed
        self._marked, self._tensors = marked, tensors
        self._recording = None if marked is None else _refusal_of(ref(self))
        self._originals: dict[int, Any] = {}  # by the ids of variables that are marked: the arrays that they had
        self.instructions: list[Instruction] = []
        self.variables: dict[int, tuple[Variable, Value]] = {}
        self.assigned: dict[int, tuple[Variable, Value]] = {}
        self.made: set[int] = set()
        self.captured: set[int] = set()
        self._start = tick()
        self._read_from: dict[tuple[int, int], Value] = {}  # by the ids of a variable and of an array that it had
        self._initial: set[int] = set()  # the ids of the arrays that variables had before
        self._values: dict[int, Value] = {}  # by the id of a tensor; of a variable, its latest
        self._arrays: dict[int, tuple[Any, Value]] = {}  # by the id of an array, which is kept so that the id stays its
        self._copies: dict[int, tuple[Any, Value]] = {}  # the same, of arrays that can be written into
        self._before: dict[int, tuple[Variable, Any]] = {}
        self._told: dict[str, Any] = {**np.geterr()}
        self._names: dict[Where, Names] = {}
        for tensor in tensors:
            self.know(tensor._id, tensor._array, Value.like(tensor._array, tensor.name))
        self.arguments = tuple(self._values[tensor._id] for tensor in tensors)

    def run(self, function: Callable[[], Any], *others: Listener) -> Any:
        """Call a function and record what it computes; only `others` listen too, and variables keep their values.

        Raises
        ------
        Exception
            The one that was raised while recording, even if the function caught it.
        """
        token, other = refusal.set(self._recording), told.set(self.note_failure)
        # another thread may be recording with marks too, and must not leave its own in the variable
        self._originals = {variable._id: unmark(variable._array) for variable in self._marked or ()}
        marks = [(variable, mark(variable._array)) for variable in self._marked or ()]
        for tensor in self._tensors:
            tensor._array = mark(tensor._array)
            self.know(tensor._id, tensor._array, self._values[tensor._id])
        try:
            for variable, marked in marks:
                variable._array = marked
            with only(*others, self):
                result = function()
            self.failure = self.failure or self._caught
        finally:
            for variable, array in self._before.values():
                variable._array = array
            for variable, marked in marks:
                if variable._array is marked:  # another thread may have assigned to it
                    variable._array = self._originals[variable._id]
            refusal.reset(token)
            told.reset(other)
        if self.failure is not None:
            raise self.failure
        return result

    def note_failure(self, error: Exception, operation: Any, inputs: Any, parameters: Any = ()) -> None:
        """Note that numbers made an operation fail: if the function catches the error, another path begins there."""
        if isinstance(error, NUMERICAL) or operation is operations.checked or _is_missing(error, inputs):
            self._caught = self._caught or TypeError(
                f"{place(here())}: an operation fails for these numbers ({error}), and the function catches the error. "
                "A recording would keep the path that follows, for other numbers too. Decide with an `if` on a tensor, "
                "or leave this part out of the function that is recorded"
            )

    def refuse(self) -> Exception | None:
        """Return the error for a number that depends on the arguments and was computed unseen."""
        self.failure = TypeError(
            f"{place(here())}: an order, an index or a choice is found in the numbers of a tensor here by plain NumPy, "
            "and a recording would keep that of this call. Leave this part out of the function that is recorded"
        )
        return self.failure

    def listing(self, results: list[Value]) -> Listing:
        """Return what was recorded, with the names of the reader's code, and some results."""
        unnamed = 0
        for number, instruction in enumerate(self.instructions, 1):
            for value in instruction.reads():
                if value.array is not None and value.label is None and not value.number:
                    unnamed += 1
                    value.label = "c" if unnamed == 1 else f"c_{unnamed}"
            output = instruction.output_value
            if output is not None:
                output.number, output.label = number, output.label or self._label(instruction)
        variables = tuple(self.variables.values())
        assigned = tuple(pair for id, pair in self.assigned.items() if id not in self.made)
        return Listing(self.arguments, variables, self.instructions, tuple(results), assigned)

    def _label(self, instruction: Instruction) -> str | None:
        written = self._names.get(instruction.where)
        if written is None:
            written = self._names[instruction.where] = names(instruction.where)
        return written.result if written.function in (None, instruction.name) else None

    # What it hears ----------------------------------------------------------------------------------------------------

    def hear_entry(self, entry: Entry) -> None:
        """Write down an operation that was computed."""
        if self._marked is not None and is_marked(entry.values, self._recording):
            entry.output_value = mark(entry.output_value)
        if entry.call is not None:
            self.hear_call(entry)
            return
        ids, output_id, *_ = entry.line
        self._entry = entry
        values = [self._value(*parts, k) for k, parts in enumerate(zip(entry.given, ids, entry.values, strict=True))]
        self.know(output_id, entry.output_value, self.result_of(entry, values))

    def hear_call(self, entry: Entry) -> None:
        """Note the result of a custom gradient: one array, or several in a vector; see `hear_return`."""
        self.know(entry.output_id, entry.output_value, Value.constant(unmark(entry.output_value)))

    def result_of(self, entry: Entry, values: list[Any]) -> Value:
        """Append an operation on these values; return its result."""
        parameters = mapped(entry.parameters, self.value_of_plain) if entry.parameters else entry.parameters
        return self.write(entry.operation, values, parameters, entry.output_value, entry.where)

    def follows(self, ids: Any) -> bool:
        """Return True: only rules that run on tensors are recorded."""
        return True

    def hear_make(self, event: Make) -> None:
        """Note what a new tensor or variable was made from."""
        made, source = event
        self.know(made._id, made._array, self.value_of_copy(source, made._array))
        if isinstance(made, Variable):
            self.made.add(made._id)
            self._read_from[made._id, _identity(made._array)] = self._values[made._id]

    def hear_accumulate(self, event: Accumulate) -> None:
        """Name a cotangent after its tensor."""
        known, bar = self._values.get(event.id), self._values.get(event.after._id)
        if known is not None and bar is not None and bar.label is None and known.label:
            bar.label = f"{known.label}_bar"

    def hear_return(self, event: Return) -> None:
        """Note that the results of a custom gradient are what was computed inside."""
        for one, result in zip(event.inside, event.results, strict=True):
            if isinstance(one, Tensor):
                self.know(result._id, result._array, self.value_of(one))

    def hear_assign(self, event: Assign) -> None:
        """Write down the new value of a variable: the change itself, or the old value plus or minus it."""
        variable, after, array, change, operation = event
        before = self.value_of(variable, array)
        self._before.setdefault(variable._id, (variable, array))
        value = self.value_of(change) if isinstance(change, Tensor) else as_value(self._numbers(np.array(change)[()]))
        if operation is not None:
            changed = operation(array, change._array if isinstance(change, Tensor) else value.array)
            value = self.write(operation, [before, value], {}, changed, here())
        self.assigned[variable._id] = variable, self._cast(value, array)
        self.know(variable._id, after._array, self.assigned[variable._id][1])
        self._read_from[variable._id, _identity(after._array)] = self._values[variable._id]

    # Values ----------------------------------------------------------------------------------------------------------

    def value_of(self, tensor: Tensor, array: Any = None) -> Value:
        """Return the value of a tensor; of a variable made inside, the latest, although its first array is back."""
        if tensor._id in self.made and tensor._id in self.assigned:
            return self.assigned[tensor._id][1]
        value: Value = self._value(tensor, tensor._id, tensor._array if array is None else array)
        return value

    def depends(self, tensor: Tensor) -> bool:
        """Return whether a tensor is an argument or a variable, or was computed from one."""
        known = self._values.get(tensor._id)
        return isinstance(tensor, Variable) or (known is not None and known.array is None)

    def value_of_copy(self, source: Any, array: Any) -> Value:
        """Return the value of a new tensor, which was made from another tensor or from plain numbers."""
        value = self.value_of(source) if isinstance(source, Tensor) else as_value(self.value_of_plain(array))
        return self._cast(value, array)

    def _value(self, given: Any, id: int | None, array: Any, place: int | None = None) -> Any:
        """Return the value of an argument of an operation; plain numbers and other settings as they are."""
        if id is None:
            value = (
                mapped(array, self.value_of_plain)
                if type(array) in (tuple, list, slice)
                else self.value_of_plain(array)
            )
            if type(value) is Value and value.array is not None and value.label is None and place is not None:
                value.label = names_of_arguments(self._entry)[place]
            return value
        if isinstance(given, Variable) or id in self.variables:
            return self._read(given, id, array, place)
        value = self._values.get(id)
        if value is None:  # made before, or around the array of another
            is_before = id < self._start
            value = Value.constant(unmark(array)) if is_before else as_value(self._numbers(array, frozen=True))
            if is_before:
                self.captured.add(id)
            value.label = value.label or self._called(given, place)
            self._values[id] = value
        return value

    def _called(self, tensor: Tensor, place: int | None) -> str | None:
        """Return the name of a tensor that comes from outside, its own or the one in the reader's code."""
        return tensor.name or (None if place is None else names_of_arguments(self._entry)[place])

    def _read(self, given: Any, id: int, array: Any, place: int | None) -> Value:
        """Return the value that a variable had when it was read, which may be before an assignment."""
        known = self._read_from.get((id, _identity(array)))
        if known is None and id not in self._values:
            known = Value.like(array, self._called(given, place))
            self.variables[id] = given, known
            self.know(id, array, known)
            for initial in (array, self._originals.get(id, array)):
                self._read_from[id, _identity(initial)] = known
                self._initial.add(_identity(initial))
        return known or self._values[id]

    def value_of_plain(self, array: Any) -> Any:
        """Return the value of an argument that is not a tensor; what w.numpy() returned before is a constant."""
        if id(array) in self._initial and type(array) is not np.bool_:
            return Value.constant(array) if isinstance(array, np.ndarray) else array
        return self._numbers(array)

    def _numbers(self, array: Any, frozen: bool = False) -> Any:
        """Return the value of an array that a tensor has; a constant for another array; anything else unchanged."""
        if not isinstance(array, np.ndarray | np.generic):
            return array
        known = self._arrays.get(id(array)) if type(array) is not np.bool_ else None
        if known is not None:
            return known[1]
        if isinstance(array, np.generic):
            return array
        if self._marked is not None and is_marked(array, self._recording) and (error := self.refuse()):
            raise error
        if frozen or not can_change(array):
            value = Value.constant(array)
            self._arrays[id(array)] = array, value
            return value
        earlier = self._copies.get(id(array))
        if earlier is None or not same(earlier[1].array, array):  # it may have been written into since
            self._copies[id(array)] = earlier = array, Value.constant(freeze(array))
        return earlier[1]

    def know(self, id: int, array: Any, value: Value) -> None:
        """Note the value of a tensor, and of its array."""
        self._values[id] = value
        if type(array) is not np.bool_:  # of which there are only two
            self._arrays[_identity(array)] = array, value

    def write(self, operation: Any, values: list[Any], parameters: Any, array: Any, where: Where) -> Value:
        """Append an instruction; return its result, with its numbers if they are the same for all arguments."""
        output = Value.like(array)
        told: dict[str, Any] = {**np.geterr()}
        errors = None if told == self._told else {kind: how for kind, how in told.items() if how != self._told[kind]}
        instruction = Instruction(operation, values, parameters, output, where, errors)
        if all(value.array is not None for value in instruction.reads()):
            output.array = array
        self.instructions.append(instruction)
        return output

    def _cast(self, value: Value, array: Any) -> Value:
        """Return a value in the dtype and shape of the array that holds it now."""
        if value.shape != array.shape:
            value = self.write(np.broadcast_to, [value, array.shape], {}, np.broadcast_to(array, array.shape), here())
        return (
            value
            if value.dtype == array.dtype
            else self.write(operations.cast, [value, array.dtype], {}, array, here())
        )


_identity = id


def _refusal_of(recorder: ref[Recorder]) -> Callable[[], Exception | None]:
    """Return what marked arrays keep, which may outlive the recorder."""
    return lambda: one.refuse() if (one := recorder()) else None


def _is_missing(error: Exception, inputs: Any) -> bool:
    """Return whether an operation failed because a tensor is an index that does not exist."""
    return isinstance(error, IndexError) and any(isinstance(leaf, Tensor) for _, leaf in flatten([*inputs[1:]], ""))


def as_value(value: Any) -> Value:
    """Return a value, or numbers as a constant."""
    return value if type(value) is Value else Value.constant(value)
