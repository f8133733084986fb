"""Implicit differentiation: Kepler's equation, five ways to end a solver, and a layer that feeds itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.rule import runs_code
from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet, near, quote
from ..predictions import Prediction

PREDICTIONS = (
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
        why="In the early turns z was further off than in the last, and the turns that weren't run send nothing.",
    ),
    Prediction(
        "The value is right to 11 digits. What will the slope be?",
        answer="too small",
        choices=("right", "too small", "too large", "None"),
        hints={
            "right": "In the player, the last turn sent the most. Was that all?",
            "too large": "In the player, every turn sent something positive. Now only the last one does.",
            "None": "R goes into the last turn, and that turn is recorded.",
        },
        why="Only the last turn's contribution is left, and the earlier ones were positive too.",
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
        "One ball weighs 0.5, another 0.1. Both get heavier by the same tiny bit. Which one sinks by more?",
        answer="the one that weighs 0.1",
        choices=("the one that weighs 0.5", "the one that weighs 0.1", "both equally far"),
        hints={
            "the one that weighs 0.5": "The extra weight has to displace extra water. How wide is the ball at the "
            "waterline, when half of it is under water?",
            "both equally far": "Both have to displace the same extra water. Are they equally wide at the waterline?",
        },
        why="Both have to displace the same extra water, and the lighter ball is narrower at the waterline.",
    ),
    Prediction(
        "The solver took 55 turns for R = 1.5. How many will it take for R = 1.001?",
        answer="about 15,000",
        choices=("fewer", "about 55", "about 1,500", "about 15,000"),
        hints={
            "fewer": "z is smaller, but the solver starts from 1 and creeps down to it. Each turn brings how much?",
            "about 55": "What's left shrinks by the factor ∂f/∂z with each turn. What is it near the kink?",
            "about 1,500": "Each turn moves z by a thousandth of what's left, and that move has to shrink to 10⁻¹².",
        },
        why="Near the kink ∂f/∂z is almost 1, so each turn removes a thousandth of what's left.",
    ),
)


Part = Sequence[tuple[Any, str]]
"""What can stand in one place of an answer, each with its hint; the right thing comes first, with ""."""


def find_hints(given: Any, made_of: Callable[..., Any], parts: Sequence[Part], most: int = 2) -> str:
    """Return the hints for the fewest slips that explain an answer, or "" if none do.

    Parameters
    ----------
    given : object
        A number, an array or a tuple of arrays that was handed in.
    made_of : callable
        Makes an answer from one thing for each part.
    parts : sequence
        What those things can be.
    most : int
        How many slips to try together.

    Examples
    --------
    >>> sign, factor = [(1, ""), (-1, "The sign.")], [(2, ""), (1, "A factor 2 is missing.")]
    >>> find_hints(-3.0, lambda *both: 3.0 * both[0] * both[1], [sign, factor])
    'The sign. A factor 2 is missing.'
    >>> find_hints(7.0, lambda *both: 3.0 * both[0] * both[1], [sign, factor])
    ''
    """
    for count in range(1, most + 1):
        for things in product(*parts):
            hints = [hint for _, hint in things if hint]
            if len(hints) == count and _same(given, made_of(*(thing for thing, _ in things))):
                return " ".join(dict.fromkeys(hints))
    return ""


def _same(given: Any, other: Any) -> bool:
    if isinstance(other, tuple):
        return all(near(one, part) for one, part in zip(given, other, strict=True))
    return near(given, other)


def list_entries(function: Callable[..., Any], arguments: Any) -> Sequence[Any]:
    """Return the entries of a tape that records a function."""
    with ad.GradientTape() as tape:
        tape.watch(arguments)
        function(*arguments)
    return tape.entries


def pull_back(function: Callable[..., Any], arguments: Any, v: Any) -> list[Any]:
    """Return what a function's own `backward` makes of the cotangent v, one array for each argument."""
    with ad.GradientTape() as tape:
        tape.watch(arguments)
        target = np.sum(function(*arguments) * v)
    try:
        return list(tape.gradient(target, arguments))
    except Exception as error:
        said = quote(str(error), 90)
        known = {
            "returned 1 gradient": "Your backward returns one thing, and I need two contributions, with a comma "
            "between them. Is a `return` missing?",
            "If broadcasting has stretched": f"A contribution has the wrong shape: {said}. Each has the shape of its "
            "own argument, and they come in the arguments' order.",
            "ellipsis": "Replace the three dots: what does backward return, one contribution each?",
        }
        otherwise = f"In the backward pass your function raised {type(error).__name__}: {quote(str(error))}."
        raise NotYet(next((hint for part, hint in known.items() if part in str(error)), otherwise)) from error


