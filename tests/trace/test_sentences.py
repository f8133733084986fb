"""The sentences of a trace: how they begin, and what that of a seed says about a walk by `tape.steps`."""

import re

import numpy as np
import pytest
from programs import two_tapes

import autodiff_edu as ad
from autodiff_edu.trace.arrays import array, refine
from autodiff_edu.trace.sentences import _capitalise


@pytest.mark.parametrize(
    ("sentence", "begun"),
    [
        ("the tape watches x.", "The tape watches x."),
        ("line 3: y is 1.", "Line 3: y is 1."),
        ("tape0 watches x.", "tape0 watches x."),
        ("mod.py, line 3: y is 1.", "mod.py, line 3: y is 1."),
        ("dy/dx is 6.", "dy/dx is 6."),
    ],
)
def test_a_name_at_the_beginning_stays_as_it_is(sentence, begun):
    assert _capitalise(sentence, "tape0") == begun


def test_a_custom_gradient_says_that_the_pass_goes_through_its_own_function():
    @ad.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 2.0 * x

    texts = [step["text"] for step in ad.play(lambda x: square(x) + x, 1.5)._content["trace"]["steps"]]
    told = [text for text in texts if text.endswith("uses square's own gradient, not the operations inside it.")]
    assert len(told) == 1
    assert "is square(x)" in told[0]


def walked(ask, persistent=False):
    """Return the sentences in which a backward pass starts, and the bytes after each pull and at the end."""
    x = ad.Variable(np.ones(100), name="x")
    with ad.trace() as kept:
        with ad.GradientTape(persistent) as tape:
            y = np.sin(x)
            z, other = np.sum(y * x), np.max(y)
        ask(tape, [z, other], x)
    steps = kept.document()["steps"]
    held = [step["memory"] for step in steps if step["kind"] in ("pull back", "release")]
    return [step["text"] for step in steps if step["kind"] == "seed"], held


def test_a_walk_step_by_step_says_at_its_start_that_the_tape_keeps_its_arrays_until_the_end():
    (first, second), held = walked(lambda tape, y, x: list(tape.steps(y, x)))
    assert first.endswith(" It goes step by step: the tape keeps all its arrays until the last step.")
    assert "step by step" not in second
    assert len(set(held[:-1])) == 1
    assert held[-1] == 0


def test_a_gradient_releases_on_the_way_and_a_persistent_tape_not_at_all():
    texts, held = walked(lambda tape, y, x: tape.gradient(y, x))
    assert "step by step" not in "".join(texts)
    assert len(set(held[:-1])) > 1
    texts, _ = walked(lambda tape, y, x: list(tape.steps(y, x)), persistent=True)
    assert "step by step" not in "".join(texts)


def list_sentences(function, **values):
    """The sentences of a function's recording and backward pass, by the kind of their steps."""
    xs = [ad.Variable(value, name=name) for name, value in values.items()]
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            y = function(*xs)
        tape.gradient(y, xs)
    steps = kept.document()["steps"]
    kinds = dict.fromkeys(step["kind"] for step in steps)
    return {kind: [step["text"] for step in steps if step["kind"] == kind] for kind in kinds}


def test_numbers_have_three_digits_and_no_fewer_than_stand_before_the_point():
    said = list_sentences(lambda x: np.sin(x) * 12345.678, x=0.8)
    assert said["watch"] == ["The tape watches x, which is 0.8."]
    assert said["record"][0].endswith("t1 is the sine of x, which is 0.717. The tape records it as entry 1.")
    assert said["record"][1].endswith("which is 8856. The tape records it as entry 2.")
    assert (
        said["accumulate"][-1]
        == "The contribution to x is 8601. Nothing was there yet, so the cotangent of x is now 8601."
    )


