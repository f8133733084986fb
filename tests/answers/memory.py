"""Answers to the exercises of memory."""

import copy
from functools import partial

import numpy as np

import autodiff_edu as ad

FIVE = {"A": "saves nothing", "B": "counts twice", "C": "fine", "D": "error", "E": "wrong gradient"}


CUTS = ((0, 8), (8, 10), (10, 12), (12, 14), (14, 16))


def block(x, kernels):
    for w in kernels:
        x = np.tanh(x @ w)
    return x


def mean_square(x):
    return np.mean(x**2)


def in_parts(length):
    def loss(x, kernels):
        for first in range(0, len(kernels), length):
            x = ad.checkpoint(block)(x, kernels[first : first + length])
        return mean_square(x)

    return loss


def cut_at(*cuts):
    def loss(x, kernels):
        for first, last in zip(cuts, (*cuts[1:], 16), strict=True):
            x = ad.checkpoint(block)(x, kernels[first:last])
        return mean_square(x)

    return loss


def by_bytes(x, kernels):
    """Begin a new segment when this one is full."""
    part, size = [], 0
    for kernel in kernels:
        if size + kernel.shape[1] > 64:
            x, part, size = ad.checkpoint(block)(x, part), [], 0
        part, size = [*part, kernel], size + kernel.shape[1]
    return mean_square(ad.checkpoint(block)(x, part))


def nested(x, kernels):
    if len(kernels) == 1:
        return np.tanh(x @ kernels[0])
    half = len(kernels) // 2
    return ad.checkpoint(nested)(ad.checkpoint(nested)(x, kernels[:half]), kernels[half:])


def by_custom_gradient(x, kernels):
    @ad.custom_gradient
    def light(x, kernels):
        plain = x.numpy() if isinstance(x, ad.Tensor) else x

        def backward(dy):
            start = ad.constant(plain)
            with ad.GradientTape() as tape:
                tape.watch([start, kernels])
                y = block(start, kernels)
            return tape.gradient(y, [start, kernels], output_gradients=dy)

        return block(plain, [kernel.numpy() for kernel in kernels]), backward

    x = ad.constant(x)
    for first, last in CUTS:
        x = light(x, kernels[first:last])
    return mean_square(x)


def by_partial(x, kernels):
    for first, last in CUTS:
        x = ad.checkpoint(partial(block, kernels=kernels[first:last]))(x)
    return mean_square(x)


def reading_the_loop_s_variable(x, kernels):
    for first in range(0, 16, 4):
        x = ad.checkpoint(lambda x: block(x, kernels[first : first + 4]))(x)  # noqa: B023 (that's the mistake)
    return mean_square(x)


def cut_off(x, kernels):
    y = block(x, kernels[:8])
    return mean_square(ad.checkpoint(block)(ad.stop_gradient(y), kernels[8:]))


def paused(x, kernels):
    return mean_square(block(x, [kernel.numpy() for kernel in kernels]))


def never_assigned(x, kernels):
    for first in range(0, 16, 4):
        ad.checkpoint(block)(x, kernels[first : first + 4])
    return mean_square(x)


def with_a_gap(x, kernels):
    for first, last in ((0, 8), (9, 12), (12, 16)):
        x = ad.checkpoint(block)(x, kernels[first:last])
    return mean_square(x)


def called_too_early(x, kernels):
    return mean_square(ad.checkpoint(block(x, kernels)))


def twice_too_steep(x, kernels):
    @ad.custom_gradient
    def same(x):
        return x, lambda dy: 2.0 * dy

    return same(cut_at(0, 8, 10, 12, 14)(x, kernels))


def layer(x, w, kept):
    return 2.0 * kept * np.tanh(x @ w)


def masks_first(x, kernels, random):
    masks = [random.random((len(x), kernel.shape[1])) < 0.5 for kernel in kernels]
    for w, kept in zip(kernels, masks, strict=True):
        x = ad.checkpoint(layer)(x, w, kept)
    return x


def masks_of_floats(x, kernels, random):
    for w in kernels:
        x = ad.checkpoint(layer)(x, w, random.integers(0, 2, x.shape).astype(float))
    return x


