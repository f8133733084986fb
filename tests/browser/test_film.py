"""A film plays in a browser without a script: on its own, and as an image of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from programs import diamond, training

import autodiff_edu as ad
from autodiff_edu.player.print.film import STEP

SEEN = """(time) => {
  for (const one of document.getAnimations()) { one.pause(); if (time !== null) one.currentTime = time; }
  const texts = [...document.querySelectorAll("text")].filter((text) => {
    const group = text.closest("g");
    return getComputedStyle(text).visibility === "visible" && (!group || getComputedStyle(group).opacity !== "0");
  });
  return texts.map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const cut = text.ownerSVGElement !== document.documentElement; // by the window of the graph
    return { words: text.textContent, left, right, top, bottom, cut };
  });
}"""
SCREEN = {"width": 1280, "height": 720}


def texts(svg: str) -> list[str]:
    """The texts of a slide, except its graph's: a film keeps showing the same part of the graph if it can."""
    return sorted(
        element.text or "" for element in ElementTree.fromstring(svg).iterfind("{http://www.w3.org/2000/svg}text")
    )


def test_a_film_shows_each_slide_at_its_time_and_no_text_runs_out(visit: Any, tmp_path: Path) -> None:
    for player in (ad.play(diamond()), ad.play(training())):
        film = player.film()
        film.save(tmp_path / "film.svg")
        tab = visit((tmp_path / "film.svg").as_uri(), SCREEN, reduced_motion="no-preference")
        for number, step in enumerate(film.steps):
            seen = tab.page.evaluate(SEEN, STEP * (number + 1) - 5)
            slide = player.frames(step, size="16:9")
            assert sorted(text["words"] for text in seen if not text["cut"]) == texts(slide.svg())
            out = [
                text
                for text in seen
                if not text["cut"] and (text["left"] < 39 or text["right"] > 1241 or text["bottom"] > 700)
            ]
            assert out == []
        tab.is_quiet()


def test_with_less_motion_a_film_is_one_slide(visit: Any, tmp_path: Path) -> None:
    player = ad.play(diamond())
    player.film().save(tmp_path / "film.svg")
    tab = visit((tmp_path / "film.svg").as_uri(), SCREEN, reduced_motion="reduce")
    assert tab.page.evaluate("document.getAnimations().length") == 0
    seen = [text["words"] for text in tab.page.evaluate(SEEN, None) if not text["cut"]]
    slides = [texts(player.frames(number, size="16:9").svg()) for number in range(1, len(player) + 1)]
    assert sorted(seen) in slides
    assert "after" in seen, "the sum of an accumulator"


def test_a_film_plays_as_an_image_of_a_page_without_scripts(visit: Any, tmp_path: Path) -> None:
    ad.play(diamond()).film().save(tmp_path / "film.svg")
    (tmp_path / "page.html").write_text('<img src="film.svg" alt="A film" width="640">', encoding="utf-8")
    tab = visit((tmp_path / "page.html").as_uri(), java_script_enabled=False, reduced_motion="no-preference")
    picture = tab.page.locator("img")
    shown: set[bytes] = set()
    for _ in range(500):  # photographs, each of which takes a moment
        shown.add(picture.screenshot(animations="allow"))
        if len(shown) == 4:
            break
    assert len(shown) == 4, "it moves"
    assert picture.bounding_box()["height"] == 360
    assert {url.rsplit("/", 1)[-1] for url in tab.requests} == {"page.html", "film.svg"}
