"""The numbers that the course promises, chapter by chapter, computed in the way in which a chapter computes them.

They were measured on TensorFlow 2.21 or worked out by hand. The failures that a reader is to see once are in
`test_course_failures.py`.
"""

import itertools
import math
from collections import Counter
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from answers import a_project as project_answers
from differences import assert_derivatives, central_differences
from scipy.sparse.linalg import spsolve

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.course.chapters import project_tape
from autodiff_edu.course.contents import OURS

SEED = 0  # of the kernels, and of the inputs


@pytest.fixture
def x():
    """The input of the layers: 7 samples of 5 numbers."""
    nn.seed(SEED)
    return ad.constant(np.random.default_rng(SEED).standard_normal((7, 5)), name="x")


# Chapter 0: a slope by differences ----------------------------------------------------------------------------------


def test_the_central_difference_of_exp_at_1_is_off_by_6e_11_at_h_1e_minus_5_and_by_2e_minus_4_at_1e_minus_12():
    def error(h):
        return abs((math.exp(1 + h) - math.exp(1 - h)) / (2 * h) - math.e)

    assert f"{error(1e-5):.0e}" == "6e-11"
    assert f"{error(1e-12):.0e}" == "2e-04"
    assert all(error(1e-5) <= error(10.0**-k) for k in range(1, 15))
    assert float(ad.grad(np.exp)(1.0)) == math.e


def penguins(turns, slopes_of):
    """Fit chapter 0's line; `slopes_of(loss, tilt, height)` measures."""
    data = Path(__file__).parents[2] / "notebooks/data/penguins.csv"
    flipper, mass = np.loadtxt(data, delimiter=",", skiprows=1, usecols=(1, 2), unpack=True)
    flipper, mass = (flipper - 200) / 10, mass / 1000

    def loss(tilt, height):
        return np.mean((tilt * flipper + height - mass) ** 2)

    tilt, height = 0.0, 4.0
    for _ in range(turns):
        by_tilt, by_height = slopes_of(loss, tilt, height)
        tilt, height = tilt - 0.2 * by_tilt, height - 0.2 * by_height
    return loss, tilt, height


def test_the_penguins_loss_falls_from_0_6820_to_0_6622_with_a_hundredth_of_tilt():
    loss, _, _ = penguins(0, None)
    assert [round(loss(*knobs), 4) for knobs in ((0, 4), (0.01, 4), (0, 4.01))] == [0.6820, 0.6622, 0.6780]


@pytest.mark.parametrize(("back", "h", "line"), [(0, 0.01, (0.492, 4.152)), (1, 1e-5, (0.497, 4.156))])
def test_one_sided_steps_stop_the_penguins_fit_half_a_step_short_and_central_ones_do_not(back, h, line):
    def slopes_of(loss, tilt, height):
        b = back * h
        along_tilt = loss(tilt + h, height) - loss(tilt - b, height)
        along_height = loss(tilt, height + h) - loss(tilt, height - b)
        return along_tilt / (h + b), along_height / (h + b)

    _, tilt, height = penguins(30, slopes_of)
    assert (round(tilt, 3), round(height, 3)) == line


def test_a_forward_difference_of_the_penguins_loss_is_off_by_1_98_h():
    loss, _, _ = penguins(0, None)
    slopes = {h: (loss(h, 4) - loss(0, 4)) / h for h in (0.001, 0.01, 0.1)}
    assert [f"{slope:.4f}" for slope in slopes.values()] == ["-1.9941", "-1.9763", "-1.7981"]
    assert [f"{slope + 1.99607:.4f}" for slope in slopes.values()] == ["0.0020", "0.0198", "0.1980"]
    assert [float(slope) for slope in ad.grad(loss, (0, 1))(0.0, 4.0)] == pytest.approx([-1.996, -0.404], abs=5e-4)


def test_the_penguins_fit_leaps_across_the_valley_at_a_rate_of_0_5():
    loss, _, _ = penguins(0, None)
    slopes_of, tilt, height, tilts = ad.grad(loss, (0, 1)), 0.0, 4.0, []
    for _ in range(30):
        by_tilt, by_height = slopes_of(tilt, height)
        tilt, height = tilt - 0.5 * float(by_tilt), height - 0.5 * float(by_height)
        tilts.append(tilt)
    assert [round(each, 1) for each in tilts[:4]] == [1.0, 0.0, 1.0, 0.0]
    assert abs(tilts[-1] - 0.497) > 0.3


def test_the_penguins_fit_stands_still_with_a_step_of_1e_minus_17():
    def slopes_of(loss, tilt, height, h=1e-17):
        rises = loss(tilt + h, height) - loss(tilt - h, height), loss(tilt, height + h) - loss(tilt, height - h)
        return [rise / (2 * h) for rise in rises]

    assert penguins(30, slopes_of)[1:] == (0.0, 4.0)


def test_the_table_of_exercise_0_2_was_measured():
    steps = (1e-2, 1e-4, 1e-6)

    def row(f, x, claimed):
        gaps = [claimed - (f(x + h) - f(x - h)) / (2 * h) for h in steps]
        sides = [(f(x + h) - f(x)) / h - (f(x) - f(x - h)) / h for h in steps]
        return [f"{number:.0e}" if abs(number) < 0.01 else f"{number:.2g}" for number in gaps + sides]

    assert row(lambda x: 30 * x**2 - 1000 * x**3, 0.0, 0.0) == ["0.1", "1e-05", "1e-09", "0.6", "6e-03", "6e-05"]
    assert row(lambda x: x * x, 1.5, 1.5) == ["-1.5", "-1.5", "-1.5", "0.02", "2e-04", "2e-06"]
    assert row(lambda x: x * x + 1e9, 1.5, 3.0) == ["3e-06", "1e-04", "0.02", "0.02", "1e-03", "0e+00"]
    assert row(lambda x: max(x, 0.0), 0.0, 1.0) == ["0.5", "0.5", "0.5", "1", "1", "1"]


# Chapter 1: what a tape keeps -----------------------------------------------------------------------------------------


def test_the_lemonade_earns_15_cents_for_a_cent_more_nothing_for_50_and_most_at_2_25():
    def lemonade(price):
        return (price - 0.5) * (120.0 - 30.0 * price)

    assert lemonade(2.0) == lemonade(2.5) == 90.0
    assert [float(ad.grad(lemonade)(price)) for price in (2.0, 2.25, 2.5)] == [15.0, 0.0, -15.0]
    assert (lemonade(2.01) - lemonade(1.99)) / 0.02 == pytest.approx(15.0)
    assert lemonade(2.01) - 90.0 == pytest.approx(0.147), "about 15 cents"
    with ad.GradientTape() as tape:
        lemonade(ad.Variable(2.25))
    assert len(tape.entries) == 4, "on one line as on two"
    assert sorted(tape.entries[-1].values) == [1.75, 52.5]


@pytest.mark.parametrize(
    ("seed", "operations"), [(1, ["multiply", "multiply", "add"]), (2, ["add", "add", "multiply"])]
)
def test_another_seed_leaves_other_operations_on_the_tape_of_the_coin_and_as_many(seed, operations):
    y, coin = ad.Variable(3.0), np.random.default_rng(seed)
    with ad.GradientTape() as tape:
        for _ in range(3):
            y = y + 10.0 if coin.random() < 0.5 else y * 2.0
    assert [entry.name for entry in tape.entries] == operations


ONES = np.ones(1000)
WRAPPED = ad.constant(ONES)


@pytest.mark.parametrize(
    ("operation", "kilobytes"),
    [
        (np.sin, 408),
        (lambda y: y * ONES, 808),
        (lambda y: y * WRAPPED, 416),
    ],
)
def test_fifty_operations_on_a_thousand_numbers_keep(operation, kilobytes):
    y = ad.Variable(np.ones(1000))
    with ad.GradientTape() as tape:
        for _ in range(50):
            y = operation(y)
    assert tape.nbytes == kilobytes * 1000


# Chapter 7: the slope of a search -----------------------------------------------------------------------------------


def rate_of(payment):
    """Find the rate at which five yearly payments are worth 1000 today, by Newton's steps."""
    years, rate = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 0.0
    gap = np.sum(payment / (1 + rate) ** years) - 1000.0
    while np.abs(gap) > 1e-6:
        rate = rate + gap / np.sum(years * payment / (1 + rate) ** (years + 1))
        gap = np.sum(payment / (1 + rate) ** years) - 1000.0
    return rate


def test_the_rate_of_a_credit_has_the_slope_that_implicit_differentiation_gives():
    payment = ad.Variable(250.0)
    with ad.GradientTape() as tape:
        rate = rate_of(payment)
    assert float(rate) == pytest.approx(0.0793083, rel=1e-5)
    assert float(tape.gradient(rate, payment)) == pytest.approx(0.00151602, rel=1e-5)
    assert rate_of(251.0) - rate_of(250.0) == pytest.approx(0.001515, abs=5e-7)


def test_a_search_whose_first_guess_is_right_computes_nothing():
    assert rate_of(ad.Variable(200.0)) == 0.0
    assert isinstance(rate_of(ad.Variable(200.0)), float)


def test_most_of_the_slope_of_a_square_root_comes_from_the_last_turn():
    x, y = ad.Variable(2.0), 1.0
    with ad.GradientTape(persistent=True) as tape:
        for _ in range(3):
            y = (y + x / y) / 2.0
    entries = [step for step in tape.steps(y, x) if step.entry.name == "divide" and step.entry.ids[0] == x._id]
    parts = [float(step.cotangent / step.entry.values[1]) for step in entries]
    assert parts == [pytest.approx(part, abs=1e-6) for part in (0.352941, 0.000577, 0.000048)]


# Chapter 2: what all slopes cost ------------------------------------------------------------------------------------


