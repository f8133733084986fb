"""The failures that each chapter of the course has its reader see once, and their repairs.

Each must fail in the way that the chapter says, or there is nothing to see. Those of chapters 0 and 16 are
numbers, and are in `test_course_numbers.py`.
"""

import math
from itertools import pairwise

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn

# Chapter 1: writing into an array that the tape still needs ---------------------------------------------------------


def test_writing_into_an_array_that_the_tape_still_needs_changes_no_gradient():
    weights, x = np.array([1.0, 2.0, 3.0]), ad.Variable([4.0, 5.0, 6.0])
    with ad.GradientTape() as tape:
        y = np.sum(x * weights)
        weights[:] = 0.0
    assert tape.gradient(y, x).tolist() == [1.0, 2.0, 3.0]


def test_writing_into_the_array_that_a_tensor_was_made_of_changes_no_gradient():
    numbers = np.array([1.0, 2.0, 3.0])
    x = ad.constant(numbers)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x * x)
    numbers[:] = 0.0
    assert tape.gradient(y, x).tolist() == [2.0, 4.0, 6.0]


def test_the_arrays_that_tensors_hand_out_cannot_be_written_into():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = x * x
    for array in (x.numpy(), y.numpy(), np.asarray(y)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0
    with pytest.raises(TypeError, match=r"np\.where"):
        y[0] = 7.0
    assert tape.gradient(y, x).tolist() == [2.0, 4.0]


# Chapter 2: following paths recursively -----------------------------------------------------------------------------


def follow_paths(tape, target, source):
    """Pull all that has arrived back whenever something arrives; give the sum at the source, and how many visits."""
    sums, made_by, visits = {}, {entry.output_id: entry for entry in tape.entries}, []

    def arrive(id, cotangent):
        sums[id] = sums.get(id, 0.0) + cotangent
        if entry := made_by.get(id):
            visits.append(entry)
            for argument in entry.ids:  # every entry here is an addition, which hands on what it gets
                arrive(argument, sums[id])

    arrive(target._id, 1.0)
    return sums[source._id], len(visits)


def doublings(n):
    a = ad.Variable(1.0)
    with ad.GradientTape(persistent=True) as tape:
        y = a
        for _ in range(n):
            y = y + y
    return tape, y, a


def test_following_paths_on_b_is_a_plus_a_and_c_is_b_plus_b_gives_6_where_the_derivative_is_4():
    tape, c, a = doublings(2)
    assert follow_paths(tape, c, a) == (6.0, 3)
    assert tape.gradient(c, a) == 4.0


def test_the_tape_visits_every_entry_once_and_only_when_all_has_arrived():
    tape, c, a = doublings(2)
    steps = list(tape.steps(c, a))
    assert [step.entry for step in steps] == tape.entries[::-1]
    assert [float(step.cotangent) for step in steps] == [1.0, 2.0]


def test_the_paths_double_with_each_entry_and_the_visits_of_the_tape_do_not():
    tape, y, a = doublings(12)
    assert follow_paths(tape, y, a)[1] == 2**12 - 1
    assert len(list(tape.steps(y, a))) == 12


def test_following_paths_is_wrong_on_a_diamond_too():
    x = ad.Variable(1.0)
    with ad.GradientTape(persistent=True) as tape:
        top = x + 0.0
        left, right = top + 1.0, top + 2.0
        y = left + right
    assert follow_paths(tape, y, x)[0] == 3.0
    assert tape.gradient(y, x) == 2.0


# Chapter 3: (n, 1) - (n,) -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("column", "slope"), [(False, 0.0), (True, 2.0)])
def test_a_fit_goes_flat_in_silence_where_an_n_by_1_prediction_meets_n_targets(column, slope):
    x = np.linspace(-1.0, 1.0, 21)[:, None]
    targets = 2.0 * x[:, 0] + 1.0
    if column:
        targets = targets[:, None]
    w, b = ad.Variable([[3.0]]), ad.Variable([0.0])
    for _ in range(300):
        with ad.GradientTape() as tape:
            loss = np.mean((x @ w + b - targets) ** 2)
        by_w, by_b = tape.gradient(loss, [w, b])
        w.assign_sub(0.3 * by_w)
        b.assign_sub(0.3 * by_b)
    assert w.tolist() == [[pytest.approx(slope, abs=1e-9)]]
    assert b.tolist() == [pytest.approx(1.0)]


def test_the_package_s_own_mean_squared_error_refuses_such_shapes():
    with pytest.raises(ValueError, match=r"\(21, 1\) and a target of shape \(21,\)"):
        nn.mse(ad.constant(np.zeros((21, 1))), np.zeros(21))


# Chapter 5: x = x + 1 -----------------------------------------------------------------------------------------------


def test_x_is_x_plus_1_works_in_the_first_epoch_and_gives_none_in_the_second():
    x, gradients = ad.Variable(2.0, name="x"), []
    for _ in range(2):
        with ad.GradientTape() as tape:
            y = x + 1
        gradients.append(tape.gradient(y, x))
        explanation = tape.explain(y, x)
        x = x + 1
    assert gradients == [1.0, None]
    assert "rebound" in [cause.kind for cause in explanation.causes]
    assert "x.assign(...)" in str(explanation)


def test_assign_add_works_in_every_epoch():
    x, gradients = ad.Variable(2.0), []
    for _ in range(2):
        with ad.GradientTape() as tape:
            y = x * x
        gradients.append(tape.gradient(y, x))
        x.assign_add(1.0)
    assert gradients == [4.0, 6.0]


# Chapter 7: the second gradient() -----------------------------------------------------------------------------------


def test_the_second_gradient_of_a_one_shot_tape_is_an_error_that_names_persistent():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x * x
        z = y * y
    assert tape.gradient(z, x) == 108.0
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)


