"""The failures that each chapter of the course has its reader see once, and their repairs.

Each must fail in the way that the chapter says, or there is nothing to see. Those of chapters 0 and 19 are
numbers, and are in `test_course_numbers.py`.
"""

import copy
import csv
import math
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.course.chapters import the_tape, watched_or_none
from autodiff_edu.course.contents import OURS

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


@pytest.mark.parametrize(
    ("note", "slopes"), [(lambda x: x, [6, 6, 6]), (lambda x: x[:], [6, 6, 6]), (np.copy, [2, 4, 6])]
)
def test_a_tape_that_copies_nothing_or_slices_has_its_past_changed_with_the_buffer(note, slopes):
    notes, buffer = [], np.zeros(1)
    for reading in (1.0, 2.0, 3.0):
        buffer[0] = reading
        notes.append(note(buffer))
        assert buffer * buffer == reading**2
    assert [2 * float(x[0]) for x in notes] == slopes


def test_the_lines_that_change_the_past_in_exercise_1_2_are_those_that_its_check_wants():
    program = the_tape.PAST.question.split("```")[1].removeprefix("text").strip("\n").splitlines()
    names, notes, culprits = {"np": np, "square": lambda x: notes.append(x)}, [], set()
    for number, line in enumerate(program, 1):
        before = copy.deepcopy(notes)
        exec(line[2:].strip(), names)
        if before and before[0].tolist() != notes[0].tolist():
            culprits.add(number)
    assert culprits == the_tape.CULPRITS


@pytest.mark.parametrize("kind", [np.array, list])
def test_a_buffer_that_is_filled_again_in_each_turn_is_noted_as_it_was(kind):
    x, buffer = ad.Variable([1.0, 1.0, 1.0]), kind([0.0, 0.0, 0.0])
    with ad.GradientTape() as tape:
        for day in (1.0, 2.0, 3.0):
            buffer[:] = [day] * 3
            _ = x * buffer
    assert [entry.values[1].tolist() for entry in tape.entries] == [[1.0] * 3, [2.0] * 3, [3.0] * 3]


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


