"""A graph with most of its groups folded: what a picture shows of a trace that is too long to be shown whole.

Only the groups around the current tensor are unfolded. js/folds.js does the same with those that a reader chooses, and
layout/layout.py says why a group can be cut out of a picture as a strip.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Any


def fold(layout: dict[str, Any], tensor: int | None) -> dict[str, Any]:
    """Return a layout as it is with its groups folded, but for those around a tensor.

    Parameters
    ----------
    layout
        What `layout` returns; where its groups are `open` at first, it stays as it is.
    tensor
        The current one, if there is one.

    Returns
    -------
    dict
        The same, moved up. Tensors, links and groups that cannot be seen are `hidden`; a group that is folded is
        `closed`, and has the size of its box.
    """
    groups = layout["groups"]
    if layout["open"] or not groups:
        return layout
    unfolded = set()
    group = layout["tensors"][tensor]["group"] if tensor is not None else -1
    while group >= 0:
        unfolded.add(group)
        group = groups[group]["parent"]
    covers: list[int] = []  # by group: the folded one that it is in, or that it is; -1 where there is none
    for index, one in enumerate(groups):
        outer = covers[one["parent"]] if one["parent"] >= 0 else -1
        covers.append(outer if outer >= 0 or index in unfolded else index)
    strips = [  # from top to bottom: where each begins, and where it ends
        (one["y"] + layout["folded"], one["y"] + one["height"])
        for index, one in enumerate(groups)
        if covers[index] == index
    ]
    tops = [top for top, _ in strips]
    cuts = [0.0, *accumulate(bottom - top for top, bottom in strips)]

    def up(y: float) -> float:
        above = bisect_left(tops, y)
        return round(max(y, strips[above - 1][1]) - cuts[above], 1) if above else y

    def is_hidden(group: int) -> bool:
        return group >= 0 and covers[group] >= 0

    # Nearly all of a long trace is hidden, and stays where it was.
    tensors = [
        box | ({"hidden": True} if is_hidden(box["group"]) else {"hidden": False, "y": up(box["y"])})
        for box in layout["tensors"]
    ]
    links = []
    for link in layout["links"]:
        if is_hidden(link["group"]):
            links.append(link | {"hidden": True})
            continue
        x, y, to_x, bend, to_y = link["points"]
        links.append(link | {"hidden": False, "points": [x, up(y), to_x, up(bend), up(to_y)]})
    shown = []
    for index, one in enumerate(groups):
        y, closed = up(one["y"]), covers[index] == index
        size = one["folded"] if closed else {"x": one["x"], "width": one["width"]}
        height = up(one["y"] + one["height"]) - y
        shown.append(one | size | {"y": y, "height": height, "closed": closed, "hidden": is_hidden(one["parent"])})
    return layout | {
        "tensors": tensors, "links": links, "groups": shown, "height": up(layout["height"]),
    }  # fmt: skip
