"""The Python half of the live pages: runs a cell, and returns what a page shows of it.

`worker.js` loads this file into Pyodide, with `earlier.py` and `mathematics.py`; `_ext/live_programs.py` uses the part
that only reads programs.
"""

from __future__ import annotations

import ast
import gc
import json
import linecache
import os
import pickle
import random
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from decimal import getcontext, localcontext
from functools import lru_cache
from io import BytesIO, StringIO
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from earlier import MAGIC, UNREADABLE, is_import, needed, plain
from mathematics import advise

NAME = "program.py"
ALWAYS = ("import numpy as np", "import autodiff_edu as ad", "from autodiff_edu.course import check")
"""What each program has, whatever the cells above it say."""
SHOWN, STEPS = "_shown_", "_steps_"  # names that no program uses
LONGEST = 200_000
"""How many characters of what is printed are shown; a page with more would be slow to scroll."""
FLOOD, MOST = 1_000_000, 1000
"""How many characters a program may print, and how many things it may display; one that goes on never ends."""
LONGEST_MESSAGE = 200
"""How many characters of an error above are shown."""
FIELDS = 20
"""How many values of a program have a field."""
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
        found = _values(source)[:FIELDS]
        return [{"name": name, "text": ast.get_source_segment(plain(source), node)} for name, node in found]
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
        self.namespaces: dict[str, Namespace] = {}
        os.environ.setdefault("MPLBACKEND", "agg")  # `plt.show()` has no window here: figures are shown at the end
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")

    def setup(self, above: list[dict[str, Any]], source: str) -> str:
        """Return what runs of the cells above before a program; nothing if that cannot be read."""
        with suppress(*UNREADABLE):
            return "\n".join(ast.unparse(cell) for cell in _setup(above, source)[0])
        return ""

    def list_older(self, cells: list[dict[str, Any]], pairs: list[tuple[list[int], list[int], str]]) -> list[bool]:
        """Return, for each program, whether other statements would run before it now than did.

        Parameters
        ----------
        cells : list of dict
            Cells, as `run` takes them.
        pairs : list of tuple
            For each program, the numbers of the cells that were above it, of those that are, and its source.
        """

        def read(above: list[int], source: str) -> Any:
            with suppress(*UNREADABLE):
                runs, failure = _setup([cells[k] for k in above], source)
                return [ast.unparse(cell) for cell in runs], failure
            return None

        return [read(then, source) != read(now, source) for then, now, source in pairs]

    def run(
        self,
        above: list[dict[str, Any]],
        source: str,
        texts: dict[str, str] | None = None,
        key: str = "",
        title: str = "",
    ) -> dict[str, Any]:
        """Run a cell after what it needs, and return what to show.

        Parameters
        ----------
        above : list of dict
            The cells above, as the page has them: "source", "title" and, where fields were filled in, "texts". What
            this one needs of them runs first, and nothing of it is shown.
        source : str
            The cell.
        texts : dict of str, optional
            What the fields hold, by name, where it is not what the cell says.
        key : str
            Where on the page the program stands; `move` finds its explorers by it, and a second run its namespace.
        title : str
            What the cell is called where a line of it is named, and its player if it is under `%%play`.

        Returns
        -------
        dict
            "source" and "values" are the program that ran; "outputs" has pairs of a kind ("html", "picture", "text" or
            "error") and a text; "line" is the number of the line that failed, or None; "above" has the "title", "line"
            and "message" of the first cell above that stopped with an error, or is None; "answers" has what `check`
            said, and "sliders" what each explorer can move, with the number of its output; "taken" says of each cell
            above whether more of it ran than imports.
        """
        told: dict[str, Any] = {"source": source, "outputs": [], "line": None, "above": None}
        told |= {"answers": [], "sliders": [], "taken": []}
        name = _name(title)
        self.explorers[key] = []
        try:
            _refuse_magics(source, name)
            if texts:
                told["source"] = source = with_values(source, texts)
            with np.errstate(), np.printoptions(), localcontext():  # another program finds them as they were
                cells, told["above"] = _setup(above, source)
                told["taken"] = [not all(map(is_import, cell.body)) for cell in cells]
                names, failure = self._names(above, cells, key)
                told["above"] = told["above"] or failure
                with _listening(told["answers"]):  # what a cell above checks is not an answer here
                    self._run(names, source, told, key, title, name)
        except BaseException as error:  # also SystemExit and what only a program can raise
            told["outputs"].append(("error", _as_python_shows(error, name)))
            told["line"] = _line(error, name)
        told["outputs"] = [(kind, "".join(parts)) for kind, *parts in told["outputs"]]
        told["outputs"] = [
            (kind, text if kind in {"html", "picture"} else _shortened(text)) for kind, text in told["outputs"]
        ]
        told["values"] = values(told["source"])
        gc.collect()  # a trace refers to itself; fifty of them would wait for the next collection
        return told

    def train(self, above: list[dict[str, Any]], source: str, tell: Callable[[str], object]) -> None:
        """Run a cell whose last line is a `TrainButton`, as if Train was pressed; `tell` is given each picture."""
        tree = ast.parse(source)
        button = tree.body.pop()
        if not isinstance(button, ast.Expr):
            raise TypeError("the last line of this cell is not a TrainButton")
        names, _ = self._names(above, _setup(above, source)[0])
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            exec(compile(tree, NAME, "exec", dont_inherit=True), names)
            for html in eval(ast.unparse(button), names).train():
                tell(html)

    def _names(
        self, above: list[dict[str, Any]], cells: list[ast.Module], key: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return the names that a program finds, and the first cell above that failed.

        They are those of its last run, unless cells or objects differ. As in a notebook, the cells below one that
        failed run all the same.
        """
        text = [ast.dump(cell, include_attributes=True) for cell in cells]  # with the lines that a traceback names
        kept = self.namespaces.pop(key, None)
        names = kept.restored() if kept is not None and kept.setup == text else None
        failure = kept.failure if kept is not None else None
        if names is None:
            failure = None
            names = {"__name__": "__main__", "display": lambda *shown: None, "input": _no_input}
            exec("\n".join(ALWAYS), names)
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                for cell, each in zip(cells, above, strict=True):
                    name = _name(each["title"])
                    try:
                        exec(compile(cell, name, "exec", dont_inherit=True), names)
                    except BaseException as error:
                        failure = failure or _describe_failure(each["title"], error)
            _open_figures()  # those of the cells above are theirs
        if key:
            self.namespaces[key] = Namespace(text, names, failure)
        return names, failure

    def _run(self, names: dict[str, Any], source: str, told: dict[str, Any], key: str, title: str, name: str) -> None:
        import autodiff_edu as ad
        from autodiff_edu.player.play import has_steps
        from autodiff_edu.text.frames import OURS

        if (here := _Printed.write.__code__.co_filename) not in OURS:
            OURS.append(here)  # what a program prints comes here, and is not a step of it
        printed = _Printed(told["outputs"])

        displayed: list[Any] = []

        def display(*shown: Any) -> None:
            for each in shown:
                if len(told["outputs"]) > MOST:
                    raise TooMuchOutputError(f"the program displayed more than {MOST:,} things")
                self._show(each, told, key)
                displayed.append(each)

        def show_figures() -> None:
            for figure in _open_figures():
                if not any(figure is each for each in displayed):
                    display(figure)

        _open_figures()  # what was stopped may have left some
        names |= {"display": display, "input": _no_input}
        text = plain(source)
        tree = ast.parse(_known(text, name), name)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr) and not _ends_in_semicolon(text, last):  # its value is shown
            tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(SHOWN, ast.Store())], last.value), last)
        magic = MAGIC.search(source)
        options = {"predict": True} if magic is not None and "--predict" in magic[1] else {}
        if magic is not None and tree.body:  # inside the program: what runs around it is not followed line by line
            names[STEPS] = ad.trace(title)
            block = ast.withitem(ast.Name(STEPS, ast.Load()), ast.Name(STEPS, ast.Store()))
            tree.body = [ast.With([block], tree.body)]
        code = compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True)
        with redirect_stdout(printed), redirect_stderr(printed):
            try:
                exec(code, names)
            except MemoryError:
                names.clear()  # makes room for the sentence that says so
                raise
            except Exception as error:
                if magic is not None and has_steps(names[STEPS]):  # the last of them is the error
                    display(ad.play(names[STEPS], **options))
                elif hasattr(error, "player") and hasattr(error, "__notes__"):  # of `ad.play`, whose note says so
                    error.__notes__ = [note for note in error.__notes__ if "attribute `player`" not in note]
                    display(error.player)
                show_figures()
                raise
            if magic is not None and tree.body and not has_steps(names[STEPS]):
                print("%%play: no tape recorded anything in this cell, so there is nothing to step through.")
            elif magic is not None and tree.body:
                display(ad.play(names[STEPS], **options))
            if names.get(SHOWN) is not None:
                display(names[SHOWN])
            show_figures()

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
            told["outputs"].append(("picture", _picture(shown)))
            return
        if hasattr(type(shown), "_repr_mimebundle_"):
            made = shown._repr_mimebundle_()
            bundle, about = made if isinstance(made, tuple) else (made, {})
            if png := bundle.get("image/png"):
                told["outputs"].append(("picture", _pictured(png, about.get("image/png", {}).get("alt"))))
                return
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


class Namespace:
    """The names that the cells above have made for a program, to be used again unless the program changed an object."""

    def __init__(self, setup: list[str], names: dict[str, Any], failure: dict[str, Any] | None) -> None:
        self.setup, self.names, self.made, self.failure = setup, names, dict(names), failure
        self.digest = _digest(self.made)

    def restored(self) -> dict[str, Any] | None:
        """Return the names as the cells above have left them; None if that can no longer be said."""
        if self.digest is None or _digest(self.made) != self.digest:
            return None
        self.names.clear()  # functions look their names up in this very dictionary
        self.names.update(self.made)
        return self.names


class _Digest(pickle.Pickler):
    """Writes what objects hold; functions, classes and modules by what could change in them."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file)
        self.seen: set[int] = set()

    def persistent_id(self, thing: Any) -> Any:
        if not isinstance(thing, FunctionType | ModuleType | type):
            return None
        is_known = id(thing) in self.seen or getattr(thing, "__module__", "") != "__main__"
        self.seen.add(id(thing))
        if is_known:
            return id(thing)
        if isinstance(thing, FunctionType):
            inside = [cell.cell_contents for cell in thing.__closure__ or ()]
            return id(thing), thing.__defaults__, thing.__kwdefaults__, inside, vars(thing)
        return id(thing), {name: each for name, each in vars(thing).items() if name[:2] != "__"}


def _digest(names: dict[str, Any]) -> bytes | None:
    """Return bytes that change with objects, number settings or random states; None if they can't be computed."""
    file = BytesIO()
    layers = sys.modules.get("autodiff_edu.nn.initialisers")
    own = {name: thing for name, thing in names.items() if name not in {"__builtins__", "display", "input"}}
    try:
        states = [np.random.get_state(), random.getstate(), np.geterr(), np.get_printoptions(), getcontext()]
        _Digest(file).dump([own, states, layers and layers._generator])
    except Exception:  # of whatever it finds
        return None
    return file.getvalue()


def _setup(above: list[dict[str, Any]], source: str) -> tuple[list[ast.Module], dict[str, Any] | None]:
    """Return what runs of each cell above before a program, and the first of them that cannot be read."""
    cells, failure = [], None
    for each in above:
        name = _name(each["title"])
        try:
            text = with_values(each["source"], each["texts"]) if each.get("texts") else each["source"]
            _refuse_magics(text, name)
            cells.append(_parse(_known(plain(text), name), name))
        except UNREADABLE as error:
            cells.append(ast.Module([], []))
            failure = failure or _describe_failure(each["title"], error)
    return needed(cells, ast.parse(plain(source))), failure


def _ends_in_semicolon(source: str, last: ast.Expr) -> bool:
    line = source.split("\n")[(last.end_lineno or 1) - 1].encode()
    return line[last.end_col_offset :].lstrip().startswith(b";")


def _describe_failure(title: str, error: BaseException) -> dict[str, Any]:
    shown = traceback.format_exception_only(error)[-1].strip()
    return {"title": title, "line": _line(error, _name(title)), "message": shown[:LONGEST_MESSAGE]}


@lru_cache(maxsize=256)  # the nodes stay the same, and with them what `earlier` has found in them
def _parse(text: str, name: str) -> ast.Module:
    tree = ast.parse(text, name)
    compile(tree, name, "exec", dont_inherit=True)  # refuses, for instance, a `return` outside a function
    return tree


def _name(title: str) -> str:
    return f"<{title}>" if title else NAME


def _known(text: str, name: str) -> str:
    """Register a program's lines, so that the tracer and tracebacks find them."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return text


class _Printed(StringIO):
    """Takes what is printed as an output, in order with what is displayed."""

    def __init__(self, outputs: list[Any]) -> None:
        super().__init__()
        self.outputs = outputs
        self.length = 0

    def write(self, text: str) -> int:
        if not self.outputs or self.outputs[-1][0] != "text" or isinstance(self.outputs[-1], tuple):
            self.outputs.append(["text"])
        self.length += len(text)
        if self.length > FLOOD:
            raise TooMuchOutputError(f"the program printed more than {FLOOD:,} characters")
        self.outputs[-1].append(text)  # joined at the end: a text that grows would be copied each time
        return len(text)


class TooMuchOutputError(BaseException):
    """Ends a program that floods the page; `except Exception` does not catch it."""

    __module__ = "builtins"  # a traceback shows the name alone


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


def _refuse_magics(source: str, name: str) -> None:
    """Raise SyntaxError for what is not Python; `%%play` in the first line and `%load_ext` pass."""
    try:
        ast.parse(plain(source), name)
    except SyntaxError as error:
        line = (error.text or "").strip()
        if line.startswith(("%", "!")):
            message = f"{line.split()[0]} belongs to IPython, which is not here; %%play works, in the first line"
            raise SyntaxError(message, (name, error.lineno, error.offset, error.text)) from None
        raise


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
    file = BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return _pictured(file.getvalue(), getattr(figure, "alt", ""))


def _pictured(png: bytes, alt: Any) -> str:
    from base64 import b64encode

    return json.dumps({"alt": str(alt or "the figure that the program drew"), "png": b64encode(png).decode()})


def _as_python_shows(error: BaseException, name: str) -> str:
    """Return a traceback that begins in the reader's program and leaves out the package's own lines."""
    cells = re.compile(rf"{re.escape(name)}|<cell \d+>")  # also a function of a cell above
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if cells.fullmatch(frame.filename)]
    shown = traceback.TracebackException.from_exception(error)
    shown.stack = traceback.StackSummary.from_list(own)
    shown.__cause__ = shown.__context__ = None
    text = "".join(shown.format()).replace(f'File "{name}", ', "")
    text = re.sub(r'File "<(cell \d+)>", ', r"\1, ", text)
    if _numpy_has(error):
        text = re.sub(r" Did you mean: .*?\?$", "", text, flags=re.MULTILINE)
    mathematics = advise(error, own[-1].line if own else None)
    if mathematics:
        return f"{mathematics}\n\n{text}"
    return text + "".join(f"{sentence}\n" for kind, sentence in _advice(error) if isinstance(error, kind))


def _advice(error: BaseException) -> list[tuple[type[BaseException], str]]:
    """Return what to say besides of errors that mean something else here, or that a beginner meets first."""
    advice: list[tuple[type[BaseException], str]] = [
        (
            ModuleNotFoundError,
            f"This page has NumPy, Matplotlib and autodiff_edu; {getattr(error, 'name', '')} is not here.",
        ),
        (MemoryError, "The program needs more memory than a page may have."),
        (RecursionError, "A function calls itself again and again. Is there a case where it stops?"),
        (TooMuchOutputError, "Is it an endless loop? If not, print less: every hundredth turn, for example."),
    ]
    if _numpy_has(error):
        advice.append((NameError, f"Did you mean np.{getattr(error, 'name', '')}?"))
    if "stack switch" in str(error):  # Pyodide's words for it
        wait = "asyncio cannot wait in this page; write an ordinary function instead of a coroutine, and call it."
        advice.append((RuntimeError, wait))
    return advice


def _numpy_has(error: BaseException) -> bool:
    return type(error) is NameError and hasattr(np, error.name or "")


def _line(error: BaseException, name: str) -> int | None:
    if isinstance(error, SyntaxError) and error.filename == name:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
    return lines[-1] if lines else None
