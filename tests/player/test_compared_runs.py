"""Comparing two runs: what differs is found at its first line, and what only looks different is not."""

import json
import re

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player import compare

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [-0.1, 0.8, 1.2]])
W = np.array([[0.3, -0.6, 0.1], [0.9, 0.2, -0.4], [-0.5, 0.7, 0.8]])
V = np.array([0.7, -1.3, 2.1])
ROWS = np.array([True, True, False])


# Pairs with a difference: f, g, their arguments, and the first line that differs --------------------------------------


def a_wrong_sign():
    def f(x, v):
        y = x @ v
        z = y - 1.0
        return np.sum(z * z)

    def g(x, v):
        y = x @ v
        z = y + 1.0
        return np.sum(z * z)

    return f, g, (X, V), "z = y + 1.0"


def a_forgotten_minus():
    def f(v):
        p = np.exp(v) / np.sum(np.exp(v))
        return -np.sum(np.log(p))

    def g(v):
        p = np.exp(v) / np.sum(np.exp(v))
        return np.sum(np.log(p))

    return f, g, (V,), "return -np.sum(np.log(p))"


def a_missing_mask():
    def f(x, w):
        scores = x @ w
        scores = np.where(ROWS, scores, -1e9)
        weights = np.exp(scores - np.max(scores))
        return np.sum(weights * x)

    def g(x, w):
        scores = x @ w
        weights = np.exp(scores - np.max(scores))
        return np.sum(weights * x)

    return f, g, (X, W), "scores = np.where(ROWS, scores, -1e9)"


def a_mask_upside_down():
    def f(x, w):
        scores = x @ w
        scores = np.where(ROWS, scores, -1e9)
        return np.sum(np.exp(scores))

    def g(x, w):
        scores = x @ w
        scores = np.where(~ROWS, scores, -1e9)
        return np.sum(np.exp(scores))

    return f, g, (X, W), "scores = np.where(~ROWS, scores, -1e9)"


def a_mask_upside_down_in_float32():
    f, g, _, line = a_mask_upside_down()
    return f, g, (X.astype(np.float32), W.astype(np.float32)), line


def float32_for_float64():
    def f(x, v):
        y = x @ v
        return np.sum(np.exp(y))

    def g(x, v):
        y = x.astype(np.float32) @ v.astype(np.float32)
        return np.sum(np.exp(y))

    return f, g, (X, V), "y = x.astype(np.float32) @ v.astype(np.float32)"


def a_float32_constant():
    scale = np.float32(0.1) * np.ones(3)
    single = scale.astype(np.float32)

    def f(x):
        y = x * np.array([0.1, 0.1, 0.1])
        return np.sum(np.sin(y))

    def g(x):
        y = x * single
        return np.sum(np.sin(y))

    return f, g, (X,), "y = x * single"


def mean_for_sum():
    def f(x, v):
        error = x @ v - 1.0
        return np.sum(error * error)

    def g(x, v):
        error = x @ v - 1.0
        return np.mean(error * error)

    return f, g, (X, V), "return np.mean(error * error)"


def a_branch_detached_by_stop_gradient():
    def f(x, v):
        y = np.tanh(x @ v)
        target = y * 0.9
        return np.sum((y - target) ** 2)

    def g(x, v):
        y = np.tanh(x @ v)
        target = ad.stop_gradient(y * 0.9)
        return np.sum((y - target) ** 2)

    return f, g, (X, V), "target = ad.stop_gradient(y * 0.9)"


def a_branch_detached_by_numpy():
    def f(x, v):
        y = np.tanh(x @ v)
        scale = np.max(y)
        z = y / scale
        return np.sum(z * z)

    def g(x, v):
        y = np.tanh(x @ v)
        scale = np.max(y).numpy()
        z = y / scale
        return np.sum(z * z)

    return f, g, (X, V), "z = y / scale"  # the first line that sends nothing back to it


