"""TensorFlow's names for what is here, so that cells written for `tf.GradientTape` can be played.

It has the names that guides to `tf.GradientTape` use, and no others. Numbers are float32 where TensorFlow's are.

>>> import autodiff_edu.tf as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = tf.reduce_sum(tf.square(x))
>>> tape.gradient(y, x)
Tensor(6., dtype=float32)
"""

from __future__ import annotations

import collections
import enum
import functools
import inspect
import types
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import nn as _nn
from . import saving as _saving
from .arrays.structures import flatten as _flatten
from .compiled import compile as _compile
from .core import tensor as _core
from .core.variable import Variable as _Variable
from .custom import custom_gradient, stop_gradient
from .gradient_tape import GradientTape as _Tape
from .nn import Module
from .nn.initialisers import normal as _draw
from .nn.layers import Sequential as _Sequential

float32, _Tensor = np.dtype("float32"), _core.Tensor
_WORKS = np.ufunc, type, types.FunctionType, types.BuiltinFunctionType, type(np.sum)


def _tensor(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, _Tensor):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    types_of_parts = {type(leaf) for _, leaf in _flatten(value, "value")}
    if types_of_parts & {_Tensor, _Variable}:
        return np.stack([_tensor(part, dtype) for part in value])
    tensor = _Tensor(value, dtype)
    is_float = dtype is None and tensor.dtype == float and types_of_parts <= {float, int, bool}
    return _Tensor(value, float32) if is_float else tensor


def constant(value: Any, dtype: Any = None, *, name: str | None = None) -> Any:
    """Create a tensor; Python's floats become float32. A tensor comes back as it is, a variable as its numbers."""
    value = value.numpy() if isinstance(value, _Variable) else value
    return value if dtype is None and isinstance(value, _Tensor) else _Tensor(_tensor(value, dtype), name=name)


def Variable(initial_value: Any, trainable: bool = True, *, name: str | None = None, dtype: Any = None) -> _Variable:  # noqa: N802
    """Create a variable; Python's floats become float32."""
    return _Variable(_tensor(initial_value, dtype), trainable, name)


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


class TensorSpec(NamedTuple):
    """The shape and dtype of an argument of a `function`; None stands for an unknown shape or first length."""

    shape: Any = None
    dtype: Any = float32


def _describe(name: str, value: Any, spec: TensorSpec) -> Any:
    tensor = _tensor(value, spec.dtype)
    shape = tensor.shape if spec.shape is None else spec.shape
    if len(shape) != tensor.ndim or any(a not in (None, b) for a, b in zip(shape, tensor.shape, strict=True)):
        raise TypeError(f"{name} has the shape {tensor.shape}, but the input_signature says {shape}")
    return tensor


def function(func: Any = None, *, input_signature: Iterable[TensorSpec] | None = None) -> Any:
    """Compile a function with `autodiff_edu.compile`; where that is impossible, run it as it is and warn."""
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    signature, program = tuple(input_signature or ()), _compile(func)
    parameters = inspect.signature(func)
    described = dict(zip([name for name in parameters.parameters if name != "self"], signature, strict=False))

    @functools.wraps(func)
    def run(*args: Any, **named: Any) -> Any:
        nonlocal program
        if described:
            given = (bound := parameters.bind(*args, **named)).arguments
            given |= {name: _describe(name, given[name], described[name]) for name in described if name in given}
            args, named = bound.args, bound.kwargs
        try:
            return program(*args, **named)
        except (TypeError, ValueError) as error:
            if program is func:
                raise
            result = func(*args, **named)  # if the error is the function's own, it is raised here
            warnings.warn(f"{func.__name__} runs as it is, because it cannot be compiled: {error}", stacklevel=2)
            program = func
            return result

    vars(run)["input_signature"] = signature
    return run


def _name(name: str, operation: Any, compute: Any, last: Any = None) -> Any:
    # places read which operation computes the result: from the call's arguments, or as the last of several
    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = f"Return the tensor that `{operation.__name__}` computes."
    compute.computes, compute.last = operation.__name__, last and last.__name__
    return compute


