"""Run chapters as other CPUs would, and compare what they show with what is stored.

    python -m autodiff_edu.course compare notebooks/*.ipynb
    python -m autodiff_edu.course compare notebooks/*.ipynb --seed 1 --seed 2
    python -m autodiff_edu.course compare notebooks/*.ipynb --setting haswell --threads 1

NumPy and OpenBLAS pick the fastest instructions that the CPU has, and OpenBLAS shares long sums out among threads. Both
change the order in which numbers are added, and so the last bit of a result. No chapter may show that bit: learners
must see on their computers what is stored here, as differences.py compares it. The setting `last-bit` stands for every
CPU at once: last_bit.py moves each last bit that may differ, at random. The other settings make NumPy compute
as on one other CPU. The notebooks are only read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .differences import differences
from .execute import as_text, needs_jupyter, run

LAST_BIT = "last-bit"
SETTINGS: dict[str, dict[str, str]] = {
    LAST_BIT: {},
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
"""How many threads OpenBLAS is given, under each setting but `last-bit`."""
MOVE = "__import__('autodiff_edu.course.tools.last_bit', fromlist=['install']).install({})"
SET_HERE = ("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS")
SHOWN = 5  # differences of a cell


class Setting(NamedTuple):
    """How a kernel computes.

    Attributes
    ----------
    name : str
        A key of `SETTINGS`.
    number : int
        How many threads OpenBLAS is given; under `last-bit`, the seed.

    Examples
    --------
    >>> print(Setting("haswell", 2), Setting("last-bit", 3), sep="; ")
    haswell, 2 threads; last-bit, seed 3
    >>> Setting("haswell", 2).environment()["OPENBLAS_CORETYPE"]
    'Haswell'
    >>> "OPENBLAS_CORETYPE" in Setting("machine").environment()
    False
    """

    name: str = "machine"
    number: int = 1

    def __str__(self) -> str:
        if self.name == LAST_BIT:
            return f"{self.name}, seed {self.number}"
        return f"{self.name}, {self.number} thread{'s' * (self.number > 1)}"

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the kernel."""
        inherited = {name: value for name, value in os.environ.items() if name not in SET_HERE}
        threads = "1" if self.name == LAST_BIT else str(self.number)
        return inherited | SETTINGS[self.name] | {"OPENBLAS_NUM_THREADS": threads}

    def first(self) -> str:
        """Return the line that the kernel runs first."""
        return MOVE.format(self.number) if self.name == LAST_BIT else ""


MACHINE, ANY_CPU = Setting("machine"), Setting(LAST_BIT)


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


def compare(path: str | Path, setting: Setting = MACHINE, timeout: int = 120) -> list[str]:
    """Run one notebook under a setting, and compare its outputs with the stored ones.

    Parameters
    ----------
    path : path
        The notebook; it is only read.
    setting : Setting
        How its kernel computes.
    timeout : int
        How many seconds one cell may take.

    Returns
    -------
    list of str
        The cells that differ, numbered as the notebook numbers them, with the first of their differences; empty if
        everything looks the same.
    """
    import nbformat
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    path = Path(path)
    stored = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(stored, as_version=4)
    try:
        run(notebook, path.parent, timeout, setting.environment(), setting.first())
    except CellExecutionError as error:
        count = sum(cell.cell_type == "code" for cell in notebook.cells[: _find_error(notebook.cells) + 1])
        return [f"cell {count} raised {error.ename}: {error.evalue}"]
    except (CellTimeoutError, DeadKernelError) as error:
        return [f"it was stopped: {str(error).strip().splitlines()[0]}"]
    before, after = json.loads(stored), json.loads(as_text(notebook))
    found = list(_differences(before, after))
    if not found and as_text(after) != stored:
        return ["every output is the same, but the file is not what execute would write; execute it again"]
    return found


def compare_all(
    paths: Sequence[str | Path], settings: Iterable[Setting] = (ANY_CPU,), jobs: int = 2
) -> Iterator[tuple[Setting, Path, list[str]]]:
    """Compare every notebook under every setting.

    Parameters
    ----------
    paths : sequence of paths
        The notebooks.
    settings : iterable of Setting
        How the kernels compute.
    jobs : int
        How many notebooks run at a time.

    Yields
    ------
    tuple of Setting, Path and list of str
        The setting, the notebook, and what `compare` returns; always in the same order.

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
    cases = [(setting, Path(path)) for setting in settings for path in paths]
    with ThreadPoolExecutor(jobs) as pool:  # threads will do: each waits for a kernel, which is a process
        found = pool.map(lambda case: compare(case[1], case[0]), cases)
        for case, said in zip(cases, found, strict=True):
            yield *case, said


def _find_error(cells: Sequence[Any]) -> int:
    """Find the cell that raised, by its place."""
    errors = (any(out.output_type == "error" for out in cell.get("outputs", ())) for cell in cells)
    return next(place for place, error in enumerate(errors) if error)


def _differences(stored: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Name what differs in each cell; where nothing does, put the stored outputs in place of the new ones."""
    for before, after in zip(stored["cells"], now["cells"], strict=True):
        if found := list(differences(before.get("outputs", ()), after.get("outputs", ()))):
            yield f"cell {after['execution_count']} differs:"
            yield from (f"    {line}" for line in found[:SHOWN])
            if len(found) > SHOWN:
                yield f"    and {len(found) - SHOWN} more"
        elif "outputs" in before:
            after["outputs"] = before["outputs"]
