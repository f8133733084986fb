"""No common misspelling in what readers read: the text of the chapters, README, the book, and the docstrings.

Names and words that only look misspelt are listed in tests/spelling.txt, one per line.
"""

import re
import subprocess
import sys

from prose import ROOT, pieces, without_code

IGNORED = ROOT / "tests" / "spelling.txt"


def texts():
    """Yield what is read, by where it stands; comments and strings have too many names in them."""
    for piece in pieces():
        if piece.kind in ("page", "docstring"):
            yield piece.where, piece.text


def misspelt(found, folder):
    """Ask codespell; return its complaints, each with the place that the text came from."""
    places = []
    for number, (place, text) in enumerate(found):
        places.append(place)
        (folder / f"{number:05}.txt").write_text(without_code(text), encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words", str(IGNORED), "--disable-colors", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 65), done.stderr
    complaints = re.findall(r"(\d{5})\.txt:\d+: (.+)", done.stdout)
    assert bool(complaints) == (done.returncode == 65), done.stdout + done.stderr
    return [f"{places[int(number)]}: {words}" for number, words in complaints]


def test_nothing_that_is_read_is_misspelt(tmp_path):
    found = list(texts())
    assert len(found) > 500
    assert misspelt(found, tmp_path) == []


def test_a_misspelling_is_found_with_its_place_and_code_is_let_be(tmp_path):
    found = [("here", "Teh slope. `teh` https://teh.example"), ("there", "The derivitive, in\n```\nteh\n```")]
    assert misspelt(found, tmp_path) == ["here: Teh ==> The", "there: derivitive ==> derivative"]


def test_every_ignored_word_is_still_needed(tmp_path):
    words = IGNORED.read_text(encoding="utf-8").split()
    assert words == sorted(set(words))
    everything = " ".join(without_code(text).lower() for _, text in texts())
    assert [word for word in words if not re.search(rf"\b{re.escape(word)}\b", everything)] == []
