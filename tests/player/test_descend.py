"""Walks over contours, by Newton's method or downhill: what their documents say."""

import sys

import numpy as np
import pytest

from autodiff_edu import stop_gradient
from autodiff_edu.player.descend import descend


def document_of(player):
    return player._content["trace"]


def quartic(p):
    return p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2


def test_two_points_that_differ_are_written_with_digits_that_tell_them_apart():
    text = descend(lambda p: (p[0] ** 3 - 2 * p[0] - 5) ** 2 + p[1] ** 2, (2.0, 0.45)).transcript()
    assert "At [2 0.45] the" in text
    assert "4. At [2.094552 0] the" in text
    assert "leads to its minimum, [2.094551 0], where" in text


def test_every_step_of_newton_is_that_of_the_hessian():
    player = descend(lambda x, y: (1 - x) ** 2 + 10 * (y - x**2) ** 2, (-1.2, 1.0), steps=4)
    document = document_of(player)
    assert len(player) == 5
    assert {step["kind"] for step in document["steps"]} == {"iterate"}
    for step, following in zip(document["steps"], document["steps"][1:], strict=False):
        x, y = step["point"]["data"]
        assert step["gradient"]["data"] == pytest.approx([2 * (x - 1) - 40 * x * (y - x**2), 20 * (y - x**2)], abs=1e-3)
        hessian = np.array([[2 - 40 * (y - 3 * x**2), -40 * x], [-40 * x, 20.0]])
        assert np.array(step["hessian"]["data"]) == pytest.approx(hessian, rel=1e-3)
        assert step["eigenvalues"]["data"] == pytest.approx(np.linalg.eigvalsh(hessian), rel=1e-3)
        assert following["point"] == step["next"]
        assert following["value"] == step["next_value"]


def test_newton_minimises_a_quadratic_in_one_step_and_says_that_it_is_there():
    player = descend(lambda p: p[0] ** 2 + p[0] * p[1] + 3 * p[1] ** 2, (2.0, -1.0))
    lines = player.transcript().splitlines()
    assert len(lines) == 2
    assert "its minimum, [0 0], where the function is 0, lower." in lines[0]
    assert lines[1].endswith("this is a minimum of the function. The gradient is 0, so the walk ends here.")


