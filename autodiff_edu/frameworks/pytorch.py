"""What PyTorch computes while a trace runs, as the events of a tape; every number is PyTorch's own.

A mode of `torch.overrides` sees each call in the learner's code. `torch.autograd.graph.get_gradient_edge` says where a
tensor is in autograd's graph, and so which of its nodes belong to a call: those on the way from the results back to the
arguments. So what flows into a call, and out of it, is known at the boundary of the call as the learner wrote it,
however many nodes PyTorch made of it. `pytorch_pass.py` listens there during a backward pass.

The functions of PyTorch that this needs are documented since version 2.4, with which it was not run; it runs on 2.13.0.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache, partial
from itertools import islice
from pathlib import Path
from threading import get_ident
from traceback import walk_stack
from typing import Any

import numpy as np
import torch
import typing_extensions
from torch.autograd.graph import get_gradient_edge
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers
from torch.overrides import TorchFunctionMode

from ..core import events
from ..core.active import always, only
from ..core.entry import Entry
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..options import options
from ..text.frames import here, user_frame
from ..text.places import names
from ..text.statements import pass_over
from ..trace.failures import FailedOperation
from ..trace.foreign import ForeignOperation, ForeignTape
from ..trace.scopes import scope
from ..trace.trace import Trace
from .pytorch_calls import CallLog
from .pytorch_graph import (
    Boundary,
    Edge,
    Given,
    TorchCall,
    base_of,
    copy_numbers,
    flatten,
    hold_the_same,
    is_readable,
    leaf_of,
    version_of,
)
from .pytorch_losses import open_loss
from .pytorch_pass import BackwardPass

SYMBOLS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "pow": "power",
    "matmul": "matmul",
}
"""NumPy's names for what Python's operators with a reflected form compute."""

OPERATORS = {f"{kind}{name}": known for name, known in SYMBOLS.items() for kind in ("", "r", "i")} | {
    "neg": "negative",
    "abs": "absolute",
    "floor_divide": "floor_divide",
    "remainder": "remainder",
    "gt": "greater",
    "ge": "greater_equal",
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "ne": "not_equal",
    "getitem": "getitem",
    "setitem": "setitem",
}
"""NumPy's names for what Python's operators compute."""

PLAIN = {"item", "tolist", "numpy", "__float__", "__int__", "__bool__", "__array__", "__index__", "__complex__"}
"""Methods that hand out plain numbers."""

UNSEEN = {"requires_grad_", "retain_grad", "register_hook", "share_memory_", "__repr__", "__format__"}
UNSEEN |= {".shape", ".dtype", ".device", ".ndim", ".is_leaf", ".requires_grad", ".grad_fn", "size", "dim", "numel"}
"""Methods that compute nothing."""


EMPTIED = events.Remark("Here .grad is set to None: the gradient in it is thrown away.")
"""What `zero_grad()` does, unless `set_to_none` is False, and what `w.grad = None` does."""


class TorchRecorder(TorchFunctionMode):
    """Reports to a trace what PyTorch computes in a `with` block."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        pass_over(str(Path(torch.__file__).parent))
        pass_over(typing_extensions.__file__)  # which wraps what PyTorch has deprecated
        self.trace, self.tapes = trace, [ForeignTape("autograd")]
        self.tensors: dict[Any, Tensor] = {}  # by edge; where there is none, by identity and version
        self.kept: list[Any] = []  # so that no identity is used twice
        self.current: dict[int, int] = {}  # by identity: the id of what a tensor was last
        self.watched: set[int] = set()
        self.makers: dict[Edge, tuple[TorchCall, int]] = {}
        self.scopes: list[tuple[Any, scope]] = []
        self.inside = False  # whether a call that is shown, or this recorder, is computing
        self.stepping = False  # whether an optimizer is
        self.passes = self.bytes = 0
        self.order = 0  # of the backward pass that is under way
        self.paused = not torch.is_grad_enabled()
        self.log = CallLog(self.advise)
        self.blocks = ExitStack()
        self.thread = get_ident()

    def __enter__(self) -> TorchRecorder:
        super().__enter__()
        for handle in (
            modules.register_module_forward_pre_hook(self.enter_module),
            modules.register_module_forward_hook(self.leave_module, always_call=True),
            optimizers.register_optimizer_step_pre_hook(self.begin_step),
            optimizers.register_optimizer_step_post_hook(self.end_step),
        ):
            self.blocks.callback(handle.remove)
        self.blocks.enter_context(self.see_functions())
        return self

    def __exit__(self, *exception: object) -> None:
        self.blocks.close()
        while self.scopes:  # an interrupt has left their modules
            self.scopes.pop()[1].__exit__(None, None, None)
        super().__exit__(*exception)

    # What is called ---------------------------------------------------------------------------------------------------

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute a call, log it, and report it."""
        options, name = kwargs or {}, getattr(func, "__name__", "")
        if self.inside or self.is_stepping():
            return func(*args, **options)
        if name in ("__get__", "__set__"):
            name = f"{'.' if name == '__get__' else '='}{getattr(func.__self__, '__name__', '')}"
        if parts := open_loss(func, args, options):
            self.name_arguments((args, options))
            with scope(name):
                super().__enter__()  # PyTorch has taken this mode away while it handles a call
                try:
                    return parts(*args, **options)
                finally:
                    super().__exit__(None, None, None)
        callers = islice(walk_stack(sys._getframe(1)), 3)  # an operator goes through two of PyTorch's own
        clips = any(frame.f_code.co_filename == torch.nn.utils.clip_grad.__file__ for frame, _ in callers)
        with scope("gradient clipping") if clips else nullcontext():
            return self.log.run(partial(self.see, func, name), name, args, options)

    def see(self, func: Any, name: str, *args: Any, **options: Any) -> Any:
        """Compute a call, and report it."""
        if name == "=data" and has_another_shape(*args):
            with self.working():  # a change of the dtype has PyTorch make a new node, which an old graph does not hold
                wide = args[1].to(torch.complex128 if args[1].is_complex() else torch.float64)
                func(args[0], wide if wide.dtype != args[1].dtype else args[1].real.float())
        if name == "=grad" and args[1] is None:
            self.empty(args[0])
        if name in UNSEEN or name.startswith("="):
            return func(*args, **options)
        if torch._C._functorch.peek_interpreter_stack() is not None:
            raise NotImplementedError(
                "a trace doesn't follow torch.func: call the function itself, then backward() or torch.autograd.grad"
            )
        if name == "_set_grad_enabled":
            self.pause(not args[0])
        elif name == "backward" or func is torch.autograd.grad:
            self.passes += 1
            return BackwardPass(self).run(func, args, options)
        elif name in PLAIN:
            if args[0].requires_grad and not self.paused:
                self.report(events.Leave(self.tapes[0], self.find(args[0]), f"{name.strip('_')}()"))
        elif name != ".grad":  # which is what a backward pass has left
            return self.compute(func, name, args, options)
        return func(*args, **options)

    @contextmanager
    def see_functions(self) -> Iterator[None]:
        """See the calls of functions with a backward of their own; a mode sees only what these compute inside.

        What `torch.compile` has made runs as it is written, so that its calls are seen.
        """
        usual, compile = torch.autograd.Function.__dict__["apply"], torch.compile

        def apply(cls: Any, *args: Any, **options: Any) -> Any:
            function = usual.__get__(None, cls)
            if self.inside or self.is_elsewhere():
                return function(*args, **options)

            def compute(*args: Any, **options: Any) -> Any:
                with self.working():  # the mode sees this too
                    return self.compute(function, f"{cls.__name__}.apply", args, options)

            return self.log.run(compute, cls.__name__, args, options)

        def interpret(*args: Any, **options: Any) -> Any:
            compiled = compile(*args, **options)
            self.blocks.enter_context(torch.compiler.set_stance("force_eager"))
            return compiled

        torch.autograd.Function.apply, torch.compile = classmethod(apply), interpret
        if "torch._dynamo" in sys.modules:  # something has been compiled already
            self.blocks.enter_context(torch.compiler.set_stance("force_eager"))
        try:
            yield
        finally:
            torch.autograd.Function.apply, torch.compile = usual, compile

    def compute(self, func: Any, name: str, args: Any, options: Any) -> Any:
        """Compute a call; report it if tensors went into it and others came out."""
        given = [part for part in flatten((args, options)) if isinstance(part, torch.Tensor)]
        if not given:
            return func(*args, **options)
        with self.working():
            readable = all(map(is_readable, given))
        if not readable:
            return self.leave_out(name, func(*args, **options))
        try:
            known = {id(part): Given(self.find(part), self.edge(part), version_of(part)) for part in given}
        except NotImplementedError:
            raise
        except RuntimeError:  # a view whose base was written into can't be used, but asked for its shape
            return func(*args, **options)
        bases = {id(part): (base_of(part), self.edge(base_of(part))) for part in given if base_of(part) is not None}
        try:
            with self.working():
                result = func(*args, **options)
        except Exception as error:
            operation = getattr(np, OPERATORS.get(name, name), None) or ForeignOperation(name)
            operands = [known[id(part)].tensor if torch.is_tensor(part) else part for part in flatten(args)]
            self.trace.note_failure(FailedOperation(error, operation, operands, {}, here()))
            raise
        found = [part for part in flatten(result) if isinstance(part, torch.Tensor)]
        with self.working():
            readable = all(map(is_readable, found))
        if not readable:
            return self.leave_out(name, result)
        written = [part for part in given if version_of(part) != known[id(part)].version]
        changed = [part for part in written if part.requires_grad or not found]
        roots = {key: base for key, (base, edge) in bases.items() if edge is None or self.edge(base) != edge}
        unique = {id(part): part for part in (roots.get(id(part), part) for part in (*found, *changed))}.values()
        if outputs := [part for part in unique if self.is_new(part, known)]:
            self.record(name, *list_arguments(func, name, args, options, known), outputs)
        for part in written:
            self.find(part)  # a view shows what was written
        return result

    def leave_out(self, name: str, result: Any) -> Any:
        """Report that a call is not followed, and return its result."""
        if any(isinstance(part, torch.Tensor) for part in flatten(result)):
            self.report(events.Remark(f"{name.strip('_.')} is not followed: NumPy cannot hold one of its tensors."))
        return result

    def is_new(self, part: Any, known: dict[int, Given]) -> bool:
        """Return whether a call has made this tensor, and did not just hand on one of its arguments."""
        edge = self.edge(part)
        if edge in self.tensors:
            self.find(part)  # reports a leaf that has another value
            return False
        before = known.get(id(part))
        return before is None or (before.edge, before.version) != (edge, version_of(part))

    def record(
        self,
        name: str,
        listed: list[Any],
        parameters: dict[str, Any],
        outputs: list[Any],
        number: int | None = None,
    ) -> None:
        """Report a call: an entry for each of its results, or for one of them by itself."""
        edges = [self.edge(part) for part in outputs]
        nodes = self.find_boundary(edges, ())[1] if len(outputs) > 1 else ()
        if not {way for node in nodes for way in node.next_functions}.isdisjoint(edges):
            # One of the results is computed from another, as h from c in an LSTM: the cotangent of h is part of c's.
            numbers = [edge[0]._sequence_nr() if edge else -1 for edge in edges]
            for k in sorted(range(len(outputs)), key=numbers.__getitem__):
                self.record(name, list(listed), parameters, [outputs[k]], k)
            return
        where, plain, is_part = here(), name.strip("_"), not listed  # the line itself computes something else
        if names(where).function is None and plain in OPERATORS:
            listed = listed[::-1] if is_swapped(plain, listed, where) else listed
            name = OPERATORS[plain]
        arguments: dict[Edge, list[int]] = {}
        for k, part in enumerate(listed):
            if isinstance(part, Given) and part.edge and not (part.keyword and part.edge in arguments):
                arguments.setdefault(part.edge, []).append(k)
        boundary, nodes = self.find_boundary(edges, arguments)
        for met in [met for sent in boundary.values() for _, met in sent]:
            leaf = leaf_of(met[0])
            if met not in self.tensors and is_readable(leaf):
                self.trace.assigned.setdefault(self.find(leaf)._id, find_name(leaf) or "")
            if met not in arguments and met in self.tensors:  # the call got it in another way: a view shows it
                arguments[met] = [len(listed)]
                listed.append(Given(self.tensors[met], met))
        boundary = {node: [way for way in sent if way[1] in arguments] for node, sent in boundary.items()}
        ids = tuple(part.tensor._id if isinstance(part, Given) else None for part in listed)
        values = tuple(part.tensor._array if isinstance(part, Given) else part for part in listed)
        call = TorchCall([], edges, arguments, boundary, nodes, self.order)
        for k, (part, edge) in enumerate(zip(outputs, edges, strict=True)):
            result = self.tensors[self.key(part)] = wrap(self.copy(part))
            self.kept.append(part)
            if old := self.current.get(id(part)):  # it was written into, and keeps its name
                self.trace.assigned.setdefault(result._id, self.trace.assigned.get(old, ""))
            self.current[id(part)] = result._id
            operation = ForeignOperation(name, k if len(outputs) > 1 else number, is_part)
            entry = Entry(operation, (ids, result._id, *where), parameters, values, result._array)
            call.entries.append(entry)
            if edge:
                self.makers[edge] = call, k
            self.report_entry(entry, edge, [part for part in listed if isinstance(part, Given) and part.edge])

    def report_entry(self, entry: Entry, edge: Edge | None, followed: list[Given]) -> None:
        """Report an entry: whether it was recorded, and if not, why."""
        for part in followed:
            if isinstance(part.tensor, Variable) and part.tensor._id not in self.watched and not self.paused:
                self.watched.add(part.tensor._id)
                self.report(events.Watch(self.tapes[0], part.tensor, entry.where))
        if edge:
            for tape in self.tapes[self.order :]:
                tape.entries.append(entry)
                self.report(events.Record(tape, entry))
        elif followed and self.paused:
            self.trace.variables |= {part.tensor._id for part in followed if isinstance(part.tensor, Variable)}
            self.report(events.Missed(self.tapes[0], entry))
        else:
            self.report((events.Cut if followed else events.Skip)(self.tapes[0], entry))

    def find_boundary(self, outputs: list[Edge | None], given: Any) -> tuple[Boundary, set[Any]]:
        """Find the nodes of a call, and those of them from which something leaves it to a tensor that is known."""
        boundary: Boundary = {}
        waiting, seen = [edge[0] for edge in outputs if edge], set()
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                for position, edge in enumerate(node.next_functions):
                    if edge in given or edge in self.tensors or leaf_of(edge[0]) is not None:
                        boundary.setdefault(node, []).append((position, edge))
                    elif edge[0] is not None:
                        waiting.append(edge[0])
        return boundary, seen

    def empty(self, value: Any) -> None:
        """Report that a gradient is set to None again; the gradients that one call empties are a step together."""
        with self.working():
            before = value.grad if value.is_leaf or value.retains_grad else None  # else PyTorch warns
        last, place = self.trace.happenings[-1:], here()
        if before is not None and not (last and last[0].event == EMPTIED and last[0].where == place):
            self.report(EMPTIED)

    # What is known ----------------------------------------------------------------------------------------------------

    @contextmanager
    def working(self) -> Iterator[None]:
        """Compute what is called in a `with` block without seeing it."""
        before, self.inside = self.inside, True
        try:
            yield
        finally:
            self.inside = before

    def edge(self, value: Any) -> Edge | None:
        """Return where a tensor is in autograd's graph; None if it requires no gradient."""
        if not value.requires_grad:
            return None
        with self.working(), torch.inference_mode(False), torch.enable_grad():
            try:
                if not value.is_leaf:
                    edge = get_gradient_edge(value)
                    return edge.node, edge.output_nr
                node = (value.view_as(value) if value.layout is torch.strided else value.clone()).grad_fn
                while leaf_of(node) is None:  # it is one step away; in a subclass of Tensor, several
                    node = node.next_functions[0][0]
                return node, 0
            except (AssertionError, AttributeError, RuntimeError):  # it was made where there are no gradients
                return None

    def key(self, value: Any) -> Any:
        """Return what is never the same for two values that a tensor has had, except for a leaf."""
        return self.edge(value) or (id(value), version_of(value))

    def find(self, value: Any) -> Tensor:
        """Return the trace's tensor for one of PyTorch's, as it is now."""
        key = self.key(value)
        known, array = self.tensors.get(key), self.copy(value)
        leaf = type(key[0]) is not int and value.is_leaf
        if known is not None and hold_the_same(known._array, array):
            return known
        if known is not None and leaf:
            before, known._array = known._array, array
            if known._id in self.watched:
                self.report(events.Assign(known, wrap(array), before, wrap(array), None))
            return known
        if known is not None and type(key[0]) is not int:
            known._array = array
            who = find_name(value) or "A tensor"
            self.report(
                events.Remark(f"{who} was written into by .data, .detach() or no_grad(): autograd ignores that.")
            )
            return known
        self.kept.append(value)
        base = base_of(value)
        followed = type(key[0]) is not int and not leaf
        if followed and base is not None and (edge := self.edge(base)) and edge in self.tensors:
            self.record("view", [Given(self.find(base), edge)], {}, [value])
        elif followed and id(value) in self.current:  # what it is a view of is known to PyTorch alone
            self.record("view", [], {}, [value])
        elif followed:
            self.adopt(value)
        elif leaf:
            with only(*always.listeners):
                self.tensors[key] = Variable(array)
        else:
            self.tensors[key] = wrap(array)
        return self.tensors[key]

    def copy(self, value: Any) -> Any:
        """Copy the numbers of a tensor, as long as the trace has room."""
        array = copy_numbers(value)
        self.bytes += array.nbytes if self.key(value) not in self.tensors else 0
        if self.bytes > options.most_bytes:
            raise MemoryError(
                f"this trace copies more than {options.most_bytes:,} bytes of PyTorch's tensors: trace fewer steps, or "
                "smaller ones, or allow more with ad.options.most_bytes"
            )
        return array

    def find_known(self, value: Any) -> Any:
        """Return the trace's tensor for one of PyTorch's, if its making was seen; anything else as it is."""
        if self.inside or not isinstance(value, torch.Tensor):  # what a call computes inside is not shown
            return value
        with self.working():
            try:
                seen = is_readable(value) and (value.is_leaf or self.key(value) in self.tensors)
                return self.find(value) if seen else value
            except RuntimeError:  # a view whose base was written into may not be looked at
                return value

    def adopt(self, value: Any, name: str | None = None) -> None:
        """Report a tensor of whose making autograd knows more than the trace has seen."""
        self.record(name or self.edge(value)[0].name(), [], {}, [value])  # type: ignore[index]
        if name is None:
            self.trace.assigned[self.tensors[self.edge(value)]._id] = find_name(value) or ""  # the line assigns another
            self.report(
                events.Remark(f"How it was computed was not followed: {value.grad_fn.name()} is its last step.")
            )

    def report(self, event: events.Event) -> None:
        """Add an event to the trace."""
        self.trace.report(event)

    # What is asked ----------------------------------------------------------------------------------------------------

    def advise(self, error: BaseException) -> list[str]:
        """Add notes to an error, if what this has seen explains it, and return them."""
        from .advice import advise  # not worth the import time if all goes well

        with self.working():
            return advise(self.log, error)

    def explain(self, target: Any, source: Any) -> Any:
        """Explain the gradient of a target with respect to a source."""
        from .pytorch_explanation import TorchExplanation

        with self.working():
            return TorchExplanation(self.log, self.trace.events, target, source)

    def is_elsewhere(self) -> bool:
        """Return whether this is another thread than the trace's."""
        return get_ident() != self.thread

    # What happens around calls ----------------------------------------------------------------------------------------

    def pause(self, paused: bool) -> None:
        """Note that gradients are switched off, or on again."""
        if paused != self.paused and not self.stepping:
            self.paused = paused
            self.report((events.Pause if paused else events.Resume)(self.tapes[0]))

    def enter_module(self, module: Any, args: Any) -> None:
        """Open a scope for a module that begins, named as its parent names it."""
        if self.is_elsewhere():
            return
        if isinstance(module, REFUSED):
            raise NotImplementedError(f"a trace does not follow {type(module).__name__}; call the module inside it")
        if not self.scopes:
            name = find_name(module) or type(module).__name__.lower()
            with self.working():
                for path, parameter in module.named_parameters():
                    if is_readable(parameter):
                        self.find(parameter).name = f"{name}.{path}"
            self.name_arguments(args)
        else:
            parent = self.scopes[-1][0]
            paths = {id(part): path for path, part in parent.named_modules()}
            name = paths.get(id(module)) or type(module).__name__.lower()
        self.scopes.append((module, opened := scope(name)))
        opened.__enter__()

    def name_arguments(self, args: Any) -> None:
        """Note what the user's code calls the tensors that something gets, which is shown by its parts."""
        with self.working():
            for part in flatten(args):
                if isinstance(part, torch.Tensor) and is_readable(part) and part.is_leaf:
                    self.trace.assigned.setdefault(self.find(part)._id, find_name(part) or "")

    def leave_module(self, module: Any, args: Any, result: Any) -> None:
        """Close the scope of a module that has ended."""
        while not self.is_elsewhere() and any(opened is module for opened, _ in self.scopes):
            self.scopes.pop()[1].__exit__(None, None, None)

    def is_stepping(self) -> bool:
        """Return whether an optimizer is computing, and not a function that it calls for the loss."""
        return self.stepping and not torch.is_grad_enabled()

    def begin_step(self, optimizer: Any, args: Any, options: Any) -> None:
        """Stop seeing what an optimizer computes."""
        self.stepping = self.stepping or not self.is_elsewhere()

    def end_step(self, optimizer: Any, args: Any, options: Any) -> None:
        """Report which variables an optimizer has changed."""
        if self.is_elsewhere():
            return
        self.stepping = False
        values = [value for group in optimizer.param_groups for value in group["params"]]
        with self.working():
            self.log.log_step(values)
            for value in values:
                if value.requires_grad and self.key(value) in self.tensors:
                    self.find(value)