@pytest.mark.parametrize(
    ("column", "line", "errors"), [(False, (0.0, 4.2018), 342 * 342), (True, (0.4969, 4.1563), 342)]
)
def test_the_penguins_line_goes_flat_as_well(column, line, errors):
    with (OURS.notebooks / "data" / "penguins.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    x = np.array([[float(row["flipper_length_mm"]) / 10.0 - 20.0] for row in rows])
    targets = np.array([float(row["body_mass_g"]) / 1000.0 for row in rows])
    if column:
        targets = targets[:, None]
    w, b = ad.Variable([[0.0]]), ad.Variable([0.0])
    for _ in range(40):
        with ad.GradientTape() as tape:
            error = x @ w + b - targets
            loss = np.mean(error**2)
        by_w, by_b = tape.gradient(loss, [w, b])
        w.assign_sub(0.2 * by_w)
        b.assign_sub(0.2 * by_b)
    assert (w.item(), b.item()) == pytest.approx(line, abs=1e-4)
    assert error.size == errors


def flippers_and_masses():
    with (OURS.notebooks / "data" / "penguins.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    x = np.array([float(row["flipper_length_mm"]) / 10.0 - 20.0 for row in rows])
    return x, np.array([float(row["body_mass_g"]) / 1000.0 for row in rows])


def least_squares(x, targets):
    w, b = np.polyfit(x, targets, 1)
    return np.mean((w * x + b - targets) ** 2)


@pytest.mark.parametrize("column", [False, True])
def test_a_prediction_is_pulled_to_the_mean_of_all_masses_or_to_its_own(column):
    x, masses = flippers_and_masses()
    targets = masses[:, None] if column else masses
    prediction = ad.constant(0.5 * x[:, None] + 4.16)
    with ad.GradientTape() as tape:
        tape.watch(prediction)
        loss = np.mean((prediction - targets) ** 2)
    goal = prediction.numpy() - 342 / 2 * tape.gradient(loss, prediction).numpy()
    assert np.allclose(goal[:, 0], masses if column else masses.mean(), rtol=1e-10)


def test_the_flat_line_s_loss_is_the_variance_of_the_masses_and_the_best_line_s_a_quarter_of_it():
    x, masses = flippers_and_masses()
    assert f"{np.var(masses):.3f}" == "0.641"
    assert f"{least_squares(x, masses):.3f}" == "0.155"
    assert 0.2 < least_squares(x, masses) / np.var(masses) < 0.27
    assert f"{least_squares(x, np.random.default_rng(0).permutation(masses)):.2f}" == "0.64"


@pytest.mark.parametrize("turns_and_rate", [(400, 0.2), (400, 0.05)])
def test_more_turns_and_a_smaller_rate_leave_the_line_flat(turns_and_rate):
    turns, rate = turns_and_rate
    x, masses = flippers_and_masses()
    w = b = 0.0
    for _ in range(turns):
        error = (w * x + b)[:, None] - masses
        w, b = w - 2 * rate * np.mean(error * x[:, None]), b - 2 * rate * np.mean(error)
    assert (w, b) == pytest.approx((0.0, masses.mean()), abs=1e-6)


def test_over_the_whole_table_the_flat_line_beats_the_good_one_and_on_the_diagonal_it_loses():
    x, masses = flippers_and_masses()
    twelve = np.random.default_rng(3).choice(len(masses), size=12, replace=False)
    means = {}
    for whose in (twelve, np.arange(len(masses))):
        for w, b in ((0.5, 4.16), (0.0, masses.mean())):
            squared = ((w * x[whose] + b)[:, None] - masses[whose]) ** 2
            means[len(whose), w] = [f"{mean:.2f}" for mean in (np.mean(np.diag(squared)), np.mean(squared))]
    assert [means[12, w] for w in (0.5, 0.0)] == [["0.18", "1.08"], ["0.62", "0.62"]]
    assert [means[342, w] for w in (0.5, 0.0)] == [["0.15", "1.13"], ["0.64", "0.64"]]


def test_trusts_in_a_column_only_make_the_steps_shorter():
    random = np.random.default_rng(0)
    w, x, targets, trust = ad.Variable(0.5), random.normal(size=9), random.normal(size=9), random.uniform(size=(9, 1))
    with ad.GradientTape(persistent=True) as tape:
        error = w * x - targets
        trusting, plain = np.mean(trust * error**2), np.mean(error**2)
    assert float(trusting) == pytest.approx(np.mean(trust) * float(plain))
    assert float(tape.gradient(trusting, w)) == pytest.approx(np.mean(trust) * float(tape.gradient(plain, w)))


def test_the_package_s_own_mean_squared_error_refuses_such_shapes():
    with pytest.raises(ValueError, match=r"\(21, 1\) and a target of shape \(21,\)"):
        nn.mse(ad.constant(np.zeros((21, 1))), np.zeros(21))


# Chapter 6: x = x + 1 -----------------------------------------------------------------------------------------------


def kettle(step):
    """Fit minutes to litres for six turns; return the losses, the last tape's account and what was fitted."""
    litres, minutes = np.array([0.5, 1.0, 1.5, 2.0]), np.array([1.6, 2.9, 4.4, 5.6])
    pace, losses = ad.Variable(1.0, name="pace"), []
    for _ in range(6):
        with ad.GradientTape() as tape:
            loss = np.mean((pace * litres - minutes) ** 2)
        slope = tape.gradient(loss, pace)
        losses.append(float(loss))
        explanation = tape.explain(loss, pace)
        if slope is not None:
            pace = step(pace, 0.2 * slope)
    return losses, explanation, float(pace)


def test_a_training_loop_that_steps_over_none_stops_learning_in_turn_2_in_silence():
    losses, explanation, pace = kettle(lambda pace, change: pace - change)
    assert losses == [pytest.approx(6.5475), *[pytest.approx(0.4225)] * 5]
    assert pace == pytest.approx(2.4)
    assert not explanation


def test_with_assign_sub_it_learns():
    losses, explanation, pace = kettle(lambda pace, change: pace.assign_sub(change))
    assert losses[-1] == pytest.approx(0.014, abs=0.001)
    assert pace == pytest.approx(2.87, abs=0.005)
    assert explanation


def test_x_is_x_plus_1_works_in_the_first_turn_and_gives_none_in_the_second():
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


@pytest.mark.parametrize(("watches", "step"), [(False, lambda x: x.assign_add(1.0)), (True, lambda x: x + 1)])
def test_a_variable_that_stays_one_has_a_slope_in_both_turns_and_so_has_a_new_tensor_that_is_watched(watches, step):
    x, gradients = ad.Variable(2.0), []
    for _ in range(2):
        with ad.GradientTape() as tape:
            tape.watch([x] if watches else [])
            y = x + 1
        gradients.append(tape.gradient(y, x))
        x = step(x)
    assert gradients == [1.0, 1.0]


def test_where_a_0_arrives_and_where_the_walk_never_gets():
    for value, expected in ((3.0, 0.0), (4.0, 2.0)):
        x, w = ad.Variable(value), ad.Variable(5.0)
        with ad.GradientTape(persistent=True) as tape:
            y = (x - 3.0) ** 2
            z = w * 2.0
        assert (tape.gradient(y, x), tape.gradient(z, x)) == (expected, None)


@pytest.mark.parametrize(
    ("inside", "tensor", "slopes"), [(False, False, [None, None]), (True, False, [6.0, None]), (True, True, [6.0, 1.5])]
)
def test_what_was_computed_before_the_tape_and_what_left_for_numpy_is_lost_each_on_its_own(inside, tensor, slopes):
    x, w = ad.Variable(2.0), ad.Variable(4.0)
    t = x * 3.0
    with ad.GradientTape() as tape:
        if inside:
            t = x * 3.0
        y = t * np.sqrt(w if tensor else w.numpy())
    assert tape.gradient(y, [x, w]) == slopes


@pytest.mark.parametrize(("rounds", "slope", "lines"), [(True, None, 3), (False, 6.25, 3)])
def test_the_glazier_s_total_has_a_slope_if_nothing_is_rounded_on_the_way(rounds, slope, lines):
    width = ad.Variable(1.25)
    with ad.GradientTape() as tape:
        price = width * width * 2.5
        total = (np.round(price, 2) if rounds else price) + 4.0
    assert len(tape.entries) == lines
    assert tape.gradient(total, width) == slope


def test_the_program_and_the_account_of_the_van_are_those_that_its_check_runs():
    notebook = OURS.find("watched-or-none").read()
    cells = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    names = watched_or_none._run({})
    assert names["tape"].gradient(names["cost"], names["speed"]) is None
    account = str(names["tape"].explain(names["cost"], names["speed"])).splitlines()
    assert [line.partition("is None:")[1] for line in account] == ["is None:", "", ""]
    program = [f"{number}   {line}" for number, line in enumerate(watched_or_none.VAN.splitlines(), 1)]
    assert set(account[1:] + program) <= set(cells["ex-2"].splitlines())


# Chapter 7: a value that leaves for NumPy on one path ---------------------------------------------------------------


def slope(f, value):
    x = ad.Variable(value, name="x")
    with ad.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x), tape.explain(y, x)


def tax(income):
    if income <= 20.0:
        return 0.1 * income
    above = income - 20.0
    return 2.0 + 0.2 * above + 0.01 * float(above) * above


def test_half_a_cut_on_one_branch_is_a_number_and_wrong_there_alone():
    lower, upper = slope(tax, 10.0), slope(tax, 40.0)
    assert (float(lower[0]), float(upper[0])) == (pytest.approx(0.1), pytest.approx(0.4))
    assert (tax(40.0 + 1e-6) - tax(40.0 - 1e-6)) / 2e-6 == pytest.approx(0.6)
    assert not lower[1].left_out
    assert [cause.kind for cause in upper[1].left_out] == ["left for NumPy"]


def test_check_gradients_finds_half_a_cut_on_the_branch_that_it_is_given():
    ad.check_gradients(tax, 10.0)
    with pytest.raises(AssertionError):
        ad.check_gradients(tax, 30.0)


def test_a_search_by_halving_has_no_gradient_for_its_argument_only_decides():
    def middle(x):
        low, high = 0.0, 10.0
        for _ in range(40):
            half = (low + high) / 2
            low, high = (half, high) if half**3 < x else (low, half)
        return ad.constant(half)

    gradient, explanation = slope(middle, 8.0)
    assert gradient is None
    assert [cause.kind for cause in explanation.causes] == ["decides"]


# Chapter 8: the second gradient() -----------------------------------------------------------------------------------


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


# Chapter 9: the target left connected -------------------------------------------------------------------------------


def worth(goal_of, value_of=lambda v: v, fee=0.5, win=1.0):
    """Learn what a game is worth: half of the time it brings `win`; else it costs the fee and goes on."""
    v = ad.Variable(0.0)
    for _ in range(60):
        with ad.GradientTape() as tape:
            loss = ((v - win) ** 2 + (value_of(v) - goal_of(v - fee)) ** 2) / 2
        v.assign_sub(0.3 * tape.gradient(loss, v))
    return float(v), float(loss)


@pytest.mark.parametrize(
    ("arguments", "learned"),
    [
        ({"goal_of": lambda goal: goal}, 1.0),
        ({"goal_of": lambda goal: goal, "fee": 2.0}, 1.0),
        ({"goal_of": ad.stop_gradient}, 0.5),
        ({"goal_of": lambda goal: goal, "value_of": ad.stop_gradient}, 1.5),
        ({"goal_of": lambda goal: goal, "fee": 0.0}, 1.0),
        ({"goal_of": ad.stop_gradient, "fee": 0.0}, 1.0),
    ],
)
def test_a_connected_goal_makes_the_fee_free_where_the_goals_scatter(arguments, learned):
    assert worth(**arguments)[0] == pytest.approx(learned, abs=5e-4)


def test_the_wrong_worth_has_the_smaller_loss_and_averaged_goals_need_no_cut():
    assert worth(lambda goal: goal)[1] == pytest.approx(0.125)
    assert worth(ad.stop_gradient)[1] == pytest.approx(0.25)
    v = ad.Variable(0.0)
    for _ in range(60):
        with ad.GradientTape() as tape:
            loss = (v - (1.0 + (v - 0.5)) / 2) ** 2
        v.assign_sub(0.3 * tape.gradient(loss, v))
    assert float(v) == pytest.approx(0.5, abs=5e-4)


# Chapter 13: a rule without its cotangent, with a kink, with plain numbers --------------------------------------------


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


def test_a_where_in_place_of_abs_repairs_the_second_derivative_at_0():
    def one_formula(x):
        small = np.exp(-np.where(x >= 0.0, x, -x))
        return np.logaddexp(0.0, x), lambda dy: dy * np.where(x >= 0.0, 1.0, small) / (1.0 + small)

    for x in (-1.0, 0.0, 1.0):
        ad.check_gradients(ad.custom_gradient(one_formula), x)


@pytest.mark.parametrize(("inner", "outer"), [(np.greater, np.greater_equal), (np.greater_equal, np.greater)])
def test_two_wheres_that_part_at_0_are_wrong_again(inner, outer):
    def two_formulas(x):
        small = np.exp(-np.where(inner(x, 0.0), x, -x))
        return np.logaddexp(0.0, x), lambda dy: dy * np.where(outer(x, 0.0), 1.0, small) / (1.0 + small)

    f = ad.custom_gradient(two_formulas)
    with pytest.raises(AssertionError, match=r"the second derivative of .* is wrong"):
        ad.check_gradients(f, 0.0)
    for x in (-1.0, 1.0):
        ad.check_gradients(f, x)


def test_an_if_in_a_saved_rule_is_saved_the_way_it_went_with_the_example(tmp_path):
    @ad.custom_gradient
    def clip(x):
        return x, lambda dy: 0.5 + 0.0 * dy if dy > 0.5 else dy

    with pytest.warns(UserWarning, match="the path taken with the examples is saved"):
        ad.save(clip, tmp_path / "clip.ad", 1.0)
    assert ad.grad(lambda x: 0.1 * clip(x))(2.0) == 0.1
    assert ad.grad(lambda x: 0.1 * ad.load(tmp_path / "clip.ad")(x))(2.0) == 0.5


def test_in_32_bits_the_textbook_s_slope_is_0_at_minus_17():
    def slope(x):
        return 1 - 1 / (1 + np.exp(np.float32(x)))

    assert slope(-17.0).dtype == np.float32
    assert slope(-17.0) == 0.0 < slope(-16.0)


def test_plain_numbers_in_a_rule_and_cancellation_pass_at_the_far_ends():
    textbook = ad.custom_gradient(lambda x: (np.logaddexp(0.0, x), lambda dy: dy * (1.0 - 1.0 / (1.0 + np.exp(x)))))
    ad.check_gradients(textbook, -40.0)
    for x in (-40.0, 1000.0):
        ad.check_gradients(ad.custom_gradient(softplus_with_plain_numbers), x)


def test_two_contributions_in_the_wrong_order_are_noticed_except_where_they_are_equal():
    def shares(a, b):
        first, second = np.exp(-np.logaddexp(0.0, b - a)), np.exp(-np.logaddexp(0.0, a - b))
        return first, second

    right = ad.custom_gradient(lambda a, b: (np.logaddexp(a, b), lambda dy: tuple(dy * s for s in shares(a, b))))
    swapped = ad.custom_gradient(lambda a, b: (np.logaddexp(a, b), lambda dy: tuple(dy * s for s in shares(b, a))))
    single = ad.custom_gradient(lambda a, b: (np.logaddexp(a, b), lambda dy: dy * shares(a, b)[0]))
    ad.check_gradients(right, 1.0, 3.0)
    ad.check_gradients(swapped, 1.0, 1.0)
    with pytest.raises(AssertionError, match="the first derivative of"):
        ad.check_gradients(swapped, 1.0, 3.0)
    with pytest.raises(ValueError, match="returned 1 gradient"):
        ad.check_gradients(single, 1.0, 3.0)


# Chapter 12: a where whose other branch is not finite ----------------------------------------------------------------


def chapter_12():
    """Run the cells of the chapter that define its functions and its two runs."""
    notebook = OURS.find("not-a-number").read()
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    names = {"np": np, "ad": ad}
    exec(sources["imports"][sources["imports"].index("def fit") :], names)
    for id in ("dome-1", "which-1", "joined-1", "double-1", "exp-3", "clip-1", "clip-4"):
        with np.errstate(all="ignore"):
            exec(sources[id], names)
    exec(sources["exp-1"].partition("\n\n\n")[0], names)
    return names


@pytest.fixture(scope="module")
def dome():
    return chapter_12()


def test_the_run_dies_at_step_37_though_every_loss_is_finite_and_lives_with_a_double_where(dome):
    died, lived = dome["died"], dome["lived"]
    assert np.isfinite(died[:, 0]).all()
    assert np.isfinite(died[:36]).all()
    assert np.isnan(died[36, 3:]).all()
    square = died[36, 2] ** 2 - (dome["spots"] - died[36, 1]) ** 2
    assert square[0] == pytest.approx(-0.54, abs=0.005)  # far from 0, so that no CPU's last bit moves the step
    assert lived[:37, 0] == pytest.approx(died[:37, 0], rel=1e-12)
    assert lived[-1, 1:3] == pytest.approx([1.0, 4.5], abs=0.02)

    def plus_tiny(centre, radius):
        square = radius**2 - (dome["spots"] - centre) ** 2
        return np.where(square > 0.0, np.sqrt(square + 1e-12), 0.0)

    with np.errstate(invalid="ignore"):
        at_once = dome["fit"](dome["height"], 0.0, 5.0, 0.008, 3)
        tiny = dome["fit"](plus_tiny, 0.0, 9.0, 0.008, 37)
    assert np.isnan(at_once[0, 3:]).all()
    assert np.isfinite(tiny[:36]).all()
    assert np.isnan(tiny[36, 3:]).all()


def test_the_run_leaps_away_with_one_enormous_slope_and_does_not_if_it_is_clipped(dome):
    wrecked = dome["wrecked"]
    assert wrecked[7, 3:] == pytest.approx([-141.3, -139.7], abs=0.1)
    assert abs(wrecked[7, 3]) > 100 * abs(wrecked[6, 3])
    assert wrecked[8, 1] - wrecked[7, 1] == pytest.approx(14.0, abs=0.2)
    assert wrecked[-1, 0] == pytest.approx(np.mean(dome["measured"] ** 2))  # the loss of no dome at all
    for clip in (dome["by_value"], dome["by_norm"]):
        clipped = dome["fit"](dome["safe_height"], -2.5, 2.5, 0.1, 120, clip)
        assert clipped[-1, 1:3] == pytest.approx([1.0, 4.51], abs=0.01)
        short = dome["fit"](dome["safe_height"], -2.5, 2.5, 0.1, 120, lambda slopes, clip=clip: clip(slopes, 0.1))
        assert short[-1, 1] < -1.0  # on the way


def test_each_part_of_a_double_where_has_its_job(dome):
    both, scaled = dome["both"], dome["scaled"]
    x, a = ad.Variable(-1.0), ad.Variable(2.0)

    def look(f, *sources):
        with np.errstate(all="ignore"):
            with ad.GradientTape() as tape:
                y = f()
            return [float(y), *map(float, tape.gradient(y, sources))]

    outer_alone = look(lambda: np.where(x > 0.0, np.sqrt(x), 0.0), x)
    assert outer_alone == [0.0, pytest.approx(np.nan, nan_ok=True)]
    assert look(lambda: dome["inner"](x), x) == [1.0, 0.0]
    spoilt, spoilt_within = [], []
    for filler in (1.0, 0.0, -1.0, np.nan):
        assert look(lambda filler=filler: both(x, filler), x) == [0.0, 0.0]
        value, to_x, to_a = look(lambda filler=filler: scaled(x, a, filler), x, a)
        assert (value, to_x) == (0.0, 0.0)
        spoilt.append(np.isnan(to_a))
        within = look(lambda filler=filler: np.where(x > 0.0, np.sqrt(a * np.where(x > 0.0, x, filler)), 0.0), x, a)
        spoilt_within.append(np.isnan(within[2]))
    assert spoilt == [False, False, True, True]
    assert spoilt_within == [False, True, True, True]


def test_exp_overflows_beyond_88_7_in_32_bits_and_log_sum_exp_never(dome):
    with np.errstate(over="ignore", invalid="ignore"):
        assert [bool(np.isinf(np.exp(np.float32(s)))) for s in (40, 88.7, 88.8, 90)] == [False, False, True, True]
        assert [bool(np.isinf(np.exp(s))) for s in (709.7, 709.8)] == [False, True]
        for scores in (np.array([100.0, 98.0, 0.0]), np.array([1000.0, 998.0, 0.0])):
            for bits in (np.float64, np.float32):
                assert float(dome["stable_loss"](scores.astype(bits), 1)) == pytest.approx(2.127, abs=5e-4)
        naive = dome["naive_loss"](ad.Variable(np.float32([100, 98, 0])), 1)
        assert np.isnan(float(naive))
        guarded = dome["naive_loss"](np.minimum(ad.Variable(np.float32([100, 98, 0])), 88), 1)
        assert float(guarded) == pytest.approx(0.69, abs=0.005)  # finite, and far from 2.127


# Chapter 10: a tape that never watched -------------------------------------------------------------------------------


def test_a_tape_that_never_watched_gives_none_beside_one_that_did():
    x = ad.constant(3.0)
    with ad.GradientTape() as watching, ad.GradientTape() as other:
        watching.watch(x)
        y = x * x
    assert (watching.gradient(y, x), other.gradient(y, x)) == (6.0, None)
    assert [cause.kind for cause in other.explain(y, x).causes] == ["never watched"]


# Chapter 11: the first gradient after the outer tape has closed ------------------------------------------------------


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


def test_an_input_gradient_taken_before_the_outer_tape_begins_is_left_out_of_a_loss_without_a_sign():
    w, x = ad.Variable(2.0), ad.constant(3.0)

    def input_gradient():
        with ad.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x)
            y = w * w * x
        return inner.gradient(y, x)

    early = input_gradient()
    with ad.GradientTape() as outer:
        late = w + early
    with ad.GradientTape() as whole:
        nested = w + input_gradient()
    assert late == nested
    assert (outer.gradient(late, w), whole.gradient(nested, w)) == (1.0, 5.0)


