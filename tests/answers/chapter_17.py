"""Answers to the exercises of chapter 17."""

import numpy as np

import autodiff_edu as ad

BAKED = dict(zip("abcdefg", ["value", "program", "program", "value", "value", "value", "program"], strict=True))
BAKED = {name: f"new {word}" for name, word in BAKED.items()} | {"e": "old value"}


def repaired(w, x, y, noise, size):
    noisy = x + 0.01 * noise
    error, slope = ad.value_and_grad(lambda w: np.mean((noisy @ w - y) ** 2))(w)
    if error > 1.0:
        slope = slope / 10.0
    return w - size * slope


def with_where(w, x, y, noise, size):
    noisy = x + noise / 100
    error, slope = ad.value_and_grad(lambda w: np.mean((noisy @ w - y) ** 2))(w)
    return w - size * np.where(error > 1.0, slope / 10.0, slope)


def with_a_tape(w, x, y, noise, size):
    with ad.GradientTape() as tape:
        tape.watch(w)
        error = np.mean(((x + 0.01 * noise) @ w - y) ** 2)
    slope = tape.gradient(error, w)
    return w - (size / 10.0 if error > 1.0 else size) * slope


def changed(noise=lambda noise: 0.01 * noise, size=lambda size: size, damped=lambda error: error > 1.0, sign=-1.0):
    def step(w, x, y, noise_given, size_given):
        noisy = x + noise(noise_given)
        error, slope = ad.value_and_grad(lambda w: np.mean((noisy @ w - y) ** 2))(w)
        if damped(error):
            slope = slope / 10.0
        return w + sign * size(size_given) * slope

    return lambda w, x, y, noise, size: step(w, x, y, noise, size)


random = np.random.default_rng(0)


def drop_unused(listing):
    needed, left = listing.kept(), []
    for instruction in reversed(listing.instructions):
        if instruction.output_value is None or instruction.output_value in needed:
            left.append(instruction)
            needed.update(instruction.reads())
    return listing.with_instructions(left[::-1])


def by_repetition(listing):
    """Remove what nothing reads, until nothing is left to remove."""
    left = listing.instructions
    while True:
        read = listing.kept() | {value for instruction in left for value in instruction.reads()}
        fewer = [one for one in left if one.is_guard or one.output_value in read]
        if len(fewer) == len(left):
            return listing.with_instructions(fewer)
        left = fewer


def in_front(listing):
    needed, left = listing.kept(), []
    for instruction in listing.instructions[::-1]:
        if instruction.is_guard or instruction.output_value in needed:
            left.insert(0, instruction)
            needed |= set(instruction.reads())
    return listing.with_instructions(left)


def one_round(listing):
    read = listing.kept() | {value for instruction in listing.instructions for value in instruction.reads()}
    return listing.with_instructions([one for one in listing.instructions if one.is_guard or one.output_value in read])


def without_guards(listing):
    right = drop_unused(listing)
    return right.with_instructions([one for one in right.instructions if not one.is_guard])


def results_only(listing):
    return listing.with_instructions(
        [one for one in listing.instructions if one.is_guard or one.output_value in listing.kept()]
    )


def emptied(listing):
    right = drop_unused(listing)
    listing.instructions.clear()
    return right


RIGHT = {
    "17.1": [BAKED, {name: word.upper() for name, word in BAKED.items()}],
    "17.2": [repaired, with_where, with_a_tape, ad.compile(repaired), changed()],
    "17.3": [drop_unused, by_repetition, in_front],
}

WRONG = {
    "17.1": [
        (BAKED | {"a": "new program"}, "for a: does another number"),
        (BAKED | {"b": "new value"}, "for b: the operations were recorded"),
        (BAKED | {"c": "new value"}, "for c: n is a whole number"),
        (BAKED | {"c": "old value"}, "for c: n is a whole number"),
        (BAKED | {"d": "old value"}, "for d: rate is an argument"),
        (BAKED | {"e": "new value"}, "for e: scale is an array"),
        (BAKED | {"f": "old value"}, "When does a program read those"),
        (BAKED | {"g": "new value"}, "for g: is a program for float64"),
        (BAKED | {"a": "input"}, 'For a write "new value"'),
        (BAKED | {"a": ...}, "three dots"),
        ({"a": "new value"}, "leaves out"),
        ("new value", "dict"),
    ],
    "17.2": [
        (changed(noise=lambda noise: 0.01 * random.standard_normal(noise.shape)), "still drawn inside"),
        (changed(damped=lambda error: float(error) > 1.0), "still refuses it"),
        (changed(damped=lambda error: error.numpy() > 1.0), "still refuses it"),
        (changed(noise=lambda noise: 0.0 * noise), "noise is missing"),
        (changed(noise=lambda noise: noise), "a hundredth"),
        (changed(damped=lambda error: False), "With an error above 1"),
        (changed(damped=lambda error: error > 10.0), "With an error above 1"),
        (changed(damped=lambda error: error > 0.5), "With an error below 1"),
        (changed(damped=lambda error: True), "With an error below 1"),
        (changed(size=lambda size: 0.1), "another `size`"),
        (changed(sign=1.0), "uphill"),
        (changed(size=lambda size: 2.0 * size), "It compiles, but"),
        (lambda w, x, y, noise, size: ad.grad(lambda w: np.mean((x @ w - y) ** 2)), "three dots, or a plain number"),
        (lambda w, x, y, noise, size: np.sum(w), "of shape \\(2,\\)"),
        (lambda w, x, y, noise, size: ..., "three dots"),
        (lambda w, x, y: w, "raised TypeError"),
        (lambda w, x, y, noise, size: w @ x, "raised ValueError"),
        (3.0, "without calling it"),
    ],
    "17.3": [
        (lambda listing: listing, "Nothing was removed"),
        (one_round, "Which end of the list"),
        (lambda listing: listing.with_instructions([one.name for one in listing.instructions]), "should hold the inst"),
        (without_guards, "A guard is gone"),
        (results_only, "another instruction reads its result"),
        (lambda listing: drop_unused(listing).instructions, "not a list"),
        (lambda listing: listing.with_instructions(drop_unused(listing).instructions[::-1]), "in reverse order"),
        (emptied, "Leave listing.instructions as it is"),
        (lambda listing: None, "None"),
        (lambda listing: listing.with_instructions(...), "three dots"),
        (lambda: None, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
