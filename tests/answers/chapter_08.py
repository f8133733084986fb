"""Answers to the exercises of chapter 8."""

import numpy as np

import autodiff_edu as ad

CUTS = {"a": 3.0, "b": None, "c": 9.0}


def through_an_existing_value(x, constant):
    y = x * x
    return y + constant(lambda: y)


def through_what_is_kept_on_the_way(x, constant):
    kept = []

    def f():
        kept.append(x * x)
        return kept[0] * 2.0

    return x * constant(f) + kept[0]


RIGHT = {
    "8.1": [CUTS, {"a": ad.constant(3.0), "b": None, "c": 9}],
    "8.2": [
        lambda x: x + ad.stop_gradient(np.round(x) - x),
        lambda x: x - ad.stop_gradient(x - np.round(x)),
        lambda x: np.round(x) + x - ad.stop_gradient(x),
    ],
    "8.3": [
        lambda x, constant: x * constant(lambda: x),
        through_an_existing_value,
        through_what_is_kept_on_the_way,
    ],
}

WRONG = {
    "8.1": [
        ({**CUTS, "a": 6.0}, "slope of x²"),
        ({**CUTS, "a": 9.0}, "value of a"),
        ({**CUTS, "a": None}, "only one of the two"),
        ({**CUTS, "a": 0.0}, "one factor is cut"),
        ({**CUTS, "a": 1.0}, "times the *value*"),
        ({**CUTS, "a": 4.0}, "which is 3"),
        ({**CUTS, "b": 0.0}, "no number"),
        ({**CUTS, "b": 6.0}, "only arrow"),
        ({**CUTS, "c": 6.0}, "square alone"),
        ({**CUTS, "c": 3.0}, "The square counts"),
        ({**CUTS, "c": 12.0}, "without scissors"),
        ({**CUTS, "c": 18.0}, "value of c"),
        ({**CUTS, "c": 7.0}, "four arrows"),
        ({**CUTS, "c": None}, "not cut at all"),
        ({**CUTS, "c": ...}, "Still open: c"),
        ({"a": 3.0}, "for b, c"),
    ],
    "8.2": [
        (lambda x: np.round(x), "no uncut way"),
        (lambda x: ad.stop_gradient(np.round(x)), "no uncut way"),
        (lambda x: x, "nothing is rounded"),
        (lambda x: x + (np.round(x) - x), "gradient is 0"),
        (lambda x: x + ad.stop_gradient(x - np.round(x)), "wrong sign"),
        (lambda x: x + ad.stop_gradient(np.round(x)), "must not count twice"),
        (lambda x: ad.stop_gradient(x) + np.round(x) - x, "-1"),
        (lambda x: np.round(x.numpy()), "must give a tensor"),
        (lambda x: x * 3.0, "np.round gives"),
        (lambda x: ..., "three dots"),
        (lambda x: None, "lack"),
        (lambda: 1.0, "raised TypeError"),
        (2.0, "without calling it"),
    ],
    "8.3": [
        (lambda x, constant: x * constant(lambda: x * x), "nothing is computed inside"),
        (lambda x, constant: x * x, "never calls"),
        (lambda x, constant: constant(lambda: x * x), "Both gradients are None"),
        (lambda x, constant: constant(lambda: x), "one gradient is None"),
        (lambda x, constant: x * constant(x), "without arguments"),
        (lambda x, constant: x * constant(lambda: ...), "three dots"),
        (lambda x, constant: constant(lambda: x) and 3.0, "one number computed from x"),
        (lambda x: x, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
