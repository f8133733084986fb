r"""A drawing as a list of shapes, written as SVG, as PDF or as pixels.

Lengths are in pixels, 96 per inch, and y grows downwards, as in SVG. The same shapes give the same bytes.

>>> drawing = [Path("M0 0H40V20H0Z", fill="#ffffff", stroke="#000000"), TextLine(5, 15, "a < b")]
>>> print(*to_svg(40, 20, drawing).splitlines()[1:3], sep="\n")
<path d="M0 0H40V20H0Z" fill="#ffffff" stroke="#000000"/>
<text x="5" y="15">a &lt; b</text>
"""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

MONOSPACE, SANS = "monospace", "sans-serif"
ADVANCE = 0.602  # of a monospaced character, in units of the font's size
POINT = 0.75  # of a pixel


@dataclass(frozen=True)
class Path:
    """A line or an area; `commands` are those of SVG's paths: M, L, H, V, Q, C and Z, all absolute."""

    commands: str
    fill: str = "none"
    stroke: str = "none"
    weight: float = 1.0
    dash: tuple[float, ...] = ()


@dataclass(frozen=True)
class TextLine:
    """One line of text; (x, y) is where its baseline begins, or its end or middle by `anchor`."""

    x: float
    y: float
    words: str
    size: float = 12.0
    colour: str = "#000000"
    anchor: str = "start"
    bold: bool = False
    family: str = MONOSPACE


Drawn = Path | TextLine


@dataclass(frozen=True)
class Window:
    """A part of another drawing, which hides everything outside: (left, top) is placed at (x, y)."""

    x: float
    y: float
    width: float
    height: float
    left: float
    top: float
    scale: float
    shapes: Sequence[Drawn]


Shape = Drawn | Window

WHOLE = re.compile(r"\.0(?!\d)")  # the superfluous decimals of a whole number

# Neither XML nor a line of text can contain these.
UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def rounded_box(x: float, y: float, width: float, height: float, radius: float = 6.0) -> str:
    """Return the path of a rectangle with round corners."""
    r, right, bottom = min(radius, width / 2, height / 2), x + width, y + height
    return (
        f"M{_n(x + r)} {_n(y)}H{_n(right - r)}Q{_n(right)} {_n(y)} {_n(right)} {_n(y + r)}V{_n(bottom - r)}"
        f"Q{_n(right)} {_n(bottom)} {_n(right - r)} {_n(bottom)}H{_n(x + r)}"
        f"Q{_n(x)} {_n(bottom)} {_n(x)} {_n(bottom - r)}V{_n(y + r)}Q{_n(x)} {_n(y)} {_n(x + r)} {_n(y)}Z"
    )


def mix(one: str, other: str, part: float) -> str:
    """Mix a part of another colour into one.

    >>> mix('#ffffff', '#000000', 0.375)
    '#9f9f9f'
    """
    pairs = ([int(end[k : k + 2], 16) for k in (1, 3, 5)] for end in (one, other))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(*pairs, strict=True))


def to_svg(width: float, height: float, shapes: Sequence[Shape], title: str = "") -> str:
    """Write a drawing as self-contained SVG: no font, no style sheet, no script, no id."""
    return "\n".join([svg_head(width, height, title), *map(svg_of, join_lines(shapes)), "</svg>"]) + "\n"


def svg_head(width: float, height: float, title: str = "") -> str:
    """Return the opening tag of an SVG."""
    about = f' role="img" aria-label="{_escape(title)}"' if title else ""
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    usual = 'font-family="monospace" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}{about} {usual}>'


def join_lines(shapes: Sequence[Shape]) -> Iterator[Shape]:
    """Join consecutive lines of the same style into one path.

    >>> [*join_lines([Path("M0 0H4"), Path("M0 9H4"), Path("M0 0H4V4Z", fill="#ffffff")])][0]
    Path(commands='M0 0H4M0 9H4', fill='none', stroke='none', weight=1.0, dash=())
    """
    for line, alike in groupby(shapes, lambda shape: isinstance(shape, Path) and replace(shape, commands="")):
        if isinstance(line, Path) and line.fill == "none":
            yield replace(line, commands="".join(path.commands for path in alike if isinstance(path, Path)))
        else:
            yield from alike


