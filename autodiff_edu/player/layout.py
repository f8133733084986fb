"""Where everything goes in the player's picture of the graph.

The graph is drawn in layers from top to bottom, as the code and the tape are read: each tensor stands below all the
tensors it was computed from. Python computes the coordinates, so that the same trace gives the same picture in every
browser and the player needs no layout library.

A tensor that is used far below sends *one* line past the layers in between, from which every use branches off. Drawing
each use on its own would take as many parallel lines as a loop has turns.
"""

from typing import Any

from autodiff_edu.player.layers import Place, order, spread

# Pixels. A character is that wide at the 12 px in which player.css sets the graph.
CHARACTER = 7.3
PADDING = 10.0
LINE = 17.0
LAYER_GAP = 34.0
MARGIN = 12.0
PORT_GAP = 16.0
NARROWEST = 66.0
BOX_HEIGHT = 3 * LINE + 12

# How much of a text is shown before the ellipsis (of a value: by player.js); the whole text is in the tooltip.
LONGEST_VALUE = 20
LONGEST_NAME = 14


def layout(document: dict[str, Any]) -> dict[str, Any]:
    """Place the tensors of a trace document and the lines between them.

    Parameters
    ----------
    document
        The trace document, as ``json.loads(trace.to_json())`` gives it.

    Returns
    -------
    dict
        ``width`` and ``height`` of the picture; ``tensors``, a box ``{"x", "y", "width", "height"}`` for each tensor
        (one of a single line is a constant that no cotangent reaches: ``plain``) with ``heading`` and ``operation``;
        ``links``, the lines, each with ``start`` and ``end`` points, a ``curve`` (SVG path commands that lead from one
        to the other), the ``parent`` link it goes on from (or -1) and the first ``entry`` that uses it; ``entries``,
        for each entry the link that arrives for each argument. A line from an input to an entry is that link and all
        its parents.

    Examples
    --------
    >>> number = {"shape": [], "dtype": "float64", "text": "2", "data": 2.0}
    >>> tensors = [{"name": name, "kind": "computed", "value": number} for name in "xy"]
    >>> entry = {"operation": "sin", "text": "sin(x)", "inputs": [0], "output": 1}
    >>> picture = layout({"tensors": tensors, "entries": [entry], "steps": []})
    >>> [box["y"] for box in picture["tensors"]]
    [12.0, 109.0]
    >>> picture["entries"]
    [[0]]
    """
    boxes = _measure(document)
    entries = document["entries"]
    _assign_layers(boxes, entries)
    feeders, layers = _connect(boxes, entries)
    order(layers)
    spread(layers)
    tops, height = _stack_layers(layers)

    left = min((place.centre - place.width / 2 for layer in layers for place in layer), default=0.0) - MARGIN
    right = max((place.centre + place.width / 2 for layer in layers for place in layer), default=0.0) + MARGIN
    for place in (place for layer in layers for place in layer):
        place.centre -= left
    links, arrivals = _draw_links(boxes, entries, feeders, layers, tops)
    return {
        "width": round(right - left, 1),
        "height": round(height, 1),
        "tensors": [_rectangle(box, tops) | label for box, label in zip(boxes, _labels(document), strict=True)],
        "links": links,
        "entries": arrivals,
    }


def _measure(document: dict[str, Any]) -> list[Place]:
    """Return a box for each tensor, large enough for everything it will ever show."""
    operations = {entry["output"]: entry["operation"] for entry in document["entries"]}
    widest = [len(tensor["value"]["text"]) for tensor in document["tensors"]]
    reached = set()
    for step in document["steps"]:
        for key in ("value", "cotangent", "after"):
            if "tensor" in step and step.get(key):
                arrow = 0 if key == "value" else 2
                widest[step["tensor"]] = max(widest[step["tensor"]], len(step[key]["text"]) + arrow)
                if arrow:
                    reached.add(step["tensor"])
    boxes = []
    for tensor, description in enumerate(document["tensors"]):
        name = min(len(description["name"]), LONGEST_NAME)
        text = min(widest[tensor], LONGEST_VALUE + 2)
        if description["kind"] == "constant" and tensor not in reached:
            # No cotangent ever reaches it: one line says it all, "c = 2", or "2" where the number is the name.
            characters = text if description["name"] == description["value"]["text"] else name + 3 + text
            boxes.append(Place(tensor, characters * CHARACTER + 2 * PADDING, LINE + 6))
        else:
            operation = min(len(operations.get(tensor, "")), LONGEST_NAME)
            characters = max(name + (operation and operation + 2), text)
            boxes.append(Place(tensor, max(NARROWEST, characters * CHARACTER + 2 * PADDING), BOX_HEIGHT))
    return boxes


