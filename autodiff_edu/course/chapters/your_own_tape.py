"""Your own tape: five gaps in it, and a learner's tape against the package's on random calculations."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from traceback import walk_tb
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import constant
from ...gradient_tape import GradientTape
from ...text.formatting import derivative
from ..exercises import Case, CaseOutcome, Exercise, Function, Judge
from ..feedback import STILL_MISSING, Feedback, NotYet, call, near, numbers, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "`w` is a value that a tape watches. How does the tape find out about `w * km`?",
        answer="Python asks w to multiply, and w tells the tape",
        choices=(
            "The tape reads the source code",
            "Python asks w to multiply, and w tells the tape",
            "The package changes what * means for all numbers",
            "The tape looks at all values after each line",
        ),
        hints={
            "The tape reads the source code": "In chapter 1 it didn't know about the loop. If it had read the code, it "
            "would have.",
            "The package changes what * means for all numbers": "Then 2.0 * 3.0 would leave an entry. What is w?",
            "The tape looks at all values after each line": "`w * km` has no name, yet it got an entry.",
        },
        why="`w` isn't a plain number, and Python leaves the work to it.",
    ),
    Prediction(
        "With that slip, what is `10.0 - x`, with x = 4?",
        answer=-6,
        hints={
            6: "That is what it should be. With the slip, which number is subtracted from which?",
            14: "Nothing is added. `self` is x, and `other` is 10.",
            -14: "`self` is x, and `other` is 10. Subtract one from the other.",
        },
        why="`self` is x, so 4 - 10 is computed. The slope would have the wrong sign, too.",
    ),
    Prediction(
        "Your `__enter__` opens the list and returns nothing. After `with Tape() as tape:`, what is `tape`?",
        answer="None",
        choices=("the Tape", "its list of entries", "None", "an error is raised at `with`"),
        hints={
            "the Tape": "`as tape` names what `__enter__` returns. What does a function without a `return` return?",
            "its list of entries": "`as tape` names what `__enter__` returns. What does a function without a `return` "
            "return?",
            "an error is raised at `with`": "Python is content with whatever `__enter__` returns. When would you "
            "notice?",
        },
        why="`as tape` names what `__enter__` returns. You would notice at `tape.gradient`, far from the cause.",
    ),
    Prediction(
        "The entries are `t = np.sin(x)` and `y = x * t`, at x = 2, with sin(2) = 0.909. What does a walk from the "
        "first to the last leave at `x`?",
        answer=0.909297,
        hints={
            0.077: "That is the right slope. When the walk comes to `t = np.sin(x)`, has anything arrived at t?",
            -0.832294: "That comes from `t = np.sin(x)`. Has anything arrived at t when the walk is there?",
            0: "The last entry, `y = x * t`, is the target's. It is pulled back.",
            2: "That goes to t, too late to be passed on.",
        },
        why="At the first entry nothing has arrived at t, so it is skipped. Only y = x * t sends something, t.",
    ),
    Prediction(
        "`fit` creates a new tape in each turn. If it opened one and the same tape in every turn, what would it get?",
        answer="the same slopes, from a list that grows",
        choices=(
            "the slopes of all turns, added up",
            "the same slopes, from a list that grows",
            "the same slopes, from a list that begins empty each time",
            "an error at the second `with`",
        ),
        hints={
            "the slopes of all turns, added up": "The walk begins at this turn's loss. Does anything arrive at the outputs "
            "of earlier turns?",
            "the same slopes, from a list that begins empty each time": "Which line of your `Tape` makes the list empty, "
            "and when does it run?",
            "an error at the second `with`": "Is there anything in your `__enter__` that can't be done twice?",
        },
        why="Nothing arrives at the outputs of earlier turns, so the walk skips them. But they stay, with their arrays.",
    ),
    Prediction(
        "What will the loss be after 40 turns at the rate 15?",
        answer="far below 9",
        choices=("it grows without end", "still in the hundreds", "close to 9, the traffic's share", "far below 9"),
        hints={
            "it grows without end": "With a right gradient it would. But with this tape, a rate of 0.2 did very little.",
            "still in the hundreds": "It did fall at 0.2, and these steps are 75 times as long.",
            "close to 9, the traffic's share": "That is the best that one line can do. Is it still one line?",
        },
        why="No line can do that, and that should worry you.",
    ),
    Prediction(
        "`w` began as the number 0.0. What shape is it now?",
        answer=(200,),
        hints={
            (): "Then there would be one line, and no line has so small a loss. What shape did its slope have?",
            (1,): "Then there would be one line. What shape is `g * y`, in the rule of `w * km`?",
            (200, 200): "Nothing here pairs up deliveries. What shape is `g * y`, in the rule of `w * km`?",
            (2,): "w and b are two values, and each has a shape of its own.",
        },
        why="200 contributions arrived, and nobody added them up.",
    ),
)

# Calculations: the programs that are recorded -----------------------------------------------------------------------

OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "np.sin": np.sin,
    "np.mean": np.mean,
    "np.exp": np.exp,
}
Gradients = dict[str, Any]
"""A gradient, or None, for each source."""


class Equation(NamedTuple):
    """One line of a calculation; an input is a name, or a constant."""

    output: str
    symbol: str
    inputs: tuple[Any, ...]

    def __str__(self) -> str:
        written = [x if isinstance(x, str) else _write(x) for x in self.inputs]
        right = f"{self.symbol}({written[0]})" if len(written) == 1 else f" {self.symbol} ".join(written)
        return f"{self.output} = {right}"


@dataclass(frozen=True, eq=False)
class Calculation:
    """Straight lines to record, and whose gradients to ask the tape for."""

    sources: dict[str, Any]
    lines: tuple[Equation, ...]
    target: str
    plain: str = ""  # the source that is not boxed
    twice: bool = False  # whether the second answer counts
    overwrite: bool = False  # whether to write 100 into the arrays before asking

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {_write(value)}" for name, value in self.sources.items())
        return f"`{'; '.join(map(str, self.lines))}` with {given}"

    @property
    def boxed(self) -> list[str]:
        """The sources whose gradients are asked for."""
        return [name for name in self.sources if name != self.plain]

    @property
    def leading(self) -> set[str]:
        """The names of the values from which the target is computed, and its own."""
        names = {self.target}
        for output, _, inputs in reversed(self.lines):
            if output in names:
                names |= {x for x in inputs if isinstance(x, str)}
        return names

    def run(self, sources: dict[str, Any]) -> dict[str, Any]:
        """Compute every line with values of any kind; return all values by their names."""
        values = dict(sources)
        for output, symbol, inputs in self.lines:
            values[output] = OPERATORS[symbol](*(values[x] if isinstance(x, str) else x for x in inputs))
        return values


def _write(value: Any) -> str:
    return str(np.asarray(value).tolist())


def parse(text: str, target: str, plain: str = "", **sources: Any) -> Calculation:
    """Read a calculation from its text, such as "a = x * y; b = a + 2.0"."""
    lines = []
    for line in text.split("; "):
        output, _, expression = line.partition(" = ")
        parts = expression.removesuffix(")").replace("(", " ").split()
        symbol, inputs = (parts[0], parts[1:]) if len(parts) == 2 else (parts[1], parts[::2])
        lines.append(Equation(output, symbol, tuple(x if x[0].isalpha() else float(x) for x in inputs)))
    return Calculation(sources, tuple(lines), target, plain)


def draw(count: int, symbols: tuple[str, ...], shapes: tuple[tuple[int, ...], ...], seed: int) -> list[Calculation]:
    """Draw calculations of two to seven lines, the short ones first."""
    random = np.random.default_rng(seed)

    def number(shape: tuple[int, ...]) -> Any:
        drawn = np.round(random.uniform(0.5, 2.0, size=shape), 1)
        return drawn if shape else float(drawn)

    calculations = []
    for n in np.linspace(2, 7.99, count).astype(int):
        sources = {name: number(shapes[random.integers(len(shapes))]) for name in "xyz"}
        names, lines = list(sources), []
        for output in "abcdefg"[:n]:
            symbol = symbols[random.integers(len(symbols))]
            inputs: list[Any] = [names[-1] if random.random() < 0.5 else names[random.integers(len(names))]]
            if not symbol.startswith("np."):
                other = names[random.integers(len(names))] if random.random() < 0.8 else float(random.integers(2, 5))
                inputs = [inputs[0], other] if random.random() < 0.5 else [other, inputs[0]]
            lines.append(Equation(output, symbol, tuple(inputs)))
            names.append(output)
        calculations.append(Calculation(sources, tuple(lines), names[-1 - int(random.random() < 0.2)]))
    return calculations


TWICE = parse("a = x * y; b = a + x", "b", x=3.0, y=5.0)
EXPONENTIAL = parse("a = np.exp(x); b = a * y", "b", x=0.5, y=3.0)
# Gradients: the right ones, those of tapes with classic mistakes, and a learner's -----------------------------------

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


@cache
def solve(calculation: Calculation) -> Gradients:
    """Compute the gradients with the package's own tape."""
    sources = {name: constant(value) for name, value in calculation.sources.items()}
    with GradientTape() as tape:
        tape.watch([sources[name] for name in calculation.boxed])
        target = calculation.run(sources)[calculation.target]
    slopes = tape.gradient(target, {name: sources[name] for name in calculation.boxed})
    return {name: None if slope is None else slope.numpy() for name, slope in slopes.items()}