def test_100_slopes_cost_597_operations_where_central_differences_take_39800():
    values = [ad.constant(1.0) for _ in range(100)]
    with ad.GradientTape() as tape:
        tape.watch(values)
        target = values[0] * values[0]
        for value in values[1:]:
            target = target + value * value
    run = len(tape.entries)
    walk = sum(len(step.contributions) for step in tape.steps(target, values))
    assert (run + walk, 2 * 100 * run) == (597, 39_800)


def test_another_use_adds_a_contribution_and_a_straight_line_keeps_its_promise():
    a = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        b = a + a
        c = b + b
        c = c + a
    assert tape.gradient(c, a) == 5.0
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        t = np.sin(x)
        y = x * t
    gaps = [abs(tape.nudge(y, x, by).gap) for by in (0.1, 0.01)]
    assert 95 < gaps[0] / gaps[1] < 105
    assert tape.nudge(y, x, 0.1).moved < 0 < tape.nudge(y, x, 0.1).said
    assert abs(np.sin(2.03) + 2.03 * np.cos(2.03)) < 0.01, "the top of x sin(x), by hand"
    assert abs(tape.nudge(y, t, 0.1).gap) < 1e-12
    w, b = ad.Variable(2.0), ad.Variable(1.0)
    backward = []
    for loss_of in (lambda error: error * error, lambda error: error**4):
        with ad.GradientTape() as tape:
            prediction = w * 3.0 + b
            error = prediction - 5.0
            loss = loss_of(error)
        code = str(tape.code(loss, [w, b])).splitlines()
        first = next(place for place, line in enumerate(code) if line.startswith("prediction_bar"))
        backward.append([line.partition("  #")[0].rstrip() for line in code[first:]])
    assert backward[0] == backward[1]


def test_the_slope_of_x_times_exp_at_2_is_three_squares_of_e():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = x * np.exp(x)
    assert float(tape.gradient(y, x)) == pytest.approx(3 * math.e**2) == pytest.approx(22.167, abs=5e-4)


def test_a_million_slopes_take_one_walk():
    x = ad.constant(np.linspace(0.0, 4.0, 1_000_001))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x * np.sin(x))
    slopes = tape.gradient(y, x)
    assert (slopes.shape, len(tape.entries)) == ((1_000_001,), 3)
    assert float(slopes[500_000]) == pytest.approx(math.sin(2) + 2 * math.cos(2))


# Chapters 8 and 9: stop recording, reset, stop the gradient ---------------------------------------------------------


@pytest.fixture
def pair():
    return ad.Variable(2.0, name="x"), ad.Variable(3.0, name="y")


def test_stop_recording_gives_4_and_none(pair):
    x, y = pair
    with ad.GradientTape() as tape:
        x_squared = x**2
        with tape.stop_recording():
            y_squared = y**2
        z = x_squared + y_squared
    by_x, by_y = tape.gradient(z, pair)
    assert (float(by_x), by_y) == (4.0, None)


def test_reset_gives_4_and_none(pair):
    x, y = pair
    with ad.GradientTape() as tape:
        y_squared = y**2
        tape.reset()
        z = x**2 + y_squared
    by_x, by_y = tape.gradient(z, pair)
    assert (float(by_x), by_y) == (4.0, None)


def test_stop_gradient_gives_4_and_none(pair):
    x, y = pair
    with ad.GradientTape() as tape:
        z = x**2 + ad.stop_gradient(y**2)
    by_x, by_y = tape.gradient(z, pair)
    assert (float(by_x), by_y) == (4.0, None)


@pytest.mark.parametrize(("way", "by_y"), [("stop_recording", 6.0), ("reset", 6.0), ("stop_gradient", None)])
def test_another_tape_tells_them_apart_only_stop_gradient_cuts_for_every_tape(pair, way, by_y):
    x, y = pair
    with ad.GradientTape() as other, ad.GradientTape() as tape:
        if way == "stop_recording":
            with tape.stop_recording():
                y_squared = y**2
        else:
            y_squared = ad.stop_gradient(y**2) if way == "stop_gradient" else y**2
        if way == "reset":
            tape.reset()
        z = x**2 + y_squared
    assert tape.gradient(z, y) is None
    assert other.gradient(z, y) == by_y


@pytest.mark.parametrize(("way", "by_x"), [("stop_recording", 4.0), ("reset", None), ("stop_gradient", 4.0)])
def test_what_was_watched_tells_them_apart_only_reset_forgets_it(way, by_x):
    x, y = ad.constant(2.0), ad.constant(3.0)
    with ad.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y_squared = y**2
        if way == "reset":
            tape.reset()
        z = x**2 + (ad.stop_gradient(y_squared) if way == "stop_gradient" else y_squared)
    assert tape.gradient(z, x) == by_x


@pytest.mark.parametrize(
    ("log", "sizes"), [("none", [32, 24, 16]), ("recorded", [56, 56, 56]), ("paused", [32, 24, 16])]
)
def test_a_log_line_in_the_loop_holds_the_bytes_until_the_end_unless_it_is_paused(log, sizes):
    x, seen = ad.Variable(3.0), []
    with ad.GradientTape() as tape:
        y = x
        for _ in range(3):
            y = y * y
            if log == "recorded":
                np.sqrt(y)
            if log == "paused":
                with tape.stop_recording():
                    np.sqrt(y)
    with ad.hook(lambda event: seen.append(tape.nbytes) if type(event).__name__ == "PullBack" else None):
        tape.gradient(y, x)
    assert (seen, tape.nbytes) == (sizes, 0)


# Chapter 13: custom gradients ----------------------------------------------------------------------------------------


def test_the_slope_of_log_1_plus_exp_overflows_at_1000_and_the_textbook_s_formula_cancels_at_minus_40():
    @ad.custom_gradient
    def textbook(x):
        e = np.exp(x)
        return np.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    def naive(x):
        return np.log(1.0 + np.exp(x))

    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(float(ad.grad(naive)(1000.0)))
        assert ad.grad(textbook)(1000.0) == 1.0
    assert f"{ad.grad(naive)(-40.0):.1e}" == "4.2e-18"
    assert ad.grad(textbook)(-40.0) == 0.0


def test_an_overflow_inside_a_custom_gradient_does_no_harm_in_a_chain_and_its_digits_go_one_by_one():
    @ad.custom_gradient
    def textbook(x):
        e = np.exp(x)
        return np.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    with np.errstate(over="ignore"):
        assert ad.grad(lambda x: 10.0 * textbook(x))(1000.0) == 10.0
    assert ad.grad(lambda x: 10.0 * textbook(x))(0.0) == 5.0
    for x, digits, right in ((-30.0, "9.35e-14", "9.36e-14"), (-36.0, "2.22e-16", "2.32e-16")):
        assert f"{ad.grad(textbook)(x):.2e}" == digits
        assert f"{np.exp(x) / (1.0 + np.exp(x)):.2e}" == right


@ad.custom_gradient
def clip_gradients(x):
    return x, lambda dy: dy * 0.5 / np.maximum(0.5, np.linalg.norm(dy))


def test_clipping_after_the_square_makes_the_incoming_1_a_half_and_times_2v_that_is_2():
    v = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        squared = v * v
        y = clip_gradients(squared)
    assert tape.gradient(y, squared) == 0.5
    assert tape.gradient(y, v) == 2.0


def test_clipping_before_the_square_gives_a_half():
    v = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        clipped = clip_gradients(v)
        y = clipped * clipped
    assert tape.gradient(y, clipped) == 4.0
    assert tape.gradient(y, v) == 0.5


def after_the_square(v):
    return clip_gradients(v * v)


def before_the_square(v):
    clipped = clip_gradients(v)
    return clipped * clipped


@pytest.mark.parametrize(("f", "expected"), [(after_the_square, 2.0), (before_the_square, 0.5)])
def test_a_saved_and_loaded_clip_gives_2_and_a_half_as_well(f, expected, tmp_path):
    ad.save(f, tmp_path / "clip.ad", 1.0)
    assert ad.grad(ad.load(tmp_path / "clip.ad"))(2.0) == expected


# Chapter 10: several tapes -------------------------------------------------------------------------------------------


def test_two_tapes_give_1_for_sin_at_0_and_a_quarter_for_the_sigmoid_at_0():
    x0, x1 = ad.constant(0.0), ad.constant(0.0)
    with ad.GradientTape() as tape0, ad.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        ys = np.sin(x0) + nn.sigmoid(x1)
    assert tape0.gradient(ys, x0) == 1.0
    assert tape1.gradient(ys, x1) == 0.25


def test_each_of_two_tapes_leaves_what_the_other_watches_alone():
    x0, x1 = ad.constant(0.0), ad.constant(0.0)
    with ad.GradientTape() as tape0, ad.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        ys = np.sin(x0) + nn.sigmoid(x1)
    assert tape0.gradient(ys, x1) is None
    assert tape1.gradient(ys, x0) is None


def test_two_tapes_give_6_for_dz_dx_and_5_for_dm_dy():
    x, y = ad.Variable(3.0), ad.Variable(2.0)
    with ad.GradientTape() as tape_z, ad.GradientTape() as tape_m:
        z = x**2 + y
        m = y + y**2 + x
    assert (tape_z.gradient(z, x), tape_m.gradient(m, y)) == (6.0, 5.0)


