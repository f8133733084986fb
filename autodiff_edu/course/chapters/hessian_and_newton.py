"""Hessian and Newton: a step that is tried before it is taken, a Hessian by two tapes, and conjugate gradients."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record, Seed
from ...trace.hook import hook
from ..exercises import Case, Function, short
from ..feedback import NotYet, forbid, near
from ..predictions import Prediction

PREDICTIONS = (
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
)

Step = Callable[..., Any]


def square(x: Any) -> Any:
    """Return a parabola."""
    return np.sum(x**2)


def wells(x: Any) -> Any:
    """Return a curve with two lowest points."""
    return np.sum(x**4 - 2 * x**2) + 9


def bowl(x: Any) -> Any:
    """Return a function of two numbers."""
    return x[0] ** 2 + 9 * x[1] ** 2


STARTS: dict[str, tuple[Callable[[Any], Any], list[float], list[float]]] = {
    "x⁴ from 1, with a step of -8": (lambda x: np.sum(x**4), [1.0], [-8.0]),
    "x² from 1, with a step of -3.7": (square, [1.0], [-3.7]),
    "x² from 1, with a step of -3.5": (square, [1.0], [-3.5]),
    "x² from 1, with a step of -2.02": (square, [1.0], [-2.02]),
    "x² from 1, with a step of -3.9": (square, [1.0], [-3.9]),
    "x⁴ - 2x² + 9 from 0.3, with a step of 1.4": (wells, [0.3], [1.4]),
    "x⁴ - 2x² + 9 from -1.1, with a step of 2.25": (wells, [-1.1], [2.25]),
    "x² from 3, with a step of -3": (square, [3.0], [-3.0]),
    "a bowl in two inputs": (bowl, [2.0, 1.0], [-4.0, -18.0]),
    "the same bowl, straight across": (bowl, [2.0, 1.0], [-4.0, 0.0]),
    "the same bowl, a little too far across": (bowl, [2.0, 1.0], [-4.5, 0.0]),
}
"""Functions, the places where a step begins, and the steps."""


def try_step(backtrack: Step, f: Callable[[Any], Any], x: list[float], step: list[float]) -> tuple[Any, int]:
    """Return the t that is chosen, nan if the loop never ends, and how often f was asked for."""
    asked = 0

    def height(x: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > 500:
            raise RuntimeError("endless")
        return f(np.asarray(x, dtype=float))

    try:
        t = backtrack(height, np.array(x), ad.grad(f)(np.array(x)).numpy(), np.array(step))
    except NotYet:
        if asked <= 500:
            raise
        return np.nan, asked
    return t, asked


def loops_in_vain(backtrack: Step) -> bool:
    """Return whether f is asked for more than twice, and t is 1 all the same."""
    tried = [try_step(backtrack, *start) for start in STARTS.values()]
    return all(np.size(t) == 1 and t == 1 for t, _ in tried) and max(asked for _, asked in tried) > 2


def try_steps(backtrack: Step) -> list[Any]:
    """Return the t of each start."""
    return [try_step(backtrack, *start)[0] for start in STARTS.values()]


def is_number(t: Any) -> bool:
    """Return whether a t counts as one number, as an array of one number does."""
    return np.size(t) == 1 and not isinstance(t, list | dict)


def describe_difference(given: list[Any], right: list[float]) -> str:
    """Return a hint for the first start whose t is wrong."""
    pairs = zip(STARTS, given, right, strict=True)
    start, t, wanted = next(each for each in pairs if not (is_number(each[1]) and near(np.ravel(each[1]), [each[2]])))
    if is_number(t) and np.isnan(t):
        return (
            f"For {start}, your loop never ends, and the rule gives {wanted:g}. Is t halved in each turn, and does the "
            "loop go on while the height is more than `f(x) + 0.1 * t * (gradient @ step)`?"
        )
    return f"For {start}, your t is {short(t)} and the rule gives {wanted:g}."


def go_on_above(
    bound: Callable[..., Any], tried: Any = None, shorter: Any = lambda t: t / 2, first: float = 1.0
) -> Step:
    """Return a backtracking that goes on while f is above f(x) + bound(gradient, step, t)."""

    def backtrack(f: Any, x: Any, gradient: Any, step: Any) -> Any:
        t = first
        while f(tried(x, gradient, step, t) if tried else x + t * step) > f(x) + bound(gradient, step, t):
            t = shorter(t)
        return t

    return backtrack


def promise(gradient: Any, step: Any, t: Any) -> Any:
    """Return a tenth of what the slope promises."""
    return 0.1 * t * (gradient @ step)


armijo = go_on_above(promise)


def move(f: Any, x: Any, gradient: Any, step: Any) -> Any:
    """Move x in the loop."""
    t = 1.0
    while f(x + t * step) > f(x) + promise(gradient, step, t):
        t = t / 2
        x = x + t * step
    return t


def go_on_while_good(f: Any, x: Any, gradient: Any, step: Any) -> Any:
    """Turn the condition of the loop round."""
    t = 1.0
    while f(x + t * step) <= f(x) + promise(gradient, step, t):
        t = t / 2
    return t


def halve_step_alone(f: Any, x: Any, gradient: Any, step: Any) -> Any:
    """Halve the step, and forget t."""
    while f(x + step) > f(x) + 0.1 * (gradient @ step):
        step = step / 2
    return 1.0


BACKTRACKING = Function(
    "Backtracking",
    """\