def fold(g: Any, shape: tuple[int, ...], left: bool = True, ones: bool = True) -> Any:
    """Undo broadcasting, on the left, in axes of length 1, or both. An array that already fits is returned itself."""
    if np.shape(g) == shape:
        return g
    if left:
        g = np.sum(g, axis=tuple(range(max(np.ndim(g) - len(shape), 0))))
    if ones:
        g = np.sum(g, axis=tuple(k for k, n in enumerate(shape[-np.ndim(g) :]) if n == 1), keepdims=True)
    return g


def walk(calculation: Calculation, slip: str = "", rules: dict[str, Rule] = RULES, fold: Any = fold) -> Gradients:
    """Walk back over a calculation as a tape with this slip does; without a slip, correctly."""
    values = calculation.run(calculation.sources)
    target = calculation.lines[-1].output if slip == "last" else calculation.target
    seed: Any = np.ones(np.shape(values[target]))[()]
    if slip in ("seed", "one", "one, shape of g"):
        seed = values[target] if slip == "seed" else 1.0
    elif slip == "in place":
        seed = np.array(seed)
    cotangents: dict[str, Any] = {} if slip == "unseeded" else {target: seed}

    def pull(line: Equation, deeper: bool = False) -> bool:
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
                for earlier in calculation.lines:
                    if earlier.output == x:
                        pull(earlier, deeper)
            if slip.startswith("inside "):
                break
        return True

    if slip == "early":
        for line in calculation.lines:
            if line.output == calculation.target:
                pull(line, deeper=True)
    else:
        for line in calculation.lines if slip == "forwards" else reversed(calculation.lines):
            reached = pull(line)
            if slip == "inside" or (slip.startswith("inside ") if reached else slip == "break"):
                break
    absent = 0.0 if slip == "zero" else None
    return {name: cotangents.get(name, absent) for name in calculation.boxed}


INSIDE = "At most one contribution got through: does `return` stand inside the loops?"
ON_NUMBERS = {
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
}
"""What to say of the slips of `walk` that a walk over numbers can have."""
# A learner's tape ---------------------------------------------------------------------------------------------------

PAIR = "Hand in two classes, the tape and the value, as in `answer = Mine, Value`."
IS_Z = "Here the rule is chapter 2's `(g * z,)`. Is z the number of the output?"
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


def gradients_of(tape: Any, value: Any, calculation: Calculation) -> Gradients:
    """Return what a learner's tape says. For `np.exp`, the learner's table has a rule meanwhile."""
    if calculation is not EXPONENTIAL:
        return ask(tape, value, calculation)
    table = table_beside(value)
    before = dict(table)
    table[np.exp] = RULES["np.exp"]
    try:
        return ask(tape, value, calculation)
    except NotYet as hint:
        if "no rule for" in str(hint):  # this tape has its rules elsewhere
            return solve(calculation)
        raise NotYet(f"{hint} {IS_Z}") from None
    finally:
        table.clear()
        table.update(before)


def table_beside(value: Any) -> dict[Any, Any]:
    """Return the table of rules beside a learner's Value, in the notebook."""
    table = getattr(getattr(value, "__mul__", None), "__globals__", {}).get("RULES")
    return table if isinstance(table, dict) else {}


