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


def test_a_colour_of_the_light_scheme_is_the_first_of_two():
    assert colour("ink") == colours()["ink"][0]
    with pytest.raises(KeyError):
        colour("mauve")
