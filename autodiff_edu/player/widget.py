"""The player as a widget: its state is shared between Python and the page.

A cell shows not a view of it but the same HTML as everywhere else: a stored notebook has no models, and JupyterLab
shows only an error in place of a view without one. js/live.js finds the players in the page by their key. Only in a box
of widgets is a player a view, which is given that HTML; frame.py stores it for the time after the kernel.

This is the only module of the player that needs anywidget.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from functools import cache
from typing import Any

import anywidget
import traitlets

from .bundle import asset
from .cells import find_cell_id
from .frame import keep_players_of_boxes
from .html import fragment
from .unpacking import decompress

_opened: Counter[str] = Counter()


class _Step(traitlets.TraitType[int, int]):
    """The number of a step that the player has; 0 if it has none."""

    default_value = 0

    def validate(self, player: Any, step: Any) -> int:
        number: int = player._check(step) if len(player) else self.default_value
        player._moved = True
        return number


_Base: Any = traitlets.HasTraits  # its subclass calls methods of `Player` and `AnyWidget`, which come after it


class Joined(_Base):  # type: ignore[misc]
    """What a `Player` has in addition if it is a widget; it comes before `Player` among the bases."""

    _stage: bool
    _start: int
    _esm = asset("js/live.js")
    # No _css: anywidget would apply it to the whole page. The style sheet travels in the HTML, into the shadow root.

    step = _Step().tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    predict = traitlets.Bool(False).tag(sync=True)
    key = traitlets.Unicode().tag(sync=True)
    fragment = traitlets.Unicode().tag(sync=True)
    """Empty until a box asks for it: a notebook that stores widgets stores whatever is synchronized."""

    @traitlets.default("layout")
    def _fill_box(self) -> dict[str, str]:
        """Take the room that a box has beside other widgets: what is drawn in a shadow root has no width of its own."""
        return {"flex": "1 1 auto"}

    def open(self) -> None:
        """Do nothing yet: the page needs no model of a player that nobody shows."""

    @property
    def model_id(self) -> str:
        """The id of the model in the page, which is there as soon as something asks for it."""
        if self.comm is None:
            self._open()
        return str(self.comm.comm_id)

    def _open(self) -> None:
        packed = decompress(self._packed["content"])
        # The notebook and the cell, where known: otherwise notebooks open in one page would move each other's players,
        # and after a restart of the kernel a cell would move those of another one with the same program.
        told = f"{os.environ.get('JPY_SESSION_NAME')}{find_cell_id()}\n{packed}"
        digest = hashlib.sha256(told.encode()).hexdigest()[:16]
        _opened[digest] += 1
        self.key = f"{digest}-{_opened[digest]}"
        self.layout.open()  # which `_release` has closed, if it was shown before
        super().open()
        self.on_msg(self._answer)

    def _answer(self, _: Any, message: Any, __: Any) -> None:
        if message == "fragment":
            self._write_fragment()
        elif message == "mounted" and self._stage:
            self._stage = False
            self.send("stage")

    def _write_fragment(self) -> None:
        self.fragment = fragment(self._packed, self._start, predict=self.predict, key=self.key)

    def draw(self, other: Any) -> None:
        """Draw another trace in a box too."""
        super().draw(other)
        if self.fragment:
            self._write_fragment()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Accept the state that the page sends; a slider that is linked to the step may go too far."""
        if "step" in sync_data:
            sync_data = sync_data | {"step": min(len(self), max(1, int(sync_data["step"])))}
        super().set_state(sync_data)

    def _join(self) -> str:
        if self.comm is None:
            self._open()
        return self.key

    def _release(self) -> None:
        """Close the model too."""
        super()._release()
        if self.comm is not None:
            self.close()
            self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides this method of a closed widget
        if self.trait_has_value("layout"):
            self.layout.close()


@cache
def make_widget_class(cls: type[Any]) -> type[Any]:
    """Return a class of players that are widgets too; a box that one of them is in is stored with it."""
    keep_players_of_boxes()
    return type(cls.__name__, (Joined, cls, anywidget.AnyWidget), {"__module__": cls.__module__})