def ask(tape: Any, value: Any, calculation: Calculation) -> Gradients:
    """Record a calculation on a learner's tape and ask for the gradients."""
    recording = call(tape, written="Your tape()")
    parts = {name: np.copy(part) if np.ndim(part) else part for name, part in calculation.sources.items()}
    sources = {name: part if name == calculation.plain else value(part) for name, part in parts.items()}
    try:
        with recording:
            values = calculation.run(sources)
    except Exception as error:
        raise NotYet(
            f"Recording {calculation} raised {type(error).__name__}: {shorten(str(error))}. Have you changed `apply`?"
        ) from error
    if calculation.overwrite:
        for part in filter(np.ndim, parts.values()):
            part[...] = 100.0
    slopes: Any = None
    for _ in range(1 + calculation.twice):
        try:
            named = [sources[name] for name in calculation.boxed]
            slopes = call(recording.gradient, values[calculation.target], named, written=_call(calculation))
        except NotYet as refused:
            raise NotYet(re.sub(r" at 0x[0-9a-fA-F]+", "", _explain(refused, calculation, values))) from None
    if hint := _hint_of_slopes(slopes, calculation):
        raise NotYet(hint)
    pairs = zip(calculation.boxed, slopes, strict=True)
    return {name: None if slope is None else numbers(slope, f"the slope for {name}") for name, slope in pairs}


def _call(calculation: Calculation) -> str:
    return f"For {calculation}, `gradient({calculation.target}, [{', '.join(calculation.boxed)}])`"


def _hint_of_slopes(slopes: Any, calculation: Calculation) -> str:
    """Return a hint for what is not a list of slopes."""
    if slopes is ...:
        return "Replace the three dots: `gradient` is still missing."
    if slopes is None:
        return "Your `gradient` returns None. End it with `return`, and a list: one slope for each source."
    count = len(calculation.boxed)
    if not isinstance(slopes, tuple | list) or len(slopes) != count:
        given = f"{_call(calculation)} returns {shorten(slopes)}."
        return f"{given} Return a list with one slope for each of the {count} sources."
    if any(hasattr(slope, "number") for slope in slopes):
        return f"For {calculation}, the slopes are Values. {ON_BOXES}"
    return ""


def _explain(hint: NotYet, calculation: Calculation, values: dict[str, Any]) -> str:
    """Return what a walk raised, with what it usually means."""
    error = hint.__cause__
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], np.ufunc):
        return f"For {calculation} your tape finds no rule for `np.{error.args[0].__name__}` in `RULES`."
    if isinstance(error, KeyError) and _nothing_yet(error, calculation, values):
        return (
            f"{_call(calculation)} raised KeyError. When the first contribution arrives, nothing is there yet: "
            "`cotangents.get(x, 0.0) + contribution`."
        )
    if isinstance(error, KeyError):
        return (
            f"{_call(calculation)} raised KeyError: it looked for a cotangent where there is none. Not every entry "
            "and not every source leads to the target, so use `.get`."
        )
    for words, meant in MEANT.items():
        if isinstance(error, ERRORS) and words in str(error):
            return f"{hint} {meant}"
    return str(hint)


def _nothing_yet(error: KeyError, calculation: Calculation, values: dict[str, Any]) -> bool:
    """Return whether the key leads to the target and is not the output of the entry in hand, but one of its inputs."""
    key = error.args[0] if error.args else None
    place = key if isinstance(key, int) else id(key)
    seen = [x for frame, _ in walk_tb(error.__traceback__) for x in frame.f_locals.values()]
    if any(id(getattr(x, "output", None)) == place for x in seen):
        return False
    return any(id(values[name]) == place for name in calculation.leading)


# The exercises ------------------------------------------------------------------------------------------------------


def compute(calculations: Sequence[Calculation], gradients: Any) -> list[dict[str, Any]]:
    """Return the gradients of calculations, with their shapes, for (1,) is not the shape of a number."""
    found = map(gradients.__wrapped__, calculations)
    return [{name: None if g is None else (np.shape(g), g) for name, g in each.items()} for each in found]


def group(
    calculations: Sequence[Calculation], hint: str = "Go through it with a pencil, from the last line up."
) -> Case:
    """Return the case of some calculations."""
    return Case(partial(compute, calculations), hint)


