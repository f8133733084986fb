"""Hessian and Newton: a step that is tried and damped, second derivatives across, and four steps judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Record, Seed
from ...trace.hook import hook
from ..exercises import Case, Choice, Function, Table, short
from ..feedback import NotYet, near
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "The input has shape (2,). What shape does the Jacobian of its gradient have?",
        answer=(2, 2),
        hints={
            (2,): "That's the gradient. Each of its two slopes may change with each of the two inputs.",
            (4,): "Four numbers is right. A Jacobian keeps its two axes apart.",
        },
        why="The gradient's shape, (2,), and then that of the source, (2,).",
    ),
    Prediction(
        "How many of Newton's steps does it take to the lowest point of the bowl?",
        answer=1,
        hints={
            2: "There are two inputs, but one step moves in both. How good is the model of a quadratic function?",
            5: "That's for the valley, which isn't quadratic. What is the model of a quadratic function?",
        },
        why="The quadratic model of a quadratic function is the function itself.",
    ),
    Prediction(
        "How much too high is Newton's loss after turn 4?",
        answer="about 2e-8",
        choices=("about 2e-5", "about 1e-6", "about 2e-8"),
        hints={
            "about 2e-5": "From 3e-3 to 5e-5 was a factor of 60, and the one before only 10. The factors grow.",
            "about 1e-6": "The factor was 10, then 60. Does it stay at 60, or does it grow again?",
        },
        why="Each turn roughly squares the error: twice as many digits are correct.",
    ),
    Prediction(
        "Where does Newton's method end if it starts at 0.3?",
        answer=0,
        hints={
            1: "That's where descent would go. What does the parabola look like where the curvature is negative?",
            -1: "It starts on the other side. And what does the parabola look like where the curvature is negative?",
        },
        why="The model is upside down there, and its flat place is its top.",
    ),
    Prediction(
        "The kernel has 40 numbers. The last relu lets 17 of the 42 outputs through. Along how many main directions does the "
        "loss curve?",
        answer=17,
        hints={
            40: "The loss sees the kernel only through the outputs that get through.",
            42: "25 of them are 0, and stay 0 if the kernel moves a little.",
            25: "Those are 0, and stay 0 if the kernel moves a little.",
        },
        why="Each output that gets through is linear in the kernel, and adds at most one direction.",
    ),
    Prediction(
        "Along 23 directions the loss doesn't curve. How large is its slope along them?",
        answer="0, too",
        choices=("0, too", "as large as elsewhere", "infinite"),
        hints={
            "as large as elsewhere": "Only 17 outputs count in the loss. Along these directions none of the 17 changes.",
            "infinite": "A slope is finite here. What changes along a direction in which none of the 17 outputs changes?",
        },
        why="None of the 17 outputs changes along them, so neither does the mean of their squares.",
    ),
)

Step = Callable[..., Any]
DAMPINGS = 10.0 ** np.arange(-3, 7)


def bowl(p: Any) -> Any:
    """Return a quadratic function, whose model is right everywhere."""
    return 3 * p[0] ** 2 + 2 * p[0] * p[1] + 5 * (p[1] - 2) ** 2


def cone(p: Any) -> Any:
    """Return a function that is nearly straight far from its lowest point."""
    return np.sum(np.sqrt(1 + p**2))


def valley(p: Any) -> Any:
    """Return Rosenbrock's function."""
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


def wells(p: Any) -> Any:
    """Return a curve with two lowest points and a hill between them."""
    return np.sum(p**4 - 2 * p**2)


STARTS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "the bowl, from (10, -7)": (bowl, [10.0, -7.0]),
    "√(1 + x²), from 1.01": (cone, [1.01]),
    "the valley, from (-0.99, 0.98)": (valley, [-0.99, 0.98]),
    "x⁴ - 2x², from 0.3": (wells, [0.3]),
}
"""Functions, and the points where a step begins."""


