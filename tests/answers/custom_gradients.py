"""Answers to the exercises of custom-gradients."""

import tempfile
import warnings
from pathlib import Path

import numpy as np

import autodiff_edu as ad

FOLDER = tempfile.TemporaryDirectory()
"""Where the functions of 9.3 are saved, until the tests end."""


def log_cosh(slope, value=None):
    """Make log(cosh x) with the gradient `slope(dy, x, size, small)`."""

    @ad.custom_gradient
    def custom(x):
        size = np.abs(x)
        small = np.exp(-2.0 * size)
        found = size + np.log1p(small) - np.log(2.0) if value is None else value(x)
        return found, lambda dy: slope(dy, x, size, small)

    return custom


def plain(dy, x, *_):
    return dy * np.tanh(x.numpy())


def half_plain(dy, x, *_):
    return dy * (np.tanh(x) + np.tanh(x.numpy())) / 2.0


@ad.custom_gradient
def plain_outside(x):
    slope = np.tanh(np.asarray(x))
    return np.logaddexp(x, -x) - np.log(2.0), lambda dy: dy * slope


@ad.custom_gradient
def in_a_loop(x):
    """Element by element; the value is computed from plain numbers, which a custom gradient may do."""
    value = np.array([np.logaddexp(number, -number) - np.log(2.0) for number in x.numpy()])
    return value, lambda dy: np.stack([dy[k] * np.tanh(x[k]) for k in range(len(x))])


def single(dy, x, *_):
    return dy * np.tanh(x.astype(np.float32))


