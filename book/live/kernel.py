"""The Python half of the live pages: runs a cell, and returns what a page shows of it.

`worker.js` loads this file into Pyodide; `_ext/live_programs.py` uses the part that only reads programs.
"""

from __future__ import annotations

import ast
import gc
import linecache
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from html import escape
from io import StringIO
from typing import Any

MAGIC = re.compile(r"^%%play\b(.*)$", re.MULTILINE)
NAME, SETUP = "program.py", "earlier cells"
SHOWN, STEPS = "_shown_", "_steps_"  # names that a program has no use for
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
    with suppress(SyntaxError):
        return [{"name": name, "text": ast.get_source_segment(plain(source), node)} for name, node in _values(source)]
    return []


def with_values(source: str, texts: dict[str, str]) -> str:
    """Return a program with other values.

    Raises
    ------
    SyntaxError
        If a text is not an expression; nothing has run then.

    Examples
    --------
    >>> with_values("ad.play(lambda x: x * x, 3.0)", {"x": "-1.5"})
    'ad.play(lambda x: x * x, -1.5)'
    """
    for name, text in texts.items():
        try:
            ast.parse(text.strip() or "?", mode="eval")
        except SyntaxError:
            given = text.strip() or "an empty field"
            raise SyntaxError(f"{name} needs a value, such as 2.0; {given} is not one") from None
    lines = source.encode().splitlines(keepends=True)
    for name, node in reversed(_values(source)):  # from the end, so that the places before it stay
        if name in texts:
            first, last = node.lineno - 1, node.end_lineno - 1
            before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            lines[first : last + 1] = [before + texts[name].strip().encode() + after]
    return b"".join(lines).decode()


def plain(source: str) -> str:
    r"""Return a cell without its magics, line by line what it was.

    Examples
    --------
    >>> plain("%%play --predict\nx = 1")
    '# %%play\nx = 1'
    """
    source = MAGIC.sub("# %%play", source, count=1)
    return re.sub(r"^%.*$", "", source, flags=re.MULTILINE)


def _values(source: str) -> list[tuple[str, ast.expr]]:
    tree = ast.parse(plain(source))
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
            found += [(names[k] if k < len(names) else f"argument {k + 2}", node) for k, node in enumerate(rest)]
            found += [(word.arg, word.value) for word in called.keywords if word.arg and word.arg not in OPTIONS]
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
    except ValueError:
        return False


# ---- running one


class Kernel:
    """Runs one program after the other, each in a namespace of its own."""

    def __init__(self) -> None:
        self.explorers: dict[str, Any] = {}

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
            Where on the page the program stands; `move` finds its explorer by it.
        title : str
            What the player of a cell under `%%play` is called.

        Returns
        -------
        dict
            "source" and "values" are the program that ran; "outputs" has pairs of a kind ("html", "text", "error")
            and a text; "line" is the number of the line that failed, or None; "answers" has what `check` said, and
            "sliders" what an explorer can move.
        """
        told: dict[str, Any] = {"source": source, "outputs": [], "line": None, "answers": []}
        self.explorers.pop(key, None)
        with _listening(told["answers"]):
            try:
                if texts:
                    told["source"] = source = with_values(source, texts)
                self._run(setup, source, told, key, title)
            except BaseException as error:  # also SystemExit and what only a program can raise
                told["outputs"].append(("error", _as_python_shows(error)))
                told["line"] = _line(error)
        told["values"] = values(told["source"])
        told["sliders"] = self._sliders(key)
        gc.collect()  # a trace refers to itself; fifty of them would wait for the next collection
        return told

    def _run(self, setup: str, source: str, told: dict[str, Any], key: str, title: str) -> None:
        import autodiff_edu as ad

        printed = _Printed(told["outputs"])
        names: dict[str, Any] = {
            "__name__": "__main__",
            "display": lambda *shown: [self._show(each, told, key) for each in shown],
            "input": _no_input,
        }
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            exec(compile(_known(plain(setup), SETUP), SETUP, "exec"), names)
        tree = ast.parse(_known(plain(source), NAME), NAME)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):  # its value is shown
            tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(SHOWN, ast.Store())], last.value), last)
        magic = MAGIC.search(source)
        if magic is not None and tree.body:  # inside the program: what runs around it is not followed line by line
            names[STEPS] = ad.trace(title)
            block = ast.withitem(ast.Name(STEPS, ast.Load()), ast.Name(STEPS, ast.Store()))
            tree.body = [ast.With([block], tree.body)]
        code = compile(ast.fix_missing_locations(tree), NAME, "exec")
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                exec(code, names)
            except Exception as error:
                if magic is not None:
                    names[STEPS].failed(error)
                raise
            finally:
                if magic is not None and tree.body:
                    options = {word.removeprefix("--"): True for word in magic[1].split() if word == "--predict"}
                    self._show(ad.play(names[STEPS], **options), told, key)
            if names.get(SHOWN) is not None:
                self._show(names[SHOWN], told, key)

    def _show(self, shown: Any, told: dict[str, Any], key: str) -> None:
        """Add what a notebook would show of a value."""
        from autodiff_edu.course.feedback import Feedback
        from autodiff_edu.explorer import Explorer

        if isinstance(shown, Feedback):
            return  # the listener has it
        if isinstance(shown, Explorer):
            self.explorers[key] = shown
            told["outputs"].append(("html", shown.now()))
            return
        bundle: dict[str, Any] = {}
        with suppress(AttributeError):
            made = shown._repr_mimebundle_()
            bundle = made[0] if isinstance(made, tuple) else made
        if "text/html" not in bundle and hasattr(shown, "savefig"):
            bundle["text/html"] = _picture(shown)
        elif "text/html" not in bundle and hasattr(shown, "_repr_html_"):
            bundle["text/html"] = shown._repr_html_()
        text = bundle.get("text/html")
        told["outputs"].append(("html", text) if text else ("text", f"{shown!r}\n"))

    def _sliders(self, key: str) -> list[dict[str, Any]]:
        if key not in self.explorers:
            return []
        explorer = self.explorers[key]
        return [
            {"name": name, "low": low, "high": high, "value": explorer.values[name]}
            for name, (low, high) in explorer.ranges.items()
        ]

    def move(self, name: str, value: float, key: str) -> str | None:
        """Move a slider of a program's explorer, and return what it shows now; None if that has not run."""
        if key not in self.explorers:
            return None
        self.explorers[key].move(**{name: value})
        return str(self.explorers[key].now())


def _known(text: str, name: str) -> str:
    """Let the tracer and tracebacks find a program's lines."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return text


class _Printed(StringIO):
    """Takes what is printed as an output, in order with what is displayed."""

    def __init__(self, outputs: list[tuple[str, str]]) -> None:
        super().__init__()
        self.outputs = outputs

    def write(self, text: str) -> int:
        if text and self.outputs and self.outputs[-1][0] == "text":
            self.outputs[-1] = ("text", self.outputs[-1][1] + text)
        elif text:
            self.outputs.append(("text", text))
        return len(text)


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
        text += f"This page has NumPy, Matplotlib and autodiff_edu; {error.name} runs only in an installed Python.\n"
    if isinstance(error, MemoryError):
        text += "The program needs more memory than a page may have.\n"
    return text


def _line(error: BaseException) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == NAME:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
    return lines[-1] if lines else None
