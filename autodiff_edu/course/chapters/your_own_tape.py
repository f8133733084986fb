"""Your own tape: a learner's tape against the package's on random programs, division, and three mistakes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType
from typing import Any

import numpy as np

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, numbers, shortened
from ..predictions import Prediction
from .wrong_04 import (
    ARRAYS,
    ERRORS,
    EXPONENTIAL,
    MEANT,
    NUMBERS,
    ON_BOXES,
    ON_NUMBERS,
    ONE_EACH,
    QUOTIENTS,
    RULES,
    SLIPS,
    WRONG_QUOTIENTS,
    Gradients,
    Program,
    agree,
    nothing_yet,
    right,
)

PAIR = "Hand in two classes, the tape and the value, as in `answer = Mine, Value`."


def walk_on_numbers(answer: Any) -> str:
    """Check 4.1: the learner's walk, on random programs with numbers."""
    tape, value = _tape_and_value(answer)
    _walks_itself(tape, value, "Write the backward pass here, in `gradient`.")
    _compare(tape, value, NUMBERS, [SLIPS[name] for name in ON_NUMBERS])
    _asks_again(tape, value)
    _hands_over_z(tape, value)
    return f"Your tape and ours agree on {sum(map(len, NUMBERS))} programs, to the last None."


def division(answer: Any) -> str:
    """Check 4.2: division on the learner's tape, forward, reflected and backward, with numbers and arrays."""
    tape, value = _tape_and_value(answer)
    for written, wanted, divide in (
        ("Value(6.0) / Value(2.0)", 3.0, lambda: value(6.0) / value(2.0)),
        ("Value(6.0) / 2.0", 3.0, lambda: value(6.0) / 2.0),
        ("6.0 / Value(2.0)", 3.0, lambda: 6.0 / value(2.0)),
    ):
        method = "__rtruediv__" if written[0] == "6" else "__truediv__"
        try:
            given = call(divide, written=written)
        except NotYet as hint:
            again = f" `/` asks `{method}` again: call `apply`." * isinstance(hint.__cause__, RecursionError)
            missing = f" `{value.__name__}` has no `{method}`." * (not hasattr(value, method))
            raise NotYet(f"{hint}{again}{missing}") from hint.__cause__
        if given is ...:
            raise NotYet(f"Replace the three dots: {written} is still open.")
        if type(given) in value.__mro__[1:-1]:
            above = type(given).__name__
            raise NotYet(f"`apply` makes `{above}`s, so add the methods to `{above}` itself.")
        if not isinstance(given, value):
            raise NotYet(
                f"{written} is {shortened(given)}, not a Value, so no tape can follow it. Let `apply` compute it."
            )
        number = numbers(given.number, written)
        if number.shape == () and np.isclose(number, 1 / wanted):
            raise NotYet(f"{written} is {number:.6g}: it is divided the wrong way round. Which of the two is `self`?")
        if number.shape or not np.isclose(number, wanted):
            raise NotYet(f"{written} should have the number 3, but it has {shortened(given.number)}.")
    for program in QUOTIENTS[0][:3]:
        recording = tape()
        sources = {name: value(part) for name, part in program.sources.items()}
        with recording:
            program.run(sources)
        entries: Any = getattr(recording, "entries", True)
        if not entries:
            raise NotYet(
                f"The numbers are right, but no tape has heard of `{program.lines[0]}`. Let `apply` compute it."
            )
        with suppress(TypeError, AttributeError):  # entries of another kind
            known = [id(x) for entry in entries for x in entry.inputs]
            for name in program.lines[0].inputs:
                if name in sources and id(sources[name]) not in known:
                    raise NotYet(f"Hand `apply` the boxes, not their numbers. Otherwise the entry doesn't know {name}.")
    parts: Any = ()
    with suppress(Exception):  # the walk raises it again, and there is a hint for it
        parts = _table(value)[np.divide](1.0, 3.0, 6.0, 2.0)
    if parts is None or (isinstance(parts, tuple | list) and any(part is None for part in parts)):
        raise NotYet(f"Your rule returns {shortened(parts)}. Is a `return` or a contribution missing? {ONE_EACH}")
    _compare(tape, value, QUOTIENTS, WRONG_QUOTIENTS)
    return "Division works from both sides, forward and backward, for numbers and for arrays."


