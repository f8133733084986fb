"""The program of a trace updates variables as the user's code does, runs, and gives the same numbers."""

import json
import re

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn


def ran(traced, **variables):
    """The lines of the program that assign to the first variable, after it was run and gave each its value."""
    lines = traced.document()["program"]["lines"]
    exec("\n".join(lines), names := {"np": np})
    for name, variable in variables.items():
        ours = [names[known] for known in names if known == name or known.startswith(f"{name}_2")]
        assert any(type(o) is type(variable._array) and o.tobytes() == variable._array.tobytes() for o in ours), name
        assert names[name].dtype == variable.dtype
    name = next(iter(variables))
    return [line for line in lines if line.split(" = ")[0] in (name, f"{name}_2")][1:]


def trained(step, w, turns=2):
    """A trace of a loop that trains a variable."""
    with ad.trace() as traced:
        for _ in range(turns):
            with ad.GradientTape() as tape:
                loss = np.sum(w * w)
            step(tape.gradient(loss, w), w)
    return traced


def scaled(g, w):
    w.assign_sub(0.1 * g)


def both_sides(g, w):
    w.assign(w - g / 8.0)


def added(g, w):
    w.assign_add(-g * 0.1)


def as_it_is(g, w):
    w.assign_sub(g)


def decayed(g, w):
    w.assign_sub(0.1 * (g + 0.01 * w))


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], np.float32(0.3), np.array([0.1, 0.7], dtype="float32")])
@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        (scaled, ["w = w - 0.1 * w_bar", "w = w - 0.1 * w_bar_2"]),
        (both_sides, ["w = w - w_bar / 8.0", "w = w - w_bar_2 / 8.0"]),
        (added, ["w = w + -w_bar * 0.1", "w = w + -w_bar_2 * 0.1"]),
        (as_it_is, ["w = w - w_bar", "w = w - w_bar_2"]),
        (decayed, ["w = w - 0.1 * (w_bar + 0.01 * w)", "w = w - 0.1 * (w_bar_2 + 0.01 * w)"]),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_a_variable_is_updated_by_the_expression_of_the_code(step, wanted, value):
    w = ad.Variable(value, name="w")
    assert ran(trained(step, w), w=w) == wanted


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.SGD(0.1),
        lambda: nn.SGD(0.1, momentum=0.9),
        lambda: nn.Adam(0.1),
    ],
    ids=["SGD", "momentum", "Adam"],
)
@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], np.array([0.1, 0.7], dtype="float32")])
def test_optimizers_are_written_out_and_go_as_far_as_without_a_trace(make, value):
    w, alone = ad.Variable(value, name="w"), ad.Variable(value)
    for variable, traces in ((w, True), (alone, False)):
        optimizer = make()
        if traces:
            lines = ran(trained(optimizer.apply, variable, turns=4), w=variable)
        else:
            for _ in range(4):
                with ad.GradientTape() as tape:
                    loss = np.sum(variable * variable)
                optimizer.apply(tape.gradient(loss, variable), variable)
        kept = [part for pair in optimizer._memory.values() for part in pair[1:]]
        assert "Tensor" not in repr(kept), "an optimizer remembers plain arrays, traced or not"
    assert w._array.tobytes() == alone._array.tobytes()
    assert len(lines) == 4
    assert all(line.startswith("w = w - 0.1 * ") for line in lines)


def test_sgd_reads_like_the_textbook_and_momentum_is_a_line_of_its_own():
    w = ad.Variable([1.0, 2.0], name="w")
    assert ran(trained(nn.SGD(0.1).apply, w), w=w) == ["w = w - 0.1 * w_bar", "w = w - 0.1 * w_bar_2"]
    traced = trained(nn.SGD(0.1, momentum=0.9).apply, w, turns=3)
    lines = traced.document()["program"]["lines"]
    assert "part = 0.9 * w_bar + w_bar_2" in lines
    assert lines[-1] == "w = w - 0.1 * (0.9 * part + w_bar_3)"


