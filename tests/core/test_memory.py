"""What a tape holds, it releases: after a one-shot gradient, entry by entry, at a reset, and when it is dropped.

Arrays are counted by weak references, and garbage collection is off: what is freed was in no reference cycle.
"""

import gc
import itertools
import tracemalloc
import weakref

import numpy as np
import pytest
from cases import TABLE
from no_rule import UNRULED
from table import each, record

import autodiff_edu as ad
from autodiff_edu.explain.journal import journal

SIZE = 1000


@pytest.fixture(autouse=True)
def without_garbage_collection():
    gc.disable()
    yield
    gc.enable()


def chain(x, length=5):
    """Operations whose rules need their arguments or results; nobody else holds what lies between."""
    y = x
    for _ in range(length):
        y = np.sin(y) * y
    return y


def held_by(tape, *others):
    """Weak references to the arrays of a tape's entries, but for those that the others hold."""
    known = {id(other._array) for other in others}
    found = {id(a): a for entry in tape.entries for a in (*entry.values, entry.output_value)}
    return [weakref.ref(a) for a in found.values() if isinstance(a, np.ndarray) and id(a) not in known]


def alive(references):
    return sum(reference() is not None for reference in references)


def chained(persistent=False):
    """A tape, the source and the target of its chain, and references to the nine arrays between them."""
    x = ad.Variable(np.linspace(0.1, 0.2, SIZE))
    with ad.GradientTape(persistent=persistent) as tape:
        y = chain(x)
    references = held_by(tape, x, y)
    assert (len(references), alive(references)) == (9, 9)
    return tape, x, y, references


READINGS = {
    "gradient": lambda tape, x, y: tape.gradient(y, x),
    "gradient_of_an_unconnected_source": lambda tape, x, y: tape.gradient(y, ad.Variable(1.0)),
    "jacobian": lambda tape, x, y: tape.jacobian(y[:1] if y.ndim else y, x),
    "steps": lambda tape, x, y: list(tape.steps(y, x)) and None,
}


@pytest.mark.parametrize("reading", READINGS)
def test_a_one_shot_tape_that_was_read_leaves_no_array_alive(reading):
    tape, x, y, references = chained()
    result = READINGS[reading](tape, x, y)
    assert alive(references) == 0
    assert len(tape.entries) == 10, "the skeleton stays, for explain"
    del result


def test_a_one_shot_batch_jacobian_leaves_no_array_alive():
    x = ad.Variable(np.ones((50, 3)))
    with ad.GradientTape() as tape:
        y = chain(x)
    references = held_by(tape, x, y)
    assert alive(references) == 9
    assert tape.batch_jacobian(y, x).shape == (50, 3, 3)
    assert alive(references) == 0


def test_a_one_shot_tape_that_was_read_holds_neither_target_nor_watched_tensors():
    x = ad.constant(np.ones(SIZE))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = chain(x)
    references = [weakref.ref(x._array), weakref.ref(y._array), weakref.ref(x), weakref.ref(y)]
    assert tape.gradient(y, x).shape == (SIZE,)
    del x, y
    assert alive(references) == 0
    assert len(tape.entries) == 10


def test_an_unfinished_walk_of_a_one_shot_tape_lets_go_when_it_is_closed():
    tape, x, y, references = chained()
    walk = tape.steps(y, x)
    assert next(walk).entry is tape.entries[-1]
    assert alive(references) == 9
    walk.close()
    assert alive(references) == 0


def test_a_persistent_tape_keeps_its_arrays_until_it_is_dropped():
    tape, x, y, references = chained(persistent=True)
    assert tape.gradient(y, x).tolist() == tape.gradient(y, x).tolist()
    assert alive(references) == 9
    del tape
    assert alive(references) == 0


def test_a_tape_that_is_dropped_unread_releases_everything():
    tape, _x, _y, references = chained()
    references += [weakref.ref(tape)]
    del tape
    assert alive(references) == 0


