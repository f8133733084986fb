"""Small programs drawn at random for drills, each with one thing to work out; knows nothing about the player.

Their numbers and answers are small integers and halves: nothing depends on how a machine rounds.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..core.tensor import constant
from ..core.variable import Variable
from ..custom import stop_gradient
from ..gradient_tape import GradientTape
from ..text.formatting import short_value

LEVELS = {
    1: "scalars: what is computed, and the chain rule along one path",
    2: "scalars: paths that add up, quotients, powers, and more ways to get None",
    3: "shapes: broadcasting, matrix products, sums along an axis",
    4: "two tapes: first and second derivatives, also mixed ones",
}
KINDS = {  # what the ten programs of a drill ask
    1: ["value"] * 2 + ["sum"] * 2 + ["gradient"] * 4 + ["none"] * 2,
    2: ["value"] + ["sum"] * 3 + ["gradient"] * 4 + ["none"] * 2,
    3: ["shape"] * 3 + ["flow"] * 3 + ["gradient"] * 2 + ["value", "none"],
    4: ["gradient"] * 4 + ["first"] * 2 + ["sum"] * 2 + ["none"] * 2,
}
LONGEST = 5  # characters of a number that you can work out in your head

USED = SimpleNamespace(Variable=Variable, constant=constant, GradientTape=GradientTape, stop_gradient=stop_gradient)
"""The part of the package that the programs use as `ad`."""


class DrillProgram(NamedTuple):
    """A program as text, and what is asked about it.

    `kind` is "value" or "shape" of `subject`, which the program computes; "flow", the shape of what flows back to it;
    "sum", its final cotangent; or "gradient", the number or None that the program calls `result`: the
    derivative of `target` with respect to `subject`. `body` is the part that computes, without tapes.
    """

    lines: list[str]
    body: list[str]
    kind: str
    subject: str
    target: str
    result: str

    @property
    def source(self) -> str:
        """The program as one text."""
        return "\n".join(self.lines) + "\n"

    def run(self, path: str = "<drill>") -> dict[str, Any]:
        """Run the program, and return its names with their values."""
        names: dict[str, Any] = {"ad": USED, "np": np}
        exec(compile(self.source, path, "exec"), names)
        return names

    def answer(self, names: dict[str, Any]) -> Any:
        """Return the answer, from the program's names: a number, a shape, or None."""
        found = names[self.result if self.kind in ("gradient", "sum") else self.subject]
        return found if found is None else found.shape if self.kind in ("shape", "flow") else found.numpy()


class Dice:
    """Random choices that are the same on every machine and in every release of Python and NumPy."""

    def __init__(self, *seed: int) -> None:
        self.roll = random.Random(" ".join(map(str, seed))).random  # the only method that Python promises not to change

    def pick(self, options: Sequence[Any]) -> Any:
        """Choose one of some things."""
        return options[int(self.roll() * len(options))]

    def shuffle(self, things: Sequence[Any]) -> list[Any]:
        """Return some things in random order."""
        return sorted(things, key=lambda _: self.roll())


def draw(level: int, seed: int) -> Iterator[tuple[DrillProgram, str]]:
    """Draw the ten programs of a drill, each with its answer as text; the same level and seed give the same ones."""
    dice, seen = Dice(level, seed), set()
    for kind in dice.shuffle(KINDS[level]):
        while True:
            program = DRAWN[level](dice, kind)
            names = program.run()
            answer = program.answer(names)
            if _fits(kind, answer) and _divides_exactly(program, names) and program.source not in seen:
                break
        seen.add(program.source)
        yield program, str(answer) if answer is None or isinstance(answer, tuple) else short_value(answer)


def _fits(kind: str, answer: Any) -> bool:
    """Return whether an answer is of the wanted kind, short and exact."""
    if answer is None or kind == "none":
        return answer is None and kind == "none"
    if isinstance(answer, tuple):
        return len(answer) > 0
    exact = answer.ndim == 0 and float(answer * 8).is_integer() and not (answer == 0 and np.signbit(answer))
    return bool(exact and len(short_value(answer)) <= LONGEST)


def _divides_exactly(program: DrillProgram, names: dict[str, Any]) -> bool:
    """Return whether the divisor is a power of 2."""
    divisors = [names[name].numpy() for line in program.body for name in re.findall(r"/ ([a-z])", line)]
    return all(divisor and np.log2(abs(divisor)) % 1 == 0 for divisor in divisors)


def _chain(dice: Dice, kind: str) -> DrillProgram:
    """Draw scalars that are used once each."""
    feature = dice.pick(["", "", "constant", "stop"])
    names = dice.pick([["a", "z"], ["a", "b", "z"]])
    others = dice.shuffle(["y", *(str(dice.pick([2, 3, 4, 5])) for _ in names[1:])])
    body = []
    for left, other, name in zip(["x", *names], others, names, strict=False):
        pair = dice.shuffle([left, other])
        body.append(f"{name} = {pair[0]} {dice.pick('+-**')} {pair[1]}")
    numbers = dice.shuffle([2, 3, 4, 5, -1, -2, -3])[:2]
    return _on_one_tape(dice, kind, feature, [f"{number}.0" for number in numbers], body)