def test_a_tape_that_begins_to_watch_between_the_two_walks_finds_half_of_the_second_derivative():
    slopes = {}
    for late in (False, True):
        x, y = ad.constant(3.0), ad.constant(2.0)
        with ad.GradientTape() as outer:
            if not late:
                outer.watch(x)
            with ad.GradientTape() as inner:
                inner.watch(y)
                z = x * y * y
            if late:
                outer.watch(x)
            slope = inner.gradient(z, y)
        slopes[late] = slope, outer.gradient(slope, x)
    assert slopes == {False: (12.0, 4.0), True: (12.0, 2.0)}


# Chapter 14: the same function, two gradients -------------------------------------------------------------------------


def two_relus(bonus):
    return bonus**2 - (nn.relu(bonus) - 2 * nn.relu(-bonus))


def one_where(bonus):
    return bonus**2 - np.where(bonus > 0, bonus, 2 * bonus)


def walk(loss, bonus):
    for _ in range(30):
        bonus -= 0.1 * float(ad.grad(loss)(bonus))
    return bonus


def test_two_relus_keep_the_bonus_at_0_where_the_slopes_are_minus_2_and_minus_1():
    bonus = ad.Variable(0.0)
    with ad.GradientTape() as tape:
        target = two_relus(bonus)
    assert [corner.text for corner in tape.corners(target, bonus)] == [
        "any slope from 0 to 1 fits; this rule takes 0"
    ] * 2
    assert walk(two_relus, 0.0) == 0.0
    h = 0.001
    assert (two_relus(0.0) - two_relus(-h)) / h == pytest.approx(-2, abs=2 * h)
    assert (two_relus(h) - two_relus(0.0)) / h == pytest.approx(-1, abs=2 * h)


