"""Project 28.4: a tape in another language, which reads programs as JSON and answers with values and gradients."""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function
from ..feedback import NotYet, number, quote, shorten
from ..milestones import Milestone

Program = dict[str, Any]

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
}
"""The operations of the format by their names; the first four take two values, the others one."""
PAIRS = ("add", "sub", "mul", "div")


def run_on_tape(program: Program) -> dict[str, Any]:
    """Run a program under a tape, and return its target's value and gradient.

    Examples
    --------
    >>> run_on_tape({"inputs": [2.0, 3.0], "operations": [["mul", 0, 1], ["add", 2, 0]]})
    {'value': 8.0, 'gradient': [4.0, 2.0]}
    """
    inputs = [ad.constant(value) for value in program["inputs"]]
    with ad.GradientTape() as tape:
        tape.watch(inputs)
        values = _run(program, inputs)
    slopes = tape.gradient(values[-1], inputs)
    return {"value": float(values[-1]), "gradient": [0.0 if slope is None else float(slope) for slope in slopes]}


def _run(program: Program, inputs: list[Any]) -> list[Any]:
    values = list(inputs)
    for name, *at in program["operations"]:
        values.append(OPERATIONS[name](*(values[place] for place in at)))
    return values


def draw_programs(seed: int, count: int, length: int, names: tuple[str, ...], *, once: bool = False) -> list[Program]:
    """Draw programs whose values are neither large nor tiny, so that their derivatives are known to many digits.

    Parameters
    ----------
    seed : int
        Of the random numbers.
    count, length : int
        How many programs, and how many operations each has.
    names : tuple of str
        The operations to draw from.
    once : bool
        Whether every value is used exactly once, except for the target.

    Examples
    --------
    >>> (program,) = draw_programs(0, 1, 2, ("add", "mul"))
    >>> len(program["operations"])
    2
    """
    draw = np.random.default_rng(seed)
    return [_one(draw, length, names, once) for _ in range(count)]


def _one(draw: Any, length: int, names: tuple[str, ...], once: bool) -> Program:
    pairs = [bool(draw.integers(2)) for _ in range(length)] if once else []
    kinds = [tuple(n for n in names if (n in PAIRS) == pair) or names for pair in pairs] or [names] * length
    wanted = 1 + sum(all(n in PAIRS for n in kind) for kind in kinds) if once else 3
    inputs = [round(float(value), 2) for value in draw.uniform(0.5, 2.0, wanted)]
    values, operations, free = list(inputs), [], list(range(wanted))
    for place, kind in enumerate(kinds):
        while True:
            name = str(draw.choice(kind))
            needed = 2 if name in PAIRS else 1
            latest = [len(values) - 1] if not once and place > length - 3 else []  # so that the target needs many
            pool = free if once else list(range(len(values)))
            at = latest + [int(n) for n in draw.choice(pool, needed - len(latest), replace=not once)]
            if _tame(name, [values[n] for n in at]):
                break
        values.append(float(OPERATIONS[name](*(values[n] for n in at))))
        operations.append([name, *at])
        free = [n for n in free if n not in at] + [len(values) - 1]
    return {"inputs": inputs, "operations": operations}


def _tame(name: str, given: list[float]) -> bool:
    if (name == "div" and abs(given[1]) < 0.3) or (name == "log" and given[0] < 0.3):
        return False
    if name == "exp" and given[0] > 2:
        return False
    return 0.01 < abs(float(OPERATIONS[name](*given))) < 20.0


FORKS: list[Program] = [
    {"inputs": [3.0], "operations": [["mul", 0, 0]]},
    {"inputs": [2.0, 3.0], "operations": [["mul", 0, 1], ["add", 2, 0]]},
    {"inputs": [0.5, 1.5], "operations": [["sin", 0], ["mul", 2, 2], ["add", 3, 2]]},
    {"inputs": [1.5, 0.7, 2.0], "operations": [["exp", 1], ["log", 0], ["sub", 3, 0]]},
    {"inputs": [2.0], "operations": [["sub", 0, 0], ["div", 0, 0], ["add", 1, 2]]},
    {"inputs": [0.8, 1.2], "operations": []},
]
"""Programs that use values twice or not at all, small enough to be followed by hand."""


