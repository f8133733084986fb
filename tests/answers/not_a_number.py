"""Answers to the exercises of not-a-number."""

import numpy as np

import autodiff_edu as ad
from autodiff_edu import nn


def squares(p, q):
    return np.sum((p - q) ** 2, axis=1)


def double_where(p, q):
    square = squares(p, q)
    safe = np.where(square > 0, square, 1.0)
    return np.where(square > 0, np.sqrt(safe), 0.0)


def in_a_loop(p, q):
    found = []
    for k in range(len(p)):
        square = np.sum((p[k] - q[k]) ** 2)
        found.append(np.sqrt(square) if square > 0 else 0.0 * square)
    return np.stack(found)


def replaced_before(p, q):
    together = np.all(p == q, axis=1)
    shifted = np.where(together[:, None], 1.0, p - q)
    return np.where(together, 0.0, np.sqrt(np.sum(shifted**2, axis=1)))


def single_where(p, q):
    square = squares(p, q)
    return np.where(square > 0, np.sqrt(square), 0.0)


def no_second_where(p, q):
    square = squares(p, q)
    return np.sqrt(np.where(square > 0, square, 1.0))


def far_threshold(p, q):
    square = squares(p, q)
    apart = square > 1e-12
    return np.where(apart, np.sqrt(np.where(apart, square, 1.0)), 0.0)


def half_cut(p, q):
    return (double_where(p, q) + ad.stop_gradient(double_where(p, q))) / 2.0


def right_scores(scores, labels):
    return scores[np.arange(len(labels)), labels]


def log_sums(scores):
    m = np.max(scores, axis=1, keepdims=True)
    return m[:, 0] + np.log(np.sum(np.exp(scores - m), axis=1))


def stable(scores, labels):
    return np.mean(log_sums(scores) - right_scores(scores, labels))


def cut_largest(scores, labels):
    m = ad.stop_gradient(np.max(scores, axis=1, keepdims=True))
    shifted = scores - m
    return np.mean(np.log(np.sum(np.exp(shifted), axis=1)) - right_scores(shifted, labels))


def row_by_row(scores, labels):
    total = 0.0
    for row, k in zip(scores, labels, strict=True):
        total = total + np.max(row) + np.log(np.sum(np.exp(row - np.max(row)))) - row[k]
    return total / len(labels)


def pairwise(scores, labels):
    total = scores[:, 0]
    for k in range(1, scores.shape[1]):
        total = np.logaddexp(total, scores[:, k])
    return np.mean(total - right_scores(scores, labels))


def softmax(scores):
    e = np.exp(scores)
    return e / np.sum(e, axis=1, keepdims=True)


def one_for_all(scores, labels):
    rows = np.arange(len(labels))
    return np.log(np.sum(np.exp(scores))) - np.mean(scores[rows, labels])


def naive(scores, labels):
    return -np.mean(np.log(right_scores(softmax(scores), labels)))


def one_largest(scores, labels):
    m = np.max(scores)
    return np.mean(m + np.log(np.sum(np.exp(scores - m), axis=1)) - right_scores(scores, labels))


def smallest_off(scores, labels):
    m = np.min(scores, axis=1, keepdims=True)
    return np.mean(m[:, 0] + np.log(np.sum(np.exp(scores - m), axis=1)) - right_scores(scores, labels))


def largest_lost(scores, labels):
    m = np.max(scores, axis=1, keepdims=True)
    return np.mean(np.log(np.sum(np.exp(scores - m), axis=1)) - right_scores(scores, labels))


def no_keepdims(scores, labels):
    return np.mean(np.log(np.sum(np.exp(scores - np.max(scores, axis=1)), axis=1)))


def clipped_scores(scores, labels):
    return naive(np.clip(scores, -700, 700), labels)


def a_little_more(scores, labels):
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    return -np.mean(np.log(right_scores(softmax(shifted), labels) + 1e-12))


def by_value(gradients, limit):
    return [None if g is None else np.clip(g, -limit, limit) for g in gradients]


def by_loops(gradients, limit):
    return tuple(g if g is None else np.maximum(np.minimum(g, limit), -limit) for g in gradients)


def length_of(gradients):
    return np.sqrt(sum(np.sum(np.asarray(g) ** 2) for g in gradients if g is not None))


def by_norm(gradients, limit):
    length = length_of(gradients)
    return [None if g is None else g * (limit / max(limit, length)) for g in gradients]


