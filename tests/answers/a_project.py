"""Answers to the projects of chapter 28: whole ones, and those that break off at each milestone."""

import json
import subprocess
import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import autodiff_edu as ad
from autodiff_edu.course.chapters.project_tape import OPERATIONS, PAIRS, run_on_tape

# 28.1: physics ----------------------------------------------------------------------------------------------------


def slope(u, x):
    return ad.jvp(u, (x,), (np.ones_like(x),))[1]


def second(u, x):
    return slope(lambda x: slope(u, x), x)


def by_tapes(u, x):
    x = ad.constant(x)
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = u(x)
        first = inner.gradient(y, x)
    return outer.gradient(first, x)


def by_diagonal(u, x):
    return np.diag(ad.jacobian(ad.grad(lambda x: np.sum(u(x))))(x))


def by_differences(u, x):
    return (u(x + 1e-4) - 2 * u(x) + u(x - 1e-4)) / 1e-8


def by_half_differences(u, x):
    return (slope(u, x + 1e-5) - slope(u, x - 1e-5)) / 2e-5


def parts(u):
    x, zero = np.linspace(0.0, np.pi, 20), np.array([0.0])
    return {
        "equation": np.mean((second(u, x) + u(x)) ** 2),
        "start": u(zero)[0] ** 2,
        "speed": (slope(u, zero)[0] - 1.0) ** 2,
    }


def loss(u):
    return sum(parts(u).values())


def by_nested_tapes(u):
    x, zero = np.linspace(0.0, np.pi, 20), np.array([0.0])
    return np.mean((by_tapes(u, x) + u(x)) ** 2) + u(zero)[0] ** 2 + (slope(u, zero)[0] - 1.0) ** 2


def without(*names):
    return lambda u: sum(part for name, part in parts(u).items() if name not in names)


PLACES = np.linspace(0.0, np.pi, 20)


def residuals(u, x=PLACES):
    return second(u, x) + u(x)


def total(u):
    return lambda x: np.sum(u(x))


def by_products(u, x):
    return ad.hvp(total(u), (x,), (np.ones_like(x),))


def forward_over_reverse(u, x):
    return ad.jvp(ad.grad(total(u)), (x,), (np.ones_like(x),))[1]


def reverse_over_forward(u, x):
    return ad.grad(lambda x: np.sum(slope(u, x)))(x)


def twice_reverse(u, x):
    return ad.grad(total(ad.grad(total(u))))(x)


def by_one_tape(u, x):
    x = ad.Variable(x)
    with ad.GradientTape(persistent=True) as tape:
        first = tape.gradient(u(x), x)
    return tape.gradient(first, x)


def number_by_number(u, x):
    return np.stack([ad.grad(ad.grad(u))(one) for one in ad.constant(x)])


def by_rows(u, x):
    return np.sum(ad.hessian(total(u))(x), axis=1)


def by_batch(u, x):
    x = ad.constant(x)[:, None]
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = u(x)
        first = inner.batch_jacobian(y, x)[:, :, 0]
    return outer.batch_jacobian(first, x)[:, 0, 0]


ROUTES = (
    by_products,
    forward_over_reverse,
    reverse_over_forward,
    twice_reverse,
    by_one_tape,
    number_by_number,
    by_rows,
    by_batch,
)
"""Ways to u'' by what the course has taught, beside nested tapes, nested tangents and the Hessian's diagonal."""


def loss_by(route):
    return lambda u: np.mean((route(u, PLACES) + u(PLACES)) ** 2) + ends(u)


def energy(u):
    return np.mean((slope(u, PLACES) ** 2 + u(PLACES) ** 2 - 1.0) ** 2) + ends(u)


def by_better_differences(u, x):
    """Take differences of fourth order of slopes: they have as many digits as a float here."""
    near, far = (slope(u, x + h) - slope(u, x - h) for h in (1e-3, 2e-3))
    return (8.0 * near - far) / 12e-3


def one_by_one(u):
    x = np.linspace(0.0, np.pi, 40)
    return np.sum(np.stack([(ad.grad(ad.grad(u))(t) + u(t)) ** 2 for t in x])) + without("equation")(u)


def ends(u):
    return u(np.zeros(1))[0] ** 2 + (slope(u, np.zeros(1))[0] - 1.0) ** 2


def supervised(u):
    x = np.linspace(0.0, np.pi, 20)
    return np.mean((u(x) - np.sin(x)) ** 2)


def supervised_slopes(u):
    x = np.linspace(0.0, np.pi, 20)
    return np.mean((slope(u, x) - np.cos(x)) ** 2) + parts(u)["start"]


def conditions(u):
    zero = np.array([0.0])
    return u(zero)[0] + slope(u, zero)[0] - 1.0


def at_its_top(u):
    return without("speed")(u) + (u(np.array([np.pi / 2]))[0] - 1.0) ** 2


def supervised_curvature(u):
    x = np.linspace(0.0, np.pi, 20)
    return np.mean((second(u, x) + np.sin(x)) ** 2) + without("equation")(u)


def speed_of_either_sign(u):
    return without("speed")(u) + (slope(u, np.array([0.0]))[0] ** 2 - 1.0) ** 2


def at_one_point(u):
    x, zero = np.array([2.0]), np.array([0.0])
    return (second(u, x) + u(x))[0] ** 2 + u(zero)[0] ** 2 + (slope(u, zero)[0] - 1.0) ** 2


AT_PI = np.array([np.pi])
FIT = np.polynomial.Chebyshev.fit(np.linspace(0.0, np.pi, 50), np.sin(np.linspace(0.0, np.pi, 50)), 5)


def near_sine(x):
    return FIT(np.asarray(x))


