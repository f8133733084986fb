"""Programs over the names of `autodiff_edu.tf`, and what TensorFlow 2.21.0 answered to them, recorded once.

Each answer of TensorFlow is the shape, the dtype and the numbers to seven digits, or the name of an error.
To record again, run this file with TensorFlow installed: it prints the table.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

PROGRAMS: dict[str, str] = {
    "square of a variable": """
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = tf.square(x)
answers = y, tape.gradient(y, x)
""",
    "a line": """
w, b = tf.Variable([[0.5, -1.0], [2.0, 0.25]]), tf.Variable(tf.zeros(2))
x = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
with tf.GradientTape(persistent=True) as tape:
    y = x @ w + b
    loss = tf.reduce_mean(tf.square(y))
answers = y, loss, *tape.gradient(loss, [w, b]), tape.jacobian(y, b)
""",
    "watched constant": """
x = tf.constant([0.5, 1.5, -2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    wave = tf.math.sin(x)
    total = tf.reduce_sum(wave)
answers = total, tape.gradient(total, x)
""",
    "activations": """
x = tf.linspace(-2.0, 2.0, 5)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    flat = tf.nn.relu(x)
    bent = tf.nn.elu(x)
    steep = tf.nn.sigmoid(x)
    soft = tf.nn.softplus(x)
answers = flat, bent, steep, soft, *[tape.gradient(y, x) for y in (flat, bent, steep, soft)]
""",
    "second order": """
x = tf.Variable(0.75)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.nn.sigmoid(x) * x
    slope = inner.gradient(y, x)
answers = slope, outer.gradient(slope, x)
""",
    "unconnected": """
x, other = tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])
with tf.GradientTape(persistent=True) as tape:
    y = tf.reduce_prod(x)
answers = (
    tape.gradient(y, other),
    tape.gradient(y, other, unconnected_gradients=tf.UnconnectedGradients.ZERO),
    tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.NONE),
)
""",
    "a whole number": """
x = tf.constant(10)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
answers = y, tape.gradient(y, x)
""",
    "the largest": """
x = tf.Variable([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])
with tf.GradientTape(persistent=True) as tape:
    best = tf.reduce_max(x, axis=1)
    one = tf.reduce_max(x)
answers = best, tape.gradient(best, x), one, tape.gradient(one, x)
""",
    "a product with a zero": """
x = tf.Variable([2.0, 0.0, 3.0])
with tf.GradientTape() as tape:
    y = tf.reduce_prod(x)
answers = y, tape.gradient(y, x)
""",
    "shapes": """
x = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
weights = tf.constant([[1.0, -1.0], [0.5, 2.0], [3.0, 0.0]])
with tf.GradientTape() as tape:
    turned = tf.transpose(x)
    padded = tf.pad(turned * weights, [[1, 0], [0, 2]])
    flat = tf.reshape(padded, [-1])
    y = tf.reduce_sum(flat * flat)
answers = padded, y, tape.gradient(y, x)
""",
    "axes": """
x = tf.Variable([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]])
with tf.GradientTape() as tape:
    y = tf.transpose(x, perm=[2, 0, 1])
    s = tf.reduce_sum(tf.square(y), axis=[0, 2], keepdims=True)
    m = tf.reduce_mean(s, axis=1)
answers = y, s, m, tape.gradient(m, x)
""",
    "sums of products": """
a, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([[0.5, -1.0, 2.0], [1.5, 0.0, 1.0]])
with tf.GradientTape() as tape:
    y = tf.einsum("ij,jk->ik", a, b)
    z = tf.reduce_sum(tf.square(y))
answers = y, *tape.gradient(z, [a, b])
""",
    "joined": """
a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
with tf.GradientTape() as tape:
    long = tf.concat([a, b * a], axis=0)
    high = tf.stack([a, b], axis=1)
    y = tf.reduce_sum(tf.square(long)) + tf.reduce_prod(high)
answers = long, high, *tape.gradient(y, [a, b])
""",
    "lengths": """
x = tf.Variable([[3.0, 4.0], [6.0, 8.0]])
with tf.GradientTape(persistent=True) as tape:
    whole = tf.norm(x)
    rows = tf.norm(x, axis=1)
    same = tf.math.reduce_euclidean_norm(x, axis=1, keepdims=True)
answers = whole, rows, same, tape.gradient(whole, x), tape.gradient(rows, x)
""",
    "clipped": """
x = tf.Variable([3.0, 4.0])
with tf.GradientTape(persistent=True) as tape:
    short = tf.clip_by_norm(x, 1.0)
    same = tf.clip_by_norm(x, 100.0)
answers = short, same, tape.gradient(short, x), tape.gradient(same, x)
""",
    "a system of equations": """
