"""A graph with most of its groups folded, for pictures of a trace that is too long to show whole.

Only the groups around the current tensor are unfolded. js/folds.js does the same, but for those that a reader folds and
unfolds, which only the page knows; layout/layout.py says why a group can be cut out of a picture as a strip.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Any

Part = dict[str, Any]  # of a layout
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
    groups = [group | {"closed": covers[index] == index} for index, group in enumerate(groups)]
    # from top to bottom: where each begins, and where it ends
    strips = [(one["y"] + layout["folded"], one["y"] + one["height"]) for one in groups if one["closed"]]
    tops = [top for top, _ in strips]
    cuts = [0.0, *accumulate(bottom - top for top, bottom in strips)]

    def lift(y: float) -> float:
        above = bisect_left(tops, y)
        return round(max(y, strips[above - 1][1]) - cuts[above], 1) if above else y

    def is_hidden(group: int) -> bool:
        return group >= 0 and covers[group] >= 0

    def is_closed(group: int) -> bool:
        return group >= 0 and covers[group] == group

    seen = [one for one in layout["tensors"] if not is_hidden(one["group"])]
    lines = [link for link in layout["links"] if not is_hidden(link["group"]) and not is_closed(link.get("into", -1))]
    spans = [(box["x"], box["x"] + box["width"]) for box in seen] + [(link["points"][2],) * 2 for link in lines]
    for one in groups:
        begin, end, room = one["x"], one["x"] + one["width"], one["folded"]["width"]
        if is_hidden(one["parent"]):
            continue
        if one["closed"]:
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

    def shift_border(x: float, group: int) -> float:
        """Move a point of a group's border: a folded box is narrower than its frame, and lines keep their order."""
        if not is_closed(group):
            return shift(x)
        one = groups[group]
        part = (x - float(one["x"])) / float(one["width"])
        return round(shift(one["folded"]["x"]) + float(one["folded"]["width"]) * (0.1 + 0.8 * part), 1)

    def place_link(link: Part) -> Part:
        x, y, to_x, bend, to_y = link["points"]
        x, to_x = shift_border(x, link.get("out_of", -1)), shift_border(to_x, link.get("into", -1))
        return {"points": [x, lift(y), to_x, lift(bend), lift(to_y)]}

    def place_group(group: Part) -> Part:
        x, y, end = shift(group["x"]), lift(group["y"]), shift(group["x"] + group["width"])
        size = {"x": x, "width": end - x}
        if group["closed"]:
            size = {"x": shift(group["folded"]["x"]), "width": group["folded"]["width"]}
        return size | {"y": y, "height": lift(group["y"] + group["height"]) - y}

    def place(parts: list[Part], home: str, place_one: Callable[[Part], Part]) -> list[Part]:
        """Place what can be seen; nearly all of a long trace is hidden, and stays where it was."""
        return [
            one | ({"hidden": True} if is_hidden(one[home]) else place_one(one) | {"hidden": False}) for one in parts
        ]

    return layout | {
        "tensors": place(layout["tensors"], "group", lambda box: {"x": shift(box["x"]), "y": lift(box["y"])}),
        "links": place(layout["links"], "group", place_link),
        "groups": place(groups, "parent", place_group),
        "width": shift(columns[-1][1]) + EDGE,
        "height": lift(layout["height"]),
    }