def test_the_same_loss_with_one_where_walks_to_the_best_bonus_and_so_do_two_relus_that_start_beside_the_corner():
    for bonus in np.linspace(-1, 1, 21):
        assert float(two_relus(bonus)) == pytest.approx(float(one_where(bonus)))
    assert walk(one_where, 0.0) == pytest.approx(0.5, abs=0.001)
    assert walk(two_relus, 0.001) == pytest.approx(0.5, abs=0.001)


def test_gain_less_loss_is_a_straight_line_and_two_relus_give_it_the_slope_0():
    assert float(ad.grad(lambda x: nn.relu(x) - nn.relu(-x))(0.0)) == 0.0
    assert float(ad.grad(lambda x: np.maximum(x, 0) - np.maximum(-x, 0))(0.0)) == 1.0


# Chapter 15: the wrong mode -------------------------------------------------------------------------------------------


def numbers_moved(f, x, mode):
    moved = []

    def listen(event):
        if type(event).__name__ == "PushForward":
            moved.append(event.tangent.size)
        if type(event).__name__ == "PullBack":
            moved.append(event.cotangent.size)

    with ad.hook(listen):
        ad.jacobian(f, mode=mode)(x)
    return sum(moved)


@pytest.mark.parametrize(
    ("f", "x", "right", "wrong"),
    [
        (lambda rate: np.sin(rate * np.ones(1000)), 0.3, "forward", "reverse"),
        (lambda weights: np.sum(np.tanh(weights) ** 2), np.linspace(-1.0, 1.0, 1000), "reverse", "forward"),
    ],
)
def test_the_wrong_mode_carries_a_thousand_times_as_many_numbers(f, x, right, wrong):
    assert numbers_moved(f, x, wrong) == 1000 * numbers_moved(f, x, right)
    assert np.allclose(ad.jacobian(f, mode=wrong)(x).numpy(), ad.jacobian(f, mode=right)(x).numpy(), rtol=1e-12)


