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


def clip_pull(amounts, slope, usual):
    amounts = amounts - 0.1 * slope
    return amounts - np.clip(amounts - usual, -0.05, 0.02)


def stop_at_usual(amounts, slope, usual):
    """Pulled, and stopped at the usual amount, on each side."""
    amounts = amounts - 0.1 * slope
    above = np.maximum(amounts - 0.02, usual)
    below = np.minimum(amounts + 0.05, usual)
    return np.where(amounts > usual, above, below)


def middle(amounts, slope, usual):
    """The usual amount lies between the two pulls, or one of them does not reach it."""
    amounts = amounts - 0.1 * slope
    return np.median([amounts - 0.02, amounts + 0.05, usual], axis=0)


def soft(amounts, slope, usual):
    far = amounts - 0.1 * slope - usual
    return usual + np.maximum(far - 0.02, 0) - np.maximum(-far - 0.05, 0)


def one_by_one(amounts, slope, usual):
    out = []
    for amount, down, wanted in zip(amounts, slope, usual, strict=True):
        amount = amount - 0.1 * down
        amount = max(amount - 0.02, wanted) if amount > wanted else min(amount + 0.05, wanted)
        out.append(amount)
    return np.array(out)


def in_place(amounts, slope, usual):
    amounts -= 0.1 * slope
    amounts -= np.clip(amounts - usual, -0.05, 0.02)
    return amounts


def jumpy(amounts, slope, usual):
    """No stop: past the usual amount."""
    amounts = amounts - 0.1 * slope
    return amounts - 0.1 * np.where(amounts >= usual, 0.2, -0.5)


FOUR = {"split": "stuck", "late": "flat", "miss": "bottom", "drag": "flat"}


def stack(order, demand):
    """Two choices that are made by hand."""
    return np.where(order > demand, order - demand, 0) + 3 * np.where(demand >= order, demand - order, 0)


RIGHT = {
    1: [branches, other_way_round, product, two_choices, flags, own_rule, day_by_day, clip, stack],
    2: [FOUR, {name: word.upper() for name, word in FOUR.items()}],
    3: [clip_pull, stop_at_usual, middle, soft, one_by_one, in_place],
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
            "both of its parts count",
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
        (lambda order, demand: np.where(order == demand, -3.0, branches(order, demand)), "the cost should be 0"),
        (lambda order, demand: np.where(order == demand, 0.0, branches(order, demand)), "a branch that is a constant"),
        (
            lambda order, demand: (order - demand) * (order >= demand) + 3 * (demand - order) * (order <= demand),
            "both of its parts count",
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
        (FOUR | {"miss": "flat"}, "The slope is 0 for the tape"),
        (FOUR | {"miss": "stuck"}, "anywhere lower"),
        (FOUR | {"drag": "stuck"}, "how fast"),
        (FOUR | {"drag": "bottom"}, "multiplied by"),
        (FOUR | {"drag": "corner"}, 'Write "bottom" or "flat" or "stuck"'),
        (FOUR | {"drag": ...}, "Still missing: drag"),
        ({"split": "stuck"}, "No answer is given"),
        ("stuck", "I need a dict"),
    ],
    3: [
        (lambda amounts, slope, usual: amounts - 0.1 * slope, "nothing pulls"),
        (jumpy, "nearer than one pull"),
        (
            lambda amounts, slope, usual: amounts - 0.1 * (slope + np.where(amounts > usual, 0.2, -0.5)),
            "nearer than one pull",
        ),
        (
            lambda amounts, slope, usual: (
                clip_pull(amounts, slope, usual) + np.where(np.abs(amounts - 0.1 * slope - usual) < 0.02, 0.001, 0)
            ),
            "should be",
        ),
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope - np.clip(amounts - 0.1 * slope - usual, -0.02, 0.05),
            "changed places",
        ),
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope - np.clip(amounts - 0.1 * slope - usual, -0.05, 0.05),
            "only 0.2",
        ),
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope - np.clip(amounts - 0.1 * slope - usual, -0.5, 0.2),
            "a slope too",
        ),
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope - np.clip(amounts - 0.1 * slope, -0.05, 0.02),
            "towards 0",
        ),
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope + np.clip(amounts - 0.1 * slope - usual, -0.05, 0.02),
            "pushes away",
        ),
        (lambda amounts, slope, usual: amounts - np.clip(amounts - usual, -0.05, 0.02), "comes before it"),
        (lambda amounts, slope, usual: amounts - 0.1 * slope - 0.02, "every amount down"),
        (
            lambda amounts, slope, usual: (
                amounts - 0.1 * slope - 0.1 * np.clip(amounts - 0.1 * slope - usual, -0.5, 0.2)
            ),
            "gets weaker",
        ),
        (
            lambda amounts, slope, usual: np.where(
                np.abs(amounts - 0.1 * slope - usual) < 0.05, usual, clip_pull(amounts, slope, usual)
            ),
            "from farther away",
        ),
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope - np.clip(amounts - usual, -0.05, 0.02),
            "The other way round",
        ),
        (lambda amounts, slope, usual: clip_pull(amounts, -slope, usual), "uphill"),
        (lambda amounts, slope, usual: clip_pull(amounts, 10 * slope, usual), "0.1 times `slope`"),
        (lambda amounts, slope, usual: clip_pull(amounts, slope, usual) - usual, "Return the amounts"),
        (lambda amounts, slope, usual: np.clip(amounts - 0.1 * slope - usual, -0.05, 0.02), "pull alone"),
        (
            lambda amounts, slope, usual: np.clip(amounts - 0.1 * slope, usual - 0.05, usual + 0.02),
            "that has bounds",
        ),
        (lambda amounts, slope, usual: usual, "should be"),
        (lambda amounts, slope, usual: ..., "three dots"),
        (lambda amounts, slope, usual: None, "Is a `return` missing"),
        (lambda amounts, slope: amounts, "takes 2 positional arguments"),
        (3.0, "I need a function"),
    ],
}
