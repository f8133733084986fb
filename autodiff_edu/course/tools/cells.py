"""The cells of a new exercise: one for the answer, with its three dots, and the solution below a heading that folds."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..exercises import Exercise, Function, Judge, Table


def write_cells(name: str, exercise: Exercise) -> list[dict[str, Any]]:
    """Return the cells that a notebook gets for an exercise it doesn't ask yet; `fill` writes the question above them.

    Parameters
    ----------
    name : str
        The exercise's id, such as "1.2".
    exercise : Exercise
        Its signature is the head of the function to write; a right answer that can be written out is the solution.

    Examples
    --------
    >>> from autodiff_edu.course.exercises import Number
    >>> answer, fold, solution = write_cells("1.2", Number("Twice", "What is 2 + 2?", answer=4, why="It is."))
    >>> print(answer["source"])
    answer = ...
    <BLANKLINE>
    check("1.2", answer)
    >>> print(solution["source"])
    solution = 4
    check("1.2", solution)
    """
    asks = f'check("{name}", answer)'
    if isinstance(exercise, Function):
        function = exercise.signature.partition("(")[0]
        given = f"def {exercise.signature}:\n    return ...\n\n\nanswer = {function}\n{asks}"
    elif isinstance(exercise, Table):
        given = f"answer = {{{', '.join(f'{key!r}: ...' for key in exercise.parts)}}}\n\n{asks}".replace("'", '"')
    else:
        given = f"answer = ...\n\n{asks}"
    solution = f'solution = {_written(exercise)}\ncheck("{name}", solution)'
    return [
        _code(given, "exercise"),
        {"cell_type": "markdown", "id": "new-fold", "metadata": {}, "source": f"#### Solution to {name}"},
        _code(solution, "solution", "hide-input", "hide-output"),
    ]


def _code(source: str, *tags: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"id": "new", "outputs": [], "execution_count": None}
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source, **empty}


def _written(exercise: Exercise) -> str:
    """Write a right answer as code, or three dots if it can't be written out."""
    if isinstance(exercise, Function | Judge):
        return "..."
    answer: Any = exercise.answer
    text = repr(_plain(answer))
    return text if re.fullmatch(r"[\w\s.,:'\"(){}\[\]+-]+", text) and "array(" not in text else "..."


def _plain(answer: Any) -> Any:
    """Return an answer with Python's numbers in place of NumPy's."""
    if isinstance(answer, dict):
        return {name: _plain(part) for name, part in answer.items()}
    if isinstance(answer, tuple | list):
        return type(answer)(map(_plain, answer))
    return answer.item() if isinstance(answer, np.generic) else answer
