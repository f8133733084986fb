"""The step-through player: one trace, played forwards and backwards, frame by frame.

The player knows nothing but the trace document. In a live notebook it is a widget that Python can move; everywhere else
(a saved notebook, a web page, an e-mail attachment) it is the same script in a fragment of HTML, without a kernel.
"""

import json
import operator
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from autodiff_edu.player import html
from autodiff_edu.player.layout import layout

__all__ = ["Player", "layout"]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Traced(Protocol):
    """What a player needs of a trace."""

    def to_json(self) -> str:
        """Return the trace document."""

    def transcript(self) -> str:
        """Return the trace in words."""


class Player:
    """A trace to step through; the value of a notebook cell shows it.

    Parameters
    ----------
    trace
        A trace: anything with ``to_json()``, which gives the trace document, and ``transcript()``, the same in words.

    Examples
    --------
    >>> class Sample:
    ...     def to_json(self):
    ...         steps = '[{"kind": "pause", "text": "Tape 1 pauses."}, {"kind": "resume", "text": "Tape 1 goes on."}]'
    ...         return '{"title": "f(x)", "code": [], "tapes": [], "tensors": [], "entries": [], "steps": %s}' % steps
    ...     def transcript(self):
    ...         return "Tape 1 pauses. Tape 1 goes on."
    >>> player = Player(Sample())
    >>> player
    Player('f(x)', 2 steps)
    >>> player.step = 1
    >>> player.step = 2
    Traceback (most recent call last):
        ...
    IndexError: step 2 is out of range: this player has the steps 0 to 1
    """

    def __init__(self, trace: Traced) -> None:
        document = json.loads(trace.to_json())
        self._content = {"trace": document, "layout": layout(document), "css": html.style()}
        self._transcript = trace.transcript()
        self._step = 0
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
        if isinstance(step, bool) or not hasattr(step, "__index__"):
            raise TypeError(f"a step is an integer, not {type(step).__name__}: write player.step = 3")
        number = operator.index(step)
        if not 0 <= number < len(self):
            allowed = f"this player has the steps 0 to {len(self) - 1}" if len(self) else "this player has no steps"
            raise IndexError(f"step {number} is out of range: {allowed}")
        self._step = number
        if self._widget is not None:
            self._widget.step = number

    def html(self) -> str:
        """Return the player as a fragment of HTML that runs without kernel and network.

        Returns
        -------
        str
            One ``<div>``, beginning at the current step; the same trace gives the same bytes. Where scripts do not run,
            it shows the transcript.
        """
        return html.fragment(self._content, self._transcript, self.step)

    def page(self) -> str:
        """Return a complete HTML document with the player in it, for the light and the dark scheme."""
        return html.page(self._content, self._transcript, self.step)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path
            Where to; a file of that name is replaced.
        """
        Path(path).write_text(self.page(), encoding="utf-8", newline="\n")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self.html()}
        widget = self._live()
        if widget is not None:
            view = widget._repr_mimebundle_()
            # anywidget gives the data, or the data and their metadata, depending on its version.
            bundle[WIDGET_VIEW] = (view[0] if isinstance(view, tuple) else view)[WIDGET_VIEW]
        return bundle

    def _live(self) -> Any:
        """Return the widget, made at the first showing; None where anywidget is missing."""
        if self._widget is None:
            try:
                from autodiff_edu.player.widget import make_widget
            except ImportError:
                return None
            self._widget = make_widget(self._content, self._step)
        return self._widget
