"""Project 28.1: a network that solves u'' = -u, from its second derivative to its measured errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Exercise, Function, Number, Table
from ..feedback import NotYet, call, number, numbers
from ..milestones import Milestone, needs_gradients

X = np.array([0.3, 1.1, 1.9, 2.6])
TEST = np.linspace(0.0, np.pi, 197)
OUTSIDE = np.linspace(np.pi, 2 * np.pi, 197)

Curve = Callable[[Any], Any]


def hidden(x: Any) -> Any:
    """Return the u with which `second` is tried."""
    return np.exp(-0.5 * x) * x + np.cos(2.0 * x)


def slope(u: Curve, x: Any) -> Any:
    """Return u' at each number in x."""
    return ad.jvp(u, (x,), (np.ones_like(x),))[1]


def second(u: Curve, x: Any) -> Any:
    """Return u'' at each number in x."""
    return slope(lambda x: slope(u, x), x)


def by_differences(u: Curve, x: Any) -> Any:
    """Return u'' to some digits."""
    return (u(x + 1e-4) - 2 * u(x) + u(x - 1e-4)) / 1e-8


def at_first(found: Any, wanted: Any) -> str:
    """Return the hint for a second derivative of the right shape with other numbers."""
    if np.shape(found) != X.shape:
        return f"x has the shape {X.shape}, and so has u''. Yours has the shape {np.shape(found)}."
    return f"At x = {X[0]}, u'' of a hidden u is {wanted[0]:.6f}, and yours is {float(found[0]):.6f}."


CLOSE = "That's close, as differences are, but not exact. Nest two derivatives, without a step size."
BESIDE = "Your function asks for u at {place:.6g}, which isn't in x. With differences, u'' is close, but never exact. Nest two derivatives, without a step size."


def asks_beside(second: Callable[[Curve, Any], Any]) -> str:
    """Return the hint for a second derivative that looks at u beside x, as differences do."""
    asked: set[float] = set()

    def watched(x: Any) -> Any:
        asked.update(np.ravel(ad.constant(x).numpy()).tolist())
        return hidden(x)

    second(watched, X.copy())
    place = next((place for place in sorted(asked, key=np.real) if np.abs(X - place).min() > 1e-12), None)
    return "" if place is None else BESIDE.format(place=place)


SECOND = Function(
    signature="second(u, x)",
    cases=[
        Case(lambda second: second(hidden, X.copy()), at_first, within=1e-3),
        Case(asks_beside, lambda found, _: str(found)),  # differences of high order have twelve digits, too
        Case(lambda second: second(hidden, X.copy()), CLOSE, within=1e-12),
        Case(
            lambda second: needs_gradients(
                lambda size: second.__wrapped__(lambda x: size * hidden(x), X), 1.5, written="second(u, x)"
            )
        ),
    ],
    answer=second,
    hints=[
        (
            lambda u, x: slope(slope(u, x), x),
            "`slope` takes a function, and not its values: write `lambda x: slope(u, x)`.",
        ),
        (lambda u, x: u, "It returns a function. Call that at x."),
        (
            lambda u, x: (np.full(x.shape, ...), np.full(x.shape, ...)),
            "It returns a tuple. `ad.jvp` returns the value and the tangent: take the second of the two.",
        ),
        (
            lambda u, x: np.full((4, 4), ...),
            "That is a matrix of slopes. Each output depends on its own x only, so all but the diagonal is 0, and a "
            "direction of ones gives the diagonal at once.",
        ),
        (lambda u, x: np.full((), ...), "It returns one number. u'' has one for each number in x."),
        (lambda u, x: u(x), "That is u itself. Where is the derivative?"),
        (slope, "That is u', the first derivative. Take the slope of the slope."),
        (
            lambda u, x: slope(u, x) ** 2,
            "That is u' squared. The second derivative is the slope of u'.",
        ),
        (lambda u, x: second(u, x) / 2, "That is half of u''. Only a Taylor series has the half."),
        (lambda u, x: -second(u, x), "That is -u''. Where does the sign come from?"),
        (by_differences, CLOSE),
    ],
)


