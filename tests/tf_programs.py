"""Programs over the names of `autodiff_edu.tf`, and what TensorFlow 2.21.0 answered to them, recorded once.

Each answer of TensorFlow is the shape, the dtype and the numbers to seven digits, or the name of an error.
To record again, run this file with TensorFlow installed: it prints the table.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from matplotlib.figure import Figure

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
    "a list beside a variable": """
w, b = tf.Variable([[0.5, -1.0], [2.0, 0.25], [1.0, 3.0]]), tf.Variable(tf.zeros(2, dtype=tf.float32))
x = [[1.0, -2.0, 0.5]]
with tf.GradientTape(persistent=True) as tape:
    y = x @ w + b
    loss = tf.reduce_mean(y**2)
[dw, db] = tape.gradient(loss, [w, b])
both = tape.gradient(loss, {"weights": {"w": w}, "rest": [b]})
answers = y, loss, dw, db, both["weights"]["w"], both["rest"][0]
""",
    "lists and numbers beside a tensor": """
x = tf.Variable([2.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    y = x * [3.0, 4.0]
    z = [1, 2] - (y + 1) / [[4.0], [8.0]] ** x[0]
    half = 0.5 * tf.reduce_sum(z) + 2
answers = y, z, half, tape.gradient(y, x), tape.gradient(half, x), tape.jacobian(y, x)
""",
    "watched or not": """
watched, fixed = tf.Variable(2.0, name="watched"), tf.Variable(3.0, trainable=False)
added, plain = tf.Variable(1.0) + 4.0, tf.constant(5.0, name="plain")
with tf.GradientTape() as tape:
    y = watched**2 + fixed**2 + added**2 + plain
answers = *tape.gradient(y, [watched, fixed, added, plain]), *tape.watched_variables()
""",
    "watched by hand": """
free, asked = tf.Variable(0.5), tf.Variable(-1.5)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(asked)
    y = tf.reduce_sum(tf.math.sin(free) + tf.nn.softplus(asked))
slopes = tape.gradient(y, {"free": free, "asked": asked})
answers = slopes["free"], slopes["asked"]
""",
    "a value on the way": """
x = tf.constant([1.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
answers = tape.gradient(z, y), tape.gradient(z, x), tape.gradient(y, x)
del tape
""",
    "several targets": """
x = tf.Variable(4.0)
with tf.GradientTape() as tape:
    square = x**2
    part = 1 / x
answers = (tape.gradient({"square": square, "part": part}, x),)
""",
    "each element's slope": """
x = tf.linspace(-4.0, 4.0, 8 + 1)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.sigmoid(x)
slopes = tape.gradient(y, x)
axes = Figure().subplots()
axes.plot(x, y, label="y")
axes.plot(x.numpy(), slopes)
answers = y, slopes
""",
    "a branch": """
x, low, high = tf.constant(1.5), tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    if x > 1.0:
        y = high**2
    else:
        y = low
answers = *tape.gradient(y, [low, high]), tape.gradient(y, x)
""",
    "a variable that became a tensor": """
x, answers = tf.Variable(2.0), []
for _ in range(2):
    with tf.GradientTape() as tape:
        y = x + 1
    answers.append(tape.gradient(y, x))
    x = x + 1
""",
    "computed elsewhere": """
x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
with tf.GradientTape() as tape:
    outside = np.mean(x.numpy() ** 2, axis=0)
    y = tf.reduce_mean(outside, axis=0)
answers = y, tape.gradient(y, x)
""",
    "through whole numbers": """
x = tf.Variable([1.75, 2.5])
with tf.GradientTape(persistent=True) as tape:
    whole = tf.cast(x, tf.int32)
    back = tf.cast(whole, tf.float32)
    y = back * 2.0
    z = tf.cast(x, tf.float64) * 2.0
answers = y, z, tape.gradient(y, x), tape.gradient(z, x), tf.cast([1, 0], tf.int64)
""",
    "a state": """
x, total = tf.Variable(3.0), tf.Variable(1.0)
with tf.GradientTape(persistent=True) as tape:
    total.assign_add(x)
    y = total**2
answers = y, tape.gradient(y, x), tape.gradient(y, total)
""",
    "no gradient": """
picture, factor = tf.Variable([[[0.5, 0.0, 0.25]]]), tf.Variable(0.1)
with tf.GradientTape() as tape:
    changed = tf.image.adjust_contrast(picture, factor)
answers = changed, lambda: tape.gradient(changed, [picture, factor])
""",
    "a pause": """
x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    kept = x * x
    with tape.stop_recording():
        lost = y * y
    z = kept + lost
slopes = tape.gradient(z, {"x": x, "y": y})
answers = z, slopes["x"], slopes["y"]
""",
    "begun again": """
x, y = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    early = y * y
    tape.reset()
    z = x * x + early
answers = tape.gradient(z, [x, y])
""",
    "two tapes at once": """
a, b = tf.constant(0.5), tf.constant(-0.25)
with tf.GradientTape() as one, tf.GradientTape() as other:
    one.watch(a)
    other.watch(b)
    y = tf.reduce_sum(tf.math.sin(a) + tf.nn.sigmoid(b))
answers = one.gradient(y, a), other.gradient(y, b)
""",
    "the length of a gradient": """
x = tf.constant([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]])
layer = tf.keras.layers.Dense(2, activation=tf.nn.relu)
layer(x)
layer.kernel.assign([[0.5, -1.0], [2.0, 0.25]])
layer.bias.assign([0.5, 0.125])
with tf.GradientTape() as outer:
    with tf.GradientTape(watch_accessed_variables=False) as inner:
        inner.watch(x)
        y = tf.reduce_sum(layer(x) ** 2)
    slope = inner.gradient(y, x)
    length = tf.norm(slope)
answers = slope, length, *outer.gradient(length, layer.trainable_variables)
""",
    "one source, many targets": """
x, shift = tf.linspace(-2.0, 2.0, 5), tf.Variable(0.25)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + shift)
answers = y, tape.jacobian(y, shift)
""",
    "the Jacobian of a layer": """
x = tf.constant([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]])
layer = tf.keras.layers.Dense(2, activation="relu")
layer(x)
layer.kernel.assign([[0.5, -1.0], [2.0, 0.25]])
with tf.GradientTape(persistent=True) as tape:
    y = layer(x)
jacobian, slopes = tape.jacobian(y, layer.kernel), tape.gradient(y, layer.kernel)
gap = tf.reduce_max(abs(slopes - tf.reduce_sum(jacobian, axis=[0, 1])))
assert gap < 1e-3, gap.numpy()
names = [variable.name for variable in layer.trainable_variables]
assert names == ["kernel", "bias"], names
answers = jacobian, slopes, gap
""",
    "a step of Newton's": """
x = tf.constant([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]])
first, second = tf.keras.layers.Dense(2, activation=tf.nn.relu), tf.keras.layers.Dense(1, activation=tf.nn.elu)
second(first(x))
first.kernel.assign([[0.5, -1.0], [2.0, 0.75]])
second.kernel.assign([[1.0], [0.5]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        loss = tf.reduce_mean(second(first(x)) ** 2)
    slopes = inner.gradient(loss, first.kernel)
hessian = outer.jacobian(slopes, first.kernel)
size = tf.reduce_prod(first.kernel.shape)
vector, matrix = tf.reshape(slopes, [size, 1]), tf.reshape(hessian, [size, size])
limit = tf.reduce_max(abs(matrix))
Figure().subplots().imshow(matrix, vmin=-limit, vmax=limit, cmap="seismic")
change = tf.linalg.solve(matrix + tf.eye(matrix.shape[0]) * 8.0, vector)
first.kernel.assign_sub(tf.reshape(change, first.kernel.shape))
answers = loss, slopes, hessian, change, first.kernel
""",
    "patches": """
x, mix = tf.constant([[1.0, -2.0], [0.5, 3.0]]), tf.constant([[1.0, 0.0, 2.0], [0.5, 1.0, -1.0]])
with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(x)
    y = tf.nn.elu(x @ mix)
full, blocks = tape.jacobian(y, x), tape.batch_jacobian(y, x)
summed, chosen = tf.reduce_sum(full, axis=2), tf.einsum("bxby->bxy", full)
patches = tf.transpose(full, [1, 0, 3, 2])
limit = tf.reduce_max(abs(patches))
patches = tf.pad(patches, [[0, 0], [1, 1], [0, 0], [1, 1]], constant_values=-limit)
rows, columns = patches.shape[0] * patches.shape[1], patches.shape[2] * patches.shape[3]
picture = tf.reshape(patches, [rows, columns])
Figure().subplots().imshow(picture, vmin=-limit, vmax=limit, extent=[-0.5, 2.5, 1.5, -0.5])
assert tf.reduce_max(abs(blocks - summed)) < 1e-3
answers = blocks, summed, chosen, picture
""",
    "samples that depend on each other": """
layer, other = tf.keras.layers.Dense(2, activation=tf.nn.elu), tf.keras.layers.BatchNormalization()
x = tf.constant([[1.0, -2.0], [0.5, 3.0], [2.0, 1.5]])
layer(x)
layer.kernel.assign([[0.5, -1.0], [2.0, 0.25]])
with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(x)
    y = other(layer(x), training=True) * 0.125
answers = y, tape.jacobian(y, x), tape.batch_jacobian(y, x)
""",
    "borders": """
x = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
with tf.GradientTape(persistent=True) as tape:
    plain = tf.pad(x, tf.constant([[1, 0], [0, 2]]), "CONSTANT", constant_values=-1)
    y = tf.pad(x, [[1, 1], [2, 0]], mode="REFLECT") * tf.pad(x, [[1, 1], [1, 1]], "symmetric")
answers = plain, y, tape.gradient([plain, y], x)
""",
    "products of matrices": """
a, b = tf.Variable([[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]), tf.Variable([[0.5, -1.0], [2.0, 1.5], [1.0, 2.0]])
with tf.GradientTape(persistent=True) as tape:
    mixed = a * b
    left = tf.matmul(a, b, transpose_a=True)
    right = tf.linalg.matmul(a, b, transpose_b=True)
    listed = tf.matmul([[1.0, 2.0, 3.0]], b)
    y = tf.linalg.det(left) + tf.reduce_sum(tf.linalg.inv(left)) + tf.reduce_mean(right) + tf.linalg.norm(listed)
answers = left, right, listed, y, *tape.gradient(y, [a, b])
""",
    "structures": """
a, b = tf.Variable(2.0), tf.Variable([1.0, 3.0])
with tf.GradientTape() as tape:
    y = a * tf.reduce_sum(b**2)
point = {"a": a, "rest": [b]}
moved = tf.nest.map_structure(lambda value, slope: value - 0.1 * slope, point, tape.gradient(y, point))
answers = moved["a"], moved["rest"][0], tf.nest.map_structure(tf.square, 3.0)
""",
    "one by one": """
x, y = tf.Variable([0.5, -1.5, 2.0]), tf.Variable([1.0, 2.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    waves = tf.cos(x) + tf.sin(x) * tf.exp(-tf.abs(x)) + tf.tanh(x) + tf.nn.tanh(y) + tf.math.log(y)
    mixed = tf.add(x, y) + tf.multiply(2.0, x) - tf.subtract(y, 1) + tf.divide(x, y) + tf.pow(y, 3.0)
    chosen = tf.where(x > 0.0, tf.maximum(x, 1.0), tf.minimum(x, [1.0, 2.0, 3.0]))
    held = tf.clip_by_value(x, -1.0, 1.75) + tf.zeros_like(x) + tf.ones_like(y)
    kinds = tf.nn.softmax(x * y)
    least = tf.reduce_min(x) + tf.math.reduce_std(y) + tf.math.reduce_sum(x)
answers = (
    waves, mixed, chosen, held, kinds, least, tf.argmax(x), tf.argmax([[1.0, 2.0], [3.0, 0.0]], axis=1),
    *[tape.gradient(z, source) for z in (waves, mixed, chosen, held, least) for source in (x, y)],
    tape.jacobian(kinds, x), tf.cast(tf.equal(y, 2.0), tf.float32),
)
""",
    "axes of length one": """
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    table = tf.expand_dims(x, 1) * x[tf.newaxis, :]
    y = tf.reduce_sum(tf.squeeze(tf.squeeze(table[tf.newaxis, ..., tf.newaxis], [0, -1])[:, tf.newaxis], axis=1) ** 2)
answers = table, y, tape.gradient(y, x)
""",
    "computed again": """
@tf.recompute_grad
def wave(x):
    return tf.sin(x) * x

x = tf.Variable([0.5, 1.5])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(wave(x))
answers = loss, tape.gradient(loss, x)
""",
    "a training loop": """
tf.keras.utils.set_random_seed(3)
tf.random.set_seed(3)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x, wanted = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), np.array([[1.0], [2.0], [0.0]])
model(x)
model.trainable_variables[0].assign([[0.5], [-0.5]])
optimizer, mean = tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.5), tf.keras.losses.MeanSquaredError()
losses = []
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = mean(wanted, model(x, training=True))
    slopes = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(slopes, model.trainable_variables))
    losses.append(loss)
tf.print("loss", loss)
answers = *losses, *model.trainable_variables
""",
    "a classifier": """
w = tf.Variable([[0.5, -0.25, 0.0], [1.0, 0.5, -1.0]])
x = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [-1.0, 0.25]])
shares = tf.constant([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.25, 0.25]])
optimizer = tf.keras.optimizers.Adam(0.05, beta_1=0.5, beta_2=0.75, epsilon=1e-10)
sparse = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
full = tf.keras.losses.CategoricalCrossentropy(from_logits=True)
for _ in range(3):
    with tf.GradientTape() as tape:
        logits = x @ w
        loss = sparse(tf.constant([0, 2, 1, 1]), logits) + full(shares, logits)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
