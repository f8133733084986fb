"""Tensors whose value can be replaced: the parameters of a model, and any other state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.methods import NotInPlace
from ..arrays.validate import as_change, check_fits, copy_in
from .active import emit
from .events import Assign
from .tensor import Tensor, wrap


class Variable(NotInPlace, Tensor):
    """A tensor whose value can be replaced with `assign`; if trainable, tapes watch it when it is read.

    A tape records the value at the time of reading, so a later assignment changes no gradient.

    Parameters
    ----------
    initial_value : array_like
        Copied. Its shape and dtype are fixed.
    trainable : bool
        Whether tapes watch it without being asked.
    name : str, optional
        Shown wherever the variable is shown.
    dtype : dtype, optional
        A NumPy dtype; by default that of `initial_value`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> w = ad.Variable(3.0, name="w")
    >>> w.assign_sub(0.5)
    Variable('w', 2.5)
    """

    __slots__ = ("trainable",)

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(initial_value, dtype, name)
        self.trainable = trainable

    def assign(self, value: Any) -> Variable:
        """Replace the value and return the variable itself.

        Parameters
        ----------
        value : array_like
            It must have the variable's shape, and a dtype that can be cast to the variable's without changing its kind.

        Raises
        ------
        ValueError, TypeError
            If the shape differs, or the dtype cannot be kept (complex into float, for example).

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> w = ad.Variable([1.0, 2.0], name="w")
        >>> w.assign([3.0, 4.0])
        Variable('w', [3., 4.])
        """
        return self._replace(copy_in(value), value)

    def _replace(self, array: Any, source: Any, operation: Any = None) -> Variable:
        check_fits(array, self)
        before, self._array = self._array, copy_in(array, self.dtype)
        try:
            emit(Assign, self, wrap(self._array), before, source, operation)
        except BaseException:
            self._array = before
            raise
        return self

    def assign_add(self, value: Any) -> Variable:
        """Add an array_like of the variable's shape to its value; return the variable. Errors as for `assign`.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> steps = ad.Variable(0, trainable=False, name="steps")
        >>> steps.assign_add(1)
        Variable('steps', 1)
        """
        return self._replace(self._array + as_change(value, self), value, np.add)

    def assign_sub(self, value: Any) -> Variable:
        """Subtract an array_like of the variable's shape; return the variable. Errors as for `assign`.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> w = ad.Variable(3.0, name="w")
        >>> with ad.GradientTape() as tape:
        ...     loss = w * w
        >>> w.assign_sub(0.25 * tape.gradient(loss, w))
        Variable('w', 1.5)
        """
        return self._replace(self._array - as_change(value, self), value, np.subtract)

    def __copy__(self) -> Variable:
        return Variable(self, self.trainable, self.name)

    def __reduce__(self) -> Any:
        return Variable, (self._leave("pickle"), self.trainable, self.name)

    def as_it_is(self) -> Variable:
        """Return a copy with the current value, which tapes take for this variable.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> w = ad.Variable(3.0, name="w")
        >>> with ad.GradientTape() as tape:
        ...     y = w * w
        >>> before = w.as_it_is()
        >>> w.assign(4.0)
        Variable('w', 4.)
        >>> before, tape.gradient(y, before)
        (Variable('w', 3.), Tensor(6.))
        """
        kept = self.__copy__()
        kept._id = self._id
        return kept

    def __repr__(self) -> str:
        from ..text.formatting import show

        start = f"Variable({self.name!r}, " if self.name else "Variable("
        return f"{start}{show(self._array, indent=len(start))})"
