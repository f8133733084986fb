"""A tape as a NumPy program: it can be read, it can be run, and it gives what the tape gives."""

import ast
import builtins
import re

import numpy as np
import pytest
from cases import TABLE
from table import each

import autodiff_edu as ad
from autodiff_edu.player.unpacking import content_of
from autodiff_edu.program.code import code
from autodiff_edu.text.formatting import short_value


def run(program):
    names = program.namespace
    exec(compile(str(program), "program", "exec"), names)
    return names


def summed(case, dtype):
    tensors = [ad.constant(a) for a in case.arguments(dtype)]
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        target = np.sum(case.function(*tensors))
    return tape, tensors, target


def assert_same(found, expected, name):
    assert (found is None) == (expected is None), name
    if expected is not None:
        assert (np.shape(found), found.dtype) == (expected.shape, expected.dtype), name
        np.testing.assert_allclose(found, expected.numpy(), 1e-12, 1e-12, err_msg=name)


def check(tape, target, sources, **options):
    """Run the program of a tape, and compare its gradients with the tape's; gives the program and its names."""
    program = code(tape, target, sources, **options)
    names = run(program)
    expected = tape.gradient(target, sources, **options)
    for k, (one, other) in enumerate(zip(names["gradient"], expected, strict=True)):
        assert_same(one, other, f"source {k}")
    return program, names


def without_places(program):
    """The lines, without where in the test each was computed."""
    return [re.sub(r" +# test_program.py, line \d+", "", line) for line in str(program).splitlines()]


@each(TABLE, "float64", "float32", "complex128", spare=True)
def test_the_program_gives_the_value_and_the_gradients_of_the_tape(case, dtype):
    tape, tensors, target = summed(case, dtype)
    program, names = check(tape, target, tensors)
    forward = str(program).split("# backward")[0].splitlines()
    last = next(line.split(" = ")[0] for line in reversed(forward) if " = " in line)
    np.testing.assert_allclose(names[last], target.numpy(), 1e-13, 1e-13)


def test_the_program_has_the_names_of_the_users_code_and_reads_like_it():
    x, w = ad.Variable([1.0, 2.0], name="x"), ad.Variable(3.0, name="w")
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(np.sin(x) * w)
    program, _ = check(tape, y, [x, w])
    assert without_places(program) == [
        "import numpy as np",
        "",
        "# forward",
        "x = np.array([1.0, 2.0])",
        "w = np.float64(3.0)",
        "t1 = np.sin(x)",
        "t2 = t1 * w",
        "y = np.sum(t2)",
        "",
        "# backward: x_bar is the derivative of y with respect to x, and so on",
        "y_bar = np.float64(1.0)",
        "t2_bar = np.broadcast_to(y_bar, (2,))  # sum",
        "t1_bar = t2_bar * w                    # multiply",
        "w_bar = np.sum(t2_bar * t1)            # multiply: summed to the shape of w",
        "x_bar = t1_bar * np.cos(x)             # sin",
        "gradient = [x_bar, w_bar]",
    ]


def test_two_layers_read_like_a_textbook():
    data = np.linspace(-1, 1, 60).reshape(15, 4)
    W, b = ad.Variable(np.linspace(0, 1, 12).reshape(4, 3), name="W"), ad.Variable(np.zeros(3), name="b")  # noqa: N806
    with ad.GradientTape(persistent=True) as tape:
        hidden = np.tanh(data @ W + b)
        loss = np.mean(hidden**2)
    program, names = check(tape, loss, [W, b])
    assert names["values"].keys() == {"data"}
    assert without_places(program)[9:] == [
        "t2 = t1 + b",
        "hidden = np.tanh(t2)",
        "t4 = hidden ** 2",
        "loss = np.mean(t4)",
        "",
        "# backward: W_bar is the derivative of loss with respect to W, and so on",
        "loss_bar = np.float64(1.0)",
        "t4_bar = np.broadcast_to(loss_bar / 45, (15, 3))  # mean",
        "hidden_bar = t4_bar * (2 * hidden)                # power",
        "t2_bar = hidden_bar * (1 - hidden * hidden)       # tanh",
        "t1_bar = t2_bar                                   # add",
        "b_bar = np.sum(t2_bar, axis=0)                    # add: summed to the shape of b",
        "W_bar = data.T @ t1_bar                           # matmul",
        "gradient = [W_bar, b_bar]",
    ]


