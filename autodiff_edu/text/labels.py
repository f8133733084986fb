"""Names for the tensors and entries of a tape, from the reader's own code: `x * y` in place of ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from types import CodeType
from typing import Any

import numpy as np

from .formatting import is_array, short_argument, short_index, spell_out, spoken_value, subscript
from .frames import Where
from .places import EXCHANGED, NO_NAMES, Names, find_first_name, list_second_names, name_in_with, names
from .shared import operators

SPOKEN = {
    "sin": "sine",
    "cos": "cosine",
    "exp": "exponential",
    "log": "logarithm",
    "sqrt": "square root",
    "square": "square",
    "absolute": "absolute value",
    "sign": "sign",
    "sum": "sum",
    "prod": "product",
    "mean": "mean",
    "max": "maximum",
    "min": "minimum",
    "var": "variance",
    "std": "standard deviation",
    "norm": "norm",
    "transpose": "transpose",
}
"""Operations on one tensor that have a noun; any other is written as it is in code. (The tangent is something else.)"""


COMPARES = 5
"""The level of precedence up to which an operator is a comparison or a logical one: those are written by their sign."""


CASTS = ("cast", "round_off")
"""Operations that the user's code writes as astype."""


MANY = 12
"""With more arguments than this (in np.stack, for example), a table line names only the first ones and the last."""


LETTERS = {"t": "tvuwq", "s": "srqp", "x": "xzuw"}
"""What the names begin with that are made up for results, for results on no tape, and for what is watched. The first
letter is taken that begins no such name of the reader's."""


LONGEST = 20
"""The longest text of numbers in the code that is shown for the numbers of a released entry."""


def _read_names(entry: Any) -> Names:
    """Read the names around an expression, in the order of its entry's arguments."""
    written = names(entry.where)
    return written.exchange_sides() if is_exchanged(entry) else written


def is_exchanged(entry: Any) -> bool:
    """Return whether Python exchanged the sides of a comparison: for `1 > x`, it computes `x < 1`."""
    operator = operators().get(_known(entry))
    if operator is None or operator.sign not in EXCHANGED:  # before its line is read
        return False
    return operator.sign == EXCHANGED.get(names(entry.where).sign)


def names_of_arguments(entry: Any) -> tuple[str | None, ...]:
    """List the names in the user's code for each argument of an entry, where its line has any."""
    return _of_arguments(entry, _read_names(entry).arguments)


