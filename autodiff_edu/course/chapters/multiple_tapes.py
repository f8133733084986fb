"""The exercises of chapter 11, several tapes: two that are independent, two gradients from one, which records what."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record, Watch
from ..exercises import Exercise, Judge
from ..feedback import NotYet, near, needs_dict, needs_each, needs_function, number, observe, shortened
from ..predictions import Prediction

FIRST, SECOND = {"q", "s"}, {"p", "r", "s", "t"}


def two_tapes(answer: Any) -> str:
    """Check 11.1: two tapes, each of which watches one of two sources, at hidden points."""
    needs_function(answer, "two_tapes(x0, x1)")
    a, b = np.random.default_rng(817).uniform(0.5, 1.5, 2).tolist()
    x0, x1 = ad.constant(a), ad.constant(b)
    given, watches, events = _run(answer, x0, x1, "two_tapes(x0, x1)")
    first, second = _pair(given, "two_tapes(x0, x1)")
    if first is None and second is None:
        if not watches:
            raise NotYet(
                "Both gradients are None, because no tape watches anything yet. "
                "Replace the three dots: each tape has its own `watch`."
            )
        if not any(isinstance(event, Record) for event in events):
            raise NotYet(
                "Both gradients are None: neither tape recorded anything. "
                "Watch x0 and x1 themselves, before the line of total."
            )
        raise NotYet(
            "Both gradients are None: each tape is asked about what the other one watches. Exchange the two watches."
        )
    if first is None or second is None:
        name, other = ("0", "1") if first is None else ("1", "0")
        raise NotYet(
            f"The gradient with respect to x{name} is None: tape{name} was not watching it when total was computed. "
            f"What tape{other} watches doesn't help tape{name}."
        )
    right = (math.cos(a) * math.exp(b), math.sin(a) * math.exp(b))
    numbers = number(first, "the first gradient"), number(second, "the second gradient")
    if not all(map(near, numbers, right)):
        raise NotYet(
            "The two gradients have changed places: x0 comes first, then x1."
            if all(map(near, numbers, reversed(right)))
            else f"At x0 = {a:.3f}, x1 = {b:.3f} the slopes are {right[0]:.6g} and {right[1]:.6g}; "
            f"your function returns {numbers[0]:.6g} and {numbers[1]:.6g}. Leave the line of total as it is."
        )
    tapes = {id(tape) for tape in watches}
    if len(tapes) != 2:
        raise NotYet(
            "Both gradients are right, but one tape found both. Let each come from a tape of its own."
            if tapes
            else "Both gradients are right, but no tape was used. Let two tapes find them."
        )
    if len(watches) != 2:
        raise NotYet(
            "Both gradients are right, but a tape watches more than its own source, and so records more than it needs. "
            "One `watch` for each tape is enough."
        )
    return "Each tape holds what depends on its own source: two entries, of which the product is in both."


def one_tape(answer: Any) -> str:
    """Check 11.2: two gradients, of two targets with respect to two sources, from one tape at hidden points."""
    needs_function(answer, "one_tape(x, y)")
    a, b = np.random.default_rng(829).uniform(1.2, 2.8, 2).tolist()
    try:
        given, watches, events = _run(answer, ad.constant(a), ad.constant(b), "one_tape(x, y)")
    except NotYet as refused:
        if "already been used" in str(refused):
            raise NotYet(
                "The second gradient was refused, because a one-shot tape answers once. "
                "Which kind of tape answers as often as you like?"
            ) from None
        raise
    first, second = _pair(given, "one_tape(x, y)")
    if first is None or second is None:
        raise NotYet(
            f"{'dz/dx' if first is None else 'dm/dy'} is None. Watch x and y before z and m are computed. And ask "
            "about z and m themselves: what is computed after the block is not on the tape."
        )
    if isinstance(first, list | tuple) or isinstance(second, list | tuple):
        raise NotYet(
            "One call returned several gradients, because you asked about several sources. Ask for dz/dx alone, and "
            "for dm/dy alone."
        )
    by_x, by_y = number(first, "dz/dx"), number(second, "dm/dy")
    right = (2 * a, 1 + 2 * b)
    for wrong, hint in (
        ((2 * a + 1, 2 + 2 * b), "That is the gradient of z + m: several targets in one call are added up. Ask twice."),
        ((2 * a, 1.0), "These are dz/dx and dz/dy. The second one should be the gradient of m."),
        ((1.0, 1 + 2 * b), "These are dm/dx and dm/dy. The first one should be the gradient of z."),
        ((1.0, 1.0), "These are dm/dx and dz/dy: the targets have changed places."),
        ((1 + 2 * b, 2 * a), "Both gradients are there, in the other order: first dz/dx, then dm/dy."),
    ):
        if near(by_x, wrong[0]) and near(by_y, wrong[1]):
            raise NotYet(hint)
    if not (near(by_x, right[0]) and near(by_y, right[1])):
        raise NotYet(
            f"At x = {a:.3f}, y = {b:.3f} dz/dx is {right[0]:.6g} and dm/dy is {right[1]:.6g}; "
            f"your function returns {by_x:.6g} and {by_y:.6g}."
        )
    if (many := len({id(tape) for tape in watches})) != 1:
        raise NotYet(
            f"Both gradients are right, and you used {many} tapes. One that is persistent is enough."
            if many
            else "Both gradients are right, but no tape was used. Let the tape find them."
        )
    kept = [event.entry.output_value for event in events if isinstance(event, Record)]
    if sum(value is not None and (near(value, a * a) or near(value, b * b)) for value in kept) > 2:
        raise NotYet("Both gradients are right, but z or m was computed more than once. Once is enough: ask twice.")
    return "One list, two walks. At x = 3, y = 2 they give 6 and 5."


def lanes(answer: Any) -> str:
    """Check 11.3: which lines each of two tapes records, as a dict of two sets."""
    needs_dict(answer, '{"first": {"p"}, ...}')
    needs_each(answer, ("first", "second"), "Your answer leaves out")
    first, second = (_lines(answer[name], name) for name in ("first", "second"))
    hints = (
        (
            first == SECOND and second == FIRST,
            "The two tapes have changed places. Which of them watches x, and which watches y?",
        ),
        ("p" in first, "`p = x * x` uses x alone, a constant that `first` was never asked to watch."),
        ("q" not in first, "`q = y * 3.0` reads y. `first` watches trainable variables by itself."),
        ("r" in first, "`first` is paused while r is computed."),
        ("t" in first, "r was computed while `first` was paused, so r is a constant to it. And t uses nothing but r."),
        ("s" not in first, "To `first`, r is a constant, but `s = r * y` uses y too, and y is watched."),
        ("q" in second, "`q = y * 3.0` reads y. But `second` does not watch variables by itself; it watches x alone."),
        ("p" not in second, "`p = x * x` uses x, and `second` was asked to watch it."),
        (
            "r" not in second,
            "A pause concerns one tape. `first` was paused while r was computed, and `second` was not.",
        ),
        ("s" not in second, "s uses r, r uses p, and p uses x: `second` follows that chain."),
        ("t" not in second, "t uses r, and `second` has recorded r."),
    )
    for applies, hint in hints:
        if applies:
            raise NotYet(hint)
    return (
        "`first`: q and s. `second`: p, r, s and t. Only s is in both, because of y in the one and of r in the other."
    )


def _run(function: Any, a: Any, b: Any, written: str) -> tuple[Any, list[Any], list[Event]]:
    """Call a learner's function; return its result, the tape of each watch, and all events."""
    given, events = observe(function, a, b, written=written)
    return given, [event.tape for event in events if isinstance(event, Watch)], events


