"""Why a gradient of PyTorch's is None, wrong or an error: the line that did it, and what to write instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import torch

from ..explain.explanation import Cause
from ..explain.plain_values import Sources, chosen_by, used_at
from ..explain.sentences import Reason
from ..text.frames import Where
from ..text.places import expression, place
from ..text.statements import is_theirs
from . import sentences
from .pytorch_calls import STEP, CallLog, LoggedCall, memory

READS = {"item", "tolist", "numpy", "__float__", "__int__", "__array__", "__complex__", ".data"}
COPIES = {"tensor", "as_tensor", "asarray", "new_tensor"}
REASONS = {
    **dict.fromkeys(READS, (Reason.LEFT, sentences.LEFT)),
    **dict.fromkeys(COPIES, (Reason.COPIED, sentences.COPIED)),
    "detach": (Reason.STOPPED, Reason.STOPPED.sentence),
    **dict.fromkeys(("grad", ".grad"), (Reason.NESTING, sentences.NO_HISTORY)),
}


def advise(log: CallLog, error: BaseException) -> list[str]:
    """Add notes to an error of autograd's, if the log knows what led to it, and return them."""
    if error is not log.error and log.calls:
        log.error, log.notes = error, []
        with suppress(Exception):  # PyTorch's error matters more than what we could say about it
            log.notes = list(dict.fromkeys(_find_advice(log, error)))
        for note in log.notes:
            error.add_note(note)
    return log.notes if error is log.error else []


def _find_advice(log: CallLog, error: BaseException) -> Iterable[str]:
    text, last = str(error), log.calls[-1]
    found = re.search(r"element (\d+) of tensors|at index (\d+)", text)
    number, y = int(found[1] or found[2]) if found else 0, last.argument()
    if "does not have a grad_fn" in text:
        return [cause.text for cause in find_causes(log, [last.targets[number]], None, y, last=last)]
    if "modified by an inplace operation" in text:
        return _about_a_write(log, last, text)
    if "backward through the graph a second time" in text:
        return _about_two_passes(log, last, y)
    if "only for scalar outputs" in text:
        maker = log.find_maker(last.targets[0]) or last
        return [sentences.NOT_SCALAR.format(code=maker.code, shape=tuple(last.targets[0].shape), y=y)]
    if "being used in an in-place operation" in text:
        return [sentences.LEAF_WRITTEN.format(code=last.code, x=y)]
    if "differentiated Tensor" in text:
        return _about_a_source(log, last, y, number)
    if "Only Tensors of floating point" in text:
        return [sentences.INTEGERS.format(code=last.code)]
    if "can't optimize a non-leaf" in text:
        return about_no_leaf(log, last.inputs[0])
    if isinstance(error, AttributeError) and error.name == "backward":
        reads = [call for call in log.calls if call.name in READS and call.needed]
        left = _find_left(reads, [_find_end(error)], set())
        return [sentences.NUMBER.format(code=call.code) for call in left[-1:]]
    if (
        "NoneType" in text
        and last.name == ".grad"
        and not last.outputs
        and place(last.where)[:3] == place(_find_end(error))[:3]
    ):
        no_gradient = sentences.NO_GRADIENT.format(code=last.code, x=y)
        return [*about_no_leaf(log, last.inputs[0])] or [no_gradient]
    return []


def _find_end(error: BaseException) -> Where:
    """Return the place in the user's code at which an error was raised."""
    found, at = [], error.__traceback__
    while at is not None:
        found += [(at.tb_frame.f_code, at.tb_lasti)] if is_theirs[at.tb_frame.f_code.co_filename] else []
        at = at.tb_next
    return found[-1]


def _find_left(reads: list[LoggedCall], places: list[Where], followed: set[Any]) -> list[LoggedCall]:
    """List the reads whose numbers go into an expression at one of the places, as the user's code shows.

    `followed` are the names of tensors that PyTorch follows, whatever numbers they were given before.
    """
    sources = Sources({call.where[0].co_filename for call in reads})
    used = {one for where in places for one in used_at(where, "", (True,)) if _name(one) not in followed}
    return [call for call in reads if not used.isdisjoint(sources.reached_from(call.where))]


def _name(variable: Any) -> Any:
    """Return the name of a variable, as `plain_values.py` has it, which may come with a position."""
    return variable if isinstance(variable, str) else _name(variable[0]) if type(variable[0]) is tuple else variable[-1]


