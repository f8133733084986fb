"""The Python half of the live pages: runs a cell, and returns what a page shows of it.

`worker.js` loads this file into Pyodide; `_ext/live_programs.py` uses the part that only reads programs.
"""

from __future__ import annotations

import ast
import gc
import linecache
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from html import escape
from io import StringIO
from typing import Any

MAGIC = re.compile(r"\A\s*%%play\b(.*)$", re.MULTILINE)
NAME, SETUP = "program.py", "earlier cells"
SHOWN, STEPS = "_shown_", "_steps_"  # names that no program uses
LONGEST = 200_000
"""How many characters of what is printed are shown; a page with more would be slow to scroll."""
UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
"""What reading a program may raise."""
VIEWS = {"play", "explore", "sweep", "descend"}
VALUES = {"Variable", "constant"}


# ---- reading a program: the values in it that a field can hold


def values(source: str) -> list[dict[str, str]]:
    """Return the values that a program is run with, each with a name and its text.

    They are the arguments of `ad.play` and its kind, and what is given to `ad.Variable` and `ad.constant`, wherever
    they are written out. A program that cannot be read has none.

    Examples
    --------
    >>> values("ad.play(lambda x: x * x, 3.0)")
    [{'name': 'x', 'text': '3.0'}]
    """
    with suppress(*UNREADABLE):
        return [{"name": name, "text": ast.get_source_segment(plain(source), node)} for name, node in _values(source)]
    return []


def with_values(source: str, texts: dict[str, str]) -> str:
    """Return a program with other values.

    Raises
    ------
    SyntaxError
        If a text is not one expression, or the program cannot be read; nothing has run then.

    Examples
    --------
    >>> with_values("ad.play(lambda x: x * x, 3.0)", {"x": "-1.5"})
    'ad.play(lambda x: x * x, -1.5)'
    """
    for name, text in texts.items():
        if not text.strip():
            raise SyntaxError(f"{name} is empty: type a value, such as 2.0")
        try:
            ast.parse(f"({text.strip()})", mode="eval")  # the brackets refuse a comment
        except SyntaxError:
            raise SyntaxError(f"{name} needs a value, such as 2.0; {text.strip()} is not one") from None
    lines = source.encode().splitlines(keepends=True)
    for name, node in reversed(_values(source)):  # from the end, so that the places before it stay
        if name in texts:
            first, last = node.lineno - 1, node.end_lineno - 1
            before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            text = texts[name].strip()
            if isinstance(ast.parse(text, mode="eval").body, ast.Tuple) and not text.startswith("("):
                text = f"({text})"
            lines[first : last + 1] = [before + text.encode() + after]
    return b"".join(lines).decode()


def plain(source: str) -> str:
    r"""Return a cell without its magics, line by line what it was.

    Examples
    --------
    >>> plain("%%play --predict\nx = 1")
    '\nx = 1'
    """
    return re.sub(r"^%load_ext .*$", "", MAGIC.sub("", source, count=1), flags=re.MULTILINE)


def _values(source: str) -> list[tuple[str, ast.expr]]:
    tree = ast.parse(plain(source), NAME)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    parameters = {function.name: [argument.arg for argument in function.args.args] for function in functions}
    found: list[tuple[str, ast.expr]] = []
    for statement in tree.body:
        called = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
        if not isinstance(called, ast.Call):
            continue
        function = _of_the_package(called)
        if function in VIEWS and isinstance(statement, ast.Expr) and called.args:
            first, *rest = called.args
            names = [argument.arg for argument in first.args.args] if isinstance(first, ast.Lambda) else []
            names = names or parameters.get(getattr(first, "id", ""), [])
            given = [(names[k] if k < len(names) else f"argument {k + 2}", node) for k, node in enumerate(rest)]
            given += [(word.arg, word.value) for word in called.keywords if word.arg and word.arg not in OPTIONS]
            found += [(name, node) for name, node in given if name not in dict(found)]
        elif function in VALUES and isinstance(statement, ast.Assign) and called.args:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id not in dict(found):
                found.append((target.id, called.args[0]))
    found = [(name, node) for name, node in found if _is_written_out(node)]
    return sorted(found, key=lambda pair: (pair[1].lineno, pair[1].col_offset))


OPTIONS = {"predict", "stage", "mode", "batch", "method", "secant", "title"}


def _of_the_package(call: ast.Call) -> str:
    function = call.func
    named = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "ad"
    return function.attr if named else ""