def test_a_large_array_has_its_name_and_shape_and_its_cotangent_is_complete_or_not():
    def product(x, w):
        h = x @ w
        return np.sum(h * h + h)

    said = list_sentences(product, x=np.arange(6.0).reshape(3, 2), w=np.arange(8.0).reshape(2, 4))
    assert said["watch"] == ["The tape watches x (3×2).", "The tape watches w (2×4)."]
    assert said["record"][0].endswith("h (3×4) is x matrix-multiplied by w. The tape records it as entry 1.")
    sums = said["accumulate"]
    assert sums[0].endswith(" (3×4, filled with 1) is the only one: the cotangent of t3 is complete.")
    assert [text for text in sums if "to h" in text] == [
        "The contribution to h (3×4, filled with 1) is the first of 3.",
        "The contribution to h (3×4) is added to what was there, 2 of 3.",
        "The contribution to h (3×4) is added to what was there: the cotangent of h is complete, 3 of 3.",
    ]
    assert [text.partition(" is ")[2] for text in said["outcome"]] == [
        "[[82 274] [290 930] [498 1586]], of shape (3, 2).",
        "[[214 306 398 490] [289 411 533 655]], of shape (2, 4).",
    ]


def test_up_to_four_numbers_in_a_row_or_two_are_written():
    said = list_sentences(
        lambda a, b, c, d, e: np.sum(a) + np.sum(b) + np.sum(c) + np.sum(d) + np.sum(e),
        a=[1.0, 2.0, 3.0, 1 / 3],
        b=[[1.0, 2.0], [3.0, 4.0]],
        c=np.ones((4, 1)),
        d=np.arange(5.0),
        e=np.zeros((0, 3)),
    )
    assert said["watch"] == [
        "The tape watches a, which is [1 2 3 0.333].",
        "The tape watches b, which is [[1 2] [3 4]].",
        "The tape watches c (4×1, filled with 1).",
        "The tape watches d (length 5).",
        "The tape watches e (0×3).",
    ]


def test_a_backward_function_of_the_user_s_is_quoted_whatever_the_size():
    @ad.custom_gradient
    def twice(x):
        return x * 2.0, lambda g: g * 2.0

    small = list_sentences(lambda x: np.sum(twice(x)), x=[1.0, 2.0])["accumulate"][-1]
    assert small.endswith(
        "the contribution to x is g * 2.0, which is [2 2]. Nothing was there yet, so the cotangent of x is now [2 2]."
    )
    large = list_sentences(lambda x: np.sum(twice(x)), x=np.arange(6.0))["accumulate"][-1]
    said, _, counted = large.partition(" is g * 2.0. ")
    assert said.endswith("the contribution to x (length 6, filled with 2)")
    assert counted == "It is the only one: the cotangent of x is complete."


def test_with_several_tapes_each_sum_says_in_whose_pass():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as kept:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x * x
            dy = inner.gradient(y, x)
        outer.gradient(dy, x)
    sums = [step for step in kept.document()["steps"] if step["kind"] == "accumulate"]
    assert {step["tape"] for step in sums} == {0, 1}
    for step in sums:
        assert step["text"].startswith(f"In the pass of tape {['outer', 'inner'][step['tape']]}, the contribution to ")


def test_a_pass_that_an_outer_tape_records_says_so_and_each_of_its_steps_whose_pass_it_is():
    steps = two_tapes().document()["steps"]
    inner, outer = (step["text"] for step in steps if step["kind"] == "seed")
    assert inner.endswith("with the cotangent 1. Tape outer records this pass.")
    assert outer.endswith("with the cotangent 1.")
    for step in steps:
        if step["kind"] == "pull back":
            assert f": in the pass of tape {['outer', 'inner'][step['tape']]}, the cotangent " in step["text"]
    begin, *_, end = (k for k, step in enumerate(steps) if step.get("pass") == 0)
    recorded = [step["text"] for step in steps[begin:end] if step["kind"] == "record"]
    assert len(recorded) == 6
    for text in recorded:
        assert ", in the pass of tape inner: " in text
        assert " Tape outer records it as entry " in text


def test_tangents_are_added_with_their_signs_and_large_ones_are_counted():
    with ad.trace() as kept:
        ad.jvp(lambda a, b: a * 4.0 - b, (2.0, 3.0), (1.0, 0.5))
        ad.jvp(lambda a, b: a - b, (np.arange(6.0), np.ones(6)), (np.ones(6), np.arange(6.0)))
    pushes = [step["text"] for step in kept.document()["steps"] if step["kind"] == "push forward"]
    assert pushes[1].endswith(" is 4 - 0.5 = 3.5.")
    assert pushes[2].endswith(" gets its tangent (length 6), the sum of 2 parts.")


