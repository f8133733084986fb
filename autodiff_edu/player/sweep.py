"""`sweep`: a Jacobian is filled row by row, one backward pass each; then all rows in one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.structures import as_array
from ..core.active import now
from ..core.tensor import Tensor
from ..derivatives.jacobians import one_tensor
from ..gradient_tape import GradientTape
from ..trace.document import array
from ..trace.events import Event
from ..trace.trace import trace
from . import Player
from .parts import Written
from .play import _parameters, _watchable

MOST_ROWS = 12
MOST_COLUMNS = 20  # 12×20 elements are kept in a document as they are


def sweep(f: Callable[[Any], Any], x: Any) -> Player:
    """Show how a Jacobian fills: by a one-hot seed for each row, one after the other, and then all rows in one stack.

    Parameters
    ----------
    f : callable
        Of one array; its result has up to 12 elements.
    x : array_like, Tensor or Variable
        Where; of up to 20 elements.

    Returns
    -------
    Player
        Its graph and its code are as in `play`, and the matrix fills beside them.

    Raises
    ------
    ValueError
        If there are more elements than that, or none, or the result does not depend on `x`.
    TypeError
        If `x` or the result is not one array of real numbers.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> sweep(lambda x: x[1:] * x[:-1], [1.0, 2.0, 3.0])
    Player('Jacobian of <lambda>(x)', 31 steps)
    """
    if not callable(f):
        raise TypeError(f"sweep takes a function and where to differentiate it, and {f!r:.60} is no function")
    name = _parameters(f, 1)[0]
    source = _watchable(as_array(x), name)
    if not isinstance(source, Tensor) or source.dtype.kind != "f":
        raise TypeError(f"{name} is {x!r:.60}, and a Jacobian is by one array of floating numbers")
    _check_size(source, f"{name} has", MOST_COLUMNS)
    tape, outer = GradientTape(persistent=True), now().followers
    passes: list[tuple[Event, Event]] = []
    with trace(f"Jacobian of {getattr(f, '__name__', type(f).__name__)}({name})") as traced:
        with tape:
            tape.watch(source)
            target = one_tensor(f(source), "sweep")
        _check_size(target, "the result has", MOST_ROWS)
        if not tape.explain(target, source):
            raise ValueError(
                f"the result does not depend on {name}, so that its Jacobian is 0 and there is nothing to sweep:\n"
                f"{tape.explain(target, source)}"
            )
        for row in range(target.size):
            seed = np.zeros(target.shape, target.dtype)
            seed[np.unravel_index(row, target.shape)] = 1.0
            start = len(traced)
            tape.gradient(target, source, output_gradients=seed)
            passes.append(_ends(traced.events[start:], tape))
        start = len(traced)
        jacobian = tape.jacobian(target, source, unconnected_gradients="zero")
        passes.append(_ends(traced.events[start:], tape))
    traced = traced.without(*outer)
    places = {id(event): number for number, event in enumerate(traced.events)}
    spans = [(places[id(first)], places[id(last)]) for first, last in passes]
    document = traced.document()
    watched = next(step for step in document["steps"] if step["kind"] == "watch")
    target_name, source_name = (
        document["tensors"][step["tensor"]]["name"] for step in (document["steps"][spans[0][0]], watched)
    )
    return Player(Written(document | {"sweep": _part(jacobian, target, source, (target_name, source_name), spans)}))


def _ends(events: list[Event], tape: GradientTape) -> tuple[Event, Event]:
    """Return the first and the last event of a tape: an outer one may record the same pass."""
    own = [event for event in events if getattr(event, "tape", None) is tape]
    return own[0], own[-1]


def _part(
    jacobian: Any, target: Tensor, source: Tensor, names: tuple[str, str], spans: list[tuple[int, int]]
) -> dict[str, Any]:
    every = range(target.size)
    rows = [*([row] for row in every), list(every)]
    return {
        "target": names[0],
        "source": names[1],
        "rows": _labels(names[0], target.shape),
        "columns": _labels(names[1], source.shape),
        "jacobian": array(np.reshape(np.asarray(jacobian), (target.size, source.size))),
        "passes": [
            {"first": first, "last": last, "rows": which, "stack": number == target.size}
            for number, ((first, last), which) in enumerate(zip(spans, rows, strict=True))
        ],
    }


def _labels(name: str, shape: tuple[int, ...]) -> list[str]:
    return [f"{name}[{', '.join(map(str, index))}]" if index else name for index in np.ndindex(shape)]


def _check_size(tensor: Tensor, who: str, most: int) -> None:
    if not 0 < tensor.size <= most:
        raise ValueError(
            f"{who} shape {tensor.shape}: {tensor.size} elements, and a sweep is to be looked at row by row, with 1 to "
            f"{most}. Take a part, or tape.jacobian and plots.heatmap"
        )
