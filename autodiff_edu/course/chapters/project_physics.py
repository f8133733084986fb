"""Project 22.1: a network that solves u'' = -u, from its second derivative to its measured errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, numbers
from ..milestones import Milestone, StillOpen, needs_gradients, reached

X = np.array([0.3, 1.1, 1.9, 2.6])
TEST = np.linspace(0.0, np.pi, 197)
OUTSIDE = np.linspace(np.pi, 2 * np.pi, 197)


def _hidden(x: Any) -> Any:
    return np.exp(-0.5 * x) * x + np.cos(2.0 * x)


def _second(second: Any, answer: Any) -> None:
    needs_function(second, "second(u, x)")
    try:
        given = call(second, _hidden, X, written="second(u, x)")
    except NotYet as raised:
        if "jvp" in str(raised) and "function" in str(raised):
            raise NotYet("`slope` takes a function, and not its values: write `lambda x: slope(u, x)`.") from None
        raise
    if given is ...:
        raise StillOpen
    if callable(given) and not isinstance(given, ad.Tensor):
        raise NotYet("It returns a function. Call that at x.")
    if isinstance(given, tuple):
        raise NotYet("It returns a tuple. `ad.jvp` returns the value and the tangent: take the second of the two.")
    values = numbers(given)
    decay = np.exp(-0.5 * X)
    first = decay * (1 - 0.5 * X) - 2.0 * np.sin(2.0 * X)
    right = decay * (0.25 * X - 1.0) - 4.0 * np.cos(2.0 * X)
    if values.shape == (4, 4):
        raise NotYet(
            "That is a matrix of slopes. Each output depends on its own x only, so all but the diagonal is 0, "
            "and a direction of ones gives the diagonal at once."
        )
    if values.shape == ():
        raise NotYet("It returns one number. u'' has one for each number in x.")
    if values.shape != X.shape:
        raise NotYet(f"x has the shape {X.shape}, and so has u''. Yours has the shape {values.shape}.")
    for wrong, hint in (
        (_hidden(X), "That is u itself. Where is the derivative?"),
        (first, "That is u', the first derivative. Take the slope of the slope."),
        (first**2, "That is u' squared. The second derivative is the slope of u'."),
        (right / 2, "That is half of u''. Only a Taylor series has the half."),
        (-right, "That is -u''. Where does the sign come from?"),
    ):
        if near(values, wrong, 1e-9):
            raise NotYet(hint)
    if near(values, right, 1e-12):  # a difference of exact slopes has eleven digits
        needs_gradients(lambda size: second(lambda x: size * _hidden(x), X), 1.5, written="second(u, x)")
        return
    if np.allclose(values, right, atol=1e-3):
        raise NotYet("That's close, as differences are, but not exact. Nest two derivatives, without a step size.")
    raise NotYet(f"At x = {X[0]}, u'' of a hidden u is {right[0]:.6f}, and yours is {values[0]:.6f}.")


NOT_SOLUTIONS: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda x: 0.0 * x, "u(x) = 0 also has loss 0. Which condition rules it out? That's how the tea went wrong."),
    (lambda x: 2.0 * np.sin(x), "2 sin(x) also has loss 0. What should u'(0) be?"),
    (lambda x: -np.sin(x), "-sin(x) also has loss 0. What sign should u'(0) have?"),
    (lambda x: np.sin(x) + 0.5 * np.cos(x), "sin(x) + cos(x)/2 also has loss 0. What should u(0) be?"),
    (lambda x: np.sin(3.0 * x) / 3.0, "sin(3x)/3 also has loss 0. Both conditions hold for it. Is the equation in it?"),
    (lambda x: 1.0 * x, "u(x) = x also has loss 0. Both conditions hold for it. Is the equation in it?"),
)
"""Functions that are not the solution, and what a loss leaves out that takes them for it."""
DISOBEYING = (NOT_SOLUTIONS[-2][0], NOT_SOLUTIONS[-1][0])
"""Functions that break the equation only."""
UNMET: tuple[Callable[[Any], Any], ...] = (lambda x: -np.sin(x), lambda x: np.sin(x) - 0.5 * np.cos(x))
"""Functions that obey the equation, and for which what a condition leaves over is negative."""


def _loss(loss: Any, answer: Any) -> None:
    needs_function(loss, "loss(u)")
    asked: set[float] = set()

    def of(u: Callable[[Any], Any]) -> float:
        def watched(x: Any) -> Any:
            asked.update(np.ravel(ad.constant(x).numpy()).tolist())
            return u(x)

        given = call(loss, watched, written="loss(u)")
        if given is ...:
            raise StillOpen
        if isinstance(given, tuple):
            raise NotYet("It returns a tuple. Add the parts up to one number.")
        if np.shape(given) not in ((), (1,)):
            raise NotYet(f"It returns an array of shape {np.shape(given)}. A loss is one number: take the mean.")
        return number(given, "what loss(u) returns")

    try:
        best = of(np.sin)
    except NotYet as raised:
        if isinstance(raised.__cause__, TypeError) and "subscriptable" in str(raised.__cause__):
            raise NotYet("I call `loss` with a function u, such as np.sin. Yours takes it for weights.") from None
        raise
    if best > 1e-9 > of(np.sinh):
        raise NotYet("sinh has loss 0, so you penalise u'' - u. The equation is u'' + u = 0.")
    if min(best, *(of(u) for u in DISOBEYING)) > -1e-9 > min(of(u) for u in UNMET):
        raise NotYet("Your loss can be negative, and so falls for ever. Square each part, the two conditions too.")
    if best < -1e-9 or any(of(u) < -1e-9 for u, _ in NOT_SOLUTIONS):
        raise NotYet("A loss below 0 can't be driven to 0. Square what the equation leaves over.")
    if best > 1e-9:
        raise NotYet(
            f"For sin(x), which is the solution, your loss is {best:.3g}. It should be 0. Which part isn't: "
            "u'' + u, u(0), or u'(0) - 1?"
        )
    for u, hint in NOT_SOLUTIONS:
        if of(u) < 1e-4:
            raise NotYet(hint)
    if len(asked) < 10 or max(asked) < 2.5:
        raise NotYet(
            f"Your loss looks at u in {len(asked)} places, the last of them at {max(asked):.2f}. Elsewhere a network "
            "can do what it likes: ask at about twenty places, from 0 to π."
        )
    elsewhere = [of(_moved(start)) > 1e-6 for start in PIECES]
    if sum(elsewhere) == 1:
        raise NotYet(
            "A condition is asked at another place than 0. The task gives two, u(0) = 0 and u'(0) = 1: for another "
            "equation, you wouldn't know any others."
        )
    if any(elsewhere):
        raise NotYet(
            "Your loss knows the solution. It may know only the equation, u'' + u = 0, and the two conditions."
        )
    _squares_first(of)
    needs_gradients(lambda size: loss(lambda x: size * _hidden(x)), 1.5, written="loss(u)")


PIECES = np.linspace(0.03, 3.03, 11)
"""Where the pieces begin into which `_moved` cuts the way from 0 to π; no loss is likely to ask just there."""


def _moved(start: float) -> Callable[[Any], Any]:
    """Return what obeys the equation and both conditions, but jumps to another solution for a short piece."""

    def u(x: Any) -> Any:
        other = np.where(x > start, np.sin(x - start + 0.5), 0.0)
        return np.sin(x) + np.where(x > start + 0.3, 0.0, other)

    return u


def _squares_first(of: Callable[[Callable[[Any], Any]], float]) -> None:
    """Refuse a loss that squares the mean: there is a mixture of any two functions for which that is 0."""

    def with_some(squared: float, bent: float) -> float:
        return of(lambda x: np.sin(x) + squared * x**2 + bent * (1.0 - np.cos(x)))  # neither moves the conditions

    squared, bent = with_some(1e-3, 0.0), with_some(0.0, 1e-3)
    for ratio in (squared / bent, np.sqrt(squared / bent)):
        if min(with_some(1e-3, -1e-3 * ratio), with_some(1e-3, 1e-3 * ratio)) < 1e-9 * squared:
            raise NotYet("You square the mean, so errors of both signs cancel. Square first, then take the mean.")


def values_of(solution: Any, x: Any) -> Any:
    """Return what a learner's solution gives at the numbers in x, as an array of that shape."""
    given = call(solution, x, written="solution(x)")
    if given is ...:
        raise StillOpen
    values = numbers(given, "what solution(x) returns")
    if values.shape == (*x.shape, 1):
        values = values[:, 0]
    if values.shape != x.shape:
        raise NotYet(f"For an x of shape {x.shape} it returns the shape {values.shape}. I need one number for each x.")
    if not np.isfinite(values).all():
        raise NotYet("Some of its values are not finite. Find the first step at which that happens, as in chapter 10.")
    return values


