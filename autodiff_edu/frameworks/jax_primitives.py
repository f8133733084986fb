"""What JAX's equations are called here, what is shown of them, and what their cotangents reach."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.extend import core

from .jax_names import find_places

CALLS = {"jit", "pjit", "closed_call", "core_call", "remat2", "checkpoint"}
"""Primitives that only call: JAX differentiates the equations inside."""

OTHER_NAMES = """
    abs absolute, acos arccos, acosh arccosh, add_any add, and bitwise_and, asin arcsin, asinh arcsinh, atan arctan,
    atan2 arctan2, atanh arctanh, conj conjugate, convert_element_type cast, div divide, eq equal, ge greater_equal,
    gt greater, integer_pow power, is_finite isfinite, le less_equal, lt less, max maximum, min minimum, mul multiply,
    ne not_equal, neg negative, not invert, or bitwise_or, pow power, reduce_and all, reduce_max max, reduce_min min,
    reduce_or any, reduce_prod prod, reduce_sum sum, rem fmod, rev flip, slice getitem, sub subtract, while while_loop,
    xor bitwise_xor
"""
NUMPY = dict(pair.split() for pair in OTHER_NAMES.split(","))
"""NumPy's names for what JAX calls something else; `text/labels.py` calls a conversion a cast."""

AXES = ("axes", "axis", "dimension", "dimensions")
"""What JAX's primitives call their axes."""

UNSEEN = {"num_consts", "num_carry", "unroll", "cond_nconsts", "body_nconsts", "indices_are_sorted", "unique_indices"}
"""Parameters that say nothing about the numbers."""


def describe(equation: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the name of an equation's operation, its arguments besides the inputs, and the parameters to show."""
    primitive, given = equation.primitive.name, equation.params
    name, shapes = NUMPY.get(primitive, primitive), [one.aval.shape for one in equation.invars]
    match primitive:
        case "custom_jvp_call" | "custom_vjp_call":
            return str(given["call_jaxpr"].jaxpr.debug_info.func_name).lstrip("_"), (), {}
        case "jit" | "pjit":
            return given["name"].lstrip("_"), (), {}
        case "integer_pow":
            return name, (given["y"],), {}
        case "convert_element_type":
            return name, (np.dtype(given["new_dtype"]),), {}
        case "broadcast_in_dim" if given["broadcast_dimensions"] == _last(len(given["shape"]), len(shapes[0])):
            return "broadcast_to", (given["shape"],), {}
        case "reshape":
            return name, (given["new_sizes"],), {}
        case "transpose":
            return name, (), {"axes": given["permutation"]}
        case "slice":
            strides = given["strides"] or [None] * len(shapes[0])
            return name, (tuple(map(slice, given["start_indices"], given["limit_indices"], strides)),), {}
        case "dot_general" if max(map(len, shapes)) < 3 and min(map(len, shapes)) > 0:
            last, first = (len(shapes[0]) - 1,), (max(len(shapes[1]) - 2, 0),)
            if given["dimension_numbers"] == ((last, first), ((), ())):
                return "matmul", (), {}
    shown = {key: _plain(value) for key, value in given.items() if key not in UNSEEN and _is_numbers(value)}
    axes = next((shown.pop(key) for key in AXES if key in shown), None)
    if axes is not None and not (primitive.startswith("reduce_") and len(axes) == len(shapes[0])):
        shown["axis"] = axes[0] if isinstance(axes, tuple) and len(axes) == 1 else axes
    return name, (), shown


def _last(rank: int, count: int) -> tuple[int, ...]:
    """Return the last axes of an array."""
    return tuple(range(rank - count, rank))


def _is_numbers(value: Any) -> bool:
    """Return whether a parameter is an integer other than False, or a tuple of some."""
    if type(value) is tuple:
        return value != () and all(map(_is_numbers, value))
    return isinstance(value, int | np.integer) and value is not False


def _plain(value: Any) -> Any:
    """Return such a parameter in Python's integers."""
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value if value is True else int(value)


def open_call(equation: Any) -> Any:
    """Return the equations of a function of the user's, if this one calls any; else None."""
    if equation.primitive.name not in CALLS:
        return None
    inner = equation.params["call_jaxpr" if "call_jaxpr" in equation.params else "jaxpr"]
    closed = inner if isinstance(inner, core.ClosedJaxpr) else core.ClosedJaxpr(inner, ())
    return closed if any(any(find_places(one)) or open_call(one) for one in closed.jaxpr.eqns) else None


def find_links(pull_back: Any, results: list[Any], count: int) -> list[set[int]]:
    """Find, for each result, which of `count` arguments its cotangent reaches.

    What does not depend on the cotangent is a zero that JAX never computes.
    """
    try:
        jaxpr = jax.make_jaxpr(pull_back)(results).jaxpr
    except ValueError:  # JAX cannot pull back through while_loop, and says so where it has to
        return [set(range(count))] * len(results)
    found = []
    for start in jaxpr.invars:
        reached = {start}
        for equation in jaxpr.eqns:
            if any(atom in reached for atom in equation.invars if isinstance(atom, core.Var)):
                reached.update(equation.outvars)
        found.append({k for k, atom in enumerate(jaxpr.outvars) if isinstance(atom, core.Var) and atom in reached})
    return found


def numbers_of(array: Any) -> Any:
    """Return JAX's numbers as NumPy has them; those of a key for random numbers, too."""
    if isinstance(array, jax.Array) and jax.numpy.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    return np.asarray(jax.numpy.asarray(array))[()]
