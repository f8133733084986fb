"""What chapter 16 says of PyTorch and JAX."""

import pytest

pytestmark = [
    pytest.mark.asides,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),  # PyTorch's own call of it
]


def both():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    return ((torch.func, torch.tensor), (jax, jax.numpy.array))


def f(x):
    """Return two numbers, with a Jacobian that is not symmetric."""
    return x * x[0]


def test_a_jacobian_comes_from_the_output_and_from_the_input_in_both():
    for module, array in both():
        for name in ("jacrev", "jacfwd"):
            assert getattr(module, name)(f)(array([1.0, 3.0])).tolist() == [[2.0, 0.0], [3.0, 1.0]]


def test_a_seed_pulled_back_is_a_row_and_a_tangent_pushed_forward_a_column_in_both():
    for module, array in both():
        value, pull_back = module.vjp(f, array([1.0, 3.0]))
        assert value.tolist() == [1.0, 3.0]
        assert pull_back(array([0.0, 1.0]))[0].tolist() == [3.0, 1.0]
        assert module.jvp(f, (array([1.0, 3.0]),), (array([1.0, 0.0]),))[1].tolist() == [2.0, 3.0]
