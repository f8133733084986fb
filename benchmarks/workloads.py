"""The workloads: for each its inputs, its result by hand in NumPy, and its result with the tape.

A workload has a `name` (for the command line), a `title` (for the table) and a `kind` (the method of a peer that
computes it). `needs` names what autodiff_edu must have for it. Where `by_stack` exists, it is the same result by a
stack of cotangents in place of the closed form.

The tape's inputs are made tensors before the clock starts, as those of every peer are. (A raw writable array works as
well, and is copied whenever it is recorded.)
"""

from __future__ import annotations

import math
from itertools import pairwise
from operator import attrgetter

import numpy as np

import autodiff_edu as ad

from . import functions as f


def has(name):
    """Return whether autodiff_edu has got a public name, such as "GradientTape.jacobian"."""
    try:
        attrgetter(name)(ad)
    except AttributeError:
        return False
    return True


class Workload:
    name: str
    title: str
    kind: str
    needs = "GradientTape"
    operations = 0
    """Where this is not 0, the table gives µs per operation in place of ratios."""


class Chain(Workload):
    kind = "chain"

    def __init__(self, steps, label):
        self.steps, self.operations = steps, 3 * steps
        self.name, self.title = f"chain-{label}", f"chain, {3 * steps:,} operations (µs per operation)"
        self.x = 0.5

    def by_hand(self):
        # Python's own floats and math: nobody who writes this by hand would use NumPy for single numbers
        x, visited = self.x, []
        for _ in range(self.steps):
            visited.append(x)
            x = x + 1e-4 * math.sin(x)
        g = 1.0
        for x in reversed(visited):
            g = g + g * 1e-4 * math.cos(x)
        return g

    def by_scalars(self):
        """Return the same with NumPy's scalars, which a program computes with."""
        x, visited = np.float64(self.x), []
        for _ in range(self.steps):
            visited.append(x)
            x = x + 1e-4 * np.sin(x)
        g = np.float64(1.0)
        for x in reversed(visited):
            g = g + g * 1e-4 * np.cos(x)
        return g

    def with_tape(self):
        x = ad.Variable(self.x)
        with ad.GradientTape() as tape:
            y = f.chain(np, x, self.steps)
        return tape.gradient(y, x)


class Mlp(Workload):
    kind = "mlp"

    def __init__(self, name, batch, sizes, activations):
        self.name, self.title = name, f"MLP, batch {batch}, {'-'.join(map(str, sizes))}"
        self.activations = activations
        normal = np.random.default_rng(0).standard_normal
        self.x = normal((batch, sizes[0]))
        self.weights = []
        for n, m in pairwise(sizes):
            self.weights += [normal((n, m)) * f.scale(n), 0.1 * normal(m)]
        self.labels = np.random.default_rng(1).integers(0, sizes[-1], batch)
        self.one_hot = np.eye(sizes[-1])[self.labels]
        self.variables = [ad.Variable(w) for w in self.weights]
        self.constants = ad.constant(self.x), ad.constant(self.one_hot)

    def by_hand(self):
        kernels, biases = self.weights[::2], self.weights[1::2]
        hidden = [self.x]
        for kernel, bias, name in zip(kernels, biases, self.activations, strict=False):
            z = hidden[-1] @ kernel + bias
            hidden.append(np.tanh(z) if name == "tanh" else np.maximum(z, 0))
        scores = hidden[-1] @ kernels[-1] + biases[-1]
        shifted = scores - np.max(scores, axis=1, keepdims=True)
        e = np.exp(shifted)
        total = np.sum(e, axis=1, keepdims=True)
        np.mean(np.log(total[:, 0]) - np.sum(shifted * self.one_hot, axis=1))  # the loss, which training shows
        g = (e / total - self.one_hot) / len(self.x)
        gradients = []
        for k in reversed(range(len(kernels))):
            gradients = [hidden[k].T @ g, g.sum(axis=0), *gradients]
            if k:
                h = hidden[k]
                g = g @ kernels[k].T * (1 - h * h if self.activations[k - 1] == "tanh" else h > 0)
        return gradients

    def loss(self, *weights):
        return f.mlp_loss(np, weights, *self.constants, self.activations)

    def with_tape(self):
        with ad.GradientTape() as tape:
            loss = self.loss(*self.variables)
        return tape.gradient(loss, self.variables)


