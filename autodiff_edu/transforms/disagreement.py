"""A derivative that disagrees with central differences, in words: which slope, the two numbers, and what to suspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.active import tick
from ..core.entry import PLAIN
from ..core.rule import rule_of
from ..derivatives.corners import Corner
from ..explain.journal import FORMAT, journal
from ..gradient_tape import GradientTape
from ..text.formatting import number
from ..text.functions import written_name
from ..text.places import place
from .comparison import FEW, Arrays, Comparison, Element, Wrong, one_hot, total
from .run import run

RANDOM = "a random sum of the results"


class Slope(NamedTuple):
    """A slope that is wrong.

    Attributes
    ----------
    argument, result : Element
        Of which element of the results it is, and with respect to which of the arguments; None if each of those by
        itself is near enough.
    seed : complex
        What to multiply the result's element by: 1j stands for its imaginary part. 0 if only a random sum of the
        results is known to be wrong.
    mode : str
        "reverse" or "forward"; or "chain", if it is right for the cotangent 1 and wrong for 2.
    wrong : Wrong
        Both numbers.
    """

    argument: Element | None
    result: Element
    seed: complex
    mode: str
    wrong: Wrong


def describe(name: str, start: Comparison, seeds: list[Arrays], draws: tuple[Arrays, Arrays]) -> str:
    """Describe what is wrong with a derivative of a function.

    `seeds` are the cotangents by which the orders below were pulled back, one list of them for each, and `draws` the
    directions and cotangents with which `screen` found the mistake.
    """
    names, level, before = [], start, seeds
    for k in range(len(seeds)):
        seeds, element = _single_out(start, seeds, k)
        names.append(_name(level.places, element) if element else RANDOM)
        level = level.derivative(seeds[k])
    slope = _find(level, draws if seeds is before else level.draw(np.random.default_rng(0)))
    result = _name(level.places, slope.result) if slope.seed else RANDOM
    names.append(f"the imaginary part of {result}" if slope.seed == 1j else result)
    of, *by = names
    if slope.argument:
        by.append(_name(level.paths, slope.argument))
    only = len(start.primals) == 1 and not start.primals[0].ndim
    words = [f"for {of}"] * (sum(np.size(value) for value in start.values) > 1)
    words += [f"with respect to {' and '.join(by)}"] * (bool(by) and not only)
    words += ["along a random direction"] * (not slope.argument)
    order = {1: "first", 2: "second", 3: "third"}.get(len(names), f"{len(names)}th")
    at = ""
    if len(start.primals) <= 4 and not any(p.ndim for p in start.primals):
        at = ", at " + ", ".join(
            f"{path} = {number(p[()])}" for path, p in zip(start.paths, start.primals, strict=True)
        )
    found, expected = slope.wrong.found, slope.wrong.expected
    said = f"{'forward mode' if slope.mode == 'forward' else 'the tape'} says {found:.8g}, "
    said += f"central differences say {expected:.8g}"
    if slope.mode == "chain":
        said = (
            f"a cotangent of 1 becomes {expected / 2:.8g}, which is right, but a cotangent of 2 becomes {found:.8g} in "
            f"place of {expected:.8g}"
        )
    lead = f"{' '.join(words)}, " if words else ""
    return f"the {order} derivative of {name} is wrong: {lead}{said}{at}. {_advice(start, level, slope, len(names))}"


def _advice(start: Comparison, level: Comparison, slope: Slope, order: int) -> str:
    """Write what to suspect: a plain number on the way, then a corner, then a rule of the user's own, then a kink."""
    if not np.isfinite(slope.wrong.expected):
        return "The function is not finite around this point: check it at another one"
    if slope.mode == "chain":
        return "A rule must multiply by the cotangent that it receives"
    began = tick()
    tape, value, sources = _run(level)
    source = sources[slope.argument[0] if slope.argument else 0]
    explanation = tape.explain(value[slope.result[0]] if slope.seed else value, source)
    causes = [cause for cause in explanation.left_out or explanation.causes if order == 1 or cause.reason.loses]
    if causes:
        return causes[0].text.rstrip(".")
    if corners := _corners(start):
        more = f", and at {len(corners) - 1} more" if corners[1:] else ""
        return f"The function is at a corner here{more}: {corners[0]}"
    rules = [(entry.operation, rule_of(entry.operation)) for entry in tape.entries]
    own = {_rule_name(operation, rule.kind): None for operation, rule in rules if rule and rule.own}
    suspects = [*_plain_numbers(tape, began), *own] or [
        "whether a plain number is used on the way, as from float(x), x.numpy() or a comparison"
    ]
    return f"Check {', '.join(suspects)}, and whether the function has a kink there"


def _plain_numbers(tape: GradientTape, began: int) -> list[str]:
    """List the first two places at which a function that ran on a tape read plain numbers, or compared them."""
    known = {*tape.watched, *(entry.output_id for entry in tape.entries)}
    read = [
        place(line.where)
        for line in journal.lines()
        if line.output_id == PLAIN and line.time > began and line.operation != FORMAT and line.ids[0] in known
    ]
    return list(dict.fromkeys(f"{one.text} in {one}" if one.text else str(one) for one in read))[:2]


def _run(level: Comparison) -> tuple[GradientTape, Any, list[Any]]:
    with np.errstate(all="ignore"):
        tape, value, sources = run(level.flat, tuple(level.primals), {}, tuple(range(len(level.primals))))
    for source, path in zip(sources, level.paths, strict=True):  # not what the reader's line assigns to
        source.name = path
    return tape, value, sources


