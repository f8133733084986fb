"""Runs of JAX compared with the same program in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn

pytestmark = pytest.mark.jax


def with_numpy(x, w):
    h = np.tanh(x @ w)
    return np.sum(h * h)


def with_jax(x, w):
    h = jnp.tanh(x @ w)
    return jnp.sum(h * h)


def mean_for_sum(x, w):
    h = jnp.tanh(x @ w)
    return jnp.mean(h * h)


@pytest.fixture
def double():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def softmax(x):
    return jnp.sum(jax.nn.softmax(x, axis=-1) ** 2)


def softmax_by_hand(x):
    e = jnp.exp(x - jax.lax.stop_gradient(jnp.max(x, axis=-1, keepdims=True)))
    return jnp.sum((e / jnp.sum(e, axis=-1, keepdims=True)) ** 2)


def softmax_by_numpy(x):
    return np.sum(nn.softmax(x) ** 2)


def rows(x):
    return jnp.sum(jax.vmap(lambda row: jnp.sum(row**2))(x))


def whole(x):
    return jnp.sum(x**2)


def element(x):
    return x[0] * x[1:].sum()


def standardized(x, w):
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
    return np.sum(z @ w) + np.sum(z**3)


def standardized_by_hand(x, w):
    c = x - jnp.mean(x, axis=0)
    z = c / jnp.sqrt(jnp.mean(c * c, axis=0))
    return jnp.sum(z @ w) + jnp.sum(z**3)


X = np.random.default_rng(1).normal(size=(4, 3))


@pytest.mark.parametrize(
    ("first", "second", "args", "framework"),
    [
        (softmax, softmax_by_hand, (X,), "jax"),
        (softmax_by_numpy, softmax, (X,), (None, "jax")),  # JAX cuts the maximum
        (rows, whole, (X,), "jax"),
        (element, element, (X[0],), (None, "jax")),
        (standardized, standardized_by_hand, (X, X[0]), (None, "jax")),  # what is added up to dw cancels
    ],
)
def test_what_is_written_in_other_words_agrees(double, first, second, args, framework):
    found = ad.compare(first, second, *args, framework=framework)
    assert found, found


def test_a_part_of_an_expression_is_not_called_by_the_whole(double):
    found = ad.compare(softmax, lambda x: jnp.sum(jax.nn.softmax(x, axis=0) ** 2), X, framework="jax")
    assert str(found).startswith("max(x, axis=1) is of shape (4,) in the first run; max(x, axis=0) is of shape (3,) in")
    found = ad.compare(lambda x: x.at[0].set(0.5).sum(), lambda x: x.at[1:].set(0.5).sum(), X[0], framework="jax")
    assert str(found).startswith(
        "broadcast_to(0, (1,)) at [0] is 0 in the first run; broadcast_to(1, (1,)) at [0] is 1"
    )
    assert "eps" not in str(found)  # of integers


def test_the_same_in_numpy_and_in_jax(double):
    x, w = np.array([[0.5, -1.0], [1.5, 0.25]]), np.array([[0.3], [0.9]])
    found = ad.compare(with_numpy, with_jax, x, w, framework=(None, "jax"))
    assert found, found
    found = ad.compare(with_numpy, mean_for_sum, x, w, framework=(None, "jax"))
    assert not found
    assert "jnp.mean(h * h)" in str(found)
