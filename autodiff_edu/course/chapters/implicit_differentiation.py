"""The exercises of chapter 19, implicit differentiation: Kepler's equation, a layer that feeds itself, strengths."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.rule import runs_code
from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_function, numbers, quoted
from ..predictions import Prediction
from .wrong_19 import hint_for_kepler, hint_for_layer, hint_for_strengths


def kepler(answer: Any) -> str:
    """Check 19.1: the two contributions of Kepler's equation, with a cotangent other than 1."""
    needs_function(answer, "angle(M, e)")
    mean, e, v = 1.2, 0.55, 1.7
    angle = mean
    for _ in range(30):
        angle -= (angle - e * np.sin(angle) - mean) / (1 - e * np.cos(angle))
    sine, slope = np.sin(angle), 1 - e * np.cos(angle)
    given = _contributions(answer, (mean, e), angle, v, "angle(M, e)")
    if not near(given, (v / slope, v * sine / slope)):
        raise NotYet(
            hint_for_kepler(given, mean, e, angle, v)
            or f"For a cotangent of {v}, the contributions are {v / slope:.6f} and {v * sine / slope:.6f}; yours are "
            f"{given[0]:.6f} and {given[1]:.6f}. Differentiate g = E - e sin E - M with respect to E, M and e."
        )
    if _right_twice(answer, mean, e, (-e * sine / slope**3)):
        return "No turn of the solver is on the tape, and the second derivative is right as well."
    return (
        "No turn of the solver is on the tape. (Right once; for second derivatives, `backward` would use "
        "`E = angle(M, e)`.)"
    )


def _right_twice(answer: Any, mean: float, e: float, wanted: float) -> bool:
    """Return whether the second derivative with respect to the first argument is right."""
    try:
        found = ad.grad(ad.grad(lambda m: answer(m, ad.constant(e))))(mean)
        return near(float(found), float(wanted), 1e-5)
    except Exception:  # a rule may be right once and raise the second time, as with plain numbers
        return False


def _contributions(answer: Any, arguments: tuple[Any, ...], value: Any, v: Any, written: str) -> list[Any]:
    """Return what the answer's own `backward` makes of the cotangent `v`, one array for each argument."""
    sources = [ad.constant(argument) for argument in arguments]
    name = written.split("(")[0]
    with ad.GradientTape() as tape:
        tape.watch(sources)
        found = call(answer, *sources, written=written)
        if isinstance(found, tuple):
            raise NotYet(f"{written} returns a tuple. Write `@ad.custom_gradient` above the function.")
        if not near(numbers(found.numpy() if isinstance(found, ad.Tensor) else found), value):
            raise NotYet(f"The value isn't the solution of the equation. Keep the solver of the template in `{name}`.")
        target = np.sum(found * v)
    if not any(runs_code(entry.operation) for entry in tape.entries):
        raise NotYet(
            f"Here, the tape walks through your solver or finds nothing: `{name}` has no custom gradient. "
            "Write `@ad.custom_gradient` above it."
        )
    try:
        given = tape.gradient(target, sources)
    except Exception as error:
        if "returned 1 gradient" in str(error):
            raise NotYet(
                "Your backward returns one thing, and I need two contributions, with a comma between them. Is a "
                "`return` missing?"
            ) from error
        if "If broadcasting has stretched" in str(error):
            raise NotYet(
                f"A contribution has the wrong shape: {quoted(str(error), 90)}. Each has the shape of "
                "its own argument, and they come in the arguments' order."
            ) from error
        if "ellipsis" in str(error).lower():
            raise NotYet("Replace the three dots: what does backward return, one contribution each?") from error
        raise NotYet(
            f"In the backward pass your function raised {type(error).__name__}: {quoted(str(error))}."
        ) from error
    if any(part is None for part in given):
        raise NotYet(
            "Your backward returns None for one of its arguments. Each has a slope: return both contributions."
        )
    return [part.numpy() for part in given]


