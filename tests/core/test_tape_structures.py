"""Structures of targets, sources and first cotangents: what goes in nested comes out nested, and errors name the place.

The cases are those of sections 2, 5 and 6 of the measured behaviour of TensorFlow.
"""

import collections
import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.core.active import now

P = collections.namedtuple("P", "u v")


@dataclasses.dataclass(frozen=True)
class Layer:
    kernel: object
    bias: object = None


@pytest.fixture
def recorded():
    a, b = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = a * a * b
    return tape, y, a, b


# Sources --------------------------------------------------------------------------------------------------------------


def test_nested_sources_come_back_nested(recorded):
    tape, y, a, b = recorded
    found = tape.gradient(y, {"k": [a, (b, {"z": a})], "p": P(b, a), "d": Layer(a, b)})
    assert list(found) == ["k", "p", "d"]
    assert isinstance(found["k"][1], tuple)
    assert (float(found["k"][0]), float(found["k"][1][0]), float(found["k"][1][1]["z"])) == (4, 1, 4)
    assert isinstance(found["p"], P)
    assert (float(found["p"].u), float(found["p"].v)) == (1, 4)
    assert isinstance(found["d"], Layer)
    assert (float(found["d"].kernel), float(found["d"].bias)) == (4, 1)


@pytest.mark.parametrize(
    "make", [lambda **items: collections.OrderedDict(items), lambda **items: collections.defaultdict(list, items), dict]
)
def test_mappings_keep_their_type_and_the_order_of_their_keys(recorded, make):
    tape, y, a, b = recorded
    found = tape.gradient(y, make(z=a, b=b))
    assert type(found) is type(make())
    assert [(key, float(g)) for key, g in found.items()] == [("z", 4), ("b", 1)]


def test_none_stands_for_an_unconnected_source_in_any_structure(recorded):
    tape, y, a, _ = recorded
    other = ad.Variable(5.0)
    found = tape.gradient(y, Layer(P(a, other), other))
    assert (float(found.kernel.u), found.kernel.v, found.bias) == (4, None, None)
    zeros = tape.gradient(y, Layer(P(a, other), other), unconnected_gradients="zero")
    assert (float(zeros.kernel.v), float(zeros.bias)) == (0, 0)


def test_a_jacobian_has_the_structure_of_its_sources():
    a, b = ad.Variable([1.0, 2.0]), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = a * a * b
    found = tape.jacobian(y, Layer(a, {"b": b}))
    assert isinstance(found, Layer)
    assert found.kernel.tolist() == [[4, 0], [0, 8]]
    assert found.bias["b"].tolist() == [1, 4]


def test_watching_takes_structures_too():
    a, b = ad.constant(2.0), ad.constant(3.0)
    with ad.GradientTape() as tape:
        tape.watch(Layer(a, P(b, b)))
        y = a * b
    assert [float(g) for g in tape.gradient(y, [a, b])] == [3, 2]


@pytest.mark.parametrize(
    ("wrap", "place"),
    [
        (lambda thing, x: [x, thing], r"\[1\]"),
        (lambda thing, x: {"layers": [x, x, thing]}, r"\['layers'\]\[2\]"),
        (lambda thing, x: P(thing, x), r"\.u"),
        (lambda thing, x: [Layer(x, thing)], r"\[0\]\.bias"),
        (lambda thing, x: collections.OrderedDict(a=P(x, (thing,))), r"\['a'\]\.v\[0\]"),
    ],
)
@pytest.mark.parametrize("thing", [None, 2.0, "w"])
def test_what_is_not_a_tensor_is_an_error_that_names_the_place(recorded, wrap, place, thing):
    tape, y, a, _ = recorded
    with pytest.raises(TypeError, match=rf"sources{place} is {thing!r}"):
        tape.gradient(y, wrap(thing, a))
    with pytest.raises(TypeError, match=rf"target{place} is {thing!r}"):
        tape.gradient(wrap(thing, y), a)
    with tape, pytest.raises(ValueError, match=rf"^{place} in the argument of tape\.watch is"):
        tape.watch(wrap(thing, y))
    assert float(tape.gradient(y, a)) == 4


