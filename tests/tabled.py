"""How the tests run a case of the table: recorded, as a plain function, and its gradients to second order."""

import pytest
from differences import draw

import autodiff_edu as ad


def each(cases):
    return pytest.mark.parametrize("case", cases, ids=[c.name for c in cases])


def recorded(f, *arrays, persistent=True):
    """Run a function on a tape that watches its arguments; give the tape, the arguments as tensors, and the result."""
    tensors = [ad.constant(a) for a in arrays]
    with ad.GradientTape(persistent=persistent) as tape:
        tape.watch(tensors)
        y = f(*tensors)
    return tape, tensors, y


def plain(case):
    """The case's function on plain arrays: its value alone, whatever path the tape would have taken."""
    return lambda *arguments: case.function(*map(ad.constant, arguments)).numpy()


def seed_of(y, *key):
    return draw(y.shape, "seed", *key, dtype=y.dtype)


def pulled_back(case, arguments, order=1):
    """The gradients of the case, or of its gradients, against fixed cotangents; as arrays."""
    tensors = [ad.constant(a) for a in arguments]
    with ad.GradientTape() as outer:
        outer.watch(tensors)
        with ad.GradientTape() as inner:
            inner.watch(tensors)
            y = case.function(*tensors)
        first = inner.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    if order == 1:
        return [g.numpy() for g in first]
    seeds = [seed_of(g, k) for k, g in enumerate(first)]
    second = outer.gradient(first, tensors, output_gradients=seeds, unconnected_gradients="zero")
    return [g.numpy() for g in second]