def equilibrium(answer: Any) -> str:
    """Check 19.2: what goes back from a fixed point z = tanh(W z + b) to W and to b."""
    needs_function(answer, "equilibrium(W, b)")
    random = np.random.default_rng(192)
    w, b, v = 0.3 * random.standard_normal((4, 4)), random.standard_normal(4), random.uniform(0.5, 2.0, 4)
    z = np.zeros(4)
    for _ in range(300):
        z = np.tanh(w @ z + b)
    slope = np.diag(1 - z**2)
    u = np.linalg.solve((np.eye(4) - slope @ w).T, v)
    right = np.outer(slope @ u, z), slope @ u
    given = _contributions(answer, (w, b), z, v, "equilibrium(W, b)")
    if all(near(mine, wanted) for mine, wanted in zip(given, right, strict=True)):
        return "One u is enough for all the weights, whether you solved for it or repeated u = v + u A."
    if hint := hint_for_layer(given, w, z, v):
        raise NotYet(hint)
    if near(given[1], right[1]) and near(given[0], right[0].T):
        raise NotYet("The contribution for b is right, the one for W is transposed: row i belongs to output i.")
    if near(given[1], right[1]) and near(given[0], np.outer(u, z)):
        raise NotYet("The contribution for b is right. For W, u goes through tanh first: use the same vector as for b.")
    if near(given[1], right[1]):
        raise NotYet("The contribution for b is right. For W: what multiplies W[i, j] in the turn?")
    if near(given[0], right[0]):
        raise NotYet("The contribution for W is right. For b: b is added, so what arrives at W z + b goes on to it.")
    if all(near(mine, wanted, 0.1) for mine, wanted in zip(given, right, strict=True)):
        raise NotYet("That's close, but not settled: solve the system, or repeat u = v + u A more often.")
    raise NotYet(
        f"The first element for b should be {right[1][0]:.6f}, and yours is {given[1][0]:.6f}. First find u, the "
        "cotangent of the turn's result, from u = v + u A; then pull it back through one turn."
    )


