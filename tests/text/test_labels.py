"""Every tensor has one name, the user's if there is one, and no two tensors have the same."""

import dask.array as da
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.text.labels import MANY, Labels


def named(tape):
    """Name everything on a tape, as its table does."""
    labels = Labels()
    for id, (tensor, where) in tape.watched.items():
        labels.watched(id, tensor, where)
    for number, entry in enumerate(tape.entries, 1):
        labels.entry(entry, f"t{number}")
    return labels


def lines(tape):
    """The entries as text, as they stand in the table."""
    labels = named(tape)
    return [f"{labels[entry.output_id]} = {labels.text(entry)}" for entry in tape.entries]


def test_the_user_s_name_comes_first_then_the_code_s_then_one_made_up():
    v, given = ad.Variable(1.0, name="speed"), ad.constant(2.0)
    with ad.GradientTape() as tape:
        tape.watch(given)
        y = v * given
        np.sin(y + np.cos(v))
    assert lines(tape) == ["y = speed * given", "t2 = cos(speed)", "t3 = y + t2", "t4 = sin(t3)"]


def test_what_has_no_name_anywhere_is_numbered():
    with ad.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(xs := [ad.constant(1.0), ad.constant(2.0)])
        xs[0] * xs[1]
    assert lines(tape) == ["t1 = x1 * x2"]


def test_a_name_that_is_taken_gets_a_number():
    labels = Labels()
    for id, name in enumerate(["y", "y", "y", "y₂", "z", "y₂"]):
        labels.give(id, name)
    assert [labels[id] for id in range(6)] == ["y", "y₂", "y₃", "y₂₂", "z", "y₂₃"]


def test_a_tensor_keeps_its_first_name():
    labels = Labels()
    labels.give(1, "first")
    labels.give(1, "second")
    assert labels[1] == "first"
    assert 1 in labels
    assert 2 not in labels
    labels.give(2, "second")
    assert labels[2] == "second", "nobody has it"


@pytest.mark.parametrize(
    ("name", "shown"), [("", "unnamed"), ("two\nlines", "two lines"), ("n" * 99, "n" * 80), (3, "3")]
)
def test_a_name_is_one_short_line(name, shown):
    labels = Labels()
    labels.give(1, name)
    assert labels[1] == shown


