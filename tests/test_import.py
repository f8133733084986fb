"""Importing the package imports NumPy alone, and its modules import one another in one direction."""

import re
import subprocess
import sys
import zipfile
from doctest import DocTestFinder
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

import autodiff_edu as ad
from autodiff_edu import course

PACKAGE = Path(ad.__file__).parent


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


def test_the_package_works_from_a_zip_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        for path in PACKAGE.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and "notebooks" not in path.parts:
                packed.write(path, path.relative_to(PACKAGE.parent))
    code = (
        "import sys; sys.path.insert(0, 'packed.zip'); import autodiff_edu as ad; from autodiff_edu import course; "
        "player = ad.play(lambda x: ad.stop_gradient(x) * x, 2.0); player.save('a.svg'); player.save('a.html'); "
        "print(course.check('1.1', 9), ad.__file__)"
    )
    *said, file = run(code, tmp_path)
    assert "packed.zip" in Path(file).parts
    assert said[:3] == ["1.1:", "Not", "yet."]
    assert (tmp_path / "a.svg").stat().st_size > 1000


def public_names():
    """List every public name with what it stands for: the package's, and those of its rooms."""
    rooms = {"ad": ad, "nn": ad.nn, "course": course}
    return {f"{room}.{name}": getattr(module, name) for room, module in rooms.items() for name in module.__all__}


def test_every_public_name_has_an_example_that_runs_as_a_doctest():
    find = DocTestFinder(recurse=False).find
    names = public_names()
    assert len(names) > 50
    assert [name for name, thing in names.items() if not any(test.examples for test in find(thing, name))] == []


def test_every_public_name_is_there_and_explained():
    assert len(set(ad.__all__)) == len(ad.__all__)
    for name in ad.__all__:
        assert getattr(ad, name).__doc__, name
    for name in ("Tensor", "Variable", "constant", "GradientTape", "trace", "hook", "play", "Trace", "Player"):
        assert name in ad.__all__, name
        assert hasattr(ad, name)


def test_no_file_is_in_a_circle_with_another_by_any_kind_of_import():
    graph = grimp.build_graph("autodiff_edu")  # imports inside functions and for annotations are among them
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 100
    tuple(TopologicalSorter(imports).static_order())  # raises a CycleError that lists the circle


GRADIENT = f"""
import sys, types
package = sys.modules["autodiff_edu"] = types.ModuleType("autodiff_edu")  # without its __init__
package.__path__ = [{str(PACKAGE)!r}]

import numpy as np
from autodiff_edu.core.rule import elementwise
from autodiff_edu.core.tape import Tape
from autodiff_edu.core.variable import Variable

elementwise(np.multiply, lambda g, z, x, y: g * y, lambda g, z, x, y: g * x)
x = Variable([3.0, 4.0])
with Tape() as tape:
    y = np.multiply(x, x) * 2.0
(gradient,) = tape.pull_back([(y, np.ones(2))], [x])
assert gradient._array.tolist() == [12.0, 16.0]
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("autodiff_edu.")))
"""


EXAMPLES = re.compile(r'\n+ *Examples\n *-{8}\n.*?(?=""")', re.DOTALL)
"""The end of a docstring, which the reference shows; nobody has to read it in order to know what the code does."""


def test_what_a_gradient_imports_can_be_read_in_one_sitting(tmp_path):
    texts = {Path(name): Path(name).read_text(encoding="utf-8") for name in run(GRADIENT, tmp_path)}
    lines = {path: len(EXAMPLES.sub("", text).splitlines()) for path, text in texts.items()}
    heart = [lines[PACKAGE / "core" / f"{name}.py"] for name in ("entry", "rule", "tensor", "walk", "tape")]
    assert sum(heart) <= 705
    assert sum(lines.values()) <= 2013


def test_dir_shows_the_public_names_and_nothing_that_was_imported_to_make_them():
    shown = {name for name in dir(ad) if not (name.startswith("__") and name.endswith("__"))}
    assert shown == set(ad.__all__)
    assert {"__version__", "__doc__", "__file__"} <= set(dir(ad))
