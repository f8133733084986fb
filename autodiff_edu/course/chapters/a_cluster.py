"""A cluster: its predictions; a gradient block by block, five jobs to diagnose, and a mean over all blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record
from ...trace.hook import hook
from ..exercises import Case, Choice, Function, Judge, Table
from ..feedback import call, needs_dict, needs_each, needs_function, numbers
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "How much will this job hold at most: reading the file of 32 MB into an array, and the gradient of the loss?",
        answer="far more than 32 MB",
        choices=("16 MB", "32 MB", "far more than 32 MB"),
        hints={
            "16 MB": "That's the room there is. `np.load` reads all of the file.",
            "32 MB": "That's the rows alone. What does the tape keep of the operations on them?",
        },
        why="The rows are 32 MB, and the tape keeps what `@`, `-` and `**` have read and returned, all rows at once.",
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
        "The rows are in a file that nobody has read. How many entries will the tape have after the loss?",
        answer=5,
        hints={
            0: "An operation on `w` is recorded like any other. Does a tape need the numbers for that?",
            16: "The tape knows nothing of files or blocks. Count the operations that you see in the code.",
            80: "The tape knows nothing of files or blocks. Count the operations that you see in the code.",
            3: "There are three lines, but some have two operations in them.",
            4: "Count again: `@`, `+`, `-`, a power and a mean.",
        },
        why="One entry per operation, whatever kind of array it works on: `@`, `+`, `-`, `**` and the mean.",
    ),
    Prediction(
        "Sixteen blocks of 2 MB, one task after the other. Does the gradient fit into 16 MB?",
        answer="yes, with some MB to spare",
        choices=("yes, with some MB to spare", "yes, but only just", "no"),
        hints={
            "no": "Must all the blocks be there at the same time?",
            "yes, but only just": "Must half of the blocks be there at the same time? What is left of one when its part "
            "of the gradient has been computed?",
        },
        why="One block and what is computed from it are there at once. Of each, only four numbers are left for `w`.",
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
)

DRAW = np.random.default_rng(2021)
W = DRAW.normal(size=3)
BLOCKS = [(DRAW.normal(size=(n, 3)) + n, DRAW.normal(size=n)) for n in (2, 5, 9)]


def run(by_blocks: Any) -> dict[str, Any]:
    """Return a gradient, how many blocks the loss and a tape saw at most, and with what the loss was called."""
    together, called, current = [1], ["never"], set[int]()
    tapes: dict[int, tuple[Any, set[int]]] = {}  # the tape too, so that its id stays its own

    def loss(w: Any, x: Any, y: Any) -> Any:
        plain = x.numpy() if isinstance(x, ad.Tensor | ad.Variable) else x
        current.clear()
        current.update(k for k, (block, _) in enumerate(BLOCKS) if np.isin(plain, block).any())
        together.append(len(current))
        called.append("with a tensor" if isinstance(w, ad.Tensor | ad.Variable) else "with numbers")
        return np.mean((x @ w - y) ** 2)

    def note(event: Event) -> None:
        if isinstance(event, Record):
            tapes.setdefault(id(event.tape), (event.tape, set()))[1].update(current)

    with hook(note):
        gradient = by_blocks(loss, W.copy(), [(x.copy(), y.copy()) for x, y in BLOCKS])
    return {
        "gradient": gradient,
        "blocks in a call": max(together),
        "blocks on a tape": max((len(seen) for _, seen in tapes.values()), default=1),
        "called": max(called, key=["never", "with numbers", "with a tensor"].index),
    }


def weight_blocks(
    weight: Callable[[Any], float] = len, finish: Callable[[Any], Any] = lambda total: total / 16, of: Any = slice(None)
) -> Callable[..., Any]:
    """Return an answer to exercise 1 that weights, chooses and finishes as it is told."""
    return lambda loss, w, blocks: finish(sum(weight(x) * ad.grad(loss)(w, x, y) for x, y in blocks[of]))


def on_one_tape(loss: Any, w: Any, blocks: Any) -> Any:
    """Record the loss of all blocks before the one backward pass."""
    w = ad.Variable(w)
    with ad.GradientTape() as tape:
        target = sum(loss(w, x, y) * (len(x) / 16) for x, y in blocks)
    return tape.gradient(target, w)


def by_differences(loss: Any, w: Any, blocks: Any) -> Any:
    """Nudge each weight by a thousandth to both sides."""
    nudges = np.eye(len(w)) / 1000
    return sum(len(x) * np.array([loss(w + n, x, y) - loss(w - n, x, y) for n in nudges]) for x, y in blocks) * 500 / 16


NOT_FOLLOWED = (
    "The numbers are right, but loss was called with plain numbers only, as for differences. Differentiate it."
)
ONE_TAPE = (
    "The gradient is right, but one tape recorded all three blocks, and it keeps what it recorded until its backward "
    "pass. Take a tape for each block."
)
COLUMNS = "Your gradient has the shape of a block's x. It is asked for with respect to w."

BY_BLOCKS = Function(
    "One block at a time",
    """\
