"""What would fit is found for the usual mistakes with shapes, and nothing is made up for the others."""

import numpy as np
import pytest

from autodiff_edu.text.fitting import what_would_fit


def fitting(function, *shapes, names="ab", **parameters):
    return what_would_fit(
        function, tuple(np.ones(s) if isinstance(s, tuple) else s for s in shapes), parameters, [*names]
    )


@pytest.mark.parametrize(
    ("shapes", "operand", "end"),
    [
        (((4, 2), (3, 2)), 1, "; b.T would fit"),
        (((2, 4), (2, 3)), 0, "; a.T would fit"),
        (((60_000, 784), (128, 784)), 1, "; b.T would fit"),
        (((4, 2), (3, 4)), 1, "; b @ a would fit"),
        (((4, 2), ()), 1, "; write * to multiply by a number"),
    ],
)
def test_of_a_product(shapes, operand, end):
    assert fitting(np.matmul, *shapes) == (operand, end)


def test_of_a_transpose_the_array_itself():
    assert what_would_fit(np.matmul, (np.ones((4, 2)), np.ones((3, 2))), {}, ["a", "b.T"]) == (1, "; b would fit")


def test_of_an_einsum_an_axis_too_many():
    assert fitting(np.einsum, "ij,j->i", (4, 3), (3, 1), names=[None, "a", "b"]) == (2, ": did you mean (3,)?")


@pytest.mark.parametrize(
    ("shapes", "operand", "end"),
    [
        (((3, 4), (4, 1)), 1, ", and would broadcast to (4, 4): did you mean (4,)?"),
        (((4, 1), (3, 4)), 0, ", and would broadcast to (4, 4): did you mean (4,)?"),
        (((4, 2), (4,)), 1, "; b[:, None] would fit"),
        (((4,), (4, 2)), 0, "; a[:, None] would fit"),
        (((4, 2), (2, 4)), 1, "; b.T would fit"),
    ],
)
def test_of_what_is_computed_element_by_element(shapes, operand, end):
    assert fitting(np.add, *shapes) == (operand, end)


@pytest.mark.parametrize("function", [np.add, np.maximum, np.less])
@pytest.mark.parametrize("shapes", [((4,), (3,)), ((4, 2), (3, 2)), ((4, 2), (3,)), ((2, 3, 4), (5,))])
def test_nothing_is_made_up_where_only_an_outer_product_would_come_out(function, shapes):
    assert fitting(function, *shapes) is None


def test_of_arrays_to_be_joined():
    def joined(function, *shapes, **parameters):
        return what_would_fit(function, ([*map(np.ones, shapes)],), parameters, [*"abc"[: len(shapes)]])

    assert joined(np.concatenate, (4, 2), (2, 3)) == (1, "; b.T would fit")
    assert joined(np.concatenate, (4, 2), (2,)) == (1, "; b[None, :] would fit")
    assert joined(np.concatenate, (4, 2), (4,), axis=1) == (1, "; b[:, None] would fit")
    assert joined(np.concatenate, (4, 2), (4, 3)) == (1, "; axis=1 would fit")
    assert joined(np.stack, (4,), (4, 1), (4,)) == (1, ": did you mean (4,)?")
    assert joined(np.stack, (4,), (3,)) is None


def test_of_a_reshape_the_lengths_that_hold_as_many_elements():
    def reshaped(shape):
        return what_would_fit(np.reshape, (np.ones((4, 2)), shape), {}, ["a", None])

    assert reshaped((3, 4)) == (0, "; (2, 4) would fit")
    assert reshaped([4, 4]) == (0, "; (2, 4) or (4, 2) would fit")
    assert reshaped(7) == (0, "; (8,) would fit")
    assert reshaped((3, 3)) is None
    assert reshaped((3, -1)) is None
    assert reshaped((2, 4)) is None, "then the shape is not what is wrong"


def test_where_the_shapes_fit_something_else_is_wrong_and_nothing_is_said():
    assert fitting(np.add, (4, 2), (2,)) is None
    assert what_would_fit(np.bitwise_and, (np.ones(2), np.ones(2, int)), {}, ["a", "b"]) is None


def test_of_functions_that_nothing_is_known_of_nothing_is_said():
    def never(*args):
        raise AssertionError("called")

    assert fitting(never, (4, 2), (2, 4)) is None
    assert fitting(np.linalg.solve, (4, 2), (2, 4)) is None


def test_what_has_no_name_is_said_by_its_shape_and_an_expression_gets_brackets():
    assert fitting(np.matmul, (4, 2), (3, 2), names=[None, None]) == (1, "; shape (2, 3) would fit")
    assert fitting(np.matmul, (4, 2), (3, 2), names=["a", "b + c"]) == (1, "; (b + c).T would fit")
    assert fitting(np.matmul, (4, 2), (3, 2), names=["a", "self.w_1"]) == (1, "; self.w_1.T would fit")
    assert fitting(np.matmul, (4, 2), (3, 4), names=["a", None]) is None


def test_large_operands_cost_nothing_to_try():
    huge = np.broadcast_to(1.0, (1_000_000, 1_000_000))  # nobody could multiply it
    assert what_would_fit(np.matmul, (huge, np.broadcast_to(1.0, (5, 1_000_000))), {}, ["a", "b"]) == (
        1,
        "; b.T would fit",
    )