def _reduction(name: str, operation: Any) -> Any:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        given: dict[str, Any] = {} if axis is None else {"axis": tuple(axis) if isinstance(axis, list) else axis}
        return operation(_tensor(input_tensor), **given, **({"keepdims": True} if keepdims else {}))

    return _name(name, operation, reduce)


def _space(start: Any, stop: Any, num: int) -> Any:
    numbers: Any = np.linspace(start, stop, num)
    dtype = float32 if _tensor(start).dtype == float32 else None
    return numbers if isinstance(numbers, _Tensor) else _Tensor(numbers, dtype)


_contrast: Any = lambda x, factor: (x - (mean := np.mean(x, axis=(-3, -2), keepdims=True))) * factor + mean  # noqa: E731
_contrast.__name__ = "adjust_contrast"  # as errors and the player call it
zeros = _name("zeros", np.zeros, lambda shape, dtype=float32: _Tensor(np.zeros(shape, dtype)))
ones = _name("ones", np.ones, lambda shape, dtype=float32: _Tensor(np.ones(shape, dtype)))
_eye: Any = lambda num_rows, num_columns=None, *, dtype=float32: _Tensor(np.eye(num_rows, num_columns, 0, dtype))  # noqa: E731
eye = _name("eye", np.eye, _eye)
linspace = _name("linspace", np.linspace, _space)
_read: Any = lambda value, dtype=None: np.positive(t) if isinstance(t := _tensor(value, dtype), _Variable) else t  # noqa: E731
convert_to_tensor = _name("convert_to_tensor", np.positive, _read, np.stack)
reshape = _name("reshape", np.reshape, lambda tensor, shape: np.reshape(_tensor(tensor), shape))
_turned: Any = lambda a, perm=None: np.transpose(_tensor(a), *(() if perm is None else (perm,)))  # noqa: E731
transpose = _name("transpose", np.transpose, _turned)
pad = _name("pad", np.pad, lambda tensor, paddings: np.pad(_tensor(tensor), paddings), np.add)
einsum = _name("einsum", np.einsum, lambda equation, *inputs: np.einsum(equation, *map(_tensor, inputs)))
concat = _name("concat", np.concatenate, lambda values, axis: np.concatenate(list(map(_tensor, values)), axis=axis))
stack = _name("stack", np.stack, lambda values, axis=0: np.stack(list(map(_tensor, values)), axis=axis))
square = _name("square", np.square, lambda x: np.square(_tensor(x)))
sqrt = _name("sqrt", np.sqrt, lambda x: np.sqrt(_tensor(x)))
reduce_sum, reduce_mean = _reduction("reduce_sum", np.sum), _reduction("reduce_mean", np.mean)
reduce_max, reduce_prod = _reduction("reduce_max", np.max), _reduction("reduce_prod", np.prod)
_norm = _reduction("reduce_euclidean_norm", np.linalg.norm)
norm = _name("norm", np.linalg.norm, lambda tensor, *, axis=None, keepdims=False: _norm(tensor, axis, keepdims))
_clipped: Any = lambda t, clip_norm: (t := _tensor(t)) * (clip_norm / np.maximum(np.linalg.norm(t), clip_norm))  # noqa: E731
clip_by_norm = _name("clip_by_norm", _clipped, _clipped, np.multiply)


def _save_model(obj: Any, export_dir: Any, *, options: Any = None) -> None:
    methods: dict[str, Any] = {name: getattr(type(obj), name, None) for name in dir(type(obj))}
    if not (methods := {name: m for name, m in methods.items() if getattr(m, "input_signature", ())}):
        written = "write @tf.function(input_signature=[tf.TensorSpec([None, 3])]) above one"
        raise ValueError(f"{type(obj).__name__} has no method to save; {written}")
    Path(export_dir).mkdir(parents=True, exist_ok=True)
    if others := {file.stem for file in Path(export_dir).glob("*.ad")} - methods.keys():
        raise FileExistsError(f"{str(export_dir)!r} holds another model ({min(others)}); write into an empty folder")
    for name, method in methods.items():
        shapes = [[3 if size is None else size for size in spec.shape or ()] for spec in method.input_signature]
        examples = [np.full(shape, 0.5, spec.dtype) for shape, spec in zip(shapes, method.input_signature, strict=True)]
        bound, path = types.MethodType(method.__wrapped__, obj), Path(export_dir) / f"{name}.ad"
        _saving.save(bound, path, *examples, custom_gradients=options is None or options.experimental_custom_gradients)


