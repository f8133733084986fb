"""Not a number: a mass that is missing, a curvature that is finite and wrong, and a loss that doesn't overflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function, record
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Which of these is the first to contain a nan, at step 37?",
        answer="the slopes",
        choices=("the heights", "the loss", "the slopes", "the new centre"),
        hints={
            "the heights": "`np.where` takes the 0 for the spot outside. What is left of the root there?",
            "the loss": "The plot shows the loss of step 37: about 5.8, the last before the jump.",
            "the new centre": "The new centre is the old one, a number, minus 0.008 times what?",
        },
        why="The heights and the loss are fine. The backward pass is not.",
    ),
    Prediction(
        "`np.where(x > 0.0, np.sqrt(x), 0.0)` at x = [4, -1]: what is the slope of the first element, 4?",
        answer=0.25,
        hints={
            float("nan"): "nan spreads through what is computed from it. Is anything computed from both elements?",
            0: "The `where` took this element, so its root gets the cotangent 1.",
            1: "That is the cotangent of its root. What is the derivative of the root at 4?",
            2: "That is the value. What is the derivative of the root at 4?",
        },
        why="1/(2·√4) is 0.25. The two elements don't meet anywhere.",
    ),
    Prediction(
        "The inner `where` alone, at x = -1: what are the value and the slope?",
        answer="1 and 0",
        choices=("0 and 0", "0 and nan", "1 and 0", "1 and nan"),
        hints={
            "0 and 0": "The root sees the filler 1. What would turn its root into a 0?",
            "0 and nan": "The root sees the filler 1. Which root does it return, and with which derivative?",
            "1 and nan": "The root sees the filler 1, where its derivative is 1/2. Does that go on to `x`?",
        },
        why="The root of the filler comes through. Nothing goes back to `x`, which was not taken.",
    ),
    Prediction(
        "At x = -1, for which of the fillers 1, 0, -1 and nan is the slope with respect to `a` nan?",
        answer="-1 and nan",
        choices=("none of them", "nan", "-1 and nan", "0, -1 and nan"),
        hints={
            "none of them": "From `a`, no path leads through the inner `where`. What is the slope of `a * r` with "
            "respect to `a`?",
            "nan": "The root of the filler is a factor of the slope. What is the root of -1?",
            "0, -1 and nan": "The slope of `a * r` with respect to `a` is `r`. Is the root of 0 a number?",
        },
        why="The slope is 0 times the root of the filler, and two of these roots are nan.",
    ),
    Prediction(
        "Which is the smallest of these scores for which `np.exp` gives inf in 32 bits?",
        answer="90",
        choices=("40", "90", "300", "710"),
        hints={
            "40": "That is where powers of 10 end. Powers of e grow more slowly.",
            "300": "10 is about e to the power of 2.3. Which power of e is 10 to the power of 38?",
            "710": "That is where 64 bits end. 32 bits end much earlier, at about 10 to the power of 38.",
        },
        why="3.4 times 10 to the power of 38 is e to the power of 88.7.",
    ),
    Prediction(
        "What will `by_value` and `by_norm` make of the slopes nan and 3, with the limit 1?",
        answer="nan and 1, nan and nan",
        choices=("1 and 1, 0.7 and 0.7", "0 and 1, 0 and 1", "nan and 1, nan and nan", "nan and 1, nan and 1"),
        hints={
            "1 and 1, 0.7 and 0.7": "nan is not a large number: it is neither above the limit nor below it.",
            "0 and 1, 0 and 1": "Nothing in the two functions turns nan into 0. What is nan times a factor?",
            "nan and 1, nan and 1": "One length is shared by all. What is the length of (nan, 3)?",
        },
        why="A nan stays nan, and it makes the shared length nan as well.",
    ),
)


def needs_tensor(y: Any, written: str, meaning: str) -> ad.Tensor:
    """Return what a learner's function returned, if a tape can follow it."""
    if not isinstance(y, ad.Tensor):
        raise NotYet(f"{written} returns {shorten(y)}, which no tape follows. Return a tensor: {meaning}.")
    return y