def test_newton_walks_to_the_maximum_and_it_is_said():
    player = descend(quartic, (0.3, 1.0))
    first, last = player.transcript().splitlines()[0], document_of(player)["steps"][-1]
    assert "curves down along [1 0] and up along [0 1]: Newton's step leads to its saddle" in first
    assert "Newton walks to the maximum, not to a minimum" in first
    assert last["point"]["data"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert "this is a saddle of the function" in last["text"]
    downhill = document_of(descend(quartic, (0.3, 1.0), "gradient", steps=30))["steps"][-1]
    assert downhill["point"]["data"] == pytest.approx([1.0, 0.0], abs=0.01)
    text = descend(lambda p: -np.sum(p**2), (1.0, 0.0)).transcript()
    assert "Newton walks to a maximum" in text
    assert "this is a maximum of the function" in text


def test_a_singular_hessian_ends_newton_in_words_and_not_gradient_descent():
    player = descend(lambda p: p[0] ** 4 + p[1] ** 2, (0.0, 1.0))
    assert len(player) == 1
    assert "The Hessian is singular (its eigenvalues are [0 2])" in player.transcript()
    assert "Newton's method has no next step" in player.transcript()
    assert document_of(player)["contours"]["iterates"][0]["newton"] is None
    down = descend(lambda x, y: 2 * x + y, (0.0, 1.0), "gradient")
    assert len(down) == 6
    assert down.transcript().endswith("The walk was limited to 5 steps, so it ends here.")
    text = descend(lambda p: p[0] ** 4 + p[1] ** 4, (0.0, 0.0)).transcript()
    assert "the Hessian does not say whether this is a minimum" in text


def test_a_walk_that_diverges_or_leaves_the_domain_says_so():
    with np.errstate(all="raise"):
        text = descend(lambda p: np.sum(p**4), (1.0, 1.0), "gradient", rate=1.0, steps=20).transcript()
    assert text.endswith("the walk is diverging, so it ends here.")
    text = descend(
        lambda p: np.log(p[0]) + p[1] ** 2, (0.5, 1.0), "gradient", rate=1.0, x=(0.1, 1), y=(-1, 1)
    ).transcript()
    assert "-inf" not in text
    text = descend(lambda p: np.sqrt(p[0]) + p[1] ** 2, (0.5, 1.0), "gradient", rate=1.0).transcript()
    assert text.endswith("That is not finite, so there is no direction to continue in: the walk ends.")


def test_the_picture_holds_the_points_where_they_are_in_the_frame():
    document = document_of(descend(quartic, (0.3, 1.0), x=(-2, 2), y=(-1, 3)))
    part = document["contours"]
    left, top, wide, tall = part["frame"]
    for step, one in zip(document["steps"], part["iterates"], strict=True):
        x, y = step["point"]["data"]
        assert one["at"] == pytest.approx([left + (x + 2) / 4 * wide, top + (3 - y) / 4 * tall], abs=0.06)
        if step["next"]:
            assert one["next"] == pytest.approx(part["iterates"][step["number"] + 1]["at"])
            assert one["newton"] == one["next"]
    assert part["ticks"][0][0] == {"at": left, "text": "-2"}
    assert part["names"] == ["p[0]", "p[1]"]


def test_the_arrow_points_against_the_gradient_and_the_model_passes_through_the_point():
    document = document_of(descend(lambda x, y: x**2 + 3 * y**2, (1.0, 1.0), "gradient"))
    part, step = document["contours"], document["steps"][0]
    one = part["iterates"][0]
    arrow = np.subtract(one["gradient"], one["at"]) * [1, -1]
    gradient = np.array(step["gradient"]["data"])
    assert arrow / np.hypot(*arrow) == pytest.approx(-gradient / np.hypot(*gradient), abs=0.01)
    points = [tuple(map(float, point.split())) for line in one["model"][1:].split("M") for point in line.split("L")]
    assert min(np.hypot(*np.subtract(point, one["at"])) for point in points) < 8
    assert part["names"] == ["x", "y"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"start": 1.0}, "two finite numbers"),
        ({"start": (1.0, 2.0, 3.0)}, "two finite numbers"),
        ({"start": (np.nan, 1.0)}, "two finite numbers"),
        ({"method": "adam"}, 'the method is "newton" or "gradient"'),
        ({"steps": 0}, "from 1 to 30"),
        ({"steps": 31}, "from 1 to 30"),
        ({"steps": 2.0}, "from 1 to 30"),
        ({"rate": 0.0}, "above 0"),
        ({"rate": np.nan}, "above 0"),
        ({"x": (1.0, -1.0)}, "from a smaller number to a larger"),
        ({"f": lambda p: p}, "one number"),
    ],
)
def test_a_walk_that_cannot_be_is_refused_in_words(options, words):
    with pytest.raises(ValueError, match=words):
        descend(**{"f": quartic, "start": (0.3, 1.0)} | options)


def test_what_is_not_a_tensor_is_refused():
    with pytest.raises(TypeError):
        descend(lambda p: 3.0, (0.3, 1.0))


def test_without_contourpy_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "contourpy", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        descend(quartic, (0.3, 1.0))


@pytest.mark.parametrize("start", [("a", 1.0), (1j, 1.0), (None, 1.0), ([1.0], [1.0, 2.0])])
def test_descend_starts_from_two_numbers_whatever_it_is_given(start):
    with pytest.raises(ValueError, match="start must be two finite numbers"):
        descend(lambda x, y: x * y, start)


def valley(x, y):
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def test_the_arrows_of_a_walk_are_as_long_as_its_gradients():
    document = document_of(descend(quartic, (0.3, 1.0), "gradient", steps=20))
    lengths = [np.linalg.norm(step["gradient"]["data"]) for step in document["steps"]]
    drawn = [np.subtract(one["gradient"], one["at"]) for one in document["contours"]["iterates"]]
    assert max(np.hypot(*arrow) for arrow in drawn) == pytest.approx(90, abs=0.1)
    for arrow, length, one in zip(drawn, lengths, document["contours"]["iterates"], strict=True):
        to_scale = 90 * length / max(lengths)
        assert np.hypot(*arrow) == pytest.approx(max(16, to_scale), abs=0.2)
        assert one.get("lengthened", False) == (to_scale < 16)


def test_the_arrow_of_a_gradient_far_shorter_than_others_is_seen_and_points_downhill():
    one = document_of(descend(lambda p: np.sum(p**4), (1.0, 2.0), "gradient", steps=4, rate=0.2))["contours"][
        "iterates"
    ][0]
    arrow = np.subtract(one["gradient"], one["at"]) * [-1, 1]
    assert arrow / np.hypot(*arrow) == pytest.approx(np.array([4, 32]) / np.hypot(4, 32), abs=0.02)
    assert one["lengthened"]


def test_no_number_of_a_contour_lies_on_the_name_of_an_axis():
    part = document_of(descend(valley, (-1.2, 1.0), steps=3))["contours"]
    left, top, wide, tall = part["frame"]
    assert len([level for level in part["levels"] if "label" in level]) > 3
    for x, y in (level["label"] for level in part["levels"] if "label" in level):
        assert not (x > left + wide - 60 and y > top + tall - 28)
        assert not (x < left + 60 and y < top + 28)


