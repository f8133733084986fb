"""The numbers and the failure of chapter 4: the tape that a reader builds there, piece by piece."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from answers.your_own_tape import (
    ARRAYS,
    CHAPTER,
    COPIES,
    FILLED,
    FIVE,
    NUMBERS,
    by_numbers,
    cells,
    dividing,
    quotient,
    repaired,
    sources,
)

from autodiff_edu.core.walk import walk
from autodiff_edu.course import check


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


def test_the_five_pieces_have_60_lines():
    lines = [line for name in FIVE[1:] for line in sources()[name].splitlines() if line.strip()]
    assert len(lines) == 60


def test_two_rules_are_open_until_the_reader_or_the_folded_cell_fills_them(capsys):
    names = cells(*FIVE)
    exec(sources()["rules-test"], names)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "rule ..." in line] == ["subtract", "subtract", "sin"]
    exec(sources()["rules-answer"], names)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    for line in lines:
        rule, measured = line.partition("rule ")[2].split(", measured ")
        assert rule == measured


def test_the_walk_of_the_heart_has_30_lines():
    source = inspect.getsource(walk)
    assert source[source.index("    needed =") :].count("\n") == 30


@pytest.mark.parametrize(("names", "loss", "entries"), [(NUMBERS, one_by_one, 1711), (ARRAYS, at_once, 5)])
def test_your_tape_fits_the_penguins_from_1711_entries_or_from_5(names, loss, entries, penguins):
    w, b, last, recorded = fit(names, loss(*penguins), 0.2)
    assert (round(w, 3), round(b, 3), round(last, 4), recorded) == (0.497, 4.156, 0.1545, entries)


def test_without_fold_each_penguin_gets_a_line_of_its_own_and_the_loss_looks_perfect(penguins):
    names = cells(*FILLED, "arrays-1")
    slow = fit(names, at_once(*penguins), 0.2)
    assert slow[0].shape == slow[1].shape == penguins[0].shape == (342,)
    assert 13 < slow[2] < 14
    assert fit(names, at_once(*penguins), 15.0)[2] < 0.1545 / 100


def test_a_contribution_that_is_added_in_place_reaches_a_value_that_shares_the_array():
    g = np.ones(3)
    to_x, to_y = ARRAYS["RULES"][np.add](g, g, g, g)
    assert ARRAYS["fold"](to_x, (3,)) is to_y


def test_a_slip_in_the_reflected_method_gives_minus_6():
    names = cells(*FILLED)
    names["Value"].__rsub__ = lambda self, other: names["apply"](np.subtract, self, other)
    assert (10.0 - names["Value"](4.0)).number == -6.0


def slope_of(names, program, *numbers):
    x = names["Value"](*numbers)
    with names["Tape"]() as tape:
        target = program(x)
    return tape.gradient(target, [x])[0]


@pytest.mark.parametrize("symbol", ["x + 1.0", "x - 1.0", "1.0 - x", "x * 2.0", "np.sin(x)", "np.mean(x)"])
def test_without_continue_an_entry_that_does_not_lead_to_the_target_is_a_type_error(symbol):
    names = repaired()
    source = sources()["repair-1"].partition("w, b = fit")[0]
    exec(source.replace("        if g is None:\n            continue\n", ""), names)
    with pytest.raises(TypeError):
        slope_of(names, lambda x: [x * 2.0, eval(symbol, {"x": x, "np": np})][0], 3.0)
    assert slope_of(ARRAYS, lambda x: [x * 2.0, eval(symbol, {"x": x, "np": np})][0], 3.0) == 2.0


@pytest.mark.parametrize(
    ("kept", "without", "wanted"), [(True, "(nothing)", 6.0), (False, f"number = {COPIES}", 303.0)]
)
def test_a_value_keeps_a_copy_of_an_array_that_is_written_into_later(kept, without, wanted):
    names, buffer = repaired(without=without), np.array([1.0, 2.0])
    slope = slope_of(names, lambda x: [x * 3.0 * x, buffer.fill(100.0)][0], buffer)
    assert slope[0] == wanted, kept


def test_a_call_that_the_tape_has_no_rule_for_is_refused():
    x = ARRAYS["Value"](np.array([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(AssertionError, match=r"np.mean with \{'axis': 0\}: no rule"):
        np.mean(x, axis=0)
    with pytest.raises(AssertionError):
        np.multiply.outer(x, x)


@pytest.mark.parametrize(("symbol", "wanted"), [("x + y", [1.0, 1.0]), ("x * y", [[3.0, 2.0], [1.0, 2.0]])])
def test_without_np_ones_in_the_seed_the_slope_of_an_array_at_x_plus_y_is_a_single_number(symbol, wanted):
    names = repaired()
    source = sources()["repair-1"].partition("w, b = fit")[0]
    exec(source.replace("np.ones(np.shape(target.number))", "1.0"), names)
    x, y = names["Value"](np.array([1.0, 2.0])), names["Value"](np.array([3.0, 2.0]))
    with names["Tape"]() as tape:
        target = eval(symbol, {"x": x, "y": y})
    assert np.array_equal(tape.gradient(target, [x, y]), wanted)


def test_each_line_has_moved_its_w_as_far_as_its_b_times_its_length(penguins):
    w, b, *_ = fit(cells(*FILLED, "arrays-1"), at_once(*penguins), 15.0)
    assert np.allclose(w, b * penguins[0])
    assert np.all(b > 0.0)


def test_division_in_a_class_below_value_is_sent_up_to_value():
    tape, value = repaired()["Tape"], repaired()["Value"]
    below = type("Dividing", (value,), {"__truediv__": lambda self, other: self * (1.0 / other.number)})
    hint = "`apply` makes `Value`s, so add the methods to `Value` itself."
    assert check("4.2", (tape, below)).message == hint


@pytest.mark.parametrize("rule", [None, lambda g, z, x: (g * np.exp(x),)])
def test_the_check_leaves_the_table_of_rules_as_it_was(rule):
    rules = NUMBERS["RULES"]
    before = dict(rules)
    if rule is not None:
        rules[np.exp] = rule
    try:
        wanted = dict(rules)
        assert check("4.1", by_numbers())
        assert not check("4.1", by_numbers(("entry.output.number", "entry.output")))
        assert rules == wanted
    finally:
        rules.clear()
        rules.update(before)


def test_a_tape_with_a_table_of_its_own_is_right_without_a_rule_for_exp():
    names = dict(NUMBERS, RULES=dict(NUMBERS["RULES"]))
    assert check("4.1", by_numbers(names=names))


def test_a_division_made_of_two_operations_is_right():
    tape, value = dividing(quotient)
    apply = value.__mul__.__globals__["apply"]
    value.__truediv__ = lambda self, other: self * apply(np.divide, 1.0, other)
    assert check("4.2", (tape, value))
