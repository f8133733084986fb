"""What chapter 26 says of other frameworks, run on them."""

import inspect

import pytest

pytestmark = pytest.mark.asides


def test_jax_solves_the_adjoint_equation_backward_in_time():
    pytest.importorskip("jax")
    import jax
    import jax.experimental.ode as ode
    import jax.numpy as jnp

    def town(x, t, rate):
        caught = rate * x[0] * x[1]
        return jnp.stack([-caught, caught - 0.1 * x[1]])

    def ill(rate):
        return ode.odeint(town, jnp.array([0.999, 0.001]), jnp.array([0.0, 40.0]), rate, rtol=1e-6, atol=1e-8)[-1, 1]

    assert float(jax.grad(ill)(0.3)) == pytest.approx(0.5225, abs=1e-3)
    assert "Run augmented system backwards" in inspect.getsource(ode)