def _load_model(export_dir: Any) -> Any:
    if not (files := sorted(Path(export_dir).glob("*.ad"))):
        raise FileNotFoundError(f"{str(export_dir)!r} contains no saved functions; write one with saved_model.save")
    run: Any = lambda program, *args: program(*map(_tensor, args))  # noqa: E731
    methods = {file.stem: staticmethod(functools.partial(run, _saving.load(file))) for file in files}
    return type("SavedModel", (), methods)()  # Python looks for __call__ in the class


_WRITTEN = {
    "cast": "x.astype(dtype)", "matmul": "a @ b", "range": "np.arange(n)", "gather": "x[indices]", "shape": "x.shape",
    "pow": "x**n", "clip_by_value": "np.clip(x, low, high)", "uniform": "np.random.default_rng(0).uniform(size=shape)",
    "identity": "np.positive(x)", "fill": "np.full(shape, value)", "rank": "x.ndim", "variance": "np.var(x)",
    "one_hot": "np.eye(n)[labels]", "set_seed": "autodiff_edu.nn.seed(n)", "optimizers": "autodiff_edu.nn.SGD",
    "newaxis": "np.newaxis", "Model": "tf.Module", "Tensor": "autodiff_edu.Tensor", "gradients": "tape.gradient(y, x)",
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


math = _Names("math", sin=_name("sin", np.sin, lambda x: np.sin(_tensor(x))), reduce_euclidean_norm=_norm)
_elu: Any = lambda features: np.where((x := _tensor(features)) < 0, np.expm1(np.minimum(x, 0)), x)  # noqa: E731
nn = _Names(
    "nn", elu=_name("elu", _nn.elu, _elu, np.where),
    relu=_name("relu", _nn.relu, lambda features: _nn.relu(_tensor(features)), np.where),
    sigmoid=_name("sigmoid", _nn.sigmoid, lambda x: _nn.sigmoid(_tensor(x)), np.exp),
    softplus=_name("softplus", _nn.softplus, lambda features: _nn.softplus(_tensor(features)), np.logaddexp),
)  # fmt: skip
_solve = _name("solve", np.linalg.solve, lambda matrix, rhs: np.linalg.solve(_tensor(matrix), _tensor(rhs)))
linalg = _Names("linalg", solve=_solve)
_normal: Any = lambda shape, mean=0.0, stddev=1.0: _Tensor(_draw(shape, mean, stddev, float32))  # noqa: E731
random = _Names("random", normal=_name("normal", _draw, _normal))
_adjust: Any = lambda images, contrast_factor: _core.apply(_contrast, (_tensor(images), contrast_factor))  # noqa: E731
image = _Names("image", adjust_contrast=_name("adjust_contrast", _contrast, _adjust))
_batch: Any = lambda *, momentum=0.99, epsilon=1e-3: _nn.BatchNormalization(momentum, epsilon)  # noqa: E731
_batch.__qualname__, _save_model.__qualname__, _load_model.__qualname__ = "BatchNormalization", "save", "load"
_parts = _Names("keras.layers", Dense=_nn.Dense, BatchNormalization=_batch)
keras = _Names("keras", layers=_parts, Sequential=_Sequential)
SaveOptions = collections.namedtuple("SaveOptions", ["experimental_custom_gradients"], defaults=[True])
saved_model = _Names("saved_model", save=_save_model, load=_load_model, SaveOptions=SaveOptions)

__all__ = [  # noqa: RUF022
    "constant", "convert_to_tensor", "Variable", "GradientTape", "UnconnectedGradients", "Module", "function",
    "TensorSpec", "custom_gradient", "stop_gradient", "float32", "zeros", "ones", "eye", "linspace", "reshape",
    "transpose", "pad", "einsum", "norm", "clip_by_norm", "concat", "stack", "square", "sqrt", "reduce_sum",
    "reduce_mean", "reduce_max", "reduce_prod", "math", "nn", "linalg", "random", "image", "keras", "saved_model",
]  # fmt: skip
__getattr__: Any = lambda name: _missing(f"tf.{name}")  # noqa: E731
__dir__ = __all__.copy
