"""Derivatives you can check: a forward and a central difference, a good step, and a gradient's two properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Go by the dots. How much more does a penguin weigh whose flipper is one centimetre longer?",
        answer="about 0.5 kg",
        choices=("about 0.05 kg", "about 0.5 kg", "about 5 kg"),
        hints={
            "about 0.05 kg": "From 18 to 23 cm that would be a quarter of a kilogram in all. How far do the dots rise?",
            "about 5 kg": "From 18 to 23 cm that would be 25 kg. How far do the dots rise?",
        },
        why="From 18 to 23 cm the cloud rises by about two and a half kilograms, which is half a kilogram for each.",
    ),
    Prediction(
        "A nudge of 0.01 at `tilt` took the loss from 0.6820 to 0.6622. What is the slope along `tilt`?",
        answer=-1.98,
        within=0.006,
        hints={
            1.98: "The loss went *down* as the parameter went up. What sign does that slope have?",
            -0.0198: "That is the change. Divide it by the nudge that caused it, 0.01.",
            0.0198: "That is the size of the change. Divide it by the nudge that caused it, and mind the sign.",
            -0.000198: "You multiplied by the nudge. Divide by it.",
            -0.4: "That is the slope along `height`, from the third line.",
        },
        why="The change is -0.0198, for a nudge of 0.01.",
    ),
    Prediction(
        "The slope along `tilt` was about -1.98, and `rate` is 0.2. What is `tilt` after the first turn?",
        answer=0.396,
        hints={
            -0.396: "Which way is *against* a slope that is negative?",
            1.98: "That would be the whole slope. How much of it is a step?",
            0.2: "That is the rate. Multiply it by the slope.",
            -1.98: "That is the slope. The step is `rate` times it, in the other direction.",
            9.9: "You divided by the rate. Multiply by it.",
        },
        why="0 - 0.2 · (-1.98) is 0.396.",
    ),
    Prediction(
        "Say that one run takes a hundredth of a second, and each slope takes one run. How long until you have all "
        "one million?",
        answer="almost 3 hours",
        choices=("almost 3 minutes", "almost 3 hours", "almost 3 days"),
        hints={
            "almost 3 minutes": "Three minutes are 180 seconds, enough for 18,000 runs.",
            "almost 3 days": "A million hundredths of a second are how many seconds? And an hour has 3,600.",
        },
        why="A million runs take 10,000 seconds, and an hour has 3,600.",
    ),
    Prediction(
        "With h = 0.01 the error was 0.0198, and with h = 0.001 it was 0.0020. What slope will be measured with h = 0.1?",
        answer=-1.798,
        within=0.0025,
        hints={
            0.198: "That will be the error. Add it to the true slope, -1.996.",
            -2.194: "The error has the right size. Is the measured slope above the true one, or below?",
            -1.996: "That is the true slope. How far off will the measured one be?",
            -1.978: "The error is 10 times that of h = 0.01, not the same.",
            -1.976: "That was h = 0.01. With a step 10 times as long, how large is the error?",
            -0.016: "That is h = 1: its error is 100 times that of h = 0.01.",
        },
        why="Ten times the step, ten times the error: -1.996 + 0.198.",
    ),
    Prediction(
        "When h becomes 10 times smaller, how many times smaller does the *central* error become?",
        answer=100,
        within=0.1,
        hints={
            10: "That is the forward one. Which power of h is the first that is left in the central one?",
            20: "Not twice as fast. Which power of h is the first that is left?",
            1000: "h³ is not the first power that is left. Look at the formula again.",
        },
        why="The first term that is left is proportional to h².",
    ),
    Prediction(
        "Where is the line after 30 turns with h = 10⁻¹⁷?",
        answer="where it started",
        choices=("closer than with h = 0.01", "half a step short again", "where it started", "far away"),
        hints={
            "closer than with h = 0.01": "So the formulas say. How many digits does the computer keep of 4 + 10⁻¹⁷?",
            "half a step short again": "These slopes step to both sides, so that error is gone. What is 4 + 10⁻¹⁷?",
            "far away": "It would have to be pushed there by slopes. What is loss(tilt + h, 4) - loss(tilt - h, 4)?",
        },
        why="The loss comes out the same on both sides, so both slopes are measured as 0.",
    ),
    Prediction(
        "What slope will central differences find for `sneaky` at x = 3?",
        answer=6,
        hints={
            3: "That is x. A difference runs the function: what does it return at 3 + h?",
            9: "That is the value. What is its slope?",
            0: "The function changes with x. What does it return at 3 + h?",
            1: "A difference runs the function: what does it return at 3 + h?",
        },
        why="A difference sees values only, and these are x². At 3 its slope is 2 · 3.",
    ),
    Prediction(
        "Along `tilt` the loss falls by 1.996 per unit, along `height` by 0.404. By how much does it fall in the "
        "steepest direction?",
        answer=2.036,
        within=0.006,
        hints={
            1.996: "Turn a little towards more height: you lose almost nothing of the 1.996, and gain some of the 0.404.",
            2.4: "A step along both is a step of length 1.41, not of length 1.",
            1.697: "That is the diagonal. Is it better to stay closer to `tilt`?",
            1.839: "That was along (0.8, 0.6). Along `tilt` alone it is already 1.996.",
            4.147: "Almost: that is the square of it.",
            -2.036: "It is the right size. The question is by how much the loss *falls*, so leave out the minus.",
        },
        why="The steepest way down is against the gradient, and the slope there is its length, √(1.996² + 0.404²).",
    ),
)


def cubic(x: float) -> float:
    """Return the value of the curve whose slopes exercise 1 asks for."""
    return x**3 - 2.0 * x + 5.0


def tank(x: float) -> float:
    """Return how fast a tank with a hole empties, for a level that cannot be negative."""
    if x < 0.0:
        raise ValueError("the level of a tank cannot be negative")
    return x**3 + 0.8 * x * x + 0.5 * x + 2.0


def forward(f: Callable[[float], float], x: float, h: float) -> float:
    """Return the forward difference."""
    return (f(x + h) - f(x)) / h


STEPS_BACK = (
    "You step to the left of x, where this function refuses to go: {raised} Take f at x, x + h and x + 2h, and at no "
    "other place."
)
BACK = (
    "You step to the left of x, and that may be outside the tank. Take f at x, x + h and x + 2h, and at no other place."
)

ONE_SIDE = Function(
    "From one side only",
    """\