def _pair(given: Any, written: str) -> tuple[Any, Any]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"{written} returns {shortened(given)}. Return two gradients: `return ..., ...`.")
    if given[0] is ... or given[1] is ...:
        raise NotYet("Replace the three dots with two gradients, each of one target with respect to one source.")
    return given[0], given[1]


def _lines(answer: Any, tape: str) -> set[str]:
    if isinstance(answer, str):
        answer = answer.replace(",", " ").split()
    if not isinstance(answer, set | frozenset | list | tuple):
        raise NotYet(f'For `{tape}` I need a set of names, as in {{"p", "q"}}, and got {shortened(answer)}.')
    if ... in answer:
        raise NotYet(f"Replace the three dots: which lines does `{tape}` record?")
    if unknown := [name for name in answer if name not in ("p", "q", "r", "s", "t")]:
        raise NotYet(f"For `{tape}` you name {shortened(unknown[0])}. The lines are p, q, r, s and t.")
    return set(answer)


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "`tape0` watches x0 and `tape1` watches x1. How many of the five operations will `tape1` record?",
        answer=4,
        hints={
            5: "Does `s = np.sin(x0)` use anything that tape1 follows?",
            3: "Three belong to the sigmoid. What are the inputs of the last line?",
            2: "That's the other tape. Which lines can be traced back to x1?",
            1: "It follows whatever is computed from what it recorded, too.",
        },
        why="All but the sine; the sum is recorded by both.",
    ),
    Prediction(
        "What will `tape0` return for the gradient of the total with respect to x1?",
        answer=None,
        hints={
            0: "0 would mean that it knows the path and that it's flat. Does it know the path?",
            0.25: "That's what tape1 knows. The two don't talk to each other.",
            1: "That's the slope with respect to x0.",
        },
        why="It never watched x1, so it recorded nothing that leads there.",
    ),
    Prediction(
        "This tape is paused while y is squared. What dz/dy does the other tape find?",
        answer=6,
        hints={
            None: "That's what the paused tape says. Who was told to pause?",
            4: "That's dz/dx. At y = 3, what is the slope of y²?",
            9: "9 is the value of y². What is its slope at 3?",
            0: "z does contain y², and the other tape wrote that down.",
        },
        why="The pause belongs to one tape; the other records the square as usual.",
    ),
    Prediction(
        "`z = x**2 + y` and `m = y + y**2 + x`, under two tapes. How many entries will `tape_z` hold?",
        answer=5,
        hints={
            2: "Those are the operations of z. Did anybody tell tape_z to leave out m?",
            3: "Those are the operations of m. And z?",
            4: "Count again: two operations make z, and three make m.",
            10: "That's both tapes together.",
        },
        why="x and y are variables, so both tapes watch them, and each records all five operations.",
    ),
    Prediction(
        "If the forger plays perfectly, what chance of being genuine will she give his coins?",
        answer=0.5,
        hints={
            1: "Then she would be wrong about every one of them, and her loss would push her away from that.",
            0: "Then his loss would be large, and he would still be learning.",
            1.5: "A chance lies between 0 and 1.",
        },
        why="If forged and genuine coins look the same, she can only guess.",
        within=0.03,
    ),
    Prediction(
        "If all five weights descend the sum of the two losses, where will it end?",
        answer="below 2.08, with bad forgeries",
        choices=("below 2.08, with bad forgeries", "at 2.08, with the same coins", "above 2.08, with bad forgeries"),
        hints={
            "at 2.08, with the same coins": "In the game, each weight followed one loss only. Now her loss moves the "
            "forger's weights too.",
            "above 2.08, with bad forgeries": "All five weights go downhill on it now. Why should it end higher?",
        },
        why="Now both want the same. The forged coins move away, so that she can rate the genuine ones high without "
        "rating them high as well.",
    ),
    Prediction(
        "What will `inspector_tape` return for the gradients of the inspector's loss?",
        answer="None, three times",
        choices=("the right gradients", "None, three times", "zeros", "it raises an error"),
        hints={
            "the right gradients": "Whose tape watches the inspector's weights?",
            "zeros": "Zero is an answer. What does this tape know?",
            "it raises an error": "A gradient that isn't connected raises nothing unless you ask it to.",
        },
        why="`forger_tape` watches everything and `inspector_tape` watches nothing.",
    ),
    Prediction(
        "One persistent tape holds a certain number of bytes. How many times as many do two tapes hold together?",
        answer=1,
        hints={
            2: "Two lists, yes. But does an entry copy the arrays that it refers to?",
            1.5: "Both tapes record all the lines here. Do they copy the arrays?",
        },
        why="Both lists refer to the same arrays.",
    ),
    Judge(
        "Two independent tapes",
        """\
Let `tape0` follow `x0` alone, and `tape1` follow `x1` alone.""",
        two_tapes,
    ),
    Judge(
        "Two gradients from one tape",
        """\
Return dz/dx and dm/dy, in this order. Use one tape, and compute `z` and `m` only once.""",
        one_tape,
    ),
    Judge(
        "Which lane records what?",
        """\
Without running it: which of the lines `p`, `q`, `r`, `s` and `t` does each tape record? Each line is one operation. Write the names as strings.

```python
x, y = ad.constant(2.0), ad.Variable(3.0)
with ad.GradientTape() as first, ad.GradientTape(watch_accessed_variables=False) as second:
    second.watch(x)
    p = x * x
    q = y * 3.0
    with first.stop_recording():
        r = q + p
    s = r * y
    t = np.sin(r)
```""",
        lanes,
    ),
)
