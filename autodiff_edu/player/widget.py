"""The player as a live widget: the step is shared between the kernel and every view of it. And a prediction.

This is the only module of the player that needs anywidget; it is imported when a player is first shown.
"""

import hashlib
import json
from collections import Counter
from typing import Any

import anywidget
import traitlets

from .bundle import script

_made: Counter[str] = Counter()


class PlayerWidget(anywidget.AnyWidget):
    """One trace and its current step; js/player.js draws them."""

    _esm = script()
    # No _css: anywidget would apply it to the whole page. The style sheet travels in `document`, into the shadow root.

    document = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def open_on_stage(self) -> None:
        """Open the first view on stage. It asks for this itself: what is synchronized would be saved with a page."""

        def answer(_: Any, message: Any, __: Any) -> None:
            if message == "mounted":
                self.on_msg(answer, remove=True)
                self.send("stage")

        self.on_msg(answer)


class PredictionWidget(anywidget.AnyWidget):
    """One question; js/prediction.js draws it, and the kernel hears nothing of the answer."""

    _esm = script("prediction")

    content = traitlets.Dict().tag(sync=True)


def make_widget(content: dict[str, Any], step: int, stage: bool = False) -> PlayerWidget:
    """Return a widget whose id depends on the trace alone, so that a notebook that is run again keeps its bytes."""
    widget = PlayerWidget(document=content, step=step, model_id=f"autodiff-player-{_number(content)}")
    if stage:
        widget.open_on_stage()
    return widget


def make_prediction(content: dict[str, Any]) -> PredictionWidget:
    """Return a widget whose id depends on the question alone."""
    return PredictionWidget(content=content, model_id=f"autodiff-prediction-{_number(content)}")


def _number(content: dict[str, Any]) -> str:
    """Return what tells this content from any other, and how many widgets have had it."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    _made[digest] += 1
    return f"{digest}-{_made[digest]}"
