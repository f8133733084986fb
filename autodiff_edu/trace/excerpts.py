"""The code that a trace points into, cut out of the user's files and cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..text.frames import Where
from ..text.places import Place, excerpt, place


class Excerpts:
    """Excerpts of the user's code, and where in them something happened.

    Attributes
    ----------
    code : list of dict
        The excerpts, as the document has them.
    """

    def __init__(self, wheres: Iterable[Where | None]) -> None:
        codes: dict[str, set[Any]] = {}
        lines: dict[str, set[int]] = {}
        files: dict[str, str] = {}
        self.code: list[dict[str, Any]] = []
        self._spans: list[tuple[str, int, int]] = []  # of each excerpt: the path, its first line, and where it ends
        self._points: dict[tuple[int, int], dict[str, Any] | None] = {}  # by the id of a code object, and the offset
        for where in {(id(where[0]), where[1]): where for where in wheres if where is not None}.values():
            at = place(where)
            codes.setdefault(at.path, set()).add(where[0])
            lines.setdefault(at.path, set()).add(at.line)
            files[at.path] = at.file
        for path in codes:
            for first, text in excerpt(path, codes[path], lines[path]):
                self._spans.append((path, first, first + len(text)))
                self.code.append({"place": files[path], "first_line": first, "lines": text})

    def row(self, path: str, line: int) -> tuple[int, int] | None:
        """Return the index of the excerpt that a line is in, and the line; None if it is in none."""
        for index, (known, first, end) in enumerate(self._spans):
            if path == known and first <= line < end:
                return index, line
        return None

    def point(self, where: Where | None) -> dict[str, Any] | None:
        """Return the excerpt, line and columns of a place; None if no excerpt has it."""
        if where is None:
            return None
        key = id(where[0]), where[1]
        if key not in self._points:
            self._points[key] = self._locate(place(where))
        return self._points[key]

    def _locate(self, at: Place) -> dict[str, Any] | None:
        row = self.row(at.path, at.line)
        columns = None if at.columns is None else list(at.columns)
        return None if row is None else {"code": row[0], "line": row[1], "columns": columns}