def a_branch_that_a_paused_tape_misses():
    def f(v):
        x = ad.constant(v)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = x * 2.0
            z = y * x
        return tape.gradient(z, x)

    def g(v):
        x = ad.constant(v)
        with ad.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                y = x * 2.0
            z = y * x
        return tape.gradient(z, x)

    return f, g, (V,), "y = x * 2.0"


def a_sum_along_the_other_axis():
    def f(x):
        e = np.exp(x)
        p = e / np.sum(e, axis=1, keepdims=True)
        return np.sum(p * p)

    def g(x):
        e = np.exp(x)
        p = e / np.sum(e, axis=0, keepdims=True)
        return np.sum(p * p)

    return f, g, (X,), "p = e / np.sum(e, axis=0, keepdims=True)"


def a_sum_without_its_axis():
    def f(x):
        e = np.exp(x)
        s = np.sum(e, axis=1)
        return np.sum(np.log(s))

    def g(x):
        e = np.exp(x)
        s = np.sum(e)
        return np.sum(np.log(s))

    return f, g, (X,), "s = np.sum(e)"


def another_epsilon():
    def f(x):
        centred = x - np.mean(x)
        scaled = centred / np.sqrt(np.mean(centred * centred) + 1e-8)
        return np.sum(scaled**3)

    def g(x):
        centred = x - np.mean(x)
        scaled = centred / np.sqrt(np.mean(centred * centred) + 1e-9)
        return np.sum(scaled**3)

    return f, g, (X,), "scaled = centred / np.sqrt(np.mean(centred * centred) + 1e-9)"


def a_missing_transpose():
    def f(x, w):
        y = x @ w.T
        return np.sum(y * y)

    def g(x, w):
        y = x @ w
        return np.sum(y * y)

    return f, g, (X, W), "y = x @ w.T"


def a_column_that_is_broadcast():
    def f(x, v):
        error = x @ v - v
        return np.sum(error * error)

    def g(x, v):
        error = x @ v[:, None] - v
        return np.sum(error * error)

    return f, g, (X, V), "error = x @ v[:, None] - v"


def the_wrong_weights():
    def f(x, w1, w2):
        h = np.tanh(x @ w1)
        y = h @ w2
        return np.sum(y * y)

    def g(x, w1, w2):
        h = np.tanh(x @ w1)
        y = h @ w1
        return np.sum(y * y)

    return f, g, (X, W, W + 0.1), "y = h @ w1"


def a_slice_one_off():
    def f(v):
        steps = v[1:] - v[:-1]
        return np.sum(steps * steps)

    def g(v):
        steps = v[1:] - v[1:]
        return np.sum(steps * steps)

    return f, g, (V,), "steps = v[1:] - v[1:]"


def another_learning_rate():
    def f(x):
        w = ad.Variable(np.ones(3), name="w")
        for _ in range(2):
            with ad.GradientTape() as tape:
                loss = np.sum((x @ w) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))

    def g(x):
        w = ad.Variable(np.ones(3), name="w")
        for _ in range(2):
            with ad.GradientTape() as tape:
                loss = np.sum((x @ w) ** 2)
            w.assign_sub(0.01 * tape.gradient(loss, w))

    return f, g, (X,), "w.assign_sub(0.01 * tape.gradient(loss, w))"


def another_start():
    def f(x):
        w = ad.Variable(2.0, name="w")
        y = x * w
        return np.sum(y)

    def g(x):
        w = ad.Variable(2.5, name="w")
        y = x * w
        return np.sum(y)

    return f, g, (X,), "y = x * w"


def attention_without_its_scale():
    def f(x, w):
        scores = x @ w / np.sqrt(3.0)
        weights = np.exp(scores)
        return np.sum(weights @ x)

    def g(x, w):
        scores = x @ w
        weights = np.exp(scores)
        return np.sum(weights @ x)

    return f, g, (X, W), "scores = x @ w / np.sqrt(3.0)"


def one_turn_too_few():
    def f(v):
        h = v
        for _ in range(4):
            h = np.tanh(h * 0.9)
        return np.sum(h)

    def g(v):
        h = v
        for _ in range(3):
            h = np.tanh(h * 0.9)
        return np.sum(h)

    return f, g, (V,), "h = np.tanh(h * 0.9)"