def _solution(solution: Any, answer: Any) -> None:
    needs_function(solution, "solution(x)")
    values = values_of(solution, TEST)
    errors = np.abs(values - np.sin(TEST))
    if errors.max() < 1e-12:
        raise NotYet("That is sin(x), to the last digit. Hand in your network; sin(x) is only there to measure it.")
    if np.abs(values).max() < 0.05:
        raise NotYet("The network is 0 everywhere. Does the loss that you trained on include u'(0) = 1?")
    if np.abs(values + np.sin(TEST)).max() < 0.05:
        raise NotYet("That is -sin(x). u'(0) is +1.")
    factor = float(values @ np.sin(TEST) / (np.sin(TEST) @ np.sin(TEST)))
    if errors.max() > 0.05 and np.abs(values - factor * np.sin(TEST)).max() < 0.05 * abs(factor):
        raise NotYet(f"That is {factor:.2g} · sin(x). Is u'(0) = 1 in the loss, and with enough weight?")
    if errors.max() > 0.05:
        raise NotYet(
            f"The largest error is {errors.max():.2g}, at x = {TEST[errors.argmax()]:.2f}. At most 0.05 is asked for. "
            "Is the loss still falling? Train longer, with more units, or with points there."
        )


PLACES = {"inside": TEST, "outside": OUTSIDE}
SWAPPED = (("inside", "outside"), ("outside", "inside"))


