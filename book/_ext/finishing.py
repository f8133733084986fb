"""What the site as a whole needs once its pages are written: less to carry, and a card for where a page is shared.

A small extension for Sphinx. The site's address is `html: baseurl` in _config.yml. While it is empty, no page has a
canonical address, and a shared page has no picture, for a picture must be named by its whole address.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from docutils import nodes
from PIL import Image
from sphinx.application import Sphinx

CARD = "_static/card.png"
# Of MathJax the pages load tex-chtml.js; the rest of what is kept is what its own menu can ask for.
ENTRY = "tex-chtml.js"
DRAWN = re.compile(  # in the theme's script of icons: "name":[width,height,[aliases],"number","path"],
    r'"?(?P<name>[\w-]+)"?:\[(?P<width>\d+),(?P<height>\d+),\[(?P<aliases>[^\[\]]*)\],"[0-9a-f]+","(?P<path>[^"]*)"\]'
)
ICON = re.compile(
    r'<(?P<tag>i|span) class="(?P<classes>[^"]*\bfa-(?P<name>(?!solid|lg)[a-z-]+)[^"]*)"(?P<rest>[^>]*)></(?P=tag)>'
)
FONT = re.compile(
    r"@font-face\{[^{}]*Font Awesome[^{}]*\}|\.fa-[\w-]+:before(?:,\.fa-[\w-]+:before)*\{content:[^{}]*\}"
)
MODULE = re.compile(r'<script type="module">(.*?)</script>', re.DOTALL)
LEAST = 2_000  # bytes of a script that pages share
SEARCH = re.compile(r'<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>\s*')
WAITS = re.compile(r'<script (?=src="[^"]*_static/(?!documentation_options)|data-sd)')
PICTURE = re.compile(r'<img (?P<before>[^>]*)src="(?P<path>[^":]*_images/(?P<name>[^"]*))"')
LANGUAGES = {"base.json", "en.json", "nemeth.json"}
# Otherwise a first visit has no theme, so no colours and no borders, until the theme's script has run.
NO_THEME = 'localStorage.getItem("theme") || "auto"'
A_THEME = 'localStorage.getItem("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'
ABSTRACTS = re.compile(r"<script>const ABSTRACTS = .*?</script>\s*")

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
    told = read_description(context.get("metatags", ""))
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
        lighten_pages(site)
        drop_idle(site)


def lighten_pages(site: Path) -> None:
    """Write each page so that it loads what it shows, when it shows it: icons in it, pictures once they come near."""
    scripts = site / "_static" / "scripts"
    drawn = "".join(path.read_text(encoding="utf-8") for path in scripts.glob("fontawesome.js"))
    icons = {
        name: icon
        for icon in DRAWN.finditer(drawn)
        for name in (*re.findall(r"[a-z][\w-]*", icon["aliases"]), icon["name"])
    }
    abstracts = {}
    for path in site.rglob("*.html"):
        if not {"_static", "lab"} & set(path.relative_to(site).parts):
            page = path.read_text(encoding="utf-8")
            root = "../" * (len(path.relative_to(site).parts) - 1)
            abstracts[path.relative_to(site).with_suffix("").as_posix()] = read_description(page)
            light = with_pictures_later(with_icons(page, icons), site)
            light = light.replace(NO_THEME, A_THEME)
            light = with_scripts_beside(light, site, root)
            light = re.sub(r'\s*<script defer src="[^"]*fontawesome\.js[^"]*"></script>', "", light)
            if path.name != "search.html":  # the form of any other page leads there
                light = WAITS.sub("<script defer ", SEARCH.sub("", light))
            if light != page:
                path.write_text(light, encoding="utf-8")
    (scripts / "fontawesome.js").unlink(missing_ok=True)
    search = site / "search.html"
    told = json.dumps(abstracts, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")
    before, index, after = ABSTRACTS.sub("", search.read_text(encoding="utf-8")).partition(
        '<script src="searchindex.js'
    )
    search.write_text(f"{before}<script>const ABSTRACTS = {told};</script>\n  {index}{after}", encoding="utf-8")


def read_description(page: str) -> str:
    """Return the description in a page's head."""
    described = next(filter(DESCRIBED.search, META.findall(page)), "")
    return unescape("".join(CONTENT.findall(described)))


