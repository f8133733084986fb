"""Training: its predictions; a ward round, a start that is measured, and the layer that is ill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Shown 100 new penguins of three species, how many different answers does A give?",
        answer="1",
        choices=("1", "2", "3"),
        hints={
            "2": "Its loss stays near 1. Guessing all three species alike would cost log 3, about 1.1.",
            "3": "Its loss stays near 1. Guessing all three species alike would cost log 3, about 1.1.",
        },
        why="Every penguin gets the same answer, the most common species.",
    ),
    Prediction(
        "Untrained, and given millimetres: in which layer of A are nearly all values -1 or 1?",
        answer="the first",
        choices=("none", "the first", "the third", "all three"),
        hints={
            "none": "What is the tanh of a number such as 20?",
            "the third": "Which layer gets the large numbers?",
            "all three": "The second layer gets the first one's values, between -1 and 1, not the millimetres.",
        },
        why="Only the first layer gets the large numbers. The next ones get numbers between -1 and 1.",
    ),
    Prediction(
        "With the rate 5, B's loss jumped above 100. After its 200 turns, how large are the slopes of its first layer's "
        "weights?",
        answer="exactly 0",
        choices=("exactly 0", "about 0.00001", "about 0.1", "nan"),
        hints={
            "about 0.00001": "That would be a saturated tanh, which passes on a little. What does relu pass on below 0?",
            "about 0.1": "With such slopes it would learn, and its loss has stood still for long.",
            "nan": "Its loss is a number. Nothing overflowed.",
        },
        why="Where relu gets a negative number its slope is 0, and 0 times anything is 0.",
    ),
    Prediction(
        "At the rate 10, how long is C's first step in its third layer, compared with the weights there?",
        answer="more than the weights",
        choices=("about 1 %", "about 10 %", "more than the weights"),
        hints={
            "about 1 %": "A step of 1 % would hardly make the loss jump.",
            "about 10 %": "The loss of C rises at once. Think of a longer step.",
        },
        why="The step is longer than what it changes.",
    ),
    Prediction(
        "If the slopes hardly change, the rate 0.01 with momentum 0.9 acts like which rate without?",
        answer=0.1,
        hints={
            0.019: "1 + 0.9 is only the second turn. The sum goes on: 0.81 and so on.",
            0.009: "Each turn keeps 0.9 of the last step *and* adds the new slope.",
            0.01: "Each step adds 0.9 of the last one to it. What does 1 + 0.9 + 0.81 + … come to?",
            0.09: "1 + 0.9 + 0.81 + … begins with 1. What does it come to?",
        },
        why="1 + 0.9 + 0.81 + … is 1/(1 − 0.9) = 10.",
    ),
    Prediction(
        "D's loss trembles near 1. Whose chart will D's resemble?",
        answer="the untrained one's",
        choices=("A's", "B's", "the untrained one's"),
        hints={
            "A's": "Its bills are scaled, and its start is that of the healthy network.",
            "B's": "It bends with tanh, which has a slope everywhere.",
        },
        why="All its values are spread out, and slopes reach all layers: nothing is broken, and nothing has been learned.",
    ),
    Prediction(
        "At most how large is s·(1 − s), the slope of a sigmoid with the value s?",
        answer=0.25,
        hints={
            1: "With s = 1 the other factor is 0. Try the middle.",
            0.5: "That is the s for which it is largest. Put it into s·(1 − s).",
            0: "That is the smallest, at both ends of the curve. Try the middle.",
        },
        why="In the middle, at s = 1/2, it is 1/2 · 1/2.",
    ),
    Prediction(
        "With flipper and mass in place of the bill, how many of the 300 will be named correctly?",
        answer="clearly fewer",
        choices=("about as many", "clearly fewer", "clearly more"),
        hints={
            "about as many": "Do two species have to differ in every measurement?",
            "clearly more": "With the bill, 97 of the first 100 were right already.",
        },
        why="Most Chinstraps are called Adelies: in these columns the two are much alike.",
    ),
)

CAUSES = ("saturated", "dead", "rate", "labels", "columns")


def _cause(answer: str, **hints: str) -> Choice:
    return Choice(answer=answer, choices=CAUSES, hints=hints)


WARD = Table(
    "Ward round",
    """\
