"""What is asked of the document of a run to compare it with another, of this framework or another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np

ROUNDINGS = 64
"""Numbers agree if they differ by at most so many eps, relative to the largest number in their arrays."""
SIX_DIGITS = 1e-5 / ROUNDINGS
"""The eps of numbers with six digits, as a document has them that was read from a file."""
FORWARD = ("record", "cut", "skip")
COMPARED = {
    **dict.fromkeys(FORWARD, ("", "{}")),
    **dict.fromkeys(("seed", "pull back"), ("cotangent", "the cotangent of {}")),
    "accumulate": ("contribution", "the contribution to {}"),
    "outcome": ("gradient", "the gradient with respect to {}"),
    "assign": ("value", "the new value of {}"),
    **dict.fromkeys(("move", "push forward"), ("tangent", "the tangent of {}")),
}
"""By the kind of a step: which of its arrays is compared ("" for the result of its entry), and what that is called."""
NAMES = {
    "mul": "multiply",
    "sub": "subtract",
    "neg": "negative",
    "abs": "absolute",
    "select_n": "where",
    "detach": "stop_gradient",
    **dict.fromkeys(("div", "truediv", "true_divide"), "divide"),
    **dict.fromkeys(("pow", "integer_pow"), "power"),
    **dict.fromkeys(("mm", "mv", "bmm", "dot_general"), "matmul"),
}
"""What NumPy and this package call the operations of other frameworks."""
STRETCHES = {"broadcast_to", "broadcast_in_dim"}
"""Operations that stretch an array, or only add axes of length 1 to it."""


def name_operation(name: str) -> str:
    """Return NumPy's name for an operation of any framework.

    >>> name_operation("torch.mul"), name_operation("reduce_sum"), name_operation("add_")
    ('multiply', 'sum', 'add')
    """
    name = name.rpartition(".")[2].strip("_").removeprefix("reduce_")
    return NAMES.get(name, name)


def eps_of(dtype: str) -> float:
    """Return the eps of a dtype by its name; 0 for integers and truth values.

    >>> eps_of("float32"), eps_of("int64")
    (1.1920928955078125e-07, 0.0)
    """
    if dtype == "bfloat16":  # which NumPy does not know
        return 2.0**-7
    return float(np.finfo(dtype).eps) if dtype.startswith(("float", "complex")) else 0.0


def size_of(*arrays: Any) -> float:
    """Return the size of the largest finite number in some arrays; 0 if there is none."""
    sizes = [np.abs(array[np.isfinite(array)]).max(initial=0) for array in arrays if array is not None]
    return float(max(sizes, default=0.0))


def measure(one: Any, other: Any) -> Any:
    """Return by how much two arrays of one shape differ, element by element.

    >>> measure(np.array([1.0, np.nan, np.inf]), np.array([1.5, np.nan, 0.0]))
    array([0.5, 0. , inf])
    """
    one, other = (each.astype(np.result_type(each, float)) for each in (one, other))
    with np.errstate(all="ignore"):
        off = np.abs(one - other)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))


def agree(one: tuple[Any, float], other: tuple[Any, float], *given: tuple[Any, float]) -> bool:
    """Return whether two arrays, each with its eps, agree after rounding, given what they are computed from."""
    (a, _), (b, _) = one, other
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return False
    arrays, eps = zip(one, other, *given, strict=True)
    return bool(np.all(measure(a, b) <= ROUNDINGS * max(eps) * size_of(*arrays)))


class TracedRun:
    """The document of a run, and what is asked of it to compare it.

    Parameters
    ----------
    document : dict
        A trace document.
    arrays : dict
        What `keep_arrays` kept of it. Without them, the six digits in the document have to do.
    """

    def __init__(self, document: dict[str, Any], arrays: dict[int, tuple[Any, Any]]) -> None:
        self.document, self.arrays = document, arrays
        self.steps, self.tensors, entries = document["steps"], document["tensors"], document["entries"]
        self.operations = [name_operation(entry["operation"]) for entry in entries]
        self.inputs, self.outputs = [entry["inputs"] for entry in entries], [entry["output"] for entry in entries]
        self.users: dict[int, set[int]] = defaultdict(set)  # by a tensor: the entries that it is an input of
        for entry, inputs in enumerate(self.inputs):
            for tensor in inputs:
                self.users[tensor].add(entry)
        self.origins: dict[int, int] = {}  # by a tensor that is only another name, or a copy, of one: that one
        self.common: dict[int, int] = {}  # by a tensor that both runs have: its number in the first
        self.ran: dict[int, int] = {}  # by an entry: the step at which it ran
        for number, step in enumerate(self.steps):
            if step["kind"] in FORWARD and self.operations[step["entry"]] != "=":
                self.ran.setdefault(step["entry"], number)
            elif step["kind"] in FORWARD:
                self.origins[self.outputs[step["entry"]]] = self.inputs[step["entry"]][0]
        for entry in [one for one in self.ran if self.operations[one] in STRETCHES and self.is_part(one)]:
            if self.is_copy(entry):  # JAX writes what NumPy leaves unwritten
                del self.ran[entry]
                output, source = self.outputs[entry], self.origins[self.outputs[entry]]
                self.users[source] = self.users[source] - {entry} | self.users[output]

    def array(self, described: dict[str, Any] | None) -> tuple[Any, float]:
        """Return an array, or None where it is not known, and the eps of its numbers."""
        if described is None or described["data"] is None:
            return None, 0.0
        dtype = described["dtype"]
        if id(described) in self.arrays:
            return np.asarray(self.arrays[id(described)][1]), eps_of(dtype)
        eps = max(eps_of(dtype), SIX_DIGITS) if eps_of(dtype) else 0.0
        return np.array(described["data"], dtype=object).astype(dtype.replace("bfloat16", "float32")), eps

    def result(self, tensor: int) -> tuple[Any, float]:
        """Return the array of a tensor, or None where it is not known, and the eps of its numbers."""
        return self.array(self.tensors[tensor]["value"])

    def value(self, tensor: int) -> Any:
        """Return the array of a tensor, or None where it is not known."""
        return self.result(tensor)[0]

    def shape(self, entry: int) -> tuple[int, ...]:
        """Return the shape of the result of an entry."""
        return tuple(self.tensors[self.outputs[entry]]["value"]["shape"])

    def origin(self, tensor: int) -> int:
        """Return the tensor that one is only another name, or a copy, of."""
        while tensor in self.origins:
            tensor = self.origins[tensor]
        return tensor

    def line(self, step: int, whole: bool = True) -> str:
        """Return the line of code at which a step happened, or only the expression; "" where that is not known."""
        where = self.steps[step]["where"]
        if where is None or not (whole or where["columns"]):
            return ""
        code = self.document["code"][where["code"]]
        text = str(code["lines"][where["line"] - code["first_line"]])
        return text.strip() if whole else text[slice(*where["columns"])]

    def is_part(self, entry: int) -> bool:
        """Return whether an operation is only a part of the expression at its place: others are computed there next."""
        place = self.steps[self.ran[entry]]["where"]
        if place is None or place["columns"] is None:
            return False  # several expressions begin on this line
        later = (one for one in range(entry + 1, len(self.operations)) if one in self.ran)
        there = takewhile(lambda one: self.steps[self.ran[one]]["where"] == place, later)
        return any(self.operations[one] != self.operations[entry] for one in there)

    def expression(self, entry: int) -> str:
        """Return the code of an operation, or of a part of an expression what it computes."""
        written = "" if self.is_part(entry) else self.line(self.ran[entry], whole=False)
        return written or str(self.document["entries"][entry]["text"])

    def own_tensor(self, step: dict[str, Any]) -> int:
        """Return the tensor that a step names, or else the result of its entry."""
        return int(step["tensor"] if "tensor" in step else self.outputs[step["entry"]])

    def subject(self, step: dict[str, Any]) -> int:
        """Return the tensor that a step is about."""
        return self.origin(self.own_tensor(step))

    def describe(self, step: dict[str, Any]) -> dict[str, Any] | None:
        """Return the description of the array of a step that is compared."""
        name = COMPARED[step["kind"]][0]
        found: dict[str, Any] | None = step[name] if name else self.tensors[self.outputs[step["entry"]]]["value"]
        return found

    def read(self, step: dict[str, Any]) -> tuple[Any, float]:
        """Return the array of a step that is compared, or None, and the eps of its numbers."""
        array, eps = self.array(self.describe(step))
        original = self.value(self.subject(step)) if self.own_tensor(step) in self.origins else None
        if array is not None and original is not None and array.size == original.size:
            array = array.reshape(original.shape)  # a copy may have another shape
        return array, eps

    def list_seeds(self, until: int | None) -> list[list[int]]:
        """List the seeds of each backward pass, up to a step that is counted from 1."""
        found: dict[int, list[int]] = defaultdict(list)
        for number, step in enumerate(self.steps[:until]):
            if step["kind"] == "seed":
                found[step["pass"]].append(number)
        return list(found.values())

    def find_step(self, tensor: int, otherwise: int) -> int:
        """Return the step at which a tensor was computed, or another if it was not."""
        return next((at for entry, at in self.ran.items() if self.outputs[entry] == tensor), otherwise)

    def index(self, step: dict[str, Any], place: Sequence[Any]) -> list[int]:
        """Return the index of an element that is compared; of a sample, the index in the whole array."""
        every = [] if self.arrays else (self.describe(step) or {}).get("every", [])
        return [int(k * stride) for k, stride in zip(place, every or [1] * len(place), strict=True)]

    @cached_property
    def arrived(self) -> dict[int, float]:
        """By an entry, the size of the largest number in the cotangent that arrived last."""
        steps = [step for step in self.steps if step["kind"] == "pull back"]
        return {step["entry"]: size_of(self.array(step["cotangent"])[0]) for step in steps}

    @cached_property
    def ends(self) -> set[int]:
        """The tensors that are differentiated."""
        found = {step["tensor"] for step in self.steps if step["kind"] == "seed"}
        return found.union(*(step["targets"] for step in self.steps if step["kind"] == "outcome"))

    @cached_property
    def needed(self) -> set[int]:
        """The tensors from which those are computed; all, if nothing is differentiated."""
        found = set(self.ends)
        for inputs, output in zip(reversed(self.inputs), reversed(self.outputs), strict=True):
            found.update(inputs if output in found else ())
        return found or set(range(len(self.tensors)))

    def is_copy(self, entry: int) -> bool:
        """Return whether a recorded operation changes no number; its result becomes what it copies."""
        output, value = self.outputs[entry], self.value(self.outputs[entry])
        if value is None or self.steps[self.ran[entry]]["kind"] != "record":
            return False
        for tensor in self.inputs[entry]:
            source = self.value(tensor)
            if source is not None and source.dtype == value.dtype and np.array_equal(source.ravel(), value.ravel()):
                self.origins[output] = tensor
                return True
        return False

    def is_idle(self, entry: int) -> bool:
        """Return whether an operation that only this run has changes nothing."""
        skipped = self.steps[self.ran[entry]]["kind"] == "skip"
        return skipped or self.outputs[entry] not in self.needed or self.is_copy(entry)

    def find_ends(self, entries: Sequence[int]) -> list[int]:
        """Return the results of some entries that others need, or that are differentiated."""
        inside, found = set(entries), []
        for output in (self.outputs[entry] for entry in entries):
            if output in self.needed and (output in self.ends or not self.users[output] <= inside):
                found.append(output)
        return found

    def result_at(self, step: int) -> int:
        """Return the result of the entry that a step is about."""
        return int(self.outputs[self.steps[step]["entry"]])

    def find_doubtful(self, paired: set[int]) -> set[int]:
        """Return the tensors from which entries that are not paired compute what is needed."""
        found: set[int] = set()
        for entry in reversed(self.ran):
            output = self.outputs[entry]
            if output in self.needed and (entry not in paired or output in found):
                found.update(map(self.origin, self.inputs[entry]))
        return found

    def find_hidden(self, entries: Sequence[int]) -> tuple[int, set[str]]:
        """Return what the results of some entries may not show: how many cut on purpose, and the dtypes on the way."""
        cuts = sum(self.operations[entry] == "stop_gradient" and not self.is_part(entry) for entry in entries)
        dtypes = (self.tensors[self.outputs[entry]]["value"]["dtype"] for entry in entries)
        return cuts, {dtype for dtype in dtypes if eps_of(dtype)}
