"""A custom gradient's backward function is not a black box: its lines, its expressions and its formula are shown."""

import dask.array as da
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.text.places import place


def traced(function, *values):
    """The document of a call and of its gradient with respect to all its arguments, and the gradients."""
    xs = [ad.Variable(value, name=name) for value, name in zip(values, "xw", strict=False)]
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = function(*xs)
            z = np.sum(y)
        found = tape.gradient(z, xs)
    return t.document(), found


def contributions(document, operation):
    """What is lit, said and computed where the operation sends something back: code, sentence and line of NumPy."""
    program = document["program"]
    for step, at in zip(document["steps"], program["steps"], strict=True):
        if step["kind"] == "accumulate" and document["entries"][step["entry"]]["operation"] == operation:
            part = document["code"][step["where"]["code"]]
            line = part["lines"][step["where"]["line"] - part["first_line"]]
            start, end = step["where"]["columns"] or (0, len(line))
            yield line[start:end].strip(), step["text"].partition(": ")[2].partition(".")[0], program["lines"][at]


def run(document, **wanted):
    exec("\n".join(document["program"]["lines"]), names := {"np": np})
    for name, value in wanted.items():
        np.testing.assert_array_equal(names[name], value)


CALLS = []


@ad.custom_gradient
def cube(v):
    square = v * v

    def backward(dy):
        CALLS.append(dy)
        factor = 3.0
        return dy * factor * square

    return square * v, backward


def test_the_line_of_the_backward_function_is_lit_and_its_expression_is_the_formula():
    CALLS.clear()
    document, (found,) = traced(cube, 2.0)
    assert list(contributions(document, "cube")) == [
        (
            "dy * factor * square",
            "the contribution to x is dy * factor * square, which is 12",
            "x_bar = y_bar * 3.0 * square",
        )
    ]
    entry = next(entry for entry in document["entries"] if entry["operation"] == "cube")
    assert document["formulas"][entry["contributions"][0]] == ["*", ["*", "g", ["number", 3.0]], ["name", "square"]]
    run(document, x_bar=found.numpy())
    assert len(CALLS) == 1, "it is not called again for what is shown"
    assert any("return dy * factor * square" in line for part in document["code"] for line in part["lines"])


@ad.custom_gradient
def halves(a, b):
    def backward(dy):
        if float(np.sum(dy)) > 0.0:
            total = dy * 0.5
            return total * b, np.sum(total * a)
        return dy, None

    return a * b, backward


def test_each_argument_has_its_own_expression_of_the_branch_that_was_run():
    document, found = traced(halves, np.array([1.0, 2.0]), 3.0)
    assert [(lit, line) for lit, _, line in contributions(document, "halves")] == [
        ("total * b", "x_bar = y_bar * 0.5 * w"),
        ("np.sum(total * a)", "w_bar = np.sum(y_bar * 0.5 * x)"),
    ]
    run(document, x_bar=found[0].numpy(), w_bar=found[1].numpy())


def test_a_cotangent_that_is_handed_on_is_the_formula():
    same = ad.custom_gradient(lambda x: (x, lambda dy: dy))
    document, (found,) = traced(same, 3.0)
    ((lit, said, line),) = contributions(document, "<lambda>")
    assert lit == "dy"
    assert said == "the contribution to x is dy, which is 1"
    assert line == "x_bar = y_bar"
    run(document, x_bar=found.numpy())


def several(x):
    @ad.custom_gradient
    def parts(v):
        return (v * 2.0, v * 3.0), lambda a, b: a * 2.0 + b * 3.0

    left, right = parts(x)
    return left + right  # whose cotangents are equal


def conjugated(x):
    @ad.custom_gradient
    def parts(v):
        return np.real(v * 1j), lambda dy: dy * 2.0 + 0j

    return parts(x)


@pytest.mark.parametrize(("function", "value"), [(several, 3.0), (conjugated, 1.0 + 2.0j)])
def test_where_it_is_not_known_how_a_contribution_came_about_the_program_calls_the_function(function, value):
    document, _ = traced(function, value)
    ((lit, _, line),) = contributions(document, "parts")
    assert lit
    assert line.startswith("x_bar = from_")


