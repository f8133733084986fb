"""What chapter 28 says of its miniature: two losses, one slip in the slope, and the weight of a condition."""

import threading

import numpy as np
import pytest
from answers import a_project as answers

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.course import check

TIMES = np.linspace(0.0, 3.0, 20)


def network(weights, x):
    return np.tanh(x[:, None] * weights["w"] + weights["b"]) @ weights["a"]


def rate(u, x):
    return ad.jvp(u, (x,), (np.ones_like(x),))[1]


def loss(weight, cut=lambda rates: rates):
    def of(weights):
        def u(x):
            return network(weights, x)

        beginning = (u(np.array([0.0]))[0] - 1.0) ** 2
        return np.mean((cut(rate(u, TIMES)) + u(TIMES)) ** 2) + weight * beginning

    return of


def train(loss, seed=5):
    w, b, a = np.random.default_rng(seed).normal(size=(3, 5))
    weights = {"w": ad.Variable(w), "b": ad.Variable(b), "a": ad.Variable(a / 5)}
    optimizer, step = nn.Adam(0.02), ad.compile(ad.value_and_grad(loss))
    for _ in range(1000):
        value, gradients = step(weights)
        optimizer.apply(gradients, weights)
    return float(value), weights


def worst(weights, start=0.0, end=3.0):
    x = np.linspace(start, end, 301)
    return np.abs(network(weights, x).numpy() - np.exp(-x)).max()


def test_the_lower_loss_belongs_to_the_wrong_answer():
    (wrong, lost), (right, found) = train(loss(0.0)), train(loss(1.0))
    assert 50 * wrong < right < 3e-5
    assert wrong < 1e-6
    assert np.abs(network(lost, TIMES).numpy()).max() < 0.015
    assert worst(lost) > 0.95
    assert worst(found) == pytest.approx(0.002, abs=0.0005)
    assert worst(found, 3.0, 6.0) / worst(found) == pytest.approx(40, abs=5)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_same_with_other_seeds(seed):
    assert worst(train(loss(0.0), seed)[1]) > 0.9
    assert worst(train(loss(1.0), seed)[1]) < 0.005


def test_a_slope_that_is_cut_still_trains_only_worse():
    cut = loss(1.0, ad.stop_gradient)
    with pytest.raises(AssertionError):
        ad.check_gradients(loss(0.0, ad.stop_gradient), {"w": np.ones(2), "b": np.ones(2), "a": np.ones(2)})
    value, weights = train(cut)
    assert value == pytest.approx(0.001, abs=0.0005)
    assert worst(weights) == pytest.approx(0.015, abs=0.001)


def test_a_condition_of_little_weight_is_forgotten_and_one_of_much_weight_hides_the_equation():
    assert worst(train(loss(0.0001))[1]) > 0.9
    much = train(loss(100.0))[1]
    assert 3 * 0.0023 < worst(much) < 0.02
    assert worst(much, 3.0, 6.0) < 0.05


def by_differences(f, shape, g, step=1e-5):
    """Return the cotangent of the array that f takes, by central differences around 0."""
    found = np.zeros(shape)
    for place in np.ndindex(*shape):
        nudge = np.zeros(shape)
        nudge[place] = step
        found[place] = np.sum((np.asarray(f(nudge)) - np.asarray(f(-nudge))) * g) / (2 * step)
    return found


def pull(q, k, v, g):
    given = [q, k, v]
    layers = [lambda x, n=n: answers.attend(*(one + x * (n == m) for m, one in enumerate(given))) for n in range(3)]
    return tuple(by_differences(layer, q.shape, g) for layer in layers)


def to_kernel(image, g):
    shape = [a - b + 1 for a, b in zip(image.shape, g.shape, strict=True)]
    return by_differences(lambda kernel: answers.slide(image, kernel), shape, g)


def to_image(kernel, g):
    shape = [a + b - 1 for a, b in zip(kernel.shape, g.shape, strict=True)]
    return by_differences(lambda image: answers.slide(image, kernel), shape, g)


def in_a_thread(image, g):
    found = []
    thread = threading.Thread(target=lambda: found.append(answers.with_tape(image, g).numpy()))
    thread.start()
    thread.join()
    return found[0]


def loss_by_differences(u):
    return np.mean((answers.by_differences(u, answers.PLACES) + u(answers.PLACES)) ** 2) + answers.ends(u)


def counts_some(u):
    return answers.ends(u) + np.mean(answers.residuals(u)[10:] ** 2)


def taylor(x):
    return x - x**3 / 6 + x**5 / 120 - x**7 / 5040 + x**9 / 362880


EDGE = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
FAR = {"inside": taylor(np.pi), "outside": taylor(2 * np.pi)}


@pytest.mark.parametrize(
    ("project", "whole", "parts"),
    [
        ("28.1", answers.PHYSICS, {"loss": loss_by_differences}),
        ("28.1", answers.PHYSICS, {"loss": counts_some}),
        ("28.1", answers.PHYSICS, {"solution": taylor, "errors": FAR}),
        (
            "28.1",
            answers.PHYSICS,
            {"solution": lambda x: np.sin(x) + 1e-6, "errors": {"inside": 1e-6, "outside": 1e-6}},
        ),
        ("28.2", answers.ATTENTION, {"pull": pull}),
        ("28.2", answers.ATTENTION, {"reach": answers.by_nudges}),
        ("28.3", answers.CONVOLUTION, {"to_kernel": to_kernel, "to_image": to_image}),
        ("28.3", answers.CONVOLUTION, {"to_kernel": in_a_thread}),
        ("28.3", answers.CONVOLUTION, {"slide": answers.by_shifts, "learned": 0.97 * EDGE}),
    ],
)
def test_what_grade_a_project_says_gets_through_does(project, whole, parts):
    assert check(project, whole | parts)