def test_one_persistent_tape_gives_the_same_6_and_5():
    x, y = ad.Variable(3.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        z = x**2 + y
        m = y + y**2 + x
    assert (tape.gradient(z, x), tape.gradient(m, y)) == (6.0, 5.0)


NOISE = np.array([NormalDist().inv_cdf((k + 0.5) / 200) for k in range(200)])
GENUINE = 1.5 + 0.5 * NOISE


def rate_coins(grams, inspector):
    base, taste, bend = inspector
    return base + taste * grams + bend * grams**2


def cost(ratings):
    return np.mean(np.logaddexp(0.0, -ratings))


def losses_of(forger, inspector, forgets=0.1, see=lambda coins: coins):
    genuine, forged = rate_coins(GENUINE, inspector), rate_coins(see(forger[0] + forger[1] * NOISE), inspector)
    return cost(forged), cost(genuine) + cost(-forged) + forgets * sum(each**2 for each in inspector)


def play(turns=200, aims=lambda his, hers: (his, hers), watch=("forger", "inspector"), taste=0.0, **settings):
    """Play chapter 10's game; return mean and spread above 10 grams, both losses and her parameters, at each turn."""
    forger, inspector = [ad.Variable(0.0), ad.Variable(1.0)], [ad.Variable(each) for each in (0.0, taste, 0.0)]
    players = {"forger": forger, "inspector": inspector}
    seen = []
    for _ in range(turns + 1):
        tapes = [ad.GradientTape(watch_accessed_variables=False) for _ in range(2)]
        with tapes[0], tapes[1]:
            for tape, names in zip(tapes, watch, strict=True):
                tape.watch([players[name] for name in names.split()])
            losses = losses_of(forger, inspector, **settings)
            aimed = aims(*losses)
        seen.append([float(each) for each in (*forger, *losses, *inspector)])
        slopes = [tape.gradient(aim, forger + inspector) for tape, aim in zip(tapes, aimed, strict=True)]
        for parameter, *both in zip(forger + inspector, *slopes, strict=True):
            parameter.assign_sub(0.3 * sum(slope for slope in both if slope is not None))
    return np.array(seen)


def test_a_forger_and_an_inspector_with_a_tape_each_end_at_the_genuine_coins():
    seen = play()
    assert seen[-1, :4] == pytest.approx([1.5, 0.5, np.log(2.0), np.log(4.0)], abs=0.005)
    assert seen[60, :2] == pytest.approx([1.53, 0.42], abs=0.005)  # too much alike on the way
    assert seen[10, :4] == pytest.approx([0.58, 1.10, 0.76, 1.26], abs=0.005)


@pytest.mark.parametrize(("forgets", "passes", "settles"), [(0.1, 40, (100, 110)), (0.0, 23, (1700, 1720))])
def test_without_forgetting_he_passes_the_goal_sooner_and_settles_there_much_later(forgets, passes, settles):
    seen = play(1800, forgets=forgets)[:, :2]
    assert np.flatnonzero(seen[:, 0] >= 1.5).min() == passes
    assert abs(np.flatnonzero(seen[:, 1] <= 0.5).min() - passes) <= 2  # the spread gets there at the same time
    far = np.abs(seen - [1.5, 0.5]).max(axis=1) > 0.05
    assert settles[0] <= np.flatnonzero(far).max() < settles[1]


def test_without_forgetting_his_coins_are_nearly_all_alike_at_turn_200_and_with_too_much_at_turn_1000():
    assert play(200, forgets=0.0)[-1, :2] == pytest.approx([1.605, 0.024], abs=0.001)
    assert play(1000, forgets=1.0)[-1, 1] < 0.01


@pytest.mark.parametrize(("weight", "total", "chance"), [(1.0, 1.58, 0.52), (2.0, 2.10, 0.65)])
def test_if_they_share_the_sum_of_their_losses_it_ends_low_and_far_from_the_genuine_coins(weight, total, chance):
    seen = play(aims=lambda his, hers: 2 * [(weight * his + hers) / 2], watch=2 * ["forger inspector"])[-1]
    assert weight * seen[2] + seen[3] == pytest.approx(total, abs=0.005)
    assert seen[0] < -0.15
    assert np.mean(1 / (1 + np.exp(-rate_coins(seen[0] + seen[1] * NOISE, seen[4:])))) == pytest.approx(
        chance, abs=0.005
    )
    assert cost(rate_coins(GENUINE, seen[4:])) < 0.12  # she rates the genuine coins high


def test_a_greater_taste_makes_his_loss_rise_and_hers_fall():
    before, after = (losses_of([0.0, 1.0], [0.0, taste, 0.0]) for taste in (0.0, 1.0))
    assert before == pytest.approx((np.log(2.0), np.log(4.0)))
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_tapes_that_wait_to_be_asked_hold_3_and_4_of_the_5_operations():
    x, y = ad.Variable(3.0), ad.Variable(2.0)
    tapes = [ad.GradientTape(watch_accessed_variables=False) for _ in range(2)]
    with tapes[0], tapes[1]:
        tapes[0].watch(x)
        tapes[1].watch(y)
        z = x**2 + y
        m = y + y**2 + x
    assert [len(tape.entries) for tape in tapes] == [3, 4]
    assert (tapes[0].gradient(z, x), tapes[1].gradient(m, y)) == (6.0, 5.0)


@pytest.mark.parametrize(
    ("fault", "log"),
    [
        ({"watch": ("forger inspector", "inspector")}, [[0.29, 1.31, 0.53, 1.33], [1.43, 0.79, 0.37, 1.58]]),
        ({"watch": ("forger", "")}, 2 * [[0.0, 1.0, 0.69, 1.39]]),
        ({"watch": 2 * ["forger inspector"]}, [[-0.23, 0.46, 0.61, 1.00], [-0.41, 0.11, 0.65, 0.93]]),
        ({"see": ad.stop_gradient}, [[0.0, 1.0, 0.89, 1.04], [0.0, 1.0, 1.03, 1.03]]),
    ],
    ids=["bribed", "unwatched", "shared", "cut"],
)
def test_four_games_that_went_wrong_have_these_logs(fault, log):
    assert play(50, **fault)[[10, 50], :4] == pytest.approx(np.array(log), abs=0.00501)


def test_a_cut_around_the_coins_loses_his_slopes_and_leaves_hers():
    forger, inspector = [ad.Variable(0.0), ad.Variable(1.0)], [ad.Variable(each) for each in (0.0, 0.5, 0.0)]
    found = []
    for see in (lambda coins: coins, ad.stop_gradient):
        with ad.GradientTape(persistent=True) as tape:
            his, hers = losses_of(forger, inspector, see=see)
        found.append((tape.gradient(his, forger), tape.gradient(hers, inspector), tape.gradient(hers, forger)))
    (his, hers, through), (his_cut, hers_cut, through_cut) = found
    assert his_cut == through_cut == [None, None]
    assert None not in his + through
    assert np.array_equal(hers, hers_cut)


# Chapter 11: higher orders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "at", "first", "second"), [(lambda x: x * x * x, 1.0, 3.0, 6.0), (lambda x: x * x, 3.0, 6.0, 2.0)]
)
def test_the_cube_at_1_has_derivatives_3_and_6_and_the_square_at_3_has_6_and_2(f, at, first, second):
    x = ad.Variable(at)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = f(x)
        slope = inner.gradient(y, x)
    assert (slope, outer.gradient(slope, x)) == (first, second)


def test_x_times_y_squared_at_3_and_2_has_dz_dx_4_and_then_d_dy_4():
    x, y = ad.Variable(3.0), ad.Variable(2.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            z = x * y**2
        by_x = inner.gradient(z, x)
    assert (by_x, outer.gradient(by_x, y)) == (4.0, 4.0)


def test_the_norm_of_a_relu_layer_s_input_gradient_has_gradients_shaped_like_kernel_and_bias(x):
    layer = nn.Dense(10, activation=nn.relu)
    with ad.GradientTape() as outer:
        with ad.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x)
            out = np.sum(layer(x) ** 2)
        by_input = inner.gradient(out, x)
        norm = np.linalg.norm(by_input)
    got = outer.gradient(norm, layer.trainable_variables)
    assert [gradient.shape for gradient in got] == [(5, 10), (10,)]

    def norm_of_input_gradient(kernel, bias):
        before = x.numpy() @ kernel + bias
        return np.linalg.norm(2 * np.maximum(before, 0) @ kernel.T)

    arguments = [layer.kernel.numpy(), layer.bias.numpy()]
    expected = central_differences(norm_of_input_gradient, arguments)
    assert_derivatives("the norm", arguments, got, expected)


def entries(f, orders=8):
    lengths = []

    def derivative(x, order):
        if order == 0:
            return f(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = derivative(x, order - 1)
        lengths.append(len(tape.entries))
        return tape.gradient(y, x)

    derivative(ad.constant(0.5), orders)
    return lengths


@pytest.mark.parametrize(
    ("f", "lengths"),
    [
        (np.sin, [1, 3, 5, 7, 9, 11, 13, 15]),
        (np.exp, [1, 2, 3, 4, 5, 6, 7, 8]),
        (np.tanh, [1, 4, 10, 23, 54, 133, 344, 927]),
        (lambda x: np.exp(x) * np.exp(x), [3, 8, 19, 38, 73, 140, 271, 530]),
        (lambda x: np.exp(2 * x), [2, 4, 6, 8, 10, 12, 14, 16]),
        (lambda x: x**5, [1, 4, 7, 10, 13, 16, 19, 22]),
        (lambda x: x * np.exp(x), [2, 6, 12, 19, 27, 36, 46, 57]),
    ],
)
def test_the_tapes_of_sines_exponentials_and_powers_grow_by_a_few_entries_and_products_by_a_factor(f, lengths):
    assert entries(f) == lengths


def test_the_tape_of_1_over_x_about_triples_with_each_order():
    lengths = entries(lambda x: 1 / x)
    assert all(later > 3 * earlier for earlier, later in itertools.pairwise(lengths[1:]))


def test_the_norm_of_the_gradient_of_a_sum_of_relus_has_none_with_respect_to_the_bias(x):
    layer = nn.Dense(10, activation=nn.relu)
    with ad.GradientTape() as outer:
        with ad.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x)
            out = np.sum(layer(x))
        norm = np.linalg.norm(inner.gradient(out, x))
    kernel, bias = outer.gradient(norm, [layer.kernel, layer.bias])
    assert (kernel.shape, bias) == ((5, 10), None)


