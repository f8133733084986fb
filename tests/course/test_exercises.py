"""Every exercise tests itself: right answers pass in every spelling, each wrong one gets its own hint."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course import Case, Choice, Function, Judge, NotYet, Number, Table
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.exercises import Recording
from autodiff_edu.course.feedback import near
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


def test_a_limit_below_what_the_right_function_needs_is_a_fault():
    exercise = Recording(
        signature="slope(x)",
        cases=[(ad.constant(3.0),)],
        answer=lambda x: slope(x, 3),
        facts={"passes": "{given} passes are too many."},
        limits={"passes": 2},
    )
    with pytest.raises(ValueError, match="the right function needs 3 passes, and the limit is 2: raise it"):
        exercise.judge(slope)


@pytest.mark.parametrize("within", [0.0, 1e-9, 1e-6, 1e-4, 0.01, 0.5])
@pytest.mark.parametrize("right", [0.0, 1e-7, -3.0, 1e6])
def test_a_number_and_a_function_that_returns_it_are_judged_alike(within, right):
    alone = Number(answer=right, within=within, why="So.")
    returned = Function(signature="f(x)", cases=[(1.0,)], answer=lambda x: np.array([right]), within=within, why="So.")
    for gap in (0, 1e-12, 5e-9, 2e-8, 1e-7, 0.9 * abs(within * right), 1.1 * abs(within * right), 1e-5, 0.003, 0.3):
        for given in (right + gap, right - gap):
            said = alone.respond("", given).right
            assert returned.respond("", lambda x, given=given: np.array([given])).right == said
            assert near([given], [right], within) == said
    assert not alone.respond("", right + 1e-5 + abs(1.1 * right)).right


def test_infinite_and_missing_numbers_are_near_only_themselves():
    assert near(np.inf, np.inf)
    for other in (-np.inf, 1.0, np.nan):
        assert not near(np.inf, other, 0.5)
    assert not near(np.nan, np.nan)
    assert near([np.nan, 1.0], [np.nan, 1.0], equal_nan=True)
    assert near(np.uint8(3), np.uint8(3))
    assert not near(np.uint8(3), np.uint8(250))
    assert near(np.array([True]), np.array([1]))


DOUBLE = Function(signature="f(x)", cases=[(np.arange(3.0),), (np.ones(3),)], answer=lambda x: 2 * x, why="So.")


def test_a_function_may_write_its_results_into_one_array():
    buffer = np.zeros(3)

    assert DOUBLE.respond("", lambda x: np.multiply(2, x, out=buffer))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, y: 2 * x, "raised TypeError"),
        (lambda x, y, z: x, "raised TypeError"),
        (lambda x, y=1: x, "should be [0.0, 2.0, 4.0], and yours is [0.0, 1.0, 2.0]."),
        (lambda x: [[1.0], [2.0, 3.0]], "the rows of [[1], [2, 3]] have different lengths."),
        (lambda x: [x, x[:2], 1.0], "have different lengths."),
        (lambda x: (x, [x]), "have different lengths."),
    ],
)
def test_a_function_that_is_odd_gets_a_sentence_of_its_own(function, said):
    message = DOUBLE.respond("", function).message
    assert said in message
    assert "never reads" not in message
    assert "cannot read" not in message


def test_a_part_with_rows_of_different_lengths_is_named():
    both = Function(
        signature="f(x)",
        cases=[(np.ones((2, 2)),)],
        answer=lambda x: (2 * x, x + 1),
        returns=("twice", "more"),
        hints=[(lambda x: (2 * x, np.full((2, 2), ...)), "Add one.")],
    )
    said = both.respond("", lambda x: (2 * x, [[1.0], [2.0, 3.0]])).message
    assert "twice is right. Now look at more. I need an array of the shape (2, 2), and the rows of" in said
    assert both.respond("", lambda x: (2 * x, x)).message == "Add one."


def test_a_method_with_an_unread_parameter_gets_the_comparison():
    class Doubler:
        def wrong(self, x, extra):
            return x

    assert "raised TypeError" in DOUBLE.respond("", Doubler().wrong).message


def table(**parts):
    hints = [
        ({"a": 2, "b": 1}, "You wrote {given}; it is {answer}."),
        ({"a": 7, "b": ...}, "Seven is never a."),
    ]
    known = {"a": Number(answer=1, hints={4: "Four?"}), "b": Number(answer=2, otherwise="Not {given}."), **parts}
    return Table(
        parts=known, hints=hints, otherwise="See the table: {given}.", progress="{right} of {all}. ", why="So."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": 2, "b": 1}, "You wrote {'a': 2, 'b': 1}; it is {'a': 1, 'b': 2}."),
        ({"a": 7, "b": 1}, "Seven is never a."),
        ({"a": 7, "b": 2}, "Seven is never a."),
        ({"a": 4, "b": 2}, "1 of 2. Four?"),
        ({"a": 1, "b": 9}, "1 of 2. Not 9."),
        ({"a": 9, "b": 9}, "0 of 2. See the table: {'a': 9, 'b': 9}."),
    ],
)
def test_a_table_says_the_hints_of_whole_answers_of_parts_and_otherwise(given, said):
    assert table().respond("", given).message == said
    assert table().respond("", {"a": 1, "b": 2})
    assert list(faults(table())) == []


def test_a_choice_is_found_however_it_is_spaced():
    words = {" Forward  mode ": "forward", "reverse\tmode": "reverse"}
    mode = Choice(answer="forward  mode", choices=words, hints={"Reverse mode": "How many inputs?"}, why="So.")
    for given in ("forward mode", "FORWARD   MODE", " forward\nmode"):
        assert mode.respond("", given)
    assert mode.respond("", "reverse mode").message == "How many inputs?"


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
