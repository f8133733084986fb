"""Chapter 16: what it prints and says, by other means: geometry, plain products, and simulations in NumPy."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn

JOINTS, CUP = np.array([1.4, -1.1, -1.3]), np.array([2.3, 1.5])


def cells():
    path = Path(__file__).parents[2] / "notebooks/16-jacobians.ipynb"
    return {cell["id"]: cell for cell in json.loads(path.read_text("utf-8"))["cells"]}


def printed(cell):
    return "".join("".join(output.get("text", ())) for output in cells()[cell]["outputs"])


def said_of_picture(cell):
    return "".join("".join(output["data"]["text/plain"]) for output in cells()[cell]["outputs"])


def numbers_in(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d*)?", text)]


def corners(joints):
    angles = np.cumsum(joints)
    return np.cumsum([[0.0, *np.cos(angles)], [0.0, *np.sin(angles)]], axis=1)


def arrows(joints):
    """The columns of the Jacobian, from geometry: at a right angle to the line from each motor to the hand."""
    points = corners(joints)
    across, up = points[:, 3:] - points[:, :3]
    return np.stack([-up, across])


def angle_between(a, b):
    return np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))


def test_motor_1_is_the_one_that_moves_the_hand_most_nearly_towards_the_cup():
    off = [angle_between(arrow, CUP - corners(JOINTS)[:, 3]) for arrow in arrows(JOINTS).T]
    np.testing.assert_allclose(off, [46, 11, 26], atol=1)
    for k, line in enumerate(printed("arm-2").splitlines()[:3]):
        np.testing.assert_allclose(numbers_in(line), [k, *arrows(JOINTS)[:, k]], atol=6e-3)


def test_the_six_slopes_are_those_of_geometry():
    np.testing.assert_allclose(numbers_in(printed("arm-5")), arrows(JOINTS).ravel(), atol=1e-6)
    np.testing.assert_allclose(numbers_in(printed("arm-3")), arrows(JOINTS).sum(axis=0), atol=1e-6)


def test_a_straight_arm_has_its_arrows_along_one_line():
    assert np.linalg.matrix_rank(arrows([0.5, 0.0, 0.0])) == 1


def test_turning_motor_2_back_as_fast_as_motor_1_turns_moves_the_hand_at_a_right_angle_to_the_middle_link():
    moved = arrows(JOINTS) @ [0, 1, -1]
    np.testing.assert_allclose(numbers_in(printed("mixture")), moved, atol=1e-6)
    assert moved[0] < 0 < -2 * moved[0] < moved[1]  # up, a little to the left
    points = corners(JOINTS)
    assert abs(moved @ (points[:, 2] - points[:, 1])) < 1e-12


def cost(order, sizes):
    """Count the multiplications of a nested bracket: a matrix is its number, a product a pair."""
    if isinstance(order, int):
        return 0, sizes[order], sizes[order + 1]
    (first, rows, inner), (second, _, columns) = (cost(part, sizes) for part in order)
    return first + second + rows * inner * columns, rows, columns


def test_the_brackets_take_5_000_and_127_500_multiplications():
    assert cost(((0, 1), 2), [1, 50, 50, 50])[0] == 5_000
    assert cost((0, (1, 2)), [1, 50, 50, 50])[0] == 127_500
    assert "2,500 + 2,500 = 5,000" in said_of_picture("brackets")
    assert "125,000 + 2,500 = 127,500" in said_of_picture("brackets")


def orders(first, last):
    if first == last:
        return [first]
    return [(a, b) for cut in range(first, last) for a in orders(first, cut) for b in orders(cut + 1, last)]


@pytest.mark.parametrize(
    ("sizes", "best"),
    [
        ([1, 1000, 1000, 1000], {((0, 1), 2)}),
        ([500, 500, 500, 3], {(0, (1, 2))}),
        ([300, 300, 2, 300, 300], {((0, 1), (2, 3))}),
        ([2, 300, 300, 2], {((0, 1), 2), (0, (1, 2))}),
    ],
)
def test_the_best_brackets_of_exercise_2_are_the_best_of_all(sizes, best):
    costs = {order: cost(order, sizes)[0] for order in orders(0, len(sizes) - 2)}
    assert {order for order in costs if costs[order] == min(costs.values())} == best
    if len(sizes) == 5:
        assert min(costs.values()) == 540_000
        assert costs[((0, 1), 2), 3] == costs[0, (1, (2, 3))] == 27_360_000


def reach(steps):
    pose = JOINTS
    for left in range(steps, 0, -1):
        wanted = (CUP - corners(pose)[:, 3]) / left
        pose = pose + np.linalg.pinv(arrows(pose)) @ wanted
    return np.linalg.norm(CUP - corners(pose)[:, 3])


def test_one_step_misses_and_twice_as_many_steps_miss_by_a_quarter():
    assert numbers_in(printed("cup-1")) == [1, round(reach(1), 4), 20, round(reach(20), 4)]
    assert round(np.linalg.norm(CUP - corners(JOINTS)[:, 3]), 2) == 1.24
    assert reach(40) / reach(20) == pytest.approx(0.25, abs=0.02)
    assert reach(80) / reach(40) == pytest.approx(0.25, abs=0.02)


MIRROR = np.array([[1, -0.6, 0], [-0.6, 1, -0.6], [0, -0.6, 1]])
GRADIENT = MIRROR.sum(axis=0)


@pytest.mark.parametrize(
    ("step", "arrives"),
    [
        (lambda missing: missing / GRADIENT, False),
        (lambda missing: 0.5 * missing / GRADIENT, False),
        (lambda missing: 0.1 * missing / GRADIENT, False),
        (lambda missing: missing / np.abs(GRADIENT), False),
        (lambda missing: missing / np.diagonal(MIRROR), True),
    ],
    ids=["gradient", "half", "a tenth", "positive", "diagonal"],
)
def test_only_the_diagonal_brings_the_mirror_to_its_heights(step, arrives):
    screws = np.zeros(3)
    for _ in range(100):
        screws = screws + step(1 - MIRROR @ screws)
    assert (np.abs(MIRROR @ screws - 1).max() < 0.005) == arrives


def test_the_diagonal_takes_15_per_cent_of_what_is_missing_with_each_turn():
    assert 1 - np.abs(np.linalg.eigvals(np.eye(3) - MIRROR)).max() == pytest.approx(0.15, abs=0.005)


def test_a_seed_of_ones_adds_up_the_rows_and_with_softmax_they_add_up_to_0():
    _, pull_back = ad.vjp(nn.softmax, np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(pull_back(np.ones(3)).numpy(), 0, atol=1e-15)


def test_through_the_mean_the_gradient_is_not_the_diagonal():
    x = np.array([0.5, 1.0])
    jacobian = ad.jacobian(lambda x: x * np.mean(x))(x).numpy()
    np.testing.assert_allclose(jacobian, np.diag([0.75, 0.75]) + x[:, None] / 2)
    assert jacobian.sum(axis=0).tolist() != np.diagonal(jacobian).tolist()


@pytest.mark.parametrize(("activation", "gaps"), [(nn.relu, True), (None, False)])
def test_with_no_relu_the_diagonals_of_the_picture_have_no_gaps(activation, gaps):
    nn.seed(0)
    layer, data = nn.Dense(10, activation=activation), np.random.default_rng(0).standard_normal((7, 5))
    with ad.GradientTape() as tape:
        outputs = layer(data)
    big = tape.jacobian(outputs, layer.kernel).numpy()
    diagonals = np.einsum("sjkj->skj", big)
    assert (diagonals == 0).any() == gaps
    assert np.count_nonzero(big) == np.count_nonzero(diagonals)