def _corners(start: Comparison) -> tuple[Corner, ...]:
    tape, value, sources = _run(start)
    return tape.corners(value, sources)


def _rule_name(operation: Any, kind: str) -> str:
    name = written_name(operation)
    return {
        "custom": f"the backward function of {name}",
        "checkpoint": f"the function under ad.checkpoint, {name}",
    }.get(kind, f"the rule that you registered for {name}")


def _name(paths: Sequence[str], element: Element) -> str:
    index = f"[{', '.join(map(str, element[1]))}]" if element[1] else ""
    return f"{paths[element[0]]}{index}"


def _single_out(start: Comparison, seeds: list[Arrays], k: int) -> tuple[list[Arrays], Element | None]:
    """Replace the cotangents of one order by a single 1 with which the derivative still is wrong, if there is one."""

    def is_wrong(cotangents: Arrays) -> bool:
        level = start
        for seed in [*seeds[:k], cotangents, *seeds[k + 1 :]]:
            level = level.derivative(seed)
        return bool(level.screen(*level.draw(np.random.default_rng(0)))[0])

    elements = _elements(seeds[k])
    while len(elements) > 1:
        halves = elements[: len(elements) // 2], elements[len(elements) // 2 :]
        wrong = [half for half in halves if is_wrong(_only(seeds[k], half))]
        if not wrong:
            return seeds, None
        elements = wrong[0]
    unit = one_hot(seeds[k], *elements[0])
    return ([*seeds[:k], unit, *seeds[k + 1 :]], elements[0]) if is_wrong(unit) else (seeds, None)


def _find(level: Comparison, draws: tuple[Arrays, Arrays]) -> Slope:
    """Find a slope that is wrong: the worst of a few, or of those that are left after halving."""
    (directions, cotangents), (mode, wrongs_in_sum) = draws, level.screen(*draws)
    found: list[tuple[Element, Wrong]] = []
    if mode == "forward":
        for element in _narrow(level.primals, lambda some: _gap_forward(level, _only(directions, some))):
            found += [(element, wrong) for wrong in _forward(level, element)]
    else:
        for element in _narrow(level.primals, lambda some: _gap(level, cotangents, _only(directions, some))):
            found += [(element, wrong) for wrong in level.wrong_cotangent(cotangents, *element)]
    if not found:  # each by itself is near enough, but not their sum
        return Slope(None, wrongs_in_sum[0].element, mode == "forward", mode, wrongs_in_sum[0])
    argument, wrong = max(found, key=lambda one: _badness(one[1]))
    few = [wrong.element]
    if mode == "reverse":
        along = one_hot(level.primals, *argument)
        few = _narrow(level.values, lambda some: _gap(level, _only(cotangents, some), along))
    slopes = [
        Slope(argument, element, factor, "reverse" if times == 1 else "chain", one)
        for element in few
        for factor in ((1, 1j) if np.iscomplexobj(level.values[element[0]]) else (1,))
        for times in (1, 2)
        for one in level.wrong_cotangent([times * factor * x for x in one_hot(level.values, *element)], *argument)
    ]
    if slopes:
        return max(slopes, key=lambda one: (one.mode == "reverse", one.seed == 1, _badness(one.wrong)))
    return Slope(argument, wrong.element, 1 if mode == "forward" else 0, mode, wrong)


def _badness(wrong: Wrong) -> tuple[float, float]:
    """Return how wrong a slope is; of those where the difference is not finite, one that is not 0 says more."""
    return wrong.distance, float(np.nan_to_num(np.abs(wrong.found)))


def _forward(level: Comparison, element: Element) -> list[Wrong]:
    """Compare the tangents of the results when one element of the arguments moves."""
    unit = one_hot(level.primals, *element)
    units = [unit, [1j * part for part in unit]] if np.iscomplexobj(level.primals[element[0]]) else [unit]
    return [wrong for one in units for wrong in level.wrong_tangents(one)]


def _gap_forward(level: Comparison, directions: Arrays) -> float:
    """Return how far the tangents are from differences, where they are farthest."""
    pairs = zip(level.push(directions), level.difference(directions), strict=True)
    return max(float(np.max(np.nan_to_num(np.abs(a - b), nan=np.inf), initial=0)) for a, b in pairs)


def _gap(level: Comparison, cotangents: Arrays, directions: Arrays) -> float:
    """Return how far the sum of what the cotangents become is from a difference."""
    gap = total(level.pull(cotangents), directions) - total(cotangents, level.difference(directions))
    return float(np.nan_to_num(np.abs(gap), nan=np.inf))


def _narrow(arrays: Arrays, gap: Callable[[list[Element]], float]) -> list[Element]:
    """Halve the elements of some arrays until a few are left, each time keeping the half in which the gap is wider."""
    elements = _elements(arrays)
    while len(elements) > FEW:
        elements = max((elements[: len(elements) // 2], elements[len(elements) // 2 :]), key=gap)
    return elements


def _elements(arrays: Arrays) -> list[Element]:
    return [(k, index) for k, array in enumerate(arrays) for index in np.ndindex(np.shape(array))]


def _only(arrays: Arrays, elements: list[Element]) -> Arrays:
    """Return the arrays with 0 everywhere but at some elements."""
    found = [np.zeros_like(array) for array in arrays]
    for k, index in elements:
        found[k][index] = arrays[k][index]
    return found
