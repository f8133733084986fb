"""Wrong calls: each says what is wrong and what to write instead, loses nothing, and leaves no tape recording."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from unruled import NAME, UNRULED

import autodiff_edu as ad
from autodiff_edu.events import active


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


def test_a_tape_that_was_never_entered_says_so():
    x = ad.Variable(3.0)
    with pytest.raises(RuntimeError, match="with"):
        ad.GradientTape().gradient(x * x, x)


def test_a_tape_entered_twice_says_so_and_goes_on_recording():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with pytest.raises(ValueError, match=r"second tape|leave"), tape:
            pass
        assert active.tapes == (tape,)
        y = x * x
    assert active.tapes == ()
    assert float(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize("call", [lambda t: t.watch(ad.constant(1.0)), lambda t: t.reset()])
def test_watch_and_reset_belong_inside_the_block(call, recorded):
    tape, x, y = recorded
    with pytest.raises((RuntimeError, ValueError), match=r"not recording.*with"):
        call(tape)
    assert tape.gradient(y, x).tolist() == [2, 4]


def test_stop_recording_belongs_inside_the_block(recorded):
    tape, _, _ = recorded
    with pytest.raises(RuntimeError, match=r"not recording.*with"), tape.stop_recording():
        pass


def test_a_tape_cannot_be_paused_twice():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with tape.stop_recording():
            with pytest.raises((RuntimeError, ValueError), match=r"not recording|paused"), tape.stop_recording():
                pass
            assert active.tapes == ()
        assert active.tapes == (tape,)
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


@pytest.mark.parametrize("value", [3, [1, 2], True])
def test_integers_and_booleans_cannot_be_watched(value):
    with ad.GradientTape() as tape, pytest.raises(TypeError, match="astype"):
        tape.watch(ad.constant(value))
    with ad.GradientTape() as tape, pytest.raises(TypeError, match="astype"):
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


@pytest.mark.parametrize("make", [ad.constant, ad.Variable])
def test_a_tensor_cannot_be_written_into(make):
    x = make([1.0, 2.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(TypeError, match=r"np\.where"):
            x[0] = 1
        y = x * x
    assert tape.gradient(y, x).tolist() == [2, 4]


def test_a_function_without_a_rule_runs_and_its_gradient_says_what_is_missing():
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape() as tape:
        y = UNRULED(x)
        z = np.sum(y * y)
        w = np.sum(x * x)
    assert y.tolist() == [3.0, 1.0]
    with pytest.raises(LookupError, match=rf"{NAME}.*test_bad_input\.py, line \d+.*register_gradient\({NAME}"):
        tape.gradient(z, x)
    assert active.tapes == ()
    assert tape.gradient(w, x).tolist() == [6.0, 2.0], "the failed call used nothing up"


def test_an_operation_that_is_not_on_the_way_needs_no_rule():
    x = ad.Variable([3.0, 1.0])
    with ad.GradientTape() as tape:
        y = x * x
        UNRULED(y)
        UNRULED(ad.constant([2.0, 1.0]))
    assert tape.gradient(y, x).tolist() == [6.0, 2.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.add(x, x, out=np.zeros(2)),
        lambda x: np.sum(x, out=np.zeros(())),
        lambda x: np.sum(x, where=np.array([True, False])),
        lambda x: np.subtract.accumulate(x),
        lambda x: np.hypot.reduce(x),
        lambda x: np.hypot.outer(x, x),
        lambda x: np.add.at(x, 0, 1.0),
        lambda x: np.add.reduceat(x, [0]),
    ],
)
def test_what_has_no_rule_in_a_ufunc_is_refused_on_the_spot(call):
    with ad.GradientTape() as tape:
        x = ad.constant([1.0, 2.0])
        tape.watch(x)
        with pytest.raises(TypeError, match=r"np\.(add|sum|subtract|hypot)"):
            call(x)


def test_an_array_is_not_written_into_by_a_tensor():
    a = np.ones(2)
    with pytest.raises(TypeError, match="out="):
        a += ad.constant([1.0, 2.0])
    assert a.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, axis=0, dtype="float32"),
        lambda x: np.mean(x, dtype="float32"),
        lambda x: np.sum(x, initial=1.0),
        lambda x: np.max(x, initial=0.0),
        lambda x: np.sin(x, dtype="float32"),
        lambda x: np.add(x, x, dtype="float32"),
        lambda x: np.sum(a=x),
        lambda x: np.transpose(a=x),
        lambda x: np.broadcast_to(array=x, shape=(3, 2)),
        lambda x: np.mean(a=x),
        lambda x: np.expand_dims(a=x, axis=0),
        lambda x: x.sum(axis=0, keepdims=True),
    ],
    ids=[
        "sum-dtype",
        "mean-dtype",
        "sum-initial",
        "max-initial",
        "sin-dtype",
        "add-dtype",
        "sum-a=",
        "transpose-a=",
        "broadcast-array=",
        "mean-a=",
        "expand-a=",
        "method-sum",
    ],
)
def test_unusual_spellings_give_the_right_gradient_or_an_error_that_names_the_function(call):
    x = ad.constant([1.0, 2.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        try:
            y = call(x)
        except TypeError as error:
            assert "np." in str(error)  # noqa: PT017
            return
    np.testing.assert_allclose(y.numpy(), call(x.numpy()))
    try:
        got = tape.gradient(y, x)
    except (TypeError, LookupError) as error:
        assert "np." in str(error)  # noqa: PT017
        return
    h = 1e-4
    for k, unit in enumerate(np.eye(2)):
        slope = np.sum(call(np.array([1.0, 2.0]) + h * unit) - call(np.array([1.0, 2.0]) - h * unit)) / (2 * h)
        assert got.tolist()[k] == pytest.approx(float(slope), abs=1e-2)


@pytest.mark.parametrize("operate", [lambda x, many: x * many, lambda x, many: np.multiply(x, many)])
def test_tensors_in_a_list_are_followed_or_refused_but_not_lost_in_silence(operate):
    x, a, b = ad.Variable([1.0, 2.0]), ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as tape:
        try:
            y = operate(x, [a, b])
        except TypeError as error:
            assert "np.stack" in str(error)  # noqa: PT017
            return
    assert [float(g) for g in tape.gradient(y, [a, b])] == [1.0, 2.0]


def test_a_shape_error_leaves_the_tape_usable():
    x = ad.Variable(np.ones(3))
    with ad.GradientTape() as tape:
        with pytest.raises(ValueError, match=r"\(3,\)"):
            x + np.ones(4)
        y = x * x
    assert tape.gradient(y, x).tolist() == [2, 2, 2]


def test_a_tensor_that_holds_no_numbers_says_so():
    for value in ("a", None, [1, "a"], object()):
        with pytest.raises(TypeError, match="numbers"):
            ad.constant(value)


def test_hashing_a_tensor_says_what_to_use_as_the_key():
    with pytest.raises(TypeError, match=r"id\("):
        {ad.constant(1.0): 1}
    with pytest.raises(TypeError, match=r"id\("):
        {ad.Variable(1.0): 1}


REDUCTIONS = [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std]


@pytest.mark.parametrize("argument", ["where", "out", "dtype"])
@pytest.mark.parametrize(
    "f",
    [*REDUCTIONS, np.add.reduce, np.sin, np.add, np.cumsum, np.cumprod, np.ptp, np.median, np.matmul, np.concatenate],
    ids=lambda f: getattr(f, "__name__", str(f)),
)
def test_where_out_and_dtype_are_refused_by_name_or_do_what_numpy_does(f, argument):
    values = {"where": np.array([True, False]), "out": np.zeros(()), "dtype": "float32"}
    two = f in (np.add, np.matmul)
    x = ad.constant([1.0, 2.0])
    arguments = ([x, x],) if f is np.concatenate else (x, x) if two else (x,)
    with pytest.raises(TypeError, match=rf"{argument}"):
        f(*arguments, **{argument: values[argument]})


def test_a_number_filled_into_an_array_is_refused_or_leaves_with_an_event_but_not_in_silence():
    x = ad.Variable(3.0)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.full|np\.copyto"):
        np.full((2, 3), x, dtype=float)
    with ad.trace() as trace, ad.GradientTape() as tape:
        y = np.full((2, 3), x * 1.0)  # NumPy asks for the array before any tensor has a say
    assert "NumPy" in trace.transcript()
    with pytest.raises(TypeError, match="must be a Tensor"):
        tape.gradient(y, x)


@pytest.mark.parametrize("kind", ["reflect", "symmetric"])
def test_padding_with_mirrored_differences_is_right_or_refused_by_name(kind):
    a = np.array([1.0, 4.0, 2.0])
    try:
        y = np.pad(ad.constant(a), 2, mode=kind, reflect_type="odd")
    except (TypeError, ValueError) as error:
        assert "reflect_type" in str(error)  # noqa: PT017
        return
    np.testing.assert_allclose(y.numpy(), np.pad(a, 2, mode=kind, reflect_type="odd"))


I2 = np.eye(2)


@pytest.mark.parametrize(
    ("f", "matrix"),
    [
        (np.linalg.inv, [[1.0, 2.0], [2.0, 4.0]]),
        (lambda a: np.linalg.solve(a, np.ones(2)), [[1.0, 2.0], [2.0, 4.0]]),
        (np.linalg.cholesky, [[1.0, 2.0], [2.0, 1.0]]),
        (lambda a: np.linalg.matrix_power(a, -1), [[0.0, 0.0], [0.0, 0.0]]),
    ],
)
def test_a_singular_matrix_is_refused_as_numpy_refuses_it(f, matrix):
    x = ad.Variable(matrix)
    with ad.GradientTape(), pytest.raises(np.linalg.LinAlgError):
        f(x)
    assert active.tapes == ()


def gradient_or_error(f, matrix):
    x = ad.Variable(matrix)
    with ad.GradientTape() as tape:
        y = f(x)
    try:
        return tape.gradient(y, x).numpy(), None
    except (ValueError, LookupError, np.linalg.LinAlgError) as error:
        return None, str(error)


def test_the_determinant_of_a_singular_matrix_has_its_cofactors_as_the_gradient():
    found, _ = gradient_or_error(np.linalg.det, [[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(found, [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_repeated_eigenvalues_and_singular_values_have_gradients_themselves():
    for f in (np.linalg.eigvalsh, lambda a: np.linalg.svd(a, compute_uv=False), np.linalg.svdvals):
        np.testing.assert_allclose(gradient_or_error(f, I2)[0], I2, atol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(np.linalg.eigh(a)[1] * np.array([[1.0, 2.0], [3.0, 5.0]])),
        lambda a: np.sum(np.linalg.svd(a)[0] * np.array([[1.0, 2.0], [3.0, 5.0]])),
        lambda a: np.sum(np.linalg.svd(a)[2] * np.array([[1.0, 2.0], [3.0, 5.0]])),
    ],
)
def test_vectors_of_repeated_eigenvalues_have_an_error_that_says_so_or_a_finite_documented_value(f):
    found, error = gradient_or_error(f, I2)
    if error is None:
        assert np.isfinite(found).all()
    else:
        assert "repeated" in error or "equal" in error


OBJECTS = np.array([1, 2], dtype=object)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + Fraction(1, 2),
        lambda x: Fraction(1, 2) * x,
        lambda x: x - Decimal("0.5"),
        lambda x: x[0] + Fraction(1, 2),
        lambda x: x @ OBJECTS,
        lambda x: x * OBJECTS,
        lambda x: OBJECTS * x,
        lambda x: x * [1, None],
        lambda x: x * [Fraction(1, 2), 1],
        lambda x: np.maximum(x, Fraction(1, 2)),
        lambda x: np.add(OBJECTS, x),
        lambda x: np.dot(x, OBJECTS),
        lambda x: np.where([True, False], x, None),
        lambda x: np.where([True, False], x, "a"),
        lambda x: np.where([True, False], x, OBJECTS),
        lambda x: np.where([True, False], [1.0, None], x),
        lambda x: np.concatenate([x, [None]]),
        lambda x: np.concatenate([x, ["a"]]),
        lambda x: np.stack([x, OBJECTS]),
        lambda x: np.frompyfunc(lambda a: a + 1, 1, 1)(x),
        lambda x: np.frompyfunc(lambda a, b: a + b, 2, 1)(x, 2.0),
    ],
)
def test_objects_that_are_no_numbers_to_numpy_are_refused_and_no_tensor_holds_them(call):
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        with pytest.raises(TypeError, match="a tensor holds numbers"):
            call(x)
        y = x * x
    assert tape.gradient(y, x).tolist() == [2, 4]


@pytest.mark.parametrize("other", [None, "a", b"a"])
def test_words_and_none_cannot_be_computed_with_but_compared(other):
    x = ad.constant([1.0, 2.0])
    for call in (lambda: x + other, lambda: other * x, lambda: np.maximum(x, other), lambda: x < other):
        with pytest.raises(TypeError):
            call()
    assert (x == other).tolist() == [False, False]
    assert (x != other).tolist() == [True, True]


@pytest.mark.parametrize(
    "other", [True, 2, 2.5, np.int8(2), np.float16(2), 2**70, np.bool_(True), 1j, np.complex64(1j)]
)
def test_every_number_is_an_operand(other):
    for x in (ad.constant(1.5), ad.constant([1.5, 2.0])):
        for found, expected in (
            (x * other, x.numpy() * other),
            (other + x, other + x.numpy()),
            (np.multiply(x, other), np.multiply(x.numpy(), other)),
        ):
            np.testing.assert_array_equal(found.numpy(), expected)
            assert found.dtype == np.asarray(expected).dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: np.sum(x, None, None, out),
        lambda x, out: np.mean(x, 0, None, out),
        lambda x, out: np.std(x, None, None, out),
        lambda x, out: np.max(x, None, out),
        lambda x, out: np.prod(x, None, None, out),
        lambda x, out: np.median(x, None, out),
        lambda x, out: np.argmax(x, None, out.astype(int)),
        lambda x, out: np.cumsum(x, None, None, np.zeros(2)),
        lambda x, out: np.round(x, 1, np.zeros(2)),
        lambda x, out: np.clip(x, 0.0, 1.0, np.zeros(2)),
        lambda x, out: np.dot(x, x, out),
        lambda x, out: np.take(x, 0, None, out),
        lambda x, out: np.add(x, x, np.zeros(2)),
        lambda x, out: np.cumsum(x, None, None, ad.constant(np.zeros(2))),
    ],
)
def test_an_array_to_write_into_is_refused_by_place_as_by_name(call):
    x, out = ad.constant([1.0, 2.0]), np.array(7.0)
    with pytest.raises(TypeError, match=r"takes no out=.*result = "):
        call(x, out)
    assert out == 7.0


def test_an_array_without_writing_rights_over_memory_that_has_them_is_copied():
    memory = bytearray(np.array([3.0, 4.0]).tobytes())
    views = [np.frombuffer(memory), np.asarray(memoryview(memory).toreadonly().cast("d"))]
    views[0].flags.writeable = False
    x = ad.Variable([1.0, 2.0])
    for seen in (*views, views[0][:]):
        memory[:] = np.array([3.0, 4.0]).tobytes()
        with ad.GradientTape() as tape:
            y = x * seen
        memory[:] = bytes(16)
        assert tape.gradient(y, x).tolist() == [3, 4]


def test_an_array_that_nobody_can_write_into_is_not_copied():
    own = np.array([3.0, 4.0])
    own.flags.writeable = False
    x = ad.Variable([1.0, 2.0])
    for fixed in (own, own[:], np.frombuffer(own.tobytes())):
        with ad.GradientTape() as tape:
            x * fixed
        assert tape.entries[0].values[1] is fixed


@pytest.mark.parametrize(
    "write",
    [
        lambda x: np.put(x, [0], 1.0),
        lambda x: np.place(x, np.array([True, False]), [1.0]),
        lambda x: np.putmask(x, np.array([True, False]), 1.0),
        lambda x: np.put_along_axis(x, np.array([0]), 1.0, 0),
        lambda x: np.fill_diagonal(x, 1.0),
    ],
)
def test_functions_that_write_into_an_array_say_what_to_write_instead(write):
    with pytest.raises(TypeError, match=r"build a new one.*np\.where"):
        write(ad.Variable([1.0, 2.0]))


def test_the_arrays_that_a_tensor_owns_cannot_be_written_into_by_any_way():
    x = ad.Variable([1.0, 2.0])
    x.assign([3.0, 4.0])
    with ad.GradientTape() as tape:
        x * x
    for array in (tape.entries[0].values[0], x.numpy(), x.numpy().base):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9.0


def test_a_rule_for_a_ufunc_must_be_given_for_every_argument():
    with pytest.raises(TypeError, match="takes 2 arguments, and needs a rule for each"):
        ad.register_gradient(np.logaddexp2, lambda g, z, x, y: g, replace=True)
