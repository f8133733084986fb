"""Words for what made a NaN or an infinity, and what to write instead, with the user's own names.

>>> REMEDIES["log"].code.format(x="x", tiny=1e-12)
'np.log(np.maximum(x, 1e-12))'
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.reach import ahead
from ..core.rule import kind_of, rule_of, runs_code
from ..text.formatting import number
from ..text.places import names
from ..text.shared import operators
from ..text.source_code import parse_expression
from .origin import is_elementwise, is_number

if TYPE_CHECKING:
    from ..core.entry import Entry
    from ..text.labels import Labels
    from .silencers import Silencer

    Makers = dict[int | None, Entry]  # None is the id of a plain number, which no entry made


class Remedy(NamedTuple):
    """What to write in place of an operation.

    `argument` is the one to fix, and `safe` a value at which nothing goes wrong. In `code`, {x} stands for that
    argument, {0} and {1} for the first and second, {tiny} for a small number of the dtype. It only avoids the numbers
    that fail; `words`, if there are any, name functions that do not fail, and come first. What overflows has no code:
    a clip would make its result finite and wrong.
    """

    argument: int
    safe: str
    code: str
    words: str = ""


_LOG = "nn.log_softmax never takes the log of 0, and neither does np.logaddexp for sums of exponentials."
_LOGITS = "If p is nn.sigmoid(z), write -nn.softplus(z) instead of log(1 - p): it is finite for every z."
_EXP = (
    "Use nn.softplus for log(1 + exp(x)), nn.softmax, nn.log_softmax, np.logaddexp or np.tanh, which do without the "
    "large number; in a quotient, subtract the largest exponent from all of them first."
)
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
    "floor_divide": Remedy(1, "1.0", "np.floor_divide({0}, np.where({1} == 0, 1.0, {1}))"),
    "power": Remedy(0, "1.0", "np.power(np.maximum({0}, {tiny}), {1})"),
    "float_power": Remedy(0, "1.0", "np.float_power(np.maximum({0}, {tiny}), {1})"),
    "exp": Remedy(0, "0.0", "", _EXP),
    "exp2": Remedy(0, "0.0", "", _EXP),
    "expm1": Remedy(0, "0.0", "", _EXP),
    "sinh": Remedy(0, "0.0", "", _EXP),
    "cosh": Remedy(0, "0.0", "", _EXP),
    "arcsin": Remedy(0, "0.0", "np.arcsin(np.clip({x}, {tiny} - 1, 1 - {tiny}))"),
    "arccos": Remedy(0, "0.0", "np.arccos(np.clip({x}, {tiny} - 1, 1 - {tiny}))"),
    "arctanh": Remedy(0, "0.0", "np.arctanh(np.clip({x}, {tiny} - 1, 1 - {tiny}))"),
    "arccosh": Remedy(0, "2.0", "np.arccosh(np.maximum({x}, 1 + {tiny}))"),
    "arctan2": Remedy(1, "1.0", "np.arctan2({0}, np.where(({0} == 0) & ({1} == 0), 1.0, {1}))"),
    "angle": Remedy(0, "1.0", "np.angle(np.where({x} == 0, 1.0, {x}))"),
}
"""For each operation that makes NaN or infinity of ordinary numbers, what to write instead."""

DOMAINS: dict[str, tuple[Callable[..., Any], str]] = {
    "sqrt": (lambda x: x < 0, "numbers from 0 up"),
    "log": (lambda x: x < 0, "numbers above 0"),
    "log2": (lambda x: x < 0, "numbers above 0"),
    "log10": (lambda x: x < 0, "numbers above 0"),
    "log1p": (lambda x: x < -1, "numbers above -1"),
    "arcsin": (lambda x: abs(x) > 1, "numbers from -1 to 1"),
    "arccos": (lambda x: abs(x) > 1, "numbers from -1 to 1"),
    "arctanh": (lambda x: abs(x) > 1, "numbers between -1 and 1"),
    "arccosh": (lambda x: x < 1, "numbers from 1 up"),
    "power": (lambda x, n: (x < 0) & (n != np.round(n)), "numbers from 0 up if the exponent is not a whole number"),
}
"""For each operation that has no value at some real numbers: whether these are outside its domain, and the domain.

