"""The exercises of appendix B, sparse Jacobians: colour a pattern, three products for a band, rows or columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exercises import Case, Choice, Function, Judge, Number, Table, WordAndCount
from ..feedback import NotYet, near, numbers, shorten
from ..predictions import Prediction

PREDICTIONS = (
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
)

ROWS: tuple[tuple[int, ...], ...] = ((0,), (2, 3), (0, 1), (1, 2), (3, 4), (4,))
"""The columns of each row of exercise 1."""


def judge_colours(answer: Any) -> str:
    """Check B.1: any two colours, such that two rows of one colour never share a column."""
    if isinstance(answer, dict) and set(answer) == set(range(len(ROWS))):
        answer = [answer[row] for row in range(len(ROWS))]
    try:
        colours = list(answer.tolist() if hasattr(answer, "tolist") else answer)
    except TypeError:
        raise NotYet(f"I need a list with a colour for each row, and your answer is {shorten(answer)}.") from None
    if any(colour is ... for colour in colours):
        raise NotYet("Replace the three dots: each row needs a colour.")
    is_group = [isinstance(colour, list | tuple | set | dict) or np.size(colour) != 1 for colour in colours]
    if isinstance(answer, set) or any(is_group):
        raise NotYet("These look like groups of rows. Write one colour for each row instead, from row 0 to row 5.")
    colours = [colour.item() if np.size(colour) == 1 and hasattr(colour, "item") else colour for colour in colours]
    for colour in colours:
        if colour is None or colour != colour:
            name = "None" if colour is None else "NaN"
            raise NotYet(f"{name} is not a colour, and every row needs one. Write 0, 1, 2 or more.")
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


COLOURING = Judge(  # any two names of colours are right, so there is no one answer to compare with
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
    check=judge_colours,
    answer=[0, 1, 1, 0, 0, 1],
    spellings=["abbaab", np.array([5, 7, 7, 5, 5, 7])],
    hints=[
        ([0, 0, 1, 2, 1, 0], "That's what greedy colouring takes. You need fewer: start at row 0"),
        ([0, 1, 2, 3, 4, 5], "No two rows of one colour share a column, so 6 products would do it."),
        ([0, 0, 0, 0, 0, 0], "Rows 0 and 2 have the same colour, but both have a number in column 0."),
        ([0, 1, 0, 1, 0], "It's the rows that are coloured, not the columns."),
    ],
    minutes=10,
)


def band(n: int) -> Any:
    """Return where a tridiagonal matrix has numbers."""
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1


def compare_band(n: int) -> Case:
    """Return the case of one size: the matrix that a function makes of what a hidden one brings back."""
    hidden = np.random.default_rng(202 + n).uniform(1.0, 9.0, (n, n)) * band(n)

    def of(tridiagonal: Any) -> Any:
        seeds: list[Any] = []

        def pull_back(seed: Any) -> Any:
            if seed is ...:
                raise NotYet("Replace the three dots: the seed has a one at each row of its colour.")
            given = numbers(seed, "the seed")
            if given.shape != (n,):
                raise NotYet(f"A seed has one number for each of the {n} rows; yours has shape {given.shape}.")
            seeds.append(given)
            return given @ hidden

        found = tridiagonal(pull_back, n)
        matrix = numbers(found.toarray() if hasattr(found, "toarray") else found)
        problem = problem_of(seeds, n, right=near(matrix, hidden))
        if problem and matrix.shape == (n, n):
            raise NotYet(problem)
        return matrix

    return Case(of, lambda found, wanted: difference(found, wanted))


def problem_of(seeds: list[Any], n: int, *, right: bool) -> str:
    """Return a hint for seeds that mix rows which share a column, that leave rows out, or that are more than three."""
    if not seeds:
        return "You didn't call `pull_back`. It's the only way to the numbers."
    for ones in map(np.flatnonzero, seeds):
        close = np.flatnonzero(np.diff(ones) < 3)
        if len(close) and not right:
            first, second = ones[close[0]], ones[close[0] + 1]
            return (
                f"One seed has ones at rows {first} and {second}, which share column {first + 1}. Their numbers are "
                "added up there."
            )
    if len(seeds) > 3:
        enough = "The matrix is right, but three" if right else "Three"
        return f"You pulled {len(seeds)} seeds back for n = {n}. {enough} are enough: rows 0, 3, 6, … can share one."
    missing = np.flatnonzero(np.sum(np.abs(seeds), axis=0) == 0)
    if len(missing) and not right:
        return f"For n = {n}, no seed has a one at row {missing[0]}, so its numbers never come back."
    return ""


def difference(matrix: Any, hidden: Any) -> str:
    """Return a hint for a matrix that differs from the hidden one."""
    n = len(hidden)
    if matrix.shape != hidden.shape:
        return f"I need a matrix of shape ({n}, {n}), and yours has shape {matrix.shape}."
    outside = np.argwhere((matrix != 0) & ~band(n))
    if len(outside):
        row, column = outside[0]
        wrapped = " Index −1 is the last column." if (row, column) == (0, n - 1) else ""
        return (
            f"Row {row} has a number in column {column}, outside the band. It belongs to another row of this colour."
            f"{wrapped}"
        )
    row, column = np.argwhere(~np.isclose(matrix, hidden))[0]
    if matrix[row, column] == 0:
        empty = near(matrix[1:], hidden[1:]) and not matrix[0].any()
        why = (
            ". A slice that starts at -1 is empty."
            if empty
            else (", or has been overwritten by 0. Fill only the rows of this seed's colour.")
        )
        return f"For n = {n}, row {row}, column {column} is still 0{why}"
    return (
        f"For n = {n}, row {row}, column {column} is {hidden[row, column]:.3f}; yours is {matrix[row, column]:.3f}. "
        "Look in the product of the row's colour, at the place of the column."
    )


def by_colours(finish: Callable[[Any], Any] = lambda matrix: matrix, shift: int = 0) -> Callable[..., Any]:
    """Return an answer to exercise 2 that pulls three seeds back, and changes the matrix at last."""

    def tridiagonal(pull_back: Any, n: int) -> Any:
        colours = np.arange(n) % 3
        products = np.stack([pull_back((colours == colour).astype(float)) for colour in range(3)])
        return finish(np.where(band(n), products[(colours + shift) % 3], 0.0))

    return tridiagonal


def past_the_end(pull_back: Any, n: int) -> Any:
    """Fill the matrix, and take a neighbour of the last row that isn't there."""
    matrix = np.zeros((n, n))
    for colour in range(3):
        mixed = pull_back((np.arange(n) % 3 == colour).astype(float))
        for row in range(colour, n, 3):
            for column in (row - 1, row, row + 1):
                matrix[row, column] = mixed[column]
    return matrix


