"""The Jacobian that a sweep fills, drawn without a browser, as js/sweep.js and js/patches.js draw it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from colorsys import hls_to_rgb
from dataclasses import dataclass
from typing import Any

from ...text.shared import colour
from ..layout.thumbnails import end_text, largest, level, magnitude
from .canvas import MONOSPACE, SANS, Drawn, Path, TextLine, rounded_box
from .thumbnails import SHADES
from .wrapping import shorten, width_of

INK, QUIET, RULE, PAPER, SUNK = map(colour, ("ink", "quiet", "rule", "paper", "sunk"))
LETTERS, SMALLEST = 20.0, 16.0
TALL, LOW, ROOM = 30.0, 18.0, 216.0  # a row, usually and at least, and the height of all rows
WIDE, PADDING, GAP = 116.0, 10.0, 24.0  # a column at most, room around a text, and between two matrices
PATCH_GAP = 8.0
MOST_NUMBERS = 16  # elements; more are coloured, as on the page


def measure_jacobian(sweep: dict[str, Any]) -> float:
    """Return the height of the drawing."""
    both = len(_list_ways(sweep)) > 1
    return LETTERS * 1.9 + (LETTERS * 1.4 if both else 0.0) + _measure_row(sweep) * (len(sweep["rows"]) + 1)


def draw_jacobian(
    sweep: dict[str, Any], step: int, place: tuple[float, float, float], accent: str, tint: str
) -> list[Drawn]:
    """Draw what is known of the matrix at a step: `place` is its left, top and width, and what fills is tinted."""
    x, y, room = place
    title = f"Jacobian of {sweep['target']} with respect to {sweep['source']}"
    jacobian = sweep["jacobian"]
    ends = end_text(jacobian, largest(jacobian)) if _is_coloured(sweep) else ""
    shapes = _draw_title(title, ends, place)
    ways = _list_ways(sweep)
    wide = (room - GAP * (len(ways) - 1)) / len(ways)
    for index, way in enumerate(ways):
        filling, left, top = _read_filling(sweep, way, step), x + index * (wide + GAP), y + LETTERS * 1.9
        if len(ways) > 1:
            label = shorten(filling.label, wide, LETTERS)
            shapes.append(TextLine(left, top + LETTERS, label, LETTERS, QUIET, family=SANS))
            top += LETTERS * 1.4
        shapes += _draw_matrix(sweep, way, filling, (left, top, wide), accent, tint)
    return shapes


def _draw_title(title: str, ends: str, place: tuple[float, float, float]) -> list[Drawn]:
    """Draw a title, and on its right where a scale of colours ends."""
    x, y, room = place
    title = shorten(title, room - width_of(ends, LETTERS) - GAP, LETTERS, bold=True)
    return [
        TextLine(x, y + LETTERS, title, LETTERS, INK, bold=True, family=SANS),
        TextLine(x + room, y + LETTERS, ends, LETTERS, QUIET, "end", family=SANS),
    ]


def _list_ways(sweep: dict[str, Any]) -> list[str]:
    return [way for way in ("rows", "columns") if any(way in each for each in sweep["passes"])]


def _measure_row(sweep: dict[str, Any]) -> float:
    return max(LOW, min(TALL, ROOM / len(sweep["rows"])))


@dataclass(frozen=True)
class Filling:
    """How far a matrix is filled one way, by "rows" or by "columns".

    Attributes
    ----------
    known, current : set of int
        The lines with numbers, and those that the latest pass is for.
    goes_on : bool
        Whether that pass goes on.
    seeds : dict of int to int
        Where lines share a seed: for each that is filled, its seed, counted from 1.
    label : str
        How many passes it has taken.
    """

    known: set[int]
    current: set[int]
    goes_on: bool
    seeds: dict[int, int]
    label: str


def _read_filling(sweep: dict[str, Any], way: str, step: int) -> Filling:
    own = [each for each in sweep["passes"] if way in each]
    singles = [each for each in own if not each["stack"]]
    over = [each for each in own if each["last"] <= step]
    latest: dict[str, Any] = ([{}] + [each for each in sweep["passes"] if each["first"] <= step])[-1]
    stack = any(each["stack"] and each["first"] <= step for each in own)
    shares = any(len(each[way]) > 1 for each in singles)
    mode, done = "reverse" if way == "rows" else "forward", sum(each in over for each in singles)
    once = stack and any(each["stack"] for each in over)
    return Filling(
        known={line for each in over if each["stack"] == stack for line in each[way]},
        current=set(latest.get(way, ())),
        goes_on=latest.get("last", -1) > step,
        seeds={line: seed + 1 for seed, each in enumerate(singles) if shares and each in over for line in each[way]},
        label=f"{mode}: all in one pass" if once else f"{mode}: {done} of {len(singles)} passes",
    )


def _draw_matrix(
    sweep: dict[str, Any], way: str, filling: Filling, place: tuple[float, float, float], accent: str, tint: str
) -> Iterator[Drawn]:
    """Draw the matrix that is filled one way: `place` is its left, top and width."""
    left, top, room = place
    rows, columns, numbers = sweep["rows"], sweep["columns"], sweep["jacobian"]["data"]
    tall, by_row = _measure_row(sweep), way == "rows"
    size = max(SMALLEST, min(LETTERS, 0.8 * tall))
    shares = any(len(each.get(way, ())) > 1 and not each["stack"] for each in sweep["passes"])
    names = max(width_of(name, size, MONOSPACE) for name in rows) + PADDING + (size if shares and by_row else 0.0)
    wide = min(WIDE, (room - names) / len(columns))
    texts = [[_write(item, wide - PADDING, size) for item in row] for row in numbers]
    limit, coloured = largest(sweep["jacobian"]), _is_coloured(sweep) or any(None in row for row in texts)

    def draw_name(words: str, line: int | None, x: float, y: float, anchor: str) -> TextLine:
        now = line in filling.current
        return TextLine(x, y, words, size, accent if now else QUIET, anchor, bold=now)

    def draw_seed(line: int, x: float, y: float) -> list[Drawn]:
        """Draw the seed of a line in a colour, and as a number for those who cannot tell colours apart."""
        seed = filling.seeds[line]
        hue = (170 + 137.5 * (seed - 1)) % 360 / 360  # as on the page, but dark enough for white letters
        shade = "#" + "".join(f"{round(255 * part):02x}" for part in hls_to_rgb(hue, 0.32, 0.65))
        words = TextLine(x + size * 0.425, y + tall / 2 + size * 0.35 - 1, str(seed), size, PAPER, "middle")
        return [Path(rounded_box(x, y, size * 0.85, tall - 2, 2), shade), words]

    for column, name in enumerate(columns):
        x = left + names + column * wide
        free = wide - 2
        if not by_row and column in filling.seeds:
            yield from draw_seed(column, x, top + 1)
            free -= 2 * size
        short = next((words for words in (name, _index_of(name)) if width_of(words, size, MONOSPACE) <= free), "")
        if short:
            yield draw_name(short, None if by_row else column, x + wide / 2, top + tall * 0.75, "middle")
    for row, name in enumerate(rows):
        y = top + tall * (row + 1)
        if by_row and row in filling.seeds:
            yield from draw_seed(row, left, y + 1)
        yield draw_name(name, row if by_row else None, left + names - PADDING, y + tall / 2 + size * 0.35, "end")
    for line in range(len(rows if by_row else columns)):
        cells: dict[str, str] = {}  # by their colours: the areas
        written: list[TextLine] = []
        for other in range(len(columns if by_row else rows)):
            row, column = (line, other) if by_row else (other, line)
            x, y, number = left + names + column * wide, top + tall * (row + 1), numbers[row][column]
            known, words, shade = line in filling.known, "—", SUNK
            if known:
                words, shade = texts[row][column] or "", PAPER
            if known and coloured and abs(magnitude(number)) <= limit:  # not of NaN or infinity
                words, shade = "", SHADES[level(magnitude(number), limit)]
            if filling.goes_on and line in filling.current:
                shade = tint
            cells[shade] = cells.get(shade, "") + f"M{x:.1f} {y:.1f}H{x + wide:.1f}V{y + tall:.1f}H{x:.1f}Z"
            if words:
                base = y + tall / 2 + size * 0.35
                written.append(TextLine(x + wide / 2, base, words, size, INK if known else QUIET, "middle"))
        yield from (Path(area, shade, RULE) for shade, area in cells.items())
        yield from written


def _is_coloured(sweep: dict[str, Any]) -> bool:
    return len(sweep["rows"]) * len(sweep["columns"]) > MOST_NUMBERS


def _write(number: Any, room: float, size: float) -> str | None:
    """Write a number in a cell; None if not even three digits fit."""
    short = [str(number), f"{float(number):.3g}"] if not isinstance(number, str) else [number]
    texts = (text.removesuffix(".0").replace("-", "−") for text in short)
    return next((text for text in texts if width_of(text, size, MONOSPACE) <= room), None)


def _index_of(name: str) -> str:
    """Return the index of an element, which is shorter than its name."""
    return re.sub(r".*\[(.*)\]", r"\1", name).replace(" ", "")


def measure_patches(patches: dict[str, Any]) -> float:
    """Return the height of the drawing of a batch's Jacobian."""
    samples, outputs, *_ = patches["full"]["shape"]
    return float(LETTERS * 3.4 + samples * PATCH_GAP + _measure_cell(patches) * outputs * (samples + 1))