At its edge, such as log at 0, a function may have a limit, and so there are remedies for that.
"""
DOMAINS["float_power"] = DOMAINS["power"]

LIMIT = "np.where({1} == 0, limit, np.divide({0}, np.where({1} == 0, 1.0, {1})))"
SERIES = (
    "If you also need the gradient, replace `limit` with the first terms of the quotient's Taylor series: for "
    "(exp(x) - 1) / x, 1 + x / 2."
)
OF_LIMIT = (
    f"0 divided by 0 is not defined. If the quotient has a limit here, put its value in place of `limit`. {SERIES}"
)

GUARDED = "where the guard replaces a value, no gradient flows back"
LARGE = "The numbers are too large for their dtype: scale them down first, or add logarithms in place of multiplying."
LOOK = "Look at its inputs: print them before this line."
ALSO_OVERFLOW = {"divide", "reciprocal", "power", "float_power"}
"""Operations that overflow, too, where the argument to mend is not 0: then their remedy does not help."""

DIVIDING = {"divide", "floor_divide", "remainder", "fmod"}
"""Operations that only fail where the second argument is 0."""

STEEP = {"sqrt", "cbrt", "power", "float_power", "arccos"}
"""Operations whose derivative may be infinite where they are 0: their remedies keep them away from 0, too."""

GROWING = {np.prod, np.cumprod}
"""Operations that overflow even with inputs of ordinary size."""


def remedy(
    entry: Entry, inputs: tuple[Any, ...], value: str, by: Silencer | None, labels: Labels, makers: Makers
) -> str:
    """Return what to write in place of an entry that made `value`.

    `inputs` are the numbers that it came from, the arguments first, and `by` is what silenced it.
    """
    if kind_of(entry.operation) == "checkpoint":
        return f"Call {entry.name} without ad.checkpoint, and tape.first_nonfinite names the operation inside it."
    if (root := _find_root(entry, makers)) is not entry:
        is_aligned = np.shape(root.output_value) == np.shape(entry.output_value)
        by = by and by._replace(is_aligned=by.is_aligned and is_aligned)
        entry, inputs = root, root.values
    if by is not None and by.entry.operation is np.where:
        return double_where(entry, by, labels, makers)
    if kind_of(entry.operation) == "custom":
        return f"Check what {entry.name} computes there, for example with np.isfinite."
    known = REMEDIES.get(entry.name)
    if known is None:
        return LARGE if value != "nan" and _is_large(entry, inputs) else LOOK
    if value != "nan" and entry.name in ALSO_OVERFLOW and np.all(inputs[known.argument] != 0):
        return LARGE
    if not known.code:
        return known.words
    shown = write_arguments(entry, labels, makers)
    if outside := _describe_domain(entry, inputs, shown[known.argument]):
        return outside
    if entry.name in DIVIDING and _is_zero(shown[1]):
        return f"This line always divides by {shown[1]}: give it another divisor."
    dtype = np.finfo(np.asarray(entry.output_value).dtype)
    tiny = f"{dtype.eps:.0e}"
    shown = [f"({part})" if _binds_loosely(part) else part for part in shown]
    code = known.code.format(*shown, x=shown[known.argument], tiny=tiny)
    is_limit = entry.operation is np.divide and value == "nan" and np.all(inputs[0] == 0) and np.all(inputs[1] == 0)
    if is_limit and not np.isinf(entry.output_value).any() and parse_expression(limit := LIMIT.format(*shown)):
        return f"{OF_LIMIT}\n    {limit}"
    if np.iscomplexobj(inputs[known.argument]) and "np.where" not in code:  # which have no order to take a maximum by
        if np.any(inputs[known.argument] != 0):
            return LOOK
        shown[known.argument] = "np.where({0} == 0, {tiny}, {0})".format(shown[known.argument], tiny=tiny)
        code = f"np.{entry.name}({', '.join(shown)})"
    if not parse_expression(code):  # it has numbers that the user's line does not, such as those of a derivative's rule
        patch = "keep its input away from where this happens, for example with np.where."
    else:
        patch = f"keep the input away from where this happens ({GUARDED}):\n    {code}"
    words = _LOGITS if _is_log_of_one_minus(entry, makers) else known.words
    return f"{words}\nOtherwise, {patch}" if words else f"K{patch[1:]}"


def _is_log_of_one_minus(entry: Entry, makers: Makers) -> bool:
    """Return whether an entry is log(1 - p)."""
    maker = makers.get(entry.ids[0]) if entry.operation is np.log else None
    if maker is None or maker.operation is not np.subtract or maker.values is None:
        return False
    return maker.ids[0] is None and bool(np.all(maker.values[0] == 1))


def remedy_in_a_sentence(text: str) -> str:
    r"""Return a remedy as one sentence: the code to write, or else the advice.

    >>> print(remedy_in_a_sentence("Keep the input away from where this happens:\n    np.sqrt(np.maximum(x, 1e-12))"))
    Instead, write np.sqrt(np.maximum(x, 1e-12)), if that gives the value you want here. Where the guard replaces a
    value, no gradient flows back.
    """
    said, *code = text.split("\n    ")
    if code and said == OF_LIMIT:
        return f"If the quotient has a limit here, write {code[0]}, with its value in place of `limit`. {SERIES}"
    if code:
        instead = f"{_LOGITS} Otherwise" if said.startswith(_LOGITS) else "Instead"
        # a double where keeps the value
        doubt = f", if that gives the value you want here. {GUARDED.capitalize()}" if len(code) == 1 else ""
        return f"{instead}, write {'; '.join(code)}{doubt}."
    said = said.rpartition("\nOtherwise, ")[2]
    return said[:1].upper() + said[1:]


def _describe_domain(entry: Entry, inputs: tuple[Any, ...], shown: str) -> str:
    """Describe the domain of an operation if its input is outside it; else return an empty text."""
    is_outside, domain = DOMAINS.get(entry.name, (None, ""))
    numbers = inputs[: len(entry.values)]
    if is_outside is None or not all(map(is_number, numbers)) or np.iscomplexobj(numbers[0]):
        return ""
    with np.errstate(invalid="ignore"):
        # A value that rounding has put just outside counts as inside: there a remedy helps.
        outside = np.atleast_1d(is_outside(*(np.round(each, 6) for each in numbers)))
    if not outside.any():
        return ""
    value = number(np.broadcast_to(numbers[0], outside.shape)[outside][0])
    what = "its argument" if shown.replace(" ", "") == value else shown
    has = "contains" if np.shape(entry.output_value) else "is"
    return (
        f"The function {entry.name} is only defined for {domain}, but {what} {has} "
        f"{value}. Any number you put in its place would be made up, so find out where the {value} comes from."
    )


def double_where(entry: Entry, by: Silencer, labels: Labels, makers: Makers) -> str:
    """Write the double where: the first guards the input, so that the second has nothing bad to leave out."""
    known, where = None if runs_code(entry.operation) else REMEDIES.get(entry.name), by.entry
    argument = known.argument if known else next(k for k, id in enumerate(entry.ids) if id is not None)
    guarded = [write_arguments(entry, labels, makers)[argument], known.safe if known else "1.0"]
    condition, *branches = write_arguments(where, labels, makers)
    safe = f"safe = np.where({condition}, {', '.join(guarded if by.argument == 1 else guarded[::-1])})"
    before, whole = _source(entry), _source(where) or f"np.where({', '.join([condition, *branches])})"
    after, name = with_safe(entry, argument, labels, makers), labels[entry.output_id].partition(".")[0]
    is_code = all(map(parse_expression, [condition, guarded[0], whole, after, name]))
    if not is_code or not _fits(entry, by, labels, makers):
        return (
            "Make the input harmless before the operation sees it: compute a condition from the input alone, write "
            f"safe = np.where(condition, input, {guarded[1]}), and use safe in place of the input."
        )
    inside = before and _replace_in_branch(whole, by.argument, before, after)
    lines = [inside] if inside else [f"{name} = {after}", whole]
    lines[-1] = _guard_branch(lines[-1], by.argument, guarded[0])
    return "\n    ".join(["Make the input harmless before the operation sees it:", safe, *lines])


def _replace_in_branch(where: str, argument: int, before: str, after: str) -> str:
    """Write something else for an expression in a branch of a where, and nowhere else; empty if it is not there."""
    call = parse_expression(where)
    branch = call.args[argument] if isinstance(call, ast.Call) and len(call.args) == 3 else None
    if branch is None:
        return ""
    text = where.encode()
    start, end = branch.col_offset, branch.end_col_offset
    told = text[start:end].decode()
    return "".join((text[:start].decode(), told.replace(before, after), text[end:].decode())) if before in told else ""


def _guard_branch(where: str, argument: int, guarded: str) -> str:
    """Write `safe` for what it guards wherever that is in a branch of a where, if all is done element by element."""
    call = parse_expression(where)
    branch = call.args[argument] if isinstance(call, ast.Call) and len(call.args) == 3 else None
    if branch is None or not _is_by_element(branch):
        return where
    text, wanted = where.encode(), ast.dump(ast.parse(guarded, mode="eval").body)
    found = [node for node in ast.walk(branch) if isinstance(node, ast.expr) and ast.dump(node) == wanted]
    for node in sorted(found, key=lambda node: -node.col_offset):
        text = text[: node.col_offset] + b"safe" + text[node.end_col_offset :]
    return text.decode()


def _is_by_element(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=parts, keywords=[]):
            return kind_of(getattr(np, name, None)) == "elementwise" and all(map(_is_by_element, parts))
        case ast.BinOp(left=left, right=right, op=operator):
            return not isinstance(operator, ast.MatMult) and _is_by_element(left) and _is_by_element(right)
        case ast.UnaryOp(operand=operand):
            return _is_by_element(operand)
    return isinstance(node, ast.Name | ast.Constant)


def _find_root(entry: Entry, makers: Makers) -> Entry:
    """Return the operation to mend: the one that made the number that fails, if its own derivative fails there as well.

    Keeping 1 / np.sqrt(x) away from a division by 0 would leave the derivative of the square root at 0, which is
    infinite, and so a NaN in the gradient.
    """
    known = None if runs_code(entry.operation) else REMEDIES.get(entry.name)
    maker = makers.get(entry.ids[known.argument]) if known else None
    while maker is not None and maker.values is not None and maker.name not in STEEP:
        moving = [id for id in maker.ids if id is not None]
        if len(moving) > 1 or not (maker.operation is np.multiply or kind_of(maker.operation) == "linear"):
            return entry
        maker = makers.get(moving[0]) if moving else None
    if maker is None or maker.values is None:
        return entry
    rule: Any = rule_of(maker.operation)
    with np.errstate(all="ignore"):
        slope = rule.pull(0)(np.ones_like(maker.output_value), maker.output_value, *maker.values, **maker.keywords)
    return entry if np.all(np.isfinite(slope)) else _find_root(maker, makers)


def _fits(entry: Entry, by: Silencer, labels: Labels, makers: Makers) -> bool:
    """Return whether a where's condition can pick from the input of an entry what it picks from the result."""
    where = by.entry
    results = {later.output_id for later in (entry, *ahead(makers.values(), {entry.output_id}))}
    condition = ast.walk(ast.parse(write_arguments(where, labels, makers)[0]))
    names = {node.id for node in condition if isinstance(node, ast.Name)}  # of plain numbers there is no more than this
    if where.ids[0] in results or any(id in labels and labels[id] in names for id in results):
        return False  # the condition is computed from the result itself
    condition_shape, shape = np.shape(where.values[0]), np.shape(entry.output_value)
    if not condition_shape:
        return True
    lengths = zip(condition_shape[::-1], shape[::-1], strict=False)
    is_narrow = len(condition_shape) <= len(shape) and all(one in (1, other) for one, other in lengths)
    return is_elementwise(entry) and by.is_aligned and is_narrow


