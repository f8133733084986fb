"""JAX under the player: a function's equations and their gradients, as JAX computes them.

JAX first turns a function into equations, as `jax.make_jaxpr` shows. Here they are evaluated one by one, and pulled
back one by one in reverse order, each by `jax.vjp` of its own primitive on the numbers that it was given. So every
number is JAX's. A run whose gradients differ, beyond rounding, from those of the whole function is refused.

Functions under `jax.jit` and `jax.checkpoint` are opened. What JAX differentiates by a rule for the whole is one
operation: `custom_jvp`, `custom_vjp`, `scan`, `while_loop` and `cond`; and so is a function that JAX itself compiles,
such as `jnp.where`. An operation with several results has an entry for each; what it sends back, it computes from the
cotangents of all of them, so the entry that comes first sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal, Var

from ..core import events
from ..core.entry import Entry
from ..core.tensor import Tensor, wrap
from ..text.frames import Where, here
from ..text.functions import name_of, names_of_parameters
from ..text.places import place
from ..trace.foreign import ForeignTape
from ..trace.trace import Trace
from .jax_names import Operation, find_places, name_results
from .jax_primitives import describe, find_links, numbers_of, open_call

PRINTING = {"debug_print", "debug_callback"}
"""Primitives that only print, which they did when the whole function ran."""


NUMBERS_MISSING = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
"""What JAX raises where the code asks for numbers that JAX does not have while it writes down equations."""


class JaxValue(NamedTuple):
    """JAX's array, the tensor that stands for it (None for a constant), and whether a gradient can flow back to it."""

    array: Any
    tensor: Any = None
    followed: bool = False


def trace_jax(function: Callable[..., Any], args: tuple[Any, ...]) -> Trace:
    """Return what JAX does to differentiate the sum of a function's results, as a trace.

    The function runs twice: once as `jax.vjp` runs it, and once for its equations. As in `jax.grad`, arguments that are
    not floating-point are passed as they are.

    Parameters
    ----------
    function : callable
        Returns an array, or a structure of arrays.
    args : tuple
        Numbers, arrays, or structures of them that `jax.tree` knows.

    Raises
    ------
    TypeError
        If no argument is floating-point, or a result is not; or if one is complex, not on one CPU, or a tracer.
    ValueError
        If the function has effects, which would happen again with each equation.
    ArithmeticError
        If the equations do not give the gradients of the whole function.
    Exception
        Whatever the function raises, or JAX, for example where Python's `if` asks for a number.
    """
    parameters = names_of_parameters(function, len(args))
    title = f"{name_of(function)}({', '.join(parameters)})"
    found, tree = jax.tree_util.tree_flatten_with_path(args)
    leaves = [leaf._array if isinstance(leaf, Tensor) else leaf for _, leaf in found]
    paths = [parameters[path[0].idx] + jax.tree_util.keystr(path[1:]) for path, _ in found]
    for leaf, path in zip(leaves, paths, strict=True):
        _reject(leaf, path)
    moving = [k for k, leaf in enumerate(leaves) if _is_floating(leaf, paths[k])]
    if not moving:
        raise TypeError(f"{title} gets no floating-point number, so JAX has nothing to differentiate; write 3.0, not 3")
    sources = [leaves[k] if type(leaves[k]) is float else jnp.asarray(leaves[k]) for k in moving]

    def call(*moved: Any) -> Any:
        given = dict(zip(moving, moved, strict=True))
        result = function(*jax.tree.unflatten(tree, [given.get(k, leaf) for k, leaf in enumerate(leaves)]))
        return jax.tree.map(jnp.asarray, result)

    returned, pull_back = jax.vjp(call, *sources)
    found = jax.tree.leaves_with_path(returned)
    results = [result for _, result in found]
    if not results or not all(_is_floating(result, f"the result of {title}") for result in results):
        dtypes = ", ".join(str(result.dtype) for result in results) or "no array"
        raise TypeError(f"{title} returns {dtypes}; JAX differentiates only floating-point results")
    expected = pull_back(jax.tree.map(jnp.ones_like, returned))
    try:
        equations = jax.make_jaxpr(call)(*sources)
    except NUMBERS_MISSING as error:
        error.add_note(
            "ad.play shows a JAX function's equations, which JAX writes down without the numbers. Use jnp.where or "
            "jax.lax.cond instead of `if` or a mask as an index, and jax.lax.scan instead of a loop."
        )
        raise
    run = _Evaluation(title)
    watched = [run.watch(array, paths[k]) for k, array in zip(moving, sources, strict=True)]
    code = getattr(function, "__code__", None)
    targets = run.evaluate(equations, watched, [here() if code is None else (code, 0)], ())
    name = name_of(function).strip("<>")
    for k, (array, tensor, _) in enumerate(targets):
        called = name + jax.tree_util.keystr(found[k][0])
        if tensor is None:
            targets[k] = JaxValue(array, tensor := _tensor(array))
            tensor.name = called
        run.trace.returned[tensor._id] = called
    name_results(run.trace, run.entries, {target.tensor._id for target in targets})
    run.pull_back(targets)
    for source, gradient in zip(watched, expected, strict=True):
        run.end(targets, source, gradient)
    return run.trace


