"""What becomes of a call that turns a tensor into plain numbers, while a tape records that follows it."""

import array
import cmath
import copy
import ctypes
import functools
import heapq
import io
import json
import logging
import math
import operator
import pickle
import random
import re
import statistics
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import autodiff_edu as ad


def put(array, index, value):
    array[index] = value
    return array


class Neuron:
    """Keeps functions and an array where no name in the code shows what they are."""

    def __init__(self, activation=None):
        self.activation, self.buffer = activation, np.zeros(2)
        self.cast = float

    def __call__(self, x):
        return self.activation(x)


def written_in(array, write):
    write(array)
    return array


def unpacked(x):
    a, b = map(float, x)
    first, *_ = map(float, x)
    return a + b + first


def in_another_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


# The call, of a vector x and its elements p and q; the exception that it raises, and what that says to write instead.
REFUSED = {
    "a[0] = p": (lambda x, p, q: put(np.zeros(2), 0, p), ValueError, r"np\.stack"),
    "a[0] = x[0] in integers": (lambda x, p, q: put(np.zeros(2, int), 0, p), TypeError, r"np\.where"),
    "a[:] = x": (lambda x, p, q: put(np.zeros(2), slice(None), x), TypeError, r"np\.stack"),
    "a[0] = [p, q]": (lambda x, p, q: put(np.zeros((2, 2)), 0, [p, q]), TypeError, r"np\.stack"),
    "operator.setitem": (lambda x, p, q: operator.setitem(np.zeros(2), 0, p), ValueError, r"np\.stack"),
    "a.fill(p)": (lambda x, p, q: np.zeros(2).fill(p), ValueError, r"np\.broadcast_to"),
    "a.put": (lambda x, p, q: np.zeros(2).put(0, p), TypeError, r"x\.numpy\(\)"),
    "a.dot(x)": (lambda x, p, q: np.ones(2).dot(x), TypeError, r"x\.numpy\(\)"),
    "np.sum": (lambda x, p, q: np.sum([p, q]), TypeError, r"np\.sum takes.*np\.stack"),
    "np.mean": (lambda x, p, q: np.mean([p, q]), TypeError, r"np\.stack"),
    "np.max": (lambda x, p, q: np.max([p, q]), TypeError, r"np\.stack"),
    "np.sin": (lambda x, p, q: np.sin([p, q]), TypeError, r"np\.stack"),
    "np.exp": (lambda x, p, q: np.exp([p, q]), TypeError, r"np\.stack"),
    "np.sort": (lambda x, p, q: np.sort([p, q]), TypeError, r"np\.stack"),
    "np.linalg.norm": (lambda x, p, q: np.linalg.norm([p, q]), TypeError, r"np\.linalg\.norm takes.*np\.stack"),
    "np.linalg.solve": (lambda x, p, q: np.linalg.solve([[p, 0.0], [0.0, q]], [1.0, 2.0]), TypeError, r"np\.stack"),
    "np.linalg.det": (lambda x, p, q: np.linalg.det([[p, 0.0], [0.0, q]]), TypeError, r"np\.stack"),
    "np.concatenate": (lambda x, p, q: np.concatenate([[p], [q]]), TypeError, r"np\.stack"),
    "np.where": (lambda x, p, q: np.where([True, False], [p, q], 0.0), TypeError, r"np\.stack"),
    "array * list": (lambda x, p, q: np.ones(2) * [p, q], TypeError, r"NumPy takes.*np\.stack"),
    "np.full": (lambda x, p, q: np.full(3, p), TypeError, r"np\.broadcast_to"),
    "np.arange": (lambda x, p, q: np.arange(p, 3.0), TypeError, r"x\.numpy\(\)"),
    "np.r_": (lambda x, p, q: np.r_[x, x], TypeError, r"np\.stack"),
    "np.c_": (lambda x, p, q: np.c_[x, x], TypeError, r"np\.stack"),
    "np.vectorize": (lambda x, p, q: np.vectorize(lambda v: v * 2)(x), TypeError, r"x\.numpy\(\)"),
    "np.fromiter": (lambda x, p, q: np.fromiter(x, float), ValueError, r"np\.stack"),
    "np.ma.array": (lambda x, p, q: np.ma.array(x), TypeError, r"x\.numpy\(\)"),
    "np.ma.masked_where": (lambda x, p, q: np.ma.masked_where([True, False], x), TypeError, r"x\.numpy\(\)"),
    "np.polynomial": (lambda x, p, q: np.polynomial.Polynomial(x), TypeError, r"x\.numpy\(\)"),
    "a generator of NumPy's": (lambda x, p, q: np.random.default_rng(0).normal(x), TypeError, r"x\.numpy\(\)"),
    "np.array": (lambda x, p, q: np.array(x), TypeError, r"x\.numpy\(\)"),
    "np.array of a list": (lambda x, p, q: np.array([p, q]), TypeError, r"np\.stack"),
    "np.asarray": (lambda x, p, q: np.asarray(x), TypeError, r"x\.numpy\(\)"),
    "np.ascontiguousarray": (lambda x, p, q: np.ascontiguousarray(x), TypeError, r"x\.numpy\(\)"),
    "np.float64": (lambda x, p, q: np.float64(p), TypeError, r"x\.numpy\(\)"),
    "math.sin": (lambda x, p, q: math.sin(p) * q, TypeError, r"math\.sin takes.*np\.sin"),
    "math.log": (lambda x, p, q: math.log(p, 2.0), TypeError, r"np\.log"),
    "math.fsum": (lambda x, p, q: math.fsum([p, q]), TypeError, r"np\.sum"),
    "math.gamma": (lambda x, p, q: math.gamma(p), TypeError, r"NumPy has no such function.*ad\.custom_gradient"),
    "cmath.exp": (lambda x, p, q: cmath.exp(p), TypeError, r"cmath\.exp takes.*np\.exp"),
    "statistics.fmean": (lambda x, p, q: statistics.fmean(x), TypeError, r"statistics\.fmean takes.*np\.sum"),
    "statistics.geometric_mean": (lambda x, p, q: statistics.geometric_mean(x), TypeError, r"geometric_mean takes"),
    "statistics.linear_regression": (lambda x, p, q: statistics.correlation(x, [1.0, 2.0]), TypeError, "takes"),
    "an attribute that is math.tanh": (lambda x, p, q: Neuron(math.tanh)(p), TypeError, r"math\.tanh takes.*np\.tanh"),
    "map(math.exp, x)": (lambda x, p, q: sum(map(math.exp, x)), TypeError, r"math\.exp takes.*np\.exp"),
    "a loop over map(neuron, x)": (
        lambda x, p, q: {k: -v for k, v in zip("ab", map(Neuron(math.exp), x), strict=True)},
        TypeError,
        r"np\.exp",
    ),
    "unpacking map(math.exp, x)": (lambda x, p, q: [*map(math.exp, x)], TypeError, r"math\.exp takes.*np\.exp"),
    "reduce(math.hypot, x)": (lambda x, p, q: functools.reduce(math.hypot, x), TypeError, r"math\.hypot takes"),
    "partial(math.pow, 2.0)": (lambda x, p, q: functools.partial(math.pow, 2.0)(p), TypeError, r"math\.pow takes"),
    "an entry of a dict": (lambda x, p, q: {"sin": math.sin}["sin"](p), TypeError, r"math\.sin takes.*np\.sin"),
    "an item of a list": (lambda x, p, q: [math.sin][0](p), TypeError, r"np\.sin"),
    "__import__": (lambda x, p, q: __import__("math").sin(p), TypeError, r"x\.numpy\(\)"),
    "getattr": (lambda x, p, q: getattr(math, "sin")(p), TypeError, r"x\.numpy\(\)"),  # noqa: B009
    "max(x, key=math.sin)": (lambda x, p, q: max([1.0], key=lambda v: Neuron(math.sin)(p)), TypeError, r"np\.sin"),
    "max of math.sin": (lambda x, p, q: max(map(math.sin, x), key=float), TypeError, r"math\.sin takes"),
    "max of a generator": (lambda x, p, q: max((math.sin(v) for v in x), key=float), TypeError, r"math\.sin takes"),
    "float of a generator": (
        lambda x, p, q: [*map(float, (Neuron(math.sin)(v) for v in x))],
        TypeError,
        r"math\.sin takes.*np\.sin",
    ),
    "float of map(math.sin, x)": (lambda x, p, q: [*map(float, map(math.sin, x))], TypeError, r"math\.sin takes"),
    "math.isfinite of map(math.sin, x)": (
        lambda x, p, q: sum(filter(math.isfinite, map(math.sin, x))),
        TypeError,
        r"math\.sin takes.*np\.sin",
    ),
    "self.buffer.fill": (
        lambda x, p, q: written_in(Neuron(), lambda n: n.buffer.fill(p)).buffer,
        ValueError,
        r"np\.broadcast_to",
    ),
    "self.buffer.__setitem__": (
        lambda x, p, q: written_in(Neuron(), lambda n: n.buffer.__setitem__(0, p)).buffer,
        ValueError,
        r"np\.stack",
    ),
    "map(a.__setitem__, ...)": (
        lambda x, p, q: written_in(np.zeros(2), lambda a: [*map(a.__setitem__, range(2), x)]),
        ValueError,
        r"np\.stack",
    ),
    ".astype(float) of objects": (
        lambda x, p, q: np.frompyfunc(lambda v: v * p, 1, 1)(np.ones(2)).astype(float),
        ValueError,
        r"np\.stack",
    ),
    ".astype(float) of vectorize": (
        lambda x, p, q: np.vectorize(lambda v: v * p, otypes=[object])(np.ones(2)).astype(float),
        ValueError,
        "astype",
    ),
    ".astype(float) of np.fromiter": (lambda x, p, q: np.fromiter(x, object).astype(float), ValueError, r"np\.stack"),
    "np.fromiter of map": (lambda x, p, q: np.fromiter(map(math.exp, x), float), TypeError, r"math\.exp takes"),
    "a function in another": (lambda x, p, q: functools.partial(float)(p), TypeError, r"x\.numpy\(\)"),
    "json's default": (lambda x, p, q: json.dumps(p, default=float), TypeError, r"json\.dumps takes.*x\.numpy\(\)"),
    "a number class": (lambda x, p, q: type("Metres", (float,), {})(p), TypeError, r"x\.numpy\(\)"),
    "array.array": (lambda x, p, q: list(array.array("d", x)), TypeError, r"array\.array takes.*x\.numpy\(\)"),
    "array.array(...)[0] = p": (lambda x, p, q: list(put(array.array("d", [0.0]), 0, p)), TypeError, r"np\.stack"),
    "array.append": (
        lambda x, p, q: list(written_in(array.array("d"), lambda a: a.append(p))),
        TypeError,
        r"a\.append takes",
    ),
    "ctypes.c_double": (lambda x, p, q: ctypes.c_double(p).value, TypeError, r"ctypes\.c_double takes"),
    "scipy.integrate.quad": (lambda x, p, q: quad(lambda t: t * p, 0.0, 1.0)[0], TypeError, r"quad takes"),
    "scipy.optimize.brentq": (lambda x, p, q: brentq(lambda t: t - p, 0.0, 3.0), SystemError, r"brentq takes"),
    "ad.checkpoint(math.tanh)": (lambda x, p, q: ad.checkpoint(math.tanh)(p), TypeError, r"np\.tanh"),
}

