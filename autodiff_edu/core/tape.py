"""The tape: a list of entries, written while your code runs and read backwards to differentiate it.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.constant(2.0)
>>> with ad.GradientTape() as tape:
...     tape.watch(x)
...     y = x * np.sin(x)
>>> print(tape)
#  line             entry        value
1  doctest, line 3  t1 = sin(x)  0.909297
2  doctest, line 3  y = x * t1   1.81859
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..arrays.structures import rebuild
from ..derivatives.requests import check_option, note_results, seeds_of, tensors_of, unusable
from ..rules.unruled import check_ruled
from . import events
from .entry import Contribution, Entry, Step
from .events import active, emit
from .questions import Questions
from .rule import RULES, settle
from .tensor import Tensor, as_tensor, wrap
from .variable import Variable


class GradientTape(Questions):
    """A list of the operations computed while it records, which can be read backwards.

    Parameters
    ----------
    persistent : bool
        Whether `gradient` may be called more than once. A one-shot tape lets go of its arrays after the first.
    watch_accessed_variables : bool
        Whether trainable variables are watched when they are read.

    Attributes
    ----------
    entries : list of Entry
        What was recorded, in order.

    Examples
    --------
    Tapes nest, so any order of derivative is to be had:

    >>> import autodiff_edu as ad
    >>> x = ad.Variable(1.0)
    >>> with ad.GradientTape() as outer:
    ...     with ad.GradientTape() as inner:
    ...         y = x**3
    ...     slope = inner.gradient(y, x)
    >>> slope, outer.gradient(slope, x)
    (Tensor(3.), Tensor(6.))
    """

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: str = "none"
    ) -> Any:
        """Differentiate the target by the sources; a target that is no scalar stands for the sum of its elements.

        Parameters
        ----------
        target : Tensor, Variable, or a nested list, tuple or dict of them
            What is differentiated. Several targets are added up.
        sources : Tensor, Variable, or a nested list, tuple or dict of them
            By what.
        output_gradients : array_like, or a structure like that of the target, optional
            The first cotangents, each of its target's shape; None stands for ones.
        unconnected_gradients : {"none", "zero", "explain"}
            What to give for a source that the target does not depend on; "explain" raises an error that says why.

        Returns
        -------
        Tensor or None, in the structure of the sources
            Each of the shape and dtype of its source.

        Raises
        ------
        RuntimeError
            If the tape was never entered, or is a one-shot tape that was used already.
        TypeError
            If a target or a source is not a tensor.
        ValueError
            If the structure, the number or a shape of `output_gradients` does not match the targets; an
            `UnconnectedError` under "explain".
        LookupError
            If a NumPy function on the way has no rule.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> w, b = ad.Variable([1.0, 2.0]), ad.Variable(0.5)
        >>> with ad.GradientTape() as tape:
        ...     loss = np.sum((w * 3.0 + b) ** 2)
        >>> tape.gradient(loss, {"w": w, "b": b})
        {'w': Tensor([21., 39.]), 'b': Tensor(20.)}
        """
        tensors = tensors_of(sources, "sources")
        seeds = seeds_of(target, output_gradients)
        check_option(unconnected_gradients, self, target, tensors)
        with self._reading():
            cotangents = self._sow(seeds)
            deque(self._walk(cotangents, {t._id for t in tensors}, release=not self.persistent), maxlen=0)
        if unconnected_gradients == "zero":
            cotangents |= {t._id: np.zeros_like(t._array)[()] for t in tensors if t._id not in cotangents}
        results = [as_tensor(cotangents.get(t._id)) for t in tensors]
        note_results("gradient", [tensor for tensor, _ in seeds], tensors, results)
        return rebuild(sources, iter(results))

    def steps(self, target: Any, sources: Any, output_gradients: Any = None) -> Iterator[Step]:
        """Walk backwards one entry at a time; `gradient` is this walk, run to its end.

        A one-shot tape is used up when the walk starts, with the first `next`. Parameters and errors are `gradient`'s.

        Returns
        -------
        iterator of Step
            The entry, the cotangent that arrived, and the contributions, each with the accumulator before and after.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> a = ad.Variable(3.0)
        >>> with ad.GradientTape() as tape:
        ...     b = a * a
        >>> step = next(tape.steps(b, a))
        >>> [(c.before, c.value, c.after) for c in step.contributions]
        [(None, Tensor(3.), Tensor(3.)), (Tensor(3.), Tensor(3.), Tensor(6.))]
        """
        wanted = {tensor._id for tensor in tensors_of(sources, "sources")}
        return self._steps(seeds_of(target, output_gradients), wanted)

    def _steps(self, seeds: list[tuple[Tensor, Any]], wanted: set[int]) -> Iterator[Step]:
        with self._reading():
            for entry, cotangent, contributions in self._walk(self._sow(seeds), wanted):
                shown = (Contribution(i, id, *map(as_tensor, sums)) for i, id, *sums in contributions)
                yield Step(entry, as_tensor(cotangent), tuple(shown))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Guard a backward pass: a one-shot tape allows one, does not record it, and lets go of its arrays after it."""
        if not self._usable:
            raise unusable(used=bool(self.entries or self._watched))
        if self.persistent:
            yield
            return
        self._check_thread()
        paused, place = self not in active.tapes, self._step_out()
        self._usable = False
        try:
            yield
        except (Exception, KeyboardInterrupt):  # a walk that failed has lost nothing, unless it had begun to release
            self._usable = all(entry.values is not None for entry in self.entries)
            if self._usable and self._recording and not paused and self not in active.tapes:
                self._step_in(place)
            raise
        finally:
            if not self._usable:
                self._recording = False
                self._release()

    def _release(self) -> None:
        self._mark("release")
        for entry in self.entries:
            entry.values = entry.output_value = None
        for id, (tensor, where) in self._watched.items():
            self._watched[id] = (tensor if isinstance(tensor, Variable) else None, where)
        self._announce(events.Release)

    def _sow(self, seeds: list[tuple[Tensor, Any]]) -> dict[int, Any]:
        cotangents: dict[int, Any] = {}
        for target, seed in seeds:
            before = cotangents.get(target._id)
            cotangents[target._id] = seed if before is None else before + seed
            self._announce(events.Seed, target, as_tensor(seed))
        return cotangents

    def _walk(
        self, cotangents: dict[int, Any], wanted: set[int], stack: tuple[int, ...] = (), release: bool = False
    ) -> Iterator[tuple[Entry, Any, list[Any]]]:
        """Pull the cotangents back, entry by entry; at the end those of the wanted tensors are left in the dict.

        With a `stack`, every cotangent carries that leading axis. Arrays and contributions are plain arrays, unless
        an outer tape is recording this walk: then they are tensors. With `release`, an entry lets go of its arrays as
        soon as the walk has passed it; unless a rule of the user's own, which may fail, lies on the way.
        """
        entries, connected = self.entries[:], self._connected
        needed, unruled = wanted & connected, False
        for entry in entries:
            if not needed.isdisjoint(entry.ids) and entry.output_id in connected:
                needed.add(entry.output_id)
                rule = RULES.get(entry.operation)
                unruled, release = unruled or rule is None, release and not (rule and rule.own)
        if unruled:
            check_ruled(entries, needed, cotangents)
        for entry in reversed(entries):
            output_id = entry.output_id
            cotangent = cotangents.get(output_id)
            if cotangent is None or needed.isdisjoint(entry.ids):
                continue
            if output_id not in wanted:
                del cotangents[output_id]  # the walk has passed its last use
            rule = RULES[entry.operation]
            g, y, values, parameters = cotangent, entry.output_value, entry.values, entry.parameters
            if active.tapes and entry.is_followed(cotangent):
                values, y = entry.inputs, entry.output
            if active.hooks:
                emit(events.PullBack(self, entry, as_tensor(cotangent)))
            if type(g) is not np.float64 and g.dtype.kind == "c":
                g = np.conjugate(g)
            contributions: list[Any] = []
            for argument, id in enumerate(entry.ids):
                if id in needed and (pull := rule.pull(argument)):
                    value = pull(g, y, *values, **parameters)
                    if value is None:  # so said a custom gradient
                        continue
                    value = settle(value, values[argument], stack)
                    before = cotangents.get(id)
                    cotangents[id] = after = value if before is None else before + value
                    contributions.append((argument, id, before, value, after))
                    if active.hooks:
                        tensor, sums = wrap(entry.values[argument], id), map(as_tensor, (before, value, after))
                        emit(events.Accumulate(self, entry, argument, tensor, *sums))
            yield entry, cotangent, contributions
            if release:
                entry.values = entry.output_value = y = values = None