def _reject(leaf: Any, path: str) -> None:
    """Raise a TypeError for an argument without numbers, or with numbers that are not on the CPU."""
    if isinstance(leaf, jax.core.Tracer):
        raise TypeError(f"{path} has no numbers inside a transformation of JAX's; call ad.play outside of it")
    devices = leaf.devices() if isinstance(leaf, jax.Array) else ()
    if len(devices) > 1 or any(device.platform != "cpu" for device in devices):
        raise TypeError(
            f"{path} is on {', '.join(sorted(map(str, devices)))}. To play on the CPU, whose last digits may differ, "
            f"pass jax.device_put({path}, jax.devices('cpu')[0])"
        )


def _is_floating(value: Any, path: str) -> bool:
    """Return whether a value is floating-point; raise a TypeError if it is complex."""
    dtype = np.dtype(type(value)) if isinstance(value, float | complex) else getattr(value, "dtype", np.dtype(bool))
    if jnp.issubdtype(dtype, np.complexfloating):
        raise TypeError(f"{path} is complex, but jax.grad is of real numbers; use the real and imaginary parts")
    return bool(jnp.issubdtype(dtype, np.floating))


def _tensor(array: Any) -> Tensor:
    return wrap(numbers_of(array))


class _Evaluation:
    """Evaluates equations, pulls them back, and writes down what JAX computed."""

    def __init__(self, title: str) -> None:
        self.trace, self.tape = Trace(title), ForeignTape("JAX")
        self.entries: list[Entry] = []
        self.equations: list[_Equation] = []  # those with something to pull back
        self.cotangents: dict[int, Any] = {}  # by the id of a tensor
        self.largest: dict[int, float] = {}  # by the id of a tensor: the largest number that was sent to it

    def watch(self, array: Any, name: str) -> JaxValue:
        """Watch an argument."""
        tensor = _tensor(array)
        tensor.name = name
        self.trace.add(events.Watch(self.tape, tensor, None))
        return JaxValue(array, tensor, followed=True)

    def evaluate(
        self, closed: Any, inputs: Iterable[JaxValue], where: list[Where | None], scope: tuple[str, ...]
    ) -> list[JaxValue]:
        """Evaluate equations that were called from places, the innermost first, within scopes."""
        known = dict(zip(closed.jaxpr.constvars, map(JaxValue, closed.consts), strict=True))
        known |= zip(closed.jaxpr.invars, inputs, strict=True)

        def read(atom: Any) -> JaxValue:
            return JaxValue(atom.val) if isinstance(atom, Literal) else known[atom]

        atoms = (*closed.jaxpr.outvars, *(atom for equation in closed.jaxpr.eqns for atom in equation.invars))
        used = {atom for atom in atoms if isinstance(atom, Var)}
        for equation in closed.jaxpr.eqns:
            at, given, name = find_places(equation) + where, [*map(read, equation.invars)], equation.primitive.name
            around = (*scope, *(part.name for part in equation.source_info.name_stack.stack))
            if name in PRINTING:
                continue
            if inner := open_call(equation):
                called = equation.params.get("name")
                results = self.evaluate(inner, given, at, (*around, called) if called else around)
            elif name == "convert_element_type" and equation.invars[0].aval.dtype == equation.outvars[0].aval.dtype:
                results = given  # only its promotion changes: it is no longer a Python number
            else:
                results = _Equation(self, equation, given).record(at, around, used)
            known |= zip(equation.outvars, results, strict=True)
        return [*map(read, closed.jaxpr.outvars)]

    def pull_back(self, targets: list[JaxValue]) -> None:
        """Pull ones back from the targets, in the order in which JAX does."""
        for target in {one.tensor._id: one for one in targets if one.followed}.values():
            times = sum(one.tensor is target.tensor for one in targets)
            self.cotangents[target.tensor._id] = times * jnp.ones_like(target.array)
            self.trace.add(events.Seed(self.tape, target.tensor, _tensor(self.cotangents[target.tensor._id])))
        for equation in reversed(self.equations):
            equation.pull_back()

    def send(self, entry: Entry, argument: int, tensor: Tensor, contribution: Any) -> None:
        """Add a contribution."""
        before = self.cotangents.get(tensor._id)
        after = self.cotangents[tensor._id] = contribution if before is None else before + contribution
        sizes = np.abs(numbers_of(contribution).astype(complex))
        size = np.max(sizes, where=np.isfinite(sizes), initial=self.largest.get(tensor._id, 0.0))
        self.largest[tensor._id] = float(size)
        sums = None if before is None else _tensor(before), _tensor(contribution), _tensor(after)
        self.trace.add(events.Accumulate(self.tape, entry, argument, *sums, tensor))

    def end(self, targets: list[JaxValue], source: JaxValue, expected: Any) -> None:
        """Note a gradient; raise an ArithmeticError if it is not the one of the whole function."""
        found, rounding = self.cotangents.get(source.tensor._id), float(jnp.finfo(expected.dtype).eps) ** 0.5
        result = _tensor(jnp.zeros_like(source.array) if found is None else found)
        both = result._array.astype(float), numbers_of(expected).astype(float)
        slack = rounding * self.largest.get(source.tensor._id, 0.0)
        if not np.allclose(*both, rtol=rounding, atol=slack, equal_nan=True):
            raise ArithmeticError(
                f"the equations of {self.trace.title} give the gradient {both[0]} with respect to {source.tensor.name},"
                f" but the whole function gives {both[1]}. Does it compute the same each time it runs? If so, the "
                "difference is rounding: call jax.config.update('jax_enable_x64', True) first"
            )
        asked = self.tape, "gradient", tuple(target.tensor for target in targets), source.tensor
        self.trace.add(events.Outcome(*asked, result, found is not None, False, ()))


