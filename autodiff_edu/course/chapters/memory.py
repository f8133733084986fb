"""Memory: five checkpoints to diagnose, a network that widens in half the memory, and dropout in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record
from ...trace.hook import hook
from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet, near, numbers
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "Recording all hundred layers, at which one will 64,000,000 bytes run out?",
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
        "How many bytes does it hold with nine sines in three segments, at the end of the forward pass?",
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
        "A chain of 100 steps, in equal segments. With how many are the fewest arrays held?",
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
        "Ten equal segments hold the fewest arrays. With how many segments are the fewest sines computed, in both passes?",
        answer="it's the same for all",
        choices=("1", "10", "100", "it's the same for all"),
        hints={
            "1": "One segment runs all of its 100 steps again. How many do ten segments of 10 run again?",
            "10": "Each of ten segments runs its 10 steps again. How many steps does one segment of 100 run again?",
            "100": "Each of a hundred segments runs its one step again. How many is that in all?",
        },
        why="All the segments together have 100 steps, and each of them is run once forward and once again.",
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
        "From 64 to 256 steps, how does the number of arrays held by halves of halves change?",
        answer="some more",
        choices=("some more", "twice as many", "four times as many"),
        hints={
            "twice as many": "That's what √n segments do. How many more times can 256 be halved than 64?",
            "four times as many": "That's what a tape without checkpoints does. How many more times can 256 be halved?",
        },
        why="256 can be halved 8 times and 64 only 6 times. Each halving adds the few arrays of one more small tape.",
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


VERDICTS = ("fine", "saves nothing", "counts twice", "error", "wrong gradient")


def verdict(right: str, **hints: str) -> Choice:
    """Return the form for what becomes of one use of a checkpoint."""
    return Choice(answer=right, choices=VERDICTS, hints={name.replace("_", " "): hint for name, hint in hints.items()})


FIVE = Table(
    "Five checkpoints",
    """\
Each of these runs layers with checkpoints, and then its gradient is asked for. `weights` is a list of 12 variables of shape (8, 8), `x` is a tensor of shape (50, 8), `random` is a generator of NumPy, and `network` and `recomputed` are those of this chapter.

```python
A:  x = ad.checkpoint(network)(x, weights)

B:  def part(x, ws):
        count["samples"] += len(x)
        return network(x, ws)
    for first in range(0, 12, 4):
        x = ad.checkpoint(part)(x, weights[first : first + 4])

C:  def layer(x, w, seed):
        kept = np.random.default_rng(seed).random(x.shape) < 0.5
        return 2.0 * kept * np.tanh(x @ w)
    for w in weights:
        x = ad.checkpoint(layer)(x, w, int(random.integers(2**32)))

D:  for w in weights:
        x = ad.checkpoint(lambda x: np.tanh(x @ w))(x)

E:  noise = np.empty((50, 8))
    for _ in range(12):
        noise[:] = random.normal(size=(50, 8))
        x = recomputed(lambda x: np.tanh(x + noise))(x)
```

What becomes of each? Write one of these as a string.

