"""Thumbnails take so many cells evenly from an array, in shades of one scale."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.layout.layout import BOX_HEIGHT, LONGEST_VALUE, layout
from autodiff_edu.player.layout.thumbnails import (
    LEVELS,
    SIZE,
    cells_of,
    end_text,
    find_limit,
    has_cells,
    largest,
    level,
    measure,
)
from autodiff_edu.trace.arrays import array


@pytest.mark.parametrize("shape", [(3,), (40,), (4, 3), (50, 60), (2, 3, 4), (1000,), (2, 5, 3, 4)])
def test_cells_are_elements_in_their_order_and_never_too_many(shape):
    described = array(np.arange(float(np.prod(shape))).reshape(shape))
    cells = cells_of(described)
    assert len(cells) <= SIZE["down"]
    assert len({len(row) for row in cells}) == 1
    assert len(cells[0]) <= SIZE["across" if len(shape) > 1 else "vector"]
    assert len(shape) > 1 or len(cells) == 1, "a vector is one row"
    flat = [number for row in cells for number in row]
    assert flat == sorted(set(flat)), "each once"
    assert flat[0] == 0
    assert set(flat) <= set(range(int(np.prod(shape))))
    width, height = measure(described)
    assert width <= SIZE["width"]
    assert height <= SIZE["height"]


def test_a_small_array_is_whole_and_leading_axes_are_rows():
    assert cells_of(array(np.array([[1.0, 2.0], [3.0, 4.0]]))) == [[1, 2], [3, 4]]
    assert cells_of(array(np.arange(8.0).reshape(2, 2, 2))) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert cells_of(array(np.arange(18.0))) == [[*range(18)]]


@pytest.mark.parametrize("value", [2.0, np.zeros((0, 3)), None])
def test_what_has_no_cells_says_so(value):
    assert not has_cells(array(value))
    assert largest(array(value)) == 0


def test_the_scale_ends_at_the_largest_finite_magnitude():
    assert largest(array(np.array([1.0, -3.0, np.inf, np.nan]))) == 3
    assert largest(array(np.array([3 + 4j, 1j]))) == 5
    assert largest(array(np.array([True, False]))) == 1
    assert largest(array(np.array([np.nan]))) == 0


@pytest.mark.parametrize(
    ("numbers", "limit"),
    [([2, -1e9], 2), ([0, -1e9], 1e9), ([2e4, 1e9], 1e9), ([0.5, 3e6, 6.1e6], 6.1e6), ([1, 1e6], 1e6)],
)
def test_a_mask_s_number_alone_is_off_the_scale(numbers, limit):
    assert find_limit(array(np.array(numbers))) == limit
    assert largest(array(np.array(numbers))) == np.max(np.abs(numbers))


def test_a_mask_is_off_the_scale_that_arrays_share():
    mask, scores = array(np.array([0.0, -1e9])), array(np.array([2.0, -1e9 + 3]))
    assert find_limit(mask, scores, None) == 2


def test_shades_tell_signs_apart_and_the_smallest_number_from_zero():
    assert [level(x, 100.0) for x in (-100.0, -1.0, 0.0, 1.0, 100.0)] == [-LEVELS, -1, 0, 1, LEVELS]
    assert level(float("inf"), 1.0) == LEVELS


def network():
    x, w, b = (
        np.linspace(-1, 1, 15).reshape(5, 3),
        ad.Variable(np.ones((3, 4)) / 3, name="w"),
        ad.Variable(0.5, name="b"),
    )
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.tanh(x @ w + b)
            loss = np.mean(y)
        tape.gradient(loss, [w, b])
    return traced.document()


def test_arrays_whose_text_would_be_cut_off_are_drawn_and_numbers_are_written():
    document = network()
    picture = layout(document)
    for index, (tensor, box) in enumerate(zip(document["tensors"], picture["tensors"], strict=True)):
        steps = [step for step in document["steps"] if step.get("tensor") == index]
        texts = [step[key]["text"] for step in steps for key in ("after", "cotangent") if step.get(key)]
        texts.append(tensor["value"]["text"])
        cut_off = max(map(len, texts)) > LONGEST_VALUE or any(" from " in text for text in texts)
        assert ("art" in box) == (cut_off and tensor["value"]["shape"] != [])
        if "art" not in box:
            continue
        art = box["art"]
        assert art["top"] + art["value"] <= (box["height"] if box["plain"] else art["strip"])
        if not box["plain"]:
            assert art["strip"] + art["cotangent"] < box["height"]
            assert box["height"] >= BOX_HEIGHT
        assert art["x"] + art["width"] < box["width"]
    assert sum("art" in box for box in picture["tensors"]) == 5, "w, its results, and x, whose text is a range"


def test_each_tensor_has_a_scale_for_its_values_and_one_for_its_cotangents_and_their_ends_are_written():
    document = network()
    for index, (tensor, box) in enumerate(zip(document["tensors"], layout(document)["tensors"], strict=True)):
        if not tensor["value"]["shape"]:
            assert "limits" not in box
            continue
        steps = [step for step in document["steps"] if step.get("tensor") == index]
        ups = [step[key] for step in steps for key in ("cotangent", "contribution", "after") if step.get(key)]
        assert box["limits"]["value"] == pytest.approx(largest(tensor["value"]), rel=1e-5)
        assert box["limits"]["cotangent"] == pytest.approx(max(map(largest, ups), default=0), rel=1e-5)
        for part, limit in box["limits"].items() if "art" in box else ():
            assert box["art"]["ends"][part] == end_text(tensor["value"], limit)


def test_large_numbers_elsewhere_do_not_make_a_matrix_grey():
    w = np.linspace(-4.0, 4.0, 21).reshape(7, 3)
    content = ad.play(lambda w, x: np.sum((x @ w) ** 2), w, np.linspace(0.0, 1000.0, 35).reshape(5, 7))._content
    names = [tensor["name"] for tensor in content["trace"]["tensors"]]
    boxes = dict(zip(names, content["layout"]["tensors"], strict=True))
    assert boxes["w"]["limits"]["value"] == 4
    assert boxes["w"]["art"]["ends"]["value"] == "±4"
    assert boxes["x"]["art"]["ends"]["value"] == "±1000"


def test_the_cotangents_of_a_number_may_be_a_stack():
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            x = ad.Variable(2.0)
            y = np.linspace(0.1, 0.97, 30) * x
        tape.jacobian(y, x)
    document = traced.document()
    boxes = layout(document)["tensors"]
    (box,) = [boxes[k] for k, tensor in enumerate(document["tensors"]) if tensor["kind"] == "variable"]
    assert box["limits"] == {"value": 0, "cotangent": 0.97}
    assert box["art"]["ends"]["cotangent"] == "±0.97"


def test_a_picture_without_long_arrays_draws_none():
    picture = layout(ad.play(lambda x: x * x, [1.0, 2.0])._content["trace"])
    assert not any("art" in box for box in picture["tensors"])


def test_no_box_has_colours_for_four_numbers_unless_something_is_trained():
    def arts(trained):
        with ad.trace() as traced:
            w = ad.Variable([[1.25, -2.5], [3.75, 0.125]], name="w")
            with ad.GradientTape() as tape:
                y = np.sum(np.tanh(w * w))
            gradient = tape.gradient(y, w)
            if trained:
                w.assign_sub(gradient)
        return [box["art"] for box in layout(traced.document())["tensors"] if "art" in box]

    assert arts(False)
    assert all(art.get("rows") for art in arts(False))
    assert not any(art.get("rows") for art in arts(True))


def test_the_box_of_a_result_has_its_numbers_where_these_are_few():
    def boxes(n):
        with ad.trace() as traced:
            with ad.GradientTape() as tape:
                x = ad.Variable(np.arange(1.0, n + 1.0), name="x")
                y = x[:3] ** 2
            tape.jacobian(y, x)
        document = traced.document()
        placed = layout(document)["tensors"]
        return {tensor["name"]: place for tensor, place in zip(document["tensors"], placed, strict=True)}

    few, many = boxes(3), boxes(5)
    assert few["x"]["art"]["rows"] is few["y"]["art"]["rows"] is True
    assert few["x"]["art"]["cotangent"] >= 3 * 14
    assert "rows" not in many["x"]["art"]
