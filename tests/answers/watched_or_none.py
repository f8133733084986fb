"""Answers to the exercises of watched-or-none."""

import numpy as np

import autodiff_edu as ad

EIGHT = {"a": 0.0, "b": 2.0, "c": None, "d": 0, "e": None, "f": 6.25, "g": 10, "h": 7.0}
WAGES, FUEL = (5, "assign", "wages = 30.0 * hours"), (7, "float", "fuel = litres * 1.6")


def two_tapes(first, second, c, x):
    with ad.GradientTape() as one:
        stage = first(x)
    c.assign(stage)
    with ad.GradientTape() as two:
        loss = second()
    return one.gradient(stage, x, output_gradients=two.gradient(loss, c))


def one_persistent_tape(first, second, c, x):
    with ad.GradientTape(persistent=True) as tape:
        stage = first(x)
        c.assign(stage)
        loss = second()
    return tape.gradient(stage, x, output_gradients=tape.gradient(loss, c))


def dot_product(first, second, c, x):
    """Differentiate the sum of c and what arrives there, which is a constant: the same slope."""
    with ad.GradientTape() as one:
        stage = first(x)
        c.assign(stage)
        with ad.GradientTape() as two:
            loss = second()
        worth = np.sum(stage * two.gradient(loss, c).numpy())
    return one.gradient(worth, x)


def differences(first, second, c, x):
    slope, h = np.zeros(x.shape), 1e-5
    for k in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[k] = h
        c.assign(first(x + step))
        above = second().item()
        c.assign(first(x - step))
        slope[k] = (above - second().item()) / (2 * h)
    return slope


def element_by_element(first, second, c, x):
    """Take one walk through stage one for each element of c."""
    with ad.GradientTape(persistent=True) as one:
        stage = first(x)
    c.assign(stage)
    with ad.GradientTape() as two:
        at_c = two.gradient(second(), c).numpy()
    total = 0.0
    for k in np.ndindex(at_c.shape):
        seed = np.zeros(at_c.shape)
        seed[k] = at_c[k]
        total = total + one.gradient(stage, x, output_gradients=seed)
    return total


def under_one(first, second, c, x):
    with ad.GradientTape() as tape:
        c.assign(first(x))
        loss = second()
    return tape.gradient(loss, x)


def without_return(first, second, c, x):
    two_tapes(first, second, c, x)


def from_the_variable(first, second, c, x):
    with ad.GradientTape() as one:
        c.assign(first(x))
    with ad.GradientTape() as two:
        loss = second()
    return one.gradient(c, x, output_gradients=two.gradient(loss, c))


def by_a_jacobian(first, second, c, x):
    with ad.GradientTape() as one:
        stage = first(x)
    c.assign(stage)
    with ad.GradientTape() as two:
        loss = second()
    table = one.jacobian(stage, x).numpy()
    return np.tensordot(two.gradient(loss, c).numpy(), table, axes=stage.ndim)


def combine(how, assigns=True, rebinds=False):
    """Make an answer that combines the slopes of the two stages in some way."""

    def answer(first, second, c, x):
        with ad.GradientTape(persistent=True) as one:
            stage = first(x)
        if assigns:
            c.assign(stage)
        if rebinds:
            c = stage
        with ad.GradientTape(persistent=True) as two:
            loss = second()
        return how(one, stage, x, two, loss, c)

    return answer


RIGHT = {
    1: [
        EIGHT,
        {letter: None if slope is None else ad.constant(float(slope)) for letter, slope in EIGHT.items()},
        {letter: None if slope is None else np.float32(slope) for letter, slope in EIGHT.items()},
    ],
    2: [
        [WAGES, FUEL],
        (FUEL, WAGES),
        [(5, "wages.assign", "    wages = hours * 30"), [7, "float()", "fuel = 1.6 * litres"]],
        [(5, "wages.assign(30.0 * hours)", "wages = 30.0 * hours"), (7, "float(litres)", "fuel = litres * 1.6")],
        [WAGES, (7, "fuel = float(litres) * 1.6", "fuel = np.float32(1.6) * litres")],
        [(5, "assign", "wages = 7200.0 / speed"), (7, "float", "fuel=np.multiply(litres, 1.6)  # a tensor")],
    ],
    3: [two_tapes, one_persistent_tape, dot_product, differences, element_by_element, by_a_jacobian],
}