def parts(u: Curve) -> dict[str, Any]:
    """Return what a loss adds up."""
    x, zero = np.linspace(0.0, np.pi, 20), np.array([0.0])
    return {
        "equation": np.mean((second(u, x) + u(x)) ** 2),
        "start": u(zero)[0] ** 2,
        "speed": (slope(u, zero)[0] - 1.0) ** 2,
    }


def of_parts(*names: str) -> Callable[[Curve], Any]:
    """Return a loss that adds up some of the parts."""
    return lambda u: sum(part for name, part in parts(u).items() if name in names)


loss = of_parts("equation", "start", "speed")

NOT_SOLUTIONS: tuple[tuple[Curve, str], ...] = (
    (lambda x: 0.0 * x * x, "u(x) = 0 also has loss 0. Which condition rules it out? That's how the tea went wrong."),
    (lambda x: 2.0 * np.sin(x), "2 sin(x) also has loss 0. What should u'(0) be?"),
    (lambda x: -np.sin(x), "-sin(x) also has loss 0. What sign should u'(0) have?"),
    (lambda x: np.sin(x) + 0.5 * np.cos(x), "sin(x) + cos(x)/2 also has loss 0. What should u(0) be?"),
    (lambda x: np.sin(3.0 * x) / 3.0, "sin(3x)/3 also has loss 0. Both conditions hold for it. Is the equation in it?"),
    (lambda x: x + 0.0 * x * x, "u(x) = x also has loss 0. Both conditions hold for it. Is the equation in it?"),
)
"""Functions that are not the solution, and what a loss leaves out that takes them for it; none is of first degree, for a
tape has no second derivative of those but None."""
DISOBEYING = (NOT_SOLUTIONS[-2][0], NOT_SOLUTIONS[-1][0])
"""Functions that break the equation only."""
UNMET: tuple[Curve, ...] = (lambda x: -np.sin(x), lambda x: np.sin(x) - 0.5 * np.cos(x))
"""Functions that obey the equation, and for which what a condition leaves over is negative."""
BELOW_ZERO = "A loss below 0 can't be driven to 0. Square what the equation leaves over."
MEAN_FIRST = "You square the mean, so errors of both signs cancel. Square first, then take the mean."
KNOWS_THE_SOLUTION = (
    "Your loss asks for more than the equation, u'' + u = 0, and the two conditions: it isn't 0 for a u that obeys all "
    "three at your points, and jumps between them. It may know nothing else, neither sin(x) nor what follows from it."
)


def problem_of(loss: Callable[[Curve], Any]) -> str:
    """Return what is wrong with a loss; nothing, if it is 0 for the solution and for nothing else."""
    asked: set[float] = set()

    def of(u: Curve) -> float:
        def watched(x: Any) -> Any:
            asked.update(np.ravel(ad.constant(x).numpy()).tolist())
            return u(x)

        return number(loss(watched), "what loss(u) returns")

    given = loss(np.sin)
    if isinstance(given, tuple):
        return "It returns a tuple. Add the parts up to one number."
    if np.shape(given) not in ((), (1,)):
        return f"It returns an array of shape {np.shape(given)}. A loss is one number: take the mean."
    best = of(np.sin)
    if best > 1e-9 > of(np.sinh):
        return "sinh has loss 0, so you penalise u'' - u. The equation is u'' + u = 0."
    if min(best, *(of(u) for u in DISOBEYING)) > -1e-9 > min(of(u) for u in UNMET):
        return "Your loss can be negative, and so falls for ever. Square each part, the two conditions too."
    if best < -1e-9 or any(of(u) < -1e-9 for u, _ in NOT_SOLUTIONS):
        return BELOW_ZERO
    if best > 1e-9:
        return (
            f"For sin(x), which is the solution, your loss is {best:.3g}. It should be 0. Which part isn't: u'' + u, "
            "u(0), or u'(0) - 1?"
        )
    if hint := next((hint for u, hint in NOT_SOLUTIONS if of(u) < 1e-4), ""):
        return hint
    if len(asked) < 10 or max(asked) < 2.5:
        return (
            f"Your loss looks at u in {len(asked)} places, the last of them at {max(asked):.2f}. Elsewhere a network "
            "can do what it likes: ask at about twenty places, from 0 to π."
        )
    places = [0.0, *sorted(place for place in asked if 0.0 <= place <= np.pi), np.pi]
    gap = int(np.argmax(np.diff(places)))
    if places[gap + 1] - places[gap] > 1.0:
        return (
            f"Between {places[gap]:.2f} and {places[gap + 1]:.2f}, your loss asks nothing, so a network can do what it "
            "likes there. Spread its points from 0 to π."
        )
    elsewhere = [of(jump_at(start)) > 1e-6 for start in PIECES]
    if sum(elsewhere) == 1:
        return (
            "A condition is asked at another place than 0. The task gives two, u(0) = 0 and u'(0) = 1: for another "
            "equation, you wouldn't know any others."
        )
    if any(elsewhere):
        return KNOWS_THE_SOLUTION
    if squares_late(of):
        return MEAN_FIRST
    return ""


