"""Places where a compiled function could silently give something else than the function: each once did."""

import enum
import pickle
import threading
import time
import warnings

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn


def assert_as_without(f, *arguments, tolerance=0.0):
    """Check a compiled function on its second call, which runs the program."""
    compiled = ad.compile(f)
    with np.errstate(all="ignore"):
        compiled(*arguments)
        got, expected = compiled(*arguments), f(*map(ad.constant, arguments))
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(got.numpy(), expected.numpy(), tolerance, tolerance)


class TestPasses:
    def test_indexing_the_same_place_twice_adds_both(self):
        places = np.r_[np.arange(3000), np.arange(100)]

        def f(x):
            y = np.sin(x)
            return ad.grad(lambda y: np.sum(np.cos(y)) + np.sum(y[places] ** 2) + np.sum(y[1:] ** 3))(y)

        assert_as_without(f, np.linspace(0, 1, 3000), tolerance=1e-14)

    def test_a_stack_of_cotangents_is_not_added_at_an_index_of_one(self):
        def f(x):
            return ad.jacobian(lambda x: np.sin(x) + np.concatenate([x[1:] ** 2, x[:1]]))(x)

        assert_as_without(f, np.linspace(0, 1, 60), tolerance=1e-14)

    def test_a_matrix_product_needs_its_broadcast_operand(self):
        matrix = np.arange(9.0).reshape(3, 3)
        assert_as_without(lambda x, m: np.broadcast_to(x, (3, 3)) @ m, np.array([1.0, 2.0, 4.0]), matrix)
        assert_as_without(lambda x, m: m @ np.broadcast_to(x, (3, 3)), np.array([1.0, 2.0, 4.0]), matrix)

    def test_two_numbers_are_not_joined_where_their_product_is_infinite(self):
        assert_as_without(lambda x: 256.0 * (256.0 * x), np.array([0.5, 1.0], "float16"))
        assert_as_without(lambda x: 0.5 * (4.0 * x), np.array([1e308]))

    def test_two_numbers_are_not_joined_where_their_product_is_rounded_near_zero(self):
        for inner, outer in ((0.5, 2.0), (0.25, 0.5), (3.0, 2.0), (0.3, 4.0), (2.0, 0.25)):
            small = np.array([5e-324, 2.5e-323, 7e-308])
            assert_as_without(lambda x, inner=inner, outer=outer: outer * (inner * x), small)

    def test_zeros_of_both_signs_are_not_one_number(self):
        for zeros in ([0.0, -0.0], [-0.0, 0.0], np.array([0.0, complex(0.0, -0.0)])):
            assert_as_without(lambda x, zeros=zeros: x / np.array(zeros), np.array([1.0, 1.0]))
            assert_as_without(lambda x, zeros=zeros: 1.0 / (x * np.array(zeros)), np.array([1.0, 1.0]))

    def test_the_same_expression_with_and_without_a_warning_is_computed_twice(self):
        def f(x):
            with np.errstate(divide="ignore"):
                quiet = np.log(x)
            return quiet + np.log(x)

        compiled = ad.compile(f)
        compiled(1.0)
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            compiled(0.0)

    def test_an_array_is_not_written_into_before_a_joined_line_reads_it(self):
        def f(x):
            y = np.tanh(x)
            return np.where(x > y, x, y * 2.0)

        assert_as_without(f, np.linspace(-1, 1, 3000))

    def test_a_first_power_is_an_array_of_its_own(self):
        def f(x):
            return (x**1) * 2.0 + x

        x = np.linspace(-1, 1, 3000)
        compiled = ad.compile(f, passes=("reused",))
        for _ in range(2):
            assert np.array_equal(compiled(x), 3.0 * np.linspace(-1, 1, 3000))
        assert np.array_equal(x, np.linspace(-1, 1, 3000))

    def test_a_jacobian_in_float32_stays_in_float32(self):
        def f(x):
            return ad.jacobian(lambda x: np.where(x > 0, -(x * x) / x, 0))(x)

        assert_as_without(f, np.linspace(1, 2, 60).astype("float32"), tolerance=1e-6)