def walk_on_arrays(answer: Any) -> str:
    """Check 4.3: the corrected walk, on random programs with arrays of several shapes."""
    tape, value = _tape_and_value(answer)
    _walks_itself(tape, value, "Fix the three lines here, in this `gradient`.")
    _compare(tape, value, ARRAYS, list(SLIPS.values()))
    _asks_again(tape, value)
    _hands_over_z(tape, value)
    _keeps_copies(tape, value)
    count = sum(map(len, ARRAYS))
    return f"All three are fixed. On {count} programs with arrays of all shapes, your tape agrees with ours."


def _tape_and_value(answer: Any) -> tuple[Any, Any]:
    if not isinstance(answer, tuple | list) or len(answer) != 2 or not all(isinstance(part, type) for part in answer):
        raise NotYet(f"{PAIR} This is {shortened(answer)}.")
    tape, value = answer if hasattr(answer[0], "gradient") else reversed(answer)
    if not hasattr(tape, "gradient") or not hasattr(tape, "__enter__"):
        raise NotYet(f"{PAIR} Neither of these has `gradient` and `__enter__`, so which one is the tape?")
    if getattr(call(value, 2.0, written="Value(2.0)"), "number", None) != 2.0:
        raise NotYet(f"{PAIR} A value made by `Value(2.0)` should have the `number` 2.0.")
    return tape, value


_NOBODY = (lambda: None).__code__
"""What nobody calls."""


def _walks_itself(tape: Any, value: Any, instead: str) -> None:
    """Refuse a tape that leaves its backward pass to another tape's `gradient`, or to a function called `walk`."""
    if "gradient" not in vars(tape):
        raise NotYet(f"`{tape.__name__}` has no `gradient` of its own. {instead}")
    refused: dict[CodeType, str] = {}
    for owner in tape.__mro__:
        gradient = vars(owner).get("gradient")
        others = {"walk": getattr(gradient, "__globals__", {}).get("walk")}
        if owner is not tape:
            others[f"{owner.__name__}.gradient"] = gradient
        refused |= {getattr(f, "__code__", _NOBODY): name for name, f in others.items()}
    found: list[str] = []

    def heard(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in refused:
            found.append(refused[frame.f_code])

    before = sys.getprofile()
    sys.setprofile(heard)
    try:
        with suppress(Exception):  # _compare has a hint for it
            _asked(tape, value, NUMBERS[0][4])
    finally:
        sys.setprofile(before)
    if found:
        raise NotYet(f"This leaves the work to `{found[0]}`. {instead}")


def _compare(
    tape: Any, value: Any, groups: list[list[Program]], slips: list[tuple[Callable[[Program], Gradients], str]]
) -> None:
    """Compare a tape with the package's; where it is wrong, name the slip that explains all its answers."""
    for programs in groups:
        given = [_asked(tape, value, program) for program in programs]
        wrong = [k for k, program in enumerate(programs) if not agree(given[k], right(program))]
        if wrong:
            program, said = programs[wrong[0]], given[wrong[0]]
            shown = f"For {program}, {' and '.join(_said(said, right(program), program.target))}."
            for slip, hint in slips:
                if _explains(slip, programs, given):
                    raise NotYet(f"{shown} {hint}")
            raise NotYet(f"{shown} Go through it with a pencil{', from the last line up' * (len(program.lines) > 1)}.")


def _explains(slip: Callable[[Program], Gradients], programs: list[Program], given: list[Gradients]) -> bool:
    with suppress(Exception):  # with some slips, shapes do not fit
        return all(agree(answer, slip(program)) for answer, program in zip(given, programs, strict=True))
    return False


def _said(said: Gradients, wanted: Gradients, target: str) -> Iterator[str]:
    for name, slope in wanted.items():
        if not agree({name: said[name]}, {name: slope}):
            yield f"d{target}/d{name} is {_short(slope)}, but your tape says {_short(said[name])}"


def _short(slope: Any) -> str:
    return "None" if slope is None else shortened(np.round(slope, 4).tolist())


def _asked(tape: Any, value: Any, program: Program, times: int = 1) -> Gradients:
    """Record a program on the learner's tape and ask for the gradients; ask again if told to."""
    recording = call(tape, written="Your tape()")
    sources = {name: value(np.copy(part) if np.ndim(part) else part) for name, part in program.sources.items()}
    try:
        with recording:
            values = program.run(sources)
    except Exception as error:
        raise NotYet(
            f"Recording {program} raised {type(error).__name__}: {shortened(str(error))}. Have you changed `apply`?"
        ) from error
    slopes: Any = None
    for _ in range(times):
        try:
            slopes = call(recording.gradient, values[program.target], list(sources.values()), written=_call(program))
        except NotYet as hint:
            raise NotYet(re.sub(r" at 0x[0-9a-fA-F]+", "", _explained(hint, program, values))) from None
    return _read(slopes, program)


def _explained(hint: NotYet, program: Program, values: dict[str, Any]) -> str:
    """Return what a walk raised, with what it usually means."""
    error = hint.__cause__
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], np.ufunc):
        return f"For {program} your tape finds no rule for `np.{error.args[0].__name__}` in `RULES`."
    if isinstance(error, KeyError) and nothing_yet(error, program, values):
        return (
            f"{_call(program)} raised KeyError. When the first contribution arrives, nothing is there yet: "
            "`cotangents.get(x, 0.0) + contribution`."
        )
    if isinstance(error, KeyError):
        return (
            f"{_call(program)} raised KeyError: it looked for a cotangent where there is none. Not every entry "
            "and not every source leads to the target, so use `.get`."
        )
    for words, meant in MEANT.items():
        if isinstance(error, ERRORS) and words in str(error):
            return f"{hint} {meant}"
    return str(hint)


