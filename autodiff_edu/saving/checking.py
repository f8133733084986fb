"""Checks that a recording can be saved.

It must have something to differentiate, and stand for the function and not for one call: the function is recorded
again, and the recordings are compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..program.comparison import Difference
from ..text.places import place
from .examples import Examples
from .operations import name_of
from .runs import Run
from .side_effects import SideEffects
from .writing import Document

REMEDIES = {
    "numpy.reshape": "write -1 for the number of samples: x.reshape(-1, ...)",
    "numpy.broadcast_to": "let the operands broadcast, or multiply by np.ones_like(x)",
    "numpy.divide": "write np.mean(x) in place of np.sum(x) / len(x)",
    "numpy.multiply": "write np.mean(x) in place of np.sum(x) * (1 / len(x))",
    "getitem": "write x[:-1] in place of x[:len(x) - 1], and np.take_along_axis(x, k[:, None], axis=1) in place of "
    "x[np.arange(len(x)), k]",
}
REMEDY = "let the operation find it: -1 in a shape, np.mean, np.zeros_like(x), np.ones_like(x), broadcasting"
CONSTANT = "make the array from a tensor, np.zeros_like(x) or np.ones_like(x), or of a shape that broadcasts"


def check_differentiable(first: Run, program: Document) -> None:
    """Raise a ValueError if nothing in the result can have a gradient."""
    if not any(value.dtype.kind in "fc" for value in first.listing.results):
        raise ValueError(
            "the result holds integers or booleans, which have no derivative; return the values they are computed from"
        )
    floats = [value for value in first.listing.arguments if value.dtype.kind in "fc"]
    if not program.variables and program.used.isdisjoint(floats):
        raise ValueError(
            "nothing in the result depends on a floating example or a variable, so there is nothing to differentiate: "
            "pass floats (3.0, not 3), and compute with the arguments directly, without float() or .numpy()"
        )


def check_values(run: Callable[..., Run], given: Examples, first: Run) -> set[int]:
    """Check that a recording holds for other values; return the numbers of instructions with random constants."""
    for deed in _deeds(first.side_effects):
        _warn(deed)
    random = _check_again(run, given, first)
    for decision in _decisions(first.side_effects):
        _warn(decision)
    return random


def _check_again(run: Callable[..., Run], given: Examples, first: Run) -> set[int]:
    """Check that the recording is the same when called again, and with slightly moved values."""
    random = set()
    marked = None if first.side_effects.left else [variable for variable, _ in first.listing.variables]
    for difference in first.find_differences(run(given.arrays, marked=marked)):
        if difference.kind == "path" or difference.reshaped:
            raise ValueError(
                f"called twice with the same examples, the function did not do the same: {_describe(difference)}. Only "
                "a function that always does the same can be saved; draw random numbers outside it, and pass them in"
            )
        random.add(difference.number)
        _warn(
            f"{_describe(difference)}, when called twice with the same examples: a random number, the time or "
            "something similar. It is kept as a constant; pass it in as an argument if it should vary",
            5,
        )
    with np.errstate(all="ignore"):
        moved = run(given.moved(), moved=True, attempt=True)
    if moved.failure is not None:  # the function does not accept other values, so they cannot matter
        return random
    for difference in first.find_differences(moved):
        if difference.kind == "path":
            _warn(f"{_describe(difference)}, with other values: what is saved is the path taken with the examples", 5)
        elif difference.number not in random:
            raise ValueError(
                f"{_describe(difference)}, with other values: it was computed from an argument with plain NumPy or "
                "Python, so it would become a constant. Compute with tensors all the way, without float(), .numpy() or "
                "np.asarray"
            )
    return random


def check_samples(run: Callable[..., Run], given: Examples, first: Run, random: set[int]) -> dict[int, int]:
    """Check for each length of first axes whether it may vary; each one that may gets a group."""
    free: dict[int, int] = {}
    for length in given.lengths():
        if all(_holds_for(n, length, run, given, first, random) for n in _others(length)):
            free[length] = len(free)
    return free


def _others(length: int) -> tuple[int, ...]:
    """List the numbers of samples to try: odd and even, and well beyond any small limit in the code."""
    return length + 1, 2 * length + 1, 4 * length + 3


def _holds_for(other: int, length: int, run: Callable[..., Run], given: Examples, first: Run, random: set[int]) -> bool:
    """Return whether the function runs with another number of samples; raise a ValueError if it does something else."""
    with np.errstate(all="ignore"):
        longer = run(given.longer(length, other), attempt=True)
    if longer.failure is not None:
        _check_not_reshaped(first, longer, length)
        return False
    for difference in first.find_differences(longer):
        if difference.number in random and not difference.reshaped:
            continue
        operation = _operation(difference)
        remedy = REMEDIES.get(operation, REMEDY)
        if difference.kind == "constant" and operation != "getitem":
            remedy = CONSTANT
        if difference.kind == "path":
            remedy = (
                "loops over samples, and branches that depend on their number, are recorded as they ran; "
                "use array operations"
            )
        if first.side_effects.differentiates:
            remedy += (
                ". If the function takes a derivative itself, save the function that it differentiates, and "
                "differentiate the loaded one: ad.grad(ad.load(path))"
            )
        raise ValueError(
            f"{_describe(difference)}, with another number of samples ({length} in the examples, then {other}), so the "
            f"recording holds for that number only. For any number, {remedy}. For this number alone, make the function "
            "raise an error for others"
        )
    return True


def _check_not_reshaped(first: Run, failed: Run, length: int) -> None:
    """Raise a ValueError if the function failed with more samples because it used their number as a shape."""
    index = len(failed.recorder.instructions)
    if index >= len(first.recorder.instructions):
        return
    instruction = first.recorder.instructions[index]
    operation = name_of(instruction.operation)
    if operation in ("numpy.reshape", "numpy.broadcast_to") and length in _numbers(instruction.values):
        raise ValueError(
            f"{operation} at {place(instruction.where)} depends on the number of samples, {length}, and fails with "
            f"another ({failed.failure}). For any number, {REMEDIES[operation]}"
        )


def _numbers(argument: Any) -> list[int]:
    if isinstance(argument, list | tuple):
        return [number for part in argument for number in _numbers(part)]
    return [argument] if isinstance(argument, int) else []


def _deeds(side_effects: SideEffects) -> list[str]:
    """List what else the function did that a saved function will not do; raise a ValueError if it assigns variables."""
    for name, where in side_effects.assigned:
        raise ValueError(
            f"the function assigns to the variable {name} at {place(where)}, but a saved function changes nothing; "
            "save the function as you use it after training, with training=False"
        )
    return [
        f"the function opens a file at {place(where)}; what it reads is kept as a constant, and not read again"
        for where in dict.fromkeys(side_effects.opened)
    ] + [
        f"the function draws random numbers at {place(where)}; what it draws is kept as a constant. "
        "Pass it in as an argument if it should vary"
        for where in dict.fromkeys(side_effects.drawn)
    ]


def _decisions(side_effects: SideEffects) -> list[str]:
    """Describe where numbers that depend on arguments or variables were taken out, or decided something."""
    found = []
    for how, what, where in dict.fromkeys(side_effects.left):
        if what:
            found.append(f"the value of {what}, by {how}, is taken out at {place(where)}; it is kept as a constant")
            continue
        found.append(
            f"{how} at {place(where)} takes numbers out of a tensor that was computed from an argument or a variable. "
            "Whatever Python does with them (a branch, an index, another number) is kept as a constant, as it was "
            "with the examples. Compute with tensors all the way"
        )
    for how, where, by_rule in dict.fromkeys(side_effects.decided):
        if by_rule:
            found.append(
                f"an operation or its derivative decides by the numbers of a tensor at {place(where)}: the path that "
                "it takes with the examples is saved, like a constant"
            )
            continue
        found.append(
            f"Python asks for {how} of a tensor at {place(where)}, to branch or to choose: the path taken with the "
            "examples is saved, like a constant. np.where, np.maximum and x[k] with a tensor k choose again in each "
            "call"
        )
    return found


def _describe(difference: Difference) -> str:
    at = _operation(difference)
    if difference.instruction is not None:
        at += f" at {place(difference.instruction.where)}"
    if difference.kind == "path":
        return f"from {at} on, the function took another path"
    verb = "got" if difference.instruction and difference.instruction.outputs else "returned"
    return f"{at} {verb} {difference.before}, then {difference.after}"


def _operation(difference: Difference) -> str:
    return "the result" if difference.instruction is None else name_of(difference.instruction.operation)


def _warn(message: str, level: int = 4) -> None:
    """Warn about something in the function, at the line that saves it, this many calls above."""
    warnings.warn(message, UserWarning, stacklevel=level)