def find_causes(
    log: CallLog, targets: list[Any], source: Any, y: str, x: str = "", last: LoggedCall | None = None
) -> list[Cause]:
    """List where the flow is cut on the way from a source, or from anything that requires a gradient, to targets."""
    behind = log.list_behind(targets)
    found, reads = _find_cuts(log, {call.time for call in behind}, source, x)
    named = {id(one): call.result_name for call in reversed(log.calls) for one in call.outputs}
    followed = {x, *(named.get(id(one)) for call in behind for one in call.inputs)}
    places = [call.where for call in (*behind, *([last] if last else []))]
    found += [_describe_cut(call) for call in _find_left(reads, places, followed)]
    for call in log.calls if found else ():
        if call.name in ("=requires_grad", "requires_grad_") and any(call.inputs[0] is target for target in targets):
            found.append(Cause(Reason.NOT_USED, None, call.where, sentences.SILENCED.format(code=call.code, y=y)))
    chosen = {one for call in behind for one in chosen_by(call.where)} if reads and not found else set()
    sources = Sources({call.where[0].co_filename for call in reads if chosen})
    for call in reads if chosen else ():
        if not chosen.isdisjoint(sources.reached_from(call.where)):
            text = sentences.CHOSEN.format(code=call.code, x=x or call.argument(), y=y)
            found.append(Cause(Reason.LEFT, call.name, call.where, text))
    if not behind and not found:
        found = [Cause(Reason.NOT_USED, None, None, sentences.UNKNOWN.format(y=y))]
    elif not found and source is not None and source.requires_grad:
        used = [call for call in behind if any(source is one for one in call.inputs)]
        told = [(call, sentences.FROZEN) for call in used if id(source) not in call.needed]
        told += [(call, sentences.HIDDEN) for call in behind if call.name == "CheckpointFunction"]
        found = [Cause(Reason.LATE, one.name, one.where, text.format(code=one.code, x=x)) for one, text in told]
        found = found or [Cause(Reason.NOT_USED, None, None, Reason.NOT_USED.sentence.format(x=x, y=y))]
    found = found or [*_find_constants(log, behind, source, y, x)]
    return list({(cause.kind, cause.place and cause.place[:3]): cause for cause in found}.values())


def _find_cuts(log: CallLog, on_the_way: set[int], source: Any, x: str) -> tuple[list[Cause], list[LoggedCall]]:
    """List the calls on the way that pass nothing back, and those that read numbers of what depends on the source."""
    live, reached, found, reads = {id(source)}, {id(source)}, [], []
    for call in log.calls:
        ids = {id(one) for one in call.inputs}
        came = not live.isdisjoint(call.needed) or (source is None and bool(call.needed))
        late = [one for one in call.inputs if one.requires_grad and one.is_leaf and id(one) not in call.needed]
        if came or not reached.isdisjoint(ids):
            reached |= {id(one) for one in call.outputs}
            reads += [call] if call.name in READS and not call.outputs else []
        if came and any(node is not None for node in call.nodes):
            live |= {id(one) for one in call.outputs}
        elif call.time in on_the_way and came:
            found.append(_describe_cut(call))
        elif call.time in on_the_way and any(source is None or source is one for one in late):
            maker = log.find_maker(late[0])
            named = x or (maker and maker.result_name) or "a tensor in it"
            text = sentences.FROZEN.format(code=call.code, x=named)
            found.append(Cause(Reason.LATE, call.name, call.where, text))
    return found, reads


def _find_constants(log: CallLog, behind: list[LoggedCall], source: Any, y: str, x: str) -> Iterator[Cause]:
    """List what should require a gradient and doesn't."""
    used = {memory(one) for call in behind for one in call.inputs if source is None or source is one}
    off = [call for call in log.calls if "requires_grad" in call.name and memory(call.inputs[0]) in used]
    for call in off:
        text = sentences.SWITCHED_OFF.format(code=call.code, y=y)
        yield Cause(Reason.NOT_TRAINABLE, None, call.where, text)
    if not off and source is not None:
        maker = log.find_maker(source)
        text = sentences.NO_SOURCE.format(code=maker.code if maker else y, x=x)
        yield Cause(Reason.NEVER_WATCHED, None, maker and maker.where, text)
    elif not off:
        made = ", ".join(call.code for call in behind if not call.inputs)
        text = sentences.NEVER.format(y=y, made=made and f": {made}")
        yield Cause(Reason.NEVER_WATCHED, None, None, text)


def _describe_cut(call: LoggedCall) -> Cause:
    """Describe how a call cuts the flow."""
    is_list = call.name in COPIES and call.outputs[0].shape != call.inputs[0].shape
    if is_list or re.match(r"torch\.\w*Tensor\(", place(call.where).text):
        reason, text = Reason.COPIED, sentences.STACK
    elif call.name in REASONS:
        reason, text = REASONS[call.name]
        text = sentences.CONSTANT if call.options.get("create_graph") else text
    elif not any(one.is_floating_point() or one.is_complex() for one in call.outputs):
        is_choice = call.outputs[0].dtype == torch.bool or call.name.startswith("arg")
        reason, text = Reason.INTEGER, Reason.INTEGER.sentence + sentences.CLASSES * is_choice
    else:
        reason, text = (Reason.PAUSED, sentences.PAUSED) if call.paused else (Reason.ARGUMENT, sentences.NOT_FOLLOWED)
    return Cause(reason, call.name, call.where, text.format(code=call.code, x=call.argument()))


