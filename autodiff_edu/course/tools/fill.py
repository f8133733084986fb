r"""Write into a chapter's notebook what is known elsewhere: its number, its neighbours, its ids, its questions' texts.

    python -m autodiff_edu.course execute notebooks/*.ipynb

does so before it runs a chapter. What is written where:

- `# 9 · Custom gradients`, the first line of the first cell, gets the number;
- `*Previous: [8 · …](…) · Next: [10 · …](…)*` stands below it, and at the end of the last cell;
- the cells that call `predict` get the chapter's letters in order, `predict("9.a")`;
- each cell with the tag "exercise" gets the next exercise: above it stands its title and question, and it, the heading
  of its solution and its solution get the ids `ex-2-answer`, `ex-2-fold` and `ex-2-solution`;
- exercises that come after those of the notebook get cells of their own, after these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..contents import Chapter
from .cells import write_cells

WORDS = {"en": ("Previous", "Next"), "de": ("Zurück", "Weiter"), "fr": ("Précédent", "Suivant")}
"""By language, what the links to the neighbours are called; in any other language, as in English."""
_WORD = "|".join(word for words in WORDS.values() for word in words)
LINKS = re.compile(
    rf"^\*(?:{_WORD}): \[[^*\n]*\]\([^)\n]*\)(?P<more>[^*\n]*)\*$",
    re.MULTILINE,
)
"""The line with the links. What it says after the last of them stays as it is."""
TEXT = re.compile(r"ex-\d+")
"""The id of the cell with the text of an exercise."""
CALL = re.compile(r"\b(?P<call>predict|check)(?P<open>\s*\(\s*)(?P<quote>[\"'])(?P<id>[^\"']*)(?P=quote)")


def fill(notebook: dict[str, Any], chapter: Chapter) -> None:
    r"""Fill a notebook, in place.

    Parameters
    ----------
    notebook : dict
        As JSON or nbformat reads it (version 4).
    chapter : Chapter
        Which chapter it is.

    Raises
    ------
    ValueError
        If it asks for more or fewer questions than the chapter has, or in another order: the message names the file
        and the cell.

    Examples
    --------
    >>> from autodiff_edu.course.contents import OURS
    >>> cells = [{"cell_type": "markdown", "id": "title", "source": "# Custom gradients"}]
    >>> cells += [{"cell_type": "code", "id": f"p{k}", "metadata": {}, "source": 'predict("")'} for k in range(8)]
    >>> tags = {"tags": ["exercise"]}
    >>> cells += [{"cell_type": "code", "id": f"e{k}", "metadata": tags, "source": 'check("", 1)'} for k in range(3)]
    >>> notebook = {"cells": cells}
    >>> fill(notebook, OURS.find("custom-gradients"))
    >>> [cell["source"].partition("\n")[0] for cell in notebook["cells"]][::7]
    ['# 9 · Custom gradients', 'predict("9.g")', 'check("9.3", 1)']
    >>> notebook["cells"][9]["source"].partition("\n")[0]
    '### 9.1 Right to second order'
    """
    _fill_predictions(notebook["cells"], chapter)
    _fill_exercises(notebook["cells"], chapter)
    _fill_links(notebook["cells"], chapter)


def calls(cells: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """Yield the calls of `predict` and `check`: which code cell it is in, from 1, what is called, and with which id."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, 1):
        for found in CALL.finditer("".join(cell["source"])):
            yield count, found["call"], found["id"]


def tagged(cell: Any, tag: str) -> bool:
    """Return whether a cell has a tag."""
    return tag in cell.get("metadata", {}).get("tags", ())


def _fill_links(cells: list[Any], chapter: Chapter) -> None:
    """Write the title's number, and the links to the neighbours where they stand; or below the title and at the end."""
    head, *rest = cells
    title, _, text = "".join(head["source"]).partition("\n")
    title = re.sub(r"^#\s*((\d+|[A-Z]) · )?", f"# {chapter.number} · ", title)
    _set(head, title + (f"\n{text}" if text else ""))
    links = _links(chapter)
    for found in ([head], [cell for cell in rest if cell["cell_type"] == "markdown"]):
        there = [cell for cell in found if LINKS.search("".join(cell["source"]))]
        for cell in there:
            _set(cell, LINKS.sub(lambda m: f"*{links}{m['more']}*" if links else "", "".join(cell["source"])))
        if found != [head] and there and any(tagged(cell, "exercise") for cell in cells[cells.index(there[-1]) :]):
            _set(there[-1], LINKS.sub("", "".join(there[-1]["source"])).rstrip())  # these exercises came later
            added = {"cell_type": "markdown", "id": "links", "metadata": type(head["metadata"])(), "source": ""}
            cells.append(type(head)(added))
            _set(cells[-1], f"*{links}*")
        if there or not links:
            continue
        if found == [head]:
            heading, *lines = "".join(head["source"]).split("\n")
            _set(head, "\n".join([heading, "", f"*{links}*", *lines]))
        elif rest and rest[-1]["cell_type"] == "markdown" and not TEXT.fullmatch(str(rest[-1].get("id"))):
            _set(rest[-1], "".join(rest[-1]["source"]) + f"\n\n*{links}*")


