"""The numbers and the failures of chapter 5: a network on the reader's own tape."""

import ast
import csv
import inspect
import re

import numpy as np
import pytest
from answers import your_own_tape

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.core.walk import walk as real_walk
from autodiff_edu.course.chapters.a_network import check_gap
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.minutes import LINKS

CHAPTER = OURS.find("a-network")
SOURCES = {cell["id"]: "".join(cell["source"]) for cell in CHAPTER.read()["cells"]}
GAPS = {1: ("matmul_rule", "    return ..., ...\n"), 2: ("tanh_rule", "    return (...,)\n")}


def functions(source):
    """Return the code of each function and method, without where it stands and what it is called in a class."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {ast.dump(ast.Module([node.args, *node.body], [])) for node in found}


def define(*, seed=0):
    """Run the cells that define something, without their pictures and trainings."""
    names = {"__name__": "answers.a_network"}
    for id in (
        "imports",
        "data",
        "split",
        "gap-1",
        "piece-1",
        "tape",
        "train-1",
        "start",
        "twice-1",
        "gap-2",
        "piece-2",
    ):
        source = SOURCES[id].partition("\n\n\nfigure")[0].partition("\n\n\nsingle =")[0]
        exec(source.partition("\n\n\ntwice =")[0], names)
    exec(SOURCES["bend-1"].partition("\n\n\nparameters =")[0], names)
    exec(SOURCES["player"].partition("\n\n\none_x")[0], names)
    names |= dict(zip(("learn", "new", "everyone", "x", "wanted"), names["put_aside"](seed), strict=True))
    return names


@pytest.fixture(autouse=True)
def in_the_folder_of_the_chapters(monkeypatch):
    monkeypatch.chdir(OURS.notebooks)


@pytest.fixture
def chapter():
    return define()


def train(names, network, parameters, **options):
    """Train, and return the last loss, how many are right of those to learn from and of the new, and the parameters."""
    found = names["train"](names[network], parameters, **{"show": False, **options})
    error = names[network](names["x"], *found) - names["wanted"]
    counts = [int(names["right"](names[network], found, names[which])) for which in ("learn", "new")]
    return np.mean(error * error), *counts, found


# The tape ------------------------------------------------------------------------------------------------------------


def test_the_folded_tape_is_that_of_chapter_4():
    before = your_own_tape.sources()
    shown = [before[id] for id in your_own_tape.FOLDED + your_own_tape.SHOWN if id != "imports"]
    there = set().union(*map(functions, shown))
    mine = functions(SOURCES["tape"])
    new = mine - there
    assert len(mine) > 12
    assert len(new) <= 8
    for code in new:  # the operators, which stand as lambdas in chapter 4
        assert "id='apply'" in code
    assert functions(SOURCES["player"]) <= functions(before["beside-player"])


def test_every_operator_of_the_tape_records_what_it_computes(chapter):
    x, a = chapter["Value"]([[2.0, 3.0]]), np.array([[5.0], [7.0]])
    with chapter["Tape"]() as tape:
        results = [x + a, a + x, 1.0 + x, x - a, 1.0 - x, x * a, 2.0 * x, x @ a, a @ x]
    wanted = [v(x.number) for v in (lambda x: x + a, lambda x: a + x, lambda x: 1.0 + x, lambda x: x - a)]
    wanted += [1.0 - x.number, x.number * a, 2.0 * x.number, x.number @ a, a @ x.number]
    assert len(tape.entries) == len(results)
    assert all(np.array_equal(one.number, other) for one, other in zip(results, wanted, strict=True))


def test_the_tape_s_gradients_of_the_network_are_those_of_the_package(chapter):
    parameters = chapter["start"](hidden=8)
    boxes = [chapter["Value"](each) for each in parameters]
    with chapter["Tape"]() as tape:
        error = chapter["network"](chapter["x"], *boxes) - chapter["wanted"]
        loss = np.mean(error * error)
    ours = [ad.constant(each) for each in parameters]
    with ad.GradientTape() as real:
        real.watch(ours)
        error = chapter["network"](chapter["x"], *ours) - chapter["wanted"]
        target = np.mean(error * error)
    for mine, theirs in zip(tape.gradient(loss, boxes), real.gradient(target, ours), strict=True):
        assert np.allclose(mine, theirs.numpy(), atol=1e-12)


def test_the_lines_beside_are_ten_and_each_begins_one_line_of_the_real_walk():
    names = {}
    exec(SOURCES["real-1"].partition("\nlines =")[0], names)
    beginnings = [each for found in names["beside"].values() for each in found]
    lines = [line.strip() for line in inspect.getsource(real_walk).splitlines()]
    assert len(beginnings) == 10
    assert "del cotangents[" not in beginnings
    assert any(line.startswith("del cotangents[") for line in lines)
    places = [next(k for k, line in enumerate(lines) if line.startswith(each)) for each in beginnings]
    assert places == sorted(places)


# The gaps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gap", "text", "hint"),
    [
        (1, GAPS[1][1], "three dots"),
        (1, "    return g @ y.T, x.T @ g\n", ""),
        (1, "    return np.einsum('ik,jk->ij', g, y), np.einsum('ki,kj->ij', x, g)\n", ""),
        (1, "    return np.dot(g, y.T), (g.T @ x).T\n", ""),
        (1, "    return g * y, g * x\n", "the rule of `x \\* y`"),
        (1, "    return g @ y, x @ g\n", "Which factor has to be transposed"),
        (1, "    return y.T @ g, g @ x.T\n", "which one stands on the left"),
        (1, "    return x.T @ g, g @ y.T\n", "changed places"),
        (1, "    return y.T, x.T\n", "g is left out"),
        (1, "    return g @ y.T, g.T @ x\n", "The shape of y is needed"),
        (1, "    return g @ y.T\n", "Return what goes to x and what goes to y"),
        (2, GAPS[2][1], "three dots"),
        (2, "    return (g * (1.0 - z**2),)\n", ""),
        (2, "    return (g * (1.0 - np.tanh(x) ** 2),)\n", ""),
        (2, "    return [g / np.cosh(x) ** 2]\n", ""),
        (2, "    return np.array([g * (1.0 - z**2)])\n", ""),
        (2, "    return (g * (1.0 - z**2))\n", "Mind the comma"),
        (2, "    return 1.0 - z**2\n", "g is left out"),
        (2, "    return (1.0 - g * z**2,)\n", "brackets"),
        (2, "    return (g * (z**2 - 1.0),)\n", "The sign has changed"),
        (2, "    return (g * (1.0 - z^2),)\n", "Python's power"),
        (2, "    return (g * (1.0 - x**2),)\n", "x isn't tanh"),
        (2, "    return (1.0 - z**2,)\n", "g is left out"),
        (2, "    return (g - z**2,)\n", "brackets"),
        (2, "    return (g * np.cosh(x) ** 2,)\n", "1 - tanh"),
    ],
)
def test_a_gap_knows_what_is_right_and_each_slip(gap, text, hint):
    name, dots = GAPS[gap]
    names = {"np": np}
    code = SOURCES[f"gap-{gap}"].partition("\n\n\ncheck_gap")[0] + "\n"
    assert code.count(dots) == 1
    exec(code.replace(dots, text), names)
    said = check_gap(gap, names[name])
    assert said.right == (not hint), said
    assert re.search(hint, said.message)


# The data and the trainings ------------------------------------------------------------------------------------------


def test_the_penguins_have_five_columns_and_three_species():
    with (OURS.notebooks / "data" / "penguins.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    columns = ["species", "flipper_length_mm", "body_mass_g", "bill_length_mm", "bill_depth_mm"]
    assert list(rows[0]) == columns
    names = [row["species"] for row in rows]
    assert [names.count(each) for each in ("Adelie", "Chinstrap", "Gentoo")] == [151, 68, 123]
    bills = np.array([[float(row[name]) for name in columns[3:]] for row in rows])
    assert (bills.min(axis=0).tolist(), bills.max(axis=0).tolist()) == ([32.1, 13.1], [59.6, 21.5])
    assert np.round(bills.mean(axis=0), 2).tolist() == [43.92, 17.15]  # as the source says


def test_one_layer_is_right_for_89_of_100_and_time_does_not_help(chapter):
    loss, _, count, (w, b) = train(chapter, "one_layer", [np.zeros((2, 3)), np.zeros(3)])
    x = np.c_[chapter["x"], np.ones(242)]
    best = np.linalg.lstsq(x, chapter["wanted"], rcond=None)[0]
    assert np.allclose(np.vstack([w, b]), best, atol=1e-6)
    assert (round(loss, 3), count) == (0.062, 89)
    assert train(chapter, "one_layer", [w, b], turns=4000)[2] == 89


@pytest.mark.parametrize("hidden", [3, 5, 8])
def test_linear_twice_is_one_layer(chapter, hidden):
    loss, _, count, (w1, b1, w2, b2) = train(chapter, "linear_twice", chapter["start"](hidden=hidden))
    assert (round(loss, 3), count) == (0.062, 89)
    _, _, _, (w, b) = train(chapter, "one_layer", [np.zeros((2, 3)), np.zeros(3)])
    assert np.allclose(w1 @ w2, w, atol=1e-4)
    assert np.allclose(b1 @ w2 + b2, b, atol=1e-4)


@pytest.mark.parametrize(
    ("seed", "counts"), [(0, (89, 98)), (1, (95, 98)), (2, (93, 95)), (3, (90, 97)), (4, (93, 96))]
)
def test_with_tanh_more_are_right_whichever_are_put_aside(seed, counts):
    names = define(seed=seed)
    found = [train(names, network, names["start"](hidden=8))[2] for network in ("linear_twice", "network")]
    assert tuple(found) == counts


def test_in_forty_splits_tanh_is_ahead_in_37_and_five_more_go_down_to_93(chapter):
    """With the gradients of the network written out by hand."""
    pairs = []
    for seed in range(40):
        _, new, everyone, x, wanted = chapter["put_aside"](seed)
        pair = []
        for bend, slope in ((lambda a: a, lambda h: 1.0), (np.tanh, lambda h: 1.0 - h * h)):
            w1, b1, w2, b2 = chapter["start"](hidden=8)
            for _ in range(1001):
                hidden = bend(x @ w1 + b1)
                g = 2.0 * (hidden @ w2 + b2 - wanted) / wanted.size
                below = g @ w2.T * slope(hidden)
                w1, b1 = w1 - 0.3 * x.T @ below, b1 - 0.3 * below.sum(axis=0)
                w2, b2 = w2 - 0.3 * hidden.T @ g, b2 - 0.3 * g.sum(axis=0)
            answers = np.argmax(bend(everyone[new] @ w1 + b1) @ w2 + b2, axis=1)
            pair.append(int(np.sum(answers == chapter["species"][new])))
        pairs.append(pair)
    assert [bent for _, bent in pairs[:10]] == [98, 98, 95, 97, 96, 94, 95, 94, 93, 97]
    leads = [bent - straight for straight, bent in pairs]
    assert leads[:5] == [9, 3, 2, 7, 3]
    assert (sum(each > 0 for each in leads), leads.count(0), sum(each < 0 for each in leads)) == (37, 2, 1)


def test_one_hidden_unit_is_right_for_about_75(chapter):
    _, _, count, found = train(chapter, "network", chapter["start"](hidden=1))
    assert 73 <= count <= 77
    answers = np.argmax(chapter["network"](chapter["everyone"][chapter["new"]], *found), axis=1)
    assert chapter["SPECIES"][1] == "Chinstrap"
    assert 1 not in answers


def test_the_chinstraps_score_is_a_plane_or_a_ridge(chapter):
    """Along a line from an Adelie through the Chinstraps to a Gentoo."""
    learnt = chapter["bills"][chapter["learn"]]
    bills = np.linspace([40.0, 19.0], [50.0, 15.0], 21)
    at = (bills - learnt.mean(axis=0)) / learnt.std(axis=0)
    plane = chapter["linear_twice"](at, *train(chapter, "linear_twice", chapter["start"](hidden=8))[3])[:, 1]
    ridge = chapter["network"](at, *train(chapter, "network", chapter["start"](hidden=8))[3])[:, 1]
    assert np.allclose(np.diff(plane, 2), 0.0)
    assert ridge[0] < 0.2
    assert ridge[-1] < 0.2
    assert ridge.max() > 0.7


def test_with_a_loss_made_for_classes_one_layer_is_right_for_98_too(chapter):
    x, names = chapter["everyone"], chapter["species"]
    w, b = ad.Variable(np.zeros((2, 3))), ad.Variable(np.zeros(3))
    for _ in range(1000):
        with ad.GradientTape() as tape:
            loss = nn.softmax_cross_entropy(x[chapter["learn"]] @ w + b, names[chapter["learn"]])
        by_w, by_b = tape.gradient(loss, [w, b])
        w.assign_sub(2.0 * by_w)
        b.assign_sub(2.0 * by_b)
    answers = np.argmax(x[chapter["new"]] @ w.numpy() + b.numpy(), axis=1)
    assert np.sum(answers == names[chapter["new"]]) == 98


def test_a_start_at_zero_moves_b2_alone_and_always_answers_adelie(chapter):
    zeros = [np.zeros((2, 8)), np.zeros(8), np.zeros((8, 3)), np.zeros(3)]
    assert round(np.mean(chapter["wanted"] ** 2), 3) == 0.333
    loss, _, _, found = train(chapter, "network", zeros)
    assert round(loss, 2) == 0.21
    assert [bool(np.any(each)) for each in found] == [False, False, False, True]
    assert np.allclose(found[3], np.bincount(chapter["species"][chapter["learn"]]) / 242, atol=1e-6)
    assert set(np.argmax(chapter["network"](chapter["x"], *found), axis=1)) == {0}


def test_always_adelie_is_right_for_44_of_100():
    assert round(100 * 151 / 342) == 44


def test_the_rule_of_the_maximum_trains_the_network_too(chapter):
    chapter["RULES"][np.maximum] = lambda g, z, x, y: (g * (x > y), g * (x < y))
    chapter["relu"] = lambda x, w1, b1, w2, b2: np.maximum(x @ w1 + b1, 0.0) @ w2 + b2
    assert train(chapter, "relu", chapter["start"](hidden=8))[2] >= 95


def test_what_is_shown_before_the_exercises_is_one_sitting():
    lines, words = 0, 0
    for cell in CHAPTER.read()["cells"]:
        if cell["id"] == "ex":
            break
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", ())
        if cell["cell_type"] == "markdown":
            words += len(LINKS.sub("", source).split())
        elif "hide-input" not in tags:
            lines += sum(map(bool, map(str.strip, source.split("\n"))))
    assert lines <= 60
    assert words <= 1500