def test_reset_lets_go():
    x = ad.Variable(np.ones(SIZE))
    with ad.GradientTape() as tape:
        y = chain(x)
        references = held_by(tape, x, y)
        assert alive(references) == 9
        tape.reset()
        assert alive(references) == 0


def test_entering_a_one_shot_tape_afresh_releases_the_skeleton():
    tape, x, y, _ = chained()
    tape.gradient(y, x)
    entries = tape.entries
    with tape:
        assert tape.entries == []
    assert len(entries) == 10


def test_a_walk_releases_each_entry_as_it_passes():
    tape, x, y, references = chained()
    seen = []

    def count(event):
        if type(event).__name__ == "PullBack":
            seen.append(alive(references))

    with ad.hook(count):
        tape.gradient(y, x)
    assert len(seen) == 10
    assert seen == sorted(seen, reverse=True)
    assert (seen[0], seen[-1]) == (9, 1)


def own(x):
    """Compute the sine of plain numbers, which leave no entries; the backward function holds an array."""
    slope = np.cos(x.numpy())
    return np.sin(x.numpy()), lambda dy: dy * slope


USERS_RULES = {
    "custom gradient": ad.custom_gradient(own),
    "checkpoint": ad.checkpoint(lambda x: np.sin(x) * x),
    "registered": np.sin,
}


@pytest.mark.parametrize("rule", USERS_RULES)
def test_a_walk_releases_each_entry_as_it_passes_also_with_rules_of_the_user_s_own(rule):
    x, seen = ad.Variable(np.linspace(0.1, 0.2, SIZE)), []

    def count(event):
        if type(event).__name__ == "PullBack" and event.tape is tape:
            seen.append((alive(references), alive(calls), event.tape.nbytes))

    with ad.register_gradient(np.sin, lambda g, y, x: g * np.cos(x), replace=True):
        with ad.GradientTape() as tape:
            y = x
            for _ in range(5):
                y = USERS_RULES[rule](y) * 2.0
        references = held_by(tape, x, y)
        calls = [weakref.ref(entry.call) for entry in tape.entries if entry.call is not None]
        with ad.hook(count):
            tape.gradient(y, x)
    arrays, functions, held = zip(*seen, strict=True)
    assert arrays == (9, 9, 8, 7, 6, 5, 4, 3, 2, 1)  # the product's factor is the output of the entry before it
    assert functions == ((5, 5, 4, 4, 3, 3, 2, 2, 1, 1) if calls else (0,) * 10)
    assert all(before > after for before, after in itertools.pairwise(held))


def test_a_gradient_takes_no_more_memory_for_a_longer_chain():
    """The arrays of a hundred entries are there already; the walk needs the room for a few, and gives back the rest."""
    x = ad.Variable(np.linspace(0.1, 0.2, 100_000))
    tracemalloc.start()
    try:
        peaks = {}
        for length in (5, 50):
            with ad.GradientTape() as tape:
                y = chain(x, length)
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            tape.gradient(y, x)
            after, peak = tracemalloc.get_traced_memory()
            peaks[length] = (peak - before) / x._array.nbytes
            assert before - after > 1.7 * length * x._array.nbytes
    finally:
        tracemalloc.stop()
    assert peaks[50] < peaks[5] + 1 < 8


def test_higher_derivatives_leave_nothing_behind():
    x = ad.Variable(np.linspace(0.1, 0.2, SIZE))
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = chain(x)
        slope = inner.gradient(y, x)
    references = held_by(outer, x, y, slope)
    assert alive(references) > 20
    assert outer.gradient(slope, x).shape == (SIZE,)
    assert alive(references) == 0


def train(steps):
    w, x = ad.Variable(np.ones(50)), np.ones((20, 50))
    for _ in range(steps):
        with ad.GradientTape() as tape:
            loss = np.sum(chain(np.tanh(x @ w), 10))
        w.assign_sub(0.01 * tape.gradient(loss, w))


