"""Random programs for the tapes of chapter 4, what tapes with classic mistakes compute, and what errors mean."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from traceback import walk_tb
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import constant
from ...gradient_tape import GradientTape
from ..feedback import near

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "np.sin": np.sin,
    "np.mean": np.mean,
    "np.exp": np.exp,
}
SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 1), (2, 3))
"""Shapes that all fit together."""


class Line(NamedTuple):
    """One line of a program; an input is a name, or a constant."""

    output: str
    symbol: str
    inputs: tuple[Any, ...]

    def __str__(self) -> str:
        written = [x if isinstance(x, str) else _written(x) for x in self.inputs]
        right = f"{self.symbol}({written[0]})" if len(written) == 1 else f" {self.symbol} ".join(written)
        return f"{self.output} = {right}"


class Program(NamedTuple):
    """A program of straight lines, its sources by their names, and its target."""

    sources: dict[str, Any]
    lines: tuple[Line, ...]
    target: str

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {_written(value)}" for name, value in self.sources.items())
        return f"`{'; '.join(map(str, self.lines))}` with {given}"

    def run(self, sources: dict[str, Any]) -> dict[str, Any]:
        """Compute every line with values of any kind; return all values by their names."""
        values = dict(sources)
        for output, symbol, inputs in self.lines:
            values[output] = OPERATORS[symbol](*(values[x] if isinstance(x, str) else x for x in inputs))
        return values


Gradients = dict[str, Any]
"""A gradient, or None, for each source."""


def right(program: Program) -> Gradients:
    """Compute the gradients with the package's own tape."""
    sources = {name: constant(value) for name, value in program.sources.items()}
    with GradientTape() as tape:
        tape.watch(sources)
        target = program.run(sources)[program.target]
    slopes = tape.gradient(target, sources)
    return {name: None if slope is None else slope.numpy() for name, slope in slopes.items()}


def leading(program: Program) -> set[Any]:
    """Return the names of the values from which the target was computed, and its own."""
    names = {program.target}
    for output, _, inputs in reversed(program.lines):
        if output in names:
            names |= {x for x in inputs if isinstance(x, str)}
    return names


def nothing_yet(error: KeyError, program: Program, values: dict[str, Any]) -> bool:
    """Return whether the key leads to the target and is not the output of the entry in hand, but one of its inputs."""
    key = error.args[0] if error.args else None
    place = key if isinstance(key, int) else id(key)
    seen = [x for frame, _ in walk_tb(error.__traceback__) for x in frame.f_locals.values()]
    if any(id(getattr(x, "output", None)) == place for x in seen):
        return False
    return any(id(values[name]) == place for name in leading(program))


def agree(given: Gradients, wanted: Gradients) -> bool:
    """Return whether two answers have the same numbers, shapes and Nones."""
    return all(
        (given[name] is None) == (slope is None) and (slope is None or near(given[name], slope))
        for name, slope in wanted.items()
    )


def _written(value: Any) -> str:
    return str(np.asarray(value).tolist())


# Programs ---------------------------------------------------------------------------------------------------------


def _program(text: str, target: str, **sources: Any) -> Program:
    """Read a program from its lines, such as "a = x * y; b = a + 2.0"."""
    lines = []
    for line in text.split("; "):
        output, _, expression = line.partition(" = ")
        parts = expression.removesuffix(")").replace("(", " ").split()
        symbol, inputs = (parts[0], parts[1:]) if len(parts) == 2 else (parts[1], parts[::2])
        lines.append(Line(output, symbol, tuple(x if x[0].isalpha() else float(x) for x in inputs)))
    return Program(sources, tuple(lines), target)


def draw(count: int, symbols: tuple[str, ...], shapes: tuple[tuple[int, ...], ...], seed: int) -> list[Program]:
    """Draw programs of two to seven lines, the short ones first."""
    random = np.random.default_rng(seed)
    programs = []
    for n in np.linspace(2, 7.99, count).astype(int):
        sources = {name: _drawn(random, shapes[random.integers(len(shapes))]) for name in "xyz"}
        names, lines = list(sources), []
        for output in "abcdefg"[:n]:
            symbol = symbols[random.integers(len(symbols))]
            inputs: list[Any] = [names[-1] if random.random() < 0.5 else names[random.integers(len(names))]]
            if not symbol.startswith("np."):
                other = names[random.integers(len(names))] if random.random() < 0.8 else float(random.integers(2, 5))
                inputs = [inputs[0], other] if random.random() < 0.5 else [other, inputs[0]]
            lines.append(Line(output, symbol, tuple(inputs)))
            names.append(output)
        programs.append(Program(sources, tuple(lines), names[-1 - int(random.random() < 0.2)]))
    return programs


