"""PyTorch under the player: what a trace says about a run is what PyTorch did."""

import shutil
import subprocess
import sys
from doctest import DocTestFinder, DocTestRunner

import numpy as np
import pytest
import torch
from playwright.sync_api import sync_playwright
from torch.nn import functional

import autodiff_edu as ad

pytestmark = pytest.mark.torch


def list_steps(steps, kind):
    """List the steps of a kind, as the document has them."""
    return [step for step in steps.document()["steps"] if step["kind"] == kind]


def find_cotangent(steps, name):
    """Return the last cotangent of a tensor that a trace shows."""
    document = steps.document()
    sums = [step for step in document["steps"] if step["kind"] == "accumulate"]
    return [step["after"]["data"] for step in sums if document["tensors"][step["tensor"]]["name"] == name][-1]


def list_texts(steps):
    return [f"{entry['text']}" for entry in steps.document()["entries"]]


def test_a_page_saved_from_a_run_needs_no_pytorch(tmp_path):
    def f(x, w):
        h = torch.tanh(x @ w)
        return (h**2).mean()

    ad.play(f, torch.randn(3, 2), torch.randn(2, 2)).save(tmp_path / "run.html")
    content = "document.querySelector('[data-autodiff-player]')?.shadowRoot"
    offline = "MAP * ~NOTFOUND"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--headless=new", "--no-sandbox", f"--host-resolver-rules={offline}"],
        )
        page = browser.new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "run.html").as_uri())
        page.wait_for_function(f"{content}?.querySelector('.player')")
        page.keyboard.press("End")
        page.wait_for_function(f"{content}.textContent.includes('df/dw is')")
        browser.close()
    assert asked == [(tmp_path / "run.html").as_uri()]


