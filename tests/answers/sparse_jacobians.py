"""Answers to the exercises of sparse-jacobians."""

import numpy as np

from autodiff_edu.transforms.sparse_matrix import SparseMatrix


def band(n):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1


def by_loops(pull_back, n):
    matrix = np.zeros((n, n))
    for colour in range(3):
        seed = [1.0 if row % 3 == colour else 0.0 for row in range(n)]
        mixed = pull_back(seed)
        for column in range(n):
            for row in (column - 1, column, column + 1):
                if 0 <= row < n and row % 3 == colour:
                    matrix[row, column] = mixed[column]
    return matrix


def at_once(pull_back, n):
    colours = np.arange(n) % 3
    products = np.stack([pull_back((colours == colour).astype(float)) for colour in range(3)])
    return np.where(band(n), products[colours], 0.0)


def as_sparse(pull_back, n):
    rows, columns = band(n).nonzero()
    return SparseMatrix(by_loops(pull_back, n)[rows, columns], rows, columns, (n, n))


def with_few_rows(pull_back, n):
    """Pull no more seeds back than there are rows."""
    colours, products = np.arange(n) % 3, np.zeros((3, n))
    for colour in range(min(3, n)):
        products[colour] = pull_back((colours == colour) * 2) / 2
    return np.where(band(n), products[colours], 0.0)


def one_by_one(pull_back, n):
    return np.stack([pull_back(seed) for seed in np.eye(n)])


def of_colours(count, place=lambda products, colours, n: np.where(band(n), products[colours], 0.0)):
    def answer(pull_back, n):
        colours = np.arange(n) % count
        products = np.stack([pull_back((colours == colour).astype(float)) for colour in range(count)])
        return place(products, colours, n)

    return answer


def three_one_hot(pull_back, n):
    matrix = np.zeros((n, n))
    for row in range(min(3, n)):
        matrix[row] = pull_back(np.eye(n)[row])
    return matrix


def without_ends(pull_back, n):
    full = by_loops(pull_back, n)
    full[-1, -2:] = 0.0
    return full


def with_an_empty_slice(pull_back, n):
    full, matrix = by_loops(pull_back, n), np.zeros((n, n))
    for row in range(n):
        matrix[row, row - 1 : row + 2] = full[row, row - 1 : row + 2]
    return matrix


def only(first, last):
    """Fill only some of the three diagonals."""

    def answer(pull_back, n):
        full = by_loops(pull_back, n)
        return np.triu(np.tril(full, last), first)

    return answer


def past_the_end(pull_back, n):
    matrix = np.zeros((n, n))
    for colour in range(3):
        mixed = pull_back((np.arange(n) % 3 == colour).astype(float))
        for row in range(colour, n, 3):
            matrix[row, row] = mixed[row]
            matrix[row, row - 1] = mixed[row - 1]
            matrix[row, row + 1] = mixed[row + 1]
    return matrix


def wrapping_round(pull_back, n):
    matrix = np.zeros((n, n))
    for colour in range(3):
        mixed = pull_back((np.arange(n) % 3 == colour).astype(float))
        for row in range(colour, n, 3):
            for column in (row - 1, row, min(row + 1, n - 1)):
                matrix[row, column] = mixed[column]
    return matrix


def overwritten(pull_back, n):
    matrix = np.zeros((n, n))
    for colour in range(3):
        product = pull_back((np.arange(n) % 3 == colour).astype(float))
        for row in range(n):
            near = slice(max(row - 1, 0), row + 2)
            matrix[row, near] = product[near] * (row % 3 == colour)
    return matrix


def mirrored(pull_back, n):
    matrix = np.triu(by_loops(pull_back, n))
    return matrix + matrix.T - np.diag(np.diag(matrix))


def template(pull_back, n):
    for _ in range(3):
        pull_back(...)
    return np.zeros((n, n))


def seeds_alone(pull_back, n):
    for colour in range(3):
        pull_back((np.arange(n) % 3 == colour).astype(float))
    return np.zeros((n, n))


def raising(pull_back, n):
    return pull_back(np.ones(n)) @ np.ones(n + 1)


