"""Through a simulation: a launch that is aimed, four walks back that went wrong, a learning rate for each turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Which kind of meeting, cut by a tenth, spares the most old people?",
        answer="adults and old people",
        choices=(
            "children among themselves",
            "adults among themselves",
            "old people among themselves",
            "adults and old people",
        ),
        hints={
            "children among themselves": "Children meet the most people, and catch it first. But how many steps is it "
            "from there to the old people?",
            "adults among themselves": "That's the largest number in the table. But how many of those infections go on to "
            "an old person?",
            "old people among themselves": "Old people also catch it from others. From which group do most of them?",
        },
        why="More old people catch it from adults than from children, or from each other.",
    ),
    Prediction(
        "Three turns of descent. Which of them sends the most back to `rate`?",
        answer="each the same",
        choices=("the first", "the last", "each the same"),
        hints={
            "the first": "Its gradient is the largest. But what does the cotangent go through on its way to the first turn?",
            "the last": "In chapter 25 it was the last. Here a turn also multiplies the rate by its gradient. Which turn has "
            "the largest?",
        },
        why="The gradients get smaller from turn to turn, and the cotangent gets smaller on its way back, by the same factor.",
    ),
    Prediction(
        "The states are handed over in the order in which they came, first step first. What slope will the tea get?",
        answer="the right one",
        choices=("the right one", "a wrong one", "0"),
        hints={
            "a wrong one": "By what number does each step multiply p? Does it depend on the state?",
            "0": "Each step multiplies p by 0.9. After 30 steps that isn't 0.",
        },
        why="Each step multiplies p by 0.9, and the product of 30 such numbers is the same in any order.",
    ),
    Prediction(
        "Twice as many steps, each half as long. How far apart will the two slopes be?",
        answer="about half as far",
        choices=("just as far", "about half as far", "they'll be equal"),
        hints={
            "just as far": "Both come closer to the slope of the exact solution, as steps get smaller.",
            "they'll be equal": "That would need infinitely many steps. How does the error of a plain step x + h f(x) "
            "depend on h?",
        },
        why="With plain steps, both errors are proportional to the length of a step.",
    ),
    Prediction(
        "By how much will the two beginnings differ, a millionth of a degree at the end and 300 steps earlier?",
        answer="by millions of degrees",
        choices=("by less than a millionth", "by about a millionth", "by millions of degrees"),
        hints={
            "by less than a millionth": "Forward, differences shrink, because every cup ends at 20 °C. And backward?",
            "by about a millionth": "Forward, a step multiplies a difference by 0.9. What does a step back do to it?",
        },
        why="A step back multiplies a difference by 1.1, and 1.1 to the power of 300 is about 2.6 · 10¹².",
    ),
)


def throw(pull: float, drag: float) -> Callable[[Any], Any]:
    """Return a simulation: how far a ball flies that leaves at 45 degrees, by its speed."""

    def land(speed: Any) -> Any:
        across, up = 0.7 * speed, 0.7 * speed
        far, high = 0.0 * speed, 0.0 * speed
        for _ in range(40):
            across, up = across - 0.05 * drag * across, up - 0.05 * (pull + drag * up)
            far, high = far + 0.05 * across, high + 0.05 * up
        return far + 0.2 * high

    return land


def bend(land: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a simulation that isn't a straight line."""
    return lambda speed: land(speed) + 0.05 * land(speed) ** 2


THROWS = ((bend(throw(9.8, 0.3)), 6.0, 12.0), (bend(throw(3.7, 0.1)), 9.0, 7.5))
"""Each a simulation, a first speed, and a target."""


def aim(update: Callable[..., Any], turns: int = 20) -> Callable[..., Any]:
    """Return an answer that makes a new speed from the old one, what was missed and the slope."""

    def aimed(land: Any, speed: Any, target: Any) -> Any:
        for _ in range(turns):
            speed = update(speed, float(land(speed)) - target, float(ad.grad(land)(speed)))
            if not abs(speed) < 1e6:
                return np.inf
        return speed

    return aimed