Write `backtrack(f, x, gradient, step)`. `x`, `gradient` and `step` are arrays. It returns the number `t`, the first of 1, 1/2, 1/4, … for which `f(x + t * step)` is at most `f(x)` plus a tenth of what the slope promises, `0.1 * t * (gradient @ step)`.""",
    signature="backtrack(f, x, gradient, step)",
    cases=[
        Case(loops_in_vain),
        Case(try_steps, describe_difference),
    ],
    answer=armijo,
    spellings=[lambda *args: np.float32(armijo(*args)), lambda *args: ad.constant([armijo(*args)])],
    hints=[
        (
            lambda *args: 1.0,
            "Your t is always 1: the step is taken untried. Replace the three dots with a loop that halves t.",
        ),
        (
            halve_step_alone,
            "Your loop ends, but t is still 1. Halve t in each turn, and try `x + t * step`.",
        ),
        (
            go_on_above(lambda gradient, step, t: 0.0),
            "Your step is taken as soon as the height doesn't rise. It should keep a tenth of what the slope promises.",
        ),
        (
            go_on_above(lambda gradient, step, t: -1e-12),
            "Your step is taken as soon as the height is lower. It should keep a tenth of what the slope promises.",
        ),
        (
            go_on_above(lambda *which: -promise(*which)),
            "gradient @ step is below zero for a step downhill. Add a tenth of it, don't subtract.",
        ),
        (
            go_on_above(lambda gradient, step, t: 0.1 * t * np.linalg.norm(gradient) * np.linalg.norm(step)),
            "You multiply two lengths, which lose the sign and the angle. The slope along `step` is gradient @ step.",
        ),
        (
            go_on_above(lambda gradient, step, t: promise(gradient, step, 1.0)),
            "You ask for a tenth of what the whole step promises, however short the part of it. The part promises t "
            "times as much: 0.1 * t * (gradient @ step).",
        ),
        (
            go_on_above(lambda gradient, step, t: promise(gradient, step, t**2)),
            "You shorten the promise twice: by t, and by the step, which is halved as well. Leave `step` as it is.",
        ),
        (
            go_on_above(
                lambda gradient, step, t: promise(gradient, step, t**2), lambda x, gradient, step, t: x + t**2 * step
            ),
            "You shorten twice: by t, and by the step, which is halved as well. Leave `step` as it is.",
        ),
        (
            go_on_above(lambda *which: 10 * promise(*which)),
            "You ask for all that the slope promises. A tenth of it is enough.",
        ),
        (
            go_on_above(lambda *which: 5 * promise(*which)),
            "You ask for half of what the slope promises. A tenth of it is enough.",
        ),
        (
            go_on_above(lambda gradient, step, t: -0.1 * t * (gradient @ gradient)),
            "You ask for what a step along the gradient would promise. Along `step` it is gradient @ step.",
        ),
        (
            go_on_above(
                lambda gradient, step, t: -0.1 * t * (gradient @ gradient),
                lambda x, gradient, step, t: x - t * gradient,
            ),
            "You try a step along the gradient. Try `x + t * step`, the step that was handed in.",
        ),
        (
            go_on_above(promise, lambda x, gradient, step, t: x - t * step),
            "You try x - t * step. The step points downhill by itself: add it.",
        ),
        (
            go_on_above(lambda gradient, step, t: -0.1 * t * (step @ step)),
            "You ask for what step @ step would promise. The slope along the step is gradient @ step.",
        ),
        (
            go_on_above(lambda gradient, step, t: 0.1 * t),
            "Your bound lies above f(x). The slope along `step` is below zero: add 0.1 * t * (gradient @ step).",
        ),
        (
            go_on_above(lambda gradient, step, t: -0.1),
            "You ask for a drop of 0.1. Ask for a tenth of the promise: 0.1 * t * (gradient @ step).",
        ),
        (move, "You move x in the loop. Leave x where it is, and try each part of the step from there."),
        (
            go_on_above(promise, lambda x, gradient, step, t: x + step),
            "You try the whole step again and again. Try `x + t * step`, the part of it that is left.",
        ),
        (go_on_above(promise, shorter=lambda t: t // 2), "`//` rounds down: half of 1 becomes 0. Write `t = t / 2`."),
        (
            go_on_above(promise, shorter=lambda t: t - 0.5),
            "You subtract 0.5, so after 1 and 0.5 there comes 0. Halve t: `t = t / 2`.",
        ),
        (
            go_on_while_good,
            "Your loop goes on while the step is good enough, and ends when it isn't. Turn its condition round.",
        ),
        (
            go_on_above(lambda gradient, step, t: 0.1 * t * (gradient * step)),
            "The promise is one number: `gradient @ step`, the sum of the products.",
        ),
        (lambda *args: armijo(*args) / 2, "Your t is the half of the first that is good enough. Return that one."),
        (lambda *args: -np.log2(armijo(*args)), "That is how many times the step was halved. Return t itself."),
        (
            lambda *args: 1.0 if armijo(*args) == 1.0 else 0.5,
            "Your step is halved once at most. Go on while it isn't good enough: `while`, not `if`.",
        ),
        (go_on_above(promise, shorter=lambda t: t / 10), "You try a tenth of the step next. Try the half."),
        (go_on_above(promise, shorter=lambda t: t / 4), "You try a quarter of the step next. Try the half."),
        (go_on_above(promise, first=0.5), "Your first try is half of the step. Try the whole of it first, with t = 1."),
        *(
            (wrong, "Return the number t alone, not the step: `x + t * step` is computed outside.")
            for wrong in (
                lambda f, x, gradient, step: step * armijo(f, x, gradient, step),
                lambda f, x, gradient, step: x + step * armijo(f, x, gradient, step),
            )
        ),
    ],
    why="A step is tried before it is taken, and halved until the height keeps a tenth of its promise.",
    minutes=12,
)

CUBES = np.array([2.0, -3.0, 5.0])
POINT = np.array([0.75, -1.25, 0.5])  # exact in float32, too
CORNERS = np.array([[1.0, 2.0], [3.0, 5.0]])
READY_MADE = {ad.hessian(np.sum).__code__: "ad.hessian", inspect.unwrap(ad.hvp).__code__: "ad.hvp"}
"""What the exercise leaves to the learner."""


def surface(x: Any) -> Any:
    """Return a function of three numbers."""
    return np.sum(CUBES * x**3) / 6.0 + x[0] * x[1] * x[2]


def determinant(x: Any) -> Any:
    """Return a function of a 2×2 array, whose Hessian has four axes."""
    return x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]


def ask_for_hessian(hessian: Callable[..., Any], f: Callable[[Any], Any], at: Any) -> Any:
    """Return what is said of f, which refuses to be called from ready-made functions, or at other points."""
    events: list[Event] = []

    def here(x: Any) -> Any:
        if not np.array_equal(x.numpy() if isinstance(x, ad.Tensor) else x, at):
            raise NotYet(
                "You call f at another point than x, as a difference does. Tapes are exact up to rounding; a finite "
                "difference is not."
            )
        return f(x)

    try:
        with hook(events.append):
            return hessian(forbid(here, READY_MADE, "one tape for the gradient, and one around it."), at.copy())
    except NotYet as hint:
        raise NotYet(explain_none(events) if "returns None" in str(hint) else str(hint)) from hint.__cause__


def explain_none(events: list[Event]) -> str:
    """Return the hint for a Hessian that is None."""
    seed = next((place for place, event in enumerate(events) if isinstance(event, Seed)), len(events))
    tapes = [{id(event.tape) for event in part if isinstance(event, Record)} for part in (events[:seed], events[seed:])]
    if tapes[1]:
        return "Your function returns None, although a tape recorded the gradient. Is a `return` missing?"
    if len(tapes[0]) > 1:
        return "The Hessian is None: the outer tape hasn't seen the gradient. Take it inside the outer tape's block."
    return "The Hessian is None. Is x watched by both tapes? Is a `return` missing?"


def use_tapes(ask: Callable[..., Any], inside: bool = True, watched: str = "both") -> Callable[..., Any]:
    """Return a Hessian by two tapes, whose outer one ends with `ask(tape, gradient, x)`."""

    def hessian(f: Any, x: Any) -> Any:
        x = ad.constant(x)
        with ad.GradientTape(persistent=True) as outer:
            if watched != "inner":
                outer.watch(x)
            with ad.GradientTape(persistent=True) as inner:
                if watched != "outer":
                    inner.watch(x)
                y = f(x)
            gradient = inner.gradient(y, x) if inside else None
        return ask(outer, gradient if inside else inner.gradient(y, x), x)

    return hessian


two_tapes = use_tapes(lambda tape, gradient, x: tape.jacobian(gradient, x))


def turn(f: Any, x: Any) -> Any:
    """Return a Hessian that has two axes of four exchanged."""
    hessian = two_tapes(f, x).numpy()
    return hessian if x.ndim == 1 else hessian.swapaxes(2, 3)


HESSIAN = Function(
    "The Hessian as the Jacobian of the gradient",
    """\
