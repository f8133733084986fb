"""The exercises of chapter 18, memory: a chain planned, a network in less memory, dropout in a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record
from ...trace.hook import hook
from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, numbers, shortened
from ..predictions import Prediction

PLAN: dict[str, tuple[tuple[float, ...], dict[float, str], str]] = {
    "plain": (
        (432, 435),  # with the input or without
        {144: "144 is the number of arrays. How many MB are they?", 288: "Every step has one result, of 3 MB."},
        "Without checkpoints, the tape holds the results of all 144 steps.",
    ),
    "segments": (
        (12,),
        {
            1: "One segment around everything runs all 144 steps again, on one small tape.",
            2: "The minimum isn't at two segments: each would hold 72 steps while it is run again.",
            72: "Half as many segments as steps: the tape alone holds 72 results. Where is the slope of m(k) zero?",
            144: "A segment for each step keeps the result of each step, as the plain tape does.",
            24: "24 is the number of arrays at the minimum, 2√n. How many of them are segments?",
        },
        "The minimum of k + n/k lies where k² = n.",
    ),
    "most": (
        (72, 75, 78),
        {
            24: "24 is the number of arrays. How many MB are they?",
            36: "That's one of the two terms. While a segment is run again, its 12 arrays stand beside the 12 results.",
            432: "That's the plain tape. What do 12 segments hold, and one of them while it is run again?",
            12: "That's the number of segments. How many arrays are held, and how many MB are they?",
        },
        "At the minimum, k + n/k arrays are held, of 3 MB each.",
    ),
    "steps": (
        (288,),
        {
            144: "That's the forward pass. In the backward pass, each segment is run again.",
            156: "When a segment is run again, all of its 12 steps are.",
            432: "Count the steps themselves, not the rules of the backward pass: each step is computed twice.",
            24: "This counts steps, not arrays: each of the 144 is computed how many times?",
            12: "This counts steps: each of the 144 is computed how many times?",
        },
        "Each of the 144 steps is computed once forward and once again.",
    ),
}
"""For each part of 18.1: what is right, the hints by wrong numbers, and the hint for any other."""


def plan(answer: Any) -> str:
    """Check 18.1: memory and operations of a chain of 144 steps."""
    needs_dict(answer, '{"plain": 500, ...}')
    needs_each(answer, tuple(PLAN), "Your answer leaves out")
    for name, (right, hints, otherwise) in PLAN.items():
        given = number(answer[name], f"`{name}`")
        if not any(near(given, value) for value in right):
            hint = next((text for wrong, text in hints.items() if near(given, wrong)), otherwise)
            raise NotYet(f"`{name}` isn't {shortened(answer[name])}. {hint}")
    return "A sixth of the memory, for one more run of the chain."


ROOM = 250_000
"""What the tapes of 18.2 may hold, in bytes."""


class Watching:
    """A hook that adds up what all tapes hold, remembers the most, and counts the tapes."""

    def __init__(self) -> None:
        self.tapes: dict[int, Any] = {}  # by id, so that none is taken for one that is gone
        self.most = 0

    def __call__(self, event: Event) -> None:
        """Look at the tapes after each new entry."""
        if isinstance(event, Record):
            self.tapes[id(event.tape)] = event.tape
            self.most = max(self.most, sum(tape.nbytes for tape in self.tapes.values()))


def _differentiated(function: Any, args: tuple[Any, ...], sources: Any, written: str) -> tuple[Any, ...]:
    """Return the result, the gradient of its sum, what the tape held in between, and what was watched."""
    watching = Watching()
    with hook(watching):
        with ad.GradientTape() as tape:
            result = call(function, *args, written=written)
        held, count = tape.nbytes, len(watching.tapes)
        if not isinstance(result, ad.Tensor):
            if result is args[0]:
                raise NotYet(f"{written} returns x as it came in. Assign what the layers return: x = ...")
            if result is ... or result is None:
                raise NotYet(f"{written} returns {result}. Is a `return` missing, or are three dots left?")
            raise NotYet(
                f"{written} returns {shortened(result)}, which no tape follows. Compute it with NumPy's functions from "
                "the arguments, and return it as it is."
            )
        try:
            gradient = tape.gradient(result, sources)
        except ValueError as error:
            if "different numbers" not in str(error):
                raise NotYet(f"The gradient of {written} raised ValueError: {error}.") from error
            raise NotYet("different") from error
        except Exception as error:
            raise NotYet(f"The gradient of {written} raised {type(error).__name__}: {error}.") from error
    return result, gradient, held, watching, len(watching.tapes) - count


def _layers(x: Any, kernels: Any) -> Any:
    for kernel in kernels:
        x = np.tanh(x @ kernel)
    return np.mean(x**2)


def half(answer: Any) -> str:
    """Check 18.2: 16 layers, whose tapes never hold more than there is room for."""
    needs_function(answer, "loss(x, kernels)")
    random = np.random.default_rng(182)
    x = random.normal(size=(200, 8))
    kernels = [ad.Variable(random.normal(size=(8, 8)) / 2) for _ in range(16)]
    right, wanted, _, plain, _ = _differentiated(_layers, (x, kernels), kernels, "loss(x, kernels)")
    try:
        given, found, held, watching, again = _differentiated(answer, (x, kernels), kernels, "loss(x, kernels)")
    except NotYet as hint:
        if str(hint) != "different":
            raise
        raise NotYet(
            "A checkpointed function returned different numbers when it ran again. Does it read the variable of a "
            "loop, or a list that has changed since? Pass it what it needs: ad.checkpoint(block)(x, kernels[...])."
        ) from None
    if np.shape(given) == x.shape:
        raise NotYet("It returns what the layers return. Is `np.mean(x**2)` missing?")
    value = number(given, "the loss")
    if not near(value, float(right)):
        raise NotYet(
            f"For hidden numbers the loss is {float(right):.6g}, and yours is {value:.6g}. Do all 16 layers run, each "
            "once and in order?"
        )
    if missing := [k for k, one in enumerate(found) if one is None]:
        raise NotYet(
            f"The gradient of kernel {missing[0]} is None. Keep the layers on the path: a checkpoint leaves out what "
            "they compute, not their derivatives."
        )
    if not all(near(a, b) for a, b in zip(found, wanted, strict=True)):
        raise NotYet("The loss is right, but its gradient isn't. What does your backward function compute?")
    most = watching.most
    if most > ROOM:
        raise NotYet(_too_much(most, held, again))
    return f"At most {most:,} bytes, where the plain network holds {plain.most:,}."


def _too_much(most: int, held: int, again: int) -> str:
    said = f"The tapes hold {most:,} bytes at most, and there is room for {ROOM:,}. "
    if again == 0:
        return said + "Nothing is run again yet: call a part of the layers through ad.checkpoint."
    if held > ROOM:
        return said + f"After the forward pass alone it's {held:,}: part of the layers still runs outside a checkpoint."
    if again == 1:
        return said + (
            f"After the forward pass it's only {held:,}, but the one segment runs everything again at once. Cut the "
            "layers into several segments."
        )
    if again >= 16:
        return said + "A checkpoint around each layer keeps the result of each. Put several layers into one segment."
    return said + f"You have {again} segments, and the longest is still too long. Which number is best for 16 layers?"


def dropped(answer: Any) -> str:
    """Check 18.3: dropout in checkpoints, with a mask for each layer and each call, the same in both runs."""
    needs_function(answer, "dropped(x, kernels, random)")
    draw = np.random.default_rng(183)
    written = "dropped(x, kernels, random)"
    x = draw.uniform(0.5, 1.0, (50, 8))
    kernels = [ad.Variable(draw.normal(size=(8, 8)) / 2) for _ in range(3)]
    try:
        given, found, _, _, again = _differentiated(answer, (x, kernels, np.random.default_rng(1)), kernels, written)
    except NotYet as hint:
        if str(hint) != "different":
            raise
        raise NotYet(
            "A layer returned different numbers when it ran again, because it drew a second mask, or read that of "
            "another layer. Draw before the layer is called, and pass the mask, or a seed, as an argument."
        ) from None
    value = numbers(given)
    if value.shape != (50, 8):
        raise NotYet(f"The result has the shape {value.shape}. With these arguments it is (50, 8).")
    _check_masks(answer, x, written)
    if any(one is None for one in found):
        raise NotYet("The gradient of a kernel is None. Only the mask is drawn outside; the layer stays on the tape.")
    if again == 0:
        raise NotYet("Nothing is run again any more. Keep ad.checkpoint around each layer, and pass the mask in.")
    if again != 3:
        raise NotYet(f"Of 3 layers, {again} ran again. Each layer has a checkpoint of its own.")
    _check_slope(answer, x, kernels, found, written)
    return "Two runs, one mask: now the second run is like the first."


def _check_masks(answer: Any, x: Any, written: str) -> None:
    """Look at the zeros: about half for one layer, independent from layer to layer and from call to call."""
    same, mixing = ad.Variable(np.eye(8)), ad.Variable(np.random.default_rng(185).normal(size=(8, 8)))

    def zeros(random: Any, kernels: Any) -> Any:
        return numbers(call(answer, x, kernels, random, written=written)) == 0.0

    if (zeros(np.random.default_rng(2), [same]) != zeros(np.random.default_rng(2), [same])).any():
        raise NotYet("Draw from the `random` that is passed in, so that the caller's seed decides.")
    random = np.random.default_rng(2)
    one, second = (numbers(call(answer, x, [mixing], random, written=written)) for _ in range(2))
    kept = one != 0.0
    whole = np.tanh(x @ mixing.numpy())
    if kept.all() and zeros(random, [same]).any():
        raise NotYet("You drop what goes into a layer. Drop what comes out: 2.0 * kept * np.tanh(x @ w).")
    if kept.all():
        raise NotYet("Nothing is dropped any more. Multiply by a mask, half of which is 0.")
    if (kept == kept[:, :1]).all():
        raise NotYet("All numbers of a sample share a mask. Draw one for each element: random.random(x.shape).")
    if kept.all(axis=0).any() or not kept.any(axis=0).all() or (kept == kept[0]).all():
        raise NotYet("All samples have the same mask. Draw one number for each element: random.random(x.shape).")
    if not 0.4 < kept.mean() < 0.6:
        raise NotYet(f"One layer keeps {100 * kept.mean():.0f} % of its numbers. It should be about 50.")
    if near(one, whole * kept):
        raise NotYet("The factor 2 is missing: what isn't dropped is doubled.")
    if not near(one, 2.0 * whole * kept):
        raise NotYet("What isn't dropped should be 2 · tanh(x @ w).")
    if (kept == (second != 0.0)).all():
        raise NotYet(
            "Two calls dropped the same numbers. Draw from the generator that is passed in; a seed that never changes "
            "gives the same mask each time."
        )
    if zeros(random, [same] * 3).mean() < 0.7:  # with the identity, what is dropped once stays 0
        raise NotYet("All layers drop the same numbers. Draw a new mask in each turn of the loop.")


def _check_slope(answer: Any, x: Any, kernels: Any, found: Any, written: str) -> None:
    """Compare with a difference of two calls whose generators start at the same place."""
    draw, h = np.random.default_rng(184), 1e-5
    along = [draw.normal(size=(8, 8)) for _ in kernels]

    def total(t: float) -> float:
        moved = [ad.Variable(kernel.numpy() + t * step) for kernel, step in zip(kernels, along, strict=True)]
        return float(np.sum(numbers(call(answer, x, moved, np.random.default_rng(1), written=written))))

    slope = sum(float(np.sum(np.asarray(one) * step)) for one, step in zip(found, along, strict=True))
    if not near(slope, (total(h) - total(-h)) / (2 * h), 1e-4):
        raise NotYet(
            "There is no error any more, but the gradient is wrong: it doesn't agree with a difference of two runs "
            "with equal masks. Do the forward pass and the second run use the same mask?"
        )


QUESTIONS: tuple[Prediction | Exercise, ...] = (
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
    Judge(
        "Plan a chain",
        """\
A chain has 144 steps, and the result of each takes 3 MB. Count as in m(k) = k + n/k, without the arrays at the ends.

- `plain`: how many MB does a tape without checkpoints hold after the forward pass?
- `segments`: how many segments are best?
- `most`: how many MB are then held at most?
- `steps`: how many steps are computed in all, in both runs together?""",
        plan,
    ),
    Judge(
        "A network in little more than half the memory",
        """\
`loss(x, kernels)` runs 16 layers. For 200 samples of 8 numbers, its tape holds 443,400 bytes. Rewrite it with checkpoints so that all tapes together never hold more than 250,000, in the forward pass or in the backward pass. The loss and its gradient stay the same. Change the line marked `# ...`, and any others that need it.""",
        half,
    ),
    Judge(
        "Dropout in a checkpoint",
        """\
`dropped(x, kernels, random)` runs layers with dropout, each in a checkpoint; `random` is a generator of NumPy. The gradient raises an error. Repair it: each layer keeps its checkpoint and gets a mask of its own, and every call draws new masks. Change the line marked `# ...`, and any others that need it.""",
        dropped,
    ),
)
