"""Training: its predictions; vanishing gradients, a block that is recomputed, and a port."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function, Number, Table
from ..feedback import NotYet, forbid, number, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "The trained ten layers see 273 penguins of three species. How many different answers do they give?",
        answer="1",
        choices=("1", "2", "3"),
        hints={
            "3": "A network that tells three species apart is well below log 3 = 1.0986, the cost of guessing.",
            "2": "Plausible, but look how close 1.0497 is to log 3 = 1.0986, the cost of guessing all three alike.",
        },
        why="Every penguin gets the same answer, the most common species.",
    ),
    Prediction(
        "A network of eleven layers has 22 variables. Which of them gets its gradient first in the backward pass?",
        answer="the last layer's bias",
        choices=("the first layer's kernel", "the last layer's kernel", "the last layer's bias", "all at once"),
        hints={
            "the first layer's kernel": "It was used first. In which direction is the tape read?",
            "the last layer's kernel": "The right layer. What did that layer do last, multiply or add?",
            "all at once": "The walk visits one entry at a time. Which entry uses a variable last?",
        },
        why="The tape is read from its end, and adding the last bias was the last thing done with a variable.",
    ),
    Prediction(
        "How many times smaller is the gradient of the first layer's kernel than that of the tenth?",
        answer="about a million",
        choices=("about the same", "about 10", "about 1,000", "about a million"),
        hints={
            "about the same": "Think of the player: did the contributions keep their size on the way back?",
            "about 10": "In the player, a single layer took away a factor of 5 or so. There are nine on the way.",
            "about 1,000": "A factor of about 5 per layer, nine times over: is that a thousand, or more?",
        },
        why="A factor of about 5 per layer, multiplied nine times, is about a million.",
    ),
    Prediction(
        "A sigmoid's value s lies between 0 and 1. How large can its slope `s * (1 - s)` be?",
        answer=0.25,
        hints={
            1: "With s = 1 the other factor is 0. Try the middle.",
            0.5: "That is the s for which it is largest. Put it into `s * (1 - s)`.",
            0: "That is the smallest, at both ends of the curve. Try the middle.",
        },
        why="At s = 1/2 the slope is 1/2 · 1/2.",
    ),
    Prediction(
        "Ten layers, the same seed and the same rate of 0.1: which activation gets its loss down first?",
        answer="tanh",
        choices=("tanh", "relu", "neither learns"),
        hints={
            "relu": "Both lines are level. Which one lies higher, so that a step with the same rate is longer?",
            "neither learns": "Compare the norms at layer 1 with the sigmoid's. Is there a gradient to learn from?",
        },
        why="Its gradients are 10 to 60 times larger in every layer, so its steps are longer, too.",
    ),
    Prediction(
        "With relu, all ten hidden kernels are halved. By what factor does the first one's gradient shrink, roughly?",
        answer=512,
        within=0.1,
        hints={
            2: "One factor of 2 is right for one kernel. The cotangent passes through several on its way to the first.",
            10: "Along a chain factors are multiplied, not counted: 2 · 2 · 2 and so on.",
            20: "Along a chain factors are multiplied, not added: 2 · 2 · 2 and so on.",
            18: "Along a chain factors are multiplied, not added: 2 · 2 · 2 and so on.",
            1024: "Nearly. The first kernel's own size isn't a factor of its own gradient: count the others.",
        },
        why="The cotangent passes through the nine other hidden kernels, and 2 · 2 · … · 2, nine times, is 512.",
    ),
    Prediction(
        "It trains for 200 turns with the rate 0.1. Where does the loss end?",
        answer="at 1.0497 again",
        choices=("below 0.4", "above a million", "at 1.0497 again", "at nan"),
        hints={
            "below 0.4": "The gradients are in the thousands, so the first step moves every kernel by hundreds.",
            "above a million": "It does get there, after one step. What does relu do when its inputs turn negative?",
            "at nan": "Nothing overflows here. What does relu do once its inputs have been thrown far to the negative?",
        },
        why="The first steps throw the kernels so far that a layer of relus puts out only zeros.",
    ),
    Prediction(
        "Twice as many layers: how many bytes does the tape keep?",
        answer="about twice as many",
        choices=("the same", "about twice as many", "about four times as many"),
        hints={
            "the same": "Each layer's rule asks for that layer's input and output on the way back.",
            "about four times as many": "Each layer adds its own arrays once, and they are as large as the others'.",
        },
        why="Every layer adds the same number of arrays of the same size.",
    ),
)

MEASURED = "So little is what you measure for some first `a`. The bound uses only the largest s(1 - s)."

TEN_SIGMOIDS = Table(
    "Vanishing gradients",
    """\