def _is_large(entry: Entry, inputs: tuple[Any, ...]) -> bool:
    """Return whether an operation that made an infinity may have done so because its numbers grew too large."""
    limit = float(np.finfo(np.asarray(entry.output_value).dtype).max) ** 0.25  # a product of several is above
    numbers = [value for value in inputs if is_number(value)]
    return entry.operation in GROWING or any(np.max(np.abs(value), initial=0) > limit for value in numbers)


def _is_zero(text: str) -> bool:
    """Return whether an argument is a zero that is written out in the user's line."""
    tree = parse_expression(text)
    return isinstance(tree, ast.Constant) and tree.value == 0


def _binds_loosely(text: str) -> bool:
    """Return whether an expression needs parentheses where it is compared."""
    alone, compared = parse_expression(text), parse_expression(f"{text} == 0")
    return not (alone and isinstance(compared, ast.Compare) and ast.dump(compared.left) == ast.dump(alone))


def with_safe(entry: Entry, argument: int, labels: Labels, makers: Makers) -> str:
    """Write an entry with `safe` for one of its arguments."""
    source, parts = _source(entry), _parts(entry)
    if source and parts:
        start, end, line = parts[argument].col_offset, parts[argument].end_col_offset, source.encode()
        return (line[:start] + b"safe" + line[end:]).decode()
    shown = write_arguments(entry, labels, makers)
    shown[argument] = "safe"
    operator = operators().get(entry.name)
    if operator and len(shown) == 2:
        return f" {operator.sign} ".join(shown)
    return f"np.{entry.name}({', '.join(shown)})"


def write_arguments(entry: Entry, labels: Labels, makers: Makers) -> list[str]:
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
    parts: list[ast.expr] = []
    match parse_expression(_source(entry) or ""):
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
    if names(entry.where).function not in (None, entry.name):
        return None
    text = entry.place.text
    return text if parse_expression(text) else None  # it may be a statement, such as y /= x
