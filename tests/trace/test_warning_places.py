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
    with warnings.catch_warnings(), np.errstate(over="warn", divide="warn", invalid="warn"):  # as NumPy begins
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


def read_line(call):
    """The place of the only line of a lambda."""
    return __file__, call.__code__.co_firstlineno


def test_a_warning_of_a_call_of_the_package_is_shown_at_the_reader_s_line(shown):
    def log(x):
        return np.log(x)

    x, losses = ad.constant([1e308, 1e308]), ad.constant([[1e308, -1e308]])
    compiled = ad.compile(log)
    compiled(1.0)
    calls = [
        lambda: x.sum(),
        lambda: np.mean(x),
        lambda: compiled(0.0),
        lambda: ad.nn.softmax_cross_entropy(losses, np.array([0])),
        lambda: ad.grad(np.sqrt)(0.0),
        lambda: ad.jacobian(np.sqrt)(np.zeros(1)),
    ]
    for call in calls:
        shown.clear()
        call()
        assert shown == [read_line(call)]
    shown.clear()
    ad.play(log, 0.0)
    with pytest.raises(AssertionError):
        ad.check_gradients(log, 0.0)
    assert {file for file, _ in shown} == {__file__}


def test_a_warning_is_shown_once_for_each_line_of_the_reader(shown):
    warnings.simplefilter("default")
    before, x = sys._getframe().f_lineno, ad.constant(0.0)
    for _ in range(3):
        np.log(x)
        np.log(x * 1.0)
    assert shown == [(__file__, before + 2), (__file__, before + 3)]


def test_other_warnings_are_shown_where_they_were_raised(shown):
    before = sys._getframe().f_lineno
    np.log(np.float64(0.0))
    np.mean(np.zeros(0))
    assert shown[0] == (__file__, before + 1)
    assert shown[1][0].startswith(np.__path__[0])
    warnings.warn_explicit("away", UserWarning, "elsewhere.py", 7)
    assert shown[-1] == ("elsewhere.py", 7)
