"""Chromium, as the player's tests use it, and where the book is."""

import sys
from pathlib import Path

from browser.conftest import (  # noqa: F401 (fixtures are found by name)
    browser,
    chromium,
    only_tab,
    open_tab,
    running_browser,
    visit,
)

sys.path += [str(Path(__file__).parents[2] / "book" / folder) for folder in (".", "_ext", "live")]