def test_a_persistent_tape_gives_both():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * y
    assert (tape.gradient(z, x), tape.gradient(y, x)) == (108.0, 6.0)


# Chapter 8: the target left connected -------------------------------------------------------------------------------


@pytest.mark.parametrize(("cut", "slope"), [(False, 0.0), (True, -2.0)])
def test_temporal_difference_learning_does_not_learn_where_its_target_is_left_connected(cut, slope):
    """The values of two states are w and 2w, the reward is 1 and the discount a half, so the error is always -1."""
    w = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        target = 1.0 + 0.5 * (2.0 * w)
        loss = (w - (ad.stop_gradient(target) if cut else target)) ** 2
    assert float(loss) == 1.0
    assert tape.gradient(loss, w) == slope


# Chapter 9: a rule without its cotangent, with a kink, with plain numbers --------------------------------------------


@pytest.mark.parametrize(
    ("backward", "chained"), [(lambda x: lambda dy: 2.0 * x, 6.0), (lambda x: lambda dy: dy * 2.0 * x, 30.0)]
)
def test_a_rule_that_forgets_the_cotangent_is_right_alone_and_wrong_in_a_chain(backward, chained):
    square = ad.custom_gradient(lambda x: (x * x, backward(x)))
    assert ad.grad(square)(3.0) == 6.0
    assert ad.grad(lambda x: 5.0 * square(x))(3.0) == chained


def softplus_with_a_kink(x):
    small = np.exp(-np.abs(x))
    return np.logaddexp(0.0, x), lambda dy: dy * np.where(x >= 0.0, 1.0, small) / (1.0 + small)


def softplus_with_plain_numbers(x):
    slope = 1.0 / (1.0 + np.exp(-x.numpy()))
    return np.logaddexp(0.0, x), lambda dy: dy * slope


def softplus(x):
    return np.logaddexp(0.0, x), lambda dy: dy * np.exp(-np.logaddexp(0.0, -x))


@pytest.mark.parametrize(
    ("f", "wrong_at"),
    [(softplus_with_a_kink, {0.0}), (softplus_with_plain_numbers, {-1.0, 0.0, 1.0}), (softplus, set())],
)
def test_a_rule_can_be_right_once_and_wrong_twice(f, wrong_at):
    f = ad.custom_gradient(f)
    for x in (-1.0, 0.0, 1.0):
        ad.check_gradients(f, x, order=1)
        if x in wrong_at:
            with pytest.raises(AssertionError, match=r"the second derivative of .* is wrong"):
                ad.check_gradients(f, x)
        else:
            ad.check_gradients(f, x)


@pytest.mark.parametrize("convert", [np.asarray, math.exp])
def test_conversions_in_a_rule_are_errors_where_another_tape_records_it(convert):
    with pytest.raises(TypeError, match="takes the plain number"):
        ad.grad(ad.grad(ad.custom_gradient(lambda x: (np.exp(x), lambda dy: dy * convert(x)))))(1.0)


def test_one_mail_breaks_the_filter_or_its_weights_unless_the_gradient_is_clipped():
    mail = np.array([4000.0, 1.0])
    clip = ad.custom_gradient(lambda w: (w, lambda dy: dy / np.maximum(1.0, np.linalg.norm(dy))))
    stable, weights = ad.custom_gradient(softplus), np.array([0.84, -0.88])
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(ad.grad(lambda w: np.log(1.0 + np.exp(w @ mail)))(weights).numpy()).all()
    assert ad.grad(lambda w: stable(w @ mail))(weights).tolist() == [4000.0, 1.0]
    assert np.allclose(ad.grad(lambda w: stable(clip(w) @ mail))(weights), [1.0, 0.00025], rtol=1e-6)


