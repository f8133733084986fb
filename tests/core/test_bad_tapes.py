"""Wrong calls of a tape: each says what is wrong and what to write instead, and uses nothing up."""

import numpy as np
import pytest

import autodiff_edu as ad


@pytest.fixture
def recorded():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape() as tape:
        y = x * x
    return tape, x, y


def test_a_second_gradient_on_a_one_shot_tape_points_to_persistent(recorded):
    tape, x, y = recorded
    tape.gradient(y, x)
    for again in (lambda: tape.gradient(y, x), lambda: next(tape.steps(y, x))):
        with pytest.raises(RuntimeError, match=r"persistent=True"):
            again()


@pytest.mark.parametrize("value", [3, [1, 2], True])
def test_integers_and_booleans_cannot_be_watched(value):
    with ad.GradientTape() as tape, pytest.raises(TypeError, match="astype"):
        tape.watch(ad.constant(value))
    with ad.GradientTape() as tape, pytest.raises(TypeError, match="dtype=float"):
        tape.watch(ad.Variable(value))


@pytest.mark.parametrize("thing", [3.0, np.float64(1.0), np.ones(2), None, "abc"])
def test_only_tensors_can_be_watched(thing):
    x = ad.constant(2.0)
    with ad.GradientTape() as tape:
        with pytest.raises(ValueError, match=r"ad\.constant"):
            tape.watch(thing)
        with pytest.raises(ValueError, match=r"watch\['b'\]\[1\]|\['b'\]\[1\]"):
            tape.watch({"a": x, "b": [x, thing]})
        y = x * x
    assert tape.gradient(y, x) is None, "a watch that failed must not have watched a part"


@pytest.mark.parametrize("thing", [3.0, np.float32(2.0), np.ones(2), "a", None, object()])
@pytest.mark.parametrize("in_place_of", ["target", "source"])
def test_targets_and_sources_must_be_tensors(thing, in_place_of, recorded):
    tape, x, y = recorded
    for wrong in (thing, [thing], {"k": (x, thing)}):
        call = (wrong, x) if in_place_of == "target" else (y, wrong)
        with pytest.raises(TypeError, match=rf"{in_place_of}.*Tensor"):
            tape.gradient(*call)
        with pytest.raises(TypeError, match=rf"{in_place_of}.*Tensor"):
            next(iter(tape.steps(*call)))
    assert tape.gradient(y, x).tolist() == [2, 4], "a call that failed uses no one-shot tape up"


@pytest.mark.parametrize(
    ("targets", "weights", "said"),
    [
        ("y", [1.0], r"shape \(1,\).*shape \(2,\)"),
        ("y", 2.0, r"shape \(\).*shape \(2,\)"),
        ("y", [[1.0, 2.0]], r"shape \(1, 2\).*shape \(2,\)"),
        ("yy", [[1.0, 2.0]], "2"),
        ("yy", {"a": 1.0}, "2"),
        ("yy", 1.0, "2"),
        ("yy", [[1.0, 2.0], [1.0]], r"output_gradients\[1\].*shape \(1,\)"),
        ("dict", [1.0], "keys"),
        ("dict", {"b": [1.0, 2.0]}, "keys"),
        ("y", [1j, 2.0], "complex"),
    ],
)
def test_output_gradients_must_have_the_structure_and_the_shapes_of_the_targets(targets, weights, said, recorded):
    tape, x, y = recorded
    target = {"y": y, "yy": [y, y], "dict": {"a": y}}[targets]
    with pytest.raises((ValueError, TypeError), match=said):
        tape.gradient(target, x, output_gradients=weights)
    assert tape.gradient(y, x).tolist() == [2, 4]


@pytest.mark.parametrize("weights", ["abc", ["a", "b"], [None, 1.0], object()])
def test_output_gradients_must_be_numbers(weights, recorded):
    tape, x, y = recorded
    with pytest.raises((TypeError, ValueError)):
        tape.gradient(y, x, output_gradients=weights)
    assert tape.gradient(y, x).tolist() == [2, 4]


@pytest.mark.parametrize("word", ["foo", None, 0, "ZERO", ["none"]])
def test_unconnected_gradients_is_one_of_the_words(word, recorded):
    tape, x, y = recorded
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.gradient(y, x, unconnected_gradients=word)
    assert tape.gradient(y, x).tolist() == [2, 4]
