"""Small programs, traced: what the tests of the trace and of the player look at."""

from __future__ import annotations

import numpy as np

import autodiff_edu as ad


def square() -> ad.Trace:
    x = ad.Variable(3.0, name="x")
    with ad.trace("square") as traced:
        with ad.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    return traced


def diamond() -> ad.Trace:
    a = ad.Variable([1.0, 2.0], name="a")
    with ad.trace("diamond") as traced:
        with ad.GradientTape() as tape:
            b = a + a
            c = b + b
            total = np.sum(c)
        gradient = tape.gradient(total, a)
    assert np.array_equal(gradient, [4.0, 4.0])
    return traced


def broadcasting() -> ad.Trace:
    x, y = ad.Variable(np.arange(6.0).reshape(2, 3), name="x"), ad.Variable([1.0, 2.0, 3.0], name="y")
    with ad.trace("broadcasting") as traced:
        with ad.GradientTape() as tape:
            total = np.sum(np.sin(x) * y)
        gradient = tape.gradient(total, y)
    assert gradient.shape == (3,)
    return traced


def two_tapes() -> ad.Trace:
    x = ad.Variable(2.0, name="x")
    with ad.trace("two tapes") as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x * x * x
            first = inner.gradient(y, x)
        second = outer.gradient(first, x)
    assert (float(first), float(second)) == (12.0, 12.0)
    return traced


def nested() -> ad.Trace:
    x = ad.Variable(2.0, name="x")
    with ad.trace("three tapes") as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as middle:
                with ad.GradientTape() as inner:
                    y = x * x * x
                first = inner.gradient(y, x)
            second = middle.gradient(first, x)
        third = outer.gradient(second, x)
    assert (float(first), float(second), float(third)) == (12.0, 12.0, 6.0)
    return traced


def network() -> ad.Trace:
    first, second = ad.nn.Dense(3, np.tanh), ad.nn.Dense(1)
    x = np.array([[0.5, -1.0], [1.0, 2.0], [0.0, 0.5], [2.0, 1.0]])
    with ad.trace("a network of two layers") as traced:
        with ad.GradientTape() as tape:
            loss = np.mean(second(first(x)) ** 2)
        tape.gradient(loss, [*first.trainable_variables, *second.trainable_variables])
    return traced


def stopped() -> ad.Trace:
    """What is computed in the pause is a constant to the tape, and so is what stop_gradient gives."""
    x, y = ad.Variable(3.0, name="x"), ad.Variable(2.0, name="y")
    with ad.trace("a stopped recording") as traced:
        with ad.GradientTape() as tape:
            a = x * x
            with tape.stop_recording():
                b = a * y
            z = ad.stop_gradient(a) * b + y * a
        gradients = tape.gradient(z, [x, y])
    assert [float(gradient) for gradient in gradients] == [12.0, 9.0]
    return traced


def two_passes() -> ad.Trace:
    """Everything else that a step can be: skipped, cut, a pause, an assignment, a way out to NumPy, a reset."""
    x, fixed = ad.Variable(2.0, name="x"), ad.constant(3.0, name="fixed")
    with ad.trace("two passes") as traced:
        with ad.GradientTape(persistent=True) as tape:
            x * 3.0
            tape.reset()
            nine = fixed * fixed
            with tape.stop_recording():
                x * 2.0
            y = x * x + nine + np.floor(x)
            z = y * np.sqrt(y.numpy())
        tape.gradient(z, x)
        x.assign(5.0)
        tape.gradient(y, x)
    return traced


def side_by_side() -> ad.Trace:
    """One tape records what the other skips, for it watches only w."""
    x, w = ad.Variable(2.0, name="x"), ad.Variable(3.0, name="w")
    with ad.trace("side by side") as traced:
        with ad.GradientTape() as left, ad.GradientTape(watch_accessed_variables=False) as right:
            right.watch(w)
            y = x * x
            z = w * y
        left.gradient(y, x)
        right.gradient(z, w)
    return traced


def loop(turns: int) -> ad.Trace:
    x = ad.Variable(0.5, name="x")
    with ad.trace("a loop") as traced:
        with ad.GradientTape() as tape:
            y = x
            for _ in range(turns):
                y = np.sin(y)
                y = y * x
                y = y + 0.1
        tape.gradient(y, x)
    return traced


