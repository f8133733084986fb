"""What a tape can be asked besides a gradient; each question is answered in the room that it is named after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .recorder import Recorder

if TYPE_CHECKING:
    from ..explain import Explanation
    from ..nonfinite import Nonfinite
    from ..program import Code


class Questions(Recorder):
    """Jacobians, and what a tape has to say about itself."""

    def jacobian(
        self: Any, target: Any, sources: Any, unconnected_gradients: str = "none", chunk_size: int | None = None
    ) -> Any:
        """Differentiate every element of the target by every element of the sources, in one backward pass.

        Parameters
        ----------
        target : Tensor
            Real.
        sources : Tensor, Variable, or a nested structure of them
            As for `gradient`.
        unconnected_gradients : {"none", "zero", "explain"}
            As for `gradient`.
        chunk_size : int, optional
            How many elements of the target to treat at once; by default as many as fit into 256 MiB.

        Returns
        -------
        Tensor or None, in the structure of the sources
            Of shape `target.shape + source.shape`.

        Raises
        ------
        TypeError
            If the target is not one real tensor.
        RuntimeError, ValueError, LookupError
            As for `gradient`; a ValueError also if `chunk_size` is not a number of at least 1.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([1.0, 2.0])
        >>> with ad.GradientTape() as tape:
        ...     y = x**2
        >>> tape.jacobian(y, x)
        Tensor([[2., 0.],
                [0., 4.]])
        """
        from ..derivatives.jacobians import jacobian

        return jacobian(self, target, sources, unconnected_gradients, chunk_size)

    def batch_jacobian(
        self: Any,
        target: Any,
        source: Any,
        unconnected_gradients: str = "none",
        check: bool = False,
        chunk_size: int | None = None,
    ) -> Any:
        """Differentiate each sample of the target by its own sample of the source; the first axes count samples.

        Samples must not mix, as they do in batch normalisation.

        Parameters
        ----------
        target, source : Tensor
            Of rank 2 or more, with as many samples.
        unconnected_gradients, chunk_size
            As for `jacobian`; a chunk is of elements of one sample.
        check : bool
            Whether to raise a ValueError that names samples on which others depend.

        Returns
        -------
        Tensor or None
            Of shape `target.shape + source.shape[1:]`.

        Raises
        ------
        ValueError
            If a rank is below 2, or the numbers of samples differ, or `check` found samples that mix.
        RuntimeError, TypeError, LookupError
            As for `jacobian`.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with ad.GradientTape() as tape:
        ...     y = x**2
        >>> tape.batch_jacobian(y, x)
        Tensor([[[2., 0.],
                 [0., 4.]],
        <BLANKLINE>
                [[6., 0.],
                 [0., 8.]]])
        """
        from ..derivatives.jacobians import batch_jacobian

        return batch_jacobian(self, target, source, unconnected_gradients, check, chunk_size)

    def explain(self: Any, target: Any, source: Any) -> Explanation:
        """Say why the gradient of the target by the source is None, or by which way the two are connected.

        Never uses a tape up, and works on a tape that was used up: the names and the lines stay.

        Parameters
        ----------
        target : Tensor, Variable, or a nested structure of them
            What would be differentiated.
        source : Tensor or Variable
            By what.

        Returns
        -------
        Explanation
            True if the two are connected. Its text names every cut, the operation and the line in your code.

        Raises
        ------
        TypeError
            If the target or the source is not a tensor.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.constant(3.0, name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.explain(y, x))  # doctest: +ELLIPSIS
        The gradient of y by x is None:
        - doctest, line 1: x is a constant that the tape was never asked to watch. Write tape.watch(x) before ...
        """
        from ..explain import explain

        return explain(self, target, source)

    def first_nonfinite(self: Any, target: Any, sources: Any) -> Nonfinite | None:
        """Find the first operation, forward or backward, that made a NaN or an infinity out of finite numbers.

        Never uses a tape up.

        Parameters
        ----------
        target, sources : Tensor, Variable, or a nested structure of them
            As for `gradient`.

        Returns
        -------
        Nonfinite or None
            Its text names the operation, the line and the numbers, and says what to write instead; None if every
            number on the way is finite.

        Raises
        ------
        RuntimeError
            If the tape has recorded nothing, or has let go of its arrays.
        TypeError
            If a target or a source is not a tensor.

        Examples
        --------
        >>> import numpy as np
        >>> import autodiff_edu as ad
        >>> x = ad.Variable([4.0, 0.0], name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = np.sum(np.sqrt(x))
        >>> found = tape.first_nonfinite(y, x)
        >>> found.operation, found.direction
        ('sqrt', 'backward')
        """
        from ..nonfinite import first_nonfinite

        return first_nonfinite(self, target, sources)

    def code(self: Any, target: Any, sources: Any, output_gradients: Any = None) -> Code:
        """Write the forward and the backward pass from the sources to the target as a plain NumPy program.

        It has names from your code, and every rule as it is applied to these arguments. Like the tape it is a straight
        line: for other shapes, or another way through your code, record anew. Never uses a tape up, but calls the
        backward functions of custom gradients once.

        Parameters
        ----------
        target, sources, output_gradients
            As for `gradient`.

        Returns
        -------
        Code
            `print` it to read it, or run it: `exec(str(program), names)` with `names = program.namespace` leaves what
            `gradient` would give, as plain arrays, in `names["gradient"]`.

        Raises
        ------
        RuntimeError, TypeError, ValueError, LookupError
            As for `gradient`.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0, name="x")
        >>> with ad.GradientTape() as tape:
        ...     y = x * x
        >>> print(tape.code(y, x))
        import numpy as np
        <BLANKLINE>
        # forward
        x = np.float64(3.0)
        y = x * x  # doctest, line 2
        <BLANKLINE>
        # backward: x_bar is the derivative of y with respect to x, and so on
        y_bar = np.float64(1.0)
        x_bar = y_bar * x          # multiply
        x_bar = x_bar + y_bar * x  # multiply
        gradient = x_bar
        """
        from ..program import code

        return code(self, target, sources, output_gradients)

    @property
    def nbytes(self: Any) -> int:
        """The bytes of the arrays that the tape's entries hold; one that several entries hold counts once."""
        kept = {id(value): value for entry in self.entries for value in (entry.output_value, *(entry.values or ()))}
        return sum(int(getattr(value, "nbytes", 0)) for value in kept.values())

    def __str__(self: Any) -> str:
        from ..text.labels import table

        return table(self)

    def __repr__(self) -> str:
        return f"<GradientTape: {'persistent' if self.persistent else 'one-shot'}, {len(self.entries)} entries>"