def strengths(answer: Any) -> str:
    """Check 19.3: the slopes of a validation loss with respect to the logarithms of four strengths."""
    needs_function(answer, "strength_slopes(X, y, X_other, y_other, s)")
    random = np.random.default_rng(193)
    x, other = random.standard_normal((12, 4)), random.standard_normal((9, 4))
    y, y_other, s = random.standard_normal(12), random.standard_normal(9), random.uniform(-1.5, 1.0, 4)
    hessian = 2 * x.T @ x / 12 + 2 * np.diag(np.exp(s))
    w = np.linalg.solve(hessian, 2 * x.T @ y / 12)
    v = 2 * other.T @ (other @ w - y_other) / 9
    written = "strength_slopes(X, y, X_other, y_other, s)"
    given = call(answer, *(part.copy() for part in (x, y, other, y_other, s)), written=written)
    if isinstance(given, tuple) and any(part is ... for part in given):
        raise NotYet("Replace the three dots.")
    slopes = numbers(given)
    if np.shape(slopes) == () or np.shape(slopes) == (1,):
        raise NotYet("That's one number. I need a slope for each element of s.")
    if np.shape(slopes) != (4,):
        aside = " If that's dw/ds, multiply it by v from the left." if np.shape(slopes) == (4, 4) else ""
        raise NotYet(f"I need one slope for each of 4 strengths, and got the shape {np.shape(slopes)}.{aside}")
    right = -2 * np.exp(s) * w * np.linalg.solve(hessian, v)
    if near(slopes, right):
        return "If you used u, one linear system was enough for all the strengths: eight of them, or a thousand."
    raise NotYet(
        hint_for_strengths(slopes, hessian, w, v, s)
        or f"For a hidden fit, the first slope is {right[0]:.6g}, and yours is {slopes[0]:.6g}. Solve H u = v; then "
        "multiply -u by how the inner gradient, element by element, changes with s."
    )


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "The loop below makes four turns. Which of them sends the most back to `R`?",
        answer="the last",
        choices=("the first", "the last", "each the same"),
        hints={
            "the first": "The walk back begins at the last turn. What does the cotangent go through on its way to the "
            "first?",
            "each the same": "The formula is the same in each, but the cotangent changes from turn to turn.",
        },
        why="On the way to the turns before it, the cotangent shrinks, because a change of z comes out of a turn "
        "smaller than it went in.",
    ),
    Prediction(
        "After 8 turns, z is off by about 1 %. By how much will the tape's slope be off?",
        answer="about 6 %",
        choices=("about 0.01 %", "about 1 %", "about 6 %"),
        hints={
            "about 0.01 %": "The slope is made from the same eight values of z, and the early ones are far off.",
            "about 1 %": "It would be 1 % if only the last z counted. The walk back uses all eight.",
        },
        why="The walk back uses every turn's z, and the early ones are further off than the last.",
    ),
    Prediction(
        "The value is right to 11 digits. What will the slope be?",
        answer="too small",
        choices=("right", "too small", "too large", "None"),
        hints={
            "right": "In the player, the last turn sent the most. Was it all?",
            "too large": "In the player, every turn sent something positive. Now only the last one does.",
            "None": "R goes into the last turn, and that turn is recorded.",
        },
        why="Only the last turn's contribution is left, and the earlier ones were positive too.",
    ),
    Prediction(
        "With Newton's method, the last turn only: what will the slope be?",
        answer="right",
        choices=("right", "too small", "None"),
        hints={
            "too small": "The missing turns went through ∂f/∂z. How much does Newton's result depend on its start?",
            "None": "R goes into the last turn, and that turn is recorded.",
        },
        why="At the root, the result of Newton's turn hardly depends on where the turn started.",
    ),
    Prediction(
        "How many entries will the tape of `final_share(R)` have?",
        answer=1,
        hints={
            220: "That would be every turn. The solver gets `float(R)`, a plain number.",
            55: "The solver gets `float(R)`, a plain number. Which of its operations are recorded?",
            4: "The solver gets `float(R)`, a plain number. Which of its operations are recorded?",
            2: "One for the whole solver. Is anything else recorded?",
            0: "A custom gradient is recorded as an entry of its own.",
        },
        why="One for the whole solver, whatever it does.",
    ),
    Prediction(
        "The solver took 55 turns for R = 1.5. How many will it take for R = 1.001?",
        answer="about 15,000",
        choices=("fewer", "about 55", "about 1,500", "about 15,000"),
        hints={
            "fewer": "z is smaller, but the solver starts from 1 and creeps up to it. Each turn brings how much?",
            "about 55": "What's left shrinks by the factor ∂f/∂z with each turn. What is it near the kink?",
            "about 1,500": "Each turn moves z by a thousandth of what's left, and that move has to shrink to 10⁻¹².",
        },
        why="Near the kink ∂f/∂z is almost 1, so each turn removes a thousandth of what's left.",
    ),
    Prediction(
        "Nine knobs, one total. How many linear systems does the backward pass solve?",
        answer=1,
        hints={
            9: "The system has v on its right-hand side, and no knob. When do the knobs come in?",
            3: "There's one system, with three unknowns.",
        },
        why="There's one cotangent v, so one u. Pulled back through one turn, it gives all nine slopes.",
    ),
    Prediction(
        "`by_adjoint` goes back in 160 steps. How many numbers does it carry from one step to the next?",
        answer=5,
        hints={
            2: "x has two numbers. What else goes back in time?",
            3: "x has two numbers, and so has its cotangent p. Who collects what the rate receives?",
            4: "x has two numbers, and p has two. Where does what the rate receives add up?",
            160: "Steps back need no notes of the steps forward: x runs backward, too.",
            800: "Nothing is kept of the steps before. What does one step hand on to the next?",
        },
        why="Two of x, two of p, and the sum for the rate. No step leaves a note.",
    ),
    Judge(
        "Where is the planet?",
        """\
A planet on an ellipse moves fast near its sun and slowly far away. Kepler found where it is at a given time: solve E − e sin E = M for an angle E that gives its place on the ellipse. M is the share of the year that has passed, as an angle, and e, the *eccentricity*, says how stretched the ellipse is: 0 is a circle, close to 1 is very elongated. Write `backward`, which returns one contribution for M and one for e.""",
        kepler,
    ),
    Judge(
        "A layer that feeds itself",
        """\
A *deep equilibrium model* (Bai, Kolter and Koltun, 2019) is a network of one layer, applied until its output settles. Here is a small one: `z` is the vector with z = tanh(W z + b). Write `backward(v)`. It returns one contribution for `W`, a matrix, and one for `b`, a vector. The slope of tanh is 1 − tanh², so at the fixed point it is 1 − z².""",
        equilibrium,
    ),
    Judge(
        "A strength for each reading",
        """\
Now give each of the readings a strength of its own: the inner loss is the mean of (X w − y)², plus the sum of exp(s)·w², where `s` has as many numbers as `w`. Write `strength_slopes(X, y, X_other, y_other, s)`: the gradient of the outer loss, the mean of (X_other w − y_other)² at the best weights `w`, with respect to `s`.

The best weights are given. Use `u`, and how the inner gradient changes with `s`.""",
        strengths,
    ),
)
