"""A drill on paper: two A4 pages of programs with room to write, and a page with the answers."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

SHEET = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
@page {{ size: A4; margin: 14mm 15mm; }}
:root {{ color-scheme: only light; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: #fff; color: #000; font: 10.5pt/1.35 system-ui, sans-serif; }}
section {{ width: 180mm; margin: 0 auto; }}
header {{ display: flex; justify-content: space-between; align-items: baseline; gap: 6mm; padding-bottom: 2mm; }}
h1, h2, p, pre, ol {{ margin: 0; }}
h1 {{ font-size: 13pt; }}
h2 {{ font-size: 10.5pt; }}
.fields {{ white-space: nowrap; }}
.about {{ padding-bottom: 3mm; }}
.programs {{ height: 268mm; display: flex; flex-direction: column; break-after: page; }}
.rows {{ flex: 1; display: grid; grid-template-columns: fit-content(128mm) minmax(52mm, 1fr); column-gap: 5mm;
  grid-auto-rows: 1fr; }}
article {{ display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; grid-template-rows: auto 1fr;
  border-top: 0.3mm solid #000; padding: 2mm 0 3mm; break-inside: avoid; }}
article h2 {{ grid-column: 1 / -1; padding-bottom: 1.5mm; }}
pre {{ font: {size}pt/1.35 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }}
pre span {{ display: block; padding-left: 4ch; text-indent: -4ch; }}
.room {{ border: 0.2mm solid #999; display: flex; align-items: end; padding: 2mm; }}
.line {{ flex: 1; border-bottom: 0.2mm solid #000; }}
.answers {{ break-inside: avoid; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: 1.2mm 6mm 1.2mm 0; border-bottom: 0.2mm solid #999; }}
@media screen {{ section {{ margin: 10mm auto; }} }}
</style>
</head>
<body>
{pages}
</body>
</html>
"""

PROGRAMS = """\
<section class="programs">
<header>
<h1>{title}</h1>
<p class="fields">Name ________________________ &nbsp; page {number} of {count}</p>
</header>
<p class="about">{about}</p>
<div class="rows">
{rows}
</div>
</section>"""

ROW = """\
<article>
<h2>{number}. {question}</h2>
<pre>{lines}</pre>
<div class="room">Answer:&nbsp;<span class="line"></span></div>
</article>"""

ANSWERS = """\
<section class="answers">
<header>
<h1>{title}: answers</h1>
</header>
<table>
<thead><tr><th>Program</th><th>Question</th><th>Answer</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</section>"""

ON_A_PAGE = 5
LONG = 60
"""Characters of a line for which the letters are smaller, so that few lines need a second one."""


class Asked(NamedTuple):
    """One program of a sheet.

    Attributes
    ----------
    question, answer : str
        What is asked, and the answer.
    lines : sequence of str
        The program.
    """

    question: str
    answer: str
    lines: Sequence[str]


def sheet(title: str, about: str, asked: Sequence[Asked]) -> str:
    """Return a page to print: the programs with room to write, and the answers on a page of their own.

    Examples
    --------
    >>> page = sheet("Level 1", "Scalars", [Asked("What number is y?", "6", ["y = 2.0 * 3.0"])] * 10)
    >>> page.count("<section"), page.count("<article")
    (3, 10)
    """
    rows = [
        ROW.format(
            number=k,
            question=html.escape(each.question),
            lines="".join(f"<span>{html.escape(line)}</span>" for line in each.lines),
        )
        for k, each in enumerate(asked, 1)
    ]
    parts = [rows[k : k + ON_A_PAGE] for k in range(0, len(rows), ON_A_PAGE)]
    title, about = html.escape(title), html.escape(about)
    pages = [
        PROGRAMS.format(title=title, about=about, number=k, count=len(parts), rows="\n".join(part))
        for k, part in enumerate(parts, 1)
    ]
    answers = "\n".join(
        f"<tr><td>{k}</td><td>{html.escape(each.question)}</td><td>{html.escape(each.answer)}</td></tr>"
        for k, each in enumerate(asked, 1)
    )
    pages.append(ANSWERS.format(title=title, rows=answers))
    size = 8.5 if any(len(line) > LONG for each in asked for line in each.lines) else 9.5
    return SHEET.format(title=title, size=size, pages="\n".join(pages))
