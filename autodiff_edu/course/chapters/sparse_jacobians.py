"""The exercises of appendix B, sparse Jacobians: colour a pattern, three products for a band, rows or columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, numbers, shortened, word_and_count
from ..predictions import Prediction

ROWS: tuple[tuple[int, ...], ...] = ((0,), (2, 3), (0, 1), (1, 2), (3, 4), (4,))
"""The columns of each row of B.1."""

WAYS: dict[str, tuple[str, int, str]] = {
    "a": ("columns", 2, "column 0 is full, so any two rows share it. Which columns share a row?"),
    "b": ("rows", 1, "no input is used by two outputs, and each output uses two inputs."),
    "c": ("rows", 2, "the last row is full, so any two columns share it. Which rows share a column?"),
    "d": ("columns", 3, "the matrix is full, so nothing can be shared. Are there fewer rows, or fewer columns?"),
    "e": ("rows", 2, "an output uses up to four inputs; an input is used by at most two outputs, next to each other."),
}
"""For each Jacobian of B.3 the way, the number of colours, and what to look at."""

FULLEST: dict[str, int] = {"a": 100, "b": 2, "c": 100, "d": 100, "e": 4}
"""How many numbers stand in the fullest column, where columns are the better way, and in the fullest row otherwise."""

SAME_WAY = {"rows": "rows", "columns": "columns", "row": "rows", "column": "columns"}
SAME_WAY |= {"reverse": "rows", "backward": "rows", "forward": "columns", "by rows": "rows", "by columns": "columns"}
"""What an answer may call the way."""


def colouring(answer: Any) -> str:
    """Check B.1: any two colours, such that two rows of one colour never share a column."""
    if isinstance(answer, dict) and set(answer) == set(range(len(ROWS))):
        answer = [answer[row] for row in range(len(ROWS))]
    try:
        colours = list(answer.tolist() if hasattr(answer, "tolist") else answer)
    except TypeError:
        raise NotYet(f"I need a list with a colour for each row, and your answer is {shortened(answer)}.") from None
    if any(colour is ... for colour in colours):
        raise NotYet("Replace the three dots: each row needs a colour.")
    if isinstance(answer, set) or any(isinstance(colour, list | tuple | set) for colour in colours):
        raise NotYet("These look like groups of rows. Write one colour for each row instead, from row 0 to row 5.")
    colours = [colour.item() if np.size(colour) == 1 and hasattr(colour, "item") else colour for colour in colours]
    if any(colour is None for colour in colours):
        raise NotYet("None is not a colour, and every row needs one. Write 0, 1, 2 or more.")
    if any(colour != colour for colour in colours):
        raise NotYet("NaN is not a colour: it is never the same as another. Write 0, 1, 2 or more.")
    if len(colours) != len(ROWS):
        raise NotYet(
            f"There are six rows, so I need six colours, and got {len(colours)}."
            + (" It's the rows that are coloured, not the columns." if len(colours) == 5 else "")
        )
    for row, columns in enumerate(ROWS):
        for other in range(row):
            shared = set(columns) & set(ROWS[other])
            if shared and colours[row] == colours[other]:
                raise NotYet(
                    f"Rows {other} and {row} have the same colour, but both have a number in column {min(shared)}. "
                    "There, their sum could not be taken apart."
                )
    if (used := len(set(colours))) > 2:
        greedy = " That's what greedy colouring takes." if used == 3 else ""
        raise NotYet(
            f"No two rows of one colour share a column, so {used} products would do it.{greedy} You need fewer: "
            "start at row 0, go to the row that shares its column, and so on, and take turns."
        )
    return "Two colours. Each row shares a column with the next on the path 0, 2, 3, 1, 4, 5, so they take turns."


def tridiagonal(answer: Any) -> str:
    """Check B.2: the whole matrix from three products, for hidden matrices of several sizes."""
    needs_function(answer, "tridiagonal(pull_back, n)")
    random = np.random.default_rng(202)
    for n in (8, 10, 3, 9, 1):
        hidden = random.uniform(1.0, 9.0, (n, n)) * _band(n)
        _one_matrix(answer, hidden)
    return "Three products, whatever the size, and no number has been lost."


def _band(n: int) -> Any:
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1


def _one_matrix(answer: Callable[..., Any], hidden: Any) -> None:
    n, seeds = len(hidden), []

    def pull_back(seed: Any) -> Any:
        if seed is ...:
            raise NotYet("Replace the three dots: the seed has a one at each row of its colour.")
        given = numbers(seed, "the seed")
        if given.shape != (n,):
            raise NotYet(f"A seed has one number for each of the {n} rows; yours has shape {given.shape}.")
        seeds.append(given)
        return given @ hidden

    try:
        found = call(answer, pull_back, n, written="tridiagonal(pull_back, n)")
    except NotYet as hint:
        if isinstance(hint.__cause__, IndexError):
            raise NotYet(f"{hint} The first and the last row have one neighbour.") from hint
        raise
    if hasattr(found, "toarray"):
        found = found.toarray()
    matrix = numbers(found)
    if matrix.shape != (n, n):
        raise NotYet(f"I need a matrix of shape ({n}, {n}), and yours has shape {matrix.shape}.")
    if not seeds:
        raise NotYet("You didn't call `pull_back`. It's the only way to the numbers.")
    _check_seeds(seeds, n, right=near(matrix, hidden))
    if near(matrix, hidden):
        return
    if not matrix.any():
        raise NotYet("The matrix is still all zeros. Put each number of `mixed` into the row that it came from.")
    if near(matrix, hidden.T):
        raise NotYet("This is the transpose: the seed chooses rows, and `mixed` runs along the columns.")
    outside = np.argwhere((matrix != 0) & ~_band(n))
    if len(outside):
        row, column = outside[0]
        wrapped = " Index −1 is the last column." if (row, column) == (0, n - 1) else ""
        raise NotYet(
            f"Row {row} has a number in column {column}, outside the band. It belongs to another row of this colour."
            f"{wrapped}"
        )
    if any(near(matrix, half + half.T - np.diag(np.diag(half))) for half in (np.tril(hidden), np.triu(hidden))):
        raise NotYet("You mirrored one side. The matrix needn't be symmetric: read both neighbours from the product.")
    row, column = np.argwhere(~np.isclose(matrix, hidden))[0]
    if matrix[row, column] == 0:
        raise NotYet(f"For n = {n}, row {row}, column {column} is still 0{_why_zero(matrix, hidden)}")
    raise NotYet(
        f"For n = {n}, row {row}, column {column} is {hidden[row, column]:.3f}; yours is {matrix[row, column]:.3f}. "
        "Look in the product of the row's colour, at the place of the column."
    )


def _why_zero(matrix: Any, hidden: Any) -> str:
    """Return how numbers of the band were probably missed; the sentence goes on from "is still 0"."""
    before, after = (bool(np.diag(matrix, k).any()) for k in (-1, 1))
    if near(matrix[1:], hidden[1:]) and not matrix[0].any():
        return ". A slice that starts at -1 is empty."
    if not before and not after and near(np.diag(matrix), np.diag(hidden)):
        return ". Each row also has its neighbours' columns."
    if before and not after and near(matrix, np.tril(hidden)):
        return ". A slice leaves out its end: `r + 2`."
    return ", or has been overwritten by 0. Fill only the rows of this seed's colour."


def _check_seeds(seeds: list[Any], n: int, *, right: bool) -> None:
    """Refuse seeds that mix rows which share a column, that leave rows out, or that are more than three."""
    for seed in seeds:
        ones = np.flatnonzero(seed)
        close = np.flatnonzero(np.diff(ones) < 3)
        if len(close) and not right:
            first, second = ones[close[0]], ones[close[0] + 1]
            raise NotYet(
                f"One seed has ones at rows {first} and {second}, which share column {first + 1}. Their numbers are "
                "added up there."
            )
    if len(seeds) > 3:
        raise NotYet(
            f"You pulled {len(seeds)} seeds back for n = {n}. "
            + ("The matrix is right, but three" if right else "Three")
            + " are enough: rows 0, 3, 6, … can share one."
        )
    missing = np.flatnonzero(np.sum(np.abs(seeds), axis=0) == 0)
    if len(missing):
        raise NotYet(f"For n = {n}, no seed has a one at row {missing[0]}, so its numbers never come back.")


def ways(answer: Any) -> str:
    """Check B.3: for five patterns, rows or columns, and the number of colours."""
    needs_dict(answer, '{"a": ("rows", 12), ...}')
    needs_each(answer, "abcde", "Your answer leaves out")
    given = {name: word_and_count(name, answer[name], SAME_WAY, "the way", "colours") for name in WAYS}
    if all(given[name][0] != way for name, (way, _, _) in WAYS.items()):
        raise NotYet(
            "All are the wrong way round. Rows that share no column share a seed; columns that share no row, a tangent."
        )
    for name, (way, colours, hint) in WAYS.items():
        if given[name][0] != way:
            raise NotYet(f"Not {given[name][0]} for {name}: {hint}")
        if given[name][1] != colours:
            line, across = ("row", "column") if way == "rows" else ("column", "row")
            mixed_up = f": that's how many numbers the fullest *{line}* has" if given[name][1] == FULLEST[name] else ""
            raise NotYet(
                f"For {name}, {way} is right, but not {given[name][1]}{mixed_up}. You need at least as many colours as "
                f"the fullest *{across}* has numbers, and here that's enough."
            )
    return (
        "A single full row does no harm by rows, and a single full column none by columns. With both, neither way "
        "helps on its own. Otherwise, compare the fullest column with the fullest row: the smaller number is the "
        "fewest passes that you can hope for."
    )


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "How many walks back does it take to find all the slopes of the six forces?",
        answer=3,
        within=0.0,
        hints={
            6: "That's one for each force. But forces 0 and 3 have no bead in common, so they can share a walk.",
            1: "Forces 0 and 1 both depend on bead 0. One walk for both would add their slopes up.",
            2: "Forces 0 and 2 both depend on bead 1, so from the pattern alone two aren't enough.",
            4: "Forces 0 and 3 can share a walk: they have no bead in common. Which others can?",
            5: "Forces 0 and 3 can share a walk: they have no bead in common. Which others can?",
            16: "That's how many slopes may be nonzero. A walk brings back more than one.",
            36: "That's how many numbers are in the table. A walk brings back a whole row.",
        },
        why="Forces 0 and 3 share a walk, then 1 and 4, then 2 and 5: the two have no bead in common.",
    ),
    Prediction(
        "A thousand beads, and a million elements. How many of them are not 0?",
        answer=2998,
        within=0.0,
        hints={
            3000: "Nearly. The first bead and the last have only one neighbour each.",
            1000: "That's the diagonal. A force also depends on the two neighbours.",
            2000: "That's two in each row. A force depends on its own bead and on how many neighbours?",
            1998: "That's the neighbours alone. A force depends on its own bead, too.",
            2999: "Nearly. Both end beads have only one neighbour.",
            1000000: "Does the force on bead 7 depend on bead 500?",
        },
        why="Three in each row, except the first and the last, which have two.",
    ),
    Prediction(
        "One seed with ones for row 0 and row 3 goes back. How many nonzero numbers come back?",
        answer=5,
        within=0.0,
        hints={
            2: "That's how many ones go back. How many numbers does row 0 have, and how many row 3?",
            3: "That's row 3 alone. Bead 0, at the end, has a row, too.",
            4: "Row 0 has two numbers. How many neighbours does bead 3 have?",
            6: "Bead 0 is at the end, so it has only one neighbour among the beads.",
        },
        why="Two from row 0, three from row 3, and no two of them in the same column.",
    ),
    Prediction(
        "How many seeds does the cord of 1,000 beads need, if you use only the pattern?",
        answer=3,
        within=0.0,
        hints={
            334: "That's how many rows share one seed. How many such groups are there?",
            333: "That's about how many rows share one seed. How many such groups are there?",
            1000: "That's one for each row. Rows 0, 3, 6, … can all share one.",
            500: "That's for rows in pairs. Rows 0, 3, 6, … can all share one.",
            2: "Rows 0 and 2 share column 1, so from the pattern alone two aren't enough.",
        },
        why="Rows 0, 3, 6, … share one, rows 1, 4, 7, … the second, and rows 2, 5, 8, … the third.",
    ),
    Prediction(
        "The seeds are those of the cord. Where does the number go that belongs to row 0, column 2?",
        answer="to row 3, column 2",
        choices=("nowhere: it is left out", "to row 0, column 1", "to row 3, column 2", "to row 2, column 0"),
        hints={
            "nowhere: it is left out": "The function doesn't know the pattern: a seed brings back all of row 0.",
            "to row 0, column 1": "A walk back keeps the columns apart. It's rows that it adds up.",
            "to row 2, column 0": "Rows 0 and 2 have different seeds, so they aren't mixed.",
        },
        why="Rows 0 and 3 share a seed, and in column 2 the pattern knows of row 3 only.",
    ),
    Prediction(
        "Four inputs, four outputs. By rows, two seeds are enough. How many tangents are needed by columns?",
        answer=4,
        within=0.0,
        hints={
            1: "Do columns 0 and 1 share a row?",
            2: "That's so by rows. Look at the last row: which columns have a number there?",
            3: "The last column has a number in the last row, too.",
        },
        why="All four columns have a number in the last row, so no two can share a tangent.",
    ),
    Judge(
        "Colour a pattern",
        """\
