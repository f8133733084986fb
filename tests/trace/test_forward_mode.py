"""Forward mode in a trace: what moves, how far, its sentences and its formulas."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core import events
from autodiff_edu.core.active import now
from autodiff_edu.core.events import PushForward


def f(x, w):
    y = x * w
    return np.sin(y) + 1.0


def pushed(*tangents, function=f, primals=(3.0, 2.0)):
    with ad.trace() as t:
        ad.jvp(function, primals, tangents)
    return t


def steps_of(t, *kinds):
    return [step for step in t.document()["steps"] if step["kind"] in kinds]


def test_the_sources_move_first_and_then_every_entry():
    t = pushed(1.0, 0.5)
    kinds = [type(event).__name__ for event in t.events]
    assert kinds == ["Watch", "Watch", *["Record"] * 3, *["Move"] * 2, *["PushForward"] * 3]
    product = next(event for event in t.events if isinstance(event, events.PushForward))
    assert [float(tangent) for tangent in product.tangents] == [1.0, 0.5]
    assert [float(part) for part in product.contributions] == [2.0, 1.5]
    assert float(product.tangent) == 3.5
    last = t.events[-1]
    assert last.contributions[1] is last.tangents[1] is None, "the 1.0 does not move"


def test_a_document_shows_each_tangent_with_its_parts():
    document = pushed(1.0, 0.5).document()
    moves = [step for step in document["steps"] if step["kind"] == "move"]
    assert [step["tangent"]["data"] for step in moves] == [1.0, 0.5]
    assert {step["pass"] for step in document["steps"] if "pass" in step} == {0}
    product, *others = [step for step in document["steps"] if step["kind"] == "push forward"]
    assert product["tensor"] == document["entries"][product["entry"]]["output"]
    assert [part["data"] for part in product["contributions"]] == [2.0, 1.5]
    assert product["tangent"]["data"] == 3.5
    assert not any("contributions" in step for step in others), "a single part is the tangent itself"


def test_sentences_add_up_what_moves():
    texts = [step["text"] for step in steps_of(pushed(1.0, 0.5), "move", "push forward")]
    assert texts[0] == "Tangents are pushed forward, starting at x with the tangent 1."
    assert texts[2] == "Entry 1, y = x * w: the tangent of y is 2 + 1.5 = 3.5."
    assert texts[-1] == "Entry 3, t3 = t2 + 1: the tangent of t3 is 3.36."


def test_a_stack_of_tangents_is_called_one():
    with ad.trace() as t:
        ad.jacobian(lambda x: x * x, mode="forward")(np.array([1.0, 2.0]))
    move, push = steps_of(t, "move", "push forward")
    assert move["text"] == "Tangents are pushed forward, starting at x with a stack of 2 tangents, [[1 0] [0 1]]."
    assert push["tangent"]["data"] == [[2.0, 0.0], [0.0, 4.0]]


def test_formulas_of_a_push_are_the_rules_with_tangents():
    document = pushed(1.0, 0.5).document()
    trees = [*document["formulas"], None]
    found = {
        entry["operation"]: [trees[-1 if at is None else at] for at in entry["pushes"]] for entry in document["entries"]
    }
    assert found == {
        "multiply": [["*", "g", 1], ["*", "g", 0]],
        "sin": [["*", "g", ["call", "cos", 0]]],
        "add": ["g", None],
    }


def test_documents_without_tangents_have_no_field_for_them():
    with ad.trace() as t:
        ad.grad(lambda x: x * x)(2.0)
    assert not any("pushes" in entry for entry in t.document()["entries"])


def test_passes_of_both_directions_are_counted_together():
    with ad.trace() as t:
        ad.hvp(lambda x: x**3, (2.0,), (1.0,))
    document = t.document()
    assert [step["kind"] for step in document["steps"] if step.get("pass") == 0] == ["move", "push forward"]
    assert next(step["kind"] for step in document["steps"] if step.get("pass") == 1) == "seed"
    assert [line for line in document["program"]["lines"] if line.startswith("#")] == [
        "# forward",
        "# tangents, pass 1: tape 2",
        "# backward, pass 2: tape 1",
    ]


def test_forward_mode_releases_arrays_on_its_way():
    t = pushed([1.0] * 4, [0.0] * 4, primals=([3.0] * 4, [2.0] * 4))
    held = [step["memory"] for step in t.document()["steps"] if step["kind"] == "push forward"]
    assert held == sorted(held, reverse=True)
    assert held[-1] < held[0]


@pytest.mark.parametrize("play", [False, True])
def test_a_played_function_that_uses_jvp_has_its_names(play):
    def slope(x):
        return ad.jvp(lambda x: x * x, (x,), (1.0,))[1]

    if play:
        document = ad.play(slope, 3.0)._content["trace"]
    else:
        with ad.trace() as t:
            slope(ad.constant(3.0, name="x"))
        document = t.document()
    steps = [step for step in document["steps"] if step["kind"] != "line"]
    assert [step["kind"] for step in steps] == ["watch", "record", "move", "push forward"]
    assert [tensor["name"] for tensor in document["tensors"]][:1] == ["x"]
    assert steps[-1]["text"].endswith("is 3 + 3 = 6.")


def test_with_nobody_listening_no_event_is_built(monkeypatch):
    monkeypatch.setattr("autodiff_edu.derivatives.tangents._emit", None)
    assert not now().heard[PushForward]
    assert float(ad.jvp(lambda x: x * x, (3.0,), (1.0,))[1]) == 6.0


def test_listening_changes_no_number():
    plain = ad.jvp(f, (3.0, 2.0), (1.0, 0.5))
    with ad.trace():
        heard = ad.jvp(f, (3.0, 2.0), (1.0, 0.5))
    assert [float(one) for one in plain] == [float(one) for one in heard]


@pytest.mark.parametrize(
    "f", [np.prod, np.linalg.norm, lambda v: np.sum(np.cumprod(v)), lambda v: np.sum(np.sort(v) * v)]
)
def test_a_tape_around_forward_mode_is_traced_although_a_rule_is_transposed(f):
    v = ad.Variable([1.0, 2.0], name="v")
    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            slope = ad.jvp(f, (v,), (ad.constant([1.0, 0.0]),))[1]
        gradient = tape.gradient(slope, v)
    np.testing.assert_allclose(gradient.numpy(), ad.hessian(f)(v).numpy()[0])
    assert {event.tape for event in steps.events if isinstance(event, events.Seed)} == {tape}
    assert "The backward pass of tape starts at" in steps.transcript()
