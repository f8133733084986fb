"""What a player says, step by step, and where two players do not say the same."""

from __future__ import annotations

import json
import re

from autodiff_edu.course.tools.differences import differences
from autodiff_edu.player.unpacking import unpack

TRACE = re.compile(r'<script type="application/json">(\{"version":.*?)</script>', re.DOTALL)

STORED = {"C-pytorch-and-jax"}
"""Chapters whose players are stored runs in the book, because no page can load what they need."""


def steps(html: str) -> list[str]:
    """Return the sentences of the player in an output."""
    match = TRACE.search(html)
    assert match is not None, html[:500]
    return sentences(match[1])


def sentences(content: str) -> list[str]:
    """Return the sentences of a player, given the JSON that it plays."""
    return [step["text"] for step in unpack(json.loads(content))["trace"]["steps"]]


def unlike(stored: list[str], shown: list[str]) -> list[str]:
    """Name the steps that a reader sees differ: another processor may compute another last digit."""
    before, now = (
        [{"output_type": "stream", "name": "step by step", "text": "\n".join(texts)}] for texts in (stored, shown)
    )
    return [*differences(before, now)]