Here is the pattern of a Jacobian with six rows and five columns. Write a list with a colour, 0, 1, 2 or more, for each row. Greedy colouring from the top takes three. You can do better.

| | column 0 | 1 | 2 | 3 | 4 |
|---|---|---|---|---|---|
| row 0 | × | | | | |
| row 1 | | | × | × | |
| row 2 | × | × | | | |
| row 3 | | × | × | | |
| row 4 | | | | × | × |
| row 5 | | | | | × |""",
        colouring,
    ),
    Judge(
        "Three products in place of a thousand",
        """\
`pull_back(seed)` returns the seed times an unknown *n* by *n* matrix, which is tridiagonal. It needn't be symmetric. Write `tridiagonal(pull_back, n)`, which returns the whole matrix as an array, from three calls of `pull_back`. NumPy is all you need.""",
        tridiagonal,
    ),
    Judge(
        "Rows or columns, and how many?",
        """\
For each Jacobian, write which way needs fewer passes and how many colours that takes, as in `("rows", 12)`. Numbers are counted from 0.

| | outputs | inputs | output *i* uses |
|---|---|---|---|
| a | 100 | 100 | input *i*, and every output also uses input 0 |
| b | 50 | 100 | inputs 2*i* and 2*i* + 1 |
| c | 100 | 100 | input *i*; the last output uses all inputs |
| d | 100 | 3 | all inputs |
| e | 99 | 198 | inputs 2*i* − 2 to 2*i* + 1, as far as there are such inputs |""",
        ways,
    ),
)