A tank can't hold less than nothing: `f(x)` raises an error for x below 0, and you want its slope at 0. A step to each side is impossible, and the forward difference is off by about c · h for some number c. So measure the forward difference twice, once with the step `h` and once with `2 * h`, and combine the two so that the parts with c cancel. Write `slope(f, x, h)`; it may call `f` at x, x + h and x + 2h. (The check takes long steps, so that it sees how you combine them.)""",
    signature="slope(f, x, h)",
    cases=[(tank, 0.0, 0.4)]
    + [(cubic, x, h) for x, h in np.random.default_rng(1684).uniform(0.3, 1.5, (3, 2)).round(3).tolist()],
    answer=lambda f, x, h: 2 * forward(f, x, h) - forward(f, x, 2 * h),
    spellings=[lambda f, x, h: (4 * f(x + h) - 3 * f(x) - f(x + 2 * h)) / (2 * h)],
    hints=[
        (
            lambda f, x, h: forward(f, x, h),
            "That is one forward difference, with its error c · h. Combine it with a second.",
        ),
        (
            lambda f, x, h: forward(f, x, 2 * h),
            "That is one difference, over 2h, with the error 2c · h. Combine it with the one over h.",
        ),
        (
            lambda f, x, h: (forward(f, x, h) + forward(f, x, 2 * h)) / 2,
            "The mean of the two has the mean of their errors, 1.5c · h. How often must you count each, so that c · h and "
            "2c · h cancel and the slope itself is counted once?",
        ),
        (
            lambda f, x, h: forward(f, x, h) - forward(f, x, 2 * h),
            "The slope itself cancels, and an error is left. How often must you count each, so that the errors cancel and "
            "the slope doesn't?",
        ),
        (
            lambda f, x, h: forward(f, x, 2 * h) - forward(f, x, h),
            "The slope itself cancels, and an error is left. How often must you count each, so that the errors cancel and "
            "the slope doesn't?",
        ),
        (
            lambda f, x, h: forward(f, x, h) - forward(f, x, 2 * h) / 2,
            "The errors cancel, and so does half of the slope. What do you multiply the result by?",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, 2 * h) - forward(f, x, h),
            "That is the wrong way round: the errors add up to 3c · h. Which of the two has the smaller error?",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h) + forward(f, x, 2 * h),
            "The errors add up, and the slope is counted three times. What sign makes the errors cancel?",
        ),
        (
            lambda f, x, h: (2 * forward(f, x, h) + forward(f, x, 2 * h)) / 3,
            "The slope is counted once, but the errors don't cancel: both have the same sign here. Subtract one.",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h) - (f(x + 2 * h) - f(x)) / h,
            "The second difference goes over a run of 2h, and you divide its rise by h.",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h) - (f(x + 2 * h) - f(x)) / 2 * h,
            "`/ 2 * h` divides by 2 and then multiplies by h. Write `/ (2 * h)`.",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h) - (f(x + 2 * h) - f(x)),
            "The second difference is a rise. Divide it by its run, 2h.",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h) - (f(2 * h) - f(x)) / (2 * h),
            "You take f at 2h, which is right only for x = 0. Two steps from x is x + 2h.",
        ),
        (
            lambda f, x, h: 1.5 * forward(f, x, h) - 0.5 * forward(f, x, 2 * h),
            "The slope is counted once, but half of c · h is left. How much of c · h do two of the first have, and one of the "
            "second?",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h) - (f(x + 2 * h) - f(x + h)) / h,
            "The second difference begins at x + h. Let both begin at x.",
        ),
        (
            lambda f, x, h: (4 * forward(f, x, h) - forward(f, x, 2 * h)) / 3,
            "4 and -1 are for errors proportional to h². Here they are c · h and 2c · h.",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h),
            "That is twice the first measurement, error and all. Where is the second?",
        ),
        (
            lambda f, x, h: forward(f, x, h) - 2 * forward(f, x, 2 * h),
            "Which of the two measurements has the error c · h, and which 2c · h? Count the first twice.",
        ),
        (
            lambda f, x, h: 2 * f(x + h) - f(x + 2 * h),
            "Those are values. Combine two slopes, each a rise divided by its run.",
        ),
        (
            lambda f, x, h: 2 * forward(f, x, h / 2) - forward(f, x, h),
            "The idea is right, with steps of h / 2 and h. Here take h and 2h.",
        ),
        (
            lambda f, x, h: -(4 * f(x + h) - 3 * f(x) - f(x + 2 * h)) / (2 * h),
            "The sign is wrong. Each rise is the value further right minus f(x).",
        ),
        (lambda f, x, h: (4 * f(x + h) - 3 * f(x) - f(x + 2 * h)) / h, "That is twice the slope. Divide by 2h."),
        (lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h), STEPS_BACK),
        (lambda f, x, h: f(x + h) - f(x), "That is a rise. Divide it by the run."),
        (
            lambda f, x, h: 3 * x * x - 2 if f is cubic else 0.5,
            "That is the exact slope, as a formula gives it, or a step far smaller than h. Measure with the h that is given.",
        ),
    ],
    why="Its error is proportional to h², though it never looks to the left: 2 · c · h - c · 2h is 0.",
    minutes=8,
)