# What asks for plain numbers by name, only looks at them, or hands over another tensor.
ALLOWED = {
    ".numpy()": lambda x, p, q: x.numpy(),
    ".tolist()": lambda x, p, q: x.tolist(),
    ".item()": lambda x, p, q: p.item(),
    ".tobytes()": lambda x, p, q: x.tobytes(),
    "float()": lambda x, p, q: float(p),
    "int()": lambda x, p, q: int(p),
    "complex()": lambda x, p, q: complex(p),
    "bool()": lambda x, p, q: bool(p),
    "an index": lambda x, p, q: [1, 2][np.argmax(x)],
    "print": lambda x, p, q: print(x, p),
    "repr": lambda x, p, q: repr(x),
    "format": lambda x, p, q: f"{p:.2f} {p}",
    "a comparison": lambda x, p, q: p < q,
    "math.isnan": lambda x, p, q: math.isnan(p) or math.isclose(p, q) or not math.isfinite(p),
    "math.floor": lambda x, p, q: math.floor(p),
    "all(map(math.isfinite, x))": lambda x, p, q: all(map(math.isfinite, x)) and any(filter(math.isfinite, x)),
    "map(float, x)": lambda x, p, q: list(map(float, x)),
    "a loop over map(float, x)": lambda x, p, q: [-v for v in map(float, x)] + [*map(float, x)] + sorted(map(float, x)),
    "generators over map(float, x)": lambda x, p, q: sum(w for w in (-v for v in map(float, x)) if w),
    "a dict of map(float, x)": lambda x, p, q: {k: -v for k, v in zip("ab", map(float, x), strict=True)},
    "unpacking map(float, x)": lambda x, p, q: unpacked(x),
    "a generator": lambda x, p, q: sum(float(v) for v in x),
    "key=float": lambda x, p, q: [max(x, key=float), sorted(x, key=float), heapq.nlargest(1, x, float)],
    "math.sin of map(float, x)": lambda x, p, q: [*map(math.sin, map(float, x)), math.fsum(map(float, x))],
    "key=float beside a function of math": lambda x, p, q: max(p, math.sqrt(2.0), key=float),
    "float under another name": lambda x, p, q: (lambda neuron: neuron.cast(p))(Neuron()),
    "float of a choice": lambda x, p, q: float(p if p > q else q) + float(-p) + float(x[0] * 2),
    "float(*[p])": lambda x, p, q: float(*[p]),
    "%": lambda x, p, q: "%.2f %d" % (p, q) + "%g" % p,  # noqa: UP031
    "str.format": lambda x, p, q: "{:.2f} {}".format(p, q),  # noqa: UP032
    "logging": lambda x, p, q: logging.getLogger("silent").warning("%f", p),
    "json": lambda x, p, q: json.dumps([float(p), x.tolist()]),
    "range, a list's index": lambda x, p, q: [[1, 2, 3][np.argmax(x)], list(range(np.argmax(x)))],
    "round, abs, sum, min": lambda x, p, q: [round(p, 1), abs(p), sum(x), min(x), divmod(p, q), pow(p, 2), len(x)],
    "statistics.median": lambda x, p, q: statistics.median(x),
    "np.testing": lambda x, p, q: np.testing.assert_allclose(x, [1.0, 2.0]),
    "np.testing of a list": lambda x, p, q: np.testing.assert_array_equal([p, q], [1.0, 2.0]),
    "pytest.approx": lambda x, p, q: pytest.approx(x.numpy()) == x,
    "np.array_equal": lambda x, p, q: np.array_equal(x, [1.0, 2.0]) and np.allclose(x, x),
    "np.save": lambda x, p, q: np.save(io.BytesIO(), x),
    "np.savetxt": lambda x, p, q: np.savetxt(io.StringIO(), x),
    "pickle": lambda x, p, q: pickle.loads(pickle.dumps(x)),
    "copy.deepcopy": lambda x, p, q: copy.deepcopy(x),
    "another thread": lambda x, p, q: in_another_thread(lambda: np.asarray(x)),
    "Python's random": lambda x, p, q: random.Random(0).gauss(p, 1.0),
}


