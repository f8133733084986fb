"""Nudging: how far the target moves when it is computed again, and how far the cotangent says."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.explain.journal import journal


@pytest.fixture
def square() -> tuple[ad.GradientTape, ad.Tensor, ad.Variable]:
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = x * x
    return tape, y, x


@pytest.mark.parametrize("by", [0.1, -0.5, 2.0, 0])
def test_of_a_square_the_gap_is_the_square_of_the_nudge(square, by):
    tape, y, x = square
    found = tape.nudge(y, x, by)
    assert (found.moved, found.said, found.gap) == pytest.approx((6 * by + by * by, 6 * by, by * by))
    assert found.connected


def test_it_reads_as_a_sentence(square):
    tape, y, x = square
    assert repr(tape.nudge(y, x, 0.1)) == "The target moves by 0.61; the cotangent says 0.6"


def test_any_two_tensors_of_a_tape_can_be_asked_about():
    x, w = ad.Variable(2.0), ad.Variable(5.0)
    with ad.GradientTape(persistent=True) as tape:
        a = x * x
        b = np.sin(a) * w
        z = a * b + a
    values = {"x": x, "a": a, "b": b, "w": w}

    def again(x=None, w=None, a=None, b=None):
        x, w = 2.0 if x is None else x, 5.0 if w is None else w
        a = x * x if a is None else a
        b = np.sin(a) * w if b is None else b
        return a * b + a

    for name, tensor in values.items():
        found = tape.nudge(z, tensor, 0.25)
        assert found.moved == pytest.approx(again(**{name: float(tensor) + 0.25}) - again())
        assert found.said == pytest.approx(0.25 * float(tape.gradient(z, tensor)))
    assert tape.nudge(b, a, 0.1).said == pytest.approx(0.1 * 5 * np.cos(4.0))
    assert tape.nudge(z, z, 0.1)[:2] == pytest.approx((0.1, 0.1))


def test_an_array_is_nudged_everywhere_along_a_direction_or_at_one_element():
    v = ad.Variable([[1.0, 2.0], [3.0, 4.0]])
    with ad.GradientTape() as tape:
        y = np.sum(v**2)
    for by in (0.1, [0.0, 0.1], [[0.0, 0.0], [0.1, 0.0]]):
        found, full = tape.nudge(y, v, by), np.broadcast_to(by, (2, 2))
        assert found.said == pytest.approx(np.sum(2 * v.numpy() * full))
        assert found.gap == pytest.approx(np.sum(full**2))


def test_a_target_of_several_numbers_moves_in_each():
    v = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = np.stack([v[0] * v[1], v[0] ** 2, v[1] + 1.0])
    found = tape.nudge(y, v, [0.1, 0.0])
    assert found.moved == pytest.approx([0.2, 0.21, 0.0])
    assert found.said == pytest.approx([0.2, 0.2, 0.0])
    assert repr(found) == "The target moves by [0.2 0.21 0]; the cotangent says [0.2 0.2 0]"


def test_through_a_cut_the_target_moves_and_the_backward_pass_does_not_know():
    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = np.sign(x)
        z = y * x
    found = tape.nudge(y, x, -1.0)
    assert found == (-2.0, 0.0, False, ())
    assert repr(found).startswith(
        "The target moves by -2; no cotangent reaches the tensor, so the backward pass says 0"
    )
    assert tape.nudge(z, x, -1.0) == (0.0, -1.0, True, ()), "of the product it sees one factor only"


def test_a_truth_moves_by_one():
    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        positive = x > 0
    assert tape.nudge(positive, x, -1.0) == (-1.0, 0.0, False, ())


def test_where_nothing_leads_from_one_to_the_other_nothing_moves():
    x, w = ad.Variable(3.0), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y, other = x * x, w * 2.0
    assert tape.nudge(y, w, 1.0) == tape.nudge(y, other, 1.0) == tape.nudge(x, y, 1.0) == (0.0, 0.0, False, ())


def test_a_constant_moves_the_target_though_the_tape_does_not_follow_it():
    x, c = ad.Variable(3.0), ad.constant(2.0)
    with ad.GradientTape() as tape:
        y = x * c
    assert tape.nudge(y, c, 1.0) == (3.0, 0.0, False, ())


def test_a_variable_is_nudged_in_each_value_that_it_had():
    w = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        a = w * 3.0
        w.assign(10.0)
        y = a * w
    w.assign(-1.0)
    found = tape.nudge(y, w, 0.5)
    assert found.moved == pytest.approx(7.5 * 10.5 - 60.0)
    assert found.said == pytest.approx(0.5 * (30.0 + 6.0))


def test_complex_numbers_follow_the_gradient_s_convention():
    z = ad.Variable(1 + 2j)
    with ad.GradientTape() as tape:
        size, real = np.abs(z) ** 2, np.real(z * z)
    for by in (1e-4, 1e-4j, 2e-4 - 1e-4j):
        for target in (size, real):
            found = tape.nudge(target, z, by)
            assert found.said == pytest.approx(found.moved, abs=1e-7)
    with pytest.raises(TypeError, match="the target of nudge is complex"):
        tape.nudge(z, z, 0.1)


def test_the_dtype_is_the_target_s():
    x = ad.Variable(3.0, dtype="float32")
    with ad.GradientTape() as tape:
        y = x * x
    found = tape.nudge(y, x, 0.1)
    assert found.moved.dtype == found.said.dtype == np.float32


def test_a_derivative_of_a_tape_within_can_be_nudged_too():
    x = ad.Variable(2.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x**3
        slope = inner.gradient(y, x)
    found = outer.nudge(slope, x, 0.1)
    assert found[:2] == pytest.approx((3 * 2.1**2 - 12.0, 1.2))


# What it leaves alone ------------------------------------------------------------------------------------------------


def test_it_neither_uses_a_tape_up_nor_records_nor_is_heard(square):
    tape, y, x = square
    heard = []
    with ad.GradientTape() as outer, ad.hook(heard.append):
        before = len(journal.lines())
        tape.nudge(y, x, 0.1)
        assert len(journal.lines()) == before
    assert not outer.entries
    assert not heard
    assert len(tape.entries) == 1
    assert float(x) == 3.0
    assert float(tape.gradient(y, x)) == 6.0


def test_a_tape_that_is_recording_can_be_asked():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x * x
        assert tape.nudge(y, x, 1.0).moved == 7.0
    assert len(tape.entries) == 1


def test_a_used_tape_says_that_it_is_used(square):
    tape, y, x = square
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="has already been used"):
        tape.nudge(y, x, 0.1)


# Custom gradients ----------------------------------------------------------------------------------------------------


def test_the_function_of_a_custom_gradient_is_run_again():
    @ad.custom_gradient
    def straight_through(x):
        return np.round(x), lambda dy: dy

    x = ad.Variable(1.2)
    with ad.GradientTape() as tape:
        y = 10.0 * straight_through(x)
    assert tape.nudge(y, x, 0.2)[:2] == pytest.approx((0.0, 2.0))
    assert tape.nudge(y, x, 0.4)[:2] == pytest.approx((10.0, 4.0))


def test_with_structures_keywords_and_several_results():
    @ad.custom_gradient
    def both(pair, power, scale=1.0):
        a, b = pair
        return (a * b * scale, np.stack([a, b]) ** power), lambda p, q: ([p * b * scale, p * a * scale], None)

    a, b = ad.Variable(2.0), ad.Variable(3.0)
    with ad.GradientTape() as tape:
        product, powers = both([a, b], 2, scale=10.0)
        y = product + np.sum(powers)
    assert tape.nudge(y, b, 1.0)[:2] == pytest.approx((20.0 + 7.0, 20.0))
    assert tape.nudge(y, a, 1.0)[:2] == pytest.approx((30.0 + 5.0, 30.0))


def test_one_that_reads_variables_cannot_be_run_again_and_says_so():
    w = ad.Variable(2.0, name="w")

    @ad.custom_gradient
    def scaled(x):
        return x * w, lambda dy, variables: (dy * w, [dy * x])

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = scaled(x)
    with pytest.raises(ValueError, match=r"scaled reads the variable .*'w'.* not among its arguments.*Pass them"):
        tape.nudge(y, x, 0.1)


def test_one_that_uses_what_moves_from_outside_says_so():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        a = x * x

        @ad.custom_gradient
        def plus(b):
            return a + b, lambda dy: dy

        y = plus(x)
    with pytest.raises(ValueError, match=r"plus, used at .*, uses a tensor that moves.*Pass that tensor to plus"):
        tape.nudge(y, x, 0.1)


# Bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "error", "match"),
    [
        ("far", TypeError, "by: a tensor holds numbers"),
        (None, TypeError, "by: a tensor holds numbers"),
        (True, TypeError, "by has dtype bool, but the tensor has dtype float64"),
        (1j, TypeError, "by has dtype complex128, but the tensor has dtype float64"),
        (np.inf, ValueError, "by is inf; a nudge is a finite number"),
        ([1.0, np.nan, 0.0], ValueError, "by is .*nan.*; a nudge is a finite number"),
        ([1.0, 2.0], ValueError, r"by has shape \(2,\), but the tensor has shape \(3,\); pass one number"),
        (np.zeros((2, 3)), ValueError, r"by has shape \(2, 3\), but the tensor has shape \(3,\)"),
    ],
)
def test_a_nudge_that_does_not_fit_is_refused(by, error, match):
    v = ad.Variable([1.0, 2.0, 3.0])
    with ad.GradientTape() as tape:
        y = np.sum(v * v)
    with pytest.raises(error, match=match):
        tape.nudge(y, v, by)
    assert tape.nudge(y, v, 1.0).said == 12.0


def test_what_is_not_a_tensor_is_refused(square):
    tape, y, x = square
    with pytest.raises(TypeError, match="the target of nudge must be one Tensor, not a float"):
        tape.nudge(9.0, x, 0.1)
    with pytest.raises(TypeError, match="the tensor of nudge must be one Tensor, not a list"):
        tape.nudge(y, [x], 0.1)


def test_whole_numbers_are_not_nudged():
    n, x = ad.Variable(3), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = x * n
    with pytest.raises(ValueError, match="cannot nudge a tensor of dtype int64"):
        tape.nudge(y, n, 1)


def test_a_target_that_the_tape_did_not_record_cannot_be_computed_again():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * 2.0
    with pytest.raises(ValueError, match=r"did not record how the target was computed.*explain"):
        tape.nudge(z, x, 0.1)


def test_an_operation_without_a_rule_is_the_gradient_s_error():
    p = ad.Variable([1.0, -3.0, 2.0])
    with ad.GradientTape() as tape:
        y = np.roots(p)
    with pytest.raises(LookupError, match=r"np\.roots"):
        tape.nudge(y, p, 0.1)


def test_a_tape_that_recorded_nothing_says_so(square):
    _, y, x = square
    with pytest.raises(RuntimeError, match="recorded nothing"):
        ad.GradientTape().nudge(y, x, 0.1)


# Orders and choices --------------------------------------------------------------------------------------------------

V = np.array([1.0, 2.0, 3.0])
WEIGHTS = np.array([1.0, 10.0, 100.0])
FOUND_AGAIN = {
    "np.interp": lambda v: np.sum(np.interp(v, [0.0, 1.5, 4.0], [0.0, 1.0, 9.0])),
    "np.interp between tensors": lambda v: np.interp(2.0, np.stack([-9.0, v[0] + 0.5, 9.0]), [0.0, 1.0, 9.0]),
    "np.sort": lambda v: np.sum(np.sort(v) * WEIGHTS),
    "np.sort, backwards": lambda v: np.sum(np.sort(v)[::-1] * WEIGHTS),
    "np.sort along an axis": lambda v: np.sum(np.sort(np.stack([v, v**2]), axis=0) * WEIGHTS),
    "np.partition": lambda v: np.partition(v, 1)[1],
    "np.median": np.median,
    "np.percentile": lambda v: np.percentile(v, 30),
    "np.quantile": lambda v: np.quantile(v, 0.9),
    "a mask": lambda v: np.sum(v[v > 1.5]),
    "an element by a mask": lambda v: np.sum(v * v[v > 1.5][0]),
    "an index from np.argmax": lambda v: v[np.argmax(v)],
    "an order from np.argsort": lambda v: np.sum(v[np.argsort(v)] * WEIGHTS),
    "np.where": lambda v: np.sum(np.where(v > 1.5, v * 10.0, 0)),
    "np.select": lambda v: np.sum(np.select([v > 2.5, v > 1.5], [v * 10.0, v * 100.0], 0.0)),
    "np.maximum": lambda v: np.sum(np.maximum(v, 2.5)),
    "np.max": np.max,
    "np.clip": lambda v: np.sum(np.clip(v, 0, 2)),
    "the remainder": lambda v: np.sum(v % 2.0),
}


def both_by_if(v):
    large = v[0] > 2
    return np.where(large, v[0], 3.0 * v[0]) * (100.0 if large else 2.0)


def both_by_a_number(v):
    at = np.argmax(v)
    return v[at] * float(at)


def both_by_numpy(v):
    mask = v > 1.5
    return np.sum(np.where(mask, v, 0)) / np.sum(mask.numpy())


def both_in_an_index(v):
    at = np.argmax(v)
    return v[at] * 2.0 + v[..., at]


KEPT = {
    "an if": lambda v: v[0] * 2.0 if v[0] < 2 else v[0] * 100.0,
    "np.nonzero": lambda v: np.sum(v[np.nonzero(v > 1.5)]),
    "np.take": lambda v: np.take(v, np.argmin(v)),
    "np.choose": lambda v: np.sum(np.choose(v > 1.5, [v, v * 2.0])),
    "np.piecewise": lambda v: np.sum(np.piecewise(v, [v > 1.5], [lambda u: u * 10.0, lambda u: u])),
    "np.compress": lambda v: np.sum(np.compress(v > 1.5, v)),
    "np.extract": lambda v: np.sum(np.extract(v > 1.5, v)),
    "an int of np.argmax": lambda v: v[int(np.argmax(v))],
    "numpy()": lambda v: np.sum(np.where((v > 1.5).numpy(), v, 0)),
    "a number of elements": lambda v: np.sum(v) / int(np.count_nonzero(v > 1.5)),
    "an index with others": lambda v: v[..., np.argmax(v)],
    "an index alone and with others": both_in_an_index,
    "np.take_along_axis": lambda v: np.sum(np.take_along_axis(v, np.argsort(v), 0) * WEIGHTS),
    "an if by what an operation uses as well": both_by_if,
    "a float of what an operation uses as well": both_by_a_number,
    "numpy() of what an operation uses as well": both_by_numpy,
}


def moved_otherwise(f, by):
    """Return what `nudge` says, and how far the function really moves."""
    x = ad.Variable(V)
    with ad.GradientTape() as tape:
        y = f(x)
    return tape.nudge(y, x, by), float(f(ad.constant(V + by))) - float(f(ad.constant(V)))


@pytest.mark.parametrize("by", [[2.5, 0.0, 0.0], [0.0, 0.0, -2.5], [0.01, 0.0, 0.0]])
@pytest.mark.parametrize("f", FOUND_AGAIN.values(), ids=FOUND_AGAIN)
def test_orders_masks_and_indices_on_the_tape_are_found_again(f, by):
    found, really = moved_otherwise(f, np.array(by))
    assert found.moved == pytest.approx(really)
    assert found.kept == ()


@pytest.mark.parametrize("f", KEPT.values(), ids=KEPT)
def test_a_choice_that_is_kept_is_named_where_it_would_have_come_out_differently(f):
    near, really = moved_otherwise(f, np.array([0.01, 0.0, 0.0]))
    assert near.moved == pytest.approx(really)
    assert near.kept == ()
    apart = [moved_otherwise(f, np.array(by)) for by in ([2.5, 0.0, 0.0], [0.0, 0.0, -2.5])]
    assert any(found.moved != pytest.approx(really) for found, really in apart)
    for found, really in apart:
        assert found.kept or found.moved == pytest.approx(really)


def test_a_choice_that_is_kept_is_in_the_sentence():
    x = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = 2.0 * x if x < 2 else 3.0 * x
    assert repr(tape.nudge(y, x, 0.5)) == "The target moves by 1; the cotangent says 1"
    assert repr(tape.nudge(y, x, 5.0)).startswith(
        "The target moves by 10; the cotangent says 10. Run again, your code may give another number, because this was "
        "kept: the choice made by less at test_nudge.py, line "
    )


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda v: np.sum(np.lexsort((np.zeros(3), v)) * v), "lexsort"),
        (lambda v: np.sum(np.isin(v, [1.0]) * v), "isin"),
    ],
)
def test_the_result_of_a_function_without_a_rule_is_kept_and_named(f, name):
    found, really = moved_otherwise(f, np.array([5.0, 0.0, 0.0]))
    assert found.moved != pytest.approx(really)
    (kept,) = found.kept
    assert kept.startswith(f"the result of {name} at test_nudge.py, line")


def test_a_truth_of_later_or_with_a_use_on_the_tape_is_not_named():
    x = ad.Variable(V)
    with ad.GradientTape() as tape:
        mask = x > 1.5
        shown = f"{mask}"
        y = np.sum(x[mask])
        _ = x > 1.5
    assert (shown, mask.tolist()) == ("Tensor([False,  True,  True])", [False, True, True])
    assert tape.nudge(y, x, 5.0).kept == ()


def test_what_was_computed_while_the_tape_was_paused_is_named():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        a = x * 2.0
        with tape.stop_recording():
            b = ad.constant(a * 3.0)
        y = a * b
    found = tape.nudge(y, x, 1.0)
    assert found[:2] == pytest.approx((36.0, 36.0))
    (kept,) = found.kept
    assert kept.startswith("the tensor made at test_nudge.py, line")
    assert kept.endswith("which is not on the tape")
    assert tape.nudge(y, a, 1.0).kept == found.kept
    assert tape.nudge(y, b, 1.0).kept == ()


PLAIN = {
    "numpy()": lambda x: np.sum(x * (x.numpy() * 2)),
    "float()": lambda x: float(x[0]) * x[1],
    "item()": lambda x: np.sum(x) * x[0].item(),
    "tolist()": lambda x: np.sum(np.array(x.tolist()) * x),
    "complex()": lambda x: np.real(complex(x[0]) * x[1]),
    "a name": lambda x: (c := float(x[0]), np.sum(c * x))[1],
    "an argument": lambda x: weighted(x, float(x[0] * 2.0)),
    "a comprehension": lambda x: np.sum(np.array([float(v) for v in x]) * x),
    "a function": lambda x: np.sum(taken(x) * x),
    "a map": lambda x: np.sum(np.array(list(map(float, x))) * x),
}


def weighted(v, c):
    return np.sum(v * c)


def taken(v):
    return v[0].item()


@pytest.mark.parametrize("f", PLAIN.values(), ids=PLAIN)
def test_plain_numbers_that_would_have_changed_are_named(f):
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
    found = tape.nudge(y, x, [0.1, 0.0])
    assert found.moved != pytest.approx(float(f(ad.Variable([3.1, 1.0]))) - float(y))
    (kept,) = found.kept
    assert kept.startswith("the plain numbers that ")
    assert "() returned at test_nudge.py, line " in kept


def test_plain_numbers_that_stay_or_are_only_shown_are_not_named():
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape(persistent=True) as tape:
        z = float(x[1]) * np.sum(x)
        print(float(x[0]), x.numpy())
        y = np.sum(x * x)
    assert tape.nudge(z, x, [0.1, 0.0]).kept == ()
    assert len(tape.nudge(z, x, [0.0, 0.1]).kept) == 1
    assert tape.nudge(y, x, 0.1).kept == ()


def test_a_mask_that_chooses_another_number_of_elements_is_an_error_where_the_rest_does_not_fit():
    x = ad.Variable(V)
    with ad.GradientTape(persistent=True) as tape:
        chosen = x[x > 1.5]
        y = np.sum(chosen * np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"multiply, used at .*, cannot be run again so far away; nudge by less"):
        tape.nudge(y, x, [1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"shape changes from \(2,\) to \(3,\); nudge by less"):
        tape.nudge(chosen, x, [1.0, 0.0, 0.0])
    assert tape.nudge(y, x, [0.1, 1.0, 0.0]).moved == pytest.approx(1.0)


def test_a_nudge_over_a_knot_interpolates_in_the_next_segment():
    x, fp = ad.Variable(-0.5), ad.Variable([0.0, 1.0, 5.0])
    with ad.GradientTape(persistent=True) as tape:
        y = np.interp(x, [-1.0, 0.1, 1.0], fp)
    expected = np.interp(0.4, [-1.0, 0.1, 1.0], fp.numpy()) - np.interp(-0.5, [-1.0, 0.1, 1.0], fp.numpy())
    found = tape.nudge(y, x, 0.9)
    assert found.moved == pytest.approx(expected) == pytest.approx(1.878788)
    assert found.kept == ()


@pytest.mark.parametrize(
    "f",
    [
        np.abs,
        lambda x: np.maximum(x, 0.0),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: np.where(x > 0, x, 0.0),
        lambda x: np.linalg.norm(x * np.ones(3)),
        lambda x: np.interp(x, [-1.0, 0.0, 1.0], [0.0, 0.0, 3.0]),
    ],
)
def test_nudges_in_both_directions_show_the_two_slopes_of_a_corner(f):
    x = ad.Variable(0.0)
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
    corner = tape.corners(y, x)[0]
    back, ahead = tape.nudge(y, x, -0.5), tape.nudge(y, x, 0.5)
    left, right = (nudge.moved / step for nudge, step in ((back, -0.5), (ahead, 0.5)))
    if corner.entry.ids[corner.argument] == x._id:
        assert (left, right) == (corner.left[0], corner.right[0])
    assert left < back.said / -0.5 + 1e-9 <= right + 1e-9
    assert (back.gap, ahead.gap) != (0, 0)
    assert tape.nudge(y, x, 0.0).gap == 0
