"""A graph with most of its groups folded, for pictures of a trace that is too long to show whole.

Only the groups around the current tensor are unfolded. js/folds.js does the same with those that a reader chooses, and
layout/layout.py says why a group can be cut out of a picture as a strip.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Any

GAP, EDGE = 20.0, 12.0  # horizontal space: between the parts that remain, and at the edges


def fold(layout: dict[str, Any], tensor: int | None) -> dict[str, Any]:
    """Return a layout with its groups folded, except those around a tensor.

    Parameters
    ----------
    layout
        What `layout` returns; where its groups are `open` at first, it stays as it is.
    tensor
        The current one, if there is one.

    Returns
    -------
    dict
        The same layout, moved up, and without empty columns. Tensors, links and groups that cannot be
        seen are `hidden`; a group that is folded is `closed`, and has the size of its box.
    """
    groups = layout["groups"]
    if layout["open"] or not groups:
        return layout
    unfolded = set()
    group = layout["tensors"][tensor]["group"] if tensor is not None else -1
    while group >= 0:
        unfolded.add(group)
        group = groups[group]["parent"]
    covers: list[int] = []  # by group: the folded one that it is in, or is itself; -1 if there is none
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

    def lift(y: float) -> float:
        above = bisect_left(tops, y)
        return round(max(y, strips[above - 1][1]) - cuts[above], 1) if above else y

    def is_hidden(group: int) -> bool:
        return group >= 0 and covers[group] >= 0

    def is_closed(group: int | None) -> bool:
        return group is not None and group >= 0 and covers[group] == group

    seen = [one for one in layout["tensors"] if not is_hidden(one["group"])]
    lines = [link for link in layout["links"] if not is_hidden(link["group"]) and not is_closed(link.get("into"))]
    spans = [(box["x"], box["x"] + box["width"]) for box in seen] + [(link["points"][2],) * 2 for link in lines]
    for index, one in enumerate(groups):
        begin, end, room = one["x"], one["x"] + one["width"], one["folded"]["width"]
        if is_hidden(one["parent"]):
            continue
        if covers[index] == index:
            spans.append((one["folded"]["x"], one["folded"]["x"] + room))
        else:  # of a frame, its sides and its name
            spans += [(begin, begin), (end, end), (begin, begin + room) if one["side"] == "left" else (end - room, end)]
    columns: list[tuple[float, float, float]] = []  # parts that are not empty: where each began, ended, and begins now
    for begin, end in sorted(spans):
        if columns and begin <= columns[-1][1] + GAP:
            columns[-1] = columns[-1][0], max(columns[-1][1], end), columns[-1][2]
        else:
            at = columns[-1][2] + columns[-1][1] - columns[-1][0] + GAP if columns else EDGE
            columns.append((begin, end, at))
    begins = [begin for begin, _, _ in columns]

    def shift(x: float) -> float:
        begin, end, at = columns[max(0, bisect_right(begins, x) - 1)]
        return round(at + min(x, end) - begin, 1)

    def shift_border(x: float, group: int | None) -> float:
        """Move a point of a group's border: a folded box is narrower than its frame, and lines keep their order."""
        if group is None or not is_closed(group):
            return shift(x)
        one = groups[group]
        part = (x - float(one["x"])) / float(one["width"])
        return round(shift(one["folded"]["x"]) + float(one["folded"]["width"]) * (0.1 + 0.8 * part), 1)

    # Nearly all of a long trace is hidden, and stays where it was.
    tensors = [
        box
        | (
            {"hidden": True}
            if is_hidden(box["group"])
            else {"hidden": False, "x": shift(box["x"]), "y": lift(box["y"])}
        )
        for box in layout["tensors"]
    ]
    links = []
    for link in layout["links"]:
        if is_hidden(link["group"]):
            links.append(link | {"hidden": True})
            continue
        x, y, to_x, bend, to_y = link["points"]
        points = [
            shift_border(x, link.get("out_of")),
            lift(y),
            shift_border(to_x, link.get("into")),
            lift(bend),
            lift(to_y),
        ]
        links.append(link | {"hidden": False, "points": points})
    shown = []
    for index, one in enumerate(groups):
        hidden, closed = is_hidden(one["parent"]), covers[index] == index
        if hidden:
            shown.append(one | {"hidden": True, "closed": closed})
            continue
        x, y, end = shift(one["x"]), lift(one["y"]), shift(one["x"] + one["width"])
        size = (
            {"x": shift(one["folded"]["x"]), "width": one["folded"]["width"]} if closed else {"x": x, "width": end - x}
        )
        height = lift(one["y"] + one["height"]) - y
        shown.append(one | size | {"y": y, "height": height, "closed": closed, "hidden": False})
    size = {"width": shift(columns[-1][1]) + EDGE, "height": lift(layout["height"])}
    return layout | {"tensors": tensors, "links": links, "groups": shown} | size
