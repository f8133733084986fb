"""Writes the page of everything that has a derivative, from the registry and from the cases that test it.

    python book/_ext/rule_book.py

The rules are read off the tables. What they can do is measured: every call that the cases of tests/cases record is
differentiated again and again, for a stack of cotangents, and over Dask.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

from autodiff_edu import GradientTape, constant, rules
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.core.entry import Entry
from autodiff_edu.core.rule import RULES, Pull
from autodiff_edu.rules.account import AT_ONCE, NEEDS_NONE, REFUSED, WHOLE, functions
from autodiff_edu.rules.linalg import eigh, svd
from autodiff_edu.rules.operations import clip

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "tests"), str(Path(__file__).parent)]
from cases import TABLE  # noqa: E402 (the tests are not an installed package)
from sources import code_label, helpers, is_written_out, label, names, sources, title  # noqa: E402
from table import record  # noqa: E402

FORWARD = {"elementwise": "the rule", "linear": "itself", "general": "transposed"}
OPENING = """\
# The rule book

Every function of `np`, `np.linalg` and `np.fft` is in exactly one of the lists below: it has a rule, is written in
terms of others that have one, is a step, is refused, or needs no rule. Its aliases follow it.

In a rule, `g` is the cotangent, `y` or `z` the output, and the other names are the arguments. A function of several
arguments has several rules, separated by semicolons. A rule longer than a line is shown as the name of its function,
which links to its code; a helper such as `share` links to {ref}`what it does <helpers>`. The last column links to the
line of the rule, and "corner" to the slope that the rule takes there. A name without `np.` is one of this package's own
operations, which others are built from. Click a heading to sort the table.

- **order**: how many times it can be differentiated. After that the derivative is zero (the tape says `None`). Complex
  numbers have an entry of their own where they can be differentiated more often than real ones.
- **stacked**: whether a stack of cotangents, such as a Jacobian needs, is pulled back at once.
- **forward**: what pushes a tangent forward. It is the rule if each element is treated by itself, the function itself
  if that is linear, and otherwise the rule, transposed.
- **Dask**: whether the gradient of lazy arrays stays lazy in every call that the tests make, in part of them, or in
  none, mostly because Dask has no such function.