def read(text: Any, programs: list[Program]) -> tuple[list[float], list[Any]]:
    """Return the values and the gradients that a learner's program has answered."""
    answers = parse(text)
    if isinstance(answers, dict):
        raise NotYet("I need a list of answers, one for each program, also if there is only one. Yours is one answer.")
    if not isinstance(answers, list):
        raise NotYet(f"I need a list of answers, and got {shorten(answers)}.")
    if len(answers) != len(programs):
        raise NotYet(f"I sent {len(programs)} programs, and the number of answers is {len(answers)}.")
    for answer in answers:
        if not isinstance(answer, dict) or not {"value", "gradient"} <= set(answer):
            raise NotYet(f'Each answer looks like {{"value": 8.0, "gradient": [4.0, 2.0]}}. One is {shorten(answer)}.')
        if answer["value"] is None:
            raise NotYet(
                "A value in your answers is null. JavaScript prints NaN that way, and I sent nothing that makes one."
            )
    values = [number(answer["value"], "a value in your answers") for answer in answers]
    return values, [answer["gradient"] for answer in answers]


def parse(text: Any) -> Any:
    """Return what `run` returned, read as JSON if it is text."""
    if isinstance(text, subprocess.CompletedProcess):
        raise NotYet("run(text) returns the process that has ended. Return what it printed: its `.stdout`.")
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotYet(not_json(text)) from None


def not_json(text: str) -> str:
    """Return what is probably wrong with a text that is not JSON."""
    if not text.strip():
        return "Your program printed nothing. Look at its standard error: does it start at all?"
    if re.search(r"\b(NaN|[Ii]nf(inity)?|nan)\b", text):
        return "There is a NaN or an infinity in what your program prints, where I sent none."
    if re.fullmatch(r"(\{[^\n]*\}\s*){2,}", text.strip()):
        return "Your program prints one answer after the other. Print one list: [..., ...]."
    return (
        f"What your program printed is not JSON: {quote(text, 60)}. Is `json.dumps` missing, or `JSON.stringify`? Print "
        "nothing but the answers."
    )


def failure(error: Any) -> str:
    """Return why a program did not start or end; nothing if the error is another one."""
    match error:
        case FileNotFoundError(filename=file) if " " in str(file or ""):
            return f'No program is called {quote(str(file), 60)}. Write a list: ["node", "-e", ...].'
        case FileNotFoundError():
            return f"No program of that name was found: {quote(str(error), 80)}. Write its whole path."
        case subprocess.TimeoutExpired():
            return "Your program doesn't end. Does it wait for more after the list of programs?"
        case subprocess.CalledProcessError(stderr=said, returncode=code):
            said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said or ""
            stopped = f"Your program stopped with exit code {code}"
            return (
                f"{stopped}. It said {quote(_find_error(said))}."
                if said.strip()
                else f"{stopped}, and printed no error."
            )
    return ""


def _find_error(said: str) -> str:
    """Return the line that names the error: the last in Python, but Node and Rust write other lines after it."""
    lines = said.strip().splitlines()
    named = [place for place, line in enumerate(lines) if re.search(r"error|exception|panicked", line, re.IGNORECASE)]
    return " ".join(lines[named[-1] : named[-1] + 1 + lines[named[-1]].endswith(":")]) if named else lines[-1]


def close(value: float, right: float, digits: float = 1e-9) -> bool:
    """Return whether two numbers agree to some digits."""
    return math.isclose(value, right, rel_tol=digits, abs_tol=digits / 100)  # as `near` compares them


def too_few_digits(found: list[float], right: list[float]) -> str:
    """Return the hint for the first number that differs, if it does so only in its last digits."""
    value, wanted = next((pair for pair in zip(found, right, strict=True) if not close(*pair)), (0.0, 0.0))
    if close(value, wanted) or not close(value, wanted, 1e-5):
        return ""
    return (
        f"Too few digits: {value!r}, and {wanted!r} is right. Compute in 64-bit floats and print all 17 digits, or as "
        "many as your JSON library does."
    )


def wrong_value(programs: list[Program], found: list[float], right: list[float]) -> str:
    """Return the hint for the first value that is wrong."""
    if hint := too_few_digits(found, right):
        return hint
    program, value, wanted = next(
        each for each in zip(programs, found, right, strict=True) if not close(each[1], each[2])
    )
    return f"The value of `{_short(program)}` is {wanted:.6g}, and yours is {value:.6g}."


