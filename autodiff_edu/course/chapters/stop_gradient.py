"""Cutting the flow: goals that stand still, a step straight through, and how the two tools differ."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Pause
from ..exercises import Case, Function, record, slope_of
from ..feedback import near, observe
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "With `stop_gradient` around the goal of tails, what will the slope of the loss be at v = 0.5?",
        answer=0,
        hints={
            -0.5: "That is the sum of all three contributions. The one through the goal of tails is cut now.",
            0.5: "That is what tails sends through the value. What does heads send?",
            -1: "Through its goal, tails sent -0.5. That is the one that is cut.",
            None: "The value itself is still connected to v.",
        },
        why="Heads says -0.5, tails says +0.5, and the -0.5 through the goal is cut.",
    ),
    Prediction(
        "Which program has the smaller loss at the end?",
        answer="goal connected (the wrong value)",
        choices=("goal connected (the wrong value)", "goal cut (the right value)", "both the same"),
        hints={
            "goal cut (the right value)": "Which of the two really walks down that loss, with its whole gradient?",
            "both the same": "They ended at different values. Is one of them at rest at the bottom of the loss?",
        },
        why="It went down the whole gradient of that loss, and so it found its minimum.",
    ),
    Prediction(
        "With the mean of the two goals, connected, where does `v` come to rest?",
        answer="at 0.5",
        choices=("at 0.5", "at 0.75", "at 1"),
        hints={
            "at 0.75": "Where is the loss as small as it can be? Put v = (1 + v - 0.5) / 2, and solve it.",
            "at 1": "Put v = 1 into the loss. Is it 0? Is there a v at which it is?",
        },
        why="There v is equal to its goal, the loss is 0, and no way of cheating gets below 0.",
    ),
    Prediction(
        "In which of the three ways is the gradient of `y_squared` with respect to `y` still 6?",
        answer="scissors",
        choices=("pause", "reset", "scissors", "all three"),
        hints={
            "pause": "What did the tape write down about the square while it was paused?",
            "reset": "After a reset, what does the tape know of the line before it?",
            "all three": "Does the tape know, in all three, how y_squared was computed?",
        },
        why="Only there is the square on the tape: the cut comes after it.",
    ),
    Prediction(
        "`a = x * in_a_pause`, where `in_a_pause = x` stands inside a pause. What is da/dx at x = 3?",
        answer=6,
        hints={
            3: "Is `in_a_pause = x` an operation that the pause could leave out?",
            9: "9 is the value of a.",
            0: "x is watched, and a is computed from it after the pause.",
            None: "x is watched, and a is computed from it after the pause.",
        },
        why="`in_a_pause` is just another name for x, so a is x².",
    ),
    Prediction(
        "`half_cut(x)` returns `x * ad.stop_gradient(x)`, and the tape says that its slope at x = 3 is 3. What does a "
        "central difference say?",
        answer=6,
        hints={
            3: "That is what the tape says. A difference sees values alone. Which values does half_cut return?",
            9: "9 is the value.",
            None: "A difference divides one number by another, so there is always a number.",
            0: "Does the value stay the same if x grows?",
        },
        why="A cut changes no value, so half_cut(x) is x², and the slope of that is 6.",
    ),
)

START, END = np.array([1, 1, 2, 2, 3, 3]), np.array([0, 2, 1, 3, 2, 4])
PRIZES, DISCOUNT = np.array([0.0, 0.2, 0.0, -0.1, 0.0, 1.0]), 0.8
ROW = ad.constant([0.0, 0.3, 0.9, 0.4, 0.0])
cut = ad.stop_gradient
Loss = Callable[[Any, Any, Any, Any, Any], Any]


def td_loss(
    target: Callable[[Any, Any, Any], Any],
    value: Callable[[Any], Any] = lambda v: v,
    mean: Callable[[Any], Any] = np.mean,
) -> Loss:
    """Return a loss with the target `target(prizes, discount, next values)`."""
    return lambda row, start, end, prizes, discount: mean((value(row[start]) - target(prizes, discount, row[end])) ** 2)


def pauses_its_own(entered: bool) -> Loss:
    """Return a loss that pauses a tape of its own for the target, entered before or not."""

    def loss(row: Any, start: Any, end: Any, prizes: Any, discount: Any) -> Any:
        tape = ad.GradientTape()
        with tape if entered else contextlib.nullcontext(), tape.stop_recording():
            target = prizes + discount * row[end]
        return np.mean((row[start] - target) ** 2)

    return loss


def pauses_none(*args: Any) -> Any:
    """Raise what a function raises that pauses a tape it doesn't have."""
    raise NameError("name 'tape' is not defined")


