"""The exercises of chapter 11, higher orders: a second derivative that is too small, an equation as a loss, a gradient penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function, Number, Table
from ..feedback import NotYet
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Each of the 400 pixels moves by 0.25, in the direction that lowers the score. If the slopes stayed as they are, by how much would the score fall?",
        answer="0.25 times the sum of the slopes' sizes",
        choices=(
            "0.25 times the largest slope",
            "0.25 times the root of the sum of the slopes' squares",
            "0.25 times the sum of the slopes' sizes",
        ),
        hints={
            "0.25 times the largest slope": "That's what one pixel does. The others move as well.",
            "0.25 times the root of the sum of the slopes' squares": "That's the fall for a step of length 0.25 along the "
            "gradient. Here each pixel moves by 0.25.",
        },
        why="A pixel with slope s lowers the score by 0.25 times the size of s, and the effects add up.",
    ),
    Prediction(
        "The first derivative of x³ at x = 1 is 3. What will the next cell print for the second?",
        answer=6,
        hints={
            3: "That's the first: 3x². Differentiate once more.",
            1: "1 is the value of x³.",
            2: "Differentiate 3x², not x².",
            0: "3 is the slope at x = 1 only. Elsewhere it's 3x², which isn't constant.",
            None: "The outer tape is still recording when the inner one is asked.",
        },
        why="3x² has the slope 6x.",
    ),
    Prediction(
        "The first derivative of x² at x = 3 is 6, and the second is 2. What will `derivative` return for the third?",
        answer=None,
        hints={
            0: "On paper, yes. But is there a path from the second derivative, the constant 2, back to x?",
            2: "That's the second derivative.",
        },
        why="The constant 2 is not computed from x, so no path leads back.",
    ),
    Prediction(
        "z = x·y² at (3, 2). What is the slope of dz/dx with respect to y?",
        answer=4,
        hints={
            0: "dz/dx is y². That does change with y.",
            2: "dz/dx is y². Its slope is 2y, and y is 2.",
            12: "That's dz/dy. First differentiate with respect to x, then with respect to y.",
            None: "dz/dx is y², which is computed from y.",
        },
        why="dz/dx = y², whose slope is 2y = 4.",
    ),
    Prediction(
        "For which of sin, exp and tanh does the tape grow by a factor with each order?",
        answer="tanh only",
        choices=("all three", "exp and tanh", "tanh only", "none of them"),
        hints={
            "all three": "The slope of sin is cos, and that of cos is -sin. How many operations does each step add?",
            "exp and tanh": "The slope of exp is exp again. How many operations does a step add?",
            "none of them": "The slope of tanh is 1 - y². Differentiate that by the tape's rules, and do it again.",
        },
        why="The slopes of exp and sin are again one function of x; those of tanh are longer and longer formulas.",
    ),
    Prediction(
        "`np.exp(x) * np.exp(x)` and `np.exp(2 * x)` are the same function. How will their tapes grow with the order?",
        answer="the product by a factor, the other by a few entries",
        choices=(
            "both by a factor",
            "the product by a factor, the other by a few entries",
            "both by a few entries",
        ),
        hints={
            "both by a factor": "In `np.exp(2 * x)` each slope is a number times an exponential. What is there to double?",
            "both by a few entries": "The tape knows no algebra. How many contributions does a product of two values of x "
            "send?",
        },
        why="What counts is how the function is written: a product of two values of x becomes two products.",
    ),
    Prediction(
        "Nudged by 0.25, the first network was right in 24 of 100. How will the one trained by `slopes_of_loss` with weight 1 do?",
        answer="exactly as badly",
        choices=("better", "exactly as badly", "worse"),
        hints={
            "better": "So it should. Which tapes are recording when `steepness` is computed?",
            "worse": "What does `outer` know of `steep`? What is the slope of a constant?",
        },
        why="To the outer tape `steep` is a number from nowhere, so all its slopes are those of the error alone.",
    ),
    Prediction(
        "How will the network trained with weight 1 and the repair do, compared with the first one?",
        answer="better under the nudge, as good on untouched ones",
        choices=(
            "better under the nudge, as good on untouched ones",
            "better under the nudge, much worse on untouched ones",
            "no better under the nudge",
        ),
        hints={
            "better under the nudge, much worse on untouched ones": "Rings and crosses differ in dozens of pixels. "
            "Must a score be steep to tell them apart?",
            "no better under the nudge": "A nudge moves the score by 0.25 times the sum of its slopes' sizes. For which "
            "network are they smaller?",
        },
        why="Its score is flatter, and these pictures are easy enough to allow that.",
    ),
    Prediction(
        "Now let the target be the sum of the outputs themselves, without the squares. Which gradient of the norm becomes None?",
        answer="the one with respect to the bias",
        choices=(
            "the one with respect to the kernel",
            "the one with respect to the bias",
            "both",
            "neither",
        ),
        hints={
            "the one with respect to the kernel": "The gradient with respect to x is made of the kernel: where a unit is "
            "on, its column arrives at x.",
            "both": "Where a unit is on, its column of the kernel arrives at x. So the norm does change with the kernel.",
            "neither": "Nudge the bias a little. As long as no unit is switched on or off, does the slope with respect to "
            "x change?",
        },
        why="The bias decides which units are on, and that changes in steps. With squares it also decides how far they are on.",
    ),
    Prediction(
        "With a heavy penalty, what will the gap between the mean ratings be after 300 turns?",
        answer="about 1.5, the grams between the two means",
        choices=(
            "about 1, the slope",
            "about 1.5, the grams between the two means",
            "it grows as long as you train",
        ),
        hints={
            "about 1, the slope": "1 is what the rating gains per gram. How many grams lie between the two means?",
            "it grows as long as you train": "With slopes near 1, how much can a rating gain between 10 and 11.5 grams?",
        },
        why="A rating that rises by 1 per gram rises by 1.5 over 1.5 grams.",
    ),
)

TOO_SMALL = Table(
    "A second derivative that is too small",
    """\