class TestWhatIsRead:
    @pytest.mark.parametrize("start", [1.5, [1.0, 2.0]], ids=["number", "array"])
    @pytest.mark.parametrize("take", [ad.Variable.numpy, ad.stop_gradient], ids=["numpy", "stop_gradient"])
    def test_what_a_variable_was_before_is_not_the_variable(self, start, take):
        w, one = ad.Variable(start), ad.constant(1.0)
        before = take(w)
        after, first = ad.compile(lambda: w * 2.0 - before), ad.compile(lambda: one * before - w)
        for factor in (1.0, 3.0):
            w.assign(np.array(start) * factor)
            assert np.array_equal(after(), w * 2.0 - before)
            assert np.array_equal(first(), one * before - w)

    def test_variables_assigned_the_same_array_stay_two(self):
        a, b = ad.Variable([1.0, 2.0]), ad.Variable([3.0, 4.0])

        @ad.compile
        def both(x):
            y = x * 2.0
            a.assign(y)
            b.assign(a)
            return y

        for _ in range(2):
            y = both(np.ones(2))
        sums = ad.compile(lambda: a + b * 10.0 + y * 100.0)
        sums()
        b.assign([7.0, 8.0])
        assert sums().tolist() == [272.0, 282.0]

    def test_variables_may_be_swapped(self):
        a, b = ad.Variable([1.0, 2.0]), ad.Variable([3.0, 4.0])

        @ad.compile
        def swap():
            kept = ad.constant(a)
            a.assign(b)
            b.assign(kept)
            return a * 1.0

        assert [swap().tolist() for _ in range(3)] == [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
        assert b.tolist() == [1.0, 2.0]

    def test_a_variable_at_the_address_of_another_has_its_own_program(self):
        compiled = ad.compile(lambda v, x: x * float(len(v)))
        assert [float(compiled(ad.Variable(np.zeros(n)), 1.0)) for n in range(1, 20)] == list(range(1, 20))

    def test_equal_settings_of_two_types_have_two_programs(self):
        color, shape = enum.IntEnum("color", "red"), enum.IntEnum("shape", "round")
        compiled = ad.compile(lambda kind, x: x * (2.0 if isinstance(kind, color) else 3.0))
        assert [float(compiled(kind, 1.0)) for kind in (color.red, shape.round)] == [2.0, 3.0]

    def test_a_float_is_a_float64_tensor(self):
        def f(x, factor):
            return x * factor

        compiled, x = ad.compile(f), np.ones(2, "float32")
        for factor, dtype in ((2.0, "float64"), (np.float32(2.0), "float32")):
            for _ in range(2):
                assert compiled(x, factor).dtype == f(ad.constant(x), ad.constant(factor)).dtype == dtype

    def test_labels_are_checked_in_every_call(self):
        compiled = ad.compile(nn.softmax_cross_entropy)
        logits = np.arange(6.0).reshape(2, 3)
        for labels in ([0, 2], [1, 1]):
            expected = nn.softmax_cross_entropy(logits, np.array(labels))
            np.testing.assert_allclose(compiled(logits, np.array(labels)).numpy(), expected, 1e-14)
        for labels, said in (([0, 7], r"labels\[1\] is 7"), ([-1, 0], r"labels\[0\] is -1")):
            with pytest.raises(ValueError, match=said):
                compiled(logits, np.array(labels))


class TestWhatComesBack:
    def test_a_variable_made_inside_is_new_in_every_call(self):
        @ad.compile
        def f(x):
            first, second = ad.Variable(x * 2.0), ad.Variable(x, trainable=False, name="second")
            second.assign_add(first)
            return first, second

        results = [f(x) for x in (1.0, 2.0, 5.0)]
        assert [(float(a), float(b)) for a, b in results] == [(2.0, 3.0), (4.0, 6.0), (10.0, 15.0)]
        assert {(type(b), b.trainable, b.name) for _, b in results} == {(ad.Variable, False, "second")}

    def test_under_a_trace_and_a_tape_the_results_are_tensors_too(self):
        compiled = ad.compile(lambda x: x * 2.0)
        compiled(np.ones(2))
        for seeing in (ad.trace(), ad.GradientTape()):
            with seeing:
                assert type(compiled(np.ones(2))) is ad.Tensor

    def test_a_tape_that_follows_a_captured_tensor_records_the_function(self):
        x = ad.constant(3.0)
        compiled = ad.compile(lambda y: x * y)
        compiled(2.0)
        with ad.GradientTape() as tape:
            tape.watch(x)
            z = compiled(2.0)
        assert tape.gradient(z, x) == 2.0

    def test_threads_that_call_first_at_the_same_time_share_one_program(self):
        compiled, wrong, start = ad.compile(_slow), [], threading.Barrier(20)

        def work():
            start.wait()
            try:
                compiled(1.0)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=work) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert repr(compiled) == "<compiled _slow: 1 program>"

    def test_a_compiled_function_can_be_pickled_without_its_programs(self):
        compiled = ad.compile(np.sin, passes=("unused",))
        compiled(1.0)
        again = pickle.loads(pickle.dumps(compiled))
        assert repr(again) == "<compiled sin: 0 programs>"
        assert again.passes == ("unused",)
        with warnings.catch_warnings(action="error"):
            assert again(1.0) == np.sin(1.0)


