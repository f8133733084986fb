"""Run chapters as other CPUs would, and compare what they show with what is stored, byte for byte.

    python -m autodiff_edu.course compare notebooks/*.ipynb
    python -m autodiff_edu.course compare notebooks/*.ipynb --setting haswell --threads 1

NumPy and OpenBLAS pick the fastest instructions that the CPU has, and OpenBLAS shares long sums out among threads. Both
change the order in which numbers are added, and so the last bit of a result. No chapter may show that bit: learners
must see on their computers what is stored here. Pictures alone are compared as they look and not by their
bytes: matplotlib computes with last bits too, and a pixel may come out one shade of 255 darker. The notebooks are only
read.
"""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from .execute import as_text, needs_jupyter, run

SETTINGS: dict[str, dict[str, str]] = {
    "machine": {},
    "haswell": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "OPENBLAS_CORETYPE": "Haswell",
    },
    "sandybridge": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
        "OPENBLAS_CORETYPE": "Sandybridge",
    },
}
"""What to set so that NumPy computes as on another CPU: as this one does, without AVX-512, without AVX2 and FMA too."""
THREADS = (1, 2)
"""How many threads OpenBLAS is given, under each setting."""
SET_HERE = ("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS")
SHOWN = 3  # lines of a cell that differs
SHADES = 2  # of 255, by which a pixel may differ; nobody sees that


def environment(setting: str, threads: int) -> dict[str, str]:
    """Return the environment variables of a kernel that computes as a setting says.

    >>> environment("haswell", 2)["OPENBLAS_CORETYPE"]
    'Haswell'
    >>> "OPENBLAS_CORETYPE" in environment("machine", 1)
    False
    """
    inherited = {name: value for name, value in os.environ.items() if name not in SET_HERE}
    return inherited | SETTINGS[setting] | {"OPENBLAS_NUM_THREADS": str(threads)}


def unknown_features(setting: str, known: Collection[str] | None = None) -> list[str]:
    """List the features that a setting names and this NumPy does not know; NumPy keeps using those of the CPU.

    Parameters
    ----------
    setting : str
        A key of `SETTINGS`.
    known : collection of str, optional
        The names that NumPy knows; those of the installed NumPy if not given. They include features that the CPU
        doesn't have.

    Examples
    --------
    >>> unknown_features("haswell", known=["AVX2", "AVX512_ICL"])  # NumPy before 2.4 groups them differently
    ['X86_V4', 'AVX512_SPR']
    """
    if known is None:
        groups: Any = np.show_config(mode="dicts").get("SIMD Extensions", {})  # baseline, found and not found
        known = {name for group in groups.values() for name in group}
    return [name for name in SETTINGS[setting].get("NPY_DISABLE_CPU_FEATURES", "").split() if name not in known]


def compare(path: str | Path, setting: str = "machine", threads: int = 1, timeout: int = 120) -> list[str]:
    """Run one notebook under a setting, and compare its outputs with the stored ones.

    Parameters
    ----------
    path : path
        The notebook; it is only read.
    setting : str
        A key of `SETTINGS`.
    threads : int
        How many threads OpenBLAS is given.
    timeout : int
        How many seconds one cell may take.

    Returns
    -------
    list of str
        The cells that differ, numbered as the notebook numbers them, with the first lines that do; empty if every byte
        is the same.
    """
    import nbformat
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    path = Path(path)
    stored = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(stored, as_version=4)
    try:
        run(notebook, path.parent, timeout, environment(setting, threads))
    except CellExecutionError as error:
        count = sum(cell.cell_type == "code" for cell in notebook.cells[: _raised(notebook.cells) + 1])
        return [f"cell {count} raised {error.ename}: {error.evalue}"]
    except (CellTimeoutError, DeadKernelError) as error:
        return [f"it was stopped: {str(error).strip().splitlines()[0]}"]
    before, after = json.loads(stored), json.loads(as_text(notebook))
    _keep_pictures(before, after)
    return [] if as_text(after) == stored else list(_differences(before, after))


