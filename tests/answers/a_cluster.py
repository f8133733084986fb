"""Answers to the exercises of a-cluster."""

import numpy as np

import autodiff_edu as ad


def blockwise(weight=len, finish=lambda total, rows, blocks: total / rows, of=lambda blocks: blocks):
    """Make an answer to 27.1 that weights, adds and finishes in the ways that are given."""

    def answer(loss, w, blocks):
        total, rows = np.zeros(3), 0
        for x, y in of(blocks):
            total = total + weight(x) * ad.grad(loss)(w, x, y).numpy()
        rows = sum(len(x) for x, _ in blocks)
        return finish(total, rows, len(blocks))

    return answer


def with_a_tape(loss, w, blocks):
    w = ad.Variable(w)
    rows, total = sum(len(x) for x, _ in blocks), ad.constant(np.zeros(3))
    for x, y in blocks:
        with ad.GradientTape() as tape:
            part = loss(w, x, y) * (len(x) / rows)
        total = total + tape.gradient(part, w)
    return total


def in_float32(loss, w, blocks):
    return np.asarray(blockwise()(loss, w, blocks), dtype="float32")


def all_at_once(loss, w, blocks):
    return ad.grad(loss)(w, np.concatenate([x for x, _ in blocks]), np.concatenate([y for _, y in blocks]))


def two_at_once(loss, w, blocks):
    (x, y), (more_x, more_y), last = blocks
    return blockwise()(loss, w, [(np.concatenate([x, more_x]), np.concatenate([y, more_y])), last])


def row_by_row(loss, w, blocks):
    return blockwise()(loss, w, [(x[k : k + 1], y[k : k + 1]) for x, y in blocks for k in range(len(x))])


def by_hand(loss, w, blocks):
    return sum(2.0 * x.T @ (x @ w - y) for x, y in blocks) / 16


def on_one_tape(loss, w, blocks):
    w = ad.constant(w)
    with ad.GradientTape() as tape:
        tape.watch(w)
        target = 0.0
        for x, y in blocks:
            target = target + len(x) * loss(w, x, y)
        target = target / sum(len(x) for x, _ in blocks)
    return tape.gradient(target, w)


def by_differences(loss, w, blocks):
    def mean(w):
        return sum(len(x) * loss(w, x, y) for x, y in blocks) / 16

    return np.array([(mean(w + step) - mean(w - step)) / 2e-5 for step in 1e-5 * np.eye(3)])


def with_one_persistent_tape_each(loss, w, blocks):
    w, total = ad.Variable(w), 0.0
    for x, y in blocks:
        with ad.GradientTape(persistent=True) as tape:
            part = loss(w, x, y)
        total = total + tape.gradient(part, w) * len(x)
    return total / 16


def unwatched(loss, w, blocks):
    w = ad.constant(w)
    with ad.GradientTape() as tape:
        part = loss(w, *blocks[0])
    return tape.gradient(part, w)


JOBS = {
    "A": "right",
    "B": "mean of means",
    "C": "sum of means",
    "D": "penalty in each",
    "E": "scaled by block",
}


def sums(block):
    return len(block), block.sum(axis=0), (block**2).sum(axis=0)


def root(summaries):
    n, total, squares = (sum(parts) for parts in zip(*summaries, strict=True))
    return total / n, np.sqrt(squares / n - (total / n) ** 2)


def moments(block):
    return {"n": len(block), "mean": block.mean(axis=0), "var": block.var(axis=0)}


def total_variance(summaries):
    n = np.array([[one["n"]] for one in summaries], dtype=float)
    means, variances = (np.array([one[name] for one in summaries]) for name in ("mean", "var"))
    mean = (n * means).sum(axis=0) / n.sum()
    return [ad.constant(mean), np.sqrt((n * (variances + (means - mean) ** 2)).sum(axis=0) / n.sum())]


def scale(combine, summary=sums):
    return {"summary": summary, "combine": combine}


def about(finish):
    """Make a combine that gets the rows, means and standard deviations of the blocks."""

    def combine(summaries):
        n = np.array([[one["n"]] for one in summaries], dtype=float)
        return finish(n / n.sum(), *(np.array([one[name] for one in summaries]) for name in ("mean", "var")))

    return scale(combine, moments)


def finishing(variance):
    """Make an answer to 21.3 with the right mean, and a variance from the rows, the sum of squares and the mean."""

    def combine(summaries):
        n, total, squares = (sum(parts) for parts in zip(*summaries, strict=True))
        with np.errstate(invalid="ignore"):
            return total / n, np.sqrt(variance(n, squares, total / n))

    return scale(combine)


RIGHT = {
    1: [
        blockwise(),
        with_a_tape,
        with_one_persistent_tape_each,
        in_float32,
        row_by_row,
        lambda *args: blockwise()(*args).tolist(),
    ],
    2: [JOBS, {name: f" {value.upper()}" for name, value in JOBS.items()}],
    3: [
        scale(root),
        scale(total_variance, moments),
        scale(lambda s: np.array(root(s))),
        scale(lambda s: [a[None] for a in root(s)]),
        scale(lambda s: tuple(a.astype("float32") for a in root(s))),
    ],
}

