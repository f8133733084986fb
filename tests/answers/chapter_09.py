"""Answers to the exercises of chapter 9."""

import tempfile
from pathlib import Path

import numpy as np

import autodiff_edu as ad

FOLDER = tempfile.TemporaryDirectory()
"""Where the functions of 9.3 are saved, until the tests end."""


def cosh_with(backward):
    """Make log(cosh(x)) with the gradient `backward(dy, x)`."""

    @ad.custom_gradient
    def log_cosh(x):
        return np.logaddexp(x, -x) - np.log(2.0), lambda dy: backward(dy, x)

    return log_cosh


def by_exponentials(dy, x):
    return dy * (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


def with_a_kink(dy, x):
    small = np.exp(-2.0 * np.abs(x))
    return dy * np.where(x >= 0.0, 1.0, -1.0) * (1.0 - small) / (1.0 + small)


def in_float32(dy, x):
    return (dy * np.tanh(x)).astype(np.float32).astype(np.float64)


class saved:  # noqa: N801 (read as a function)
    """The path of a file that a function is saved to when the path is first asked for."""

    def __init__(self, function, example=(0.2, 1.7, -2.4), **options):
        self.function, self.example, self.options, self.path = function, example, options, None

    def __fspath__(self):
        if self.path is None:
            self.path = f"{FOLDER.name}/{len(list(Path(FOLDER.name).iterdir()))}.ad"
            ad.save(self.function, self.path, np.array(self.example), **self.options)
        return self.path


def through(backward, value=np.round):
    return ad.custom_gradient(lambda x: (value(x), lambda dy: backward(dy, x)))


def no_file():
    path = Path(FOLDER.name) / "text.txt"
    path.write_text("through", encoding="utf-8")
    return path


RIGHT = {
    "9.1": [
        cosh_with(lambda dy, x: dy * np.tanh(x)),
        cosh_with(lambda dy, x: np.sinh(x) / np.cosh(x) * dy),
        cosh_with(by_exponentials),
        cosh_with(lambda dy, x: dy * (1.0 - 2.0 / (1.0 + np.exp(2.0 * x)))),
        cosh_with(in_float32),
    ],
    "9.2": [{"after": 2.0, "before": 0.5}, {"after": ad.constant(2.0), "before": np.array(0.5)}],
    "9.3": [saved(through(lambda dy, x: dy)), saved(through(lambda dy, x: dy * 1.0, np.rint))],
}

WRONG = {
    "9.1": [
        (cosh_with(lambda dy, x: np.tanh(x)), "the cotangent is missing"),
        (cosh_with(lambda dy, x: -dy * np.tanh(x)), "sign is wrong"),
        (cosh_with(lambda dy, x: dy), "unchanged"),
        (cosh_with(lambda dy, x: dy * (1.0 - np.tanh(x) ** 2)), "slope of the slope"),
        (cosh_with(lambda dy, x: dy * np.sinh(x)), "division by cosh"),
        (cosh_with(lambda dy, x: dy * np.log(np.cosh(x))), "the value again"),
        (cosh_with(lambda dy, x: dy + np.tanh(x)), "Multiply them"),
        (cosh_with(lambda dy, x: dy * 3.0), "should become"),
        (cosh_with(lambda dy, x: dy * np.tanh(x.numpy())), "doesn.t depend on x"),
        (cosh_with(lambda dy, x: dy * ad.stop_gradient(np.tanh(x))), "doesn.t depend on x"),
        (cosh_with(with_a_kink), "except at 0"),
        (cosh_with(lambda dy, x: dy * (np.tanh(x) + x - ad.stop_gradient(x))), "should be 1 - tanh"),
        (cosh_with(lambda dy, x: None), "returns None"),
        (cosh_with(lambda dy, x: ...), "three dots"),
        (cosh_with(lambda dy, x: (dy, dy)), "On the way back"),
        (lambda x: np.logaddexp(x, -x) - np.log(2.0), "by itself"),
        (lambda x: (x, lambda dy: dy), "returns a tuple"),
        (lambda x: x * 2.0, "value has changed"),
        (lambda: 1.0, "raised TypeError"),
        (lambda x: 3.0, "Return a tensor"),
        (3.0, "without calling it"),
    ],
    "9.2": [
        ({"after": 0.5, "before": 2.0}, "changed places"),
        ({"after": 4.0, "before": 0.5}, "without a clip"),
        ({"after": 0.5, "before": 0.5}, "the square follows"),
        ({"after": 1.0, "before": 0.5}, "both count"),
        ({"after": 3.0, "before": 0.5}, "What leaves it"),
        ({"after": 2.0, "before": 4.0}, "longer than 0.5"),
        ({"after": 2.0, "before": 2.0}, "arrives at the clip as 4"),
        ({"after": 2.0, "before": 1.0}, "added up to 4"),
        ({"after": 2.0, "before": 0.25}, "does not multiply"),
        ({"after": 2.0, "before": 7.0}, "send to the clip"),
        ({"after": 2.0}, "No gradient is given for before"),
        ({"after": 2.0, "before": ...}, "Still open: before"),
        ({"after": ..., "before": ...}, "three dots"),
        ((2.0, 0.5), "I need a dict"),
    ],
    "9.3": [
        (saved(through(lambda dy, x: dy), custom_gradients=False), "custom_gradients=False"),
        (saved(through(lambda dy, x: dy * 0.0 + 1.0)), "cotangent is forgotten"),
        (saved(through(lambda dy, x: dy * 0.0)), "true slope of a rounding"),
        (saved(through(lambda dy, x: dy * 2.0)), "Let it through"),
        (saved(through(lambda dy, x: dy, lambda x: x + 0.0)), "returns x itself"),
        (saved(through(lambda dy, x: dy, np.floor)), "it should round"),
        (saved(through(lambda dy, x: None)), "gradient is None"),
        (saved(through(lambda dy, x: dy), example=0.3), "that is an array"),
        (no_file(), "not written by `ad.save`"),
        (Path("nowhere.ad"), "no file at"),
        (through(lambda dy, x: dy), "not the function"),
        (7.0, "Hand in path itself"),
    ],
}
