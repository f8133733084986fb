"""Run chapters and write them back so that two runs give the same bytes.

    python -m autodiff_edu.course.execute notebooks/*.ipynb

Each notebook is run from top to bottom in a fresh kernel, in its own folder. What a kernel makes up as it goes (the
ids of widgets, times, versions) is left out. A player is kept as HTML, so that it plays as soon as the notebook is
opened, with a kernel or without.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ...player import WIDGET_VIEW

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def execute(path: str | Path, timeout: int = 120) -> None:
    """Run one notebook and write it back.

    Parameters
    ----------
    path : path
        The notebook.
    timeout : int
        How many seconds one cell may take.

    Raises
    ------
    ImportError
        If nbclient and nbformat are missing, saying what to install.
    nbclient.exceptions.CellExecutionError
        If a cell raises; the file is then left as it was.
    """
    needs_jupyter()
    import nbformat
    from nbclient import NotebookClient

    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent.resolve())}},
    )
    client.execute()
    notebook["metadata"]["executed"] = fingerprint(notebook)
    path.write_text(as_text(notebook), encoding="utf-8", newline="\n")


def needs_jupyter() -> None:
    """Say what to install if notebooks cannot be run.

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


def fingerprint(notebook: dict[str, Any]) -> str:
    r"""Tell a chapter's code from any other: by it, the book knows a chapter that was changed since it was run.

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
    executed = {"executed": notebook["metadata"]["executed"]} if "executed" in notebook["metadata"] else {}
    notebook["metadata"] = json.loads(json.dumps({**KERNEL, **executed}))
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    used: set[str] = set()
    for number, cell in enumerate(notebook["cells"], 1):
        for transient in ("execution", "collapsed", "scrolled", "trusted"):
            cell["metadata"].pop(transient, None)
        if not cell.get("id") or cell["id"] in used:
            cell["id"] = f"cell-{number:02}"
        used.add(cell["id"])
        for output in cell.get("outputs", ()):
            # A stored view of a widget waits for a kernel; the same in HTML plays without.
            if "text/html" in output.get("data", {}):
                output["data"].pop(WIDGET_VIEW, None)
    return json.dumps(_split(notebook), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every notebook named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m autodiff_edu.course.execute", description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="+", type=Path, help="the chapters, run in place")
    paths = parser.parse_args(arguments).notebooks
    if missing := [str(path) for path in paths if not path.is_file()]:
        parser.error(f"there is no file {', '.join(missing)}; no chapter was run")
    for path in paths:
        execute(path)
        print(f"{path}: run and written")


if __name__ == "__main__":
    main()