def test_a_structure_that_contains_itself_is_refused_wherever_it_is_given(recorded):
    tape, y, a, _ = recorded
    ring = [a]
    ring.append(ring)
    for call in (lambda: tape.gradient(y, ring), lambda: tape.gradient(ring, a)):
        with pytest.raises(ValueError, match=r"\[1\] is a list that contains itself"):
            call()
    for call in (lambda: ad.grad(np.sum)(ring), lambda: ad.vjp(np.sum, ring)):
        with pytest.raises(ValueError, match="contains itself"):
            call()
    numbers = [1.0]
    numbers.append(numbers)
    with pytest.raises(ValueError, match="output_gradients"):
        tape.gradient(y, a, output_gradients=numbers)
    assert now().followers == ()


class Module:
    """Stands for an nn.Module: what has trainable variables is asked for them."""

    def __init__(self):
        self.w = ad.Variable(2.0)

    @property
    def trainable_variables(self):
        return (self.w,)


def test_a_module_is_not_a_source_but_its_variables_are():
    module = Module()
    with ad.GradientTape(persistent=True) as tape:
        y = module.w**2
    assert [float(g) for g in tape.gradient(y, module.trainable_variables)] == [4]
    for sources, place in ((module, "sources"), ({"m": [module]}, r"sources\['m'\]\[0\]")):
        with pytest.raises(TypeError, match=rf"{place} is a Module.*module\.trainable_variables"):
            tape.gradient(y, sources)
    with tape, pytest.raises(TypeError, match=r"watch is a Module.*module\.trainable_variables"):
        tape.watch(module)


# Targets and first cotangents -----------------------------------------------------------------------------------------


def test_nested_targets_are_added_up():
    a = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y0, y1, y2 = a**2, 1 / a, a * np.array([1.0, 2.0])
    assert float(tape.gradient({"a": y0, "b": [y1, y2]}, a)) == 6.75
    assert float(tape.gradient(Layer(y0, P(y1, y2)), a)) == 6.75
    assert float(tape.gradient([y0, y0], a)) == 8, "a target given twice counts twice"
    assert tape.gradient([], a) is None
    assert float(tape.gradient([], a, unconnected_gradients="zero")) == 0


@pytest.fixture
def two():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y, z = x**2, x**3
    return tape, x, y, z


def test_output_gradients_have_the_structure_of_the_targets(two):
    tape, x, y, z = two
    for target, weights in (
        ([y, z], [1.0, 10.0]),
        ([y, z], (ad.constant(1.0), ad.constant(10.0))),
        ({"y": y, "z": z}, {"z": 10.0, "y": 1.0}),
        (P(y, [z]), P(1.0, [10.0])),
        (P(y, z), [1.0, 10.0]),
        (Layer(y, z), Layer(1.0, 10.0)),
        ([y, z], [None, 10.0]),
    ):
        assert float(tape.gradient(target, x, output_gradients=weights)) == 124


@pytest.mark.parametrize(
    ("target", "weights", "said"),
    [
        (lambda y, z: [y, z], [1.0], r"output_gradients must be a list of 2, as the targets are; it is \[1\.0\]"),
        (lambda y, z: [y, z], [1.0, 2.0, 3.0], "a list of 2"),
        (lambda y, z: Layer(y, [z]), Layer(1.0, [1.0, 2.0]), r"output_gradients\.bias must be a list of 1"),
        (lambda y, z: Layer(y, z), (1.0, 2.0), "must be a Layer, as the targets are"),
        (lambda y, z: P(y, z), P(1.0, "a"), r"output_gradients\.v: a tensor holds numbers"),
        (lambda y, z: {"y": y}, {"y": np.ones(2)}, r"output_gradients\['y'\] has shape \(2,\)"),
    ],
)
def test_where_output_gradients_differ_from_the_targets_is_named(two, target, weights, said):
    tape, x, y, z = two
    with pytest.raises((ValueError, TypeError), match=said):
        tape.gradient(target(y, z), x, output_gradients=weights)


