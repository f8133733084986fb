"""`play`: runs a function, pulls back from its result, and shows every step."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from contextlib import ContextDecorator, suppress
from typing import Any

import numpy as np

from ..arrays.structures import as_array, flatten, rebuild
from ..compiled.programs import Program
from ..core.entry import PLAIN
from ..core.events import Read
from ..core.tensor import Tensor, constant
from ..custom.inner_tape import SecondTape, tapes_here
from ..explain.explanation import Explanation
from ..explain.journal import DECISIONS, FORMAT, journal
from ..explain.sentences import Reason
from ..gradient_tape import GradientTape
from ..text.functions import name_of, names_of_parameters
from ..text.ipython import find_shell
from ..text.tracebacks import hide_frames
from ..trace.trace import Trace, trace
from . import Player
from .compiler_passes import document_of
from .extra_parts import Written


def play(
    what: Trace | Explanation | Program | Callable[..., Any],
    *args: Any,
    predict: bool = False,
    stage: bool = False,
    framework: str | None = None,
) -> Player:
    """Show, step by step, a trace, an explanation, a compiled program, or a function and its differentiation.

    Parameters
    ----------
    what : Trace, Explanation, Program or callable
        A trace is shown as it is, an explanation as the way with its cuts. Of a program, such as
        `ad.compile(f).program(x)`, you see what was recorded, and what each pass takes out. A function is run on `args`
        under a tape that watches its arguments, then differentiated with respect to them; if the function opens tapes
        of its own, those are shown and none is added. A function of PyTorch's tensors, or a module of PyTorch's, is run
        by PyTorch, and every number is PyTorch's.
    *args : array_like, Tensor, Variable, torch.Tensor, or nested lists, tuples and dicts of them
        Arguments of the function. Numbers and arrays become watched tensors. If none of PyTorch's tensors requires a
        gradient, copies of those that can are passed, which do.
    predict : bool
        Whether the player asks the reader to predict each step before it shows it; the reader can switch this off.
    stage : bool
        Whether the player opens on stage, over the page it is in, when a live notebook first shows it. A saved page
        does not.
    framework : str, optional
        "jax" for a JAX function: JAX runs it, differentiates it with respect to its floating-point arguments, and
        computes every number that is shown. "torch" converts the arguments to PyTorch's tensors first; for a function
        of such tensors it need not be said, because a trace sees by itself what PyTorch computes.

    Returns
    -------
    Player
        The last expression of a notebook cell shows it.

    Raises
    ------
    TypeError
        If `what` is not a trace, an explanation or a callable, or the function returns something other than a tensor;
        or if JAX cannot differentiate with respect to any argument, or one is complex or not on the CPU.
    ValueError
        If nothing was recorded, so that there is nothing to play; or a program has more than 200 operations; or a JAX
        function has effects; or there is no such `framework`.
    ArithmeticError
        If the equations of a JAX function, one by one, do not give the gradient that JAX gives for the whole.
    Exception
        If the function raises one. Unless it does so before the first step, the player of everything up to the error
        is still shown, and is the exception's attribute `player`. The player's last step is the error, at its line. For
        a JAX function, nothing is shown.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> ad.play(lambda x: x * x, 3.0)
    Player('<lambda>(x)', 7 steps)
    >>> ad.play(ad.compile(ad.grad(np.sin)).program(0.5))
    Player('grad_of_sin, compiled', 8 steps)
    """
    if isinstance(what, Program):
        return Player(Written(document_of(what)), predict, stage)
    if isinstance(what, Trace):
        traced = what
    elif isinstance(what, Explanation):
        traced = what.trace()
    elif isinstance(what, ContextDecorator):  # callable, but as a decorator
        raise TypeError("this trace has not run: write `with ad.trace() as steps: ...`, and then ad.play(steps)")
    elif callable(what):
        traced = trace_call(what, args, framework, predict=predict, stage=stage)
    else:
        raise TypeError(
            f"play takes a function and its arguments, or a trace; this is the {type(what).__name__} {what!r:.60}"
        )
    if not has_steps(traced):
        reading = _describe_reading(traced)
        instead = f"{reading}Use the tensor itself there" if reading else _describe_integers(what, args)
        instead = instead or (
            "Compute with tensors: pass the function numbers, arrays or tensors as arguments and use operators and "
            "NumPy functions on them"
        )
        raise ValueError(f"{traced.title} recorded nothing, so there is nothing to play. {instead}")
    return Player(traced, predict, stage)


def has_steps(traced: Trace) -> bool:
    """Return whether anything happened to a tape, or an operation failed."""
    return traced.failure is not None or any(hasattr(event, "tape") for event in traced.events)


def trace_call(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    framework: str | None = None,
    *,
    predict: bool = False,
    stage: bool = False,
) -> Trace:
    """Run a function and differentiate it, as `play` does, and return the trace.

    If the function raises an error, a player of the steps up to it is shown, with `predict` and `stage` as in `play`.
    """
    if framework == "jax":
        from ..frameworks.jax import trace_jax

        try:
            return trace_jax(function, args)
        except Exception as error:
            hide_frames(error)
            raise
    if framework == "torch":
        from ..frameworks.pytorch import as_tensors

        args = as_tensors(args)
    elif framework is not None:
        raise ValueError(f'framework is "torch", "jax", or None for NumPy, and this is {framework!r}')
    with_pytorch = _computes_with_pytorch(function, args)
    names = _name_arguments(getattr(function, "forward", function) if with_pytorch else function, len(args))
    args = tuple(map(as_array, args))
    leaves = [
        [_watchable(leaf, path) for path, leaf in flatten(arg, name)] for name, arg in zip(names, args, strict=True)
    ]
    tensors = [rebuild(arg, iter(parts)) for arg, parts in zip(args, leaves, strict=True)]
    watched = [leaf for parts in leaves for leaf in parts if isinstance(leaf, Tensor) and leaf.dtype.kind in "fc"]
    tape, outer = GradientTape(persistent=True), tapes_here()

    def has_own() -> bool:
        opened = (getattr(event, "tape", tape) for event in traced.events)
        return any(one not in (tape, *outer) and not isinstance(one, SecondTape) for one in opened)

    def drop_unused_tapes() -> Trace:
        used = tape.entries or traced.failure  # a failure needs the tape too: it has what is watched
        return traced.without(*outer, *([tape] if has_own() or not used else []))

    try:
        with trace(f"{name_of(function)}({', '.join(names)})") as traced:
            traced.aside = tape, *outer
            if with_pytorch:
                from ..frameworks.pytorch import call

                call(traced, function, args, names)
                return drop_unused_tapes()
            with tape:
                tape.watch(watched)
                result = function(*tensors)
            if tape.entries and not has_own():
                targets = [leaf for _, leaf in flatten(result, "the result")]
                if not all(isinstance(target, Tensor) for target in targets):
                    raise TypeError(
                        f"{traced.title} returns {result!r:.60}, which is not a tensor, so there is nothing to "
                        f"differentiate. {_advise(traced, tape, watched, result)}"
                    )
                tape.gradient(targets, [*watched, *tape.watched_variables()])
    except BaseException as error:
        hide_frames(error)
        if isinstance(error, TypeError) and "valid JAX type" in str(error):
            error.add_note('To play a function of JAX, pass framework="jax".')
        if isinstance(error, Exception):
            _show_until(error, drop_unused_tapes(), predict, stage)
        raise
    return drop_unused_tapes()


def _describe_integers(what: Any, args: tuple[Any, ...]) -> str:
    """Write which argument is an array of integers, which no tape watches; empty if none is."""
    for name, arg in zip(names_of_parameters(what, len(args)) if args else (), args, strict=True):
        for path, leaf in flatten(as_array(arg), name):
            if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "iu":
                return f"{path} has dtype {leaf.dtype}, but tapes only watch floats. Pass {path}.astype(float)"
    return ""


def _describe_reading(traced: Trace) -> str:
    """Write where a trace last turned a tensor into plain numbers; empty if it did not."""
    read = {event.tensor._id for event in traced.heard if isinstance(event, Read)}
    for line in reversed(journal.lines()):
        is_reading = line.output_id == PLAIN and line.operation not in (FORMAT, *DECISIONS)
        if is_reading and not read.isdisjoint(line.ids):
            return f"{line.place}: {line.place.text or line.operation} returns plain numbers, which no tape follows. "
    return ""


def _advise(traced: Trace, tape: GradientTape, watched: list[Tensor], result: Any) -> str:
    """Write what to return in place of a result that is not a tensor."""
    target = constant(0.0, name="the result")
    causes = [cause for source in watched for cause in tape.explain(target, source).causes]
    deciding = [cause.text for cause in causes if cause.reason is Reason.DECIDES]
    if deciding and result is not None and all(cause.reason in (Reason.DECIDES, Reason.NOT_USED) for cause in causes):
        return deciding[0]
    if result is None:
        return "End it with a return statement that returns its result"
    instead = "Return what it computes from its arguments, without float(), .numpy() or np.asarray on the way"
    return _describe_reading(traced) + instead


def _computes_with_pytorch(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Return whether a function is one of PyTorch's modules, or is given PyTorch's tensors."""
    torch = sys.modules.get("torch")
    leaves = [leaf for _, leaf in flatten(list(args), "")]
    return torch is not None and (isinstance(function, torch.nn.Module) or any(map(torch.is_tensor, leaves)))


