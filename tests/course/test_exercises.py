"""Every exercise tests itself: right answers pass in every spelling, each wrong one gets its own hint."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course import Case, Function, Judge, NotYet
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.exercises import Recording
from autodiff_edu.course.tools.faults import JUNK, faults


@pytest.mark.parametrize("exercise", OURS.exercises)
def test_an_exercise_finds_no_fault_in_itself(exercise):
    assert list(faults(OURS.exercises[exercise])) == []


def recorded(function, limits=(), **facts):
    """Return what a Recording, which compares one fact, says of a function that should square x on one tape."""
    cases = [(ad.constant(3.0),)]
    exercise = Recording(signature="slope(x)", cases=cases, answer=slope, facts=facts, limits=dict(limits))
    return exercise.respond("", function).message


def slope(x, times=1, power=lambda x: x * x):
    for _ in range(times):
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = power(x)
        result = tape.gradient(y, x)
    return result


@pytest.mark.parametrize(
    ("fact", "function", "said"),
    [
        ("tapes", lambda x: slope(x, 2), "2, not 1"),
        ("tapes", lambda x: 2 * x.numpy(), "0, not 1"),
        ("passes", lambda x: slope(x, 3), "3, not 1"),
        ("entries", lambda x: slope(x, power=lambda x: x * x * 1.0), "2, not 1"),
        ("operations", lambda x: slope(x, power=np.square), "('square',), not ('multiply',)"),
        ("bytes", lambda x: slope(x, power=lambda x: x * x * 1.0), "24, not 16"),
    ],
)
def test_a_recording_compares_what_tapes_did(fact, function, said):
    assert recorded(function, **{fact: "{given}, not {answer}"}) == said
    assert recorded(slope, **{fact: "never said"}) == ""


def test_a_recording_may_allow_more_than_the_right_function_needs():
    hint = "{given} passes are too many."
    assert recorded(lambda x: slope(x, 3), {"passes": 3}, passes=hint) == ""
    assert recorded(lambda x: slope(x, 4), {"passes": 3}, passes=hint) == "4 passes are too many."


def test_a_misspelled_name_in_a_wrong_function_is_a_fault():
    dose = Function(
        signature="dose(x)",
        cases=[(3.0,)],
        answer=lambda x: 2 * x,
        hints=[(lambda x: x / VOLUMEN, "Divide by nothing.")],  # noqa: F821
        why="Twice.",
    )
    said = "the wrong answer of the hint `Divide by nothing.` raised NameError: name 'VOLUMEN' is not defined"
    assert list(faults(dose)) == [said]


def test_a_case_that_is_not_a_tuple_is_refused():
    with pytest.raises(TypeError, match=r"cases\[0\] is 400\.0, not a tuple of arguments: write \(400\.0,\)"):
        Function(signature="f(x)", cases=[400.0, 600.0], answer=abs)


def test_junk_that_passes_or_gets_no_sentence_is_a_fault():
    said = list(faults(Judge("Any", "Anything?", lambda answer: "Yes.", answer=1)))
    assert len(said) == len(JUNK)
    assert "`'eight'` passes for a right answer" in said

    def refuse(answer):
        if answer != 1:
            raise NotYet("No")
        return "Yes."

    said = list(faults(Judge("One", "What is 1?", refuse, answer=1)))
    assert "JUNK[3] gets `No`, not a sentence" in said


def test_three_dots_inside_a_function_that_is_returned_are_not_an_answer():
    power = Function(
        signature="make(n)",
        cases=[Case(lambda make: make(2)(3.0))],
        answer=lambda n: lambda x: x**n,
        why="So.",
    )
    assert power.respond("1", lambda n: lambda x: x**n)
    assert "three dots" in power.respond("1", lambda n: lambda x: ...).message
