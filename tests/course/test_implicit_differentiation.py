"""Chapter 25: what it prints and says, by other means: Lambert's W, differences, Archimedes' law."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import lambertw

import autodiff_edu as ad
from autodiff_edu.course.chapters.implicit_differentiation import ENDS


def printed(cell):
    """Return what a cell of chapter 25 prints, as nbval checks it."""
    path = Path(__file__).parents[2] / "notebooks/25-implicit-differentiation.ipynb"
    (outputs,) = [c["outputs"] for c in json.loads(path.read_text("utf-8"))["cells"] if c["id"] == cell]
    return "".join("".join(output["text"]) for output in outputs)


def numbers_in(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)]


def final_share(rate):
    """The larger root of z = 1 - exp(-rate z), by Lambert's W."""
    return 1 + lambertw(-rate * math.exp(-rate)).real / rate


def slope_of_share(rate):
    escaped = 1 - final_share(rate)
    return final_share(rate) * escaped / (1 - rate * escaped)


def after(turns, rate, z=1.0):
    for _ in range(turns):
        z = 1.0 - np.exp(-(rate * z))
    return z


def test_lamberts_w_gives_the_share_of_the_town_and_its_slopes():
    z, slope, h = final_share(1.5), slope_of_share(1.5), 1e-4
    assert slope == pytest.approx((final_share(1.5 + h) - final_share(1.5 - h)) / (2 * h), rel=1e-6)
    assert printed("want-1") == f"{100 * z:.1f} % of the town, after 55 turns\n"
    curvature = (slope_of_share(1.5 + h) - slope_of_share(1.5 - h)) / (2 * h)
    assert printed("implicit-3") == f"the slope of the slope: {curvature:.2f}\n"
    assert f"{slope:.4f}" == "0.6497"
    assert f"{slope_of_share(1.1):.3f}" == "1.548"
    assert [round(100 * final_share(rate)) for rate in (1.5, 3.0)] == [58, 94]


def test_the_last_turns_add_up_to_the_slope():
    z, q = final_share(1.5), 1.5 * (1 - final_share(1.5))
    slopes = {n: float(ad.grad(lambda rate, n=n: after(n, rate, z))(1.5)) for n in (1, 2, 50)}
    assert f"{q:.3f}" == "0.626"
    assert [f"{slope:.4f}" for slope in slopes.values()] == ["0.2431", "0.3953", "0.6497"]
    assert printed("break-2") == "last 1: slope 0.2431\n"
    for n, slope in slopes.items():
        assert slope == pytest.approx(slopes[1] * (1 - q**n) / (1 - q))


def test_the_unrolled_slope_is_later_than_the_value():
    z, slope = 1.0, 0.0
    for turn in range(1, 65):
        z, slope = 1 - math.exp(-1.5 * z), math.exp(-1.5 * z) * (z + 1.5 * slope)
        if turn in {4, 8, 16, 32, 64}:
            assert f"{turn:>2} turns: z {z:.4f}, slope {slope:.4f}, {4 * turn:>3} entries\n" in printed("want-3")
        if turn == 8:
            assert [f"{abs(z / final_share(1.5) - 1):.1%}", f"{abs(slope / slope_of_share(1.5) - 1):.1%}"] == [
                "0.9%",
                "6.2%",
            ]
    assert f"{float(ad.grad(lambda rate: after(64, rate))(1.1)):.3f}" == "1.534"


def test_a_plain_z_in_backward_is_right_once_and_wrong_twice():
    def share(rate):
        z = final_share(float(rate))
        return z, lambda v: v * z * np.exp(-(rate * z)) / (1.0 - rate * np.exp(-(rate * z)))

    once = ad.grad(ad.custom_gradient(share))
    assert float(once(1.5)) == pytest.approx(slope_of_share(1.5))
    assert f"{float(ad.grad(once)(1.5)):.2f}" == "-0.29"


def test_the_last_of_four_turns_sends_the_most_and_each_before_it_about_half_as_much():
    z, sent, factors = [1.0], [], []
    for _ in range(4):
        sent.append(z[-1] * math.exp(-1.5 * z[-1]))
        factors.append(1.5 * math.exp(-1.5 * z[-1]))
        z.append(1 - math.exp(-1.5 * z[-1]))
    arrived = [sent[turn] * math.prod(factors[turn + 1 :]) for turn in range(4)]
    assert [f"{part:.3f}" for part in arrived] == ["0.032", "0.074", "0.140", "0.245"]
    assert all(0.4 < factor < 0.6 for factor in factors[1:])


