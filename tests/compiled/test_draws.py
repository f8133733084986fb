"""A function that draws random numbers is refused, also where they happen to change nothing in a second call."""

from __future__ import annotations

import random
import secrets
from functools import partial

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn

rng = np.random.default_rng(0)
system = random.SystemRandom()


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


class Calling:
    def __call__(self, x):
        return x * (rng.random(3) < 1.0)


class Kept:
    source = np.random.default_rng(0)

    def toss(self, x):
        return x * (self.source.random(3) < 1.0)


DRAWING = {
    "a keyword": lambda x, *, source=rng: x * (source.random(3) < 1.0),
    "a class that is called": Calling(),
    "a class's attribute": Kept().toss,
    "a generator": lambda x: x if rng.random() < 1.0 else -x,
    "a mask": lambda x: x * (rng.random(3) < 1.0),
    "a helper": with_helper,
    "a default": lambda x, source=rng: x * (source.random() < 1.0),
    "NumPy's own": lambda x: x if np.random.rand() < 1.0 else -x,
    "Python's own": lambda x: x if random.random() < 1.0 else -x,
    "the system's": lambda x: x if system.random() < 1.0 else -x,
    "the module secrets": lambda x: x if secrets.randbelow(1) == 0 else -x,
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


def test_a_generator_among_the_arguments_is_found():
    compiled = ad.compile(lambda x, source: x if source.random() < 1.0 else -x)
    with pytest.raises(ValueError, match="draws random numbers each time"):
        compiled(np.ones(3), np.random.default_rng(0))


def test_an_object_that_answers_every_question_does_no_harm():
    class Settings:
        def __init__(self, **values):
            self.__dict__["values"] = values

        def __getattr__(self, name):
            return self.values[name]

    settings = Settings(scale=2.0)

    def f(x):
        return np.sum(settings.scale * x**2)

    for g in (f, ad.compile(f), ad.checkpoint(f)):
        assert np.array_equal(ad.grad(g)(np.ones(2)), np.full(2, 4.0))
    assert ad.compile(ad.grad(f))(np.ones(2))[0] == 4.0


@pytest.mark.parametrize("source", [np.random.default_rng(7), system], ids=["NumPy's", "the system's"])
def test_a_checkpoint_that_draws_from_a_generator_it_is_given_is_refused(source):
    def dropout(x, source):
        return 2.0 * x * (source.random() < 1.0)

    x = ad.Variable(np.zeros(8))
    with ad.GradientTape() as tape:
        y = ad.checkpoint(dropout)(x, source)
    with pytest.raises(ValueError, match="drew other random numbers"):
        tape.gradient(y, x)