def off(start, end):
    x = np.linspace(start, end, 500)
    return np.abs(near_sine(x) - np.sin(x))


ERRORS = {"inside": off(0.0, np.pi).max(), "outside": off(np.pi, 2 * np.pi).max()}
PHYSICS = {"second": second, "loss": loss, "solution": near_sine, "errors": ERRORS}


def tilted(x):
    return 0.01 - 0.04 * x / np.pi


SINE = 0.97 * np.sin(np.linspace(0.0, np.pi, 5))

# 28.2: attention --------------------------------------------------------------------------------------------------


def shares(scores, axis=-1):
    weights = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def scores(q, k, power=0.5):
    return np.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** power


def mix(p, v):
    return np.einsum("bqk,bkd->bqd", p, v)


def attend(q, k, v):
    return mix(shares(scores(q, k)), v)


def by_matmul(q, k, v):
    return shares(q @ np.swapaxes(k, 1, 2) / np.sqrt(q.shape[-1])) @ v


def unguarded(q, k, v):
    weights = np.exp(scores(q, k))
    return mix(weights / np.sum(weights, axis=-1, keepdims=True), v)


def past(q):
    return np.tri(q.shape[1], dtype=bool)


def causal(q, k, v):
    return mix(shares(np.where(past(q), scores(q, k), -np.inf)), v)


def by_large_number(q, k, v):
    return mix(shares(scores(q, k) - 1e9 * ~past(q)), v)


def overflowing(q, k, v):
    weights = np.exp(scores(q, k)) * past(q)
    return mix(weights / np.sum(weights, axis=-1, keepdims=True), v)


def masked_late(q, k, v):
    seen = shares(scores(q, k)) * past(q)
    return mix(seen / np.sum(seen, axis=-1, keepdims=True), v)


def pulled(to_scores):
    """Return a `pull` whose way through the softmax is the given one."""

    def pull(q, k, v, g):
        p = shares(scores(q, k))
        s = to_scores(p, np.einsum("bqd,bkd->bqk", g, v), np.sqrt(q.shape[-1]))
        return np.einsum("bqk,bkd->bqd", s, k), np.einsum("bqk,bqd->bkd", s, q), np.einsum("bqk,bqd->bkd", p, g)

    return pull


def through(p, g, axis):
    return p * (g - np.sum(p * g, axis=axis, keepdims=True))


pull = pulled(lambda p, g, root: through(p, g, -1) / root)


def pull_causal(q, k, v, g):
    p = shares(np.where(past(q), scores(q, k), -np.inf))
    s = through(p, np.einsum("bqd,bkd->bqk", g, v), -1) / np.sqrt(q.shape[-1])
    return np.einsum("bqk,bkd->bqd", s, k), np.einsum("bqk,bqd->bkd", s, q), np.einsum("bqk,bqd->bkd", p, g)


def with_a_tape(q, k, v, g):
    q, k, v = ad.constant(q), ad.constant(k), ad.constant(v)
    with ad.GradientTape() as tape:
        tape.watch([q, k, v])
        y = attend(q, k, v)
    return tape.gradient(y, [q, k, v], output_gradients=g)


def blocks(f, x):
    return np.abs(ad.jacobian(f)(x).numpy())


def reach(f, x):
    return blocks(f, x).sum(axis=(1, 3)) > 1e-12


def by_nudges(f, x):
    """Nudge one token after the other, and see which outputs move."""
    tokens = len(x)
    table = np.zeros((tokens, tokens), dtype=bool)
    for j in range(tokens):
        nudged = x.copy()
        nudged[j] += np.random.default_rng(j).normal(size=x.shape[1])
        table[:, j] = np.any(np.abs(np.asarray(f(nudged)) - np.asarray(f(x))) > 1e-12, axis=1)
    return table


ATTENTION = {"attend": attend, "causal": causal, "pull": pull, "reach": reach}

# 28.3: convolution ------------------------------------------------------------------------------------------------


def slide(image, kernel):
    return np.einsum("ijkl,kl->ij", sliding_window_view(image, kernel.shape), kernel)


def by_shifts(image, kernel):
    rows, columns = image.shape[0] - kernel.shape[0] + 1, image.shape[1] - kernel.shape[1] + 1
    return sum(
        kernel[k, n] * image[k : k + rows, n : n + columns]
        for k in range(kernel.shape[0])
        for n in range(kernel.shape[1])
    )


def padded(kernel, g):
    return np.pad(g, [(size - 1, size - 1) for size in kernel.shape])


def to_image(kernel, g):
    return slide(padded(kernel, g), kernel[::-1, ::-1])


def fixed(image, kernel):
    return np.einsum("ijkl,kl->ij", sliding_window_view(image, (3, 3)), kernel)


def by_einsum(image, g):
    return np.einsum("ijkl,ij->kl", sliding_window_view(image, (3, 3)), g)


def to_kernel_of_nine(image, g):
    rows, columns = g.shape
    return [[np.sum(image[k : k + rows, n : n + columns] * g) for n in range(3)] for k in range(3)]


def scattered(kernel, g, add=True):
    image = np.zeros((g.shape[0] + kernel.shape[0] - 1, g.shape[1] + kernel.shape[1] - 1))
    for i in range(g.shape[0]):
        for j in range(g.shape[1]):
            place = np.s_[i : i + kernel.shape[0], j : j + kernel.shape[1]]
            image[place] = image[place] * add + g[i, j] * kernel
    return image


def with_tape(image, g):
    kernel = ad.Variable(np.zeros([a - b + 1 for a, b in zip(image.shape, g.shape, strict=True)]))
    with ad.GradientTape() as tape:
        y = slide(image, kernel)
    return tape.gradient(y, kernel, output_gradients=g)


