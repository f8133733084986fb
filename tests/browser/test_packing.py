"""What js/packing.js reads of a packed page is what the player was given."""

from __future__ import annotations

import json
from typing import Any

import pytest
from programs import EXAMPLES, loop, nested, training

import autodiff_edu as ad
from autodiff_edu.player.bundle import asset
from autodiff_edu.player.packing import dumps, packed
from autodiff_edu.text.shared import shared

READER = asset("js/packing.js").partition('shared.json";')[2].replace("export ", "")
UNPACKED = f"""packed => {{
  const SHARED = {json.dumps({key: shared()[key] for key in ("version", "arrays", "copies")})};
  {READER}
  return JSON.stringify(unpacked(JSON.parse(packed)), (key, value) => (Object.is(value, -0) ? "-0" : value));
}}"""


@pytest.mark.parametrize("example", [*EXAMPLES, nested, training, lambda: loop(60)])
def test_every_trace_comes_back(example: Any, visit: Any) -> None:
    content = ad.play(example())._content
    tab = visit("about:blank")
    assert json.loads(tab.page.evaluate(UNPACKED, dumps(packed(content)))) == negatives(content)


def test_odd_values_come_back(visit: Any) -> None:
    odd = [None, True, False, 0, -0.0, 1.5, "", "ü😀", [], {}, [[]], [None, 1], {"a": [1, "1"]}, 1e300, -7, "\x00<!--"]
    content = {"odd": odd, "twice": [odd, odd], "many": [*range(100), 3, 3, 10**9], "tenths": [0.1, 12.3, 7.0]}
    tab = visit("about:blank")
    found = tab.page.evaluate(
        UNPACKED.replace("const { trace } = content;", "return content;")
        .replace("version !== SHARED.version", "false")
        .replace("return JSON", "return JSON"),
        dumps(packed(content)),
    )
    assert json.loads(found) == negatives(content)


def negatives(value: Any) -> Any:
    """With -0.0 as the text that the page writes for it."""
    if isinstance(value, dict):
        return {key: negatives(part) for key, part in value.items()}
    if isinstance(value, list):
        return [negatives(part) for part in value]
    return "-0" if str(value) == "-0.0" else value