MASSES = np.array([0.02, 4.0, 0.0, 70.0, 4000.0])
RATES = np.array([0.2, 9.0, 50.0, 85.0, 1700.0])
"""A mouse, a cat, an animal whose mass is missing, a human and an elephant: kilograms, and watts at rest."""

ALL_KNOWN = np.array([0.3, 1.0, 25.0])


def misfit_of(function: Callable[..., Any], masses: Any = MASSES) -> tuple[ad.Tensor, Any, Any]:
    """Return the misfit and its slopes with respect to c and k."""
    c, k = ad.constant(1.0), ad.constant(0.7)
    y, tape = record(function, c, k, masses.copy(), RATES[: len(masses)].copy())
    return y, tape.gradient(y, c), tape.gradient(y, k)


def misfit(c: Any, k: Any, masses: Any, rates: Any, filler: float = 1.0, missing: float = 0.0) -> Any:
    """Return the misfit, with a filler for what the logarithm sees and a number for an animal without a mass."""
    known = masses > 0.0
    safe = np.where(known, masses, filler)
    return np.sum(np.where(known, c + k * np.log(safe) - np.log(rates), missing) ** 2)


def squares_first(c: Any, k: Any, masses: Any, rates: Any) -> Any:
    """Leave the missing animal out when its error has been squared, which is too late."""
    safe = np.where(masses > 0.0, masses, 0.0)
    return np.sum(np.where(masses > 0.0, (c + k * np.log(safe) - np.log(rates)) ** 2, 0.0))


def by_a_mask(c: Any, k: Any, masses: Any, rates: Any) -> Any:
    """Multiply by a mask where the right function takes a 0."""
    return np.sum(((c + k * np.log(masses) - np.log(rates)) * (masses > 0.0)) ** 2)


