"""Brings into our own book what its other pages show: the benchmarks, and the players of two pages.

A small extension for Sphinx, which the book of another course does without.
"""

from __future__ import annotations

import gzip
import json
import linecache
from pathlib import Path
from typing import Any

import live
from chapters import copy, write
from first_program import f
from kernel import ALWAYS
from kernel import NAME as FILE
from none_program import explanation
from sphinx.application import Sphinx
from sphinx.config import Config

import autodiff_edu as ad
from autodiff_edu.player.unpacking import content_of


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    live.ALONE.update({"index": (f, "ad.play(f, 2.0, 3.0)"), "why-none": (explanation, "ad.play(explanation())")})
    app.connect("config-inited", bring, priority=100)
    app.connect("build-finished", bring_values, priority=900)  # the folder is there
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def bring(app: Sphinx, config: Config) -> None:
    """Put benchmarks and players into the book's source, where its pages and the contents name them."""
    book = Path(app.srcdir)
    copy(book.parent / "benchmarks" / "RESULTS.md", book / "made" / "benchmarks")
    for path in (book.parent / "benchmarks" / "plots").iterdir():
        copy(path, book / "made" / "benchmarks" / "plots")
    for page, name, look in (("index", "first-player", " data-autodiff-compact"), ("why-none", "none-player", "")):
        shown = f'<div class="output">\n{make_player(*live.ALONE[page]).html()}\n</div>'  # a replay takes its place
        write(book / "made" / f"{name}.html", f'<div class="live-program"{look}>\n{shown}\n</div>')


def make_player(function: Any, call: str) -> ad.Player:
    """Return the player of a page's program, with the file and the lines that a replay of it names."""
    program = live.alone(function, call)
    source, names = program["source"], dict[str, Any]()
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    exec("\n".join(ALWAYS), names)
    exec(compile(source, FILE, "exec"), names)
    player: ad.Player = eval(call, names)
    return player


def bring_values(app: Sphinx, exception: Exception | None) -> None:
    """Write what the front page's player shows for each x that its slider has: no Python runs while it is dragged."""
    if exception is None and app.builder.format == "html":
        values = [round(-3 + 0.2 * k, 1) for k in range(31)]
        traces = [content_of(make_player(f, f"ad.play(f, {x}, 3.0)").html()) for x in values]
        told = json.dumps([{key: trace[key] for key in ("trace", "layout")} for trace in traces])
        (Path(app.outdir) / "live" / "front.bin").write_bytes(gzip.compress(told.encode(), mtime=0))
