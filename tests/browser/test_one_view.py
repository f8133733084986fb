"""Controls, sentence, lit code and accumulator are seen together at every step, on two screens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import EIGHT, descent, stopped

from browser.player_page import only, save_page

SCREEN = {"width": 1280, "height": 720}
TELEPHONE = {"width": 375, "height": 667}
ALL = ("controls", "sentence", "lit", "accumulator")


TELLING = [descent, stopped]  # a loop with curves, and steps without a tensor
OTHERS = [pytest.param(program, marks=pytest.mark.exhaustive) for program in EIGHT if program not in TELLING]


@pytest.mark.parametrize("program", [*TELLING, *OTHERS])
def test_in_a_saved_page(program: Any, visit: Any, tmp_path: Path) -> None:
    scheme = "dark" if program in EIGHT[::2] else "light"  # what stands where does not depend on it
    tab = visit(save_page(program(), tmp_path), viewport=SCREEN, color_scheme=scheme)
    only(tab).is_seen_at_once(*ALL)
    tab.page.set_viewport_size(TELEPHONE)
    only(tab).is_seen_at_once("sentence", "accumulator")
    tab.is_quiet()
