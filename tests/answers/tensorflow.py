"""Answers to the exercises of tensorflow: three ports of programs for TensorFlow."""

import numpy as np

import autodiff_edu as ad
import autodiff_edu.tf as tf
from autodiff_edu.course.chapters.tensorflow import by_exp


def surprise(scores, seen):
    return np.logaddexp.reduce(scores) - tf.reduce_mean(scores[seen]) + 0.1 * np.var(scores)


def by_largest(scores, seen):
    top = np.max(scores)
    total = top + tf.math.log(tf.reduce_sum(tf.exp(scores - top)))
    return total - np.mean(np.take(scores, seen)) + 0.1 * tf.square(tf.math.reduce_std(scores))


def by_one_hot(scores, seen):
    chosen = np.eye(len(scores))[np.asarray(seen)] @ scores
    return np.logaddexp.reduce(scores) - np.mean(chosen) + 0.1 * np.mean((scores - np.mean(scores)) ** 2)


def by_stack(scores, seen):
    chosen = tf.stack([scores[int(k)] for k in seen])
    least = tf.stop_gradient(tf.reduce_max(scores))
    total = np.log(np.sum(np.exp(scores - least))) + least
    return total - tf.reduce_mean(chosen) + 0.1 * (np.mean(scores**2) - np.mean(scores) ** 2)


def changed(**parts):
    """Return a port in which some parts are computed otherwise."""
    total = parts.get("total", lambda scores: np.logaddexp.reduce(scores))
    chosen = parts.get("chosen", lambda scores, seen: np.mean(scores[seen]))
    spread = parts.get("spread", lambda scores: 0.1 * np.var(scores))
    return lambda scores, seen: total(scores) - chosen(scores, seen) + spread(scores)


def slope(x, target, cut=tf.stop_gradient):
    with tf.GradientTape() as tape:
        tape.watch(x)
        size = cut(np.sqrt(np.mean(x**2)))
        loss = tf.reduce_sum(tf.square(x / size - target))
    return tape.gradient(loss, x)


def size_before(x, target):
    size = np.sqrt(np.mean(x**2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(x / size - target))
    return tape.gradient(loss, x)


def size_while_paused(x, target):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            size = np.sqrt(np.mean(x**2))
        loss = tf.reduce_sum(tf.square(x / size - target))
    return tape.gradient(loss, x)


def by_formula(x, target):
    size = np.sqrt(np.mean(x**2))
    return 2 * (x / size - target) / size


def by_grad(x, target):
    size = float(np.sqrt(np.mean(x**2)))
    return ad.grad(lambda x: np.sum((x / size - target) ** 2))(x)


def train(x, y, turns, size=2, stop=0, momentum=0.5, rate=0.1, anew=False, loss=None):
    w, b = tf.Variable([[0.0]]), tf.Variable([0.0])
    optimizer = tf.keras.optimizers.SGD(rate, momentum=momentum)
    error = loss or tf.keras.losses.MeanSquaredError()
    for _ in range(turns):
        if anew:
            optimizer = tf.keras.optimizers.SGD(rate, momentum=momentum)
        for first in range(0, len(x) - stop, size):
            with tf.GradientTape() as tape:
                value = error(y[first : first + size], x[first : first + size] @ w + b)
            slopes = tape.gradient(value, [w, b])
            optimizer.apply_gradients(zip(slopes, [w, b], strict=True))
    return w, b


def by_hand(x, y, turns):
    w, b, speeds = tf.Variable([[0.0]]), tf.Variable([0.0]), [0.0, 0.0]
    for _ in range(turns):
        for rows in np.array_split(np.arange(len(x)), range(2, len(x), 2)):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(x[rows] @ w + b - y[rows]))
            for k, (variable, slope) in enumerate(zip((w, b), tape.gradient(loss, [w, b]), strict=True)):
                speeds[k] = 0.5 * speeds[k] - 0.1 * slope
                variable.assign_add(speeds[k])
    return w, b


def plain_numbers(x, y, turns):
    return tuple(variable.numpy() for variable in train(x, y, turns))


