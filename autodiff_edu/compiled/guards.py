"""The recorder of compiled functions. It adds guards: what Python asks of a tensor, the program asks again."""

from __future__ import annotations

from collections.abc import Iterable
from operator import getitem
from typing import Any

import numpy as np

from ..arrays.provenance import note_answer, unmark
from ..core.entry import Entry
from ..core.events import Read
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..program.instructions import Instruction, Value
from ..program.recording import Recorder
from ..rules import operations
from ..rules.linalg import eig, eigvals
from ..text.frames import here
from ..text.places import place

ASKED = {"bool()": "bool", "int()": "int", "index()": "int"}
"""What may be asked of a tensor while it is recorded: the program asks again, and compares the answers."""

MAY_BE_COMPLEX = (eig, eigvals)
"""The operations whose results for real numbers may be complex; the rest of a path depends on it."""

NOTHING = (operations.alias, operations.stop_gradient)
"""The operations that compute nothing."""

_COUNTS = "How many it finds depends on the numbers. Use np.where(mask, x, 0), which keeps the shape"
INSTEAD = {
    **dict.fromkeys(("nonzero", "flatnonzero", "argwhere", "unique"), _COUNTS),
    "numpy()": "Use the tensor itself: operators and NumPy functions accept it",
    "float()": "Leave float() out: a tensor of one element works like a number",
    "complex()": "Leave complex() out: a tensor of one element works like a number",
    "item()": "Leave .item() out: a tensor of one element works like a number",
    "np.asarray": "A tensor is an array already, np.stack joins several, and a count is written int(k)",
    "tolist()": "Use the tensor itself: x[0], len(x) and loops work as they do with a list",
}


class LeavingError(TypeError):
    """Raised where plain numbers are taken out of a tensor while its program is being recorded."""


class GuardedRecorder(Recorder):
    """Records a path through a function, with guards where another path begins."""

    compiles = True

    def __init__(self, tensors: list[Tensor], marked: Iterable[Variable] | None = None) -> None:
        super().__init__(tensors, {Read: self._leave}, marked)

    def result_of(self, entry: Entry, values: list[Any]) -> Value:
        """Append an operation, unless it computes nothing; return its result."""
        first = values[0]
        if entry.operation in NOTHING and type(first) is Value:
            return first
        if entry.operation is getitem:
            self._count(values[1], entry)
        value = super().result_of(entry, values)
        if entry.operation in MAY_BE_COMPLEX and entry.values[0].dtype.kind != "c" and value.array is None:
            answer = np.iscomplexobj(entry.output_value)
            asked = self.write(np.iscomplexobj, [value], {}, np.bool_(answer), entry.where)
            self.instructions.append(Instruction.guard("bool", asked, answer, entry.where))
        return value

    def _leave(self, event: Read) -> None:
        """Record what Python asks of a tensor, so that the program asks it too; taking numbers out is an error."""
        tensor, how = event
        if how == "format()":
            return
        value = self.value_of(tensor)
        if value.array is not None:
            return
        if how in ASKED:
            note_answer(tensor._array, ASKED[how])
            answer = bool(tensor._array) if how == "bool()" else int(tensor._array)
            self.instructions.append(Instruction.guard(ASKED[how], value, answer, here()))
            return
        self.failure = LeavingError(
            f"{place(here())}: {how} takes the plain numbers out of a tensor here, and a compiled program would "
            f"keep those of the first call. {INSTEAD.get(how, 'Use NumPy functions that have a rule')}; or do this "
            "part outside the compiled function, and pass the result as an argument"
        )
        raise self.failure

    def _count(self, index: Any, entry: Entry) -> None:
        """Guard how many elements a mask selects, because later shapes depend on it."""
        arrays = unmark(entry.values[1] if isinstance(entry.values[1], tuple) else (entry.values[1],))
        for mask, array in zip(index if isinstance(index, tuple) else (index,), arrays, strict=True):
            if type(mask) is Value and mask.dtype == bool and mask.array is None:
                taken = int(np.count_nonzero(array))
                count = self.write(np.count_nonzero, [mask], {}, np.int64(taken), entry.where)
                self.instructions.append(Instruction.guard("int", count, taken, entry.where))
