"""What is left of a player where its script does not run, and its key frames as a picture."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from programs import HOSTILE, broadcasting, diamond, hostile, nested, two_passes

import autodiff_edu as ad
from browser.conftest import NOTEBOOKS

KEY_FRAME = 'img[src^="data:image/svg+xml;base64,"]'


def test_both_players_of_a_comparison_and_the_numbers_that_differ_are_in_the_first_screen(
    open_tab: Any, tmp_path: Path
) -> None:
    path = tmp_path / "compared.html"
    ad.compare(lambda x: np.sum(x * x), lambda x: np.mean(x * x), [1.0, 3.0]).save(path)
    page = open_tab(path.as_uri(), viewport={"width": 1280, "height": 900}).page
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
    for result in ("10", "5"):
        place = page.locator(".graph [data-tensor][data-now] text[data-part]", has_text=result).first.bounding_box()
        assert 0 <= place["y"] < place["y"] + place["height"] <= 900


@pytest.mark.parametrize(("wide", "least"), [(1280, 380), (800, 340), (360, 300)])
def test_the_tangents_of_an_explorer_are_as_large_as_there_is_room(
    wide: int, least: int, open_tab: Any, tmp_path: Path
) -> None:
    path = tmp_path / "explored.html"
    ad.explore(lambda x: x * x, x=(0.0, 2.0)).save(path)
    page = open_tab(path.as_uri(), viewport={"width": wide, "height": 800}).page
    sizes = page.locator("img").evaluate_all("all => all.slice(0, 5).map((one) => one.getBoundingClientRect().width)")
    assert len(sizes) == 5
    assert min(sizes) >= least
    assert page.evaluate("document.documentElement.scrollWidth") <= wide


@pytest.mark.parametrize("example", [diamond, broadcasting, nested, two_passes, hostile])
def test_the_key_frames_are_a_picture_that_a_browser_shows(example: Any, visit: Any, tmp_path: Path) -> None:
    traced = example()
    path = tmp_path / "frames.svg"
    ad.play(traced).save(path)
    tab = visit(path.as_uri())
    # An SVG with an error in it becomes a page with a message of the browser's.
    assert tab.page.evaluate("document.documentElement.tagName") == "svg"
    assert tab.page.locator("parsererror, script, image, foreignObject, style").count() == 0
    assert tab.page.locator("svg > text").first.text_content() == traced.title[: len(traced.title)]
    assert tab.page.evaluate("window.hacked") is None
    assert tab.page.evaluate(OUTSIDE) == []
    assert len(tab.requests) == 1
    tab.is_quiet()


# All texts that are not in a window of the graph: none is wider than its frame.
OUTSIDE = """() => {
  const page = document.documentElement.getBoundingClientRect();
  const texts = [...document.querySelectorAll("svg > text")].filter((text) => !text.parentElement.viewportElement);
  return texts.filter((text) => text.getBoundingClientRect().right > page.right).map((text) => text.textContent);
}"""


def test_without_scripts_a_page_shows_a_key_frame_and_the_transcript(visit: Any, tmp_path: Path) -> None:
    for traced in (diamond(), hostile()):
        path = tmp_path / "player.html"
        ad.play(traced).save(path)
        tab = visit(path.as_uri(), java_script_enabled=False)
        picture = tab.page.locator(KEY_FRAME)
        assert picture.bounding_box()["width"] > 200
        assert picture.get_attribute("alt").startswith(f"{traced.title}, step ")
        assert tab.page.locator("pre").bounding_box()["height"] > 50
        assert tab.page.locator("pre").text_content() == traced.transcript()
        assert tab.page.locator("img").count() == 1, HOSTILE


def test_with_scripts_neither_is_seen(visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "player.html"
    ad.play(diamond()).save(path)
    tab = visit(path.as_uri())
    tab.page.locator("section.player").wait_for()
    for covered in tab.page.locator(f"{KEY_FRAME}, [data-autodiff-player] > pre").all():
        assert not covered.is_visible()


def test_nbconvert_keeps_the_key_frame_and_the_transcript() -> None:
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert comes with JupyterLab")
    notebook = nbformat.read(NOTEBOOKS / "08-stop-recording.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.source.startswith("%%play")][:1]
    latex, _ = nbconvert.LatexExporter().from_notebook_node(notebook)
    assert "The tape watches x, which is 3." in latex
    markdown, _ = nbconvert.MarkdownExporter().from_notebook_node(notebook)
    encoded = re.search(r'src="data:image/svg\+xml;base64,([^"]*)"', markdown).group(1)
    assert base64.b64decode(encoded).startswith(b"<svg ")
