"""What a trace shows of a thousand random programs is what PyTorch did: every number, and every line.

Each program runs three times from the same text: plain, in a trace, and plain again under an observer. The observer
keeps the arguments of every call, and where its results are in autograd's graph; before each backward pass it asks
`torch.autograd.grad` for the cotangents of all of them. What each call contributes to its arguments is computed once
more by itself: the call is repeated on fresh leaves and pulls back the cotangent that the trace shows.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections import defaultdict
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch_programs import write_program

import autodiff_edu as ad
from autodiff_edu.core import events
from autodiff_edu.frameworks.pytorch import EMPTIED
from autodiff_edu.trace.foreign import Gradient

pytestmark = pytest.mark.torch

OPTIMIZERS = torch.optim.__path__[0]

SEEDS, BLOCK = 1000, 20


class Result(NamedTuple):
    """A tensor that a call has returned, or written into."""

    value: Any
    edge: Any
    place: int


class Memory(NamedTuple):
    """An argument of a call, as it was, and what it is a view of."""

    tensor: Any
    value: Any
    edge: Any
    base: Any
    base_value: Any
    base_edge: Any
    layout: Any


class Call(NamedTuple):
    """A call of PyTorch's in a program: how to repeat it, and what it returned."""

    function: Any
    args: Any
    options: Any
    memory: dict[int, Memory]  # by identity
    random: Any
    line: int
    results: list[Result]
    written: int  # the identity of the argument that it has written into
    through: bool  # whether through a view


