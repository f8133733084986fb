"""Chapter 15: a step that is tried before it is taken, a Hessian by two tapes, and conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Exercise, Judge
from ..feedback import NotYet, by_hand, call, near, needs_function, numbers
from ..predictions import Prediction
from .wrong_15 import FORMULAS, STEPS, armijo, walk

TAPES = (
    "Is a `return` missing? Is x watched by both tapes, and is the inner gradient taken inside the outer tape's block?"
)
CUBES = np.array([2.0, -3.0, 5.0])
POINT = np.array([0.7, -1.3, 0.4])


def surface(x: Any) -> Any:
    """Return a function of three numbers whose second derivatives are easy to write down."""
    return np.sum(CUBES * x**3) / 6.0 + x[0] * x[1] * x[2]


def _slope(x: Any) -> Any:
    return CUBES * x**2 / 2 + np.array([x[1] * x[2], x[0] * x[2], x[0] * x[1]])


def _curvature(x: Any) -> Any:
    a, b, c = x
    return np.diag(CUBES * x) + np.array([[0.0, c, b], [c, 0.0, a], [b, a, 0.0]])


GRADIENT, MATRIX = _slope(POINT), _curvature(POINT)


def determinant(x: Any) -> Any:
    """Return a function of a 2×2 array, whose Hessian has four axes."""
    return x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]


STARTS: list[tuple[str, Any, Any, Any]] = [
    ("x⁴ from 1, with a step of -8", lambda x: np.sum(x**4), np.array([1.0]), np.array([-8.0])),
    ("x² from 1, with a step of -3.7", lambda x: np.sum(x**2), np.array([1.0]), np.array([-3.7])),
    ("x² from 1, with a step of -3.5", lambda x: np.sum(x**2), np.array([1.0]), np.array([-3.5])),
    ("x² from 1, with a step of -2.02", lambda x: np.sum(x**2), np.array([1.0]), np.array([-2.02])),
    ("x² from 1, with a step of -3.9", lambda x: np.sum(x**2), np.array([1.0]), np.array([-3.9])),
    (
        "x⁴ - 2x² + 9 from 0.3, with a step of 1.4",
        lambda x: np.sum(x**4 - 2 * x**2) + 9,
        np.array([0.3]),
        np.array([1.4]),
    ),
    (
        "x⁴ - 2x² + 9 from -1.1, with a step of 2.25",
        lambda x: np.sum(x**4 - 2 * x**2) + 9,
        np.array([-1.1]),
        np.array([2.25]),
    ),
    ("x² from 3, with a step of -3", lambda x: np.sum(x**2), np.array([3.0]), np.array([-3.0])),
    ("a bowl in two inputs", lambda x: x[0] ** 2 + 9 * x[1] ** 2, np.array([2.0, 1.0]), np.array([-4.0, -18.0])),
    (
        "the same bowl, straight across",
        lambda x: x[0] ** 2 + 9 * x[1] ** 2,
        np.array([2.0, 1.0]),
        np.array([-4.0, 0.0]),
    ),
]
SLOPES = [
    np.array(slope)
    for slope in ([4.0], [2.0], [2.0], [2.0], [2.0], [-1.092], [-0.924], [6.0], [4.0, 18.0], [4.0, 18.0])
]


def backtrack(answer: Any) -> str:
    """Check 15.1: `backtrack(f, x, gradient, step)`, against the rule, on hidden steps."""
    needs_function(answer, "backtrack(f, x, gradient, step)")
    tried = [_try_step(answer, f, x, gradient, step) for (_, f, x, step), gradient in zip(STARTS, SLOPES, strict=True)]
    given = [t for t, _ in tried]
    wanted = _steps_of(armijo)
    if np.allclose(given, wanted):
        return "A step is tried before it is taken, and halved until the height keeps a tenth of its promise."
    if set(given) == {1.0} and max(asked for _, asked in tried) > 2:
        raise NotYet("Your loop ends, but t is still 1. Halve t in each turn, and try `x + t * step`.")
    for known, hint in STEPS:
        if np.allclose(given, _steps_of(known)):
            raise NotYet(hint)
    name, t, right = next(
        (start[0], a, b) for start, a, b in zip(STARTS, given, wanted, strict=True) if not np.isclose(a, b)
    )
    if t == 0.0:
        raise NotYet(
            f"For {name}, your loop never ends, or ends with a t of nearly 0, and the rule gives {right:g}. Does it go "
            "on while the height is more than `f(x) + 0.1 * t * (gradient @ step)`?"
        )
    raise NotYet(f"For {name}, your t is {t:g} and the rule gives {right:g}.")


def _steps_of(known: Callable[..., float]) -> list[float]:
    return [known(f, x, gradient, step) for (_, f, x, step), gradient in zip(STARTS, SLOPES, strict=True)]


def _try_step(answer: Any, f: Callable[[Any], Any], x: Any, gradient: Any, step: Any) -> tuple[float, int]:
    """Return the t that an answer chooses, 0 if it halves t until nothing is left, and how often it asked for f."""
    asked = 0

    def tried(x: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > 500:
            raise NotYet("endless")
        return f(np.asarray(x, dtype=float))

    try:
        t = call(answer, tried, x.copy(), gradient, step.copy(), written="backtrack(f, x, gradient, step)")
    except NotYet as problem:
        if asked > 500:
            return 0.0, asked
        if "truth value" in str(problem.__cause__):
            raise NotYet("The promise is one number: `gradient @ step`, the sum of the products.") from None
        raise _kinder(problem) from None
    if t is ... or t is None:
        raise NotYet("Your function returns nothing yet. Return `t`, a number.")
    array = numbers(t, "what backtrack(f, x, gradient, step) returns")
    right = armijo(f, x, gradient, step)
    if array.size > 1 or (array.ndim and (np.allclose(array, step * right) or np.allclose(array, x + step * right))):
        raise NotYet("Return the number t alone, not the step: `x + t * step` is computed outside.")
    return (0.0 if abs(array.item()) < 1e-9 else float(array.item())), asked


def hessian(answer: Any) -> str:
    """Check 15.2: `hessian(f, x)`, against closed forms of a vector's and a matrix's second derivatives."""
    needs_function(answer, "hessian(f, x)")
    ready_made = {ad.hessian(surface).__code__: "ad.hessian", ad.hvp.__code__: "ad.hvp"}
    f = by_hand(surface, ready_made, "one tape for the gradient, and one around it.")
    try:
        given = call(answer, f, POINT.copy(), written="hessian(f, x), with x of three numbers,")
    except NotYet as problem:
        said = str(problem.__cause__)
        if "target is None" in said:
            raise NotYet("The inner gradient is None. Does the inner tape watch x before it calls f?") from None
        if "target is " in said and "of type ndarray" in said:
            raise NotYet(
                "The outer tape is asked about plain numbers, which no tape follows. Leave the gradient a tensor."
            ) from None
        raise _kinder(problem) from None
    array = numbers(given, "what hessian(f, x) returns", TAPES)
    if array.shape == (3,):
        if near(array, GRADIENT):
            raise NotYet("That is the gradient, three numbers. Ask the outer tape for the Jacobian of it.")
        if near(array, MATRIX.sum(axis=0)):
            raise NotYet(
                "Three numbers where nine belong: `outer.gradient` of a vector is the gradient of its sum, which adds "
                "up the rows. Ask for `outer.jacobian`."
            )
        if near(array, np.diag(MATRIX)):
            raise NotYet("That is the diagonal alone. Each slope may change with every input: nine numbers.")
    if array.shape != (3, 3):
        raise NotYet(
            f"For x of shape (3,) the Hessian has shape (3, 3), and yours has shape {array.shape}. It is the Jacobian "
            "of the gradient: the gradient's shape, then that of x."
        )
    if near(array, np.diag(np.diag(MATRIX))):
        raise NotYet("Your matrix has the right diagonal, and zeros beside it. Each slope may change with every input.")
    if near(array, np.outer(GRADIENT, GRADIENT)):
        raise NotYet("That is the gradient times itself: products of first derivatives. No second derivative is in it.")
    if near(array, -MATRIX):
        raise NotYet("Every number has the right size and the wrong sign.")
    if not near(array, MATRIX):
        i, j = np.unravel_index(np.argmax(np.abs(array - MATRIX)), MATRIX.shape)
        close = np.allclose(array, MATRIX, rtol=0.01, atol=0.01)
        raise NotYet(
            f"Element [{i}, {j}] is {array[i, j]:.9g}, and by hand it is {MATRIX[i, j]:.9g}, for a function of three "
            "numbers." + close * " Tapes are exact up to rounding; a finite difference is not."
        )
    written = "hessian(f, x), with x of shape (2, 2),"
    array = numbers(call(answer, determinant, np.array([[1.0, 2.0], [3.0, 5.0]]), written=written), missing=TAPES)
    if array.shape != (2, 2, 2, 2):
        raise NotYet(
            f"For vectors it is right. For x of shape (2, 2) your result has shape {array.shape}, and it should be "
            "(2, 2, 2, 2): the shape of x twice. `jacobian` gives it so."
        )
    right = np.zeros((2, 2, 2, 2))
    right[0, 0, 1, 1] = right[1, 1, 0, 0] = 1.0
    right[0, 1, 1, 0] = right[1, 0, 0, 1] = -1.0
    if not near(array, right):
        raise NotYet("For vectors it is right. For x of shape (2, 2), the elements are not where they belong.")
    return "The Jacobian of the gradient, recorded by the outer tape, agrees with the second derivatives by hand."


def conjugate(answer: Any) -> str:
    """Check 15.3: `solve(product, b)` on a hidden matrix, and that it takes as many products as there are rows."""
    needs_function(answer, "solve(product, b)")
    rng = np.random.default_rng(1952)
    rotation, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    matrix = rotation @ np.diag([1.0, 2.0, 4.0, 7.0, 11.0]) @ rotation.T
    b = rng.standard_normal(5)
    asked: list[Any] = []

    def multiply(v: Any) -> Any:
        asked.append(np.array(v, dtype=float))
        if asked[-1].shape != (5,):
            raise NotYet(f"product takes a vector, here of 5 numbers, and got an array of shape {asked[-1].shape}.")
        if len(asked) > 200:
            raise NotYet("After 200 products I stop. Five rows need five. Does your loop end?")
        return matrix @ asked[-1]

    with np.errstate(all="ignore"):
        try:
            given = call(answer, multiply, b.copy(), written="solve(product, b)")
        except NotYet as problem:
            raise _kinder(problem) from None
        array = numbers(given, "what solve(product, b) returns")
        if array.shape != (5,):
            raise NotYet(f"b has 5 numbers, so the solution has 5, and your result has shape {array.shape}.")
        right = np.linalg.solve(matrix, b)
        if near(array, -right):
            raise NotYet("That solves H s = −b. Here b is the right side itself.")
        if not np.allclose(array, right, rtol=1e-7, atol=1e-9):
            for length, share, hint in FORMULAS:
                if np.allclose(array, walk(matrix, b, length, share), rtol=1e-7, atol=1e-9, equal_nan=True):
                    raise NotYet(hint)
            if not np.isfinite(array).all():
                raise NotYet("Your result holds numbers that are not finite. Is one of the divisions by zero?")
            plural = "s" * (len(asked) != 1)
            raise NotYet(
                f"After {len(asked)} product{plural}, H s still differs from b by "
                f"{np.linalg.norm(matrix @ array - b):.3g}. Solve the two equations for the unknown, `length` first: "
                "both have direction · along below the line."
            )
    if not asked:
        raise NotYet("The numbers are right, but your function never asked for a product.")
    if sum(np.count_nonzero(v) == 1 for v in asked) >= 2:
        raise NotYet(
            "Your function multiplies by unit vectors: that writes down the matrix, column by column. Go along the "
            "directions instead."
        )
    first = next(v for v in asked if v.any())
    if not np.isclose(abs(first @ b), np.linalg.norm(first) * np.linalg.norm(b)):
        raise NotYet("It arrives, but by another way. The first direction is what is missing at the start: b.")
    if len(asked) > 6:
        raise NotYet(
            f"It arrives, but after {len(asked)} products, and five rows need five. Is `share` such that "
            "(left + share · direction) · along is 0, and do you ask once in each turn?"
        )
    return f"It arrives after {len(asked)} products for five rows, and the matrix is never there."


def _kinder(hint: NotYet) -> NotYet:
    cause = hint.__cause__
    if isinstance(cause, TypeError) and "ellipsis" in str(cause):
        return NotYet("Replace the three dots and run the cell again.")
    return hint


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "The input has shape (2,). What shape does the Jacobian of its gradient have?",
        answer=(2, 2),
        hints={
            (2,): "That's the gradient. Each of its two slopes may change with each of the two inputs.",
            (4,): "Four numbers is right. A Jacobian keeps its two axes apart.",
        },
        why="The gradient's shape, (2,), and then that of the source, (2,).",
    ),
    Prediction(
        "How many of Newton's steps does it take to the lowest point of the bowl?",
        answer=1,
        hints={
            2: "There are two inputs, but one step moves in both. How good is the model of a quadratic function?",
            5: "That's for the valley, which isn't quadratic. What is the model of a quadratic function?",
        },
        why="The quadratic model of a quadratic function is the function itself.",
    ),
    Prediction(
        "How much too high is Newton's loss after turn 4?",
        answer="about 2e-8",
        choices=("about 2e-5", "about 1e-6", "about 2e-8"),
        hints={
            "about 2e-5": "From 3e-3 to 5e-5 was a factor of 60, and the one before only 10. The factors grow.",
            "about 1e-6": "The factor was 10, then 60. Does it stay at 60, or does it grow again?",
        },
        why="Each turn roughly squares the error: twice as many digits are correct.",
    ),
    Prediction(
        "What is the shape of the Hessian with respect to the kernel?",
        answer=(5, 8, 5, 8),
        hints={
            (40, 40): "As a matrix, yes. As a Jacobian of the gradient, it keeps all the axes.",
            (5, 8): "That's the gradient. The Hessian has a slope of each of its numbers with respect to each weight.",
            (8, 5, 8, 5): "The gradient has the shape of the kernel, (5, 8).",
            (5, 5): "The source has 5×8 numbers, not 5.",
        },
        why="The gradient has the kernel's shape, and its Jacobian that shape twice.",
    ),
    Prediction(
        "Where does Newton's method end if it starts at 0.3?",
        answer=0,
        hints={
            1: "That's where descent would go. What does the parabola look like where the curvature is negative?",
            -1: "It starts on the other side. And what does the parabola look like where the curvature is negative?",
        },
        why="The model is upside down there, and its flat place is its top.",
    ),
    Judge(
        "Backtracking",
        """\
