"""The player as HTML that needs neither kernel nor network: a fragment for a notebook's output, or a whole page."""

import base64
import html
from functools import cache
from typing import Any

from ..text.shared import colour
from .bundle import script
from .packing import compress, dumps, pack

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --autodiff-tall: clamp(440px, 100vh - 34px, 900px); }}
body {{ margin: 1rem auto; padding: 0 1rem; max-width: 70rem; background: light-dark({sunk}, #0e1014); }}
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
{picture}<pre style="white-space: pre-wrap">{transcript}</pre>
<script type="application/json">{content}</script>
<script type="module">
const bytes = Uint8Array.from(atob("{script}"), (letter) => letter.charCodeAt(0));
const unpacked = new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"));
const textContent = await new Response(unpacked).text();
const script = Object.assign(document.createElement("script"), {{ type: "module", textContent }});
document.head.append(script);
script.remove();
</script>
</div>
"""


MOST_LINES, KEPT = 60, 15
"""How many lines a page shows from the beginning and from the end of a long transcript."""


def fragment(content: dict[str, Any], transcript: str, step: int = 0, picture: tuple[str, str] | None = None) -> str:
    """Return a player that starts itself, wherever on a page it is put.

    Parameters
    ----------
    content
        The argument of ``mount`` in player.js: the trace, its layout and the style sheet.
    transcript
        The same trace in words, for places where scripts do not run: GitHub, an untrusted notebook, an e-mail. A long
        one is cut to the first and the last lines.
    step
        The step to begin with.
    picture
        A key frame above the transcript: SVG, and its text alternative. The player covers both once it runs.

    Returns
    -------
    str
        A ``<div>`` without any id; the same arguments and the same build of zlib give the same bytes.
    """
    return FRAGMENT.format(
        step=step,
        picture="" if picture is None else _image(*picture),
        transcript=html.escape(_abridge(transcript)),
        content=dumps(pack(content)),  # base64 has no "<", so the user's code cannot end the script
        script=_compress_script(),
    )


@cache
def _compress_script() -> str:
    return compress(script())


def _abridge(transcript: str) -> str:
    """Cut the middle out of a long transcript; the data beside it have all of it."""
    lines = transcript.split("\n")
    if len(lines) <= MOST_LINES:
        return transcript
    left_out = f"… {len(lines) - 2 * KEPT} more steps, which the player shows where scripts run …"
    return "\n".join([*lines[:KEPT], left_out, *lines[-KEPT:]])


def _image(svg: str, about: str) -> str:
    """Write a picture as data, because notebooks strip markup."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<p><img alt="{html.escape(about)}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}"></p>\n'


def page(content: dict[str, Any], transcript: str, step: int = 0, picture: tuple[str, str] | None = None) -> str:
    """Return a complete document around `fragment`, which follows the reader's light or dark scheme."""
    return PAGE.format(
        sunk=colour("sunk"),
        title=html.escape(content["trace"]["title"]),
        fragment=fragment(content, transcript, step, picture).strip(),
    )
