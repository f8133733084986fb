"""What is printed can be printed: also where standard output has another encoding than UTF-8."""

import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.course.__main__ import main


def printed_objects():
    """Everything whose text has a minus sign, a times sign, an arrow or dots, by the characters that show it."""
    compiled = ad.compile(ad.grad(lambda α: np.sum(np.sin(α) ** 2)))
    compiled(np.ones((2, 3)))
    x, infinite = ad.Variable(np.ones((2, 3)), name="x"), ad.Variable(1e3, name="ξ")
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(np.concatenate([x * k for k in range(20)]))
        z = np.exp(infinite) * 0.0
    layer = nn.Dense(2)
    layer(np.ones((1, 3)))
    return {
        "−": [compiled, compiled.program(np.ones((2, 3)))],
        "×": [tape, layer, ad.hessian(lambda p: p["a"] ** 2)({"a": 1.0})],
        "→": [repr_only(tape.explain(y, x)), tape.explain(y, x)],
        "ξ": [tape.first_nonfinite(z, infinite)],
    }


class repr_only:  # noqa: N801 (a wrapper, used like a function)
    def __init__(self, one):
        self.one = one

    def __str__(self):
        return repr(self.one)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii", "cp437"])
def test_everything_can_be_printed_on_every_standard_output(encoding, monkeypatch):
    with np.errstate(all="ignore"):
        objects = printed_objects()
    shown = {character: [str(one) for one in several] for character, several in objects.items()}
    assert [character for character, texts in shown.items() if character not in "".join(texts)] == []
    stdout = TextIOWrapper(BytesIO(), encoding)
    monkeypatch.setattr(sys, "stdout", stdout)
    for several in objects.values():
        print(*several)
        print(*map(repr_only, several))
    assert main(["list"]) == 0
    stdout.flush()
    text = stdout.buffer.getvalue().decode(encoding)
    assert "unused -2" in text
    assert "BlockMatrix(1" in text
    assert "01-the-tape.ipynb                 1 " in text
    assert ("\\u03b1" in text) == (encoding != "cp437")  # which has α


def test_a_command_prints_names_that_standard_output_does_not_have(tmp_path):
    command = [sys.executable, "-m", "autodiff_edu.course", "assignment", tmp_path / "Übung", "the-tape"]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)
    assert b"\\xdcbung" in done.stdout
    assert list((tmp_path / "Übung").glob("*.ipynb"))


def test_a_text_that_can_be_printed_stays_as_it_is(monkeypatch):
    program = ad.compile(ad.grad(np.sin)).program(0.5)
    for stdout in (TextIOWrapper(BytesIO(), "utf-8"), None):  # a Windows program without a console has none
        monkeypatch.setattr(sys, "stdout", stdout)
        assert "−" in str(program)
