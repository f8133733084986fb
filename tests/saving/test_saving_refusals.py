"""What cannot be saved is refused with the reason, and what is saved only in part is said with its line."""

import linecache
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from differences import draw
from round_trip import SQUARE, X, save_and_load

import autodiff_edu as ad
from autodiff_edu.core.active import now
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.custom import custom_gradient
from autodiff_edu.saving import load, save


@dataclass
class Pair:
    first: float
    second: float


def kernel(x):
    return np.exp(-(x**2))


BAKED = {
    "a number of samples in a shape": (lambda x: x.reshape(len(x), -1) * 2, r"reshape at .*line \d+ got 4.*then 5.*-1"),
    "the very number": (
        lambda x: x.reshape(4, -1) * 2,
        r"reshape at .*line \d+ depends on the number of samples, 4.*-1",
    ),
    "a division by the number": (lambda x: np.sum(x) / len(x), r"divide at .*line \d+ got 4, then 5.*np.mean"),
    "an array of zeros": (
        lambda x: x + np.zeros(x.shape),
        r"add at .*line \d+ got .*\(4, 3\).*\(5, 3\).*np.zeros_like",
    ),
    "places counted": (lambda x: x[np.arange(len(x)), [0] * len(x)], r"getitem at .*line \d+.*take_along_axis"),
    "a loop over samples": (lambda x: sum(x[k] for k in range(len(x))), r"path, with another number.*array operations"),
}


@pytest.mark.parametrize("name", BAKED)
def test_a_function_that_bakes_in_the_number_of_samples_is_refused(name, path):
    function, message = BAKED[name]
    with pytest.raises(ValueError, match=message):
        save(function, path, X)
    assert not path.exists()


def test_a_function_that_itself_allows_one_size_is_saved_for_that(path):
    again = save_and_load(lambda x: SQUARE @ x, path, X[:3])
    assert np.array_equal(again(X[1:]), SQUARE @ X[1:])
    with pytest.raises(ValueError, match=r"x has shape \(4, 3\), but must have shape \(3, 3\); it did not run with"):
        again(X)


def test_each_group_of_equally_many_samples_is_free_by_itself(path):
    again = save_and_load(lambda x, y, w: np.sum(x * y) + np.sum(kernel(w)), path, X, X, np.ones(2))
    assert repr(again) == (
        "<saved function <lambda>(x: float64 (n, 3), y: float64 (n, 3), w: float64 (m,)): 7 operations, 0 variables>"
    )
    assert again(np.ones((6, 3)), np.ones((6, 3)), np.zeros(5)).numpy() == 23
    with pytest.raises(ValueError, match="y has 5 samples, but x has 6"):
        again(np.ones((6, 3)), np.ones((5, 3)), np.zeros(5))


def test_a_random_number_is_kept_and_the_line_is_named(path):
    rng = np.random.default_rng(0)
    with pytest.warns(
        UserWarning, match=r"multiply at test_saving_refusals.py, line \d+ got .*random number.*constant"
    ) as said:
        save(lambda x: x * rng.random(), path, X)
    assert said[0].filename == __file__
    again = load(path)
    assert np.array_equal(again(X), again(X))
    with pytest.warns(UserWarning, match=r"random number"):
        save(lambda x: x * rng.random(3), path, X)
    with pytest.warns(UserWarning, match=r"random number"), pytest.raises(ValueError, match=r"np.zeros_like"):
        save(lambda x: x * rng.random(x.shape), path, X)


def test_a_file_that_is_read_is_kept_and_the_line_is_named(path, tmp_path):
    np.save(tmp_path / "w.npy", [2.0, 3.0, 4.0])
    (tmp_path / "w.txt").write_text("2.0 3.0 4.0")
    for read in (
        lambda: np.load(tmp_path / "w.npy"),
        lambda: np.loadtxt(tmp_path / "w.txt"),
        lambda: np.array((tmp_path / "w.txt").read_text().split(), float),
        lambda: np.fromfile(tmp_path / "w.txt", sep=" "),
    ):
        with pytest.warns(UserWarning, match=r"opens a file at test_saving_refusals.py, line \d+.*constant"):
            save(lambda x, read=read: x * read(), path, X)
        assert np.array_equal(load(path)(X), X * [2.0, 3.0, 4.0])


def test_a_function_without_surprises_is_saved_without_a_warning(path, recwarn):
    save(lambda x: kernel(x) + np.eye(3)[0], path, X)
    assert not recwarn.list


@pytest.mark.parametrize(
    "leave",
    [lambda x: x * float(x[0]), lambda x: x * x.numpy().max(), lambda x: np.sum(x) + np.asarray(x)[1]],
    ids=["float", "numpy", "asarray"],
)
def test_what_was_computed_outside_of_tensors_is_refused(leave, path):
    with pytest.raises(ValueError, match=r"test_saving_refusals.py, line \d+ got .*with other values.*\.numpy\(\)"):
        save(leave, path, np.array([1.0, 2.0]))


def test_an_integer_that_chose_a_row_by_itself_is_refused(path):
    rows = draw((3, 2), "rows")
    with pytest.raises(ValueError, match=r"with other values"):
        save(lambda x, k: x * rows[k], path, 1.0, 1)


def test_a_branch_by_value_is_kept_as_taken_and_said(path):
    with (
        pytest.warns(UserWarning, match=r"Python asks for bool\(\) of a tensor"),
        pytest.warns(UserWarning, match=r"from numpy.cos at .*line \d+ on, the function took another path.*examples"),
    ):
        save(lambda x: np.cos(x) if x <= 1.0 else np.sin(x), path, 1.0)
    assert float(load(path)(2.0)) == np.cos(2.0)