MISSING = Function(
    "A mouse, an elephant, and a missing mass",
    """\
A large animal needs more power than a small one. From the mouse to the elephant, log(rate) is about c + k · log(mass), where the rate is the power in watts at rest. `misfit(c, k, masses, rates)` says how far such a line is from the data. A mass of 0 means that nobody weighed the animal; it shouldn't count. The program has a double `where`, its value is right, and so is its slope with respect to `c`. But the slope with respect to `k` is `nan`. Find out why, and repair it.""",
    signature="misfit(c, k, masses, rates)",
    cases=[
        Case(
            lambda f: misfit_of(f)[0],
            "For the five animals, one of them without a mass, the misfit should be {answer}, and yours is {given}.",
        ),
        Case(
            lambda f: misfit_of(f, ALL_KNOWN)[0],
            "With three animals whose masses are all known the misfit should be {answer}, and yours is {given}.",
        ),
        Case(
            lambda f: misfit_of(f)[1],
            "The misfit is right. Its slope with respect to c should be {answer}, and yours is {given}.",
        ),
        Case(
            lambda f: misfit_of(f)[2],
            "The misfit is right. Its slope with respect to k should be {answer}, and yours is {given}.",
        ),
        Case(
            lambda f: misfit_of(f, ALL_KNOWN)[1:],
            "One animal without a mass is treated well. With all masses known, the slopes should be {answer}, and yours "
            "are {given}.",
        ),
    ],
    answer=misfit,
    spellings=[
        lambda c, k, m, r: np.sum((c + k * np.log(m[m > 0.0]) - np.log(r[m > 0.0])) ** 2),
        lambda c, k, m, r: misfit(c, k, m, r, filler=50.0),
    ],
    hints=[
        *(
            (
                lambda c, k, m, r, filler=filler: misfit(c, k, m, r, filler),
                "The misfit is right, and so is its slope with respect to c. With respect to k it is nan. Go back from the "
                "misfit to k, for the animal without a mass. A 0 is sent back. What is it multiplied by before it gets to k?",
            )
            for filler in (0.0, -1.0)
        ),
        (
            by_a_mask,
            "The misfit is nan. A mask that multiplies leaves nothing out: 0 times -inf is nan. Take the 0 with a "
            "`where`, and mind what the logarithm sees.",
        ),
        (
            lambda c, k, m, r: np.sum((c + k * np.log(np.where(m > 0.0, m, 1.0)) - np.log(r)) ** 2),
            "The animal without a mass counts, as if it weighed 1 kg. The outer `where` kept it out of the sum.",
        ),
        *(
            (
                lambda c, k, m, r, count=count: misfit(c, k, m, r) / count(m),
                "That is the mean of the squares. The misfit was their sum: keep the sum.",
            )
            for count in (len, np.count_nonzero)
        ),
        (
            lambda c, k, m, r: misfit(c, k, m, r, missing=1.0),
            "The animal without a mass adds 1 to the misfit. It shouldn't count at all.",
        ),
        (
            lambda c, k, m, r: np.sum((c + k * np.log(m) - np.log(r)) ** 2),
            "The misfit is infinite: the logarithm of 0 is -inf. Leave out the animal without a mass.",
        ),
        (
            lambda c, k, m, r: misfit(c, ad.stop_gradient(k), m, r),
            "The misfit is right, and its slope with respect to k is None. Cutting k off avoids the nan, but then "
            "nobody can fit k.",
        ),
        (
            squares_first,
            "The misfit is right, and its slopes are nan. What you leave out of the value still meets a 0 on the way back, "
            "and 0 times nan or an infinity is nan. Leave it out before that happens.",
        ),
        (
            lambda c, k, m, r: np.sum(
                np.where(m > 0.0, 0.0, c + k * np.log(np.where(m > 0.0, m, 1.0)) - np.log(r)) ** 2
            ),
            "Only the animal without a mass counts: the two choices of the outer `where` are swapped.",
        ),
        *(
            (
                lambda c, k, m, r, tiny=tiny: np.sum((c + k * np.log(m + tiny) - np.log(r)) ** 2),
                "Everything is finite, but the animal without a mass counts, as if it weighed next to nothing. Leave it out.",
            )
            for tiny in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)
        ),
    ],
    why="The animal without a mass counts neither in the misfit nor in its two slopes.",
    minutes=8,
)


def bends(function: Callable[..., Any], order: int) -> Any:
    """Return the derivative of an elementwise function at four places: its slope, or the slope of that."""
    x = ad.constant(WHERE)
    with ad.GradientTape() as outer:
        outer.watch(x)
        y, inner = record(function, x)
        slope = inner.gradient(y, x)
    return slope if order == 1 or slope is None else outer.gradient(slope, x, unconnected_gradients="zero")


WHERE = np.array([0.0, 0.5, -2.0, 7.0])


def wave(x: Any, near: Callable[[Any], Any] = lambda x: 1.0 - x**2 / 6.0) -> Any:
    """Return sin x / x, and what is near 0 at 0."""
    nonzero = x != 0.0
    safe = np.where(nonzero, x, 1.0)
    return np.where(nonzero, np.sin(safe) / safe, near(x))