def _measured(given: float, differences: Any) -> bool:
    largest = np.abs(differences).max()
    return bool(abs(given - largest) <= 0.1 * largest + 1e-4)


def _errors(errors: Any, answer: Any) -> None:
    needs_dict(errors, '{"inside": 0.01, "outside": 1.0}')
    needs_each(errors, ("inside", "outside"), "No error is given for")
    _solution(answer.get("solution"), answer)  # there is nothing to measure before
    signed = {name: values_of(answer["solution"], x) - np.sin(x) for name, x in PLACES.items()}
    given_of = {name: number(errors[name], f"the error {name}") for name in PLACES}
    if all(_measured(given_of[a], signed[b]) and not _measured(given_of[a], signed[a]) for a, b in SWAPPED):
        raise NotYet("The two have changed places: what you call inside is outside.")
    for name, differences in signed.items():
        given, off = given_of[name], np.abs(differences)
        if _measured(given, differences):
            continue
        if given < 0:
            raise NotYet(f"The error {name} is negative. Take `np.abs` of the differences before the largest.")
        for wrong, hint in (
            (differences.max(), "That's the largest difference with its sign. `np.abs` is missing."),
            (-differences.min(), "That's the largest difference on one side only. `np.abs` is missing."),
            (100.0 * off.max(), "That's in percent. I asked for the distance itself, on the axis of u."),
            (off.mean(), "That's the mean error. I asked for the largest."),
            (np.sqrt((off**2).mean()), "That's the root of the mean square. I asked for the largest error."),
            (np.square(off).max(), "That's the largest square. Take its root."),
        ):
            if wrong > 0 and abs(given - wrong) <= 0.02 * wrong:
                raise NotYet(f"{name}: {hint}")
        if given in (round(float(off.max()), 2), float(f"{off.max():.1g}")):
            raise NotYet(f"{name}: I asked for two significant digits, such as 0.0012 or 1.5.")
        raise NotYet(
            f"For your solution, the largest error {name} is not {given:.2g}. Measure at a few hundred points on "
            f"{'[0, π]' if name == 'inside' else '[π, 2π]'}, also between the trained ones."
        )


MILESTONES = (
    Milestone("second", "`second(u, x)` returns u'' at each number in x. Nest two derivatives.", _second),
    Milestone(
        "loss",
        "`loss(u)` takes a function u, and returns one number: 0 for the solution, and more for what isn't one.",
        _loss,
    ),
    Milestone("solution", "hand in `solution(x)`, your trained network, at most 0.05 away from sin(x).", _solution),
    Milestone("errors", 'measure it, as {"inside": 0.01, "outside": 1.0} with your numbers.', _errors),
)
"""The four milestones of the project."""


def physics(answer: Any) -> str:
    """Check 22.1: the second derivative, the loss, the trained network and its errors."""
    done = reached(answer, MILESTONES, '{"second": second, "loss": loss, ...}')
    inside, outside = (float(number(answer["errors"][name])) for name in ("inside", "outside"))
    more = " Inside it is right, and outside it knows nothing." if outside > 3 * inside else ""
    return f"{done}{more} Now write the report."