def reach(entries, sources):
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = set().union(*(sets.get(given, set()) for given in inputs))
    return [sets[name] for name, _ in entries]


def by_recursion(entries, sources):
    made = dict(entries)

    def of(name):
        return {name} if name in sources else {found for given in made.get(name, ()) for found in of(given)}

    return [of(name) for name, _ in entries]


def by_rows_of_a_matrix(entries, sources):
    rows = {name: np.eye(len(sources), dtype=bool)[k] for k, name in enumerate(sources)}
    for name, inputs in entries:
        rows[name] = np.any([rows.get(given, np.zeros(len(sources), bool)) for given in inputs], axis=0)
    return [{source for source, found in zip(sources, rows[name], strict=True) if found} for name, _ in entries]


def in_place(entries, sources):
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = sets.setdefault(inputs[0], set())
        for given in inputs[1:]:
            sets[name].update(sets.get(given, set()))
    return [sets[name] for name, _ in entries]


def without_constants(entries, sources):
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = set()
        for given in inputs:
            sets[name] |= sets[given]
    return list(sets.values())[len(sources) :]


def with_constants(entries, sources):
    sets = {name: {name} for name in sources}
    for name, inputs in entries:
        sets[name] = set().union(*(sets.get(given, {given}) for given in inputs))
    return [sets[name] for name, _ in entries]


def of_letters(entries, sources):
    sets = {name: set(name) for name in sources}
    for name, inputs in entries:
        sets[name] = set().union(*(sets.get(given, set()) for given in inputs))
    return [sets[name] for name, _ in entries]


WAYS = {"a": ("columns", 2), "b": ("rows", 1), "c": ("rows", 2), "d": ("columns", 3), "e": ("rows", 2)}
OTHER = {"rows": "columns", "columns": "rows"}

RIGHT = {
    1: [
        reach,
        by_recursion,
        by_rows_of_a_matrix,
        lambda entries, sources: [sorted(found) for found in reach(entries, sources)],
    ],
    2: [by_loops, at_once, as_sparse, with_few_rows, lambda pull_back, n: by_loops(pull_back, n).tolist()],
    3: [
        WAYS,
        {name: list(pair) for name, pair in WAYS.items()},
        {name: (way[:-1].upper(), np.int64(count)) for name, (way, count) in WAYS.items()},
        {name: (count, {"rows": "reverse", "columns": "forward"}[way]) for name, (way, count) in WAYS.items()},
    ],
}

