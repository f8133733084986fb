"""Where everything goes in the player's picture of the graph.

The graph is drawn in layers from top to bottom, as the code and the tape are read: each tensor stands below all the
tensors it was computed from. Python computes the coordinates, so that the same trace gives the same picture in every
browser and the player needs no layout library.

A tensor that is used far below sends *one* line past the layers in between, from which every use branches off. Drawing
each use on its own would take as many parallel lines as a loop has turns.

Folding: the picture is laid out once, with every group unfolded. A group (groups.py) is a frame with a picture of its
own inside (levels.py), and no other box stands beside it: only lines pass there, straight down. So folding a group cuts
a strip out of the picture, from `FOLDED` below the top of its frame to the bottom, and closes the gap: everything
outside keeps its order from top to bottom, lines that pass get shorter, and lines that go in or out end at the box that
is left, which is as wide as its label. What is then empty from top to bottom is cut out too, so everything keeps its
order from left to right. Any groups can be folded, in any order, and the page needs no more than the sum of the strips
before a point to know how far it moves.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...text.formatting import LARGEST_WRITTEN, brief
from ...text.shared import shared
from .groups import find_groups, write_title
from .layers import Vertex
from .levels import Edge, Level, nest_levels
from .thumbnails import SIZE, end_text, find_limit, has_cells, measure, rows_of, shape_text

# Pixels. A character is this wide at the 12 px that css/graph.css has for the graph.
CHARACTER = 7.3
SMALL_CHARACTER = 6.7  # and this wide at 11 px
BOX: dict[str, float] = shared()["box"]
PADDING = BOX["padding"]
LINE = 17.0
ROW: float = shared()["thumbnail"]["row"]
WIDEST_ROWS = 32  # letters
TINY = 4  # numbers
PORT_GAP = 16.0
NARROWEST = 66.0
BOX_HEIGHT = BOX["height"]
FOLDED = 2 * LINE + 12
WIDEST_FOLDED = 260.0

# How much of a text is shown before the ellipsis (of a value: by js/boxes.js); the whole text is in the tooltip.
LONGEST_VALUE: int = shared()["longest_value"]
LONGEST_NAME = 14

MANY = 40
"""With more entries than this, the groups start folded."""


def layout(document: dict[str, Any]) -> dict[str, Any]:
    """Place the tensors of a trace document and the lines between them.

    Parameters
    ----------
    document
        The trace document, as ``json.loads(trace.to_json())`` gives it.

    Returns
    -------
    dict
        ``width`` and ``height`` of the picture; ``tensors``, a box ``{"x", "y", "width", "height", "group"}`` for each
        tensor (one of a single line is a constant that no cotangent reaches: ``plain``) with ``heading`` and
        ``operation``, and ``art`` where arrays are drawn as thumbnails, for their texts would be cut off: where these
        begin from the left (``x``), the ``top`` of the value's and the ``strip`` of the cotangent's, and the most room
        they take, their ``width`` and the heights of ``value`` and ``cotangent``, as texts the ``ends`` of their
        colours, and ``rows`` (true) where there are numbers in place of the thumbnails; ``limits``, these as numbers,
        the largest magnitudes among the values of the tensor and among its cotangents, if any of them is an array;
        ``links``, the lines, each with ``points`` (x and y where it starts, x and y where it is bent straight down, y
        where it ends), the ``parent`` link it goes on from (or -1), the first ``entry`` that uses it and the ``group``
        inside of which it is (or -1), and where it starts or ends at the border of a group, that group as ``out_of`` or
        ``into``; ``entries``, for each entry the link that arrives for each argument. A line from an input to an entry
        is that link and all its parents. ``groups`` are those of `groups.find_groups` with a ``title``, their frame,
        the ``side`` of its label, and ``folded``, the ``x`` and ``width`` of the box that is left of it, which is as
        high as the picture's ``folded``; ``open`` says whether they are unfolded at first.

    Examples
    --------
    >>> number = {"shape": [], "dtype": "float64", "text": "2", "data": 2.0}
    >>> tensors = [{"name": name, "kind": "computed", "value": number} for name in "xy"]
    >>> entry = {"operation": "sin", "text": "sin(x)", "inputs": [0], "output": 1}
    >>> picture = layout({"tensors": tensors, "entries": [entry], "steps": []})
    >>> [box["y"] for box in picture["tensors"]]
    [10.0, 92.0]
    >>> picture["entries"]
    [[0]]
    """
    entries = document["entries"]
    found, homes = find_groups(document)
    groups = [one | {"title": write_title(one)} for one in found]
    limits = _find_limits(document)
    arts = _find_art(document, limits)
    boxes = _measure(document, arts)
    levels = nest_levels(boxes, entries, [{**one, "label": _label_width(one)} for one in groups], homes)
    known: dict[Any, Any] = {}
    for level in reversed(levels):
        level.place(known)
    for level in levels:
        level.move_into_frame()
    links, arrivals = _draw_links(levels, entries)
    labels = _labels(document)
    places = {place: level for level in levels for place in (*level.items, *level.given)}
    return {
        "width": round(levels[0].frame.width, 1),
        "height": round(max(levels[0].frame.height, 0.0), 1),
        "folded": FOLDED,
        "open": len(entries) <= MANY,
        "tensors": [
            _rectangle(box, places[box])
            | label
            | ({"limits": limits[index]} if index in limits else {})
            | ({"art": arts[index]} if index in arts else {})
            for index, (box, label) in enumerate(zip(boxes, labels, strict=True))
        ],
        "links": links,
        "entries": arrivals,
        "groups": [one | _frame(level) for one, level in zip(groups, levels[1:], strict=True)],
    }


def _label_width(group: dict[str, Any]) -> float:
    """Measure the width in a group's box that the label of js/groups.js needs, which shortens long names."""
    whole = min(WIDEST_FOLDED, len(f"▸ {group['title']} · {group['count']} entries") * CHARACTER + 2 * PADDING + 8)
    # the frame of a rerun says why there is one, so it is wide enough for that when it is open
    return max(whole, len(f"▾ {group['title']}") * CHARACTER + 2 * PADDING + 8) if group["kind"] == "rerun" else whole


