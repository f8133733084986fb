"""Random JAX functions: what the player says about each of them is what `jax.grad` says.

A program is written twice. Once as it is played; and once with a number that is zero added to each use of a variable,
and to each variable itself. `jax.grad` with respect to these zeros, of the whole program, is what each line contributes
to each variable, and what each variable's cotangent is in the end.
"""

import linecache
import random
import re
from collections import defaultdict
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autodiff_edu.core import events
from autodiff_edu.frameworks.jax import trace_jax
from autodiff_edu.text.places import position_of

pytestmark = pytest.mark.jax

SHAPES = {"v": (3,), "s": (), "m": (2, 3)}

HEADER = """\
import jax
import jax.numpy as jnp
@jax.custom_vjp
def bounded(x):
    return jnp.tanh(x)
bounded.defvjp(lambda x: (jnp.tanh(x), x), lambda x, g: (2.0 * g * x,))
@jax.custom_jvp
def straight(x):
    return jnp.round(x)
straight.defjvp(lambda primals, tangents: (jnp.round(primals[0]), tangents[0]))
def scanned(start, values):
    return jax.lax.scan(lambda c, a: (c * 0.5 + jnp.sin(a), c * a), start, values)
def last_carry(start, values):
    return scanned(start, values)[0]
@jax.jit
def all_carries(start, values):
    carry, rest = scanned(start, values)
    return rest
"""

# By the shape of the result: an expression, and the shapes of its arguments. `same` stands for any one shape.
SAME = [
    ("jnp.sin({})", 1),
    ("jnp.cos({} + 1)", 1),
    ("jnp.tanh({})", 1),
    ("jnp.exp(-jnp.square({}))", 1),
    ("-{}", 1),
    ("{} ** 2", 1),
    ("{} ** 3 / 4.0", 1),
    ("{} * 0.5 - 1", 1),
    ("2.0 / (1.0 + {} * {})", 2),
    ("jnp.sqrt(jnp.abs({}) + 1.0)", 1),
    ("jnp.log1p({} ** 2)", 1),
    ("jax.nn.relu({})", 1),
    ("jax.nn.sigmoid({})", 1),
    ("jax.nn.softplus({})", 1),
    ("jax.nn.gelu({})", 1),
    ("jnp.clip({}, -0.5, 0.5)", 1),
    ("jnp.where({} > 0.1, {}, 0.1 * {})", 3),
    ("jax.lax.stop_gradient({}) * {}", 2),
    ("jax.lax.rsqrt(1.0 + {} * {})", 2),
    ("{}.astype(jnp.float16).astype(jnp.float32) * 1.5", 1),
    ("bounded({})", 1),
    ("straight({}) + {}", 2),
    ("jnp.floor({}) + {}", 2),
    ("{} + {}", 2),
    ("{} - {}", 2),
    ("{} * {}", 2),
    ("{} / (2.0 + jnp.cos({}))", 2),
    ("jnp.maximum({}, {})", 2),
    ("jnp.minimum({}, {} * 0.9)", 2),
    ("jnp.arctan2({}, 2.0 + {} ** 2)", 2),
    ("jnp.logaddexp({}, {})", 2),
    ("jax.checkpoint(lambda a, b: jnp.sin(a) * b)({}, {})", 2),
    ("jax.jit(lambda a, b: a * b + jnp.cos(a))({}, {})", 2),
    ("jax.lax.cond(jnp.sum({}) > 0.3, lambda a: jnp.sin(a), lambda a: a * a, {})", 2),
    ("jax.lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) + {}, {})", 2),
]
OTHER = {
    "v": [
        ("jax.nn.softmax({})", "v"),
        ("jax.nn.log_softmax({})", "v"),
        ("jnp.cumsum({})", "v"),
        ("{}[::-1]", "v"),
        ("jnp.roll({}, 1)", "v"),
        ("jnp.sort({})", "v"),
        ("{} * {}", "vs"),
        ("{} + {}", "sv"),
        ("{} * jnp.arange(3) + 1", "v"),
        ("jax.nn.one_hot(jnp.argmax({}), 3) * {}", "vv"),
        ("jnp.concatenate([{}[1:], {}[:1]])", "vv"),
        ("{}.at[1].set({})", "vs"),
        ("jax.vmap(lambda a: a * jnp.cos(a))({})", "v"),
        ("jax.vmap(lambda a, b: jnp.dot(a, b), in_axes=(1, None))({}, {}[:2])", "mv"),
        ("{}.sum(axis=0)", "m"),
        ("jnp.mean({}, axis=0)", "m"),
        ("{}[1]", "m"),
        ("jnp.array([0.5, -1.0]) @ {}", "m"),
        ("all_carries({}, {})", "sv"),
        ("jax.lax.associative_scan(jnp.multiply, 1.0 + 0.1 * {})", "v"),
    ],
    "s": [
        ("jnp.sum({})", "v"),
        ("{}.mean()", "v"),
        ("jnp.max({})", "v"),
        ("jnp.prod({})", "v"),
        ("jnp.linalg.norm({} + 2.0)", "v"),
        ("jnp.var({})", "v"),
        ("{} @ {}", "vv"),
        ("jnp.dot({}, {})", "vv"),
        ("{}[1]", "v"),
        ("jax.nn.logsumexp({})", "v"),
        ("jnp.sum({} @ {}.T)", "mm"),
        ("jnp.einsum('ij,ij->', {}, {})", "mm"),
        ("last_carry({}, {})", "sv"),
        ("sum(part.sum() for part in scanned({}, {}))", "sv"),
        ("jnp.sum(jnp.linalg.solve(jnp.eye(3) * 2.0 + jnp.outer({}, {}), {}))", "vvv"),
    ],
    "m": [
        ("jnp.stack([{}, {}])", "vv"),
        ("jnp.outer({}[:2], {})", "vv"),
        ("{} * {}", "mv"),
        ("{} + {}", "ms"),
        ("{}.reshape(3, 2).T", "m"),
        ("jnp.broadcast_to({}, (2, 3)) * 1.5", "v"),
        ("jnp.tile({}, (2, 1)) - 1.0", "v"),
    ],
}