def test_importing_the_package_does_not_import_pytorch():
    done = subprocess.run(
        [sys.executable, "-c", "import autodiff_edu as ad, sys; ad.trace().__enter__(); print('torch' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_lines_columns_and_names_are_the_learners():
    x = torch.tensor(3.0, requires_grad=True)
    with ad.trace() as steps:
        y = x * x
        z = 2 * y + 1
        z.backward()
    document = steps.document()
    assert [entry["text"] for entry in document["entries"]] == ["x * x", "2 * y", "t2 + 1"]
    first = document["entries"][0]["where"]
    line = document["code"][first["code"]]["lines"][first["line"] - document["code"][first["code"]]["first_line"]]
    assert line[slice(*first["columns"])] == "x * x"
    assert [step["contribution"]["data"] for step in list_steps(steps, "accumulate")] == [1, 2, 6, 6]
    assert x.grad == 12


def describe_scopes(steps):
    """List the scope and the name of each entry of a trace."""
    return [("/".join(entry["scope"]), entry["operation"]) for entry in steps.document()["entries"]]


def test_a_cross_entropy_opens_to_the_two_calls_that_pytorch_makes_of_it():
    logits = torch.tensor([[1.0, 5.0, 0.5, 2.0]], requires_grad=True)
    target = torch.tensor([3])
    with ad.trace() as steps:
        loss = torch.nn.CrossEntropyLoss()(logits, target)  # which passes on what nobody has chosen, such as -100
        loss.backward()
    assert describe_scopes(steps) == [
        ("crossentropyloss/cross_entropy", "log_softmax"),
        ("crossentropyloss/cross_entropy", "nll_loss"),
    ]
    assert list_texts(steps) == ["log_softmax(logits, dim=1)", "nll_loss(t1, target)"]
    np.testing.assert_allclose(find_cotangent(steps, "logits"), logits.grad, rtol=1e-5)


@pytest.mark.parametrize("seed", range(210))
def test_a_cross_entropy_and_its_parts_are_equal_to_the_last_bit(seed):
    draw = np.random.default_rng(seed)
    classes, shape = int(draw.integers(1, 40)), [(), (1,), (7,), (0,), (70,), (3, 2), (2, 2, 3)][seed % 7]
    target = torch.from_numpy(np.asarray(draw.integers(0, classes, shape)))
    numbers = draw.normal(size=(*shape[:1], classes, *shape[1:])) * draw.choice([1, 30, 1e4])
    numbers.flat[: seed % 2] = draw.choice([np.inf, -np.inf, np.nan])
    dtype = [torch.float64, torch.float32, torch.float16, torch.bfloat16][seed % 4]
    options = {
        "weight": torch.from_numpy(draw.random(classes)).to(dtype) if draw.random() < 0.5 else None,
        "ignore_index": int(draw.choice([-100, 0, 1])),
        "reduction": str(draw.choice(["mean", "sum", "none"])),
    }
    x = torch.from_numpy(numbers).to(dtype).requires_grad_()

    def compute():
        loss = functional.cross_entropy(x, target, **options)
        (first,) = torch.autograd.grad(loss, x, torch.full_like(loss, 0.37), create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), x)
        return loss, first, second

    whole = compute()
    with ad.trace() as steps:
        parts = compute()
    assert [name for _, name in describe_scopes(steps)][:2] == ["log_softmax", "nll_loss"]
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(other, one, rtol=0, atol=0, equal_nan=True)


def test_a_loss_that_is_written_in_python_opens_to_its_calls():
    torch.manual_seed(0)
    a, b, c = (torch.rand(3, 4, requires_grad=True) for _ in range(3))
    losses = {
        "gaussian_nll_loss": lambda: functional.gaussian_nll_loss(a, b, c, full=True),
        "multilabel_soft_margin_loss": lambda: functional.multilabel_soft_margin_loss(a, b, c),
        "triplet_margin_with_distance_loss": lambda: functional.triplet_margin_with_distance_loss(
            a, b, c, distance_function=torch.nn.CosineSimilarity(), swap=True, reduction="sum"
        ),
    }
    for name, compute in losses.items():
        expected = torch.autograd.grad(loss := compute(), (a, b, c))
        with ad.trace() as steps:
            shown = compute()
            found = torch.autograd.grad(shown, (a, b, c))
        scopes = describe_scopes(steps)
        assert len(scopes) > 4
        assert all(scope.split("/")[0] == name for scope, _ in scopes)
        assert torch.equal(shown, loss)
        assert all(map(torch.equal, found, expected))
        for part, source in zip(expected, "abc", strict=True):
            np.testing.assert_allclose(find_cotangent(steps, source), part, rtol=1e-5)
        assert "remark" not in {step["kind"] for step in steps.document()["steps"]}


def test_a_loss_that_pytorch_computes_in_one_piece_stays_closed():
    torch.manual_seed(0)
    x, y = torch.rand(2, 3, requires_grad=True), torch.rand(2, 3)
    classes = torch.tensor([0, 2])
    with ad.trace() as steps:
        functional.mse_loss(x, y)
        functional.l1_loss(x, y)
        functional.binary_cross_entropy_with_logits(x, y)
        functional.cross_entropy(x, y)
        functional.cross_entropy(x, classes, label_smoothing=0.1)
        with torch.autocast("cpu"):
            functional.cross_entropy(x, classes)
    names = ["mse_loss", "l1_loss", "binary_cross_entropy_with_logits", *["cross_entropy"] * 3]
    assert describe_scopes(steps) == [("", name) for name in names]


def test_a_loss_that_cannot_be_computed_raises_pytorchs_own_error():
    x = torch.rand(2, 3, requires_grad=True)
    with pytest.raises(TypeError, match="must be Tensor, not list"), ad.trace():
        functional.cross_entropy([[0.0, 1.0]], torch.tensor([0]))
    for target in ([0, 2], torch.tensor([0, 3]), torch.tensor([0, 1, 2]), torch.tensor([0.0, 1.0])):
        with pytest.raises((TypeError, IndexError, ValueError, RuntimeError)) as expected:
            functional.cross_entropy(x, target)
        with pytest.raises(expected.type) as found, ad.trace():
            functional.cross_entropy(x, target)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("code", ["h.data.mul_(5)", "h.detach().mul_(5)", "with torch.no_grad(): h.mul_(5)"])
def test_what_is_written_where_autograd_does_not_see_it_is_said(code):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with ad.trace() as steps:
        h = w * 2
        exec(code)
        loss = (h + 1).sum()
    remarks = [step["text"] for step in list_steps(steps, "remark")]
    assert remarks == ["h was written into by .data, .detach() or no_grad(): autograd ignores that."]
    assert loss == 32


def test_cotangents_are_not_credited_by_position():
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    with ad.trace() as steps:
        y = torch.nn.functional.linear(x, x)  # its first argument is not the first input of its node
        y.sum().backward()
    assert (
        sum(np.array(step["contribution"]["data"]) for step in list_steps(steps, "accumulate")[1:]).tolist()
        == x.grad.tolist()
    )


def test_gradients_add_up_until_they_are_set_to_zero():
    w = torch.tensor(1.0, requires_grad=True)
    with ad.trace() as steps:
        for _ in range(2):
            loss = (w - 3) ** 2
            loss.backward()
        w.grad = None
        loss = w * 2
        loss.backward()
    outcomes = list_steps(steps, "outcome")
    assert {step["word"] for step in outcomes} == {".grad"}
    assert [step["text"] for step in outcomes] == [
        "w.grad is -4.",
        "w.grad was -4 before this pass, which adds to it: w.grad is now -8.",
        "w.grad is 2.",
    ]


def test_an_optimizer_assigns_and_a_module_is_a_scope_with_named_parameters():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    with ad.trace() as steps:
        loss = net(torch.ones(4, 2)).sum()
        loss.backward()
        optimizer.step()
    document = steps.document()
    assert [entry["scope"] for entry in document["entries"]] == [["net", "0"], ["net", "1"], ["net", "2"], []]
    assigned = {
        document["tensors"][step["tensor"]]["name"]: step["value"]["data"] for step in list_steps(steps, "assign")
    }
    for name, value in net.named_parameters():
        np.testing.assert_allclose(assigned[f"net.{name}"], value.detach().numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "clip", [lambda ws: torch.nn.utils.clip_grad_norm_(ws, 1.0), lambda ws: torch.nn.utils.clip_grad_value_(ws, 0.1)]
)
def test_what_clips_gradients_computes_in_one_scope(clip):
    net = torch.nn.Linear(2, 3)
    with ad.trace() as steps:
        net(torch.ones(4, 2)).sum().backward()
        clip(net.parameters())
        net.bias * 2
    scopes = [scope for scope, _ in describe_scopes(steps)]
    assert set(scopes[2:-1]) == {"gradient clipping"}
    assert scopes[-1] == ""


def test_second_derivatives_have_a_tape_of_their_own():
    x = torch.tensor(2.0, requires_grad=True)
    with ad.trace() as steps:
        y = x**3 * x
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (h,) = torch.autograd.grad(g, x)
    document = steps.document()
    assert [tape["name"] for tape in document["tapes"]] == ["autograd 1", "autograd 2"]
    assert [step["gradient"]["data"] for step in list_steps(steps, "outcome")] == [32, 48]
    assert h == 48
    assert "not followed" not in steps.transcript()


def test_writing_into_a_tensor_and_into_a_view_of_it():
    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    with ad.trace() as steps:
        y = x * 2
        y[0] = 5
        y += x
        v = y[1:]
        v *= 3
        y.sum().backward()
    assert x.grad.tolist() == [1, 9, 9]
    assert [step["gradient"]["data"] for step in list_steps(steps, "outcome")] == [[1, 9, 9]]
    assert "not followed" not in steps.transcript()


def test_several_results_of_a_call():
    x = torch.arange(4.0, requires_grad=True)
    with ad.trace() as steps:
        a, b = x.chunk(2)
        top, _ = torch.max(x * 1, dim=0)
        loss = (a * b).sum() + top
        loss.backward()
    assert "chunk(x, 2)[1]" in list_texts(steps)
    assert find_cotangent(steps, "x") == x.grad.tolist()


def test_pauses_cuts_and_numbers_taken_out():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with ad.trace() as steps:
        c = x.detach() * 2
        with torch.no_grad():
            d = x * 3
        e = x.argmax()
        s = x.sum()
        f = s.item()
    kinds = [step["kind"] for step in steps.document()["steps"]]
    assert [kind for kind in kinds if kind not in ("watch", "record", "line")] == [
        *("cut", "skip", "pause", "skip", "resume", "cut", "leave")
    ]
    assert c.requires_grad is d.requires_grad is e.requires_grad is False
    assert f == 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "bfloat16"])
