"""Passes: what is left of five functions, a pass of one's own, and a linear program read backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...program.instructions import Instruction, Listing, Value
from ...program.passes import unused
from ..exercises import Choice, Judge, Number, Table
from ..feedback import NotYet, call, forbid, needs_function, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "A pass goes through the list once, and has to find all the lines that nobody needs. In which order?",
        answer="from the end",
        choices=("from the front", "from the end", "in any order"),
        hints={
            "from the front": "At the first line, do you know yet whether a later line needs it?",
            "in any order": "When you meet a line, you must know whether any line that *stays* reads its result.",
        },
        why="Whatever reads a value comes after it. From the end, you have met all of its readers.",
    ),
    Prediction(
        "Does Python find `0.1 * 0.2 * 0.3 == 0.1 * (0.2 * 0.3)`?",
        answer="no",
        choices=("yes", "no"),
        hints={"yes": "Each product is rounded. Are the same numbers rounded on both sides?"},
        why="Each product is rounded to 16 digits, and the two sides round different ones.",
    ),
    Prediction(
        "f(x, y) is x·y·x. In the program for nudges dx and dy at the point (3, 5), where will x and y appear?",
        answer="nowhere",
        choices=("in every line", "only in the first line", "nowhere"),
        hints={
            "in every line": "At the point (3, 5), what are x and y for `folded`?",
            "only in the first line": "At the point (3, 5), what are x and y for `folded`?",
        },
        why="At one point they're numbers, and so is everything that's computed from them alone.",
    ),
    Prediction(
        "x·y·x has the slope 2·x·y with respect to x: 30 at (3, 5), and 40 at (4, 5). We set `x` to 4. What will push(1, 0) say now?",
        answer=30,
        hints={
            40: "That's the slope at (4, 5). Where would `push` learn of the 4?",
            None: "`push` has two arguments, and both are given.",
        },
        why="`push` has no x in it that could become 4.",
    ),
)

LEFT: dict[str, tuple[int, dict[int, str]]] = {
    "a": (2, {3: "in a, the sine is computed twice, from the same x.", 1: "in a, the sum is an operation, too."}),
    "b": (1, {2: "in b, who needs the exponential?", 0: "in b, the sine is returned."}),
    "c": (
        1,
        {
            3: "in c, that's what was recorded: sin, cos, and a product with the seed.",
            2: "in c, nobody reads sin x; and what does a product with the seed 1 change?",
        },
    ),
    "d": (1, {2: "in d, Python multiplies 2.0 by 3.0 before it meets x.", 0: "in d, the product with x is left."}),
    "e": (2, {1: "in e, Python computes (x * 0.1) * 0.2. One product would be a regrouping, which moves digits."}),
}

HOW_MANY = Table(
    "What is left?",
    """\
Functions of a float are compiled. How many operations are left in the programs of a to e?

- a: `np.sin(x) + np.sin(x)`
- b: `(np.exp(x), np.sin(x))[1]`
- c: `ad.grad(np.sin)(x)`
- d: `x * (2.0 * 3.0)`
- e: `x * 0.1 * 0.2`