def test_the_cobwebs_cross_and_the_crossing_moves_as_they_show():
    for rate, crossing, steep in ((1.5, "0.58", "0.63"), (1.1, "0.18", "0.91")):
        assert (f"{final_share(rate):.2f}", f"{rate * (1 - final_share(rate)):.2f}") == (crossing, steep)
    assert f"{final_share(1.3):.2f}" == "0.42"
    assert [f"{final_share(rate):.3f}" for rate in (1.5, 1.55)] == ["0.583", "0.614"]
    spared = 0.05 * slope_of_share(1.5), final_share(1.5) - final_share(1.45)
    assert [f"{100 * share:.0f}" for share in spared] == ["3", "3"]


def test_close_to_a_double_root_the_slope_tends_to_two():
    rows = np.reshape(numbers_in(printed("fails-1")), (-1, 4))
    assert list(rows[:, 2]) == [55, 240, 1900, 15000]
    for rate, q, _, slope in rows:
        assert q == pytest.approx(rate * (1 - final_share(rate)), abs=6e-4)
        assert slope == pytest.approx(slope_of_share(rate), abs=6e-4)
    assert slope_of_share(1 + 1e-4) == pytest.approx(2, abs=1e-3)


def depth_of(weight):
    """The depth of a floating ball of radius 1, by halving."""
    low, high = 0.0, 2.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle**2 * (3 - middle) / 4 < weight else (low, middle)
    return low


def test_the_ball_floats_as_deep_as_archimedes_says():
    h, written = 1e-6, "".join(printed("root-2"))
    for weight, slope in ((0.5, "1.33"), (0.1, "2.12"), (0.001, "18.48")):
        difference = (depth_of(weight + h) - depth_of(weight - h)) / (2 * h)
        assert f"{difference:.2f}" == slope
        if weight > 0.01:
            assert f"weight {weight}: depth {depth_of(weight):.2f}, slope {slope}\n" in written


def test_the_learned_strength_is_the_best_one_from_both_sides():
    random = np.random.default_rng(11)
    x, other = random.standard_normal((2, 16, 8))
    y = x @ [1.0, -0.5, 0, 0, 0, 0, 0, 0] + random.standard_normal(16)
    y_other = other @ [1.0, -0.5, 0, 0, 0, 0, 0, 0] + random.standard_normal(16)

    def outer(s):
        extended = np.vstack([x, np.sqrt(16 * np.exp(s)) * np.eye(8)])  # the penalty as eight further rows
        w = np.linalg.lstsq(extended, np.concatenate([y, np.zeros(8)]), rcond=None)[0]
        return np.mean((other @ w - y_other) ** 2)

    h = 1e-5
    best = minimize_scalar(outer, bounds=(-4, 2), method="bounded")
    assert f"{math.exp(best.x):.2f}" == "0.29"
    for start, ends in ((0.01, 0.29), (10.0, 0.29)):
        s = math.log(start)
        for _ in range(15):
            s -= 3 * (outer(s + h) - outer(s - h)) / (2 * h)
        assert math.exp(s) == pytest.approx(ends, abs=0.02)


def solve(k):
    z = 0.5
    for _ in range(1000):
        z = math.cos(k * z)
    return z


def test_five_ways_to_end_a_solver_are_right_as_often_as_the_exercise_says():
    h, names = 1e-4, {"np": np, "ad": ad, "solve": solve}
    (source,) = re.findall(r"```python\n(.*?)```", ENDS.question, re.DOTALL)
    exec(source, names)
    first = (solve(0.8 + h) - solve(0.8 - h)) / (2 * h)
    second = (solve(0.8 + h) - 2 * solve(0.8) + solve(0.8 - h)) / h**2
    for name, said in ENDS.answer.items():
        assert float(names[name](ad.constant(0.8))) == pytest.approx(solve(0.8))
        once = ad.grad(names[name])
        right = abs(float(once(0.8)) - first) < 1e-6, abs(float(ad.grad(once)(0.8)) - second) < 1e-4
        assert said == {(True, True): "twice", (True, False): "once", (False, False): "never"}[right]