def with_icons(page: str, icons: dict[str, re.Match[str]]) -> str:
    """Return a page whose icons are drawn in it, rather than by a script, or before it by a font."""

    def draw(place: re.Match[str]) -> str:
        icon = icons[place["name"]]
        classes = " ".join(place["classes"].split())
        return (
            f'<svg class="icon {classes}" aria-hidden="true"{place["rest"]} viewBox="0 0 {icon["width"]} '
            f'{icon["height"]}"><path fill="currentColor" d="{icon["path"]}"/></svg>'
        )

    return ICON.sub(draw, page)


def with_pictures_later(page: str, site: Path) -> str:
    """Return a page with the room of each picture, all but the first of which are loaded once they come near."""
    first = True

    def later(place: re.Match[str]) -> str:
        nonlocal first
        if "loading=" in place[0]:  # of an earlier build
            return place[0]
        told, first = "" if first else 'loading="lazy" ', False
        path = site / "_images" / unquote(place["name"])
        if path.suffix == ".png" and "width" not in place[0]:
            with Image.open(path) as picture:
                told += 'width="{}" height="{}" '.format(*picture.size)
        return f'<img {told}{place["before"]}src="{place["path"]}"'

    return PICTURE.sub(later, page)


def with_scripts_beside(page: str, site: Path, root: str) -> str:
    """Return a page whose large scripts are files that all pages share: every player brings its own."""
    seen: set[str] = set()

    def keep(script: re.Match[str]) -> str:
        if script[1] in seen:  # each starts all players
            return ""
        seen.add(script[1])
        if len(script[1]) < LEAST:
            return script[0]
        # Browsers load no module into a page opened from a file.
        text = f"(async () => {{{script[1]}}})();\n"
        name = f"_static/scripts/{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
        (site / name).write_text(text, encoding="utf-8")
        return f'<script defer src="{root}{name}"></script>'

    return MODULE.sub(keep, page)


def drop_idle(site: Path) -> None:
    """Take out the files of the theme that no page, style or script names, and from its style what draws its icons."""
    static = site / "_static"
    style = static / "styles" / "pydata-sphinx-theme.css"
    style.write_text(FONT.sub("", style.read_text(encoding="utf-8")), encoding="utf-8")
    files = [path for path in static.rglob("*") if path.is_file() and "mathjax" not in path.relative_to(site).parts]
    told = "".join(
        path.read_text(encoding="utf-8")
        for path in [*site.glob("*.html"), *site.glob("[!_l]*/**/*.html"), *files]
        if path.suffix in (".html", ".css", ".js")
    )
    for path in files:
        if path.name not in told and path.suffix != ".txt" and path != site / CARD:  # licences
            path.unlink()


def lighten(site: Path) -> None:
    """Take out source maps, what MathJax has for other pages, fonts in a second format, opaque alpha, and outputs."""
    static = site / "_static"
    mathjax = static / "mathjax"
    idle = [
        *static.rglob("*.map"),
        *static.rglob("*macros.html"),
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
    for folder in (static / "locales", static / "vendor", mathjax / "adaptors", mathjax / "input" / "mml"):
        shutil.rmtree(folder, ignore_errors=True)
    for path in (site / "_images").glob("*.png"):
        with Image.open(path) as picture:
            if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (255, 255):
                plain = picture.convert("RGB")
                few = plain.quantize(256, dither=Image.Dither.NONE)
                apart = np.abs(np.asarray(few.convert("RGB"), int) - np.asarray(plain, int)).max()
                (few if apart <= 32 else plain).save(path, optimize=True)  # a quarter less, and nobody sees it
    for path in (site / "_sources").rglob("*.ipynb"):
        path.write_text(to_run(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")


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