def fraction(dy, x, *_):
    return dy * (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


class saved:  # noqa: N801 (read as a function)
    """The path of a file that a function is saved to when the path is first asked for."""

    def __init__(self, function, example=(0.2, 1.7, -2.4), **options):
        self.function, self.example, self.options, self.path = function, example, options, None

    def __fspath__(self):
        if self.path is None:
            self.path = f"{FOLDER.name}/{len(list(Path(FOLDER.name).iterdir()))}.ad"
            with warnings.catch_warnings(action="ignore"):  # of plain numbers, which some answers use
                ad.save(self.function, self.path, np.array(self.example), **self.options)
        return self.path


def through(backward, value=np.round):
    return ad.custom_gradient(lambda x: (value(x), lambda dy: backward(dy, x)))


def no_file():
    path = Path(FOLDER.name) / "text.txt"
    path.write_text("through", encoding="utf-8")
    return path


RIGHT = {
    2: [{"after": 2.0, "before": 0.5}, {"after": ad.constant(2.0), "before": np.array(0.5)}],
    1: [
        log_cosh(lambda dy, x, *_: dy * np.tanh(x)),
        log_cosh(lambda dy, x, *_: np.sinh(x / 1e9) * 0.0 + np.tanh(x) * dy, lambda x: np.logaddexp(x, -x) - np.log(2)),
        log_cosh(lambda dy, x, *_: dy * (2.0 * np.exp(-np.logaddexp(0.0, -2.0 * x)) - 1.0)),
        log_cosh(single),
        in_a_loop,
    ],
    3: [saved(through(lambda dy, x: dy)), saved(through(lambda dy, x: dy * 1.0, np.rint))],
}

WRONG = {
    2: [
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
        ({"after": 2.0, "before": ...}, "Still missing: before"),
        ({"after": ..., "before": ...}, "three dots"),
        ((2.0, 0.5), "I need a dict"),
    ],
    1: [
        (log_cosh(lambda dy, x, size, small: dy * np.sign(x) * (1 - small) / (1 + small)), "Right once, wrong twice"),
        (log_cosh(lambda dy, x, size, small: dy * np.where(x > 0, 1.0, -1.0) * np.tanh(size)), "has a kink there"),
        (log_cosh(plain), "forgotten that it came from x"),
        (plain_outside, "forgotten that it came from x"),
        (log_cosh(half_plain), "even away from 0"),
        (log_cosh(lambda dy, x, *_: dy.numpy() * np.tanh(x)), "Leave dy a tensor"),
        (log_cosh(lambda dy, x, *_: ad.stop_gradient(dy) * np.tanh(x)), "Leave dy a tensor"),
        (log_cosh(fraction), "it is nan: an exponential overflows"),
        (
            log_cosh(lambda dy, x, *_: dy - 2.0 * dy / (np.exp(2.0 * x) + 1.0) + 0.0 * np.exp(x)),
            "exponential overflows",
        ),
        (log_cosh(lambda dy, x, *_: (1.0 - np.exp(-2.0 * x)) * dy / (1.0 + np.exp(-2.0 * x))), "it is nan: an exp"),
        (log_cosh(lambda dy, x, *_: dy * (1.0 - 2.0 / (1.0 + np.exp(2.0 * x)))), "but its slope is nan there"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(np.clip(x, -5, 5)) * np.where(x > 99, 2.0, 1.0)), "-1 at -1000"),
        (log_cosh(lambda dy, x, *_: np.tanh(x)), "without the cotangent"),
        (log_cosh(lambda dy, x, *_: dy * -np.tanh(x)), "sign is turned round"),
        (log_cosh(lambda dy, x, *_: dy), "unchanged"),
        (log_cosh(lambda dy, x, size, small: dy * np.tanh(size)), "lost its sign"),
        (log_cosh(lambda dy, x, *_: dy * np.sign(x)), r"slope of \|x\|"),
        (log_cosh(lambda dy, x, *_: dy / np.cosh(x) ** 2), "slope of the slope"),
        (log_cosh(lambda dy, x, *_: dy * np.sinh(x)), "not yet divided"),
        (log_cosh(lambda dy, x, *_: dy + np.tanh(x)), "Multiply by it"),
        (log_cosh(lambda dy, x, *_: np.abs(dy) * np.tanh(x)), "should become"),
        (log_cosh(lambda dy, x, *_: dy * 3.0), "should become"),
        (log_cosh(lambda dy, x, *_: None), "returns None"),
        (log_cosh(lambda dy, x, *_: ...), "three dots"),
        (log_cosh(lambda dy, x, *_: (dy, dy, dy)), "What is computed with your log_cosh raised ValueError"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(x), lambda x: np.log(np.cosh(x))), "the value overflows"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(x), lambda x: np.logaddexp(x, -x)), "too large by log 2"),
        (log_cosh(lambda dy, x, *_: dy * np.tanh(x), np.cos), "the value should be"),
        (lambda x: np.logaddexp(x, -x) - np.log(2.0), "no custom gradient"),
        (lambda x: (x, lambda dy: dy), "returns a tuple"),
        (lambda x: None, "returns None"),
        (lambda x: 3.0, "not a tensor"),
        (lambda: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    3: [
        (saved(through(lambda dy, x: dy), custom_gradients=False), "custom_gradients=False"),
        (saved(through(lambda dy, x: dy * 0.0 + 1.0)), "cotangent is forgotten"),
        (saved(through(lambda dy, x: dy * 0.0)), "true slope of a rounding"),
        (saved(through(lambda dy, x: dy * 2.0)), "Let it pass"),
        (saved(through(lambda dy, x: dy, lambda x: x + 0.0)), "returns x itself"),
        (saved(through(lambda dy, x: dy, np.floor)), "it should round"),
        (saved(through(lambda dy, x: None)), "gradient is None"),
        (saved(through(lambda dy, x: dy), example=0.3), "array with one axis"),
        (saved(through(lambda dy, x: dy), example=((0.3, 1.2),)), "array with one axis"),
        (saved(lambda x: x + ad.stop_gradient(np.round(x) - x)), "without a custom gradient"),
        (no_file(), "not written by `ad.save`"),
        (Path("nowhere.ad"), "no file at"),
        (through(lambda dy, x: dy), "not the function"),
        (7.0, "Hand in `path` itself"),
    ],
}
