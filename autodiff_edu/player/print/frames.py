"""Key frames: some steps of a trace side by side, drawn without a browser for slides, print and previews.

Light colours on white, and direction both by arrow and dash and by colour, so that a black-and-white print can be
read too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from ...text.formatting import brief, find_nonfinite
from ...text.shared import colour, shared
from ..files import save
from ..layout.layout import ROW
from ..layout.thumbnails import SIZE, has_cells, rows_of, shape_text
from .canvas import ADVANCE, MONOSPACE, SANS, Drawn, Path, Shape, TextLine, Window, rounded_box, to_pdf, to_svg
from .curve import draw_curve, read_curve
from .digits import find_digits, round_array
from .folding import fold
from .listing import draw_listing, size_of
from .moments import Moment, choose_key_steps, read_moment, subject_of
from .plane import count_legend_rows, draw_legend, draw_plane
from .thumbnails import draw_thumbnail
from .wrapping import shorten, width_of, wrap

INK, QUIET, RULE, PAPER, SUNK, EDGE, IDLE = map(colour, ("ink", "quiet", "rule", "paper", "sunk", "edge", "idle"))
FORWARD, BACKWARD = ((colour(name), colour(f"{name}-tint")) for name in ("forward", "backward"))  # lines, and areas
RED = colour("odd")
UPDATE, STOPPED = (QUIET, SUNK), (RED, colour("backward-tint"))

# Pixels: the largest size of a frame, and the room within.
WIDEST, TALLEST, NARROWEST = 460.0, 420.0, 330.0
PADDING, GAP, LINE, COLUMNS = 12.0, 16.0, 17.0, 3
SMALLEST = 0.85  # a larger graph is not shrunk further, but cut around the current tensor
FULL_PAGE = 640.0, 640.0, 0.7  # the same limits for a single frame, if its graph then fits: it takes a whole page
CHARACTER = 12 * ADVANCE
CURVE = 64.0  # the height of a curve, with its heading
BOX: dict[str, float] = shared()["box"]
SIDES = ("x", "width"), ("y", "height")


class Frames:
    """Some steps of a trace, drawn side by side; the value of a notebook cell shows them.

    Parameters
    ----------
    content : dict
        The trace document as "trace", and its "layout".
    steps : sequence of int
        The steps, counted from 1.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.play(lambda x: x * x, 3.0).frames(2, 5)
    Frames('<lambda>(x)', steps 2 and 5)
    """

    def __init__(self, content: dict[str, Any], steps: Sequence[int]) -> None:
        self.steps = tuple(steps)
        self._title = content["trace"]["title"]
        self._drawing = _draw_strip(content["trace"], content["layout"], [number - 1 for number in steps])

    def __repr__(self) -> str:
        if not self.steps:
            return f"{type(self).__name__}({self._title!r}, no steps)"
        *others, last = map(str, self.steps)
        listed = f"steps {', '.join(others)} and {last}" if others else f"step {last}"
        return f"{type(self).__name__}({self._title!r}, {listed})"

    def svg(self) -> str:
        """Return the frames as SVG; the same trace gives the same bytes.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> ad.play(lambda x: x * x, 3.0).frames(2, 5).svg()[:4]
        '<svg'
        """
        return to_svg(*self._drawing, title=f"Key frames of {self._title}")

    def pdf(self) -> bytes:
        """Return the frames as a PDF of one page (drawn by matplotlib); the same trace gives the same bytes.

        Raises
        ------
        ImportError
            If matplotlib is missing.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> ad.play(lambda x: x * x, 3.0).frames(2, 5).pdf()[:4]
        b'%PDF'
        """
        return to_pdf(*self._drawing, title=self._title)

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the frames to a file.

        Parameters
        ----------
        path
            A name that ends in .svg or .pdf; a file of that name is replaced when the new one is complete.

        Raises
        ------
        ValueError
            If the name has another ending.
        ImportError
            For a PDF, if matplotlib is missing.
        OSError
            If the path is a directory, or in one that does not exist.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import autodiff_edu as ad
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "square.pdf"
        >>> ad.play(lambda x: x * x, 3.0).frames(2, 5).save(path)
        >>> path.read_bytes()[:4]
        b'%PDF'
        """
        save(path, {".svg": lambda: self.svg().encode(), ".pdf": self.pdf})


