"""Answers to the exercises of not-a-number."""

import numpy as np

import autodiff_edu as ad
from autodiff_edu import nn


def misfit(filler=1.0, missing=0.0):
    """Make an answer to exercise 1 with a double `where`."""

    def answer(c, k, masses, rates):
        known = masses > 0.0
        safe = np.where(known, masses, filler)
        return np.sum(np.where(known, c + k * np.log(safe) - np.log(rates), missing) ** 2)

    return answer


def only_known(c, k, masses, rates):
    known = masses > 0.0
    return np.sum((c + k * np.log(masses[known]) - np.log(rates[known])) ** 2)


def in_a_loop(c, k, masses, rates):
    total = 0.0
    for mass, rate in zip(masses, rates, strict=True):
        if mass > 0.0:
            total = total + (c + k * np.log(mass) - np.log(rate)) ** 2
    return total


def mask_unknown(c, k, masses, rates):
    """Multiply by a mask, which is right if the logarithm sees a harmless filler."""
    known = masses > 0.0
    return np.sum(((c + k * np.log(np.where(known, masses, 1.0)) - np.log(rates)) * known) ** 2)


def logs_first(c, k, masses, rates):
    """Guard the logarithm, which is a plain array, in place of the mass."""
    known = masses > 0.0
    logs = np.where(known, np.log(masses), 0.0)
    return np.sum(np.where(known, c + k * logs - np.log(rates), 0.0) ** 2)


def multiply_by_mask(c, k, masses, rates):
    return np.sum(((c + k * np.log(masses) - np.log(rates)) * (masses > 0.0)) ** 2)


def inner_alone(c, k, masses, rates):
    return np.sum((c + k * np.log(np.where(masses > 0.0, masses, 1.0)) - np.log(rates)) ** 2)


def take_every_log(c, k, masses, rates):
    return np.sum((c + k * np.log(masses) - np.log(rates)) ** 2)


def squares_first(c, k, masses, rates):
    safe = np.where(masses > 0.0, masses, 0.0)
    return np.sum(np.where(masses > 0.0, (c + k * np.log(safe) - np.log(rates)) ** 2, 0.0))


def without_nans(c, k, masses, rates):
    return np.nansum((c + k * np.log(np.where(masses > 0.0, masses, np.nan)) - np.log(rates)) ** 2)


def swap_in_misfit(c, k, masses, rates):
    known = masses > 0.0
    safe = np.where(known, masses, 1.0)
    return np.sum(np.where(known, 0.0, c + k * np.log(safe) - np.log(rates)) ** 2)


def wave(near, edge=0.0):
    """Make an answer to exercise 2 with a double `where`; `near` is what it says near 0."""

    def answer(x):
        far = np.abs(x) > edge
        safe = np.where(far, x, 1.0)
        return np.where(far, np.sin(safe) / safe, near(x))

    return answer


def to_x2(x):
    return 1.0 - x**2 / 6.0


def single_where(x):
    return np.where(x != 0.0, np.sin(x) / x, to_x2(x))


def of_the_filler(x):
    safe = np.where(x != 0.0, x, 1.0)
    return np.where(x != 0.0, np.sin(safe) / safe, to_x2(safe))


def swap_in_wave(x):
    safe = np.where(x != 0.0, x, 1.0)
    return np.where(x != 0.0, to_x2(x), np.sin(safe) / safe)


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


def as_a_table(scores, labels):
    """Add a column of largest scores to a row of logarithms."""
    m = np.max(scores, axis=1, keepdims=True)
    return np.mean(m + np.log(np.sum(np.exp(scores - m), axis=1)) - right_scores(scores, labels))


def a_table(scores, labels):
    """Return that table, without its mean."""
    m = np.max(scores, axis=1, keepdims=True)
    return m + np.log(np.sum(np.exp(scores - m), axis=1)) - right_scores(scores, labels)


def one_sum(scores, labels):
    m = np.max(scores, axis=1, keepdims=True)
    return np.mean(m[:, 0] + np.log(np.sum(np.exp(scores - m))) - right_scores(scores, labels))


def of_the_columns(scores, labels):
    shifted = scores - np.max(scores, axis=0)
    return np.mean(np.log(np.sum(np.exp(shifted), axis=1)) - right_scores(shifted, labels))