def _assign_layers(boxes: list[Place], entries: list[dict[str, Any]]) -> None:
    produced = set()
    for entry in entries:
        produced.add(entry["output"])
        boxes[entry["output"]].layer = 1 + max((boxes[tensor].layer for tensor in entry["inputs"]), default=0)
    # What is given rather than computed belongs just above its first use, not at the top of a long graph.
    first_use: dict[int, int] = {}
    for entry in entries:
        for tensor in entry["inputs"]:
            layer = boxes[entry["output"]].layer
            first_use[tensor] = min(layer, first_use.get(tensor, layer))
    for tensor, layer in first_use.items():
        if tensor not in produced:
            boxes[tensor].layer = layer - 1


def _connect(boxes: list[Place], entries: list[dict[str, Any]]) -> tuple[list[list[Place]], list[list[Place]]]:
    """Return the place each argument's line comes from, entry by entry, and all places layer by layer."""
    layers: list[list[Place]] = [[] for _ in range(1 + max((box.layer for box in boxes), default=0))]
    for box in boxes:
        layers[box.layer].append(box)
    chains = {box.tensor: [box] for box in boxes}
    feeders = []
    for entry in entries:
        output = boxes[entry["output"]]
        row = []
        for tensor in entry["inputs"]:
            chain = chains[tensor]
            while chain[-1].layer < output.layer - 1:
                point = Place(tensor, width=4.0, height=0.0, layer=chain[-1].layer + 1)
                layers[point.layer].append(point)
                chain[-1].below.append(point)
                point.above.append(chain[-1])
                chain.append(point)
            feeder = chain[max(0, output.layer - 1 - chain[0].layer)]
            feeder.below.append(output)
            output.above.append(feeder)
            row.append(feeder)
        feeders.append(row)
    return feeders, layers


def _stack_layers(layers: list[list[Place]]) -> tuple[list[tuple[float, float]], float]:
    """Return the top and bottom of each layer, and the height of the whole."""
    tops, y = [], MARGIN
    for layer in layers:
        height = max((place.height for place in layer), default=0.0)
        tops.append((y, y + height))
        y += height + LAYER_GAP
    return tops, y - LAYER_GAP + MARGIN


def _top(box: Place, tops: list[tuple[float, float]]) -> float:
    # At the bottom of its layer, so that a small constant stands next to the entry that uses it.
    return tops[box.layer][1] - box.height


def _labels(document: dict[str, Any]) -> list[dict[str, str]]:
    """Return the name of each tensor and its operation, as far as there is room for them."""
    operations = {entry["output"]: entry["operation"] for entry in document["entries"]}
    return [
        {"heading": _shorten(tensor["name"]), "operation": _shorten(operations.get(index, ""))}
        for index, tensor in enumerate(document["tensors"])
    ]


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def _rectangle(box: Place, tops: list[tuple[float, float]]) -> dict[str, float | bool]:
    return {
        "x": round(box.centre - box.width / 2, 1),
        "y": round(_top(box, tops), 1),
        "width": round(box.width, 1),
        "height": round(box.height, 1),
        "plain": box.height < BOX_HEIGHT,
    }


def _draw_links(
    boxes: list[Place],
    entries: list[dict[str, Any]],
    feeders: list[list[Place]],
    layers: list[list[Place]],
    tops: list[tuple[float, float]],
) -> tuple[list[dict[str, Any]], list[list[int]]]:
    links: list[dict[str, Any]] = []

    def link(place: Place, x: float, y: float, onwards: float | None) -> int:
        start = [round(place.centre, 1), round(tops[place.layer][1], 1)]
        middle = round((start[1] + y) / 2, 1)
        curve = f"C{start[0]} {middle} {round(x, 1)} {middle} {round(x, 1)} {round(y, 1)}"
        if onwards is not None:
            curve += f"V{round(onwards, 1)}"
        end = [round(x, 1), round(y if onwards is None else onwards, 1)]
        links.append({"start": start, "end": end, "curve": curve, "parent": place.link})
        return len(links) - 1

    for layer in layers:
        for place in layer:
            if place.height == 0.0:
                place.link = link(place.above[0], place.centre, *tops[place.layer])
    arrivals = []
    for index, (entry, row) in enumerate(zip(entries, feeders, strict=True)):
        output = boxes[entry["output"]]
        # Lines arrive from left to right as they come, whatever the order of the arguments, so that they do not cross.
        ports = sorted(range(len(row)), key=lambda argument: (row[argument].centre, argument))
        gap = min(PORT_GAP, (output.width - 2 * PADDING) / max(1, len(row)))
        arriving = [0] * len(row)
        for port, argument in enumerate(ports):
            x = output.centre + (port - (len(row) - 1) / 2) * gap
            arriving[argument] = link(row[argument], x, _top(output, tops), None)
            number = arriving[argument]
            while number >= 0 and "entry" not in links[number]:
                links[number]["entry"] = index
                number = links[number]["parent"]
        arrivals.append(arriving)
    return links, arrivals