def test_a_backward_function_that_an_outer_tape_records_is_shown_all_the_same():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as t:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = cube(x)
            slope = inner.gradient(y, x)
        second = outer.gradient(slope, x)
    assert float(second) == 12.0
    document = t.document()
    assert next(contributions(document, "cube"))[0] == "dy * factor * square"
    run(document, x_bar_2=12.0)


def test_a_stack_of_cotangents_goes_through_one_by_one():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = cube(x)
        tape.jacobian(y, x)
    assert len(list(contributions(t.document(), "cube"))) == 1


def test_variables_that_the_function_reads_have_their_expressions_too():
    w = ad.Variable(3.0, name="w")

    @ad.custom_gradient
    def scaled(v):
        def backward(dy, variables):
            return dy * variables[0], [dy * v]

        return v * w, backward

    x = ad.Variable(2.0, name="x")
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = scaled(x)
        tape.gradient(y, [x, w])
    assert [(lit, line) for lit, _, line in contributions(t.document(), "scaled")] == [
        ("dy * variables[0]", "x_bar = y_bar * w"),
        ("dy * v", "w_bar = y_bar * x"),
    ]


def test_the_place_is_in_the_user_s_file():
    with ad.trace() as t:
        x = ad.Variable(2.0, name="x")
        with ad.GradientTape() as tape:
            y = cube(x)
        tape.gradient(y, x)
    from autodiff_edu.trace.backward_calls import backward_calls

    (own,) = backward_calls(t).values()
    assert place(own.where).file == "test_backward_calls.py"


@ad.custom_gradient
def constants(v):
    return ad.constant(da.map_blocks(lambda block: 1 / 0, v.numpy(), dtype=float)), lambda dy: dy


def test_what_a_custom_gradient_returns_is_not_computed_for_its_program():
    with ad.trace() as traced, ad.GradientTape() as tape:
        x = ad.constant(da.ones(4, chunks=2))
        tape.watch(x)
        constants(x)
    assert any("values[" in line for line in traced.document()["program"]["lines"])


@ad.custom_gradient
def polar(x, y):
    r, angle = np.sqrt(x * x + y * y), np.arctan2(y, x)
    return (r, angle), lambda dr, da: (dr * x / r - da * y / r**2, dr * y / r + da * x / r**2)


@ad.custom_gradient
def with_ones(x):
    one = ad.constant(1.0)
    return (2.0 * x, 3.0 * x), lambda da, db: da * 2.0 * one + db * 3.0


def written(f, *values):
    """The lines of the contributions of f's arguments, after the program has run and given their gradients."""
    args = [ad.Variable(value, name=name) for value, name in zip(values, "xy", strict=False)]
    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            target = f(*args)
        gradients = tape.gradient(target, args)
    lines = steps.document()["program"]["lines"]
    exec("\n".join(lines), names := {"np": np})
    for one, gradient in zip(args, gradients, strict=True):
        np.testing.assert_allclose(names[f"{one.name}_bar"], gradient.numpy(), 1e-14)
    return [line for line in lines if line.partition("_bar = ")[0] in ("x", "y")]


def test_a_backward_function_of_several_cotangents_is_written_with_the_parts_of_the_joined_one():
    def f(x, y):
        r, angle = polar(x, y)
        return r * angle

    assert written(f, 3.0, 4.0) == [
        "x_bar = t6_bar[0] * x / r - t6_bar[1] * y / r ** 2",
        "y_bar = t6_bar[0] * y / r + t6_bar[1] * x / r ** 2",
    ]


def test_what_only_equals_a_cotangent_keeps_its_own_value():
    def f(x):
        a, b = with_ones(x)
        return a + 2.0 * b

    assert written(f, 3.0) == ["x_bar = t3_bar[0] * 2.0 * np.float64(1.0) + t3_bar[1] * 3.0"]


def test_cotangents_that_are_equal_cannot_be_told_apart_so_the_program_calls_the_function():
    def f(x):
        a, b = with_ones(x)
        return a + b

    with pytest.raises(NameError, match="values"):
        written(f, 3.0)
