"""Ordering and spacing the layers of a graph: few crossings, straight lines, no overlap, and no randomness."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

BOX_GAP = 20.0
SWEEPS = 8


@dataclass(eq=False)
class Vertex:
    """A box, or a point at which a long line passes through a layer (`tensor` is then what the line carries)."""

    tensor: int
    width: float
    height: float
    layer: int = 0
    row: int = 0  # in a layer that is too wide for one, counted from the lowest
    above: "list[Vertex]" = field(default_factory=list)
    below: "list[Vertex]" = field(default_factory=list)
    centre: float = 0.0  # where its line starts
    aside: float = 0.0  # how far the middle of the box is from there
    order: float = 0.0
    link: int = -1
    frame: bool = False  # the box of a group
    plain: bool = False  # a constant that no cotangent reaches

    @property
    def weight(self) -> float:
        """How firmly the vertex stays put: a long line should run straight, so boxes give way to it.

        What only one entry uses stands beside the other inputs of that entry.
        """
        return 8.0 if not self.height else 1.0 if self.above or len(self.below) > 1 else 0.1

    @property
    def sides(self) -> tuple[float, float]:
        """Where the box begins and ends."""
        middle = self.centre + self.aside
        return middle - self.width / 2, middle + self.width / 2


def settle_layers(layers: list[list[Vertex]], known: dict[Any, list[list[tuple[int, int, float]]]]) -> None:
    """Order and space layers; copy from `known` those that differ from others only in what they carry.

    The turns of a loop are all alike, and a long loop has hundreds.
    """
    numbers = {vertex: (row, column) for row, layer in enumerate(layers) for column, vertex in enumerate(layer)}
    key = tuple(
        (one.width, one.height, row, *(numbers[other] for other in (*one.above, *one.below)), len(one.above))
        for one, (row, _) in numbers.items()
    )
    if key not in known:
        order_layers(layers)
        space_layers(layers)
        known[key] = [[(*numbers[vertex], vertex.centre) for vertex in layer] for layer in layers]
        return
    before = [[*layer] for layer in layers]
    for layer, settled in zip(layers, known[key], strict=True):
        layer[:] = [before[row][column] for row, column, _ in settled]
        for vertex, (_, _, centre) in zip(layer, settled, strict=True):
            vertex.centre = centre


def order_layers(layers: list[list[Vertex]]) -> None:
    """Sort each layer by its neighbours' positions, back and forth; ties keep their order."""
    for layer in layers:
        _number(layer)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            for vertex in layer:
                neighbours = vertex.above if downwards else vertex.below
                vertex.order = _mean((other.order for other in neighbours), vertex.order)
            layer.sort(key=lambda vertex: vertex.order)
            _number(layer)


def _number(layer: list[Vertex]) -> None:
    for position, vertex in enumerate(layer):
        # From -1/2 to 1/2, so that layers of different length compare.
        vertex.order = (position + 0.5) / len(layer) - 0.5


def space_layers(layers: list[list[Vertex]]) -> None:
    """Move each vertex as near to the middle of its neighbours as the others in its layer allow."""
    rows = [_Row(layer) for layer in layers]
    for row in rows:
        row.separate([0.0] * len(row.layer))
    for sweep in range(2 * SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else reversed(rows):
            row.separate([pull.wish() for pull in (row.from_above if downwards else row.from_below)])


class _Pull:
    """The position that a vertex's neighbours on one side want for it."""

    def __init__(self, vertex: Vertex, neighbours: list[Vertex]) -> None:
        if not vertex.height:
            neighbours = [other for other in neighbours if not other.height] or neighbours
        self.vertex, self.pairs = vertex, [(other.weight, other) for other in neighbours]
        self.total = sum(weight for weight, _ in self.pairs)

    def wish(self) -> float:
        if not self.total:
            return self.vertex.centre
        return sum(weight * other.centre for weight, other in self.pairs) / self.total


class _Row:
    """A layer, with everything that stays the same while it is spaced, sweep after sweep."""

    def __init__(self, layer: list[Vertex]) -> None:
        self.layer, self.weights = layer, [vertex.weight for vertex in layer]
        self.from_above = [_Pull(vertex, vertex.above) for vertex in layer]
        self.from_below = [_Pull(vertex, vertex.below) for vertex in layer]
        self.offsets = [0.0] * len(layer)  # the space that everything to the left of a vertex needs
        for position in range(1, len(layer)):
            room = (layer[position - 1].width + layer[position].width) / 2 + BOX_GAP
            self.offsets[position] = room + self.offsets[position - 1]

    def separate(self, wishes: list[float]) -> None:
        """Place a layer as near to its wishes as possible (least squares), in its order and without overlap.

        Subtracting from each wish the space that everything to its left needs turns "no overlap" into "never
        decreasing", and pooling neighbours that are out of order into their mean is the exact solution of that.
        """
        pools: list[tuple[float, float, int]] = []
        for weight, wish, offset in zip(self.weights, wishes, self.offsets, strict=True):
            total, count = weight * (wish - offset), 1
            while pools and pools[-1][0] / pools[-1][1] > total / weight:
                before_total, before_weight, before_count = pools.pop()
                total, weight, count = total + before_total, weight + before_weight, count + before_count
            pools.append((total, weight, count))
        settled = [total / weight for total, weight, count in pools for _ in range(count)]
        for vertex, centre, offset in zip(self.layer, settled, self.offsets, strict=True):
            vertex.centre = centre + offset


def _mean(values: Iterable[float], otherwise: float) -> float:
    collected = list(values)
    return sum(collected) / len(collected) if collected else otherwise
