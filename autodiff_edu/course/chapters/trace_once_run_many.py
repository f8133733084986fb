"""Trace once, run many: what was baked in, three traps in one step, and five complaints."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...compiled.compiling import DifferentError
from ...compiled.guards import LeavingError
from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet, kind_of, near, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "A thousand steps, a thousand tapes. Leave out the numbers: how many different lists of operations do they hold?",
        answer=1,
        hints={
            1000: "Each tape has other numbers. Which operation would be another one at another guess?",
            7: "That's the length of one list.",
            2: "The start is another number, but is any operation another one?",
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
        answer="twice",
        choices=(
            "10,000 times",
            "once",
            "twice",
            "never",
        ),
        hints={
            "10,000 times": "That's without compiling. The program replaces the function.",
            "once": "Can one recording show whether the function does the same every time?",
            "never": "The function has to be recorded first.",
        },
        why="It's recorded, and once more to compare, because two recordings that differ can't become one program. After "
        "that, only the program runs.",
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
    minutes=9,
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
    minutes=9,
)


def cause(answer: str, **hints: str) -> Choice:
    """Return the form for one complaint of exercise 3; in the names of hints, an underscore is a space."""
    choices = ("branch", "whole number", "print", "global", "random")
    return Choice(answer=answer, choices=choices, hints={name.replace("_", " "): hint for name, hint in hints.items()})


COMPLAINTS = Table(
    "Five complaints",
    """\
Five people write about functions that they have compiled, each with another tool. Which of these is each? Answer `"branch"`, `"whole number"`, `"print"`, `"global"` or `"random"`.

- a: "My step takes the number of the turn, to let the rate fall. Compiled, it's slower than before, and it needs more memory in every turn."
- b: "I set `limit = 5.0` in a cell, and the fit obeyed. Now I set `limit = 2.0` and it still obeys 5.0."
- c: "I count how often the function runs, in a list. After a thousand steps there are two entries in it. The results are right."
- d: "A layer of a library drops a tenth of its inputs. In training it seems to drop the same tenth in every step."
- e: "For small errors it agrees with the function that I compiled, and for large ones its slopes are far too large.\"""",
    parts={
        "a": cause(
            "whole number",
            random="In a, the results aren't said to be wrong. What is recorded anew in every turn?",
            branch="In a, the results aren't said to be wrong. What is recorded anew in every turn?",
        ),
        "b": cause(
            "global",
            branch="In b, no path through the function has changed, but a number that it reads.",
            whole_number="In b, nothing that is passed has changed.",
        ),
        "c": cause(
            "print",
            whole_number="In c, two recordings were made. What happened in the list only then?",
            branch="In c, the results are right. What isn't part of a program?",
            random="In c, the results are right. What isn't part of a program?",
        ),
        "d": cause(
            "random",
            branch="In d, which inputs are dropped should be drawn anew. When was it drawn?",
            whole_number="In d, which inputs are dropped should be drawn anew. When was it drawn?",
        ),
        "e": cause(
            "branch",
            random="In e, it depends on the size of the error. What in the function asks about that?",
            whole_number="In e, it depends on the size of the error. What in the function asks about that?",
        ),
    },
    otherwise="Ask of each: what was fixed when it was recorded, and should have been asked again?",
    why="In each, something was settled while the function was recorded, and should have been asked anew.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, BAKED_IN, REPAIRED, COMPLAINTS)