def seeds(x, kernels, random):
    def one(x, w, seed):
        return layer(x, w, np.random.default_rng(seed).random(x.shape) < 0.5)

    for w in kernels:
        x = ad.checkpoint(one)(x, w, int(random.integers(2**32)))
    return x


def closed_over(x, kernels, random):
    for w in kernels:
        kept = random.random(x.shape) < 0.5
        x = ad.checkpoint(lambda x, w, kept=kept: layer(x, w, kept))(x, w)
    return x


def copied_generators(x, kernels, random):
    def one(x, w, generator):
        return layer(x, w, copy.deepcopy(generator).random(x.shape) < 0.5)

    for w in kernels:
        x = ad.checkpoint(one)(x, w, random.spawn(1)[0])
    return x


def mask_of_inputs(x, kernels, random):
    return with_masks(half, layer=lambda x, w, kept: 2.0 * np.tanh((x * kept) @ w))(x, kernels, random)


def of_numpy(x, kernels, random):
    own = np.random.default_rng()
    return with_masks(half)(x, kernels, own)


def drawing_inside(x, kernels, random):
    for w in kernels:
        x = ad.checkpoint(lambda x, w: layer(x, w, random.random(x.shape) < 0.5))(x, w)
    return x


def putting_the_state_back(x, kernels, random):
    """Do as PyTorch's checkpoint does."""

    def one(x, w, state):
        random.bit_generator.state = state
        return layer(x, w, half(x, random))

    for w in kernels:
        x = ad.checkpoint(one)(x, w, random.bit_generator.state)
    return x


def drawing_for_nothing(x, kernels, random):
    def one(x, w, kept):
        random.random()
        return layer(x, w, kept)

    return with_masks(half, layer=one)(x, kernels, random)


def with_masks(draw, wrap=ad.checkpoint, layer=layer):
    """Make an answer whose masks come from `draw(x, random)`."""

    def dropped(x, kernels, random):
        for w in kernels:
            x = wrap(layer)(x, w, draw(x, random))
        return x

    return dropped


def half(x, random):
    return random.random(x.shape) < 0.5


def one_mask(x, kernels, random):
    kept = half(x, random)
    for w in kernels:
        x = ad.checkpoint(layer)(x, w, kept)
    return x


def all_in_one(x, kernels, random):
    def layers(x, kernels, masks):
        for w, kept in zip(kernels, masks, strict=True):
            x = layer(x, w, kept)
        return x

    return ad.checkpoint(layers)(x, kernels, [half(x, random) for _ in kernels])


def by_hand(x, kernels, random):
    """Recompute with another mask, and don't notice."""

    def recomputed(w):
        @ad.custom_gradient
        def run(x, w):
            plain, kernel = (value.numpy() if isinstance(value, ad.Tensor) else value for value in (x, w))

            def backward(dy):
                again = [ad.constant(plain), ad.constant(kernel)]
                with ad.GradientTape() as tape:
                    tape.watch(again)
                    y = layer(*again, half(plain, random))
                return tape.gradient(y, again, output_gradients=dy)

            return layer(plain, kernel, half(plain, random)), backward

        return run

    for w in kernels:
        x = recomputed(w)(x, w)
    return x


RIGHT = {
    1: [FIVE, {name: f" {value.capitalize()} " for name, value in FIVE.items()}],
    2: [
        cut_at(0, 8, 10, 12, 14),
        cut_at(0, 4, 8, 10, 12, 14),
        cut_at(0, 8, 11, 14),
        cut_at(0, 6, 11, 14),
        by_bytes,
        by_partial,
        by_custom_gradient,
    ],
    3: [masks_first, masks_of_floats, seeds, closed_over, copied_generators, putting_the_state_back, with_masks(half)],
}

