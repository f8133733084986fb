"""The exercises of chapter 14, Jacobians: their shapes, the gradient as a sum, and which mode takes fewer passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..feedback import NotYet, call, needs_each, needs_function, shortened

Shape = tuple[int, ...]
SHAPES: dict[str, tuple[Shape, Shape]] = {
    "a": ((), (3,)),
    "b": ((4,), (3,)),
    "c": ((4,), (4, 3)),
    "d": ((8, 5), ()),
    "e": ((8, 6), (5, 6)),
    "f": ((8, 6), (6,)),
}
"""The shapes of the target and of the source."""

MODES = {
    "a": (
        "reverse",
        "A loss is one output: a single seed gives all 10,000 slopes. Forward would push 10,000 tangents.",
    ),
    "b": ("forward", "There is one input: a single tangent moves all 201 points. Reverse would pull back 201 seeds."),
    "c": ("reverse", "Compare 10 seeds with 784 tangents: the Jacobian is wide, 10 rows and 784 columns."),
    "d": ("forward", "Compare 6 tangents with 150 seeds: the Jacobian is tall, 150 rows and 6 columns."),
    "e": (
        "forward",
        "No Jacobian is wanted, only its product with one direction of the inputs. How many tangents is a direction?",
    ),
    "f": (
        "reverse",
        "No Jacobian is wanted, only one mixture of its rows. The weights of the sum are one seed for the outputs.",
    ),
}


def shapes(answer: Any) -> str:
    """Check 14.1: the shapes of six Jacobians, as a dict of tuples."""
    answers = _six(answer, "a tuple such as (2, 3)")
    for name, (target, source) in SHAPES.items():
        given = _shape(answers[name], name)
        if given != target + source:
            raise NotYet(f"For {name}: {_why(given, target, source)}")
    return "The target's shape, and then the source's; a scalar has the shape () and adds no axis."


def _shape(given: Any, name: str) -> Shape:
    if isinstance(given, int) and not isinstance(given, bool):
        raise NotYet(f"For {name} you give the number {given}. A shape is a tuple; with one axis it is ({given},).")
    if not isinstance(given, tuple | list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in given):
        raise NotYet(f"For {name} I need a shape, a tuple of whole numbers, and got {shortened(given)}.")
    return tuple(given)


def _why(given: Shape, target: Shape, source: Shape) -> str:
    sizes = math.prod(target), math.prod(source)
    if given == source + target:
        return f"{given} puts the source first. The target comes first: which output, and then which input."
    if given == source:
        return f"{given} is the shape of the gradient. The Jacobian keeps the outputs apart; they come first."
    if given == target:
        return f"{given} is the shape of the target. The Jacobian has a slope by each element of the source as well."
    if 1 in given and tuple(n for n in given if n != 1) == target + source:
        return f"{given} gives a scalar an axis of length 1. The shape of a scalar is (): it has no axis."
    if given in (sizes, sizes[::-1], (math.prod(sizes),)):
        return f"{given} counts the slopes rightly, but a Jacobian keeps the axes of its target and its source apart."
    if math.prod(given) == math.prod(sizes):
        return f"{given} has as many elements as it should, and other axes. First the target's axes, then the source's."
    return f"the target has the shape {target} and the source {source}. Write one after the other."


def gradient_from(answer: Any) -> str:
    """Check 14.2: the gradient as a sum of the Jacobian over the target's axes, for hidden Jacobians."""
    needs_function(answer, "gradient_from(jacobian, target_ndim)")
    random = np.random.default_rng(1013)
    for target, source in (((4,), (4,)), ((3,), (2,)), ((2, 3), (4,)), ((), (3,)), ((2,), (3, 2)), ((5,), ())):
        jacobian = random.standard_normal(target + source)
        ndim = len(target)
        written = f"gradient_from(jacobian, {ndim}), for a Jacobian of shape {target + source},"
        given = call(answer, ad.constant(jacobian), ndim, written=written)
        if given is ...:
            raise NotYet("Replace the three dots: over which axes of the Jacobian must you sum?")
        if given is None:
            raise NotYet(f"{written} gives None. Does a `return` lack somewhere?")
        try:
            got = np.asarray(given, dtype=float)
        except Exception:
            raise NotYet(f"{written} gives {shortened(given)}, and not an array.") from None
        right = np.sum(jacobian, axis=tuple(range(ndim)))
        if got.shape != right.shape or not np.allclose(got, right, rtol=1e-9, atol=1e-12):
            raise NotYet(f"{written[:-1]}: {_why_sum(got, jacobian, target, source)}")
    return "The outputs are added up, and the axes of the source are left: its shape, for targets of 0, 1 and 2 axes."


def _why_sum(got: Any, jacobian: Any, target: Shape, source: Shape) -> str:
    axes = tuple(range(jacobian.ndim))

    def is_(wrong: Any) -> bool:
        return bool(np.shape(wrong) == got.shape and np.allclose(got, wrong, rtol=1e-9, atol=1e-12))

    if target == source and is_(np.diagonal(jacobian)):
        return "this is the diagonal. The gradient adds up the slopes of all outputs, a whole column for each input."
    if not target:
        return "a scalar target has no axis, so there is nothing to sum: axis=() leaves the Jacobian as it is."
    if is_(np.sum(jacobian)):
        return "this is the sum of all slopes. Keep the inputs apart: sum over the axes of the target only."
    if is_(np.sum(jacobian, axis=axes[len(target) :])):
        return "you summed over the axes of the source, which come last. Those of the target come first."
    if target and is_(np.mean(jacobian, axis=axes[: len(target)])):
        return "this is the mean over the outputs. The gradient is the one of their sum."
    if is_(jacobian):
        return "nothing is summed yet."
    if is_(np.sum(jacobian, axis=0)):
        return "only the first axis is summed, and this target has more. Sum over all of its axes, a tuple of them."
    return (
        f"the target has the shape {target} and the source {source}, so the gradient has the shape {source}; yours has "
        f"{got.shape}. Sum over the axes of the target."
    )


def modes(answer: Any) -> str:
    """Check 14.3: forward or reverse, for six cases, as a dict of strings."""
    answers = _six(answer, '"forward" or "reverse"')
    given = {}
    for name in MODES:
        word = answers[name]
        if not isinstance(word, str) or word.strip().lower() not in ("forward", "reverse"):
            raise NotYet(f'For {name} write "forward" or "reverse", and not {shortened(word)}.')
        given[name] = word.strip().lower()
    if all(given[name] != right for name, (right, _) in MODES.items()):
        raise NotYet(
            "All six are the other way round. Reverse needs a seed for each output, forward a tangent for each input."
        )
    for name, (right, hint) in MODES.items():
        if given[name] != right:
            raise NotYet(f"For {name}: {hint}")
    return "Few outputs: pull their seeds back. Few inputs: push their tangents forward."


def _six(answer: Any, what: str) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise NotYet(f"I need a dict with an answer for each of a to f, {what}, and got {shortened(answer)}.")
    needs_each(answer, "abcdef", "Nothing is said of")
    return answer


EXERCISES: dict[str, Callable[[Any], str]] = {"14.1": shapes, "14.2": gradient_from, "14.3": modes}
"""The checks by exercise."""
