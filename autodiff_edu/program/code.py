"""A tape as a program: its forward and its backward pass in plain NumPy, to read, to run and to compare.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable([1.0, 2.0], name="x")
>>> with ad.GradientTape() as tape:
...     y = np.sum(np.sin(x) * 3.0)
>>> print(code(tape, y, x))
import numpy as np
<BLANKLINE>
# forward
x = np.array([1.0, 2.0])
t1 = np.sin(x)  # doctest, line 2
t2 = t1 * 3.0   # doctest, line 2
y = np.sum(t2)  # doctest, line 2
<BLANKLINE>
# backward: x_bar is the derivative of y with respect to x, and so on
y_bar = np.float64(1.0)
t2_bar = np.broadcast_to(y_bar, (2,))  # sum
t1_bar = t2_bar * 3.0                  # multiply
x_bar = t1_bar * np.cos(x)             # sin
gradient = x_bar
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ..core.active import only
from ..core.entry import Entry
from ..core.reach import behind
from ..core.tensor import Tensor
from ..derivatives.requests import seeds_of, tensors_of
from ..derivatives.steps import steps
from ..text.labels import labels_of
from .expressions import Statement
from .writing import TapeWriter

if TYPE_CHECKING:
    from ..core.tape import Tape

WIDEST = 48
"""The last column at which a remark may start."""


class Code:
    """A tape's two passes as a NumPy program; running it leaves the result of `tape.gradient` in `gradient`.

    Attributes
    ----------
    text : str
        The program; `str` and `print` show it too.
    namespace : dict
        The names that the program needs to run, a new dict each time. Its `values` holds what has no short text, by
        name: arrays of more than 20 elements, and the backward functions of custom gradients.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> with ad.GradientTape() as tape:
    ...     y = x * x
    >>> program = code(tape, y, x)
    >>> names = program.namespace
    >>> exec(program.text, names)
    >>> names["gradient"]
    np.float64(6.0)
    """

    def __init__(self, text: str, values: dict[str, Any]) -> None:
        self.text, self._values = text, values

    @property
    def namespace(self) -> dict[str, Any]:
        """The names that the program needs to run."""
        return {"values": dict(self._values)}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Code: {len(self.text.splitlines())} lines of NumPy; print it to read it>"

    def _repr_markdown_(self) -> str:
        fence = "```"
        while fence in self.text:  # in a remark, after one of the user's names
            fence += "`"
        return f"{fence}python\n{self.text}\n{fence}"


def code(tape: Tape, target: Any, sources: Any, output_gradients: Any = None) -> Code:
    """Write the forward and the backward pass from the sources to the target; see `GradientTape.code`."""
    tensors, targets = tensors_of(sources, "sources"), tensors_of(target, "target")
    tape.check_usable()
    writer = TapeWriter(labels_of(tape))
    with only():
        seeds = seeds_of(target, output_gradients)
        walked = list(steps(tape.walk(tape.seed(seeds), {tensor._id for tensor in tensors})))
        names = _forward(writer, tape.entries, targets)
        forward, writer.lines = writer.lines, []
        for tensor, seed in seeds:
            writer.seed(0, names[tensor._id], tensor._id, seed)
        for entry, cotangent, contributions in walked:
            for sent in contributions:
                writer.contribution(0, entry, sent.argument, cotangent)
    found = _ending(writer, tensors, sources)
    summed = output_gradients is not None
    of = " + ".join(names[t._id] if not summed and not t.shape else _sum(writer, names, t, summed) for t, _ in seeds)
    example = f": {found[0]} is the derivative of {of} with respect to {found[1]}, and so on" if found else ""
    imports = [
        f"from {module} import {name}{'' if name == known else f' as {known}'}"
        for (module, name), known in writer.imports.items()
    ]
    if writer.values:
        imports += ["", "# values is a dictionary of what is too long to write here"]
    parts = ["import numpy as np", *imports, "", "# forward", *_aligned(forward)]
    return Code("\n".join([*parts, "", f"# backward{example}", *_aligned(writer.lines)]), writer.values)


def _forward(writer: TapeWriter, entries: list[Entry], targets: list[Tensor]) -> dict[int, str]:
    """Write what leads to the targets, starting values first; return the names of the targets."""
    computed = behind(entries, {target._id for target in targets})
    results = {entry.output_id for entry in computed}
    for entry in computed:
        for id, value in zip(entry.ids, entry.values, strict=True):
            if id is not None and id not in results:
                writer.name(id, value)
    for entry in computed:
        writer.entry(entry)
    return {t._id: writer.name(t._id, t._array, t.name or "target") for t in targets}


def _sum(writer: TapeWriter, names: dict[int, str], target: Tensor, weighted: bool) -> str:
    name = names[target._id]
    return f"np.sum({name} * {writer.bar(0, target._id)})" if weighted else f"np.sum({name})"


def _ending(writer: TapeWriter, sources: list[Tensor], structure: Any) -> tuple[str, str] | None:
    """Write the last lines, which assemble the gradients; return the name of a cotangent, and of its tensor."""
    bars, example = [], None
    for tensor in sources:
        bar = writer.bar(0, tensor._id)
        writer.labels.give(tensor._id, tensor.name or "source")
        label = writer.labels[tensor._id]
        if bar is None:
            bar = writer.unique(f"{label}_bar")
            writer.lines.append(Statement(f"{bar} = None", f"unconnected: tape.explain(target, {label}) says why"))
        elif example is None:
            example = bar, writer.name(tensor._id, tensor._array, label)
        bars.append(bar)
    writer.lines.append(Statement(f"gradient = {_structure(structure, iter(bars))}"))
    return example


def _structure(structure: Any, leaves: Iterator[str]) -> str:
    """Write a structure with names in place of its leaves; a dataclass becomes a dict."""
    if is_dataclass(structure) and not isinstance(structure, type):
        structure = {field.name: getattr(structure, field.name) for field in fields(structure)}
    if isinstance(structure, Mapping):
        keys = [repr(key if type(key) is int else str(key)) for key in structure]
        parts = [_structure(part, leaves) for part in structure.values()]
        return f"{{{', '.join(f'{key}: {part}' for key, part in zip(keys, parts, strict=True))}}}"
    if isinstance(structure, list | tuple):
        inside = ", ".join(_structure(part, leaves) for part in structure)
        return f"[{inside}]" if isinstance(structure, list) else f"({inside}{',' if len(structure) == 1 else ''})"
    return str(next(leaves))


def _aligned(lines: list[Statement]) -> list[str]:
    column = max((len(line.text) for line in lines if line.remark and len(line.text) <= WIDEST), default=0)
    return [f"{line.text:<{column}}  # {_one_line(line.remark)}" if line.remark else line.text for line in lines]


def _one_line(remark: str) -> str:
    """Keep a remark on one line, whatever the user's names contain, so that none of it becomes code."""
    return "".join(c if c.isprintable() else " " for c in remark)
