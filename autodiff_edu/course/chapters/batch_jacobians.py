"""Batch Jacobians: per-sample gradients, the diagonal of a full Jacobian, and a check of independence."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "The next cell changes all five numbers of listener 3. How many of the seven rows of scores will move?",
        answer=1,
        hints={
            7: "That would need some operation that looks at several rows at once. Does a dense layer?",
            6: "Six is a number of scores. How many rows does a change in one row of `hours @ kernel` reach?",
            0: "Listener 3's own scores are computed from the numbers that change.",
        },
        why="Row 3 of the result is computed from row 3 alone.",
    ),
    Prediction(
        "The scores have shape (7, 6), the hours (7, 5). What shape does the Jacobian of the scores have?",
        answer=(7, 6, 7, 5),
        hints={
            (7, 5, 7, 6): "The axes of the target come first, and the scores are the target.",
            (7, 6, 5): "That has one axis of listeners. Which listener's score, and whose hour: that is two.",
            (42, 35): "That is the same, flattened to a matrix. `jacobian` keeps the axes apart.",
            (6, 5): "That is the block of one listener. There are seven in the target, and seven in the source.",
        },
        why="All axes of the target, then all axes of the source.",
    ),
    Prediction(
        "Every score is paired with every number of every listener. How many of these slopes are not zero?",
        answer=210,
        hints={
            1470: "Does listener 0's score depend on listener 1's hours?",
            30: "That is the block of one listener. How many listeners are there?",
            42: "That counts the scores. Each of them depends on how many numbers?",
            35: "That counts the hours. Each of them moves how many scores?",
        },
        why="7 · 6 · 5: each listener's scores with respect to that listener's own hours.",
    ),
    Prediction(
        "What is the largest difference between the blocks and that careless sum?",
        answer=0,
        hints={1: "What does listener j's hour do to somebody else's score?"},
        why="Every term that the sum adds is 0, except the block itself.",
    ),
    Prediction(
        "How many such seeds does it take to get all seven listeners' blocks?",
        answer=6,
        hints={
            42: "That is one for each number in the target. Here one seed serves all listeners.",
            7: "A seed doesn't belong to a listener: it has a 1 in every row. What is it different for?",
            1: "One seed with 1s everywhere would add up the six scores, too.",
            5: "One for each *output* of a sample; 5 is its number of inputs.",
        },
        why="One for each of the six playlists, however many listeners there are.",
    ),
    Prediction(
        "The full Jacobian had 210 slopes that are not zero. How many does it have with the normalisation?",
        answer=1470,
        hints={
            210: "That's how it was when each score depended on its own listener alone.",
            1260: "Those are the slopes *between* listeners: 7 · 6 pairs, 6 · 5 slopes each. The diagonal counts too.",
            42: "That counts the scores. How many numbers does each of them depend on now?",
            49: "That counts the patches. Each has 6 · 5 slopes.",
        },
        why="Each of the 42 scores depends on each of the 35 numbers now: 42 · 35.",
    ),
    Prediction(
        "Normalised last, each score has mean 0 over the batch. What will `batch_jacobian` return for every element?",
        answer=0,
        hints={
            1: "Its seed asks how the *sum* of a score over the batch moves. What is that sum?",
            1.8: "Its seed asks how the *sum* of a score over the batch moves. What is that sum?",
        },
        why="The sum over the batch is always 0, so nothing moves it.",
    ),
)

SAMPLES = np.array([[1.0, -0.5], [0.4, 2.0], [-1.5, 0.3], [0.8, 1.1], [2.0, -1.2]])
MEASURED = np.array([0.7, -1.0, 2.5, 0.2, 9.0])
LINE = np.array([0.6, -0.9])


def compute_rows(x: Any, y: Any, w: Any) -> Any:
    """Return the gradient of each sample's own loss."""
    return 2 * (x @ w - y)[:, None] * x


def compute_losses(x: Any, y: Any, w: Any) -> Any:
    """Return the loss of each sample."""
    return (x @ w - y) ** 2


