"""What the notes say about the programs that people post about PyTorch."""

import linecache
import re
import warnings
from importlib import import_module
from itertools import count

import pytest
from IPython.utils.capture import capture_output
from mistakes import MISTAKES, NO_GRAD_FN

import autodiff_edu as ad

pytestmark = pytest.mark.torch

numbers = count(1)


@pytest.fixture(autouse=True, scope="module")
def pytorch():
    """A trace follows PyTorch if it has been imported before; here, where these tests are chosen."""
    return import_module("torch")


def run(code, scope=None):
    """Run a program whose source is known by line, without PyTorch's warnings; return its names."""
    name, scope = f"<post{next(numbers)}>", {} if scope is None else scope
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, name, "exec"), scope)
    return scope


def holds(expression, scope):
    """Whether an expression is true of a program's names."""
    return run(f"true = bool({expression})", dict(scope))["true"]


def raises(mistake):
    """Expect the error of a program."""
    return pytest.raises(Exception, match=re.escape(mistake.error.partition(": ")[2]))


def explain(mistake):
    """Run a program in a trace; return the note on its error, or what `explain` says."""
    if mistake.error:
        with raises(mistake) as raised, ad.trace():
            run(mistake.code)
        return "\n".join(getattr(raised.value, "__notes__", ()))
    with ad.trace() as steps:
        scope = run(mistake.code)
    return str(run(f"why = steps.explain({mistake.asked})", scope | {"steps": steps})["why"])


each = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)


@each
def test_a_program_goes_wrong_as_described(mistake):
    if mistake.error:
        with raises(mistake) as raised:
            run(mistake.code)
        assert mistake.error.startswith(f"{type(raised.value).__name__}: ")
        assert not hasattr(raised.value, "__notes__")
    else:
        assert holds(mistake.silent, run(mistake.code))


@each
def test_a_note_names_the_line_and_the_repair(mistake):
    note = explain(mistake)
    assert f"line {mistake.line}: " in note
    for words in mistake.note:
        assert words in note
    assert "{" not in note
    assert all(len(sentence) < 400 for sentence in note.splitlines())


@pytest.mark.parametrize(
    "mistake", [one for one in MISTAKES if one.error == NO_GRAD_FN], ids=lambda mistake: mistake.name
)
def test_a_note_on_a_cut_blames_no_other_line(mistake):
    note = explain(mistake)
    if note.startswith("Nothing that leads to"):  # then it lists what could be trained
        assert len(re.findall(r"line \d+", note)) == 3
    else:
        assert re.findall(r"line \d+", note) == [f"line {mistake.line}"]


@each
def test_a_repaired_program_has_the_right_gradient(mistake):
    assert holds(mistake.holds, run(mistake.repaired))


@each
def test_a_trace_changes_nothing_and_finds_nothing_wrong_in_a_repaired_program(mistake):
    with ad.trace() as steps:
        scope = run(mistake.repaired)
    assert holds(mistake.holds, scope)
    if mistake.asked and "target_w" not in mistake.asked:  # from which the repair cuts the loss on purpose
        why = run(f"why = steps.explain({mistake.asked})", scope | {"steps": steps})["why"]
        assert why
        assert not why.left_out
        assert "But note:" not in str(why)
        assert "On another path" not in str(why)


def test_there_are_thirty_mistakes_each_with_its_name():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 30


@pytest.mark.parametrize(("y", "write"), [("exp", 6), ("sin", 5)])
def test_of_two_writes_the_one_that_matters_is_named(y, write):
    """Of exp, the result is needed; of sin, what went in."""
    with pytest.raises(RuntimeError, match="inplace") as raised, ad.trace():
        run(
            "import torch\nx = torch.ones(2, requires_grad=True)\na = x * 2\n"
            f"y = torch.{y}(a)\na += 1\ny += 1\ny.sum().backward()\n"
        )
    assert f"line {write}: " in raised.value.__notes__[0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("torch.log(w)", "line 3: torch.log(w): log of 0 gives -inf. Keep w away from this value"),
        ("torch.where(w == 0, 0.0, 1 / w)", "write torch.where(w == 0, 1.0, w) in place of w"),
        ("torch.where(w == 0, torch.log(w), w)", "log of 0 gives -inf. Keep w away from this value"),
        ("torch.log(w)[1:]", "log of 0 gives -inf"),
        ("w * torch.tensor([float('nan'), 1.0])", "torch.tensor([float('nan'), 1.0]) is not finite from the start"),
    ],
)
def test_what_is_not_finite_is_described_as_it_is(line, words):
    code = f"import torch\nw = torch.tensor([0.0, 4.0], requires_grad=True)\nloss = ({line}).sum()\nloss.backward()\n"
    with ad.trace() as steps:
        scope = run(code)
    assert words in str(run("why = steps.explain(loss, w)", scope | {"steps": steps})["why"])


