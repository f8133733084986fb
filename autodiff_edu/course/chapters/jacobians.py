"""The exercises of chapter 14, Jacobians: their shapes, the gradient as a sum, and which mode takes fewer passes."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_each, needs_function, numbers, shortened
from ..predictions import Prediction

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
        "You don't need the Jacobian, only its product with one direction of the inputs. How many tangents is that?",
    ),
    "f": (
        "reverse",
        "You don't need the Jacobian, only one mixture of its rows. The weights of the sum are a single seed.",
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
    if _whole(given):
        raise NotYet(f"For {name} your answer is {given}. A shape is a tuple; with one axis it is ({given},).")
    if not isinstance(given, tuple | list) or not all(map(_whole, given)):
        raise NotYet(f"For {name} I need a shape, a tuple of whole numbers, and your answer is {shortened(given)}.")
    return tuple(map(int, given))


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _why(given: Shape, target: Shape, source: Shape) -> str:
    sizes = math.prod(target), math.prod(source)
    if given == source + target:
        return f"{given} puts the source first. The target comes first: which output, and then which input."
    if given == source:
        return f"{given} is the shape of the gradient. The Jacobian keeps the outputs apart; they come first."
    if given == target:
        return f"{given} is the shape of the target. The axes of the source come after it."
    if () in (target, source) and tuple(n for n in given if n != 1) == target + source:
        return f"{given} gives a scalar an axis of length 1. The shape of a scalar is (): it has no axis."
    if given in (sizes, sizes[::-1], (math.prod(sizes),)):
        return f"{given} has the right number of slopes, but a Jacobian keeps the axes of its target and its source."
    if math.prod(given) == math.prod(sizes):
        return f"{given} has the right number of elements but other axes. Write the target's, then the source's."
    axes = len(target), len(source)
    if len(given) != sum(axes):
        return f"{given} has {_axes(len(given))}. The target has {axes[0]} and the source {axes[1]}. How many is that?"
    off = next(k for k, pair in enumerate(zip(given, target + source, strict=True)) if pair[0] != pair[1])
    whose, place = ("target", off) if off < axes[0] else ("source", off - axes[0])
    return f"{given} has the right number of axes, but {given[off]} isn't the length of the {whose}'s axis {place}."


def _axes(count: int) -> str:
    return f"{count} {'axis' if count == 1 else 'axes'}"


def gradient_from(answer: Any) -> str:
    """Check 14.2: the gradient as a sum of the Jacobian over the target's axes, for hidden Jacobians."""
    needs_function(answer, "gradient_from(jacobian, target_ndim)")
    random = np.random.default_rng(1013)
    for target, source in (((4,), (4,)), ((3,), (2,)), ((2, 3), (4,)), ((), (3,)), ((2,), (3, 2)), ((5,), ())):
        jacobian = random.standard_normal(target + source)
        ndim = len(target)
        written = f"gradient_from(jacobian, {ndim}), for a Jacobian of shape {target + source},"
        try:
            given = call(answer, ad.constant(jacobian), ndim, written=written)
        except NotYet as hint:
            if "cannot be interpreted as an integer" in str(hint):
                raise NotYet(
                    "`np.sum` takes one axis or a *tuple* of axes, not a list or a range: wrap it in `tuple(...)`."
                ) from None
            raise
        if given is ...:
            raise NotYet("Replace the three dots: over which axes of the Jacobian must you sum?")
        got = numbers(given, f"what gradient_from(jacobian, {ndim}) returns")
        right = np.sum(jacobian, axis=tuple(range(ndim)))
        if not near(got, right):
            raise NotYet(f"{written[:-1]}: {_why_sum(got, jacobian, target, source)}")
    return "The outputs are added up, and what's left has the source's shape, for targets with 0, 1 and 2 axes."


