"""Turns the document of a file into something that runs: every part is checked before any of it is used."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays.structures import flatten
from ..core.tensor import Tensor, as_tensor
from ..core.variable import Variable
from ..custom import custom_gradient
from .bounds import LARGEST, check_amount
from .operations import CUSTOM, operations
from .recording import tensors_in

FORMAT, VERSION = "autodiff_edu saved function", 1


class Reference(NamedTuple):
    """Stands in an argument for an input, a variable, a constant or an earlier result."""

    kind: str
    number: int


class Input(NamedTuple):
    """What is known of one input: its dtype, its shape, and whether its first axis may have another length.

    Inputs with the same `group` have the same length there; None means a fixed length.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    group: int | None


class Instruction(NamedTuple):
    """An operation to run, its arguments with references in them, and how many results it has."""

    name: str
    place: str
    run: Any
    arguments: list[Any]
    parameters: dict[str, Any]
    results: int


class Block(NamedTuple):
    """Instructions and their result."""

    instructions: list[Instruction]
    result: Any

    def run(self, known: dict[str, list[Any]]) -> Any:
        """Run the instructions in order; each adds to the known results."""
        results = known["result"]
        for step in self.instructions:
            if isinstance(step.run, CustomGradient):
                found = step.run(known, *filled(step.arguments, known))
            else:
                arguments, parameters = filled(step.arguments, known), filled(step.parameters, known)
                check_amount(step.name, arguments, parameters)
                result = step.run(*arguments, **parameters)
                found = tensors_in(result) or [as_tensor(leaf) for _, leaf in flatten(result, "the result")]
            if len(found) != step.results:
                raise ValueError(
                    f"{step.name}, from {step.place}, returned {len(found)} results instead of {step.results}; save it "
                    "again"
                )
            results.extend(found)
        return filled(self.result, known)


class CustomGradient(NamedTuple):
    """A custom gradient that was recorded: its backward function is a block, which starts with the cotangents."""

    name: str
    outputs: int
    backward: Block | None

    def __call__(self, known: dict[str, list[Any]], sources: list[Any], outputs: list[Any]) -> list[Tensor]:
        """Return the outputs as new tensors that have this gradient."""
        before = [*known["result"]]

        def backward(*cotangents: Tensor) -> Any:
            if self.backward is None:
                raise LookupError(
                    f"the gradient of {self.name}, a function with a custom gradient, was not saved with it; save it "
                    "again with custom_gradients=True"
                )
            gradients = self.backward.run({**known, "result": [*before, *cotangents]})
            return gradients[0] if len(gradients) == 1 else tuple(gradients)

        def function(*_: Tensor) -> Any:
            return outputs, backward

        function.__name__ = self.name
        return tensors_in(custom_gradient(function)(*map(as_tensor, sources)))


class Contents(NamedTuple):
    """The contents of a file."""

    name: str
    arguments: Any
    inputs: list[Input]
    variables: list[Variable]
    constants: list[Any]
    block: Block


def read(document: Any, arrays: dict[str, Any], path: Any) -> Contents:
    """Check a document and return its contents; a ValueError names the path and the first thing that is wrong."""
    check_version(document, path)
    try:
        return _Reader(document, arrays).contents()
    except ValueError as error:
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise ValueError(
            f"{path} cannot be loaded: its program does not follow the format ({error!r}); save it again"
        ) from error


