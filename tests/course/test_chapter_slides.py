"""Chapters as slides."""

import re

import pytest

from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.slides import list_slides, make_page

CHAPTERS = OURS.chapters


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.slug)
def test_every_picture_player_and_prediction_of_a_chapter_has_its_slide(chapter):
    cells = chapter.read()["cells"]
    before = next((place for place, cell in enumerate(cells) if "".join(cell["source"]).startswith("### ")), len(cells))
    stored = [
        output["data"]
        for cell in cells[:before]
        if "hide-output" not in cell["metadata"].get("tags", ())
        for output in cell.get("outputs", ())
        if "data" in output
    ]
    pages = ["".join(data.get("text/html", "")) for data in stored]
    slides = list(list_slides(cells))
    for page in filter(None, pages):
        assert sum(page in slide for slide in slides) == pages.count(page)
    for mark in ("data-autodiff-player", "data-autodiff-prediction"):
        counts = [slide.count(f"<div {mark}") for slide in slides]
        assert max(counts, default=0) <= 1
        assert sum(counts) == sum(f"<div {mark}" in page for page in pages)
    pictures = [data for data, page in zip(stored, pages, strict=True) if "image/png" in data and not page]
    assert sum('<img alt="' in slide and "data:image/png" in slide for slide in slides) == len(pictures)
    assert slides[0].startswith(f"<h1>{chapter.number} · ")


def test_slides_link_to_nothing_and_load_nothing():
    for chapter in CHAPTERS:
        page = make_page(chapter.read())
        assert "<a " not in page
        assert not re.search(r'(src|href)="(?!data:)', page)
        assert "{{" not in page.partition("<main>")[0]


def test_the_command_writes_a_file_for_each_chapter(tmp_path, capsys):
    assert main(["slides", "08", "derivatives", "--out", str(tmp_path / "lecture")]) == 0
    names = ["08-stop-recording.html", "00-derivatives.html"]
    assert capsys.readouterr().out.split() == [str(tmp_path / "lecture" / name) for name in names]
    assert sorted(path.name for path in (tmp_path / "lecture").iterdir()) == sorted(names)


def test_an_unknown_chapter_and_one_that_was_not_run_are_refused(tmp_path, capsys):
    assert main(["slides", "99", "--out", str(tmp_path / "lecture")]) == 1
    assert "99" in capsys.readouterr().err
    assert not (tmp_path / "lecture").exists()
    cells = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# 1 · A rod"]}]
    with pytest.raises(ValueError, match="has no outputs: run it first"):
        make_page({"cells": cells})
