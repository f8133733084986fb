"""The tape: a list of entries, written while your code runs and read backwards to differentiate it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Self

from ..arrays.memory import owners
from ..arrays.validate import USUAL, check_watchable, freeze
from ..text.places import Where, here
from ..text.with_block import Exit, WithBlock
from . import rule
from .active import announce, begin, listen, now, tick
from .entry import Entry
from .rule import RULES
from .tensor import Tensor, as_tensor, wrap
from .variable import Variable
from .walk import Added, Arrived, needed_for, walk

_CONSTANT = USUAL | {Tensor}  # types of immutable values


class Tape(WithBlock):
    """A list of the entries it follows, readable backwards; `GradientTape` adds the questions."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent, self.watch_accessed_variables = persistent, watch_accessed_variables
        self._forget()
        self._forgotten: set[int] = set()
        self._life: deque[tuple[int, str, Where]] = deque(maxlen=100)
        self._usable, self._thread = False, 0

    def __enter__(self) -> Self:
        self._check_thread()
        if self._recording:
            raise ValueError("this tape is already recording; leave its with block first, or create a second tape")
        if not self._usable:
            self._forget()
            self._forgotten = set()
        begin(self)
        self._usable, self._thread = True, get_ident()
        self._mark("enter")
        self._start_listening(len(now().listeners))
        return self

    @Exit
    def __exit__(self, *exception: object) -> None:
        self._check_thread()
        self._stop_listening()
        if self._recording:
            self._mark("exit")
        self.end()

    @property
    def nbytes(self) -> int:
        """The bytes of the NumPy arrays that the tape's entries hold; one that several hold, or view, counts once."""
        values = (value for entry in self.entries for value in (entry.output_value, *(entry.values or ())))
        return sum({id(owner): owner.nbytes for owner in owners(values)}.values())

    def _record(self, entry: Entry, inputs: tuple[Any, ...]) -> None:
        """Append an entry if the tape follows one of its inputs. This method is the listener."""
        if entry.values is None or self._running() is None:  # not an operation; or an interrupt ended the block
            return
        constant = True
        for x in inputs:
            if type(x) not in _CONSTANT:
                constant = False
                if isinstance(x, Variable) and self._watches(x):
                    self._watch(x)
        ids, output_id, _, _ = entry.line
        connected = not self._connected.isdisjoint(ids)
        if not connected and not now().hooks:
            return
        if type(entry.values) is tuple:  # claimed by another tape, which may release it at any time
            entry = entry.copy()
        else:
            entry.values = tuple(entry.values if constant else map(freeze, entry.values, ids))
        if not connected:
            announce("Skip", self, entry)
            return
        self.entries.append(entry)
        known = RULES.get(entry.operation)
        cut = known.kind == "step" if known else entry.output_value.dtype.kind not in "fc"
        if not cut:
            self._connected.add(output_id)
        if now().hooks:
            announce("Cut" if cut else "Record", self, entry)

    def follows(self, ids: Any) -> bool:
        """Return whether this tape has a path back to one of these tensors."""
        return self._recording and not self._connected.isdisjoint(ids)

    def guard(self, tensor: Tensor, check: Any) -> Any:
        """Run `check` before handing out plain numbers of a tensor that this tape follows, or would follow if read."""
        if tensor._id in self._connected or (isinstance(tensor, Variable) and self._watches(tensor)):
            check(self._life)
        return check

    def _watches(self, variable: Variable) -> bool:
        return self.watch_accessed_variables and variable.trainable and variable.dtype.kind in "fc"

    def watch(self, tensors: Any) -> None:
        """Follow tensors from here on: what is computed from them is recorded.

        Parameters
        ----------
        tensors : Tensor, Variable, or a nested list, tuple or dict of them
            Their dtypes must be floating or complex.

        Raises
        ------
        ValueError, TypeError, RuntimeError
            If something is not a tensor, holds integers or booleans, or the tape is not recording.
        """
        self._check_recording(RuntimeError, "it cannot watch; call watch")
        for tensor in check_watchable(tensors):
            self._watch(tensor)

    def _watch(self, tensor: Tensor) -> None:
        if tensor._id not in self._watched:
            self._watched[tensor._id] = (tensor, where := here())
            self._connected.add(tensor._id)
            announce("Watch", self, tensor, where)

    def _forget(self) -> None:
        self.entries: list[Entry] = []
        self._connected: set[int] = set()
        self._watched: dict[int, tuple[Tensor | None, Where]] = {}

    _recording = property(lambda self: self._running() is not None)

    def _check_thread(self) -> None:
        if self._recording and self._thread != get_ident():
            raise RuntimeError("this tape is recording in another thread; create one tape per thread")

    def _check_recording(self, error: type[Exception], remedy: str) -> None:
        self._check_thread()
        if not self._recording:
            raise error(f"this tape is not recording, so {remedy} inside its with block")

    def _start_listening(self, place: int) -> None:
        listen(*now().listeners[:place], self._record, *now().listeners[place:])

    def _stop_listening(self) -> int:
        if self not in now().followers:
            return 0
        before: tuple[Any, ...] = now().listeners
        listen(*[listener for listener in before if listener != self._record])
        return before.index(self._record)

    def _mark(self, what: str) -> None:
        self._life.append((tick(), what, here(2)))  # an event in the life of the tape
        announce(what.title(), self)

    def gradient(self, target: Any, sources: Any) -> Any:
        """Differentiate a list of (tensor, seed) pairs; return a tensor or None for each source."""
        with self._reading():
            cotangents, wanted = self._seed(target), {source._id for source in sources}
            deque(self._walk(cotangents, wanted, release=not self.persistent), maxlen=0)
        return [as_tensor(cotangents.get(source._id)) for source in sources]

    def steps(self, target: Any, sources: Any) -> Iterator[Any]:
        """Walk backwards, one event at a time; no array is released before the end."""
        with self._reading():
            yield from self._walk(self._seed(target), {source._id for source in sources}, lazy=True)

    def _seed(self, seeds: list[tuple[Tensor, Any]]) -> dict[int, Any]:
        cotangents: dict[int, Any] = {}
        for target, seed in seeds:
            before = cotangents.get(target._id)
            cotangents[target._id] = seed if before is None else before + seed
            if now().hooks:
                announce("Seed", self, target, as_tensor(seed))
        return cotangents

    def _walk(self, cotangents: Any, wanted: Any, stack: Any = (), release: bool = False, lazy: bool = False) -> Any:
        """Check that every entry on the way has a rule, then walk and notify hooks; if `lazy`, later hooks too."""
        operations = {entry.operation for entry in self.entries}
        if not operations <= RULES.keys():
            self._check_ruled(wanted, set(cotangents))
        release = release and not any(o in RULES and RULES[o].own for o in operations)  # a user's rule may fail
        happenings = walk(self.entries, self._connected, cotangents, wanted, stack, release)
        return self._announced(happenings) if now().hooks or lazy else happenings

    def _announced(self, happenings: Iterator[Any]) -> Iterator[Any]:
        for happening in happenings:
            if now().hooks and isinstance(happening, Arrived):
                announce("PullBack", self, happening.entry, as_tensor(happening.cotangent))
            elif now().hooks and isinstance(happening, Added):
                entry, k, *sums = happening
                announce("Accumulate", self, entry, k, wrap(entry.values[k], entry.ids[k]), *map(as_tensor, sums))
            yield happening

    def _check_ruled(self, wanted: set[int], targets: set[int]) -> None:
        """Raise a LookupError before the walk if an entry on the way has no rule."""
        needed, reached = needed_for(wanted, self.entries, self._connected), set(targets)
        for entry in reversed(self.entries):
            if entry.output_id in reached and entry.output_id in needed:
                if entry.operation not in RULES:
                    raise rule.no_rule(entry)
                reached.update(id for id in entry.ids if id is not None)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Guard a backward pass. A one-shot tape allows only one, does not record it, then releases its arrays."""
        self.check_usable()
        if self.persistent:
            yield
            return
        self._check_thread()
        paused, place = self not in now().followers, self._stop_listening()
        self._usable = False
        try:
            yield
        except (Exception, KeyboardInterrupt):  # usable again if nothing has been released yet
            self._usable = all(entry.values is not None for entry in self.entries)
            if self._usable and self._recording and not paused and self not in now().followers:
                self._start_listening(place)
            raise
        finally:
            if not self._usable:
                self.end()
                for entry in self.entries:
                    entry.release()
                for id, (tensor, where) in self._watched.items():
                    self._watched[id] = (tensor if isinstance(tensor, Variable) else None, where)
                self._mark("release")

    def check_usable(self) -> None:
        """Raise a RuntimeError if there is nothing to differentiate: nothing was recorded, or it was released."""
        if not self._usable:
            raise RuntimeError(
                "this one-shot tape has already been used and has released its arrays; write "
                "GradientTape(persistent=True) to differentiate more than once"
                if self.entries or self._watched
                else "this tape has recorded nothing: compute the target inside `with tape:`, then ask for the gradient"
            )
