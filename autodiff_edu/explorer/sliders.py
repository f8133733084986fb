"""The live form of `explore`: sliders, and what follows them.

Only this module needs ipywidgets; it is imported when an explorer is first shown.
"""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor, log10
from typing import Any

import ipywidgets

from ..player import Player
from ..player.frame import StoredBox, close_all
from ..player.html import image
from ..player.widget import make_widget_class
from .look import STEPS, is_steep, table

LOWER = "<style>.autodiff-explorer { --autodiff-tall: clamp(440px, 100vh - 420px, 640px) }</style>"
"""Limits the player's height, so that it fits on the screen together with the sliders above it."""


class Sliders:
    """The widgets of one explorer; `box` holds them."""

    def __init__(self, explorer: Any) -> None:
        self.sliders = {name: self._slider(explorer, name) for name in explorer.ranges}
        self.numbers = ipywidgets.HTML()
        self.player: Any = None
        self.picture = ipywidgets.HTML(layout={"flex": "2 1 420px", "max_width": "720px"})
        moving = ipywidgets.VBox([*self.sliders.values(), self.numbers], layout={"flex": "1 1 280px"})
        self.top = ipywidgets.HBox([moving, self.picture], layout={"flex_flow": "row wrap", "grid_gap": "0 1rem"})
        self.box = ipywidgets.VBox([self.top])
        self.box.add_class("autodiff-explorer")
        self.frame = StoredBox(box=self.box, key=self.box.model_id)

    def _slider(self, explorer: Any, name: str) -> Any:
        low, high = explorer.ranges[name]
        about: dict[str, Any] = {"value": explorer.values[name], "description": name, "readout_format": ".4g"}
        about["layout"] = {"width": "auto"}
        digits = 12 - ceil(log10(high - low))
        if is_steep(low, high):
            ends = {"min": log10(low), "max": log10(high)}
            slider = ipywidgets.FloatLogSlider(base=10, step=(ends["max"] - ends["min"]) / STEPS, **ends, **about)
        else:
            slider = ipywidgets.FloatSlider(min=low, max=high, step=(high - low) / STEPS, **about)
        if not is_steep(low, high) and 6 <= digits <= 18:  # in decimals, the -9e-16 below is 0
            start = Decimal(repr(float(explorer.values[name]))).normalize().as_tuple()
            decimals = max(0, 1 - floor(log10(slider.step)), -int(start.exponent))  # two digits of a step
            slider.readout_format = f".{min(decimals, digits - 6)}f"

        def moved(change: Any) -> None:
            # The browser adds up steps, so the middle of -5 and 5 can be -9e-16; a logarithm is off in its last digit.
            new = change["new"] if is_steep(low, high) else round(change["new"], digits) + 0.0
            if new != explorer.values[name]:
                explorer.move(**{name: min(max(new, low), high)})

        slider.observe(moved, "value")
        return slider

    def enclose(self, html: str) -> str:
        """Return what a cell shows: the box, or without a kernel this HTML."""
        return self.frame.enclose(html)

    def close(self) -> None:
        """Close all widgets."""
        for widget in (self.frame, self.box):
            close_all(widget)

    def show(self, explorer: Any) -> None:
        """Show the current view; the player keeps its step if the trace is long enough."""
        look = explorer.look
        self.numbers.value = LOWER + table(look)
        drawn = look.picture
        self.picture.value = "" if drawn is None else image(drawn.svg, drawn.about, "100%")
        for name, slider in self.sliders.items():
            value = explorer.values[name]
            # Don't send back a value only because it was rounded: that would undo what the reader has moved since.
            if abs(slider.value - value) > 1e-9 * max(abs(value), slider.step):
                slider.value = value
        if look.player is None:
            self.box.children = [self.top]
            return
        if self.player is None:
            self.player = make_widget_class(Player)(look.player)
        else:
            self.player.draw(look.player)
        if len(self.box.children) == 1:
            self.box.children = [self.top, self.player]
