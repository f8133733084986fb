"""What a live page asks of the package, with NumPy and nothing else: run in Pyodide by test_core_in_pyodide.py."""

import importlib.util
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course import check
from autodiff_edu.player.unpacking import content_of
from autodiff_edu.text.frames import is_ours
from autodiff_edu.text.statements import is_theirs

ABSENT = ("ipywidgets", "anywidget", "IPython", "traitlets", "matplotlib")


def rate(x):
    return x * np.sin(x)


@pytest.fixture(autouse=True)
def without_the_others():
    assert sys.platform == "emscripten"
    assert "site-packages" in ad.__file__, "this is the checkout, not the wheel that a page loads"
    assert [name for name in ABSENT if importlib.util.find_spec(name)] == []
    yield
    assert [name for name in ABSENT if name in sys.modules] == []


def test_the_default_integer_is_shown_as_on_any_computer():
    assert np.dtype(int) == np.int32
    assert repr(ad.constant(3)) == "Tensor(3)"
    assert repr(ad.constant([1, 2])) == "Tensor([1, 2])"
    assert "dtype=int64" in repr(ad.constant(np.int64(3)))


def test_a_function_is_played():
    player = ad.play(rate, 2.0)
    assert content_of(player.html())["trace"]["title"] == "rate(x)"
    assert "np.sin(x)" in str(player.frames().svg())


def test_a_gradient_is_that_of_calculus_and_none_is_explained():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = rate(x)
        z = np.round(x) * 2.0
    assert np.isclose(tape.gradient(y, x), np.sin(2.0) + 2.0 * np.cos(2.0))
    assert tape.gradient(z, x) is None
    explanation = str(tape.explain(z, x))
    assert "np.round" in explanation
    assert "in_a_page.py, line" in explanation


def test_right_and_wrong_answers_are_told_apart():
    assert "Not yet. 9 counts" in str(check("1.1", 9))
    assert check("1.1", 8).right


def test_a_function_is_saved_and_loaded(tmp_path):
    w = ad.Variable(0.5, name="w")
    ad.save(lambda x: w * rate(x), tmp_path / "f.ad", 2.0)
    again = ad.load(tmp_path / "f.ad")
    assert np.isclose(again(3.0), 0.5 * rate(3.0))
    assert np.isclose(ad.grad(again)(3.0), 0.5 * (np.sin(3.0) + 3.0 * np.cos(3.0)))


def test_python_s_library_is_not_taken_for_the_user_s_code():
    for module in (inspect, Path):
        path = inspect.getfile(module)
        assert not is_theirs[path], path
    assert is_theirs["program.py"]
    assert not is_ours["program.py"]
