"""The first step that differs: one number changed anywhere in a document is found at its step."""

import json
from functools import cache

import numpy as np
import pytest
from programs import EXAMPLES

import autodiff_edu as ad
from autodiff_edu.trace.differences import Differences
from autodiff_edu.trace.traced_run import COMPARED, FORWARD, TracedRun


@cache
def text_of(example):
    return json.dumps(example().document())


def change(data):
    """Return nested lists with the first number changed; None if they hold none."""
    if isinstance(data, list):
        for k, part in enumerate(data):
            if (changed := change(part)) is not None:
                return [*data[:k], changed, *data[k + 1 :]]
        return None
    if isinstance(data, bool):
        return not data
    return data * 1.001 + 0.001 if isinstance(data, int | float) else None


def differences(one, other):
    return Differences(TracedRun(one, {}), TracedRun(other, {}), ("f", "g"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_number_that_is_changed_is_found_at_its_step(example):
    steps = json.loads(text_of(example))["steps"]
    found, entries = 0, set()
    for number, step in enumerate(steps):
        if step["kind"] not in COMPARED or (step["kind"] in FORWARD and step["entry"] in entries):
            continue  # another tape has recorded it before
        original, document = json.loads(text_of(example)), json.loads(text_of(example))
        step = document["steps"][number]
        name = COMPARED[step["kind"]][0]
        entries.add(step["entry"] if step["kind"] in FORWARD else None)
        described = step[name] if name else document["tensors"][document["entries"][step["entry"]]["output"]]["value"]
        if described is None or (changed := change(described["data"])) is None:
            continue
        described["data"] = changed
        for one, other in ((original, document), (document, original)):
            first = differences(one, other).first
            assert first.kind == "value"
            assert first.steps == (number + 1, number + 1), (first.text, step["text"])
        found += 1
    assert found >= 3


def test_a_gradient_that_is_none_in_one_run_is_a_difference():
    trace = ad.play(lambda x: x * x, 3.0)._content["trace"]
    document = json.loads(json.dumps(trace))
    document["steps"][-1]["gradient"] = None
    assert differences(document, document).first is None
    assert differences(trace, document).first.text == "The gradient with respect to x is 6 in f and None in g."


def test_a_document_from_a_file_agrees_with_the_run_that_it_was_written_from():
    def f(x):
        return np.sum(np.exp(np.sin(x) / 3.0))

    def g(x):
        return np.sum(np.exp(np.sin(x) / 3.001))

    x = np.linspace(0.0, 1.0, 7)
    saved = json.loads(json.dumps(ad.play(f, x)._content["trace"]))
    assert differences(saved, ad.play(f, x)._content["trace"]).first is None
    assert differences(saved, ad.play(g, x)._content["trace"]).first.kind == "value"


def test_operations_of_other_frameworks_are_known_by_their_names():
    def f(x):
        return np.sum(x * x - np.abs(x)) / 2.0

    first = json.loads(json.dumps(ad.play(f, [1.0, -3.0])._content["trace"]))
    second = json.loads(json.dumps(first))
    names = {
        "multiply": "torch.mul",
        "subtract": "sub",
        "absolute": "abs",
        "sum": "reduce_sum",
        "divide": "true_divide",
    }
    for entry in second["entries"]:
        entry["operation"] = names[entry["operation"]]
    for part in second["code"]:
        part["lines"] = ["" for _ in part["lines"]]
    found = differences(first, second)
    assert found.first is None
    assert found.agreed == len(first["steps"]) - 1  # all but the one that watches


def test_what_has_passed_through_float32_is_compared_as_such():
    def f(x):
        e = np.exp(x.astype(np.float32))
        return np.sum(np.log(e / np.sum(e)) * x)

    def g(x):
        z = x.astype(np.float32)
        return np.sum((z - np.log(np.sum(np.exp(z)))) * x)

    x = np.array([0.3, -1.7, 2.1])
    assert ad.compare(f, g, x)
    found = ad.compare(f, lambda x: f(x * 1.001), x)
    assert not found


def test_rounding_is_relative_to_what_was_added():
    x = np.array([1e8, 1.0, -1e8])
    assert ad.compare(lambda x: np.sum(x) * 3.0, lambda x: (x[0] + x[2] + x[1]) * 3.0, x)
    assert not ad.compare(lambda x: x[0] + x[1], lambda x: x[0] + x[1] + 1e-5, x)
    x = x.astype(np.float32)
    assert not ad.compare(lambda x: x[0] + x[0], lambda x: x[0] + (x[0] + np.float32(1e4)), x)


def return_square_and_sine(x):
    a = x * x
    return a, np.sin(a)


@pytest.mark.parametrize(
    ("f", "g", "text", "kind", "agreed"),
    [
        (
            lambda x: (np.sin(x), np.cos(x)),
            lambda x: (np.cos(x), np.sin(x)),
            "The results come in a different order: "
            "result 1 at [1] is 0.909297 in the first run and -0.416147 in the second run.",
            "value",
            0,
        ),
        (
            lambda x: return_square_and_sine(x)[1],
            lambda x: return_square_and_sine(x)[0],
            "The result at [1] is -0.756802 in the first run and 4 in the second run.",
            "value",
            0,
        ),
        (
            lambda x: return_square_and_sine(x)[1],
            return_square_and_sine,
            "The first run differentiates only 1 result, but the second run 2.",
            "missing",
            2,
        ),
        (
            lambda x: (x * 2.0, (x * 2.0)[0]),
            lambda x: ((x * 2.0)[0], x * 2.0),
            "The results come in a different order: "
            "result 1 is of shape (2,) in the first run and of shape () in the second run.",
            "shape",
            0,
        ),
    ],
)
def test_what_is_differentiated_comes_before_its_gradients(f, g, text, kind, agreed):
    found = ad.compare(f, g, [1.0, 2.0])
    assert (found.difference.text, found.difference.kind) == (text, kind)
    assert found.agreed == agreed
    assert not found


def test_results_of_any_shape_that_are_all_rounding_are_not_said_to_be_equal():
    def f(x):
        return x, x + 1e16 - 1e16

    said = str(ad.compare(f, lambda x: (x, x + (1e16 - 1e16)), [0.5, 1.0]))
    assert "result 2 at [1] is 0 in " in said
    assert "and 1 in " in said


def test_a_wrong_gradient_comes_before_the_losses_that_it_changes():
    def train(rate):
        w = ad.Variable(1.0, name="w")
        with ad.trace() as kept:
            for _ in range(2):
                with ad.GradientTape() as tape:
                    loss = (w * 2.0 - 1.0) ** 2
                w.assign_sub(rate * tape.gradient(loss, w))
        return kept

    assert ad.compare(train(0.1), train(0.2)).difference.text.startswith("The new value of w is 0.6 in ")
