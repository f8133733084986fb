"""Last bits are moved wherever processors may differ, nowhere else, and the functions look the same."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autodiff_edu
from autodiff_edu.course.tools import last_bit

PACKAGE = str(Path(autodiff_edu.__file__).parent)
ROOT = Path(__file__).parents[2]
PROGRAM = """
import inspect, json, pickle, sys, warnings
import numpy as np
import autodiff_edu as ad
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.course.tools import last_bit

rng = np.random.default_rng(0)
v, a, b = rng.normal(size=99), rng.normal(size=(7, 7)), rng.normal(size=(4, 7, 7))
c = a + 1j * a.T
MOVED = {
    "exp": lambda: np.exp(v), "backwards": lambda: np.exp(v[::-2]), "power": lambda: np.abs(v) ** 1.5,
    "matmul": lambda: a @ a, "stack": lambda: np.swapaxes(b, -1, -2) @ b, "vector": lambda: a @ v[:7],
    "complex": lambda: c @ c, "a complex product": lambda: c * c, "its size": lambda: np.abs(c),
    "convolve": lambda: np.convolve(v, a[0]), "multi_dot": lambda: np.linalg.multi_dot([a, a, a]),
    "float32": lambda: np.tanh(v.astype("float32")), "sum": lambda: b.sum(-1),
    "mean": lambda: b.mean(-1), "dot": lambda: np.dot(a, a), "einsum": lambda: np.einsum("ij,jk", a, a),
    "norm": lambda: np.array([np.linalg.norm(row) for row in a]), "solve": lambda: np.linalg.solve(a, v[:7]),
    "inv": lambda: np.linalg.inv(a), "svd": lambda: np.linalg.svd(a)[1], "fft": lambda: np.fft.fft(v),
    "eigh": lambda: np.linalg.eigh(a + a.T)[0],
    "a tensor": lambda: np.exp(ad.constant(v)).numpy(), "its power": lambda: np.array(
        [(ad.constant(abs(x)) ** 1.5).numpy() for x in v]), "its dot": lambda: np.dot(ad.constant(a), a).numpy(),
}
EXACT = {
    "add": lambda: v + v, "multiply": lambda: v * v, "sqrt": lambda: np.sqrt(abs(v)), "divide": lambda: 1 / v,
    "max": lambda: b.max(-1), "integers": lambda: np.arange(99).reshape(9, 11) @ np.ones(11, int),
    "whole": lambda: np.arange(99.0).reshape(9, 11) @ np.ones(11), "exp(0)": lambda: np.exp(np.zeros(3)),
    "infinite": lambda: np.exp(np.array([np.inf, -np.inf, np.nan])), "a diagonal": lambda: np.einsum("ii->i", a),
    "a view": lambda: a.T, "empty": lambda: np.exp(v[:0]), "cumsum": lambda: np.cumsum(np.arange(9.0)),
}
before = {name: f() for name, f in {**MOVED, **EXACT}.items()}
known = {name: getattr(np, name) for name in ("exp", "matmul", "sum", "add", "einsum")}
dot = np.dot
last_bit.install(int(sys.argv[1]))
found = {}
for name, f in {**MOVED, **EXACT}.items():
    old, new = before[name], f()
    scale = np.max(np.abs(old), initial=0.0, where=np.isfinite(old))
    apart = np.subtract(new, old, where=np.isfinite(old), out=np.zeros_like(old))
    apart = np.max(np.abs(apart), initial=0.0) / (scale or 1.0)
    moved = np.mean(~((old == new) | (np.isnan(old) & np.isnan(new)))) if old.size else 0.0
    found[name] = float(moved), float(apart) / float(np.finfo(new.dtype).eps if new.dtype.kind in "fc" else 1.0)
    assert np.array_equal(new, f(), equal_nan=new.dtype.kind in "fc"), f"{name} differs from itself"
    assert new.dtype == old.dtype and new.shape == old.shape
calls = []
sys.setprofile(lambda frame, event, arg: calls.append(event))
np.exp(v)
sys.setprofile(None)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    np.exp(np.array([1e9, 0.3])), np.exp(v), a @ a
with ad.register_gradient(np.exp, lambda g, y, x: 7.0 * g, replace=True):
    x = ad.Variable(0.3)
    with ad.GradientTape() as tape:
        y = np.exp(x)
    slope = float(tape.gradient(y, x))
print(json.dumps({
    "values": {name: np.ravel(MOVED[name]()).real.tolist() for name in ("exp", "sum")},
    "exact": list(EXACT), "found": found, "calls": len(calls), "slope": slope,
    "warnings": [str(warning.message) for warning in caught],
    "same objects": [getattr(np, name) is function for name, function in known.items()],
    "equal": [
        np.dot == dot, hash(np.dot) == hash(dot), np.dot.__doc__ == dot.__doc__, repr(np.dot) == repr(dot),
        isinstance(np.dot, type(dot)), pickle.loads(pickle.dumps(np.dot)) == dot, np.exp.nin == 1, np.dot in SPELLED,
        "ord" in inspect.signature(np.linalg.norm).parameters],
}))
try:
    last_bit.install(2)
except RuntimeError as error:
    assert "already moved" in str(error)
else:
    raise AssertionError("installed twice")
"""


@pytest.fixture(scope="module")
def runs():
    def run(seed):
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(seed)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run(1), run(2)


def test_results_that_processors_compute_differently_are_moved_by_a_unit_and_all_others_stay(runs):
    for run in runs:
        for name, (moved, apart) in run["found"].items():
            if name in run["exact"]:
                assert moved == 0.0, name
            else:
                assert 0.2 < moved <= 1.0, name
                assert 0.0 < apart <= 2.0, name


def test_another_seed_moves_others(runs):
    first, second = (run["values"] for run in runs)
    assert first["exp"] != second["exp"]
    assert first["sum"] != second["sum"]


def test_functions_stay_what_they_are_for_rules_warnings_and_profilers(runs):
    for run in runs:
        assert run["same objects"] == [True] * 5
        assert run["equal"] == [True] * 9
        assert run["slope"] == 7.0
        assert run["warnings"] == ["overflow encountered in exp"]
        assert run["calls"] <= 3  # the one of setprofile itself among them


def test_a_number_is_moved_by_one_unit_up_or_down_or_not_at_all():
    moved = [last_bit.move(np.float64(0.1), salt) for salt in range(300)]
    counts = {steps: moved.count(0.1 + steps * np.spacing(0.1)) for steps in (-1, 0, 1)}
    assert sum(counts.values()) == 300
    assert min(counts.values()) > 40


@pytest.mark.exhaustive
def test_no_example_in_a_docstring_depends_on_the_processor():
    """The doctests, where last bits are others: they print only digits that all processors agree on."""
    run = (
        "from autodiff_edu.course.tools import last_bit; last_bit.install(1); import pytest; sys.exit(pytest.main({}))"
    )
    options = [
        "-o",
        "addopts=",
        "-q",
        "--doctest-modules",
        "-p",
        "no:nbval",
        "-p",
        "no:cacheprovider",
        f"--ignore={PACKAGE}/frameworks",
        PACKAGE,
    ]
    command = [sys.executable, "-c", f"import sys; {run.format(options)}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 100


def test_what_is_not_a_float_is_left_alone():
    for value in (3, "x", None, np.arange(3), np.array([True]), [0.1]):
        assert last_bit.move(value, 1) is value