PIECES = np.linspace(0.03, 3.03, 11)
"""Where the pieces begin into which `jump_at` cuts the way from 0 to π; no loss is likely to ask just there."""


def jump_at(start: float) -> Callable[[Any], Any]:
    """Return what obeys the equation and both conditions, but jumps to another solution for a short piece."""

    def u(x: Any) -> Any:
        other = np.where(x > start, np.sin(x - start + 0.5), 0.0)
        return np.sin(x) + np.where(x > start + 0.3, 0.0, other)

    return u


def squares_late(of: Callable[[Curve], float]) -> bool:
    """Return whether a loss squares the mean: there is a mixture of any two functions for which that is 0."""

    def with_some(squared: float, bent: float) -> float:
        return of(lambda x: np.sin(x) + squared * x**2 + bent * (1.0 - np.cos(x)))  # neither moves the conditions

    squared, bent = with_some(1e-3, 0.0), with_some(0.0, 1e-3)
    return any(
        min(with_some(1e-3, -1e-3 * ratio), with_some(1e-3, 1e-3 * ratio)) < 1e-9 * squared
        for ratio in (squared / bent, np.sqrt(squared / bent))
    )


def mean_first(u: Curve) -> Any:
    """Square the mean of what the equation leaves over."""
    x = np.linspace(0.0, np.pi, 20)
    return np.mean(second(u, x) + u(x)) ** 2 + of_parts("start", "speed")(u)


LOSS = Function(
    signature="loss(u)",
    cases=[
        Case(problem_of, lambda found, _: str(found)),
        Case(
            lambda loss: needs_gradients(
                lambda size: loss.__wrapped__(lambda x: size * hidden(x)), 1.5, written="loss(u)"
            )
        ),
    ],
    answer=loss,
    hints=[
        (
            lambda weights: weights["w"],
            "I call `loss` with a function u, such as np.sin. Yours takes it for weights.",
        ),
        (of_parts("equation"), NOT_SOLUTIONS[0][1]),
        (of_parts("equation", "speed"), NOT_SOLUTIONS[3][1]),
        (of_parts("start", "speed"), NOT_SOLUTIONS[4][1]),
        (lambda u: -loss(u), BELOW_ZERO),
        (mean_first, MEAN_FIRST),
        (
            lambda u: np.mean((u(TEST) - np.sin(TEST)) ** 2),
            KNOWS_THE_SOLUTION,
        ),
    ],
)


def values_of(solution: Any, x: Any) -> Any:
    """Return what a learner's solution gives at the numbers in x, as an array of that shape."""
    values = numbers(call(solution, x.copy(), written="solution(x)"), "what solution(x) returns")
    if values.shape == (*x.shape, 1):
        values = values[:, 0]
    if values.shape != x.shape:
        raise NotYet(f"For an x of shape {x.shape} it returns the shape {values.shape}. I need one number for each x.")
    if not np.isfinite(values).all():
        raise NotYet("Some of its values are not finite. Find the first step at which that happens, as in chapter 12.")
    return values


THE_SINE = "That is sin(x), to the last digit. Hand in your network; sin(x) is only there to measure it."
ALL_ZERO = "The network is 0 everywhere. Does the loss that you trained on include u'(0) = 1?"
MINUS_THE_SINE = "That is -sin(x). u'(0) is +1."