def try_step(damp: Step, f: Callable[[Any], Any], x: list[float]) -> Any:
    """Return the step that a learner's function takes; stop a search that never ends."""
    asked = 0

    def height(x: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > 500:
            raise NotYet(
                "I stop after 500 calls of f. Does your damping grow from turn to turn, and does the loop end?"
            )
        return float(f(np.asarray(x, dtype=float)))

    at = np.array(x)
    try:
        return damp(height, at, ad.grad(f)(at).numpy().copy(), ad.hessian(f)(at).numpy().copy())
    except NotYet as hint:
        if "returns None" in str(hint):  # as the template does if no step is good enough
            return np.zeros_like(at)
        raise


def describe_step(start: str) -> Callable[[Any, Any], str]:
    """Return what writes the hint for a step that is wrong: by its damping, if it has one."""
    f, x = STARTS[start]
    gradient, hessian = ad.grad(f)(np.array(x)).numpy(), ad.hessian(f)(np.array(x)).numpy()

    def find_damping(step: Any) -> str:
        for damping in (0.0, *DAMPINGS):
            if np.shape(step) == np.shape(x) and near(step, solve_damped(gradient, hessian, damping)):
                return f"{damping:,.15g}"
        return ""

    def describe(given: Any, right: Any) -> str:
        damping, wanted = find_damping(given), find_damping(right)
        if damping:
            return f"For {start}, you return the step with damping {damping}, and the rule gives the one with {wanted}."
        if np.shape(given) == np.shape(x) and not np.any(given):
            return (
                f"For {start}, you return no step, and the rule takes the one with damping {wanted}. Look at "
                "the step's sign, and at the condition."
            )
        return f"For {start}, your step is {short(given)}, and the rule gives {short(right)}, with damping {wanted}."

    return describe


def solve_damped(gradient: Any, hessian: Any, damping: Any) -> Any:
    """Return Newton's step with damping on the diagonal."""
    return -np.linalg.solve(hessian + damping * np.eye(len(gradient)), gradient)


def falls_by_a_tenth(change: Any, promise: Any) -> bool:
    """Return whether a step points downhill, and keeps a tenth of what its slope promises."""
    return bool(promise < 0 and change <= 0.1 * promise)


def invert_damped(gradient: Any, hessian: Any, damping: float) -> Any:
    """Return the damped step by the inverse."""
    return np.linalg.inv(hessian + damping * np.eye(len(gradient))) @ -gradient


def search(
    is_good: Callable[..., Any] = falls_by_a_tenth,
    solve: Callable[..., Any] = solve_damped,
    dampings: Any = DAMPINGS,
    result: Callable[..., Any] = lambda step, x, damping: step,
) -> Step:
    """Return a search for the first damping whose step is good."""

    def damp(f: Any, x: Any, gradient: Any, hessian: Any) -> Any:
        for damping in dampings:
            step = solve(gradient, hessian, damping)
            if is_good(f(x + step) - f(x), gradient @ step):
                return result(step, x, damping)
        return np.zeros_like(x)

    return damp


def halve_instead(f: Any, x: Any, gradient: Any, hessian: Any) -> Any:
    """Halve a step whose damping stays."""
    step, t = solve_damped(gradient, hessian, 1e-3), 1.0
    while t > 1e-12 and not falls_by_a_tenth(f(x + t * step) - f(x), t * (gradient @ step)):
        t = t / 2
    return t * step


def stop_uphill(f: Any, x: Any, gradient: Any, hessian: Any) -> Any:
    """Return zeros if the first step points uphill."""
    step = solve_damped(gradient, hessian, DAMPINGS[0])
    return search()(f, x, gradient, hessian) if gradient @ step < 0 else np.zeros_like(x)


DAMPED = Function(
    "Try, and damp",
    """\
In the text, a step that was too long was halved. Here it's damped instead: write `damp(f, x, gradient, hessian)` for any number of inputs. Of the steps with damping 0.001, 0.01, 0.1, … on the diagonal, it returns the first that

- points downhill: `gradient @ step` is below 0, and
- keeps its promise: `f(x + step)` is at most `f(x)` plus a tenth of `gradient @ step`.""",
    signature="damp(f, x, gradient, hessian)",
    cases=[
        Case(lambda damp, start=start: try_step(damp, *start), describe_step(name))  # type: ignore[misc]
        for name, start in STARTS.items()
    ],
    answer=search(),
    spellings=[
        search(solve=invert_damped),
        lambda *args: ad.constant(search()(*args)),
    ],
    hints=[
        (
            lambda f, x, gradient, hessian: solve_damped(gradient, hessian, 1e-3),
            "You return the first step untried. Return it only if it points downhill and keeps its promise.",
        ),
        (
            search(lambda change, promise: change <= 0.1 * promise),
            "For x⁴ - 2x² from 0.3, the step you return points uphill. There `gradient @ step` is above 0, so your bound "
            "allows the function to rise. Ask for `gradient @ step < 0` as well.",
        ),
        (
            search(lambda change, promise: promise < 0),
            "You return the first step that points downhill, untried. Ask for f at `x + step` as well.",
        ),
        (
            search(lambda change, promise: promise < 0 and change < 0),
            "You take a step as soon as the function falls. It should fall by at least a tenth of the promise.",
        ),
        (
            search(lambda change, promise: change < 0),
            "You take a step as soon as the function falls. It should fall by at least a tenth of the promise.",
        ),
        (
            search(lambda change, promise: promise < 0 and change <= promise),
            "You ask for all that the slope promises. On the bowl, even the best step keeps only half of it. A tenth is "
            "enough.",
        ),
        (
            search(lambda change, promise: promise < 0 and change <= 0.5 * promise),
            "You ask for half of what the slope promises. A tenth of it is enough.",
        ),
        (
            search(lambda change, promise: promise < 0 and change <= -0.1 * promise),
            "`gradient @ step` is below 0 for a step downhill. Add a tenth of it, don't subtract.",
        ),
        (
            search(lambda change, promise: promise < 0 and change > 0.1 * promise),
            "You return a step that breaks its promise. Turn the condition round.",
        ),
        (
            search(lambda change, promise: promise > 0 and change <= 0.1 * promise),
            "A step points downhill if `gradient @ step` is *below* 0.",
        ),
        (
            search(solve=lambda gradient, hessian, damping: -np.linalg.solve(hessian + damping, gradient)),
            "`hessian + damping` adds to every number of the matrix. Only the diagonal gets the damping: "
            "`damping * np.eye(len(x))`.",
        ),
        (
            search(solve=lambda gradient, hessian, damping: solve_damped(gradient, hessian, -damping)),
            "You subtract the damping. A curvature of -2.92 then gets further below 0. Add it.",
        ),
        (
            search(solve=lambda gradient, hessian, damping: -solve_damped(gradient, hessian, damping)),
            "Your step has the wrong sign: it solves (H + ε) s = gradient. Newton's step has −gradient there.",
        ),
        (
            search(solve=lambda gradient, hessian, damping: -gradient / damping),
            "That is a step along the gradient, with rate 1/ε. The Hessian is missing.",
        ),
        (
            search(solve=lambda gradient, hessian, damping: -gradient / (np.diag(hessian) + damping)),
            "You divide by the diagonal alone. The numbers beside it count too: solve with the whole matrix.",
        ),
        (
            search(solve=lambda gradient, hessian, damping: -(hessian + damping * np.eye(len(gradient))) @ gradient),
            "You multiply by the matrix. The step *solves* with it: `np.linalg.solve(matrix, -gradient)`.",
        ),
        (
            search(lambda change, promise: promise < 0 or change <= 0.1 * promise),
            "A step is good if it points downhill *and* keeps its promise: `and`, not `or`.",
        ),
        (
            halve_instead,
            "You shorten the step and leave its damping at 0.001. Try the whole step with ten times the damping.",
        ),
        (
            stop_uphill,
            "For x⁴ - 2x² from 0.3 you give up, because the first step points uphill. More damping turns it: go on.",
        ),
        (
            search(dampings=(0.0, *DAMPINGS)),
            "You try damping 0 first. The first is 0.001.",
        ),
        (
            search(dampings=2.0 ** np.arange(40) * 1e-3),
            "You double the damping from turn to turn. Each is ten times the one before.",
        ),
        (
            search(dampings=1e-3 * np.arange(1, 200_000)),
            "You add 0.001 from turn to turn. Each damping is ten times the one before.",
        ),
        (
            search(dampings=DAMPINGS[::-1]),
            "You begin with the largest damping, which nearly any function accepts. Begin with 0.001.",
        ),
        (
            search(result=lambda step, x, damping: x + step),
            "That's where the step leads, `x + step`. Return the step.",
        ),
        (
            search(result=lambda step, x, damping: damping),
            "That's the damping. Return the step that it gives.",
        ),
        (
            lambda f, x, gradient, hessian: np.zeros_like(x),
            "You return no step for any function, and on the bowl the first one is good enough. Is a `return` missing, or is your condition never true?",
        ),
    ],
    why="Damping above the size of the most negative curvature points the step downhill; the function says when it's short enough.",
    minutes=9,
)

PLACE = np.array([0.5, -0.75, 1.25])
DATA = np.array([1.5, 0.25, -0.5])
FEW, MANY = np.array([0.5, -0.25]), np.array([[1.0, 0.5], [-0.5, 2.0], [0.25, -1.0], [1.5, 1.0]])


def twist(w: Any, x: Any) -> Any:
    """Return a function of two arrays of three numbers."""
    return np.sum(np.sin(w * x)) + w[0] * x[1] ** 2 + w[2] ** 3


def fit(w: Any, x: Any) -> Any:
    """Return a loss over four rows of data."""
    return np.mean(np.exp(x @ w))


def ask_for_cross(cross: Callable[..., Any], f: Callable[..., Any], *points: Any) -> Any:
    """Return what is said of f, which refuses to be called at other points."""
    events: list[Event] = []

    def here(*given: Any) -> Any:
        plain = [each.numpy() if isinstance(each, ad.Tensor) else each for each in given]
        if len(plain) == 2 and not all(map(np.array_equal, plain, points)):
            if all(map(np.array_equal, plain, points[::-1])):
                raise NotYet("You call f(x, w). Its first argument is w: f(w, x).")
            raise NotYet(
                "You call f at another point than w and x, as a difference does. Tapes are exact up to rounding; a "
                "finite difference is not."
            )
        return f(*given)

    try:
        with hook(events.append):
            return cross(here, *(point.copy() for point in points))
    except NotYet as hint:
        raise NotYet(explain_none(events) if "returns None" in str(hint) else str(hint)) from hint.__cause__


def explain_none(events: list[Event]) -> str:
    """Return the hint for second derivatives that are None."""
    seed = next((place for place, event in enumerate(events) if isinstance(event, Seed)), len(events))
    tapes = [{id(event.tape) for event in part if isinstance(event, Record)} for part in (events[:seed], events[seed:])]
    if tapes[1]:
        return "You get None, although a tape recorded the gradient. Is a `return` missing, or does that tape watch w alone?"
    if len(tapes[0]) > 1:
        return "You get None: the outer tape hasn't seen the gradient. Take it inside the outer tape's block."
    return "You get None. Does the outer tape watch x? Is a `return` missing?"


def use_tapes(
    ask: Callable[..., Any], inside: bool = True, inner_source: str = "w", watch_w: bool = True
) -> Callable[..., Any]:
    """Return what two tapes find, the outer one asked by `ask(tape, gradient, w, x)`."""

    def cross(f: Any, w: Any, x: Any) -> Any:
        w, x = ad.constant(w), ad.constant(x)
        source = {"w": w, "x": x}[inner_source]
        with ad.GradientTape(persistent=True) as outer:
            outer.watch([w, x])
            with ad.GradientTape(persistent=True) as inner:
                if watch_w:
                    inner.watch([w, x])
                y = f(w, x)
            gradient = inner.gradient(y, source) if inside else None
        return ask(outer, gradient if inside else inner.gradient(y, source), w, x)

    return cross


two_tapes = use_tapes(lambda tape, gradient, w, x: tape.jacobian(gradient, x))

CROSS = Function(
    "How the slope depends on the data",
    """\
A loss `f(w, x)` depends on parameters and on data. Its gradient with respect to `w` changes if the data change: by how much? Write `cross(f, w, x)`. It returns the derivative of each number of that gradient with respect to each number of `x`, of shape `w.shape + x.shape`. Here `w` and `x` may have any shapes.""",
    signature="cross(f, w, x)",
    cases=[
        Case(lambda cross: ask_for_cross(cross, twist, PLACE, DATA)),
        Case(lambda cross: ask_for_cross(cross, fit, FEW, MANY)),
    ],
    answer=two_tapes,
    spellings=[
        lambda f, w, x: ad.jacobian(lambda x: ad.grad(lambda w: f(w, x))(w))(x),
        lambda f, w, x: np.float32(two_tapes(f, w, x)),
    ],
    hints=[
        (
            use_tapes(lambda tape, gradient, w, x: tape.jacobian(gradient, w), inner_source="x"),
            "The two sources are exchanged: that's how the gradient with respect to x depends on w. The inner tape's "
            "source is w, the outer one's x.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: tape.jacobian(gradient, w)),
            "That's the Hessian with respect to w: how the gradient changes as *w* does. Ask the outer tape about x.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: tape.jacobian(gradient, x), inner_source="x"),
            "That's the Hessian with respect to x. The inner gradient is the one with respect to w.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: gradient),
            "That's the gradient with respect to w. Ask the outer tape for its Jacobian with respect to x.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: gradient, inner_source="x"),
            "That's the gradient with respect to x, a first derivative. Begin with the gradient with respect to w.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: tape.gradient(gradient, x)),
            "`outer.gradient` of several numbers adds their slopes up. Ask for `outer.jacobian`, which keeps them apart.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: np.diag(np.diag(tape.jacobian(gradient, x)))),
            "Your matrix has the right diagonal, and zeros beside it. Each slope may change with every number of x.",
        ),
        (
            lambda f, w, x: np.outer(ad.grad(lambda w: f(w, x))(w).numpy(), ad.grad(lambda x: f(w, x))(x).numpy()),
            "That's one gradient times the other: products of first derivatives. No second derivative is in it.",
        ),
        (lambda f, w, x: -two_tapes(f, w, x), "Every number has the right size and the wrong sign."),
        (
            lambda f, w, x: two_tapes(f, w, x).numpy().reshape(w.size, x.size),
            "For vectors it's right. For x of shape (4, 2) your result has shape (2, 8), and it should be (2, 4, 2): "
            "the shape of w, and then that of x. `jacobian` gives it so.",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: tape.jacobian(gradient, x), watch_w=False),
            "The inner gradient is None. Does the inner tape watch w before it calls f?",
        ),
        (
            use_tapes(lambda tape, gradient, w, x: tape.jacobian(gradient.numpy(), x)),
            "The outer tape is asked about plain numbers, which no tape follows. Leave the gradient a tensor.",
        ),
    ],
    otherwise="Your result is {given}, and it should be {answer}. Is it the Jacobian, with respect to x, of the gradient "
    "with respect to w?",
    why="Row by row it says how far each slope of the fit moves if one number of the data does.",
    minutes=8,
)