def test_what_rounding_leaves_of_zero_is_told():
    def f(x):
        return 0.3 * x - (0.1 * x + 0.2 * x)

    assert "which is -5.55e-17 (0 up to rounding). " in list_sentences(f, x=1.0)["record"][-1]
    assert "rounding" not in str(list_sentences(f, x=1e-17)["record"]), "what is small by itself is not 0"
    with np.errstate(over="ignore", invalid="ignore"):
        assert "rounding" not in str(list_sentences(lambda x: x * 10.0 - x * 10.0, x=1e308)), "nor is NaN"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_difference_that_is_there_is_not_called_rounding(dtype):
    eps = np.finfo(dtype).eps
    for f in (
        lambda x: x - dtype(1.0 - eps),
        lambda x: x * dtype(1.0) - dtype(1.0 - eps) * x,
        lambda x: (x + eps) - x,  # a difference quotient with a very small step
    ):
        assert "rounding" not in list_sentences(f, x=dtype(1.0))["record"][-1]
    said = list_sentences(lambda x: x * dtype(0.3) - (x * dtype(0.1) + x * dtype(0.2)), x=dtype(1.0))["record"][-1]
    assert "which is 0. " in said or "(0 up to rounding). " in said


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: np.exp(x) - 1.0, 5e-16),
        (lambda x: np.cos(x) - 1.0, 2.5e-8),
        (lambda x: (np.sin(x + 1e-15) - np.sin(x)) / 1e-15, 1.0),
        (lambda x: np.exp(x) - x, 5e-16),  # its contributions
    ],
)
def test_a_small_difference_whose_exact_value_is_not_known_is_not_called_0(function, x):
    assert "rounding" not in str(list_sentences(function, x=x))


def test_long_products_are_not_followed_without_rounding():
    def f(x):
        y = x
        for _ in range(60):
            y = y * y
        return y - (y - 1e-17)

    assert list_sentences(f, x=1.0)


def test_summands_that_cancel_have_the_digits_that_their_sum_needs():
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            x = ad.Variable(0.50005312, name="x")
            y = x - 0.5
            z = x * y - 0.5 * x
        tape.gradient(z, x)
    last = [step for step in kept.document()["steps"] if step["kind"] == "accumulate"][-1]
    assert "is 0.500053. It is added to -0.499947, so the cotangent of x is now 0.000106." in last["text"]
    assert (last["before"]["data"], last["contribution"]["data"]) == (-0.49994688, 0.50005312)
    (x_value,) = [tensor["value"] for tensor in kept.document()["tensors"] if tensor["kind"] == "variable"]
    assert x_value["text"] == "0.500053"
    assert x_value["data"] == 0.50005312
    ordinary = list_sentences(lambda x: x * 1.2345678 + x * 4.5671234, x=1.0)["accumulate"][-1]
    assert "1.23" in ordinary
    assert "4.57" in ordinary


def test_a_result_of_up_to_twelve_numbers_is_written_out():
    def jacobian(n):
        with ad.trace() as kept:
            with ad.GradientTape() as tape:
                x = ad.Variable(np.arange(1.0, n + 1.0), name="x")
                y = x[:3] ** 2
            tape.jacobian(y, x)
        return kept.document()["steps"][-1]["text"]

    assert jacobian(3).endswith("is [[2 0 0] [0 4 0] [0 0 6]], of shape (3, 3).")
    assert "[0 0 6 0]]" in jacobian(4)
    assert jacobian(5).endswith("is a 3×5 array.")


@pytest.mark.parametrize("x", ["1e400", "1e-400"])
def test_numbers_beyond_a_float_are_told_too(x):
    assert len(ad.play(lambda x: x * 3 - x * 2.9, np.longdouble(x)).document()["steps"]) == 13


def test_a_later_sum_keeps_the_digits_that_an_earlier_one_needed():
    x, near, other = np.float64(0.50005345678), np.float64(0.5000534), np.float64(0.33333334)
    described = [array(part) for part in (x, near, other)]
    refine([described[0], described[1]], [x, near], x - near, -1.0)
    assert described[0]["data"] - described[1]["data"] == pytest.approx(5.678e-8, rel=1e-3)
    before = described[0]["data"]
    refine([described[0], described[2]], [x, other], x + other)
    assert (described[0]["data"], described[2]["data"]) == (before, 0.3333333)


