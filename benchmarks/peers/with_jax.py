"""JAX, operation by operation and compiled."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .. import functions as f

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def hvp(loss):
    return lambda primals, vector: jax.jvp(jax.grad(loss), (primals,), (vector,))[1]


class WithoutJit:
    name, title, module = "jax", "JAX, no jit", "jax"

    def numpy(self, result):
        return [np.asarray(a) for a in result] if isinstance(result, list | tuple) else np.asarray(result)

    def ready(self, function, *arguments):
        """Prepare a call that waits for its result: JAX gives it back before it is computed."""
        arguments = jax.tree.map(jnp.asarray, arguments)
        return lambda: jax.block_until_ready(function(*arguments))

    def chain(self, w):
        return self.ready(jax.grad(lambda x: f.chain(jnp, x, w.steps)), w.x)

    def loss(self, w):
        x, one_hot = jnp.asarray(w.x), jnp.asarray(w.one_hot)
        return lambda weights: f.mlp_loss(jnp, weights, x, one_hot, w.activations)

    def mlp(self, w):
        return self.ready(jax.grad(self.loss(w)), w.weights)

    def jacobian(self, w):
        w1, w2 = jnp.asarray(w.w1), jnp.asarray(w.w2)
        return self.ready(jax.jacrev(lambda x: f.two_tanh(jnp, x, w1, w2)), w.x)

    def batch_jacobian(self, w):
        layers = [jnp.asarray(a) for a in (w.w1, w.b1, w.w2, w.b2)]
        return self.ready(jax.vmap(jax.jacrev(lambda x: f.two_elu(jnp, x, *layers))), w.x)

    def hessian(self, w):
        constants = [jnp.asarray(a) for a in (w.x, w.bias, w.kernel2, w.bias2)]
        return self.ready(jax.hessian(lambda k: f.mean_square(jnp, k, *constants, w.activation)), w.kernel)

    def hvp(self, w):
        return self.ready(hvp(self.loss(w)), w.weights, w.vector)

    def rosenbrock(self, w):
        return self.ready(jax.grad(lambda x: f.rosenbrock(jnp, x)), w.x)


class Jit(WithoutJit):
    name, title = "jax.jit", "JAX jit"

    def ready(self, function, *arguments):
        return super().ready(jax.jit(function), *arguments)

    def chain(self, w):
        # unrolled, 100,000 operations would compile for hours
        def looped(x):
            return jax.lax.fori_loop(0, w.steps, lambda _, x: x + 1e-4 * jnp.sin(x), x)

        return self.ready(jax.grad(looped), w.x)


PEERS = [WithoutJit(), Jit()]