def _slow(x):
    time.sleep(0.01)
    return x * 2.0


def log_determinant(m):
    try:
        return np.sum(np.log(np.diag(np.linalg.cholesky(m))))
    except np.linalg.LinAlgError:
        return np.sum(m) * 0.0


def logarithm(x):
    with np.errstate(all="raise"):
        try:
            return np.log(x)
        except FloatingPointError:
            return x * 0.0


def average(x):
    try:
        return np.average(x, weights=x)
    except ZeroDivisionError:
        return np.sum(x)


def next_of_largest(x):
    try:
        return x[np.argmax(x) + 1]
    except IndexError:
        return x[0]


FAILING = [
    (log_determinant, -np.eye(2), 3 * np.eye(2)),
    (logarithm, np.array([1.0, 0.0]), np.array([1.0, 2.0])),
    (average, np.array([1.0, -1.0]), np.array([1.0, 2.0])),
    (next_of_largest, np.array([1.0, 2.0]), np.array([2.0, 1.0])),
    (lambda m: ad.grad(log_determinant)(m), -np.eye(2), 3 * np.eye(2)),
]


class TestErrorsThatTheFunctionCatches:
    @pytest.mark.parametrize(("f", "failing", "working"), FAILING)
    def test_the_path_after_an_error_is_not_kept(self, f, failing, working):
        with pytest.raises(TypeError, match=r"test_traps.py, line \d+: an operation fails for these numbers \("):
            ad.compile(f)(failing)

    @pytest.mark.parametrize(("f", "failing", "working"), FAILING)
    def test_a_program_that_fails_leaves_the_error_to_the_function(self, f, failing, working):
        compiled = ad.compile(f)
        for x in (working, failing, working):
            np.testing.assert_array_equal(compiled(x), f(ad.constant(x)))

    @pytest.mark.parametrize("test", [np.linalg.cholesky, np.linalg.inv])
    def test_an_operation_that_is_called_for_its_error_alone_runs(self, test):
        def f(m):
            try:
                test(m)
            except np.linalg.LinAlgError:
                return m * 0.0
            return m * 2.0

        compiled = ad.compile(f)
        for m in (np.eye(2), np.zeros((2, 2)), np.eye(2)):
            np.testing.assert_array_equal(compiled(m), f(ad.constant(m)))

    def test_a_check_of_weights_whose_average_is_not_used_runs(self):
        def f(x):
            np.average(x, weights=x)
            return x

        compiled = ad.compile(f)
        compiled(np.ones(2))
        with pytest.raises(ZeroDivisionError, match="the weights sum to zero"):
            compiled(np.zeros(2))

    def test_an_error_about_shapes_may_be_caught(self):
        def f(x):
            try:
                return x[2]
            except IndexError:
                return x[0] * 2.0

        assert_as_without(f, np.array([1.0, 2.0]))

    def test_an_error_may_become_another(self):
        def f(m):
            try:
                return np.linalg.inv(m)
            except np.linalg.LinAlgError:
                raise ValueError("there is no inverse") from None

        compiled = ad.compile(f)
        for _ in range(2):
            with pytest.raises(ValueError, match="there is no inverse"):
                compiled(np.zeros((2, 2)))
        np.testing.assert_array_equal(compiled(2 * np.eye(2)), np.eye(2) / 2)
