"""A learner's program, run so that `explain` knows its lines; and what every explanation can do."""

import json
import linecache
import re
import textwrap
from itertools import count

import autodiff_edu as ad

numbers = count(1)

HEAD = """
import threading
import numpy as np, autodiff_edu as ad
x, v = ad.constant(3.0), ad.Variable(2.0)
"""


def run(program):
    """Run a program whose source is known by line; a comment #1, #2 ... marks the lines that a test asks for."""
    source = HEAD + textwrap.dedent(program)
    name = f"<learner{next(numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {}
    exec(compile(source, name, "exec"), scope)
    scope["marked"] = {
        line.rsplit("#", 1)[1].strip(): number
        for number, line in enumerate(source.splitlines(), 1)
        if re.search(r"#\d+$", line)
    }
    return scope


def check_shows(explanation):
    """Every explanation can be printed, shown in a notebook, played, and written as a trace."""
    assert str(explanation) == str(explanation)
    assert repr(explanation).startswith("Explanation(")
    assert all(len(sentence) < 400 for sentence in str(explanation).splitlines())
    assert str(explanation).count("the the") == 0
    transcript = explanation.trace().transcript()
    for cause in explanation.causes:
        assert cause.text in transcript
    json.loads(explanation.trace().to_json())
    assert "text/html" in ad.play(explanation)._repr_mimebundle_()
    html = explanation._repr_html_()
    assert "<script" not in html
    assert html.startswith("<div>")