def test_one_by_one_the_walks_from_a_curve_carry_more_than_400_times_as_many_numbers_as_one_forward_pass():
    def curve(rate, steps):
        healthy, ill, points = 0.999, 0.001, []
        for _ in range(steps):
            caught = 0.1 * rate * healthy * ill
            healthy, ill = healthy - caught, ill + caught - 0.01 * ill
            points.append(ill)
        return points

    def one_by_one(steps):
        rate, moved = ad.Variable(0.3), []
        with ad.GradientTape(persistent=True) as tape:
            points = curve(rate, steps)
        with ad.hook(lambda event: moved.append(type(event).__name__ == "PullBack" and event.cotangent.size)):
            for point in points:
                tape.gradient(point, rate)
        return sum(moved)

    def expected(steps):  # the walk from point k reaches back 7 entries a step, but for 2 of them at the start
        return 7 * steps * (steps + 1) // 2 - 2 * steps

    assert [one_by_one(steps) for steps in (1, 10, 60)] == [expected(steps) for steps in (1, 10, 60)]
    forward = numbers_moved(lambda rate: np.stack(curve(rate, 1000)), 0.3, "forward")
    assert forward == 7_999
    assert expected(1000) == 3_501_500 > 400 * forward


# Chapter 16: reading the gradient of a vector as a diagonal ---------------------------------------------------------


