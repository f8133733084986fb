"""The exercises of chapter 16, Jacobians: their shapes, the gradient as a sum, and which mode takes fewer passes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Choice, Function, Shape, Table
from ..predictions import Prediction

PREDICTIONS = (
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
)

Axes = tuple[int, ...]


def shape(name: str, target: Axes, source: Axes, more: Mapping[Axes, str] | None = None) -> Shape:
    """Return the form for the shape of a Jacobian; `more` has further wrong ones and their hints."""
    answer, sizes = target + source, (math.prod(target), math.prod(source))
    hints = dict.fromkeys(
        itertools.permutations(answer),
        "{given} has the right number of elements but other axes. Write the target's, then the source's.",
    )
    flat = "{given} has the right number of slopes, but a Jacobian keeps the axes of its target and its source."
    hints |= dict.fromkeys((sizes, sizes[::-1], (math.prod(sizes),)), flat)
    if () in (target, source):
        axis = "{given} gives a scalar an axis of length 1. The shape of a scalar is (): it has no axis."
        hints |= dict.fromkeys(((1, *answer), (*answer, 1)), axis)
    hints[target] = "{given} is the shape of the target. The axes of the source come after it."
    hints[source] = "{given} is the shape of the gradient. The Jacobian keeps the outputs apart; they come first."
    hints[source + target] = (
        "{given} puts the source first. The target comes first: which output, and then which input."
    )
    hints |= more or {}
    del hints[answer]
    return Shape(
        answer=answer,
        hints={wrong: f"For {name}: {hint}" for wrong, hint in hints.items()},
        otherwise=f"For {name}: {{given}} doesn't fit. The target has {count_axes(target)} and the source "
        f"{len(source)}. Write the target's, then the source's, each with its length.",
    )


def count_axes(axes: Axes) -> str:
    """Return "2 axes", or "1 axis"."""
    return f"{len(axes)} {'axis' if len(axes) == 1 else 'axes'}"


SHAPES = Table(
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
    parts={
        "a": shape("a", (), (3,)),
        "b": shape("b", (4,), (3,)),
        "c": shape("c", (4,), (4, 3)),
        "d": shape("d", (8, 5), ()),
        "e": shape(
            "e",
            (8, 6),
            (5, 6),
            {(8, 5, 5, 6): "5 isn't the length of the target's axis 1: the layer makes 6 numbers of each row of 5."},
        ),
        "f": shape(
            "f",
            (8, 6),
            (6,),
            {
                (8, 6, 5): "5 isn't the length of the source's axis 0: the layer has a bias for each of its 6 outputs.",
                (8, 6, 5, 6): "That is for the kernel. The bias has one axis, of length 6.",
            },
        ),
    },
    why="The target's shape, and then the source's; a scalar has the shape () and adds no axis.",
    minutes=4,
)

RANDOM = np.random.default_rng(1013)
TARGETS_AND_SOURCES = (((4,), (4,)), ((3,), (2,)), ((2, 3), (4,)), ((), (3,)), ((2,), (3, 2)), ((5,), ()))
NO_AXIS = "A scalar target has no axis, so there is nothing to sum: axis=() leaves the Jacobian as it is."
NOT_A_TUPLE = "`np.sum` takes one axis or a *tuple* of axes, not a list or a range: wrap it in `tuple(...)`."
ALL_AXES = "Sum over all of its axes, a tuple of them."


def over_the_target(jacobian: Any, ndim: int) -> Any:
    """Return the gradient."""
    return np.sum(jacobian, axis=tuple(range(ndim)))


def by_old_numbers(jacobian: Any, ndim: int) -> Any:
    """Sum over one axis after the other, as though the others kept their numbers."""
    for axis in range(ndim):
        jacobian = np.sum(jacobian, axis=axis)
    return jacobian


GRADIENT_FROM = Function(
    "The gradient as a sum of the Jacobian",
    """\
