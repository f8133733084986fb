"""Answers to the exercises of chapter 16."""

import numpy as np

import autodiff_edu as ad

FULL, BATCH = (32, 10, 32, 8, 8), (32, 10, 8, 8)


def by_blocks(full):
    return np.stack([full[b, :, b, :] for b in range(len(full))])


def both(f, x):
    """Give the full Jacobian and its diagonal blocks."""
    full = ad.jacobian(f)(x).numpy()
    return full, by_blocks(full)


def off_diagonal_is_zero(f, x):
    full, _ = both(f, x)
    others = ~np.eye(len(x), dtype=bool)
    return np.abs(full.transpose(0, 2, 1, 3)[others]).max() < 1e-12


def nudging(samples):
    """Make a check that changes the given samples in turn."""

    def independent(f, x):
        for sample in samples:
            changed = x.copy()
            changed[sample] += 0.01
            moved = np.abs(np.asarray(f(changed)) - np.asarray(f(x))).max(axis=1) > 1e-9
            moved[sample] = False
            if moved.any():
                return False
        return True

    return independent


def asking_the_tape(f, x):
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    try:
        tape.batch_jacobian(y, x, check=True)
    except ValueError:
        return False
    return True


def sum_over_inputs(f, x):
    full, diagonal = both(f, x)
    return np.allclose(full.sum(axis=2), diagonal)


def sum_over_outputs(f, x):
    full, diagonal = both(f, x)
    return np.allclose(np.moveaxis(full.sum(axis=0), 1, 0), diagonal)


def turned_round(f, x):
    """Take it for independence that turning the samples round turns the outputs round."""
    order = [1, 0, 2, 3, 4]
    return np.allclose(np.asarray(f(x[order])), np.asarray(f(x))[order])


RIGHT = {
    "16.1": [(FULL, BATCH), [list(FULL), list(BATCH)]],
    "16.2": [by_blocks, lambda full: np.einsum("bxby->bxy", full), lambda full: ad.constant(by_blocks(full))],
    "16.3": [off_diagonal_is_zero, nudging(range(5)), asking_the_tape],
}

WRONG = {
    "16.1": [
        ((BATCH, FULL), "changed places"),
        (((32, 8, 8, 32, 10), BATCH), "target first"),
        ((BATCH, BATCH), "in it twice"),
        (((320, 2048), BATCH), "as a matrix"),
        (((32, 10), BATCH), "all axes of y"),
        ((FULL, FULL), "in it once"),
        ((FULL, (32, 8, 8, 10)), "here as well"),
        ((FULL, (10, 8, 8)), "begins with the samples"),
        ((FULL, (32, 10, 64)), "8 and 8"),
        ((FULL, (32, 10)), "leaves out its second axis"),
        ((..., ...), "three dots"),
        ((FULL, ...), "the batch Jacobian is still open"),
        (FULL, "I need two shapes"),
        ((32, 10), "tuple of whole numbers"),
    ],
    "16.2": [
        (lambda full: full, "all four axes"),
        (lambda full: full.sum(axis=2), "samples of the input. Here"),
        (lambda full: np.moveaxis(full.sum(axis=0), 1, 0), "`batch_jacobian`"),
        (lambda full: full.sum(axis=0), "Nothing is to be summed"),
        (lambda full: full.mean(axis=2), "mean"),
        (lambda full: np.einsum("bxby->xy", full), "add them up"),
        (lambda full: np.diagonal(full, axis1=0, axis2=2), "`np.diagonal`"),
        (lambda full: np.einsum("bxby->byx", full), "transposed"),
        (lambda full: full[0, :, 0, :], "sample 0 alone"),
        (lambda full: full[:, :, 0, :], "full[b, :, b, :]"),
        (lambda full: np.diagonal(full), "I expect (4, 3, 2)"),
        (lambda full: ..., "three dots"),
        (lambda full: None, "gives None"),
        (lambda full: "no", "array of numbers"),
        (lambda: 1, "raised TypeError"),
        (np.zeros((4, 3, 2)), "without calling it"),
    ],
    "16.3": [
        (lambda f, x: True, "True to everything"),
        (lambda f, x: np.shape(f(x))[0] == len(x), "True to everything"),
        (lambda f, x: False, "False to everything"),
        (lambda f, x: not off_diagonal_is_zero(f, x), "the opposite"),
        (sum_over_inputs, "cancel in a sum"),
        (sum_over_outputs, "cancel in a sum"),
        (nudging([0]), "All depend on the last sample|depends on the samples"),
        (nudging([4]), "samples before it"),
        (nudging([1]), "All depend on sample 0"),
        (turned_round, "in its own way"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: None, "I need True or False"),
        (lambda f, x: np.ones(5, bool), "Reduce it"),
        (lambda f: True, "raised TypeError"),
        (True, "without calling it"),
    ],
}