def _arrays(document: dict[str, Any]) -> list[tuple[list[Any], list[Any]]]:
    """List the values and the cotangents that the box of each tensor will show."""
    found: list[tuple[list[Any], list[Any]]] = [([tensor["value"]], []) for tensor in document["tensors"]]
    for step in document["steps"]:
        if "tensor" in step:
            values, cotangents = found[step["tensor"]]
            values += [step["value"]] if step.get("value") else []
            cotangents += [step[key] for key in ("cotangent", "after", "tangent") if step.get(key)]
    return found


def _find_limits(document: dict[str, Any]) -> dict[int, dict[str, float]]:
    """Find where the scales of each tensor that is an array end: on a scale of its own, each shows what is in it."""
    found: dict[int, dict[str, list[Any]]] = {}

    def extend(tensor: int, part: str, *arrays: dict[str, Any] | None) -> None:
        if tensor in found or any(array and array["shape"] for array in arrays):  # or a stack of a number's cotangents
            found.setdefault(tensor, {"value": [], "cotangent": []})[part] += arrays

    for index, tensor in enumerate(document["tensors"]):
        extend(index, "value", tensor["value"])
    for step in document["steps"]:
        if "tensor" in step:
            extend(step["tensor"], "value", step.get("value"))
            flowing = [step.get(key) for key in shared()["arrays"] if key != "unfolded"]  # which has another shape
            extend(step["tensor"], "cotangent", *flowing, *step.get("contributions", ()))
    return {
        tensor: {part: float(f"{find_limit(*arrays):.6g}") for part, arrays in parts.items()}
        for tensor, parts in found.items()
    }


def _find_art(document: dict[str, Any], limits: dict[int, dict[str, float]]) -> dict[int, dict[str, Any]]:
    """Find the tensors with an array whose text would be cut off, and measure their thumbnails.

    Arrays of one shape are all drawn, or all written.
    """
    found = {}
    shown_of = _arrays(document)
    arrays = [array for shown in shown_of for part in shown for array in part if has_cells(array)]
    results = _find_written(document)
    too_long = {tuple(array["shape"]) for array in arrays if not _fits(array)}
    for index, (tensor, shown) in enumerate(zip(document["tensors"], shown_of, strict=True)):
        drawn = [[array for array in arrays if has_cells(array)] for arrays in shown]
        if too_long.isdisjoint(tuple(array["shape"]) for array in (*drawn[0], *drawn[1])):
            continue
        written = index in results and all(_has_few(array) for part in drawn for array in part)
        size_of = _measure_rows if written else measure
        (wide, value), (broad, cotangent) = (
            [max(sizes) for sizes in zip((0.0, 0.0), *map(size_of, arrays), strict=True)] for arrays in drawn
        )
        top, x = BOX["value"] - 11, PADDING
        if tensor["kind"] == "constant" and not shown[1]:
            named = tensor["name"] != tensor["value"]["text"]
            top, x = 4.0, PADDING + named * (min(len(tensor["name"]), LONGEST_NAME) + 1) * CHARACTER
        art = {"x": x, "top": top, "strip": BOX["strip"] + max(0.0, value + 5 - LINE)}
        art |= {"width": max(wide, broad), "value": value, "cotangent": cotangent}
        ends = {part: end_text(tensor["value"], limit) for part, limit in limits[index].items()}
        found[index] = {**{key: round(number, 1) for key, number in art.items()}, "ends": ends}
        if written:
            found[index]["rows"] = True
    return found


