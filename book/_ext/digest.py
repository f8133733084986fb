"""The fingerprint of a chapter's code, by which a chapter that was changed since it was run is known."""

from __future__ import annotations

import hashlib
from typing import Any


def digest(notebook: dict[str, Any]) -> str:
    """Return the fingerprint of the code cells, as hexadecimal digits."""
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256("\0".join(sources).encode()).hexdigest()
