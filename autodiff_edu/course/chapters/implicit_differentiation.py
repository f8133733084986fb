"""Implicit differentiation: Kepler's equation, a layer that feeds itself, and a strength for each reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.rule import runs_code
from ..exercises import Case, Function
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
A planet on an ellipse moves fast near its sun and slowly far away. Kepler found where it is at a given time: solve E − e sin E = M for an angle E that gives its place on the ellipse. M is the share of the year that has passed, as an angle, and e, the *eccentricity*, says how stretched the ellipse is: 0 is a circle, close to 1 is very elongated. Write `backward`, which returns one contribution for M and one for e.""",
    signature="angle(M, e)",
    cases=list_cases((ad.constant(MEAN), ad.constant(ECCENTRICITY)), UPWARD, explain_planet),
    answer=find_planet,
    spellings=[find_planet_once],
    why="No turn of the solver is on the tape. For second derivatives to be right as well, `backward` computes with "
    "`E = angle(M, e)`.",
    minutes=17,
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
                (lambda a: 1 - a, "1 - A subtracts from every element; you need np.eye."),
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
A *deep equilibrium model* (Bai, Kolter and Koltun, 2019) is a network of one layer, applied until its output settles. Here is a small one: `z` is the vector with z = tanh(W z + b). Write `backward(v)`. It returns one contribution for `W`, a matrix, and one for `b`, a vector. The slope of tanh is 1 − tanh², so at the fixed point it is 1 − z².""",
    signature="equilibrium(W, b)",
    cases=list_cases((ad.constant(MATRIX), ad.constant(BIAS)), ARRIVES, explain_layer),
    answer=find_equilibrium,
    why="One u is enough for all the weights, whether you solved for it or repeated u = v + u A.",
    minutes=17,
)

OUTER = np.random.default_rng(193)
READINGS, OTHERS = OUTER.standard_normal((12, 4)), OUTER.standard_normal((9, 4))
DATA = READINGS, OUTER.standard_normal(12), OTHERS, OUTER.standard_normal(9), OUTER.uniform(-1.5, 1.0, 4)


def compute_parts(x: Any, y: Any, other: Any, y_other: Any, s: Any) -> tuple[Any, ...]:
    """Return the inner Hessian, the best weights, the outer gradient there, u, and the strengths."""
    h = 2 * x.T @ x / len(y) + 2 * np.diag(np.exp(s))
    w = np.linalg.solve(h, 2 * x.T @ y / len(y))
    v = 2 * other.T @ (other @ w - y_other) / len(y_other)
    return h, w, v, np.linalg.solve(h, v), np.exp(s)


def make_slopes(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes an answer from these parts."""
    return lambda *data: make(*compute_parts(*data))


def explain_strengths(given: Any, right: Any) -> str:
    """Return the hint for slopes that are wrong in one to three places."""
    if np.shape(given) != np.shape(right):
        return ""
    hessian, w, v, u, p = compute_parts(*DATA)
    s, without = DATA[-1], hessian - 2 * np.diag(p)
    known = find_hints(
        np.asarray(given),
        lambda sign, two, strength, weight, back: sign * two * strength * weight * back,
        [
            [(-1, ""), (1, "The sign is the wrong way round: the theorem has a minus.")],
            [(2, ""), (1, "A factor 2 is missing: the slope of w² is 2w.")],
            [
                (p, ""),
                (1, "That's with respect to the strength. s is its logarithm, so a factor exp(s) is missing."),
                (s, "s is the logarithm of the strength: the strength itself is exp(s)."),
            ],
            [
                (w, ""),
                (
                    w**2,
                    "Differentiate the penalty with respect to w first, and then with respect to s: 2 exp(s) w.",
                ),
                (1, "How the inner gradient changes with s depends on w: 2 exp(s) w."),
            ],
            [
                (u, ""),
                (v, "That uses v in place of u. Solve H u = v."),
                (hessian @ v, "You multiplied by H. Solve H u = v."),
                (1, "That's the change of the inner gradient alone. Multiply it by u, too."),
                (2 * u, "That's twice too much. Did H lose its factor 2, or is there a 2 too many at the end?"),
                (np.linalg.solve(without, v), "Your H has lost the penalty's part, 2 diag(exp(s))."),
                (np.linalg.solve(without + np.diag(p), v), "The penalty's part of H is 2 diag(exp(s)), with a 2."),
            ],
        ],
        3,
    )
    return known or (
        f"For a hidden fit, the first slope is {right[0]:.6g}, and yours is {given[0]:.6g}. Solve H u = v; then "
        f"multiply "
        "-u by how the inner gradient, element by element, changes with s."
    )


