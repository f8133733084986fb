"""A film of a trace: its slides one after the other, with a bead on each line along which something flows.

As SVG it plays where no script runs: in a README, in a forum, on a slide. A shape is written once, however many
slides it is on, and a CSS rule says when it is visible. Readers who asked their system for less motion, and programs
that don't know CSS, see one still slide. GIF and WebP are drawn by matplotlib and put together by Pillow.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from math import ceil, floor, hypot
from os import PathLike
from typing import Any

import numpy as np

from ..files import save
from ..html import image
from .canvas import (
    MONOSPACE,
    Drawn,
    Path,
    Shape,
    TextLine,
    Window,
    find_places,
    svg_head,
    svg_of,
    to_relative,
    use_pixels,
    window_head,
)
from .frames import PAPER, StepPicture
from .moments import choose_film_steps, choose_key_steps
from .slide import HEIGHT, WIDTH, Layer, SlideLayout
from .wrapping import width_of

STEP, TRAVEL, REST = 900, 400, 2000
"""Milliseconds for a step, for a bead on its way, and for the pause after the last step."""

TICK = 80  # milliseconds between two places of a bead in a GIF
MOST = 120
"""The most steps of a film."""

COLOURS, EXACT, APART = 200, 24, 24  # of a GIF: at most, how many of the most frequent, and how far the others differ
PLACES = 9  # of a bead, joined by straight lines
CELL = re.compile(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H\1Z")  # of a thumbnail: left, top, right, bottom
SIZE, LONGEST = 20.0, 6  # of the number on a bead, and how many characters it may have


@dataclass(frozen=True)
class Bead:
    """What travels: its shapes around (0, 0), and its places at equal intervals of time."""

    shapes: tuple[Drawn, ...]
    places: tuple[tuple[float, float], ...]

    def at(self, part: float) -> list[Shape]:
        """Return the shapes when a part of the time has passed."""
        index = min(int(part * (PLACES - 1)), PLACES - 2)
        rest = part * (PLACES - 1) - index
        (x, y), (to_x, to_y) = self.places[index : index + 2]
        # A window whose (0, 0) is at the bead.
        return [Window(0, 0, WIDTH, HEIGHT, -(x + (to_x - x) * rest), -(y + (to_y - y) * rest), 1.0, self.shapes)]


@dataclass(frozen=True)
class Shot:
    """A slide of a step that is seen for some milliseconds, and what travels on it."""

    step: int
    time: int
    layers: list[Layer]
    beads: tuple[Bead, ...] = ()

    def shapes(self) -> list[Shape]:
        """Return everything that stands still."""
        return [shape for layer in self.layers for shape in layer.shapes()]


class Film:
    """Some steps of a trace, one after the other; a notebook cell whose value it is plays it.

    A step takes 900 milliseconds; in the first 400, a bead travels along each active line. The last step stays for two
    seconds more. Then the film begins again.

    Parameters
    ----------
    content : dict
        The trace document as "trace", and its "layout".
    steps : sequence of int
        The steps, counted from 1; at most 120. If there are none, up to 24 that show the most.

    Raises
    ------
    ValueError
        If there are more than 120 steps.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.play(lambda x: x * x, 3.0).film()
    Film('<lambda>(x)', 6 steps, 7.4 seconds)
    """

    def __init__(self, content: dict[str, Any], steps: Sequence[int] = ()) -> None:
        if len(steps) > MOST:
            raise ValueError(f"a film has at most {MOST} steps, not {len(steps)}: choose fewer, as in film(1, 5, 9)")
        document = content["trace"]
        self.steps = tuple(steps) or tuple(at + 1 for at in choose_film_steps(document))
        self._title: str = document["title"]
        self._still = (choose_key_steps(document, 1) or [0])[0]
        self._shots = _shoot(content, [number - 1 for number in self.steps])

    def __repr__(self) -> str:
        count = len(self.steps)
        return f"Film({self._title!r}, {count} {'step' if count == 1 else 'steps'}, {self.seconds:g} seconds)"

    @property
    def seconds(self) -> float:
        """How long the film takes."""
        return sum(shot.time for shot in self._shots) / 1000

    def svg(self) -> str:
        """Return the film as SVG that plays by itself; the same trace gives the same bytes."""
        steps = [shot.step for shot in self._shots]
        still = len(steps) - 1 - steps[::-1].index(self._still) if self._still in steps else len(steps) - 1
        return _animate(self._shots, still, f"Film of {self._title}")

    def gif(self) -> bytes:
        """Return the film as a GIF; the same trace gives the same bytes with the same Pillow and matplotlib."""
        frames, times = _photograph(self._shots)
        return _bind(_reduce(frames), times, "GIF", optimize=False, transparency=COLOURS, disposal=1)

    def webp(self) -> bytes:
        """Return the film as WebP, which keeps all colours; the same trace gives the same bytes, as for a GIF."""
        return _bind(*_photograph(self._shots), "WEBP", lossless=True, method=2)

    def _repr_html_(self) -> str:
        return image(self.svg(), f"Film of {self._title}")

    def save(self, path: str | PathLike[str]) -> None:
        """Write the film to a file.

        Parameters
        ----------
        path
            A name that ends in .svg, .gif or .webp; a file of that name is replaced when the new one is complete.

        Raises
        ------
        ValueError
            If the name has another ending.
        ImportError
            For a GIF or WebP, if matplotlib is missing.
        """
        save(path, {".svg": lambda: self.svg().encode(), ".gif": self.gif, ".webp": self.webp})


# Shots


def _shoot(content: dict[str, Any], steps: Sequence[int]) -> list[Shot]:
    """Draw each step: while beads travel, if any do, and then the result."""
    slides = SlideLayout(content)
    if not steps:
        return [Shot(0, REST, slides.draw_nothing())]
    shots = []
    for number in steps:
        layers = slides.draw(number, arrives=False)
        beads = _find_beads(slides, slides.frame(number, arrives=False), layers)
        if beads:
            shots.append(Shot(number, TRAVEL, layers, beads))
        shots.append(Shot(number, STEP - TRAVEL * bool(beads), slides.draw(number)))
    shots[-1] = replace(shots[-1], time=shots[-1].time + REST)
    return shots


def _find_beads(slides: SlideLayout, frame: StepPicture, layers: list[Layer]) -> tuple[Bead, ...]:
    """Return what travels along the active lines of a step: down with values, up with cotangents."""
    step = frame.now.step
    if step["kind"] not in ("record", "cut", "skip", "accumulate", "push forward") or "links" not in slides.layout:
        return ()
    entry, seen = slides.document["entries"][step["entry"]], next(layer for layer in layers if layer.window)
    window = seen.window
    assert window is not None
    left, top, beads = window.x, window.y, []
    for arrives in frame.active():
        tensor = entry["inputs"][frame.layout["entries"][step["entry"]].index(arrives)]
        array = step["contribution"] if step["kind"] == "accumulate" else frame.now.values.get(tensor)
        if step["kind"] == "push forward":
            array = frame.now.flows.get(tensor)
        if array is None or not frame.trail(arrives):
            continue
        points = (slides.to_slide(seen, point) for link in frame.trail(arrives) for point in _find_points(link))
        inside = [(x, y) for x, y in points if left <= x <= left + window.width and top <= y <= top + window.height]
        if len(inside) > 1:
            places = _walk(inside)
            beads.append(Bead(_draw_bead(array, frame), tuple(places[::-1] if frame.now.backward else places)))
    return tuple(beads)


def _draw_bead(array: dict[str, Any], frame: StepPicture) -> tuple[Drawn, ...]:
    """Draw a bead around (0, 0), with its number if that is short."""
    text, number = "", array["data"]
    if not array["shape"] and isinstance(number, int | float) and not isinstance(number, bool):
        text = min(array["text"], f"{number:.3g}", key=len)
    text = text if len(text) <= LONGEST else ""
    tall = 16.0 if text else 11.0
    half = max(tall, width_of(text, SIZE, MONOSPACE) / 2 + 9)
    straight, arc = half - tall, 0.552 * tall  # two half circles, and what is between them
    pill = (
        f"M{-straight:.1f} {-tall:.1f}H{straight:.1f}"
        f"C{straight + arc:.1f} {-tall:.1f} {half:.1f} {-arc:.1f} {half:.1f} 0"
        f"C{half:.1f} {arc:.1f} {straight + arc:.1f} {tall:.1f} {straight:.1f} {tall:.1f}H{-straight:.1f}"
        f"C{-straight - arc:.1f} {tall:.1f} {-half:.1f} {arc:.1f} {-half:.1f} 0"
        f"C{-half:.1f} {-arc:.1f} {-straight - arc:.1f} {-tall:.1f} {-straight:.1f} {-tall:.1f}Z"
    )
    shapes: list[Drawn] = [Path(pill, frame.colour, PAPER, 2.5)]
    if text:
        shapes.append(TextLine(0, 7, text, SIZE, PAPER, "middle", bold=True))
    return tuple(shapes)


def _find_points(link: dict[str, Any]) -> list[tuple[float, float]]:
    """Return points on a link, close enough to be joined by straight lines."""
    x, y, to_x, bend, to_y = link["points"]
    middle = (y + bend) / 2
    points = []
    for k in range(13):
        t = k / 12
        corners = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
        across = sum(weight * at for weight, at in zip(corners, (x, x, to_x, to_x), strict=True))
        points.append((across, sum(weight * at for weight, at in zip(corners, (y, middle, middle, bend), strict=True))))
    return [*points, (to_x, to_y)] if to_y != bend else points


def _walk(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return where a bead is at equal intervals of time: it starts slowly, and arrives slowly."""
    legs = [hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
    walked = [0.0, *accumulate(legs)]
    places = []
    for k in range(PLACES):
        t = k / (PLACES - 1)
        gone = walked[-1] * t * t * (3 - 2 * t)
        leg = next((index for index, end in enumerate(walked[1:]) if end >= gone and legs[index]), 0)
        rest = (gone - walked[leg]) / legs[leg] if legs[leg] else 0.0
        (x, y), (to_x, to_y) = points[leg : leg + 2]
        places.append((round(x + (to_x - x) * rest, 1), round(y + (to_y - y) * rest, 1)))
    return places


# As pixels


def _photograph(shots: list[Shot]) -> tuple[list[Any], list[int]]:
    """Draw every picture of the film; return them, and the milliseconds for which each is shown."""
    frames: list[Any] = []
    times: list[int] = []
    with use_pixels(WIDTH, HEIGHT) as draw:
        from PIL import Image

        ground = Image.new("RGB", (int(WIDTH), int(HEIGHT)))
        before: list[Shape] = []
        for shot in shots:
            shapes = [*_split(shot.shapes())]
            # Only where something has changed is anything drawn again.
            boxes = {_find_box(shape) for shape in {*shapes} ^ {*before}}
            touched = [shape for shape in shapes if any(_touch(_find_box(shape), box) for box in boxes)]
            drawn, ground, before = Image.fromarray(draw(touched)).convert("RGB"), ground.copy(), shapes
            for box in boxes:
                ground.paste(drawn.crop(box), box)
            if not shot.beads:
                frames.append(ground)
                times.append(shot.time)
                continue
            ticks = shot.time // TICK
            for tick in range(ticks):
                moving = [shape for bead in shot.beads for shape in bead.at((tick + 0.5) / ticks)]
                bead, frame = Image.fromarray(draw(moving)), ground.copy()
                if place := bead.getbbox():
                    bead = bead.crop(place)
                    frame.paste(bead, place, bead)
                frames.append(frame)
                times.append(shot.time // ticks)
    return frames, times


def _split(shapes: list[Shape]) -> Iterator[Shape]:
    """Split windows with several shapes into windows with one each."""
    for shape in shapes:
        if isinstance(shape, Window):
            yield from (replace(shape, shapes=(inner,)) for inner in shape.shapes)
        else:
            yield shape


Box = tuple[int, int, int, int]  # left, top, right, bottom


@lru_cache(5000)
def _find_box(shape: Shape) -> Box:
    """Find the part of a slide outside which a shape draws nothing, with a margin."""
    match shape:
        case Window(x, y, width, height, left, top, scale, (inner,)):
            box = _find_box(inner)
            across = [min(max(x + (at - left) * scale, x), x + width) for at in box[::2]]
            down = [min(max(y + (at - top) * scale, y), y + height) for at in box[1::2]]
        case TextLine(x, y, words, size, _, anchor, bold, family):
            wide = width_of(words, size, family, bold) * 1.1
            first = x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
            across, down = [first - size / 2, first + wide + size / 2], [y - 1.2 * size, y + size / 2]
        case Path(commands, weight=weight):
            across, down = ([min(at) - weight, max(at) + weight] for at in find_places(commands))
        case _:
            raise TypeError("a window with several shapes has been split")
    return floor(across[0]) - 2, floor(down[0]) - 2, ceil(across[1]) + 2, ceil(down[1]) + 2


def _touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _reduce(frames: list[Any]) -> list[Any]:
    """Reduce pictures to few colours: one table for the whole film, or they would flicker.

    The most frequent colours stay, and of the others those that are `APART` from all before them, so that none changes
    by more. What is as it was in the picture before is left transparent, number `COLOURS` of the table. Pillow's own
    method would turn white into a light grey that also occurs.
    """
    from PIL import Image

    counts: Counter[int] = Counter()
    packed = []
    for frame in frames:
        packed.append(np.asarray(frame.convert("RGBX")).view("<u4")[:, :, 0] & 0xFFFFFF)
        colours = frame.getcolors(frame.width * frame.height)
        counts.update({int.from_bytes(bytes(colour), "little"): count for count, colour in colours})

    def split(colours: list[int]) -> Any:
        return np.array([(colour & 255, colour >> 8 & 255, colour >> 16) for colour in colours], np.int32)

    found = sorted(counts, key=lambda colour: (-counts[colour], colour))
    squares = np.sum((split(found)[:, None] - split(found[:EXACT])[None]) ** 2, axis=2)  # distances to those that stay
    kept = found[:EXACT]
    while len(kept) < COLOURS and (far := np.flatnonzero(squares.min(axis=1) >= APART**2)).size:
        kept.append(found[far[0]])
        squares = np.column_stack([squares, np.sum((split(found) - split(kept[-1:])) ** 2, axis=1)])
    table = np.zeros(1 << 24, np.uint8)
    table[found] = squares.argmin(axis=1)
    whole = [table[pixels] for pixels in packed]
    changes = [np.where(now == before, np.uint8(COLOURS), now) for before, now in pairwise(whole)]
    reduced = [Image.fromarray(pixels) for pixels in (*whole[:1], *changes)]
    for picture in reduced:
        picture.putpalette(split(kept).astype(np.uint8).tobytes())
    return reduced


def _bind(frames: list[Any], times: list[int], form: str, **more: Any) -> bytes:
    file = io.BytesIO()
    frames[0].save(file, form, save_all=True, append_images=frames[1:], duration=times, loop=0, **more)
    return file.getvalue()


# As SVG


def _merge(pieces: dict[int, Sequence[tuple[Shape, ...]]]) -> Iterator[tuple[Shape, tuple[int, ...]]]:
    """Return each shape of some shots' pieces once, and the shots that have it, in an order that suits them all."""
    for looks in zip(*pieces.values(), strict=True):
        merged: list[tuple[Shape, list[int]]] = []
        for number, look in zip(pieces, looks, strict=True):
            at = 0
            for shape in look:
                found = next((k for k in range(at, len(merged)) if merged[k][0] == shape), None)
                if found is None:
                    merged.insert(at, (shape, []))
                    found = at
                merged[found][1].append(number)
                at = found + 1
        yield from ((shape, tuple(when)) for shape, when in merged)


def _write(shape: Shape) -> str:
    """Write a shape with few letters, for a place where nothing is filled unless it says so."""
    inner = replace(shape, shapes=[*map(_shorten, shape.shapes)]) if isinstance(shape, Window) else _shorten(shape)
    return svg_of(inner).replace(' fill="none"', "")


def _shorten(shape: Drawn) -> Drawn:
    """Return a shape that looks the same and is written with fewer letters."""
    if not isinstance(shape, Path):
        return shape
    cells = CELL.findall(shape.commands)
    if not cells or shape.stroke != "none" or CELL.sub("", shape.commands):
        return replace(shape, commands=to_relative(shape.commands))
    rows: list[list[str]] = []  # of cells beside each other: each is a line as thick as they are high
    for left, top, right, _ in cells:
        if rows and rows[-1][1:] == [top, left]:
            rows[-1][2] = right
        else:
            rows.append([left, top, right])
    tall = max(float(bottom) - float(top) for _, top, _, bottom in cells)
    lines = "".join(f"M{left} {float(top) + tall / 2:.2f}H{right}" for left, top, right in rows)
    return Path(to_relative(lines), stroke=shape.fill, weight=tall)


def _animate(shots: list[Shot], still: int, title: str) -> str:
    """Write each shape once, and when it is visible; `still` is the shot to show where nothing moves."""
    starts = [0, *accumulate(shot.time for shot in shots)]
    whole = starts[-1]
    rules: list[str] = []
    names: dict[tuple[int, ...], str] = {}

    def write_part(time: float) -> str:
        return f"{100 * time / whole:.3f}".rstrip("0").rstrip(".") + "%"

    def name_rule(numbers: tuple[int, ...]) -> str:
        """Return the name of the rule for what is visible in these shots."""
        if numbers not in names:
            names[numbers] = name = f"s{len(names)}"
            # What is not on the still slide is hidden until a rule says otherwise.
            turns = [] if 0 in numbers or still not in numbers else [f"{write_part(0)}{{visibility:hidden}}"]
            for number in range(len(shots)):
                now, before = number in numbers, number - 1 in numbers
                if now != before:
                    turns.append(f"{write_part(starts[number])}{{visibility:{'visible' if now else 'hidden'}}}")
            rules.append(f"@keyframes {name}{{{''.join(turns)}}}.{name}{{animation-name:{name}}}")
        return names[numbers]

    def write_shapes(layers: dict[int, Layer]) -> Iterator[str]:
        """Write what a layer has in some shots."""
        merged = _merge({number: layer.pieces for number, layer in layers.items()})
        for when, shapes in groupby(merged, lambda pair: pair[1]):
            drawn = "\n".join(_write(shape) for shape, _ in shapes)
            hidden = "" if still in when else ' visibility="hidden"'
            yield drawn if len(when) == len(shots) else f'<g class="{name_rule(when)}"{hidden}>\n{drawn}\n</g>'

    def write_moves(views: dict[int, Window]) -> str:
        """Return the opening tag of a picture that moves, so that another part of it is seen through its window."""
        places = {number: (f"{-view.left:.10g}", f"{-view.top:.10g}") for number, view in views.items()}
        name = f"p{len(rules)}"
        moves = "".join(
            f"{write_part(starts[number])}{{transform:translate({x}px,{y}px)}}"
            for number, (x, y) in places.items()
            if (x, y) != places.get(number - 1)
        )
        rules.append(f"@keyframes {name}{{{moves}}}.{name}{{animation-name:{name}}}")
        at = places.get(still, places[min(places)])
        return f'<g class="{name}" transform="translate({" ".join(at)})">'

    body: list[str] = []
    for layers in zip(*(shot.layers for shot in shots), strict=True):
        windows: dict[Window | None, dict[int, Layer]] = {}
        for number, layer in enumerate(layers):
            place = layer.window and replace(layer.window, left=0.0, top=0.0)
            windows.setdefault(place, {})[number] = layer
        for place, seen in windows.items():
            views = {number: layer.window for number, layer in seen.items() if layer.window}
            if place is None:
                body += write_shapes(seen)
            elif len({*views.values()}) == 1:
                body += [window_head(*{*views.values()}), *write_shapes(seen), "</svg>"]
            else:
                body += [window_head(place), write_moves(views), *write_shapes(seen), "</g>", "</svg>"]
    for number, shot in enumerate(shots):
        start, end = starts[number], starts[number + 1]
        for bead in shot.beads:
            name = f"b{len(rules)}"
            times = [start + shot.time * k / (PLACES - 1) for k in range(PLACES)]
            shown = ["opacity:1;", *[""] * (PLACES - 2), "opacity:1;"]
            way = [
                f"{write_part(time)}{{{opacity}transform:translate({x:g}px,{y:g}px)}}"
                for time, opacity, (x, y) in zip(times, shown, bead.places, strict=True)
            ]
            gone = [f"{write_part(start - 1)}{{opacity:0}}"] if start else []
            rules.append(
                f"@keyframes {name}{{0%{{opacity:0}}{''.join([*gone, *way])}{write_part(end + 1)}{{opacity:0}}"
                f"100%{{opacity:0}}}}.{name}{{animation:{name} {whole}ms linear infinite}}"
            )
            drawn = "\n".join(map(_write, bead.shapes))
            body.append(f'<g class="{name}" opacity="0">\n{drawn}\n</g>')
    usual = f"g{{animation:{whole}ms step-end infinite}}"
    calm = "@media(prefers-reduced-motion:reduce){g[class]{animation:none}}"
    style = "\n".join(["<style>", usual, *rules, calm, "</style>"])
    return "\n".join([svg_head(WIDTH, HEIGHT, title), style, '<g fill="none">', *body, "</g>", "</svg>"]) + "\n"
