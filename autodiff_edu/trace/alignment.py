"""Which steps of two runs belong together.

Operations do if they compute the same from the same, whatever their results are called and in whatever order they run.
For the rest, the line and the operation decide, then the operation alone. If what is left over in one run ends in the
same numbers as what is left over in the other, as `x * x` and `x ** 2` do, nothing differs there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from .traced_run import COMPARED, FORWARD, TracedRun, agree

COMMUTATIVE = {"add", "multiply", "maximum", "minimum"}
ARRIVING = ("pull back", "accumulate")
FEW = 16
"""How many operations are taken for one that is written in other words, if they end in the same numbers."""
WINDOW = 200
"""How many entries of each run are matched at a time."""
NEAR = 8
"""Among how many steps about the same tensors one is looked for that agrees."""


class Alignment:
    """Which steps of two runs belong together.

    Attributes
    ----------
    pairs : dict of int to int
        By a step of the second run, that of the first.
    alone : list of (int or None, int or None)
        Steps that only one run has; or a step of each, where one stands in the place of the other.
    doubtful : set of int
        Steps of the second run at which cotangents may differ although the gradients agree, because what follows is
        computed in another way.
    """

    def __init__(self, first: TracedRun, second: TracedRun) -> None:
        self.first, self.second = first, second
        self.pairs: dict[int, int] = {}
        self.alone: list[tuple[int | None, int | None]] = []
        self._entries: list[tuple[int, int]] = []
        self._pair_sources()
        self._pair_entries()
        whole = [pair for pair in self._entries if self._knows_inputs(*pair)]
        left = self._sort(first, {here for here, _ in whole})
        right = self._sort(second, {there for _, there in whole})
        for key in {**right, **left}:
            self._pair_steps(key[0], left.get(key, []), right.get(key, []))
        ours = first.find_doubtful({here for here, _ in self._entries})
        theirs = second.find_doubtful({there for _, there in self._entries})
        self.doubtful = {
            there
            for there, here in self.pairs.items()
            if second.steps[there]["kind"] in ARRIVING
            and (first.result_at(here) in ours or second.result_at(there) in theirs)
        }

    def place(self, here: int | None, there: int | None) -> float:
        """Return where a step is among those of the second run, or between which of them it would be."""
        if there is not None or here is None:
            return there or 0
        return max((other + 0.5 for other, one in self.pairs.items() if one < here), default=-0.5)

    def _join(self, here: int, there: int, common: int | None = None) -> None:
        """Note that two tensors are the same in both runs."""
        self.first.common[here] = self.second.common[there] = here if common is None else common

    def _pair(self, here: int, there: int, common: int | None = None) -> None:
        """Pair two entries."""
        self._entries.append((here, there))
        self.pairs[self.second.ran[there]] = self.first.ran[here]
        self._join(self.first.outputs[here], self.second.outputs[there], common)

    def _agree(self, here: int, there: int, *given: tuple[Any, float]) -> bool:
        return agree(self.first.result(here), self.second.result(there), *given)

    def _pair_sources(self) -> None:
        """Pair what is watched and has the same value, preferably with the same name; or else the same name."""
        left, right = (
            [number for number, tensor in enumerate(run.tensors) if tensor["kind"] in ("watched", "variable")]
            for run in (self.first, self.second)
        )
        for there in right:
            name = self.second.tensors[there]["name"]
            rank = {here: (self._agree(here, there), self.first.tensors[here]["name"] == name) for here in left}
            if any(max(rank.values(), default=())):
                left.remove(here := max(rank, key=rank.__getitem__))
                self._join(here, there)

    def _pair_entries(self) -> None:
        table: dict[Any, int] = {}
        left, right = self._number(self.first, table), self._number(self.second, table)
        for number in [number for number, theirs in right.items() if len(theirs) == len(left.get(number, ()))]:
            ours = left.pop(number)
            for here, there in zip(ours, right.pop(number), strict=True):
                self._pair(here, there, self.first.outputs[ours[0]])
        ours, theirs = (sorted(entry for entries in each.values() for entry in entries) for each in (left, right))
        for same, here, there in self._match(ours, theirs, by_line=True):
            if same:
                for one, other in zip(here, there, strict=True):
                    self._pair(one, other)
            else:
                self._pair_rest(here, there)

    def _pair_rest(self, here: Sequence[int], there: Sequence[int]) -> None:
        """Pair entries on other lines by their operation; if they are few and end alike, only where they agree."""
        alike = max(len(here), len(there)) <= FEW and self._end_alike(here, there)
        for same, left, right in self._match(here, there, by_line=False):
            sides = (self.first, left), (self.second, right)
            if same:
                for one, other in zip(left, right, strict=True):
                    if not alike or self._agree(self.first.outputs[one], self.second.outputs[other]):
                        self._pair(one, other)
            elif self._end_alike(left, right):
                given = [[self._common(run, entry) for entry in entries] for run, entries in sides]
                if len(left) == 1 and given[0] == given[1]:
                    self._pair(left[0], right[0])
            elif not alike:
                ours, theirs = ([run.ran[one] for one in entries if not run.is_idle(one)] for run, entries in sides)
                if ours or theirs:
                    self.alone.append((ours[0] if ours else None, theirs[0] if theirs else None))

    def _number(self, run: TracedRun, table: dict[Any, int]) -> dict[int, list[int]]:
        """Sort the entries of a run by numbers, which are the same for those that compute the same from the same."""
        numbers: dict[int, int] = {}  # by tensor
        found: dict[int, list[int]] = defaultdict(list)
        for entry in run.ran:
            inputs = [*map(run.origin, run.inputs[entry])]
            for tensor in inputs:
                if tensor not in numbers:
                    value = run.value(tensor)
                    constant = (id(run), tensor) if value is None else (value.shape, value.tobytes())
                    kind = ("common", run.common[tensor]) if tensor in run.common else constant
                    numbers[tensor] = table.setdefault(kind, len(table))
            operation, given = run.operations[entry], [numbers[tensor] for tensor in inputs]
            key = (operation, run.shape(entry), *(sorted(given) if operation in COMMUTATIVE else given))
            numbers[run.outputs[entry]] = table.setdefault(key, len(table))
            found[numbers[run.outputs[entry]]].append(entry)
        return found

    def _match(self, here: Sequence[int], there: Sequence[int], by_line: bool) -> Iterator[tuple[bool, Any, Any]]:
        """Yield entries with the same operation (and line) in the same order, and what is left over between them."""
        keys = [
            [(run.operations[entry], *([run.line(run.ran[entry]), run.shape(entry)] * by_line)) for entry in entries]
            for run, entries in ((self.first, here), (self.second, there))
        ]
        while here or there:  # some at a time: the time for all of them would grow with the square of their number
            found = SequenceMatcher(None, keys[0][:WINDOW], keys[1][:WINDOW], autojunk=False).get_opcodes()
            if max(len(here), len(there)) > WINDOW and found[-1][0] != "equal" and len(found) > 1:
                found.pop()  # it may go on in the next
            for what, i, j, k, m in found:
                yield what == "equal", here[i:j], there[k:m]
            here, there, keys = here[j:], there[m:], [keys[0][j:], keys[1][m:]]

    def _end_alike(self, here: Sequence[int], there: Sequence[int]) -> bool:
        """Pair the results of what is left over, if those that are needed elsewhere agree; return whether they do."""
        sides = (self.first, here), (self.second, there)
        ours, theirs = (run.find_ends(entries) for run, entries in sides)
        hidden, hidden_there = (run.find_hidden(entries) for run, entries in sides)
        given = [self.first.result(tensor) for entry in here for tensor in self.first.inputs[entry]]
        if not ours or len(ours) != len(theirs) or hidden != hidden_there:
            return False
        if not all(self._agree(one, other, *given) for one, other in zip(ours, theirs, strict=True)):
            return False
        for one, other in zip(ours, theirs, strict=True):
            self._join(one, other)
        return True

    def _common(self, run: TracedRun, entry: int) -> list[int | None]:
        """Return what the inputs of an entry are in both runs; None for those that only this run has."""
        return [run.common.get(run.origin(tensor)) for tensor in run.inputs[entry]]

    def _knows_inputs(self, here: int, there: int) -> bool:
        """Return whether both runs have the inputs of two entries; constants do not count."""
        return all(
            known is not None or run.tensors[tensor]["kind"] == "constant"
            for run, entry in ((self.first, here), (self.second, there))
            for tensor, known in zip(run.inputs[entry], self._common(run, entry), strict=True)
        )

    def _sort(self, run: TracedRun, whole: set[int]) -> dict[Any, list[int]]:
        """Sort the other steps of a run by their kind and their tensors, where both runs have these."""
        found: dict[Any, list[int]] = defaultdict(list)
        for number, step in enumerate(run.steps):
            if step["kind"] in COMPARED and step["kind"] not in FORWARD:
                about = [run.subject(step)]
                if step["kind"] == "accumulate":
                    about.append(run.outputs[step["entry"]])
                key = [run.common.get(tensor) for tensor in about]
                if None not in key and (step["kind"] != "accumulate" or step["entry"] in whole):
                    found[step["kind"], *key].append(number)
        return found

    def _pair_steps(self, kind: str, ours: list[int], theirs: list[int]) -> None:
        """Pair steps of one kind about the same tensors: in an order in which all agree, or else as they come."""
        pairs, left = {}, ours[:]
        for there in theirs:
            other = self.second.read(self.second.steps[there])
            near = (here for here in left[:NEAR] if agree(self.first.read(self.first.steps[here]), other))
            if (here := next(near, None)) is not None:
                left.remove(here)
                pairs[there] = here
        if left and len(pairs) < len(theirs):
            pairs = dict(zip(theirs, ours, strict=False))
        self.pairs |= pairs
        if kind in ("accumulate", "outcome", "assign"):
            self.alone += [(here, None) for here in set(ours).difference(pairs.values())]
            self.alone += [(None, there) for there in theirs if there not in pairs]
