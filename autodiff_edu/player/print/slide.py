"""One step as a slide of 1280 by 720 pixels: the code on the left, the graph on the right, what is computed below.

No letter is smaller than 20 pixels, but those of a graph that is shown whole only if they are: down to 16. What is
still larger is cut, around the current tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...text.shared import shared
from ..layout.thumbnails import has_cells, measure, shape_text
from .canvas import ADVANCE, MONOSPACE, SANS, Drawn, Path, Shape, TextLine, Window, rounded_box
from .curve import Curve, draw_curve, read_curve
from .frames import EDGE, INK, PAPER, QUIET, RULE, SUNK, Frame
from .listing import size_of
from .moments import subject_of
from .plane import draw_legend, draw_plane, legend_rows
from .wrapping import shorten, width_of, wrap

WIDTH, HEIGHT = 1280.0, 720.0
MARGIN, GAP = 40.0, 28.0
LEFT, RIGHT = 584.0, 580.0  # the widths of the columns
CODE, SMALLEST, LARGEST = 26.0, 20.0, 30.0  # letters of the code: usually, at least, of a short program
PITCH = 1.5  # of the code, in sizes of its letters
WORDS, NUMBERS, CAPTIONS = 22.0, 26.0, 20.0
MOST_LINES, MOST_WORDS = 8, 4  # of code, of the sentence
CURVE = 132.0  # the height of a curve, with its heading
CLOSE, WHOLE, FAR = 2.3, 4 / 3, 5 / 3  # scales of the graph: at most, at least to show it whole, and cut
CLOSER = 1.4  # the scale of a thumbnail in what is computed
SIGNS = {about["name"]: about.get("drawn", sign) for sign, about in shared()["operators"].items()}


@dataclass(frozen=True)
class Layer:
    """Pieces that are drawn over each other, as many at each step; seen through a window, if there is one."""

    pieces: tuple[tuple[Shape, ...], ...]
    window: Window | None = None

    def shapes(self) -> list[Shape]:
        """Return everything that is drawn."""
        flat = [shape for piece in self.pieces for shape in piece]
        return flat if self.window is None else [_through(self.window, flat)]


def _through(window: Window, shapes: Any) -> Window:
    place = window.x, window.y, window.width, window.height, window.left, window.top, window.scale
    return Window(*place, shapes=shapes)


@dataclass(frozen=True)
class Term:
    """A part of what is computed: a value with its caption, or the sign between two values."""

    caption: str = ""
    text: str = ""
    sign: str = ""
    tint: str = PAPER
    ink: str = INK
    widest: str = ""  # of the texts that stand here in turn
    art: tuple[Drawn, ...] = ()
    size: tuple[float, float] = (0.0, 0.0)


class SlideLayout:
    """Where everything stands on the slides of a trace: on all of them at the same place.

    Parameters
    ----------
    content : dict
        The trace document as "trace", and its "layout".
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.document, layout = content["trace"], content["layout"]
        self.layout = self.document.get("contours", layout)
        if "compiling" in self.document:
            self.layout = size_of(self.document["compiling"])
        self.curve: Curve | None = read_curve(self.document) if "links" in self.layout else None
        self.room = WIDTH - 2 * MARGIN if "compiling" in self.document else RIGHT
        self.tall = HEIGHT - 2 * MARGIN - (CURVE + 20 if self.curve else 0)
        if "compiling" in self.document:
            self.tall = HEIGHT - 2 * MARGIN - 150
        fit = min(CLOSE, self.room / max(1.0, self.layout["width"]), self.tall / max(1.0, self.layout["height"]))
        # A plane stands for itself: it may be as large as there is room.
        self.scale = fit if fit >= WHOLE or "levels" in self.layout else max(FAR, fit)
        if "contours" in self.document:  # with room for the legend, wherever that has one row more
            rows = legend_rows(self.layout, RIGHT, SMALLEST)
            self.tall -= 1.6 * SMALLEST * rows + 8
            self.scale = min(self.scale, self.tall / self.layout["height"])
        self.corner: tuple[float, float] | None = None
        codes = self.document["code"]
        longest = max((len(line) for part in codes for line in part["lines"]), default=1)
        most = max((len(part["lines"]) for part in codes), default=1)
        self.letter = max(SMALLEST, min(LARGEST, (LEFT - 32) / (longest * ADVANCE)))
        self.lines = min(MOST_LINES, most)

    def frame(self, number: int, arrives: bool = True) -> Frame:
        """Return what is known at a step, before or after what moves in it `arrives`."""
        return Frame(self.document, self.layout, number, (self.room, self.tall, self.scale), arrives)

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

    def draw(self, number: int, arrives: bool = True, counted: str = "") -> list[Layer]:
        """Draw a step, before or after what moves in it `arrives`; `counted` is the sum while it is added up."""
        frame = self.frame(number, arrives)
        if counted and frame.subject is not None:
            flow = frame.now.flows[frame.subject]
            frame.now.flows[frame.subject] = flow | {"text": counted}
        steps = len(self.document["steps"])
        back: list[Shape] = [Path(f"M0 0H{WIDTH:g}V{HEIGHT:g}H0Z", fill=PAPER)]
        heading: list[Shape] = [
            TextLine(MARGIN, MARGIN + 20, frame.direction, WORDS, frame.colour, bold=True, family=SANS),
            TextLine(MARGIN + LEFT, MARGIN + 20, f"step {number + 1} of {steps}", CAPTIONS, QUIET, "end", family=SANS),
        ]
        room, most = (self.room if "compiling" in self.document else LEFT), MOST_WORDS + 4 * (not self.document["code"])
        sentence = wrap(frame.now.step["text"], room, WORDS, most)
        base = HEIGHT - MARGIN - 6 - (max(3, len(sentence)) - 1) * 30
        words: list[Shape] = [
            TextLine(MARGIN, base + 30 * line, text, WORDS, INK, family=SANS) for line, text in enumerate(sentence)
        ]
        if "compiling" in self.document:
            return [Layer((tuple(back), tuple(heading), tuple(words))), self.picture(frame, MARGIN, MARGIN + 52)]
        if not self.document["code"]:
            facts = _facts(self.document["title"], frame.now.step)
            layers = [Layer((tuple(back), tuple(heading), facts, tuple(words)))]
        else:
            top = MARGIN + 44
            height = self.lines * self.letter * PITCH + 24
            row = self.row(frame, arrives, counted, (top + height, base - WORDS))
            layers = [Layer((tuple(back), tuple(heading), *self.code(frame, top, height), row, tuple(words)))]
        layers.append(self.picture(frame, WIDTH - MARGIN - RIGHT, MARGIN))
        if "contours" in self.document:
            place = WIDTH - MARGIN - RIGHT, MARGIN + self.tall + 1.6 * SMALLEST, RIGHT
            layers.append(Layer((tuple(draw_legend(self.layout, *place, SMALLEST)),)))
        if self.curve:
            ground = WIDTH - MARGIN - RIGHT, HEIGHT - MARGIN - CURVE, RIGHT, CURVE
            layers.append(Layer((tuple(draw_curve(self.curve, number, ground, CAPTIONS, 3.0)),)))
        return layers

    # The graph, or the picture in its place

    def picture(self, frame: Frame, x: float, y: float) -> Layer:
        """Draw the graph, or the picture in its place, through its window."""
        self.corner = left, top = self.aim(frame)
        wide, tall = self.layout["width"] * self.scale, frame.layout["height"] * self.scale
        across, down = max(0.0, (self.room - wide) / 2), max(0.0, (self.tall - tall) / 2)
        # Where all fits, the window is as large as the picture, so that it stands in the middle.
        place = x + across, y + down, self.room - 2 * across, self.tall - 2 * down
        window = Window(*place, left, top, self.scale, ())
        if "links" in self.layout:
            drawn = frame.pieces(left, top)
        elif "contours" in self.document:
            drawn = [draw_plane(self.layout, frame.number, SMALLEST / self.scale)]
        else:
            drawn = [frame.graph(left, top)]
        edge: list[Drawn] = []
        if wide > self.room + 1 or tall > self.tall + 1:
            inset = 0.5 / self.scale
            box = left + inset, top + inset, place[2] / self.scale - 2 * inset, place[3] / self.scale - 2 * inset
            edge.append(Path(rounded_box(*box, 4), stroke=RULE, weight=0.6))
        return Layer((*map(tuple, drawn), tuple(edge)), window)

    def aim(self, frame: Frame) -> tuple[float, float]:
        """Find the top left corner of what is seen: the last one, as long as the current tensor and its inputs are."""
        wanted = frame.corner()
        entry = frame.now.step.get("entry")
        inputs = self.document["entries"][entry]["inputs"] if entry is not None else []
        boxes = (
            [frame.layout["tensors"][each] for each in (*inputs, frame.subject) if each is not None] if inputs else []
        )
        seen = self.room / self.scale, self.tall / self.scale
        beyond = max(0.0, self.layout["width"] - seen[0]), max(0.0, frame.layout["height"] - seen[1])
        corner = []
        for axis, (side, length) in enumerate((("x", "width"), ("y", "height"))):
            low = min((box[side] for box in boxes), default=0.0) - 8
            high = max((box[side] + box[length] for box in boxes), default=0.0) + 8
            at = wanted[axis]
            if boxes and high - low <= seen[axis]:
                at = min(max(self.corner[axis] if self.corner else at, high - seen[axis]), low)
            corner.append(round(min(max(0.0, at), beyond[axis]), 1))
        return corner[0], corner[1]

    def to_slide(self, layer: Layer, point: tuple[float, float]) -> tuple[float, float]:
        """Return where a point of the graph is on the slide."""
        window = layer.window
        assert window is not None
        return (
            window.x + (point[0] - window.left) * window.scale,
            window.y + (point[1] - window.top) * window.scale,
        )

    # The code

    def code(self, frame: Frame, top: float, height: float) -> tuple[tuple[Shape, ...], ...]:
        """Draw the code around the current line: its ground, the mark of the line, the lines."""
        where = frame.now.step.get("where")
        part = self.document["code"][where["code"] if where else 0]
        size, pitch = self.letter, self.letter * PITCH
        at = where["line"] - part["first_line"] if where else 0
        first = max(0, min(at - self.lines // 2, len(part["lines"]) - self.lines))
        letters = int((LEFT - 32) / (size * ADVANCE))
        mark: list[Shape] = []
        lines: list[Shape] = []
        for row, line in enumerate(part["lines"][first : first + self.lines]):
            base = top + 12 + row * pitch + pitch * 0.68
            shift = 0
            if where and first + row == at:
                mark.append(Path(rounded_box(MARGIN + 6, base - pitch * 0.68, LEFT - 12, pitch, 6), frame.tint))
                start, end = where["columns"] or (0, 0)
                if end > letters:  # the current expression is beyond the edge: the line moves left
                    shift = min(max(start - 4, 1), len(line) - letters)
                if end > start:
                    x, to = (MARGIN + 16 + max(0, min(letters, c - shift)) * size * ADVANCE for c in (start, end))
                    mark.append(Path(f"M{x:.1f} {base + 7:.1f}H{to:.1f}", stroke=frame.colour, weight=3))
            words = f"…{line[shift + 1 :]}" if shift else line
            words = shorten(words.rstrip(), LEFT - 32, size, MONOSPACE)
            indent = (len(words) - len(words.lstrip())) * size * ADVANCE  # spaces at the start of a text may be dropped
            if words:
                lines.append(TextLine(MARGIN + 16 + indent, base, words.lstrip(), size, INK))
        return (Path(rounded_box(MARGIN, top, LEFT, height, 10), SUNK),), tuple(mark), tuple(lines)

    # What is computed

    def row(self, frame: Frame, arrives: bool, counted: str, between: tuple[float, float]) -> tuple[Shape, ...]:
        """Draw what is computed at this step in the middle of the room that is left: 60 + -45 = 15."""
        heading, terms = self.terms(frame, arrives, counted)
        if not terms:
            return ()
        pad, gap = 14.0, 10.0
        most = 60
        while True:
            texts = [shorten(term.text, most * NUMBERS * ADVANCE, NUMBERS, MONOSPACE) for term in terms]
            widths = [
                width_of(term.sign, NUMBERS, MONOSPACE)
                if term.sign
                else max(
                    width_of(max(text, term.widest[:most], key=len), NUMBERS, MONOSPACE) + 2 * pad,
                    term.size[0] * CLOSER + 2 * pad,
                    64.0,
                    min(width_of(term.caption, CAPTIONS), 2.6 * most),
                )
                for term, text in zip(terms, texts, strict=True)
            ]
            total = sum(widths) + gap * (len(terms) - 1)
            if total <= LEFT - 32 or most <= 4:
                break
            most -= 1
        tall = max([56.0, *(term.size[1] * CLOSER + 16 for term in terms)])
        height = tall + 92
        top = between[0] + max(0.0, (between[1] - between[0] - height) / 2)
        shapes: list[Shape] = [
            Path(rounded_box(MARGIN, top, LEFT, height, 10), PAPER, RULE),
            TextLine(MARGIN + 16, top + 32, shorten(heading, LEFT - 32, CAPTIONS), CAPTIONS, QUIET, family=SANS),
        ]
        x, y = MARGIN + 16, top + 46
        for term, text, width in zip(terms, texts, widths, strict=True):
            middle = x + width / 2
            if term.sign:
                shapes.append(TextLine(middle, y + tall / 2 + 9, term.sign, NUMBERS, INK, "middle"))
            else:
                shapes.append(
                    Path(rounded_box(x, y, width, tall, 8), term.tint, term.ink if term.tint != PAPER else EDGE)
                )
                if term.art:
                    wide, high = (length * CLOSER for length in term.size)
                    place = x + (width - wide) / 2, y + (tall - high) / 2, wide + 1, high + 1
                    shapes.append(Window(*place, 0, 0, CLOSER, term.art))
                else:
                    bold = term.tint != PAPER
                    shapes.append(TextLine(middle, y + tall / 2 + 9, text, NUMBERS, term.ink, "middle", bold))
                caption = shorten(term.caption, width + gap, CAPTIONS)
                shapes.append(TextLine(middle, y + tall + 28, caption, CAPTIONS, QUIET, "middle", family=SANS))
            x += width + gap
        return tuple(shapes)

    def terms(self, frame: Frame, arrives: bool, counted: str) -> tuple[str, list[Term]]:
        """Return the heading of what is computed, and its terms."""
        step, names = frame.now.step, [tensor["name"] for tensor in self.document["tensors"]]
        result = {"tint": frame.tint, "ink": frame.colour}

        def term(caption: str, array: dict[str, Any] | None, tensor: int, part: str, **more: Any) -> Term:
            if array is None:
                return Term(caption, "—", **more)
            if art := self.art(frame, array, tensor, part):
                size = measure(array)
                more = {name: value for name, value in more.items() if name != "widest"}
                return Term(f"{caption} {shape_text(array['shape'])}", art=art, size=size, **more)
            return Term(caption, array["text"], **more)

        match step["kind"]:
            case "record" | "cut" | "skip" | "push forward" if "entry" in step:
                entry = self.document["entries"][step["entry"]]
                output, values = entry["output"], frame.now.values
                inputs = entry["inputs"][:2]
                pushes = step["kind"] == "push forward"
                if pushes:
                    return f"tangent of {names[output]} = {entry['text']}", [
                        term("tangent", step["tangent"] if arrives else None, output, "cotangent", **result)
                    ]
                given = [term(names[tensor], values.get(tensor), tensor, "value") for tensor in inputs]
                sign = SIGNS.get(entry["operation"])
                if sign and len(given) == 2:
                    left = [given[0], Term(sign=sign), given[1]]
                else:
                    more = [Term(sign=",…")] if len(entry["inputs"]) > 2 else []
                    comma = [each for one in given for each in (Term(sign=","), one)][1:]
                    left = [Term(sign=f"{entry['operation'].split('.')[-1][:10]}("), *comma, *more, Term(sign=")")]
                widest = self.document["tensors"][output]["value"]["text"]
                out = term(
                    names[output], values.get(output) if arrives else None, output, "value", widest=widest, **result
                )
                return f"{names[output]} = {entry['text']}", [*left, Term(sign="="), out]
            case "accumulate":
                tensor = step["tensor"]
                name = names[tensor]
                of = f", contribution {step['count']} of {step['of']}" if step["of"] > 1 else ""
                sent = term("contribution", step["contribution"], tensor, "cotangent", **result)
                after = step["after"] if arrives else None
                if counted and after:
                    after = after | {"text": counted}
                widest = max((each["text"] for each in (step["before"], step["after"]) if each), key=len)
                total = term("after", after, tensor, "cotangent", widest=widest, **result)
                before = term("before", step["before"], tensor, "cotangent")
                return f"cotangent of {name}{of}", [before, Term(sign="+"), sent, Term(sign="="), total]
            case "seed" | "pull back":
                tensor = subject_of(self.document, step)
                if tensor is not None:
                    about = "starts with" if step["kind"] == "seed" else "is"
                    return f"the cotangent of {names[tensor]} {about}", [
                        term("cotangent", step["cotangent"], tensor, "cotangent", **result)
                    ]
            case "watch" | "assign":
                tensor = step["tensor"]
                value = step.get("value") or self.document["tensors"][tensor]["value"]
                return f"the value of {names[tensor]}", [term(names[tensor], value, tensor, "value", **result)]
            case "outcome":
                tensor = step["tensor"]
                target = names[step["targets"][0]] if step.get("targets") else ""
                heading = f"d{target}/d{names[tensor]}" if target else names[tensor]
                return heading, [term(step["word"].replace("_", " "), step["gradient"], tensor, "cotangent", **result)]
        return "", []

    def art(self, frame: Frame, array: dict[str, Any], tensor: int, part: str) -> tuple[Drawn, ...]:
        """Draw an array whose text is too long, where the graph draws it too."""
        box = frame.layout["tensors"][tensor]
        if len(array["text"]) <= 12 or "art" not in box or not has_cells(array):
            return ()
        moved = box | {"x": 0.0, "y": 0.0, "art": box["art"] | {"x": 0.0}}
        return tuple(shape for shape in frame.art(array, moved, part, 0.0) if isinstance(shape, Path))


def _facts(title: str, step: dict[str, Any]) -> tuple[Shape, ...]:
    """Write what is known at a step that has no code: its title, and its numbers row by row."""
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
