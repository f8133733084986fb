"""What the site as a whole needs once its pages are written: less to carry, and a card for where a page is shared.

A small extension for Sphinx. The site's address is `html: baseurl` in _config.yml. While it is empty, no page has a
canonical address, and a shared page has no picture, for a picture must be named by its whole address.
"""

from __future__ import annotations

import json
import re
import shutil
from html import escape, unescape
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

CARD = "_static/card.png"
# Of MathJax the pages load tex-chtml.js; the rest of what is kept is what its own menu can ask for.
ENTRY = "tex-chtml.js"
ICON = re.compile(  # "name":[width,height,[aliases],"number","path" or two of them],
    r'"?(?P<name>[\w-]+)"?:\[\d+,\d+,\[(?P<aliases>[^\[\]]*)\],"[0-9a-f]+",(?:"[^"]*"|\["[^"]*","[^"]*"\])\],?'
)
MODULE = re.compile(r'<script type="module">.*?</script>', re.DOTALL)
LANGUAGES = {"base.json", "en.json", "nemeth.json"}

META, DESCRIBED, CONTENT = (
    re.compile(r"<meta [^>]*>"),
    re.compile(r'name="description"'),
    re.compile(r'content="([^"]*)"'),
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    app.connect("html-page-context", present, priority=700)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def present(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Add what is shown where the page is shared: its title, its description and a picture."""
    if doctree is None:
        return
    described = next(filter(DESCRIBED.search, META.findall(context.get("metatags", ""))), "")
    told = unescape("".join(CONTENT.findall(described)))
    title = next(doctree.findall(nodes.title)).astext()
    site = app.config.html_title
    tags = {
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": site,
        "og:title": title if page == app.config.root_doc else f"{title} · {site}",
        "og:description": told,
    }
    base = app.config.html_baseurl
    if base and not app.config.course:
        picture = f"{base.rstrip('/')}/{CARD}"
        tags |= {
            "og:url": context["pageurl"],
            "og:image": picture,
            "og:image:alt": "x is used twice; two contributions add up",
        }
    lines = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in tags.items() if value]
    if "og:image" in tags:
        lines.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = "\n".join([context.get("metatags", ""), *lines, ""])


def finish(app: Sphinx, error: Exception | None) -> None:
    """Draw the card, and take out what no page loads."""
    if error is None and app.builder.format == "html":
        site = Path(app.outdir)
        if not app.config.course:  # it says what our own course is called
            draw_card(site / CARD)
        lighten(site)
        keep_icons(site)


def keep_icons(site: Path) -> None:
    """Leave in the script of icons, of which there are 2,000, those that a page or another script names."""
    scripts = site / "_static" / "scripts"
    script = scripts / "fontawesome.js"
    named: set[str] = set()
    for path in [*site.rglob("*.html"), *scripts.glob("*.js"), *(site / "_static").glob("*.js")]:
        if path != script:
            named |= set(re.findall(r"\bfa-([a-z0-9-]+)", path.read_text(encoding="utf-8")))

    def kept(icon: re.Match[str]) -> str:
        return icon[0] if named & {icon["name"], *re.findall(r"[a-z][\w-]*", icon["aliases"])} else ""

    script.write_text(ICON.sub(kept, script.read_text(encoding="utf-8")), encoding="utf-8")


def lighten(site: Path) -> None:
    """Take out source maps, what MathJax has for other pages, fonts in a second format, opaque alpha, and outputs."""
    static = site / "_static"
    mathjax = static / "mathjax"
    idle = [
        *static.rglob("*.map"),
        *static.glob("vendor/**/*.ttf"),  # each browser takes the .woff2 beside it
        *(path for path in mathjax.glob("*.js") if path.name != ENTRY),
        *(mathjax / "input").glob("*.js"),  # the formulas' language, their shapes and the menu come with tex-chtml.js
        *(mathjax / "input" / "tex").rglob("all-packages.js"),
        mathjax / "output" / "chtml.js",
        mathjax / "output" / "chtml" / "fonts" / "tex.js",
        mathjax / "ui" / "menu.js",
        *(path for path in (mathjax / "sre" / "mathmaps").glob("*") if path.name not in LANGUAGES),
    ]
    for path in idle:
        path.unlink()
    for folder in (static / "locales", mathjax / "adaptors", mathjax / "input" / "mml"):
        shutil.rmtree(folder, ignore_errors=True)
    for path in (site / "_images").glob("*.png"):
        with Image.open(path) as picture:
            if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (255, 255):
                picture.convert("RGB").save(path, optimize=True)  # the same pixels, in an eighth less
    for path in site.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        if (once := with_each_module_once(page)) != page:
            path.write_text(once, encoding="utf-8")
    for path in (site / "_sources").rglob("*.ipynb"):
        path.write_text(to_run(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")


def with_each_module_once(page: str) -> str:
    """Return a page with one copy of each script: every player brings its own, and each starts them all."""
    seen: set[str] = set()

    def kept(script: re.Match[str]) -> str:
        known = script[0] in seen
        seen.add(script[0])
        return "" if known else script[0]

    return MODULE.sub(kept, page)


def to_run(notebook: dict[str, Any]) -> str:
    """Return a chapter as one downloads it to run it: without outputs, which the page shows already."""
    for cell in notebook["cells"]:
        cell["metadata"].pop("mystnb", None)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    notebook["metadata"].pop("executed", None)
    notebook["metadata"].pop("widgets", None)
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def draw_card(path: Path) -> None:
    """Draw what stands beside a shared link: the name, the promise, and two contributions that add up."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="#234b94")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 12), ylim=(0, 6.3))
    axes.axis("off")
    axes.text(0.7, 4.9, "autodiff_edu", color="white", fontsize=44, fontweight="bold", va="center")
    axes.text(
        0.7, 3.5, "Automatic differentiation,\nstep by step", color="white", fontsize=25, va="center", linespacing=1.3
    )
    axes.text(0.7, 1.5, "Write NumPy, record it on a tape,\nand watch the gradient come back.", color="#d6e0f5",
              fontsize=17, va="center", linespacing=1.4)  # fmt: skip
    boxes = {
        "x": (8.95, 4.9, "x = 2"),
        "a": (9.95, 3.1, "a = x · y"),
        "s": (7.95, 3.1, "sin x"),
        "f": (8.95, 1.3, "a + sin x"),
    }
    for x, y, text in boxes.values():
        axes.add_patch(
            FancyBboxPatch((x - 0.72, y - 0.36), 1.44, 0.72, boxstyle="round,pad=0.06", fc="white", ec="none")
        )
        axes.text(x, y, text, ha="center", va="center", fontsize=15, color="#222832", family="monospace")
    y, x = 3.0, 2.0
    for start, end, text, side in (
        ("f", "a", "1", 1), ("f", "s", "1", -1), ("a", "x", f"{y:g}", 1), ("s", "x", f"{np.cos(x):.2f}", -1),
    ):  # fmt: skip
        (x0, y0, _), (x1, y1, _) = boxes[start], boxes[end]
        ends = (x0 + 0.35 * (x1 - x0) / 2, y0 + 0.45), (x1 - 0.35 * (x1 - x0) / 2, y1 - 0.48)
        axes.add_patch(FancyArrowPatch(*ends, arrowstyle="-|>", mutation_scale=22, lw=3, color="#f0a090"))
        axes.text(
            (x0 + x1) / 2 + 0.55 * side, (y0 + y1) / 2, text, ha="center", va="center", fontsize=17, color="#f0a090"
        )
    axes.text(
        8.95,
        5.72,
        f"{y:g} + ({np.cos(x):.2f}) = {y + np.cos(x):.2f}",
        ha="center",
        va="center",
        fontsize=20,
        color="#f0a090",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
