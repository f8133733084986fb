"""Runs of JAX compared with the same program in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autodiff_edu as ad

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


def test_the_same_in_numpy_and_in_jax(double):
    x, w = np.array([[0.5, -1.0], [1.5, 0.25]]), np.array([[0.3], [0.9]])
    found = ad.compare(with_numpy, with_jax, x, w, framework=(None, "jax"))
    assert found, found
    found = ad.compare(with_numpy, mean_for_sum, x, w, framework=(None, "jax"))
    assert not found
    assert "jnp.mean(h * h)" in str(found)
