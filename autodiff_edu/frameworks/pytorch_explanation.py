"""Why a gradient of PyTorch's is None, or along which path it flows and what is wrong with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ..core import events
from ..core.entry import Entry
from ..core.reach import ahead, behind
from ..explain.explanation import Explanation
from ..explain.sentences import HAS_PATH, IS_NONE, IS_THE_SAME, LEFT_OUT, Reason
from ..nonfinite.origin import bad, describe, first, is_number
from ..nonfinite.remedies import REMEDIES
from ..text.formatting import derivative
from ..text.frames import here
from ..text.places import place, written
from ..trace.foreign import ForeignTape
from ..trace.trace import Trace
from . import sentences
from .advice import COPIES, READS, about_no_leaf, find_causes
from .pytorch_calls import STEP, CallLog, LoggedCall, is_of, memory, read_argument, read_gradient

STEPS = {"round", "floor", "ceil", "trunc", "sign", "heaviside"}
NUMPYS = {"div": "divide", "pow": "power", "acos": "arccos", "asin": "arcsin", "acosh": "arccosh", "atanh": "arctanh"}
"""NumPy's names for some of PyTorch's functions."""


class TorchExplanation(Explanation):
    """Why a gradient of PyTorch's is None, or the path along which it flows; true if there is one."""

    def __init__(self, log: CallLog, happened: list[events.Event], target: Any, source: Any) -> None:
        for one in (target, source):
            if not isinstance(one, torch.Tensor):
                raise TypeError(f"explain needs two tensors, the target and the source, not a {type(one).__name__}")
        asked = written(here())
        y, x = map(ast.unparse, asked[2][-2:]) if asked and asked[1] == "explain" else ("the target", "the source")
        slope = derivative(y, x)
        slope = f"T{slope[1:]}" if slope.startswith("the ") else slope
        self.connected = target is source or any(is_of(source, node) for node, _ in log.list_nodes([target]))
        causes = tuple(find_causes(log, [target], source, y, x))
        lost = tuple(cause for cause in causes if cause.operation in READS | COPIES)
        self.causes, self.left_out = ((), lost) if self.connected else (causes, ())
        self.path, self.corners = (), ()
        led = log.list_behind([target])
        path = _find_path(led, target, source)
        self._title = (IS_THE_SAME if target is source else HAS_PATH if self.connected else IS_NONE).format(slope=slope)
        told, notes = [cause.text for cause in self.causes], list[str]()
        if self.connected:
            told = list(dict.fromkeys(call.code for call in path)) or [sentences.UNSEEN] * (target is not source)
            notes += [sentences.STEPS.format(code=call.code) for call in path if call.name in STEPS]
            notes += [*_list_notes(log, led, source, x), *_about_nonfinite(happened, source)]
        on_purpose = [one for one in causes if self.connected and one.kind in (Reason.STOPPED.kind, Reason.PAUSED.kind)]
        cuts = [one._replace(text=one.text.replace(sentences.MOVE, "")) for one in on_purpose]
        self._places = {cause.text: cause.where for cause in (*causes, *cuts)}
        parts = [(LEFT_OUT, [one.text for one in self.left_out]), (sentences.CUT, [one.text for one in cuts])]
        self._sections = [(self.title, told), *(part for part in (*parts, (sentences.NOTE, notes)) if part[1])]

    def trace(self) -> Trace:
        """Return what is said here as a trace, for `play`."""
        shown, tape = Trace(self.title), ForeignTape("autograd")
        for title, items in self._sections:
            shown.add(*(events.Explain(tape, text, self._places.get(text), None) for text in (title, *items)))
        return shown

    @property
    def title(self) -> str:
        """The first line of the text: whether the gradient is None."""
        return self._title

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(cause.kind for cause in self.causes))
        return f"Explanation({'connected' if self.connected else f'unconnected: {kinds}'})"


def _find_path(calls: list[LoggedCall], target: Any, source: Any) -> tuple[LoggedCall, ...]:
    """Return the calls of a shortest path along which the gradient flows."""
    paths: dict[int, tuple[LoggedCall, ...]] = {id(source): ()}
    for call in calls:
        known = [paths[id(one)] for one in call.inputs if id(one) in paths]
        for one, node in zip(call.outputs, call.nodes, strict=True) if known else ():
            if node is not None:
                paths.setdefault(id(one), (*min(known, key=len), call))
    return paths.get(id(target), ())


