"""Pushing tangents forward over a tape: each kind of rule, stacks, what is left alone, and what is refused."""

import numpy as np
import pytest
from differences import draw
from no_rule import NAME, UNRULED
from table import record

import autodiff_edu as ad
from autodiff_edu.core.active import always, now
from autodiff_edu.core.rule import RULES
from autodiff_edu.derivatives.tangents import push_forward
from autodiff_edu.transforms import forward

X, V = draw((3, 2), "x"), draw((3, 2), "v")


BY_KIND = {
    "elementwise": lambda x: np.arctan2(x, 1.0 + x * x),
    "linear": lambda x: np.cumsum(np.matmul(np.transpose(x), x), axis=0),
    "general": lambda x: np.concatenate([np.max(x, axis=0), np.std(x, axis=0)]),
}


@pytest.mark.parametrize("kind", BY_KIND)
def test_every_kind_of_rule_has_a_forward_rule(kind):
    tape, (x,), y = record(BY_KIND[kind], X)
    assert kind in {RULES[entry.operation].kind for entry in tape.entries}
    tangents = {x._id: V}
    push_forward(tape, tangents)
    h = 1e-5
    expected = (np.asarray(BY_KIND[kind](X + h * V)) - np.asarray(BY_KIND[kind](X - h * V))) / (2 * h)
    np.testing.assert_allclose(tangents[y._id], expected, 1e-7, 1e-9)


@pytest.mark.parametrize("kind", BY_KIND)
@pytest.mark.parametrize("depth", [0, 1, 4])
def test_a_stack_of_tangents_is_what_one_at_a_time_gives(kind, depth):
    tape, (x,), y = record(BY_KIND[kind], X)
    stack = draw((depth, 3, 2), "stack")
    tangents = {x._id: stack}
    push_forward(tape, tangents, (depth,))
    assert tangents[y._id].shape == (depth, *y.shape)
    for row, tangent in zip(tangents[y._id], stack, strict=True):
        single = {x._id: tangent}
        push_forward(tape, single)
        np.testing.assert_allclose(row, single[y._id], 1e-12, 1e-13)


def test_two_moving_arguments_add_up_and_one_that_rests_does_not_count():
    tape, (x, w), y = record(lambda x, w: x @ w, X, X.T)
    moved = {x._id: V, w._id: V.T}
    push_forward(tape, moved)
    np.testing.assert_allclose(moved[y._id], V @ X.T + X @ V.T, 1e-13)
    moved = {w._id: V.T}
    push_forward(tape, moved)
    np.testing.assert_allclose(moved[y._id], X @ V.T, 1e-13)


def test_one_tensor_used_twice_moves_both_times():
    tape, (x,), y = record(lambda x: x * x + x, X)
    tangents = {x._id: V}
    push_forward(tape, tangents)
    np.testing.assert_allclose(tangents[y._id], (2 * X + 1) * V, 1e-13)


def test_what_does_not_depend_on_the_source_does_not_move():
    tape, (x, _), y = record(lambda x, other: other * 2 + np.sign(x), X, X)
    tangents = {x._id: V}
    push_forward(tape, tangents)
    assert y._id not in tangents or not np.any(tangents[y._id])


def test_a_tangent_has_the_shape_and_dtype_of_its_output():
    def f(x):
        return np.broadcast_to(np.sum(x, axis=0), (4, 2)) * np.ones((5, 1, 1), x.dtype)

    for dtype in ("float16", "float32"):
        tape, (x,), y = record(f, X.astype(dtype))
        tangents = {x._id: V.astype(dtype)}
        push_forward(tape, tangents)
        assert tangents[y._id].shape == y.shape == (5, 4, 2)
        assert tangents[y._id].dtype == np.dtype(dtype)


@pytest.mark.parametrize(("primal", "tangent"), [("float32", "float64"), ("float64", "float32")])
def test_a_tangent_is_taken_in_the_dtype_of_its_primal(primal, tangent):
    v = np.full(2, 0.5, tangent)
    assert ad.jvp(lambda x: x, (np.ones(2, primal),), (v,))[1].dtype == primal
    assert ad.linearize(lambda x: x, np.ones(2, primal))[1](v).dtype == primal


def test_the_tape_is_left_as_it_was_and_can_be_read_backwards_after():
    tape, (x,), y = record(lambda x: np.sum(x**3), X)
    before = tape.entries[:]
    push_forward(tape, {x._id: V})
    assert tape.entries == before
    assert now().followers == ()
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 3 * X**2)


def test_on_plain_arrays_the_tangents_are_plain_arrays():
    tape, (x,), y = record(lambda x: np.sum(np.sin(x), axis=0) * np.max(x), X)
    tangents = {x._id: V}
    push_forward(tape, tangents)
    assert not any(isinstance(t, ad.Tensor) for t in tangents.values())
    assert isinstance(tangents[y._id], np.ndarray)


