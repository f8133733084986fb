"""A question that the reader answers in the page: HTML that needs no kernel.

js/prediction.js draws it. Its content is {question, asks, choices, sealed, css}: `asks` is "number", "shape" or
"choice" (among `choices`), and `sealed` is base64 of JSON, {right, hints, why, within}, so that nobody reads the answer
in the page or in the notebook by accident. Answers stand there as they are typed; `hints` has them by the wrong answer.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .bundle import PREDICTION, script, style

FRAGMENT = """\
<div data-autodiff-prediction data-lm-suppress-shortcuts="true">
<p><strong>Predict:</strong> {question}</p>
{choices}<p style="height: 2.5em; border-bottom: 1px solid"></p>
<script type="application/json">{content}</script>
<script type="module">
{script}
</script>
</div>
"""


def seal(question: str, asks: str, choices: Sequence[str], **answer: Any) -> dict[str, Any]:
    """Return the content of a question, with what belongs to its answer made unreadable.

    Examples
    --------
    >>> content = seal("What is 2 + 2?", "number", (), right="4", hints={}, why="It is.", within=0.01)
    >>> content["question"], "4" in content["sealed"]
    ('What is 2 + 2?', False)
    """
    sealed = base64.b64encode(json.dumps(answer).encode()).decode()
    return {"question": question, "asks": asks, "choices": list(choices), "sealed": sealed, "css": style(PREDICTION)}


def bundle(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the forms in which a cell shows a question.

    Parameters
    ----------
    content
        As `seal` returns it.

    Returns
    -------
    dict
        By MIME type: text and HTML. The same content always gives the same bundle.

    Examples
    --------
    >>> bundle(seal("What is `2 + 2`?", "choice", ("4", "5"), right="4", hints={}, why="It is."))["text/plain"]
    'Predict: What is `2 + 2`?'
    """
    return {"text/plain": f"Predict: {content['question']}", "text/html": fragment(content)}


def fragment(content: Mapping[str, Any]) -> str:
    """Return a question that starts itself, wherever on a page it is put; where no script runs, it can be read."""
    items = "".join(f"<li>{_write_html(choice)}</li>" for choice in content["choices"])
    return FRAGMENT.format(
        question=_write_html(content["question"]),
        choices=f"<ul>{items}</ul>\n" if items else "",
        # A "</script>" in a question would otherwise end the data and become markup.
        content=json.dumps(content).replace("<", "\\u003c"),
        script=script("prediction").strip(),
    )


def _write_html(text: str) -> str:
    """Write a text as HTML, with what stands in backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))