class HessianVector(Mlp):
    kind = "hvp"
    needs = "hvp"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.title = f"Hessian-vector product, {sum(w.size for w in self.weights):,} parameters"
        normal = np.random.default_rng(2).standard_normal
        self.vector = [normal(w.shape) for w in self.weights]

    def by_hand(self):
        """Carry each value's tangent along, through the forward and then through the backward pass."""
        kernels, biases = self.weights[::2], self.weights[1::2]
        kernel_dots, bias_dots = self.vector[::2], self.vector[1::2]
        h, h_dot = self.x, None
        kept = []
        for k, (kernel, bias) in enumerate(zip(kernels, biases, strict=True)):
            z, z_dot = h @ kernel + bias, h @ kernel_dots[k] + bias_dots[k]
            if h_dot is not None:
                z_dot += h_dot @ kernel
            if k == len(kernels) - 1:
                break
            kept.append((h, h_dot, z_dot))
            if self.activations[k] == "tanh":
                h = np.tanh(z)
                h_dot = (1 - h * h) * z_dot
            else:
                h = np.maximum(z, 0)
                h_dot = (z > 0) * z_dot
        kept.append((h, h_dot, None))
        shifted = z - np.max(z, axis=1, keepdims=True)
        e = np.exp(shifted)
        p = e / np.sum(e, axis=1, keepdims=True)
        g = (p - self.one_hot) / len(self.x)
        g_dot = p * (z_dot - np.sum(p * z_dot, axis=1, keepdims=True)) / len(self.x)
        products = []
        for k in reversed(range(len(kernels))):
            h, h_dot, _ = kept[k]
            kernel_product = h.T @ g_dot if h_dot is None else h_dot.T @ g + h.T @ g_dot
            products = [kernel_product, g_dot.sum(axis=0), *products]
            if k:
                back, back_dot = g @ kernels[k].T, g_dot @ kernels[k].T + g @ kernel_dots[k].T
                if self.activations[k - 1] == "tanh":
                    slope = 1 - h * h
                    g, g_dot = back * slope, back_dot * slope - back * (2 * h * h_dot)
                else:
                    g, g_dot = back * (h > 0), back_dot * (h > 0)
        return products

    def with_tape(self):
        return ad.hvp(self.loss, tuple(self.variables), tuple(self.vector))