def read_names(slug, *ids):
    """The names of a chapter's cells, in its notebook's order, without what they print or draw."""
    chapter = next(each for each in OURS.assignments if each.slug == slug)
    names = {}
    for cell in chapter.read()["cells"]:
        if cell["id"] in ids:
            exec("".join(cell["source"]).partition("figure, ")[0], names)  # a chapter of our own
    return names


FOOLED = "imports", "fooled-plot", "attack", "right", "steepness", "break-1", "repair"


@pytest.mark.parametrize(("seed", "before", "after"), [(0, 24, 80), (1, 29, 82), (2, 20, 89)])
def test_a_network_trained_to_be_flat_is_harder_to_fool(seed, before, after, capsys):
    names = read_names("higher-order-gradients", *FOOLED)
    train, right, nested = names["train"], names["right_in_100"], names["nested"]
    assert [right(names["first"], size) for size in (0.0, 0.1, 0.2, 0.25)] == [100, 100, 60, 24]
    for weight, wanted in ((0.0, before), (1.0, after)):
        trained = train(nested, weight, seed=seed)
        assert (right(trained, 0.0), right(trained, 0.25)) == (100, wanted)


def test_small_steps_fool_it_more_often_with_the_penalty_and_without(capsys):
    names = read_names("higher-order-gradients", *FOOLED, "robust", "patient")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[-3:]] == ["1", "4", "47"]
    assert names["right_in_100"](names["networks"][1.0], 0.25) == 80


@pytest.mark.parametrize(("seed", "weight", "gaps"), [(1, 0, "4.4 and then 11.7"), (1, 30, "1.6 and then 1.6")])
def test_a_critic_with_a_penalty_measures_in_grams_and_one_without_grows(seed, weight, gaps, capsys):
    names = read_names("higher-order-gradients", *FOOLED, "coins", "critic-loss", "critic-loop")
    capsys.readouterr()
    names["train_critic"](weight, seed=seed)
    assert gaps in capsys.readouterr().out


@pytest.mark.parametrize(("seed", "gaps"), [(2, "-1.5 and then -1.5"), (3, "0.9 and then 0.9")])
def test_a_critic_that_starts_upside_down_stays_so_under_a_heavy_penalty(seed, gaps, capsys):
    names = read_names("higher-order-gradients", *FOOLED, "coins", "critic-loss", "critic-loop")
    capsys.readouterr()
    names["train_critic"](30, seed=seed)
    assert gaps in capsys.readouterr().out


# Chapter 14: corners --------------------------------------------------------------------------------------------------

LARGER_OF_X_AND_0 = {
    0.5: [lambda x: np.maximum(x, 0), lambda x: (x + np.abs(x)) / 2],
    0.0: [lambda x: np.where(x > 0, x, 0), lambda x: x * (x > 0), nn.relu],
    1.0: [lambda x: np.where(x >= 0, x, 0), lambda x: np.clip(x, 0, None)],
}


@pytest.mark.parametrize("slope", LARGER_OF_X_AND_0)
def test_seven_ways_to_write_the_larger_of_x_and_0_agree_but_for_the_slope_at_0(slope):
    for f in LARGER_OF_X_AND_0[slope]:
        assert [float(f(x)) for x in (-2.0, 0.0, 3.0)] == [0.0, 0.0, 3.0]
        assert [float(ad.grad(f)(x)) for x in (-2.0, 0.0, 3.0)] == [0.0, slope, 1.0]
        assert (f(0.01) - f(-0.01)) / 0.02 == 0.5
        if slope == 0.5:
            ad.check_gradients(f, 0.0, order=1)
            with pytest.raises(AssertionError, match=r"second derivative .* The function is at a corner here"):
                ad.check_gradients(f, 0.0)
        else:
            with pytest.raises(
                AssertionError, match=r"central differences say 0\.5.* The function is at a corner here"
            ):
                ad.check_gradients(f, 0.0, order=1)


def test_the_larger_of_x_and_0_taken_twice_has_the_slope_a_quarter():
    assert float(ad.grad(lambda x: np.maximum(np.maximum(x, 0), 0))(0.0)) == 0.25


@pytest.mark.parametrize(
    ("best", "slopes"), [(np.max, [0.5, 0.5, 0.0]), (lambda scores: np.sort(scores)[-1], [0.0, 1.0, 0.0])]
)
def test_of_two_equal_scores_max_shares_and_sort_does_not_and_a_used_tape_no_longer_knows(best, slopes):
    scores = ad.Variable([3.0, 3.0, 1.0])
    with ad.GradientTape() as tape:
        y = best(scores)
    assert any("from 0 to 1 fits at [0] and [1]" in str(corner) for corner in tape.corners(y, scores))
    assert tape.gradient(y, scores).tolist() == slopes
    assert all(corner.elements is None for corner in tape.corners(y, scores))


@pytest.mark.parametrize(
    ("bias", "blank", "count", "largest"),
    [(0.0, 0.0, 1000, 4), (0.01, 0.0, 0, 5), (-9.0, 0.0, 0, 0), (0.0, 0.5, 0, 5)],
)
def test_only_a_blank_picture_and_no_bias_put_a_layer_at_corners(bias, blank, count, largest):
    rng = np.random.default_rng(14)
    pictures = rng.uniform(size=(5, 64))
    pictures[2] = blank
    weights, biases = rng.standard_normal((64, 1000)) / 8, ad.Variable(np.full(1000, bias))
    with ad.GradientTape(persistent=True) as tape:
        total = np.sum(nn.relu(pictures @ weights + biases))
    assert sum(len(corner.elements) for corner in tape.corners(total, biases)) == count
    assert float(np.max(tape.gradient(total, biases))) == largest


def test_a_penalty_on_the_tape_never_lets_a_weight_rest_and_one_in_the_step_does():
    rng = np.random.default_rng(3)
    notes = rng.standard_normal((50, 6))
    rise = notes @ np.array([2.0, -1.0, 0.0, 0.0, 0.0, 0.0]) + 0.5 * rng.standard_normal(50)

    def error(w):
        return np.mean((notes @ w - rise) ** 2)

    hopping = rested = np.zeros(6)
    for turn in range(3001):
        before, hopping = (
            hopping,
            hopping - 0.1 * ad.grad(lambda w: error(w) + 0.5 * np.sum(np.abs(w)))(hopping).numpy(),
        )
        if turn < 300:
            rested = rested - 0.1 * ad.grad(error)(rested).numpy()
            rested = rested - np.clip(rested, -0.05, 0.05)
        if turn in (299, 2999):
            assert np.all(hopping != 0.0)
            assert np.all(np.abs(hopping[2:]) < 0.1)
        if turn in (300, 3000):
            assert np.all(np.abs(np.abs(hopping - before)[2:] - 0.05) < 0.03), "each moves by about 0.1 * 0.5"
    assert (rested == 0.0).tolist() == [False, False, True, True, True, True]
    slopes = ad.grad(error)(rested).numpy()
    assert np.all(np.abs(slopes[2:]) < 0.5), "0 is between the slopes of the two sides, and so the best place"
    assert slopes[:2] == pytest.approx(-0.5 * np.sign(rested[:2]))


# Chapter 15: forward mode ---------------------------------------------------------------------------------------------


def epidemic(rate, steps=1000):
    healthy, ill, curve = 0.999, 0.001, []
    for _ in range(steps):
        caught = 0.1 * rate * healthy * ill
        healthy, ill = healthy - caught, ill + caught - 0.01 * ill
        curve.append(ill)
    return np.stack(curve)


def test_the_epidemic_is_worst_on_day_39_and_a_higher_rate_makes_it_earlier_and_higher():
    curve, slopes = (part.numpy() for part in ad.jvp(epidemic, (0.3,), (1.0,)))
    higher = epidemic(0.303)
    assert f"{100 * curve.max():.1f}, {100 * higher.max():.1f}" == "30.2, 30.6"
    assert round(0.1 * (curve.argmax() + 1)) == 39
    assert higher.argmax() < curve.argmax()
    assert (slopes[:380] > 0).all()
    assert round(0.1 * (np.argmax(slopes < 0) + 1)) == 42
    assert slopes[499] < 0
    assert np.allclose(slopes, (epidemic(0.3 + 1e-5) - epidemic(0.3 - 1e-5)) / 2e-5, atol=1e-6)


def test_on_day_50_the_share_of_ill_people_is_largest_for_a_rate_near_026():
    curve, slopes = (part.numpy() for part in ad.jvp(epidemic, (0.3,), (1.0,)))
    assert f"{slopes[499]:.2f}" == "-1.53"
    assert f"{100 * -0.01 * slopes[499]:.1f}, {100 * (epidemic(0.29)[499] - curve[499]):.1f}" == "1.5, 1.5"
    flat = [float(ad.jvp(lambda rate: epidemic(rate, 500)[-1], (rate,), (1.0,))[1]) for rate in (0.259, 0.264)]
    assert flat[0] > 0 > flat[1]
    assert epidemic(0.2).argmax() > 499 > epidemic(0.3).argmax()


def test_a_growing_balloon_and_three_pendulums_agree_with_their_formulas():
    volume, growth = ad.jvp(lambda r: 4 / 3 * np.pi * r * r * r, (2.0,), (1.0,))
    assert (float(volume), float(growth)) == pytest.approx((32 * np.pi / 3, 16 * np.pi), rel=1e-14)
    assert f"{float(growth):.2f}" == "50.27"  # 4πr², the surface, times the growth of 1
    scales = np.array([1.0, 4.0, 9.0])
    periods, push = ad.linearize(lambda length, gravity: 2 * np.pi * np.sqrt(scales * length / gravity), 1.0, 9.8)
    expected = periods.numpy() * (0.01 / 2 - 0.2 / (2 * 9.8))
    assert np.allclose(push(0.01, 0.2).numpy(), expected, rtol=1e-12, atol=0.0)


