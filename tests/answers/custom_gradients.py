"""Answers to the exercises of custom-gradients."""

import numpy as np

import autodiff_edu as ad


def log_cosh(slope, value=None):
    """Make log(cosh x) with the gradient `slope(dy, x, size, small)`."""

    @ad.custom_gradient
    def custom(x):
        size = np.abs(x)
        small = np.exp(-2.0 * size)
        found = size + np.log1p(small) - np.log(2.0) if value is None else value(x)
        return found, lambda dy: slope(dy, x, size, small)

    return custom


def plain(dy, x, *_):
    return dy * np.tanh(x.numpy())


def half_plain(dy, x, *_):
    return dy * (np.tanh(x) + np.tanh(x.numpy())) / 2.0


@ad.custom_gradient
def plain_outside(x):
    slope = np.tanh(np.asarray(x))
    return np.logaddexp(x, -x) - np.log(2.0), lambda dy: dy * slope


@ad.custom_gradient
def in_a_loop(x):
    """Element by element; the value is computed from plain numbers, which a custom gradient may do."""
    value = np.array([np.logaddexp(number, -number) - np.log(2.0) for number in x.numpy()])
    return value, lambda dy: np.stack([dy[k] * np.tanh(x[k]) for k in range(len(x))])


def single(dy, x, *_):
    return dy * np.tanh(x.astype(np.float32))


