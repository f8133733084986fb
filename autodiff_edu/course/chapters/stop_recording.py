"""Stop recording: two gradients from one tape, one inside its block, and the state after a reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Outcome, Record, Seed
from ..exercises import Case, Function, Number, Recording, Table
from ..feedback import NotYet, near, observe, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "The held-back data has the same size as the training data. How much will the tape keep with the log line?",
        answer="about twice as much",
        choices=("the same: nobody differentiates it", "about twice as much", "a few bytes more, for one number"),
        hints={
            "the same: nobody differentiates it": "Can the tape know, while it records, what you'll ask for later?",
            "a few bytes more, for one number": "The result is one number. What was computed on the way to it?",
        },
        why="Every operation on w and b is written down, whatever it's for.",
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
        "Without a second `watch`, what will the gradient of `x**2` be at x = 2?",
        answer=None,
        hints={
            4: "What does a reset forget, besides entries?",
            0: "0 would be the slope along a path. Does the tape follow x at all?",
        },
        why="A reset forgets watches too, and nobody asked again for this constant.",
    ),
    Prediction(
        "A one-shot tape goes back through twenty entries. When does it release their arrays?",
        answer="one by one, on the way back",
        choices=("one by one, on the way back", "all at once, at the end", "when the `with` block ends"),
        hints={
            "all at once, at the end": "Once the backward pass has gone through an entry, who needs its arrays?",
            "when the `with` block ends": "The gradient is taken after the block, and it needs them.",
        },
        why="Each entry's arrays go as soon as the backward pass is through with it.",
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
    Prediction(
        "The forward pass leaves two entries. Will asking for a gradient inside the block change that?",
        answer="yes, the backward pass is recorded",
        choices=("no, a gradient only reads the tape", "yes, the backward pass is recorded"),
        hints={"no, a gradient only reads the tape": "A backward pass multiplies and adds values of watched tensors."},
        why="Products and sums of tensors are operations like any other while the tape is recording.",
    ),
)

X = ad.constant(np.random.default_rng(1905).uniform(1.0, 3.0, 3))


def slopes(ask: Callable[..., Any], persistent: bool = True, watch: bool = True) -> Callable[[Any], Any]:
    """Return an answer to exercise 1 that asks its tape as `ask` says."""

    def two_slopes(x: Any) -> Any:
        with ad.GradientTape(persistent=persistent) as tape:
            tape.watch([x] if watch else [])
            q = x * x
            s, t = np.sum(q), np.sum(q * q)
        return ask(tape.gradient, x, q, s, t)

    return two_slopes


def readers(two_slopes: Any) -> int:
    """Return how many operations on the way to the targets read x."""
    _, events = observe(two_slopes.__wrapped__, X, written="two_slopes(x)")
    start = next((k for k, event in enumerate(events) if isinstance(event, Seed)), len(events))
    return sum(isinstance(event, Record) and X._id in event.entry.ids for event in events[:start])


def origin(two_slopes: Any) -> Any:
    """Return whether a tape gave both gradients; if one is None, the number of passes, which says how it was asked."""
    given, events = observe(two_slopes.__wrapped__, X, written="two_slopes(x)")
    if any(part is None for part in given):
        return sum(isinstance(event, Seed) for event in events)
    found = [event.result for event in events if isinstance(event, Outcome) and event.result is not None]
    rows = [row for each in found for row in np.reshape(each.numpy(), (-1, X.size))]
    return all(any(near(np.asarray(part), row) for row in rows) for part in given)


SOURCES = (
    "Both answers come from one call. A list in second place holds *sources*: `gradient(s, [x, t])` asks how s changes "
    "with x, and how s changes with t. Make two calls, one for each target."
)
SUM = "One of them is the gradient of s + t. Give `gradient` one target at a time."
TWO_SLOPES = Recording(
    "Two gradients from one tape",
    """\
`two_slopes(x)` should return two gradients with respect to `x`: that of `s` and that of `t`. Use one tape, and compute `q`, `s` and `t` only once.""",
    signature="two_slopes(x)",
    returns=("the gradient of s", "the gradient of t"),
    cases=[
        (X,),
        Case(
            readers,
            "Both gradients are right, but x is read more than once on the way to them. "
            "Write `q = x * x` once, and compute s and t from q.",
        ),
        Case(
            origin,
            "Both gradients are right, but not both come from a tape. Ask it for each of them, with respect to x.",
        ),
    ],
    answer=slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient(t, x))),
    spellings=[slopes(lambda gradient, x, q, s, t: np.stack([gradient(s, x), gradient(t, x)]))],
    facts={
        "tapes": "Both gradients are right, and you used {given} tapes. With one persistent tape, q is computed once."
    },
    hints={
        slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient(t, x)), persistent=False): "The second gradient "
        "was refused: the first one used the tape up. Ask for a tape that keeps its arrays when you make it.",
        slopes(lambda gradient, x, q, s, t: gradient([s, t], x)): "That is one gradient, of s + t: several targets in "
        "one call are added up. Ask twice, and return both: `return ..., ...`.",
        slopes(lambda gradient, x, q, s, t: gradient(s, [x, t])): SOURCES,
        slopes(lambda gradient, x, q, s, t: gradient(s, [x, q])): SOURCES,
        slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient(t, s))): "The gradient of t is None. Ask with "
        "respect to x, and for a target that is computed inside the `with` block.",
        slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient(t, x)), watch=False): "The gradient of s is "
        "None. Does the tape watch x before q is computed?",
        slopes(lambda gradient, x, q, s, t: (gradient(t, x), gradient(s, x))): "Both gradients are there, in the "
        "other order: first that of s, then that of t.",
        slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient(s, x))): "Both are the gradient of s. The "
        "second call should ask for the gradient of t.",
        slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient(t, q))): "The second one is dt/dq, the slope "
        "with respect to q. Ask with respect to x.",
        slopes(lambda gradient, x, q, s, t: gradient([s, t], [x, x])): SUM,
        slopes(lambda gradient, x, q, s, t: (gradient([s, t], x), gradient(t, x))): SUM,
        slopes(lambda gradient, x, q, s, t: (gradient(s, x), gradient([s, t], x))): SUM,
        lambda x: (2 * x, 4 * x**3): "Both gradients are right, but no tape was used. Let the tape find them.",
    },
    otherwise=f"At x = {X.numpy()[0]:.3f} the slope of s is {2 * X.numpy()[0]:.3f} and that of t {4 * X.numpy()[0] ** 3:.3f}, "
    "and there is one slope for each element of x.",
    why="One forward pass was enough for both gradients. A persistent tape keeps its arrays for a second backward pass.",
    minutes=4,
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
    "The gradient of the loss is None inside your function. Was the loss recorded? And is x still watched? Pause the "
    "tape after the loss, and don't reset it."
)
STEEPEST = Function(
    "How steep is it right now?",
    """\
`logged(tape, x)` is called inside the `with` block of a persistent tape that watches `x`, an array. It returns a loss and, for the log, its steepest slope in size. Leave on the tape what the loss needs, three entries, and nothing else. After the block, the gradient of the loss must still be right.""",
    signature="logged(tape, x)",
    cases=[
        Case(lambda f: Run(f).loss, "The loss has changed: it is {given}. Leave its line as it is."),
        Case(lambda f: Run(f).steepest, "The steepest slope is {given} where {answer} is right."),
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
        logs(lambda loss, slope: (loss, np.max(slope))): "That is the largest slope. The steepest one in size may be "
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
    minutes=3,
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
    minutes=3,
)

QUESTIONS = (*PREDICTIONS, TWO_SLOPES, STEEPEST, AFTER_A_RESET)