def test_the_path_after_an_error_that_the_function_catches_is_refused(path):
    def f(m):
        try:
            return np.sum(np.linalg.cholesky(m))
        except np.linalg.LinAlgError:
            return np.sum(m)

    with pytest.raises(TypeError, match=r"line \d+: an operation fails for .* and the function catches the error"):
        save(f, path, -np.eye(2))
    again = save_and_load(f, path, np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        again(-np.eye(2))


def test_results_that_change_places_are_said(path):
    def function(x):
        a, b = x * 2.0, x * 3.0
        return (a, b) if x <= 1.0 else (b, a)

    with pytest.warns(UserWarning, match="path"):
        save(function, path, 1.0)


def test_random_numbers_of_a_random_shape_are_refused(path):
    counts = iter(range(1, 9))
    with pytest.raises(ValueError, match=r"called twice.*shape \(1,\), then an array of shape \(2,\)"):
        save(lambda x: x * np.ones(next(counts)), path, 1.0)


def test_integers_of_one_size_that_chose_rows_by_themselves_are_refused(path):
    rows = draw((3, 2), "rows")

    def function(x, k):
        if len(k) != 2:
            raise ValueError("two rows, please")
        return x * rows[k]

    with pytest.raises(ValueError, match="with other values"):
        save(function, path, 1.0, np.array([0, 2]))


def test_a_backward_without_a_rule_is_refused_with_its_line(path):
    @custom_gradient
    def f(x):
        return x * 2, lambda dy: np.unique(dy) * dy

    with pytest.raises(LookupError, match=r"numpy.unique, used at test_saving_refusals.py, line \d+"):
        save(f, path, X[:, 0])


def test_source_files_that_python_quotes_are_not_files_that_the_function_reads(path, recwarn):
    def function(x):
        linecache.clearcache()
        linecache.getline(__file__, 1)
        return x * 2.0

    save(function, path, 1.0)
    assert not recwarn.list


def test_a_function_that_does_something_else_each_time_is_refused(path):
    calls = []

    def function(x):
        calls.append(x)
        return x * x if len(calls) % 2 else np.sin(x)

    with pytest.raises(ValueError, match=r"called twice.*line"):
        save(function, path, 1.0)


def test_a_variable_taken_out_is_said(path):
    w = ad.Variable(2.0, name="w")
    with pytest.warns(UserWarning, match=r"variable 'w', by float\(\), is taken out at test_saving_refusals.py, line"):
        save(lambda x: x * float(w), path, 1.0)


def test_a_function_that_assigns_is_refused(path):
    count = ad.Variable(0.0, name="count", trainable=False)
    with pytest.raises(ValueError, match=r"assigns to the variable 'count' at test_saving_refusals.py, line \d+"):
        save(lambda x: x * count.assign_add(1.0), path, 1.0)


def test_a_function_without_a_rule_is_refused_with_its_line(path):
    with pytest.raises(
        LookupError, match=r"numpy.unique, used at test_saving_refusals.py, line \d+.*register_gradient"
    ):
        save(lambda x: np.unique(x) * 2, path, X)
    with pytest.warns(UserWarning, match="unique at .* takes numbers out of a tensor"):
        save(lambda x: (np.unique(x), x * 2)[1], path, X)


def test_a_registered_rule_must_be_there_when_loading(path):
    with ad.register_gradient(np.unique, lambda g, y, x: g.reshape(x.shape)):
        again = save_and_load(lambda x: np.unique(x) * 2, path, X)
        assert np.array_equal(ad.grad(again)(X), np.full(X.shape, 2.0))
    with pytest.raises(
        ValueError, match=r"instruction 0, numpy.unique, .*register_gradient, register it before loading"
    ):
        load(path)


@pytest.mark.parametrize(
    ("function", "examples", "error", "message"),
    [
        (kernel, (), ValueError, "needs an example of each argument"),
        (kernel, ("one",), TypeError, "the example x is 'one'"),
        (kernel, (None,), TypeError, "the example x is None"),
        (kernel, (Pair(1.0, 2.0),), TypeError, "is a dataclass"),
        (lambda x: 3.0, (1.0,), TypeError, "the result is 3.0 of type float"),
        (lambda x: [x, None], (1.0,), TypeError, r"the result\[1\] is None"),
        (lambda x: {"y": np.asarray(x)}, (1.0,), TypeError, r"the result\['y'\] is array"),
        (lambda x: ad.constant(3.0), (1.0,), ValueError, "nothing in the result depends on"),
        (lambda x: x * 2.0, (1,), ValueError, "pass floats"),
        (np.argmax, (X,), ValueError, "integers or booleans"),
    ],
)
def test_what_cannot_be_saved_says_why(function, examples, error, message, path):
    with pytest.raises(error, match=message):
        save(function, path, *examples)
    assert not path.exists()


def test_an_error_of_the_function_comes_through_and_leaves_nothing_behind(path):
    before = dict(SPELLED), sys.getprofile()

    def function(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        save(function, path, 1.0)
    assert (dict(SPELLED), sys.getprofile()) == before
    assert now().followers == ()


def test_saving_is_on_no_tape_and_unseen_by_hooks(path):
    seen, x = [], ad.Variable(2.0)
    with ad.hook(seen.append), ad.GradientTape() as tape:
        save(lambda x: np.sort(x * x), path, np.ones(2))
        assert tape.entries == []
        y = x * x
    assert float(tape.gradient(y, x)) == 4.0
    assert [type(event).__name__ for event in seen][:2] == ["Watch", "Record"]
