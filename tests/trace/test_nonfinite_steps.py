"""The step at which a NaN or an infinity begins says so, and no other step does."""

import re

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.text.formatting import find_nonfinite
from autodiff_edu.trace.arrays import array


def births(function, *values):
    def pulled_back():
        xs = [ad.Variable(value, name=name) for value, name in zip(values, "xy", strict=False)]
        with ad.GradientTape() as tape:
            result = function(*xs)
        tape.gradient(result, xs)

    return births_in(pulled_back)


def births_in(run):
    with ad.trace() as traced, np.errstate(all="ignore"):
        run()
    return [
        (step["kind"], step["born"], ADVICE.sub("", step["text"][step["text"].index(" Here ") + 1 :]))
        for step in traced.document()["steps"]
        if "born" in step
    ]


ADVICE = re.compile(
    r"(?<=\.) (Instead,|Use|Keep|Make|Call|Check|Look|If p is|The numbers|The function|This line|If the quotient) .*"
)


def advice(function, *values):
    """What the first birth says to write instead."""
    with np.errstate(all="ignore"):
        document = ad.play(function, *values)._content["trace"]
    said = [found[0][1:] for step in document["steps"] if "born" in step and (found := ADVICE.search(step["text"]))]
    assert len(said) == 1, "the first says so, and no other"
    return said[0]


def guarded(x):
    return np.where(x > 0, np.log(x), 0.0)


def guarded_later(x):
    root = np.sqrt(x)
    return np.where(x > 0, 3.0 * root, 0.0)


@pytest.mark.parametrize(
    ("function", "value", "said"),
    [
        (lambda x: np.log(x), 0.0, "Instead, write np.log(np.maximum(x, 2e-16)), if that gives "),
        (lambda x: np.sqrt(x) * 2, 0.0, "Instead, write np.sqrt(np.maximum(x, 2e-16)), if that gives "),
        (
            lambda x: x / x,
            0.0,
            "If the quotient has a limit here, write np.where(x == 0, limit, np.divide(x, np.where(x == 0, 1.0, x))), "
            "with its value in place of `limit`. If you also need the gradient, replace `limit` with the first terms "
            "of the quotient's Taylor series: for (exp(x) - 1) / x, 1 + x / 2.",
        ),
        (
            guarded,
            0.0,
            "Instead, write safe = np.where(x > 0, x, 1.0); np.where(x > 0, np.log(safe), 0.0).",
        ),
        (lambda x: np.where(x != 0, x / x, 1.0), 0.0, "Instead, write safe = np.where(x != 0, x, 1.0); "),
        (guarded_later, 0.0, "Instead, write safe = np.where(x > 0, x, 1.0); root = np.sqrt(safe); "),
        (lambda x: np.exp(x * 1000.0), 1.0, "Use nn.softplus for log(1 + exp(x)), nn.softmax, "),
        (lambda x: x * 1e300 * 1e300, 1.0, "The numbers are too large for their dtype: "),
    ],
)
def test_the_first_birth_says_what_to_write_instead(function, value, said):
    assert advice(function, value).startswith(said)


def ratio(x, y):
    q = x / y
    return np.sum(q * q)


def test_a_nan_is_born_once():
    (birth,) = births(ratio, [1.0, 0.0], [1.0, 0.0])
    assert birth == ("record", "nan", "Here NaN is born: 0 divided by 0 gives nan at element [1].")


def test_an_infinity_is_born_going_backward():
    (birth,) = births(lambda x: 3.0 * np.sqrt(x), 0.0)
    told = "the derivative of sqrt of 0 with respect to x is inf, and times the cotangent 3 gives inf"
    assert birth == ("accumulate", "inf", f"Here inf is born: {told}.")


def test_what_comes_in_with_the_data_was_not_born():
    constant = np.array([1.0, -np.inf])
    assert births(lambda x: np.sum(x * 2.0), [1.0, np.nan]) == [("watch", "nan", "Here NaN comes in with the data.")]
    assert births(lambda x: np.sum(x * constant), [1.0, 2.0]) == [
        ("record", "-inf", "Here -inf comes in with constant.")
    ]


SQRT = "the derivative of sqrt of 0 with respect to x is inf, and times the {} gives inf at element {}"


def recorded(x, derive):
    x = ad.Variable(x, name="x")
    with ad.GradientTape() as tape:
        y = np.sqrt(x)
    derive(tape, y, x)


