"""What the live pages run: the cells of a chapter with code, and which of them can run in a page at all."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad

sys.path.insert(0, str(Path(__file__).parents[1] / "live"))
from earlier import MISSING, depend_on, plain
from kernel import values

PLAYER, TRAINS = "data-autodiff-player", "data-autodiff-train"
ELSEWHERE = MISSING | {"subprocess", "multiprocessing"}
"""What no page can load, or start: a cell that needs one of them stays the stored run."""
ASKED = re.compile(r"""^predict\(\s*["']([\w.]+)["']""", re.MULTILINE)
DATA = re.compile(r"""["'](data/[\w.-]+)["']""")


def programs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a chapter that a reader can change, in order, and those that run elsewhere.

    Each has the number of its cell among the cells with code and that cell's id, a kind ("play", "run", "check" or
    "train"; "elsewhere" if no page can run it), the source, and the values that get a field.
    """
    cells = code_cells(notebook)
    trees = [ast.parse(plain("".join(cell["source"]))) for cell in cells]
    run = [tree for cell, tree in zip(cells, trees, strict=True) if is_run(cell)]
    elsewhere = depend_on([node for tree in run for node in tree.body], ELSEWHERE)
    found = []
    for number, (cell, tree) in enumerate(zip(cells, trees, strict=True)):
        kind = kind_of(cell)
        if kind is not None:
            source = "".join(cell["source"])
            if kind != "check" and not elsewhere.isdisjoint(tree.body):
                kind = "elsewhere"
            fields = values(source) if kind == "play" else []
            found.append({"cell": number, "id": cell["id"], "kind": kind, "source": source, "values": fields})
    return found


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells with code, which are those that a page shows."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]


def predictions(notebook: dict[str, Any]) -> dict[int, str]:
    """Return the predictions of a chapter, such as "1.a", by the numbers of their cells among the cells with code."""
    asked = (ASKED.search("".join(cell["source"])) for cell in code_cells(notebook))
    return {number: found[1] for number, found in enumerate(asked) if found}


def kind_of(cell: dict[str, Any]) -> str | None:
    """Return whether a cell is played, run, checked or trains; None of a solution and of a question."""
    tags = cell["metadata"].get("tags", ())
    if "exercise" in tags:
        return "check"
    if "solution" in tags or ASKED.match("".join(cell["source"])):
        return None
    shown = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
    return "play" if PLAYER in shown else "train" if TRAINS in shown else "run"


def is_run(cell: dict[str, Any]) -> bool:
    """Return whether later cells may build on a cell; an exercise's three dots and its solution are the reader's."""
    return not {"exercise", "solution"} & set(cell["metadata"].get("tags", ()))


def names() -> dict[str, list[tuple[str, ...]]]:
    """Return what an editor can complete after a module's dot: each name, its kind, and of ours what it does."""
    modules = {"ad": ad, "ad.nn": ad.nn, "np": np, "np.linalg": np.linalg, "np.random": np.random}
    found: dict[str, list[tuple[str, ...]]] = {}
    for prefix, module in modules.items():
        found[prefix] = []
        for name in sorted(module.__all__, key=str.lower):
            each = getattr(module, name)
            if name[0] == "_" or (inspect.ismodule(each) and f"{prefix}.{name}" not in modules):
                continue
            kind = "class" if inspect.isclass(each) else "function" if callable(each) else "constant"
            does = (inspect.getdoc(each) or "").partition("\n")[0].replace("`", "") if prefix[:2] == "ad" else ""
            found[prefix].append((name, kind, does) if does else (name, kind))
    return found
