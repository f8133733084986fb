"""The sentences of a trace: how they begin, and what that of a seed says about a walk by `tape.steps`."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.trace.sentences import _begun


@pytest.mark.parametrize(
    ("sentence", "begun"),
    [
        ("the tape watches x.", "The tape watches x."),
        ("line 3: y is 1.", "Line 3: y is 1."),
        ("tape0 watches x.", "tape0 watches x."),
        ("mod.py, line 3: y is 1.", "mod.py, line 3: y is 1."),
        ("dy/dx is 6.", "dy/dx is 6."),
    ],
)
def test_a_name_at_the_beginning_stays_as_it_is(sentence, begun):
    assert _begun(sentence, "tape0") == begun


def walked(ask, persistent=False):
    """Return the sentences in which a backward pass starts, and the bytes after each pull and at the end."""
    x = ad.Variable(np.ones(100), name="x")
    with ad.trace() as kept:
        with ad.GradientTape(persistent) as tape:
            y = np.sin(x)
            z, other = np.sum(y * x), np.max(y)
        ask(tape, [z, other], x)
    steps = kept.document()["steps"]
    held = [step["memory"] for step in steps if step["kind"] in ("pull back", "release")]
    return [step["text"] for step in steps if step["kind"] == "seed"], held


def test_a_walk_step_by_step_says_at_its_start_that_the_tape_keeps_its_arrays_until_the_end():
    (first, second), held = walked(lambda tape, y, x: list(tape.steps(y, x)))
    assert first.endswith(" It goes step by step: the tape keeps all its arrays until the last step.")
    assert "step by step" not in second
    assert len(set(held[:-1])) == 1
    assert held[-1] == 0


def test_a_gradient_releases_on_the_way_and_a_persistent_tape_not_at_all():
    texts, held = walked(lambda tape, y, x: tape.gradient(y, x))
    assert "step by step" not in "".join(texts)
    assert len(set(held[:-1])) > 1
    texts, _ = walked(lambda tape, y, x: list(tape.steps(y, x)), persistent=True)
    assert "step by step" not in "".join(texts)