def forward_mode() -> ad.Trace:
    """Tangents are pushed forward: one argument moves, two do, and one rests; then a stack of them."""

    def moving(x: ad.Tensor, w: ad.Tensor) -> ad.Tensor:
        y = x * w
        z = np.sin(y) + y
        return np.floor(x) * z

    with ad.trace("forward mode") as traced:
        value, tangent = ad.jvp(moving, (3.0, 2.0), (1.0, 0.5))
        stack = ad.jacobian(lambda x: x * x, mode="forward")(np.array([1.0, 2.0]))
    assert (float(value), float(tangent)) == (3 * (np.sin(6.0) + 6), 3 * (3.5 * np.cos(6.0) + 3.5))
    assert np.array_equal(stack, [[2.0, 0.0], [0.0, 4.0]])
    return traced


def logistic() -> ad.Trace:
    """Logistic regression, three steps of gradient descent."""
    x, labels = np.array([[0.5, 1.0], [-1.0, 2.0], [2.0, -1.0], [1.0, 0.0]]), np.array([1.0, 0.0, 1.0, 0.0])
    w, b = ad.Variable([0.0, 0.0], name="w"), ad.Variable(0.0, name="b")
    with ad.trace("logistic regression") as traced:
        for _ in range(3):
            with ad.GradientTape() as tape:
                p = 1 / (1 + np.exp(-(x @ w + b)))
                loss = -np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.5 * dw)
            b.assign_sub(0.5 * db)
    return traced


def newton(start: float) -> ad.Variable:
    """Newton's method for the root of x³ - 2x - 5, near 2.094551481542327."""
    x = ad.Variable(start, name="x")
    for _ in range(4):
        with ad.GradientTape() as tape:
            y = x**3 - 2 * x - 5
        x.assign_sub(y / tape.gradient(y, x))
    return x


def training(turns: int = 20) -> ad.Trace:
    """A network of two layers learns exclusive or."""
    x, target = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[0.0], [1.0], [1.0], [0.0]])
    first = [ad.Variable([[0.5, -1.0, 0.8], [-0.6, 0.7, 0.9]], name="W1"), ad.Variable(np.zeros(3), name="b1")]
    second = [ad.Variable([[0.4], [-0.7], [0.3]], name="W2"), ad.Variable([0.1], name="b2")]
    with ad.trace("training") as traced:
        for _ in range(turns):
            with ad.GradientTape() as tape:
                hidden = np.tanh(x @ first[0] + first[1])
                loss = np.mean((hidden @ second[0] + second[1] - target) ** 2)
            variables = [*first, *second]
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(0.1 * gradient)
    return traced


def calling() -> ad.Trace:
    """A training whose loop calls a function, and with whose last turn the trace ends."""
    w = ad.Variable(1.0, name="w")

    def loss_of(w: ad.Variable) -> ad.Tensor:
        error = 3.0 * w - 1.0
        return error * error

    with ad.trace("calling") as traced:
        for turn in range(3):
            with ad.GradientTape() as tape:
                loss = loss_of(w)
            w.assign_sub(0.01 / (1 + turn) * tape.gradient(loss, w))
    return traced


def branches(x: ad.Tensor) -> ad.Tensor:
    """A loop whose turns take different ways, so that no two of them need be alike."""
    y = x
    for _ in range(4):
        if y > 2:  # noqa: SIM108
            y = y / 2
        else:
            y = 3 * y + x
    return y


def series(x: ad.Tensor) -> ad.Tensor:
    """A loop of two turns, of lines with one operation and with two, whose names begin as plain numbers."""
    t = 1.0
    s = 0.0
    for k in range(1, 3):
        t = t * x / k
        s += t
    return s


def twice(x: ad.Tensor) -> ad.Tensor:
    """A loop of two turns, with a loop in each and a tape that is told what to watch."""
    for turn in range(2):
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(3):
                y = y * np.sin(y)
        x = x - 0.1 * (turn + 1) * tape.gradient(y, x)
    return x


def descent() -> ad.Trace:
    """A loop with assignments, the shortest that has curves."""
    x = ad.Variable(3.0, name="x")
    with ad.trace("descent") as traced:
        for _ in range(3):
            with ad.GradientTape() as tape:
                y = x * x
            x.assign_sub(0.1 * tape.gradient(y, x))
    return traced


def recursion() -> ad.Trace:
    x = ad.Variable(1.5, name="x")

    def power(base: ad.Tensor, times: int) -> ad.Tensor:
        if times == 1:
            return base
        return base * power(base, times - 1)

    with ad.trace("recursion") as traced:
        with ad.GradientTape() as tape:
            y = power(x, 4)
        tape.gradient(y, x)
    return traced


def cubic() -> ad.Trace:
    """z = x x (x + 2) at 3: what arrives, what is added and what is there are all different numbers."""
    x, two = ad.Variable(3.0, name="x"), ad.constant(2.0, name="two")
    with ad.trace("cubic") as traced:
        with ad.GradientTape() as tape:
            y = x * x
            w = x + two
            z = y * w
        slope = tape.gradient(z, x)
    assert float(slope) == 39.0
    return traced


