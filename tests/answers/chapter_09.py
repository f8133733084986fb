"""Answers to the exercises of chapter 9."""

import tempfile
from pathlib import Path

import numpy as np

import autodiff_edu as ad

FOLDER = tempfile.TemporaryDirectory()
"""Where the functions of 7.3 are saved, until the tests end."""


def bell(slope):
    """Make a bell curve whose gradient is `slope(dy, x, y, slow_exp)`."""

    @ad.custom_gradient
    def custom(x, slow_exp):
        y = slow_exp(-x * x)
        return y, lambda dy: slope(dy, x, y, slow_exp)

    return custom


@ad.custom_gradient
def bell_without_slow_exp(x, slow_exp):
    y = np.exp(-x * x)
    return y, lambda dy: dy * -2.0 * x * y


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
    "9.1": [{"after": 2.0, "before": 0.5}, {"after": ad.constant(2.0), "before": np.array(0.5)}],
    "9.2": [bell(lambda dy, x, y, e: dy * -2.0 * x * y), bell(lambda dy, x, y, e: -2.0 * (x * (y * dy)))],
    "9.3": [saved(through(lambda dy, x: dy)), saved(through(lambda dy, x: dy * 1.0, np.rint))],
}

WRONG = {
    "9.1": [
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
    "9.2": [
        (bell(lambda dy, x, y, e: dy * -2.0 * x * e(-x * x)), "was called 2 times"),
        (bell(lambda dy, x, y, e: -2.0 * x * y), "cotangent is forgotten"),
        (bell(lambda dy, x, y, e: dy * 2.0 * x * y), "sign is wrong"),
        (bell(lambda dy, x, y, e: dy * -2.0 * x), "outer one"),
        (bell(lambda dy, x, y, e: dy * y), "exponent -x² is missing"),
        (bell(lambda dy, x, y, e: dy), "unchanged"),
        (bell(lambda dy, x, y, e: dy * -x * y), "x * x has two factors"),
        (bell(lambda dy, x, y, e: dy * 3.0), "should become"),
        (bell(lambda dy, x, y, e: None), "gives None"),
        (bell(lambda dy, x, y, e: ...), "three dots"),
        (bell(lambda dy, x, y, e: (dy, dy, dy)), "On the way back"),
        (bell_without_slow_exp, "never calls"),
        (lambda x, slow_exp: slow_exp(-x * x), "no custom gradient"),
        (lambda x, slow_exp: (slow_exp(-x * x), lambda dy: dy), "gives a tuple"),
        (lambda x, slow_exp: slow_exp(x), "your value is"),
        (lambda x: x, "raised TypeError"),
        (lambda x, slow_exp: 3.0, "It must give a tensor"),
        (3.0, "without calling it"),
    ],
    "9.3": [
        (saved(through(lambda dy, x: dy), custom_gradients=False), "custom_gradients=False"),
        (saved(through(lambda dy, x: dy * 0.0 + 1.0)), "cotangent is forgotten"),
        (saved(through(lambda dy, x: dy * 0.0)), "true slope of a rounding"),
        (saved(through(lambda dy, x: dy * 2.0)), "Let it pass"),
        (saved(through(lambda dy, x: dy, lambda x: x + 0.0)), "gives x itself"),
        (saved(through(lambda dy, x: dy, np.floor)), "it should round"),
        (saved(through(lambda dy, x: None)), "gradient is None"),
        (saved(through(lambda dy, x: dy), example=0.3), "that is an array"),
        (no_file(), "no file of `ad.save`"),
        (Path("nowhere.ad"), "no file at"),
        (through(lambda dy, x: dy), "not the function"),
        (7.0, "Hand in path itself"),
    ],
}
