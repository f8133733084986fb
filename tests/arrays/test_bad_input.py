"""What cannot be computed with tensors: each call says what is wrong and what to write instead, and loses nothing."""

from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from cases import NUMPY
from no_rule import NAME, UNRULED

import autodiff_edu as ad
from autodiff_edu.core.active import now


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
    assert y.tolist() == [1.0, 3.0]
    with pytest.raises(LookupError, match=rf"{NAME}.*test_bad_input\.py, line \d+.*register_gradient\({NAME}"):
        tape.gradient(z, x)
    assert now().followers == ()
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
    ],
    ids=["sum-dtype", "mean-dtype", "sum-initial", "max-initial", "sin-dtype", "add-dtype"],
)
def test_options_that_no_rule_knows_are_refused_with_the_name_of_the_function(call):
    with pytest.raises(TypeError, match=r"np\.\w+ does not accept (dtype|initial)="):
        call(ad.constant([1.0, 2.0]))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(a=x),
        lambda x: np.transpose(a=x),
        lambda x: np.broadcast_to(array=x, shape=(3, 2)),
        lambda x: np.mean(a=x),
        lambda x: np.expand_dims(a=x, axis=0),
        lambda x: np.dot(a=x, b=x),
        lambda x: x.sum(axis=0, keepdims=True),
    ],
    ids=["sum", "transpose", "broadcast_to", "mean", "expand_dims", "dot", "method"],
)
def test_arguments_may_be_given_by_name(call):
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(call(ad.constant(x)).numpy(), call(x))
    ad.check_gradients(call, x)


@pytest.mark.parametrize("operate", [lambda x, many: x * many, lambda x, many: np.multiply(x, many)])
def test_tensors_in_a_list_are_refused_not_lost_in_silence(operate):
    x, a, b = ad.Variable([1.0, 2.0]), ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.stack"):
        operate(x, [a, b])


def test_a_number_filled_into_an_array_is_refused_before_or_after_numpy_has_looked_at_it():
    x = ad.Variable(3.0)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.full|np\.copyto"):
        np.full((2, 3), x, dtype=float)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.broadcast_to"):
        np.full((2, 3), x * 1.0)


@pytest.mark.parametrize("kind", ["reflect", "symmetric"])
def test_padding_with_mirrored_differences_is_refused_by_name(kind):
    with pytest.raises(ValueError, match="reflect_type"):
        np.pad(ad.constant([1.0, 4.0, 2.0]), 2, mode=kind, reflect_type="odd")


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
    assert now().followers == ()


def test_the_determinant_of_a_singular_matrix_has_its_cofactors_as_the_gradient():
    found = ad.grad(np.linalg.det)([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(found.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_repeated_eigenvalues_and_singular_values_have_gradients_themselves():
    for f in (np.linalg.eigvalsh, lambda a: np.linalg.svd(a, compute_uv=False), np.linalg.svdvals):
        np.testing.assert_allclose(ad.grad(f)(I2).numpy(), I2, atol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.sum(np.linalg.eigh(a)[1] * np.array([[1.0, 2.0], [3.0, 5.0]])),
        lambda a: np.sum(np.linalg.svd(a)[0] * np.array([[1.0, 2.0], [3.0, 5.0]])),
        lambda a: np.sum(np.linalg.svd(a)[2] * np.array([[1.0, 2.0], [3.0, 5.0]])),
    ],
)
def test_vectors_of_repeated_eigenvalues_have_no_derivative_and_the_error_says_so(f):
    with pytest.raises(ValueError, match="repeated"):
        ad.grad(f)(I2)


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
        lambda x: np.where([True, False], x, (10**30, 1)),
        lambda x: np.where([True, False], [1.0, None], x),
        lambda x: np.concatenate([x, [None]]),
        lambda x: np.concatenate([x, ["a"]]),
        lambda x: np.stack([x, OBJECTS]),
        lambda x: np.frompyfunc(lambda a: a + 1, 1, 1)(x),
        lambda x: np.frompyfunc(lambda a, b: a + b, 2, 1)(x, 2.0),
    ],
)
def test_objects_that_numpy_does_not_take_for_numbers_are_refused_and_no_tensor_holds_them(call):
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
        lambda x, out: np.concatenate([x, x], 0, np.zeros(4)),
        lambda x, out: np.take(x, 0, None, out),
        lambda x, out: np.add(x, x, np.zeros(2)),
        lambda x, out: np.cumsum(x, None, None, ad.constant(np.zeros(2))),
    ],
)
def test_an_array_to_write_into_is_refused_by_place_as_by_name(call):
    x, out = ad.constant([1.0, 2.0]), np.array(7.0)
    with pytest.raises(TypeError, match=r"does not accept out=.*result = "):
        call(x, out)
    assert out == 7.0


