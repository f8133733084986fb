"""The graph as pictures within pictures: the whole is one level, and the inside of each group is another.

On a level, a group is one wide box that has a layer to itself, so that folding it takes a strip out of the picture and
nothing beside it has to move. A line into or out of a group passes its border at a port, a point of the level inside;
so a line that crosses borders is one line on each level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

from .groups import in_order
from .layers import BOX_GAP, Vertex, settle_layers

LAYER_GAP = 24.0
PADDING = 10.0
LABEL = 20.0
"""The height of a group's label."""
WIDEST_ROW = 300.0
"""Given values that are wider than this together are drawn in several rows, so that the graph fits beside the code."""


@dataclass(eq=False)
class Edge:
    """A line on one level; `start` and `end` are the ports within the boxes it joins, or those boxes themselves."""

    tensor: int
    source: Vertex
    start: Vertex
    target: Vertex
    end: Vertex
    use: tuple[int, ...] = ()  # the entry and the argument, where it arrives there
    feeder: Vertex = field(init=False)  # the last vertex it passes before the target

    def __post_init__(self) -> None:
        self.feeder = self.source


@dataclass(eq=False)
class Level:
    """The whole picture, or the inside of a group, which its `parent` shows as the box `frame`."""

    index: int
    parent: Level | None
    frame: Vertex
    items: list[Vertex] = field(default_factory=list)  # what is computed, in order: boxes of entries, frames of groups
    given: list[Vertex] = field(default_factory=list)
    ins: dict[int, Vertex] = field(default_factory=dict)
    outs: dict[int, Vertex] = field(default_factory=dict)
    lines: list[Edge] = field(default_factory=list)
    entering: list[Edge] = field(default_factory=list)  # the parent's lines that go in
    layers: list[list[Vertex]] = field(default_factory=list)
    tops: list[tuple[float, float]] = field(default_factory=list)
    starts: dict[int, Vertex] = field(default_factory=dict)  # where each tensor is available on this level
    left: float = 0.0
    top: float = 0.0
    narrowest: float = 0.0  # how wide the frame must be for its label

    def __post_init__(self) -> None:
        self.path: tuple[Level, ...] = (self,) if self.parent is None else (*self.parent.path, self)  # from the outside

    def towards(self, inner: Level) -> Level | None:
        """Return the level directly inside this one that contains another; None if that is not within this one."""
        below = inner.path[len(self.path) :]
        return below[0] if below and self in inner.path else None

    def place(self, known: dict[Any, Any]) -> None:
        """Put everything on this level into layers, ordered and spaced; its groups have been placed already.

        `known` is what `settle_layers` has settled so far.
        """
        self._assign_layers()
        self._connect()
        settle_layers(self.layers, known)
        self._move_given_inwards()
        left, right = self._sides()
        for place in (place for layer in self.layers for place in layer):
            place.centre -= (left + right) / 2
        self.narrowest = self.frame.width
        self.frame.width = max(self.frame.width, right - left + 2 * PADDING)
        y = PADDING if self.parent is None else 0.0 if self.ins else LAYER_GAP
        for number, layer in enumerate(self.layers):
            height = max(place.height for place in layer)
            self.tops.append((y, y + height))
            y += height + LAYER_GAP + (LABEL if number == 0 and all(self.find_crowded_sides()) else 0.0)
        self.frame.height = y - LAYER_GAP + (0.0 if self.outs else PADDING)

    def find_crowded_sides(self) -> list[bool]:
        """Return whether incoming lines leave no room for a label at the left, and for one at the right."""
        arriving = [place.centre for port in self.ins.values() for place in (port, *port.below)]
        half = self.frame.width / 2
        corners = self.frame.centre - half, self.frame.centre + half
        return [any(abs(centre - corner) < self.narrowest / 2 for centre in arriving) for corner in corners]

    def move_into_frame(self) -> None:
        """Move everything, which was placed around 0, to the frame's place in the parent."""
        middle, sign = self.frame.width / 2, 1.0
        if self.parent is not None:
            middle, sign = self.frame.centre, self._sign()
            self.left = self.frame.centre - self.frame.width / 2
            self.top = self.parent.tops[self.frame.layer][1] - self.frame.height
        for place in (place for layer in self.layers for place in layer):
            place.centre = middle + sign * place.centre
            place.aside *= sign
        self.tops = [(top + self.top, bottom + self.top) for top, bottom in self.tops]

    def _sign(self) -> float:
        """Decide whether to mirror the inside (-1.0), for fewer crossings of the incoming lines."""
        straight = 0
        for one, other in combinations(self.entering, 2):
            outside, inside = one.feeder.centre - other.feeder.centre, one.end.centre - other.end.centre
            straight += (outside * inside > 0) - (outside * inside < 0)
        return -1.0 if straight < 0 else 1.0

    def _sides(self) -> tuple[float, float]:
        sides = [place.sides for layer in self.layers for place in layer]
        return min((left for left, _ in sides), default=0.0), max((right for _, right in sides), default=0.0)

    def _move_given_inwards(self) -> None:
        """Move given values that stick out at a side towards the middle, as far as their lines stay straight.

        Often a graph is wide only because of the cotangent of one argument.
        """
        computed = [place.sides for layer in self.layers for place in layer if place not in self.given]
        left, right = min((side for side, _ in computed), default=0.0), max((side for _, side in computed), default=0.0)
        for place in self.given:
            layer, (least, most), (begin, end) = self.layers[place.layer], self._sides(), place.sides
            number, reach = layer.index(place), place.width / 2 - 2 * PADDING
            if end > right:
                room = begin - layer[number - 1].sides[1] - BOX_GAP if number else reach
                place.aside = -max(0.0, min(end - right, begin - least, reach, room))
            elif begin < left:
                room = layer[number + 1].sides[0] - end - BOX_GAP if number + 1 < len(layer) else reach
                place.aside = max(0.0, min(left - begin, most - end, reach, room))

    def _assign_layers(self) -> None:
        arriving: dict[Vertex, list[Edge]] = {}
        for line in self.lines:
            arriving.setdefault(line.target, []).append(line)
        taken, last = set(), 0
        for item in self.items:
            # In steps of two: what is given may need a layer in between, above a group's.
            item.layer = 2 + max((line.source.layer for line in arriving.get(item, ())), default=0)
            if item.frame:
                item.layer = max(item.layer, last + 2)
                taken.add(item.layer)
            while item.layer in taken and not item.frame:
                item.layer += 2
            last = max(last, item.layer)
        # A given value belongs just above its first use, or below what came before it, not at the top of a long graph.
        first_use: dict[Vertex, int] = {}
        for line in self.lines:
            first_use[line.source] = min(line.target.layer, first_use.get(line.source, line.target.layer))
        for place in self.given:
            before = (item.layer for item in self.items if item.tensor < place.tensor)
            above = first_use.get(place) or max(before, default=-2) + 4
            place.layer = above - 1 if above - 2 in taken else above - 2
        rows: dict[int, tuple[int, float]] = {}  # by layer: its last row, and the width of that
        for place in self.given:
            row, width = rows.get(place.layer, (0, -BOX_GAP))
            row, width = (
                (row + 1, -BOX_GAP) if width + BOX_GAP + place.width > WIDEST_ROW and width > 0 else (row, width)
            )
            place.row, rows[place.layer] = row, (row, width + BOX_GAP + place.width)
        for place in self.ins.values():
            place.layer = -2
        for place in self.outs.values():
            place.layer = last + 2

    def _connect(self) -> None:
        """Fill the layers, with a point in every layer that a line passes."""
        places = sorted([*self.items, *self.given, *self.ins.values(), *self.outs.values()], key=lambda p: p.tensor)
        keys = sorted({(place.layer, -place.row) for place in places})
        numbers = {key: number for number, key in enumerate(keys)}
        self.layers = [[] for _ in numbers]
        for place in places:
            place.layer = numbers[place.layer, -place.row]
            self.layers[place.layer].append(place)
        chains: dict[int, list[Vertex]] = {}
        for line in self.lines:
            chain = chains.setdefault(line.tensor, [line.source])
            self.starts[line.tensor] = line.start
            while chain[-1].layer < line.target.layer - 1:
                point = Vertex(line.tensor, width=4.0, height=0.0, layer=chain[-1].layer + 1)
                self.layers[point.layer].append(point)
                chain[-1].below.append(point)
                point.above.append(chain[-1])
                chain.append(point)
            line.feeder = chain[max(0, line.target.layer - 1 - chain[0].layer)]
            line.feeder.below.append(line.target)
            line.target.above.append(line.feeder)


