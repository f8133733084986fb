"""Stop recording: a pause around too much, a gradient inside the block, and the state after a reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Record, Seed
from ..exercises import Case, Function, Number, Table
from ..feedback import NotYet, observe, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Without the log, turn 2 leaves three entries. How many will it leave with the log line?",
        answer=8,
        hints={
            3: "Can the tape know, while it records, what you'll ask for later?",
            4: "The log is one line and one number. What does `spread` compute on the way to it?",
            5: "That's what `spread` adds. The three of the loop are still there.",
            6: "How many operations does `spread` compute? An entry is one operation, not one line.",
            7: "Go through `spread` from the inside out. It calls `np.mean` twice.",
        },
        why="Two means, a difference, a square and a root: five more operations on values that came from k.",
    ),
    Prediction(
        "At x = 2 and y = 3, with the tape paused for y², what will dz/dy be?",
        answer=None,
        hints={
            6: "That's the slope of the function. But does the tape know how y_squared was computed?",
            0: "0 would mean a path that happens to be flat. Is there a path from z to y on the tape?",
            9: "9 is the value of y².",
            4: "4 is dz/dx.",
        },
        why="To the tape, y_squared is a number that came from nowhere.",
    ),
    Prediction(
        "A second tape, `other`, records the whole program. For which of the three will it still find dz/dy = 6?",
        answer="the pause and the reset",
        choices=("all three", "only the pause", "the pause and the reset", "none of them"),
        hints={
            "all three": "Two of these are calls on one tape. The third changes the value that z is computed from.",
            "only the pause": "`tape.reset()` empties the tape that you call it on. Does `other` lose its entries, too?",
            "none of them": "`tape.stop_recording()` is a call on `tape`. Has anyone told `other` to pause?",
        },
        why="A pause and a reset belong to one tape. The value that stop_gradient returns has no past on any tape.",
    ),
    Prediction(
        "The backward pass is over and the arrays are gone. What is left of a one-shot tape?",
        answer="the list of entries, without values",
        choices=("nothing at all", "the list of entries, without values", "the arrays of the first entry"),
        hints={
            "nothing at all": "Could you still ask the tape which lines it recorded?",
            "the arrays of the first entry": "The walk goes through every entry on the path, the first one last.",
        },
        why="The list is small, so it stays. The arrays are what costs memory.",
    ),
    Prediction(
        "What does `tape.gradient([z, y], x)` return?",
        answer=114,
        hints={
            108: "That's dz/dx. What becomes of the second target?",
            6: "That's dy/dx. What becomes of the first target?",
        },
        why="108 + 6: several targets are added up.",
    ),
)

DIAGNOSIS = Table(
    "The slope that is too small",
    """\
The pause in this program was meant for the log. Now the loss has a slope, but not the right one. Without running it: which slope does the tape return, what should it be, and which line has to leave the pause?