def _links(chapter: Chapter) -> str:
    chapters = chapter.course.chapters
    place, words = chapters.index(chapter), WORDS.get(chapter.course.language, WORDS["en"])
    neighbours = zip(words, (chapters[:place][-1:], chapters[place + 1 :][:1]), strict=True)
    links = [f"{word}: [{x.number} · {x.title}]({x.notebook.name})" for word, found in neighbours for x in found]
    return " · ".join(links)


def _fill_predictions(cells: list[Any], chapter: Chapter) -> None:
    asking = [cell for cell in cells if cell["cell_type"] == "code" and "predict(" in "".join(cell["source"])]
    ids = iter(chapter.predictions)
    _check_order(cells, chapter, "predict", len(chapter.predictions))
    for cell in asking:
        _set(cell, CALL.sub(lambda m: m[0] if m["call"] != "predict" else _call(m, next(ids)), "".join(cell["source"])))


def _add_exercises(cells: list[Any], chapter: Chapter) -> None:
    """Add the cells of exercises that the notebook doesn't ask yet, if those it asks are the chapter's first ones."""
    there = [place for place, cell in enumerate(cells) if tagged(cell, "exercise")]
    texts = ["".join(cell["source"]) for cell in cells if TEXT.fullmatch(str(cell.get("id")))]
    titles = [re.sub(r"^#+ ([\dA-Z]+\.\d+ )?", "", text.partition("\n")[0]) for text in texts]
    if titles != [exercise.title for exercise in list(chapter.exercises.values())[: len(there)]]:
        return
    ends = [place + 1 for place, cell in enumerate(cells) if tagged(cell, "exercise") or tagged(cell, "solution")]
    place = ends[-1] if ends else len(cells)
    kind = type(cells[0])
    for name, exercise in list(chapter.exercises.items())[len(there) :]:
        added = [kind({**cell, "metadata": kind(cell["metadata"])}) for cell in write_cells(name, exercise)]
        cells[place:place] = added
        place += len(added)


def _fill_exercises(cells: list[Any], chapter: Chapter) -> None:
    _add_exercises(cells, chapter)
    _check_order(cells, chapter, "check", len(chapter.exercises))
    found = [place for place, cell in enumerate(cells) if tagged(cell, "exercise")]
    ends = [*found[1:], len(cells)]
    for k, (id, exercise) in reversed(list(enumerate(chapter.exercises.items()))):  # cells that are inserted come later
        place, name = found[k], f"ex-{k + 1}"
        _name(cells[place], f"{name}-answer", id)
        for cell in cells[place + 1 : ends[k]]:
            if tagged(cell, "solution"):
                _name(cell, f"{name}-solution", id)
            elif str(cell.get("id")).endswith("-fold"):
                _name(cell, f"{name}-fold", id)
                _set(cell, re.sub(r"^(#.* )(\d+|[A-Z])\.\d+(?=\n|$)", rf"\g<1>{id}", "".join(cell["source"])))
        text = f"### {id} {exercise.title}\n\n{exercise.question}" if exercise.title else exercise.question
        if text:
            above = cells[found[k - 1] + 1 if k else 0 : place]
            texts = [cell for cell in above if TEXT.fullmatch(str(cell.get("id")))]
            if not texts:
                texts = [type(cells[place])({"cell_type": "markdown", "metadata": {}, "source": ""})]
                cells.insert(place, texts[0])
            _name(texts[-1], name, id)
            _set(texts[-1], text)


def _check_order(cells: list[Any], chapter: Chapter, call: str, count: int) -> None:
    """Refuse a notebook in which questions are left out, asked twice, or asked in another order than in the module."""
    asked = [(place, id) for place, called, id in calls(cells) if called == call]
    if call == "check":  # a solution checks the same exercise again
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        asked = [(place, id) for place, id in asked if tagged(code[place - 1], "exercise")]
    module, before = chapter.module.name, ""
    for k, (place, id) in enumerate(asked):
        here = f'{chapter.notebook}, code cell {place}: {call}("{id}")'
        if k == count:
            raise ValueError(f"{here} asks for one more than the {count} in {module}")
        if id and before and _part(id) < _part(before):
            raise ValueError(f"{here} comes after {before}; put the cells in the order of QUESTIONS in {module}")
        before = id or before
    if len(asked) < count:
        kind = "predictions" if call == "predict" else "exercises"
        raise ValueError(f"{chapter.notebook}: {call} asks for {len(asked)} of the {count} {kind} in {module}")


def _part(id: str) -> tuple[int, str]:
    part = id.rpartition(".")[2]
    return len(part), part


def _call(found: re.Match[str], id: str) -> str:
    return f"{found['call']}{found['open']}{found['quote']}{id}{found['quote']}"


def _name(cell: Any, name: str, id: str) -> None:
    """Write the name of a cell, and the id into its call of `check`."""
    cell["id"] = name
    if cell["cell_type"] == "code":
        text = "".join(cell["source"])
        _set(cell, CALL.sub(lambda m: m[0] if m["call"] != "check" else _call(m, id), text))


def _set(cell: Any, text: str) -> None:
    if "".join(cell["source"]) != text:
        cell["source"] = text
