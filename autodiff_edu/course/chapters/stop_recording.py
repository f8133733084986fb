"""Stop recording: two gradients from one tape, one inside its block, and the state after a reset."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Outcome, Record, Seed
from ..exercises import Exercise, Judge
from ..feedback import NotYet, near, needs_dict, needs_each, needs_function, number, observe, shortened
from ..predictions import Prediction


def two_slopes(answer: Any) -> str:
    """Check 7.1: two gradients from one tape, at hidden points, and how many tapes it took."""
    needs_function(answer, "two_slopes(x)")
    values = np.random.default_rng(1905).uniform(1.0, 3.0, 3)
    x = ad.constant(values)
    try:
        given, events = observe(answer, x, written="two_slopes(x)")
    except NotYet as hint:
        if "already been used" in str(hint):
            raise NotYet(
                "The second gradient was refused: the first one used the tape up. "
                "Ask for a tape that keeps its arrays when you make it."
            ) from None
        raise
    s, t = 2 * values, 4 * values**3
    if isinstance(given, np.ndarray | ad.Tensor) and np.shape(given) == (2, 3):
        given = list(given)
    if not isinstance(given, tuple | list) or len(given) != 2:
        if near(given, s + t):
            raise NotYet(
                "That is one gradient, of s + t: several targets in one call are added up. "
                "Ask twice, and return both: `return ..., ...`."
            )
        raise NotYet(
            f"two_slopes(x) returns {shortened(given)}. Return two gradients, first that of s: `return ..., ...`."
        )
    first, second = given
    if (
        (_count(events, Seed), _count(events, Outcome)) == (1, 2)
        and near(first, s)
        and second is not ...
        and not near(second, t)
    ):
        raise NotYet(
            "Both answers come from one call. A list in second place holds *sources*: `gradient(s, [x, t])` asks how s "
            "changes with x, and how s changes with t. Make two calls, one for each target."
        )
    for name, part in zip("st", given, strict=True):
        if part is ...:
            raise NotYet(f"Replace the three dots: the gradient of {name} is still open.")
        if part is None:
            raise NotYet(
                f"The gradient of {name} is None. "
                + (
                    "Ask with respect to x, and for a target that is computed inside the `with` block."
                    if _count(events, Record)
                    else "Does the tape watch x before q is computed?"
                )
            )
    if near(first, t) and near(second, s):
        raise NotYet("Both gradients are there, in the other order: first that of s, then that of t.")
    if near(first, s) and near(second, s):
        raise NotYet("Both are the gradient of s. The second call should ask for the gradient of t.")
    if near(first, s) and near(second, s * values):
        raise NotYet("The second one is dt/dq, the slope with respect to q. Ask with respect to x.")
    for part in given:
        if near(part, s + t):
            raise NotYet("One of them is the gradient of s + t. Give `gradient` one target at a time.")
    for name, part, right in (("s", first, s), ("t", second, t)):
        if not near(part, right):
            raise NotYet(
                f"The gradient of {name} is not right yet: your function returns {shortened(part)}. "
                f"At x = {values[0]:.3f} its slope is {right[0]:.3f}, and there is one slope for each element of x."
            )
    if (many := len({id(event.tape) for event in events if hasattr(event, "tape")})) != 1:
        raise NotYet(
            f"Both gradients are right, and you used {many} tapes. With one persistent tape, q is computed once."
            if many
            else "Both gradients are right, but no tape was used. Let the tape find them."
        )
    if sum(_squares(event, x) for event in events) > 1:
        raise NotYet("Both gradients are right, but q is computed more than once. Write `q = x * x` once, and use q.")
    return "One forward pass, two backward passes. A persistent tape keeps its arrays for the second."


def _count(events: list[Event], kind: type[Event]) -> int:
    return sum(isinstance(event, kind) for event in events)


def _squares(event: Event, x: ad.Tensor) -> bool:
    """Return whether an event is the record of x², computed from x alone."""
    if not isinstance(event, Record) or event.entry.output_value is None:
        return False
    return set(event.entry.ids) - {None} == {x._id} and near(event.entry.output_value, x.numpy() ** 2)


def logged(answer: Any) -> str:
    """Check 7.2: a loss and its steepest slope, from inside the block of a tape that keeps three entries."""
    needs_function(answer, "logged(tape, x)")
    values = np.random.default_rng(2005).uniform(-1.8, 0.4, 6)
    right = np.cos(values) * values + np.sin(values)
    x = ad.constant(values)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        try:
            given, events = observe(answer, tape, x, written="logged(tape, x)")
        except NotYet as hint:
            if "ellipsis" in str(hint):
                raise NotYet("Replace the three dots: which `with` block leaves operations out of a tape?") from None
            if "NoneType" in str(hint):
                raise NotYet(
                    "The gradient of the loss is None inside your function. Was the loss recorded? And is x still "
                    "watched? Pause the tape after the loss, and don't reset it."
                ) from None
            raise
        entries = len(tape.entries)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"logged(tape, x) returns {shortened(given)}. Write `return loss, steepest`.")
    loss, steepest = given
    value, largest = float(np.sum(np.sin(values) * values)), float(np.max(np.abs(right)))
    if near(number(loss, "the loss"), largest) and near(number(steepest, "the steepest slope"), value):
        raise NotYet("Both numbers are there, in the other order. Write `return loss, steepest`.")
    if not near(number(loss, "the loss"), value):
        raise NotYet(f"The loss has changed: it is {number(loss):.6g}. Leave its line as it is.")
    steepness = number(steepest, "the steepest slope")
    if near(abs(steepness), float(np.abs(np.max(right)))):
        raise NotYet("That is the largest slope. The steepest one in size may be negative: take `np.abs` first.")
    if near(-steepness, largest):
        raise NotYet("That is the steepest slope with its sign. Return its size.")
    if not near(steepness, largest):
        raise NotYet(f"The steepest slope is {steepness:.6g} where {largest:.6g} is right.")
    if not isinstance(loss, ad.Tensor):
        raise NotYet(f"Your loss is a plain number, a {type(loss).__name__}. Return the tensor that the tape recorded.")
    slope = tape.gradient(loss, x)
    if slope is None:
        raise NotYet(
            "After the block, the gradient of the loss is None. "
            + (
                "`reset` has forgotten the loss and the watch. Don't empty the tape: pause it."
                if not tape.watched
                else "The line of the loss must be recorded. Pause the tape for the lines after it."
            )
        )
    if not near(slope, right):
        raise NotYet("After the block, the gradient of the loss has changed: one of its operations is not recorded.")
    if entries > 3 and len({id(event.tape) for event in events if isinstance(event, Record)}) > 1:
        raise NotYet(
            f"The tape holds {entries} entries: it also recorded what your second tape is for. You don't need a second "
            "tape. Ask the one you are given, while it is paused."
        )
    if entries > 3:
        raise NotYet(
            f"The tape holds {entries} entries. The backward pass was recorded as well. Pause the tape for it, with "
            "`with tape.stop_recording():`; a call without `with` pauses nothing."
        )
    return "Three entries: a sine, a product, a sum. The log reads its number, and the tape never notices."


def after_reset(answer: Any) -> str:
    """Check 7.3: entries and gradients after a reset, as a dict."""
    names = ("entries", "dc/dx", "dc/dy")
    needs_dict(answer, '{"entries": 2, ...}')
    needs_each(answer, names, "No answer is given for")
    for name in names:
        if isinstance(answer[name], str):
            raise NotYet(f"Your answer for {name} is the text {shortened(answer[name])}. Write it without quotes.")
    if answer["entries"] is None:
        raise NotYet("The tape holds a number of entries, though it may be small. Only a gradient can be None.")
    entries = number(answer["entries"], "the number of entries")
    if entries != 3:
        raise NotYet(
            {
                1: "1 counts one line. After the reset there are two, and a line may hold several operations.",
                2: "2 counts the lines after the reset. Count operations: `c = a + b * y` holds two.",
                4: "4 counts `a = x * y` as well. The reset forgot that entry.",
            }.get(int(entries), "Count the operations after the reset on values that the tape watches then.")
        )
    if answer["dc/dx"] is not None:
        by_x = number(answer["dc/dx"], "dc/dx")
        raise NotYet(
            {
                9.0: "9 is y², the slope if x were still watched. The reset forgot that watch as well.",
                12.0: "12 is y + y², the slope without any reset. What did the reset forget?",
                0.0: "Not zero: to the tape there is no path from x to c at all.",
            }.get(by_x, "Is x still watched after the reset? A constant is watched only when you ask.")
        )
    if answer["dc/dy"] is None:
        raise NotYet(
            "y was forgotten too. But y is a trainable variable: it is watched again when it is read, in `b = x * y`."
        )
    by_y = number(answer["dc/dy"], "dc/dy")
    if not near(by_y, 12.0):
        raise NotYet(
            {
                14.0: "14 = x + 2xy counts the path through a. That entry was forgotten, so a is a constant.",
                24.0: "24 is the value of c.",
                6.0: "6 is one of two contributions: y is used in `b = x * y` and once more in `b * y`.",
            }.get(by_y, "To the tape, c is 6 + (x * y) * y, with x = 2 a constant. What is dc/dy at y = 3?")
        )
    return "The reset forgot the entry of a and both watches; reading y brought one back. To the tape, c is 6 + 2 y²."


QUESTIONS: tuple[Prediction | Exercise, ...] = (
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
    Judge(
        "Two gradients from one tape",
        """\
`two_slopes(x)` should return two gradients with respect to `x`: that of `s` and that of `t`. Use one tape, and compute `q`, `s` and `t` only once.""",
        two_slopes,
    ),
    Judge(
        "How steep is it right now?",
        """\
`logged(tape, x)` is called inside the `with` block of a persistent tape that watches `x`, an array. It returns a loss and, for the log, its steepest slope in size. Leave on the tape what the loss needs, three entries, and nothing else. After the block, the gradient of the loss must still be right.""",
        logged,
    ),
    Judge(
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
        after_reset,
    ),
)