```python
1  w = ad.Variable(3.0)
2  with ad.GradientTape() as tape:
3      a = w * w
4      with tape.stop_recording():
5          seen = np.sqrt(a)
6          b = w + a
7          gap = b - seen
8      loss = a * b
9  slope = tape.gradient(loss, w)
```""",
    parts={
        "slope": Number(
            answer=72,
            hints={
                None: "There is a path from loss to w that was recorded: through a. So there is a slope.",
                135: "135 is the slope of the function. Which of the two factors of the loss does the tape know?",
                63: "63 comes through b, and b was computed in the pause. What comes through a?",
                108: "108 is the value of the loss.",
                12: "12 is b, the cotangent that arrives at a. How does a change with w?",
            },
            otherwise="To the tape, the loss is w² times a constant. Which constant?",
        ),
        "should be": Number(
            answer=135,
            hints={
                None: "The function has a slope. Write the loss as powers of w.",
                72: "72 counts the path through a in line 8 only.",
                81: "81 leaves out that a, too, changes b. Write the loss as powers of w.",
                108: "108 is the value of the loss.",
            },
            otherwise="Multiply it out: the loss is w² (w + w²).",
        ),
        "line": Number(
            answer=6,
            hints={
                None: "One of the nine lines is in the wrong place.",
                5: "Does the loss read seen?",
                7: "Does the loss read gap?",
                4: "The pause itself is fine for what only the log reads. Which line in it does the loss need?",
                8: "Line 8 isn't in the pause. Which of the values that it reads was computed there?",
            },
            otherwise="Look for a line in the pause whose value the loss reads.",
        ),
    },
    why="To the tape, the loss is 12 w². Only line 6 computes something in the pause that the loss needs.",
    minutes=6,
)


VALUES = np.random.default_rng(2005).uniform(-1.8, 0.4, 6)


class Run:
    """What exercise 2 looks at: what `logged` returned inside a tape's block, and what that tape holds then."""

    def __init__(self, logged: Callable[..., Any]) -> None:
        self.x = ad.constant(VALUES)
        with ad.GradientTape(persistent=True) as self.tape:
            self.tape.watch(self.x)
            given, self.events = observe(logged, self.tape, self.x, written="logged(tape, x)")
            self.entries = len(self.tape.entries)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise NotYet(f"logged(tape, x) returns {shorten(given)}. Write `return loss, steepest`.")
        self.loss, self.steepest = given

    def slope(self) -> list[Any]:
        """Return the gradient of the loss after the block, and whether anything is watched then."""
        return [self.tape.gradient(self.loss, self.x), bool(self.tape.watched)]

    def asks(self) -> bool:
        """Return whether a tape was asked for a gradient."""
        return any(isinstance(event, Seed) for event in self.events)


def explain_entries(logged: Callable[..., Any]) -> str:
    """Return why the tape holds more than it should."""
    run = Run(logged)
    if len({id(event.tape) for event in run.events if isinstance(event, Record)}) > 1:
        return (
            f"The tape holds {run.entries} entries: it also recorded what your second tape is for. You don't need a "
            "second tape. Ask the one you are given, while it is paused."
        )
    said = f"The tape holds {run.entries} entries, and the loss needs three: the backward pass was recorded as well. "
    if "stop_recording" in getattr(getattr(logged, "__code__", None), "co_names", ()):
        return f"{said}`tape.stop_recording()` begins a block: a call without `with` pauses nothing."
    return f"{said}How do you keep a tape from recording some of the lines?"


def logs(report: Callable[[Any, Any], Any], loss_too: bool = False) -> Callable[..., Any]:
    """Return an answer to exercise 2 that pauses the tape for its report, or for the loss, too."""

    def logged(tape: Any, x: Any) -> Any:
        loss = None if loss_too else np.sum(np.sin(x) * x)
        with tape.stop_recording():
            loss = np.sum(np.sin(x) * x) if loss is None else loss
            return report(loss, tape.gradient(loss, x))

    return logged


