"""A stack that puts off its multiplications is the array that it stands for, whatever is done to it."""

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad
from autodiff_edu.arrays.stack import OneHot, Stack, dense

SHAPE = (4, 3)


def one_hot(rows=range(3), dtype=np.float64):
    return OneHot((3,), 0, rows, np.dtype(dtype))


def of_samples(rows=range(3)):
    return OneHot(SHAPE, 1, rows, np.dtype(float))


STACKS = {
    "seeds": lambda: Stack(one_hot()),
    "some of the seeds": lambda: Stack(one_hot(range(1, 3))),
    "scaled seeds": lambda: Stack(one_hot(), draw((3,), "scale")),
    "scaled seeds of single precision": lambda: Stack(one_hot(dtype=np.float32), draw((3,), "scale", dtype="float32")),
    "seeds of a matrix": lambda: Stack(OneHot((2, 3), 0, range(2, 5), np.dtype(float)), draw((2, 3), "scale")),
    "seeds of samples": lambda: Stack(of_samples()),
    "scaled seeds of samples": lambda: Stack(of_samples(), draw(SHAPE, "scale")),
    "some of the seeds of samples": lambda: Stack(of_samples(range(1, 2)), draw(SHAPE, "scale")),
    "an array": lambda: Stack(draw((5, 3), "base")),
    "a scaled array": lambda: Stack(draw((5, 3), "base"), draw((3,), "scale")),
    "complex numbers": lambda: Stack(draw((5, 3), "base", dtype="complex128"), draw((3,), "scale", dtype="complex128")),
    "complex numbers with a real scale": lambda: Stack(draw((5, 3), "base", dtype="complex128"), draw((3,), "scale")),
    "seeds of single precision": lambda: Stack(one_hot(dtype=np.float32)),
    "seeds of a row": lambda: Stack(OneHot((1, 3), 0, range(3), np.dtype(float)), draw((1, 3), "scale")),
    "real seeds with a complex scale": lambda: Stack(one_hot(), draw((3,), "scale", dtype="complex128")),
}


@pytest.fixture(params=STACKS)
def make(request):
    return STACKS[request.param]


def written_out(stack):
    """What the stack stands for, by its definition; the stack itself stays as it is."""
    base, scale = stack.base, stack.scale
    if isinstance(base, OneHot):
        array = np.zeros(base.shape, base.dtype)
        for k, row in enumerate(base.rows):
            place = np.unravel_index(row, base.inner)
            array[(k, *[slice(None)] * base.batch, *place)] = 1
        base = array
    return base if scale is None else base * scale


def same(stack, expected):
    assert (stack.shape, stack.ndim, stack.dtype) == (expected.shape, expected.ndim, expected.dtype)
    np.testing.assert_allclose(dense(stack), expected, 1e-13, 1e-13)


def test_a_stack_has_the_shape_the_dtype_and_the_elements_of_what_it_stands_for(make):
    expected = written_out(make())
    same(make(), expected)
    assert np.shape(make()) == expected.shape
    assert np.ndim(make()) == expected.ndim
    np.testing.assert_allclose(np.asarray(make()), expected, 1e-13, 1e-13)
    np.testing.assert_allclose(np.array(make(), dtype="complex128"), expected, 1e-13, 1e-13)


CHANGES = {
    "times a number": lambda s: s * 2.0,
    "a number times": lambda s: 2.0 * s,
    "times an integer": lambda s: s * 3,
    "divided by a number": lambda s: s / 4.0,
    "divided by itself": lambda s: s[...] / (s * s + 2.0),
    "a number divided by": lambda s: 2.0 / (s + 3.0),
    "negative": lambda s: -s,
    "positive": lambda s: +s,
    "conjugate": np.conjugate,
    "plus itself": lambda s: s + s,
    "plus twice itself": lambda s: s + 2.0 * s,
    "twice itself plus itself": lambda s: s * 2.0 + s,
    "minus half of itself": lambda s: s - s * 0.5,
    "plus a number": lambda s: s + 1.0,
    "times itself": lambda s: s * s,
    "the sine": np.sin,
    "times each row": lambda s: s * draw(np.shape(s)[1:], "rows"),
    "each row times": lambda s: np.multiply(draw(np.shape(s)[1:], "rows"), s),
    "divided by each row": lambda s: s / draw(np.shape(s)[1:], "rows"),
    "times one number for the last axis": lambda s: s * draw((3,), "last"),
    "times each element": lambda s: s * draw(np.shape(s), "all"),
    "each element times": lambda s: draw(np.shape(s), "all") * s,
    "times each element, and a matrix": lambda s: (s * draw(np.shape(s), "all")) @ draw((3, 2), "matrix"),
    "each element times, and a matrix": lambda s: (draw(np.shape(s), "all") * s) @ draw((3, 2), "matrix"),
    "times itself, and a matrix": lambda s: (s * s) @ draw((3, 2), "matrix"),
    "where a condition of each element holds, and a matrix": lambda s: (
        np.where(draw(np.shape(s), "condition") > 0, s, 0.0) @ draw((3, 2), "matrix")
    ),
    "times one for each cotangent": lambda s: s * draw((np.shape(s)[0], *[1] * (np.ndim(s) - 1)), "each"),
    "twice": lambda s: -(s * draw((3,), "first")) / draw((3,), "second"),
    "where a condition holds": lambda s: np.where(draw(np.shape(s)[1:], "condition") > 0, s, 0.0),
    "where a condition does not hold": lambda s: np.where(draw(np.shape(s)[1:], "condition") > 0, 0, s),
    "where a condition holds, else one": lambda s: np.where(draw(np.shape(s)[1:], "condition") > 0, s, 1.0),
    "where a condition does not hold, else one": lambda s: np.where(draw((3,), "condition") > 0, 1.0, s),
    "where a condition of each element holds": lambda s: np.where(draw(np.shape(s), "condition") > 0, s, 0.0),
    "times a matrix": lambda s: s @ draw((3, 2), "matrix"),
    "times a matrix of single precision": lambda s: s @ draw((3, 2), "matrix", dtype="float32"),
    "times a vector": lambda s: s @ draw((3,), "vector"),
    "a matrix times": lambda s: draw((2, np.shape(s)[0]), "matrix") @ np.reshape(s, (np.shape(s)[0], -1)),
    "scaled and times a matrix": lambda s: (s * draw((3,), "rows")) @ draw((3, 2), "matrix"),
    "times a matrix, and again": lambda s: (s @ draw((3, 4), "matrix")) @ draw((4, 2), "second"),
    "the sum over the last axis": lambda s: np.sum(s, axis=-1),
    "the sum of all": np.sum,
    "the sum by its method": lambda s: s.sum(axis=-1, keepdims=True),
    "a reduction of a ufunc": lambda s: np.add.reduce(s, axis=-1),
    "a ufunc with parameters": lambda s: np.multiply(s, 2.0, dtype="complex128"),
    "elements": lambda s: s[..., ::-1],
    "one cotangent": lambda s: s[0],
    "joined": lambda s: np.concatenate([s, s * 2.0], axis=-1),
    "stacked": lambda s: np.stack([s, np.ones(np.shape(s))]),
    "reshaped": lambda s: np.reshape(s, (np.shape(s)[0], -1)),
    "compared": lambda s: s == 0.0,
    "moved": lambda s: np.moveaxis(s, 0, -1),
}