Five charts, made up and rounded. Each network has three hidden layers, given here in order; "flat" is the share of values at which the slope of the bend is below 0.05. "Step" is the first step, as a share of the weights. The last column says how many it names correctly: of 100 penguins that it learned from, and of 100 new ones.

| | bend | flat at the start | flat now | slopes now | step | loss over time | learned from, new |
|---|---|---|---|---|---|---|---|
| P | relu | 0.5, 0.5, 0.6 | 0.5, 0.6, 1 | 0, 0, 0 | 3 % | 1.3, 1.1, 1.04 | 44, 43 |
| Q | tanh | 0, 0, 0 | 0, 0, 0 | 0.1, 0.1, 0.2 | 2 % | 1.2, 1.1, 1.04 | 45, 40 |
| R | tanh | 0, 0, 0 | 0.9, 0.9, 1 | 1, 4, 2 | 180 % | 0.9, 5, 12, 4 | 60, 58 |
| S | tanh | 1, 0.1, 0.1 | 1, 0.1, 0.1 | 3e-4, 2e-5, 1e-4 | 2 % | 1.3, 1.1, 1.04 | 44, 43 |
| T | tanh | 0, 0, 0 | 0.1, 0.1, 0.1 | 0.01, 0.01, 0.02 | 3 % | 1.1, 0.5, 0.38 | 83, 82 |

What went wrong first in each? `"saturated"` (inputs too large), `"dead"` (units, whatever killed them), `"rate"` (too high), `"labels"` (shuffled) or `"columns"` (that don't tell enough). Each occurs once.""",
    parts={
        "P": _cause(
            "dead",
            saturated="A relu never saturates above 0, and P's slopes are exactly 0.",
            rate="Its first step was 3 %. What do slopes of exactly 0 say?",
            labels="Slopes of exactly 0 have a cause inside the network. Look at its third layer.",
            columns="Slopes of exactly 0 have a cause inside the network. Look at its third layer.",
        ),
        "Q": _cause(
            "labels",
            saturated="None of its values is flat.",
            dead="None of its values is flat, and its slopes aren't 0.",
            rate="Its first step was 2 %.",
            columns="With columns that tell a little it would learn a little. It learned no more than how common each is.",
        ),
        "R": _cause(
            "rate",
            saturated="It is saturated now. Was it at the start? What happened in between?",
            dead="Its slopes aren't 0, and tanh has a slope everywhere.",
            labels="With wrong labels and short steps, a loss doesn't jump to 12.",
            columns="Columns that tell little don't make a loss jump to 12.",
        ),
        "S": _cause(
            "saturated",
            dead="tanh has a slope everywhere, and its slopes aren't exactly 0.",
            rate="Its first step was 2 %, and it was flat before that.",
            labels="Something in its first layer is wrong before it sees a label.",
            columns="Something in its first layer is wrong, from the start. Look there first.",
        ),
        "T": _cause(
            "columns",
            saturated="Nine of ten values aren't flat, and its loss falls.",
            dead="Its slopes aren't 0, and its loss falls.",
            rate="Its first step was 3 %, and its loss falls.",
            labels="It names 82 of 100 new penguins rightly, which it couldn't have learned from shuffled labels.",
        ),
    },
    why="R and S are both saturated now. Only S was so at the start.",
    minutes=8,
)

DRAW = np.random.default_rng(2020)
PENGUINS = DRAW.normal(size=(30, 2)) * (5.0, 2.0) + (44.0, 17.0)
STACK = [DRAW.normal(size=pair) for pair in ((2, 6), (6, 6), (6, 4))]
PLAIN, SINGLE = DRAW.normal(size=(20, 3)), [3.0 * DRAW.normal(size=(3, 5))]