def svg_of(shape: Shape) -> str:
    """Write one shape as SVG."""
    match shape:
        case Path(commands, fill, stroke, weight, dash):
            about = [
                ("fill", fill),
                ("stroke", stroke),
                ("stroke-width", _n(weight) if weight != 1.0 else "none"),
            ]
            about += [("stroke-dasharray", " ".join(map(_n, dash)) if dash else "none")]
            shown = "".join(f' {name}="{value}"' for name, value in about if value != "none" or name == "fill")
            return f'<path d="{WHOLE.sub("", commands)}"{shown}/>'
        case TextLine(x, y, words, size, colour, anchor, bold, family):
            about = [("x", _n(x)), ("y", _n(y))]
            about += [("font-size", _n(size))] if size != 12.0 else []
            about += [("font-family", family)] if family != MONOSPACE else []
            about += [("fill", colour)] if colour != "#000000" else []
            about += [("text-anchor", anchor)] if anchor != "start" else []
            about += [("font-weight", "bold")] if bold else []
            # Browsers do not hand it down, so that it stands where there are spaces that they would leave out.
            about += [("xml:space", "preserve")] if words.strip() != words or "  " in words else []
            shown = " ".join(f'{name}="{value}"' for name, value in about)
            return f"<text {shown}>{_escape(words)}</text>"
        case Window(shapes=shapes):
            inside = "\n".join(map(svg_of, join_lines(shapes)))
            return f"{window_head(shape)}\n{inside}\n</svg>"


def to_relative(commands: str) -> str:
    """Write a path with distances instead of places, which are shorter.

    >>> to_relative("M10 20.0H22.5V28.04Q22.5 30 20 30Z")
    'm10 20h12.5v8q0 2-2.5 2z'
    """
    x, y, start, parts = 0, 0, (0, 0), []  # in tenths of a pixel, so that no error adds up
    for command, numbers in _read_commands(commands):
        tenths = [round(10 * number) for number in numbers]
        match command:
            case "Z":
                moves, (x, y) = [], start
            case "H":
                moves, x = [tenths[0] - x], tenths[0]
            case "V":
                moves, y = [tenths[0] - y], tenths[0]
            case _:
                moves = [at - (x, y)[index % 2] for index, at in enumerate(tenths)]
                x, y = tenths[-2:]
        start = (x, y) if command == "M" else start
        words = " ".join(_n(move / 10) for move in moves).replace(" -", "-")
        parts.append(command.lower() + re.sub(r"(?<!\d)0\.", ".", words))
    return "".join(parts)


def window_head(window: Window) -> str:
    """Return the opening tag of a window."""
    wide, high = window.width / window.scale, window.height / window.scale
    place = f'x="{_n(window.x)}" y="{_n(window.y)}" width="{_n(window.width)}" height="{_n(window.height)}"'
    view = f"{_n(window.left)} {_n(window.top)} {_n(wide)} {_n(high)}"
    return f'<svg {place} viewBox="{view}" preserveAspectRatio="none">'