def list_cases(arguments: Any, v: Any, hint: Callable[[Any, Any], str]) -> list[Case]:
    """Return the cases of a solver with a custom gradient."""
    return [
        Case(
            lambda solver: isinstance(solver(*arguments), tuple),
            "Your function returns a tuple. Write `@ad.custom_gradient` above it.",
        ),
        Case(
            lambda solver: solver(*arguments),
            "The value isn't the solution of the equation. Keep the solver of the template in your function.",
        ),
        Case(
            lambda solver: any(runs_code(entry.operation) for entry in list_entries(solver, arguments)),
            "Here, the tape walks through your solver or finds nothing: your function has no custom gradient. Write "
            "`@ad.custom_gradient` above it.",
        ),
        Case(
            lambda solver: any(part is None for part in pull_back(solver, arguments, v)),
            "Your backward returns None for one of its arguments. Each has a slope: return both contributions.",
        ),
        Case(lambda solver: pull_back(solver, arguments, v), hint),
    ]


MEAN, ECCENTRICITY, UPWARD = 1.2, 0.55, 1.7
"""M, e, and a cotangent other than 1."""


def solve_kepler(mean: Any, e: Any) -> Any:
    """Solve Kepler's equation."""
    angle = mean + e * np.sin(mean)
    for _ in range(30):
        angle = angle - (angle - e * np.sin(angle) - mean) / (1 - e * np.cos(angle))
    return angle


@ad.custom_gradient
def find_planet(mean: Any, e: Any) -> Any:
    """Solve Kepler's equation, with the slopes that the implicit function theorem gives."""

    def backward(v: Any) -> Any:
        angle = find_planet(mean, e)
        u = v / (1 - e * np.cos(angle))
        return u, u * np.sin(angle)

    return solve_kepler(float(mean), float(e)), backward


@ad.custom_gradient
def find_planet_once(mean: Any, e: Any) -> Any:
    """Solve Kepler's equation, with slopes that are plain numbers."""
    angle, e = solve_kepler(float(mean), float(e)), float(e)
    return angle, lambda v: [v / (1 - e * np.cos(angle)) * slope for slope in (1.0, np.sin(angle))]


def explain_planet(given: Any, right: Any) -> str:
    """Return the hint for two wrong contributions: the one for M, and the one for e."""
    mean, e, v, angle = MEAN, ECCENTRICITY, UPWARD, solve_kepler(MEAN, ECCENTRICITY)
    sine, cosine = np.sin(angle), np.cos(angle)
    at_end = "The slopes belong to the place where the solver ended: use E instead of M."
    upward: Part = [(v, ""), (1.0, "That's without the cotangent: in a chain, something other than 1 arrives.")]
    divisor: Part = [
        (1 - e * cosine, ""),
        (1.0, "E also stands inside e sin E, so it moves on both sides. Divide by ∂g/∂E."),
        (1 + e * cosine, "The sign in the divisor: what is the slope of E - e sin E with respect to E?"),
        (1 - cosine, "The divisor lost its e: the slope of e sin E with respect to E is e cos E."),
        (1 - e * sine, "The divisor is a slope, and the slope of sin E is cos E."),
        (1 / (1 - e * cosine), "Divide by ∂g/∂E instead of multiplying by it."),
        (1 - e * np.cos(mean), at_end),
    ]
    across: Part = [
        (sine, ""),
        (cosine, "Differentiate e sin E with respect to e, not E."),
        (e * cosine, "Differentiate e sin E with respect to e, not E."),
        (e * sine, "∂g/∂e is -sin E, without a factor e."),
        (1.0, "It also needs the slope of g with respect to e."),
        (np.sin(mean), at_end),
    ]

    def sign(hint: str) -> Part:
        return [(1, ""), (-1, hint)]

    def one(sign: Any, upward: Any, divisor: Any, across: Any = 1.0) -> Any:
        return sign * upward * across / divisor

    def both(*parts: Any) -> tuple[Any, Any]:
        return one(*parts[:3]), one(*parts)

    changed = "The two have changed places: the contribution for M comes first."
    if _same(given, tuple(right[::-1])):
        return changed
    of_mean = sign("∂g/∂M is -1, and the theorem has a minus too."), upward, divisor
    of_e = sign("∂g/∂e is -sin E, and the theorem has a minus."), upward, divisor, across
    if near(given[0], right[0]):
        about = find_hints(given[1], one, of_e, 3) or "Multiply the cotangent by -∂g/∂e, and divide by ∂g/∂E, at E."
        return f"The contribution for M is right, the one for e isn't. {about}"
    if near(given[1], right[1]):
        about = find_hints(given[0], one, of_mean, 3) or "Multiply the cotangent by -∂g/∂M, and divide by ∂g/∂E."
        return f"The contribution for e is right, the one for M isn't. {about}"
    signs = sign("Both signs are the wrong way round: ∂g/∂M is -1, and the theorem has a minus too.")
    if about := find_hints(given, both, (signs, upward, divisor, across), 3):
        return about
    if about := find_hints(given[::-1], both, (signs, upward, divisor, across)):
        return f"{changed} {about}"
    hints = find_hints(given[0], one, of_mean), find_hints(given[1], one, of_e)
    if all(hints):
        return f"For M: {hints[0]} For e: {hints[1]}"
    return (
        f"For a cotangent of {v}, the contributions are {right[0]:.6f} and {right[1]:.6f}; yours are {given[0]:.6f} "
        f"and {given[1]:.6f}. Differentiate g = E - e sin E - M with respect to E, M and e."
    )