def draw_patches(patches: dict[str, Any], step: int, place: tuple[float, float, float], accent: str) -> Iterator[Drawn]:
    """Draw how the Jacobian of a batch folds, as js/patches.js: a patch for each pair of samples, and those folded."""
    x, y, room = place
    full, folded = patches["full"], patches["folded"]
    samples, outputs, _, inputs = full["shape"]
    limit, tall = max(largest(full), largest(folded)), _measure_cell(patches)
    names = [f"{patches['target']}[{k}]" for k in range(samples)] + ["folded"]
    left = x + max(width_of(name, LETTERS, MONOSPACE) for name in names) + PADDING
    wide = min(WIDE / 2, (x + room - left - samples * PATCH_GAP) / (samples * inputs))
    size = min(LETTERS, 0.8 * tall)
    numbers = [*(number for row in full["data"] for number in _flatten(row)), *_flatten(folded["data"])]
    texts = [_write(number, wide - 4, size) for number in numbers]
    coloured = size < SMALLEST or None in texts
    across, down = inputs * wide + PATCH_GAP, outputs * tall + PATCH_GAP
    direct, known = step >= patches["begun"], step >= patches["made"]
    count = sum(each <= step for each in patches["folds"])

    def draw_patch(row: int, column: int, rows: Any, ink: str, now: bool) -> Iterator[Drawn]:
        at, top = left + column * across, y + LETTERS * 3.4 + row * down
        for i, line in enumerate(rows):
            for j, number in enumerate(line):
                unknown = number is None
                words = "—" if unknown else "" if coloured else _write(number, wide - 4, size) or ""
                shade = SUNK if size >= SMALLEST else PAPER
                if not unknown and abs(magnitude(number)) <= limit:  # pale enough for numbers to stand out
                    shade = SHADES[level(magnitude(number), limit if coloured else 3 * limit)]
                yield Path(rounded_box(at + j * wide, top + i * tall, wide, tall, 0), shade, RULE)
                if words and size >= SMALLEST:
                    middle = at + (j + 0.5) * wide, top + (i + 0.5) * tall + size * 0.35
                    yield TextLine(*middle, words, size, QUIET if unknown else ink, "middle")
        if now:
            yield Path(rounded_box(at, top, inputs * wide, outputs * tall, 2), stroke=accent, weight=2.5)

    title = f"Jacobian of {patches['target']} with respect to {patches['source']}"
    yield from _draw_title(title, end_text(full, limit) if coloured else "", place)
    for column in range(samples):
        name = shorten(f"{patches['source']}[{column}]", across, LETTERS, MONOSPACE)
        yield TextLine(left + (column + 0.5) * across, y + LETTERS * 3, name, LETTERS, QUIET, "middle")
    for row, name in enumerate(names):
        base = y + LETTERS * 3.4 + row * down + outputs * tall / 2 + LETTERS * 0.35
        yield TextLine(left - PADDING, base, name, LETTERS, INK if row == samples else QUIET, "end")
    unknown = [[None] * inputs] * outputs
    for column in range(samples):
        folds = known and not direct and patches["folds"][column] == step
        for row in range(samples):
            patch = [[*line[column]] for line in full["data"][row]]
            zero = not any(magnitude(number) for line in patch for number in line)
            if zero or not (known and column < count):  # the others have moved down
                yield from draw_patch(row, column, patch if known else unknown, QUIET if zero else INK, False)
        filled = step >= patches["done"] if direct else column < count
        now = filled if direct else folds
        yield from draw_patch(samples, column, folded["data"][column] if filled else unknown, INK, now)


def _measure_cell(patches: dict[str, Any]) -> float:
    samples, outputs, *_ = patches["full"]["shape"]
    return float(min(26.0, ROOM / (outputs * (samples + 1))))


def _flatten(data: list[Any]) -> list[Any]:
    return [number for sample in data for line in sample for number in line]