def only_if_long(gradients, limit):
    length = length_of(gradients)
    if length <= limit:
        return gradients
    return [None if g is None else np.asarray(g) * limit / length for g in gradients]


def scaled(factor):
    """Clip with `factor(g, gradients, limit)` for each gradient."""
    return lambda gradients, limit: [None if g is None else g * factor(g, gradients, limit) for g in gradients]


def both(value=by_value, norm=by_norm):
    return {"value": value, "norm": norm}


def each(f):
    return lambda gradients, limit: [None if g is None else f(g, limit) for g in gradients]


def each_coordinate(p, q):
    """Guard the coordinates in place of the distance."""
    apart = p - q
    safe = np.where(apart != 0.0, apart, 1.0)
    return np.where(squares(p, q) > 0.0, np.sqrt(squares(safe, 0.0)), 0.0)


def filled_with_0(p, q):
    square = squares(p, q)
    return np.where(square > 0, np.sqrt(np.where(square > 0, square, 0.0)), 0.0)


def as_a_table(scores, labels):
    """Add a column of largest scores to a row of logarithms."""
    m = np.max(scores, axis=1, keepdims=True)
    return np.mean(m + np.log(np.sum(np.exp(scores - m), axis=1)) - right_scores(scores, labels))


def in_place(gradients, limit):
    for i, g in enumerate(gradients):
        gradients[i] = None if g is None else np.clip(g, -limit, limit)
    return gradients


RIGHT = {
    1: [double_where, in_a_loop, replaced_before, filled_with_0],
    2: [
        stable,
        cut_largest,
        row_by_row,
        pairwise,
        lambda s, k: nn.softmax_cross_entropy(s, k),
        lambda s, k: np.mean(nn.softmax_cross_entropy(s, k)),
        lambda s, k: np.mean(np.logaddexp.reduce(s, axis=1) - right_scores(s, k)),
    ],
    3: [
        both(),
        both(by_loops, only_if_long),
        both(norm=scaled(lambda g, gs, limit: np.minimum(1.0, limit / length_of(gs)))),
    ],
}

