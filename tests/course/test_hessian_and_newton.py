"""What chapter 17 says happens if you change a number and run again, and why damping is needed."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn


def valley(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def valley_slopes(p):
    x, y = p
    return np.array([-2 * (1 - x) - 400 * x * (y - x**2), 200 * (y - x**2)])


def valley_hessian(p):
    x, y = p
    return np.array([[2 - 400 * y + 1200 * x**2, -400 * x], [-400 * x, 200]])


def test_descent_is_not_at_the_star_after_ten_thousand_steps():
    p = np.array([-1.0, 0.0])
    for _ in range(10_000):
        p = p - 0.001 * valley_slopes(p)
    assert 0.005 < np.linalg.norm(p - 1) < 0.02


@pytest.mark.parametrize("start", [(-1.0, 0.0), (10.0, 10.0)])
def test_five_of_newton_s_steps_are_enough(start):
    p, heights = np.array(start), []
    for _ in range(5):
        p = p - np.linalg.solve(valley_hessian(p), valley_slopes(p))
        heights.append(valley(p))
    assert heights[1] > 1000
    assert heights[4] < 1e-15


def test_newton_s_second_turn_raises_the_loss_of_the_espresso_from_an_offset_of_2():
    random = np.random.default_rng(3)
    settings = random.standard_normal((60, 2))
    side = np.where(settings @ [1.2, -0.8] + 0.3 + random.logistic(size=60) > 0.0, 1.0, -1.0)
    x, w, losses = np.c_[settings, np.ones(60)], np.array([0.0, 0.0, 2.0]), []
    for _ in range(8):
        losses.append(np.mean(np.logaddexp(0.0, -side * (x @ w))))
        wrong = 1 / (1 + np.exp(side * (x @ w)))
        w = w - np.linalg.solve((x.T * (wrong * (1 - wrong))) @ x, -x.T @ (side * wrong))
    assert losses[0] > losses[1] < losses[2] > losses[3] > losses[4]
    assert losses[7] == pytest.approx(0.461224, abs=1e-6)


def test_newton_finds_the_valley_at_1_from_0_7_and_the_hill_from_0_3():
    ends = []
    for x in (0.3, 0.7):
        for _ in range(10):
            x -= (4 * x**3 - 4 * x) / (12 * x**2 - 4)
        ends.append(x)
    assert ends == pytest.approx([0.0, 1.0], abs=1e-9)


@pytest.fixture(scope="module")
def flat_loss():
    nn.seed(0)
    samples = ad.constant(np.random.default_rng(0).standard_normal((7, 5)))
    first, second = nn.Dense(8, activation=nn.relu), nn.Dense(6, activation=nn.relu)
    first(samples)
    kernel = first.kernel.numpy()

    def loss_at(kernel):
        return np.mean(second(nn.relu(samples @ kernel + first.bias)) ** 2)

    return (
        loss_at,
        kernel,
        ad.grad(loss_at)(kernel).numpy().ravel(),
        ad.hessian(loss_at)(kernel).numpy().reshape(40, 40),
    )


def test_slope_and_curvature_are_both_0_in_23_directions(flat_loss):
    _, _, gradient, hessian = flat_loss
    curvatures, directions = np.linalg.eigh(hessian)
    level = directions[:, np.abs(curvatures) < 1e-12]
    assert level.shape == (40, 23)
    assert np.linalg.norm(level.T @ gradient) < 1e-14 < np.linalg.norm(gradient)
    assert all(hessian.any(axis=1))  # they are mixtures of weights


@pytest.mark.parametrize("seed", range(5))
def test_without_damping_the_step_is_noise_in_any_order_of_the_weights(flat_loss, seed):
    _, _, gradient, hessian = flat_loss
    order = np.random.default_rng(seed).permutation(40)

    def step(damping, order):
        found = np.empty(40)
        found[order] = np.linalg.solve((hessian + damping * np.eye(40))[np.ix_(order, order)], -gradient[order])
        return found

    assert not np.allclose(step(0.0, order), step(0.0, np.arange(40)), atol=0.1)
    assert np.allclose(step(1e-3, order), step(1e-3, np.arange(40)))


def test_much_damping_is_a_step_along_the_gradient(flat_loss):
    loss_at, kernel, gradient, hessian = flat_loss
    damped = loss_at(kernel - np.linalg.solve(hessian + np.eye(40), gradient).reshape(5, 8))
    assert [float(damped), float(loss_at(kernel - gradient.reshape(5, 8)))] == pytest.approx([0.0401, 0.0383], abs=5e-5)
