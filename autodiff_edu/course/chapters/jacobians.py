"""Jacobians: built from seeds and from tangents, bracketed from either end, and not to be read off a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Move, Outcome, Seed
from ...trace.hook import hook
from ..exercises import Case, Choice, Function, Number, Table
from ..feedback import NotYet, forbid, near
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "You may turn one motor only, a little and counterclockwise. Which one moves the hand most nearly in the cup's direction?",
        answer="motor 1",
        choices=("motor 0", "motor 1", "motor 2"),
        hints={
            "motor 0": "The hand swings around motor 0, at a right angle to the line from there to the hand: up, and a little to the *left*.",
            "motor 2": "The hand swings around motor 2, at a right angle to the last link: more to the right than up.",
        },
        why="Around motor 1 the hand swings up and a little to the right.",
    ),
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
        "How many times as many multiplications does A (B C) take as (A B) C?",
        answer="25 times as many",
        choices=("as many", "2 times as many", "25 times as many", "2,500 times as many"),
        hints={
            "as many": "A B is a single row. How large is B C?",
            "2 times as many": "A row times a 50×50 matrix takes 50 · 50 multiplications. And a 50×50 matrix times another?",
            "2,500 times as many": "B C takes 50 · 50 · 50 multiplications. A row times one of these matrices takes 50 · 50, and not just 50.",
        },
        why="50³ + 50² against 2 · 50²: 127,500 against 5,000.",
    ),
    Prediction(
        "v = (0, 1, −1): motor 1 turns, and motor 2 turns back as fast. Which way does the hand move?",
        answer="up, a little to the left",
        choices=("up, a little to the left", "up, a little to the right", "to the right", "not at all"),
        hints={
            "up, a little to the right": "That's motor 1 alone. Take motor 2's arrow away from it.",
            "to the right": "That's about where motor 2 alone would take it. Motor 2 turns *back*.",
            "not at all": "The last link keeps its direction in the plane. But where does it start, once motor 1 has turned?",
        },
        why="Column 1 minus column 2.",
    ),
    Prediction(
        "`squares` has two inputs and three outputs. How many one-hot vectors fill its Jacobian, from the end that needs fewer?",
        answer=2,
        hints={
            3: "That's from the output: a seed for each of the three. And from the input?",
            6: "One vector fills a whole row or a whole column.",
            1: "One vector is a single row or column. How many columns are there?",
            5: "You need one of the two ways, not both.",
        },
        why="A tangent for each input, and there are only two.",
    ),
    Prediction(
        "201 points, one shift. What is the shape of the Jacobian of the points with respect to `delta`?",
        answer=(201,),
        hints={
            (201, 1): "`delta` is a single number. Its shape is (), which adds no axis.",
            (1, 201): "The outputs come first. And `delta` is a single number, of shape (), which adds no axis.",
            (201, 201): "That's the shape with respect to the points. The source is `delta`.",
            (): "That's the shape of the gradient, in which all 201 slopes are added up.",
            (1,): "`delta` is one number, but each of the 201 points has a slope.",
        },
        why="The target's shape, (201,), and then the source's, ().",
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
            5: "That's the diagonal, added up. Take the first column.",
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
    Prediction(
        "The whole way in a single step, by the arrows at the start: where does the hand end?",
        answer="nearer, but not there",
        choices=("at the cup", "nearer, but not there", "farther away than at the start"),
        hints={
            "at the cup": "It would, if the hand moved along the arrows. It moves on circles.",
            "farther away than at the start": "The arrows do point the right way at first. It's the length of the step that is wrong.",
        },
        why="The arrows point the right way at the start, and the hand leaves them on the way.",
    ),
)


def links(x: Any) -> Any:
    """Return two outputs of three inputs."""
    angles = np.cumsum(x)
    return np.stack([np.sum(np.cos(angles)), np.sum(np.sin(angles))])


def curve(x: Any) -> Any:
    """Return four outputs of two inputs."""
    return np.stack([x[0] * x[1], np.sin(x[0]), x[1] ** 2, x[0] / x[1]])


CASES = [
    (f, np.array(x), mode)
    for mode in ("reverse", "forward")
    for f, x in ((links, [0.3, -0.8, 1.1]), (curve, [0.7, 1.9]))
]


def built(f: Callable[[Any], Any], x: Any, mode: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what calls a learner's function for one case, and refuses what is ready-made or from the other end."""
    begun, name = (Move, "tangents, by `ad.jvp`") if mode == "forward" else (Seed, "seeds, by `ad.vjp`")
    right = ad.jacobian(f)(x).numpy()

    def of_itself(given: Any) -> Any:
        if isinstance(given, tuple):
            raise NotYet("`f` was called with a tuple. `ad.vjp` takes `x` itself; only `ad.jvp` takes tuples.")
        return f(given)

    def run(function: Callable[..., Any]) -> Any:
        own = forbid(of_itself, {ad.jacobian(f).__code__: "ad.jacobian"}, "build it from `ad.vjp` and `ad.jvp`.")
        events: list[Event] = []
        with hook(events.append):
            result = function(own, x.copy(), mode)
        if near(result, right):
            if any(isinstance(event, Outcome) and event.word == "jacobian" for event in events):
                raise NotYet("That is `tape.jacobian`, which this exercise leaves to you: build it from vectors.")
            if not any(isinstance(event, begun) for event in events):
                raise NotYet(f"The numbers are right. But with mode={mode!r}, build them from {name}.")
        return result

    return run