def draw_key_frame(content: dict[str, Any], predict: bool = False) -> tuple[str, str]:
    """Return the one picture that shows the most of a trace, as SVG, and its text alternative.

    For a drill it is the step before its question, and the first step for a reader who is to `predict` the others.
    """
    document = content["trace"]
    asked = content["ask"]["step"] - 1 if "ask" in content else 0
    covered = "ask" in content or (predict and bool(document["steps"]))
    steps = [asked] if covered else choose_key_steps(document, 1)
    about = "".join(f", step {at + 1}: {document['steps'][at]['text']}" for at in steps)
    if covered:
        content = content | {"layout": _cover(document, content["layout"], asked)}
    elif steps and "links" in (graph := find_picture(document, content["layout"])) and not _fits_alone(graph):
        home = _home_of(document, steps[0], read_moment(document, steps[0]))
        content = content | {"layout": _fold_to_fit(graph, home)}
    return Frames(content, [at + 1 for at in steps]).svg(), f"{_cut(document['title'], 200)}{_cut(about, 400)}"


def find_picture(document: dict[str, Any], layout: dict[str, Any]) -> dict[str, Any]:
    """Return where the graph is, or the picture in its place."""
    return size_of(document["compiling"]) if "compiling" in document else document.get("contours", layout)


def _fit(layout: dict[str, Any], widest: float, tallest: float) -> float:
    """Return the scale at which a graph fits into a frame, at most 1."""
    wide, high = max(1.0, layout["width"]), max(1.0, layout["height"])
    return min(1.0, (widest - 2 * PADDING) / float(wide), tallest / float(high))


def _fits_alone(layout: dict[str, Any]) -> bool:
    """Return whether a frame that has the page to itself can show a whole graph."""
    widest, tallest, smallest = FULL_PAGE
    return _fit(layout, widest, tallest) >= smallest


def _fold_to_fit(layout: dict[str, Any], home: int | None) -> dict[str, Any]:
    """Fold groups, but no more than it takes for the graph to fit; the current tensor stays visible."""
    ends = {box["group"]: tensor for tensor, box in enumerate(layout["tensors"])} if layout["open"] else {}
    folded = [fold(layout | {"open": False}, tensor) | {"open": True} for tensor in (home, *ends.values())]
    fitting = [one for one in folded if _fits_alone(one) and not (home is not None and one["tensors"][home]["hidden"])]
    return max(fitting, key=lambda one: sum(not box["hidden"] for box in one["tensors"]), default=folded[0])


