"""Optimizers: they change variables along gradients.

>>> import autodiff_edu as ad
>>> from autodiff_edu import nn
>>> w, optimizer = ad.Variable(4.0, name="w"), nn.SGD(0.25)
>>> for _ in range(3):
...     with ad.GradientTape() as tape:
...         loss = w * w
...     optimizer.apply(tape.gradient(loss, w), w)
>>> w
Variable('w', 0.5)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.structures import flatten, flatten_like
from ..arrays.validate import copy_in
from ..core.active import Listener, always, now, only
from ..core.entry import Entry
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..rules.operations import recorder


class Optimizer:
    """What optimizers share: `apply`, and a memory for each variable.

    A subclass computes in `_step` how far to go, from a gradient and its memory for that variable.
    """

    _on_tensors = False  # whether `_step` also accepts tensors, so that a trace can record what it computes

    def __init__(self, learning_rate: float) -> None:
        try:
            allowed = bool(learning_rate >= 0)
        except (TypeError, ValueError):
            raise TypeError(f"the learning rate must be a number; got {learning_rate!r:.60}") from None
        if not allowed:
            raise ValueError(f"the learning rate must not be negative; got {learning_rate!r}")
        self.learning_rate = learning_rate
        self._memory: dict[int, tuple[Variable, Any]] = {}

    def apply(self, gradients: Any, variables: Any) -> None:
        """Take one step: `optimizer.apply(tape.gradient(loss, variables), variables)`.

        Parameters
        ----------
        gradients : Tensor or ndarray, or a structure of them
            In the structure of the variables; each with the shape of its variable.
        variables : Variable, or a nested list, tuple or dict of them
            The variables to change, each once. No tape records the change.

        Raises
        ------
        ValueError
            If the structures, the number or the shapes differ, a gradient is None, or a variable occurs twice.
        TypeError
            If something is not a variable, or a gradient is complex and its variable is not.
        """
        recording = recorder()
        for variable, gradient in _pair(gradients, variables):
            memory = self._memory.get(variable._id, (variable, None))[1]
            if recording:
                self._step_compiled(recording, variable, gradient, memory)
                continue
            take = self._step_aloud if self._on_tensors and _traces() else self._step
            change, after = take(gradient, _each(_number, memory))
            with only():
                self._memory[variable._id] = variable, _keep(memory, after)
            variable.assign_sub(change)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_memory": list(self._memory.values())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # variables copied with their optimizer have new ids
        vars(self).update(state, _memory={kept[0]._id: kept for kept in state["_memory"]})

    def _step_aloud(self, gradient: Any, memory: Any) -> Any:
        """Take a step that traces record, but tapes and the journal do not."""
        with only(*_traces()):
            return _each(_array, self._step(wrap(gradient), _each(_tensor, memory)))

    def _step_compiled(self, recording: Any, variable: Variable, gradient: Any, memory: Any) -> None:
        """Take a step that becomes part of a program; the program reads and assigns variables as its memory."""
        with only():
            memory = _each(_variable, self._start(variable) if memory is None else memory)
        self._memory[variable._id] = variable, memory
        with only(recording):
            change, after = self._step(wrap(gradient), memory)
            if memory is None and after is not None:
                raise TypeError(
                    f"{type(self).__name__} remembers something, so to be compiled it must define _start(variable), "
                    "which returns what it remembers before its first step"
                )
            _keep(memory, after)
            variable.assign_sub(change)

    def _start(self, variable: Variable) -> Any:
        """Return the memory before the first step; a program has to read something there."""
        return None

    def _step(self, gradient: Any, memory: Any) -> tuple[Any, Any]:
        """Return what to subtract from the variable, and what to remember for its next gradient (None at the first)."""
        raise NotImplementedError(
            f"{type(self).__name__} must define _step(gradient, memory), which returns how far to go"
        )


class SGD(Optimizer):
    """Gradient descent: subtract the gradient times the learning rate.

    With momentum, subtract `learning_rate * velocity`, where `velocity = momentum * velocity + gradient`.

    Parameters
    ----------
    learning_rate : float
        May be changed between steps.
    momentum : float
        From 0 to below 1.

    Raises
    ------
    ValueError
        If one of them is out of range.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> w = ad.Variable([1.0, 2.0])
    >>> nn.SGD(0.1).apply([10.0, 0.0], w)
    >>> w
    Variable([0., 2.])
    """

    _on_tensors = True

    def __init__(self, learning_rate: float, momentum: float = 0.0) -> None:
        super().__init__(learning_rate)
        self.momentum = _fraction(momentum, "momentum")

    def _start(self, variable: Variable) -> Any:
        return np.zeros(variable.shape, variable.dtype) if self.momentum else None

    def _step(self, gradient: Any, memory: Any) -> tuple[Any, Any]:
        velocity = self.momentum * memory + gradient if memory is not None and self.momentum else gradient
        return self.learning_rate * velocity, velocity if self.momentum else None


class Adam(Optimizer):
    """Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), as in the paper's algorithm 1.

    Each element has its own step size: the moving mean of its gradients divided by the root of the moving mean of their
    squares, both corrected for starting from 0.

    Parameters
    ----------
    learning_rate : float
        May be changed between steps.
    beta_1, beta_2 : float
        How much of the moving means each step keeps, from 0 to below 1.
    epsilon : float
        Added to the root, so that it is never 0.

    Raises
    ------
    ValueError
        If one of them is out of range.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> w = ad.Variable([1.0, 2.0])
    >>> nn.Adam(0.1).apply([1000.0, -0.001], w)  # the first step is as long for any gradient
    >>> w
    Variable([0.9    , 2.099999])
    """

    _on_tensors = True

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        super().__init__(learning_rate)
        self.beta_1, self.beta_2 = _fraction(beta_1, "beta_1"), _fraction(beta_2, "beta_2")
        if not epsilon >= 0:
            raise ValueError(f"the epsilon of Adam must not be negative; got {epsilon!r}")
        self.epsilon = epsilon

    def _start(self, variable: Variable) -> Any:
        return 0, np.zeros(variable.shape, variable.dtype), np.zeros(variable.shape, variable.dtype)

    def _step(self, gradient: Any, memory: Any) -> tuple[Any, Any]:
        steps, mean, square = (0, 0.0, 0.0) if memory is None else memory
        steps = steps + 1
        mean = self.beta_1 * mean + (1 - self.beta_1) * gradient
        square = self.beta_2 * square + (1 - self.beta_2) * gradient**2
        missing: list[Any] = [1 - beta**steps for beta in (self.beta_1, self.beta_2)]
        if isinstance(steps, Tensor):  # plain numbers take the dtype of the mean by themselves
            missing = [part.astype(mean.dtype) for part in missing]
        corrected_mean, corrected_square = mean / missing[0], square / missing[1]
        change = self.learning_rate * corrected_mean / (np.sqrt(corrected_square) + self.epsilon)
        return change, (steps, mean, square)


def _traces() -> list[Listener]:
    """List the traces: the listeners that hear every operation, whether a tape follows it or not."""
    silent = {*now().followers, *always.listeners}
    return [listener for listener in now().listeners if listener not in silent and Entry in listener.hears]


def _each(convert: Any, value: Any) -> Any:
    return tuple(_each(convert, part) for part in value) if isinstance(value, tuple) else convert(value)


def _tensor(value: Any) -> Any:
    return wrap(value) if isinstance(value, np.ndarray | np.generic) else value


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


def _variable(value: Any) -> Any:
    return value if value is None or isinstance(value, Variable) else Variable(value, trainable=False)


def _number(value: Any) -> Any:
    """Return the array of a variable; for a whole number, an int of Python, whose powers have no dtype."""
    if not isinstance(value, Variable):
        return value
    return value._array.item() if value.dtype.kind == "i" else value._array


def _keep(memory: Any, after: Any) -> Any:
    """Return what to remember, in the same variables as before where a program reads them."""
    if isinstance(memory, tuple):
        return tuple([_keep(*pair) for pair in zip(memory, after, strict=True)])
    if not isinstance(memory, Variable):
        return after
    return memory.assign(after)


def _fraction(value: float, name: str) -> float:
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1; got {value!r}")
    return value


def _pair(gradients: Any, variables: Any) -> list[tuple[Variable, Any]]:
    """Pair each variable with its gradient, as a plain array; errors are raised before any variable is changed."""
    pairs: list[tuple[Variable, Any]] = []
    places: dict[int, str] = {}
    given = flatten_like(variables, gradients, "gradients", "the variables are")
    for (path, variable), (gradient_path, gradient) in zip(flatten(variables, "variables"), given, strict=True):
        if not isinstance(variable, Variable):
            kind = type(variable).__name__
            raise TypeError(
                f"{path} is {variable!r:.60} of type {kind}, but an optimizer changes only Variables; write "
                "optimizer.apply(gradients, variables)"
            )
        if variable._id in places:
            raise ValueError(
                f"{path} is the same variable as {places[variable._id]}, so it would be changed twice; pass each "
                "variable once"
            )
        places[variable._id] = path
        called = path if variable.name is None else f"{path}, named {variable.name!r}"
        pairs.append((variable, _check(gradient, gradient_path, variable, called)))
    return pairs


def _check(gradient: Any, path: str, variable: Variable, called: str) -> Any:
    if gradient is None:
        raise ValueError(
            f"{path} is None: as far as the tape can tell, the target does not depend on {called}. "
            "tape.explain(target, variable) says why"
        )
    if variable.dtype.kind not in "fc":
        raise TypeError(
            f"{called} has dtype {variable.dtype}, but only floating-point numbers can change by a small step"
        )
    array = gradient._array if isinstance(gradient, Tensor) else copy_in(gradient)
    if array.shape != variable.shape:
        raise ValueError(f"{path} must have the shape {variable.shape} of {called}; it has shape {array.shape}")
    if not np.can_cast(array.dtype, variable.dtype, "same_kind"):
        raise TypeError(f"{path} has dtype {array.dtype}, which does not fit {called}, of dtype {variable.dtype}")
    return array
