"""The flow from a source to a target: what a tape follows, what else was computed, and where the two diverge.

The entries of the tape and the lines of the journal are put in order of time. Two walks over them, forward from the
source and back from the targets, leave the operations on a path from one to the other.

Numbers that were taken out of a tensor can be followed only as far as the user's code shows: into the expression around
them, as in `ad.constant(float(x))`, or into the variables that they reach.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..core.active import only
from ..core.entry import PLAIN, Entry
from ..core.rule import kind_of, rule_of, runs_code
from ..core.tensor import Tensor, wrap
from ..custom.inner_tensors import stray_of
from ..text.frames import Where
from ..text.places import names
from .journal import ASSIGN, DECISIONS, FORMAT, INT, MADE, JournalLine, journal
from .plain_values import Sources, decides, used_at
from .sentences import Reason

if TYPE_CHECKING:
    from ..core.tape import Tape


class Mark(NamedTuple):
    """An event in a tape's life: "enter", "exit", "pause", "resume", "reset" or "release", when, and where."""

    time: int
    what: str
    where: Where


class Link:
    """An operation, or anything else that took values from some tensors to another, and whether a tape follows it.

    Attributes
    ----------
    entry : Entry
        An entry of the tape, or one made from a line of the journal, without arrays.
    recorded : bool
        Whether the tape recorded it.
    alive : set of int
        The inputs through which a cotangent flows back.
    cut : Reason or None
        Why none does; None also if this operation is not to blame.
    dead : set of int
        The inputs on a path that a tape follows, but with respect to which the operation has no derivative.
    inside : bool
        Whether it was computed inside a checkpointed function, of which the tape recorded the call.
    on_path : bool
        Whether it is on a path from the source to a target.
    """

    __slots__ = ("alive", "cut", "dead", "entry", "inside", "on_path", "recorded", "time")

    def __init__(self, time: int, entry: Entry, recorded: bool, alive: set[int], cut: Reason | None) -> None:
        self.time = time
        self.entry = entry
        self.recorded = recorded
        self.alive = alive
        self.cut = cut
        self.dead: set[int] = set()
        self.inside = self.on_path = False


