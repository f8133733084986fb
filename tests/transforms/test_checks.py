"""check_gradients: passes what is right to any order, and says of a wrong rule what, where and by how much."""

import re

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad
from autodiff_edu.core.active import now
from autodiff_edu.core.rule import RULES, Rule

X = draw((2, 3), "x")


def wrong(monkeypatch, operation, *pulls, kind="elementwise"):
    monkeypatch.setitem(RULES, operation, Rule(kind, pulls))


# What is right ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.sin, (X,)),
        (lambda x: np.sum(np.tanh(x) ** 2), (X,)),
        (lambda x, y: x @ y, (X, X.T)),
        (lambda p: {"a": p["w"] * p["b"], "b": [np.exp(p["b"])]}, ({"w": X, "b": 0.5},)),
        (lambda x: np.prod(x, axis=0), (X,)),
        (np.multiply, (2.0, 3.0)),
        (lambda x: x * 2, (3.0,)),
        (lambda x: np.sum(x), ([1, 2],)),
        (lambda x: x * x, (np.zeros((0, 2)),)),
        (lambda z: z**3 * np.conj(z), (X + 0.5j,)),
        (lambda z: np.abs(z) ** 2 + np.real(z), (X + 0.5j,)),
        (np.exp, (ad.constant(X, dtype="float32"),)),
        (lambda x: np.log(x) ** 2, (np.array([1e-3, 1e3]),)),  # differences with one step are inaccurate here
        (lambda x: (x + 1e8) - 1e8, (X,)),
        (lambda x: np.sum(np.tanh(x) * x, axis=0), (draw((9, 7), "many"),)),
        (lambda x: {"mask": x > 0, "index": np.argmax(x), "y": x * x}, (X,)),
    ],
)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_right_rules_pass_to_every_order(f, args, order):
    assert ad.check_gradients(f, *args, order=order) is None


def test_the_arguments_are_left_alone_and_no_tape_records():
    x = X.copy()
    ad.check_gradients(np.cos, x)
    np.testing.assert_array_equal(x, X)
    assert now().followers == ()


# What is wrong ------------------------------------------------------------------------------------------------------


def test_a_wrong_rule_is_found_and_the_message_names_all_there_is_to_know(monkeypatch):
    wrong(monkeypatch, np.exp, lambda g, y, x: g * y * 2)

    def growth(x):
        return np.exp(x)

    with pytest.raises(AssertionError) as raised:
        ad.check_gradients(growth, np.array([0.0]))
    assert str(raised.value).startswith(
        "the first derivative of growth is wrong: with respect to x[0], the tape says 2, central differences say 1. "
    )


def test_an_error_in_one_element_alone_is_placed_there(monkeypatch):
    bump = np.zeros((2, 3))
    bump[1, 2] = 0.01
    wrong(monkeypatch, np.sin, lambda g, y, x: g * (np.cos(x) + bump), kind="general")
    with pytest.raises(AssertionError, match=r"\[1, 2\]"):
        ad.check_gradients(np.sin, X)


def test_an_error_in_the_second_argument_alone_is_placed_there(monkeypatch):
    # a linear operation is its own forward rule, so that only the backward pass can tell
    wrong(monkeypatch, np.multiply, lambda g, z, x, y: g * y, lambda g, z, x, y: g * x * 1.5, kind="linear")
    with pytest.raises(AssertionError, match=r"first.*with respect to (y\[\d, \d\]), the tape says") as raised:
        ad.check_gradients(lambda x, y: x * y, X, X)
    found, expected = map(
        float, re.search(r"the tape says (\S+), central differences say (\S+)\. ", str(raised.value)).groups()
    )
    assert found == pytest.approx(1.5 * expected, rel=1e-6)


def test_an_error_in_the_second_derivative_is_found_only_at_the_second_order(monkeypatch):
    wrong(monkeypatch, np.cos, lambda g, y, x: g * np.sin(x))
    ad.check_gradients(np.sin, X, order=1)
    with pytest.raises(AssertionError, match="second derivative"):
        ad.check_gradients(np.sin, X, order=2)


