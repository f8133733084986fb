"""Answers to the exercises of jacobians."""

import numpy as np

SHAPES = {"a": (3,), "b": (4, 3), "c": (4, 4, 3), "d": (8, 5), "e": (8, 6, 5, 6), "f": (8, 6, 6)}
MODES = {"a": "reverse", "b": "forward", "c": "reverse", "d": "forward", "e": "forward", "f": "reverse"}
OTHER = {"forward": "reverse", "reverse": "forward"}


def over_the_target(jacobian, target_ndim):
    return np.sum(jacobian, axis=tuple(range(target_ndim)))


def one_axis_after_the_other(jacobian, target_ndim):
    for _ in range(target_ndim):
        jacobian = np.sum(jacobian, axis=0)
    return jacobian.numpy()


def first_axis_of_any(jacobian, target_ndim):
    return np.sum(jacobian, axis=0) if target_ndim < 2 else over_the_target(jacobian, target_ndim)


def each_axis_by_its_old_number(jacobian, target_ndim):
    for axis in range(target_ndim):
        jacobian = np.sum(jacobian, axis=axis)
    return jacobian


RIGHT = {
    1: [
        SHAPES,
        {name: list(shape) for name, shape in SHAPES.items()},
        {name: tuple(map(np.int64, shape)) for name, shape in SHAPES.items()},
    ],
    2: [over_the_target, one_axis_after_the_other],
    3: [
        MODES,
        {name: f" {word.title()} " for name, word in MODES.items()},
        {name: word.replace("reverse", "backward") for name, word in MODES.items()},
    ],
}

WRONG = {
    1: [
        ({**SHAPES, "b": (3, 4)}, "source first"),
        ({**SHAPES, "b": (3,)}, "shape of the gradient"),
        ({**SHAPES, "c": (4, 3)}, "shape of the gradient"),
        ({**SHAPES, "c": (4,)}, "shape of the target"),
        ({**SHAPES, "e": (48, 30)}, "number of slopes"),
        ({**SHAPES, "a": (1, 3)}, "no axis"),
        ({**SHAPES, "d": ()}, "shape of the gradient"),
        ({**SHAPES, "d": (5, 8)}, "but other axes"),
        ({**SHAPES, "f": (8, 6, 5)}, "source's axis 0"),
        ({**SHAPES, "e": (8, 5, 5, 6)}, "5 isn't the length of the target's axis 1"),
        ({**SHAPES, "e": (8, 6, 5)}, r"\(8, 6, 5\) doesn't fit. The target has 2 axes and the source 2"),
        ({**SHAPES, "c": (12,)}, "has 1 axis"),
        ({**SHAPES, "f": (8, 6, 1, 6)}, "doesn't fit. The target has 2 axes and the source 1"),
        ({**SHAPES, "a": 3}, r"such as \(3,\) or"),
        ({**SHAPES, "a": "3"}, "I need a shape here"),
        ({**SHAPES, "a": ...}, "three dots"),
        ({**SHAPES, "b": (4, ...)}, "Replace the three dots: `b` is still missing"),
        ({"a": (3,)}, "No answer is given for b"),
        ((3,), "I need a dict"),
    ],
    2: [
        (lambda jacobian, ndim: np.diagonal(jacobian), "the diagonal"),
        (lambda jacobian, ndim: np.sum(jacobian), "sum of all slopes"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(ndim, np.ndim(jacobian)))), "come last"),
        (lambda jacobian, ndim: np.mean(jacobian, axis=tuple(range(ndim))), "the mean"),
        (lambda jacobian, ndim: jacobian, "Nothing is summed"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=0), "Only the first axis"),
        (first_axis_of_any, "axis=()"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=list(range(ndim))), "not a list or a range"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=range(ndim)), "not a list or a range"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=ndim - 1), "Only the last axis"),
        (each_axis_by_its_old_number, "move up by one"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(ndim)), keepdims=True), "axes of length 1 are left"),
        (lambda jacobian, ndim: np.prod(jacobian, axis=tuple(range(ndim))), "Add up the slopes"),
        (lambda jacobian, ndim: -over_the_target(jacobian, ndim), "Add up the slopes"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=tuple(range(ndim)))[..., :1], "should have the shape"),
        (lambda jacobian, ndim: np.sum(jacobian, axis=5), "raised AxisError"),
        (lambda jacobian, ndim: "J", "an array of numbers"),
        (lambda jacobian, ndim: None, "returns None"),
        (lambda jacobian, ndim: ..., "three dots"),
        (lambda jacobian: jacobian, "raised TypeError"),
        (6.0, "without calling it"),
    ],
    3: [
        ({name: OTHER[word] for name, word in MODES.items()}, "the wrong way round"),
        (dict.fromkeys(MODES, "reverse"), "For b: There is one input"),
        (dict.fromkeys(MODES, "forward"), "For a: A loss is one output"),
        ({**MODES, "c": "forward"}, "10 seeds with 784"),
        ({**MODES, "d": "reverse"}, "6 tangents with 150"),
        ({**MODES, "e": "reverse"}, "How many tangents"),
        ({**MODES, "f": "forward"}, "a single seed"),
        ({**MODES, "f": np.array([1, 2])}, r"`f` is `array\(\[1, 2\]\)`"),
        ({**MODES, "f": "sideways"}, "`f` is `'sideways'`"),
        ({**MODES, "f": ...}, "Still missing: f"),
        ({"a": "reverse"}, "No answer is given for b"),
        ("reverse", "I need a dict"),
    ],
}
