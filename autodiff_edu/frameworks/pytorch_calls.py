"""A log of PyTorch's calls, with what autograd forgets: what required no gradient, what left, who wrote into what."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch

from ..explain.labels import is_statement
from ..text.frames import Where, here
from ..text.places import expression, names, place, written
from ..text.source_code import source_of
from .pytorch_graph import flatten, version_of

QUIET = re.compile(
    r"_(?!_|foreach|fused)|\.(?!(data|grad|is_leaf|T|mT|H|mH|real|imag)$)"
    r"|(size|dim|numel|stride|is_complex|is_floating_point|is_contiguous)$"
)
"""What changes no tensor and returns none: it is not logged."""

STEP = "an optimizer's step"


class LoggedCall(NamedTuple):
    """A call of PyTorch's, and what was true of its tensors then.

    Attributes
    ----------
    time : int
        How many calls were logged before.
    name : str
        Of the function or the method; `.data` if an attribute was read, `=grad` if it was set.
    targets, inputs, outputs, wrote : list of tensors
        Those of the first argument, of all arguments, those returned or written into, and those written into.
    needed : frozenset of int
        By identity, the inputs that required a gradient.
    nodes : list
        For each output, its node of autograd's graph; None if it required no gradient.
    paused : bool
        Whether PyTorch was not recording.
    """

    time: int
    name: str
    where: Where
    targets: list[Any]
    inputs: list[Any]
    needed: frozenset[int]
    options: dict[str, Any]
    outputs: list[Any]
    wrote: list[Any]
    nodes: list[Any]
    paused: bool

    @property
    def line(self) -> str:
        """Its line of the user's code."""
        at = place(self.where)
        return "".join(source_of(at.path).lines[at.line - 1 : at.line]).strip()

    @property
    def result_name(self) -> str:
        """What the user's line assigns its result to, such as h or self.h; empty if it does not."""
        left, _, right = self.line.partition(" = ")
        is_whole = right == place(self.where).text and left.replace(".", "").isidentifier()
        return names(self.where).result or (left if is_whole else "")

    @property
    def text(self) -> str:
        """Its expression in the user's code, and the name that its result gets."""
        text, result = place(self.where).text, self.result_name
        if (
            not text or self.name == "__setitem__" or self.name.startswith("=")
        ):  # Python knows only the place of the target
            return self.line
        return f"{result} = {text}" if result and not is_statement(text) else text

    @property
    def code(self) -> str:
        """Its text as a sentence begins with it: "cell 3, line 2: y = x * x"."""
        return f"{place(self.where)}: {self.text}"

    @property
    def quote(self) -> str:
        """Its text as a sentence mentions it: "y = x * x (cell 3, line 2)"."""
        return f"{self.text} ({place(self.where)})"

    def argument(self, number: int = 0) -> str:
        """Return the user's expression for an argument."""
        return read_argument(self.where, number)