def test_what_comes_from_two_sides_is_added_up():
    a = ad.Variable(2.0, name="a")
    with ad.GradientTape(persistent=True) as tape:
        b = a + a
        c = b * ad.stop_gradient(b) + np.floor(a)
    program, _ = check(tape, c, [a])
    assert without_places(program)[3:] == [
        "a = np.float64(2.0)",
        "b = a + a",
        "t2 = b: stop_gradient has no derivative",
        "t3 = b * t2",
        "t4 = np.floor(a): floor has no derivative",
        "c = t3 + t4",
        "",
        "# backward: a_bar is the derivative of c with respect to a, and so on",
        "c_bar = np.float64(1.0)",
        "t3_bar = c_bar         # add",
        "b_bar = t3_bar * t2    # multiply",
        "a_bar = b_bar          # add",
        "a_bar = a_bar + b_bar  # add",
        "gradient = [a_bar]",
    ]


def test_only_what_lies_between_sources_and_target_is_pulled_back_and_only_what_leads_there_computed():
    x, w = ad.Variable(2.0, name="x"), ad.Variable(3.0, name="w")
    with ad.GradientTape(persistent=True) as tape:
        np.exp(x)
        y = x * np.sin(w)
    program, _ = check(tape, y, [x])
    assert "exp" not in str(program)
    assert "w_bar" not in str(program)


