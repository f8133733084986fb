"""Memory: a chain planned, a network in little more than half the memory, and dropout in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record
from ...trace.hook import hook
from ..exercises import Case, Function, Number, Table
from ..feedback import NotYet, near, numbers
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "At which layer will its 64,000,000 bytes run out?",
        answer=61,
        within=0.0,
        hints={
            60: "60 layers just fit, with 63,918,080 bytes. When does the next product come?",
            62: "Nearly. Where does the product that doesn't fit belong?",
            41: "Only the first layer has three arrays. Each of the others adds two, and its weights.",
            40: "Only the first layer has three arrays. Each of the others adds two, and its weights.",
            125: "Each layer adds two arrays of 512,000 bytes: the product, and its tanh.",
            121: "Each layer adds two arrays of 512,000 bytes: the product, and its tanh.",
            64: "Each further layer adds a little more than a megabyte: 2 · 512,000 + 32,768.",
        },
        why="The first layer takes 1,568,768 bytes, and each further one 1,056,768. After 60 it's 63,918,080.",
    ),
    Prediction(
        "`turned` is `doubled` with its axes exchanged. How many bytes does its entry add?",
        answer=0,
        hints={
            512000: "The numbers are the same ones, in the same memory. Only the order in which they're read differs.",
            1024000: "`doubled` is on the tape already. And does `turned` need memory of its own?",
            80000: "That would be a copy of ten rows. Does `turned` need memory of its own?",
        },
        why="`doubled.T` is a view: it reads the memory of `doubled` in another order.",
    ),
    Prediction(
        "And how many bytes does it hold with nine sines in three segments, at the end of the forward pass?",
        answer=32000,
        hints={
            24000: "Three segments have three results. What went into the first is held too.",
            8000: "Each segment keeps its input and its result, and there are three of them.",
            16000: "That's right for one segment around everything. Each of the three has a result.",
            48000: "Each segment has an input and a result, but the result of one is the input of the next.",
            80000: "That's what the plain tape holds. What happens inside a segment is not kept.",
            4: "Four arrays. How many bytes are they?",
        },
        why="Four arrays: `x`, and the results of the three segments.",
    ),
    Prediction(
        "A chain of 100 steps. With how many segments are the fewest arrays held?",
        answer=10,
        hints={
            50: "50 segments keep 50 results. Try k + 100/k for a smaller k.",
            2: "Two segments have 50 steps each, and one of them is run again as a whole.",
            20: "That's the number of arrays at the minimum. How many segments is it?",
            100: "100 segments of one step keep every result, as the plain tape does.",
            1: "One segment is run again as a whole: 100 arrays at once.",
        },
        why="√100 = 10 segments of 10 steps: 10 + 10 arrays.",
    ),
    Prediction(
        "With that one segment, how many arrays are held at most, forward and backward?",
        answer="about 100",
        choices=("2", "about 20", "about 50", "about 100"),
        hints={
            "2": "That's after the forward pass. What happens when the walk arrives at the segment?",
            "about 20": "That's with ten segments. How many steps does this one segment run again?",
            "about 50": "That's with two segments. How many steps does this one segment run again?",
        },
        why="The one segment runs all 100 steps again, on one small tape that holds them all.",
    ),
    Prediction(
        "Ten segments of ten layers. Will the network and its gradient fit into 64 megabytes now?",
        answer="yes, about three times over",
        choices=("no", "yes, but only just", "yes, about three times over"),
        hints={
            "no": "The tape holds ten results in place of two hundred arrays. And how many does one segment hold?",
            "yes, but only just": "10 results, and 2 · 10 arrays while a segment is run again. How large is one?",
        },
        why="Ten results and one segment's twenty arrays are some 30 arrays, of 512,000 bytes each. And the weights.",
    ),
    Prediction(
        "A dropped number has no influence on the result. Where will this gradient have its zeros?",
        answer="in other places",
        choices=("where the result has them", "in other places", "nowhere", "there'll be an error"),
        hints={
            "where the result has them": "`backward` calls `dropout` again. What does it draw then?",
            "nowhere": "The second run drops numbers as well. Which ones?",
            "there'll be an error": "Would `recomputed` notice that the second result differs?",
        },
        why="The second run draws a mask of its own, and the gradient belongs to that one.",
    ),
)


class CountWithEnds(Number):
    """A number of megabytes; the arrays at the ends of the chain may be counted too, as the spellings do."""

    def read(self, given: Any, name: str = "your answer") -> float | None:
        """Return the answer in place of any other right one."""
        value = super().read(given, name)
        return self.answer if value in self.spellings else value


PLAN = Table(
    "Plan a chain",
    """\
