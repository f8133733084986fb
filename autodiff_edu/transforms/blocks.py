"""A Hessian over several arrays: one block for each pair of them, together one symmetric matrix."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays.structures import flatten, flatten_like, rebuild
from ..core.tensor import Tensor, as_tensor
from ..derivatives.requests import as_constant, tensors_of
from ..text.printing import printable


class BlockMatrix:
    """The blocks of a Hessian, in the structure of the arrays it belongs to.

    Attributes
    ----------
    blocks : structure of structures of Tensor
        `blocks["w"]["b"]` has shape `w.shape + b.shape`; `hessian["w"]["b"]` is the same.
    labels : list of str
        What each row and column of the matrix stands for, such as "['w'][0, 1]".

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> h = ad.hessian(lambda p: p["x"] * p["y"] ** 2)({"x": 3.0, "y": 2.0})
    >>> h
    BlockMatrix(2×2: ['x'], ['y'])
    >>> h["x"]["y"]
    Tensor(4.)
    >>> h.matrix()
    Tensor([[0., 4.],
            [4., 6.]])
    """

    def __init__(self, sources: Any, matrix: Any) -> None:
        self._sources = sources
        self._tensors = tensors_of(sources, "sources")
        self._matrix = matrix
        ends = np.cumsum([0] + [int(t.size) for t in self._tensors]).tolist()
        self._spans = [slice(a, b) for a, b in pairwise(ends)]
        self.blocks = rebuild(sources, iter([rebuild(sources, iter(self._row(k))) for k in range(len(self._tensors))]))
        self.labels = [
            f"{path}{list(index) if index else ''}"
            for (path, tensor) in flatten(sources, "")
            for index in np.ndindex(tensor.shape)
        ]

    @classmethod
    def of_columns(cls, sources: Any, columns: list[Tensor]) -> BlockMatrix:
        """Build it from the Jacobians of the flat gradient with respect to each source.

        Parameters
        ----------
        sources : structure of Tensor
            What the function depends on.
        columns : list of Tensor
            For each source in order, a Jacobian of shape `(rows,)` followed by the shape of the source.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> sources = {"x": ad.constant(3.0), "y": ad.constant(2.0)}  # of x * y**2
        >>> columns = [ad.constant([0.0, 4.0]), ad.constant([4.0, 6.0])]
        >>> h = ad.BlockMatrix.of_columns(sources, columns)
        >>> h["x"]["y"]
        Tensor(4.)
        """
        return cls(sources, np.concatenate([np.reshape(c, (c.shape[0], -1)) for c in columns], axis=1))

    def _row(self, k: int) -> list[Tensor]:
        rows = self._matrix[self._spans[k]]
        return [
            as_tensor(np.reshape(rows[:, span], self._tensors[k].shape + tensor.shape))
            for span, tensor in zip(self._spans, self._tensors, strict=True)
        ]

    def __getitem__(self, key: Any) -> Any:
        return self.blocks[key]

    def __repr__(self) -> str:
        n = self._matrix.shape[0]
        return printable(f"BlockMatrix({n}×{n}: {', '.join(path for path, _ in flatten(self._sources, ''))})")

    def matrix(self) -> Tensor:
        """Return all blocks as one matrix of shape `(rows, rows)`, whose rows and columns are `labels`.

        Examples
        --------
        >>> import numpy as np
        >>> import autodiff_edu as ad
        >>> h = ad.hessian(lambda p: p["x"] ** 2 + 3.0 * p["y"] ** 2)({"x": 1.0, "y": 1.0})
        >>> np.linalg.eigvalsh(h.matrix())  # positive: it curves upwards
        Tensor([2., 6.])
        """
        matrix: Tensor = as_tensor(self._matrix)
        return matrix

    def flatten(self, structure: Any) -> Tensor:
        """Return a structure like the sources (a gradient, for example) as one vector in the order of the matrix.

        Parameters
        ----------
        structure : structure of Tensor or array_like
            With parts of the shapes of the sources.

        Returns
        -------
        Tensor
            Of shape `(rows,)`.

        Raises
        ------
        ValueError
            If its structure differs from the sources, or the shape of a part from its source.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> f = lambda p: p["x"] ** 2 + 3.0 * p["y"] ** 2
        >>> at = {"x": 1.0, "y": 2.0}
        >>> h, slope = ad.hessian(f)(at), ad.grad(f)(at)
        >>> slope
        {'x': Tensor(2.), 'y': Tensor(12.)}
        >>> h.flatten(slope)
        Tensor([ 2., 12.])
        """
        parts = flatten_like(self._sources, structure, "structure", "the sources are")
        for (path, part), tensor in zip(parts, self._tensors, strict=True):
            if np.shape(part) != tensor.shape:
                raise ValueError(f"{path} has shape {np.shape(part)}, but its source has shape {tensor.shape}")
        return np.concatenate([np.ravel(as_constant(path, part)) for path, part in parts])  # type: ignore[return-value]

    def unflatten(self, vector: Any) -> Any:
        """Return a vector in the order of the matrix as a structure like the sources.

        Parameters
        ----------
        vector : array_like or Tensor
            Of shape `(rows,)`.

        Returns
        -------
        structure of Tensor
            With parts of the shapes of the sources.

        Raises
        ------
        ValueError
            If the vector does not have one element per row.

        Examples
        --------
        >>> import numpy as np
        >>> import autodiff_edu as ad
        >>> f = lambda p: p["x"] ** 2 + 3.0 * p["y"] ** 2
        >>> at = {"x": 1.0, "y": 2.0}
        >>> h, slope = ad.hessian(f)(at), ad.grad(f)(at)
        >>> h.unflatten(np.linalg.solve(h.matrix(), h.flatten(slope)))  # Newton's step
        {'x': Tensor(1.), 'y': Tensor(2.)}
        """
        if np.shape(vector) != (len(self.labels),):
            raise ValueError(f"the vector has shape {np.shape(vector)}, but the matrix has {len(self.labels)} rows")
        vector = vector if isinstance(vector, Tensor) else as_tensor(np.asarray(vector))
        parts = [np.reshape(vector[span], t.shape) for span, t in zip(self._spans, self._tensors, strict=True)]
        return rebuild(self._sources, iter(parts))
