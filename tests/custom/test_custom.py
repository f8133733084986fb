"""Custom gradients: arguments, results, variables, errors, and what a reader sees, beyond the cases in semantics/."""

import collections
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import now


def gradient(f, *sources, **kwargs):
    with ad.GradientTape() as tape:
        tape.watch(sources)
        y = f(*sources, **kwargs)
    return tape.gradient(y, sources)


def numbers(gradients):
    return [None if g is None else g.numpy().tolist() for g in gradients]


# Arguments ------------------------------------------------------------------------------------------------------------

Pair = collections.namedtuple("Pair", "u v")


@ad.custom_gradient
def weighted(p, x):
    def backward(dy):
        return {"b": [dy, None], "w": dy * 10.0}, dy * 100.0

    return p["w"] * x + p["b"][0], backward


def test_nested_arguments_have_gradients_of_their_structure():
    w, b, x = ad.Variable(2.0), ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as tape:
        y = weighted({"w": w, "b": [b, 7.0]}, x)
    assert float(y) == 11.0
    assert numbers(tape.gradient(y, [w, b, x])) == [10.0, 1.0, 100.0]


@pytest.mark.parametrize(
    ("argument", "answer"),
    [
        (lambda a, b: [a, b], lambda dy: [dy, dy * 2]),
        (lambda a, b: [a, b], lambda dy: (dy, dy * 2)),
        (lambda a, b: [a, b], lambda dy: ([dy, dy * 2],)),
        (lambda a, b: (a, [b]), lambda dy: (dy, [dy * 2])),
        (lambda a, b: Pair(a, b), lambda dy: Pair(dy, dy * 2)),
        (lambda a, b: {"a": a, "b": b}, lambda dy: {"b": dy * 2, "a": dy}),
    ],
)
def test_a_single_structure_may_be_answered_with_or_without_a_tuple_around(argument, answer):
    @ad.custom_gradient
    def f(structure):
        return 5.0, answer

    a, b = ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as tape:
        y = f(argument(a, b))
    assert numbers(tape.gradient(y, [a, b])) == [1.0, 2.0]


def test_a_list_of_one_tensor_and_none_for_a_whole_structure():
    one = ad.custom_gradient(lambda xs: (xs[0] * 1.0, lambda dy: [dy * 3.0]))
    none = ad.custom_gradient(lambda xs, y: (xs[0] * y, lambda dy: (None, dy * 3.0)))
    x, y = ad.Variable(2.0), ad.Variable(5.0)
    with ad.GradientTape(persistent=True) as tape:
        a, b = one([x]), none([x], y)
    assert float(tape.gradient(a, x)) == 3.0
    assert numbers(tape.gradient(b, [x, y])) == [None, 3.0]


@pytest.mark.parametrize("answer", [lambda dy: dy * 2, lambda dy: (None, dy * 2, None), lambda dy: (dy * 2,)])
def test_arguments_without_tensors_may_be_answered_or_left_out(answer):
    seen = []

    @ad.custom_gradient
    def f(n, x, table):
        seen.append((n, table))
        return x * n, answer

    table = [1.0, 2.0]
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = f(3, x, table)
    assert numbers([tape.gradient(y, x)]) == [2.0]
    assert seen[0][0] == 3
    assert seen[0][1] is table


def test_the_function_is_given_the_very_tensors_of_the_caller():
    given = []
    f = ad.custom_gradient(lambda x: (given.append(x) or x * 1.0, lambda dy: dy))
    x = ad.Variable(2.0)
    f(x)
    assert given[0] is x


def test_the_same_tensor_twice_has_both_gradients_added():
    f = ad.custom_gradient(lambda x, y: (x * y, lambda dy: (dy * 10, dy * 1)))
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = f(x, x)
    assert float(tape.gradient(y, x)) == 11.0