A chain of ten sigmoids with a weight `w` in each: `a = sigmoid(w * a)`, ten times, from a first `a`.

You know how large the slope of one sigmoid can be. That gives you a bound, a number that the slope of the last `a` with respect to the first can't exceed.

- `bound`: what is the bound for `w = 2`?
- `weight`: for which positive `w` is the bound exactly 1?""",
    parts={
        "bound": Number(
            answer=0.5**10,
            within=5e-3,
            hints={
                0.5: "A half is the bound for one link. There are ten, one behind the other.",
                0.25: "A quarter is the bound for one sigmoid, without its weight. And there are ten links.",
                5.0: "5 is ten halves added up. Along a chain, slopes are multiplied.",
                2.5: "2.5 is ten quarters added up. Along a chain slopes are multiplied, and each link has a weight.",
                0.25**10: "That is the bound for w = 1. In each link, w * a adds a factor w.",
                2.0 * 0.25**10: "The weight is in every link, so its factor is there ten times, not once.",
                0.5**9: "That is the bound for nine links. Count them again: ten.",
                0.5**11: "That is the bound for eleven links. Count them again: ten.",
                0.001: "Close: it is about a thousandth. Now the number itself: the bound for one link, ten times over.",
                1.0: "1 would take links of slope 1. How large can s(1 - s) be, and what does the weight make of it?",
                2.0**10: "Those are the ten weights. Each link also has a sigmoid: how large can s(1 - s) be?",
                2.0**10 / 4: "The quarter is in every link, so it is there ten times, not once.",
                **dict.fromkeys((6.45e-6, 5.609e-6, 5.112e-6, 2.955e-6, 1.196e-6, 1.66e-7), MEASURED),
            },
            otherwise="For the bound, ask for one link first: w times the largest value of s(1 - s). Then there are ten "
            "links. What you measure for some first `a` is less.",
        ),
        "weight": Number(
            answer=4.0,
            hints={
                1.0: "With the weight 1 a link has at most the slope 1/4, and ten of them a millionth.",
                0.25: "A weight of 1/4 makes it smaller still. Each link has the slope w · s(1 - s).",
                4.0**10: "The weight is in every link, so it acts ten times. One link must come out at 1.",
                2.0: "With 2 the bound is the one that you have just given, and not 1.",
                -4.0: "The size is right, but the exercise asks for a positive weight.",
            },
            otherwise="For the weight, one link has at most the slope w · 1/4. For which w is that 1?",
        ),
    },
    why="At most (2/4)¹⁰, about a thousandth. With the weight 4 the bound is 1, and even that is out of reach: each "
    "sigmoid would have to be given 0.",
    minutes=9,
)

DRAW = np.random.default_rng(2016)
X = ad.constant(DRAW.normal(size=(6, 3)))
KERNELS = [ad.constant(DRAW.normal(size=(3, 3))) for _ in range(4)]
WEIGHTS = DRAW.normal(size=(6, 3))
READY_MADE = {ad.checkpoint(abs).__code__: "ad.checkpoint"}  # what calls the checkpointed function


def four_layers(x: Any, kernels: Any) -> Any:
    """Compute the block of exercise 2."""
    for kernel in kernels:
        x = np.tanh(x @ kernel)
    return x


def run(recompute: Any) -> tuple[int, Any, int, Any, int]:
    """Return the entries, the value and the calls of a recomputed block, then its gradients and all its calls."""
    calls: list[int] = []

    def compute(given: tuple[Any, Any]) -> Any:
        calls.append(1)
        return four_layers(*given)

    block = forbid(compute, READY_MADE, "it is right, and shorter than ours. Now write `backward` yourself.")
    light = recompute(lambda x, kernels: block((x, kernels)))
    if not callable(light):
        raise NotYet(f"recompute(block) returns {shorten(light)}, not a function. Is `return light` missing?")
    with ad.GradientTape() as tape:
        tape.watch([X, KERNELS])
        y = light(X, KERNELS)
        entries = len(tape.entries)
        target = np.sum(y * WEIGHTS) if isinstance(y, ad.Tensor) else None
    forward = len(calls)
    if target is None or entries != 1:  # the case of the entries says so
        return entries, y, forward, None, forward
    to_x, to_kernels = tape.gradient(target, [X, KERNELS])
    return entries, y, forward, [to_x, *to_kernels], len(calls)


def write_checkpoint(
    backward: Callable[..., Any], forward: Callable[..., Any] = lambda block, x, kernels: block(x, kernels)
) -> Callable[..., Any]:
    """Return an answer to exercise 2 with the given ways forward and back."""

    def recompute(block: Any) -> Any:
        @ad.custom_gradient
        def light(x: Any, kernels: Any) -> Any:
            x, kernels = x.numpy(), [kernel.numpy() for kernel in kernels]
            return forward(block, x, kernels), lambda dy: backward(block, x, kernels, dy)

        return light

    return recompute


def again(block: Any, x: Any, kernels: Any, dy: Any, watch: str = "both", of: Callable[..., Any] = ad.constant) -> Any:
    """Compute a block once more, on tensors made by `of`, and pull dy back through it."""
    x, kernels = of(x), [of(kernel) for kernel in kernels]
    with ad.GradientTape() as inner:
        inner.watch({"both": [x, kernels], "x": x, "kernels": kernels, "none": []}[watch])
        y = block(x, kernels)
    return inner.gradient(y, [x, kernels], output_gradients=dy)


def of_arrays(block: Any, x: Any, kernels: Any, dy: Any) -> Any:
    """Compute a block from the plain arrays, and ask for the gradients of other tensors."""
    sources = ad.constant(x), [ad.constant(kernel) for kernel in kernels]
    with ad.GradientTape() as inner:
        inner.watch(sources)
        y = block(x, kernels)
    return inner.gradient(y, sources, output_gradients=dy)


def change_gradients(
    change: Callable[[Any, Any], Any] = lambda x, kernels: (x, kernels), **how: Any
) -> Callable[..., Any]:
    """Return an answer that computes the block again in a given way, and changes the two gradients."""
    return write_checkpoint(lambda *given: change(*again(*given, **how)))


ARRAYS = (
    "The inner tape was given plain arrays, and it follows only tensors. Make new tensors from them first, with "
    "`ad.constant(...)`, then watch these, compute the block from them, and ask for their gradients."
)
TWO_THINGS = (
    "backward must return two things where the three dots are: the gradient of x, then the list of gradients of the "
    "kernels. {raised}"
)
LATE = (
    "Multiplying the finished gradients by dy is too late: dy has to go back through the block, too. Pass it to the "
    "inner tape: `inner.gradient(..., output_gradients=dy)`."
)


def entries_hint(found: int, wanted: int) -> str:
    """Return what is said of a block that leaves another number of entries than one."""
    if found == 0:
        return "Nothing was recorded. Is `@ad.custom_gradient` above your function, which returns the pair?"
    return (
        f"The value is there, and the tape holds {found} entries, not one: the block ran on tensors, so its inside was "
        "recorded. In the forward run give it plain arrays, from `.numpy()`."
    )


RECOMPUTE = Function(
    "Recompute a block",
    """\