CUT_AND_CONNECTED = """
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
cut = (w.detach() * 2).sum()
whole = (w * 2).sum()
half = (w * w.sum().item()).sum()
"""


@pytest.fixture(scope="module")
def three():
    with ad.trace() as steps:
        scope = run(CUT_AND_CONNECTED)
    names = "cut, whole, half = (steps.explain(target, w) for target in (cut, whole, half))"
    return run(names, scope | {"steps": steps})


def test_an_explanation_is_true_if_there_is_a_path(three):
    assert not three["cut"]
    assert three["whole"]
    assert three["half"]
    assert [len(three[name].left_out) for name in ("cut", "whole", "half")] == [0, 0, 1]
    assert [cause.kind for cause in three["cut"].causes] == ["stopped"]
    assert three["cut"].causes[0].place.line == 4
    assert not three["whole"].causes


def test_an_explanation_is_short_in_brief_and_a_list_in_a_notebook(three):
    assert repr(three["cut"]) == "Explanation(unconnected: stopped)"
    assert repr(three["whole"]) == "Explanation(connected)"
    assert "<li>" in three["half"]._repr_html_()


def test_an_explanation_can_be_played(three):
    assert "cuts the flow on purpose" in three["cut"].trace().transcript()
    assert "text/html" in ad.play(three["cut"])._repr_mimebundle_()


def test_what_is_caught_inside_a_trace_has_its_note():
    with ad.trace():
        scope = run(
            "import torch\nw = torch.ones(2)\ntry:\n    w.sum().backward()\nexcept RuntimeError as error:\n"
            "    notes = error.__notes__\n"
        )
    assert "requires_grad=True" in scope["notes"][0]


def test_a_cell_shows_the_note_below_its_error_and_in_its_player(shell):
    shell.run_cell("import torch\nw = torch.ones(2, requires_grad=True)")
    with capture_output(stdout=True, stderr=True, display=True) as captured:
        shell.run_cell("%%play\ny = torch.exp(w)\ny += 1\ny.sum().backward()")
    note = "line 3: y += 1 overwrites numbers that the backward pass needs for y = torch.exp(w)"
    assert captured.stdout.count(note) == 1
    assert captured.stdout.index("RuntimeError: one of the variables") < captured.stdout.index(note)
    (player,) = [output.data["text/plain"] for output in captured.outputs if "text/html" in output.data]
    assert note in player.splitlines()[-1]


def test_a_function_that_is_played_raises_with_the_note():
    scope = run("import torch\ndef f(w):\n    y = torch.exp(w)\n    y.mul_(2)\n    return y.sum()\n")
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        ad.play(scope["f"], scope["torch"].ones(2)).transcript()
    assert "line 4: y.mul_(2) overwrites numbers" in "\n".join(raised.value.__notes__)


@pytest.mark.parametrize(
    "line", ["torch.ones(2) @ torch.ones(3)", "None.backward", "[].backward()", "{}['w']", "w.grad; None.zero_()"]
)
def test_other_errors_have_no_note(line):
    with pytest.raises(Exception, match=r"size|attribute|w") as raised, ad.trace():
        run(f"import torch\nw = torch.ones(2, requires_grad=True)\nw.sum().item()\n{line.replace('; ', chr(10))}\n")
    assert not hasattr(raised.value, "__notes__")


