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
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.structures import flatten, rebuild
from ..core.active import emit, now
from ..core.events import Return
from ..core.tape import Tape
from ..core.tensor import Tensor, apply
from ..core.variable import Variable
from ..rules.operations import recorder
from ..text.frames import here
from ..text.functions import name_of, spoken
from .arguments import Arguments
from .call import call
from .checking import is_smooth
from .inner_tape import InnerTape, tapes_here, without
from .inner_tensors import CheckpointCall, set_apart
from .recomputation import OutputPart, Recomputation, Segment, part
from .refusals import add_hint, check_result, check_tapes, refuse_assignment


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """Save memory: let tapes keep only what goes into a function, which runs again when the backward pass needs it.

    The result and the derivatives, of any order and in both modes, are those of `f` itself. A backward pass takes one
    more run of `f`. A chain of n steps, cut into √n checkpointed parts of √n steps each, holds about 2√n arrays at a
    time instead of n; checkpointed functions may call others, so parts can be cut again.

    Parameters
    ----------
    f : callable
        It must do the same each time it runs: draw no random numbers (unless it sets the generator's state first), and
        assign no variables. What it computes must leave it in its result, and not in a list or an attribute that others
        read.

    Returns
    -------
    callable
        Like `f`, with the same arguments, positional and by keyword, and a result of the same structure. Everything
        that is differentiable in `f` stays so: tensors among the arguments, nested or not, and the variables and other
        tensors that `f` reads without being given them.

    Raises
    ------
    TypeError
        If f is not callable. When called: if an argument, or a part of the result, can be read only once, such as a
        generator.
    RuntimeError
        When called, or when `f` runs again: if `f` assigns to a variable, changes a list or a dict that was passed to
        it, resets a tape around it or asks it to watch, or reads an iterator or a tensor that its first run has used
        up or kept. After the call: if an operation reads a tensor that was computed in `f` and is not in its result.
    ValueError
        In a backward pass: if `f` returns different numbers when it runs again, or draws other random numbers then.

    Notes
    -----
    While no tape is recording, a call is a plain call of `f`, which may do what it likes. So it is in a function that
    `ad.compile` compiles: a checkpoint saves nothing there, because the program keeps what it needs.

    The entry holds the arguments, what `f` reads, and the result. Arrays among the arguments are passed to `f` as
    copies, which are read-only, unless they were read-only before. A variable that has been assigned since has its old
    value while `f` runs again, also for other threads, so no other thread should use it then. What `f` prints, it
    prints twice. About 150 checkpoints fit into one another before Python's stack is full.

    If an outer tape is recording the backward pass, for a derivative of higher order, it records the second run of `f`
    too, with everything that `f` computes, and so it also watches the variables that `f` reads. If `f` returns several
    tensors, the entry has them as one vector, with one more element, 0, for each; in the vector's cotangent, these
    count the cotangents that have arrived.

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


def _run(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a function without the tapes that are recording, and record it on them as one entry."""
    tapes = tapes_here()
    if not tapes or recorder():  # a program keeps what it needs, and computes nothing twice
        return f(*args, **kwargs)
    arguments = Arguments(f, args, kwargs)
    name, inside, watched = spoken(f), InnerTape(tapes), [len(tape.watched) for tape in tapes]
    with without(tapes, refuse_assignment(name, inside.began)), inside:
        try:
            returned = arguments.call()
        except Exception as error:
            add_hint(error, name)
            raise
        leaves = flatten(returned, "the result")
        result = [leaf for _, leaf in leaves]
        for leaf in result:
            if is_smooth(leaf):
                inside.note(leaf)
        at = [k for k, leaf in enumerate(result) if is_smooth(leaf) and inside.follows((leaf._id,))]
    check_result(f, leaves)
    check_tapes(name, tapes, inside.began, watched)
    arguments.keep()
    kept = [leaf for leaves in arguments.leaves for leaf in leaves]
    given = {leaf._id if isinstance(leaf, Tensor) else id(leaf): leaf for leaf in kept if _is_input(leaf)}
    inputs = [*given.values(), *(x for key, x in inside.read.items() if key not in given)]
    for tape in tapes:
        if any(isinstance(x, Tensor) and _follows(tape, x) for x in inputs):
            set_apart(tape, inside.computed, CheckpointCall(inside.began, name, here()))
        if isinstance(tape, InnerTape):
            tape.take_in(inside)
    if not at:
        return returned
    moving = {k for k, x in enumerate(inputs) if is_smooth(x) and inside.follows((x._id,))}
    this = Recomputation(name, arguments, inputs, moving, result, at, inside)
    places = [next((k for k, arg in enumerate(arguments.given[: len(args)]) if arg is x), None) for x in inputs]
    called = "checkpoint" if name_of(f) == "<lambda>" else name
    operation = Segment(called, tuple(places), len(args), this.silent)
    operation.began, operation.inside = inside.began, tuple(result[k]._id for k in at)
    packed = apply(operation, tuple(inputs), call=this)
    outputs = [packed]
    if len(at) > 1:
        outputs = [call(part(this.outputs, k, f"{called}[{k}]"), (packed,), {}, OutputPart) for k in range(len(at))]
        operation.parts = tuple(output._id for output in outputs)
    if now().heard[Return]:
        emit(Return, this, [result[k] for k in at], outputs)
    for k, output in zip(at, outputs, strict=True):
        result[k] = output
    return rebuild(returned, iter(result))


def _follows(tape: Tape, x: Tensor) -> bool:
    return tape.follows((x._id,)) or (isinstance(x, Variable) and tape.watches(x))


def _is_input(leaf: Any) -> bool:
    return isinstance(leaf, Tensor | np.ndarray)