def to_pdf(width: float, height: float, *pages: Sequence[Shape], title: str = "") -> bytes:
    """Write drawings as the pages of a PDF, with their fonts.

    Raises
    ------
    ImportError
        If matplotlib is missing; the message says what to install.
    """
    with _use_matplotlib("a PDF"):
        from matplotlib.backends.backend_pdf import PdfPages

        file = io.BytesIO()
        about = {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": "autodiff_edu"}
        with PdfPages(file, metadata=about | {"Title": _clean(title)}) as pdf:
            for shapes in pages:
                pdf.savefig(_draw_figure(width, height, shapes))
    return file.getvalue()


@contextmanager
def use_pixels(width: float, height: float) -> Iterator[Callable[[Sequence[Shape]], Any]]:
    """Provide a function that draws on a transparent background, with one pixel for each unit.

    It returns an array of red, green, blue and opacity, which the next drawing overwrites.

    Raises
    ------
    ImportError
        If matplotlib is missing; the message says what to install.
    """
    with _use_matplotlib("a picture of pixels"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure = _draw_figure(width, height, ())
        figure.patch.set_alpha(0.0)
        canvas = FigureCanvasAgg(figure)

        def draw(shapes: Sequence[Shape]) -> Any:
            for artist in [*figure.artists, *figure.texts, *figure.patches]:
                artist.remove()
            _add_shapes(figure, shapes)
            canvas.draw()
            return np.asarray(canvas.buffer_rgba())

        yield draw


@contextmanager
def _use_matplotlib(what: str) -> Iterator[None]:
    """Use matplotlib's own settings: neither the user's nor the date may change the bytes."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(f"{error}; {what} needs matplotlib: pip install matplotlib, or save as .svg") from error
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        # Hinting changes a letter's width by up to 3 %, so an underline would miss the end of its expression.
        matplotlib.rcParams.update(
            {"text.hinting": "none", "pdf.fonttype": 42, "text.usetex": False, "svg.hashsalt": "autodiff_edu"}
        )
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that is missing from the font is drawn as a box
        yield


def _draw_figure(width: float, height: float, shapes: Sequence[Shape]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 96, height / 96), dpi=96)
    _add_shapes(figure, shapes)
    return figure


def _add_shapes(figure: Any, shapes: Sequence[Shape]) -> None:
    from matplotlib.transforms import Affine2D, Bbox, TransformedBbox

    to_page = Affine2D().scale(1 / 96, -1 / 96).translate(0, figure.get_figheight()) + figure.dpi_scale_trans
    for shape in shapes:
        if isinstance(shape, Window):
            moved = Affine2D().translate(-shape.left, -shape.top).scale(shape.scale).translate(shape.x, shape.y)
            corners = Bbox.from_bounds(shape.x, shape.y, shape.width, shape.height)
            clip = TransformedBbox(corners, to_page)  # a path would not clip texts
            for inner in shape.shapes:
                _add_artist(figure, inner, moved + to_page, shape.scale, clip)
        else:
            _add_artist(figure, shape, to_page)


def _add_artist(figure: Any, shape: Drawn, transform: Any, scale: float = 1.0, clip: Any = None) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.text import Text as Words

    if isinstance(shape, Path):
        dash = (0, tuple(part / max(shape.weight, 0.1) for part in shape.dash)) if shape.dash else "solid"
        artist: Any = PathPatch(
            _to_outline(shape.commands), facecolor=shape.fill, edgecolor=shape.stroke, transform=transform,
            linewidth=shape.weight * POINT * scale if shape.stroke != "none" else 0, linestyle=dash, capstyle="butt",
        )  # fmt: skip
    else:
        family = "DejaVu Sans Mono" if shape.family == MONOSPACE else "DejaVu Sans"  # come with matplotlib
        artist = Words(
            shape.x, shape.y, _clean(shape.words), color=shape.colour, fontfamily=family, parse_math=False,
            fontsize=shape.size * POINT * scale, fontweight="bold" if shape.bold else "normal", transform=transform,
            verticalalignment="baseline",
        )  # fmt: skip
        artist.set_horizontalalignment({"start": "left", "middle": "center", "end": "right"}[shape.anchor])
    figure.add_artist(artist, clip=True)
    if clip is None:
        artist.set_clip_on(False)
    else:
        artist.set_clip_path(None)
        artist.set_clip_box(clip)


def _to_outline(commands: str) -> Any:
    """Return matplotlib's path for SVG's commands."""
    from matplotlib.path import Path as Outline

    corners: list[tuple[float, float]] = []
    codes: list[Any] = []
    for command, numbers in _read_commands(commands):
        match command:
            case "M" | "L" | "Q" | "C":
                points = list(zip(numbers[::2], numbers[1::2], strict=True))
                code = {"M": Outline.MOVETO, "L": Outline.LINETO, "Q": Outline.CURVE3, "C": Outline.CURVE4}[command]
            case "H":
                points, code = [(number, corners[-1][1]) for number in numbers], Outline.LINETO
            case "V":
                points, code = [(corners[-1][0], number) for number in numbers], Outline.LINETO
            case "Z" | "z":
                points, code = [corners[0]], Outline.CLOSEPOLY
            case _:
                raise ValueError(f"a drawing's path knows M, L, H, V, Q, C and Z, not {command!r} in {commands!r:.80}")
        corners += points
        codes += [code] * len(points)
    return Outline(corners, codes)


def find_places(commands: str) -> tuple[list[float], list[float]]:
    """List the x and the y of a path's points, and of those that bend its curves.

    >>> find_places("M1 2H3V4Q5 6 7 8Z")
    ([1.0, 3.0, 5.0, 7.0], [2.0, 4.0, 6.0, 8.0])
    """
    across: list[float] = []
    down: list[float] = []
    for command, numbers in _read_commands(commands):
        if command in "HV":
            (across if command == "H" else down).extend(numbers)
        else:
            across += numbers[::2]
            down += numbers[1::2]
    return across, down


def _read_commands(commands: str) -> Iterator[tuple[str, list[float]]]:
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", commands):
        yield command, [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", rest)]


def _clean(words: str) -> str:
    return UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", words.replace("\t", " ").replace("\n", " "))


def _escape(words: str) -> str:
    return html.escape(_clean(words))


def _n(number: float) -> str:
    """Write a coordinate, to a tenth of a pixel."""
    return f"{round(number, 1):.10g}"
