"""Project 22.4: a tape in another language, which reads programs as JSON and answers with values and gradients."""

from __future__ import annotations

import json
import math
import re
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..feedback import NotYet, call, needs_function, number, quoted, shortened
from ..milestones import Milestone, StillOpen, climbed

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


def expected(program: Program) -> dict[str, Any]:
    """Run a program under a tape, and return its target's value and gradient.

    Examples
    --------
    >>> expected({"inputs": [2.0, 3.0], "operations": [["mul", 0, 1], ["add", 2, 0]]})
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


def drawn(seed: int, count: int, length: int, names: tuple[str, ...], *, once: bool = False) -> list[Program]:
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
    >>> (program,) = drawn(0, 1, 2, ("add", "mul"))
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


def _answers(run: Any, programs: list[Program]) -> list[tuple[float, Any]]:
    try:
        text = call(run, json.dumps(programs), written="run(text)")
    except NotYet as hint:
        _started(hint.__cause__)
        raise
    if text is ...:
        raise StillOpen
    if text is None:
        raise NotYet("run(text) returns None. Is a `return` missing, or `capture_output=True`?")
    if isinstance(text, subprocess.CompletedProcess):
        raise NotYet("run(text) returns the process that has ended. Return what it printed: its `.stdout`.")
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if isinstance(text, str):
        if not text.strip():
            raise NotYet("Your program printed nothing. Look at its standard error: does it start at all?")
        try:
            answers = json.loads(text)
        except (ValueError, RecursionError):
            if re.search(r"\b(NaN|[Ii]nf(inity)?|nan)\b", text):
                raise NotYet("There is a NaN or an infinity in what your program prints, where I sent none.") from None
            if re.fullmatch(r"(\{[^\n]*\}\s*){2,}", text.strip()):
                raise NotYet("Your program prints one answer after the other. Print one list: [..., ...].") from None
            raise NotYet(
                f"What your program printed is not JSON: {quoted(text, 60)}. Is `json.dumps` missing, or "
                "`JSON.stringify`? Print nothing but the answers."
            ) from None
    else:
        answers = text
    if isinstance(answers, dict):
        raise NotYet("I need a list of answers, one for each program, also if there is only one. Yours is one answer.")
    if not isinstance(answers, list):
        raise NotYet(f"I need a list of answers, and got {shortened(answers)}.")
    if len(answers) != len(programs):
        raise NotYet(f"I sent {len(programs)} programs, and the number of answers is {len(answers)}.")
    return [_one_answer(answer) for answer in answers]


def _started(error: Any) -> None:
    if isinstance(error, FileNotFoundError):
        if " " in str(error.filename or ""):
            raise NotYet(f'No program is called {quoted(str(error.filename), 60)}. Write a list: ["node", "-e", ...].')
        raise NotYet(f"No program of that name was found: {quoted(str(error), 80)}. Write its whole path.")
    if isinstance(error, subprocess.TimeoutExpired):
        raise NotYet("Your program doesn't end. Does it wait for more after the list of programs?")
    if isinstance(error, subprocess.CalledProcessError):
        said = error.stderr.decode("utf-8", "replace") if isinstance(error.stderr, bytes) else error.stderr or ""
        if not said.strip():
            raise NotYet(f"Your program stopped with exit code {error.returncode}, and printed no error.")
        raise NotYet(f"Your program stopped with exit code {error.returncode}. It said {quoted(_telling(said))}.")


def _telling(said: str) -> str:
    """Return the line that names the error: the last in Python, but Node and Rust write other lines after it."""
    lines = said.strip().splitlines()
    named = [place for place, line in enumerate(lines) if re.search(r"error|exception|panicked", line, re.IGNORECASE)]
    return " ".join(lines[named[-1] : named[-1] + 1 + lines[named[-1]].endswith(":")]) if named else lines[-1]


def _one_answer(answer: Any) -> tuple[float, Any]:
    if not isinstance(answer, dict) or not {"value", "gradient"} <= set(answer):
        raise NotYet(f'Each answer looks like {{"value": 8.0, "gradient": [4.0, 2.0]}}. One is {shortened(answer)}.')
    if answer["value"] is None:
        raise NotYet(
            "A value in your answers is null. JavaScript prints NaN that way, and I sent nothing that makes one."
        )
    return number(answer["value"], "a value in your answers"), answer["gradient"]


def _close(value: float, right: float, digits: float = 1e-9) -> bool:
    return math.isclose(value, right, rel_tol=digits, abs_tol=digits)


def _digits(value: float, right: float) -> None:
    if _close(value, right, 1e-5):
        raise NotYet(
            f"Too few digits: {value!r}, and {right!r} is right. Compute in 64-bit floats and print all 17 "
            "digits, or as many as your JSON library does."
        )


def _values(run: Any, programs: list[Program]) -> list[Any]:
    """Check the values that a learner's program answers, and return its gradients."""
    answers = _answers(run, programs)
    for program, (value, _) in zip(programs, answers, strict=True):
        right = expected(program)["value"]
        if not _close(value, right):
            _digits(value, right)
            raise NotYet(f"The value of `{_short(program)}` is {right:.6g}, and yours is {value:.6g}.")
    return [gradient for _, gradient in answers]


