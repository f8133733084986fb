"""Answers to the exercises of batch-jacobians."""

import numpy as np

import autodiff_edu as ad


def by_copies(x, y, w):
    copies = ad.constant(np.tile(w, (len(x), 1)))
    with ad.GradientTape() as tape:
        tape.watch(copies)
        losses = (np.sum(x * copies, axis=1) - y) ** 2
    return tape.gradient(losses, copies)


def by_jacobian(x, y, w):
    return ad.jacobian(lambda w: (x @ w - y) ** 2)(w)


def in_a_loop(x, y, w):
    def of_one(row, value):
        return ad.grad(lambda w: (row @ w - value) ** 2)(w)

    return np.stack([of_one(row, value) for row, value in zip(x, y, strict=True)])


def by_hand(x, y, w):
    return 2 * (x @ w - y)[:, None] * x


def asking_for_blocks_of_w(x, y, w):
    w = ad.Variable(w)
    with ad.GradientTape() as tape:
        losses = (x @ w - y) ** 2
    return tape.batch_jacobian(losses, w)


def asking_for_blocks_of_x(x, y, w):
    x = ad.Variable(x)
    with ad.GradientTape() as tape:
        losses = (x @ w - y) ** 2
    return tape.batch_jacobian(losses, x)


def of_products_with_copies(x, y, w):
    copies = ad.Variable(np.tile(w, (len(x), 1)))
    with ad.GradientTape() as tape:
        losses = (x @ copies - y) ** 2
    return tape.gradient(losses, copies)


def picked_out_too_late(x, y, w):
    w = ad.Variable(w)
    with ad.GradientTape(persistent=True) as tape:
        losses = (x @ w - y) ** 2
    return [tape.gradient(losses[i], w) for i in range(len(x))]


def full_of_copies(x, y, w):
    return ad.jacobian(lambda copies: (np.sum(x * copies, axis=1) - y) ** 2)(np.tile(w, (len(x), 1)))


def in_float32(x, y, w):
    return by_hand(*(array.astype(np.float32) for array in (x, y, w)))


def by_blocks(full):
    return np.stack([full[b, :, b, :] for b in range(len(full))])


def both(f, x):
    """Return the full Jacobian and its diagonal blocks."""
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
    """Mistake it for independence that reordering the samples reorders the outputs."""
    order = [1, 0, 2, 3, 4]
    return np.allclose(np.asarray(f(x[order])), np.asarray(f(x))[order])


def moves(f, x, sample):
    changed = x.copy()
    changed[sample] += 0.1
    return np.asarray(f(changed)) - np.asarray(f(x))


def nobody_else_and_itself(f, x):
    """Mistake it for mixing that nothing moves."""
    return all(list(np.flatnonzero(np.abs(moves(f, x, b)).max(axis=1) > 1e-9)) == [b] for b in range(len(x)))


def without_absolute_values(f, x):
    return all(np.delete(moves(f, x, b), b, axis=0).max() < 1e-9 for b in range(len(x)))


def never_changed_back(f, x):
    before = np.asarray(f(x))
    for b in range(len(x)):
        x[b] += 0.1
        if np.abs(np.delete(np.asarray(f(x)) - before, b, axis=0)).max() > 1e-9:
            return False
    return True


def each_alone(f, x):
    return all(np.allclose(np.asarray(f(x))[b], np.asarray(f(x[b : b + 1]))[0]) for b in range(len(x)))


def unguarded(f, x):
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.batch_jacobian(y, x, check=True)
    return True


RIGHT = {
    1: [by_copies, by_jacobian, in_a_loop, by_hand, in_float32, lambda *args: by_hand(*args).tolist()],
    2: [by_blocks, lambda full: np.einsum("bxby->bxy", full), lambda full: ad.constant(by_blocks(full))],
    3: [off_diagonal_is_zero, nudging(range(5)), asking_the_tape],
}

