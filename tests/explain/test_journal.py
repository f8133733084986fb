"""The journal knows what was computed lately, on a tape or not, for `explain`: the latest lines, and no array."""

import gc
import threading
import weakref

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.explain.journal import KEPT, journal


def words():
    """What the journal has lines of: names of operations, and words for all else."""
    return [getattr(line.operation, "__name__", line.operation) for line in journal.lines()]


def test_every_operation_leaves_a_line_whether_or_not_a_tape_looks():
    x = ad.Variable(2.0)
    np.sin(x)
    with ad.GradientTape() as tape:
        x * x
        with tape.stop_recording():
            x + x
    assert [word for word in words() if word != "made"] == ["sin", "multiply", "add"]


def test_a_line_says_from_what_to_what_when_where_and_in_which_thread():
    x = ad.constant(2.0)
    y = x * 3.0
    line = journal.lines()[-1]
    assert (line.operation, line.ids, line.output_id) == (np.multiply, (x._id, None), y._id)
    assert line.where[0].co_name == "test_a_line_says_from_what_to_what_when_where_and_in_which_thread"
    assert line.thread == threading.get_ident()
    made = journal.lines()[-2]
    assert (made.operation, made.output_id) == ("made", x._id)
    assert made.time < line.time


@pytest.mark.parametrize(
    ("leave", "word"),
    [(lambda x: x.numpy(), "numpy()"), (float, "float()"), (lambda x: x.item(), "item()"), (bool, "bool()")],
)
def test_what_leaves_for_plain_numbers_leaves_a_line(leave, word):
    x = ad.constant(2.0)
    leave(x)
    line = journal.lines()[-1]
    assert (line.operation, line.ids) == (word, (x._id,))


def test_assignments_and_derivatives_leave_lines():
    x, w = ad.Variable(2.0), ad.Variable(1.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
    before = len(words())
    tape.gradient(y, [x, w])
    assert words()[before:].count("gradient") == 1, "none for the one that is None"
    x.assign(y)
    assert "assign" in words()[before:]


def test_the_latest_lines_are_kept_and_the_oldest_go():
    x = ad.constant(1.0)
    first = x * 2.0
    for _ in range(KEPT):
        x * 1.0
    assert len(journal.lines()) == KEPT
    assert first._id not in {line.output_id for line in journal.lines()}


def test_explain_works_with_a_full_journal_and_says_what_is_too_long_ago():
    x, w = ad.Variable(1.0, name="x"), ad.Variable(2.0, name="w")
    early = x * 2.0
    for _ in range(KEPT):
        w * 1.0
    late = x * 3.0
    with ad.GradientTape() as tape:
        y, z = early * w, late * w
    (cause,) = tape.explain(z, x).causes
    assert (cause.kind, cause.operation) == ("before", "multiply")
    assert not tape.explain(y, x)
    assert [cause.kind for cause in tape.explain(y, x).causes] == ["not used"], "nobody remembers it"
    for _ in range(KEPT):
        w * 1.0
    assert f"only the latest {KEPT} are remembered" in str(tape.explain(y, x))


def test_the_journal_holds_no_array_and_no_tensor():
    gc.collect()
    gc.disable()
    try:
        x = ad.constant(np.ones(1000))
        y = x * 2.0
        ends = [weakref.ref(x), weakref.ref(y), weakref.ref(y._array)]
        del x, y
        assert [end() for end in ends] == [None] * 3
    finally:
        gc.enable()


def test_lines_of_another_thread_say_so():
    x, results = ad.Variable(1.0, name="x"), []
    with ad.GradientTape() as tape:
        thread = threading.Thread(target=lambda: results.append(x * 2.0))
        thread.start()
        thread.join()
        y = results[0] * 1.0
    assert journal.lines()[-2].thread != threading.get_ident()
    assert [cause.kind for cause in tape.explain(y, x).causes] == ["another thread"]


def test_what_is_computed_in_a_hook_is_remembered():
    kept = []

    def compute(event):
        if type(event).__name__ == "Record" and not kept:
            kept.append(event.entry.output * 2.0)

    with ad.hook(compute), ad.GradientTape() as tape:
        x = ad.Variable(3.0, name="x")
        _ = x * x
        w = kept[0] * 3.0
    (cause,) = tape.explain(w, x).causes
    assert cause.operation == "multiply"
    assert cause.kind != "not used"


def test_what_is_computed_while_a_function_is_saved_is_remembered(path):
    kept = []

    def function(x):
        kept.append(x * 2.0)
        return x * 3.0

    ad.save(function, path, 1.0)
    assert "multiply" in words()
