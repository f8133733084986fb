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


RETURNED = {"a": "right", "b": "zeros", "c": "right", "d": "sums", "e": "zeros"}


def blocks_of(f, x):
    """Return the Jacobian as blocks of shape (samples, samples, outputs, inputs)."""
    return ad.jacobian(f)(x).numpy().transpose(0, 2, 1, 3)


def by_sizes(f, x):
    return np.abs(blocks_of(f, x)).max(axis=(2, 3)) > 1e-9


def by_any(f, x):
    return np.any(blocks_of(f, x) != 0, axis=(2, 3))


def by_norms(f, x):
    return np.linalg.norm(blocks_of(f, x), axis=(2, 3)) > 1e-9


def moves(f, x, sample, number=slice(None), by=0.01):
    """Return how much each output moves with a nudge."""
    changed = x.copy()
    changed[sample, number] += by
    return np.asarray(f(changed)) - np.asarray(f(x))


def by_nudges(f, x):
    """Nudge one number at a time."""
    found = np.zeros((len(x), len(x)), dtype=bool)
    for j, number in np.ndindex(x.shape):
        found[:, j] |= np.any(np.abs(moves(f, x, j, number)) > 1e-9, axis=1)
    return found


def by_random_nudges(f, x):
    draw = np.random.default_rng(0)
    found = [np.abs(moves(f, x, j, by=draw.standard_normal(x.shape[1]))).max(axis=1) > 1e-9 for j in range(len(x))]
    return np.transpose(found)


def by_tangents(f, x):
    """Push a tangent for each number of each sample."""
    found = np.zeros((len(x), len(x)), dtype=bool)
    for j, number in np.ndindex(x.shape):
        tangent = np.zeros(x.shape)
        tangent[j, number] = 1.0
        found[:, j] |= np.any(ad.jvp(f, (x,), (tangent,))[1].numpy() != 0, axis=1)
    return found


def in_a_list(f, x):
    full = ad.jacobian(f)(x).numpy()
    return [[bool(np.any(full[i, :, j] != 0)) for j in range(len(x))] for i in range(len(x))]


def watched_by_a_tape(f, x):
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return np.max(np.abs(tape.jacobian(y, x)), axis=(1, 3)) > 0


def by_equal_nudges(f, x):
    """Mistake an output that doesn't notice equal nudges for one that doesn't depend on them."""
    return np.transpose([np.abs(moves(f, x, j)).max(axis=1) > 1e-9 for j in range(len(x))])


def never_changed_back(f, x):
    found, before = [], np.asarray(f(x))
    for j in range(len(x)):
        x[j, 0] += 0.1
        found.append(np.abs(np.asarray(f(x)) - before).max(axis=1) > 1e-9)
    return np.transpose(found)


def first_number_alone(f, x):
    return np.transpose([np.abs(moves(f, x, j, 0)).max(axis=1) > 1e-9 for j in range(len(x))])


def by_check(f, x):
    """Return that all samples mix, or none."""
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    try:
        tape.batch_jacobian(y, x, check=True)
    except ValueError:
        return np.ones((len(x), len(x)), bool)
    return np.eye(len(x), dtype=bool)


RIGHT = {
    1: [by_copies, by_jacobian, in_a_loop, by_hand, in_float32, lambda *args: by_hand(*args).tolist()],
    2: [RETURNED, {**RETURNED, "a": " Right"}],
    3: [
        by_sizes,
        by_any,
        by_norms,
        by_nudges,
        by_random_nudges,
        by_tangents,
        in_a_list,
        watched_by_a_tape,
        lambda f, x: by_sizes(f, x).astype(int),
    ],
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
        (lambda x, y, w: (2 * (x @ w - y)[:, None] * w)[:, None], "with respect to x"),
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
        ({**RETURNED, "a": "sums"}, "meet another row"),
        ({**RETURNED, "b": "right"}, "one of samples"),
        ({**RETURNED, "b": "sums"}, "How does that sum move"),
        ({**RETURNED, "c": "zeros"}, "whose numbers"),
        ({**RETURNED, "d": "zeros"}, "moves by 1"),
        ({**RETURNED, "e": "right"}, "add up to 1"),
        ({**RETURNED, "e": "wrong"}, "`e` is `'wrong'`"),
        ("right", "I need a dict"),
    ],
    3: [
        (lambda f, x: by_sizes(f, x).T, "changed places"),
        (lambda f, x: np.transpose(by_nudges(f, x)), "changed places"),
        (lambda f, x: ~by_sizes(f, x), "the opposite"),
        (lambda f, x: np.ones((5, 5), bool), "True to every pair"),
        (lambda f, x: np.zeros((5, 5), bool), "False to every pair"),
        (lambda f, x: np.eye(len(x)), "whatever f is"),
        (lambda f, x: by_sizes(f, x) & ~np.eye(5, dtype=bool), "leave out the pairs"),
        (lambda f, x: np.abs(blocks_of(f, x).sum(axis=(2, 3))) > 1e-9, "take the size of each first"),
        (lambda f, x: blocks_of(f, x).max(axis=(2, 3)) > 1e-9, "that \\*fall"),
        (lambda f, x: np.abs(ad.jacobian(f)(x).numpy()).max(axis=(1, 2)) > 1e-9, "Which axes are left"),
        (lambda f, x: np.abs(ad.jacobian(f)(x).numpy()).max(axis=(0, 2)) > 1e-9, "Which axes are left"),
        (lambda f, x: ad.jacobian(f)(x).numpy() != 0, "Which axes are left"),
        (lambda f, x: np.abs(blocks_of(f, x)).max(axis=(2, 3)), "other numbers than True and False"),
        (first_number_alone, "Try each number"),
        (lambda f, x: blocks_of(f, x).sum(axis=(2, 3)) != 0, "take the size of each first"),
        (by_equal_nudges, "nudge one number at a time"),
        (never_changed_back, "unchanged"),
        (by_check, "So the True|depends|True ones"),
        (lambda f, x: ad.GradientTape().jacobian(f(x), x), "a plain array"),
        (lambda f, x: bool(by_sizes(f, x).all()), "every pair of samples"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: None, "a `return` missing"),
        (lambda f: True, "raised TypeError"),
        (True, "without calling it"),
    ],
}
