"""`sweep`: fills a Jacobian row by row or column by column, one pass each, then all of it in one pass.

With a pattern of where it may be other than 0, rows that share no column are filled by one pass, and so are columns.
For a batch, it folds the full Jacobian: the patches, one for each pair of samples of the result and the argument, slide
together until one per sample is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from ..arrays.structures import as_array, flatten
from ..core.events import Event, Remark, Watch
from ..core.tensor import Tensor
from ..custom.inner_tape import tapes_here
from ..derivatives.jacobians import one_tensor, pull_back_stack
from ..derivatives.tangents import push_forward
from ..gradient_tape import GradientTape
from ..text.functions import name_of
from ..trace.arrays import LARGEST, array
from ..trace.trace import trace
from ..transforms.forward import by_columns
from ..transforms.sparse import Pattern, colours, pattern_of
from . import Player
from .extra_parts import Written
from .play import _name_arguments, _watchable

MOST_ROWS = 12
MOST_COLUMNS = 20  # a document keeps 12×20 elements in full
MODES = ("reverse", "forward", "both")


def sweep(f: Callable[[Any], Any], x: Any, mode: str = "reverse", batch: bool = False, sparsity: Any = None) -> Player:
    """Show how a Jacobian fills: first a row or a column per pass, one after another, then all of it in one pass.

    Parameters
    ----------
    f : callable
        A function of one array; its result has up to 12 elements.
    x : array_like, Tensor or Variable
        Where to differentiate; up to 20 elements.
    mode : {"reverse", "forward", "both"}
        A row from each one-hot seed, a column from each one-hot tangent, or both in turn, in two matrices side by side.
    batch : bool
        Whether to show instead how the Jacobian of a batch, of shape (samples, outputs, samples, inputs), folds into
        a batch Jacobian, of shape (samples, outputs, inputs). The first axis of `x` and of the result counts samples.
    sparsity : array_like, sparse matrix, or a pair (rows, columns), optional
        Where the Jacobian may be other than 0, as for `jacobian`. One seed then fills all rows of a colour, which share
        no column, and one tangent all columns of a colour.

    Returns
    -------
    Player
        Its graph and its code are as in `play`, and the matrix fills beside them.

    Raises
    ------
    ValueError
        If there are more elements than that, or none, the result does not depend on `x`, the mode is unknown, the
        shapes are not those of a batch, or the pattern misses a place.
    TypeError
        If `x` or the result is not one array of real numbers, or `f` does not take one argument.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> sweep(lambda x: x[1:] * x[:-1], [1.0, 2.0, 3.0])
    Player('Jacobian of <lambda>(x)', 31 steps)
    >>> sweep(lambda x: x[1:] * x[:-1], [1.0, 2.0, 3.0], mode="forward")
    Player('Jacobian of <lambda>(x)', 20 steps)
    >>> sweep(lambda x: x * x, [1.0, 2.0, 3.0], sparsity=np.eye(3))
    Player('Jacobian of <lambda>(x)', 11 steps)
    >>> sweep(lambda x: x * x, [[1.0, 2.0], [3.0, 4.0]], batch=True)
    Player('Jacobian of <lambda>(x)', 16 steps)
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; it must be 'reverse', 'forward' or 'both'")
    name, source = _source(f, x)
    if batch:
        if sparsity is not None:
            raise ValueError("a batch Jacobian is filled without a pattern; leave out sparsity or batch")
        if mode != "reverse":
            raise ValueError(
                f"a batch Jacobian is filled in reverse mode, but mode is {mode!r}; leave out mode or batch"
            )
        return _fold(f, source, name)
    _check_size(source, f"{name} has", MOST_COLUMNS)
    tape, outer = GradientTape(persistent=True), tapes_here()
    passes: list[tuple[str, list[int], bool, list[Event]]] = []
    with trace(_title(f, name)) as traced:
        with tape:
            tape.watch(source)
            target = one_tensor(f(source), "sweep")
        _check_size(target, "the result has", MOST_ROWS)
        _check_connected(tape, target, source, name)
        pattern = None if sparsity is None else pattern_of(sparsity, target, source)
        for way, groups, stack in _plan(mode, target.size, source.size, pattern):
            start = len(traced)
            if way == "columns":
                tangents = _seeds(source, groups)
                push_forward(tape, {source._id: tangents if stack else tangents[0]}, (len(groups),) if stack else ())
            elif stack and pattern is None:
                tape.jacobian(target, source, unconnected_gradients="zero")
            elif stack:
                pull_back_stack(tape, target, [source], _seeds(target, groups))
            else:
                tape.gradient(target, source, output_gradients=_seeds(target, groups)[0])
            passes.append((way, sorted(chain(*groups)), stack, traced.events[start:]))
    rows_first = mode != "forward"
    jacobian = tape.jacobian(target, source, "zero") if rows_first else by_columns(tape, [target], source)[0]
    matrix = np.reshape(np.asarray(jacobian), (target.size, source.size))
    if pattern is not None:
        matrix = _in_pattern(pattern, matrix)
    traced = traced.without(*outer)
    document = traced.document()
    names = _name_of(document, traced.events, target), _name_of(document, traced.events, source)
    part = {
        "target": names[0],
        "source": names[1],
        "rows": _labels(names[0], target.shape),
        "columns": _labels(names[1], source.shape),
        "jacobian": array(matrix),
        "passes": [
            _span(traced.events, tape, happened) | {way: lines, "stack": stack}
            for way, lines, stack, happened in passes
        ],
    }
    return Player(Written(document | {"sweep": part}))


