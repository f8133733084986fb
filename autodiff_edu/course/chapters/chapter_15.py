"""The exercises of chapter 15: a Hessian by two tapes, a product without the matrix, and conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...trace.events import Seed
from ..feedback import NotYet, call, needs_function, observe, shortened

CUBES = np.array([2.0, -3.0, 5.0])
POINT = np.array([0.7, -1.3, 0.4])
VECTOR = np.array([2.0, -1.0, 0.5])


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


def hessian(answer: Any) -> str:
    """Check 15.1: `hessian(f, x)`, against closed forms of a vector's and a matrix's second derivatives."""
    needs_function(answer, "hessian(f, x)")
    given = call(answer, surface, POINT.copy(), written="hessian(f, x), with x of three numbers,")
    array = _array(given, "hessian(f, x)")
    if array.shape == (3,):
        if _agree(array, GRADIENT):
            raise NotYet("That is the gradient, three numbers. Now the outer tape's turn: its Jacobian.")
        if _agree(array, MATRIX.sum(axis=0)):
            raise NotYet(
                "Three numbers where nine are due: `outer.gradient` of a vector is the gradient of its sum, which adds "
                "up the rows. Ask for `outer.jacobian`."
            )
        if _agree(array, np.diag(MATRIX)):
            raise NotYet("That is the diagonal alone. Each slope may change with every input: nine numbers.")
    if array.shape != (3, 3):
        raise NotYet(
            f"For x of shape (3,) the Hessian has shape (3, 3), and yours has shape {array.shape}. It is the Jacobian "
            "of the gradient: the gradient's shape, then that of x."
        )
    if _agree(array, np.diag(np.diag(MATRIX))):
        raise NotYet("Your matrix has the right diagonal, and zeros beside it. Each slope may change with every input.")
    if _agree(array, np.outer(GRADIENT, GRADIENT)):
        raise NotYet("That is the gradient times itself: products of first derivatives. No second derivative is in it.")
    if _agree(array, -MATRIX):
        raise NotYet("Every number has the right size and the wrong sign.")
    if not _near(array, MATRIX):
        i, j = np.unravel_index(np.argmax(np.abs(array - MATRIX)), MATRIX.shape)
        raise NotYet(
            f"Element [{i}, {j}] is {array[i, j]:.9g}, and by hand it is {MATRIX[i, j]:.9g}, for a function of three "
            "numbers. Tapes are exact up to rounding; a finite difference is not."
        )
    written = "hessian(f, x), with x of shape (2, 2),"
    array = _array(call(answer, determinant, np.array([[1.0, 2.0], [3.0, 5.0]]), written=written), written)
    if array.shape != (2, 2, 2, 2):
        raise NotYet(
            f"For vectors it is right. For x of shape (2, 2) your result has shape {array.shape}, and it should be "
            "(2, 2, 2, 2): the shape of x twice. `jacobian` gives it so."
        )
    right = np.zeros((2, 2, 2, 2))
    right[0, 0, 1, 1] = right[1, 1, 0, 0] = 1.0
    right[0, 1, 1, 0] = right[1, 0, 0, 1] = -1.0
    if not _near(array, right):
        raise NotYet("For vectors it is right. For x of shape (2, 2), the elements are not where they belong.")
    return "The Jacobian of the gradient, recorded by the outer tape, agrees with the second derivatives by hand."


def product(answer: Any) -> str:
    """Check 15.2: `product(f, x, v)`, against the closed form, and that no stack of seeds was pulled back."""
    needs_function(answer, "product(f, x, v)")
    given, events = observe(answer, surface, POINT.copy(), VECTOR.copy(), written="product(f, x, v)")
    array = _array(given, "product(f, x, v)")
    if array.shape == () and _agree(array, GRADIENT @ VECTOR):
        raise NotYet(
            "That is the slope along v: one number, the gradient times v. How does it change with x? Pull it back "
            "through the outer tape."
        )
    if array.shape == (3, 3):
        raise NotYet("That is a matrix. The product with v is a vector, as long as x.")
    if array.shape != (3,):
        raise NotYet(f"For x and v of shape (3,) the product has shape (3,), and yours has shape {array.shape}.")
    if _agree(array, GRADIENT):
        raise NotYet("That is the gradient. The product says how the gradient changes along v.")
    if _agree(array, GRADIENT * VECTOR):
        raise NotYet("That is the gradient times v, element by element: first derivatives only.")
    if _agree(array, MATRIX.sum(axis=0)):
        raise NotYet(
            "That is the product with ones in place of v: the gradient of the gradient's sum. Where does v come in?"
        )
    if _agree(array, MATRIX.sum(axis=0) * VECTOR):
        raise NotYet(
            "You multiply by v at the end, element by element. It must go in before the second pass: as its seed, or "
            "as a product with the gradient."
        )
    if _agree(array, np.diag(MATRIX) * VECTOR):
        raise NotYet("That is the diagonal of the Hessian times v. The other elements of each row count as well.")
    if not _near(array, MATRIX @ VECTOR):
        why = "Which cotangent starts the second pass?"
        if np.allclose(array, MATRIX @ VECTOR, rtol=1e-3):
            why = "That is close, but not equal up to rounding. A finite difference?"
        raise NotYet(
            f"By hand, the first number is {(MATRIX @ VECTOR)[0]:.9g} for a function of three numbers, and yours is "
            f"{array[0]:.9g}. {why}"
        )
    if any(isinstance(event, Seed) and np.ndim(event.cotangent) > np.ndim(event.tensor) for event in events):
        raise NotYet(
            "The numbers are right, but a stack of seeds was pulled back: one for each row. So the whole matrix was "
            "there, and with a million inputs it would not fit. Use `outer.gradient` in place of a Jacobian."
        )
    return "The product is right, and no stack of seeds was pulled back: the matrix was never there."


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
        if len(asked) > 200:
            raise NotYet("After 200 products I stop. Five rows need five. Does your loop end?")
        return matrix @ asked[-1]

    with np.errstate(all="ignore"):
        try:
            given = call(answer, multiply, b.copy(), written="solve(product, b)")
        except NotYet as problem:
            raise _kinder(problem) from None
        array = _array(given, "solve(product, b)")
        if array.shape != (5,):
            raise NotYet(f"b has 5 numbers, so the solution has 5, and your result has shape {array.shape}.")
        right = np.linalg.solve(matrix, b)
        if _agree(array, -right):
            raise NotYet("That solves H s = −b. Here b is the right side itself.")
        if not np.allclose(array, right, rtol=1e-7, atol=1e-9):
            for length, share, hint in KNOWN:
                if np.allclose(array, _walk(matrix, b, length, share), rtol=1e-7, atol=1e-9, equal_nan=True):
                    raise NotYet(hint)
            if not np.isfinite(array).all():
                raise NotYet("Your result holds numbers that are not finite. Is one of the divisions by zero?")
            raise NotYet(
                f"After {len(asked)} products, H s still differs from b by {np.linalg.norm(matrix @ array - b):.3g}. "
                "Solve the two equations for the unknown, `length` first: both have direction · along below the line."
            )
    if not asked:
        raise NotYet("The numbers are right, but your function never asked for a product.")
    if sum(np.count_nonzero(v) == 1 for v in asked) >= 2:
        raise NotYet(
            "Your function multiplies by unit vectors: that writes down the matrix, column by column. Go along the "
            "directions instead."
        )
    if len(asked) > 6:
        raise NotYet(
            f"It arrives, but after {len(asked)} products, and five rows need five. Is `share` such that "
            "(left + share · direction) · along is 0?"
        )
    return f"It arrives after {len(asked)} products for five rows, and the matrix is never there."


def _walk(matrix: Any, b: Any, length_of: Any, share_of: Any) -> Any:
    s, missing = np.zeros_like(b), b
    direction = b
    for _ in range(len(b)):
        if np.linalg.norm(missing) < 1e-12:
            break
        along = matrix @ direction
        length = length_of(missing, direction, along)
        s, left = s + length * direction, missing - length * along
        direction = left + share_of(missing, left, direction, along) * direction
        missing = left
    return s


def _length(missing: Any, direction: Any, along: Any) -> Any:
    return (missing @ direction) / (direction @ along)


def _share(missing: Any, left: Any, direction: Any, along: Any) -> Any:
    return -(left @ along) / (direction @ along)


KNOWN: list[tuple[Any, Any, str]] = [
    (
        _length,
        lambda missing, left, direction, along: 0.0,
        "With a share of 0 every direction is what is missing: that is gradient descent. It spoils in each turn what "
        "the one before had reached. Keep a share of the old direction.",
    ),
    (
        _length,
        lambda missing, left, direction, along: (left @ along) / (direction @ along),
        "`length` is right. `share` has the wrong sign: left · along + share · (direction · along) is to be 0.",
    ),
    (
        _length,
        lambda missing, left, direction, along: (missing @ missing) / (left @ left),
        "`length` is right. `share` is upside down: what is left is smaller than what was missing, mostly.",
    ),
    (
        _length,
        lambda missing, left, direction, along: 1.0,
        "`length` is right. With a share of 1 the whole old direction is kept, and that is not what its equation says.",
    ),
    (
        lambda missing, direction, along: (missing @ direction) / (direction @ direction),
        _share,
        "In `length` you divide by direction · direction. The equation has H direction in it: divide by "
        "direction · along.",
    ),
    (
        lambda missing, direction, along: (direction @ along) / (missing @ direction),
        _share,
        "`length` is upside down: missing · direction = length · (along · direction).",
    ),
    (
        lambda missing, direction, along: 1.0,
        _share,
        "A length of 1 does not ask the model. Where, along the direction, is nothing missing along it?",
    ),
]
"""Known wrong formulas for `length` and `share`, and the hint for each."""


def _kinder(hint: NotYet) -> NotYet:
    cause = hint.__cause__
    if isinstance(cause, NotYet):
        return cause
    if isinstance(cause, TypeError) and "ellipsis" in str(cause):
        return NotYet("Replace the three dots, in `length` and in `share`, and run the cell again.")
    return hint


def _array(given: Any, name: str) -> Any:
    if given is ...:
        raise NotYet("Replace the three dots: your function gives `...`.")
    if given is None:
        raise NotYet(
            f"{name} gives None. Does a `return` lack? Is x watched by both tapes, and is the inner gradient taken "
            "inside the outer tape's block?"
        )
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise NotYet(f"{name} gives {shortened(given)}; I need an array of numbers.") from None
    return array


def _near(array: Any, right: Any) -> bool:
    return bool(np.allclose(array, right, rtol=1e-9, atol=1e-10))


def _agree(array: Any, known: Any) -> bool:
    return array.shape == np.shape(known) and bool(np.allclose(array, known, rtol=1e-6, atol=1e-8))


EXERCISES: dict[str, Callable[[Any], str]] = {"15.1": hessian, "15.2": product, "15.3": conjugate}
"""The checks by exercise."""