def first_batch_only(x, y, turns):
    return train(x[:2], y[:2], turns)


def once(x, y, turns):
    return train(x, y, 1)


def template(*given):
    return ...


RIGHT = {
    1: [
        surprise,
        by_largest,
        by_one_hot,
        by_stack,
        changed(chosen=lambda scores, seen: sum(scores[k] for k in seen) / len(seen)),
    ],
    2: [slope, size_before, size_while_paused, by_formula, by_grad, lambda x, target: slope(x, target, cut=float)],
    3: [train, by_hand, plain_numbers, lambda x, y, turns: list(train(x, y, turns))],
}

WRONG = {
    1: [
        (by_exp, "exp.1000. is inf"),
        (changed(spread=lambda scores: 0.1 * np.var(scores, ddof=1)), "divides by n"),
        (changed(spread=lambda scores: 0.1 * np.std(scores)), "the standard deviation"),
        (changed(spread=lambda scores: np.var(scores)), "multiplied by 0.1"),
        (changed(spread=lambda scores: 0.0), "spread is missing"),
        (changed(chosen=lambda scores, seen: np.sum(scores[seen])), "takes their mean"),
        (changed(chosen=lambda scores, seen: np.mean(seen)), "holds positions"),
        (changed(chosen=lambda scores, seen: np.mean(scores[np.unique(seen)])), "counts twice"),
        (changed(total=lambda scores: np.sum(scores)), "sum of the scores"),
        (changed(total=lambda scores: np.sum(np.exp(scores))), "The logarithm is missing"),
        (changed(total=lambda scores: np.log(np.mean(np.exp(scores)))), "It should be their sum"),
        (changed(total=lambda scores: np.max(scores)), "one by one"),
        (lambda scores, seen: scores[seen], "the shape"),
        (lambda scores, seen: surprise(scores, seen).numpy(), "plain numbers"),
        (template, "three dots"),
        (3.0, "without calling it"),
    ],
    2: [
        (lambda x, target: slope(x, target, cut=lambda size: size), "along both paths"),
        (lambda x, target: slope(x, target, cut=lambda size: size) - slope(x, target), "the other path"),
        (lambda x, target: 2 * (x / np.sqrt(np.mean(x**2)) - target), "1 / size"),
        (lambda x, target: 2 * (x - target), "gone altogether"),
        (lambda x, target: 0.0 * x, "Everything is cut"),
        (lambda x, target: np.array([-0.0857, 0.0743]), "It's right for .3, 4., but not"),
        (lambda x, target: None, "returns None"),
        (template, "three dots"),
    ],
    3: [
        (lambda x, y, turns: train(x, y, turns, size=len(x)), "all the rows"),
        (lambda x, y, turns: train(x, y, turns, size=1), "one row each"),
        (lambda x, y, turns: train(x, y, turns, stop=1), "the last one is left out"),
        (lambda x, y, turns: train(x, y, turns, momentum=0.0), "The momentum of 0.5 is missing"),
        (lambda x, y, turns: train(x, y, turns, anew=True), "forgotten between the turns"),
        (once, "made anew in each turn"),
        (first_batch_only, "Only the first batch"),
        (lambda x, y, turns: train(x, y, turns, rate=0.01), "The rate is 0.01"),
        (lambda x, y, turns: train(x, y, turns, rate=0.01, momentum=0.0), "SGD's defaults"),
        (
            lambda x, y, turns: train(x, y, turns, loss=lambda a, b: tf.reduce_sum(tf.square(a - b))),
            "The loss is their mean",
        ),
        (lambda x, y, turns: (tf.Variable([[0.0]]), tf.Variable([0.0])), "Is a step taken"),
        (lambda x, y, turns: train(x, y, turns)[0], "Return both"),
        (lambda x, y, turns: train(x, y, turns)[::-1], "have changed places"),
        (lambda x, y, turns: train(x[::-1], y[::-1], turns), "Print the rows of each batch"),
        (lambda x, y, turns: train(x, y, turns, momentum=0.9), "After four rows and one turn"),
        (template, "three dots"),
    ],
}
