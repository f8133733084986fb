"""Answers to the exercises of training."""

from functools import partial

import numpy as np

import autodiff_edu as ad
from autodiff_edu.course.chapters.training import descent

BOUND = 0.5**10


def again(block, x, kernels, dy, watch=lambda tape, x, kernels: tape.watch([x, kernels])):
    """Compute a block once more, and pull back through it."""
    x, kernels = ad.constant(x), [ad.constant(kernel) for kernel in kernels]
    with ad.GradientTape() as inner:
        watch(inner, x, kernels)
        y = block(x, kernels)
    return inner.gradient(y, [x, kernels], output_gradients=dy)


def recompute(backward=again, forward=lambda block, x, kernels: block(x, kernels), plain=True):
    """Make an answer to 20.2 whose ways are given."""

    def answer(block):
        @ad.custom_gradient
        def light(x, kernels):
            if plain:
                x, kernels = x.numpy(), [kernel.numpy() for kernel in kernels]
            return forward(block, x, kernels), lambda dy: backward(block, x, kernels, dy)

        return light

    return answer


def watching_arrays(block, x, kernels, dy, watch=True):
    with ad.GradientTape() as inner:
        if watch:
            inner.watch([x, kernels])
        y = block(x, kernels)
    return inner.gradient(y, [x, kernels], output_gradients=dy)


def multiplied_by_dy(block, x, kernels, dy):
    to_x, to_kernels = again(block, x, kernels, None)
    return to_x * dy, to_kernels


def on_arrays(block, x, kernels, dy):
    with ad.GradientTape() as inner:
        sources = ad.constant(x), [ad.constant(kernel) for kernel in kernels]
        inner.watch(sources)
        y = block(x, kernels)
    return inner.gradient(y, sources, output_gradients=dy)


def with_variables(block, x, kernels, dy):
    x, kernels = ad.Variable(x), [ad.Variable(kernel) for kernel in kernels]
    with ad.GradientTape() as inner:
        target = np.sum(block(x, kernels) * dy)
    return inner.gradient(target, [x, kernels])


def kept(block, x, kernels):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch([x, kernels])
        y = block(x, kernels)
    return tape, y


def without_recomputing(block):
    @ad.custom_gradient
    def light(x, kernels):
        inputs = ad.constant(x.numpy()), [ad.constant(kernel.numpy()) for kernel in kernels]
        tape, y = kept(block, *inputs)
        return y.numpy(), lambda dy: tape.gradient(y, list(inputs), output_gradients=dy)

    return light


def in_jax_style(length, mass, turns, rate):
    def loss(w, b):
        return np.mean((w * length + b - mass) ** 2)

    w, b = 0.0, 0.0
    for _ in range(turns):
        slope_w, slope_b = ad.grad(loss, argnums=(0, 1))(w, b)
        w, b = w - rate * slope_w, b - rate * slope_b
    return w, b


def with_a_tape(length, mass, turns, rate):
    w, b = ad.Variable(0.0, dtype="float32"), ad.Variable(0.0, dtype="float32")
    for _ in range(turns):
        with ad.GradientTape() as tape:
            loss = np.mean((w * length + b - mass) ** 2)
        for variable, slope in zip((w, b), tape.gradient(loss, (w, b)), strict=True):
            variable.assign_sub(rate * slope)
    return [float(w), float(b)]


def going_wrong(**options):
    return lambda *args: tuple(descent(*args, **options))


RIGHT = {
    1: [
        {"bound": BOUND, "weight": 4},
        {"bound": ad.constant(9.8e-4), "weight": 4.0},
        {"bound": 0.000977, "weight": np.array([4.0])},
    ],
    2: [
        recompute(),
        recompute(lambda *args: tuple(again(*args))),
        recompute(with_variables),
        recompute(lambda block, x, kernels, dy: ad.vjp(block, x, kernels)[1](dy)),
    ],
    3: [in_jax_style, with_a_tape, going_wrong(), lambda *args: descent(*args)],
}

