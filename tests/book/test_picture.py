"""The film at the top of README shows what the player's slides show today."""

import re
from pathlib import Path

import picture

import autodiff_edu as ad

ROOT = Path(__file__).parents[2]
NAMED = "book/images/player.svg"


def test_the_film_is_as_it_would_be_made_today():
    assert picture.PICTURE == ROOT / NAMED
    assert picture.PICTURE.read_text(encoding="utf-8") == picture.film().svg(), "run: python book/_ext/picture.py"


def test_the_film_takes_twelve_seconds_and_little_room():
    film = picture.film()
    assert 11.5 < film.seconds < 12.5
    assert picture.PICTURE.stat().st_size < 100_000


def test_the_words_for_the_film_say_what_it_comes_to():
    steps = ad.play(picture.f, 2.0, 3.0)._content["trace"]["steps"]
    (last,) = [step for step in steps if step["kind"] == "accumulate" and step["count"] == 2]
    for page, picked in (("README.md", rf"!\[([^\]]*)\]\({NAMED}\)"), ("book/index.md", ":alt: (.*)")):
        (words,) = re.findall(picked, (ROOT / page).read_text(encoding="utf-8"))
        assert last["after"]["text"] in words, page
        assert "film" in words