def updates(traced):
    """The sentence of each assignment, without its line, and its formula."""
    document = traced.document()
    trees = [*document["formulas"], None]
    steps = [step for step in document["steps"] if step["kind"] == "assign"]
    said = [re.fullmatch(r"Line \d+: (the variable .*)", step["text"])[1] for step in steps]
    return [(text, trees[step.get("formula", -1)]) for text, step in zip(said, steps, strict=True)]


@pytest.mark.parametrize(
    ("step", "said", "tree"),
    [
        (scaled, "w - 0.1 * g", ["-", 0, ["*", ["number", 0.1], "g"]]),
        (both_sides, "w - g / 8.0", ["-", 0, ["/", "g", ["number", 8.0]]]),
        (as_it_is, "w - g", ["-", 0, "g"]),
        (nn.SGD(0.1).apply, "w - 0.1 * d loss/dw", ["-", 0, ["*", ["number", 0.1], "g"]]),
    ],
    ids=["scaled", "both sides", "as it is", "SGD"],
)
def test_an_assignment_says_how_it_came_to_its_value_in_the_variable_and_its_cotangent(step, said, tree):
    first, second = updates(trained(step, ad.Variable(3.0, name="w")))
    assert first[0].startswith(f"the variable w is assigned {said}, which is ")
    assert second[0].startswith(f"the variable w is assigned {said}, which is "), "the cotangent of the latest pass"
    assert first[1] == second[1] == tree
    large = updates(trained(step, ad.Variable(np.arange(6.0), name="w")))
    assert large[0] == (f"the variable w (length 6) is assigned {said}.", tree)


