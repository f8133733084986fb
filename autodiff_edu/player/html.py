"""The player as HTML that needs neither kernel nor network: a fragment for a notebook's output, or a whole page."""

import base64
import hashlib
import html
from functools import cache
from typing import Any

from ..text.shared import colour
from .bundle import script
from .packing import compress, dumps

PAGE = """\
<!DOCTYPE html>
<html lang="en" onmousedown="return !event.target.matches('html,body')">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --autodiff-tall: clamp(440px, 100vh - 34px, 1300px); }}
body {{ margin: 1rem auto; padding: 0 1rem; max-width: max(84rem, 84vw); background: light-dark({sunk}, #0e1014); }}
body {{ font-family: system-ui, sans-serif; }}
</style>
</head>
<body>
<script>
const quietly = {{ focusVisible: false, preventScroll: true }};
const focus = ({{ target }}) => target.shadowRoot.querySelector(".player").focus(quietly);
addEventListener("autodiff-mounted", focus, {{ once: true }});
</script>
<main>
{fragment}
</main>
</body>
</html>
"""

FRAGMENT = """\
<div data-autodiff-player{attributes} data-lm-suppress-shortcuts="true">
{above}{picture}{transcript}<script type="application/json">{content}</script>
<script type="module">
const [players, build] = [(globalThis.autodiffPlayers ??= {{}}), "{build}"];
players[build] ??= (async () => {{
  const bytes = Uint8Array.from(atob("{script}"), (letter) => letter.charCodeAt(0));
  const unpacked = new Response(bytes).body.pipeThrough(new DecompressionStream("gzip"));
  const textContent = await new Response(unpacked).text();
  const script = Object.assign(document.createElement("script"), {{ textContent }});
  document.head.append(script);
  script.remove();
  return script.mountAll;
}})();
(await players[build])(build);
</script>
</div>
"""

HINT = """\
<div style="height: 44px; line-height: 44px; margin: 0 0 8px; padding: 0 12px; background-color: {tint}; color: {ink}; \
font-size: 16px; font-weight: bold">▶ Choose Run → Run All Cells: then you can step through it.</div>
<script>document.currentScript.previousElementSibling.remove();</script>
"""
"""A reader sees this if the notebook runs no scripts yet; everywhere else it is removed before it is drawn."""

MOST_LINES, KEPT = 60, 15
"""How many lines a page shows from the beginning and from the end of a long transcript."""


def fragment(
    packed: dict[str, Any],
    step: int = 0,
    transcript: str = "",
    picture: tuple[str, str] | None = None,
    predict: bool = False,
    key: str = "",
    in_cell: bool = False,
) -> str:
    """Return a player that starts itself, wherever on a page it is put.

    Parameters
    ----------
    packed
        What `packing.pack` returns for the argument of ``mount`` in player.js: the trace, its layout, the style sheet.
    step
        The step to begin with.
    transcript
        The same trace in words, for places where scripts do not run: GitHub, an untrusted notebook, an e-mail.
    picture
        A key frame above the transcript: SVG, and its text alternative. The player covers both once it runs.
    predict
        Whether the reader is asked from the start.
    key
        The key of the model in the kernel that moves the player, if there is one.
    in_cell
        Whether this is the output of a cell, which may have to be run before scripts do.

    Returns
    -------
    str
        A ``<div>`` without any id; the same arguments and the same build of zlib give the same bytes.
    """
    code, build = _compress_script()
    attributes = f' data-start="{step}"' + " data-predict" * bool(predict) + (f' data-model="{key}"' if key else "")
    return FRAGMENT.format(
        attributes=attributes,
        above=HINT.format(tint=colour("forward-tint"), ink=colour("ink")) if in_cell else "",
        picture="" if picture is None else f"<p>{image(*picture)}</p>\n",
        transcript=f'<pre style="white-space: pre-wrap">{html.escape(transcript)}</pre>\n' if transcript else "",
        content=dumps(packed),  # base64 has no "<", so the user's code cannot end the script
        build=build,
        script=code,
    )


@cache
def _compress_script() -> tuple[str, str]:
    """Return the compressed script, and a hash that tells it from any other."""
    text = script()
    return compress(text), hashlib.sha256(text.encode()).hexdigest()[:12]


def abridge(transcript: str) -> str:
    """Cut the middle out of a long transcript: the data beside it are complete."""
    lines = transcript.split("\n")
    if len(lines) <= MOST_LINES:
        return transcript
    left_out = f"… {len(lines) - 2 * KEPT} more steps, which the player shows where scripts run …"
    return "\n".join([*lines[:KEPT], left_out, *lines[-KEPT:]])


def image(svg: str, about: str, width: int | str | None = None, fills: bool = False) -> str:
    """Write a picture as data, because notebooks strip markup; one that `fills` is as wide as its place."""
    data, wide = base64.b64encode(svg.encode()).decode(), "" if width is None else f' width="{width}"'
    style = "max-width: 100%" + "; width: 100%" * fills
    return f'<img alt="{html.escape(about)}"{wide} style="{style}" src="data:image/svg+xml;base64,{data}">'


def page(title: str, fragment: str) -> str:
    """Return a complete document around a `fragment`, which follows the reader's light or dark scheme."""
    return PAGE.format(sunk=colour("sunk"), title=html.escape(title), fragment=fragment.strip())