And what went wrong in f? A pass of somebody's writes 0 for `x - x`. With it and without it the results agree for each x from −1000 to 1000. For one of `"zero"`, `"huge"` (1e308) and `"infinite"` they don't.""",
    parts={
        name: Number(answer=answer, hints={wrong: f"Not {wrong}: {hint}" for wrong, hint in hints.items()})
        for name, (answer, hints) in LEFT.items()
    }
    | {
        "f": Choice(
            answer="infinite",
            choices=("zero", "huge", "infinite"),
            hints={
                "zero": "In f, what is 0 - 0?",
                "huge": "In f, 1e308 is a number like 5. What is it minus itself?",
            },
        )
    },
    why="What nobody needs goes, what is known is a number, what is the same is computed once; and nothing is regrouped. "
    "x - x is nan where x is infinite, so its 0 was not a constant.",
    minutes=8,
)


class Watched(Instruction):
    """An instruction that reports when a pass calls `reads()`, and when it goes through what that returns."""

    def __init__(self, one: Instruction, called: Callable[[Any], Any], used: Callable[[Any], Any]) -> None:
        super().__init__(one.operation, one.values, one.parameters, one.output_value, one.where, one.errors)
        self.answer = one.answer
        self.plain, self.called, self.used = one, called, used

    def reads(self) -> Iterator[Value]:
        """Return the values that it needs."""
        self.called(self.plain)
        return self._values_read()

    def _values_read(self) -> Iterator[Value]:
        self.used(self.plain)
        yield from self.plain.reads()


Watched.__name__ = Instruction.__name__  # which Python names in its errors


def list_programs() -> list[Callable[[Any], Any]]:
    """Return functions whose programs hold nothing unused, a chain, a guard, and several results."""

    def nothing_unused(x: Any) -> Any:
        return np.sin(x) * 2.0, np.tanh(x) + 1.0

    def a_chain(x: Any) -> Any:
        wasted = np.exp(x)
        wasted = np.sin(wasted)
        np.cos(wasted)
        return x * 3.0

    def with_a_guard(x: Any) -> Any:
        if np.sum(x) > 0.0:
            return x * 2.0
        return x * 5.0

    def several(x: Any) -> Any:
        return ad.grad(lambda x: np.sum(np.tanh(x) ** 2))(x), np.exp(x)[(np.argsort(x),)]

    return [nothing_unused, a_chain, with_a_guard, several]


OF_RESULT: dict[Any, str] = {
    NoneType: "Your function returned None. Is a `return` missing?",
    list: "Return a listing, not a list: listing.with_instructions(left).",
}
OF_LIST: dict[Any, str] = {
    EllipsisType: "Replace the three dots with the list of the instructions that stay.",
    NoneType: "with_instructions got None. Methods such as `reverse`, `append` and `insert` change a list and return "
    "None. left[::-1] is the list turned round.",
    Iterator: "with_instructions got an iterator, which can be used only once. Make a list of it: list(…).",
    Set: "with_instructions got a set, which has no order. Collect the instructions in a list.",
}
OF_ERROR = {
    "'generator'": "`reads()` returns an iterator, not a set. Write needed.update(instruction.reads()), or make a set "
    "of it: set(instruction.reads()).",
    "'method'": "`kept` and `reads` are methods. To call them, write `kept()` and `reads()`.",
}
"""What a pass may do other than return a listing with a list, and the hint for each."""


def explain_result(given: Any, before: list[Watched]) -> str:
    """Return the hint for what isn't a listing of instructions that were there, or an empty text."""
    if not isinstance(given, Listing):
        known = next((hint for kind, hint in OF_RESULT.items() if isinstance(given, kind)), "")
        return known or f"Return listing.with_instructions(left). I got {shorten(given)}."
    left: Any = given.instructions
    if known := next((hint for kind, hint in OF_LIST.items() if isinstance(left, kind)), ""):
        return known
    if not isinstance(left, Sequence):
        return f"with_instructions needs a list, and got an object of type {type(left).__name__}."
    kept = list(left)
    for place, one in enumerate(kept):
        if not isinstance(one, Instruction):
            return f"The list should hold the instructions that stay, and yours holds {shorten(one)}."
        if one not in before:
            return (
                f"Your list holds an instruction that isn't in this listing, {one.name}. Begin each call with an empty "
                "list, and append the listing's own instructions."
            )
        if one in kept[:place]:
            return f"{one.name} is in your list twice. Append each instruction that stays only once."
    return ""


Instructions = list[Instruction]


def explain_pass(
    left: Instructions, right: Instructions, listing: Listing, called: Instructions, used: Instructions
) -> str:
    """Return the hint for a pass that leaves other instructions than the right ones.

    It called `reads()` of the instructions `called`, in this order, and went through what that returned for `used`.
    """
    if left == right[::-1]:
        return "The right instructions stay, but in reverse order. Turn the list round again."
    if set(left) == set(right):
        return "The right instructions stay, but in another order. A value must be computed before it's used."
    if not left:
        return "Your list is empty. Which instructions compute what the program returns, the values in listing.kept()?"
    missing = [one for one in right if one not in left]
    if any(one.is_guard for one in missing):
        return "A guard is gone. It computes nothing, but it checks that the program is still the right one."
    if set(left) == sweep_and_overwrite(listing):
        return "Each turn overwrites `needed`. Add to it: needed.update(instruction.reads())."
    if missing and missing[-1].output_value in listing.kept():
        return explain_lost_result(missing[-1], left, listing)
    if missing:
        return explain_lost_value(missing, left, listing, called, used)
    if len(left) == len(listing.instructions):
        return "Nothing was removed, although the program computes something that nothing needs."
    extra = next(one for one in left if one not in right)
    if not any(extra.output_value in one.reads() for one in listing.instructions):
        return f"{extra.name} stays, but nothing reads its result, and the program doesn't return it."
    return (
        f"{extra.name} stays, but only an instruction that is itself unused reads its result. Which end of the list "
        "must you begin at to know that, and whose `reads()` count?"
    )


