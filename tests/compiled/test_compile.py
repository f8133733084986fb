"""Compiled functions: they give what the functions give, ask again what Python asked, and refuse what they must."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import math
import sys
import threading
import tracemalloc
import warnings
from collections import namedtuple
from decimal import Decimal
from functools import partial
from weakref import ref

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.arrays.structures import flatten


def count(compiled):
    """How many programs a compiled function has."""
    return int(repr(compiled).split(": ")[1].split()[0])


def loss_of(model, x, y):
    return np.mean((model(x) - y) ** 2)


@ad.compile
def slope(x):
    return ad.grad(lambda x: np.sum(np.sin(x) * x))(x)


class TestSignatures:
    def test_the_same_shapes_and_dtypes_share_a_program(self):
        compiled = ad.compile(lambda x, y: x @ y)
        for k in range(3):
            x, y = np.full((2, 3), k + 0.5), np.full(3, k)
            assert np.array_equal(compiled(x, y * 1.0), x @ (y * 1.0))
        assert count(compiled) == 1
        compiled(np.ones((2, 4)), np.ones(4))
        compiled(np.ones((2, 3), "float32"), np.ones(3))
        assert count(compiled) == 3

    def test_tensors_arrays_and_numbers_of_a_shape_share_a_program(self):
        compiled = ad.compile(lambda x: x * 2.0)
        results = [compiled(x) for x in (1.5, np.float64(1.5), ad.constant(1.5), np.array(1.5))]
        assert [float(r) for r in results] == [3.0] * 4
        assert {type(r) for r in results} == {ad.Tensor}
        assert count(compiled) == 1

    def test_whole_numbers_booleans_strings_and_none_belong_to_the_program(self):
        compiled = ad.compile(lambda x, n, words=None: x**n if words is None else x * len(words))
        assert [float(compiled(2.0, n)) for n in (2, 3, 2)] == [4.0, 8.0, 4.0]
        assert float(compiled(2.0, True)) == 2.0
        assert float(compiled(2.0, np.int64(3))) == 8.0
        assert float(compiled(2.0, 1, words="four")) == 8.0
        assert float(compiled(2.0, 1)) == 2.0
        assert count(compiled) == 6

    def test_structures_are_taken_apart(self):
        point = namedtuple("point", "a b")

        @dataclasses.dataclass
        class Pair:
            a: object
            b: object

        def f(p):
            a, b = (p["a"], p["b"]) if isinstance(p, dict) else (p.a, p.b) if hasattr(p, "a") else p
            return {"sum": a + b, "parts": (a, [b * 2.0])}

        compiled = ad.compile(f)
        for p in ([1.0, 2.0], (1.0, 2.0), {"a": 1.0, "b": 2.0}, point(1.0, 2.0), Pair(1.0, 2.0)):
            for _ in range(2):
                got = compiled(p)
                assert float(got["sum"]) == 3.0
                assert (float(got["parts"][0]), float(got["parts"][1][0])) == (1.0, 4.0)
        assert count(compiled) == 5

    def test_a_list_of_another_length_or_other_keys_have_their_own_program(self):
        compiled = ad.compile(lambda parts: sum(parts.values()) if isinstance(parts, dict) else sum(parts))
        assert float(compiled([1.0, 2.0])) == 3.0
        assert float(compiled([1.0, 2.0, 3.0])) == 6.0
        assert float(compiled({"a": 1.0, "b": 5.0})) == 6.0
        assert float(compiled({"a": 1.0, "c": 7.0})) == 8.0
        assert count(compiled) == 4

    @pytest.mark.parametrize(
        "keys",
        [
            (0.0, -0.0),
            (1, 1.0, True, np.float32(1.0), 1 + 0j),
            (complex(0.0, 0.0), complex(0.0, -0.0)),
            (Decimal("0.0"), Decimal("-0.0")),
            ((0.0, "a"), (-0.0, "a"), (0, "a")),
            (frozenset({1}), frozenset({1.0})),
            ("1", 1),
        ],
    )
    def test_equal_keys_of_other_types_or_signs_have_their_own_programs(self, keys):
        compiled = ad.compile(lambda parts: [part * len(repr(key)) for key, part in parts.items()])
        for key in keys * 2:
            assert float(compiled({key: 1.0})[0]) == len(repr(key))
        assert count(compiled) == len(keys)

    @pytest.mark.parametrize("values", [(Decimal("0.0"), Decimal("-0.0")), (frozenset({1}), frozenset({1.0}))])
    def test_so_have_equal_values_that_are_not_arrays(self, values):
        compiled = ad.compile(lambda x, value: x * len(repr(value)))
        for value in values * 2:
            assert float(compiled(1.0, value)) == len(repr(value))
        assert count(compiled) == 2

    def test_the_sign_of_a_key_that_is_zero_counts(self):
        compiled = ad.compile(lambda parts: [part * math.copysign(1, key) for key, part in parts.items()])
        assert [float(compiled({key: 1.0})[0]) for key in (0.0, -0.0, 0.0)] == [1.0, -1.0, 1.0]
        assert count(compiled) == 2
        compiled = ad.compile(lambda parts: [part * key for key, part in parts.items()])
        assert [compiled({key: np.array([2])})[0].dtype for key in (1, 1.0, 1)] == [np.int64, np.float64, np.int64]
        assert count(compiled) == 2

    def test_what_cannot_be_hashed_is_refused_by_name(self):
        compiled = ad.compile(lambda x, chosen: x)
        with pytest.raises(TypeError, match=r"argument \[1\] of <lambda> is \{1\} of type set, which cannot be hashed"):
            compiled(1.0, {1})
        with pytest.raises(TypeError, match=r"argument \[2\] of <lambda> is bytearray.*, which cannot be hashed"):
            ad.compile(lambda x, part, data: x)(np.ones(2), slice(1), bytearray(b"1"))
        assert count(compiled) == 0

    def test_slices_belong_to_the_program(self):
        compiled, x = ad.compile(lambda x, part: x[part]), np.arange(6.0)
        parts = [slice(2), slice(3), slice(1, 3), slice(None, None, -1), slice(np.int64(2)), np.s_[1:5:2]]
        for part in parts * 2:
            assert np.array_equal(compiled(x, part), x[part])
            assert np.array_equal(compiled(x, part=part), x[part])
        assert count(compiled) == 2 * len(parts)

    @pytest.mark.parametrize(
        ("arguments", "named", "path", "kind"),
        [
            ((1.0, (x for x in [2.0])), {}, "numbers", "generator"),
            ((1.0, {"a": [iter([2.0])]}), {}, r"numbers\['a'\]\[0\]", "list_iterator"),
            ((1.0,), {"numbers": map(float, "2")}, "numbers", "map"),
        ],
        ids=["generator", "in a structure", "by name"],
    )
    def test_what_can_be_read_only_once_is_refused_by_name_and_left_unread(self, arguments, named, path, kind):
        def scaled(x, numbers):
            return x * next(numbers)

        compiled = ad.compile(scaled)
        said = rf"^{path}, passed to scaled, is a {kind}, .*only once, but ad.compile calls scaled twice.*Pass a list"
        with pytest.raises(TypeError, match=said):
            compiled(*arguments, **named)
        assert count(compiled) == 0
        given = named.get("numbers", arguments[-1])
        assert next(given["a"][0] if isinstance(given, dict) else given) == 2.0

    def test_other_objects_are_told_apart_by_themselves(self):
        layers = [nn.Dense(1), nn.Dense(1)]
        compiled = ad.compile(lambda layer, x: layer(x))
        x = np.ones((2, 3))
        for layer in layers * 2:
            assert np.array_equal(compiled(layer, x), layer(x))
        assert count(compiled) == 2

    def test_an_object_is_told_apart_by_itself_and_not_by_its_attributes(self):
        class Model:
            def __init__(self, rate):
                self.rate, self.shift = rate, ad.Variable(0.0)

        compiled = ad.compile(lambda model, x: x * model.rate + model.shift)
        model = Model(2.0)
        assert float(compiled(model, 1.0)) == 2.0
        model.rate = 5.0
        model.shift.assign(10.0)
        assert float(compiled(model, 1.0)) == 12.0, "as the first paragraph of its docstring says"
        compiled.clear()
        assert float(compiled(model, 1.0)) == 15.0
        assert float(compiled(Model(3.0), 1.0)) == 3.0

    @pytest.mark.parametrize(
        "wrap",
        [lambda m: m, lambda m: [m], lambda m: {m: 1.0}, lambda m: (m, 1), lambda m: frozenset({m})],
        ids=["itself", "in a list", "as a key", "in a tuple", "in a set"],
    )
    def test_an_object_and_its_programs_go_when_nobody_else_holds_it(self, wrap):
        class Model:
            pass

        compiled = ad.compile(lambda given, x: x * 2.0)
        for _ in range(5):
            model = Model()
            gone = ref(model)
            assert float(compiled(wrap(model), 1.0)) == float(compiled(wrap(model), 1.5)) - 1.0 == 2.0
            assert count(compiled) == 1
            del model
            assert gone() is None

    def test_objects_that_are_equal_share_a_program_though_they_are_gone(self):
        class Rate:
            def __init__(self, value):
                self.value = value

            def __eq__(self, other):
                return self.value == other.value

            def __hash__(self):
                return hash(self.value)

        compiled = ad.compile(lambda rate, x: x * rate.value)
        assert [float(compiled(Rate(value), 1.0)) for value in (2.0, 3.0, 2.0, 3.0)] == [2.0, 3.0, 2.0, 3.0]
        assert count(compiled) == 2

    def test_at_most_64_programs_are_kept_and_the_one_unused_for_longest_goes(self):
        recorded = []

        def f(x, n):
            recorded.append(n)
            return x * n

        compiled = ad.compile(f)
        for n in range(64):
            compiled(1.0, n)
        compiled(1.0, 0)
        compiled(1.0, 64)
        assert count(compiled) == 64
        recorded.clear()
        compiled(1.0, 0)
        assert recorded == [], "it was used lately, so it is still there"
        compiled(1.0, 1)
        assert recorded == [1, 1], "it was unused for longest, so it went"
        compiled.clear()
        assert count(compiled) == 0

    def test_a_method_and_a_class_s_call_can_be_compiled(self):
        class Scale:
            def __init__(self, factor):
                self.factor = factor

            @ad.compile
            def apply(self, x):
                return x * self.factor

        two, three = Scale(2.0), Scale(3.0)
        assert [float(one.apply(5.0)) for one in (two, three, two)] == [10.0, 15.0, 10.0]


class TestValues:
    def test_gradients_jacobians_hessians_and_products(self):
        rng = np.random.default_rng(0)
        w = rng.standard_normal((4, 3))

        def f(x):
            return np.tanh(w @ x)

        def total(x):
            return np.sum(f(x) ** 2)

        functions = {
            "gradient": ad.grad(total),
            "value and gradient": ad.value_and_grad(total),
            "Jacobian": ad.jacobian(f),
            "Jacobian, forward": ad.jacobian(f, mode="forward"),
            "Hessian": ad.hessian(total),
            "third": ad.jacobian(ad.hessian(total)),
            "product": lambda x: ad.hvp(total, (x,), (np.ones(3),)),
            "jvp": lambda x: ad.jvp(f, (x,), (np.ones(3),)),
            "vjp": lambda x: ad.vjp(f, x)[1](np.ones(4)),
        }
        for name, function in functions.items():
            compiled = ad.compile(function)
            for k in range(3):
                x = rng.standard_normal(3)
                got, expected = compiled(x), function(ad.constant(x))
                for a, b in zip(
                    *(part if isinstance(part, tuple) else (part,) for part in (got, expected)), strict=True
                ):
                    assert isinstance(a, ad.Tensor)
                    np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-12, 1e-14, err_msg=f"{name}, {k}")
            assert count(compiled) == 1, name

    def test_a_hessian_in_blocks(self):
        def f(p):
            return np.sum(p["w"] ** 3) * p["b"] ** 2

        compiled = ad.compile(ad.hessian(f))
        for scale in (1.0, 2.0):
            p = {"w": np.array([1.0, 2.0]) * scale, "b": 3.0 * scale}
            got, expected = compiled(p), ad.hessian(f)(p)
            assert got.labels == expected.labels
            np.testing.assert_allclose(got.matrix().numpy(), expected.matrix().numpy(), 1e-13)
            np.testing.assert_allclose(got["w"]["b"].numpy(), expected["w"]["b"].numpy(), 1e-13)
        assert count(compiled) == 1

    def test_custom_gradients(self):
        @ad.custom_gradient
        def pair(x, y):
            return (x * y, np.sin(x)), lambda a, b: (a * y + 10.0 * b, a * x)

        @ad.custom_gradient
        def half(x):
            return x, lambda dy: dy * 0.5

        def f(x, y):
            u, v = pair(x, y)
            return np.sum(half(u) * v)

        compiled = ad.compile(ad.grad(f, argnums=(0, 1)))
        for k in range(3):
            x, y = np.array([1.0, 2.0]) + k, np.array([3.0, -1.0]) - k
            for a, b in zip(compiled(x, y), ad.grad(f, argnums=(0, 1))(x, y), strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-14)
        assert count(compiled) == 1

    def test_none_stays_none(self):
        def f(x, y):
            with ad.GradientTape() as tape:
                tape.watch([x, y])
                z = x * x
            return tape.gradient(z, {"x": x, "y": y})

        compiled = ad.compile(f)
        assert [compiled(float(k), 1.0) for k in (2, 3)] == [{"x": ad.constant(2.0 * k), "y": None} for k in (2, 3)]

    def test_dtypes_are_kept(self):
        compiled = ad.compile(ad.grad(lambda x: np.sum(np.real(x * np.conj(x)) * 2)))
        for dtype in ("float16", "float32", "float64", "complex64", "complex128"):
            x = np.array([1, 2], dtype)
            assert compiled(x).dtype == dtype
            assert np.array_equal(compiled(x), ad.grad(lambda x: np.sum(np.real(x * np.conj(x)) * 2))(x))

    def test_sorting_choosing_and_ties_follow_the_numbers_of_each_call(self):
        def f(x):
            return ad.grad(lambda x: np.sum(np.sort(x) * np.arange(4.0)) + np.max(x) * 100 + np.median(x) * 1e4)(x)

        compiled = ad.compile(f)
        for x in ([1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 3.0, 2.0], [2.0, 2.0, 1.0, 2.0]):
            assert np.array_equal(compiled(np.array(x)), f(ad.constant(x)))

    def test_an_index_that_is_a_tensor_is_an_input(self):
        def f(x, k):
            return ad.grad(lambda x: np.sum(x[k] ** 2))(x)

        compiled = ad.compile(f)
        x = np.array([1.0, 2.0, 3.0])
        for k in ([0, 1], [2, 2]):
            k = np.array(k)
            assert np.array_equal(compiled(x, k), f(x, k))
        assert count(compiled) == 1

    def test_nan_infinities_and_warnings_are_as_without(self):
        def f(x):
            return np.log(x), 1.0 / x

        compiled = ad.compile(f)
        with np.errstate(all="ignore"):
            compiled(np.array([1.0, 2.0]))
        x = np.array([-1.0, 0.0])
        with pytest.warns(RuntimeWarning) as caught:
            got = compiled(x)
        assert {str(w.message) for w in caught} == {
            "divide by zero encountered in log",
            "invalid value encountered in log",
            "divide by zero encountered in divide",
        }
        assert np.array_equal(got[0], [np.nan, -np.inf], equal_nan=True)
        assert np.array_equal(got[1], [-1.0, np.inf])

    def test_errstate_inside_is_part_of_the_program(self):
        @ad.compile
        def f(x):
            with np.errstate(divide="ignore"):
                return 1.0 / x

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert float(f(2.0)) == 0.5
            assert float(f(0.0)) == np.inf
        assert 'with np.errstate(divide="ignore"):' in str(f)


class TestOwnership:
    def test_results_are_the_caller_s_own(self):
        compiled = ad.compile(lambda x: (x.T, x[0], np.reshape(x, -1), x * 2.0))
        x = np.arange(6.0).reshape(2, 3)
        results = compiled(x)
        kept = [r.numpy().copy() for r in results]
        x[:] = -1.0
        compiled(x + 5.0)
        for result, copy in zip(results, kept, strict=True):
            assert np.array_equal(result, copy)

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: x[..., 0],
            lambda x: x[0, ...],
            lambda x: np.squeeze(x[0:1]),
            lambda x: np.reshape(x[:1], ()),
            lambda x: np.real(x)[..., 0],
            lambda x: [{"first": x.T[..., 0]}],
            lambda x: np.squeeze(x[:1].reshape(1, 1)),
        ],
    )
    def test_a_result_without_axes_is_the_caller_s_own(self, f):
        compiled, x, results = ad.compile(f), np.array([1.0, 2.0]), []
        for k in range(3):
            x[0] = k
            results += [leaf for _, leaf in flatten(compiled(x), "")]
        assert [float(result) for result in results] == [0.0, 1.0, 2.0]
        x = ad.Variable(np.zeros(2))
        kept = ad.compile(lambda: x[..., 0])
        first = kept()
        x.assign([1.0, 1.0])
        assert (float(first), float(kept())) == (0.0, 1.0)

    def test_arguments_are_never_written_into(self):
        def f(x, y):
            z = x * y
            z = z + x
            z = np.tanh(z) - y
            return np.sum(z * z, axis=0), z

        compiled = ad.compile(f)
        x, y = np.full((300, 300), 0.5), np.full((300, 300), 0.25)
        for array in (x, y):
            array.flags.writeable = False
        first = compiled(x, y)
        second = compiled(x, y)
        assert "out=" in str(compiled)
        assert np.array_equal(first[1], second[1])
        assert np.array_equal(first[1], f(ad.constant(x), ad.constant(y))[1])

    def test_threads_do_not_disturb_each_other(self):
        compiled = ad.compile(ad.grad(lambda x: np.sum(np.tanh(x * 2.0 + 1.0) ** 2)))
        inputs = [np.full(5000, k / 10) for k in range(8)]
        expected = [ad.grad(lambda x: np.sum(np.tanh(x * 2.0 + 1.0) ** 2))(x).numpy() for x in inputs]
        wrong = []

        def work(k):
            for _ in range(50):
                if not np.allclose(compiled(inputs[k]).numpy(), expected[k], rtol=1e-13):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    def test_calls_leave_no_memory_behind(self):
        compiled = ad.compile(lambda x: np.sum(np.sin(x) * x))
        x = np.ones(100_000)
        compiled(x)
        gc.collect()
        tracemalloc.start()
        for _ in range(20):
            compiled(x)
        left = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert left < 20_000

    def test_a_global_array_that_changes_later_stays_what_it_was(self):
        table = np.array([1.0, 2.0])
        compiled = ad.compile(lambda x: x * table)
        assert compiled(1.0).tolist() == [1.0, 2.0]
        table[:] = 100.0
        assert compiled(1.0).tolist() == [1.0, 2.0]
        compiled.clear()
        assert compiled(1.0).tolist() == [100.0, 100.0]


class TestVariables:
    def test_are_read_at_every_call(self):
        w = ad.Variable([1.0, 2.0])
        compiled = ad.compile(lambda x: np.sum(w * x))
        assert float(compiled(np.ones(2))) == 3.0
        w.assign([5.0, 6.0])
        assert float(compiled(np.ones(2))) == 11.0
        assert count(compiled) == 1

    def test_assignments_happen_in_order_when_the_call_ends(self):
        w, log = ad.Variable(1.0), ad.Variable([0.0, 0.0])

        @ad.compile
        def step(x):
            before = w * 1.0
            w.assign_add(x)
            middle = w * 10.0
            w.assign(w * 2.0)
            log.assign(np.stack([before, middle]))
            return w + 0.0

        for k in range(1, 4):
            expected = (float(w) + k) * 2
            before = float(w)
            assert float(step(float(k))) == expected
            assert float(w) == expected
            assert log.tolist() == [before, (before + k) * 10]

    def test_a_variable_may_be_an_argument_and_the_result(self):
        @ad.compile
        def double(v):
            return v.assign(v * 2.0)

        a, b = ad.Variable(1.0), ad.Variable(5.0)
        assert double(a) is a
        assert double(a) is a
        assert double(b) is b
        assert (float(a), float(b)) == (4.0, 10.0)

    def test_nothing_is_assigned_where_the_call_fails(self):
        w = ad.Variable(np.eye(2))

        @ad.compile
        def invert(shift):
            w.assign_add(np.ones((2, 2)))
            return np.linalg.inv(w + shift)

        invert(np.zeros((2, 2)))
        before = w.numpy().copy()
        with pytest.raises(np.linalg.LinAlgError):
            invert(-before - 1.0)
        assert np.array_equal(w, before)

    def test_a_dtype_is_converted_to_the_variable_s(self):
        w = ad.Variable([1.0, 2.0], dtype="float32")
        compiled = ad.compile(lambda x: w.assign_sub(x * 0.1))
        compiled(np.array([1.0, 2.0]))
        compiled(np.array([1.0, 2.0]))
        assert w.dtype == np.float32
        assert w.numpy().flags.writeable is False

    @pytest.mark.parametrize(
        "make",
        [lambda: nn.SGD(0.1), lambda: nn.SGD(0.1, momentum=0.9), lambda: nn.Adam(0.01)],
        ids=["SGD", "momentum", "Adam"],
    )
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_a_whole_training_gives_the_same_weights(self, make, dtype):
        x = np.random.default_rng(0).standard_normal((20, 3)).astype(dtype)
        y = np.sin(x[:, :1])
        weights = []
        for compiles in (False, True):
            nn.seed(0)
            layers = nn.Dense(8, np.tanh), nn.Dense(1)
            optimizer = make()

            def model(x, layers=layers):
                return layers[1](layers[0](x))

            model(x)
            variables = [v for layer in layers for v in layer.trainable_variables]
            if dtype == "float32":
                for layer in layers:
                    layer.kernel, layer.bias = (
                        ad.Variable(v.numpy().astype(dtype)) for v in (layer.kernel, layer.bias)
                    )
                variables = [v for layer in layers for v in layer.trainable_variables]

            def step(x, y, model=model, variables=variables, optimizer=optimizer):
                with ad.GradientTape() as tape:
                    loss = loss_of(model, x, y)
                optimizer.apply(tape.gradient(loss, variables), variables)
                return loss

            run = ad.compile(step) if compiles else step
            losses = [float(run(x, y)) for _ in range(200)]
            assert losses[-1] < losses[0]
            weights.append([v.numpy() for v in variables])
            if compiles:
                assert count(run) == 1
        for a, b in zip(*weights, strict=True):
            np.testing.assert_allclose(
                a, b, 1e-9 if dtype == "float64" else 1e-3, 1e-12 if dtype == "float64" else 1e-5
            )

    def test_a_compiled_and_a_plain_step_share_the_optimizer_s_memory(self):
        both, plain = ad.Variable([1.0, 2.0]), ad.Variable([1.0, 2.0])
        first, second = nn.Adam(0.1), nn.Adam(0.1)
        compiled = ad.compile(lambda g: first.apply(g, both))
        for k in range(6):
            g = np.array([1.0, -2.0]) * (k + 1)
            (compiled if k % 2 else lambda g: first.apply(g, both))(g)
            second.apply(g, plain)
        np.testing.assert_allclose(both.numpy(), plain.numpy(), 1e-13)

    def test_layers_that_build_themselves_are_built_once(self):
        layer = nn.Dense(2)
        compiled = ad.compile(lambda x: layer(x))
        x = np.ones((3, 4))
        assert np.array_equal(compiled(x), layer(x))
        layer.kernel.assign(layer.kernel * 2.0)
        assert np.array_equal(compiled(x), layer(x))

    def test_batch_normalisation_keeps_its_running_means(self):
        x = np.random.default_rng(0).standard_normal((8, 3))
        one, other = nn.BatchNormalization(), nn.BatchNormalization()
        compiled = ad.compile(lambda x: one(x, training=True))
        for k in range(3):
            np.testing.assert_allclose(compiled(x + k).numpy(), other(x + k, training=True).numpy(), 1e-12, 1e-12)
        for a, b in zip(one.variables, other.variables, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-12)

    def test_an_optimizer_that_remembers_needs_a_start(self):
        class Counting(nn.SGD.__base__):
            def _step(self, gradient, memory):
                return gradient * 0.1, gradient if memory is None else memory + gradient

        w = ad.Variable(1.0)
        with pytest.raises(TypeError, match=r"Counting remembers something, so to be compiled it must define _start"):
            ad.compile(lambda g: Counting(0.1).apply(g, w))(1.0)


class TestGuards:
    def test_a_branch_is_asked_again_and_both_paths_are_kept(self):
        compiled = ad.compile(ad.grad(lambda x: x**2 if x > 0 else -3.0 * x))
        for x in (2.0, -1.0, 5.0, -7.0, 0.0):
            assert float(compiled(x)) == (2 * x if x > 0 else -3.0)
        assert count(compiled) == 2

    def test_loops_whole_numbers_and_masks(self):
        def f(x, n):
            while np.sum(x * x) < 100.0:
                x = x * 2.0
            for _ in range(int(n)):
                x = x + 1.0
            return np.sum(x[x > 9.0]) / len(x[x > 9.0])

        compiled = ad.compile(f)
        for x, n in (([1.0, 3.0], 1), ([8.0, 9.0], 1), ([1.0, 3.0], 3), ([30.0, 1.0], 0), ([1.0, 3.0], 1)):
            x, n = np.array(x), np.array(n)
            assert float(compiled(x, n)) == float(f(ad.constant(x), ad.constant(n)))

    @pytest.mark.parametrize("function", [np.roll, np.repeat, np.tile, np.delete, lambda x, k: np.insert(x, k, 9.0)])
    def test_a_tensor_that_says_how_often_or_how_far_is_checked(self, function):
        x = np.arange(4.0)
        compiled = ad.compile(function)
        for k in (1, 2, 1):
            expected = function(x, k)
            assert np.array_equal(compiled(x, np.array(k)).numpy(), expected)
            assert np.array_equal(function(ad.Variable(x), ad.constant(k)).numpy(), expected)
        assert count(compiled) == 2

    def test_nothing_is_assigned_before_all_questions_are_answered(self):
        w = ad.Variable(0.0)

        @ad.compile
        def f(x):
            w.assign_add(1.0)
            return x * 2.0 if x > 0 else x * 3.0

        for k, x in enumerate((1.0, -1.0, 2.0, -2.0, 3.0), 1):
            f(x)
            assert float(w) == k

    def test_after_16_paths_an_error_names_the_line(self):
        def f(x, n):
            for _ in range(int(n)):
                x = x * 2.0
            return x

        compiled = ad.compile(f)
        for n in range(16):
            compiled(1.0, np.array(n))
        line = f.__code__.co_firstlineno + 1
        with pytest.raises(ValueError, match=rf"test_compile\.py, line {line}: f takes another path here for the 17th"):
            compiled(1.0, np.array(16))
        assert float(compiled(1.0, np.array(3))) == 8.0, "the programs are still there"
        assert count(compiled) == 16

    def test_an_error_inside_is_the_function_s_own_and_nothing_is_kept(self):
        def f(x):
            if x < 0:
                raise ArithmeticError("not below zero")
            return x

        compiled = ad.compile(f)
        with pytest.raises(ArithmeticError, match="not below zero"):
            compiled(-1.0)
        assert count(compiled) == 0
        compiled(1.0)
        with pytest.raises(ArithmeticError, match="not below zero"):
            compiled(-1.0)
        assert count(compiled) == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("leave", "word"),
        [
            (lambda x: x * x.numpy(), r"numpy\(\)"),
            (lambda x: x * float(x), r"float\(\)"),
            (lambda x: x * x.item(), r"item\(\)"),
            (lambda x: x * np.asarray(x), "np.asarray"),
            (lambda x: x + sum(x[None].tolist()), r"tolist\(\)"),
        ],
        ids=["numpy", "float", "item", "asarray", "tolist"],
    )
    def test_plain_numbers_may_not_leave(self, leave, word):
        compiled = ad.compile(leave)
        with pytest.raises(TypeError, match=rf"test_compile\.py, line \d+: {word} takes the plain numbers out of"):
            compiled(2.0)
        assert count(compiled) == 0

    def test_also_where_the_function_catches_the_error(self):
        def f(x):
            try:
                return x * x.numpy()
            except TypeError:
                return x

        with pytest.raises(TypeError, match=r"numpy\(\) takes the plain numbers out of a tensor"):
            ad.compile(f)(2.0)

    def test_numbers_that_are_the_same_for_all_arguments_may_leave(self):
        fixed = ad.constant([1.0, 2.0])
        assert ad.compile(lambda x: x * float(fixed[1]) + fixed.numpy()[0])(3.0) == 7.0

    def test_random_numbers_are_refused_with_their_line(self):
        rng = np.random.default_rng(0)

        def f(x):
            noise = rng.standard_normal(3)
            return np.sum(x * noise)

        line = f.__code__.co_firstlineno + 2
        with pytest.raises(
            ValueError, match=rf"line {line}: multiply uses numbers that differ .* pass them to f as an"
        ):
            ad.compile(f)(np.ones(3))

    def test_what_an_earlier_call_left_behind_is_refused(self):
        calls = []

        def f(x):
            calls.append(1)
            for _ in calls:
                x = x * 2.0
            return x

        line = f.__code__.co_firstlineno + 3
        with pytest.raises(ValueError, match=rf"line {line}: from multiply on, f took another path when called again"):
            ad.compile(f)(1.0)

    @pytest.mark.parametrize(
        "assign",
        [
            lambda calls, w, v, x: (w if calls % 2 else v).assign(x),
            lambda calls, w, v, x: calls > 1 and w.assign(x),
            lambda calls, w, v, x: w.assign(float(calls)),
        ],
    )
    def test_assignments_that_change_from_call_to_call_are_refused(self, assign):
        w, v, calls = ad.Variable(1.0), ad.Variable(2.0), []

        @ad.compile
        def f(x):
            calls.append(1)
            assign(len(calls), w, v, x)
            return x * 2.0

        with pytest.raises(ValueError, match="f returned or assigned something else when called again"):
            f(3.0)
        assert (float(w), float(v)) == (1.0, 2.0)

    def test_variables_may_be_assigned_in_another_order(self):
        variables = [ad.Variable(1.0), ad.Variable(2.0)]

        @ad.compile
        def f(x):
            once, twice = x * 1.0, x * 2.0
            for variable in variables:
                variable.assign(once if variable is first else twice)
            variables.reverse()
            return x

        first, second = variables
        assert float(f(3.0)) == 3.0
        assert (float(first), float(second)) == (3.0, 6.0)

    def test_results_that_change_places_are_refused(self):
        calls = []

        def f(x):
            calls.append(1)
            a, b = x * 2.0, x * 3.0
            return (a, b) if len(calls) % 2 else (b, a)

        with pytest.raises(
            ValueError, match="f returned or assigned something else when called again with the same arguments"
        ):
            ad.compile(f)(1.0)

    def test_a_variable_that_is_another_in_each_call_is_refused(self):
        variables = [ad.Variable(float(k)) for k in range(3)]

        def f(x):
            return x * variables.pop()

        with pytest.raises(ValueError, match="multiply uses numbers that differ when f is called again"):
            ad.compile(f)(1.0)

    @pytest.mark.parametrize(
        ("result", "kind"),
        [(3.0, "float"), (np.ones(2), "ndarray"), ("word", "str"), ((x for x in ()), "generator")],
        ids=["float", "array", "string", "generator"],
    )
    def test_a_result_without_tensors_is_refused(self, result, kind):
        with pytest.raises(
            TypeError, match=rf"the result\[1\] of f is .* of type {kind}, but a compiled function returns"
        ):
            ad.compile(_named(lambda x: (x, result)))(1.0)

    def test_a_generator_is_refused(self):
        def f(x):
            yield x * 2.0

        with pytest.raises(TypeError, match="of type generator, but a compiled function returns tensors"):
            ad.compile(f)(1.0)

    def test_writing_into_a_tensor_is_the_usual_error(self):
        def f(x):
            x[0] = 1.0
            return x

        with pytest.raises(TypeError, match="immutable"):
            ad.compile(f)(np.ones(3))

    def test_endless_recursion_is_python_s_error(self):
        compiled = ad.compile(lambda x: compiled(x * 2.0))
        with pytest.raises(RecursionError):
            compiled(1.0)
        assert count(compiled) == 0

    def test_recursion_that_ends_becomes_one_program(self):
        @ad.compile
        def power(x, n):
            return x if n == 1 else x * power(x, n - 1)

        assert float(power(2.0, 5)) == 32.0
        assert float(power(3.0, 5)) == 243.0
        assert count(power) == 1

    def test_printing_happens_only_while_recording_and_stdout_stays_what_it_is(self, capsys):
        seen = []

        def f(x):
            seen.append(sys.stdout)  # it belongs to the process: another thread would print into it, too
            print("hello", x)
            return x * 2.0

        compiled = ad.compile(f)
        for x in (1.0, 2.0):
            compiled(x)
        assert capsys.readouterr().out == 2 * "hello Tensor(1.)\n"
        assert seen == [sys.stdout, sys.stdout]

    def test_what_is_not_a_function_and_unknown_passes_are_refused(self):
        with pytest.raises(TypeError, match=r"ad\.compile takes a function, not 3"):
            ad.compile(3)
        with pytest.raises(ValueError, match="'fast' is not a pass; the passes are 'unused'"):
            ad.compile(lambda x: x, passes=("fast",))

    def test_a_function_is_a_pass_of_ones_own_and_runs_in_its_turn(self):
        seen = []

        def counted(listing):
            seen.append(len(listing.instructions))
            return listing

        program = ad.compile(lambda x: ad.grad(np.sin)(x), passes=("unused", counted, "folded")).program(1.0)
        assert [*program.lengths] == ["recorded", "unused", "counted", "folded"]
        assert seen == [program.lengths["unused"]] == [program.lengths["counted"]]

    def test_a_pass_of_ones_own_decides_what_runs(self):
        def without_cosines(listing):
            first = listing.instructions[0]
            return listing.with_instructions(
                [first], {one.output_value: first.output_value for one in listing.instructions}
            )

        assert float(ad.compile(lambda x: np.cos(np.sin(x)), passes=(without_cosines,))(0.5)) == np.sin(0.5)

    @pytest.mark.parametrize("wrong", [None, [], 3.0])
    def test_a_pass_that_returns_no_listing_is_named(self, wrong):
        def lost(listing):
            return wrong

        compiled = ad.compile(lambda x: x * 2.0, passes=("unused", lost))
        with pytest.raises(TypeError, match=r"the pass lost returned .*; return listing\.with_instructions"):
            compiled(1.0)
        assert repr(compiled) == "<compiled <lambda>: 0 programs>"


def _named(f):
    f.__name__ = "f"
    return f


class TestUnderTapes:
    def test_a_tape_that_follows_an_argument_records_the_function(self):
        compiled = ad.compile(lambda x: np.sum(x**3))
        x = ad.constant([1.0, 2.0])
        compiled(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = compiled(x)
        assert [entry.name for entry in tape.entries] == ["power", "sum"]
        assert tape.gradient(y, x).tolist() == [3.0, 12.0]

    def test_a_tape_that_follows_a_variable_records_it_too(self):
        w = ad.Variable(2.0)
        compiled = ad.compile(lambda x: w * x)
        compiled(3.0)
        with ad.GradientTape() as tape:
            y = compiled(3.0)
        assert float(tape.gradient(y, w)) == 3.0

    def test_a_tape_that_follows_neither_leaves_the_program_to_run(self):
        ran = []

        def f(x):
            ran.append(1)
            return x * 2.0

        compiled, w = ad.compile(f), ad.Variable(1.0)
        compiled(1.0)
        ran.clear()
        with ad.GradientTape() as tape:
            y = w * compiled(5.0)
        assert ran == []
        assert float(tape.gradient(y, w)) == 10.0

    def test_derivatives_of_compiled_functions_and_compiled_derivatives(self):
        def f(x):
            return np.sum(np.sin(x) * x)

        x = np.array([0.3, 2.0])
        expected = ad.hessian(f)(x).numpy()
        for hessian in (ad.hessian(ad.compile(f)), ad.compile(ad.hessian(f)), ad.compile(ad.hessian(ad.compile(f))),
                        ad.compile(ad.jacobian(ad.compile(ad.grad(f))))):  # fmt: skip
            for _ in range(2):
                np.testing.assert_allclose(hessian(x).numpy(), expected, 1e-13, 1e-14)

    def test_a_compiled_function_inside_another_becomes_part_of_its_program(self):
        inner = ad.compile(lambda x: x * 2.0)
        outer = ad.compile(lambda x: inner(x) + 1.0)
        assert [float(outer(k)) for k in (1.0, 2.0)] == [3.0, 5.0]
        assert count(inner) == 0
        assert "* 2.0 + 1.0" in str(outer)

    def test_the_player_and_explain_see_the_function_s_own_lines(self):
        compiled = ad.compile(lambda x: np.sum(np.floor(x) * 2.0))
        x = ad.constant([1.5])
        compiled(x)
        with ad.trace() as traced:
            with ad.GradientTape() as tape:
                tape.watch(x)
                y = compiled(x)
            assert tape.gradient(y, x) is None
        assert "np.floor" in traced.transcript() or "floor(x)" in traced.transcript()
        assert "floor" in str(tape.explain(y, x))

    def test_tasks_have_programs_too(self):
        async def both():
            return await asyncio.gather(*(work(k) for k in (1.0, 2.0)))

        async def work(k):
            await asyncio.sleep(0)
            return slope(np.array([k]))

        for k, got in zip((1.0, 2.0), asyncio.run(both()), strict=True):
            np.testing.assert_allclose(got.numpy(), np.cos(k) * k + np.sin(k), 1e-14)


class TestReading:
    def test_a_program_has_the_reader_s_names_and_lines(self):
        def f(x, w):
            z = x @ w
            hidden = np.tanh(z)
            return np.sum(hidden)

        compiled = ad.compile(f)
        first = f.__code__.co_firstlineno
        text = compiled.program(np.ones((2, 3)), np.ones(3)).text
        assert text.splitlines() == [
            "def f(x, w):",
            f"    z = x @ w            # test_compile.py, line {first + 1}",
            f"    hidden = np.tanh(z)  # test_compile.py, line {first + 2}",
            f"    t3 = hidden.sum()    # test_compile.py, line {first + 3}",
            "    return t3,",
        ]
        assert str(compiled.program(np.ones((2, 3)), np.ones(3))) in str(compiled)

    def test_a_program_says_what_each_pass_removed(self):
        @ad.compile
        def f(x):
            unneeded = np.sin(x)
            del unneeded
            c = ad.constant(2.0) * ad.constant(3.0)
            return np.cos(x) * c + np.cos(x) * 1.0

        program = f.program(1.0)
        assert program.summary == "7 operations, 3 left (unused −1, folded −2, shared −1)"
        assert list(program.lengths) == ["recorded", "unused", "folded", "shared", "postponed", "joined", "reused"]

    def test_a_program_can_be_called_with_arrays(self):
        w = ad.Variable(2.0)
        compiled = ad.compile(lambda x: (w.assign_add(x), x * 2.0)[1])
        program = compiled.program(1.0)
        assert float(w) == 2.0, "asking for the program assigns nothing"
        assert program(np.float64(1.0), np.float64(5.0)) == (2.0, 6.0)
        assert program.variables == program.assigned == (w,)

    def test_no_pass_leaves_one_line_for_each_operation(self):
        @partial(ad.compile, passes=())
        def f(x):
            return x * 1.0 + x * 1.0

        assert float(f(2.0)) == 4.0
        assert f.program(2.0).summary == "3 operations, 3 left"
        assert len(f.program(2.0).text.splitlines()) == 5


def test_a_loaded_function_can_be_compiled_and_read(tmp_path):
    w = ad.Variable([2.0, 3.0], name="w")
    ad.save(lambda x: np.sum(np.tanh(x @ w)), tmp_path / "model.ad", np.ones((4, 2)))
    loaded = ad.load(tmp_path / "model.ad")
    compiled = ad.compile(ad.grad(loaded))
    for rows in (1, 3, 1):
        x = np.full((rows, 2), 0.1 * rows)
        np.testing.assert_allclose(compiled(x).numpy(), ad.grad(loaded)(x).numpy(), 1e-14)
    assert count(compiled) == 2
    assert "np.tanh(" in str(compiled)


def test_checkpoints_inside_change_nothing():
    w = ad.Variable(np.eye(3) * 0.5 + 0.1)

    @ad.checkpoint
    def layer(x):
        return np.tanh(x @ w)

    @ad.checkpoint
    def pair(x):
        return np.sin(x), {"square": x * x}

    def loss(x):
        one, other = pair(layer(layer(x)))
        return np.sum(one * other["square"])

    for function in (loss, ad.grad(loss), ad.hessian(loss), lambda x: ad.linearize(loss, x)[1](np.ones(3))):
        compiled = ad.compile(function)
        for x in (np.ones(3), np.array([0.1, 0.2, -0.3])):
            np.testing.assert_allclose(compiled(x).numpy(), function(ad.constant(x)).numpy(), 1e-12, 1e-14)
        assert count(compiled) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda tape, y, x: len(tape.corners(y, x)),
        lambda tape, y, x: 2 if tape.first_nonfinite(y, x) is None else 3,
        lambda tape, y, x: tape.nudge(y, x, 0.1).moved,
    ],
)
def test_what_a_tape_answers_from_numbers_is_not_kept(ask):
    def function(x):
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = np.abs(x) * 2.0
        return x * ask(tape, y, x)

    with pytest.raises(TypeError, match=r"tape\.\w+ takes the plain numbers out of a tensor here"):
        ad.compile(function)(0.5)
