"""Run chapters and write them back so that two runs give the same bytes.

    python -m autodiff_edu.course execute notebooks/*.ipynb

Each notebook is run from top to bottom in a fresh kernel, in its own folder. What a kernel makes up as it goes (the
ids of widgets, times, versions) is left out. A player is kept as HTML, so that it plays as soon as the notebook is
opened, with a kernel or without. A player that holds the same as before stays as it is stored: another build of zlib
would pack it into other bytes. What the tags "hide-input" and "hide-output" fold in the book, JupyterLab folds too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...saving.files import write
from ..contents import Course
from ..values import find_course
from .differences import same_html
from .fill import fill

KEPT = "executed", "handed_out"
"""What else a notebook says of itself: what was run, and under which name it was handed out."""
KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
MODEL = re.compile(r'(<div data-autodiff-player[^>]*) data-model="[^"]*"|(<div data-autodiff-frame)="[^"]*"')
FRAMEWORKS = ("torch", "jax")
"""What a chapter may be about, and nobody has to install."""
FOLDS = {"hide-input": "source_hidden", "hide-output": "outputs_hidden"}
"""JupyterLab's words for what MyST-NB's tags hide. It shows the output again as soon as the cell is run."""


def execute(path: str | Path, timeout: int = 120, course: Course | None = None) -> None:
    """Fill one notebook with what is known elsewhere, if it is a chapter; run it and write it back.

    Parameters
    ----------
    path : path
        The notebook.
    timeout : int
        How many seconds one cell may take.
    course : Course, optional
        Whose chapter it may be; that of the nearest course.toml, or of this package, if not given.

    Raises
    ------
    ImportError
        If nbclient and nbformat are missing, saying what to install.
    ValueError
        If it does not ask what its chapter's module holds.
    nbclient.exceptions.CellExecutionError
        If a cell raises; the file is then left as it was.
    """
    needs_jupyter()
    import nbformat

    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    for chapter in (course or find_course(path.parent)).chapters:
        if chapter.notebook.resolve() == path.resolve():
            fill(notebook, chapter)
    stored = deepcopy([cell.get("outputs", []) for cell in notebook.cells])
    run(notebook, path.parent, timeout)
    _keep_stored(stored, notebook)
    write(path, as_text(notebook).encode())


def _keep_stored(stored: Sequence[Any], notebook: dict[str, Any]) -> None:
    """Put back the stored HTML of each output that holds exactly the same now."""
    for outputs, cell in zip(stored, notebook["cells"], strict=True):
        for before, now in zip(outputs, cell.get("outputs", ()), strict=False):
            old, new = (output.get("data", {}).get("text/html") for output in (before, now))
            if old and new and same_html(old, new):
                now["data"]["text/html"] = old


def run(
    notebook: Any,
    folder: str | Path,
    timeout: int = 120,
    environment: Mapping[str, str] | None = None,
    first: str = "",
) -> None:
    """Run a notebook in place, from top to bottom in a fresh kernel, and write no file.

    Parameters
    ----------
    notebook : NotebookNode
        As nbformat reads it (version 4); its outputs and its fingerprint become those of this run.
    folder : path
        Where it runs, so that it finds its data.
    timeout : int
        How many seconds one cell may take.
    environment : mapping of str to str, optional
        The environment variables of the kernel; those of this process if not given.
    first : str
        A line of Python that the kernel runs before the first cell.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        If a cell raises; the cells after it have not been run.
    """
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR", f"--IPKernelApp.exec_lines={first}"],
        resources={"metadata": {"path": str(Path(folder).resolve())}},
    )
    client.execute(env=dict(os.environ if environment is None else environment))
    notebook["metadata"]["executed"] = fingerprint(notebook)


def needs_jupyter() -> None:
    """Raise an error that names what to install if notebooks cannot be run.

    Raises
    ------
    ImportError
        If nbclient, nbformat or ipykernel is missing.
    """
    try:
        for module in ("ipykernel", "nbclient", "nbformat"):
            import_module(module)
    except ImportError as error:
        raise ImportError(f"{error}; running chapters needs JupyterLab: pip install 'autodiff-edu[lab]'") from error


def missing_frameworks(path: str | Path) -> list[str]:
    """List which of PyTorch and JAX a notebook imports and are not installed: such a chapter is not run.

    Parameters
    ----------
    path : path
        The notebook.
    """
    return [name for name in list_frameworks(path) if find_spec(name) is None]


def list_frameworks(path: str | Path) -> list[str]:
    """List which of PyTorch and JAX a notebook imports.

    Parameters
    ----------
    path : path
        The notebook.
    """
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return [name for name in FRAMEWORKS if re.search(rf"^(?:import|from) {name}\b", code, re.MULTILINE)]


def fingerprint(notebook: dict[str, Any]) -> str:
    r"""Distinguish a chapter's code from any other: by it, the book knows a chapter that was changed since it was run.

    Parameters
    ----------
    notebook : dict
        As JSON or nbformat reads it (version 4). Text, outputs and empty cells do not count.

    Returns
    -------
    str
        The SHA-256 of the code, as hexadecimal digits; a chapter that was run holds it in its metadata, as "executed".

    Examples
    --------
    >>> cell = {"cell_type": "code", "source": ["x = 1\n", "y = 2"]}
    >>> fingerprint({"cells": [cell]}) == fingerprint({"cells": [{**cell, "source": "x = 1\ny = 2"}]})
    True
    >>> fingerprint({"cells": [cell]}) == fingerprint({"cells": [{**cell, "source": "x = 1\ny = 3"}]})
    False
    """
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256("\0".join(filter(str.strip, sources)).encode()).hexdigest()


def as_text(notebook: dict[str, Any]) -> str:
    """Write a notebook as text in which nothing is left to chance.

    Parameters
    ----------
    notebook : dict
        As nbformat reads it (version 4); it is normalised in place.

    Returns
    -------
    str
        JSON with sorted keys.

    Examples
    --------
    >>> cell = {"cell_type": "code", "id": "b6f1", "metadata": {"execution": {"started": "10:04"}},
    ...         "source": "1 + 1", "execution_count": 7, "outputs": []}
    >>> notebook = {"cells": [cell], "metadata": {"language_info": {"name": "python", "version": "3.11.7"}},
    ...             "nbformat": 4, "nbformat_minor": 5}
    >>> "started" in as_text(notebook) or "3.11.7" in as_text(notebook)
    False
    """
    kept = {name: notebook["metadata"][name] for name in KEPT if name in notebook["metadata"]}
    notebook["metadata"] = json.loads(json.dumps({**KERNEL, **kept}))
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    used: set[str] = set()
    for number, cell in enumerate(notebook["cells"], 1):
        for transient in ("execution", "collapsed", "scrolled", "trusted"):
            cell["metadata"].pop(transient, None)
        _fold(cell["metadata"])
        if cell["cell_type"] == "markdown" and str(cell.get("id")).endswith("-fold"):
            cell["metadata"]["jp-MarkdownHeadingCollapsed"] = True
        if not cell.get("id") or cell["id"] in used:
            cell["id"] = f"cell-{number:02}"
        used.add(cell["id"])
        for output in cell.get("outputs", ()):
            if text := output.get("data", {}).get("text/html"):
                output["data"]["text/html"] = MODEL.sub(r"\1\2", text if isinstance(text, str) else "".join(text))
    return json.dumps(_split(notebook), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _fold(metadata: dict[str, Any]) -> None:
    """Hide in JupyterLab what a cell's tags hide in the book, and nothing else."""
    if "solution" in metadata.get("tags", ()):
        metadata["jupyter"] = {"source_hidden": True}  # its output shows when the heading above it unfolds
        return
    kept = {name: value for name, value in metadata.pop("jupyter", {}).items() if name not in FOLDS.values()}
    if folded := kept | {name: True for tag, name in FOLDS.items() if tag in metadata.get("tags", ())}:
        metadata["jupyter"] = folded


def _split(notebook: dict[str, Any]) -> dict[str, Any]:
    """Store long texts line by line, as Jupyter does, so that differences can be read."""
    notebook = json.loads(json.dumps(notebook))
    for cell in notebook["cells"]:
        cell["source"] = _lines(cell["source"])
        for output in cell.get("outputs", ()):
            if "text" in output:
                output["text"] = _lines(output["text"])
            for kind, content in output.get("data", {}).items():
                if not kind.endswith("json"):
                    output["data"][kind] = _lines(content)
    return notebook


def _lines(text: str | list[str]) -> list[str]:
    # only at "\n": str.splitlines would also split at characters that may stand in a script
    parts = (text if isinstance(text, str) else "".join(text)).split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