def ask_tape(ask: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Return what asks a tape `ask(tape, losses, w)`."""

    def per_sample(x: Any, y: Any, w: Any) -> Any:
        w = ad.Variable(w)
        with ad.GradientTape(persistent=True) as tape:
            found = compute_losses(x, y, w)
        return ask(tape, found, w)

    return per_sample


PER_SAMPLE = Function(
    "Whose data drove the model?",
    """\
The same idea the other way round. A line is fitted to measurements, with the loss of sample *i* being `(x[i] @ w - y[i])²`. One of the samples was typed in wrongly, and you'd like to know which one is pulling at the weights.

Write `per_sample(x, y, w)`. It gets arrays of shapes (samples, inputs), (samples,) and (inputs,), and returns an array of shape (samples, inputs): row *i* is the gradient of sample *i*'s own loss with respect to `w`.""",
    signature="per_sample(x, y, w)",
    cases=[(SAMPLES, MEASURED, LINE)],
    within=1e-5,
    answer=compute_rows,
    spellings=[lambda *data: compute_rows(*data).tolist()],
    hints=[
        (
            lambda *data: compute_rows(*data).sum(axis=0),
            "That is one gradient for all samples together: their sum. Each sample has a row of its own.",
        ),
        (
            lambda *data: compute_rows(*data).mean(axis=0),
            "That is the gradient of the mean loss. Each sample has a row of its own.",
        ),
        (
            lambda *data: compute_rows(*data) / 5,
            "Each row is divided by the number of samples: that is its part of the *mean* loss.",
        ),
        (
            lambda *data: compute_rows(*data) / 2,
            "Each row is half of what it should be. The slope of a square is *twice* what is squared.",
        ),
        (
            lambda *data: -compute_rows(*data),
            "Every sign is flipped. The loss squares x @ w - y, and w stands in it with a plus.",
        ),
        (
            lambda *data: compute_rows(*data).T,
            "The numbers are right, but transposed: samples come first, inputs second.",
        ),
        (
            lambda x, y, w: 2 * (x @ w - y)[:, None] * w,
            "That is the gradient with respect to x. Here each row asks about w.",
        ),
        (
            lambda *data: np.tile(compute_rows(*data).sum(axis=0), (5, 1)),
            "Every row is the sum over all samples. Row i is about loss i alone.",
        ),
        (
            lambda *data: np.linalg.norm(compute_rows(*data), axis=1),
            "Those are the lengths of the gradients. Return the gradients themselves.",
        ),
        (compute_losses, "Those are the losses. Row i is the gradient of loss i with respect to w."),
        (
            lambda x, y, w: x,
            "That is x, the slope of the prediction `x @ w`. The loss squares how far it is from y.",
        ),
        (
            lambda x, y, w: 2 * (x @ w - y),
            "Those are the slopes of the losses with respect to the predictions. Go one step further, to w.",
        ),
        (lambda *data: compute_rows(*data)[0], "That is the row of sample 0 alone. Does your loop return too early?"),
        (lambda *data: compute_rows(*data)[-1], "That is the row of the last sample alone. Collect one row for each."),
        (
            lambda *data: compute_rows(*data)[:, None],
            "The numbers are right, with an axis of length 1 too many. Take `[:, 0]` of them.",
        ),
        (
            lambda *data: np.eye(5)[:, :, None] * compute_rows(*data),
            "That is a full Jacobian: every loss with every copy of w. Sample i's row is at [i, i]; the rest is 0.",
        ),
        (
            ask_tape(lambda tape, found, w: [tape.gradient(each, w) for each in found]),
            "Every gradient is None. Is w watched, and is each loss picked out of the losses inside the `with` block?",
        ),
        (
            ask_tape(lambda tape, found, w: tape.batch_jacobian(found, w)),
            "A batch Jacobian needs an axis of samples in the losses and in what you ask about. The losses have one "
            "number for each sample, `losses[:, None]` has a row; and w has no axis of samples: all of them share it. "
            "What if every sample had a copy of its own, or if you asked for an ordinary Jacobian?",
        ),
        (
            lambda x, y, w: x @ np.tile(w, (5, 1)),
            "Each row of x belongs to one row of the copies, and `@` takes each with all. Write "
            "`np.sum(x * copies, axis=1)`.",
        ),
        (
            lambda x, y, w: 2 * (x @ w - y) * x,
            "You multiply 5 numbers by 5 rows of 2. Give the numbers a second axis, with `[:, None]`.",
        ),
    ],
    otherwise="The shape is right and the numbers are not. Row i is the gradient of (x[i] @ w - y[i])² alone.",
    why="A gradient for every sample. The longest row belongs to the sample that pulls hardest: look at that one "
    "first.",
    minutes=7,
)


