"""The document of a program that its passes shrink: what each of them takes out, and why, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ..compiled.programs import Program
from ..program.function_writer import FunctionWriter, ProgramLine
from ..program.instructions import Listing, Value
from ..trace.document import empty

MOST_LINES = 200
"""The longest program that can be read as it shrinks."""

PURPOSES = {
    "unused": "takes out what nothing needs",
    "folded": "computes now what is known now, and drops what changes nothing",
    "shared": "computes the same expression only once",
    "postponed": "puts off a multiplication that all rows of a stack share",
    "joined": "writes a short result into the line that uses it",
    "reused": "writes large results into arrays that are no longer needed",
}


def document_of(program: Program) -> dict[str, Any]:
    """Write the document of a program's stages; `player.extra_parts` describes it.

    Raises
    ------
    ValueError
        If the program is too long to be read.
    """
    (_, recorded), *_ = program.stages
    if len(recorded.instructions) > MOST_LINES:
        raise ValueError(
            f"{program.name} has {len(recorded.instructions):,} operations, and the player shows how up to "
            f"{MOST_LINES} are compiled. Print the program, or its summary, instead"
        )
    writers = [(name, listing, FunctionWriter(listing, program.name)) for name, listing in program.stages]
    written = [(name, listing, writer.write(), writer.constants()) for name, listing, writer in writers]
    _, _, lines, constants = written[0]
    stages = [_stage("recorded", recorded, [_describe_line(line) for line in lines], constants)]
    count = _format_count(len(recorded.instructions), "operation")
    texts = [f"{program.name} has been recorded: {count}, in the order in which they ran."]
    for (_, before, old, _), (name, after, new, constants) in pairwise(written):
        told = _merge(old, new, _Reasons(before, after, old))
        stages.append(_stage(name, after, told, constants))
        texts.append(_sentence(name, told))
    _, left, lines, constants = written[-1]
    stages.append(_stage("compiled", left, [_describe_line(line) for line in lines], constants))
    count = _format_count(len(left.instructions), "operation")
    texts.append(f"This is the program that runs: {count} on {_format_count(len(lines) - 2, 'line')}.")
    document = empty(f"{program.name}, compiled")
    steps = [{"kind": "compile", "text": text, "where": None, "tape": None, "memory": None} for text in texts]
    return document | {"steps": steps, "compiling": stages}


def _stage(name: str, listing: Listing, lines: list[dict[str, Any]], constants: list[str]) -> dict[str, Any]:
    purpose = PURPOSES.get(name, "")
    count = len(listing.instructions)
    return {"name": name, "purpose": purpose, "count": count, "lines": lines, "constants": constants}


def _format_count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _describe_line(line: ProgramLine, state: str | None = None, why: str = "") -> dict[str, Any]:
    told = {"text": line.text if line.text.startswith("def ") else f"    {line.text}", "remark": line.remark}
    return told | ({"state": state} if state else {}) | ({"why": why} if why else {})


def _merge(old: list[ProgramLine], new: list[ProgramLine], reasons: _Reasons) -> list[dict[str, Any]]:
    """Describe the lines after a pass, and between them those that it took out, where they were."""
    places = {_key(line): place for place, line in enumerate(old)}
    left = set(map(_key, new))
    merged, begin = [], 0
    for line in new:
        place = places.get(_key(line))
        if place is None:
            merged.append(_describe_line(line, "new"))
            continue
        merged += [_describe_line(one, "gone", reasons.of(one)) for one in old[begin:place] if _key(one) not in left]
        merged.append(_describe_line(line, None if old[place].text == line.text else "changed"))
        begin = max(begin, place + 1)
    return merged


def _key(line: ProgramLine) -> Any:
    """Return what tells a line from the others, before and after a pass."""
    one = line.instruction
    if one is None:
        return line.text.partition(" ")[0]  # def or return
    return (
        (one.where, one.answer) if one.output_value is None else (one.output_value, line.remark == "")
    )  # a first line of two


class _Reasons:
    """Why a pass took instructions out, from what it left in their place."""

    def __init__(self, before: Listing, after: Listing, old: list[ProgramLine]) -> None:
        self._before, self._joined = before, after.joined
        self._names = {line.instruction.output_value: _name(line) for line in old if line.instruction is not None}
        self._instead: dict[Value, Value] = {}
        left = {one.output_value: one for one in after.instructions if one.output_value is not None}
        self._note(before.results, after.results)
        for one in reversed(before.instructions):  # what uses a result comes after it
            other = left.get(self._instead.get(one.output_value, one.output_value))
            if other is not None and other.operation is one.operation:
                self._note(one.reads(), other.reads())

    def _note(self, old: Iterable[Value], new: Iterable[Value]) -> None:
        """Note what is read in place of some values."""
        for one, other in zip(old, new, strict=False):
            if one is not other:
                self._instead.setdefault(one, other)

    def of(self, line: ProgramLine) -> str:
        """Return why a line is gone."""
        value = line.instruction.output_value if line.instruction is not None else None
        if value is None:
            return "asked above"
        if value in self._joined:
            return "now part of the line that reads it"
        if value.array is not None:
            return "the same in every call"
        if other := self._instead.get(value):
            return f"the same as {self._names.get(other) or other.label or 'a constant'}"
        readers = [self._names.get(one.output_value) for one in self._before.instructions if value in one.reads()]
        return (
            f"only {' and '.join(map(str, readers))} read{'s' * (len(readers) == 1)} it"
            if readers
            else "nothing reads it"
        )


def _name(line: ProgramLine) -> str:
    """Return the name that a line gives a value to, or puts something into: "x", in `x[1:] = t2`."""
    return re.sub(r"^\s*(np\.add\.at\()?(\w+).*", r"\2", line.text)


def _sentence(name: str, lines: list[dict[str, Any]]) -> str:
    gone = sum(line.get("state") == "gone" for line in lines)
    changed = sum(line.get("state") in ("changed", "new") for line in lines if not line["text"].startswith("def "))
    what = f"The pass “{name}”" + (f" {PURPOSES[name]}" if name in PURPOSES else "")
    if not gone and not changed:
        return f"{what}. It finds nothing to do here."
    done = [f"{_format_count(gone, 'line')} go{'es' if gone == 1 else ''}"] if gone else []
    done += [f"{_format_count(changed, 'line')} change{'s' if changed == 1 else ''}"] if changed else []
    return f"{what}: {' and '.join(done)}."
