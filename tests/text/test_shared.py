"""What Python and the player share stands in one file, and nowhere else."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.text.shared import colour, colours, operators, shared

PACKAGE = Path(ad.__file__).parent
SCRIPTS = sorted(PACKAGE.glob("player/js/**/*.js"))
SHEETS = sorted(PACKAGE.glob("player/css/*.css"))


@pytest.mark.parametrize("name", operators())
def test_an_operator_computes_what_its_name_says(name):
    x, y = np.array([[6, 3], [2, 5]]), np.array([[4, 1], [3, 5]])
    sign = operators()[name].sign
    assert np.array_equal(eval(f"x {sign} y"), getattr(np, name)(x, y))


def test_the_levels_are_those_of_python():
    signs = {operator.sign: operator.level for operator in operators().values()}
    for first, level in signs.items():
        for second, other in signs.items():
            if "**" not in (first, second) and not level == other == 2:
                left = ast.unparse(ast.parse(f"(a {first} b) {second} c", mode="eval"))
                assert ("(" in left) is (level < other), (first, second)


def test_every_script_and_sheet_asks_for_what_is_there():
    for path in SCRIPTS:
        assert set(re.findall(r"\bSHARED\.(\w+)", path.read_text(encoding="utf-8"))) <= set(shared()), path.name
    for path in SHEETS:
        asked = set(re.findall(r"var\(--shared-([\w-]+)\)", path.read_text(encoding="utf-8")))
        assert asked <= set(colours()), path.name


def test_no_colour_stands_anywhere_else():
    for path in [*SCRIPTS, *SHEETS, *PACKAGE.rglob("*.py")]:
        found = set(re.findall(r"(?<!['\w(])#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8")))
        assert found <= {"#ffffff", "#000000", "#0e1014"}, path


# What a reader without the first, second or third kind of cones sees (Machado, Oliveira and Fernandes 2009).
SIGHT = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
LMS = [[0.412221, 0.536333, 0.051446], [0.211903, 0.680700, 0.107397], [0.088302, 0.281719, 0.629979]]
OKLAB = [[0.210454, 0.793618, -0.004072], [1.977998, -2.428592, 0.450594], [0.025904, 0.782772, -0.808676]]


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("scheme", [0, 1])
def test_colour_blind_readers_tell_below_zero_from_above(sight, scheme):
    seen = []
    for name in ("low", "high"):
        text = colours()[name][scheme]
        light = (np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]) / 255) ** 2.2
        seen.append(OKLAB @ np.cbrt(LMS @ np.clip(SIGHT[sight] @ light, 0, 1)))
    assert np.linalg.norm(np.subtract(*seen)[1:]) > 0.1  # in hue alone; 0.02 is just noticeable


def test_a_colour_of_the_light_scheme_is_the_first_of_two():
    assert colour("ink") == colours()["ink"][0]
    with pytest.raises(KeyError):
        colour("mauve")