class Observer(TorchFunctionMode):
    """Keeps each call of a program, and the cotangents of each backward pass."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.calls: list[Call] = []
        self.leaves: dict[Any, Any] = {}
        self.passes: list[dict[Any, Any]] = []
        self.seeds: list[int] = []  # how many targets each pass has
        self.given: list[Any] = []  # what autograd.grad returned
        self.full: list[bool] = []  # whether a pass goes everywhere
        self.hooked = False  # then a cotangent is what its hook returns only if nothing else is asked for
        self.lines: set[int] = set()  # where there are passes
        self.kept: list[Any] = []

    def __enter__(self) -> Observer:
        self.usual = usual = torch.autograd.Function.__dict__["apply"]

        def apply(cls: Any, *args: Any) -> Any:
            function = usual.__get__(None, cls)
            if torch.overrides._len_torch_function_stack() == 0:  # another call is computing
                return function(*args)
            with torch._C.DisableTorchFunction():
                return self.observe(function, args, {})

        torch.autograd.Function.apply = classmethod(apply)
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        torch.autograd.Function.apply = self.usual
        super().__exit__(*exception)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        if func is torch.autograd.grad or func in (torch.Tensor.backward, torch.autograd.backward):
            return self.differentiate(func, args, options)
        if func is functional.cross_entropy and args[0].shape != args[1].shape:  # of classes: a trace shows its parts
            with self.seeing():
                options = {name: part for name, part in options.items() if name != "label_smoothing"}
                return functional.nll_loss(
                    functional.log_softmax(args[0], min(1, args[0].ndim - 1)), args[1], **options
                )
        self.hooked |= func is torch.Tensor.register_hook
        if getattr(func, "__name__", "") in ("__set__", "register_hook", "requires_grad_", "retain_grad"):
            return func(*args, **options)
        return self.observe(func, args, options)

    @contextmanager
    def seeing(self) -> Any:
        """See what a call consists of; PyTorch takes a mode away while it handles a call."""
        super().__enter__()
        try:
            yield
        finally:
            super().__exit__(None, None, None)

    def observe(self, func: Any, args: Any, options: Any) -> Any:
        if not torch.is_grad_enabled() and sys._getframe(2).f_code.co_filename.startswith(OPTIMIZERS):
            return func(*args, **options)
        tensors = [part for part in flat((args, options)) if isinstance(part, torch.Tensor)]
        memory = {id(part): remember(part) for part in tensors}
        versions = {id(part): version(part) for part in tensors}
        state = torch.get_rng_state() if tensors else None
        roots = [
            (part._base, edge(part._base)) for part in tensors if not part.is_inference() and part._base is not None
        ]
        result = func(*args, **options)
        results = [part for part in flat(result) if isinstance(part, torch.Tensor)]
        written = [part for part in tensors if version(part) != versions[id(part)]]
        known = {id(part) for part in tensors} - {id(part) for part in written}
        before = {kept.edge for kept in memory.values()} - {None}
        changed = {id(base) for base, before in roots if before != edge(base)}
        every = [
            part._base if not part.is_inference() and id(part._base) in changed else part
            for part in (*results, *written)
        ]
        unique = {id(part): part for part in every if id(part) not in known and edge(part) not in before}.values()
        self.kept += [*unique, *tensors]
        found = [
            Result(array(part), edge(part), next(k for k, one in enumerate(every) if one is part)) for part in unique
        ]
        self.calls.append(
            Call(
                func, args, options, memory, state, self.line(), found, id(written[0]) if written else 0, bool(changed)
            )
        )
        for part in (*tensors, *unique):
            if part.requires_grad and part.is_leaf:
                self.leaves[edge(part)] = part
        return result

    def list_places(self) -> list[tuple[Any, Any]]:
        """List what was seen, as it is now, with its place in autograd's graph."""
        places = []
        for part in self.kept:
            with suppress(RuntimeError):  # a view that may not be looked at
                places.append((edge(part), part))
        return places

    def line(self) -> int:
        frame = sys._getframe(2)
        while frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return frame.f_lineno

    def differentiate(self, func: Any, args: Any, options: Any) -> Any:
        if func is torch.autograd.grad:
            outputs = args[0]
            seeds = args[2] if len(args) > 2 else options.get("grad_outputs")
        else:
            outputs = args[0] if args else options["tensors"]
            seeds = args[1] if len(args) > 1 else options.get("gradient", options.get("grad_tensors"))
        outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        seeds = [seeds] if isinstance(seeds, torch.Tensor) or seeds is None else list(seeds)
        seeds += [None] * (len(outputs) - len(seeds))
        edges = {result.edge for call in self.calls for result in call.results} | set(self.leaves)
        edges |= {kept.edge for call in self.calls for kept in call.memory.values()}
        edges = list(edges - {None})
        pairs = [(out, seed) for out, seed in zip(outputs, seeds, strict=True) if out.requires_grad]
        self.seeds.append(len(pairs))
        targets, start = (
            [out for out, _ in pairs],
            [torch.ones_like(out) if seed is None else seed for out, seed in pairs],
        )

        def ask(edges: list[Any]) -> list[Any]:
            return torch.autograd.grad(
                targets,
                [GradientEdge(*where) for where in edges],
                start,
                retain_graph=True,
                create_graph=options.get("create_graph", False),
                allow_unused=True,
            )

        try:
            came = ask(edges) if not self.hooked else [ask([where])[0] for where in edges]
        except RuntimeError:  # a part of the graph that this pass does not need can't be differentiated
            came = []
            for where in edges:
                try:
                    came += ask([where])
                except RuntimeError:
                    try:
                        came.append(ask([where, *self.leaves])[0])
                    except RuntimeError:
                        came.append(None)
        inputs = options.get("inputs")
        self.lines.add(self.line())
        self.full.append(func is not torch.autograd.grad and not inputs)
        self.passes.append({where: array(part) for where, part in zip(edges, came, strict=True) if part is not None})
        result = func(*args, **options)
        self.given.append([None if part is None else array(part) for part in result or ()])
        return result


def flat(value: Any) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from flat(part)
    else:
        yield value


def version(part: Any) -> int:
    return 0 if part.is_inference() else part._version


def edge(part: Any) -> Any:
    if not part.requires_grad:
        return None
    try:
        with torch.inference_mode(False):
            found = get_gradient_edge(part)
    except AssertionError:  # a view of a leaf that was written into without gradients, as Adam does
        return None
    return found.node, found.output_nr


def array(part: Any) -> Any:
    part = part.detach()
    part = part.to(torch.complex64) if part.dtype == torch.complex32 else part
    part = part.float() if part.dtype == torch.bfloat16 else part
    return part.clone().resolve_conj().resolve_neg().numpy()


def remember(part: Any) -> Memory:
    """Keep a tensor as it is, and how it is a view of another."""
    base = None if part.is_inference() else part._base
    layout = part.size(), part.stride(), part.storage_offset()
    below, around = (None, None) if base is None else (base.detach().clone(), edge(base))
    return Memory(part, part.detach().clone(), edge(part), base, below, around, layout)