def test_an_error_in_the_third_derivative_is_found_only_at_the_third_order(monkeypatch):
    # sin' is cos, and cos' is -sin, written in a way whose own derivative goes through arctanh
    wrong(monkeypatch, np.cos, lambda g, y, x: -g * np.tanh(np.arctanh(0.5 * np.sin(x))) * 2)
    ad.check_gradients(np.sin, X, order=3)
    wrong(monkeypatch, np.arctanh, lambda g, y, x: g * 1.1 / (1 - x * x))
    ad.check_gradients(np.sin, X, order=2)
    with pytest.raises(AssertionError, match="third derivative"):
        ad.check_gradients(np.sin, X, order=3)


def test_a_missing_contribution_is_found(monkeypatch):
    monkeypatch.setitem(RULES, np.arctan2, Rule("elementwise", (RULES[np.arctan2].pulls[0], None)))
    with pytest.raises(AssertionError, match="arctan2"):
        ad.check_gradients(np.arctan2, X, X)


def test_a_forward_pass_that_is_wrong_alone_is_found_as_such(monkeypatch):
    wrong(monkeypatch, np.square, lambda g, y, x: g * 2 * x, kind="linear")
    with pytest.raises(AssertionError, match=r"square.*, forward mode says"):
        ad.check_gradients(np.square, X)


def test_a_wrong_complex_rule_is_found_in_the_imaginary_part_too(monkeypatch):
    wrong(monkeypatch, np.exp, lambda g, y, x: g * np.conjugate(y), kind="general")
    with pytest.raises(
        AssertionError, match=r"exp.*result(\[\d, \d\]) with respect to x\1, the tape says \S+j, .*\dj\. "
    ):
        ad.check_gradients(np.exp, X + 0.5j)


def test_a_wrong_scalar_has_no_index_in_the_message(monkeypatch):
    wrong(monkeypatch, np.exp, lambda g, y, x: -g * y)
    with pytest.raises(AssertionError, match=r"wrong: the tape says -2\.7182818, .* say 2\.7182818, at x = 1\. Check"):
        ad.check_gradients(np.exp, 1.0)


def test_a_wrong_rule_is_found_however_small_its_derivative():
    @ad.custom_gradient
    def small(x):
        return 1e-6 * x * x, lambda g: g * 3e-6 * x  # should be 2e-6

    with pytest.raises(AssertionError, match=r"first.*small"):
        ad.check_gradients(small, X)
    large = ad.custom_gradient(lambda x: (1e8 + x * x, lambda g: g * 3.0 * x))
    with pytest.raises(AssertionError, match=r"first"):
        ad.check_gradients(large, X)


def test_a_wrong_element_is_found_beside_a_much_larger_one():
    @ad.custom_gradient
    def uneven(p):
        return 1e8 * p[0] + p[1] ** 2, lambda g: g * np.stack([1e8 + 0 * p[1], 3 * p[1]])  # should be 2 * p[1]

    with pytest.raises(AssertionError, match=r"with respect to p\[1\], the tape says 1\.5, .* say 1\.00"):
        ad.check_gradients(uneven, np.array([2.0, 0.5]))


def test_among_many_numbers_the_wrong_one_is_named(monkeypatch):
    bump = np.zeros((7, 9))
    bump[4, 3] = 0.5
    wrong(monkeypatch, np.multiply, lambda g, z, x, y: g * (y + bump), RULES[np.multiply].pulls[1], kind="linear")
    with pytest.raises(
        AssertionError, match=r"result\[4, 3\] with respect to x\[4, 3\], the tape says 2\.5, .* say 2\."
    ):
        ad.check_gradients(lambda x: x * 2.0, draw((7, 9), "many"))


def test_a_wrong_imaginary_part_is_named_with_its_element(monkeypatch):
    wrong(monkeypatch, np.negative, lambda g, y, z: -np.real(g) - 2j * np.imag(g), kind="linear")
    with pytest.raises(
        AssertionError, match=r"the imaginary part of result(\[.*\]) with respect to z\1, .* 0-2j, .* 0-1j\."
    ):
        ad.check_gradients(lambda z: -z, X + 1j)


def test_an_element_that_is_not_finite_is_named_and_no_other():
    with (
        np.errstate(all="ignore"),
        pytest.raises(AssertionError, match=r"result\[2\] .* x\[2\],.* say nan.*not finite around"),
    ):
        ad.check_gradients(np.log, np.array([0.3, 1.2, -0.7]))


