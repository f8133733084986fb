"""Groups of entries, which the player folds into one box: scopes, calls, backward passes, and the turns of a loop.

Entries that follow each other in one `ad.scope` (every `nn.Module` opens one) are a group, and so are those that a
backward pass computes while another tape records, those of one second run of a checkpointed function, and those of one
call of a recursive function or of a method. So are those of a loop in the user's code that computes something in at
least three turns: a group of turns, each of which is a group too if it holds more than one thing. Where no such loop is
known, in a comprehension for example, entries that come from the same places in the same order, at least three times
running, are a loop. Groups nest, and hold at least two entries.

>>> entries = [{"operation": "sin", "inputs": [k], "output": k + 1, "where": {"line": 2}} for k in range(12)]
>>> found, homes = find_groups({"entries": entries, "steps": []})
>>> found
[{'kind': 'loop', 'count': 12, 'parent': -1, 'times': 12}]
>>> homes
[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import Any, NamedTuple

FEWEST_TURNS = 3
DEEPEST = 5  # calls inside each other that have a frame
LONGEST_TURN = 400  # in parts; finding longer ones takes more time than anyone would look at them


class Called(NamedTuple):
    """A call, by its index in the document."""

    call: int


@dataclass
class Part:
    """An entry, or a group of parts; `key` is equal for parts that come from the same places in the same order."""

    key: int
    entries: list[int]
    parts: list[Part] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)


def find_groups(document: dict[str, Any]) -> tuple[list[dict[str, Any]], list[int]]:
    """Find the groups among the entries of a trace document.

    Parameters
    ----------
    document
        The trace document, as ``json.loads(trace.to_json())`` gives it.

    Returns
    -------
    list of dict
        The groups, each after the group it is in: `kind` ("scope", "call", "pass", "push" of tangents, "rerun" of a
        checkpointed function, "loop" or "turn"), `count` (of entries), `parent` (the index of the group around it, or
        -1), and by kind a `name`, the tensors that are `given` to a call, how many `times`, or the turn's `number`.
    list of int
        For each entry the index of the innermost group, or -1.
    """
    entries = document["entries"]
    groups: list[dict[str, Any]] = []
    homes = [-1] * len(entries)

    def number_groups(parts: list[Part], parent: int) -> None:
        for part in parts:
            if not part.about:
                homes[part.entries[0]] = parent
                continue
            groups.append({"kind": part.about["kind"], "count": len(part.entries), "parent": parent} | part.about)
            number_groups(part.parts, len(groups) - 1)

    number_groups(_Finder(document).by_scope(in_order(entries), 0), -1)
    return groups, homes


def write_title(group: dict[str, Any]) -> str:
    """Write what a group is called, wherever it is drawn.

    >>> write_title({"kind": "loop", "times": 5}), write_title({"kind": "pass", "name": "inner"})
    ('loop ×5', '← pass of inner')
    """
    match group:
        case {"kind": "loop", "times": times}:
            return f"loop ×{times}"
        case {"kind": "turn", "number": number}:
            return f"turn {number}"
        case {"kind": "pass", "name": name}:
            return f"← pass of {name}"
        case {"kind": "push", "name": name}:
            return f"→ tangents over {name}"
        case {"kind": "rerun", "name": name}:
            return f"↻ {name}, run again: it was not kept"
    return str(group["name"])


def in_order(entries: list[dict[str, Any]]) -> list[int]:
    """Sort the entries so that each comes after those it uses, otherwise as they are.

    A trace that starts in the middle meets earlier entries only in the backward pass, last ones first.
    """
    makers = {entry["output"]: index for index, entry in enumerate(entries)}
    users: list[list[int]] = [[] for _ in entries]
    waits_for = [0] * len(entries)
    for index, entry in enumerate(entries):
        for maker in {makers[tensor] for tensor in entry["inputs"] if tensor in makers}:
            users[maker].append(index)
            waits_for[index] += 1
    ready = [index for index, count in enumerate(waits_for) if not count]
    heapify(ready)
    order = []
    while ready:
        order.append(heappop(ready))
        for user in users[order[-1]]:
            waits_for[user] -= 1
            if not waits_for[user]:
                heappush(ready, user)
    return order


class _Finder:
    """Finds groups; `keys` numbers the places that things come from."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.keys: dict[Any, int] = {}
        entries = document["entries"]
        self.calls = document.get("calls", ())
        self.paths: list[list[Any]] = [list(entry.get("scope", ())) for entry in entries]
        self.origins: list[tuple[Any, ...]] = [_origin(entry) for entry in entries]
        self.turns: list[list[list[int]]] = [entry.get("turns", []) for entry in entries]
        self.runs: list[list[int]] = [[entry["call"]] if "call" in entry else [] for entry in entries]
        for index, calls in _map_calls(document).items():
            self.paths[index] += [Called(call) for call in calls[:DEEPEST]]
            self.origins[index] += (len(calls),)  # deeper down it is not a turn of a loop, but another call
        for index, (number, tape, reached, kind) in _in_passes(document["steps"]).items():
            self.paths[index].append(
                _describe_rerun(document, index, reached) or (number, document["tapes"][tape]["name"], kind)
            )
            # Everything that one call of `gradient` computes has that call's place; the current entry tells it apart.
            self.origins[index] += _origin(entries[reached])
            self.runs[index].append(reached)

    def by_scope(self, members: list[int], depth: int, level: int = 0) -> list[Part]:
        """Group entries that have the scopes up to `depth`, and the loops up to `level`, in common."""
        named = [self.paths[index][depth] if len(self.paths[index]) > depth else None for index in members]
        looped = [self.turns[index][level][0] if len(self.turns[index]) > level else None for index in members]
        of_scope, of_loop = _end_runs(named), _end_runs(looped)
        parts: list[Part] = []
        at = 0
        while at < len(members):
            # Of a scope and a loop that begin here, the longer one is around the other.
            if looped[at] is not None and (named[at] is None or of_loop[at] > of_scope[at]):
                parts += self.by_turn(members[at : of_loop[at]], depth, level)
                at = of_loop[at]
            elif named[at] is not None:
                parts += self.of_scope(named[at], members[at : of_scope[at]], depth, level)
                at = of_scope[at]
            else:
                plain, at = members[at : min(of_scope[at], of_loop[at])], min(of_scope[at], of_loop[at])
                # A loop that runs again, in another call or for another entry of a pass, is another loop.
                for _, once in groupby(plain, self.runs.__getitem__):
                    alone = [Part(_number(self.keys, self.origins[index]), [index]) for index in once]
                    parts += _by_repetition(alone, self.keys)
        return _by_repetition(parts, self.keys)

    def by_turn(self, members: list[int], depth: int, level: int) -> list[Part]:
        """Group the entries of a loop by its turns; with fewer than three there is nothing to group."""
        turns = [
            (number, self.by_scope([*once], depth, level + 1))
            for number, once in groupby(members, lambda index: self.turns[index][level][1])
        ]
        if len(turns) < FEWEST_TURNS:
            return [part for _, turn in turns for part in turn]
        return [_loop(turns, self.keys)]

    def of_scope(self, named: Any, run: list[int], depth: int, level: int) -> list[Part]:
        """Group the entries of a scope, a call or a pass."""
        inner = self.by_scope(run, depth + 1, level)
        if len(run) == 1:
            return inner
        origin: Any
        match named:
            case str():
                origin, about = named, {"kind": "scope", "name": named}
            case Called(call):
                made = self.calls[call]
                origin = ("call", made["text"].partition("(")[0])  # methods of two objects are not turns of a loop
                about = {"kind": "call", "name": made["text"], "given": made.get("given", [])}
            case (_, name_of_pass, kind):
                origin, about = kind, {"kind": kind, "name": name_of_pass}
        key = _number(self.keys, (origin, *(part.key for part in inner)))
        return [Part(key, run, inner, about)]


