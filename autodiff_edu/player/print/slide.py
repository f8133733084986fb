"""One step as a slide of 1280 by 720 pixels: the code on the left, the graph on the right, what is computed below.

No letters are smaller than 20 pixels, except in a graph that fits only with smaller ones: down to 16. A graph that is
still too large is cut, around the current tensor, with all of it small in a corner and arrows where it goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .canvas import ADVANCE, MONOSPACE, SANS, Drawn, Path, Shape, TextLine, Window, rounded_box
from .computation import AROUND, CAPTIONS, draw_terms, list_terms, measure_lines, write_in_lines
from .curve import draw_curve, read_curve
from .frames import IDLE, INK, PAPER, QUIET, RULE, SUNK, StepPicture, find_picture, find_span
from .jacobian import draw_jacobian, draw_patches, measure_jacobian, measure_patches
from .plane import count_legend_rows, draw_legend
from .wrapping import shorten, wrap, wrap_code

WIDTH, HEIGHT = 1280.0, 720.0
MARGIN, GAP = 40.0, 28.0
LEFT, RIGHT = 584.0, 580.0  # the widths of the columns
CODE, SMALLEST, LARGEST = 26.0, 20.0, 30.0  # letters of the code: usually, at least, of a short program
PITCH = 1.5  # of the code, in sizes of its letters
WORDS = 22.0
MOST_LINES, MOST_WORDS = 8, 4  # of code, of the sentence
SUM = 168.0  # the height of what is computed, with room around it
CURVE = 132.0  # the height of a curve, with its heading
MAP = 130.0  # the longer side of a small picture of the whole graph
EDGE = 8.0  # of a picture of a graph, where it has nothing
CLOSE, WHOLE, FAR = 2.3, 4 / 3, 5 / 3  # scales of the graph: at most, at least to show it whole, and cut


@dataclass(frozen=True)
class Layer:
    """Pieces drawn on top of each other, as many at each step, and seen through a window if there is one."""

    pieces: tuple[tuple[Shape, ...], ...]
    window: Window | None = None

    def shapes(self) -> list[Shape]:
        """Return everything that is drawn."""
        flat: list[Any] = [shape for piece in self.pieces for shape in piece]
        return flat if self.window is None else [replace(self.window, shapes=flat)]


class SlideLayout:
    """The places of everything on the slides of a trace, the same on all of them.

    Parameters
    ----------
    content : dict
        The trace document as "trace", and its "layout".
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.document = content["trace"]
        self.layout = find_picture(self.document, content["layout"])
        self.curve = read_curve(self.document, self.layout)
        self.lists = "compiling" in self.document  # whether it shows a program and no graph
        self.room, around = RIGHT, CURVE + 20 if self.curve else 0.0
        if self.lists:
            self.room, around = WIDTH - 2 * MARGIN, 150.0
            self.layout["width"] = min(self.layout["width"], self.room / FAR)
        if "sweep" in self.document:
            around += measure_jacobian(self.document["sweep"]) + 20
        if "patches" in self.document:
            around += measure_patches(self.document["patches"]) + 20
        self.tall = HEIGHT - 2 * MARGIN - around
        fit = min(CLOSE, self.room / max(1.0, self.layout["width"]), self.tall / max(1.0, self.layout["height"]))
        # A plane may be as large as there is room.
        # A graph that is cut has its whole width if it can: it goes on below.
        across = self.room / max(1.0, self.layout["width"])
        far = min(FAR, across) if across >= WHOLE else FAR
        self.scale = fit if fit >= WHOLE or "levels" in self.layout else max(far, fit)
        if "contours" in self.document:  # with room for the legend, wherever that has one row more
            rows = count_legend_rows(self.layout, RIGHT, SMALLEST)
            self.tall -= 1.6 * SMALLEST * rows + 8
            self.scale = min(self.scale, self.tall / self.layout["height"])
        self.frames: dict[tuple[int, bool], StepPicture] = {}  # the latest one, which is often wanted again
        self.corner: tuple[float, float] | None = None
        codes = self.document["code"]
        longest = max((len(line) - _measure_indent(part) for part in codes for line in part["lines"]), default=1)
        heights = (len(write_in_lines(about["value"])) for about in self.document["tensors"] if about["value"])
        below = max(SUM, AROUND + measure_lines(max(heights, default=1), SMALLEST))
        tall = HEIGHT - 2 * MARGIN - 50 - (MOST_WORDS - 1) * 30 - WORDS - below - 24
        # a hair narrower than the room, so that the longest line is not wrapped
        self.letter = max(SMALLEST, min(LARGEST, (LEFT - 32.1) / (longest * ADVANCE)))
        self.rows = [_wrap_lines(part, int((LEFT - 32) / (self.letter * ADVANCE))) for part in codes]
        self.lines = min(MOST_LINES, max(map(len, self.rows), default=1))
        self.letter = max(SMALLEST, min(self.letter, tall / (self.lines * PITCH)))
        # What the code leaves, the sentence may use.
        spare = tall - self.lines * self.letter * PITCH if codes else 4 * 30
        self.words = MOST_WORDS + max(0, int(spare / 30))

    def frame(self, number: int, arrives: bool = True) -> StepPicture:
        """Return the picture of a step, before or after what moves in it `arrives`."""
        if (number, arrives) not in self.frames:
            picture = self.room, self.tall, self.scale
            self.frames = {(number, arrives): StepPicture(self.document, self.layout, number, picture, arrives)}
        return self.frames[number, arrives]

    def draw_nothing(self) -> list[Layer]:
        """Draw the slide of a trace without steps."""
        title = shorten(self.document["title"], WIDTH - 2 * MARGIN, 32)
        return [
            Layer(((
                Path(f"M0 0H{WIDTH:g}V{HEIGHT:g}H0Z", fill=PAPER),
                TextLine(MARGIN, MARGIN + 40, title, 32, INK, family=SANS),
                TextLine(MARGIN, MARGIN + 90, "Nothing happened on any tape.", WORDS, QUIET, family=SANS),
            ),))
        ]  # fmt: skip

    def draw(self, number: int, arrives: bool = True) -> list[Layer]:
        """Draw a step, before or after what moves in it `arrives`."""
        frame = self.frame(number, arrives)
        steps, wide = len(self.document["steps"]), self.room if self.lists else LEFT
        back: list[Shape] = [Path(f"M0 0H{WIDTH:g}V{HEIGHT:g}H0Z", fill=PAPER)]
        heading: list[Shape] = [
            TextLine(MARGIN, MARGIN + 20, frame.direction, WORDS, frame.heading_ink, bold=True, family=SANS),
            TextLine(MARGIN + wide, MARGIN + 20, f"step {number + 1} of {steps}", CAPTIONS, QUIET, "end", family=SANS),
        ]
        sentence = wrap(frame.now.step["text"], wide, WORDS, self.words)
        base = HEIGHT - MARGIN - 6 - (max(3, len(sentence)) - 1) * 30
        words: list[Shape] = [
            TextLine(MARGIN, base + 30 * line, text, WORDS, INK, family=SANS) for line, text in enumerate(sentence)
        ]
        if self.lists:
            name = shorten(self.document["title"], wide - 200, WORDS, bold=True)
            heading.append(TextLine(MARGIN, MARGIN + 20, name, WORDS, INK, bold=True, family=SANS))
            return [Layer((tuple(back), tuple(heading), tuple(words))), self.picture(frame, MARGIN, MARGIN + 52)]
        top, height = MARGIN + 44, self.lines * self.letter * PITCH + 24 if self.document["code"] else 120.0
        row = draw_terms(*list_terms(frame, arrives), (MARGIN, LEFT), (top + height, base - WORDS))
        if self.document["code"]:
            middle = [*self.code(frame, top, height), row]
        else:
            middle = [_draw_facts(self.document["title"], frame.now.step), row]
        layers = [Layer((tuple(back), tuple(heading), *middle, tuple(words)))]
        picture = self.picture(frame, WIDTH - MARGIN - RIGHT, MARGIN)
        layers += picture, self.overview(frame, picture, WIDTH - MARGIN - RIGHT)
        if "contours" in self.document:
            place = WIDTH - MARGIN - RIGHT, MARGIN + self.tall + 1.6 * SMALLEST, RIGHT
            layers.append(Layer((tuple(draw_legend(self.layout, *place, SMALLEST)),)))
        below = WIDTH - MARGIN - RIGHT, MARGIN + self.tall + 20, RIGHT
        if "sweep" in self.document:
            matrix = draw_jacobian(self.document["sweep"], number, below, frame.colour, frame.tint)
            layers.append(Layer((tuple(matrix),)))
        if "patches" in self.document:
            patches = draw_patches(self.document["patches"], number, below, frame.colour)
            layers.append(Layer((tuple(patches),)))
        if self.curve:
            ground = WIDTH - MARGIN - RIGHT, HEIGHT - MARGIN - CURVE, RIGHT, CURVE
            layers.append(Layer((tuple(draw_curve(self.curve, number, ground, CAPTIONS, 3.0)),)))
        return layers

    # The graph, or the picture in its place

    def picture(self, frame: StepPicture, x: float, y: float) -> Layer:
        """Draw the graph, or the picture in its place, through its window."""
        self.corner = left, top = self.aim(frame)
        wide, tall = frame.layout["width"] * self.scale, frame.layout["height"] * self.scale
        # If all of it fits, the window is as large as the picture and in the middle, except that of a listing.
        middle = 0.0 if self.lists else 0.5
        across, down = max(0.0, self.room - wide), max(0.0, self.tall - tall)
        place = x + middle * across, y + middle * down, self.room - across, self.tall - down
        window = Window(*place, left, top, self.scale, ())
        edge: list[Drawn] = []
        if wide > self.room + 1 or tall > self.tall + 1:
            inset = 0.5 / self.scale
            box = left + inset, top + inset, place[2] / self.scale - 2 * inset, place[3] / self.scale - 2 * inset
            edge.append(Path(rounded_box(*box, 4), stroke=RULE, weight=0.6))
        return Layer((*map(tuple, frame.pieces(left, top, SMALLEST / self.scale)), tuple(edge)), window)

    def overview(self, frame: StepPicture, picture: Layer, x: float) -> Layer:
        """Draw a small map of a graph that is cut, with the visible part marked.

        It stands beside the picture if there is room, else in a corner without a tensor.
        """
        layout, scale, window = frame.layout, self.scale, picture.window
        assert window is not None
        left, top = window.left, window.top
        wide, tall = window.width / scale, window.height / scale
        if "links" not in layout or (layout["width"] <= wide + 1 and layout["height"] <= tall + 1):
            return Layer(((), (), ()))
        beyond = {
            (-1, 0): left > EDGE,
            (1, 0): left + wide < layout["width"] - EDGE,
            (0, -1): top > EDGE,
            (0, 1): top + tall < layout["height"] - EDGE,
        }
        arrows = [self.arrow(x, *side) for side, more in beyond.items() if more]
        small = min(MAP / max(layout["width"], layout["height"]), 1.0)
        width, height = layout["width"] * small, layout["height"] * small
        shown = [box for box in (*layout["tensors"], *filter(_is_closed, layout["groups"])) if not box.get("hidden")]

        def is_free(at: tuple[float, float]) -> bool:
            (low, high), room = at, 16 / scale
            across, down = low + width / scale, high + height / scale
            return not any(
                box["x"] < across + room
                and low - room < box["x"] + box["width"]
                and box["y"] < down + room
                and high - room < box["y"] + box["height"]
                for box in shown
            )

        sides = [left + wide - (width + 12) / scale, left + 12 / scale]
        if window.x - x >= width + 20:
            sides.insert(0, left + wide + 16 / scale)
        ends = top + tall - (height + 12) / scale, top + 12 / scale
        corner = next((at for at in ((side, end) for end in ends for side in sides) if is_free(at)), None)
        if corner is None:
            return Layer((tuple(arrows), (), ()))
        a, b = window.x + (corner[0] - left) * scale, MARGIN + (corner[1] - top) * scale

        def cover(box: dict[str, Any]) -> str:
            low, high = a + box["x"] * small, b + box["y"] * small
            across, down = low + max(2, box["width"] * small), high + max(2, box["height"] * small)
            return f"M{low:.1f} {high:.1f}H{across:.1f}V{down:.1f}H{low:.1f}Z"

        seen = rounded_box(a + left * small, b + top * small, min(wide * small, width), min(tall * small, height), 2)
        whole = Path(rounded_box(a - 4, b - 4, width + 8, height + 8, 4), SUNK)
        now = [] if frame.subject is None else [Path(cover(layout["tensors"][frame.subject]), fill=frame.colour)]
        return Layer((
            (whole, Path("".join(map(cover, shown)), fill=IDLE), *arrows),
            tuple(now),
            (Path(seen, stroke=QUIET, weight=1.5),),
        ))  # fmt: skip

    def arrow(self, x: float, across: int, down: int) -> Path:
        """Draw an arrow beside the graph, in the middle of a side at which it goes on."""
        a, b = x + self.room * (1 + across) / 2 + 6 * across, MARGIN + self.tall * (1 + down) / 2 + 6 * down
        tip, wing = (a + 10 * across, b + 10 * down), (10 * down, 10 * across)
        corners = (tip, (a + wing[0], b + wing[1]), (a - wing[0], b - wing[1]))
        return Path("M" + "L".join(f"{p:.1f} {q:.1f}" for p, q in corners) + "Z", fill=QUIET)

    def aim(self, frame: StepPicture) -> tuple[float, float]:
        """Find the top left corner of the visible part: the last one, if all that is current is visible there."""
        wanted = frame.corner()
        seen = self.room / self.scale, self.tall / self.scale
        beyond = max(0.0, frame.layout["width"] - seen[0]), max(0.0, frame.layout["height"] - seen[1])
        boxes = [] if frame.subject is None else frame.gather(*seen)

        def find(axis: int, low: float, high: float) -> float:
            at = wanted[axis]
            if boxes and high - low <= seen[axis]:
                last = self.corner[axis] if self.corner else -1.0
                at = last if last <= low and high <= last + seen[axis] else min(max(at, high - seen[axis]), low)
            return float(round(min(max(0.0, at), beyond[axis]), 1))

        top = find(1, *find_span(boxes, "y", "height"))
        low, high = find_span(boxes, "x", "width")
        beside = [
            find_span([box], "x", "width")
            for box in (frame.layout["tensors"] if boxes else ())
            if not box.get("hidden") and top < box["y"] + box["height"] and box["y"] < top + seen[1]
        ]
        # Where there is room for more of what is beside them, it is not cut.
        for one, other in sorted(beside, key=lambda span: max(low - span[0], span[1] - high)):
            if max(high, other) - min(low, one) <= seen[0]:
                low, high = min(low, one), max(high, other)
        return find(0, low, high), top

    def to_slide(self, layer: Layer, point: tuple[float, float]) -> tuple[float, float]:
        """Return where a point of the graph is on the slide."""
        window = layer.window
        assert window is not None
        left, top = point[0] - window.left, point[1] - window.top
        return window.x + left * window.scale, window.y + top * window.scale

    # The code

    def code(self, frame: StepPicture, top: float, height: float) -> tuple[tuple[Shape, ...], ...]:
        """Draw the code around the current line: its background, the mark of the line, the lines."""
        where = frame.now.step.get("where")
        number = where["code"] if where else 0
        rows, part = self.rows[number], self.document["code"][number]
        size, pitch, common = self.letter, self.letter * PITCH, _measure_indent(part)
        at = where["line"] - part["first_line"] if where else 0
        start, end = where["columns"] or (common, common) if where else (0, 0)
        # The line in the middle or, if it doesn't fit between the two rows that count hidden lines, its expression.
        now = [row for row, (line, *_) in enumerate(rows) if line == at] or [0]
        middle = (now[0] + now[-1] + 1) // 2
        if len(now) > self.lines - 2:
            middle = max((row for row in now if rows[row][1] <= start), default=now[0])
        first = max(0, min(middle - self.lines // 2, len(rows) - self.lines))
        shown = range(first + (first > 0), min(len(rows), first + self.lines - (first + self.lines < len(rows))))
        mark, lines = list[Shape](), list[Shape]()
        if where:
            low, high = max(now[0], shown.start) - first, min(now[-1] + 1, shown.stop) - first
            mark.append(
                Path(rounded_box(MARGIN + 6, top + 12 + low * pitch, LEFT - 12, (high - low) * pitch, 6), frame.tint)
            )

        def base_of(row: int) -> float:
            return top + 12 + (row - first + 0.68) * pitch

        for row in shown:
            (line, begins, indent, words), base = rows[row], base_of(row)
            left = MARGIN + 16 + indent * size * ADVANCE  # spaces at the start of a text may be dropped
            from_, to = (left + max(0, min(len(words), c - begins)) * size * ADVANCE for c in (start, end))
            if where and line == at and to > from_:
                mark.append(Path(f"M{from_:.1f} {base + 7:.1f}H{to:.1f}", stroke=frame.colour, weight=3))
            is_cut = row == shown[-1] and line in {other for other, *_ in rows[row + 1 :]}
            if words:
                words += " …" * is_cut  # the line goes on below
                words = shorten(words, MARGIN + LEFT - 16 - left, size, MONOSPACE)  # if its letters are wide
                lines.append(TextLine(left, base, words, size, INK))
        above = {line for line, *_, words in rows[: shown.start] if words} - {line for line, *_ in rows[shown.start :]}
        below = {line for line, *_, words in rows[shown.stop :] if words} - {line for line, *_ in rows[: shown.stop]}
        for row, count in ((first, len(above)), (first + self.lines - 1, len(below))):
            if count or (row == first and row not in shown):  # else the line has begun above
                words = f"… {count} more line{'s' * (count > 1)}" if count else "…"
                lines.append(TextLine(MARGIN + 16, base_of(row), words, SMALLEST, QUIET, family=SANS))
        return (Path(rounded_box(MARGIN, top, LEFT, height, 10), SUNK),), tuple(mark), tuple(lines)


def _wrap_lines(part: dict[str, Any], letters: int) -> list[tuple[int, int, int, str]]:
    """Return the rows of an excerpt: the line of each, the column where it begins, its indentation and its text."""
    common, rows = _measure_indent(part), list[tuple[int, int, int, str]]()
    for number, line in enumerate(part["lines"]):
        begins = len(line) - len(line.lstrip())
        indent = min(max(0, begins - common), letters // 2)
        for at, deeper, words in wrap_code(line.strip(), letters - indent):
            if words or (rows and rows[-1][3]):  # empty lines in a row are one
                rows.append((number, begins + at, indent + deeper, words))
    return rows


def _measure_indent(part: dict[str, Any]) -> int:
    """Return by how many letters all lines of an excerpt are indented."""
    return min((len(line) - len(line.lstrip()) for line in part["lines"] if line.strip()), default=0)


def _is_closed(group: dict[str, Any]) -> bool:
    return bool(group.get("closed"))


def _draw_facts(title: str, step: dict[str, Any]) -> tuple[Shape, ...]:
    """Draw what is known at a step that has no code: its title, and its numbers row by row."""
    shapes: list[Shape] = []
    y = MARGIN + 76
    for line in wrap(title, LEFT, 32, 2):
        shapes.append(TextLine(MARGIN, y, line, 32, INK, bold=False, family=SANS))
        y += 44
    for name in ("point", "value", "gradient", "next", "next_value"):
        array = step.get(name)
        if isinstance(array, dict):
            shapes.append(TextLine(MARGIN, y + 20, name.replace("_", " "), CAPTIONS, QUIET, family=SANS))
            text = shorten(array["text"], LEFT - 150, CODE, MONOSPACE)
            shapes.append(TextLine(MARGIN + 150, y + 20, text, CODE, INK))
            y += 48
    return tuple(shapes)
