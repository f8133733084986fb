"""Answers to the exercises of forward-mode."""

import numpy as np

import autodiff_edu as ad


class Pair:
    """A dual number that divides by multiplying with the reciprocal."""

    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent


def by_reciprocal(u, du, v, dv):
    inverse = Pair(1 / v, -dv / v**2)
    return [u * inverse.value, du * inverse.value + u * inverse.tangent]


def by_jvp(u, du, v, dv):
    return ad.jvp(lambda u, v: u / v, (u, v), (du, dv))


def quotient(tangent):
    return lambda u, du, v, dv: (u / v, tangent(u, du, v, dv))


def by_difference_of_quotients(h, both_sides=False):
    def divide(u, du, v, dv):
        left = (u - h * du) / (v - h * dv) if both_sides else u / v
        return u / v, ((u + h * du) / (v + h * dv) - left) / (2 * h if both_sides else h)

    return divide


MODES = {"fit": "reverse", "dose": "forward", "along": "forward", "mean": "reverse", "one": "equal"}


def along(f, v):
    return lambda x: ad.jvp(f, (x,), (v,))[1]


def twice(f, x, v):
    return ad.jvp(along(f, v), (x,), (v,))[1]


def by_line(f, x, v):
    """Follow the line x + t·v, with a number t as the only input."""
    return ad.jvp(lambda t: ad.jvp(lambda s: f(x + s * v), (t,), (1.0,))[1], (0.0,), (1.0,))[1]


def by_difference(f, x, v):
    h = 1e-5
    return (along(f, v)(x + h * v) - along(f, v)(x - h * v)) / (2 * h)


def all_differences(f, x, v):
    h = 1e-3
    return (f(x + h * v) - 2 * f(x) + f(x - h * v)) / h**2


def ones(f, x, v):
    return ad.jvp(along(f, v), (x,), (np.ones_like(x),))[1]


def by_matrix(f, x, v):
    return v @ ad.jacobian(ad.jacobian(f, mode="forward"), mode="forward")(x) @ v


def by_columns(f, x, v):
    return sum(
        v[i] * v[j] * ad.jvp(along(f, np.eye(3)[i]), (x,), (np.eye(3)[j],))[1] for i in range(3) for j in range(3)
    )


def length(v):
    return np.sqrt(v @ v)


RIGHT = {
    1: [
        quotient(lambda u, du, v, dv: (du * v - u * dv) / v**2),
        quotient(lambda u, du, v, dv: (du - u / v * dv) / v),
        lambda u, du, v, dv: np.array([u / v, du / v - u * dv / v**2]),
        lambda u, du, v, dv: (np.float32(u / v), np.float32(du / v - u * dv / v**2)),
        by_reciprocal,
        lambda *numbers: Pair(*by_reciprocal(*numbers)),
        by_jvp,
    ],
    2: [
        MODES,
        {name: mode.upper() for name, mode in reversed(MODES.items())},
    ],
    3: [
        twice,
        by_line,
        lambda f, x, v: float(twice(f, x, v)),
        lambda f, x, v: twice(f, ad.constant(x), ad.constant(v)),
        lambda f, x, v: ad.linearize(along(f, v), x)[1](v),
        lambda f, x, v: twice(f, x, v) + 0.0 * along(f, v)(x),
    ],
}