class Program:
    """Statements, each on a line of its own: as they are, or with zeros added to what they use and compute."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.shapes = {"x": "v", "w": "s", "k": "m"}
        self.statements = []  # of a line: what it assigns, its expression, and the variables that it uses
        self.write(self.random.randint(5, 10))
        self.used = {}  # by the name of a zero: the line and the variable that it is added to

    def write(self, count):
        for _ in range(count):
            self.add(self.choose(self.random.choice("vvsm")))
        parts = [name for name, *_ in self.statements if name][-3:]
        self.last = self.name("s")
        total = " + ".join("jnp.sum({})" for _ in parts)
        self.statements.append((self.last, total, parts))

    def choose(self, shape):
        if self.random.random() < 0.55:
            expression, count = self.random.choice(SAME)
            return shape, expression, [shape] * count
        expression, shapes = self.random.choice(OTHER[shape])
        return shape, expression, list(shapes)

    def add(self, chosen):
        shape, expression, shapes = chosen
        arguments = [self.pick(one) for one in shapes]
        self.statements.append((self.name(shape), expression, arguments))

    def pick(self, shape):
        known = [name for name, one in self.shapes.items() if one == shape]
        return self.random.choice(known[-4:])

    def name(self, shape):
        name = f"p{len(self.shapes)}"
        self.shapes[name] = shape
        return name

    def source(self, moved):
        """Write the program; with zeros if `moved`."""
        lines = HEADER.splitlines()
        lines.append("def f(x, w, k, zeros=None):")
        self.lines = {}
        for number, (name, expression, arguments) in enumerate(self.statements):
            line = len(lines) + 1
            self.lines[line] = name, arguments
            written = [f"({one} + zeros['{number}.{j}'])" if moved else one for j, one in enumerate(arguments)]
            self.used |= {f"{number}.{j}": (line, one) for j, one in enumerate(arguments)}
            right = expression.format(*written)
            lines.append(f"    {name} = {f'({right}) + zeros[{name!r}]' if moved else right}")
        lines.append(f"    return {self.last}")
        return "\n".join(lines) + "\n"

    def run(self, moved, path):
        text = self.source(moved)
        linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
        space = {}
        exec(compile(text, path, "exec"), space)
        return SimpleNamespace(f=space["f"], lines=text.splitlines())

    def zeros(self):
        zeros = {name: jnp.zeros(SHAPES[self.shapes[one]]) for name, (_, one) in self.used.items()}
        return zeros | {name: jnp.zeros(SHAPES[self.shapes[name]]) for name, *_ in self.statements}


def agree(shown, true, scale):
    """Return whether numbers are the same to the last digits, for numbers of this size."""
    return np.allclose(shown, true, rtol=1e-5, atol=2e-6 * scale, equal_nan=True)


def line_in_f(entry):
    """Return the line of the function that an entry belongs to, perhaps through a helper."""
    return next(position_of(*place)[0] for place in entry.operation.places if place[0].co_name == "f")


@pytest.mark.parametrize("seed", range(200))
def test_every_contribution_and_every_gradient_is_jax_own(seed):
    program = Program(seed)
    plain, moved = program.run(False, f"<random {seed}>"), program.run(True, f"<moved {seed}>")
    chance = np.random.default_rng(seed)
    arguments = [jnp.asarray(chance.normal(size=shape), jnp.float32) for shape in SHAPES.values()]
    trace = trace_jax(plain.f, tuple(arguments))
    document = trace.document()

    gradients = jax.grad(plain.f, argnums=(0, 1, 2))(*arguments)
    pieces = jax.grad(moved.f, argnums=3)(*arguments, program.zeros())
    sent, total, outcomes = defaultdict(float), {}, {}
    for event, step in zip(trace.events, document["steps"], strict=True):
        name = document["tensors"][step["tensor"]]["name"] if "tensor" in step else None
        if isinstance(event, events.Accumulate):
            line = line_in_f(event.entry)
            sent[line, name] += np.asarray(event.value._array, np.float64)
            total[name] = event.after._array
        elif isinstance(event, events.Outcome):
            outcomes[name] = event.result._array

    for name, gradient in zip("xwk", gradients, strict=True):
        scale = max([1.0, *(np.max(np.abs(part)) for (_, to), part in sent.items() if to == name)])
        assert outcomes[name].dtype == gradient.dtype
        assert agree(outcomes[name], gradient, scale), (name, outcomes[name], gradient)

    scale = max(1.0, *(float(np.max(np.abs(piece))) for piece in pieces.values()))
    truth = defaultdict(float)
    for zero, key in program.used.items():
        truth[key] += np.asarray(pieces[zero], np.float64)
    for (line, name), true in truth.items():
        assert agree(sent.get((line, name), 0.0), true, scale), (
            plain.lines[line - 1],
            name,
            sent.get((line, name)),
            true,
        )
    named = {tensor["name"] for tensor in document["tensors"]}
    for name, *_ in program.statements[:-1]:
        if name in named:
            assert agree(total.get(name, 0.0), pieces[name], scale), (name, total.get(name), pieces[name])

    variables = {name for name, *_ in program.statements} | set("xwk")
    recorded = {event.entry.output_id: event.entry for event in trace.events if hasattr(event, "entry")}
    for entry, described in zip(recorded.values(), document["entries"], strict=True):
        line, text = line_in_f(entry), plain.lines[described["where"]["line"] - 1]
        columns = text[slice(*described["where"]["columns"])]
        inputs = {document["tensors"][k]["name"] for k in described["inputs"]} & variables
        assert inputs <= set(program.lines[line][1])
        if described["where"]["line"] == line:
            assert inputs <= set(re.findall(r"\w+", text if "lambda" in text else columns)), (described, text)
        else:
            assert described["operation"] == "scan"
            assert columns.startswith("jax.lax.scan(")
        output = document["tensors"][described["output"]]["name"]
        assert output not in variables or output == program.lines[line][0]
