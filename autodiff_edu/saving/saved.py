"""The loaded function: it runs the instructions of a file through the ordinary operations."""

from __future__ import annotations

import inspect
import keyword
import traceback
from pathlib import Path
from typing import Any

from ..arrays.structures import flatten, rebuild
from ..core.tensor import Tensor, as_tensor, constant
from ..core.variable import Variable
from ..custom import custom_gradient
from ..program.instructions import Instruction, Listing, Value, mapped
from .operation_bounds import check_amount
from .operations import CUSTOM
from .reading import Contents, Input
from .recording import tensors_in

WIDER = {"b": "b", "i": "bui", "u": "bui", "f": "buif", "c": "buifc"}
"""For each kind of dtype of an input: the kinds that it accepts."""

OUR_FOLDER = str(Path(__file__).parents[1])

Known = dict[Value, Any]
"""The tensors that values stand for in a call."""


class SavedFunction:
    """A loaded function: called like the saved one, and differentiated by any tape.

    Attributes
    ----------
    variables, trainable_variables : tuple of Variable
        The variables that the function reads, with their saved values; each `load` creates new ones.

    See `save` for an example.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.__name__ = contents.name
        self.variables: tuple[Variable, ...] = tuple(variable for variable, _ in contents.listing.variables)
        if signature := _signature(contents):
            self.__signature__ = signature

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that tapes watch without being asked."""
        return tuple(variable for variable in self.variables if variable.trainable)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Compute; the arguments are tensors, arrays, numbers, or structures of them, as the examples were.

        Arguments may be passed by name, as for the saved function, if it had names for them.

        Raises
        ------
        TypeError
            If their number or form is different, or a dtype is of a wider kind than the example's.
        ValueError
            If a shape differs in more than the number of samples, or an operation cannot be computed, as with an index
            that is out of bounds.
        """
        listing = self._contents.listing
        known: Known = {value: variable for variable, value in listing.variables}
        known.update(zip(listing.arguments, self._taken(self._in_order(arguments, named)), strict=True))
        self._run(listing, known)
        result = _fill(self._contents.result, known)
        return rebuild(result, map(as_tensor, (leaf for _, leaf in flatten(result, "result"))))

    def _in_order(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Put arguments that are passed by name in their places."""
        if not named:
            return arguments
        signature = getattr(self, "__signature__", None)
        if signature is None:
            raise TypeError(f"the arguments of {self.__name__} were saved without names; pass them in order")
        try:
            return tuple(signature.bind(*arguments, **named).args)
        except TypeError as error:
            raise TypeError(f"{self.__name__}{signature}: {error}") from None

    def _taken(self, arguments: tuple[Any, ...]) -> list[Tensor]:
        form = self._contents.arguments
        if len(arguments) != len(form):
            names = ", ".join(spec.name for spec in self._contents.inputs)
            raise TypeError(f"{self.__name__} takes {len(form)} arguments ({names}), but {len(arguments)} were given")
        found: Known = {}
        for part, argument in zip(form, arguments, strict=True):
            self._match(part, argument, found)
        sizes: dict[int, tuple[int, str]] = {}
        pairs = zip(self._contents.inputs, self._contents.listing.arguments, strict=True)
        return [self._tensor(spec, found[value], sizes) for spec, value in pairs]

    def _match(self, form: Any, given: Any, found: Known) -> None:
        match form:
            case Value():
                found[form] = given
                return
            case dict() if isinstance(given, dict) and given.keys() == form.keys():
                parts = [(part, given[key]) for key, part in form.items()]
            case list() | tuple() if isinstance(given, list | tuple) and len(given) == len(form):
                parts = list(zip(form, given, strict=True))
            case _:
                kind = "the keys " + ", ".join(map(repr, form)) if isinstance(form, dict) else f"{len(form)} items"
                raise TypeError(
                    f"an argument of {self.__name__} is a {type(form).__name__} with {kind}, as when it was saved, not "
                    f"{given!r:.60}"
                )
        for part, its in parts:
            self._match(part, its, found)

    def _tensor(self, spec: Input, given: Any, sizes: dict[int, tuple[int, str]]) -> Tensor:
        """Check one argument against the example it was saved with."""
        tensor = given if isinstance(given, Tensor) else constant(given)
        kind, name = spec.dtype.kind, spec.name
        if tensor.dtype.kind not in WIDER[kind]:
            raise TypeError(
                f"{name} has dtype {tensor.dtype}, but was saved with {spec.dtype}; convert it explicitly: "
                f"{name}.astype({spec.dtype.name!r})"
            )
        if tensor.dtype.kind != kind or (isinstance(given, int | float | complex) and tensor.dtype != spec.dtype):
            tensor = tensor.astype(spec.dtype)
            if isinstance(given, int) and kind == "i" and tensor.numpy() != given:
                raise ValueError(
                    f"{name} is {given}, which does not fit into {spec.dtype}, the dtype it was saved with; save the "
                    "function again with a wider example: np.int64(3)"
                )
        start = 0 if spec.group is None else 1
        if tensor.ndim != len(spec.shape) or tensor.shape[start:] != spec.shape[start:]:
            hint = "" if start or not spec.shape else "; it did not run with another first axis when it was saved"
            raise ValueError(f"{name} has shape {tensor.shape}, but must have shape {shape_of(spec)}{hint}")
        if spec.group is not None:
            size, other = sizes.setdefault(spec.group, (tensor.shape[0], name))
            if size != tensor.shape[0]:
                raise ValueError(
                    f"{name} has {tensor.shape[0]} samples, but {other} has {size}; they must have equally many"
                )
        return tensor

    def _run(self, listing: Listing, known: Known) -> None:
        """Run instructions in order, and add their results to what is known."""
        for instruction in listing.instructions:
            name = instruction.operation
            arguments = [_fill(part, known) for part in instruction.values]
            parameters = _fill(instruction.parameters, known) if instruction.parameters else {}
            if name == CUSTOM:
                sources, outputs = arguments
                found = self._run_custom(instruction, sources, outputs, {**known})
            else:
                result = self._compute(instruction, arguments, parameters)
                found = tensors_in(result) or [as_tensor(leaf) for _, leaf in flatten(result, "the result")]
            if len(found) != len(instruction.outputs):
                raise ValueError(
                    f"{name}, from {instruction.where}, returned {len(found)} results instead of "
                    f"{len(instruction.outputs)}; save it again"
                )
            for value, tensor in zip(instruction.outputs, found, strict=True):
                if (tensor.dtype.kind == "c") != (value.dtype.kind == "c"):  # such as eigenvalues
                    raise ValueError(
                        f"{name}, from {instruction.where}, returned {tensor.dtype} numbers here, but {value.dtype} "
                        "ones with the examples, and what follows was recorded for those; save the function again "
                        "with an example of this kind"
                    )
            known.update(zip(instruction.outputs, found, strict=True))

    def _compute(self, instruction: Instruction, arguments: list[Any], parameters: dict[str, Any]) -> Any:
        name = instruction.operation
        try:
            check_amount(name, arguments, parameters)
            return self._contents.table[name](*arguments, **parameters)
        except (AttributeError, IndexError, KeyError, OverflowError, ValueError) as error:
            if isinstance(error, ValueError) and (type(error) is not ValueError or _is_ours(error)):
                raise  # as the function itself raises it
            raise ValueError(
                f"{name}, from {instruction.where}, cannot be computed for these arguments, perhaps because the "
                f"function takes another path for them than for the examples: {error}"
            ) from error

    def _run_custom(self, instruction: Instruction, sources: list[Any], outputs: list[Any], known: Known) -> list[Any]:
        """Return the outputs of a custom gradient as new tensors that have this gradient."""
        name, listing = instruction.parameters["name"], instruction.backward

        def backward(*cotangents: Tensor) -> Any:
            if listing is None:
                raise LookupError(
                    f"the gradient of {name}, a function with a custom gradient, was not saved with it; save it "
                    "again with custom_gradients=True"
                )
            inside = {**known, **dict(zip(listing.arguments, cotangents, strict=True))}
            self._run(listing, inside)
            gradients = _fill(listing.results, inside)
            return gradients[0] if len(gradients) == 1 else gradients

        def function(*_: Tensor) -> Any:
            return outputs, backward

        function.__name__ = name
        return tensors_in(custom_gradient(function)(*map(as_tensor, sources)))

    def __repr__(self) -> str:
        inputs = ", ".join(f"{spec.name}: {spec.dtype} {shape_of(spec)}" for spec in self._contents.inputs)
        count, variables = len(self._contents.listing.instructions), len(self.variables)
        return (
            f"<saved function {self.__name__}({inputs}): {_count(count, 'operation')}, {_count(variables, 'variable')}>"
        )

    def __str__(self) -> str:
        rows = [f"{instruction.operation}, {instruction.where}" for instruction in self._contents.listing.instructions]
        return "\n".join([repr(self), *(f"{number}  {row}" for number, row in enumerate(rows, 1))])


