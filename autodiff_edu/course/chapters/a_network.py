"""A network: two rules for the reader's own tape, layers that are one, a start that is stuck, and another bend."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..exercises import Case, Choice, Exercise, Function, Table
from ..feedback import Feedback, NotYet
from ..predictions import Prediction
from .your_own_tape import fold

PREDICTIONS = (
    Prediction(
        "The dullest answer is 'Adelie', for every penguin. Of 100 penguins, how many does it name correctly?",
        answer=44,
        within=0.03,
        hints={
            33: "It would be 33 if all three species were equally frequent. Count them.",
            50: "Fewer than half of them are Adelies. How many of the 342?",
            151: "That is how many of all 342. Of 100?",
        },
        why="151 of 342. A network that does no better has learnt nothing.",
    ),
    Prediction(
        "`x` has the shape (242, 2), and `W` the shape (2, 3). What is the shape of the contribution that `x @ W` "
        "sends to `W`?",
        answer=(2, 3),
        hints={
            (242, 3): "That is the shape of `x @ W`, and of the cotangent g that arrives there.",
            (3, 2): "A gradient has the shape of its source.",
            (242, 2): "That is the shape of x.",
            (3,): "That is the shape of the offsets. What shape is `W`?",
        },
        why="The shape of its source, as always. The only product of x and g that has it is `x.T @ g`.",
    ),
    Prediction(
        "How many entries will one turn of the network with two layers leave on the tape: the scores, the error, and "
        "the mean of its square?",
        answer=7,
        within=0,
        hints={
            4: "The two layers alone have four: `@` and `+`, twice. Then comes the loss.",
            5: "The two layers have four: `@` and `+`, twice. And the loss has more than one.",
            6: "Count the loss again: minus, times, mean.",
            8: "Nothing else is done to the hidden layer here.",
            242: "An operation on an array is one entry, however many penguins are in it.",
        },
        why="`@`, `+`, `@`, `+`, and for the loss minus, times and the mean.",
    ),
    Prediction(
        "One layer alone names 89 of the 100 new penguins correctly. How many will this network with two layers name?",
        answer="89 again",
        choices=("about 75", "89 again", "about 93", "about 98"),
        hints={
            "about 75": "It can do whatever one layer can do. So why should it do worse?",
            "about 93": "It has almost six times as many parameters. But what does `(x @ W1) @ W2` compute that `x @ W` "
            "can't?",
            "about 98": "It has almost six times as many parameters. But what does `(x @ W1) @ W2` compute that `x @ W` "
            "can't?",
        },
        why="The very same penguins, in fact.",
    ),
    Prediction(
        "With `np.tanh` between the layers, how many of the 100 new penguins are named correctly?",
        answer="about 98",
        choices=("still 89", "about 92", "about 98", "all 100"),
        hints={
            "still 89": "`tanh` can't be multiplied out, so two layers aren't one any more.",
            "about 92": "Look at the picture of the bills: of 100 penguins, how many lie inside another cloud?",
            "all 100": "Look at the picture of the bills: doesn't any penguin lie inside another cloud?",
        },
        why="The two that are left lie close to penguins of another species.",
    ),
    Prediction(
        "Put 100 others aside, four times. How will the two networks compare?",
        answer="the figures change, and with `tanh` more are right each time",
        choices=(
            "98 are right with `tanh`, each time",
            "the figures change, and with `tanh` more are right each time",
            "sometimes one is ahead, sometimes the other",
        ),
        hints={
            "98 are right with `tanh`, each time": "Two were wrong. With 100 others, why just as many?",
            "sometimes one is ahead, sometimes the other": "The gap was 9 of 100. How likely is it to turn round in four tries?",
        },
        why="A figure from 100 penguins has some luck in it, and so has the gap: it is between 2 and 9 here.",
    ),
    Prediction(
        "With a single hidden unit in place of eight, how many of the 100 new penguins are named correctly?",
        answer="about 75",
        choices=("43, as many as there are Adelies", "about 75", "89, as without `tanh`", "98"),
        hints={
            "43, as many as there are Adelies": "It still learns. One number can tell at least two species apart.",
            "89, as without `tanh`": "One layer alone has three scores of its own. Here all three scores are made of one "
            "number.",
            "98": "All three scores are then made of one number. Can it put three species in their places?",
        },
        why="From the Adelies to the Gentoos, each score can now only rise or only fall. No Chinstrap is named correctly.",
    ),
    Prediction(
        "The real walk deletes a value's cotangent as soon as it has been read (`del`), unless you asked for it. Why "
        "is that allowed?",
        answer="nothing more can arrive there",
        choices=(
            "the value was used only once",
            "nothing more can arrive there",
            "Python would delete it anyway",
        ),
        hints={
            "the value was used only once": "It may have been used often. Where on the tape are all the lines that use "
            "it?",
            "Python would delete it anyway": "It is in a dict, and stays there. What is it needed for?",
        },
        why="All lines that use a value come after the one that made it, so the walk has seen them already.",
    ),
)

# Three exercises -----------------------------------------------------------------------------------------------------

Layer = tuple[Any, Any]


def _layers(seed: int, *sizes: int) -> list[Layer]:
    draw = np.random.default_rng(seed)
    return [(np.round(draw.normal(size=pair), 2), np.round(draw.normal(size=pair[1]), 2)) for pair in pairwise(sizes)]


def merge(layers: Any) -> Layer:
    """Return the one layer that does what several do, with nothing between them."""
    w, b = layers[0]
    for next_w, next_b in layers[1:]:
        w, b = w @ next_w, b @ next_w + next_b
    return w, b


def _merge(layers: Any, offset: Any, product: Any = lambda w, v: w @ v) -> Layer:
    w, b = layers[0]
    for next_w, next_b in layers[1:]:
        w, b = product(w, next_w), offset(b, next_w, next_b)
    return w, b


def _only_two(layers: Any) -> Layer:
    return merge(layers[:2])


def _unpack_two(layers: Any) -> Layer:
    (w, b), (next_w, next_b) = layers
    return w @ next_w, b @ next_w + next_b


def _with_the_new_w(layers: Any) -> Layer:
    w, b = layers[0]
    for next_w, next_b in layers[1:]:
        w = w @ next_w
        b = b @ w + next_b
    return w, b


MERGE = Function(
    "Many layers are one",
    """\
