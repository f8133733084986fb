"""Let nbval run the chapters as a person does: cell after cell, each with its own number, in a kernel of its own.

By itself nbval asks the kernel not to count, so every line of code would be placed in "cell 1". A reader sees
"cell 3, line 5", and so must the comparison.

Jupyter picks free ports for a kernel first and opens them later. Two workers can then pick the same one, and one kernel
never answers. Sockets that are files can't be mixed up.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval.kernel
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel


class _WithoutPorts(KernelManager):
    def __init__(self, **kwargs: Any) -> None:
        self._sockets = TemporaryDirectory()
        super().__init__(transport="ipc", ip=str(Path(self._sockets.name) / "kernel"), **kwargs)


def _execute(self: RunningKernel, cell_input: str, allow_stdin: bool | None = None) -> Any:
    return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)


nbval.kernel.KernelManager = _WithoutPorts
RunningKernel.execute_cell_input = _execute