class Flow:
    """Everything that was computed, in order of time, as one tape sees it between a source and some targets.

    If no path is certain, `is_guess` is true, and any plain numbers may have come from any tensor.
    """

    def __init__(self, tape: Tape, targets: list[Tensor], source: Tensor) -> None:
        self.tape, self.targets, self.source = tape, targets, source
        self.others = [target for target in targets if target._id != source._id]
        self.kept = journal.lines()
        self.life = [Mark(*mark) for mark in tape.life]
        recorded = {entry.output_id for entry in tape.entries}
        self._segments = [entry for entry in tape.entries if kind_of(entry.operation) == "checkpoint"]
        self.links = [self._link_entry(entry) for entry in tape.entries]
        # a function without a rule takes its arguments out of their tensors, but is recorded all the same
        called = {(_key(line.where), line.operation.__name__) for line in self.kept if callable(line.operation)}
        self.links += [
            self._link_line(line)
            for line in self.kept
            if not (
                line.operation in DECISIONS
                or (callable(line.operation) and line.output_id in recorded)
                or (line.output_id == PLAIN and (_key(line.where), line.operation) in called)
            )
        ]
        self.links.sort(key=lambda link: link.time)
        self._taken: dict[Hashable, set[Hashable]] = {}
        goals = {target._id for target in targets}
        self._end = max((link.time for link in self.links if link.entry.output_id in goals), default=0)
        between = [link for link in self.links if source._id <= link.time <= self._end]  # a tensor's id is its time
        self._left = {_key(link.entry.where): link.entry.where for link in between if link.cut is Reason.LEFT}
        self._sources = Sources(link.entry.where[0].co_filename for link in (between if self._left else ()))
        self._reached_from: dict[Hashable, set[Hashable]] = {}
        self.failures: dict[int, Exception] = {}
        self.is_guess = False
        self.lost = self._find_lost()
        self._mark_paths(self.links)
        self._live = set(tape.connected)
        for link in self.links:
            custom = runs_code(link.entry.operation)
            if link.on_path and link.cut is None and (link.recorded or link.inside or custom):
                self._find_dead(link)
            if link.inside and link.cut is None and not self._live.isdisjoint(link.alive):
                self._live.add(link.entry.output_id)
        self.is_guess = not any(link.on_path for link in self.links)
        if self.is_guess:
            self._mark_paths(self.links)

    def origin(self, tensor: Tensor) -> JournalLine | None:
        """Return the line of the journal in which a tensor was made or computed, if it is remembered."""
        lines = (line for line in reversed(self.kept) if line.output_id == tensor._id and line.operation != ASSIGN)
        return next(lines, None)

    def cuts(self) -> list[Link]:
        """List the links on a path that stop the flow back and are to blame for it.

        A checkpointed function is not listed if something inside it is to blame.
        """
        found = [link for link in self.links if link.on_path and link.cut is not None]
        inside = [link.time for link in found if link.inside]
        return [link for link in found if not any(_spans(link.entry, time) for time in inside)]

    def back(self) -> Iterator[Link]:
        """Yield the links on a path from the targets back to the cuts; none behind a cut."""
        needed: set[Hashable] = {target._id for target in self.targets if not stray_of(self.tape, target._id)}
        for link in reversed(self.links):
            if link.on_path and not needed.isdisjoint(self._outputs(link)):
                yield link
                if link.cut is None:
                    needed |= self._inputs(link.entry)

    def find_exits(self) -> list[Link]:
        """List where numbers were taken out of tensors on a path, if nothing else can explain the targets.

        This is a guess, because plain numbers cannot be followed. Those taken while the tape recorded come first.
        """
        left = [link for link in self.cuts() if link.cut is Reason.LEFT]
        return [link for link in left if self.why_not(link.time) is None] or left

    def decisions(self) -> list[JournalLine]:
        """List where Python decided by what was computed from the source, if nothing else came of it meanwhile."""
        left = [line for line in self.kept if line.output_id == PLAIN and not self.why_not(line.time)]
        asked = {line.time: line for line in left if line.operation in DECISIONS or decides(line.where)}
        reached, ends = {self.source._id}, {self.source._id}
        for link in self.links:
            aside = link.time in asked or link.entry.operation == FORMAT or self.why_not(link.time)
            if not aside and not reached.isdisjoint(link.entry.ids):
                ends.difference_update(link.entry.ids)
                ends.add(link.entry.output_id)
                reached.add(link.entry.output_id)
        found = [line for line in asked.values() if line.ids[0] in reached]
        return found if ends <= {line.ids[0] for line in found} else []

    def latest(self, what: str) -> Where:
        """Return where this last happened to the tape, such as a reset."""
        return next(mark.where for mark in reversed(self.life) if mark.what == what)

    def path(self) -> tuple[Entry, ...] | None:
        """Find a shortest path through what the tape follows; None if there is none."""
        goals = {target._id for target in self.targets if target.dtype.kind in "fc"}
        if self.source._id in goals:
            return ()
        goals = {goal for goal in goals if not stray_of(self.tape, goal)}
        if self.source._id not in self.tape.connected:
            return None
        first: dict[int, tuple[int, Entry | None, int]] = {self.source._id: (0, None, 0)}
        for link in self.links:
            steps = [(first[id][0] + 1, id) for id in link.alive if id in first]
            if steps:
                length, id = min(steps)
                first.setdefault(link.entry.output_id, (length, link.entry, id))
        ends = [(first[goal][0], goal) for goal in goals if goal in first]
        if not ends:
            return None
        path: list[Entry] = []
        _, entry, id = first[min(ends)[1]]
        while entry is not None:
            path.append(entry)
            _, entry, id = first[id]
        return tuple(reversed(path))

    def why_not(self, time: int) -> Reason | None:
        """Return why the tape does not have what was computed at a time, or None if it was recording."""
        past = [mark.what for mark in self.life if mark.time < time]
        future = [mark.what for mark in self.life if mark.time > time]
        if not past:
            return Reason.BEFORE
        if "release" in future and "enter" in future[future.index("release") :]:
            return Reason.EARLIER
        if past[-1] in ("exit", "release"):
            return Reason.BETWEEN if "enter" in future else Reason.AFTER
        if past[-1] == "pause":
            return Reason.PAUSED
        return Reason.RESET if "reset" in future else None

    def _link_entry(self, entry: Entry) -> Link:
        if entry.output_id not in self.tape.connected:
            return Link(entry.output_id, entry, True, set(), _stops(entry.operation) or Reason.INTEGER)
        return self._passing(entry)

    def _passing(self, entry: Entry) -> Link:
        """Return the link of an operation that passes cotangents to the arguments that it has a rule for."""
        rule = rule_of(entry.operation)
        pulls = {id for k, id in enumerate(entry.ids) if id is not None and (not rule or rule.pull(k))}
        return Link(entry.output_id, entry, True, pulls, None)

    def _link_line(self, line: JournalLine) -> Link:
        link = Link(line.time, line, False, set(), self._cut_of(line))
        if line.thread == self.tape.thread and any(_spans(entry, line.time) for entry in self._segments):
            if callable(line.operation):
                link = self._passing(line)
                link.cut, link.recorded = _stops(line.operation), False
            link.inside = True
        return link

    def _cut_of(self, line: JournalLine) -> Reason | None:
        """Return why the tape did not record a line, judging by the tape's state at that time."""
        if line.operation == MADE:
            return Reason.COPIED if any(line.ids) else None
        if line.output_id == PLAIN:
            return Reason.LEFT
        if line.operation == ASSIGN:
            return Reason.ASSIGNED
        derivative = isinstance(line.operation, str)
        reason = self.why_not(line.time)
        if reason is None:
            if line.thread != self.tape.thread:
                return Reason.ANOTHER_THREAD
            if derivative:
                return Reason.CONSTANT_DERIVATIVE
            late = any(id in self.tape.connected for id in line.ids)
            return Reason.LATE if late else _stops(line.operation)
        return Reason.NESTING if derivative and reason is Reason.AFTER else reason

    def _find_dead(self, link: Link) -> None:
        """Find the inputs with respect to which an operation that the tape follows has no derivative."""
        if runs_code(link.entry.operation) and link.recorded:
            silent = self._silent(link.entry)
            link.alive = {id for k, id in enumerate(link.entry.ids) if id is not None and k not in silent}
        come = {id for id in link.entry.ids if id in self._reached and id in self._live}
        link.dead = {id for id in come if id is not None and id not in link.alive}
        link.dead |= {id for id in _beside(link.entry) if id in self._reached}
        if link.dead:
            link.cut = _find_reason(link.entry.operation, min(link.dead))

    def _silent(self, entry: Entry) -> set[int]:
        """List the inputs for which the backward function of a custom gradient returns None.

        The only way to know is to call it, with a cotangent of zeros and without a tape. For a released call, its
        operation remembers the result.
        """
        if entry.call is None:
            return set(entry.operation.silent)
        call, parts = entry.call, getattr(entry.operation, "parts", ())
        zeros = [wrap(np.zeros(output.shape, output.dtype)[()]) for output in call.outputs]
        try:
            with only():
                answer = call.backward_of(
                    [zero if not parts or parts[k] in self._needed else None for k, zero in enumerate(zeros)]
                )
        except Exception as error:  # gradient will raise it, so it does not return None
            self.failures[entry.output_id] = error
            return set()
        return {k for k, gradient in enumerate(answer) if gradient is None}

    def _find_lost(self) -> list[Link]:
        """List the cuts through which a gradient that is not None loses a part.

        What led to an earlier value of the source does not count, and neither does a derivative or an assignment made
        while this tape was not recording: training loops are full of them.
        """
        assigned = [
            link.time
            for link in self.links
            if link.cut is Reason.ASSIGNED and link.entry.output_id == self.source._id and link.time < self._end
        ]
        since = max(assigned, default=0)
        links = [
            link
            for link in self.links
            if link.time > since
            and (link.cut is None or link.cut.loses)  # nothing is lost behind a deliberate cut
            and link.entry.operation != INT  # a step, like np.floor
            and (callable(link.entry.operation) or link.entry.operation == MADE or self.why_not(link.time) is None)
        ]
        self._mark_paths(links)
        return [link for link in links if link.on_path and link.cut and link.cut.loses]

    def _mark_paths(self, links: list[Link]) -> None:
        """Mark the links between source and targets."""
        reached: set[Hashable] = {self.source._id}
        needed: set[Hashable] = {target._id for target in self.targets}
        ahead = []
        for link in links:
            ahead.append(not reached.isdisjoint(self._inputs(link.entry)))
            if ahead[-1]:
                reached |= self._outputs(link)
            elif self._replaces(link) and link.entry.output_id != self.source._id:
                reached.discard(link.entry.output_id)
        for link, forward in zip(reversed(links), reversed(ahead), strict=True):
            link.on_path = False
            if not needed.isdisjoint(self._outputs(link)):
                link.on_path = forward
                if self._replaces(link):
                    needed.discard(link.entry.output_id)
                needed |= self._inputs(link.entry)
        self._reached, self._needed = reached, needed

    def _replaces(self, link: Link) -> bool:
        """Return whether this is `v.assign(...)`, which leaves nothing of the variable's old value."""
        return link.cut is Reason.ASSIGNED and names(link.entry.where).function == "assign"

    def _outputs(self, link: Link) -> set[Hashable]:
        if link.cut is Reason.LEFT:
            anywhere = self.is_guess and link.entry.operation != FORMAT  # most text is only for reading
            return {_key(link.entry.where), PLAIN} if anywhere else {_key(link.entry.where)}
        return {link.entry.output_id}

    def _inputs(self, entry: Entry) -> set[Hashable]:
        """List what an entry is made from: tensors, places where its plain numbers left their tensors, or `PLAIN`."""
        known = [id for id in entry.ids if id]
        inputs: set[Hashable] = {*known, *_beside(entry), *getattr(entry.operation, "inside", ())}
        if len(known) == len(entry.ids):
            return inputs
        key = _key(entry.where), *map(bool, entry.ids)
        if key not in self._taken:
            self._taken[key] = self._taken_from(entry)
        return inputs | self._taken[key] if self.is_guess else inputs | (self._taken[key] - {PLAIN})

    def _taken_from(self, entry: Entry) -> set[Hashable]:
        written = names(entry.where)
        unknown = [not id for id in entry.ids]
        literal = written.literal[-len(unknown) :] if entry.operation == ASSIGN else written.literal
        if len(literal) >= len(unknown) and all(known for free, known in zip(unknown, literal, strict=False) if free):
            return set()
        taken: set[Hashable] = {PLAIN}
        used = used_at(entry.where, entry.name, tuple(unknown))
        for key, where in self._left.items():
            if key not in self._reached_from:
                self._reached_from[key] = self._sources.reached_from(where)
            if not used.isdisjoint(self._reached_from[key]):
                taken.add(key)
        return taken


