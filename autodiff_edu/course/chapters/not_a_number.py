"""Not a number: a distance that may be 0, a loss that does not overflow, and two ways to clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function, Table
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
        "The seed is 1 for each element. What cotangent does `where` send to `np.sqrt(x)` for the element -1?",
        answer=0,
        hints={
            1: "That would be so if `where` had taken this element. It took the 0.0.",
            float("nan"): "Not yet. `where` only copies cotangents to where it took its values from.",
            float("-inf"): "Not yet. `where` only copies cotangents to where it took its values from.",
        },
        why="This root was not taken, so nothing depends on it.",
    ),
    Prediction(
        "At x = 0, which of the three have the slope nan?",
        answer="all three",
        choices=("none: all are guarded", "root alone", "surprise and wave", "all three"),
        hints={
            "none: all are guarded": "Their values are guarded. What does 0 meet on the way back?",
            "root alone": "`np.log(0.0)` is -inf and 0/0 is nan. The rules of * and / multiply 0 by such numbers.",
            "surprise and wave": "The root of 0 is a number, 0. But its derivative there is 1 / (2√0).",
        },
        why="In each, a 0 meets something that isn't finite.",
    ),
    Prediction(
        "What second derivative will the tape find for `safe_wave` at 0?",
        answer=0,
        hints={
            -1 / 3: "That is the true one. What did we write for x = 0, and how does that change with x?",
            float("nan"): "The double `where` keeps every derivative finite, of any order.",
            1: "1 is the value at 0. How does it change with x?",
        },
        why="At 0 we wrote the constant 1. A constant doesn't bend.",
    ),
    Prediction(
        "With the scores 1000, 998 and 0, what does `np.exp(s[1]) / np.sum(np.exp(s))` give?",
        answer="nan",
        choices=("0.119", "0", "inf", "nan"),
        hints={
            "0.119": "That is right on paper. What is `np.exp(998.0)` in a computer?",
            "0": "The sum is inf. But the number above the line is inf, too.",
            "inf": "The number above the line is inf. But so is the sum below it.",
        },
        why="inf divided by inf is nan.",
    ),
    Prediction(
        "`cut_log_sum_exp` treats m as a constant. How will its slopes differ from those of `log_sum_exp`?",
        answer="not at all",
        choices=("not at all", "in the largest score's slope", "in all of them"),
        hints={
            "in the largest score's slope": "Two paths lead through m: one adds it, one subtracts it inside exp.",
            "in all of them": "Only one score is m itself. And two paths lead through it, with opposite signs.",
        },
        why="The value doesn't depend on m, so the two paths through m cancel.",
    ),
    Prediction(
        "The slopes are -8 and 1, and the limit is 1. What does `by_value` make of them?",
        answer="-1 and 1",
        choices=("-1 and 1", "-1 and 0.125", "-0.99 and 0.12", "-8 and 1"),
        hints={
            "-1 and 0.125": "That keeps the direction. `by_value` looks at each number for itself.",
            "-0.99 and 0.12": "That is `by_global_norm`. `by_value` looks at each number for itself.",
            "-8 and 1": "-8 is below -1, so it is cut off there.",
        },
        why="Each number is cut off for itself, and the direction changes.",
    ),
    Prediction(
        "What will `by_value` and `by_global_norm` make of the slopes nan and 3, with the limit 1?",
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


TOGETHER, CLOSE, LEVEL = 2, 4, 5
"""The rows of exercise 1 whose points lie on each other, a billionth apart, and beside each other."""

RANDOM = np.random.default_rng(1001)
PS, APART = RANDOM.uniform(-3.0, 3.0, (6, 2)), RANDOM.uniform(0.5, 2.0, (6, 2))
PS[CLOSE], APART[TOGETHER], APART[CLOSE], APART[LEVEL, 1] = 0.0, 0.0, (6e-10, -8e-10), 0.0
WEIGHTS = np.array([0.7, -1.9, 2.2, -0.3, 1.4, 0.9])


def measure(function: Callable[..., Any]) -> tuple[Any, Any, set[str]]:
    """Return the distances, their slopes with respect to p and q, and the names of the operations."""
    p, q = ad.constant(PS), ad.constant(PS - APART)
    with ad.GradientTape() as tape:
        tape.watch([p, q])
        y = needs_tensor(function(p, q), "distances(p, q)", "one distance for each row")
        if y.shape != (6,):
            raise NotYet(
                f"distances(p, q) returns the shape {y.shape}. Return one distance for each row: the shape (6,)."
            )
        target = np.sum(y * WEIGHTS)
    names = {entry.name for entry in tape.entries}
    return y.numpy(), tape.gradient(target, [p, q]), names


def built_in(function: Callable[..., Any]) -> str:
    """Return what NumPy has for distances, if a function uses it."""
    return next(iter(measure(function)[2] & {"norm", "hypot"}), "")


def where_they_meet(function: Callable[..., Any]) -> str:
    """Return what kind of slope there is where two points meet, and whether it went through a `where`."""
    _, slopes, names = measure(function)
    if slopes[0] is None or slopes[1] is None:
        return "None"
    if np.isfinite([slope[TOGETHER] for slope in slopes]).all():
        return "a number"
    return "nan, by where" if "where" in names else "nan"


def squares(p: Any, q: Any) -> Any:
    """Return the squares of the distances."""
    return np.sum((p - q) ** 2, axis=1)


def roots(square: Any, filler: float = 1.0, at_0: float = 0.0) -> Any:
    """Return the roots of squares, with a filler in place of each 0 that the root would see."""
    return np.where(square > 0.0, np.sqrt(np.where(square > 0.0, square, filler)), at_0)


NOT_TINY = "Don't add something tiny: swap the dangerous number for a harmless one, and drop what comes of it."
BUILT_IN = "has the repair built in. Do it with `np.sqrt` and `np.where`."

DISTANCES = Function(
    "Where two points meet",
    """\