def test_a_method_and_any_number_of_arguments_work_and_the_function_keeps_its_name():
    class Scale:
        def __init__(self, by):
            self.by = by

        @ad.custom_gradient
        def call(self, x, offset=1.0):
            """Scale and shift."""
            return x * self.by + offset, lambda dy: dy * self.by * 10

    @ad.custom_gradient
    def total(*xs):
        return sum(xs), lambda dy: tuple(k * dy for k in range(len(xs)))

    scale = Scale(3.0)
    assert (Scale.call.__name__, Scale.call.__doc__) == ("call", "Scale and shift.")
    assert numbers(gradient(scale.call, ad.Variable(2.0))) == [30.0]
    assert numbers(gradient(total, *map(ad.Variable, (1.0, 2.0, 3.0)))) == [0.0, 1.0, 2.0]


def test_integer_tensors_are_constants():
    f = ad.custom_gradient(lambda x, n: (x**n, lambda dy: dy * 7.0))
    x, n = ad.Variable(2.0), ad.constant(3)
    with ad.GradientTape() as tape:
        y = f(x, n)
    assert numbers(tape.gradient(y, [x, n])) == [7.0, None]


def test_methods_of_every_kind_may_have_gradients_of_their_own():
    class Functions:
        @ad.custom_gradient
        def method(self, x):
            return x * 3.0, lambda dy: dy * 10.0

        @staticmethod
        @ad.custom_gradient
        def static(x):
            return x * 1.0, lambda dy: dy * 7.0

        @classmethod
        @ad.custom_gradient
        def of_class(cls, x):
            return x * 1.0, lambda dy: dy * 8.0

    functions = Functions().method, Functions.static, Functions.of_class
    assert [float(ad.grad(f)(2.0)) for f in functions] == [10.0, 7.0, 8.0]


# Results --------------------------------------------------------------------------------------------------------------


def test_returning_the_argument_gives_a_new_tensor():
    f = ad.custom_gradient(lambda x: (x, lambda dy: dy * 5.0))
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
    assert y is not x
    assert type(y) is ad.Tensor
    assert (float(tape.gradient(y, x)), float(tape.gradient(x, x))) == (5.0, 1.0)


def test_a_result_computed_outside_of_numpy_is_differentiated_all_the_same():
    def elsewhere(x):
        value = x.numpy() ** 2
        return value, lambda dy: dy * 2.0 * x

    assert numbers(gradient(ad.custom_gradient(elsewhere), ad.Variable([1.0, 3.0]))) == [[2.0, 6.0]]


def test_outputs_of_any_structure_shape_and_dtype_come_back_as_they_were():
    cotangents = []

    @ad.custom_gradient
    def f(x):
        def backward(*dys):
            cotangents.extend((dy.shape, dy.dtype) for dy in dys)
            return sum(np.sum(np.real(dy)) for dy in dys if dy.dtype.kind in "fc") * np.ones(2)

        z = np.array([[1.0 + 2j]])
        return {"a": x, "b": [np.float32(1.5), Pair(np.arange(3), z)], "c": np.zeros((0, 2))}, backward

    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        result = f(x)
        loss = np.sum(result["a"]) * 2.0 + result["b"][0] + np.sum(np.real(result["b"][1].v))
    a, (b, (n, z)), c = result["a"], result["b"], result["c"]
    kinds = [((2,), float), ((), np.float32), ((3,), int), ((1, 1), complex), ((0, 2), float)]
    assert [(t.shape, t.dtype) for t in (a, b, n, z, c)] == kinds
    assert (a.numpy().tolist(), float(b), n.numpy().tolist(), z.numpy().tolist()) == (
        [1, 2],
        1.5,
        [0, 1, 2],
        [[1 + 2j]],
    )
    assert numbers([tape.gradient(loss, x)]) == [[6.0, 6.0]]
    assert cotangents == kinds


def test_a_result_of_integers_has_no_gradient():
    f = ad.custom_gradient(lambda x: (np.argmax(x), lambda dy: dy))
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = f(x)
    assert int(y) == 1
    assert tape.gradient(y, x) is None