def repeat(call: Call, cotangents: list[Any], apart: bool) -> dict[Any, list[Any]]:
    """Return what a call sends back to each of its arguments: one item for each, or one for all that are the same."""
    with torch.random.fork_rng():
        torch.set_rng_state(call.random)
        leaves: dict[Any, Any] = {}
        made: list[tuple[Any, Any]] = []
        bases: list[Any] = []

        def leaf(where: Any, value: Any) -> Any:
            if where is None:
                return value.clone()
            if apart or where not in leaves:
                fresh = value.clone().requires_grad_()
                leaves[where] = fresh, Same.apply(fresh)
                made.append((where, fresh))
            return leaves[where][1]

        def fresh(part: Any) -> Any:
            if isinstance(part, torch.Tensor):
                kept = call.memory[id(part)]
                if call.through and kept.base is not None and id(part) == call.written and not bases:
                    bases.append(leaf(kept.base_edge, kept.base_value))
                    return bases[0].as_strided(*kept.layout)
                return leaf(kept.edge, kept.value)
            if isinstance(part, list | tuple):
                return type(part)(map(fresh, part))
            return part

        with torch.enable_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = fresh(call.args)
            options = {name: fresh(part) for name, part in call.options.items()}
            result = call.function(*args, **options)
            found = [part for part in flat(result) if isinstance(part, torch.Tensor)]
            tensors = [part for part in flat((args, options)) if isinstance(part, torch.Tensor)]
            written = [part for part in tensors if version(part)]
            through = [part for part in (*found, *written) if call.through and version(part)]
            roots = {id(part): part._base for part in through if part._base is not None}
            found = [roots.get(id(part), part) for part in (*found, *written)]
            pairs = []
            for k, cotangent in cotangents:
                out = found[call.results[k].place]
                assert close(array(out), call.results[k].value, str(out.dtype)[6:]), "another result"
                pairs.append((out, torch.from_numpy(np.array(cotangent)).to(out.dtype)))
            came = torch.autograd.grad(
                [out for out, _ in pairs], [part for _, part in made], [seed for _, seed in pairs], allow_unused=True
            )
    sent = defaultdict(list)
    for (where, _), part in zip(made, came, strict=True):
        sent[where].append(None if part is None else array(part))
    return sent


class Same(torch.autograd.Function):
    """A copy that has not been written into: its version is 0."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.detach().clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


def close(left: Any, right: Any, dtype: Any, scale: float = 0.01) -> bool:
    """Return whether two arrays are equal but for the last digits of numbers up to a scale."""
    near = {"bfloat16": 2.0**-4, "float16": 2.0**-7}.get(dtype) or 32 * np.finfo(np.asarray(left).dtype).eps
    scale = max(scale, 1.0) if dtype in ("bfloat16", "float16") else scale  # in which differences lose most digits
    if np.shape(left) != np.shape(right):
        return False
    left, right = np.asarray(left), np.asarray(right)
    finite = np.isfinite(left) & np.isfinite(right)
    if not np.array_equal(left[~finite], right[~finite], equal_nan=True):
        return False
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    gap = np.abs(left.astype(wide)[finite] - right.astype(wide)[finite])
    return bool(np.all(gap <= near * max(scale, np.abs(left.astype(wide))[finite].max(initial=0.0))))


def run(text: str, path: str, around: Any) -> tuple[dict[str, Any], Any]:
    """Run a program; return its tensors, and what was around it."""
    space: dict[str, Any] = {"__name__": "programs"}
    exec(compile(text, path, "exec"), space)
    with warnings.catch_warnings(), around as it:
        warnings.simplefilter("ignore")
        found = space["program"]()
    return {name: part for name, part in found.items() if isinstance(part, torch.Tensor)}, it


def outcome(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a program has computed, to the last bit."""
    state = {"random": torch.get_rng_state().numpy().tobytes(), "enabled": torch.is_grad_enabled()}
    for name, part in found.items():
        try:
            grad = part.grad if part.is_leaf or part.retains_grad else None
            kind = part.dtype, part.shape, part.requires_grad, part.is_leaf, part.grad_fn and part.grad_fn.name()
            state[name] = kind, array(part).tobytes(), None if grad is None else array(grad).tobytes()
        except RuntimeError as error:
            state[name] = str(error)
    return state


def examine(seed: int) -> list[str]:
    """Return what is wrong with the trace of a program."""
    text, hooked = write_program(seed)
    path = f"<random program {seed}>"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    wrong: list[str] = []
    plain = outcome(run(text, path, nullcontext())[0])
    found, steps = run(text, path, ad.trace())
    traced = outcome(found)
    wrong += [f"{name} is not the same in a trace" for name in plain if plain[name] != traced.get(name)]
    found, observer = run(text, path, Observer(path))
    observed = outcome(found)
    if "retain_grad" not in text:  # which the observer's own passes fill
        assert plain == observed, [name for name in plain if plain[name] != observed[name]]
    aside = ".data.mul_" in text or ".detach().add_" in text
    with np.errstate(all="ignore"):  # a program may well come to infinities
        wrong += compare(steps, observer, hooked, aside)
    steps.document()
    return wrong


