"""A backward pass of PyTorch's, as it happens: what arrives at each call, and what leaves it."""

from __future__ import annotations

import inspect
from collections import Counter, defaultdict
from functools import partial
from typing import Any

import torch

from ..core import events
from ..core.tensor import wrap
from ..trace.foreign import ForeignTape, Gradient
from .pytorch_graph import Call, Edge, agree, copy_numbers, flatten


class Pass:
    """One call of `backward` or of `torch.autograd.grad`."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.sums: dict[Edge, Any] = {}  # the cotangent of each tensor so far
        self.parts: dict[tuple[int, Edge], list[tuple[Any, Any]]] = defaultdict(list)  # by call: sent, but not reported
        self.awaited: Counter[tuple[int, Edge]] = Counter()
        self.pulled: dict[int, Any] = {}  # by call: the entry whose cotangent arrived last
        self.calls: dict[int, Call] = {}
        self.leaves: dict[Edge, Any] = {}  # those that got a cotangent, and what they had before

    def run(self, func: Any, args: Any, options: Any) -> Any:
        """Run it, and report what flows."""
        recorder = self.recorder
        given = inspect.signature(func).bind(*args, **options).arguments
        wanted = given.get("inputs")
        targets = [*flatten(given.get("outputs", given.get("tensors", given.get("self"))))]
        seeds = [*flatten(given.get("grad_outputs", given.get("grad_tensors", given.get("gradient"))))]
        self.is_backward, self.recorded = func is not torch.autograd.grad, bool(given.get("create_graph"))
        if given.get("is_grads_batched") or not all(isinstance(target, torch.Tensor) for target in targets):
            recorder.report(events.Remark("This backward pass is not followed."))
            return func(*args, **options)
        found = [(target, recorder.find(target), recorder.edge(target)) for target in targets]
        order = self.reach([edge for _, _, edge in found if edge])
        self.tape = recorder.tapes[order]
        if self.recorded and len(recorder.tapes) == order + 1:
            recorder.tapes.append(ForeignTape("autograd"))
            recorder.tapes[-1].entries = list(recorder.tapes[0].entries)
        for (target, tensor, edge), seed in zip(found, seeds + [None] * (len(found) - len(seeds)), strict=True):
            if edge:
                start = copy_numbers(torch.ones_like(target) if seed is None else seed)
                self.sums[edge] = start if edge not in self.sums else self.sums[edge] + start
                recorder.report(events.Seed(self.tape, tensor, wrap(start)))
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
                leaf = node.variable
                kept = None if before is None else wrap(before)
                outcome = "gradient", tensors, recorder.find(leaf), wrap(copy_numbers(leaf.grad)), True, seeded, ()
                recorder.report(Gradient(self.tape, *outcome, kept))
        else:
            for source, gradient in zip(flatten(wanted), flatten(result), strict=True):
                if gradient is not None and (edge := recorder.edge(source)):
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
            elif hasattr(edge[0], "variable"):
                self.leaves[edge] = edge[0].variable
        return order

    def listen(self) -> list[Any]:
        """Ask the nodes at the boundary of each call to say what passes."""
        handles, leaves, self.leaves = [], self.leaves, {}
        ends: dict[Any, dict[int, tuple[Call, int]]] = defaultdict(dict)
        for call in self.calls.values():
            for k, edge in enumerate(call.outputs):
                if edge:
                    ends[edge[0]][edge[1]] = call, k
            for node, sent in call.boundary.items():
                self.awaited.update((id(call), edge) for _, edge in sent)
                handles.append(node.register_hook(partial(self.leave, call, node)))
        for node, makers in ends.items():
            handles.append(node.register_prehook(partial(self.arrive, node, makers)))
        for edge, leaf in leaves.items() if self.is_backward else ():
            handles.append(edge[0].register_prehook(partial(self.settle, edge, leaf)))
        return handles

    def arrive(self, node: Any, makers: dict[int, tuple[Call, int]], came: tuple[Any, ...]) -> None:
        """Report what has arrived at the results of a call."""
        for number, (call, k) in makers.items():
            if came[number] is not None:
                self.check((node, number), came[number])
                self.pulled[id(call)] = call.entries[k]
                self.recorder.report(events.PullBack(self.tape, call.entries[k], wrap(copy_numbers(came[number]))))

    def leave(self, call: Call, node: Any, sent: tuple[Any, ...], _: Any) -> None:
        """Note what a node sends on; report it once all that its call sends to that tensor is known."""
        for position, edge in call.boundary[node]:
            key = id(call), edge
            self.awaited[key] -= 1
            if sent[position] is not None:
                self.parts[key].append((node, sent[position]))
                self.follow(sent[position], f"{call.entries[0].name}_backward")
            if not self.awaited[key]:
                self.send(*key)

    def send(self, number: int, edge: Edge) -> None:
        """Report what a call contributes to a tensor: for each of its arguments by itself, where that is known."""
        parts, call = self.parts.pop((number, edge), []), self.calls[number]
        places, recorder = call.arguments[edge], self.recorder
        if len(parts) != len(places) or len({id(node) for node, _ in parts}) > 1:
            total = sum(part for _, part in parts[1:]) + parts[0][1] if parts else None
            parts, places = [(None, total)] if parts else [], places[:1]
        entry = self.pulled.get(number)
        for argument, (_, part) in zip(places, parts, strict=False):
            value, before = copy_numbers(part), self.sums.get(edge)
            self.sums[edge] = after = value if before is None else before + value
            if entry is None:
                continue
            sums = None if before is None else wrap(before), wrap(value), wrap(after)
            recorder.report(events.Accumulate(self.tape, entry, argument, *sums, recorder.tensors[edge]))

    def follow(self, value: Any, name: str) -> None:
        """Report what this pass has computed, if it is recorded for the next."""
        if self.recorded and value.requires_grad and self.recorder.edge(value) not in self.recorder.tensors:
            self.recorder.adopt(value, name)

    def settle(self, edge: Edge, leaf: Any, came: tuple[Any, ...]) -> None:
        """Note that a leaf gets its gradient."""
        if came[0] is not None:
            self.check(edge, came[0])
            self.leaves[edge] = None if leaf.grad is None else copy_numbers(leaf.grad)

    def check(self, edge: Edge, came: Any) -> None:
        """Report it if autograd has another cotangent than the trace has seen: a hook may have changed it."""
        for key in [key for key in self.parts if key[1] == edge]:
            self.send(*key)
        self.follow(came, "add")
        actual, shown = copy_numbers(came), self.sums.get(edge)
        if shown is None or not agree(actual, shown):
            self.recorder.report(
                events.Remark("Here something else arrived than the calls above have sent: that is not followed.")
            )
        self.sums[edge] = actual