def test_what_is_done_to_a_stack_is_done_to_what_it_stands_for(make):
    for name, change in CHANGES.items():
        expected, found = change(written_out(make())), change(make())
        assert isinstance(found, Stack | np.ndarray | np.generic), name
        assert found.dtype == expected.dtype, name
        assert np.shape(found) == np.shape(expected), name
        np.testing.assert_allclose(dense(found), expected, 1e-13, 1e-13, err_msg=name)


def test_nothing_that_is_done_to_a_stack_changes_it(make):
    stack, expected = make(), written_out(make())
    for change in CHANGES.values():
        dense(change(stack))
        same(stack, expected)


PUT_OFF = ["times a number", "a number times", "divided by a number", "negative", "positive", "conjugate",
           "plus itself", "plus twice itself", "times each row", "each row times", "twice",
           "where a condition holds", "where a condition does not hold"]  # fmt: skip


@pytest.mark.parametrize("change", PUT_OFF)
def test_elementwise_rules_leave_the_seeds_unwritten(change):
    for stack in (Stack(one_hot()), Stack(one_hot(), np.ones(3))):
        found = CHANGES[change](stack)
        assert found.base is stack.base
        assert found.scale.shape == (3,)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (4, 1), (4, 3)])
def test_numbers_that_all_cotangents_share_go_into_the_scale(shape):
    stack, numbers = Stack(of_samples()), draw(shape, "numbers")
    for found in (stack * numbers, numbers * stack, stack / numbers, np.where(numbers > 0, stack, 0.0)):
        assert found.base is stack.base
        assert found.shape == stack.shape


@pytest.mark.parametrize("rows", [2, 4])
def test_numbers_that_make_the_cotangents_larger_do_not(rows):
    stack, numbers = STACKS["seeds of a row"](), draw((rows, 3), "numbers")
    same(stack * numbers, written_out(STACKS["seeds of a row"]()) * numbers)


def test_a_stack_times_a_tensor_is_a_tensor():
    weights = ad.constant([1.0, 2.0, 3.0])
    for found in (Stack(one_hot()) * weights, weights * Stack(one_hot())):
        assert type(found) is ad.Tensor
        assert found.tolist() == np.diag([1.0, 2.0, 3.0]).tolist()


def test_the_first_matrix_product_of_seeds_is_a_scaled_matrix():
    """So no product of matrices is computed, and none of its size but the result."""

    class Rows(OneHot):
        def times(self, scale):
            raise AssertionError("the seeds were written out")

    for base in (Rows((3,), 0, range(1, 3), np.dtype(float)), Rows(SHAPE, 1, range(3), np.dtype(float))):
        scale, matrix = draw(base.shape[1:], "scale"), draw((3, 2), "matrix")
        expected = written_out(Stack(base, scale)) @ matrix
        np.testing.assert_allclose(dense(Stack(base, scale) @ matrix), expected, 1e-13, 1e-13)


def test_a_stack_is_multiplied_out_once(make):
    stack = make()
    assert stack.dense() is stack.dense()
    assert stack.scale is None


def test_what_is_not_a_stack_is_plain_already():
    for value in (2.0, None, np.ones(3)):
        assert dense(value) is value


def test_other_counts_than_that_of_the_cotangents_are_not_a_stack_any_more(make):
    assert type(np.moveaxis(make(), 0, -1)) is (Stack if make().shape[1] == make().shape[0] else np.ndarray)
    assert isinstance(make() * 2.0, Stack)
    assert not isinstance(np.sum(make()), Stack)


def test_the_jacobian_of_a_sum_of_a_tensor_with_itself_is_twice_the_identity():
    """Large enough for a lazy stack, both of whose parts are seeds without a scale."""
    x = ad.Variable(np.linspace(0.0, 1.0, 200))
    with ad.GradientTape(persistent=True) as tape:
        y = x + x
        z = x * 3.0 + x
    np.testing.assert_array_equal(tape.jacobian(y, x), 2 * np.eye(200))
    np.testing.assert_array_equal(tape.jacobian(z, x), 4 * np.eye(200))
