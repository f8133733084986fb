"""The steps of a trace as sentences: the text of each step in its document, and the transcript made of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..core import events
from ..core.entry import Entry
from ..core.events import Event
from ..core.rule import kind_of
from ..core.tensor import Tensor
from ..text.formatting import (
    DERIVATIVES,
    LARGEST_WRITTEN,
    MOST_DIGITS,
    USUAL_DIGITS,
    brief,
    count_digits_apart,
    count_digits_of_sum,
    derivative,
    is_written,
    list_elements,
    number,
    spoken_size,
    spoken_value,
)
from ..text.labels import Labels
from ..text.places import place
from .backward_calls import BackwardCall
from .broadcasting import is_copied
from .foreign import ForeignOperation, Gradient
from .lines import Rebind
from .memory import Stepped
from .rounding import ExactResults

OF_TAPES = {
    "release": "releases its arrays.",
    "resume": "records again.",
    "pause": "pauses: what is computed now is not recorded.",
    "reset": "forgets its entries and its watches.",
}

SUMS = {np.add: 1.0, np.subtract: -1.0}
"""The sign that the second operand of a sum has."""


def transcript(document: dict[str, Any]) -> str:
    """Write the steps of a document as numbered sentences, one on each line, with the numbers of small arrays."""
    assigned: dict[int, dict[str, Any]] = {}  # by tensor: the array that it was given last
    lines = []
    for nth, step in enumerate(document["steps"], 1):
        if step["kind"] == "assign":
            assigned[step["tensor"]] = step["value"]
        lines.append(f"{nth}. {step['text']}{_write_numbers(document, step, assigned)}")
    return "\n".join(lines)


def _write_numbers(document: dict[str, Any], step: dict[str, Any], assigned: dict[int, dict[str, Any]]) -> str:
    """Return the numbers of a small array that its sentence leaves out: a transcript has no table beside it."""
    tensor = step.get("tensor")
    if "entry" in step and tensor is None:
        tensor = document["entries"][step["entry"]]["output"]
    about = {} if tensor is None else document["tensors"][tensor]
    name = about.get("name", "")
    match step["kind"]:
        case "watch" | "assign" | "record" | "cut" | "skip":
            array = assigned.get(-1 if tensor is None else tensor, about["value"])
        case "seed" | "move":
            array, name = step.get("cotangent") or step["tangent"], "It"
        case "accumulate":
            array, name = step["after"], "It" if step["count"] == step["of"] else f"The cotangent of {name}"
        case "push forward":
            array, name = step["tangent"], "It"
        case _:
            return ""
    if not array or not array["text"].startswith("[") or is_written(np.empty(array["shape"])):
        return ""
    numbers = brief(array["text"])
    is_said = len({*numbers.translate(str.maketrans("[]", "  ")).split()}) == 1 and "filled with" in step["text"]
    return "" if is_said else f" {name} is {numbers}."


class Sentences:
    """Writes the sentences of one trace.

    Parameters
    ----------
    labels : Labels
        The names of its tensors.
    document : dict
        The trace document, complete up to the step to describe.
    numbers : dict of int to int
        By the id of its output, the number of an entry.
    own : dict of int to BackwardCall
        By the id of an accumulation, what a backward function of the user's computed for it.
    updates : dict of int to str
        By the number of a step that assigns, the expression that gave the value, if it is short.
    inner : dict of int to list of int
        By the number of a step in a backward pass that outer tapes record, the pass's own tape, then the outer tapes.
    """

    def __init__(
        self,
        labels: Labels,
        document: dict[str, Any],
        numbers: dict[int, int],
        own: dict[int, BackwardCall],
        updates: dict[int, str],
        inner: dict[int, list[int]],
    ) -> None:
        self.labels, self.document, self.numbers, self.own, self.updates = labels, document, numbers, own, updates
        self.inner = inner
        self.renamed: set[tuple[int, str]] = set()  # second names that have been mentioned
        self.exact = ExactResults()
        self.zeros: dict[int, tuple[Any, str]] = {}  # by tensor: its last cotangent, and what of that would be 0

    def write(self, event: Event, step: dict[str, Any], digits: int = 3) -> str:
        """Write the text of a step whose other fields are filled in already, with `digits` digits of its new value."""
        if isinstance(event, events.Explain | events.Remark):
            return event.text
        return _capitalise(self._text(event, step, digits), self._own_name(self._whose(step)))

    def _text(self, event: Event, step: dict[str, Any], digits: int) -> str:
        labels, whose = self.labels, self._whose(step)
        match event:
            case events.Watch(tensor=tensor):
                return f"{whose} watches {_describe_value(labels[tensor._id], tensor._array, digits)}."
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                value, written = entry.output_value, is_written(entry.output_value)
                size = "" if written else spoken_size(value)
                line = self._line(step)
                if whose_pass := self._inner_tapes()[:1]:
                    line = f"{line.rstrip(': ')}, {self._name_pass(whose_pass[0])}: " if step["where"] else line
                text = f"{line}{labels[entry.output_id]}{size} is {labels.aloud(entry)}"
                is_zero = self.exact.is_rounded_zero(entry)
                cancelling = "" if is_zero else _describe_cancellation(entry)
                which = f", which is {cancelling}{spoken_value(value, digits=digits)}"
                text += which if written and value is not None else ""
                remark = " (0 up to rounding)" if is_zero else _describe_agreement(entry)
                text += remark or self._describe_absorption(entry)
                missed = f"{whose} is paused, so it does not record this."
                recorded = missed if isinstance(event, events.Missed) else self._describe_recording(entry, step, whose)
                also = _describe_broadcasting(entry) + self._describe_aliases(entry)
                return f"{text}.{also} {_capitalise(recorded, self._own_name(whose))}"
            case events.Seed(tensor=tensor, cotangent=cotangent):
                self.exact.keep_seed(step["pass"], event)
                which = "the backward pass" if self._is_alone() else f"the backward pass of {whose}"
                start = f"{which} starts at {labels[tensor._id]}"
                keeps = f" It goes step by step: {whose} keeps all its arrays until the last step."
                text = f"{start} with {_flowing('cotangent', cotangent, tensor.ndim)}."
                if outer := [self._name_tape(tape) for tape in self._inner_tapes()[1:]]:
                    recorded = f"{' and '.join(outer)} record{'s' if len(outer) == 1 else ''} this pass."
                    text += f" {_capitalise(recorded, self._own_name(outer[0]))}"
                return text + keeps * isinstance(event, Stepped)
            case events.PullBack(entry=entry, cotangent=cotangent):
                output = entry.output_value
                what = _flowing("cotangent", cotangent, cotangent.ndim if output is None else np.ndim(output))
                comma = "," if what.startswith("a stack") and is_written(cotangent._array) else ""
                nested = f"{self._name_pass(step['tape'])}, " if self.inner else ""
                text = f"{self._entry(entry)}: {nested}{what}{comma} arrived at {labels[entry.output_id]}."
                if function := _find_checkpointed(entry):
                    text += f" Now {function} runs again, because what it computed was not kept."
                return text
            case events.Accumulate(tensor=tensor):
                name, said = labels[tensor._id], self._quote(event)
                zeros = self.exact.describe_zeros(step["pass"], event)
                self.zeros[tensor._id] = event.after._array, zeros[1]
                return self._place(event, step) + (
                    _describe_sum(name, event, step, said, *zeros)
                    if is_written(event.value._array)
                    else _describe_large_sum(name, event, step, said)
                )
            case events.Move(tensor=tensor, tangent=tangent):
                over = "" if self._is_alone() else f" over {whose}"
                starts = f"tangents are pushed forward{over}, starting at {labels[tensor._id]}"
                return f"{starts} with {_flowing('tangent', tangent, tensor.ndim)}."
            case events.PushForward(entry=entry, tangent=tangent):
                name, moved = labels[entry.output_id], tangent._array
                parts = [part for part in event.contributions if part is not None]
                if not is_written(moved):
                    return f"{self._entry(entry)}: {name} gets its tangent{spoken_size(moved)}{_count_parts(parts)}."
                finer = count_digits_of_sum([part._array for part in parts], moved)
                total = " + ".join(spoken_value(part._array, digits=finer) for part in parts).replace("+ -", "- ")
                total = f"{total} = {spoken_value(moved)}" if len(parts) > 1 else spoken_value(moved)
                return f"{self._entry(entry)}: the tangent of {name} is {total}."
            case events.Assign(variable=variable, value=value):
                line = self._line(step) if step["where"] else ""
                return line + self._describe_assignment(labels[variable._id], value._array, digits)
            case Rebind(tensor=tensor, name=name):
                return self._line(step) + self._describe_rebinding(name, labels[tensor._id], tensor._array, digits)
            case events.Line(text=text) | events.Error(text=text):
                nowhere = "here " if isinstance(event, events.Line) else ""
                if "message" in step:  # NumPy's own words are for those who know them
                    text = f"{text.partition(':')[0]}: {''.join(step['lesson'])}"
                return f"{self._line(step) if step['where'] else nowhere}{text}{'' if text[-1] in '.!?' else '.'}"
            case events.Leave(tensor=tensor, how=how):
                line = self._line(step) if step["where"] else ""
                becomes = f"the tensor {labels[tensor._id]} becomes plain numbers by {how}"
                return f"{line}{becomes}: no tape follows what is computed from them."
            case events.Outcome():
                return self._outcome(event, step)
        one_shot = step["kind"] == "release" and self._is_alone()
        return f"{'the one-shot tape' if one_shot else whose} {OF_TAPES[step['kind']]}"

    def _describe_assignment(self, name: str, value: Any, digits: int) -> str:
        expression, written = self.updates.get(len(self.document["steps"]), ""), is_written(value)
        said = spoken_value(value, digits=digits)
        if not expression:
            gets = f"is assigned {said}" if written else f"gets new values{spoken_size(value)}"
            return f"the variable {name} {gets}."
        which = f", which is {said}" if written else ""
        return f"the variable {name}{spoken_size(value)} is assigned {expression}{which}."

    def _describe_rebinding(self, name: str, called: str, value: Any, digits: int) -> str:
        expression, written = self.updates.get(len(self.document["steps"]), ""), is_written(value)
        what = spoken_value(value, digits=digits) if written else "computed from a gradient"
        which = f"{expression}, which is {what}" if expression and written else expression or what
        return f"the new {name}{spoken_size(value)}{'' if called == name else f', called {called} here,'} is {which}."

    def _entry(self, entry: Entry) -> str:
        return f"entry {self.numbers[entry.output_id]}, {self.labels[entry.output_id]} = {self.labels.text(entry)}"

    def _is_alone(self) -> bool:
        return len(self.document["tapes"]) == 1

    def _whose(self, step: dict[str, Any]) -> str:
        return "the tape" if self._is_alone() else self._name_tape(step["tape"])

    def _name_tape(self, tape: int | None) -> str:
        if tape is None:
            return ""
        name = str(self.document["tapes"][tape]["name"])
        return name if self._is_rerun(tape) or name.startswith(("tape", "the ")) else f"tape {name}"

    def _is_rerun(self, tape: int | None) -> bool:
        return tape is not None and "reruns" in self.document["tapes"][tape]

    def _own_name(self, whose: str) -> str:
        """Return the name that the user gave a tape; empty if there is none."""
        if whose.startswith(("tape ", "the ")):
            return ""
        return "" if any(tape["name"] == whose for tape in self.document["tapes"] if "reruns" in tape) else whose

    def _inner_tapes(self) -> list[int]:
        """Return the pass's own tape, then the outer ones, if outer tapes record this step's pass; else nothing."""
        return self.inner.get(len(self.document["steps"]), [])

    def _name_pass(self, tape: int | None) -> str:
        return f"in {'' if self._is_rerun(tape) else 'the pass of '}{self._name_tape(tape)}"

    def _line(self, step: dict[str, Any]) -> str:
        if step["where"] is None:
            return "the value "
        several = len({part["place"] for part in self.document["code"]}) > 1
        part = self.document["code"][step["where"]["code"]]
        return f"{part['place'] + ', l' if several else 'l'}ine {step['where']['line']}: "

    def _describe_recording(self, recorded: Entry, step: dict[str, Any], whose: str) -> str:
        if step["kind"] == "skip":
            return f"{whose} does not record it: it watches none of the inputs."
        entry = self.document["entries"][step["entry"]]
        text = f"{whose} records it as entry {entry['number']}"
        text += "" if self._is_alone() else " of this run"  # each tape counts its own from 1
        if function := _find_checkpointed(recorded):
            return f"{text}, and keeps nothing that {function} computed on the way."
        if kind_of(recorded.operation) == "custom":
            return f"{text}. The backward pass uses {recorded.name}'s own gradient, not the operations inside it."
        if step["kind"] != "cut":
            return f"{text}."
        if isinstance(recorded.operation, ForeignOperation):
            return f"what is computed from {self.labels[recorded.output_id]} has no path back to what went into it."
        on_purpose = entry["operation"] == "stop_gradient"
        return f"{text}, which cuts the flow{'' if on_purpose else ': its derivative is zero wherever it has one'}."

    def _describe_absorption(self, entry: Entry) -> str:
        """Return a remark if an operand of a sum is too small to change it."""
        if entry.operation not in SUMS or entry.values is None:
            return ""
        parts = [getattr(value, "_array", value) for value in entry.values]
        signs = (1.0, SUMS[entry.operation])
        return _describe_absorbed(self.labels.arguments(entry), parts, signs, entry.output_value)

    def _describe_aliases(self, entry: Entry) -> str:
        """Mention, at its first use, that a name in the user's line is a tensor's second name."""
        fresh: dict[int, list[str]] = {}
        for id, alias in zip(entry.ids, self.labels.aliases(entry), strict=True):
            if alias is not None and (id, alias) not in self.renamed:
                self.renamed.add((id, alias))
                fresh.setdefault(id, []).append(alias)
        said = ""
        for id, found in fresh.items():
            are = "is another name" if len(found) == 1 else "are other names"
            said += f" Here {' and '.join(found)} {are} for {self.labels[id]}."
        return said

    def _quote(self, event: events.Accumulate) -> str:
        """Return what the user's backward function computed for a contribution, as it is written there."""
        own = self.own.get(id(event))
        return (own and own.quote()) or ""

    def _place(self, event: events.Accumulate, step: dict[str, Any]) -> str:
        """Write where a contribution was computed, and, where there are several tapes, in whose pass."""
        line = self._line(step) if self._quote(event) and step["where"] else ""
        if self._is_alone():
            return line
        return f"{line}{self._name_pass(step['tape'])}, "

    def _outcome(self, event: events.Outcome, step: dict[str, Any]) -> str:
        """Describe the result of a request for a derivative, or why there is none."""
        result, name = event.result, self.labels[event.source._id]
        of = " + ".join(self.labels[target._id] for target in event.targets)
        if isinstance(event, Gradient):
            now = self._array(result._array)
            if event.before is None:
                return f"{name}.grad is {now}."
            before = spoken_value(event.before._array)
            return f"{name}.grad was {before} before this pass, which adds to it: {name}.grad is now {now}."
        if event.word != "gradient":
            start = f"the {DERIVATIVES[event.word]} of {of} with respect to {name}"
        elif result is None or not (event.seeded or any(target.ndim for target in event.targets)):
            start = derivative(of, name)
        else:
            whose = of if event.seeded else f"the sum of {of}"
            start = f"the gradient of {whose} with respect to {name}{' from this seed' if event.seeded else ''}"
        cotangent, zeros = self.zeros.get(event.source._id, (None, ""))
        zeros = zeros if result is not None and result._array is cotangent else ""
        text = f"{start} is {'None' if result is None else self._array(result._array, zeros)}"
        if event.connected:
            return f"{text}."
        text += "" if result is None else " instead of None"
        return f"{text}{self._why(event.causes, name, step)}"

    def _array(self, array: Any, zeros: str = "") -> str:
        """Write a value, what is said of its zeros, and its shape if the value does not show it."""
        text = spoken_value(array, most=LARGEST_WRITTEN)
        return f"{text}{zeros}, of shape {array.shape}" if array.ndim and text.startswith("[") else text + zeros

    def _why(self, causes: tuple[Any, ...], name: str, step: dict[str, Any]) -> str:
        if not causes:
            return "."
        reason, operation, where, told = causes[0]
        more = f" There {'is 1 more cut' if len(causes) == 2 else f'are {len(causes) - 1} more cuts'} on the way."
        more = more if len(causes) > 1 else ""
        if step["where"] is None:
            return f". {told}{more}"
        line = self._line(step)
        if not reason.by:
            return f". {line[0].upper()}{line[1:]}{told.removeprefix(f'{place(where)}: ')}{more}"
        written = f"np.{operation}" if hasattr(np, operation) else operation
        return f": the path from {name} was cut on {line.removesuffix(': ')} by {reason.by.format(written)}.{more}"


