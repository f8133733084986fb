"""What goes wrong in the exercises of chapter 19: slips with their hints, alone or two and three at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..feedback import near

Part = Sequence[tuple[Any, str]]
"""What can stand in one place of an answer, each with its hint; the right thing comes first, with ""."""


def hints_for(given: Any, made_of: Callable[..., Any], parts: Sequence[Part], most: int = 2) -> str:
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
    >>> hints_for(-3.0, lambda *both: 3.0 * both[0] * both[1], [sign, factor])
    'The sign. A factor 2 is missing.'
    >>> hints_for(7.0, lambda *both: 3.0 * both[0] * both[1], [sign, factor])
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


# 19.1: Kepler's equation ----------------------------------------------------------------------------------------------


def hint_for_kepler(given: Any, mean: float, e: float, angle: float, v: float) -> str:
    """Return the hint for two wrong contributions to Kepler's equation, or "" if there is none.

    Parameters
    ----------
    given : sequence of array
        What was handed in: the contribution for M, and the one for e.
    mean, e, angle, v : float
        M, e, the solution E, and the cotangent.
    """
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

    right = both(1, v, 1 - e * cosine, sine)
    changed = "The two have changed places: the contribution for M comes first."
    if _same(given, right[::-1]):
        return changed
    of_mean = sign("∂g/∂M is -1, and the theorem has a minus too."), upward, divisor
    of_e = sign("∂g/∂e is -sin E, and the theorem has a minus."), upward, divisor, across
    if near(given[0], right[0]):
        about = hints_for(given[1], one, of_e, 3) or "Multiply the cotangent by -∂g/∂e, and divide by ∂g/∂E, at E."
        return f"The contribution for M is right, the one for e isn't. {about}"
    if near(given[1], right[1]):
        about = hints_for(given[0], one, of_mean, 3) or "Multiply the cotangent by -∂g/∂M, and divide by ∂g/∂E."
        return f"The contribution for e is right, the one for M isn't. {about}"
    signs = sign("Both signs are the wrong way round: ∂g/∂M is -1, and the theorem has a minus too.")
    if about := hints_for(given, both, (signs, upward, divisor, across), 3):
        return about
    if about := hints_for(given[::-1], both, (signs, upward, divisor, across)):
        return f"{changed} {about}"
    hints = hints_for(given[0], one, of_mean), hints_for(given[1], one, of_e)
    return f"For M: {hints[0]} For e: {hints[1]}" if all(hints) else ""


# 19.2: a layer that feeds itself --------------------------------------------------------------------------------------


def hint_for_layer(given: Any, w: Any, z: Any, v: Any) -> str:
    """Return the hint for wrong contributions to a layer z = tanh(W z + b), or "" if there is none.

    Parameters
    ----------
    given : sequence of array
        What was handed in: the contribution for W, and the one for b.
    w, z, v : array
        The matrix, the fixed point, and the cotangent.
    """
    one = np.eye(len(z))

    def made_of(sign: Any, slope: Any, a: Any, less: Any, turn: Any, find: Any, arrives: Any, through: Any) -> Any:
        u = find(turn(less(a(slope))), arrives)
        inside = sign * through(slope, u)
        return np.outer(inside, z), inside

    return hints_for(
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


# 19.3: a strength for each reading ------------------------------------------------------------------------------------


def hint_for_strengths(given: Any, hessian: Any, w: Any, v: Any, s: Any) -> str:
    """Return the hint for wrong slopes with respect to the logarithms of strengths, or "" if there is none.

    Parameters
    ----------
    given : array
        What was handed in.
    hessian, w, v, s : array
        The inner Hessian, the best weights, the outer gradient there, and the logarithms.
    """
    p = np.exp(s)
    u, without = np.linalg.solve(hessian, v), hessian - 2 * np.diag(p)
    moved = np.linalg.solve(hessian, 2 * p * w)
    one_vector = "That solves for one vector, and dw/ds is a matrix, with a column for each strength. Solve H u = v."
    of_loss = "That's how the inner loss changes with s. I need how its *gradient* does, times -u."
    whole = [
        (u, "That's u. Now pull -u back through the inner gradient, to s."),
        (-u, "That's -u. Multiply it by how the inner gradient changes with s: 2 exp(s) w."),
        (v, "That's v, how the outer loss changes with w. How does w change with s?"),
        (-v, "That's -v, and v is how the outer loss changes with w. How does w change with s?"),
        (w, "These are the weights. I need how the outer loss changes with each s."),
        (p * w**2, of_loss),
        (-p * w**2, of_loss),
        *((sign * part, one_vector) for part in (moved, moved * v) for sign in (1, -1)),
    ]
    for wrong, hint in whole:
        if near(given, wrong):
            return hint
    return hints_for(
        given,
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
