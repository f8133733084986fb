"""Steps as slides of 1280 by 720 pixels, for Beamer, PowerPoint and Moodle: the pages of a PDF, or one per file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path as File
from typing import Any

from ..files import save
from .canvas import Shape, Window, svg_head, svg_of, to_pdf, to_svg, use_pixels, window_head
from .frames import Frames
from .slide import HEIGHT, WIDTH, SlideLayout

GAP = 24.0  # between slides below each other


class Slides(Frames):
    """Some steps of a trace, each as a slide; a notebook cell whose value they are shows them below each other.

    Parameters
    ----------
    content : dict
        The trace document as "trace", and its "layout".
    steps : sequence of int
        The steps, counted from 1.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.play(lambda x: x * x, 3.0).frames(2, 5, size="16:9")
    Slides('<lambda>(x)', steps 2 and 5)
    """

    def __init__(self, content: dict[str, Any], steps: Sequence[int]) -> None:
        self.steps = tuple(steps)
        self._title = content["trace"]["title"]
        slides = SlideLayout(content)
        drawn = [slides.draw(number - 1) for number in self.steps] or [slides.draw_nothing()]
        self._pages: list[list[Shape]] = [[shape for layer in layers for shape in layer.shapes()] for layers in drawn]

    def svg(self) -> str:
        """Return the slides below each other; the same trace gives the same bytes."""
        if len(self._pages) == 1:
            return to_svg(WIDTH, HEIGHT, self._pages[0], title=self._title)
        parts = [svg_head(WIDTH, len(self._pages) * (HEIGHT + GAP) - GAP, f"Slides of {self._title}")]
        for number, shapes in enumerate(self._pages):
            place = Window(0, number * (HEIGHT + GAP), WIDTH, HEIGHT, 0, 0, 1.0, ())
            parts += [window_head(place), *map(svg_of, shapes), "</svg>"]
        return "\n".join([*parts, "</svg>"]) + "\n"

    def pdf(self) -> bytes:
        """Return a PDF with a page for each slide (drawn by matplotlib); the same trace gives the same bytes."""
        return to_pdf(WIDTH, HEIGHT, *self._pages, title=self._title)

    def png(self) -> bytes:
        """Return the first slide as PNG (drawn by matplotlib); the same trace gives the same bytes."""
        return _write_png(self._pages[0])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the slides to one PDF, or each to a file of its own.

        Parameters
        ----------
        path
            A name that ends in .pdf, .svg or .png. Several slides as lesson.svg or lesson.png become lesson-1.svg,
            lesson-2.svg and so on. A file of that name is replaced when the new one is complete.

        Raises
        ------
        ValueError
            If the name has another ending.
        ImportError
            For a PDF or PNG, if matplotlib is missing.
        """
        path = File(path)
        if len(self._pages) == 1 or path.suffix.lower() not in (".svg", ".png"):
            self._save(path, 0)
            return
        for number in range(len(self._pages)):
            self._save(path.with_name(f"{path.stem}-{number + 1}{path.suffix}"), number)

    def _save(self, path: File, number: int) -> None:
        shapes = self._pages[number]
        svg = lambda: to_svg(WIDTH, HEIGHT, shapes, title=self._title).encode()  # noqa: E731
        save(path, {".pdf": self.pdf, ".svg": svg, ".png": lambda: _write_png(shapes)})


def _write_png(shapes: Sequence[Shape]) -> bytes:
    with use_pixels(WIDTH, HEIGHT) as draw:
        from PIL import Image  # comes with matplotlib, which says what to install

        picture = Image.fromarray(draw(shapes)).convert("RGB")
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()
