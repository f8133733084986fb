"""A function that draws random numbers is refused, also where they happen to change nothing in a second call."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn

rng = np.random.default_rng(0)


class Coin:
    def __init__(self):
        self.rng = np.random.RandomState(0)

    def __call__(self, x):
        return x * (self.rng.rand() < 1.0)

    def toss(self, x):
        return x if self.rng.rand() < 1.0 else -x


def with_helper(x):
    def helper(x):
        return x * (rng.random() < 1.0)

    return helper(x)


DRAWING = {
    "a generator": lambda x: x if rng.random() < 1.0 else -x,
    "a mask": lambda x: x * (rng.random(3) < 1.0),
    "a helper": with_helper,
    "a default": lambda x, source=rng: x * (source.random() < 1.0),
    "NumPy's own": lambda x: x if np.random.rand() < 1.0 else -x,
    "Python's own": lambda x: x if random.random() < 1.0 else -x,
    "an object": Coin(),
    "a method": Coin().toss,
    "a part": partial(lambda source, x: x * (source.random(3) < 1.0), rng),
}


@pytest.mark.parametrize("function", DRAWING.values(), ids=DRAWING)
def test_a_coin_that_falls_the_same_way_each_time_is_refused(function):
    for one in (function, ad.grad(lambda x: np.sum(function(x)))):
        compiled = ad.compile(one)
        with pytest.raises(ValueError, match="draws random numbers each time it is called, and a compiled program"):
            compiled(np.ones(3))


def test_a_generator_that_is_not_drawn_from_does_no_harm():
    maybe = ad.compile(lambda x, noisy: x + rng.standard_normal(3) if noisy else 2.0 * x)
    assert np.array_equal(maybe(np.ones(3), False), np.full(3, 2.0))
    seeded = ad.compile(lambda x: x * np.random.default_rng(0).random())
    assert seeded(1.0) == seeded(1.0)


def test_layers_that_a_first_call_builds_may_draw():
    layer = nn.Dense(2)
    compiled = ad.compile(lambda x: layer(x))
    assert np.array_equal(compiled(np.ones((3, 4))), layer(np.ones((3, 4))))


def test_a_first_call_that_creates_no_variables_must_be_like_the_second():
    table = []

    def f(x):
        if not table:
            table.append(1.0)
            x = x * 2.0
        return x * 3.0

    with pytest.raises(ValueError, match="multiply uses numbers that differ when f is called again"):
        ad.compile(f)(1.0)
