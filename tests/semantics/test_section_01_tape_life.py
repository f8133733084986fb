"""The life of a tape: entering, reading once or often, pausing, resetting."""

import inspect

import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import now

from .cases import case


@case("gradient twice, non-persistent")
def test_a_one_shot_tape_gives_one_gradient():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t:
        y = x**2
    assert t.gradient(y, x).tolist() == 6.0
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.gradient(y, x)


@case("gradient then jacobian, non-persistent")
def test_a_one_shot_tape_gives_no_jacobian_after_a_gradient():
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape() as t:
        y = x**2
    assert t.gradient(y, x).tolist() == [6.0, 2.0]
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.jacobian(y, x)


@case("jacobian twice, non-persistent")
def test_a_one_shot_tape_gives_one_jacobian():
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape() as t:
        y = x**2
    assert t.jacobian(y, x).tolist() == [[6.0, 0.0], [0.0, 2.0]]
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.jacobian(y, x)


@case("batch_jacobian twice, non-persistent")
def test_a_one_shot_tape_gives_one_batch_jacobian():
    x = ad.constant([[3.0, 1.0]])
    with ad.GradientTape() as t:
        t.watch(x)
        y = x**2
    assert t.batch_jacobian(y, x).tolist() == [[[6.0, 0.0], [0.0, 2.0]]]
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.batch_jacobian(y, x)


@case("persistent tape: gradient twice")
def test_a_persistent_tape_gives_the_same_gradient_twice():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        y = x**2
    assert (t.gradient(y, x).tolist(), t.gradient(y, x).tolist()) == (6.0, 6.0)


@case("gradient on a tape never entered")
def test_a_tape_that_was_never_entered_gives_no_gradient():
    x = ad.Variable(3.0)
    y = x**2
    t = ad.GradientTape()
    with pytest.raises(RuntimeError, match="recorded nothing"):
        t.gradient(y, x)


@case("re-entering same tape (non-persistent), before gradient")
def test_a_tape_that_is_entered_again_goes_on_with_its_entries():
    x = ad.Variable(3.0)
    t = ad.GradientTape()
    with t:
        y = x**2
    with t:
        z = y * x
    assert t.gradient(z, x).tolist() == 27.0


@case("re-entering: op between the two blocks")
def test_an_operation_between_two_blocks_of_a_tape_is_a_constant():
    x = ad.Variable(3.0)
    t = ad.GradientTape(persistent=True)
    with t:
        y = x**2
    m = y * x
    with t:
        z = m * y
    assert t.gradient(z, x).tolist() == 162.0
    assert t.gradient(z, m) is None


@case("re-entering after gradient() (non-persistent)")
def test_a_one_shot_tape_that_is_entered_after_its_gradient_starts_afresh():
    x = ad.Variable(3.0)
    t = ad.GradientTape()
    with t:
        y = x**2
    assert t.gradient(y, x).tolist() == 6.0
    with t:
        z = x**3
    assert t.gradient(z, x).tolist() == 27.0
    assert len(t.entries) == 1


@case("nested entering of the same tape")
def test_a_tape_is_not_entered_while_it_records():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t:
        with pytest.raises(ValueError, match=r"already recording; leave .*second tape"), t:
            pass
        assert now().followers == (t,)
        y = x**2
    assert t.gradient(y, x).tolist() == 6.0


@case("gradient inside own context, non-persistent")
def test_a_one_shot_tape_that_is_read_inside_its_block_records_no_more():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t:
        y = x**2
        assert t.gradient(y, x).tolist() == 6.0
        z = x**3
        assert now().followers == ()
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.gradient(z, x)


@case("gradient inside own context, persistent (warning text) + second order")
def test_a_persistent_tape_that_is_read_inside_its_block_records_its_own_walk(recwarn):
    """Without the warning: TensorFlow's is about speed, and says nothing of the result."""
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        y = x**3
        g = t.gradient(y, x)
    assert g.tolist() == 27.0
    assert t.gradient(g, x).tolist() == 18.0
    assert not recwarn


@case("jacobian inside own context, persistent / non-persistent")
def test_a_jacobian_inside_the_block_of_its_tape():
    x = ad.Variable([3.0, 2.0])
    with ad.GradientTape(persistent=True) as t:
        y = x**3
        j = t.jacobian(y, x)
    assert j.tolist() == [[27.0, 0.0], [0.0, 12.0]]
    second = t.jacobian(j, x)
    assert second.shape == (2, 2, 2)
    assert second.tolist() == [[[18.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 12.0]]]
    with ad.GradientTape() as t:
        y = x**3
        j = t.jacobian(y, x)
    assert j.tolist() == [[27.0, 0.0], [0.0, 12.0]]