ONE_VECTOR = "That solves for one vector, and dw/ds is a matrix, with a column for each strength. Solve H u = v."
OF_LOSS = "That's how the inner loss changes with s. I need how its *gradient* does, times -u."
STRENGTHS = Function(
    "A strength for each reading",
    """\
Now give each of the readings a strength of its own: the inner loss is the mean of (X w − y)², plus the sum of exp(s)·w², where `s` has as many numbers as `w`. Write `strength_slopes(X, y, X_other, y_other, s)`: the gradient of the outer loss, the mean of (X_other w − y_other)² at the best weights `w`, with respect to `s`.

The best weights are given. Use `u`, and how the inner gradient changes with `s`.""",
    signature="strength_slopes(X, y, X_other, y_other, s)",
    cases=[Case(lambda strength_slopes: strength_slopes(*(part.copy() for part in DATA)), explain_strengths)],
    answer=make_slopes(lambda h, w, v, u, p: -2 * p * w * u),
    spellings=[
        make_slopes(lambda h, w, v, u, p: ad.constant(-2 * p * w * u)),
        make_slopes(lambda h, w, v, u, p: np.float32(-2 * p * w * u)),
        make_slopes(lambda h, w, v, u, p: (-np.linalg.inv(h) @ np.diag(2 * p * w)).T @ v),
    ],
    hints=[
        (make_slopes(lambda h, w, v, u, p: u), "That's u. Now pull -u back through the inner gradient, to s."),
        (
            make_slopes(lambda h, w, v, u, p: -u),
            "That's -u. Multiply it by how the inner gradient changes with s: 2 exp(s) w.",
        ),
        (
            make_slopes(lambda h, w, v, u, p: v),
            "That's v, how the outer loss changes with w. How does w change with s?",
        ),
        (
            make_slopes(lambda h, w, v, u, p: -v),
            "That's -v, and v is how the outer loss changes with w. How does w change with s?",
        ),
        (
            make_slopes(lambda h, w, v, u, p: w),
            "These are the weights. I need how the outer loss changes with each s.",
        ),
        (make_slopes(lambda h, w, v, u, p: p * w**2), OF_LOSS),
        (make_slopes(lambda h, w, v, u, p: -p * w**2), OF_LOSS),
        (make_slopes(lambda h, w, v, u, p: np.linalg.solve(h, 2 * p * w)), ONE_VECTOR),
        (make_slopes(lambda h, w, v, u, p: -np.linalg.solve(h, 2 * p * w)), ONE_VECTOR),
        (make_slopes(lambda h, w, v, u, p: np.linalg.solve(h, 2 * p * w) * v), ONE_VECTOR),
        (make_slopes(lambda h, w, v, u, p: -np.linalg.solve(h, 2 * p * w) * v), ONE_VECTOR),
        (
            make_slopes(lambda h, w, v, u, p: np.sum(-2 * p * w * u)),
            "That's one number. I need a slope for each element of s.",
        ),
        (
            make_slopes(lambda h, w, v, u, p: -np.linalg.inv(h) @ np.diag(2 * p * w)),
            "That's dw/ds, of shape (4, 4). I need one slope for each of 4 strengths: multiply it by v from the left.",
        ),
        (
            make_slopes(lambda h, w, v, u, p: -2 * p * w * (np.linalg.inv(h) * v)),
            "I need one slope for each of 4 strengths, and got the shape (4, 4). `inv(H) * v` multiplies element by "
            "element: write `inv(H) @ v`, or solve H u = v.",
        ),
    ],
    why="If you used u, one linear system was enough for all the strengths: eight of them, or a thousand.",
    minutes=16,
)

QUESTIONS = (*PREDICTIONS, PLANET, LAYER, STRENGTHS)
