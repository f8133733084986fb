"""Chromium, as the player's tests use it, and where the book is."""

import sys
from pathlib import Path

from browser.conftest import browser, chromium, open_tab, running_browser, visit  # noqa: F401 (fixtures are found by name)

sys.path += [str(Path(__file__).parents[2] / "book" / folder) for folder in (".", "_ext", "live")]
