"""The traceback of an error in a notebook has the reader's lines, and none of ours or of NumPy's."""

import pickle

import pytest
from IPython.utils.capture import capture_output


def run(shell, cell):
    with capture_output(stdout=True, stderr=True, display=True) as captured:
        result = shell.run_cell(cell)
    return result, captured


SHAPES = "h, w = ad.constant(np.ones((3, 2))), ad.Variable(np.ones((3, 1)))\ndef f(a, b):\n    return np.dot(a, b)\n"


@pytest.mark.parametrize(
    ("cell", "last"),
    [
        (f"{SHAPES}y = f(h, w)", "return np.dot(a, b)"),
        (f"{SHAPES}ad.play(f, h, w)", "return np.dot(a, b)"),
        (f"%%play\n{SHAPES}with ad.GradientTape() as tape:\n    q = w * 2\n    y = f(h, q)", "return np.dot(a, b)"),
        ("with ad.GradientTape() as tape:\n    y = x * 2\n    z = np.array([y, y])", "z = np.array([y, y])"),
        ("%%play\nwith ad.GradientTape() as tape:\n    y = x * 2\n    z = np.array([y, y])", "z = np.array([y, y])"),
        ("ad.play(lambda x: np.array([x, x]), 2.0)", "ad.play(lambda x: np.array([x, x]), 2.0)"),
    ],
)
def test_a_traceback_shows_the_reader_s_lines_and_none_of_ours(shell, cell, last):
    result, captured = run(shell, cell)
    assert result.error_in_exec is not None
    shown = captured.stdout.partition("Traceback")[2]
    assert "Cell In[" in shown
    assert f" {last}" in [line for line in shown.splitlines() if line.startswith("---->")][-1]
    assert "autodiff_edu/" not in shown.replace("\\", "/")
    assert "File " not in shown


@pytest.mark.parametrize("last", ["raise RuntimeError('mine') from error", "raise KeyboardInterrupt"])
def test_an_error_from_another_and_an_interrupt_are_shown_without_our_frames(shell, last):
    f = f"def f(x):\n    try:\n        x + np.ones(3)\n    except ValueError as error:\n        {last}\n"
    result, captured = run(shell, f + "ad.play(f, np.ones(2))")
    assert result.error_in_exec is not None
    assert "line 3, in f(x)" in captured.stdout
    assert "line 5, in f(x)" in captured.stdout
    assert ".py" not in captured.stdout
    cause = result.error_in_exec.__context__
    assert cause.__traceback__.tb_next is not None  # the error itself keeps all its frames


def test_an_error_that_is_raised_again_in_another_cell_shows_that_cell_too(shell):
    run(shell, "kept = ValueError('mine')")
    run(shell, "%%play\na = 1\nraise kept")
    _, captured = run(shell, "b = 2\nraise kept")
    assert "b = 2" in captured.stdout


def test_an_error_that_refuses_attributes_is_shown_as_itself(shell):
    frozen = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Mine(Exception):\n    why: str\n"
    run(shell, frozen)
    result, captured = run(shell, "%%play\nraise Mine('so')")
    assert type(result.error_in_exec).__name__ == "Mine"
    assert "Mine" in captured.stdout


def test_an_error_can_be_sent_from_a_notebook_to_another_process(shell):
    result, _ = run(shell, f"{SHAPES}y = f(h, w)")
    copied = pickle.loads(pickle.dumps(result.error_in_exec))
    assert str(copied) == str(result.error_in_exec)
    assert "Traceback" in "\n".join(copied._render_traceback_())
