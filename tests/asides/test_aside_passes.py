"""What chapter 24 says of JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_jax_has_the_three_programs():
    jax = pytest.importorskip("jax")

    def f(x, y):
        s = x * y
        return s * x

    assert [str(one.primitive) for one in jax.make_jaxpr(f)(2.0, 3.0).eqns] == ["mul", "mul"]
    _, push = jax.linearize(f, 2.0, 3.0)
    _, pull = jax.vjp(f, 2.0, 3.0)
    assert (float(push(1.0, 0.0)), float(push(0.0, 1.0))) == (12.0, 4.0)
    assert [float(slope) for slope in pull(1.0)] == [12.0, 4.0]
    backwards = jax.linear_transpose(push, 1.0, 1.0)
    assert [float(slope) for slope in backwards(1.0)] == [12.0, 4.0]