def _find_written(document: dict[str, Any]) -> set[int]:
    """Find the tensors whose boxes have numbers, not colours: targets and sources of derivatives that are asked for.

    What is assigned, in a training say, stays in colours, which show how it changes. If nothing is
    assigned, arrays of up to four numbers are written too: they need the room of a thumbnail with its shape.
    """
    steps = document["steps"]
    asked = [step for step in steps if step["kind"] == "outcome" and has_cells(step["gradient"])]
    found = {tensor for step in asked for tensor in (step["tensor"], *step["targets"])}
    assigned = {step["tensor"] for step in steps if step["kind"] == "assign"}
    if not assigned:
        shapes = [tensor["value"]["shape"] for tensor in document["tensors"]]
        found |= {index for index, shape in enumerate(shapes) if prod(shape) <= TINY}
    return found - assigned


def _has_few(array: dict[str, Any]) -> bool:
    """Return whether an array has few numbers, and these fit in a box."""
    return prod(array["shape"]) <= LARGEST_WRITTEN and max(map(len, rows_of(array["text"]))) <= WIDEST_ROWS


def _measure_rows(array: dict[str, Any]) -> tuple[float, float]:
    """Measure an array that is written in rows; where a key frame has its thumbnail, that fits too."""
    rows, (width, height) = rows_of(array["text"]), measure(array)
    return max(width, max(map(len, rows)) * CHARACTER), max(height, len(rows) * ROW)


def _fits(array: dict[str, Any]) -> bool:
    """Return whether the text of an array fits in its box; a range says less than a picture."""
    text = graph_text(array)
    return len(text) <= LONGEST_VALUE and " from " not in text


def graph_text(array: dict[str, Any]) -> str:
    """Return the text of an array in the graph: numbers that stand side by side have three digits."""
    return brief(array["text"]) if array["shape"] else str(array["text"])


def _count_letters_beside(art: dict[str, Any], values: list[Any], cotangents: list[Any]) -> int:
    """Count the letters beside thumbnails: the shape, and the end of the colour scale, below it if there is room."""
    letters = 0
    for part, arrays in (("value", values), ("cotangent", cotangents)):
        shape = max((len(shape_text(array["shape"])) for array in arrays), default=0)
        end = len(art["ends"][part]) if arrays else 0
        letters = max(letters, max(shape, end) if art[part] >= SIZE["stacked"] else shape + 1 + end)
    return letters


def _measure(document: dict[str, Any], arts: dict[int, dict[str, Any]]) -> list[Vertex]:
    """Return a box for each tensor, large enough for everything it will show."""
    operations = {entry["output"]: entry["operation"] for entry in document["entries"]}
    headings, boxes = _list_headings(document), []
    for tensor, (description, (values, cotangents)) in enumerate(
        zip(document["tensors"], _arrays(document), strict=True)
    ):
        name, art = min(len(headings[tensor]), LONGEST_NAME), arts.get(tensor)
        texts = [len(graph_text(array)) for array in values] + [len(graph_text(array)) + 2 for array in cotangents]
        text = min(max(texts), LONGEST_VALUE + 2)
        plain = description["kind"] == "constant" and not cotangents
        if art:
            beside = 0 if "rows" in art else (_count_letters_beside(art, values, cotangents) + 1) * SMALL_CHARACTER
            reach = art["x"] + (0 if plain else BOX["arrow"]) + art["width"] + beside + PADDING
        if plain:
            # No cotangent ever reaches it: one line says it all, "c = 2", or "2" where the number is the name.
            characters = text if description["name"] == description["value"]["text"] else name + 3 + text
            width, height = characters * CHARACTER + 2 * PADDING, BOX["plain_height"]
            width, height = (reach, max(height, art["value"] + 8)) if art else (width, height)
            boxes.append(Vertex(tensor, width, height, plain=True))
        else:
            operation = min(len(operations.get(tensor, "")), LONGEST_NAME)
            characters = max(name + (operation and operation + 2), 0 if art else text)
            width = max(NARROWEST, characters * CHARACTER + 2 * PADDING, reach if art else 0)
            below = max(BOX_HEIGHT - BOX["strip"], art["cotangent"] + 6) if art else 0
            boxes.append(Vertex(tensor, width, art["strip"] + below if art else BOX_HEIGHT))
    return boxes