EDGE = np.array([[0.0, 0.0, 0.0], [-0.99, 0.01, 1.0], [0.0, 0.0, -0.02]])
CONVOLUTION = {"slide": slide, "to_kernel": slide, "to_image": to_image, "learned": EDGE}

# 28.4: a tape in another language ---------------------------------------------------------------------------------

SLOPES = {
    "add": lambda x, y: (1.0, 1.0),
    "sub": lambda x, y: (1.0, -1.0),
    "mul": lambda x, y: (y, x),
    "div": lambda x, y: (1 / y, -x / y**2),
    "sin": lambda x: (np.cos(x),),
    "cos": lambda x: (-np.sin(x),),
    "exp": lambda x: (np.exp(x),),
    "log": lambda x: (1 / x,),
}


def one(program, rules=SLOPES, add=lambda old, new: old + new, start=None, kind=float):
    values = [kind(value) for value in program["inputs"]]
    for name, *at in program["operations"]:
        values.append(kind(OPERATIONS[name](*[values[n] for n in at])))
    sums = start if start is not None else [0.0] * 100
    sums[: len(values)] = sums[: len(values)] if start is not None else [0.0] * len(values)
    sums[len(values) - 1] = 1.0
    for number, (name, *at) in reversed(list(enumerate(program["operations"], len(program["inputs"])))):
        for n, slope in zip(at, rules[name](*[values[n] for n in at]), strict=True):
            sums[n] = add(sums[n], kind(sums[number] * slope))
    return {"value": float(values[-1]), "gradient": [float(s) for s in sums[: len(program["inputs"])]]}


def forward(program):
    values = list(program["inputs"])
    for name, *at in program["operations"]:
        values.append(float(OPERATIONS[name](*[values[n] for n in at])))
    sums = [0.0] * (len(values) - 1) + [1.0]
    for number, (name, *at) in enumerate(program["operations"], len(program["inputs"])):
        for n, slope in zip(at, SLOPES[name](*[values[n] for n in at]), strict=True):
            sums[n] += sums[number] * slope
    return {"value": values[-1], "gradient": [float(s) for s in sums[: len(program["inputs"])]]}


def tape(judge=one, **how):
    return lambda text: json.dumps([judge(program, **how) for program in json.loads(text)])


def answering(change):
    """Return a tape whose every answer is changed before it is written."""
    return lambda text: json.dumps([change(run_on_tape(program)) for program in json.loads(text)])


def never_emptied(text):
    total = [0.0] * 40
    answers = []
    for program in json.loads(text):
        answer = run_on_tape(program)
        for place, slope in enumerate(answer["gradient"]):
            total[place] += slope
        answers.append(answer | {"gradient": total[: len(answer["gradient"])]})
    return json.dumps(answers)


def only_used(text):
    answers = []
    for program in json.loads(text):
        answer = run_on_tape(program)
        used = {n for _, *at in program["operations"] for n in at}
        answers.append(answer | {"gradient": [s for n, s in enumerate(answer["gradient"]) if n in used]})
    return json.dumps(answers)


def started(code):
    return lambda text: (
        subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True).stdout
    )


def rounded(program):
    answer = run_on_tape(program)
    return {"value": float(f"{answer['value']:.7g}"), "gradient": [float(f"{s:.7g}") for s in answer["gradient"]]}


def chains_only(program):
    """Differentiate as if both inputs of an operation were different."""
    return one(program, SLOPES | {name: once(name) for name in PAIRS})


def once(name):
    return lambda x, y: SLOPES[name](x, y) if x is not y else (SLOPES[name](x, y)[0], 0.0)


RIGHT = {
    1: [
        PHYSICS,
        PHYSICS | {"second": by_tapes},
        PHYSICS | {"second": by_diagonal},
        PHYSICS | {"second": by_tapes, "loss": by_nested_tapes},
        *(PHYSICS | {"second": route, "loss": loss_by(route)} for route in ROUTES),
        PHYSICS
        | {"loss": lambda u: np.mean(residuals(u, np.random.default_rng(3).uniform(0, np.pi, 60)) ** 2) + ends(u)},
        PHYSICS | {"loss": lambda u: np.trapezoid(residuals(u) ** 2, PLACES) + ends(u)},
        PHYSICS | {"loss": lambda u: np.linalg.norm(residuals(u)) + np.abs(u(np.zeros(1))[0]) + parts(u)["speed"]},
        PHYSICS | {"loss": lambda u: np.mean(residuals(u, np.linspace(0.05, 2 * np.pi, 50)) ** 2) + ends(u)},
        PHYSICS | {"loss": lambda u: 10 * loss(u) + parts(u)["start"]},
        PHYSICS | {"loss": lambda u: np.reshape(loss(u), (1,))},
        PHYSICS | {"loss": lambda u: 1e4 * loss(u) - 9999 * parts(u)["equation"]},
        PHYSICS | {"loss": lambda u: np.mean(np.abs(residuals(u))) + without("equation")(u)},
        PHYSICS | {"loss": lambda u: np.max(np.abs(residuals(u))) + without("equation")(u)},
        PHYSICS | {"loss": one_by_one},
        PHYSICS | {"loss": lambda u: np.log(1.0 + parts(u)["equation"]) + without("equation")(u)},
        PHYSICS | {"solution": lambda x: near_sine(x)[:, None]},
        PHYSICS | {"solution": lambda x: ad.constant(near_sine(x))},
        PHYSICS | {"errors": {name: np.float32(f"{error:.1e}") for name, error in ERRORS.items()}},
    ],
    2: [
        ATTENTION,
        ATTENTION | {"attend": by_matmul, "causal": by_large_number},
        ATTENTION | {"pull": lambda q, k, v, g: list(pull(q, k, v, g))},
        ATTENTION | {"pull": lambda q, k, v, g: np.array(pull(q, k, v, g))},
        ATTENTION | {"reach": by_nudges},
        ATTENTION | {"reach": lambda f, x: reach(f, x).astype(int).tolist()},
    ],
    3: [
        CONVOLUTION,
        CONVOLUTION | {"slide": by_shifts, "to_image": scattered},
        CONVOLUTION | {"learned": ad.Variable(EDGE)},
        CONVOLUTION | {"learned": EDGE.tolist()},
    ],
    4: [
        tape(),
        tape(run_on_tape),
        lambda text: tape()(text).encode(),
        lambda text: json.loads(tape()(text)),
        lambda text: json.dumps([{**run_on_tape(program), "took": 3} for program in json.loads(text)], indent=1),
    ],
}