Write a function that turns a Jacobian into the gradient. `target_ndim` is the number of the target's axes: 0 for a scalar, 1 for a vector, and so on. For a target with 2 axes, those are the axes 0 and 1; `tuple(range(2))` is `(0, 1)`, and `np.sum` accepts a tuple of axes.""",
    signature="gradient_from(jacobian, target_ndim)",
    cases=[
        (ad.constant(RANDOM.standard_normal(target + source)), len(target)) for target, source in TARGETS_AND_SOURCES
    ],
    answer=over_the_target,
    spellings=[lambda jacobian, ndim: np.reshape(jacobian, (-1, *np.shape(jacobian)[ndim:])).sum(axis=0)],
    hints=[
        (
            lambda jacobian, ndim: np.diagonal(jacobian),
            "This is the diagonal. The gradient adds up the slopes of all outputs, a whole column for each input.",
        ),
        (
            lambda jacobian, ndim: np.sum(jacobian),
            "This is the sum of all slopes. Keep the inputs apart: sum over the axes of the target only.",
        ),
        (
            lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(ndim, jacobian.ndim))),
            "You summed over the axes of the source, which come last. Those of the target come first.",
        ),
        (
            lambda jacobian, ndim: np.mean(jacobian, axis=tuple(range(ndim))),
            "This is the mean over the outputs. The gradient is that of their sum.",
        ),
        (lambda jacobian, ndim: jacobian, "Nothing is summed yet."),
        (
            lambda jacobian, ndim: np.sum(jacobian, axis=0),
            f"Only the first axis is summed, and a target may have more. {ALL_AXES}",
        ),
        (
            lambda jacobian, ndim: np.sum(jacobian, axis=ndim - 1),
            f"Only the last axis of the target is summed. {ALL_AXES}",
        ),
        (
            lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(max(ndim, 1)))),
            NO_AXIS,
        ),
        (
            lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(ndim)) or None),
            NO_AXIS,
        ),
        (lambda jacobian, ndim: np.sum(jacobian, axis=list(range(ndim))), NOT_A_TUPLE),
        (lambda jacobian, ndim: np.sum(jacobian, axis=range(ndim)), NOT_A_TUPLE),
        (
            by_old_numbers,
            "The second sum went over an axis of the source: once axis 0 is summed, the others move up by one. "
            "Sum over both axes in one call, with a tuple.",
        ),
        (
            lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(ndim)), keepdims=True),
            "The numbers are right, but axes of length 1 are left. The gradient has the shape of the source.",
        ),
    ],
    otherwise="Add up the slopes over the axes of the target: what is left has the shape of the source. One of the "
    "gradients should be {answer}, and yours is {given}.",
    why="The outputs are added up, and what's left has the source's shape, for targets with 0, 1 and 2 axes.",
    minutes=3,
)

OTHER = {"forward": "reverse", "reverse": "forward"}


def mode(name: str, answer: str, hint: str) -> Choice:
    """Return the form for one case of exercise 3."""
    words = {"forward": "forward", "reverse": "reverse", "backward": "reverse"}
    return Choice(answer=answer, choices=words, hints={OTHER[answer]: f"For {name}: {hint}"})


MODES = {
    "a": mode(
        "a",
        "reverse",
        "A loss is one output: a single seed gives all 10,000 slopes. Forward would push 10,000 tangents.",
    ),
    "b": mode(
        "b", "forward", "There is one input: a single tangent moves all 201 points. Reverse would pull back 201 seeds."
    ),
    "c": mode("c", "reverse", "Compare 10 seeds with 784 tangents: the Jacobian is wide, 10 rows and 784 columns."),
    "d": mode("d", "forward", "Compare 6 tangents with 150 seeds: the Jacobian is tall, 150 rows and 6 columns."),
    "e": mode(
        "e",
        "forward",
        "You don't need the Jacobian, only its product with one direction of the inputs. How many tangents is that?",
    ),
    "f": mode(
        "f",
        "reverse",
        "You don't need the Jacobian, only one mixture of its rows. The weights of the sum are a single seed.",
    ),
}

CHOOSE_THE_MODE = Table(
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
    parts=MODES,
    hints=[
        (
            {name: OTHER[part.answer] for name, part in MODES.items()},
            "All six are the wrong way round. Reverse needs a seed for each output, forward a tangent for each input.",
        )
    ],
    why="Few outputs: pull their seeds back. Few inputs: push their tangents forward.",
    minutes=3,
)

QUESTIONS = (*PREDICTIONS, SHAPES, GRADIENT_FROM, CHOOSE_THE_MODE)