def _draw_strip(
    document: dict[str, Any], layout: dict[str, Any], steps: Sequence[int]
) -> tuple[float, float, list[Shape]]:
    """Draw a title and the frames under it, row by row."""
    layout = find_picture(document, layout)
    roomy = len(steps) == 1 and _fits_alone(layout)
    widest, tallest, smallest = FULL_PAGE if roomy else (WIDEST, TALLEST, SMALLEST)
    scale = max(smallest, _fit(layout, widest, tallest))
    room = min(max(NARROWEST, layout["width"] * scale + 2 * PADDING), widest) - 2 * PADDING
    picture = (room, min(layout["height"] * scale, tallest), scale)
    frames = [StepPicture(document, layout, number, picture) for number in steps]
    words = max((len(frame.sentence) for frame in frames), default=0)
    head = max((frame.head for frame in frames), default=0.0)
    below = max((frame.extra for frame in frames), default=0.0)
    width, height = room + 2 * PADDING, head + 8 + picture[1] + below + words * LINE + PADDING
    columns = max(1, min(COLUMNS, len(frames)))
    top = GAP + 24
    whole = (GAP + columns * (width + GAP), top + -(-len(frames) // columns) * (height + GAP) + (0 if frames else 28))
    title = shorten(document["title"], whole[0] - 2 * GAP, 16, MONOSPACE)
    shapes: list[Shape] = [
        Path(f"M0 0H{whole[0]:g}V{whole[1]:g}H0Z", fill=PAPER),
        TextLine(GAP, GAP + 12, title, 16, INK, bold=True),
    ]
    if not frames:
        shapes.append(TextLine(GAP, top + 18, "Nothing happened on any tape.", 13, QUIET, family=SANS))
    for index, frame in enumerate(frames):
        row, column = divmod(index, columns)
        shapes += frame.draw(GAP + column * (width + GAP), top + row * (height + GAP), width, height)
    return *whole, shapes


class StepPicture:
    """One step; with `arrives` false, before what moves in it has arrived."""

    def __init__(
        self,
        document: dict[str, Any],
        layout: dict[str, Any],
        number: int,
        picture: tuple[float, float, float],
        arrives: bool = True,
    ) -> None:
        self.document, self.number, self.picture = document, number, picture
        self.now = read_moment(document, number)
        self.digits = find_digits(document, self.now)
        if not arrives and number:
            before = read_moment(document, number - 1)
            flows = before.flows if before.on_show == self.now.on_show else {}
            given = document["entries"][self.now.step["entry"]]["inputs"] if "entry" in self.now.step else ()
            known = {tensor: self.now.values[tensor] for tensor in given if tensor in self.now.values}  # and constants
            self.now = replace(self.now, values=before.values | known, flows=flows)
        self.subject = subject_of(document, self.now.step)
        self.home = _home_of(document, number, self.now)
        self.layout = fold(layout, self.home) if "links" in layout else layout
        passing = UPDATE if self.now.update else BACKWARD if self.now.backward else FORWARD
        self.colour, self.tint = STOPPED if self.stopped else passing
        self.heading_ink = BACKWARD[0] if "within" in self.now.step else self.colour
        self.flowing = FORWARD if self.now.pushes else BACKWARD
        words = {"cut": "cut", "skip": "skipped"}  # by tensor: no cotangent comes through these
        kinds = {document["entries"][entry]["output"]: kind for entry, kind in self.now.fates.items()}
        self.unusual = {tensor: words[kind] for tensor, kind in kinds.items() if kind in words}
        self.head = 36.0 if self.walks else 76.0  # the height of what stands above the picture
        self.curve = read_curve(document, layout)
        self.extra = CURVE + 10 if self.curve else 0.0  # the height of what stands between picture and sentence
        if "contours" in document:
            self.extra = 18.0 * count_legend_rows(layout, picture[0], 11) + 4
        room, tall, scale = picture
        is_larger = self.layout["width"] * scale > room + 1 or self.layout["height"] * scale > tall + 1
        self.is_cut = is_larger and "covered" not in self.layout
        self.extra += LINE * self.is_cut  # of the words that say so
        self.sentence = wrap(self.now.step["text"], picture[0], 13, 5)

    @property
    def walks(self) -> bool:
        """Whether this is a step without a line of code and without a pass."""
        return self.now.step["kind"] in ("iterate", "compile")

    @property
    def stopped(self) -> bool:
        """Whether an error ended the trace here."""
        return bool(self.now.step["kind"] == "error")

    @property
    def direction(self) -> str:
        """Which way it goes, in words."""
        forward = "→ forward pass, with tangents" if self.now.pushes else "→ forward pass"
        back = "← walking back" if self.now.step["kind"] == "explain" else "← backward pass"
        if self.walks or self.stopped:
            return "✗ stopped" if self.stopped else ""
        if self.now.update or self.now.over:
            return "✓ finished" if self.now.over else "↻ update"
        return back if self.now.backward or "within" in self.now.step else forward

    def draw(self, x: float, y: float, width: float, height: float) -> list[Shape]:
        """Place the parts of the frame: direction, code, graph, sentence."""
        left, right, (room, tall, scale) = x + PADDING, x + width - PADDING, self.picture
        count = f"step {self.number + 1} of {len(self.document['steps'])}"
        shapes: list[Shape] = [
            Path(rounded_box(x, y, width, height, 8), PAPER, RULE),
            TextLine(left, y + 22, self.direction, 13, self.heading_ink, bold=True, family=SANS),
            TextLine(right, y + 22, count, 12, QUIET, "end", family=SANS),
            *([] if self.walks else self.code(left, y + 32, room)),
        ]
        left_edge, top_edge = self.corner()
        # A graph narrower than its frame is centred; a larger one is visibly cut.
        inset = max(0.0, (room - self.layout["width"] * scale) / 2)
        seen = [shape for piece in self.pieces(left_edge, top_edge) for shape in piece]
        shapes.append(Window(left + inset, y + self.head, room - 2 * inset, tall, left_edge, top_edge, scale, seen))
        low = y + self.head + tall
        if self.is_cut:
            shapes.append(Path(rounded_box(left, low - tall, room, tall, 4), stroke=RULE))
            shapes.append(TextLine(right, low + 14, "the graph continues", 11, QUIET, "end", family=SANS))
        under = left, low + 10 + LINE * self.is_cut, room
        if self.curve:
            shapes += draw_curve(self.curve, self.number, (*under, CURVE))
        if "contours" in self.document:
            shapes += draw_legend(self.layout, left, under[1] + 8, room, 11)
        baseline = low + self.extra + LINE + 2
        return shapes + [
            TextLine(left, baseline + line * LINE, words, 13, INK, family=SANS)
            for line, words in enumerate(self.sentence)
        ]

    def code(self, x: float, y: float, width: float) -> list[Shape]:
        """Draw the current line of the user's code, with the expression underlined."""
        where = self.now.step.get("where")
        shapes: list[Shape] = [Path(rounded_box(x, y, width, 38, 4), self.tint if where else SUNK)]
        if where is None:
            return [*shapes, TextLine(x + 8, y + 23, "no line of its own", 11, QUIET, family=SANS)]
        part = self.document["code"][where["code"]]
        line = part["lines"][where["line"] - part["first_line"]]
        indent = len(line) - len(line.lstrip())
        letters = int((width - 16) / CHARACTER)
        start, end = where["columns"] or (indent, len(line.rstrip()))
        # If the line is longer than the frame, show the part with the current expression.
        first = indent if end - indent <= letters else max(indent, min(start - 4, len(line.rstrip()) - letters))
        words = ("…" + line[first + 1 :]) if first > indent else line[first:]
        from_, to = max(0, start - first), min(letters, end - first)
        place = shorten(f"{part['place']}, line {where['line']}", width - 16, 11)
        shapes.append(TextLine(x + 8, y + 14, place, 11, QUIET, family=SANS))
        shapes.append(TextLine(x + 8, y + 29, shorten(words.rstrip(), width - 16, 12, MONOSPACE), 12, INK))
        if where["columns"] and to > from_:
            under = f"M{x + 8 + from_ * CHARACTER:.1f} {y + 34:.1f}H{x + 8 + to * CHARACTER:.1f}"
            shapes.append(Path(under, stroke=self.colour, weight=2))
        return shapes

    def corner(self) -> tuple[float, float]:
        """Find the point of the graph at the top left of the frame, so that the current tensor is visible."""
        room, tall, scale = self.picture
        if self.home is None:
            return 0.0, 0.0
        box, found = self.layout["tensors"][self.home], []
        seen = room / scale, tall / scale
        boxes = self.gather(*seen)
        for (side, length), room in zip(SIDES, seen, strict=True):
            low, high = find_span(boxes, side, length)
            middle = box[side] + (box[length] - room) / 2
            at = min(max(middle, high - room), low)
            found.append(min(max(0.0, at), max(0.0, self.layout[length] - room)))
        return found[0], found[1]

    def gather(self, wide: float, tall: float) -> list[dict[str, Any]]:
        """Return the boxes to show together: the current one and as many of its entry's others as fit beside it.

        The other ends of active lines come first, then the nearest. If an active one does not fit, its middle may.
        """
        if self.home is None:
            return []
        tensors = self.layout["tensors"]
        now, entry = tensors[self.home], self.now.step.get("entry")
        boxes = [now]
        if self.subject is None or entry is None:
            return boxes
        about = self.document["entries"][entry]
        rows = self.layout["entries"][entry]
        lit = {about["output"], *(about["inputs"][rows.index(arrives)] for arrives in self.active())}
        others = dict.fromkeys((about["output"], *about["inputs"]))

        def rank(tensor: int) -> tuple[bool, float]:
            box = tensors[tensor]
            return tensor not in lit, abs(box["x"] - now["x"]) + abs(box["y"] - now["y"])

        for tensor in sorted(others, key=rank):
            box = tensors[tensor]
            if box.get("hidden"):
                continue
            middle = box | {"x": box["x"] + box["width"] / 2 - 24, "width": 48}  # where its line ends
            for part in (box, middle) if tensor in lit else (box,):
                wider = [*boxes, part]
                (left, right), (upper, lower) = (find_span(wider, *side) for side in SIDES)
                if right - left <= wide and lower - upper <= tall:
                    boxes = wider
                    break
        return boxes

    def pieces(self, left: float, top: float, size: float = 11.0) -> list[list[Drawn]]:
        """Draw the visible part of the graph in pieces, as many at each step, those on top last.

        They are the frames of groups, lines, active lines, the names of groups (or their boxes, if folded) and tensors.
        A picture in its place is one piece; letters of this size are in a plane.
        """
        if "compiling" in self.document:
            return [draw_listing(self.document["compiling"][self.number], self.layout)]
        if "contours" in self.document:
            return [draw_plane(self.document["contours"], self.number, size)]
        room, tall, scale = self.picture
        right, bottom = left + room / scale, top + tall / scale
        links: list[dict[str, Any]] = self.layout["links"]
        entry = self.now.step.get("entry")
        arriving = self.layout["entries"][entry] if entry is not None else []
        ends = {number for row in self.layout["entries"] for number in row}

        def is_visible(about: dict[str, Any], *corners: float) -> bool:
            if about.get("hidden"):
                return False
            (xs, ys) = corners[::2], corners[1::2]
            return max(xs) >= left and min(xs) <= right and max(ys) >= top and min(ys) <= bottom

        def box_is_visible(box: dict[str, Any]) -> bool:
            return is_visible(box, box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])

        groups = [group if box_is_visible(group) else None for group in self.layout["groups"]]
        pieces: list[list[Drawn]] = [[_draw_group_frame(group)] if group else [] for group in groups]
        for number, link in enumerate(links):
            x, y, to_x, bend, to_y = link["points"]
            if number in arriving or not is_visible(link, x, y, to_x, bend, to_x, to_y):
                pieces.append([])
                continue
            known = link.get("entry") in self.now.fates
            grey = IDLE if known else RULE
            line = Path(_start_of(link) + _curve_of(link), stroke=grey, weight=1.3, dash=() if known else (1, 4))
            pieces.append([line, _arrowhead((to_x, to_y), -7, grey)] if number in ends else [line])
        pieces.append([part for arrives in arriving for part in self.flow(arrives)])
        pieces += [_draw_group_name(group, left, right) if group else [] for group in groups]
        for tensor, box in enumerate(self.layout["tensors"]):
            shapes = self.box(tensor, box) if box_is_visible(box) else []
            # Half a number reads as another number, so a box that is cut at its side is faint and shows only its name.
            if shapes and (box["x"] + 1 < left or box["x"] + box["width"] > right + 1):
                frame = shapes[0]
                if isinstance(frame, Path) and tensor != self.subject:
                    frame = replace(frame, stroke=RULE)
                shapes = [frame, *_draw_name_in_sight(box, left, right)]
            pieces.append([shape for shape in shapes if _is_between(shape, top, bottom)])
        return pieces

    def trail(self, arrives: int) -> list[dict[str, Any]]:
        """Return the links from an input to an entry, except those inside folded groups."""
        links: list[dict[str, Any]] = self.layout["links"]
        trail: list[dict[str, Any]] = []
        while arrives >= 0:
            trail.insert(0, links[arrives])
            arrives = links[arrives]["parent"]
        return [link for link in trail if not link.get("hidden")]

    def active(self) -> list[int]:
        """Return the links along which something flows at this step, each the one that arrives at the entry."""
        step = self.now.step
        if "entry" not in step:
            return []
        entry = step["entry"]
        arguments = self.document["entries"][entry]["arguments"]
        places = [place for place, each in enumerate(arguments) if isinstance(each, int)]  # the others are texts
        return [
            arrives
            for place, arrives in zip(places, self.layout["entries"][entry], strict=True)
            if step.get("argument", place) == place
            and not (self.now.backward and self.layout["tensors"][arguments[place]]["plain"])
        ]

    def flow(self, arrives: int) -> list[Drawn]:
        """Draw the whole line from an input to the current entry; values flow down it, cotangents up."""
        trail, back = self.trail(arrives), self.now.backward
        if not trail:
            return []
        colour, weight = (self.colour, 2.6) if arrives in self.active() else (IDLE, 1.3)
        line = _start_of(trail[0]) + "".join(map(_curve_of, trail))
        tip = trail[0]["points"][:2] if back else trail[-1]["points"][2::2]
        head = _arrowhead(tip, 7 if back else -7, colour)
        return [Path(line, stroke=colour, weight=weight, dash=(6, 4) if back else ()), head]

    def box(self, tensor: int, box: dict[str, Any]) -> list[Drawn]:
        """Draw a tensor: its name, how it was computed, its value, its cotangent."""
        x, y, width, height = (box[key] for key in ("x", "y", "width", "height"))
        left, art = x + BOX["padding"], box.get("art")
        strip = art["strip"] if art else BOX["strip"]
        value, cotangent = self.now.values.get(tensor), self.now.flows.get(tensor)
        room = width - 14
        name, known = self.document["tensors"][tensor]["name"], value is not None
        is_now = tensor == self.subject
        fill = self.tint if is_now else SUNK if box["plain"] else PAPER
        stroke = self.colour if is_now else EDGE if known else RULE
        dash = (2.0, 3.0) if box["plain"] and not is_now else ()
        ink = INK if known else QUIET
        is_odd, is_spoilt = is_nonfinite(value), is_nonfinite(cotangent)
        marked = is_odd or is_spoilt
        frame = Path(
            rounded_box(x, y, width, height), fill, RED if marked else stroke, 2 if is_now or marked else 1, dash
        )
        shapes: list[Drawn] = [frame]
        written = "—" if value is None else round_array(value, self.digits.get(tensor, 3))["text"]
        if width_of(written, 12, MONOSPACE) > room and value is not None:
            written = brief(value["text"])
        if box["plain"]:
            # A number in the code is named by its value, and written as it is there.
            if unnamed := name == self.document["tensors"][tensor]["value"]["text"]:
                written = name
            if art and value is not None and has_cells(value):
                heading = [] if unnamed else [TextLine(left, y + height / 2 + 4, box["heading"], 12, ink)]
                return [*shapes, *heading, *self.art(value, box, "value", (height - art["value"]) / 2)]
            words = written if unnamed else f"{box['heading']} = {written}"
            baseline = y + (height / 2 + 4 if art else BOX["plain_value"])
            words, ink = shorten(words, room, 12, MONOSPACE), RED if is_odd else ink
            shapes.append(TextLine(x + width / 2, baseline, words, 12, ink, "middle", is_odd))
            return [*shapes, *_draw_sign(x + width - 2, y + 2, is_odd)]
        if cotangent is not None:
            shapes.append(Path(rounded_box(x + 2, y + strip, width - 4, height - strip - 2, 5), self.flowing[1]))
        shapes.append(TextLine(left, y + BOX["name"], box["heading"], 12, ink, bold=True))
        if art and value is not None and has_cells(value):
            shapes += self.art(value, box, "value", art["top"])
        else:
            baseline = art["top"] + (art["value"] or 14) / 2 + 4 if art else BOX["value"]
            words = shorten(written, room, 12, MONOSPACE)
            shapes.append(TextLine(left, y + baseline, words, 12, RED if is_odd else ink, bold=is_odd))
        if box["operation"]:
            shapes.append(TextLine(x + width - BOX["padding"], y + BOX["name"], box["operation"], 11, QUIET, "end"))
        below = y + ((strip + height) / 2 + 4 if art else BOX["cotangent"])
        if cotangent is None and tensor in self.unusual:
            shapes.append(TextLine(left, below, shorten(self.unusual[tensor], room, 11, MONOSPACE), 11, QUIET))
        elif self.now.backward or cotangent is not None:
            arrow = "→" if self.now.pushes else "←"
            text = brief(cotangent["text"]) if cotangent else "—"
            words, ink = shorten(f"{arrow} {text}", room, 12, MONOSPACE), QUIET
            if cotangent is not None:
                ink = RED if is_spoilt else self.flowing[0]
                if art and has_cells(cotangent):
                    words = arrow
                    shapes += self.art(cotangent, box, "cotangent", strip + 3, BOX["arrow"])
            shapes.append(TextLine(left, below, words, 12, ink, bold=cotangent is not None))
        return [*shapes, *_draw_sign(x + width - 2, y + 2, marked)]

    def art(
        self, array: dict[str, Any], box: dict[str, Any], part: str, top: float, across: float = 0.0
    ) -> list[Drawn]:
        """Draw an array as a thumbnail, with its shape and the end of its colour scale beside it; or in numbers."""
        x, y, art = box["x"] + box["art"]["x"] + across, box["y"] + top, box["art"]
        if art.get("rows"):
            ink = INK if part == "value" else self.colour
            items = [(k, item) for k, row in enumerate(rows_of(array["text"])) for item in re.finditer(r"\S+", row)]
            return [TextLine(x + item.start() * CHARACTER, y + (k + 0.8) * ROW, item[0], 12, ink) for k, item in items]
        left, middle, shape = x + art["width"] + 6, y + art[part] / 2 + 4, shape_text(array["shape"])
        rise, beyond = (6, 0.0) if art[part] >= SIZE["stacked"] else (0, 11 * ADVANCE * (len(shape) + 1))
        words = [
            TextLine(left, middle - rise, shape, 11, QUIET),
            TextLine(left + beyond, middle + rise, art["ends"][part], 10, QUIET),
        ]
        return [*draw_thumbnail(array, x, y, box["limits"][part]), *words]


def _home_of(document: dict[str, Any], number: int, now: Moment) -> int | None:
    """Return the tensor around which the graph is unfolded: of a step without one the latest, or else the first."""
    subjects = (subject_of(document, step) for step in document["steps"][number:])
    if (subject := next(subjects, None)) is not None:
        return subject
    return max(now.values) if now.values else next((each for each in subjects if each is not None), None)


def _cover(document: dict[str, Any], layout: dict[str, Any], number: int) -> dict[str, Any]:
    """Hide what has not been computed at a step, as the player does while it asks; no room is left for it below."""
    now = read_moment(document, number)
    layout = fold(layout, _home_of(document, number, now))
    groups, begun = layout["groups"], set()
    for entry in now.fates:
        group = layout["tensors"][document["entries"][entry]["output"]]["group"]
        while group >= 0:
            begun.add(group)
            group = groups[group]["parent"]

    def keep(parts: list[dict[str, Any]], known: list[bool]) -> list[dict[str, Any]]:
        return [one if is_known else one | {"hidden": True} for one, is_known in zip(parts, known, strict=True)]

    kept = {
        "tensors": keep(layout["tensors"], [tensor in now.values for tensor in range(len(layout["tensors"]))]),
        "links": keep(layout["links"], [link.get("entry") in now.fates for link in layout["links"]]),
        "groups": keep(groups, [group in begun for group in range(len(groups))]),
    }
    boxes = [box for box in (*kept["tensors"], *kept["groups"]) if not box.get("hidden")]
    height = max((box["y"] + box["height"] for box in boxes), default=0.0) + PADDING
    return layout | kept | {"width": layout["width"] if boxes else 0.0, "height": height, "open": True, "covered": True}


def find_span(boxes: Sequence[dict[str, Any]], side: str, length: str) -> tuple[float, float]:
    """Return where boxes begin and end along an axis, with a margin."""
    low = min((box[side] for box in boxes), default=0.0) - 8
    return low, max((box[side] + box[length] for box in boxes), default=0.0) + 8


def _start_of(link: dict[str, Any]) -> str:
    return "M{} {}".format(*link["points"])


def _curve_of(link: dict[str, Any]) -> str:
    """Return the path of a link from where it starts: bent until it goes straight down, then straight."""
    x, y, to_x, bend, to_y = link["points"]
    middle = round((y + bend) / 2, 1)
    return f"C{x} {middle} {to_x} {middle} {to_x} {bend}" + (f"V{to_y}" if to_y != bend else "")


def _draw_group_frame(group: dict[str, Any]) -> Path:
    x, y, width, height = (group[key] for key in ("x", "y", "width", "height"))
    if group.get("closed"):
        return Path(rounded_box(x, y, width, height), PAPER, EDGE)
    return Path(rounded_box(x, y, width, height, 8), stroke=RULE, dash=(4, 3))


def _draw_group_name(group: dict[str, Any], left: float, right: float) -> list[Drawn]:
    """Draw the name of a group over the lines that cross it, or in the middle of the visible part of a folded one."""
    name = group["title"]
    x, y, end = group["x"], group["y"], group["x"] + group["width"]
    if group.get("closed"):
        x, end = max(x, left), min(end, right)
        box = Path(rounded_box(group["x"], y, group["width"], group["height"]), PAPER, EDGE)
        words = shorten(f"{name} · {group['count']} entries", end - x - 12, 12, MONOSPACE)
        return [box, TextLine((x + end) / 2, y + group["height"] / 2 + 4, words, 12, QUIET, "middle")]
    words = shorten(name, end - x - 16, 11, MONOSPACE)
    wide = width_of(words, 11, MONOSPACE)
    at = end - 8 - wide if group.get("side") == "right" else x + 8
    return [Path(rounded_box(at - 3, y + 3, wide + 6, 16, 3), PAPER), TextLine(at, y + 15, words, 11, QUIET)]


def is_nonfinite(array: dict[str, Any] | None) -> bool:
    """Return whether NaN or an infinity is in an array, as far as its text says."""
    return bool(array and find_nonfinite(array["text"]))


def _draw_sign(x: float, y: float, is_wanted: bool) -> list[Drawn]:
    """Draw an exclamation mark in a disc, as js/boxes.js does."""
    disc = Path(rounded_box(x - 7, y - 7, 14, 14, 7), RED)
    return [disc, TextLine(x, y + 4, "!", 11, PAPER, "middle", bold=True)] if is_wanted else []


def _draw_name_in_sight(box: dict[str, Any], left: float, right: float) -> list[Drawn]:
    """Draw the name of a box where it is seen; nothing if that is too narrow."""
    x, end = max(left, box["x"]) + BOX["padding"], min(right, box["x"] + box["width"]) - BOX["padding"]
    if box["plain"] or width_of(box["heading"], 12, MONOSPACE) > end - x:
        return []
    return [TextLine(x, box["y"] + BOX["name"], box["heading"], 12, QUIET, bold=True)]


def _is_between(shape: Drawn, top: float, bottom: float) -> bool:
    """Return whether a text is whole between two heights; lines and areas may be cut."""
    return isinstance(shape, Path) or (top <= shape.y - 0.75 * shape.size and shape.y + 0.2 * shape.size <= bottom)


def _arrowhead(tip: Sequence[float], height: float, colour: str) -> Path:
    x, y = tip
    return Path(f"M{x - 4:.1f} {y + height:.1f}L{x:.1f} {y:.1f}L{x + 4:.1f} {y + height:.1f}Z", fill=colour)


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: max(0, letters - 1)] + "…"