def _call(program: Program) -> str:
    return f"For {program}, `gradient({program.target}, [{', '.join(program.sources)}])`"


def _read(slopes: Any, program: Program) -> Gradients:
    if slopes is ...:
        raise NotYet("Replace the three dots: `gradient` is still open.")
    if slopes is None:
        raise NotYet("Your `gradient` returns None. End it with `return`, and a list: one slope for each source.")
    if not isinstance(slopes, tuple | list) or len(slopes) != len(program.sources):
        raise NotYet(
            f"{_call(program)} returns {shortened(slopes)}. Return a list with one slope for each of the "
            f"{len(program.sources)} sources."
        )
    read = {}
    for name, slope in zip(program.sources, slopes, strict=True):
        if hasattr(slope, "number"):
            raise NotYet(f"For {program}, the slopes are Values. {ON_BOXES}")
        read[name] = None if slope is None else numbers(slope, f"the slope for {name}")
    return read


def _asks_again(tape: Any, value: Any) -> None:
    """Ask one tape twice, then a new one: nothing may be left over."""
    program = NUMBERS[0][4]
    if not agree(_asked(tape, value, program, times=2), right(program)):
        raise NotYet(
            "The first answer is right, but asked again, the same tape gives another. Did the first walk reverse or "
            "empty `self.entries`, or keep its cotangents? Leave the list as it is: `reversed(self.entries)`."
        )


def _table(value: Any) -> dict[Any, Any]:
    """Return the table of rules beside a learner's Value, in the notebook."""
    table = getattr(getattr(value, "__mul__", None), "__globals__", {}).get("RULES")
    return table if isinstance(table, dict) else {}


def _hands_over_z(tape: Any, value: Any) -> None:
    """Check that rules get the number of the output, with a rule that needs it, registered for the check only."""
    table = _table(value)
    before = dict(table)
    table[np.exp] = RULES["np.exp"]
    wanted, shown = right(EXPONENTIAL), "Here the rule is chapter 2's `(g * z,)`. Is z the number of the output?"
    try:
        given = _asked(tape, value, EXPONENTIAL)
    except NotYet as hint:
        if "no rule for" in str(hint):  # this tape has its rules elsewhere
            return
        raise NotYet(f"{hint} {shown}") from None
    finally:
        table.clear()
        table.update(before)
    if not agree(given, wanted):
        raise NotYet(f"For {EXPONENTIAL}, {' and '.join(_said(given, wanted, EXPONENTIAL.target))}. {shown}")