def rows(f: Any, x: Any) -> Any:
    """Return the Jacobian from one-hot seeds."""
    value, pull_back = ad.vjp(f, x)
    return np.stack([pull_back(seed).numpy() for seed in np.eye(len(value))])


def columns(f: Any, x: Any) -> Any:
    """Return the Jacobian from one-hot tangents."""
    return np.stack([ad.jvp(f, (x,), (tangent,))[1].numpy() for tangent in np.eye(len(x))], axis=1)


def build(f: Any, x: Any, mode: str) -> Any:
    """Return the Jacobian, from either end."""
    return columns(f, x) if mode == "forward" else rows(f, x)


BUILD = Function(
    "Build it",
    """\
Write `build(f, x, mode)`: the Jacobian of `f` at the array `x`, a row for each output and a column for each input. With `mode="reverse"` build it from seeds, by `ad.vjp`; with `mode="forward"` from tangents, by `ad.jvp`. `f` returns a tensor with one axis. (`np.eye(3)` has the three one-hot vectors as its rows, and `np.stack` puts arrays together.)""",
    signature="build(f, x, mode)",
    cases=[
        Case(
            built(f, x, mode),
            f"With mode={mode!r} and a function of {len(x)} inputs, {{answer}} is right, and yours is {{given}}.",
        )
        for f, x, mode in CASES
    ],
    answer=build,
    spellings=[lambda f, x, mode: columns(f, x) if mode == "forward" else ad.constant(rows(f, x))],
    hints=[
        (
            lambda f, x, mode: columns(f, x).T if mode == "forward" else rows(f, x),
            "From seeds it's right. From tangents it lies on its side: each tangent gives a *column*. "
            "`np.stack` has an `axis`.",
        ),
        (
            lambda f, x, mode: columns(f, x) if mode == "forward" else rows(f, x).T,
            "From tangents it's right. From seeds it lies on its side: each seed gives a *row*.",
        ),
        (
            lambda f, x, mode: build(f, x, mode).T,
            "It lies on its side: a row for each output, a column for each input.",
        ),
        (
            lambda f, x, mode: np.sum(rows(f, x), axis=0),
            "That's the gradient, with all outputs added up. Use a seed with a single 1 for each output.",
        ),
        (
            lambda f, x, mode: columns(f, x) if mode == "forward" else ad.vjp(f, x)[1](np.eye(len(x))),
            "{raised} From seeds: pull them back one by one, and each has as many numbers as `f` has *outputs*.",
        ),
        (
            lambda f, x, mode: np.stack([ad.vjp(f, x)[1](seed).numpy() for seed in np.eye(len(x))]),
            "{raised} A seed has as many numbers as `f` has *outputs*. How many does `f` return?",
        ),
        (
            lambda f, x, mode: np.stack([ad.jvp(f, (x,), (t,))[1].numpy() for t in np.eye(len(f(x)))], axis=1),
            "{raised} A tangent has as many numbers as `f` has *inputs*.",
        ),
        (
            lambda f, x, mode: np.stack([ad.vjp(f, x)(seed) for seed in np.eye(len(f(x)))]),  # type: ignore[operator]
            "{raised} `ad.vjp` returns two things, the value and the function that pulls a seed back.",
        ),
        (
            lambda f, x, mode: np.stack([ad.jvp(f, (x,), (t,))[0].numpy() for t in np.eye(len(x))], axis=1),
            "`ad.jvp` returns the value and the tangent. You stacked the values.",
        ),
    ],
    why="A row for each seed, a column for each tangent: one Jacobian, from either end.",
    minutes=9,
)

ENDS = "output", "input", "middle", "same"


def begin(answer: str, **hints: str) -> Choice:
    """Return the form for one chain of exercise 2."""
    return Choice(answer=answer, choices=ENDS, hints=hints)