def _end_runs(values: list[Any]) -> list[int]:
    """Return for each value the index after the last of those that follow it and are equal."""
    ends = [*range(1, len(values) + 1)]
    for k in range(len(values) - 2, -1, -1):
        if values[k] == values[k + 1]:
            ends[k] = ends[k + 1]
    return ends


def _describe_rerun(document: dict[str, Any], index: int, reached: int) -> tuple[int, str, str] | None:
    """Describe the second run of a checkpointed function, by the entry that needs it; return None for anything else."""
    tapes, entries = document["tapes"], document["entries"]
    function = next((tapes[tape]["reruns"] for tape in entries[index]["tapes"] if "reruns" in tapes[tape]), None)
    if function is None:
        return None
    several = sum("reruns" in tape for tape in tapes) > 1
    result = document["tensors"][entries[reached]["output"]]["name"]
    return reached, f"{function} for {result}" if several else function, "rerun"


def _origin(entry: dict[str, Any]) -> tuple[Any, ...]:
    where = entry.get("where") or {}
    return entry["operation"], where.get("code"), where.get("line"), tuple(where.get("columns") or ())


def _map_calls(document: dict[str, Any]) -> dict[int, list[int]]:
    """Map each entry that is computed in calls of recursive functions or methods to these calls, outermost first."""
    calls, entries = document.get("calls", ()), document["entries"]
    chains: list[list[int]] = []  # by call
    recursive = set()
    for index, call in enumerate(calls):
        above = chains[call["caller"]] if "caller" in call else []
        chains.append([*above, index])
        recursive |= {call["function"]} & {calls[other]["function"] for other in above}
    at = {index: entry["call"] for index, entry in enumerate(entries) if "call" in entry}
    # a call that the player makes itself is around everything, and known only from those within
    shown = [call for call, about in enumerate(calls) if "caller" in about or call in at.values()]
    wanted = {call for call in shown if calls[call]["function"] in recursive}
    wanted |= {index for index, call in enumerate(calls) if call.get("method")}
    found = {index: [each for each in chains[call] if each in wanted] for index, call in at.items()}
    return {index: chain for index, chain in found.items() if chain}