def test_a_thousand_tapes_in_a_loop_do_not_grow_memory():
    """After the first thousand, by when what is kept of the latest operations, for explain, has reached its size."""
    journal.clear()  # its lines are not traced, nor are those that take their room
    gc.collect()
    tracemalloc.start()
    try:
        train(1000)
        gc.collect()  # it empties Python's stocks of tuples and numbers, too
        before, _ = tracemalloc.get_traced_memory()
        train(1000)
        in_cycles = gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert in_cycles == 0
    assert after - before < 20 * 1000, f"{(after - before) / 1000} bytes per tape"


def test_a_thousand_tapes_leave_no_tape_and_no_entry_alive():
    gc.collect()
    train(1000)
    left = [thing for thing in gc.get_objects() if isinstance(thing, ad.GradientTape | ad.Entry)]
    assert left == []


def held(tape):
    """How many things a tape holds in its lists, sets and dicts."""
    return sum(len(value) for value in vars(tape).values() if hasattr(value, "__len__"))


def test_a_one_shot_tape_that_is_entered_again_and_again_does_not_grow():
    """It may remember some of its past, for explain, but not all of it."""
    w, tape, sizes = ad.Variable(np.ones(50)), ad.GradientTape(), []
    for _ in range(60):
        with tape:
            y = chain(w)
        with tape, tape.stop_recording():
            pass
        assert tape.gradient(y, w).shape == (50,)
        sizes.append(held(tape))
    assert len(set(sizes[30:])) == 1


def test_a_tape_that_is_reset_again_and_again_does_not_grow():
    """It may remember some of its past, for explain, but not all of it."""
    sizes = []
    with ad.GradientTape(persistent=True) as tape:
        for _ in range(3000):
            x = ad.constant(1.0)
            tape.watch(x)
            assert float(x * 2.0) == 2.0
            tape.reset()
            sizes.append(held(tape))
    assert sizes[-1] == sizes[1500]


def fail_in_the_block(references):
    x = ad.Variable(np.ones(SIZE))
    with ad.GradientTape() as tape:
        y = chain(x)
        references += [*held_by(tape), weakref.ref(tape), weakref.ref(y)]
        raise KeyError("boom")


def fail_in_the_walk(references):
    x = ad.Variable(np.ones(SIZE))
    with ad.GradientTape() as tape:
        y = chain(UNRULED(chain(x)))
    references += [*held_by(tape), weakref.ref(tape), weakref.ref(y)]
    tape.gradient(y, x)


def fail_in_a_pause(references):
    x = ad.Variable(np.ones(SIZE))
    with ad.GradientTape() as tape:
        y = chain(x)
        references += [*held_by(tape), weakref.ref(tape), weakref.ref(y)]
        with tape.stop_recording():
            raise KeyError("boom")


def fail_with_wrong_sources(references):
    x = ad.Variable(np.ones(SIZE))
    with ad.GradientTape() as tape:
        y = chain(x)
    references += [*held_by(tape), weakref.ref(tape), weakref.ref(y)]
    tape.gradient(y, [x, None])


FAILURES = [fail_in_the_block, fail_in_the_walk, fail_in_a_pause, fail_with_wrong_sources]


@pytest.mark.parametrize("failure", FAILURES)
def test_an_exception_leaves_no_reference_cycle(failure):
    references = []
    try:
        failure(references)
    except (KeyError, LookupError, TypeError):
        pass
    else:
        pytest.fail("it did not fail")
    assert len(references) > 10
    assert alive(references) == 0


def test_what_a_tensor_holds_goes_with_it():
    x = ad.constant(np.ones(SIZE))
    references = [weakref.ref(x), weakref.ref(x._array)]
    y = np.sin(x)
    del x
    assert alive(references) == 0
    assert y.shape == (SIZE,)