def test_a_sum_of_arrays_that_holds_an_infinity_and_cancels_is_described() -> None:
    parts = [np.array([np.inf, 0.123456789]), np.array([1.0, -0.123456788])]
    described = [{"data": ["inf", 0.123457]}, {"data": [1.0, -0.123457]}]
    refine(described, parts, parts[0] + parts[1])
    assert described[0]["data"][0] == "inf"
    assert described[0]["data"][1] == pytest.approx(0.123456789, rel=1e-9)


def read_last_result(function, x):
    """Return what the sentence of its last line says that a function's result is."""
    said = ad.play(function, x).transcript().split(" The tape records it")
    return said[-2].rpartition(", which is ")[2]


@pytest.mark.parametrize(
    ("function", "x", "said"),
    [
        (lambda x: 1 - np.cos(x), 1e-4, "1 - 0.999999995 = 5e-09."),
        (lambda x: np.sqrt(x + 1) - np.sqrt(x), 1e12, "1000000.0000005 - 1000000 = 5.00e-07."),
        (lambda x: -1.0 + np.exp(x), 1e-9, "-1 + 1.000000001 = 1e-09."),
        (lambda x: np.sqrt(x + 1) - np.sqrt(x), 1e15, "1.86e-08 (both have the same first 15 digits)."),
        (lambda x: np.sqrt(x + 1) - np.sqrt(x), 2.0, "0.318."),
        (lambda x: x + 0.2 - 0.3, 0.1, "5.55e-17 (0 up to rounding)."),
        (lambda x: x - x, 1.5, "0."),
    ],
)
def test_numbers_that_cancel_have_the_digits_that_their_difference_needs(function, x, said):
    assert read_last_result(function, x) == said


@pytest.mark.parametrize(
    ("function", "x", "said"),
    [
        (lambda x: x + 1, 1e16, "1e+16 (1 is too small to change the sum)."),
        (lambda x: 1 - x, 1e17, "-1e+17 (1 is too small to change the difference)."),
        (lambda x: x + 1e-20, [1.0, 2.0, 1e-20], "[1 2 2e-20] (1e-20 is too small to change the sum at [0] and [1])."),
        (lambda x: x + 0.0, 3.0, "3."),
        (lambda x: x + np.inf, 3.0, "inf."),
    ],
)
def test_an_operand_too_small_to_change_a_sum_is_named(function, x, said):
    assert read_last_result(function, np.asarray(x)).startswith(said)


def test_a_contribution_too_small_to_change_a_cotangent_is_named():
    last = list_sentences(lambda x: 1e17 * x + x * 1.0, x=3.0)["accumulate"][-1]
    assert "the cotangent of x is now 1e+17 (1 is too small to change the sum)." in last


def test_a_last_correction_is_seen_and_a_sum_has_three_digits_or_six():
    def improve(x):
        for _ in range(3):
            x = (x + 2 / x) / 2  # what is divided is not the last x
        return x

    told = [step["text"] for step in ad.play(improve, 1.5)._content["trace"]["steps"]]
    assert [text.split("which is ")[1].split(". The")[0] for text in told if re.match(r"Line \d+: x. is ", text)] == [
        "1.42",
        "1.41",
        "1.41421",
    ]
    (told,) = [
        step["text"] for step in ad.play(lambda x: x * 0.3213 + x * 2.284, 1.0)._content["trace"]["steps"][-2:-1]
    ]
    assert "is 0.3213. It is added to 2.284," in told


def test_a_tape_that_was_not_there_when_a_pass_began_does_not_record_it():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as inner:
            y = np.sin(x * x)
        for _ in inner.steps(y, x):
            with ad.GradientTape() as other:
                z = x * 5.0
            other.gradient(z, x)

    @ad.custom_gradient
    def square(q):
        def backward(upstream):
            own = ad.Variable(3.0)
            with ad.GradientTape() as mine:
                r = own * own
            return upstream * mine.gradient(r, own)

        return q * q, backward

    for document in (traced.document(), ad.play(lambda q: square(q) + q, 3.0).document()):
        assert not [step["text"] for step in document["steps"] if "records this pass" in step["text"]]


