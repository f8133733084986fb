"""Answers to the exercises of chapter 19."""

import math

import numpy as np

import autodiff_edu as ad


def solve_kepler(M, e):
    E = M + e * np.sin(M)
    for _ in range(50):
        E = E - (E - e * np.sin(E) - M) / (1.0 - e * np.cos(E))
    return E


def angle(contributions):
    """Return an answer whose backward returns contributions(dE, E, M, e), with plain numbers."""

    @ad.custom_gradient
    def solved(M, e):
        E = float(solve_kepler(float(M), float(e)))
        return E, lambda dE: contributions(dE, E, float(M), float(e))

    return solved


@ad.custom_gradient
def right_twice(M, e):
    E = solve_kepler(float(M), float(e))

    def backward(dE):
        E = right_twice(M, e)
        u = dE / (1.0 - e * np.cos(E))
        return u, u * np.sin(E)

    return E, backward


def denominator(E, e):
    return 1.0 - e * math.cos(E)


def layer(contributions):
    """Return an answer whose backward returns contributions(v, z, W), with arrays."""

    @ad.custom_gradient
    def solved(W, b):
        fixed, b_ = ad.stop_gradient(W).numpy(), ad.stop_gradient(b).numpy()
        z = np.zeros(len(b_))
        for _ in range(200):
            z = np.tanh(fixed @ z + b_)
        return z, lambda v: contributions(v, z, fixed)

    return solved


def with_u(solve):
    """Return a layer's contributions for a `u` that solve(v, D, W) finds."""

    def contributions(v, z, W):
        D = np.diag(1 - z**2)
        inside = D @ solve(v, D, W)
        return np.outer(inside, z), inside

    return contributions


def system(v, D, W):
    return np.linalg.solve((np.eye(4) - D @ W).T, v)


def repeated(times):
    def solve(v, D, W):
        u = v
        for _ in range(times):
            u = v + u @ (D @ W)
        return u

    return solve


@ad.custom_gradient
def by_pulling(W, b):
    W_, b_ = ad.stop_gradient(W), ad.stop_gradient(b)
    z = np.zeros(len(b))
    for _ in range(200):
        z = np.tanh(W_ @ z + b_)

    def backward(v):
        _, pull = ad.vjp(lambda z, W, b: np.tanh(W @ z + b), z, W, b)
        u = v
        for _ in range(300):
            u = v + pull(u)[0]
        return pull(u)[1:]

    return z, backward


def not_custom(W, b):
    z = np.zeros(4)
    for _ in range(200):
        z = np.tanh(W @ z + b)
    return z


def parts(X, y, X_other, y_other, s):
    H = 2 * X.T @ X / len(y) + 2 * np.diag(np.exp(s))
    w = np.linalg.solve(H, 2 * X.T @ y / len(y))
    v = 2 * X_other.T @ (X_other @ w - y_other) / len(y_other)
    return H, w, v, np.linalg.solve(H, v), np.exp(s)


def slopes(make):
    return lambda *data: make(*parts(*data))


def by_tape(X, y, X_other, y_other, s):
    def outer(s):
        w = np.linalg.solve(X.T @ X / len(y) + np.diag(np.exp(s)), X.T @ y / len(y))
        return np.mean((X_other @ w - y_other) ** 2)

    return ad.grad(outer)(s)


RIGHT = {
    "19.1": [
        right_twice,
        angle(lambda dE, E, M, e: (dE / denominator(E, e), dE * math.sin(E) / denominator(E, e))),
        angle(lambda dE, E, M, e: [np.array(dE / denominator(E, e)), np.array(dE * np.sin(E) / denominator(E, e))]),
    ],
    "19.2": [layer(with_u(system)), layer(with_u(repeated(200))), by_pulling],
    "19.3": [
        slopes(lambda H, w, v, u, p: -2 * p * w * u),
        slopes(lambda H, w, v, u, p: ad.constant(-2 * p * w * u)),
        slopes(lambda H, w, v, u, p: (-np.linalg.inv(H) @ np.diag(2 * p * w)).T @ v),
        slopes(lambda H, w, v, u, p: list(-2 * p * w * u)),
        by_tape,
    ],
}

