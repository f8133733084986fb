"""The recorder of files. It keeps a function as one instruction if another array, or a gradient, needs it whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..arrays.structures import flatten
from ..arrays.validate import copy_in
from ..core.active import now
from ..core.entry import Entry
from ..core.events import Begin, End, Make, Return
from ..core.tape import Tape
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..custom import custom_gradient
from ..custom.call import Call
from ..program.instructions import Instruction, Listing, Value, mapped
from ..program.passes import unused
from ..program.recording import Recorder, as_value
from ..rules.operations import stop_gradient
from ..text.frames import here

DEEPEST = 4
"""How deep a custom gradient is followed into the custom gradients of its own backward function."""


class FileRecorder(Recorder):
    """Records a function that is spelled in terms of others, such as np.sort, and a custom gradient as one instruction.

    The inner steps of np.sort may fit only one array, or one number of samples. While a tape is recording, they are
    recorded all the same: the backward pass needs what the tape saw inside the function.
    """

    def __init__(self, tensors: list[Tensor], marked: Iterable[Variable] | None = None) -> None:
        super().__init__(tensors, {Begin: self._begin, End: self._end}, marked)
        self._whole: list[bool] = []  # for each spelled-out function under way, whether it is one instruction
        self._sources: dict[Call, Any] = {}
        self._calls: dict[Instruction, Call] = {}

    @property
    def inside(self) -> bool:
        """Whether a function that is one instruction is running."""
        return any(self._whole)

    @property
    def compiles(self) -> bool:  # type: ignore[override]
        """Whether operations are recorded, so that rules decide by recorded ones too."""
        return not self.inside

    def follows(self, ids: Any) -> bool:
        """Return True while operations are recorded: only rules that run on tensors can be."""
        return not self.inside

    def refuse(self) -> Exception | None:
        """Return the error for a number that was computed unseen; None inside a function that is one instruction."""
        return None if self.inside else super().refuse()

    def hear_entry(self, entry: Entry) -> None:
        """Record an operation, unless it is part of another."""
        if not self.inside:
            super().hear_entry(entry)

    def hear_call(self, entry: Entry) -> None:
        """Keep the sources of a custom gradient until its results are known."""
        super().hear_call(entry)
        self._sources[entry.call] = entry.given

    def hear_make(self, event: Make) -> None:
        """Record that a tensor was made, unless an operation made it."""
        if not self.inside:
            super().hear_make(event)

    def value_of_copy(self, source: Any, array: Any) -> Value:
        """Return the value of a new tensor, through which nothing flows back."""
        value = super().value_of_copy(source, array)
        return value if value.array is not None else self.write(stop_gradient, [value], {}, array, here())

    def _begin(self, event: Begin) -> None:
        self._whole.append(not any(isinstance(follower, Tape) for follower in now().followers))

    def _end(self, event: End) -> None:
        if self._whole.pop() and not self.inside and (results := tensors_in(event.result)):
            values = [self._argument(argument) for argument in event.arguments]
            parameters = {name: self._argument(argument) for name, argument in event.parameters.items()}
            self._append(event.function, values, parameters, results)

    def _argument(self, argument: Any) -> Any:
        """Return an argument with values in place of its tensors and arrays."""
        if isinstance(argument, tuple | range):
            return tuple([self._argument(part) for part in argument])
        if not isinstance(argument, list | dict | slice):
            return self.value_of(argument) if isinstance(argument, Tensor) else self.value_of_plain(argument)
        return mapped(argument, self._argument)

    def hear_return(self, event: Return) -> None:
        """Record a custom gradient, once its results are known: from its sources, and what was computed inside."""
        call, inside, results = event
        if not self.inside:
            outputs = [
                self.value_of(x) if isinstance(x, Tensor) else as_value(self.value_of_plain(copy_in(x))) for x in inside
            ]
            values = [[*map(self._argument, self._sources[call])], outputs]
            self._calls[self._append(custom_gradient, values, {"name": call.name}, results)] = call

    def _append(self, operation: Any, values: list[Any], parameters: Any, results: list[Tensor]) -> Instruction:
        first = self.write(operation, values, parameters, results[0]._array, here())
        value_like = Value.like if first.array is None else Value.constant
        instruction = self.instructions[-1]
        instruction.outputs = (first, *(value_like(result._array) for result in results[1:]))
        for result, value in zip(results, instruction.outputs, strict=True):
            self.know(result._id, result._array, value)
        return instruction

    def differentiate(
        self,
        instructions: list[Instruction],
        results: Sequence[Value],
        seed: Callable[[Any], Any],
        depth: int = DEEPEST,
    ) -> None:
        """Record the backward functions of the custom gradients that lead to results, and of those inside them.

        `seed` returns the cotangent of an output. A backward function that uses its own function would never end, so
        `depth` limits this.
        """
        listing = Listing((), (), instructions, tuple(results), ())
        while waiting := [one for one in unused(listing).instructions if one in self._calls and one.backward is None]:
            for instruction in waiting:
                instruction.backward = self._pull_back(self._calls[instruction], seed)
                if depth > 1:
                    backward = instruction.backward
                    self.differentiate(backward.instructions, backward.results, seed, depth - 1)

    def _pull_back(self, call: Call, seed: Callable[[Any], Any]) -> Listing:
        outer, self.instructions = self.instructions, []
        cotangents = [wrap(seed(output)) for output in call.outputs]
        values = tuple([Value.like(cotangent._array) for cotangent in cotangents])
        for cotangent, value in zip(cotangents, values, strict=True):
            self.know(cotangent._id, cotangent._array, value)
        try:
            gradients: list[Any] = [g if g is None else self.value_of(g) for g in call.backward_of(cotangents)]
            return Listing(values, (), self.instructions, tuple(gradients), ())
        finally:
            self.instructions = outer


def tensors_in(result: Any) -> list[Tensor]:
    """List the tensors among the results of an operation."""
    return [leaf for _, leaf in flatten(result, "result") if isinstance(leaf, Tensor)]