def test_the_gradient_of_a_vector_is_the_sum_of_the_jacobian_s_rows_and_not_its_diagonal():
    matrix, x = np.array([[1.0, 2.0], [3.0, 4.0]]), ad.Variable([5.0, 6.0])
    with ad.GradientTape(persistent=True) as tape:
        y = matrix @ x
    jacobian = tape.jacobian(y, x)
    assert jacobian.tolist() == matrix.tolist()
    assert np.diagonal(jacobian).tolist() == [1.0, 4.0]
    assert tape.gradient(y, x).tolist() == np.sum(jacobian, axis=0).tolist() == [4.0, 6.0]


# Chapter 17: start on a hillside ------------------------------------------------------------------------------------


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


def test_the_size_of_the_curvature_points_downhill_and_still_jumps_to_2_42_if_nobody_tries_the_step():
    path = newton(0.3, curvature=abs)
    assert two_valleys(path[1]) == pytest.approx(-0.7021, abs=1e-4)
    assert two_valleys(path[2]) == pytest.approx(2.42, abs=5e-3)
    half = (path[1] + path[2]) / 2
    assert two_valleys(half) < two_valleys(path[1])


def test_damping_by_more_than_the_most_negative_eigenvalue_turns_the_step_from_the_saddle_to_a_valley():
    def pass_between(p):
        return p[0] ** 2 + two_valleys(p[1])

    q = np.array([0.6, 0.3])
    gradient, hessian = ad.grad(pass_between)(q).numpy(), ad.hessian(pass_between)(q).numpy()
    assert np.linalg.eigvalsh(hessian) == pytest.approx([-2.92, 2.0])
    plain, damped = (-np.linalg.solve(hessian + damping * np.eye(2), gradient) for damping in (0.0, 4.0))
    assert (q + plain)[1] == pytest.approx(-0.074, abs=1e-3)
    assert (q + damped)[1] == pytest.approx(1.311, abs=1e-3)


# Chapter 19: batch normalisation, and the check that finds it -------------------------------------------------------


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


# Chapter 23: a branch that is recorded once ---------------------------------------------------------------------------


def penalty(x):
    return x * x if x < 1.0 else 2.0 * x - 1.0


def test_a_program_without_guards_keeps_the_branch_that_was_recorded():
    x = ad.constant(0.5, name="x")
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = penalty(x)
    names = {"x": np.float64(3.0)}
    exec("\n".join(line for line in str(tape.code(y, x)).splitlines() if not line.startswith("x = ")), names)
    assert names["gradient"] == 6.0
    compiled = ad.compile(ad.grad(penalty))
    assert [float(compiled(value)) for value in (0.5, 3.0)] == [1.0, 2.0]


# Chapter 25: differentiating the last turn only ---------------------------------------------------------------------


@pytest.mark.parametrize("rate", [1.2, 1.5, 3.0])
def test_the_last_turn_only_is_off_by_one_minus_its_slope_and_newtons_last_turn_by_nothing(rate):
    def turn(z, rate):
        return 1.0 - np.exp(-(rate * z))

    def newton_turn(z, rate):
        return z - (z - turn(z, rate)) / (1.0 - rate * np.exp(-(rate * z)))

    z = 1.0
    for _ in range(500):
        z = turn(z, rate)
    h, shares = 1e-6, [1.0, 1.0]
    for _ in range(500):
        shares = [turn(shares[0], rate - h), turn(shares[1], rate + h)]
    true = (shares[1] - shares[0]) / (2 * h)
    alone = float(ad.grad(lambda rate: turn(z, rate))(rate))
    factor = 1.0 - float(ad.grad(lambda z: turn(z, rate))(z))
    assert 0.1 < factor < 0.9
    assert alone / true == pytest.approx(factor, rel=1e-6)
    assert float(ad.grad(lambda rate: newton_turn(z, rate))(rate)) == pytest.approx(true, rel=1e-6)


def test_with_a_plain_number_in_backward_the_second_derivative_is_wrong():
    def share(rate):
        z = 1.0
        for _ in range(200):
            z = 1.0 - np.exp(-rate * z)
        return z

    def shared(again):
        @ad.custom_gradient
        def solved(rate):
            z = share(float(rate))

            def backward(dz):
                inside = solved(rate) if again else z
                escaped = np.exp(-(rate * inside))
                return dz * inside * escaped / (1.0 - rate * escaped)

            return z, backward

        return solved

    ad.check_gradients(shared(again=True), 1.5, order=3)
    ad.check_gradients(shared(again=False), 1.5, order=1)
    with pytest.raises(AssertionError, match="the second derivative of solved is wrong"):
        ad.check_gradients(shared(again=False), 1.5)


# Chapter 22: recomputing with other random numbers --------------------------------------------------------------------


def dropout_from(random):
    return lambda x: 2.0 * x * (random.random(8) < 0.5)


def recomputed(f):
    @ad.custom_gradient
    def run(x):
        plain = x.numpy()

        def backward(dy):
            again = ad.constant(plain)
            with ad.GradientTape() as small:
                small.watch(again)
                y = f(again)
            return small.gradient(y, again, output_gradients=dy)

        return f(plain), backward

    return run