A rule of your own ({doc}`chapters/13-custom-gradients`) can be differentiated any number of times if it uses only
these functions, and `ad.check_gradients` tests it. A stack goes through `custom_gradient` one cotangent at a time.
"""


ON_CORNERS = """\
At a corner, a function has one slope on the left and another on the right. Every slope between them fits, and the rule
takes one: {doc}`corners` says more. Functions that are written in terms of these have their corners: `np.median` those
of `np.sort`, and `np.ptp` those of `np.max` and `np.min`. No other rule has corners, except those of equal eigenvalues
of matrices that are not symmetric, which come in no particular order.
"""

CORNERED: list[tuple[Callable[..., Any], str, Callable[..., Any], Any]] = [
    (np.absolute, "0", np.abs, 0.0),
    (clip, "the lower bound", lambda x: np.clip(x, 0, 1), 0.0),
    (clip, "the upper bound", lambda x: np.clip(x, 0, 1), 1.0),
    (eigh, "two equal eigenvalues", lambda a: np.linalg.eigh(a).eigenvalues, np.eye(2)),
    (np.copysign, "0", lambda x: np.copysign(x, 1), 0.0),
    (np.fabs, "0", np.fabs, 0.0),
    (np.fmax, "two equal numbers", lambda x: np.fmax(x, 0), 0.0),
    (np.fmin, "two equal numbers", lambda x: np.fmin(x, 0), 0.0),
    (np.hypot, "0 and 0", lambda x: np.hypot(x, 0), 0.0),
    (np.interp, "a knot, here from slope 2 to slope 1", lambda x: np.interp(x, [0, 1, 2], [0, 2, 3]), 1.0),
    (np.linalg.eigvalsh, "two equal eigenvalues", np.linalg.eigvalsh, np.eye(2)),
    (np.linalg.norm, "a vector of zeros", np.linalg.norm, [0.0, 0.0]),
    (np.linalg.norm, "an element that is 0, for `ord=1`", lambda x: np.linalg.norm(x, 1), [0.0, 2.0]),
    (np.linalg.norm, "two equal sizes, for `ord=np.inf`", lambda x: np.linalg.norm(x, np.inf), [2.0, 2.0]),
    (np.linalg.svdvals, "a singular value of 0", np.linalg.svdvals, [[0.0]]),
    (np.linalg.svdvals, "two equal singular values", np.linalg.svdvals, np.eye(2)),
    (np.max, "two equal largest elements", np.max, [1.0, 1.0]),
    (np.maximum, "two equal numbers", lambda x: np.maximum(x, 0), 0.0),
    (np.min, "two equal smallest elements", np.min, [1.0, 1.0]),
    (np.minimum, "two equal numbers", lambda x: np.minimum(x, 0), 0.0),
    (np.multiply, "0, by a condition: `x * (x > 0)`", lambda x: x * (x > 0), 0.0),
    (np.nanmax, "two equal largest elements", np.nanmax, [1.0, 1.0]),
    (np.nanmin, "two equal smallest elements", np.nanmin, [1.0, 1.0]),
    (np.partition, "equal elements", lambda x: np.partition(x, 0), [1.0, 1.0]),
    (np.sort, "equal elements", np.sort, [1.0, 1.0]),
    (np.std, "equal elements, here two", np.std, [1.0, 1.0]),
    (svd, "a singular value of 0", lambda a: np.linalg.svd(a, full_matrices=False).S, [[0.0]]),
    (svd, "two equal singular values", lambda a: np.linalg.svd(a, full_matrices=False).S, np.eye(2)),
    (np.where, "equal branches: `np.where(x > 0, x, 0)`", lambda x: np.where(x > 0, x, 0), 0.0),
    (np.where, "equal branches: `np.where(x >= 0, x, 0)`", lambda x: np.where(x >= 0, x, 0), 0.0),
]
"""For each operation that has corners: where, and a call that stands at one."""

NUMBERS = {
    "DEGREE": "One degree in radians.",
    "LOG10": "The natural logarithm of 10.",
    "LOG2": "The natural logarithm of 2.",
}


def as_written(operation: Callable[..., Any]) -> str:
    """Return the rules of an operation as they stand in the tables, each name of this package with its link."""
    rule = RULES[operation]
    return "; ".join(map(_linked, rule.pulls or (rule.each,)))


def _linked(pull: Pull | None) -> str:
    if pull is None:
        return "none"
    if not is_written_out(pull):
        known = code_label(pull.__name__) in sources()
        return f"[`{pull.__name__}`](#{code_label(pull.__name__)})" if known else f"`{pull.__name__}`"
    used = "|".join(helpers().keys() & set(names(pull)))
    parts = re.split(rf"\b({used})\b", _written(pull)) if used else [_written(pull)]
    return "".join(
        f"[`{part}`](#helper-{part.lower()})" if odd % 2 else f"`{part}`" for odd, part in enumerate(parts) if part
    )


def _written(pull: Pull) -> str:
    code = pull.__code__
    places = [at for at in code.co_positions() if None not in at and at[2] < at[3]]
    for start, end, body in lambdas("".join(linecache.getlines(code.co_filename)), code.co_firstlineno):
        if all(start <= (at[0], at[2]) and (at[1], at[3]) <= end for at in places):
            return body
    raise LookupError(f"there is no lambda in {code.co_filename}, line {code.co_firstlineno}, that is {pull!r}")


@cache
def lambdas(text: str, line: int) -> list[tuple[tuple[int, int], tuple[int, int], str]]:
    """List where the lambdas of a line begin and end, and what they return; the innermost come first."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda) and node.lineno == line]
    placed = sorted(found, key=lambda node: -node.col_offset)
    return [
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0), ast.unparse(node.body))
        for node in placed
    ]


def calls() -> dict[Callable[..., Any], list[Entry]]:
    """Return the calls of every operation that the cases record and that can be differentiated."""
    found = defaultdict(list)
    for case in TABLE:
        for entry in record(case.function, *case.arguments())[0].entries:
            if places(entry) and is_smooth(entry.output_value):
                found[entry.operation].append(entry)
    return found


def is_smooth(value: Any) -> bool:
    """Return whether a value is made of numbers that have derivatives, not of integers or truth values."""
    return np.asarray(value).dtype.kind in "fc"


def places(entry: Entry) -> list[int]:
    """Return the places of the arguments that an entry can be differentiated by."""
    return [k for k, id in enumerate(entry.ids) if id is not None and is_smooth(entry.values[k])]


def again(entry: Entry, make: Callable[[Any], Any] = np.asarray) -> tuple[Callable[..., Any], list[Any]]:
    """Return a call as a function of the arguments that it can be differentiated by, and these arguments."""

    def call(*given: Any) -> Any:
        values = list(entry.values)
        for place, tensor in zip(places(entry), given, strict=True):
            values[place] = tensor
        return entry.operation(*values, **entry.parameters)

    return call, [constant(make(entry.values[place])) for place in places(entry)]