@pytest.mark.parametrize(
    ("f", "x", "said"),
    [
        (np.abs, 0.0, r"corner here: absolute, .*: any slope from -1 to 1 fits; this rule takes 0$"),
        (lambda x: np.maximum(x, 0) * 3, 0.0, r"corner here: maximum, .* from 0 to 1 fits; this rule takes 0\.5$"),
        (lambda x: np.abs(x[0]) + np.abs(x[1]), [0.0, 0.0], r"corner here, and at 1 more: absolute"),
        (lambda x: np.where(x > 1, 2 * x, x), 1.0, "kink"),
    ],
)
def test_a_corner_or_a_jump_is_not_taken_for_an_inaccurate_difference(f, x, said):
    with pytest.raises(AssertionError, match=said):
        ad.check_gradients(f, x)


# What the message names ---------------------------------------------------------------------------------------------


def tax(income):
    extra = income - 20.0
    return 2.0 + (0.2 + 0.01 * float(extra)) * extra


def test_of_one_number_it_gives_both_slopes_and_names_the_line_at_which_a_plain_number_left():
    with pytest.raises(AssertionError) as raised:
        ad.check_gradients(tax, 40.0)
    said = str(raised.value)
    assert said.startswith(
        "the first derivative of tax is wrong: the tape says 0.4, central differences say 0.6, at income = 40. "
        f"test_checks.py, line {tax.__code__.co_firstlineno + 2}: float(extra) returns the plain numbers of extra"
    )
    assert "rule" not in said


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * x.numpy(),
        lambda x: x * x.tolist(),
        lambda x: x * ad.constant(x.numpy()),
        lambda x: np.stack([x, x * float(x)]),
        lambda x: {"a": x * float(x)},
        ad.checkpoint(lambda x: x * float(x)),
    ],
)
def test_a_plain_number_on_the_way_is_suspected_first_whatever_took_it_out(f):
    with pytest.raises(
        AssertionError, match=r"wrong: .*the tape says 2, central differences say 4, .*, line \d+: .*plain"
    ):
        ad.check_gradients(f, 2.0)


def test_a_comparison_and_a_number_that_a_backward_function_has_kept_are_suspected_with_their_lines():
    def slope(x):
        return x * 2.0 if x > 1.0 else x  # another branch begins here

    line = slope.__code__.co_firstlineno + 1
    with pytest.raises(AssertionError, match=rf"Check x > 1\.0 in test_checks\.py, line {line}, and whether"):
        ad.check_gradients(slope, 1.0)

    @ad.custom_gradient
    def leaves(x):
        kept = 2.0 * x.numpy()
        return x * x, lambda dy: dy * kept

    said = r"second derivative .* test_checks\.py, line \d+: x\.numpy\(\) returns the plain numbers"
    with pytest.raises(AssertionError, match=said):
        ad.check_gradients(leaves, 3.0)


def test_a_registered_rule_is_suspected_only_if_there_is_one_on_the_way():
    with ad.register_gradient(np.exp, lambda g, y, x: g * y * 2, replace=True):
        with pytest.raises(AssertionError, match=r"Check the rule that you registered for np\.exp, and whether"):
            ad.check_gradients(lambda x: np.exp(x) * np.sin(x), 1.0)
        with pytest.raises(AssertionError) as raised:
            ad.check_gradients(lambda x: np.where(x > 1, 2 * x, x), 1.0)
    assert "registered" not in str(raised.value)
    assert "float(x), x.numpy() or a comparison, and whether the function has a kink" in str(raised.value)
    f = ad.custom_gradient(lambda x: (x * x, lambda dy: dy * x))
    with pytest.raises(AssertionError, match="Check the backward function of <lambda>, and whether"):
        ad.check_gradients(f, 2.0)


