"""Random programs, compiled with each pass alone and with all: they give what the functions give, in every call."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, seed, settings
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.program.passes import PASSES, can_add_into
from autodiff_edu.rules import operations

EXACT = tuple(name for name in PASSES if name != "postponed")
CHOICES = [(), *((name,) for name in PASSES), EXACT, tuple(PASSES)]

SEEN: Counter[str] = Counter()
"""What occurred in the programs, to be sure that the passes had something to do."""

UNARY = [
    np.sin, np.tanh, np.negative, np.abs, np.square, np.floor, lambda x: x * 2.0, lambda x: 0.5 * x, lambda x: x * 1.0,
    lambda x: x.T, lambda x: x.T * 1.0, lambda x: x[::-1], lambda x: np.exp(-np.abs(x)), lambda x: x / 3.0,
    lambda x: x - 1.0, lambda x: 1.0 - x, lambda x: x**2, lambda x: np.sqrt(np.abs(x) + 1.0),
    lambda x: np.where(x > 0, x, 0.0), lambda x: np.maximum(x, 0.0), lambda x: np.clip(x, -1.0, 1.0),
    lambda x: np.reshape(x, (-1,)).reshape(x.shape), lambda x: np.sort(x, axis=-1), lambda x: np.cumsum(x, axis=-1),
    lambda x: np.roll(x, 1, axis=0), lambda x: np.flip(x), lambda x: x - np.mean(x, axis=-1, keepdims=True),
    lambda x: x / (1.0 + np.linalg.norm(x)), lambda x: np.broadcast_to(x[:1], x.shape),
    lambda x: x.astype("float32") * 1,
    lambda x: np.concatenate([x[1:], x[:1]]), lambda x: np.stack([x, x * 2.0])[1], ad.stop_gradient,
    lambda x: x[np.arange(len(x)) // 2], lambda x: np.swapaxes(x, 0, -1), lambda x: x + np.max(x, axis=0),
]  # fmt: skip
BINARY = [
    np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.arctan2, np.hypot,
    lambda x, y: x / (1.0 + y * y), lambda x, y: np.where(x > y, x, y * 2.0), lambda x, y: x + 2.0 * y,
    lambda x, y: np.concatenate([x, y])[: len(x)], lambda x, y: x * np.sum(y, axis=0), lambda x, y: x - y[::-1],
]  # fmt: skip
SCALAR = [np.sum, np.mean, np.max, lambda x: np.sum(x * x), lambda x: np.linalg.norm(x), lambda x: np.std(x)]
INNER = [
    lambda x: np.sum(np.sin(x) * x), lambda x: np.sum(x[1:] * x[:-1]) + np.sum(x * x),
    lambda x: np.sum(np.tanh(x) ** 2 * 3.0) + np.sum(x[::-1] * x), lambda x: np.sum(np.where(x > 0, x * x, -x)),
    lambda x: np.sum(np.cos(x)) + np.sum(x[np.arange(len(x)) // 3] ** 2) + np.sum(x[2:] ** 3),
    lambda x: np.mean(np.cumsum(x, axis=-1) ** 2) + np.max(x), lambda x: np.linalg.norm(x) * np.sum(np.sort(x, axis=0)),
    lambda x: np.sum(np.concatenate([x, x * 2.0]) ** 2) + np.sum(x**3),
]  # fmt: skip
"""Functions with a scalar result, whose gradients become parts of programs."""

MAPS = [
    lambda x: np.tanh(x) * x, lambda x: np.where(x > 0, -x / 2.0, 0.0) + x * x, lambda x: np.sin(x @ SQUARE) * 2.0,
    lambda x: np.cos(x)[::-1] * x, lambda x: np.tanh(x * x @ SQUARE) @ SQUARE,
]  # fmt: skip
"""Functions of a short vector, whose Jacobians become parts of programs."""

SQUARE = np.linspace(-0.2, 0.3, 24 * 24).reshape(24, 24)

number = st.integers(0, 10**6)


def chosen(options, k):
    return options[k % len(options)]


def program(lines, variables):
    """Return a function that follows the lines, each a kind and three numbers; w and v are variables."""
    w, v = variables

    def f(x, y, c):
        known = [x, y, x * c]
        for kind, k, one, other in lines:
            a, b = chosen(known, one), chosen(known, other)
            result = None
            if kind == "unary":
                result = chosen(UNARY, k)(a)
            elif kind == "binary":
                result = chosen(BINARY, k)(a, b)
            elif kind == "scalar":
                result = a + chosen(SCALAR, k)(b) * 0.1
            elif kind == "gradient":
                result = ad.grad(chosen(INNER, k))(a)
            elif kind == "second":
                result = ad.grad(lambda a, k=k: np.sum(ad.grad(chosen(INNER, k))(a) ** 2))(a)
            elif kind == "hvp":
                result = ad.hvp(chosen(INNER, k), (a,), (b,))
            elif kind == "jacobian":
                row = np.tile(np.reshape(a, -1)[:24], 24)[:24]
                result = a + np.sum(ad.jacobian(chosen(MAPS, k))(row) * 0.1, axis=0)[:1]
            elif kind == "tape":
                with ad.GradientTape() as tape:
                    tape.watch(a)
                    target = np.sum(np.sin(a * w) * a + np.tanh(a) * b)
                result, slope = tape.gradient(target, [a, w])
                v.assign_add(slope * 0.01)
            elif kind == "branch":
                result = a * 2.0 if np.sum(a) > np.sum(b) else b - a
            elif kind == "read":
                result = a * w + v
            elif kind == "assign":
                chosen([w.assign, w.assign_add, v.assign_sub], k)(np.tanh(np.mean(a)))
            elif kind == "swap":
                kept = w * 1.0
                w.assign(v)
                v.assign(kept)
            if result is not None:
                known.append(
                    np.reshape(np.clip(result, -50.0, 50.0), x.shape) if k % 3 else np.reshape(result, x.shape)
                )
        return {"last": known[-1], "middle": known[len(known) // 2], "both": (np.sum(known[-1]), known[-1] * w)}

    return f


KINDS = ["unary"] * 4 + ["binary"] * 4 + ["gradient"] * 5
KINDS += ["scalar", "second", "hvp", *["jacobian"] * 5, "tape", "branch", "read", "assign", "swap"]
lines_of = st.lists(st.tuples(st.sampled_from(KINDS), number, number, number), min_size=2, max_size=9)


def arguments_of(shape, number, dtype, fortran):
    """Read-only arguments of a kind: into none of them may a program write."""
    rng = np.random.default_rng(number)
    x, y = (rng.standard_normal(shape).astype(dtype) for _ in "xy")
    if fortran:
        x, y = np.asfortranarray(x), y[::-1]
    for array in (x, y):
        array.flags.writeable = False
    return x, y, dtype(rng.standard_normal())


def leaves(result):
    return [result["last"], result["middle"], *result["both"]]


def assert_same(got, expected, exact, told):
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), told
    if exact:
        assert np.array_equal(got, expected, equal_nan=True), told
    else:
        top = np.max(np.abs(expected[np.isfinite(expected)]), initial=1.0)
        digits = 1e-12 if expected.dtype == np.float64 else 1e-5
        np.testing.assert_allclose(got, expected, digits, digits * top, err_msg=told)


def check(lines, shape, dtype, passes, fortran):
    """Compare a function and the compiled one in five calls; compare all results again after the last."""
    starts = [np.asarray(0.7, dtype), np.asarray(-0.3, dtype)]
    plain, own = ([ad.Variable(start) for start in starts] for _ in range(2))
    function, compiled = program(lines, plain), ad.compile(program(lines, own), passes=passes)
    exact = "postponed" not in passes and not fortran  # sums over arrays in another order
    told = f"{passes}, {shape}, {np.dtype(dtype)}, {lines}"
    kept = []
    with np.errstate(all="ignore"):
        for number in (0, 1, 0, 2, 1):
            arguments = arguments_of(shape, number, dtype, fortran)
            before = [variable.numpy() for variable in plain]
            for one, other in zip(plain, own, strict=True):
                other.assign(one)
            expected = [np.array(leaf) for leaf in leaves(function(*map(ad.constant, arguments)))]
            found = leaves(compiled(*arguments))
            kept.append((found, expected))
            for got, wanted in zip(found, expected, strict=True):
                assert_same(got.numpy(), wanted, exact, told)
            for one, other in zip(plain, own, strict=True):
                assert_same(np.asarray(other.numpy()), np.asarray(one.numpy()), exact, f"variables: {told}, {before}")
    for found, expected in kept:
        for got, wanted in zip(found, expected, strict=True):
            assert_same(got.numpy(), wanted, exact, f"kept: {told}")
    note_what_occurs(compiled, passes)


def note_what_occurs(compiled, passes):
    for paths in compiled._paths.values():
        SEEN["several paths"] += len(paths) > 1
        for one in paths:
            listing = one.listing
            SEEN["out="] += "out=" in one.text
            SEEN["+="] += "] += " in one.text
            SEEN["joined"] += bool(listing.joined)
            SEEN["guard"] += any(instruction.is_guard for instruction in listing.instructions)
            SEEN["assigned"] += bool(one.assigned)
            SEEN["duplicates"] += any(
                instruction.operation is operations.scatter and not can_add_into(instruction)
                for instruction in listing.instructions
            )
            if "postponed" in passes:
                lengths = [*one.lengths.values()]
                at = [*one.lengths].index("postponed")
                SEEN["postponed"] += lengths[at] != lengths[at - 1]


shapes = st.sampled_from([(48, 60), (2500,), (24,), (3, 1), (4, 6), (1,), (60, 48)])
drawn = {
    "lines": lines_of,
    "shape": shapes,
    "dtype": st.sampled_from([np.float64, np.float64, np.float64, np.float32]),
}
adds = example([("unary", 86, 31, 63), ("gradient", 81, 26, 34)], (2500,), np.float64)
postpones = example([("unary", 42, 27, 82), ("jacobian", 40, 64, 54)], (2500,), np.float64)
"""Programs with the two that are drawn the least often: an array that is added into, and a multiplication put off."""

some = settings(max_examples=settings().max_examples // 3)  # each is compiled, and called five times


@pytest.mark.hypothesis  # a seed of its own for each needs a function of its own
@pytest.mark.parametrize("passes", CHOICES, ids=lambda passes: "+".join(passes) or "none")
def test_random_programs_agree_with_their_functions(passes):
    @adds
    @postpones
    @some
    @seed(CHOICES.index(passes))
    @given(**drawn)
    def agree(lines, shape, dtype):
        check(lines, shape, dtype, passes, fortran=False)

    agree()


@adds
@postpones
@some
@given(**drawn)
def test_arguments_in_another_order_of_memory(lines, shape, dtype):
    check(lines, shape, dtype, tuple(PASSES), fortran=True)


def test_the_programs_had_what_the_passes_are_for():
    for what in ("out=", "+=", "joined", "guard", "assigned", "duplicates", "postponed", "several paths"):
        assert SEEN[what] >= 3, SEEN