def test_gradients_may_be_arrays_numbers_or_another_dtype_and_come_in_that_of_the_argument():
    f = ad.custom_gradient(lambda x, y, z: (x * y * z, lambda dy: (1, np.float64(2.0), np.int64(3) * dy.numpy())))
    found = gradient(f, ad.Variable(2.0, dtype="float32"), ad.Variable(2.0), ad.Variable(2.0, dtype="float16"))
    assert numbers(found) == [1.0, 2.0, 3.0]
    assert [g.dtype for g in found] == [np.float32, np.float64, np.float16]


def test_another_library_s_arrays_are_never_coerced():
    da = pytest.importorskip("dask.array")
    f = ad.custom_gradient(lambda x: ((x * 2.0, x + 1.0), lambda a, b: a * 10.0 + b))
    x = ad.constant(da.from_array(np.array([1.0, 2.0, 3.0]), chunks=2))
    with ad.GradientTape() as tape:
        tape.watch(x)
        a, b = f(x)
        y = np.sum(a * b)
    found = tape.gradient(y, x)
    assert isinstance(found._array, da.Array)
    assert found._array.compute().tolist() == [22.0, 34.0, 46.0]


# Variables ------------------------------------------------------------------------------------------------------------


def test_variables_are_found_in_nested_functions_once_and_not_if_they_are_arguments():
    w, b, frozen = ad.Variable(5.0, name="w"), ad.Variable(1.0, name="b"), ad.Variable(2.0, trainable=False)

    @ad.custom_gradient
    def inner(x):
        return x * w, lambda dy, variables: (dy * w, [dy * x])

    @ad.custom_gradient
    def f(x, b):
        def backward(dy, variables):
            assert [v.name for v in variables] == ["w"]
            return (dy * w, dy * 3.0), [dy * 11.0]

        return inner(x) * frozen + b + w * 0.0, backward

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = f(x, b)
    assert float(y) == 31.0
    assert numbers(tape.gradient(y, [x, b, w, frozen])) == [5.0, 3.0, 11.0, None]


def test_a_variable_given_by_keyword_counts_as_read():
    f = ad.custom_gradient(lambda x, w: (x * w, lambda dy, variables: (dy, [dy * 7.0])))
    x, w = ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as tape:
        y = f(x, w=w)
    assert numbers(tape.gradient(y, [x, w])) == [1.0, 7.0]


def test_a_function_of_variables_alone_needs_no_arguments():
    w = ad.Variable([2.0, 3.0])
    f = ad.custom_gradient(lambda: (w * 1.0, lambda dy, variables: (None, [dy * 7.0])))
    with ad.GradientTape() as tape:
        y = f()
    assert numbers([tape.gradient(y, w)]) == [[7.0, 7.0]]


def test_the_variables_have_the_values_that_they_had():
    w = ad.Variable(5.0)
    f = ad.custom_gradient(lambda x: (x * w, lambda dy, variables: (dy * variables[0], [dy * x])))
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = f(x)
    w.assign(50.0)
    assert numbers(tape.gradient(y, [x, w])) == [5.0, 3.0]


@pytest.mark.parametrize("answer", [lambda dy: dy, lambda dy: (dy, dy), lambda dy: (dy, [dy, dy]), lambda dy: (dy, [])])
def test_gradients_of_variables_are_as_many_as_variables(answer):
    w = ad.Variable(5.0, name="w")
    f = ad.custom_gradient(lambda x: (x * w, lambda dy, variables: answer(dy)))
    with pytest.raises(ValueError, match=r"must return \(gradients, variable_gradients\).*Variable\('w', 5.\)"):
        gradient(f, ad.Variable(3.0))


def test_the_result_of_an_assignment_may_be_the_result():
    x, z = ad.Variable(1.0), ad.Variable(3.0)

    @ad.custom_gradient
    def assigned(value):
        return x.assign(value), lambda dy, variables: (dy, [None] * len(variables))

    with ad.GradientTape() as tape:
        y = assigned(z**2)
    assert float(x) == float(y) == 9.0
    assert float(tape.gradient(y, z)) == 6.0