@pytest.mark.parametrize(
    ("run", "kind", "arrived", "at"),
    [
        (lambda: recorded([0.0, 1.0], ad.GradientTape.jacobian), "accumulate", "cotangent 1", "[0, 0]"),
        (lambda: recorded([[1.0], [0.0]], ad.GradientTape.batch_jacobian), "accumulate", "cotangent 1", "[0, 1, 0]"),
        (lambda: ad.jacobian(lambda x: np.sqrt(x), mode="forward")([0.0, 1.0]), "push forward", "tangent 1", "[0, 0]"),
    ],
)
def test_in_a_stack_the_step_names_the_cotangent_and_the_element(run, kind, arrived, at):
    (birth,) = births_in(run)
    first, *others = birth[2].split("; ")
    assert birth[:2] == (kind, "inf")
    assert first.rstrip(".").endswith(f" born: {SQRT.format(arrived, at)} of the stack")
    zero = SQRT.replace("gives inf", "gives nan").format("cotangent 0", "[1, 0]")
    assert others == [f"{zero} of the stack."] * ((kind, at) == ("accumulate", "[0, 0]")), "0 times inf"


@pytest.mark.parametrize(
    "run",
    [
        lambda: ad.hessian(lambda x: np.sum(x**1.5))([0.0, 1.0]),
        lambda: ad.jacobian(ad.checkpoint(np.sqrt), mode="reverse")([0.0, 1.0]),
        lambda: ad.jacobian(lambda x: np.sqrt(x) * np.ones((2, 1)), mode="reverse")([0.0, 1.0]),
        lambda: ad.jacobian(lambda z: np.real(np.sqrt(z)))(np.array([0j, 1.0])),
    ],
)
def test_stacks_of_all_kinds_have_births(run):
    assert births_in(run)[0][:2] in {("accumulate", "inf"), ("accumulate", "nan")}


def test_an_infinity_is_born_going_forward():
    (birth,) = births_in(lambda: ad.jvp(lambda x: 3.0 * np.sqrt(x), (0.0,), (1.0,)))
    told = "the derivative of sqrt of 0 with respect to x is inf, and times the tangent 1 gives inf"
    assert birth == ("push forward", "inf", f"Here inf is born: {told}.")
    born = births_in(lambda: ad.jvp(np.log, (0.0,), (1.0,)))
    assert [birth[0] for birth in born] == ["record"], "a tangent of what is infinite already is not born"
    assert births_in(lambda: ad.jvp(np.sqrt, (4.0,), (np.inf,))) == []


def test_tangents_that_overflow_without_one_product_to_blame():
    def prod(x):
        return np.prod(x)

    (birth,) = births_in(lambda: ad.jvp(prod, ([1e-300, 1e200, 1e200],), (np.ones(3),)))
    assert "the tangent of t1 is inf, although everything it is computed from is finite" in birth[2]
    (birth,) = births_in(lambda: ad.jvp(lambda x, y: x + y, (1.0, 1.0), (1e308, 1e308)))
    assert birth[2] == "Here inf is born: the contributions to the tangent of t1 are finite, but add up to inf."


def test_a_custom_gradient_that_spoils_a_tangent_is_a_birth():
    w = ad.Variable([2.0, 3.0])

    @ad.custom_gradient
    def broken(x):
        return x * w, lambda g, variables: (g * w * np.inf, [g * x])

    (birth,) = births_in(lambda: ad.jvp(broken, ([1.0, 2.0],), (np.ones(2),)))
    assert birth[:2] == ("push forward", "inf")


def test_an_update_that_is_computed_from_an_infinity_does_not_come_in_with_the_data():
    v = ad.Variable([0.0, 1.0], name="v")

    def update():
        with ad.GradientTape() as tape:
            y = np.sum(np.sqrt(v))
        v.assign_sub(0.1 * tape.gradient(y, v))

    assert [birth[0] for birth in births_in(update)] == ["accumulate"]
    assert births_in(lambda: v.assign([np.nan, 1.0])) == [("assign", "nan", "Here NaN comes in with the new value.")]


def test_to_look_for_births_warns_of_nothing():
    with np.errstate(all="raise"):
        assert len(births(lambda x: 3.0 * np.sqrt(x), 0.0)) == 1


def test_an_operation_that_two_tapes_record_makes_it_once():
    x = ad.Variable(0.0, name="x")
    with ad.trace() as traced, np.errstate(all="ignore"), ad.GradientTape(), ad.GradientTape():
        np.log(x)
    assert [step.get("born") for step in traced.document()["steps"] if step["kind"] == "record"] == ["-inf", None]