@dataclass(frozen=True, eq=False)
class OwnTape(Function):
    """Two classes, a tape and its value, compared in the gradients of calculations.

    The answers that the exercise itself knows, right and wrong, are partials that compute such gradients.

    Parameters
    ----------
    first : callable
        Is given the two classes, and raises `NotYet` if they are not worth asking.
    """

    signature: str = "gradients(calculation)"
    first: Callable[[Any, Any], object] = lambda tape, value: None

    def read(self, given: Any, name: str = "your answer") -> list[CaseOutcome]:
        """Return the gradients of each group."""
        if not isinstance(given, partial):
            tape, value = tape_and_value(given)
            self.first(tape, value)
            given = partial(gradients_of, tape, value)
        return super().read(given)

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint, after the first gradients that are wrong."""
        hint = super().lead_on(given, seen, right, name)
        place = list(map(self._same, self.cases, seen, right)).index(False)
        case: Any = self.cases[place]
        answers = zip(case.of.args[0], seen[place].value or (), right[place].value, strict=False)
        for calculation, found, wanted in answers:  # none, if it was refused
            if said := " and ".join(self._compare_each(case, found, wanted, calculation.target)):
                return f"For {calculation}, {said}. {hint}"
        return hint

    def _compare_each(self, case: Case, found: Gradients, wanted: Gradients, target: str) -> Iterator[str]:
        for name, slope in wanted.items():
            if not self._same(case, CaseOutcome(found[name]), CaseOutcome(slope)):
                yield f"{derivative(target, name)} is {_write_slope(slope)}, but your tape says {_write_slope(found[name])}"


def _write_slope(slope: Any) -> str:
    return "None" if slope is None else shorten(np.round(slope[1], 4).tolist())


def tape_and_value(answer: Any) -> tuple[Any, Any]:
    """Return the two classes of an answer, the tape first."""
    if not isinstance(answer, tuple | list) or len(answer) != 2 or not all(isinstance(part, type) for part in answer):
        raise NotYet(f"{PAIR} This is {shorten(answer)}.")
    tape, value = answer if hasattr(answer[0], "gradient") else reversed(answer)
    if not hasattr(tape, "gradient") or not hasattr(tape, "__enter__"):
        raise NotYet(f"{PAIR} Neither of these has `gradient` and `__enter__`, so which one is the tape?")
    if getattr(call(value, 2.0, written="Value(2.0)"), "number", None) != 2.0:
        raise NotYet(f"{PAIR} A value made by `Value(2.0)` should have the `number` 2.0.")
    return tape, value


NOBODY = (lambda: None).__code__
"""What nobody calls."""


def walks_itself(instead: str, tape: Any, value: Any) -> None:
    """Refuse a tape that leaves its backward pass to another tape's `gradient`, or to a function called `walk`."""
    if "gradient" not in vars(tape):
        raise NotYet(f"`{tape.__name__}` has no `gradient` of its own. {instead}")
    refused: dict[CodeType, str] = {}
    for owner in tape.__mro__:
        gradient = vars(owner).get("gradient")
        others = {"walk": getattr(gradient, "__globals__", {}).get("walk")}
        if owner is not tape:
            others[f"{owner.__name__}.gradient"] = gradient
        refused |= {getattr(f, "__code__", NOBODY): name for name, f in others.items()}
    found: list[str] = []

    def heard(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in refused:
            found.append(refused[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(heard)
    try:
        with suppress(Exception):  # it is asked again, and then there is a hint for it
            ask(tape, value, TWICE)
    finally:
        sys.setprofile(before)
    if found:
        raise NotYet(f"This leaves the work to `{found[0]}`. {instead}")


AGAIN = group(
    [replace(TWICE, twice=True)],
    "The first answer is right, but asked again, the same tape gives another. Did the first walk reverse or empty "
    "`self.entries`, or keep its cotangents? Leave the list as it is: `reversed(self.entries)`.",
)
HANDS_OVER_Z = group([EXPONENTIAL], IS_Z)

SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 1), (2, 3))
"""Shapes that all fit together."""
QUOTIENTS = [
    [
        parse("a = x / y", "a", x=6.0, y=2.0),
        parse("a = 1.0 / x", "a", x=2.0, y=2.0),
        parse("a = x / 2.0", "a", x=2.0, y=2.0),
        parse("a = x / y; b = a * a", "b", x=6.0, y=2.0),
        *draw(20, ("+", "*", "/"), ((),), 20250403),
    ],
    draw(20, ("+", "*", "/"), SHAPES, 20250404),
]
"""Groups of calculations. A mistake is named by the first group in which it shows."""


def quotient(rule: Rule) -> partial[Gradients]:
    """Return a walk with another rule for division."""
    return partial(walk, rules=RULES | {"/": rule})


def divides(tape: Any, value: Any) -> None:
    """Refuse a value that does not divide forward, a tape that does not hear of it, and half a rule."""
    quotients = (
        ("Value(6.0) / Value(2.0)", "__truediv__", lambda: value(6.0) / value(2.0)),
        ("Value(6.0) / 2.0", "__truediv__", lambda: value(6.0) / 2.0),
        ("6.0 / Value(2.0)", "__rtruediv__", lambda: 6.0 / value(2.0)),
    )
    hints = chain(
        (_hint_of_quotient(value, *each) for each in quotients),
        (_hint_of_entries(tape, value, calculation) for calculation in QUOTIENTS[0][:3]),
        map(_hint_of_rule, [value]),
    )
    if hint := next(filter(None, hints), ""):
        raise NotYet(hint)


def _hint_of_quotient(value: Any, written: str, method: str, divide: Callable[[], Any]) -> str:
    """Return a hint if a quotient is not a Value with the number 3."""
    try:
        given = call(divide, written=written)
    except NotYet as refused:
        again = f" `/` asks `{method}` again: call `apply`." * isinstance(refused.__cause__, RecursionError)
        missing = f" `{value.__name__}` has no `{method}`." * (not hasattr(value, method))
        return f"{refused}{again}{missing}"
    if given is ...:
        return STILL_MISSING.format(written)
    if type(given) in value.__mro__[1:-1]:
        above = type(given).__name__
        return f"`apply` makes `{above}`s, so add the methods to `{above}` itself."
    if given is None:
        return f"{written} is None. Is a `return` missing?"
    if not isinstance(given, value):
        return f"{written} is {shorten(given)}, not a Value, so no tape can follow it. Let `apply` compute it."
    number = numbers(getattr(given, "number", None), written)
    if near(number, 1 / 3):
        return f"{written} is {number:.6g}: it is divided the wrong way round. Which of the two is `self`?"
    return "" if near(number, 3.0) else f"{written} should have the number 3, but it has {shorten(number.tolist())}."


def _hint_of_rule(value: Any) -> str:
    """Return a hint for a rule that leaves a contribution out."""
    parts: Any = ()
    with suppress(Exception):  # the walk raises it again, and there is a hint for it
        parts = table_beside(value)[np.divide](1.0, 3.0, 6.0, 2.0)
    if parts is None or (isinstance(parts, tuple | list) and any(part is None for part in parts)):
        return f"Your rule returns {shorten(parts)}. Is a `return` or a contribution missing? {ONE_EACH}"
    return ""


def _hint_of_entries(tape: Any, value: Any, calculation: Calculation) -> str:
    """Return a hint if a tape doesn't hear of a quotient, or of what it was made of."""
    recording = tape()
    sources = {name: value(part) for name, part in calculation.sources.items()}
    with recording:
        calculation.run(sources)
    entries: Any = getattr(recording, "entries", True)
    if not entries:
        return f"The numbers are right, but no tape has heard of `{calculation.lines[0]}`. Let `apply` compute it."
    with suppress(TypeError, AttributeError):  # entries of another kind
        known = [id(x) for entry in entries for x in entry.inputs]
        for name in calculation.lines[0].inputs:
            if name in sources and id(sources[name]) not in known:
                return f"Hand `apply` the boxes, not their numbers. Otherwise the entry doesn't know {name}."
    return ""


DIVISION = OwnTape(
    "Teach it to divide",
    """\
Your tape can't divide. NumPy's name for `/` is `np.divide`, and the two magic methods are `__truediv__` (`x / 2.0` asks x) and `__rtruediv__` (`2.0 / x` asks x, the one on the right). Write both, and the rule. Arrays come for free: your walk takes care of shapes.""",
    first=divides,
    cases=[group(calculations) for calculations in QUOTIENTS],
    answer=partial(solve),
    spellings=[quotient(lambda g, z, x, y: (g / y, -g * x / y**2))],
    hints=[
        (
            quotient(lambda g, z, x, y: (g / y, g * x / y**2)),
            "A larger y makes x / y smaller. Which sign does dz/dy have?",
        ),
        (quotient(lambda g, z, x, y: (g / y, -g * x / y)), "The slope of 1 / y is -1 / y**2. There is a square in it."),
        (quotient(lambda g, z, x, y: (g / y, -g / y**2)), "y gets x times the slope of 1 / y. Where is the x?"),
        (
            quotient(lambda g, z, x, y: (-g * x / y**2, g / y)),
            "The two contributions have changed places: x comes first.",
        ),
        (
            quotient(lambda g, z, x, y: (1 / y * np.ones(np.shape(g)), -x / y**2 * np.ones(np.shape(g)))),
            "The cotangent g is left out. Both contributions are multiplied by it.",
        ),
        (
            quotient(lambda g, z, x, y: (1 / y * np.ones(np.shape(g)), -g * x / y**2)),
            "The cotangent g is left out of the first contribution.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, -x / y**2 * np.ones(np.shape(g)))),
            "The cotangent g is left out of the second contribution.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y,)),
            "Your rule returns one contribution, the one to x. The divisor y needs one too.",
        ),
        (
            quotient(lambda g, z, x, y: (g, -g * x / y**2)),
            "The 1 / y is forgotten in the first contribution: x / y is x times 1 / y.",
        ),
        (quotient(lambda g, z, x, y: (g * y, g * x)), "That is the rule of a product."),
        (
            quotient(lambda g, z, x, y: (g / y, g * x)),
            "The first is right. The second is that of a product: x / y is x times 1 / y. What is the slope of 1 / y?",
        ),
        (
            quotient(lambda g, z, x, y: (-g / y, g * x / y**2)),
            "The two signs have changed places. A larger x makes x / y larger, and a larger y makes it smaller.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, -g * z**2)),
            "In the second contribution only y is squared: z**2 is x**2 / y**2.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, x / y**2 * np.ones(np.shape(g)))),
            "The first is right. In the second, g is left out, and a sign: a larger y makes x / y smaller.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, g / x)),
            "The first is right. For the second, x / y is x times 1 / y. What is the slope of 1 / y?",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, -g * x / 2 * y)),
            "`/ 2 * y` divides by 2 and then multiplies by y. The square of y is `y**2`.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, -g * x * y**2)),
            "You multiply by y**2. The slope of 1 / y is -1 / y**2: divide by it.",
        ),
        (
            quotient(lambda g, z, x, y: (g / y, -g * y / x**2)),
            "In the second contribution x and y have changed places. It is x times the slope of 1 / y, -1 / y**2.",
        ),
    ],
    why="Division works from both sides, forward and backward, for numbers and for arrays.",
    minutes=8,
)