def find_left(tape: Tape, target: Tensor, source: Tensor) -> list[Entry]:
    """List the lines of the journal by which plain numbers left the tape on a path from a source to a target."""
    return [link.entry for link in Flow(tape, [target], source).lost if link.cut is Reason.LEFT]


def _key(where: Where) -> Hashable:
    """Return a key for a place: code objects themselves take long to hash."""
    return id(where[0]), where[1]


def _stops(operation: Any) -> Reason | None:
    """Return how an operation stops the flow whatever its arguments, or None."""
    if kind_of(operation) != "step":
        return None
    return {"stop_gradient": Reason.STOPPED, "round_off": Reason.INTEGER}.get(operation.__name__, Reason.STEP)


def _find_reason(operation: Any, id: int) -> Reason:
    """Find why an operation has no derivative with respect to a tensor."""
    if not runs_code(operation):
        return Reason.ARGUMENT
    if id in operation.unseen:
        return Reason.CAPTURED if id in operation.captured else Reason.BY_KEYWORD
    return Reason.RECOMPUTED if kind_of(operation) == "checkpoint" else Reason.SILENT


def _beside(entry: Entry) -> frozenset[int]:
    """List the tensors that a custom gradient uses besides its positional arguments."""
    return entry.operation.unseen if runs_code(entry.operation) else frozenset()


def _spans(entry: Entry, time: int) -> bool:
    """Return whether an entry is that of a checkpointed function, which was running at a time."""
    return kind_of(entry.operation) == "checkpoint" and entry.operation.began < time < entry.output_id