def fraction(dy, x, *_):
    return dy * (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


def distance_by(rule, value=lambda gap: np.sqrt(np.sum(gap * gap))):
    """Make a distance with the gradients `rule(dy, gap, r)`."""

    @ad.custom_gradient
    def distance(a, b):
        gap = a - b
        r = value(gap)
        return r, lambda dy: rule(dy, gap, r)

    return distance


def unit(gap, r):
    return gap / np.where(r > 0.0, r, 1.0)


def opposite(to_a):
    return to_a, -to_a


@ad.custom_gradient
def by_norm(a, b):
    """With NumPy's norm, and a branch."""
    r = np.linalg.norm(a - b)

    def backward(dy):
        if r == 0.0:
            return np.zeros(a.shape), np.zeros(b.shape)
        return dy * (a - b) / r, dy * (b - a) / r

    return r, backward


@ad.custom_gradient
def double_where(a, b):
    squared = np.sum((a - b) ** 2)

    def backward(dy):
        r = np.sqrt(np.where(squared > 0.0, squared, 1.0))
        to_a = np.where(squared > 0.0, dy * (a - b) / r, 0.0)
        return [to_a, 0.0 - to_a]

    return np.sqrt(squared), backward


RIGHT = {
    1: [
        {"A": "chain", "B": "none", "C": "twice", "D": "chain", "E": "twice"},
        {"E": "Twice", "D": " chain", "C": "twice", "B": "None", "A": "CHAIN"},
    ],
    2: [
        distance_by(lambda dy, gap, r: opposite(dy * unit(gap, r))),
        distance_by(lambda dy, gap, r: opposite(dy * np.where(r == 0.0, 0.0, gap / r))),
        distance_by(lambda dy, gap, r: (dy * unit(gap, r), dy * unit(-gap, r)), np.linalg.norm),
        distance_by(lambda dy, gap, r: opposite(dy * gap / (r + 1e-12))),
        by_norm,
        double_where,
    ],
    3: [
        log_cosh(lambda dy, x, *_: dy * np.tanh(x)),
        log_cosh(lambda dy, x, *_: np.sinh(x / 1e9) * 0.0 + np.tanh(x) * dy, lambda x: np.logaddexp(x, -x) - np.log(2)),
        log_cosh(lambda dy, x, *_: dy * (2.0 * np.exp(-np.logaddexp(0.0, -2.0 * x)) - 1.0)),
        log_cosh(single),
        in_a_loop,
    ],
}

WRONG = {
    1: [
        ({"A": "alone", "B": "none", "C": "twice", "D": "chain", "E": "twice"}, "nobody misses a factor of 1"),
        ({"A": "twice", "B": "none", "C": "twice", "D": "chain", "E": "twice"}, "something other than 1"),
        ({"A": "none", "B": "none", "C": "twice", "D": "chain", "E": "twice"}, "-5 arrives"),
        ({"A": "chain", "B": "twice", "C": "twice", "D": "chain", "E": "twice"}, "from the tensor x"),
        ({"A": "chain", "B": "chain", "C": "twice", "D": "chain", "E": "twice"}, "B multiplies whatever arrives"),
        ({"A": "chain", "B": "alone", "C": "twice", "D": "chain", "E": "twice"}, "which is 12"),
        ({"A": "chain", "B": "none", "C": "none", "D": "chain", "E": "twice"}, "change with x"),
        ({"A": "chain", "B": "none", "C": "chain", "D": "chain", "E": "twice"}, "C multiplies whatever arrives"),
        ({"A": "chain", "B": "none", "C": "alone", "D": "chain", "E": "twice"}, "first slope is too"),
        ({"A": "chain", "B": "none", "C": "twice", "D": "alone", "E": "twice"}, "1 arrives at D"),
        ({"A": "chain", "B": "none", "C": "twice", "D": "none", "E": "twice"}, "of its sign"),
        ({"A": "chain", "B": "none", "C": "twice", "D": "twice", "E": "twice"}, "of its sign"),
        ({"A": "chain", "B": "none", "C": "twice", "D": "chain", "E": "alone"}, "what is 6x"),
        ({"A": "chain", "B": "none", "C": "twice", "D": "chain", "E": "chain"}, "by 12, as it should"),
        ({"A": "chain", "B": "none", "C": "twice", "D": "chain", "E": "none"}, "equally fast"),
        ({"A": "chain"}, "No first test to fail is given for"),
        ({"A": ..., "B": ..., "C": ..., "D": ..., "E": ...}, "three dots"),
        ({"A": "never", "B": "none", "C": "twice", "D": "chain", "E": "twice"}, 'Write "alone" or "chain"'),
        ("chain", "I need a dict"),
    ],
    2: [
        (distance_by(lambda dy, gap, r: ...), "one for `a`, and one for `b`"),
        (distance_by(lambda dy, gap, r: None), "one for `a`, and one for `b`"),
        (distance_by(lambda dy, gap, r: dy * unit(gap, r)), "one for `a`, and one for `b`"),
        (distance_by(lambda dy, gap, r: (dy * unit(gap, r), None)), "`b` gets None"),
        (distance_by(lambda dy, gap, r: (None, dy * unit(-gap, r))), "`a` gets None"),
        (distance_by(lambda dy, gap, r: opposite(dy * np.abs(gap) / r)), "lost the sign of each coordinate"),
        (distance_by(lambda dy, gap, r: opposite(dy * gap / r**2)), "once too often"),
        (distance_by(lambda dy, gap, r: (dy * unit(gap, r), dy * unit(gap, r))), "same way as `a`"),
        (distance_by(lambda dy, gap, r: opposite(-dy * unit(gap, r))), "changed places"),
        (distance_by(lambda dy, gap, r: opposite(dy * gap)), "as long as the gap"),
        (distance_by(lambda dy, gap, r: opposite(2.0 * dy * gap)), "squared"),
        (distance_by(lambda dy, gap, r: opposite(0.5 * dy / r)), "single numbers"),
        (distance_by(lambda dy, gap, r: opposite(dy * np.sum(gap) / r)), "single numbers"),
        (distance_by(lambda dy, gap, r: opposite(np.sign(gap) * dy)), "grows by as much as a moves"),
        (distance_by(lambda dy, gap, r: (..., ...)), "Replace the three dots"),
        (distance_by(lambda dy, gap, r: opposite(dy * gap / r / 2.0)), "half as large"),
        (
            distance_by(lambda dy, gap, r: opposite(dy * gap / r if r else 0.0)),
            "Where they coincide, your contributions",
        ),
        (distance_by(lambda dy, gap, r: opposite(dy * gap / np.where(r > 0, ad.stop_gradient(r), 1))), "and uncut"),
        (distance_by(lambda dy, gap, r: opposite(dy * gap / (r + 1e-3))), "grows by as much as a moves"),
        (distance_by(lambda dy, gap, r: opposite(unit(gap, r))), "cotangent is forgotten"),
        (distance_by(lambda dy, gap, r: opposite(np.abs(dy) * unit(gap, r))), "when -2.5 arrives"),
        (distance_by(lambda dy, gap, r: opposite(dy * gap / r)), "Do you divide 0 by 0"),
        (distance_by(lambda dy, gap, r: opposite(np.where(r > 0.0, dy * gap / r, 1.0))), "and should be 0"),
        (distance_by(lambda dy, gap, r: opposite(dy * unit(gap, r).numpy())), "plain numbers have forgotten"),
        (distance_by(lambda dy, gap, r: opposite(dy * gap / (float(r) or 1.0))), "your `r` has forgotten"),
        (distance_by(lambda dy, gap, r: opposite(dy * unit(ad.stop_gradient(gap), r))), "computed from plain numbers"),
        (distance_by(lambda dy, gap, r: opposite(dy * unit(gap, r)), lambda gap: np.sum(gap * gap)), "should be 2.5"),
        (lambda a, b: np.sqrt(np.sum((a - b) ** 2)), "no custom gradient"),
        (lambda a, b: (a, lambda dy: dy), "returns a tuple"),
        (lambda a, b: None, "returns None"),
        (3.0, "without calling it"),
    ],
    3: [
        (log_cosh(lambda dy, x, size, small: dy * np.sign(x) * (1 - small) / (1 + small)), "Right once, wrong twice"),
        (log_cosh(lambda dy, x, size, small: dy * np.where(x > 0, 1.0, -1.0) * np.tanh(size)), "has a kink there"),
        (log_cosh(plain), "forgotten that it came from x"),
        (plain_outside, "forgotten that it came from x"),
        (log_cosh(half_plain), "even away from 0"),
        (log_cosh(lambda dy, x, *_: dy.numpy() * np.tanh(x)), "Leave dy a tensor"),
        (log_cosh(lambda dy, x, *_: ad.stop_gradient(dy) * np.tanh(x)), "Leave dy a tensor"),
        (log_cosh(fraction), "it is nan: an exponential overflows"),
        (
            log_cosh(lambda dy, x, *_: dy - 2.0 * dy / (np.exp(2.0 * x) + 1.0) + 0.0 * np.exp(x)),
            "exponential overflows",
        ),
        (log_cosh(lambda dy, x, *_: (1.0 - np.exp(-2.0 * x)) * dy / (1.0 + np.exp(-2.0 * x))), "it is nan: an exp"),
        (log_cosh(lambda dy, x, *_: dy * (1.0 - 2.0 / (1.0 + np.exp(2.0 * x)))), "but its slope is nan there"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(np.clip(x, -5, 5)) * np.where(x > 99, 2.0, 1.0)), "-1 at -1000"),
        (log_cosh(lambda dy, x, *_: np.tanh(x)), "without the cotangent"),
        (log_cosh(lambda dy, x, *_: dy * -np.tanh(x)), "sign is turned round"),
        (log_cosh(lambda dy, x, *_: dy), "unchanged"),
        (log_cosh(lambda dy, x, size, small: dy * np.tanh(size)), "lost its sign"),
        (log_cosh(lambda dy, x, size, small: dy * x / size * (1 - small) / (1 + small)), "0 divided by 0"),
        (log_cosh(lambda dy, x, *_: dy * np.sign(x)), r"slope of \|x\|"),
        (log_cosh(lambda dy, x, *_: dy / np.cosh(x) ** 2), "slope of the slope"),
        (log_cosh(lambda dy, x, *_: dy * np.sinh(x)), "not yet divided"),
        (log_cosh(lambda dy, x, *_: dy + np.tanh(x)), "Multiply by it"),
        (log_cosh(lambda dy, x, *_: np.abs(dy) * np.tanh(x)), "should become"),
        (log_cosh(lambda dy, x, *_: dy * 3.0), "should become"),
        (log_cosh(lambda dy, x, *_: None), "returns None"),
        (log_cosh(lambda dy, x, *_: ...), "three dots"),
        (log_cosh(lambda dy, x, *_: (dy, dy, dy)), "What is computed with your log_cosh raised ValueError"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(x), lambda x: np.log(np.cosh(x))), "the value overflows"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(x), lambda x: np.logaddexp(x, -x)), "too large by log 2"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(x), np.cos), "the value should be"),
        (lambda x: np.logaddexp(x, -x) - np.log(2.0), "no custom gradient"),
        (lambda x: (x, lambda dy: dy), "returns a tuple"),
        (lambda x: None, "returns None"),
        (lambda x: 3.0, "not a tensor"),
        (lambda: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
