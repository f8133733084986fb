"""The exercises of chapter 17, trace once, run many: what was baked in, three traps, a pass of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...compiled.compiling import DifferentError
from ...compiled.guards import LeavingError
from ...program.instructions import Instruction, Listing, Value
from ...program.passes import unused
from ..exercises import Exercise, Judge
from ..feedback import NotYet, by_hand, call, near, needs_dict, needs_each, needs_function, shortened
from ..predictions import Prediction
from .wrong_17 import why_pass

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
"""For each change of 17.1 the answer, and by each wrong one what to think of."""


def baked_in(answer: Any) -> str:
    """Check 17.1: for seven changes, which value counts."""
    needs_dict(answer, '{"a": "new value", ...}')
    answer = {str(name).lower(): way for name, way in answer.items()}
    needs_each(answer, "abcdefg", "Your answer leaves out")
    given = {name: " ".join(str(answer[name]).lower().split()) for name in CHANGES}
    for name, word in given.items():
        if word not in WAYS:
            raise NotYet(f'For {name}, write "new value", "new program" or "old value", not {shortened(answer[name])}.')
    for name, (right, hints) in CHANGES.items():
        if given[name] != right:
            raise NotYet(f'Not "{given[name]}" for {name}: {hints[given[name]]}')
    return (
        "Arrays and floats that you pass, and variables, are read again; shapes, dtypes and whole numbers choose the "
        "program; the rest is kept."
    )


SIGNATURE = "repaired(w, x, y, noise, size)"


def repaired(answer: Any) -> str:
    """Check 17.2: a training step that compiles, and computes what it should on both paths."""
    needs_function(answer, SIGNATURE)
    random = np.random.default_rng(172)
    x, w = random.standard_normal((6, 2)), np.array([0.3, -0.2])
    near_y, far_y = x @ w + 0.3, x @ w + 4.0
    below, above = x @ w + 0.96, x @ w + 1.04  # on both sides of the threshold
    noise = random.standard_normal(x.shape)
    compiled = ad.compile(answer)
    cases = [(far_y, 1, 0.3), (near_y, 1, 0.1), (near_y, -1, 0.1), (near_y, 1, 0.7), (below, 1, 0.1), (above, 1, 0.1)]
    cases.append((below, -100, 0.1))  # so much noise that it decides the branch
    one, other = (_compiled_call(answer, compiled, w, x, near_y, times * noise, 0.1) for times in (1, -1))
    ignores = isinstance(one, ad.Tensor) and near(one, other)
    for y, times, size in cases:
        given = _compiled_call(answer, compiled, w, x, y, times * noise, size)
        _judge_step(given, w, x, y, times * noise, size, ignores)
    return "It compiles, and both of its paths are right."


def _compiled_call(answer: Any, compiled: Any, *args: Any) -> Any:
    try:
        given = compiled(*args)
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
        if "any()" in str(error):
            raise NotYet("The `if` asks about the slope. `value_and_grad` returns the value first.") from error
        call(answer, *args, written=SIGNATURE)  # names what raises it without compiling, too
        raise NotYet("Return the new w, a tensor. Is something still three dots, or a plain number?") from error
    return given


def _judge_step(given: Any, w: Any, x: Any, y: Any, noise: Any, size: float, ignores: bool) -> None:
    if isinstance(given, tuple | list | dict):
        raise NotYet(f"Your step returns a {type(given).__name__}. Return only the new w.")
    if not isinstance(given, ad.Tensor) or given.shape != w.shape:
        missing = " Is a `return` missing?" if given is None else ""
        raise NotYet(f"I need the new w, of shape {w.shape}, and got {shortened(given)}.{missing}")

    def after(noise: Any, size: float, damped: bool | None = None, samples: int = len(y), damping: float = 0.1) -> Any:
        noisy = x + 0.01 * noise
        residual = noisy @ w - y
        slope = 2 * noisy.T @ residual / samples
        large = np.sum(residual**2) / samples > 1.0 if damped is None else damped
        return w - size * (damping * slope if large else slope)

    right = after(noise, size)
    clean = bool(np.mean((x @ w - y) ** 2) > 1.0)
    error = np.mean(((x + 0.01 * noise) @ w - y) ** 2)
    cut = f"An error of {error:.2f} is above 1, too: does int() or round() make it 1? " if 1.0 < error < 2.0 else ""
    known = [
        (after(0.0 * noise, size), "The noise is missing: x should become x + 0.01 * noise."),
        (after(100.0 * noise, size), "The noise is a hundredth: 0.01 * noise."),
        (after(10.0 * noise, size), "The noise is a hundredth, not a tenth: 0.01 * noise."),
        (after(-noise, size), "You subtracted the noise. Add it: x + 0.01 * noise."),
        (
            after(noise, size, clean),
            "Your `if` asks about the error of the clean x. Ask about the error with noise, the one whose slope you "
            "take.",
        ),
        (after(noise, size, damping=10.0), "With an error above 1, you multiply the slope by 10. Divide it by 10."),
        (
            after(noise, size, damped=False),
            cut + "With an error above 1, the slope should be divided by 10. Is the comparison the right way round?",
        ),
        (
            after(noise, size, damped=True),
            "With an error below 1, the slope should stay as it is. Only with an error above 1 is it divided.",
        ),
        (after(noise, size, samples=1), "That's the step for the sum of the squares. The loss is their mean: np.mean."),
        (after(noise, 1.0), "You subtract the whole slope. Multiply it by `size` first."),
        (after(noise, 0.1), "I passed another `size`, and the step didn't change. Does it use the global one?"),
        (
            after(noise, 0.1 * size),
            "Your step is a tenth of what it should be. Is there a 0.1, or a division by 10, too many?",
        ),
    ]
    for change in (w - right, w - after(noise, size, damped=False)):
        known += [
            (change / size, "That's the slope. Return the new w: w - size * slope."),
            (change, "That's the change. Return w minus it."),
            (-change, "That's the change alone. Return w - size * slope."),
            (w + change, "That's uphill: subtract the slope."),
        ]
    if near(given, right):
        return
    for wrong, hint in known:
        if near(given, wrong):
            raise NotYet(hint)
    if ignores:
        if near(given, w):
            raise NotYet("You return w unchanged. Return w - size * slope.")
        raise NotYet("Your step doesn't depend on `noise`. Draw nothing yourself: add 0.01 times what the caller drew.")
    raise NotYet(
        f"It compiles, but after a step with size {size} the new w is {np.array2string(right, precision=5)}; yours is "
        f"{np.array2string(given.numpy(), precision=5)}. "
        "Apart from the noise, `size` and float(), leave the step as it was."
    )


class _Watched(Instruction):
    """An instruction that reports when a pass calls `reads()`, and when it goes through what that returns."""

    def __init__(self, one: Instruction, called: Callable[[Any], Any], used: Callable[[Any], Any]) -> None:
        super().__init__(one.operation, one.values, one.parameters, one.output_value, one.where, one.errors)
        self.answer = one.answer
        self.plain, self.called, self.used = one, called, used

    def reads(self) -> Iterator[Value]:
        self.called(self.plain)
        return self._values_read()

    def _values_read(self) -> Iterator[Value]:
        self.used(self.plain)
        yield from self.plain.reads()


_Watched.__name__ = Instruction.__name__  # which Python names in its errors


def write_a_pass(answer: Any) -> str:
    """Check 17.3: a pass that removes unused instructions, on recorded programs."""
    needs_function(answer, "drop_unused(listing)")
    for function in _programs():
        listing = ad.compile(function, passes=()).program(np.array([0.5, 1.5])).listing
        called: list[Instruction] = []
        used: list[Instruction] = []
        refusing = by_hand(called.append, {unused.__code__: "unused"}, "write the loop yourself.")
        watched = [_Watched(one, refusing, used.append) for one in listing.instructions]
        left = [one.plain for one in _stays(answer, listing.with_instructions([*watched]), watched)]
        right = unused(listing).instructions
        if left != right:
            raise NotYet(why_pass(left, right, listing, called, used))
    return "That's dead-code elimination, a pass that every compiler has. ad.compile runs yours like its own."


def _programs() -> list[Callable[[Any], Any]]:
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


def _stays(answer: Any, listing: Listing, before: list[_Watched]) -> list[_Watched]:
    """Return the instructions that a learner's pass leaves."""
    try:
        given = call(answer, listing, written="drop_unused(listing)")
    except NotYet as problem:
        if "'generator'" in str(problem.__cause__):
            raise NotYet(
                "`reads()` returns an iterator, not a set. Write needed.update(instruction.reads()), or make a set of "
                "it: set(instruction.reads())."
            ) from problem
        if "'method'" in str(problem.__cause__):
            raise NotYet("`kept` and `reads` are methods. To call them, write `kept()` and `reads()`.") from problem
        raise
    if listing.instructions != before:
        raise NotYet("Leave listing.instructions as it is: collect what stays in a list of its own.")
    if given is None:
        raise NotYet("Your function returned None. Is a `return` missing?")
    if isinstance(given, list):
        raise NotYet("Return a listing, not a list: listing.with_instructions(left).")
    if not isinstance(given, Listing):
        raise NotYet(f"Return listing.with_instructions(left). I got {shortened(given)}.")
    left: Any = given.instructions
    if left is ...:
        raise NotYet("Replace the three dots with the list of the instructions that stay.")
    if left is None:
        raise NotYet(
            "with_instructions got None. Methods such as `reverse`, `append` and `insert` change a list and return "
            "None. left[::-1] is the list turned round."
        )
    if isinstance(left, Iterator):
        raise NotYet("with_instructions got an iterator, which can be used only once. Make a list of it: list(…).")
    if isinstance(left, Set):
        raise NotYet("with_instructions got a set, which has no order. Collect the instructions in a list.")
    if not isinstance(left, Sequence):
        raise NotYet(f"with_instructions needs a list, and got an object of type {type(left).__name__}.")
    kept = list(left)
    for place, one in enumerate(kept):
        if not isinstance(one, Instruction):
            raise NotYet(f"The list should hold the instructions that stay, and yours holds {shortened(one)}.")
        if one not in before:
            raise NotYet(
                f"Your list holds an instruction that isn't in this listing, {one.name}. Begin each call with an empty "
                "list, and append the listing's own instructions."
            )
        if one in kept[:place]:
            raise NotYet(f"{one.name} is in your list twice. Append each instruction that stays only once.")
    return kept


QUESTIONS: tuple[Prediction | Exercise, ...] = (
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
        answer=1,
        hints={
            3: "The program doesn't print.",
            2: "Well reasoned! But the second recording is silenced.",
            0: "The function runs once, to be recorded, before the program takes over.",
        },
        why="It prints while it's recorded, and the program that then runs has no print in it. The second recording is "
        "silenced, so the line appears once.",
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
    Judge(
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
        baked_in,
    ),
    Judge(
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
        repaired,
    ),
    Judge(
        "Write a pass",
        """\
`passes` also takes functions, so you can add a pass of your own. Write one of ours yourself: `unused`. A pass takes a **listing** and returns another:

- `listing.instructions` is the list, in the order in which it runs. Each instruction has an `output_value`, what it computes, and `reads()`, an iterator over the values that it needs. A guard has the `output_value` None, and must stay.
- `listing.kept()` is the set of values that leave the program, because they're returned or assigned.
- `listing.with_instructions(left)` is the listing with another list of instructions.

Here's a small one, the slope of sin before any pass, with what each line reads and computes (`x()` is x, of shape ()):""",
        write_a_pass,
    ),
)