WRONG = {
    1: [
        (quotient(lambda u, du, v, dv: du / dv if dv else du), "the quotient of the tangents"),
        (quotient(lambda u, du, v, dv: (u * dv - du * v) / v**2), "wrong way round"),
        (quotient(lambda u, du, v, dv: (du * v + u * dv) / v**2), "is subtracted"),
        (quotient(lambda u, du, v, dv: (du * v - u * dv) / v), "the square of v, not"),
        (quotient(lambda u, du, v, dv: (du * v - u * dv) / (2 * v)), "two times v"),
        (quotient(lambda u, du, v, dv: (du * v - u * dv) / (dv or 1.0) ** 2), "not of dv"),
        (quotient(lambda u, du, v, dv: du * v - u * dv / v**2), "parentheses"),
        (quotient(lambda u, du, v, dv: du / v - u * dv / v), "by v twice"),
        (quotient(lambda u, du, v, dv: du / v - dv / v**2), "dv is multiplied by u"),
        (quotient(lambda u, du, v, dv: du * v - u * dv), "The numerator is right"),
        (quotient(lambda u, du, v, dv: (du * v - u * dv) / v * v), r"/ v\*v`, that divides and multiplies again"),
        (quotient(lambda u, du, v, dv: du / v - u * dv / v * v), "In the second term, `/ v"),
        (quotient(lambda u, du, v, dv: (du * v - u * dv) / v ^ 2), r"Python's power is `\*\*`"),
        (quotient(lambda u, du, v, dv: (du * v - u * dv) / u**2), "not of u"),
        (quotient(lambda u, du, v, dv: du * v + u * dv), "product rule"),
        (quotient(lambda u, du, v, dv: du / v), "v moves too"),
        (quotient(lambda u, du, v, dv: -u * dv / v**2), "u moves too"),
        (quotient(lambda u, du, v, dv: 7.0), "drop ε²"),
        (lambda u, du, v, dv: ((du * v - u * dv) / v**2, u / v), "changed places"),
        (lambda u, du, v, dv: ((u + du) / (v + dv), du / v), "The value isn't"),
        (lambda u, du, v, dv: (du * v - u * dv) / v**2, "I need a pair"),
        (lambda u, du, v, dv: None, "returns None"),
        (lambda u, du, v, dv: (u / v, ...), "three dots"),
        (by_difference_of_quotients(1e-3), "as if it came from a small step"),
        (by_difference_of_quotients(1e-5), "as if it came from a small step"),
        (by_difference_of_quotients(1e-6), "as if it came from a small step"),
        (by_difference_of_quotients(1e-4, both_sides=True), "as if it came from a small step"),
        (lambda u, v: u / v, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    2: [
        (MODES | {"fit": "forward"}, "How many pushes"),
        (MODES | {"fit": "equal"}, "Count"),
        (MODES | {"dose": "reverse"}, "How many walks do 500"),
        (MODES | {"dose": "equal"}, "Count"),
        (MODES | {"along": "reverse"}, "directions are there"),
        (MODES | {"along": "equal"}, "the direction is given"),
        (MODES | {"mean": "forward"}, "How many numbers is the mean"),
        (MODES | {"mean": "equal"}, "one number take"),
        (MODES | {"one": "forward"}, "how many walks back"),
        (MODES | {"one": "reverse"}, "how many pushes"),
        (MODES | {"one": "backward"}, 'Write "forward"'),
        (MODES | {"one": ...}, "three dots"),
        ({"fit": "reverse"}, "No answer is given for dose"),
    ],
    3: [
        (lambda f, x, v: along(f, v)(x), "slope along v"),
        (lambda f, x, v: ad.jvp(along(f, v), (x,), (v,))[0], "slope along v"),
        (lambda f, x, v: ad.jvp(f, (x,), (v,))[0], "f\\(x\\) itself"),
        (lambda f, x, v: ad.jvp(along(f, v), (x,), (v,)), "the second of the two"),
        (lambda f, x, v: along(along(f, v), v), "return a function"),
        (lambda f, x, v: ad.hvp(f, (x,), (v,)), "how the whole gradient changes"),
        (lambda f, x, v: ad.jvp(along(f, v)(x), (x,), (v,))[1], "without calling it"),
        (lambda f, x, v: ad.grad(f)(x), "the shape of x"),
        (lambda f, x, v: v @ np.asarray(ad.hvp(f, (x,), (v,))), "`ad.hvp`, which this exercise leaves to you"),
        (lambda f, x, v: ad.jvp(ad.grad(f), (x,), (v,))[1] @ v, "something walked back"),
        (lambda f, x, v: v @ ad.hessian(f)(x).numpy() @ v, "`ad.hessian`, which this exercise leaves to you"),
        (by_matrix, "`ad.jacobian`, which this exercise leaves to you"),
        (by_columns, "it took 18 passes"),
        (all_differences, "no step size"),
        (by_difference, "no step size"),
        (ones, "all ones"),
        (lambda f, x, v: twice(f, x, v / length(v)), "You scaled v to length 1"),
        (lambda f, x, v: ad.jvp(along(f, v), (x,), (v / length(v),))[1], "one of the two directions to length 1"),
        (lambda f, x, v: ad.jvp(along(f, x), (x,), (v,))[1], "One of the two directions is x"),
        (lambda f, x, v: twice(f, x, x), "Both directions are x"),
        (lambda f, x, v: twice(f, x, np.ones(3)), "Both directions are all ones"),
        (lambda f, x, v: twice(f, v, v), "You compute f at v"),
        (lambda f, x, v: twice(f, v, x), "You compute f at v"),
        (lambda f, x, v: along(f, v)(x) ** 2, "the square of the slope"),
        (lambda f, x, v: -twice(f, x, v), "The sign is wrong"),
        (lambda f, x, v: 2 * twice(f, x, v), "This is twice the curvature"),
        (lambda f, x, v: along(f, v)(x + 1e-7 * v) - along(f, v)(x), "no step size"),
        (lambda f, x, v: twice(f, x, v) / 2, "half of it"),
        (lambda f, x, v: np.trace(ad.hessian(f)(x).numpy()), "trace"),
        (lambda f, x, v: 7.0, "Which direction"),
        (lambda f, x, v: None, "None"),
        (lambda f, x, v: ..., "three dots"),
        (lambda f, x: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
}
