"""What no tape recorded has a value in the player of an explanation, where it follows from what is known."""

import numpy as np

import autodiff_edu as ad


def document(explanation):
    return explanation.trace().document()


def values(told):
    return {tensor["name"]: tensor["value"]["data"] for tensor in told["tensors"]}


def test_what_comes_after_a_cut_has_values_and_lines_in_the_program():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = ad.stop_gradient(x * 3.0)
        a = np.round(y * 1.5)
        loss = a * a + 1
    told = document(tape.explain(loss, x))
    assert values(told).items() >= {"y": 6, "a": 9, "loss": 82}.items()
    assert [line.partition(" = ")[0] for line in told["program"]["lines"]][-2:] == ["s3", "loss"]
    found = {}
    exec("\n".join(told["program"]["lines"]), {"np": np}, found)
    assert (float(found["a"]), float(found["loss"])) == (9, 82)


def test_a_target_is_known_though_what_it_was_computed_from_is_not():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = ad.stop_gradient(x)
        r = float(y) * 2
        loss = y * r
    told = document(tape.explain(loss, x))
    assert values(told)["loss"] == 8
    assert told["program"]["lines"][-1] == "loss = np.float64(8.0)"


def test_nothing_is_made_up():
    x, w = ad.Variable(np.ones((2, 3)), name="x"), ad.Variable(1.0, trainable=False, name="w")
    with ad.GradientTape(persistent=True) as tape:
        y = ad.stop_gradient(x)
        w.assign(5.0)
        z = y * w  # w is another one now
        s = np.sum(z, axis=0)  # whose axis is not remembered
        loss = np.sum(s)
    w.assign(7.0)
    told = document(tape.explain(loss, x))
    assert values(told)["s"] is None
    assert values(told)["z"] is None
    assert values(told)["loss"] == 30


def test_the_document_lists_the_causes_with_the_steps_that_say_them():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        a = np.round(x)
        b = ad.stop_gradient(x)
        y = a * b
    explanation = tape.explain(y, x)
    told = document(explanation)
    assert [cause["text"] for cause in told["causes"]] == [cause.text for cause in explanation.causes]
    assert [told["steps"][cause["step"]]["text"] for cause in told["causes"]] == [c["text"] for c in told["causes"]]
    with ad.trace() as traced:
        x * 1.0
    assert "causes" not in traced.document()