ROW, COLUMN = np.array([1.0, 2.0, 3.0]), np.array([[1.0], [4.0]])
ARRAYS = [
    [parse("a = x * y", "a", x=ROW, y=ROW[::-1].copy()), parse("a = x + y", "a", x=ROW, y=ROW[::-1].copy())],
    [
        parse("a = np.mean(x)", "a", x=ROW),
        parse("a = x * y; b = np.mean(a)", "b", x=ROW, y=2.0),
        parse("a = x * y; b = np.mean(a)", "b", x=ROW, y=COLUMN),
        parse("a = x * y; b = np.mean(a)", "b", x=np.array([[5.0, 6.0, 7.0]]), y=COLUMN),
    ],
    [parse("a = np.sin(x); b = x + y; c = b * a", "c", x=ROW, y=ROW[::-1].copy())],
    [parse("a = x + y; b = a * x", "b", x=2.0, y=3.0)],
    draw(60, ("+", "-", "*", "np.sin", "np.mean"), SHAPES, 20250402),
]
ONES = "What does the walk start with, and what shape does that need if the target is an array?"
ON_ARRAYS = {
    "one": ONES,
    "in place": "`+=` writes into an array that another value may share: the rule of `x + y` sends the same g to "
    "both. Write `a = a + b`, which makes a new array.",
    "output": "Your walk un-broadcasts contributions to the shape of the entry's output. But they go to its inputs, and each "
    "of these has a shape of its own.",
    "shape of g": "Your walk un-broadcasts all contributions to one shape, that of the target or of `g`. But they go to the "
    "inputs, and each of these has a shape of its own.",
    "one, shape of g": ONES,
}
"""What to say of the slips of `walk` that need arrays."""

MEND = OwnTape(
    "Somebody else's tape",
    """\
Somebody wrote this walk in one piece, and says that it's right for every program they've tried. Three of its lines are wrong. Find and fix them. (One of the three does no harm until the tape is asked twice.)""",
    first=partial(walks_itself, "Fix the three lines here, in this `gradient`."),
    cases=[
        *[group(calculations) for calculations in ARRAYS],
        AGAIN,
        HANDS_OVER_Z,
        group(
            [replace(parse("a = x * k", "a", plain="k", x=2.0, k=ROW), overwrite=True)],
            "The program wrote into an array that your tape had noted, and the slope changed. Note a copy.",
        ),
        group(
            [replace(parse("a = x * x", "a", x=ROW), overwrite=True)],
            "The program wrote into an array that a Value was made of, and the slope changed. `Value` should keep a "
            "copy.",
        ),
    ],
    answer=partial(solve),
    spellings=[partial(walk)],
    hints=[
        *[(partial(walk, slip=slip), hint) for slip, hint in (ON_NUMBERS | ON_ARRAYS).items()],
        (
            partial(walk, fold=lambda g, shape: g),
            "Your walk does not add up the contributions where a value was copied. Un-broadcast each to the shape of its "
            "input.",
        ),
        (
            partial(walk, fold=partial(fold, ones=False)),
            "Your walk adds up axes that were new on the left, but not axes of length 1 that were stretched.",
        ),
        (
            partial(walk, fold=partial(fold, left=False)),
            "Your walk adds up stretched axes of length 1, but not axes that were new on the left.",
        ),
    ],
    why=f"All three are fixed. On {sum(map(len, ARRAYS))} programs with arrays of all shapes, your tape agrees with "
    "ours.",
    minutes=9,
)