WAVE = Function(
    "Finite, and still wrong",
    """\
`wave(x)` is sin x / x for each element, and 1 at 0. The double `where` keeps everything finite, and at 0 the value 1 and the slope 0 are even right. But a program that asks for the curvature there, the second derivative, is told 0. Near 0, sin x / x = 1 − x²/6 + x⁴/120 − …, so what should it be? Find out why the tape says 0, and repair `wave`.""",
    signature="wave(x)",
    cases=[
        Case(
            lambda f: record(f, ad.constant(WHERE))[0],
            "At 0, 0.5, -2 and 7 the values should be {answer}, and yours are {given}.",
        ),
        Case(
            lambda f: bends(f, 1),
            "The values are right. At 0, 0.5, -2 and 7 the slopes should be {answer}, and yours are {given}.",
            within=1e-5,
        ),
        Case(
            lambda f: bends(f, 2),
            "Values and slopes are right. At 0, 0.5, -2 and 7 the second derivatives should be {answer}, and yours are "
            "{given}.",
            within=1e-4,
        ),
    ],
    answer=wave,
    spellings=[lambda x: wave(x, lambda x: 1.0 - x**2 / 6.0 + x**4 / 120.0)],
    hints=[
        (
            lambda x: wave(x, lambda x: 1.0),
            "Values and slopes are right, and the second derivative at 0 is still 0. Which part of your code computes the "
            "value there, and how does that part bend? (In a quotient of tiny numbers, the bend is lost in rounding.)",
        ),
        (
            lambda x: np.where(x != 0.0, np.sin(x) / x, 1.0 - x**2 / 6.0),
            "The values are right, and the slope at 0 is nan: the division has seen the 0. Swap that 0 for a filler first.",
        ),
        (
            lambda x: np.sin(x) / x,
            "At 0 your value is nan: 0 divided by 0.",
        ),
        (
            lambda x: np.where(x != 0.0, np.sin(np.where(x != 0.0, x, 1.0)) / np.where(x != 0.0, x, 1.0), 5.0 / 6.0),
            "At 0 your value is 5/6: the polynomial has seen the filler 1. Write it in x.",
        ),
        (
            lambda x: wave(x, lambda x: 1.0 - x**2 / 2.0),
            "At 0 your second derivative is -1: that is how a cosine bends. The wave bends less.",
        ),
        (
            lambda x: wave(x, lambda x: 1.0 + x**2 / 6.0),
            "At 0 your wave bends upwards. Look at the sign of the term with x².",
        ),
        (
            lambda x: wave(x, lambda x: 1.0 - x**2 / 3.0),
            "At 0 your second derivative is -2/3. Differentiating x² twice gives 2, so what stands before x²?",
        ),
        *(
            (polynomial, "The polynomial is right near 0 only. Elsewhere, keep sin x / x.")
            for polynomial in (lambda x: 1.0 - x**2 / 6.0, lambda x: 1.0 - x**2 / 6.0 + x**4 / 120.0)
        ),
        (
            lambda x: np.where(x != 0.0, 1.0 - x**2 / 6.0, np.sin(np.where(x != 0.0, x, 1.0))),
            "The two choices of the `where` are swapped: the polynomial is for 0.",
        ),
        *(
            (
                lambda x, tiny=tiny: np.sin(x + tiny) / (x + tiny),
                "Adding something to x moves all the values a little, not only the one at 0.",
            )
            for tiny in (1e-6, 1e-5, 1e-4, 1e-3)
        ),
    ],
    why="Value, slope and second derivative are right at 0, too: 1, 0 and -1/3.",
    minutes=8,
)

LABELS = np.array([2, 0, 1, 1])
ORDINARY = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.7], [-0.4, 0.9, 2.1], [0.0, 0.6, -1.1]])
FAR = np.array([[1000.0, 998.0, 999.0], [-1000.0, -1001.5, -999.0], [900.0, -900.0, 0.0], [0.2, -0.4, 0.1]])
PROBE = np.random.default_rng(1002).standard_normal((4, 3))


def lose(function: Callable[..., Any], scores: Any) -> tuple[ad.Tensor, Any, Any, ad.GradientTape]:
    """Return the loss, its gradient, the slope of the gradient's weighted sum, and the tape that holds the loss."""
    x = ad.constant(scores)
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = needs_tensor(function(x, LABELS.copy()), "loss(scores, labels)", "one number")
        slopes = tape.gradient(y, x)
        probe = 0.0 if slopes is None else np.sum(slopes * PROBE)
    second = None if slopes is None else outer.gradient(probe, x, unconnected_gradients="zero")
    return y, slopes, second, tape


