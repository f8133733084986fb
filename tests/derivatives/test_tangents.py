"""What one entry does to the tangent of one argument."""

import numpy as np
import pytest
from differences import draw
from table import record

import autodiff_edu as ad
from autodiff_edu.core.active import Listener, only
from autodiff_edu.core.entry import Entry
from autodiff_edu.derivatives.tangents import push_forward, pushed, shaped

X, W = draw((3, 2), "x"), draw((3, 2), "w")


@pytest.mark.parametrize("f", [np.multiply, np.maximum, lambda x, w: np.concatenate([x, w]), lambda x, w: x @ w.T])
@pytest.mark.parametrize("k", [0, 1])
def test_an_argument_that_moves_moves_the_output_as_differences_say(f, k):
    tape, _, _ = record(f, X, W)
    entry = tape.entries[-1]
    tangent, h = draw(entry.values[k].shape, "v"), 1e-6
    ends = [entry.operation(*entry.values[:k], entry.values[k] + s * tangent, *entry.values[k + 1 :]) for s in (h, -h)]
    part = pushed(entry, k, tangent, entry.output_value, entry.values)
    np.testing.assert_allclose(part, (ends[0] - ends[1]) / (2 * h), 1e-6, 1e-8)


def test_an_argument_without_a_rule_moves_nothing():
    tape, _, _ = record(lambda x: x[1:], X)
    (entry,) = tape.entries
    assert pushed(entry, 1, np.ones(2), entry.output_value, entry.values) is None


def test_a_tangent_gets_the_shape_and_the_dtype_of_what_moves():
    output = np.zeros((2, 3), np.float32)
    assert shaped(np.ones(3), output, ()).shape == (2, 3)
    assert shaped(np.ones(3), output, ()).dtype == np.float32
    assert shaped(np.ones((4, 1, 3)) * 1j, output, (4,)).tolist() == np.zeros((4, 2, 3)).tolist()


def test_what_is_pushed_as_a_tensor_is_recorded():
    tape, _, _ = record(np.sin, X)
    (entry,) = tape.entries
    v = ad.constant(W)
    with ad.GradientTape() as outer:
        outer.watch(v)
        part = pushed(entry, 0, v, entry.output, entry.inputs)
    np.testing.assert_allclose(outer.gradient(part, v), np.cos(X))


def test_a_rule_that_is_only_pulled_back_pushes_complex_tangents_forward_too():
    z, v = draw((3,), "z", dtype="complex128"), draw((3,), "v", dtype="complex128")
    with ad.register_gradient(np.tanh, lambda g, y, x: g * (1 - y * y), replace=True):
        tangent = ad.jvp(np.tanh, (z,), (v,))[1]
    np.testing.assert_allclose(tangent.numpy(), (1 - np.tanh(z) ** 2) * v, 1e-12)


JOINING = {
    "stack": lambda parts: np.stack(parts),
    "stack at the end": lambda parts: np.stack(parts, axis=-1),
    "stack in between": lambda parts: np.stack(parts, axis=1),
    "concatenate": lambda parts: np.concatenate(parts),
    "concatenate at the end": lambda parts: np.concatenate(parts, axis=-1),
    "concatenate all": lambda parts: np.concatenate(parts, axis=None),
    "block": lambda parts: np.block([parts, parts]),
    "dstack": np.dstack,
}


@pytest.mark.parametrize("join", JOINING.values(), ids=JOINING)
def test_joined_arrays_move_together(join):
    def f(x):
        rest, half = np.ones((3, 2)), (x * x).astype(np.float32)
        return join([np.sin(x), rest, half, x, np.sin(x)])

    columns, rows = (ad.jacobian(f, mode=mode)(X).numpy() for mode in ("forward", "reverse"))
    np.testing.assert_allclose(columns, rows, rtol=1e-6)
    np.testing.assert_allclose(ad.jvp(f, (X,), (W,))[1].numpy(), np.tensordot(rows, W), rtol=1e-6)
    second = ad.grad(lambda x: np.sum(ad.jvp(f, (x,), (W,))[1] ** 2))(X)
    expected = ad.grad(lambda x: np.sum(np.tensordot(ad.jacobian(f, mode="reverse")(x), W) ** 2))(X)
    np.testing.assert_allclose(second.numpy(), expected.numpy(), rtol=1e-5)


def test_joining_takes_work_in_proportion_to_the_parts():
    sizes = []

    def see(entry):
        sizes.append(np.size(entry.output_value))

    x, count = ad.constant(np.ones(50)), 40
    with ad.GradientTape() as tape:
        tape.watch(x)
        np.stack([x * float(k) for k in range(count)])
    tangents = {x._id: ad.constant(np.ones(50))}
    with only(Listener({Entry: see})):
        push_forward(tape, tangents)
    assert sum(sizes) <= 3 * count * 50