def test_an_outer_tape_that_watches_the_tangent_records_the_push():
    v = ad.constant(V)
    with ad.GradientTape() as outer:
        outer.watch(v)
        tangent = ad.jvp(lambda x: np.sum(x**3, axis=0), (X,), (v,))[1]
        total = np.sum(tangent * np.array([1.0, 2.0]))
    np.testing.assert_allclose(outer.gradient(total, v).numpy(), 3 * X**2 * np.array([1.0, 2.0]))


def test_perturbations_of_two_levels_are_not_confused():
    # d/dx (x * d/dy (x + y)) at y = 1 is 1, not 2: the inner derivative must not see the outer tangent
    def outer(x):
        return x * ad.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    assert float(ad.jvp(outer, (1.0,), (1.0,))[1]) == 1.0
    assert float(ad.grad(outer)(1.0)) == 1.0


def test_a_function_without_a_rule_is_named_if_a_tangent_meets_it_and_only_then():
    tape, (x, other), (y, _) = record(lambda x, other: (x * 2, UNRULED(other)), X, X)
    with pytest.raises(LookupError, match=NAME):
        push_forward(tape, {other._id: V})
    tangents = {x._id: V}
    push_forward(tape, tangents)
    np.testing.assert_array_equal(tangents[y._id], 2 * V)


def test_a_jacobian_by_columns_respects_the_largest_stack(monkeypatch):
    lengths = []

    def noted(tape, tangents, stack=()):
        lengths.extend(stack)
        return push_forward(tape, tangents, stack)

    monkeypatch.setattr(forward, "push_forward", noted)
    whole = ad.jacobian(np.tanh, mode="forward")(X)
    assert lengths == [6]
    lengths.clear()
    monkeypatch.setattr(forward, "LARGEST_STACK", 4 * X.nbytes)
    parts = ad.jacobian(np.tanh, mode="forward")(X)
    assert max(lengths) <= 4
    assert sum(lengths) == 6
    np.testing.assert_array_equal(whole.numpy(), parts.numpy())


def test_a_rule_that_takes_its_cotangent_off_the_tape_is_not_a_tangent_of_zero():
    @ad.custom_gradient
    def twice(x):
        return x * 2.0, lambda dy: dy.numpy() * 2.0

    assert ad.grad(twice)(1.0).numpy() == 2.0
    for call in (lambda: ad.jvp(twice, (1.0,), (1.0,)), lambda: ad.jacobian(lambda x: twice(x) * np.ones(5))(1.0)):
        with pytest.raises(TypeError, match=r"rule of twice, used at test_forward\.py.*numpy\(\).*reverse"):
            call()
    rule = ad.register_gradient(np.unique, lambda g, y, x: np.asarray(g))
    with rule, pytest.raises(TypeError, match=r"rule of unique.*np\.asarray"):
        ad.jvp(np.unique, (np.ones(2),), (np.ones(2),))
    assert now().listeners == always.listeners


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: ad.jvp(np.sin(ad.constant(1.0)), (1.0,), (1.0,)),
            TypeError,
            r"jvp takes a function, but got Tensor\(0.8.*Write ad.jvp\(f, \(x,\), \(v,\)\), not ad.jvp\(f\(x\), \(x,\)",
        ),
        (
            lambda: ad.jvp(lambda: ad.constant(1.0), (), ()),
            ValueError,
            r"jvp needs at least one primal.*\(v,\)",
        ),
        (lambda: ad.jvp(np.sin, [1.0], (1.0,)), TypeError, r"must be tuples, .*jvp\(f, \(x,\), \(v,\)\)"),
        (lambda: ad.jvp(np.sin, 1.0), TypeError, r"must be tuples, .*jvp\(f, \(x,\), \(v,\)\)\. ad\.vjp\(f, x\)"),
        (lambda: ad.jvp(np.multiply, 1.0, 2.0), TypeError, r"must be tuples, .*jvp\(f, \(x,\), \(v,\)\)"),
        (lambda: ad.jvp(np.clip, 1.0, 2.0, 3.0), TypeError, r"must be tuples, .*jvp\(f, \(x,\), \(v,\)\)"),
        (lambda: ad.hvp(np.sin, 1.0), TypeError, r"must be tuples, .*hvp\(f, \(x,\), \(v,\)\)$"),
        (lambda: ad.jvp(np.sin, (1.0,), 1.0), TypeError, r"must be tuples, .*jvp\(f, \(x,\), \(v,\)\)"),
        (
            lambda: ad.jvp(lambda x, y: x * y["b"], (1.0, {"b": 1.0}), (1.0, {"b": None})),
            TypeError,
            r"tangents\[1\]\['b'\] is None. Pass zeros for a primal that does not move",
        ),
        (
            lambda: ad.hvp(ad.custom_gradient(lambda x: (x, lambda dy: dy.numpy() * 1.0)), (1.0,), (1.0,)),
            TypeError,
            r"or use reverse mode: ad.grad, ad.vjp or mode=",
        ),
    ],
)
def test_slips(call, error, said):
    with pytest.raises(error, match=said):
        call()