def tensors():
    x = ad.Variable([1.0, 2.0], name="x")
    return x, *x


@pytest.mark.parametrize("case", REFUSED)
def test_a_conversion_that_nobody_asked_for_is_an_error_with_the_line_the_tape_and_the_remedy(case):
    call, error, remedy = REFUSED[case]
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape(persistent=True) as tape:
        p, q = x
        with pytest.raises(error) as raised:
            call(x, p, q)
        y = p * q
    ours = raised.value if error is TypeError else raised.value.__cause__
    assert isinstance(ours, TypeError)
    assert ours.args[0].startswith(("test_conversions.py, line ", "statistics.py, line "))
    assert "the tape entered at test_conversions.py, line " in str(ours)
    assert re.search(remedy, str(ours))
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 1.0])


@pytest.mark.parametrize("case", ALLOWED)
def test_plain_numbers_that_are_asked_for_by_name_are_handed_over(case):
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape() as tape:
        p, q = x
        ALLOWED[case](x, p, q)
        y = p * q
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 1.0])


@pytest.mark.parametrize("case", REFUSED)
def test_nothing_changes_where_no_tape_follows(case):
    call = REFUSED[case][0]
    x, p, q = tensors()
    expected = call(x.numpy(), p.numpy(), q.numpy())
    assert_same(call(x, p, q), expected)
    with ad.GradientTape() as tape, tape.stop_recording():
        assert_same(call(x, p, q), expected)
    with ad.GradientTape(watch_accessed_variables=False) as tape:
        assert_same(call(x, p, q), expected)
    with ad.GradientTape():
        assert_same(call(*(ad.constant(v.numpy()) for v in (x, p, q))), expected)
        assert_same(in_another_thread(lambda: call(x, p, q)), expected)


