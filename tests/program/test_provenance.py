"""What rules compute unseen from the arguments is refused, even if no rule decides by recorded operations."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.arrays.provenance import DependentArray, is_marked, mark, note_answer, refusal
from autodiff_edu.core.active import now
from autodiff_edu.derivatives import jacobians
from autodiff_edu.rules import operations

X, OTHER = np.array([0.5, 2.0, -1.0]), np.array([3.0, -2.0, 0.7])
WEIGHTS = np.array([1.0, 2.0, 4.0])

FUNCTIONS = {
    "jacobian of sort": ad.jacobian(np.sort, mode="forward"),
    "jacobian of median": ad.jacobian(np.median, mode="forward"),
    "jacobian of take": ad.jacobian(lambda x: np.take(x, np.argsort(x))),
    "reverse jacobian of take": ad.jacobian(lambda x: np.take(x, np.argsort(x)), mode="reverse"),
    "jacobian of take_along_axis": ad.jacobian(lambda x: np.take_along_axis(x, np.argsort(x), 0)),
    "jacobian of x[..., argmax]": ad.jacobian(lambda x: x[..., np.argmax(x)]),
    "hessian of sort": ad.hessian(lambda x: np.sum(np.sort(x) ** 2 * WEIGHTS)),
    "hessian of nanquantile": ad.hessian(lambda x: np.nanquantile(x, 0.3) ** 2),
    "hessian of sort along an axis": ad.hessian(
        lambda x: np.sum(np.apply_along_axis(np.sort, 0, x) ** 2 * WEIGHTS)
    ),
    "hessian of interp": ad.hessian(lambda x: np.sum(np.interp(x, X[[2, 0, 1]], WEIGHTS * x[0]) ** 2)),
}  # fmt: skip
SAVED = {
    "grad of sort": ad.grad(lambda x: np.sum(np.sort(x) ** 2 * WEIGHTS)),
    "grad of partition": ad.grad(lambda x: np.sum(np.partition(x, 1) ** 2 * WEIGHTS)),
    "grad of take": ad.grad(lambda x: np.sum(np.take(x, np.argsort(x)) ** 2 * WEIGHTS)),
    "hvp of sort": lambda x: ad.hvp(lambda x: np.sum(np.sort(x) ** 3 * WEIGHTS), (x,), (x,)),
}


@pytest.fixture
def blind(monkeypatch):
    """Make rules decide by plain numbers, as if nothing were recorded."""
    monkeypatch.setattr(operations, "recorder", lambda: None)
    monkeypatch.setattr(jacobians, "recorder", lambda: None)


@pytest.fixture
def marked():
    """Mark what is computed from marked arrays; a number that is taken out is a LookupError."""
    token = refusal.set(lambda: LookupError("unseen"))
    yield
    refusal.reset(token)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_program_follows_the_order_of_other_numbers(name):
    compiled = ad.compile(FUNCTIONS[name])
    for x in (X, OTHER, X):
        np.testing.assert_array_equal(compiled(x), FUNCTIONS[name](x))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_program_that_would_keep_an_order_is_refused(name, blind):
    with pytest.raises(TypeError, match=r"test_provenance.py, line \d+: an order, an index or a choice is found"):
        ad.compile(FUNCTIONS[name])(X)


@pytest.mark.parametrize("name", SAVED)
def test_a_file_follows_the_order_of_other_numbers(name, tmp_path):
    ad.save(SAVED[name], tmp_path / "f.ad", X)
    np.testing.assert_array_equal(ad.load(tmp_path / "f.ad")(OTHER), SAVED[name](OTHER))


@pytest.mark.parametrize("name", SAVED)
def test_a_file_that_would_keep_an_order_is_refused(name, tmp_path, blind):
    with pytest.raises(TypeError, match=r"test_provenance.py, line \d+: an order, an index or a choice is found"):
        ad.save(SAVED[name], tmp_path / "f.ad", X)
    assert not [*tmp_path.iterdir()]


def test_the_order_of_a_variable_is_followed_too(blind):
    w = ad.Variable(X)
    before = w._array

    def function(scale):
        with ad.GradientTape() as tape:
            y = np.sort(w) * scale
        return tape.jacobian(y, w)

    with pytest.raises(TypeError, match="an order, an index or a choice"):
        ad.compile(function)(2.0)
    assert w._array is before


def test_a_function_that_catches_the_error_is_refused_too(blind):
    def function(x):
        try:
            return ad.jacobian(np.sort, mode="forward")(x)
        except TypeError:
            return x

    with pytest.raises(TypeError, match="an order, an index or a choice"):
        ad.compile(function)(X)


def test_a_tensor_that_outlives_its_recording_is_plain():
    kept = []
    compiled = ad.compile(lambda x: kept.append(x * 2.0) or np.sum(kept[-1]))
    compiled(X)
    for tensor in kept:
        assert type(tensor.numpy()) is np.ndarray
        assert bool(tensor[0] > 0.5)
        assert not is_marked((tensor + 1.0)._array)


@pytest.mark.parametrize(
    "later",
    [
        lambda x, kept: x * 2 if kept[0] > 0 else x, lambda x, kept: x * kept.numpy(), lambda x, kept: x * kept,
        lambda x, kept: x * np.asarray(kept), lambda x, kept: x[np.argsort(kept.numpy())],
        lambda x, kept: x * (kept + 1.0).numpy(), lambda x, kept: x * np.sort(kept.numpy())[1],
        lambda x, kept: x * float(kept.numpy()[1]),
    ],
)  # fmt: skip
def test_a_tensor_that_outlives_its_recording_is_a_constant_of_later_ones(later):
    kept = []
    ad.compile(lambda x: kept.append(x * 2.0) or np.sum(x))(X)
    function = lambda x: later(x, kept[-1])  # noqa: E731
    np.testing.assert_array_equal(ad.compile(function)(OTHER), function(ad.constant(OTHER)))
    program = ad.compile(function).program(OTHER)
    assert not [one for one in program.run.__globals__.values() if isinstance(one, DependentArray)]


def test_a_recorder_does_not_live_as_long_as_its_tensors():
    kept, alive = [], []
    compiled = ad.compile(lambda x: kept.append(x * 2.0) or alive.append(weakref.ref(now().followers[-1])) or x)
    compiled(X)
    gc.collect()
    assert [recorder() for recorder in alive] == [None, None]


@pytest.mark.parametrize(
    "compute",
    [
        np.argsort, np.sum, np.argmax, np.linalg.svd, lambda x: x[0], lambda x: x[::-1], lambda x: x.T @ x,
        lambda x: x.argmax(), lambda x: x.max(axis=0), lambda x: 2.0 * x, lambda x: x > 1, lambda x: np.stack([x, x]),
        lambda x: np.searchsorted(x[0], 0.3), lambda x: np.add.reduce(x), lambda x: np.where(x > 0, 1.0, 2.0),
        lambda x: np.asarray(x), lambda x: next(iter(x)), lambda x: np.nonzero(x)[0],
    ],
)  # fmt: skip
def test_what_numpy_computes_from_a_marked_array_is_marked(compute, marked):
    x = X[:, None] + X
    found, wanted = compute(mark(x)), compute(x)
    parts = [*zip(found, wanted, strict=True)] if isinstance(found, tuple) else [(found, wanted)]
    for one, other in parts:
        assert is_marked(one)
        np.testing.assert_array_equal(np.asarray(one), other)


@pytest.mark.parametrize("compute", [operations.stop_gradient, np.real, np.atleast_1d])
def test_an_array_that_is_handed_through_stays_the_same(compute, marked):
    x = mark(X)
    assert compute(X) is X
    assert compute(x) is x


def test_equal_truth_values_are_not_the_same_array(marked):
    one, other = mark(np.True_), mark(np.False_)
    assert (one | other) is not one


def test_saving_tells_no_random_numbers_from_indices_that_are_handed_through(tmp_path):
    def function(x):
        if x.shape != X.shape:
            raise ValueError("three numbers, please")
        return np.sum(np.interp(x, np.sort(x), x**2))

    hessian = ad.hessian(function)
    with warnings.catch_warnings(action="error"):
        ad.save(hessian, tmp_path / "f.ad", X)
    np.testing.assert_allclose(ad.load(tmp_path / "f.ad")(OTHER), hessian(OTHER))


@pytest.mark.parametrize("compute", [np.zeros_like, np.shape, np.ndim, np.result_type, lambda x: x.shape, len])
def test_what_depends_on_shapes_alone_is_not_marked(compute, marked):
    assert not is_marked(compute(mark(X)))


@pytest.mark.parametrize("ask", [bool, int, float, complex, range, lambda x: [1, 2, 3][x], lambda x: 5 if x else 6])
def test_a_number_that_python_takes_out_is_refused(ask, marked):
    with pytest.raises(LookupError, match="unseen"):
        ask(mark(np.int64(1)))


def test_an_answer_that_the_program_asks_for_too_may_be_used(marked):
    one = mark(np.int64(1))
    note_answer(one, "bool")
    assert bool(one)
    with pytest.raises(LookupError, match="unseen"):
        int(one)


def test_outside_of_a_recording_nothing_is_marked():
    assert type(mark(X)) is np.ndarray
    left = X.view(DependentArray)
    assert bool(left[0] > 0)
    assert not is_marked(left * 2)