def count_pauses(function: Any) -> int:
    """Return how often a tape is paused."""
    _, events = observe(function.__wrapped__, ROW, START, END, PRIZES, DISCOUNT, written="td_loss")
    return sum(isinstance(event, Pause) for event in events)


NO_TAPE = "Your function isn't given the tape that records it, so it can't pause it. A cut needs no tape."
TD_LOSS = Function(
    "Values that huddle",
    """\
A walker moves over a row of squares. The tensor `row` holds the worth of each. Move `k` leads from square `start[k]` to square `end[k]` and brings `prizes[k]` at once; the worth of the new square is multiplied by `discount`. A program takes steps down the loss below. Its author has cut the goal, or so the comment says. Yet the values that it learns are too close to each other. Find out why, and repair `td_loss(row, start, end, prizes, discount)`.""",
    signature="td_loss(row, start, end, prizes, discount)",
    cases=[
        Case(
            lambda f: record(f, ROW, START, END, PRIZES, DISCOUNT)[0],
            "The loss is {given} where {answer} is right. A cut changes no value.",
            within=1e-5,
        ),
        Case(
            lambda f: slope_of(f, ROW, START, END, PRIZES, DISCOUNT),
            "The loss is right, but its gradient is not that of the values alone. Cut the whole goal, once.",
            within=1e-5,
        ),
        Case(
            count_pauses,
            "The gradient is right, and a pause in a function that isn't given its tape does nothing. Leave it out.",
        ),
    ],
    answer=td_loss(lambda p, d, v: cut(p + d * v)),
    spellings=[td_loss(lambda p, d, v: p + d * v.numpy()), td_loss(lambda p, d, v: p + cut(v) * d)],
    hints={
        td_loss(lambda p, d, v: p + d * v): "The loss is right, but the goals still move towards the values. "
        "Which part of the goal is computed from `row`?",
        pauses_its_own(entered=True): "The loss is right, but the goals still move towards the values. You paused a "
        "tape of your own, and not the one that records, which your function isn't given. A cut needs no tape.",
        pauses_its_own(entered=False): NO_TAPE,
        pauses_none: NO_TAPE,
        td_loss(lambda p, d, v: p + d * v, value=cut): "You cut the value, so now only the goals move. Cut the "
        "other one.",
        td_loss(lambda p, d, v: cut(p + d * v), value=cut): "The loss is right, and its gradient is None: you cut the "
        "value as well. Cut the goal alone.",
        td_loss(lambda p, d, v: cut(p + d * v), mean=np.sum): "That is the sum of the squares. Take their mean.",
        td_loss(lambda p, d, v: cut(p + d * v), mean=lambda squares: np.mean(squares) / 2): "That is half of the "
        "mean. Return the whole mean of the squares.",
        td_loss(lambda p, d, v: cut(p + d * v), mean=lambda squares: squares): "Those are all squares. Return one "
        "number, their mean.",
        td_loss(lambda p, d, v: cut(p + v)): "The value of the next square should be multiplied by `discount`.",
        td_loss(lambda p, d, v: cut(d * (p + v))): "Only the next value is discounted, not the prize.",
    },
    why="The values move and the goals stand still, until the next turn computes them anew.",
    minutes=6,
)

X = ad.constant(np.random.default_rng(2013).uniform(-4.0, 4.0, 6))
STRAIGHT_THROUGH = Function(
    "Straight through a step",
    """\
`np.round` is a step function, so its gradient is `None` (chapter 6). Sometimes you want to round on the way forward and, on the way back, pretend that you hadn't. Networks whose weights must fit into a few bits are trained like that. Write `round_through(x)`: its value is `np.round(x)`, and its gradient is 1
for each element. You need one sum, one difference and one cut.""",
    signature="round_through(x)",
    cases=[
        Case(lambda f: record(f, X)[0], "Your value is {given}, and np.round gives {answer}.", within=1e-9),
        Case(
            lambda f: slope_of(f, X),
            "The value is right, and the gradient is {given}. It should be 1 everywhere.",
            within=1e-9,
        ),
    ],
    answer=lambda x: x + cut(np.round(x) - x),
    spellings=[lambda x: np.round(x) + x - cut(x), ad.custom_gradient(lambda x: (np.round(x), lambda dy: dy))],
    hints={
        lambda x: x: "The value is x itself: nothing is rounded on the way forward.",
        lambda x: x + cut(x - np.round(x)): "The difference has the wrong sign: the value is 2x - round(x).",
        lambda x: x + cut(np.round(x)): "The value is x + round(x). On the way forward x counts once too often: "
        "subtract it.",
        lambda x: np.round(x): "The value is right, and the gradient is None: there is no uncut path from x to the "
        "result. Where could a bare x go without changing the value?",
        lambda x: x + np.round(x) - x: "The value is right, and the gradient is 0: whatever comes through x cancels "
        "out. Cut the x with the minus.",
        lambda x: cut(x) + np.round(x) - x: "The value is right, and the gradient is -1: x comes through with a minus "
        "alone. Cut that x, and not the other.",
    },
    why="Rounded on the way forward, and straight through on the way back.",
    minutes=8,
)


