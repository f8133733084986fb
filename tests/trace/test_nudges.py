"""The nudges that a document keeps: computed by hand, few, and nothing in them that a CPU could decide."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import numpy as np
import pytest
from programs import EXAMPLES, diamond, loop, stopped, two_passes, two_tapes

import autodiff_edu as ad
from autodiff_edu.derivatives.nudge import run_again
from autodiff_edu.text.shared import shared
from autodiff_edu.trace.nudges import MOST, MOST_RUNS, natural_size, round_to


def kept(traced: ad.Trace, target: str | None = None) -> dict[str, dict[str, Any]]:
    """The nudges by the names of what is nudged, and of the target; that of the last pass may be given another name."""
    document = traced.document()
    names = [tensor["name"] for tensor in document["tensors"]]
    for step in document["steps"]:
        if step["kind"] == "seed" and target:
            names[step["tensor"]] = target
    found = {}
    for nudge in document.get("nudges", []):
        where = " along" if "along" in nudge else str(nudge.get("element", ""))
        found[f"{names[nudge['tensor']]}{where} -> {names[nudge['target']]}"] = nudge
    return found


def played(f: Any, *args: Any, **about: Any) -> dict[str, dict[str, Any]]:
    x = [ad.Variable(arg, name=name, **about) for name, arg in zip("xw", args, strict=False)]
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = f(*x)
        tape.gradient(y, x)
    return kept(traced, "y")


def steps(size: float) -> list[float]:
    """List the nudges of a size, in four digits."""
    return [float(f"{size * portion:.4g}") for portion in shared()["nudges"]]


def moved(nudge: dict[str, Any]) -> list[Any]:
    return nudge.get("moved") or [nudge["slope"] * by for by in steps(nudge["size"])]


SOME = (-1, -0.75, -0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 0.75, 1)


def at(nudge: dict[str, Any], *portions: float) -> list[Any]:
    """Return how far the target moves at these portions of the largest nudge."""
    return [moved(nudge)[shared()["nudges"].index(portion)] for portion in portions]


def test_a_square_worked_out_by_hand():
    found = played(lambda x: x * x, 3.0)
    square = dict(found["x -> y"])
    assert at(square, *SOME) == [-5.0, -3.938, -2.75, -1.438, -0.59, 0.61, 1.563, 3.25, 5.063, 7.0]
    assert square.pop("moved") == pytest.approx([(3 + by) ** 2 - 9 for by in steps(1.0)], rel=1e-3)
    assert square == {"tensor": 0, "target": 1, "from": 3.0, "size": 1.0, "slope": 6.0}
    assert found["y -> y"] == {"tensor": 1, "target": 1, "from": 9.0, "size": 1.0, "slope": 1.0}
    assert shared()["nudges"] == [k / 20 for k in range(-20, 21) if k], "41 points with the one that is there"


@pytest.mark.parametrize(
    ("function", "runs"),
    [
        (lambda x: 2.0 * x, 10),
        (lambda x: x / 4.0, 10),
        (lambda x: x**3, 10),
        (np.exp, 40),
        (lambda x: np.maximum(x, 3.9), 44),  # twice for each of two points beyond, on the branch that it leaves
        (lambda x: np.maximum(x, -90.0), 46),  # a line, but only the points, and six further out, say so
    ],
)
def test_what_ten_probes_tell_is_not_computed_again(function, runs, monkeypatch):
    seen = []
    module = sys.modules["autodiff_edu.trace.nudges"]
    monkeypatch.setattr(module, "run_again", lambda *args: seen.append(1) or run_again(*args))
    found = played(function, 3.0)["x -> y"]
    assert len(seen) == runs
    wanted = [float(function(np.float64(3 + by)) - function(np.float64(3.0))) for by in steps(1.0)]
    assert moved(found) == pytest.approx(wanted, rel=1e-3, abs=1e-9)


def choose(x):
    return x + 1.0 if 3.3 < x < 3.45 else x * x


@pytest.mark.parametrize("place", [2.07, 2.66, 3.17, 3.62, 3.87])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, at: x + 5.0 * np.minimum(np.abs(x - at), 0.08),
        lambda x, at: x + np.maximum(0.0, 0.08 - np.maximum(x - at, at - x)),
        lambda x, at: np.where((x > at - 0.08) & (x < at + 0.08), 20.0, x * x),
        lambda x, at: x + np.floor(x - at + 0.08) - np.floor(x - at - 0.08),
        lambda x, at: x * x + np.exp(-(((x - at) / 0.02) ** 2)) * 4.0,
        lambda x, at: x / 2.0 + ((x - at) * 50.0 * (x - at) * 50.0 + 1.0) ** -8.0,
        lambda x, at: choose(x + 3.37 - at),
    ],
    ids=["abs", "relu", "where", "floor", "peak", "negative power", "if"],
)
def test_no_point_of_a_curve_is_off_where_something_happens_between_the_probes(function, place):
    points, *others = [nudge for name, nudge in played(lambda x: function(x, place), 3.0).items() if "x ->" in name]
    assert not others
    there = [float(function(np.float64(3.0 + by), place) - function(np.float64(3.0), place)) for by in steps(1.0)]
    most = 0.01 * (max(there) - min(there))
    pairs = [(shown, real) for shown, real in zip(moved(points), there, strict=True) if shown is not None]
    assert len(pairs) > 15, "a point at which an `if` goes another way is left out"
    assert max(abs(shown - real) for shown, real in pairs) <= most


UNCUT = [program for program in EXAMPLES if program not in (stopped, two_passes)]


@pytest.mark.parametrize("program", UNCUT, ids=lambda program: program.__name__)
def test_a_cotangent_is_the_slope_at_no_nudge_at_all(program):
    ad.nn.seed(0)
    for name, nudge in kept(program()).items():
        if "slope" not in nudge:
            continue
        below, above = at(nudge, -0.1, 0.1)
        assert (above - below) / (0.2 * nudge["size"]) == pytest.approx(nudge["slope"], rel=0.1), name


def test_what_a_cut_keeps_from_the_backward_pass_moves_all_the_same():
    found = kept(stopped())["x -> z"]
    # z = stop_gradient(a) b + 2 a, where a = x x, and b = 2 a is computed in the pause
    assert moved(found) == pytest.approx([2 * (3 + by) ** 4 + 2 * (3 + by) ** 2 - 180 for by in steps(1.0)], rel=1e-3)
    assert found["slope"] == 12.0
    assert {said.partition(" (line ")[0] for said in reasons(stopped(), "x -> z")} == {
        "No gradient flows back through b = a * y"  # computed in the pause, before the other
    }


def reasons(traced: ad.Trace, name: str) -> list[str]:
    """For each nudge, why the cotangent misleads."""
    nudge = kept(traced, "y").get(name) or kept(traced)[name]
    return [said or nudge.get("why", "") for said in nudge.get("reasons", [""] * 40 * ("why" in nudge))]


def trace_of(f: Any, *args: Any) -> ad.Trace:
    x = [ad.Variable(arg, name=name) for name, arg in zip("xw", args, strict=False)]
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = f(*x)
        tape.gradient(y, x)
    return traced


@pytest.mark.parametrize(
    ("function", "value", "size"),
    [
        (lambda x: np.maximum(x, 0.0), 3.0, 5.0),
        (lambda x: np.maximum(x, 0.0), 1.0, 2.0),  # at the very end nobody would see the kink
        (lambda x: np.where(x > 5, x * x, x), 1.0, 5.0),
        (lambda x: np.floor(x) + x, 0.3, 0.5),
        (lambda x: x * x if x < 6 else x, 3.0, 5.0),
        (np.abs, 0.4, 0.5),
        (lambda x: np.maximum(x, 0.0), 0.5, 1.0),
        (lambda x: np.maximum(x, 3.9), 3.0, 1.0),
        (lambda x: np.where(x > 50, x * x, x), 1.0, 1.0),
        (lambda x: x * ad.stop_gradient(x), 3.0, 1.0),
        (lambda x: np.maximum(x, 0.0) * 0.0 + np.exp(x), 3.0, 1.0),
        (np.tanh, 3.0, 1.0),
    ],
)
def test_a_nudge_reaches_a_branch_that_is_not_far_off(function, value, size):
    found = played(function, value)["x -> y"]
    assert found["size"] == size
    there = [float(function(np.float64(value + by)) - function(np.float64(value))) for by in steps(size)]
    pairs = [(shown, real) for shown, real in zip(moved(found), there, strict=True) if shown is not None]
    assert len(pairs) > 20
    if function(3.0) != 9.0:  # not where `stop_gradient` has run without a tape
        np.testing.assert_allclose(*zip(*pairs, strict=True), rtol=1e-3, atol=1e-9)


def cut_but_unused(x):
    ad.stop_gradient(x)
    return x * x + 0.0 * ad.stop_gradient(x) + (ad.stop_gradient(x) - ad.stop_gradient(x))


def cut_after_a_product(x):
    return ad.stop_gradient(x * x) * x + x


@pytest.mark.parametrize(
    ("function", "value", "below", "above"),
    [
        (lambda x: x * 2.0 if x > 1 else x, 1.5, "x > 1", ""),
        (lambda x: np.where(x > 1, x * x, 0.0), 1.5, "where(", ""),
        (lambda x: np.maximum(x, 1.0), 1.5, "maximum(x, 1)", ""),
        (lambda x: np.abs(x - 1.0), 1.5, "absolute(", ""),
        (lambda x: np.sort(np.stack([x, 1.0 + 0.0 * x]))[0], 1.5, "sort(", ""),
        (lambda x: np.max(np.stack([x, 1.0 + 0.0 * x])), 1.5, "max(", ""),
        (lambda x: ad.nn.relu(x - 1.0) ** 2, 1.5, "where(", ""),
        (cut_after_a_product, 2.0, "stop_gradient(", "stop_gradient("),
        (lambda x: x * (x > 1), 1.5, "x > 1", ""),
    ],
)
def test_why_a_cotangent_misleads_about_a_nudge(function, value, below, above):
    found = reasons(trace_of(function, value), "x -> y")
    assert below in found[0]
    assert above in found[-1] if above else not found[-1]


def test_a_cut_that_adds_nothing_is_not_to_blame():
    assert not reasons(trace_of(cut_but_unused, 1.5), "x -> y")
    assert not reasons(trace_of(lambda x: np.where(x > -20, x * x, 0.0), 1.5), "x -> y"), "1.5 is far from -20"


def compares_but_does_not_use_it(x):
    large = x > 1.0  # noqa: F841
    return x * x


def only_prints(x):
    large = x > 1.0
    print(large, float(x), f"{float(x * 2.0):.3f}", x > 1.2)
    return x * x


def names_what_it_prints(x):
    large = float(x) > 1
    n = round(float(x))
    norm = float(x) * 2
    label = "large" if x > 1 else "small"
    print(large, n, norm, label)
    return x * x


def prints_what_it_computes_from_a_copy(x):
    a = float(x)
    b = a * 2
    large = b > 1
    print(b, large)
    return x * x


def compares_what_it_keeps(x):
    kept = []
    (n := float(x)) > 1  # noqa: B015
    print(kept)
    return x * n


def adds_into_an_array(x):
    kept = np.zeros(1)
    n = np.add(float(x), 0.0, kept)  # noqa: F841
    return x * kept[0]


def catches_what_it_raises(x):
    try:
        n = [1.0, 2.0][int(x) * 5]  # noqa: F841
    except IndexError:
        return x * 3.0
    return x


def keeps_what_it_prints(x):
    kept = []
    print(kept.append(float(x)), x > 1.0)
    return x * x + kept[0]


def finds_it_by_name(x):
    v = float(x)  # noqa: F841
    return x * eval("v")


def keeps_it_in_a_class(x):
    class Kept:
        v = float(x)

    return x * Kept.v


def prints_into_a_file(x):
    file = io.StringIO()
    print(float(x), file=file)
    return x * float(file.getvalue())


def writes_into_an_array(x):
    kept = np.zeros(1)
    done = np.copyto(kept, float(x))  # noqa: F841
    return x * kept[0]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.maximum(x, 1.0) * 0.0 + x * x,
        lambda x: x * x + (np.abs(x - 1.0) - np.abs(x - 1.0)),
        lambda x: np.where(x > 1.0, x, 2.0 * x) * 0.0 + np.sort(np.stack([x, 0.0 * x + 1.0]))[0] * 0.0 + x**3,
        lambda x: np.maximum(x, 1.0) + np.minimum(x, 1.0) + np.exp(x),
        compares_but_does_not_use_it,
        only_prints,
        names_what_it_prints,
        prints_what_it_computes_from_a_copy,
    ],
)
def test_what_adds_nothing_is_not_a_reason(function):
    found = kept(trace_of(function, 1.5), "y")["x -> y"]
    assert not any(found.get("reasons", ()))
    assert "why" not in found
    assert None not in moved(found)


def test_a_file_without_a_print_is_read_as_well(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("def f(x):\n    large = x > 1.04\n    n = float(x)\n    return x * x\n")
    exec(compile(file.read_text(), file, "exec"), names := {})
    found = kept(trace_of(names["f"], 1.0), "y")["x -> y"]
    assert "why" not in found
    assert not any(found.get("reasons", ()))
    assert None not in moved(found)


@pytest.mark.parametrize(
    "function",
    [
        keeps_what_it_prints, finds_it_by_name, keeps_it_in_a_class, prints_into_a_file, writes_into_an_array,
        compares_what_it_keeps, adds_into_an_array, catches_what_it_raises,
    ],
)  # fmt: skip
def test_plain_numbers_that_may_be_kept_are_named(function):
    assert "plain numbers out of x" in reasons(trace_of(function, 1.5), "x -> y")[-1]


def keeps_elements(x):
    return np.sum(x) * max(float(element) for element in x)


def test_plain_numbers_of_what_leads_nowhere_are_named():
    assert "Your code took plain numbers out of " in reasons(trace_of(keeps_elements, [1.0, 2.0]), "x along -> y")[0]


def test_of_two_operations_that_take_another_branch_the_one_that_matters_is_named():
    twice = reasons(trace_of(lambda x: np.abs(x - 1.0) * 0.0 + np.maximum(x, 1.0), 1.5), "x -> y")
    assert "maximum(x, 1)" in twice[0]
    again = reasons(trace_of(lambda x: np.maximum(np.maximum(x, 1.0), 1.0), 1.5), "x -> y")
    assert "maximum(" in again[0], "neither alone would be the reason"


def test_a_corner_next_to_a_curve_is_named_for_each_element():
    nudges = played(lambda x: 50.0 * np.sum(x * x) + np.sum(np.abs(x)), [0.0, 0.0])
    assert nudges["x[0] -> y"]["why"].startswith("x[0] is at a corner of ")
    assert ": slope −1 on its left, 1 on its right. " in nudges["x[0] -> y"]["why"]


def test_of_two_corners_the_one_that_the_target_has_is_named():
    (nudge,) = [
        one
        for one in ad.play(lambda x: np.abs(x) * 0.0 + np.maximum(x, 0.0), 0.0).document()["nudges"]
        if one["tensor"] == 0
    ]
    assert "maximum(x, 0)" in nudge["why"]
    softmax = ad.play(lambda x: np.exp(x - np.max(x))[0] / np.sum(np.exp(x - np.max(x))), [1.0, 1.0]).document()
    assert not [one["why"] for one in softmax["nudges"] if one["tensor"] == 0 and "why" in one], "the max cancels"


def test_next_to_what_is_very_large_a_slope_is_not_0():
    of_x, *_, of_target = ad.play(lambda x: np.exp(100.0 * x), 1.0).document()["nudges"]
    assert of_x["slope"] == pytest.approx(100.0 * np.exp(100.0), rel=1e-3)
    assert of_target["slope"] == 1.0
    slopes = [one["slope"] for one in ad.play(lambda x: 1.0 / (x - 0.999), 1.0).document()["nudges"]]
    assert slopes == pytest.approx([-1e6, -1e6, 1.0])


def test_next_to_a_large_target_a_slope_is_not_0_and_a_curve_not_a_line():
    found = played(lambda x: np.sum((x - 1.0) ** 2) + 1e10, [3.0, 1.0])["x[0] -> y"]
    assert found["slope"] == 4.0
    assert at(found, 1, -1) == [5.0, -3.0]
    assert played(lambda x: x + 1e9, 3.0)["x -> y"]["slope"] == 1.0
    assert played(lambda x: np.sum(x + np.array([0.0, -1e9, 0.0])), [1.0, 2.0, 3.0])["x[0] -> y"]["slope"] == 1.0


@pytest.mark.parametrize(
    ("function", "operation"),
    [
        (lambda x: np.abs(x) + 20.0 * x * x, "absolute"),
        (lambda x: np.abs(x) - 1e5 * x * x, "absolute"),
        (lambda x: np.exp(20.0 * np.abs(x)) + 1e5, "absolute"),
        (np.abs, "absolute"),
        (ad.nn.relu, "where"),
        (lambda x: np.maximum(x, 0.0 * x), "maximum"),
        (lambda x: np.abs(x * 2.0) + x, "absolute"),
    ],
)
def test_a_nudge_from_a_corner_names_it(function, operation):
    said = kept(trace_of(function, 0.0), "y")["x -> y"]["why"]
    assert "is at a corner of " in said
    assert f" = {operation}(" in said


def test_the_corner_of_an_element_that_stays_is_not_named():
    nudges = kept(trace_of(lambda x: np.sum(np.abs(x) * x), [0.0, 2.0]), "y")
    assert "why" not in nudges["x[1] -> y"]


def test_plain_numbers_that_the_code_took_are_named():
    def chosen(x):
        a = x * x
        return a * 2.0 if float(a) > 1 else a

    document = trace_of(chosen, 1.5).document()
    (nudge,) = [each for each in document["nudges"] if each["tensor"] == 0]
    assert nudge["why"].startswith("Your code took plain numbers out of a. Anything it computed or decided with them ")
    assert all("why" not in each for each in trace_of(lambda x: x * x, 1.5).document()["nudges"])


def test_where_no_cotangent_arrives_there_is_no_slope():
    found = played(lambda x, w: np.sign(x) * 2.0 * w, 0.5, 3.0)
    assert "slope" not in found["x -> y"]
    stairs = played(lambda x, w: np.floor(x) * w, 1.5, 3.0)["x -> y"]
    assert at(stairs, *SOME) == [-3, -3, 0, 0, 0, 0, 0, 3, 3, 3]


def test_an_array_moves_at_its_most_important_element_and_along_its_cotangent():
    found = played(lambda x, w: np.sum(x * w), [1.0, 2.0, 5.0], [0.0, 4.0, -3.0])
    assert found["x[1] -> y"] == {"tensor": 0, "target": 3, "element": [1], "from": 2.0, "size": 1.0, "slope": 4.0}
    assert found["x along -> y"] == {"tensor": 0, "target": 3, "along": True, "size": 1.0, "slope": 5.0}


def test_every_element_of_a_small_array_is_nudged_after_the_others():
    x = np.arange(1.0, 7.0).reshape(2, 3)
    found = played(lambda x: np.sum(x * x), x)
    for (i, j), value in np.ndenumerate(x):
        assert found[f"x[{i}, {j}] -> y"]["slope"] == 2 * value
    assert list(found).index("y -> y") < list(found).index("x[0, 0] -> y")
    assert not [name for name in played(lambda x: np.sum(x * x), np.arange(17.0)) if "x[0]" in name]


def test_equal_cotangents_are_a_tie_that_the_first_element_wins():
    almost = np.array([np.nextafter(1, 0), 1.0, np.nextafter(1, 2)])
    found = played(lambda x: np.sum(x * almost), np.arange(3.0))
    assert "x[0] -> y" in found


@pytest.mark.parametrize(
    ("value", "size"),
    [(3.0, 1.0), (1.0, 1.0), (1 - 1e-15, 1.0), (0.3, 0.1), (-250.0, 100.0), (0.0, 1.0), (1e-30, 1.0), (np.nan, 1.0)],
)
def test_the_size_is_the_next_power_of_ten(value, size):
    assert natural_size(value) == size


def test_the_last_bit_decides_nothing():
    for tie in (1.5625, 0.00123450, 28.265):
        around = {round_to(value, 0.0) for value in (np.nextafter(tie, 0), tie, np.nextafter(tie, 99))}
        assert len(around) == 1
    assert round_to(1e-12, 1e-11) == 0.0
    assert str(round_to(-1e-12, 1e-11)) == "0.0"
    assert round_to(np.inf, 0.0) is round_to(np.nan, 0.0) is None


def test_where_the_target_leaves_the_finite_numbers_there_is_null():
    found = played(lambda x: np.log(x), 1.0)["x -> y"]
    assert at(found, -1, -0.75) == [None, -1.386]
    assert played(lambda x: np.sum(np.linalg.inv(x)), [[2.0]])["x[0, 0] -> y"]["moved"][0] == 0.5
    assert played(lambda x: np.sum(np.linalg.inv(x)), [[1.0]])["x[0, 0] -> y"]["moved"][0] is None


def test_several_passes_have_several_targets():
    targets = [nudge["target"] for name, nudge in kept(two_tapes()).items() if name.startswith("x -> ")]
    assert len(set(targets)) == 2
    assert {nudge["slope"] for name, nudge in kept(two_tapes()).items() if name.startswith("x -> ")} == {12.0}


def test_a_tape_that_began_before_the_trace_is_run_again_too():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = x * x
        with ad.trace() as traced:
            y = a * a
    with ad.hook(traced._see):
        tape.gradient(y, x)
    assert kept(traced)["x -> y"]["slope"] == 108.0


def test_the_user_s_own_functions_are_not_run_again_but_their_operations_are():
    calls = []

    @ad.custom_gradient
    def noisy(x):
        calls.append(x)
        return x * 2.0, lambda dy: dy * 2.0

    def f(x):
        return noisy(x * x) * 3.0

    found = played(f, 3.0)["x -> y"]
    assert len(calls) == 1
    assert found["slope"] == 36.0
    assert at(found, 0.5) == [6 * 3.5**2 - 54]
    assert "why" not in found


def square(x):
    y = x * x
    return y, lambda dy: 2 * x * dy


def rectifier(x):
    return np.maximum(x, 0.0), lambda dy: dy * (x > 0)


def doubled(x):
    return x * 2.0, lambda dy: dy


@pytest.mark.parametrize(
    ("function", "at"),
    [
        (lambda x: np.where(x > 2.0, np.sqrt(x - 2.0), 0.0), 1.0),
        (lambda x: np.where(x > 0.0, 1.0 / x, 0.0), 0.0),
        (lambda x: np.sum(np.where(x > 0.0, np.log(x), 0.0)), [0.0, -1.0, 2.0]),
        (lambda x: np.sum(np.maximum(np.sqrt(x), 0.0) * x), [-1.0, 4.0]),
    ],
)
def test_values_that_are_not_finite_are_not_nudged(function, at):
    with np.errstate(all="ignore"):
        nudges = ad.play(function, at)._content["trace"].get("nudges", [])
    assert all(nudge["from"] is not None for nudge in nudges if "along" not in nudge)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (lambda of, x: of(square)(x) * np.exp(x), 0.0),
        (lambda of, x: of(square)(x - 3.0) * np.exp(x), 3.0),
        (lambda of, x: of(square)(x) + 1e8, 1.0),
        (lambda of, x: of(square)(np.sin(10000.0 * x)), 0.3),
        (lambda of, x: of(square)(x) + np.round(x), 1.5),
        (lambda of, x: of(rectifier)(x) * 3.0, 0.0),
        (lambda of, x: of(rectifier)(x) * np.exp(x), 0.0),
    ],
)
def test_a_custom_gradient_that_sends_back_its_slope_is_not_blamed(function, value):
    found = played(lambda x: function(ad.custom_gradient, x), value)["x -> y"]
    assert "custom gradient" not in found.get("why", "")


def test_the_custom_gradient_that_is_wrong_is_named():
    right, wrong = ad.custom_gradient(square), ad.custom_gradient(doubled)

    def f(x):
        a = right(x)
        b = wrong(a)
        return b * 1.0

    assert played(f, 1.5)["x -> y"]["why"].startswith("b = doubled(a) (line ")


def test_a_straight_through_gradient_is_not_the_slope():
    @ad.custom_gradient
    def ste(w):
        return np.round(w), lambda dy: dy

    def f(x):
        q = ste(x)
        return (q * 2.0 - 3.0) ** 2

    found = played(f, 0.7)["x -> y"]
    assert (found["slope"], at(found, 0.5)) == (-4.0, [0.0])
    assert found["why"].startswith("q = ste(x) (line ")
    assert found["why"].endswith(
        ") has a custom gradient: what its backward function sends back is not the slope of its result."
    )


def by_a_choice(x):
    return (x * 2.0 if x > 1 else x), lambda dy: dy


def by_plain_numbers(x):
    return x * float(x), lambda dy: dy


def by_a_copy(x):
    return ad.constant(x) * 1.0, lambda dy: dy


def by_another_of_its_kind(x):
    return ad.custom_gradient(lambda x: (x * 2.0, lambda dy: dy))(x), lambda dy: dy


@pytest.mark.parametrize("function", [by_a_choice, by_plain_numbers, by_a_copy, by_another_of_its_kind])
def test_a_function_whose_operations_do_not_tell_all_is_not_nudged_through(function):
    def f(x):
        return ad.custom_gradient(function)(x * x) * 3.0

    found = played(f, 3.0)
    assert "x -> y" not in found
    assert "y -> y" in found, "what comes after it is nudged"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(lambda: loop(100), id="300 entries"),
        pytest.param(lambda: ad.sweep(lambda x: x * x, np.arange(3.0))._content["trace"], id="one-hot seeds"),
    ],
)
def test_nothing_is_kept_of(program):
    made = program()
    assert "nudges" not in (made if isinstance(made, dict) else made.document())


def test_only_doubles_on_this_machine_are_nudged():
    assert not played(lambda x: x * x, 3.0, dtype="float32")
    assert not played(lambda x: np.real(x * x), 3 + 1j).get("x -> y")


def test_a_document_keeps_no_more_than_it_may():
    x = ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape() as tape:
        y = x
        for _ in range(60):
            y = y + x
        tape.gradient(y, x)
    few = traced.document()["nudges"]
    assert 2 < len(few) < MOST
    assert sum(range(60 - len(few), 60)) == pytest.approx(MOST_RUNS, rel=0.1)
    large = np.ones((300, 300))
    assert not played(lambda x: np.sum(x * large), large)


def test_the_document_is_json_the_same_each_time():
    one, two = (json.dumps(diamond().document()["nudges"]) for _ in range(2))
    assert one == two
    with ad.trace() as empty:
        pass
    assert "nudges" not in empty.document()


def test_a_target_that_is_not_finite_is_not_nudged():
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not played(lambda x: np.log(x - 3.0) * 0.0, 3.0)


def test_where_the_code_would_have_gone_another_way_no_movement_is_told():
    found = played(lambda x: x * x if x < 3.6 else x * 100.0, 3.0)["x -> y"]
    assert at(found, *SOME) == [-5.0, -3.938, -2.75, -1.438, -0.59, 0.61, 1.563, 3.25, None, None]


def test_nor_where_an_operation_uses_what_the_code_chose_by():
    def chosen(x):
        large = x > 3.6
        return np.where(large, x, 2.0 * x) * (100.0 if large else 0.5)

    near = moved(played(chosen, 3.0)["x -> y"])
    assert [by for by, m in zip(steps(1.0), near, strict=True) if m is None] == [k / 20 for k in range(13, 21)]


def test_an_order_is_found_again():
    x = ad.Variable([3.0, 3.6], name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sort(x)[0]
        tape.gradient(y, x)
    (found,) = [nudge for name, nudge in kept(traced, "y").items() if name.startswith("x[0]")]
    assert at(found, 0.5, 0.75, 1) == [0.5, 0.6, 0.6]


def test_a_nudge_follows_every_path_where_two_tapes_of_before_the_trace_hold_them():
    w, x = ad.Variable(2.0, name="w"), ad.Variable(3.0, name="x")
    ours, theirs = (ad.GradientTape(persistent=True, watch_accessed_variables=False) for _ in range(2))
    with ours, theirs:
        ours.watch(w)
        theirs.watch(x)
        u = x * x
        y = w * u + x * w
    with ad.trace() as traced:
        ours.gradient(y, w)
        theirs.gradient(y, x)
    document = traced.document()
    (of_x,) = [kept for kept in document["nudges"] if document["tensors"][kept["tensor"]]["name"] == "x"]
    moves = [2.0 * ((3.0 + by) ** 2 - 9.0) + 2.0 * by for by in steps(of_x["size"])]
    np.testing.assert_allclose(of_x["moved"], moves, rtol=1e-3)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: np.abs(x * x), 0.0),
        (lambda x: np.abs(x + 1j), 2.0),
        (lambda x: np.exp(x) + np.abs(x) - np.abs(x), 0.0),
        (lambda x: np.abs(x) ** 1.5, 0.0),
        (lambda x: np.exp(50.0 * np.abs(x * x)), 0.0),
    ],
)
def test_a_corner_that_the_rest_smooths_out_is_not_a_reason(function, x):
    (nudge,) = [one for one in ad.play(function, x).document()["nudges"] if one["tensor"] == 0]
    assert not any(nudge.get("reasons", ()))
    assert "why" not in nudge


def test_each_element_at_a_corner_is_said_to_be_there():
    nudges = ad.play(lambda x: np.linalg.norm(x), np.zeros(2)).document()["nudges"]
    said = {tuple(one["element"]): one["why"] for one in nudges if one["tensor"] == 0 and "element" in one}
    assert said[(0,)].startswith("x[0] is at a corner")
    assert said[(1,)].startswith("Some elements of x are at a corner")


@pytest.mark.parametrize("x", [1e-8, 1e-6, 1e-4])
def test_where_rounding_makes_the_gap_curvature_is_not_the_reason(x):
    def function(x):
        return (1 - np.cos(x)) / x**2

    nudges = {one["tensor"]: one.get("why", "") for one in ad.play(function, x).document()["nudges"]}
    assert nudges.pop(0).startswith("The gap comes from rounding, not from curvature: rounding t1 = cos(x)")
    assert not any(nudges.values())


@pytest.mark.parametrize("x", [1e-3, 1.0])
def test_where_the_curve_bends_more_than_rounding_does_rounding_is_not_the_reason(x):
    assert not any("why" in one for one in ad.play(lambda x: (1 - np.cos(x)) / x**2, x).document()["nudges"])
