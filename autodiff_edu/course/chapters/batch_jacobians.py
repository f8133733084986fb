"""Batch Jacobians: per-sample gradients, what a batch Jacobian returns, and who moves whom."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Function, Table
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
        "When the columns have slid together, the block at the bottom of each is a number times `weights`. Which number?",
        answer=1 / 2,
        hints={
            5 / 6: "That's the true block. What do the two other patches of its column add to it?",
            -1 / 6: "That's a patch off the diagonal. Add up the whole column.",
            0: "That will be the answer at mix = 1.",
            1: "Raise one listener's hours by 1: the mean rises by 1/3, and half of that is taken from all three.",
            2 / 3: "There are two patches off the diagonal in each column.",
        },
        why="5/6 on the diagonal and −1/6 twice beside it: 1/2 in all.",
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
        "The largest true element will be about 1. What will `batch_jacobian` return for every element, up to rounding?",
        answer=0,
        hints={
            1: "Its seed asks how the *sum* of a score over the batch moves. What has the normalisation done to that sum?",
            0.5: "Its seed asks how the *sum* of a score over the batch moves. What has the normalisation done to that sum?",
            -1: "Its seed asks how the *sum* of a score over the batch moves. What has the normalisation done to that sum?",
        },
        why="The normalisation fixes the mean of each score, and so its sum: nothing moves that.",
    ),
    Prediction(
        "With the kept mean and variance, how many of the seven rows of scores move with listener 3?",
        answer=1,
        hints={
            7: "That was with the mean and the variance of this batch. Do the kept ones move with listener 3?",
            0: "Listener 3's own hours are still the network's input.",
            6: "Does a kept number carry anything from one listener to another?",
        },
        why="Nothing in the network looks at two rows any more.",
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
            lambda x, y, w: (2 * (x @ w - y)[:, None] * w)[:, None],
            "That is the gradient with respect to x. Here each row asks about w, of which every sample could have a copy.",
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


def returned(answer: str, **hints: str) -> Choice:
    """Return the form for one function of exercise 2."""
    return Choice(answer=answer, choices=("right", "zeros", "sums"), hints=hints)


RETURNED = Table(
    "What comes back?",
    """\
