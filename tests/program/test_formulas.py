"""Formulas are the expressions of the program as trees, and read like mathematics."""

import ast

import numpy as np
import pytest
from no_rule import UNRULED

import autodiff_edu as ad
from autodiff_edu.program.formulas import KINDS, SIGNS, tree


def traced(function, *arguments):
    """The document of a function and of its gradient with respect to all its arguments."""
    xs = [ad.Variable(argument) for argument in arguments]
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = function(*xs)
        tape.gradient(y, xs)
    return t.document()


def formulas_of(function, *arguments):
    """What entries compute, and what they send back, by operation."""
    d = traced(function, *arguments)
    trees = [*d["formulas"], None]
    found = {}
    for entry in d["entries"]:
        sent = [None if place is None else trees[place] for place in entry["contributions"]]
        found.setdefault(entry["operation"], (trees[entry["formula"]], *sent))
    return found


def test_what_is_shown_is_what_the_rules_did():
    assert formulas_of(lambda x: np.sin(x) * x**3.0 / np.tanh(x), 2.0) == {
        "sin": (["call", "sin", 0], ["*", "g", ["call", "cos", 0]]),
        "power": (
            ["**", 0, ["number", 3.0]],
            ["*", ["*", "g", ["number", 3.0]], ["**", 0, ["number", 2.0]]],
            None,
        ),
        "multiply": (["*", 0, 1], ["*", "g", 1], ["*", "g", 0]),
        "tanh": (["call", "tanh", 0], ["*", "g", ["-", ["number", 1], ["*", "y", "y"]]]),
        "divide": (["/", 0, 1], ["/", "g", 1], ["neg", ["/", ["*", "g", "y"], 1]]),
    }


def test_guards_that_guard_nothing_here_are_left_out_and_others_are_shown():
    power = formulas_of(lambda x, p: x**p, [1.0, 2.0], [3.0, 4.0])["power"]
    assert power[1] == ["*", ["*", "g", 1], ["**", 0, ["-", 1, ["number", 1]]]]
    assert power[2] == ["*", ["*", "g", "y"], ["call", "log", 0]]
    power = formulas_of(lambda x, p: x**p, [1.0, 2.0], [0.0, 4.0])["power"]
    exponent = ["where", ["==", 1, ["number", 0]], 1, ["-", 1, ["number", 1]]]
    assert power[1] == ["*", ["*", "g", 1], ["**", 0, exponent]]
    assert formulas_of(np.linalg.norm, [3.0, 4.0])["norm"] == (["call", "norm", 0], ["*", "g", ["/", 0, "y"]])
    assert formulas_of(np.var, [3.0, 4.0])["var"][1] == [
        "*",
        ["*", "g", ["number", 2]],
        ["/", ["-", 0, ["call", "mean", 0]], ["number", 2]],
    ]


def test_a_tie_is_counted_only_where_there_is_one():
    chosen = ["where", ["==", 0, "y"], "g", ["number", 0]]
    tie = ["+", ["number", 1], ["==", 0, ["number", 0]]]
    for x, wanted in (([3.0, -2.0], chosen), ([3.0, 0.0], ["/", chosen, tie])):
        assert formulas_of(lambda x: np.maximum(x, 0.0), x)["maximum"][1] == wanted


def test_where_the_cotangent_flows_is_shown_even_if_it_flows_everywhere_here():
    for x in ([1.0, 2.0], [-1.0, 2.0]):
        found = formulas_of(lambda x: np.where(x > 0, x, 0.0), x)["where"]
        assert found == (["where", 0, 1, ["number", 0.0]], None, ["where", 0, "g", ["number", 0]], None)


def test_products_of_matrices_and_vectors():
    matrix, vector = np.ones((2, 2)), np.ones(2)
    sent = (["@", "g", ["transpose", 1]], ["@", ["transpose", 0], "g"])
    for left, right in ((matrix, matrix), (matrix, vector), (vector, matrix)):
        assert formulas_of(np.matmul, left, right)["matmul"][1:] == sent
    assert formulas_of(np.matmul, vector, vector)["matmul"][1:] == (["*", "g", 1], ["*", "g", 0])
    solved = ["call", "solve", ["transpose", 0], "g"]
    for right in (matrix, vector):
        found = formulas_of(np.linalg.solve, matrix + np.eye(2), right)["solve"]
        assert found == (["call", "solve", 0, 1], ["neg", ["@", solved, ["transpose", "y"]]], solved)
    found = formulas_of(lambda a, b: np.einsum("ij,jk->ik", a, b), matrix, matrix)["einsum"]
    assert found[0] == ["call", "einsum", ["code", "ij,jk→ik"], 1, 2]
    assert found[2:] == (
        ["call", "einsum", ["code", "ik,jk→ij"], "g", 2],
        ["call", "einsum", ["code", "ik,ij→jk"], "g", 1],
    )


