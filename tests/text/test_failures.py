"""NumPy's errors say which line of the reader's they come from, what the operands were, and what would fit."""

import linecache
import warnings

import numpy as np
import pytest
from no_rule import NAME

import autodiff_edu as ad
from autodiff_edu.text import failures

X, W = np.ones((4, 2)), np.ones((3, 2))


class Model:
    """Something with a tensor for an attribute."""

    def __init__(self, w):
        self.w = w


def failing(line, error=ValueError, **values):
    """Run one line of code as if it stood in learner.py, and give the notes of the error it raises."""
    code = f"y = {line}\n"
    linecache.cache["learner.py"] = (len(code), None, [code], "learner.py")
    scope = {"np": np, "ad": ad, **{k: ad.constant(v) if isinstance(v, np.ndarray) else v for k, v in values.items()}}
    with pytest.raises(error) as caught:
        exec(compile(code, "learner.py", "exec"), scope)
    return getattr(caught.value, "__notes__", [])


def told(line, error=ValueError, **values):
    """Return the lines of the one note of the error that a line of code raises."""
    (note,) = failing(line, error, **values)
    head, *operands = note.split("\n  ")
    assert head.startswith("At learner.py, line 1: ")
    return [head.removeprefix("At learner.py, line 1: "), *operands]


def test_a_product_names_the_line_the_operands_and_what_would_fit():
    assert failing("x @ w", x=X, w=W) == [
        "At learner.py, line 1: x @ w\n"
        "  x has shape (4, 2) and dtype float64\n"
        "  w has shape (3, 2) and dtype float64; w.T would fit"
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("x @ w", "np.matmul(x, w)", "x.dot(w)", "np.dot(x, w)", "X @ w", "x + w", "X + w", "np.add(x, w)", "x + W"),
        *("np.where(x > 0, x, w)", "np.stack([x, w])", "np.concatenate([x, w], axis=1)", "np.einsum('ij,jk', x, w)"),
        *("np.linalg.solve(x, w)", "np.tensordot(x, w, 1)", "np.cross(x, w)", "np.logaddexp(x, w)"),
    ],
)
def test_every_way_to_compute_names_both_operands(line):
    scope = {"np": np, "x": ad.constant(X), "w": ad.constant(W), "X": X, "W": W}
    linecache.cache["learner.py"] = (len(line), None, [line], "learner.py")
    with pytest.raises((ValueError, TypeError)) as caught:
        eval(compile(line, "learner.py", "eval"), scope)
    first, second = ("X" if "X" in line else "x"), ("W" if "W" in line else "w")
    (note,) = caught.value.__notes__
    lines = note.split("\n  ")
    assert any(part.startswith(f"{first} has shape (4, 2) and dtype float64") for part in lines), note
    assert any(part.startswith(f"{second} has shape (3, 2) and dtype float64") for part in lines), note


@pytest.mark.parametrize(
    ("line", "operands"),
    [
        ("x @ m.w", ["x has shape (4, 2)", "m.w has shape (3, 2)"]),
        ("(x * 2 + 1) @ w", ["x * 2 + 1 has shape (4, 2)", "w has shape (3, 2)"]),
        ("x @ np.ones((3, 2))", ["x has shape (4, 2)", "np.ones((3, 2)) has shape (3, 2)"]),
        ("np.stack(both)", ["both[0] has shape (4, 2)", "both[1] has shape (3, 2)"]),
        ("np.concatenate((x, w), 1)", ["x has shape (4, 2)", "w has shape (3, 2)"]),
        ("np.matmul(*both)", ["the first operand has shape (4, 2)", "weights has shape (3, 2)"]),
        ("(lambda m: m(x))(lambda a: a @ w)", ["a has shape (4, 2)", "w has shape (3, 2)"]),
        ("linalg.solve(w, x)", ["w has shape (3, 2)", "x has shape (4, 2)"]),
        ("np.transpose(x, (0, 1, 2))", ["x has shape (4, 2)"]),
        ("np.add.reduce(x, axis=3)", ["x has shape (4, 2)"]),
        ("[x[k] @ w for k in [0]]", ["x[k] has shape (2,)", "w has shape (3, 2)"]),
    ],
)
def test_operands_are_called_what_the_line_calls_them(line, operands):
    x, w = ad.constant(X), ad.Variable(W, name="weights")
    _, *lines = told(line, x=x, w=w, m=Model(w), both=[x, w], linalg=np.linalg)
    assert [line.partition(" and dtype")[0] for line in lines] == operands


