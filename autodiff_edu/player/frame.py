"""A box of widgets in a cell whose stored output is HTML: js/frame.js replaces the HTML by the box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import anywidget
import ipywidgets
import traitlets

from ..options import shows_widgets
from ..text.ipython import find_shell
from .bundle import asset
from .cells import release_replaced

HTML = """\
<div data-autodiff-frame="{key}">
{html}
</div>
<script>document.dispatchEvent(new Event("autodiff-shown"));</script>
"""


class StoredBox(anywidget.AnyWidget):
    """The place of a box in a cell, for as long as the kernel has the box."""

    _esm = asset("js/frame.js")

    key = traitlets.Unicode().tag(sync=True)
    box = traitlets.Instance(ipywidgets.Widget).tag(sync=True, **ipywidgets.widget_serialization)

    def enclose(self, html: str) -> str:
        """Return what a cell shows: this HTML, which the box replaces as long as there is a kernel."""
        return HTML.format(key=self.key, html=html)

    def _release(self) -> None:
        """Close it, and leave the box to its maker."""
        self.layout.close()
        self.close()


_frames: WeakKeyDictionary[ipywidgets.Box, StoredBox] = WeakKeyDictionary()


def keep_players_of_boxes() -> None:
    """From now on, a cell stores the HTML of the players in a box of widgets that it shows."""
    if (shell := find_shell()) is not None:
        shell.display_formatter.mimebundle_formatter.for_type(ipywidgets.Box, show_box)


def show_box(box: ipywidgets.Box) -> dict[str, Any] | None:
    """Return what a cell shows of a box: its view, or if there are players in it, their HTML until the box is there."""
    view = getattr(box, "_repr_mimebundle_", None)  # a closed box has none
    bundle: dict[str, Any] | None = view and view()
    players = "\n".join(player.html(in_cell=True) for player in find_players(box))
    if not bundle or not players or not shows_widgets():
        return bundle
    if box not in _frames or _frames[box].comm is None:
        _frames[box] = StoredBox(box=box, key=box.model_id)
    release_replaced(_frames[box])
    return {"text/plain": bundle["text/plain"], "text/html": _frames[box].enclose(players)}


def find_players(widget: Any) -> Iterator[Any]:
    """Find the players in a box, and in the boxes in it."""
    if hasattr(widget, "transcript"):
        yield widget
    for child in getattr(widget, "children", ()):
        yield from find_players(child)


def close_all(widget: Any) -> None:
    """Close a widget with all that it holds, so that ipywidgets forgets it."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    if hasattr(widget, "_release"):
        widget._release()
        return
    for part in ("layout", "style"):
        if isinstance(found := getattr(widget, part, None), ipywidgets.Widget):
            found.close()
    widget.close()
