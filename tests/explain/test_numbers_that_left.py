"""Numbers that left a tensor are followed through the code: each that goes into the target is named, and no other."""

import linecache
from itertools import count
from textwrap import indent

import numpy as np
import pytest

import autodiff_edu as ad

HELPERS = """\
import collections, dataclasses, functools, io, logging, math, queue, random
import numpy as np, autodiff_edu as ad

DATA = np.array([3.0, 4.0])

def weighted(v, c):
    return v * c

def weighted_by_default(v, c=1.0, *, d=1.0):
    return v * c * d

def weighted_by_all(v, *factors, **more):
    return v * factors[0] * more.get("d", 1.0)

def number_of(v):
    return float(v)

def numbers_of(v):
    for part in v:
        yield float(part)

def write(a, i, c):
    a[i] = c

height = 1.0

def weighted_by_a_global(v):
    return v * height

class Scale:
    factor = 1.0

    def __init__(self, factor, activation=None):
        self.factor, self.activation = factor, activation

    def __call__(self, v):
        return v * self.factor

    def times(self, v, c):
        return v * c

class Layer:
    def __call__(self, v, c):
        return v * c

@dataclasses.dataclass
class Settings:
    rate: float = 1.0
"""

# What leaves, as `explain` quotes it (None where it depends on Python's version), and the program of a vector x.
FORMS = {
    "in an expression": ("float(x[0])", "y = np.sum(float(x[0]) * x)"),
    "a name": ("float(x[0])", "c = float(x[0])\ny = np.sum(c * x)"),
    "a name with arithmetic": ("x.numpy()", "c = np.exp(x.numpy()) * 2 + 1\ny = np.sum(c * x)"),
    "two names": ("float(x[0])", "a = float(x[0])\nb = a * 2\ny = np.sum(b * x)"),
    "a tuple": ("float(x[0])", "a, b = float(x[0]), 2.0\ny = np.sum(a * x)"),
    "unpacking": ("x.tolist()", "a, b = x.tolist()\ny = np.sum(a * x)"),
    "unpacking a map": ("a, b", "a, b = map(float, x)\ny = np.sum(a * x)"),
    "a walrus": ("float(x[0])", "y = np.sum((c := float(x[0])) * x)"),
    "an augmented assignment": ("x.numpy()", "c = np.ones(2)\nc += x.numpy()\ny = np.sum(c * x)"),
    "an item": ("float(x[0])", "c = np.zeros(2)\nc[0] = float(x[0])\ny = np.sum(c * x)"),
    "a slice": ("x.numpy()", "c = np.zeros(2)\nc[:] = x.numpy()\ny = np.sum(c * x)"),
    "a dict": ("float(x[0])", "c = {}\nc['k'] = float(x[0])\ny = np.sum(c['k'] * x)"),
    "a list that grows": ("float(v)", "c = []\nfor v in x:\n    c.append(float(v))\ny = np.sum(np.array(c) * x)"),
    "a loop": ("x.numpy()", "y = x[0]\nfor v in x.numpy():\n    y = y + v * x[1]"),
    "a loop over a map": (None, "y = x[0]\nfor v in map(float, x):\n    y = y + v * x[1]"),
    "enumerate": ("x.numpy()", "y = x[0]\nfor i, v in enumerate(x.numpy()):\n    y = y + v * x[i]"),
    "zip": ("x.numpy()", "y = x[0]\nfor d, v in zip(DATA, x.numpy()):\n    y = y + d * v * x[1]"),
    "a list comprehension": ("float(v)", "c = np.array([float(v) for v in x])\ny = np.sum(c * x)"),
    "a dict comprehension": ("float(v)", "c = {i: float(v) for i, v in enumerate(x)}\ny = np.sum(c[0] * x)"),
    "a generator": ("float(v)", "c = sum(float(v) for v in x)\ny = np.sum(c * x)"),
    "max of a generator": ("float(v)", "c = max(float(v) for v in x)\ny = np.sum(c * x)"),
    "max with a key": ("c.numpy()", "c = max(x, key=float)\ny = np.sum(c.numpy() * x)"),
    "map": ("list(map(float, x))", "c = list(map(float, x))\ny = np.sum(np.array(c) * x)"),
    "map of a lambda": ("float(v)", "c = list(map(lambda v: float(v), x))\ny = np.sum(np.array(c) * x)"),
    "np.copyto": ("x.numpy()", "c = np.zeros(2)\nnp.copyto(c, x.numpy())\ny = np.sum(c * x)"),
    "np.put": ("float(x[0])", "c = np.zeros(2)\nnp.put(c, 0, float(x[0]))\ny = np.sum(c * x)"),
    "np.add.at": ("float(x[0])", "c = np.zeros(2)\nnp.add.at(c, 0, float(x[0]))\ny = np.sum(c * x)"),
    "out": ("x.numpy()", "c = np.zeros(2)\nnp.multiply(x.numpy(), 2, out=c)\ny = np.sum(c * x)"),
    "fill": ("float(x[0])", "c = np.zeros(2)\nc.fill(float(x[0]))\ny = np.sum(c * x)"),
    "another name of an array": ("x.numpy()", "c = np.zeros(2)\nd = c\nd[:] = x.numpy()\ny = np.sum(c * x)"),
    "an argument": ("float(x[0])", "y = np.sum(weighted(x, float(x[0])))"),
    "a named argument": ("float(x[0])", "y = np.sum(weighted_by_default(x, d=float(x[0])))"),
    "the rest of the arguments": ("float(x[0])", "y = np.sum(weighted_by_all(x, 2.0, d=float(x[0])))"),
    "*arguments": ("float(x[0])", "c = [float(x[0])]\ny = np.sum(weighted(x, *c))"),
    "**arguments": ("float(x[0])", "c = {'c': float(x[0])}\ny = np.sum(weighted(x, **c))"),
    "a default argument": ("float(x[0])", "def f(v, c=float(x[0])):\n    return v * c\ny = np.sum(f(x))"),
    "a closure": ("float(x[0])", "c = float(x[0])\ndef f(v):\n    return v * c\ny = np.sum(f(x))"),
    "a closure twice": (
        "float(x[0])", "c = float(x[0])\ndef f():\n    def g(v):\n        return v * c\n    return g\ny = np.sum(f()(x))"
    ),
    "a lambda": ("float(x[0])", "c = float(x[0])\nf = lambda v: v * c\ny = np.sum(f(x))"),
    "a lambda's argument": ("float(x[0])", "f = lambda v, c: v * c\ny = np.sum(f(x, float(x[0])))"),
    "a lambda's default": ("float(x[0])", "f = lambda v, c=float(x[0]): v * c\ny = np.sum(f(x))"),
    "a lambda at once": ("float(x[0])", "y = np.sum((lambda v, c: v * c)(x, float(x[0])))"),
    "a global": (
        "float(x[0])", "global height\nheight = float(x[0])\ny = np.sum(weighted_by_a_global(x))"
    ),
    "nonlocal": (
        "float(v[0])",
        "c = 1.0\ndef f(v):\n    nonlocal c\n    c = float(v[0])\n    return v\nz = f(x)\ny = np.sum(c * z)",
    ),
    "a result": ("float(v)", "c = number_of(x[0])\ny = np.sum(c * x)"),
    "a result in an expression": ("float(v)", "y = np.sum(number_of(x[0]) * x)"),
    "a function that yields": ("float(part)", "y = x[0]\nfor c in numbers_of(x):\n    y = y + c * x[1]"),
    "an array filled elsewhere": ("float(x[0])", "c = np.zeros(2)\nwrite(c, 0, float(x[0]))\ny = np.sum(c * x)"),
    "partial": ("float(x[0])", "f = functools.partial(weighted, c=float(x[0]))\ny = np.sum(f(x))"),
    "another name of a function": ("float(x[0])", "f = weighted\ny = np.sum(f(x, float(x[0])))"),
    "a wrapped function": ("float(x[0])", "f = ad.checkpoint(weighted)\ny = np.sum(f(x, float(x[0])))"),
    "reduce": ("float(v)", "y = functools.reduce(weighted, [float(v) for v in x], x[0])"),
    "an attribute": ("float(x[0])", "s = Settings()\ns.rate = float(x[0])\ny = np.sum(s.rate * x)"),
    "a dataclass": ("float(x[0])", "s = Settings(float(x[0]))\ny = np.sum(s.rate * x)"),
    "a constructor": ("float(x[0])", "s = Scale(float(x[0]))\ny = np.sum(s(x))"),
    "a method": ("float(x[0])", "s = Scale(1.0)\ny = np.sum(s.times(x, float(x[0])))"),
    "an object that is called": ("float(x[0])", "layer = Layer()\ny = np.sum(layer(x, float(x[0])))"),
    "setattr": ("float(x[0])", "s = Settings()\nsetattr(s, 'rate', float(x[0]))\ny = np.sum(s.rate * x)"),
    "a queue": ("float(x[0])", "q = queue.SimpleQueue()\nq.put(float(x[0]))\ny = np.sum(q.get() * x)"),
    "a deque": ("float(x[0])", "q = collections.deque()\nq.append(float(x[0]))\ny = np.sum(q.pop() * x)"),
    "a constant": ("x.numpy()", "c = ad.constant(x.numpy())\ny = np.sum(c * x)"),
    "text": (None, "c = float(f'{x[0]:.3f}')\ny = np.sum(c * x)"),
    "either of two": ("float(x[0])", "c = float(x[0]) if x[1] > 0 else 0.0\ny = np.sum(c * x)"),
    "try": ("float(x[0])", "try:\n    c = float(x[0])\nexcept TypeError:\n    c = 0.0\ny = np.sum(c * x)"),
    "with": ("float(x[0])", "with np.errstate(all='ignore'):\n    c = float(x[0])\ny = np.sum(c * x)"),
    "math": ("float(x[0])", "c = math.sin(float(x[0]))\ny = np.sum(c * x)"),
    "item()": ("x[0].item()", "c = x[0].item()\ny = np.sum(c * x)"),
}  # fmt: skip

