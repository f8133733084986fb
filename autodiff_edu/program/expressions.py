"""Writes expressions of NumPy with the user's names: operations, their arguments, and the names of both."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections import Counter
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays.validate import read_only
from ..core.entry import Entry
from ..rules import operations
from ..text.formatting import SUBSCRIPTS, subscript
from ..text.functions import in_numpy
from ..text.labels import Labels
from .spelling import INDEXING, PREFIXES, SIGNS, Text, home_of, infix, literal, same

INLINE = 8
"""An array without a name and with at most this many elements is written where it is used."""
RESERVED = {"np", "values", "gradient", "__builtins__", *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}


class Computed(Protocol):
    """What can be written as an expression: an entry of a tape, or an instruction of a program."""

    operation: Any
    values: Any
    parameters: dict[str, Any]
    output_value: Any

    @property
    def name(self) -> str:
        """The operation's name."""


class Statement(NamedTuple):
    """A line of a program, and the remark at its end."""

    text: str
    remark: str = ""


def write_zeros(shape: tuple[int, ...], dtype: np.dtype) -> Text:
    """Write an array of zeros.

    >>> write_zeros((3,), np.dtype("float64")).text, write_zeros((2, 3), np.dtype("float32")).text
    ('np.zeros(3)', 'np.zeros((2, 3), np.float32)')
    """
    size = str(shape[0] if len(shape) == 1 else shape)
    return Text(f"np.zeros({size})" if dtype == np.float64 else f"np.zeros({size}, np.{dtype.name})")


