"""A player is saved in the form that the name of the file says, whole or not at all."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.unpacking import content_of


def square(x):
    return x * x


def test_nothing_that_a_terminal_obeys_or_nobody_sees_is_in_a_file(tmp_path):
    evil = "\x00\x1b[31m\x07\u202e\n\x85\x7f"
    x = ad.Variable(3.0, name=f"x{evil}")
    with ad.trace(f"title{evil}") as t:
        with ad.GradientTape() as tape, ad.scope(f"scope{evil}"):
            y = x * ad.constant(2.0, name=f"c{evil}")
        tape.gradient(y, x)
    player = ad.play(t)
    assert str(tape).replace("\n", "").isprintable()
    for ending in (".txt", ".html", ".svg"):
        player.save(path := tmp_path / f"player{ending}")
        text = path.read_text(encoding="utf-8")
        assert text.replace("\n", "").isprintable()
        assert "x\\x00\\x1b[31m" in text
    assert content_of(player.html())["trace"]["title"] == "title\\x00\\x1b[31m\\x07\\u202e\\n\\x85\\x7f"
    assert "scope\\x00\\x1b[31m\\x07" in t.to_json().replace("\\\\", "\\")


def test_a_page_is_a_whole_document_and_can_be_saved(tmp_path):
    player = ad.play(square, 3.0)
    player.save(tmp_path / "player.html")
    text = (tmp_path / "player.html").read_text(encoding="utf-8")
    assert text == player.page()
    assert text.startswith("<!DOCTYPE html>")
    assert player.html().strip() in text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lesson.html", lambda player: player.page()),
        ("lesson.HTML", lambda player: player.page()),
        ("lesson.svg", lambda player: player.frames().svg()),
        ("lesson.txt", lambda player: player.transcript() + "\n"),
        ("lesson.pdf", lambda player: player.frames().pdf()),
    ],
)
def test_a_file_s_name_says_in_which_form_the_player_is_saved(name, content, tmp_path):
    player = ad.play(square, 3.0)
    path = tmp_path / name
    path.write_text("what was there before")
    player.save(str(path))
    wanted = content(player)
    assert path.read_bytes() == (wanted if isinstance(wanted, bytes) else wanted.encode())
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["lesson", "lesson.mp4", "lesson.html.gz", ".html"])
def test_an_unknown_form_is_refused_and_nothing_is_written(name, tmp_path):
    (tmp_path / name).write_text("precious")
    with pytest.raises(ValueError, match=r"\.html, \.svg, \.pdf, \.gif, \.webp, \.png or \.txt"):
        ad.play(square, 3.0).save(tmp_path / name)
    assert (tmp_path / name).read_text() == "precious"


def test_a_save_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "lesson.html"
    path.write_text("precious")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        ad.play(square, 3.0).save(path)
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_in_place_of_a_file_is_refused_with_a_player_s_name(tmp_path):
    (tmp_path / "x.svg").mkdir()
    with pytest.raises(IsADirectoryError, match=r"x\.svg is a directory.*x\.svg.player\.svg"):
        ad.play(np.sin, 1.0).save(tmp_path / "x.svg")


def test_a_player_is_not_saved_into_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="create it first"):
        ad.play(np.sin, 1.0).save(tmp_path / "absent" / "player.html")
