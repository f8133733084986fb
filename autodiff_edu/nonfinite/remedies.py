"""Words for what made a NaN or an infinity, and what to write instead, with the user's own names.

>>> REMEDIES["log"].code.format(x="x", tiny=1e-12)
'np.log(np.maximum(x, 1e-12))'
"""

from __future__ import annotations

import ast
import linecache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..custom.checkpoint import Segment
from ..rules.operations import clip
from ..text.formatting import short_argument
from ..text.places import names
from ..text.shared import operators

if TYPE_CHECKING:
    from ..core.entry import Entry
    from ..text.labels import Labels

    Makers = dict[int | None, Entry]  # None is the id of a plain number, which no entry made


class Remedy(NamedTuple):
    """What to write in place of an operation.

    `argument` is the one to fix, and `safe` a value at which nothing goes wrong. In `code`, {x} stands for that
    argument, {0} and {1} for the first and second, {tiny} and {most} for a small and a large number of the dtype.
    """

    argument: int
    safe: str
    code: str
    words: str = ""


_LOG = "np.log1p(x) for log(1 + x), nn.log_softmax and np.logaddexp for sums of exponentials never take log of 0."
_EXP = "nn.softplus for log(1 + exp(x)), nn.log_softmax, np.logaddexp and np.tanh do without the large number."
_ROOT = "np.linalg.norm and np.std have the gradient 0 at 0."

REMEDIES = {
    "log": Remedy(0, "1.0", "np.log(np.maximum({x}, {tiny}))", _LOG),
    "log2": Remedy(0, "1.0", "np.log2(np.maximum({x}, {tiny}))", _LOG),
    "log10": Remedy(0, "1.0", "np.log10(np.maximum({x}, {tiny}))", _LOG),
    "log1p": Remedy(0, "0.0", "np.log1p(np.maximum({x}, {tiny} - 1))"),
    "sqrt": Remedy(0, "1.0", "np.sqrt(np.maximum({x}, {tiny}))", _ROOT),
    "cbrt": Remedy(0, "1.0", "np.cbrt(np.where({x} == 0, {tiny}, {x}))"),
    "divide": Remedy(1, "1.0", "np.divide({0}, np.where({1} == 0, 1.0, {1}))"),
    "reciprocal": Remedy(0, "1.0", "np.reciprocal(np.where({x} == 0, 1.0, {x}))"),
    "remainder": Remedy(1, "1.0", "np.remainder({0}, np.where({1} == 0, 1.0, {1}))"),
    "fmod": Remedy(1, "1.0", "np.fmod({0}, np.where({1} == 0, 1.0, {1}))"),
    "power": Remedy(0, "1.0", "np.power(np.maximum({0}, {tiny}), {1})"),
    "float_power": Remedy(0, "1.0", "np.float_power(np.maximum({0}, {tiny}), {1})"),
    "exp": Remedy(0, "0.0", "np.exp(np.minimum({x}, {most}))", _EXP),
    "exp2": Remedy(0, "0.0", "np.exp2(np.minimum({x}, {most}))", _EXP),
    "expm1": Remedy(0, "0.0", "np.expm1(np.minimum({x}, {most}))", _EXP),
    "sinh": Remedy(0, "0.0", "np.sinh(np.clip({x}, -{most}, {most}))", _EXP),
    "cosh": Remedy(0, "0.0", "np.cosh(np.clip({x}, -{most}, {most}))", _EXP),
    "arcsin": Remedy(0, "0.0", "np.arcsin(np.clip({x}, {tiny} - 1, 1 - {tiny}))"),
    "arccos": Remedy(0, "0.0", "np.arccos(np.clip({x}, {tiny} - 1, 1 - {tiny}))"),
    "arctanh": Remedy(0, "0.0", "np.arctanh(np.clip({x}, {tiny} - 1, 1 - {tiny}))"),
    "arccosh": Remedy(0, "2.0", "np.arccosh(np.maximum({x}, 1 + {tiny}))"),
    "arctan2": Remedy(1, "1.0", "np.arctan2({0}, np.where(({0} == 0) & ({1} == 0), 1.0, {1}))"),
    "angle": Remedy(0, "1.0", "np.angle(np.where({x} == 0, 1.0, {x}))"),
}
"""For each operation that makes NaN or infinity of ordinary numbers, what to write instead."""

LARGE = "The numbers are too large for their dtype: scale them down first, or add logarithms in place of multiplying."
ALSO_OVERFLOW = {"divide", "reciprocal", "power", "float_power"}
"""Operations that overflow, too, where the argument to mend is not 0: then their remedy does not help."""

PICKING = {np.where, np.maximum, np.minimum, np.fmax, np.fmin, clip, np.max, np.min}
"""Operations that pass some elements on and drop the others."""