Write `backtrack(f, x, gradient, step)`. `x`, `gradient` and `step` are arrays. It returns the number `t`, the first of 1, 1/2, 1/4, … for which `f(x + t * step)` is at most `f(x)` plus a tenth of what the slope promises, `0.1 * t * (gradient @ step)`.""",
        backtrack,
    ),
    Judge(
        "The Hessian as the Jacobian of the gradient",
        """\
Write `hessian(f, x)`. It gets a function of one array, and an array of any shape, and returns the second derivatives, of shape `x.shape + x.shape`. Use tapes; `ad.hessian` and `ad.hvp` aren't allowed here.""",
        hessian,
    ),
    Judge(
        "Conjugate gradients",
        """\
To solve H s = b with products alone, go along one direction at a time. `missing` is b − H s, what's left to explain. The first direction is what's missing at the start.

- `length`: how far along `direction`? To the lowest point of the model: there, nothing of what's missing lies along the direction. So (missing − length · H direction) · direction = 0.
- `share`: how much of the old direction stays in the new one? As much as it takes for the new direction not to spoil the old one: (left + share · direction) · H direction = 0.

Solve both equations for the unknown. All you need is `along`, which is H times the direction. In *n* turns the method arrives, if the eigenvalues of H are above zero.""",
        conjugate,
    ),
)
