"""The last steps of a trace say what came of each request: a derivative, or None and why."""

import re

import numpy as np
from programs import two_tapes

import autodiff_edu as ad


def outcomes(traced):
    return [step for step in traced.document()["steps"] if step["kind"] == "outcome"]


def told(traced):
    return [step["text"] for step in outcomes(traced)]


def test_each_source_has_a_step_after_the_tape_released_its_arrays():
    w, b = ad.Variable([1.0, 2.0], name="w"), ad.Variable(0.5, name="b")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            loss = np.sum((w * 3.0 + b) ** 2)
        tape.gradient(loss, {"w": w, "b": b, "w again": w})
    assert told(traced) == ["d loss/dw is [21 39], of shape (2,).", "d loss/db is 20."]
    document = traced.document()
    assert [step["kind"] for step in document["steps"][-3:]] == ["release", "outcome", "outcome"]
    first = outcomes(traced)[0]
    assert [document["tensors"][k]["name"] for k in (first["tensor"], *first["targets"])] == ["w", "loss"]
    assert (first["gradient"]["data"], first["word"]) == ([21.0, 39.0], "gradient")


def test_a_none_names_the_cut_and_lights_its_line():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = x * 2.0
            z = np.sign(y) + np.floor(y)  # both cut
        tape.gradient(z, x)
    (step,) = outcomes(traced)
    document = traced.document()
    line = step["where"]["line"]
    assert document["code"][0]["lines"][line - document["code"][0]["first_line"]].strip().startswith("z = np.sign(y)")
    assert step["text"] == (
        f"dz/dx is None: the path from x was cut on line {line} by np.sign, whose derivative is 0 wherever it has one. "
        "Use a smooth function instead (for example, cross-entropy instead of accuracy). "
        "There is 1 more cut on the way."
    )
    assert step["gradient"] is None


def test_numbers_that_leave_their_tensor_do_so_on_a_line():
    def function(x):
        y = x * x
        return x * float(y)

    (said,) = [step["text"] for step in ad.play(function, 3.0).document()["steps"] if step["kind"] == "leave"]
    assert re.fullmatch(r"Line \d+: the tensor y becomes plain numbers by float\(\): no tape follows .*", said)


def test_other_reasons_are_told_in_the_words_of_explain():
    x, c = ad.Variable(3.0, name="x"), ad.constant(2.0)
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            y = ad.stop_gradient(x) * c
            z = x.numpy() * c * x
            k = (x * 2.0).astype(int)
        tape.gradient(y, x)
        tape.gradient(z, c)
        tape.gradient(z, c, unconnected_gradients="zero")
        tape.gradient(k, x)
    stopped, unwatched, zero, integer = told(traced)
    assert stopped.startswith("dy/dx is None: the path from x was cut on line ")
    assert stopped.endswith(" by ad.stop_gradient, on purpose.")
    assert re.match(r"dz/dc is None\. Line \d+: c is a constant", unwatched)
    assert "tape.watch(c)" in unwatched
    assert zero == unwatched.replace("None", "0 instead of None", 1)
    assert "returns integers or booleans" in integer


def test_what_is_not_a_plain_derivative_is_not_written_as_one():
    x, kernel = ad.Variable([1.0, 2.0], name="x"), ad.Variable(1.0, name="layer 1/kernel")
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            y = x * kernel
            a = np.sum(y)
            b = np.sum(x)
        tape.gradient(y, x)
        tape.gradient(a, x, output_gradients=2.0)
        tape.gradient([a, b], x)
        tape.gradient(a, kernel)
        tape.jacobian(y, x)
    assert told(traced) == [
        "The gradient of the sum of y with respect to x is [1 1], of shape (2,).",
        "The gradient of a with respect to x from this seed is [2 2], of shape (2,).",
        "d(a + b)/dx is [2 2], of shape (2,).",
        "The gradient of a with respect to layer 1/kernel is 3.",
        "The Jacobian of y with respect to x is [[1 0] [0 1]], of shape (2, 2).",
    ]


def test_a_batch_jacobian_and_large_arrays_say_their_shape_once():
    x = ad.Variable(np.ones((20, 2)), name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = x * x
        tape.batch_jacobian(y, x)
    assert told(traced) == ["The batch Jacobian of y with respect to x is a 20×2×2 array."]


def test_the_gradient_of_an_inner_tape_is_one_step_and_goes_on_as_a_value():
    traced = two_tapes()
    document = traced.document()
    assert told(traced)[0] == "dy/dx is 12."
    assert told(traced)[1].endswith("/dx is 12.")
    last = document["steps"][-1]
    assert last["tape"] == next(step["tape"] for step in document["steps"] if step["kind"] == "watch")


def test_a_function_of_functions_says_what_came_of_it_too():
    with ad.trace() as traced:
        ad.grad(lambda x: x * x)(3.0)
    assert told(traced)[0].endswith(" is 6.")


def test_a_loop_asks_once_why_its_gradient_is_none(monkeypatch):
    x, asked = ad.Variable(3.0, name="x"), []
    explain = ad.GradientTape.explain
    monkeypatch.setattr(ad.GradientTape, "explain", lambda *a: (asked.append(a), explain(*a))[1])
    with ad.trace() as traced:
        for _ in range(5):
            with ad.GradientTape() as tape:
                y = np.sign(x)
            tape.gradient(y, x)
    assert len(asked) == 1
    assert len(set(told(traced))) == len({step["targets"][0] for step in outcomes(traced)}) == 5


def test_nothing_is_explained_where_nobody_traces(monkeypatch):
    monkeypatch.setattr(ad.GradientTape, "explain", lambda *a: 1 / 0)
    x, seen = ad.Variable(3.0), []
    with ad.hook(seen.append), ad.GradientTape() as tape:
        y = np.sign(x)
        assert tape.gradient(y, x) is None
    assert (seen[-1].result, seen[-1].connected, seen[-1].causes) == (None, False, ())
