"""A step that sends back one of several slopes says so, and no other step does."""

import numpy as np
import pytest

import autodiff_edu as ad


def steps_of(f, *values, persistent=True):
    xs = [ad.Variable(value, name=name) for value, name in zip(values, "xy", strict=False)]
    with ad.trace() as traced:
        with ad.GradientTape(persistent=persistent) as tape:
            target = f(*xs)
        tape.gradient(target, xs)
    return traced.document()["steps"], tape, target, xs


def corners_of(*args, **options):
    return [step["corner"] for step in steps_of(*args, **options)[0] if "corner" in step]


@pytest.mark.parametrize("persistent", [True, False])
def test_the_step_says_which_slopes_fit_and_which_one_was_taken(persistent):
    steps, *_ = steps_of(lambda x: np.maximum(x, 0), 0.0, persistent=persistent)
    (step,) = (step for step in steps if "corner" in step)
    assert (step["kind"], step["tensor"]) == ("accumulate", 0)
    assert step["corner"] == {"element": [], "left": "0", "right": "1", "slope": "0.5", "others": 0}
    assert step["text"] == (
        "The contribution to x is 0.5. Nothing was there yet, so the cotangent of x is now 0.5. "
        "Here x is at a corner of maximum: any slope from 0 to 1 fits; this rule takes 0.5."
    )


def test_of_an_array_the_first_element_and_how_many_more():
    steps, *_ = steps_of(lambda x: np.sum(np.maximum(x, 0)), [[-1.0, 0.0], [2.0, 0.0]])
    (step,) = (step for step in steps if "corner" in step)
    assert step["corner"] == {"element": [0, 1], "left": "0", "right": "1", "slope": "0.5", "others": 1}
    assert step["text"].endswith(
        "Here x is at a corner of maximum: any slope from 0 to 1 fits at [0, 1] and [1, 1], each by itself; "
        "this rule takes 0.5."
    )


def test_two_tensors_at_a_tie_share_the_slope():
    steps, *_ = steps_of(np.maximum, 1.0, 1.0)
    told = [step["text"] for step in steps if "corner" in step]
    assert len(told) == 2
    assert all("from 0 to 1 fits, as long as the slopes of the two arguments add up to 1; this" in one for one in told)


def test_each_argument_has_its_own_and_a_tensor_that_is_both_has_one():
    assert len(corners_of(np.maximum, 1.0, 1.0)) == 2
    assert corners_of(lambda x: np.hypot(x, x), 0.0) == [
        {"element": [], "left": "-1.41421", "right": "1.41421", "slope": "0", "others": 0}
    ]


def test_a_slope_may_be_infinite():
    assert corners_of(lambda x: np.linalg.norm(x, 0.5), [0.0, 4.0]) == [
        {"element": [0], "left": "-inf", "right": "inf", "slope": "0", "others": 0}
    ]


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.maximum(x, 0), 1.0),
        (lambda x: x * x * 0, 0.0),
        (lambda x: np.where(x > 0, x, 1), 0.0),
        (lambda x: np.sign(x) + x, 0.0),
        (lambda x: np.abs(ad.stop_gradient(x)) * x, 0.0),
        (lambda r: np.where(np.abs(r) < 1, 0.5 * r**2, np.abs(r) - 0.5), 1.0),  # Huber's loss
        (lambda x: np.where(x > 0, x**3, 0.0), 0.0),
        (lambda x: np.where(x > 0, np.exp(x), 1 + x) * (x - 1), 0.0),
    ],
)
def test_away_from_corners_no_step_has_a_word_or_a_part_about_them(f, x):
    steps, *_ = steps_of(f, x)
    assert all("corner" not in step and "corner" not in step["text"] for step in steps)


def test_a_condition_counts_in_the_passes_whose_sources_decide_it():
    x, y = (ad.Variable(0.0, name=name) for name in "xy")
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            z = np.where((2.0 * y > 0) | (y > 1), x, 0.0)
        tape.gradient(z, x)
        tape.gradient(z, [x, y])
    assert [step["pass"] for step in traced.document()["steps"] if "corner" in step] == [1]


def test_a_condition_from_before_the_trace_is_known():
    x = ad.Variable(0.0, name="x")
    with ad.GradientTape() as tape:
        y = np.where(x > 0, x, 0.0)
    with ad.trace() as traced:
        tape.gradient(y, x)
    assert [step["corner"]["right"] for step in traced.document()["steps"] if "corner" in step] == ["1"]


def test_every_row_of_a_jacobian_says_it():
    x = ad.Variable([0.0, 1.0], name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.abs(x)
        tape.jacobian(y, x)
    (step,) = (step for step in traced.document()["steps"] if "corner" in step)
    assert "any slope from -1 to 1 fits at [0]; this rule takes 0." in step["text"]


def test_a_rule_of_the_user_s_own_takes_the_slope():
    with ad.register_gradient(np.abs, lambda g, y, x: np.where(x < 0, -g, g), kind="elementwise", replace=True):
        assert [corner["slope"] for corner in corners_of(np.abs, 0.0)] == ["1"]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.abs(np.sort(x)) + ad.nn.relu(x)),
        lambda x: np.max(x) * np.min(x) + np.linalg.norm(x) + np.std(x),
        lambda x: np.sum(x * (x > 0) + np.clip(x, 0, 1)) + np.median(x),
        lambda x: np.sum(np.interp(x, [0, 1, 2], [0, 3, 4])),
    ],
)
def test_the_steps_are_the_corners_of_the_tape(f):
    steps, tape, target, xs = steps_of(f, [0.0, 0.0, 1.0, 0.0])
    found = [step["text"].partition(" is at a corner of ")[2] for step in steps if "corner" in step]
    assert sorted(found) == sorted(f"{one.entry.name}: {one.text}." for one in tape.corners(target, xs))