# What leads from the sources ------------------------------------------------------------------------------------------


class Box:
    """A value, where the learner's own can't be found."""

    def __init__(self, number: Any) -> None:
        self.number = number


class Line(NamedTuple):
    """An entry."""

    operation: Any
    inputs: list[Any]
    output: Any
    place: Any


Lists = tuple[tuple[str, ...], str]
"""The lines of a program, such as "a x y", and the names of the sources."""
REACHED: list[Lists] = [
    (("a x 2", "b x y", "c y 3", "d b 2"), "x"),
    (("a x 2", "b a 3", "c b 4", "d y y"), "x"),
    (("a x 2", "b a 3"), "a"),
    (("a x x", "b y y"), "z"),
    (("a x y", "b a x", "c z z"), "xy"),
    (("a x K", "b y K", "c b a"), "x"),
]
"""K is a plain array."""


def positions(lists: Lists, function: Any) -> Any:
    """Return the positions, in a list, of the entries that a learner's function returns."""
    lines, names = lists
    given = getattr(function, "__wrapped__", function)
    kind = getattr(given, "__globals__", {}).get("Value", Box)
    values: dict[str, Any] = {name: kind(2.0) for name in "abcdxyz"} | {"K": np.array([1.0, 2.0])}
    entries = [
        Line(np.multiply, [values.get(x) if x.isalpha() else float(x) for x in inputs], values[output], None)
        for output, *inputs in map(str.split, lines)
    ]
    found = function(list(entries), [values[name] for name in names])
    if not isinstance(found, list | tuple):
        raise NotYet(f"`needed` returns {shorten(found)}. Return a list of entries.")
    if any(any(each is entry.output for entry in entries) for each in found):
        raise NotYet("Your list holds outputs. Return the entries themselves.")
    known = {id(entry.output): k for k, entry in enumerate(entries)}
    if not all(isinstance(each, tuple) and len(each) == 4 and id(each[2]) in known for each in found):
        raise NotYet(f"`needed` returns {re.sub(r' at 0x[0-9a-f]+', '', shorten(found))}. Return a list of entries.")
    return [known[id(each[2])] for each in found]


def sweep(
    of: Callable[[Any], bool] = any, grow: bool = True, each: bool = False, order: Any = iter, made: bool = False
) -> Any:
    """Return a function that finds what is needed, or does so with a slip."""

    def needed(entries: Any, sources: Any) -> list[Any]:
        known, found = list(map(id, sources)), []
        for entry in order(entries):
            reached = [id(x) in known for x in entry.inputs if hasattr(x, "number")]
            if of(reached) or (made and id(entry.output) in known):
                found += [entry] * (sum(reached) if each else 1)
                if grow:
                    known.append(id(entry.output))
        return found

    return needed


def between(entries: Any, sources: Any) -> list[Any]:
    """Return what leads to the last line, and not what leads from the sources."""
    known, found = [id(entries[-1].output)], []
    for entry in reversed(entries):
        if id(entry.output) in known:
            found.append(entry)
            known += map(id, entry.inputs)
    return found[::-1]


NEEDED = Function(
    "What could be left out",
    """\
Your tape records everything. Only entries on the way *from* a source can matter, though. Write `needed(entries, sources)`: a list of those entries whose output was computed from at least one of the sources, directly or through other entries, in the order of the tape. (An input may be a plain number or array. Ask only for boxes: `isinstance(x, Value)`.)""",
    signature="needed(entries, sources)",
    cases=[
        Case(
            partial(positions, REACHED[0]),
            "For `a = x * 2; b = x * y; c = y * 3; d = b * 2` and the source x, all but c are needed.",
        ),
        Case(partial(positions, REACHED[1]), "For `a = x * 2; b = a * 3; c = b * 4` and the source x, all three are."),
        Case(
            partial(positions, REACHED[2]),
            "For `a = x * 2; b = a * 3` and the source a, only b is computed from a. How a came about doesn't matter.",
        ),
        Case(partial(positions, REACHED[3]), "No entry uses this source, so none is needed."),
        Case(partial(positions, REACHED[4]), "If both inputs of an entry lead from sources, it is still one entry."),
        Case(
            partial(positions, REACHED[5]),
            "In `a = x * k` an input is a plain array, k. Ask only for boxes: `isinstance(x, Value)`.",
        ),
    ],
    answer=sweep(),
    spellings=[],
    hints=[
        (
            sweep(grow=False),
            "You find the entries that use a source directly. What about those that use *their* outputs?",
        ),
        (
            lambda entries, sources: sweep()(entries, sources)[:1] or None,
            "Only the first entry that is needed is in your list: does `return` stand inside the loop?",
        ),
        (
            sweep(order=reversed),
            "Your loop meets `d = b * 2` before it knows that b leads from x. Which way does this go?",
        ),
        (
            lambda entries, sources: sweep()(entries, sources)[::-1],
            "The right entries, from the last to the first. Return them in the order of the tape.",
        ),
        (sweep(of=all), "One input that leads from a source is enough: in `b = x * y` it's x."),
        (sweep(each=True), "An entry whose two inputs both lead from sources is in your list twice."),
        (
            sweep(made=True),
            "Your list also has the entry that computes a source. How a source came about doesn't matter.",
        ),
        (
            between,
            "Those are the entries that lead *to* the last one, as the walk goes. Asked for are those that lead *from* a "
            "source: go the way the program went.",
        ),
        (
            lambda entries, sources: list(entries),
            "That is the whole list. Some of its entries use nothing that a source leads to.",
        ),
    ],
    why="One sweep forwards finds what leads from the sources; the walk back finds what leads to the target.",
    minutes=8,
)

# The gaps: pieces of the reader's tape, each checked as soon as it is written ----------------------------------------


@contextmanager
def borrow(function: Any, **names: Any) -> Iterator[None]:
    """Replace globals of a learner's function for a while, and put those of the notebook back."""
    there = getattr(function, "__globals__", {})
    before = {name: there[name] for name in names if name in there}
    there.update(names)
    try:
        yield
    finally:
        for name in names:
            there.pop(name, None)
        there.update(before)