def _drawn(random: Any, shape: tuple[int, ...]) -> Any:
    drawn = np.round(random.uniform(0.5, 2.0, size=shape), 1)
    return drawn if shape else float(drawn)


ROW, COLUMN = np.array([1.0, 2.0, 3.0]), np.array([[1.0], [4.0]])
NUMBERS = [
    [
        _program("a = x * y", "a", x=3.0, y=5.0),
        _program("a = x + x", "a", x=3.0, y=5.0),
        _program("a = x * x", "a", x=3.0, y=5.0),
        _program("a = x - 2.0; b = 3.0 - a", "b", x=3.0, y=5.0),
        _program("a = x * y; b = a + x", "b", x=3.0, y=5.0),
        _program("a = x + y; b = a * a; c = b * x", "b", x=3.0, y=5.0),
        _program("a = x + x; b = a + a", "b", x=3.0, y=5.0),
        _program("a = x * x; b = np.sin(y); c = y * 2.0", "a", x=3.0, y=5.0),
        _program("a = x - x; b = a * a", "b", x=3.0, y=5.0),
        *draw(60, ("+", "-", "*", "np.sin"), ((),), 20250401),
    ]
]
EXPONENTIAL = _program("a = np.exp(x); b = a * y", "b", x=0.5, y=3.0)
ARRAYS = [
    [_program("a = x * y", "a", x=ROW, y=ROW[::-1].copy()), _program("a = x + y", "a", x=ROW, y=ROW[::-1].copy())],
    [
        _program("a = np.mean(x)", "a", x=ROW),
        _program("a = x * y; b = np.mean(a)", "b", x=ROW, y=2.0),
        _program("a = x * y; b = np.mean(a)", "b", x=ROW, y=COLUMN),
        _program("a = x * y; b = np.mean(a)", "b", x=np.array([[5.0, 6.0, 7.0]]), y=COLUMN),
    ],
    [_program("a = np.sin(x); b = x + y; c = b * a", "c", x=ROW, y=ROW[::-1].copy())],
    [_program("a = x + y; b = a * x", "b", x=2.0, y=3.0)],
    draw(60, ("+", "-", "*", "np.sin", "np.mean"), SHAPES, 20250402),
]
QUOTIENTS = [
    [
        _program("a = x / y", "a", x=6.0, y=2.0),
        _program("a = 1.0 / x", "a", x=2.0, y=2.0),
        _program("a = x / 2.0", "a", x=2.0, y=2.0),
        _program("a = x / y; b = a * a", "b", x=6.0, y=2.0),
        *draw(20, ("+", "*", "/"), ((),), 20250403),
    ],
    draw(20, ("+", "*", "/"), SHAPES, 20250404),
]
"""Groups of programs. A mistake is named by the first group in which it shows."""


# Mistakes ---------------------------------------------------------------------------------------------------------

Rule = Callable[..., tuple[Any, ...]]
RULES: dict[str, Rule] = {
    "+": lambda g, z, x, y: (g, g),
    "-": lambda g, z, x, y: (g, -g),
    "*": lambda g, z, x, y: (g * y, g * x),
    "/": lambda g, z, x, y: (g / y, -g * z / y),
    "np.sin": lambda g, z, x: (g * np.cos(x),),
    "np.exp": lambda g, z, x: (g * z,),
    "np.mean": lambda g, z, x: (g / np.size(x) * np.ones(np.shape(x)),),
}


def fold(g: Any, shape: tuple[int, ...], left: bool = True, ones: bool = True) -> Any:
    """Undo broadcasting, on the left, in axes of length 1, or both. An array that already fits is returned itself."""
    if np.shape(g) == shape:
        return g
    if left:
        g = np.sum(g, axis=tuple(range(max(np.ndim(g) - len(shape), 0))))
    if ones:
        g = np.sum(g, axis=tuple(k for k, n in enumerate(shape[-np.ndim(g) :]) if n == 1), keepdims=True)
    return g


def _same(g: Any, shape: tuple[int, ...]) -> Any:
    return g