def landing(case: tuple[Any, ...]) -> Case:
    """Return the case of one throw: where the learner's speed lands."""
    land, speed, target = case

    def where(aimed: Callable[..., Any]) -> float:
        try:
            given = aimed(land, speed, target)
            found = float(given)
        except (OverflowError, FloatingPointError):
            found = np.inf
        if not abs(found) < 1e6:
            raise NotYet(
                "Your speeds run away. If land(speed) is more than the target and the slope is positive, the speed has to go "
                "*down*: subtract what was missed, divided by the slope."
            )
        return float(land(found))

    return Case(
        where,
        "It should land at {answer}, and lands at {given}. In each turn, subtract what was missed, land(speed) - target, "
        "divided by the slope of land at that speed.",
    )


AIM = Function(
    "Aim",
    """\
A probe is launched with some speed, and `land(speed)` simulates where it comes down. You want it to come down at `target`. Nobody can turn the simulation round, but you can differentiate it. Write `aim(land, speed, target)`: begin with the given speed, take 20 of Newton's steps (chapter 7) on land(speed) − target, and return the speed that hits.""",
    signature="aim(land, speed, target)",
    cases=[landing(case) for case in THROWS],
    answer=aim(lambda speed, missed, slope: speed - missed / slope),
    hints=[
        (
            aim(lambda speed, missed, slope: speed - missed / slope, 1),
            "That's a single step. The simulation isn't a straight line: repeat it. Is the `return` inside the loop?",
        ),
        (
            aim(lambda speed, missed, slope: speed, 1),
            "That's the speed you began with. What has to be subtracted from it?",
        ),
        (
            aim(lambda speed, missed, slope: missed / slope, 1),
            "That's the change of the speed alone. The new speed is the old one minus that.",
        ),
        (
            aim(lambda speed, missed, slope: speed - (missed + 0.0) * slope, 1),
            "You multiplied by the slope. A steep simulation needs a *small* change of speed: divide.",
        ),
    ],
    why="Shooting, looking where it lands, and correcting by the slope is called the shooting method. It needs a slope "
    "through the whole simulation.",
    minutes=8,
)


def bug(answer: str, **hints: str) -> Choice:
    """Return what is wrong with one walk back."""
    return Choice(choices=("order", "sum", "state", "seed"), answer=answer, hints=hints)


BUGS = Table(
    "Four walks back",
    """\
Four classmates wrote `walk_back`, each with one mistake, and tested it against a tape. Here's what they found:

- Ana: for the tea, the start's slope is right. For the planet, it's right with a single step, and wrong with two.
- Ben: the start's slope is right for the tea and for the planet, with any number of steps. The knob's slope is right with a single step, and wrong with two.
- Cleo: for the planet, even a single step gives a wrong slope for the start. With a shorter step it's less wrong.
- Dan: for the *sum* of the four numbers of the planet's last state, all slopes are right. For its height alone, they're wrong.

The mistakes are `"order"`: the steps are taken first to last; `"sum"`: `received = by_knob`, nothing is added up; `"state"`: the states *after* each step are used, not those before it; `"seed"`: p begins with ones. Whose is which?""",
    called="mistake",
    parts={
        "Ana": bug(
            "order",
            sum="The start's slope doesn't need `received`, and it's the start's slope that goes wrong for the planet.",
            state="With the states after each step, a single step would already go wrong for the planet.",
            seed="With a wrong seed, a single step would already go wrong for the planet.",
        ),
        "Ben": bug(
            "sum",
            order="In the wrong order, the planet's start would go wrong from two steps on. Ben's is right.",
            state="With the states after each step, a single step would already go wrong for the planet.",
            seed="With a wrong seed, the planet's start would be wrong. Ben's is right.",
        ),
        "Cleo": bug(
            "state",
            order="A single step has only one order.",
            sum="With a single step there's nothing to add up, and the start's slope doesn't need `received`.",
            seed="A wrong seed doesn't get better with a shorter step.",
        ),
        "Dan": bug(
            "seed",
            order="In the wrong order the slopes of a sum would be wrong, too.",
            sum="Without adding up, the knob's slope would be wrong for the sum of the four numbers, too.",
            state="With the wrong states the slopes of a sum would be wrong, too.",
        ),
    },
    why="One step, two steps, one number, several: small tests tell mistakes apart that all look alike at 600 steps.",
    minutes=7,
)


def valley(w: Any) -> Any:
    """Return a loss with a curvature that changes."""
    return np.sum(np.array([1.0, 3.0]) * (w - 1.0) ** 2) + 0.1 * np.sum(w**4)