def test_a_rule_that_forgets_its_cotangent_is_right_for_1_and_wrong_for_2():
    @ad.custom_gradient
    def forgetful(x):
        return x * x, lambda dy: 2.0 * x

    with pytest.raises(AssertionError) as raised:
        ad.check_gradients(forgetful, 3.0)
    assert str(raised.value) == (
        "the first derivative of forgetful is wrong: a cotangent of 1 becomes 6, which is right, but a cotangent of 2 "
        "becomes 6 in place of 12, at x = 3. A rule must multiply by the cotangent that it receives"
    )


@pytest.mark.parametrize("shape", [(5,), (300,), (20, 30)])
@pytest.mark.parametrize("kind", ["general", "linear"])
def test_the_only_wrong_slope_is_found_among_many_results_and_arguments(monkeypatch, shape, kind):
    bump = np.zeros(shape)
    bump[place := tuple(n // 3 for n in shape)] = 0.25
    wrong(monkeypatch, np.negative, lambda g, y, x: -g * (1.0 + bump), kind=kind)
    where = re.escape(", ".join(map(str, place)))
    with pytest.raises(AssertionError, match=rf"result\[{where}\] .* x\[{where}\], the tape says -1\.25, .* say -1\."):
        ad.check_gradients(lambda x: -x, draw(shape, "only"))


@pytest.mark.parametrize("length", [3, 40])
def test_a_wrong_second_derivative_is_a_slope_of_a_slope_of_one_result(monkeypatch, length):
    wrong(monkeypatch, np.cos, lambda g, y, x: g * np.sin(x))  # the sign is wrong
    x = draw((length,), "second")
    x[length // 2] = 2.0
    with pytest.raises(AssertionError) as raised:
        ad.check_gradients(lambda x: {"a": x * 3.0, "b": np.sin(x)}, x)
    said = re.search(
        r"for result\['b'\]\[(\d+)\] with respect to x\[\1\] and x\[\1\], the tape says (\S+), .* say (\S+)\. ",
        str(raised.value),
    )
    k, found, expected = map(float, said.groups())
    assert found == pytest.approx(np.sin(x[int(k)]), rel=1e-6)
    assert expected == pytest.approx(-np.sin(x[int(k)]), rel=1e-6)


def test_a_mistake_that_shows_only_in_a_sum_is_found_and_said_to_be_along_a_direction(monkeypatch):
    x, w = draw((4000,), "sum"), draw((4000,), "weights")
    off = 0.9e-4 * np.sign(np.random.default_rng(1).standard_normal(4000) * w)  # each by itself is near enough
    wrong(monkeypatch, np.negative, lambda g, y, x: -g * (1.0 + off), kind="linear")
    with pytest.raises(AssertionError, match=r"wrong: along a random direction, the tape says"):
        ad.check_gradients(lambda x: np.sum(-x * w), x, order=1)


def test_nothing_speaks_of_a_pass():
    for f in (tax, lambda x: np.abs(x - 40.0)):
        with pytest.raises(AssertionError) as raised:
            ad.check_gradients(f, 40.0)
        assert "pass" not in str(raised.value)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, -1, 1.5, "2", None])
def test_the_order_is_a_whole_number_of_at_least_one(order):
    with pytest.raises(ValueError, match="order"):
        ad.check_gradients(np.sin, X, order=order)


def test_the_order_may_be_a_number_of_numpy():
    ad.check_gradients(np.sin, X, order=np.int64(2))


@pytest.mark.parametrize("f", [lambda x: {}, lambda x: x > 0, lambda x: [np.argmax(x)]])
def test_a_result_without_numbers_to_compare_is_an_error(f):
    with pytest.raises(ValueError, match=r"nothing to check: the result"):
        ad.check_gradients(f, X)


def test_a_function_that_gives_no_tensor_says_so():
    with pytest.raises(TypeError, match="must be a Tensor"):
        ad.check_gradients(lambda x: 3.0, X)


def test_whole_numbers_and_words_are_passed_on_as_they_are_and_not_checked():
    seen = []

    def power(x, n, index, how):
        seen.append((n, index, how))
        return x[index] ** n["n"]

    assert ad.check_gradients(power, X, {"n": 3}, np.array([1, 0]), "how", order=2) is None
    n, index, how = seen[0]
    assert (n, how) == ({"n": 3}, "how")
    assert index.dtype == int


def test_an_argument_keeps_its_name_when_whole_numbers_stand_before_it(monkeypatch):
    wrong(monkeypatch, np.multiply, lambda g, z, x, y: g * y, lambda g, z, x, y: g * x * 1.5, kind="linear")
    with pytest.raises(AssertionError, match=r"first derivative.*with respect to p\['y'\]\[\d, \d\], "):
        ad.check_gradients(lambda n, x, p: x * p["y"], 2, X, {"y": X})


@pytest.mark.parametrize("args", [(), (3,), (np.array([1, 2]), "a"), ([],), (ad.constant([1, 2]),)])
def test_nothing_to_check_is_an_error_and_no_pass(args):
    with pytest.raises(ValueError, match=r"nothing to check.*3\.0"):
        ad.check_gradients(lambda *args: ad.constant(1.0), *args)


def test_an_argument_is_not_named_after_what_the_reader_s_line_assigns_to():
    with pytest.raises(AssertionError) as raised:
        outcome = ad.check_gradients(lambda income: 0.1 * income * float(income), 40.0)  # noqa: F841
    assert "float(income) returns the plain numbers of income" in str(raised.value)
    assert "outcome" not in str(raised.value)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda d: 1 / d, (1e-6,)),
        (lambda e, d: 1e-6 / (3 * e * np.pi * d**4 / 64), (2.1e11, 1e-6)),
        (lambda e: 2 * e, (2.1e12,)),
        (lambda e, d: e + d, (2.1e12, 1e-6)),
        (lambda v: np.sum(1 / v), (np.array([1e-6, 2.0, 3e8]),)),
        (lambda v: np.sum(1 / v), (np.full(30, 1e-6),)),
        (lambda z: np.real(1 / z), (1e-6 + 1e-6j,)),
        (lambda x: 1 + x**3, (1e-17,)),
    ],
)
def test_numbers_in_small_and_large_units_are_moved_by_a_part_of_themselves(f, args):
    ad.check_gradients(f, *args)