@pytest.mark.parametrize("answer", [lambda dy: (dy, []), lambda dy: dy, lambda dy: ((dy,), [])])
def test_where_no_variable_is_read_a_backward_may_leave_their_gradients_out(answer):
    @ad.custom_gradient
    def f(x):
        return x * 2.0, lambda dy, variables: answer(dy)

    assert numbers(gradient(f, ad.constant(3.0))) == [1.0]


def test_the_call_of_a_module_may_have_a_gradient_of_its_own():
    class Scale(ad.nn.Module):
        def __init__(self):
            self.w = ad.Variable(3.0, name="w")

        @ad.custom_gradient
        def __call__(self, x):
            return x * self.w, lambda dy, variables: (dy * variables[0], [dy * x])

    layer, x = Scale(), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = layer(x)
    assert [float(g) for g in tape.gradient(y, [x, layer.w])] == [3.0, 2.0]


# Errors ---------------------------------------------------------------------------------------------------------------


def answering(*answer):
    def f(x, y):
        return x["u"] * y, lambda dy: answer

    return ad.custom_gradient(f)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            (1.0, 1.0),
            ValueError,
            r"'x' does not have its structure: .* tensors at x\['u'\], but the gradient has parts at x$",
        ),
        (({"v": 1.0}, 1.0), ValueError, r"'x' does not have its structure: .* parts at x\['v'\]"),
        (({"u": 1.0, "w": 1.0}, 1.0), ValueError, r"parts at x\['u'\], x\['w'\]"),
        (({"u": np.ones(2)}, 1.0), ValueError, r"argument \"x\['u'\]\" has shape \(2,\)"),
        (({"u": 1.0}, "one"), TypeError, "the gradient for argument 'y' is 'one' of type str"),
        (({"u": 1.0}, len), TypeError, "'y' is .* of type builtin_function_or_method"),
        (({"u": 1.0}, 1j), TypeError, "argument 'y' is complex, but 'y' is float64; take its real part"),
        (({"u": 1.0},), ValueError, "returned 1 gradient, but f has 2 arguments: x, y"),
        (({"u": 1.0}, 1.0, 1.0), ValueError, "returned 3 gradients"),
    ],
)
def test_a_wrong_gradient_is_an_error_that_names_the_argument_and_the_tape_can_be_read_again(answer, error, message):
    u, y, good = ad.Variable(2.0), ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as tape:
        z = answering(*answer)({"u": u}, y)
        other = good * good
    with pytest.raises(error, match=message):
        tape.gradient(z, [u, y])
    assert float(tape.gradient(other, good)) == 8.0
    assert now().followers == ()


@pytest.mark.parametrize("returned", [ad.constant(4.0), (1.0, 2.0, 3.0), [1.0, len], None, (1.0,)], ids=repr)
def test_a_function_that_gives_no_pair_is_refused(returned):
    @ad.custom_gradient
    def f(x):
        return returned

    with pytest.raises(TypeError, match="f has a custom gradient, so it must return a pair"):
        f(ad.constant(2.0))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "the result of f is None"),
        ({"a": "text"}, r"the result\['a'\] of f is 'text' of type str"),
        ([], "the result of f is .*must be a tensor"),
    ],
)
def test_a_result_without_tensors_or_numbers_is_refused(result, message):
    def f(x):
        return result, lambda dy: dy

    with pytest.raises(TypeError, match=message):
        ad.custom_gradient(f)(ad.Variable(2.0))


def test_a_backward_and_an_f_that_are_not_functions_are_refused():
    def f(x):
        return x * 2.0, x * 3.0

    with pytest.raises(TypeError, match="backward must be a function of the cotangent dy; it is Tensor"):
        ad.custom_gradient(f)(ad.Variable(2.0))
    with pytest.raises(TypeError, match="custom_gradient takes a function"):
        ad.custom_gradient(3.0)