def _describe_agreement(entry: Entry) -> str:
    """Return a remark if two numbers that cancel agree in 15 digits, so that what is left may be rounding."""
    sign, total = SUMS.get(entry.operation), entry.output_value
    if sign is None or entry.values is None or np.shape(total) or not (total and np.isfinite(total)):
        return ""
    first, second = (
        number(getattr(value, "_array", value) * one, MOST_DIGITS)
        for value, one in zip(entry.values, (1, -sign), strict=True)
    )
    return f" (both have the same first {MOST_DIGITS} digits)" if first == second else ""


def _describe_broadcasting(entry: Entry) -> str:
    """Return a sentence if the result has the shape of neither operand, which is often not meant."""
    if len(entry.ids) != 2 or not all(is_copied(entry, argument) for argument in (0, 1)):
        return ""
    first, second = (np.shape(value) for value in entry.values or ())
    return f" Both are broadcast, from {first} and {second} to {np.shape(entry.output_value)}."


def _describe_absorbed(names: list[str], parts: list[Any], signs: tuple[float, float], total: Any) -> str:
    """Return a remark on each of two summands that leaves the other as it was, at some elements at least."""
    if not is_written(total) or getattr(total, "dtype", np.dtype(int)).kind != "f":
        return ""
    if any(np.shape(part) not in ((), np.shape(total)) for part in parts):  # a reader's own pass has wrong ones
        return ""
    small, remarks = np.finfo(total.dtype).eps * np.abs(total), []
    for name, part, other, sign in zip(names, parts, parts[::-1], signs[::-1], strict=True):
        absorbed = np.asarray((part != 0) & (total == sign * other) & (np.abs(part) <= small) & np.isfinite(total))
        if absorbed.any():
            at = "" if absorbed.all() else f" at {list_elements(map(tuple, np.argwhere(absorbed).tolist()))}"
            remarks.append(f"{name} is too small to change the {'sum' if min(signs) > 0 else 'difference'}{at}")
    return f" ({', and '.join(remarks)})" if remarks else ""