def no_gradient(program: Program, given: Any) -> str:
    """Return what is wrong with a gradient that isn't a list of as many numbers as there are inputs."""
    count = len(program["inputs"])
    if not isinstance(given, list) or len(given) != count:
        return (
            f"The gradient has one number for each input, here {count}, also for an input that nothing uses. For "
            f"`{_short(program)}` yours is {shorten(given)}."
        )
    if None not in given:
        return ""
    used = any(given.index(None) in at for _, *at in program["operations"])
    return "There is a null among your slopes. " + (
        "JavaScript prints NaN that way: do you add to a slope that was never set to 0?"
        if used
        else "The slope of an input that nothing uses is 0 here."
    )


def wrong_gradient(programs: list[Program], found: list[list[float]], right: list[list[float]]) -> str:
    """Return the hint for the first gradient that is wrong."""
    for place, (program, given, wanted) in enumerate(zip(programs, found, right, strict=True)):
        if hint := too_few_digits(given, wanted):
            return f"{hint} (Slopes from differences never have enough: walk back along the operations.)"
        if not all(map(close, given, wanted)):
            return explain(program, given, wanted, _left_over(given, wanted, found[:place]))
    return ""


def _short(program: Program) -> str:
    text = json.dumps(program)
    return text if len(text) < 300 else f"{text[:297]}..."


def _left_over(given: list[float], right: list[float], before: list[list[float]]) -> bool:
    if not before:
        return False
    left = [slope - wanted for slope, wanted in zip(given, right, strict=True)]
    sums = [sum(each[k] for each in before if k < len(each)) for k in range(len(left))]
    last = [before[-1][k] if k < len(before[-1]) else 0.0 for k in range(len(left))]
    return any(any(others) and np.allclose(left, others, rtol=1e-6) for others in (sums, last))


LEFT_OVER = "Slopes of the program before are still there. Set them all to 0 before each walk."


def explain(program: Program, given: list[float], right: list[float], left_over: bool) -> str:
    """Return what a wrong gradient of one program tells."""
    uses = [place for _, *at in program["operations"] for place in at]
    names = {name for name, *_ in program["operations"]}
    if left_over:
        return LEFT_OVER
    if len(names) == 1 and any(at[0] == at[-1] for _, *at in program["operations"] if len(at) == 2):
        return f"For `{_short(program)}`, the same value is used twice in one operation. Both uses contribute."
    one_rule = f"The operations in it: {', '.join(sorted(names))}." if names else "The target is an input."
    if len(program["operations"]) == 1:
        one_rule = f"This program has only one operation, so the rule of `{program['operations'][0][0]}` is wrong."
    if len(names) > 1 and len(set(uses)) == len(uses):
        one_rule = "Each rule alone is right. Does the walk begin at the last operation?"
    twice = " A value that is used twice gets two contributions: `+=`, not `=`." if len(set(uses)) < len(uses) else ""
    return (
        f"For `{_short(program)}` the gradient is {[float(f'{slope:.6g}') for slope in right]}, and yours is "
        f"{[float(f'{slope:.6g}') for slope in given]}. {one_rule}{twice}"
    )


def send(programs: list[Program], *, gradients: bool = True) -> list[Case]:
    """Return what is done with `run`: it gets programs, and is compared in their values, or in the gradients too."""

    def of(run: Any) -> dict[str, Any]:
        try:
            text = run(json.dumps(programs))
        except NotYet as hint:
            if said := failure(hint.__cause__):
                raise NotYet(said) from None
            raise
        values, slopes = read(text, programs)
        if not gradients:
            return {"values": values}
        if missing := next(filter(None, map(no_gradient, programs, slopes)), ""):
            raise NotYet(missing)
        found = [[number(slope, "a slope in your answers") for slope in each] for each in slopes]
        return {"values": values, "gradients": found}

    def hint(found: Any, wanted: Any) -> str:
        if "gradients" in found and not wrong_number(found["values"], wanted["values"]):
            return wrong_gradient(programs, found["gradients"], wanted["gradients"])
        return wrong_value(programs, found["values"], wanted["values"])

    return [Case(of, hint, within=1e-9)]