def test_a_second_run_that_draws_again_gives_the_gradient_of_another_function_silently():
    x, masks = ad.Variable(np.ones(8)), np.random.default_rng(7)
    with ad.GradientTape() as tape:
        y = recomputed(dropout_from(np.random.default_rng(7)))(x)
    assert len(tape.entries) == 1
    first, second = (2.0 * (masks.random(8) < 0.5) for _ in range(2))
    assert y.tolist() == first.tolist() == [0, 0, 0, 2, 2, 0, 2, 0]
    assert tape.gradient(y, x).tolist() == second.tolist() == [0, 2, 2, 2, 2, 2, 0, 0]


def test_a_checkpoint_notices_that_the_second_run_draws_again():
    x = ad.Variable(np.ones(8))
    with ad.GradientTape() as tape:
        y = ad.checkpoint(dropout_from(np.random.default_rng(7)))(x)
    with pytest.raises(ValueError, match="If it draws random numbers, draw them outside and pass them"):
        tape.gradient(y, x)


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x, kept: 2.0 * x * kept, np.arange(8) % 3 < 1),
        (lambda x, seed: dropout_from(np.random.default_rng(seed))(x), 5),
    ],
)
def test_a_mask_or_a_seed_that_is_passed_in_is_the_same_in_both_runs(f, what):
    x = ad.Variable(np.ones(8))
    with ad.GradientTape() as tape:
        y = ad.checkpoint(f)(x, what)
    assert 0 < np.count_nonzero(y.numpy()) < 8
    assert tape.nbytes == 64 + 64 + (8 if f.__code__.co_varnames[1] == "kept" else 0)  # a mask has a byte per element
    assert tape.gradient(y, x).tolist() == y.tolist()


def test_a_loop_that_has_gone_on_and_an_assignment_are_noticed():
    x = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = x
        for factor in (2.0, 3.0):
            y = ad.checkpoint(lambda y: factor * y)(y)  # noqa: B023 (that's the mistake)
    with pytest.raises(ValueError, match="returned different numbers when it ran again"):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="would assign twice"), ad.GradientTape():
        ad.checkpoint(lambda: x.assign(2.0 * x))()


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


def penguins():
    with (Path(__file__).parents[2] / "notebooks/data/penguins.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    measured = np.array([[float(row["flipper_length_mm"]), float(row["body_mass_g"])] for row in rows])
    learn = np.arange(len(rows)) % 5 > 0
    names = np.array([["Adelie", "Chinstrap", "Gentoo"].index(row["species"]) for row in rows])
    return (measured[learn] - measured[learn].mean(axis=0)) / measured[learn].std(axis=0), names[learn]


def ten_layers(activation, factor, turns=0):
    """The norm of each kernel's gradient in chapter 20's deep network, and its loss, after so many turns."""
    x, y = penguins()
    nn.seed(13)
    hidden, last = [nn.Dense(8, activation) for _ in range(10)], nn.Dense(3)
    optimizer = nn.SGD(0.1)

    def loss():
        a = x
        for layer in hidden:
            a = layer(a)
        return nn.softmax_cross_entropy(last(a), y)

    loss()
    for layer in hidden:
        layer.kernel.assign(factor * layer.kernel)
    variables = [v for layer in (*hidden, last) for v in layer.variables]
    for turn in range(turns + 1):
        with ad.GradientTape() as tape:
            value = loss()
        gradients = tape.gradient(value, variables)
        if turn < turns:
            optimizer.apply(gradients, variables)
    return [float(np.linalg.norm(g)) for g in gradients[:20:2]], float(value)


def test_kernels_that_are_too_small_vanish_and_too_large_explode_with_slope_1_too():
    (tanh, _), (tanh_half, _), (tanh_four, _) = (ten_layers(np.tanh, factor) for factor in (1.0, 0.5, 4.0))
    (relu, _), (relu_half, _), (relu_four, loss) = (ten_layers(nn.relu, factor) for factor in (1.0, 0.5, 4.0))
    assert all(240 < a / b < 310 for a, b in zip(tanh, tanh_half, strict=True))
    assert all(500 < a / b < 530 for a, b in zip(relu, relu_half, strict=True))  # 2 to the power of 9 is 512
    assert 1e3 < min(relu_four) < max(relu_four) < 7e3
    assert all(1.6e5 < a / b < 1.5e6 for a, b in zip(relu_four, relu, strict=True))
    assert max(tanh_four) < 6.0
    assert round(loss) == 5414
    he, _ = ten_layers(nn.relu, np.sqrt(2.0))
    assert 0.1 < min(he) < max(he) < 0.4


@pytest.mark.parametrize(("activation", "factor"), [(nn.sigmoid, 1.0), (nn.relu, 4.0)])
def test_sigmoids_and_dead_relus_learn_the_last_bias_only(activation, factor):
    _, y = penguins()
    shares = np.bincount(y) / len(y)
    norms, loss = ten_layers(activation, factor, turns=200)
    assert f"{loss:.4f}" == f"{-np.sum(shares * np.log(shares)):.4f}" == "1.0497"
    assert max(norms[:5]) < 1e-4
    assert (norms == [0.0] * 10) == (activation is nn.relu)


# Chapter 27: a block that is not independent ------------------------------------------------------------------------


def first_slopes(scale):
    """The first slope of a linear fit whose rows are scaled in 8, 4 and 2 blocks; blocks differ in their means."""
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(80, 2))
    rows[:, 0] += np.repeat(np.arange(8.0), 10)
    wanted = rows @ [3.0, -2.0]

    def slope(x):
        return float(ad.grad(lambda w: np.mean((x @ w - wanted) ** 2))(np.zeros(2))[0])

    return [slope(np.concatenate(scale(np.split(rows, count)))) for count in (8, 4, 2)]


