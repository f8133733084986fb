"""Our own compiled functions, in a column beside the tape."""

from __future__ import annotations

import numpy as np

import autodiff_edu as ad

from .. import functions as f
from ..agreement import to_numpy


class Compiled:
    """Each workload with all its arrays as arguments; a value that is computed by hand is a result too."""

    name, title, module = "compiled", "compiled", "autodiff_edu.compiled"

    def numpy(self, result):
        return to_numpy(
            result[1] if isinstance(result, tuple) else list(result) if isinstance(result, list) else result
        )

    def chain(self, w):
        return _prepared(ad.grad(lambda x: f.chain(np, x, w.steps)), w.x)

    def mlp(self, w):
        def step(weights, x, one_hot):
            return ad.value_and_grad(lambda weights: f.mlp_loss(np, weights, x, one_hot, w.activations))(weights)

        return _prepared(step, w.weights, w.x, w.one_hot)

    def jacobian(self, w):
        def jacobian(x, w1, w2):
            return ad.jacobian(lambda x: f.two_tanh(np, x, w1, w2))(x)

        return _prepared(jacobian, w.x, w.w1, w.w2)

    def batch_jacobian(self, w):
        def batch_jacobian(x, *layers):
            with ad.GradientTape() as tape:
                tape.watch(x)
                y = f.two_elu(np, x, *layers)
            return tape.batch_jacobian(y, x)

        return _prepared(batch_jacobian, w.x, w.w1, w.b1, w.w2, w.b2)

    def hessian(self, w):
        def hessian(kernel, *fixed):
            return ad.hessian(lambda kernel: f.mean_square(np, kernel, *fixed, w.activation))(kernel)

        return _prepared(hessian, w.kernel, w.x, w.bias, w.kernel2, w.bias2)

    def hvp(self, w):
        def product(weights, vector, x, one_hot):
            def loss(*weights):
                return f.mlp_loss(np, weights, x, one_hot, w.activations)

            return list(ad.hvp(loss, tuple(weights), tuple(vector)))

        return _prepared(product, w.weights, w.vector, w.x, w.one_hot)

    def rosenbrock(self, w):
        return _prepared(ad.value_and_grad(lambda x: f.rosenbrock(np, x)), w.x)


def _prepared(function, *arguments):
    compiled = ad.compile(function)
    tensors = [[ad.constant(a) for a in part] if isinstance(part, list) else ad.constant(part) for part in arguments]
    run = lambda: compiled(*tensors)  # noqa: E731 - with attributes, for compiling.py
    run.compiled, run.arguments = compiled, tensors
    return run


PEERS = [Compiled()]
