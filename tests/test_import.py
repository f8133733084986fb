"""Importing the package imports NumPy alone, and its modules import one another in one direction."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_edu as ad

HOUSE = Path(ad.__file__).parent


def run(code, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_package_imports_no_widgets_plots_or_notebooks(tmp_path):
    top = run("import sys, autodiff_edu; print(*{name.partition('.')[0] for name in sys.modules})", tmp_path)
    assert "numpy" in top
    assert not {"ipywidgets", "anywidget", "traitlets", "matplotlib", "IPython", "jupyterlab", "ipykernel"} & set(top)


def test_the_package_imports_nothing_but_numpy_and_the_standard_library(tmp_path):
    code = (
        "import sys, numpy; before = set(sys.modules); import autodiff_edu; "
        "print(*{n.partition('.')[0] for n in set(sys.modules) - before})"
    )
    foreign = set(run(code, tmp_path)) - set(sys.stdlib_module_names) - {"autodiff_edu", "numpy"}
    assert {name for name in foreign if not name.startswith("_")} == set()


def test_a_player_can_be_made_without_widgets(tmp_path):
    code = (
        "import sys; sys.modules['anywidget'] = sys.modules['ipywidgets'] = sys.modules['IPython'] = None; "
        "import autodiff_edu as ad; print(*sorted(ad.play(lambda x: x * x, 2.0)._repr_mimebundle_()))"
    )
    assert run(code, tmp_path) == ["text/html", "text/plain"]


def test_every_public_name_is_there_and_explained():
    assert len(set(ad.__all__)) == len(ad.__all__)
    for name in ad.__all__:
        assert getattr(ad, name).__doc__, name
    for name in ("Tensor", "Variable", "constant", "GradientTape", "trace", "hook", "play", "Trace", "Player"):
        assert name in ad.__all__, name
        assert hasattr(ad, name)


def imports_of(path):
    """The package's modules that a module imports when it is itself imported, not later and not for types alone."""
    parts = path.relative_to(HOUSE).with_suffix("").parts
    package = ("autodiff_edu", *parts[:-1])
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            if module.startswith("autodiff_edu"):
                inner = module.split(".")[1:]
                found |= {inner[0]} if inner else {alias.name for alias in node.names}
    return found


FLOORS = [
    {"formatting", "structures", "values", "places", "events", "journal", "scopes", "options"},
    {"rules", "methods", "tensor", "stacks", "unruled", "variable"},
    {"entry", "arguments", "recorder", "questions", "jacobians", "tape", "labels"},
    {"control", "forward", "blocks", "transforms"},
    {"explain", "nonfinite", "program"},
    {"checks", "nn", "saving", "plots"},
    {"trace", "document"},
    {"player"},
    {"explorer"},
    {"course"},
]
FLOOR = {name: height for height, names in enumerate(FLOORS) for name in names}


@pytest.mark.parametrize(
    "path",
    sorted(p for p in HOUSE.rglob("*.py") if p != HOUSE / "__init__.py"),
    ids=lambda p: str(p.relative_to(HOUSE)),
)
def test_imports_go_one_way_down_the_house(path):
    room = path.relative_to(HOUSE).with_suffix("").parts[0]
    if room not in FLOOR:
        pytest.fail(f"{room} has no floor yet: say in FLOORS where it stands")
    above = {name for name in imports_of(path) if FLOOR.get(name, len(FLOORS)) > FLOOR[room]}
    assert above == set()


def test_the_heart_stays_under_800_lines():
    heart = ["tensor.py", "recorder.py", "tape.py", "rules/kinds.py"]
    assert sum(len((HOUSE / name).read_text(encoding="utf-8").splitlines()) for name in heart) < 800
