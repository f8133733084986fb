"""The tape: a list of entries, written while your code runs and read backwards to differentiate it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Self

from ..arrays.validate import USUAL, freeze
from ..text.frames import Where, here
from ..text.with_block import ExitMethod, WithBlock
from . import rule
from .active import Follower, Hear, begin, emit, now, start_listening, stop_listening, tick
from .entry import Entry
from .events import Accumulate, Cut, Enter, Event, Exit, Pass, PullBack, Record, Release, Seed, Skip, Watch
from .reach import between
from .rule import RULES, rule_of
from .tensor import Tensor, as_tensor
from .variable import Variable
from .walk import walk, with_tensors

_CONSTANT = USUAL | {Tensor}  # types of immutable values


class Tape(WithBlock, Follower):
    """A list of the entries it follows, readable backwards; `GradientTape` adds the questions."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent, self.watch_accessed_variables = persistent, watch_accessed_variables
        self._forget()
        self.forgotten: set[int] = set()
        self.life: deque[tuple[int, str, Where]] = deque(maxlen=100)
        self._usable, self._failed, self.thread = False, "", 0

    def __enter__(self) -> Self:
        self._check_thread()
        if self._recording:
            raise ValueError("this tape is already recording; leave its with block first, or create a second tape")
        if not self._usable:
            self._forget()
            self.forgotten = set()
        begin(self)
        self._usable, self.thread = True, get_ident()
        self._mark(Enter)
        start_listening(self)
        return self

    @ExitMethod
    def __exit__(self, *exception: object) -> None:
        self._check_thread()
        stop_listening(self)
        if self._recording:
            self._mark(Exit)
        self.end()

    @property
    def nbytes(self) -> int:
        """The bytes of the NumPy arrays that the tape's entries hold; one that several hold, or view, counts once."""
        from ..arrays.memory import owners  # imported only when asked

        values = (value for entry in self.entries for value in (entry.output_value, *(entry.values or ())))
        return sum({id(owner): owner.nbytes for owner in owners(values)}.values())

    @property
    def hears(self) -> Mapping[type, Hear]:
        """A tape hears of operations."""
        return {Entry: self._record}

    def _record(self, entry: Entry) -> None:
        """Append an entry if the tape follows one of its inputs."""
        if self._running() is None:  # an interrupt ended the block
            return
        fixed = True  # whether nobody can write into the arguments
        for x in entry.given:
            if type(x) not in _CONSTANT:
                fixed = False
                if isinstance(x, Variable) and self.watches(x):
                    self.watch_tensor(x)
        ids, output_id, _, _ = entry.line
        if self.refused:
            self.refused.check(ids)
        connected = not self.connected.isdisjoint(ids)
        heard = now().heard
        if not connected and not heard[Skip]:
            return
        if type(entry.values) is tuple:  # another tape keeps it, and may release it at any time
            entry = entry.copy()
        else:
            entry.values = tuple(entry.values if fixed else map(freeze, entry.values, ids))
        if not connected:
            emit(Skip, self, entry)
            return
        self.entries.append(entry)
        known = RULES.get(entry.operation) or rule_of(entry.operation)
        cut = known.kind == "step" if known else entry.output_value.dtype.kind not in "fc"
        if not cut:
            self.connected.add(output_id)
        kind = Cut if cut else Record
        if heard[kind]:
            emit(kind, self, entry)

    def follows(self, ids: Any) -> bool:
        """Return whether this tape is in its block and has a path back to one of these tensors."""
        return self._recording and not self.connected.isdisjoint(ids)

    def refuse_loss(self, tensor: Tensor, refuse: Any) -> None:
        """Call `refuse` if this tape follows the tensor, or would watch it when it is read."""
        if self.refused:
            self.refused.check((tensor._id,))
        if tensor._id in self.connected or (isinstance(tensor, Variable) and self.watches(tensor)):
            refuse(self.life)

    def watches(self, variable: Variable) -> bool:
        """Return whether reading a variable is enough for this tape to watch it."""
        return self.watch_accessed_variables and variable.trainable and variable.dtype.kind in "fc"

    def watch_tensor(self, tensor: Tensor) -> None:
        """Follow a tensor from here on: what is computed from it is recorded."""
        if tensor._id not in self.watched:
            self.watched[tensor._id] = (tensor, where := here())
            self.connected.add(tensor._id)
            emit(Watch, self, tensor, where)

    def _forget(self) -> None:
        self.entries: list[Entry] = []
        self.connected: set[int] = set()
        self.watched: dict[int, tuple[Tensor | None, Where]] = {}
        self.refused: Any = None  # what was computed out of the tape's sight, if anything: `custom/inner_tensors.py`

    _recording = property(lambda self: self._running() is not None)

    def _check_thread(self) -> None:
        if self._recording and self.thread != get_ident():
            raise RuntimeError("this tape is recording in another thread; create one tape per thread")

    def _mark(self, kind: type[Event]) -> None:
        self.life.append((tick(), kind.__name__.lower(), here(2)))
        emit(kind, self)

    def pull_back(self, seeds: list[tuple[Tensor, Any]], sources: list[Tensor]) -> list[Any]:
        """Differentiate (tensor, seed) pairs; return a tensor or None for each source."""
        with self.backward_pass():
            cotangents, wanted = self.seed(seeds), {source._id for source in sources}
            deque(self.walk(cotangents, wanted, release=not self.persistent), maxlen=0)
        found = {id: as_tensor(cotangent) for id, cotangent in cotangents.items()}
        return [found.get(source._id) for source in sources]

    def seed(self, seeds: list[tuple[Tensor, Any]]) -> dict[int, Any]:
        """Add up the first cotangents of each target, by its id."""
        if self.refused and len(seeds) > 1:  # alone, it gives None; in a sum, it would be left out in silence
            self.refused.check([target._id for target, _ in seeds])
        cotangents: dict[int, Any] = {}
        for target, seed in seeds:
            before = cotangents.get(target._id)
            cotangents[target._id] = seed if before is None else before + seed
            if now().heard[Seed]:
                emit(Seed, self, target, as_tensor(seed))
        return cotangents

    def walk(
        self, cotangents: Any, wanted: Any, stack: Any = (), release: bool = False, lazy: bool = False
    ) -> Iterator[Event]:
        """Check that every entry on the way has a rule, then walk; if `lazy`, listeners added later hear it too."""
        rules = [rule_of(operation) for operation in {entry.operation for entry in self.entries}]
        if None in rules:
            self._check_ruled(wanted, set(cotangents))
        events = walk(self.entries, self.connected, cotangents, wanted, stack, release, self)
        heard = now().heard
        if lazy or heard[PullBack] or heard[Accumulate] or heard[Pass]:
            return self._emit_each(events)
        return events

    def _emit_each(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if heard := now().heard[type(event)]:
                told = with_tensors(event)
                if type(event) is Accumulate:  # the tensor stays when the tape releases its entry
                    told = told.replace(tensor=event.entry.argument(event.argument))
                for hear in heard:
                    hear(told)
            yield event

    def _check_ruled(self, wanted: set[int], targets: set[int]) -> None:
        """Raise a LookupError before the walk if an entry on the way has no rule."""
        smooth = [entry for entry in self.entries if entry.output_id in self.connected]
        for entry in reversed(between(smooth, wanted & self.connected, targets)):
            if rule_of(entry.operation) is None:
                raise rule.no_rule(entry)

    @contextmanager
    def backward_pass(self) -> Iterator[None]:
        """Guard a backward pass. A one-shot tape allows only one, does not record it, then releases its arrays."""
        self.check_usable()
        if self.persistent:
            yield
            return
        self._check_thread()
        place = stop_listening(self)  # None if the tape is paused
        self._usable, self._failed = False, ""
        try:
            yield
        except (Exception, KeyboardInterrupt) as error:  # usable again if nothing has been released yet
            self._usable = all(entry.values is not None for entry in self.entries)
            self._failed = f", in a backward pass that raised {type(error).__name__} on the way,"
            if self._usable and self._recording and place is not None and self not in now().listeners:
                start_listening(self, place)
            raise
        finally:
            if not self._usable:
                self.end()
                for entry in self.entries:
                    entry.release()
                for id, (tensor, where) in self.watched.items():
                    self.watched[id] = (tensor if isinstance(tensor, Variable) else None, where)
                self._mark(Release)

    def check_usable(self) -> None:
        """Raise a RuntimeError if there is nothing to differentiate: nothing was recorded, or it was released."""
        if not self._usable:
            raise RuntimeError(
                f"this one-shot tape has already been used{self._failed} and has released its arrays; write "
                "GradientTape(persistent=True) to differentiate more than once"
                if self.entries or self.watched
                else "this tape has recorded nothing: compute the target inside `with tape:`, then ask for the gradient"
            )