WRONG = {
    1: [
        ({}, "0 of 4 milestones reached. Next, `second`"),
        ({"second": second}, "1 of 4 milestones reached. Next, `loss`"),
        ({"second": second, "loss": loss}, "2 of 4 milestones reached. Next, `solution`"),
        (PHYSICS | {"errors": ...}, "3 of 4 milestones reached. Next, `errors`"),
        (PHYSICS | {"report": 1}, "No milestone is called `'report'`"),
        (PHYSICS | {"second": lambda u, x: ...}, "Next, `second`"),
        (PHYSICS | {"second": lambda u, x: u(x)}, "u itself"),
        (PHYSICS | {"second": slope}, "the first derivative"),
        (PHYSICS | {"second": lambda u, x: slope(u, x) ** 2}, "u' squared"),
        (PHYSICS | {"second": lambda u, x: second(u, x) / 2}, "half of"),
        (PHYSICS | {"second": lambda u, x: -second(u, x)}, "Where does the sign"),
        (PHYSICS | {"second": by_differences}, "without a step size"),
        (PHYSICS | {"second": by_half_differences}, "without a step size"),
        (PHYSICS | {"second": by_better_differences}, r"asks for u at 0\.298, which isn't in x"),
        (PHYSICS | {"loss": energy}, "nor what follows from it"),
        (
            PHYSICS | {"loss": lambda u: np.mean(residuals(u, np.linspace(2.0, np.pi, 20)) ** 2) + ends(u)},
            r"Between 0\.00 and 2\.00, your loss asks nothing",
        ),
        (PHYSICS | {"second": lambda u, x: second(u, x).numpy()}, "plain numbers"),
        (PHYSICS | {"second": lambda u, x: ad.hessian(lambda x: np.sum(u(x)))(x)}, "a matrix of slopes"),
        (PHYSICS | {"second": lambda u, x: np.sum(second(u, x))}, "returns one number"),
        (PHYSICS | {"second": lambda u, x: second(u, x)[:2]}, "has the shape"),
        (PHYSICS | {"second": lambda u, x: ad.jvp(u, (x,), (np.ones_like(x),))}, "the second of the two"),
        (PHYSICS | {"second": lambda u, x: lambda x: second(u, x)}, "returns a function"),
        (PHYSICS | {"second": lambda u, x: second(u, x) + x}, "of a hidden u"),
        (PHYSICS | {"second": 3.0}, "without calling it"),
        (PHYSICS | {"loss": lambda u: ...}, "Next, `loss`"),
        (PHYSICS | {"loss": without("start", "speed")}, r"u\(x\) = 0 also"),
        (PHYSICS | {"loss": without("speed")}, r"u\(x\) = 0 also"),
        (PHYSICS | {"loss": without("start")}, r"sin\(x\) \+ cos\(x\)/2 also"),
        (PHYSICS | {"loss": lambda u: parts(u)["equation"] + (u(np.array([0.5 * np.pi]))[0] - 1.0) ** 2}, "cos"),
        (PHYSICS | {"loss": without("equation")}, "Is the equation in it"),
        (PHYSICS | {"loss": lambda u: np.mean((second(u, SINE) - u(SINE)) ** 2) + without("equation")(u)}, "sinh"),
        (PHYSICS | {"loss": lambda u: -loss(u)}, "below 0"),
        (PHYSICS | {"loss": lambda u: loss(u) + 1.0}, "which is the solution"),
        (PHYSICS | {"loss": supervised}, "asks for more than the equation"),
        (PHYSICS | {"loss": lambda u: loss(u) + supervised(u)}, "asks for more than the equation"),
        (PHYSICS | {"loss": at_its_top}, "at another place than 0"),
        (
            PHYSICS | {"loss": lambda u: without("speed")(u) + (slope(u, AT_PI)[0] + 1.0) ** 2},
            "at another place than 0",
        ),
        (PHYSICS | {"loss": lambda u: parts(u)["equation"] + conditions(u)}, "the two conditions too"),
        (PHYSICS | {"loss": lambda u: without("start")(u) + u(np.array([0.0]))[0]}, "the two conditions too"),
        ({"second": second, "solution": near_sine, "errors": ERRORS}, "3 of 4 milestones reached. Next, `loss`"),
        (PHYSICS | {"second": by_differences}, "3 of 4 milestones reached. Milestone 1, `second`"),
        ({"errors": ERRORS}, "0 of 4 milestones reached. Next, `second`"),
        (PHYSICS | {"solution": lambda x: 0.5 * near_sine(x)}, "2 of 4 milestones reached. Milestone 3"),
        (PHYSICS | {"loss": lambda u: float(loss(u))}, "plain numbers"),
        (PHYSICS | {"second": lambda u, x: slope(slope(u, x), x)}, "takes a function, and not its values"),
        (PHYSICS | {"loss": supervised_slopes}, "asks for more than the equation"),
        (PHYSICS | {"loss": supervised_curvature}, "asks for more than the equation"),
        (PHYSICS | {"loss": lambda u: np.mean(residuals(u)) ** 2 + without("equation")(u)}, "Square first"),
        (PHYSICS | {"loss": lambda u: np.abs(np.mean(residuals(u))) + without("equation")(u)}, "Square first"),
        (PHYSICS | {"loss": speed_of_either_sign}, r"-sin\(x\) also"),
        (PHYSICS | {"loss": at_one_point}, "in 2 places, the last of them at 2.00"),
        (PHYSICS | {"loss": lambda weights: weights["w"] ** 2}, "takes it for weights"),
        (PHYSICS | {"loss": residuals}, "one number: take the mean"),
        (PHYSICS | {"loss": lambda u: tuple(parts(u).values())}, "Add the parts up"),
        (PHYSICS | {"solution": np.sin}, "to the last digit"),
        (PHYSICS | {"solution": lambda x: 0.01 * x}, "0 everywhere"),
        (PHYSICS | {"solution": lambda x: -near_sine(x)}, "-sin"),
        (PHYSICS | {"solution": lambda x: 0.5 * near_sine(x)}, "0.5 · sin"),
        (PHYSICS | {"solution": lambda x: near_sine(x) + 0.1 * x}, "At most 0.05 is asked for"),
        (PHYSICS | {"solution": lambda x: near_sine(x)[:, None] * np.ones(2)}, "one number for each x"),
        (PHYSICS | {"solution": lambda x: np.full_like(x, np.nan)}, "not finite"),
        (PHYSICS | {"solution": lambda x: ...}, "Next, `solution`"),
        (PHYSICS | {"errors": {"inside": 0.01}}, "No error is given for outside"),
        (PHYSICS | {"errors": ERRORS | {"outside": ...}}, "Still missing: outside"),
        (PHYSICS | {"errors": ERRORS | {"outside": off(np.pi, 2 * np.pi).mean()}}, "outside: That's the mean"),
        (PHYSICS | {"errors": ERRORS | {"outside": np.sqrt(np.mean(off(np.pi, 2 * np.pi) ** 2))}}, "mean square"),
        (PHYSICS | {"errors": ERRORS | {"outside": ERRORS["outside"] ** 2}}, "Take its root"),
        (PHYSICS | {"errors": ERRORS | {"outside": -1.0}}, "the largest error outside is not -1.*take `np.abs`"),
        (PHYSICS | {"errors": dict(zip(ERRORS, reversed(ERRORS.values()), strict=True))}, "have changed places"),
        (PHYSICS | {"errors": {name: 100 * error for name, error in ERRORS.items()}}, "inside: That's in percent"),
        (
            PHYSICS | {"solution": lambda x: np.sin(x) + tilted(x), "errors": {"inside": 0.01, "outside": 0.07}},
            "inside: That's the largest difference with its sign",
        ),
        (
            PHYSICS | {"solution": lambda x: np.sin(x) - tilted(x), "errors": {"inside": 0.01, "outside": 0.07}},
            "inside: That's the largest difference on one side only",
        ),
        (PHYSICS | {"errors": ERRORS | {"inside": 0.5}}, "the largest error inside is not 0.5"),
        (
            PHYSICS | {"solution": lambda x: 1.026 * near_sine(x), "errors": {"inside": 0.03, "outside": 1.0}},
            "inside: I asked for two significant digits",
        ),
        (PHYSICS | {"errors": 0.01}, "I need a dict"),
    ],
    2: [
        ({}, "0 of 4 milestones reached. Next, `attend`"),
        ({"attend": attend, "causal": causal}, "2 of 4 milestones reached. Next, `pull`"),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k, 0.0)), v)}, "aren't divided by √d"),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k, 1.0)), v)}, "divided by d. It"),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k, -0.5)), v)}, "multiplied by √d"),
        (
            ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k, 0.0) / np.sqrt(q.shape[1])), v)},
            "the number of tokens",
        ),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k), 1), v)}, "along the queries"),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k), 0), v)}, "along the sentences"),
        (ATTENTION | {"attend": lambda q, k, v: attend(k, q, v)}, "Queries and keys"),
        (ATTENTION | {"attend": lambda q, k, v: mix(scores(q, k), v)}, "softmax is missing"),
        (ATTENTION | {"attend": lambda q, k, v: mix(np.exp(scores(q, k)), v)}, "don't add up to 1"),
        (ATTENTION | {"attend": lambda q, k, v: mix(np.swapaxes(shares(scores(q, k)), 1, 2), v)}, "transposed"),
        (ATTENTION | {"attend": lambda q, k, v: shares(scores(q, k))}, "returns the table of shares"),
        (
            ATTENTION | {"attend": lambda q, k, v: attend(q, k, v)[0]},
            "should have the shape (5, 6, 3), and yours has the shape (6, 3)",
        ),
        (ATTENTION | {"attend": lambda q, k, v: attend(q, k, v) + 1.0}, "The first number should be"),
        (ATTENTION | {"attend": unguarded}, "Scores of 1000"),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k, 0.0) / 2.0), v)}, "√d was 2 in the chapter"),
        (ATTENTION | {"attend": lambda q, k, v: attend(q, v, k)}, "Keys and values"),
        (ATTENTION | {"attend": lambda q, k, v: shares(q @ k.T / np.sqrt(q.shape[-1])) @ v}, "turns all three axes"),
        (ATTENTION | {"attend": lambda q, k, v: attend(q, k, k)}, "You mix the keys"),
        (ATTENTION | {"attend": lambda q, k, v: list(attend(q, k, v))}, "together by np.stack"),
        (
            ATTENTION
            | {
                "causal": lambda q, k, v: mix(
                    shares(np.where(np.tri(q.shape[1], k=1, dtype=bool), scores(q, k), -np.inf)), v
                )
            },
            "sees the next one, too",
        ),
        (ATTENTION | {"causal": masked_late}, "mask the scores first"),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(np.clip(scores(q, k), -50, 50)), v)}, "clipped"),
        (ATTENTION | {"attend": lambda q, k, v: np.nan_to_num(unguarded(q, k, v))}, "clipped or replaced"),
        (ATTENTION | {"attend": lambda q, k, v: np.asarray(attend(q, k, v))}, "plain numbers"),
        (ATTENTION | {"attend": lambda q, k, v: attend(q, ad.stop_gradient(k), v)}, "the gradient None"),
        (ATTENTION | {"attend": lambda q, k, v: ...}, "Next, `attend`"),
        (ATTENTION | {"causal": lambda q, k, v: ...}, "Next, `causal`"),
        (ATTENTION | {"causal": attend}, "Nothing is masked"),
        (ATTENTION | {"causal": lambda q, k, v: mix(shares(scores(q, k)) * past(q), v)}, "after the softmax"),
        (ATTENTION | {"causal": lambda q, k, v: mix(shares(scores(q, k) * past(q)), v)}, "multiply scores by 0"),
        (
            ATTENTION | {"causal": lambda q, k, v: mix(shares(np.where(past(q).T, scores(q, k), -np.inf)), v)},
            "the wrong way round",
        ),
        (
            ATTENTION | {"causal": lambda q, k, v: mix(shares(np.where(past(q), scores(q, k, 0.0), -np.inf)), v)},
            "aren't divided by √d",
        ),
        (
            ATTENTION
            | {
                "causal": lambda q, k, v: mix(
                    shares(np.where(np.tri(q.shape[1], k=-1, dtype=bool), scores(q, k), -np.inf)), v
                )
            },
            "It should see itself",
        ),
        (ATTENTION | {"causal": lambda q, k, v: mix(shares(scores(q, k) + ~past(q) * -np.inf), v)}, "by np.where"),
        (
            ATTENTION | {"causal": lambda q, k, v: mix(shares(np.where(past(q), scores(q, k), -30)), v)},
            "not just small",
        ),
        (ATTENTION | {"causal": overflowing}, "Subtract each row's largest"),
        (ATTENTION | {"causal": lambda q, k, v: causal(q, k, v) / 2}, "above the diagonal"),
        (ATTENTION | {"pull": lambda q, k, v, g: ...}, "Next, `pull`"),
        (ATTENTION | {"pull": lambda q, k, v, g: (..., ..., ...)}, "Next, `pull`"),
        (
            ATTENTION | {"pull": lambda q, k, v, g: g},
            "Return the cotangent of q, the cotangent of k and the cotangent of v",
        ),
        (ATTENTION | {"pull": with_a_tape}, "A tape recorded"),
        (ATTENTION | {"pull": lambda q, k, v, g: np.take(pull(q, k, v, g), [1, 0, 2], axis=0)}, "order k, q, v"),
        (
            ATTENTION | {"pull": lambda q, k, v, g: tuple(np.take(pull(q, k, v, g), [1, 0, 2], axis=0))},
            "order k, q, v",
        ),
        (ATTENTION | {"pull": lambda q, k, v, g: pull(q, k, v, g)[::-1]}, "order v, k, q"),
        (
            ATTENTION | {"pull": pulled(lambda p, g, root: p * (g - np.sum(p * g, axis=-1, keepdims=True)))},
            "For q: the scores were divided",
        ),
        (ATTENTION | {"pull": pulled(lambda p, g, root: p * g / root)}, "isn't elementwise"),
        (ATTENTION | {"pull": pulled(lambda p, g, root: p * (1 - p) * g / root)}, "only the diagonal"),
        (
            ATTENTION | {"pull": pulled(lambda p, g, root: p * (g - np.sum(p * g, axis=-1, keepdims=True)) / root**2)},
            "√d is taken twice",
        ),
        (ATTENTION | {"attend": lambda q, k, v: mix(shares(scores(q, k, 0.0) / np.sqrt(len(q))), v)}, "sentences"),
        (ATTENTION | {"pull": pulled(lambda p, g, root: g / root)}, "didn't pass through"),
        (ATTENTION | {"pull": pulled(lambda p, g, root: through(p, g, 1) / root)}, "along the queries"),
        (ATTENTION | {"pull": pulled(lambda p, g, root: through(p, g, 0) / root)}, "along the sentences"),
        (ATTENTION | {"pull": pulled(lambda p, g, root: -through(p, g, -1) / root)}, "For q: every sign"),
        (
            ATTENTION | {"pull": pulled(lambda p, g, root: p * (g - np.sum(g, axis=-1, keepdims=True)) / root)},
            "Multiply them by the shares",
        ),
        (ATTENTION | {"pull": pull_causal}, "For v: that's the gradient of `causal`"),
        (
            ATTENTION | {"pull": lambda q, k, v, g: (*pull_causal(q, k, v, g)[:2], pull(q, k, v, g)[2])},
            "For q: that's the gradient of `causal`",
        ),
        (ATTENTION | {"pull": lambda q, k, v, g: tuple(-part for part in pull(q, k, v, g))}, "For v: every sign"),
        (ATTENTION | {"causal": ...}, "3 of 4 milestones reached. Next, `causal`"),
        (
            ATTENTION | {"pull": pulled(lambda p, g, root: g * 0.0)},
            "Now look at the cotangent of q. Compare with the tape step by step",
        ),
        (
            ATTENTION | {"pull": lambda q, k, v, g: (*pull(q, k, v, g)[:2], mix(shares(scores(q, k)), g))},
            "p must be transposed",
        ),
        (ATTENTION | {"pull": lambda q, k, v, g: (*pull(q, k, v, g)[:2], g)}, "goes into the mixtures"),
        (
            ATTENTION | {"pull": lambda q, k, v, g: (*pull(q, k, v, g)[:2], g[0])},
            "Now look at the cotangent of v. It should have the shape (5, 6, 3)",
        ),
        (ATTENTION | {"reach": lambda f, x: ...}, "Next, `reach`"),
        (ATTENTION | {"reach": lambda f, x: reach(f, x).T}, "The table is transposed"),
        (ATTENTION | {"reach": lambda f, x: ~reach(f, x)}, "True says that there is a slope"),
        (ATTENTION | {"reach": blocks}, "the whole Jacobian"),
        (ATTENTION | {"reach": lambda f, x: blocks(f, x).sum(axis=(1, 3))}, "True and False"),
        (
            ATTENTION | {"reach": lambda f, x: np.ones((4, 4))},
            r"says True at \[0, 1\], and output 0 has no slope with respect to token 1",
        ),
        (ATTENTION | {"reach": lambda f, x: blocks(f, x)[:, 0, :, 0] > 0}, "says False at"),
        (ATTENTION | {"reach": lambda f, x: blocks(f, x)[:, 0].sum(axis=-1) > 0}, "says False at"),
        (ATTENTION | {"reach": lambda f, x: blocks(f, x)[..., 0].sum(axis=1) > 0}, "says False at"),
        (ATTENTION | {"reach": lambda f, x: np.einsum("idjd->ij", blocks(f, x)) > 0}, "says False at"),
        (ATTENTION | {"reach": lambda f, x: reach(f, x)[0]}, "has the shape (4, 4)"),
        (
            ATTENTION | {"reach": lambda f, x: np.abs(ad.jacobian(f)(x).numpy().sum(axis=(1, 3))) > 1e-12},
            "cancel in the sum",
        ),
    ],
    3: [
        ({"slide": slide}, "1 of 4 milestones reached. Next, `to_kernel`"),
        (CONVOLUTION | {"slide": lambda image, kernel: ...}, "Next, `slide`"),
        (CONVOLUTION | {"slide": lambda image, kernel: slide(image, kernel[::-1, ::-1])}, "turned around. Networks"),
        (CONVOLUTION | {"slide": lambda image, kernel: slide(image, kernel) / 6}, "the mean of the products"),
        (CONVOLUTION | {"slide": lambda image, kernel: slide(image, np.ones_like(kernel))}, "numbers are missing"),
        (CONVOLUTION | {"slide": lambda image, kernel: slide(image, kernel) * 2}, "At the upper left"),
        (CONVOLUTION | {"slide": lambda image, kernel: image}, "as large as the image"),
        (CONVOLUTION | {"slide": lambda image, kernel: sliding_window_view(image, kernel.shape)}, "two axes"),
        (
            CONVOLUTION
            | {"slide": lambda image, kernel: np.sum(sliding_window_view(image, kernel.shape) * kernel, axis=(0, 1))},
            "the kernel's shape",
        ),
        (
            CONVOLUTION | {"slide": lambda image, kernel: np.sum(sliding_window_view(image, (3, 3)) * kernel, (2, 3))},
            "it isn't always 3 × 3",
        ),
        (CONVOLUTION | {"slide": lambda image, kernel: slide(image, kernel).T}, "has room for a kernel"),
        (CONVOLUTION | {"slide": lambda image, kernel: np.asarray(slide(image, kernel))}, "plain numbers"),
        (CONVOLUTION | {"slide": lambda image, kernel: slide(ad.stop_gradient(image), kernel)}, "gradient None"),
        (CONVOLUTION | {"to_kernel": lambda image, g: ...}, "Next, `to_kernel`"),
        (CONVOLUTION | {"to_kernel": lambda image, g: slide(image, g)[::-1, ::-1]}, "The result is turned"),
        (CONVOLUTION | {"to_kernel": lambda image, g: slide(image, g[::-1, ::-1])}, "g is turned around"),
        (CONVOLUTION | {"to_kernel": lambda image, g: slide(image, np.ones_like(g))}, "only if g is all ones"),
        (CONVOLUTION | {"to_kernel": lambda image, g: slide(image, g) / g.size}, "Contributions are added"),
        (CONVOLUTION | {"to_kernel": lambda image, g: slide(image, g) * 2}, "meets a number"),
        (CONVOLUTION | {"to_kernel": lambda image, g: g}, "here the kernel's"),
        (CONVOLUTION | {"to_kernel": lambda image, g: slide(image, g).T}, "so the kernel was"),
        (CONVOLUTION | {"to_kernel": with_tape}, "A tape recorded"),
        (CONVOLUTION | {"to_image": lambda kernel, g: ...}, "Next, `to_image`"),
        (CONVOLUTION | {"to_image": lambda kernel, g: slide(g, kernel)}, "Too small"),
        (CONVOLUTION | {"to_image": lambda kernel, g: g}, "larger than g"),
        (CONVOLUTION | {"to_image": lambda kernel, g: to_image(kernel, g).T}, "should have the shape (7, 9)"),
        (CONVOLUTION | {"to_image": lambda kernel, g: slide(padded(kernel, g), kernel)}, "in the opposite order"),
        (CONVOLUTION | {"to_image": lambda kernel, g: to_image(kernel[::-1], g)}, "also upside down"),
        (CONVOLUTION | {"to_image": lambda kernel, g: to_image(kernel[:, ::-1], g)}, "also left to right"),
        (CONVOLUTION | {"to_image": lambda kernel, g: to_image(kernel, g) * 2}, "Put a single 1"),
        (CONVOLUTION | {"learned": ...}, "3 of 4 milestones reached. Next, `learned`"),
        (CONVOLUTION | {"learned": np.zeros((3, 3))}, "still about 0"),
        (CONVOLUTION | {"learned": np.round(EDGE)}, "to the last digit"),
        (CONVOLUTION | {"learned": -EDGE}, "the wrong way round"),
        (CONVOLUTION | {"learned": -1.02 * EDGE}, "the wrong way round"),
        (CONVOLUTION | {"slide": ...}, "3 of 4 milestones reached. Next, `slide`"),
        (CONVOLUTION | {"slide": lambda image, kernel: fixed(image, kernel)}, "it isn't always 3 × 3"),
        (CONVOLUTION | {"to_kernel": lambda image, g: -slide(image, g)}, "Every sign"),
        (CONVOLUTION | {"to_image": lambda kernel, g: -to_image(kernel, g)}, "Every sign"),
        (CONVOLUTION | {"to_kernel": to_kernel_of_nine}, "Take its size from those of image and g"),
        (CONVOLUTION | {"to_kernel": lambda image, g: by_einsum(image, g)}, "Take its size from those of image and g"),
        (CONVOLUTION | {"to_image": lambda kernel, g: slide(np.pad(g, 2), kernel[::-1, ::-1])}, "not 3 × 3: pad"),
        (CONVOLUTION | {"to_image": lambda kernel, g: fixed(np.pad(g, 2), kernel[::-1, ::-1])}, "from `kernel.shape`"),
        (CONVOLUTION | {"to_image": lambda kernel, g: scattered(kernel, g, add=False)}, "`+=`, not `=`"),
        (CONVOLUTION | {"learned": EDGE.T}, "the transposed picture"),
        (CONVOLUTION | {"learned": 0.8 * EDGE}, "off by 0.21"),
        (CONVOLUTION | {"learned": np.full((3, 3), np.inf)}, "smaller steps"),
        (CONVOLUTION | {"learned": EDGE[:2]}, "3 × 3 numbers"),
        (CONVOLUTION | {"learned": np.full((3, 3), 5e129)}, "run away"),
        (CONVOLUTION | {"learned": None}, "training loop run"),
    ],
    4: [
        (lambda text: "\n".join(json.dumps(run_on_tape(each)) for each in json.loads(text)), "Print one list"),
        (answering(lambda answer: answer | {"gradient": [s or None for s in answer["gradient"]]}), "a null among"),
        (answering(lambda answer: answer | {"gradient": [None for _ in answer["gradient"]]}), "never set to 0"),
        (lambda text: str(json.loads(tape()(text))), "Is `json.dumps` missing"),
        (lambda text: subprocess.run("no such tape.js", input=text, check=True), "Write a list"),
        (tape(forward), "Does the walk begin at the last operation"),
        (answering(lambda answer: answer | {"value": None}), "JavaScript prints NaN that way"),
        (lambda text: subprocess.run([sys.executable, "-c", "print([])"], capture_output=True, check=True), ".stdout"),
        (started("import sys; sys.exit('TypeError: no\\n    at main\\n\\nNode.js v20')"), "It said `TypeError: no`"),
        (
            started("import sys; sys.exit(\"thread 'main' panicked at src/main.rs:2:5:\\nno rule\\nnote: run with\")"),
            "panicked at src/main.rs:2:5: no rule",
        ),
        (lambda text: ..., "Next, `values`"),
        (lambda text: None, "returns None"),
        (lambda text: "", "printed nothing"),
        (lambda text: "hello", "is not JSON"),
        (lambda text: "[{value: nan}]", "NaN or an infinity"),
        (lambda text: json.dumps(run_on_tape(json.loads(text)[0])), "I need a list of answers"),
        (lambda text: 3, "I need a list of answers"),
        (lambda text: json.dumps([run_on_tape(json.loads(text)[0])]), "the number of answers is 1"),
        (lambda text: json.dumps([3] * len(json.loads(text))), "Each answer looks like"),
        (lambda text: subprocess.run(["no-such-program"], input=text, text=True, check=True).stdout, "was found"),
        (started("import sys; sys.exit('no rule')"), "stopped with exit code 1. It said `no rule`"),
        (
            lambda text: subprocess.run([sys.executable, "-c", "while True: pass"], timeout=0.3, check=True),
            "doesn't end",
        ),
        (answering(lambda a: a | {"value": a["value"] + 1}), "The value of"),
        (answering(lambda a: a | {"value": float(f"{a['value']:.7g}") * 1.0000001}), "Too few digits"),
        (answering(lambda a: a | {"gradient": [0.0] * len(a["gradient"])}), "All your gradients are 0"),
        (answering(lambda a: a | {"gradient": a["gradient"][:1]}), "1 of 4 milestones reached.*one number for each"),
        (answering(lambda a: a | {"gradient": a["gradient"][0]}), "one number for each"),
        (tape(rules=SLOPES | {"sub": lambda x, y: (1.0, 1.0)}), "only one operation, so the rule of `sub` is wrong"),
        (
            tape(rules=SLOPES | {"div": lambda x, y: (1 / y, x / y**2)}),
            "only one operation, so the rule of `div` is wrong",
        ),
        (tape(rules=SLOPES | {"cos": lambda x: (np.sin(x),)}), "only one operation, so the rule of `cos` is wrong"),
        (tape(add=lambda old, new: new), "2 of 4 milestones reached"),
        (tape(chains_only), "the same value is used twice"),
        (never_emptied, "Slopes of the program before"),
        (only_used, "also for an input that nothing uses"),
        (tape(rounded), "64-bit"),
        (tape(kind=np.float32), "64-bit"),
        (3.0, "without calling it"),
    ],
}
