"""HIPS autograd."""

from __future__ import annotations

import autograd
import autograd.numpy as anp
import numpy as np

from .. import functions as f


class Hips:
    name, title, module = "hips", "HIPS autograd", "autograd"

    def numpy(self, result):
        return result

    def chain(self, w):
        gradient = autograd.grad(lambda x: f.chain(anp, x, w.steps))
        return lambda: gradient(w.x)

    def loss(self, w):
        return lambda weights: f.mlp_loss(anp, weights, w.x, w.one_hot, w.activations)

    def mlp(self, w):
        gradient = autograd.grad(self.loss(w))
        return lambda: gradient(w.weights)

    def jacobian(self, w):
        jacobian = autograd.jacobian(lambda x: f.two_tanh(anp, x, w.w1, w.w2))
        return lambda: jacobian(w.x)

    def batch_jacobian(self, w):
        # rows do not mix, so one gradient gives one component of the output for the whole batch
        def run():
            pullback, y = autograd.make_vjp(lambda x: f.two_elu(anp, x, w.w1, w.b1, w.w2, w.b2))(w.x)
            rows = []
            for k in range(y.shape[1]):
                seed = np.zeros_like(y)
                seed[:, k] = 1
                rows.append(pullback(seed))
            return np.stack(rows, axis=1)

        return run

    def hessian(self, w):
        hessian = autograd.hessian(lambda k: f.mean_square(anp, k, w.x, w.bias, w.kernel2, w.bias2, w.activation))
        return lambda: hessian(w.kernel)

    def hvp(self, w):
        # autograd.hessian_vector_product takes one array, and here there are six
        slope = autograd.grad(self.loss(w))
        along = autograd.grad(
            lambda weights: sum(anp.sum(g * v) for g, v in zip(slope(weights), w.vector, strict=True))
        )
        return lambda: along(w.weights)

    def rosenbrock(self, w):
        gradient = autograd.grad(lambda x: f.rosenbrock(anp, x))
        return lambda: gradient(w.x)


PEERS = [Hips()]