HOSTILE = ["np", "lambda", "sum", "gradient", "values", "x_bar", "1 2", "y.2", "y₂", "", "αβ", "²", '"""', "#", "x\ny"]
HOSTILE += ["__builtins__", "print", "a" * 300, "ﬁ", "`", "'); import os; ('", "x\rexit()", "\0", "\ud800", "x\u2028y"]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_becomes_a_good_one_of_its_own(name):
    x, other, alone = ad.Variable([2.0, 3.0], name="x"), ad.Variable(3.0, name=name), ad.Variable(1.0, name=name)
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(x * other + np.exp(other))
        other.assign(4.0)
        y = y * other
    program, names = check(tape, y, [x, other, alone])
    lines = [line for line in ast.parse(str(program)).body if isinstance(line, ast.Assign)]
    assigned = [line.targets[0].id for line in lines]
    assert all(each.isidentifier() and not hasattr(builtins, each) for each in assigned)
    assert len(set(assigned)) == len(assigned) - 2  # what comes from several sides is added up
    assert names["np"] is np


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, -0.0, np.nan, -np.inf, 1e-320, np.float32(0.1), np.float16(0.1), np.complex64(0.1 - 3j)),
        *(np.array([0.1, np.nan, -np.inf, -0.0]), np.zeros((2, 0)), np.zeros((3, 30)), np.ones(50, "float32")),
        *(np.eye(9), np.full((2, 3), 7.0), np.arange(40.0), np.ones((1, 1, 1, 2)), np.array([-0.0, 0.0])),
        *(np.array([1 + 2j, -0.0 - 0j]), np.array([complex(np.nan, np.inf)]), complex(-0.0, -0.0)),
    ],
    ids=repr,
)
def test_every_value_comes_back_bit_for_bit(value):
    x = ad.Variable(value, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = -x
    names = run(code(tape, y, x))
    assert (names["x"].dtype, names["x"].shape) == (x.dtype, x.shape)
    assert names["x"].tobytes() == x.numpy().tobytes()


def test_an_array_is_written_out_up_to_20_elements_and_taken_from_values_beyond():
    for size, taken in ((20, set()), (21, {"x"})):
        x = ad.Variable(np.linspace(0, 1, size), name="x")
        with ad.GradientTape(persistent=True) as tape:
            y = np.sum(x * x)
        program, _ = check(tape, y, [x])
        assert program.namespace["values"].keys() == taken


def test_output_gradients_several_targets_and_structures():
    x, w = ad.Variable([1.0, 2.0], name="x"), ad.Variable(3.0, name="w")
    with ad.GradientTape(persistent=True) as tape:
        y, z = np.sin(x) * w, np.sum(x) * w
    check(tape, [y, z], [x, w])
    check(tape, [y, z, y], [x, w], output_gradients=[np.array([0.5, -1.0]), None, [2.0, 3.0]])
    names = run(tape.code({"y": y}, {"first": (x,), 2: [w]}))
    assert names["gradient"].keys() == {"first", 2}
    np.testing.assert_allclose(names["gradient"]["first"][0], 3 * np.cos([1.0, 2.0]))
    assert len(names["gradient"][2]) == 1


def test_a_source_that_the_target_does_not_depend_on_gets_none_and_a_remark():
    x, alone = ad.Variable(1.0, name="x"), ad.Variable(2.0, name="alone")
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
    program, names = check(tape, y, [x, alone])
    assert names["gradient"][1] is None
    assert "alone_bar = None" in str(program)
    assert "tape.explain(target, alone)" in str(program)
    program, _ = check(tape, y, [alone])
    assert str(program).endswith("gradient = [alone_bar]")


def test_a_target_that_is_a_source_has_the_derivative_one():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = x * 2.0
    check(tape, x, [x])
    check(tape, [x, y], [x, y])


def test_a_variable_that_was_assigned_to_has_a_name_for_each_value_and_one_cotangent():
    v = ad.Variable(2.0, name="v")
    with ad.GradientTape(persistent=True) as tape:
        y = v * v
        v.assign(5.0)
        y = y * v
    program, names = check(tape, y, [v])
    assert (names["v"], names["v_2"], names["v_bar"]) == (2.0, 5.0, 24.0)
    assert "v later on" in str(program)


def test_a_loop_is_written_out():
    x = ad.Variable(0.5, name="x")
    with ad.GradientTape(persistent=True) as tape:
        total = x
        for _ in range(5):
            total = total * x + 1.0
    check(tape, total, [x])


def test_the_backward_pass_of_an_inner_tape_is_forward_to_the_outer():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape(persistent=True) as outer:
        with ad.GradientTape(persistent=True) as inner:
            y = np.sum(x**3 * np.sin(x))
        slope = inner.gradient(y, x)
        target = np.sum(slope * slope)
    check(outer, target, [x])
    check(inner, y, [x])


def test_a_custom_gradient_is_called_from_values():
    called = []

    @ad.custom_gradient
    def halved(a, b):
        def backward(dy):
            called.append(dy)
            return dy * 0.5, None

        return a * b, backward

    x, w = ad.Variable([1.0, 2.0], name="x"), ad.Variable(3.0, name="w")
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(halved(x, w) * w)
    program, names = check(tape, y, [x, w])
    assert "by its own backward function" in str(program)
    np.testing.assert_array_equal(names["gradient"][0], [1.5, 1.5])
    assert len(called) == 3  # when it was written, when it was run, and for the tape's gradient


def test_a_program_uses_nothing_up_and_is_recorded_by_nobody():
    x = ad.Variable(3.0, name="x")
    seen = []
    with ad.GradientTape(persistent=True) as outer:
        with ad.GradientTape() as tape:
            y = x * x
        before = len(outer.entries)
        with ad.hook(seen.append):
            first = str(tape.code(y, x))
        assert len(outer.entries) == before
        assert seen == []
    assert str(tape.code(y, x)) == first
    assert float(tape.gradient(y, x)) == 6.0


def test_a_tape_without_arrays_is_refused_as_by_gradient():
    x = ad.Variable(3.0)
    with pytest.raises(RuntimeError, match="recorded nothing"):
        ad.GradientTape().code(x, x)
    with ad.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="has already been used"):
        tape.code(y, x)
    with ad.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match="target is 9"):
        tape.code(9.0, x)
    with pytest.raises(ValueError, match="shape"):
        tape.code(y, x, output_gradients=[1.0, 2.0])


