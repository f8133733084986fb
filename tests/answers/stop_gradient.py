"""Answers to the exercises of stop-gradient."""

import numpy as np

import autodiff_edu as ad


def td(row, start, end, prizes, discount):
    target = ad.stop_gradient(prizes + discount * row[end])
    return np.mean((row[start] - target) ** 2)


def td_of_a_cut_row(row, start, end, prizes, discount):
    return np.sum((row[start] - prizes - discount * ad.stop_gradient(row)[end]) ** 2) / len(start)


def td_in_a_loop(row, start, end, prizes, discount):
    loss = 0.0
    for a, b, prize in zip(start, end, prizes, strict=True):
        loss = loss + (row[a] - (prize + discount * ad.stop_gradient(row[b]))) ** 2
    return loss / len(start)


def td_from_numbers(row, start, end, prizes, discount):
    return np.mean((row[start] - (prizes + discount * row.numpy()[end])) ** 2)


def td_in_a_pause(row, start, end, prizes, discount):
    with ad.GradientTape().stop_recording():
        target = prizes + discount * row[end]
    return np.mean((row[start] - target) ** 2)


def td_in_a_pause_of_its_own(row, start, end, prizes, discount):
    with ad.GradientTape() as tape, tape.stop_recording():
        target = prizes + discount * row[end]
    return np.mean((row[start] - target) ** 2)


def td_in_a_finished_pause(row, start, end, prizes, discount):
    with ad.GradientTape() as tape:
        td(row, start, end, prizes, discount)
    with tape.stop_recording():
        target = prizes + discount * row[end]
    return np.mean((row[start] - target) ** 2)


def td_cut_and_in_a_pause(*args):
    with ad.GradientTape() as tape, tape.stop_recording():
        return td(*args)


def td_with(value=lambda v: v, target=lambda t: t, mean=np.mean):
    return lambda row, start, end, prizes, discount: mean(
        (value(row[start]) - target(prizes + discount * row[end])) ** 2
    )


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
    1: [td, td_of_a_cut_row, td_in_a_loop, td_from_numbers, td_with(target=ad.stop_gradient)],
    2: [
        lambda x: x + ad.stop_gradient(np.round(x) - x),
        lambda x: x + (np.round(x.numpy()) - x.numpy()),
        lambda x: x - ad.stop_gradient(x - np.round(x)),
        lambda x: np.round(x) + x - ad.stop_gradient(x),
        ad.custom_gradient(lambda x: (np.round(x), lambda dy: dy)),
    ],
    3: [
        lambda x, constant: x * constant(lambda: x),
        through_an_existing_value,
        through_what_is_kept_on_the_way,
    ],
}

WRONG = {
    1: [
        (td_with(), "goals still move"),
        (lambda row, s, e, p, d: np.mean((row[s] - (ad.stop_gradient(p) + d * row[e])) ** 2), "computed from `row`"),
        (td_with(value=ad.stop_gradient), "Cut the other one"),
        (td_with(ad.stop_gradient, ad.stop_gradient), "as well"),
        (lambda row, *rest: td_with()(ad.stop_gradient(row), *rest), "as well"),
        (td_with(target=ad.stop_gradient, mean=np.sum), "sum of the squares"),
        (lambda row, s, e, p, d: td(row, s, e, p, 1.0), "multiplied by `discount`"),
        (lambda row, s, e, p, d: np.mean((row[s] - ad.stop_gradient(d * (p + row[e]))) ** 2), "not the prize"),
        (lambda row, s, e, p, d: np.mean((row[s] - 2 * row[e]) ** 2), "A cut changes no value"),
        (lambda row, s, e, p, d: td(row, s, e, p, d) / 2 + td_with()(row, s, e, p, d) / 2, "the whole goal, once"),
        (lambda row, s, e, p, d: (row[s] - p - d * ad.stop_gradient(row[e])) ** 2, "one number"),
        (lambda row, s, e, p, d: float(td(row, s, e, p, d)), "not a tensor"),
        (lambda row, s, e, p, d: None, "returns None"),
        (lambda row: row, "raised TypeError"),
        (lambda row, s, e, p, d: td(row, s, e, p, d) / 2, "half of the mean"),
        (td_in_a_pause, "A cut needs no tape"),
        (td_in_a_pause_of_its_own, "You paused a tape of your own, and not the one that records"),
        (td_in_a_finished_pause, "A cut needs no tape"),
        (td_cut_and_in_a_pause, "a pause in a function that isn't given its tape does nothing"),
        (0.025, "without calling it"),
    ],
    2: [
        (lambda x: np.round(x), "no uncut path"),
        (lambda x: ad.stop_gradient(np.round(x)), "no uncut path"),
        (lambda x: x, "nothing is rounded"),
        (lambda x: x + (np.round(x) - x), "gradient is 0"),
        (lambda x: x + ad.stop_gradient(x - np.round(x)), "wrong sign"),
        (lambda x: x + ad.stop_gradient(np.round(x)), "once too often"),
        (lambda x: ad.stop_gradient(x) + np.round(x) - x, "-1"),
        (lambda x: np.round(x.numpy()), "not a tensor"),
        (lambda x: x * 3.0, "np.round gives"),
        (lambda x: ..., "three dots"),
        (lambda x: None, "missing"),
        (lambda: 1.0, "raised TypeError"),
        (2.0, "without calling it"),
    ],
    3: [
        (lambda x, constant: x * constant(lambda: x * x), "nothing is computed inside"),
        (lambda x, constant: x * x, "never calls"),
        (lambda x, constant: x * constant(lambda: ad.constant(x)), "nothing is computed inside"),
        (lambda x, constant: x * ad.stop_gradient(constant(lambda: x)), "cut once more"),
        (lambda x, constant: x * x + 0.0 * ad.stop_gradient(constant(lambda: x)), "not part of what you return"),
        (lambda x, constant: constant(lambda: x * x), "Both gradients are None"),
        (lambda x, constant: constant(lambda: x), "one gradient is None"),
        (lambda x, constant: x * constant(x), "without arguments"),
        (lambda x, constant: x * constant(lambda: ...), "three dots"),
        (lambda x, constant: x * constant(lambda: None), "returns None"),
        (lambda x, constant: x * constant(lambda: 3.0), "plain number"),
        (lambda x, constant: x * constant, "Call it"),
        (lambda x, constant: constant(lambda: x) and 3.0, "one number computed from x"),
        (lambda x: x, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