def fit_start(
    x: Any, weights: Any, go_on: Callable[[Any, Any], Any] = lambda x, w: np.tanh(x @ w), size: Any = np.std
) -> Any:
    """Return weights divided by the size of what they make; `go_on` is what the next layer is given."""
    found = []
    for w in weights:
        found.append(w / size(x @ w))
        x = go_on(x, found[-1])
    return found


def unscaled(x: Any, weights: Any) -> Any:
    """Measure each layer behind layers that haven't been repaired."""
    found = []
    for w in weights:
        found.append(w / np.std(x @ w))
        x = np.tanh(x @ w)
    return found


def _weights(x: Any, weights: Any) -> Callable[[Any], Any]:
    def of(f: Any) -> Any:
        given = f(x.copy(), [w.copy() for w in weights])
        if given is ...:
            return ...
        if not isinstance(given, list | tuple) or len(given) != len(weights):
            raise NotYet(f"Return a list with a matrix for each layer. Yours is {shorten(given)}.")
        return [np.asarray(each) for each in given]

    return of


FITTED = Function(
    "A start that is measured",
    """\
How large should weights be at the start? Don't calculate: measure. Write `fitted(x, weights)`. It is given a batch `x` and a list of matrices, those of a network without offsets that bends with `tanh` after each product. Divide each matrix by one number, so that all numbers in `x @ W` together have the standard deviation 1. Here `x` is what the layers before pass on, once divided. Return the list of the new matrices.""",
    signature="fitted(x, weights)",
    cases=[
        Case(_weights(PLAIN, SINGLE), "For a single layer the matrix should be divided by the deviation of x @ W."),
        Case(
            _weights(PENGUINS, STACK),
            "A single layer is right. With three, measure each with what reaches it: bent, and behind repaired layers.",
        ),
    ],
    answer=fit_start,
    hints=[
        (
            lambda x, weights: fit_start(x, weights, go_on=lambda x, w: x @ w),
            "The first layer is right. The next one gets its values after the bend: `np.tanh`.",
        ),
        (
            unscaled,
            "The first layer is right. The next one has to be measured behind the *repaired* first layer.",
        ),
        (
            lambda x, weights: fit_start(x, weights, size=np.var),
            "Divided by the variance, the deviation isn't 1. Divide by its root.",
        ),
        (
            lambda x, weights: fit_start(x, weights, size=np.linalg.norm),
            "The norm grows with the number of rows. The question asks for the standard deviation.",
        ),
        (
            lambda x, weights: [w / np.std(w) for w in weights],
            "You measure the weights alone. What they make depends on x, too: measure x @ W.",
        ),
        (
            lambda x, weights: [w / np.sqrt(len(w)) for w in weights],
            "That is the rule of thumb of the chapter's networks. It doesn't know how large x is: measure x @ W.",
        ),
        (
            lambda x, weights: fit_start(x, weights, size=lambda made: np.std(np.tanh(made))),
            "You measure behind the bend. It is `x @ W`, before `tanh`, that should have the deviation 1.",
        ),
        (
            lambda x, weights: fit_start(x, weights, size=lambda made: np.std(made, axis=0)),
            "You divide each column by a number of its own. The question asks for one number for each matrix.",
        ),
        (
            lambda x, weights: fit_start(x, weights, size=lambda made: 1.0 / np.std(made)),
            "Multiplying by the deviation makes it larger still. Divide.",
        ),
    ],
    why="Each layer now gets numbers that differ by about 1, whatever the units of x. What all samples share stays: subtract the means, too.",
    minutes=8,
)


def _stack(seed: int, ill: int, by_offset: bool) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    layers = [(draw.normal(size=(5, 5)) / np.sqrt(5.0), 0.1 * draw.normal(size=5)) for _ in range(4)]
    w, b = layers[ill]
    layers[ill] = (w, b + 6.0 * np.sign(b)) if by_offset else (20.0 * w, b)
    return draw.normal(size=(40, 5)), layers


def ill_layer(x: Any, layers: Any) -> int:
    """Return the place of the layer whose bend lets the least through."""
    passes = []
    for w, b in layers:
        x = np.tanh(x @ w + b)
        passes.append(np.mean(1.0 - x**2))
    return int(np.argmin(passes))