WRONG = {
    1: [
        (squares, "squares of the distances"),
        (lambda p, q: np.sqrt(squares(p, q)), "infinite derivative at 0"),
        (single_where, "the `where` trap"),
        (no_second_where, "A second `np.where`"),
        (lambda p, q: np.sqrt(squares(p, q) + 1e-12), "Don't add something tiny"),
        (lambda p, q: np.sqrt(np.maximum(squares(p, q), 1e-16)), "Don't add something tiny"),
        (lambda p, q: np.sqrt(np.maximum(squares(p, q), 1e-30)), "your distance is 1e-15 and not 0"),
        (far_threshold, "1e-09 apart"),
        (each_coordinate, "one coordinate in common"),
        (half_cut, "from plain numbers, or cut"),
        (lambda p, q: np.linalg.norm(p - q, axis=1), "NumPy's norm"),
        (lambda p, q: np.hypot(*(p - q).T), "NumPy's hypot"),
        (lambda p, q: np.nan_to_num(np.sqrt(squares(p, q))), "infinite derivative at 0"),
        (lambda p, q: ad.stop_gradient(double_where(p, q)), "gradient is None"),
        (lambda p, q: 2.0 * double_where(p, q), "The distances where the points are apart should be"),
        (lambda p, q: squares(p, q) / np.sqrt(squares(p, q)), "your distance is nan"),
        (lambda p, q: np.sum(double_where(p, q)), "one distance for each row"),
        (lambda p, q: double_where(p, q).numpy(), "no tape follows"),
        (lambda p, q: None, "returns None"),
        (lambda p, q: ..., "three dots"),
        (3.0, "without calling it"),
    ],
    2: [
        (naive, "exp overflows"),
        (one_for_all, "Each row has its own"),
        (one_largest, "its own largest score"),
        (largest_lost, "add it again"),
        (no_keepdims, "keep its axis"),
        (clipped_scores, "logarithm gets a 0"),
        (smallest_off, "exp overflows, or"),
        (a_little_more, "Neither is needed"),
        (as_a_table, "each row with each"),
        (lambda s, k: stable(s, k) + np.sum(np.where(s > 600.0, 0.0, 0.0 * np.exp(s))), "hide behind a `where`"),
        (lambda s, k: 4.0 * stable(s, k), "sum over the rows"),
        (lambda s, k: -stable(s, k), "sign is turned round"),
        (lambda s, k: np.mean(log_sums(s)), "Subtract the score of the right answer"),
        (lambda s, k: np.mean(right_scores(softmax(s), k)), "logarithm is missing"),
        (lambda s, k: -np.log(np.mean(right_scores(softmax(s), k))), "mean of the logarithms"),
        (lambda s, k: np.mean(np.max(s, axis=1) - right_scores(s, k)), "log of the sum is missing"),
        (lambda s, k: stable(s, k) + 1.0, "ordinary scores the loss should be"),
        (lambda s, k: log_sums(s) - right_scores(s, k), "Return their mean"),
        (lambda s, k: ad.stop_gradient(stable(s, k)), "gradient is None"),
        (lambda s, k: (stable(s, k) + ad.stop_gradient(stable(s, k))) / 2.0, "gradient isn't"),
        (lambda s, k: float(stable(s, k)), "no tape follows"),
        (lambda s, k: None, "returns None"),
        (lambda s, k: ..., "three dots"),
        (3.0, "without calling it"),
    ],
    3: [
        (both(value=lambda gs, limit: [np.clip(g, -limit, limit) if g else None for g in gs]), "ask `g is None`"),
        (both(value=each(np.minimum)), "Cut it at -limit"),
        (both(value=each(lambda g, limit: np.minimum(np.abs(g), limit))), "A sign got lost"),
        (both(value=each(lambda g, limit: np.sign(g) * limit)), "Every number has become"),
        (both(value=each(lambda g, limit: np.maximum(g, -limit))), "A slope of 12 came through"),
        (both(value=each(lambda g, limit: np.where(np.abs(g) > limit, 0.0, g))), "has become 0"),
        (both(value=by_norm), "That is clipping by global norm"),
        (both(value=lambda gradients, limit: gradients), "Nothing was clipped"),
        (both(value=each(lambda g, limit: g * 0.0)), "it should be"),
        (both(norm=by_value), "clipping by value: the direction"),
        (both(norm=each(lambda g, limit: by_norm([g], limit)[0])), "by its own length"),
        (both(norm=scaled(lambda g, gs, limit: limit / 17.0)), "don't add up to 17"),
        (both(norm=scaled(lambda g, gs, limit: limit / 19.0)), "added up sizes"),
        (both(norm=scaled(lambda g, gs, limit: limit / length_of(gs) ** 2)), "Take the root"),
        (both(norm=scaled(lambda g, gs, limit: 1.0 / length_of(gs))), "The length is now 1"),
        (both(norm=scaled(lambda g, gs, limit: limit)), "factor is limit / length"),
        (both(norm=scaled(lambda g, gs, limit: limit / 12.0)), "largest number"),
        (both(norm=scaled(lambda g, gs, limit: length_of(gs) / limit)), "got longer"),
        (both(norm=scaled(lambda g, gs, limit: 1.0)), "Nothing was clipped"),
        (both(norm=lambda gs, limit: by_norm(gs[:3], limit) + gs[3:]), "but not with three"),
        (both(norm=lambda gs, limit: [g if g is None else g * limit / np.hypot(*gs) for g in gs]), "takes two numbers"),
        (both(value=in_place), "Return a new one"),
        (both(norm=scaled(lambda g, gs, limit: limit / length_of(gs))), "come back as it was"),
        (
            both(norm=scaled(lambda g, gs, limit: np.minimum(limit, length_of(gs)) / length_of(gs))),
            "Guard the division",
        ),
        (both(norm=lambda gs, limit: by_norm([g for g in gs if g is not None], limit)), "Return None for None"),
        (both(norm=lambda gs, limit: [np.zeros(1) if g is None else g for g in gs]), "None stays None"),
        (both(norm=lambda gs, limit: [g * limit / np.sqrt(sum(np.sum(h**2) for h in gs)) for g in gs]), "is None"),
        (both(norm=lambda gs, limit: np.zeros(3)), "Return a list"),
        (both(norm=lambda gs, limit: None), "returns None"),
        (both(norm=lambda gs, limit: ...), "three dots"),
        ({"value": by_value}, "No function is given for norm"),
        (both(norm=3.0), "without calling it"),
        ((by_value, by_norm), "I need a dict"),
    ],
}