`recompute(block)` does for a block with kernels what `recomputed(f)` in chapter 20 did for a function of one array. It returns a function that computes the same as `block(x, kernels)`, but leaves only *one* entry on the tape. Its `backward` computes the block again, under a tape of its own. Write that part. It returns the gradient of `x`, and the list of gradients of the kernels.

The forward line is done: on plain arrays nothing is recorded.""",
    signature="recompute(block)",
    cases=[
        Case(lambda recompute: run(recompute)[0], entries_hint),
        Case(
            lambda recompute: run(recompute)[1],
            "The value differs from the block's. The forward line was right as it was.",
        ),
        Case(
            lambda recompute: run(recompute)[2],
            "On the way forward the block was computed {given} times. Once is enough.",
        ),
        Case(
            lambda recompute: run(recompute)[3],
            "The gradients differ from those of the block itself. Compute the block again, and seed it with dy.",
        ),
        Case(
            lambda recompute: run(recompute)[4],
            lambda found, _: (
                "The gradients are right, but the block was not computed again. What did you keep instead?"
                if found == 1
                else f"The gradients are right, but the block was computed {found} times. Twice is enough."
            ),
        ),
    ],
    answer=write_checkpoint(again),
    spellings=[
        write_checkpoint(lambda block, x, kernels, dy: ad.vjp(block, x, kernels)[1](dy)),
        change_gradients(watch="none", of=ad.Variable),
    ],
    hints=[
        (
            ad.checkpoint,
            "That is `ad.checkpoint`, which this exercise leaves to you: it is right, and shorter than ours. Now write "
            "`backward` yourself.",
        ),
        *((change_gradients(watch=watch, of=lambda x: x), ARRAYS) for watch in ("both", "x", "kernels", "none")),
        (
            write_checkpoint(of_arrays),
            "On the way back the block was given plain arrays, so the inner tape recorded nothing. Compute it from the "
            "new tensors that the tape watches.",
        ),
        (write_checkpoint(lambda *given: ...), TWO_THINGS),
        (write_checkpoint(lambda *given: (..., ...)), TWO_THINGS),
        (change_gradients(lambda x, kernels: (x, *kernels)), TWO_THINGS),
        (
            change_gradients(watch="none"),
            "backward returns None for everything. Does the inner tape watch the new tensors before the block runs?",
        ),
        (
            change_gradients(watch="x"),
            "The gradient of the kernels is None. The inner tape must watch x and the kernels, both.",
        ),
        (
            change_gradients(watch="kernels"),
            "The gradient of x is None. The inner tape must watch x and the kernels, both.",
        ),
        (
            write_checkpoint(lambda block, x, kernels, dy: again(block, x, kernels, None)),
            "The inner tape starts from ones: you forgot the cotangent dy. Pass it on: "
            "`inner.gradient(..., output_gradients=dy)`.",
        ),
        (
            write_checkpoint(
                lambda block, x, kernels, dy: (lambda g: (g[0] * dy, g[1]))(again(block, x, kernels, None))
            ),
            LATE,
        ),
        (
            change_gradients(lambda x, kernels: (x, kernels[::-1])),
            "The gradient of x is right, those of the kernels are not. Are they in the order of the kernels?",
        ),
    ],
    why="One entry in place of eight, the same gradients, and the block computed twice: memory against operations.",
    minutes=8,
)


def detach(value: Any) -> Any:
    """Return a tensor of PyTorch that requires a gradient as one that does not; anything else as it is."""
    return value.detach() if type(value).__module__.partition(".")[0] == "torch" else value


def descent(
    length: Any, mass: Any, turns: int, rate: float, *, scale: float = 2.0 / 40, keep: bool = False, by: str = "wb",
    in_turn: bool = False, sign: float = 1.0,
) -> Any:  # fmt: skip
    """Walk downhill with the slopes written out; the options are the ways in which it goes wrong."""
    w = b = total_w = total_b = 0.0
    for _ in range(turns):
        error = w * length + b - mass
        slope_w = scale * float(np.sum(error * length))
        if in_turn:
            error = (w - rate * slope_w) * length + b - mass
        slope_b = scale * float(np.sum(error))
        total_w, total_b = (total_w + slope_w, total_b + slope_b) if keep else (slope_w, slope_b)
        w -= sign * rate * total_w if "w" in by else 0.0
        b -= sign * rate * total_b if "b" in by else 0.0
    return np.array([w, b])


def descend_wrongly(**options: Any) -> Callable[..., Any]:
    """Return an answer to exercise 3 that goes wrong in the given ways."""
    return lambda *given: descent(*given, **options)


PENGUINS = np.random.default_rng(2002)
LENGTH = PENGUINS.normal(size=40)
MASS = 0.7 * LENGTH + 2.0 + 0.3 * PENGUINS.normal(size=40)


def walk(turns: int, rate: float) -> Case:
    """Return the case of some turns; numbers in float32, which is what most frameworks begin with, will do."""

    def of(fit: Any) -> Any:
        given = fit(LENGTH.copy(), MASS.copy(), turns, rate)
        if (not isinstance(given, tuple | list) and np.shape(given) != (2,)) or len(given) != 2:
            raise NotYet(f"Your function returns {shorten(given)}. It must return two numbers: `return w, b`.")
        return [number(detach(value), name) for name, value in zip("wb", given, strict=True)]

    return Case(
        of,
        f"For 40 hidden points, {turns} turn{'s' * (turns > 1)} and the rate {rate:g}, w and b should be {{answer}}, and "
        "yours are {given}. It starts with zeros, and takes the mean.",
        within=1e-4,
    )


FIT = Function(
    "The same fit in another framework",
    """\
