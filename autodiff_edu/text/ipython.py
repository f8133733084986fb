"""The IPython in which this runs, if it runs in one."""

from __future__ import annotations

import sys
from typing import Any


def find_shell() -> Any:
    """Return the running IPython, or None; IPython is not imported for this."""
    ipython = sys.modules.get("IPython")
    return getattr(ipython, "get_ipython", lambda: None)()
