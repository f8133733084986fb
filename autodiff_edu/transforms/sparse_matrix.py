"""A sparse matrix where SciPy's cannot be used: its numbers other than 0, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.validate import is_tensor


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SparseMatrix:
    """A matrix kept as the numbers at some places; all its other elements are 0.

    It has the names of SciPy's sparse arrays, of which it can do a little: enough to read a Jacobian, and to multiply
    by it.

    Attributes
    ----------
    data, rows, columns : ndarray
        The numbers, and the row and the column of each. No place is named twice.
    shape : tuple of int
        Of the whole matrix.

    Examples
    --------
    >>> matrix = SparseMatrix(np.array([2.0, 3.0]), np.array([0, 1]), np.array([0, 2]), (2, 3))
    >>> matrix
    <SparseMatrix of shape (2, 3), float64, with 2 stored elements>
    >>> matrix.toarray()
    array([[2., 0., 0.],
           [0., 0., 3.]])
    >>> matrix @ np.ones(3)
    array([2., 3.])
    """

    __array_ufunc__ = None  # so that NumPy leaves `array @ matrix` to the matrix

    data: Any
    rows: Any
    columns: Any
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        """How many elements are stored."""
        return len(self.data)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        dtype: np.dtype[Any] = self.data.dtype
        return dtype

    @property
    def T(self) -> SparseMatrix:  # noqa: N802 (as NumPy spells it)
        """The matrix with rows and columns exchanged."""
        return SparseMatrix(self.data, self.columns, self.rows, self.shape[::-1])

    def __abs__(self) -> SparseMatrix:
        return SparseMatrix(np.abs(self.data), self.rows, self.columns, self.shape)

    def __matmul__(self, other: Any) -> Any:
        if is_tensor(other):
            return NotImplemented  # the tensor knows what to write instead
        if isinstance(other, SparseMatrix):
            return self._times(other)
        other = np.asarray(other)
        if other.ndim not in (1, 2) or len(other) != self.shape[1]:
            raise ValueError(f"a matrix of shape {self.shape} cannot be multiplied by an array of shape {other.shape}")
        result = np.zeros((self.shape[0], *other.shape[1:]), np.result_type(self.data, other))
        np.add.at(result, self.rows, (self.data * other[self.columns].T).T)
        return result

    def __rmatmul__(self, other: Any) -> Any:
        other = np.asarray(other)
        if other.ndim not in (1, 2) or other.shape[-1] != self.shape[0]:
            raise ValueError(f"an array of shape {other.shape} cannot be multiplied by a matrix of shape {self.shape}")
        return (self.T @ other.T).T

    def _times(self, other: SparseMatrix) -> SparseMatrix:
        """Multiply two sparse matrices: add up the products of all pairs of numbers that meet in a column and a row."""
        if other.shape[0] != self.shape[1]:
            raise ValueError(f"a matrix of shape {self.shape} cannot be multiplied by a matrix of shape {other.shape}")
        by_row = np.argsort(other.rows)
        first, last = (np.searchsorted(other.rows[by_row], self.columns, side) for side in ("left", "right"))
        meet = last - first  # how many numbers of the other matrix each of these meets, from `first` on
        mine = np.repeat(np.arange(self.nnz), meet)
        its = by_row[np.arange(len(mine)) + np.repeat(first - np.cumsum(meet) + meet, meet)]
        height, width = self.shape[0], other.shape[1]
        places, where = np.unique(self.rows[mine] * width + other.columns[its], return_inverse=True)
        data = np.zeros(len(places), np.result_type(self.data, other.data))
        np.add.at(data, where, self.data[mine] * other.data[its])
        return SparseMatrix(data, *np.divmod(places, max(width, 1)), (height, width))

    def toarray(self) -> Any:
        """Return all elements, also those that are 0, as an array."""
        full = np.zeros(self.shape, self.dtype)
        full[self.rows, self.columns] = self.data
        return full

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal as a vector: the main one, the k-th above it, or the -k-th below it.

        Raises
        ------
        ValueError
            If there is no such diagonal.

        Examples
        --------
        >>> places = np.array([0, 0, 1]), np.array([0, 1, 2])
        >>> SparseMatrix(np.array([1.0, 2.0, 3.0]), *places, (2, 3)).diagonal(1)
        array([2., 3.])
        """
        height, width = self.shape
        if not -height < k < width:
            raise ValueError(f"a matrix of shape {self.shape} has no diagonal {k}")
        found = np.zeros(min(height + min(k, 0), width - max(k, 0)), self.dtype)
        on = self.columns - self.rows == k
        found[self.rows[on] + min(k, 0)] = self.data[on]
        return found

    def __repr__(self) -> str:
        return f"<SparseMatrix of shape {self.shape}, {self.dtype}, with {self.nnz} stored elements>"
