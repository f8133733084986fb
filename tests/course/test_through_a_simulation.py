"""Chapter 26: what it prints and says, by other means: differences, matrices, a solver of differential equations."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import autodiff_edu as ad
from autodiff_edu.course.chapters.through_a_simulation import BUGS

SHARE = np.array([0.2, 0.6, 0.2])
MEETINGS = np.array([[0.6, 0.4, 0.1], [0.4, 1.0, 0.2], [0.1, 0.2, 0.2]])
PAIRS = [(i, j) for i in range(3) for j in range(i, 3)]


def printed(cell):
    """Return what a cell of chapter 26 prints, as nbval checks it."""
    path = Path(__file__).parents[2] / "notebooks/26-through-a-simulation.ipynb"
    (outputs,) = [c["outputs"] for c in json.loads(path.read_text("utf-8"))["cells"] if c["id"] == cell]
    return "".join("".join(output["text"]) for output in outputs)


def numbers_in(text):
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?(?:e-\d+)?", text)]


def epidemic(meetings, by=None):
    """Return the part of each group that has caught it; add to `by` who caught it from whom."""
    healthy, ill = 0.999 * SHARE, 0.001 * SHARE
    for _ in range(150):
        pairs = 0.05 * (healthy / SHARE)[:, None] * meetings * (ill / SHARE)
        if by is not None:
            by += pairs
        caught = pairs.sum(axis=1)
        healthy, ill = healthy - caught, ill + caught - 0.1 * ill
    return 1 - healthy / SHARE


def spared(i, j, part=0.1):
    fewer = MEETINGS.copy()
    fewer[i, j] = fewer[j, i] = MEETINGS[i, j] * (1 - part)
    return 100 * (epidemic(MEETINGS) - epidemic(fewer)) * 0.1 / part


def test_the_table_of_meetings_is_possible():
    assert (MEETINGS == MEETINGS.T).all()
    path = Path(__file__).parents[2] / "notebooks/26-through-a-simulation.ipynb"
    assert f"meetings = np.array({MEETINGS.tolist()})" in "".join(
        line for c in json.loads(path.read_text("utf-8"))["cells"] for line in c["source"]
    )


def test_which_meetings_spare_the_most_old_people():
    assert numbers_in(printed("epidemic")) == list(np.round(100 * epidemic(MEETINGS))) == [87, 57, 54]
    for part in (0.1, 1e-5):
        most = {pair: spared(*pair, part)[2] for pair in PAIRS}
        assert sorted(most, key=most.get)[-3:] == [(0, 2), (2, 2), (1, 2)]
        assert [f"{most[pair]:.1f}" for pair in ((0, 2), (2, 2), (1, 2))] == ["1.5", "1.7", "2.1"]
        assert all(0.8 < most[pair] < 1.35 for pair in ((0, 0), (0, 1), (1, 1)))
    town = {pair: spared(*pair, 1e-5) @ SHARE for pair in PAIRS}
    assert max(town, key=town.get) == (1, 1)
    assert f"{town[1, 1]:.1f}" == "2.5"
    by = np.zeros((3, 3))
    epidemic(MEETINGS, by)
    assert by[2, 1] > by[2, 2] > by[2, 0]
    one_way = []
    for place in ((2, 1), (1, 2)):
        fewer = MEETINGS.copy()
        fewer[place] *= 0.9
        one_way.append(100 * (epidemic(MEETINGS) - epidemic(fewer))[2])
    assert one_way[0] > 7 * one_way[1] > 0


def test_three_turns_send_the_same_to_the_rate_and_thirty_together_less():
    def slope(turns):
        rate, w = ad.Variable(0.1), 0.0
        with ad.GradientTape() as tape:
            for _ in range(turns):
                w = w - rate * 2.0 * (w - 3.0)
            loss = (w - 3.0) ** 2
        return float(tape.gradient(loss, rate))

    contributions, p = [], 2 * (-3 * 0.8**3)
    for turn in (2, 1, 0):
        contributions.append(p * -2 * (-3 * 0.8**turn))
        p *= 0.8
    assert [f"{one:.1f}" for one in contributions] == ["-11.8"] * 3
    assert slope(3) == pytest.approx(sum(contributions))
    assert slope(30) == pytest.approx(-36 * 30 * 0.8**59)


def fly(state, mass, h=0.01):
    place, velocity = state[:2], state[2:]
    velocity = velocity - h * mass * place / np.sum(place**2) ** 1.5
    return np.concatenate([place + h * velocity, velocity])


def cool(tea, draught):
    return tea + 0.1 * draught * (20.0 - tea)


def run(step, state, knob, turns):
    path = [state]
    for _ in range(turns):
        path.append(step(path[-1], knob))
    return path


START, UP = np.array([1.0, 0.0, 0.0, 0.8]), np.array([0.0, 1.0, 0.0, 0.0])


def test_the_wrong_order_is_right_for_the_tea_and_wrong_for_the_planet():
    h = 1e-6
    true = [
        (run(fly, START + h * e, 1.0, 600)[-1] - run(fly, START - h * e, 1.0, 600)[-1])[1] / (2 * h) for e in np.eye(4)
    ]
    wrong, by_tape = np.reshape(numbers_in(printed("orbit")), (2, 4))
    np.testing.assert_allclose(by_tape, true, atol=6e-3)
    assert (np.sign(wrong[:3]) != np.sign(by_tape[:3])).all()
    assert numbers_in(printed("tea")) == [round(0.9**30, 4)] * 2
    mass = (run(fly, START, 1 + h, 600)[-1] - run(fly, START, 1 - h, 600)[-1])[1] / (2 * h)
    held, tape, *by = numbers_in(printed("orbit-kept"))
    assert by == [pytest.approx(mass, abs=1e-3)] * 2
    assert held == 601 * 4 * 8
    assert 0.2 < held / tape < 0.22
    steps = np.arange(30)
    assert f"{-np.sum(0.1 * 70 * 0.9 ** (2 * steps)):.4f}" == "-36.7759"
    assert f"{-np.sum(0.1 * 70 * 0.9**29 + 0 * steps):.4f}" == "-9.8913"


def test_the_adjoint_and_the_unrolled_slope_tend_to_that_of_the_equation():
    def flow(_, state, rate):
        healthy, ill = state
        return [-rate * healthy * ill, rate * healthy * ill - 0.1 * ill]

    def on_day_40(rate):
        return solve_ivp(flow, (0, 40), [0.999, 0.001], args=(rate,), rtol=1e-12, atol=1e-14).y[1, -1]

    true = (on_day_40(0.3001) - on_day_40(0.2999)) / 0.0002
    assert f"{true:.3f}" == "0.522"
    steps, unrolled, adjoint, apart = np.reshape(numbers_in(printed("town")), (-1, 4)).T
    assert list(steps) == [400, 800, 1600]
    for slopes in (unrolled, adjoint):
        assert (np.diff(np.abs(slopes - true)) < 0).all()
    np.testing.assert_allclose(apart[1:] / apart[:-1], 0.5, atol=0.04)
    np.testing.assert_allclose(2 * adjoint[1:] - adjoint[:-1], true, atol=4e-3)  # extrapolated, to steps of length 0
    np.testing.assert_allclose(2 * unrolled[2] - unrolled[1], true, atol=4e-3)


def test_the_tea_forgets_and_the_planet_does_not():
    tea, planet = printed("back").split("a millionth")
    assert numbers_in(tea) == [0, 23, 1e-6, 2_600_000]
    assert re.findall(r"-?\d+\.\d*", planet) == ["1.", "0.", "0.", "0.8"]
    assert f"{20 + 70 * 0.99**300:.0f}" == "23"
    assert f"{20 + 70 * 0.99**20:.0f}" == "77"
    assert f"{1.1**300:.1e}" == "2.6e+12"

    def unfly(state):
        place, velocity = state[:2] - 0.01 * state[2:], state[2:]
        return np.concatenate([place, velocity + 0.01 * place / np.sum(place**2) ** 1.5])

    state = run(fly, START, 1.0, 600)[-1]
    for _ in range(600):
        state = unfly(state)
    np.testing.assert_allclose(state, START, atol=1e-10)


def walk_back(step, path, knob, p, bug=""):
    received = 0.0
    states = path[1:] if bug == "state" else path[:-1]
    p = np.ones_like(p) if bug == "seed" else p
    for state in states if bug == "order" else reversed(states):
        _, pull = ad.vjp(step, state, knob)
        p, by_knob = pull(p)
        received = by_knob if bug == "sum" else received + by_knob
    return np.asarray(p), float(received)


def right(step, start, turns, seed, bug, **options):
    path = run(lambda state, knob: step(state, knob, **options), start, 1.0, turns)

    def both(bug):
        return walk_back(lambda state, knob: step(state, knob, **options), path, 1.0, seed, bug)

    (p, received), (true_p, true) = both(bug), both("")
    return bool(np.allclose(p, true_p, 1e-9, 1e-12)), bool(np.isclose(received, true, 1e-9, 1e-12))


def test_each_mistake_is_found_by_what_its_owner_says_and_by_no_other():
    tea, one = np.array(90.0), np.array(1.0)

    def distance(h, bug):
        path = run(lambda state, knob: fly(state, knob, h), START, 1.0, 1)
        bugged, true = (walk_back(lambda s, m: fly(s, m, h), path, 1.0, UP, each)[0] for each in (bug, ""))
        return np.abs(bugged - true).max()

    says = {
        "Ana": lambda bug: (
            right(cool, tea, 30, one, bug)[0]
            and right(fly, START, 1, UP, bug)[0]
            and not right(fly, START, 2, UP, bug)[0]
        ),
        "Ben": lambda bug: (
            right(cool, tea, 30, one, bug)[0]
            and right(fly, START, 50, UP, bug)[0]
            and all(right(fly, START, 1, UP, bug))
            and not right(fly, START, 2, UP, bug)[1]
        ),
        "Cleo": lambda bug: distance(0.01, bug) > 1e-9 and distance(0.005, bug) < 0.9 * distance(0.01, bug),
        "Dan": lambda bug: all(right(fly, START, 50, np.ones(4), bug)) and not any(right(fly, START, 50, UP, bug)),
    }
    for name, fits in says.items():
        assert [bug for bug in ("order", "sum", "state", "seed") if fits(bug)] == [BUGS.answer[name]]