def deep(x):
    mixing = np.random.default_rng(0).normal(0.0, 0.03, size=(1000, 1000))
    for _ in range(5):
        x = np.tanh(mixing @ x)
    return np.sum(x * x)


def test_three_orders_give_the_same_product_of_the_hessian_with_a_vector_for_about_four_gradients():
    x, v = np.linspace(-1.0, 1.0, 1000), np.ones(1000)
    slope, h = ad.grad(deep), 1e-5
    difference = (slope(x + h * v).numpy() - slope(x - h * v).numpy()) / (2 * h)
    orders = (
        lambda: ad.jvp(slope, (x,), (v,))[1],
        lambda: ad.grad(lambda x: ad.jvp(deep, (x,), (v,))[1])(x),
        lambda: ad.grad(lambda x: np.sum(slope(x) * v))(x),
    )
    products, counts = zip(*(counted(order) for order in (*orders, lambda: slope(x))), strict=True)
    for product in products[:3]:
        assert np.allclose(product.numpy(), products[0].numpy(), rtol=1e-10)
        assert np.allclose(product.numpy(), difference, rtol=1e-6, atol=1e-7)
    assert [(sum(recorded), pushed, sum(pulled)) for recorded, pushed, pulled in counts] == [
        (48, 36, 12),
        (48, 12, 34),
        (50, 0, 48),
        (12, 0, 12),
    ]
    assert [recorded for recorded, _, _ in counts[:3]] == [[12, 36], [12, 36], [12, 38]]
    assert [pulled for _, _, pulled in counts[:3]] == [[12], [34], [12, 36]]


def counted(request):
    """Return the result, how much each tape recorded, how many tangents were pushed, and what each tape pulled."""
    events = []
    with ad.hook(events.append):
        result = request()

    def by_tape(kind):
        return sorted(Counter(id(event.tape) for event in events if type(event).__name__ == kind).values())

    return result, (by_tape("Record"), sum(by_tape("PushForward")), by_tape("PullBack"))


# Chapter 16: Jacobians ----------------------------------------------------------------------------------------------


def test_the_jacobian_of_the_sigmoid_by_a_shift_has_one_slope_for_each_of_201_points():
    points, delta = np.linspace(-10.0, 10.0, 201), ad.Variable(0.0)
    with ad.GradientTape() as tape:
        y = nn.sigmoid(points + delta)
    got = tape.jacobian(y, delta)
    assert got.shape == (201,)
    assert got[100] == 0.25
    np.testing.assert_allclose(got.numpy(), 0.25 / np.cosh(points / 2) ** 2, 1e-12)


def test_the_jacobian_of_a_dense_layer_by_its_kernel_sums_to_the_gradient(x):
    layer = nn.Dense(10, activation=nn.relu)
    with ad.GradientTape(persistent=True) as tape:
        y = layer(x)
    jacobian, gradient = tape.jacobian(y, layer.kernel), tape.gradient(y, layer.kernel)
    assert (y.shape, layer.kernel.shape, jacobian.shape) == ((7, 10), (5, 10), (7, 10, 5, 10))
    np.testing.assert_allclose(np.sum(jacobian, axis=(0, 1)).numpy(), gradient.numpy(), 1e-13, 1e-14)


# Chapter 17: the Hessian and Newton ---------------------------------------------------------------------------------


def test_the_hessian_by_a_first_layer_s_kernel_is_symmetric_and_a_damped_newton_step_lowers_the_loss(x):
    first, second = nn.Dense(8, activation=nn.relu), nn.Dense(6, activation=nn.relu)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            loss = np.mean(second(first(x)) ** 2)
        gradient = inner.gradient(loss, first.kernel)
    hessian = outer.jacobian(gradient, first.kernel)
    assert (gradient.shape, hessian.shape) == ((5, 8), (5, 8, 5, 8))

    matrix = hessian.numpy().reshape(40, 40)
    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-15)
    assert np.abs(matrix).max() > 0.01

    step = np.linalg.solve(matrix + 1e-3 * np.eye(40), gradient.numpy().reshape(40))
    first.kernel.assign_sub(step.reshape(5, 8))
    after = np.mean(second(first(x)) ** 2)
    assert float(after) < 0.2 * float(loss)


