"""Numbers that left a tensor are followed through the code: each that goes into the target is named, and no other."""

import linecache
import subprocess
import sys
from itertools import count
from textwrap import dedent, indent

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

@dataclasses.dataclass
class Result:
    loss: float
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
        "float(x[0])", "c = float(x[0])\ndef f():\n    return lambda v: v * c\ny = np.sum(f()(x))"
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
    "a dataclass without defaults": ("float(x[0])", "r = Result(float(x[0]))\ny = np.sum(r.loss * x)"),
    "a name that is only annotated": ("float(x[0])", "c: float\nc = float(x[0])\ny = np.sum(c * x)"),
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

# Programs of which the place is not looked at.
MORE_FORMS = {
    "rebind flow": "c = x.numpy()\nc = c * 2\ny = np.sum(c*x)",
    "carried": "c = 0.0\ny = x[0]\nfor v in x:\n    y = y + c*v\n    c = float(v)",
    "while": "c = 1.0\nk = 0\nwhile k < 2:\n    y = c*x[1]\n    c = c + float(x[0])\n    k += 1",
    "if else": "if x[0] > 0:\n    c = float(x[0])\nelse:\n    c = 2.0\ny = np.sum(c*x)",
    "if only": "c = 1.0\nif x[0] > 0:\n    c = float(x[0])\ny = np.sum(c*x)",
    "try finally": "c = 1.0\ntry:\n    pass\nfinally:\n    c = float(x[0])\ny = np.sum(c*x)",
    "starred": "c, *rest = x.tolist()\ny = np.sum(rest[0]*x)",
    "items": "d = {k: float(v) for k, v in zip('ab', x)}\ny = x[0]\nfor k, v in d.items():\n    y = y + v*x[1]",
    "nested comps": "c = np.array([[float(v)*float(w) for v in x] for w in x])\ny = np.sum(c @ x)",
    "str": "c = float(str(float(x[0])))\ny = np.sum(c*x)",
    "json": "import json\nc = json.loads(json.dumps(float(x[0])))\ny = np.sum(c*x)",
    "chain": "c = np.array(x.tolist()).reshape(2).copy().clip(0,9)\ny = np.sum(c*x)",
    "cache": "CACHE = {}\ndef fill():\n    CACHE['c'] = float(x[0])\nfill()\ny = np.sum(CACHE['c']*x)",
    "property": (
        "class P:\n"
        "    def __init__(s, v): s.v = v\n"
        "    @property\n"
        "    def c(s): return float(s.v[0])\n"
        "p = P(x)\n"
        "y = np.sum(p.c*x)"
    ),
    "getitem class": (
        "class P:\n"
        "    def __init__(s, v): s.v = v\n"
        "    def __getitem__(s, k): return s.v[k]\n"
        "p = P(x.numpy())\n"
        "y = np.sum(p[0]*x)"
    ),
    "thread": (
        "import threading\n"
        "out = []\n"
        "def f(c):\n"
        "    out.append(c*2)\n"
        "t = threading.Thread(target=f, args=(float(x[0]),))\n"
        "t.start(); t.join()\n"
        "y = np.sum(out[0]*x)"
    ),
    "operator.mul": "import operator\ny = np.sum(operator.mul(float(x[0]), x))",
    "dot": "y = np.dot(x.numpy(), x)",
    "matmul": "y = x @ x.numpy()",
    "einsum": "c = x.numpy()\ny = np.einsum('i,i', c, x)",
    "where": "c = x.numpy()\ny = np.sum(np.where([True, False], c, x))",
    "full": "y = np.sum(np.full(2, float(x[0]))*x)",
    "stack": "y = np.sum(np.stack([x, x.numpy()]))",
    "concat": "c = x.numpy()\ny = np.sum(np.concatenate([x, c]))",
    "append": "y = np.sum(np.append(x, float(x[0])))",
    "power": "c = float(x[0])\ny = np.sum(x**c)",
    "rpower": "c = float(x[0])\ny = np.sum(c**x)",
    "maximum": "c = float(x[0])\ny = np.sum(np.maximum(x, c))",
    "clip": "c = float(x[0])\ny = np.sum(np.clip(x, c, 5.0))",
    "aug": "y = x[0]*1.0\ny += float(x[1])\ny = y*x[1]",
    "interp": "y = np.sum(np.interp(x, [0.,3.], [0., float(x[0])]))",
    "frombuffer": "c = np.frombuffer(x.tobytes())\ny = np.sum(c*x)",
    "fromiter": "c = np.fromiter((float(v) for v in x), float)\ny = np.sum(c*x)",
    "match": "match float(x[0]):\n    case c:\n        pass\ny = np.sum(c*x)",
    "match2": "match [float(x[0]), 2.0]:\n    case [c, d]:\n        pass\ny = np.sum(c*x)",
    "star def": "def f(v, *cs):\n    return v*cs[0]\ny = np.sum(f(x, float(x[0])))",
    "kw def": "def f(v, **cs):\n    return v*cs['c']\ny = np.sum(f(x, c=float(x[0])))",
    "map two": "c = [float(v) for v in x]\ny = sum(map(weighted, x, c))",
    "class attr": "class K:\n    c = float(x[0])\ny = np.sum(K.c*x)",
    "namedtuple": "P = collections.namedtuple('P', 'c d')\np = P(float(x[0]), 1.0)\ny = np.sum(p.c*x)",
    "return tuple": "def both(v):\n    return float(v[0]), float(v[1])\na, b = both(x)\ny = np.sum(b*x)",
    "nested rows": "rows = [[0.0, 0.0], [0.0, 0.0]]\nrows[0][1] = float(x[0])\ny = np.sum(np.array(rows) @ x)",
    "rows loop": "rows = np.zeros((2,2))\nfor row, v in zip(rows, x):\n    row[0] = float(v)\ny = np.sum(rows @ x)",
    "variable": "v = ad.Variable(float(x[0]))\ny = np.sum(v*x)",
    "assign": "v = ad.Variable(0.0)\nv.assign(float(x[0]))\ny = np.sum(v*x)",
    "assign_add": "v = ad.Variable(0.0)\nv.assign_add(float(x[0]))\ny = np.sum(v*x)",
    "imul": "c = np.ones(2)\nc *= x.numpy()\ny = np.sum(c*x)",
    "iife": "y = np.sum(x*(lambda: float(x[0]))())",
    "closure attr": (
        "class K: pass\n"
        "k = K()\n"
        "def mk(c):\n"
        "    return lambda v: v*c\n"
        "k.f = mk(float(x[0]))\n"
        "y = np.sum(k.f(x))"
    ),
    "self.buf": (
        "class B:\n"
        "    def __init__(s): s.buf = np.zeros(2)\n"
        "    def put(s, i, c): s.buf[i] = c\n"
        "    def go(s, v): return v*s.buf\n"
        "b = B()\n"
        "b.put(0, float(x[0]))\n"
        "y = np.sum(b.go(x))"
    ),
    "np.savetxt": "f = io.StringIO()\nnp.savetxt(f, x)\nf.seek(0)\nc = np.loadtxt(f)\ny = np.sum(c*x)",
    "np.save": "f = io.BytesIO()\nnp.save(f, x)\nf.seek(0)\ny = np.sum(np.load(f)*x)",
    "np.savez": "f = io.BytesIO()\nnp.savez(f, c=x)\nf.seek(0)\ny = np.sum(np.load(f)['c']*x)",
    "running sum": "c = 0.0\nfor i in range(2):\n    c += float(x[i])\ny = np.sum(c*x)",
    "extend map": "c = []\nc.extend(map(float, x))\ny = np.sum(np.array(c)*x)",
    "recursion": "def f(v, n, c):\n    return v*c if n == 0 else f(v, n-1, c*2)\ny = np.sum(f(x, 2, float(x[0])))",
    "inner def twice": (
        "def outer(c):\n"
        "    def inner(v):\n"
        "        return v*c\n"
        "    return inner\n"
        "y = np.sum(outer(float(x[0]))(x))"
    ),
    "decorated": (
        "def deco(f):\n"
        "    @functools.wraps(f)\n"
        "    def g(*a):\n"
        "        return f(*a)\n"
        "    return g\n"
        "@deco\n"
        "def h(v, c):\n"
        "    return v*c\n"
        "y = np.sum(h(x, float(x[0])))"
    ),
    "reduce lambda": "y = functools.reduce(lambda a, b: a*b, [float(v) for v in x], x[0])",
    "sum start": "y = sum([x[0]*float(v) for v in x])",
    "comp product": "y = sum(v*c for v, c in zip(x, x.tolist()))",
    "ternary": "y = np.sum(x*(float(x[0]) if True else 1.0))",
    "norm": "n = float(np.linalg.norm(x))\ny = np.sum(x/n)",
    "standardise": "m, s = float(np.mean(x)), float(np.std(x))\ny = np.sum((x-m)/s)",
    "max trick": "m = np.max(x.numpy())\ny = m + np.log(np.sum(np.exp(x-m)))",
    "detach": "d = x.numpy().copy()\ny = np.sum((x-d)**2 + d*x)",
    "sort values": "s = sorted(x.tolist())\ny = np.sum(np.array(s)*x)",
    "fstring eval": "c = eval(f'{float(x[0])}*2')\ny = np.sum(c*x)",
    "dict update": "d = {}\nd.update(c=float(x[0]))\ny = np.sum(d['c']*x)",
    "setdefault": "d = {}\nc = d.setdefault('c', float(x[0]))\ny = np.sum(c*x)",
    "replace": "s = dataclasses.replace(Settings(), rate=float(x[0]))\ny = np.sum(s.rate*x)",
    "callback": "def apply(f, v):\n    return f(v)\nc = float(x[0])\ny = np.sum(apply(lambda v: v*c, x))",
    "callback arg": "def apply(f, v, c):\n    return f(v, c)\ny = np.sum(apply(weighted, x, float(x[0])))",
    "table": "ops = {'w': weighted}\ny = np.sum(ops['w'](x, float(x[0])))",
    "list of f": "ops = [weighted]\nfor f in ops:\n    y = np.sum(f(x, float(x[0])))",
    "heap": "import heapq\nh = []\nheapq.heappush(h, float(x[0]))\ny = np.sum(heapq.heappop(h)*x)",
    "iter next": "it = iter(x.tolist())\nc = next(it)\ny = np.sum(c*x)",
    "flat": "c = np.zeros(2)\nc.flat[0] = float(x[0])\ny = np.sum(c*x)",
    "view": "c = np.zeros(2)\nd = c[:1]\nd[0] = float(x[0])\ny = np.sum(c*x)",
    "async": "import asyncio\nasync def f(c):\n    return c*2\nc = asyncio.run(f(float(x[0])))\ny = np.sum(c*x)",
    "checkpoint closure": "c = float(x[0])\ny = np.sum(ad.checkpoint(lambda v: v*c)(x))",
    "static": "class K:\n    @staticmethod\n    def f(v, c):\n        return v*c\ny = np.sum(K.f(x, float(x[0])))",
    "classmethod": (
        "class K:\n"
        "    @classmethod\n"
        "    def f(cls, v, c):\n"
        "        return v*c\n"
        "y = np.sum(K.f(x, float(x[0])))"
    ),
    "super": (
        "class A:\n"
        "    def __init__(s, c): s.c = c\n"
        "class B(A):\n"
        "    def __init__(s, c):\n"
        "        super().__init__(c*2)\n"
        "b = B(float(x[0]))\n"
        "y = np.sum(b.c*x)"
    ),
    "a class that inherits its __init__": (
        "class A:\n"
        "    def __init__(s, c): s.c = c\n"
        "class B(A):\n"
        "    def times(s, v): return v * s.c\n"
        "y = np.sum(B(float(x[0])).times(x))"
    ),
    "a loss against numbers": "def loss(v, w):\n    d = v - w\n    return np.sum(d * d * w)\ny = loss(x, x.numpy())",
    "a function in a function": (
        "def f(v):\n"
        "    c = float(v[0])\n"
        "    def g(u):\n"
        "        return u * c\n"
        "    return g(v)\n"
        "y = np.sum(f(x))"
    ),
    "probabilities": "probs = np.exp(x.numpy()) / np.exp(x.numpy()).sum()\ny = np.sum(probs * x)",
    "an array added to itself": "a = np.zeros((2, 2))\na[0, :] = x.numpy()\na += a.T\ny = np.sum(a @ x)",
    "a generator of a list": (
        "def gen():\n"
        "    for v in x.tolist():\n"
        "        yield v * 2\n"
        "y = sum(c * x[0] for c in gen())"
    ),
    "a loop that feeds back": "k = 0\ny = x[0]\nwhile k < 2:\n    c = float(y)\n    y = y * c\n    k += 1",
    "a matrix": "A = ad.constant(np.outer(x.numpy(), x.numpy()))\ny = x @ A @ x",
    "a state": (
        "state = {'h': np.zeros(2)}\n"
        "for k in range(2):\n"
        "    state['h'] = np.tanh(state['h'] + x.numpy())\n"
        "y = np.sum(x * state['h'])"
    ),
    "a lambda in a dict": "f = {'a': lambda v, c: v * c}\ny = np.sum(f['a'](x, float(x[0])))",
    "a fitted object": (
        "class Net:\n"
        "    def __init__(s): s.mean = None\n"
        "    def fit(s, v):\n"
        "        s.mean = v.numpy().mean()\n"
        "        return s\n"
        "    def __call__(s, v):\n"
        "        return v - s.mean\n"
        "y = np.sum(Net().fit(x)(x)**2)"
    ),
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
    "a check": "assert np.isfinite(x.numpy()).all()\nassert np.allclose(x.numpy(), [1.0, 2.0])\ny = np.sum(x * DATA)",
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
    "f at number": "def f(v):\n    return v*DATA[0]\nprint(f(float(x[0])))\ny = f(x[0])",
    "differences": (
        "def f(v):\n"
        "    return np.sum(v**2*DATA)\n"
        "h = 1e-5\n"
        "n = (f(x.numpy()+h) - f(x.numpy()-h))/(2*h)\n"
        "print(n)\n"
        "y = f(x)"
    ),
    "early stop": (
        "best = 1e9\n"
        "for k in range(3):\n"
        "    y = np.sum(x*DATA)\n"
        "    if float(y) < best:\n"
        "        best = float(y)"
    ),
    "history": (
        "h = collections.defaultdict(list)\n"
        "y = x[0]\n"
        "for k in range(3):\n"
        "    y = y*DATA[0]\n"
        "    h['y'].append(float(y))\n"
        "    h['k'].append(k)"
    ),
    "a history of pairs": (
        "track, rows, y = [], {}, x[0]\n"
        "for k in range(3):\n"
        "    y = y * DATA[0] * (k + 1)\n"
        "    track.append((k, float(y)))\n"
        "    rows[k] = [k, float(y)]"
    ),
    "another assert": "assert abs(float(x[0])-1.0) < 1e-6\ny = np.sum(x*DATA)",
    "show helper": "def show(v):\n    print(float(v[0]))\n    return v\ny = np.sum(show(x)*DATA)",
    "log helper": (
        "log = []\n"
        "def show(v):\n"
        "    c = float(v[0])\n"
        "    log.append(c)\n"
        "    return v*2\n"
        "y = np.sum(show(x)*DATA)"
    ),
    "self.last": "s = Settings()\ns.last = float(x[0])\ny = np.sum(x*s.rate)",
    "another plot": (
        "import matplotlib\n"
        "matplotlib.use('Agg')\n"
        "import matplotlib.pyplot as plt\n"
        "plt.plot(x.numpy(), x.numpy()**2)\n"
        "plt.title(f'{float(x[0])}')\n"
        "plt.close()\n"
        "y = np.sum(x*DATA)"
    ),
    "table print": (
        "for k, v in enumerate(x):\n"
        "    print(k, float(v))\n"
        "y = x[0]\n"
        "for k in range(2):\n"
        "    y = y*DATA[k]"
    ),
    "another label": "label = 'big' if float(x[0]) > 1 else 'small'\nprint(label)\ny = np.sum(x*DATA)",
    "lr": "lr = 0.1 if float(x[0]) > 1 else 0.01\ny = np.sum(x*lr)",
    "range": "y = x[0]\nfor k in range(int(float(x[1]))):\n    y = y*DATA[0]",
    "converge": "y = x[0]\nold = 0.0\nwhile abs(float(y)-old) > 10.0:\n    old = float(y)\n    y = y*DATA[0]",
    "bisect": "import bisect\nk = bisect.bisect([0.5, 1.5], float(x[0]))\ny = x[0]*DATA[k]",
    "argmax": "k = int(np.argmax(x.numpy()))\ny = x[k]*DATA[k]",
    "mask name": "m = np.isfinite(x.numpy())\ny = np.sum(x*DATA*m)",
    "mask pos": "m = (x.numpy() > 0).astype(float)\ny = np.sum(x*m)",
    "sizes": "n = x.numpy().size\ny = np.sum(x)/n",
    "same name elsewhere": (
        "def report(v):\n"
        "    scale = float(v[0])\n"
        "    return f'{scale}'\n"
        "scale = 3.0\n"
        "print(report(x))\n"
        "y = np.sum(x*scale)"
    ),
    "param name": "def report(DATA):\n    print(DATA)\nreport(float(x[0]))\ny = np.sum(x*DATA)",
    "method log": (
        "class M:\n"
        "    def __init__(s): s.w = 2.0; s.losses = []\n"
        "    def __call__(s, v):\n"
        "        return v*s.w\n"
        "    def log(s, v): s.losses.append(float(v))\n"
        "m = M()\n"
        "m.log(x[0])\n"
        "y = np.sum(m(x))"
    ),
    "progress": (
        "class Bar:\n"
        "    def set_postfix(s, **k): s.k = k\n"
        "bar = Bar()\n"
        "bar.set_postfix(loss=float(x[0]))\n"
        "y = np.sum(x*DATA)"
    ),
    "time": "import time\nt0 = time.time()\nprint(float(x[0]), time.time()-t0)\ny = np.sum(x*DATA)*t0",
    "deleted": "c = float(x[0])\ndel c\nc = 3.0\ny = np.sum(x*c)",
    "loop rebind": "y = x[0]\nfor v in [2.0, 3.0]:\n    y = y*v\n    v = float(y)\n    print(v)",
    "csv": "import csv\nw = csv.writer(io.StringIO())\nw.writerow([float(x[0])])\ny = np.sum(x*DATA)",
    "sort key": "o = sorted(range(2), key=lambda i: float(x[i]))\ny = x[o[0]]*DATA[0]",
    "max key": "k = max(range(2), key=lambda i: float(x[i]))\ny = x[k]*DATA[k]",
    "where": "y = np.sum(np.where(x.numpy() > 1, x, 2.0)*DATA)",
    "round print": "print(round(float(x[0]), 2))\ny = np.sum(x*DATA)",
    "square": "def square(v):\n    return v*v\nprint(square(float(x[0])))\ny = np.sum(square(x)*DATA)",
    "try": "try:\n    print(float(x))\nexcept TypeError:\n    pass\ny = np.sum(x*DATA)",
    "a trace of arrays": (
        "trace = [x.numpy().copy()]\n"
        "z = x\n"
        "for k in range(2):\n"
        "    z = z * DATA\n"
        "    trace.append(z.numpy().copy())\n"
        "y = np.sum(z)\n"
        "shape = np.array(trace).shape"
    ),
    "an accuracy": "acc = float(np.mean((x.numpy() > 1) == (DATA > 3)))\nprint(acc)\ny = np.sum(x * DATA)",
    "an argmax's row": "k = x.numpy().argmax()\nw = np.eye(2)[k]\ny = np.sum(x * w)",
    "a search": (
        "best = None\n"
        "for c in DATA:\n"
        "    s = float(np.sum(x) * c)\n"
        "    if best is None or s > best[0]:\n"
        "        best = (s, c)\n"
        "y = np.sum(x * DATA)"
    ),
    "a key": "d = {}\nd[round(float(x[0]), 3)] = 'seen'\ny = np.sum(x * DATA)",
    "a set's size": "seen = set()\nseen.add(float(x[0]))\nn = len(seen)\ny = np.sum(x * DATA) * n",
    "a loop binds it anew": "c = float(x[0])\nfor c in DATA:\n    y = np.sum(x * c)",
    "a choice binds it anew": "c = float(x[0])\nc = DATA[0] if c > 0 else DATA[1]\ny = np.sum(x * c)",
    "a parameter that is bound anew": "def f(c):\n    c = 2.0\n    return c\ny = np.sum(x * f(float(x[0])))",
    "one of two names": "_, n = float(x[0]), 2.0\ny = np.sum(x * n)",
    "a report of an object": (
        "class M:\n"
        "    rate = 2.0\n"
        "    def report(s, v):\n"
        "        value = float(v[0])\n"
        "        print(s.rate, value)\n"
        "m = M()\n"
        "m.report(x)\n"
        "y = np.sum(x * m.rate)"
    ),
    "a sorted table": "order = sorted(zip(x.tolist(), DATA), key=lambda p: p[0])\nprint(order)\ny = np.sum(x * DATA)",
    "a function that decides": "def f(v):\n    return 2.0 if v > 0 else 3.0\ny = np.sum(x * f(float(x[0])))",
    "a function that prints": "def f(v):\n    print(v)\n    return 2.0\ny = np.sum(x * f(float(x[0])))",
}  # fmt: skip

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


