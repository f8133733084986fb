"""TensorFlow, eagerly and as a graph made by `tf.function`."""

from __future__ import annotations

import tensorflow as tf

from . import UnsupportedError

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

ACTIVATIONS = {"tanh": tf.tanh, "relu": tf.nn.relu}


def constants(*arrays):
    return [tf.constant(a) for a in arrays]


def mlp_loss(weights, x, labels, activations):
    for kernel, bias, name in zip(weights[:-2:2], weights[1:-2:2], activations, strict=True):
        x = ACTIVATIONS[name](x @ kernel + bias)
    scores = x @ weights[-2] + weights[-1]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))


class Eager:
    name, title, module = "tensorflow", "TF eager", "tensorflow"

    def prepare(self, function, *arguments):
        return lambda: function(*arguments)

    def numpy(self, result):
        return [t.numpy() for t in result] if isinstance(result, list | tuple) else result.numpy()

    def chain(self, w):
        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for _ in range(w.steps):
                    y = y + 1e-4 * tf.sin(y)
            return tape.gradient(y, x)

        return self.prepare(run, tf.constant(w.x, tf.float64))

    def mlp(self, w):
        weights, (x, labels) = [tf.Variable(a) for a in w.weights], constants(w.x, w.labels)

        def run():
            with tf.GradientTape() as tape:
                loss = mlp_loss(weights, x, labels, w.activations)
            return tape.gradient(loss, weights)

        return self.prepare(run)

    def jacobian(self, w):
        w1, w2 = constants(w.w1, w.w2)

        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.tanh(tf.linalg.matvec(w2, tf.tanh(tf.linalg.matvec(w1, x))))
            return tape.jacobian(y, x)

        return self.prepare(run, tf.constant(w.x))

    def batch_jacobian(self, w):
        w1, b1, w2, b2 = constants(w.w1, w.b1, w.w2, w.b2)

        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.nn.elu(tf.nn.elu(x @ w1 + b1) @ w2 + b2)
            return tape.batch_jacobian(y, x)

        return self.prepare(run, tf.constant(w.x))

    def hessian(self, w):
        x, bias, kernel2, bias2 = constants(w.x, w.bias, w.kernel2, w.bias2)
        act = ACTIVATIONS[w.activation]

        def run(kernel):
            with tf.GradientTape() as outer:
                outer.watch(kernel)
                with tf.GradientTape() as inner:
                    inner.watch(kernel)
                    y = act(act(x @ kernel + bias) @ kernel2 + bias2)
                    loss = tf.reduce_mean(y * y)
                slope = inner.gradient(loss, kernel)
            return outer.jacobian(slope, kernel)

        return self.prepare(run, tf.constant(w.kernel))

    def hvp(self, w):
        weights, vector = [tf.Variable(a) for a in w.weights], constants(*w.vector)
        x, labels = constants(w.x, w.labels)

        def run():
            with tf.GradientTape() as outer:
                with tf.GradientTape() as inner:
                    loss = mlp_loss(weights, x, labels, w.activations)
                slope = inner.gradient(loss, weights)
            return outer.gradient(slope, weights, vector)

        return self.prepare(run)

    def rosenbrock(self, w):
        def run(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
            return tape.gradient(y, x)

        return self.prepare(run, tf.constant(w.x))


class Function(Eager):
    name, title = "tf.function", "TF function"

    def prepare(self, function, *arguments):
        return super().prepare(tf.function(function), *arguments)

    def chain(self, w):
        if w.operations > 20_000:
            raise UnsupportedError(f"tracing a graph of {w.operations:,} operations takes minutes")
        return super().chain(w)


PEERS = [Eager(), Function()]
