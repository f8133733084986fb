"""A cluster: its predictions; a gradient block by block, what travels, and a mean over all blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, needs_dict, needs_each, needs_function, number, shortened
from ..predictions import Prediction


def by_blocks(answer: Any) -> str:
    """Check 21.1: the gradient of a mean over all rows, from blocks of different lengths."""
    needs_function(answer, "by_blocks(loss, w, blocks)")
    draw = np.random.default_rng(2021)
    w = draw.normal(size=3)
    blocks = [(draw.normal(size=(n, 3)) + n, draw.normal(size=n)) for n in (2, 5, 9)]
    seen: list[tuple[int, int]] = []

    def loss(w: Any, x: Any, y: Any) -> Any:
        plain = x.numpy() if isinstance(x, ad.Tensor | ad.Variable) else x
        seen.append((len(x), sum(bool(np.isin(plain, block).any()) for block, _ in blocks)))
        return np.mean((x @ w - y) ** 2)

    slopes = [2.0 * x.T @ (x @ w - y) / len(x) for x, y in blocks]
    right = sum(n * slope for n, slope in zip((2, 5, 9), slopes, strict=True)) / 16
    handed = [(x.copy(), y.copy()) for x, y in blocks]
    given = call(answer, loss, w.copy(), handed, written="by_blocks(loss, w, blocks)")
    if given is ...:
        raise NotYet("Replace the three dots: what does by_blocks return?")
    if given is None:
        raise NotYet("Your function returns None. If no `return` is missing, was w watched before loss was called?")
    found = _column(given, "Your function")
    if joined := [rows for rows, of_blocks in seen if of_blocks > 1]:
        raise NotYet(f"loss was given {max(joined)} rows of more than one block at once. Hand it one block at a time.")
    if found.shape == ():
        raise NotYet(
            "Your function returns one number, and the gradient has the shape of w, (3,). Is it the loss, or was the "
            "mean taken over the columns, too?"
        )
    if found.shape in [block.shape for block, _ in blocks]:
        raise NotYet(
            f"Your gradient has the shape {found.shape}, that of a block's x. It is asked for with respect to w."
        )
    if found.shape != (3,):
        raise NotYet(
            f"Your gradient has the shape {found.shape}, and w has the shape (3,). Add the blocks' gradients up."
        )
    if np.allclose(found, right, 1e-4, 1e-6):
        if not seen:
            raise NotYet(
                "The numbers are right, but loss was never called: this works for one loss only. Differentiate it."
            )
        return "Each block on its own, weighted by its rows, then added up: all that a cluster has to do."
    for wrong, hint in (
        (
            sum(slopes) / 3,
            "That is the plain average. A block of 9 rows counts more than one of 2: weight it by its rows.",
        ),
        (
            sum(slopes),
            "You added the gradients up. Each is the gradient of a mean, so weight it by its share of the rows.",
        ),
        (16 * right, "Almost: divide by the number of all rows at the end."),
        (-right, "The size is right, the sign is turned. The gradient points uphill; leave it as it is."),
        (3 * right, "Three times too large: `x.size` counts the numbers of a block, `len(x)` its rows."),
        (16 * right / 3, "You divided by the number of blocks. Divide by the number of all rows."),
        (slopes[-1], "That is the last block's gradient alone. Is it assigned in each turn, instead of added?"),
        (slopes[0], "That is the first block's gradient alone. Does the `return` end the loop in its first turn?"),
        (
            sum(slopes) / 16,
            "You divided by the number of all rows. Before that, multiply each block's gradient by its rows.",
        ),
        (2 * slopes[0] / 16, "Only the first block is in there. Does the `return` end the loop in its first turn?"),
        (9 * slopes[-1] / 16, "Only the last block is in there. Add to the total in each turn, with `+=`."),
    ):
        if np.allclose(found, wrong, 1e-4, 1e-6):
            raise NotYet(hint)
    raise NotYet(
        "The gradient differs. The mean over all rows is each block's mean times its rows, added, over all rows."
    )


def _column(given: Any, who: str) -> Any:
    try:
        return np.asarray(given.numpy() if isinstance(given, ad.Tensor) else given, dtype=float)
    except Exception as error:
        raise NotYet(f"{who} returns {shortened(given)}. It must return one array of numbers.") from error


def what_travels(answer: Any) -> str:
    """Check 21.2: the bytes of gradients and of rows, as a dict."""
    needs_dict(answer, '{"gradients": 1000, ...}')
    names = ("gradients", "rows", "doubled")
    needs_each(answer, names, "No number is given for")
    gradients, rows, doubled = (number(answer[name], f"the answer to {name}") for name in names)
    _judge(
        gradients,
        22_240.0,
        (
            (5_560.0, "That is how many numbers there are. Each has 4 bytes."),
            (22.24, "That is in kilobytes. The exercise asks for bytes."),
            (22.0, "That is in kilobytes, and rounded. The exercise asks for bytes."),
            (20_200.0, "That is the hidden layer alone. The layer of 10 outputs has variables as well."),
            (2_040.0, "That is the last layer alone. The hidden layer has variables as well."),
            (22_240.0 * 5e7, "The worker adds up the gradients of its rows before it sends anything."),
            (22_000.0, "You counted the kernels. The two layers have biases as well."),
            (5_500.0, "You counted the kernels. Add the biases, and 4 bytes for each number."),
            (44_480.0, "That is float64, of 8 bytes. These numbers are float32."),
            (444_800.0, "That is what all 20 workers send together. One worker is asked for."),
            (
                1_112.0,
                "Each worker sends a gradient of *every* variable: the rows are shared out, the variables are not.",
            ),
            (
                24_000.0,
                "The inputs are not variables. A layer has inputs × units numbers in its kernel, and units biases.",
            ),
        ),
        "For the gradients, count the variables first: inputs × units + units for each of the two layers.",
    )
    _judge(
        rows,
        2e10,
        (
            (4e11, "That is all the rows. One of 20 workers holds a twentieth of them."),
            (8e11, "That is all the rows, in float64. A worker holds a twentieth of them, and they are float32."),
            (1e11, "That is how many numbers all the workers hold. One worker is asked for, and bytes."),
            (4e9, "That is one column of all the rows. A row has 100 inputs, and a worker a twentieth of the rows."),
            (5e9, "That is how many numbers a worker holds. Each has 4 bytes."),
            (20.0, "That is in gigabytes. The exercise asks for bytes."),
            (400.0, "That is one row. A worker holds a twentieth of a billion."),
            (4e10, "That is float64, of 8 bytes. These numbers are float32."),
            (2e8, "That is one column. Each row has 100 inputs."),
            (5e7, "That is how many rows a worker holds. Each row has 100 inputs, of 4 bytes each."),
        ),
        "For the rows: how many does a worker hold, how many numbers are in each, and how many bytes in a number?",
    )
    _judge(
        doubled,
        1.0,
        (
            (2.0, "The rows double. Does the shape of a variable, and so of its gradient, depend on the rows?"),
            (0.5, "Nothing shrinks. Does the shape of a variable, and so of its gradient, depend on the rows?"),
            (22_240.0, "That is a number of bytes. By what *factor* does it grow?"),
            (
                44_480.0,
                "That is a number of bytes, and twice too many: does the shape of a variable depend on the rows?",
            ),
            (0.0, "Unchanged means a factor of 1."),
        ),
        "What does the shape of a gradient depend on? Compare with the table in the chapter.",
    )
    return "22 kilobytes instead of 20 gigabytes, and it stays at 22 however many rows there are."


def _judge(found: float, right: float, wrong: tuple[tuple[float, str], ...], otherwise: str) -> None:
    for value, hint in wrong:
        if np.isclose(found, value, 1e-6, 0.0):
            raise NotYet(hint)
    if not np.isclose(found, right, 1e-6, 0.0):
        raise NotYet(otherwise)


def scaled(answer: Any) -> str:
    """Check 21.3: mean and standard deviation over blocks that no machine sees together."""
    needs_dict(answer, '{"summary": summary, "combine": combine}')
    needs_each(answer, ("summary", "combine"), "No function is given for")
    needs_function(answer["summary"], "summary(block)")
    needs_function(answer["combine"], "combine(summaries)")
    draw = np.random.default_rng(2023)
    blocks = [draw.normal(size=(n, 2)) * (1.0 + n / 40) + [n / 10, 3.0] for n in (20, 40, 100)]
    everything = np.concatenate(blocks)
    summaries = [call(answer["summary"], block.copy(), written="summary(block)") for block in blocks]
    sizes = [_size(one) for one in summaries]
    if sizes[2] > sizes[0]:
        raise NotYet(
            f"summary sends {sizes[0]} numbers for a block of 20 rows, and {sizes[2]} for one of 100 rows. "
            "What travels must not grow with the rows: send sums."
        )
    given = call(answer["combine"], summaries, written="combine(summaries)")
    if given is ... or (isinstance(given, tuple | list) and any(one is ... for one in given)):
        raise NotYet("Replace the three dots: what does combine return?")
    if (not isinstance(given, tuple | list) and np.shape(given) != (2, 2)) or len(given) != 2:
        raise NotYet(f"combine returns {shortened(given)}. It must return two things: `return mean, std`.")
    mean, std = (_column(one, "combine") for one in given)
    if mean.shape == std.shape == (1, 2):  # of sums with keepdims
        mean, std = mean[0], std[0]
    if mean.shape != (2,) or std.shape != (2,):
        raise NotYet(
            f"The shapes are {mean.shape} and {std.shape}. For two columns both must be (2,): sum over axis 0."
        )
    means, variances = np.array([b.mean(axis=0) for b in blocks]), np.array([b.var(axis=0) for b in blocks])
    share = np.array([[20.0], [40.0], [100.0]]) / 160
    true = everything.std(axis=0)
    if np.allclose(std, everything.mean(axis=0), 1e-4) and np.allclose(mean, true, 1e-4):
        raise NotYet("The two are in the wrong order: return the mean first, then the standard deviation.")
    if np.allclose(mean, means.mean(axis=0), 1e-4):
        raise NotYet(
            "The mean is the plain average of the blocks' means. A block of 100 rows counts more than one of 20."
        )
    if np.allclose(mean, everything.sum(axis=0), 1e-4):
        raise NotYet("Those are the sums over all rows. Divide them by the number of rows.")
    if np.allclose(mean, everything.mean(axis=0) / 2, 1e-4):
        raise NotYet(
            "The mean is half as large as it should be: `block.size` counts the numbers, `len(block)` the rows."
        )
    if not np.allclose(mean, everything.mean(axis=0), 1e-4):
        raise NotYet(
            "The mean differs. It is the sum of all rows, over their number: add the sums, and add the numbers."
        )
    if np.allclose(std, true, 1e-4):
        return "The same mean and spread as over all rows, and a few numbers from each block instead of the rows."
    if not np.isfinite(std).all():
        raise NotYet(
            "A square root of a negative number was taken. Which is larger, the mean of the squares or the square of "
            "the mean?"
        )
    squares, centre = (everything**2).sum(axis=0), everything.mean(axis=0)
    for wrong, hint in (
        (np.sqrt(squares - centre**2), "Divide the sum of the squares by the number of rows before you subtract."),
        (np.sqrt(np.abs(squares / 160 - centre)), "You subtracted the mean. Subtract its square."),
        (np.sqrt(squares), "Divide the sum of the squares by the number of rows, and subtract the square of the mean."),
        (means.std(axis=0), "That is the spread of the blocks' means. The rows differ within each block, too."),
        (np.sqrt((share * variances).sum(axis=0) + means.var(axis=0)), "Almost: the spread of the means has to be "
         "weighted by the rows as well, and taken about the mean over all rows."),
        (true**2, "That is the variance. The standard deviation is its square root."),
        (np.sqrt((share * variances).sum(axis=0)), "That is the spread *within* the blocks. Their means differ, and "
         "that is part of the spread over all rows."),
        (np.sqrt(variances).mean(axis=0), "That averages the blocks' standard deviations. They can't be averaged: "
         "send sums of squares instead."),
        ((share * np.sqrt(variances)).sum(axis=0), "Standard deviations can't be averaged, not even weighted: send "
         "sums of squares instead."),
        (np.sqrt((everything**2).mean(axis=0)), "You forgot to subtract: the variance is the mean square *minus* "
         "the square of the mean."),
        (everything.std(axis=0, ddof=1), "Close: divide by the number of rows, not by one less, as `np.std` does."),
    ):  # fmt: skip
        if np.allclose(std, wrong, 1e-4):
            raise NotYet(hint)
    raise NotYet("The mean is right, the standard deviation differs. Send sums of squares as well, and subtract mean².")


def _size(summary: Any) -> int:
    if summary is ...:
        raise NotYet("Replace the three dots: what does summary return?")
    if summary is None:
        raise NotYet("summary returns None. Is a `return` missing?")
    if isinstance(summary, dict):
        summary = tuple(summary.values())
    if isinstance(summary, tuple | list):
        return sum(map(_size, summary))
    return int(_column(summary, "summary").size)


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "The rows are in eight files that nobody has read. How many entries will the tape have after the loss?",
        answer=5,
        hints={
            0: "An operation on `w` is recorded like any other. Does a tape need the numbers for that?",
            8: "The tape knows nothing of files or blocks. Count the operations that you see in the code.",
            40: "The tape knows nothing of files or blocks. Count the operations that you see in the code.",
            3: "There are three lines, but some have two operations in them.",
            4: "Count again: `@`, `+`, `-`, a power and a mean.",
        },
        why="One entry per operation, whatever kind of array it works on: `@`, `+`, `-`, `**` and the mean.",
    ),
    Prediction(
        "Both workers use the same `w`. How many contributions will reach it in the backward pass?",
        answer=2,
        hints={
            1: "Each worker multiplies its own rows by `w`. How many uses is that?",
            4: "There are four rows, but a worker handles its rows in one operation.",
        },
        why="`w` is used twice, once by each worker, and each use sends one contribution.",
    ),
    Prediction(
        "How closely will the gradients of the two workers agree with NumPy's?",
        answer="to many digits, perhaps not to the last bit",
        choices=("to many digits, perhaps not to the last bit", "always to the last bit", "to two or three digits"),
        hints={
            "always to the last bit": "Two workers add up in another order. Is (a + b) + c always a + (b + c)?",
            "to two or three digits": "Nothing is approximated: the same products are added up, only in another order.",
        },
        why="The same numbers are added in another order, so only rounding differs.",
    ),
    Prediction(
        "A block has a million rows. How many numbers must come back from it for the gradients of `w` and `b`?",
        answer=5,
        hints={
            4: "That is `w` alone. What about `b`?",
            40: "That is the number of bytes. How many numbers are those?",
            1_000_000: "The contributions of the rows are added up on the worker, before anything is sent.",
            5_000_000: "Those are the rows themselves. They stay where they are.",
        },
        why="A gradient has the shape of its variable: four numbers for `w`, one for `b`.",
    ),
    Prediction(
        "The same rows are cut into 8, 4 and 2 blocks, and scaled block by block. What happens to the slope?",
        answer="it differs each time",
        choices=("it stays the same", "it differs each time", "an error is raised"),
        hints={
            "it stays the same": "`scale` subtracts the mean of the block. Do longer blocks have the same means?",
            "an error is raised": "Each block is a good array of rows. What could fail?",
        },
        why="Every cut has its own means, so every cut has its own loss.",
    ),
    Judge(
        "One block at a time",
        """\