def walk(program: Program, slip: str = "", rules: dict[str, Rule] = RULES, fold: Any = fold) -> Gradients:
    """Walk back over a program as a tape with this slip does; without a slip, correctly."""
    values = program.run(program.sources)
    target = program.lines[-1].output if slip == "last" else program.target
    seed: Any = np.ones(np.shape(values[target]))[()]
    if slip in ("seed", "one", "one, shape of g"):
        seed = values[target] if slip == "seed" else 1.0
    elif slip == "in place":
        seed = np.array(seed)
    cotangents: dict[str, Any] = {} if slip == "unseeded" else {target: seed}

    def pull(line: Line, deeper: bool = False) -> bool:
        output, symbol, inputs = line
        if (g := cotangents.get(output, 0.0 if slip == "dead" else None)) is None or (
            slip == "not g" and not np.any(g)
        ):
            return False
        if slip == "without g":
            g = np.ones(np.shape(g))[()]
        parts = rules[symbol](g, values[output], *(values[x] if isinstance(x, str) else x for x in inputs))
        before = dict(cotangents)
        for x, part in zip(inputs, parts[::-1] if slip == "swapped" else parts, strict=False):
            if not isinstance(x, str):
                if slip == "inside pairs":
                    break
                continue
            fits = g if slip.endswith("shape of g") else values[output if slip == "output" else x]
            part = fold(part, np.shape(fits))
            if slip == "overwrite" or x not in cotangents:
                cotangents[x] = part
            elif slip == "in place" and isinstance(cotangents[x], np.ndarray):
                cotangents[x] += part
            elif slip == "twice" and x in before:
                cotangents[x] = before[x] + part
            else:
                cotangents[x] = part if slip == "twice" else cotangents[x] + part
            if deeper:
                for earlier in program.lines:
                    if earlier.output == x:
                        pull(earlier, deeper)
            if slip.startswith("inside "):
                break
        return True

    if slip == "early":
        for line in program.lines:
            if line.output == program.target:
                pull(line, deeper=True)
    else:
        for line in program.lines if slip == "forwards" else reversed(program.lines):
            reached = pull(line)
            if slip == "inside" or (slip.startswith("inside ") if reached else slip == "break"):
                break
    absent = 0.0 if slip == "zero" else None
    return {name: cotangents.get(name, absent) for name in program.sources}


OF_THE_BOX = "Take the shape of the number, not of the box: `np.shape(x.number)`."
OF_A_NUMBER = "A plain number has neither a length nor a `.shape`. `np.shape` is right for numbers and for arrays."
ON_BOXES = (
    "Rules take numbers, not boxes: `entry.output.number`, `number_of(x)` for each input, and a "
    "seed made of `target.number`."
)
POWER = "Python's power is `**`."
ONE_EACH = "A rule returns a tuple, one contribution for each input."
MEANT = {
    "'NoneType' object is not iterable": "`list.reverse()` reverses the list itself and returns None. "
    "`reversed(list)` leaves it as it is.",
    "not iterable": ONE_EACH,
    "tuple index out of range": ONE_EACH,
    "index to scalar": ONE_EACH,
    "<lambda>() missing": "A rule takes `g`, the number of the output, and then each input: "
    "`rule(g, entry.output.number, *numbers)`.",
    "for ^": POWER,
    "bitwise_xor": POWER,
    "but 4 were given": "A rule takes `g`, the output `z`, and then the inputs.",
    "for +: 'NoneType'": "`cotangents.get(x)` is None where nothing has arrived yet. `cotangents.get(x, 0.0)` is 0.",
    "'NoneType'": "None was pulled back. An entry whose output has no cotangent does not lead to the target: skip it.",
    "truth value of an array": "`if not g` asks whether an array is true. Ask `if g is None`.",
    "'Value' has no len": OF_THE_BOX,
    "'Value' object has no attribute 'shape'": OF_THE_BOX,
    "sequence of integers": OF_THE_BOX,
    "has no len": OF_A_NUMBER,
    "no attribute 'shape'": OF_A_NUMBER,
    "'Value'": ON_BOXES,
    "interpreted as an integer": "`np.ones` takes a shape: `np.ones(np.shape(target.number))`.",
}
"""What an error with these words usually means in a walk; the first that fits."""
ERRORS = TypeError, ValueError, IndexError, AttributeError
INSIDE = "At most one contribution got through: does `return` stand inside the loops?"
ONES = "The seed of an array has to be an array: ones, in the shape of the target."
HINTS = {
    "overwrite": "Your walk overwrites: of several contributions to one value, only the last survives. Add each to "
    "what is already there.",
    "twice": "A value that is used twice in one line, as in `x * x`, gets only one of its two contributions. A dict "
    "made of inputs and contributions has room for only one of them: loop over the pairs instead.",
    "forwards": "Only the target's own entry was pulled back: does your walk go forwards, or does `return` stand "
    "inside the loop?",
    "inside": "Only the last entry was looked at: does `return` stand inside the loop?",
    "inside both": INSIDE,
    "inside pairs": INSIDE,
    "break": "Your walk ends at the first entry that does not lead to the target, as `break` does. Skip only that "
    "one, with `continue`.",
    "unseeded": "All slopes are None: nothing flowed. Is the seed at the target, do you walk over `self.entries`, and "
    "do the contributions go to the inputs?",
    "swapped": "The contributions have changed places: the first one belongs to the first input.",
    "not g": "`if not g` skips a cotangent of 0 too, and 0 is an answer. Ask `if g is None`.",
    "early": "Your walk pulls a value back before its cotangent is complete, as in chapter 2, where 4 became 6. Go "
    "through the list from its end, once.",
    "last": "Your walk starts at the last entry. The target may come from an earlier one, so put the seed at the "
    "target.",
    "zero": "Your tape returns 0 for a source that the target was not computed from. No path leads there, so return "
    "None.",
    "dead": "Entries that don't lead to the target send zeros back, and a zero is not None. Skip an entry whose "
    "output has no cotangent.",
    "seed": "Your seed is the value of the target. If you nudge the target by one, how far does it move?",
    "without g": "Your walk pulls every line back as if a 1 had arrived. Pass the rule the cotangent of the entry's "
    "output.",
    "one": ONES,
    "in place": "`+=` writes into an array that another value may share: the rule of `x + y` sends the same g to "
    "both. Write `a = a + b`, which makes a new array.",
    "output": "Your walk folds contributions to the shape of the entry's output. But they go to its inputs, and each "
    "of these has a shape of its own.",
    "shape of g": "Your walk folds all contributions to one shape, that of the target or of `g`. But they go to the "
    "inputs, and each of these has a shape of its own.",
    "one, shape of g": ONES,
}
"""What to say of each slip of `walk`."""
SLIPS: dict[str, tuple[Callable[[Program], Gradients], str]] = {
    **{name: (partial(walk, slip=name), hint) for name, hint in HINTS.items()},
    "unfolded": (
        partial(walk, fold=_same),
        "Your walk does not add up the contributions where a value was copied. Fold each to the shape of its input.",
    ),
    "left": (
        partial(walk, fold=partial(fold, ones=False)),
        "Your `fold` adds up axes that were new on the left, but not axes of length 1 that were stretched.",
    ),
    "ones": (
        partial(walk, fold=partial(fold, left=False)),
        "Your `fold` adds up stretched axes of length 1, but not axes that were new on the left.",
    ),
}
"""By name: the gradients that a tape with this slip computes for a program, and the hint."""
ON_NUMBERS = tuple(SLIPS)[: tuple(SLIPS).index("one")]
"""The slips that a walk over numbers can have."""