def hill(w: Any) -> Any:
    """Return a loss of three weights."""
    return np.sum(np.cosh(w)) + 0.5 * w[0] * w[1] - w[2]


RUNS = (
    (valley, np.array([2.0, -0.5]), np.array([0.05, 0.1, 0.08])),
    (hill, np.array([1.0, -0.7, 0.4]), np.array([0.2, 0.1, 0.3, 0.15])),
)


def by_turns(
    gradient: Callable[..., Any] = lambda loss, last: ad.grad(loss)(last),
    target: Callable[..., Any] = lambda loss, last: loss(last),
    turn: Callable[..., Any] = lambda last, rate, gradient: last - rate * gradient,
    rate: Callable[..., Any] = lambda rates, k: rates[k],
) -> Callable[..., Any]:
    """Return an answer made of these parts."""

    def slopes(loss: Any, w: Any, rates: Any) -> Any:
        def trained(rates: Any) -> Any:
            last = w
            for k in range(len(rates)):
                last = turn(last, rate(rates, k), gradient(loss, last))
            return target(loss, last)

        return ad.grad(trained)(rates)

    return slopes


def assign_in_place(loss: Any, w: Any, rates: Any) -> Any:
    """Return zeros: what comes out where a variable is changed in place in each turn."""
    return np.zeros(len(rates))


def last_only(loss: Any, w: Any, rates: Any) -> Any:
    """Return minus the product of the last two gradients for the last rate, and 0 for the others."""
    last = w
    for rate in rates:
        before, last = last, last - rate * ad.grad(loss)(last).numpy()
    slopes = np.zeros(len(rates))
    slopes[-1] = -(ad.grad(loss)(last).numpy() @ ad.grad(loss)(before).numpy())
    return slopes


RATES = Function(
    "A rate for each turn",
    """\
Why should all turns have the same learning rate? Write `rate_slopes(loss, w, rates)`: descent takes `len(rates)` turns from the weights `w`, the first with `rates[0]`, the next with `rates[1]`, and so on. Return the slopes of the loss *after the last turn* with respect to all the rates. They are hypergradients, so the gradient in each turn has to stay connected.""",
    signature="rate_slopes(loss, w, rates)",
    cases=[(loss, w.copy(), rates.copy()) for loss, w, rates in RUNS],
    answer=by_turns(),
    hints=[
        (
            by_turns(gradient=lambda loss, last: ad.grad(loss)(ad.stop_gradient(last))),
            "In your turns, the gradient is a constant: it doesn't know that it depends on the earlier rates. Don't turn it "
            "into plain numbers.",
        ),
        (
            assign_in_place,
            "All your slopes are 0: `assign_sub` puts plain numbers into a variable. Write last = last - ... instead.",
        ),
        (
            lambda loss, w, rates: by_turns(gradient=lambda loss, last: ad.grad(loss)(w))(loss, w, rates),
            "Each turn takes the gradient at the first weights, `w`. Take it at `last`.",
        ),
        (
            last_only,
            "Only the last rate has a slope. In the earlier turns the weights became plain numbers; keep them tensors.",
        ),
        (
            by_turns(turn=lambda last, rate, gradient: last + rate * gradient),
            "Your turns go uphill: a turn subtracts the rate times the gradient.",
        ),
        (
            by_turns(rate=lambda rates, k: rates[0]),
            "Every turn takes `rates[0]`. Turn k takes `rates[k]`.",
        ),
        (
            by_turns(rate=lambda rates, k: rates[len(rates) - 1 - k]),
            "The rates are taken in the wrong order: the first turn takes `rates[0]`.",
        ),
        (
            lambda loss, w, rates: np.append(by_turns()(loss, w, rates[:-1]).numpy(), 0.0),
            "The last rate has no influence: there is a turn for each of the rates, and yours stop one short.",
        ),
        (
            lambda loss, w, rates: -by_turns()(loss, w, rates),
            "The sign is the wrong way round. Return the slopes themselves, not the direction downhill.",
        ),
        (
            lambda loss, w, rates: np.sum(by_turns()(loss, w, rates).numpy()),
            "That's one number, as if all rates were one knob. I need a slope for each of them.",
        ),
    ],
    why="With these slopes you can learn a whole schedule of learning rates, by the same descent.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, AIM, BUGS, RATES)