WRONG = {
    1: [
        *(
            (FIVE | {name: value}, hint)
            for name, value, hint in (
                ("A", "fine", "one segment hold"),
                ("A", "error", "how long its segment"),
                ("A", "counts twice", "how long its segment"),
                ("A", "wrong gradient", "how long its segment"),
                ("B", "fine", "what else does it do"),
                ("B", "saves nothing", "three segments of four"),
                ("B", "error", "doesn't change what"),
                ("B", "wrong gradient", "what does it spoil"),
                ("C", "error", "From which seed"),
                ("C", "wrong gradient", "From which seed"),
                ("C", "saves nothing", "keeps only what it returns"),
                ("C", "counts twice", "the seed is drawn where"),
                ("D", "fine", "Which `w`"),
                ("D", "saves nothing", "which `w`"),
                ("D", "counts twice", "which `w`"),
                ("D", "wrong gradient", "without a check"),
                ("E", "fine", "in `noise`"),
                ("E", "saves nothing", "in `noise`"),
                ("E", "counts twice", "in `noise`"),
                ("E", "error", "compare the two runs"),
                ("E", "nan", 'Write "fine"'),
                ("E", ..., "three dots"),
            )
        ),
        ({"A": "saves nothing"}, "B, C, D, E"),
        ("fine", "I need a dict"),
    ],
    2: [
        (lambda x, kernels: mean_square(block(x, kernels)), "Nothing is run again yet"),
        (in_parts(16), "the one segment"),
        (in_parts(1), "around each layer"),
        *((in_parts(length), "if all layers were alike") for length in (8, 4, 2)),
        (lambda x, kernels: mean_square(nested(x, kernels)), "which segment holds the most"),
        (cut_at(0, 3, 10), "which segment holds the most"),
        (
            lambda x, kernels: mean_square(block(ad.checkpoint(block)(x, kernels[:8]), kernels[8:])),
            "still runs outside",
        ),
        (reading_the_loop_s_variable, "the variable of a loop"),
        (lambda x, kernels: mean_square(ad.checkpoint(block)(x, kernels[:4])), "Do all 16 layers run"),
        (cut_off, "gradient of kernel 0 is None"),
        (paused, "which no tape follows"),
        (never_assigned, "is what each returns assigned"),
        (lambda x, kernels: mean_square(x), "x as it came in"),
        (with_a_gap, "without a gap"),
        (called_too_early, "raised TypeError"),
        (twice_too_steep, "its gradient isn't"),
        (lambda x, kernels: ad.checkpoint(block)(x, kernels), "It returns what the layers return"),
        (lambda x, kernels: None, "Is a `return` missing"),
        (lambda x: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    3: [
        (mask_of_inputs, "what comes out"),
        (of_numpy, "Draw from the `random`"),
        (drawing_inside, "drew a second mask"),
        (drawing_for_nothing, "even if they made no difference"),
        (with_masks(half, wrap=lambda f: f), "Nothing is run again any more"),
        (all_in_one, "1 ran again"),
        (one_mask, "All layers drop the same"),
        (with_masks(lambda x, random: half(x, np.random.default_rng(0))), "Two calls dropped the same"),
        (with_masks(half, layer=lambda x, w, kept: kept * np.tanh(x @ w)), "factor 2"),
        (with_masks(half, layer=lambda x, w, kept: 2.0 * np.tanh(x @ w)), "Nothing is dropped"),
        (with_masks(half, layer=lambda x, w, kept: 2.0 * np.tanh(kept * (x @ w)) + 0.5 * kept), "2 · tanh"),
        (with_masks(lambda x, random: random.random(x.shape) < 0.1), "about 50"),
        (with_masks(lambda x, random: random.normal(size=x.shape) < 0.5), "about 50"),
        (with_masks(lambda x, random: random.random((len(x), 1)) < 0.5), "of a sample share a mask"),
        (lambda x, kernels, random: x, "as it came in"),
        (with_masks(lambda x, random: random.random(x.shape[1]) < 0.5), "the same mask"),
        (with_masks(half, layer=lambda x, w, kept: layer(x, ad.stop_gradient(w), kept)), "kernel is None"),
        (by_hand, "There is no error any more"),
        (lambda x, kernels, random: np.sum(masks_first(x, kernels, random)), "has the shape"),
        (lambda x, kernels, random: None, "Is a `return` missing"),
        (lambda x, kernels: x, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