def take_blocks(full: Any) -> Any:
    """Return each sample's own block."""
    return np.einsum("bxby->bxy", full)


DIAGONAL = Function(
    "The diagonal, not the sum",
    """\
Write `diagonal(full)`. It gets a full Jacobian as an array, of shape (samples, outputs, samples, inputs), and returns each sample's own block, of shape (samples, outputs, inputs). The check hands it a Jacobian whose samples *do* mix, so no sum will do.""",
    signature="diagonal(full)",
    cases=[Case(lambda diagonal: diagonal(np.random.default_rng(19081).standard_normal((4, 3, 4, 2))))],
    answer=take_blocks,
    spellings=[lambda full: np.stack([full[b, :, b] for b in range(4)]), lambda full: ad.constant(take_blocks(full))],
    hints=[
        (
            lambda full: full,
            "That is the full Jacobian, with all four axes. Keep each sample's own block and drop the rest.",
        ),
        (
            lambda full: full.sum(axis=2),
            "That is the sum over the samples of the input. Here samples mix, so it adds other blocks.",
        ),
        (
            lambda full: np.moveaxis(full.sum(axis=0), 1, 0),
            "That is the sum over the samples of the output, as in `batch_jacobian`. Here samples mix, so it adds "
            "other blocks.",
        ),
        (
            lambda full: full.sum(axis=0),
            "That sums over the samples of the output. Don't sum anything: take blocks out.",
        ),
        (
            lambda full: full.mean(axis=2),
            "That is the mean over the samples of the input. Don't average anything: take blocks out.",
        ),
        (
            lambda full: np.moveaxis(full.mean(axis=0), 1, 0),
            "That is the mean over the samples of the output. Don't average anything: take blocks out.",
        ),
        (
            lambda full: take_blocks(full).sum(axis=0),
            "The blocks are right, and then they are added up. Keep one for each sample; in `np.einsum`, write b to "
            "the right of the arrow as well.",
        ),
        (
            lambda full: np.moveaxis(take_blocks(full), 0, -1),
            "The blocks are right, but the samples are the last axis, as `np.diagonal` puts them.",
        ),
        (
            lambda full: take_blocks(full).swapaxes(1, 2),
            "The blocks are right, but transposed: outputs come before inputs.",
        ),
        (
            lambda full: take_blocks(full).swapaxes(0, 1),
            "The blocks are right, but the samples are the middle axis. They come first.",
        ),
        (
            lambda full: np.concatenate(take_blocks(full)),
            "The blocks are right, but joined into one matrix. `np.stack` gives each its place.",
        ),
        (lambda full: full[0, :, 0], "That is the block of sample 0 alone. Each sample has one."),
        (lambda full: full[-1, :, -1], "That is the block of the last sample alone. Each sample has one."),
        *(
            (wrong, "Those are sample 0's outputs with everybody's inputs. Which sample's outputs belong in block b?")
            for wrong in (lambda full: full[0], lambda full: full[0].swapaxes(0, 1))
        ),
        (
            lambda full: full[:, :, 0],
            "Those are everybody's outputs with sample 0's inputs. Which sample's inputs belong in block b?",
        ),
        (
            lambda full: full[len(full)],
            "This Jacobian has 4 samples with 3 outputs each. The samples are its first and its third axis, and "
            "`len(full)` is their number.",
        ),
    ],
    otherwise="The shape is right and the numbers are not. Block b of the result is `full[b, :, b, :]`.",
    why="Each sample's own block, even where the others are not zero.",
    minutes=7,
)


WEIGHTS = np.array([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]])
POINT = np.array([[0.2, -0.4, 1.1], [0.9, 0.3, -0.7], [-1.3, 0.8, 0.5], [0.1, -0.6, -0.2], [1.7, 0.4, 0.6]])


def _normalise(x: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0) + 1e-12)


def _shift(x: Any, by: int) -> Any:
    return np.concatenate([x[-by:], x[:-by]])