def test_finite_traces_mention_nothing():
    assert births(ratio, [1.0, 2.0], [1.0, 2.0]) == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.nan, "nan"),
        (np.array([1.0, -np.inf]), "-inf"),
        (np.where(np.arange(1000.0) == 501.0, np.nan, 0.0), "nan"),  # which the sample of its elements leaves out
        (np.where(np.arange(1000.0) == 501.0, np.inf, 0.0), "inf"),
        (complex(1.0, np.inf), "inf"),
        (complex(np.nan, 1.0), "nan"),
        (np.full(100, complex(np.nan, 1.0)), "nan"),
        (np.arange(1000.0), None),
        (np.array(True), None),
    ],
)
def test_the_text_of_an_array_tells_whether_it_is_finite(value, found):
    match = find_nonfinite(array(value)["text"])
    assert (match and match[1]) == found


def test_a_nan_that_an_infinity_becomes_is_explained_where_it_is_born():
    def entropy(p):
        return np.sum(p * np.log(p))

    with np.errstate(all="ignore"):
        document = ad.play(entropy, np.array([0.5, 0.5, 0.0]))._content["trace"]
    said = {step["born"]: step["text"] for step in document["steps"] if "born" in step and step["kind"] == "record"}
    assert "log of 0 gives -inf at element [2]" in said["-inf"]
    assert "0 times -inf gives nan at element [2]" in said["nan"]


def test_every_kind_that_is_born_at_a_step_is_mentioned():
    (birth,) = births(lambda x: np.sum(np.log(x)), [0.0, -1.0, 2.0])
    told = "log of 0 gives -inf at element [0]; log of -1 gives nan at element [1]"
    assert birth == ("record", "-inf", f"Here -inf and NaN are born: {told}.")


def test_what_comes_in_with_a_constant_may_spoil_another_element_at_once():
    constant = np.array([1.0, -np.inf])
    (birth,) = births(lambda x: np.sum(x * constant), [1.0, 0.0])[:1]
    said = "Here -inf comes in with constant. Here NaN is born: 0 times -inf gives nan at element [1]."
    assert birth == ("record", "nan", said)


def test_a_nan_that_is_born_of_an_infinity_going_backward_is_reported_once():
    first, second = births(lambda x: np.sqrt(np.sum(x * x)) * 2, [0.0, 0.0])
    assert first[:2] == ("accumulate", "inf")
    told = "the derivative of 0 times 0 with respect to x is 0, and times the cotangent inf gives nan at element [0]"
    assert second == ("accumulate", "nan", f"Here NaN is born: {told}.")


@pytest.mark.parametrize(
    ("function", "is_log_of_one_minus"),
    [(lambda p: np.log(1 - p), True), (lambda p: np.log(p - 1), False), (lambda p: np.log(p - p), False)],
)
def test_log_of_1_minus_p_is_to_be_computed_from_logits(function, is_log_of_one_minus):
    said = advice(function, 1.0)
    logits = (
        "If p is nn.sigmoid(z), write -nn.softplus(z) instead of log(1 - p): it is finite for every z. Otherwise, write"
    )
    assert said.startswith(logits if is_log_of_one_minus else "Instead, write")
    assert said.endswith("Where the guard replaces a value, no gradient flows back.")


def branches(v):
    return np.sum(v * np.where(v > 1, v, np.sqrt(v)))


def safe_branches(v):
    return np.sum(v * np.where(v > 1, v, np.sqrt(np.maximum(v, 2e-16))))


def product(x):
    a = np.clip(x, -1, 1)
    b = np.where(x > 0, x**2, np.sqrt(np.abs(x)))
    return np.sum(a * b)


def safe_product(x):
    a = np.clip(x, -1, 1)
    b = np.where(x > 0, x**2, np.sqrt(np.maximum(np.abs(x), 2e-16)))
    return np.sum(a * b)


@pytest.mark.parametrize(
    ("function", "safe", "x", "code"),
    [
        (branches, safe_branches, [2.0, 0.0, 4.0], "np.sqrt(np.maximum(v, 2e-16))"),
        (product, safe_product, [-2, -0.5, 0.0, 0.5, 1.0, 3.0], "np.sqrt(np.maximum(np.abs(x), 2e-16))"),
    ],
)
def test_a_where_that_takes_the_element_is_not_the_remedy(function, safe, x, code):
    guarded = "if that gives the value you want here. Where the guard replaces a value, no gradient flows back."
    assert advice(function, np.array(x)) == f"Instead, write {code}, {guarded}"
    x = ad.Variable(x)
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = function(x)
    assert tape.first_nonfinite(y, x).remedy.splitlines()[-1].strip() == code, "the tape says the same"
    assert np.isfinite(ad.grad(safe)(x)).all()
