"""Answers to the exercises of corners."""

import numpy as np

import autodiff_edu as ad

relu = ad.nn.relu


def branches(order, demand):
    return np.where(order > demand, order - demand, 3 * (demand - order))


def other_way_round(order, demand):
    return np.where(order <= demand, 3 * (demand - order), order - demand)


def product(order, demand):
    over = order - demand
    return over * np.where(over > 0, 1.0, -3.0)


def two_choices(order, demand):
    """Of the two corners one takes 0 and the other everything."""
    return relu(order - demand) + 3 * np.clip(demand - order, 0, None)


def flags(order, demand):
    over = order - demand
    return over * (over > 0) - 3 * over * (over <= 0)


@ad.custom_gradient
def own_rule(order, demand):
    def backward(dy):
        return dy * np.where(order > demand, 1.0, -3.0), None

    return np.maximum(order - demand, 3 * (demand - order)), backward


def day_by_day(order, demand):
    """An `if` for each day."""
    return np.stack([o - d if o > d else 3 * (d - o) for o, d in zip(order, demand, strict=True)])


def clip(order, demand):
    """A base line of slope -3, and what bends it: min is 0 at the tie by `where`."""
    return 3 * (demand - order) + 4 * relu(order - demand)


def steps(f, x):
    return f(x + 1e-4) >= f(x) and f(x - 1e-4) >= f(x)


