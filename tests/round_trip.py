"""Functions saved and loaded again, and what it means that they are the same."""

import warnings

import numpy as np
from differences import draw

import autodiff_edu as ad
from autodiff_edu.saving import load, save
from autodiff_edu.saving.files import unpack

X = draw((4, 3), "x")
SQUARE = 3 * np.eye(3) + draw((3, 3), "square")


def save_and_load(function, path, *examples, **options):
    """Save without a word of warning, and load."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(function, path, *examples, **options)
    return load(path)


def program(path):
    """What a file says, without the places."""
    document, arrays = unpack(path.read_bytes(), path)

    def without(part):
        if isinstance(part, dict):
            return {key: without(value) for key, value in part.items() if key not in ("place", "name")}
        return [without(value) for value in part] if isinstance(part, list) else part

    return without(document), {name: array.tolist() for name, array in arrays.items()}


def values_and_gradients(function, arguments):
    """The value, the first derivatives, and those of their sum of squares."""
    tensors = [ad.constant(a) for a in arguments]
    smooth = [t for t in tensors if t.dtype.kind in "fc"]
    with ad.GradientTape() as outer:
        outer.watch(smooth)
        with ad.GradientTape() as inner:
            inner.watch(smooth)
            y = function(*tensors)
        first = inner.gradient(y, smooth, unconnected_gradients="zero")
        total = sum(np.sum(np.real(g) ** 2) for g in first)
    second = outer.gradient(total, smooth, unconnected_gradients="zero")
    return [np.asarray(t) for t in (y, *first, *second)]


def assert_same(function, again, *arguments):
    ours, theirs = values_and_gradients(again, arguments), values_and_gradients(function, arguments)
    for mine, its in zip(ours, theirs, strict=True):
        assert mine.dtype == its.dtype
        np.testing.assert_array_equal(mine, its)