Somebody has stacked layers without anything between them. Save them some work: write `merge(layers)`. It is given a list of pairs `(W, b)`, two or more, and returns the one pair for which `x @ W + b` is what the whole stack computes: each layer is given what the one before it returns.""",
    signature="merge(layers)",
    returns=("W", "b"),
    cases=[
        (_layers(1, 3, 3, 3),),
        (_layers(2, 2, 4, 3),),
        (_layers(3, 2, 4, 3, 3),),
        (_layers(4, 2, 3, 2, 4, 1),),
    ],
    answer=merge,
    hints=[
        (
            partial(_merge, offset=lambda b, v, c: c),
            "W is right. The first offset is still missing from b: it goes through the layers that follow.",
        ),
        (
            partial(_merge, offset=lambda b, v, c: b + c),
            "W is right. The first offset doesn't arrive as it is: it goes through the next layer, as x does. "
            "Write out (x @ W1 + b1) @ W2 + b2.",
        ),
        (
            partial(_merge, offset=lambda b, v, c: b @ v),
            "W is right. The first offset goes through the next layer, and then that layer adds its own.",
        ),
        (
            lambda layers: (_merge(layers, lambda b, v, c: c, lambda w, v: v @ w)[0], ...),
            "The order of a product of matrices counts: x meets the first layer first, so W1 stands on the left.",
        ),
        (
            partial(_merge, offset=lambda b, v, c: b @ v + c, product=lambda w, v: w * v),
            "`*` multiplies element by element. Layers are applied with `@`.",
        ),
        (_only_two, "Two layers are merged rightly. There may be more: go on until the last one."),
        (_unpack_two, "Two layers are merged rightly. There may be more: go on until the last one."),
        (
            _with_the_new_w,
            "W is right. b has gone through the new W, that of several layers. It only goes through the next layer's own.",
        ),
        (
            lambda layers: merge([layers[0], *layers]),
            "The first layer is in it twice: begin with it, and go on with `layers[1:]`.",
        ),
        (lambda layers: layers[0], "That is the first layer alone. What do those after it do to what it returns?"),
        (lambda layers: layers[-1], "That is the last layer alone. What do those before it do to x?"),
        (
            lambda layers: (sum(w for w, _ in layers), sum(b for _, b in layers)),
            "Layers are applied one after the other, so nothing is added up yet. Write out (x @ W1 + b1) @ W2 + b2.",
        ),
        (
            partial(_merge, offset=lambda b, v, c: v @ b + c),
            "W is right. An offset is a row, as x is: it stands on the left of the next layer's W.",
        ),
    ],
    why="However many layers there are, without a bend between them they are one.",
    minutes=8,
)


def _moves(*moving: str) -> dict[str, str]:
    return {name: "moves" if name in moving else "stays" for name in ("W1", "b1", "W2", "b2")}


STUCK = Table(
    "A start at zero",
    """\