def is_finite(function: Callable[..., Any]) -> bool | None:
    """Return whether both gradients are finite, or None if there are none."""
    both = [lose(function, scores)[1] for scores in (ORDINARY, FAR)]
    return None if both[0] is None or both[1] is None else bool(np.isfinite(both).all())


def right_scores(scores: Any, labels: Any) -> Any:
    """Return the score of each row's right answer."""
    return scores[np.arange(len(labels)), labels]


def log_sums(scores: Any, m: Any = None) -> Any:
    """Return the log-sum-exp of each row, in which m is subtracted and added again."""
    m = np.max(scores, axis=1, keepdims=True) if m is None else m
    return np.squeeze(m) + np.log(np.sum(np.exp(scores - m), axis=1))


def of_right(scores: Any, labels: Any) -> Any:
    """Return the softmax of each row's right answer."""
    return np.exp(right_scores(scores, labels) - log_sums(scores))


def loss(scores: Any, labels: Any) -> Any:
    """Return the right loss."""
    return np.mean(log_sums(scores) - right_scores(scores, labels))


def largest(scores: Any) -> Any:
    """Return the largest score of each row."""
    return np.max(scores, axis=1)


NO_AXIS = (
    "The largest scores and the scores don't fit together: one has shape (4,), the other (4, 3). Does `np.max(..., "
    "axis=1)` keep its axis?"
)

