"""`compare`: two runs side by side, and the first step at which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from html import escape
from math import isfinite
from os import PathLike
from typing import Any

from ..trace.arrays import keep_arrays
from ..trace.differences import ROUNDED, Differences, StepDifference
from ..trace.trace import Trace
from ..trace.traced_run import TracedRun
from . import Player, html
from .extra_parts import Written
from .files import save
from .play import trace_call

LOWER = """<style>
.autodiff-compared { --autodiff-tall: clamp(340px, 50vh - 100px, 650px) }
.autodiff-compared > * { margin: 0 0 6px }
.autodiff-compared > h2 { font-size: 1rem }
</style>"""
"""Makes both players share one window, so that you see what differs without scrolling."""


def compare(
    f: Trace | Callable[..., Any],
    g: Trace | Callable[..., Any],
    *args: Any,
    framework: str | tuple[str | None, str | None] | None = None,
) -> TraceComparison:
    """Find the first step at which two runs differ: of a program before and after a change, or of two frameworks.

    Both functions are run and differentiated as `play` does. Their steps are aligned by what is computed, then by line
    and operation, so names and the order of lines do not matter. Compared are shapes, dtypes and numbers of results,
    contributions, cotangents, gradients and assignments. An operation that only one run has is a difference if it
    changes a number that is needed; a contribution that only one run has always is. If the two runs differentiate
    different results, that is reported, not their gradients.

    Numbers agree if they differ by at most 64 eps of the coarsest dtype so far, relative to the largest number in their
    arrays or among those that were added up to them; and later, by at most four times as much as any number before.

    Parameters
    ----------
    f, g : callable or Trace
        Functions, or traces of what has already run.
    *args : array_like, Tensor, Variable, or nested lists, tuples and dicts of them
        Arguments of both functions; `g` gets copies, so what `f` does to them does not matter.
    framework : str or (str or None, str or None), optional
        What `play` takes, for both functions or for each of them: `(None, "torch")` for a function of NumPy and one of
        PyTorch, which get the same arrays.

    Returns
    -------
    TraceComparison
        True if nothing differs. The value of a notebook cell shows it: both lines and both numbers, above the player of
        the second run at the step that differs.

    Raises
    ------
    ValueError
        If neither run has recorded anything.
    TypeError
        If `f` or `g` is neither a function nor a trace, or an argument cannot be copied.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> def before(x, w):
    ...     y = x * w
    ...     return np.sum(y * y)
    >>> def after(x, w):
    ...     y = x * w
    ...     return np.mean(y * y)
    >>> print(ad.compare(before, after, [1.0, 3.0], 2.0))
    The operations differ: before computes np.sum(y * y), which is 40; after computes np.mean(y * y), which is 20.
    before, doctest, line 3: return np.sum(y * y)
    after, doctest, line 3: return np.mean(y * y)
    2 steps agree before it.
    >>> bool(ad.compare(lambda x: x * np.sin(x), lambda a: np.sin(a) * a, 2.0))
    True
    """
    frameworks = framework if isinstance(framework, tuple) else (framework, framework)
    try:
        copies = deepcopy(args)  # before f can change them
    except RuntimeError as error:  # from PyTorch, of a tensor that it has computed
        raise TypeError(
            "compare cannot copy the arguments for the second run. Pass tensors that are not the result of a "
            "computation that PyTorch follows, such as x.detach().requires_grad_()"
        ) from error
    return TraceComparison(_trace(f, args, frameworks[0]), _trace(g, copies, frameworks[1]))


def _trace(what: Any, args: tuple[Any, ...], framework: str | None) -> Any:
    if hasattr(what, "document"):
        return what
    if not callable(what):
        raise TypeError(f"compare takes two functions and their arguments, or two traces, not {what!r:.60}")
    return trace_call(what, args, framework)


class TraceComparison:
    """Two runs and the first step at which they differ; true if nothing does. Created by `compare`.

    Attributes
    ----------
    difference : StepDifference or None
        The first step that differs: its `kind`, `steps` (in each run; None where a run does not have it), `text` and
        `size`.
    agreed : int
        How many steps agree before it.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.compare(lambda x: x * x, lambda x: x + x, 3.0).difference.steps
    (2, 2)
    """

    def __init__(self, first: Any, second: Any) -> None:
        with keep_arrays() as arrays:
            one = first.document()
        with keep_arrays() as others:
            other = second.document()
        arrays |= others
        values = [tensor["value"] for tensor in (*one["tensors"], *other["tensors"])]
        if not all(id(value) in arrays or value["data"] is None for value in values):
            arrays = {}  # of a document from elsewhere there are six digits, and samples
        runs = TracedRun(one, arrays), TracedRun(other, arrays)
        if not any(run.ran for run in runs):
            raise ValueError("neither run recorded anything, so there is nothing to compare")
        titles = [str(run.document["title"]).partition("(")[0] for run in runs]
        plain = titles[0] != titles[1] and all(title.isidentifier() for title in titles)
        names = (titles[0], titles[1]) if plain else ("the first run", "the second run")
        self._names = names
        found = Differences(runs[0], runs[1], names)
        self.difference: StepDifference | None = found.first
        self.agreed = found.agreed
        self._documents = [run.document for run in runs]
        self._results_differ = found.results_differ
        counts = [Counter(run.operations[entry] for entry in run.ran) for run in runs]
        self._operations = [
            f"{operation} ({counts[0][operation]} in {names[0]}, {counts[1][operation]} in {names[1]})"
            for operation in sorted(counts[0].keys() | counts[1].keys())
            if counts[0][operation] != counts[1][operation]
        ]
        self._lines: list[str] = []
        for name, run, step in zip(names, runs, found.first.steps if found.first else (), strict=False):
            if step is not None and (line := run.line(step - 1)):
                where = run.steps[step - 1]["where"]
                place = f"{run.document['code'][where['code']]['place']}, line {where['line']}"
                self._lines.append(f"{name}, {place}: {line}")
        count = "1 step agrees" if found.agreed == 1 else f"{found.agreed:,} steps agree"
        count += "" if found.first is None else " before it"
        size = found.size if found.first is None else found.first.size
        whose = "Their" if found.first is None else "Its"
        apart = f" {whose} numbers are up to {size:.2g} eps apart." if size and isfinite(size) else ""
        self._remark = f"{count if found.agreed else 'This is the first step'}.{apart}"

    def __bool__(self) -> bool:
        return self.difference is None

    def __repr__(self) -> str:
        return f"TraceComparison({'nothing differs' if self.difference is None else self.difference.text})"

    def __str__(self) -> str:
        return "\n".join([self._sentence, *self._lines, self._remark])

    @property
    def _sentence(self) -> str:
        if self.difference is not None:
            return self.difference.text
        if not self._results_differ:
            if not self._operations:
                return "Nothing differs."
            differ = ", ".join(self._operations)
            return f"Nothing differs in the numbers that were compared; the operations differ: {differ}."
        return f"No single step differs by more than rounding. {ROUNDED.format(self._results_differ)}"

    @cached_property
    def first(self) -> Player:
        """The player of the first run, at the step that differs."""
        return self._play(0)

    @cached_property
    def second(self) -> Player:
        """The player of the second run, at the step that differs."""
        return self._play(1)

    def _play(self, number: int) -> Player:
        player, step = Player(Written(self._documents[number])), self.difference and self.difference.steps[number]
        player.step = step or player.step
        return player

    def page(self) -> str:
        """Return a complete HTML document: what differs, and both players, each at the step that does."""
        named = zip(self._names, (self.first, self.second), strict=True)
        players = "".join(f"<h2>{escape(name)}</h2>{player.html()}" for name, player in named)
        return html.page(
            " and ".join(self._names), f'{LOWER}<div class="autodiff-compared">{self._about}{players}</div>'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the comparison to a file.

        Parameters
        ----------
        path
            A name that ends in .html (the page, which needs no network) or .txt (what `print` writes).

        Raises
        ------
        ValueError
            If the name has another ending.
        """
        save(path, {".html": lambda: self.page().encode(errors="replace"), ".txt": lambda: f"{self}\n".encode()})

    @property
    def _about(self) -> str:
        lines = f"<pre>{escape(chr(10).join(self._lines))}</pre>" if self._lines else ""
        return f"<p><strong>{escape(self._sentence)}</strong></p>{lines}<p>{escape(self._remark)}</p>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        only_first = self.difference is not None and self.difference.steps[1] is None
        player = (self.first if only_first else self.second)._repr_mimebundle_()["text/html"]
        return {"text/plain": str(self), "text/html": f"<div>{self._about}{player}</div>"}