BRACKETS = Table(
    "Where do you begin?",
    """\
Four chains, with the sizes of their values from the output to the input. Where do you begin to multiply the Jacobians, so that the fewest multiplications are needed: at the `"output"`, at the `"input"`, or in the `"middle"` (both halves up to the narrowest place first, and then the two products with each other)? Or is it the `"same"` from both ends, with no narrower place between them?

| | | sizes |
|---|---|---|
| a | the loss of a network | 1, 1000, 1000, 1000 |
| b | 500 temperatures, by 3 heaters | 500, 500, 500, 3 |
| c | a picture of 300 pixels, squeezed into 2 numbers and drawn again | 300, 300, 2, 300, 300 |
| d | 2 readings, by 2 knobs, through a simulation | 2, 300, 300, 2 |

And how many multiplications does c need, begun where you say? Write that as `"work"`.""",
    parts={
        "a": begin(
            "output",
            input="In a, begun at the input, a 1000×1000 matrix is multiplied by another.",
            middle="In a, the narrowest place is an end.",
            same="In a, compare a row times a matrix with a matrix times a matrix.",
        ),
        "b": begin(
            "input",
            output="In b, begun at the output, a 500×500 matrix is multiplied by another. How wide is the other end?",
            middle="In b, the narrowest place is an end.",
            same="In b, the ends have 500 and 3 numbers.",
        ),
        "c": begin(
            "middle",
            output="In c, begun at the output, there are 300 rows all the way. But everything passes through 2 numbers.",
            input="In c, begun at the input, there are 300 columns all the way. But everything passes through 2 numbers.",
            same="From either end c costs the same. Is there a third bracket?",
        ),
        "d": begin(
            "same",
            output="In d, there are two rows from the output. How many columns are there from the input?",
            input="In d, there are two columns from the input. How many rows are there from the output?",
            middle="In d, the middle is the widest place.",
        ),
        "work": Number(
            answer=540_000,
            hints={
                27_360_000: "That's c from one of its ends: 300 rows or columns all the way.",
                360_000: "That's the two products up to the 2. They still have to be multiplied with each other.",
                180_000: "That's one product. c needs three: one on each side of the 2, and then these with each other.",
                720_000: "Three products are enough: (300×300)(300×2), (2×300)(300×300), and then these with each other.",
            },
            otherwise="c needs three products: one on each side of the 2, and then these with each other.",
        ),
    },
    why="A product is cheap while one side of it is narrow, so begin where the chain is narrowest, which needn't be an end.",
    minutes=7,
)


def own(answer: str, hint: str) -> Choice:
    """Return the form for one repair of exercise 3."""
    return Choice(answer=answer, choices=("yes", "no"), hints={"no" if answer == "yes" else "yes": hint})


MIRROR = Table(
    "A mirror on three screws",
    """\
A thin mirror stands on three screws in a row. A screw that is turned by 1 lifts the glass above it by 1, and presses it down by 0.6 above the screws beside it. A colleague wants the height 1 everywhere: "The gradient says how much each height changes with its own screw. I divide by that, so one step should be enough." Run the cell below. It gets worse, and fast.

- By which number does the program divide for the *middle* screw? Write it as `"divisor"`.
- Which repairs bring all three heights to 1, to two decimals, within a hundred turns of the loop? Answer `"yes"` or `"no"`. `"half"`: multiply the step by 0.5. `"positive"`: divide by `np.abs(tape.gradient(heights, screws))`. `"diagonal"`: divide by `np.diagonal(tape.jacobian(heights, screws))`.
- The step `np.linalg.solve(tape.jacobian(heights, screws).numpy(), (goal - heights).numpy())` uses all nine slopes. After how many steps do all heights show 1? Write that as `"steps"`.""",
    parts={
        "divisor": Number(
            answer=-0.2,
            hints={
                1: "That's how the middle height changes with its own screw: the diagonal. What does a gradient add to it?",
                0.4: "That's for an outer screw, which has one neighbour. How many has the middle one?",
                -1.2: "That's what the middle screw does to its neighbours. It lifts its own place, too.",
                0.2: "One up, and two times 0.6 down. Which is more?",
                2.2: "The neighbours are pressed *down*: their slopes are −0.6.",
                1.6: "The neighbours are pressed *down*, and there are two of them.",
                -5: "That's how far the screw turned. 1 was missing, and it was divided by …?",
            },
        ),
        "half": own(
            "no",
            "In `half`, the middle height is too low. Which way does its screw turn? Half a step goes the same way.",
        ),
        "positive": own(
            "no",
            "In `positive`, the screws turn the right way. But by how many times the length? One of them is divided by 0.2.",
        ),
        "diagonal": own("yes", "In `diagonal`, the first steps wander. Give it the hundred turns: `range(100)`."),
        "steps": Number(
            answer=1,
            hints={
                0: "Turn 0 shows the heights before the first step.",
                2: "Each turn prints the heights *before* its step. Turn 1 shows what one step has done.",
            },
            otherwise="Is it `solve` with the whole Jacobian? Turn 1 shows what one step has done.",
        ),
    },
    why="The gradient adds up a column, 1 − 0.6 − 0.6. That had the wrong size and even the wrong sign.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, BUILD, BRACKETS, MIRROR)