@each(TABLE)
def test_an_operation_and_its_gradient_leave_no_reference_cycle(case):
    tape, tensors, y = record(case.function, *case.arguments())
    tape.gradient(y, tensors)
    things = [*tensors, y, tape]
    references = [weakref.ref(thing) for thing in things]
    del tape, tensors, y, things
    assert alive(references) == 0


@pytest.mark.parametrize("reading", ["gradient", "none"])
def test_a_custom_gradient_releases_what_its_backward_held(reading):
    references = []

    @ad.custom_gradient
    def f(x):
        kept = np.exp(x)
        references.extend([weakref.ref(kept), weakref.ref(kept._array)])
        return np.log(1 + kept), lambda g: g * kept

    x = ad.Variable(np.ones(SIZE))
    with ad.GradientTape() as tape:
        y = f(x)
    assert alive(references) == 2
    if reading == "gradient":
        assert tape.gradient(y, x).shape == (SIZE,)
    else:
        del tape
    assert alive(references) == 0


def test_a_custom_gradient_on_no_tape_holds_nothing():
    references = []

    @ad.custom_gradient
    def f(x):
        kept = np.exp(x)
        references.append(weakref.ref(kept))
        return np.log(1 + kept), lambda g: g * kept

    assert f(ad.constant(np.ones(SIZE))).shape == (SIZE,)
    assert len(references) == 1
    assert alive(references) == 0


def test_functions_to_functions_leave_nothing_behind():
    references = []

    def f(x):
        inside = np.exp(x)
        references.append(weakref.ref(inside))
        return np.sum(inside * x)

    for transform in (ad.grad(f), ad.value_and_grad(f), ad.jacobian(f), ad.hessian(f)):
        transform(np.ones(5))
    ad.jvp(f, (np.ones(5),), (np.ones(5),))
    ad.hvp(f, (np.ones(5),), (np.ones(5),))
    ad.vjp(f, np.ones(5))
    assert len(references) >= 7
    assert alive(references) == 0


class Kept(np.ndarray):
    """An array that can be watched for its end."""


def test_a_one_shot_tape_releases_its_arrays_and_a_persistent_one_keeps_them():
    for persistent in (False, True):
        base = np.array([1.0, 2.0])
        base.flags.writeable = False
        array = base.view(Kept)
        end = weakref.ref(array)
        x = ad.Variable([1.0, 2.0])
        with ad.GradientTape(persistent=persistent) as tape:
            y = np.sum(x * array)
        del array
        gc.collect()
        assert end() is not None
        tape.gradient(y, x)
        gc.collect()
        assert (end() is None) is not persistent
        assert len(tape.entries) == 2, "the skeleton of a released tape stays"


def test_a_released_tape_can_still_be_printed():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    assert "released" in str(tape)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.entries[0].inputs  # noqa: B018
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.entries[0].output  # noqa: B018


def test_recording_makes_no_reference_cycles():
    gc.collect()
    gc.disable()
    try:
        x = ad.Variable([1.0])
        for persistent in (False, True):
            with ad.GradientTape(persistent=persistent) as tape:
                y = np.sum(np.sin(x) * x)
            end = weakref.ref(tape)
            tape.gradient(y, x)
            del tape
            assert end() is None
    finally:
        gc.enable()


def test_an_array_is_copied_only_for_a_tape_that_follows_something():
    big, c = np.ones(1_000_000), ad.constant(2.0)

    def peak(watched):
        with ad.GradientTape() as tape:
            if watched:
                tape.watch(c)
            tracemalloc.start()
            try:
                y = c * big
                return tracemalloc.get_traced_memory()[1], y
            finally:
                tracemalloc.stop()

    assert peak(watched=False)[0] < 1.5 * big.nbytes, "the product alone"
    assert peak(watched=True)[0] > 1.9 * big.nbytes, "the product, and the copy that the tape needs"