a, b = tf.Variable([[4.0, 1.0], [1.0, 3.0]]), tf.Variable([[1.0], [2.0]])
with tf.GradientTape() as tape:
    solution = tf.linalg.solve(a, b)
    y = tf.reduce_sum(solution)
answers = solution, *tape.gradient(y, [a, b])
""",
    "stopped": """
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    kept = tf.stop_gradient(x * x)
    y = kept * x
answers = y, tape.gradient(y, x)
""",
    "a gradient of one's own": """
@tf.custom_gradient
def gentle(x):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)
    return x + 0.0, backward

v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = gentle(v * v)
answers = y, tape.gradient(y, v)
""",
    "a root": """
x = tf.Variable([4.0, 2.25])
with tf.GradientTape() as tape:
    root = tf.sqrt(x)
answers = root, tape.jacobian(root, x)
""",
    "per sample": """
x, mix = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.square(x) @ mix
answers = y, tape.batch_jacobian(y, x)
""",
    "made": """
answers = (
    tf.constant(2.5), tf.constant([[1.0], [2.0]]), tf.zeros([2, 3]), tf.ones(2), tf.eye(2), tf.eye(2, 3),
    tf.linspace(0.0, 1.0, 3), tf.convert_to_tensor([1.0, 2.0]), tf.constant([1, 2], dtype=tf.float32),
    tf.Variable(1.5) * 2, tf.random.normal([2, 3]) * 0.0, tf.random.normal((4,), 3.0, 0.0),
)
""",
    "read from a variable": """
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    now = tf.convert_to_tensor(x)
    both = tf.convert_to_tensor([tf.reduce_sum(now), tf.reduce_max(now)])
    y = tf.reduce_prod(both)
answers = both, tape.gradient(y, x)
""",
    "the contrast of an image": """
picture = tf.reshape(tf.linspace(0.0, 11.0, 12), [1, 2, 2, 3])
with tf.GradientTape() as tape:
    tape.watch(picture)
    sharper = tf.image.adjust_contrast(picture, 2.0)
answers = sharper, lambda: tape.gradient(sharper, picture)
""",
    "assigned": """
a, b, c = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0]), tf.Variable(tf.zeros(2))
with tf.GradientTape(persistent=True) as tape:
    c.assign(a + b)
    loss = tf.reduce_mean(tf.square(c))
answers = loss, tape.gradient(loss, a), tape.gradient(loss, c)
""",
    "layers": """
