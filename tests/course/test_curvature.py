"""What chapter 18 says of its saddle, of what a product costs, and of two walks on a quadratic model."""

from collections import Counter

import numpy as np
import pytest

import autodiff_edu as ad

T = np.linspace(-2.0, 2.0, 41)


def loss_of(p):
    inward, outward = np.reshape(p, (2, -1))
    return np.mean((np.tanh(np.outer(T, inward)) @ outward - np.sin(T)) ** 2)


def slopes_by_hand(p):
    inward, outward = p.reshape(2, -1)
    hidden = np.tanh(np.outer(T, inward))
    error = 2 * (hidden @ outward - np.sin(T)) / T.size
    return np.concatenate([(error * T) @ (1 - hidden**2) * outward, error @ hidden])


def descend(p, turns):
    for _ in range(turns):
        p = p - 0.1 * slopes_by_hand(p)
    return p


HESSIAN = ad.hessian(loss_of)(np.zeros(16)).numpy()


@pytest.fixture(scope="module")
def way_out():
    """Return what the chapter's power method finds where all parameters are 0."""
    v = np.random.default_rng(0).normal(size=16)
    for _ in range(50):
        v = 2 * v - HESSIAN @ v
        v = v / np.linalg.norm(v)
    return v


def test_half_of_the_directions_lead_down():
    slope = 2 * np.mean(T * np.sin(T))
    assert np.linalg.eigvalsh(HESSIAN) == pytest.approx([-slope] * 8 + [slope] * 8)
    assert slope == pytest.approx(1.788, abs=5e-4)


@pytest.mark.parametrize(
    ("nudge", "lowest", "highest"), [(0.0, 0.59, 0.61), (0.01, 0.006, 0.007), (0.0001, 0.007, 0.009)]
)
def test_a_nudge_is_enough_to_leave_in_either_direction(way_out, nudge, lowest, highest):
    for sign in (1, -1):
        assert lowest < loss_of(descend(sign * nudge * way_out, 100)) < highest


def test_28_turns_multiply_the_distance_by_a_hundred(way_out):
    assert np.log(100) / np.log(1 + 0.1 * -(way_out @ HESSIAN @ way_out)) == pytest.approx(28, abs=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_each_five_random_directions_have_some_up_and_some_down(seed):
    rng = np.random.default_rng(seed)
    curvatures = [v @ HESSIAN @ v for v in rng.normal(size=(5, 16))]
    assert min(curvatures) < 0 < max(curvatures)


def steps(job):
    seen = Counter()
    with ad.hook(lambda event: seen.update([type(event).__name__])):
        job()
    return seen["Record"] + seen["PullBack"] + seen["PushForward"]


@pytest.mark.parametrize("size", [16, 200, 2000])
def test_a_product_costs_three_to_four_gradients_in_each_order(size):
    p, v = np.random.default_rng(0).normal(size=(2, size)) * 0.1
    slopes = ad.grad(loss_of)
    assert steps(lambda: slopes(p)) == 20
    difference = (slopes_by_hand(p + 1e-5 * v) - slopes_by_hand(p - 1e-5 * v)) / 2e-5
    third = lambda: ad.grad(lambda p: ad.jvp(loss_of, (p,), (v,))[1])(p)  # noqa: E731
    for product in (lambda: ad.vjp(slopes, p)[1](v), lambda: ad.jvp(slopes, (p,), (v,))[1], third):
        assert 60 <= steps(product) <= 80
        assert np.allclose(product().numpy(), difference, atol=1e-8)
    assert steps(third) == steps(lambda: ad.hvp(loss_of, (p,), (v,)))


def test_a_damped_step_of_newton_gets_about_as_far_as_a_hundred_turns(way_out):
    trained = descend(0.01 * way_out, 100)
    hessian = ad.hessian(loss_of)(trained).numpy()
    assert -0.04 < np.linalg.eigvalsh(hessian)[0] < -0.03
    after = loss_of(trained - np.linalg.solve(hessian + 0.1 * np.eye(16), slopes_by_hand(trained)))
    assert [loss_of(trained), after, loss_of(descend(trained, 100))] == pytest.approx(
        [0.0065, 0.0039, 0.0037], abs=2e-4
    )


def test_steepest_descent_takes_27_steps_to_a_thousandth():
    matrix, b, s = np.array([[1.0, 0.6], [0.6, 6.0]]), np.array([1.0, 4.0]), np.array([-3.0, 1.6])
    taken = 0
    while np.linalg.norm(s - np.linalg.solve(matrix, b)) > 1e-3:
        missing, taken = b - matrix @ s, taken + 1
        s = s + (missing @ missing) / (missing @ matrix @ missing) * missing
    assert taken == 27