def remedy(
    entry: Entry, inputs: tuple[Any, ...], value: str, by: tuple[Entry, int] | None, labels: Labels, makers: Makers
) -> str:
    """Return what to write in place of an entry that made `value`; `by` is what silenced it, and at which argument."""
    if isinstance(entry.operation, Segment):
        return f"Call {entry.name} without ad.checkpoint, and tape.first_nonfinite names the operation inside it."
    known = REMEDIES.get(entry.name)
    if by is not None and by[0].operation is np.where:
        return double_where(entry, *by, labels, makers)
    if known is None:
        return LARGE if value != "nan" else "Look at its inputs: print them before this line."
    if value != "nan" and entry.name in ALSO_OVERFLOW and np.all(inputs[known.argument] != 0):
        return LARGE
    shown = written(entry, labels, makers)
    dtype = np.finfo(np.asarray(entry.output_value).dtype)
    limits = {"tiny": f"{dtype.eps:.0e}", "most": f"{np.floor(np.log(dtype.max)):.0f}"}
    code = known.code.format(*shown, x=shown[known.argument], **limits)
    if np.iscomplexobj(inputs[known.argument]) and "np.where" not in code:  # which have no order to take a maximum by
        if np.any(inputs[known.argument] != 0):
            return "Look at its inputs: print them before this line."
        shown[known.argument] = "np.where({0} == 0, {tiny}, {0})".format(shown[known.argument], **limits)
        code = f"np.{entry.name}({', '.join(shown)})"
    return f"Keep the input away from where this happens:\n    {code}\n{known.words}".rstrip()


def double_where(entry: Entry, where: Entry, branch: int, labels: Labels, makers: Makers) -> str:
    """Write the double where: the first guards the input, so that the second has nothing bad to leave out."""
    known = REMEDIES.get(entry.name)
    argument = known.argument if known else next(k for k, id in enumerate(entry.ids) if id is not None)
    guarded = [written(entry, labels, makers)[argument], known.safe if known else "1.0"]
    condition, *branches = written(where, labels, makers)
    safe = f"safe = np.where({condition}, {', '.join(guarded if branch == 1 else guarded[::-1])})"
    before, whole = _source(entry), _source(where) or f"np.where({', '.join([condition, *branches])})"
    after = with_safe(entry, argument, labels, makers)
    if before and before in whole:
        lines = [safe, whole.replace(before, after)]
    else:
        lines = [safe, f"{labels[entry.output_id]} = {after}", whole]
    return "\n    ".join(["Make the input harmless before the operation sees it:", *lines])


def with_safe(entry: Entry, argument: int, labels: Labels, makers: Makers) -> str:
    """Write an entry with `safe` for one of its arguments."""
    source, parts = _source(entry), _parts(entry)
    if source and parts:
        start, end, line = parts[argument].col_offset, parts[argument].end_col_offset, source.encode()
        return (line[:start] + b"safe" + line[end:]).decode()
    shown = written(entry, labels, makers)
    shown[argument] = "safe"
    operator = operators().get(entry.name)
    if operator and len(shown) == 2:
        return f" {operator.sign} ".join(shown)
    return f"np.{entry.name}({', '.join(shown)})"


def written(entry: Entry, labels: Labels, makers: Makers) -> list[str]:
    """Return the arguments of an entry as the user wrote them, or by the names in the tape's table."""
    source, parts = _source(entry), _parts(entry)
    if source and parts:
        return [ast.get_source_segment(source, part) or "" for part in parts]
    known = [makers.get(id) for id in entry.ids]
    shown = labels.arguments(entry)
    if entry.operation is np.where and known[0] is not None:
        shown[0] = labels.text(known[0])
    return shown


def _parts(entry: Entry) -> list[ast.expr]:
    """Parse the arguments of an entry in the user's source; none if they cannot be told apart there."""
    source = _source(entry)
    tree = ast.parse(source, mode="eval").body if source else None
    parts: list[ast.expr] = []
    match tree:
        case ast.Call(func=ast.Attribute(value=value), args=args):
            is_method = len(names(entry.where).arguments) > len(args)
            parts = [value, *args] if is_method else args
        case ast.Call(args=args):
            parts = args
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
    return parts if len(parts) == len(entry.ids) else []


def _source(entry: Entry) -> str | None:
    """Return the user's expression that an entry computed, where it is on one line and is that operation."""
    at, written = entry.place, names(entry.where)
    if at.columns is None or written.function not in (None, entry.name):
        return None
    text = linecache.getline(at.path, at.line)[slice(*at.columns)]
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:  # a statement, such as y /= x
        return None
    return text


def dropped(entry: Entry) -> str:
    """Return why an entry sends the cotangent 0 to an element."""
    if entry.name == "getitem":
        return f"The indexing in {entry.place} leaves this element out"
    if entry.operation in PICKING:
        return f"The {entry.name} in {entry.place} does not take this element"
    if entry.name == "multiply":
        return f"The multiply in {entry.place} multiplies it by 0"
    return f"The {entry.name} in {entry.place} has the derivative 0 there"


def spoken(entry: Entry, inputs: tuple[Any, ...]) -> str:
    """Describe an operation with numbers: "log of 0", "1 divided by 0"."""
    parts = [short_argument(value) for value in inputs]
    operator = operators().get(entry.name)
    if operator and len(parts) == 2:
        return f"{parts[0]} {operator.aloud} {parts[1]}"
    return f"{entry.name} of {' and '.join(parts)}"