`z` is x·y². This program takes its slope with respect to `y`, and then the slope of that with respect to `x`. `slope` is right: 30. `second` is a number, there's no error, and it's too small. Without running it: which number does the program return, which one should it be, and which line has to move up?

```python
1  x, y = ad.constant(5.0), ad.constant(3.0)
2  with ad.GradientTape() as outer:
3      with ad.GradientTape() as inner:
4          inner.watch(y)
5          z = x * y * y
6      outer.watch(x)
7      slope = inner.gradient(z, y)
8  second = outer.gradient(slope, x)
```""",
    parts={
        "returned": Number(
            answer=3,
            hints={
                None: "A part of the walk in line 7 computes with x itself, while outer watches it. So there is a path.",
                6: "That's the slope of 2xy. Which part of line 5 has the outer tape missed?",
                30: "30 is slope itself. How does it change with x, as far as outer knows?",
                0: "Line 7 multiplies by x once more, while outer watches it.",
                15: "15 is the value of x * y. How does slope change with x?",
                5: "5 is x. The source of the second gradient is x, so ask how slope changes with it.",
            },
            otherwise="Line 5 is t = x * y and z = t * y. So slope is t, from the second product, plus y * x, from the "
            "first. In which of the two does outer see x?",
        ),
        "should be": Number(
            answer=6,
            hints={
                None: "dz/dy is 2xy, which does depend on x.",
                3: "3 is y. dz/dy is 2xy: what is its slope with respect to x?",
                10: "10 is 2x, the slope of dz/dy with respect to y. Here the second source is x.",
                30: "30 is dz/dy, which is 2xy. What is its slope with respect to x?",
            },
            otherwise="dz/dy is 2xy. What is its slope with respect to x?",
        ),
        "line": Number(
            answer=6,
            hints={
                None: "One of the eight lines is in the wrong place.",
                7: "Line 7 stands where it should: outside inner, and inside outer.",
                8: "A gradient of outer is taken after its block, as here.",
                4: "inner watches y before y is used.",
                5: "Moved out of the inner block, z would have no slope at all.",
            },
            otherwise="Look for what outer needs to know before line 5.",
        ),
    },
    why="slope is x * y, from the way forward, plus y * x, from the walk. A late watch sees the second part only, so half "
    "of 2y is left.",
    minutes=8,
)


def obey(function: Callable[..., Any]) -> tuple[Any, Any]:
    """Return what a learner's function says of a hidden motion, and its gradient with respect to a parameter of that."""
    w, t = ad.Variable(1.3, name="w"), ad.constant([0.2, 0.5, 0.9, 1.4, 2.2])
    with ad.GradientTape() as tape:
        try:
            given = function(lambda t: 3 * np.sin(w * t) + 0.1 * t * t * t, t)
        except NotYet as error:
            said = str(error.__cause__ or "")
            if "already been used" in said:
                raise NotYet(
                    "You ask a tape a second time. It has released its arrays, and it stopped before `speed` was computed. "
                    "For another derivative, put another tape around it."
                ) from error
            if "None" in said:
                raise NotYet(
                    "You compute with a gradient that is None. Each tape must watch t before u(t) is computed, and the "
                    "outer one must still be recording at `speed`."
                ) from error
            if "llipsis" in said:
                raise NotYet("Replace the three dots: the acceleration is still missing.") from error
            raise
    return given, tape.gradient(given, w) if isinstance(given, ad.Tensor) else None