def explain_lost_result(last: Instruction, left: Instructions, listing: Listing) -> str:
    """Return the hint for a pass that removes what computes a result."""
    if any(one.output_value in listing.kept() for one in left):
        return f"{last.name} is gone, but the program returns its result: it's in listing.kept()."
    return f"{last.name} is gone, although the program returns its result. Is your test the wrong way round?"


def explain_lost_value(
    missing: Instructions, left: Instructions, listing: Listing, called: Instructions, used: Instructions
) -> str:
    """Return the hint for a pass that removes what an instruction that stays needs."""
    once, twice = sweep_from_front(listing)
    places = [listing.instructions.index(one) for one in used]
    if set(left) in (once, twice) and len(places) > 1 and places == sorted(places):
        return (
            f"You went through the list from the front. When you met {missing[0].name}, you couldn't know yet that a "
            "later instruction needs it. Start at the end."
        )
    if set(left) == once and not called:
        return "Your function never calls `reads()`. When an instruction stays, what it reads is needed too."
    if set(left) == once and not used:
        return (
            "You call `reads()`, but never go through the iterator that it returns. `needed.add(…)` puts in the "
            "iterator itself. `needed.update(instruction.reads())` puts in its values."
        )
    if set(left) == once and set(used) == once:
        return (
            "You call `reads()`, but its values don't get into `needed`. `union` and `|` return another set. "
            "`needed.update(instruction.reads())` changes this one."
        )
    last = missing[-1]
    readers = [one for one in left if last.output_value in one.reads()]
    if all(one.is_guard for one in readers):
        return f"{last.name} is gone, but a guard reads its result. A guard stays, so what it `reads()` is needed too."
    return (
        f"{last.name} is gone, but {readers[0].name}, which stays, reads its result. When an instruction stays, each "
        "of the values that it `reads()` is needed too."
    )


def sweep_from_front(listing: Listing) -> tuple[set[Instruction], set[Instruction]]:
    """Return what stays if `needed` grows on the way from the front: judged on the way, and judged afterwards."""
    needed, once = listing.kept(), set()
    for one in listing.instructions:
        if one.is_guard or one.output_value in needed:
            once.add(one)
            needed.update(one.reads())
    return once, {one for one in listing.instructions if one.is_guard or one.output_value in needed}


def sweep_and_overwrite(listing: Listing) -> set[Instruction]:
    """Return what stays if each instruction replaces `needed`, on the way from the end."""
    needed, stays = listing.kept(), set()
    for one in reversed(listing.instructions):
        if one.is_guard or one.output_value in needed:
            stays.add(one)
            needed = set(one.reads())
    return stays


def judge_pass(answer: Any) -> str:
    """Judge a pass on recorded programs."""
    needs_function(answer, "drop_unused(listing)")
    for function in list_programs():
        listing = ad.compile(function, passes=()).program(np.array([0.5, 1.5])).listing
        called: list[Instruction] = []
        used: list[Instruction] = []
        refusing = forbid(called.append, {unused.__code__: "unused"}, "write the loop yourself.")
        before = [Watched(one, refusing, used.append) for one in listing.instructions]
        handed = listing.with_instructions([*before])
        try:
            given = call(answer, handed, written="drop_unused(listing)")
        except NotYet as problem:
            said = next((hint for part, hint in OF_ERROR.items() if part in str(problem.__cause__)), str(problem))
            raise NotYet(said) from problem
        hint = explain_result(given, before)
        if handed.instructions != before:
            hint = "Leave listing.instructions as it is: collect what stays in a list of its own."
        if not hint:
            left, right = [one.plain for one in given.instructions], list(unused(listing).instructions)
            hint = explain_pass(left, right, listing, called, used) if left != right else ""
        if hint:
            raise NotYet(hint)
    return "That's dead-code elimination, a pass that every compiler has. ad.compile runs yours like its own."


