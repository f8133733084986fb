"""A button that trains a model while the page draws its loss: with ipywidgets in a notebook, with Python in the book."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import Any

from ...options import shows_widgets
from ...player.cells import release_replaced
from ...text.shared import colour

WIDTH, LEFT, BOTTOM = 600.0, 32.0, 190.0
TOGETHER = 20
"""So many turns are one point of the curve, and one moment at which Stop is heard."""
NAMED = 100
"""After so many turns there is something new to read."""
WITHOUT = (
    "With a running kernel and ipywidgets installed, this cell has two buttons instead, Train and Stop: the loss is drawn "
    "as it falls."
)


class TrainButton:
    """The buttons Train and Stop, and below them the loss as it falls; the value of a notebook cell shows it.

    Parameters
    ----------
    begin : callable
        Starts anew, and returns the losses, turn by turn: a generator that trains as it is read.
    invent : callable
        Given the number of turns so far, returns a line of text to show after each hundred.
    turns : int
        How many turns there will be; the curve's axis ends there.
    know_nothing : float
        The loss of a model that knows nothing, at the top of the curve.
    """

    def __init__(
        self, begin: Callable[[], Iterable[float]], invent: Callable[[int], str], turns: int, know_nothing: float
    ) -> None:
        self.begin, self.invent, self.turns, self.top = begin, invent, turns, know_nothing * 1.1
        self.points: list[float] = []
        self.lines: list[str] = []
        self.stopped = False
        self.task: Any = None
        self._widget: Any = None

    def __repr__(self) -> str:
        return f"Two buttons, Train and Stop, for {self.turns:,} turns."

    def train(self) -> Iterator[str]:
        """Train, and yield what `html` shows after each point of the curve. To stop the training, stop reading."""
        self.points, self.lines = [], []
        latest: list[float] = []
        for turn, loss in enumerate(self.begin(), 1):
            latest.append(loss)
            if turn % NAMED == 0:
                self.lines.append(f"{turn:>5}  {self.invent(turn)}")
            if turn % TOGETHER == 0:
                self.points.append(sum(latest) / len(latest))
                latest.clear()
                yield self.html()

    def html(self) -> str:
        """Return the loss so far as a curve, and below it what the model has made up."""
        across, up = (WIDTH - LEFT - 10.0) / self.turns, (BOTTOM - 10.0) / self.top
        places = [
            f"{LEFT + across * TOGETHER * n:.1f} {BOTTOM - up * min(loss, self.top):.1f}"
            for n, loss in enumerate(self.points, 1)
        ]
        line = f'<path d="M{"L".join(places)}" fill="none" stroke="{colour("backward-accent")}" stroke-width="2"/>'
        marks = [f'<text x="{LEFT - 8:g}" y="{BOTTOM - up * n + 5:.1f}" text-anchor="end">{n}</text>' for n in range(4)]
        last = f": {self.points[-1]:.2f} after {TOGETHER * len(self.points):,} turns" if self.points else ""
        return (
            f'<svg viewBox="0 0 600 196" role="img" aria-label="The loss{last}" style="width: 100%; max-width: 600px">'
            f'<path d="M{LEFT:g} 10V{BOTTOM:g}H{WIDTH - 10:g}" fill="none" stroke="currentColor"/>'
            f'<g fill="currentColor" font-size="18" font-family="sans-serif">{"".join(marks)}</g>'
            f"{line if places else ''}</svg><div>The loss{last}.</div>"
            f"<pre>{escape(chr(10).join(self.lines))}</pre>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        release_replaced(self)
        html = f"<p data-autodiff-train>{WITHOUT}</p>"
        if shows_widgets() and self._live() is not None:
            html = self._widget[0].enclose(html)
        return {"text/plain": repr(self), "text/html": html}

    def _live(self) -> Any:
        """Return the frame, the box and what it holds, created when first shown; None if a package is missing."""
        if self._widget is None:
            try:
                import ipywidgets

                from ...player.frame import StoredBox
            except ImportError:
                return None
            train, stop = ipywidgets.Button(description="Train"), ipywidgets.Button(description="Stop", disabled=True)
            picture = ipywidgets.HTML(self.html())
            box = ipywidgets.VBox([ipywidgets.HBox([train, stop]), picture])
            train.on_click(lambda _: self._press())
            stop.on_click(lambda _: self._stop())
            self._widget = StoredBox(box=box, key=box.model_id), box, train, stop, picture
        return self._widget

    def _press(self) -> None:
        if self.task is None or self.task.done():
            self._buttons(running=True)
            self.task = asyncio.get_event_loop().create_task(self._train())
            self.task.add_done_callback(lambda _: self._buttons(running=False))

    async def _train(self) -> None:
        """Show each point as it comes; between two of them, what has been pressed is heard."""
        self.stopped = False
        for html in self.train():
            if self._widget is not None:
                self._widget[4].value = html
            await asyncio.sleep(0.005)
            if self.stopped:
                break

    def _stop(self) -> None:
        self.stopped = True

    def _buttons(self, running: bool) -> None:
        if self._widget is not None:
            _, _, train, stop, _ = self._widget
            train.disabled, stop.disabled = running, not running

    def _release(self) -> None:
        """Stop, and close the buttons: the cell has been run again."""
        self._stop()
        if self._widget is not None:
            from ...player.frame import close_all

            frame, box, *_ = self._widget
            self._widget = None
            close_all(frame)
            close_all(box)