@ad.custom_gradient
def softplus(x):
    e = np.exp(x)
    return np.log(1.0 + e), lambda g: g * e / (1.0 + e)


@ad.custom_gradient
def wrong_softplus(x):
    e = np.exp(x)
    return np.log(1.0 + e), lambda g: g / (1.0 + e)


def a_wrong_custom_gradient():
    def f(v):
        y = softplus(v)
        return np.sum(y * y)

    def g(v):
        y = wrong_softplus(v)
        return np.sum(y * y)

    return f, g, (V,), "return np.log(1.0 + e), lambda g: g / (1.0 + e)"


def another_activation():
    def f(x, w):
        h = np.maximum(x @ w, 0.0)
        return np.sum(h * h)

    def g(x, w):
        h = x @ w
        h = np.maximum(h, 0.01 * h)
        return np.sum(h * h)

    return f, g, (X, W), "h = np.maximum(h, 0.01 * h)"


def a_forgotten_bias():
    def f(x, w, b):
        h = x @ w + b
        return np.sum(np.tanh(h))

    def g(x, w, b):
        h = x @ w
        return np.sum(np.tanh(h))

    return f, g, (X, W, V), "h = x @ w + b"


def another_power():
    def f(x, v):
        error = x @ v
        return np.sum(error**2)

    def g(x, v):
        error = x @ v
        return np.sum(error**4)

    return f, g, (X, V), "return np.sum(error**4)"


def a_term_more():
    def f(x, v):
        return np.mean((x @ v) ** 2)

    def g(x, v):
        fit = np.mean((x @ v) ** 2)
        return fit + 0.01 * np.sum(v * v)

    return f, g, (X, V), "return fit + 0.01 * np.sum(v * v)"


def a_rounded_value():
    def f(v):
        y = v * 3.0
        return np.sum(y * v)

    def g(v):
        y = np.round(v * 3.0)
        return np.sum(y * v)

    return f, g, (V,), "y = np.round(v * 3.0)"


def a_constant_factor_a_millionth_as_large():
    def f(x):
        return np.sum(x * x) / 1e6

    def g(x):
        return np.sum(x * x) / 2e6

    return f, g, (X.astype(np.float32),), "return np.sum(x * x) / 2e6"


def a_value_that_is_another_after_a_change_of_names_and_order():
    def f(x, w1, w2):
        a = x @ w1
        b = x @ w2
        return np.sum(np.tanh(a) * np.exp(b))

    def g(x, first, second):
        right = x @ second
        left = x @ first
        return np.sum(np.exp(right) * np.tanh(2.0 * left))

    return f, g, (X, W, W + 0.1), "return np.sum(np.exp(right) * np.tanh(2.0 * left))"


DIFFERENT = [
    a_wrong_sign,
    a_forgotten_minus,
    a_missing_mask,
    a_mask_upside_down,
    a_mask_upside_down_in_float32,
    float32_for_float64,
    a_float32_constant,
    mean_for_sum,
    a_branch_detached_by_stop_gradient,
    a_branch_detached_by_numpy,
    a_branch_that_a_paused_tape_misses,
    a_sum_along_the_other_axis,
    a_sum_without_its_axis,
    another_epsilon,
    a_missing_transpose,
    a_column_that_is_broadcast,
    the_wrong_weights,
    a_slice_one_off,
    another_learning_rate,
    another_start,
    attention_without_its_scale,
    one_turn_too_few,
    a_wrong_custom_gradient,
    another_activation,
    a_forgotten_bias,
    another_power,
    a_term_more,
    a_rounded_value,
    a_constant_factor_a_millionth_as_large,
    a_value_that_is_another_after_a_change_of_names_and_order,
]