def _of_arguments(entry: Any, listed: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Choose the code's name for each argument of an entry from its names for the arguments of the call."""
    arguments = listed if _computes(names(entry.where).function, entry) else ()
    if hasattr(entry.operation, "names"):  # a custom gradient knows which argument was which
        arguments = entry.operation.names(arguments)
    elif entry.name.rpartition(".")[0]:  # in Square.apply(x), the class is not an argument
        arguments = arguments[1:]
    elif isinstance(entry.operation, np.ufunc):
        arguments = arguments[-entry.operation.nin :]  # in special.erf(x), the module is not an argument
    return (arguments + (None,) * len(entry.ids))[: len(entry.ids)]


class Labels:
    """Names every tensor, no two of them the same.

    A name given by the user comes first, then the one in the user's code, then a made-up one: `x1` for a watched
    tensor, `t3` for the third entry's output, or `v3` if the user has names such as `t2`. A repeated name gets a
    number: `y`, `y₂`, `y₃`.

    Parameters
    ----------
    with_aliases : bool
        Whether an entry of a line that uses y after `y = x` also shows y, unless y names another tensor.
    assigned : dict of int to str
        By the id of a tensor, a name that the user's code assigned it to, where that is known from elsewhere.
    taken : iterable of str
        Names in the user's code.
    """

    def __init__(
        self, with_aliases: bool = False, assigned: dict[int, str] | None = None, taken: Iterable[str] = ()
    ) -> None:
        known = set(taken)
        numbered = {name[0] for name in known if re.fullmatch(r"[a-z]\d+", name)}
        self._letters = {}
        for kind, letters in LETTERS.items():
            free = [each for each in letters if each not in numbered]
            clear = [each for each in free if each == kind or each not in known]  # our v3 looks like a third v
            self._letters[kind] = [*clear, *free, kind][0]
        self._with_aliases, self._assigned = with_aliases, assigned or {}
        self._aliases: set[tuple[int, str]] = set()
        self._names: dict[int, str] = {}
        self.unnamed: set[int] = set()  # the ids of those whose name is made up
        self._uses: dict[str, int] = {}
        self._watched = 0
        self._written: dict[int, tuple[Any, tuple[str | None, ...]]] = {}  # by the id of an entry's line

    def __getitem__(self, id: int) -> str:
        return self._names[id]

    def __contains__(self, id: int) -> bool:
        return id in self._names

    def has(self, name: str) -> bool:
        """Return whether a tensor has this name."""
        return name in self._uses

    def give(self, id: int, name: str | None, otherwise: str = "") -> None:
        """Name a tensor that has no name yet; without one in the code it is called `otherwise`."""
        if id not in self._names:
            if not name:
                self.unnamed.add(id)
            on_one_line = str(name or otherwise).replace("\n", " ")
            name = spell_out(on_one_line[:80]) or "unnamed"
            unique = name
            while unique in self._uses:
                self._uses[name] += 1
                unique = f"{name}{subscript(self._uses[name])}"
            self._uses[unique] = 1
            self._names[id] = unique

    def invent(self, letter: str, number: int) -> str:
        """Return a name such as `t3` that is not one of the user's."""
        return f"{self._letters[letter]}{number}"

    def of_arguments(self, entry: Any) -> tuple[str | None, ...]:
        """Return the result of `names_of_arguments`, cached: it is needed at every step of an entry."""
        known = self._written.get(id(entry.line))
        if known is None:
            known = self._written[id(entry.line)] = entry.line, names_of_arguments(entry)
        return known[1]

    def watched(self, id: int, tensor: Any, where: Where | None) -> None:
        """Name a tensor that a tape watches, perhaps after the `x` of `tape.watch(x)`."""
        if id in self._names:
            return
        written = NO_NAMES if where is None else names(where)
        name = tensor.name if tensor is not None else None
        name = self._assigned.get(id) if name is None else name
        if name is None and written.function == "watch" and len(written.arguments) == 2:
            name = written.arguments[1]
        if name is not None:
            self.give(id, name)

    def entry(self, entry: Any, otherwise: str) -> None:
        """Name the arguments and the output of an entry; `otherwise` is for an output without a name in the code."""
        written = _read_names(entry)
        direct = _computes(written.function, entry) or entry.name == written.last
        paths = _of_arguments(entry, written.paths) if self._with_aliases else (None,) * len(entry.ids)
        for id, name, path in zip(entry.ids, self.of_arguments(entry), paths, strict=True):
            if id is not None and id not in self._names:
                if written.last and name is None:  # what came from outside is an argument of the call
                    known = [argument for argument in written.arguments if argument]
                    name = known[0] if len(known) == 1 else None
                name = self._assigned.get(id) or (name and find_first_name(entry.where, name))
                name = name or path
                self._watched += name is None
                self.give(id, name, self.invent("x", self._watched))
        if self._with_aliases:
            self._rename(entry)
        result = written.result if direct else None
        self.give(entry.output_id, result or self._assigned.get(entry.output_id), otherwise)

    def _rename(self, entry: Any) -> None:
        """Note the second names that the line of an entry uses for its arguments."""
        for id, name in zip(entry.ids, self.of_arguments(entry), strict=True):
            if id is not None and name and name not in self._uses and name in list_second_names(entry.where):
                self._uses[name] = 1
                self._aliases.add((id, name))

    def aliases(self, entry: Any) -> list[str | None]:
        """List the second names that the line of an entry has for its arguments; None for those without one."""
        if not self._aliases:
            return [None] * len(entry.ids)
        written = self.of_arguments(entry)
        return [name if (id, name) in self._aliases else None for id, name in zip(entry.ids, written, strict=True)]

    def text(self, entry: Any) -> str:
        """Write an entry as the expression it computes, with the names of its arguments: `x * y`."""
        parts = _few(self.arguments(entry))
        known = _known(entry)
        operator = operators().get(known)
        if operator and len(parts) == 2:
            left, right = self.operands(entry)
            if is_exchanged(entry):
                return f"{right} {EXCHANGED[operator.sign]} {left}"
            return f"{left} {operator.sign} {right}"
        if known == "alias":
            return parts[0]
        if entry.name.startswith("."):  # an attribute
            return f"{parts[0]}{entry.name}"
        if entry.name.endswith("]"):  # one of the results of a function
            return str(entry.name)
        if known == "negative":
            return f"-{parts[0]}"
        if known == "getitem":
            return f"{parts[0]}[{parts[1]}]"
        if known in CASTS:
            return f"{parts[0]}.astype({parts[1]})"
        words = [f"{key}={short_argument(value)}" for key, value in entry.parameters.items()]
        result = getattr(entry.operation, "result", None)  # the number of one of several results
        return f"{entry.name}({', '.join([*parts, *words])}){'' if result is None else f'[{result}]'}"

    def aloud(self, entry: Any) -> str:
        """Write an entry in words: "x times y"."""
        parts, known = self.arguments(entry), _known(entry)
        operator = operators().get(known)
        if operator and len(parts) == 2:
            parts = self.operands(entry)
            written = [
                spoken_value(v) if is_array(v) and v.ndim and part == short_argument(v) else part
                for part, v in zip(parts, entry.values or parts, strict=True)
            ]
            return f"{written[0]} {operator.aloud} {written[1]}" if operator.level > COMPARES else self.text(entry)
        if known not in SPOKEN or len(parts) != 1 or not entry.parameters.keys() <= {"axis"}:
            return self.text(entry)
        return f"the {SPOKEN[known]} of {parts[0]}{_along(entry.parameters.get('axis'))}"

    def operands(self, entry: Any) -> list[str]:
        """Write the arguments of an entry, beside an operator with brackets around a comparison: `x * (mask == 1)`."""
        if _known(entry) not in operators():
            return self.arguments(entry)
        written = _read_names(entry)
        compared = [text for text, known in zip(written.texts, written.literal, strict=True) if text and not known]
        parts = zip(entry.ids, self.arguments(entry), strict=True)
        return [f"({part})" if id is None and part in compared else part for id, part in parts]

    def arguments(self, entry: Any) -> list[str]:
        """Write the arguments of an entry: tensors by name, the rest as it is shown."""
        values = entry.values or ("…",) * len(entry.ids)
        texts = _of_arguments(entry, _read_names(entry).texts)
        write = short_index if entry.name == "getitem" else short_argument
        written = self.of_arguments(entry)
        parts = [
            (alias or self._names[id]) if id is not None else name if name and is_array(v) else write(v)
            for id, v, name, alias in zip(entry.ids, values, written, self.aliases(entry), strict=True)
        ]
        for k, text in enumerate(texts):  # arrays that were released, or not kept, and masks are best told by the code
            if entry.ids[k] is None and entry.name != "getitem" and (entry.values is None or is_mask(values[k])):
                parts[k] = written[k] or (text if text and len(text) <= LONGEST else parts[k])
        return parts


def names_in(codes: Iterable[CodeType]) -> set[str]:
    """Return all names that some code uses, for whatever."""
    parts = (name for code in codes for name in (code.co_varnames, code.co_names, code.co_cellvars, code.co_freevars))
    return set().union(*parts)


def _computes(function: str | None, entry: Any) -> bool:
    """Return whether a call of this name, or an operator, computes an entry itself, in one operation."""
    if getattr(entry.operation, "is_part", False):  # another framework's, for one expression among several
        return False
    if function in (None, entry.name) or entry.name.endswith(f".{function}"):
        return True
    return function == "astype" and _known(entry) in CASTS


def is_mask(value: Any) -> bool:
    """Return whether a value is an array of truth values."""
    return is_array(value) and value.ndim > 0 and value.dtype.kind == "b"


def _known(entry: Any) -> str:
    """Return the name of an operation that we know; empty for a user's own function, whatever it is called."""
    return "" if hasattr(entry.operation, "names") else str(entry.name)


def _along(axis: Any) -> str:
    if axis is None:
        return ""
    axes = axis if isinstance(axis, tuple) else (axis,)
    return f" along {'axis' if len(axes) == 1 else 'axes'} {' and '.join(map(str, axes))}"


def _few(parts: list[str]) -> list[str]:
    return parts if len(parts) <= MANY else [*parts[: MANY - 2], "…", parts[-1]]


def labels_of(tape: Any) -> Labels:
    """Name everything on a tape."""
    labels = Labels(taken=names_in({entry.where[0] for entry in tape.entries}))
    for id, (tensor, where) in tape.watched.items():
        labels.watched(id, tensor, where)
    for number, entry in enumerate(tape.entries, 1):
        labels.entry(entry, labels.invent("t", number))
    return labels


def _name_of_tape(tape: Any) -> tuple[str | None, tuple[str, str]]:
    """Return the name of a tape, and what stands around its number where other tapes share that name."""
    if function := getattr(tape, "function", None):
        return f"the rerun of {function}", ("rerun ", f" of {function}")
    entered = next((where for _, what, where in tape.life if what == "enter"), None)
    name = getattr(tape, "name", None) or (entered and name_in_with(entered))
    is_like_tensor = name and (name[-1].isdigit() or len(name) == 1)  # "t1 1" is not a name, and "t 1" reads like t1
    return name, (f"{name} (", ")") if is_like_tensor else (f"{name or 'tape'} ", "")


def names_of_tapes(tapes: list[Any]) -> list[str]:
    """Name every tape after the `with` line that first opened it; number the others, and those that share a name.

    The tape on which a checkpointed function runs again is named after that function.
    """
    called = [_name_of_tape(tape) for tape in tapes]
    counts, numbers, found = Counter(name for name, _ in called), Counter[tuple[str, str]](), list[str]()
    for name, around in called:
        label = name if name is not None and counts[name] == 1 else None
        while label is None or label in found or (label in counts and label != name):
            numbers[around] += 1
            label = str(numbers[around]).join(around)
        found.append(label)
    return found
