"""Answers to the exercises of trace-once-run-many."""

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


def changed(
    noise=lambda noise: 0.01 * noise,
    size=lambda size: size,
    damped=lambda error: error > 1.0,
    sign=-1.0,
    mean=np.mean,
    damp=lambda slope: slope / 10.0,
    returned=lambda w, change, error: w + change,
):
    def step(w, x, y, noise_given, size_given):
        noisy = x + noise(noise_given)
        error, slope = ad.value_and_grad(lambda w: mean((noisy @ w - y) ** 2))(w)
        if damped(error):
            slope = damp(slope)
        return returned(w, sign * size(size_given) * slope, error)

    return lambda w, x, y, noise, size: step(w, x, y, noise, size)


def judged_without_noise(w, x, y, noise, size):
    slope = ad.grad(lambda w: np.mean(((x + 0.01 * noise) @ w - y) ** 2))(w)
    if np.mean((x @ w - y) ** 2) > 1.0:
        slope = slope / 10.0
    return w - size * slope


def without_if(w, x, y, noise, size):
    return w - size * ad.grad(lambda w: np.mean(((x + 0.01 * noise) @ w - y) ** 2))(w)


random = np.random.default_rng(0)


CAUSES = {"a": "whole number", "b": "global", "c": "print", "d": "random", "e": "branch"}

RIGHT = {
    1: [
        BAKED,
        {name: word.upper() for name, word in BAKED.items()},
        {name: f" {BAKED[name].replace(' ', '  ')} " for name in "gfedcba"},
        {name.upper(): word for name, word in BAKED.items()},
    ],
    2: [repaired, with_where, with_a_tape, ad.compile(repaired), changed()],
    3: [CAUSES, {**CAUSES, "a": " Whole number"}],
}

WRONG = {
    1: [
        (BAKED | {"a": "new program"}, "for a: the shape and the dtype are the same"),
        (BAKED | {"a": "old value"}, "for a: x is an argument. When does"),
        (BAKED | {"b": "new value"}, "for b: the operations were recorded for arrays of two"),
        (BAKED | {"b": "old value"}, "for b: the recorded program is for two"),
        (BAKED | {"c": "new value"}, "for c: n is a whole number"),
        (BAKED | {"c": "old value"}, "for c: n is an argument, so the new one counts"),
        (BAKED | {"d": "new program"}, "for d: rate is a float"),
        (BAKED | {"d": "old value"}, 'Not "old value" for d: rate is an argument. When does a program read its arg'),
        (BAKED | {"e": "new value"}, "for e: scale is an array, but not an argument"),
        (BAKED | {"e": "new program"}, "for e: it's the arguments that choose"),
        (BAKED | {"f": "new program"}, "for f: bias is still one float64 number"),
        (BAKED | {"f": "old value"}, "for f: bias isn't an argument, but it's a variable"),
        (BAKED | {"g": "new value"}, "for g: is a program for float64"),
        (BAKED | {"g": "old value"}, "for g: x is an argument, so the new one counts"),
        (BAKED | {"a": "input"}, 'Write "new value" or "new program" or "old value": `a` is'),
        (BAKED | {"a": ...}, "three dots"),
        ({"a": "new value"}, "No answer is given for b, c"),
        ("new value", "dict"),
    ],
    2: [
        (changed(noise=lambda noise: 0.01 * random.standard_normal(noise.shape)), "still drawn inside"),
        (changed(damped=lambda error: float(error) > 1.0), "still refuses it"),
        (changed(damped=lambda error: error.numpy() > 1.0), "still refuses it"),
        (changed(damped=lambda error: np.float64(error) > 1.0), "no float\\(\\), np.float64\\(\\), .item"),
        (changed(damped=lambda error: int(error) > 1), "An error of 1.08 is above 1, too: does int\\(\\) or round"),
        (
            changed(noise=lambda noise: 0.01 * np.random.default_rng(0).standard_normal(noise.shape)),
            "doesn't depend on",
        ),
        (changed(size=lambda size: 1.0), "You subtract the whole slope"),
        (changed(noise=lambda noise: 0.0 * noise), "noise is missing"),
        (changed(noise=lambda noise: noise), "a hundredth"),
        (changed(noise=lambda noise: 0.1 * noise), "not a tenth"),
        (lambda w, x, y, noise, size: w * 1.0, "You return w unchanged"),
        (changed(noise=lambda noise: -0.01 * noise), "You subtracted the noise"),
        (without_if, "Yours never is"),
        (judged_without_noise, "the error of the clean x"),
        (changed(damped=lambda error: False), "Is an `if` missing"),
        (changed(damped=lambda error: error < 1.0), "Is the comparison the right way round"),
        (changed(damped=lambda error: np.ones(2) * error > 1.0), "returns the value first"),
        (changed(damped=lambda error: error > 10.0), "With an error above 1, the slope should be divided"),
        (changed(damped=lambda error: error > 0.5), "With an error below 1"),
        (changed(damped=lambda error: True), "With an error below 1"),
        (changed(damp=lambda slope: slope * 10.0), "you multiply the slope by 10"),
        (changed(mean=np.sum), "np.mean"),
        (changed(size=lambda size: 0.1), "another `size`"),
        (changed(size=lambda size: 0.1 * size), "a tenth of what it should be"),
        (changed(damp=lambda slope: slope / 100.0), "a tenth of what it should be"),
        (changed(size=lambda size: 1.0, returned=lambda w, change, error: -change), "That's the slope"),
        (changed(returned=lambda w, change, error: -change), "Return w minus it"),
        (changed(returned=lambda w, change, error: -change, damped=lambda error: False), "Return w minus it"),
        (changed(returned=lambda w, change, error: change), "the change alone"),
        (changed(returned=lambda w, change, error: (w + change, error)), "only the new w, .*a tuple\\."),
        (changed(returned=lambda w, change, error: [w + change]), "only the new w, .*a list\\."),
        (changed(returned=lambda w, change, error: {"w": w + change}), "only the new w, .*a dict\\."),
        (changed(returned=lambda w, change, error: None), "Is a `return` missing"),
        (changed(sign=1.0), "uphill"),
        (changed(size=lambda size: 2.0 * size), "Apart from the noise, `size` and float(), leave the step as it was"),
        (lambda w, x, y, noise, size: ad.grad(lambda w: np.mean((x @ w - y) ** 2)), "three dots, or a plain number"),
        (lambda w, x, y, noise, size: np.sum(w), "of shape \\(2,\\)"),
        (lambda w, x, y, noise, size: ..., "three dots"),
        (lambda w, x, y: w, "raised TypeError"),
        (lambda w, x, y, noise, size: w @ x, "raised ValueError"),
        (3.0, "without calling it"),
    ],
    3: [
        ({**CAUSES, "a": "random"}, "recorded anew in every turn"),
        ({**CAUSES, "b": "branch"}, "a number that it reads"),
        ({**CAUSES, "b": "print"}, "should have been asked again"),
        ({**CAUSES, "c": "whole number"}, "two recordings were made"),
        ({**CAUSES, "d": "branch"}, "When was it drawn"),
        ({**CAUSES, "e": "random"}, "the size of the error"),
        ({**CAUSES, "e": "noise"}, "`e` is `'noise'`"),
        ("print", "I need a dict"),
    ],
}