LOSS = Function(
    "A stable loss",
    """\
`loss(scores, labels)` gets the scores of several samples, one row each, and for each row the number of its right answer. Return the mean of the rows' losses. The loss and its first two derivatives have to be right for all finite scores, even if one row is near 1000 and the next near −1000.""",
    signature="loss(scores, labels)",
    cases=[
        Case(
            lambda f: lose(f, ORDINARY)[0],
            "For four rows of ordinary scores the loss should be {answer}, and yours is {given}.",
        ),
        Case(
            lambda f: lose(f, FAR)[0],
            "With rows near 1000 and -1000 the loss should be {answer}, and yours is {given}. Did you clip the scores, "
            "or add something tiny? Neither is needed.",
        ),
        Case(is_finite, "The loss is right, and its gradient is nan. Does an infinity hide behind a `where`?"),
        *(
            Case(
                lambda f, scores=scores: lose(f, scores)[1],  # type: ignore[misc]
                f"The loss is right, and {where} its gradient isn't. Is a part of it cut, or a plain number? Only the "
                "largest score may be cut, and then wherever it is used.",
                within=1e-5,
            )
            for scores, where in ((ORDINARY, "for ordinary scores"), (FAR, "far out"))
        ),
        *(
            Case(
                lambda f, scores=scores: lose(f, scores)[2],  # type: ignore[misc]
                f"Loss and gradient are right, and {where} the second derivative isn't. Keep everything a tensor.",
                within=1e-5,
            )
            for scores, where in ((ORDINARY, "for ordinary scores"), (FAR, "far out"))
        ),
        Case(
            lambda f: any(
                {(4, 1), (4,)} <= {getattr(value, "shape", ()) for value in entry.values}
                for entry in lose(f, ORDINARY)[3].entries
            ),
            "The mean is right, but of a table of 4 × 4 numbers: something of shape (4, 1) met something of shape (4,), "
            "each row with each. Take `m[:, 0]` where the rows' numbers meet.",
        ),
    ],
    answer=loss,
    spellings=[
        lambda scores, labels: ad.nn.softmax_cross_entropy(scores, labels),
        lambda scores, labels: np.mean(np.logaddexp.reduce(scores, axis=1) - right_scores(scores, labels)),
        lambda scores, labels: np.mean(np.logaddexp.reduce(scores, axis=1) - np.diagonal(scores[:, labels])),
    ],
    hints=[
        (lambda s, k: np.sum(log_sums(s) - right_scores(s, k)), "That is the sum over the rows. Return the mean."),
        (lambda s, k: -loss(s, k), "The sign is turned round: a loss is small when the right answer's score is large."),
        (lambda s, k: log_sums(s) - right_scores(s, k), "You return one loss for each row. Return their mean."),
        (
            lambda s, k: np.mean(log_sums(s)),
            "That is the mean log-sum-exp. Subtract the score of the right answer from each.",
        ),
        (
            lambda s, k: np.mean(of_right(s, k)),
            "That is the mean softmax of the right answers. Its logarithm is missing, and a minus.",
        ),
        (
            lambda s, k: -np.log(np.mean(of_right(s, k))),
            "You take the logarithm of a mean. Take the mean of the logarithms.",
        ),
        (
            lambda s, k: np.log(np.sum(np.exp(s))) - np.mean(right_scores(s, k)),
            "You take one log-sum-exp of all rows. Each row has its own: sum along axis 1.",
        ),
        (
            lambda s, k: loss(s, k) - np.mean(largest(s)),
            "After subtracting the largest score, add it again: log-sum-exp is m + log(...).",
        ),
        (
            lambda s, k: loss(s, k) + np.mean(largest(s)),
            "The largest score is added once too often. Was it subtracted inside exp?",
        ),
        (
            lambda s, k: loss(s, k) - 2.0 * np.mean(largest(s)),
            "Add the largest score to the logarithm: you subtract it.",
        ),
        *(
            (
                lambda s, k, sign=sign: sign * np.mean(right_scores(s, k)),
                "Those are only the scores of the right answers. Each row's log-sum-exp is missing.",
            )
            for sign in (1.0, -1.0)
        ),
        (
            lambda s, k: np.mean(
                np.log(np.sum(np.exp(s - np.max(s, axis=0)), axis=1)) - right_scores(s - np.max(s, axis=0), k)
            ),
            "You subtract the largest score of each column. Each row has its own: that is `axis=1`.",
        ),
        (
            lambda s, k: np.expand_dims(largest(s), 1) + log_sums(s) - largest(s) - right_scores(s, k),
            "You return a table of 4 × 4 numbers: something of shape (4, 1) met something of shape (4,). Take `m[:, 0]` where "
            "the rows' numbers meet, and then the mean.",
        ),
        (
            lambda s, k: (
                np.log(np.sum(np.exp(s - np.expand_dims(largest(s), 1)))) + np.mean(largest(s) - right_scores(s, k))
            ),
            "Each row subtracts its own largest score, but the sum is one for all rows. Sum along axis 1.",
        ),
        (
            lambda s, k: np.mean(largest(s) - right_scores(s, k)),
            "That is the largest score minus the right one. The log of the sum is missing.",
        ),
        (lambda s, k: s - largest(s), NO_AXIS),
        (lambda s, k: largest(s) + s, NO_AXIS),
        (
            lambda s, k: -np.mean(np.log(right_scores(np.exp(s) / np.sum(np.exp(s), axis=1, keepdims=True), k))),
            "For scores near 1000 your loss is nan: exp overflows. Subtract the largest score of each row.",
        ),
        *(
            (
                lambda s, k, m=m: np.mean(log_sums(s, m(s)) - right_scores(s, k)),
                "For rows near 1000 and near -1000 your loss is infinite: exp overflows, or a logarithm gets a 0. Does "
                "each row subtract its own largest score, and did you take the logarithm of the fraction by hand?",
            )
            for m in (np.max, lambda s: np.min(s, axis=1, keepdims=True))
        ),
        (
            lambda s, k: ad.stop_gradient(loss(s, k)),
            "The gradient is None: the loss has become a plain number on the way.",
        ),
    ],
    why="The loss is finite wherever the scores are, and so are its first and second derivatives.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, MISSING, WAVE, LOSS)
