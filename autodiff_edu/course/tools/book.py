"""Build the site of a course: its chapters with players, programs to edit and exercises to check.

    python -m autodiff_edu.course book SITE
    python -m autodiff_edu.course book SITE --python python/

It is made as our own book is, by the same extensions of Jupyter Book, with the same styles and scripts; an installed
package carries them along, and in a checkout they are those of book/. Nothing is run: the chapters bring their outputs.
The programs of a page run in the reader's browser, by a Python that the site serves, if it is given one.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import autodiff_edu

from ...saving.files import resolve_folder, write
from ..contents import Course

HERE = Path(__file__).parents[1]
OURS = ("own_pages", "reference", "rule_source")
"""Extensions for pages that only our own book has."""
WRITTEN = ".site.json"
"""The file that says which files a build wrote, with a digest of each: only those are replaced by the next one."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
RUN = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"


def build(course: Course, out: Path, python: Path | None = None, wheels: Path | None = None) -> str:
    """Write the site into a folder.

    Parameters
    ----------
    course : Course
        Whose chapters were run.
    out : path
        The folder; a site that an earlier build wrote there is replaced, if nothing was added to it since.
    python : path, optional
        The folder with what pages load to run programs; it is filled if it is missing, from the network.
    wheels : path, optional
        Where NumPy and Matplotlib for the pages are, if the site is to serve them itself.

    Returns
    -------
    str
        What Jupyter Book warns of.

    Raises
    ------
    ImportError
        If Jupyter Book is missing.
    FileExistsError
        If `out` holds anything that an earlier build didn't write.
    ValueError
        If the book cannot be built, saying why.
    OSError
        If a notebook is missing.
    """
    for chapter in course.chapters:
        chapter.read()
    for name in ("jupyter_book", "yaml"):
        if find_spec(name) is None:
            raise ImportError("Jupyter Book is missing; a site needs it: pip install 'autodiff-edu[book]'")
    _list_written(out)
    if python is not None:
        _fetch(python, wheels)
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "book"
        _write_source(course, source)
        if python is not None:
            shutil.copytree(python, source / "made" / "python")
        command = [sys.executable, "-c", RUN, "build", "--quiet", str(source)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        site = source / "_build" / "html"
        said = COLOURS.sub("", done.stderr).replace(str(source / "chapters") + os.sep, "").strip()
        if done.returncode or not (site / "searchindex.js").exists():
            why = said.partition("Traceback (most recent call last):")[0].strip()  # Jupyter Book's own doesn't help
            raise ValueError(f"the book could not be built. {why or said}")
        replace_site(site, out)
    return said


def replace_site(site: Path, out: Path) -> None:
    """Copy a site into a folder, in place of the one that was copied there before, and write down which files it has.

    Raises
    ------
    FileExistsError
        If there is anything else in the folder. Nothing has been changed then.
    """
    written, out = _list_written(out), resolve_folder(out)
    for path in written:
        path.unlink(missing_ok=True)
    for folder in sorted({each for path in written for each in path.parents if out in each.parents}, reverse=True):
        with contextlib.suppress(OSError):  # there is a folder in it that no build wrote
            folder.rmdir()
    listed = {path.relative_to(site).as_posix(): _digest(path) for path in sorted(site.rglob("*")) if path.is_file()}
    out.mkdir(parents=True, exist_ok=True)
    write(out / WRITTEN, json.dumps(listed, indent=0).encode())
    shutil.copytree(site, out, dirs_exist_ok=True)


def _list_written(out: Path) -> list[Path]:
    """List the files of the site in a folder; raise an error if there is anything else in it."""
    out = resolve_folder(out)
    try:
        written = json.loads((out / WRITTEN).read_bytes()) if (out / WRITTEN).is_file() else {}
        there = [path for path in out.rglob("*") if path.is_symlink() or not path.is_dir()] if out.exists() else []
        files = {path.relative_to(out).as_posix(): path for path in there if path != out / WRITTEN}
        others = [
            name
            for name, path in files.items()
            if path.is_symlink() or not path.is_file() or written.get(name) != _digest(path)
        ]
    except (ValueError, AttributeError) as error:
        raise FileExistsError(f"{out / WRITTEN} cannot be read. Nothing was written. Choose another folder") from error
    if others:
        raise FileExistsError(
            f"{out} holds {min(others)}, which was not written by an earlier build. Nothing was written. Move it "
            "elsewhere, or choose another folder"
        )
    return list(files.values())


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def find_machinery() -> Path:
    """Find the folder with the extensions, the styles and the scripts of the book.

    Raises
    ------
    FileNotFoundError
        If they came neither with the package nor with a checkout.
    """
    for folder in (HERE / "book", HERE.parents[1] / "book"):
        if (folder / "_config.yml").exists():
            return folder
    raise FileNotFoundError(f"there is no {HERE / 'book'}: install autodiff-edu as a wheel, or from a whole checkout")


def _write_source(course: Course, source: Path) -> None:
    """Write what Jupyter Book builds the site from; the extensions bring the chapters."""
    yaml: Any = importlib.import_module("yaml")  # which comes with Jupyter Book
    book = find_machinery()
    config: dict[str, Any] = yaml.safe_load((book / "_config.yml").read_text(encoding="utf-8"))
    config |= {"title": course.title, "author": "", "copyright": ""}
    config["repository"]["url"] = ""
    sphinx = config["sphinx"]
    sphinx["local_extensions"] = {name: str(book / "_ext") for name in sphinx["local_extensions"] if name not in OURS}
    sphinx["config"] |= {"language": course.language, "course": str(course.folder)}
    sphinx["config"]["html_theme_options"]["logo"] |= {"text": course.title, "alt_text": ""}
    shutil.copytree(book / "_static", source / "_static")
    (source / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    pages = [f"chapters/{chapter.name}" for chapter in course.chapters]
    contents = {"format": "jb-book", "root": "index", "chapters": [{"file": page} for page in pages]}
    (source / "_toc.yml").write_text(yaml.safe_dump(contents, sort_keys=False), encoding="utf-8")
    front = course.folder / "index.md"
    text = front.read_text(encoding="utf-8") if front.is_file() else _front_page(course, pages)
    (source / "index.md").write_text(text, encoding="utf-8")


def _front_page(course: Course, pages: list[str]) -> str:
    return "\n".join([f"# {course.title}", "", *(f"- {{doc}}`{page}`" for page in pages), ""])


def _fetch(python: Path, wheels: Path | None) -> None:
    """Fill the folder of what the pages load, unless it is filled already; refuse one that is for another version."""
    listed = python / "files.json"
    if listed.exists():
        wheel = f"autodiff_edu-{autodiff_edu.__version__}-py3-none-any.whl"
        if wheel not in json.loads(listed.read_text(encoding="utf-8")):
            raise ValueError(
                f"{python} is not for autodiff-edu {autodiff_edu.__version__}: delete it, and run this again"
            )
        return
    if python.exists() and any(python.iterdir()):
        raise FileExistsError(f"{python} is there already, and holds something else. Choose another folder")
    sys.path.insert(0, str(find_machinery() / "live"))
    try:
        fetch: Any = importlib.import_module("fetch")
    finally:
        sys.path.pop(0)
    fetch.fetch(python, wheels)
