"""What an unconnected source gives, and what counts as connected."""

import numpy as np
import pytest

import autodiff_edu as ad

from .cases import case


@case("unconnected → None / ZERO / strings")
def test_an_unconnected_source_gives_none_or_zeros():
    x, y = ad.Variable([2.0, 2.0]), ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        z = y * y
    assert t.gradient(z, x) is None
    assert t.gradient(z, x, unconnected_gradients="none") is None
    assert t.gradient(z, x, unconnected_gradients="zero").tolist() == [0.0, 0.0]


@case("bad unconnected_gradients value")
def test_a_bad_value_for_unconnected_gradients_uses_nothing_up():
    x = ad.Variable(2.0)
    with ad.GradientTape() as t:
        z = x * x
    with pytest.raises(ValueError, match="'foo'"):
        t.gradient(z, x, unconnected_gradients="foo")
    assert t.gradient(z, x).tolist() == 4.0


@case("ZERO for unwatched tensor source / int var source: shape+dtype")
def test_zeros_have_the_shape_and_dtype_of_their_source():
    x, i, y = ad.constant([[1.0, 2.0]], "float32"), ad.Variable([1, 2]), ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        z = y * y
    by_x, by_i = t.gradient(z, [x, i], unconnected_gradients="zero")
    assert (by_x.tolist(), by_x.dtype) == ([[0.0, 0.0]], np.float32)
    assert (by_i.tolist(), by_i.dtype) == ([0, 0], np.int64)


@case("jacobian unconnected: None / ZERO shape")
def test_an_unconnected_jacobian():
    x, y = ad.Variable([2.0, 2.0]), ad.Variable([3.0, 1.0, 2.0])
    with ad.GradientTape(persistent=True) as t:
        z = y * y
    assert t.jacobian(z, x) is None
    assert t.jacobian(z, x, unconnected_gradients="zero").tolist() == [[0.0, 0.0]] * 3


@case("batch_jacobian unconnected: None / ZERO shape")
def test_an_unconnected_batch_jacobian():
    """Difference: it is None under "none", as a Jacobian is."""
    x, y = ad.constant([[2.0, 2.0]]), ad.constant([[3.0, 1.0, 2.0]])
    with ad.GradientTape(persistent=True) as t:
        t.watch([x, y])
        z = y * y
    assert t.batch_jacobian(z, x) is None
    assert t.batch_jacobian(z, x, unconnected_gradients="zero").tolist() == [[[0.0, 0.0]] * 3]


@case("target is source itself (watched tensor, Variable, unwatched tensor)")
def test_a_tensor_by_itself_is_one():
    x, v, u = ad.constant(2.0), ad.Variable(3.0), ad.constant(5.0)
    with ad.GradientTape(persistent=True) as t:
        t.watch(x)
        _ = v + 0.0
    never_read = ad.Variable(1.0)
    for tensor in (x, v, u, never_read):
        assert t.gradient(tensor, tensor).tolist() == 1.0
    assert t.jacobian(x, x).tolist() == 1.0


@case("target computed outside the tape")
def test_a_target_from_before_the_tape_is_unconnected():
    x = ad.Variable(2.0)
    y = x * x
    with ad.GradientTape() as t:
        _ = x * 1.0
    assert t.gradient(y, x) is None


@case("source = intermediate; source intermediate not on path")
def test_an_intermediate_result_may_be_a_source():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        a = x * x
        b = a * x
        c = x * 7.0
    assert t.gradient(b, a).tolist() == 2.0
    assert t.gradient(b, c) is None
    assert [g.tolist() for g in t.gradient(b, [a, x])] == [2.0, 12.0]


@case("python number / numpy array / list as source or target")
@pytest.mark.parametrize("wrong", [np.float32(2.0), 2.0, np.ones(2), None, "a", [2.0], {"a": None}])
@pytest.mark.parametrize("role", ["target", "sources"])
def test_what_is_not_a_tensor_is_neither_source_nor_target(role, wrong):
    x = ad.Variable(2.0)
    with ad.GradientTape() as t:
        y = x * x
    with pytest.raises(TypeError, match=rf"{role}.* must be a Tensor or a Variable"):
        t.gradient(*((wrong, x) if role == "target" else (y, wrong)))
    assert t.gradient(y, x).tolist() == 4.0


@case("duplicates in sources")
def test_a_source_that_is_given_twice_gets_its_gradient_twice():
    x = ad.Variable(2.0)
    with ad.GradientTape() as t:
        y = x**3
    assert [g.tolist() for g in t.gradient(y, [x, x])] == [12.0, 12.0]


@case("duplicates in targets")
def test_a_target_that_is_given_twice_counts_twice():
    x = ad.Variable(2.0)
    with ad.GradientTape() as t:
        y = x**3
    assert t.gradient([y, y], x).tolist() == 24.0


@case("empty sources / empty targets")
def test_no_sources_give_nothing_and_no_targets_give_none():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y = x**3
    assert (t.gradient(y, []), t.gradient(y, {})) == ([], {})
    assert t.gradient([], x) is None
