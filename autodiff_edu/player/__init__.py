"""The step-through player: one trace, played forwards and backwards, frame by frame.

The player knows only the trace document. In a live notebook it is a widget that Python can move; everywhere else
(a saved notebook, a web page, an e-mail attachment) it is the same script in a fragment of HTML, without a kernel.
Where no script runs, that fragment is a key frame and the transcript; in a terminal and in a PDF it is the transcript.
"""

import operator
from os import PathLike
from typing import Any, Protocol

from ..options import shows_widgets
from ..text.shared import shared
from ..trace.garbage_collection import without_collecting
from ..trace.sentences import transcript
from ..trace.states import states
from . import html
from .bundle import style
from .files import save
from .layout.layout import layout
from .print.frames import Frames, draw_key_frame
from .print.moments import choose_key_steps

__all__ = ["Player", "layout"]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def widget_view(widget: Any) -> dict[str, Any]:
    """Return the part of a cell's output that shows a widget."""
    view = widget._repr_mimebundle_()
    # anywidget returns the data, or the data and their metadata, depending on its version.
    return {WIDGET_VIEW: (view[0] if isinstance(view, tuple) else view)[WIDGET_VIEW]}


class Traced(Protocol):
    """The part of a trace that a player needs."""

    def document(self) -> dict[str, Any]:
        """Return the trace document."""


class Player:
    """A trace to step through; the value of a notebook cell shows it.

    Parameters
    ----------
    trace
        A trace: anything with ``document()``, which returns the trace document, as ``Trace.document`` does.
    predict : bool
        Whether Predict is on from the start.
    stage : bool
        Whether its widget opens on stage when it is first shown; no page does.

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
    >>> player.step = 1
    >>> player.step = 2
    Traceback (most recent call last):
        ...
    IndexError: step 2 is out of range: this player has the steps 0 to 1
    """

    def __init__(self, trace: Traced, predict: bool = False, stage: bool = False) -> None:
        with without_collecting():
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
        self._content: dict[str, Any] = {"trace": document, "layout": placed, "css": style()}
        if predict:
            self._content["predict"] = True
        self._transcript = transcript(document)
        self._step, self._stage = 0, stage
        self._widget: Any = None

    def __len__(self) -> int:
        return len(self._content["trace"]["steps"])

    def __repr__(self) -> str:
        count = len(self)
        return f"Player({self._content['trace']['title']!r}, {count} {'step' if count == 1 else 'steps'})"

    @property
    def step(self) -> int:
        """The step that is shown, counted from 0; set it to move every live view of the player.

        Raises
        ------
        IndexError
            If there is no such step.
        TypeError
            If the step is not an integer.
        """
        return self._step if self._widget is None else self._widget.step

    @step.setter
    def step(self, step: int) -> None:
        self._step = self._check(step)
        if self._widget is not None:
            self._widget.step = self._step

    def _check(self, step: int) -> int:
        if isinstance(step, bool) or not hasattr(step, "__index__"):
            raise TypeError(f"a step is an integer, not {type(step).__name__}: write player.step = 3")
        number = operator.index(step)
        if not 0 <= number < len(self):
            allowed = f"this player has the steps 0 to {len(self) - 1}" if len(self) else "this player has no steps"
            raise IndexError(f"step {number} is out of range: {allowed}")
        return number

    def html(self) -> str:
        """Return the player as a fragment of HTML that runs without a kernel or a network.

        Returns
        -------
        str
            One ``<div>``, beginning at the current step; the same trace and the same build of zlib give the same bytes.
            Where scripts do not run, it shows a key frame and the transcript.
        """
        return html.fragment(self._content, self._transcript, self.step, draw_key_frame(self._content))

    def page(self) -> str:
        """Return a complete HTML document with the player in it, for the light and the dark scheme."""
        return html.page(self._content, self._transcript, self.step, draw_key_frame(self._content))

    def transcript(self) -> str:
        """Return the trace as numbered sentences: one line for each step."""
        return self._transcript

    def frames(self, *steps: int) -> Frames:
        """Return pictures of some steps, side by side, for slides and for print.

        Parameters
        ----------
        *steps : int
            The steps to draw, counted from 0; by default, up to six that show the most of the trace.

        Returns
        -------
        Frames
            With ``svg()``, ``pdf()`` and ``save(path)``; the value of a cell shows it.

        Raises
        ------
        IndexError
            If there is no such step.
        TypeError
            If a step is not an integer.
        """
        chosen = [self._check(step) for step in steps] or choose_key_steps(self._content["trace"])
        return Frames(self._content, chosen)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the player to a file, in the format given by the ending of its name.

        Parameters
        ----------
        path
            A name that ends in .html (the page), .svg or .pdf (the key frames) or .txt (the transcript). An existing
            file is replaced once the new one is complete; until then it stays unchanged.

        Raises
        ------
        ValueError
            If the name has another ending.
        ImportError
            For a PDF, if matplotlib is missing.
        """
        forms = {
            ".html": lambda: self.page().encode(errors="replace"),
            ".svg": lambda: self.frames().svg().encode(),
            ".pdf": lambda: self.frames().pdf(),
            ".txt": lambda: f"{self.transcript()}\n".encode(errors="replace"),
        }
        save(path, forms)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # A terminal, and a PDF of a notebook, show only the plain text.
        plain = f"{self!r}\n{self._transcript}" if self._transcript else repr(self)
        bundle: dict[str, Any] = {"text/plain": plain, "text/html": self.html()}
        widget = self._live() if shows_widgets() else None
        return bundle if widget is None else bundle | widget_view(widget)

    def _live(self) -> Any:
        """Return the widget, created when first shown; None if anywidget is missing."""
        if self._widget is None:
            try:
                from .widget import make_widget
            except ImportError:
                return None
            self._widget = make_widget(self._content, self._step, self._stage)
        return self._widget