def _describe_value(name: str, array: Any, digits: int = 3) -> str:
    """Write a name and its value, or its size."""
    return (
        f"{name}, which is {spoken_value(array, digits=digits)}" if is_written(array) else f"{name}{spoken_size(array)}"
    )


def _describe_cancellation(entry: Entry) -> str:
    """Write the operands of a sum that are closer than the digits show in which they are written elsewhere."""
    sign, total = SUMS.get(entry.operation), entry.output_value
    if sign is None or entry.values is None or np.shape(total):
        return ""
    first, second = (getattr(value, "_array", value) for value in entry.values)
    digits = count_digits_of_sum([first, sign * second], total)
    if digits <= USUAL_DIGITS:
        return ""
    written, usual = (
        [spoken_value(np.float64(part), digits=each) for part in (first, sign * second)] for each in (digits, 3)
    )
    if written == usual and abs(total) > 0.01 * abs(first):  # nothing cancels, and the sum can be seen
        return ""
    return f"{' + '.join(written)} = ".replace("+ -", "- ")


def _describe_sum(
    name: str, event: events.Accumulate, step: dict[str, Any], said: str, zeros: str, zeros_after: str
) -> str:
    """Describe a contribution in numbers; `zeros` is said of it, and `zeros_after` of the sum."""
    parts = [one._array for one in (event.before, event.value) if one is not None]
    digits, total = count_digits_of_sum(parts, event.after._array), event.after._array
    apart = max(count_digits_apart(part, total) for part in parts) if event.before is not None else 3
    digits, after = max(digits, apart), spoken_value(total, digits=apart)
    *rest, contribution = (spoken_value(part, digits=digits) for part in parts)
    before = rest[0] if rest else None
    had = "Nothing was there yet" if before is None else f"It is added to {before}"
    is_what = (f"{said}, which is {contribution}" if said else contribution) + zeros
    after += zeros_after or _describe_absorbed([*rest, contribution], parts, (1.0, 1.0), total) if rest else ""
    which = f" That was contribution {step['count']} of {step['of']}." if step["of"] > 1 else ""
    return f"the contribution to {name} is {is_what}. {had}, so the cotangent of {name} is now {after}.{which}"


