r"""Why an operation failed, in a sentence or two, with the numbers that do not fit marked.

>>> h, w = np.ones((3, 2)), np.ones((3, 1))
>>> parts = find_mismatch(np.matmul, (h, w), {}, ["h", "w"], "@")
>>> print("".join(parts).replace(". ", ".\n"))
h has shape (3, 2), w has shape (3, 1): @ needs the two inner lengths to be equal: 2 ≠ 3.
Did you mean w of shape (2, 1)? h.T would also fit.
>>> parts[1::2]
['2', '3', '2', '3']
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .fitting import each, is_array, what_would_fit

Shape = tuple[int, ...]
Parts = list[str]
"""Texts that are plain and marked by turns; the first is plain."""

JOINS = ("concatenate", "stack", "vstack", "hstack")
"""Functions that join a list of arrays."""

FITS = re.compile("; (.+) would fit")
OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for (?:axis (\d+) with )?size (\d+)")
NO_AXIS = re.compile(r"axis (-?\d+) is out of bounds for array of dimension (\d+)")

_ORDINALS = {2: "second", 3: "third"}


def find_mismatch(
    function: Any, args: Any, parameters: dict[str, Any], names: Sequence[str | None], written: str, message: str = ""
) -> Parts:
    """Explain which numbers in the shapes of a call's operands do not fit; return nothing if that is not known.

    Parameters
    ----------
    function : callable
        What was called.
    args, parameters : tuple, dict
        Its arguments, possibly with lists of arrays.
    names : sequence of str or None
        The user's name for each operand.
    written : str
        How the user wrote the function: "@", "np.dot".
    message : str
        NumPy's words.
    """
    operands = list(each(args))
    if not any(map(is_array, operands)):
        return []
    shapes: list[Shape] = [tuple(np.shape(value)) if is_array(value) else () for value in operands]
    called = [name or f"operand {k + 1}" for k, name in enumerate(names)]
    name = getattr(function, "__name__", "")
    if found := OUT_OF_BOUNDS.search(message):
        return _explain_out_of_bounds(called[0], shapes[0], found)
    if found := NO_AXIS.search(message):
        return _explain_missing_axis(called[0], shapes[0], found)
    said: Parts = []
    if name in ("matmul", "dot", "inner") and len(shapes) == 2:
        said = _explain_product(shapes, called, written, last=name == "inner")
    elif name == "einsum":
        said = _explain_letters(args[0], shapes[1:], called[1:], written)
    elif name in JOINS:
        said = _explain_join(name, args, parameters, shapes, called, written)
    elif function is np.reshape:
        said = _explain_reshape(shapes[0], args, parameters, called[0])
    elif isinstance(function, np.ufunc) or name == "where":
        said = _explain_broadcasting(shapes, called, written)
    return said and _append(
        said, _write_hint(what_would_fit(function, args, parameters, list(names)), said[-1][-1] == "?")
    )


def _explain_product(shapes: list[Shape], names: list[str], written: str, last: bool) -> Parts:
    left, right = shapes
    if not left or not right:
        return []
    inner = len(right) - 1 if last or len(right) == 1 else len(right) - 2
    if left[-1] == right[inner]:
        return _explain_broadcasting([left[:-2], right[:-2]], names, written, whole=shapes)
    wanted = (*right[:inner], left[-1], *right[inner + 1 :])
    said = _list_shapes(shapes, names, [len(left) - 1, inner])
    said = _append(said, [f": {written} needs the {'last two' if last else 'two inner'} lengths to be equal: "])
    stacked = not _explain_broadcasting([left[:-2], right[:-2]], names, written)
    meant = f" Did you mean {names[1]} of shape {wanted}?" if stacked else ""
    return _append(said, ["", str(left[-1]), " ≠ ", str(right[inner]), "." + meant])


def _explain_letters(subscripts: Any, shapes: list[Shape], names: list[str], written: str) -> Parts:
    """Explain a letter of `np.einsum` that stands for two lengths, or an operand with too few or too many letters."""
    terms = str(subscripts).replace(" ", "").partition("->")[0].split(",")
    if "." in str(subscripts) or len(terms) != len(shapes):
        return []
    seen: dict[str, tuple[int, int]] = {}  # by the letter: the first operand that has it, and the axis
    for k, (term, shape, name) in enumerate(zip(terms, shapes, names, strict=True)):
        if len(term) != len(shape):
            counts = ["", str(len(term)), " ≠ ", str(len(shape)), "."]
            return _append([f'{name} has shape {shape}: "{term}" needs a letter for each axis: '], counts)
        for at, letter in enumerate(term):
            i, axis = seen.setdefault(letter, (k, at))
            if shapes[i][axis] != shape[at] and 1 not in (shapes[i][axis], shape[at]):
                which = [(i, axis), (k, at)] if i != k else [(k, axis)]
                said = _list_shapes(
                    [shapes[j] for j, _ in which], [names[j] for j, _ in which], [one for _, one in which]
                )
                said = _append(said, [f": {written} needs axes with the same letter, {letter}, to be equally long: "])
                return _append(said, ["", str(shapes[i][axis]), " ≠ ", str(shape[at]), "."])
    return []


def _explain_broadcasting(
    shapes: list[Shape], names: list[str], written: str, whole: list[Shape] | None = None
) -> Parts:
    whole = whole or shapes
    for back in range(1, 1 + max(map(len, shapes), default=0)):
        lengths = [shape[-back] if back <= len(shape) else 1 for shape in shapes]
        differing = [k for k, length in enumerate(lengths) if length != 1]
        if len({lengths[k] for k in differing}) > 1:
            first = differing[0]
            second = next(k for k in differing if lengths[k] != lengths[first])
            inner = len(whole[first]) - len(shapes[first])
            which = [whole[first], whole[second]]
            said = _list_shapes(which, [names[first], names[second]], [len(each) - inner - back for each in which])
            place = _ORDINALS.get(back + inner, f"{back + inner}th") + " axes from the right"
            axes = "last axes" if back + inner == 1 else place
            reason = f": {written} lines shapes up from the right, and the {axes} differ in length: "
            end = ". They must be equal, or one of them 1."
            return _append(said, [reason, str(lengths[first]), " ≠ ", str(lengths[second]), end])
    return []


def _explain_join(
    name: str, args: Any, parameters: dict[str, Any], shapes: list[Shape], names: list[str], written: str
) -> Parts:
    joined = [k for k, value in enumerate(each(args[:1])) if is_array(value)]
    axis = parameters.get("axis", args[1] if len(args) > 1 and isinstance(args[1], int) else 0)
    if not joined or not isinstance(axis, int):
        return []
    first = shapes[joined[0]]
    for k in joined[1:]:
        pair, other = [names[joined[0]], names[k]], shapes[k]
        if name == "vstack" and {len(first), len(other)} <= {1, 2} and 1 in (len(first), len(other)):
            if first[-1] != other[-1]:
                said = _list_shapes([first, other], pair, [len(first) - 1, len(other) - 1])
                said = _append(said, [f": {written} makes a vector a row, and rows must be equally long: "])
                return _append(said, ["", str(first[-1]), " ≠ ", str(other[-1]), "."])
            continue
        if len(first) != len(other):
            said = _append(_list_shapes([first, other], pair, [None, None]), [f": {written} needs equally many axes: "])
            return _append(said, ["", str(len(first)), " ≠ ", str(len(other)), "."])
        axes = {"concatenate": axis, "vstack": 0, "hstack": min(1, len(first) - 1)}
        along = axes[name] % len(first) if name in axes and first else None
        for at, lengths in enumerate(zip(first, other, strict=True)):
            if lengths[0] != lengths[1] and at != along:
                rule = (
                    "needs equal shapes" if along is None else f"joins along axis {along}, so axis {at} must be equal"
                )
                said = _append(_list_shapes([first, other], pair, [at, at]), [f": {written} {rule}: "])
                return _append(said, ["", str(lengths[0]), " ≠ ", str(lengths[1]), "."])
    return []


def _explain_reshape(shape: Shape, args: Any, parameters: dict[str, Any], name: str) -> Parts:
    wanted = args[1] if len(args) > 1 else parameters.get("shape", parameters.get("newshape"))
    wanted = tuple(wanted) if isinstance(wanted, list | tuple) else (wanted,)
    if not all(isinstance(length, int | np.integer) for length in wanted) or wanted.count(-1) > 1:
        return []
    have, want = math.prod(shape), math.prod(wanted)
    if want < 0:
        counts = ["", str(have), f" elements, and shape {tuple(map(int, wanted))} needs a multiple of "]
        return _append([f"{name} has shape {shape}: "], [*counts, str(-want), "."]) if have % want else []
    counts = ["", str(have), f" elements, and shape {tuple(map(int, wanted))} has room for ", str(want), "."]
    return _append([f"{name} has shape {shape}: "], counts) if have != want else []


def _explain_out_of_bounds(name: str, shape: Shape, found: re.Match[str]) -> Parts:
    index, axis, size = int(found[1]), int(found[2] or 0), int(found[3])
    if axis >= len(shape) or shape[axis] != size:
        return []
    last = f"the indices of axis {axis} are 0 to {size - 1}, and -{size} to -1 from the end" if size else "it is empty"
    return _append(_list_shapes([shape], [name], [axis]), [f": {last}, so there is no ", str(index), "."])


def _explain_missing_axis(name: str, shape: Shape, found: re.Match[str]) -> Parts:
    if int(found[2]) != len(shape):
        return []
    few = {0: "it has no axis", 1: "its only axis is 0", 2: "its axes are 0 and 1"}
    has = few.get(len(shape), f"its axes are 0 to {len(shape) - 1}")
    return [f"{name} has shape {shape}: {has}, so there is no axis ", found[1], "."]


def _write_hint(fit: tuple[int, str] | None, suggested: bool) -> Parts:
    """Write what would fit, as a sentence of its own."""
    found = fit and FITS.fullmatch(fit[1])
    return [f" {found[1]} would {'also ' if suggested and '.T' in found[1] else ''}fit."] if found else [""]


def _list_shapes(shapes: Sequence[Shape], names: Sequence[str], axes: Sequence[int | None]) -> Parts:
    """List operands with their shapes, one axis of each marked."""
    said = [""]
    for k, (shape, name, axis) in enumerate(zip(shapes, names, axes, strict=True)):
        lengths = [str(length) for length in shape]
        start = f"{', ' if k else ''}{name} has shape ("
        end = ",)" if len(shape) == 1 else ")"
        if axis is None:
            said = _append(said, [start + ", ".join(lengths) + end])
        else:
            before = "".join(f"{length}, " for length in lengths[:axis])
            after = "".join(f", {length}" for length in lengths[axis + 1 :])
            said = _append(said, [start + before, lengths[axis], after + end])
    return said


def _append(said: Parts, more: Parts) -> Parts:
    """Continue a text: the plain parts where the two meet become one."""
    return [*said[:-1], said[-1] + more[0], *more[1:]]
