"""One program of a compiled function: one path through it, for one kind of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count, pairwise
from typing import Any

import numpy as np

from ..core.active import emit
from ..core.events import Assign
from ..core.tensor import wrap
from ..program.function_writer import FunctionWriter, callable_of
from ..program.instructions import Listing
from ..program.passes import PASSES, Pass
from ..text.functions import name_of
from ..text.printing import printable

_tick = count(1).__next__


class Program:
    """A NumPy function that computes what a compiled function computes, for arguments of one kind.

    Attributes
    ----------
    text : str
        The function; `str` and `print` show it too.
    stages : list of (str, Listing)
        What was "recorded", and what each pass made of it, by its name and in order.
    listing : Listing
        The instructions that it was written from, after all passes.
    captured : set of int
        The ids of tensors that are constants of the program.
    variables, assigned : tuple of Variable
        The variables that it reads, whose arrays it takes after those of the arguments; and those that it assigns,
        whose new values it returns after the results.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> program = ad.compile(lambda x: x * 2.0 * 3.0).program(1.0)
    >>> print(program.text)
    def function(x):
        t2 = 6.0 * x  # doctest, line 1
        return t2,
    >>> [name for name, _ in program.stages][:2]
    ['recorded', 'unused']
    """

    def __init__(
        self,
        name: str,
        listing: Listing,
        build: Callable[[Any], Any],
        captured: set[int],
        passes: Iterable[str | Pass],
    ) -> None:
        self.stages = [("recorded", listing)]
        for one in passes:
            called, run = (one, PASSES[one]) if isinstance(one, str) else (name_of(one, one), one)
            listing = run(listing)
            if not isinstance(listing, Listing):
                raise TypeError(
                    f"the pass {called} returned {listing!r:.60}; return listing.with_instructions(...), or the listing"
                )
            self.stages.append((called, listing))
        self.name, self.listing = name, listing
        writer = FunctionWriter(listing, name)
        self.text = writer.text()
        self.known = writer.list_needs()
        self.run = callable_of(self.text, writer.called, writer.namespace)
        self.variables = tuple(variable for variable, _ in listing.variables)
        self.assigned = tuple(variable for variable, _ in listing.assigned)
        self._build, self._results, self.captured = build, len(listing.results), captured
        self.used = _tick()

    def __call__(self, *arrays: Any) -> Any:
        """Return the results as arrays, and after them the variables' new values; None on another path."""
        return self.run(*arrays)

    def finish(self, found: tuple[Any, ...]) -> Any:
        """Assign to the variables; return the results as the function does."""
        self.used = _tick()
        if self.assigned:
            for variable, array in zip(self.assigned, found[self._results :], strict=True):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
                before, variable._array = variable._array, array
                emit(Assign, variable, wrap(array), before, array, None)
        return self._build(found)

    @property
    def lengths(self) -> dict[str, int]:
        """How many instructions were "recorded", and how many each pass left, by its name."""
        return {name: len(listing.instructions) for name, listing in self.stages}

    @property
    def summary(self) -> str:
        """Describe how many operations were recorded, and how many each pass removed."""
        lengths = [(name, len(listing.instructions)) for name, listing in self.stages]
        steps = [(name, after - before) for (_, before), (name, after) in pairwise(lengths) if after != before]
        told = f" ({', '.join(f'{name} {change:+d}'.replace('-', '−') for name, change in steps)})" if steps else ""
        (_, recorded), (_, left) = lengths[0], lengths[-1]
        return f"{recorded:,} operation{'' if recorded == 1 else 's'}, {left:,} left{told}"

    def __str__(self) -> str:
        return printable("\n".join([f"# {self.name}: {self.summary}", *self.known, self.text]))

    def __repr__(self) -> str:
        return printable(f"<program of {self.name}: {self.summary}; print it to read it>")

    def _repr_markdown_(self) -> str:
        return f"```python\n{self}\n```"
