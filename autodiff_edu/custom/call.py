"""How `custom_gradient` works: one entry on the tape, whose rule is the user's backward function.

The entry holds the `Call`, so a tape that releases its entries also releases everything that the backward function has
captured.

>>> import autodiff_edu as ad
>>> @ad.custom_gradient
... def half(x):
...     return x, lambda dy: dy * 0.5
>>> x = ad.Variable(3.0)
>>> with ad.GradientTape() as tape:
...     y = half(x)
>>> tape.entries[0], tape.entries[0].call.name
(Entry(half, doctest, line 2), 'half')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

from ..arrays.stack import dense
from ..arrays.structures import flatten, rebuild
from ..arrays.validate import copy_in
from ..core.active import Follower, begin, emit, now, start_listening, stop_listening, tick
from ..core.entry import Entry
from ..core.events import Return
from ..core.rule import Rule
from ..core.tensor import Tensor, apply, as_tensor, wrap
from ..core.variable import Variable
from ..text.functions import name_of, names_of_parameters
from ..text.with_block import ExitMethod, WithBlock
from .checking import (
    Argument,
    Source,
    convert_gradient,
    gradients_of,
    is_sequence,
    is_smooth,
    plural,
    takes_variables,
)
from .packing import Output, cut, pack, stack_results


def pull(argument: int, g: Any, y: Any, *inputs: Any, call: Any) -> Any:
    """Pull a cotangent back to one input of an entry: the rule of every custom gradient."""
    return call.contribution(argument, g, y)


class Custom:
    """The operation of an entry made by a custom gradient; it has its own rule.

    Attributes
    ----------
    places : tuple
        For each input, its positional argument; None for inputs inside an argument, and variables that were read.
    count : int
        How many positional arguments there were.
    silent : set of int
        The inputs for which the backward function last returned None; a released tape still knows them.
    captured, named : frozenset of int
        The ids of the tensors that the function used but that were not positional arguments: captured from outside, or
        passed by keyword. It has no derivative with respect to them. `unseen` combines both.
    """

    rule = Rule("custom", each=pull, own=True)

    def __init__(
        self, name: str, places: tuple[int | None, ...] = (), count: int = 0, silent: set[int] | None = None
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.places, self.count, self.silent = places, count, silent if silent is not None else set()
        self.captured: frozenset[int] = frozenset()
        self.named: frozenset[int] = frozenset()

    unseen = property(lambda self: self.captured | self.named)

    def __call__(self, *inputs: Any, call: Any) -> Any:
        """Return the result, which has already been computed."""
        return call.value

    def names(self, written: tuple[str | None, ...]) -> tuple[str | None, ...]:
        """Choose, among the arguments as the user wrote them, the one for each input."""
        if len(written) < self.count:  # in f(*pair) the arguments cannot be told apart
            return ()
        written = written[len(written) - self.count :]  # in module.f(x), the module is not an argument
        return tuple(None if place is None else written[place] for place in self.places)


class Call:
    """One call of a function with a custom gradient: its backward function, and what that must return.

    Attributes
    ----------
    sources : list of Source
        The tensors among the positional arguments, and then the variables that the function read.
    outputs : list of Output
        The tensors of the result, in order.
    value : ndarray or scalar
        The output of the entry: the result or, if it has several tensors, all of them as one vector.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        backward: Any,
        variables: list[Variable],
        result: list[Any],
    ) -> None:
        self.name, self.backward, self.count = name_of(f), backward, len(args)
        self.function, self.args, self.kwargs = f, args, kwargs
        self.takes_variables = takes_variables(backward)
        if variables and not self.takes_variables:
            raise TypeError(
                f"{self.name} reads {_list_names(variables)}, but its backward does not accept them. Write "
                "def backward(dy, variables): ..., which returns (gradients, variable_gradients), the second a list "
                f"with one gradient per variable; or pass them to {self.name} as arguments"
            )
        named = zip(names_of_parameters(f, len(args)), args, strict=True)
        self.arguments = [Argument(k, *pair) for k, pair in enumerate(named)]
        self.arguments = [argument for argument in self.arguments if argument.tensors()]
        self.variables = [variable.as_it_is() for variable in variables]
        self.sources = [Source(path, x.shape, x.dtype) for a in self.arguments for path, x in a.tensors()]
        self.sources += [Source(v.name or f"variable {k}", v.shape, v.dtype) for k, v in enumerate(variables, 1)]
        self.outputs = [Output(array.shape, array.dtype) for array in result]
        self.value = pack([array for array in result if array.dtype.kind in "fc"])
        self.silent: set[int] = set()
        self._answer: tuple[Any, Any, int, list[Any]] | None = None  # g, held weakly, y, argument, gradients

    began: int = 0
    returned: int | None = None
    """When the function began, and the id of the tensor that it returned, if that was one."""

    push: Any = None
    """The forward rule, `push(moving, stack)`, if the call has its own."""

    def contribution(self, argument: int, g: Any, y: Any) -> Any:
        """Return the backward function's gradient for one source; the function is called once for all sources.

        The walk asks for the sources of one entry in order, with the same `g` and `y`. So the result is kept up to the
        last one, or until the walk no longer holds `g`.
        """
        self._expect(argument)
        kept = self._answer
        if kept is not None and kept[0]() is g and kept[1] is y and kept[2] < argument:
            answer = kept[3]
        else:
            answer = self._pull_back(g)
        self._answer = None if argument == len(self.sources) - 1 else (self._weakly(g), y, argument, answer)
        return answer[argument]

    def _expect(self, argument: int) -> None:
        """Prepare for a question about an argument."""

    def _weakly(self, g: Any) -> Callable[[], Any]:
        """Return a reference to a cotangent that forgets the answer when nothing else holds the cotangent."""

        def forget(gone: Any) -> None:
            if self._answer is not None and self._answer[0] is gone:
                self._answer = None

        return (lambda: g) if isinstance(g, np.generic) else ref(g, forget)

    def again(self, values: tuple[Any, ...]) -> Any:
        """Run the function on other values of the tensors among its positional arguments.

        Raises
        ------
        ValueError
            If it reads variables besides these, which may have changed.
        """
        if self.variables:
            raise ValueError(
                f"{self.name} reads {_list_names(self.variables)} that are not among its arguments, so it cannot be "
                f"run again with other values. Pass them to {self.name} as arguments"
            )
        given = iter(values)
        args = [
            rebuild(arg, iter([wrap(next(given)) if is_smooth(leaf) else leaf for _, leaf in flatten(arg, "")]))
            for arg in self.args
        ]
        result, _ = self.function(*args, **self.kwargs)
        arrays = [_array(self.function, path, leaf) for path, leaf in flatten(result, "the result")]
        return pack([array for array in arrays if array.dtype.kind in "fc"])

    def _pull_back(self, g: Any) -> list[Any]:
        """Pull back a cotangent or, one by one, a stack of them."""
        g = dense(g)
        if g.dtype.kind == "c":
            g = np.conjugate(g)  # the walk has conjugated it for the rules, but this is the user's
        if g.ndim == self.value.ndim:
            return self._pull_back_one(g)
        rows = [self._pull_back_one(g[k]) for k in range(len(g))]
        return [stack_results([row[k] for row in rows], source) for k, source in enumerate(self.sources)]

    def _pull_back_one(self, g: Any) -> list[Any]:
        parts = cut(g, self.outputs)
        cotangents = [
            as_tensor(next(parts)) if output.dtype.kind in "fc" else wrap(np.zeros(*output)[()])
            for output in self.outputs
        ]
        gradients: list[Any] = []
        for gradient in self.backward_of(cotangents):
            found = gradient if gradient is None or now().followers else gradient._array
            gradients.append(np.conjugate(found) if found is not None and found.dtype.kind == "c" else found)
        return gradients

    def backward_of(self, cotangents: list[Tensor]) -> list[Tensor | None]:
        """Call the backward function, and check what it returns.

        Parameters
        ----------
        cotangents : list of Tensor
            One per output.

        Returns
        -------
        list of Tensor or None
            One per source, of its shape and dtype; None where the function returns None.

        Raises
        ------
        ValueError
            If the number, the structure or a shape of the gradients is wrong.
        TypeError
            If a gradient does not hold numbers, or is complex for a real argument.
        """
        if self.takes_variables:
            returned = self.backward(*cotangents, variables=list(self.variables))
        else:
            returned = self.backward(*cotangents)
        gradients, for_variables = self._split(returned)
        found = gradients_of(self.name, self.arguments, self.count, gradients)
        answers = [
            convert_gradient(source, leaf) for source, leaf in zip(self.sources, [*found, *for_variables], strict=True)
        ]
        self.silent.clear()
        self.silent.update(k for k, answer in enumerate(answers) if answer is None)
        return answers

    def _split(self, returned: Any) -> tuple[Any, Any]:
        """Separate the gradients of the variables from those of the arguments."""
        if self.takes_variables and is_sequence(returned) and len(returned) == 2 and is_sequence(returned[1]):
            gradients, for_variables = returned
            if len(for_variables) == len(self.variables):
                return gradients, for_variables
        if self.variables:
            raise ValueError(
                f"backward of {self.name} must return (gradients, variable_gradients), the second a list with one "
                f"gradient for each of {_list_names(self.variables)}; it returned {returned!r:.80}"
            )
        return returned, []


