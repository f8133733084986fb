"""A trace calls every tensor by the reader's own name for it: the first one it had, wherever the code gave it that."""

import numpy as np
import pytest

import autodiff_edu as ad


def document_of(function):
    with ad.trace() as steps:
        function()
    return steps.document()


def list_computed(document):
    """The names of what was recorded, in order."""
    return [document["tensors"][entry["output"]]["name"] for entry in document["entries"]]


def outcomes(document):
    return [step["text"] for step in document["steps"] if step["kind"] == "outcome"]


def kinds(document):
    return {tensor["name"]: tensor["kind"] for tensor in document["tensors"]}


# The first name, and the second ---------------------------------------------------------------------------------------


def renamed(x):
    z = ad.Variable(x)
    with ad.GradientTape() as tape:
        y = z
        y = np.sin(y) + 0.1 * z
    return z, y, tape


def test_a_variable_keeps_its_first_name_and_the_second_is_an_alias():
    def run():
        z, y, tape = renamed(0.3)
        tape.gradient(y, z)

    document = document_of(run)
    assert outcomes(document) == ["dy₂/dz is 1.06."]
    assert [entry["text"] for entry in document["entries"]] == ["sin(y)", "0.1 * z", "t1 + t2"]
    assert [entry.get("aliases") for entry in document["entries"]] == [["y"], None, None]
    assert document["program"]["lines"][:5] == [
        "# forward",
        "z = np.float64(0.3)",
        "t1 = np.sin(z)",
        "t2 = 0.1 * z",
        "y_2 = t1 + t2",
    ]


def test_it_does_so_in_the_printed_tape_too():
    assert "t1 = sin(z)" in str(renamed(0.3)[2])


def second_of_two(choice):
    z, w = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = z
        if choice:
            y = w
        np.sin(y)
    return tape


def in_a_chain():
    first = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        second = first
        third: ad.Variable = second
        np.sin(third)
    return tape


def in_a_loop():
    first, others = ad.Variable(1.0), [ad.Variable(2.0)]
    with ad.GradientTape() as tape:
        current = first
        for other in others:
            np.sin(current)
            current = other
        np.cos(current)
    return tape


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lambda: second_of_two(True), ["sin(y)"]),
        (lambda: second_of_two(False), ["sin(y)"]),
        (in_a_chain, ["sin(first)"]),
        (in_a_loop, ["sin(current)", "cos(current₂)"]),
    ],
)
def test_without_a_trace_the_first_name_is_taken_only_where_it_is_sure(function, shown):
    lines = str(function()).splitlines()[1:]
    assert len(lines) == len(shown)
    assert all(f" = {text} " in line for text, line in zip(shown, lines, strict=True))


@pytest.mark.parametrize(("choice", "name"), [(True, "w"), (False, "z")])
def test_a_trace_knows_which_variable_the_second_name_was_given_to(choice, name):
    document = document_of(lambda: second_of_two(choice))
    assert kinds(document)[name] == "variable"
    assert [entry["aliases"] for entry in document["entries"]] == [["y"]]


# A variable that is read before it is watched -------------------------------------------------------------------------


def test_a_variable_that_is_first_read_while_the_tape_is_paused_is_a_variable():
    x, other = ad.Variable(3.0), ad.Variable(2.0)

    def run():
        with ad.GradientTape() as tape:
            with tape.stop_recording():
                a = x / 2
                b = other * 2
            c = a + x + b
            z = c * c
        tape.gradient(z, x)

    assert kinds(document_of(run)) == {
        "x": "variable",
        "other": "variable",
        "2": "constant",
        "a": "computed",
        "b": "computed",
        "t1": "computed",
        "c": "computed",
        "z": "computed",
    }


def test_so_it_is_in_a_drill():
    drawn = ad.drill(2, seed=1)
    traces = [drawn._content["trace"], *(one["trace"] for one in drawn._content["drill"])]
    for trace in traces:
        watched = {trace["tensors"][step["tensor"]]["name"] for step in trace["steps"] if step["kind"] == "watch"}
        assert watched
        assert {kinds(trace)[name] for name in watched} <= {"variable", "watched"}


# What a call returns --------------------------------------------------------------------------------------------------