def test_an_exception_in_the_function_leaves_the_tapes_as_they_were():
    @ad.custom_gradient
    def f(x):
        raise ZeroDivisionError("boom")

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with pytest.raises(ZeroDivisionError):
            f(x)
        assert now().followers == (tape,)
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("last", [True, False])
def test_after_a_backward_function_failed_a_tape_is_used_up_only_if_it_released_something_before(last, persistent):
    x, wrong = ad.Variable(2.0), [True]

    @ad.custom_gradient
    def f(x):
        return x * 1.0, lambda dy: np.ones(3) if wrong else dy

    with ad.GradientTape(persistent=persistent) as tape:
        y = f(x * 6.0) if last else f(x * 2.0) * 3.0
    with pytest.raises(ValueError, match="'x' has shape"):
        tape.gradient(y, x)
    wrong.clear()
    if last or persistent:
        assert float(tape.gradient(y, x)) == 6.0
        return
    with pytest.raises(RuntimeError, match=r"used, in a backward pass that raised ValueError on the way, and has rel"):
        tape.gradient(y, x)
    assert tape.explain(y, x)
    with tape:
        y = f(x * 6.0)
    assert float(tape.gradient(y, x)) == 6.0
    with pytest.raises(RuntimeError, match="already been used and has released its arrays"):
        tape.gradient(y, x)


def test_an_interrupted_backward_pass_leaves_no_tape_behind():
    x = ad.Variable(2.0)

    def interrupt(dy):
        raise KeyboardInterrupt

    f = ad.custom_gradient(lambda x: (x * 1.0, interrupt))
    with ad.GradientTape() as outer, ad.GradientTape() as tape:
        y = f(x)
        with pytest.raises(KeyboardInterrupt):
            tape.gradient(y, x)
        assert outer in now().followers
        z = x * x
    assert float(outer.gradient(z, x)) == 4.0


# What a reader sees ---------------------------------------------------------------------------------------------------


def test_a_printed_tape_shows_the_call_as_it_was_written_also_after_its_release():
    @ad.custom_gradient
    def log1pexp(x):
        e = np.exp(x)
        return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = log1pexp(x)
    assert "y = log1pexp(x) " in str(tape)
    tape.gradient(y, x)
    assert "y = log1pexp(x) " in str(tape)


def test_inputs_are_called_what_the_user_calls_them_wherever_they_stood():
    @ad.custom_gradient
    def mixed(n, pair, x):
        return n * float(x), lambda dy: ([dy, dy], dy)

    module, a, b, c, d = SimpleNamespace(mixed=mixed), *map(ad.Variable, (1.0, 2.0, 3.0, 4.0))
    with ad.GradientTape() as tape:
        y = mixed(2.0, [a, b], c)
        z = module.mixed(2.0, [b, b], d)
        args = [b, b], c
        w = mixed(2.0, *args)
    assert [float(y), float(z), float(w)] == [6.0, 8.0, 6.0]
    for line in ("y = mixed(x1, x2, c) ", "z = mixed(x2, x2, d) ", "w = mixed(x2, x2, c) "):
        assert line in str(tape)


def test_a_trace_shows_the_call_and_its_backward_pass():
    f = ad.custom_gradient(lambda x: (x, lambda dy: dy * 5.0))
    x = ad.constant(2.0)
    with ad.trace() as seen:
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, x)
    text = seen.transcript()
    assert "the contribution to x is dy * 5.0, which is 5" in text
    assert "Call" not in text


def test_each_backward_pass_asks_the_backward_function_anew():
    """Also for the very same cotangent, and where only the first of its gradients was asked for the last time."""
    rate, asked = [1.0], []

    @ad.custom_gradient
    def product(a, b):
        def backward(dy):
            asked.append(dy)
            return dy * b * rate[0], dy * a * rate[0]

        return a * b, backward

    a, b, seed = ad.Variable(2.0), ad.Variable(3.0), ad.constant(1.0)
    with ad.GradientTape(persistent=True) as tape:
        y = product(a, b)
    assert float(tape.gradient(y, a, output_gradients=seed)) == 3.0
    rate[0] = 10.0
    assert float(tape.gradient(y, a, output_gradients=seed)) == 30.0
    assert [float(g) for g in tape.gradient(y, [a, b], output_gradients=seed)] == [30.0, 20.0]
    assert len(asked) == 3, "and once for all of its gradients"