def wrong_number(found: list[float], right: list[float]) -> bool:
    """Return whether one of some numbers is wrong."""
    return not all(map(close, found, right))


def tape(
    add: Callable[[float, float], float] = lambda old, new: old + new,
    *,
    both: bool = True,
    clear: bool = True,
) -> Callable[[str], str]:
    """Return a tape in Python, or one with a mistake: how it adds, and what it leaves out."""
    kept: dict[int, float] = {}

    def run(text: str) -> str:
        kept.clear()
        return json.dumps([one(program) for program in json.loads(text)])

    def one(program: Program) -> Any:
        values = _run(program, program["inputs"])
        first = len(program["inputs"])
        if clear:
            kept.clear()
        kept.update(dict.fromkeys(range(first, len(values)), 0.0))
        kept[len(values) - 1] = 1.0
        for place, (name, *at) in reversed(list(enumerate(program["operations"], first))):
            slopes = RULES[name](*(values[k] for k in at))
            for k, slope in list(zip(at, slopes, strict=True))[: None if both or at[0] != at[-1] else 1]:
                kept[k] = add(kept.get(k, 0.0), kept[place] * slope)
        return {"value": float(values[-1]), "gradient": [float(kept.get(k, 0.0)) for k in range(first)]}

    return run


RULES: dict[str, Callable[..., tuple[float, ...]]] = {
    "add": lambda x, y: (1.0, 1.0),
    "sub": lambda x, y: (1.0, -1.0),
    "mul": lambda x, y: (y, x),
    "div": lambda x, y: (1 / y, -x / y**2),
    "sin": lambda x: (math.cos(x),),
    "cos": lambda x: (-math.sin(x),),
    "exp": lambda x: (math.exp(x),),
    "log": lambda x: (1 / x,),
}
"""The slopes of each operation."""


def compare_with_tape(programs: list[Program], hints: Any = (), *, gradients: bool = True) -> Function:
    """Return the form of a milestone: programs are sent, and the answers are those of a tape."""
    return Function(
        signature="run(text)",
        cases=send(programs, gradients=gradients),
        answer=lambda text: json.dumps([run_on_tape(program) for program in json.loads(text)]),
        spellings=[tape()],
        hints=hints,
    )


FOUR, ALL = PAIRS, tuple(OPERATIONS)
SINGLE: list[Program] = [
    {"inputs": [1.3, 0.8][: 2 if name in PAIRS else 1], "operations": [[name, *((0, 1) if name in PAIRS else (0,))]]}
    for name in ALL
]
"""Each operation alone, so that a wrong rule is named first."""

MILESTONES = (
    Milestone(
        "values",
        "let `run(text)` start your program and return the list of answers that it prints.",
        compare_with_tape(SINGLE[:4] + draw_programs(221, 6, 6, FOUR), gradients=False),
    ),
    Milestone(
        "chains",
        "answer with gradients where every value is used once.",
        compare_with_tape(
            SINGLE + draw_programs(222, 10, 6, ALL, once=True),
            hints=[
                (
                    tape(lambda old, new: 0.0),
                    "All your gradients are 0. Walk back through the operations, from a 1 at the target.",
                ),
                (
                    tape(clear=False),
                    LEFT_OVER,
                ),
            ],
        ),
    ),
    Milestone(
        "forks",
        "answer with gradients where values are used twice, or not at all.",
        compare_with_tape(
            FORKS + draw_programs(223, 6, 5, ALL),
            hints=[
                (
                    tape(lambda old, new: new),
                    "Where a value is used twice, the second contribution overwrites the first. Add it to what is there: "
                    "`+=`, not `=`.",
                ),
                (
                    tape(both=False),
                    'For `{"inputs": [3.0], "operations": [["mul", 0, 0]]}`, the same value is used twice in one '
                    "operation. Both uses contribute.",
                ),
            ],
        ),
    ),
    Milestone("all", "answer long random programs.", compare_with_tape(draw_programs(224, 40, 30, ALL))),
)
"""The four milestones of the project; the answer to each is the same function."""

WHY = "Your tape and ours agree on 40 programs of 30 operations. Now write the report."
