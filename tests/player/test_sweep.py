"""Jacobians that fill row by row, and walks over contours: what their documents say."""

import json

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.descend import descend
from autodiff_edu.player.sweep import sweep


def document_of(player):
    return player._content["trace"]


def products(x):
    return x[1:] * x[:-1]


def quartic(p):
    return p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2


def test_a_sweep_ends_with_the_jacobian():
    part = document_of(sweep(products, [1.0, 2.0, 3.0]))["sweep"]
    assert part["jacobian"]["data"] == [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]
    assert part["columns"] == ["x[0]", "x[1]", "x[2]"]
    assert part["rows"] == [f"{part['target']}[0]", f"{part['target']}[1]"]


def test_each_row_is_what_its_own_backward_pass_accumulates():
    document = document_of(sweep(products, [1.0, 2.0, 3.0]))
    part, steps = document["sweep"], document["steps"]
    source = next(step["tensor"] for step in steps if step["kind"] == "watch")
    for one in part["passes"]:
        seed = np.array(steps[one["first"]]["cotangent"]["data"])
        assert steps[one["first"]]["kind"] == "seed"
        assert np.array_equal(seed, np.eye(2) if one["stack"] else np.eye(2)[one["rows"][0]])
        arrived = [
            s for s in steps[one["first"] : one["last"] + 1] if s["kind"] == "accumulate" and s["tensor"] == source
        ]
        rows = np.array(part["jacobian"]["data"])[one["rows"]]
        assert np.array_equal(np.reshape(arrived[-1]["after"]["data"], rows.shape), rows)


def test_the_passes_take_the_rows_in_order_and_then_all_at_once():
    passes = document_of(sweep(np.cumsum, np.arange(3.0)))["sweep"]["passes"]
    assert [(one["rows"], one["stack"]) for one in passes] == [
        ([0], False), ([1], False), ([2], False), ([0, 1, 2], True),
    ]  # fmt: skip
    ends = [number for one in passes for number in (one["first"], one["last"])]
    assert ends == sorted(ends)
    assert passes[-1]["last"] - passes[-1]["first"] == passes[0]["last"] - passes[0]["first"]  # as long as one row


def test_arrays_of_any_rank_and_scalars_and_variables_are_swept():
    part = document_of(sweep(lambda w: w @ w, ad.Variable(np.eye(2), name="w")))["sweep"]
    assert part["columns"] == ["w[0, 0]", "w[0, 1]", "w[1, 0]", "w[1, 1]"]
    assert np.array_equal(part["jacobian"]["data"], 2 * np.eye(4))
    part = document_of(sweep(lambda x: np.sin(x) * 2, 0))["sweep"]
    assert part["rows"] == [part["target"]]
    assert part["jacobian"]["data"] == [[2.0]]
    assert document_of(sweep(lambda x: x, [1.0, 2.0]))["sweep"]["jacobian"]["data"] == [[1.0, 0.0], [0.0, 1.0]]


def test_a_tape_around_a_sweep_is_no_part_of_it():
    with ad.GradientTape(persistent=True):
        document = document_of(sweep(products, [1.0, 2.0, 3.0]))
    assert len(document["tapes"]) == 1
    for one in document["sweep"]["passes"]:
        assert document["steps"][one["first"]]["kind"] == "seed"


@pytest.mark.parametrize(
    ("f", "x", "error", "words"),
    [
        (lambda x: np.outer(x, x), np.ones(4), ValueError, "16 elements"),
        (np.sum, np.ones(21), ValueError, "21 elements"),
        (lambda x: x[:0], np.ones(3), ValueError, "0 elements"),
        (lambda x: ad.constant([1.0]), np.ones(3), ValueError, "does not depend on x"),
        (lambda x: np.sign(x), np.ones(3), ValueError, "does not depend on x"),
        (lambda x: 3.0, np.ones(3), TypeError, "must be one Tensor"),
        (lambda x: (x, x), np.ones(3), TypeError, "must be one Tensor"),
        (lambda x: x, np.arange(3), TypeError, "floating numbers"),
        (lambda x: x, 1j, TypeError, "floating numbers"),
        (lambda x: x, {"a": 1.0}, TypeError, "floating numbers"),
        (3.0, 1.0, TypeError, "no function"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_words(f, x, error, words):
    with pytest.raises(error, match=words):
        sweep(f, x)


def test_the_same_walk_gives_the_same_bytes():
    first, second = (descend(quartic, (0.3, 1.0)).html() for _ in range(2))
    assert first == second
    first, second = (sweep(products, [1.0, 2.0, 3.0]).html() for _ in range(2))
    assert first == second


def test_only_documents_with_such_parts_carry_the_scripts_that_draw_them():
    plain, swept, walked = ad.play(quartic, np.ones(2)), sweep(products, [1.0, 2.0]), descend(quartic, (0.3, 1.0))
    for player, parts in ((plain, []), (swept, ["sweep"]), (walked, ["contours"])):
        text = player.html()
        assert [part for part in ("sweep", "contours") if f"EXTRAS.{part}=" in text] == parts
        assert len(text) < 150_000, player
    assert ".plane" not in document_css(plain)
    assert ".plane" in document_css(walked)


def test_the_live_widget_can_draw_every_kind_of_document():
    widget = pytest.importorskip("autodiff_edu.player.widget", reason="anywidget is not installed")
    assert all(f"EXTRAS.{part}=" in widget.PlayerWidget._esm for part in ("sweep", "contours"))


def document_css(player):
    return player._content["css"]


def test_the_documents_are_json_without_nan():
    for player in (
        sweep(products, [1.0, 2.0]),
        descend(lambda p: np.sqrt(p[0]) + p[1] ** 2, (0.5, 1.0), "gradient", rate=1.0),
    ):
        assert json.loads(json.dumps(player._content, allow_nan=False)) == player._content


def test_an_outer_tape_that_follows_something_in_the_function_does_not_disturb():
    w = ad.Variable(2.0)
    with ad.GradientTape():
        player = ad.sweep(lambda x: w * x, [1.0, 2.0])
    assert len(player) > 0