def test_a_long_update_has_a_formula_and_a_short_sentence_and_a_number_has_neither():
    text, tree = updates(trained(nn.Adam(0.1).apply, ad.Variable(3.0, name="w")))[0]
    assert text == "the variable w is assigned 2.9."
    assert tree[:2] == ["-", 0]
    w = ad.Variable(np.zeros((2, 3)), name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch(w)
        w.assign(np.arange(6.0).reshape(2, 3))
        w.assign(np.ones((2, 3)))
        w.assign_add(1.0)
    assert updates(traced) == [
        ("the variable w gets new values (2×3).", None),
        ("the variable w gets new values (2×3, filled with 1).", None),
        ("the variable w (2×3, filled with 2) is assigned w + 1.0.", ["+", 0, ["number", 1.0]]),
    ]


def test_the_cotangent_of_another_variable_keeps_its_name_in_a_formula():
    v, w = ad.Variable(2.0, name="v"), ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            loss = v * w
        g, h = tape.gradient(loss, [v, w])
        w.assign_sub(0.5 * (g + h))
    (said,) = updates(traced)
    sums = ["+", ["bar", "v"], "g"]
    assert said == (
        "the variable w is assigned w - 0.5 * (g + h), which is 0.5.",
        ["-", 0, ["*", ["number", 0.5], sums]],
    )


def test_the_cotangents_stay_on_show_until_all_variables_are_updated():
    v, w = ad.Variable(2.0, name="v"), ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            loss = v * w
        nn.SGD(0.5).apply(tape.gradient(loss, [v, w]), [v, w])
        with ad.GradientTape() as tape:
            tape.watch(v)
    document = traced.document()
    known = [state.get("pass", "as it was") for state in document["states"]]
    kinds = [step["kind"] for step in document["steps"]]
    assert kinds[-3:] == ["assign", "assign", "watch"]
    assert known[-3:] == ["as it was", "as it was", None]


def test_each_variable_has_its_own_cotangent():
    v, w = ad.Variable([1.0, 2.0], name="v"), ad.Variable([3.0, 4.0], name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            loss = np.sum(v + w)
        nn.SGD(0.5).apply(tape.gradient(loss, [v, w]), [v, w])
    assert ran(traced, v=v, w=w) == ["v = v - 0.5 * v_bar"]
    assert "w = w - 0.5 * w_bar" in traced.document()["program"]["lines"]


def test_a_value_that_is_needed_later_keeps_its_name():
    w = ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            y = w * w
        w.assign_sub(0.1 * tape.gradient(y, w))
        again = tape.gradient(y, w)
    lines = traced.document()["program"]["lines"]
    exec("\n".join(lines), names := {"np": np})
    assert "w_2 = w - 0.1 * w_bar" in lines
    assert names["w_bar_2"] == float(again) == 6.0


def test_numbers_from_elsewhere_are_entered_and_say_so_unless_they_stand_in_the_code():
    w = ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch(w)
        w.assign(4.0)
        w.assign_sub(0.5)
        w.assign(np.sqrt(np.float64(2.0)) + len("abc"))
    assert ran(traced, w=w) == [
        "w = np.float64(4.0)",
        "w = w - 0.5",
        "w = np.float64(4.414213562373095)  # computed outside of this program",
    ]


def test_a_long_array_from_elsewhere_takes_no_other_s_place():
    w = ad.Variable(np.arange(30.0), name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sum(w * w)
        w.assign(np.linspace(0.0, 1.0, 30))
        tape.gradient(y, w)
    lines = [line for line in traced.document()["program"]["lines"] if line.startswith("w")]
    assert lines[:2] == ['w = values["w"]', 'w_2 = values["w_2"]  # computed outside of this program']


def test_the_gradient_of_an_inner_tape_may_be_what_is_subtracted():
    w = ad.Variable([1.0, 2.0], name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = np.sum(w**3)
            g = inner.gradient(y, w)
            z = np.sum(g * g)
        w.assign_sub(0.01 * outer.gradient(z, w) + 0.1 * g)
    assert len(ran(traced, w=w)) == 1


def test_an_optimizer_of_the_user_s_works_on_plain_arrays_as_before():
    class Signs(nn.SGD.__base__):
        def _step(self, gradient, memory):
            assert isinstance(gradient, np.ndarray)
            change = np.sign(gradient)
            change *= self.learning_rate
            return change, None

    w = ad.Variable([1.0, 2.0], name="w")
    assert ran(trained(Signs(0.1).apply, w, turns=1), w=w) == [
        "w = np.array([0.9, 1.9])  # computed outside of this program"
    ]


def test_a_long_chain_outside_of_any_tape_is_written_line_by_line():
    w = ad.Variable(0.5, name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = w * w
        g = tape.gradient(y, w)
        for _ in range(3000):
            g = g * 0.999
        w.assign_sub(g)
    assert len(ran(traced, w=w)) == 1


def test_every_step_that_assigns_has_its_line():
    w = ad.Variable([1.0, 2.0], name="w")
    document = trained(scaled, w).document()
    program = document["program"]
    lit = [
        program["lines"][at] for s, at in zip(document["steps"], program["steps"], strict=True) if s["kind"] == "assign"
    ]
    assert lit == ["w = w - 0.1 * w_bar", "w = w - 0.1 * w_bar_2"]
    watched = [
        program["lines"][at] for s, at in zip(document["steps"], program["steps"], strict=True) if s["kind"] == "watch"
    ]
    assert watched == ["w = np.array([1.0, 2.0])", "w = w - 0.1 * w_bar"], (
        "where it has got the value it is watched with"
    )


def rebinding(turn, w, turns=2):
    """What the steps that give a name to a new tensor say, their formulas and their lines; the program gives w."""
    with ad.trace() as traced:
        for _ in range(turns):
            w = turn(w)
    document = traced.document()
    exec("\n".join(document["program"]["lines"]), names := {"np": np})
    found, update = [], False
    for step, state, at in zip(document["steps"], document["states"], document["program"]["steps"], strict=True):
        update = state.get("update", update)
        if step["kind"] == "assign":
            assert update, "so the heading says"
            line = document["program"]["lines"][at]
            found.append((step["text"].partition("the new ")[2], document["formulas"][step["formula"]], line))
            assert document["tensors"][step["tensor"]]["value"] == step["value"]
    value = names[found[-1][2].partition(" = ")[0]]
    assert value.tobytes() == np.asarray(w).tobytes()
    return found


def watch_again(w):
    with ad.GradientTape() as tape:
        tape.watch(w)
        loss = np.sum(w * w)
    g = tape.gradient(loss, w)
    w = w - 0.25 * g
    return w  # noqa: RET504 - the name is the point


def in_one_line(w):
    with ad.GradientTape() as tape:
        tape.watch(w)
        loss = np.sum(w * w)
    w = w - 0.25 * tape.gradient(loss, w)
    return w  # noqa: RET504 - the name is the point


def subtract_in_place(w):
    with ad.GradientTape() as tape:
        tape.watch(w)
        loss = np.sum(w * w)
    g = tape.gradient(loss, w)
    w -= 0.25 * g
    return w


def in_a_fresh_variable(w):
    w = w if isinstance(w, ad.Variable) else ad.Variable(w)
    with ad.GradientTape() as tape:
        loss = np.sum(w * w)
    g = tape.gradient(loss, w)
    w = ad.Variable(w - 0.25 * g)
    return w  # noqa: RET504 - the name is the point


def in_a_variable_twice(w):
    return in_a_fresh_variable(ad.Variable(w))


def make_a_constant_first(w):
    w = ad.constant(w)
    return watch_again(w)


def by_a_function(w):
    g = ad.grad(lambda w: np.sum(w * w))(w)
    w = w - 0.25 * g
    return w  # noqa: RET504 - the name is the point


@pytest.mark.parametrize("value", [3.0, [1.0, 3.0]])
@pytest.mark.parametrize(
    "turn",
    [
        watch_again,
        in_one_line,
        subtract_in_place,
        in_a_fresh_variable,
        in_a_variable_twice,
        make_a_constant_first,
        by_a_function,
    ],
    ids=lambda turn: turn.__name__,
)
def test_a_name_that_is_given_to_a_step_downhill_is_an_update(turn, value):
    tree = ["-", 0, ["*", ["number", 0.25], "g"]]
    first, second = rebinding(turn, ad.constant(value))
    is_named = turn is not in_one_line
    gradients = ("g", "g") if is_named else ("d loss/dw", "d loss₂/dw₂")
    assert first[0].startswith(f"w, called w₂ here, is w - 0.25 * {gradients[0]}, which is ")
    assert second[0].startswith(f"w, called w₃ here, is w₂ - 0.25 * {gradients[1]}, which is ")
    assert first[1:] == (tree, "w_2 = w - 0.25 * w_bar")
    assert second[1:] == (tree, "w_3 = w_2 - 0.25 * w_2_bar")


def descend(w):
    for _ in range(2):
        with ad.GradientTape() as tape:
            tape.watch(w)
            loss = (w - 3.0) ** 2
        w = w - 0.1 * tape.gradient(loss, w)
    return w


def descend_by_grad(w):
    for _ in range(2):
        w = w - 0.1 * ad.grad(lambda w: (w - 3.0) ** 2)(w)
    return w


def unroll(w):
    with ad.GradientTape() as tape:
        tape.watch(w)
        last = (descend(w) - 3.0) ** 2
    return tape.gradient(last, w)


@pytest.mark.parametrize(("function", "values"), [(descend, [0.6, 1.08]), (descend_by_grad, [0.6, 1.08]), (unroll, [])])
def test_in_play_too_a_name_that_is_given_to_a_step_downhill_is_an_update(function, values):
    """The tape of `play` around the function records it; that of the reader's own in `unroll` follows it for good."""
    steps = [step for step in ad.play(function, 0.0)._content["trace"]["steps"] if step["kind"] == "assign"]
    assert [float(step["text"].rpartition(" ")[2].removesuffix(".")) for step in steps] == values


def test_every_name_of_a_line_and_every_item_of_a_list_has_an_update_of_its_own():
    w, b = ad.constant([1.0, 3.0]), ad.constant(0.5)
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch([w, b])
            loss = np.sum(w * b)
        gw, gb = tape.gradient(loss, [w, b])
        w, b = w - 0.3 * gw, b - 0.3 * gb
        p = [w, b]
        with ad.GradientTape() as tape:
            tape.watch(p)
            loss = np.sum(p[0] * p[1])
        p = [one - 0.5 * g for one, g in zip(p, tape.gradient(loss, p), strict=True)]
    texts = [step["text"].partition("the new ")[2] for step in traced.document()["steps"] if step["kind"] == "assign"]
    assert [text.partition(", which")[0] for text in texts] == [
        "w, called w₂ here, is w - 0.3 * gw",
        "b, called b₂ here, is b - 0.3 * gb",
        "p[0] is w₂ - 0.5 * d loss₂/dw₂",
        "p[1] is b₂ - 0.5 * d loss₂/db₂",
    ]


def test_what_is_not_computed_from_its_own_gradient_outside_of_tapes_is_not_an_update():
    w, h, total = ad.constant(3.0), ad.constant(1.0), 0.0
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch(w)
            loss = w * w
        total = total + tape.gradient(loss, w)
        total = total + total
        h = np.tanh(h) + w
        w = w + 1.0
        with ad.GradientTape() as tape:
            tape.watch(w)
            w = w - 0.1 * total
    assert "assign" not in {step["kind"] for step in traced.document()["steps"]}


def test_a_new_value_that_is_assigned_to_before_it_is_watched_keeps_its_update():
    w = ad.constant(3.0)
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch(w)
            loss = w * w
        w = w - 0.25 * tape.gradient(loss, w)
        w = ad.Variable(w)
        w.assign(7.0)
        with ad.GradientTape() as tape:
            loss = w * w
    first, second = (step for step in traced.document()["steps"] if step["kind"] == "assign")
    assert first["text"].endswith("is w - 0.25 * d loss/dw, which is 1.5.")
    assert second["value"]["text"] == "7"


def test_a_new_value_of_another_dtype_is_cast():
    w = ad.constant(3.1)
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch(w)
            loss = w * w
        w = ad.Variable(w - 0.3 * tape.gradient(loss, w), dtype="float32")
    lines = traced.document()["program"]["lines"]
    assert lines[-1] == "w_2 = (w - 0.3 * w_bar).astype(np.float32)"
    exec("\n".join(lines), names := {"np": np})
    assert names["w_2"].tobytes() == w._array.tobytes()


def test_a_change_with_a_name_is_told_by_its_name():
    w, v = ad.Variable([0.5, -0.2], name="w"), np.zeros(2)
    with ad.trace() as traced:
        for _ in range(3):
            with ad.GradientTape() as tape:
                loss = np.sum((w * 2.0 - 1.0) ** 2)
            g = tape.gradient(loss, {"w": w})
            v = 0.9 * v - 0.1 * g["w"]
            w.assign_add(v)
        w.assign(v)
        start = np.zeros(2)
        w.assign(start)
    told = [text.partition(", which is ")[0] for text, _ in updates(traced)]
    assert told == ["the variable w is assigned w + v"] * 3 + [
        "the variable w is assigned v",
        "the variable w is assigned start",
    ]


def test_a_gradient_in_a_dict_or_behind_a_step_keeps_its_name():
    w = ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            loss = w * w
        grads = tape.gradient(loss, {"w": w})
        w.assign_sub(0.25 * grads["w"])
        slope = tape.gradient(loss, w)
        step = 0.25 * slope
        w.assign(w - step)
    told = [text.partition(", which is ")[0] for text, _ in updates(traced)]
    assert told == ["the variable w is assigned w - 0.25 * grads['w']", "the variable w is assigned w - 0.25 * slope"]


def test_the_expression_of_an_update_is_lit():
    w, b = ad.constant(3.0), ad.constant(1.0)
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            tape.watch([w, b])
            loss = w * w * b
        gw, gb = tape.gradient(loss, [w, b])
        w = w - 0.25 * gw
        b -= 0.25 * gb
    document, lit = traced.document(), []
    for step in document["steps"]:
        if step["kind"] == "assign":
            where = step["where"]
            code = document["code"][where["code"]]
            lit.append(code["lines"][where["line"] - code["first_line"]][slice(*where["columns"])])
    assert lit == ["w - 0.25 * gw", "b -= 0.25 * gb"]


def to_the_root(x, f, df):
    x.assign(x - f / df)


def down_twice(x, f, df):
    x.assign_sub(f + df)


def across_lines(x, f, df):
    x.assign(
        x - f
        / df
    )  # fmt: skip


def set_to_a_number(x, f, df):
    x.assign(np.float64(3))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (to_the_root, "x - f / df, which is 1.83"),
        (down_twice, "x - (f + df), which is -10"),
        (across_lines, "x - f / df, which is 1.83"),
        (set_to_a_number, "3"),
    ],
)
def test_an_update_by_other_values_of_the_tape_is_told_as_it_is_written(step, said):
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            f = x * x - 2.0
        step(x, f, tape.gradient(f, x))
    text = traced.document()["steps"][-1]["text"]
    assert text.partition("the variable x is assigned ")[2] == f"{said}."


def newton(x, f=lambda x: x * x - 2.0):
    for _ in range(2):
        y, dy = ad.value_and_grad(f)(x)
        x = x - y / dy
    return x


def newton_with_a_number(x, f=lambda x: x * x - 2.0):
    for _ in range(2):
        y_2, dy = ad.value_and_grad(f)(x)
        x = x - y_2 / dy
    return x


@pytest.mark.parametrize(
    ("run", "first", "second"), [(newton, "y", "y₂"), (newton_with_a_number, "y_2", "y_2₂")], ids=["y", "y_2"]
)
def test_an_update_uses_names_of_the_graph_and_keeps_the_user_s_numbered_names(run, first, second):
    with ad.trace() as traced:
        run(ad.constant(1.0))
    document = traced.document()
    steps = [step for step in document["steps"] if step["kind"] == "assign"]
    assert [document["formulas"][step["formula"]][2][1] for step in steps] == [["name", first], ["name", second]]
    assert f"is x - {first} / dy, which is 1.5." in steps[0]["text"]
    assert f"is x₂ - {second} / dy, which is 1.42." in steps[1]["text"]


def test_two_gradients_of_one_variable_do_not_look_alike():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x**3
            dy = inner.gradient(y, x)
        d2y = outer.gradient(dy, x)
        x.assign(x - dy / d2y)
    (told,) = [step for step in traced.document()["steps"] if step["kind"] == "assign"]
    assert told["text"].endswith("the variable x is assigned x - dy / d2y, which is 1.")
    formula = json.dumps(traced.document()["formulas"][told["formula"]])
    assert '["name", "dy"]' in formula
    assert '["name", "d2y"]' in formula


def test_two_gradients_that_the_program_calls_the_same_are_told_apart():
    w = ad.Variable(2.0, name="w")
    with ad.trace() as traced:
        total = 0.0
        for k in range(2):
            with ad.GradientTape() as tape:
                loss = w ** (k + 2)
            g = tape.gradient(loss, w)
            total = total + g
        w.assign_sub(0.1 * total)
    (told,) = [step["text"] for step in traced.document()["steps"] if step["kind"] == "assign"]
    assert "g + g" not in told
    assert told.endswith("is assigned w - 0.1 * (0.0 + w_bar + w_bar_2), which is 0.4.")


def by_name(w, m):
    w.assign(w - 0.1 * m)


def by_subtracting(w, m):
    w.assign_sub(0.1 * m)


@pytest.mark.parametrize("step", [by_name, by_subtracting])
@pytest.mark.parametrize("convert", [lambda g: g, lambda g: g.numpy()], ids=["tensor", "plain"])
def test_what_an_update_is_computed_from_has_the_readers_own_name_and_its_number(step, convert):
    w, m = ad.Variable(2.0, name="w"), 0.0
    with ad.trace() as traced:
        for _ in range(2):
            with ad.GradientTape() as tape:
                loss = w * w
            m = 0.9 * m + convert(tape.gradient(loss, w))
            step(w, m)
    document = traced.document()
    updates = [each for each in document["steps"] if each["kind"] == "assign"]
    formulas = [document["formulas"][each["formula"]] for each in updates]
    assert formulas == [["-", 0, ["*", ["number", 0.1], ["name", "m"]]]] * 2
    assert [each["text"].partition(" is assigned ")[2] for each in updates] == [
        "w - 0.1 * m, which is 1.6.",
        "w - 0.1 * m, which is 0.92.",
    ]
    assert [in_numbers(document, each) for each in updates] == [
        ["-", "2", ["*", ["number", 0.1], "4"]],
        ["-", "1.6", ["*", ["number", 0.1], "6.8"]],
    ]


def in_numbers(document, step):
    def fill(tree):
        if isinstance(tree, int):
            return step["numbers"][tree]
        return [tree[0], *(tree[1:] if tree[0] == "number" else map(fill, tree[1:]))]

    return fill(document["formulas"][step["in_numbers"]])


def test_an_array_in_an_update_has_the_readers_own_name():
    w = ad.Variable([2.0, 1.0], name="w")
    with ad.trace() as traced:
        m = np.array([4.0, 2.0])
        w.assign(w - 0.1 * m)
    document = traced.document()
    (step,) = (each for each in document["steps"] if each["kind"] == "assign")
    assert step["text"].endswith("is assigned w - 0.1 * m, which is [1.6 0.8].")
    assert document["formulas"][step["formula"]] == ["-", 0, ["*", ["number", 0.1], ["name", "m"]]]
    assert "numbers" not in step


@pytest.mark.parametrize("turns", [1, 2])
def test_a_gradient_that_is_taken_inside_an_update_is_said_as_a_derivative(turns):
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        for _ in range(turns):
            with ad.GradientTape() as tape:
                y = x * x - 2.0
            x.assign(x - y / tape.gradient(y, x))
    document = traced.document()
    last = [each for each in document["steps"] if each["kind"] == "assign"][-1]
    said, numbers = (
        ("x - y / (dy/dx), which is 1.5.", ["-", "2", ["/", "2", "4"]])
        if turns == 1
        else ("x - y₂ / (dy₂/dx), which is 1.42.", ["-", "1.5", ["/", "0.25", "3"]])
    )
    assert last["text"].endswith(f"is assigned {said}")
    assert in_numbers(document, last) == numbers


@pytest.mark.parametrize(
    ("assign", "formula", "numbers"),
    [
        (lambda x, step, n: x.assign_sub(step), ["-", 0, ["name", "step"]], ["1", "0.1"]),
        (lambda x, step, n: x.assign(n), ["name", "n"], ["3"]),
        (lambda x, step, n: x.assign(n << 1), None, None),
        (lambda x, step, n: x.assign(x - 1e400), None, None),
    ],
)
def test_an_update_with_plain_numbers_plays(assign, formula, numbers):
    def update():
        x = ad.Variable(1.0, name="x")
        with ad.GradientTape():
            x * x
        assign(x, 0.1, 3)

    with np.errstate(all="ignore"):
        player = ad.play(update)
    document = player._content["trace"]
    (step,) = (step for step in document["steps"] if step["kind"] == "assign")
    assert (document["formulas"][step["formula"]] if "formula" in step else None, step.get("numbers")) == (
        formula,
        numbers,
    )
    assert player.html()


def test_numbers_that_a_name_had_before_are_not_put_into_a_formula():
    def update():
        x = ad.Variable(1.0, name="x")
        with ad.GradientTape():
            x * x
        moved = np.sin(x)
        x.assign(5.0)
        x.assign(x + moved)

    *_, step = (step for step in ad.play(update)._content["trace"]["steps"] if step["kind"] == "assign")
    assert "numbers" not in step
    assert step["value"]["data"] == pytest.approx(5.0 + np.sin(1.0), rel=1e-5)
