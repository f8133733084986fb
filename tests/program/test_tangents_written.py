"""The lines of a program that push tangents forward compute what `jvp` does, whatever the kind of rule."""

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad


def doubled(v):
    return v * 2.0, lambda dy: dy * 2.0


FUNCTIONS = {
    "elementwise": lambda x, w: np.sin(x) * x**3.0 / np.maximum(w, 0.1),
    "linear": lambda x, w: np.cumsum(x @ w.T, axis=1)[0],
    "general": lambda x, w: np.concatenate([np.max(x, axis=0), np.std(w, axis=0)]),
    "broadcasting": lambda x, w: x[0] + np.ones((2, 2)) * w[0, 1],
    "algebra": lambda x, w: np.linalg.inv(x[:2] + 4.0 * np.eye(2)) @ np.linalg.norm(w, axis=1)[:2],
    "a custom gradient": lambda x, w: ad.custom_gradient(doubled)(x) * w,
    "the same twice": lambda x, w: x * x * w * w,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_program_moves_as_the_function_does(name):
    primals = draw((3, 2), "x"), np.abs(draw((3, 2), "w")) + 0.5
    with ad.trace() as t:
        _, tangent = ad.jvp(FUNCTIONS[name], primals, (draw((3, 2), "v"), draw((3, 2), "u")))
    lines = t.document()["program"]["lines"]
    assert lines.count("# tangents") == 1
    names = {}
    exec("\n".join(["import numpy as np", *lines]), {}, names)
    last = lines[t.document()["program"]["steps"][-1]].partition(" = ")[0]
    np.testing.assert_allclose(names[last], tangent, 1e-12)


def test_the_line_of_a_step_names_tangents_with_a_dot():
    def f(x, w):
        y = x * w
        return np.sin(y)

    with ad.trace() as t:
        ad.jvp(f, (3.0, 2.0), (1.0, 0.5))
    program = t.document()["program"]
    steps = [None if at is None else program["lines"][at] for at in program["steps"]]
    assert steps[-4:] == [
        "x_dot = np.float64(1.0)",
        "w_dot = np.float64(0.5)",
        "y_dot = x_dot * w + w_dot * x",
        "t2_dot = y_dot * np.cos(y)",
    ]


def test_only_what_the_tangent_needs_is_written():
    with ad.trace() as t:
        ad.jvp(np.linalg.norm, ([3.0, 4.0],), ([1.0, 0.0],))
    assert not [line for line in t.document()["program"]["lines"] if line.startswith("c")]
