"""What a saved function decided by its values or by their number, and what else went into it unseen, is said."""

import random
import warnings

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (lambda x: x * 2.0 if x > 0 else -x, "bool"),
        (lambda x: max(x, 0.0), "bool"),
        (lambda x: x * 2.0 if float(x) > 0 else -x, "float"),
        (lambda x: x * int(x), "int"),
        (lambda x: x * (1.0 if x.numpy() > 0 else 2.0), "numpy"),
    ],
)
def test_numbers_that_decide_far_from_where_they_would_change_are_said_with_their_line(function, word, path):
    with pytest.warns(UserWarning, match=rf"{word}\(\).* test_saving_decisions.py, line \d+"):
        ad.save(function, path, 3.3)


def test_deciding_by_constants_and_by_shapes_is_not_said(path):
    c = ad.constant(2.0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ad.save(lambda x: x * float(c) if c > 1 and x.ndim == 1 and len(c.shape) == 0 else x, path, np.ones(3))
    assert said == []


def test_random_numbers_that_python_draws_from_a_seed_are_said(path):
    with pytest.warns(UserWarning, match="draws random numbers at test_saving_decisions.py"):
        ad.save(lambda x: x * random.Random(0).random(), path, 1.0)


def test_what_depends_on_the_number_of_samples_is_found_beyond_one_more(path):
    for function in (lambda x: x[len(x) // 2], lambda x: np.sum(x) / max(len(x), 6), lambda x: x[: len(x) // 4]):
        with pytest.raises(ValueError, match="number of samples"):
            ad.save(function, path, np.arange(4.0))
    assert not path.exists()


def test_a_saved_derivative_is_told_to_be_taken_after_loading(path):
    def loss(x):
        return np.mean(x**2)

    with pytest.raises(ValueError, match=r"ad\.grad\(ad\.load\(path\)\)"):
        ad.save(ad.grad(loss), path, np.ones((4, 3)))
    ad.save(loss, path, np.ones((4, 3)))
    assert np.array_equal(ad.grad(ad.load(path))(np.ones((2, 3))), np.full((2, 3), 1 / 3))


def test_a_refused_function_leaves_every_variable_as_it_was(path):
    layer, count = nn.BatchNormalization(), ad.Variable(1.0, trainable=False)
    layer(np.ones((4, 3)))
    before = [v.numpy() for v in layer.variables]

    def function(x):
        count.assign_add(1.0)
        return layer(x, training=True) * count

    with pytest.raises(ValueError, match="assigns"):
        ad.save(function, path, np.arange(12.0).reshape(4, 3))
    assert float(count) == 1.0
    assert all(np.array_equal(v.numpy(), old) for v, old in zip(layer.variables, before, strict=True))


def test_the_path_and_the_function_in_the_other_order_say_what_to_write(path):
    with pytest.raises(TypeError, match=r"write ad\.save\(function, path, \*examples\)"):
        ad.save(path, lambda x: x, 1.0)
    with pytest.raises(TypeError, match=r"write ad\.save\(function, path, \*examples\)"):
        ad.save(lambda x: x, 1.0, 1.0)
    with pytest.raises(FileNotFoundError, match="no directory"):
        ad.save(lambda x: x * 2.0, path.parent / "nowhere" / "f.ad", 1.0)


def test_a_loaded_function_takes_its_arguments_by_name(path):
    ad.save(lambda x, p: x * p["w"], path, 1.0, {"w": 2.0})
    again = ad.load(path)
    assert float(again(p={"w": 5.0}, x=3.0)) == 15.0
    for wrong in ({"y": 1.0}, {"x": 1.0}):
        with pytest.raises(TypeError, match=r"\(x, p\)"):
            again(**wrong)
    ad.save(lambda *x: x[0] * 2.0, path, 1.0)
    with pytest.raises(TypeError, match="without names"):
        ad.load(path)(x=1.0)


def test_an_index_chosen_by_float_arguments_is_said(path):
    with pytest.warns(UserWarning, match="constant"):
        ad.save(lambda x: x[int(np.argmax(x))], path, np.array([1.0, 2.0, 3.0]))


def test_a_decision_of_a_rule_is_not_said_to_be_the_reader_s(path):
    with pytest.warns(
        UserWarning, match=r"an operation or its derivative decides by .* test_saving_decisions.py, line \d+: the path"
    ) as found:
        ad.save(ad.hessian(np.linalg.det), path, np.array([[2.0, 1.0], [0.5, 3.0]]))
    assert not [one for one in found if "Python asks" in str(one.message)]
