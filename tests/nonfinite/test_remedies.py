"""What to write in place of an operation that made a NaN or an infinity: every remedy is tried out."""

import numpy as np
import pytest
from test_nonfinite import found, line

import autodiff_edu as ad
from autodiff_edu.nonfinite.remedies import DOMAINS, LARGE, LOOK, REMEDIES

# The operations -------------------------------------------------------------------------------------------------------

FAILING = [
    ("log", np.log, (0.0,), "forward", "-inf"),
    ("log", np.log, (-1.0,), "forward", "nan"),
    ("log2", np.log2, (0.0,), "forward", "-inf"),
    ("log10", np.log10, (0.0,), "forward", "-inf"),
    ("log1p", np.log1p, (-1.0,), "forward", "-inf"),
    ("sqrt", np.sqrt, (-1.0,), "forward", "nan"),
    ("sqrt", np.sqrt, (0.0,), "backward", "inf"),
    ("cbrt", np.cbrt, (0.0,), "backward", "inf"),
    ("divide", np.divide, (1.0, 0.0), "forward", "inf"),
    ("divide", np.divide, (0.0, 0.0), "forward", "nan"),
    ("reciprocal", np.reciprocal, (0.0,), "forward", "inf"),
    ("remainder", np.remainder, (1.0, 0.0), "forward", "nan"),
    ("fmod", np.fmod, (1.0, 0.0), "forward", "nan"),
    ("floor_divide", np.floor_divide, (1.0, 0.0), "forward", "inf"),
    ("power", np.power, (0.0, -1.0), "forward", "inf"),
    ("power", np.power, (-2.0, 0.5), "forward", "nan"),
    ("power", np.power, (0.0, 0.5), "backward", "inf"),
    ("float_power", np.float_power, (0.0, -1.0), "forward", "inf"),
    ("arcsin", np.arcsin, (2.0,), "forward", "nan"),
    ("arcsin", np.arcsin, (1.0,), "backward", "inf"),
    ("arccos", np.arccos, (-1.0,), "backward", "-inf"),
    ("arctanh", np.arctanh, (1.0,), "forward", "inf"),
    ("arccosh", np.arccosh, (0.5,), "forward", "nan"),
    ("arccosh", np.arccosh, (1.0,), "backward", "inf"),
    ("arctan2", np.arctan2, (0.0, 0.0), "backward", "nan"),
    ("angle", np.angle, (0j,), "backward", "nan"),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "operation", "at", "direction", "value"), FAILING)
def test_an_operation_is_named_and_its_remedy_works(name, operation, at, direction, value, dtype):
    if isinstance(at[0], complex):
        dtype = {"float64": "complex128", "float32": "complex64"}[dtype]
    fine = 2.0 if name == "arccosh" else 0.5
    at = [np.array([fine, number], dtype) for number in at]
    result = found(operation, *at)
    assert (result.operation, result.direction, result.index) == (name, direction, (1,))
    assert result.value == value or "c" in np.dtype(dtype).kind
    np.testing.assert_equal(result.inputs, tuple(a[1] for a in at))
    if name in DOMAINS and DOMAINS[name][0](*(a[1] for a in at)):
        assert result.remedy.startswith(f"The function {name} is only defined for {DOMAINS[name][1]}, but x ")
        assert "np." not in result.remedy
        return
    code = result.remedy.splitlines()[-1].strip()
    known = {"np": np, "limit": 3.0}
    again = found(lambda *xs: eval(code, known | dict(zip("xyz", xs, strict=False))), *at)
    assert again is None, code
    if (name, value) == ("divide", "nan"):
        x, y = at
        np.testing.assert_array_equal(eval(code, known | {"x": x, "y": y}), [1.0, 3.0])


def test_outside_a_domain_the_numbers_and_the_domain_are_named_but_a_guarded_operation_gets_its_where():
    said = "Any number you put in its place would be made up, so find out where the"
    assert found(lambda x: np.log(x - 3.0), 1.0).remedy == (
        f"The function log is only defined for numbers above 0, but x - 3.0 is -2. {said} -2 comes from."
    )
    assert found(np.arccos, [0.5, -1.5]).remedy == (
        f"The function arccos is only defined for numbers from -1 to 1, but x contains -1.5. {said} -1.5 comes from."
    )
    guarded = found(lambda x: np.where(x > 0, np.sqrt(x), 0.0), -1.0)
    assert "safe = np.where(x > 0, x, 1.0)" in guarded.remedy