WRONG = {
    1: [
        (lambda entries, sources: [set(inputs) & set(sources) for _, inputs in entries], "directly"),
        (lambda entries, sources: [set(inputs) for _, inputs in entries], "Go on from each"),
        (in_place, "changes after it was finished"),
        (without_constants, "raised KeyError.*A name without a set is a constant"),
        (with_constants, "count constants as sources"),
        (of_letters, "two letters"),
        (lambda entries, sources: [set() for _ in entries], "On itself"),
        (lambda entries, sources: [set(sources) for _ in entries], "promises nothing"),
        (lambda entries, sources: reach(entries, sources)[-1], "I need a list|I need 6 sets"),
        (lambda entries, sources: [*reversed(reach(entries, sources))], "its set is"),
        (
            lambda entries, sources: [
                found | {name} for found, (name, _) in zip(reach(entries, sources), entries, strict=True)
            ],
            "names of",
        ),
        (lambda entries, sources: dict(zip("abcdef", reach(entries, sources), strict=False)), "returns a dict"),
        (lambda entries, sources: [len(found) for found in reach(entries, sources)], "a set for each entry"),
        (lambda entries, sources: None, "a `return` missing"),
        (lambda entries, sources: ..., "three dots"),
        ([{"x"}], "without calling it"),
    ],
    2: [
        (template, "a one at each row of its colour"),
        (seeds_alone, "still all zeros"),
        (one_by_one, "You pulled 8 seeds back for n = 8. The matrix is right, but three are enough"),
        (of_colours(4), "You pulled 4 seeds back"),
        (of_colours(2), "ones at rows 0 and 2, which share column 1"),
        (of_colours(1), "ones at rows 0 and 1, which share column 1"),
        (of_colours(3, lambda products, colours, n: products[colours]), "outside the band"),
        (of_colours(3, lambda products, colours, n: np.where(band(n), products[colours], 0).T), "the transpose"),
        (
            of_colours(3, lambda products, colours, n: np.where(band(n), products[(colours + 1) % 3], 0)),
            "the row's colour",
        ),
        (of_colours(3, lambda products, colours, n: products), r"I need a matrix of shape \(8, 8\)"),
        (three_one_hot, "no seed has a one at row 3"),
        (without_ends, "row 7, column 6 is still 0"),
        (with_an_empty_slice, r"row 0, column 0 is still 0\. A slice that starts at -1 is empty\.$"),
        (only(0, 0), r"row 0, column 1 is still 0\. Each row also has its neighbours' columns\.$"),
        (only(-1, 0), r"row 0, column 1 is still 0\. A slice leaves out its end: `r \+ 2`\.$"),
        (past_the_end, r"raised IndexError.*The first and the last row have one neighbour\.$"),
        (wrapping_round, r"Row 0 has a number in column 7, outside the band.*Index −1 is the last column\.$"),
        (
            of_colours(3, lambda products, colours, n: np.triu(np.where(band(n), products[colours], 0))),
            "row 1, column 0",
        ),
        (overwritten, "overwritten by 0"),
        (mirrored, "mirrored one side"),
        (lambda pull_back, n: np.zeros((n, n)), "didn't call"),
        (lambda pull_back, n: pull_back(np.ones(n + 1)), "one number for each of the 8 rows"),
        (lambda pull_back, n: pull_back(None), "the seed is None"),
        (lambda pull_back, n: pull_back(np.ones(n)), r"shape \(8,\)"),
        (lambda pull_back, n: by_loops(pull_back, n) and None, "raised ValueError"),
        (lambda pull_back, n: None, "None"),
        (lambda pull_back, n: ..., "three dots"),
        (raising, "raised ValueError"),
        (np.eye(8), "without calling it"),
    ],
    3: [
        ({name: (OTHER[way], count) for name, (way, count) in WAYS.items()}, "All are the wrong way round"),
        (WAYS | {"a": ("rows", 100)}, "Not rows for `a`"),
        (WAYS | {"a": ("columns", 100)}, r"not 100: that's how many numbers the fullest \*column\* has\. You need"),
        (WAYS | {"b": ("columns", 2)}, "Not columns for `b`"),
        (WAYS | {"b": ("rows", 50)}, "not 50. You need"),
        (WAYS | {"b": ("rows", 2)}, r"not 2: that's how many numbers the fullest \*row\* has"),
        (WAYS | {"b": ("rows", 3)}, r"not 3\. You need at least as many colours as the fullest \*column\* has numbers"),
        (WAYS | {"c": ("columns", 100)}, "the last row is full"),
        (WAYS | {"c": ("rows", 1)}, r"not 1\. You need at least as many colours as the fullest \*column\*"),
        (WAYS | {"d": ("rows", 100)}, "Are there fewer rows"),
        (WAYS | {"d": ("columns", 1)}, r"not 1\. You need at least as many colours as the fullest \*row\*"),
        (WAYS | {"e": ("columns", 4)}, "used by at most two outputs, next to each other"),
        (WAYS | {"e": ("rows", 4)}, r"not 4: that's how many numbers the fullest \*row\* has\. You need"),
        (WAYS | {"e": ("rows", 2.5)}, "a whole number"),
        (WAYS | {"a": "columns"}, "For `a` write the way and the number"),
        (WAYS | {"a": ("diagonals", 2)}, 'Write "rows" or "columns"'),
        (WAYS | {"a": ("columns", ...)}, "three dots"),
        (WAYS | {"a": ("columns", "two")}, "without quotes"),
        ({"a": ("columns", 2)}, "No answer is given for b, c, d, e"),
        (3, "I need a dict"),
    ],
}