def _paths(dice: Dice, kind: str) -> DrillProgram:
    """Draw scalars that are used more than once."""
    feature = dice.pick(["", "", "", "constant", "stop", "floor", "pause"])
    numbers = dice.shuffle([2.0, 3.0, 4.0, -1.0, -2.0, -3.0, 0.5])[:2]
    if feature == "floor":
        numbers[0] = dice.pick([1.5, 2.5, 3.5, -0.5])
    forms = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} * {1}", "{0} / {1}", "{0} ** 2", "-{0}", "{0} / 2"]
    first = dice.pick([*forms, "np.maximum({0}, {1})"]).format("x", dice.pick(["x", "y", "y", "3"]))
    first = first.replace("np.maximum(x, x)", "np.maximum(x, y)")  # equal arguments would make the slope ambiguous
    second = dice.pick(forms).format("a", dice.pick(["x", "y", "2"]))
    third = dice.pick(forms[:5]).format("b", dice.pick(["a", "x", "y"]))
    body = ["a = np.floor(x)" if feature == "floor" else f"a = {first}", f"b = {second}", f"z = {third}"]
    return _on_one_tape(dice, kind, feature, [str(number) for number in numbers], body)


def _shapes(dice: Dice, kind: str) -> DrillProgram:
    """Draw a matrix and something that is broadcast along it or multiplied with it."""
    feature = dice.pick(["", "", "constant", "stop"])
    m, n = dice.pick([(2, 3), (3, 2), (2, 4), (4, 2)])
    product = dice.pick(["*", "*", "+", "-", "@"])
    shapes = [(n,), (n, 3 if m == 2 else 2)] if product == "@" else [(n,), (m, 1), (1, n), (), ()]
    x, y = (np.array([float(dice.pick([0, 1, 2, 3, -1])) for _ in range(int(np.prod(shape)))]).reshape(shape)
            for shape in ((m, n), dice.pick(shapes)))  # fmt: skip
    sums = ["np.sum(a, axis=0)", "np.sum(a, axis=1)", "np.sum(a, axis=0, keepdims=True)", "np.transpose(a)"]
    second = dice.pick([*(sums if product != "@" or y.ndim > 1 else []), "a ** 2", "a * 2"])
    body = [f"a = x {product} y", f"b = {second}", "total = np.sum(b)"]
    return _on_one_tape(dice, kind, feature, [str(x.tolist()), str(y.tolist())], body)


def _on_one_tape(dice: Dice, kind: str, feature: str, numbers: list[str], body: list[str]) -> DrillProgram:
    """Write a program around what it computes from x and y, and choose what is asked about it."""
    computed = [line.split(" = ")[0] for line in body]
    changing = computed[:2] if body[1].endswith(")") else computed[:1]
    subjects = {"value": computed[-1:], "shape": changing, "flow": ["x", "y", "y", "a", "b"]}
    target, subject = computed[-1], dice.pick(subjects.get(kind, ["x", "y"]))
    feature = "" if kind in ("shape", "flow") else feature
    if feature == "stop":
        at = dice.pick([0, 1]) if len(body) > 2 else 0
        body = [*body]
        name, expression = body[at].split(" = ", 1)
        body[at] = f"{name} = ad.stop_gradient({expression})"
    recorded = [f"    {line}" for line in body]
    if feature == "pause":
        recorded[:1] = ["    with tape.stop_recording():", f"        {body[0]}"]
    makers = ["Variable", "constant" if feature == "constant" else "Variable"]
    source = subject if subject in "xy" else "x"
    result = f"d{target}_d{source}"
    lines = [
        *(
            f'{name} = ad.{maker}({number}, name="{name}")'
            for name, maker, number in zip("xy", makers, numbers, strict=True)
        ),
        "with ad.GradientTape() as tape:",
        *recorded,
        f"{result} = tape.gradient({target}, {source})",
    ]
    asked = "gradient" if kind == "none" else kind
    return DrillProgram(lines, body, asked, subject, target, result)


def _twice(dice: Dice, kind: str) -> DrillProgram:
    """Draw a function of two scalars, differentiated once by an inner tape and again by an outer one."""
    forms = [
        "x ** 3", "w * x ** 2", "x * x * w", "x ** 2 + w * x", "3 * x + w", "w ** 2 * x", "x * w", "x ** 2 - w ** 2",
        "(x + w) ** 2", "x ** 3 - 2 * w * x", "x ** 2 / 2 + w ** 2",
    ]  # fmt: skip
    x, w = dice.shuffle([2, 3, 4, 5, -1, -2, -3])[:2]
    body = [f"y = {dice.pick(forms)}"]
    by = dice.pick(["x", "x", "w"])
    outside = dice.pick([False, False, False, True])
    lines = [
        f'x = ad.Variable({x}.0, name="x")',
        f'w = ad.Variable({w}.0, name="w")',
        "with ad.GradientTape() as outer:",
        "    with ad.GradientTape() as inner:",
        f"        {body[0]}",
        f"{'' if outside else '    '}slope = inner.gradient(y, x)",
        f"second = outer.gradient(slope, {by})",
    ]
    if kind == "first":
        return DrillProgram(lines, body, "gradient", "x", "y", "slope")
    return DrillProgram(lines, body, "gradient" if kind == "none" else kind, by, "slope", "second")


DRAWN: dict[int, Callable[[Dice, str], DrillProgram]] = {1: _chain, 2: _paths, 3: _shapes, 4: _twice}
