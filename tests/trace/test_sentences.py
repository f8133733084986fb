"""The sentences of a trace begin with a capital letter, but for names, which stay as they are."""

import pytest

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