def test_the_document_has_the_digits_that_tell_a_value_from_its_operands_and_from_its_last():
    x = ad.Variable(1.23456, name="x")

    def move():
        with ad.GradientTape():
            x.assign(x - 3e-7)

    document = ad.play(move).document()
    value = next(step["value"] for step in document["steps"] if step["kind"] == "assign")
    assert (value["text"], value["data"]) == ("1.2345597", 1.2345597)
    values = [tensor["value"]["text"] for tensor in ad.play(lambda x: x + 1e-8, 1.23456).document()["tensors"]]
    assert values == ["1.23456", "1e-08", "1.23456001"]


def test_a_transcript_has_the_numbers_that_a_variable_has_now():
    x = ad.Variable(np.arange(5.0), name="x")

    def scale():
        for _ in range(2):
            with ad.GradientTape():
                np.sum(x * x)
            x.assign(x * 10)

    said = [line for line in ad.play(scale).transcript().splitlines() if "watches x" in line]
    assert [line.rpartition("x is ")[2] for line in said] == ["[0 1 2 3 4].", "[0 10 20 30 40]."]


@pytest.mark.parametrize(
    ("function", "x", "said"),
    [
        (lambda x: x + 1, 999999.5, "which is 1000000.5."),
        (lambda a: a * a, 0.9999994, "It is added to 0.9999994, so the cotangent of a is now 1.9999988."),
        (lambda x: x + 1.5, 1.25e6, "which is 1250000 + 1.5 = 1250001.5."),
        (lambda x: (x + 1e-6) + 1e-5, 1.0, "is t1 plus 1e-05, which is 1.00001."),
        (
            lambda x: 2.4120004 * x - 0.412 * x,
            1.0,
            "is 2.4120004. It is added to -0.412, so the cotangent of x is now 2.0",
        ),
        (lambda x: (x + 1e-4) - 1e-20, 2.412, "minus 1e-20, which is 2.4121 (1e-20 is too small"),
    ],
)
def test_numbers_that_are_nearly_short_are_written_in_full(function, x, said):
    assert said in ad.play(function, x).transcript()


def test_a_value_that_did_not_change_keeps_its_digits():
    w = ad.Variable(1.000001, name="w")

    def watch():
        for _ in range(2):
            with ad.GradientTape():
                w * 3.0

    assert ad.play(watch).transcript().count("watches w, which is 1.000001.") == 2


def test_a_contribution_that_reads_like_its_sum_has_six_digits_in_either_order():
    for f in (lambda x: 1.00002 * x + 0.00002 * x, lambda x: 0.00002 * x + 1.00002 * x):
        told = [step["text"] for step in ad.play(f, 3.0)._content["trace"]["steps"] if "1.00004" in step["text"]]
        assert any("1.00002" in text for text in told)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@pytest.mark.parametrize(
    ("function", "x", "said"),
    [
        (
            lambda x: 0.1 * x + 0.2 * x - 0.3 * x,
            1.0,
            "added to -0.1, so the cotangent of x is now 2.78e-17 (0 up to rounding). ",
        ),
        (lambda x: 0.1 * x + 0.2 * x - 0.3 * x, 1.0, "/dx is 2.78e-17 (0 up to rounding)."),
        (
            lambda x: -np.log(softmax(x)[0]),
            [1.0, 2.0, 0.5],
            "is 8.33e-17 (0 up to rounding). Nothing was there yet, so the cotangent of t1 is now 8.33e-17.",
        ),
        (lambda x: -np.log(softmax(x)[0]), [1.0, 2.0, 0.5], "is [0 8.33e-17 0] (0 up to rounding). It is added to"),
        (
            lambda x: np.sum((0.1 * x + 0.2 * x - x * np.array([0.3, 0.4])) * 1.0),
            [1.0, 1.0],
            "is now [2.78e-17 -0.1] (0 up to rounding at [0]). ",
        ),
    ],
)
def test_what_rounding_leaves_of_a_cotangent_is_told(function, x, said):
    assert said in ad.play(function, np.array(x)).transcript()


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (lambda x: np.sum(x * (1 + 2**-52) - x), [1.0, 2.0]),
        (lambda x: 2.0 * (x * (1 + 2**-52)) - 2.0 * x, 1.0),
        (lambda x: np.sum(np.exp(x) - x), [5e-16, 3e-16]),
        (lambda x: np.sqrt(x + 1) - np.sqrt(x), 1e14),
        (lambda x: np.max(x) - np.sum(x) * (1 - 2**-52), [1.0, 2.0]),
        (lambda x: x * 1e-17 + x - x, 1.0),
    ],
)
def test_a_small_cotangent_that_is_there_is_not_called_rounding(function, x):
    said = ad.play(function, np.array(x)).transcript()
    assert re.search(r"is now \S*\d?e-\d\d|is now \[.*e-\d\d", said)
    assert "rounding" not in said