def test_adding_a_tensor_to_an_array_in_place_says_what_to_write():
    velocity = np.zeros(2)
    with pytest.raises(TypeError, match=r"write result = \.\.\., or v = v \+ g if you wrote v \+= g"):
        velocity += ad.constant([1.0, 2.0])
    np.testing.assert_array_equal(velocity, [0.0, 0.0])


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
    with pytest.raises(TypeError, match=r"np\.\w+ does not work on tensors: it writes.*Build a new one.*np\.where"):
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
    with pytest.raises(TypeError, match="takes 2 arguments and needs a rule, or None, for each"):
        ad.register_gradient(np.logaddexp2, lambda g, z, x, y: g, replace=True)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where([True, False], [x, x], x),
        lambda x: np.einsum("i,i", np.ones(2) * x, [x, x]),
        lambda x: np.interp(x, [0.0, 3.0], [x, x * 2]),
        lambda x: np.outer(x, [x, x]),
        lambda x: np.pad(np.reshape(x, 1), 1, constant_values=[x, x]),
        lambda x: np.gradient(x * np.arange(3.0), x),
    ],
)
def test_tensors_hidden_in_lists_and_options_are_refused_not_lost(f):
    with pytest.raises(TypeError, match=r"join|plain numbers"):
        ad.grad(f)(2.0)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.hstack([[x[0]], x]),
        lambda x: np.vstack([[x[0], x[1]], x]),
        lambda x: np.concatenate([(x[0],), x]),
        lambda x: np.stack([(x[0], x[1]), x]),
        lambda x: np.append(x, values=[x[0]]),
    ],
)
def test_a_list_of_tensors_inside_what_is_joined_is_refused(f):
    with pytest.raises(TypeError, match="join them"):
        ad.grad(f)([1.0, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        partial(np.flip, axis=3),
        partial(np.median, axis=2),
        partial(np.moveaxis, source=0, destination=2),
        partial(np.diff, axis=2),
        partial(np.take, indices=0, axis=2),
    ],
)
def test_an_axis_that_is_not_there_is_an_error(f):
    with pytest.raises(np.exceptions.AxisError):
        f(ad.constant([[1.0, 2.0], [3.0, 4.0]]))


def test_a_ufunc_with_several_results_is_refused():
    with pytest.raises(
        TypeError,
        match=r"np\.modf does not work on tensors: it is a ufunc with two results, .* Write np\.fmod",
    ):
        np.modf(ad.constant(1.5))


# Arrays that are not what they look like ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x, masked: x * masked,
        lambda x, masked: np.multiply(masked, x),
        lambda x, masked: np.dot(x, masked),
        lambda x, masked: np.concatenate([x, masked]),
        lambda x, masked: np.where(masked > 0, x, masked),
        lambda x, masked: ad.constant(masked),
        lambda x, masked: x.assign(masked),
    ],
)
def test_a_masked_array_is_refused_for_a_tensor_would_lose_its_mask(call):
    x = ad.Variable([1.0, 2.0])
    with pytest.raises(TypeError, match=r"mask.*filled.*np\.where"):
        call(x, np.ma.array([3.0, 4.0], mask=[False, True]))


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_refused_for_its_product_is_another_one():
    x, m = ad.Variable(np.ones((2, 2))), np.matrix([[1.0, 2.0], [3.0, 4.0]])
    for call in (lambda: x * m, lambda: m * x, lambda: x + m, lambda: np.matmul(x, m)):
        with pytest.raises(TypeError, match=r"np\.asarray\(matrix\)"):
            call()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda x: np.concatenate([x, x], dtype="f4"),
            r"np\.concatenate does not accept dtype= for a tensor: .*astype",
        ),
        (
            lambda x: np.stack([x, x], out=np.zeros((2, 2))),
            r"np\.stack does not accept out= for a tensor: .*immutable",
        ),
        (lambda x: np.divmod(x, 2.0, dtype="f4"), r"np\.divmod does not accept dtype= for a tensor: .*astype"),
        (lambda x: np.median(x, overwrite_input=True), r"np\.median does not accept overwrite_input= for a tensor"),
        *(
            [(lambda x: np.reshape(x, (2, 1), copy=True), r"np\.reshape does not accept copy= for a tensor")]
            if NUMPY >= "2.1.0"
            else []
        ),
        (
            lambda x: np.linalg.slogdet(x, x),
            r"slogdet\(\) takes 1 positional|np\.linalg\.slogdet of a tensor: too many",
        ),
    ],
)
def test_an_argument_that_is_not_taken_is_named_together_with_numpys_function(call, said):
    with pytest.raises(TypeError, match=said):
        call(ad.constant([1.0, 2.0]))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: np.quantile(ad.constant([1j, 2.0]), 0.3), TypeError, "complex numbers have no order"),
        (lambda: np.interp(ad.constant(1j), [0.0, 1.0], [0.0, 1.0]), TypeError, "complex numbers have no order"),
        (lambda: np.quantile(ad.constant(np.zeros((3, 0))), 0.3), ValueError, r"shape \(3, 0\) has no elements"),
        (lambda: np.average(ad.constant([1.0, 2.0]), weights=[1.0, -1.0]), ZeroDivisionError, "weights sum to zero"),
    ],
)
def test_what_numpy_refuses_is_not_a_number_for_a_tensor_either(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_a_watched_count_says_how_to_make_a_whole_number_of_it():
    def power(x, n):
        y = x
        for _ in range(n):
            y = y * x
        return y

    with pytest.raises(TypeError, match=r"n is the float 3.*range\(int\(n\)\)"):
        ad.play(power, 1.5, 3)
    assert ad.grad(lambda x, n: power(x, int(n)))(1.5, 3.0) == 1.5**3 * 4
