"""Turns the notes of a recording into the saved document: only what leads to the result, renumbered.

Two recordings of one function are compared here too: their differences do not belong to the function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..text.places import place
from .recording import Note, Recording, kept, references, same_array


class Program(NamedTuple):
    """A document that can be written as JSON, the arrays it refers to, and where each instruction was computed."""

    document: dict[str, Any]
    constants: list[Any]
    variables: list[Any]


class Instruction(NamedTuple):
    """One instruction as the comparison sees it, with those of backward functions among the others."""

    written: dict[str, Any]
    constants: list[Any]


class Difference(NamedTuple):
    """Where two recordings differ: `number` counts instructions; `what` is "path", "number" or "constant"."""

    number: int
    what: str
    operation: str
    place: str
    before: str
    after: str
    reshaped: bool = False  # a constant has another shape


def program_of(recording: Recording, result: Any) -> Program:
    """Write down what leads from the inputs to the result, given as references."""
    writer = _Writer(recording)
    notes = kept(recording.notes, result)
    used = sorted(_variables(notes) | references(result, "variable"), key=lambda k: recording.variables[k]._id)
    writer.variables = {old: new for new, old in enumerate(used)}
    numbers: dict[int, int] = {}
    instructions = writer.block(notes, numbers, 0)
    document = {"instructions": instructions, "result": writer.renamed(result, numbers)}
    variables = [recording.variables[k] for k in used]
    return Program(document, [recording.constants[k][0] for k in writer.constants], variables)


def _variables(notes: list[Note]) -> set[int]:
    found: set[int] = set()
    for note in notes:
        found |= note.refers_to("variable")
        if note.backward is not None:
            found |= _variables(kept(note.backward.notes, note.backward.result)) | references(
                note.backward.result, "variable"
            )
    return found


class _Writer:
    """Numbers the results, constants and variables in the document."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.variables: dict[int, int] = {}
        self.constants: dict[int, int] = {}

    def block(self, notes: list[Note], numbers: dict[int, int], count: int) -> list[dict[str, Any]]:
        """Write instructions, whose results are numbered from `count` on."""
        instructions = []
        for note in notes:
            instruction = {
                "operation": note.operation,
                "arguments": self.renamed(note.arguments, numbers),
                "parameters": {name: self.renamed(part, numbers) for name, part in note.parameters.items()},
                "results": note.results,
                "place": str(place(note.where)),
            }
            if note.backward is not None:
                inner = numbers | {old: count + k for k, old in enumerate(note.backward.cotangents)}
                inside = kept(note.backward.notes, note.backward.result)
                instruction["backward"] = {
                    "cotangents": note.backward.shapes,
                    "instructions": self.block(inside, inner, count + len(note.backward.cotangents)),
                    "result": self.renamed(note.backward.result, inner),
                }
            for old in note.numbers:
                numbers[old], count = count, count + 1
            instructions.append(instruction)
        return instructions

    def renamed(self, written: Any, numbers: dict[int, int]) -> Any:
        """Return the references in written arguments their numbers in the document."""
        match written:
            case {"result": int(old)}:
                return {"result": numbers[old]}
            case {"variable": int(old)}:
                return {"variable": self.variables[old]}
            case {"constant": int(old)}:
                return {"constant": self.constants.setdefault(old, len(self.constants))}
            case dict():
                return {key: self.renamed(part, numbers) for key, part in written.items()}
            case list():
                return [self.renamed(part, numbers) for part in written]
        return written


def every_instruction(program: Program) -> list[Instruction]:
    """List the instructions of a program, those of backward functions after the one they belong to."""

    def walk(block: dict[str, Any]) -> Iterator[Instruction]:
        for written in block["instructions"]:
            used = references([written["arguments"], *written["parameters"].values()], "constant")
            yield Instruction(written, [program.constants[k] for k in sorted(used)])
            if "backward" in written:
                yield from walk(written["backward"])
                end = {
                    **written,
                    "operation": "its backward",
                    "arguments": written["backward"]["result"],
                    "parameters": {},
                }
                yield Instruction(end, [])

    return list(walk(program.document))


def differences(first: Program, second: Program) -> Iterator[Difference]:
    """List the differences between the instructions of two recordings, up to where their paths diverge."""
    ours, theirs = every_instruction(first), every_instruction(second)
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        at = (a.written["operation"], a.written["place"])
        if a.written["operation"] != b.written["operation"]:
            yield Difference(number, "path", *at, a.written["operation"], b.written["operation"])
            return
        mine, others = ([x.written[part] for part in ("arguments", "parameters")] for x in (a, b))
        if mine != others:
            yield Difference(number, "number", *at, *_parting(mine, others))
        for x, y in zip(a.constants, b.constants, strict=False):
            if not same_array(x, y):
                yield Difference(number, "constant", *at, describe(x), describe(y), x.shape != y.shape)
                break
    if len(ours) != len(theirs):
        number = min(len(ours), len(theirs))
        last = (ours if len(ours) > number else theirs)[number].written
        yield Difference(number, "path", last["operation"], last["place"], str(len(ours)), str(len(theirs)))
    elif first.document["result"] != second.document["result"]:
        yield Difference(len(ours), "path", "the result", "its end", "one result", "another")


def describe(array: Any) -> str:
    """Describe an array by its shape and dtype, or by its value if it has only one."""
    return str(array[()]) if np.ndim(array) == 0 else f"an array of shape {np.shape(array)}"


def _parting(a: Any, b: Any) -> tuple[str, str]:
    """Find the innermost parts in which two arguments differ."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        a, b = list(a.values()), list(b.values())
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next(_parting(x, y) for x, y in zip(a, b, strict=True) if x != y)
    return _in_words(a), _in_words(b)


def _in_words(written: Any) -> str:
    """Describe what an argument is."""
    match written:
        case {"input": _}:
            return "an argument of the function"
        case {"result": _}:
            return "another result"
        case {"constant": _} | {"variable": _}:
            return f"a {next(iter(written))}"
    return repr(written)