Fit a straight line once more, in **another framework**: PyTorch, JAX or TensorFlow, whichever you have. If you have none, write it in JAX's style, without a tape: a function of the parameters, `loss(w, b)`, and `ad.grad(loss, argnums=(0, 1))`, the function that returns its two slopes.

`fit(length, mass, turns, rate)` is given two NumPy arrays. It starts with `w = 0` and `b = 0`. Each turn it takes the loss, the mean of (w · length + b − mass)², takes both slopes, and goes downhill by `rate` times the gradient. It returns `w` and `b` after the last turn, as two numbers.""",
    signature="fit(length, mass, turns, rate)",
    returns=("w", "b"),
    cases=[walk(7, 0.05), walk(1, 0.1)],
    answer=descent,
    spellings=[
        lambda *given: tuple(descent(*given).astype("float32")),
        lambda *given: [ad.constant(each) for each in descent(*given)],
    ],
    hints=[
        (lambda *given: (0.0, 0.0), "w and b are still 0. Do you assign the new values in each turn?"),
        (lambda *given: descent(*given)[::-1], "The two numbers are in the wrong order: return w first, then b."),
        (descend_wrongly(sign=-1.0), "It walks uphill. Subtract rate times the gradient."),
        (
            descend_wrongly(keep=True),
            "The first turn is right, then the steps get too long: the gradients of earlier turns are added in. In "
            "PyTorch, set w.grad and b.grad to zero after each step.",
        ),
        (
            descend_wrongly(scale=2.0),
            "The steps are 40 times too long, for 40 penguins: the loss is the mean of the squares, not their sum.",
        ),
        (
            descend_wrongly(scale=1.0 / 40),
            "The steps are half as long as they should be. The loss is the mean of the squares, without a factor 1/2.",
        ),
        (
            descend_wrongly(by="w"),
            "b stays 0. `grad` differentiates only the first argument unless you say `argnums=(0, 1)`.",
        ),
        (descend_wrongly(by="b"), "w stays 0. Is it watched, and assigned?"),
        (
            descend_wrongly(in_turn=True),
            "w is right after the first turn, b is not: its slope was taken after w had moved. Take both slopes first.",
        ),
        (
            lambda length, mass, turns, rate: descent(length, mass, 1, rate),
            "That is the first turn alone. Does the `return` end the loop in its first turn?",
        ),
        (
            lambda length, mass, turns, rate: descent(length, mass, turns, 1.0),
            "The steps are as long as the gradient. Multiply it by `rate` first.",
        ),
        (lambda length, mass, turns, rate: descent(length, mass, turns + 1, rate), "That is one turn too many."),
        (lambda length, mass, turns, rate: descent(length, mass, turns - 1, rate), "That is one turn too few."),
        (
            lambda length, mass, turns, rate: np.polyfit(length, mass, 1),
            "That is the best line. The exercise asks for the line after a number of turns.",
        ),
    ],
    why="The same turns, the same numbers. If a framework took the slopes for you: once you know one tape, you know the "
    "others.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, TEN_SIGMOIDS, RECOMPUTE, FIT)