def test_a_list_of_numbers_is_an_array_for_one_vector_and_a_list_of_one_tensor_is_that_tensor():
    # TensorFlow takes the first of the numbers alone, and an array in a list too, which here would have an axis more
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = x**2
    seed = ad.constant([1.0, 10.0])
    for weights in ([1.0, 10.0], (1.0, 10.0), seed, np.array([1.0, 10.0]), [seed], (seed,)):
        assert tape.gradient(y, x, output_gradients=weights).tolist() == [2, 40]
    assert tape.gradient([y], x, output_gradients=[seed]).tolist() == [2, 40]
    for weights in ([np.array([1.0, 10.0])], [[1.0, 10.0]], [1.0]):
        with pytest.raises(ValueError, match=r"output_gradients has shape"):
            tape.gradient(y, x, output_gradients=weights)
    for weights in ([seed, seed], [seed, np.array([1.0, 10.0])]):
        with pytest.raises(ValueError, match=r"output_gradients is a list of 2 tensors, .*call gradient once for each"):
            tape.gradient(y, x, output_gradients=weights)


def test_a_first_cotangent_in_a_list_can_be_differentiated_by():
    x, u = ad.Variable([1.0, 2.0]), ad.Variable([1.0, 1.0])
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x**3
        g = inner.gradient(y, x, output_gradients=[u])
    assert outer.gradient(g, u, output_gradients=[1.0, 10.0]).tolist() == [3, 120]


# Any structure --------------------------------------------------------------------------------------------------------

STRUCTURES = st.recursive(
    st.integers(0, 3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(collections.OrderedDict),
        st.builds(P, inner, inner),
        st.builds(Layer, inner, inner),
    ),
    max_leaves=8,
)


def each(structure, function):
    """Apply a function to every leaf, written without the package's own way of doing it."""
    if isinstance(structure, dict):
        return type(structure)({key: each(part, function) for key, part in structure.items()})
    if isinstance(structure, P):
        return P(each(structure.u, function), each(structure.v, function))
    if isinstance(structure, Layer):
        return Layer(each(structure.kernel, function), each(structure.bias, function))
    if isinstance(structure, list | tuple):
        return type(structure)([each(part, function) for part in structure])
    return function(structure)


@given(STRUCTURES, STRUCTURES)
def test_gradients_in_any_structure_are_those_of_one_target_and_one_source_at_a_time(targets, sources):
    variables = [ad.Variable(v) for v in (1.5, [0.5, 2.0], [[1.0], [3.0]], 4.0)]
    with ad.GradientTape(persistent=True) as tape:
        results = [np.sum(v * w) * v for v, w in zip(variables, variables[1:] + variables[:1], strict=True)]
    weights = [0.5 * (k + 1) * np.ones(y.shape) for k, y in enumerate(results)]
    numbers = []
    each(targets, numbers.append)

    def alone(k):
        parts = [tape.gradient(results[j], variables[k], output_gradients=weights[j]) for j in numbers]
        return sum((g.numpy() for g in parts if g is not None), np.zeros(variables[k].shape)).tolist()

    found = tape.gradient(
        each(targets, lambda j: results[j]),
        each(sources, lambda k: variables[k]),
        output_gradients=each(targets, lambda j: weights[j]),
        unconnected_gradients="zero",
    )
    as_lists = each(found, lambda g: [np.round(g.numpy(), 9).tolist()])
    assert repr(as_lists) == repr(each(sources, lambda k: [np.round(alone(k), 9).tolist()]))