PLANET = Function(
    "Where is the planet?",
    """\
A planet on an ellipse moves fast near its sun and slowly far away. Kepler found where it is at a given time: solve E − e sin E = M for an angle E that gives its place on the ellipse. M is the share of the year that has passed, as an angle, and e, the *eccentricity*, says how stretched the ellipse is: 0 is a circle, close to 1 is very elongated. Write `backward`: with g = E − e sin E − M, it returns one contribution for M and one for e.""",
    signature="angle(M, e)",
    cases=list_cases((ad.constant(MEAN), ad.constant(ECCENTRICITY)), UPWARD, explain_planet),
    answer=find_planet,
    spellings=[find_planet_once],
    why="No turn of the solver is on the tape. For second derivatives to be right as well, begin `backward` with "
    "`E = angle(M, e)`.",
    minutes=8,
)

DRAW = np.random.default_rng(192)
MATRIX, BIAS, ARRIVES = 0.3 * DRAW.standard_normal((4, 4)), DRAW.standard_normal(4), DRAW.uniform(0.5, 2.0, 4)


def settle(w: Any, b: Any) -> Any:
    """Return the vector with z = tanh(W z + b)."""
    z = np.zeros(len(b))
    for _ in range(300):
        z = np.tanh(w @ z + b)
    return z


@ad.custom_gradient
def find_equilibrium(w: Any, b: Any) -> Any:
    """Return the fixed point, with one linear system for its gradient."""
    z, w = settle(ad.stop_gradient(w).numpy(), ad.stop_gradient(b).numpy()), ad.stop_gradient(w).numpy()

    def backward(v: Any) -> Any:
        slope = np.diag(1 - z**2)
        inside = slope @ np.linalg.solve((np.eye(len(z)) - slope @ w).T, v)
        return np.outer(inside, z), inside

    return z, backward


def explain_layer(given: Any, right: Any) -> str:
    """Return the hint for two wrong contributions: the one for W, and the one for b."""
    w, v, z = MATRIX, ARRIVES, settle(MATRIX, BIAS)
    one = np.eye(len(z))

    def made_of(sign: Any, slope: Any, a: Any, less: Any, turn: Any, find: Any, arrives: Any, through: Any) -> Any:
        u = find(turn(less(a(slope))), arrives)
        inside = sign * through(slope, u)
        return np.outer(inside, z), inside

    known = find_hints(
        given,
        made_of,
        [
            [(1, ""), (-1, "Both signs are the wrong way round. A fixed point, z = f, needs no extra minus.")],
            [
                (np.diag(1 - z**2), ""),
                (np.diag(1 - z), "The slope of tanh is 1 - z², with a square."),
                (np.diag(1 - np.tanh(z) ** 2), "z already is the tanh, so the slope is 1 - z², without another tanh."),
            ],
            [
                (lambda slope: slope @ w, ""),
                (lambda slope: w, "In your system, A is W. The slope of tanh belongs to A too: A = D W."),
                (
                    lambda slope: w @ slope,
                    "Your A is W D. The slope of tanh multiplies the rows of W, because tanh comes last: A = D W.",
                ),
            ],
            [
                (lambda a: one - a, ""),
                (lambda a: one + a, "The sign of A: u = v + u A means u (I - A) = v."),
                (lambda a: 1 - a, "1 - A subtracts each element from 1; you need np.eye."),
            ],
            [
                (np.transpose, ""),
                (
                    lambda matrix: matrix,
                    "Going backward, u stands on the left, u (I - A) = v. So transpose the matrix.",
                ),
            ],
            [
                (np.linalg.solve, ""),
                (
                    lambda matrix, v: v,
                    "That's the last turn only, u = v. The z that goes into the turn moves as well: u = v + u A.",
                ),
                (np.matmul, "You multiplied by I - A. The system has to be solved."),
            ],
            [(v, ""), (np.ones(len(z)), "The cotangent v is missing: it is the right-hand side of the system.")],
            [
                (np.matmul, ""),
                (
                    lambda slope, u: u,
                    "u is the cotangent of tanh's result. It still has to go through tanh: multiply by 1 - z².",
                ),
            ],
        ],
    )
    of_w, of_b = map(near, given, right)
    if known:
        return known
    if of_b and near(given[0], right[0].T):
        return "The contribution for b is right, the one for W is transposed: row i belongs to output i."
    if of_b and near(given[0], right[0] / (1 - z[:, None] ** 2)):
        return "The contribution for b is right. For W, u goes through tanh first: use the same vector as for b."
    if of_b:
        return "The contribution for b is right. For W: what multiplies W[i, j] in the turn?"
    if of_w:
        return "The contribution for W is right. For b: b is added, so what arrives at W z + b goes on to it."
    if all(near(*pair, 0.1) for pair in zip(given, right, strict=True)):
        return "That's close, but not settled: solve the system, or repeat u = v + u A more often."
    return (
        f"The first element for b should be {right[1][0]:.6f}, and yours is {given[1][0]:.6f}. First find u, the "
        "cotangent of the turn's result, from u = v + u A; then pull it back through one turn."
    )


