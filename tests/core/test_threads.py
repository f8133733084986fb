"""A tape records the thread, or the task of asyncio, that entered it, and no other thread may change it meanwhile."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import now
from autodiff_edu.trace.scopes import opened


def elsewhere(work):
    """Run something in another thread, to its end: its result, or its error; and no tape is left recording there."""

    def checked():
        try:
            return work()
        finally:
            assert now().followers == ()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(checked).result()


def use(tape):
    """Enter a tape and compute something."""
    with tape:
        return ad.constant(1.0) * 2.0


def pause(tape):
    with tape.stop_recording():
        pass


# Whose tape it is ---------------------------------------------------------------------------------------------------


def test_operations_in_another_thread_are_not_recorded():
    x, c = ad.Variable(3.0), ad.constant(2.0)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = elsewhere(lambda: c * x)
        assert tape.entries == []
        assert tape.watched_variables() == ()
        z = y * x
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, c) is None
    assert tape.gradient(z, x).tolist() == 6.0


def test_a_tape_of_another_thread_does_not_record_this_one():
    x = ad.Variable(3.0)
    entered, done = threading.Event(), threading.Event()

    def record():
        with ad.GradientTape() as tape:
            y = x * x
            entered.set()
            assert done.wait(10)
        return tape.gradient(y, x).tolist(), len(tape.entries)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(record)
        assert entered.wait(10)
        assert now().followers == ()
        assert (x * x * x).tolist() == 27.0
        done.set()
        assert future.result() == (6.0, 1)


def test_every_thread_has_tapes_of_its_own():
    x = ad.Variable(3.0)
    together = threading.Barrier(4)

    def work(power):
        with ad.GradientTape() as tape:
            together.wait(10)
            y = x**power
            together.wait(10)
        return tape.gradient(y, x).tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, (1, 2, 3, 4))) == [1.0, 6.0, 27.0, 108.0]


def test_nested_tapes_in_one_thread_are_not_seen_by_another():
    x = ad.Variable(2.0)

    def second_derivative():
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x**3
            slope = inner.gradient(y, x)
        return outer.gradient(slope, x).tolist()

    with ad.GradientTape() as tape:
        y = x * 5.0
        assert elsewhere(second_derivative) == 12.0
        assert now().followers == (tape,)
    assert tape.gradient(y, x).tolist() == 5.0
    assert len(tape.entries) == 1


def test_a_hook_hears_its_own_thread_only():
    x, seen = ad.Variable(3.0), []
    with ad.hook(seen.append), ad.GradientTape():
        elsewhere(lambda: use(ad.GradientTape()) * x)
    assert seen == []


def test_a_tape_that_was_left_may_be_entered_in_another_thread():
    x, tape = ad.Variable(3.0), ad.GradientTape()
    with tape:
        y = x * x

    def go_on():
        with tape:
            return y * x

    assert tape.gradient(elsewhere(go_on), x).tolist() == 27.0


def test_tasks_that_take_turns_each_get_their_own_gradient():
    x = ad.Variable(2.0)

    async def task(k):
        with ad.GradientTape() as tape:
            y = x * k
            await asyncio.sleep(0)
            y = y * x
            await asyncio.sleep(0)
        return float(tape.gradient(y, x))

    async def main():
        return await asyncio.gather(*(task(k) for k in (1.0, 2.0, 3.0)))

    assert asyncio.run(main()) == [4.0, 8.0, 12.0]


# Whose tape it is, where tasks take turns ----------------------------------------------------------------------------


def test_tasks_that_take_turns_share_no_tape_no_hook_and_no_scope():
    x = ad.Variable(2.0, name="x")

    async def task(k):
        seen = []
        with ad.GradientTape() as tape, ad.hook(seen.append), ad.scope(f"task {k}"):
            for _ in range(k):
                await asyncio.sleep(0)
                _ = x * float(k)
                assert now().followers == (tape,)
                assert sum(isinstance(one, ad.hook) for one in now().listeners) == 1
                assert opened.names == (f"task {k}",)
        return [
            [float(entry.values[1]) for entry in entries] for entries in (tape.entries, [e.entry for e in seen[1:]])
        ]

    async def main():
        return await asyncio.gather(*map(task, (1, 2, 3)))

    assert asyncio.run(main()) == [[[float(k)] * k] * 2 for k in (1, 2, 3)]


def test_a_task_does_not_hear_the_one_that_awaits_beside_it():
    x = ad.Variable(2.0)

    async def record():
        with ad.GradientTape() as tape:
            await asyncio.sleep(0.01)
        return tape

    async def compute():
        await asyncio.sleep(0)
        return [x * 1.0 for _ in range(5)]

    async def main():
        tape, _ = await asyncio.gather(record(), compute())
        return len(tape.entries), now().followers

    assert asyncio.run(main()) == (0, ())


def test_what_a_block_starts_and_awaits_is_recorded_task_or_thread():
    x = ad.Variable(2.0)

    async def square(y):
        await asyncio.sleep(0)
        return y * y

    async def main():
        with ad.GradientTape(persistent=True) as tape:
            a, b = await asyncio.gather(square(x), square(x * 3.0))
            y = await asyncio.to_thread(lambda: a * b)
        return float(tape.gradient(y, x)), len(tape.entries)

    assert asyncio.run(main()) == (9.0 * 4 * 8.0, 4)


def test_a_task_that_outlives_the_block_is_not_recorded_after_it():
    x = ad.Variable(2.0)

    async def later(left):
        await left.wait()
        _ = x * x
        with ad.GradientTape() as own:
            y = x * x
        return now().followers, float(own.gradient(y, x))

    async def main():
        left = asyncio.Event()
        with ad.GradientTape() as tape:
            task = asyncio.create_task(later(left))
            await asyncio.sleep(0)
        left.set()
        return await task, len(tape.entries)

    (followers, slope), entries = asyncio.run(main())
    assert (slope, entries) == (4.0, 0)
    assert not any(tape._recording for tape in followers)


def test_a_tape_that_a_task_used_up_records_no_more_in_the_task_that_entered_it():
    x = ad.Variable(2.0)

    async def pull_back(tape, y):
        return float(tape.gradient(y, x))

    async def main():
        with ad.GradientTape() as tape:
            slope = await asyncio.create_task(pull_back(tape, x * x))
            _ = x * 5.0
        return slope, len(tape.entries)

    assert asyncio.run(main()) == (4.0, 1)


# Differentiating elsewhere ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("persistent", [False, True])
def test_a_gradient_may_be_asked_for_in_another_thread(persistent):
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape(persistent) as tape:
        y = x * x
    assert elsewhere(lambda: tape.gradient(y, x)).tolist() == [6.0, 2.0]
    assert now().followers == ()


def test_a_jacobian_and_steps_may_be_asked_for_in_another_thread():
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
    assert elsewhere(lambda: tape.jacobian(y, x)).tolist() == [[6.0, 0.0], [0.0, 2.0]]
    assert len(elsewhere(lambda: list(tape.steps(y, x)))) == 1


def test_a_gradient_in_another_thread_is_recorded_by_the_tapes_of_that_thread():
    x = ad.Variable(2.0)
    with ad.GradientTape() as inner:
        y = x**3

    def second_derivative():
        with ad.GradientTape() as outer:
            outer.watch(x)
            slope = inner.gradient(y, x)
        return outer.gradient(slope, x).tolist()

    with ad.GradientTape() as here:
        assert elsewhere(second_derivative) == 12.0
    assert here.entries == []


def test_a_persistent_tape_gives_the_same_gradient_to_many_threads_at_once():
    x = ad.Variable(np.linspace(0.1, 1.0, 50))
    with ad.GradientTape(persistent=True) as tape:
        y = x
        for _ in range(20):
            y = np.sin(y) * x
    expected, together = tape.gradient(y, x).tolist(), threading.Barrier(8)

    def work(_):
        together.wait(10)
        return [tape.gradient(y, x).tolist() == expected for _ in range(25)]

    with ThreadPoolExecutor(8) as pool:
        assert all(all(same) for same in pool.map(work, range(8)))


def test_eight_threads_take_two_hundred_gradients_each_at_once():
    w = ad.Variable(np.linspace(-1.0, 1.0, 10))
    together = threading.Barrier(8)

    def work(k):
        together.wait(10)
        found = []
        for i in range(200):
            scale = 1.0 + k + i / 100
            with ad.GradientTape() as tape:
                loss = np.sum(np.sin(w * scale) * w)
            found.append(tape.gradient(loss, w).numpy())
        return found

    with ThreadPoolExecutor(8) as pool:
        for k, found in enumerate(pool.map(work, range(8))):
            for i, gradient in enumerate(found):
                scale, v = 1.0 + k + i / 100, w.numpy()
                expected = scale * np.cos(v * scale) * v + np.sin(v * scale)
                np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-12)


def test_tensors_made_in_many_threads_at_once_are_told_apart():
    together = threading.Barrier(8)

    def work(_):
        together.wait(10)
        return [ad.constant(1.0)._id for _ in range(2000)]

    with ThreadPoolExecutor(8) as pool:
        ids = [id for made in pool.map(work, range(8)) for id in made]
    assert len(set(ids)) == len(ids) == 16_000


# One tape, two threads at once --------------------------------------------------------------------------------------

WRONG_USES = {
    "watch": lambda tape: tape.watch(ad.constant(1.0)),
    "pause": pause,
    "reset": lambda tape: tape.reset(),
    "enter": use,
    "leave": lambda tape: tape.__exit__(None, None, None),
}


@pytest.mark.parametrize("wrong", WRONG_USES)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_tape_that_records_in_one_thread_is_not_to_be_changed_in_another(wrong, persistent):
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent) as tape:
        y = x * x
        with pytest.raises(RuntimeError, match="recording in another thread"):
            elsewhere(lambda: WRONG_USES[wrong](tape))
        assert now().followers == (tape,)
        z = y * x
    assert now().followers == ()
    assert tape.gradient(z, x).tolist() == 27.0
    assert len(tape.entries) == 2
    assert tape.watched_variables() == (x,)


READINGS = {
    "gradient": lambda tape, y, x: tape.gradient(y, x),
    "jacobian": lambda tape, y, x: tape.jacobian(y, x),
    "steps": lambda tape, y, x: list(tape.steps(y, x)),
}


@pytest.mark.parametrize("reading", READINGS)
def test_a_one_shot_tape_is_not_used_up_by_another_thread_while_it_records(reading):
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x * x
        with pytest.raises(RuntimeError, match="recording in another thread"):
            elsewhere(lambda: READINGS[reading](tape, y, x))
        assert now().followers == (tape,)
        z = y * x
    assert tape.gradient(z, x).tolist() == 27.0


def test_a_persistent_tape_may_be_read_by_another_thread_while_it_records():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
        assert elsewhere(lambda: tape.gradient(y, x)).tolist() == 6.0
        z = y * x
    assert tape.gradient(z, x).tolist() == 27.0
    assert len(tape.entries) == 2, "the walk in the other thread was not recorded"


def test_a_tape_that_pauses_in_one_thread_is_not_to_be_changed_in_another():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with tape.stop_recording():
            for wrong in WRONG_USES.values():
                with pytest.raises(RuntimeError, match="recording in another thread"):
                    elsewhere(lambda wrong=wrong: wrong(tape))
            assert now().followers == ()
        y = x * x
    assert tape.gradient(y, x).tolist() == 6.0


@pytest.mark.parametrize("wrong", WRONG_USES)
def test_the_error_says_what_to_write_instead(wrong):
    with ad.GradientTape() as tape, pytest.raises(RuntimeError, match="create one tape per thread"):
        elsewhere(lambda: WRONG_USES[wrong](tape))


def test_a_wrong_use_leaves_the_other_thread_s_own_tapes_recording():
    x = ad.Variable(3.0)
    with ad.GradientTape() as first:

        def work():
            with ad.GradientTape() as second:
                for wrong in WRONG_USES.values():
                    with pytest.raises(RuntimeError, match="recording in another thread"):
                        wrong(first)
                    assert now().followers == (second,)
                y = x * x
            return second.gradient(y, x).tolist()

        assert elsewhere(work) == 6.0


def test_two_threads_that_enter_one_tape_by_turns_keep_both_recordings():
    x, tape, turn = ad.Variable(3.0), ad.GradientTape(persistent=True), threading.Lock()

    def work(power):
        with turn, tape:
            return x**power

    with ThreadPoolExecutor(4) as pool:
        targets = list(pool.map(work, [2.0, 3.0] * 10))
    assert [tape.gradient(y, x).tolist() for y in targets] == [6.0, 27.0] * 10
    assert len(tape.entries) == 20
