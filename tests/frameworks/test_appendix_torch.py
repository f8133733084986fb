"""What the exercises of the appendix on PyTorch call right is what PyTorch answers, on the programs that they show."""

import re

import pytest
import torch

import autodiff_edu as ad
from autodiff_edu.course.chapters.pytorch_and_jax import GRADS, LINES, SCALES

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
