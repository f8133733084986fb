"""Every exercise tests itself: right answers pass in every spelling, each wrong one gets its own hint."""

import pytest

from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.faults import faults


@pytest.mark.parametrize("exercise", OURS.exercises)
def test_an_exercise_finds_no_fault_in_itself(exercise):
    assert list(faults(OURS.exercises[exercise])) == []