A chain has 144 steps, and the result of each takes 3 MB. Count as in m(k) = k + n/k, without the arrays at the ends.

- `plain`: how many MB does a tape without checkpoints hold after the forward pass?
- `segments`: how many segments are best?
- `most`: how many MB are then held at most?
- `steps`: how many steps are computed in all, in both runs together?""",
    parts={
        "plain": CountWithEnds(
            answer=432,
            spellings=[435],
            hints={
                144: "`plain` isn't 144: that is the number of arrays. How many MB are they?",
                288: "`plain` isn't 288. Every step has one result, of 3 MB.",
            },
            otherwise="`plain` isn't {given}. Without checkpoints, the tape holds the results of all 144 steps.",
        ),
        "segments": Number(
            answer=12,
            hints={
                1: "`segments` isn't 1. One segment around everything runs all 144 steps again, on one small tape.",
                2: "The minimum isn't at two segments: each would hold 72 steps while it is run again.",
                72: "`segments` isn't 72. Half as many segments as steps: the tape alone holds 72 results. Where is "
                "the "
                "slope of m(k) zero?",
                144: "`segments` isn't 144. A segment for each step keeps the result of each step, as the plain tape "
                "does.",
                24: "24 is the number of arrays at the minimum, 2√n. How many of them are segments?",
            },
            otherwise="`segments` isn't {given}. The minimum of k + n/k lies where k² = n.",
        ),
        "most": CountWithEnds(
            answer=72,
            spellings=[75, 78],
            hints={
                24: "24 is the number of arrays. How many MB are they?",
                36: "`most` isn't 36: that's one of the two terms. While a segment is run again, its 12 arrays stand "
                "beside the 12 results.",
                432: "`most` isn't 432: that's the plain tape. What do 12 segments hold, and one of them while it is "
                "run "
                "again?",
                12: "`most` isn't 12: that's the number of segments. How many arrays are held, and how many MB are "
                "they?",
            },
            otherwise="`most` isn't {given}. At the minimum, k + n/k arrays are held, of 3 MB each.",
        ),
        "steps": Number(
            answer=288,
            hints={
                144: "`steps` isn't 144: that's the forward pass. In the backward pass, each segment is run again.",
                156: "`steps` isn't 156. When a segment is run again, all of its 12 steps are.",
                432: "`steps` isn't 432. Count the steps themselves, not the rules of the backward pass: each step is "
                "computed twice.",
                24: "This counts steps, not arrays: each of the 144 is computed how many times?",
                12: "`steps` isn't 12. This counts steps: each of the 144 is computed how many times?",
            },
            otherwise="`steps` isn't {given}. Each of the 144 steps is computed once forward and once again.",
        ),
    },
    spellings=[{"plain": 435, "segments": 12, "most": 78, "steps": 288}],
    why="A sixth of the memory, for one more run of the chain.",
    minutes=7,
)

ROOM = 250_000
"""What the tapes of a network may hold, in bytes."""

DRAW = np.random.default_rng(182)
SAMPLES = DRAW.normal(size=(200, 8))
KERNELS = [ad.Variable(DRAW.normal(size=(8, 8)) / 2) for _ in range(16)]


class Tapes:
    """A hook that keeps the tapes that record something, and the most that they held together."""

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}  # by id, so that none is taken for one that is gone
        self.most = 0

    def __call__(self, event: Event) -> None:
        """Look at the tapes after each new entry."""
        if isinstance(event, Record):
            self.seen[id(event.tape)] = event.tape
            self.most = max(self.most, sum(tape.nbytes for tape in self.seen.values()))


def differentiate(function: Callable[..., Any], *args: Any, sources: Any) -> tuple[Any, Tapes, int]:
    """Return the gradient of a function's sum, its tapes, and how many of those began in the backward pass."""
    tapes = Tapes()
    with hook(tapes):
        with ad.GradientTape() as tape:
            result = function(*args)
        before = len(tapes.seen)
        gradient = tape.gradient(result, sources)
    return gradient, tapes, len(tapes.seen) - before


def run_layers(x: Any, kernels: Any) -> Any:
    """Return what some layers make of x."""
    for kernel in kernels:
        x = np.tanh(x @ kernel)
    return x


