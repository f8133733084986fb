"""The exercises of chapter 12, higher orders: a third derivative, input-gradient regularisation, a gradient penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad
from autodiff_edu import nn

from ..feedback import NotYet, call, near, needs_function, number, observe, shortened
from ..predictions import Prediction

ORDERS = ("value", "first derivative", "second derivative", "third derivative", "fourth derivative")


def third_derivative(answer: Any) -> str:
    """Check 12.1: the third derivative of two hidden functions, by three nested tapes."""
    needs_function(answer, "third(f, x)")
    a = float(np.random.default_rng(911).uniform(1.2, 1.6))
    power = (a**5, 5 * a**4, 20 * a**3, 60 * a**2, 120 * a)
    wave = (np.sin(2 * a), 2 * np.cos(2 * a), -4 * np.sin(2 * a), -8 * np.cos(2 * a), 16 * np.sin(2 * a))
    _one_third(answer, lambda x: x**5, a, "x**5", power)
    _one_third(answer, lambda x: np.sin(2.0 * x), a, "np.sin(2 * x)", wave)
    return "Three tapes, three backward passes, and all but the last are recorded by the tapes around them."


def _one_third(answer: Any, f: Callable[[Any], Any], a: float, written: str, derivatives: tuple[float, ...]) -> None:
    try:
        given, events = observe(answer, f, ad.constant(a), written=f"third(f, x), with {written} for f,")
    except NotYet as error:
        if "target is None" in str(error.__cause__):
            raise NotYet(
                "A tape is asked for the gradient of None: the gradient before it is None. It was taken after the tape "
                "around it had stopped recording, or that tape does not watch x."
            ) from error
        raise
    if given is ...:
        raise NotYet("Replace the three dots, and put two more tapes around the first one.")
    if given is None:
        kinds = [type(event).__name__ for event in events]
        if "Seed" not in kinds:
            raise NotYet("third(f, x) returns None. Does it ask its tapes for a gradient, and return it?")
        if kinds.count("Watch") < 3:
            raise NotYet(
                "third(f, x) returns None. Three tapes follow x only if each of them watches it, and "
                f"{kinds.count('Watch')} of them did."
            )
        raise NotYet(
            "third(f, x) returns None: a gradient was taken after the tape around it had stopped recording. "
            "Each gradient goes inside the `with` of the next tape."
        )
    tapes = {id(getattr(event, "tape", None)) for event in events if type(event).__name__ == "Seed"}
    if len(tapes) == 1 and near(number(given, "the third derivative"), derivatives[3]):
        raise NotYet("The number is right, and one persistent tape found it. Here the task is three tapes, nested.")
    value = number(given, "the third derivative")
    for order, right in enumerate(derivatives):
        if near(value, right) and order != 3:
            raise NotYet(
                f"For {written} this is the {ORDERS[order]}. "
                + ("Each tape takes one derivative; three are asked for." if order < 3 else "One tape fewer.")
            )
    if not near(value, derivatives[3]):
        raise NotYet(
            f"The third derivative of {written} at {a:.3f} is {derivatives[3]:.6g}; your function returns {value:.6g}. "
            "The target of each tape is the gradient from the tape inside it."
        )


def regularised(answer: Any) -> str:
    """Check 12.2: the gradients of an error plus half the squared input gradient, against central differences."""
    needs_function(answer, "regularised(layer, x, wanted)")
    random = np.random.default_rng(923)
    x, wanted = random.standard_normal((4, 3)), random.standard_normal((4, 2))
    kernel, bias = random.standard_normal((3, 2)), random.standard_normal(2)
    layer = nn.Dense(2, activation=np.tanh)
    layer.kernel, layer.bias = ad.Variable(kernel, name="kernel"), ad.Variable(bias, name="bias")
    given = call(answer, layer, ad.constant(x), wanted, written="regularised(layer, x, wanted)")
    got = _two_gradients(given, kernel.shape, bias.shape)

    def parts(kernel: Any, bias: Any) -> dict[str, float]:
        t = np.tanh(x @ kernel + bias)
        by_x = 2 * (t - wanted) * (1 - t * t) @ kernel.T / t.size
        of_output = (1 - t * t) @ kernel.T
        squares = np.sum(by_x**2)
        return {
            "error": np.mean((t - wanted) ** 2),
            "squares": squares,
            "norm": np.sqrt(squares),
            "mean": np.mean(by_x**2),
            "sum": np.sum(by_x),
            "output": np.sum(of_output**2),
        }

    slopes = _central(parts, kernel, bias)

    def agrees(**weights: float) -> bool:
        expected = sum(weight * slopes[name] for name, weight in weights.items())
        return bool(np.allclose(got, expected, rtol=1e-5, atol=1e-7))

    if agrees(error=1.0, squares=0.5):
        return "Both terms count, as central differences confirm: the inner gradient was part of the outer tape."
    hints = (
        (
            agrees(error=1.0),
            "These are the gradients of the error alone; the term is a constant to your outer tape. Take the gradient "
            "with respect to x inside the outer `with`.",
        ),
        (agrees(squares=0.5) or agrees(squares=1.0), "These are the gradients of the term alone. Add the error."),
        (agrees(error=1.0, squares=1.0), "The term counts half: error + 0.5 * term."),
        (agrees(error=1.0, norm=0.5), "You took the norm. The term is the sum of the squares, without the root."),
        (agrees(error=1.0, mean=0.5), "You took the mean of the squares. The term is their sum."),
        (agrees(error=1.0, sum=0.5), "You took the sum of the gradient. Square its elements before you add them up."),
        (
            agrees(error=1.0, output=0.5),
            "Your term has the gradient of the layer's output with respect to x. "
            "It should be the gradient of the error.",
        ),
    )
    for applies, hint in hints:
        if applies:
            raise NotYet(hint)
    expected = slopes["error"] + 0.5 * slopes["squares"]
    raise NotYet(
        f"For a hidden layer central differences give {expected[0]:.6g} for the first number of the kernel; your "
        f"function gives {got[0]:.6g}. The loss is error + 0.5 * np.sum(by_x**2)."
    )


def _two_gradients(given: Any, kernel: tuple[int, ...], bias: tuple[int, ...]) -> Any:
    """Join the gradients by the kernel and by the bias to one vector."""
    if given is ...:
        raise NotYet("Replace the three dots by the two gradients, and put an outer tape around the inner one.")
    if given is None:
        raise NotYet("Your function gives None. Return the gradients by the kernel and by the bias.")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"I need two gradients, by the kernel and by the bias, and got {shortened(given)}.")
    if given[0] is ... or given[1] is ...:
        raise NotYet("Replace the three dots: one of the two gradients is still open.")
    if given[0] is None or given[1] is None:
        raise NotYet(
            "A gradient is None. The outer tape is to watch the variables, and to be recording while the loss is "
            "computed, from the layer to the sum."
        )
    shapes = np.shape(given[0]), np.shape(given[1])
    if shapes == (bias, kernel):
        raise NotYet("The two gradients have changed places: first that by the kernel, then that by the bias.")
    if shapes != (kernel, bias):
        raise NotYet(
            f"For a kernel {kernel} and a bias {bias} your gradients have the shapes {shapes[0]} and {shapes[1]}. A "
            "gradient has its source's shape, and the sources are the layer's variables."
        )
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in given])


def _central(parts: Callable[[Any, Any], dict[str, float]], kernel: Any, bias: Any) -> dict[str, Any]:
    """Differentiate each part by each number of the kernel and the bias."""
    point, step = np.concatenate([kernel.ravel(), bias]), 1e-5
    slopes: dict[str, Any] = {name: np.zeros(point.size) for name in parts(kernel, bias)}
    for k in range(point.size):
        for sign in (1.0, -1.0):
            moved = point.copy()
            moved[k] += sign * step
            for name, value in parts(moved[: kernel.size].reshape(kernel.shape), moved[kernel.size :]).items():
                slopes[name][k] += sign * value / (2 * step)
    return slopes


def penalty(answer: Any) -> str:
    """Check 12.3: the gradient penalty of a hidden critic, its value and its gradient."""
    needs_function(answer, "penalty(critic, x)")
    random = np.random.default_rng(937)
    x, weights = random.uniform(-1.0, 1.0, (5, 2)), np.array([1.1, -1.3])
    w = ad.Variable(weights, name="w")
    with ad.GradientTape() as tape:
        given = call(answer, lambda x: np.tanh(x @ w), ad.constant(x), written="penalty(critic, x)")
    if given is ...:
        raise NotYet("Replace the three dots: from by_x, take a norm for each row, and then the mean of (norm - 1)².")
    if np.size(given) > 1:
        raise NotYet(f"The penalty is one number, the mean over the samples; yours has the shape {np.shape(given)}.")
    value = number(given, "the penalty")
    right = _penalty(x, weights)
    if not near(value, right):
        raise NotYet(_why_penalty(value, right, x, weights))
    gradient = tape.gradient(given, w) if isinstance(given, ad.Tensor) else None
    if gradient is None:
        raise NotYet(
            "The value is right, and nothing connects it to the critic's variables, so that it could not be lowered. "
            "Keep it a tensor: no float, no .numpy() and no stop_gradient on the way."
        )
    h = 1e-6
    slopes = [(_penalty(x, weights + step) - _penalty(x, weights - step)) / (2 * h) for step in h * np.eye(2)]
    if not np.allclose(np.asarray(gradient), slopes, rtol=1e-5, atol=1e-7):
        raise NotYet(
            "The value is right, and its gradient is not: a part of the calculation is hidden from the tape around it. "
            "Is there a float, a .numpy() or a stop_gradient on the way?"
        )
    return "One norm for each row, and a gradient that an outer tape can use to train the critic."


def _norms(x: Any, weights: Any) -> Any:
    return np.linalg.norm(_by_x(x, weights), axis=1)


def _by_x(x: Any, weights: Any) -> Any:
    return (1 - np.tanh(x @ weights) ** 2)[:, None] * weights


def _penalty(x: Any, weights: Any) -> float:
    return float(np.mean((_norms(x, weights) - 1) ** 2))


def _why_penalty(value: float, right: float, x: Any, weights: Any) -> str:
    by_x, norms = _by_x(x, weights), _norms(x, weights)
    down = np.linalg.norm(by_x, axis=0)
    for wrong, hint in (
        (
            (np.linalg.norm(by_x) - 1) ** 2,
            "You took one norm for all samples together. It grows with their number; take one for each row: axis=1.",
        ),
        (
            np.mean((down - 1) ** 2),
            "With axis=0 there is a norm for each column, over the samples. A sample is a row: axis=1.",
        ),
        (np.mean(norms**2), "This draws the norms to 0. They are to be drawn to 1: subtract it before the square."),
        (
            np.mean(norms - 1),
            "Without the square, norms below 1 and above 1 cancel out: square the difference before the mean.",
        ),
        (np.mean(np.abs(norms - 1)), "You took the size of norm - 1. Its square is asked for."),
        (np.sum((norms - 1) ** 2), "You took the sum over the samples. The mean is asked for."),
        (np.mean(norms) - 1, "First the difference, then the square, then the mean."),
        (
            (np.mean(norms) - 1) ** 2,
            "You took the mean before the square, so norms below and above 1 cancel out. Square each sample's "
            "difference, and then take the mean.",
        ),
        (
            np.mean((norms**2 - 1) ** 2),
            "You took the sum of the squares of each row without the root. A norm has a root: np.linalg.norm.",
        ),
        (np.mean((by_x - 1) ** 2), "You compared each element with 1. It is each row's norm that is to be 1."),
    ):
        if near(value, float(wrong)):
            return hint
    return (
        f"For a hidden critic and five samples the penalty is {right:.6g}; yours is {value:.6g}. In this order: the "
        "norm of each row, minus 1, squared, and the mean."
    )


EXERCISES: dict[str, Callable[[Any], str]] = {"12.1": third_derivative, "12.2": regularised, "12.3": penalty}
"""The checks by exercise."""

PREDICTIONS: dict[str, Prediction] = {
    "12.a": Prediction(
        "What is the second derivative of x³ at x = 1?",
        answer=6,
        hints={3: "That's the first derivative, 3x².", 1: "That's the value.", 2: "The slope of 3x² is 6x."},
        why="3x² has the slope 6x.",
    ),
    "12.b": Prediction(
        "dz/dx of x·y² is 4 at (3, 2). What is its slope with respect to y?",
        answer=4,
        hints={
            12: "That's dz/dy. Here the slope of dz/dx is asked for.",
            0: "dz/dx is y². Does that change with y?",
            2: "The slope of y² is 2y.",
        },
        why="dz/dx is y², whose slope is 2y.",
    ),
    "12.c": Prediction(
        "What will `derivative` return for the third derivative of x² at 3?",
        answer=None,
        hints={
            0: "On paper it is 0. But is there any x left in the second derivative, 2?",
            2: "That's the second derivative.",
            6: "That's the first derivative.",
        },
        why="Nothing connects the constant 2 with x, so there is no path.",
    ),
    "12.d": Prediction(
        "The outermost tape has 1 entry for order 1 and 4 for order 2. How does it go on?",
        answer="1, 4, 10, 23: each more than twice the last",
        choices=(
            "1, 4, 7, 10: three more each time",
            "1, 4, 10, 23: each more than twice the last",
            "1, 4, 16, 64: each four times the last",
        ),
        hints={
            "1, 4, 7, 10: three more each time": "Each backward pass goes through everything recorded before it.",
            "1, 4, 16, 64: each four times the last": "It grows by a factor, but most entries need about one more.",
        },
        why="A backward pass is about as long as what it goes through, so the tape more than doubles.",
    ),
    "12.e": Prediction(
        "What shape will the gradient of the norm with respect to the kernel have?",
        answer=(5, 10),
        hints={
            (7, 5): "That's the gradient with respect to x, which the norm contains.",
            (7, 10): "That's the output.",
            (10,): "That's the bias.",
        },
        why="A gradient has the shape of its source, whatever the target contains.",
    ),
    "12.f": Prediction(
        "What is the penalty, the mean of (norm - 1)² with one norm for each row?",
        answer=0,
        hints={
            1: "1 is the norm of each row. How far is it from 1?",
            0.535898: "That takes one norm of the whole array.",
        },
        why="Each row has norm 1, the one it should have.",
    ),
    "12.g": Prediction(
        "The first gradient is taken after the outer block. What will the second derivative be?",
        answer=None,
        hints={
            18: "That's the true one. But was the outer tape recording when the backward pass ran?",
            27: "That's the first derivative.",
            0: "0 would mean a path along which nothing changes. Does the outer tape have a path?",
        },
        why="The outer tape had stopped recording when the backward pass ran.",
    ),
}
"""The predictions by their ids."""
