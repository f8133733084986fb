"""The entry of a checkpointed function, which runs again when a derivative needs what it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ..arrays.stack import dense
from ..core.active import now, tick
from ..core.events import PushForward
from ..core.rule import Rule
from ..core.tape import Tape
from ..core.tensor import Tensor, wrap
from ..derivatives.tangents import push_forward
from ..rules.operations import array_of
from ..text.frames import here
from .arguments import Arguments, leaves_of
from .call import Call, Custom, pull
from .checking import Source, is_smooth
from .inner_tape import InnerTape, SecondTape, as_they_were, tapes_here, without
from .inner_tensors import CheckpointCall, set_apart
from .packing import Output
from .refusals import Draws, add_hint, differs, refuse_assignment


class Segment(Custom):
    """The operation of an entry made by a checkpointed function.

    Attributes
    ----------
    began : int
        When the function began to run; the ids of what it computed lie between this and the entry's.
    inside : tuple of int
        The ids of the tensors that the function returned; callers get new ones.
    parts : tuple of int
        If there are several, the ids of those new ones, which are parts of the entry's output.
    """

    rule = Rule("checkpoint", each=pull, own=True)
    began = 0
    inside: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()


class Recomputation(Call):
    """One call of a checkpointed function, with what it was given and what it read, so that it can run again.

    Attributes
    ----------
    held : Arguments
        What it was given.
    inputs, values : list
        The tensors among the arguments, the arrays, and the tensors that were read; and their values at that time.
    moving : set of int
        The positions of the inputs to differentiate with respect to: those that a tape followed.
    outputs : list of Output
        The tensors of the result that depend on something that tapes follow. If there are several, `value` has one more
        element for each of them, 0; in a cotangent, these count how many cotangents have arrived there.
    at : list of int
        Their positions among all the leaves of the result.
    computed : IdRanges
        The ids of what the first run computed.
    plain : list of (Variable, ndarray or scalar)
        The variables whose plain numbers it read, with their values at that time.
    drawn : Draws
        Where the first run left the random number generators.
    """

    def __init__(
        self,
        name: str,
        arguments: Arguments,
        inputs: list[Any],
        moving: set[int],
        result: list[Any],
        at: list[int],
        inside: InnerTape,
    ) -> None:
        self.name, self.held, self.backward = name, arguments, arguments.function
        self.inputs, self.values, self.moving = inputs, [array_of(x) for x in inputs], moving
        self.sources = [Source(f"input {k}", np.shape(x), x.dtype) for k, x in enumerate(self.values)]
        self.at, self.outputs = at, [Output(result[k].shape, result[k].dtype) for k in at]
        self.value = self._pack([result[k]._array for k in at])
        self.silent, self._answer, self.where, self.computed = set(), None, here(2), inside.computed
        self.plain = [(x, x._array) for x in inside.plain.values()]
        self.drawn = Draws(arguments.function, *arguments.given)

    def _expect(self, argument: int) -> None:
        if argument not in self.moving:  # a tape was asked to watch it only after the call
            self.moving.add(argument)
            self._answer = None

    def _pack(self, arrays: list[Any], stack: tuple[int, ...] = ()) -> Any:
        """Join the outputs into one vector, or their tangents; a single one is left as it is."""
        if len(arrays) == 1:
            return arrays[0]
        dtype = np.result_type(*(output.dtype for output in self.outputs))
        flat = [
            np.reshape(array, (*stack, prod(output.shape))).astype(dtype)
            for array, output in zip(arrays, self.outputs, strict=True)
        ]
        return np.concatenate([*flat, np.zeros((*stack, len(flat)), dtype)], axis=-1)

    def _cotangents(self, g: Any, stack: tuple[int, ...]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each output that a cotangent has arrived at, with that cotangent."""
        if len(self.outputs) == 1:
            yield 0, g
            return
        arrived = array_of(g)[..., -len(self.outputs) :].reshape(-1, len(self.outputs))
        start = 0
        for k, (shape, dtype) in enumerate(self.outputs):
            stop = start + prod(shape)
            if arrived[:, k].any() or not len(arrived):
                part = np.reshape(g[..., start:stop], stack + shape)
                part = np.real(part) if part.dtype.kind == "c" and dtype.kind != "c" else part
                yield k, part.astype(dtype)
            start = stop

    def _again(self) -> tuple[Tape, list[Any]]:
        """Run the function again, on a new tape; return the tape and the tensors that are its outputs now."""
        tape, ids = SecondTape(self.name), [x._id for x in self.inputs if is_smooth(x)]
        strangers = [other for other in tapes_here() if not other.follows(ids)]  # they need not hear what follows
        refuse, draws = refuse_assignment(self.name, tick()), Draws(self.backward, *self.held.given)
        with self._as_it_was(self.values), without(strangers, refuse), tape:
            for k in sorted(self.moving):
                tape.watch_tensor(self.inputs[k])
            set_apart(tape, self.computed, CheckpointCall(0, self.name, self.where, again=True))
            try:
                result = leaves_of(self.held.call())
            except StopIteration as error:
                raise RuntimeError(
                    f"{self.name} ran again for the derivative, but an iterator that it reads was used up by its first "
                    f"run. Make a list of it, and pass that to {self.name}"
                ) from error
            except Exception as error:
                error.add_note(f"{self.name} ran again here because a backward or forward pass needs what it computes")
                add_hint(error, self.name)
                raise
        found = [result[k] for k in self.at if k < len(result) and isinstance(result[k], Tensor)]
        if [(x.shape, x.dtype) for x in found] != self.outputs or not _same(
            self._pack([x._array for x in found]), self.value
        ):
            raise differs(self.name, self.where)
        draws.check(self.drawn, self.name, self.where)
        return tape, found

    def _as_it_was(self, values: Any) -> Any:
        """Return a `with` block in which everything that it reads has the values that it had in the first run."""
        plain, numbers = zip(*self.plain, strict=True) if self.plain else ((), ())
        return as_they_were((*plain, *self.inputs), (*numbers, *values))

    def _pull_back(self, g: Any) -> list[Any]:
        """Pull a cotangent, or a stack of them, back through a second run of the function."""
        g = dense(g)
        if g.dtype.kind == "c":
            g = np.conjugate(g)  # the walk has conjugated it for the rules, but here another walk begins
        stack = g.shape[: g.ndim - self.value.ndim]
        tape, outputs = self._again()
        found = self._walk_back(tape, [(outputs[k], part) for k, part in self._cotangents(g, stack)], stack)
        return [np.conjugate(one) if one is not None and one.dtype.kind == "c" else one for one in found]

    def _walk_back(self, tape: Tape, seeds: list[tuple[Tensor, Any]], stack: tuple[int, ...] = ()) -> list[Any]:
        """Walk back on the new tape; return what arrives at the inputs, None where nothing does."""
        ids = [x._id if k in self.moving else None for k, x in enumerate(self.inputs)]
        with tape.backward_pass():
            cotangents = tape.seed(seeds)
            for _ in tape.walk(cotangents, {id for id in ids if id is not None}, stack, release=True):
                pass
        found = [None if id is None else dense(cotangents.get(id)) for id in ids]
        self.silent.clear()
        self.silent.update(k for k, one in enumerate(found) if one is None)
        return found

    def backward_of(self, cotangents: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Pull back one cotangent per output; None stands for one that nothing has arrived at."""
        tape, outputs = self._again()
        seeds = [
            (x, g if now().followers else g._array) for x, g in zip(outputs, cotangents, strict=True) if g is not None
        ]
        return self._walk_back(tape, seeds)

    def push(self, moving: dict[int, Any], stack: tuple[int, ...]) -> dict[int, Any]:
        """Push the tangents of some inputs forward through a second run of the function.

        All of them at once; but for the player, one by one, to show what each contributes.
        """
        self.moving |= moving.keys()
        tape, outputs = self._again()
        found: dict[int, Any] = {}
        for some in [{k: tangent} for k, tangent in moving.items()] if now().heard[PushForward] else [moving]:
            tangents = {self.inputs[k]._id: tangent for k, tangent in some.items()}
            push_forward(tape, tangents, stack)
            parts = [tangents.get(x._id) for x in outputs]
            if any(part is not None for part in parts):
                zeros = [np.zeros(stack + shape, dtype) for shape, dtype in self.outputs]
                filled = [zero if part is None else part for zero, part in zip(zeros, parts, strict=True)]
                found[min(some)] = self._pack(filled, stack)
        return found

    def again(self, values: tuple[Any, ...]) -> Any:
        """Run the function on other values of its inputs."""
        with self._as_it_was(values):
            result = leaves_of(self.held.call())
        return self._pack([array_of(result[k]) for k in self.at])


class OutputPart(Call):
    """One output of a checkpointed function that has several: a part of the vector that joins them."""

    def _pull_back(self, g: Any) -> list[Any]:
        g = dense(g)
        return [self.backward(g, g.shape[: g.ndim - self.value.ndim])]


def part(outputs: list[Output], k: int, name: str) -> Callable[[Any], Any]:
    """Return the function that takes output k out of the vector, with the gradient that puts a cotangent there.

    Its name is that of what it returns, such as `layer[0]`.
    """
    shape, dtype = outputs[k]
    size, count = prod(shape), len(outputs)
    start = sum(prod(output.shape) for output in outputs[:k])
    after = sum(prod(output.shape) for output in outputs[k + 1 :])

    def part(packed: Any) -> Any:
        value = array_of(packed)[start : start + size].reshape(shape)
        value, whole = value if dtype.kind == "c" else np.real(value), packed.dtype

        def backward(dy: Any, stack: tuple[int, ...] = ()) -> Any:
            mark = np.zeros((*stack, count))
            mark[..., k] = 1.0
            before, behind = np.zeros((*stack, start)), np.zeros((*stack, after))
            return np.concatenate([before, np.reshape(dy, (*stack, size)), behind, mark], axis=-1).astype(whole)

        return wrap(value.astype(dtype, copy=False)[()]), backward

    part.__name__ = name
    return part


def _same(a: Any, b: Any) -> bool:
    """Return whether two arrays hold the same numbers; those of other libraries may be computed elsewhere, later."""
    ours = isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic)
    return not ours or np.array_equal(a, b, equal_nan=True)
