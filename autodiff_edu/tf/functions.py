"""Functions that run as programs, and models saved as folders: one file for each method with an `input_signature`."""

from __future__ import annotations

import collections
import functools
import inspect
import types
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..compiled import compile
from ..saving import load, save
from .tensors import float32, tensor_of


class TensorSpec(NamedTuple):
    """The shape and dtype of an argument of a `function`; None stands for an unknown shape or first length."""

    shape: Any = None
    dtype: Any = float32


def _describe(name: str, value: Any, spec: TensorSpec) -> Any:
    tensor = tensor_of(value, spec.dtype)
    shape = tensor.shape if spec.shape is None else spec.shape
    if len(shape) != tensor.ndim or any(a not in (None, b) for a, b in zip(shape, tensor.shape, strict=True)):
        raise TypeError(f"{name} has the shape {tensor.shape}, but the input_signature says {shape}")
    return tensor


def function(func: Any = None, *, input_signature: Iterable[TensorSpec] | None = None) -> Any:
    """Compile a function with `autodiff_edu.compile`; where that is impossible, run it as it is and warn."""
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    signature, program = tuple(input_signature or ()), compile(func)
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


def save_model(obj: Any, export_dir: Any, *, options: Any = None) -> None:
    """Write each method that has an `input_signature` into a file of a folder."""
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
        save(bound, path, *examples, custom_gradients=options is None or options.experimental_custom_gradients)


def load_model(export_dir: Any) -> Any:
    """Read a folder that `save_model` wrote, but no pipe or device in it; return an object with its methods."""
    if not (files := sorted(filter(Path.is_file, Path(export_dir).glob("*.ad")))):
        raise FileNotFoundError(f"{str(export_dir)!r} contains no saved functions; write one with saved_model.save")
    run: Any = lambda program, *args: program(*map(tensor_of, args))  # noqa: E731
    methods = {file.stem: functools.partial(run, load(file)) for file in files}
    call = {name: staticmethod(method) for name, method in methods.items() if name == "__call__"}
    return type("SavedModel", (types.SimpleNamespace,), call)(**methods)  # Python looks for __call__ in the class


SaveOptions = collections.namedtuple("SaveOptions", ["experimental_custom_gradients"], defaults=[True])
