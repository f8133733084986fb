"""What the appendix on PyTorch says of programs that it doesn't run: of those of its exercises, and of changes."""

import re

import pytest
import torch

import autodiff_edu as ad
from autodiff_edu.course.chapters.pytorch_and_jax import GRADS, LINES, SCALES
from autodiff_edu.course.contents import OURS

pytestmark = pytest.mark.torch

PROGRAMS = dict(re.findall(r"^# (\w)\n(.*?)(?=^# |^```)", GRADS.question, re.MULTILINE | re.DOTALL))
NUMBERED = dict(re.findall(r"^(\w)\) .*?```\n(.*?)```", LINES.question, re.MULTILINE | re.DOTALL))
GIVEN = {
    "x": torch.tensor([[1.0, 2.0, 0.5], [0.5, -1.0, 1.0]]),
    "start": torch.tensor([0.1, -0.2, 0.3]),
    "label": torch.tensor([1, 0]),
    "mask": torch.tensor([1.0, 0.0]),
    "y": torch.tensor([1.0, -1.0]),
}


def run(lines, **given):
    """Run a program, and return its namespace."""
    names = {"torch": torch, **GIVEN, **given}
    exec("\n".join(lines), names)
    return names


def program(name):
    """Return the lines of a program of exercise 2, without their numbers."""
    return [line[3:] for line in NUMBERED[name].splitlines()]


def weights(*shape):
    return torch.full(shape, 0.25, requires_grad=True)


@pytest.mark.parametrize("name", GRADS.parts)
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_grad_holds_what_the_exercise_says(name):
    *lines, last = PROGRAMS[name].strip().splitlines()
    names = run([*lines, f"shown = {last}"], w=torch.tensor(2.0, requires_grad=True))
    assert names["shown"] == GRADS.answer[name]


def test_the_loss_of_program_a_stays_the_same_unless_line_3_is_left_out():
    lines = [*program("a"), "    losses.append(loss.item())"]
    losses = run(lines, losses=[])["losses"]
    assert len(losses) == 100
    assert set(losses) == {losses[0]}
    del lines[LINES.answer["a"] - 1]
    losses = run(lines, losses=[])["losses"]
    assert losses[-1] < losses[0] / 100


@pytest.mark.parametrize(
    ("name", "w", "error", "repaired"),
    [
        ("b", weights(3), "modified by an inplace operation", "p = p * mask"),
        ("c", weights(3, 3), "element 0 of tensors does not require grad", "guess = p @ torch.arange(3.0)"),
    ],
)
def test_a_program_runs_once_its_line_to_blame_is_changed(name, w, error, repaired):
    lines, line = program(name), LINES.answer[name]
    with pytest.raises(RuntimeError, match=error), ad.trace():
        run(lines, w=w)
    lines[line - 1] = repaired
    run(lines, w=w)
    assert w.grad is not None


@pytest.mark.parametrize("sizes", [[4, 4, 4], [5, 3], [1, 2, 2, 5]])
def test_the_parts_of_a_batch_add_up_to_the_whole(sizes):
    samples = torch.arange(float(sum(sizes)), dtype=torch.float64)
    whole, parts = (torch.tensor(0.5, dtype=torch.float64, requires_grad=True) for _ in range(2))
    torch.mean((whole * samples - 1) ** 2).backward()
    for part, scale in zip(samples.split(sizes), SCALES.answer(sizes), strict=True):
        (torch.mean((parts * part - 1) ** 2) * scale).backward()
    torch.testing.assert_close(parts.grad, whole.grad)


def changed(name, *changes, **given):
    """Run a cell of the notebook after what it builds on, with changes to its text and what it is given."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in OURS.find("pytorch-and-jax").read()["cells"]}
    source = cells[name]
    for before, after in changes:
        assert source.count(before) == 1
        source = source.replace(before, after)
    names = {"ad": ad, **given}
    for text in (cells["opening-player"], source):
        exec(f"import torch\n{text.removeprefix('%%play')}", names)
    return names


def losses(*changes):
    """Return both curves of the chapter's picture."""
    drawn = []
    changed("grad-3", *changes, draw=lambda *curves: drawn.extend(curves))
    return drawn


def test_gradients_that_add_up_swing_as_with_a_momentum_of_1_and_cleared_ones_settle():
    added_up, cleared = losses()
    assert added_up[:3] == pytest.approx([3.5, 1.69, 5.06], abs=0.005)
    swings = [max(added_up[k : k + 10]) for k in (0, 10, 20)]
    assert max(swings) < 1.1 * min(swings)
    assert min(added_up) > 0.05
    assert cleared == sorted(cleared, reverse=True)
    assert cleared[-1] < 0.05
    assert losses(("lr=0.1", "lr=0.1, momentum=1.0"))[1] == added_up


def test_gradients_that_are_cleared_before_the_step_leave_the_loss_as_it_is():
    clear = "        if clear:\n            optimizer.zero_grad()\n"
    assert losses((clear, ""), ("loss.backward()\n", f"loss.backward()\n{clear}"))[1] == [3.5] * 30


def test_a_leaf_keeps_its_gradient_and_an_update_without_no_grad_makes_another_tensor():
    names = changed(
        "leaf-1", ("torch.tensor(100.0, requires_grad=True) / 100", "(torch.tensor(100.0) / 100).requires_grad_()")
    )
    assert names["rate"].grad == -10
    exec("rate = rate - 0.1 * rate.grad\nloss = torch.mean((rate * km + 4.0 - paid) ** 2)\nloss.backward()", names)
    assert not names["rate"].is_leaf


def test_no_path_is_left_if_the_square_moves_into_the_block():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        changed("cut-1", ("square = x * x\n", ""), ("    bound", "    square = x * x\n    bound"))


def test_a_product_with_a_constant_may_be_written_into(capsys):
    names = changed("write-1", ("torch.exp(scores)", "2 * scores"))
    assert capsys.readouterr().out == ""
    assert names["scores"].grad is not None
