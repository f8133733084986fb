"""Answers to the exercises of watched-or-none."""

import math

import numpy as np

import autodiff_edu as ad


def slope_of(f, make=ad.Variable):
    """Make a program that returns the slope of f at a value."""

    def program(value):
        x = make(value)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return program


def real(value):
    return ad.Variable(value, dtype=float)


def constant_unwatched(value):
    x = ad.constant(value)
    with ad.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def not_trainable(value):
    x = ad.Variable(value, trainable=False)
    with ad.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x)


def watched_late(value):
    x = ad.constant(value)
    with ad.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    return tape.gradient(y, x)


def before(value):
    x = ad.Variable(value)
    y = np.sin(x)
    with ad.GradientTape() as tape:
        z = y * y
    return tape.gradient(z, x)


def by_y(value):
    y = np.sin(ad.Variable(value))
    with ad.GradientTape() as tape:
        tape.watch(y)
        z = y * y
    return tape.gradient(z, y)


def half_by_hand(value):
    return by_y(value) * np.cos(value)


def integer(value):
    x = ad.Variable(value)
    with ad.GradientTape() as tape:
        y = x * x * x
    return tape.gradient(y, x)


def watched_y(value):
    x = ad.constant(value)
    with ad.GradientTape() as tape:
        y = x * x
        tape.watch(y)
    return tape.gradient(y, x)


def without_return(program):
    """Return the program without its return."""

    def silent(value):
        program(value)

    return silent


def zeros(value):
    x = ad.constant(value)
    with ad.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, unconnected_gradients="zero")


def descent(change):
    """Make program five, with `change` for the step."""

    def program(value):
        w = ad.Variable(value)
        for epoch in range(2):
            with ad.GradientTape() as tape:
                loss = (w - 3.0) ** 2
            slope = tape.gradient(loss, w)
            if epoch == 0:
                w = change(w, 0.1 * slope)
        return slope

    return program


REPAIRED = [
    slope_of(lambda x: x * x, ad.constant),
    slope_of(lambda x: np.sin(x) ** 2),
    slope_of(lambda x: x * x * x, real),
    slope_of(lambda x: 3.0 * np.exp(x)),
    descent(lambda w, step: w.assign_sub(step)),
]


def but(n, program):
    """Return the repaired programs with another one in place n (1 to 5)."""
    return [*REPAIRED[: n - 1], program, *REPAIRED[n:]]


TEN = {"a": 4.0, "b": 0, "c": None, "d": 2.0, "e": None, "f": 0.0, "g": 0.0, "h": None, "i": None, "j": 10}
WAGES, FUEL = (5, "assign", "wages = 30.0 * hours"), (7, "float", "fuel = litres * 1.6")

RIGHT = {
    1: [
        REPAIRED,
        tuple(REPAIRED),
        but(1, slope_of(lambda x: x**2)),
        but(3, slope_of(lambda x: x**3, lambda value: ad.Variable(np.float32(value)))),
        but(4, slope_of(lambda x: 3 * np.exp(x), lambda value: ad.constant(value, dtype="float32"))),
        but(5, descent(lambda w, step: ad.Variable(w - step))),
        but(5, descent(lambda w, step: w.assign(w - step))),
    ],
    2: [
        TEN,
        {letter: None if slope is None else ad.constant(float(slope)) for letter, slope in TEN.items()},
        {letter: None if slope is None else np.float32(slope) for letter, slope in TEN.items()},
    ],
    3: [
        [WAGES, FUEL],
        (FUEL, WAGES),
        [(5, "wages.assign", "    wages = hours * 30"), [7, "float()", "fuel = 1.6 * litres"]],
        [(5, "wages.assign(30.0 * hours)", "wages = 30.0 * hours"), (7, "float(litres)", "fuel = litres * 1.6")],
        [WAGES, (7, "fuel = float(litres) * 1.6", "fuel = np.float32(1.6) * litres")],
        [(5, "assign", "wages = 7200.0 / speed"), (7, "float", "fuel=np.multiply(litres, 1.6)  # a tensor")],
    ],
}