def weighted(tensors: Iterable[Any]) -> Any:
    """Add everything up, each element with a weight of its own, so that nothing cancels."""
    return sum(
        (np.sum(np.real(t) * np.reshape(np.cos(np.arange(t.size)), t.shape)) for t in tensors if t is not None), 0.0
    )


def order(entries: list[Entry]) -> str:
    """Return how often an operation can be differentiated until nothing is left; 3 means any number of times."""
    found = defaultdict(list)
    for entry in entries:
        found[any(np.iscomplexobj(entry.values[k]) for k in places(entry))].append(_order(entry))
    real, complexes = max(found[False], default=""), max(found[True], default="")
    return f"{real} (complex: {complexes})" if real and complexes > real else real or complexes


def _order(entry: Entry) -> str:
    call, arguments = again(entry)
    tapes = [GradientTape(), GradientTape(), GradientTape()]
    with tapes[0], tapes[1], tapes[2]:
        for tape in tapes:
            tape.watch(arguments)
        target = weighted([call(*arguments)])
        for done, tape in enumerate(reversed(tapes)):
            gradients = tape.gradient(target, arguments)
            if all(gradient is None for gradient in gradients):
                return str(done)
            target = weighted(gradients)
    return "any"


def stacked(entries: list[Entry]) -> str:
    """Return whether a stack of cotangents comes back as it would one cotangent at a time."""
    return "yes" if all(map(_stacked, entries)) else "no"


def _stacked(entry: Entry) -> bool:
    call, arguments = again(entry)
    with GradientTape(persistent=True) as tape:
        tape.watch(arguments)
        y = call(*arguments)
    shift = np.arange(y.size).reshape(y.shape)
    seeds = np.stack([np.cos(shift + k) for k in range(3)]).astype(y.dtype)
    cotangents = {y._id: seeds}
    for _ in tape.walk(cotangents, {argument._id for argument in arguments}, stack=(3,)):
        pass
    singly = [tape.gradient(y, arguments, output_gradients=seed, unconnected_gradients="zero") for seed in seeds]
    return all(
        np.allclose(cotangents.get(argument._id, 0), np.stack([gradients[k].numpy() for gradients in singly]))
        for k, argument in enumerate(arguments)
    )


def lazily(entries: list[Entry]) -> str:
    """Return whether gradients over Dask stay with Dask: in every call, in some, or in none."""
    kept = [_lazily(entry) for entry in entries]
    return "yes" if all(kept) else "in part" if any(kept) else "no"


def _lazily(entry: Entry) -> bool:
    whole = title(entry.operation).startswith(("np.fft", "np.linalg"))  # most of these need an array in one chunk
    call, arguments = again(entry, lambda array: da.from_array(np.asarray(array), chunks=-1 if whole else 2))
    try:
        with GradientTape() as tape:
            tape.watch(arguments)
            y = call(*arguments)
        gradients = tape.gradient(y, arguments, unconnected_gradients="zero")
        dask.compute(*(result._array for result in (y, *gradients)))
    except Exception:
        return False
    return all(isinstance(result._array, da.Array) for result in (y, *gradients))


def aliases() -> dict[str, list[str]]:
    """List the other names that NumPy has for a function, by the one that it calls itself."""
    installed, found = functions(), defaultdict(list)
    for name, function in sorted(installed.items()):
        if name != title(function) and title(function) in installed:
            found[title(function)].append(name)
    return found


def linked(function: Any, text: str) -> str:
    """Link a text to the source of a function's rule, if it is among the rules' files."""
    return f"{{ref}}`{text} <{label(function)}>`" if label(function) in sources() else f"`{text}`"


def also_called(names: Iterable[str]) -> str:
    """Write a function's other names, to stand behind the first."""
    also = ", ".join(f"`{name}`" for name in names)
    return f" ({also})" if also else ""


def listed(names: Iterable[str], others: dict[str, list[str]]) -> str:
    """Write names one after the other, each followed by its aliases."""
    first = set(names) - {other for also in others.values() for other in also}
    return ", ".join(f"`{name}`{also_called(others.get(name, ()))}" for name in sorted(first)) + "."


def corner_label(operation: Callable[..., Any]) -> str:
    """Return the label of the first of an operation's corners."""
    return f"corner-{title(operation)}".lower().replace(".", "-")