def test_broadcasting_and_complex_numbers_add_to_the_formula_what_is_done_to_them():
    found = formulas_of(lambda x, w: x * w, np.ones((2, 3)), np.ones(3))
    assert found["multiply"][1:] == (["*", "g", 1], ["sum", ["*", "g", 0], "axis 0"])
    found = formulas_of(lambda x, z: x * z, 2.0, 1 + 2j)
    arrived = ["call", "conjugate", "g"]
    assert found["multiply"][1:] == (
        ["call", "real", ["*", arrived, 1]],
        ["call", "conjugate", ["*", arrived, 0]],
    )
    assert formulas_of(lambda x, z: x + z, 2.0, 1 + 2j)["add"][1:] == (["call", "real", "g"], "g")


def test_a_rule_of_many_lines_stands_as_its_last_one_in_the_program():
    d = traced(lambda a: np.linalg.qr(a)[0], np.array([[2.0, 1.0], [0.5, 3.0]]))
    entry = next(entry for entry in d["entries"] if entry["operation"] == "qr")
    formula = d["formulas"][entry["contributions"][0]]
    assert formula[0] == "transpose"
    parts = {part for part in str(formula).replace("'", " ").split() if part.startswith("part_")}
    assert parts
    assert all(any(line.startswith(f"{part} = ") for line in d["program"]["lines"]) for part in parts)


def test_a_formula_is_there_only_where_something_flows():
    assert formulas_of(lambda x: np.floor(x) + x, [2.5])["floor"] == (["call", "floor", 0], None)
    with ad.trace() as t, ad.GradientTape():
        np.sin(ad.Variable(1.0)) * 2.0
    assert [entry["contributions"] for entry in t.document()["entries"]] == [[None], [None, None]]
    with ad.trace() as t, ad.GradientTape():
        UNRULED(ad.Variable([1.0, 2.0]))
        ad.stop_gradient(ad.Variable(1.0))
    assert t.document()["formulas"] == [["call", UNRULED.__name__, 0], ["call", "stop_gradient", 0]]


def test_a_custom_gradient_and_a_rule_of_the_user():
    @ad.custom_gradient
    def cubed(x):
        return x**3, lambda g: g * 3.0 * x**2

    assert formulas_of(cubed, 2.0)["cubed"] == (
        ["call", "cubed", 0],
        ["*", ["*", "g", ["number", 3.0]], ["**", 0, ["number", 2]]],
    )
    with ad.register_gradient(UNRULED, lambda g, y, x: g * np.exp(-x)):
        sent = formulas_of(UNRULED, [2.0, 3.0])[UNRULED.__name__][1]
    assert sent == ["*", "g", ["**", ["name", "e"], ["neg", 0]]]


