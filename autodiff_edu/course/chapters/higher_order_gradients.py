"""The exercises of chapter 11, higher orders: a third derivative, input-gradient regularisation, a gradient penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad
from autodiff_edu import nn

from ...core.events import Event, Outcome, Seed, Watch
from ...trace.hook import hook
from ..exercises import Case, Function
from ..feedback import NotYet, forbid, near, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "If every pixel moves by 0.3, up or down by the toss of a coin, in how many of 100 will the network be right?",
        answer=100,
        hints={
            50: "That would be so if the network were guessing. What do 144 random pushes on a score add up to?",
            30: "Coin tosses don't know what the network looks at. Do their effects add up, or cancel?",
        },
        why="Random pushes mostly cancel; the network doesn't even notice.",
    ),
    Prediction(
        "The first derivative of x³ at x = 1 is 3. What will the outer tape return for the second?",
        answer=6,
        hints={
            3: "That's the first: 3x². Differentiate once more.",
            1: "1 is the value of x³.",
            2: "Differentiate 3x², not x².",
            None: "The outer tape is still recording when the inner one is asked.",
        },
        why="3x² has the slope 6x.",
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
        "What will `derivative` return for the third derivative of x * x?",
        answer=None,
        hints={
            0: "On paper, yes. But is there a path from the second derivative, the constant 2, back to x?",
            2: "That's the second derivative.",
        },
        why="The constant 2 is not computed from x, so no path leads back.",
    ),
    Prediction(
        "How will the tape for tanh go on growing after 1, 4 and 10 entries?",
        answer="by a factor of more than 2 for each order",
        choices=(
            "by 6 or 7 entries for each order",
            "by a factor of more than 2 for each order",
            "by a factor that sinks towards 1",
        ),
        hints={
            "by 6 or 7 entries for each order": "Each tape records the whole backward pass of the tape inside it.",
            "by a factor that sinks towards 1": "Every entry inside becomes one or more entries of its backward pass.",
        },
        why="Each tape holds all that happened inside it, and the backward pass of that.",
    ),
    Prediction(
        "`to_x` has the shape of the input. What shape is the gradient of its norm with respect to the kernel?",
        answer=(5, 10),
        hints={
            (7, 5): "That's the shape of the input, and of `to_x`. What is the source now?",
            (10, 5): "The kernel is multiplied from the right: 5 inputs, 10 outputs.",
            (7, 10): "That's the shape of the layer's output.",
            (10,): "That's the bias.",
        },
        why="The kernel takes 5 numbers to 10, and a gradient has its source's shape.",
    ),
    Prediction(
        "What will the first derivative and the second be?",
        answer="27 and None",
        choices=("27 and 18", "27 and None", "None and None", "27 and 0"),
        hints={
            "27 and 18": "What did the outer tape see of the backward pass?",
            "None and None": "The inner tape has recorded both multiplications, and it can be asked at any time.",
            "27 and 0": "Zero would be an answer. What did the outer tape see of the backward pass?",
        },
        why="The inner tape knows all it needs; the outer one was closed when `slope` was computed.",
    ),
    Prediction(
        "How will the network trained with weight 0.3 do, compared with the first one?",
        answer="better under the nudge, as good on untouched ones",
        choices=(
            "better under the nudge, as good on untouched ones",
            "better under the nudge, much worse on untouched ones",
            "no better under the nudge",
        ),
        hints={
            "better under the nudge, much worse on untouched ones": "Rings and crosses differ in dozens of pixels. "
            "Must a score be steep to tell them apart?",
            "no better under the nudge": "A nudge of 0.3 moves the score by 0.3 times its slopes. Which are smaller?",
        },
        why="Its score is flatter, and these pictures are easy enough to allow that.",
    ),
)

WITHIN = 1e-4  # three derivatives of float32 numbers are not closer
A = 1.437
HIDDEN: dict[str, Callable[[Any], Any]] = {"x**5": lambda x: x**5, "np.sin(2 * x)": lambda x: np.sin(2.0 * x)}
"""Where exercise 1 differentiates, and what."""


class Run:
    """One call of a learner's `third`: what it returned, and how many tapes it asked for a gradient."""

    def __init__(self, function: Callable[..., Any], written: str) -> None:
        f = HIDDEN[written]
        self.events: list[Event] = []
        self.before: list[tuple[int, Any]] = []  # for each call of f, the events so far and its x
        ready_made = {ad.value_and_grad(f).__code__: "ad.grad", ad.hessian(f).__code__: "ad.hessian"}
        ready_made[ad.jacobian(f).__code__] = "ad.jacobian"

        def observed(x: Any) -> Any:
            self.before.append((len(self.events), x))
            return f(x)

        try:
            with hook(self.events.append):
                self.result = function(forbid(observed, ready_made, "three tapes, one inside another."), ad.constant(A))
        except NotYet as error:
            outcomes = [event for event in self.events if isinstance(event, Outcome)]
            if "target is None" in str(error.__cause__):
                raise NotYet("A tape is asked for the gradient of None. " + self.why_none()) from error
            if "returns None" in str(error) and outcomes and outcomes[-1].result is None:
                raise NotYet("third(f, x) returns None. " + self.why_none()) from error
            raise
        self.asked = len({id(event.tape) for event in self.events if isinstance(event, Seed)})

    def why_none(self) -> str:
        """Explain a gradient that is None."""
        start, x = self.before[0] if self.before else (len(self.events), None)
        if any(isinstance(event, Watch) and event.tensor is x for event in self.events[start:]):
            return "One of them begins to watch x after f(x) has been computed. Each tape has to watch it before that."
        watching = len({id(event.tape) for event in self.events[:start] if isinstance(event, Watch)})
        if watching < 3:
            return f"Three tapes follow x only if each of them watches it, and {watching} of them did."
        return (
            "A gradient was taken after the tape around it had stopped recording. Each gradient goes inside the `with` "
            "of the next tape."
        )

    def mixes_up(self) -> bool:
        """Return whether three tapes found another derivative of x**5."""
        return self.asked == 3 and any(near(self.result, wrong, WITHIN) for wrong in (A**5, 5 * A**4, 20 * A**3))


