"""Which steps of two runs belong together: a run is aligned with itself, step by step, whatever order it runs in."""

import json

import numpy as np
import pytest
from programs import EXAMPLES

import autodiff_edu as ad
from autodiff_edu.trace.alignment import Alignment
from autodiff_edu.trace.traced_run import COMPARED, FORWARD, TracedRun


def run(function, *args):
    return TracedRun(ad.play(function, *args)._content["trace"], {})


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_run_is_aligned_with_itself(example):
    document = json.loads(json.dumps(example().document()))
    alignment = Alignment(TracedRun(document, {}), TracedRun(document, {}))
    assert alignment.alone == []
    first = {
        step["entry"]: number for number, step in reversed([*enumerate(document["steps"])]) if step["kind"] in FORWARD
    }
    compared = {number for entry, number in first.items() if document["entries"][entry]["operation"] != "="}
    others = [number for number, step in enumerate(document["steps"]) if step["kind"] in {*COMPARED} - {*FORWARD}]
    assert set(alignment.pairs) == compared.union(others)
    assert all(here == there for there, here in alignment.pairs.items())


def test_what_is_computed_from_the_same_belongs_together_in_any_order():
    first = run(lambda x, y: np.sin(x) * np.exp(y) + x, 0.5, 2.0)
    second = run(lambda a, b: a + np.exp(b) * np.sin(a), 0.5, 2.0)
    alignment = Alignment(first, second)
    names = {}
    for there, here in alignment.pairs.items():
        one, other = first.steps[here], second.steps[there]
        assert one["kind"] == other["kind"]
        if "entry" in one:
            names[first.operations[one["entry"]]] = second.operations[other["entry"]]
    assert names == {name: name for name in ("sin", "exp", "multiply", "add")}
    assert len(alignment.pairs) == len(first.steps) - 2  # all but the two that watch
    assert alignment.alone == []


def test_what_is_computed_twice_keeps_its_own_cotangent():
    def f(x):
        a, b = np.tanh(x), np.tanh(x)
        return 2.0 * a + 3.0 * b

    def g(x):
        a, b = np.tanh(x), np.tanh(x)
        return 2.0 * b + 3.0 * a

    first, second = run(f, 0.5), run(g, 0.5)
    alignment = Alignment(first, second)
    arrived = [
        (first.steps[here]["cotangent"]["data"], second.steps[there]["cotangent"]["data"])
        for there, here in alignment.pairs.items()
        if second.steps[there]["kind"] == "pull back"
    ]
    assert sorted(arrived) == [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]


def test_what_stands_in_place_of_the_other_is_left_over_with_it():
    first, second = run(lambda x: np.sin(np.sum(x)), [1.0, 2.0]), run(lambda x: np.sin(np.mean(x)), [1.0, 2.0])
    alignment = Alignment(first, second)
    ((here, there),) = alignment.alone
    assert first.operations[first.steps[here]["entry"]] == "sum"
    assert second.operations[second.steps[there]["entry"]] == "mean"
    assert alignment.place(here, there) == there
    assert alignment.place(here, None) == -0.5  # before everything that is aligned
    assert alignment.place(len(first.steps), None) == max(alignment.pairs) + 0.5