def own(kind: Any, *names: str) -> list[Any]:
    """Return methods that a learner's class has of its own."""
    if not isinstance(kind, type):
        raise NotYet(f"I need the class here, and was given {shorten(kind)}.")
    for name in names:
        if not callable(vars(kind).get(name)):
            raise NotYet(f"`{kind.__name__}` has no method `{name}`.")
    return [vars(kind)[name] for name in names]


def _kind(value: Any) -> str:
    return "None" if value is None else "an array" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


def _short(value: Any) -> str:
    number = getattr(value, "number", value)
    return f"{number:g}" if isinstance(number, float | int) else shorten(number)


def judge_reflected(value: Any) -> str:
    """Judge whether 10.0 - Value(4.0) asks the door for the right thing."""
    (method,) = own(value, "__rsub__")
    x, asked = call(value, 4.0, written="Value(4.0)"), []

    def apply(operation: Any, *inputs: Any) -> Any:
        asked.append((operation, inputs))
        return value(operation(*(getattr(each, "number", each) for each in inputs)))

    written = "`10.0 - Value(4.0)`"
    with borrow(method, apply=apply):
        try:
            given = call(method, x, 10.0, written=written)
        except NotYet as refused:
            again = isinstance(refused.__cause__, RecursionError)
            raise NotYet(f"{refused}{' `-` asks `__rsub__` again: call `apply`.' * again}") from refused.__cause__
    if given is ...:
        raise NotYet(STILL_MISSING.format("`__rsub__`"))
    if not asked:
        raise NotYet(f"{written} gives {_short(given)}, but `apply` was never called, so no list would get an entry.")
    (operation, inputs), *_ = asked
    if given is None:
        raise NotYet(f"{written} gives None. Is a `return` missing?")
    if getattr(given, "number", None) == 6.0 and any(each is x for _, inputs in asked for each in inputs):
        for operation, _ in asked:
            if operation not in (np.subtract, np.add, np.multiply):
                raise NotYet(
                    f"{written} is 6, but you also ask for np.{getattr(operation, '__name__', '?')}, for which this tape "
                    "will have no rule. One np.subtract is enough."
                )
        return f"{written} is 6, and the door will hear of it."
    if operation is not np.subtract:
        raise NotYet(f"{written} asks for np.{getattr(operation, '__name__', '?')}. Which operation is `-`?")
    if not any(each is x for each in inputs):
        raise NotYet("Hand `apply` the box itself, not its number. Otherwise the entry won't know where it came from.")
    if inputs[0] is x:
        raise NotYet(
            f"There's the slip: {written} computes 4 - 10, which is -6. `self` is the value on the right of the minus."
        )
    raise NotYet(f"{written} is {_short(given)}, and should be 6.")


class OpenLists(list[Any]):
    """A list that must not grow while one goes through it."""

    def append(self, _: Any) -> None:
        """Refuse."""
        raise NotYet("`recording` is the list of open lists. Append the entry to each of them, not to `recording`.")

    extend = append


def judge_append(apply: Any) -> str:
    """Judge whether the door writes its entry into every open list."""
    there = getattr(apply, "__globals__", {})
    if not isinstance(there.get("Value"), type):
        raise NotYet("I need your function `apply` here, and the class `Value` above it.")
    x = there["Value"](3.0)
    lists: tuple[list[Any], list[Any]] = ([], [])
    with borrow(apply, recording=OpenLists(lists)):
        output = call(apply, np.multiply, x, 2.0, written="`apply(np.multiply, Value(3.0), 2.0)`")
    one, other = map(list, lists)
    if not one and not other:
        raise NotYet(
            "Two lists were open, and nothing has arrived in them. Replace the three dots, if they are still there, so "
            "that the list itself grows; `entries + [entry]` makes another list."
        )
    if len(one) != len(other):
        raise NotYet(
            "Two lists were open, and they didn't get the same. The loop names each of them `entries` in turn."
        )
    if len(one) == 4:
        raise NotYet("The four parts of the entry arrived one by one. Add the entry as a whole.")
    if len(one) > 1:
        raise NotYet("Each open list should get one entry, and each got more.")
    if one[0] is output:
        raise NotYet("The output alone has arrived. The walk also needs the operation and its inputs: add the entry.")
    if not hasattr(one[0], "operation") or isinstance(one[0], type):
        kind = "the class `Entry`" if isinstance(one[0], type) else _kind(one[0])
        raise NotYet(f"What has arrived in the list is {kind}. Add `entry`, all four parts of it.")
    with borrow(apply, recording=OpenLists(lists)):
        call(apply, np.subtract, output, 2.0, written="`apply(np.subtract, Value(6.0), 2.0)`")
    if lists[0][0] is not one[0]:
        raise NotYet("The second entry stands before the first. The list should be in the order of the program.")
    return "Every open list gets an entry for every operation."


def judge_with(tape: Any) -> str:
    """Judge whether a with block opens the tape's list, names the tape, and closes the list again."""
    enter, leave = own(tape, "__enter__", "__exit__")
    lists: list[Any] = []
    with borrow(enter, recording=lists), borrow(leave, recording=lists):
        outer = call(tape, written="Tape()")
        entered = call(enter, outer, written="`__enter__`")
        if not lists:
            missing = "Replace the three dots. " if entered is None else ""
            raise NotYet(f"{missing}The block has begun and no list is open: `recording` should hold the tape's list.")
        if lists[0] is outer:
            raise NotYet("`recording` holds lists, and yours holds the tape itself. Its list is `self.entries`.")
        if lists[0] is not outer.entries:
            raise NotYet("`recording` holds another list than `self.entries`, so the tape would stay empty.")
        if entered is not outer:
            raise NotYet(
                f"The list is open. But `with Tape() as tape` names what `__enter__` returns, and that is "
                f"{'another tape' if isinstance(entered, tape) else _kind(entered)}. Return the tape itself."
            )
        inner = tape()
        call(enter, inner, written="`__enter__`")
        call(leave, inner, None, None, None, written="`__exit__`")
        if len(lists) > 1:
            raise NotYet(
                "The block is over and its list is still open, so everything that follows would be recorded too. What "
                "should `__exit__` do?"
            )
        if not lists:
            raise NotYet("When an inner tape's block ended, the outer tape's list was closed too. Close only one.")
        if lists[0] is not outer.entries:
            raise NotYet(
                "Of two open lists the wrong one was closed. The innermost block ends first, so close the last list. "
                "(`remove` takes out the first that is *equal*, and both were empty.)"
            )
        outer.entries.append("an entry")
        if call(leave, outer, None, None, None, written="`__exit__`"):
            raise NotYet(
                "`__exit__` returns something true, and Python takes that as: the error in the block is dealt with. "
                "Errors would vanish. Return nothing."
            )
    return "The block opens the list, names the tape, and closes the list again."


