"""The exercises of appendix B, sparse Jacobians: sets along a tape, three products for a band, rows or columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..exercises import Case, Choice, Function, Number, Table, WordAndCount
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
        "Sets go through `wire_forces`. Which inputs will the first row, the force on bead 0, have?",
        answer="0, 1 and 2",
        choices=("0 and 1", "0, 1 and 2", "all six"),
        hints={
            "0 and 1": "That's the cord. How far does the bending of the wire reach?",
            "all six": "A set takes in only what is computed from. What goes into the first force?",
        },
        why="The bend at bead 1 is made from the beads 0, 1 and 2, and it pulls on bead 0.",
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

ENTRIES = (
    [("a", ["x0", "x1"]), ("b", ["a", "two"]), ("c", ["x2"]), ("d", ["a", "a"]), ("e", ["b", "c"]), ("f", ["a", "x3"])],
    [("k", ["two", "three"]), ("p", ["k", "x0"]), ("q", ["p", "p", "x2"]), ("r", ["x1"]), ("s", ["r", "k"])],
)
"""Two tapes of exercise 1."""
SOURCES = ["x0", "x1", "x2", "x3"]


def reach_of(entries: Any, sources: Any) -> list[set[str]]:
    """Return the sources that each entry depends on."""
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = set().union(*(sets.get(given, set()) for given in inputs))
    return [sets[name] for name, _ in entries]


def reach_by(entries: Any, sources: Any, start: Any = None, constant: Any = None) -> list[set[str]]:
    """Return the same with other sets for the sources, or for a constant."""
    sets = {name: {name} if start is None else start(name) for name in sources}
    for name, inputs in entries:
        sets[name] = set().union(*(sets[i] if i in sets or constant is None else constant(i) for i in inputs))
    return [sets[name] for name, _ in entries]


def reach_in_place(entries: Any, sources: Any) -> list[set[str]]:
    """Return the sets of which the first input's has been changed in place."""
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        found = sets.setdefault(inputs[0], set())
        for given in inputs[1:]:
            found |= sets.get(given, set())
        sets[name] = found
    return [sets[name] for name, _ in entries]


def reach_with_names(entries: Any, sources: Any, own: bool = False) -> list[set[str]]:
    """Return the names of entries, too."""
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = set().union(*(sets.get(given, set()) for given in inputs), {name} if own else inputs)
    return [sets[name] for name, _ in entries]


def reach_common(entries: Any, sources: Any) -> list[set[str]]:
    """Return the sources that all the inputs have in common."""
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = set.intersection(*(sets.get(given, set()) for given in inputs))
    return [sets[name] for name, _ in entries]


def read_reach(reach: Callable[..., Any], entries: Any) -> list[list[str]]:
    """Return what is said of one tape, with a sorted list for each set."""
    given = reach([(name, list(inputs)) for name, inputs in entries], list(SOURCES))
    if isinstance(given, dict):
        raise NotYet("Your function returns a dict. Return a list, with one set for each entry, in their order.")
    if given is ...:
        raise NotYet("Replace the three dots: what reach returns is still missing.")
    if given is None:
        raise NotYet("Your function returns None. Is a `return` missing?")
    if not isinstance(given, list | tuple):
        raise NotYet(f"Your function returns {shorten(given)}. I need a list, with one set for each entry.")
    if len(given) != len(entries):
        raise NotYet(f"For {len(entries)} entries, I need {len(entries)} sets, and got {len(given)}.")
    for entry, found in zip(entries, given, strict=True):
        if not isinstance(found, set | frozenset | list | tuple):
            raise NotYet(f"I need a set for each entry; for `{entry[0]}` your function has {shorten(found)}.")
    return [sorted(map(str, set(found))) for found in given]


def explain_reach(entries: Any) -> Callable[[Any, Any], str]:
    """Return what writes a hint for the first set that is wrong."""

    def explain(found: Any, wanted: Any) -> str:
        place = next(k for k, (one, other) in enumerate(zip(found, wanted, strict=True)) if one != other)
        name, inputs = entries[place]
        said, right = ("{" + ", ".join(names) + "}" for names in (found[place], wanted[place]))
        return (
            f"`{name}` is computed from {' and '.join(f'`{given}`' for given in inputs)}, so its set is {right}; yours is "
            f"{said}."
        )

    return explain


REACH = Function(
    "Which inputs can be to blame?",
    """\
A program has returned NaN in one place, and you'd like to know which of its inputs can be to blame. You have its tape, a list of entries in the order of the run. Each is a pair: a name, and the list of the names that it was computed from. A name that is neither a source nor computed by an entry is a constant.

Write `reach(entries, sources)`, where `sources` is a list of names. It returns a list with one set for each entry: the sources that it was computed from, directly or through other entries. For `[("a", ["x", "two"]), ("b", ["a", "y"])]` and the sources `["x", "y"]`, that's `[{"x"}, {"x", "y"}]`. No name is computed twice.""",
    signature="reach(entries, sources)",
    cases=[Case(partial(read_reach, entries=entries), explain_reach(entries)) for entries in ENTRIES],
    answer=reach_of,
    spellings=[lambda entries, sources: tuple(map(frozenset, reach_of(entries, sources)))],
    hints=[
        (
            lambda entries, sources: [set(inputs) & set(sources) for _, inputs in entries],
            "You take only what an entry uses directly. `b` is computed from `a`, and so from all that `a` was computed "
            "from. Go from the first entry to the last, and keep the set of each.",
        ),
        (
            lambda entries, sources: [set(inputs) for _, inputs in entries],
            "Those are the names that each entry was computed from. Go on from each of them to its own set, back to the "
            "sources.",
        ),
        (
            reach_in_place,
            "A set changes after it was finished: `|=` and `update` change the set of an earlier name, too. Make a new set "
            "for each entry.",
        ),
        (
            lambda entries, sources: reach_by(entries, sources, start=lambda name: set(), constant=lambda name: set()),
            "Every set is empty. What does a source depend on? On itself.",
        ),
        (
            lambda entries, sources: reach_by(entries, sources, constant=lambda name: {name}),
            "You count constants as sources. The set of a constant is empty.",
        ),
        (
            lambda entries, sources: reach_by(entries, sources),
            "{raised} A name without a set is a constant. Its set is empty: `sets.get(name, set())`.",
        ),
        (
            lambda entries, sources: reach_by(entries, sources, start=set, constant=lambda name: set()),
            '`set("x0")` is a set of the two letters. Write `{name}` for a set that holds one name.',
        ),
        (
            reach_with_names,
            "Your sets also hold names of entries or constants. Only sources belong in them.",
        ),
        (
            lambda entries, sources: [
                found | {name} for found, (name, _) in zip(reach_of(entries, sources), entries, strict=True)
            ],
            "Your sets also hold the names of the entries themselves. Only sources belong in them.",
        ),
        (
            lambda entries, sources: reach_with_names(entries, sources, own=True),
            "Your sets also hold the names of entries. Only sources belong in them.",
        ),
        (
            reach_common,
            "You keep what all inputs have in common. A change of *any* of them arrives: take the union.",
        ),
        (
            lambda entries, sources: [set(sources) for _ in entries],
            "You say that every entry depends on every source. That promises nothing.",
        ),
    ],
    why="That's the whole of a sparsity pattern: a row for each entry that is an output, a column for each source.",
    minutes=8,
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
    minutes=8,
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
    "helps on its own. In general, compare the fullest column with the fullest row: the smaller number is the fewest "
    "passes that you can hope for.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, REACH, TRIDIAGONAL, WAYS)