def _is_ours(error: Exception) -> bool:
    """Return whether a line of this package raised an error, and not NumPy."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return last.filename.startswith(OUR_FOLDER) and (last.line or "").startswith("raise")


def _fill(structure: Any, known: Known) -> Any:
    """Return a structure with what is known in place of its values."""
    if type(structure) is Value:
        return known[structure] if structure.array is None else structure.array
    return mapped(structure, lambda part: _fill(part, known) if type(part) is Value else part)


def _signature(contents: Contents) -> inspect.Signature | None:
    """Return the signature implied by the names of the inputs: "layers['w'][0]" is part of the argument layers."""
    names: list[str] = []
    inputs = dict(zip(contents.listing.arguments, contents.inputs, strict=True))
    for form in contents.arguments if isinstance(contents.arguments, list) else ():
        first = _first(form)
        name = "" if first is None else inputs[first].name.partition("[")[0]
        if not name.isidentifier() or keyword.iskeyword(name) or name in names:
            return None
        names.append(name)
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def _first(form: Any) -> Value | None:
    """Return the first input in an argument."""
    if isinstance(form, Value):
        return form
    if not isinstance(form, dict | list | tuple):
        return None
    parts = form.values() if isinstance(form, dict) else form
    return next((value for part in parts if (value := _first(part)) is not None), None)


def shape_of(spec: Input) -> str:
    """Write a shape, with a letter for a length that may vary: (n, 3)."""
    lengths = [str(n) for n in spec.shape]
    if spec.group is not None:
        lengths[0] = "nmkpqr"[spec.group % 6]
    return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
