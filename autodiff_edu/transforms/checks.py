"""Check derivatives against finite differences: `check_gradients`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.stack import dense
from ..arrays.structures import as_array, flatten, rebuild
from ..arrays.validate import is_whole
from ..text.functions import name_of, names_of_parameters
from .comparison import Comparison
from .disagreement import describe
from .run import check_function


def check_gradients(f: Callable[..., Any], *args: Any, order: int = 2) -> None:
    """Check that the derivatives of `f` agree with central differences, in both modes, to a given order.

    In forward mode, the derivative of every element of the result is compared, along one random direction. In reverse
    mode, the cotangent of every element of an argument is compared, from one random cotangent of the result; for an
    argument of more than 24 numbers, only their sum along a random direction. The next order is checked in the same way
    on the derivative itself. If something disagrees, elements of the arguments and the result are compared one by one,
    to find a slope that is wrong.

    A derivative passes if it agrees with the difference to 1e-4 of its size, or to 1e-10 times (1 + the size of the
    result), which is about what rounding does to a difference, or if differences with other steps disagree as much.
    The step is 1e-5. For numbers smaller than 0.001 or larger than 1000 in size, 1e-5 of the number is tried too, where
    1e-5 is far too long a step, or one that is lost in rounding.
    Smaller mistakes pass, and so can one that is hidden in a sum behind much larger derivatives.

    Parameters
    ----------
    f : callable
        Takes the arguments and returns a tensor or a structure of tensors; smooth near them.
    *args : array_like, Tensor, or structures of arrays
        Where to check. Floating and complex numbers, and lists of numbers, are checked, in float64 or complex128
        whatever their precision; anything else, such as a whole exponent or an index, is passed on unchanged.
    order : int
        1 checks the gradient, 2 its gradient too, and so on.

    Raises
    ------
    AssertionError
        If one of the two modes disagrees. The message gives the order, the argument, the element and both slopes, and
        says what to suspect: where a plain number was taken out of a tensor, or a rule of your own.
    TypeError
        If `f` is not callable.
    ValueError
        If the order is below 1, or there are no floating or complex numbers in the arguments, or in the result.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> ad.check_gradients(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.3, -1.2]))
    >>> ad.check_gradients(lambda x, n: x**n, 0.7, 3)
    >>> @ad.custom_gradient
    ... def square(x):
    ...     return x * x, lambda dy: dy * x
    >>> ad.check_gradients(square, 3.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: the first derivative of square is wrong: the tape says 3, central differences say 6, at x = 3. ...
    """
    if not is_whole(order) or order < 1:
        raise ValueError(f"order is {order!r}; it must be 1 (the gradient), 2 (its gradient too), or more")
    check_function(f, "check_gradients(f, x)", "check_gradients(f(x), x)")
    whole = [as_array(arg) for arg in args]
    names = names_of_parameters(f, len(args))
    leaves = [leaf for name, arg in zip(names, whole, strict=True) for leaf in flatten(arg, name)]
    smooth = [(path, leaf) for path, leaf in leaves if np.asarray(dense(leaf)).dtype.kind in "fc"]
    if not smooth:
        raise ValueError(
            "check_gradients has nothing to check: no argument contains floating or complex numbers; write 3.0 in "
            "place of 3, or x.astype(float)"
        )

    def smooth_part(*moved: Any) -> Any:
        given = dict(zip([path for path, _ in smooth], moved, strict=True))
        return f(*rebuild(whole, iter([given.get(path, leaf) for path, leaf in leaves])))

    start = Comparison(smooth_part, [path for path, _ in smooth], [_double(leaf) for _, leaf in smooth])
    rng, level = np.random.default_rng(0), start
    seeds: list[list[Any]] = []
    for _ in range(order):
        draws = level.draw(rng)
        if level.screen(*draws)[0]:
            raise AssertionError(describe(name_of(f, "f"), start, seeds, draws))
        seeds.append(draws[1])
        level = level.derivative(seeds[-1])


def _double(leaf: Any) -> Any:
    array = np.array(leaf)
    return array.astype(complex if array.dtype.kind == "c" else float)