def _is_written_out(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        named = ast.unparse(node.func) in {"np.array", "np.linspace", "np.ones", "np.zeros"}
        return named and all(_is_written_out(argument) for argument in node.args)
    try:
        return not isinstance(ast.literal_eval(node), str)
    except UNREADABLE:
        return False


# ---- running one


class Kernel:
    """Runs one program after the other, each in a namespace of its own."""

    def __init__(self) -> None:
        self.explorers: dict[str, list[Any]] = {}

    def run(
        self, setup: str, source: str, texts: dict[str, str] | None = None, key: str = "", title: str = ""
    ) -> dict[str, Any]:
        """Run a cell after what it needs, and return what to show.

        Parameters
        ----------
        setup : str
            Statements of earlier cells, run first; nothing of theirs is shown.
        source : str
            The cell.
        texts : dict of str, optional
            What the fields hold, by name, where it is not what the cell says.
        key : str
            Where on the page the program stands; `move` finds its explorers by it.
        title : str
            What the player of a cell under `%%play` is called.

        Returns
        -------
        dict
            "source" and "values" are the program that ran; "outputs" has pairs of a kind ("html", "text", "error")
            and a text; "line" is the number of the line that failed, or None; "answers" has what `check` said, and
            "sliders" what each explorer can move, with the number of its output.
        """
        told: dict[str, Any] = {"source": source, "outputs": [], "line": None, "answers": [], "sliders": []}
        self.explorers[key] = []
        with _listening(told["answers"]):
            try:
                _refuse_magics(source)
                if texts:
                    told["source"] = source = with_values(source, texts)
                self._run(setup, source, told, key, title)
            except BaseException as error:  # also SystemExit and what only a program can raise
                told["outputs"].append(("error", _as_python_shows(error)))
                told["line"] = _line(error)
        told["outputs"] = [(kind, "".join(parts)) for kind, *parts in told["outputs"]]
        told["outputs"] = [(kind, text if kind == "html" else _shortened(text)) for kind, text in told["outputs"]]
        told["values"] = values(told["source"])
        gc.collect()  # a trace refers to itself; fifty of them would wait for the next collection
        return told

    def _run(self, setup: str, source: str, told: dict[str, Any], key: str, title: str) -> None:
        import autodiff_edu as ad
        from autodiff_edu.player.play import has_steps
        from autodiff_edu.text.frames import OURS

        if (here := _Printed.write.__code__.co_filename) not in OURS:
            OURS.append(here)  # what a program prints comes here, and is no step of it
        printed = _Printed(told["outputs"])

        displayed: list[Any] = []

        def display(*shown: Any) -> None:
            for each in shown:
                self._show(each, told, key)
                displayed.append(each)

        names: dict[str, Any] = {"__name__": "__main__", "display": display, "input": _no_input}
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            exec(compile(_known(plain(setup), SETUP), SETUP, "exec"), names)
        tree = ast.parse(_known(plain(source), NAME), NAME)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not plain(source).rstrip().endswith(";"):  # its value is shown
            tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(SHOWN, ast.Store())], last.value), last)
        magic = MAGIC.search(source)
        options = {"predict": True} if magic is not None and "--predict" in magic[1] else {}
        if magic is not None and tree.body:  # inside the program: what runs around it is not followed line by line
            names[STEPS] = ad.trace(title)
            block = ast.withitem(ast.Name(STEPS, ast.Load()), ast.Name(STEPS, ast.Store()))
            tree.body = [ast.With([block], tree.body)]
        code = compile(ast.fix_missing_locations(tree), NAME, "exec")
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                exec(code, names)
            except Exception as error:
                if magic is not None and has_steps(names[STEPS]):
                    names[STEPS].failed(error)
                    display(ad.play(names[STEPS], **options))
                raise
            if magic is not None and tree.body and not has_steps(names[STEPS]):
                print("%%play: no tape recorded anything in this cell, so there is nothing to step through.")
            elif magic is not None and tree.body:
                display(ad.play(names[STEPS], **options))
            if names.get(SHOWN) is not None:
                display(names[SHOWN])
            for figure in _open_figures():
                if not any(figure is each for each in displayed):
                    display(figure)

    def _show(self, shown: Any, told: dict[str, Any], key: str) -> None:
        """Add what a notebook would show of a value."""
        from autodiff_edu.course.feedback import Feedback
        from autodiff_edu.explorer import Explorer

        if isinstance(shown, Feedback):
            return  # the listener has it
        if isinstance(shown, Explorer):
            told["outputs"].append(("html", shown.now()))
            ranges = [
                {"name": name, "low": low, "high": high, "value": shown.values[name]}
                for name, (low, high) in shown.ranges.items()
            ]
            told["sliders"].append({"output": len(told["outputs"]) - 1, "ranges": ranges})
            self.explorers[key].append(shown)
            return
        bundle: dict[str, Any] = {}
        if hasattr(type(shown), "savefig"):
            told["outputs"].append(("html", _picture(shown)))
            return
        if hasattr(type(shown), "_repr_mimebundle_"):
            made = shown._repr_mimebundle_()
            bundle = made[0] if isinstance(made, tuple) else made
        elif hasattr(type(shown), "_repr_html_"):
            bundle = {"text/html": shown._repr_html_()}
        text = bundle.get("text/html")
        told["outputs"].append(("html", text) if text else ("text", f"{shown!r}\n"))

    def move(self, name: str, value: float, key: str, number: int = 0) -> str | None:
        """Move a slider of one of a program's explorers, and return what it shows now; None if that has not run."""
        explorers = self.explorers.get(key, [])
        if number >= len(explorers):
            return None
        explorers[number].move(**{name: value})
        return str(explorers[number].now())


