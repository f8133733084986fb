"""What appendix A says in numbers: of its names, of its loop, and of the cell with two answers."""

import numpy as np
import pytest
from tf_programs import PROGRAMS

import autodiff_edu.tf as tf


def functions(place):
    return {getattr(place, name) for name in dir(place) if callable(getattr(place, name))}


def test_about_sixty_functions_and_sixty_programs():
    found = functions(tf).union(*(functions(getattr(tf, part)) for part in ("math", "nn", "linalg", "random", "image")))
    assert 55 <= len(found) <= 70
    assert 55 <= len(PROGRAMS) <= 65


def test_what_keras_hides_is_not_here():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    assert not {"compile", "fit"}.intersection(dir(model))
    for path in (tf, "data"), (tf.keras, "metrics"), (tf.keras, "callbacks"), (tf.keras.layers, "Conv2D"):
        with pytest.raises(AttributeError):
            getattr(*path)


def losses(optimizer):
    depth = tf.constant([[0.0], [0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [4.0]])
    light = tf.constant([[1.0], [0.78], [0.61], [0.47], [0.37], [0.29], [0.22], [0.14]])
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
    error, found = tf.keras.losses.MeanSquaredError(), []
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = error(light, model(depth))
        slopes = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
        found.append(float(loss))
    return found


@pytest.mark.parametrize(("rate", "ends"), [(0.1, (0.0006, 0.0012, 0.0012)), (0.01, (0.038, 0.0017, 0.008))])
def test_the_loop_ends_where_the_text_says(rate, ends):
    optimizers = tf.keras.optimizers
    runs = [losses(one) for one in (optimizers.SGD(rate), optimizers.SGD(rate, momentum=0.9), optimizers.Adam(rate))]
    assert [run[-1] for run in runs] == pytest.approx(ends, rel=0.1)
    assert {run[0] for run in runs} == {runs[0][0]}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_at_a_rate_of_0_3_only_adam_learns():
    optimizers = tf.keras.optimizers
    assert losses(optimizers.Adam(0.3))[-1] < 0.01
    for one in (optimizers.SGD(0.3), optimizers.SGD(0.3, momentum=0.9)):
        assert not losses(one)[-1] < 1.0


def test_the_cell_with_two_answers():
    x, target = tf.constant([3.0, 4.0]), tf.constant([1.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(x / np.sqrt(np.mean(x**2)) - target))
    assert tape.gradient(loss, x).numpy() == pytest.approx([-0.0905, 0.0679], abs=1e-4)
    size = np.sqrt(12.5)  # a plain number, as NumPy's functions return in TensorFlow
    assert 2 * (np.array([3.0, 4.0]) / size - 1.0) / size == pytest.approx([-0.0857, 0.0743], abs=1e-4)
