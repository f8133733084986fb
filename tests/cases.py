"""The table of cases that every differentiable operation is tested by: one line a case.

A case is a function and its arguments. A tuple among the arguments is a shape, for which numbers are drawn; anything
else is taken as it is. To cover a new rule, add a line to TABLE.
"""

import operator
from typing import Any, NamedTuple

import numpy as np
from differences import draw

from autodiff_edu.rules.shapes import gather, scatter


class Case(NamedTuple):
    name: str
    function: Any
    specifications: tuple
    positive: bool = False  # draw only positive numbers
    real: bool = False  # the function has no complex derivative

    def arguments(self, dtype="float64"):
        drawn = []
        for position, given in enumerate(self.specifications):
            if isinstance(given, tuple):
                given = draw(given, self.name, position, dtype=dtype)
                given = (
                    np.asarray(abs(given.real) + 1j * given.imag if given.dtype.kind == "c" else abs(given), dtype)
                    if self.positive
                    else given
                )
            drawn.append(np.asarray(given, dtype))
        return drawn


def case(name, function, *specifications, **options):
    return Case(name, function, specifications, **options)


def indexing(text):
    """A case that takes `x[text]` of an array of shape (3, 4, 2)."""
    index = eval(f"np.s_[{text}]")
    return case(f"x[{text}]", lambda x: x[index], (3, 4, 2))


SPREAD = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]])  # no two elements alike

MASK = np.array([[True, False, True], [False, True, True]])