def call(trace: Trace, function: Any, args: tuple[Any, ...], names: list[str]) -> None:
    """Call a function of PyTorch's tensors in a trace; pull back from its result, unless the function does that itself.

    Raises
    ------
    TypeError
        If there is nothing to pull back from.
    """
    recorder = next(source for source in trace.sources if isinstance(source, TorchRecorder))
    with recorder.working():
        parameters = [*function.parameters()] if isinstance(function, torch.nn.Module) else []
        if not any(torch.is_tensor(part) and part.requires_grad for part in (*parameters, *flatten(args))):
            args = torch.utils._pytree.tree_map(require_gradient, args)
        for name, value in zip(names, args, strict=True):
            if torch.is_tensor(value):
                trace.assigned.setdefault(recorder.find(value)._id, name)
    result = function(*args)
    if recorder.passes:
        return
    with recorder.working():
        targets = [part for part in flatten(result) if torch.is_tensor(part) and part.requires_grad]
        seeds = [None if part.ndim == 0 else torch.ones_like(part) for part in targets]
        sources = [value for value in recorder.kept if value.is_leaf and value.requires_grad]
    if not targets:
        raise TypeError(
            f"{trace.title} returns {result!r:.60}, from which nothing leads back to its arguments. Return the tensor "
            "that it computes from them, without .item(), .detach() or .numpy() on the way"
        )
    torch.autograd.grad(targets, sources, seeds, allow_unused=True)


