"""The Jacobian on the slides of a sweep: what is filled at each step, what is being filled, and numbers or colours."""

import numpy as np

import autodiff_edu as ad
from autodiff_edu.player.print.canvas import Path, TextLine
from autodiff_edu.player.print.jacobian import draw_jacobian, draw_patches, measure_jacobian, measure_patches
from autodiff_edu.text.shared import colour

ACCENT, TINT = "#123456", "#abcdef"
SUNK = colour("sunk")


def draw(player, step):
    """The texts by their baselines, from left to right, and the fills of the cells, line by line."""
    document, place = player._content["trace"], (0.0, 0.0, 580.0)
    if "sweep" in document:
        shapes = draw_jacobian(document["sweep"], step, place, ACCENT, TINT)
        tall = measure_jacobian(document["sweep"])
    else:
        shapes = [*draw_patches(document["patches"], step, place, ACCENT)]
        tall = measure_patches(document["patches"])
    lines = {}
    for shape in shapes:
        if isinstance(shape, TextLine):
            assert 0 <= shape.x <= 580
            assert shape.y <= tall
            assert shape.size >= 16
            if shape.words:
                lines.setdefault(shape.y, []).append((shape.x, shape.words))
    rows = [[words for _, words in sorted(row)] for _, row in sorted(lines.items())]
    areas = [shape for shape in shapes if isinstance(shape, Path) and shape.stroke != "none"]
    return rows, [area.fill for area in areas for _ in range(area.commands.count("M"))]


def products(x):
    return x[1:] * x[:-1]


def test_rows_fill_one_after_the_other_and_then_at_once():
    player = ad.sweep(products, [1.0, 2.0, 3.0])
    first, second, stack = player._content["trace"]["sweep"]["passes"]
    rows, fills = draw(player, first["first"] - 1)
    target = player._content["trace"]["sweep"]["target"]
    assert rows[0][0] == f"Jacobian of {target} with respect to x"
    assert rows[1] == ["x[0]", "x[1]", "x[2]"]
    assert rows[2:] == [[f"{target}[{k}]", "—", "—", "—"] for k in range(2)]
    assert fills == [SUNK] * 6, "nothing has begun"
    rows, fills = draw(player, first["last"] - 1)
    assert [row[1:] for row in rows[2:]] == [["—"] * 3] * 2
    assert fills == [TINT] * 3 + [SUNK] * 3, "the first row is being filled"
    rows, fills = draw(player, second["first"])
    assert [row[1:] for row in rows[2:]] == [["2", "1", "0"], ["—"] * 3]
    assert fills[3:] == [TINT] * 3
    rows, fills = draw(player, stack["first"])
    assert [row[1:] for row in rows[2:]] == [["—"] * 3] * 2, "all is computed again"
    rows, fills = draw(player, stack["last"])
    assert [row[1:] for row in rows[2:]] == [["2", "1", "0"], ["0", "3", "2"]]
    assert TINT not in fills


def test_both_ways_stand_side_by_side_and_count_their_passes():
    player = ad.sweep(products, [1.0, 2.0, 3.0], mode="both")
    sweep = player._content["trace"]["sweep"]
    column = next(each for each in sweep["passes"] if "columns" in each)
    rows, _ = draw(player, column["last"])
    assert rows[1] == ["reverse: 1 of 2 passes", "forward: 1 of 3 passes"]
    assert [word for word in rows[3] if "[" not in word] == ["2", "1", "0", "2", "—", "—"]
    rows, _ = draw(player, len(player) - 1)
    assert rows[1] == ["reverse: all in one pass", "forward: all in one pass"]


def test_lines_of_one_seed_have_its_number_when_they_are_filled():
    pattern = np.eye(8)[:7] + np.eye(8, k=1)[:7]
    player = ad.sweep(products, np.arange(1.0, 9.0), sparsity=pattern)
    first, second, _ = player._content["trace"]["sweep"]["passes"]
    rows, fills = draw(player, second["first"])
    assert [row[0] for row in rows[2:]] == [
        "1" if line in first["rows"] else row[0] for line, row in enumerate(rows[2:])
    ]
    assert sum(row[0] == "1" for row in rows[2:]) == len(first["rows"]) < 7
    assert TINT in fills
    assert rows[0][1] == "±8", "56 elements are colours, and the end of their scale is printed"
    rows, _ = draw(player, second["last"])
    assert {row[0] for row in rows[2:]} == {"1", "2"}


def test_numbers_that_are_too_long_are_shortened_and_nan_is_written():
    player = ad.sweep(lambda x: x * [1.0 / 3e7, np.nan, -123456.789, 1.0], np.arange(4.0))
    rows, _ = draw(player, len(player) - 1)
    diagonal = [row[1:][k] for k, row in enumerate(rows[2:])]
    assert diagonal == ["3.33e−08", "nan", "−123457", "1"]


def test_the_patches_of_a_batch_move_down_column_by_column():
    player = ad.sweep(lambda x: x * x[:, :1], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], batch=True)
    patches = player._content["trace"]["patches"]
    numbers = lambda rows: [[word for word in row if "[" not in word and word != "folded"] for row in rows[2:]]  # noqa: E731
    rows, _ = draw(player, patches["made"] - 1)
    assert {word for row in numbers(rows) for word in row} == {"—"}
    rows, _ = draw(player, patches["made"])
    assert [row for row in numbers(rows) if row][:2] == [["2", "0", "0", "0", "0", "0"], ["2", "1", "0", "0", "0", "0"]]
    rows, fills = draw(player, patches["folds"][1])
    found = [row for row in numbers(rows) if row]
    assert found[:2] == [["0", "0", "0", "0"]] * 2, "the first patch has moved down"
    assert found[4] == ["0", "0", "0", "0", "10", "0"], "the third has not"
    assert found[-2:] == [["2", "0", "6", "0", "—", "—"], ["2", "1", "4", "3", "—", "—"]]
    assert fills.count("none") == 1, "a frame around the one that moves"
    rows, fills = draw(player, patches["done"])
    assert [row for row in numbers(rows) if row][-2:] == [
        ["2", "0", "6", "0", "10", "0"],
        ["2", "1", "4", "3", "6", "5"],
    ]
    assert fills.count("none") == 3
    assert "folded" in player.frames(patches["done"] + 1, size="16:9").svg()


def test_a_large_batch_is_in_colours():
    player = ad.sweep(lambda x: np.tanh(x) * x[:, ::-1], np.linspace(-1, 1, 12).reshape(6, 2), batch=True)
    rows, fills = draw(player, len(player) - 1)
    assert rows[0][1].startswith("±")
    assert all("[" in word or word == "folded" for row in rows[1:] for word in row), "names alone"
    assert len({*fills}) > 6


def test_a_slide_of_a_sweep_has_the_matrix_below_the_graph():
    player = ad.sweep(products, [1.0, 2.0, 3.0])
    svg = player.frames(len(player), size="16:9").svg()
    assert "with respect to x</text>" in svg
    assert svg.count(">x[1]</text>") == 1
    assert ">x[1]</text>" in player.film(len(player)).svg()
    assert ">x[1]</text>" not in ad.play(products, np.array([1.0, 2.0, 3.0])).frames(1, size="16:9").svg()
