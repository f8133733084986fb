"""Curvature: trainings that have stopped, the largest learning rate from products, and conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "At (0, 0), for which of x² + y², x² − y² and −x² − y² is the gradient 0?",
        answer="for all three",
        choices=("for the first", "for the first and the last", "for all three"),
        hints={
            "for the first": "The slopes of −x² − y² are −2x and −2y. What are they at (0, 0)?",
            "for the first and the last": "The slopes of x² − y² are 2x and −2y. What are they at (0, 0)?",
        },
        why="Their slopes are ±2x and ±2y, all 0 at the origin. What differs is how these change.",
    ),
    Prediction(
        "With the seed (1, 1), what is the first number that `outer.gradient` returns?",
        answer=1602,
        hints={
            1202: "That's with the seed (1, 0), which chooses one row. (1, 1) adds both rows up.",
            600: "That's the second number.",
            -404: "That's the gradient itself. It is the *target* now.",
            -604: "That's the sum of the two slopes. Its own slopes are asked for.",
            2202: "That's the sum of all four numbers. (1, 1) times H has two: one for each column.",
        },
        why="(1, 1) times H is the sum of its rows, 1202 + 400 and 400 + 200. H is symmetric, so it's that of the columns.",
    ),
    Prediction(
        "A gradient takes 20 steps here. How many does one product take, with 2,000 parameters?",
        answer="60 to 80",
        choices=("60 to 80", "about 2,000", "about 40,000"),
        hints={
            "about 2,000": "Does a pass back take longer, in steps, if an array is longer?",
            "about 40,000": "That's a gradient for each parameter, enough for the whole of H. One product pulls back one seed.",
        },
        why="The gradient is recorded and passed once more, whatever the length of its arrays.",
    ),
    Prediction(
        "We're stuck at 0. What will the curvatures along five random directions be?",
        answer="some above 0, some below",
        choices=("all above 0", "all 0", "some above 0, some below"),
        hints={
            "all above 0": "Then it might be a minimum. Would an answer of 0.01 · t fit the sine worse than 0?",
            "all 0": "The slopes are 0. Do they stay 0 if several parameters move at once?",
        },
        why="If both halves of the parameters move, the network's answer comes nearer to the sine or goes away from it, depending on their signs.",
    ),
    Prediction(
        "Two trainings begin 0.01 from the saddle, one along the way out and one in the opposite direction. Which gets away?",
        answer="both",
        choices=("both", "only the first", "only the second"),
        hints={
            "only the first": "On this line through the saddle, the curvature is below 0. What does a parabola look like that is open downwards?",
            "only the second": "On this line through the saddle, the curvature is below 0. What does a parabola look like that is open downwards?",
        },
        why="A curvature is the same in both directions of a line. From the top of a hill, both lead down.",
    ),
    Prediction(
        "How many steps will conjugate gradients take to the lowest point, in two dimensions?",
        answer=2,
        hints={
            1: "The first direction is that of steepest descent, which misses the lowest point.",
            3: "How many directions does a plane have that don't spoil each other's work?",
            4: "How many directions does a plane have that don't spoil each other's work?",
        },
        why="After the first step, one direction is left that doesn't spoil it, and the lowest point is on that line.",
    ),
    Prediction(
        "J is the Jacobian of `field`, with the rows (0, 1) and (−1, 0), and v is (1, 0). Are v J and J v the same?",
        answer="no, opposite signs",
        choices=("yes", "no, opposite signs", "no, one of them is 0"),
        hints={
            "yes": "v J is the first row. And J v?",
            "no, one of them is 0": "v J is the first row, and J v the first column.",
        },
        why="v J is the first row, (0, 1), and J v the first column, (0, −1).",
    ),
)


def verdict(answer: str, **hints: str) -> Choice:
    """Return the form for one training of exercise 1; in the names of hints, an underscore is a space."""
    choices = ("minimum", "saddle", "not there", "unknown")
    return Choice(answer=answer, choices=choices, hints={name.replace("_", " "): hint for name, hint in hints.items()})


VERDICTS = Table(
    "Has it arrived?",
    """\
Five trainings of a smooth loss have stopped moving. What was measured at each? Answer `"minimum"`, `"saddle"`, `"not there"` (the gradient isn't 0), or `"unknown"` (what was measured can't tell).