class Reads(WithBlock, Follower):
    """Notes which trainable variables, and which tensors from outside, are read in a `with` block."""

    shields = True  # the function defines its own gradient

    def __init__(self) -> None:
        super().__init__({Entry: self._compute})
        self.variables: dict[int, Variable] = {}
        self.older: set[int] = set()
        self.start = tick()

    def __enter__(self) -> Reads:
        begin(self)
        start_listening(self)
        return self

    @ExitMethod
    def __exit__(self, *exception: object) -> None:
        stop_listening(self)

    def follows(self, ids: Any) -> bool:
        """Return False: rules may run on plain arrays."""
        return False

    def _compute(self, entry: Entry) -> None:
        if self.over:  # an interrupt ended the block
            return
        for x in entry.given:
            if isinstance(x, Variable) and x.trainable and is_smooth(x):
                self.variables[x._id] = x
            elif isinstance(x, Tensor) and x._id < self.start:
                self.older.add(x._id)


def call(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], kind: Callable[..., Call] = Call) -> Any:
    """Call a function that returns `(result, backward)`; wrap the result as tensors with that gradient."""
    with Reads() as reads:
        returned = f(*args, **kwargs)
    result, backward = _pair(f, returned)
    arrays = [_array(f, path, leaf) for path, leaf in flatten(result, "the result")]
    if not arrays:
        raise TypeError(f"the result of {name_of(f)} is {result!r:.60}; it must be a tensor, or a structure of tensors")
    passed = {leaf._id for _, leaf in flatten(args, "") if is_smooth(leaf)}
    variables = [variable for id, variable in reads.variables.items() if id not in passed]
    this = kind(f, args, kwargs, backward, variables, arrays)
    this.began, this.returned = reads.start, result._id if isinstance(result, Tensor) else None
    if not any(array.dtype.kind in "fc" for array in arrays):  # integers: there is nothing to differentiate
        return rebuild(result, map(wrap, arrays))
    tensors = [(x, a.place if x is a.value else None) for a in this.arguments for _, x in a.tensors()]
    inputs = (*(x for x, _ in tensors), *variables)
    places = (*(place for _, place in tensors), *(None for _ in variables))
    custom = Custom(this.name, places, len(args), this.silent)
    custom.named = frozenset(leaf._id for _, leaf in flatten(kwargs, "") if is_smooth(leaf)) - passed
    custom.captured = frozenset(reads.older - passed - custom.named)
    parts = cut(apply(custom, inputs, call=this), this.outputs)
    results = [next(parts) if array.dtype.kind in "fc" else wrap(array) for array in arrays]
    if now().heard[Return]:
        emit(Return, this, [leaf for _, leaf in flatten(result, "the result")], results)
    return rebuild(result, iter(results))


def _pair(f: Callable[..., Any], returned: Any) -> tuple[Any, Callable[..., Any]]:
    name = name_of(f)
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError(
            f"{name} has a custom gradient, so it must return a pair (result, backward), where backward(dy) returns "
            f"the gradient of each argument; it returned {returned!r:.60}"
        )
    if not callable(returned[1]):
        raise TypeError(
            f"{name} must return (result, backward), and backward must be a function of the cotangent dy; it is "
            f"{returned[1]!r:.60} of type {type(returned[1]).__name__}"
        )
    return returned


def _array(f: Callable[..., Any], path: str, leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return leaf._array
    try:
        return copy_in(leaf)
    except TypeError as error:
        raise TypeError(
            f"{path} of {name_of(f)} is {leaf!r:.60} of type {type(leaf).__name__}; it must be a tensor, an array or "
            "a number"
        ) from error


def _list_names(variables: list[Variable]) -> str:
    return f"the {plural('variable', len(variables))} {', '.join(map(repr, variables))}"
