"""The record of one operation that was computed. A tape keeps a list of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

PLAIN = 0  # stands for the id of plain numbers, handled by NumPy or Python


class Entry:
    """One operation: what was computed, from which values, and where in the user's code.

    Attributes
    ----------
    operation, name, parameters : callable, str, dict
        The NumPy function, or one of this package's own, its name and keyword arguments.
    ids, output_id : tuple, int
        For each argument the id of its tensor, or None for a plain array or number; the id of the resulting tensor.
    values, output_value : tuple; ndarray or scalar
        The plain arguments and output as they were; None once released. `values` is a list until a tape keeps the entry
        and makes it a tuple; from this, other tapes see that they must keep a copy.
    given : tuple or None
        The arguments as they were passed, while listeners are notified; None afterwards.
    keywords : dict
        What its rules receive by name: the parameters, or the `call` of a function with a custom gradient.
    where, place, line
        The user's code that computed it, as code object and offset, and as file, line and columns. A used tape keeps
        `line`: ids, output_id, code object and offset. It is small, with nothing for the garbage collector to traverse.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> with ad.GradientTape() as tape:
    ...     y = ad.Variable(3.0) * 2.0
    >>> [(entry.name, entry.inputs, entry.output) for entry in tape.entries]
    [('multiply', (Tensor(3.), 2.0), Tensor(6.))]
    """

    __slots__ = ("given", "keywords", "line", "operation", "output_value", "parameters", "values")

    wrap: ClassVar[Callable[[Any, int], Any]]  # set by tensor.py, which imports this module

    def __init__(
        self, operation: Any, line: tuple[Any, ...], parameters: Any, values: Any, output_value: Any, call: Any = None
    ) -> None:
        self.operation = operation
        self.line = line
        self.parameters = parameters
        self.values = values
        self.output_value = output_value
        self.given: Any = None
        self.keywords = parameters if call is None else {"call": call}

    ids = property(lambda self: self.line[0])
    output_id = property(lambda self: self.line[1])
    where = property(lambda self: self.line[2:])

    def copy(self) -> Entry:
        """Return a second entry that keeps the same arrays when this one is released.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> with ad.GradientTape() as tape:
        ...     y = ad.Variable(3.0) * 2.0
        >>> kept = tape.entries[0].copy()
        >>> tape.entries[0].release()
        >>> kept.output
        Tensor(6.)
        """
        return Entry(self.operation, self.line, self.parameters, self.values, self.output_value, self.call)

    def release(self) -> None:
        """Release the arrays; what was computed, and where, stays.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> with ad.GradientTape() as tape:
        ...     y = ad.Variable(3.0) * 2.0
        >>> [entry] = tape.entries
        >>> entry.release()
        >>> print(entry.name, entry.values)
        multiply None
        """
        self.values = self.output_value = None
        self.keywords = self.parameters

    call = property(lambda self: self.keywords.get("call"))  # None once released
    name = property(lambda self: str(getattr(self.operation, "__name__", self.operation)))

    @property
    def place(self) -> Any:
        """The file, the line and the columns of the user's code."""
        from ..text.places import place

        return place(self.where)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The arguments; those that were tensors, as tensors."""
        return tuple(map(self.argument, range(len(self.ids))))

    def argument(self, k: int) -> Any:
        """Return argument `k`, counted from 0; as a tensor if it was one.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> with ad.GradientTape() as tape:
        ...     y = ad.Variable(3.0) * 2.0
        >>> tape.entries[0].argument(0), tape.entries[0].argument(1)
        (Tensor(3.), 2.0)
        """
        value, id = self._kept()[k], self.ids[k]
        return value if id is None else Entry.wrap(value, id)

    @property
    def output(self) -> Any:
        """The result, as a tensor."""
        self._kept()
        return Entry.wrap(self.output_value, self.output_id)

    def _kept(self) -> Any:
        if self.values is None:
            raise RuntimeError(f"{self!r} was released with its one-shot tape; use GradientTape(persistent=True)")
        return self.values

    def __repr__(self) -> str:
        return f"Entry({self.name}, {self.place})"