def remedy(answer: str, **hints: str) -> Choice:
    """Return the form for one step of exercise 3."""
    return Choice(answer=answer, choices=("take", "halve", "turn", "damp"), hints=hints)


JUDGED = Table(
    "Four of Newton's steps",
    """\
Four steps, each with the eigenvalues of its Hessian (the curvatures along its main directions), `gradient @ step`, the length of the step, and the function before and after. Which remedy does each need: `"take"` (none), `"halve"` (try a part of it), `"turn"` (use the sizes of the curvatures, or damp by more than the size of the most negative one), or `"damp"` (a little, against 0/0)?

| | curvatures | `gradient @ step` | length | before | after |
|---|---|---|---|---|---|
| a | 0.5 and 2 | −1.2 | 1.1 | 3.10 | 2.47 |
| b | −2.9 and 2 | 0.41 | 0.4 | −0.05 | 0.11 |
| c | 120 and 0.8 | −3.9 | 2.0 | 4.0 | 1,500 |
| d | 0.4 and 0.00000000000000002 | −0.1 | 23 | 0.05 | 4.6 |""",
    parts={
        "a": remedy(
            "take",
            halve="In a, the function fell by more than a tenth of what the slope promised.",
            turn="In a, both curvatures are above 0.",
            damp="In a, no curvature is near 0.",
        ),
        "b": remedy(
            "turn",
            take="In b, the function has risen.",
            halve="In b, gradient @ step is above 0. Does half of it lead downhill?",
            damp="In b, no curvature is near 0. A little damping leaves one of them below 0.",
        ),
        "c": remedy(
            "halve",
            take="In c, the function has risen, from 4 to 1,500.",
            turn="In c, the step points downhill: gradient @ step is below 0.",
            damp="In c, no curvature is near 0. The step points downhill. Which part of it would have been good?",
        ),
        "d": remedy(
            "damp",
            take="In d, the function has risen.",
            halve="In d, halving would save this step. But why is it so long? Look at the second curvature.",
            turn="In d, no curvature is below 0 by more than rounding.",
        ),
    },
    why="The sign of the slope tells whether to turn, a curvature near 0 whether to damp; the function itself decides the length.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, DAMPED, CROSS, JUDGED)
