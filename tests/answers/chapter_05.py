"""Answers to the exercises of chapter 5."""

import math

import numpy as np

import autodiff_edu as ad


def slope_of(f, make=ad.Variable):
    """Make a program that gives the slope of f at a value."""

    def program(value):
        x = make(value)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return program


def real(value):
    return ad.Variable(value, dtype=float)


def constant_unwatched(value):
    x = ad.constant(value)
    with ad.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def before(value):
    x = ad.Variable(value)
    y = np.sin(x)
    with ad.GradientTape() as tape:
        z = y * y
    return tape.gradient(z, x)


def by_y(value):
    y = np.sin(ad.Variable(value))
    with ad.GradientTape() as tape:
        tape.watch(y)
        z = y * y
    return tape.gradient(z, y)


def integer(value):
    x = ad.Variable(value)
    with ad.GradientTape() as tape:
        y = x * x * x
    return tape.gradient(y, x)


def zeros(value):
    x = ad.constant(value)
    with ad.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, unconnected_gradients="zero")


def descent(change):
    """Make program five, with `change` for the step."""

    def program(value):
        w = ad.Variable(value)
        for epoch in range(2):
            with ad.GradientTape() as tape:
                loss = (w - 3.0) ** 2
            slope = tape.gradient(loss, w)
            if epoch == 0:
                w = change(w, 0.1 * slope)
        return slope

    return program


MENDED = [
    slope_of(lambda x: x * x, ad.constant),
    slope_of(lambda x: np.sin(x) ** 2),
    slope_of(lambda x: x * x * x, real),
    slope_of(lambda x: np.exp(x) * x),
    descent(lambda w, step: w.assign_sub(step)),
]


def but(n, program):
    """Give the mended programs with another one in place n (1 to 5)."""
    return [*MENDED[: n - 1], program, *MENDED[n:]]


TEN = {"a": 4.0, "b": 0, "c": None, "d": 2.0, "e": None, "f": 1.0, "g": 0.0, "h": 2.0, "i": None, "j": 0}

RIGHT = {
    "5.1": [MENDED, tuple(MENDED), but(5, descent(lambda w, step: ad.Variable(w - step)))],
    "5.2": [TEN, {letter: None if slope is None else ad.constant(float(slope)) for letter, slope in TEN.items()}],
}

WRONG = {
    "5.1": [
        (but(1, constant_unwatched), "4 of 5 are mended"),
        (but(1, constant_unwatched), "Who tells the tape"),
        (but(1, zeros), "hides the cut"),
        (but(1, slope_of(lambda x: float(x) * x)), "one of the two factors"),
        (but(1, lambda value: 2.0), "whatever its value is"),
        (but(1, lambda value: ...), "three dots"),
        (but(1, lambda: 2.0), "raised TypeError"),
        (but(2, before), "before the tape begins"),
        (but(2, by_y), "slope of z by y"),
        (but(2, slope_of(np.sin)), "slope of y"),
        (but(3, integer), "keeps the dtype"),
        (but(3, slope_of(lambda x: x * x * x)), "three.*raised TypeError"),
        (but(3, slope_of(lambda x: float(x) ** 2 * x, real)), "Two of the three"),
        (but(4, slope_of(lambda x: np.exp(float(x)) * x)), "NumPy's exp"),
        (but(4, slope_of(lambda x: math.exp(x) * x)), r"raised TypeError.*math\.exp takes"),
        (but(4, slope_of(lambda x: np.exp(x) * float(x))), "second factor"),
        (but(4, slope_of(lambda x: ad.constant(np.exp(float(x))) * 2.0)), "What does `float` turn"),
        (but(4, slope_of(lambda x: np.exp(x) * x * x)), "Leave the formula"),
        (but(5, descent(lambda w, step: w - step)), "still a variable"),
        (but(5, descent(lambda w, step: w)), "before the first step"),
        (but(5, descent(lambda w, step: w.assign_add(step))), "uphill"),
        (but(5, descent(lambda w, step: w.assign(step))), "replaces the value"),
        (MENDED[:4], "list of the five functions"),
        (MENDED[0], "list of the five functions"),
        ([2.0] * 5, "list of the five functions"),
    ],
    "5.2": [
        ({**TEN, "c": 0}, "0 would be a slope that arrived"),
        ({**TEN, "e": 0}, "does not lead through floor"),
        ({**TEN, "b": None}, "None would mean that no way"),
        ({**TEN, "g": None}, "maximum is no step function"),
        ({**TEN, "g": 1}, "larger one is 3"),
        ({**TEN, "h": 4}, "true derivative"),
        ({**TEN, "h": None}, "one way is cut"),
        ({**TEN, "d": 4}, "one contribution only"),
        ({**TEN, "i": 12}, "where they came from is lost"),
        ({**TEN, "i": 3}, "slope by c"),
        ({**TEN, "j": 1}, "other branch"),
        ({**TEN, "j": None}, "where is on the tape"),
        ({**TEN, "f": None}, "only chooses"),
        ({**TEN, "a": 2}, "contributions add up"),
        ({**TEN, "a": 2, "j": 1}, "8 of 10 are right"),
        ({**TEN, "c": "None"}, "without quotes"),
        ({**TEN, "a": [1, 2]}, "the gradient in a"),
        ({**TEN, "a": ..., "e": ...}, "Still open: a, e"),
        ({"a": 4}, "No gradient is given for b"),
        ([4.0] * 10, "I need a dict"),
    ],
}