WRONG = {
    1: [
        ({**EIGHT, "a": None}, "None would mean that no path"),
        ({**EIGHT, "a": 1}, "What does the second one send"),
        ({**EIGHT, "a": 2}, "is subtracted"),
        ({**EIGHT, "b": 5}, "one contribution only"),
        ({**EIGHT, "b": 4.5}, "Does any come through floor"),
        ({**EIGHT, "d": 3}, "3 is the value of y"),
        ({**EIGHT, "g": 25}, "25 is the value of y"),
        ({**EIGHT, "h": 12.25}, "12.25 is the value of y"),
        ({**EIGHT, "h": 3.5}, "3.5 is the new x"),
        ({**EIGHT, "b": None}, "None would mean that no path"),
        ({**EIGHT, "c": 0}, "does not go through floor"),
        ({**EIGHT, "d": None}, "maximum is not a step function"),
        ({**EIGHT, "d": 1}, "larger one is 3"),
        ({**EIGHT, "e": 5}, "has no past"),
        ({**EIGHT, "e": 0}, "0 would be a slope that arrived"),
        ({**EIGHT, "f": 18.75}, "along that path nothing flows back"),
        ({**EIGHT, "f": None}, "The other is the factor x"),
        ({**EIGHT, "f": 15.625}, "the value of y"),
        ({**EIGHT, "f": 12.5}, "along the other"),
        ({**EIGHT, "f": 2.5}, "which number is in it"),
        ({**EIGHT, "f": 0}, "The other is the factor x"),
        ({**EIGHT, "g": 5}, "when it is 5"),
        ({**EIGHT, "g": None}, "which cuts nothing"),
        ({**EIGHT, "h": None}, "computed under the tape"),
        ({**EIGHT, "h": 5}, "Which value does x have"),
        ({**EIGHT, "b": 5, "g": 5}, "6 of 8 are right"),
        ({**EIGHT, "c": "None"}, "without quotes"),
        ({**EIGHT, "a": [1, 2]}, "the gradient of a"),
        ({**EIGHT, "a": ..., "e": ...}, "Still missing: a, e"),
        ({"a": 0}, "No gradient is given for b"),
        ([4.0] * 8, "I need a dict"),
    ],
    2: [
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
        ([WAGES, (7, "float", "fuel = litre * 1.6")], "raised NameError in the line `fuel = litre"),
        ([(5, "assign", "wages += 30.0 * hours"), FUEL], "raised RuntimeError in the line `wages \\+= 30"),
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
    3: [
        (under_one, "gets as far as c"),
        (without_return, "Is a `return` missing"),
        (from_the_variable, "Begin at the tensor"),
        (
            combine(
                lambda one, stage, x, two, loss, c: one.gradient(stage, x, output_gradients=two.gradient(loss, stage))
            ),
            "print it",
        ),
        (
            combine(lambda one, stage, x, two, loss, c: one.gradient(stage, x) * np.sum(two.gradient(loss, c))),
            "don't add them up",
        ),
        (combine(lambda one, stage, x, two, loss, c: two.gradient(loss, c)), "what arrives at c"),
        (combine(lambda one, stage, x, two, loss, c: one.gradient(stage, x)), "slope of stage one alone"),
        (
            combine(
                lambda one, stage, x, two, loss, c: one.gradient(stage, x, output_gradients=two.gradient(loss, c)),
                assigns=False,
                rebinds=True,
            ),
            "something that `second` never read",
        ),
        (
            combine(lambda one, stage, x, two, loss, c: one.gradient(stage, x) * two.gradient(loss, c)),
            "For single numbers the product is right",
        ),
        (
            combine(lambda one, stage, x, two, loss, c: one.gradient(stage, x) + two.gradient(loss, c)),
            "do rates add up",
        ),
        (
            combine(lambda one, stage, x, two, loss, c: one.gradient(stage, x, output_gradients=c)),
            "isn't c itself",
        ),
        (
            combine(
                lambda one, stage, x, two, loss, c: one.gradient(stage, x, output_gradients=two.gradient(loss, c)),
                assigns=False,
            ),
            "Is anything assigned to c",
        ),
        (combine(lambda one, stage, x, two, loss, c: two.gradient(loss, x)), "It returns None"),
        (combine(lambda one, stage, x, two, loss, c: 20.0), "arrays of three"),
        (20.0, "I need a function"),
        (lambda first, second, c: 20.0, "raised TypeError"),
        (lambda first, second, c, x: ..., "three dots"),
    ],
}
