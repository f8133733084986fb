"""The player as HTML that needs neither kernel nor network: a fragment for a notebook's output, or a whole page."""

import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem auto; padding: 0 1rem; max-width: 70rem; background: light-dark(#f4f5f7, #0e1014); }}
</style>
</head>
<body>
<main>
{fragment}
</main>
</body>
</html>
"""

FRAGMENT = """\
<div data-autodiff-player data-start="{step}" data-lm-suppress-shortcuts="true">
<pre>{transcript}</pre>
<script type="application/json">{content}</script>
<script type="module">
{script}
mountAll();
</script>
</div>
"""


@cache
def asset(name: str) -> str:
    """Return the text of a file of the player, such as css/graph.css or js/dom.js."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip() + "\n"


@cache
def style() -> str:
    """Return the style sheet."""
    return "\n".join(asset(f"css/{name}.css") for name in SHEETS)


@cache
def script() -> str:
    """Return js/player.js with all that it imports, as one module: what a cell or a page can carry.

    An import becomes the text of what is imported, once, and its exports become plain names; so no two files of the
    player may give the same name to different things.
    """
    return "\n".join(_with_imports("player.js", set()))


def _with_imports(name: str, seen: set[str]) -> list[str]:
    seen.add(name)
    text = asset(f"js/{name}")
    parts = [part for other in IMPORT.findall(text) if other not in seen for part in _with_imports(other, seen)]
    text = IMPORT.sub("", text)
    return [*parts, text if name == "player.js" else re.sub(r"^export ", "", text, flags=re.MULTILINE)]


SHEETS = ("base", "controls", "code", "tape", "graph", "panel", "media")
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)


def fragment(content: dict[str, Any], transcript: str, step: int = 0) -> str:
    """Return a player that starts itself, wherever on a page it is put.

    Parameters
    ----------
    content
        What ``mount`` in player.js is given: the trace, its layout and the style sheet.
    transcript
        The same trace in words, for where scripts do not run: GitHub, an untrusted notebook, a screen reader's plain
        view. The player covers it once it runs.
    step
        The step to begin with.

    Returns
    -------
    str
        A ``<div>`` without any id; the same arguments give the same bytes.
    """
    # A "</script>" in somebody's code would otherwise end the data and become markup.
    data = json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return FRAGMENT.format(step=step, transcript=html.escape(transcript), content=data, script=script().strip())


def page(content: dict[str, Any], transcript: str, step: int = 0) -> str:
    """Return a complete document around `fragment`, which follows the reader's light or dark scheme."""
    return PAGE.format(
        title=html.escape(content["trace"]["title"]), fragment=fragment(content, transcript, step).strip()
    )