A colleague trains the network with `tanh`, but starts it as the single layer was started: *all* of `W1`, `b1`, `W2` and `b2` are 0. The loss falls a little, from 0.333 to 0.21, then it stands still, and the network answers "Adelie" for every penguin. Diagnose it: within the 1,000 turns, which parameters move at all, and which stay at 0? Hand in "moves" or "stays" for each. (Walk back from the error: what do the rules of `@` and `tanh` multiply by?)""",
    parts={
        name: Choice(answer=said, choices=("moves", "stays"))
        for name, said in (("W1", "stays"), ("b1", "stays"), ("W2", "stays"), ("b2", "moves"))
    },
    hints=[
        (_moves("W1", "b1", "W2", "b2"), "If all of them moved, it would learn. What is `hidden` in the first turn?"),
        (_moves(), "Then the loss wouldn't fall at all. Which parameter's contribution is multiplied by nothing?"),
        (
            _moves("W2", "b2"),
            "What arrives at W2 is `hidden.T @ g`. What is `hidden`, if W1 and b1 are 0? And does that ever change?",
        ),
        (
            _moves("b1", "b2"),
            "What arrives at b1 has come through `g @ W2.T`. What is W2? And does that ever change?",
        ),
        (
            _moves("W1", "b1", "b2"),
            "What arrives at W1 and b1 has come through `g @ W2.T`. What is W2? And does that ever change?",
        ),
        (
            _moves("W1", "W2", "b2"),
            "What arrives at W1 has come through `g @ W2.T`, and what arrives at W2 is `hidden.T @ g`. What are W2 and "
            "`hidden`?",
        ),
        (
            _moves("W1", "b1", "W2"),
            "Something has to make up for the loss that falls. Which contribution isn't multiplied by anything?",
        ),
    ],
    otherwise="Walk back with a pencil: g arrives at the scores. What does each rule multiply it by, if all weights are "
    "0?",
    why="W2 waits for `hidden`, and `hidden` waits for W2. Only b2 learns: how frequent each species is. So weights start "
    "at random, and offsets may start at 0.",
    minutes=7,
)


def _of_maximum(rule: Any, x: Any, y: Any, g: Any) -> Any:
    """Return both contributions of a rule, each in the shape of its input, as the walk un-broadcasts them."""
    parts = rule(g, np.maximum(x, y), x, y)
    if not isinstance(parts, tuple | list) or len(parts) != 2:
        raise NotYet("Return a pair: the contribution to x, and the contribution to y.")
    shapes = map(np.shape, (x, y))
    return [
        part if part is ... else _settle(np.asarray(part), g, shape) for part, shape in zip(parts, shapes, strict=True)
    ]


def _settle(part: Any, g: Any, shape: tuple[int, ...]) -> Any:
    return part if part.shape == shape else fold(part + np.zeros(np.shape(g)), shape)


def _maximum(x: Any, y: Any, g: Any) -> Any:
    return lambda rule: _of_maximum(rule, x, y, g)


ONE = np.array([0.5, -2.0, 3.0, -0.1])
OTHER = np.array([2.5, -1.0, 0.0, 5.0])
BEND = Function(
    "Another bend",
    """\
