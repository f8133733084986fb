"""Every line of the user's code that ran has a step, or is passed visibly."""

import asyncio
import linecache
import re
import sys
import threading

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import always, now
from autodiff_edu.trace.line_events import ByMonitoring
from autodiff_edu.trace.lines import MOST


@pytest.fixture(
    params=["settrace", *(["monitoring"] if hasattr(sys, "monitoring") else [])],
    autouse=True,
)
def backend(request, monkeypatch):
    """Every test runs with both; and none leaves a trace function."""
    if request.param == "settrace":
        monkeypatch.setattr(ByMonitoring, "is_free", bool)
    before = sys.gettrace()
    yield
    assert sys.gettrace() == before
    assert now().listeners == always.listeners


def said(traced, kind="line"):
    """The sentences of a kind, without the number and the line."""
    steps = traced.document()["steps"]
    return [re.sub(r"^(\S+, )?[Ll]ine \d+: ", "", step["text"]) for step in steps if step["kind"] in kind.split()]


def played(function, *args, kind="line"):
    return said(type("Shown", (), {"document": lambda self: ad.play(function, *args)._content["trace"]})(), kind)


def of(function, *args):
    with ad.trace() as traced:
        function(*args)
    return said(traced)


# Conditions and loops -------------------------------------------------------------------------------------------------


def graded(x):
    if x > 5:
        x = x * 1
    elif x > 3:
        x = x * 2
    else:
        x = x * 3
    if not x:
        return x
    if [1]:
        pass
    return x


@pytest.mark.parametrize(
    ("x", "ways"),
    [
        (6.0, ["x > 5 is True, so the block below runs."]),
        (4.0, ["x > 5 is False, so the next condition is tried.", "x > 3 is True, so the block below runs."]),
        (1.0, ["x > 5 is False, so the next condition is tried.", "x > 3 is False, so the else block runs."]),
    ],
)
def test_a_condition_says_which_way_it_went(x, ways):
    last = ["not x is False, so the block is skipped.", "[1] counts as True, so the block below runs."]
    assert [text for text in played(graded, x) if " so " in text] == ways + last


def test_loops_say_their_turns_and_when_a_condition_ends_them():
    def looped(x):
        n = 2
        while n > 0:
            n -= 1
        for k, v in enumerate([0.5, 0.25]):
            x = x * v
        for _ in x.shape:
            pass
        return x * k

    assert played(looped, 2.0) == [
        "n is 2.",
        "n > 0 is True, so the loop's block runs.",
        "n is 1.",
        "n > 0 is True, so the loop's block runs.",
        "n is 0.",
        "n > 0 is False, so the loop ends.",
        "turn 1 of the loop begins, with k = 0 and v = 0.5.",
        "turn 2 of the loop begins, with k = 1 and v = 0.25.",
    ]


def turns_of(function, *args):
    """For each operation: the name of its result, and the turns that it is in."""
    document = ad.play(function, *args)._content["trace"]
    tensors = document["tensors"]
    return [(tensors[e["output"]]["name"], [k for _, k in e.get("turns", [])]) for e in document["entries"]]


def test_a_loop_over_a_tensor_fetches_each_element_in_its_turn_under_the_reader_s_name():
    def dot(x, y):
        s = 0.0
        for k, (v, w) in enumerate(zip(x, y, strict=True)):
            s = s + v * w * k
        return s

    names = ["v", "w", "t3", "t4", "s", "v₂", "w₂", "t8", "t9", "s₂"]
    assert turns_of(dot, [1.0, 2.0], [3.0, 4.0]) == [
        *((name, [1]) for name in names[:5]),
        *((n, [2]) for n in names[5:]),
    ]
    assert played(dot, [1.0, 2.0], [3.0, 4.0], kind="line record")[1:7] == [
        "turn 1 of the loop begins, with k = 0.",
        "v is x[0], which is 1. The tape records it as entry 1.",
        "w is y[0], which is 3. The tape records it as entry 2.",
        "t3 is v times w, which is 3. The tape records it as entry 3.",
        "t4 is t3 times 0, which is 0. The tape records it as entry 4.",
        "s is 0 plus t4, which is 0. The tape records it as entry 5.",
    ]


