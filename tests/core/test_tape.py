"""A tape's life, what it watches and what it finds connected, beyond the cases that semantics/ tests one by one."""

import numpy as np
import pytest
from no_rule import NAME, UNRULED

import autodiff_edu as ad
from autodiff_edu.core.active import now


def test_a_tape_left_while_it_pauses_stays_left():
    tape = ad.GradientTape()
    tape.__enter__()
    with tape.stop_recording():
        tape.__exit__(None, None, None)
    assert now().followers == ()


def test_reset_forgets_entries_and_watches_but_goes_on_recording():
    x, v = ad.constant(3.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v * x
        tape.reset()
        assert tape.entries == []
        assert tape.watched_variables() == ()
        z = v**2 * x
    assert tape.gradient(y, v) is None
    assert tape.gradient(z, x) is None
    assert float(tape.gradient(z, v)) == 12.0


def test_a_generator_that_is_closed_leaves_its_tape():
    x = ad.Variable(2.0)

    def recording():
        with ad.GradientTape() as tape:
            yield tape, x * x

    generator = recording()
    tape, y = next(generator)
    assert now().followers == (tape,)
    generator.close()
    assert now().followers == ()
    assert float(tape.gradient(y, x)) == 4.0


def test_a_pause_that_ends_after_its_tape_was_entered_again_records_nothing_twice():
    x = ad.Variable(2.0)
    tape = ad.GradientTape(persistent=True)

    def pause():
        with tape.stop_recording():
            yield

    with tape:
        generator = pause()
        next(generator)
    with tape:
        generator.close()
        y = x * x
    assert len(tape.entries) == 1
    assert [float(g) for g in tape.gradient(y, [x, y])] == [4.0, 1.0]


def test_a_trainable_variable_is_watched_when_it_is_read_and_no_other_is():
    trained, fixed, whole = ad.Variable(3.0), ad.Variable(3.0, trainable=False), ad.Variable(3)
    with ad.GradientTape(persistent=True) as tape:
        y = trained * trained + fixed * fixed + whole * 2.0
    (watched,) = tape.watched_variables()
    assert watched is trained
    assert float(tape.gradient(y, trained)) == 6.0
    assert tape.gradient(y, [fixed, whole]) == [None, None]


def test_a_target_that_is_the_source_has_derivative_one():
    watched, variable, unwatched = ad.constant(2.0), ad.Variable(3.0), ad.constant([5.0, 6.0])
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(watched)
    assert float(tape.gradient(watched, watched)) == 1.0
    assert float(tape.gradient(variable, variable)) == 1.0
    assert tape.gradient(unwatched, unwatched).tolist() == [1.0, 1.0]
    assert tape.gradient(variable, [variable, watched])[1] is None


def test_a_source_may_be_one_of_the_targets():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x**2
    assert float(tape.gradient([y, x], x)) == 7.0


def test_the_caller_s_output_gradients_are_neither_kept_nor_changed():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = x + 0.0
        z = x * 2.0
    weights = np.array([1.0, 10.0])
    got = tape.gradient([y, z], x, output_gradients=[weights, weights])
    only = tape.gradient(x, x, output_gradients=weights)
    weights[:] = -1.0
    assert got.tolist() == [3.0, 30.0]
    assert only.tolist() == [1.0, 10.0]
    assert weights.flags.writeable


def test_a_function_without_a_rule_behind_a_step_hinders_nothing():
    x = ad.Variable([1.5, 2.5])
    with ad.GradientTape() as tape:
        y = np.sum(np.floor(UNRULED(x)) * x)
    assert tape.gradient(y, x).tolist() == [1.0, 2.0]


def test_a_tape_that_pauses_still_pauses_after_a_gradient_that_failed():
    @ad.custom_gradient
    def fails(x):
        def backward(dy):
            raise ArithmeticError("this rule fails")

        return x * 2.0, backward

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = fails(x)
        recorded = len(tape.entries)
        with tape.stop_recording():
            with pytest.raises(ArithmeticError):
                tape.gradient(y, x)
            x * 5.0
        assert len(tape.entries) == recorded
        x * 7.0
    assert len(tape.entries) == recorded + 1


# What was recorded stays as it was -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compute", "operand"),
    [
        (lambda x, a: x * a, np.array([1.0, 2.0])),
        (lambda x, a: a * x, np.array([1.0, 2.0])),
        (lambda x, a: x * a, [1.0, 2.0]),
        (lambda x, a: np.multiply(x, a), [1.0, 2.0]),
        (lambda x, a: x * a, np.array([1.0, 2.0]).view(type("Kept", (np.ndarray,), {}))),
        (lambda x, a: np.einsum("i,i->i", x, a), np.array([1.0, 2.0])),
        (lambda x, a: np.where(a > 1.5, x * 3.0, x), np.array([1.0, 2.0])),
        (lambda x, a: np.where(a, x * 3.0, x), np.array([True, False])),
        (lambda x, a: x[a], np.array([0, 0])),
        (lambda x, a: x[a], [0, 0]),
        (lambda x, a: x[a, None], np.array([0, 0])),
        (lambda x, a: np.clip(x, a, None), np.array([2.0, 0.0])),
        (lambda x, a: np.concatenate([x * x, a]), np.array([1.0, 2.0])),
    ],
)
def test_writing_into_a_raw_operand_later_changes_no_gradient(compute, operand):
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = compute(x, operand)
    before = tape.gradient(y, x).tolist()
    value = y.tolist()
    operand[0] = operand[1] = 1 if before == [2, 0] else 0
    assert tape.gradient(y, x).tolist() == before
    assert y.tolist() == value