`distances(p, q)` gets two arrays of points, one point per row, and returns the distance of each pair. Where a point of `p` lies exactly on its partner, the distance is 0 and the gradient should be 0 too. Everything else should stay exactly as it is. (`np.linalg.norm` has that built in. Here, do it with `np.sqrt`.)""",
    signature="distances(p, q)",
    cases=[
        Case(built_in),
        Case(
            lambda f: np.delete(measure(f)[0], (TOGETHER, CLOSE)),
            "The distances where the points are apart should be {answer}, and yours are {given}.",
        ),
        Case(
            lambda f: measure(f)[0][TOGETHER],
            f"Where two points meet, your distance is {{given}} and not 0. {NOT_TINY}",
            within=0.0,
        ),
        Case(
            lambda f: measure(f)[0][CLOSE],
            "Two points that are 1e-09 apart get the distance {given}. Only pairs with distance 0 need to be treated "
            "differently.",
            within=1e-12,
        ),
        Case(
            where_they_meet,
            "The distances are right, and the slope is nan where two points meet: the root has an infinite derivative "
            "at 0, and times 0 that is nan.",
        ),
        Case(
            lambda f: [slope[TOGETHER] for slope in measure(f)[1]], "Where two points meet, the gradient should be 0."
        ),
        Case(
            lambda f: [np.delete(slope, TOGETHER, axis=0) for slope in measure(f)[1]],
            "The distances are right, and the gradient is wrong where the points are apart. Is a part of it computed "
            "from plain numbers, or cut?",
            within=1e-5,
        ),
    ],
    answer=lambda p, q: roots(squares(p, q)),
    spellings=[lambda p, q: roots(squares(p, q), filler=0.0)],
    hints=[
        (lambda p, q: np.linalg.norm(p - q, axis=1), f"NumPy's norm {BUILT_IN}"),
        (lambda p, q: np.hypot(*(p - q).T), f"NumPy's hypot {BUILT_IN}"),
        (
            lambda p, q: np.where(squares(p, q) > 0.0, np.sqrt(squares(np.where(p == q, 1.0, p - q), 0.0)), 0.0),
            "Two points that have one coordinate in common get a wrong distance. Test the distance, not each coordinate.",
        ),
        (squares, "Those are the squares of the distances. Take the root, where that is safe."),
        (
            lambda p, q: squares(p, q) / np.sqrt(squares(p, q)),
            "Where two points meet, your distance is nan. What is the root of 0?",
        ),
        (
            lambda p, q: roots(squares(p, q), at_0=1.0),
            "Where two points meet, your distance is 1: the harmless number has come through. A second `np.where` has "
            "to drop it.",
        ),
        (
            lambda p, q: np.where(squares(p, q) > 0.0, np.sqrt(squares(p, q)), 0.0),
            "The distances are right, and the slope is nan where two points meet: the `where` trap. Going backward, 0 "
            "meets the infinite derivative of the root. Which number should the root see there instead?",
        ),
        (
            lambda p, q: ad.stop_gradient(roots(squares(p, q))),
            "The distances are right, and the gradient is None: they have become plain numbers on the way, or were cut.",
        ),
    ],
    why="Where two points meet, distance and gradient are both 0. Everywhere else, nothing has changed.",
    minutes=9,
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
`loss(scores, labels)` gets the scores of several samples, one row each, and for each row the number of its right answer. Return the mean of the rows' losses. It has to be right for any finite scores, even when one row is near 1000 and the next near −1000, and to second order.""",
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
            lambda f: any(np.shape(entry.output_value) == (4, 4) for entry in lose(f, ORDINARY)[3].entries),
            "The mean is right, but of a table of 4 × 4 numbers: something of shape (4, 1) met something of shape (4,), "
            "each row with each. Take `m[:, 0]` where the rows' numbers meet.",
        ),
    ],
    answer=loss,
    spellings=[
        lambda scores, labels: ad.nn.softmax_cross_entropy(scores, labels),
        lambda scores, labels: np.mean(np.logaddexp.reduce(scores, axis=1) - right_scores(scores, labels)),
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

Gradients = Sequence[Any]
PAIR, SINGLE = np.array([3.0, -4.0]), np.array([[12.0]])
GRADIENTS: Gradients = (PAIR, None, SINGLE)
"""Two arrays of norm 5 and 12, together 13, and a variable without a gradient."""

THREE: Gradients = (np.array([1.0, -2.0]), None, np.array([[2.0]]), None, np.array([4.0]))
"""Three arrays, together of norm 5."""

ERRORS = {
    "hypot": "`np.hypot` takes two numbers. Here is a list of arrays: add up the squares of all.",
    "NoneType": "One of the gradients is None. Leave it out of the calculation, and return None for it.",
    "truth value": "An array is neither true nor false. To find the None, ask `g is None`.",
}


def clip_by(gradients: Gradients, limit: float) -> Callable[[Callable[..., Any]], list[Any]]:
    """Return what clips these gradients with a learner's function."""

    def run(function: Callable[..., Any]) -> list[Any]:
        kept = [None if g is None else ad.constant(g) for g in gradients]
        given = list(kept)
        try:
            found = function(given, limit)
        except NotYet as error:
            raise NotYet(next((hint for word, hint in ERRORS.items() if word in str(error)), str(error))) from error
        if any(a is not b for a, b in zip(given, kept, strict=True)):
            raise NotYet(
                "The list that you were given has changed. Return a new one; the caller may still need the old one."
            )
        if not isinstance(found, list | tuple):
            raise NotYet(f"Your function returns {shorten(found)}. Return a list, with an item for each gradient.")
        return list(found)

    return run


def each(f: Callable[[Any, float], Any]) -> Callable[..., Any]:
    """Return a function that does something with each gradient for itself."""
    return lambda gradients, limit: [None if g is None else f(g, limit) for g in gradients]


def length_of(gradients: Gradients) -> Any:
    """Return the global norm."""
    return np.sqrt(sum(np.sum(g**2) for g in gradients if g is not None))


def scale_all(factor: Callable[[Gradients, float], Any]) -> Callable[..., Any]:
    """Return a function that multiplies all gradients by one factor."""
    return lambda gradients, limit: [None if g is None else g * factor(gradients, limit) for g in gradients]


def sizes(gradients: Gradients) -> list[float]:
    """Return the sizes of all numbers."""
    return [float(abs(x)) for g in gradients if g is not None for x in np.ravel(g)]


by_value = each(lambda g, limit: np.clip(g, -limit, limit))
by_norm = scale_all(lambda gs, limit: limit / np.maximum(limit, length_of(gs)))
UNCHANGED = "A global norm of 13 is under the limit 20, so all should come back as it was; yours has been rescaled."
NONE_FOR_NONE = "One of the gradients is None, and your list is shorter. Return None for None."
STAYS_NONE = "One of the gradients is None, and you return a number for it. None stays None."
DIFFERS = "of [3, -4], None and 12, with the limit {limit}, makes {{given}}, and it should be {{answer}}."
NONES = Case(lambda f: [part is None for part in clip_by(GRADIENTS, 3.5)(f)], STAYS_NONE)

HINTS_BY_VALUE = [
    (each(np.minimum), "A slope of -4 came through a limit of 3.5. Cut it at -limit."),
    (each(lambda g, limit: np.minimum(np.abs(g), limit)), "A sign got lost: -4 should become -3.5, not 3.5."),
    (each(lambda g, limit: np.sign(g) * limit), "Every number has become ±limit. Those within may stay."),
    (by_norm, "That is clipping by global norm. Here, cut each number off."),
    (each(lambda g, limit: np.maximum(g, -limit)), "A slope of 12 came through a limit of 3.5. Cut it at limit."),
    (
        each(lambda g, limit: np.where(np.abs(g) > limit, 0.0, g)),
        "What is over the limit has become 0. Cut it off at ±limit.",
    ),
    (lambda gradients, limit: gradients, "Nothing was clipped."),
    (lambda gs, limit: by_value([g for g in gs if g is not None], limit), NONE_FOR_NONE),
    (lambda gs, limit: by_value([0.0 if g is None else g for g in gs], limit), STAYS_NONE),
]
HINTS_BY_NORM = [
    (
        each(lambda g, limit: by_norm([g], limit)[0]),
        "Each gradient is clipped by its own length. Take one length for all of them.",
    ),
    (
        scale_all(lambda gs, limit: limit / sum(length_of([g]) for g in gs if g is not None)),
        "The lengths 5 and 12 don't add up to 17: it is √(5² + 12²).",
    ),
    (
        scale_all(lambda gs, limit: limit / sum(sizes(gs))),
        "You added up sizes: 3 + 4 + 12. The length is √(3² + 4² + 12²).",
    ),
    (scale_all(lambda gs, limit: limit / length_of(gs) ** 2), "169 is the square of the length. Take the root."),
    (scale_all(lambda gs, limit: 1.0 / length_of(gs)), "The length is now 1. Scale it to the limit."),
    (scale_all(lambda gs, limit: limit), "You multiply by the limit. The factor is limit / length."),
    (
        scale_all(lambda gs, limit: limit / max(sizes(gs))),
        "You divide by the largest number. Divide by the length of all.",
    ),
    (by_value, "That is clipping by value: the direction has changed."),
    (lambda gradients, limit: gradients, "Nothing was clipped: the length of all is 13, and the limit 3.25."),
    (
        scale_all(lambda gs, limit: length_of(gs) / limit),
        "The gradients got longer. The factor is limit / length, not the reverse.",
    ),
    (scale_all(lambda gs, limit: limit / length_of(gs)), UNCHANGED),
    (
        scale_all(lambda gs, limit: np.minimum(limit, length_of(gs)) / length_of(gs)),
        "Where all gradients are 0, yours become nan: 0 divided by the length 0. Guard the division.",
    ),
    (
        lambda gs, limit: [*by_norm(gs[:3], limit), *gs[3:]],
        "With two arrays it works, but not with three. Go through the whole list, whatever its length.",
    ),
    (lambda gs, limit: by_norm([g for g in gs if g is not None], limit), NONE_FOR_NONE),
    (lambda gs, limit: [0.0 if g is None else g for g in by_norm(gs, limit)], STAYS_NONE),
]

CLIPS = Table(
    "Clip a whole network",
    """\
Write both kinds of clipping for a list of gradients of any shapes. A gradient may be `None`, for a variable that the loss doesn't depend on; it stays `None`. A list that needs no clipping comes back as it was, even if all of it is 0. Return a new list, in the same order.""",
    called="function",
    parts={
        "value": Function(
            signature="clip_by_value(gradients, limit)",
            cases=[NONES, Case(clip_by(GRADIENTS, 3.5), f"clip_by_value {DIFFERS.format(limit=3.5)}")],
            answer=by_value,
            hints=[(wrong, f"clip_by_value: {hint}") for wrong, hint in HINTS_BY_VALUE],
        ),
        "norm": Function(
            signature="clip_by_global_norm(gradients, limit)",
            cases=[
                NONES,
                Case(clip_by(GRADIENTS, 3.25), f"clip_by_global_norm {DIFFERS.format(limit=3.25)}"),
                Case(clip_by(GRADIENTS, 20.0), UNCHANGED),
                Case(
                    clip_by((np.zeros(2), None, np.zeros((1, 1))), 1.0), "Where all gradients are 0 they should stay 0."
                ),
                Case(clip_by(THREE, 2.5), "With two arrays it works, but not with three."),
            ],
            answer=by_norm,
            hints=[(wrong, f"clip_by_global_norm: {hint}") for wrong, hint in HINTS_BY_NORM],
        ),
    },
    why="By value, each number for itself; by global norm, one factor for all, and 1 if nothing is too long.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, DISTANCES, LOSS, CLIPS)
