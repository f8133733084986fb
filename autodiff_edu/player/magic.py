"""`%%play`: the cell below it runs as it stands, and its player appears.

%load_ext autodiff_edu

%%play
with ad.GradientTape() as tape:
y = x * x
tape.gradient(y, x)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..trace.trace import Trace, trace
from .play import play

WORDS = {"--predict": "ask the reader to predict each step before it is shown"}


class CellError(Exception):
    """The cell under `%%play` cannot be run; IPython has said why."""


def load_ipython_extension(shell: Any) -> None:
    """Register `%%play` in IPython; `%load_ext autodiff_edu` calls this."""

    def play_cell(line: str, cell: str) -> None:
        """Run a cell and show its steps; with `--predict` the player asks about each step first."""
        words = line.split()
        if unknown := [word for word in words if word not in WORDS]:
            from IPython.core.error import UsageError

            options = "; ".join(f"{word}: {what}" for word, what in WORDS.items())
            raise UsageError(f"%%play does not know {' '.join(unknown)!r}. Its options are {options}")
        run_cell(shell, cell, predict="--predict" in words)

    shell.register_magic_function(play_cell, magic_kind="cell", magic_name="play")


def run_cell(shell: Any, cell: str, predict: bool = False) -> None:
    """Run a cell in the user's namespace, show the player of what it did, and raise what the cell raised."""
    from IPython.display import display

    with _quiet(shell) as shown, trace(f"cell {shell.execution_count}") as traced:
        # the first line stands for that of %%play, so that the lines are those that the reader sees
        result = shell.run_cell(f"# %%play\n{cell}", store_history=False)
    error = result.error_before_exec or result.error_in_exec
    if error is None or traced.events:
        _display(traced, predict, display)
    if isinstance(error, SyntaxError):  # which IPython would explain with its own frames
        error = CellError(str(error))
    if error is not None:
        error._render_traceback_ = lambda: shown[-1] if shown else []  # of the cell, without the frames of %%play
        raise error


def _display(traced: Trace, predict: bool, display: Any) -> None:
    if any(hasattr(event, "tape") for event in traced.events):
        display(play(traced, predict=predict))
    else:
        print("%%play: no tape recorded anything in this cell, so there is nothing to step through.")


@contextmanager
def _quiet(shell: Any) -> Iterator[list[Any]]:
    """Collect the tracebacks that the shell would show, instead of showing them."""
    shown: list[Any] = []
    show, shell._showtraceback = shell._showtraceback, lambda kind, error, lines: shown.append(lines)
    try:
        yield shown
    finally:
        shell._showtraceback = show
