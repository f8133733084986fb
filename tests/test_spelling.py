"""No common misspelling in what readers read: the text of the chapters, README, the book, and the docstrings.

Names and words that only look misspelt are listed in tests/spelling.txt, one per line.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
IGNORED = ROOT / "tests" / "spelling.txt"
CODE = re.compile(r"```.*?```|`[^`\n]*`|https?://\S+", re.DOTALL)


def texts():
    """Give what is read, by where it stands; code in it is left out."""
    for path in [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md")), ROOT / "notebooks" / "data" / "README.md"]:
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield f"{path.name} {cell['id']}", "".join(cell["source"])
    for path in sorted((ROOT / "autodiff_edu").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield f"{path.relative_to(ROOT).as_posix()} {getattr(node, 'name', 'module')}", text


def misspelt(found, folder):
    """Ask codespell; give its complaints, each with the place that the text came from."""
    places = []
    for number, (place, text) in enumerate(found):
        places.append(place)
        (folder / f"{number:05}.txt").write_text(CODE.sub(" ", text), encoding="utf-8")
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
    everything = " ".join(CODE.sub(" ", text).lower() for _, text in texts())
    assert [word for word in words if not re.search(rf"\b{re.escape(word)}\b", everything)] == []