OPERATIONS = {
    "x + w": (lambda x, w: x + w, "x plus w"),
    "x - w": (lambda x, w: x - w, "x minus w"),
    "x * w": (lambda x, w: x * w, "x times w"),
    "x / w": (lambda x, w: x / w, "x divided by w"),
    "x ** 2": (lambda x, w: x**2, "x to the power of 2"),
    "x @ w": (lambda x, w: x @ w, "x matrix-multiplied by w"),
    "x % w": (lambda x, w: x % w, "x modulo w"),
    "x // w": (lambda x, w: x // w, "x floor-divided by w"),
    "x < w": (lambda x, w: x < w, "x < w"),
    "x >= w": (lambda x, w: x >= w, "x >= w"),
    "x == w": (lambda x, w: x == w, "x == w"),
    "-x": (lambda x, w: -x, "-x"),
    "x[1:]": (lambda x, w: x[1:], "x[1:]"),
    "x[0, None]": (lambda x, w: x[0, None], "x[0, None]"),
    "sin(x)": (lambda x, w: np.sin(x), "the sine of x"),
    "tanh(x)": (lambda x, w: np.tanh(x), "tanh(x)"),
    "sum(x, axis=0)": (lambda x, w: np.sum(x, axis=0), "the sum of x along axis 0"),
    "maximum(x, w)": (lambda x, w: np.maximum(x, w), "maximum(x, w)"),
    "[1 2] * x": (lambda x, w: np.array([1.0, 2.0]) * x, "[1 2] times x"),
    "where([True False], x, w)": (lambda x, w: np.where(np.array([True, False]), x, w),
                                  "where([True False], x, w)"),
    "tan(x)": (lambda x, w: np.tan(x), "tan(x)"),  # not the tangent, which is something else here
    "max(x)": (lambda x, w: np.max(x), "the maximum of x"),
    "sum(x, axis=0, keepdims=True)": (lambda x, w: np.sum(x, axis=0, keepdims=True),
                                      "sum(x, axis=0, keepdims=True)"),
    "[13 numbers, all 1] * t1": (lambda x, w: np.ones(13) * np.sum(x), "an array of length 13 filled with 1 times t1"),
}  # fmt: skip


@pytest.mark.parametrize("text", OPERATIONS)
def test_an_entry_is_written_as_in_code_and_as_one_says_it(text):
    function, aloud = OPERATIONS[text]
    x, w = ad.Variable([1.0, 2.0], name="x"), ad.Variable([3.0, 4.0], name="w")
    with ad.GradientTape() as tape:
        function(x, w)
    labels, entry = named(tape), tape.entries[-1]
    assert labels.text(entry) == text
    assert labels.aloud(entry) == aloud


def test_of_many_arguments_the_first_and_the_last_are_named():
    parts = [ad.Variable(float(k), name=f"p{k}") for k in range(MANY + 3)]
    with ad.GradientTape() as tape:
        np.stack(parts)
    shown = named(tape).text(tape.entries[-1])
    assert shown.startswith("stack(p0, p1, ")
    assert ", …, p14" in shown
    assert "p12" not in shown


def test_a_plain_array_that_has_a_name_in_the_code_is_called_by_it():
    x, data = ad.Variable([1.0, 2.0], name="x"), np.array([5.0, 6.0])
    with ad.GradientTape() as tape:
        x * data
        np.multiply(x, data)
    assert lines(tape) == ["t1 = x * data", "t2 = x * data"]


def test_an_array_of_another_library_is_written_as_one_of_numpy_is():
    many, x = da.ones((4, 3), chunks=2), ad.Variable(6.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        many * x
        (many + 1.0) * x
    labels = Labels()
    for number, entry in enumerate(tape.entries):
        labels.entry(entry, f"t{number}")
    assert [labels.text(entry) for entry in tape.entries] == ["many * x", "[4×3, not computed here] * x"]
    assert labels.aloud(tape.entries[1]) == "a 4×3 array (not computed here) times x"


def test_an_entry_that_was_released_is_written_with_what_the_code_says_of_its_numbers():
    x, k, data = ad.Variable([1.0, 2.0], name="x"), 3, np.array([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = x * 100.0
        y = y * k + data
        y = y * (k + 1) + np.clip(x, 0.0, [1, 2]) - [0.1234567, 0.1234567]
        np.sum(y[1:])
    tape.gradient(y, x)
    assert lines(tape) == [
        "y = x * 100.0",
        "t2 = y * k",
        "y₂ = t2 + data",
        "t4 = y₂ * …",
        "t5 = clip(x, 0.0, [1, 2])",
        "t6 = t4 + t5",
        "y₃ = t6 - …",
        "t8 = y₃[…]",
        "t9 = sum(t8)",
    ]


def test_the_arguments_of_a_function_in_a_part_of_numpy_have_their_own_names():
    matrix, right = ad.Variable(np.eye(2)), ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        np.linalg.solve(matrix, right)
    assert lines(tape) == ["t1 = solve(matrix, right)"], "np.linalg is no argument"


@pytest.mark.parametrize("name", ["getitem", "divide", "negative", "sqrt"])
def test_a_function_of_the_user_s_is_written_as_a_call_whatever_its_name(name):
    def f(*inputs):
        return inputs[0] * 2.0, lambda g: (g,) * len(inputs) if len(inputs) > 1 else g

    f.__name__ = name
    custom, x, y = ad.custom_gradient(f), ad.Variable(1.0, name="x"), ad.Variable(2.0, name="y")
    with ad.GradientTape(persistent=True) as tape:
        one = custom(x)
        both = custom(x, y)
    assert [line for line in lines(tape) if "*" not in line] == [f"t2 = {name}(x)", f"t4 = {name}(x, y)"]
    assert tape.explain(one, x)
    assert tape.explain(both, x)
    aloud = [named(tape).aloud(entry) for entry in tape.entries if entry.name == name]
    assert aloud == [f"{name}(x)", f"{name}(x, y)"]


@pytest.mark.parametrize(("dtype", "written"), [(int, "int"), (np.float32, "float32")])
def test_a_conversion_is_written_as_the_code_writes_it(dtype, written):
    x = ad.Variable(np.ones(3))
    with ad.GradientTape() as tape:
        k = x.astype(dtype)
        k * x
    assert f"k = x.astype({written})" in str(tape)


def test_tapes_whose_name_and_a_number_would_read_like_a_tensor_are_numbered_in_brackets() -> None:
    with ad.trace() as steps:
        for _ in range(2):
            with ad.GradientTape() as t1:
                t1.watch(ad.constant(1.0))
            with ad.GradientTape() as t:
                t.watch(ad.constant(1.0))
    assert [tape["name"] for tape in steps.document()["tapes"]] == ["t1 (1)", "t (1)", "t1 (2)", "t (2)"]


def test_a_comparison_that_python_exchanges_is_written_as_in_the_code():
    c, w, m = ad.constant(2.0), ad.Variable(2.0, name="w"), 1.5
    with ad.GradientTape() as tape:
        tape.watch(c)
        c * 1.0
        _ = m**2 > c, m >= c  # Python computes c < m**2, for a plain number has no answer
        _ = c < w, c <= m  # and w > c, for Variable is a subclass of Tensor
        np.less(m, c)
    assert lines(tape)[1:] == ["t2 = 2.25 > c", "t3 = 1.5 >= c", "t4 = c < w", "t5 = c <= 1.5", "t6 = 1.5 < c"]


def test_the_player_s_program_and_formula_have_the_sides_of_a_comparison_as_the_code_has_them():
    def clip(c):
        m = 1.5
        return np.where(m**2 > c, m * c, c)

    document = ad.play(clip, 2.0).document()
    assert "t1 is 2.25 > c, which is True." in " ".join(step["text"] for step in document["steps"])
    assert "t1 = 2.25 > c" in document["program"]["lines"]
    assert document["formulas"][document["entries"][0]["formula"]] == [">", ["number", 2.25], 0]
