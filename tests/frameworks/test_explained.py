"""What the notes say about the programs that people post about PyTorch."""

import linecache
import warnings
from itertools import count

import pytest
from mistakes import MISTAKES

import autodiff_edu as ad

pytestmark = pytest.mark.torch

numbers = count(1)


def run(code, scope=None):
    """Run a program whose source is known by line, without the warnings of PyTorch's; return its names."""
    name, scope = f"<post{next(numbers)}>", {} if scope is None else scope
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, name, "exec"), scope)
    return scope


def holds(expression, scope):
    """Whether an expression is true of a program's names."""
    return run(f"true = bool({expression})", dict(scope))["true"]


def explain(mistake):
    """Run a program in a trace; return the note on its error, or what explain says."""
    scope = {}
    if mistake.error:
        with pytest.raises(Exception, match=".") as raised, ad.trace():
            run(mistake.code, scope)
        return "\n".join(getattr(raised.value, "__notes__", ()))
    with ad.trace() as steps:
        run(mistake.code, scope)
    return str(run(f"why = steps.explain({mistake.asked})", scope | {"steps": steps})["why"])


each = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)


@each
def test_the_program_goes_wrong_as_described(mistake):
    scope = {}
    if mistake.error:
        with pytest.raises(Exception, match=".") as raised:
            run(mistake.code, scope)
        assert f"{type(raised.value).__name__}: {raised.value}".startswith(mistake.error)
    else:
        assert holds(mistake.silent, run(mistake.code, scope))


@each
def test_the_note_names_the_line_and_the_repair(mistake):
    note = explain(mistake)
    assert f"line {mistake.line}: " in note
    for words in mistake.note:
        assert words in note
    assert "{" not in note
    assert all(len(sentence) < 400 for sentence in note.splitlines())


@each
def test_the_repaired_program_trains_what_it_should(mistake):
    assert holds(mistake.holds, run(mistake.repaired))


@each
def test_a_trace_changes_nothing_and_has_no_advice_for_the_repaired_program(mistake):
    with ad.trace() as steps:
        scope = run(mistake.repaired)
    assert holds(mistake.holds, scope)
    if mistake.asked:
        why = str(run(f"why = steps.explain({mistake.asked})", scope | {"steps": steps})["why"])
        assert "But note:" not in why
        assert "misses" not in why


def test_every_mistake_has_a_name_of_its_own():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 30