Write `by_blocks(loss, w, blocks)`. `blocks` is a list of pairs `(x, y)` of arrays, and not all of them have the same number of rows. `loss(w, x, y)` is the *mean* over the rows that it is given. Return the gradient, with respect to the array `w`, of the mean over **all** rows.

Never hand more than one block to `loss`. That's all the memory there is.""",
    signature="by_blocks(loss, w, blocks)",
    cases=[
        Case(
            lambda by_blocks: run(by_blocks)["blocks in a call"],
            "loss was given rows of {given} blocks at once. Hand it one block at a time.",
        ),
        Case(
            lambda by_blocks: run(by_blocks)["gradient"],
            lambda found, wanted: (
                f"Your gradient has the shape {np.shape(found)}, and w has the shape (3,). Add the "
                "blocks' gradients up."
                if np.shape(found) != np.shape(wanted)
                else "The gradient differs. Multiply each block's mean by its rows, add up, and divide by the number of all rows."
            ),
            within=1e-4,
        ),
        Case(
            lambda by_blocks: run(by_blocks)["called"],
            lambda found, _: (
                "The numbers are right, but loss was never called: this works for one loss only. Differentiate it."
                if found == "never"
                else NOT_FOLLOWED
            ),
        ),
        Case(
            lambda by_blocks: run(by_blocks)["blocks on a tape"],
            ONE_TAPE.replace("all three", "{given}"),
        ),
    ],
    answer=weight_blocks(),
    spellings=[
        lambda *given: weight_blocks()(*given).numpy().astype("float32"),
        lambda loss, w, blocks: weight_blocks()(
            loss, w, [(x[k : k + 1], y[k : k + 1]) for x, y in blocks for k in range(len(x))]
        ),
    ],
    hints=[
        (on_one_tape, ONE_TAPE),
        (by_differences, NOT_FOLLOWED),
        (
            lambda *given: None,
            "Your function returns None. If no `return` is missing, was w watched before loss was called?",
        ),
        (
            lambda *given: np.full((), ...),
            "Your function returns one number, and the gradient has the shape of w, (3,). Is it the loss, or was the "
            "mean taken over the columns, too?",
        ),
        *((lambda loss, w, blocks, k=k: np.full(blocks[k][0].shape, ...), COLUMNS) for k in range(3)),
        (
            weight_blocks(lambda x: 1, lambda total: total / 3),
            "That is the plain average. A block of 9 rows counts more than one of 2: weight it by its rows.",
        ),
        (
            weight_blocks(lambda x: 1, lambda total: total),
            "You added the gradients up. Each is the gradient of a mean, so weight it by its share of the rows.",
        ),
        (weight_blocks(finish=lambda total: total), "Almost: divide by the number of all rows at the end."),
        (
            weight_blocks(finish=lambda total: -total / 16),
            "The size is right, the sign is turned. The gradient points uphill; leave it as it is.",
        ),
        (
            weight_blocks(np.size),
            "Three times too large: `x.size` counts the numbers of a block, `len(x)` its rows.",
        ),
        (
            weight_blocks(finish=lambda total: total / 3),
            "You divided by the number of blocks. Divide by the number of all rows.",
        ),
        (
            weight_blocks(lambda x: 1, lambda total: total, slice(-1, None)),
            "That is the last block's gradient alone. Is it assigned in each turn, instead of added?",
        ),
        (
            weight_blocks(lambda x: 1, lambda total: total, slice(1)),
            "That is the first block's gradient alone. Does the `return` end the loop in its first turn?",
        ),
        (
            weight_blocks(lambda x: 1),
            "You divided by the number of all rows. Before that, multiply each block's gradient by its rows.",
        ),
        (
            weight_blocks(of=slice(1)),
            "Only the first block is in there. Does the `return` end the loop in its first turn?",
        ),
        (
            weight_blocks(of=slice(-1, None)),
            "Only the last block is in there. Add to the total in each turn, with `+=`.",
        ),
    ],
    why="Each block on its own, weighted by its rows, then added up: all that a cluster has to do.",
    minutes=9,
)