Write `hessian(f, x)`. It gets a function of one array, and an array of any shape, and returns the second derivatives, of shape `x.shape + x.shape`. Use tapes; `ad.hessian` and `ad.hvp` aren't allowed here.""",
    signature="hessian(f, x)",
    cases=[
        Case(lambda hessian: ask_for_hessian(hessian, surface, POINT)),
        Case(lambda hessian: ask_for_hessian(hessian, determinant, CORNERS)),
    ],
    answer=two_tapes,
    spellings=[lambda f, x: ad.jacobian(ad.grad(f))(x), lambda f, x: np.float32(two_tapes(f, x))],
    hints=[
        (
            use_tapes(lambda tape, gradient, x: gradient),
            "That is the gradient, three numbers. Ask the outer tape for the Jacobian of it.",
        ),
        (
            use_tapes(lambda tape, gradient, x: tape.gradient(gradient, x)),
            "Three numbers where nine belong: `outer.gradient` of a vector is the gradient of its sum, which adds up "
            "the rows. Ask for `outer.jacobian`.",
        ),
        (
            lambda f, x: np.diag(two_tapes(f, x).numpy()),
            "That is the diagonal alone. Each slope may change with every input: nine numbers.",
        ),
        (
            lambda f, x: np.diag(np.diag(two_tapes(f, x).numpy())),
            "Your matrix has the right diagonal, and zeros beside it. Each slope may change with every input.",
        ),
        (
            use_tapes(lambda tape, gradient, x: np.outer(gradient.numpy(), gradient.numpy())),
            "That is the gradient times itself: products of first derivatives. No second derivative is in it.",
        ),
        (lambda f, x: -two_tapes(f, x), "Every number has the right size and the wrong sign."),
        (
            lambda f, x: two_tapes(f, x).numpy().reshape(x.size, x.size),
            "For vectors it is right. For x of shape (2, 2) your result has shape (4, 4), and it should be (2, 2, 2, "
            "2): "
            "the shape of x twice. `jacobian` gives it so.",
        ),
        (turn, "For vectors it is right. For x of shape (2, 2), the elements are not where they belong."),
        (
            use_tapes(lambda tape, gradient, x: tape.jacobian(gradient, x), watched="outer"),
            "The inner gradient is None. Does the inner tape watch x before it calls f?",
        ),
        (
            use_tapes(lambda tape, gradient, x: tape.jacobian(gradient.numpy(), x)),
            "The outer tape is asked about plain numbers, which no tape follows. Leave the gradient a tensor.",
        ),
    ],
    otherwise="Your result is {given}, and by hand it is {answer}. Is it the Jacobian of the gradient?",
    why="The Jacobian of the gradient agrees with the second derivatives by hand.",
    minutes=12,
)


