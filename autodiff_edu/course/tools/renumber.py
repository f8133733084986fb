"""Number the chapters of a course as its course.toml lists them, after a line of that list was moved.

    python -m autodiff_edu.course renumber

The old numbers are those in the names of the notebooks, the new ones those of the list. The notebooks are renamed and
filled (see fill.py); and every mention is rewritten, in the notebooks with their stored outputs, in the Python files
beside course.toml, and in the pages that it names:

- names of moved chapters, in links or elsewhere: 12-higher-order-gradients, but not 12-higher-order-gradients.npy;
- `[12 · Higher-order gradients]`;
- chapter 12, chapters 12, 13 and 15, chapters 12 to 14, appendix B; exercise 12.3, project 22.1, check 12.3;
- `check("12.3", …)`, `predict("12.a")`, in tests RIGHT["12.3"], a comment that begins with 12.3 and a colon,
  and a heading `### 12.3 …`.

A chapter of another book is left alone if it reads "(2008), chapter 8", "its chapter 13" or "chapter 12 of their book".
In a page, lines that begin with the names of all chapters, in order, such as the rows of a table or those of a table of
contents, are put into the new order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...saving.files import write
from ..contents import HERE, Chapter, Course
from .execute import as_text, fingerprint
from .fill import fill

AND = r"(?:, and |, or |, | and | or | to |–)"
NUMBER = r"(?:\d+|[A-Z])(?![\w.]*\d)\b"
NUMBERS = rf"{NUMBER}(?:{AND}{NUMBER})*"
ID = r"(?:\d+|[A-Z])\.(?:\d+|[a-z]+)\b"
MENTION = re.compile(
    r"(?<!\d{4}\), )(?<!\bits )\b(?:"
    rf"(?:[Cc]hapter|[Aa]ppendix)\s+(?P<chapter>{NUMBER})"
    rf"|(?:[Cc]hapters|[Aa]ppendices)\s+(?P<chapters>{NUMBERS})"
    r")(?! of (?:their|his|her) )"
    rf"|\b(?:[Ee]xercise|[Pp]roject|[Cc]heck)s?\s+(?P<ids>{ID}(?:{AND}{ID})*)"
    rf"|\b(?:check|predict)\(\s*[\"'](?P<asked>{ID})"
    rf"|\b(?:RIGHT|WRONG)\[\"(?P<key>{ID})"
    rf"|^# (?P<heading>{ID})(?=: )|^###+ (?P<section>{ID})(?= )"
    r"|\[(?P<title>\d+|[A-Z])(?= · )",
    re.MULTILINE,
)
NAME = r"(?<![\w-])(?:{})(?![\w-]|\.(?!(?:ipynb|html|md)\b)\w)"
"""The name of a chapter, and not a part of another name, nor that of a file of another kind."""
ARTICLE = r"(?<!\w\s)"
"""What must not stand before the name of an appendix: "an A-rod" is a rod."""
LISTED = re.compile(rf"[Cc]hapters\s+{NUMBERS}|\.ipynb\), [^*]+\*")
"""What a person should read again: several chapters in a row, and what is said of the next chapter after its link."""
ANSWER = re.compile(r"^(\*\*)?(?P<id>(?:\d+|[A-Z])\.\d+)(?=: (?:Right|Not yet)\.)")
SAID = "text/plain", "text/markdown"


def renumber(course: Course) -> list[str]:
    """Number the chapters of a course as its course.toml lists them.

    Parameters
    ----------
    course : Course
        Nothing of it needs to have been numbered before; a new chapter's notebook is called by its slug alone.

    Returns
    -------
    list of str
        What was done, a line for each file; and what a person should read again.

    Raises
    ------
    FileNotFoundError
        If a chapter has no notebook.
    ValueError
        If a chapter has two, two have the same number, or a numbered notebook is not listed; or as `fill` does. Every
        file is as before then.
    """
    if HERE in course.notebooks.parents:
        raise ValueError(f"{course.notebooks} is a part of the installed package; renumber its chapters in a checkout")
    there = find(course)
    numbers = {_plain(_number(path.stem)): str(chapter.number) for chapter, path in there.items()}
    moved = {old: new for old, new in numbers.items() if old and old != new}
    names = {
        path.stem: chapter.name for chapter, path in there.items() if _number(path.stem) and path != chapter.notebook
    }
    done = []
    for chapter, path in there.items():
        if path != chapter.notebook:
            done.append(f"{path.name} is now {chapter.notebook.name}")
    texts = {chapter: path.read_text(encoding="utf-8") for chapter, path in there.items()}
    pages = sorted({*course.folder.glob("*.py"), *course.pages} - {chapter.notebook for chapter in course.chapters})
    before = {path: path.read_bytes() for path in (*there.values(), *pages)}
    try:
        _move(there, texts)
        return done + _write_all(course, texts, pages, moved, names)
    except BaseException:
        for chapter, path in there.items():
            if path != chapter.notebook:
                chapter.notebook.unlink(missing_ok=True)
        for path, content in before.items():
            write(path, content)
        raise


def _move(there: Mapping[Chapter, Path], texts: Mapping[Chapter, str]) -> None:
    for chapter, path in there.items():
        if path != chapter.notebook:
            path.unlink()
    for chapter, text in texts.items():
        if there[chapter] != chapter.notebook:
            write(chapter.notebook, text.encode())


def _write_all(
    course: Course,
    texts: Mapping[Chapter, str],
    pages: Sequence[Path],
    moved: Mapping[str, str],
    names: Mapping[str, str],
) -> list[str]:
    done: list[str] = []
    for path in pages:  # before a module is imported
        text = path.read_text(encoding="utf-8")
        after = rewrite(text, moved, names)
        done += _write(path, text, _reorder(after, course) if names else after)
    for chapter in course.chapters:
        notebook = chapter.read()
        was_run = notebook["metadata"].get("executed") == fingerprint(notebook)
        _rewrite_cells(notebook["cells"], moved, names)
        fill(notebook, chapter)
        if was_run:  # with the same questions, by other numbers
            notebook["metadata"]["executed"] = fingerprint(notebook)
        done += _write(chapter.notebook, texts[chapter], as_text(notebook))
    return done


def find(course: Course) -> dict[Chapter, Path]:
    """Find the notebook of each chapter, by whatever number it has.

    Raises
    ------
    FileNotFoundError
        If a chapter has none.
    ValueError
        If a chapter has two, two have the same number, or a numbered notebook is not listed.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(course.notebooks.glob("*.ipynb")):
        found.setdefault(path.stem.removeprefix(f"{_number(path.stem)}-"), []).append(path)
    there = {}
    for chapter in course.chapters:
        paths = found.pop(chapter.slug, [])
        if not paths:
            raise FileNotFoundError(
                f"there is no notebook of {chapter.slug!r}, which {course.file} lists: call it {chapter.slug}.ipynb"
            )
        if len(paths) > 1:
            raise ValueError(f"{' and '.join(map(str, paths))} are both of the chapter {chapter.slug!r}; keep one")
        there[chapter] = paths[0]
    if unlisted := [path for paths in found.values() for path in paths if _number(path.stem)]:
        raise ValueError(f"{unlisted[0]} is not in the list of {course.file}: list it, or move it elsewhere")
    numbered: dict[str, Path] = {}
    for path in there.values():
        number = _plain(_number(path.stem))
        if number and number in numbered:
            raise ValueError(
                f"{numbered[number]} and {path} have the same number, so a mention of chapter {number} may mean "
                "either: take the number out of the name of the new one"
            )
        numbered[number] = path
    return there