def _quotient(rule: Rule) -> Callable[[Program], Gradients]:
    return partial(walk, rules=RULES | {"/": rule})


WRONG_QUOTIENTS: list[tuple[Callable[[Program], Gradients], str]] = [
    (
        _quotient(lambda g, z, x, y: (g / y, g * x / y**2)),
        "A larger y makes x / y smaller. Which sign does dz/dy have?",
    ),
    (_quotient(lambda g, z, x, y: (g / y, -g * x / y)), "The slope of 1 / y is -1 / y**2. There is a square in it."),
    (_quotient(lambda g, z, x, y: (g / y, -g / y**2)), "y gets x times the slope of 1 / y. Where is the x?"),
    (_quotient(lambda g, z, x, y: (-g * x / y**2, g / y)), "The two contributions have changed places: x comes first."),
    (
        _quotient(lambda g, z, x, y: (1 / y * np.ones(np.shape(g)), -x / y**2 * np.ones(np.shape(g)))),
        "The cotangent g is left out. Both contributions are multiplied by it.",
    ),
    (
        _quotient(lambda g, z, x, y: (1 / y * np.ones(np.shape(g)), -g * x / y**2)),
        "The cotangent g is left out of the first contribution.",
    ),
    (
        _quotient(lambda g, z, x, y: (g / y, -x / y**2 * np.ones(np.shape(g)))),
        "The cotangent g is left out of the second contribution.",
    ),
    (
        _quotient(lambda g, z, x, y: (g / y,)),
        "Your rule returns one contribution, the one to x. The divisor y needs one too.",
    ),
    (
        _quotient(lambda g, z, x, y: (g, -g * x / y**2)),
        "The 1 / y is forgotten in the first contribution: x / y is x times 1 / y.",
    ),
    (_quotient(lambda g, z, x, y: (g * y, g * x)), "That is the rule of a product."),
]
"""The gradients that tapes with a wrong rule for division compute, each with the hint."""