def assert_same(found, expected):
    if isinstance(expected, np.polynomial.Polynomial):
        found, expected = found.coef, expected.coef
    np.testing.assert_array_equal(found, expected)


def test_a_variable_that_the_tape_would_watch_when_it_is_read_counts_as_followed():
    w = ad.Variable(2.0, name="w")
    with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.stack"):
        np.sum([w, 1.0])
    frozen = ad.Variable(2.0, trainable=False)
    with ad.GradientTape():
        assert np.sum([frozen, 1.0]) == 3.0


def test_the_function_of_a_custom_gradient_may_leave_for_numpy_but_not_its_backward():
    @ad.custom_gradient
    def sine(x):
        return math.sin(x), lambda dy: dy * np.cos(x)

    @ad.custom_gradient
    def careless(x):
        return np.sin(x), lambda dy: dy * math.cos(x)

    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = sine(x)
    assert float(tape.gradient(y, x)) == pytest.approx(math.cos(0.5))
    with ad.GradientTape() as tape:
        y = careless(x)
    assert float(tape.gradient(y, x)) == pytest.approx(math.cos(0.5))
    with pytest.raises(TypeError, match=r"math\.cos takes.*np\.cos"):
        ad.grad(ad.grad(careless))(0.5)


def test_a_tape_inside_the_function_of_a_custom_gradient_guards_its_own():
    @ad.custom_gradient
    def f(x):
        w = ad.Variable(2.0)
        with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.sin"):
            math.sin(w)
        return math.sin(x), lambda dy: dy

    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = f(x)
    assert tape.gradient(y, x).numpy() == 1.0