SLOPE, LONG, SHORT, CORNER = "slope", "long", "short", "corner"


def verdict(answer: str, otherwise: str, **hints: str) -> Choice:
    """Return the form of one of the four verdicts."""
    return Choice(answer=answer, choices=(SLOPE, LONG, SHORT, CORNER), hints=hints, otherwise=otherwise)


WHOSE_FAULT = Table(
    "Whose fault is it?",
    """\
Four programs, and in each the slope by automatic differentiation is not what central differences say. The table has the gap between the two for three steps, and beside it the gap between two *one-sided* slopes: with a step to the right (forward) minus with a step to the left (backward).

| program | tape − central, h = 10⁻² | 10⁻⁴ | 10⁻⁶ | forward − backward, h = 10⁻² | 10⁻⁴ | 10⁻⁶ |
|---|---|---|---|---|---|---|
| `pump` | 0.1 | 1e-5 | 1e-9 | 0.6 | 6e-3 | 6e-5 |
| `lens` | −1.5 | −1.5 | −1.5 | 0.02 | 2e-4 | 2e-6 |
| `clock` | 3e-6 | 1e-4 | 2e-2 | 0.02 | 1e-3 | 0 |
| `door` | 0.5 | 0.5 | 0.5 | 1 | 1 | 1 |

For each, say what is wrong: `"slope"` if the tape's slope is wrong, `"long"` if it is right and the first of the three steps is too long, `"short"` if it is right and the last of the three steps is too short, and `"corner"` if the function has a corner there, so that neither can find a slope.""",
    parts={
        "pump": verdict(
            LONG,
            "",
            slope="The gap dies away as h shrinks, so in the end both agree. Which step was the trouble?",
            short="With which of the three steps is the gap largest?",
            corner="Forward and backward come together as h shrinks. At a corner they don't.",
        ),
        "lens": verdict(
            SLOPE,
            "",
            long="Then a smaller step would make the gap smaller.",
            short="Then a longer step would make the gap smaller.",
            corner="Forward and backward come together as h shrinks, so there is one slope here.",
        ),
        "clock": verdict(
            SHORT,
            "",
            slope="With the first step the two agree to a few millionths. Which step was the trouble?",
            long="With which of the three steps is the gap largest?",
            corner="At a corner, forward minus backward stays the same. What grows when a step gets tiny?",
        ),
        "door": verdict(
            CORNER,
            "",
            slope="It may look so from the first three numbers. Now look at the two sides: do they agree?",
            long="Then a smaller step would make the gap smaller.",
            short="Then a longer step would make the gap smaller.",
        ),
    },
    hints=[
        (
            {"pump": SHORT, "lens": ..., "clock": LONG, "door": ...},
            "`pump` and `clock` have changed places: look for the step with the largest gap in each row.",
        ),
        (
            {"pump": ..., "lens": CORNER, "clock": ..., "door": SLOPE},
            "`lens` and `door` have changed places: in which of them do the two sides agree in the end?",
        ),
    ],
    called="verdict",
    progress="{right} of {all} are right. About {part}: ",
    why="A gap that shrinks with h is the formula's, one that grows as h shrinks is rounding's, and one that stays is the "
    "tape's, unless the two sides disagree as well. (The values of `clock` are near 10⁹, where 16 digits leave seven after "
    "the point.)",
    minutes=7,
)