@pytest.mark.parametrize("form", MORE_FORMS)
def test_numbers_that_go_into_the_target_by_another_way_are_listed(form):
    tape, y, x = explain(MORE_FORMS[form])
    assert "left for NumPy" in {cause.kind for cause in tape.explain(y, x).left_out}


@pytest.mark.parametrize("form", HARMLESS)
def test_numbers_that_do_not_go_into_the_target_are_not_listed(form):
    tape, y, x = explain(HARMLESS[form])
    assert tape.explain(y, x).left_out == ()


def test_numbers_are_followed_from_cell_to_cell():
    scope = run(
        "import numpy as np, autodiff_edu as ad\nx = ad.Variable([1.0, 2.0], name='x')",
        "def weighted(v, c):\n    return v * c",
        "with ad.GradientTape(persistent=True) as tape:\n    c = float(x[0])\n    k = 2 * c\n    z = x * 3.0",
        "with tape:\n    shown = float(x[1])\n    y = np.sum(weighted(z, k))",
    )
    (cause,) = scope["tape"].explain(scope["y"], scope["x"]).left_out
    assert (cause.place.text, cause.place.line) == ("float(x[0])", 2)


def test_numbers_are_followed_from_file_to_file(tmp_path, monkeypatch):
    (tmp_path / "weights_of.py").write_text("c = 1.0\n\n\ndef weighted(v, c):\n    return v * c\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    scope = run(
        "import weights_of, numpy as np, autodiff_edu as ad\nx = ad.Variable([1.0, 2.0], name='x')\n"
        "with ad.GradientTape(persistent=True) as tape:\n"
        "    y = np.sum(weights_of.weighted(x, float(x[0])))\n"
        "    c = float(x[1])\n"
        "    z = np.sum(weights_of.weighted(x, weights_of.c))\n"
    )
    (cause,) = scope["tape"].explain(scope["y"], scope["x"]).left_out
    assert cause.place.text == "float(x[0])"