def test_matplotlib_may_draw_what_a_tape_follows():
    from matplotlib.figure import Figure

    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = x * x
        axes = Figure().subplots()
        (line,) = axes.plot(x, y)
        axes.bar([0, 1], y)
    np.testing.assert_array_equal(line.get_ydata(), [1.0, 4.0])
    np.testing.assert_array_equal(tape.gradient(y, x), [2.0, 4.0])


def test_code_without_source_is_read_as_well():
    x = ad.Variable(0.5)
    with ad.GradientTape():
        scope = {"x": x, "math": math}
        exec("y = float(x)\nz = [*map(float, [x])]\nw = math.isnan(x)", scope)
        with pytest.raises(TypeError, match=r"math\.sin takes.*np\.sin"):
            exec("y = math.sin(x)", scope)
        with pytest.raises(ValueError, match="array element") as raised:
            exec("a[0] = x", {"a": np.zeros(1), "x": x})
    assert (scope["y"], scope["z"], scope["w"]) == (0.5, [0.5], False)
    assert "np.stack" in str(raised.value.__cause__)


def test_code_without_columns_is_read_by_the_line(tmp_path):
    lines = ["import math, autodiff_edu as ad", "x = ad.Variable(0.5)", "with ad.GradientTape():"]
    lines += ["    found = float(x), math.isnan(x), *map(float, [x])", "    math.sin(x)"]
    (tmp_path / "program.py").write_text("\n".join(lines))
    command = [sys.executable, "-X", "no_debug_ranges", "-B", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "program.py, line 5: math.sin takes the plain number out of a tensor here" in done.stderr


def test_struct_refuses_too_and_keeps_its_own_error():
    x = ad.Variable(0.5)
    assert struct.unpack("d", struct.pack("d", x)) == (0.5,)
    with ad.GradientTape(), pytest.raises(struct.error):
        struct.pack("d", x)


def test_the_package_s_own_pictures_and_checks_may_read_what_a_tape_follows():
    w = ad.Variable([2.0, 3.0], name="w")
    with ad.GradientTape() as tape:
        ad.check_gradients(lambda a: a * w, np.ones(2))
        ad.check_gradients(lambda a: a * a, w)
        ad.descend(lambda a, b: (a - w[0]) ** 2 + b**2, (0.3, 1.0))
        ad.plots.heatmap(np.outer(w, w))
        y = np.sum(w * w)
    np.testing.assert_array_equal(tape.gradient(y, w), [4.0, 6.0])
    with ad.GradientTape(), pytest.raises(TypeError, match=r"math\.sin takes"):
        ad.check_gradients(lambda a: a * math.sin(w[0]), 1.0)


def test_of_random_numbers_it_is_said_how_to_move_and_scale_them():
    x, rng = ad.Variable([1.0, 2.0]), np.random.default_rng(0)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"Write .* \* rng\."):
        rng.normal(x, 3.0)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"Write .* \* rng\."):
        rng.uniform(x, 3.0)