def test_a_turn_of_a_loop_over_rows_and_of_one_within_it_begins_before_its_fetch():
    def total(x):
        s = 0.0
        for row in 2 * x:
            for v in row:
                s = s + v
        return s

    assert turns_of(total, np.ones((2, 1))) == [
        ("t1", []), ("row", [1]), ("v", [1, 1]), ("s", [1, 1]), ("row₂", [2]), ("v₂", [2, 1]), ("s₂", [2, 1])
    ]  # fmt: skip
    assert played(total, np.ones((2, 1)))[1:] == [f"turn {k} of the loop begins." for k in (1, 1, 2, 1)]


def test_a_loop_whose_last_fetch_finds_nothing_more_says_so():
    def f(x):
        for v, w in zip(x, [2.0], strict=False):
            x = v * w
        return x

    assert played(f, [1.0, 2.0])[:-1] == [
        "turn 1 of the loop begins, with w = 2.",
        "the loop ends, because zip(x, [2.0], strict=False) has no more elements.",
    ]
    assert [turns for _, turns in turns_of(f, [1.0, 2.0])] == [[1], [1], []]


def test_what_a_comprehension_in_a_loop_s_head_fetches_begins_no_turn():
    def f(x):
        for v in [2 * w for w in x]:
            x = x * v
        return x

    assert turns_of(f, [1.0, 2.0]) == [
        *((name, []) for name in ("t1", "t2", "t3", "t4")), ("x₂", [1]), ("x₃", [2])
    ]  # fmt: skip


JUMPS = """\
def f(x):
    for k in range(4):
        if k == 0: continue
        if (k == 1 and
            x > 0): continue
        elif k == 3: break
        x = x * k
    n = 0
    while True:
        if n == 1: break
        n += 1
        if n == 1: continue
    for k in range(2):
        with ad.scope("half"):
            if k: break
    return x
"""


def test_a_jump_on_the_line_of_its_if_has_a_step_where_the_next_line_shows_it(monkeypatch):
    monkeypatch.setitem(linecache.cache, "jumps.py", (len(JUMPS), None, JUMPS.splitlines(keepends=True), "jumps.py"))
    exec(compile(JUMPS, "jumps.py", "exec"), {"ad": ad}, program := {})
    f = program["f"]
    assert [text for text in played(f, 1.0) if " so " in text] == [
        "k == 0 is True, so the rest of this turn is skipped.",
        "k == 0 is False, so the turn goes on.",
        "k == 1 and x > 0 counts as True, so the rest of this turn is skipped.",
        "k == 0 is False, so the turn goes on.",
        "k == 1 and x > 0 counts as False, so the turn goes on.",
        "k == 3 is False, so the turn goes on.",
        "k == 0 is False, so the turn goes on.",
        "k == 1 and x > 0 counts as False, so the turn goes on.",
        "k == 3 is True, so the loop ends here.",
        "n == 1 is False, so the turn goes on.",
        "n == 1 is True, so the loop ends here.",
    ]


def test_a_condition_says_which_lines_it_leaves_out():
    def f(x):
        if x > 1:
            y = x * 2
            y = y + 1
        elif x > 0:
            y = x
        else:
            y = -x
        while y > 100:
            y = y / 2
        return y

    first = f.__code__.co_firstlineno
    for value, expected in ((3.0, [(4, 7), None]), (0.5, [(2, 3), (7, 7), None])):
        document = ad.play(f, value)._content["trace"]
        steps = [step for step in document["steps"] if step.get("what") == "condition"]
        found = [step.get("left_out") and tuple(line - first for line in step["left_out"]) for step in steps]
        assert found == expected, value


def test_the_condition_of_a_tensor_is_an_operation_and_a_decision():
    def f(x):
        y = x
        if y > 1:
            y = y * x
        return y

    assert played(f, 2.0, kind="cut line") == [
        "t1 is y > 1, which is True. Here y is another name for x. The tape records it as entry 1, which "
        "cuts the flow: its derivative is zero wherever it has one.",
        "y > 1 is True, so the block below runs.",
    ]


# Numbers --------------------------------------------------------------------------------------------------------------