class CallLog:
    """The calls of PyTorch that a trace has seen, in order; `advise` is called with the errors that they raise."""

    def __init__(self, advise: Callable[[BaseException], list[str]]) -> None:
        self.advise = advise
        self.calls: list[LoggedCall] = []
        self.made: dict[Any, LoggedCall] = {}  # by the node of autograd's graph
        self.error: BaseException | None = None  # the last that was raised
        self.notes: list[str] = []  # what there was to say about it

    def run(self, func: Any, name: str, args: Any, options: dict[str, Any]) -> Any:
        """Compute a call, and log what was true of its tensors before and after."""
        if QUIET.match(name):
            return func(*args, **options)
        with torch._C.DisableTorchFunction():
            inputs, targets, number = _list_tensors((args, options)), _list_tensors(args[:1]), len(self.calls)
            needed, counts = frozenset(id(one) for one in inputs if one.requires_grad), [*map(version_of, inputs)]
        call = LoggedCall(number, name, here(), targets, inputs, needed, options, [], [], [], False)
        try:
            result = func(*args, **options)
        except Exception as error:
            self.calls.append(call)
            self.advise(error)
            raise
        with torch._C.DisableTorchFunction():
            wrote = [one for one, count in zip(inputs, counts, strict=True) if version_of(one) != count]
            outputs = [*{id(one): one for one in (*_list_tensors(result), *wrote)}.values()]
            nodes, paused = [*map(node_of, outputs)], not torch.is_grad_enabled()
        changes: dict[str, Any] = {"outputs": outputs, "wrote": wrote, "nodes": nodes, "paused": paused}
        self.calls.append(call._replace(**changes))
        self.made |= {node: self.calls[-1] for node in nodes if node is not None}
        return result

    def log_step(self, values: list[Any]) -> None:
        """Log that an optimizer has taken a step with some parameters."""
        trained = [one for one in values if one.grad is not None]
        number, nothing = len(self.calls), frozenset[int]()
        self.calls.append(LoggedCall(number, STEP, here(), [], values, nothing, {}, [], trained, [], True))

    def find_maker(self, tensor: Any) -> LoggedCall | None:
        """Return the call that made a tensor; for a parameter, the one that made its numbers."""
        made = [(call, one) for call in self.calls for one in call.outputs if all(one is not x for x in call.inputs)]
        same = [call for call, one in made if one is tensor]
        for call, one in made if not same else ():
            if memory(one) == memory(tensor) and all(memory(one) != memory(x) for x in call.inputs):
                same.append(call)
        return same[0] if same else None

    def list_passes(self, before: LoggedCall) -> list[LoggedCall]:
        """List the earlier backward passes, the last first."""
        return [call for call in self.calls[: before.time] if call.name in ("backward", "grad")][::-1]

    def list_behind(self, targets: Iterable[Any]) -> list[LoggedCall]:
        """List the calls that led to some tensors, whether autograd follows them or not; no update of a parameter."""
        wanted, found = {id(one) for one in targets}, []
        for call in reversed(self.calls):
            kept = [one for one in call.outputs if not (one.is_leaf and id(one) in call.needed)]
            if any(id(one) in wanted for one in kept):
                found.append(call)
                wanted |= {id(one) for one in call.inputs}
        return found[::-1]

    def list_nodes(self, targets: Iterable[Any]) -> Iterator[tuple[Any, LoggedCall | None]]:
        """Yield the nodes of autograd's graph behind some tensors, each with the call that it is part of."""
        waiting: list[tuple[Any, LoggedCall | None]] = [(one.grad_fn, None) for one in targets]
        seen = {None}
        while waiting:
            node, call = waiting.pop()
            if node not in seen:
                seen.add(node)
                yield node, (call := self.made.get(node, call))
                waiting += [(further, call) for further, _ in node.next_functions]

    def list_blocked(self, targets: Iterable[Any], why: str) -> list[LoggedCall]:
        """List the calls with a node that can't give what it saved for the backward pass, the last first."""
        found = {
            call.time: call for node, call in self.list_nodes(targets) if call is not None and _is_blocked(node, why)
        }
        return [found[time] for time in sorted(found, reverse=True)]


def _is_blocked(node: Any, why: str) -> bool:
    for name in dir(node):
        if name.startswith(("_saved", "saved_tensors")):
            try:
                getattr(node, name)
            except RuntimeError as error:
                if why in str(error):
                    return True
    return False


def read_argument(where: Where, number: int = 0) -> str:
    """Return the user's expression for an argument of a call, without the detach() and the cpu() that end it."""
    node, known = expression(where), written(where)
    parts = [node.value] if isinstance(node, ast.Attribute | ast.Subscript) else known[2] if known else []
    part = parts[number] if number < len(parts) else None
    while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in ("detach", "cpu"):
        part = part.func.value
    return "the tensor" if part is None else ast.unparse(part)


def node_of(tensor: Any) -> Any:
    """Return a tensor's node of autograd's graph; None also for a view that PyTorch forbids to differentiate."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # it was made without gradients, and written into: PyTorch minds only if it is used with them
        return None


def is_of(tensor: Any, node: Any) -> bool:
    """Return whether a node of autograd's graph is the one of a tensor."""
    return node is tensor.grad_fn if tensor.grad_fn is not None else getattr(node, "variable", None) is tensor


def read_gradient(tensor: Any) -> Any:
    """Return what a backward pass has left in a tensor, without PyTorch's warning if that can't be anything."""
    return tensor.grad if tensor.is_leaf or tensor.retains_grad else None


def memory(tensor: Any) -> int:
    """Return where the numbers of a tensor are, which its views share."""
    return int(tensor.untyped_storage().data_ptr()) if tensor.layout is torch.strided else id(tensor)


def _list_tensors(value: Any) -> list[Any]:
    return [part for part in flatten(value) if isinstance(part, torch.Tensor)]