def _fold(f: Callable[[Any], Any], source: Tensor, name: str) -> Player:
    tape, outer = GradientTape(persistent=True), tapes_here()
    with trace(_title(f, name)) as traced:
        with tape:
            tape.watch(source)
            target = one_tensor(f(source), "sweep")
        _check_batch(target, source, name)
        _check_connected(tape, target, source, name)
        full = np.asarray(tape.jacobian(target, source, unconnected_gradients="zero"))
        folded = full.sum(axis=0).swapaxes(0, 1)
        folded[np.abs(folded) < 1e-12 * np.abs(full).max()] = 0.0  # where patches cancel, only rounding is left
        apart = _is_zero_off_the_diagonal(full)
        folds = [Remark(text) for text in _describe(full, folded, apart)]
        traced.add(*folds)
        start = len(traced)
        tape.batch_jacobian(target, source, unconnected_gradients="zero")
        direct = traced.events[start:]
        seeds = f"from a stack of {full.shape[1]} seeds instead of {full.shape[0] * full.shape[1]}"
        end = "" if apart else ", without a warning that they are sums: use check=True"
        what = "numbers" if apart else "sums"
        traced.add(done := Remark(f"batch_jacobian computes the same {what} {seeds}{end}."))
    traced = traced.without(*outer)
    document = traced.document()
    steps = {id(event): number for number, event in enumerate(traced.events)}
    part = {
        "target": _name_of(document, traced.events, target),
        "source": _name_of(document, traced.events, source),
        "full": array(full),
        "folded": array(folded),
        "made": steps[id(folds[0])],
        "folds": [steps[id(event)] for event in folds[1:]],
        "begun": _span(traced.events, tape, direct)["first"],
        "done": steps[id(done)],
    }
    return Player(Written(document | {"patches": part}))


def _is_zero_off_the_diagonal(full: Any) -> bool:
    others = ~np.eye(len(full), dtype=bool)
    return not full.swapaxes(1, 2)[others].any()


def _describe(full: Any, folded: Any, apart: bool) -> Iterator[str]:
    """Describe what is shown: the full Jacobian, then a fold for each sample."""
    count, shape = len(full), "×".join(map(str, full.shape))
    whole = f"The full Jacobian is {shape}: {count} rows of {count} patches, one for each pair of samples."
    if apart:
        yield f"{whole} The samples are independent, so only the patches on the diagonal are not 0."
    else:
        yield f"{whole} The samples mix: patches off the diagonal are not 0."
    for sample in range(count):
        if apart:
            text = f"Sample {sample}: the other patches in its column are 0, so its own slides down unchanged."
        else:
            text = f"Sample {sample}: all patches in its column slide together and add up."
        last = sample == count - 1
        folds = f" Four axes have become three: {'×'.join(map(str, folded.shape))}." if last else ""
        yield text + folds


def _check_batch(target: Tensor, source: Tensor, name: str) -> None:
    shapes = f"{name} has shape {source.shape} and the result {target.shape}"
    if source.ndim != 2 or target.ndim != 2 or len(source) != len(target):
        raise ValueError(
            f"batch=True takes a batch of shape (samples, inputs) to one of shape (samples, outputs); {shapes}"
        )
    if not 0 < source.size * target.size <= LARGEST:
        raise ValueError(
            f"{shapes}: their Jacobian has {source.size * target.size} numbers, but a sweep can show from 1 "
            f"to {LARGEST}. Take fewer samples"
        )