WRONG = {
    1: [
        (blockwise(lambda x: 1, lambda total, rows, blocks: total / blocks), "the plain average"),
        (blockwise(lambda x: 1, lambda total, rows, blocks: total), "share of the rows"),
        (blockwise(finish=lambda total, rows, blocks: total), "number of all rows at the end"),
        (blockwise(finish=lambda total, rows, blocks: total / blocks), "divided by the number of blocks"),
        (blockwise(lambda x: 1, lambda total, *_: total, lambda blocks: blocks[-1:]), "last block's gradient alone"),
        (blockwise(lambda x: 1, lambda total, *_: total, lambda blocks: blocks[:1]), "first block's gradient alone"),
        (blockwise(of=lambda blocks: blocks[-1:]), "with `\\+=`"),
        (blockwise(of=lambda blocks: blocks[:1]), "Only the first"),
        (blockwise(lambda x: 1), "Before that, multiply"),
        (all_at_once, "rows of 3 blocks at once"),
        (two_at_once, "rows of 2 blocks at once"),
        (lambda *args: -blockwise()(*args), "the sign is turned"),
        (blockwise(np.size), "counts the numbers"),
        (lambda loss, w, blocks: np.mean([ad.grad(loss)(w, x, y) for x, y in blocks]), "one number"),
        (lambda loss, w, blocks: loss(w, *blocks[0]), "one number"),
        (lambda loss, w, blocks: ad.grad(loss, argnums=1)(w, *blocks[0]), "with respect to w"),
        (by_hand, "loss was never called"),
        (on_one_tape, "one tape recorded all three blocks"),
        (by_differences, "loss was called with plain numbers only"),
        (unwatched, "was w watched"),
        (lambda loss, w, blocks: [ad.grad(loss)(w, x, y).numpy() for x, y in blocks], "the shape \\(3, 3\\)"),
        (lambda loss, w, blocks: "gradient", "I need an array of numbers"),
        (lambda loss, w, blocks: ..., "three dots"),
        (lambda loss, w, blocks: np.zeros(3), "The gradient differs"),
        (lambda loss: 3.0, "raised TypeError"),
        (4, "without calling it"),
    ],
    2: [
        *(
            (JOBS | {name: value}, hint)
            for name, value, hint in (
                *(("A", value, "the same slope for every cut") for value in JOBS.values() if value != "right"),
                ("B", "right", "differ in length"),
                ("B", "sum of means", "only the unequal cut"),
                ("B", "penalty in each", "only the unequal cut"),
                ("B", "scaled by block", "only the unequal cut"),
                ("C", "right", "C depends"),
                ("C", "mean of means", "proportional"),
                ("C", "penalty in each", "proportional"),
                ("C", "scaled by block", "proportional"),
                ("D", "right", "D depends"),
                ("D", "mean of means", "What does each block add"),
                ("D", "sum of means", "What does each block add"),
                ("D", "scaled by block", "What does each block add"),
                ("E", "right", "E depends"),
                ("E", "mean of means", "plain average"),
                ("E", "sum of means", "hardly changes"),
                ("E", "penalty in each", "Is a constant added"),
                ("E", "wrong", 'Write "right"'),
                ("E", ..., "three dots"),
            )
        ),
        ({"A": "right"}, "B, C, D, E"),
        ("right", "I need a dict"),
    ],
    3: [
        (scale(lambda s: root(s)[::-1]), "wrong order"),
        (about(lambda share, mean, var: (mean.mean(axis=0), np.sqrt(var.mean(axis=0)))), "plain average"),
        (about(lambda share, mean, var: ((share * mean).sum(axis=0), np.sqrt((share * var).sum(axis=0)))), "within"),
        (about(lambda share, mean, var: ((share * mean).sum(axis=0), np.sqrt(var).mean(axis=0))), "can't be averaged"),
        (about(lambda share, mean, var: ((share * mean).sum(0), (share * np.sqrt(var)).sum(0))), "not even weighted"),
        (scale(lambda s: (root(s)[0], root(s)[1] ** 2)), "the variance"),
        (scale(lambda s: (root(s)[0], np.sqrt(sum(q for *_, q in s) / 160))), "forgot to subtract"),
        (scale(lambda s: (root(s)[0], root(s)[1] * np.sqrt(160 / 159))), "not by one less"),
        (scale(lambda s: (root(s)[0], 3.0 * root(s)[1])), "The mean is right. Now look at the standard deviation"),
        (finishing(lambda n, q, m: q - m**2), "before you subtract"),
        (finishing(lambda n, q, m: q / n - m), "Subtract its square"),
        (finishing(lambda n, q, m: q), "and subtract the square"),
        (finishing(lambda n, q, m: m**2 - q / n), "square root of a negative"),
        (about(lambda share, mean, var: ((share * mean).sum(0), mean.std(0))), "spread of the blocks' means"),
        (
            about(lambda share, mean, var: ((share * mean).sum(0), np.sqrt((share * var).sum(0) + mean.var(0)))),
            "weighted by the rows as well",
        ),
        (scale(lambda s: (160 * root(s)[0], root(s)[1])), "sums over all rows"),
        (scale(lambda s: (2.0 * root(s)[0], root(s)[1])), "Now look at the mean"),
        (
            scale(lambda s: (np.concatenate(s).mean(axis=0), np.concatenate(s).std(axis=0)), lambda block: block),
            "send sums",
        ),
        (scale(lambda s: (1.0, 2.0)), "sum over axis 0"),
        (scale(lambda s: 3.0), "Return the mean and the standard deviation"),
        (scale(lambda s: (..., ...)), "three dots"),
        (scale(lambda s: (root(s)[0], ...)), "the standard deviation is still missing"),
        (scale(lambda s: ...), "three dots"),
        (scale(root, lambda block: (block.size, *sums(block)[1:])), "counts the numbers"),
        (scale(root, lambda block: ...), "three dots"),
        (scale(root, lambda block: None), "`return` missing"),
        (scale(root, lambda block: "rows"), "I need an array of numbers"),
        (scale(lambda s: 1 / 0), "raised ZeroDivisionError"),
        ({"summary": sums}, "No function is given for combine"),
        (scale(...), "three dots"),
        (scale(4), "without calling it"),
        (sums, "I need a dict"),
    ],
}