def is_written_unnoticed(observer: Observer, found: list[tuple[Any, Any]]) -> bool:
    """Return whether tensors have other numbers than were computed at their places of autograd's graph."""
    results = [result for call in observer.calls for result in call.results if result.edge not in observer.leaves]
    made = {result.edge: result.value for result in results if result.edge}
    return any(where in made and not equal(made[where], array(value)) for where, value in found)


def compare(steps: ad.Trace, observer: Observer, hooked: bool, aside: bool) -> list[str]:
    wrong: list[str] = []
    every = [event.text for event in steps.events if isinstance(event, events.Remark)]
    every = [remark for remark in every if remark != EMPTIED.text]
    remarks = [remark for remark in every if ".data" not in remark]
    used = [kept for call in observer.calls if call.results for kept in call.memory.values()]
    unnoticed = is_written_unnoticed(observer, [(kept.edge, kept.value) for kept in used])
    if unnoticed and remarks == every:
        wrong.append("no remark says that something was written unnoticed")
    unnoticed = unnoticed or is_written_unnoticed(observer, observer.list_places())
    if remarks != every and not unnoticed:
        wrong.append("nothing was written unnoticed")
    if remarks and not hooked:
        wrong += [f"remark: {remark}" for remark in remarks]
    # match the entries with the calls, in order
    place: dict[int, tuple[Call, int]] = {}  # by the id of an entry's output
    edges: dict[int, Any] = {}  # by the id of a tensor
    at = 0
    reached = {event.id for event in steps.events if isinstance(event, events.Accumulate)}
    matched: set[tuple[int, int]] = set()
    for event in steps.events:
        if not isinstance(event, events.Record | events.Cut | events.Skip):
            continue
        entry = event.entry
        if entry.output_id in place or entry.name.endswith("_backward"):
            continue
        hit = None
        for number in range(at, len(observer.calls)):
            call = observer.calls[number]
            if entry.name == "view" and call.function.__name__ != "view":
                continue
            for k, result in enumerate(call.results):
                if entry.operation.result not in (None, k):
                    continue
                if (
                    (number, k) not in matched
                    and (result.edge is not None) == isinstance(event, events.Record)
                    and equal(result.value, entry.output_value)
                    and entry.place.line == call.line
                ):
                    hit = number, k
                    break
            if hit:
                break
        if hit is None:
            if entry.name == "view":  # of a base that was written into
                continue
            if entry.name == "add" and entry.place.line in observer.lines:
                continue  # a sum of a recorded pass
            if isinstance(event, events.Record) or not any(call.line == entry.place.line for call in observer.calls):
                wrong.append(f"entry {entry.name} at line {entry.place.line} belongs to no call")
            continue
        if isinstance(event, events.Record):
            at = hit[0]
        matched.add(hit)
        call, k = observer.calls[hit[0]], hit[1]
        place[entry.output_id] = call, k
        edges[entry.output_id] = call.results[k].edge
        for id_, value in zip(entry.ids, entry.values, strict=True):
            if id_ in reached and id_ not in edges:
                for kept in call.memory.values():
                    for where, before in (kept.edge, kept.value), (kept.base_edge, kept.base_value):
                        if where and id_ not in edges and where not in edges.values() and equal(array(before), value):
                            edges[id_] = where
    shown = {result for result in edges.values() if result}
    known: set[Any] = set()
    for call in observer.calls:
        for result in call.results:
            if (
                result.edge
                and result.edge not in shown
                and result.edge not in observer.leaves
                and result.edge not in known
            ):
                before = {kept.edge for kept in call.memory.values()}
                if result.edge not in before:
                    wrong.append(f"line {call.line}: {call.function.__name__} is not shown")
            known.add(result.edge)
    # the passes
    number, seeds = -1, 0
    pulled: dict[Any, Any] = defaultdict(dict)
    sent: dict[Any, list[Any]] = defaultdict(list)
    totals: dict[Any, Any] = {}
    given = []
    for event in steps.events:
        if isinstance(event, events.Seed):
            seeds += 1
            number += seeds > sum(observer.seeds[: number + 1])
        if isinstance(event, events.PullBack) and (entry := event.entry).output_id in place:
            call, k = place[entry.output_id]
            pulled[number, id(call)][k] = event.cotangent._array, entry
            expected = observer.passes[number].get(call.results[k].edge)
            if expected is None or not equal(expected, event.cotangent._array):
                came = f"has the cotangent {event.cotangent._array} instead of {expected}"
                wrong.append(f"pass {number + 1}: {entry.name} at line {entry.place.line} {came}")
        if isinstance(event, events.Accumulate):
            entry = event.entry
            before = totals.get((number, event.id), (0, 0.0))[1]
            size = np.abs(np.asarray(event.value._array)).astype(float)
            totals[number, event.id] = event.after._array, max(before, size[np.isfinite(size)].sum())
            if entry.output_id in place:
                call, _ = place[entry.output_id]
                sent[number, id(call)].append(event)
        if isinstance(event, events.Outcome) and not isinstance(event, Gradient):
            given.append((number, None if event.result is None else event.result._array))
    if number + 1 != len(observer.passes):
        wrong.append(f"{len(observer.passes)} passes, of which {number + 1} are shown")
        return wrong
    for (number, id_), (total, scale) in totals.items():
        if (where := edges.get(id_)) is None:
            continue
        expected = observer.passes[number].get(where)
        if (expected is None or not close(expected, total, dtype_of(where), max(scale, 1.0))) and not (
            hooked and remarks
        ):
            wrong.append(f"pass {number + 1}: the total of {where[0].name()} is {total} instead of {expected}")
    by_number = {id(call): call for call in observer.calls}
    for (number, id_), parts in sent.items():
        call = by_number[id_]
        inner = [kept.base_edge for key, kept in call.memory.items() if key == call.written and kept.base_edge]
        if aside or unnoticed or (inner and inner[0] not in edges.values()):
            continue  # it was computed with other numbers, or has written into a tensor that only PyTorch knows
        cotangents = [(k, cotangent) for k, (cotangent, _) in sorted(pulled[number, id_].items())]
        counts, name = defaultdict(list), f"{call.function.__name__} at line {call.line}"
        for event in parts:
            within = [k for k, result in enumerate(call.results) if result.edge == edges.get(event.id)]
            if within:  # one result is computed from another, whose cotangent has its share already
                cotangents = [(k, came - event.value._array if k == within[0] else came) for k, came in cotangents]
                continue
            counts[edges.get(event.id)].append(event)
        try:
            expected = repeat(call, cotangents, False)
        except Exception as error:
            wrong.append(f"cannot repeat {name}: {error}")
            continue
        for where, came in counts.items():
            total = sum((event.value._array for event in came[1:]), came[0].value._array)
            right = expected.get(where, [None])[0]
            if right is None or not close(right, total, dtype_of(where)):
                wrong.append(f"pass {number + 1}: {name} sends {total} instead of {right}")
            if len(came) > 1 and len({event.entry.output_id for event in came}) == 1:
                each = repeat(call, cotangents, True)[where]
                if len(each) != len(came) or not all(
                    close(r, e.value._array, dtype_of(where))
                    for r, e in zip(each, sorted(came, key=lambda e: e.argument), strict=True)
                ):
                    wrong.append(f"{name} sends {[e.value._array for e in came]} instead of {each}")
        for where, right in expected.items():
            if right[0] is not None and where not in counts and np.any(right[0]) and observer.full[number]:
                wrong.append(f"pass {number + 1}: {name} does not show what it sends: {right}")
    for number, results in enumerate(observer.given):
        mine = [value for pass_, value in given if pass_ == number]
        if results and not (
            len(mine) == len(results)
            and all(
                (a is None) == (b is None) and (a is None or equal(a, b)) for a, b in zip(mine, results, strict=True)
            )
        ):
            wrong.append(f"pass {number + 1} returns {mine} instead of {results}")
    return wrong


def dtype_of(where: Any) -> str:
    try:
        return str(where[0]._input_metadata[where[1]].dtype).removeprefix("torch.")
    except Exception:
        return ""


def equal(left: Any, right: Any) -> bool:
    """Return whether two arrays are the same, to the last bit."""
    left, right = np.asarray(left), np.asarray(right)
    return (
        left.shape == right.shape
        and left.dtype == right.dtype
        and bool(np.array_equal(left, right, equal_nan=left.dtype.kind in "fc"))
    )


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Sum in one order, and leave the other core to other tests."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("start", range(0, SEEDS, BLOCK))
def test_trace_shows_what_pytorch_did(start):
    wrong = {seed: found for seed in range(start, start + BLOCK) if (found := examine(seed))}
    assert not wrong