def off_by(combine: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Return a function that combines position, speed and acceleration."""

    def answer(u: Any, t: Any) -> Any:
        with ad.GradientTape() as outer:
            outer.watch(t)
            with ad.GradientTape() as inner:
                inner.watch(t)
                position = u(t)
            speed = inner.gradient(position, t)
        return combine(position, speed, outer.gradient(speed, t))

    return answer


def of_mean(u: Any, t: Any) -> Any:
    """Take the slopes of the mean position."""
    position = u(t)
    return np.mean((ad.grad(lambda t: np.sum(ad.grad(lambda t: np.mean(u(t)))(t)))(t) + position) ** 2)


def watch_late(u: Any, t: Any) -> Any:
    """Compute the loss with an outer tape that watches t after the positions."""
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            inner.watch(t)
            position = u(t)
        outer.watch(t)
        speed = inner.gradient(position, t)
    return np.mean((outer.gradient(speed, t) + position) ** 2)


def open_late(u: Any, t: Any) -> Any:
    """Open the outer tape after the positions."""
    with ad.GradientTape() as inner:
        inner.watch(t)
        position = u(t)
    with ad.GradientTape() as outer:
        outer.watch(t)
        speed = inner.gradient(position, t)
    return np.mean((outer.gradient(speed, t) + position) ** 2)


def cut_between(cut: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that computes the right value, with a cut before the acceleration is used."""
    return off_by(lambda position, speed, acceleration: np.mean((cut(acceleration) + position) ** 2))


HIDDEN_PART = (
    "The value is right, but only a part of it reaches the parameters of u: the acceleration or the position has become a "
    "constant on the way. Keep both tensors: no float, no .numpy() and no stop_gradient."
)
EQUATION = Function(
    "An equation as a loss",
    """\
The position u of a swing obeys u″ = −u. A network can learn such a motion if its loss says how far it is from obeying. Write that loss, `off_by(u, t)`: the mean, over the times in the constant array `t`, of the squares of u″ + u. `u(t)` computes each position from its own time alone.

The check differentiates what you return with respect to a parameter of `u`, so keep it a tensor.""",
    signature="off_by(u, t)",
    returns=("the loss",),
    cases=[
        Case(
            lambda f: obey(f)[0],
            "For a hidden motion and five times, the loss is {answer}; yours is {given}. In this order: position, speed, "
            "acceleration, acceleration plus position, squared, and the mean.",
        ),
        Case(lambda f: obey(f)[1], HIDDEN_PART),
    ],
    answer=off_by(lambda position, speed, acceleration: np.mean((acceleration + position) ** 2)),
    spellings=[off_by(lambda position, speed, acceleration: np.sum((acceleration + position) ** 2) / len(position))],
    hints=[
        (
            off_by(lambda position, speed, acceleration: np.mean((speed + position) ** 2)),
            "You added the speed. The equation has the acceleration in it, which is the slope of the speed.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean((acceleration - position) ** 2)),
            "You subtracted the position. If u″ = −u, then u″ + u is 0.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean(acceleration**2)),
            "You squared the acceleration alone. Add the position first.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean(acceleration + position)),
            "Without the square, times at which u″ + u is above 0 and below it cancel.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean(acceleration + position) ** 2),
            "You took the mean before the square, so times above 0 and below it cancel. Square first.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean(np.abs(acceleration + position))),
            "You took the sizes. The loss is the mean of the squares.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.sum((acceleration + position) ** 2)),
            "You took the sum over the times. The loss is the mean.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.sqrt(np.mean((acceleration + position) ** 2))),
            "You took a root at the end. The mean of the squares is the loss.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.linalg.norm(acceleration + position)),
            "A norm is the root of the sum of the squares. The loss is their mean, without a root.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean((acceleration + position) ** 2) / 2),
            "That is half of the loss. It's the mean, with no 0.5 before it.",
        ),
        (
            off_by(lambda position, speed, acceleration: np.mean(acceleration**2 + position**2)),
            "You squared each of the two. Add them first: the square of u″ + u is 0 where the equation holds.",
        ),
        (
            off_by(lambda position, speed, acceleration: (acceleration + position) ** 2),
            "The loss is one number, the mean over the times; yours has one for each of them.",
        ),
        (
            off_by(lambda position, speed, acceleration: float(np.mean((acceleration + position) ** 2))),
            "The value is right, but nothing connects it to the parameters of u, so training couldn't lower it. Keep it a "
            "tensor: no float, no .numpy() and no stop_gradient on the way.",
        ),
        (cut_between(ad.stop_gradient), HIDDEN_PART),
        (
            of_mean,
            "You took the slope of the mean position, which is smaller the more times there are. Ask for the gradient of the "
            "positions themselves: each depends on its own time alone.",
        ),
        (
            watch_late,
            "Your outer tape begins to watch t after the positions have been computed, so it misses a part of the "
            "acceleration. Watch t first.",
        ),
        (
            open_late,
            "Your outer tape begins after the positions have been computed, so it misses a part of the acceleration. Put "
            "the inner block inside the outer one.",
        ),
    ],
    why="One number that is 0 for a motion that obeys, and it can be differentiated once more, to train u.",
    minutes=9,
)


def penalise(function: Callable[..., Any]) -> tuple[Any, Any]:
    """Return a learner's penalty of a hidden critic, and its gradient with respect to the critic's weights."""
    random = np.random.default_rng(937)
    real, fake, share = random.uniform(0.0, 1.5, (5, 2)), random.uniform(-1.0, 0.2, (5, 2)), random.uniform(size=(5, 1))
    w = ad.Variable([1.1, -1.3], name="w")
    with ad.GradientTape() as tape:
        try:
            given = function(lambda x: np.tanh(x @ w), ad.constant(real), ad.constant(fake), share)
        except NotYet as error:
            said = str(error.__cause__ or "").lower()
            if "ellipsis" in said:
                raise NotYet("Replace the three dots: `between` mixes real and fake, by the share.") from error
            if "none" in said:
                raise NotYet(
                    "You compute with a gradient that is None. Compute `between` first, then watch it, and rate it. A "
                    "gradient with respect to what you mix afterwards doesn't exist."
                ) from error
            raise
    return given, tape.gradient(given, w) if isinstance(given, ad.Tensor) else None


Combine = Callable[[Any], Any]
Place = Callable[[Any, Any, Any], Any]


def mix(real: Any, fake: Any, share: Any) -> Any:
    """Return the place between real and fake."""
    return share * real + (1 - share) * fake


def rows(to_x: Any) -> Any:
    """Return the norm of each row."""
    return np.linalg.norm(to_x, axis=1)


def usual(to_x: Any) -> Any:
    """Return the penalty."""
    return np.mean((rows(to_x) - 1) ** 2)


def penalty(combine: Combine = usual, place: Place = mix, rated: Combine = lambda rating: rating) -> Callable[..., Any]:
    """Return a function that combines the gradients of the ratings at a place."""

    def answer(critic: Any, real: Any, fake: Any, share: Any) -> Any:
        between = place(real, fake, share)
        with ad.GradientTape() as tape:
            tape.watch(between)
            rating = rated(critic(between))
        return combine(tape.gradient(rating, between))

    return answer


def asking_about(k: int) -> Callable[..., Any]:
    """Return a function that takes the gradient with respect to real or fake."""

    def answer(critic: Any, *samples: Any) -> Any:
        with ad.GradientTape() as tape:
            tape.watch(samples[:2])
            rating = critic(mix(*samples))
        return usual(tape.gradient(rating, samples[k]))

    return answer


def mixed_gradients(critic: Any, real: Any, fake: Any, share: Any) -> Any:
    """Mix the gradients in place of the samples."""
    to_real, to_fake = (
        penalty(lambda to_x: to_x, lambda *_, at=at: at)(critic, real, fake, share) for at in (real, fake)
    )
    return usual(mix(to_real, to_fake, share))


SAME_SHARE = "You mixed all pairs by the same share. Each pair has a share of its own."
PLACES: tuple[tuple[Place, str], ...] = (
    (lambda real, fake, share: real, "That is the penalty at the real samples. Evaluate it between real and fake."),
    (lambda real, fake, share: fake, "That is the penalty at the fake samples. Evaluate it between real and fake."),
    (lambda real, fake, share: mix(fake, real, share), "real and fake have changed places: the share belongs to real."),
    (lambda real, fake, share: (real + fake) / 2, "That is halfway for every pair. Each pair has a share of its own."),
    (
        lambda real, fake, share: np.concatenate([real, fake]),
        "That is the penalty at real and fake samples. Evaluate it *between* them.",
    ),
    (
        lambda real, fake, share: real + fake,
        "That is the sum of the samples. Give real the share, and fake the rest of 1.",
    ),
    (
        lambda real, fake, share: share * (real - fake),
        "That is the way from fake, without its start: fake + share * (real - fake).",
    ),
    (lambda real, fake, share: share * real, "You left out fake, which gets the rest of 1: (1 - share) * fake."),
    (
        lambda real, fake, share: real - fake,
        "That is the way from fake to real, not a place on it. Mix them: the shares add up to 1.",
    ),
    (lambda real, fake, share: share * real + fake, "The shares of a pair add up to 1: fake gets (1 - share)."),
    (
        lambda real, fake, share: share * real + 1 - share * fake,
        "Python multiplies first, so fake needs brackets before it: (1 - share) * fake.",
    ),
    (lambda real, fake, share: mix(real, fake, np.mean(share)), SAME_SHARE),
    (lambda real, fake, share: mix(real, fake, share[0]), SAME_SHARE),
)
EACH_ELEMENT = "You subtracted 1 from each element. Take the norm of each row first, and subtract 1 from that."
COMBINED: tuple[tuple[Combine, str], ...] = (
    (
        lambda to_x: (np.linalg.norm(to_x) - 1) ** 2,
        "You took one norm for all samples together, which grows with their number. Take one per row: axis=1.",
    ),
    (
        lambda to_x: np.mean((np.linalg.norm(to_x, axis=0) - 1) ** 2),
        "With axis=0 each column gets a norm. A sample is a row: axis=1.",
    ),
    (
        lambda to_x: np.mean(rows(to_x) ** 2),
        "This pulls the norms to 0. They should be pulled to 1: subtract it before the square.",
    ),
    (lambda to_x: np.mean(rows(to_x) ** 2 - 1), "You subtracted 1 after the square. Subtract it before: (norm - 1)²."),
    (
        lambda to_x: np.mean(rows(to_x)),
        "That is the mean of the norms. Subtract 1 from each and square it, and then take the mean.",
    ),
    (
        lambda to_x: np.mean(rows(to_x) - 1),
        "Without the square, norms below and above 1 cancel out. Square before the mean.",
    ),
    (
        lambda to_x: np.mean(1 - rows(to_x)),
        "Without the square, norms below and above 1 cancel out. Square before the mean.",
    ),
    (
        lambda to_x: np.mean(np.maximum(rows(to_x) - 1, 0) ** 2),
        "Your penalty lets norms below 1 pass. Here they cost as much as those above 1.",
    ),
    (lambda to_x: np.mean(np.abs(rows(to_x) - 1)), "You took the size of norm - 1. Take its square."),
    (lambda to_x: np.sum((rows(to_x) - 1) ** 2), "You took the sum over the samples. Take the mean."),
    (
        lambda to_x: (np.mean(rows(to_x)) - 1) ** 2,
        "You took the mean before the square, so norms below and above 1 cancel out. Square first.",
    ),
    (
        lambda to_x: np.mean((np.sum(to_x**2, axis=1) - 1) ** 2),
        "You took the sum of the squares of each row without the root. A norm has a root: np.linalg.norm.",
    ),
    (lambda to_x: np.sqrt(usual(to_x)), "You took a root at the end. The mean of the squares is the penalty."),
    (lambda to_x: usual(to_x) / 2, "That is half of the penalty. It's the mean, with no 0.5 before it."),
    (
        lambda to_x: np.mean((np.sum(np.abs(to_x), axis=1) - 1) ** 2),
        "You added up the sizes in each row. A norm is the root of the sum of the squares: np.linalg.norm.",
    ),
    (lambda to_x: np.mean(np.sum((to_x - 1) ** 2, axis=1)), EACH_ELEMENT),
    (lambda to_x: np.sum((to_x - 1) ** 2), EACH_ELEMENT),
    (
        lambda to_x: np.mean((to_x - 1) ** 2),
        "You compared each element with 1. It is each row's norm that should be 1.",
    ),
    (
        lambda to_x: (rows(to_x) - 1) ** 2,
        "The penalty is one number, the mean over the samples; yours has one for each of them.",
    ),
    (
        lambda to_x: float(usual(to_x)),
        "The value is right, but nothing connects it to the critic's variables, so training couldn't lower it. Keep it a "
        "tensor: no float, no .numpy() and no stop_gradient on the way.",
    ),
)

PENALTY = Function(
    "A penalty per sample",
    """\
With one number per coin, the places for the slope could be laid out along a line. In more dimensions, each forged sample is paired with a genuine one, and the place lies between them, at `share * real + (1 - share) * fake`. Write the penalty: the mean, over the pairs, of (norm − 1)², where norm is the norm of the critic's gradient at the pair's place. `critic(x)` returns one number per row of x. `real` and `fake` are constants with a row per sample, and `share` is a column with a number per pair.
The check differentiates what you return with respect to the critic's parameters, so keep it a tensor.""",
    signature="penalty(critic, real, fake, share)",
    returns=("the penalty",),
    cases=[
        Case(
            lambda f: penalise(f)[0],
            "For a hidden critic and five pairs of samples the penalty is {answer}; yours is {given}. In this order: "
            "mix, take the gradient, the norm of each row, minus 1, squared, and the mean.",
            within=1e-4,
        ),
        Case(
            lambda f: penalise(f)[1],
            "The value is right, but its gradient isn't: part of the calculation is hidden from the tape around it. Is "
            "there a float, a .numpy() or a stop_gradient on the way?",
            within=1e-4,
        ),
    ],
    answer=penalty(),
    spellings=[penalty(place=lambda real, fake, share: fake + share * (real - fake))],
    hints=[
        *((penalty(place=place), hint) for place, hint in PLACES),
        (mixed_gradients, "You mixed the gradients at real and fake. Mix the samples, and take the gradient there."),
        (asking_about(0), "That is the gradient with respect to real. Watch `between`, and ask about it."),
        (asking_about(1), "That is the gradient with respect to fake. Watch `between`, and ask about it."),
        *((penalty(combine), hint) for combine, hint in COMBINED),
        (
            penalty(rated=np.mean),
            "You took the gradient of the mean rating, which is smaller the more samples there are. Ask about the "
            "ratings themselves: each of them depends on its own sample alone.",
        ),
        (
            lambda critic, *samples: np.mean((critic(mix(*samples)) - 1) ** 2),
            "You compared the ratings with 1. It is the norms of their gradients that should be 1.",
        ),
    ],
    why="One norm for each row, on the way from fake to real, and a gradient that trains the critic.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, TOO_SMALL, EQUATION, PENALTY)