def test_a_layer_s_own_operands_have_the_names_of_their_tensors():
    def layer(x):
        return np.add(x, w)

    failures_of_layer = layer.__code__.replace(co_filename=ad.nn.__file__)  # as if this package had it
    w = ad.Variable(np.ones(3), name="bias")
    layer.__code__ = failures_of_layer
    head, *lines = told("layer(x)", x=X, layer=layer)
    assert head == "add, in layer(x)"
    assert lines == ["the first operand has shape (4, 2) and dtype float64", "bias has shape (3,) and dtype float64"]


def test_of_a_comparison_that_python_may_have_turned_round_nobody_names_the_wrong_side():
    _, first, second = told("x == w", x=X, w=ad.Variable(W))  # Python asks the variable first
    assert first.startswith("the first operand has shape (3, 2)")
    assert second.startswith("the second operand has shape (4, 2)")


def test_of_many_operands_one_of_each_shape_is_listed():
    head, *lines = told("np.stack([x] * 40 + [w])", x=X, w=W)
    assert head == "np.stack([x] * 40 + [w])"
    assert [line.partition(" has ")[0] for line in lines] == ["the first operand", "operand 41"]


def test_a_dtype_that_does_not_fit_names_the_type_of_what_is_not_an_array():
    assert told("x + 'a'", TypeError, x=X)[1:] == ["x has shape (4, 2) and dtype float64", "'a' is of type str"]
    assert told("b - b", TypeError, b=np.array([True]))[1:] == ["b has shape (1,) and dtype bool"] * 2
    assert told("~x", TypeError, x=X) == ["~x", "x has shape (4, 2) and dtype float64"]
    assert told("-b", TypeError, b=np.array([True])) == ["-b", "b has shape (1,) and dtype bool"]


def test_an_index_beyond_the_end_names_what_was_indexed():
    assert told("x[5]", IndexError, x=X) == ["x[5]", "x has shape (4, 2) and dtype float64"]


def test_a_function_without_a_rule_names_its_operands_too():
    head, operand = told(f"{NAME}(x, axis=4)", IndexError, x=X)
    assert head == f"{NAME}(x, axis=4)"
    assert operand == "x has shape (4, 2) and dtype float64"


@pytest.mark.parametrize("line", ["y0 / x", "np.log(x)", "1 / x", "x ** -1.0", "np.reciprocal(x)"])
def test_numbers_that_are_errors_by_errstate_or_by_a_filter_are_shown_with_the_line(line):
    values = {"x": np.array([1.0, 0.0, 2.0]), "y0": np.array([1.0, 5.0, 2.0])}
    with np.errstate(all="raise"):
        head, *lines = told(line, FloatingPointError, **values)
    assert head.replace("(", " ").replace(")", "").split() == line.replace("(", " ").replace(")", "").split()
    assert lines[-1] == "x has shape (3,) and dtype float64: [1 0 2]"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert told(line, RuntimeWarning, **values) == [head, *lines]


def test_the_note_of_the_whole_call_replaces_that_of_a_part():
    head, *lines = told("np.tensordot(x, w, 1)", x=X, w=W)  # which reshapes first
    assert head == "np.tensordot(x, w, 1)"
    assert len(lines) == 2


def test_an_error_in_a_function_of_the_user_s_is_explained_there_and_not_again_where_it_was_called():
    @ad.custom_gradient
    def f(x):
        return x @ np.ones((3, 2)), lambda g: g

    (note,) = failing("f(x)", f=f, x=X)
    assert note.startswith("At test_failures.py, line ")


def test_what_has_no_source_still_names_the_file_and_the_shapes():
    with pytest.raises(ValueError, match="mismatch") as caught:
        exec(compile("x @ w", "nowhere.py", "exec"), {"x": ad.constant(X), "w": ad.constant(W)})
    (note,) = caught.value.__notes__
    assert note.splitlines() == [
        "At nowhere.py, line 1: matmul",
        "  the first operand has shape (4, 2) and dtype float64",
        "  the second operand has shape (3, 2) and dtype float64; shape (2, 3) would fit",
    ]


def test_an_explanation_that_fails_itself_leaves_numpy_s_error(monkeypatch):
    def broken(where):
        raise KeyError("broken")

    monkeypatch.setattr(failures, "place", broken)
    assert failing("x @ w", x=X, w=W) == []


def test_errors_of_other_kinds_are_left_as_they_are():
    def of_the_user(x):
        raise KeyError(x)

    with pytest.raises(KeyError) as caught:
        ad.core.tensor.apply(of_the_user, (ad.constant(X),))
    assert not hasattr(caught.value, "__notes__")


def test_what_succeeds_is_never_explained(monkeypatch):
    called = []
    monkeypatch.setattr(failures, "explain", lambda *details: called.append(details))
    x = ad.constant(X)
    np.sum(np.stack([x @ x.T, 2.0 * np.exp(-(x @ x.T))]))
    assert called == []
    with pytest.raises(ValueError, match="mismatch"):
        x @ x
    assert len(called) == 1