def cut_into(*lengths: int) -> Callable[..., Any]:
    """Return a network whose layers are in checkpoints of these lengths; of a length below zero, outside of any."""

    def loss(x: Any, kernels: Any) -> Any:
        first = 0
        for length in lengths:
            part = kernels[first : first + abs(length)]
            x = ad.checkpoint(run_layers)(x, part) if length > 0 else run_layers(x, part)
            first += abs(length)
        return np.mean(x**2)

    return loss


LATE_VARIABLE = (
    "A checkpointed function returned different numbers when it ran again. Does it read the variable of a loop, or a "
    "list that has changed since? Pass it what it needs: ad.checkpoint(block)(x, kernels[...])."
)


def read_late_variable(x: Any, kernels: Any) -> Any:
    """Read the variable of a loop in a checkpoint, when it has moved on."""
    for first in range(0, 16, 4):
        x = ad.checkpoint(lambda x: run_layers(x, kernels[first : first + 4]))(x)  # noqa: B023 (that's the mistake)
    return np.mean(x**2)


def find_slopes(loss: Callable[..., Any]) -> Any:
    """Return the gradient with respect to the kernels."""
    try:
        return differentiate(loss, SAMPLES, KERNELS, sources=KERNELS)[0]
    except ValueError as error:
        if "different numbers" not in str(error):
            raise
        raise NotYet(LATE_VARIABLE) from error


def describe_slopes(found: list[Any], right: list[Any]) -> str:
    """Return a hint for gradients that are wrong, or missing."""
    missing = [k for k, one in enumerate(found) if one is None]
    if missing:
        return (
            f"The gradient of kernel {missing[0]} is None. Keep the layers on the path: a checkpoint leaves out what "
            "they compute, not their derivatives."
        )
    return "The loss is right, but its gradient isn't. What does your backward function compute?"


TOO_MUCH = "The tapes hold {given} bytes at most, and there is room for {answer}. "
HALF = Function(
    "A network in little more than half the memory",
    """\
`loss(x, kernels)` runs 16 layers. For 200 samples of 8 numbers, its tape holds 443,400 bytes. Rewrite it with checkpoints so that all tapes together never hold more than 250,000, in the forward pass or in the backward pass. The loss and its gradient stay the same. Change the line marked `# ...`, and any others that need it.""",
    signature="loss(x, kernels)",
    cases=[
        Case(
            lambda loss: loss(SAMPLES, KERNELS),
            "For hidden numbers the loss is {answer}, and yours is {given}. Do all 16 layers run, each once and in "
            "order?",
        ),
        Case(find_slopes, describe_slopes),
        Case(
            lambda loss: max(ROOM, differentiate(loss, SAMPLES, KERNELS, sources=KERNELS)[1].most),
            TOO_MUCH + "Does a part of the layers still run outside a checkpoint? If not, the longest segment is too "
            "long. Which number of them is best for 16 layers?",
        ),
    ],
    answer=cut_into(4, 4, 4, 4),
    spellings=[cut_into(*[2] * 8), cut_into(5, 5, 6)],
    hints=[
        (run_layers, "It returns what the layers return. Is `np.mean(x**2)` missing?"),
        (
            lambda x, kernels: np.mean(x**2),
            "That is the mean square of x as it came in. A checkpoint returns what its layers compute: assign it, "
            "`x = ad.checkpoint(...)(...)`.",
        ),
        (
            lambda x, kernels: np.mean(run_layers(x, [kernel.numpy() for kernel in kernels]) ** 2),
            "The loss is a plain number, which no tape follows. Compute it with NumPy's functions from the arguments, "
            "and return it as it is.",
        ),
        (
            cut_into(-16),
            TOO_MUCH + "Nothing is run again yet: call a part of the layers through ad.checkpoint.",
        ),
        (
            cut_into(16),
            TOO_MUCH
            + "After the forward pass it's far less, but the one segment runs everything again at once. Cut the "
            "layers into several segments.",
        ),
        (
            cut_into(*[1] * 16),
            TOO_MUCH + "A checkpoint around each layer keeps the result of each. Put several layers into one segment.",
        ),
        *(
            (wrong, TOO_MUCH + "Part of the layers still runs outside a checkpoint.")
            for wrong in (cut_into(8, -8), cut_into(-8, 8))
        ),
        (
            cut_into(8, 8),
            TOO_MUCH + "You have 2 segments, and the longest is still too long. Which number is best for 16 layers?",
        ),
        (read_late_variable, LATE_VARIABLE),
    ],
    why="The tapes never hold more than 250,000 bytes, where those of the plain network hold 443,400.",
    minutes=7,
)