def _known(text: str, name: str) -> str:
    """Register a program's lines, so that the tracer and tracebacks find them."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return text


class _Printed(StringIO):
    """Takes what is printed as an output, in order with what is displayed."""

    def __init__(self, outputs: list[Any]) -> None:
        super().__init__()
        self.outputs = outputs

    def write(self, text: str) -> int:
        if not self.outputs or self.outputs[-1][0] != "text" or isinstance(self.outputs[-1], tuple):
            self.outputs.append(["text"])
        self.outputs[-1].append(text)  # joined at the end: a text that grows would be copied each time
        return super().write(text)


@contextmanager
def _listening(answers: list[dict[str, Any]]) -> Iterator[None]:
    from autodiff_edu.course.check import LISTENERS

    def listen(feedback: Any) -> None:
        answers.append({"exercise": feedback.exercise, "right": feedback.right, "message": feedback.message})

    LISTENERS.append(listen)
    try:
        yield
    finally:
        LISTENERS.remove(listen)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… and {len(text) - LONGEST:,} more characters\n"


def _refuse_magics(source: str) -> None:
    """Raise SyntaxError for what only IPython reads, apart from `%%play` in the first line and `%load_ext`."""
    try:
        ast.parse(plain(source))
    except SyntaxError as error:
        line = (error.text or "").strip()
        if line.startswith(("%", "!")):
            message = f"{line.split()[0]} belongs to IPython, which is not here; %%play works, in the first line"
            raise SyntaxError(message, (NAME, error.lineno, error.offset, error.text)) from None


def _open_figures() -> list[Any]:
    """Return the figures that a program left open, and close them: nobody else would show them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return figures


def _no_input(*_: Any) -> str:
    raise OSError("nobody can type here while the program runs; write the value into the program instead of input()")


def _picture(figure: Any) -> str:
    from base64 import b64encode
    from io import BytesIO

    file = BytesIO()
    figure.savefig(file, format="png", dpi=100)
    text = escape(getattr(figure, "alt", "") or "the figure that the program drew", quote=True)
    return f'<img alt="{text}" src="data:image/png;base64,{b64encode(file.getvalue()).decode()}">'


def _as_python_shows(error: BaseException) -> str:
    """Return a traceback that begins in the reader's program and leaves out the package's own lines."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
    shown = traceback.TracebackException.from_exception(error)
    shown.stack = traceback.StackSummary.from_list(own)
    shown.__cause__ = shown.__context__ = None
    text = "".join(shown.format()).replace(f'File "{NAME}", ', "")
    if isinstance(error, ModuleNotFoundError):
        text += f"This page has NumPy, Matplotlib and autodiff_edu; {error.name} is not here.\n"
    if isinstance(error, MemoryError):
        text += "The program needs more memory than a page may have.\n"
    if isinstance(error, RuntimeError) and "stack switch" in str(error):  # Pyodide's words for it
        text += "asyncio cannot wait in this page; write an ordinary function instead of a coroutine, and call it.\n"
    return text


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == NAME:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
    return lines[-1] if lines else None