def test_what_the_trace_has_not_seen_is_not_explained_away():
    scope = run("import torch\nw = torch.ones(2, requires_grad=True)\nz = w * 2\ncut = z.detach().sum()\n")
    with ad.trace() as steps:
        run("loss = z.sum()\n", scope)
    names = "loss, w, cut, z = (steps.explain(t, w) for t in (loss, w, cut, z))"
    why = run(names, scope | {"steps": steps})
    assert "calls that this trace has not seen" in str(why["z"])
    assert "was not followed" in str(why["cut"])
    assert "they are the same tensor" in str(why["w"])
    assert why["loss"]


def test_only_pytorch_is_asked_about():
    with ad.trace() as steps:
        scope = run("import torch\nw = torch.ones(2, requires_grad=True)\nloss = w.sum()\n")
    with pytest.raises(TypeError, match="two tensors, the target and the source, not a float"):
        steps.explain(1.0, scope["w"])


def test_an_update_on_purpose_and_an_accumulation_on_purpose_are_not_mistakes():
    with ad.trace() as steps:
        scope = run(
            """
import torch
w = torch.tensor(1.0, requires_grad=True)
for step in range(2):
    w.grad = None
    for x in (1.0, 2.0):
        loss = (w * x - 1.0) ** 2
        loss.backward()
    rate = 0.1 * loss.item()
    with torch.no_grad():
        w -= rate * w.grad
"""
        )
    why = steps.explain(scope["loss"], scope["w"])
    assert why
    assert not why.left_out
    assert "But note:" not in str(why)


@pytest.mark.parametrize(
    "lines",
    [
        "loss = (w[0] ** 2 + w.view(2)).sum()\nloss.backward()\nw.data -= 0.1 * w.grad\nloss = w.sum()",
        "out = torch.zeros(3)\nout[0] = 1.0\nout[1:] = w\nloss = out.sum()",
        "norm = torch.nn.BatchNorm1d(1)\nloss = norm(w[:, None]).relu_().sum()",
        "a = (w[:, None] * torch.eye(2).to_sparse()).sum()\nloss = a * w.sum()",
        "y = w * 2\nloss = y.sum()\nloss.backward()\nwith torch.no_grad():\n    y.zero_()",
    ],
)
def test_writes_that_change_no_gradient_are_not_mistakes(lines):
    with ad.trace() as steps:
        scope = run(f"import torch\nw = torch.tensor([1.0, 2.0], requires_grad=True)\n{lines}\n")
    why = run("why = steps.explain(loss, w)", scope | {"steps": steps})["why"]
    assert why
    assert "But note:" not in str(why)


def test_an_average_of_weights_is_another_path_but_no_mistake():
    with ad.trace() as steps:
        scope = run(
            """
import torch
w, teacher = torch.tensor(1.0, requires_grad=True), torch.tensor(3.0)
with torch.no_grad():
    teacher.mul_(0.9).add_(0.1 * w)
loss = (w - teacher) ** 2
"""
        )
    text = str(run("why = steps.explain(loss, w)", scope | {"steps": steps})["why"])
    assert "On another path, nothing flows back:" in text
    assert "line 5: 0.1 * w was computed while PyTorch was not recording" in text
    assert "Move" not in text


@pytest.mark.parametrize(
    "lines",
    [
        "m = torch.nn.Linear(2, 1).requires_grad_(False)\nw = m.weight\ny = m(torch.ones(1, 2))",
        "w = torch.ones(2)\ny = torch.ones(2) * w",
        "w = torch.ones(2)\ny = 1.0 - w",
        "w = torch.ones(2)\ny = 2.0 * w",
    ],
)
def test_a_tensor_that_required_a_gradient_too_late_is_named(lines):
    scope = {}
    with pytest.raises(RuntimeError, match="does not require grad") as raised, ad.trace() as steps:
        run(f"import torch\n{lines}\nw.requires_grad_(True)\ny.sum().backward()\n", scope)
    why = run("why = steps.explain(y, w)", scope | {"steps": steps})["why"]
    assert "was computed while w required no gradient" in str(why)
    assert re.search(r"while (w|m|a tensor in it) required no gradient", raised.value.__notes__[0])
