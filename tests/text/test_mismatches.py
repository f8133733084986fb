"""What does not fit in a failed operation, with the numbers that differ marked."""

import operator

import numpy as np
import pytest

from autodiff_edu.text.mismatches import find_mismatch

A, B, H, W = np.ones(3), np.ones(4), np.ones((3, 2)), np.ones((3, 1))
CASES = {
    "a product": (
        (np.matmul, (H, W), ["h", "w"], "@"),
        "h has shape (3, *2*), w has shape (*3*, 1): @ needs the two inner lengths to be equal: *2* ≠ *3*. "
        "Did you mean w of shape (2, 1)? h.T would also fit.",
    ),
    "a product of vectors": (
        (np.matmul, (A, B), ["a", "b"], "@"),
        "a has shape (*3*,), b has shape (*4*,): @ needs the two inner lengths to be equal: *3* ≠ *4*. "
        "Did you mean b of shape (3,)?",
    ),
    "a product of stacks": (
        (np.matmul, (np.ones((5, 3, 2)), np.ones((4, 2, 3))), ["p", "q"], "@"),
        "p has shape (*5*, 3, 2), q has shape (*4*, 2, 3): @ lines shapes up from the right, and the third axes from "
        "the right differ in length: *5* ≠ *4*. They must be equal, or one of them 1.",
    ),
    "a product of stacks of which nothing fits": (
        (np.matmul, (np.ones((5, 3, 2)), np.ones((4, 3, 3))), ["p", "q"], "@"),
        "p has shape (5, 3, *2*), q has shape (4, *3*, 3): @ needs the two inner lengths to be equal: *2* ≠ *3*.",
    ),
    "broadcasting": (
        (np.add, (A, B), ["a", "b"], "+"),
        "a has shape (*3*,), b has shape (*4*,): + lines shapes up from the right, and the last axes differ in length: "
        "*3* ≠ *4*. They must be equal, or one of them 1.",
    ),
    "broadcasting along an inner axis": (
        (np.multiply, (np.ones((2, 3, 4)), np.ones((5, 1))), ["p", None], "*"),
        "p has shape (2, *3*, 4), operand 2 has shape (*5*, 1): * lines shapes up from the right, and the second axes "
        "from the right differ in length: *3* ≠ *5*. They must be equal, or one of them 1.",
    ),
    "a remedy": (
        (np.add, (A, H), ["a", "h"], "+"),
        "a has shape (*3*,), h has shape (3, *2*): + lines shapes up from the right, and the last axes differ in "
        "length: *3* ≠ *2*. They must be equal, or one of them 1. a[:, None] would fit.",
    ),
    "a choice": (
        (np.where, (A > 0, A, B), ["a > 0", "a", "b"], "np.where"),
        "a > 0 has shape (*3*,), b has shape (*4*,): np.where lines shapes up from the right, and the last axes differ "
        "in length: *3* ≠ *4*. They must be equal, or one of them 1.",
    ),
    "joining": (
        (np.concatenate, ([H, W],), ["h", "w"], "np.concatenate"),
        "h has shape (3, *2*), w has shape (3, *1*): np.concatenate joins along axis 0, so axis 1 must be equal: "
        "*2* ≠ *1*. axis=1 would fit.",
    ),
    "joining other axes": (
        (np.concatenate, ([H, A],), ["h", "a"], "np.concatenate"),
        "h has shape (3, 2), a has shape (3,): np.concatenate needs equally many axes: *2* ≠ *1*.",
    ),
    "stacking": (
        (np.stack, ([A, B],), ["a", "b"], "np.stack"),
        "a has shape (*3*,), b has shape (*4*,): np.stack needs equal shapes: *3* ≠ *4*.",
    ),
    "a product of last axes": (
        (np.inner, (H, W), ["h", "w"], "np.inner"),
        "h has shape (3, *2*), w has shape (3, *1*): np.inner needs the last two lengths to be equal: *2* ≠ *1*. "
        "Did you mean w of shape (3, 2)?",
    ),
    "a letter for two lengths": (
        (np.einsum, ("ij,jk->ik", H, W), ["'ij,jk->ik'", "h", "w"], "np.einsum"),
        "h has shape (3, *2*), w has shape (*3*, 1): np.einsum needs axes with the same letter, j, to be equally long: "
        "*2* ≠ *3*. w.T would fit.",
    ),
    "letters for other axes": (
        (np.einsum, ("ij,jk->ik", H, A), ["'ij,jk->ik'", "h", "a"], "np.einsum"),
        'a has shape (3,): "jk" needs a letter for each axis: *2* ≠ *1*.',
    ),
    "stacking rows": (
        (np.vstack, ([H, A],), ["h", "a"], "np.vstack"),
        "h has shape (3, *2*), a has shape (*3*,): np.vstack makes a vector a row, and rows must be equally long: "
        "*2* ≠ *3*. h.T would fit.",
    ),
    "joining rows": (
        (np.vstack, ([H, W],), ["h", "w"], "np.vstack"),
        "h has shape (3, *2*), w has shape (3, *1*): np.vstack joins along axis 0, so axis 1 must be equal: *2* ≠ *1*.",
    ),
    "joining columns": (
        (np.hstack, ([H, H.T],), ["h", "g"], "np.hstack"),
        "h has shape (*3*, 2), g has shape (*2*, 3): np.hstack joins along axis 1, so axis 0 must be equal: *3* ≠ *2*. "
        "g.T would fit.",
    ),
    "a shape with a free length": (
        (np.reshape, (H, (4, -1)), ["h"], "np.reshape"),
        "h has shape (3, 2): *6* elements, and shape (4, -1) needs a multiple of *4*.",
    ),
    "transposing": (
        (np.add, (H, H.T), ["h", "g"], "+"),
        "h has shape (3, *2*), g has shape (2, *3*): + lines shapes up from the right, and the last axes differ in "
        "length: *2* ≠ *3*. They must be equal, or one of them 1. g.T would fit.",
    ),
    "another shape": (
        (np.reshape, (H, (4, 2)), ["h"], "np.reshape"),
        "h has shape (3, 2): *6* elements, and shape (4, 2) has room for *8*. (3, 2) would fit.",
    ),
    "an index": (
        (operator.getitem, (H, (1, 7)), ["h"], "getitem"),
        "h has shape (3, *2*): the indices of axis 1 are 0 to 1, and -2 to -1 from the end, so there is no *7*.",
    ),
    "an axis": (
        (np.sum, (A, 1), ["a"], "np.sum"),
        "a has shape (3,): its only axis is 0, so there is no axis *1*.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_numbers_that_do_not_go_together_are_marked(case):
    (function, args, names, written), wanted = CASES[case]
    with pytest.raises((ValueError, IndexError)) as caught:
        function(*args)
    parts = find_mismatch(function, args, {}, names, written, str(caught.value))
    assert "".join(f"*{part}*" if place % 2 else part for place, part in enumerate(parts)) == wanted


@pytest.mark.parametrize("function", [np.linalg.inv, np.add])
def test_where_shapes_are_not_what_is_wrong_there_is_nothing_to_say(function):
    args = (H,) if function is np.linalg.inv else (A, A)
    assert find_mismatch(function, args, {}, ["h", "a"], "f", "another reason") == []
    assert find_mismatch(np.add, ("a", 1), {}, ["a", None], "+") == []
