"""A backward pass of PyTorch's, as it happens: what arrives at each call, and what leaves it."""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from ..core import events
from ..core.tensor import wrap
from ..trace.foreign import ForeignTape, Gradient
from .pytorch_graph import Edge, TorchCall, agree, copy_numbers, flatten, leaf_of

INNER_PASS = (
    "Here the checkpoint runs a backward pass of its own, which is not followed: it adds to the gradients of tensors "
    "that its function uses without getting them as arguments. Pass use_reentrant=False to see these."
)


class BackwardPass:
    """One call of `backward` or of `torch.autograd.grad`."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.sums: dict[Edge, Any] = {}  # the cotangent of each tensor so far
        self.scales: dict[Edge, Any] = {}  # how large the numbers are that went into it
        self.parts: dict[tuple[int, Edge], list[tuple[Any, Any]]] = defaultdict(list)  # by call: sent, but not reported
        self.awaited: Counter[tuple[int, Edge]] = Counter()
        self.pulled: dict[int, Any] = {}  # by call: the entry whose cotangent arrived last
        self.calls: dict[int, TorchCall] = {}
        self.shared: set[Any] = set()  # nodes that several calls have
        self.leaves: dict[Edge, Any] = {}  # those that got a cotangent, and what they had before

    def run(self, func: Any, args: Any, options: Any) -> Any:
        """Run it, and report what flows."""
        recorder = self.recorder
        given = inspect.signature(func).bind(*args, **options).arguments
        wanted = given.get("inputs")
        targets = [*flatten(given.get("outputs", given.get("tensors", given.get("self"))))]
        seeds = [*flatten(given.get("grad_outputs", given.get("grad_tensors", given.get("gradient"))))]
        self.is_backward, self.recorded = func is not torch.autograd.grad, bool(given.get("create_graph"))
        if given.get("is_grads_batched") or not all(
            isinstance(part, torch.Tensor) for part in [*targets, *flatten(() if wanted is None else wanted)]
        ):
            recorder.report(events.Remark("This backward pass is not followed."))
            return func(*args, **options)
        found = [(target, recorder.find(target), recorder.edge(target)) for target in targets]
        order = self.reach([edge for _, _, edge in found if edge])
        self.tape = recorder.tapes[order]
        self.needed = self.find_needed(wanted) if wanted is not None else None
        if self.recorded and len(recorder.tapes) == order + 1:
            recorder.tapes.append(ForeignTape("autograd"))
            recorder.tapes[-1].entries = list(recorder.tapes[0].entries)
        for (target, tensor, edge), seed in zip(found, seeds + [None] * (len(found) - len(seeds)), strict=True):
            if edge and (seed is not None or target.numel() == 1):  # or else PyTorch raises an error
                start = torch.ones_like(target) if seed is None else seed
                self.add(edge, start)
                recorder.report(events.Seed(self.tape, tensor, wrap(copy_numbers(start))))
        handles = self.listen()
        before, recorder.order = recorder.order, order + 1
        try:
            with recorder.working():
                result = func(*args, **options)
        finally:
            recorder.order = before
            for handle in handles:
                handle.remove()
        for key in list(self.parts):
            self.send(*key)
        tensors = tuple(tensor for _, tensor, _ in found)
        seeded = not all(seed is None or bool((seed == 1).all()) for seed in seeds)  # ones: of the sum
        if self.is_backward:
            for (node, _), before in self.leaves.items():
                if (leaf := leaf_of(node)).grad is None:  # it was detached, or a hook has taken it away
                    continue
                kept = None if before is None else wrap(before)
                outcome = ".grad", tensors, recorder.find(leaf), wrap(copy_numbers(leaf.grad)), True, seeded, ()
                recorder.report(Gradient(self.tape, *outcome, kept))
        else:
            for source, gradient in zip(flatten(wanted), flatten(result), strict=True):
                edge = None if gradient is None else recorder.edge(source)
                if edge and (edge in self.sums or gradient.any()):
                    self.check(edge, gradient)
                source, came = recorder.find(source), None if gradient is None else recorder.find(gradient)
                recorder.report(
                    events.Outcome(self.tape, "gradient", tensors, source, came, came is not None, seeded, ())
                )
        return result

    def reach(self, edges: list[Edge]) -> int:
        """Collect the calls and the leaves that a pass can reach; return the highest order of these calls."""
        order, waiting = 0, list(edges)
        while waiting:
            edge = waiting.pop()
            if edge in self.recorder.makers and id(call := self.recorder.makers[edge][0]) not in self.calls:
                self.calls[id(call)] = call
                order = max(order, call.order)
                waiting += call.arguments
            elif (leaf := leaf_of(edge[0])) is not None:
                self.leaves[edge] = leaf
        return order

    def find_needed(self, wanted: Any) -> set[Edge]:
        """Find the tensors on the way to those that are asked for; PyTorch computes others' cotangents only in part."""
        needed = {self.recorder.edge(value) for value in flatten(wanted) if isinstance(value, torch.Tensor)}
        for call in sorted(self.calls.values(), key=lambda call: call.entries[0].output_id):
            if not needed.isdisjoint(call.arguments):
                needed.update(call.outputs)
        return needed

    def listen(self) -> list[Any]:
        """Ask the nodes at the boundary of each call to say what passes."""
        handles, leaves, self.leaves = [], self.leaves, {}
        ends: dict[Any, dict[int, tuple[TorchCall, int]]] = defaultdict(dict)
        counts = Counter(node for call in self.calls.values() for node in call.nodes)
        self.shared = {node for node, count in counts.items() if count > 1}
        for call in self.calls.values():
            for k, edge in enumerate(call.outputs):
                if edge:
                    ends[edge[0]][edge[1]] = call, k
            for sent in call.boundary.values():
                self.awaited.update((id(call), edge) for _, edge in sent)
            inside = self.shared & call.nodes
            for node in call.nodes if inside else call.boundary:
                inner = [(k, edge) for k, edge in enumerate(node.next_functions) if edge[0] in inside]
                sent = inner + call.boundary.get(node, [])
                if sent and node not in self.shared:
                    handles.append(node.register_hook(partial(self.leave, call, node, sent)))
        for node, makers in ends.items():
            handles.append(node.register_prehook(partial(self.arrive, node, makers)))
        for edge, leaf in leaves.items() if self.is_backward else ():
            handles.append(edge[0].register_prehook(partial(self.settle, edge, leaf)))
        return handles

    def arrive(self, node: Any, makers: dict[int, tuple[TorchCall, int]], came: tuple[Any, ...]) -> None:
        """Report what has arrived at the results of a call."""
        for number, (call, k) in makers.items():
            asked = self.needed is None or (node, number) in self.needed
            if came[number] is not None and asked:
                self.check((node, number), came[number])
                self.pulled[id(call)] = call.entries[k]
                self.recorder.report(events.PullBack(self.tape, call.entries[k], wrap(copy_numbers(came[number]))))
                if call.entries[k].name == "CheckpointFunction.apply":
                    self.recorder.report(events.Remark(INNER_PASS))
                if node in self.shared:
                    for end, part in self.pull_back(call, (node, number), came[number]):
                        self.parts[id(call), end].append((object(), part))

    def leave(self, call: TorchCall, node: Any, ways: list[tuple[int, Edge]], sent: tuple[Any, ...], _: Any) -> None:
        """Note what a node sends on; report it once all that its call sends to that tensor is known."""
        parts = [part for part in sent if part is not None and part.grad_fn is not None]
        for part in sorted(parts, key=lambda part: part.grad_fn._sequence_nr()):  # one may be on another's way
            self.follow(part, f"{call.entries[0].name}_backward")
        for position, edge in ways:
            key = id(call), edge
            self.awaited[key] -= 1
            if sent[position] is not None:
                for end, part in self.pull_back(call, edge, sent[position]):
                    if end != edge:  # what is subtracted on the way is rounded as what comes in
                        self.scales[end] = self.scales.get(end, 0.0) + sent[position].abs().double().nan_to_num().amax()
                    self.parts[id(call), end].append((node if end == edge else object(), part))
            if not self.awaited[key] and edge in call.arguments:
                self.send(*key)

    def pull_back(self, call: TorchCall, edge: Edge, part: Any) -> Iterator[tuple[Edge, Any]]:
        """Pull a cotangent back through nodes that several calls have: PyTorch does that for all of these at once."""
        node, number = edge
        if edge in call.arguments or node in self.shared:
            with torch.no_grad():
                shape = node._input_metadata[number].shape
                part = part if part.shape == shape else part.sum_to_size(shape)
        if edge in call.arguments:
            yield edge, part
        elif node in self.shared:
            with torch.no_grad():
                sent = node(*[part if k == number else zeros(form) for k, form in enumerate(node._input_metadata)])
            for way, each in zip(node.next_functions, sent if isinstance(sent, tuple) else (sent,), strict=True):
                if each is not None and way[0] is not None:
                    yield from self.pull_back(call, way, each)

    def send(self, number: int, edge: Edge) -> None:
        """Report what a call contributes to a tensor: for each of its arguments by itself, where that is known."""
        parts, call = self.parts.pop((number, edge), []), self.calls[number]
        if self.needed is not None and edge not in self.needed:
            return
        places, recorder = call.arguments[edge], self.recorder
        if len(parts) != len(places) or len({id(node) for node, _ in parts}) > 1:
            total = sum(part for _, part in parts[1:]) + parts[0][1] if parts else None
            parts, places = [(None, total)] if parts else [], places[:1]
        entry = self.pulled.get(number)
        for argument, (_, part) in zip(places, parts, strict=False):
            before = self.sums.get(edge)
            after = self.add(edge, part)
            if entry is None:
                continue
            sums = [None if each is None else wrap(copy_numbers(each)) for each in (before, part, after)]
            recorder.report(events.Accumulate(self.tape, entry, argument, *sums, recorder.tensors[edge]))

    def add(self, edge: Edge, value: Any) -> Any:
        """Add to the cotangent of a tensor as PyTorch does, in its own dtype; return the sum."""
        value, before = value.detach(), self.sums.get(edge)
        value = value.to_dense() if value.layout is not torch.strided else value
        self.sums[edge] = value.clone() if before is None else before + value
        self.scales[edge] = self.scales.get(edge, 0.0) + value.to(torch.complex128).nan_to_num(0.0, 0.0, 0.0).abs()
        return self.sums[edge]

    def follow(self, value: Any, name: str) -> None:
        """Report what this pass has computed, if it is recorded for the next."""
        if self.recorded and value.requires_grad and self.recorder.edge(value) not in self.recorder.tensors:
            self.recorder.adopt(value, name)

    def settle(self, edge: Edge, leaf: Any, came: tuple[Any, ...]) -> None:
        """Note that a leaf gets its gradient."""
        if came[0] is not None:
            self.check(edge, came[0])
            self.leaves.setdefault(edge, None if leaf.grad is None else copy_numbers(leaf.grad))

    def check(self, edge: Edge, came: Any) -> None:
        """Report it if autograd has another cotangent than the trace has seen: a hook may have changed it."""
        for key in [key for key in self.parts if key[1] == edge]:
            self.send(*key)
        self.follow(came, "add")
        shown = self.sums.pop(edge, None)
        actual = self.add(edge, came)
        if shown is None or not agree(actual, shown, self.scales[edge]):
            self.recorder.report(
                events.Remark("Here something else arrived than the calls above have sent: that is not followed.")
            )


def zeros(form: Any) -> Any:
    """Return a cotangent of zeros, as a node takes it; some nodes do nothing if one of theirs is missing."""
    return torch.zeros(form.shape, dtype=form.dtype) if form.dtype.is_floating_point or form.dtype.is_complex else None