# Chapter 11: a tape that never watched -------------------------------------------------------------------------------


def test_a_tape_that_never_watched_gives_none_beside_one_that_did():
    x = ad.constant(3.0)
    with ad.GradientTape() as watching, ad.GradientTape() as other:
        watching.watch(x)
        y = x * x
    assert (watching.gradient(y, x), other.gradient(y, x)) == (6.0, None)
    assert [cause.kind for cause in other.explain(y, x).causes] == ["never watched"]


# Chapter 12: the first gradient after the outer tape has closed ------------------------------------------------------


@pytest.mark.parametrize("inside", [True, False])
def test_a_first_gradient_taken_after_the_outer_tape_has_closed_has_no_second(inside):
    x = ad.Variable(3.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x**3
        if inside:
            slope = inner.gradient(y, x)
    if not inside:
        slope = inner.gradient(y, x)
    assert slope == 27.0
    assert outer.gradient(slope, x) == (18.0 if inside else None)


# Chapter 14: reading the gradient of a vector as a diagonal ---------------------------------------------------------


def test_the_gradient_of_a_vector_is_the_sum_of_the_jacobian_s_rows_and_not_its_diagonal():
    matrix, x = np.array([[1.0, 2.0], [3.0, 4.0]]), ad.Variable([5.0, 6.0])
    with ad.GradientTape(persistent=True) as tape:
        y = matrix @ x
    jacobian = tape.jacobian(y, x)
    assert jacobian.tolist() == matrix.tolist()
    assert np.diagonal(jacobian).tolist() == [1.0, 4.0]
    assert tape.gradient(y, x).tolist() == np.sum(jacobian, axis=0).tolist() == [4.0, 6.0]


# Chapter 15: Newton walks to the maximum ----------------------------------------------------------------------------


def two_valleys(x):
    return x**4 - 2 * x**2


def newton(x, curvature=lambda h: h, steps=8):
    path = [x]
    for _ in range(steps):
        slope, second = float(ad.grad(two_valleys)(x)), float(ad.hessian(two_valleys)(x))
        x -= slope / curvature(second)
        path.append(x)
    return path


def test_newton_walks_from_0_3_to_the_maximum_at_0():
    path = newton(0.3)
    assert path[1] == pytest.approx(0.3 - 1.092 / 2.92)  # f' is -1.092 and f'' -2.92, worked out by hand
    assert path[-1] == pytest.approx(0.0, abs=1e-12)
    assert two_valleys(path[1]) > two_valleys(path[0])
    assert ad.hessian(two_valleys)(path[-1]) == pytest.approx(-4.0)


def test_newton_with_the_size_of_the_curvature_walks_to_a_minimum():
    path = newton(0.3, curvature=abs)
    assert path[-1] == pytest.approx(1.0, abs=1e-9)
    assert float(ad.hessian(two_valleys)(path[-1])) == pytest.approx(8.0)


# Chapter 16: batch normalisation, and the check that finds it -------------------------------------------------------


@pytest.mark.parametrize("place", [1, 2])
def test_the_independence_check_refuses_batch_normalisation_in_between_and_last(place):
    nn.seed(0)
    x = ad.constant(np.random.default_rng(0).standard_normal((7, 5)))
    layers, normalise = [nn.Dense(8, nn.elu), nn.Dense(6, nn.elu)], nn.BatchNormalization()
    layers.insert(place, lambda y: normalise(y, training=True))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = x
        for layer in layers:
            y = layer(y)
    with pytest.raises(ValueError, match="batch normalisation"):
        tape.batch_jacobian(y, x, check=True)


# Chapter 20: a stack of sigmoids ------------------------------------------------------------------------------------


def test_in_a_stack_of_sigmoids_the_gradient_shrinks_to_a_quarter_or_less_with_each_layer():
    weights = [ad.Variable(1.0) for _ in range(10)]
    with ad.GradientTape() as tape:
        y = 0.5
        for w in weights:
            y = nn.sigmoid(w * y)
    sizes = [abs(float(g)) for g in tape.gradient(y, weights)]
    assert all(earlier < 0.25 * later for earlier, later in pairwise(sizes))
    assert sizes[0] < 0.25**9 < 0.1 < sizes[-1]