SPREAD, _ = np.linalg.qr(np.random.default_rng(1952).standard_normal((5, 5)))
SYSTEM = SPREAD @ np.diag([1.0, 2.0, 4.0, 7.0, 11.0]) @ SPREAD.T
SIDE = np.random.default_rng(1953).standard_normal(5)


def solve_by(solve: Callable[..., Any]) -> tuple[Any, list[Any]]:
    """Return what a solver comes to, and the vectors whose products it asked for."""
    asked: list[Any] = []

    def multiply(v: Any) -> Any:
        asked.append(np.array(v, dtype=float))
        if asked[-1].shape != (5,):
            raise NotYet(f"product takes a vector, here of 5 numbers, and got an array of shape {asked[-1].shape}.")
        if len(asked) > 200:
            raise NotYet("After 200 products I stop. Five rows need five. Does your loop end?")
        return SYSTEM @ asked[-1]

    return solve(multiply, SIDE.copy()), asked


def begins_with_side(solve: Callable[..., Any]) -> bool:
    """Return whether the first direction is that of b."""
    first = next(v for v in solve_by(solve)[1] if v.any())
    return bool(np.isclose(abs(first @ SIDE), np.linalg.norm(first) * np.linalg.norm(SIDE)))


def find_length(missing: Any, direction: Any, along: Any) -> Any:
    """Solve the equation of `length`."""
    return (missing @ direction) / (direction @ along)