class Counted:
    """A function of one array, and how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, point: Any, *more: Any) -> Any:
        """Return the value at a point, and count the call."""
        if more:
            raise TypeError("f takes the whole point as one array: f(p)")
        p = np.asarray(point, dtype=float)
        if p.shape != POINT.shape:
            raise TypeError(f"f takes an array like p, of shape {POINT.shape}, not {p.shape}")
        self.calls += 1
        return float(np.sum(np.sin(p) * WEIGHTS) + p[0] * p[-1])


POINT = np.linspace(0.2, 1.3, 12)
WEIGHTS = np.array([3.0, -2.0, 5.0, 1.0, -4.0, 2.0, 6.0, -3.0, 2.5, -5.0, 1.5, 4.0])
TRUE = np.cos(POINT) * WEIGHTS + np.eye(12)[0] * POINT[-1] + np.eye(12)[-1] * POINT[0]
ALLOWED = 4


def change(*changes: tuple[int, float]) -> Any:
    """Return the gradient with some entries changed by so much."""
    wrong = TRUE.copy()
    for place, by in changes:
        wrong[place] += by
    return wrong


def square_to_its_own_error() -> Any:
    """Return a wrong gradient with the right slope along itself."""
    aside = np.array([TRUE[1], -TRUE[0], *np.zeros(10)])
    return TRUE / 2 + aside / np.linalg.norm(aside) * np.linalg.norm(TRUE) / 2


def says(claimed: Any, always: bool = True) -> Callable[[Any], bool]:
    """Return what asks a learner's function about a claimed gradient, and counts the runs that this takes."""

    def ask(agrees: Any) -> bool:
        f = Counted()
        answer = agrees(f, POINT.copy(), claimed.copy())
        if not isinstance(answer, bool | np.bool_):
            raise NotYet(f"agrees should return True or False, and it returned {shorten(answer)}.")
        if f.calls == 0:
            raise NotYet("Your function never calls `f`, which it is given. A second opinion has to run it.")
        if f.calls > ALLOWED:
            raise NotYet(
                f"For {len(POINT)} parameters you called f {f.calls} times. Four runs must do, for a million as well: one "
                "slope, measured along one direction, and compared with what g says it is there."
            )
        return bool(answer)

    return ask