first, second = tf.keras.layers.Dense(2, activation=tf.nn.relu), tf.keras.layers.Dense(1)
model = tf.keras.Sequential([first, second])
x = tf.constant([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
start = model(x)
first.kernel.assign([[1.0, -1.0], [0.5, 0.5], [0.0, 2.0]])
first.bias.assign([0.25, -0.25])
second.kernel.assign([[2.0], [-1.0]])
with tf.GradientTape() as tape:
    y = model(x)
    loss = tf.reduce_mean(tf.square(y))
answers = y, loss, *tape.gradient(loss, model.trainable_variables)
""",
    "batch normalization": """
layer = tf.keras.layers.BatchNormalization(momentum=0.5)
x = tf.constant([[1.0, 10.0], [3.0, 10.0], [8.0, 40.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = layer(x, training=True)
    loss = tf.reduce_sum(y * y * y)
answers = y, tape.gradient(loss, x), layer(x, training=False), layer.moving_mean, layer.moving_variance
""",
    "a module": """
class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.a_slope, self.b_offset = tf.Variable(2.0), tf.Variable(1.0)

    @tf.function
    def __call__(self, x):
        return self.a_slope * x + self.b_offset

line = Line()
x = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(line(x)))
answers = line(x), *tape.gradient(loss, line.trainable_variables)
""",
    "a function": """
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.math.sin(x) * x)
    return y, tape.gradient(y, x)

answers = *step(tf.constant([0.5, 1.0])), *step(tf.constant([2.0, -1.0]))
""",
    "saved": """
class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def gentle(self, x):
        return own(x)

@tf.custom_gradient
def own(x):
    return x * 2.0, lambda dy: dy * 10.0

tf.saved_model.save(
    Model(), folder, options=tf.saved_model.SaveOptions(experimental_custom_gradients=True)
)
loaded = tf.saved_model.load(folder)
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = loaded.gentle(v * v)
answers = y, tape.gradient(y, v)
""",
    "a gradient penalty": """
critic = tf.Variable([[0.5], [-1.5]])
real, fake = tf.constant([[1.0, 2.0], [0.0, 1.0]]), tf.constant([[3.0, 0.0], [2.0, -1.0]])
share = tf.constant([[0.25], [0.5]])
between = share * real + (1 - share) * fake
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner.watch(between)
        score = tf.nn.softplus(between @ critic)
    slopes = inner.gradient(score, between)
    lengths = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1))
    penalty = tf.reduce_mean(tf.square(lengths - 1.0))
answers = slopes, penalty, outer.gradient(penalty, critic)
""",
}

TENSORFLOW: dict[str, list[Any]] = {  # recorded with TensorFlow 2.21.0
    "square of a variable": [((), "float32", (9.0,)), ((), "float32", (6.0,))],
    "a line": [
        ((3, 2), "float32", (4.5, -0.5, -0.5, -3.25, 1.25, -0.375)),
        ((), "float32", (5.502604,)),
        ((2, 2), "float32", (1.208333, -3.479167, 3.375, 0.6875)),
        ((2,), "float32", (1.75, -1.375)),
        ((3, 2, 2), "float32", (1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0)),
    ],
    "watched constant": [((), "float32", (0.5676232,)), ((3,), "float32", (0.8775826, 0.0707372, -0.4161468))],
    "activations": [
        ((5,), "float32", (0.0, 0.0, 0.0, 1.0, 2.0)),
        ((5,), "float32", (-0.8646647, -0.6321205, 0.0, 1.0, 2.0)),
        ((5,), "float32", (0.1192029, 0.2689414, 0.5, 0.7310586, 0.8807971)),
        ((5,), "float32", (0.126928, 0.3132617, 0.6931472, 1.313262, 2.126928)),
        ((5,), "float32", (0.0, 0.0, 0.0, 1.0, 1.0)),
        ((5,), "float32", (0.1353353, 0.3678795, 1.0, 1.0, 1.0)),
        ((5,), "float32", (0.1049936, 0.1966119, 0.25, 0.1966119, 0.1049936)),
        ((5,), "float32", (0.1192029, 0.2689414, 0.5, 0.7310586, 0.8807971)),
    ],
    "second order": [((), "float32", (0.8426,)), ((), "float32", (0.3772268,))],
    "unconnected": [None, ((1, 1), "float32", (0.0,)), ((2,), "float32", (2.0, 1.0))],
    "a whole number": [((), "int32", (100.0,)), None],
    "the largest": [
        ((2,), "float32", (5.0, 7.0)),
        ((2, 3), "float32", (0.0, 1.0, 0.0, 0.5, 0.0, 0.5)),
        ((), "float32", (7.0,)),
        ((2, 3), "float32", (0.0, 0.0, 0.0, 0.5, 0.0, 0.5)),
    ],
    "a product with a zero": [((), "float32", (0.0,)), ((3,), "float32", (0.0, 6.0, 0.0))],
    "shapes": [
        ((4, 4), "float32", (0.0, 0.0, 0.0, 0.0, 1.0, -4.0, 0.0, 0.0, 1.0, 10.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0)),
        ((), "float32", (199.0,)),
        ((2, 3), "float32", (2.0, 1.0, 54.0, 8.0, 40.0, 0.0)),
    ],
    "axes": [
        ((2, 3, 1), "float32", (1.0, 3.0, 5.0, 2.0, 4.0, 6.0)),
        ((1, 3, 1), "float32", (5.0, 25.0, 61.0)),
        ((1, 1), "float32", (30.33333,)),
        ((3, 1, 2), "float32", (0.6666667, 1.333333, 2.0, 2.666667, 3.333333, 4.0)),
    ],
    "sums of products": [
        ((2, 3), "float32", (3.5, -1.0, 4.0, 7.5, -3.0, 10.0)),
        ((2, 2), "float32", (21.5, 18.5, 53.5, 42.5)),
        ((2, 3), "float32", (52.0, -20.0, 68.0, 74.0, -28.0, 96.0)),
    ],
    "joined": [
        ((4,), "float32", (1.0, 2.0, 3.0, 8.0)),
        ((2, 2), "float32", (1.0, 3.0, 2.0, 4.0)),
        ((2,), "float32", (44.0, 80.0)),
        ((2,), "float32", (14.0, 38.0)),
    ],
    "lengths": [
        ((), "float32", (11.18034,)),
        ((2,), "float32", (5.0, 10.0)),
        ((2, 1), "float32", (5.0, 10.0)),
        ((2, 2), "float32", (0.2683282, 0.3577709, 0.5366563, 0.7155418)),
        ((2, 2), "float32", (0.6, 0.8, 0.6, 0.8)),
    ],
    "clipped": [
        ((2,), "float32", (0.6, 0.8)),
        ((2,), "float32", (3.0, 4.0)),
        ((2,), "float32", (0.03199999, -0.024)),
        ((2,), "float32", (1.0, 1.0)),
    ],
    "a system of equations": [
        ((2, 1), "float32", (0.09090909, 0.6363636)),
        ((2, 2), "float32", (-0.01652893, -0.1157025, -0.02479339, -0.1735537)),
        ((2, 1), "float32", (0.1818182, 0.2727273)),
    ],
    "stopped": [((), "float32", (8.0,)), ((), "float32", (4.0,))],
    "a gradient of one's own": [((), "float32", (4.0,)), ((), "float32", (2.0,))],
    "a root": [((2,), "float32", (2.0, 1.5)), ((2, 2), "float32", (0.25, 0.0, 0.0, 0.3333333))],
    "per sample": [
        ((3, 3), "float32", (1.0, 4.0, -2.0, 9.0, 16.0, 2.0, 25.0, 36.0, 14.0)),
        (
            (3, 3, 2),
            "float32",
            (2.0, 0.0, 0.0, 4.0, 4.0, -4.0, 6.0, 0.0, 0.0, 8.0, 12.0, -8.0, 10.0, 0.0, 0.0, 12.0, 20.0, -12.0),
        ),
    ],
    "made": [
        ((), "float32", (2.5,)),
        ((2, 1), "float32", (1.0, 2.0)),
        ((2, 3), "float32", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        ((2,), "float32", (1.0, 1.0)),
        ((2, 2), "float32", (1.0, 0.0, 0.0, 1.0)),
        ((2, 3), "float32", (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)),
        ((3,), "float32", (0.0, 0.5, 1.0)),
        ((2,), "float32", (1.0, 2.0)),
        ((2,), "float32", (1.0, 2.0)),
        ((), "float32", (3.0,)),
        ((2, 3), "float32", (-0.0, -0.0, 0.0, -0.0, 0.0, 0.0)),
        ((4,), "float32", (3.0, 3.0, 3.0, 3.0)),
    ],
    "read from a variable": [((2,), "float32", (3.0, 2.0)), ((2,), "float32", (2.0, 5.0))],
    "the contrast of an image": [
        ((1, 2, 2, 3), "float32", (-4.5, -3.5, -2.5, 1.5, 2.5, 3.5, 7.5, 8.5, 9.5, 13.5, 14.5, 15.5)),
        "LookupError",
    ],
    "assigned": [((), "float32", (26.0,)), None, ((2,), "float32", (4.0, 6.0))],
    "layers": [
        ((2, 1), "float32", (-1.25, -5.0)),
        ((), "float32", (13.28125,)),
        ((3, 2), "float32", (-2.5, -3.75, -5.0, 5.0, -7.5, 13.75)),
        ((2,), "float32", (-2.5, 6.25)),
        ((2, 1), "float32", (-2.8125, -32.1875)),
        ((1,), "float32", (-6.25,)),
    ],
    "batch normalization": [
        ((3, 2), "float32", (-1.01899, -0.707105, -0.3396635, -0.707105, 1.358654, 1.41421)),
        ((3, 2), "float32", (0.5274662, -5.587935e-07, -0.7385507, -5.587935e-07, 0.2110844, 1.072884e-06)),
        ((3, 2), "float32", (-0.4548118, 0.0, 0.4548117, 0.0, 2.72887, 2.992513)),
        ((2,), "float32", (2.0, 10.0)),
        ((2,), "float32", (4.833333, 100.5)),
    ],
    "a module": [((3,), "float32", (3.0, 5.0, 7.0)), ((), "float32", (68.0,)), ((), "float32", (30.0,))],
    "a function": [
        ((), "float32", (1.081184,)),
        ((2,), "float32", (0.9182168, 1.381773)),
        ((), "float32", (2.660066,)),
        ((2,), "float32", (0.07700372, -1.381773)),
    ],
    "saved": [((), "float32", (8.0,)), ((), "float32", (40.0,))],
    "a gradient penalty": [
        ((2, 2), "float32", (0.3112297, -0.933689, 0.3112297, -0.933689)),
        ((), "float32", (0.0002498095,)),
        ((2, 1), "float32", (-0.02677721, 0.01573024)),
    ],
}


def run(program: str, tf: Any, folder: str) -> dict[str, Any]:
    """Run a program and return its names."""
    names: dict[str, Any] = {"tf": tf, "folder": folder}
    exec(PROGRAMS[program], names)
    return names


def described(answer: Any) -> tuple[Any, ...] | str | None:
    """Return the shape, the dtype and the numbers to seven digits, or the name of an error."""
    if callable(answer) and not hasattr(answer, "numpy"):
        try:
            return described(answer())
        except LookupError as error:
            return type(error).__name__
    if answer is None:
        return None
    array = np.asarray(answer.numpy())
    return array.shape, array.dtype.name, tuple(float(f"{number:.7g}") for number in array.ravel())


if __name__ == "__main__":
    import tempfile

    import tensorflow

    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            answers = run(name, tensorflow, folder)["answers"]
            sys.stdout.write(f"    {name!r}: {list(map(described, answers))},\n")