def find_share(missing: Any, left: Any, direction: Any, along: Any) -> Any:
    """Solve the equation of `share`."""
    return -(left @ along) / (direction @ along)


def walk(length_of: Any = find_length, share_of: Any = find_share) -> Callable[..., Any]:
    """Return conjugate gradients with these formulas."""

    def solve(product: Any, b: Any) -> Any:
        s, missing, direction = np.zeros_like(b), b, b
        for _ in range(len(b)):
            if np.linalg.norm(missing) < 1e-12:
                break
            along = product(direction)
            length = length_of(missing, direction, along)
            s, left = s + length * direction, missing - length * along
            direction = left + share_of(missing, left, direction, along) * direction
            missing = left
        return s

    return solve


def walk_with(share_of: Any) -> Callable[..., Any]:
    """Return conjugate gradients with another formula for `share`."""
    return walk(share_of=share_of)


CONJUGATE = Function(
    "Conjugate gradients",
    """\
To solve H s = b with products alone, go along one direction at a time. `missing` is b − H s, what's left to explain. The first direction is what's missing at the start.

- `length`: how far along `direction`? To the lowest point of the model: there, nothing of what's missing lies along the direction. So (missing − length · H direction) · direction = 0.
- `share`: how much of the old direction stays in the new one? As much as it takes for the new direction not to spoil the old one: (left + share · direction) · H direction = 0.

Solve both equations for the unknown. All you need is `along`, which is H times the direction. In *n* turns the method arrives, if the eigenvalues of H are above zero.""",
    signature="solve(product, b)",
    cases=[
        Case(lambda solve: solve_by(solve)[0], within=1e-7),
        Case(
            lambda solve: len(solve_by(solve)[1]) > 0,
            "The numbers are right, but your function never asked for a product.",
        ),
        Case(
            lambda solve: sum(np.count_nonzero(v) == 1 for v in solve_by(solve)[1]) < 2,
            "Your function multiplies by unit vectors: that writes down the matrix, column by column. Go along the "
            "directions instead.",
        ),
        Case(
            begins_with_side,
            "It arrives, but by another way. The first direction is what is missing at the start: b.",
        ),
        Case(
            lambda solve: max(6, len(solve_by(solve)[1])),
            "It arrives, but after {given} products, and five rows need five. Is `share` such that (left + share · "
            "direction) · along is 0, and do you ask once in each turn?",
        ),
    ],
    answer=walk(),
    spellings=[
        walk(
            lambda missing, direction, along: (missing @ missing) / (direction @ along),
            lambda missing, left, direction, along: (left @ left) / (missing @ missing),
        ),
        lambda product, b: ad.constant(walk()(product, b)),
    ],
    hints=[
        (lambda product, b: -walk()(product, b), "That solves H s = −b. Here b is the right side itself."),
        (
            walk_with(lambda missing, left, direction, along: 0.0),
            "Your share is 0 in each turn (left · direction is 0, too), so every direction is what is missing: that is "
            "gradient descent, which spoils in each turn what the one before had reached. Keep a share of the old "
            "direction.",
        ),
        (
            walk_with(lambda missing, left, direction, along: (left @ along) / (direction @ along)),
            "`length` is right. `share` has the wrong sign: left · along + share · (direction · along) should be 0.",
        ),
        (
            walk_with(lambda missing, left, direction, along: (missing @ missing) / (left @ left)),
            "`length` is right. `share` is upside down: what is left is smaller than what was missing, mostly.",
        ),
        (
            walk_with(lambda missing, left, direction, along: 1.0),
            "`length` is right. With a share of 1 the whole old direction is kept, and that is not what its equation "
            "says.",
        ),
        (
            walk_with(lambda missing, left, direction, along: -(missing @ along) / (direction @ along)),
            "`length` is right. `share` is computed from `missing`, what the turn began with. Its equation has `left`.",
        ),
        (
            walk_with(lambda missing, left, direction, along: -(left @ along) / (direction @ direction)),
            "`length` is right. In `share` you divide by direction · direction. Divide by direction · along.",
        ),
        (
            walk_with(lambda missing, left, direction, along: np.linalg.norm(left) / np.linalg.norm(missing)),
            "`length` is right. `share` is a ratio of lengths. With their squares it would be right as well.",
        ),
        (
            walk_with(lambda missing, left, direction, along: -(left @ along) / (along @ along)),
            "`length` is right. In `share` you divide by along · along. Divide by direction · along.",
        ),
        (
            walk_with(lambda missing, left, direction, along: -(direction @ along) / (left @ along)),
            "`length` is right. `share` is upside down: left · along = -share · (direction · along).",
        ),
        (
            walk_with(lambda missing, left, direction, along: -(left @ along)),
            "`length` is right. `share` isn't divided by anything: left · along = -share · (direction · along).",
        ),
        (
            walk_with(lambda missing, left, direction, along: -(left @ left) / (missing @ missing)),
            "`length` is right. `share` has the wrong sign: with these two squares it is above zero.",
        ),
        (
            walk(
                lambda missing, direction, along: -(missing @ direction) / (direction @ along),
                lambda missing, left, direction, along: (left @ along) / (direction @ along),
            ),
            "Both have the wrong sign: missing · direction = length · (along · direction), and "
            "left · along = -share · (direction · along).",
        ),
        *(
            (
                walk(lambda missing, direction, along: (missing @ direction) / (direction @ direction), share),
                "In `length` you divide by direction · direction. The equation has H direction in it: divide by "
                "direction · along.",
            )
            for share in (
                find_share,
                lambda missing, left, direction, along: -(left @ along) / (direction @ direction),
                lambda missing, left, direction, along: -(left @ direction) / (direction @ direction),
            )
        ),
        (
            walk(lambda missing, direction, along: (missing @ along) / (along @ along)),
            "In `length` you multiply by `along`. The equation multiplies by the direction: missing · direction above "
            "the "
            "line, and along · direction below it.",
        ),
        (
            walk(lambda missing, direction, along: (direction @ along) / (missing @ direction)),
            "`length` is upside down: missing · direction = length · (along · direction).",
        ),
        (
            walk(lambda missing, direction, along: -(missing @ direction) / (direction @ along)),
            "`length` has the wrong sign: missing · direction = length · (along · direction).",
        ),
        (
            walk(lambda missing, direction, along: missing / along),
            "`length` should be one number, and you divide element by element. Write the dots of the equation as `@`.",
        ),
        (
            walk(lambda missing, direction, along: 1.0),
            "A length of 1 does not ask the model, and missing · along over direction · along comes out as 1, too. "
            "Where, along the direction, is nothing missing along it?",
        ),
        (
            walk_with(lambda missing, left, direction, along: -1.0),
            "`length` is right. Your `share` comes out as -1: what stands above the line stands below it, too. Divide "
            "by "
            "direction · along.",
        ),
        (
            walk_with(lambda missing, left, direction, along: -left / direction),
            "Your result holds numbers that are not finite: one of the divisions is by zero. If you divide arrays "
            "element by element, write the dots of the equations as `@`.",
        ),
    ],
    otherwise="H s still differs from b. Solve the two equations for the unknown, `length` first: both have direction "
    "· "
    "along below the line.",
    why="It arrives after about as many products as there are rows, and the matrix is never there.",
    minutes=11,
)

QUESTIONS = (*PREDICTIONS, BACKTRACKING, HESSIAN, CONJUGATE)