TABLE = [
    # Elementwise, of one argument
    case("positive", np.positive, (2, 3)),
    case("negative", np.negative, (2, 3)),
    case("absolute", np.absolute, (2, 3)),
    case("exp", np.exp, (2, 3)),
    case("expm1", np.expm1, (2, 3)),
    case("log", np.log, (2, 3), positive=True),
    case("log1p", np.log1p, (2, 3), positive=True),
    case("log2", np.log2, (2, 3), positive=True),
    case("log10", np.log10, (2, 3), positive=True),
    case("sqrt", np.sqrt, (2, 3), positive=True),
    case("square", np.square, (2, 3)),
    case("reciprocal", np.reciprocal, (2, 3)),
    case("sin", np.sin, (2, 3)),
    case("cos", np.cos, (2, 3)),
    case("tan", np.tan, 0.5 * SPREAD),
    case("sinh", np.sinh, (2, 3)),
    case("cosh", np.cosh, (2, 3)),
    case("tanh", np.tanh, (2, 3)),
    case("arctan", np.arctan, (2, 3), positive=True),
    case("conjugate", np.conjugate, (2, 3)),
    case("real", np.real, (2, 3)),
    case("imag", np.imag, (2, 3)),
    case("x.real * x.imag", lambda x: x.real * (1 + x.imag), (3,)),
    case("astype", lambda x: x.astype(complex) if x.dtype.kind == "c" else x.astype(x.dtype), (3,)),
    case("sin of a scalar", np.sin, ()),
    case("exp of an empty array", np.exp, (0, 3)),
    # Elementwise, of two arguments; the operators too
    case("add", np.add, (2, 3), (2, 3)),
    case("subtract", np.subtract, (2, 3), (2, 3)),
    case("multiply", np.multiply, (2, 3), (2, 3)),
    case("divide", np.divide, (2, 3), (2, 3)),
    case("power", np.power, (2, 3), (2, 3), positive=True),
    case("remainder", np.remainder, (2, 3), (2, 3), positive=True, real=True),
    case("maximum", np.maximum, (2, 3), (2, 3), real=True),
    case("minimum", np.minimum, (2, 3), (2, 3), real=True),
    case("add (3,1) and (4,)", np.add, (3, 1), (4,)),
    case("subtract (3,1) and (3,)", np.subtract, (3, 1), (3,)),
    case("multiply (2,1,3) and (4,1)", np.multiply, (2, 1, 3), (4, 1)),
    case("divide () and (2,3)", np.divide, (), (2, 3)),
    case("power (2,1) and (3,)", np.power, (2, 1), (3,), positive=True),
    case("maximum (2,1) and (3,)", np.maximum, (2, 1), (3,), real=True),
    case("minimum (3,) and ()", np.minimum, (3,), (), real=True),
    case("x + y", operator.add, (2, 3), (3,)),
    case("x - y", operator.sub, (2, 3), (3,)),
    case("x * y", operator.mul, (2, 3), (3,)),
    case("x / y", operator.truediv, (2, 3), (3,)),
    case("x ** y", operator.pow, (2, 3), (3,), positive=True),
    case("x @ y", operator.matmul, (2, 3), (3, 2)),
    case("x % y", operator.mod, [7.3, -3.1, 5.2], [2.0, 2.0, -3.0], real=True),
    case("-x", operator.neg, (3,)),
    case("+x", operator.pos, (3,)),
    case("abs(x)", abs, (3,)),
    case("1 + x", lambda x: 1 + x, (3,)),
    case("1 - x", lambda x: 1 - x, (3,)),
    case("2 * x", lambda x: 2 * x, (3,)),
    case("2 / x", lambda x: 2 / x, (3,)),
    case("x ** 2", lambda x: x**2, (3,)),
    case("x ** 3.0", lambda x: x**3.0, (3,)),
    case("x ** -1.5", lambda x: x**-1.5, (3,), positive=True),
    case("x ** 1", lambda x: x**1, (3,)),
    case("x ** 0", lambda x: x**0, (3,)),
    case("x ** [0, 1, 2]", lambda x: x ** np.array([0, 1, 2]), (3,)),
    case("2 ** x", lambda x: 2.0**x, (3,)),
    case("array * x", lambda x: np.array([1.0, -2.0, 3.0]) * x, (2, 3)),
    case("array @ x", lambda x: np.array([[1.0, -2.0], [3.0, 0.5]]) @ x, (2, 3)),
    case("x * list", lambda x: x * [1.0, -2.0, 3.0], (2, 3)),
    case("x ** list", lambda x: x ** [1.0, 2.0, 3.0], (2, 3)),
    case("x * x", lambda x: x * x, (3,)),
    # Choosing
    case("where", lambda x, y: np.where(MASK, x, y), (2, 3), (2, 3)),
    case("where, broadcast", lambda x, y: np.where(MASK, x, y), (3,), ()),
    case("where of a comparison", lambda x: np.where(x > 0, x * x, np.sin(x)), (2, 3), real=True),
    case("clip", lambda x: np.clip(x, -1.0, 1.0), SPREAD, real=True),
    case("clip below", lambda x: np.clip(x, 0.0, None), SPREAD, real=True),
    case("clip above", lambda x: np.clip(x, None, 1.0), SPREAD, real=True),
    case("clip of tensors", np.clip, SPREAD, [-1.0, -0.5, 0.0], 1.0, real=True),
    case("x.clip(min=, max=)", lambda x: np.clip(x, min=-1.0, max=1.0), SPREAD, real=True),
    # Reductions
    case("sum", np.sum, (2, 3)),
    case("sum axis=0", lambda x: np.sum(x, axis=0), (2, 3, 2)),
    case("sum axis=1, positional", lambda x: np.sum(x, 1), (2, 3, 2)),
    case("sum axis=-1", lambda x: np.sum(x, axis=-1), (2, 3, 2)),
    case("sum axis=(0, -1)", lambda x: np.sum(x, axis=(0, -1)), (2, 3, 2)),
    case("sum keepdims", lambda x: np.sum(x, keepdims=True), (2, 3)),
    case("sum axis=1 keepdims", lambda x: np.sum(x, axis=1, keepdims=True), (2, 3)),
    case("sum axis=()", lambda x: np.sum(x, axis=()), (2, 3)),
    case("x.sum", lambda x: x.sum(0), (2, 3)),
    case("sum of a scalar", np.sum, ()),
    case("add.reduce", np.add.reduce, (2, 3)),
    case("add.reduce axis=1", lambda x: np.add.reduce(x, axis=1), (2, 3)),
    case("mean", np.mean, (2, 3)),
    case("mean axis=0", lambda x: np.mean(x, axis=0), (2, 3)),
    case("mean axis=(1, 2) keepdims", lambda x: np.mean(x, axis=(1, 2), keepdims=True), (2, 3, 2)),
    case("max", np.max, SPREAD, real=True),
    case("max axis=0", lambda x: np.max(x, axis=0), SPREAD, real=True),
    case("max axis=-1 keepdims", lambda x: np.max(x, axis=-1, keepdims=True), SPREAD, real=True),
    case("max axis=(0, 1)", lambda x: np.max(x, axis=(0, 1)), SPREAD, real=True),
    case("amax", np.amax, SPREAD, real=True),
    case("min", np.min, SPREAD, real=True),
    case("min axis=1", lambda x: np.min(x, axis=1), SPREAD, real=True),
    case("min keepdims", lambda x: np.min(x, keepdims=True), SPREAD, real=True),
    # Products
    *(
        case(f"matmul {a} and {b}", np.matmul, a, b)
        for a, b in [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((4, 2, 3), (3,)),
            ((3,), (4, 3, 2)),
            ((4, 2, 3), (3, 2)),
            ((2, 3), (4, 3, 2)),
            ((4, 2, 3), (4, 3, 2)),
            ((4, 1, 2, 3), (2, 3, 2)),
            ((1, 1), (1, 1)),
        ]
    ),
    *(
        case(f"dot {a} and {b}", np.dot, a, b)
        for a, b in [
            ((), (3,)),
            ((2, 3), ()),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 2)),
            ((2, 2, 3), (3,)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (2, 3, 2)),
            ((3,), (2, 3, 2)),
        ]
    ),
    *(
        case(f"einsum {subscripts}", lambda *arrays, _s=subscripts: np.einsum(_s, *arrays), *shapes)
        for subscripts, *shapes in [
            ("ij,jk->ik", (2, 3), (3, 2)),
            ("ij,jk", (2, 3), (3, 2)),
            ("i,i", (3,), (3,)),
            ("i,j->ij", (2,), (3,)),
            ("ij->ji", (2, 3)),
            ("ij->j", (2, 3)),
            ("ij->", (2, 3)),
            ("ba", (2, 3)),
            ("ii", (3, 3)),
            ("ii->i", (3, 3)),
            ("iij->j", (2, 2, 3)),
            ("iii->i", (2, 2, 2)),
            ("ii,i->i", (3, 3), (3,)),
            ("ij,i->i", (2, 3), (2,)),
            ("...ij,...jk->...ik", (2, 2, 3), (3, 2)),
            ("...i,ij", (2, 2, 3), (3, 2)),
            ("...,...->...", (2, 3), (3,)),
            ("i...->...", (2, 3)),
            ("...i->...", (2, 3)),
            ("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)),
            ("i,i,i->", (3,), (3,), (3,)),
            ("bij,bj->bi", (2, 2, 3), (2, 3)),
        ]
    ),
    case("einsum with spaces", lambda a, b: np.einsum("i j, j k -> i k", a, b), (2, 3), (3, 2)),
    case("einsum optimize", lambda a, b: np.einsum("ij,jk->ik", a, b, optimize=True), (2, 3), (3, 2)),
    case("einsum of one tensor twice", lambda a: np.einsum("ij,kj->ik", a, a), (2, 3)),
    # Moving elements about
    case("transpose", np.transpose, (2, 3, 4)),
    case("transpose axes", lambda x: np.transpose(x, (1, 2, 0)), (2, 3, 4)),
    case("transpose negative axes", lambda x: np.transpose(x, axes=(-1, 0, -2)), (2, 3, 4)),
    case("x.T", lambda x: x.T, (2, 3)),
    case("x.transpose(1, 0)", lambda x: x.transpose(1, 0), (2, 3)),
    case("swapaxes", lambda x: np.swapaxes(x, 0, -1), (2, 3, 4)),
    case("swapaxes of the last two", lambda x: x.swapaxes(-1, 1), (2, 3, 4)),
    case("reshape", lambda x: np.reshape(x, (3, 2)), (2, 3)),
    case("reshape -1", lambda x: np.reshape(x, -1), (2, 3)),
    case("reshape to more axes", lambda x: x.reshape(1, 3, -1), (2, 3)),
    case("reshape in Fortran's order", lambda x: np.reshape(x, (3, 2), order="F"), (2, 3)),
    case("ravel", np.ravel, (2, 3)),
    case("expand_dims 0", lambda x: np.expand_dims(x, 0), (2, 3)),
    case("expand_dims (0, -1)", lambda x: np.expand_dims(x, axis=(0, -1)), (2, 3)),
    case("squeeze", np.squeeze, (1, 3, 1)),
    case("squeeze axis=-1", lambda x: np.squeeze(x, axis=-1), (1, 3, 1)),
    case("concatenate", lambda *xs: np.concatenate(xs), (2, 3), (1, 3)),
    case("concatenate axis=1", lambda *xs: np.concatenate(xs, axis=1), (2, 3), (2, 1)),
    case("concatenate axis=-2", lambda *xs: np.concatenate(xs, axis=-2), (1, 2, 3), (1, 1, 3)),
    case("concatenate axis=None", lambda *xs: np.concatenate(xs, axis=None), (2, 3), (2,)),
    case("concatenate of one tensor twice", lambda x: np.concatenate([x, x]), (3,)),
    case("concatenate with an array", lambda x: np.concatenate([np.ones(2), x, np.ones(1)]), (3,)),
    case("stack", lambda *xs: np.stack(xs), (2, 3), (2, 3)),
    case("stack axis=1", lambda *xs: np.stack(xs, axis=1), (2, 3), (2, 3)),
    case("stack axis=-1", lambda *xs: np.stack(xs, axis=-1), (2, 3), (2, 3), (2, 3)),
    case("stack of scalars", lambda *xs: np.stack(xs), (), ()),
    case("broadcast_to", lambda x: np.broadcast_to(x, (4, 2, 3)), (2, 1)),
    case("broadcast_to from a scalar", lambda x: np.broadcast_to(x, (2, 3)), ()),
    # Indexing
    *(
        indexing(text)
        for text in [
            "1",
            "-1, 2, 0",
            "1:",
            "::-1",
            "2:0:-2, ::2",
            "...",
            "..., 0",
            "1, ..., ::-1",
            "None",
            ":, None, 1",
            "0:0",
            "[0, 2]",
            "[2, 2, 0, 2]",
            "np.array([[0, 1], [1, 1]])",
            "np.array(1)",
            "[0, 1], [2, 2]",
            "[0, 0, 0], [1, 1, 2], [1, 1, 0]",
            "[0, 2], :, [1, 0]",
            "1, :, [1, 1]",
            "..., [1, 0, 1]",
            "[[0], [2]], [1, 3]",
            "None, [0, 1], ..., None",
            "np.array([True, False, True])",
            "[True, False, True], 1",
            "np.arange(24).reshape(3, 4, 2) % 3 == 0",
            "np.array([True, False, True]), [1, 1]",
            ":, np.array([True, False, True, True]), 0",
        ]
    ),
    case("x[tensor]", lambda x: x[np.argmax(x)], (4,), real=True),
    case("for row in x", lambda x: sum(k * row for k, row in enumerate(x, 1)), (3, 2)),
    case("gather", lambda x: gather(x, np.array([0, 2, 2]), (3, 2)) if np.ndim(x) else x, (3, 2)),
    case("scatter", lambda g: scatter(g, np.array([0, 2, 2]), (3, 2)), (3, 2)),
    case("scatter of a slice", lambda g: scatter(g, (slice(1, 3), 0), (3, 2)), (2,)),
    # Together
    case("sum(sin(x) * y)", lambda x, y: np.sum(np.sin(x) * y), (3,), (3,)),
    case("softmax", lambda x: np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True), (2, 3)),
    case("two layers", lambda w, v, x: np.tanh(np.tanh(x @ w) @ v), (3, 4), (4, 2), (2, 3)),
    case("a slice times itself", lambda x: x[1:] * x[:-1], (4,)),
]
