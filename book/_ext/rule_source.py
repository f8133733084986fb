"""Shows the files of the rules, with a target at each rule that the rule book links to.

A small extension for Sphinx: the directive `rule-source` takes the name of a file.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sources import FOLDER, sources
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class RuleSource(SphinxDirective):
    """Show a file with its line numbers, every line of which can be linked to."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the lines, and note the labels of the rules among them."""
        path = FOLDER / self.arguments[0]
        self.env.note_dependency(str(path))
        for label, (file, line) in sources().items():
            if file == path.name:
                self.env.get_domain("std").note_hyperlink_target(label, self.env.docname, f"{path.stem}-{line}")
        formatter = HtmlFormatter(linenos="inline", lineanchors=path.stem, wrapcode=True)
        html = highlight(path.read_text(encoding="utf-8"), PythonLexer(), formatter)
        return [nodes.raw("", f'<div class="highlight-python notranslate">{html}</div>', format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("rule-source", RuleSource)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