| | length of the gradient | curvatures |
|---|---|---|
| a | 0.3, with a learning rate of 0.00001 | the lowest is 0.2 |
| b | 0.00000001 | along one direction −0.4, along another 0.7 |
| c | 0.00000001 | the lowest, by the power method, is 0.05 |
| d | 0.00000001 | along five random directions of a thousand parameters: 0.9, 1.1, 0.8, 1.0, 1.2 |
| e | 0.00000001 | the lowest, by the power method, is 0.00000000000000003 |""",
    parts={
        "a": verdict(
            "not there",
            minimum="In a, is the slope 0? Look at the rate.",
            saddle="In a, no curvature is below 0, and the slope isn't 0.",
            unknown="In a, the gradient alone tells.",
        ),
        "b": verdict(
            "saddle",
            minimum="In b, the loss falls along one direction, on both sides.",
            unknown="In b, the loss rises along one direction and falls along the other. That's enough.",
            not_there="In b, the slope is 0 up to rounding.",
        ),
        "c": verdict(
            "minimum",
            saddle="In c, even the lowest curvature is above 0.",
            unknown="In c, the *lowest* of all was found.",
            not_there="In c, the slope is 0 up to rounding.",
        ),
        "d": verdict(
            "unknown",
            minimum="In d, five directions were tried, and there are a thousand. Is each of the others above 0, too?",
            saddle="In d, nothing below 0 was found.",
            not_there="In d, the slope is 0 up to rounding.",
        ),
        "e": verdict(
            "unknown",
            minimum="In e, the lowest is 0 up to rounding. So it is for x² + y⁴, and for x² − y⁴.",
            saddle="In e, the lowest is 0 up to rounding, not below it.",
            not_there="In e, the slope is 0 up to rounding.",
        ),
    },
    why="Two directions prove a saddle, one up and one down. To prove a minimum, the lowest curvature has to be clearly above 0.",
    minutes=6,
)

TURNED, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((6, 6)))
SPECTRA = ([0.3, 0.8, 1.0, 1.2, 1.9, 2.5], [0.5, 1.0, 2.0, 4.0, 8.0, 16.0])


def ask_for_rate(spectrum: list[float]) -> Callable[[Callable[..., Any]], Any]:
    """Return what asks a learner's function for the largest rate at a minimum with these curvatures."""
    matrix = TURNED @ np.diag(spectrum) @ TURNED.T

    def ask(find_rate: Callable[..., Any]) -> Any:
        return find_rate(lambda v: matrix @ v, np.arange(1.0, 7.0))

    return ask


def find_lowest(product: Any, v: Any) -> Any:
    """Return the lowest curvature, from the whole matrix."""
    return np.linalg.eigvalsh(np.stack([product(row) for row in np.eye(len(v))]))[0]


def powers(
    step: Callable[..., Any] = lambda product, v: product(v),
    scale: Any = np.linalg.norm,
    curvature: Any = lambda v, product: v @ product(v),
    rate: Any = lambda curvature: 2.0 / curvature,
) -> Any:
    """Return a power method with this step and scale, and the rate that it finds."""

    def find_rate(product: Any, v: Any) -> Any:
        for _ in range(200):
            v = step(product, v)
            v = v / scale(v)
        return rate(curvature(v, product))

    return find_rate


RATE = Function(
    "The largest learning rate",
    """\
Near a minimum, look along a direction with curvature λ. A turn of descent with rate r multiplies the distance from the minimum by 1 − r λ. If the size of this factor is above 1 along any direction, the training diverges.

Write `find_rate(product, v)`: it returns the largest rate at which no factor is above 1 in size. All you have of the Hessian is `product(v)`, which is H times v. Its curvatures are all above 0. Begin with the `v` that is handed in, and do 200 turns.""",
    signature="find_rate(product, v)",
    cases=[
        Case(
            ask_for_rate(spectrum),
            f"For a matrix with the curvatures {', '.join(map('{:g}'.format, spectrum))}, the largest rate is {{answer}}; "
            "yours is {given}.",
            within=1e-4,
        )
        for spectrum in SPECTRA
    ],
    answer=powers(),
    spellings=[
        powers(scale=lambda v: np.max(np.abs(v)), curvature=lambda v, product: v @ product(v) / (v @ v)),
        powers(curvature=lambda v, product: np.linalg.norm(product(v))),
        lambda product, v: ad.constant(powers()(product, v)),
    ],
    hints=[
        (
            powers(rate=lambda curvature: 1.0 / curvature),
            "At that rate the factor along the steepest direction is 0. It may go on to −1: solve 1 − r λ = −1.",
        ),
        (
            powers(rate=lambda curvature: curvature),
            "That's the highest curvature. For which rate r is 1 − r λ equal to −1?",
        ),
        (
            powers(rate=lambda curvature: curvature / 2.0),
            "Your rate grows with the curvature. Solve 1 − r λ = −1 for r.",
        ),
        (
            lambda product, v: 2.0 / find_lowest(product, v),
            "That's the limit along the direction that curves *least*. One factor above 1 is enough to diverge: which "
            "direction is the first to get there as the rate grows?",
        ),
        (
            lambda product, v: 1.0 / find_lowest(product, v),
            "You ask for the lowest curvature. Which direction is the first whose factor leaves −1 to 1 as the rate "
            "grows?",
        ),
        (
            powers(scale=lambda v: 1.0),
            "Your v grows in each turn. Scale it to length 1 again: `v = v / np.linalg.norm(v)`.",
        ),
        (
            powers(scale=lambda v: np.linalg.norm(v) ** 2),
            "Scale by the length, not by its square: after that v has length 1.",
        ),
        (
            powers(lambda product, v: product(v) / np.linalg.norm(v), scale=lambda v: 1.0),
            "You divide by the length that v had before it was multiplied. Divide by the length of the product.",
        ),
        (
            powers(lambda product, v: v),
            "Your v stays as it began. Multiply by H in each turn: `v = product(v)`.",
        ),
        (
            powers(curvature=lambda v, product: v, rate=lambda v: v),
            "That's the direction. The curvature along it is one number, `v @ product(v)`.",
        ),
        (
            powers(scale=lambda v: np.max(np.abs(v))),
            "Your direction is right, and its length isn't 1, so v · H v isn't the curvature yet: divide by `v @ v`, or "
            "by the length in each turn.",
        ),
    ],
    why="The direction that curves most sets the limit, 2 divided by its curvature.",
    minutes=8,
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

Solve both equations for the unknown. All you need is `along`, which is H times the direction. In *n* turns the method arrives, up to rounding, if the eigenvalues of H are above 0.""",
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

QUESTIONS = (*PREDICTIONS, VERDICTS, RATE, CONJUGATE)
