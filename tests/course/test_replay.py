"""`replay`: what a learner's tape did, in the player, number for number."""

from types import SimpleNamespace as Thing

import numpy as np
import pytest
from answers.your_own_tape import ARRAYS

import autodiff_edu as ad
from autodiff_edu.course.replay import here, replay


def sentences(trace):
    return [line.partition(". ")[2] for line in trace.transcript().splitlines()]


def three_uses(x, y):
    s = np.sin(x)
    p = x * s
    return p + y * x


def recorded(f, **sources):
    """Run a function on the tape of the chapter."""
    values = {name: ARRAYS["Value"](value) for name, value in sources.items()}
    with ARRAYS["Tape"]() as tape:
        target = f(**values)
    return tape.entries, target, values, ARRAYS["notes_of"](tape.entries, target)


def played_by_ad(f, **sources):
    values = {name: ad.constant(value, name=name) for name, value in sources.items()}
    with ad.trace() as steps:
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(list(values.values()))
            three_uses = f(**values)
        tape.gradient(three_uses, list(values.values()))
    return steps


@pytest.mark.parametrize(
    "sources",
    [{"x": 2.0, "y": 3.0}, {"x": np.array([1.0, 2.0, 3.0]), "y": np.array([[1.0], [4.0]])}],
    ids=["numbers", "arrays that are copied"],
)
def test_the_chapter_s_tape_plays_word_for_word_as_ours(sources):
    yours, ours = replay(*recorded(three_uses, **sources), "yours"), played_by_ad(three_uses, **sources)
    # The chapter's tape doesn't know what a function is called.
    said = [
        sentence.replace("d three_uses", "dt4").replace("three_uses", "t4")
        for sentence in sentences(ours)
        if "is called" not in sentence
    ]
    assert sentences(yours) == said
    assert len(sentences(yours)) == 20
    assert ad.play(yours)


def test_a_wrong_walk_plays_wrongly():
    entries, target, values, notes = recorded(three_uses, x=2.0, y=3.0)
    notes = [(entry, g, k, part, part) for entry, g, k, part, _ in notes]  # it overwrites
    said = sentences(replay(entries, target, values, notes, "wrong"))
    text = "The contribution to x is 0.909. It is added to 3, so the cotangent of x is now 0.909."
    assert f"{text} That was contribution 2 of 3." in said
    assert said[-2] == "dt4/dx is -0.832."


def test_a_seed_other_than_ones_is_the_walk_s_own():
    x, y = Thing(number=3.0), Thing(number=9.0)
    entry = Thing(operation=np.multiply, inputs=(x, 2.0), output=y, place=here())
    said = sentences(replay([entry], y, {"x": x}, [(entry, 9.0, 0, 18.0, 18.0)], "mine"))
    assert "The backward pass starts at t1 with the cotangent 9." in said


def test_a_source_that_nothing_reaches_has_none():
    entries, target, values, notes = recorded(lambda x, y: x * 2.0, x=2.0, y=3.0)
    assert sentences(replay(entries, target, values, notes, "mine"))[-1].endswith("/dy is None.")


def test_what_has_no_number_is_refused():
    with pytest.raises(AttributeError, match="number"):
        replay([], Thing(number=1.0), {"x": 3.0}, [], "mine")


def test_what_our_rules_would_have_to_compute_is_left_out():
    sources = {"x": np.array([1.0, 2.0, 3.0]), "y": np.array([[1.0], [4.0]])}
    document = replay(*recorded(three_uses, **sources), "yours").document()
    assert document["program"] == {"lines": [], "steps": []}
    assert "nudges" not in document
    for entry in document["entries"]:
        assert "broadcast" not in entry
        assert set(entry["contributions"]) == {None}
        assert document["formulas"][entry["formula"]][0] in ("call", "*", "+")
    for step in document["steps"]:
        assert "unfolded" not in step
        assert step["memory"] is None
        assert (step["where"] is not None) == ("entry" in step)


@pytest.mark.parametrize("wrong", [5.0, np.nan, np.ones(2), np.ones((2, 2)), np.ones((4, 3)), np.full(2, np.inf)])
@pytest.mark.parametrize("at", range(6))
def test_a_walk_with_wrong_shapes_plays_too(wrong, at):
    entries, target, values, notes = recorded(three_uses, x=np.array([1.0, 2.0, 3.0]), y=np.array([[1.0], [4.0]]))
    entry, g, k, part, after = notes[at]
    for spoilt in ((entry, wrong, k, part, after), (entry, g, k, wrong, wrong)):
        assert ad.play(replay(entries, target, values, [*notes[:at], spoilt, *notes[at + 1 :]], "wrong")).html()