def check_version(document: Any, path: Any) -> None:
    """Raise a ValueError for a document that is not ours, or of another version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by ad.save: its program does not say {FORMAT!r}")
    if document.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {document.get('version')!r} of the format, but this package reads version {VERSION}; "
            "load it with the version of autodiff_edu that saved it, or save it again with this one"
        )


class _Reader:
    def __init__(self, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        self.document = document
        self.table = operations()
        self.inputs = [_input(written) for written in _list(document["inputs"])]
        self.constants = [_entry(arrays, "constants", k, w)[()] for k, w in enumerate(_list(document["constants"]))]
        self.variables = [
            _variable(_entry(arrays, "variables", k, written), written)
            for k, written in enumerate(_list(document["variables"]))
        ]

    def contents(self) -> Contents:
        arguments = self.decoded(self.document["arguments"], 0)
        found = [part for argument in _list(arguments) for part in _leaves(argument)]
        if found != [Reference("input", k) for k in range(len(self.inputs))]:
            raise ValueError(f"its arguments are not its {len(self.inputs)} inputs, in order, or structures of them")
        block = self.block(self.document, 0)
        if not all(isinstance(part, Reference) for part in _leaves(block.result)):
            raise ValueError("its result is not a reference, or a structure of references")
        return Contents(_text(self.document["name"]), arguments, self.inputs, self.variables, self.constants, block)

    def block(self, written: dict[str, Any], count: int) -> Block:
        """Check instructions, the first of whose results has the number `count`."""
        instructions = []
        for number, step in enumerate(_list(written["instructions"])):
            name, line = _text(step["operation"]), _text(step["place"])
            try:
                instruction = self.instruction(step, name, line, count)
            except ValueError as error:
                raise ValueError(f"instruction {number}, {name}, {line}: {error}") from error
            instructions.append(instruction)
            count += instruction.results
        return Block(instructions, self.decoded(written["result"], count))

    def instruction(self, step: dict[str, Any], name: str, line: str, count: int) -> Instruction:
        if name != CUSTOM and name not in self.table:
            raise ValueError(
                f"no operation called {name!r} is registered here, and nothing else is ever run; if you registered it "
                "with ad.register_gradient, register it before loading"
            )
        arguments = [self.decoded(part, count) for part in _list(step["arguments"])]
        if not isinstance(step["parameters"], dict):
            raise ValueError("its parameters must be an object")
        parameters = {_text(key): self.decoded(part, count) for key, part in step["parameters"].items()}
        results = [_described(part) for part in _list(step["results"])]
        if not results:
            raise ValueError("it has no result")
        given = [arguments, parameters]
        if name != CUSTOM and not any(isinstance(part, Reference) for part in _leaves(given)):
            raise ValueError("it computes with numbers only, not with tensors")
        seen = {"constant": self.constants, "variable": [variable._array for variable in self.variables]}
        size = sum(math.prod(shape) for _, shape in results)
        check_amount(name, filled(arguments, seen), filled(parameters, seen), size)
        if name != CUSTOM:
            return Instruction(name, line, self.table[name], arguments, parameters, len(results))
        custom = self.custom(step.get("backward"), arguments, _text(parameters.get("name")), count)
        if len(results) != custom.outputs:
            raise ValueError(f"it declares {len(results)} results, but has {custom.outputs}")
        return Instruction(name, line, custom, arguments, {}, len(results))

    def custom(self, written: Any, arguments: list[Any], name: str, count: int) -> CustomGradient:
        """Check a custom gradient: its sources and its outputs, and the instructions of its backward function."""
        if len(arguments) != 2:
            raise ValueError("a custom gradient has two arguments, the list of its sources and that of its outputs")
        sources, outputs = arguments
        if not all(isinstance(part, Reference) for part in [*_list(sources), *_list(outputs)]):
            raise ValueError("the sources and the outputs of a custom gradient must be references")
        if written is None:
            return CustomGradient(name, len(outputs), None)
        cotangents = [_described(part) for part in _list(written["cotangents"])]
        if len(cotangents) != len(outputs):
            raise ValueError(f"its backward takes {len(cotangents)} cotangents, but there are {len(outputs)} outputs")
        block = self.block(written, count + len(cotangents))
        if not isinstance(block.result, list) or len(block.result) != len(sources):
            raise ValueError(f"its backward must return one gradient, or none, for each of {len(sources)} sources")
        return CustomGradient(name, len(outputs), block)

    def decoded(self, written: Any, count: int) -> Any:
        """Turn written arguments into Python's values, with references to the first `count` results at most."""
        match written:
            case None | bool() | str() | int() | float():
                return written
            case dict() if len(written) == 1:
                [(tag, content)] = written.items()
                return self.tagged(tag, content, count)
        raise ValueError(f"{written!r:.60} is not an argument that the format knows")

    def tagged(self, tag: str, content: Any, count: int) -> Any:
        sizes = {
            "input": len(self.inputs),
            "variable": len(self.variables),
            "constant": len(self.constants),
            "result": count,
        }
        if tag in sizes:
            if type(content) is not int or not 0 <= content < sizes[tag]:
                raise ValueError(f"it refers to {tag} {content!r}, but there are {sizes[tag]} before it")
            return Reference(tag, content)
        match tag, content:
            case "list", list():
                return [self.decoded(part, count) for part in content]
            case "tuple", list():
                return tuple(self.decoded(part, count) for part in content)
            case "dict", list():
                return {_key(key): self.decoded(part, count) for key, part in content}
            case "slice", [_, _, _]:
                return slice(*(self.decoded(part, count) for part in content))
            case "complex", [_, _]:
                return complex(*(self.decoded(part, count) for part in content))
            case "float", "inf" | "-inf" | "nan":
                return float(content)
            case "ellipsis", None:
                return ...
            case "dtype", str():
                return _dtype(content)
        raise ValueError(f"it has an argument of the kind {tag!r}, which the format does not know, or not in this form")