@pytest.mark.parametrize(("method", "rate"), [("newton", 0.1), ("gradient", 1.0)])
def test_backtracking_halves_a_step_until_the_function_falls_far_enough(method, rate):
    document = document_of(descend(valley, (-1.2, 1.0), method, steps=12, rate=rate, backtracking=True))
    halved = 0
    for step, one in zip(document["steps"][:-1], document["contours"]["iterates"], strict=False):
        count = step["halvings"]["data"] if "halvings" in step else 0
        (x, y), s = step["point"]["data"], np.array(step["step"]["data"])
        gradient, fall = np.array(step["gradient"]["data"]), step["next_value"]["data"] - step["value"]["data"]
        assert fall <= 1e-4 * gradient @ s + 1e-5 * abs(step["value"]["data"])
        if count:  # twice as far was too far
            assert valley(x + 2 * s[0], y + 2 * s[1]) > step["value"]["data"] + 1e-4 * gradient @ (2 * s)
        assert len(one.get("trials", [])) == count
        times = {0: "", 1: "halved once."}.get(count, f"halved {count} times.")
        assert times in step["text"]
        assert ("halved" in step["text"]) is bool(count)
        halved += count
    assert halved


def test_backtracking_leaves_newtons_direction_where_it_leads_uphill():
    without, document = (document_of(descend(quartic, (0.3, 1.0), backtracking=on)) for on in (False, True))
    assert "this is a saddle" in without["steps"][-1]["text"]
    assert "Newton's direction leads uphill from here" in document["steps"][1]["text"]
    gradient, step = (np.array(document["steps"][1][part]["data"]) for part in ("gradient", "step"))
    assert step == pytest.approx(-gradient)
    assert document["steps"][-1]["point"]["data"] == pytest.approx([-1.0, 0.0], abs=1e-6)


def test_a_step_of_which_no_fraction_leads_down_ends_the_walk():
    lying = lambda x, y: x + y**2 + stop_gradient(-3.0 * x)  # noqa: E731
    player = descend(lying, (1.0, 0.0), "gradient", rate=1.0, backtracking=True)
    assert len(player) == 1
    assert player.transcript().endswith("No fraction of the step leads down. The walk ends here.")
    assert document_of(player)["steps"][0]["next"] is None


def test_the_correct_digits_double_with_newton_and_creep_with_the_gradient():
    digits = [step["digits"] for step in document_of(descend(valley, (0.9, 0.8), steps=6))["steps"]]
    assert digits == [0, 0, 1, 2, 3, 6, 10]
    slow = [step["digits"] for step in document_of(descend(quartic, (0.3, 1.0), "gradient", steps=30))["steps"]]
    assert slow[0] == 0
    assert 1 <= slow[-1] <= 4
    diverging = document_of(descend(lambda p: np.sum(p**4), (1.0, 1.0), "gradient", rate=1.0, steps=20))
    assert all("digits" not in step for step in diverging["steps"])
    assert all(
        "digits" not in step for step in document_of(descend(lambda x, y: x + y, (0.0, 1.0), "gradient"))["steps"]
    )


def rings(path):
    return [np.array([one.split() for one in ring.split("L")], dtype=float) for ring in path.split("M")[1:]]


def test_contours_are_numbered_where_they_are_and_what_is_lower_is_shaded():
    part = document_of(descend(lambda x, y: x**2 + y**2, (1.0, 1.0), x=(-2, 2), y=(-2, 2)))["contours"]
    left, top, wide, tall = part["frame"]
    assert part["ranges"] == [[-2.0, 2.0], [-2.0, 2.0]]
    labels = [level["label"] for level in part["levels"] if "label" in level]
    assert len(labels) >= 5
    for level in part["levels"]:
        if "label" in level:
            x, y = (level["label"][0] - left) / wide * 4 - 2, 2 - (level["label"][1] - top) / tall * 4
            assert x**2 + y**2 == pytest.approx(float(level["text"]), abs=0.06)
        if float(level["text"]) < 3.5:  # within the frame
            area = 0.0
            for ring in rings(level["area"]):
                (xs, ys), (after_x, after_y) = ring.T, np.roll(ring, -1, axis=0).T
                area += float(np.sum(xs * after_y - ys * after_x)) / 2
            assert abs(area) == pytest.approx(np.pi * float(level["text"]) * (wide / 4) ** 2, rel=0.02)
    for i, one in enumerate(labels):
        assert min([np.hypot(*np.subtract(one, other)) for other in labels[:i]], default=99) >= 34