def nest_tapes(order: int) -> Callable[..., Any]:
    """Return a function that takes a derivative of this order, by as many tapes."""

    def derivative(f: Any, x: Any) -> Any:
        if not order:
            return f(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = nest_tapes(order - 1)(f, x)
        return tape.gradient(y, x)

    return derivative


def forward(f: Any) -> Any:
    """Return the derivative of a function by forward mode."""
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def ask_three_times(f: Any, x: Any, persistent: bool = True) -> Any:
    """Ask one tape three times, while it records."""
    with ad.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        return tape.gradient(tape.gradient(tape.gradient(f(x), x), x), x)


def with_number(f: Any, x: Any, number: Callable[[Any], Any]) -> Any:
    """Make a number of the first derivative."""
    with ad.GradientTape() as tape:
        tape.watch(x)
        first = number(nest_tapes(1)(f, x))
    return tape.gradient(first, x)


PLAIN = (
    "Between two tapes a gradient has become a plain number, which no tape follows. Hand it on as it is, without float or "
    ".numpy()."
)
CHAIN = "The target of each tape is the gradient that the tape inside it returned."
FEWER = "Each tape takes one derivative, and you need three."

THIRD = Function(
    "A third derivative",
    """\
Write a function that returns the third derivative of `f` at `x`, a constant. Use three tapes, one inside another: no `ad.grad`, `ad.jacobian` or `ad.hessian`, and no tape that answers twice.""",
    signature="third(f, x)",
    returns=("the third derivative",),
    cases=[
        Case(
            lambda f: Run(f, "x**5").mixes_up(),
            "You ask three tapes, but not each for the gradient that the tape inside it returned: the result is another "
            "derivative than the third.",
        ),
        *(
            Case(
                lambda f, written=written: Run(f, written).result,  # type: ignore[misc]
                f"The third derivative of {written} at {A} is {{answer}}; your function returns {{given}}. {CHAIN}",
                within=WITHIN,
            )
            for written in HIDDEN
        ),
        Case(
            lambda f: Run(f, "np.sin(2 * x)").asked,
            "The number is right, but {given} tapes were asked. Use three, and ask each of them once.",
        ),
    ],
    answer=nest_tapes(3),
    hints=[
        (nest_tapes(0), f"This is the value of f. {FEWER}"),
        (nest_tapes(1), f"This is the first derivative. {FEWER}"),
        (nest_tapes(2), f"This is the second derivative. {FEWER}"),
        (nest_tapes(4), "This is the fourth derivative. Use one tape fewer."),
        (
            lambda f, x: forward(forward(forward(f)))(x),
            "The number is right, but no tape was asked for a gradient. Let three tapes find it.",
        ),
        (
            ask_three_times,
            "The number is right, but a single tape answered again and again, and recorded its own backward passes. Use "
            "three tapes, one inside another.",
        ),
        (
            lambda f, x: ask_three_times(f, x, persistent=False),
            "A tape is asked a second time. Use three tapes, each with a name of its own, and ask each once.",
        ),
        (lambda f, x: with_number(f, x, lambda slope: slope.numpy()), PLAIN),
        (lambda f, x: with_number(f, x, float), PLAIN),
    ],
    why="Three tapes, three backward passes, and all but the last are recorded by the tapes around them.",
    minutes=10,
)


def regularise(function: Callable[..., Any]) -> Any:
    """Return the gradients that a learner's function returns for a hidden layer, in one row, or a list with a None."""
    random = np.random.default_rng(923)
    x, wanted = random.standard_normal((4, 3)), random.standard_normal((4, 2))
    layer = nn.Dense(2, activation=np.tanh)
    layer.kernel = ad.Variable(random.standard_normal((3, 2)), name="kernel")
    layer.bias = ad.Variable(random.standard_normal(2), name="bias")
    try:
        given = function(layer, ad.constant(x), wanted)
    except NotYet as error:
        if "NoneType" in str(error.__cause__):
            raise NotYet("You compute with a gradient that is None. Does the inner tape watch x?") from error
        raise
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"I need two gradients, with respect to the kernel and the bias, and got {shorten(given)}.")
    if any(part is None or part is ... for part in given):
        return list(given)
    shapes = [np.shape(part) for part in given]
    if shapes != [(3, 2), (2,)]:
        raise NotYet(
            f"For a kernel (3, 2) and a bias (2,) your gradients have the shapes {shapes[0]} and {shapes[1]}. A "
            "gradient has its source's shape, and the sources are the layer's variables."
        )
    return np.concatenate([np.ravel(np.asarray(part)) for part in given])