def test_a_derivative_has_the_name_it_is_assigned_to():
    x = ad.Variable(1.3)

    def run():
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x**3
            dy = inner.gradient(y, x)
        outer.gradient(dy, x)

    document = document_of(run)
    assert list_computed(document) == ["y", "t2", "t3", "dy"]
    assert outcomes(document)[-1] == "d(dy)/dx is 7.8."
    assert "dy_bar = np.float64(1.0)" in document["program"]["lines"]


def test_so_has_each_of_several_and_each_part_of_a_dict():
    w, b = ad.Variable(1.5), ad.Variable(0.5)

    def run():
        with ad.GradientTape(persistent=True) as outer:
            with ad.GradientTape(persistent=True) as inner:
                loss = (w * 2.0 + b) ** 2
            dw, db = inner.gradient(loss, [w, b])
            slopes = inner.gradient(loss, {"w": w, "b": b})
            total = dw + db + slopes["w"] + slopes["b"]
        outer.gradient(total, w)

    names = list_computed(document_of(run))
    assert [name for name in names if not name.startswith("t")] == ["loss", "db", "dw", "slopes['b']", "slopes['w']"]


def huber(r, delta=1.0):
    if np.abs(r) < delta:
        return 0.5 * r**2
    return delta * (np.abs(r) - 0.5 * delta)


def named(r):
    if r > 0:
        result = r * r
    return result


def two(r):
    return r * r, r + 1.0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (huber, "d huber/dr is 1."),
        (named, "d result/dr is 4."),
        (two, "the gradient of two[0] + two[1] with respect to r is 5."),
        (lambda r: r * r, "d function/dr is 4."),
    ],
)
def test_the_result_of_a_function_that_is_played_is_called_after_it_unless_it_has_a_name(function, said):
    assert ad.play(function, 2.0).transcript().splitlines()[-1].partition(". ")[2].lower() == said


class Model:
    def __init__(self):
        self.w = ad.Variable(2.0, name="w")

    def loss(self, x):
        return self.w * x

    def __call__(self, x):
        return self.w * x


def test_the_result_of_a_method_is_called_after_it_where_it_is_differentiated():
    model = Model()

    def run():
        with ad.GradientTape(persistent=True) as tape:
            values = [model.loss(3.0), model(4.0)]
        tape.gradient(values[0], model.w)
        tape.gradient(values[1], model.w)

    assert outcomes(document_of(run)) == ["d loss/dw is 3.", "d model/dw is 4."]


def test_the_name_it_is_assigned_to_comes_first():
    def run():
        with ad.GradientTape() as tape:
            tape.watch(r := ad.constant(2.0, name="r"))
            cost = huber(r)
        tape.gradient(cost, r)

    assert outcomes(document_of(run)) == ["d cost/dr is 1."]


class Plain:
    def __init__(self):
        self.w, self.rest = ad.Variable(2.0), [ad.Variable(1.0)]

    def __call__(self, x):
        return self.w * x + self.rest[0]


def test_an_attribute_without_a_name_of_its_own_has_that_of_the_attribute():
    first, second = Plain(), Plain()

    def run():
        with ad.GradientTape() as tape:
            y = first(1.0) * second(2.0)
        tape.gradient(y, [first.w, second.w])

    document = document_of(run)
    variables = [name for name, kind in kinds(document).items() if kind == "variable"]
    assert variables == ["w", "rest[0]", "w₂", "rest[0]₂"]
    assert [text.partition(" is ")[0] for text in outcomes(document)] == ["dy/dw", "dy/dw₂"]


def test_a_variable_in_a_list_or_an_attribute_is_called_what_the_code_calls_it():
    ws = [ad.Variable(1.0), ad.Variable(2.0)]

    def run():
        with ad.GradientTape() as tape:
            y = ws[0] * ws[1]
            for k in range(2):
                y = y * ws[k]
        tape.gradient(y, ws)

    document = document_of(run)
    assert [name for name, kind in kinds(document).items() if kind == "variable"] == ["ws[0]", "ws[1]"]
    assert outcomes(document)[0].startswith("The gradient of y₃ with respect to ws[0] is")


def test_several_second_names_are_told_in_one_sentence():
    def run():
        x = ad.Variable(2.0)
        with ad.GradientTape() as tape:
            a = x
            b = x
            y = a * b
        tape.gradient(y, x)

    document = document_of(run)
    assert any("Here a and b are other names for x." in step["text"] for step in document["steps"])