def test_plain_numbers_and_arrays_say_what_they_are():
    def f(x):
        a = b = 1.5
        c, (d, *_) = 2, (True, 1j)
        e = np.arange(3)
        text, nothing, y = "s", None, x
        a += 1
        big: int = 10**4
        y = y * a * b * c * d * np.sum(e) * big
        return y

    told = ["a is 1.5 and b is 1.5.", "c is 2 and d is True.", "e is [0 1 2].", "a is 2.5.", "big is 10000."]
    assert played(f, 2.0) == told


def test_a_value_that_was_never_assigned_is_not_told():
    def f(x):
        k = 1
        try:
            k = int("x")
        except ValueError:
            x = x * k
        return x * 2.0

    assert played(f, 2.0) == ["k is 1."]


# Calls ----------------------------------------------------------------------------------------------------------------


def factorial(x, n):
    if n == 0:
        return 1.0
    return x * factorial(x, n - 1)


def test_every_call_of_functions_that_call_each_other_returns_and_a_helper_that_only_computes_does_not_say_so():
    def double(x):
        return x * 2.0

    def even(x, n):
        return x if n == 0 else odd(double(x), n - 1)

    def odd(x, n):
        return even(double(x), n - 1)

    told = played(lambda x: even(x, 2), 1.0)
    assert [text for text in told if "returns" in text] == [
        "even returns 4.",
        "odd returns 4.",
        "even returns 4.",
    ]


def test_recursion_is_a_stack_of_calls():
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            x = ad.Variable(2.0, name="x")
            y = factorial(x, 2)
        tape.gradient(y, x)
    assert said(traced) == [
        "factorial(x = 2, n = 2) is called.",
        "n == 0 is False, so the block is skipped.",
        "factorial(x = 2, n = 1) is called.",
        "n == 0 is False, so the block is skipped.",
        "factorial(x = 2, n = 0) is called.",
        "n == 0 is True, so the block below runs.",
        "factorial returns 1.",
        "factorial returns 2.",
        "factorial returns 4.",
    ]
    d = traced.document()
    assert [(call["text"], call.get("caller")) for call in d["calls"]] == [
        ("factorial(2, 2)", None),
        ("factorial(2, 1)", 0),
        ("factorial(2, 0)", 1),
    ]
    assert [entry.get("call") for entry in d["entries"]] == [1, 0]
    depths = [step.get("call") for step in d["steps"] if step["kind"] in ("line", "record")]
    assert depths == [None, 0, 0, 1, 1, 2, 2, 1, 1, 0, 0]


def test_a_function_that_the_package_calls_is_not_a_call_of_the_user_s_and_has_no_stack():
    steps = ad.play(lambda x: x * x, 2.0)._content["trace"]["steps"]
    assert not [step for step in steps if step["kind"] == "line" or "call" in step]


def test_arguments_are_told_in_brief():
    def layer(self, x, w, names, f=len):
        return x @ w

    texts = of(lambda: layer(None, np.ones((20, 3)), ad.constant(np.ones(3)), ["a"]))
    assert texts[1] == "layer(x = 20×3 array, w = [1 1 1], names = 1 item, f) is called."
    assert texts[2] == "layer returns an array of length 20 filled with 3."


def test_what_a_function_returns_is_told_unless_the_step_before_told_it():
    def named(x):
        y = x * x
        z = y + 1.0
        return y, z

    def last(x):
        return x * x

    with ad.GradientTape() as tape:
        x = ad.constant(2.0)
        tape.watch(x)
        assert of(named, x)[-1] == "named returns (y, z)."
        assert of(last, x) == ["last(x = 2) is called."]
        assert of(lambda v: v, x)[-1] == "the lambda returns 2."
        assert of(print) == []