class Trial:
    """A program, run with a `constant` that pauses the tape, and with one that cuts: what exercise 3 looks at."""

    def __init__(self, program: Callable[..., Any]) -> None:
        self.results: list[Any] = []
        self.slopes: list[Any] = []
        self.used: list[Any] = []
        for pausing in (True, False):
            x, constant = ad.constant(1.75), functools.partial(self._constant, pausing)
            self.x = x
            with ad.GradientTape(persistent=True) as self.tape:
                self.tape.watch(x)
                result = program(x, constant)
            self.results.append(result)
            if isinstance(result, ad.Tensor):
                self.slopes.append(self.tape.gradient(result, x))

    def _constant(self, pausing: bool, f: Callable[[], Any]) -> Any:
        with self.tape.stop_recording() if pausing else contextlib.nullcontext():
            self.used.append(f())
        return self.used[-1] if pausing else cut(self.used[-1])

    def difference(self) -> str:
        """Return whether the slopes differ, and if not, of what the constant was made."""
        if not near(*self.slopes):
            return "the slopes differ"
        if self.used[-1] is self.x:
            return "x itself"
        return "a tensor" if isinstance(self.used[-1], ad.Tensor) else "a plain number"


TWO_TOOLS = Function(
    "Tell the two tools apart",
    """\
Both tools can turn what a function `f` computes into a constant:

```python
def by_pausing(f):
    with tape.stop_recording():
        return f()

def by_cutting(f):
    return ad.stop_gradient(f())
```

Write `program(x, constant)` so that its gradient with respect to `x` depends on which of the two it gets as `constant`. The value must be the same for both, and neither gradient may be `None`.""",
    signature="program(x, constant)",
    cases=[
        Case(
            lambda f: bool(Trial(f).used),
            "Your program never calls `constant`, so it uses neither tool, and nothing can differ.",
        ),
        Case(
            lambda f: all(isinstance(result, ad.Tensor) and result.shape == () for result in Trial(f).results),
            "Return one number computed from x, as a tensor.",
        ),
        Case(lambda f: near(*Trial(f).results), "The values differ. Only the slopes may differ."),
        Case(
            lambda f: [slope is not None for slope in Trial(f).slopes],
            "The tools differ, but one gradient is None. Multiply the result by x, or add x.",
        ),
        Case(lambda f: Trial(f).difference()),
    ],
    answer=lambda x, constant: x * constant(lambda: x),
    hints={
        lambda x, constant: x * constant: "`constant` is a function. Call it: `c = constant(lambda: ...)`.",
        lambda x, constant: x + constant: "`constant` is a function. Call it: `c = constant(lambda: ...)`.",
        lambda x, constant: x * constant(x): "`constant` takes a function without arguments: `constant(lambda: ...)`, "
        "and not a tensor.",
        lambda x, constant: x * constant(lambda: None): "The function that you hand to `constant` returns None. It "
        "needs a number.",
        lambda x, constant: constant(lambda: x * x): "Both gradients are None. Let x itself be part of the result, as "
        "in `x * c`.",
        lambda x, constant: x * constant(lambda: 3.0): "The function that you hand to `constant` returns a plain "
        "number. Neither tool can do anything to that. Let it return a tensor.",
        lambda x, constant: x * constant(lambda: x * x): "Both tools give the same slope. A pause leaves out the "
        "operations inside it. What if nothing is computed inside?",
        lambda x, constant: x * cut(constant(lambda: x)): "Handing x itself to `constant` is the right idea, and yet "
        "both tools give the same slope. Is its result cut once more, or not part of what you return?",
    },
    why="The value is the same, and the slope depends on the tool: a pause keeps operations off the tape, and a cut stops "
    "what flows back.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, TD_LOSS, STRAIGHT_THROUGH, TWO_TOOLS)