def test_dtypes_are_kept(dtype):
    x = torch.tensor([1.0, 2.0], dtype=getattr(torch, dtype), requires_grad=True)
    with ad.trace() as steps:
        y = (x * x).abs().sum()
        y.backward()
    shown = steps.document()["tensors"][0]["value"]["dtype"]
    assert shown == ("float32" if dtype == "bfloat16" else dtype)  # NumPy has no bfloat16; every value is the same
    np.testing.assert_allclose(
        np.array(find_cotangent(steps, "x"), dtype=complex), x.grad.to(torch.complex64).numpy(), rtol=1e-3
    )


def test_a_function_with_a_backward_of_its_own_is_one_entry():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return 3 * a * g  # wrong on purpose: what PyTorch does is shown

    x = torch.tensor(2.0, requires_grad=True)
    with ad.trace() as steps:
        y = Square.apply(x)
        y.backward()
    assert list_texts(steps) == ["Square.apply(x)"]
    assert find_cotangent(steps, "x") == 6


def test_what_a_hook_changes_is_not_credited_to_a_call():
    x = torch.tensor(2.0, requires_grad=True)
    with ad.trace() as steps:
        y = x * 3
        y.register_hook(lambda g: g * 10)
        z = y * 1
        z.backward()
    assert x.grad == 30
    assert "something else arrived" in steps.transcript()
    assert [step["cotangent"]["data"] for step in list_steps(steps, "pull back")] == [1, 10]