def test_where_tapes_are_called_t1_and_t2_results_without_a_name_are_not():
    def run():
        x = ad.Variable(2.0)
        with ad.GradientTape() as t2:
            with ad.GradientTape() as t1:
                y = x**3
            slope = t1.gradient(y, x)
        t2.gradient(slope, x)

    assert list_computed(document_of(run)) == ["y", "v2", "v3", "slope"]


def test_gradients_in_a_list_or_bound_in_a_condition_have_the_name_they_are_bound_to():
    def run():
        x, w = ad.Variable(2.0), ad.Variable(3.0)
        with ad.GradientTape() as outer:
            with ad.GradientTape(persistent=True) as inner:
                y = x * w
                z = w * w
            slopes = inner.gradient(y, [x, w])
            if (more := inner.gradient(z, w)) > 0:
                s = slopes[0] * slopes[1] * more
        outer.gradient(s, [x, w])

    assert {"slopes[0]", "slopes[1]", "more"} <= set(list_computed(document_of(run)))


# Where a tape begins to watch -----------------------------------------------------------------------------------------


def lit(document):
    """The lines that are lit while a tape watches something; None where nothing is lit."""
    found = []
    for step in document["steps"]:
        if step["kind"] == "watch":
            where = step["where"]
            part = where and document["code"][where["code"]]
            found.append(where and part["lines"][where["line"] - part["first_line"]].strip())
    return found


def test_a_watch_lights_the_line_that_reads_the_variable_and_the_code_never_runs_backwards():
    def run():
        price = ad.Variable(2.0)
        rate = 0.1
        for _ in range(2):
            with ad.GradientTape() as tape:
                y = 30.0 * price
            price.assign_sub(rate * tape.gradient(y, price))

    document = document_of(run)
    assert lit(document) == ["y = 30.0 * price"] * 2
    lines = [step["where"]["line"] for step in document["steps"] if step["kind"] in ("watch", "record")]
    assert lines == sorted(lines)


OUTSIDE = ad.Variable(2.0)


def test_a_watch_lights_a_line_in_a_function_or_of_a_global():
    def profit(price):
        return 30.0 * price

    def run():
        with ad.GradientTape():
            profit(ad.Variable(2.0))
            40.0 * OUTSIDE

    assert lit(document_of(run)) == ["return 30.0 * price", "40.0 * OUTSIDE"]


def test_but_where_the_tape_is_told_to_watch_that_is_lit():
    def run():
        x = ad.constant(2.0)
        with ad.GradientTape() as tape:
            tape.watch(x)

    assert lit(document_of(run)) == ["tape.watch(x)"]


# Nothing of the package's own -----------------------------------------------------------------------------------------


def test_the_program_of_a_checkpoint_hands_on_what_its_second_run_came_to():
    w, x = ad.Variable(0.5), ad.Variable(1.2)

    @ad.checkpoint
    def layer(v):
        return np.tanh(w * v)

    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            y = layer(layer(x))
        slopes = tape.gradient(y, [w, x])
    document = steps.document()
    lines = document["program"]["lines"]
    assert not [line for line in lines if "values[" in line]
    exec("\n".join(lines), names := {"np": np})
    last = {name: [line for line in lines if line.startswith(f"{name}_bar")][-1].split(" ")[0] for name in ("x", "w")}
    np.testing.assert_allclose([names[last["w"]], names[last["x"]]], [float(one) for one in slopes], rtol=1e-12)
    seeds = [line for line in lines if line.startswith(("layer_bar = ", "layer_2_bar = "))]
    assert seeds == ["layer_bar = y_bar", "layer_2_bar = t1_bar_2"]


def test_each_result_of_a_checkpointed_function_is_called_as_it_is():
    x = ad.Variable(1.2, name="x")

    @ad.checkpoint
    def both(v):
        return np.sin(v), np.cos(v)

    def run():
        with ad.GradientTape() as tape:
            p, q = both(x)
            y = p * q
        tape.gradient(y, x)

    document = document_of(run)
    assert [entry["text"] for entry in document["entries"][:4]] == ["both(x)", "both[0]", "both[1]", "p * q"]