def test_a_read_only_operand_is_not_copied():
    x, a = ad.Variable([1.0, 2.0]), np.array([1.0, 2.0])
    a.flags.writeable = False
    with ad.GradientTape() as tape:
        x * a
    assert tape.entries[0].values[1] is a


def test_a_read_only_view_of_an_array_that_is_written_into_later_changes_no_gradient():
    x, a = ad.Variable([1.0, 2.0]), np.array([3.0, 4.0])
    with ad.GradientTape() as tape:
        y = np.sum(x * np.broadcast_to(a, (3, 2)))
    a[:] = 0
    assert tape.gradient(y, x).numpy().tolist() == [9, 12]


def test_a_list_that_is_written_into_later_changes_no_gradient():
    x, numbers = ad.Variable([1.0, 2.0]), [3.0, 4.0]
    with ad.GradientTape() as tape:
        y = np.einsum("i,i", x, numbers)
    numbers[0] = 100.0
    assert tape.gradient(y, x).numpy().tolist() == [3, 4]


def test_every_step_of_a_one_shot_tape_still_has_its_arrays():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = np.sin(x) * x
    seen = [(step.entry.name, [value.numpy() for value in step.entry.inputs]) for step in tape.steps(y, x)]
    assert [name for name, _ in seen] == ["multiply", "sin"]
    assert seen[1][1] == [3.0]
    assert all(entry.values is None for entry in tape.entries), "released at the end"


def test_a_step_is_given_before_anything_of_the_next_is_announced():
    order, x = [], ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = np.exp(np.sin(x))
    with ad.hook(lambda event: order.append(type(event).__name__)):
        for step in tape.steps(y, x):
            order.append(step.entry.name)
    assert order == ["Seed", "PullBack", "Accumulate", "exp", "PullBack", "Accumulate", "sin", "Release"]


def test_a_hook_that_is_installed_between_two_steps_hears_the_rest():
    seen, x = [], ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = np.exp(np.sin(x))
    steps = tape.steps(y, x)
    next(steps)
    with ad.hook(lambda event: seen.append(type(event).__name__)):
        next(steps)
    assert seen == ["PullBack", "Accumulate"]


def test_an_interrupt_while_a_pause_is_announced_leaves_the_tape_recording():
    def interrupt(event):
        if type(event).__name__ == "Pause":
            raise KeyboardInterrupt

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with pytest.raises(KeyboardInterrupt), ad.hook(interrupt), tape.stop_recording():
            pass
        x * x
    assert [entry.name for entry in tape.entries] == ["multiply"]


def test_what_is_wrong_with_a_question_comes_before_why_there_is_no_gradient():
    x, other = ad.Variable([1.0, 2.0, 3.0]), ad.constant(1.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
    with pytest.raises(ValueError, match="shape"):
        tape.gradient(y, [x, other], [1.0, 2.0], unconnected_gradients="explain")
    with pytest.raises(TypeError, match=r"target\[1\] is 2.0 .* must be a Tensor"):
        tape.jacobian([y, 2.0], other, unconnected_gradients="explain")


def test_a_tape_of_a_transform_is_shown_without_an_address():
    seen = []
    with ad.hook(lambda event: seen.append(repr(getattr(event, "tape", None)))):
        ad.grad(lambda q: q * q)(2.0)
    assert all("one-shot" in text and " at 0x" not in text for text in seen)


def test_a_tape_shows_its_kind_and_its_length():
    x = ad.Variable(3.0)
    with ad.GradientTape() as one, ad.GradientTape(persistent=True) as more:
        x * x
    assert repr(one) == "<GradientTape: one-shot, 1 entries>"
    assert repr(more) == "<GradientTape: persistent, 1 entries>"


def test_what_a_tape_cannot_do_is_said_with_what_to_do():
    x, tape = ad.Variable(3.0), ad.GradientTape()
    with pytest.raises(RuntimeError, match="not recording, so it cannot watch; call watch inside its with block"):
        tape.watch(x)
    with pytest.raises(RuntimeError, match="has recorded nothing: compute the target inside `with tape:`"):
        tape.gradient(x, x)
    with tape:
        tape.watch(x)
    tape.gradient(x, x)
    said = "this one-shot tape has already been used and has released its arrays; write GradientTape.persistent=True."
    with pytest.raises(RuntimeError, match=f"^{said} to differentiate more than once$"):
        tape.gradient(x, x)


def test_a_function_without_a_rule_anywhere_on_the_way_is_found_before_anything_is_pull_back():
    seen, x = [], ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(UNRULED(x * 1.0) * 2.0)
        beside = np.sum(x * 3.0)
    with ad.hook(lambda event: seen.append(type(event).__name__)), pytest.raises(LookupError, match=NAME):
        tape.gradient(y, x)
    assert "PullBack" not in seen
    assert tape.gradient(beside, x).numpy().tolist() == [3.0, 3.0]


def test_an_accumulation_is_announced_with_the_argument_itself():
    seen, x = [], ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x * 2.0
    with ad.hook(seen.append):
        tape.gradient(y, x)
    (added,) = [event for event in seen if type(event).__name__ == "Accumulate"]
    assert (float(added.tensor.numpy()), float(added.value.numpy()), added.before) == (3.0, 2.0, None)