def nest_levels(
    boxes: list[Vertex], entries: list[dict[str, Any]], groups: list[dict[str, Any]], homes: list[int]
) -> list[Level]:
    """Return the levels, the whole picture first then one for each group, with everything that belongs on each.

    A computed tensor belongs to the group of its entry. A given one belongs to the innermost group that has all its
    uses, but outside of it in three cases: if that is a call that it is passed to, if it is a loop and several turns
    use the tensor, and if its first turn starts from the tensor, and each later turn from a result of the one before.
    """
    levels = [Level(-1, None, Vertex(-1, 0.0, 0.0, frame=True))]
    for index, group in enumerate(groups):
        parent = levels[group["parent"] + 1]
        frame = Vertex(-1, group["label"], 0.0, frame=True)
        levels.append(Level(index, parent, frame))
    needed: dict[int, Level] = {}  # the innermost level that has all uses of a tensor
    users: dict[int, set[int]] = {}
    for entry, number in zip(entries, homes, strict=True):
        for tensor in entry["inputs"]:
            users.setdefault(tensor, set()).add(entry["output"])
            needed[tensor] = _around(needed.get(tensor, levels[number + 1]), levels[number + 1])
    computed = {entry["output"]: levels[number + 1] for entry, number in zip(entries, homes, strict=True)}
    starts = _starts(entries, groups, homes, levels)
    at: list[Level] = []
    for tensor, box in enumerate(boxes):
        at.append(computed.get(tensor) or needed.get(tensor) or levels[0])
        if tensor not in computed:
            shared = len(users.get(tensor, ())) > 1
            while shared and at[tensor].parent is not None and groups[at[tensor].index]["kind"] == "loop":
                at[tensor] = at[tensor].path[-2]
            for loop in reversed(at[tensor].path):
                if (loop, tensor) in starts:
                    at[tensor] = loop.path[-2]
            for call in reversed(at[tensor].path[1:]):
                if tensor in groups[call.index].get("given", ()):
                    at[tensor] = call.path[-2]
            at[tensor].given.append(box)

    supplies: dict[tuple[Level, int], tuple[Vertex, Vertex]] = {}

    def supply(level: Level, tensor: int) -> tuple[Vertex, Vertex]:
        """Find where a tensor's line starts on a level: the box there, and the port in it."""
        if (level, tensor) not in supplies:
            supplies[level, tensor] = find(level, at[tensor], tensor)
        return supplies[level, tensor]

    def find(level: Level, home: Level, tensor: int) -> tuple[Vertex, Vertex]:
        if level is home:
            return boxes[tensor], boxes[tensor]
        port = Vertex(tensor, width=4.0, height=0.0)
        if inner := level.towards(home):
            inner.lines.append(Edge(tensor, *supply(inner, tensor), port, port))
            inner.outs[tensor] = port
            return inner.frame, port
        outer = level.path[-2]
        line = Edge(tensor, *supply(outer, tensor), level.frame, port)
        outer.lines.append(line)
        level.entering.append(line)
        level.ins[tensor] = port
        return port, port

    for number in in_order(entries):
        entry, box = entries[number], boxes[entries[number]["output"]]
        level = levels[homes[number] + 1]
        level.items.append(box)
        for argument, tensor in enumerate(entry["inputs"]):
            level.lines.append(Edge(tensor, *supply(level, tensor), box, box, (number, argument)))
        for inner, outer in pairwise(reversed(level.path)):
            if inner.frame.tensor < 0:  # the first of its entries
                inner.frame.tensor = entry["output"]
                outer.items.append(inner.frame)
    return levels


def _starts(
    entries: list[dict[str, Any]], groups: list[dict[str, Any]], homes: list[int], levels: list[Level]
) -> set[tuple[Level, int]]:
    """Find what loops start from: where an argument of the first turn is given, and the same of the second computed."""
    members: dict[Level, list[dict[str, Any]]] = {}
    for number in in_order(entries):
        for level in levels[homes[number] + 1].path:
            members.setdefault(level, []).append(entries[number])
    computed = {entry["output"] for entry in entries}
    found = set()
    for level, group in zip(levels[1:], groups, strict=True):
        if group["kind"] == "loop":
            length, rest = divmod(len(members[level]), group["times"])
            second = members[level][length : 2 * length] if not rest else []
            for entry, other in zip(members[level], second, strict=False):
                both = zip(entry["inputs"], other["inputs"], strict=False)
                found |= {(level, one) for one, later in both if one not in computed and later in computed}
    return found


def _around(one: Level, other: Level) -> Level:
    """Find the innermost level that contains both."""
    return [level for level, same in zip(one.path, other.path, strict=False) if level is same][-1]