def _describe_large_sum(name: str, event: events.Accumulate, step: dict[str, Any], said: str) -> str:
    """Describe a contribution of many numbers: how it counts, and whether the cotangent is complete."""
    count, of = step["count"], step["of"]
    which = "the only one" if of == 1 else f"the first of {of}" if count == 1 else "added to what was there"
    complete = f": the cotangent of {name} is complete" if count == of else ""
    counted = f", {count} of {of}" if count > 1 else ""
    is_what = f" is {said}. It" if said else ""
    return f"the contribution to {name}{spoken_size(event.value._array)}{is_what} is {which}{complete}{counted}."


def _find_checkpointed(entry: Entry) -> str:
    """Return the name of the checkpointed function that an entry stands for; empty for any other entry."""
    return str(entry.call.name) if kind_of(entry.operation) == "checkpoint" and entry.call is not None else ""


def _count_parts(parts: list[Any]) -> str:
    return f", the sum of {len(parts)} parts" if len(parts) > 1 else ""


def _flowing(what: str, tensor: Tensor, ndim: int) -> str:
    """Describe a cotangent or a tangent of a tensor of `ndim` axes; one axis more makes it a stack."""
    text = spoken_value(tensor._array, what)
    if tensor.ndim > ndim:
        count = len(tensor)
        stack = f"a stack of {count} {what}{'' if count == 1 else 's'}"
        return f"{stack}, {text}" if is_written(tensor._array) else stack + spoken_size(tensor._array)
    return text if text.startswith(("a ", "an ")) else f"the {what} {text}"


def _capitalise(sentence: str, name: str) -> str:
    """Capitalise a sentence, unless it begins with this name, with that of a file, or with dy/dx."""
    named = name and sentence.startswith(f"{name} ")
    return (
        sentence
        if named or re.match(r"d.*/d.* is |\S+\.grad |\S+\.\w+, line ", sentence)
        else sentence[0].upper() + sentence[1:]
    )