WRONG = {
    1: [
        (but(1, constant_unwatched), "4 of 5 are repaired"),
        (but(1, constant_unwatched), "Who tells the tape"),
        (but(1, not_trainable), "Its x is not watched"),
        (but(1, watched_late), "only after y was computed"),
        (but(1, watched_y), "It watches y"),
        (but(1, without_return(REPAIRED[0])), "Is a `return` missing"),
        (but(2, without_return(REPAIRED[1])), "Is a `return` missing"),
        (but(4, without_return(REPAIRED[3])), "Is a `return` missing"),
        (but(1, lambda value: 2 * value), "Take it from a tape"),
        (but(4, lambda value: 3.0 * math.exp(value)), "Take it from a tape"),
        (but(1, zeros), "hides the cut and does not repair"),
        (but(1, slope_of(lambda x: float(x) * x)), "one of the two factors"),
        (but(1, lambda value: value * value), "the value of y"),
        (but(1, lambda value: 2.0), r"gives \[2, 2, 2\].*make x from the value"),
        (but(1, lambda value: ...), "three dots"),
        (but(1, lambda: 2.0), "raised TypeError"),
        (but(2, before), "before the tape begins"),
        (but(2, by_y), "slope of z with respect to y"),
        (but(2, slope_of(np.sin)), "slope of y"),
        (but(2, half_by_hand), "only a part of it comes from a tape"),
        (but(3, integer), "given a whole number, and a variable keeps the dtype"),
        (but(3, slope_of(lambda x: x * x * x)), "three.*raised TypeError"),
        (but(3, slope_of(lambda x: float(x) ** 2 * x, real)), "Two of the three"),
        (but(4, slope_of(lambda x: 3.0 * ad.constant(np.exp(float(x))))), "does not bring it back"),
        (but(4, slope_of(lambda x: 3.0 * ad.constant(np.exp(x)))), r"use `np\.exp\(x\)` itself"),
        (but(4, slope_of(lambda x: 3.0 * ad.Variable(np.exp(x)))), r"`ad\.Variable` make a new tensor"),
        (but(4, slope_of(lambda x: 3.0 * math.exp(x))), r"raised TypeError.*math\.exp takes"),
        (but(4, slope_of(lambda x: 3.0 * np.exp(x.numpy()))), r"4 of 5.*`four`\. four\(.*raised TypeError"),
        (but(4, slope_of(np.exp)), "factor 3 is missing"),
        (but(4, lambda value: ad.grad(lambda growth: 3.0 * growth)(value)), "with respect to growth"),
        (but(4, slope_of(lambda x: 3.0 * np.exp(x) * x)), "Leave the formula"),
        (but(5, descent(lambda w, step: w - step)), "still a variable"),
        (but(5, descent(lambda w, step: w)), "before the first step"),
        (but(5, descent(lambda w, step: w.assign_add(step))), "uphill"),
        (but(5, descent(lambda w, step: w.assign(step))), "replaces the value"),
        (but(5, descent(lambda w, step: w.assign(-step))), "replaces the value"),
        (but(5, descent(lambda w, step: w.assign_sub(10.0 * step))), "a tenth of it"),
        (REPAIRED[:4], "list of the five functions"),
        (REPAIRED[0], "list of the five functions"),
        ([2.0] * 5, r"I need a function, one\(value\)"),
    ],
    2: [
        ({**TEN, "c": 0}, "0 would be a slope that arrived"),
        ({**TEN, "e": 0}, "does not go through floor"),
        ({**TEN, "b": None}, "None would mean that no path"),
        ({**TEN, "g": None}, "maximum is not a step function"),
        ({**TEN, "g": 1}, "larger one is 3"),
        ({**TEN, "h": 4}, "has no past"),
        ({**TEN, "h": 0}, "0 would be a slope that arrived"),
        ({**TEN, "d": 4}, "one contribution only"),
        ({**TEN, "i": 12}, "where they came from is lost"),
        ({**TEN, "i": 3}, "with respect to c"),
        ({**TEN, "j": 4}, "when it is 5"),
        ({**TEN, "j": None}, "which cuts nothing"),
        ({**TEN, "f": None}, "None would mean that no path"),
        ({**TEN, "f": 1}, "How much does y change"),
        ({**TEN, "a": 2}, "contributions add up"),
        ({**TEN, "a": 2, "j": 4}, "8 of 10 are right"),
        ({**TEN, "c": "None"}, "without quotes"),
        ({**TEN, "a": [1, 2]}, "the gradient of a"),
        ({**TEN, "a": ..., "e": ...}, "Still missing: a, e"),
        ({"a": 4}, "No gradient is given for b"),
        ([4.0] * 10, "I need a dict"),
    ],
    3: [
        ([WAGES], "With your line 5 the gradient is a number, but it leaves something out.*line 7: float"),
        ([FUEL], "With your line 7 the gradient is a number, but.*line 5: wages.assign"),
        (WAGES, "leaves something out"),
        ([(5, "assign", "wages.assign(hours * 30.0)")], "With your line 5 the gradient is still None"),
        ([WAGES, (7, "float", "fuel = litres.numpy() * 1.6")], r"leaves something out.*litres\.numpy\(\)"),
        ([WAGES, (7, "float", "fuel = float(litres) * 1.6")], "leaves something out"),
        ([WAGES, (7, "float", "fuel = ad.constant(float(litres)) * 1.6")], "leaves something out"),
        ([(5, "assign", "wages.assign_add(30.0 * hours)"), FUEL], "leaves something out.*assign_add"),
        ([(5, "assign", "wages = ad.Variable(30.0 * hours)"), FUEL], "leaves something out"),
        ([WAGES, (7, "float", "fuel = litres")], "the cost is 114, and it was 128.4"),
        ([(5, "assign", "wages = 90.0"), FUEL], "the slope is 0.64, and finite differences say"),
        ([(5, "assign", "wages = hours"), FUEL], "the cost is 41.4"),
        ([WAGES, (7, "float", "fuel = litre * 1.6")], "raised NameError"),
        ([WAGES, (7, "float", "fuel = litres * ")], "raised SyntaxError"),
        ([WAGES, (7, "float", "litres * 1.6")], "one line that computes fuel"),
        ([(5, "assign", "wages = 90.0"), (7, "float", "fuel = 38.4")], "a plain number. Keep it a tensor"),
        ([WAGES, (7, "multiply", "fuel = litres * 1.6")], "In line 7 it is not"),
        ([(5, "float", "wages = 30.0 * hours"), FUEL], "In line 5 it is not"),
        ([WAGES, (7, "litres * 1.6", "fuel = litres * 1.6")], "In line 7 it is not"),
        ([WAGES, (7, "", "fuel = litres * 1.6")], "In line 7 it is not"),
        ([(8, "add", "cost = wages + fuel")], "does not name line 8"),
        ([(2, "Variable", "wages = 0.0"), FUEL], "does not name line 2, so it may stay"),
        ([(0, "the operation", "the line as it should be")], "no line 0"),
        ({5: "wages = 30.0 * hours"}, "list of triples"),
        ([(5, "wages = 30.0 * hours")], "list of triples"),
        ("line 5", "list of triples"),
    ],
}