WRONG = {
    "19.1": [
        (angle(lambda dE, E, M, e: (..., ...)), "three dots"),
        (angle(lambda dE, E, M, e: (dE, dE * math.sin(E))), "last turn only"),
        (angle(lambda dE, E, M, e: (1 / denominator(E, e), math.sin(E) / denominator(E, e))), "without the cotangent"),
        (
            angle(lambda dE, E, M, e: (dE * math.sin(E) / denominator(E, e), dE / denominator(E, e))),
            "changed places",
        ),
        (angle(lambda dE, E, M, e: (-dE / denominator(E, e), -dE * math.sin(E) / denominator(E, e))), "Both signs"),
        (
            angle(lambda dE, E, M, e: (dE / denominator(E, -e), dE * math.sin(E) / denominator(E, -e))),
            "sign in the denominator",
        ),
        (angle(lambda dE, E, M, e: (dE * denominator(E, e), dE * math.sin(E) * denominator(E, e))), "instead of mult"),
        (angle(lambda dE, E, M, e: (dE / denominator(M, e), dE * math.sin(M) / denominator(M, e))), "E instead of M"),
        (angle(lambda dE, E, M, e: (dE / denominator(E, e), -dE * math.sin(E) / denominator(E, e))), "∂g/∂e is -sin"),
        (angle(lambda dE, E, M, e: (dE / denominator(E, e), dE * math.cos(E) / denominator(E, e))), "not E"),
        (angle(lambda dE, E, M, e: (dE / denominator(E, e), dE * e * math.sin(E) / denominator(E, e))), "without a f"),
        (angle(lambda dE, E, M, e: (dE / denominator(E, e), dE * math.sin(E))), "divided by ∂g/∂E as well"),
        (angle(lambda dE, E, M, e: (dE / denominator(E, e), dE / denominator(E, e))), "respect to e"),
        (angle(lambda dE, E, M, e: (7.0 * dE, dE)), "the contributions are"),
        (angle(lambda dE, E, M, e: dE / denominator(E, e)), "your function raised"),
        (angle(lambda dE, E, M, e: None), "None"),
        (solve_kepler, "no custom gradient"),
        (lambda M, e: (M, lambda dE: dE), "returns a tuple"),
        (lambda M, e: M + e, "Keep the solver"),
        (lambda M: M, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    "19.2": [
        (layer(lambda v, z, W: (..., ...)), "three dots"),
        (layer(with_u(lambda v, D, W: v)), "last turn only"),
        (layer(with_u(lambda v, D, W: system(np.ones(4), D, W))), "v is missing"),
        (layer(with_u(lambda v, D, W: np.linalg.solve(np.eye(4) - D @ W, v))), "transpose the matrix"),
        (layer(with_u(lambda v, D, W: np.linalg.solve((np.eye(4) + D @ W).T, v))), "The sign of A"),
        (layer(with_u(lambda v, D, W: np.linalg.solve((np.eye(4) - W).T, v))), "belongs to A too"),
        (layer(with_u(lambda v, D, W: np.linalg.solve((np.eye(4) - W @ D).T, v))), "rows of W"),
        (layer(with_u(lambda v, D, W: (np.eye(4) - D @ W).T @ v)), "has to be solved"),
        (layer(with_u(lambda v, D, W: -system(v, D, W))), "no extra minus"),
        (layer(with_u(repeated(3))), "more often"),
        (
            layer(lambda v, z, W: (np.outer(system(v, np.diag(1 - z**2), W), z), system(v, np.diag(1 - z**2), W))),
            "through tanh",
        ),
        (
            layer(lambda v, z, W: (with_u(system)(v, z, W)[0].T, with_u(system)(v, z, W)[1])),
            "is transposed",
        ),
        (layer(lambda v, z, W: (np.ones((4, 4)), with_u(system)(v, z, W)[1])), "what multiplies W"),
        (layer(lambda v, z, W: (with_u(system)(v, z, W)[0], np.ones(4))), "b is added"),
        (layer(lambda v, z, W: (np.ones((4, 4)), np.ones(4))), "first element for b"),
        (layer(lambda v, z, W: with_u(system)(v, z, W)[::-1]), "your function raised"),
        (layer(lambda v, z, W: None), "None"),
        (not_custom, "no custom gradient"),
        (lambda W, b: b, "Keep the solver"),
        (3.0, "without calling it"),
    ],
    "19.3": [
        (lambda *data: ..., "three dots"),
        (slopes(lambda H, w, v, u, p: 2 * p * w * u), "has a minus"),
        (slopes(lambda H, w, v, u, p: -2 * w * u), "logarithm"),
        (slopes(lambda H, w, v, u, p: -p * w * u), "factor 2"),
        (slopes(lambda H, w, v, u, p: -2 * p * w * v), "u = v"),
        (slopes(lambda H, w, v, u, p: -2 * p * w * (H @ v)), "multiplied by H"),
        (slopes(lambda H, w, v, u, p: -2 * p * u), "depends on w"),
        (slopes(lambda H, w, v, u, p: p * w**2), "inner loss"),
        (slopes(lambda H, w, v, u, p: -2 * p * w), "Multiply it by u"),
        (slopes(lambda H, w, v, u, p: u), "That's u"),
        (slopes(lambda H, w, v, u, p: v), "That's v"),
        (slopes(lambda H, w, v, u, p: w), "the weights"),
        (slopes(lambda H, w, v, u, p: np.sum(-2 * p * w * u)), "one number"),
        (slopes(lambda H, w, v, u, p: np.diag(-2 * p * w)), "the shape"),
        (slopes(lambda H, w, v, u, p: np.ones(4)), "the first slope is"),
        (lambda *data: None, "None"),
        (lambda X: X, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