MIRRORED = "You mirrored one side. The matrix needn't be symmetric: read both neighbours from the product."

TRIDIAGONAL = Function(
    "Three products in place of a thousand",
    """\
`pull_back(seed)` returns the seed times an unknown *n* by *n* matrix, which is tridiagonal. It needn't be symmetric. Write `tridiagonal(pull_back, n)`, which returns the whole matrix as an array, from three calls of `pull_back`. NumPy is all you need.""",
    signature="tridiagonal(pull_back, n)",
    cases=[compare_band(n) for n in (8, 10, 3, 9, 1)],
    answer=by_colours(),
    spellings=[by_colours(lambda matrix: matrix.tolist())],
    hints=[
        (
            by_colours(np.zeros_like),
            "The matrix is still all zeros. Put each number of `mixed` into the row that it came from.",
        ),
        (
            by_colours(np.transpose),
            "This is the transpose: the seed chooses rows, and `mixed` runs along the columns.",
        ),
        (by_colours(lambda matrix: np.tril(matrix) + np.tril(matrix, -1).T), MIRRORED),
        (by_colours(lambda matrix: np.triu(matrix) + np.triu(matrix, 1).T), MIRRORED),
        (
            by_colours(lambda matrix: np.diag(np.diag(matrix))),
            "For n = 8, row 0, column 1 is still 0. Each row also has its neighbours' columns.",
        ),
        (
            by_colours(np.tril),
            "For n = 8, row 0, column 1 is still 0. A slice leaves out its end: `r + 2`.",
        ),
        (
            past_the_end,
            "{raised} The first and the last row have one neighbour.",
        ),
        (
            by_colours(shift=1),
            "These numbers are in the rows of another colour. Look in the product of the row's colour.",
        ),
    ],
    why="Three products, whatever the size, and no number has been lost.",
    minutes=10,
)

SAME_WAY = {"rows": "rows", "columns": "columns", "row": "rows", "column": "columns"}
SAME_WAY |= {"reverse": "rows", "backward": "rows", "forward": "columns", "by rows": "rows", "by columns": "columns"}
"""What an answer may call the way."""


def way(name: str, right: str, colours: int, fullest: int, why: str) -> WordAndCount:
    """Return the form for one Jacobian, whose fullest row, or column if columns are right, has `fullest` numbers."""
    line, across = ("row", "column") if right == "rows" else ("column", "row")
    wrong = f"For `{name}`, {right} is right, but not {{given}}"
    enough = f". You need at least as many colours as the fullest *{across}* has numbers, and here that's enough."
    return WordAndCount(
        word=Choice(answer=right, choices=SAME_WAY, hints={f"{across}s": f"Not {across}s for `{name}`: {why}"}),
        count=Number(
            answer=colours,
            hints={fullest: f"{wrong}: that's how many numbers the fullest *{line}* has{enough}"},
            otherwise=f"{wrong}{enough}",
        ),
        called=("the way", "colours"),
    )


@dataclass(frozen=True, eq=False)
class Ways(Table):
    """Such pairs, all of which may be the wrong way round."""

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint for all, or that of the first which is wrong."""
        if all(seen[key][0] != right[key][0] for key in right):
            return (
                "All are the wrong way round. Rows that share no column share a seed; columns that share no row, a "
                "tangent."
            )
        return super().lead_on(given, seen, right, name)


WAYS = Ways(
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
    parts={
        "a": way("a", "columns", 2, 100, "column 0 is full, so any two rows share it. Which columns share a row?"),
        "b": way("b", "rows", 1, 2, "no input is used by two outputs, and each output uses two inputs."),
        "c": way("c", "rows", 2, 100, "the last row is full, so any two columns share it. Which rows share a column?"),
        "d": way(
            "d",
            "columns",
            3,
            100,
            "the matrix is full, so nothing can be shared. Are there fewer rows, or fewer columns?",
        ),
        "e": way(
            "e",
            "rows",
            2,
            4,
            "an output uses up to four inputs; an input is used by at most two outputs, next to each other.",
        ),
    },
    why="A single full row does no harm by rows, and a single full column none by columns. With both, neither way "
    "helps on its own. Otherwise, compare the fullest column with the fullest row: the smaller number is the fewest "
    "passes that you can hope for.",
    minutes=10,
)

QUESTIONS = (*PREDICTIONS, COLOURING, TRIDIAGONAL, WAYS)