- "fine": the right gradient, with less memory
- "saves nothing": the right gradient, but the most ever held is as much as without a checkpoint, or more
- "counts twice": the right gradient, with less memory, but something that isn't the gradient is wrong
- "error": an error is raised
- "wrong gradient": no error, and a wrong gradient""",
    parts={
        "A": verdict(
            "saves nothing",
            fine="A keeps little after the forward pass. What does its one segment hold while it is run again?",
            counts_twice="A's layers only compute. Look at how long its segment is.",
            error="Both runs of A do the same. Look at how long its segment is.",
            wrong_gradient="Both runs of A do the same. Look at how long its segment is.",
        ),
        "B": verdict(
            "counts twice",
            fine="How often does each `part` run, and what else does it do?",
            saves_nothing="B has three segments of four layers. What does `part` do, besides running layers?",
            error="The counter doesn't change what `part` returns, so both runs return the same.",
            wrong_gradient="The counter doesn't change what `part` returns. So what does it spoil?",
        ),
        "C": verdict(
            "fine",
            saves_nothing="Each layer of C keeps only what it returns, and not its product, its tanh and its mask.",
            counts_twice="Nothing outside of C's `layer` is changed by it: the seed is drawn where it's called.",
            error="The mask is drawn again in C's second run, yes. From which seed?",
            wrong_gradient="The mask is drawn again in C's second run, yes. From which seed?",
        ),
        "D": verdict(
            "error",
            fine="Which `w` does D's function read when it is run again, after the loop?",
            saves_nothing="Before you count D's arrays: which `w` does its function read when it is run again?",
            counts_twice="D changes nothing that isn't its own. But which `w` does it read when it is run again?",
            wrong_gradient="It would be, without a check. What does `ad.checkpoint` do with the two results?",
        ),
        "E": verdict(
            "wrong gradient",
            fine="What is in `noise` when E's functions are run again, after the loop?",
            saves_nothing="Before you count E's arrays: what is in `noise` when its functions are run again?",
            counts_twice="Nothing is counted in E. What is in `noise` when its functions are run again?",
            error="E isn't wrapped by `ad.checkpoint`. Does `recomputed` compare the two runs?",
        ),
    },
    why="The second run has the same arguments. What it reads besides them may have changed, and what it changes besides "
    "them is changed twice.",
    minutes=8,
)

ROOM = 580_000
"""What the tapes of a network may hold, in bytes."""

DRAW = np.random.default_rng(182)
SAMPLES = DRAW.normal(size=(200, 8))
WIDTHS = [8] * 9 + [32] * 8
KERNELS = [ad.Variable(DRAW.normal(size=(a, b)) / a**0.5) for a, b in pairwise(WIDTHS)]


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


def find_loss(loss: Callable[..., Any]) -> Any:
    """Return the loss."""
    try:
        return loss(SAMPLES, KERNELS)
    except NotYet as error:
        if "mismatch in its core dimension" not in str(error):
            raise
        raise NotYet(
            "A layer was given an x that isn't what the layer before it returns. Are the segments in order and without "
            "a gap, and is what each returns assigned, `x = ad.checkpoint(...)(...)`?"
        ) from error


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
    "A network that widens",
    """\
`loss(x, kernels)` runs 16 layers on 200 samples: eight that return 8 numbers for each sample, and then eight that return 32. The tape holds 1,151,496 bytes. Rewrite it with checkpoints so that all tapes together never hold more than 580,000, in the forward pass or in the backward pass. The loss and its gradient stay the same. Change the line marked `# ...`, and any others that need it.""",
    signature="loss(x, kernels)",
    cases=[
        Case(
            find_loss,
            "For hidden numbers the loss is {answer}, and yours is {given}. Do all 16 layers run, each once and in "
            "order?",
        ),
        Case(find_slopes, describe_slopes),
        Case(
            lambda loss: max(ROOM, differentiate(loss, SAMPLES, KERNELS, sources=KERNELS)[1].most),
            TOO_MUCH
            + "Does a part of the layers still run outside a checkpoint? If not, which segment holds the most? "
            "A wide layer holds four times as much as a narrow one.",
        ),
    ],
    answer=cut_into(8, 2, 2, 2, 2),
    spellings=[cut_into(8, 3, 3, 2), cut_into(4, 4, 2, 2, 2, 2), cut_into(10, 2, 2, 2)],
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
        *(
            (
                cut_into(*lengths),
                TOO_MUCH + "Equal segments would be right if all layers were alike. A wide layer holds four times as "
                "much as a narrow one: how many bytes has each of your segments?",
            )
            for lengths in ([8] * 2, [4] * 4, [2] * 8)
        ),
        (read_late_variable, LATE_VARIABLE),
    ],
    why="Long segments where the layers are narrow, short ones where they are wide: it is bytes that count, not layers.",
    minutes=9,
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
    minutes=7,
)

QUESTIONS = (*PREDICTIONS, FIVE, HALF, DROPPED)