def sweep(need: Any = lambda needed, one: needed.update(one.reads()), order: int = -1, end: Any = list) -> Any:
    """Return a pass that grows `needed` by `need`, from the end or from the front, and hands in `end` of its list."""

    def drop_unused(listing: Listing) -> Listing:
        needed, left = listing.kept(), []
        for one in listing.instructions[::order]:
            if one.is_guard or one.output_value in needed:
                left.append(one)
                need(needed, one)
        return listing.with_instructions(end(left[::order]))

    return drop_unused


# A judge, for its hints name instructions of the learner's own listing, and ask what was read in which order.
A_PASS = Judge(
    "Write a pass",
    """\
`passes` also takes functions, so you can add a pass of your own. Write one of ours yourself: `unused`. A pass takes a **listing** and returns another:

- `listing.instructions` is the list, in the order in which it runs. Each instruction has an `output_value`, what it computes, and `reads()`, an iterator over the values that it needs. A guard has the `output_value` None, and must stay.
- `listing.kept()` is the set of values that leave the program, because they're returned or assigned.
- `listing.with_instructions(left)` is the listing with another list of instructions.

The slope of sin again (`x()` is x, of shape ()), and what it keeps:""",
    judge_pass,
    answer=sweep(),
    spellings=[sweep(end=tuple)],
    hints=[
        (lambda listing: listing, "Nothing was removed"),
        (sweep(order=1), "You went through the list from the front. When you met sin"),
        (sweep(lambda needed, one: None), "Your function never calls `reads()`."),
        (sweep(lambda needed, one: needed.add(one.reads())), "puts in the iterator itself"),
        (sweep(lambda needed, one: needed.union(one.reads())), "`union` and `|` return another set"),
        (sweep(lambda needed, one: one.is_guard or needed.update(one.reads())), "but a guard reads its result"),
        (sweep(lambda needed, one: needed.add(next(one.reads()))), "which stays, reads its result"),
        (sweep(end=lambda left: left[::-1]), "The right instructions stay, but in reverse order."),
        (sweep(end=lambda left: left[1:] + left[:1]), "in another order"),
        (sweep(end=lambda left: left[:-1]), "but the program returns its result"),
        (sweep(end=lambda left: [one for one in left if not one.is_guard]), "A guard is gone."),
        (sweep(end=lambda left: []), "Your list is empty."),
        (sweep(end=lambda left: left.reverse()), "with_instructions got None."),
        (sweep(end=set), "with_instructions got a set, which has no order."),
        (sweep(end=iter), "with_instructions got an iterator"),
        (sweep(end=lambda left: left + left[:1]), "sin is in your list twice."),
        (unused, "That is `unused`, which this exercise leaves to you"),
    ],
    minutes=11,
)


READ_BACKWARDS = Table(
    "Read it backwards",
    """\
A linear program takes v = (v₀, v₁) and returns w = (w₀, w₁):

```python
a = 3 * v0
b = a + v1
w0 = 2 * b
w1 = 5 * a
```

Read it backwards, with a pencil. What are `"w0"` and `"w1"` for v = (1, 10)? What are `"v0_bar"` and `"v1_bar"`, the cotangents of v₀ and v₁, for the cotangents (1, 10) of w₀ and w₁? And what is `"both"`, the number that u · w and v̄ · v must both be, with v = u = (1, 10)?""",
    parts={
        "w0": Number(answer=26, hints={6: "w0: b is a + v1, and v1 is 10.", 15: "w0: that is w1."}),
        "w1": Number(answer=15, hints={65: "w1: it reads a, not b.", 26: "w1: that is w0."}),
        "v0_bar": Number(
            answer=156,
            hints={
                **dict.fromkeys((150, 6), "v0_bar: two lines use a, so two contributions arrive at it, 2 and 50."),
                52: "v0_bar: that is what arrives at a. The line above it multiplies by 3.",
                2: "v0_bar: that is v1_bar.",
            },
        ),
        "v1_bar": Number(
            answer=2,
            hints={
                10: "v1_bar: v1 is part of b alone. What arrives at b?",
                1: "v1_bar: what w0 sends back is multiplied by 2.",
            },
        ),
        "both": Number(
            answer=176,
            hints={
                26: "both: that is w0. u · w is 1 · w0 + 10 · w1.",
                156: "both: that is v0_bar. v̄ · v is v0_bar · 1 + v1_bar · 10.",
            },
        ),
    },
    why="Each factor stays, each arrow turns round, and `a`, which is used twice, becomes a sum.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, HOW_MANY, A_PASS, READ_BACKWARDS)