def rewrite(text: str, moved: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Rewrite the mentions of chapters in a text.

    Parameters
    ----------
    text : str
        Prose, Markdown or Python.
    moved : mapping
        By its old number, the new number of each chapter that has another one.
    names : mapping
        By its old name, the new name of each chapter that has another one.

    Examples
    --------
    >>> def swapped(text):
    ...     return rewrite(text, {"3": "4", "4": "3"}, {"03-shapes": "04-shapes"})
    >>> swapped("Chapters 2 to 3 and exercise 4.2 need [3 · Shapes](03-shapes.ipynb).")
    'Chapters 2 to 4 and exercise 3.2 need [4 · Shapes](04-shapes.ipynb).'
    >>> swapped("Griewank and Walther (2008), chapter 3, has 3 of them.")
    'Griewank and Walther (2008), chapter 3, has 3 of them.'
    """

    def mention(found: re.Match[str]) -> str:
        start = found.start(found.lastgroup or 0) - found.start()
        head, tail = found[0][:start], found[0][start:]
        return head + re.sub(r"\b(?<!\.)(\d+|[A-Z])\b", lambda number: moved.get(number[0], number[0]), tail)

    if names:
        listed = (("" if name[0].isdecimal() else ARTICLE) + re.escape(name) for name in names)
        text = re.sub(NAME.format("|".join(listed)), lambda name: names[name[0]], text)
    return MENTION.sub(mention, text)


def _rewrite_cells(cells: list[dict[str, Any]], moved: Mapping[str, str], names: Mapping[str, str]) -> None:
    for cell in cells:
        cell["source"] = rewrite("".join(cell["source"]), moved, names)
        for output in cell.get("outputs", ()):
            shown = [(output, "text")] if "text" in output else [(output.get("data", {}), kind) for kind in SAID]
            for texts, kind in shown:
                if kind in texts:
                    said = rewrite("".join(texts[kind]), moved, names)
                    texts[kind] = ANSWER.sub(lambda found: _moved_id(found, moved), said)


def _moved_id(found: re.Match[str], moved: Mapping[str, str]) -> str:
    number, _, part = found["id"].partition(".")
    return f"{found[1] or ''}{moved.get(number, number)}.{part}"


def _reorder(text: str, course: Course) -> str:
    """Put the lines that begin with the names of chapters into the order of the chapters, if all have one."""
    lines = text.split("\n")
    begins = re.compile(r"[\s|*-]*(?:file: |\{doc\}`|\[[^\]]*\]\()?(?:[\w.]+/)*((?:\d\d+|[A-Z])-[a-z][\w-]*)")
    order = [chapter.name for chapter in course.chapters]
    found = {place: each[1] for place, line in enumerate(lines) if (each := begins.match(line)) and each[1] in order}
    if sorted(found.values(), key=order.index) == order:
        by_name = {name: lines[place] for place, name in found.items()}
        for place, name in zip(found, order, strict=True):
            lines[place] = by_name[name]
    return "\n".join(lines)


def _write(path: Path, before: str, after: str) -> Iterator[str]:
    """Write a file if it changes, and say so; and where a person should read again."""
    if before == after:
        return
    write(path, after.encode())
    yield f"{path}: rewritten"
    old = set(before.split("\n"))
    for count, line in enumerate(after.split("\n"), 1):
        if line not in old and LISTED.search(line):
            yield f"{path}, line {count}: is this still so? {line.strip()[:200]}"


def _plain(number: str) -> str:
    """Return a number as it is written in a text: 3, not 03."""
    return number and (number.lstrip("0") or "0")


def _number(name: str) -> str:
    """Return the number that the name of a notebook begins with, or nothing."""
    found = re.match(r"(\d\d+|[A-Z])-", name)
    return found[1] if found else ""