def as_tensors(args: Any) -> Any:
    """Convert the numbers and NumPy arrays in a structure to PyTorch's tensors; integers stay numbers."""
    return torch.utils._pytree.tree_map(
        lambda part: torch.tensor(part) if isinstance(part, float | complex | np.ndarray) else part, args
    )


def require_gradient(value: Any) -> Any:
    """Copy a tensor that can have a gradient, so that it gets one; return anything else as it is."""
    if torch.is_tensor(value) and (value.is_floating_point() or value.is_complex()):
        return value.detach().clone().requires_grad_()
    return value


REFUSED = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel, torch.jit.ScriptModule)
"""Modules whose work a trace can't follow."""


def list_arguments(
    func: Any, name: str, args: Any, options: Any, known: dict[int, Given]
) -> tuple[list[Any], dict[str, Any]]:
    """List the arguments of a call as its entry has them, and its parameters."""
    index = name.strip("_") in ("getitem", "setitem")
    listed: list[Any] = []
    for part in args:
        parts = list(flatten(part))
        if any(isinstance(one, torch.Tensor) for one in parts):
            listed += [known.get(id(one), one) for one in parts]
        elif index or not (part is None or isinstance(part, bool)):
            listed.append(part)
    listed += [known[id(part)]._replace(keyword=True) for part in options.values() if isinstance(part, torch.Tensor)]
    usual = defaults(func)
    return listed, {
        key: part
        for key, part in options.items()
        if not (isinstance(part, torch.Tensor) or part is None or usual.get(key) is part)
        and not (isinstance(part, int | float) and usual.get(key) == part)
    }


