"""Let nbval run the chapters as a person does: cell after cell, each with its own number.

By itself nbval asks the kernel not to count, so every line of code would be placed in "cell 1". A reader sees
"cell 3, line 5", and so must the comparison.
"""

from typing import Any

from nbval.kernel import RunningKernel


def _execute(self: RunningKernel, cell_input: str, allow_stdin: bool | None = None) -> Any:
    return self.kc.execute(cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)


RunningKernel.execute_cell_input = _execute