FAULTS = ("right", "mean of means", "sum of means", "penalty in each", "scaled by block")


def fault(right: str, /, **hints: str) -> Choice:
    """Return the form for what one job does."""
    return Choice(answer=right, choices=FAULTS, hints={name.replace("_", " "): hint for name, hint in hints.items()})


ALIKE = "A gives the same slope for every cut. Which of the five doesn't depend on the cut?"
CONSTANT = "In {} the cuts into 8 and 4 blocks agree, and only the unequal cut doesn't. What would count a long block and a short one alike?"
DOUBLES = "C is twice as large with 8 blocks as with 4. What is proportional to the number of blocks?"
STEPS = "From 3 blocks to 4, D grows by 0.20, and from 4 to 8 by 0.80. What does each block add?"
OTHER = "From 3 blocks to 4, E grows by 0.16, but from 4 to 8 by only 0.08. Is a constant added for each?"

FIVE_JOBS = Table(
    "Five jobs, three cuts",
    """\
Five jobs should compute the same slope, that of mean((w · x − y)²) + w²/10 for 1,200 rows at w = 1, and one of them does. The first two cuts have equal blocks; the last has blocks of 500, 500 and 200 rows. In the rows, x drifts upwards.

```text
               A        B        C        D        E
8 blocks   -8.18    -8.18   -65.47    -6.78    -1.78
4 blocks   -8.18    -8.18   -32.73    -7.58    -1.86
3 blocks   -8.18    -9.96   -29.89    -7.78    -2.02
```

What does each do? Write one of these as a string.

- "right": what it should
- "mean of means": the plain average of the blocks' slopes
- "sum of means": the sum of the blocks' slopes
- "penalty in each": the blocks' parts are added up, and each contains all of w²/10
- "scaled by block": each block scales its own x to mean 0 and standard deviation 1""",
    parts={
        "A": fault("right", mean_of_means=ALIKE, sum_of_means=ALIKE, penalty_in_each=ALIKE, scaled_by_block=ALIKE),
        "B": fault(
            "mean of means",
            right="B gives another slope when the blocks differ in length.",
            sum_of_means=CONSTANT.format("B"),
            penalty_in_each=CONSTANT.format("B"),
            scaled_by_block=CONSTANT.format("B"),
        ),
        "C": fault(
            "sum of means",
            right="C depends on the cut.",
            mean_of_means=DOUBLES,
            penalty_in_each=DOUBLES,
            scaled_by_block=DOUBLES,
        ),
        "D": fault(
            "penalty in each",
            right="D depends on the cut.",
            mean_of_means=STEPS,
            sum_of_means=STEPS,
            scaled_by_block=STEPS,
        ),
        "E": fault(
            "scaled by block",
            right="E depends on the cut.",
            mean_of_means="E differs between 8 and 4 equal blocks. Could a plain average of their slopes?",
            sum_of_means="E hardly changes with the number of blocks. Could a sum of their slopes?",
            penalty_in_each=OTHER,
        ),
    },
    why="One table of cuts tells five jobs apart. B would have passed with equal blocks alone.",
    minutes=8,
)