def _in_passes(steps: list[dict[str, Any]]) -> dict[int, tuple[int, int, int, str]]:
    """Map each entry that a pass computes to the pass, its tape, the current entry of the pass, and its kind."""
    last = {step["pass"]: number for number, step in enumerate(steps) if "pass" in step}
    found: dict[int, tuple[int, int, int, str]] = {}
    reached: dict[int, tuple[int, int, str]] = {}  # by pass
    pushes: dict[int, list[int]] = {}  # by pass, the entries to come, the next one at the end
    for step in reversed(steps):
        if step["kind"] == "push forward":
            pushes.setdefault(step["pass"], []).append(step["entry"])
    for number, step in enumerate(steps):
        if step["kind"] == "pull back":
            reached[step["pass"]] = (step["tape"], step["entry"], "pass")
        elif "tangent" in step and (ahead := pushes.get(step["pass"])):
            if step["kind"] == "push forward":
                ahead.pop()
            if ahead:  # the computation now is for the push that follows
                reached[step["pass"]] = (step["tape"], ahead[-1], "push")
        if "pass" in step and last[step["pass"]] == number:
            reached.pop(step["pass"], None)
        elif step["kind"] in ("record", "cut", "skip") and step["entry"] not in found:
            under_way = [one for one in reached if reached[one][0] != step["tape"]]
            if under_way:
                found[step["entry"]] = (under_way[-1], *reached[under_way[-1]])
    return found


def _number(keys: dict[Any, int], key: Any) -> int:
    return keys.setdefault(key, len(keys))


def _by_repetition(parts: list[Part], keys: dict[Any, int]) -> list[Part]:
    """Put loops in the place of their turns, short turns first, so that inner loops are found before outer ones."""
    length = 1
    while FEWEST_TURNS * length <= len(parts) and length <= LONGEST_TURN:
        folded = list(_with_loops(parts, length, keys))
        length, parts = (length + 1, parts) if len(folded) == len(parts) else (1, folded)
    return parts


def _with_loops(parts: list[Part], length: int, keys: dict[Any, int]) -> Iterator[Part]:
    begin = 0
    while begin < len(parts):
        end = begin
        while end + length < len(parts) and parts[end].key == parts[end + length].key:
            end += 1
        times = 1 + (end - begin) // length
        if times < FEWEST_TURNS:
            yield from parts[begin : end + 1]  # a run that starts among these ends here too
            begin = end + 1
            continue
        turns = [parts[at : at + length] for at in range(begin, begin + times * length, length)]
        yield _loop([*enumerate(turns, 1)], keys)
        begin += times * length


def _loop(turns: list[tuple[int, list[Part]]], keys: dict[Any, int]) -> Part:
    key = _number(keys, ("loop", *(part.key for part in turns[0][1])))
    parts = []
    for number, turn in turns:
        members = [entry for part in turn for entry in part.entries]
        # In a turn of one thing, that thing is the turn.
        parts.append(turn[0] if len(turn) == 1 else Part(key, members, turn, {"kind": "turn", "number": number}))
    members = [entry for part in parts for entry in part.entries]
    return Part(key, members, parts, {"kind": "loop", "times": len(turns)})