class Jacobian(Workload):
    kind = "jacobian"
    needs = "GradientTape.jacobian"

    def __init__(self, n):
        self.name, self.title = f"jacobian-{n}", f"Jacobian, {n}→{n}"
        normal = np.random.default_rng(0).standard_normal
        self.x = normal(n)
        self.w1, self.w2 = normal((n, n)) * f.scale(n), normal((n, n)) * f.scale(n)
        self.constants = ad.constant(self.w1), ad.constant(self.w2)

    def by_hand(self):
        h = np.tanh(self.w1 @ self.x)
        y = np.tanh(self.w2 @ h)
        return ((1 - y * y)[:, None] * self.w2 * (1 - h * h)) @ self.w1

    def by_stack(self):
        h = np.tanh(self.w1 @ self.x)
        y = np.tanh(self.w2 @ h)
        g = np.eye(len(y)) * (1 - y * y)
        return ((g @ self.w2) * (1 - h * h)) @ self.w1

    def with_tape(self):
        x = ad.constant(self.x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f.two_tanh(np, x, *self.constants)
        return tape.jacobian(y, x)


class BatchJacobian(Workload):
    kind = "batch_jacobian"
    needs = "GradientTape.batch_jacobian"
    name = "batch-jacobian"

    def __init__(self, batch, n):
        self.title = f"batch Jacobian, {batch} × {n}→{n}→{n}"
        normal = np.random.default_rng(0).standard_normal
        self.x = normal((batch, n))
        self.w1, self.b1 = normal((n, n)) * f.scale(n), 0.1 * normal(n)
        self.w2, self.b2 = normal((n, n)) * f.scale(n), 0.1 * normal(n)
        self.constants = [ad.constant(a) for a in (self.w1, self.b1, self.w2, self.b2)]

    def _slopes(self):
        z1 = self.x @ self.w1 + self.b1
        e1 = np.expm1(np.minimum(z1, 0))
        z2 = np.where(z1 > 0, z1, e1) @ self.w2 + self.b2
        e2 = np.expm1(np.minimum(z2, 0))
        np.where(z2 > 0, z2, e2)  # the value, which the forward pass gives
        return np.where(z1 > 0, 1, e1 + 1), np.where(z2 > 0, 1, e2 + 1)

    def by_hand(self):
        slope1, slope2 = self._slopes()
        return (slope2[:, :, None] * self.w2.T * slope1[:, None, :]) @ self.w1.T

    def by_stack(self):
        slope1, slope2 = self._slopes()
        seeds = np.zeros((slope2.shape[1], *slope2.shape))
        every = np.arange(len(seeds))
        seeds[every, :, every] = 1
        return np.moveaxis(((seeds * slope2) @ self.w2.T * slope1) @ self.w1.T, 0, 1)

    def with_tape(self):
        x = ad.constant(self.x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f.two_elu(np, x, *self.constants)
        return tape.batch_jacobian(y, x)


class Hessian(Workload):
    kind = "hessian"
    needs = "hessian"

    def __init__(self, name, rows, inputs, hidden, outputs, activation):
        self.name, self.title = name, f"Hessian, {inputs * hidden} parameters ({activation})"
        self.activation = activation
        normal = np.random.default_rng(0).standard_normal
        self.x = normal((rows, inputs))
        self.kernel, self.bias = normal((inputs, hidden)), normal(hidden)
        self.kernel2, self.bias2 = normal((hidden, outputs)), normal(outputs)
        self.constants = [ad.constant(a) for a in (self.x, self.bias, self.kernel2, self.bias2)]

    def _derivatives(self):
        """Return h' and h'' of the hidden layer, and the loss's two derivatives by the second layer's input."""
        z1 = self.x @ self.kernel + self.bias
        if self.activation == "tanh":
            h = np.tanh(z1)
            h1 = 1 - h * h
            h2 = -2 * h * h1
            y = np.tanh(h @ self.kernel2 + self.bias2)
            y1 = 1 - y * y
            return h1, h2, y * y1 * (2 / y.size), y1 * (1 - 3 * y * y) * (2 / y.size)
        z2 = np.maximum(z1, 0) @ self.kernel2 + self.bias2
        return z1 > 0, None, np.maximum(z2, 0) * (2 / z2.size), (z2 > 0) * (2 / z2.size)

    def by_hand(self):
        h1, h2, l1, l2 = self._derivatives()
        rows, inputs = self.x.shape
        hidden = len(self.kernel2)
        k = h1[:, :, None] * self.kernel2
        by_z1 = (k * l2[:, None, :]) @ k.swapaxes(1, 2)  # each row's Hessian by its own z1
        if h2 is not None:
            every = np.arange(hidden)
            by_z1[:, every, every] += (l1 @ self.kernel2.T) * h2
        squares = self.x[:, :, None] * self.x[:, None, :]
        blocks = squares.reshape(rows, -1).T @ by_z1.reshape(rows, -1)
        return blocks.reshape(inputs, inputs, hidden, hidden).transpose(0, 2, 1, 3)

    def by_stack(self):
        h1, h2, l1, l2 = self._derivatives()
        directions = np.eye(self.kernel.size).reshape(-1, *self.kernel.shape)
        z1_dot = self.x @ directions
        g_dot = (((h1 * z1_dot) @ self.kernel2) * l2) @ self.kernel2.T * h1
        if h2 is not None:
            g_dot += (l1 @ self.kernel2.T) * h2 * z1_dot
        return (self.x.T @ g_dot).reshape(self.kernel.shape * 2)

    def loss(self, kernel):
        return f.mean_square(np, kernel, *self.constants, self.activation)

    def with_tape(self):
        return ad.hessian(self.loss)(self.kernel)


class Rosenbrock(Workload):
    kind = "rosenbrock"
    name = "rosenbrock"

    def __init__(self, n):
        self.title = f"Rosenbrock gradient, n = {n:,}"
        self.x = 1 + 0.1 * np.random.default_rng(0).standard_normal(n)
        self.tensor = ad.constant(self.x)

    def by_hand(self):
        x = self.x[:-1]
        gap, rest = self.x[1:] - x**2, 1.0 - x
        np.sum(100.0 * gap**2 + rest**2)  # the value, which an optimiser looks at
        g = np.empty_like(self.x)
        g[:-1] = -400.0 * gap * x - 2.0 * rest
        g[-1] = 0.0
        g[1:] += 200.0 * gap
        return g

    def with_tape(self):
        with ad.GradientTape() as tape:
            tape.watch(self.tensor)
            y = f.rosenbrock(np, self.tensor)
        return tape.gradient(y, self.tensor)


# made on demand, so that a run of one workload does not fill memory with the inputs of all
SMALL = (64, (784, 128, 128, 10), ("tanh", "relu"))
LARGE = (512, (1024, 1024, 1024, 10), ("relu", "relu"))
WORKLOADS = {
    "chain-1k": lambda: Chain(334, "1k"),
    "chain-10k": lambda: Chain(3_334, "10k"),
    "chain-100k": lambda: Chain(33_334, "100k"),
    "mlp-small": lambda: Mlp("mlp-small", *SMALL),
    "mlp-large": lambda: Mlp("mlp-large", *LARGE),
    "jacobian-100": lambda: Jacobian(100),
    "jacobian-300": lambda: Jacobian(300),
    "batch-jacobian": lambda: BatchJacobian(256, 64),
    "hessian-small": lambda: Hessian("hessian-small", 7, 5, 8, 6, "relu"),
    "hessian-large": lambda: Hessian("hessian-large", 7, 20, 10, 6, "tanh"),
    "hvp": lambda: HessianVector("hvp", *SMALL),
    "rosenbrock": lambda: Rosenbrock(1_000_000),
}