@pytest.mark.parametrize("pair", DIFFERENT)
def test_the_first_line_that_differs_is_found(pair):
    f, g, args, line = pair()
    found = ad.compare(f, g, *args)
    assert not found
    number = found.difference.steps[1] is not None  # the second run, unless only the first has the step
    player, step = (found.second if number else found.first), found.difference.steps[number]
    assert player.step == step
    trace = player._content["trace"]
    where = trace["steps"][step - 1]["where"]
    code = trace["code"][where["code"]]
    assert code["lines"][where["line"] - code["first_line"]].strip() == line
    assert line in str(found)
    assert found.agreed == 0 or "before it" in str(found)


# Pairs that differ only in order, names and spelling ------------------------------------------------------------------


def other_names():
    def f(x, w):
        hidden = np.tanh(x @ w)
        return np.mean(hidden * hidden)

    def g(inputs, weights):
        h = np.tanh(inputs @ weights)
        return np.mean(h * h)

    return f, g, (X, W)


def another_order():
    def f(x, w, v):
        a = np.sin(x @ w)
        b = np.exp(x @ v)
        return np.sum(a) + np.sum(b)

    def g(x, w, v):
        b = np.exp(x @ v)
        a = np.sin(x @ w)
        right = np.sum(b)
        return np.sum(a) + right

    return f, g, (X, W, V)


def another_order_and_other_names():
    def f(x, w1, w2):
        a = x @ w1
        b = x @ w2
        c = np.tanh(a) * np.exp(b)
        return np.sum(c * a)

    def g(rows, first, second):
        right = rows @ second
        grown = np.exp(right)
        left = rows @ first
        both = np.tanh(left) * grown
        return np.sum(both * left)

    return f, g, (X, W, W + 0.1)


def operands_the_other_way_round():
    def f(x, v):
        y = x * v + 1.0
        return np.sum(np.maximum(y, v) * x)

    def g(x, v):
        y = 1.0 + v * x
        return np.sum(x * np.maximum(v, y))

    return f, g, (X, V)


def a_helper():
    def f(x, w):
        p = np.exp(x @ w)
        q = p / np.sum(p, axis=1, keepdims=True)
        return np.sum(q * q)

    def softmax(scores):
        e = np.exp(scores)
        return e / np.sum(e, axis=1, keepdims=True)

    def g(x, w):
        q = softmax(x @ w)
        return np.sum(q * q)

    return f, g, (X, W)


def a_square_spelt_otherwise():
    def f(x, v):
        error = x @ v - 1.0
        return np.mean(error * error)

    def g(x, v):
        error = x @ v - 1.0
        return np.mean(error**2)

    return f, g, (X, V)


def a_sum_in_another_order():
    def f(x, v):
        return np.sum(np.sin((x + v) + 0.1))

    def g(x, v):
        return np.sum(np.sin(x + (v + 0.1)))

    return f, g, (X, V)


def a_maximum_spelt_otherwise():
    def f(x, w):
        h = np.maximum(x @ w, 0.0)
        return np.sum(h @ w)

    def g(x, w):
        h = x @ w
        h = np.where(h > 0.0, h, 0.0)
        return np.sum(h @ w)

    return f, g, (X, W)


def a_loss_that_is_printed():
    def f(x, v):
        return np.mean((x @ v) ** 2)

    def g(x, v):
        error = x @ v
        assert np.max(np.abs(error)).numpy() < 100
        loss = np.mean(error**2)
        assert f"{loss:.3f}"
        return loss

    return f, g, (X, V)


def a_factor_of_one():
    def f(x, v):
        return np.sum(np.sin(x @ v))

    def g(x, v, keep=1.0):
        y = (x @ v) * keep
        return np.sum(np.sin(y.reshape(3, 1)).reshape(3))

    return f, g, (X, V)


def a_training_in_other_words():
    def f(x):
        w = ad.Variable(np.ones(3), name="w")
        b = ad.Variable(0.5, name="b")
        for _ in range(3):
            with ad.GradientTape() as tape:
                loss = np.mean((x @ w + b) ** 2)
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)

    def g(x):
        bias = ad.Variable(0.5, name="bias")
        weights = ad.Variable(np.ones(3), name="weights")
        step = 0
        while step < 3:
            with ad.GradientTape() as tape:
                error = bias + x @ weights
                loss = np.mean(error**2)
            slopes = tape.gradient(loss, [bias, weights])
            for variable, slope in zip([bias, weights], slopes, strict=True):
                variable.assign(variable - 0.1 * slope)
            step += 1

    return f, g, (X,)