def with_loss(
    loss: Callable[[Any, Any], Any], mean: Callable[..., Any] = np.mean, *, target: str = "error", source: str = "x"
) -> Callable[..., Any]:
    """Return a function that differentiates a loss of the error and of the gradient of a target."""

    def gradients(layer: Any, x: Any, wanted: Any) -> Any:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                inner.watch(x)
                output = layer(x)
                error = mean((output - wanted) ** 2)
            target_of, source_of = {"error": error, "output": output}, {"x": x, "kernel": layer.kernel}
            total = loss(error, inner.gradient(target_of[target], source_of[source]))
        return outer.gradient(total, [layer.kernel, layer.bias])

    return gradients


def take_kernel(layer: Any, x: Any, wanted: Any) -> Any:
    """Take the kernel itself in place of the gradient."""
    with ad.GradientTape() as tape:
        loss = np.mean((layer(x) - wanted) ** 2) + 0.5 * np.sum(layer.kernel**2)
    return tape.gradient(loss, [layer.kernel, layer.bias])


def both(error: Any, slope: Any) -> Any:
    """Return the loss of exercise 2."""
    return error + 0.5 * np.sum(slope**2)


def rows(slope: Any) -> Any:
    """Return the norm of each row."""
    return np.linalg.norm(slope, axis=1)


UNCONNECTED = (
    "A gradient is None. An outer tape must watch the layer's variables, and it must be recording while the loss is "
    "computed, from the layer to the sum. The variables are its sources."
)
ALONE = "These are the gradients of the term alone. Add the error."
EACH_SAMPLE = "You took a norm for each sample. The term is the sum of all squares."