SECOND_MASK = (
    "A layer returned different numbers when it ran again, because it drew a second mask, or read that of another "
    "layer. Draw before the layer is called, and pass the mask, or a seed, as an argument."
)
OTHER_NUMBERS = (
    "A layer drew other random numbers when it ran again, even if they made no difference. Draw before the layer is "
    "called, and only there, and pass the mask, or a seed, as an argument."
)
INPUTS = np.random.default_rng(183).uniform(0.5, 1.0, (50, 8))
WEIGHTS = [ad.Variable(each / 2) for each in np.random.default_rng(186).normal(size=(3, 8, 8))]
ALIKE = ad.Variable(np.eye(8))
MIXING = ad.Variable(np.random.default_rng(185).normal(size=(8, 8)))
"""With `ALIKE`, what is dropped once stays 0; with `MIXING`, what goes into a layer hides nothing."""

Dropped = Callable[..., Any]


def call_twice(dropped: Dropped, kernels: Any) -> tuple[Any, Any]:
    """Return what two calls compute that share a generator."""
    random = np.random.default_rng(2)
    one, other = (numbers(dropped(INPUTS, kernels, random)) for _ in range(2))
    return one, other


def find_zeros(dropped: Dropped, *kernels: Any) -> Any:
    """Return where the result is 0."""
    return call_twice(dropped, kernels)[0] == 0.0


def find_kept(dropped: Dropped) -> Any:
    """Return what one layer keeps."""
    return ~find_zeros(dropped, MIXING)


def find_gradient(dropped: Dropped) -> tuple[Any, int]:
    """Return the gradient with respect to three kernels, and how many layers ran again."""
    try:
        found, _, again = differentiate(dropped, INPUTS, WEIGHTS, np.random.default_rng(1), sources=WEIGHTS)
    except ValueError as error:
        if "numbers when it ran again" not in str(error):
            raise
        raise NotYet(SECOND_MASK if "different" in str(error) else OTHER_NUMBERS) from error
    return found, again


def agrees_with_difference(dropped: Dropped) -> bool:
    """Return whether the gradient agrees with a difference of two calls whose generators start at the same place."""
    h, along = 1e-5, np.random.default_rng(184).normal(size=(3, 8, 8))

    def total(t: float) -> float:
        moved = [ad.Variable(weight.numpy() + t * step) for weight, step in zip(WEIGHTS, along, strict=True)]
        return float(np.sum(numbers(dropped(INPUTS, moved, np.random.default_rng(1)))))

    return near(float(np.sum(find_gradient(dropped)[0] * along)), (total(h) - total(-h)) / (2 * h), 1e-4)


def draw_mask(x: Any, kernel: Any, random: Any) -> Any:
    """Return a mask for what a layer computes."""
    return random.random((len(x), kernel.shape[1])) < 0.5


def drop_by(draw: Callable[..., Any]) -> Dropped:
    """Return layers with dropout, whose masks come from `draw(x, kernel, random)`."""

    def layer(x: Any, kernel: Any, mask: Any) -> Any:
        return 2.0 * mask * np.tanh(x @ kernel)

    def dropped(x: Any, kernels: Any, random: Any) -> Any:
        for kernel in kernels:
            x = ad.checkpoint(layer)(x, kernel, draw(x, kernel, random))
        return x

    return dropped


def draw_inside(x: Any, kernels: Any, random: Any) -> Any:
    """Draw each mask in the layer, as the exercise's template does."""
    for kernel in kernels:
        x = ad.checkpoint(lambda x, kernel: 2.0 * draw_mask(x, kernel, random) * np.tanh(x @ kernel))(x, kernel)
    return x


def put_state_back(x: Any, kernels: Any, random: Any) -> Any:
    """Draw each mask in the layer, from where the generator stood before the first run."""

    def layer(x: Any, kernel: Any, state: Any) -> Any:
        random.bit_generator.state = state
        return 2.0 * draw_mask(x, kernel, random) * np.tanh(x @ kernel)

    for kernel in kernels:
        x = ad.checkpoint(layer)(x, kernel, random.bit_generator.state)
    return x


def draw_for_nothing(x: Any, kernels: Any, random: Any) -> Any:
    """Pass the mask, but draw another in the layer."""

    def layer(x: Any, kernel: Any, kept: Any) -> Any:
        draw_mask(x, kernel, random)
        return 2.0 * kept * np.tanh(x @ kernel)

    for kernel in kernels:
        x = ad.checkpoint(layer)(x, kernel, draw_mask(x, kernel, random))
    return x


