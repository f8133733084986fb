"""Answers to the exercises of multiple-tapes."""

import numpy as np

import autodiff_edu as ad

cut = ad.stop_gradient
GAMES = {"A": "bribed", "B": "unwatched", "C": "shared", "D": "cut"}


def games(**other):
    return GAMES | other


def uncut(his_loss, her_loss, x, y):
    return his_loss(x, y) + her_loss(x, y)


def with_names(his_loss, her_loss, x, y):
    still_x, still_y = cut(x), cut(y)
    first = his_loss(x, still_y)
    second = her_loss(still_x, y)
    return second + first


def with_constants(his_loss, her_loss, x, y):
    return his_loss(x, ad.constant(y.numpy())) + her_loss(ad.constant(x.numpy()), y)


def by_list(his_loss, her_loss, x, y):
    return sum([his_loss(x, cut(y)), her_loss(cut(x), y)])


def with_own_tapes(his_loss, her_loss, x, y):
    """Find both slopes on tapes of its own, and make a sum that has them."""
    with ad.GradientTape() as his, ad.GradientTape() as hers:
        his.watch(x), hers.watch(y)
        one, other = his_loss(x, y), her_loss(x, y)
    to_x, to_y = his.gradient(one, x), hers.gradient(other, y)
    bridge = np.sum(cut(to_x) * (x - cut(x))) + np.sum(cut(to_y) * (y - cut(y)))
    return cut(one + other) + bridge


def pausing_a_new_tape(his_loss, her_loss, x, y):
    tape = ad.GradientTape()
    with tape.stop_recording():
        still_x, still_y = x, y
    return his_loss(x, still_y) + her_loss(still_x, y)


def pausing_no_tape(his_loss, her_loss, x, y):
    with tape.stop_recording():  # noqa: F821
        still_y = 1.0 * y
    return his_loss(x, still_y) + her_loss(x, y)


def returning_slopes(his_loss, her_loss, x, y):
    with ad.GradientTape() as his:
        his.watch(x)
        one = his_loss(x, y)
    with ad.GradientTape() as hers:
        hers.watch(y)
        other = her_loss(x, y)
    return his.gradient(one, x), hers.gradient(other, y)


def summing(his, hers):
    """Make an answer that adds the losses, each of what these make of x and y."""
    return lambda his_loss, her_loss, x, y: his_loss(*his(x, y)) + her_loss(*hers(x, y))


LANES = {"first": {"q", "s"}, "second": {"p", "r", "s", "t"}}


def lanes(first=("q", "s"), second=("p", "r", "s", "t")):
    return {"first": set(first), "second": set(second)}


RIGHT = {
    1: [
        GAMES,
        {"D": "Cut", "C": " shared", "B": "UNWATCHED", "A": "bribed"},
        dict(zip("ABCD", ("bribed", "unwatched", "shared", "cut"), strict=True)),
    ],
    2: [with_names, with_constants, by_list, with_own_tapes],
    3: [
        LANES,
        {"first": "q, s", "second": ["t", "s", "r", "p"]},
        lanes(first=("s", "q")),
        {"first": "qs", "second": ["P", "R", "S", "T "]},
    ],
}

WRONG = {
    1: [
        (games(B="cut", D="unwatched"), "B and D have changed places"),
        (games(A="shared", C="bribed"), "A and C have changed places"),
        (games(A="cut"), "some slope gets to his parameters"),
        (games(A="unwatched"), "rate any coin above another"),
        (games(A="shared", C="cut"), "Which of the two losses keeps falling"),
        (games(B="shared"), "nothing moves at all"),
        (games(B="cut"), "she would still learn"),
        (games(B="bribed"), "Which fault stops her"),
        (games(C="unwatched"), "it would stay"),
        (games(C="bribed"), "If she worked for him"),
        (games(D="bribed"), "his loss rises"),
        (games(D="shared"), "no coin moves"),
        (games(D="unwatched"), "So who learns?"),
        (games(A=...), "Replace the three dots"),
        ({"A": "cut"}, "No answer is given for B"),
        (games(A="sum"), 'Write "cut"'),
        ("cut", "dict"),
    ],
    2: [
        (uncut, "this is the shared loss"),
        (pausing_a_new_tape, "A cut needs no tape"),
        (pausing_no_tape, "A cut needs no tape"),
        (summing(lambda x, y: (cut(x), y), lambda x, y: (x, cut(y))), "The wrong ones stand still"),
        (summing(lambda x, y: (x, cut(y)), lambda x, y: (x, y)), "x still hears of both"),
        (summing(lambda x, y: (x, y), lambda x, y: (cut(x), y)), "y still hears of both"),
        (summing(lambda x, y: (cut(x), y), lambda x, y: (x, y)), "In his loss, x is the one"),
        (summing(lambda x, y: (x, y), lambda x, y: (x, cut(y))), "In her loss, y is the one"),
        (summing(lambda x, y: (x, cut(y)), lambda x, y: (x, cut(y))), "y hears nothing"),
        (summing(lambda x, y: (cut(x), y), lambda x, y: (cut(x), y)), "x hears nothing"),
        (summing(lambda x, y: (cut(x), cut(y)), lambda x, y: (cut(x), cut(y))), "both slopes are None"),
        (lambda one, other, x, y: cut(one(x, y)) + other(x, y), "nobody hears of his"),
        (lambda one, other, x, y: one(x, y) + cut(other(x, y)), "nobody hears of hers"),
        (lambda one, other, x, y: cut(one(x, y) + other(x, y)), "None"),
        (lambda one, other, x, y: (one(x, cut(y)), other(cut(x), y)), "one number"),
        (lambda one, other, x, y: one(x, cut(y)) - other(cut(x), y), "the sum of the two losses is"),
        (lambda one, other, x, y: one(x, cut(y)), "the sum of the two losses is"),
        (lambda one, other, x, y: [one(x, y), other(x, y)], "one number"),
        (summing(lambda x, y: (cut(x), cut(y)), lambda x, y: (cut(x), y)), "x hears nothing. In his loss"),
        (summing(lambda x, y: (x, cut(y)), lambda x, y: (cut(x), cut(y))), "y hears nothing. In her loss"),
        (summing(lambda x, y: (x, y), lambda x, y: (cut(x), cut(y))), "nobody hears of hers"),
        (lambda one, other, x, y: (one(x, cut(y)) + other(cut(x), y)) / 2, "Keep the sum"),
        (returning_slopes, "Those are the two slopes"),
        (lambda *args: list(returning_slopes(*args)), "Those are the two slopes"),
        (lambda one, other, x, y: None, "returns None"),
        (lambda one, other, x, y: ..., "three dots"),
        (1.0, "without calling it"),
    ],
    3: [
        ({"first": LANES["second"], "second": LANES["first"]}, "changed places"),
        (lanes(first="pqs"), "uses x alone"),
        (lanes(first="s"), "`first` watches trainable variables by itself"),
        (lanes(first="qrs"), "`first` is paused"),
        (lanes(first="qst"), "nothing but r"),
        (lanes(first="q"), "uses y too"),
        (lanes(second="pqrst"), "watches x alone"),
        (lanes(second="rst"), "asked to watch"),
        (lanes(second="pst"), "concerns one tape"),
        (lanes(second="prt"), "follows that chain"),
        (lanes(second="prs"), "has recorded r"),
        ({"first": {...}, "second": {...}}, "three dots"),
        ({"first": {"q", "s"}}, "No answer is given for second"),
        ({"first": 3, "second": {"q"}}, "set of names"),
        (lanes(first=["z"]), "The lines are"),
    ],
}