def judge_arrive(arrive: Any) -> str:
    """Judge whether contributions are added up, in new arrays."""
    if not callable(arrive) or isinstance(arrive, type):
        raise NotYet("I need your function `arrive` here.")
    kind = getattr(arrive, "__globals__", {}).get("Value", Box)
    x, y = kind(7.0), kind(8.0)
    cotangents: dict[Any, Any] = {}
    written = "`arrive(cotangents, x, 2.0)`"
    for k, contribution in enumerate((2.0, 3.0)):
        try:
            call(arrive, cotangents, x, contribution, written=written)
        except NotYet as refused:
            error = refused.__cause__
            if isinstance(error, KeyError) and not k:
                raise NotYet(
                    "There's the slip: KeyError. When the first contribution arrives, nothing is there yet. Which method "
                    "of a dict has an answer for a key that it doesn't have?"
                ) from error
            if isinstance(error, TypeError) and "NoneType" in str(error):
                raise NotYet(
                    "`cotangents.get(x)` is None where nothing has arrived yet. As a second argument, `get` takes what "
                    "to return instead."
                ) from error
            raise
        if cotangents.get(x) is ...:
            raise NotYet(STILL_MISSING.format("what belongs after `cotangents[x] =`"))
        if x not in cotangents:
            raise NotYet("A contribution arrived at x, and `cotangents` has nothing at x.")
        if cotangents[x] is None:
            raise NotYet("`cotangents[x]` is None now: what you call there returns nothing.")
        if not isinstance(cotangents[x], float | int | np.number | np.ndarray) or np.ndim(cotangents[x]):
            raise NotYet(
                f"`cotangents[x]` is {_kind(cotangents[x])} now. It should be a number: the sum of what has arrived there."
            )
    found = float(cotangents[x])
    if found == 3.0:
        raise NotYet("There's the slip: 2 and then 3 arrived at x, and 3 is left. Add to what is already there.")
    if found != 5.0:
        raise NotYet(f"2 and then 3 arrived at x, and its cotangent is {found:g}. It should be 5.")
    g = np.ones(2)
    shared: dict[Any, Any] = {}
    for each in (x, y, x):
        call(arrive, shared, each, g, written="`arrive`, with an array,")
    alone: dict[Any, Any] = {}
    for each in (x, y):
        call(arrive, alone, each, np.ones(2), written="`arrive`, with an array,")
    if not np.array_equal(alone[y], np.ones(2)):
        raise NotYet(
            f"[1, 1] arrived at x and at y, and y has {shorten(alone[y].tolist())}. What arrived at x doesn't belong to y."
        )
    if not np.array_equal(g, np.ones(2)) or not np.array_equal(shared[y], np.ones(2)):
        raise NotYet(
            "`+=` writes into the array that arrived, and another value may share it: the rule of `x + y` sends the "
            "same one to both. Write `a = a + b`, which makes a new array."
        )
    return "2 and then 3 arrive at x, and its cotangent is 5."


UNBROADCAST = Function(
    signature="unbroadcast(g, shape)",
    cases=[
        (np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]), (3,)),
        (np.array([1.0, 2.0, 4.0]), ()),
        (np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]), (2, 1)),
        (np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]), ()),
        (np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]), (2, 3)),
        (np.array([[[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]]), (2, 1)),
    ],
    answer=fold,
    hints=[
        (lambda g, shape: g, "There's the slip: g comes back as it was, and every copy keeps a slope of its own."),
        (
            lambda g, shape: fold(g, shape, left=False),
            "The stretched axes are added up already. The new ones, on the left, aren't yet.",
        ),
        (
            lambda g, shape: np.mean(g, axis=tuple(range(np.ndim(g) - len(shape)))),
            "Contributions are added up. Their mean is too small by the number of copies.",
        ),
        (
            lambda g, shape: np.sum(g),
            "That is right for the shape (), a plain number. But a source of the shape (3,) needs three slopes, and gets "
            "one. Add up only the axes in `new_axes`.",
        ),
        (
            lambda g, shape: np.sum(
                np.sum(g, axis=0), axis=tuple(k for k, n in enumerate(shape) if n == 1), keepdims=True
            ),
            "That adds up one axis on the left, always. How many are new depends on the shapes: `new_axes` lists them, and "
            "for g of shape (2, 3) and a source of shape (2, 1) there are none.",
        ),
        (
            lambda g, shape: np.sum(g, axis=-1),
            "That adds up the last axis. New axes are on the left: `new_axes` lists them.",
        ),
        (
            lambda g, shape: np.sum(g, axis=shape),
            "`axis` takes the numbers of axes, such as 0, and `shape` has their lengths. Add up the axes in `new_axes`.",
        ),
        (
            lambda g, shape: np.sum(g, axis=tuple(range(np.ndim(g) - len(shape))), keepdims=True),
            "With `keepdims=True` the new axes stay, with length 1. The source doesn't have them.",
        ),
    ],
    why="What was copied forwards is added up backwards.",
)

GAPS: tuple[Exercise, ...] = (
    # Judges, since a gap is a method that talks to the rest of the tape, or a function that changes what it is given
    Judge(check=judge_reflected),
    Judge(check=judge_append),
    Judge(check=judge_with),
    Judge(check=judge_arrive),
    UNBROADCAST,
)


def check_gap(number: int, answer: Any) -> Feedback:
    """Judge a piece of the reader's tape, as `check` judges an answer.

    Parameters
    ----------
    number : int
        Which of the chapter's gaps, from 1.
    answer : object
        The class or the function in which it is.

    Examples
    --------
    >>> check_gap(4, lambda cotangents, x, g: cotangents.update({x: g}))
    Gap 4: Not yet. There's the slip: 2 and then 3 arrived at x, and 3 is left. Add to what is already there.
    """
    return GAPS[number - 1].respond(f"Gap {number}", answer)


QUESTIONS = (*PREDICTIONS, DIVISION, NEEDED, MEND)