`x` is a batch of 5 samples with 3 numbers each. What does `tape.batch_jacobian` return for each of these functions? Answer `"right"` (each sample's own block), `"zeros"` (nothing but 0, which is wrong), or `"sums"` (other wrong numbers). Decide with a pencil first.

- a: `np.tanh(x @ w)`, with an array `w`
- b: `x - np.mean(x, axis=0)`
- c: `x - np.mean(x, axis=1, keepdims=True)`
- d: `x + np.mean(x, axis=0)`
- e: `nn.softmax(x, axis=0)`, shares of each column""",
    parts={
        "a": returned(
            "right",
            zeros="In a, does a row of x meet another row?",
            sums="In a, does a row of x meet another row?",
        ),
        "b": returned(
            "zeros",
            right="In b, the mean is one of samples, so each output depends on all of them.",
            sums="In b, add up the outputs of all samples. How does that sum move?",
        ),
        "c": returned(
            "right",
            zeros="In c, `axis=1`: whose numbers is the mean of?",
            sums="In c, `axis=1`: whose numbers is the mean of?",
        ),
        "d": returned(
            "sums",
            right="In d, the mean is one of samples, so each output depends on all of them.",
            zeros="In d, add up the outputs of all samples. How does that sum move, if one of x moves by 1?",
        ),
        "e": returned(
            "zeros",
            right="In e, `axis=0`: the shares of which numbers add up to 1?",
            sums="In e, `axis=0`: the shares of a column add up to 1. How does that sum move?",
        ),
    },
    why="The seeds add up the samples. What that sum does is all that comes back.",
    minutes=7,
)


WEIGHTS = np.array([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]])
POINT = np.array([[0.2, -0.4, 1.1], [0.9, 0.3, -0.7], [-1.3, 0.8, 0.5], [0.1, -0.6, -0.2], [1.7, 0.4, 0.6]])


def _normalise(x: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0) + 1e-12)


def _shift(x: Any, by: int) -> Any:
    return np.concatenate([x[-by:], x[:-by]])


FUNCTIONS: list[tuple[str, Any, str]] = [
    (
        "a dense layer",
        lambda x: np.tanh(x @ WEIGHTS),
        "No row looks at another, so only [i, i] is True. Does each test start from the unchanged batch?",
    ),
    (
        "`x[:, 1:] - x[:, :-1]`",
        lambda x: x[:, 1:] - x[:, :-1],
        "Those are differences of a sample's own numbers, and they do depend on them. But if all of them rise by the same, "
        "no output moves, and the slopes of one output add up to 0. Take one number at a time.",
    ),
    (
        "a function that multiplies sample i by i + 1",
        lambda x: x * np.arange(1.0, 6.0)[:, None],
        "Each sample is treated differently, but on its own. Give f the whole batch in its order, not a part of it.",
    ),
    ("batch normalisation", _normalise, "Its mean is over all samples, so each of them moves all."),
    (
        "`np.cumsum(x, axis=0)`",
        lambda x: np.cumsum(x, axis=0),
        "Output i depends on sample i and those before it, so the True ones fill the lower left triangle.",
    ),
    ("`x + x[:1]`", lambda x: x + x[:1], "All depend on sample 0, and each on itself."),
    (
        "`x - x[-1:]`",
        lambda x: x - x[-1:],
        "All depend on the last sample, and fall when it rises: look at the *size* of each move. The last output is "
        "always 0, so nothing moves it.",
    ),
    ("`x[::-1]`", lambda x: x[::-1], "Each output is the sample at the other end, and doesn't depend on its own."),
    (
        "a function that adds the previous sample and subtracts the one before it",
        lambda x: x + _shift(x, 1) - _shift(x, 2),
        "Each output depends on three samples. Look at the blocks one by one: added up, some of them cancel.",
    ),
    (
        "`x + last`, where `last` is the last number of the sample before",
        lambda x: x + _shift(x, 1)[:, 2:],
        "Of the sample before (for sample 0, that's the last one), only the last number has an effect. Try each number "
        "of each sample.",
    ),
]


def find_movers(f: Callable[[Any], Any], x: Any) -> Any:
    """Return whether output i depends on sample j, for all pairs."""
    return np.abs(ad.jacobian(f)(x).numpy()).max(axis=(1, 3)) > 1e-12


def read_movers(who_moves_whom: Callable[..., Any], f: Callable[[Any], Any]) -> Any:
    """Return what is said of a function, as an array of True and False."""
    given = np.asarray(who_moves_whom(f, POINT.copy()))
    if given.shape == ():
        raise NotYet(
            f"Your function returns {shorten(given.tolist())}. I need an answer for every pair of samples: an array of "
            "shape (5, 5) for 5 samples."
        )
    if given.shape != (5, 5):
        raise NotYet(
            f"For 5 samples of 3 numbers, your function returns an array of shape {given.shape}. It should be (5, 5): "
            "the outputs' samples, then the inputs' samples. Which axes are left to be reduced?"
        )
    if given.dtype != bool and not np.isin(given, (0, 1)).all():
        raise NotYet(
            "Your array holds other numbers than True and False. Compare the size of each with a small number, such "
            "as 1e-9."
        )
    return given.astype(int)


def explain_pair(found: Any, wanted: Any, name: str, why: str) -> str:
    """Return a hint for the first pair that is wrong."""
    i, j = np.argwhere(found != wanted)[0]
    return f"For f {name}, the element [{i}, {j}] should be {bool(wanted[i, j])}. {why}"


def _block_by_block(reduce: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a way to answer that reduces blocks of shape (samples, samples, outputs, inputs)."""
    return lambda f, x: reduce(np.moveaxis(ad.jacobian(f)(x).numpy(), 1, 2))


def _nudge_all(f: Any, x: Any, size: Callable[[Any], Any] = np.abs, back: bool = True) -> Any:
    """Nudge all the numbers of a sample at once."""
    found, before = np.zeros((len(x), len(x)), bool), np.asarray(f(x))
    changed = x.copy()
    for j in range(len(x)):
        if back:
            changed = x.copy()
        changed[j] += 0.1
        found[:, j] = size(np.asarray(f(changed)) - before).max(axis=1) > 1e-9
    return found


MOVERS = Function(
    "Who moves whom?",
    """\
`check=True` says *that* samples mix. Now you'd like to see how. Write `who_moves_whom(f, x)`. It gets a function of a batch, and a batch: an array of shape (samples, inputs). It returns an array of True and False, of shape (samples, samples): the element [*i*, *j*] is True if, at `x`, any output of sample *i* moves with any number of sample *j*. You may nudge numbers or use tapes.""",
    signature="who_moves_whom(f, x)",
    cases=[Case(partial(read_movers, f=f), partial(explain_pair, name=name, why=why)) for name, f, why in FUNCTIONS],
    answer=find_movers,
    spellings=[
        lambda f, x: find_movers(f, x).tolist(),
        lambda f, x: find_movers(f, x).astype(float),
        lambda f, x: np.any(ad.jacobian(f)(x).numpy() != 0, axis=(1, 3)),
    ],
    hints=[
        (
            lambda f, x: find_movers(f, x).T,
            "Rows and columns have changed places: [i, j] is about output i and sample j.",
        ),
        (
            lambda f, x: ~find_movers(f, x),
            "Every answer is the opposite of what is asked. True means that output i moves.",
        ),
        (
            lambda f, x: np.ones((5, 5), bool),
            "Your function says True to every pair, even for a dense layer. Does it count rounding as a move?",
        ),
        (
            lambda f, x: np.zeros((5, 5), bool),
            "Your function says False to every pair. Doesn't f(x) move with x at all?",
        ),
        (
            lambda f, x: np.eye(5, dtype=bool),
            "You say that each output moves with its own sample alone, whatever f is. That's what you were to find out.",
        ),
        (
            lambda f, x: find_movers(f, x) & ~np.eye(5, dtype=bool),
            "You leave out the pairs [i, i]. An output may move with its own sample, and here that counts too.",
        ),
        (
            _block_by_block(lambda blocks: np.abs(blocks.sum(axis=(2, 3))) > 1e-9),
            "An output that depends on its sample is missing: a difference doesn't notice if all of a sample's numbers "
            "rise by the same. So nudge one number at a time; or, if you add up the slopes of a block, take the size of each first.",
        ),
        (
            _block_by_block(lambda blocks: blocks.max(axis=(2, 3)) > 1e-9),
            "Your answer misses outputs that *fall* when a sample rises. Look at the size of each slope.",
        ),
        (
            lambda f, x: _nudge_all(f, x, back=False),
            "From one sample to the next, your nudges stay in the batch. Start each test from an unchanged copy of x.",
        ),
        (
            lambda f, x: ad.GradientTape().jacobian(f(x), x),
            "x is a plain array, so nothing is recorded. Make it a tensor, `ad.constant(x)`, and watch that.",
        ),
    ],
    why="It finds who moves whom in all ten functions, even where effects cancel in a sum.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, PER_SAMPLE, RETURNED, MOVERS)