def test_scaling_block_by_block_gives_a_gradient_that_depends_on_the_cuts():
    found = first_slopes(lambda blocks: [(b - b.mean(axis=0)) / b.std(axis=0) for b in blocks])
    assert min(abs(a - b) for a, b in pairwise(found)) > 0.1


def test_scaling_by_what_all_blocks_send_does_not():
    def scale(blocks):
        rows = sum(len(b) for b in blocks)
        mean = sum(b.sum(axis=0) for b in blocks) / rows
        spread = np.sqrt(sum((b**2).sum(axis=0) for b in blocks) / rows - mean**2)
        return [(b - mean) / spread for b in blocks]

    found = first_slopes(scale)
    assert found == pytest.approx([found[0]] * 3, rel=1e-9)


# Appendix B: the wrong pattern ----------------------------------------------------------------------------------------


def wire_forces(h):
    wire = np.concatenate([[0.0, 0.0], h, [0.0, 0.0]])
    steep = wire[2:-1] - wire[1:-2]
    pull, bend = steep + steep**3, wire[2:] - 2 * wire[1:-1] + wire[:-2]
    return pull[1:] - pull[:-1] - 4 / len(steep) - (bend[2:] - 2 * bend[1:-1] + bend[:-2])


def band(n, reach):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= reach


@cache
def forces_left(reach, turns):
    """The forces before each of Newton's turns; its equations are solved as the band that they are."""
    jacobian, h, left = ad.jacobian(wire_forces, sparsity=band(1000, reach)), np.zeros(1000), []
    for _ in range(turns):
        left.append(np.abs(wire_forces(h)).sum())
        h = h - spsolve(jacobian(h).tocsr(), wire_forces(h))
    return left


def test_a_number_that_the_pattern_leaves_out_is_added_to_another_row_of_its_colour_or_lost():
    h = np.array([-3.0, -5.0, -6.0, -6.0, -5.0, -3.0])
    true = ad.jacobian(wire_forces)(h).numpy()
    expected = np.where(band(6, 1), true, 0.0)
    for row, column in np.argwhere(band(6, 2) & ~band(6, 1)):
        other = row + 3 if row < column else row - 3
        if 0 <= other < 6:
            expected[other, column] += true[row, column]
    assert expected[3, 2] - true[3, 2] == true[0, 2] == -1.0
    assert np.array_equal(ad.jacobian(wire_forces, sparsity=band(6, 1))(h).toarray(), expected)
    with pytest.raises(
        ValueError, match=r"leaves out row 2, column 0: element \[2\] of the value depends on element \[0\]"
    ):
        ad.jacobian(wire_forces, sparsity=band(6, 1), check=True)(h)
    assert np.array_equal(ad.jacobian(wire_forces, sparsity=band(6, 2), check=True)(h).toarray(), true)


def test_newton_with_the_wrong_pattern_is_slow_without_a_word_and_with_the_right_one_is_not():
    wrong, right = forces_left(1, 71), forces_left(2, 7)
    assert wrong[6] > wrong[5] / 2 > 0.1
    assert right[6] < 1e-7
    assert right[5] < right[4] / 100


def test_the_wrong_pattern_comes_to_rest_in_the_same_place_after_ten_times_as_many_turns():
    wrong, right = forces_left(1, 71), forces_left(2, 7)
    assert right[6] < 1e-8 < right[5]
    assert wrong[50] > 1e-8 > wrong[70]


# Chapter 28: a loss of almost nothing, without the beginning ----------------------------------------------------------


def cooled(with_the_beginning):
    """Train chapter 28's network, whose slope is written by hand here; return the losses' ends and the errors."""
    draw, x = np.random.default_rng(5), np.linspace(0.0, 3.0, 20)
    w, b, a = draw.normal(size=(3, 5))
    weights, optimizer, losses = [ad.Variable(value) for value in (w, b, a / 5)], nn.Adam(0.02), []
    w, b, a = weights
    for _ in range(1001):
        with ad.GradientTape() as tape:
            bent = np.tanh(x[:, None] * w + b)
            loss = np.mean(((1.0 - bent**2) @ (w * a) + bent @ a) ** 2)
            equation = float(loss)
            if with_the_beginning:
                loss = loss + (np.tanh(b) @ a - 1.0) ** 2
        losses.append(equation)
        optimizer.apply(tape.gradient(loss, weights), weights)

    def worst(x):
        return np.abs(np.tanh(x[:, None] * w.numpy() + b.numpy()) @ a.numpy() - np.exp(-x)).max()

    return losses[0], losses[-1], worst(x), worst(np.linspace(3.0, 6.0, 61))


def test_without_its_beginning_a_network_has_a_loss_below_a_millionth_and_solves_nothing():
    first, last, error, _ = cooled(with_the_beginning=False)
    assert f"{first:.1f}" == "0.5"
    assert last < 1e-6
    assert first / last > 1e5
    assert f"{error:.1f}" == "1.0"


def test_with_its_beginning_it_is_right_inside_and_about_40_times_further_off_outside():
    _, last, inside, outside = cooled(with_the_beginning=True)
    assert f"{last:.0e}" == "2e-05"
    assert f"{inside:.3f}" == "0.002"
    assert f"{outside:.2f}" == "0.09"
    assert 38 < outside / inside < 43


def test_a_mask_after_the_softmax_leaves_shares_that_do_not_add_up_to_1():
    scores, past = np.array([[1.0, 3.0], [2.0, 2.0]]), np.tri(2, dtype=bool)
    late = nn.softmax(scores) * past
    assert np.sum(late, axis=1).tolist() == pytest.approx([1.0 / (1.0 + math.exp(2.0)), 1.0])
    by_zero = nn.softmax(scores * past)
    assert float(by_zero[0, 1]) > 0.2  # exp(0) is 1: the future keeps a share
    assert nn.softmax(np.where(past, scores, -np.inf))[0].tolist() == [1.0, 0.0]