@case("exception inside the with block; tape still usable afterwards?")
def test_an_exception_in_the_block_leaves_what_was_recorded():
    x = ad.Variable(3.0)
    with pytest.raises(ValueError, match="boom"), ad.GradientTape() as t:  # noqa: PT012
        y = x**2
        raise ValueError("boom")
    assert now().followers == ()
    assert t.gradient(y, x).tolist() == 6.0
    with ad.GradientTape() as t2:
        z = x**2
    assert t2.gradient(z, x).tolist() == 6.0


@case("stop_recording: plain / nested / outside a context")
def test_what_is_computed_in_a_pause_is_a_constant():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        a = x * x
        with t.stop_recording():
            b = x * x
        d = a * b
    assert t.gradient(d, x).tolist() == 54.0


@case("stop_recording nested inside stop_recording")
def test_a_pause_in_a_pause_is_an_error():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t:
        with t.stop_recording(), pytest.raises(ValueError, match="already paused"), t.stop_recording():
            pass
        y = x * x
    assert t.gradient(y, x).tolist() == 6.0


@case("stop_recording on tape that is not recording")
def test_a_tape_that_does_not_record_cannot_pause():
    t = ad.GradientTape()
    with pytest.raises(RuntimeError, match=r"not recording.*inside its with block"), t.stop_recording():
        pass


@case("stop_recording with exception inside: recording resumes")
def test_recording_resumes_after_an_exception():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t:
        with pytest.raises(KeyError), t.stop_recording():
            raise KeyError("k")
        y = x * x
    assert t.gradient(y, x).tolist() == 6.0


@case("gradient() called inside own stop_recording (cheap inside-context use)")
def test_a_gradient_in_a_pause_is_a_constant():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        y = x**2
        with t.stop_recording():
            g = t.gradient(y, x)
        z = y * g
    assert g.tolist() == 6.0
    assert t.gradient(z, x).tolist() == 36.0


@case("outer tape still records inside inner.stop_recording")
def test_an_outer_tape_records_while_the_inner_one_pauses():
    x = ad.Variable(3.0)
    with ad.GradientTape() as t2, ad.GradientTape() as t1, t1.stop_recording():
        y = x * x
    assert t1.gradient(y, x) is None
    assert t2.gradient(y, x).tolist() == 6.0


@case("reset() outside of a context")
def test_reset_after_the_block_is_an_error_and_forgets_nothing():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        y = x**2
    with pytest.raises(ValueError, match=r"not recording.*inside its with block"):
        t.reset()
    assert t.gradient(y, x).tolist() == 6.0


@case("reset() on never-entered tape")
def test_reset_before_the_block_is_an_error():
    with pytest.raises(ValueError, match="not recording"):
        ad.GradientTape().reset()


@case("reset() inside keeps watched tensors?")
def test_reset_forgets_what_was_watched():
    x = ad.constant(3.0)
    with ad.GradientTape() as t:
        t.watch(x)
        t.reset()
        y = x**2
    assert t.gradient(y, x) is None


OURS = {"chunk_size", "check"}
THEIRS = {"parallel_iterations", "experimental_use_pfor"}
MEASURED = {
    "watch": ["tensor"],
    "stop_recording": [],
    "reset": [],
    "watched_variables": [],
    "gradient": ["target", "sources", "output_gradients", "unconnected_gradients"],
    "jacobian": ["target", "sources", "unconnected_gradients", *THEIRS],
    "batch_jacobian": ["target", "source", "unconnected_gradients", *THEIRS],
}


@case("tape attribute names")
def test_the_methods_and_arguments_have_the_same_names():
    """Difference: a Jacobian is one pass over a stack of seeds, so `chunk_size` stands for the options of its loop.

    `watch` names its argument in the plural, for it takes a structure of tensors.
    """
    for name, measured in MEASURED.items():
        ours = list(inspect.signature(getattr(ad.GradientTape, name)).parameters)[1:]
        expected = ["tensors"] if name == "watch" else [p for p in measured if p not in THEIRS]
        assert [p for p in ours if p not in OURS] == expected
    constructor = inspect.signature(ad.GradientTape).parameters
    assert [(p.name, p.default) for p in constructor.values()] == [
        ("persistent", False),
        ("watch_accessed_variables", True),
    ]
    t = ad.GradientTape(persistent=True, watch_accessed_variables=False)
    assert (t.persistent, t.watch_accessed_variables) == (True, False)
    assert repr(t).startswith("<GradientTape")