def test_a_notebook_shows_it_as_a_block_of_python():
    x = ad.Variable(3.0, name="``` <b>")
    with ad.GradientTape() as tape:
        y = x * x
    program = tape.code(y, x)
    shown = program._repr_markdown_()
    assert shown.startswith("```python\n")
    assert shown.endswith("\n```")
    assert shown.count("```") == 2
    assert repr(program) == f"<Code: {len(str(program).splitlines())} lines of NumPy; print it to read it>"


def test_a_program_can_be_run_for_other_numbers():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = np.sin(x) * x
    program = str(tape.code(y, x)).replace("np.float64(3.0)", "np.float64(4.0)")
    names = {}
    exec(program, names)
    assert names["gradient"] == pytest.approx(np.cos(4.0) * 4.0 + np.sin(4.0))


def traced():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            y = np.sum(x * x)
        tape.gradient(y, x)
    return steps


def test_the_players_program_has_a_line_for_every_step_that_computes():
    document = traced().document()
    program = document["program"]
    lit = [None if at is None else program["lines"][at] for at in program["steps"]]
    assert list(zip([step["kind"] for step in document["steps"]], lit, strict=True)) == [
        ("watch", "x = np.array([1.0, 2.0])"),
        ("record", "t1 = x * x"),
        ("record", "y = np.sum(t1)"),
        ("seed", "y_bar = np.float64(1.0)"),
        ("pull back", "t1_bar = np.broadcast_to(y_bar, (2,))"),
        ("accumulate", "t1_bar = np.broadcast_to(y_bar, (2,))"),
        ("pull back", "x_bar = t1_bar * x"),
        ("accumulate", "x_bar = t1_bar * x"),
        ("accumulate", "x_bar = x_bar + t1_bar * x"),
        ("release", None),
        ("outcome", None),
    ]


def after(line, names):
    """What the line computes, given its names so far."""
    exec(line, names)
    return None if line.startswith("from ") else names[re.match(r"(?:np\.add\.at\()?(\w+)", line)[1]]


@each(TABLE[::7], spare=True)
def test_each_line_of_the_players_program_gives_what_its_step_shows(case):
    with ad.trace() as steps:
        tape, tensors, target = summed(case, "float64")
        tape.gradient(target, tensors)
    document = steps.document()
    program, names = document["program"], {"np": np} | code(tape, target, tensors).namespace
    mine = {f"tensors_{k}": tensor.numpy() for k, tensor in enumerate(tensors)}  # tensors[0] has a name in traces only
    names["values"] = names.get("values", {}) | mine
    found = {}
    for k, line in enumerate(program["lines"]):
        if not line.startswith("#"):
            found[k] = after(line, names)
    for step, at in zip(document["steps"], program["steps"], strict=True):
        wanted = {"seed": step.get("cotangent"), "accumulate": step.get("after")}.get(step["kind"])
        if step["kind"] in ("record", "cut"):
            wanted = document["tensors"][document["entries"][step["entry"]]["output"]]["value"]
        if wanted is not None:
            assert (list(np.shape(found[at])), short_value(found[at])) == (wanted["shape"], wanted["text"])


