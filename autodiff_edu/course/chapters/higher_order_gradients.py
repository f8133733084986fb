"""The exercises of chapter 12, higher orders: a third derivative, input-gradient regularisation, a gradient penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad
from autodiff_edu import nn

from ...core.events import Event, Outcome, Seed, Watch
from ...trace.hook import hook
from ..exercises import Exercise, Judge
from ..feedback import NotYet, by_hand, call, near, needs_function, number, shortened
from ..predictions import Prediction
from .wrong_12 import penalty_at, why_penalty, why_place, why_regularised

WITHIN = 1e-4  # three derivatives of float32 numbers are not closer
ORDERS = ("value", "first derivative", "second derivative", "third derivative", "fourth derivative")


def third_derivative(answer: Any) -> str:
    """Check 12.1: the third derivative of two hidden functions, by three nested tapes."""
    needs_function(answer, "third(f, x)")
    a = float(np.random.default_rng(911).uniform(1.2, 1.6))
    power = (a**5, 5 * a**4, 20 * a**3, 60 * a**2, 120 * a)
    wave = (np.sin(2 * a), 2 * np.cos(2 * a), -4 * np.sin(2 * a), -8 * np.cos(2 * a), 16 * np.sin(2 * a))
    _one_third(answer, lambda x: x**5, a, "x**5", power)
    events = _one_third(answer, lambda x: np.sin(2.0 * x), a, "np.sin(2 * x)", wave)
    _needs_three_tapes(events)
    return "Three tapes, three backward passes, and all but the last are recorded by the tapes around them."


def _needs_three_tapes(events: list[Event]) -> None:
    """Refuse what finds the third derivative in another way than the exercise asks for."""
    many = _asked(events)
    if not many:
        raise NotYet("The number is right, but no tape was asked for a gradient. Let three tapes find it.")
    if many == 1:
        raise NotYet(
            "The number is right, but a single tape answered again and again, and recorded its own backward passes. "
            "Use three tapes, one inside another."
        )
    if many != 3:
        raise NotYet(f"The number is right, but {many} tapes were asked. Use three, and ask each of them once.")


def _asked(events: list[Event]) -> int:
    """Count the tapes that were asked for a gradient."""
    return len({id(event.tape) for event in events if isinstance(event, Seed)})


def _one_third(
    answer: Any, f: Callable[[Any], Any], a: float, written: str, derivatives: tuple[float, ...]
) -> list[Event]:
    events: list[Event] = []
    before: list[tuple[int, Any]] = []

    def observed(x: Any) -> Any:
        before.append((len(events), x))
        return f(x)

    ready_made = {ad.value_and_grad(f).__code__: "ad.grad", ad.hessian(f).__code__: "ad.hessian"}
    ready_made[ad.jacobian(f).__code__] = "ad.jacobian"
    hidden = by_hand(observed, ready_made, "three tapes, one inside another.")
    try:
        with hook(events.append):
            given = call(answer, hidden, ad.constant(a), written=f"third(f, x), with {written} for f,")
    except NotYet as error:
        cause = error.__cause__
        if "target is None" in str(cause):
            raise NotYet("A tape is asked for the gradient of None. " + _why_none(events, before)) from error
        if "No tape follows plain numbers" in str(cause):
            raise NotYet(
                "Between two tapes a gradient has become a plain number, which no tape follows. Hand it on as it is, "
                "without float or .numpy()."
            ) from error
        if "already been used" in str(cause):
            raise NotYet(
                "A tape is asked a second time. Use three tapes, each with a name of its own, and ask each once."
            ) from error
        raise
    if given is ...:
        raise NotYet("Replace the three dots, and put two more tapes around the first one.")
    if given is None:
        outcomes = [event for event in events if isinstance(event, Outcome)]
        if not outcomes or outcomes[-1].result is not None:
            raise NotYet("third(f, x) returns None. Does it ask its tapes for a gradient, and return the last one?")
        raise NotYet("third(f, x) returns None. " + _why_none(events, before))
    value = number(given, "the third derivative")
    for order, right in enumerate(derivatives):
        if near(value, right, WITHIN) and order != 3:
            raise NotYet(
                f"For {written} this is the {ORDERS[order]}. "
                + (
                    "Use one tape fewer."
                    if order > 3
                    else "Each tape takes one derivative, and you need three."
                    if _asked(events) < 3
                    else "You ask three tapes, but not each for the gradient that the tape inside it returned."
                )
            )
    if not near(value, derivatives[3], WITHIN):
        raise NotYet(
            f"The third derivative of {written} at {a:.3f} is {derivatives[3]:.6g}; your function returns {value:.6g}. "
            "The target of each tape is the gradient that the tape inside it returned."
        )
    return events


def _why_none(events: list[Event], before: list[tuple[int, Any]]) -> str:
    """Explain a gradient that is None; `before` holds, for each call of the function, the events so far and its x."""
    start, x = before[0] if before else (len(events), None)
    if any(isinstance(event, Watch) and event.tensor is x for event in events[start:]):
        return "One of them begins to watch x after f(x) has been computed. Each tape has to watch it before that."
    watching = len({id(event.tape) for event in events[:start] if isinstance(event, Watch)})
    if watching < 3:
        return f"Three tapes follow x only if each of them watches it, and {watching} of them did."
    return (
        "A gradient was taken after the tape around it had stopped recording. Each gradient goes inside the `with` of "
        "the next tape."
    )


def regularised(answer: Any) -> str:
    """Check 12.2: the gradients of an error plus half the squared input gradient, against central differences."""
    needs_function(answer, "regularised(layer, x, wanted)")
    random = np.random.default_rng(923)
    x, wanted = random.standard_normal((4, 3)), random.standard_normal((4, 2))
    kernel, bias = random.standard_normal((3, 2)), random.standard_normal(2)
    layer = nn.Dense(2, activation=np.tanh)
    layer.kernel, layer.bias = ad.Variable(kernel, name="kernel"), ad.Variable(bias, name="bias")
    try:
        given = call(answer, layer, ad.constant(x), wanted, written="regularised(layer, x, wanted)")
    except NotYet as error:
        if "NoneType" in str(error.__cause__):
            raise NotYet("You compute with a gradient that is None. Does the inner tape watch x?") from error
        raise
    got = _two_gradients(given, kernel.shape, bias.shape)

    def parts(kernel: Any, bias: Any) -> dict[str, float]:
        t = np.tanh(x @ kernel + bias)
        by_x = 2 * (t - wanted) * (1 - t * t) @ kernel.T / t.size
        of_output = (1 - t * t) @ kernel.T
        squares = np.sum(by_x**2)
        by_sum = 2 * (t - wanted) * (1 - t * t) / t.size
        return {
            "error": np.mean((t - wanted) ** 2),
            "squares": squares,
            "norm": np.sqrt(squares),
            "mean": np.mean(by_x**2),
            "sum": np.sum(by_x),
            "square of sum": np.sum(by_x) ** 2,
            "rows": np.mean(np.sum(by_x**2, axis=1)),
            "sizes": np.sum(np.abs(by_x)),
            "output": np.sum(of_output**2),
            "norms": np.sum(np.linalg.norm(by_x, axis=1)),
            "kernel": np.sum((x.T @ by_sum) ** 2),
            "decay": np.sum(kernel**2),
        }

    slopes = _central(parts, kernel, bias)

    def agrees(**weights: float) -> bool:
        expected = sum(weight * slopes[name] for name, weight in weights.items())
        return bool(np.allclose(got, expected, rtol=1e-4, atol=1e-5))

    if agrees(error=1.0, squares=0.5):
        return "Both terms count, as central differences confirm: the outer tape has recorded the inner gradient."
    if hint := why_regularised(agrees, wanted.shape, x.size):
        raise NotYet(hint)
    expected = slopes["error"] + 0.5 * slopes["squares"]
    raise NotYet(
        f"For a hidden layer central differences give {expected[0]:.6g} for the first number of the kernel; your "
        f"function returns {got[0]:.6g}. The loss is error + 0.5 * np.sum(to_x**2)."
    )


def _two_gradients(given: Any, kernel: tuple[int, ...], bias: tuple[int, ...]) -> Any:
    """Join the gradients with respect to the kernel and the bias into one vector."""
    if given is ...:
        raise NotYet("Replace the three dots with the two gradients, and put an outer tape around the inner one.")
    if given is None:
        raise NotYet("Your function returns None. Return the gradients with respect to the kernel and the bias.")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"I need two gradients, with respect to the kernel and the bias, and got {shortened(given)}.")
    if given[0] is ... or given[1] is ...:
        raise NotYet("Replace the three dots: one of the two gradients is still open.")
    if given[0] is None or given[1] is None:
        raise NotYet(
            "A gradient is None. An outer tape must watch the layer's variables, and it must be recording while the "
            "loss is computed, from the layer to the sum. The variables are its sources."
        )
    shapes = np.shape(given[0]), np.shape(given[1])
    if shapes == (bias, kernel):
        raise NotYet("The two gradients have changed places: the kernel comes first, then the bias.")
    if shapes != (kernel, bias):
        raise NotYet(
            f"For a kernel {kernel} and a bias {bias} your gradients have the shapes {shapes[0]} and {shapes[1]}. A "
            "gradient has its source's shape, and the sources are the layer's variables."
        )
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in given])


def _central(parts: Callable[[Any, Any], dict[str, float]], kernel: Any, bias: Any) -> dict[str, Any]:
    """Differentiate each part with respect to each number of the kernel and the bias."""
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
    """Check 12.3: the gradient penalty of a hidden critic between two sets of samples, its value and its gradient."""
    needs_function(answer, "penalty(critic, real, fake, share)")
    random = np.random.default_rng(937)
    real, fake, share = random.uniform(0.0, 1.5, (5, 2)), random.uniform(-1.0, 0.2, (5, 2)), random.uniform(size=(5, 1))
    weights = np.array([1.1, -1.3])
    w = ad.Variable(weights, name="w")
    arguments = lambda x: np.tanh(x @ w), ad.constant(real), ad.constant(fake), share.copy()
    with ad.GradientTape() as tape:
        try:
            given = call(answer, *arguments, written="penalty(critic, real, fake, share)")
        except NotYet as error:
            said = str(error.__cause__).lower()
            if "ellipsis" in said:
                raise NotYet("Replace the three dots: `between` mixes real and fake, by the share.") from error
            if "none" in said:
                raise NotYet(
                    "You compute with a gradient that is None. Compute `between` first, then watch it, and rate it. A "
                    "gradient with respect to what you mix afterwards doesn't exist."
                ) from error
            raise
    if given is ...:
        raise NotYet("Replace the three dots: take a norm for each row of to_x, and then the mean of (norm - 1)².")
    if np.size(given) > 1:
        raise NotYet(f"The penalty is one number, the mean over the samples; yours has the shape {np.shape(given)}.")
    value = number(given, "the penalty")
    between = share * real + (1 - share) * fake
    right = penalty_at(between, weights)
    if not near(value, right, WITHIN):
        raise NotYet(why_place(value, real, fake, share, weights) or why_penalty(value, right, between, weights))
    gradient = tape.gradient(given, w) if isinstance(given, ad.Tensor) else None
    if gradient is None:
        raise NotYet(
            "The value is right, but nothing connects it to the critic's variables, so training couldn't lower it. "
            "Keep it a tensor: no float, no .numpy() and no stop_gradient on the way."
        )
    h = 1e-6
    slopes = [(penalty_at(between, weights + d) - penalty_at(between, weights - d)) / (2 * h) for d in h * np.eye(2)]
    if not np.allclose(np.asarray(gradient), slopes, rtol=1e-4, atol=1e-6):
        raise NotYet(
            "The value is right, but its gradient isn't: part of the calculation is hidden from the tape around it. "
            "Is there a float, a .numpy() or a stop_gradient on the way?"
        )
    return "One norm for each row, on the way from fake to real, and a gradient that trains the critic."


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "If every pixel moves by 0.3, up or down by the toss of a coin, in how many of 100 will the network be right?",
        answer=100,
        hints={
            50: "That would be so if the network were guessing. What do 144 random pushes on a score add up to?",
            30: "Coin tosses don't know what the network looks at. Do their effects add up, or cancel?",
        },
        why="Random pushes mostly cancel; the network doesn't even notice.",
    ),
    Prediction(
        "The first derivative of x³ at x = 1 is 3. What will the outer tape return for the second?",
        answer=6,
        hints={
            3: "That's the first: 3x². Differentiate once more.",
            1: "1 is the value of x³.",
            2: "Differentiate 3x², not x².",
            None: "The outer tape is still recording when the inner one is asked.",
        },
        why="3x² has the slope 6x.",
    ),
    Prediction(
        "z = x·y² at (3, 2). What is the slope of dz/dx with respect to y?",
        answer=4,
        hints={
            0: "dz/dx is y². That does change with y.",
            2: "dz/dx is y². Its slope is 2y, and y is 2.",
            12: "That's dz/dy. First differentiate with respect to x, then with respect to y.",
            None: "dz/dx is y², which is computed from y.",
        },
        why="dz/dx = y², whose slope is 2y = 4.",
    ),
    Prediction(
        "What will `derivative` return for the third derivative of x * x?",
        answer=None,
        hints={
            0: "On paper, yes. But is there a path from the second derivative, the constant 2, back to x?",
            2: "That's the second derivative.",
        },
        why="The constant 2 is not computed from x, so no path leads back.",
    ),
    Prediction(
        "How will the tape for tanh go on growing after 1, 4 and 10 entries?",
        answer="by a factor of more than 2 for each order",
        choices=(
            "by 6 or 7 entries for each order",
            "by a factor of more than 2 for each order",
            "by a factor that sinks towards 1",
        ),
        hints={
            "by 6 or 7 entries for each order": "Each tape records the whole backward pass of the tape inside it.",
            "by a factor that sinks towards 1": "Every entry inside becomes one or more entries of its backward pass.",
        },
        why="Each tape holds all that happened inside it, and the backward pass of that.",
    ),
    Prediction(
        "`to_x` has the shape of the input. What shape is the gradient of its norm with respect to the kernel?",
        answer=(5, 10),
        hints={
            (7, 5): "That's the shape of the input, and of `to_x`. What is the source now?",
            (10, 5): "The kernel is multiplied from the right: 5 inputs, 10 outputs.",
            (7, 10): "That's the shape of the layer's output.",
            (10,): "That's the bias.",
        },
        why="The kernel takes 5 numbers to 10, and a gradient has its source's shape.",
    ),
    Prediction(
        "What will the first derivative and the second be?",
        answer="27 and None",
        choices=("27 and 18", "27 and None", "None and None", "27 and 0"),
        hints={
            "27 and 18": "What did the outer tape see of the backward pass?",
            "None and None": "The inner tape has recorded both multiplications, and it can be asked at any time.",
            "27 and 0": "Zero would be an answer. What did the outer tape see of the backward pass?",
        },
        why="The inner tape knows all it needs; the outer one was closed when `slope` was computed.",
    ),
    Prediction(
        "How will the network trained with weight 0.3 do, compared with the first one?",
        answer="better under the nudge, as good on untouched ones",
        choices=(
            "better under the nudge, as good on untouched ones",
            "better under the nudge, much worse on untouched ones",
            "no better under the nudge",
        ),
        hints={
            "better under the nudge, much worse on untouched ones": "Rings and crosses differ in dozens of pixels. "
            "Must a score be steep to tell them apart?",
            "no better under the nudge": "A nudge of 0.3 moves the score by 0.3 times its slopes. Which are smaller?",
        },
        why="Its score is flatter, and these pictures are easy enough to allow that.",
    ),
    Judge(
        "A third derivative",
        """\
Write a function that returns the third derivative of `f` at `x`, a constant. Use three tapes, one inside another: no `ad.grad`, `ad.jacobian` or `ad.hessian`, and no tape that answers twice.""",
        third_derivative,
    ),
    Judge(
        "Input-gradient regularisation of a dense layer",
        """\
The loss is `error + 0.5 * term`. The error is the mean of the squares of `layer(x) - wanted`. The term is the sum of the squares of the gradient **of the error** with respect to the input `x`.

Return the gradients of the loss with respect to the layer's kernel and its bias, in this order. `x` is a constant, `wanted` an array.""",
        regularised,
    ),
    Judge(
        "A penalty per sample, between real and generated",
        """\
Write the gradient penalty: the mean, over the samples, of (norm − 1)², where each norm is that of the critic's gradient at `share * real + (1 - share) * fake`. `critic(x)` returns one number per sample. `real` and `fake` are constants with a row per sample, and `share` is a column, with a number for each of them.
The check differentiates what you return with respect to the critic's weights, so keep it a tensor.""",
        penalty,
    ),
)