WRONG = {
    1: [
        (lambda x, y, w: by_hand(x, y, w).sum(axis=0), "their sum"),
        (lambda x, y, w: ad.grad(lambda w: np.sum((x @ w - y) ** 2))(w), "their sum"),
        (lambda x, y, w: by_hand(x, y, w).mean(axis=0), "mean loss. Each sample"),
        (lambda x, y, w: by_hand(x, y, w) / len(x), "part of the \\*mean"),
        (lambda x, y, w: by_hand(x, y, w) / 2, "half"),
        (lambda x, y, w: -by_hand(x, y, w), "Every sign"),
        (lambda x, y, w: by_hand(x, y, w).T, "transposed"),
        (lambda x, y, w: ad.grad(lambda x: np.sum((x @ w - y) ** 2))(x), "with respect to x"),
        (lambda x, y, w: np.tile(by_hand(x, y, w).sum(axis=0), (len(x), 1)), "Row i is about"),
        (lambda x, y, w: np.linalg.norm(by_hand(x, y, w), axis=1), "lengths"),
        (lambda x, y, w: (x @ w - y) ** 2, "Those are the losses"),
        (lambda x, y, w: by_hand(x, y, w)[:2], "should have the shape (5, 2), and yours has the shape (2, 2)"),
        (lambda x, y, w: by_hand(x, y, w) + 1, "the numbers are not"),
        (lambda x, y, w: ad.jacobian(lambda w: x @ w - y)(w), "That is x"),
        (lambda x, y, w: 2 * (x @ w - y), "with respect to the predictions"),
        (lambda x, y, w: 2 * (x @ w - y) * x, "5 numbers by 5 rows"),
        (lambda x, y, w: by_hand(x, y, w)[0], "return too early"),
        (lambda x, y, w: by_hand(x, y, w)[-1], "last sample alone"),
        (lambda x, y, w: by_hand(x, y, w)[:, None], "an axis of length 1 too many"),
        (full_of_copies, "That is a full Jacobian"),
        (asking_for_blocks_of_w, "no axis of samples"),
        (asking_for_blocks_of_x, "`losses[:, None]` has a row"),
        (of_products_with_copies, "np.sum(x * copies, axis=1)"),
        (picked_out_too_late, "inside the `with` block"),
        (lambda x, y, w: ..., "three dots"),
        (lambda x, y, w: None, "returns None"),
        (lambda x, y, w: "no", "array of numbers"),
        (lambda: 1, "raised TypeError"),
        (np.zeros((5, 2)), "without calling it"),
    ],
    2: [
        (lambda full: full, "all four axes"),
        (lambda full: full.sum(axis=2), "samples of the input. Here"),
        (lambda full: np.moveaxis(full.sum(axis=0), 1, 0), "`batch_jacobian`"),
        (lambda full: full.sum(axis=0), "Don.t sum anything"),
        (lambda full: full.mean(axis=2), "mean"),
        (lambda full: np.einsum("bxby->xy", full), "are added up"),
        (lambda full: np.diagonal(full, axis1=0, axis2=2), "`np.diagonal`"),
        (lambda full: np.einsum("bxby->byx", full), "transposed"),
        (lambda full: full[0, :, 0, :], "sample 0 alone"),
        (lambda full: full[-1, :, -1, :], "last sample alone"),
        (lambda full: full[0], "sample 0's outputs"),
        (lambda full: np.stack([full[0, :, b, :] for b in range(4)]), "sample 0's outputs"),
        (lambda full: full[:, :, 0, :], "sample 0's inputs"),
        (lambda full: np.moveaxis(full.mean(axis=0), 1, 0), "samples of the output. Don.t average"),
        (lambda full: np.einsum("bxby->xby", full), "the middle axis"),
        (lambda full: np.concatenate(by_blocks(full)), "np.stack"),
        (lambda full: np.stack([full[b, :, b, :] for b in range(7)]), "4 samples"),
        (lambda full: [full[:, b, b, :] for b in range(len(full))], "The samples are its first and its third axis"),
        (lambda full: by_blocks(full) + 1, "full[b, :, b, :]"),
        (lambda full: np.diagonal(full), "should have the shape (4, 3, 2), and yours has the shape (4, 2, 3)"),
        (lambda full: ..., "three dots"),
        (lambda full: None, "returns None"),
        (lambda full: "no", "array of numbers"),
        (lambda: 1, "raised TypeError"),
        (np.zeros((4, 3, 2)), "without calling it"),
    ],
    3: [
        (lambda f, x: True, "True to everything"),
        (lambda f, x: np.shape(f(x))[0] == len(x), "True to everything"),
        (lambda f, x: False, "False to everything"),
        (lambda f, x: not off_diagonal_is_zero(f, x), "the opposite"),
        (sum_over_inputs, "cancel in a sum"),
        (sum_over_outputs, "cancel in a sum"),
        (nudging([0]), "All depend on the last sample|depends on the samples"),
        (nudging([4]), "samples before it"),
        (nudging([1]), "All depend on sample 0"),
        (turned_round, "treated differently"),
        (nobody_else_and_itself, "ask only whether"),
        (each_alone, "whole batch"),
        (never_changed_back, "unchanged batch"),
        (without_absolute_values, "look at the \\*size"),
        (lambda f, x: ad.GradientTape().batch_jacobian(f(x), x, check=True) is not None, "a plain array"),
        (unguarded, "Catch it"),
        (lambda f, x: int(off_diagonal_is_zero(f, x)), "True or False itself"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: None, "a `return` missing"),
        (lambda f, x: np.ones(5, bool), "Reduce an array"),
        (lambda f: True, "raised TypeError"),
        (True, "without calling it"),
    ],
}
