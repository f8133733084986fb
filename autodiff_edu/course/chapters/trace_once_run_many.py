"""Trace once, run many: what was baked in, three traps, and a pass of one's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence, Set
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...compiled.compiling import DifferentError
from ...compiled.guards import LeavingError
from ...program.instructions import Instruction, Listing, Value
from ...program.passes import unused
from ..exercises import Case, Choice, Function, Judge, Table
from ..feedback import NotYet, call, forbid, kind_of, near, needs_function, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "The second step starts from a better guess. What will its tape record?",
        answer="the same operations, with other numbers",
        choices=(
            "the same operations, with other numbers",
            "fewer operations, since the tape knows the function now",
            "nothing, since it is already on a tape",
        ),
        hints={
            "fewer operations, since the tape knows the function now": "A tape knows nothing of earlier tapes.",
            "nothing, since it is already on a tape": "Each step opens a tape of its own.",
        },
        why="The function is the same, so the list is the same. Only the numbers in it are new.",
    ),
    Prediction(
        "We compile `penalty` naively, recording it at 0.5. What slope will the program return at 3?",
        answer=6,
        hints={
            2: "That's the right slope. But which branch is on the tape that was recorded at 0.5?",
            1: "That's the slope at 0.5. The numbers are computed again; only the operations are kept.",
            9: "That would be x² itself. What is its slope?",
        },
        why="The tape holds x * x, whose slope is 2x, and nothing that asks about 1.",
    ),
    Prediction(
        "We call the compiled step 10,000 times. How often will Python run the function itself?",
        answer="twice: to record it, and to check the recording",
        choices=(
            "10,000 times",
            "once, to record it",
            "twice: to record it, and to check the recording",
            "never",
        ),
        hints={
            "10,000 times": "That's without compiling. The program replaces the function.",
            "once, to record it": "Can one recording show whether the function does the same every time?",
            "never": "The function has to be recorded first.",
        },
        why="Most people say once. It's recorded once more to compare, because two recordings that differ can't become "
        "one program. After that, only the program runs.",
    ),
    Prediction(
        "`power` gets five calls: (2., 3), (5., 3), (2., 4), (an array of two, 3), (another array of two, 3). How many "
        "programs does it have then?",
        answer=3,
        hints={
            5: "Floats and the elements of arrays are inputs. Which calls differ in anything else?",
            4: "Floats and the elements of arrays are inputs. Which calls differ in anything else?",
            2: "Did you count only the shapes, or only n? Both choose the program.",
            1: "A number and an array have different shapes, and n = 4 makes a longer loop.",
        },
        why="One for a number with n = 3, one for n = 4, and one for two elements.",
    ),
    Prediction(
        "`chatty` prints a line and is called three times. How many such lines will you see?",
        answer=2,
        hints={
            3: "The program doesn't print.",
            1: "It prints while it's recorded. How many recordings are there?",
            0: "The function runs to be recorded, before the program takes over.",
        },
        why="It prints while it's recorded, once in each of the two recordings. The program that then runs has no print in "
        "it.",
    ),
    Prediction(
        "`temperature` is compiled and reads `room`, a global. It says 0.48 in the kitchen. We set `room` to 0.05. "
        "What will it say now?",
        answer="0.48, as in the kitchen",
        choices=("0.33, with the new room", "0.48, as in the kitchen", "an error"),
        hints={
            "0.33, with the new room": "Python reads `room` while it runs the function. Does it still run it?",
            "an error": "The program asks its guards, and no line of it asks about `room`.",
        },
        why="`room` was 0.20 while the function was recorded, and the program has only the number.",
    ),
)

WAYS = ("new value", "new program", "old value")
"""How a compiled function can answer a change."""

CHANGES: dict[str, tuple[str, dict[str, str]]] = {
    "a": (
        "new value",
        {
            "new program": "the shape and the dtype are the same as before. Do other numbers need other operations?",
            "old value": "x is an argument. When does a program read its arguments?",
        },
    ),
    "b": (
        "new program",
        {
            "new value": "the operations were recorded for arrays of two elements. Do they fit arrays of three?",
            "old value": "the recorded program is for two elements. Can it take an x of three at all?",
        },
    ),
    "c": (
        "new program",
        {
            "new value": "n is a whole number. What may Python do with one that it can't do with a float?",
            "old value": "n is an argument, so the new one counts. But can the same program answer?",
        },
    ),
    "d": (
        "new value",
        {
            "new program": "rate is a float. Can a float choose a shape, or the length of a loop?",
            "old value": "rate is an argument. When does a program read its arguments?",
        },
    ),
    "e": (
        "old value",
        {
            "new value": "scale is an array, but not an argument. When does the program read it?",
            "new program": "it's the arguments that choose the program. Is scale an argument?",
        },
    ),
    "f": (
        "new value",
        {
            "new program": "bias is still one float64 number. Do the operations change, or only a number that goes in?",
            "old value": "bias isn't an argument, but it's a variable. When does a program read those?",
        },
    ),
    "g": (
        "new program",
        {
            "new value": "is a program for float64 numbers right for float32 ones?",
            "old value": "x is an argument, so the new one counts. But is a program for float64 right for float32?",
        },
    ),
}
"""For each change what happens, and by each wrong answer what to think of."""


class Letters(Table):
    """A table whose letters may be capitals."""

    def judge(self, given: Any, name: str = "your answer") -> str:
        """Return `why` if an answer is right."""
        small = {str(letter).lower(): way for letter, way in given.items()} if isinstance(given, dict) else given
        return super().judge(small, name)


BAKED_IN = Letters(
    "What was baked in?",
    """\
