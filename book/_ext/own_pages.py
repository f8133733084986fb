"""Brings into our own book what its other pages show: the benchmarks, and the players of two pages.

A small extension for Sphinx, which the book of another course does without.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import live
from chapters import copy, write
from first_program import f
from none_program import explanation
from sphinx.application import Sphinx
from sphinx.config import Config

import autodiff_edu as ad


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    live.ALONE.update({"index": (f, "ad.play(f, 2.0, 3.0)"), "why-none": (explanation, "ad.play(explanation())")})
    app.connect("config-inited", bring, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def bring(app: Sphinx, config: Config) -> None:
    """Put benchmarks and players into the book's source, where its pages and the contents name them."""
    book = Path(app.srcdir)
    copy(book.parent / "benchmarks" / "RESULTS.md", book / "made" / "benchmarks")
    for path in (book.parent / "benchmarks" / "plots").iterdir():
        copy(path, book / "made" / "benchmarks" / "plots")
    for name, player, look in (
        ("first-player", ad.play(f, 2.0, 3.0), " data-autodiff-compact"),
        ("none-player", ad.play(explanation()), ""),
    ):
        write(book / "made" / f"{name}.html", f'<div class="live-program"{look}>\n{player.html()}\n</div>')