def rows_of_rules(others: dict[str, list[str]]) -> Iterator[str]:
    """Write the table's rows: for every rule how it stands in the code, what it can do, and where it is."""
    made, places = calls(), sources()
    for operation, rule in sorted(RULES.items(), key=lambda item: title(item[0]).lower()):
        if rule.kind != "step" and not rule.own:
            name, entries = title(operation), made[operation]
            called = ", ".join(f"`{n}`" for n in (name, *others.get(name, ())))
            if operation in {row[0] for row in CORNERED}:
                called += f" ([corner](#{corner_label(operation)}))"
            able = [order(entries), stacked(entries), FORWARD[rule.kind], lazily(entries)]
            cells = [called, as_written(operation), *able, linked(operation, places[label(operation)][0])]
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rows_of_corners() -> Iterator[str]:
    """Write a row for each kind of corner: where it is, the slopes on both sides, and those that the rule takes."""
    linked_to = set()
    for operation, where, function, value in sorted(CORNERED, key=lambda row: title(row[0]).lower()):
        with GradientTape() as tape:
            tape.watch(x := constant(value))
            y = function(x)
        (corner,) = tape.corners(y, x)
        low, high = corner.interval
        taken = " or ".join(f"{slope:g}" for slope in sorted(set(corner.slope.tolist())))
        place = where if operation in linked_to else f"[{where}]{{#{corner_label(operation)}}}"
        linked_to.add(operation)
        yield f"| {linked(operation, title(operation))} | {place} | {low[0]:g} to {high[0]:g} | {taken} |"


def rows_of_helpers() -> Iterator[str]:
    """Write a row for each name that the rules are written with: what it stands for, and where it is."""
    for name, value in helpers().items():
        does = NUMBERS[name] if isinstance(value, float) else " ".join(inspect.getdoc(value).split("\n\n")[0].split())
        given = "" if isinstance(value, float) else f"({', '.join(inspect.signature(value).parameters)})"
        file = sources()[code_label(name)][0]
        does = does.replace("|", "\\|").replace("*", "\\*")
        yield f"| [`{name}{given}`]{{#helper-{name.lower()}}} | {does} | [{file}](#{code_label(name)}) |"


def page() -> str:
    """Return the page as Markdown."""
    rules.complete()
    others, installed = aliases(), functions()
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask warns of each function that it leaves to NumPy
        rows = [*rows_of_rules(others)]
    ruled = {operation for operation, rule in RULES.items() if rule.kind != "step"}
    spelled = sorted({title(f): f for f in SPELLED.keys() - AT_ONCE - ruled}.items())
    written = [linked(f, name) + also_called(others.get(name, ())) for name, f in spelled]
    steps = {title(operation) for operation, rule in RULES.items() if rule.kind == "step"} - dict(spelled).keys()
    refused = [
        f"| `{name}` | {reason} | {instead} |".replace("*", r"\*")
        for name, (reason, instead) in REFUSED.items()
        if name in installed
    ]
    return "\n".join(
        [
            OPENING,
            "## Rules",
            "",
            ":::{container} rules",
            "| function | rule | order | stacked | forward | Dask | source |",
            "|---|---|---|---|---|---|---|",
            *rows,
            ":::",
            "",
            "(corners-of-rules)=",
            "",
            "## Corners",
            "",
            ON_CORNERS,
            "| function | corner | slopes that fit | slope that the rule takes |",
            "|---|---|---|---|",
            *rows_of_corners(),
            "",
            "(helpers)=",
            "",
            "## Helpers",
            "",
            "What the rules above are written with, besides NumPy. The stack is the axis in front of several",
            "cotangents that are pulled back together.",
            "",
            "| helper | what it does | source |",
            "|---|---|---|",
            *rows_of_helpers(),
            "",
            "## Written in terms of these",
            "",
            "A link leads to what each is written as.",
            "",
            ", ".join(written) + ".",
            "",
            "## Steps: the derivative is zero wherever it exists, and the gradient through them is None",
            "",
            listed(steps | WHOLE & installed.keys(), others),
            "",
            "## Refused",
            "",
            "Asking for a gradient through one of these raises an error that says the same. Functions that write into",
            "an array, and `np.modf` and `np.frexp`, raise it as soon as you call them.",
            "",
            "| function | why it has no rule | what to do instead |",
            "|---|---|---|",
            *refused,
            "",
            "## No rule needed",
            "",
            "There is nothing to differentiate in these. Don't pass a tensor to `np.array` or the others:",
            "they return plain numbers, so they raise an error while a tape follows the tensor.",
            "",
            *(f"- {heading}: {listed(names & installed.keys(), others)}" for heading, names in NEEDS_NONE.items()),
            "",
        ]
    )


if __name__ == "__main__":
    (ROOT / "book" / "rule-book.md").write_text(page(), encoding="utf-8")