def _list(written: Any) -> list[Any]:
    if not isinstance(written, list):
        raise ValueError(f"{written!r:.60} is in the place of a list")
    return written


def _text(written: Any) -> str:
    """Check a name and escape unprintable characters, because it may end up in a terminal."""
    if not isinstance(written, str):
        raise ValueError(f"{written!r:.60} is in the place of a name")
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in written)


def _key(written: Any) -> Any:
    if not isinstance(written, str | int | float | None):
        raise ValueError(f"{written!r:.60} is in the place of the key of a dict")
    return written


def _leaves(part: Any) -> Iterator[Any]:
    """List what is in lists, tuples and dicts."""
    if isinstance(part, Reference) or not isinstance(part, list | tuple | dict | slice):
        yield part
        return
    if isinstance(part, slice):
        part = (part.start, part.stop, part.step)
    for inner in part.values() if isinstance(part, dict) else part:
        yield from _leaves(inner)


def _dtype(name: Any) -> np.dtype:
    try:
        dtype = np.dtype(_text(name))
    except TypeError as error:
        raise ValueError(f"NumPy does not know the dtype {name!r} here") from error
    if dtype.kind not in "biufc":
        raise ValueError(f"the dtype {name!r} is not a dtype of numbers")
    return dtype


def _described(written: Any) -> tuple[np.dtype, tuple[int, ...]]:
    """Check a written dtype and shape."""
    dtype, shape = _list(written)
    if not all(type(n) is int and n >= 0 for n in _list(shape)):
        raise ValueError(f"{shape!r:.60} is not a shape")
    _check_size(shape)
    return _dtype(dtype), tuple(shape)


def _check_size(shape: Any) -> None:
    if math.prod(shape) > LARGEST:
        raise ValueError(f"the shape {tuple(shape)} has more than {LARGEST} elements, too many to compute")


def _input(written: dict[str, Any]) -> Input:
    dtype, shape = _described([written["dtype"], written["shape"]])
    group = written["group"]
    if group is not None and (type(group) is not int or not shape):
        raise ValueError(f"{group!r} is not a group of inputs with equally many samples")
    return Input(_text(written["name"]), dtype, shape, group)


def _entry(arrays: dict[str, Any], kind: str, number: int, written: dict[str, Any]) -> Any:
    """Find a declared array and compare it with the declaration."""
    name = f"{kind}/{number}"
    if name not in arrays:
        raise ValueError(f"the array {name} is missing; save it again")
    array, (dtype, shape) = arrays[name], _described([written["dtype"], written["shape"]])
    if (array.dtype, array.shape) != (dtype, shape):
        raise ValueError(
            f"the array {name} has shape {array.shape} and dtype {array.dtype}, but is declared with shape {shape} and "
            f"dtype {dtype}; save it again"
        )
    return array


def _variable(array: Any, written: dict[str, Any]) -> Variable:
    if type(written["trainable"]) is not bool or not isinstance(written["name"], str | None):
        raise ValueError("a variable's name must be text or null, and trainable true or false")
    return Variable(array, written["trainable"], written["name"] and _text(written["name"]))


def filled(template: Any, known: dict[str, list[Any]]) -> Any:
    """Replace references with values, or with None for a kind that is not known yet."""
    match template:
        case Reference():
            return known[template.kind][template.number] if template.kind in known else None
        case tuple():
            return tuple(filled(part, known) for part in template)
        case list():
            return [filled(part, known) for part in template]
        case dict():
            return {key: filled(part, known) for key, part in template.items()}
        case slice():
            return slice(*(filled(part, known) for part in (template.start, template.stop, template.step)))
    return template