def _keeps_copies(tape: Any, value: Any) -> None:
    """Write into arrays after they were used: the tape, and its values, must have kept copies."""
    for is_boxed, wanted, hint in (
        (False, 6.0, "that your tape had noted, and the slope changed. Note a copy."),
        (True, [2.0, 4.0, 6.0], "that a Value was made of, and the slope changed. `Value` should keep a copy."),
    ):
        recording, buffer = tape(), np.array([1.0, 2.0, 3.0])
        x = value(buffer if is_boxed else 2.0)
        with recording:
            target = x * (x if is_boxed else buffer)
        buffer[:] = 100.0
        (slope,) = recording.gradient(target, [x])
        if not near(slope, wanted):
            raise NotYet(f"The program wrote into an array {hint}")


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "`w` is a value that a tape watches. How does the tape find out about `w * three_lengths`?",
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
            "The tape looks at all values after each line": "`w * three_lengths` has no name, yet it got an entry.",
        },
        why="`w` isn't a plain number, and Python leaves the work to it. Piece 1 shows how.",
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
        "The rule has sent a `contribution` to `x`. What belongs after `cotangents[x] =`?",
        answer="`cotangents.get(x, 0.0) + contribution`",
        choices=(
            "`contribution`",
            "`cotangents[x] + contribution`",
            "`cotangents.get(x, 0.0) + contribution`",
            "`g + contribution`",
        ),
        hints={
            "`contribution`": "A value that is used twice gets two contributions. What becomes of the first one?",
            "`cotangents[x] + contribution`": "When the first contribution comes, is there a `cotangents[x]`?",
            "`g + contribution`": "`g` is what arrived at the output, not at x.",
        },
        why="`get` finds what has arrived at x so far, or else 0.0, and the contribution is added to it.",
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
        "How many entries will the tape hold in each turn now?",
        answer=5,
        hints={
            1711: "That was one penguin after the other. An operation on an array is one entry, however long it is.",
            342: "An operation on an array is one entry, however long it is.",
            4: "Count them: times, plus, minus, times, and the mean.",
            3: "Count them: times, plus, minus, times, and the mean.",
            2: "An entry is an operation, not a line.",
            6: "There is none for `1 / len(mass)`: the mean does that.",
        },
        why="Times, plus, minus, times, mean.",
    ),
    Prediction(
        "What will the loss be after 40 turns at the rate 15?",
        answer="almost 0",
        choices=("it grows without end", "about 13, as before", "0.155, that of the best line", "almost 0"),
        hints={
            "it grows without end": "In chapter 2 it would. But with this tape, a rate of 0.2 did very little.",
            "about 13, as before": "It did fall at 0.2, and these steps are 75 times as long.",
            "0.155, that of the best line": "That is the best that one line can do. Is it still one line?",
        },
        why="It falls far below the loss of the best line, and that should worry you.",
    ),
    Prediction(
        "`w` began as the number 0.0. What shape is it now?",
        answer=(342,),
        hints={
            (): "Then there would be one line, and no line has so small a loss. What shape did its slope have?",
            (1,): "Then there would be one line. What shape is `g * y`, in the rule of `w * length`?",
            (342, 342): "Nothing here pairs up penguins. What shape is `g * y`, in the rule of `w * length`?",
            (2,): "w and b are two values, and each has a shape of its own.",
        },
        why="342 contributions arrived, and nobody added them up.",
    ),
    Judge(
        "The walk, from memory",
        """\
Write the backward pass for numbers, without looking back, and without calling `walk`. `class Mine(Tape)` means: like `Tape`, except for what's written here. `self.entries` is the list. Return a list: for each source its slope, or `None` if the target wasn't computed from it.""",
        walk_on_numbers,
    ),
    Judge(
        "Teach it to divide",
        """\
Your tape can't divide. NumPy's name for `/` is `np.divide`, and the two magic methods are `__truediv__` (`x / 2.0` asks x) and `__rtruediv__` (`2.0 / x` asks x, the one on the right). Write both, and the rule. Arrays come for free: `fold` is in the walk.""",
        division,
    ),
    Judge(
        "Somebody else's tape",
        """\
Somebody wrote this walk for arrays. It's right for many programs, and three of its lines are wrong. Find and fix them. (One of the three does no harm as long as no two values share an array.)""",
        walk_on_arrays,
    ),
)