def test_a_cell_that_computes_nothing_else_is_read_too():
    code = dedent(
        """
        from traitlets.config import Config
        from IPython.core.interactiveshell import InteractiveShell

        config = Config()
        config.HistoryManager.enabled = False
        shell = InteractiveShell.instance(config=config)
        for cell in (
            "import numpy as np, autodiff_edu as ad\\nx = ad.Variable([1.0, 2.0])\\ntape = ad.GradientTape(True)",
            "with tape:\\n    c = float(x[0])\\n    z = x * 3.0",
            "k = 2 * c",
            "with tape:\\n    y = np.sum(z * k)",
            "print(tape.explain(y, x))",
        ):
            shell.run_cell(cell, store_history=True)
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "This gradient misses:\n- cell 2, line 2: float(x[0]) returns" in done.stdout


def test_a_step_of_training_afterwards_changes_no_explanation():
    w = ad.Variable([1.0, 2.0], name="w")
    for _ in range(3):
        with ad.GradientTape(persistent=True) as tape:
            scale = float(np.sum(w))
            y = np.sum(w * w) * scale
        before = tape.explain(y, w).left_out
        w.assign_sub(0.01 * tape.gradient(y, w))
        assert tape.explain(y, w).left_out == before
        assert [cause.place.text for cause in before] == ["float(np.sum(w))"]