def _why_sum(got: Any, jacobian: Any, target: Shape, source: Shape) -> str:
    axes = tuple(range(jacobian.ndim))

    def is_(wrong: Any) -> bool:
        return near(got, wrong)

    if target == source and is_(np.diagonal(jacobian)):
        return "this is the diagonal. The gradient adds up the slopes of all outputs, a whole column for each input."
    if not target:
        return "a scalar target has no axis, so there is nothing to sum: axis=() leaves the Jacobian as it is."
    if is_(np.sum(jacobian)):
        return "this is the sum of all slopes. Keep the inputs apart: sum over the axes of the target only."
    if is_(np.sum(jacobian, axis=axes[len(target) :])):
        return "you summed over the axes of the source, which come last. Those of the target come first."
    if target and is_(np.mean(jacobian, axis=axes[: len(target)])):
        return "this is the mean over the outputs. The gradient is that of their sum."
    if is_(jacobian):
        return "nothing is summed yet."
    if is_(np.sum(jacobian, axis=0)):
        return "only the first axis is summed, and this target has more. Sum over all of its axes, a tuple of them."
    if is_(np.sum(jacobian, axis=len(target) - 1)):
        return "only the last axis of the target is summed. Sum over all of its axes, a tuple of them."
    if len(target) == 2 and is_(np.sum(jacobian, axis=(0, 2))):
        return (
            "the second sum went over an axis of the source: once axis 0 is summed, the others move up by one. "
            "Sum over both axes in one call, with a tuple."
        )
    right = np.sum(jacobian, axis=axes[: len(target)])
    if got.size == right.size and near(got.ravel(), right.ravel()):
        return f"the numbers are right, in shape {got.shape}. The gradient has the shape of the source, {source}."
    if got.shape == source:
        return "the shape is right and the numbers aren't. Add up the slopes over the axes of the target."
    return (
        f"the target has shape {target} and the source {source}, so the gradient has shape {source}; yours has "
        f"{got.shape}. Sum over the axes of the target."
    )


def modes(answer: Any) -> str:
    """Check 14.3: forward or reverse, for six cases, as a dict of strings."""
    answers = _six(answer, '"forward" or "reverse"')
    given = {}
    for name in MODES:
        word = answers[name]
        if not isinstance(word, str) or word.strip().lower() not in ("forward", "reverse"):
            raise NotYet(f'For {name} write "forward" or "reverse" instead of {shortened(word)}.')
        given[name] = word.strip().lower()
    if all(given[name] != right for name, (right, _) in MODES.items()):
        raise NotYet(
            "All six are the wrong way round. Reverse needs a seed for each output, forward a tangent for each input."
        )
    for name, (right, hint) in MODES.items():
        if given[name] != right:
            raise NotYet(f"For {name}: {hint}")
    return "Few outputs: pull their seeds back. Few inputs: push their tangents forward."