def newton(x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = x**2 - 2.0
    return x - y / tape.gradient(y, x)


def slope(x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


def value(x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    return y


@ad.custom_gradient
def square(x):
    return x * x, lambda dy: dy * 2.0 * x


@pytest.mark.parametrize(
    ("function", "last"),
    [
        (newton, "newton returns 1.42."),
        (slope, "dy/dx is 3."),
        (value, "value returns y, which is 2.25."),
        (lambda x: ad.jvp(lambda x: x * x, (x,), (1.0,))[1], "the tangent of t1 is 1.5 + 1.5 = 3."),
        (lambda x: square(x) + x, "d function/dx is 4."),
    ],
)
def test_what_a_played_function_computes_after_its_own_tapes_is_told_when_it_returns_it(function, last):
    text = ad.play(function, 1.5)._content["trace"]["steps"][-1]["text"]
    assert text.endswith(last)


def test_generators_and_comprehensions_are_not_calls():
    def numbers():
        for k in range(2):
            yield k

    def f(x):
        total = x
        for value in numbers():
            total = total * sum(q for q in [value + 1.0])
        return total * [q for q in range(3)][2]

    assert [text for text in played(f, 2.0) if "called" in text] == []
    assert "turn 2 of the loop begins, with value = 1." in played(f, 2.0)


def test_a_coroutine_can_be_followed():
    async def inner():
        await asyncio.sleep(0)
        k = 2
        return k

    async def main():
        with ad.trace() as traced:
            n = await inner() + 1
        return n, traced

    _, traced = asyncio.run(main())
    assert said(traced) == ["k is 2.", "n is 3."]


def test_another_thread_has_no_steps():
    def other():
        k = 2
        return k

    with ad.trace() as traced:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert said(traced) == []


# What no tape records -------------------------------------------------------------------------------------------------


def test_paused_code_has_its_steps():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            b = x * x
            with tape.stop_recording():
                c = b * b
            y = b * c
        tape.gradient(y, x)
    assert said(traced, "skip") == ["c is b times b, which is 81. The tape is paused, so it does not record this."]
    (entry,) = [entry for entry in traced.document()["entries"] if entry["number"] is None]
    assert (entry["text"], entry["tapes"]) == ("b * b", [])


def test_what_another_tape_records_meanwhile_is_told_once():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced, ad.GradientTape(), ad.GradientTape() as inner, inner.stop_recording():
        x * x
    assert said(traced, "skip record") == ["t1 is x times x, which is 9. Tape 1 records it as entry 1 of this run."]


def test_a_pause_inside_a_function_that_is_played_has_its_steps():
    def f(x):
        with ad.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                c = x * x
            y = c * x
        return tape.gradient(y, x)

    assert played(f, 3.0, kind="skip") == [
        "c is x times x, which is 9. The tape is paused, so it does not record this."
    ]


def test_what_is_computed_on_no_tape_is_told():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced:
        y = x * 2
        x.assign_sub(0.1 * y)
    assert said(traced) == ["y is x * 2, which is 6. No tape is recording this."]
    assert len(traced) == 2


def test_a_custom_gradient_s_backward_function_is_lit():
    @ad.custom_gradient
    def doubled(v):
        def backward(dy):
            scale = 2.0
            return dy * scale

        return v * 2.0, backward

    assert played(doubled, 3.0)[-2:] == ["scale is 2.", "backward returns 2."]


# What passes ----------------------------------------------------------------------------------------------------------


def test_lines_without_a_step_are_passed_visibly():
    def f(x):
        y = x
        print(end="")
        return y * y

    d = ad.play(f, 2.0)._content["trace"]
    (record,) = [step for step in d["steps"] if step["kind"] == "record"]
    first = record["where"]["line"] - 2
    assert record["passed"] == [[0, first], [0, first + 1]]


def test_what_only_the_player_s_own_tape_recorded_is_passed():
    def f(x):
        y = x * x
        with ad.GradientTape() as tape:
            tape.watch(y)
            z = y * y
        return tape.gradient(z, y)

    d = ad.play(f, 2.0)._content["trace"]
    passed = [line for step in d["steps"] for _, line in step.get("passed", ())]
    assert d["steps"][0]["kind"] == "watch"
    assert d["steps"][0]["where"]["line"] - 2 in passed


def test_a_long_loop_says_that_its_later_turns_are_left_out():
    def f(x):
        n = 0
        for _ in range(10_000):
            n += 1
        return x * n

    texts = played(f, 2.0)
    assert len(texts) == MOST + 1
    assert texts[-1] == f"n is {MOST}. This line has had {MOST} steps; later ones are not shown."


# Errors ---------------------------------------------------------------------------------------------------------------


def broken(x):
    y = x * x
    values = [1.0]
    return y * values[3]


def test_the_last_step_of_a_trace_that_raises_is_the_error_at_its_line():
    x = ad.Variable(3.0)
    with pytest.raises(IndexError), ad.trace() as traced, ad.GradientTape():
        broken(x)
    last = traced.document()["steps"][-1]
    assert last["kind"] == "error"
    assert last["text"].endswith(": IndexError: list index out of range.")
    code = traced.document()["code"][last["where"]["code"]]
    assert "values[3]" in code["lines"][last["where"]["line"] - code["first_line"]]


def test_an_error_that_is_caught_ends_nothing():
    def f(x):
        try:
            broken(x)
        except IndexError:
            k = 2
        return x * k

    assert played(f, 2.0)[-1] == "k is 2."
    assert played(f, 2.0, kind="error") == []


def test_the_code_runs_as_it_would():
    def f(x):
        seen = []

        def inner():
            nonlocal k
            k = k + 1
            seen.append(k)

        k = 1
        inner()
        k += 10
        inner()
        return x * k, seen

    with ad.trace():
        y, seen = f(2.0)
    assert (y, seen) == (26.0, [2, 13])


def test_nothing_listens_when_no_trace_runs():
    before = sys.gettrace(), now().listeners
    with ad.trace():
        assert now().listeners != before[1]
    assert (sys.gettrace(), now().listeners) == before


def test_two_traces_at_once_see_the_same():
    with ad.trace() as outer:
        k = 1
        with ad.trace() as inner:
            n = k + 1
        k = n
    assert said(inner) == ["n is 2."]
    assert said(outer) == ["k is 1.", "n is 2.", "k is 2."]


def test_a_statement_over_several_lines_is_told_once_and_with_what_came_of_it():
    def f(x):
        n = 1
        n = n + 9
        while n > 0 and n > 9:
            n -= 1
        while True:
            n += 1
            if n == 11:
                return x * n

    assert played(f, 2.0) == [
        "n is 1.",
        "n is 10.",
        "n > 0 and n > 9 counts as True, so the loop's block runs.",
        "n is 9.",
        "n > 0 and n > 9 counts as False, so the loop ends.",
        "n is 10.",
        "n == 11 is False, so the block is skipped.",
        "n is 11.",
        "n == 11 is True, so the block below runs.",
    ]  # fmt: skip


def test_turns_are_counted_anew_after_a_break():
    def f(x):
        for i in range(2):
            for j in range(5):
                if j == 1:
                    break
        return x * x

    turns = [text for text in played(f, 2.0) if text.startswith("turn")]
    assert turns == [
        "turn 1 of the loop begins, with i = 0.",
        "turn 1 of the loop begins, with j = 0.",
        "turn 2 of the loop begins, with j = 1.",
        "turn 2 of the loop begins, with i = 1.",
        "turn 1 of the loop begins, with j = 0.",
        "turn 2 of the loop begins, with j = 1.",
    ]


def test_an_assignment_that_raised_was_none():
    def f(x):
        it = iter([1])
        v = next(it)
        try:
            v = next(it)
        except StopIteration:
            x = x * 1.0
        return x * v

    assert played(f, 2.0) == ["v is 1."]


def test_a_turn_is_told_by_those_of_its_names_that_can_be_written():
    def f(x):
        for i, letter in enumerate("ab"):
            x = x * len(letter)
        return x + i

    assert played(f, 2.0) == [f"turn {k + 1} of the loop begins, with i = {k}." for k in range(2)]


def test_what_the_package_calls_returns_without_a_step_if_there_is_nothing_to_write():
    @ad.custom_gradient
    def square(v):
        return v * v, lambda g: g * 2.0 * v

    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        square(x)
    assert not [text for text in said(traced) if text.startswith("square returns")]


class Net(ad.nn.Module):
    def __init__(self):
        self.w = ad.Variable(2.0, name="w")

    def __call__(self, x):
        return self.forward(x) * 3

    def forward(self, x):
        return x * self.w

    @classmethod
    def make(cls, k):
        return cls()


def test_a_method_is_named_with_its_class_and_the_call_of_a_module_is_a_call():
    def made():
        net = Net.make(1)
        with ad.GradientTape():
            return net(3.0)

    assert of(made) == [
        "made() is called.",
        "Net.make(k = 1) is called.",
        "Net.__init__() is called.",
        "Net.make returns cls().",
        "net(x = 3) is called.",
        "Net.forward(x = 3) is called.",
    ]


def test_only_a_first_parameter_called_self_or_cls_goes_without_saying():
    def paired(x, cls, self):
        return x * self * cls

    assert of(lambda: paired(2.0, 3, 4))[1] == "paired(x = 2, cls = 3, self = 4) is called."


def kind_of(n):
    match n:
        case 1:
            k = 1
        case int(j) if j > 1:
            k = 2
        case (a, 3):
            k = a


@pytest.mark.parametrize(
    ("n", "ways"),
    [
        (1, ["n matches 1, so the block below it runs.", "k is 1."]),
        (2, ["n matches int(j) if j > 1, so the block below it runs.", "k is 2."]),
        ((7, 3), ["n matches [a, 3], so the block below it runs.", "k is 7."]),
        (None, ["no case applies to n, so every block is skipped."]),
        (0, ["no case applies to n, so every block is skipped."]),  # 0 matches a pattern, but not its guard
    ],
)
def test_a_match_says_which_pattern_it_was(n, ways):
    assert of(kind_of, n)[1:] == ways


def test_of_a_block_behind_the_colon_of_a_case_nothing_is_claimed():
    def chosen(n):
        k = 0
        match n:
            case 1: k = 1  # fmt: skip  # noqa: E701
            case _: k = 2  # fmt: skip  # noqa: E701
        del n

    assert of(chosen, 2)[1:] == ["k is 0."]


def test_the_head_of_a_case_may_take_several_lines():
    def chosen(n):
        k = 0
        match n:
            case (1 |
                  2): k = 1  # fmt: skip  # noqa: E701
            case int() if (n >
                           5): k = 2  # fmt: skip  # noqa: E701
        del n

    def block(n):
        k = 0
        match n:
            case (
                1  # of several lines
                | 2
            ) if n > 1:
                k = 1
        return k

    assert of(chosen, 2)[1:] == of(chosen, 4)[1:] == of(chosen, 7)[1:] == ["k is 0."]
    assert of(block, 2)[2:4] == ["n matches 1 | 2 if n > 1, so the block below it runs.", "k is 1."]
    assert of(block, 1)[2] == of(block, 3)[2] == "no case applies to n, so every block is skipped."


def test_a_recursion_without_end_is_the_user_s_own_error_and_the_steps_until_then_are_kept():
    def endless(x):
        return endless(x * 1)

    with pytest.raises(RecursionError), ad.trace() as traced, ad.GradientTape():
        endless(ad.Variable(3.0))
    kinds = [step["kind"] for step in traced.document()["steps"]]
    assert kinds.count("record") > 10
    assert kinds[-1] == "error"


def test_a_mask_is_called_by_the_comparison_that_made_it():
    def f(x):
        kept = np.array([1, 0, 1])
        return np.where(kept == 1, x, -1e9)

    said = ad.play(f, [1.0, 2.0, 3.0]).transcript()
    assert "where(kept == 1, x, -1e+09)" in said
    assert "True" not in said


def test_a_mask_in_a_product_stands_in_brackets():
    kept = np.array([1, 0, 1])
    x = ad.Variable([1.0, 2.0, 3.0], name="x")
    with ad.trace() as traced, ad.GradientTape() as tape:
        y = (kept == 1) * x - (kept < 1)
    document = traced.document()
    assert [entry["text"] for entry in document["entries"]] == ["(kept == 1) * x", "t1 - (kept < 1)"]
    constants = [tensor["name"] for tensor in document["tensors"] if tensor["kind"] == "constant"]
    assert constants == ["(kept == 1)", "(kept < 1)"]  # the player puts these into its formulas
    assert "x times (" not in (said := str(traced.transcript()))
    assert "(kept == 1) times x" in said
    tape.gradient(y, x)
    assert "(kept == 1) * x" in str(tape)  # of an entry that has released its arrays, the code is all there is