def test_what_was_computed_before_the_trace_is_not_followed():
    x = torch.tensor(2.0, requires_grad=True)
    y = (x * 3).exp()
    with ad.trace() as steps:
        z = y * 2
        z.backward()
    assert "was not followed: ExpBackward0 is its last step" in steps.transcript()
    np.testing.assert_allclose(find_cotangent(steps, "x"), float(x.grad), rtol=1e-5)


def test_what_cannot_be_followed_is_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"doesn't follow torch\.func"), ad.trace():
        torch.func.grad(lambda a: (a * a).sum())(torch.ones(2))
    with pytest.raises(NotImplementedError, match="DataParallel"), ad.trace():
        torch.nn.DataParallel(torch.nn.Linear(1, 1))(torch.ones(1, 1))


def test_a_tensor_without_numbers_is_not_followed():
    with ad.trace() as steps:
        assert (torch.ones(2, device="meta") * 2).device.type == "meta"
    assert "mul is not followed: NumPy cannot hold one of its tensors" in steps.transcript()


@pytest.mark.parametrize("place", ["before", "inside"])
def test_a_compiled_function_runs_as_it_is_written(place):
    program = """
import torch, autodiff_edu as ad
x = torch.arange(3.0, requires_grad=True)
f = torch.compile(lambda a: (a * a).sum()) if PLACE == "before" else None
with ad.trace() as steps:
    f = f or torch.compile(lambda a: (a * a).sum())
    y = f(x)
    y.backward()
print([entry["text"] for entry in steps.document()["entries"]], x.grad)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program.replace("PLACE", repr(place))], capture_output=True, text=True
    )
    assert done.stdout.strip() == "['x1 * x1', 'sum(t1)'] tensor([0., 2., 4.])", done.stderr


def test_a_trace_takes_no_more_memory_than_allowed():
    before, ad.options.most_bytes = ad.options.most_bytes, 1000
    try:
        with pytest.raises(MemoryError, match=r"more than 1,000 bytes.*ad.options.most_bytes"), ad.trace():
            torch.ones(1000, requires_grad=True) * 2
    finally:
        ad.options.most_bytes = before


def test_play_pulls_back_by_itself_unless_the_function_does():
    def f(x):
        return torch.sin(x) * 2

    def own(x):
        torch.sin(x).sum().backward()

    for function in (f, own):
        document = ad.play(function, torch.tensor([0.0, 1.0])).document()
        assert sum(step["kind"] == "seed" for step in document["steps"]) == 1
    with pytest.raises(TypeError, match="nothing leads back"):
        ad.play(lambda x: x.detach(), torch.tensor(1.0))


def test_play_leaves_the_readers_tensors_alone():
    x = torch.tensor([1.0, 2.0])
    net = torch.nn.Linear(2, 1)
    ad.play(lambda x: (x * x).sum(), x)
    ad.play(net, x)
    assert x.requires_grad is False
    assert x.grad is None
    assert net.weight.grad is None


def test_an_error_is_the_last_step_at_its_line():
    x, w = torch.ones(3, 2), torch.ones(3, 1)
    with pytest.raises(RuntimeError) as caught:
        ad.play(lambda x, w: torch.tanh(x @ w), x, w)
    last = caught.value.player.document()["steps"][-1]
    assert last["kind"] == "error"
    assert last["where"] is not None


def test_the_magic_plays_an_unchanged_cell_that_imports_pytorch():
    program = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("import autodiff_edu as ad")
shown = []
shell.display_pub.publish = lambda data, *_, **__: shown.append(data["text/plain"])
shell.run_cell_magic("play", "", "import torch\\nx = torch.tensor(3.0, requires_grad=True)\\n(x * x).backward()")
print(shown[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "x.grad is 6." in done.stdout, done.stderr


def test_our_own_tape_and_pytorch_in_one_trace():
    a, x = ad.Variable(2.0), torch.tensor(3.0, requires_grad=True)
    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            b = a * a
        (x * x).backward()
        tape.gradient(b, a)
    assert [step["gradient"]["data"] for step in list_steps(steps, "outcome")] == [6, 4]


def test_a_layer_that_writes_into_a_view_of_its_weights_can_be_made_in_a_trace():
    with ad.trace() as steps:
        layer = torch.nn.Embedding(3, 2, padding_idx=0)
        loss = layer(torch.tensor([0, 2])).sum()
        loss.backward()
    assert layer.weight.grad.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert [step["gradient"]["data"] for step in list_steps(steps, "outcome")] == [layer.weight.grad.tolist()]


def test_backward_takes_one_tensor_as_its_inputs():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with ad.trace() as steps:
        (x * y * 3).sum().backward(inputs=x)
    assert y.grad is None
    assert [step["text"] for step in list_steps(steps, "outcome")] == ["x.grad is [3 3], of shape (2,)."]


def test_a_pass_that_pytorch_refuses_does_not_start():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"), ad.trace() as steps:
        (x * 2).backward()
    assert list_steps(steps, "seed") == []


def test_what_was_computed_before_the_trace_keeps_its_name():
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 3
    with ad.trace() as steps:
        z = y * 2
        z.backward()
    document = steps.document()
    assert [entry["text"] for entry in document["entries"]] == ["MulBackward0(x)", "y * 2"]
    assert find_cotangent(steps, "y") == 2


def test_what_a_deprecated_function_computes_is_at_the_learners_line():
    x = torch.ones(2, 2, requires_grad=True)
    layer = torch.nn.Linear(2, 1)
    with ad.trace() as steps:
        with pytest.warns(FutureWarning):
            torch.nn.utils.weight_norm(layer)
        layer(x).sum().backward()
    document = steps.document()
    places = {document["code"][entry["where"]["code"]]["place"] for entry in document["entries"]}
    assert len(places) == 1
    assert "typing_extensions" not in places.pop()


def test_a_checkpoint_with_a_pass_of_its_own_says_so():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with ad.trace() as steps:
        torch.utils.checkpoint.checkpoint(lambda a: a * w, x, use_reentrant=True).sum().backward()
    assert w.grad.tolist() == [1, 1]
    assert "Pass use_reentrant=False to see these." in steps.transcript()


def test_what_was_frozen_for_a_while_and_what_a_checkpoint_hides_is_not_called_unused():
    net, x = torch.nn.Linear(2, 1), torch.ones(3, 2, requires_grad=True)
    with ad.trace() as steps:
        net.requires_grad_(False)
        frozen = net(x).sum()
        net.requires_grad_(True)
        hidden = torch.utils.checkpoint.checkpoint(net, x, use_reentrant=True).sum()
        hidden.backward()
    assert "while net.weight required no gradient" in str(steps.explain(frozen, net.weight))
    assert "use_reentrant=False" in str(steps.explain(hidden, net.weight))


def test_a_gradient_that_is_constant_is_not_told_to_be_recorded():
    x = torch.tensor(2.0, requires_grad=True)
    with ad.trace() as steps:
        (g,) = torch.autograd.grad(3 * x, x, create_graph=True)
        z = g * 2
    told = str(steps.explain(z, x))
    assert "although create_graph=True" in told
    assert "Write create_graph=True" not in told


def test_a_frozen_module_is_played_with_respect_to_its_input():
    net = torch.nn.Linear(2, 1).requires_grad_(False)
    assert "shape (3, 2)" in repr(ad.play(net, torch.ones(3, 2)).document()["steps"][-1]["text"])


def test_the_example_of_explain_runs_as_the_reference_shows_it():
    (example,) = DocTestFinder(recurse=False).find(ad.Trace.explain, "explain", globs={})
    for line in example.examples:
        line.options.clear()  # without PyTorch it is skipped
    assert DocTestRunner().run(example).failed == 0
