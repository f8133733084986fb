"""The player as HTML that needs neither kernel nor network: a fragment for a notebook's output, or a whole page."""

import base64
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

EXTRAS = ("sweep", "contours")
"""As in js/extras.js; parts.py describes them."""

SHARED = ("cotangent", "before", "contribution", "after")
"""The arrays of a step that are often those of others; as in js/player.js."""

FRAGMENT = """\
<div data-autodiff-player data-start="{step}" data-lm-suppress-shortcuts="true">
{picture}<pre style="white-space: pre-wrap">{transcript}</pre>
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


def extras(document: dict[str, Any]) -> tuple[str, ...]:
    """Return the parts of a document that have a script and a style sheet of their own; few documents have any."""
    return tuple(part for part in EXTRAS if part in document)


@cache
def style(parts: tuple[str, ...] = ()) -> str:
    """Return the style sheet, with those of some extra parts."""
    return SPACE.sub("", _lighter("\n".join(asset(f"css/{name}.css") for name in (*SHEETS, *parts, LAST_SHEET))))


@cache
def script(parts: tuple[str, ...] = EXTRAS) -> str:
    """Return js/player.js with all that it imports, as one module: what a cell or a page can carry.

    The views of extra parts are in it as far as they are asked for.

    An import becomes the text of what is imported, once, and its exports become plain names; so no two files of the
    player may give the same name to different things, and no string may go over several lines.
    """
    seen: set[str] = set()
    return _lighter("\n".join(text for name in (*parts, "player") for text in _with_imports(f"{name}.js", seen)))


def _lighter(text: str) -> str:
    """Leave out what is for the readers of the files: comments without quotes, and indentation."""
    return INDENT.sub("", REMARK.sub("", COMMENT.sub("", text)))


def _with_imports(name: str, seen: set[str]) -> list[str]:
    seen.add(name)
    text = asset(f"js/{name}")
    parts = [part for other in IMPORT.findall(text) if other not in seen for part in _with_imports(other, seen)]
    text = IMPORT.sub("", text)
    return [*parts, text if name == "player.js" else re.sub(r"^export ", "", text, flags=re.MULTILINE)]


SHEETS = ("base", "controls", "code", "tape", "graph", "panel", "array")
LAST_SHEET = "media"  # it overrides the others
COMMENT = re.compile(r"^[ ]*(//.*|/\*(?s:.*?)\*/[ ]*)\n", re.MULTILINE)
REMARK = re.compile(r" +// [^\"'`\n]*$", re.MULTILINE)  # at the end of a line
SPACE = re.compile(r"(?<=[:;,{}])\s+|\s+(?=[{}])")  # of a style sheet
INDENT = re.compile(r"^\s+", re.MULTILINE)
IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w.]+)";\n', re.MULTILINE)


def fragment(content: dict[str, Any], transcript: str, step: int = 0, picture: tuple[str, str] | None = None) -> str:
    """Return a player that starts itself, wherever on a page it is put.

    Parameters
    ----------
    content
        What ``mount`` in player.js is given: the trace, its layout and the style sheet.
    transcript
        The same trace in words, for where scripts do not run: GitHub, an untrusted notebook, a mail.
    step
        The step to begin with.
    picture
        A key frame to stand above the transcript: SVG, and what to say in its place. The player covers both once it
        runs.

    Returns
    -------
    str
        A ``<div>`` without any id; the same arguments give the same bytes.
    """
    # A "</script>" in somebody's code would otherwise end the data and become markup.
    data = json.dumps(_packed(content), separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return FRAGMENT.format(
        step=step,
        picture="" if picture is None else _image(*picture),
        transcript=html.escape(transcript),
        content=data,
        script=script(extras(content["trace"])).strip(),
    )


def _packed(content: dict[str, Any]) -> dict[str, Any]:
    """Write each array of the steps once: a cotangent that moves on as it is would else be written again and again.

    In its place a step has its index in `arrays`, from where js/player.js takes it.
    """
    places: dict[str, int] = {}  # by the array as text
    steps = [
        {
            key: places.setdefault(json.dumps(value), len(places)) if value and key in SHARED else value
            for key, value in step.items()
        }
        for step in content["trace"]["steps"]
    ]
    return {**content, "trace": {**content["trace"], "steps": steps}, "arrays": [*map(json.loads, places)]}


def _image(svg: str, about: str) -> str:
    """Write a picture as data, for markup of its own would not outlive the cleaning that notebooks do."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<p><img alt="{html.escape(about)}" style="max-width: 100%" src="data:image/svg+xml;base64,{data}"></p>\n'


def page(content: dict[str, Any], transcript: str, step: int = 0, picture: tuple[str, str] | None = None) -> str:
    """Return a complete document around `fragment`, which follows the reader's light or dark scheme."""
    return PAGE.format(
        title=html.escape(content["trace"]["title"]), fragment=fragment(content, transcript, step, picture).strip()
    )