@pytest.mark.parametrize("x", [1e-6, np.full(30, 1e-6), np.array([1e-6, 2.0, 3e8])])
def test_a_wrong_rule_is_found_in_small_units_with_both_slopes(x):
    @ad.custom_gradient
    def inverse(x):
        return 1 / x, lambda dy: -2 * dy / x**2

    with pytest.raises(AssertionError, match=r"the tape says -2e\+12, central differences say -1e\+12"):
        ad.check_gradients(lambda x: np.sum(inverse(x)), x)


@pytest.mark.parametrize("x", [1e-17, 1e-6, 3e7])
def test_a_slope_that_is_missing_is_found_however_small_the_number(x):
    with pytest.raises(AssertionError, match=r"says 0, central differences say (3|2\.9996)"):
        ad.check_gradients(ad.custom_gradient(lambda x: (3 * x, lambda dy: 0 * dy)), x)


MIXED = np.array([1e6, *np.linspace(0.5, 2, 29)])
TINY = np.array([0, *np.linspace(0.5, 2, 30)[1:5], *np.full(25, 1e-6)])


@pytest.mark.parametrize(
    ("f", "pull", "x"),
    [
        (np.sum, lambda dy, x: dy * np.where(x == 1e6, 1.0, 2.0), MIXED),
        (lambda x: np.sum(x * x), lambda dy, x: dy * np.where(x == 1e6, 2 * x, x), MIXED),
        (lambda x: np.sum(x * x), lambda dy, x: dy * np.where(x < 1e-3, 10 * x, 2 * x), TINY),
        (lambda x: np.round(x * 100) / 100, lambda dy, x: dy, 1e9 + 0.303),
        (lambda x: np.maximum(x - 1e6, 0), lambda dy, x: 0.5 * dy, 1e6 + 3),
    ],
)
def test_steps_in_proportion_do_not_hide_what_a_short_step_sees(f, pull, x):
    with pytest.raises(AssertionError, match="is wrong"):
        ad.check_gradients(ad.custom_gradient(lambda x: (f(x), lambda dy: pull(dy, x))), x)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x", [[1e-200, 1e200], [1e-310, 1.0], [1e-320, 0.0]])
def test_numbers_of_all_sizes_make_no_warnings(x):
    ad.check_gradients(np.sum, np.array(x))