def test_for_0_divided_by_0_the_reader_is_asked_for_the_limit():
    result = found(lambda x: np.sin(x) / x, 0.0)
    assert (
        result.remedy.splitlines()[1].strip()
        == "np.where(x == 0, limit, np.divide(np.sin(x), np.where(x == 0, 1.0, x)))"
    )
    assert "1 divided by 0" in found(lambda x: 1.0 / x, 0.0).account
    assert "limit" not in found(lambda x: 1.0 / x, 0.0).remedy


def test_every_operation_in_the_table_has_a_failing_example():
    assert {name for name, *_ in FAILING} == {name for name, known in REMEDIES.items() if known.code}


@pytest.mark.parametrize(
    ("f", "at", "name"),
    [
        (lambda x: x * 1e200, 1e200, "multiply"),
        (lambda x: x + x, 1.5e308, "add"),
        (lambda x: x / 1e-200, 1e200, "divide"),
        (lambda x: x**400, 10.0, "power"),
        (np.sum, [1e308, 1e308], "sum"),
        (np.prod, [1e200, 1e200], "prod"),
        (lambda x: x @ x, [1e200, 1e200], "matmul"),
        (lambda x: np.prod(x), np.full(400, 10.0), "prod"),
        (lambda x: x.astype("float16"), 1e6, "cast"),
    ],
)
def test_numbers_that_grow_too_large_are_named_so(f, at, name):
    result = found(f, at)
    assert (result.operation, result.value, result.direction, result.remedy) == (name, "inf", "forward", LARGE)


@pytest.mark.parametrize(
    ("f", "at", "name"),
    [
        (lambda x: np.linalg.slogdet(x)[1], [[1.0, 2.0], [2.0, 4.0]], "slogdet"),
        (lambda x: np.var(x, ddof=2), [1.0, 2.0], "var"),
    ],
)
@pytest.mark.filterwarnings("ignore:Degrees of freedom")
def test_small_numbers_are_not_said_to_be_too_large(f, at, name):
    result = found(f, at)
    assert (result.operation, result.remedy) == (name, LOOK)


def test_a_large_cotangent_is_named_too_large():
    result = found(lambda x: x * 100.0 * 1e307, 1e-300)
    assert (result.direction, result.remedy) == ("backward", LARGE)


@pytest.mark.parametrize("choice", [True, False])
def test_an_argument_that_binds_loosely_gets_parentheses(choice):
    result = found(lambda x: 1 / (2 * x if choice else x), [0.0, 5.0])
    assert result.remedy.splitlines()[1].strip() == (
        "np.divide(1, np.where((2 * x if choice else x) == 0, 1.0, (2 * x if choice else x)))"
    )
    result = found(lambda x: x / (x > 0), [1.0, 0.0])
    quotient = "np.divide(x, np.where((x > 0) == 0, 1.0, (x > 0)))"
    assert result.remedy.splitlines()[1].strip() == f"np.where((x > 0) == 0, limit, {quotient})"