def rows() -> ad.Trace:
    x, y = ad.Variable(np.arange(6.0).reshape(2, 3), name="x"), ad.Variable([1.0, 2.0, 3.0], name="y")
    with ad.trace("rows") as traced:
        with ad.GradientTape() as tape:
            z = x * y
            total = np.sum(z)
        tape.gradient(total, y)
    return traced


def power() -> ad.Trace:
    x = ad.Variable(2.0, name="x")
    with ad.trace("a power") as traced:
        with ad.GradientTape() as tape:
            y = x
            for _ in range(6):
                y = y * x
        tape.gradient(y, x)
    return traced


def pushing() -> ad.Trace:
    """exp(x w - 6) w + x: what moves, what adds up and what it comes to are all different numbers."""
    with ad.trace("pushing") as traced:
        ad.jvp(lambda x, w: np.exp(x * w - 6.0) * w + x, (3.0, 2.0), (1.0, 0.5))
    return traced


def stacked() -> ad.Trace:
    with ad.trace("stacked") as traced:
        ad.jacobian(lambda x: np.sum(x * x), mode="forward")(np.array([1.0, 2.0, 3.0]))
    return traced


def a_cut() -> ad.Trace:
    with ad.trace("a cut") as traced:
        x = ad.Variable(2.5, name="x")
        with ad.GradientTape():
            y = np.floor(x) * x
            z = y * x
            z * y
    return traced


def cut_off() -> ad.Trace:
    """One of two sources is cut off."""
    x, w = ad.Variable(2.5, name="x"), ad.Variable(3.0, name="w")
    with ad.trace("cut off") as traced:
        with ad.GradientTape() as tape:
            z = np.floor(x) * w
        tape.gradient(z, [x, w])
    return traced


def not_a_number() -> ad.Trace:
    p = ad.Variable([0.5, 0.0], name="p")
    with np.errstate(all="ignore"), ad.trace("not a number") as traced:
        with ad.GradientTape() as tape:
            y = np.sum(p * np.log(p))
        slope = tape.gradient(y, p)
    assert str(slope.numpy()) == "[0.30685282        nan]"
    return traced


def divided() -> ad.Trace:
    """NaN is born where 0 is divided by 0."""
    d = ad.Variable([1.0, 0.0], name="d")
    with ad.trace("divided") as traced, np.errstate(all="ignore"):
        with ad.GradientTape() as tape:
            r = np.sqrt(d)
            q = r / d
            loss = np.sum(q)
        tape.gradient(loss, d)
    return traced


def marks() -> ad.Trace:
    """One entry is skipped, one is a cut, and one is not reached by the backward pass."""
    x, fixed = ad.Variable(2.0, name="x"), ad.constant(3.0, name="fixed")
    with ad.trace("marks") as traced:
        with ad.GradientTape() as tape:
            fixed * fixed
            aside = x * 5.0
            y = x * ad.stop_gradient(x * 2.0)
        tape.gradient(y, x)
    assert float(aside) == 10.0
    return traced


def einsum() -> ad.Trace:
    """Its first argument is a text."""
    a, b = ad.Variable([[1.0, 2.0]], name="a"), ad.Variable([[3.0], [4.0]], name="b")
    with ad.trace("einsum") as traced:
        with ad.GradientTape() as tape:
            y = np.einsum("ij,jk->ik", a, b)
        tape.gradient(y, [a, b])
    return traced


def two_layers() -> ad.Trace:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(10, 4)), ad.Variable(rng.normal(size=(4, 3)), name="w")
    v = ad.Variable(rng.normal(size=(3, 1)), name="v")
    with ad.trace("two layers") as traced:
        with ad.GradientTape() as tape:
            hidden = np.tanh(x @ w)
            loss = np.mean((hidden @ v - 1.0) ** 2) + 0.001 * np.sum(w**2)  # a line longer than there is room for it
        tape.gradient(loss, [w, v])
    return traced


HOSTILE = '<img src=x onerror="window.hacked = true">'


def hostile() -> ad.Trace:
    x = ad.Variable(2.0, name=HOSTILE)
    with ad.trace(f"</title></script><script>window.hacked = true</script>{HOSTILE}") as traced:
        with ad.GradientTape() as tape:
            y = (
                x * x
            )  # </pre></script><script>window.hacked = true</script><img src=x onerror="window.hacked = true"><!--
        tape.gradient(y, x)
    return traced


FIVE = [diamond, broadcasting, network, two_tapes, stopped]
EIGHT = [*FIVE, logistic, training, recursion]
EXAMPLES = [*FIVE, two_passes, side_by_side, forward_mode, hostile]