def _six(answer: Any, what: str) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise NotYet(f"I need a dict that answers each of a to f with {what}. Yours is {shortened(answer)}.")
    needs_each(answer, "abcdef", "Your answer leaves out")
    return answer


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "Two coordinates, three motors. What will the shape of the Jacobian be?",
        answer=(2, 3),
        hints={
            (3, 2): "The outputs come first: which coordinate, then which motor.",
            (3,): "That's the shape of the gradient, in which the two coordinates are added up.",
            (6,): "Six slopes is right. A Jacobian keeps outputs and inputs apart.",
            (2,): "That's the shape of the hand. Each coordinate has three slopes.",
        },
        why="The target's shape, (2,), and then the source's, (3,).",
    ),
    Prediction(
        "What does `ad.jvp(hand, (joints,), (v,))` return as the tangent for v = (1, 1, 0)?",
        answer="column 0 plus column 1",
        choices=("column 0 plus column 1", "row 0 plus row 1", "the mean of columns 0 and 1"),
        hints={
            "row 0 plus row 1": "Rows belong to outputs. v says how the *motors* move.",
            "the mean of columns 0 and 1": "Both motors turn by the full amount, at the same time.",
        },
        why="Both motors turn at once, so their arrows add up.",
    ),
    Prediction(
        "`squares` has two inputs and three outputs. How many passes does the faster way need?",
        answer=2,
        hints={
            3: "That's reverse: a seed for each of the three outputs. What does forward need?",
            6: "One pass fills a whole row or a whole column.",
            1: "That would be the stack. Here we count seeds or tangents.",
            5: "You need one of the two ways, not both.",
        },
        why="Forward needs a tangent for each input, and there are only two.",
    ),
    Prediction(
        "With 20 outputs, how many inputs make the two ways cost the same?",
        answer=20,
        hints={
            1: "With one input, forward needs one tangent. How many seeds does reverse need?",
            21: "Almost: with 21 inputs, forward already makes one pass more than reverse.",
            40: "Forward pushes one tangent per input, reverse pulls back one seed per output.",
        },
        why="20 tangents against 20 seeds: the two meet where the Jacobian is square.",
    ),
    Prediction(
        "What is the shape of the Jacobian of the layer's output with respect to its kernel?",
        answer=(7, 10, 5, 10),
        hints={
            (5, 10, 7, 10): "The target comes first: the output, of shape (7, 10).",
            (7, 10): "That's the target. Each of its numbers has a slope with respect to every weight.",
            (5, 10): "That's the source, and the gradient's shape. The Jacobian keeps the outputs apart.",
            (70, 50): "As a matrix it would be. The tape keeps all the axes.",
            (7, 10, 10, 5): "The kernel has one row for each of the 5 inputs: its shape is (5, 10).",
        },
        why="(7, 10) for the output, followed by (5, 10) for the kernel.",
    ),
    Prediction(
        "What will the first number of the *gradient* of `y` be?",
        answer=4,
        hints={
            1: "That's the diagonal. The gradient adds up the slopes of all outputs.",
            3: "That adds up a row. x[0] belongs to the first *column*.",
            5: "That's on the diagonal, added up. Take the first column.",
        },
        why="x[0] moves both outputs, with the slopes 1 and 3.",
    ),
    Prediction(
        "The gradient of the shares has three numbers. What is each of them?",
        answer=0,
        hints={
            1: "1 is the sum of the shares. How does that sum change when x does?",
            None: "The shares are computed from x, so there is a path.",
        },
        why="The gradient asks how the *sum* of the shares changes, and it is always 1.",
    ),
    Judge(
        "Predict the shapes",
        """\
Without running it: what are the shapes of these six Jacobians? Write them as tuples, such as `(3,)` or `(2, 3)`.

```python
x = ad.Variable(np.ones(3))
A = ad.Variable(np.ones((4, 3)))
delta = ad.Variable(0.0)
table = np.ones((8, 5))
layer = nn.Dense(6)
```

| | target | source |
|---|---|---|
| a | `np.sum(x * x)` | `x` |
| b | `A @ x` | `x` |
| c | `A @ x` | `A` |
| d | `table + delta` | `delta` |
| e | `layer(table)` | `layer.kernel` |
| f | `layer(table)` | `layer.bias` |""",
        shapes,
    ),
    Judge(
        "The gradient as a sum of the Jacobian",
        """\
Write a function that turns a Jacobian into the gradient. `target_ndim` is the number of the target's axes: 0 for a scalar, 1 for a vector, and so on. For a target with 2 axes, those are the axes 0 and 1; `tuple(range(2))` is `(0, 1)`, and `np.sum` accepts a tuple of axes.""",
        gradient_from,
    ),
    Judge(
        "Choose the mode",
        """\
Which way needs fewer passes, `"forward"` or `"reverse"`?

| | inputs | outputs | wanted |
|---|---|---|---|
| a | 10,000 weights | one loss | the Jacobian |
| b | one shift | a curve of 201 points | the Jacobian |
| c | an image of 784 pixels | 10 ratings | the Jacobian |
| d | 6 joints of a robot's arm | the positions of 50 points, 150 numbers | the Jacobian |
| e | 1,000 numbers | 1,000 numbers | how all outputs move if the inputs move in *one* direction |
| f | 1,000 numbers | 1,000 numbers | the gradient of *one* weighted sum of the outputs, with respect to all inputs |""",
        modes,
    ),
)