LAYER = Function(
    "A layer that feeds itself",
    """\
A *deep equilibrium model* (Bai, Kolter and Koltun, 2019) is a network of one layer, applied until its output settles. Here is a small one: `z` is the vector with z = tanh(W z + b). Its knobs are the matrix `W` and the vector `b`.

Let A be ∂f/∂z, the Jacobian of one turn. The slope of tanh is 1 − tanh², which at the fixed point is 1 − z², so A = D W, where D is the diagonal matrix of these slopes. Going back, let u be all that arrives at `z`: v from outside, and u A from the turn that `z` goes into. So u = v + u A. Find `u`, and pull it back through one turn, tanh(W z + b), to `W` and to `b`.""",
    signature="equilibrium(W, b)",
    cases=list_cases((ad.constant(MATRIX), ad.constant(BIAS)), ARRIVES, explain_layer),
    answer=find_equilibrium,
    why="One u is enough for all the weights, whether you solved for it or repeated u = v + u A.",
    minutes=10,
)


def end(answer: str, **hints: str) -> Choice:
    """Return one of five ways to end a solver."""
    return Choice(choices=("twice", "once", "never"), answer=answer, hints=hints)


ENDS = Table(
    "Five ways to end a solver",
    """\
`solve(k)` finds the number with z = cos(k z) by repeating z = cos(k z), in plain numbers, until it has settled. Five classmates make a function of `k` from it. The value is right in each. Which derivatives at k = 0.8 are right, up to rounding? Answer `"twice"` if the first and the second are, `"once"` if only the first is, `"never"` if not even the first is.

```python
def unrolled(k):
    z = 0.5
    for _ in range(200):
        z = np.cos(k * z)
    return z

def one(k):
    return np.cos(k * solve(float(k)))

def newton(k):
    z = solve(float(k))
    return z - (z - np.cos(k * z)) / (1.0 + k * np.sin(k * z))

def hundred(k):
    z = solve(float(k))
    for _ in range(100):
        z = np.cos(k * z)
    return z

@ad.custom_gradient
def theorem(k):
    z = solve(float(k))
    def backward(v):
        sine = np.sin(k * z)
        return -v * z * sine / (1.0 + k * sine)
    return z, backward
```""",
    called="answer",
    parts={
        "unrolled": end(
            "twice",
            once="Everything in `unrolled` is an operation on the tape. What could the second derivative miss?",
            never="The first turns of `unrolled` are far off. How much of their error is left after 200 turns?",
        ),
        "one": end(
            "never",
            twice="In `one`, through which z does k reach the result, and which z is a plain number?",
            once="In `one`, the z that goes into the turn is a plain number. Does it change with k?",
        ),
        "newton": end(
            "once",
            twice="What Newton's turn returns doesn't depend on its start, to first order. And to second order?",
            never="`newton` also records one turn only. What is the slope of that turn with respect to its z?",
        ),
        "hundred": end(
            "twice",
            once="`hundred` starts from a plain number, but then goes on. What is left of the start's part after a "
            "hundred turns?",
            never="`hundred` leaves the solver's own turns out, and records others. How much is qⁿ for n = 100?",
        ),
        "theorem": end(
            "once",
            twice="An outer tape differentiates what `backward` computes. Does its z know that it depends on k?",
            never="Divide the slope of the turn with respect to k by 1 minus its slope with respect to z, and compare.",
        ),
    },
    why="A solver needn't be recorded. But where its plain z still counts, a derivative goes wrong: the first in `one`, "
    "the second in `newton` and `theorem`.",
    minutes=7,
)

QUESTIONS = (*PREDICTIONS, PLANET, ENDS, LAYER)
