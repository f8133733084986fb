"""Models as plain Python objects: `Module` finds the variables in an object's attributes.

>>> import autodiff_edu as ad
>>> from autodiff_edu import nn
>>> class Line(nn.Module):
...     def __init__(self):
...         self.slope, self.parts = ad.Variable(2.0), {"offset": ad.Variable(0.5)}
...     def __call__(self, x):
...         return self.slope * x + self.parts["offset"]
>>> line = Line()
>>> line.named_variables
{'slope': Variable(2.), 'parts/offset': Variable(0.5)}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core.variable import Variable
from ..text.printing import printable
from ..trace.scopes import in_its_scope


class Module:
    """An object whose variables are found in its attributes, and in lists, tuples, dicts and modules among them.

    Subclasses set attributes as any class does, and need not call `super().__init__()`. Variables come in the order in
    which the attributes were first set; one that occurs twice, for example in a shared layer, counts once.

    A layer creates its variables in its first call, so ask for them after that.

    Calling a module opens a scope in a trace, named after its class.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_edu import nn
    >>> class Network(nn.Module):
    ...     def __init__(self):
    ...         self.layers = [nn.Dense(4, "relu"), nn.Dense(1)]
    ...     def __call__(self, x):
    ...         for layer in self.layers:
    ...             x = layer(x)
    ...         return x
    >>> network = Network()
    >>> network(np.ones((5, 3))).shape
    (5, 1)
    >>> list(network.named_variables)
    ['layers/0/kernel', 'layers/0/bias', 'layers/1/kernel', 'layers/1/bias']
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__call__" in vars(cls):
            cls.__call__ = in_its_scope(vars(cls)["__call__"])  # type: ignore[method-assign]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables."""
        return tuple(variable for _, variable in _walk(self, "", set()))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that tapes watch without being asked."""
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def named_variables(self) -> dict[str, Variable]:
        """All variables by the path that leads to them: "encoder/0/kernel" is `self.encoder[0].kernel`.

        Raises
        ------
        ValueError
            If two have the same path, for example because of a "/" in the key of a dict.
        """
        named: dict[str, Variable] = {}
        for path, variable in _walk(self, "", set()):
            if path in named:
                raise ValueError(
                    f"two variables of this {type(self).__name__} would be named {path!r}; rename a key of a dict, "
                    "and keep '/' out of keys"
                )
            named[path] = variable
        return named

    def __repr__(self) -> str:
        parts = [f"{path}: {'×'.join(map(str, v.shape)) or 'scalar'}" for path, v in self.named_variables.items()]
        return printable(f"{type(self).__name__}({', '.join(parts)})")


def _walk(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Variable]]:
    """Find the variables in a value that are not `seen` yet, each with the path that leads to it."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Variable):
        yield path, value
    for key, part in _parts(value):
        yield from _walk(part, f"{path}/{key}" if path else str(key), seen)


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, Module):
        return vars(value).items()
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(getattr(value, "variables", None), tuple):  # for example a loaded function
        return enumerate(value.variables)
    return enumerate(value) if isinstance(value, list | tuple) else ()
