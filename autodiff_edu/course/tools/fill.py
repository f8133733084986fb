r"""Write into a chapter's notebook what is known elsewhere: its number, its neighbours, its ids, its questions' texts.

    python -m autodiff_edu.course execute notebooks/*.ipynb

does so before it runs a chapter. What is written where:

- `# 12 · Custom gradients`, the first line of the first cell, gets the number;
- `*Previous: [11 · …](…) · Next: [13 · …](…)*` stands below it, and at the end of the last cell;
- the cells that call `predict` get the chapter's letters in order, `predict("12.a")`;
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
    >>> chapter = OURS.find("backward")
    >>> cells = [{"cell_type": "markdown", "id": "title", "source": "# Backward"}]
    >>> asked = {"cell_type": "code", "metadata": {}, "source": 'predict("")'}
    >>> cells += [{**asked, "id": f"p{k}"} for k in range(len(chapter.predictions))]
    >>> tags = {"tags": ["exercise"]}
    >>> cells += [{"cell_type": "code", "id": f"e{k}", "metadata": tags, "source": 'check("", 1)'} for k in range(3)]
    >>> notebook = {"cells": cells}
    >>> fill(notebook, chapter)
    >>> [notebook["cells"][place]["source"].partition("\n")[0] for place in (0, 1, -1)]
    ['# 2 · Backward', 'predict("2.a")', 'check("2.3", 1)']
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
    ids = iter(chapter.predictions)
    _check_order(cells, chapter, "predict", [(id, each.question) for id, each in chapter.predictions.items()])
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        _set(cell, CALL.sub(lambda m: m[0] if m["call"] != "predict" else _call(m, next(ids)), "".join(cell["source"])))


def _add_exercises(cells: list[Any], chapter: Chapter) -> None:
    """Add the cells of exercises that the notebook doesn't ask yet, if those it asks are the chapter's first ones."""
    there = [place for place, cell in enumerate(cells) if tagged(cell, "exercise")]
    texts = ["".join(cell["source"]) for cell in cells if TEXT.fullmatch(str(cell.get("id")))]
    titles = [_title(text) for text in texts]
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
    _check_cells(cells, chapter)
    _check_order(cells, chapter, "check", [(id, each.title) for id, each in chapter.exercises.items()])
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
        time = f" ({exercise.minutes} min)" if exercise.minutes else ""
        text = f"### {id} {exercise.title}{time}\n\n{exercise.question}" if exercise.title else exercise.question
        if text:
            above = cells[found[k - 1] + 1 if k else 0 : place]
            texts = [cell for cell in above if TEXT.fullmatch(str(cell.get("id")))]
            if not texts:
                texts = [type(cells[place])({"cell_type": "markdown", "metadata": {}, "source": ""})]
                cells.insert(place, texts[0])
            _name(texts[-1], name, id)
            _set(texts[-1], text)


def _check_cells(cells: list[Any], chapter: Chapter) -> None:
    """Refuse a cell of an exercise that asks for none, or for several."""
    asked = [place for place, call, _ in calls(cells) if call == "check"]
    for place, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), 1):
        if tagged(cell, "exercise") and (count := asked.count(place)) != 1:
            what = f"calls check {count} times" if count else "doesn't call check"
            raise ValueError(
                f'{chapter.notebook}, code cell {place} has the tag "exercise" and {what}: such a cell calls it once'
            )


def _check_order(cells: list[Any], chapter: Chapter, call: str, known: Sequence[tuple[str, str]]) -> None:
    """Refuse a notebook in which questions are left out, asked twice, or asked in another order than in the module.

    What a question was when the notebook was filled is told by what it shows: a title, or a prediction's question.
    Where that is not known, by its id.
    """
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    asked = [(place, id) for place, called, id in calls(cells) if called == call]
    if call == "check":  # a solution checks the same exercise again
        asked = [(place, id) for place, id in asked if tagged(code[place - 1], "exercise")]
    module, before, count = chapter.module.name, "", len(known)
    texts = [text for _, text in known]
    if len(asked) < count:
        kind = "predictions" if call == "predict" else "exercises"
        raise ValueError(f"{chapter.notebook}: {call} asks for {len(asked)} of the {count} {kind} in {module}")
    for k, (place, id) in enumerate(asked):
        here = f'{chapter.notebook}, code cell {place}: {call}("{id}")'
        if k == count:
            raise ValueError(f"{here} asks for one more than the {count} in {module}")
        shown = _shown(cells, code[place - 1], call)
        is_known = bool(shown) and shown in texts
        if is_known and shown != texts[k]:
            other = known[texts.index(shown)][0]
            raise ValueError(
                f"{here} shows {shown!r:.60}, which is {other} in {module}, and {known[k][0]} is {texts[k]!r:.60}; "
                "put cells and QUESTIONS in the same order"
            )
        if not is_known and id and before and _part(id) < _part(before):
            raise ValueError(f"{here} comes after {before}; put the cells in the order of QUESTIONS in {module}")
        before = "" if is_known else id or before


def _shown(cells: list[Any], cell: Any, call: str) -> str:
    """Return the title above an exercise's cell, or the question that a prediction's stored output shows."""
    if call == "predict":
        outputs = (output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", ()))
        found = [text.removeprefix("Predict: ") for text in map("".join, outputs) if text.startswith("Predict: ")]
        return found[0] if len(found) == 1 else ""
    place = next(k for k, each in enumerate(cells) if each is cell)
    for above in reversed(cells[:place]):
        if tagged(above, "exercise"):
            break
        if TEXT.fullmatch(str(above.get("id"))):
            return _title("".join(above["source"]))
    return ""


def _title(text: str) -> str:
    """Return the title of an exercise's text, without its id and its minutes."""
    return re.sub(r"^#+ ([\dA-Z]+\.\d+ )?| \(\d+ min\)$", "", text.partition("\n")[0])


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
