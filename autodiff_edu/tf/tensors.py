"""Tensors as TensorFlow makes them: what Python wrote becomes float32, also in a list beside a tensor.

Beside a float32 tensor, NumPy converts a list to float64 first, and so does this package. TensorFlow gives the list the
tensor's dtype; here, that holds for the operators in files that import `autodiff_edu.tf`, and only there.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..arrays import validate
from ..arrays.structures import flatten
from ..core.tensor import Tensor
from ..core.variable import Variable as CoreVariable
from ..text.frames import user_frame

float32 = np.dtype("float32")


def tensor_of(value: Any, dtype: Any = None) -> Any:
    """Convert a value to a tensor, connected to the tensors in it; by default, Python's floats become float32."""
    if isinstance(value, Tensor):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    types_of_parts = {type(leaf) for _, leaf in flatten(value, "value")}
    if types_of_parts & {Tensor, CoreVariable}:
        return np.stack([tensor_of(part, dtype) for part in value])
    tensor = Tensor(value, dtype)
    is_float = dtype is None and tensor.dtype == float and types_of_parts <= {float, int, bool}
    return Tensor(value, float32) if is_float else tensor


def alike(*given: Any) -> list[Any]:
    """Convert what Python wrote to the dtype of the first tensor, as TensorFlow does; make one where there is none."""
    if given and not any(isinstance(value, Tensor) for value in given):
        given = tensor_of(given[0]), *given[1:]
    dtype = next((value.dtype for value in given if isinstance(value, Tensor)), None)
    floating = dtype if dtype is not None and dtype.kind in "fc" else None
    return [_like(value, floating) if type(value) in (int, float, list, tuple) else value for value in given]


def _like(value: Any, dtype: Any) -> Any:
    """Return an array, not a tensor, where that will do: players then show the numbers as they were written."""
    if {type(leaf) for _, leaf in flatten(value, "value")} & {Tensor, CoreVariable}:
        return tensor_of(value, dtype)
    return value if dtype is None and type(value) in (int, float) else np.asarray(value, dtype)


def _dtype_beside(numbers: Any, tensor: Any) -> Any:
    if tensor is None or tensor.dtype not in (float32, np.float16, np.complex64):  # NumPy does the same beside others
        return None
    if all(value is not sys.modules[__package__] for value in user_frame(sys._getframe()).f_globals.values()):
        return None
    return tensor.dtype if {type(leaf) for _, leaf in flatten(numbers, "the list")} <= {float, int} else None


validate.dtype_of_list = _dtype_beside


def constant(value: Any, dtype: Any = None, *, name: str | None = None) -> Any:
    """Create a tensor; Python's floats become float32. A tensor comes back as it is, a variable as its numbers."""
    value = value.numpy() if isinstance(value, CoreVariable) else value
    return value if dtype is None and isinstance(value, Tensor) else Tensor(tensor_of(value, dtype), name=name)


def Variable(initial_value: Any, trainable: bool = True, *, name: str | None = None, dtype: Any = None) -> CoreVariable:  # noqa: N802
    """Create a variable; Python's floats become float32."""
    return CoreVariable(tensor_of(initial_value, dtype), trainable, name)
