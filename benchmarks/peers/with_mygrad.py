"""MyGrad, which knows first derivatives only."""

from __future__ import annotations

import mygrad as mg
import numpy as np

from .. import functions as f
from . import UnsupportedError


class MyGrad:
    name, title, module = "mygrad", "MyGrad", "mygrad"

    def numpy(self, result):
        return result

    def chain(self, w):
        def run():
            x = mg.tensor(w.x)
            f.chain(mg, x, w.steps).backward()
            return x.grad

        return run

    def mlp(self, w):
        def run():
            weights = [mg.tensor(a, copy=False) for a in w.weights]
            f.mlp_loss(mg, weights, w.x, w.one_hot, w.activations).backward()
            return [t.grad for t in weights]

        return run

    def jacobian(self, w):
        # backward() clears its graph, so each row needs a forward pass of its own
        def run():
            rows = []
            for k in range(len(w.x)):
                x = mg.tensor(w.x)
                f.two_tanh(mg, x, w.w1, w.w2)[k].backward()
                rows.append(x.grad)
            return np.stack(rows)

        return run

    def batch_jacobian(self, w):
        def run():
            rows = []
            for k in range(w.w2.shape[1]):
                x = mg.tensor(w.x)
                f.two_elu(mg, x, w.w1, w.b1, w.w2, w.b2)[:, k].sum().backward()
                rows.append(x.grad)
            return np.stack(rows, axis=1)

        return run

    def hessian(self, w):
        raise UnsupportedError("it has no second derivatives")

    hvp = hessian

    def rosenbrock(self, w):
        def run():
            x = mg.tensor(w.x, copy=False)
            f.rosenbrock(mg, x).backward()
            return x.grad

        return run


PEERS = [MyGrad()]