class _Equation:
    """An equation of an operation, with an entry for each of its results."""

    def __init__(self, run: _Evaluation, equation: Any, inputs: list[JaxValue]) -> None:
        self.run, self.equation, self.inputs = run, equation, inputs
        self.moving = [k for k, value in enumerate(inputs) if value.followed]
        self.links: dict[int, set[int]] = {}  # by the position of a result: the arguments it sends something back to
        self.entries: dict[int, Entry] = {}  # by the position of a result

    def differentiate(self, wanted: Iterable[int]) -> Any:
        """Return the wanted results, what pulls back from them, and all results, as JAX computes them."""

        def call(*moved: Any) -> tuple[list[Any], list[Any]]:
            arrays, primitive = [value.array for value in self.inputs], self.equation.primitive
            for k, array in zip(self.moving, moved, strict=True):
                arrays[k] = array
            with self.equation.ctx.manager:
                found = primitive.bind(*arrays, **primitive.get_bind_params(self.equation.params))
            found = found if primitive.multiple_results else [found]
            return [found[k] for k in wanted], found

        return jax.vjp(call, *(self.inputs[k].array for k in self.moving), has_aux=True)

    def record(self, where: list[Where | None], scope: tuple[str, ...], used: set[Any]) -> list[JaxValue]:
        """Evaluate the equation; return its results. Of several, only those that are used are shown."""
        name, extra, parameters = describe(self.equation)
        innermost = next(filter(None, where))
        if self.equation.effects:
            raise ValueError(
                f"{place(innermost)}: {name} has effects, which would happen again when its equation is evaluated and "
                "pulled back. Take it out to play the rest"
            )
        given, results = self.inputs, self.equation.outvars
        if name in ("std", "var") and len(given) == 2:  # NumPy's second argument is the axis
            given, parameters = given[:1], {"correction": numbers_of(given[1].array)}
        smooth = [k for k, result in enumerate(results) if jnp.issubdtype(result.aval.dtype, np.inexact)]
        wanted, pull_back, arrays = self.differentiate(smooth)
        for k, reached in zip(smooth, find_links(pull_back, wanted, len(self.moving)), strict=True):
            if reached:
                self.links[k] = {self.moving[j] for j in reached}
        ids = *(None if value.tensor is None else value.tensor._id for value in given), *(None for _ in extra)
        values = *(numbers_of(value.array) for value in given), *extra
        self.outputs = [JaxValue(array, _tensor(array), k in self.links) for k, array in enumerate(arrays)]
        for k, (_, tensor, followed) in enumerate(self.outputs):
            if len(results) > 1 and results[k] not in used:
                continue
            operation = Operation(name, k if len(results) > 1 else None)
            operation.places = where[:-1]
            entry = Entry(operation, (ids, tensor._id, *innermost), parameters, values, tensor._array)
            kind = events.Record if followed else events.Cut if self.moving else events.Skip
            self.run.trace.add(kind(self.run.tape, entry))
            self.run.trace.scopes[tensor._id] = scope
            self.entries[k] = entry
        self.run.entries += self.entries.values()
        if self.links:
            self.run.equations.append(self)
        return self.outputs

    def pull_back(self) -> None:
        """Pull back the cotangents that arrived at the results, if any did."""
        arrived = {k: self.run.cotangents.get(self.outputs[k].tensor._id) for k in self.links}
        arrived = {k: cotangent for k, cotangent in arrived.items() if cotangent is not None}
        for k, cotangent in reversed(arrived.items()):
            self.run.trace.add(events.PullBack(self.run.tape, self.entries[k], _tensor(cotangent)))
        if arrived:
            sent = self.differentiate(arrived)[1]([*arrived.values()])
            reached, first = set().union(*(self.links[k] for k in arrived)), self.entries[min(arrived)]
            for k, contribution in reversed([*zip(self.moving, sent, strict=True)]):
                if k in reached:
                    self.run.send(first, k, self.inputs[k].tensor, contribution)
