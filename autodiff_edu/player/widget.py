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
    """One trace and the step it stands at; js/player.js draws it."""

    _esm = script()
    # No _css: anywidget would give it to the whole page. The style sheet travels in `document`, into the shadow root.

    document = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)


class PredictionWidget(anywidget.AnyWidget):
    """One question; js/prediction.js draws it, and the kernel hears nothing of the answer."""

    _esm = script("prediction")

    content = traitlets.Dict().tag(sync=True)


def make_widget(content: dict[str, Any], step: int) -> PlayerWidget:
    """Return a widget whose id depends on the trace alone, so that a notebook that is run again keeps its bytes."""
    return PlayerWidget(document=content, step=step, model_id=f"autodiff-player-{_number(content)}")


def make_prediction(content: dict[str, Any]) -> PredictionWidget:
    """Return a widget whose id depends on the question alone."""
    return PredictionWidget(content=content, model_id=f"autodiff-prediction-{_number(content)}")


def _number(content: dict[str, Any]) -> str:
    """Return what tells this content from any other, and how many widgets have had it."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    _made[digest] += 1
    return f"{digest}-{_made[digest]}"
