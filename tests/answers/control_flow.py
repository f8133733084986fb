"""Answers to the exercises of control-flow."""

import numpy as np

import autodiff_edu as ad

LOOP = {3: 108.0, 7: 147.0, 60: 1.0}


def billed(
    surcharge=lambda extra: 0.1 * extra * extra,
    interest=lambda cost: cost + 0.02 * cost,
    price=lambda use: 0.3 * use,
):
    """Return a bill whose surcharge and whose interest in a turn are computed by these."""

    def bill(use):
        cost = price(use)
        if use > 2.0:
            cost = cost + surcharge(use - 2.0)
        for _ in range(3):
            cost = interest(cost)
        return cost

    return bill


def half_surcharge(extra):
    return 0.1 * float(extra) * extra


def cut_interest(cost):
    return cost + 0.02 * cost.numpy()


def at_once(use):
    return 1.02**3 * np.where(use > 2.0, 0.3 * use + 0.1 * (use - 2.0) ** 2, 0.3 * use)


def slope_of(f, use):
    with ad.GradientTape() as tape:
        cost = f(use)
    return tape.gradient(cost, use)


def looped(m, x):
    y = m
    for _ in range(3):
        y = y - (y * y * y - x) / (3.0 * y * y)
    return y


def slope_by_hand(m, x):
    @ad.custom_gradient
    def root(x):
        def backward(dy):
            return dy / (3 * m**2)

        return m + 0 * x, backward

    return root(x)


RIGHT = {
    1: [LOOP, {place: ad.constant(slope) for place, slope in LOOP.items()}, {3: 108, 7: np.float32(147), 60: 1}],
    2: [
        billed(),
        at_once,
        billed(lambda extra: np.square(extra) / 10.0, lambda cost: cost * 1.02),
        billed(price=lambda use: (0.3 * use).astype("float32")),
    ],
    3: [
        lambda m, x: m - (m**3 - x) / (3 * m**2),
        lambda m, x: (2 * m + x / m**2) / 3,
        lambda m, x: m * (1 + np.log(x / m**3) / 3),
        lambda m, x: ad.constant(m) + np.divide(x - m * m * m, 3.0 * m * m),
        lambda m, x: m - (m**3 - x) / np.float32(3 * m**2),
        looped,
        slope_by_hand,
    ],
}

WRONG = {
    1: [
        ({**LOOP, 3: 81}, "value of y"),
        ({**LOOP, 3: 27}, "27 is 3³: the slope after 2 turns, or the contribution of only one"),
        ({**LOOP, 3: 6}, "after 1 turn, which is too few"),
        ({**LOOP, 3: 405}, "slope after 4 turns, which is too many"),
        ({**LOOP, 7: 14}, "after 1 turn, which is too few"),
        ({**LOOP, 7: 49}, "one of the factors only"),
        ({**LOOP, 60: 120}, "after 1 turn, which is too many"),
        ({**LOOP, 60: 0}, "y begins as x"),
        ({**LOOP, 60: 60}, "value of y"),
        ({**LOOP, 3: None}, "A loop cuts nothing"),
        ({**LOOP, 3: 5}, "Which power"),
        ({**LOOP, 3: "many"}, "The slope of 3 is.*Write None or a number, without quotes"),
        ({**LOOP, 7: ...}, "Still missing: 7"),
        ({3: 108}, "No slope is given for 7, 60"),
        ({"3": 108, "7": 147, "60": 1}, "Write the keys as the question does, 3 and not '3'"),
        (108.0, "I need a dict"),
    ],
    2: [
        (billed(half_surcharge, cut_interest), "Look at the loop"),
        (billed(half_surcharge), "At use = 2.9.*one of the two factors"),
        (billed(interest=cut_interest), "Look at the loop"),
        (billed(lambda extra: 0.1 * float(extra) ** 2), "both factors are plain numbers"),
        (billed(interest=lambda cost: cost + 0.02 * ad.constant(float(cost))), "Look at the loop"),
        (billed(interest=lambda cost: cost.numpy() + 0.02 * cost), r"is right\..*numpy\(\) returns the plain numbers"),
        (billed(interest=lambda cost: cost + 0.02 * ad.constant(cost)), "or is copied in each turn"),
        (billed(half_surcharge, lambda cost: cost + 0.02 * ad.Variable(cost)), "or is copied in each turn"),
        (billed(lambda extra: 0.1 * ad.constant(extra) * extra), "one of the two factors"),
        (billed(lambda extra: 0.1 * extra), r"bill\(2\.9\) gives .* Repair the cuts and keep the bill"),
        (billed(interest=lambda cost: cost), "keep the bill"),
        (billed(interest=lambda cost: ad.constant(1.02 * cost.numpy())), "is None now.*numpy"),
        (lambda use: float(billed()(use)), "not a tensor"),
        (lambda use: slope_of(billed(), use), "keep the bill"),
        (lambda use: None, "Is a `return` missing"),
        (lambda use: billed()(used), "raised NameError"),  # noqa: F821
        (billed()(1.0), "Hand in the function itself"),
    ],
    3: [
        (lambda m, x: ad.constant(m), "nothing that it returns was computed from x"),
        (lambda m, x: m, "not a tensor"),
        (lambda m, x: m + 0.0 * x, "0 hides the None"),
        (lambda m, x: m - (m**3 - x) / m**2, r"three times too steep: the slope of m\*\*3 is 3 \* m\*\*2"),
        (lambda m, x: m + (x - m**3) / m**2, "three times too steep"),
        (lambda m, x: x / m**2, "m is a plain number, so its share"),
        (lambda m, x: m * x / x.numpy(), "m is a plain number, so its share"),
        (lambda m, x: (m + x / m**2) / 2, "square root's step"),
        (lambda m, x: m + (m**3 - x) / (3 * m**2), "Check the sign"),
        (lambda m, x: m - (m**3 - x), "the gap alone. Divide"),
        (lambda m, x: m + (m**3 - x), "with the wrong sign"),
        (lambda m, x: m - (m**3 - x) / (3 * m), r"Divided by 3 \* m\. How"),
        (lambda m, x: m - (m**3 - x) / m**3, r"Divided by m\*\*3, which is its value"),
        (lambda m, x: m - (m**3 - x) / 3, r"Divided by 3\. How"),
        (lambda m, x: m - (m**3 - x) / 3 * m**2, "Put the steepness in brackets"),
        (lambda m, x: m - (m**3 - x) * 3 * m**2, "You multiply the gap"),
        (lambda m, x: m - (m**3 - x) / (3 * x**2), "the steepness at x"),
        (lambda m, x: m - (m**3 - x) / (2 * m), "Newton's step: m minus"),
        (lambda m, x: (m**3 - x) / (3 * m**2), "the step alone: subtract it from m"),
        (lambda m, x: (x - m**3) / (3 * m**2), "the step alone: add it to m"),
        (lambda m, x: m**3 - x, "That is the gap alone: divide it"),
        (lambda m, x: np.cbrt(x), "computes the root again from x"),
        (lambda m, x: x ** (1 / 3), "computes the root again from x"),
        (lambda m, x: np.exp(np.log(x) / 3), "computes the root again from x"),
        (lambda m, x: m - (m**3 - float(x)) / (3 * m**2), "not a tensor"),
        (lambda m, x: None, "Is a `return` missing"),
        (lambda x: x, "raised TypeError"),
        (2.0, "Hand in the function itself"),
    ],
}
