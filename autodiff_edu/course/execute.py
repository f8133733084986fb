"""Run chapters and write them back so that two runs give the same bytes.

    python -m autodiff_edu.course.execute notebooks/*.ipynb

Each notebook is run from top to bottom in a fresh kernel, in its own folder. What a kernel makes up as it goes (the
ids of widgets, times, versions) is replaced or left out. The state of the widgets is kept, so that a trusted notebook
shows its players as soon as it is opened.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
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
    try:
        import nbformat
        from nbclient import NotebookClient
    except ImportError as error:
        raise ImportError(f"{error}; running chapters needs JupyterLab: pip install 'autodiff-edu[lab]'") from error
    path = Path(path)
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=True,
        resources={"metadata": {"path": str(path.parent.resolve())}},
    )
    client.execute()
    path.write_text(as_text(notebook), encoding="utf-8", newline="\n")


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
    widgets = notebook["metadata"].get("widgets", {})
    notebook["metadata"] = json.loads(json.dumps(KERNEL))
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    used: set[str] = set()
    for number, cell in enumerate(notebook["cells"], 1):
        for transient in ("execution", "collapsed", "scrolled", "trusted"):
            cell["metadata"].pop(transient, None)
        if not cell.get("id") or cell["id"] in used:
            cell["id"] = f"cell-{number:02}"
        used.add(cell["id"])
    state = widgets.get(WIDGET_STATE, {}).get("state", {})
    if state:
        notebook["metadata"]["widgets"] = {WIDGET_STATE: {"state": state, "version_major": 2, "version_minor": 0}}
        _settle(state)
    text = _renamed(json.dumps(_split(notebook), ensure_ascii=False), _order(notebook["cells"], state))
    return json.dumps(json.loads(text), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _settle(state: dict[str, Any]) -> None:
    """Leave out of the widgets' state what another machine would write differently."""
    for model in state.values():
        for key in [key for key in model.get("state", {}) if key.endswith("_version") and key.startswith("_anywidget")]:
            del model["state"][key]


def _order(cells: list[dict[str, Any]], state: dict[str, Any]) -> list[str]:
    """List the ids of the widgets in the order in which a reader meets them, each followed by its parts."""
    seen: list[str] = []

    def visit(model: str) -> None:
        if model in seen or model not in state:
            return
        seen.append(model)
        for part in re.findall(r"IPY_MODEL_([\w-]+)", json.dumps(state[model], sort_keys=True)):
            visit(part)

    for cell in cells:
        for output in cell.get("outputs", ()):
            view = output.get("data", {}).get(WIDGET_VIEW)
            if view:
                visit(view["model_id"])
    for model in state:
        visit(model)
    return seen


def _renamed(text: str, models: list[str]) -> str:
    """Give the widgets the names widget-01, widget-02 and so on, wherever they are mentioned."""
    names = {model: f"widget-{number:02}" for number, model in enumerate(models, 1)}
    if not names:
        return text
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub("|".join(longest_first), lambda found: names[found.group()], text)


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
    for path in parser.parse_args(arguments).notebooks:
        execute(path)
        print(f"{path}: run and written")


if __name__ == "__main__":
    main()