RIGHT = {
    1: [misfit(), misfit(filler=70.0), only_known, in_a_loop, mask_unknown, logs_first],
    2: [
        wave(to_x2),
        wave(lambda x: 1.0 - x**2 / 6.0 + x**4 / 120.0, edge=0.1),
        wave(lambda x: np.cos(x / np.sqrt(3.0))),
        wave(lambda x: 1.0 - x * x / 6.0, edge=1e-3),
        lambda x: np.sinc(x / np.pi),
    ],
    3: [
        stable,
        cut_largest,
        row_by_row,
        pairwise,
        lambda s, k: nn.softmax_cross_entropy(s, k),
        lambda s, k: np.mean(nn.softmax_cross_entropy(s, k)),
        lambda s, k: np.mean(np.logaddexp.reduce(s, axis=1) - right_scores(s, k)),
    ],
}

WRONG = {
    1: [
        (misfit(filler=0.0), "What is it multiplied by"),
        (misfit(filler=-1.0), "What is it multiplied by"),
        (misfit(filler=np.nan), "What is it multiplied by"),
        (squares_first, "Leave it out before that happens"),
        (without_nans, "Leave it out before that happens"),
        (swap_in_misfit, "two choices of the outer `where` are swapped"),
        (lambda c, k, m, r: take_every_log(c, k, m + 1e-12, r), "weighed next to nothing"),
        (lambda c, k, m, r: misfit()(c, k, m, r) / len(m), "mean of the squares"),
        (misfit(missing=1.0), "adds 1 to the misfit"),
        (multiply_by_mask, "A mask that multiplies leaves nothing out"),
        (inner_alone, "as if it weighed 1 kg"),
        (take_every_log, "The misfit is infinite"),
        (lambda c, k, m, r: misfit()(c, ad.stop_gradient(k), m, r), "Cutting k off avoids the nan"),
        (lambda c, k, m, r: misfit()(ad.stop_gradient(c), k, m, r), "with respect to c should be"),
        (lambda c, k, m, r: float(misfit()(c, k, m, r)), "not a tensor"),
        (lambda c, k, m, r: only_known(c, k, m[m > 1.0], r[m > 1.0]), "the misfit should be"),
        (lambda c, k, m, r: None, "returns None"),
        (lambda c, k, m, r: ..., "three dots"),
        (lambda c, k, m, r: only_known(c, k, m, r) / np.sum(m > 0.0), "mean of the squares"),
        (3.0, "without calling it"),
    ],
    2: [
        (wave(lambda x: 1.0), "how does that part bend"),
        (swap_in_wave, "two choices of the `where` are swapped"),
        (lambda x: 1.0 - x**2 / 6.0 + x**4 / 120.0, "right near 0 only"),
        (lambda x: np.sin(x + 1e-6) / (x + 1e-6), "moves all the values"),
        (lambda x: np.sin(x + 1e-9) / (x + 1e-9), "lost in rounding"),
        (lambda x: np.sin(x + 2e-4) / (x + 2e-4), "the values should be"),
        (single_where, "the division has seen the 0"),
        (lambda x: np.sin(x) / x, "0 divided by 0"),
        (of_the_filler, "has seen the filler"),
        (wave(np.cos), "how a cosine bends"),
        (wave(lambda x: 1.0 - x**2 / 2.0), "how a cosine bends"),
        (wave(lambda x: 1.0 + x**2 / 6.0), "bends upwards"),
        (wave(lambda x: 1.0 - x**2 / 3.0), "what stands before x²"),
        (wave(lambda x: -(x**2) / 6.0), "the values should be"),
        (wave(lambda x: 1.0 - x / 6.0), "the slopes should be"),
        (to_x2, "right near 0 only"),
        (lambda x: np.nan_to_num(np.sin(x) / x, nan=1.0), "the division has seen the 0"),
        (lambda x: wave(to_x2)(x.numpy()), "not a tensor"),
        (lambda x: None, "returns None"),
        (lambda x: ..., "three dots"),
        (3.0, "without calling it"),
    ],
    3: [
        (naive, "exp overflows"),
        (one_for_all, "Each row has its own"),
        (one_largest, "its own largest score"),
        (largest_lost, "add it again"),
        (no_keepdims, "keep its axis"),
        (clipped_scores, "logarithm gets a 0"),
        (smallest_off, "exp overflows, or"),
        (a_little_more, "Neither is needed"),
        (as_a_table, "each row with each"),
        (a_table, "You return a table"),
        (one_sum, "the sum is one for all rows"),
        (of_the_columns, "the largest score of each column"),
        (lambda s, k: largest_lost(s, k) - np.mean(np.max(s, axis=1)), "you subtract it"),
        (lambda s, k: -np.mean(right_scores(s, k)), "Each row's log-sum-exp is missing"),
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
}
