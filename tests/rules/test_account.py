"""That every function of NumPy is accounted for, in one place, and that the account is true."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.rules import complete
from autodiff_edu.rules.account import AT_ONCE, NEEDS_NONE, REFUSED, WHOLE, accounts, functions, remedy

OLD = {"np.in1d", "np.row_stack", "np.trapz"}  # of NumPy 2.0, and gone from some later one


@pytest.fixture(autouse=True, scope="module")
def every_rule():
    complete()


def test_every_function_of_numpy_is_accounted_for_in_exactly_one_place():
    found = {name: accounts(name, function) for name, function in functions().items()}
    assert {name: places for name, places in found.items() if len(places) != 1} == {}
    assert {"np.sin", "np.linalg.inv", "np.fft.fft"} <= found.keys()
    assert "np.ndarray" not in found, "a class is no function"


def test_a_function_that_nobody_accounted_for_is_found_out():
    assert accounts("np.of_the_future", lambda x: x) == []


def test_a_function_in_two_places_is_found_out(monkeypatch):
    monkeypatch.setitem(REFUSED, "np.sin", ("a reason", "Write something else"))
    assert accounts("np.sin", np.sin) == ["rule", "refused"]


def test_the_tables_name_functions_that_numpy_has():
    named = {*REFUSED, *WHOLE, *set().union(*NEEDS_NONE.values())}
    newer = np.lib.NumpyVersion(np.__version__) >= "2.2.0"
    assert not newer or named - functions().keys() - OLD == set()
    assert {name for name, function in functions().items() if function in AT_ONCE} <= REFUSED.keys()


X = np.array([0.5, 2.0, -1.25])

REFUSED_CALLS = {
    "np.unique": lambda x: np.unique(x),
    "np.unique_values": lambda x: np.unique_values(x),
    "np.union1d": lambda x: np.union1d(x, 2 * x),
    "np.setdiff1d": lambda x: np.setdiff1d(x, 2 * x),
    "np.bincount": lambda x: np.bincount([0, 1, 0], x),
    "np.histogram": lambda x: np.histogram(x)[1],
    "np.roots": lambda x: np.real(np.roots(x)),
    "np.poly": lambda x: np.poly(x),
    "np.polyadd": lambda x: np.polyadd(x, x),
    "np.polysub": lambda x: np.polysub(x, x),
    "np.polymul": lambda x: np.polymul(x, x),
    "np.polyder": lambda x: np.polyder(x),
    "np.polyint": lambda x: np.polyint(x),
    "np.polyfit": lambda x: np.polyfit(x, x, 1),
    "np.sort_complex": lambda x: np.real(np.sort_complex(x)),
}


@pytest.mark.parametrize("name", REFUSED_CALLS)
def test_a_refused_function_runs_and_its_gradient_says_why_and_what_to_write(name):
    reason, instead = REFUSED[name]
    x = ad.Variable(X)
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(REFUSED_CALLS[name](x) * 1.0)
    with pytest.raises(LookupError) as caught:
        tape.gradient(y, x)
    assert f"has no derivative rule: {reason}. {instead}, or register a rule" in str(caught.value)
    assert f"has no derivative rule: {reason}; gradient raises a LookupError. {instead}" in str(tape.explain(y, x))


@pytest.mark.parametrize("function", sorted(AT_ONCE, key=lambda function: function.__name__))
def test_what_cannot_be_computed_of_tensors_says_why_and_what_to_write(function):
    reason, instead = REFUSED[f"np.{function.__name__}"]
    with pytest.raises(TypeError) as caught:
        SPELLED[function](ad.constant(X))
    assert str(caught.value) == f"np.{function.__name__} does not work on tensors: {reason}. {instead}"


def test_a_function_that_no_table_knows_has_the_usual_remedy():
    assert remedy("np.emath.sqrt") == ("", "Compute the value with functions that have one")
    x = ad.Variable(X**2)
    with ad.GradientTape() as tape:
        y = np.emath.sqrt(x)
    with pytest.raises(LookupError, match=r"^np\.lib\.\S+\.sqrt, used at .* Compute the value with functions"):
        tape.gradient(y, x)


P, Q = np.array([2.0, -3.0, 0.5, 1.0]), np.array([1.0, 0.5])

ALTERNATIVES = [
    (np.bincount([0, 2, 0], X, 4), X @ (np.array([0, 2, 0])[:, None] == np.arange(4))),
    (np.roots(P), np.linalg.eigvals(np.vstack([-P[1:] / P[0], np.eye(len(P) - 2, len(P) - 1)]))),
    (np.polymul(P, Q), np.convolve(P, Q)),
    (np.polyder(P), P[:-1] * np.arange(len(P) - 1, 0, -1)),
    (np.polyint(P), np.append(P / np.arange(len(P), 0, -1), 0.0)),
    (np.polyfit(P, P**2, 2), np.linalg.lstsq(np.vander(P, 3), P**2)[0]),
    (np.kaiser(5, 2.5), np.i0(2.5 * np.sqrt(1 - np.linspace(-1, 1, 5) ** 2)) / np.i0(2.5)),
    (np.sort_complex(X), np.sort(X).astype(complex)),
    (np.modf(X), (np.fmod(X, 1), np.trunc(X))),
    (np.frexp(X)[1], np.floor(np.log2(np.abs(X))) + 1),
]


@pytest.mark.parametrize(("theirs", "ours"), ALTERNATIVES)
def test_what_is_recommended_gives_the_same(theirs, ours):
    np.testing.assert_allclose(np.sort(ours), np.sort(theirs), 1e-12, 1e-12)


def test_steps_known_by_their_dtype_give_whole_numbers_or_booleans():
    x, whole = ad.constant(X), ad.constant([3, 1, 2])
    pairs = {"np.allclose", "np.array_equal", "np.array_equiv", "np.isin", "np.in1d"}
    of_whole = {
        "np.gcd",
        "np.lcm",
        "np.left_shift",
        "np.right_shift",
        "np.bitwise_left_shift",
        "np.bitwise_right_shift",
    }
    for name in WHOLE & functions().keys():
        function = functions()[name]
        if name in of_whole:
            found = function(whole, whole)
        elif name in ("np.packbits", "np.unpackbits", "np.bitwise_count"):
            found = function(whole.astype(np.uint8))
        elif name == "np.lexsort":
            found = function([x, x])
        else:
            found = function(x, x) if name in pairs else function(x)
        assert np.asarray(found).dtype.kind in "biu", name