WRONG = {
    1: [
        *(
            ({"bound": bound, "weight": 4}, hint)
            for bound, hint in (
                (0.5, "for one link"),
                (0.25, "without its weight"),
                (5, "ten halves"),
                (2.5, "ten quarters"),
                (0.25**10, "for w = 1"),
                (2 * 0.25**10, "not once"),
                (0.5**9, "nine"),
                (0.5**11, "eleven"),
                (0.001, "Close"),
                (1, "links of slope 1"),
                (1024, "the ten weights"),
                (256, "not once"),
                (6.45e-6, "what you measure"),
                (2.95e-6, "what you measure"),
                (0, "one link first"),
            )
        ),
        ({"bound": BOUND, "weight": 1}, "a millionth"),
        ({"bound": BOUND, "weight": 0.25}, "smaller still"),
        ({"bound": BOUND, "weight": 4.0**10}, "in every link"),
        ({"bound": BOUND, "weight": 2}, "just given"),
        ({"bound": BOUND, "weight": -4}, "positive"),
        ({"bound": BOUND, "weight": 7}, "For which w"),
        ({"bound": BOUND}, "No answer is given for weight"),
        ({"bound": ..., "weight": 4}, "three dots"),
        ((BOUND, 4), "I need a dict"),
    ],
    2: [
        (recompute(plain=False), "ran on tensors"),
        (recompute(partial(again), lambda block, x, kernels: block(x, kernels) + 1.0), "The value differs"),
        (recompute(again, lambda block, x, kernels: 0.5 * (block(x, kernels) + block(x, kernels))), "2 times"),
        (recompute(lambda block, x, kernels, dy: again(block, x, kernels, None)), "forgot the cotangent"),
        (recompute(lambda *args: (lambda x, kernels: (x, kernels[::-1]))(*again(*args))), "in the order"),
        (recompute(lambda *args: (lambda x, kernels: (2.0 * x, kernels))(*again(*args))), "seed it with dy"),
        (recompute(partial(again, watch=lambda *args: None)), "None for everything"),
        (recompute(partial(again, watch=lambda tape, x, kernels: tape.watch(x))), "the kernels is None"),
        (recompute(partial(again, watch=lambda tape, x, kernels: tape.watch(kernels))), "gradient of x is None"),
        (recompute(lambda *args: ...), "three dots"),
        (recompute(lambda *args: (..., ...)), "three dots"),
        (recompute(watching_arrays), "Make new tensors"),
        (recompute(partial(watching_arrays, watch=False)), "Make new tensors"),
        (recompute(multiplied_by_dy), "too late"),
        (recompute(lambda *args: (lambda x, kernels: (x, *kernels))(*again(*args))), "must return two things"),
        (recompute(lambda *args: again(*args)[0]), "must return two things"),
        (recompute(lambda *args: 1 / 0), "raised ZeroDivisionError"),
        (without_recomputing, "not computed again"),
        (lambda block: block, "entries, not one"),
        (lambda block: None, "`return` missing"),
        (ad.checkpoint, "Now write `backward` yourself"),
        (lambda block: lambda x, kernels: (3.0, lambda dy: None), "which returns the pair"),
        (recompute(on_arrays), "Compute it from the new tensors"),
        (lambda block: lambda x, kernels: ad.constant(block(x.numpy(), [k.numpy() for k in kernels])), "Nothing was"),
        (lambda block: lambda x, kernels: 3.0, "Nothing was recorded"),
        (lambda: None, "raised TypeError"),
        (4, "without calling it"),
    ],
    3: [
        (lambda *args: (0.0, 0.0), "still 0"),
        (lambda *args: tuple(descent(*args))[::-1], "wrong order"),
        (going_wrong(sign=-1.0), "uphill"),
        (lambda x, y, turns, rate: tuple(descent(x, y, turns, 1.0)), "by `rate` first"),
        (going_wrong(keep=True), "to zero after each step"),
        (going_wrong(scale=2.0), "not their sum"),
        (going_wrong(scale=1 / 40), "without a factor 1/2"),
        (going_wrong(by="w"), "b stays 0"),
        (going_wrong(by="b"), "w stays 0"),
        (going_wrong(in_turn=True), "both slopes first"),
        (lambda x, y, turns, rate: tuple(descent(x, y, 1, rate)), "end the loop"),
        (lambda x, y, turns, rate: tuple(descent(x, y, turns + 1, rate)), "too many"),
        (lambda x, y, turns, rate: tuple(descent(x, y, turns - 1, rate)), "too few"),
        (lambda x, y, turns, rate: tuple(np.polyfit(x, y, 1)), "the best line"),
        (lambda *args: (3.0, 4.0), "It starts with zeros"),
        (lambda *args: None, "returns None"),
        (lambda *args: 3.0, "two numbers"),
        (lambda *args: (..., ...), "three dots"),
        (lambda length: 3.0, "raised TypeError"),
        ((0.5, 4.1), "without calling it"),
    ],
}