def _show_until(error: Exception, traced: Trace, predict: bool, stage: bool) -> None:
    """Show what happened before an error, above that error; without a notebook, keep it with the error."""
    if not has_steps(traced):
        return
    player = Player(traced, predict, stage)
    with suppress(AttributeError):  # an exception may refuse attributes
        error.player = player  # type: ignore[attr-defined]
    if find_shell() is not None:
        from IPython.display import display

        display(player)
    else:
        error.add_note("The steps up to here are in the attribute `player` of this error.")


def _name_arguments(function: Callable[..., Any], count: int) -> list[str]:
    """Name the arguments as the function does; raise a TypeError if it does not take this many."""
    with suppress(ValueError):  # functions written in C may have no signature
        try:
            inspect.signature(function).bind(*range(count))
        except TypeError as error:
            given = f"{count} argument{'' if count == 1 else 's'}"
            raise TypeError(f"{name_of(function)} cannot be called with {given} ({error})") from None
    return names_of_parameters(function, count)


def _watchable(leaf: Any, name: str) -> Any:
    """Convert a number or an array to a tensor named after the argument; return anything else unchanged."""
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        leaf = float(leaf)
    kind = getattr(getattr(leaf, "dtype", None), "kind", None)  # PyTorch's have none
    numeric = isinstance(leaf, float | complex) or kind in ("f", "c")
    return constant(leaf, name=name) if numeric and not isinstance(leaf, Tensor) else leaf