def measure_share(dropped: Dropped) -> int:
    """Return how many per cent one layer keeps, 50 if it is about half."""
    share = find_kept(dropped).mean()
    return 50 if 0.4 < share < 0.6 else round(100 * share)


def keeps_times(dropped: Dropped, factor: float) -> bool:
    """Return whether one layer returns its tanh times a factor, where it isn't dropped."""
    return near(call_twice(dropped, [MIXING])[0], factor * np.tanh(INPUTS @ MIXING.numpy()) * find_kept(dropped))


NO_ERROR_ANY_MORE = (
    "There is no error any more, but the gradient is wrong: it doesn't agree with a difference of two runs with equal "
    "masks. Do the forward pass and the second run use the same mask?"
)
DROPPED = Function(
    "Dropout in a checkpoint",
    """\
`dropped(x, kernels, random)` runs layers with dropout, each in a checkpoint; `random` is a generator of NumPy. The gradient raises an error. Repair it: each layer keeps its checkpoint and gets a mask of its own, and every call draws new masks. Change the line marked `# ...`, and any others that need it.""",
    signature="dropped(x, kernels, random)",
    cases=[
        Case(
            lambda dropped: dropped(INPUTS, WEIGHTS, np.random.default_rng(1)) is INPUTS,
            "dropped(x, kernels, random) returns x as it came in. Assign what the layers return: x = ...",
        ),
        Case(lambda dropped: np.zeros(np.shape(dropped(INPUTS, WEIGHTS, np.random.default_rng(1))))),
        Case(
            lambda dropped: [one is not None for one in find_gradient(dropped)[0]],
            "The gradient of a kernel is None. Only the mask is drawn outside; the layer stays on the tape.",
        ),
        Case(
            lambda dropped: np.array_equal(find_zeros(dropped, ALIKE), find_zeros(dropped, ALIKE)),
            "Draw from the `random` that is passed in, so that the caller's seed decides.",
        ),
        Case(
            lambda dropped: find_kept(dropped).all() and find_zeros(dropped, ALIKE).any(),
            "You drop what goes into a layer. Drop what comes out: 2.0 * kept * np.tanh(x @ w).",
        ),
        Case(
            lambda dropped: find_kept(dropped).all(),
            "Nothing is dropped any more. Multiply by a mask, half of which is 0.",
        ),
        Case(
            lambda dropped: bool((find_kept(dropped) == find_kept(dropped)[:, :1]).all()),
            "All numbers of a sample share a mask. Draw one for each element: random.random(x.shape).",
        ),
        Case(
            lambda dropped: bool((find_kept(dropped) == find_kept(dropped)[0]).all()),
            "All samples have the same mask. Draw one number for each element: random.random(x.shape).",
        ),
        Case(measure_share, "One layer keeps {given} % of its numbers. It should be about {answer}."),
        Case(lambda dropped: keeps_times(dropped, 1.0), "The factor 2 is missing: what isn't dropped is doubled."),
        Case(lambda dropped: keeps_times(dropped, 2.0), "What isn't dropped should be 2 · tanh(x @ w)."),
        Case(
            lambda dropped: np.array_equal(*(one != 0.0 for one in call_twice(dropped, [MIXING]))),
            "Two calls dropped the same numbers. Draw from the generator that is passed in; a seed that never changes "
            "gives the same mask each time.",
        ),
        Case(
            lambda dropped: find_zeros(dropped, ALIKE, ALIKE, ALIKE).mean() < 0.7,
            "All layers drop the same numbers. Draw a new mask in each turn of the loop.",
        ),
        Case(
            lambda dropped: find_gradient(dropped)[1] == 0,
            "Nothing is run again any more. Keep ad.checkpoint around each layer, and pass the mask in.",
        ),
        Case(
            lambda dropped: find_gradient(dropped)[1],
            "Of {answer} layers, {given} ran again. Each layer has a checkpoint of its own.",
        ),
        Case(agrees_with_difference, NO_ERROR_ANY_MORE),
    ],
    answer=drop_by(draw_mask),
    spellings=[drop_by(lambda x, kernel, random: random.integers(0, 2, x.shape).astype(float)), put_state_back],
    hints=[
        (draw_inside, SECOND_MASK),
        (draw_for_nothing, OTHER_NUMBERS),
    ],
    why="Two runs, one mask: now the second run is like the first.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, PLAN, HALF, DROPPED)