def _without_bend(x: Any, layers: Any) -> int:
    sizes = []
    for w, b in layers:
        x = x @ w + b
        sizes.append(np.mean(np.abs(x)))
    return int(np.argmax(sizes))


def _find_least_spread(x: Any, layers: Any) -> int:
    spreads = []
    for w, b in layers:
        x = np.tanh(x @ w + b)
        spreads.append(np.mean(np.std(x, axis=0)))
    return int(np.argmin(spreads))


def _place(seed: int, ill: int, by_offset: bool) -> Case:
    def of(f: Any) -> Any:
        x, layers = _stack(seed, ill, by_offset)
        return f(x, layers)

    how = "its offsets" if by_offset else "its weights"
    return Case(of, f"In one hidden network the ill layer is {{answer}}, through {how}, and you name {{given}}.")


def _build_cancelling() -> tuple[Any, Any]:
    """Return a network with small weights in its ill layer, and large ones, whose products cancel, in the next."""
    draw = np.random.default_rng(5)
    cancel = np.array([[1.0], [-1.0], [1.0], [-1.0], [0.0]])
    layers = [
        (0.1 * draw.normal(size=(5, 5)), np.full(5, 0.9)),
        (np.full((5, 5), 1.5), np.zeros(5)),
        (4.0 * cancel * np.ones((5, 5)), np.zeros(5)),
        (draw.normal(size=(5, 5)) / np.sqrt(5.0), np.zeros(5)),
    ]
    return draw.normal(size=(40, 5)), layers


ILL = Function(
    "Which layer is ill?",
    """\
A network with `tanh` in every layer doesn't learn, because the units of *one* of its layers are saturated. Large offsets or large weights may be why. The slopes mislead: they may be tiny in all the layers before it too, or in none of them. Write `ill_layer(x, layers)`. It is given a batch and a list of pairs `(W, b)`, and returns the place of the ill layer: 0 for the first.""",
    signature="ill_layer(x, layers)",
    cases=[
        *(_place(1, 2, False), _place(2, 1, True), _place(3, 3, True), _place(4, 0, False)),
        Case(
            lambda f: f(*_build_cancelling()),
            "In one hidden network the ill layer is {answer}, and you name {given}. Its weights aren't the largest.",
        ),
    ],
    answer=ill_layer,
    hints=[
        (
            lambda x, layers: 0,
            "You name the first layer, where slopes are often small: they have come through all the others. Ask what "
            "each layer itself lets through.",
        ),
        (
            lambda x, layers: int(np.argmax([np.linalg.norm(w) for w, _ in layers])),
            "Large weights are one way to saturate. In one hidden network it is the offsets: look at the values.",
        ),
        (
            lambda x, layers: int(np.argmax([np.linalg.norm(b) for _, b in layers])),
            "Large offsets are one way to saturate. In one hidden network it is the weights: look at the values.",
        ),
        (
            lambda x, layers: int(np.argmax([np.linalg.norm(w) + np.linalg.norm(b) for w, b in layers])),
            "Large weights needn't saturate, because what reaches them may cancel. Look at the values, and give each "
            "layer what the one before returns.",
        ),
        (
            _find_least_spread,
            "Saturated values may differ a lot, between −1 and 1. Ask how flat the bend is there: 1 − x².",
        ),
        (
            lambda x, layers: ill_layer(x, layers) + 1,
            "You count from 1. The place of the first layer is 0.",
        ),
        (
            lambda x, layers: int(np.argmax([np.mean(1.0 - np.tanh(x @ w + b) ** 2) for w, b in layers])),
            "That is the layer that lets the *most* through, and each layer has to be given what the one before returns.",
        ),
        (
            _without_bend,
            "Each layer gets its values after the bend. Is the `np.tanh` missing on the way to the next one?",
        ),
        (lambda x, layers: len(layers) - 1, "You always name the last layer. Is it the only one that may be ill?"),
    ],
    why="Slopes mix what all layers do. The values, or the slope of each bend, say where it begins.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, WARD, FITTED, ILL)