```python
scale, bias = np.array([1.0, 2.0]), ad.Variable(0.5)

@ad.compile
def model(x, n, rate):
    return rate * np.sum((x * scale) ** n) + bias

model(np.array([3.0, 4.0]), 2, 0.1)
```

After this first call, you make one of these changes and call `model` again. What happens? Write `"new value"` if the same program reads the new value, `"new program"` if `model` is recorded again, and `"old value"` if the program keeps what it was recorded with.

| | the change |
|---|---|
| a | another `x` with two elements |
| b | an `x` with three elements, and a new `scale` to match |
| c | `n` is 3 |
| d | `rate` is 0.2 |
| e | `scale[0] = 9.0`, before the call |
| f | `bias.assign(2.0)`, before the call |
| g | the same two elements of `x`, as float32 |""",
    parts={
        letter: Choice(
            answer=right,
            choices=WAYS,
            hints={way: f'Not "{way}" for {letter}: {hint}' for way, hint in hints.items()},
        )
        for letter, (right, hints) in CHANGES.items()
    },
    spellings=[{letter.upper(): f" {right.title()}" for letter, (right, _) in CHANGES.items()}],
    why="Arrays and floats that you pass, and variables, are read again; shapes, dtypes and whole numbers choose the "
    "program; the rest is kept.",
    minutes=12,
)

DRAW = np.random.default_rng(172)
X, W = DRAW.standard_normal((6, 2)), np.array([0.3, -0.2])
NOISE = DRAW.standard_normal(X.shape)
NEAR, FAR = X @ W + 0.3, X @ W + 4.0
BELOW, ABOVE = X @ W + 0.96, X @ W + 1.04
"""Measurements with an error of 16, of little, and on both sides of 1."""

Step = Callable[..., Any]


@functools.lru_cache(maxsize=1)  # one for all calls of a function, as the branches need programs of their own
def compile_once(step: Any) -> Any:
    """Compile a learner's function."""
    return ad.compile(step.__wrapped__)


def take_step(step: Step, y: Any, noise: Any, size: float) -> Any:
    """Return the new w of a compiled step."""
    args = W, X, y, noise, size
    try:
        given = compile_once(step)(*args)
    except DifferentError as error:
        raise NotYet(
            "Two recordings gave different numbers, so something random is still drawn inside. Use `noise`."
        ) from error
    except LeavingError as error:
        told = str(error).partition(". ")[0]
        raise NotYet(
            f"ad.compile still refuses it. {told}. Leave tensors as they are, in comparisons and in what you return: "
            "no float(), np.float64(), .item() or .numpy()."
        ) from error
    except Exception as error:
        step(*args)  # names what raises it without compiling, too
        raise NotYet("Return the new w, a tensor. Is something still three dots, or a plain number?") from error
    if not isinstance(given, ad.Tensor) or given.shape != W.shape:
        missing = " Is a `return` missing?" if given is None else ""
        raise NotYet(f"I need only the new w, of shape {W.shape}, and got {shorten(given)}, {kind_of(given)}.{missing}")
    return given


def read_without_noise(step: Step) -> Any:
    """Return what a step comes to if it doesn't depend on the noise."""
    one, other = (take_step(step, NEAR, times * NOISE, 0.1) for times in (1, -1))
    return one if near(one, other) else "depends on it"


def call_with(y: Any, times: float, size: float) -> Case:
    """Return the case of one call."""
    return Case(
        lambda step: take_step(step, y, times * NOISE, size),
        f"It compiles, but after a step with size {size} the new w is {{answer}}; yours is {{given}}. Apart from the "
        "noise, `size` and float(), leave the step as it was.",
    )


def vary_step(
    noise: Any = lambda noise: 0.01 * noise,
    size: Any = lambda size: size,
    is_large: Any = lambda error: error > 1.0,
    damp: Any = lambda slope: slope / 10.0,
    mean: Any = np.mean,
    result: Any = lambda w, slope, size: w - size * slope,
) -> Step:
    """Return the training step, with parts of it changed."""

    def step(w: Any, x: Any, y: Any, noise_given: Any, size_given: Any) -> Any:
        noisy = x + noise(noise_given)
        error, slope = ad.value_and_grad(lambda w: mean((noisy @ w - y) ** 2))(w)
        if is_large(error):
            slope = damp(slope)
        return result(w, slope, size(size_given))

    return step


def ask_clean_error(w: Any, x: Any, y: Any, noise: Any, size: Any) -> Any:
    """Ask about the error without noise."""
    slope = ad.grad(lambda w: np.mean(((x + 0.01 * noise) @ w - y) ** 2))(w)
    if np.mean((x @ w - y) ** 2) > 1.0:
        slope = slope / 10.0
    return w - size * slope


