"""Every entry knows the file or cell, the line, the columns, and the names in the user's own code."""

import importlib.util
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from no_rule import NAME

import autodiff_edu as ad
from autodiff_edu.text.places import excerpt, names, place


@pytest.fixture
def run(tmp_path):
    """Write code to a module, import it, and give the module."""

    def run(code, name="learner"):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return run


HEAD = """import numpy as np, autodiff_edu as ad
x, y = ad.Variable(2.0), ad.Variable([1.0, 3.0])
with ad.GradientTape() as tape:
"""


def entries_of(run, *lines):
    return run(HEAD + "".join(f"    {line}\n" for line in lines)).tape.entries


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        ("z = x * y", "x * y"),
        ("z = 2.0 * y", "2.0 * y"),
        ("z = -y", "-y"),
        ("z = np.sin(y)", "np.sin(y)"),
        ("z = np.sum(y, axis=0)", "np.sum(y, axis=0)"),
        ("z = y.sum()", "y.sum()"),
        ("z = y[0]", "y[0]"),
        ("z = np.clip(y, 0, 1)", "np.clip(y, 0, 1)"),
        ("z = np.concatenate([y, y])", "np.concatenate([y, y])"),
        ("z = np.dot(y, y)", "np.dot(y, y)"),
        ("z = y.reshape(2, 1)", "y.reshape(2, 1)"),
        (f"z = {NAME}(y)", f"{NAME}(y)"),
        ("z = abs(y)", "abs(y)"),
        ("z = y.astype('float32')", "y.astype('float32')"),
        ("größe = 'ä'; z = y + 1.0; ö = 3", "y + 1.0"),
    ],
)
def test_an_entry_knows_file_line_and_columns(run, line, expression):
    (entry,) = entries_of(run, line)
    at = entry.place
    assert str(at) == "learner.py, line 4"
    assert at.path.endswith("learner.py")
    first, last = at.columns
    assert f"    {line}"[first:last] == expression


def test_nested_expressions_have_places_of_their_own(run):
    line = "z = np.sum(np.sin(y) * x)"
    cut = [f"    {line}"[slice(*entry.place.columns)] for entry in entries_of(run, line)]
    assert cut == ["np.sin(y)", "np.sin(y) * x", "np.sum(np.sin(y) * x)"]


def test_an_expression_over_several_lines_has_no_columns(run):
    (entry,) = entries_of(run, "z = (x *", "     y)")
    assert (entry.place.line, entry.place.columns) == (4, None)


def test_the_place_is_where_the_user_s_function_computes(run):
    module = run(
        """
        import autodiff_edu as ad

        def f(x):
            return x * x

        x = ad.Variable(2.0)
        with ad.GradientTape() as tape:
            y = f(x)
        """
    )
    assert module.tape.entries[0].place.line == 5


@pytest.mark.parametrize(
    ("line", "result", "arguments", "function"),
    [
        ("z = x * y", "z", ("x", "y"), None),
        ("z: object = x * 2.0", "z", ("x", None), None),
        ("z = np.sin(y)", "z", ("y",), "sin"),
        ("z = y.sum()", "z", ("y",), "sum"),
        ("z = y[0]", "z", ("y",), None),
        ("(z := x + y)", "z", ("x", "y"), None),
        ("x * y", None, ("x", "y"), None),
        ("z = w = x * y", None, ("x", "y"), None),
        ("z = -x", "z", ("x",), None),
        ("z = x > y", "z", ("x", "y"), None),
    ],
)
def test_names_are_those_of_the_code(run, line, result, arguments, function):
    (entry,) = entries_of(run, line)
    written = names(entry.where)
    assert (written.result, written.arguments, written.function) == (result, arguments, function)


def test_the_table_calls_things_what_the_code_calls_them(run):
    module = run(HEAD + "    s = np.sin(y)\n    z = s * x\n    total = np.sum(z)\n")
    text = str(module.tape)
    for part in ("learner.py, line 4", "s = sin(y)", "z = s * x", "total = sum(z)", "[0.841471 0.14112]"):
        assert part in text
    assert len(text.splitlines()) == 4
    assert str(module.tape) == text


def test_code_without_a_source_still_has_a_file_and_a_line():
    scope = {"ad": ad}
    code = "x = ad.Variable(2.0)\nwith ad.GradientTape() as tape:\n    y = x * x\n"
    exec(compile(code, "<nowhere>", "exec"), scope)
    entry = scope["tape"].entries[0]
    assert str(entry.place).strip("<>") in ("nowhere, line 3", "nowhere>, line 3")
    assert names(entry.where).result is None
    assert excerpt("<nowhere>", {entry.where[0]}, {3}) == []
    assert "x1 * x1" in str(scope["tape"])


def test_an_excerpt_holds_the_functions_concerned_and_not_the_whole_file(run):
    filler = "\n".join(f"unused_{i} = {i}" for i in range(50))
    module = run(f"import autodiff_edu as ad\n{filler}\n\ndef f(x):\n    y = x * x\n    return y\n\n{filler}\n")
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        module.f(x)
    (entry,) = tape.entries
    at = place(entry.where)
    ((first, lines),) = excerpt(at.path, {entry.where[0]}, {at.line})
    assert lines == ["def f(x):", "    y = x * x", "    return y"]
    assert lines[at.line - first] == "    y = x * x"


def test_a_variable_and_a_watched_tensor_know_where_they_were_watched(run):
    seen = []
    with ad.hook(seen.append):
        run(HEAD + "    a = ad.constant(1.0)\n    tape.watch(a)\n    z = x * 1.0\n")
    assert [str(place(event.where)) for event in seen if hasattr(event, "where")] == [
        "learner.py, line 5",
        "learner.py, line 6",
    ]


IPYTHON = """
import re
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
def run(code):
    result = shell.run_cell(code, store_history=True)
    result.raise_error()
run("import numpy as np\\nimport autodiff_edu as ad\\nx = ad.Variable(2.0, name='x')")
run("# a comment\\nwith ad.GradientTape() as tape:\\n    y = np.sin(x) * x")
run("def f(a):\\n    return a * a\\nwith ad.trace() as t, ad.GradientTape() as tape2:\\n    z = f(x)")
run("%time None\\nwith ad.GradientTape() as tape3:\\n    w = x * 3.0")
space = shell.user_ns
for name in ("tape", "tape2", "tape3"):
    for entry in space[name].entries:
        print(entry.place, entry.place.columns)
print(str(space["tape"]).splitlines()[2])
for part in space["t"].document()["code"]:
    print(part["place"], part["first_line"], len(part["lines"]))
print(space["t"].transcript())
"""


def test_in_a_notebook_places_are_cells_and_lines(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", IPYTHON]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    out = done.stdout[done.stdout.index("cell 2") :].splitlines()
    assert out[:4] == [
        "cell 2, line 3 (8, 17)",
        "cell 2, line 3 (8, 21)",
        "cell 3, line 2 (11, 16)",
        "cell 4, line 3 (8, 15)",
    ]
    assert "cell 2, line 3" in out[4]
    assert "y = " in out[4]
    assert out[5] == "cell 3 1 4"
    assert "ipython" not in done.stdout.lower()
    assert str(tmp_path) not in done.stdout


def test_numpy_s_own_frames_are_not_the_user_s(run):
    (entry, *_) = entries_of(run, "z = np.linalg.norm(y)")
    assert str(entry.place) == "learner.py, line 4"
    assert np.isfinite(entry.output_value)
