"""Turns the document of a file into something that runs: every part is checked before any of it is used."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..arrays.structures import flatten
from ..core.variable import Variable
from ..program.instructions import Instruction, Listing, Value, mapped, values_in
from ..text.formatting import spell_out
from .operation_bounds import LARGEST, check_amount
from .operations import CUSTOM, operations

FORMAT, VERSION = "autodiff_edu saved function", 1


class Input(NamedTuple):
    """What is known of one input: its dtype, its shape, and whether its first axis may have another length.

    Inputs with the same `group` have the same length there; None means a fixed length.
    """

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    group: int | None


class Contents(NamedTuple):
    """The contents of a file.

    Attributes
    ----------
    arguments, result : structure
        The form of the arguments and of the result, with values of the listing.
    listing : Listing
        Its operations are names, which `table` has, and its places are text.
    """

    name: str
    arguments: Any
    inputs: list[Input]
    listing: Listing
    result: Any
    table: dict[str, Any]


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
        self.registered = operations()
        self.table: dict[str, Any] = {}
        self.inputs = [_input(written) for written in _list(document["inputs"])]
        constants = [_entry(arrays, "constants", k, w)[()] for k, w in enumerate(_list(document["constants"]))]
        variables = [
            _variable(_entry(arrays, "variables", k, written), written)
            for k, written in enumerate(_list(document["variables"]))
        ]
        self.variables = tuple((variable, Value.like(variable)) for variable in variables)
        self.values = {
            "input": [Value(each.shape, each.dtype) for each in self.inputs],
            "variable": [value for _, value in self.variables],
            "constant": [Value.constant(array) for array in constants],
        }
        self.arrays = {value: variable._array for variable, value in self.variables}
        self.arrays |= {value: value.array for value in self.values["constant"]}

    def contents(self) -> Contents:
        arguments = self.decode(self.document["arguments"], [])
        inputs = self.values["input"]
        if _leaves(_list(arguments)) != inputs:
            raise ValueError(f"its arguments are not its {len(inputs)} inputs, in order, or structures of them")
        results: list[Value] = []
        instructions = self.block(self.document, results)
        result = self.decode(self.document["result"], results)
        if not all(isinstance(part, Value) for part in _leaves(result)):
            raise ValueError("its result is not a reference, or a structure of references")
        listing = Listing(tuple(inputs), self.variables, instructions, tuple(_leaves(result)), ())
        return Contents(_text(self.document["name"]), arguments, self.inputs, listing, result, self.table)

    def block(self, written: dict[str, Any], results: list[Value]) -> list[Instruction]:
        """Check instructions; append their results to those before them."""
        instructions = []
        for number, step in enumerate(_list(written["instructions"])):
            name, line = _text(step["operation"]), _text(step["place"])
            try:
                instruction = self.instruction(step, name, line, results)
            except ValueError as error:
                raise ValueError(f"instruction {number}, {name}, {line}: {error}") from error
            instructions.append(instruction)
            results += instruction.outputs
        return instructions

    def instruction(self, step: dict[str, Any], name: str, line: Any, before: list[Value]) -> Instruction:
        if name != CUSTOM and name not in self.registered:
            raise ValueError(
                f"no operation called {name!r} is registered here, and nothing else is ever run; if you registered it "
                "with ad.register_gradient, register it before loading"
            )
        arguments = [self.decode(part, before) for part in _list(step["arguments"])]
        if not isinstance(step["parameters"], dict):
            raise ValueError("its parameters must be an object")
        parameters = {_text(key): self.decode(part, before) for key, part in step["parameters"].items()}
        outputs = tuple(map(_read_value, _list(step["results"])))
        if not outputs:
            raise ValueError("it has no result")
        if name != CUSTOM and not any(values_in([arguments, parameters])):
            raise ValueError("it computes with numbers only, not with tensors")
        size = sum(math.prod(output.shape) for output in outputs)
        check_amount(name, mapped(arguments, self.find_array), mapped(parameters, self.find_array), size)
        instruction = Instruction(name, arguments, parameters, outputs[0], line)
        instruction.outputs = outputs
        if name == CUSTOM:
            instruction.backward = self.backward(step.get("backward"), instruction, before)
        else:
            self.table[name] = self.registered[name]
        return instruction

    def find_array(self, part: Any) -> Any:
        """Return the array of a constant or a variable, None for what will be computed, and anything else unchanged."""
        return self.arrays.get(part) if type(part) is Value else part

    def backward(self, written: Any, custom: Instruction, before: list[Value]) -> Listing | None:
        """Check a custom gradient: its sources and its outputs, and the instructions of its backward function."""
        if len(custom.values) != 2:
            raise ValueError("a custom gradient has two arguments, the list of its sources and that of its outputs")
        custom.parameters = {"name": _text(custom.parameters.get("name"))}
        sources, outputs = map(_list, custom.values)
        if not all(isinstance(part, Value) for part in [*sources, *outputs]):
            raise ValueError("the sources and the outputs of a custom gradient must be references")
        if len(custom.outputs) != len(outputs):
            raise ValueError(f"it declares {len(custom.outputs)} results, but has {len(outputs)}")
        if written is None:
            return None
        cotangents = tuple(map(_read_value, _list(written["cotangents"])))
        if len(cotangents) != len(outputs):
            raise ValueError(f"its backward takes {len(cotangents)} cotangents, but there are {len(outputs)} outputs")
        results = [*before, *cotangents]
        instructions = self.block(written, results)
        gradients = self.decode(written["result"], results)
        if not isinstance(gradients, list) or len(gradients) != len(sources):
            raise ValueError(f"its backward must return one gradient, or none, for each of {len(sources)} sources")
        return Listing(cotangents, (), instructions, tuple(gradients), ())

    def decode(self, written: Any, results: list[Value]) -> Any:
        """Decode written arguments, with values in place of references."""
        match written:
            case None | bool() | str() | int() | float():
                return written
            case dict() if len(written) == 1:
                [(tag, content)] = written.items()
                return self.decode_tag(tag, content, results)
        raise ValueError(f"{written!r:.60} is not an argument that the format knows")

    def decode_tag(self, tag: str, content: Any, results: list[Value]) -> Any:
        values = results if tag == "result" else self.values.get(tag)
        if values is not None:
            if type(content) is not int or not 0 <= content < len(values):
                raise ValueError(f"it refers to {tag} {content!r}, but there are {len(values)} before it")
            return values[content]
        match tag, content:
            case "list", list():
                return [self.decode(part, results) for part in content]
            case "tuple", list():
                return tuple(self.decode(part, results) for part in content)
            case "dict", list():
                return {_key(key): self.decode(part, results) for key, part in content}
            case "slice", [_, _, _]:
                return slice(*(self.decode(part, results) for part in content))
            case "complex", [_, _]:
                return complex(*(self.decode(part, results) for part in content))
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
    return spell_out(written)


def _key(written: Any) -> Any:
    if not isinstance(written, str | int | float | None):
        raise ValueError(f"{written!r:.60} is in the place of the key of a dict")
    return written


def _leaves(structure: Any) -> list[Any]:
    return [leaf for _, leaf in flatten(structure, "")]


def _dtype(name: Any) -> np.dtype:
    try:
        dtype = np.dtype(_text(name))
    except TypeError as error:
        raise ValueError(f"NumPy does not know the dtype {name!r} here") from error
    if dtype.kind not in "biufc":
        raise ValueError(f"the dtype {name!r} is not a dtype of numbers")
    return dtype


def _read_value(written: Any) -> Value:
    """Check a written dtype and shape; return a value with them."""
    dtype, shape = _list(written)
    if not all(type(n) is int and n >= 0 for n in _list(shape)):
        raise ValueError(f"{shape!r:.60} is not a shape")
    _check_size(shape)
    return Value(tuple(shape), _dtype(dtype))


def _check_size(shape: Any) -> None:
    if math.prod(shape) > LARGEST:
        raise ValueError(f"the shape {tuple(shape)} has more than {LARGEST} elements, too many to compute")


def _input(written: dict[str, Any]) -> Input:
    value, group = _read_value([written["dtype"], written["shape"]]), written["group"]
    if group is not None and (type(group) is not int or not value.shape):
        raise ValueError(f"{group!r} is not a group of inputs with equally many samples")
    return Input(_text(written["name"]), value.dtype, value.shape, group)


def _entry(arrays: dict[str, Any], kind: str, number: int, written: dict[str, Any]) -> Any:
    """Find a declared array and compare it with the declaration."""
    name = f"{kind}/{number}"
    if name not in arrays:
        raise ValueError(f"the array {name} is missing; save it again")
    array, value = arrays[name], _read_value([written["dtype"], written["shape"]])
    if (array.dtype, array.shape) != (value.dtype, value.shape):
        raise ValueError(
            f"the array {name} has shape {array.shape} and dtype {array.dtype}, but is declared with shape "
            f"{value.shape} and dtype {value.dtype}; save it again"
        )
    return array


def _variable(array: Any, written: dict[str, Any]) -> Variable:
    if type(written["trainable"]) is not bool or not isinstance(written["name"], str | None):
        raise ValueError("a variable's name must be text or null, and trainable true or false")
    return Variable(array, written["trainable"], written["name"] and _text(written["name"]))