@cache
def defaults(func: Any) -> dict[str, Any]:
    """Return the values that parameters of a function have where its caller gives none."""
    try:
        return {name: parameter.default for name, parameter in inspect.signature(func).parameters.items()}
    except ValueError:  # most functions written in C have no signature
        return {}


def is_swapped(name: str, listed: list[Any], where: Any) -> bool:
    """Return whether an operator has its arguments the other way round in the code: `2 * x` arrives as x and 2."""
    if len(listed) != 2 or name not in OPERATORS or isinstance(listed[1], Given):
        return False
    written = names(where)
    if name.startswith("r") and name != "remainder":
        return True
    return len(written.arguments) == 2 and (written.literal[0] or not is_tensor(written.arguments[0]))


def is_tensor(name: str | None) -> bool:
    """Return whether a name in the user's code stands for a tensor; true for an expression, which probably does."""
    frame = user_frame(sys._getframe())
    found = frame.f_locals.get(name, frame.f_globals.get(name)) if name else None
    return found is None or isinstance(found, torch.Tensor)


def has_another_shape(value: Any, new: Any) -> bool:
    """Return whether a tensor gets data of another shape, for which a node that knows the old one is of no use."""
    return is_readable(value) and value.requires_grad and value.shape != new.shape


def find_name(value: Any) -> str | None:
    """Find the name that the user's code has for an object."""
    frame = user_frame(sys._getframe())
    return next((name for name, known in [*frame.f_locals.items(), *frame.f_globals.items()] if known is value), None)
