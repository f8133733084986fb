"""Where an argument was copied by broadcasting is known, and so is its contribution before it was summed."""

import numpy as np
import pytest
from programs import EXAMPLES, diamond

import autodiff_edu as ad
from autodiff_edu.arrays.broadcasting import unbroadcast
from autodiff_edu.trace.broadcasting import is_copied


def traced(function, *values):
    xs = [ad.Variable(value, name=name) for name, value in zip("ab", values, strict=False)]
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            y = function(*xs)
        tape.gradient(y, xs)
    return kept.document()


@pytest.mark.parametrize(
    ("function", "shapes", "copied"),
    [
        (np.add, [(4, 3), (3,)], [1]),
        (np.multiply, [(4, 1), (1, 3)], [0, 1]),
        (np.divide, [(), (3,)], [0]),
        (np.maximum, [(2, 4, 3), (4, 3)], [1]),
        (np.add, [(3,), (3,)], None),
        (np.matmul, [(2, 3), (3, 4)], None),
        (lambda a, b: a * 2.0 + b, [(3,), (3,)], None),
    ],
)
def test_copied_arguments_have_a_contribution_in_the_shape_of_the_output(function, shapes, copied):
    rng = np.random.default_rng(0)
    document = traced(function, *(rng.uniform(1.0, 2.0, shape) for shape in shapes))
    assert document["entries"][-1].get("broadcast") == copied
    output = document["tensors"][document["entries"][-1]["output"]]["value"]["shape"]
    sums = [step for step in document["steps"] if step["kind"] == "accumulate" and step["entry"] == 0]
    for step in sums:
        assert ("unfolded" in step) == (step["argument"] in (copied or []))
        if "unfolded" in step:
            assert step["unfolded"]["shape"] == output
            shape = tuple(step["contribution"]["shape"])
            folded = unbroadcast(np.asarray(step["unfolded"]["data"]), shape, 0)
            assert np.allclose(folded, step["contribution"]["data"], rtol=1e-4, atol=1e-5)


def test_a_stack_keeps_its_axis():
    x, b = ad.Variable(np.ones((2, 3)), name="x"), ad.Variable(np.ones(3), name="b")
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            y = np.sum(x * b, axis=1)
        tape.jacobian(y, b)
    (step,) = [step for step in kept.document()["steps"] if "unfolded" in step]
    assert step["unfolded"]["shape"] == [2, 2, 3]
    assert step["contribution"]["shape"] == [2, 3]


def test_a_rule_of_the_user_is_not_applied_again():
    with ad.register_gradient(np.add, lambda g, y, x, b: g, lambda g, y, x, b: g, replace=True):
        document = traced(lambda a, b: a + b, np.ones((2, 3)), np.ones(3))
        assert not any("unfolded" in step for step in document["steps"])
    assert document["entries"][0]["broadcast"] == [1]


def test_what_was_released_is_not_looked_at():
    x = ad.Variable(np.ones((2, 3)))
    with ad.GradientTape() as tape:
        y = x * ad.Variable(np.ones(3))
    tape.gradient(y, x)
    assert not any(is_copied(entry, argument) for entry in tape.entries for argument in (0, 1))


@pytest.mark.parametrize("example", EXAMPLES)
def test_most_documents_say_nothing_of_it(example):
    document = example().document()
    for step in document["steps"]:
        if "unfolded" in step:
            assert step["argument"] in document["entries"][step["entry"]]["broadcast"]
    if example is diamond:
        assert not any("broadcast" in entry for entry in document["entries"])