def test_what_grad_differentiates_with_respect_to_is_called_after_the_parameter():
    def wave(a):
        return np.sin(a) * a

    document = document_of(lambda: ad.grad(ad.grad(wave))(1.0))
    assert "Tape 1 watches a, which is 1." in [step["text"] for step in document["steps"]]
    assert [entry["text"] for entry in document["entries"][:3]] == ["a", "sin(a₂)", "t2 * a₂"]
    assert document["entries"][0]["operation"] == "="
    assert outcomes(document)[0] == "d wave/da₂ is 1.38."


def test_a_custom_gradient_that_the_program_calls_has_its_own_name():
    @ad.custom_gradient
    def parts(v):
        return (v * 2.0, v * 3.0), lambda a, b: a * 2.0 + b * 3.0

    def run():
        x = ad.Variable(2.0)
        with ad.GradientTape() as tape:
            left, right = parts(x)
            y = left + right
        tape.gradient(y, x)

    assert 'backward_of_parts = values["backward_of_parts"]' in document_of(run)["program"]["lines"]


cube = lambda x: x * x * x  # noqa: E731 - the name of a lambda is the point


def test_what_a_lambda_returns_is_called_by_the_name_that_the_lambda_has():
    def elsewhere():
        wave = lambda x: np.sin(x) * x  # noqa: E731
        ad.grad(wave)(2.0)

    assert outcomes(document_of(lambda: ad.grad(cube)(2.0)))[0] == "d cube/dx is 12."
    assert outcomes(document_of(elsewhere))[0] == "d wave/dx is 0.0770."
    assert outcomes(document_of(lambda: ad.grad(lambda x: x * x)(2.0)))[0] == "dt1/dx is 4."


def test_what_a_lambda_returns_has_the_name_that_it_is_assigned_to():
    def run():
        x = ad.Variable(2.0)
        with ad.GradientTape() as tape:
            y = cube(x)
        tape.gradient(y, x)

    assert outcomes(document_of(run))[0] == "dy/dx is 12."


# No name --------------------------------------------------------------------------------------------------------------


def test_the_document_says_which_names_are_made_up():
    def huber(r):
        return np.sqrt(1 + r * r)

    def run():
        r = ad.Variable(2.0, name="r")
        with ad.GradientTape() as tape:
            t9 = 3.0 * r
            result = [huber(t9 - 1.0)]
        tape.gradient(result[0], r)

    tensors = document_of(run)["tensors"]
    assert {tensor["name"]: "unnamed" in tensor for tensor in tensors if tensor["kind"] != "constant"} == {
        "r": False, "t9": False, "v2": True, "v3": True, "v4": True, "huber": False,
    }  # fmt: skip


def test_names_that_are_made_up_are_none_of_the_reader_s():
    def f(x):
        t2 = np.sin(x) * x + np.cos(x)
        s1 = t2 * x
        return s1 + t2

    player = ad.play(f, 0.5)
    assert [tensor["name"] for tensor in player.document()["tensors"]] == ["x", "v1", "v2", "v3", "t2", "s1", "f"]
    assert "t2 = v2 + v3" in "\n".join(player.document()["program"]["lines"])
    x = ad.Variable(0.5, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
    for shown in (str(tape), tape.code(y, x).text):
        assert "t2 = v2 + v3" in shown
        assert "t2₂" not in shown
        assert "t2_2" not in shown


def test_results_on_no_tape_avoid_the_reader_s_names_too():
    w = ad.Variable(2.0, name="w")
    with ad.trace() as traced, ad.GradientTape(watch_accessed_variables=False) as tape:
        s1 = ad.constant(4.0)
        tape.watch(w)
        w * np.sin(s1)
    assert [tensor["name"] for tensor in traced.document()["tensors"]] == ["w", "s1", "r1", "t1"]


def test_a_made_up_name_is_not_like_a_name_of_the_reader_s_with_a_number():
    def fall(y, v):
        h, t0 = 0.1, 0.0
        for _ in range(2):
            v = v + h * (-9.81 - 0.1 * v)
            y = y + h * v + t0
        return y

    names = [tensor["name"] for tensor in ad.play(fall, 10.0, 0.0).document()["tensors"]]
    assert {"v", "v₂", "u1"} <= {*names}
    assert "v1" not in names
