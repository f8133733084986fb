"""The step-through player: one trace, played forwards and backwards, frame by frame.

The player knows only the trace document. Everywhere (a live notebook, a saved one, a web page, an e-mail attachment) it
is the same script in a fragment of HTML, which needs no kernel. In a live notebook it is a widget as well: Python can
move it, and learns where the reader moves it. Where no script runs, the fragment shows a key frame and the transcript;
a terminal and a PDF show the transcript.
"""

import operator
from functools import cached_property
from os import PathLike
from typing import Any, Protocol

from ..options import makes_widgets, shows_widgets
from ..text.shared import shared
from ..trace.garbage_collection import without_collecting
from ..trace.sentences import transcript
from ..trace.states import states
from . import html
from .bundle import style
from .cells import announce_drawing, release_replaced
from .files import save
from .layout.layout import layout
from .packing import pack
from .print.film import Film
from .print.frames import Frames, draw_key_frame
from .print.moments import choose_key_steps
from .print.slides import Slides
from .unpacking import unpack

__all__ = ["Player", "layout"]


class Traced(Protocol):
    """The part of a trace that a player needs."""

    def document(self) -> dict[str, Any]:
        """Return the trace document."""


class Player:
    """A trace to step through; the value of a notebook cell shows it.

    In a notebook it is a widget too: put it into a box (`ipywidgets.HBox([slider, player])`), link it
    (`ipywidgets.jslink((player, "step"), (slider, "value"))`) or call `player.observe(f, "step")`.

    Parameters
    ----------
    trace
        A trace: anything with ``document()``, which returns the trace document, as ``Trace.document`` does.
    predict : bool
        Whether Predict is on from the start.
    stage : bool
        Whether it opens on stage when a live notebook first shows it; a saved page never does.

    Attributes
    ----------
    playing : bool
        Whether the player moves on by itself.
    predict : bool
        Whether the reader is asked before a step is shown.

    Raises
    ------
    ValueError
        If the document is of another version.

    Examples
    --------
    >>> class Sample:
    ...     def document(self):
    ...         steps = [{"kind": "pause", "text": "Tape 1 pauses."}, {"kind": "resume", "text": "Tape 1 goes on."}]
    ...         return {"title": "f(x)", "code": [], "tapes": [], "tensors": [], "entries": [], "steps": steps}
    >>> player = Player(Sample())
    >>> player
    Player('f(x)', 2 steps)
    >>> player.step = 2
    >>> player.step = 3
    Traceback (most recent call last):
        ...
    IndexError: step 3 is out of range: this player has the steps 1 to 2
    """

    def __new__(cls, *args: Any, **options: Any) -> "Player":
        """Make a widget in a notebook; elsewhere, importing anywidget would only cost time."""
        if makes_widgets():
            try:
                from .widget import Joined, make_widget_class
            except ImportError:  # without anywidget
                return super().__new__(cls)
            if not issubclass(cls, Joined):
                cls = make_widget_class(cls)  # type: ignore[arg-type]  # a class has a hash
        return super().__new__(cls)

    def __init__(self, trace: Traced, predict: bool = False, stage: bool = False) -> None:
        super().__init__()
        with announce_drawing(len(getattr(trace, "events", ()))), without_collecting():
            document = trace.document()
            known = shared()["version"]
            if document.get("version", known) != known:
                raise ValueError(
                    f"this is version {document['version']!r:.20} of the trace document, but the player draws version "
                    f"{known}: create the trace again with this release of autodiff_edu"
                )
            if "states" not in document:
                document = document | {"states": states(document)}
            placed = layout(document)
        self._whole: dict[str, Any] | None = {"trace": document, "layout": placed, "css": style()}
        self.predict, self.playing, self._stage, self._step = bool(predict), False, stage, 0
        stopped = bool(document["steps"]) and document["steps"][-1]["kind"] == "error" and not predict
        if document["steps"]:  # what went wrong is what the reader wants to see first
            self.step = len(self) if stopped else 1
        self._moved = stopped or self.predict  # whether a slide shows the current step

    @property
    def _content(self) -> dict[str, Any]:
        """What the script in the page is given; if another player has replaced this one, it is unpacked first."""
        if self._whole is None:
            content: dict[str, Any] = unpack(self._packed)
            return content
        return self._whole

    @cached_property
    def _packed(self) -> dict[str, Any]:
        return pack(self._content)

    @cached_property
    def _picture(self) -> tuple[str, str]:
        return draw_key_frame(self._content, self.predict)

    def __len__(self) -> int:
        return len(self.document()["steps"])

    def __repr__(self) -> str:
        count = len(self)
        return f"Player({self.document()['title']!r}, {count} {'step' if count == 1 else 'steps'})"

    @property
    def step(self) -> int:
        """The step that is shown, counted from 1 as in the player; set it to move the player wherever it is shown.

        Raises
        ------
        IndexError
            If there is no such step.
        TypeError
            If the step is not an integer.
        """
        return self._step

    @step.setter
    def step(self, step: int) -> None:
        self._step, self._moved = self._check(step), True

    def _check(self, step: int) -> int:
        if isinstance(step, bool) or not hasattr(step, "__index__"):
            raise TypeError(f"a step is an integer, not {type(step).__name__}: write player.step = 3")
        number = operator.index(step)
        if not 1 <= number <= len(self):
            allowed = f"this player has {f'the steps 1 to {len(self)}' if len(self) else 'no steps'}"
            raise IndexError(f"step {number} is out of range: {allowed}")
        return number

    @property
    def _start(self) -> int:
        """The position of the step that is shown in the document, where a list begins with 0."""
        return max(self.step - 1, 0)

    def html(self, in_cell: bool = False) -> str:
        """Return the player as a fragment of HTML that runs without a kernel or a network.

        Parameters
        ----------
        in_cell
            Whether this is the output of a cell: until a script runs, it says to run the cell.

        Returns
        -------
        str
            One ``<div>``, beginning at the current step; the same trace and the same build of zlib give the same bytes.
            Where scripts do not run, it shows a key frame, and the transcript unless the reader is to predict it.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> lesson = f"<h1>A square</h1>{player.html()}"
        >>> lesson[:42]
        '<h1>A square</h1><div data-autodiff-player'
        """
        return self._fragment(in_cell=in_cell)

    def _fragment(self, key: str = "", in_cell: bool = False) -> str:
        words = "" if in_cell else self._write_fallback()  # a cell has them as plain text
        return html.fragment(self._packed, self._start, words, self._picture, self.predict, key, in_cell)

    def _write_fallback(self) -> str:
        """Return the text for places where no script runs; none if it would give away what the reader is asked."""
        return "" if self.predict else html.abridge(self.transcript())

    def document(self) -> dict[str, Any]:
        """Return the trace document that the player draws.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> [step["kind"] for step in player.document()["steps"]]
        ['watch', 'record', 'seed', 'pull back', 'accumulate', 'accumulate', 'outcome']
        """
        trace: dict[str, Any] = self._content["trace"]
        return trace

    def page(self) -> str:
        """Return a complete HTML document with the player in it, for the light and the dark scheme.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> player.page()[:15]
        '<!DOCTYPE html>'
        """
        return html.page(self.document()["title"], self.html())

    def transcript(self) -> str:
        """Return the trace as numbered sentences: one line for each step.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> player.transcript().splitlines()[::6]
        ['1. The tape watches x, which is 3.', '7. dt1/dx is 6.']
        """
        return transcript(self.document())

    def frames(self, *steps: int, size: str | None = None) -> Frames:
        """Return pictures of some steps: side by side, for print, or each as a slide.

        Parameters
        ----------
        *steps : int
            The steps to draw, counted from 1 as in the player; by default, up to six that show the most of the trace.
        size
            "16:9" for slides of 1280 by 720 pixels, with the code, the graph and what is computed.

        Returns
        -------
        Frames
            With ``svg()``, ``pdf()`` and ``save(path)``; a cell whose value it is shows it. Slides are the pages of a
            PDF, and ``save("lesson.svg")`` or ``save("lesson.png")`` writes lesson-1.svg, lesson-2.svg and so on.

        Raises
        ------
        IndexError
            If there is no such step.
        TypeError
            If a step is not an integer.
        ValueError
            If there is no such size.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> player.frames(2, 5)
        Frames('<lambda>(x)', steps 2 and 5)
        >>> player.frames(2, 5, size="16:9")
        Slides('<lambda>(x)', steps 2 and 5)
        """
        if size not in (None, "16:9"):
            raise ValueError(f'frames have no size {size!r}: write size="16:9" for slides, or leave it out')
        chosen = [self._check(step) for step in steps] or [at + 1 for at in choose_key_steps(self.document())]
        return (Slides if size else Frames)(self._content, chosen)

    def film(self, *steps: int) -> Film:
        """Return some steps as a film, which plays where no script runs.

        Parameters
        ----------
        *steps : int
            The steps to show, counted from 1 as in the player, at most 120; by default, up to 24 that show the most.

        Returns
        -------
        Film
            With ``svg()``, ``gif()``, ``webp()`` and ``save(path)``; a cell whose value it is plays it.

        Raises
        ------
        IndexError
            If there is no such step.
        TypeError
            If a step is not an integer.
        ValueError
            If there are too many.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> player.film(2, 3, 4)
        Film('<lambda>(x)', 3 steps, 4.7 seconds)
        """
        return Film(self._content, [self._check(step) for step in steps])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the player to a file, in the format given by the ending of its name.

        Parameters
        ----------
        path
            A name that ends in .html (the page), .svg or .pdf (the key frames), .gif or .webp (the film), .png (a
            slide of the step that shows the most, or of the current one once you have moved the player) or .txt (the
            transcript). For a film as SVG, write ``player.film().save(path)``. An existing file is replaced once the
            new one is complete; until then it stays unchanged.

        Raises
        ------
        ValueError
            If the name has another ending.
        ImportError
            For a PDF or pixels, if matplotlib is missing.
        OSError
            If the path is a directory, or in one that does not exist.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import autodiff_edu as ad
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "square.txt"
        >>> ad.play(lambda x: x * x, 3.0).save(path)
        >>> path.read_text(encoding="utf-8").splitlines()[-1]
        '7. dt1/dx is 6.'
        """
        forms = {
            ".html": lambda: self.page().encode(errors="replace"),
            ".svg": lambda: self.frames().svg().encode(),
            ".pdf": lambda: self.frames().pdf(),
            ".gif": lambda: self.film().gif(),
            ".webp": lambda: self.film().webp(),
            ".png": lambda: Slides(self._content, self._choose_slide()).png(),
            ".txt": lambda: f"{self.transcript()}\n".encode(errors="replace"),
        }
        save(path, forms)

    def _choose_slide(self) -> list[int]:
        """Return the step for a slide: the current one or, if nobody has moved the player, that of the key frame."""
        if self._moved and len(self):
            return [self.step]
        return [at + 1 for at in choose_key_steps(self.document(), 1)]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        release_replaced(self)
        with announce_drawing(len(self), lambda: html.image(*self._picture)):
            words = self._write_fallback()
            # A terminal, and a PDF of a notebook, show only the plain text.
            plain = f"{self!r}\n{words}" if words else repr(self)
            key = self._join() if shows_widgets() else ""
            return {"text/plain": plain, "text/html": self._fragment(key, in_cell=True)}

    def _join(self) -> str:
        """Return the key of the model in the kernel that moves the player in the page; only a widget has one."""
        return ""

    def draw(self, other: "Player") -> None:
        """Draw the trace of another player in place of this one's, at the same step if it has that many.

        Parameters
        ----------
        other : Player
            For example of the same function, after a slider beside this player has moved.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> player = ad.play(lambda x: x * x, 3.0)
        >>> player.draw(ad.play(lambda x: x * x, 4.0))
        >>> player.transcript().splitlines()[-1]
        '7. dt1/dx is 8.'
        """
        self._whole = other._content
        for made in ("_packed", "_picture"):
            vars(self).pop(made, None)
        if self.step > len(self):
            self.step = len(self)

    def _release(self) -> None:
        """Keep only the packed content: another player has taken this one's place in the notebook."""
        self._packed, self._whole = self._packed, None
        vars(self).pop("_picture", None)