def _source(f: Any, x: Any) -> tuple[str, Tensor]:
    """Return the name of the argument, and a tensor to watch in its place."""
    if not callable(f):
        raise TypeError(f"sweep takes a function and where to differentiate it, but {f!r:.60} is not a function")
    try:
        name = _name_arguments(f, 1)[0]
    except TypeError as error:
        raise TypeError(
            f"sweep calls {name_of(f, 'f')} with one array, but it does not take one argument: {error}. "
            "Write a lambda around it that takes x alone, such as lambda x: f(x, 2.0)"
        ) from None
    empty = isinstance(x, list | tuple) and not flatten(x, name)
    source = _watchable(np.zeros(0) if empty else as_array(x), name)
    if not isinstance(source, Tensor) or source.dtype.kind != "f":
        raise TypeError(f"{name} is {x!r:.60}, but a Jacobian needs one array of floating-point numbers")
    return name, source


def _title(f: Any, name: str) -> str:
    return f"Jacobian of {name_of(f)}({name})"


def _check_connected(tape: GradientTape, target: Tensor, source: Tensor, name: str) -> None:
    if not (why := tape.explain(target, source)):
        raise ValueError(
            f"the result does not depend on {name}, so its Jacobian is 0 and there is nothing to sweep:\n{why}"
        )


def _plan(mode: str, rows: int, columns: int, pattern: Pattern | None) -> Iterator[tuple[str, list[list[int]], bool]]:
    """List the passes: what they fill ("rows" or "columns"), which of them from each seed, and whether as a stack."""
    ways = [way for way, other in (("rows", "forward"), ("columns", "reverse")) if mode != other]
    grouped = [_groups(way, {"rows": rows, "columns": columns}[way], rows + columns, pattern) for way in ways]
    for groups in zip_longest(*grouped):
        yield from ((way, [group], False) for way, group in zip(ways, groups, strict=True) if group is not None)
    yield from ((way, groups, True) for way, groups in zip(ways, grouped, strict=True))


def _groups(way: str, size: int, both: int, pattern: Pattern | None) -> list[list[int]]:
    """Return which rows, or which columns, one seed fills: each by itself, or with a pattern those of one colour."""
    if pattern is None:
        return [[line] for line in range(size)]
    others, lines = pattern if way == "columns" else pattern[::-1]
    found = colours(others, lines, both - size, size)
    return [[line for line in range(size) if found[line] == colour] for colour in range(max(found) + 1)]


def _in_pattern(pattern: Pattern, jacobian: Any) -> Any:
    """Return the Jacobian with zeros outside the pattern; raise a ValueError if it is not 0 there.

    NaN is let off: where one derivative is infinite, 0 times infinity puts it in the whole row or column.
    """
    inside = np.zeros(jacobian.shape, bool)
    inside[pattern.rows, pattern.columns] = True
    missed = ~inside & (jacobian != 0) & ~np.isnan(jacobian)
    if missed.any():
        row, column = (int(places[0]) for places in missed.nonzero())
        raise ValueError(
            f"the pattern leaves out row {row}, column {column}, where the Jacobian is {jacobian[row, column]:g}. It "
            "must be true wherever the Jacobian may be other than 0"
        )
    return np.where(inside, jacobian, 0)


def _seeds(tensor: Tensor, groups: list[list[int]]) -> Any:
    """Stack one seed for each group, with a one at each place that the group names."""
    one_hot = np.eye(int(tensor.size), dtype=tensor.dtype)
    return np.stack([one_hot[group].sum(axis=0) for group in groups]).reshape((len(groups), *tensor.shape))


def _span(events: list[Event], tape: GradientTape, happened: list[Event]) -> dict[str, int]:
    """Return the first and the last step of a pass over a tape: an outer tape may record the same pass."""
    own = {id(event) for event in happened if getattr(event, "tape", None) is tape}
    steps = [number for number, event in enumerate(events) if id(event) in own]
    return {"first": steps[0], "last": steps[-1]}


def _name_of(document: dict[str, Any], events: list[Event], tensor: Tensor) -> str:
    for event, step in zip(events, document["steps"], strict=True):
        entry = getattr(event, "entry", None)
        if entry is not None and entry.output_id == tensor._id:
            return str(document["tensors"][document["entries"][step["entry"]]["output"]]["name"])
        if isinstance(event, Watch) and event.tensor._id == tensor._id:
            return str(document["tensors"][step["tensor"]]["name"])
    raise AssertionError("a target is computed or watched")


def _labels(name: str, shape: tuple[int, ...]) -> list[str]:
    return [f"{name}[{', '.join(map(str, index))}]" if index else name for index in np.ndindex(shape)]


def _check_size(tensor: Tensor, who: str, most: int) -> None:
    if not 0 < tensor.size <= most:
        raise ValueError(
            f"{who} shape {tensor.shape}: {tensor.size} elements, but a sweep can show from 1 to "
            f"{most}. Take a part, or tape.jacobian and plots.heatmap"
        )