def a_sum_of_many_in_float32():
    numbers = np.sin(np.arange(5000.0)).astype(np.float32)

    def f(v):
        y = v * numbers
        return np.exp(np.sum(y) - 1.0) * np.sum(y)

    def g(v):
        y = v * numbers
        total = np.sum(np.reshape(y, (50, 100)), axis=1)
        return np.exp(np.sum(total) - 1.0) * np.sum(y)

    return f, g, (np.float32(0.7),)


ALIKE = [
    other_names,
    another_order,
    another_order_and_other_names,
    operands_the_other_way_round,
    a_helper,
    a_square_spelt_otherwise,
    a_sum_in_another_order,
    a_maximum_spelt_otherwise,
    a_loss_that_is_printed,
    a_factor_of_one,
    a_training_in_other_words,
    a_sum_of_many_in_float32,
]


@pytest.mark.parametrize("pair", ALIKE)
def test_nothing_differs_where_only_order_names_or_spelling_do(pair):
    f, g, args = pair()
    for one, other in ((f, g), (g, f), (f, f)):
        found = ad.compare(one, other, *args)
        assert found, str(found)
        assert str(found).startswith("Nothing differs")
        assert found.agreed >= 9  # the steps of both passes, not only the result


# What is said and shown -----------------------------------------------------------------------------------------------


def test_the_text_has_both_numbers_both_lines_and_the_size():
    f, g, args, _ = another_epsilon()
    sentence, one, other, remark = str(ad.compare(f, g, *args)).splitlines()
    assert sentence == (
        "np.mean(centred * centred) + 1e-8 is 0.895987664 in f; np.mean(centred * centred) + 1e-9 is 0.895987655 in g."
    )
    lines = ["scaled = centred / np.sqrt(np.mean(centred * centred) + 1e-8)"]
    lines += [lines[0].replace("1e-8", "1e-9")]
    assert [line.partition(": ")[2] for line in (one, other)] == lines
    assert one.startswith("f, test_compared_runs.py, line ")
    assert other.startswith("g, test_compared_runs.py, line ")
    size = 9e-9 / 0.895987664 / np.finfo(float).eps
    assert remark == f"4 steps agree before it. Its numbers are up to {size:.2g} eps apart."


def test_results_that_differ_by_cancellation_are_told_before_cotangents_that_do():
    def bad(x):
        return np.sqrt(x + 1) - np.sqrt(x)

    def good(x):
        return 1 / (np.sqrt(x + 1) + np.sqrt(x))

    found = ad.compare(bad, good, 1e15)
    assert (bool(found), found.difference.steps) == (False, (5, 6)), "where the results are computed"
    assert str(found).splitlines()[0] == (
        "No single step of the forward pass differs by more than rounding. But here the rounding adds up to a visible "
        "difference: the result is 1.86265e-08 in bad and 1.58114e-08 in good."
    )


@pytest.mark.parametrize(
    ("pair", "kind", "text"),
    [
        (a_forgotten_minus, "missing", "Only f computes -np.sum(np.log(p)), which is 5.54051."),
        (a_branch_detached_by_numpy, "missing", "Only f has a contribution to scale, which is -4.5306."),
        (a_branch_that_a_paused_tape_misses, "recording", "y is recorded in f and not recorded in g."),
        (a_sum_without_its_axis, "shape", "s is of shape (3,) in f and of shape () in g."),
        (mean_for_sum, "operation", "The operations differ: f computes np.sum(error * error), which is 27.1131; "),
        (another_learning_rate, "value", "The new value of w at [2] is 0.094 in f and 0.9094 in g."),
        (a_wrong_custom_gradient, "value", "The contribution to v at [2] is 3.94763 in f and 0.483412 in g."),
    ],
)
def test_every_kind_of_difference_is_a_sentence(pair, kind, text):
    f, g, args, _ = pair()
    found = ad.compare(f, g, *args)
    assert found.difference.kind == kind
    assert found.difference.text.startswith(text)
    assert found.difference.text in repr(found)


