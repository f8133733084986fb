"""The player as a live widget: the kernel and every view share the step.

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


def make_widget(content: dict[str, Any], step: int) -> PlayerWidget:
    """Return a widget whose id depends only on the trace, so that a notebook that runs again keeps its bytes."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    _made[digest] += 1
    return PlayerWidget(document=content, step=step, model_id=f"autodiff-player-{digest}-{_made[digest]}")
