"""Answers to the exercises of chapter 5: merged layers, a start at zero, and the rule of another bend."""

import numpy as np


def by_probing(layers):
    """Find W and b from what the stack does with unit vectors."""

    def stack(x):
        for w, b in layers:
            x = x @ w + b
        return x

    size = layers[0][0].shape[0]
    b = stack(np.zeros((1, size)))[0]
    return stack(np.eye(size)) - b, b


def backwards(layers):
    w, b = layers[-1]
    for before, offset in reversed(layers[:-1]):
        w, b = before @ w, offset @ w + b
    return [w, b]


def by_itself(layers):
    if len(layers) == 1:
        return layers[0]
    (w, b), (v, c), *rest = layers
    return by_itself([(w @ v, b @ v + c), *rest])


def unpacking_two(layers):
    (w, b), (v, c) = layers
    return w @ v, b @ v + c


def with_the_new_w(layers):
    w, b = layers[0]
    for v, c in layers[1:]:
        w = w @ v
        b = b @ w + c
    return w, b


def merging(offset, product=lambda w, v: w @ v, stop=None):
    def merge(layers):
        w, b = layers[0]
        for v, c in layers[1:stop]:
            w, b = product(w, v), offset(b, v, c)
        return w, b

    return merge


def say(w1="stays", b1="stays", w2="stays", b2="moves"):
    return {"W1": w1, "b1": b1, "W2": w2, "b2": b2}


def halves(g, z, x, y):
    """Share the cotangent where both are equal."""
    return g * ((x > y) + 0.5 * (x == y)), g * ((y > x) + 0.5 * (x == y))


def by_choosing(g, z, x, y):
    first = np.where(np.asarray(x) > y, g, 0.0)
    return first, g - first


RIGHT = {
    1: [by_probing, backwards, by_itself, merging(lambda b, v, c: v.T @ b + c)],
    2: [say(), {name: word.capitalize() for name, word in say().items()}],
    3: [
        halves,
        by_choosing,
        lambda g, z, x, y: (g * (x >= y), g * (x < y)),
        lambda g, z, x, y: [g * (z > y), g * (z > x)],
        lambda g, z, x, y: (g * (x > y), np.sum(g * (x < y), axis=tuple(range(np.ndim(g) - np.ndim(y))))),
    ],
}

WRONG = {
    1: [
        (merging(lambda b, v, c: c), "The first offset is still missing from b"),
        (merging(lambda b, v, c: b + c), "The first offset doesn't arrive as it is"),
        (merging(lambda b, v, c: b @ v), "then that layer adds its own"),
        (merging(lambda b, v, c: b @ v + c, lambda w, v: v @ w), "W1 stands on the left"),
        (lambda layers: (layers[1][0] @ layers[0][0], layers[0][1]), "W1 stands on the left"),
        (merging(lambda b, v, c: b @ v + c, lambda w, v: w * v), "Layers are applied with `@`"),
        (merging(lambda b, v, c: b @ v + c, stop=2), "go on until the last one"),
        (merging(lambda b, v, c: b @ v + c, lambda w, v: w @ v.T), "W is|W should|raised|at W"),
        (merging(lambda b, v, c: v @ b + c), "it stands on the left of the next layer's W"),
        (with_the_new_w, "that of several layers"),
        (unpacking_two, "go on until the last one"),
        (lambda layers: backwards([layers[0], *layers]), "The first layer is in it twice"),
        (lambda layers: backwards(layers[::-1]), "W1 stands on the left"),
        (lambda layers: layers[-1], "the last layer alone"),
        (lambda layers: layers[0], "the first layer alone"),
        (lambda layers: tuple(sum(parts) for parts in zip(*layers, strict=True)), "one after the other"),
        (lambda layers: layers[0][0] @ layers[1][0], "Return W and b"),
        (lambda layers: (..., ...), "three dots"),
        (lambda layers: None, "Is a `return` missing"),
        (lambda layers: layers, "should be"),
    ],
    2: [
        (say(*["moves"] * 4), "If all of them moved"),
        (say(b2="stays"), "Then the loss wouldn't fall at all"),
        (say(w2="moves"), "What arrives at W2 is"),
        (say(b1="moves"), "What arrives at b1"),
        (say("moves", "moves"), "What arrives at W1 and b1"),
        (say("moves", w2="moves"), "what arrives at W2 is"),
        (say("moves", "moves", "moves", "stays"), "isn't multiplied by anything"),
        (say("moves"), "with a pencil"),
        (say(b2="both"), '"moves" or "stays"'),
        ({"W1": "stays"}, "No answer is given for"),
        (say(b2=...), "three dots"),
    ],
    3: [
        (lambda g, z, x, y: (g, g), "the rule of `x \\+ y`"),
        (lambda g, z, x, y: (np.maximum(g, 0.0), np.maximum(g, 0.0)), "not of g: a cotangent may be negative"),
        (lambda g, z, x, y: (np.maximum(g, x), np.maximum(g, y)), "of x and y, not of g"),
        (lambda g, z, x, y: (g * z, g * z), "z is the value of the larger one"),
        (lambda g, z, x, y: (np.maximum(g * x, 0.0), np.maximum(g * y, 0.0)), "not by a value"),
        (lambda g, z, x, y: (g * (x > 0.0), g * (y > 0.0)), "You compare with 0"),
        (lambda g, z, x, y: (1.0 * (x > y), 1.0 * (x < y)), "The cotangent g has to be multiplied"),
        (lambda g, z, x, y: (g * (x < y), g * (x > y)), "x gets what y should get"),
        (lambda g, z, x, y: (g * (x > y), g), "x is right"),
        (lambda g, z, x, y: (g * (x > y), 0.0), "a nudge of y moves z"),
        (lambda g, z, x, y: (g * (x > y),), "Return a pair"),
        (lambda g, z, x, y: (g, 0.0) if x > y else (0.0, g), "an `if` can't ask it"),
        (lambda g, z, x, y: (g * (x > 0.0), 0.0), "the rule of relu, where y is 0"),
        (lambda g, z, x, y: (g * (x > y), -g * (x < y)), "which sign"),
        (lambda g, z, x, y: (np.maximum(g, 0.0), np.minimum(g, 0.0)), "the larger one moves z"),
        (lambda g, z, x, y: (..., ...), "three dots"),
        (lambda g, z, x, y: None, "Is a `return` missing"),
    ],
}
