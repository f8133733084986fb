"""Answers to the exercises of training."""

import numpy as np

CAUSES = {"P": "dead", "Q": "labels", "R": "rate", "S": "saturated", "T": "columns"}


def fitted(x, weights, go_on=lambda x, w: np.tanh(x @ w), size=np.std):
    found = []
    for w in weights:
        found.append(w / size(x @ w))
        x = go_on(x, found[-1])
    return found


def in_one_product(x, weights):
    found = []
    for w in weights:
        made = x @ w
        spread = np.sqrt(np.mean((made - made.mean()) ** 2))
        found.append(w / spread)
        x = np.tanh(made / spread)
    return tuple(found)


def behind_the_old_ones(x, weights):
    found = []
    for w in weights:
        found.append(w / np.std(x @ w))
        x = np.tanh(x @ w)
    return found


def values_of(x, layers):
    values = []
    for w, b in layers:
        x = np.tanh(x @ w + b)
        values.append(x)
    return values


RIGHT = {
    1: [CAUSES, {name: cause.upper() for name, cause in CAUSES.items()}],
    2: [fitted, in_one_product],
    3: [
        lambda x, layers: int(np.argmin([np.mean(1 - v**2) for v in values_of(x, layers)])),
        lambda x, layers: np.argmax([np.mean(np.abs(v) > 0.97) for v in values_of(x, layers)]),
        lambda x, layers: np.argmax([np.mean(v**2) for v in values_of(x, layers)]),
    ],
}

WRONG = {
    1: [
        ({**CAUSES, "R": "saturated"}, "Was it at the start?"),
        ({**CAUSES, "P": "saturated"}, "exactly 0"),
        ({**CAUSES, "Q": "columns"}, "how common each is"),
        ({**CAUSES, "S": "dead"}, "tanh has a slope everywhere"),
        ({**CAUSES, "T": "labels"}, "82 of 100"),
        ({**CAUSES, "T": ...}, "T"),
    ],
    2: [
        (lambda x, weights: fitted(x, weights, go_on=lambda x, w: x @ w), "after the bend"),
        (behind_the_old_ones, r"\*repaired\* first layer"),
        (lambda x, weights: fitted(x, weights, size=np.var), "variance"),
        (lambda x, weights: [w / np.std(w) for w in weights], "weights alone"),
        (lambda x, weights: [w / np.sqrt(len(w)) for w in weights], "rule of thumb"),
        (lambda x, weights: fitted(x, weights, size=np.linalg.norm), "number of rows"),
        (lambda x, weights: weights[0], "a list with a matrix for each layer"),
        (lambda x, weights: ..., "three dots"),
    ],
    3: [
        (lambda x, layers: 0, "come through all the others"),
        (lambda x, layers: int(np.argmax([np.linalg.norm(w) for w, _ in layers])), "it is the offsets"),
        (lambda x, layers: int(np.argmax([np.linalg.norm(b) for _, b in layers])), "it is the weights"),
        (lambda x, layers: int(np.argmin([np.mean(1 - v**2) for v in values_of(x, layers)])) + 1, "count from 1"),
        (lambda x, layers: 3, "always name the last"),
        (lambda x, layers: ..., "three dots"),
    ],
}
