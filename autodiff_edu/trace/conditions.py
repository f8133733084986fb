r"""Sentences about which way the user's code went, read off the line that ran next.

>>> statement = ast.parse("if x > 1:\n    y = 2").body[0]
>>> condition(statement, 2)
'x > 1 is True, so the block below runs'
"""

from __future__ import annotations

import ast

from ..text.statements import end_of_head, written_as


def condition(statement: ast.If | ast.While, following: int) -> str:
    """Describe which way a condition went: into its block, if the next line is there."""
    test, truth = statement.test, is_in(following, statement.body)
    exact = isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    text = f"{written_as(test) or 'the condition'} {'is' if exact else 'counts as'} {truth}"
    if isinstance(statement, ast.While):
        return f"{text}, so the loop's block runs" if truth else f"{text}, so the loop ends"
    if truth:
        return f"{text}, so the block below runs"
    otherwise = statement.orelse
    if len(otherwise) == 1 and isinstance(otherwise[0], ast.If) and otherwise[0].col_offset == statement.col_offset:
        return f"{text}, so the next condition is tried"
    return f"{text}, so {'the else block runs' if otherwise else 'the block is skipped'}"


def find_block_left_out(statement: ast.If | ast.While, following: int) -> tuple[int, int] | None:
    """Return the first and the last line of the block that an `if` leaves out, unless it is on the line of the `if`."""
    block = statement.orelse if is_in(following, statement.body) else statement.body
    if isinstance(statement, ast.While) or not block or block[0].lineno == statement.lineno:
        return None
    return block[0].lineno, block[-1].end_lineno or block[-1].lineno


def describe_match(statement: ast.Match, following: int) -> str:
    """Describe which pattern matched: the one whose block the next line is in; unknown if that is on the same line."""
    subject = written_as(statement.subject) or "the subject"
    for case in statement.cases:
        if is_in(following, case.body):
            guard = f" if {ast.unparse(case.guard)}" if case.guard else ""
            return f"{subject} matches {written_as(case.pattern) or 'the pattern'}{guard}, so the block below it runs"
    known = all(case.body[0].lineno > end_of_head(case) for case in statement.cases)
    return f"no case applies to {subject}, so every block is skipped" if known else ""


def is_in(line: int, block: list[ast.stmt]) -> bool:
    """Return whether a line is one of a block's."""
    return block[0].lineno <= line <= (block[-1].end_lineno or 0)