LOGGED = logs(lambda loss, slope: (loss, np.max(np.abs(slope))))
NO_SLOPE = (
    "The gradient is None inside your function. Did you ask for that of the loss, with respect to x? Was the loss "
    "recorded, and is x still watched? Pause the tape after the loss, and don't reset it."
)
STEEPEST = Function(
    "How steep is it right now?",
    """\
`logged(tape, x)` is called inside the `with` block of a persistent tape that watches `x`, an array. It returns a loss and, for the log, how steep the loss is: the largest absolute value among its slopes with respect to `x`. Get the slopes from the tape, not by hand. What stays on the tape is what the loss needs, three entries, and nothing else. After the block, the gradient of the loss must still be right.""",
    signature="logged(tape, x)",
    cases=[
        Case(lambda f: Run(f).loss, "The loss has changed: it is {given}. Leave its line as it is."),
        Case(
            lambda f: Run(f).steepest,
            "Your `steepest` is {given} where {answer} is right: one number, the largest absolute value.",
        ),
        Case(
            lambda f: isinstance(Run(f).loss, ad.Tensor),
            "Your loss is a plain number. Return the tensor that the tape recorded.",
        ),
        Case(
            lambda f: Run(f).slope(),
            "After the block, the gradient of the loss has changed: one of its operations is not recorded.",
        ),
        Case(
            lambda f: Run(f).asks(),
            "Both numbers are right, but the steepest slope was found without a tape. Ask the tape for the gradient, "
            "while it is paused.",
        ),
        Case(lambda f: max(Run(f).entries, 3), explain=explain_entries),
    ],
    answer=LOGGED,
    hints={
        logs(lambda loss, slope: (np.max(np.abs(slope)), loss)): "Both numbers are there, in the other order. Write "
        "`return loss, steepest`.",
        logs(lambda loss, slope: (loss, np.max(slope))): "That is the largest slope. The steepest one may be "
        "negative: take `np.abs` first.",
        logs(lambda loss, slope: (loss, -np.max(np.abs(slope)))): "That is the steepest slope with its sign. Return "
        "its size.",
        logs(lambda loss, slope: (loss, np.max(np.abs(slope))), loss_too=True): NO_SLOPE,
        logs(lambda loss, slope: (loss, np.max(np.abs(slope.numpy()))), loss_too=True): NO_SLOPE,
        logs(
            lambda loss, slope: (loss, np.max(np.abs(np.cos(VALUES) * VALUES + np.sin(VALUES)))), loss_too=True
        ): "After the block, the gradient of the loss is None. The line of the loss must be recorded. Pause the tape for "
        "the lines after it.",
        lambda tape, x: (*LOGGED(tape, x), tape.reset())[:2]: "After the block, the gradient of the loss is None. "
        "`reset` has forgotten the loss and the watch. Don't empty the tape: pause it.",
    },
    why="The tape holds what the loss needs, and nothing else. The log reads its number, and the tape never notices.",
    minutes=8,
)

AFTER_A_RESET = Table(
    "After a reset",
    """\
Without running it: how many entries does the tape hold at the end, before anyone asks for a gradient? What is dc/dx, and what is dc/dy? Write `None` where it is None.

```python
x, y = ad.constant(2.0), ad.Variable(3.0)
with ad.GradientTape() as tape:
    tape.watch(x)
    a = x * y
    tape.reset()
    b = x * y
    c = a + b * y
```""",
    parts={
        "entries": Number(
            answer=3,
            hints={
                None: "The tape holds a number of entries, though it may be small. Only a gradient can be None.",
                1: "1 counts one line. After the reset there are two, and a line may hold several operations.",
                2: "2 counts the lines after the reset. Count operations: `c = a + b * y` holds two.",
                4: "4 counts `a = x * y` as well. The reset forgot that entry.",
            },
            otherwise="Count the operations after the reset on values that the tape watches then.",
        ),
        "dc/dx": Number(
            answer=None,
            hints={
                9: "9 is y², the slope if x were still watched. The reset forgot that watch as well.",
                12: "12 is y + y², the slope without any reset. What did the reset forget?",
                0: "Not zero: to the tape there is no path from x to c at all.",
            },
            otherwise="Is x still watched after the reset? A constant is watched only when you ask.",
        ),
        "dc/dy": Number(
            answer=12,
            hints={
                None: "y was forgotten too. But y is a trainable variable: it is watched again when it is read, in "
                "`b = x * y`.",
                14: "14 = x + 2xy counts the path through a. That entry was forgotten, so a is a constant.",
                24: "24 is the value of c.",
                6: "6 is one of two contributions: y is used in `b = x * y` and once more in `b * y`.",
            },
            otherwise="To the tape, c is 6 + (x * y) * y, with x = 2 a constant. What is dc/dy at y = 3?",
        ),
    },
    why="The reset forgot the entry of a and both watches; reading y brought one back. To the tape, c is 6 + 2 y².",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, DIAGNOSIS, STEEPEST, AFTER_A_RESET)
