"""What a reviewer who had not seen the work found wrong: each was a wrong number, or a broken state, in silence."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.events import active


def gradient(f, *values):
    variables = [ad.Variable(v) for v in values]
    with ad.GradientTape() as tape:
        y = f(*variables)
    return [None if g is None else g.numpy().tolist() for g in tape.gradient(y, variables)]


def test_a_read_only_view_of_an_array_that_is_written_into_later_changes_no_gradient():
    x, a = ad.Variable([1.0, 2.0]), np.array([3.0, 4.0])
    with ad.GradientTape() as tape:
        y = np.sum(x * np.broadcast_to(a, (3, 2)))
    a[:] = 0
    assert tape.gradient(y, x).numpy().tolist() == [9, 12]


def test_a_list_that_is_written_into_later_changes_no_gradient():
    x, numbers = ad.Variable([1.0, 2.0]), [3.0, 4.0]
    with ad.GradientTape() as tape:
        y = np.einsum("i,i", x, numbers)
    numbers[0] = 100.0
    assert tape.gradient(y, x).numpy().tolist() == [3, 4]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where([True, False], [x, x], x),
        lambda x: np.einsum("i,i", np.ones(2) * x, [x, x]),
        lambda x: np.interp(x, [0.0, 3.0], [x, x * 2]),
        lambda x: np.outer(x, [x, x]),
        lambda x: np.pad(np.reshape(x, 1), 1, constant_values=x),
        lambda x: np.gradient(x * np.arange(3.0), x),
    ],
)
def test_tensors_hidden_in_lists_and_options_are_refused_not_lost(f):
    with pytest.raises(TypeError, match=r"join|plain numbers"):
        gradient(f, 2.0)


def test_a_copied_variable_is_another_variable():
    for duplicate in (copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))):
        w = ad.Variable(2.0, trainable=True, name="w")
        other = duplicate(w)
        other.assign(5.0)
        with ad.GradientTape() as tape:
            y = w * other
        assert [float(g) for g in tape.gradient(y, [w, other])] == [5, 2]
        assert other.name == "w"


def test_a_tensor_is_copied_to_itself_and_pickled_to_its_value():
    x = ad.constant([1.0, 2.0], name="x")
    assert copy.deepcopy(x) is x
    assert pickle.loads(pickle.dumps(x)).numpy().tolist() == [1, 2]


def test_the_jacobian_by_a_complex_argument_is_the_same_in_every_mode_that_takes_one():
    def f(z):
        return np.real(z * z) * np.ones(3)

    found = ad.jacobian(f)(np.array(1 + 2j)).numpy()
    np.testing.assert_allclose(found, np.full(3, 2 - 4j))
    with pytest.raises(TypeError, match="reverse"):
        ad.jacobian(f, mode="forward")(np.array(1 + 2j))


def test_a_transform_neither_freezes_nor_shares_the_caller_s_array():
    a = np.ones(3)
    value, _ = ad.value_and_grad(lambda x: (x.numpy(), x)[1])(a)
    value.numpy()
    a[0] = 99.0
    assert value.numpy().tolist() == [1, 1, 1]
    _, tangent = ad.jvp(lambda x: x[:2], (a,), (a,))
    a[1] = 7.0
    assert tangent.numpy().tolist() == [99, 1]


def test_nan_is_not_lost_among_the_sorted():
    x = ad.constant([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(np.median(x, axis=1).numpy(), [np.nan, 2.0])
    np.testing.assert_array_equal(np.quantile(x, [0.0, 1.0], axis=1).numpy(), [[np.nan, 1.0], [np.nan, 3.0]])


def test_the_mean_of_more_elements_than_float16_counts_has_a_gradient():
    x = ad.Variable(np.ones(70_000, "float16"))
    with ad.GradientTape() as tape:
        y = np.mean(x)
    assert tape.gradient(y, x).numpy()[0] == np.float16(1 / 70_000)


@pytest.mark.parametrize(
    "mixing", [lambda y: np.concatenate([y[:1] * np.nan, y[1:]]), lambda y: y + 1e-3 * np.mean(y, 0)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_check_of_independence_sees_small_mixtures_and_nan(mixing, dtype):
    x = ad.constant(np.random.default_rng(0).standard_normal((4, 3)), dtype)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = mixing(np.tanh(x))
    with pytest.raises(ValueError, match="not independent"):
        tape.batch_jacobian(y, x, check=True)


@pytest.mark.parametrize(
    "f",
    [
        partial(np.flip, axis=3),
        partial(np.median, axis=2),
        partial(np.moveaxis, source=0, destination=2),
        partial(np.diff, axis=2),
        partial(np.take, indices=0, axis=2),
    ],
)
def test_an_axis_that_is_not_there_is_an_error(f):
    with pytest.raises(np.exceptions.AxisError):
        f(ad.constant([[1.0, 2.0], [3.0, 4.0]]))


def test_the_first_rule_of_a_batch_jacobian_may_cut_the_samples():
    x = ad.constant(np.random.default_rng(0).standard_normal((4, 3)))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.concatenate([x[:1] * 2.0, x[1:]])
    expected = np.array([2.0, 1, 1, 1])[:, None, None] * np.eye(3)
    np.testing.assert_array_equal(tape.batch_jacobian(y, x).numpy(), expected)


def test_naming_an_argument_twice_is_an_error():
    for argnums in ((0, 0), (0, -2), ()):
        with pytest.raises(ValueError, match="argnums"):
            ad.grad(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_a_product_that_underflows_has_its_gradient_all_the_same():
    np.testing.assert_allclose(gradient(np.prod, [1e-200, 1e-200]), [[1e-200, 1e-200]])
    np.testing.assert_allclose(gradient(lambda x: np.cumprod(x)[1], [1e-200, 1e-200]), [[1e-200, 1e-200]])


def test_the_hessian_of_a_structure_with_one_leaf():
    h = ad.hessian(lambda p: np.sum(p["w"] ** 3))({"w": np.ones((2, 2))})
    np.testing.assert_allclose(h.matrix().numpy(), 6 * np.eye(4))
    assert ad.hessian(lambda p: p["b"] ** 3)({"b": 2.0}).matrix().shape == (1, 1)
    assert ad.hessian(lambda x: np.sum(x**3))(np.ones((2, 2))).shape == (2, 2, 2, 2)


def test_a_walk_that_fails_after_its_tape_was_left_does_not_put_it_back():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        walk = tape.steps(x * x, x)
        next(walk)
    with pytest.raises(ValueError, match="stop"):
        walk.throw(ValueError("stop"))
    assert active.tapes == ()


def test_a_hook_that_raises_at_a_pause_leaves_the_tape_recording():
    def refuse(event):
        if type(event).__name__ == "Pause":
            raise KeyError("hook")

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with pytest.raises(KeyError, match="hook"), ad.hook(refuse), tape.stop_recording():
            pass
        y = x * x
    assert float(tape.gradient(y, x)) == 6


def test_a_ufunc_with_several_results_is_refused():
    with pytest.raises(TypeError, match="several results"):
        np.modf(ad.constant(1.5))


def test_a_function_without_a_rule_behind_a_step_hinders_nothing():
    assert gradient(lambda x: np.sum(np.floor(np.unwrap(x)) * x), [1.5, 2.5]) == [[1, 2]]


def test_names_of_several_lines_and_places_without_a_name_are_printed():
    x = ad.Variable(2.0, name="first\nsecond")
    with ad.GradientTape() as tape:
        exec(compile("y = x * x", "<>", "exec"), {"x": x})
    assert len(str(tape).splitlines()) == 2


def test_a_trace_of_a_forward_pass_shows_no_tape_of_ours():
    with ad.trace() as steps:
        ad.jvp(lambda x: np.max(x * x), (np.array([1.0, 2.0]),), (np.ones(2),))
    assert len({event.tape for event in steps.events}) == 1


def test_a_list_of_whole_numbers_is_an_array_of_floats_and_an_array_of_integers_is_refused_by_its_role():
    assert ad.grad(lambda x: np.sum(x**2))([1, 2]).numpy().tolist() == [2, 4]
    with pytest.raises(TypeError, match="argument has dtype int64"):
        ad.grad(lambda x: np.sum(x**2))(np.array([1, 2]))


def test_the_hessian_by_complex_arguments_says_so():
    with pytest.raises(TypeError, match="hessian"):
        ad.hessian(lambda z: np.sum(np.abs(z) ** 2))(np.array([1 + 2j]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.hstack([[x[0]], x]),
        lambda x: np.vstack([[x[0], x[1]], x]),
        lambda x: np.concatenate([(x[0],), x]),
        lambda x: np.stack([(x[0], x[1]), x]),
        lambda x: np.append(x, values=[x[0]]),
    ],
)
def test_a_list_of_tensors_inside_what_is_joined_is_refused(f):
    with pytest.raises(TypeError, match="join them"):
        gradient(f, [1.0, 2.0])


def test_lists_of_axes_and_integer_tensors_in_shapes_are_what_they_are_in_numpy():
    x, k = ad.constant(np.arange(6.0).reshape(2, 3)), ad.constant(1)
    assert np.expand_dims(x, [0, 1]).shape == (1, 1, 2, 3)
    assert np.reshape(x, (k, 6)).shape == (1, 6)
    assert np.take(x, [k, k], axis=1).shape == (2, 2)
    assert np.pad(x, (k, 0)).shape == (3, 4)
    np.testing.assert_allclose(gradient(lambda t: np.fft.fftshift(t, [0]), [1.0, 2.0]), [[1, 1]])


def test_the_variance_of_more_elements_than_float16_counts_has_a_gradient():
    x = np.r_[np.zeros(50_000), np.ones(50_000)].astype("float16")
    assert ad.grad(np.var)(x).numpy()[0] == np.float16(-1e-5)
