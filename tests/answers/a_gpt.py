"""Answers to the exercises of a-gpt."""

import numpy as np

import autodiff_edu as ad
from autodiff_edu.course.chapters.a_gpt import softmax

ILL = {"A": "dead head", "B": "score at 0", "C": "too slow", "D": "unmasked", "fifth": "out"}
SHAPES = {"weights": (8, 10, 10), "cotangent": (16, 32), "rows": 4, "unmasked": 10}


def ill(**other):
    return ILL | other


def shapes(**other):
    return SHAPES | other


def by_rows(queries, keys, values):
    """Look from each letter in turn."""
    found = []
    for n in range(len(queries)):
        seen = slice(max(n - 2, 0), n + 1)
        scores = keys[seen] @ queries[n] / len(queries[0]) ** 0.5
        found.append(softmax(scores) @ values[seen])
    return np.stack(found)


def with_where(queries, keys, values):
    scores = np.where(near(len(queries)) > 0, queries @ keys.T, -1e9 * np.ones((len(queries), len(keys))))
    return softmax(scores / np.sqrt(queries.shape[1])) @ values


def with_powers(queries, keys, values):
    powers = np.exp(queries @ keys.T / queries.shape[1] ** 0.5) * near(len(queries))
    return powers / np.sum(powers, axis=1, keepdims=True) @ values


def scale_queries(queries, keys, values):
    scores = (queries / np.sqrt(queries.shape[-1])) @ np.swapaxes(keys, 0, 1)
    hidden = np.triu(np.ones(scores.shape), k=1) + np.tril(np.ones(scores.shape), k=-3)
    return ad.nn.softmax(scores - 1e9 * hidden, axis=1) @ values


def near(n):
    return np.tri(n) - np.tri(n, k=-3)


def mask(scores, reach=near):
    return scores + 1e9 * (reach(len(scores)) - 1.0)


def root(queries):
    return np.sqrt(queries.shape[-1])


RIGHT = {
    1: [ILL, {"D": "Unmasked", "C": " too slow", "B": "SCORE AT 0", "A": "dead head", "fifth": "out"}],
    2: [by_rows, with_where, with_powers, scale_queries],
    3: [SHAPES, shapes(queries=[8, 10, 4], cotangent=np.array([16, 32]))],
}

WRONG = {
    1: [
        (ill(A="unmasked"), "Which column is odd"),
        (ill(A="zeros"), "three heads have slopes"),
        (ill(A="too slow"), "as a healthy one's does"),
        (ill(B="unmasked"), "too good to be true"),
        (ill(B="zeros"), "nothing would ever move"),
        (ill(A="score at 0"), "all four heads would have the slope 0"),
        (ill(B="dead head"), "all four heads of B have slopes"),
        (ill(B="too slow", C="zeros"), "What was 0 at turn 0, and isn't"),
        (ill(C="unmasked"), "Would peeping"),
        (ill(C="zeros"), "C's slopes aren't 0"),
        (ill(C="dead head"), "why is it still there"),
        (ill(D="zeros"), "plays fair"),
        (ill(D="dead head"), "good news"),
        (ill(D="too slow"), "How surely"),
        (ill(fifth="value"), "a factor of its slope"),
        (ill(fifth="neither"), "the values aren't 0"),
        (ill(A=...), "Replace the three dots"),
        ({"A": "dead head"}, "No answer is given for B"),
        (ill(A="ill"), 'Write "unmasked"'),
        ("zeros", "dict"),
    ],
    2: [
        (lambda q, k, v: softmax(q @ k.T / root(q)) @ v, "sees the ones that follow"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q), np.tri)) @ v, "look at all that come before"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q), lambda n: np.tri(n) - np.tri(n, k=-2))) @ v, "and count"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q), lambda n: np.tri(n) - np.tri(n, k=-4))) @ v, "and count"),
        (lambda q, k, v: softmax(mask(q @ k.T)) @ v, "aren't divided"),
        (lambda q, k, v: softmax(mask(q @ k.T) / 2) @ v, "d isn't always 4"),
        (lambda q, k, v: softmax(mask(q @ k.T) / q.shape[1]) @ v, "By its root"),
        (lambda q, k, v: softmax(q @ k.T / root(q)) * near(len(q)) @ v, "no longer adds up to 1"),
        (lambda q, k, v: softmax(near(len(q)) * (q @ k.T) / root(q)) @ v, "its power is 1"),
        (lambda q, k, v: softmax(mask(k @ q.T / root(q))) @ v, "changed places"),
        (lambda q, k, v: softmax(mask((q @ k.T).T / root(q))) @ v, "changed places"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q)).T).T @ v, "Each column adds up to 1"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q), lambda n: near(n).T)) @ v, "upside down"),
        (
            lambda q, k, v: softmax(mask(q @ k.T / root(q), lambda n: np.tri(n, k=-1) - np.tri(n, k=-3))) @ v,
            "look at itself",
        ),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q))), "What are they weights of"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q))) @ ad.stop_gradient(v), "a slope is lost"),
        (lambda q, k, v: softmax(mask(q @ k.T / root(q))) @ k, "your numbers differ"),
        (lambda q, k, v: None, "returns None"),
        (lambda q, k, v: ..., "three dots"),
        (1.0, "without calling it"),
    ],
    3: [
        (shapes(rows=5), "fifth place holds"),
        (shapes(rows=3), "it has place 0"),
        (shapes(rows=1), "before it, too"),
        (shapes(rows=10), "What does the mask do"),
        (shapes(rows=9), "What does the mask do"),
        (shapes(rows=16), "Which places"),
        (shapes(rows=7), "For rows: 7 doesn't fit"),
        (shapes(unmasked=4), "what can that guess look at"),
        (shapes(unmasked=9), "The dot goes in, too"),
        (shapes(unmasked=16), "How many places"),
        (shapes(unmasked=5), "For unmasked: 5 doesn't fit"),
        (shapes(weights=(10, 10)), "weights of its own"),
        (shapes(weights=(8, 9, 9)), "The dot that begins"),
        (shapes(weights=(8, 10, 4)), "How many keys"),
        (shapes(weights=(8, 16, 16)), "Only as many places"),
        (shapes(weights=(8, 11, 11)), "nothing follows it"),
        (shapes(cotangent=(10, 32)), "the shape of its tensor"),
        (shapes(cotangent=(16, 16)), "32 numbers wide"),
        (shapes(cotangent=(9, 32)), "the shape of its tensor"),
        (shapes(weights=(3, 3)), "doesn't fit"),
        (shapes(weights=...), "three dots"),
        ({"rows": 4}, "No answer is given for weights"),
        (shapes(weights=7), "I need a shape"),
    ],
}