@pytest.mark.parametrize("f", [lambda x: x / 0.0, lambda x: x // 0.0, lambda x: np.fmod(x, 0.0)])
def test_a_divisor_that_is_written_as_0_is_to_be_replaced(f):
    assert found(f, [1.0, 2.0]).remedy == "This line always divides by 0.0: give it another divisor."


def test_numbers_that_are_not_python_are_not_written_as_code():
    result = found(ad.grad(lambda x: np.sum(np.log(x + 0.0))), [0.0, 1.0])
    assert "[1 1] /" in result.account
    assert result.remedy == "Keep its input away from where this happens, for example with np.where."


@pytest.mark.parametrize("name", ["divide", "sqrt", "exp", "multiply"])
def test_a_custom_gradient_called_like_a_numpy_function_gets_none_of_its_remedies(name):
    def function(x):
        return x / 0.0, lambda dy: dy

    function.__name__ = name
    assert found(ad.custom_gradient(function), [1.0, 2.0]).remedy == (
        f"Check what {name} computes there, for example with np.isfinite."
    )


def test_a_function_that_cannot_fail_is_named_before_the_patch():
    repair, otherwise, patch = found(np.log, [0.0, 1.0]).remedy.splitlines()
    assert "nn.log_softmax" in repair
    assert otherwise.startswith("Otherwise, ")
    assert patch.strip() == "np.log(np.maximum(x, 2e-16))"


@pytest.mark.parametrize("function", [np.exp, np.exp2, np.expm1, np.sinh, np.cosh])
def test_what_overflows_is_not_clipped_to_a_finite_and_wrong_number(function):
    result = found(function, [0.0, 1e4])
    assert (result.operation, result.value, result.direction, result.index) == (
        function.__name__,
        "inf",
        "forward",
        (1,),
    )
    remedy = result.remedy
    assert remedy.startswith("Use nn.softplus for log(1 + exp(x)), ")
    assert "np.minimum" not in remedy
    assert "np.clip" not in remedy


def test_the_remedy_knows_the_dtype():
    assert "np.maximum(x, 2e-16)" in found(np.log, np.float64(0)).remedy
    assert "np.maximum(x, 1e-07)" in found(np.log, np.float32(0)).remedy


# where ----------------------------------------------------------------------------------------------------------------


def remedied(result, x):
    """Run the code that a remedy gives, and search it again."""
    code = "\n".join(written.strip() for written in result.remedy.splitlines()[1:])
    *before, last = code.splitlines()

    def f(x):
        names = {"np": np, "x": x}
        exec("\n".join(before), names)
        return eval(last, names)

    return found(f, x)


def test_the_other_branch_of_a_where_stays_as_it_is():
    result = found(lambda x: np.where(x > 1, np.log(x), -np.log(x + 1)), [0.0, 0.5, 4.0])
    assert result.remedy.splitlines()[-1].strip() == "np.where(x > 1, np.log(safe), -np.log(x + 1))"
    result = found(lambda x: np.where(x > 1, np.log(x), 2.0 * np.log(x)), [0.0, 0.5, 4.0])
    assert "safe), 2.0 * np.log(safe)" not in result.remedy


@pytest.mark.parametrize(
    ("f", "x", "name", "direction", "remedy"),
    [
        (lambda x: np.where(x > 0, np.log(x), 0.0), [0.0, 4.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.log(safe), 0.0)"]),
        (lambda x: np.where(x > 0, np.sqrt(x), 0.0), [0.0, 4.0], "sqrt", "backward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.sqrt(safe), 0.0)"]),
        (lambda x: np.where(x != 0, np.sin(x) / x, 1.0), [0.0, 1.0], "divide", "forward",
         ["safe = np.where(x != 0, x, 1.0)", "np.where(x != 0, np.sin(safe) / safe, 1.0)"]),
        (lambda x: np.where(x > 0, np.log(x) / x, 0.0), [0.0, 1.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.log(safe) / safe, 0.0)"]),
        (lambda x: np.where(x > 0, np.log(np.sqrt(x)), 0.0), [0.0, 1.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.log(np.sqrt(safe)), 0.0)"]),
        (lambda x: np.where(x > 0, x / np.sqrt(x), 0.0), [0.0, 1.0], "divide", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, safe / np.sqrt(safe), 0.0)"]),
        (lambda x: np.where(x > 0, np.log(x) * np.sum(x), 0.0), [0.0, 1.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.log(safe) * np.sum(x), 0.0)"]),
        (lambda x: np.where(x > 700, 0.0, np.exp(x)), [1.0, 1000.0], "exp", "forward",
         ["safe = np.where(x > 700, 0.0, x)", "np.where(x > 700, 0.0, np.exp(safe))"]),
        (lambda x: np.where(x > 0, 3.0 * np.cos(np.sqrt(x)) + 1.0, 0.0), [0.0, 1.0], "sqrt", "backward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, 3.0 * np.cos(np.sqrt(safe)) + 1.0, 0.0)"]),
        (lambda x: np.where(x > 0, np.exp(2.0 * np.log(x)), 0.0), [0.0, 1.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.exp(2.0 * np.log(safe)), 0.0)"]),
        (lambda x: np.where(x > 0, np.where(x < 5, np.log(x), 1.0), 0.0), [0.0, 1.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.where(x < 5, np.log(safe), 1.0), 0.0)"]),
        (lambda x: np.where(x < 5, np.where(x > 0, np.log(x), 1.0), 0.0), [0.0, 1.0], "log", "forward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.log(safe), 1.0)"]),
        (lambda x: np.where(x < 1, np.arcsin(x), np.pi / 2), [0.0, 1.0], "arcsin", "backward",
         ["safe = np.where(x < 1, x, 0.0)", "np.where(x < 1, np.arcsin(safe), np.pi / 2)"]),
        (lambda x: np.where(x > 1, np.log(x - 1), 0.0), [1.0, 3.0], "log", "forward",
         ["safe = np.where(x > 1, x - 1, 1.0)", "np.where(x > 1, np.log(safe), 0.0)"]),
        (lambda x: np.where(x > 0, np.reshape(np.sqrt(x), (2,)), 0.0), [0.0, 1.0], "sqrt", "backward",
         ["safe = np.where(x > 0, x, 1.0)", "np.where(x > 0, np.reshape(np.sqrt(safe), (2,)), 0.0)"]),
    ],
)  # fmt: skip
def test_a_bad_branch_that_where_does_not_take_is_remedied_by_a_second_where(f, x, name, direction, remedy):
    result = found(f, x)
    assert (result.operation, result.direction) == (name, direction)
    assert "The where in test_remedies.py, line" in result.account
    assert [written.strip() for written in result.remedy.splitlines()[1:]] == remedy
    assert remedied(result, x) is None


@pytest.mark.parametrize(
    ("f", "x", "code", "repair"),
    [
        (lambda x: 1.0 / np.sqrt(x), [0.0, 1.0],
         "np.sqrt(np.maximum(x, 2e-16))", lambda x: 1.0 / np.sqrt(np.maximum(x, 2e-16))),
        (lambda x: x / np.sqrt(x @ x), [0.0, 0.0],
         "np.sqrt(np.maximum(x @ x, 2e-16))", lambda x: x / np.sqrt(np.maximum(x @ x, 2e-16))),
        (lambda x: np.log(2.0 * np.sqrt(x)), [0.0, 1.0],
         "np.sqrt(np.maximum(x, 2e-16))", lambda x: np.log(2.0 * np.sqrt(np.maximum(x, 2e-16)))),
        (lambda x: np.log(x**0.5), [0.0, 1.0],
         "np.power(np.maximum(x, 2e-16), 0.5)", lambda x: np.log(np.power(np.maximum(x, 2e-16), 0.5))),
    ],
)  # fmt: skip
def test_the_operation_before_is_repaired_where_its_derivative_fails_as_well(f, x, code, repair):
    assert found(f, x).remedy.splitlines()[-1].strip() == code
    assert found(repair, x) is None


def test_a_branch_that_was_computed_on_a_line_of_its_own_is_repaired_there():
    def f(x):
        root = np.sqrt(x)  # the branch
        scaled = 2.0 * root
        return np.where(x <= 0, 0.0, scaled)  # the choice

    result = found(f, [0.0, 4.0])
    assert result.remedy.splitlines()[1:] == [
        "    safe = np.where(x <= 0, 1.0, x)",
        "    root = np.sqrt(safe)",
        "    np.where(x <= 0, 0.0, scaled)",
    ]
    assert result.place.line == line("# the branch", __file__)
    assert f"The where in test_remedies.py, line {line('# the choice', __file__)} does not take" in result.account


def test_a_where_over_several_lines_is_remedied_by_the_names_of_the_table():
    result = found(
        lambda x: np.where(
            x > 0,
            np.log(x),
            0.0,
        ),
        [0.0, 1.0],
    )
    assert "safe = np.where(x > 0, x, 1.0)" in result.remedy
    assert "np.log(safe)" in result.remedy


def test_a_where_with_a_scalar_condition_or_a_scalar_branch_is_found():
    assert "does not take" in found(lambda x: np.where(False, np.sqrt(x), 1.0), 0.0).account
    assert "does not take" in found(lambda x: np.where([False, False], np.sqrt(x), 1.0), 0.0).account


def test_a_bad_branch_that_does_no_harm_is_named_and_said_to_do_none():
    result = found(lambda x: np.where(x > 0, np.log(x), 0.0), [-1.0, 4.0])
    assert (result.operation, result.value) == ("log", "nan")
    assert "It does no harm here" in result.account
    assert remedied(result, [-1.0, 4.0]) is None


def test_the_where_is_named_and_not_a_product_that_silences_other_elements():
    result = found(lambda x: np.where(x > 0, np.sqrt(x) * np.array([1.0, 0.0]), 0.0), [0.0, 1.0])
    assert "The where in" in result.account


def test_the_branch_that_is_taken_is_not_blamed_on_the_where():
    result = found(lambda x: np.where(x >= 0, np.log(x), 0.0), [0.0, 1.0])
    assert "does not take" not in str(result)
    assert "np.maximum(x, 2e-16)" in result.remedy


def test_indexing_that_leaves_nothing_out_keeps_the_double_where():
    result = found(lambda x: np.where(x > 0, np.sqrt(x), 0.0)[::-1], [0.0, 1.0])
    assert result.remedy.splitlines()[1].strip() == "safe = np.where(x > 0, x, 1.0)"


def by_its_value(x):
    y = np.sqrt(x)
    return np.where(y > 0, y, 0.0)


def by_its_plain_value(x):
    y = np.sqrt(x)
    return np.where(y.numpy() > 0, y, 0.0)


def by_isfinite(x):
    y = np.log(x)
    return np.where(np.isfinite(y), 2.0 * y, 0.0)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (by_its_value, [0.0, 1.0]),  # circular: the condition is computed from the result
        (by_its_plain_value, [0.0, 1.0]),
        (by_isfinite, [0.0, 1.0]),
        (lambda x: np.nansum(np.log(x)), [-1.0, 1.0]),
        (lambda x: np.where((x > 0).reshape(2, 1), np.sqrt(x).reshape(2, 1), 0.0), [0.0, 1.0]),  # of another shape
        (lambda x: np.where((x > 0)[::-1], np.sqrt(x)[::-1], 0.0), [0.0, 1.0]),  # in another order
        (lambda x: np.where(x.T > 0, np.sqrt(x).T, 0.0), [[0.0, 1.0], [1.0, 1.0]]),
        (lambda x: np.where(x[:, 0] > 0, np.linalg.norm(1 / x, axis=1), 0.0), [[0.0, 1.0], [1.0, 2.0]]),
    ],
)
def test_where_the_condition_does_not_fit_the_input_the_advice_is_in_words(f, x):
    result = found(f, x)
    assert "does not take this element" in result.account
    assert result.remedy.startswith("Make the input harmless before the operation sees it: compute a condition from ")
    assert "write safe = np.where(condition, input, 1.0)" in result.remedy


def test_a_condition_for_all_elements_goes_anywhere():
    result = found(lambda x: np.where(True, 0.0, np.sum(np.sqrt(x))), [0.0, 1.0])
    assert remedied(result, [0.0, 1.0]) is None


@pytest.mark.parametrize("f", [np.log, np.sqrt, lambda z: z**0.5])
def test_a_complex_number_is_kept_away_from_zero_without_a_maximum(f):
    z = ad.Variable(0j, name="z")
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = np.real(f(z))
    text = str(tape.first_nonfinite(y, z))
    assert "np.maximum" not in text
    assert "np.where(z == 0, 2e-16, z)" in text


def test_of_a_large_complex_number_it_says_no_more_than_to_look():
    z = ad.Variable(1000 + 0j, name="z")
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = np.real(np.exp(z))
    assert "np.minimum" not in str(tape.first_nonfinite(y, z))


def test_a_number_just_outside_a_domain_by_rounding_gets_a_guard():
    assert "np.maximum" in found(lambda x: np.sqrt(np.mean(x * x) - np.mean(x) ** 2), [0.1, 0.1, 0.1]).remedy
    assert "np.clip" in found(np.arccos, 1.0000000000000002).remedy


def test_a_guard_is_not_advised_where_another_element_is_outside_the_domain():
    for at in ([0.0, -2.0], [-2.0, 0.0]):
        assert "only defined for numbers above 0, but x contains -2." in found(np.log, at).remedy


def test_a_limit_is_not_advised_where_something_else_is_divided_by_0_too():
    for at in ([0.0, 1.0], [1.0, 0.0]):
        assert "limit" not in found(lambda x: x / np.zeros(2), at).remedy
