"""Answers to the exercises of backward."""

import numpy as np

import autodiff_edu as ad

SIX = {"f": 1.0, "e": 1.0, "d": 2.0, "c": 2.0, "b": 9.0, "a": 11.0, "y": 42.0, "x": 53.0}
RULES = {"add": lambda g, z, x, y: (g, g), "multiply": lambda g, z, x, y: (g * y, g * x)}


def walk(update, order=reversed, start=lambda entries, target: {target: 1.0}):
    """Make a backward pass that treats a contribution as `update` says."""

    def backward(entries, values, target):
        cotangents = start(entries, target)
        for output, operation, inputs in order(entries):
            g = cotangents.get(output, 0.0)
            contributions = RULES[operation](g, values[output], *(values[name] for name in inputs))
            for name, contribution in zip(inputs, contributions, strict=True):
                update(cotangents, name, contribution, g)
        return cotangents

    return backward


def add(cotangents, name, contribution, g):
    cotangents[name] = cotangents.get(name, 0.0) + contribution


def overwrite(cotangents, name, contribution, g):
    cotangents[name] = contribution


def add_to_g(cotangents, name, contribution, g):
    cotangents[name] = g + contribution


def add_times_g(cotangents, name, contribution, g):
    cotangents[name] = cotangents.get(name, 0.0) + g * contribution


def add_to_itself(cotangents, name, contribution, g):
    cotangents[name] = cotangents.setdefault(name, contribution) + contribution


def multiply(cotangents, name, contribution, g):
    cotangents[name] = cotangents.get(name, 1.0) * contribution


def overwrite_twice(cotangents, name, contribution, g):
    cotangents[name] = 2 * contribution


def add_to_nothing(cotangents, name, contribution, g):
    cotangents[name] += contribution


def ones(entries, target):
    return {name: 1.0 for output, _, inputs in entries for name in (output, *inputs)}


RIGHT = {
    1: [SIX, {name: ad.constant(value) for name, value in SIX.items()}],
    2: [
        lambda g, z, u, v: (g * u / z, g * v / z),
        lambda g, z, u, v: [ad.constant(u) * g / z, np.float32(v) * np.float32(g) / np.float32(z)],
        lambda g, z, u, v: tuple(side * g / np.sqrt(u**2 + v**2) for side in (u, v)),
        lambda g, z, u, v: np.array([g * u, g * v]) / z,
        lambda g, z, u, v: (g * 0.5 / z * 2 * u, g * 0.5 / z * 2 * v),
    ],
    3: [
        walk(add),
        walk(add_to_nothing, start=lambda entries, target: {**dict.fromkeys("abcdpqrxy", 0.0), target: 1.0}),
    ],
}

FACTOR = 4.0

WRONG = {
    1: [
        ({**SIX, "b": 8.0}, "`+=` in place of `=`"),
        ({**SIX, "b": 1.0}, "alone"),
        ({**SIX, "a": 2.0}, "alone"),
        ({**SIX, "x": 44.0}, "`+=`"),
        ({**SIX, "y": 20.0}, "alone"),
        ({**SIX, "d": 1.0}, "other factor"),
        ({**SIX, "f": 106.0}, "seed"),
        ({**SIX, "c": 40.0}, "is the value of c"),
        ({**SIX, "e": 7.0}, "that of e"),
        ({**SIX, "x": 7.0}, "to compute b and a"),
        ({**SIX, "x": "no"}, "Write a number, without quotes"),
        ({"f": 1.0}, "No cotangent is given for e"),
        ({**SIX, "a": ...}, "Still missing: a"),
    ],
    2: [
        (lambda g, z, u, v: (u / z, v / z), "leave out g"),
        (lambda g, z, u, v: (g * v / z, g * u / z), "changed places"),
        (lambda g, z, u, v: (2 * g * u, 2 * g * v), "What does the root do"),
        (lambda g, z, u, v: (g * u, g * v), "twice as far away"),
        (lambda g, z, u, v: (g / (2 * z), g / (2 * z)), "slope of the root alone"),
        (lambda g, z, u, v: (g * u / (2 * z), g * v / (2 * z)), "half of it"),
        (lambda g, z, u, v: (2 * g * u / z, 2 * g * v / z), "twice as much"),
        (lambda g, z, u, v: (g * u / z**2, g * v / z**2), "once too often"),
        (lambda g, z, u, v: (g * u / (u + v), g * v / (u + v)), "as the crow flies"),
        (lambda g, z, u, v: (g, g), "rule of addition"),
        (lambda g, z, u, v: (g * np.sign(u), g * np.sign(v)), "along the streets"),
        (lambda g, z, u, v: (g * z, g * z), "is the value"),
        (lambda g, z, u, v: g * u / z + g * v / z, "Return the contribution to u and the contribution to v"),
        (lambda g, z, u, v: (g * np.float64(z) / np.float64(u), g * np.float64(z) / np.float64(v)), "the other way up"),
        (lambda g, z, u, v: (g * z / u, g * z / v), "divides by zero|raised ZeroDivisionError|the other way up"),
        (lambda g, z, u, v: (g * abs(u) / z, g * abs(v) / z), "Now look at the contribution to u"),
        (lambda g, z, u, v: (g * u / z, g), "Now look at the contribution to v"),
        (lambda g, z, u, v: (g, g * v / z), "Now look at the contribution to u"),
        (lambda g, z, u, v: (g * FACTOR, g * u), "`FACTOR` of the notebook and never reads its argument"),
        (lambda g, z, u, v: None, "returns None"),
        (lambda g, z, u, v: (..., ...), "contribution to u is still missing"),
        (lambda u, v: (v, u), "raised TypeError"),
        (6.0, "without calling it"),
        (lambda g, z, u, v: ("a", "b"), "I need one number"),
    ],
    3: [
        (walk(overwrite), "overwrites"),
        (walk(add_to_g), "what was it added to"),
        (walk(add_to_nothing), "finds no accumulator"),
        (walk(add, order=list), "in reverse"),
        (walk(add, start=ones), "begins at 0.0"),
        (walk(add_times_g), "already multiplied by g"),
        (walk(add_to_itself), "once each, starting from 0.0"),
        (walk(multiply), "multiplies the two contributions"),
        (walk(overwrite_twice), "must be added once, to the name"),
        (lambda entries, values, target: None, "returns None"),
        (lambda entries, values, target: 6.0, "the dict of cotangents"),
        (lambda entries, values, target: {}, "no cotangent for a"),
        (lambda entries, values, target: {"a": 5.0}, "the slope is 6"),
        (lambda entries, values, target: {"a": 6.0 if len(entries) == 1 else 4.0}, "a diamond|p = x"),
        (lambda wrong: {}, "raised TypeError"),
    ],
}