def test_a_rule_that_opens_a_tape_of_its_own_can_be_written_and_played():
    def rule(g, y, x):
        x = ad.constant(x) if not isinstance(x, ad.Tensor) else x
        with ad.GradientTape() as inner:
            inner.watch(x)
            z = np.sin(x) * x
        return g * inner.gradient(z, x)

    with ad.register_gradient(np.tanh, rule, replace=True):
        x = ad.Variable(0.3, name="x")
        with ad.GradientTape(persistent=True) as tape:
            y = np.tanh(x) * 2.0
        program = tape.code(y, x)
        exec(program.text, names := program.namespace)
        assert names["gradient"] == pytest.approx(float(tape.gradient(y, x)))
        assert "the sine of x" in str(content_of(ad.play(lambda x: np.tanh(x) * 2.0, 0.3).html()))


def test_an_einsum_is_pulled_back_by_the_contraction_that_one_writes_by_hand():
    a, b = (ad.Variable(np.arange(6.0).reshape(shape), name=name) for shape, name in (((2, 3), "a"), ((3, 2), "b")))
    with ad.GradientTape(persistent=True) as tape:
        y = np.einsum("ij,jk->ik", a, b)
        d = np.einsum("ii->", y)
    program, _ = check(tape, y, [a, b])
    assert "a_bar = np.einsum('ik,jk->ij', y_bar, b)" in str(program)
    assert "b_bar = np.einsum('ik,ij->jk', y_bar, a)" in str(program)
    program, _ = check(tape, d, [a])
    assert "..." not in str(program)
    assert "'->'" not in str(program), "nothing is summed over nothing"


ROWS, MASK = np.array([0, 2, 0]), np.array([True, False, True])


@pytest.mark.parametrize(
    ("f", "lines"),
    [
        (lambda x: x[0, 1:], ["x_bar = np.zeros((3, 2))", "x_bar[0, 1:] = t1_bar"]),
        (lambda x: x[ROWS], ["x_bar = np.zeros((3, 2))", "np.add.at(x_bar, np.array([0, 2, 0]), t1_bar)"]),
        (lambda x: x[MASK], ["x_bar = np.zeros((3, 2))", "x_bar[np.array([True, False, True])] = t1_bar"]),
        (
            lambda x: x[ROWS, [0, 1, 1]],
            [
                "x_bar = np.zeros((3, 2))",
                "np.add.at(x_bar, np.s_[np.array([0, 2, 0]), np.array([0, 1, 1])], t1_bar)",
            ],
        ),
        (lambda x: np.diag(x[:, 0]), ["t1_bar = t2_bar[np.array([0, 1, 2]), np.array([0, 1, 2])]"]),
    ],
    ids=["basic", "rows", "mask", "pairs", "diagonal"],
)
def test_what_indexing_sends_back_is_put_in_its_place_by_numpy_alone(f, lines):
    x = ad.constant(np.arange(6.0).reshape(3, 2))
    with ad.trace() as steps:
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = np.sum(f(x) * f(x))
        tape.gradient(y, x)
    program, _ = check(tape, y, [x])
    for text in (str(program), "\n".join(steps.document()["program"]["lines"])):
        assert "autodiff_edu" not in text
    written = without_places(program)
    at = next(k for k, line in enumerate(written) if line.partition(" = ")[0] == lines[0].partition(" = ")[0] if k > 5)
    found = [line.partition("  #")[0].rstrip().replace("t2_bar", "t1_bar") for line in written[at : at + len(lines)]]
    assert found == [line.replace("t2_bar", "t1_bar") for line in lines]


def test_a_stack_of_what_indexing_sends_back_is_put_in_its_place_by_numpy_alone():
    v = ad.Variable([1.0, 2.0, 3.0], name="v")
    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            y = v[ROWS] * v[1]
        jacobian = tape.jacobian(y, v)
    lines = steps.document()["program"]["lines"]
    assert "np.add.at(part, np.s_[:, np.array([0, 2, 0])], t1_bar)" in lines
    exec("\n".join(lines), names := {"np": np})
    np.testing.assert_array_equal(names["v_bar"], jacobian.numpy())