# Programs of a vector x whose numbers leave, but do not go into y: they are shown, logged, compared, counted.
HARMLESS = {
    "print": "c = float(x[0])\nprint(c, x.numpy(), f'{float(x[1]):.2f}')\ny = np.sum(x * DATA)",
    "a log": "log = []\nlog.append(float(x[0]))\ny = np.sum(x * DATA)\nlog.append(float(y))",
    "a history": "h = {'x': []}\nh['x'].append(x.numpy().copy())\ny = np.sum(x * DATA)\nh['y'] = float(y)",
    "logging": "logging.getLogger('silent').debug('%s', float(x[0]))\ny = np.sum(x * DATA)",
    "a file": "f = io.StringIO()\nf.write(str(float(x[0])))\nnp.savetxt(f, x.numpy())\ny = np.sum(x * DATA)",
    "a decision": "y = np.sum(x * DATA) if float(x[0]) > 0 else np.sum(x)",
    "a decision by name": "large = float(x[0]) > 0.5\nk = 3.0 if large else 2.0\ny = np.sum(x * k)",
    "a loop's end": "y, e = x[0], float(x[1])\nwhile e > 0.5:\n    y, e = y * DATA[0], e / 2",
    "a mask": "mask = x.numpy() > 1.5\ny = np.sum(np.where(mask, x, 0.0)) + np.sum(x[mask] * DATA[mask])",
    "an order": "order = np.argsort(x.numpy())\ny = np.sum(x[order] * DATA)",
    "an index": "k = int(round(float(x[0])))\ny = x[k] * DATA[k]",
    "a count": "n = len(x.numpy())\ny = np.sum(x * DATA) / n",
    "a shape": "s = x.numpy().shape\ny = np.sum(x * np.ones(s))",
    "a name": "c = ad.constant(DATA, name=f'{float(x[0])}')\ny = np.sum(c * x)",
    "a check": "assert np.isfinite(x.numpy()).all()\nnp.testing.assert_allclose(x.numpy(), [1.0, 2.0])\ny = np.sum(x * DATA)",
    "a check against data": "np.testing.assert_allclose(x.numpy(), DATA - 2.0)\ny = np.sum(x * DATA)",
    "a metric in a function": "print(number_of(x[0]), weighted(2.0, float(x[0])))\ny = np.sum(x * DATA)",
    "an attribute for a plot": "s = Settings()\ns.shown = float(x[0])\ny = np.sum(x * s.rate)",
    "the name of another": "def f():\n    height = float(x[0])\n    return None\nf()\ny = np.sum(x * height)",
    "a name in another function": "def f():\n    c = float(x[0])\n    print(c)\nf()\nc = 2.0\ny = np.sum(x * c)",
    "a name that is bound anew": "c = float(x[0])\nprint(c)\nc = 2.0\ny = np.sum(x * c)",
    "a loop's name that is bound anew": "for v in x.numpy():\n    print(v)\ny = x[0]\nfor v in DATA:\n    y = y * v",
    "a comprehension's own name": "shown = [v for v in x.numpy()]\ny = sum(v * x[0] for v in DATA)",
    "a seed": "rng = np.random.default_rng(int(float(x[0])))\ny = np.sum(x * rng.normal(size=2))",
    "a step": "y = np.sum(x * np.sign(x.numpy())) + np.sum(x * (x.numpy() // 1))",
    "after y": "y = np.sum(x * DATA)\nc = float(x[0])\nz = c * x",
    "a best value": "best = min(1e9, float(x[0]))\nif best < 2.0:\n    print(best)\ny = np.sum(x * DATA)",
    "an early end": "for k in range(3):\n    y = np.sum(x * DATA)\n    if float(y) < 1e9:\n        break",
}

numbers = count(1)


def run(*cells):
    """Run source code whose lines can be looked up; several cells share their globals, as in a notebook."""
    scope = {}
    for cell in cells:
        name = f"<cell {next(numbers)}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
        exec(compile(cell, name, "exec"), scope)
    return scope


def explain(body):
    """Explain the gradient of the y of a program."""
    program = run(f"{HELPERS}\n\ndef program(x):\n{indent(body, '    ')}\n    return y\n")["program"]
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = program(x)
    assert tape.gradient(y, x) is not None
    return tape, y, x


@pytest.mark.parametrize("form", FORMS)
def test_numbers_that_go_into_the_target_are_listed(form):
    code, body = FORMS[form]
    tape, y, x = explain(body)
    causes = tape.explain(y, x).left_out
    assert "left for NumPy" in {cause.kind for cause in causes}
    for cause in causes:
        assert code is None or cause.place.text == code or cause.kind == "copied"


@pytest.mark.parametrize("form", HARMLESS)
def test_numbers_that_do_not_go_into_the_target_are_not_listed(form):
    tape, y, x = explain(HARMLESS[form])
    assert tape.explain(y, x).left_out == ()