REGULARISED = Function(
    "Input-gradient regularisation of a dense layer",
    """\
The loss is `error + 0.5 * term`. The error is the mean of the squares of `layer(x) - wanted`. The term is the sum of the squares of the gradient **of the error** with respect to the input `x`.

Return the gradients of the loss with respect to the layer's kernel and its bias, in this order. `x` is a constant, `wanted` an array.""",
    signature="regularised(layer, x, wanted)",
    returns=("the gradient with respect to the kernel", "the gradient with respect to the bias"),
    cases=[
        Case(
            regularise,
            "For a hidden layer these are the gradients of another loss than error + 0.5 * np.sum(to_x**2), or a part "
            "of the way to it is hidden from the outer tape.",
            within=WITHIN,
        )
    ],
    answer=with_loss(both),
    spellings=[with_loss(lambda error, slope: error + sum(np.sum(row * row) for row in slope) / 2)],
    hints=[
        (lambda layer, x, wanted: (None, ...), UNCONNECTED),
        (lambda layer, x, wanted: (..., None), UNCONNECTED),
        (
            lambda *args: with_loss(both)(*args)[::-1],
            "The two gradients have changed places: the kernel comes first, then the bias.",
        ),
        (
            with_loss(lambda error, slope: error),
            "These are the gradients of the error alone; the term is a constant to your outer tape. Take the gradient "
            "with respect to x inside the outer `with`, and keep it a tensor.",
        ),
        (with_loss(lambda error, slope: 0.5 * np.sum(slope**2)), ALONE),
        (with_loss(lambda error, slope: np.sum(slope**2)), ALONE),
        (with_loss(lambda error, slope: error + np.sum(slope**2)), "The term counts half: error + 0.5 * term."),
        (
            with_loss(lambda error, slope: error - 0.5 * np.sum(slope**2)),
            "You subtracted the term. It should be small, like the error: add it.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * np.linalg.norm(slope)),
            "You took the norm. The term is the sum of the squares, without the root.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * np.mean(slope**2)),
            "You took the mean of the squares. The term is their sum.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * np.mean(np.sum(slope**2, axis=1))),
            "You took the mean over the samples. The term is the sum of all squares.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * np.sum(slope)),
            "You took the sum of the gradient. Square its elements before you add them up.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * np.sum(slope) ** 2),
            "You squared the sum. Square the elements before you add them up.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * np.sum(np.abs(slope))),
            "You took the sizes of the elements. The term is the sum of their squares.",
        ),
        (
            with_loss(both, target="output"),
            "Your term has the gradient of the layer's output with respect to x. It should be the gradient of the error.",
        ),
        (
            with_loss(both, np.sum),
            "Your error is the sum of the squares of `layer(x) - wanted`. It should be their mean.",
        ),
        (
            with_loss(both, lambda squares: np.sum(squares) / len(squares)),
            "Your error is the sum of the squares, divided by the samples. It should be the mean of all squares.",
        ),
        (
            with_loss(lambda error, slope: 0.5 * (error + np.sum(slope**2))),
            "You halved the error as well. Only the term counts half: error + 0.5 * term.",
        ),
        (
            with_loss(lambda error, slope: error + 0.5 * slope**2),
            "Your loss isn't one number: it holds the error once for each element of to_x. Sum the squares first.",
        ),
        (with_loss(lambda error, slope: error + 0.5 * np.sum(rows(slope))), EACH_SAMPLE),
        (with_loss(lambda error, slope: error + 0.5 * np.mean(rows(slope))), EACH_SAMPLE),
        (
            with_loss(both, source="kernel"),
            "Your term has the gradient with respect to the kernel. It should be with respect to the input x.",
        ),
        (
            take_kernel,
            "Your term has the kernel itself, which is called weight decay. It should have the gradient of the error "
            "with respect to x.",
        ),
    ],
    why="Both terms count, and the term is differentiated through the gradient inside it.",
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
    "A penalty per sample, between real and generated",
    """\
Write the gradient penalty: the mean, over the samples, of (norm − 1)², where each norm is that of the critic's gradient at `share * real + (1 - share) * fake`. `critic(x)` returns one number per sample. `real` and `fake` are constants with a row per sample, and `share` is a column, with a number for each of them.
The check differentiates what you return with respect to the critic's weights, so keep it a tensor.""",
    signature="penalty(critic, real, fake, share)",
    returns=("the penalty",),
    cases=[
        Case(
            lambda f: penalise(f)[0],
            "For a hidden critic and five pairs of samples the penalty is {answer}; yours is {given}. In this order: "
            "mix, take the gradient, the norm of each row, minus 1, squared, and the mean.",
            within=WITHIN,
        ),
        Case(
            lambda f: penalise(f)[1],
            "The value is right, but its gradient isn't: part of the calculation is hidden from the tape around it. Is "
            "there a float, a .numpy() or a stop_gradient on the way?",
            within=WITHIN,
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
    minutes=9,
)

QUESTIONS = (*PREDICTIONS, THIRD, REGULARISED, PENALTY)
