"""Names for parts of a computation: what is computed inside a `with ad.scope("layer 1"):` belongs together.

>>> import autodiff_edu as ad
>>> with ad.scope("encoder"), ad.scope("layer 1"):
...     print(active.scopes)
('encoder', 'layer 1')
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .events import active


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Name what is computed inside a `with` block; the player folds it into one box.

    Parameters
    ----------
    name : str
        Scopes inside each other make a path, such as "encoder/layer 1".

    Raises
    ------
    TypeError
        If the name is no string.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> def f(x):
    ...     with ad.scope("softplus"):
    ...         return np.log(1 + np.exp(x))
    >>> ad.play(f, 1.0)
    Player('f(x)', 11 steps)
    """
    if not isinstance(name, str):
        raise TypeError(
            f'a scope has a name, such as ad.scope("layer 1"); this is the {type(name).__name__} {name!r:.60}'
        )
    active.scopes = (*active.scopes, name)
    try:
        yield
    finally:
        active.scopes = active.scopes[:-1]