def test_another_dtype_alone_is_a_difference():
    x = ad.constant(np.array([0.5, 2.0]))
    single = ad.constant(np.array([0.5, 2.0], dtype=np.float32))
    found = ad.compare(lambda v: np.sum(v * x), lambda v: np.sum(v * single), np.array([1, 2], dtype=np.float32))
    assert found.difference.kind == "dtype"
    assert "[0.5 4] (float64) in the first run; v * single is [0.5 4] (float32)" in found.difference.text


def test_numbers_that_are_not_finite_agree_with_themselves_alone():
    def f(x):
        return np.sum(np.log(x))

    x = np.array([-1.0, 0.0, 2.0])
    with np.errstate(all="ignore"):
        assert ad.compare(f, f, x)
        found = ad.compare(lambda x: x * np.array([np.inf, 1.0]), lambda x: x * np.array([-np.inf, 1.0]), x[1:] + 1.0)
    assert "at [0] is inf in the first run" in str(found)
    assert "eps" not in str(found)


def test_a_cell_shows_the_sentence_above_the_player_of_the_run_that_has_the_step():
    f, g, args, line = a_wrong_sign()
    found = ad.compare(f, g, *args)
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == str(found)
    about, _, player = shown["text/html"].partition("<div data-autodiff-player")
    assert found.difference.text.replace("<", "&lt;") in about
    assert line in about
    assert f'data-start="{found.difference.steps[1] - 1}"' in player
    f, g, args, _ = a_forgotten_minus()
    found = ad.compare(f, g, *args)
    here, there = found.difference.steps
    assert there is None
    assert (found.first.step, found.second.step) == (here, 1)
    assert f'data-start="{here - 1}"' in found._repr_mimebundle_()["text/html"]


def test_what_the_user_wrote_is_text_on_the_page():
    found = ad.compare(lambda x: x * len("<b>"), lambda x: x * len("<i>x"), 2.0)
    about = found._repr_mimebundle_()["text/html"].partition("<div data-autodiff-player")[0]
    assert "<b>" not in about
    assert "&lt;b&gt;" in about


# What is compared -----------------------------------------------------------------------------------------------------


def test_traces_are_compared_by_their_titles():
    w = ad.Variable(2.0, name="w")

    def step(title, rate):
        w.assign(2.0)
        with ad.trace(title) as steps:
            with ad.GradientTape() as tape:
                loss = w * w
            w.assign_sub(rate * tape.gradient(loss, w))
        return steps

    assert ad.compare(step("before", 0.1), step("after", 0.1))
    found = ad.compare(step("before", 0.1), step("after", 0.2))
    assert found.difference.text == "The new value of w is 1.6 in before and 1.2 in after."


def test_a_long_run_is_matched_some_entries_at_a_time():
    def f(v):
        h = v
        for _ in range(150):
            h = np.tanh(h * h) + v
        return np.sum(h)

    def g(x):
        state = x
        for _ in range(150):
            state = np.tanh(state**2) + x
        return np.sum(state)

    def mean(x):
        state = x
        for _ in range(150):
            state = np.tanh(state**2) + x
        return np.mean(state)

    found = ad.compare(f, g, V)
    assert found
    assert found.agreed > 900
    found = ad.compare(f, mean, V)
    assert found.difference.kind == "operation"
    assert "mean computes np.mean(state)" in found.difference.text