ROWS = np.random.default_rng(2023)
CUT = [ROWS.normal(size=(n, 2)) * (1.0 + n / 40) + [n / 10, 3.0] for n in (20, 40, 100)]


def size(summary: Any) -> int:
    """Return how many numbers travel."""
    parts = list(summary.values()) if isinstance(summary, dict) else summary
    return sum(map(size, parts)) if isinstance(parts, tuple | list) else numbers(parts, "what summary returns").size


def sums(block: Any) -> Any:
    """Return the rows, their sum and the sum of their squares."""
    return len(block), block.sum(axis=0), (block**2).sum(axis=0)


def moments(block: Any) -> Any:
    """Return the rows, their mean and their variance."""
    return len(block), block.mean(axis=0), block.var(axis=0)


def from_sums(finish: Callable[[Any, Any, Any], Any], summary: Any = sums) -> dict[str, Any]:
    """Return an answer to exercise 3 that computes with the numbers of rows, sums and sums of squares, added up."""
    return {"summary": summary, "combine": lambda s: finish(*(sum(each) for each in zip(*s, strict=True)))}


def from_moments(finish: Callable[[Any, Any, Any], Any]) -> dict[str, Any]:
    """Return an answer to exercise 3 that computes with each block's share of the rows, mean and variance."""

    def combine(summaries: Any) -> Any:
        n, means, variances = map(np.array, zip(*summaries, strict=True))
        return finish(n[:, None] / n.sum(), means, variances)

    return {"summary": moments, "combine": combine}


SUMMARY = Function(
    signature="summary(block)",
    cases=[
        Case(
            lambda summary: size(summary(CUT[2].copy())) > size(summary(CUT[0].copy())),
            "summary sends more numbers for a block of 100 rows than for one of 20. What travels must not grow with the "
            "rows: send sums.",
        )
    ],
    answer=sums,
)

SPREADS = [
    (
        from_sums(lambda n, t, q: (np.sqrt(q / n - (t / n) ** 2), t / n)),
        "The two are in the wrong order: return the mean first, then the standard deviation.",
    ),
    (
        from_moments(lambda share, mean, var: (mean.mean(axis=0), ...)),
        "The mean is the plain average of the blocks' means. A block of 100 rows counts more than one of 20.",
    ),
    (from_sums(lambda n, t, q: (t, ...)), "Those are the sums over all rows. Divide them by the number of rows."),
    (
        from_sums(lambda n, t, q: (t / n / 2, ...)),
        "The mean is half as large as it should be: `block.size` counts the numbers, `len(block)` the rows.",
    ),
    (
        from_sums(lambda n, t, q: (np.full((), ...), np.full((), ...))),
        "The two are single numbers. For two columns both must have the shape (2,): sum over axis 0.",
    ),
    (
        from_sums(lambda n, t, q: (t / n, np.sqrt((t / n) ** 2 - q / n))),
        "A square root of a negative number was taken. Which is larger, the mean of the squares or the square of the "
        "mean?",
    ),
    (
        from_sums(lambda n, t, q: (..., np.sqrt(q - (t / n) ** 2))),
        "Divide the sum of the squares by the number of rows before you subtract.",
    ),
    (from_sums(lambda n, t, q: (..., np.sqrt(np.abs(q / n - t / n)))), "You subtracted the mean. Subtract its square."),
    (
        from_sums(lambda n, t, q: (..., np.sqrt(q))),
        "Divide the sum of the squares by the number of rows, and subtract the square of the mean.",
    ),
    (
        from_moments(lambda share, mean, var: (..., mean.std(axis=0))),
        "That is the spread of the blocks' means. The rows differ within each block, too.",
    ),
    (
        from_moments(lambda share, mean, var: (..., np.sqrt((share * var).sum(axis=0) + mean.var(axis=0)))),
        "Almost: the spread of the means has to be weighted by the rows as well, and taken about the mean over all rows.",
    ),
    (
        from_sums(lambda n, t, q: (..., q / n - (t / n) ** 2)),
        "That is the variance. The standard deviation is its square root.",
    ),
    (
        from_moments(lambda share, mean, var: (..., np.sqrt((share * var).sum(axis=0)))),
        "That is the spread *within* the blocks. Their means differ, and that is part of the spread over all rows.",
    ),
    (
        from_moments(lambda share, mean, var: (..., np.sqrt(var).mean(axis=0))),
        "That averages the blocks' standard deviations. They can't be averaged: send sums of squares instead.",
    ),
    (
        from_moments(lambda share, mean, var: (..., (share * np.sqrt(var)).sum(axis=0))),
        "Standard deviations can't be averaged, not even weighted: send sums of squares instead.",
    ),
    (
        from_sums(lambda n, t, q: (..., np.sqrt(q / n))),
        "You forgot to subtract: the variance is the mean square *minus* the square of the mean.",
    ),
    (
        from_sums(lambda n, t, q: (..., np.sqrt((q - t**2 / n) / (n - 1)))),
        "Close: divide by the number of rows, as `np.std` does, not by one less.",
    ),
]


