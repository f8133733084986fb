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
    truth = is_in(following, statement.body)
    text = _describe_truth(statement, truth)
    if isinstance(statement, ast.While):
        return f"{text}, so the loop's block runs" if truth else f"{text}, so the loop ends"
    if truth:
        return f"{text}, so the block below runs"
    otherwise = statement.orelse
    if len(otherwise) == 1 and isinstance(otherwise[0], ast.If) and otherwise[0].col_offset == statement.col_offset:
        return f"{text}, so the next condition is tried"
    return f"{text}, so {'the else block runs' if otherwise else 'the block is skipped'}"


def _describe_truth(statement: ast.If | ast.While, truth: bool) -> str:
    test = statement.test
    exact = isinstance(test, ast.Compare) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    return f"{written_as(test) or 'the condition'} {'is' if exact else 'counts as'} {truth}"


def describe_jump(statement: ast.If, loop: ast.For | ast.While | None, following: int) -> str:
    r"""Describe whether the jump on the line of an `if` left a turn of a loop; empty if the next line does not show it.

    >>> loop = ast.parse("for k in range(9):\n    if k == 3: continue\n    print(k)").body[0]
    >>> describe_jump(loop.body[0], loop, 1)
    'k == 3 is True, so the rest of this turn is skipped'
    """
    (jump,) = statement.body
    if loop is None or not _is_inside(statement, loop.body):
        return ""
    first, last = loop.body[0].lineno, loop.body[-1].end_lineno or 0
    starts_anew, goes_on = loop.lineno <= following <= first, (jump.end_lineno or 0) < following <= last
    if isinstance(jump, ast.Continue):
        known = goes_on or (starts_anew and not _is_inside(statement, loop.body, last=True))
    else:
        known = goes_on or starts_anew or not loop.lineno <= following <= last
    truth = not goes_on and (isinstance(jump, ast.Continue) or not starts_anew)
    left = "the rest of this turn is skipped" if isinstance(jump, ast.Continue) else "the loop ends here"
    return f"{_describe_truth(statement, truth)}, so {left if truth else 'the turn goes on'}" if known else ""


def _is_inside(statement: ast.stmt, block: list[ast.stmt], last: bool = False) -> bool:
    """Return whether a statement is in a block, or in that of an `if` in it; if `last`, whether nothing follows it.

    One within a `with` or a `try` is not: the line of that may come next.
    """
    return any(
        each is statement
        or (isinstance(each, ast.If) and any(_is_inside(statement, b, last) for b in (each.body, each.orelse)))
        for each in block[-last:]
    )


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