def test_a_document_from_elsewhere_is_compared_by_what_is_in_it():
    """It has six digits, and a sample of a large array."""
    x = np.linspace(0.0, 1.0, 1000)

    def f(x):
        return np.sum(np.sin(x) / 3.0)

    def g(x):
        return np.sum(np.sin(x) / 3.001)

    class Elsewhere:
        def document(self):
            return json.loads(json.dumps(ad.play(f, x)._content["trace"]))  # "data" of 250 numbers

    assert ad.compare(f, Elsewhere(), x)
    index, number = re.match(
        r"np.sin\(x\) / 3.0 at \[(\d+)\] is (\S+) in f", str(ad.compare(Elsewhere(), g, x))
    ).groups()
    assert float(number) == pytest.approx(np.sin(x[int(index)]) / 3.0, rel=1e-5)


def test_what_the_first_run_assigns_does_not_reach_the_second():
    w = ad.Variable(2.0, name="w")

    def train(w):
        with ad.GradientTape() as tape:
            loss = w * w
        w.assign_sub(0.1 * tape.gradient(loss, w))

    assert ad.compare(train, train, w)
    assert float(w) == 1.6


def test_a_framework_is_handed_on_to_what_traces(monkeypatch):
    seen = []

    def trace_call(function, args, framework):
        seen.append(framework)
        return traced(function, args)

    traced = compare.trace_call
    monkeypatch.setattr(compare, "trace_call", trace_call)
    for framework in (None, "jax", ("jax", None)):
        assert ad.compare(np.sin, np.sin, 1.0, framework=framework)
    assert seen == [None, None, "jax", "jax", "jax", None]


class Computed:
    """Refuses to be copied, as PyTorch's tensors do once they are computed."""

    def __deepcopy__(self, known):
        raise RuntimeError("Only Tensors created explicitly by the user support the deepcopy protocol")


def test_what_cannot_be_compared_is_refused_in_words():
    with pytest.raises(ValueError, match="neither run recorded anything"):
        ad.compare(lambda x: 3.0, lambda x: 3.0, 1.0)
    with pytest.raises(TypeError, match="compare takes two functions and their arguments, or two traces, not 3"):
        ad.compare(np.sin, 3, 1.0)
    with pytest.raises(TypeError, match=r"cannot copy the arguments .* such as x\.detach\(\)\.requires_grad_\(\)"):
        ad.compare(np.sin, np.sin, Computed())
    with pytest.raises(ValueError, match="matmul"):
        ad.compare(lambda x: x @ np.ones(4), np.sum, V)


def test_a_comparison_is_saved_as_a_page_with_both_players(tmp_path):
    def before(x):
        return x * x

    def after(x):
        return x * x * x

    compared = ad.compare(before, after, 3.0)
    compared.save(tmp_path / "compared.html")
    page = (tmp_path / "compared.html").read_text()
    assert page.count('type="application/json"') == 2
    assert "<title>before and after</title>" in page
    assert compared.difference.text in page
    assert 0 < page.index("<h2>before</h2>") < page.index("<h2>after</h2>")
    assert "body { font-family: system-ui, sans-serif; }" in page
    compared.save(tmp_path / "compared.txt")
    assert (tmp_path / "compared.txt").read_text() == f"{compared}\n"
    with pytest.raises(ValueError, match="html"):
        compared.save(tmp_path / "compared.gif")


def test_results_that_are_all_rounding_are_not_said_to_be_equal():
    def lossy(x):
        return np.log(np.exp(x) + 1.0)

    def careful(x):
        return np.log1p(np.exp(x))

    said = str(ad.compare(lossy, careful, -40.0))
    assert "the result is 0 in lossy and 4.24835e-18 in careful" in said
    assert str(ad.compare(lossy, careful, 1.0)).startswith(
        "Nothing differs in the numbers that were compared; the operations differ: "
        "add (1 in lossy, 0 in careful), log (1 in lossy, 0 in careful), log1p (0 in lossy, 1 in careful).\n"
    )
    twice = str(ad.compare(lambda x: (x * 2.0) * 1.0, lambda x: x * 2.0, 3.0))
    assert "multiply (2 in the first run, 1 in the second run)" in twice


def test_programs_with_the_same_operations_in_another_order_do_not_differ_at_all():
    found = ad.compare(lambda x: x * np.sin(x), lambda a: np.sin(a) * a, 2.0)
    assert str(found).startswith("Nothing differs.\n")
