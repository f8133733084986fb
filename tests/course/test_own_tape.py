"""The numbers and the failure of chapter 4: the tape that a reader builds there, cell by cell."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from answers.chapter_04 import ARRAYS, CHAPTER, FIVE, NUMBERS, cells, sources

from autodiff_edu.core.walk import walk


@pytest.fixture
def penguins():
    """Lengths in centimetres above 20, and masses in kilograms."""
    data = Path(CHAPTER).parent / "data" / "penguins.csv"
    flipper, mass = np.loadtxt(data, delimiter=",", skiprows=1, usecols=(1, 2), unpack=True)
    return flipper / 10.0 - 20.0, mass / 1000.0


def fit(names, loss_of, rate, turns=40):
    w, b = 0.0, 0.0
    for _ in range(turns):
        knobs = names["Value"](w), names["Value"](b)
        with names["Tape"]() as tape:
            loss = loss_of(*knobs)
        slope_w, slope_b = tape.gradient(loss, knobs)
        w, b = w - rate * slope_w, b - rate * slope_b
    return w, b, loss_of(names["Value"](w), names["Value"](b)).number, len(tape.entries)


def one_by_one(length, mass):
    def loss_of(w, b):
        total = 0.0
        for one_length, one_mass in zip(length.tolist(), mass.tolist(), strict=True):
            error = w * one_length + b - one_mass
            total = total + error * error
        return total * (1 / len(mass))

    return loss_of


def at_once(length, mass):
    def loss_of(w, b):
        error = w * length + b - mass
        return np.mean(error * error)

    return loss_of


def test_the_five_cells_have_60_lines_at_most():
    lines = [line for name in FIVE[1:] for line in sources()[name].splitlines() if line.strip()]
    assert 50 <= len(lines) <= 60


def test_the_walk_of_the_heart_has_28_lines():
    source = inspect.getsource(walk)
    assert source[source.index("    needed =") :].count("\n") == 28


@pytest.mark.parametrize(("names", "loss", "entries"), [(NUMBERS, one_by_one, 1711), (ARRAYS, at_once, 5)])
def test_your_tape_fits_the_penguins_from_1711_entries_or_from_5(names, loss, entries, penguins):
    w, b, last, recorded = fit(names, loss(*penguins), 0.2)
    assert (round(w, 3), round(b, 3), round(last, 4), recorded) == (0.497, 4.156, 0.1545, entries)


def test_without_fold_each_penguin_gets_a_line_of_its_own_and_the_loss_looks_perfect(penguins):
    names = cells(*FIVE, "arrays-1")
    slow = fit(names, at_once(*penguins), 0.2)
    assert slow[0].shape == slow[1].shape == penguins[0].shape == (342,)
    assert 13 < slow[2] < 14
    assert fit(names, at_once(*penguins), 15.0)[2] < 0.1545 / 100


def test_a_contribution_that_is_added_in_place_reaches_a_value_that_shares_the_array():
    g = np.ones(3)
    to_x, to_y = ARRAYS["RULES"][np.add](g, g, g, g)
    assert ARRAYS["fold"](to_x, (3,)) is to_y


def test_a_slip_in_the_reflected_method_gives_minus_6():
    names = cells(*FIVE)
    names["Value"].__rsub__ = lambda self, other: names["apply"](np.subtract, self, other)
    assert (10.0 - names["Value"](4.0)).number == -6.0
