"""TensorFlow's names for what is here, so that cells written for `tf.GradientTape` can be played.

It has the names that texts on `tf.GradientTape` use, and no others. Numbers are float32 where TensorFlow's are: those
that Python wrote, also in a list beside a tensor, as in `[[1.0, 2.0]] @ w`, in files that import this module.

>>> import autodiff_edu.tf as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = tf.reduce_sum(tf.square(x))
>>> tape.gradient(y, x)
Tensor(6., dtype=float32)
"""

from __future__ import annotations

import enum
import types
import warnings
from typing import Any, NoReturn

import numpy as np

from .. import nn as _nn
from ..arrays.structures import flatten as _flatten
from ..arrays.structures import flatten_like as _flatten_like
from ..arrays.structures import rebuild as _rebuild
from ..core import tensor as _core
from ..core.variable import Variable as _Variable
from ..custom import custom_gradient, stop_gradient
from ..custom.checkpoint import checkpoint as recompute_grad
from ..gradient_tape import GradientTape as _Tape
from ..nn import Module
from ..nn.initialisers import normal as _draw
from ..nn.layers import Sequential as _Sequential
from ..rules import operations as _operations
from . import functions as _functions
from . import training as _training
from .functions import TensorSpec, function
from .tensors import Variable, constant, float32
from .tensors import alike as _alike
from .tensors import tensor_of as _tensor

float64, int32, int64, newaxis = np.dtype("float64"), np.dtype("int32"), np.dtype("int64"), None
_Tensor = _core.Tensor
_WORKS = np.ufunc, type, types.FunctionType, types.BuiltinFunctionType, type(np.sum)
UnconnectedGradients = enum.StrEnum("UnconnectedGradients", {"NONE": "none", "ZERO": "zero"})


class GradientTape(_Tape):
    """The tape of this package; but where that refuses to watch whole numbers, this one only warns."""

    def watch(self, tensors: Any) -> None:
        """Follow tensors from here on; warn of whole numbers, and do not follow them."""
        leaves = [leaf for _, leaf in _flatten(tensors, "watch")]
        if whole := [leaf for leaf in leaves if isinstance(leaf, _Tensor) and leaf.dtype.kind not in "fc"]:
            message = f"a tape cannot watch {whole[0].dtype}: its gradient will be None; write 3.0, not 3"
            warnings.warn(message, stacklevel=2)
        super().watch([leaf for leaf in leaves if all(leaf is not one for one in whole)] if whole else tensors)


