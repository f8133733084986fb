"""What a gradient that is not None misses: values that left the tape along another path to the target."""

import copy
import math
import pickle
import threading

import numpy as np
import pytest

import autodiff_edu as ad


def asked(program, x):
    with ad.GradientTape(persistent=True) as tape:
        y = program(x)
    assert tape.gradient(y, x) is not None
    return tape.explain(y, x)


def by_float(x):
    c = float(x[0])
    return np.sum(c * x)


def by_an_array(x):
    a = np.zeros(2)
    for i in range(2):
        a[i] = x[i].numpy() ** 2
    return np.sum(a * x)


def by_a_list(x):
    s = sum(list(map(float, x)))
    return np.sum(s * x)


def by_a_copy(x):
    twin = copy.deepcopy(x)
    return np.sum(twin * x)


def by_a_pickle(x):
    packed = pickle.dumps(x)
    twin = pickle.loads(packed)
    return np.sum(twin * x)


def by_assigning(x):
    v = ad.Variable([0.0, 0.0], name="v")
    v.assign(x * 2.0)
    return np.sum(v * x)


def by_another_thread(x):
    out = []
    thread = threading.Thread(target=lambda: out.append(x * 2.0))
    thread.start()
    thread.join()
    return np.sum(out[0] * x)


def taken_out(v):
    return float(v)


def by_a_function(x):
    return np.sum(taken_out(x[0]) * x)


def by_a_list_that_grows(x):
    kept = []
    for i in range(2):
        kept.append(float(x[i]))
    return np.sum(np.array(kept) * x)


def by_a_loop(x):
    y = x[0]
    for v in x.numpy():
        y = y + v * x[0]
    return y


def by_a_name_in_an_expression(x):
    return np.sum((c := float(x[0])) * x) + c


class Kept:
    def __init__(self, x):
        self.height = x.numpy()


def by_an_attribute(x):
    kept = Kept(x)
    return np.sum(x * kept.height)


LEAVING = {
    by_a_function: ("left for NumPy", "float(v)"),
    by_a_list_that_grows: ("left for NumPy", "float(x[i])"),
    by_a_loop: ("left for NumPy", "x.numpy()"),
    by_a_name_in_an_expression: ("left for NumPy", "float(x[0])"),
    by_an_attribute: ("left for NumPy", "x.numpy()"),
    by_float: ("left for NumPy", "float(x[0])"),
    by_an_array: ("left for NumPy", "x[i].numpy()"),
    by_a_list: ("left for NumPy", "list(map(float, x))"),
    by_a_copy: ("copied", "copy.deepcopy(x)"),
    by_a_pickle: ("left for NumPy", "pickle.dumps(x)"),
    by_assigning: ("assigned", "v.assign(x * 2.0)"),
    by_another_thread: ("another thread", "x * 2.0"),
}


@pytest.mark.parametrize("program", LEAVING)
def test_what_left_the_tape_is_listed_with_its_line(program):
    x = ad.Variable([1.0, 2.0], name="x")
    explanation = asked(program, x)
    assert explanation
    assert explanation.path
    (cause,) = explanation.left_out
    kind, code = LEAVING[program]
    assert cause.kind == kind
    assert f"test_left_out.py, line {cause.place.line}: {code}" in cause.text
    *_, heading, item = str(explanation).splitlines()
    assert (heading, item) == ("This gradient misses:", f"- {cause.text}")
    assert "misses a part" in repr(explanation)
    assert "This gradient misses:" in explanation._repr_html_()
    assert cause.text in explanation.trace().transcript()


def test_what_was_computed_before_the_tape_is_left_out():
    x = ad.Variable([1.0, 2.0], name="x")
    h = x * 3.0
    (cause,) = asked(lambda x: np.sum(h * x), x).left_out
    assert (cause.kind, cause.operation) == ("before", "multiply")


def cut_on_purpose(x):
    return np.sum(ad.stop_gradient(x) * x) + np.sum(np.sign(x) * x) + np.sum(np.floor(x).astype(int) * x)


def a_custom_gradient(x):
    @ad.custom_gradient
    def f(a):
        return np.tanh(a.numpy()), lambda dy: dy

    return np.sum(f(x) * x)


def only_looked_at(x):
    if x[0] > 0.0 and math.isfinite(x[0]):
        print(f"{x[0]:.2f}", float(x[0]), x.numpy())
    return np.sum(x * x)


def of_whole_numbers(x):
    best = x[int(np.argmax(x))]
    mask = (x > 1.5).numpy()
    order = np.argsort(x).tolist()
    for _ in range(int(x[1])):
        best = best * 1.0
    return best + np.sum(np.where(mask, x, 0.0)) + np.sum(x[order] * x) + np.sum(np.any([x > 1, x > 2]) * x)


def of_a_name_that_something_else_has(x):
    height = taken_out(x[0])
    print(height)
    return np.sum(x * 2.0)


@pytest.mark.parametrize(
    "program",
    [cut_on_purpose, a_custom_gradient, only_looked_at, of_whole_numbers, of_a_name_that_something_else_has],
)
def test_what_is_cut_on_purpose_or_only_looked_at_is_not_left_out(program, capsys):
    explanation = asked(program, ad.Variable([1.0, 2.0], name="x"))
    assert explanation.left_out == ()
    assert "leaves out" not in str(explanation) + repr(explanation) + explanation._repr_html_()


def test_what_was_computed_while_the_tape_was_paused_is_not_left_out():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        with tape.stop_recording():
            h = x * 2.0
        y = np.sum(h * x)
    assert tape.explain(y, x).left_out == ()


def test_a_training_loop_leaves_nothing_out():
    w, b, data = ad.Variable([1.0, 2.0]), ad.Variable(0.5), ad.constant([3.0, 4.0])
    losses = []
    for _ in range(3):
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(data)
            loss = (np.sum(w * data) + b - 1.0) ** 2
        slopes = tape.gradient(loss, [w, b])
        for source in (w, b, data):
            assert tape.explain(loss, source).left_out == ()
        losses.append(float(loss))
        for variable, slope in zip((w, b), slopes, strict=True):
            variable.assign_sub(0.01 * slope)


def test_a_gradient_that_leaves_out_a_part_is_an_error_where_an_explanation_was_asked_for():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape(persistent=True) as tape:
        c = x.numpy()
        y = np.sum(c * x)
    with pytest.raises(ad.UnconnectedError, match=r"misses:\n- .*x\.numpy\(\)"):
        tape.gradient(y, x, unconnected_gradients="explain")
    np.testing.assert_array_equal(tape.gradient(y, x), [1.0, 2.0])


def test_what_an_unconnected_gradient_is_missing_stands_among_its_causes():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = ad.constant(float(x)) * 3.0
    explanation = tape.explain(y, x)
    assert not explanation
    assert explanation.left_out == ()