def valley(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def test_in_the_valley_newton_gets_further_in_five_steps_than_descent_in_ten_thousand():
    x, y = -1.0, 0.0
    for _ in range(10_000):
        x, y = x + 0.001 * (2 * (1 - x) + 400 * x * (y - x**2)), y - 0.001 * 200 * (y - x**2)
    assert (x, y) == (pytest.approx(0.994, abs=5e-4), pytest.approx(0.987, abs=1e-3))

    p = np.array([-1.0, 0.0])
    for _ in range(5):
        p = p - np.linalg.solve(ad.hessian(valley)(p).numpy(), ad.grad(valley)(p).numpy())
    assert valley(p) < 1e-12


def test_the_stable_loss_is_right_at_second_order_where_its_score_is_0():
    def loss(z):
        return np.logaddexp(0.0, z)

    assert ad.hessian(loss)(0.0) == 0.25
    ad.check_gradients(loss, 0.0)


def test_near_the_lowest_point_each_of_newton_s_steps_squares_the_error():
    random = np.random.default_rng(3)
    settings = random.standard_normal((60, 2))
    side = np.where(settings @ [1.2, -0.8] + 0.3 + random.logistic(size=60) > 0.0, 1.0, -1.0)

    def loss(p):
        return np.mean(np.logaddexp(0.0, -side * (settings @ p[:2] + p[2])))

    p = np.zeros(3)
    assert np.linalg.eigvalsh(ad.hessian(loss)(p).numpy()).min() > 0.1
    losses = []
    for _ in range(7):
        p = p - np.linalg.solve(ad.hessian(loss)(p).numpy(), ad.grad(loss)(p).numpy())
        losses.append(float(loss(p)))
    assert np.array(losses[:4]) - losses[-1] == pytest.approx([3e-2, 3e-3, 5e-5, 2e-8], rel=0.25)
    assert losses[4] - losses[-1] < 1e-12


# Chapter 19: batch Jacobians ----------------------------------------------------------------------------------------


def jacobians(layers, x):
    """Return the full and the batch Jacobian, and the blocks on the diagonal of the full one."""
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x
        for layer in layers:
            y = layer(y, training=True) if isinstance(layer, nn.BatchNormalization) else layer(y)
    full = tape.jacobian(y, x).numpy()
    return full, tape.batch_jacobian(y, x).numpy(), np.einsum("bxby->bxy", full)


def test_the_diagonal_and_the_sum_over_the_duplicate_axis_agree_to_0_for_two_elu_layers(x):
    full, batch, diagonal = jacobians([nn.Dense(8, nn.elu), nn.Dense(6, nn.elu)], x)
    assert (full.shape, batch.shape) == ((7, 6, 7, 5), (7, 6, 5))
    assert np.abs(diagonal - full.sum(axis=2)).max() == 0.0
    np.testing.assert_allclose(batch, diagonal, 1e-13, 1e-15)
    assert np.abs(batch).max() > 0.1


def test_with_batch_normalisation_in_between_they_do_not_agree_and_the_batch_jacobian_is_neither(x):
    layers = [nn.Dense(8, nn.elu), nn.BatchNormalization(), nn.Dense(6, nn.elu)]
    full, batch, diagonal = jacobians(layers, x)
    assert (full.shape, batch.shape) == ((7, 6, 7, 5), (7, 6, 5))
    assert np.abs(diagonal - full.sum(axis=2)).max() > 0.1
    assert np.abs(batch - diagonal).max() > 0.1
    np.testing.assert_allclose(batch, np.moveaxis(full.sum(axis=0), 0, 1), 1e-12, 1e-14)


def test_with_batch_normalisation_last_the_batch_jacobian_is_almost_zero_and_the_true_blocks_are_not(x):
    layers = [nn.Dense(8, nn.elu), nn.Dense(6, nn.elu), nn.BatchNormalization()]
    _, batch, diagonal = jacobians(layers, x)
    assert np.abs(batch).max() < 1e-8
    assert np.abs(diagonal).max() > 0.1


# Chapter 22: memory ---------------------------------------------------------------------------------------------------


def held_at_most(f, x):
    """Return what the tape holds after the forward pass, and the most that all tapes hold after any new entry."""
    tapes, most = {}, 0

    def listen(event):
        nonlocal most
        if type(event).__name__ == "Record":
            tapes[id(event.tape)] = event.tape
            most = max(most, sum(tape.nbytes for tape in tapes.values()))

    with ad.hook(listen):
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        held = tape.nbytes
        tape.gradient(y, x)
    return held, most


def layers(x, weights):
    for w in weights:
        x = np.tanh(x @ w)
    return x


def test_a_hundred_layers_hold_106_megabytes_and_in_ten_segments_9_and_at_most_20():
    array, weight = 1000 * 64 * 8, 64 * 64 * 8
    assert (array, weight) == (512_000, 32_768)
    first, further = 3 * array + weight, 2 * array + weight
    assert (first, first + further, further) == (1_568_768, 2_625_536, 1_056_768)
    whole = first + 99 * further
    assert whole == 106_188_800
    assert first + 59 * further < 64_000_000 < first + 59 * further + array  # the product of layer 61
    assert (first + 59 * further + array + weight, 100 * weight) == (64_462_848, 3_276_800)
    assert whole + array + 8 == 106_700_808  # with the square and the mean

    weights = [np.full((64, 64), 0.01 + 0.0001 * k) for k in range(100)]

    def in_segments(x):
        for first in range(0, 100, 10):
            x = ad.checkpoint(layers)(x, [ad.constant(w) for w in weights[first : first + 10]])
        return np.mean(x**2)

    held, most = held_at_most(in_segments, ad.constant(np.ones((1000, 64))))
    assert held == 12 * array + 100 * weight + 8 == 9_420_808
    mean_and_square = array + 8  # which the tape has released by then
    assert most == held - mean_and_square + 21 * array + 10 * weight == 19_988_480  # with the one of a second run
    assert (round(most / 1_000_000, 1), whole // 1_000_000, 64_000_000 // most) == (20.0, 106, 3)
    assert 0.18 < most / whole < 0.19


@pytest.mark.parametrize("k", [1, 2, 4, 5, 10, 20, 25, 50, 100])
def test_a_chain_of_100_sines_in_k_segments_holds_k_and_100_through_k_arrays_and_two_more(k):
    computed = []

    def segment(x):
        for _ in range(100 // k):
            computed.append(1)
            x = np.sin(x)
        return x

    def chain(x):
        for _ in range(k):
            x = ad.checkpoint(segment)(x)
        return x

    held, most = held_at_most(chain, ad.constant(np.linspace(0.0, 2.0, 1000)))
    assert (held, most) == (8000 * (k + 1), 8000 * (k + 100 // k + 2))
    assert len(computed) == 200
    assert most >= 8000 * (2 * 10 + 2)  # which ten segments need


def test_nine_sines_in_three_segments_hold_32000_bytes_and_at_most_64000():
    def sines(x, count):
        for _ in range(count):
            x = np.sin(x)
        return x

    def in_three(x):
        return ad.checkpoint(sines)(ad.checkpoint(sines)(ad.checkpoint(sines)(x, 3), 3), 3)

    x = ad.constant(np.linspace(0.0, 2.0, 1000))
    assert held_at_most(lambda x: sines(x, 9), x) == (80_000, 80_000)
    assert held_at_most(in_three, x) == (32_000, 64_000)


@pytest.mark.parametrize(("n", "arrays"), [(4, 8), (16, 14), (64, 20), (256, 26)])
def test_a_chain_that_is_halved_again_and_again_holds_three_arrays_for_each_halving(n, arrays):
    halvings, computed = int(math.log2(n)), []

    def halves(x, n):
        if n == 1:
            computed.append(1)
            return np.sin(x)
        return ad.checkpoint(halves)(ad.checkpoint(halves)(x, n // 2), n // 2)

    tapes, most = [], 0

    def listen(event):
        nonlocal most
        if type(event).__name__ == "Record":
            tapes[:] = [tape for tape in {*tapes, event.tape} if tape.nbytes]
            most = max(most, sum(tape.nbytes for tape in tapes))

    with ad.hook(listen):
        ad.grad(lambda x: halves(x, n))(np.ones(10))
    assert arrays == most / 80 == 3 * halvings + 2
    assert len(computed) == n * (halvings + 1)
    assert (3 * 10 + 2, 10 + 1, 2 * 32 + 2) == (32, 11, 66)  # 1,024 is 2 to the power of 10, and 32 squared


def test_ten_checkpoints_and_three_runs_of_each_step_are_enough_for_286_steps():
    def longest(checkpoints, runs):
        """Return the longest chain: up to the next checkpoint one run is spent, and after it one checkpoint."""
        if checkpoints == 0 or runs == 0:
            return 1
        return longest(checkpoints, runs - 1) + longest(checkpoints - 1, runs)

    assert longest(10, 3) == math.comb(13, 3) == 286


def strip_of(cuts, n=16):
    """Return how many arrays are held while each segment is run again: its own, and the beginnings before it."""
    return [k + end - start for k, (start, end) in enumerate(itertools.pairwise([*cuts, n]))]


def test_16_steps_need_7_arrays_with_four_equal_segments_and_6_with_segments_that_get_shorter():
    assert max(strip_of([0, 8])) == 9
    assert max(strip_of([0, 4, 8, 12])) == 7
    assert max(strip_of([0, 6, 11, 14])) == 6
    every = [(0, *rest) for size in range(16) for rest in itertools.combinations(range(1, 16), size)]
    assert min(max(strip_of(cuts)) for cuts in every) == 6
    equal = [range(0, 16, length) for length in (1, 2, 4, 8, 16)]
    assert min(max(strip_of(cuts)) for cuts in equal) == 7


def test_a_network_that_widens_needs_580000_bytes_and_no_equal_segments_will_do():
    narrow, wide = 200 * 8 * 8, 200 * 32 * 8
    kernels = 8 * (7 * 64 + 64) + 8 * (8 * 32 + 7 * 32 * 32)
    assert narrow * (1 + 2 * 8) + wide * 2 * 8 + wide + 8 + kernels == 1_151_496
    weights = [ad.constant(np.full((a, b), 0.1)) for a, b in itertools.pairwise([8] * 9 + [32] * 8)]

    def cut(*lengths):
        def loss(x):
            first = 0
            for length in lengths:
                x = ad.checkpoint(layers)(x, weights[first : first + length])
                first += length
            return np.mean(x**2)

        return held_at_most(loss, ad.constant(np.ones((200, 8))))[1]

    assert cut(8, 2, 2, 2, 2) <= 580_000
    for lengths in ([16], [8] * 2, [6, 5, 5], [4] * 4, [3, 3, 3, 3, 4], [2] * 8, [1] * 16):
        assert cut(*lengths) > 580_000


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


def test_five_checkpoints_do_what_exercise_22_1_says():
    weights = [ad.Variable(w / 2) for w in np.random.default_rng(1).normal(size=(12, 8, 8))]
    start = ad.constant(np.random.default_rng(2).normal(size=(50, 8)))
    count = {"samples": 0}

    def plain(x):
        return np.mean(layers(x, weights) ** 2)

    def one(x):
        return np.mean(ad.checkpoint(layers)(x, weights) ** 2)

    def counts(x):
        def part(x, ws):
            count["samples"] += len(x)
            return layers(x, ws)

        for first in range(0, 12, 4):
            x = ad.checkpoint(part)(x, weights[first : first + 4])
        return np.mean(x**2)

    def seeds(wrap):
        random = np.random.default_rng(3)

        def layer(x, w, seed):
            kept = np.random.default_rng(seed).random(x.shape) < 0.5
            return 2.0 * kept * np.tanh(x @ w)

        def loss(x):
            for w in weights:
                x = wrap(layer)(x, w, int(random.integers(2**32)))
            return np.mean(x**2)

        return loss

    def late(x):
        for w in weights:
            x = ad.checkpoint(lambda x: np.tanh(x @ w))(x)  # noqa: B023 (that's the mistake)
        return np.mean(x**2)

    def noisy(wrap):
        random, noise = np.random.default_rng(4), np.empty((50, 8))

        def loss(x):
            for _ in range(12):
                noise[:] = random.normal(size=(50, 8))
                x = wrap(lambda x: np.tanh(x + noise))(x)
            return np.mean(x**2)

        return loss

    def slope(loss):
        return ad.grad(loss)(start).numpy()

    held = held_at_most(plain, start)[1]
    assert held_at_most(one, start)[1] >= held
    assert np.allclose(slope(one), slope(plain))
    count["samples"] = 0
    assert np.allclose(slope(counts), slope(plain))
    assert count["samples"] == 2 * 3 * 50
    assert held_at_most(counts, start)[1] < held
    assert np.allclose(slope(seeds(ad.checkpoint)), slope(seeds(lambda f: f)))
    assert held_at_most(seeds(ad.checkpoint), start)[1] < held_at_most(seeds(lambda f: f), start)[1]
    with pytest.raises(ValueError, match="different numbers"):
        slope(late)
    assert not np.allclose(slope(noisy(recomputed)), slope(noisy(lambda f: f)), rtol=0.1)


# Chapter 6 and on: state, chains of tapes, structures ---------------------------------------------------------------


def test_after_an_assign_the_gradient_with_respect_to_c_is_6_and_to_b_none():
    a, b, c = ad.Variable(1.0), ad.Variable(2.0), ad.Variable(0.0)
    with ad.GradientTape() as tape:
        c.assign(a + b)
        loss = np.mean(c**2)
    by_b, by_c = tape.gradient(loss, [b, c])
    assert (by_b, by_c) == (None, 6.0)


def test_without_the_assign_the_gradient_with_respect_to_b_is_6():
    a, b = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        c = a + b
        loss = np.mean(c**2)
    assert tape.gradient(loss, b) == 6.0


def test_the_cotangent_of_c_passed_on_through_output_gradients_gives_20_for_b():
    a, b, c = ad.Variable(1.0), ad.Variable(2.0), ad.Variable(0.0)
    with ad.GradientTape() as before:
        c_ = a + 2 * b
    c.assign(c_)
    with ad.GradientTape() as after:
        loss = np.mean(c**2)
    by_c = after.gradient(loss, c)
    assert by_c == 10.0
    assert before.gradient(c_, b, output_gradients=by_c) == 20.0


def test_for_vectors_the_chain_goes_through_the_jacobian():
    x, c = ad.Variable([1.0, 2.0]), ad.Variable([0.0, 0.0, 0.0])
    with ad.GradientTape(persistent=True) as before:
        c_ = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) @ x**2
    c.assign(c_)
    with ad.GradientTape() as after:
        loss = np.mean(c**2)
    by_c = after.gradient(loss, c).numpy()
    chained = np.sum(before.jacobian(c_, x).numpy() * by_c[:, None], axis=0)
    assert by_c.tolist() == pytest.approx([6.0, 38 / 3, 58 / 3], rel=1e-14)  # c is (9, 19, 29)
    assert chained.tolist() == pytest.approx([844 / 3, 2144 / 3], rel=1e-14)
    assert before.gradient(c_, x, output_gradients=by_c).tolist() == pytest.approx(chained.tolist(), rel=1e-14)


def test_a_list_of_cotangents_for_a_list_of_targets_adds_them_up():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        targets = [x**2, x * [1.0, 10.0]]
    assert tape.gradient(targets, x, output_gradients=[3.0, [4.0, 5.0]]) == 3 * 4 + 4 * 1 + 5 * 10


def test_the_norm_of_two_interpolated_numbers_has_slope_5_09339_at_a_hundredth():
    a, b, x = (1.0, 4.0), (2.0, 9.0), ad.Variable(0.01)
    with ad.GradientTape() as tape:
        c = [(1 - x) * a_k + x * b_k for a_k, b_k in zip(a, b, strict=True)]
        loss = np.linalg.norm(np.stack(c))
    slope = float(tape.gradient(loss, x))
    assert f"{slope:.5f}" == "5.09339"
    assert slope == pytest.approx((1.01 * 1 + 4.05 * 5) / math.hypot(1.01, 4.05), rel=1e-14)


def test_the_norm_of_three_norms_of_interpolated_vectors_is_9_974969_and_has_slope_2_30577():
    a, b, x = ([1.0, 2.0], [5.0], 7.0), ([3.0, 4.0], [6.0], 8.0), ad.Variable(0.5)
    with ad.GradientTape() as tape:
        c = [(1 - x) * np.array(a_k) + x * np.array(b_k) for a_k, b_k in zip(a, b, strict=True)]
        loss = np.linalg.norm(np.stack([np.linalg.norm(c_k) for c_k in c]))
    assert f"{float(loss):.6f}" == "9.974969"
    slope = float(tape.gradient(loss, x))
    assert f"{slope:.5f}" == "2.30577"
    # the norm of the norms is the norm of all numbers: (2, 3), 5.5 and 7.5, moving by (2, 2), 1 and 1
    assert slope == pytest.approx((2 * 2 + 3 * 2 + 5.5 + 7.5) / math.sqrt(99.5), rel=1e-14)


@pytest.mark.parametrize("structure", [list, tuple, lambda pair: dict(zip("wb", pair, strict=True))])
def test_the_gradients_of_a_line_s_cost_have_the_shapes_of_w_and_b_in_the_structure_asked_for(structure):
    w, b, x = ad.Variable(np.arange(6.0).reshape(3, 2)), ad.Variable([0.5, -0.5]), np.array([1.0, 2.0, 3.0])
    sources = structure([w, b])
    with ad.GradientTape() as tape:
        cost = np.mean((x @ w + b) ** 2)
    got = tape.gradient(cost, sources)
    assert type(got) is type(sources)
    by_w, by_b = got.values() if isinstance(got, dict) else got
    assert (by_w.shape, by_b.shape) == (w.shape, b.shape) == ((3, 2), (2,))
    # xw + b is (16.5, 21.5), and the mean is over two numbers
    assert by_b.tolist() == [16.5, 21.5]
    assert by_w.tolist() == [[16.5, 21.5], [33.0, 43.0], [49.5, 64.5]]


# Chapter 3: shapes --------------------------------------------------------------------------------------------------


def test_the_gradient_of_running_sums_is_the_transposed_jacobian_times_the_seed():
    x = ad.Variable([5.0, 6.0, 7.0])
    with ad.GradientTape(persistent=True) as tape:
        y = np.cumsum(x)
    assert tape.jacobian(y, x).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    for seed, wanted in (([1, 1, 1], [3, 2, 1]), ([0, 1, 0], [1, 1, 0]), ([1, 10, 100], [111, 110, 100])):
        assert tape.gradient(y, x, output_gradients=np.array(seed, float)).tolist() == wanted


@pytest.mark.parametrize(
    ("y", "by_y", "shape"),
    [([10.0, 20.0], (2,), (3, 2)), ([[10.0], [20.0], [30.0]], (3, 1), (3, 1)), (10.0, (), (3, 1))],
)
def test_a_gradient_has_its_source_s_shape_after_broadcasting(y, by_y, shape):
    x, y = ad.Variable([[1.0], [2.0], [3.0]]), ad.Variable(y)
    with ad.GradientTape() as tape:
        z = x + y
        s = np.sum(z * z)
    slopes = tape.gradient(s, [x, y])
    assert (z.shape, slopes[0].shape, slopes[1].shape) == (shape, (3, 1), by_y)
    assert by_y != (2,) or slopes[0][0, 0] == 64.0


def test_what_only_moves_elements_moves_the_cotangent_back_and_leaves_0_where_none_was_taken():
    x = ad.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with ad.GradientTape() as tape:
        y = np.reshape(x.T[1:], 4)
    assert tape.gradient(y, x, output_gradients=[10.0, 20.0, 30.0, 40.0]).tolist() == [[0, 10, 30], [0, 20, 40]]


# Chapter 23: trace once, run many -------------------------------------------------------------------------------------


HOURS, ABOVE_ROOM = np.linspace(0.0, 1.0, 6), np.array([0.70, 0.49, 0.34, 0.24, 0.17, 0.12])


def tea(start, rate):
    return np.mean((start * np.exp(-rate * HOURS) - ABOVE_ROOM) ** 2)


def tea_step(start, rate, size):
    slopes = ad.grad(tea, argnums=(0, 1))(start, rate)
    return start - size * slopes[0], rate - size * slopes[1], tea(start, rate)


def test_the_tea_starts_69_9_degrees_above_the_room_and_cools_at_1_78_per_hour():
    guess = np.array([0.5, 1.0])
    for _ in range(20):  # Gauss and Newton's steps, without a tape
        decay = np.exp(-guess[1] * HOURS)
        slopes = np.stack([decay, -guess[0] * HOURS * decay], axis=1)
        guess += np.linalg.lstsq(slopes, ABOVE_ROOM - guess[0] * decay, rcond=None)[0]
    assert (f"{100 * guess[0]:.1f}", f"{guess[1]:.2f}") == ("69.9", "1.78")
    start, rate, fast = 0.5, 1.0, ad.compile(tea_step)
    for _ in range(10_000):
        start, rate, _ = fast(start, rate, 0.5)
    assert np.allclose([float(start), float(rate)], guess, rtol=1e-6)


def test_the_first_passes_leave_28_26_25_and_20_operations_of_the_step():
    lengths = ad.compile(tea_step).program(0.5, 1.0, 0.5).lengths
    assert [lengths[name] for name in ("recorded", "unused", "folded", "shared")] == [28, 26, 25, 20]


# Appendix B: sparse Jacobians -----------------------------------------------------------------------------------------


def forces(h):
    cord = np.concatenate([[0.0], h, [0.0]])
    steep = cord[1:] - cord[:-1]
    pull = steep + steep**3
    return pull[1:] - pull[:-1] - 4 / len(steep)


def wire_forces(h):
    wire = np.concatenate([[0.0, 0.0], h, [0.0, 0.0]])
    bend = wire[2:] - 2 * wire[1:-1] + wire[:-2]
    return forces(h) - (bend[2:] - 2 * bend[1:-1] + bend[:-2])


def within(n, reach):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= reach


SIX = np.array([-3.0, -5.0, -6.0, -6.0, -5.0, -3.0])


@pytest.mark.parametrize(("f", "reach", "bending"), [(forces, 1, 0.0), (wire_forces, 2, 1.0)])
def test_the_jacobian_of_six_beads_is_that_of_its_formula(f, reach, bending):
    stiff = 1.0 + 3.0 * np.arange(-3.0, 4.0) ** 2  # of the seven links, whose steepness is -3 … 3
    formula = np.diag(stiff[1:-1], 1) + np.diag(stiff[1:-1], -1) - np.diag(stiff[1:] + stiff[:-1])
    for offset, weight in ((0, 6), (1, -4), (-1, -4), (2, 1), (-2, 1)):
        formula -= bending * weight * np.eye(6, k=offset)
    for mode in ("forward", "reverse"):
        found = ad.jacobian(f, mode=mode, sparsity=within(6, reach), check=True)(SIX)
        assert np.array_equal(found.toarray(), formula)
    if not bending:
        assert formula[[0, 3]].tolist() == [[-41, 13, 0, 0, 0, 0], [0, 0, 1, -5, 4, 0]]


def test_the_first_term_left_out_of_the_series_and_its_derivatives_are_small():
    term = np.polynomial.Polynomial([0, 0, 0, 0, 0, 0, 1 / 5040])
    assert term(0.01) < 2e-16
    assert term.deriv()(0.01) < 2e-13
    assert term.deriv(2)(0.01) < 6e-11


def test_each_tooth_is_one_array_lower_than_the_one_before():
    x, tapes, held = np.linspace(0.0, 2.0, 1000), set(), []

    def ten(x):
        for _ in range(10):
            x = np.sin(x)
        return x

    def chain(x):
        for _ in range(10):
            x = ad.checkpoint(ten)(x)
        return np.sum(x)

    def listen(event):
        if type(event).__name__ in ("Record", "PullBack"):
            tapes.add(event.tape)
            held.append(sum(tape.nbytes for tape in tapes) // 8000)

    with ad.hook(listen):
        ad.grad(chain)(x)
    heights = [height for height, _ in itertools.groupby(held)]
    neighbours = list(zip(heights, heights[1:], heights[2:], strict=False))
    assert [height for before, height, after in neighbours if before < height > after] == list(range(22, 12, -1))
    assert [height for before, height, after in neighbours if before > height < after] == list(range(10, 1, -1))


def test_of_a_million_numbers_2998_are_not_0_and_take_23984_bytes():
    found = ad.jacobian(forces, sparsity=within(1000, 1))(np.zeros(1000))
    assert found.nnz == np.count_nonzero(found.toarray()) == 1000 + 2 * 999 == 2998
    assert (found.data.nbytes, 1000 * 1000 * 8) == (23_984, 8_000_000)
    assert pytest.approx(99.7, abs=0.01) == 100 * (1 - 2998 / 1000**2)


def test_twenty_thousand_beads_take_places_and_not_3_2_gigabytes():
    rows, columns = (np.concatenate(part) for part in zip(*(_diagonal(20_000, k) for k in (-1, 0, 1)), strict=True))
    found = ad.jacobian(forces, sparsity=(rows, columns), check=True)(np.zeros(20_000))
    assert (found.nnz, 8 * 20_000**2) == (59_998, 3_200_000_000)


def _diagonal(n, k):
    return np.arange(max(0, -k), n - max(0, k)), np.arange(max(0, k), n + min(0, k))


def sag(links):
    """Return the lowest height: the pull grows by 4 / links from each link to the next, and is 0 in the middle."""
    pulls = 4 / links * (np.arange(links) - (links - 1) / 2)
    steep = [np.roots([1.0, 0.0, 1.0, -pull]) for pull in pulls]
    return np.cumsum([roots[np.abs(roots.imag).argmin()].real for roots in steep]).min()


def by_newton(f, jacobian, turns):
    h, path = np.zeros(1000), []
    for _ in range(turns):
        path.append((h.min(), np.abs(f(h)).sum()))
        h = h - spsolve(jacobian(h).tocsr(), f(h))
    return path


def test_the_cord_hangs_5_16_of_its_span_deep_after_six_turns_of_newton():
    assert f"{sag(1001):.1f}" == "-312.8"
    assert sag(1001) / 1001 == pytest.approx(-5 / 16, rel=1e-5)
    path = by_newton(forces, ad.jacobian(forces, sparsity=within(1000, 1)), 7)
    assert [f"{lowest:.1f}" for lowest, _ in path] == [
        "0.0",
        "-500.5",
        "-369.3",
        "-321.2",
        "-313.1",
        "-312.8",
        "-312.8",
    ]
    assert path[1][0] == pytest.approx(-2 / 1001 * 500 * 501)  # where pull and steepness were the same
    assert [f"{left:.0e}" for _, left in path[:6]] == ["4e+00", "2e+01", "4e+00", "7e-01", "4e-02", "1e-04"]
    assert path[6][1] < 1e-8


def test_conjugate_gradients_take_500_products_in_the_first_turn_and_more_later():
    def products(h):
        matrix, missing = -ad.jacobian(forces, sparsity=within(1000, 1))(h), forces(h)
        direction, count = missing, 0
        while np.linalg.norm(missing) >= 1e-12 and count < 1000:
            along = matrix @ direction
            left = missing - (missing @ direction) / (direction @ along) * along
            direction, missing = left - (left @ along) / (direction @ along) * direction, left
            count += 1
        return count

    flat = np.zeros(1000)
    assert products(flat) == 500  # by symmetry, half of the 1,000 eigenvectors play no part
    once = flat - np.linalg.solve(ad.jacobian(forces)(flat).numpy(), forces(flat))
    assert products(once) > 500


def test_the_pattern_moves_333_times_fewer_numbers_for_1000_beads():
    def moved(f, x):
        found = []
        with ad.hook(lambda event: found.append(event.cotangent.size if type(event).__name__ == "PullBack" else 0)):
            f(x)
        return sum(found)

    for n in (10, 100, 1000):  # of ten entries, four for the n + 1 links, five for the beads, and one for both hooks
        row = sum([n] * 4 + [n + 1] * 5 + [n + 2])
        dense = moved(ad.jacobian(forces, mode="reverse"), np.zeros(n))
        sparse = moved(ad.jacobian(forces, mode="reverse", sparsity=within(n, 1)), np.zeros(n))
        assert (dense, sparse) == (n * row, 3 * row)
    assert (dense, sparse) == (10_007_000, 30_021)


def greedy(pattern):
    """Colour rows by the graph in which two that share a column are neighbours, where the chapter keeps sets."""
    shared = (pattern.astype(int) @ pattern.T.astype(int)) > 0
    colours = np.full(len(pattern), -1)
    for row in range(len(pattern)):
        taken = set(colours[:row][shared[row, :row]])
        colours[row] = min(set(range(row + 1)) - taken)
    return colours


def test_greedy_takes_3_5_7_2_400_and_400_colours_and_5_are_enough_for_a_grid():
    arrow = np.eye(400) > 0
    arrow[-1] = True
    i, j = np.divmod(np.arange(400), 20)
    grid = np.abs(np.subtract.outer(i, i)) + np.abs(np.subtract.outer(j, j)) <= 1
    patterns = within(400, 1), within(400, 2), grid, arrow, arrow | arrow.T, np.ones((400, 400), dtype=bool)
    assert [greedy(pattern).max() + 1 for pattern in patterns] == [3, 5, 7, 2, 400, 400]
    assert [greedy(pattern.T).max() + 1 for pattern in patterns] == [3, 5, 7, 400, 400, 400]
    five = (i + 2 * j) % 5
    for column in grid.T:
        assert len(set(five[column])) == column.sum()


def test_one_seed_and_two_tangents_find_an_arrow_both_ways():
    hidden = np.diag(np.arange(1.0, 401.0))
    hidden[-1], hidden[:, -1] = np.arange(2.0, 402.0), np.arange(3.0, 403.0)
    last = np.eye(400)[-1]
    found = np.diag(hidden @ (1 - last))
    found[:, -1], found[-1] = hidden @ last, last @ hidden
    assert np.array_equal(found, hidden)


def test_two_seeds_are_enough_for_the_cord_because_its_jacobian_is_symmetric():
    true = ad.jacobian(forces)(SIX).numpy()
    even = (np.arange(6) % 2 == 0) * 1.0
    mixed = np.stack([even @ true, (1 - even) @ true])
    found = np.diag(mixed[np.arange(6) % 2, np.arange(6)])
    for row in range(5):  # the other seed brings column `row` back: the two neighbours, and one of them is known
        known = found[row - 1, row] if row else 0.0
        found[row, row + 1] = found[row + 1, row] = mixed[(row + 1) % 2, row] - known
    assert np.array_equal(found, true)


def test_exercise_b_1_takes_greedy_three_colours_and_b_3_the_better_way():
    columns = ((0,), (2, 3), (0, 1), (1, 2), (3, 4), (4,))
    pattern = np.array([[column in row for column in range(5)] for row in columns])
    assert greedy(pattern).tolist() == [0, 0, 1, 2, 1, 0]
    rows, places = np.ogrid[:100, :100]
    a = (rows == places) | (places == 0)
    rows, places = np.ogrid[:50, :100]
    b = places // 2 == rows
    rows, places = np.ogrid[:99, :198]
    e = (places >= 2 * rows - 2) & (places <= 2 * rows + 1)
    found = [(greedy(one).max() + 1, greedy(one.T).max() + 1) for one in (a, b, a.T, np.ones((100, 3)) > 0, e)]
    assert found == [(100, 2), (1, 2), (2, 100), (100, 3), (2, 4)]


# Chapter 28: a project ------------------------------------------------------------------------------------------------


def test_the_formulas_of_the_projects_checks_are_those_of_the_tape():
    draw = np.random.default_rng(0)
    image, kernel, g = (ad.constant(draw.normal(size=shape)) for shape in ((6, 7), (3, 2), (4, 6)))
    with ad.GradientTape() as tape:
        tape.watch([image, kernel])
        y = project_answers.slide(image, kernel)
    to_image, to_kernel = tape.gradient(y, [image, kernel], output_gradients=g)
    assert np.allclose(to_image, project_answers.scattered(kernel.numpy(), g.numpy()))
    assert np.allclose(to_image, project_answers.to_image(kernel.numpy(), g.numpy()))
    assert np.allclose(to_kernel, project_answers.slide(image.numpy(), g.numpy()))

    q, k, v, g = draw.normal(size=(4, 2, 5, 3))
    taped, by_hand = project_answers.with_a_tape(q, k, v, g), project_answers.pull(q, k, v, g)
    assert all(np.allclose(a, b) for a, b in zip(taped, by_hand, strict=True))


def test_a_kernel_of_3_by_3_fits_into_20_by_20_at_18_by_18_places():
    fits = [(i, j) for i in range(20) for j in range(20) if i + 3 <= 20 and j + 3 <= 20]
    assert len(fits) == 18 * 18
    assert np.lib.stride_tricks.sliding_window_view(np.zeros((20, 20)), (3, 3)).shape == (18, 18, 3, 3)


@pytest.mark.parametrize(("length", "names", "once"), [(6, project_tape.ALL, True), (30, project_tape.ALL, False)])
def test_the_programs_that_another_tape_is_sent_have_derivatives_known_to_nine_digits(length, names, once):
    for program in project_tape.draw_programs(224, 40, length, names, once=once):
        wanted = project_tape.run_on_tape(program)
        by_hand = project_answers.one(program)
        assert wanted["value"] == pytest.approx(by_hand["value"], rel=1e-12)
        assert wanted["gradient"] == pytest.approx(by_hand["gradient"], rel=1e-10, abs=1e-10)
        uses = [place for _, *at in program["operations"] for place in at]
        assert len(program["operations"]) == length
        if once:
            assert sorted(uses) == list(range(len(program["inputs"]) + length - 1))


def test_each_operation_of_the_format_and_forks_are_in_the_programs():
    sent = project_tape.draw_programs(224, 40, 30, project_tape.ALL)
    assert {name for program in sent for name, *_ in program["operations"]} == set(project_tape.ALL)
    assert sum(any(project_tape.run_on_tape(program)["gradient"]) for program in sent) == 40