FUNCTIONS: list[tuple[str, Any, bool, str]] = [
    (
        "a dense layer",
        lambda x: np.tanh(x @ WEIGHTS),
        True,
        "No row looks at another. Does each test start from the unchanged batch, and leave its own sample out?",
    ),
    (
        "`np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)`",
        lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
        True,
        "The sum is over one sample's own numbers, so no samples mix. If you add the same amount to all of them, no "
        "output moves at all, and that's fine: ask only whether *others* move.",
    ),
    (
        "a function that multiplies sample i by i + 1",
        lambda x: x * np.arange(1.0, 6.0)[:, None],
        True,
        "Each sample is treated differently, but on its own. Give f the whole batch in its order, not a part of it.",
    ),
    ("batch normalisation", _normalise, False, "Its mean is over all samples."),
    ("`np.cumsum(x, axis=0)`", lambda x: np.cumsum(x, axis=0), False, "Each output depends on the samples before it."),
    ("`x + x[:1]`", lambda x: x + x[:1], False, "All depend on sample 0. Change every sample in turn."),
    (
        "`x - x[-1:]`",
        lambda x: x - x[-1:],
        False,
        "All depend on the last sample, and fall when it rises. Change every sample in turn, and look at the *size* of "
        "each move.",
    ),
    ("`x[::-1]`", lambda x: x[::-1], False, "Each output is the sample at the other end."),
    (
        "a function that adds the previous sample and subtracts the one before it",
        lambda x: x + _shift(x, 1) - _shift(x, 2),
        False,
        "The effects of the other samples cancel in a sum. Look at the blocks one by one.",
    ),
]


def is_independent(f: Callable[[Any], Any], x: Any) -> bool:
    """Return whether each output depends on its own sample alone."""
    jacobian = ad.jacobian(f)(x).numpy()
    return all(np.abs(np.delete(jacobian[b], b, axis=1)).max() < 1e-12 for b in range(len(x)))


def ask_batch_jacobian(f: Callable[[Any], Any], x: Any) -> bool:
    """Ask a batch Jacobian to check, and don't catch what it raises."""
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.batch_jacobian(y, x, check=True) is not None


def read_verdict(independent: Callable[..., Any], f: Callable[[Any], Any]) -> bool:
    """Return what is said of a function."""
    given = np.asarray(independent(f, POINT.copy()))
    if given.size != 1 or given.dtype != bool:
        raise NotYet(
            f"Your function returns {shorten(given.tolist())}; I need the value True or False itself. Reduce an "
            "array with `all` or `any`."
        )
    return bool(given.item())


def is_blind(independent: Callable[..., Any]) -> bool:
    """Return whether it says the same of every function, or the opposite of what is right."""
    right = [each for _, _, each, _ in FUNCTIONS]
    wrong = [read_verdict(independent, f) != each for (_, f, _, _), each in zip(FUNCTIONS, right, strict=True)]
    return all(wrong) or wrong == right or not any(np.equal(wrong, right))


INDEPENDENCE = Function(
    "An independence check",
    """\
Write `independent(f, x)`. It gets a function of a batch, and a batch: an array of shape (samples, inputs). It returns True if, at `x`, each output depends on its own sample alone, and False otherwise. You may nudge samples or use tapes. Beware of functions whose
effects on other samples cancel in a sum.""",
    signature="independent(f, x)",
    cases=[
        Case(is_blind),
        *(
            Case(partial(read_verdict, f=f), f"For f {name} your function says {{given}}. {why}")
            for name, f, _, why in FUNCTIONS
        ),
    ],
    answer=is_independent,
    spellings=[lambda f, x: np.bool_(is_independent(f, x)), lambda f, x: np.array([is_independent(f, x)])],
    hints=[
        (
            lambda f, x: not is_independent(f, x),
            "Every answer is the opposite of what is asked. True means that the samples do not mix.",
        ),
        (
            lambda f, x: True,
            "Your function says True to everything, even to batch normalisation. Does it look at more than shapes?",
        ),
        (
            lambda f, x: False,
            "Your function says False to everything, even to a dense layer. Does it count rounding as an effect?",
        ),
        (
            ask_batch_jacobian,
            "`check=True` raises a ValueError where samples mix. Catch it with `try` and `except ValueError`, and "
            "return False.",
        ),
        (
            lambda f, x: ad.GradientTape().batch_jacobian(f(x), x, check=True) is not None,
            "x is a plain array, so nothing is recorded. Make it a tensor, `ad.constant(x)`, and watch that.",
        ),
    ],
    why="It tells six functions that mix samples from three that don't, even where the effects cancel in a sum.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, PER_SAMPLE, DIAGONAL, INDEPENDENCE)