Many networks bend with `np.maximum(h, 0.0)` in place of `tanh`. That bend is called *relu*. `np.maximum` has two inputs, and your tape has no rule for it. Write one for any `x` and `y`, such as two arrays: `rule(g, z, x, y)` returns a pair, the contribution to `x` and the contribution to `y`. What happens where `x` equals `y` is up to you.""",
    signature="rule(g, z, x, y)",
    cases=[
        Case(
            _maximum(np.float64(3.0), np.float64(-1.0), np.float64(-2.0)),
            "At x = 3 and y = -1 the larger one is x. Nudge each: how far does z move?",
        ),
        Case(
            _maximum(ONE, OTHER, np.array([1.0, -2.0, 3.0, 4.0])),
            "Try it with a pencil, one element after another: which of the two is larger there?",
        ),
        Case(
            _maximum(ONE, np.float64(0.0), np.array([1.0, -2.0, 3.0, 4.0])),
            "It is right for two arrays of the same shape, but y may be a plain 0.0.",
        ),
    ],
    answer=lambda g, z, x, y: (g * (x > y), g * (x < y)),
    spellings=[
        lambda g, z, x, y: (np.where(x >= y, g, 0.0), np.where(x >= y, 0.0, g)),
        lambda g, z, x, y: [g * (z == x), g * (z == y)],
    ],
    hints=[
        (
            lambda g, z, x, y: (np.maximum(g, 0.0), np.maximum(g, 0.0)),
            "The maximum is taken of x and y, not of g: a cotangent may be negative. Which input moves z?",
        ),
        (
            lambda g, z, x, y: (np.maximum(g, x), np.maximum(g, y)),
            "The maximum is taken of x and y, not of g. Which input moves z?",
        ),
        (lambda g, z, x, y: (g, g), "That is the rule of `x + y`. If the smaller one is nudged a little, does z move?"),
        (
            lambda g, z, x, y: (g * z, g * z),
            "z is the value of the larger one. How far does z move for each unit of a nudge?",
        ),
        (
            lambda g, z, x, y: (np.maximum(g * x, 0.0), np.maximum(g * y, 0.0)),
            "Multiply g by a slope, which is 1 or 0 here, not by a value.",
        ),
        (
            lambda g, z, x, y: (g * x * (x > y), g * y * (x < y)),
            "Multiply g by a slope, which is 1 or 0 here, not by a value.",
        ),
        (
            lambda g, z, x, y: (1.0 * (x > y), 1.0 * (x < y)),
            "Those are the slopes of this line. The cotangent g has to be multiplied by them.",
        ),
        (
            lambda g, z, x, y: (g * (x < y), g * (x > y)),
            "Here x gets what y should get, and y what x should: the larger one moves z.",
        ),
        (
            lambda g, z, x, y: (g * (x > 0.0), g * (y > 0.0)),
            "You compare with 0. The other input is y, which may be anything.",
        ),
        (
            lambda g, z, x, y: (g, 0.0) if x > y else (0.0, g),
            "For arrays, a comparison is an array, too, and an `if` can't ask it: multiply by it. (Is it x and y that you "
            "compare?)",
        ),
        (
            lambda g, z, x, y: (g * (x > 0.0), np.zeros(np.shape(g))),
            "That is the rule of relu, where y is 0. Here y may be anything, and it has a contribution of its own.",
        ),
        (
            lambda g, z, x, y: (g * (x > y), -g * (x < y)),
            "x is right. Where y is the larger one, z rises with y: which sign does the slope have?",
        ),
        (lambda g, z, x, y: (g * (x > y), g), "x is right. Where x is the larger one, a nudge of y does nothing."),
        (
            lambda g, z, x, y: (g * (x > y), np.zeros(np.shape(g))),
            "x is right. Where y is the larger one, a nudge of y moves z.",
        ),
    ],
    why="The cotangent goes to the larger one, all of it. Put it in place of `tanh`, and train again.",
    minutes=8,
)

# The gaps: two rules for the reader's tape -----------------------------------------------------------------------------

X, Y = np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 4.0]]), np.array([[0.5, -1.0, 2.0, 3.0], [1.0, 4.0, -2.0, 0.0]])
G = np.array([[1.0, -2.0, 0.5, 3.0], [2.0, 1.0, -1.0, 0.0], [4.0, 0.0, 1.0, 2.0]])
AT = np.array([0.5, -1.0, 2.0])

GAPS: tuple[Function, ...] = (
    Function(
        signature="matmul_rule(g, z, x, y)",
        returns=("what goes to x", "what goes to y"),
        cases=[(G, X @ Y, X, Y), (G[:, :2] @ Y, X @ Y[:, :2] @ Y, X @ Y[:, :2], Y)],
        answer=lambda g, z, x, y: (g @ y.T, x.T @ g),
        hints=[
            (
                lambda g, z, x, y: (g * y, g * x),
                "That is the rule of `x * y`: {raised}",
            ),
            (
                lambda g, z, x, y: (g @ y, x @ g),
                "The shapes don't fit. Which factor has to be transposed, and which one stands on the left? {raised}",
            ),
            (lambda g, z, x, y: (x.T @ g, g @ y.T), "The two have changed places: the first one goes to x."),
            (lambda g, z, x, y: (y.T, x.T), "The cotangent g is left out."),
            (lambda g, z, x, y: (g @ y.T, g.T @ x), "The second has the shape of `y.T`. The shape of y is needed."),
        ],
        why="Each contribution has the shape of its source.",
    ),
    Function(
        signature="tanh_rule(g, z, x)",
        cases=[
            Case(
                lambda rule: _single(rule(np.array([1.0, 3.0, -2.0]), np.tanh(AT), AT)),
                "The slope of tanh is 1 - tanh(x) ** 2, and z is tanh(x).",
            ),
            Case(
                lambda rule: len(rule(np.array([1.0, 3.0, -2.0]), np.tanh(AT), AT)) == 1,
                "The contribution is right, but it isn't in a tuple, so the walk would take its first row for all of "
                "it. Mind the comma: `(...,)`.",
            ),
        ],
        answer=lambda g, z, x: (g * (1.0 - z * z),),
        spellings=[lambda g, z, x: (g / np.cosh(x) ** 2,), lambda g, z, x: [g * (1.0 - np.tanh(x) ** 2)]],
        hints=[
            (lambda g, z, x: (g * (1.0 - x * x),), "It is 1 - tanh(x) ** 2, and x isn't tanh(x). What is?"),
            (
                lambda g, z, x: (g * (1.0 - np.tanh(z) ** 2),),
                "z is tanh(x) already, and you use it as if it were x.",
            ),
            (lambda g, z, x: (1.0 - z * z,), "The cotangent g is left out: multiply by it."),
            (lambda g, z, x: (g * (1.0 - z),), "There is a square in it: 1 - tanh(x) ** 2."),
            (lambda g, z, x: (g - z * z,), "g multiplies the whole slope: put brackets around 1 - z * z."),
            (lambda g, z, x: (1.0 - g * z * z,), "g multiplies the whole slope: put brackets around 1 - z * z."),
            (lambda g, z, x: (g * (z * z - 1.0),), "The sign has changed: tanh rises, so its slope isn't negative."),
            (lambda g, z, x: (g * (1 - z ^ 2),), "Python's power is `**`."),
            (lambda g, z, x: (g * z,), "That is the rule of `np.exp`."),
        ],
        why="z is in the rule, so nothing has to be computed again.",
    ),
)


def _single(parts: Any) -> Any:
    """Return the contributions of a rule as a list; an array that isn't in a tuple is one of them."""
    if isinstance(parts, np.ndarray):
        return list(parts) if parts.ndim > 1 else [parts]
    return parts


def check_gap(number: int, answer: Any) -> Feedback:
    """Judge a rule that the reader has written for their own tape, as `check` judges an answer.

    Parameters
    ----------
    number : int
        Which of the chapter's gaps, from 1.
    answer : object
        The rule.

    Examples
    --------
    >>> check_gap(2, lambda g, z, x: (g * z,))
    Gap 2: Not yet. That is the rule of `np.exp`.
    """
    gap: Exercise = GAPS[number - 1]
    return gap.respond(f"Gap {number}", answer)


QUESTIONS = (*PREDICTIONS, MERGE, STUCK, BEND)
