"""Plain numbers that the code shows to go on are named beside other cuts; those that decide or are written down not."""

import numpy as np

import autodiff_edu as ad


def test_numbers_are_followed_from_name_to_name():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = x.numpy() * 2.0
        kept = [a, 1.0]
        b = np.array(kept) + 1.0
        y = np.sum(ad.constant(b) * np.round(x))
    assert [cause.kind for cause in tape.explain(y, x).causes] == ["left for NumPy", "step"]


def test_numbers_that_are_logged_or_give_a_shape_or_a_name_are_not_named_beside_other_cuts():
    x = ad.Variable([3.0], name="x")
    with ad.GradientTape() as tape:
        log, seen = [], x.numpy()
        log.append(float(x[0]))
        n = len(seen)
        label = f"{x[0]:.1f}"
        if x[0] > 0:
            y = ad.constant(1.0 * n, name=label) * np.round(x) * [1.0, 2.0][int(n > 3)]
    assert [cause.kind for cause in tape.explain(y, x).causes] == ["step"]


def test_text_and_decisions_that_lead_nowhere_are_not_a_cut():
    x, w = ad.Variable(3.0, name="x"), ad.Variable(1.0, name="w")
    with ad.GradientTape() as tape:
        f"{x:.2f}"
        y = w * 2.0 if x > 0 else w * float("3")
    assert [cause.kind for cause in tape.explain(y, x).causes] == ["decides"]
    with ad.GradientTape() as tape:
        f"{x:.2f}"
        y = w * float("3")
    assert "Nothing that leads to y" in str(tape.explain(y, x))


def test_tensors_beside_the_arguments_of_a_custom_gradient_are_named_with_what_to_write():
    c, x = ad.constant(3.0, name="c"), ad.Variable(2.0, name="x")

    @ad.custom_gradient
    def scaled(x, factor=None):
        return x * c * (1.0 if factor is None else factor), lambda dy: dy

    with ad.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = scaled(x)
        z = scaled(x, factor=c + 1.0)
    assert "scaled(x) captures c" in str(tape.explain(y, c))
    assert "Pass c as a positional argument" in str(tape.explain(y, c))
    assert "by keyword" in str(tape.explain(z, c)) or "captures c" in str(tape.explain(z, c))
    assert tape.explain(y, x)


def test_a_loaded_function_without_its_custom_gradients_is_said_to_raise(tmp_path):
    half = ad.custom_gradient(lambda x: (x, lambda dy: dy * 0.5))
    ad.save(lambda x: half(x) * 2.0, tmp_path / "f.ad", 1.0, custom_gradients=False)
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.load(tmp_path / "f.ad")(x)
    assert "gradient raises a LookupError" in str(tape.explain(y, x))


def test_numbers_that_only_decide_which_of_two_it_is_are_not_carried_on():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        large = x.numpy() > 2.0
        a = 1.0 if large else 2.0
        y = np.sum(ad.constant(a) * np.round(x))
        z = ad.constant(1.0 if large else 2.0) * np.round(x)
    assert [cause.kind for cause in tape.explain(y, x).causes] == ["step"]
    assert [cause.kind for cause in tape.explain(z, x).causes] == ["step"]


def test_numbers_that_are_one_of_two_are_carried_on():
    x, large = ad.Variable(3.0, name="x"), True
    with ad.GradientTape() as tape:
        number = x.numpy()
        a = number if large else 2.0
        b = 2.0 if large else number
        y = ad.constant(a) * np.round(x)
        z = ad.constant(b) * np.round(x)
    assert {cause.kind for cause in tape.explain(y, x).causes} == {"left for NumPy", "step"}
    assert {cause.kind for cause in tape.explain(z, x).causes} == {"left for NumPy", "step"}