Write `by_blocks(loss, w, blocks)`. `blocks` is a list of pairs `(x, y)` of arrays, and not all of them have the same number of rows. `loss(w, x, y)` is the *mean* over the rows that it is given. Return the gradient, with respect to the array `w`, of the mean over **all** rows.

Never hand more than one block to `loss`. That's all the memory there is.""",
        by_blocks,
    ),
    Judge(
        "What travels",
        """\
A network has 100 inputs, one dense hidden layer of 50 units and a dense layer of 10 outputs, both with biases. All its numbers are float32, of 4 bytes each. It trains on a billion rows of 100 inputs, in float32 too, spread evenly over 20 workers.

- `gradients`: how many bytes of gradients does *one* worker send in a step?
- `rows`: how many bytes of inputs would one worker send if it sent its rows instead?
- `doubled`: twice as many rows arrive. By what factor does `gradients` grow?""",
        what_travels,
    ),
    Judge(
        "Scale without seeing all the rows",
        """\
Repair `scale` by hand. You need the mean and the standard deviation of each column over all rows, and no machine sees them all.

- `summary(block)` runs on the workers. It gets one block, an array of rows, and returns what travels: numbers or small arrays, however many rows the block has.
- `combine(summaries)` runs in the notebook. It gets the list of all summaries and returns the pair `(mean, std)`, one number for each column.""",
        scaled,
    ),
)
