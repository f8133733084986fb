"""NumPy's warnings about numbers are at the reader's line while a trace runs, and shown there by IPython always."""

import sys
import warnings

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.trace.warning_places import show_at_the_line


def test_a_warning_about_numbers_is_at_the_reader_s_line_and_names_the_expression():
    x = ad.Variable([0.0, 1.0])
    with warnings.catch_warnings(record=True) as seen, ad.trace(), ad.GradientTape():
        warnings.simplefilter("always")
        np.log(x * 1.0)
        with np.errstate(divide="ignore"):
            np.log(x)
        np.ones(1) / np.zeros(1)
    assert [(str(each.message), each.category, each.filename) for each in seen] == [
        ("divide by zero encountered in np.log(x * 1.0)", RuntimeWarning, __file__),
        ("divide by zero encountered in np.ones(1) / np.zeros(1)", RuntimeWarning, __file__),
    ]
    assert seen[1].lineno - seen[0].lineno == 3


def test_a_warning_of_a_backward_pass_is_at_the_line_of_the_operation_that_is_pulled_back():
    def f(x):
        y = np.sqrt(x)
        return y * 2.0

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ad.play(f, 0.0)
    (warning,) = seen
    assert str(warning.message) == "divide by zero encountered in the backward pass of np.sqrt(x)"
    assert (warning.filename, warning.lineno) == (__file__, f.__code__.co_firstlineno + 1)


def test_what_numpy_does_about_numbers_is_the_reader_s_choice():
    with np.errstate(divide="raise"), ad.trace(), pytest.raises(FloatingPointError):
        np.log(ad.constant(0.0))
    with np.errstate(all="ignore"), warnings.catch_warnings(), ad.trace():
        warnings.simplefilter("error")
        np.log(ad.constant(0.0))
    before = np.geterr()
    with ad.trace():
        pass
    assert np.geterr() == before


def test_a_warning_about_numbers_names_the_line_of_the_cell(shell):
    cell = "%%play\nwith ad.GradientTape() as tape:\n    y = x - 3\n    z = np.log(y)"
    with pytest.warns(RuntimeWarning, match=r"^divide by zero encountered in np\.log\(y\)$") as seen:
        assert shell.run_cell(cell).success
    (warning,) = seen
    assert warning.lineno == 4
    assert "autodiff_edu" not in warning.filename


@pytest.fixture
def shown(monkeypatch):
    """The files and lines of the warnings that are shown."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(
            warnings, "showwarning", lambda message, category, filename, lineno, *_: found.append((filename, lineno))
        )
        show_at_the_line()
        yield found


def test_a_warning_of_an_operation_on_a_tape_is_shown_at_the_line_that_computes_it(shown):
    x = ad.Variable(0.0)
    with ad.GradientTape() as tape:
        before = sys._getframe().f_lineno
        y = np.log(x)
    tape.gradient(y, x)
    assert shown == [(__file__, before + 1), (__file__, before + 2)]


def test_other_warnings_are_shown_where_they_were_raised(shown):
    before = sys._getframe().f_lineno
    np.log(np.float64(0.0))
    np.mean(np.zeros(0))
    assert shown[0] == (__file__, before + 1)
    assert shown[1][0].startswith(np.__path__[0])
    warnings.warn_explicit("away", UserWarning, "elsewhere.py", 7)
    assert shown[-1] == ("elsewhere.py", 7)
