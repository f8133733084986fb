"""Let nbval run the chapters as a person does, and compare what a person sees.

Cells run one after the other, each with its own number, in a kernel of their own. By itself nbval asks the kernel not
to count, so every line of code would be placed in "cell 1". A reader sees "cell 3, line 5", and so must the comparison.

Jupyter picks free ports for a kernel first and opens them later. Two workers can then pick the same one, and one kernel
never answers. Sockets that are files can't be mixed up.

nbval compares bytes. No two CPUs agree on the last bit of a sum, so autodiff_edu/course/tools/differences.py compares.

The chapter on PyTorch and JAX is collected only where both are installed, which the README's command doesn't do.
"""

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval.kernel
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

from autodiff_edu.course.tools.differences import differences

collect_ignore_glob = ["*-pytorch-and-jax.ipynb"] if None in map(find_spec, ("torch", "jax")) else []


class _WithoutPorts(KernelManager):
    def __init__(self, **kwargs: Any) -> None:
        self._sockets = TemporaryDirectory()
        super().__init__(transport="ipc", ip=str(Path(self._sockets.name) / "kernel"), **kwargs)


def _execute(self: RunningKernel, cell_input: str, allow_stdin: bool | None = None) -> Any:
    return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)


def _compare(self: IPyNbCell, test: Any, ref: Any, skip_compare: Any = None) -> bool:
    self.comparison_traceback = list(differences(ref, test))
    return not self.comparison_traceback


nbval.kernel.KernelManager = _WithoutPorts
IPyNbCell.compare_outputs = _compare
RunningKernel.execute_cell_input = _execute