class ExpressionWriter:
    """Writes expressions and the lines that give them names, and keeps track of the names.

    Attributes
    ----------
    lines : list of Statement
        The lines so far.
    values : dict
        The values that the program takes from its dictionary of that name, because they have no short text.
    imports : dict
        By module and name, the program's name for a function of this package.
    formulas : dict
        By the id of an entry's output and the position of an argument, the contribution as a tree; with None in place
        of the position, what the entry computes. Only if requested, with `with_formulas`.
    """

    def __init__(self, labels: Labels, with_formulas: bool = False) -> None:
        self.labels, self.with_formulas = labels, with_formulas
        self.formulas: dict[tuple[int, int | None], Any] = {}
        self.lines: list[Statement] = []
        self.values: dict[str, Any] = {}
        self.imports: dict[tuple[str, str], str] = {}
        self.defined: dict[str, int] = {}  # the line that gives a name its latest value
        self.shown: dict[str, str] = {}  # by a name of the program: what a reader sees in its place, `y₂` for `y_2`
        self._taken = set(RESERVED)
        self._repeated = Counter[str]()
        self.computed: dict[int, str] = {}  # the names of the results of entries, by id
        self._given: dict[Any, list[tuple[Any, str]]] = {}  # by id: the values that a tensor came with, and their names
        self._bars: dict[tuple[int, int], str] = {}  # by backward pass and id
        self.answers: dict[tuple[int, int], str] = {}
        self.in_symbols = False  # whether a formula is being written, which is one expression
        self._placed: tuple[str, Text, str] | None = None  # a part in two lines: its name, zeros, and what goes there

    # Names -----------------------------------------------------------------------------------------------------------

    def unique(self, label: str) -> str:
        """Turn a label into a valid Python name that is not taken: `y₂` becomes `y_2`, and `f[0]` becomes `f_0`."""
        shown, label = label, re.sub(r"\[['\"]?(\w+)['\"]?\]", r"_\1", label)
        plain = label.rstrip(SUBSCRIPTS)
        label = f"{plain}_{label[len(plain) :]}" if plain and plain != label else label
        label = "".join(c if f"_{c}".isidentifier() else "_" for c in unicodedata.normalize("NFKC", label))[:40]
        name = label = label if label.isidentifier() else f"_{label}"
        while name in self._taken:
            self._repeated[label] += 1
            name = f"{label}_{self._repeated[label] + 1}"
        self._taken.add(name)
        numbered = name != label and not self.labels.has(shown)
        self.shown[name] = f"{shown}{subscript(self._repeated[label] + 1)}" if numbered else shown
        return name

    def name(self, id: int | None, value: Any, otherwise: str = "c") -> str:
        """Return the name of a tensor, or of an array; one that was not computed here gets a line with its value."""
        if id in self.computed:
            return self.computed[id]
        label = self.labels[id] if id is not None and id in self.labels else otherwise
        earlier = self._given.setdefault(label if id is None else id, [])
        for known, name in earlier:
            if same(known, value):
                return name
        name = self.unique(label)
        self.assign(name, self.value(name, value), f"{label} later on" if earlier and id is not None else "")
        earlier.append((value, name))
        return name

    def latest(self, id: int) -> tuple[Any, str] | None:
        """Return a tensor's latest value, and its name if it has one."""
        earlier = self._given.get(id)
        return earlier[-1] if earlier else None

    def update(self, id: int, value: Any, expression: Text | None, remark: str, fresh: bool) -> int:
        """Write a variable's new value, under a fresh name if the old one is needed later; return the line."""
        earlier, text = self._given.setdefault(id, []), expression or literal(value)
        name = self.unique(self.labels[id]) if fresh or not earlier or text is None else earlier[-1][1]
        self.assign(name, text or self.value(name, value))
        if remark:
            self.lines[-1] = Statement(f"{self.lines[-1].text}  # {remark}")
        earlier[:] = [pair for pair in earlier if pair[1] != name] + [(value, name)]
        return len(self.lines) - 1

    def part(self, text: Text, label: str = "part") -> str:
        """Write a line for a part of an expression; return its name."""
        name = self.unique(label)
        self.assign(name, text)
        return name

    def bar(self, number: int, id: int) -> str | None:
        """Return the name of a tensor's cotangent in a backward pass, if it has one."""
        return self._bars.get((number, id))

    def assign(self, name: str, expression: Text, remark: str = "") -> None:
        """Write a line that gives a name its value, or give the name to the part that the last two lines compute."""
        part, zeros, placed = self._placed or ("", expression, "")
        self._placed = None
        if expression.text == part and not re.search(rf"\b{name}\b", placed.format(name="")):
            del self.lines[-2:]
            self._taken.discard(part)
            self.lines.append(Statement(f"{name} = {zeros.text}"))
            self.defined[name] = len(self.lines)
            self.lines.append(Statement(placed.format(name=name), remark))
            return
        self.defined[name] = len(self.lines)
        self.lines.append(Statement(f"{name} = {expression.text}", remark))

    # Values and operations -------------------------------------------------------------------------------------------

    def value(self, name: str, value: Any) -> Text:
        """Write a value, or a reference to it."""
        text = literal(value)
        if text is None:
            self.values[name] = read_only(value)
        return text or Text(f'values["{name}"]')

    def operand(self, id: int | None, value: Any, name: str | None = None, index: bool = False) -> Text:
        """Write an argument of an operation: by name, or as a value."""
        if id is None and not (name and isinstance(value, np.ndarray)):
            text = literal(value, index)
            if text is not None and (index or np.size(value) <= INLINE):
                return text
        return Text(self.name(id, value, name or "c"))

    def operands(self, entry: Entry) -> list[Text]:
        """Write the arguments of one of the user's entries."""
        written = self.labels.of_arguments(entry)
        indexes = entry.name in INDEXING
        return [
            self.operand(id, value, None if indexes else name, index=indexes and k == 1)
            for k, (id, value, name) in enumerate(zip(entry.ids, entry.values, written, strict=True))
        ]

    def expression(self, entry: Computed, parts: list[Text]) -> Text:
        """Write an operation on its arguments."""
        operation, name, first = entry.operation, entry.name, parts[0]
        if name in SIGNS and isinstance(operation, np.ufunc) and not entry.parameters:
            return self._infix(entry, SIGNS[name], *parts)
        if name in PREFIXES and isinstance(operation, np.ufunc):
            return Text(PREFIXES[name] + first.within(8), 8)
        if operation in (operations.alias, operations.stop_gradient):
            return first
        if operation in (operations.cast, operations.round_off):
            return Text(f"{first.within(10)}.astype({parts[1].text})")
        if name == "getitem":
            return Text(f"{first.within(10)}[{parts[1].text}]")
        if operation is np.swapaxes and set(entry.values[1:]) == {-1, -2} and entry.output_value.ndim == 2:
            return Text(f"{first.within(10)}.T")
        if operation is operations.gather and self._is_plain(entry, entry.values[0]):
            return Text(f"{first.within(10)}[{self._within(entry, entry.values[0], parts[1])}]")
        if operation is operations.scatter and not self.in_symbols and self._is_plain(entry, entry.output_value):
            return self._place(entry, parts)
        texts = [part.text for part in parts]
        if name in INDEXING:
            texts[1] = self._index(entry.values[1], parts[1])
        if operation in (operations.concatenate, operations.stack):
            texts = [f"[{', '.join(texts)}]"]
        texts += [f"{key}={self._parameter(key, value).text}" for key, value in self._list_keywords(entry)]
        return Text(f"{self._function(operation)}({', '.join(texts)})")

    def _is_plain(self, entry: Computed, whole: Any) -> bool:
        """Return whether NumPy's brackets do it: with a stack in front, arrays in a tuple may mix up the axes."""
        _, index, shape = entry.values
        return np.ndim(whole) == len(shape) or operations.is_basic(index) or not isinstance(index, tuple)

    def _within(self, entry: Computed, whole: Any, index: Text) -> str:
        """Write an index between brackets, with what takes all of a stack in front."""
        return ", ".join([*[":"] * (np.ndim(whole) - len(entry.values[2])), index.text])

    def _place(self, entry: Computed, parts: list[Text]) -> Text:
        """Write lines that put elements in their places among zeros; those sharing a place are added."""
        index, array = entry.values[1], entry.output_value
        once = operations.is_basic(index) or (isinstance(index, np.ndarray) and index.dtype == bool)
        within = self._within(entry, array, parts[1])
        whole = self._index(index, parts[1]) if within == parts[1].text else f"np.s_[{within}]"
        zeros = write_zeros(array.shape, array.dtype)
        placed = f"[{within}] = {parts[0].text}" if once else f", {whole}, {parts[0].text})"
        placed = f"{'' if once else 'np.add.at('}{{name}}{placed.replace('{', '{{').replace('}', '}}')}"
        part = self.part(zeros)
        self.lines.append(Statement(placed.format(name=part)))
        self._placed = part, zeros, placed
        return Text(part)

    def _infix(self, entry: Computed, sign: str, left: Text, right: Text) -> Text:
        if right.text == "1" and sign in ("*", "**") and entry.values[0].dtype == entry.output_value.dtype:
            return left
        return infix(sign, left, right)

    def _list_keywords(self, entry: Computed) -> list[tuple[str, Any]]:
        """List the keyword arguments that a reader needs: a sum over all axes does not have to name them."""
        parameters = dict(entry.parameters)
        axis = parameters.get("axis")
        if axis is None and in_numpy(entry.operation) and entry.operation not in (np.argsort, np.argpartition):
            parameters.pop("axis", None)
        if entry.operation is np.sum and isinstance(axis, tuple):
            if len(axis) == np.ndim(entry.values[0]) and not parameters.get("keepdims"):
                del parameters["axis"]
            elif len(axis) == 1:
                parameters["axis"] = axis[0]
        return list(parameters.items())

    def _index(self, value: Any, written: Text) -> str:
        """Write an index for use outside brackets."""
        alike = literal(value)
        alone = alike is None or isinstance(value, int | np.integer | np.ndarray)
        return (alike or written).text if alone else f"np.s_[{written.text}]"

    def _parameter(self, key: str, value: Any) -> Text:
        return literal(value) or Text(self.name(None, value, key))

    def _function(self, operation: Any) -> str:
        name = {operations.clip: "np.clip", operations.concatenate: "np.concatenate", operations.stack: "np.stack"}
        found = name.get(operation) or in_numpy(operation)
        if found is not None:
            return found
        home = home_of(operation)
        if home is not None and self.in_symbols:
            return home[1]
        if home is None:  # a ufunc from SciPy, for example
            return self.name(None, operation, operation.__name__)
        if home not in self.imports:
            self.imports[home] = self.unique(home[1])
        return self.imports[home]