def _labels(document: dict[str, Any]) -> list[dict[str, str]]:
    """Return the name of each tensor and its operation, shortened to the room there is."""
    operations = {entry["output"]: entry["operation"] for entry in document["entries"]}
    return [
        {"heading": _shorten(heading), "operation": _shorten(operations.get(index, ""))}
        for index, heading in enumerate(_list_headings(document))
    ]


def _list_headings(document: dict[str, Any]) -> list[str]:
    """Return the name of each tensor, with the second names that lines use for it: "z, y" after `y = z`."""
    names = [{tensor["name"]: None} for tensor in document["tensors"]]
    for entry in document["entries"]:
        for tensor, alias in zip(entry.get("arguments", ()), entry.get("aliases", ()), strict=False):
            if alias is not None:
                names[tensor][alias] = None
    return [", ".join(known) for known in names]


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _frame(level: Level) -> dict[str, Any]:
    frame = level.frame
    # The label goes where the incoming lines leave room for it.
    room = level.narrowest / 2
    left, right = level.find_crowded_sides()
    return {
        "x": round(level.left, 1),
        "y": round(level.top, 1),
        "width": round(frame.width, 1),
        "height": round(frame.height, 1),
        "side": "right" if left and not right else "left",
        "folded": {"x": round(frame.centre - room, 1), "width": round(2 * room, 1)},
    }


def _rectangle(box: Vertex, level: Level) -> dict[str, Any]:
    return {
        "x": round(box.sides[0], 1),
        "y": round(_top(box, level), 1),
        "width": round(box.width, 1),
        "height": round(box.height, 1),
        "plain": box.plain,
        "group": level.index,
    }


def _top(place: Vertex, level: Level) -> float:
    # At the bottom of its layer, so that a small constant stands next to the entry that uses it.
    return level.tops[place.layer][1] - place.height


def _draw_links(levels: list[Level], entries: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    links: list[dict[str, Any]] = []
    starts: list[Vertex] = []
    arrivals = [[-1] * len(entry["inputs"]) for entry in entries]

    framed = {level.frame: level.index for level in levels}

    def link(
        level: Level, place: Vertex, tensor: int, x: float, y: float, onwards: float, target: Vertex | None = None
    ) -> int:
        start = level.starts[tensor] if place.frame else place  # out of a group a line comes by a port
        points = (start.centre, level.tops[place.layer][1], x, y, onwards)
        links.append({"points": [round(number, 1) for number in points], "group": level.index})
        if place.frame:
            links[-1]["out_of"] = framed[place]
        if target and target.frame:
            links[-1]["into"] = framed[target]
        starts.append(start)
        return len(links) - 1

    for level in levels:
        outs = set(level.outs.values())
        for place in (place for layer in level.layers for place in layer):
            if not place.height and place.above and place not in outs:  # a point that a line passes
                place.link = link(level, place.above[0], place.tensor, place.centre, *level.tops[place.layer])
        arriving: dict[Vertex, list[Edge]] = {}
        for line in level.lines:
            if line.use:
                arriving.setdefault(line.target, []).append(line)
            else:
                y = _top(line.target, level)
                line.end.link = link(level, line.feeder, line.tensor, line.end.centre, y, y, line.target)
        for box, row in arriving.items():
            # Lines arrive from left to right as they come, whatever the order of the arguments, so they do not cross.
            row.sort(key=lambda line: line.feeder.centre)
            gap = min(PORT_GAP, (box.width - 2 * PADDING) / len(row))
            for port, line in enumerate(row):
                x, y = box.centre + (port - (len(row) - 1) / 2) * gap, _top(box, level)
                entry, argument = line.use
                arrivals[entry][argument] = link(level, line.feeder, line.tensor, x, y, y)
    for one, start in zip(links, starts, strict=True):
        one["parent"] = start.link
    for index, numbers in enumerate(arrivals):
        for number in numbers:
            while number >= 0 and "entry" not in links[number]:
                links[number]["entry"] = index
                number = links[number]["parent"]
    return links, arrivals