def say_no(error: Any) -> bool:
    """Return that no error is large."""
    return False


NOT_DIVIDED = "With an error above 1, the slope should be divided by 10. "
TOO_OFTEN = "With an error below 1, the slope should stay as it is. Only with an error above 1 is it divided."
A_TENTH = "Your step is a tenth of what it should be. Is there a 0.1, or a division by 10, too many?"
REPAIRED = Function(
    "Three traps in one step",
    """\
This training step works, but `ad.compile` refuses two of its lines, and a third would silently keep using the old `size`.

```python
random, size = np.random.default_rng(0), 0.1

def training_step(w, x, y):
    noisy = x + 0.01 * random.standard_normal(x.shape)
    loss = lambda w: np.mean((noisy @ w - y) ** 2)
    error, slope = ad.value_and_grad(loss)(w)
    if float(error) > 1.0:
        slope = slope / 10.0
    return w - size * slope
```

(`value_and_grad` returns the value and the gradient at once.) Write it so that it compiles. The caller now draws `noise`, an array of standard normal numbers in the shape of `x`, and chooses `size`.""",
    signature="repaired(w, x, y, noise, size)",
    cases=[
        Case(
            read_without_noise,
            "Your step doesn't depend on `noise`. Draw nothing yourself: add 0.01 times what the caller drew.",
        ),
        call_with(FAR, 1, 0.3),
        call_with(NEAR, 1, 0.1),
        call_with(NEAR, -1, 0.1),
        call_with(NEAR, 1, 0.7),
        call_with(BELOW, 1, 0.1),
        call_with(ABOVE, 1, 0.1),
        call_with(BELOW, -100, 0.1),  # so much noise that it decides the branch
    ],
    answer=vary_step(),
    spellings=[
        vary_step(noise=lambda noise: noise / 100),
        lambda w, x, y, noise, size: vary_step()(ad.constant(w), x, y, noise, size),
    ],
    hints=[
        (vary_step(noise=lambda noise: 0.0 * noise), "The noise is missing: x should become x + 0.01 * noise."),
        (vary_step(noise=lambda noise: noise), "The noise is a hundredth: 0.01 * noise."),
        (vary_step(noise=lambda noise: 0.1 * noise), "The noise is a hundredth, not a tenth: 0.01 * noise."),
        (vary_step(noise=lambda noise: -0.01 * noise), "You subtracted the noise. Add it: x + 0.01 * noise."),
        (
            ask_clean_error,
            "Your `if` asks about the error of the clean x. Ask about the error with noise, the one whose slope you "
            "take.",
        ),
        (
            vary_step(damp=lambda slope: 10.0 * slope),
            "With an error above 1, you multiply the slope by 10. Divide it by 10.",
        ),
        (vary_step(is_large=say_no), NOT_DIVIDED + "Yours never is. Is an `if` missing?"),
        (vary_step(is_large=lambda error: error < 1.0), NOT_DIVIDED + "Is the comparison the right way round?"),
        (
            vary_step(is_large=lambda error: error > 2.0),
            "An error of 1.08 is above 1, too: does int() or round() make it 1? "
            + NOT_DIVIDED
            + "Is the comparison with 1.0?",
        ),
        *((vary_step(is_large=is_large), TOO_OFTEN) for is_large in (lambda error: True, lambda error: error > 0.5)),
        (
            vary_step(is_large=lambda error: np.ones(2) * error > 1.0),
            "The `if` asks about the slope. `value_and_grad` returns the value first.",
        ),
        (
            vary_step(mean=np.sum),
            "That's the step for the sum of the squares. The loss is their mean: np.mean.",
        ),
        (vary_step(size=lambda size: 1.0), "You subtract the whole slope. Multiply it by `size` first."),
        (
            vary_step(size=lambda size: 0.1),
            "I passed another `size`, and the step didn't change. Does it use the global one?",
        ),
        (vary_step(size=lambda size: 0.1 * size), A_TENTH),
        (vary_step(damp=lambda slope: slope / 100.0), A_TENTH),
        (lambda w, x, y, noise, size: w * 1.0, "You return w unchanged. Return w - size * slope."),
        *(
            (vary_step(is_large=is_large, result=result), hint)
            for is_large in (lambda error: error > 1.0, say_no)
            for result, hint in (
                (lambda w, slope, size: slope, "That's the slope. Return the new w: w - size * slope."),
                (lambda w, slope, size: size * slope, "That's the change. Return w minus it."),
                (lambda w, slope, size: -size * slope, "That's the change alone. Return w - size * slope."),
                (lambda w, slope, size: w + size * slope, "That's uphill: subtract the slope."),
            )
        ),
    ],
    why="It compiles, and both of its paths are right.",
    minutes=12,
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

Here's a small one, the slope of sin before any pass, with what each line reads and computes (`x()` is x, of shape ()):""",
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

QUESTIONS = (*PREDICTIONS, BAKED_IN, REPAIRED, A_PASS)
