"""Ordering and spacing the layers of a graph: few crossings, straight lines, no overlap, and no chance involved."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

BOX_GAP = 20.0
SWEEPS = 8


@dataclass(eq=False)
class Place:
    """A box, or a point at which a long line passes through a layer (`tensor` is then what the line carries)."""

    tensor: int
    width: float
    height: float
    layer: int = 0
    above: "list[Place]" = field(default_factory=list)
    below: "list[Place]" = field(default_factory=list)
    centre: float = 0.0
    order: float = 0.0
    link: int = -1
    frame: bool = False  # the box of a group

    @property
    def weight(self) -> float:
        """How firmly the place stands: a long line should run straight, so boxes give way to it, not it to them.

        What is given to one entry alone stands beside whatever else that entry uses.
        """
        return 8.0 if not self.height else 1.0 if self.above or len(self.below) > 1 else 0.1


def settle_layers(layers: list[list[Place]], known: dict[Any, list[list[tuple[int, int, float]]]]) -> None:
    """Order and space layers; those that differ from others in nothing but what they carry are copied from `known`.

    The turns of a loop are all alike, and a long loop has hundreds.
    """
    numbers = {place: (row, column) for row, layer in enumerate(layers) for column, place in enumerate(layer)}
    key = tuple(
        (place.width, place.height, row, *(numbers[other] for other in (*place.above, *place.below)), len(place.above))
        for place, (row, _) in numbers.items()
    )
    if key not in known:
        order_layers(layers)
        space_layers(layers)
        known[key] = [[(*numbers[place], place.centre) for place in layer] for layer in layers]
        return
    before = [[*layer] for layer in layers]
    for layer, settled in zip(layers, known[key], strict=True):
        layer[:] = [before[row][column] for row, column, _ in settled]
        for place, (_, _, centre) in zip(layer, settled, strict=True):
            place.centre = centre


def order_layers(layers: list[list[Place]]) -> None:
    """Sort each layer by where its neighbours stand, back and forth; a tie keeps the order there was."""
    for layer in layers:
        _number(layer)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            for place in layer:
                neighbours = place.above if downwards else place.below
                place.order = _mean((other.order for other in neighbours), place.order)
            layer.sort(key=lambda place: place.order)
            _number(layer)


def _number(layer: list[Place]) -> None:
    for position, place in enumerate(layer):
        # From -1/2 to 1/2, so that layers of different length compare.
        place.order = (position + 0.5) / len(layer) - 0.5


def space_layers(layers: list[list[Place]]) -> None:
    """Bring each place as near to the middle of its neighbours as the others in its layer allow."""
    for layer in layers:
        _separate(layer, [0.0] * len(layer))
    for sweep in range(2 * SWEEPS):
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            _separate(layer, [_wish(place, downwards) for place in layer])


def _wish(place: Place, downwards: bool) -> float:
    neighbours = place.above if downwards else place.below
    if not place.height:
        neighbours = [other for other in neighbours if not other.height] or neighbours
    total = sum(other.weight for other in neighbours)
    return sum(other.weight * other.centre for other in neighbours) / total if total else place.centre


def _separate(layer: list[Place], wishes: list[float]) -> None:
    """Place a layer as near to its wishes as possible (least squares) without overlap and without changing the order.

    Taking from each wish the room that everything to its left needs turns "no overlap" into "never decreasing", and
    pooling neighbours that are out of order into their mean is the exact solution of that.
    """
    offsets: list[float] = []
    for position, place in enumerate(layer):
        before = layer[position - 1] if position else place
        room = (before.width + place.width) / 2 + BOX_GAP if position else 0.0
        offsets.append(room + (offsets[-1] if position else 0.0))
    pools: list[tuple[float, float, int]] = []
    for place, wish, offset in zip(layer, wishes, offsets, strict=True):
        total, weight, count = place.weight * (wish - offset), place.weight, 1
        while pools and pools[-1][0] / pools[-1][1] > total / weight:
            before_total, before_weight, before_count = pools.pop()
            total, weight, count = total + before_total, weight + before_weight, count + before_count
        pools.append((total, weight, count))
    settled = [total / weight for total, weight, count in pools for _ in range(count)]
    for place, centre, offset in zip(layer, settled, offsets, strict=True):
        place.centre = centre + offset


def _mean(values: Iterable[float], otherwise: float) -> float:
    collected = list(values)
    return sum(collected) / len(collected) if collected else otherwise