def slopes(f, x, h=1e-4):
    left, right = (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h
    return left <= 0 <= right


def nudges(f, x):
    """By the tape's own nudges."""
    value = ad.Variable(x)
    with ad.GradientTape(persistent=True) as tape:
        y = f(value)
    return all(tape.nudge(y, value, by).moved >= 0 for by in (-1e-4, 1e-4))


def beside(f, x):
    """By the tape's slopes a little to the left and to the right."""
    left, right = (float(ad.grad(f)(x + by)) for by in (-1e-5, 1e-5))
    return left <= 1e-4 and right >= -1e-4


def lowest(f, x):
    return f(x) <= min(f(x - 1e-4), f(x + 1e-4))


def without_a_corner(f, x):
    return min(float(f(x + by)) - float(f(x)) for by in np.linspace(-1e-3, 1e-3, 21)) >= 0


def between(f, x, h=1e-4):
    left, right = (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h
    return min(left, right) <= 0 <= max(left, right)


FOUR = {"split": "stuck", "late": "flat", "miss": "bottom", "drag": "flat"}


def stack(order, demand):
    """Two choices that are made by hand."""
    return np.where(order > demand, order - demand, 0) + 3 * np.where(demand >= order, demand - order, 0)


RIGHT = {
    1: [branches, other_way_round, product, two_choices, flags, own_rule, day_by_day, clip, stack],
    2: [FOUR, {name: word.upper() for name, word in FOUR.items()}],
    3: [steps, slopes, nudges, beside, lowest, without_a_corner],
}

WRONG = {
    1: [
        (
            lambda order, demand: np.where(order >= demand, order - demand, 3 * (demand - order)),
            "which side does it take",
        ),
        (lambda order, demand: np.maximum(order - demand, 3 * (demand - order)), "prefers neither side"),
        (lambda order, demand: 2 * np.abs(order - demand) - (order - demand), "prefers neither side"),
        (
            lambda order, demand: np.maximum(order - demand, 0) + 3 * np.maximum(demand - order, 0),
            "prefers neither side",
        ),
        (lambda order, demand: relu(order - demand) + 3 * relu(demand - order), "something there takes 0"),
        (
            lambda order, demand: np.clip(order - demand, 0, None) + 3 * np.clip(demand - order, 0, None),
            "pass on everything",
        ),
        (lambda order, demand: np.clip(order - demand, 0, None) + 3 * relu(demand - order), "which side does it take"),
        (lambda order, demand: np.where(order > demand, 3 * (order - demand), demand - order), "changed places"),
        (lambda order, demand: np.where(order > demand, order - demand, 3 * (order - demand)), "yours costs -3"),
        (lambda order, demand: np.sum(branches(order, demand)), "one number for each day"),
        (lambda order, demand: np.mean(branches(order, demand)), "one number for each day"),
        (lambda order, demand: branches(ad.stop_gradient(order), demand), "Keep `order` a tensor"),
        (lambda order, demand: branches(order.numpy(), demand), "not a tensor"),
        (lambda order, demand: np.abs(order - demand) * np.where(order > demand, 1, 3), "something there takes 0"),
        (lambda demand, order: branches(order, demand), "or the two arguments"),
        (lambda order, demand: np.abs(order - demand), "the costs are"),
        (
            lambda order, demand: np.where(order == demand, -3 * order, branches(order, demand)),
            "the cost should be 0",
        ),
        (
            lambda order, demand: (
                branches(order, demand) + 0.5 * relu(order - demand) - 0.5 * np.clip(order - demand, 0, None)
            ),
            "Which operations stand at a corner",
        ),
        (lambda order, demand: 3 * (demand - order) if order > demand else order - demand, r"cost\("),
        (lambda order, demand: ..., "three dots"),
        (lambda order, demand: None, "Is a `return` missing"),
        (3.0, "I need a function"),
    ],
    2: [
        (FOUR | {"split": "flat"}, "at 0.1 and at -0.1"),
        (FOUR | {"split": "bottom"}, "rise to the left"),
        (FOUR | {"late": "stuck"}, "corner of `late` isn't at 0"),
        (FOUR | {"late": "bottom"}, "corner of `late` isn't at 0"),
        (FOUR | {"miss": "flat"}, "compute its value"),
        (FOUR | {"miss": "stuck"}, "anywhere lower"),
        (FOUR | {"drag": "stuck"}, "how fast"),
        (FOUR | {"drag": "bottom"}, "multiplied by"),
        (FOUR | {"drag": "corner"}, 'Write "bottom" or "flat" or "stuck"'),
        (FOUR | {"drag": ...}, "Still missing: drag"),
        ({"split": "stuck"}, "No answer is given"),
        ("stuck", "I need a dict"),
    ],
    3: [
        (lambda f, x: float(ad.grad(f)(x)) == 0, "was chosen"),
        (lambda f, x: abs(float(ad.grad(f)(x))) < 1e-6, "was chosen"),
        (between, "top of a roof"),
        (lambda f, x: abs(f(x + 1e-4) - f(x - 1e-4)) < 1e-8, "mean of the two sides"),
        (lambda f, x: f(x + 1e-4) >= f(x), "to the right only"),
        (lambda f, x: f(x - 1e-4) >= f(x), "to the left only"),
        (lambda f, x: f(x + 1e-4) > f(x) and f(x - 1e-4) > f(x), "flat on a side"),
        (lambda f, x: f(x + 1e-4) >= f(x) or f(x - 1e-4) >= f(x), "Both sides have to be safe"),
        (lambda f, x: not steps(f, x), "changed places"),
        (lambda f, x: f(x + 1e-20) >= f(x) and f(x - 1e-20) >= f(x), "too small"),
        (lambda f, x: f(x + 1) >= f(x) and f(x - 1) >= f(x), "too long"),
        (lambda f, x: f(x + 2) >= f(x) and f(x - 2) >= f(x), "too long"),
        (lambda f, x: f(x + 3) >= f(x) and f(x - 3) >= f(x), "too long"),
        (lambda f, x: f(x + 1e-4) <= f(x) and f(x - 1e-4) <= f(x), "has a top"),
        (lambda f, x: f(x + 1e-4) == f(x) == f(x - 1e-4), "it should be True"),
        (lambda f, x: True, "Not everywhere"),
        (lambda f, x: False, "it should be True"),
        (lambda f, x: f(x), "the value of `f`"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: None, "Is a `return` missing"),
        (lambda f: True, "may_rest"),
        (True, "I need a function"),
    ],
}
