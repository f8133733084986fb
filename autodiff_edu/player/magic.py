"""`%%play`: runs the cell below it unchanged, and shows its player.

IPython knows it as soon as autodiff_edu is imported; `%load_ext autodiff_edu` works too.

%%play
with ad.GradientTape() as tape:
y = x * x
tape.gradient(y, x)
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from ..text.tracebacks import render_without_frames
from ..trace.trace import Trace, trace
from .play import has_steps, play

WORDS = {
    "--predict": "ask the reader to predict each step before it is shown",
    "--stage": "open the player on stage, readable from the back row",
}


FIRST = "# %%play"
"""Stands for the first line of the cell while it runs, so that line numbers match what the reader sees."""


class CellError(Exception):
    """The cell under `%%play` cannot run; IPython has said why."""


def load_ipython_extension(shell: Any) -> None:
    """Register `%%play` in IPython; `%load_ext autodiff_edu` calls this, as often as the reader likes."""

    def play_cell(line: str, cell: str) -> None:
        """Run a cell and show its steps; `--predict` asks about each step first, `--stage` opens on stage."""
        from IPython.core.error import UsageError

        words = line.split()
        if unknown := [word for word in words if word not in WORDS]:
            options = "; ".join(f"{word}: {what}" for word, what in WORDS.items())
            raise UsageError(f"%%play does not know {' '.join(unknown)!r}. Its options are {options}")
        if cell.lstrip().startswith("%%"):
            raise UsageError(f"%%play cannot be combined with {cell.split()[0]}; use one of the two")
        if _awaits(shell, cell):
            raise UsageError(
                "%%play cannot run a cell that awaits. Write `with ad.trace() as steps:` around its lines, and then "
                "ad.play(steps)"
            )
        run_cell(shell, cell, **{word.removeprefix("--"): True for word in words})

    def forget(_: Any) -> None:
        """Make IPython forget that the extension is loaded; otherwise it complains when the cell is run again."""
        shell.extension_manager.loaded.discard("autodiff_edu")
        shell.events.unregister("post_run_cell", forget)

    shell.register_magic_function(play_cell, magic_kind="cell", magic_name="play")
    shell.events.register("post_run_cell", forget)


def run_cell(shell: Any, cell: str, **options: bool) -> None:
    """Run a cell in the user's namespace, show the player of what it did, and raise the cell's error, if any."""
    from IPython.core.error import UsageError

    if re.search(r"^\s*(?:import|from)\s+torch\b", cell, re.MULTILINE):  # a trace sees what is there when it begins
        with suppress(ImportError):
            import_module("torch")
    with _as_the_cell(shell, cell) as shown, trace(f"cell {shell.displayhook.prompt_count}") as traced:
        result = shell.run_cell(f"{FIRST}\n{cell}", store_history=False)
    error = result.error_before_exec or result.error_in_exec
    if result.error_in_exec is not None:
        traced.note_error(result.error_in_exec)
    if error is None or has_steps(traced):
        _display(traced, options)
    if error is None:
        for traceback in shown:  # from what the cell itself ran and caught
            shell._showtraceback(*traceback)
    elif not isinstance(error, UsageError):  # which IPython has printed
        lines = shown[-1][-1] if shown else []
        raise _attach_lines(error, lines if error is result.error_before_exec else render_without_frames(error))


def _awaits(shell: Any, cell: str) -> bool:
    """Return whether a cell awaits at its top level, in a kernel whose loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return bool(shell.should_run_async(cell, transformed_cell=shell.transform_cell(cell)))


def _display(traced: Trace, options: dict[str, Any]) -> None:
    from IPython.display import display

    if has_steps(traced):
        display(play(traced, **options))
    else:
        print("%%play: no tape recorded anything in this cell, so there is nothing to step through.")


def _attach_lines(error: BaseException, lines: list[str]) -> BaseException:
    """Return an error that IPython shows once, with these lines of the cell's own traceback."""

    def render() -> list[str]:
        with suppress(AttributeError):
            delattr(shown, hook)  # raised again in another cell, it has another traceback
        return lines

    hook = "_render_traceback_"
    shown = error
    if isinstance(error, SyntaxError):  # which IPython would explain with its own frames
        shown = CellError(str(error))
    with suppress(Exception):  # an exception may refuse attributes
        setattr(shown, hook, render)
    return shown


@contextmanager
def _as_the_cell(shell: Any, cell: str) -> Iterator[list[Any]]:
    """Make the shell treat what it runs as the reader's own cell; collect tracebacks instead of showing them."""
    shown: list[Any] = []
    number, cache, hook = shell.displayhook.prompt_count, shell.compile.cache, shell.displayhook
    replaced: list[tuple[Any, str, Any]] = [
        (shell, "_showtraceback", lambda *traceback: shown.append(traceback)),
        (shell.compile, "cache", lambda text, *_, **given: cache(text.removeprefix(FIRST), number, **_raw(given))),
        (hook, "quiet", lambda: hook.semicolon_at_end_of_expression(cell)),
    ]
    for owner, name, stand_in in replaced:
        setattr(owner, name, stand_in)
    try:
        yield shown
    finally:
        for owner, name, _ in replaced:
            delattr(owner, name)


def _raw(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name == "raw_code"}
