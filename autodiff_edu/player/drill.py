"""`drill`: ten small programs drawn at random, each with one thing to work out.

The content of a drill is that of a player of its first program, with `ask`, the question ({step, kind, subject, target,
result}, of which js/questions/ makes a sentence), and `drill`, a list of the other programs: trace, layout and ask.
"""

from __future__ import annotations

import linecache
import operator
import secrets
from os import PathLike
from typing import Any

import numpy as np

from ..core.active import always, only
from ..trace.trace import trace
from . import Player, layout
from .drill_levels import LEVELS, DrillProgram, draw
from .extra_parts import Written
from .files import save
from .sheet import Asked, sheet

QUESTIONS = {
    "value": "What number is {subject}?",
    "shape": "What shape is {subject}?",
    "flow": "What shape is the cotangent of {subject}?",
    "sum": "What cotangent does {subject} have in the end?",
    "gradient": "What is {result}? A number, or None?",
}


def drill(level: int, seed: int | None = None) -> Drill:
    """Practise: ten small random programs, each with a value, a shape, a cotangent or a `None` to work out.

    Type the answer into the player, which gives a hint and a second try if it is wrong, and a score after the tenth.
    All of it also works without Python, in a saved notebook and on a page. To practise on paper, save the drill as
    HTML and print it: two A4 pages with room to write, and a third with the answers.

    Parameters
    ----------
    level : int
        1, scalars along one path; 2, scalars that are used more than once, quotients and powers; 3, shapes:
        broadcasting, matrix products, sums along an axis; 4, two tapes and second derivatives. At any level `None`
        may be the answer.
    seed : int, optional
        A number of your choice: the same level and seed are the same drill. Without it, every call draws another one,
        and the title shows its seed.

    Returns
    -------
    Drill
        A `Player` of ten programs; the last expression of a notebook cell shows it.

    Raises
    ------
    ValueError
        If there is no such level.
    TypeError
        If the level or the seed is not an integer.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.drill(1, seed=7)
    Drill(level=1, seed=7)
    """
    level, last = _integer("level", level, "ad.drill(1)"), max(LEVELS)
    if level not in LEVELS:
        listed = "; ".join(f"{number}, {what}" for number, what in LEVELS.items())
        raise ValueError(f"level {level} does not exist: write a level from 1 to {last}, as in ad.drill(1). {listed}")
    if seed is None:
        seed = secrets.randbelow(10_000)
    return Drill(level, _integer("seed", seed, "ad.drill(1, seed=7)"))


def _integer(name: str, value: Any, example: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"a drill's {name} is an integer, not {value!r:.40}: write {example}")
    return operator.index(value)


class Drill(Player):
    """Ten programs to practise on; created by `drill`.

    Attributes
    ----------
    level, seed : int
        The level and seed it was drawn with.
    """

    def __init__(self, level: int, seed: int) -> None:
        self.level, self.seed = level, seed
        with only(), np.errstate(all="ignore"):  # the user's tapes must not follow what is tried out here
            drawn = list(draw(level, seed))
        contents = [
            _content(program, f"drill, level {level}, seed {seed}: program {number} of {len(drawn)}")
            for number, (program, _) in enumerate(drawn, 1)
        ]
        super().__init__(Written(contents[0]["trace"]), predict=True)
        more = [one | {"layout": layout(one["trace"])} for one in contents[1:]]
        self._content.update({"ask": contents[0]["ask"], "drill": more})
        self._drawn = drawn
        self.step = contents[0]["ask"]["step"]  # the one before it, which the document counts from 0

    def __repr__(self) -> str:
        return f"Drill(level={self.level}, seed={self.seed})"

    def transcript(self) -> str:
        """Return the programs with their questions, and then the answers."""
        return _on_paper(self._drawn)

    def _write_fallback(self) -> str:
        return self.transcript()

    def sheet(self) -> str:
        """Return the drill as a page to print: two A4 pages with room to write, and a third with the answers."""
        asked = [Asked(_question(program), answer, program.lines) for program, answer in self._drawn]
        about = f"{LEVELS[self.level][0].upper()}{LEVELS[self.level][1:]}."
        return sheet(f"Drill, level {self.level}, seed {self.seed}", about, asked)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drill to a file, in the format given by the ending of its name.

        Parameters
        ----------
        path : path
            A name that ends in .html (the drill on paper: print it), .txt (the same as plain text), .svg or .pdf (the
            key frames of the first program). An existing file is replaced once the new one is complete. The page on
            which the drill can be played is what `page()` returns.

        Raises
        ------
        ValueError
            If the name has another ending.
        OSError
            If the path is a directory, a device or a pipe, or in a directory that does not exist.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "sheet.html"
        >>> drill(1, seed=3).save(path)
        >>> path.read_text(encoding="utf-8").count("<article>")
        10
        """
        if str(path).lower().endswith(".html"):
            save(path, {".html": lambda: self.sheet().encode()})
        else:
            super().save(path)


def _content(program: DrillProgram, title: str) -> dict[str, Any]:
    """Trace a program; return its trace, the layout of its graph, and the question about it."""
    path = f"<drill {title}>"
    linecache.cache[path] = (len(program.source), None, program.source.splitlines(keepends=True), path)
    try:
        with only(*always.listeners), trace(title) as traced:
            program.run(path)
        document = traced.document()
    finally:
        del linecache.cache[path]
    document["program"] = {"lines": [], "steps": []}  # Predict hides it anyway, because it gives much away
    asked = {"subject": program.subject, "target": program.target, "result": program.result}
    kind = {"flow": "sum"}.get(program.kind, program.kind)
    return {
        "trace": document,
        "ask": {"step": _step(document, program), "kind": kind, **asked},
    }


def _step(document: dict[str, Any], program: DrillProgram) -> int:
    """Find the step that a program's question is about."""
    tensors, entries = document["tensors"], document["entries"]

    def is_asked(step: dict[str, Any]) -> bool:
        if program.kind == "gradient":
            return bool(step["kind"] == "seed")
        computes = program.kind in ("value", "shape")
        if computes and step["kind"] not in ("record", "skip", "cut"):
            return False
        if not computes and step["kind"] != "accumulate":
            return False
        tensor = entries[step["entry"]]["output"] if computes else step["tensor"]
        return bool(tensors[tensor]["name"] == program.subject)

    found = [number for number, step in enumerate(document["steps"]) if is_asked(step)]
    first = program.kind in ("value", "shape") or program.target == "y"  # the inner tape's pass
    return found[0 if first else -1]


def _question(program: DrillProgram) -> str:
    """Return what is asked about a program, as a sentence."""
    return QUESTIONS[program.kind].format(**program._asdict())


def _on_paper(drawn: list[tuple[DrillProgram, str]]) -> str:
    """Write the programs with their questions, then the answers, for places where no player runs."""
    parts = []
    for number, (program, _) in enumerate(drawn, 1):
        parts.append("\n".join([f"{number}. {_question(program)}", *(f"    {line}" for line in program.lines)]))
    answers = ", ".join(f"{number}: {answer}" for number, (_, answer) in enumerate(drawn, 1))
    return "\n\n".join([*parts, f"Answers: {answers}"])