def _list_notes(log: CallLog, led: list[LoggedCall], source: Any, x: str) -> Iterator[str]:
    """List what else is wrong with a gradient that is not None."""
    yield from about_no_leaf(log, source, x)
    added, has_grad, is_used, stepped, grad = None, False, False, False, read_gradient(source)
    used = {id(one) for call in led for one in call.inputs}
    leaves, made = {memory(one) for call in led for one in call.inputs if one.is_leaf}, set[int]()
    for call in log.calls[: led[-1].time + 1] if led else ():
        written = {memory(one) for one in call.wrote} & made - leaves
        if written and (call.paused or not any(call.nodes)):
            yield sentences.UNSEEN_WRITE.format(code=call.code, x=call.argument().removesuffix(".data"))
        if call in led:
            made |= {memory(one) for one, node in zip(call.outputs, call.nodes, strict=True) if node is not None}
    for call in log.calls:
        text = place(call.where).text
        if call.name == "detach" and text == call.line and id(call.inputs[0]) in used:
            yield sentences.NO_EFFECT.format(code=call.code, x=call.argument(), text=text)
        zeroed = "zero" in call.name and grad is not None and memory(grad) in map(memory, call.wrote)
        if zeroed or (call.name == "=grad" and call.inputs[0] is source):
            has_grad = is_used = False
        elif call.name == "backward" and any(is_of(source, node) for node, _ in log.list_nodes(call.targets)):
            added, has_grad = call if is_used else added, True
        is_used = is_used or (has_grad and any(one is source for one in call.wrote))
        stepped = stepped or (has_grad and call.name == STEP)
    known = any(one is source for call in log.calls if call.name == STEP for one in call.inputs)
    if stepped and not known and source.is_leaf and (maker := log.find_maker(source)):
        yield sentences.UNTRAINED.format(code=maker.code, x=x)
    elif added:
        yield sentences.ADDED.format(code=added.code, x=x)


def _about_nonfinite(happened: list[events.Event], source: Any) -> Iterator[str]:
    """Describe what made the gradient of a source a NaN or infinite, as the trace has seen it."""
    gradient, spoiled = read_gradient(source), True
    entries = [event.entry for event in happened if isinstance(event, events.Record)]
    for event in [] if gradient is None or gradient.isfinite().all() else happened:
        if isinstance(event, events.PullBack):
            spoiled = _is_bad(event.cotangent._array)
        elif isinstance(event, events.Accumulate) and not spoiled and _is_bad(event.value._array):
            yield _describe_birth(entries, event)
            return


def _describe_birth(entries: list[Entry], event: events.Accumulate) -> str:
    """Describe where the first NaN or infinity was made, forward or backward, and what to write instead."""
    entry, spoiled, how = event.entry, event.value._array, "has no finite derivative"
    led = (
        behind(entries, {entry.output_id}) if any(_is_bad(each) for each in (entry.output_value, *entry.values)) else []
    )
    if made := [one for one in led if _is_bad(one.output_value) and not any(map(_is_bad, one.values))]:
        entry, spoiled = made[0], made[0].output_value
        how = f"gives {first(spoiled, bad(spoiled))[1]}"
    elif led:
        entry = next(one for one in led if any(map(_is_bad, one.values)))
        x = read_argument(entry.where, [*map(_is_bad, entry.values)].index(True))
        return sentences.COMES_IN.format(code=_quote(entry), x=x)
    index, inputs, shape = first(spoiled, bad(spoiled))[0], entry.values, np.shape(spoiled)
    if shape == np.shape(entry.output_value):
        inputs = tuple(np.broadcast_to(each, shape)[index] if is_number(each) else each for each in inputs)
    known = REMEDIES.get(NUMPYS.get(entry.name, entry.name))
    x = read_argument(entry.where, known.argument if known else event.argument if entry is event.entry else 0)
    told = {"code": _quote(entry), "what": f"{describe(entry, inputs)} {how}", "x": x}
    results = {entry.output_id, *(one.output_id for one in ahead(entries, {entry.output_id}))}
    for where in [one for one in entries if one.name == "where" and not results.isdisjoint(one.ids[1:])]:
        first_branch = where.ids[1] in results
        taken = np.asarray(where.values[0], bool) == first_branch
        if not (taken[index] if taken.shape == shape else taken.all()):
            branches = [x, known.safe if known else "a harmless number"][:: 1 if first_branch else -1]
            safe = f"torch.where({read_argument(where.where)}, {', '.join(branches)})"
            return sentences.SAFE.format(**told, where=place(where.where), safe=safe)
    return sentences.NONFINITE.format(**told)


def _is_bad(value: Any) -> bool:
    return bool(bad(value).any())


def _quote(entry: Entry) -> str:
    return f"{place(entry.where)}: {place(entry.where).text}"
