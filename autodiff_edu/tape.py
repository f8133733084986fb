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

from . import events
from .arguments import check_option, seeds_of, tensors_of, unusable
from .entry import Contribution, Entry, Step
from .events import active, emit
from .recorder import Recorder
from .rules.kinds import RULES, settle
from .structures import rebuild
from .tensor import Tensor, as_tensor, wrap
from .unruled import check_ruled
from .variable import Variable


class GradientTape(Recorder):
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
        unconnected_gradients : {"none", "zero"}
            What to give for a source that the target does not depend on.

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
            If the structure, the number or a shape of `output_gradients` does not match the targets.
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
        check_option(unconnected_gradients)
        tensors = tensors_of(sources, "sources")
        seeds = seeds_of(target, output_gradients)
        with self._reading():
            cotangents = self._sow(seeds)
            deque(self._walk(cotangents, {t._id for t in tensors}, release=not self.persistent), maxlen=0)
        if unconnected_gradients == "zero":
            cotangents |= {t._id: np.zeros_like(t._array)[()] for t in tensors if t._id not in cotangents}
        return rebuild(sources, iter([as_tensor(cotangents.get(t._id)) for t in tensors]))

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: str = "none", chunk_size: int | None = None
    ) -> Any:
        """Differentiate every element of the target by every element of the sources, in one backward pass.

        Parameters
        ----------
        target : Tensor
            Real.
        sources, unconnected_gradients
            As for `gradient`, and so are the errors.
        chunk_size : int, optional
            How many elements of the target to treat at once; by default as many as fit into 256 MiB.

        Returns
        -------
        Tensor or None, in the structure of the sources
            Of shape `target.shape + source.shape`.
        """
        from .jacobians import jacobian

        return jacobian(self, target, sources, unconnected_gradients, chunk_size)

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: str = "none", check: bool = False, chunk_size: Any = None
    ) -> Any:
        """Differentiate each sample of the target by its own sample of the source; the first axes count samples.

        Samples must not mix, as they do in batch normalisation.

        Parameters
        ----------
        target, source : Tensor
            Of rank 2 or more, with as many samples.
        unconnected_gradients, chunk_size
            As for `jacobian`; a chunk is of elements of one sample.
        check : bool
            Whether to raise a ValueError that names samples on which others depend.

        Returns
        -------
        Tensor or None
            Of shape `target.shape + source.shape[1:]`.
        """
        from .jacobians import batch_jacobian

        return batch_jacobian(self, target, source, unconnected_gradients, check, chunk_size)

    def steps(self, target: Any, sources: Any, output_gradients: Any = None) -> Iterator[Step]:
        """Walk backwards one entry at a time; `gradient` is this walk, run to its end.

        A one-shot tape is used up when the walk starts, with the first `next`. Parameters and errors are `gradient`'s.

        Yields
        ------
        Step
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
        seeds = seeds_of(target, output_gradients)
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
        paused, place = self not in active.tapes, self._step_out()
        self._usable = False
        try:
            yield
        except Exception:  # a walk that failed has lost nothing, unless it had begun to release
            self._usable = all(entry.values is not None for entry in self.entries)
            if self._usable and self._recording and not paused:
                self._step_in(place)
            raise
        finally:
            if not self._usable:
                self._recording = False
                self._release()

    def _release(self) -> None:
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
        soon as the walk has passed it, so that what comes can use their memory.
        """
        entries, connected = self.entries[:], self._connected
        needed, unruled = wanted & connected, False
        for entry in entries:
            if not needed.isdisjoint(entry.ids) and entry.output_id in connected:
                needed.add(entry.output_id)
                unruled |= entry.operation not in RULES
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
                    value = settle(pull(g, y, *values, **parameters), values[argument], stack)
                    before = cotangents.get(id)
                    cotangents[id] = after = value if before is None else before + value
                    contributions.append((argument, id, before, value, after))
                    if active.hooks:
                        tensor, sums = wrap(entry.values[argument], id), map(as_tensor, (before, value, after))
                        emit(events.Accumulate(self, entry, argument, tensor, *sums))
            yield entry, cotangent, contributions
            if release:
                entry.values = entry.output_value = y = values = None

    def __str__(self) -> str:
        from .labels import table

        return table(self)

    def __repr__(self) -> str:
        return f"<GradientTape: {'persistent' if self.persistent else 'one-shot'}, {len(self.entries)} entries>"