def _about_a_write(log: CallLog, last: LoggedCall, text: str) -> Iterator[str]:
    for reader in log.list_blocked(last.targets, "modified by an inplace")[:1]:
        kept = {memory(one) for one in _find_saved(reader, text)}
        later = [*log.calls[reader.time + 1 :], reader]
        write = next(call for call in later if any(memory(one) in kept for one in call.wrote))
        passes, statement = [call for call in log.list_passes(last) if call.time > reader.time], expression(write.where)
        if passes and _runs_again(log, reader, passes[0]):
            instead = sentences.RETAINED.format(h=_find_carried(log, last, passes[0]))
        elif write.name == STEP:
            instead = sentences.STEP
        elif write.paused:
            instead = sentences.UPDATED
        elif isinstance(statement, ast.AugAssign):
            new = ast.BinOp(statement.target, statement.op, statement.value)
            instead = sentences.NOT_IN_PLACE.format(new=f"{ast.unparse(statement.target)} = {ast.unparse(new)}")
        else:
            instead = sentences.ELEMENTS if write.name == "__setitem__" else sentences.WITHOUT_INPLACE
        yield sentences.OVERWRITTEN.format(code=write.code, reader=reader.quote, instead=instead)


def _find_saved(reader: LoggedCall, text: str) -> list[Any]:
    """List which tensors of a call an error means: it names the node that made the one that has changed."""
    found = re.search(r"output \d+ of ([\w:]+?)(Backward\d*)?,", text)
    name = found[1] if found else ""

    def is_named(node: Any) -> bool:
        return re.sub(r"Backward\d*$", "", node.name() if node is not None else "") == name

    if found and any(map(is_named, reader.nodes)):
        return reader.outputs
    return [one for one in reader.inputs if is_named(one.grad_fn)] or [*reader.inputs, *reader.outputs]


def _about_two_passes(log: CallLog, last: LoggedCall, y: str) -> list[str]:
    blocked, target = log.list_blocked(last.targets, "second time"), last.targets[0]
    for one in log.list_passes(last):
        released = {
            call.time for _, call in log.list_nodes(one.targets) if call and not one.options.get("retain_graph")
        }
        if reader := next((call for call in blocked if call.time in released), None):
            maker = log.find_maker(target)
            if any(target is each for each in one.targets):
                return [sentences.SAME_TARGET.format(code=one.code, y=y)]
            if maker and maker.time < one.time:
                told = {"reader": reader.quote, "first": one.argument(), "y": y}
                return [sentences.TWO_TARGETS.format(code=one.code, **told)]
            text = sentences.CARRIED if _runs_again(log, reader, one) else sentences.ONCE
            return [text.format(code=reader.code, first=one.quote, h=_find_carried(log, last, one))]
    return []


def _runs_again(log: CallLog, call: LoggedCall, after: LoggedCall) -> bool:
    return any(again.where == call.where for again in log.calls[after.time :])


def _find_carried(log: CallLog, last: LoggedCall, boundary: LoggedCall) -> str:
    """Return what to write for what was computed before an earlier backward pass and used after it."""
    behind = log.list_behind(last.targets)
    before = {id(one): call for call in behind if call.time < boundary.time for one in call.outputs}
    after = [one for call in reversed(behind) if call.time > boundary.time for one in call.inputs]
    used = [before[id(one)].result_name for one in after if id(one) in before and one.grad_fn is not None]
    return next((f"{name}.detach()" for name in used if name), "the detach() of what it gets from the one before")


def _about_a_source(log: CallLog, last: LoggedCall, y: str, number: int) -> list[str]:
    """Describe why a tensor is not one to differentiate with respect to."""
    sources, x = last.inputs[len(last.targets) :], last.argument(1)
    parts = ast.parse(x, mode="eval").body
    xs = [*map(ast.unparse, parts.elts)] if isinstance(parts, ast.Tuple | ast.List) else [x]
    if constant := [name for name, source in zip(xs, sources, strict=False) if not source.requires_grad]:
        return [sentences.NO_SOURCE.format(code=last.code, x=name) for name in constant]
    source, told = sources[number], {"code": last.code, "x": xs[number], "y": y}
    made, used = log.find_maker(source), log.find_maker(last.targets[0])
    if made and used and made.time > used.time:
        return [sentences.NEW_TENSOR.format(**told)]
    causes = find_causes(log, last.targets, source, y, xs[number])
    return [*(cause.text for cause in causes), sentences.ALLOWED.format(**told)]


def about_no_leaf(log: CallLog, tensor: Any, x: str = "it") -> Iterator[str]:
    """Describe what made a tensor that is not a leaf."""
    if not (tensor.is_leaf or tensor.retains_grad) and (maker := log.find_maker(tensor)):
        x = maker.result_name or x
        instead = sentences.UPDATE if ".grad" in maker.line else sentences.MAKE_LEAF
        yield (sentences.NOT_A_LEAF + instead).format(code=maker.code, x=x)