def compare_all(
    paths: Sequence[str | Path], settings: Iterable[str] = SETTINGS, threads: Iterable[int] = THREADS, jobs: int = 2
) -> Iterator[tuple[str, int, Path, list[str]]]:
    """Compare every notebook under every setting, with every number of threads.

    Parameters
    ----------
    paths : sequence of paths
        The notebooks.
    settings : iterable of str
        Keys of `SETTINGS`.
    threads : iterable of int
        Numbers of threads.
    jobs : int
        How many notebooks run at a time.

    Yields
    ------
    tuple of str, int, Path and list of str
        The setting, the number of threads, the notebook, and what `compare` returns; always in the same order.

    Raises
    ------
    FileNotFoundError
        If there is no such notebook. None has been run then.
    ImportError
        If nbclient and nbformat are missing, saying what to install.
    """
    needs_jupyter()
    if missing := [str(path) for path in paths if not Path(path).is_file()]:
        raise FileNotFoundError(f"there is no file {', '.join(missing)}; no chapter was run")
    cases = [(setting, count, Path(path)) for setting, count, path in product(settings, threads, paths)]
    with ThreadPoolExecutor(jobs) as pool:  # threads will do: each waits for a kernel, which is a process
        found = pool.map(lambda case: compare(case[2], case[0], case[1]), cases)
        for case, differences in zip(cases, found, strict=True):
            yield *case, differences


def _raised(cells: Sequence[Any]) -> int:
    """Find the cell that raised, by its place."""
    errors = (any(out.output_type == "error" for out in cell.get("outputs", ())) for cell in cells)
    return next(place for place, error in enumerate(errors) if error)


def _keep_pictures(stored: dict[str, Any], now: dict[str, Any]) -> None:
    """Put each stored picture where the new one looks the same."""
    for before, after in zip(stored["cells"], now["cells"], strict=True):
        for old, new in zip(before.get("outputs", ()), after.get("outputs", ()), strict=False):
            pictures = [output.get("data", {}).get("image/png") for output in (old, new)]
            if all(pictures) and look_alike(*("".join(picture) for picture in pictures)):
                new["data"]["image/png"] = old["data"]["image/png"]


def look_alike(first: str, second: str) -> bool:
    """Check whether two pictures, each a PNG in base64, differ in no pixel by more than the eye can see."""
    if first == second:
        return True
    from matplotlib.image import imread

    a, b = (np.rint(255 * imread(io.BytesIO(base64.b64decode(picture)))) for picture in (first, second))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= SHADES))


def _differences(stored: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    same = True
    for before, after in zip(stored["cells"], now["cells"], strict=True):
        if before.get("outputs") != after.get("outputs"):
            same = False
            yield f"cell {after['execution_count']} differs:"
            yield from _lines_that_differ(before["outputs"], after["outputs"])
    if same:
        yield "every output is the same, but the file is not what execute would write; execute it again"


def _lines_that_differ(before: Any, after: Any) -> Iterator[str]:
    pairs = [pair for pair in zip_longest(_lines(before), _lines(after), fillvalue="") if pair[0] != pair[1]]
    for old, new in pairs[:SHOWN]:
        place = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        yield f"    stored: {_around(old, place)}"
        yield f"    now:    {_around(new, place)}"
    if len(pairs) > SHOWN:
        yield f"    and {len(pairs) - SHOWN} more"


def _lines(outputs: Any) -> list[str]:
    """Write outputs as lines, each without the quotes and the comma that JSON needs around it."""
    lines = (line.strip().removesuffix(",") for line in json.dumps(outputs, ensure_ascii=False, indent=1).splitlines())
    return [line.removeprefix('"').removesuffix('"').removesuffix("\\n") for line in lines]


def _around(line: str, place: int, before: int = 60, after: int = 40) -> str:
    """Cut a long line down to what stands around a place.

    >>> _around("x" * 500 + "here" + "x" * 500, 500, before=3, after=7)
    '...xxxherexxx...'
    """
    start, end = max(0, place - before), place + after
    return ("..." if start else "") + line[start:end] + ("..." if end < len(line) else "")