def _gradients(run: Any, programs: list[Program]) -> None:
    gradients = _values(run, programs)
    all_right = [expected(program)["gradient"] for program in programs]
    found = []
    for program, given, right in zip(programs, gradients, all_right, strict=True):
        if not isinstance(given, list) or len(given) != len(right):
            raise NotYet(
                f"The gradient has one number for each input, here {len(right)}, also for an input that nothing uses. "
                f"For `{_short(program)}` yours is {shortened(given)}."
            )
        if None in given:
            used = any(given.index(None) in at for _, *at in program["operations"])
            raise NotYet(
                "There is a null among your slopes. "
                + (
                    "JavaScript prints NaN that way: do you add to a slope that was never set to 0?"
                    if used
                    else "The slope of an input that nothing uses is 0 here."
                )
            )
        found.append([number(slope, "a slope in your answers") for slope in given])
    if all(slope == 0 for given in found for slope in given):
        raise NotYet("All your gradients are 0. Walk back through the operations, from a 1 at the target.")
    for place, (program, given, right) in enumerate(zip(programs, found, all_right, strict=True)):
        for slope, wanted in zip(given, right, strict=True):
            if not _close(slope, wanted):
                _digits(slope, wanted)
                _explain(program, given, right, _left_over(given, right, found[:place]))


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


def _explain(program: Program, given: list[float], right: list[float], left_over: bool) -> None:
    uses = [place for _, *at in program["operations"] for place in at]
    names = {name for name, *_ in program["operations"]}
    if left_over:
        raise NotYet("Slopes of the program before are still there. Set them all to 0 before each walk.")
    if len(names) == 1 and any(at[0] == at[-1] for _, *at in program["operations"] if len(at) == 2):
        raise NotYet(f"For `{_short(program)}`, the same value is used twice in one operation. Both uses contribute.")
    one_rule = f"The operations in it: {', '.join(sorted(names))}." if names else "The target is an input."
    if len(program["operations"]) == 1:
        one_rule = f"This program has only one operation, so the rule of `{program['operations'][0][0]}` is wrong."
    if len(names) > 1 and len(set(uses)) == len(uses):
        one_rule = "Each rule alone is right. Does the walk begin at the last operation?"
    twice = " A value that is used twice gets two contributions: `+=`, not `=`." if len(set(uses)) < len(uses) else ""
    raise NotYet(
        f"For `{_short(program)}` the gradient is {[float(f'{slope:.6g}') for slope in right]}, and yours is "
        f"{[float(f'{slope:.6g}') for slope in given]}. {one_rule}{twice}"
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
        lambda run, _: _values(run, SINGLE[:4] + drawn(221, 6, 6, FOUR)),
    ),
    Milestone(
        "chains",
        "answer with gradients where every value is used once.",
        lambda run, _: _gradients(run, SINGLE + drawn(222, 10, 6, ALL, once=True)),
    ),
    Milestone(
        "forks",
        "answer with gradients where values are used twice, or not at all.",
        lambda run, _: _gradients(run, FORKS + drawn(223, 6, 5, ALL)),
    ),
    Milestone("all", "answer long random programs.", lambda run, _: _gradients(run, drawn(224, 40, 30, ALL))),
)
"""The four milestones of the project; the answer to each is the same function."""


def own_tape(answer: Any) -> str:
    """Check 22.4: a program's values, then its gradients along chains, at forks, and in random programs."""
    needs_function(answer, "run(text)")
    done = climbed(answer, MILESTONES)
    return f"{done} Your tape and ours agree on 40 programs of 30 operations. Now write the report."