def test_whole_numbers_of_float32_are_what_they_are():
    text = " ".join(
        step["text"]
        for step in ad.play(lambda x: x - np.float64(123456790), np.float32(123456792))._content["trace"]["steps"]
    )
    assert "which is 2" in text
    assert "up to rounding" not in text


def test_rounding_never_stops_a_player():
    weights = np.array([1e200, 1.0])
    with np.errstate(all="ignore"):
        player = ad.play(lambda x: np.sum(np.exp(x) * weights * weights), np.array([-0.5, 0.5]))
    steps = player._content["trace"]["steps"]
    assert steps[-1]["gradient"]["data"][1] == pytest.approx(np.exp(0.5))


def test_a_transcript_has_the_numbers_of_small_arrays_that_a_sentence_leaves_out():
    w = ad.Variable([[0.25, -2.0, 3.0], [4.0, 5.0, -6.0]], name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = w * w
        w.assign_sub(0.25 * tape.gradient(y, w))
    said = traced.transcript()
    for numbers in (
        "The tape watches w (2×3). w is [[0.25 -2 3] [4 5 -6]].",
        "as entry 1. y is [[0.0625 4 9] [16 25 36]].",
        "is the first of 2. The cotangent of w is [[0.25 -2 3] [4 5 -6]].",
        "is complete, 2 of 2. It is [[0.5 -4 6] [8 10 -12]].",
        "w - 0.25 * dy/dw. w is [[0.125 -1 1.5] [2 2.5 -3]].",
    ):
        assert numbers in said
    assert "with a 2×3 cotangent filled with 1.\n" in said, "so its numbers are said"
    with ad.trace() as traced:
        ad.jvp(lambda x: x * 2.0, (np.ones((2, 3)),), (np.arange(6.0).reshape(2, 3),))
    said = traced.transcript()
    assert "with a 2×3 tangent. It is [[0 1 2] [3 4 5]]." in said
    assert "gets its tangent (2×3). It is [[0 2 4] [6 8 10]]." in said


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ([(3, 1), (3,)], "is a minus b. Both are broadcast, from (3, 1) and (3,) to (3, 3). The tape records it"),
        ([(2, 1, 3), (4, 1)], "is a minus b. Both are broadcast, from (2, 1, 3) and (4, 1) to (2, 4, 3). The tape"),
        ([(3, 3), (3,)], "is a minus b. The tape records it"),
        ([(3, 1), ()], "is a minus b. The tape records it"),
        ([(1, 1), (3,)], "is a minus b. Both are broadcast, from (1, 1) and (3,) to (1, 3). The tape"),
    ],
)
def test_a_result_in_the_shape_of_neither_operand_is_worth_a_sentence(shapes, said):
    steps = ad.play(lambda a, b: np.sum(a - b), *map(np.ones, shapes))._content["trace"]["steps"]
    (text,) = [step["text"] for step in steps if " is a minus b" in step["text"]]
    assert said in re.sub(r", which is [^.]*\.", ".", text)


def test_the_rounding_of_float32_is_not_taken_for_digits_that_matter():
    def sums(x, y):
        z = x + y
        return z * x + z * y

    said = ad.play(sums, np.float32(0.1), np.float32(0.2)).transcript()
    assert "The contribution to z is 0.2. Nothing was there yet, so the cotangent of z is now 0.2." in said
    assert not re.findall(r"\d\.\d{7,}", said)


def test_among_numbers_of_six_digits_one_that_is_nearly_short_has_no_more():
    rows = np.array([[0.7210014, 1 / 3], [2 / 3, 0.7]])
    said = ad.play(lambda a: np.sum(a * 1.0 * a), rows).transcript()
    assert "[[0.721 0.333] [0.667 0.7]]" in said
    assert "0.7210014" not in said