def along(
    choose: Callable[[Any, Any], Any], compare: Callable[[float, float], Any] = np.isclose
) -> Callable[..., bool]:
    """Return a check that looks along one direction."""

    def agrees(f: Any, p: Any, g: Any) -> bool:
        v = 1e-5 * choose(p, g)
        return bool(compare((f(p + v) - f(p - v)) / 2e-5, float(np.sum(g * v)) / 1e-5))

    return agrees


def at_random(p: Any, g: Any) -> Any:
    """Return a random direction that is the same each time."""
    return np.random.default_rng(7).standard_normal(len(p))


ONE_ONLY = (
    "This g is wrong in one entry, and you said True: a step that doesn't move a parameter says nothing about its entry. "
    "Move all of them at once, each by an amount of its own. If yours does, the comparison is too lenient: compare slopes, "
    "each divided by its run, to three digits or more."
)
CANCELS = (
    "This g has two wrong entries, one 3 too large and one 3 too small, and you said True. Along (1, 1, …, 1) the two "
    "cancel. What direction would nobody's mistakes cancel along, except by a rare accident?"
)
ALONG_G = (
    "There is a wrong g for which your function says True: it was made so that along g itself the two slopes agree. Choose "
    "a direction that doesn't depend on what you are checking. If yours doesn't, the comparison is too lenient."
)
REFUSED = (
    "This g is right, and you said False. What g says of a direction v is the sum of g times v, with the same v that you step "
    "along. Is h around 1e-5 (1e-8 for a step to one side), and do you divide by the whole run, which is 2h for a step to each side? And a measured slope has nine right digits or so: compare with np.isclose, not with ==."
)

MILLION = Function(
    "A million slopes, checked in two runs",
    """\
Somebody hands you an array `g` with a million numbers, and says that it's the gradient of `f` at `p`. To measure each slope would take hours. But you only want to know whether `g` is right. Write `agrees(f, p, g)`: it returns True if `g` is the gradient and False if any entry is clearly wrong, and calls `f` at most four times. `f` takes the whole array, `f(p)`. (You may use chance: `np.random.default_rng().standard_normal(len(p))` is an array of random numbers.)""",
    signature="agrees(f, p, g)",
    cases=[
        Case(says(TRUE), REFUSED),
        Case(says(change((4, 8.0))), ONE_ONLY),
        Case(
            says(-TRUE),
            "This g has the wrong sign everywhere, and you said True. Compare the two slopes with their signs.",
        ),
        Case(says(change((3, 3.0), (7, -3.0))), CANCELS),
        Case(says(change((0, -5.0))), ONE_ONLY),
        Case(says(change((6, 5.0))), ONE_ONLY),
        Case(says(change((11, -8.0))), ONE_ONLY),
        Case(
            says(square_to_its_own_error()),
            ALONG_G,
        ),
    ],
    answer=along(at_random),
    spellings=[
        along(lambda p, g: at_random(p, g) / np.linalg.norm(at_random(p, g))),
        along(lambda p, g: np.sign(at_random(p, g)) * np.arange(1.0, len(p) + 1.0)),
    ],
    hints=[
        (along(lambda p, g: np.eye(len(p))[0]), ONE_ONLY),
        (along(lambda p, g: np.ones(len(p))), CANCELS),
        (
            along(lambda p, g: at_random(p, g), lambda one, other: np.isclose(abs(one), abs(other))),
            "This g has the wrong sign everywhere, and you said True. Compare the two slopes with their signs.",
        ),
        (along(lambda p, g: g), ALONG_G),
    ],
    why="When every parameter moves at once, the slope is a sum over all entries of g, and an entry that is clearly wrong "
    "changes it, unless mistakes happen to cancel. For large arrays `ad.check_gradients` does the same.",
    minutes=10,
)

QUESTIONS = (*PREDICTIONS, ONE_SIDE, WHOSE_FAULT, MILLION)
