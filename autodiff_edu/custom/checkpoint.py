"""Recomputing instead of remembering: `checkpoint`.

A tape holds what every operation computed, because the rules need it. For a checkpointed function it holds one entry,
with what went in. When the backward pass gets there, the function runs again, on a tape of its own that lives only as
long as that step takes. This is checkpointing as in Griewank and Walther, Evaluating Derivatives (2nd ed., 2008),
chapter 12.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> def layers(x):
...     for _ in range(10):
...         x = np.tanh(x)
...     return x
>>> x, held = ad.Variable(np.ones(1000)), []
>>> for f in (layers, ad.checkpoint(layers)):
...     with ad.GradientTape() as tape:
...         y = f(x)
...     held.append((len(tape.entries), tape.nbytes))
>>> held
[(10, 88000), (1, 16000)]
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ..arrays.stack import dense
from ..arrays.structures import flatten, rebuild
from ..arrays.validate import freeze
from ..core.active import announce, now
from ..core.tape import Tape
from ..core.tensor import Tensor, apply, wrap
from ..core.variable import Variable
from ..derivatives.tangents import push_forward
from ..rules.operations import array_of, recorder
from ..text.places import here, place
from .call import Call, Custom, Output, call, name_of
from .checking import Source, is_smooth
from .inside import Again, Inside, as_they_were, tapes_here, without


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """Save memory: let tapes keep only what goes into a function, which runs again when the backward pass needs it.

    The result and the derivatives, of any order and in both modes, are those of `f` itself. A backward pass takes one
    more run of `f`. A chain of n steps, cut into √n checkpointed parts of √n steps each, holds about 2√n arrays at a
    time instead of n; checkpointed functions may call others, so parts can be cut again.

    Parameters
    ----------
    f : callable
        It must compute the same each time: draw no random numbers, and assign no variables.

    Returns
    -------
    callable
        Like `f`, with the same arguments, positional and by keyword, and a result of the same structure. Everything
        that is differentiable in `f` stays so: tensors among the arguments, nested or not, and the variables and other
        tensors that `f` reads without being given them.

    Raises
    ------
    TypeError
        If f is not callable. When called: if an argument can be read only once, such as a generator.
    RuntimeError
        When called: if `f` assigns to a variable, since it would do so twice.
    ValueError
        In a backward pass: if `f` returns different numbers when it runs again.

    Notes
    -----
    In a function that `ad.compile` compiles, a checkpoint saves nothing: the program keeps what it needs.

    The entry holds the arguments, what `f` reads, and the result; arrays among the arguments are copied, unless they
    are read-only. A variable that has been assigned since has its old value while `f` runs again. What `f` prints, it
    prints twice. If an outer tape is recording the backward pass, for a derivative of higher order, it records the
    second run of `f` too, with everything that `f` computes. If `f` returns several tensors, the entry has them as one
    vector, with one more element, 0, for each; in the vector's cotangent, these count the cotangents that have arrived.

    The idea is from A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 12; √n parts are from
    T. Chen et al., Training Deep Nets with Sublinear Memory Cost (2016).

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> w = ad.Variable(0.5, name="w")
    >>> @ad.checkpoint
    ... def layer(x):
    ...     return np.tanh(w * x)
    >>> x = ad.Variable([1.0, 2.0])
    >>> with ad.GradientTape() as tape:
    ...     y = np.sum(layer(layer(x)))
    >>> [entry.name for entry in tape.entries]
    ['layer', 'layer', 'sum']
    >>> tape.gradient(y, w)
    Tensor(1.836785)
    """
    if not callable(f):
        raise TypeError(
            f"checkpoint takes a function, but got {f!r:.60}. Write ad.checkpoint(f)(x), not ad.checkpoint(f(x))"
        )

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return _run(f, args, kwargs)

    return checkpointed


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

    began = 0
    inside: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()

    def push(self, moving: dict[int, Any], values: Any, stack: tuple[int, ...]) -> dict[int, Any]:
        """Push tangents forward through the function itself; this is the forward rule."""
        return values[-1].push(moving, stack)


class Recomputed(Call):
    """One call of a checkpointed function, with what it was given and what it read, so that it can run again.

    Attributes
    ----------
    inputs, values : list
        The tensors among the arguments, the arrays, and the tensors that were read; and their values at that time.
    outputs : list of Output
        The tensors of the result that depend on something that tapes follow. If there are several, `value` has one more
        element for each of them, 0; in a cotangent, these count how many cotangents have arrived there.
    at : list of int
        Their positions among all the leaves of the result.
    """

    def __init__(self, f: Callable[..., Any], args: Any, inputs: list[Any], result: list[Any], at: list[int]) -> None:
        self.name, self.function, self.args, self.backward = _name(f), f, args, f
        self.inputs, self.values = inputs, [array_of(x) for x in inputs]
        self.sources = [Source(f"input {k}", np.shape(x), x.dtype) for k, x in enumerate(self.values)]
        self.at, self.outputs = at, [Output(result[k].shape, result[k].dtype) for k in at]
        self.value = self._packed([result[k]._array for k in at])
        self.silent, self._answer, self.where = set(), None, here(2)

    def _packed(self, arrays: list[Any], stack: tuple[int, ...] = ()) -> Any:
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

    def part(self, k: int) -> Callable[[Any], Any]:
        """Return the function that takes output k out of the vector, with the gradient that puts a cotangent there."""
        shape, dtype = self.outputs[k]
        sizes = [prod(output.shape) for output in self.outputs]
        start, after = sum(sizes[:k]), sum(sizes[k + 1 :])
        mark = np.eye(len(sizes))[k]

        def part(packed: Any) -> Any:
            value = array_of(packed)[start : start + sizes[k]].reshape(shape)
            value = value if dtype.kind == "c" else np.real(value)

            def backward(dy: Any) -> Any:
                return np.concatenate([np.zeros(start), np.ravel(dy), np.zeros(after), mark]).astype(packed.dtype)

            return wrap(value.astype(dtype, copy=False)[()]), backward

        return part

    def _again(self) -> tuple[Tape, list[Any]]:
        """Run the function again, on a new tape; return the tape and the tensors that are its outputs now."""
        tape, watched = Again(watch_accessed_variables=False), [x for x in self.inputs if is_smooth(x)]
        ids = [x._id for x in watched]
        strangers = [other for other in tapes_here() if not other.follows(ids)]  # they need not hear what follows
        with as_they_were(self.inputs, self.values), without(strangers), tape:
            tape.watch(watched)
            try:
                result = self._call()
            except Exception as error:
                error.add_note(f"{self.name} ran again here because a backward or forward pass needs what it computes")
                raise
        if len(result) <= max(self.at) or not all(isinstance(result[k], Tensor) for k in self.at):
            raise self._differs()
        found = [result[k] for k in self.at]
        if [(x.shape, x.dtype) for x in found] != self.outputs or not _same(
            self._packed([x._array for x in found]), self.value
        ):
            raise self._differs()
        return tape, found

    def _call(self) -> list[Any]:
        args, kwargs = self.args
        return [leaf for _, leaf in flatten(self.function(*args, **kwargs), "the result")]

    def _differs(self) -> ValueError:
        return ValueError(
            f"{self.name}, called at {place(self.where)}, returned different numbers when it ran again for the "
            f"derivative, so ad.checkpoint cannot be used with it. If it draws random numbers, draw them outside and "
            f"pass them to {self.name}; if it reads an array or an object that has changed since, pass that too"
        )

    def _pulled_back(self, g: Any) -> list[Any]:
        """Pull a cotangent, or a stack of them, back through a second run of the function."""
        g = dense(g)
        if g.dtype.kind == "c":
            g = np.conjugate(g)  # the walk has conjugated it for the rules, but here another walk begins
        stack = g.shape[: g.ndim - self.value.ndim]
        tape, outputs = self._again()
        found = self._walked(tape, [(outputs[k], part) for k, part in self._cotangents(g, stack)], stack)
        return [np.conjugate(one) if one is not None and one.dtype.kind == "c" else one for one in found]

    def _walked(self, tape: Tape, seeds: list[tuple[Tensor, Any]], stack: tuple[int, ...] = ()) -> list[Any]:
        """Walk back on the new tape; return what arrives at the inputs, None where nothing does."""
        ids = [x._id if is_smooth(x) else None for x in self.inputs]
        with tape._reading():
            cotangents = tape._seed(seeds)
            for _ in tape._walk(cotangents, {id for id in ids if id is not None}, stack, release=True):
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
        return self._walked(tape, seeds)

    def push(self, moving: dict[int, Any], stack: tuple[int, ...]) -> dict[int, Any]:
        """Push the tangents of some inputs forward through a second run of the function.

        All of them at once; but for the player, one by one, to show what each contributes.
        """
        tape, outputs = self._again()
        found: dict[int, Any] = {}
        for some in [{k: tangent} for k, tangent in moving.items()] if now().hooks else [moving]:
            tangents = {self.inputs[k]._id: tangent for k, tangent in some.items()}
            push_forward(tape, tangents, stack)
            parts = [tangents.get(x._id) for x in outputs]
            if any(part is not None for part in parts):
                zeros = [np.zeros(stack + shape, dtype) for shape, dtype in self.outputs]
                filled = [zero if part is None else part for zero, part in zip(zeros, parts, strict=True)]
                found[min(some)] = self._packed(filled, stack)
        return found

    def again(self, values: tuple[Any, ...]) -> Any:
        """Run the function on other values of its inputs."""
        with as_they_were(self.inputs, values):
            result = self._call()
        return self._packed([array_of(result[k]) for k in self.at])


def _run(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function without the tapes that are recording, and record it on them as one entry."""
    if recorder():  # a program keeps what it needs, and computes nothing twice
        return f(*args, **kwargs)
    name = _name(f)
    leaves = flatten((args, kwargs), "the arguments")
    for path, leaf in leaves:
        if isinstance(leaf, Iterator):
            raise TypeError(
                f"{path} of {name} is a {type(leaf).__name__}, which can be read only once, but ad.checkpoint runs "
                f"{name} again in the backward pass. Pass a list: list(...)"
            )
    tapes = tapes_here()
    inside = Inside(tapes)
    refuse = functools.partial(_refuse_assignment, name, inside.began)
    if not tapes:
        with without((), refuse):
            return f(*args, **kwargs)
    with without(tapes, refuse), inside:
        returned = f(*args, **kwargs)
        result = [leaf for _, leaf in flatten(returned, "the result")]
        for leaf in result:
            if is_smooth(leaf):
                inside.note(leaf)
        at = [k for k, leaf in enumerate(result) if is_smooth(leaf) and inside.follows((leaf._id,))]
    if not at:
        return returned
    kept = [freeze(leaf) for _, leaf in leaves]
    again = rebuild((args, kwargs), iter(kept))
    given = {leaf._id if isinstance(leaf, Tensor) else id(leaf): leaf for leaf in kept if _is_input(leaf)}
    inputs = [*given.values(), *(x for key, x in inside.read.items() if key not in given)]
    this = Recomputed(f, again, inputs, result, at)
    places = [next((k for k, arg in enumerate(again[0]) if arg is x), None) for x in inputs]
    operation = Segment(name, (*places, None), len(args), this.silent)
    operation.began, operation.inside = inside.began, tuple(result[k]._id for k in at)
    packed = apply(operation, (*inputs, this))
    outputs = [packed]
    if len(at) > 1:
        outputs = [call(this.part(k), (packed,), {}) for k in range(len(at))]
        operation.parts = tuple(output._id for output in outputs)
    if now().hooks:
        announce("Called", this, [result[k] for k in at], outputs)
    for k, output in zip(at, outputs, strict=True):
        result[k] = output
    return rebuild(returned, iter(result))


def _refuse_assignment(name: str, began: int, what: str, *details: Any) -> None:
    """Raise an error for an assignment to a variable that is older than the call; this is a hook."""
    if what == "Assigning" and isinstance(details[0], Variable) and details[0]._id < began:
        raise RuntimeError(
            f"{place(here())}: {name} assigns to {details[0]!r:.60}, but ad.checkpoint runs {name} again in the "
            f"backward pass, which would assign twice. Return the new value from {name}, and assign it outside"
        )


def _is_input(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | np.ndarray)


def _name(f: Callable[..., Any]) -> str:
    name = name_of(f)
    return "checkpoint" if name == "<lambda>" else name


def _same(a: Any, b: Any) -> bool:
    """Return whether two arrays hold the same numbers; those of other libraries may be computed elsewhere, later."""
    ours = isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic)
    return not ours or np.array_equal(a, b, equal_nan=True)