class Both:
    """A summary and what combines the summaries, as one function of the blocks."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer

    def __call__(self, blocks: Any) -> Any:
        """Return the mean and the spread, without the axis that sums with keepdims have."""
        summaries = [self.answer["summary"](block.copy()) for block in blocks]
        given = call(self.answer["combine"], summaries, written="combine(summaries)")
        if isinstance(given, tuple | list) and all(np.shape(part) == (1, 2) for part in given):
            return [np.reshape(part, 2) for part in given]
        return given


RIGHT = from_sums(lambda n, t, q: (t / n, np.sqrt(q / n - (t / n) ** 2)))

COMBINED = Function(
    signature="combine(summaries)",
    returns=("the mean", "the standard deviation"),
    cases=[(CUT,)],
    within=1e-4,
    answer=Both(RIGHT),
    hints=[(Both(wrong), hint) for wrong, hint in SPREADS],
    otherwise="The mean is the sum of all rows, over their number. For the standard deviation, send sums of squares as "
    "well, and subtract mean².",
)


def complete(wrong: dict[str, Any]) -> dict[str, Any]:
    """Return a wrong answer with the right parts where it says three dots."""

    def combine(summaries: Any) -> Any:
        theirs, ours = zip(*summaries, strict=True)
        found, right = wrong["combine"](theirs), RIGHT["combine"](ours)
        return [
            good if part is ... else np.zeros(()) if np.ndim(part) == 0 else part
            for part, good in zip(found, right, strict=True)
        ]

    return {"summary": lambda block: (wrong["summary"](block), sums(block)), "combine": combine}


def scale(answer: Any) -> str:
    """Judge the summary alone, and then what both come to."""
    needs_dict(answer, '{"summary": summary, "combine": combine}')
    needs_each(answer, ("summary", "combine"), "No function is given for")
    needs_function(answer["combine"], "combine(summaries)")
    SUMMARY.judge(answer["summary"])
    return COMBINED.judge(Both(answer)) or (
        "The same mean and spread as over all rows, and a few numbers from each block instead of the rows."
    )


SCALE = Judge(  # two functions, the second of which is given what the first returns: each has a form
    "Scale without seeing all the rows",
    """\
Repair `scale` by hand. You need the mean and the standard deviation of each column over all rows, and no machine sees them all.

- `summary(block)` runs on the workers. It gets one block, an array of rows, and returns what travels: numbers or small arrays, however many rows the block has.
- `combine(summaries)` runs in the notebook. It gets the list of all summaries and returns the pair `(mean, std)`, one number for each column.

To try it on the real blocks: `combine(dask.compute(*[dask.delayed(summary)(block) for block in blocks]))`.""",
    check=scale,
    answer=RIGHT,
    spellings=[
        from_moments(
            lambda share, mean, var: (
                (share * mean).sum(axis=0),
                np.sqrt((share * (var + mean**2)).sum(axis=0) - (share * mean).sum(axis=0) ** 2),
            )
        )
    ],
    hints=[(complete(wrong), hint) for wrong, hint in SPREADS],
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, BY_BLOCKS, FIVE_JOBS, SCALE)