def _named(table: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Return the functions of a table, each with its name and with what computes it, which places read from the call.

    The table has the operation that a player shows, the function, and the last operation, where it takes several.
    """
    for name, (operation, compute, *last) in table.items():
        compute.__name__ = compute.__qualname__ = name
        compute.__doc__ = f"Return the tensor that `{operation.__name__}` computes."
        compute.computes, compute.last = operation.__name__, last[0].__name__ if last else None
    return {name: compute for name, (_, compute, *_) in table.items()}


def _elementwise(operation: Any) -> tuple[Any, Any]:
    both: Any = lambda x, y: operation(*_alike(x, y))  # noqa: E731
    return operation, both if operation.nin == 2 else lambda x: operation(_tensor(x))


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _reduction(operation: Any) -> tuple[Any, Any]:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        given: dict[str, Any] = {} if axis is None else {"axis": _axes(axis)}
        return operation(_tensor(input_tensor), **given, **({"keepdims": True} if keepdims else {}))

    return operation, reduce


def _space(start: Any, stop: Any, num: int) -> Any:
    numbers: Any = np.linspace(start, stop, num)
    dtype = float32 if _tensor(start).dtype == float32 else None
    return numbers if isinstance(numbers, _Tensor) else _Tensor(numbers, dtype)


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    a, b = _alike(a, b)
    return np.matmul(np.swapaxes(a, -1, -2) if transpose_a else a, np.swapaxes(b, -1, -2) if transpose_b else b)


def _pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = None) -> Any:
    given: dict[str, Any] = {} if mode == "CONSTANT" else {"mode": mode.lower()}
    given |= {} if constant_values is None else {"constant_values": constant_values}
    return np.pad(_tensor(tensor), np.array(paddings), **given)


def _clip(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    return np.clip(*_alike(t, clip_value_min, clip_value_max))


_contrast: Any = lambda x, factor: (x - (mean := np.mean(x, axis=(-3, -2), keepdims=True))) * factor + mean  # noqa: E731
_contrast.__name__ = "adjust_contrast"  # as errors and the player call it
_read: Any = lambda value, dtype=None: np.positive(t) if isinstance(t := _tensor(value, dtype), _Variable) else t  # noqa: E731
_eye: Any = lambda num_rows, num_columns=None, *, dtype=float32: _Tensor(np.eye(num_rows, num_columns, 0, dtype))  # noqa: E731
_norm = _reduction(np.linalg.norm)[1]
_clipped: Any = lambda t, clip_norm: (t := _tensor(t)) * (clip_norm / np.maximum(np.linalg.norm(t), clip_norm))  # noqa: E731
_in_tf_and_math = _named({
    **{name: _elementwise(operation) for name, operation in {
        "abs": np.abs, "add": np.add, "cos": np.cos, "divide": np.divide, "equal": np.equal, "exp": np.exp,
        "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply, "pow": np.power, "sin": np.sin,
        "sqrt": np.sqrt, "square": np.square, "subtract": np.subtract, "tanh": np.tanh,
    }.items()},
    **{f"reduce_{name}": _reduction(getattr(np, name)) for name in ("sum", "mean", "max", "min", "prod")},
    "argmax": (np.argmax, lambda input, axis=0: np.argmax(_tensor(input), axis)),
})  # fmt: skip
_in_tf = _in_tf_and_math | _named({
    "zeros": (np.zeros, lambda shape, dtype=float32: _Tensor(np.zeros(shape, dtype))),
    "ones": (np.ones, lambda shape, dtype=float32: _Tensor(np.ones(shape, dtype))),
    "zeros_like": (np.zeros_like, lambda input: np.zeros_like(_tensor(input))),
    "ones_like": (np.ones_like, lambda input: np.ones_like(_tensor(input))),
    "eye": (np.eye, _eye),
    "linspace": (np.linspace, _space),
    "convert_to_tensor": (np.positive, _read, np.stack),
    "cast": (_operations.cast, lambda x, dtype: _tensor(x, dtype), _operations.round_off),
    "reshape": (np.reshape, lambda tensor, shape: np.reshape(_tensor(tensor), shape)),
    "transpose": (np.transpose, lambda a, perm=None: np.transpose(_tensor(a), *(() if perm is None else (perm,)))),
    "expand_dims": (np.expand_dims, lambda input, axis: np.expand_dims(_tensor(input), axis)),
    "squeeze": (np.squeeze, lambda input, axis=None: np.squeeze(_tensor(input), _axes(axis))),
    "pad": (np.pad, _pad, np.add),
    "where": (np.where, lambda condition, x, y: np.where(condition, *_alike(x, y))),
    "concat": (np.concatenate, lambda values, axis: np.concatenate(_alike(*values), axis=axis)),
    "stack": (np.stack, lambda values, axis=0: np.stack(_alike(*values), axis=axis)),
    "einsum": (np.einsum, lambda equation, *inputs: np.einsum(equation, *_alike(*inputs))),
    "matmul": (np.matmul, _matmul, np.matmul),
    "norm": (np.linalg.norm, lambda tensor, *, axis=None, keepdims=False: _norm(tensor, axis, keepdims)),
    "clip_by_norm": (_clipped, _clipped, np.multiply),
    "clip_by_value": (np.clip, _clip),
})  # fmt: skip
globals().update(_in_tf, print=print)


def _map_structure(func: Any, structure: Any, *others: Any) -> Any:
    columns = [_flatten_like(structure, one, "a structure", "the first") for one in (structure, *others)]
    return _rebuild(structure, map(func, *([leaf for _, leaf in column] for column in columns)))


_WRITTEN = {
    "range": "np.arange(n)", "gather": "x[indices]", "shape": "x.shape", "identity": "np.positive(x)",
    "uniform": "np.random.default_rng(0).uniform(size=shape)", "fill": "np.full(shape, value)", "rank": "x.ndim",
    "variance": "np.var(x)", "one_hot": "np.eye(n)[labels]", "Model": "tf.Module", "Tensor": "autodiff_edu.Tensor",
    "gradients": "tape.gradient(y, x)", "BinaryCrossentropy": "np.mean(np.logaddexp(0, logits) - labels * logits)",
    "RMSprop": "tf.keras.optimizers.Adam()", "cond": "an if and an else", "while_loop": "a while loop",
    "split": "np.split(x, parts), or np.split(x, np.cumsum(sizes)[:-1])", "unique": "np.unique(x), which sorts",
}  # fmt: skip


def _missing(path: str) -> NoReturn:
    part, _, name = path.replace("reduce_", "").rpartition(".")
    places = ("np", np), ("np.linalg", np.linalg), ("autodiff_edu.nn", _nn)
    same = [f"{place}.{name}" for place, module in places if isinstance(getattr(module, name, None), _WORKS)]
    found = _WRITTEN.get(name) or (part in ("tf", "tf.math", "tf.linalg", "tf.nn") and same and same[0])
    written = f"write {found}" if found else "the book's dictionary lists what there is"
    raise AttributeError(f"{path} is not among the names of autodiff_edu.tf; {written}")


class _Names(types.ModuleType):
    def __init__(self, name: str, **parts: Any) -> None:
        super().__init__(f"tf.{name}")
        vars(self).update(parts, __dir__=lambda: list(parts))

    def __getattr__(self, name: str) -> Any:
        _missing(f"{self.__name__}.{name}")


_elu: Any = lambda features: np.where((x := _tensor(features)) < 0, np.expm1(np.minimum(x, 0)), x)  # noqa: E731
_normal: Any = lambda shape, mean=0.0, stddev=1.0: _Tensor(_draw(shape, mean, stddev, float32))  # noqa: E731
_adjust: Any = lambda images, contrast_factor: _core.apply(_contrast, (_tensor(images), contrast_factor))  # noqa: E731
_batch: Any = lambda *, momentum=0.99, epsilon=1e-3: _nn.BatchNormalization(momentum, epsilon)  # noqa: E731
_batch.__qualname__ = "BatchNormalization"
math = _Names("math", **_in_tf_and_math, **_named({
    "log": _elementwise(np.log), "reduce_std": _reduction(np.std), "reduce_euclidean_norm": _reduction(np.linalg.norm),
}))  # fmt: skip
nn = _Names("nn", tanh=_in_tf["tanh"], **_named({
    "elu": (_nn.elu, _elu, np.where),
    "relu": (_nn.relu, lambda features: _nn.relu(_tensor(features)), np.where),
    "sigmoid": (_nn.sigmoid, lambda x: _nn.sigmoid(_tensor(x)), np.exp),
    "softmax": (_nn.softmax, lambda logits, axis=-1: _nn.softmax(_tensor(logits), axis), np.divide),
    "softplus": (_nn.softplus, lambda features: _nn.softplus(_tensor(features)), np.logaddexp),
}))  # fmt: skip
linalg = _Names("linalg", matmul=_in_tf["matmul"], norm=_in_tf["norm"], **_named({
    "det": (np.linalg.det, lambda input: np.linalg.det(_tensor(input))),
    "inv": (np.linalg.inv, lambda input: np.linalg.inv(_tensor(input))),
    "solve": (np.linalg.solve, lambda matrix, rhs: np.linalg.solve(*_alike(matrix, rhs))),
}))  # fmt: skip
random = _Names("random", set_seed=_nn.seed, **_named({"normal": (_draw, _normal)}))
image = _Names("image", **_named({"adjust_contrast": (_contrast, _adjust)}))
nest = _Names("nest", map_structure=_map_structure)
keras = _Names(
    "keras", Sequential=_Sequential, utils=_Names("keras.utils", set_random_seed=_nn.seed),
    layers=_Names("keras.layers", Dense=_nn.Dense, BatchNormalization=_batch),
    optimizers=_Names("keras.optimizers", SGD=_training.SGD, Adam=_training.Adam),
    losses=_Names("keras.losses", **{loss.__name__: loss for loss in (
        _training.MeanSquaredError, _training.CategoricalCrossentropy, _training.SparseCategoricalCrossentropy,
    )}),
)  # fmt: skip
saved_model = _Names(
    "saved_model", save=_functions.save_model, load=_functions.load_model, SaveOptions=_functions.SaveOptions
)

__all__ = [
    "constant", "Variable", "GradientTape", "UnconnectedGradients", "Module", "function",
    "TensorSpec", "custom_gradient", "recompute_grad", "stop_gradient", "float32", "float64", "int32", "int64",
    "newaxis", "print", "math", "nn", "linalg", "random", "image", "nest", "keras", "saved_model", *_in_tf,
]  # fmt: skip
__getattr__: Any = lambda name: _missing(f"tf.{name}")  # noqa: E731
__dir__ = __all__.copy
