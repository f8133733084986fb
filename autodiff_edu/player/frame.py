"""A box of widgets in a cell whose stored output is HTML: js/frame.js replaces the HTML by the box."""

from __future__ import annotations

from typing import Any

import anywidget
import ipywidgets
import traitlets

from .bundle import asset

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
