"""Sources and targets in lists, tuples, named tuples and dicts."""

import collections

import pytest

import autodiff_edu as ad

from .cases import case

Pair = collections.namedtuple("Pair", "u v")


@case("nested sources dict/list/tuple/namedtuple")
def test_gradients_come_in_the_structure_of_their_sources():
    a, b = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y = a * a * b
    got = t.gradient(y, {"k": [a, (b, {"z": a})], "p": Pair(b, a)})
    (by_a, (by_b, inside)), pair = got["k"], got["p"]
    assert [by_a.tolist(), by_b.tolist(), inside["z"].tolist()] == [4.0, 1.0, 4.0]
    assert (pair.u.tolist(), pair.v.tolist()) == (1.0, 4.0)
    assert [g.tolist() for g in t.gradient(y, (a, b))] == [4.0, 1.0]
    assert [type(t.gradient(y, s)) for s in ((a, b), [a, b], Pair(a, b))] == [tuple, list, Pair]
    ordered = t.gradient(y, collections.OrderedDict(q=a, r=b))
    assert type(ordered) is collections.OrderedDict
    assert [(key, g.tolist()) for key, g in ordered.items()] == [("q", 4.0), ("r", 1.0)]


@case("nested targets dict/list")
def test_targets_in_a_structure_are_added_up():
    a = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y0, y1, y2 = a**2, 1 / a, a * [1.0, 2.0]
    assert t.gradient({"a": y0, "b": [y1, y2]}, a).tolist() == 6.75


@case("None inside the sources structure / targets structure")
def test_none_among_the_sources_is_an_error_that_names_the_place():
    a = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y = a**2
    with pytest.raises(TypeError, match=r"sources\[1\] is None"):
        t.gradient(y, [a, None])
    with pytest.raises(TypeError, match=r"sources\['layers'\]\[2\] is None"):
        t.gradient(y, {"layers": [a, a, None]})


@case("None in the targets")
def test_none_among_the_targets_is_an_error_that_names_the_place():
    a = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y = a**2
    with pytest.raises(TypeError, match=r"target\[1\] is None"):
        t.gradient([y, None], a)


@case("dict sources key order")
def test_a_dict_keeps_the_order_of_its_keys():
    a, b = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape() as t:
        y = a * a * b
    assert [(key, g.tolist()) for key, g in t.gradient(y, {"z": a, "b": b}).items()] == [("z", 4.0), ("b", 1.0)]


@case("jacobian wrt dict of sources")
def test_a_jacobian_by_a_dict_is_a_dict():
    a, b = ad.Variable([1.0, 2.0]), ad.Variable(2.0)
    with ad.GradientTape() as t:
        y = a * a * b
    found = {key: j.tolist() for key, j in t.jacobian(y, {"a": a, "b": b}).items()}
    assert found == {"a": [[4.0, 0.0], [0.0, 8.0]], "b": [1.0, 4.0]}


@case("jacobian with list target")
def test_a_list_of_targets_has_a_list_of_jacobians_where_tensorflow_fails():
    a = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as t:
        y = a * a
    assert [j.tolist() for j in t.jacobian([y, y], a)] == [[[2.0, 0.0], [0.0, 4.0]]] * 2


@case("batch_jacobian wrt list source")
def test_the_source_of_a_batch_jacobian_is_one_tensor():
    a = ad.constant([[1.0, 2.0]])
    with ad.GradientTape() as t:
        t.watch(a)
        y = a * a
    with pytest.raises(TypeError, match="the source of batch_jacobian must be one Tensor"):
        t.batch_jacobian(y, [a])


@case("source = tf.Module / keras-like object")
def test_the_variables_of_a_module_are_sources_and_the_module_is_not():
    class Model(ad.nn.Module):
        def __init__(self):
            self.w = ad.Variable(2.0)

    m = Model()
    with ad.GradientTape(persistent=True) as t:
        y = m.w**2
    gradients = t.gradient(y, m.trainable_variables)
    assert [g.tolist() for g in gradients] == [4.0]
    assert type(gradients) is type(m.trainable_variables)
    with pytest.raises(TypeError, match=r"Model.*trainable_variables"):
        t.gradient(y, m)