def test_arguments_that_are_not_tensors():
    found = formulas_of(lambda x: np.stack([x[1:], np.array([1.0, 2.0])]) @ np.ones(2), [1.0, 2.0, 3.0])
    assert found["getitem"][0] == ["index", 0, "1:"]
    assert found["stack"][0] == ["call", "stack", 0, 1, ["code", "axis=0"]]
    assert found["stack"][1] == ["index", "g", "…, 0, :"]
    assert found["matmul"][:2] == (["@", 0, 1], ["@", "g", ["transpose", 1]])
    assert formulas_of(lambda x: np.clip(x, 0.0, None), 2.0)["clip"][1] == [
        "where", [">=", 0, ["number", 0.0]], "g", ["number", 0],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-__0 * __1", ["neg", ["*", 0, 1]]),
        ("__0 * -__1", ["neg", ["*", 0, 1]]),
        ("__0 * (__1 * __2)", ["*", ["*", 0, 1], 2]),
        ("__0 / (__1 * __2)", ["/", 0, ["*", 1, 2]]),
        ("__0 @ (__1 @ __2)", ["@", ["@", 0, 1], 2]),
        ("__0 - (__1 - __2)", ["-", 0, ["-", 1, 2]]),
        ("__0 ** 1", 0),
        ("np.exp(-__0)", ["**", ["name", "e"], ["neg", 0]]),
        ("np.power(__0, __1, dtype=np.float32)", ["**", 0, 1]),
        ("__0 * 0.6931471805599453", ["*", 0, ["call", "log", ["number", 2]]]),
        ("-3.0", ["number", -3.0]),
        ("np.float64(2.5)", ["number", 2.5]),
        ("~(__0 > 0) & (__1 != np.pi)", ["&", ["not", [">", 0, ["number", 0]]], ["!=", 1, ["name", "π"]]]),
        ("np.sum(__g, axis=(0, 2), keepdims=True)", ["sum", "g", "axes 0, 2"]),
        ("np.swapaxes(__0, -1, -2)", ["transpose", 0]),
        ("np.transpose(__0, (1, 0))", ["transpose", 0]),
        ("np.transpose(__0, (1, 0, 2))", ["call", "transpose", 0, ["code", "(1, 0, 2)"]]),
        ("__0.astype(np.float32)", ["call", "float32", 0]),
        ("__0[np.array([0, 2]), ...]", ["index", 0, "[0, 2], …"]),
        ("mine(lambda: 0)", ["call", "mine", ["code", "lambda: 0"]]),
    ],
)
def test_what_an_expression_becomes(text, wanted):
    assert tree(text) == wanted


def test_names_of_the_program_stand_for_what_they_are_said_to():
    assert tree("part @ y_bar", (("y_bar", "g"),)) == ["@", ["name", "part"], "g"]


def test_every_operator_has_a_sign_that_is_parsed():
    assert set(KINDS.values()) == set(SIGNS.values())


def value(node, leaves):
    """Compute a formula."""
    if not isinstance(node, list):
        return leaves[node]
    head, *parts = node
    if head in ("number", "name"):
        return parts[0] if head == "number" else {"e": np.e, "π": np.pi}[parts[0]]
    if head == "code":
        return ast.literal_eval(parts[0])
    if head == "sum":
        axes = tuple(map(int, parts[1].split(" ", 1)[1].split(", "))) if len(parts) == 2 else None
        return np.sum(value(parts[0], leaves), axis=axes)
    name = parts.pop(0) if head == "call" else {"neg": "negative"}.get(head, head)
    known = {sign: name for name, sign in reversed(SIGNS.items())}
    function = np.linalg.norm if name == "norm" else getattr(np, known.get(name, name))
    return function(*(value(part, leaves) for part in parts))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: np.sin(x) * w + np.cosh(x) / x - x**3.0,
        lambda x, w: np.where(x > w, np.tanh(x), np.sqrt(x)) @ (x / w),
        lambda x, w: np.maximum(x, w) + np.minimum(x, 1.0) - np.hypot(x, w),
        lambda x, w: np.clip(x, 0.6, w) * np.max(x) + np.log2(w) + np.exp2(x) + np.deg2rad(w),
        lambda x, w: np.mean(x) * x**w + np.linalg.norm(x) + np.arctan2(x, w) + np.logaddexp(x, w),
    ],
)
def test_a_formula_gives_the_value_and_the_contribution(function):
    """Formulas are computed with the arrays of the trace, and compared with what happened."""
    d = traced(function, [[0.5, 2.0], [1.0, 3.0]], [0.25, 1.5])
    arrays = [np.array(tensor["value"]["data"]) for tensor in d["tensors"]]
    for step in d["steps"]:
        if step["kind"] not in ("record", "pull back", "accumulate"):
            continue
        entry = d["entries"][step["entry"]]
        leaves = {k: arrays[i] for k, i in enumerate(entry["arguments"]) if isinstance(i, int)}
        leaves["y"] = arrays[entry["output"]]
        if step["kind"] == "pull back":
            arrived = np.array(step["cotangent"]["data"])
            continue
        is_value = step["kind"] == "record"
        formula = entry["formula"] if is_value else entry["contributions"][step["argument"]]
        found = value(d["formulas"][formula], leaves | ({} if is_value else {"g": arrived}))
        wanted = leaves["y"] if is_value else step["contribution"]["data"]
        assert np.allclose(found, wanted, rtol=1e-3), d["formulas"][formula]