def distance_of(solution: Any) -> str:
    """Return what is wrong with a solution; nothing, if it is a network's, and near sin(x)."""
    values, sine = values_of(solution, TEST), np.sin(TEST)
    errors = np.abs(values - sine)
    if errors.max() < 1e-12:
        return THE_SINE
    if np.abs(values).max() < 0.05:
        return ALL_ZERO
    if np.abs(values + sine).max() < 0.05:
        return MINUS_THE_SINE
    if errors.max() <= 0.05:
        return ""
    factor = float(values @ sine / (sine @ sine))
    if np.abs(values - factor * sine).max() < 0.05 * abs(factor):
        return f"That is {factor:.2g} · sin(x). Is u'(0) = 1 in the loss, and with enough weight?"
    return (
        f"The largest error is {errors.max():.2g}, at x = {TEST[errors.argmax()]:.2f}. At most 0.05 is asked for. Is the "
        "loss still falling? Train longer, with more units, or with points there."
    )


FIT = np.polynomial.Chebyshev.fit(TEST, np.sin(TEST), 5)


def near_sine(x: Any) -> Any:
    """Return what a trained network may."""
    return FIT(np.asarray(x))


SOLUTION = Function(
    signature="solution(x)",
    cases=[Case(distance_of, lambda found, _: str(found))],
    answer=near_sine,
    spellings=[lambda x: near_sine(x)[:, None], lambda x: near_sine(x).astype("float32")],
    hints=[
        (np.sin, THE_SINE),
        (np.zeros_like, ALL_ZERO),
        (lambda x: -near_sine(x), MINUS_THE_SINE),
        (
            lambda x: 0.5 * near_sine(x),
            "That is 0.5 · sin(x). Is u'(0) = 1 in the loss, and with enough weight?",
        ),
    ],
)


def largest(name: str, differences: Any) -> Number:
    """Return the form of a largest error, given the differences from the sine."""
    off = np.abs(differences)
    wrong = {
        differences.max(): "That's the largest difference with its sign. `np.abs` is missing.",
        -differences.min(): "That's the largest difference on one side only. `np.abs` is missing.",
        100.0 * off.max(): "That's in percent. I asked for the distance itself, on the axis of u.",
        off.mean(): "That's the mean error. I asked for the largest.",
        np.sqrt((off**2).mean()): "That's the root of the mean square. I asked for the largest error.",
        np.square(off).max(): "That's the largest square. Take its root.",
        round(float(off.max()), 2): "I asked for two significant digits, such as 0.0012 or 1.5.",
        float(f"{off.max():.1g}"): "I asked for two significant digits, such as 0.0012 or 1.5.",
    }
    where = "[0, π]" if name == "inside" else "[π, 2π]"
    return Number(
        answer=off.max(),
        within=0.1,
        hints={value: f"{name}: {hint}" for value, hint in wrong.items() if abs(value - off.max()) > 0.1 * off.max()},
        otherwise=f"For your solution, the largest error {name} is not {{given}}. Measure at a few hundred points on "
        f"{where}, also between the trained ones, and take `np.abs` of the differences.",
    )


def errors_of(answer: Any) -> Exercise:
    """Return the form of the errors, which are those of the solution that is handed in."""
    solution = answer.get("solution", ...)
    SOLUTION.judge(solution)  # there is nothing to measure before
    differences = {name: values_of(solution, x) - np.sin(x) for name, x in (("inside", TEST), ("outside", OUTSIDE))}
    inside, outside = (np.abs(each).max() for each in differences.values())
    return Table(
        called="error",
        parts={name: largest(name, each) for name, each in differences.items()},
        hints=[
            (
                {"inside": outside, "outside": inside},
                "The two have changed places: what you call inside is outside.",
            )
        ],
        why="Inside it is right, and outside it knows nothing." if outside > 3 * inside else "",
    )


MILESTONES = (
    Milestone("second", "`second(u, x)` returns u'' at each number in x. Nest two derivatives.", SECOND),
    Milestone(
        "loss",
        "`loss(u)` takes a function u, and returns one number: 0 for the solution, and more for what isn't one.",
        LOSS,
    ),
    Milestone("solution", "hand in `solution(x)`, your trained network, at most 0.05 away from sin(x).", SOLUTION),
    Milestone("errors", 'measure it, as {"inside": 0.01, "outside": 1.0} with your numbers.', errors_of),
)
"""The four milestones of the project."""

RIGHT = {
    "second": second,
    "loss": loss,
    "solution": near_sine,
    "errors": {"inside": 0.0012, "outside": 8.3},
}

WHY = "Now write the report."