plain = tf.keras.optimizers.SGD()
plain.apply_gradients(zip([tf.ones([2, 3])], [w]))
answers = loss, w, optimizer.learning_rate + tf.zeros([])
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
    "a list beside a variable": [
        ((1, 2), "float32", (-3.0, 0.0)),
        ((), "float32", (4.5,)),
        ((3, 2), "float32", (-3.0, 0.0, 6.0, 0.0, -1.5, 0.0)),
        ((2,), "float32", (-3.0, 0.0)),
        ((3, 2), "float32", (-3.0, 0.0, 6.0, 0.0, -1.5, 0.0)),
        ((2,), "float32", (-3.0, 0.0)),
    ],
    "lists and numbers beside a tensor": [
        ((2,), "float32", (6.0, 12.0)),
        ((2, 2), "float32", (0.5625, 1.1875, 0.890625, 1.796875)),
        ((), "float32", (4.21875,)),
        ((2,), "float32", (3.0, 4.0)),
        ((2,), "float32", (1.074159, -0.15625)),
        ((2, 2), "float32", (3.0, 0.0, 0.0, 4.0)),
    ],
    "watched or not": [((), "float32", (4.0,)), None, None, None, ((), "float32", (2.0,))],
    "watched by hand": [None, ((), "float32", (0.1824255,))],
    "a value on the way": [
        ((2,), "float32", (2.0, 18.0)),
        ((2,), "float32", (4.0, 108.0)),
        ((2,), "float32", (2.0, 6.0)),
    ],
    "several targets": [((), "float32", (7.9375,))],
    "each element's slope": [
        (
            (9,),
            "float32",
            (0.01798621, 0.04742587, 0.1192029, 0.2689414, 0.5, 0.7310585, 0.8807971, 0.9525741, 0.9820138),
        ),
        (
            (9,),
            "float32",
            (0.01766271, 0.04517666, 0.1049936, 0.1966119, 0.25, 0.196612, 0.1049936, 0.04517666, 0.01766273),
        ),
    ],
    "a branch": [None, ((), "float32", (6.0,)), None],
    "a variable that became a tensor": [((), "float32", (1.0,)), None],
    "computed elsewhere": [((), "float32", (7.5,)), None],
    "through whole numbers": [
        ((2,), "float32", (2.0, 4.0)),
        ((2,), "float64", (3.5, 5.0)),
        None,
        ((2,), "float32", (2.0, 2.0)),
        ((2,), "int64", (1.0, 0.0)),
    ],
    "a state": [((), "float32", (16.0,)), None, ((), "float32", (8.0,))],
    "no gradient": [((1, 1, 3), "float32", (0.5, 0.0, 0.25)), "LookupError"],
    "a pause": [((), "float32", (13.0,)), ((), "float32", (4.0,)), None],
    "begun again": [((), "float32", (4.0,)), None],
    "two tapes at once": [((), "float32", (0.8775826,)), ((), "float32", (0.2461341,))],
    "the length of a gradient": [
        ((3, 2), "float32", (0.0, 0.0, 6.0, 27.1875, 3.5, 14.0)),
        ((), "float32", (31.35937,)),
        ((2, 2), "float32", (8.988542, 0.1689088, 27.70404, 0.8026907)),
        ((2,), "float32", (5.556553, 0.05082214)),
    ],
    "one source, many targets": [
        ((5,), "float32", (0.1480472, 0.3208213, 0.5621765, 0.7772998, 0.9046505)),
        ((5,), "float32", (0.1261292, 0.217895, 0.2461341, 0.1731048, 0.08625796)),
    ],
    "the Jacobian of a layer": [
        (
            (3, 2, 2, 2),
            "float32",
            (
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.5,
                0.0,
                3.0,
                0.0,
                0.0,
                0.5,
                0.0,
                3.0,
                2.0,
                0.0,
                1.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
            ),
        ),
        ((2, 2), "float32", (2.5, 0.5, 4.0, 3.0)),
        ((), "float32", (0.0,)),
    ],
    "a step of Newton's": [
        ((), "float32", (19.92188,)),
        ((2, 2), "float32", (6.375, 1.1875, 16.25, 7.125)),
        (
            (2, 2, 2, 2),
            "float32",
            (
                2.833333,
                0.08333334,
                2.333333,
                0.5,
                0.08333334,
                0.04166667,
                0.5,
                0.25,
                2.333333,
                0.5,
                6.666667,
                3.0,
                0.5,
                0.25,
                3.0,
                1.5,
            ),
        ),
        ((4, 1), "float32", (0.3612871, 0.07094101, 0.9609947, 0.4256459)),
        ((2, 2), "float32", (0.1387129, -1.070941, 1.039005, 0.3243541)),
    ],
    "patches": [
        ((2, 3, 2), "float32", (1.0, 0.5, 0.0, 0.1353353, 2.0, -1.0, 1.0, 0.5, 0.0, 1.0, 0.2706705, -0.1353353)),
        ((2, 3, 2), "float32", (1.0, 0.5, 0.0, 0.1353353, 2.0, -1.0, 1.0, 0.5, 0.0, 1.0, 0.2706705, -0.1353353)),
        ((2, 3, 2), "float32", (1.0, 0.5, 0.0, 0.1353353, 2.0, -1.0, 1.0, 0.5, 0.0, 1.0, 0.2706705, -0.1353353)),
        (
            (12, 8),
            "float32",
            (
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                1.0,
                0.0,
                -2.0,
                -2.0,
                0.5,
                0.0,
                -2.0,
                -2.0,
                0.0,
                1.0,
                -2.0,
                -2.0,
                0.0,
                0.5,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                0.0,
                0.0,
                -2.0,
                -2.0,
                0.1353353,
                0.0,
                -2.0,
                -2.0,
                0.0,
                0.0,
                -2.0,
                -2.0,
                0.0,
                1.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                2.0,
                0.0,
                -2.0,
                -2.0,
                -1.0,
                0.0,
                -2.0,
                -2.0,
                0.0,
                0.2706705,
                -2.0,
                -2.0,
                0.0,
                -0.1353353,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
                -2.0,
            ),
        ),
    ],
    "samples that depend on each other": [
        ((3, 2), "float32", (-0.1683714, -0.08484934, 0.1308036, 0.1763682, 0.03756782, -0.09151886)),
        (
            (3, 2, 3, 2),
            "float32",
            (
                3.872182e-05,
                0.0001548873,
                0.002828215,
                0.01131286,
                -0.004110507,
                -0.01644203,
                -0.02912257,
                0.007280642,
                0.003583156,
                -0.0008957889,
                0.02499501,
                -0.006248753,
                8.54047e-05,
                0.0003416188,
                0.006250159,
                0.02500064,
                -0.009078375,
                -0.0363135,
                0.0007995134,
                -0.0001998784,
                -0.0007827729,
                0.0001956932,
                -0.0005514222,
                0.0001378556,
                -0.0001241265,
                -0.0004965062,
                -0.009078375,
                -0.0363135,
                0.01318888,
                0.05275552,
                0.02832306,
                -0.007080764,
                -0.00280036,
                0.0007000901,
                -0.02444359,
                0.006110897,
            ),
        ),
        ((3, 2, 2), "float32", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    ],
    "borders": [
        ((3, 5), "float32", (-1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 2.0, 3.0, -1.0, -1.0, 4.0, 5.0, 7.0, -1.0, -1.0)),
        (
            (4, 5),
            "float32",
            (
                7.0,
                5.0,
                8.0,
                15.0,
                21.0,
                3.0,
                2.0,
                2.0,
                6.0,
                9.0,
                28.0,
                20.0,
                20.0,
                35.0,
                49.0,
                12.0,
                8.0,
                5.0,
                14.0,
                21.0,
            ),
        ),
        ((2, 3), "float32", (25.0, 21.0, 33.0, 25.0, 21.0, 33.0)),
    ],
    "products of matrices": [
        ((2, 2), "float32", (7.0, 4.5, 8.0, 2.0)),
        ((3, 3), "float32", (-1.5, 5.0, 5.0, -2.5, 12.0, 11.0, 1.25, -0.5, -1.5)),
        ((1, 2), "float32", (7.5, 8.0)),
        ((), "float32", (-7.736166,)),
        ((3, 2), "float32", (9.385792, -8.970931, -7.691691, 1.811352, -13.6669, 9.801022)),
        ((3, 2), "float32", (-5.821225, 7.283026, -10.17344, 5.998099, 8.023415, -8.267197)),
    ],
    "structures": [((), "float32", (1.0,)), ((2,), "float32", (0.6, 1.8)), ((), "float32", (9.0,))],
    "one by one": [
        ((3,), "float32", (2.39208, 0.6001924, 2.328115)),
        ((3,), "float32", (4.0, 3.75, 16.0)),
        ((3,), "float32", (1.0, -1.5, 2.0)),
        ((3,), "float32", (1.5, 0.0, 2.75)),
        ((3,), "float32", (0.02928631, 0.0008843699, 0.9698294)),
        ((), "float32", (-0.02859545,)),
        ((), "int64", (2.0,)),
        ((2,), "int64", (1.0, 0.0)),
        ((3,), "float32", (0.5485166, 0.9714137, -1.018026)),
        ((3,), "float32", (1.419974, 0.5706508, 0.5706508)),
        ((3,), "float32", (4.0, 3.5, 3.5)),
        ((3,), "float32", (2.5, 12.375, 11.5)),
        ((3,), "float32", (0.0, 1.0, 1.0)),
        None,
        ((3,), "float32", (1.0, 0.0, 0.0)),
        None,
        ((3,), "float32", (1.0, 2.0, 1.0)),
        ((3,), "float32", (-0.4714046, 0.2357023, 0.2357023)),
        (
            (3, 3),
            "float32",
            (
                0.02842862,
                -5.179986e-05,
                -0.05680545,
                -2.589993e-05,
                0.001767176,
                -0.001715376,
                -0.02840272,
                -0.001715376,
                0.05852071,
            ),
        ),
        ((3,), "float32", (0.0, 1.0, 1.0)),
    ],
    "axes of length one": [
        ((2, 2), "float32", (1.0, 2.0, 2.0, 4.0)),
        ((), "float32", (25.0,)),
        ((2,), "float32", (20.0, 40.0)),
    ],
    "computed again": [((), "float32", (1.735955,)), ((2,), "float32", (0.9182168, 1.103601))],
    "a training loop": [
        ((), "float32", (0.75,)),
        ((), "float32", (0.3041666,)),
        ((), "float32", (0.1255714,)),
        ((2, 1), "float32", (0.6492777, 0.07883334)),
        ((1,), "float32", (0.193,)),
    ],
    "a classifier": [
        ((), "float32", (2.00806,)),
        ((2, 3), "float32", (0.3430227, -0.1112074, -0.03618126, 1.135007, 0.3417123, -0.8588685)),
        ((), "float32", (0.05,)),
    ],
}


def run(program: str, tf: Any, folder: str) -> dict[str, Any]:
    """Run a program and return its names."""
    names: dict[str, Any] = {"tf": tf, "np": np, "Figure": Figure, "folder": folder}
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
