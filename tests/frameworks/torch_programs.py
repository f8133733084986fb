"""Random programs for PyTorch, as text: each line is drawn, run at once, and kept if PyTorch takes it."""

from __future__ import annotations

import random
import warnings
from typing import Any

import torch

HEADER = """\
import torch
import torch.nn.functional as F


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.variable = 3
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, scale):
        ctx.save_for_backward(x, y)
        ctx.scale = scale
        return x * y * scale, x - y

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y * ctx.scale + h, g * x * ctx.scale - h, None


class Net(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.first = torch.nn.Linear(n, 3)
        self.norm = torch.nn.LayerNorm(3)
        self.body = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(3, 2, bias=False))

    def forward(self, x):
        h = self.norm(self.first(x))
        return self.body(h) + h[..., :2]


"""

VALUES = [
    "-{a}", "abs({a})", "{a}.sin()", "torch.exp(-{a} * {a})", "torch.tanh({a})", "({a} * {a} + 1).sqrt()", "{a} ** 2",
    "2 ** {a}", "{a} ** {k}", "1 - {a}", "{a} / 2", "2 * {a}", "{a} * {f}", "{f} / ({a} * {a} + 1)", "{a} + {k}",
    "torch.sigmoid({a})", "F.softplus({a})", "torch.log1p({a}.abs())", "{a}.square()", "torch.atan({a})",
    "torch.clamp({a}, -0.5, 0.5)", "{a}.clamp(min=0)", "torch.relu({a})", "F.leaky_relu({a}, 0.1)", "F.gelu({a})",
    "F.elu({a})", "F.silu({a})", "F.hardtanh({a})", "torch.sign({a}) * {a}", "torch.floor({a}) + {a}", "{a} % 2",
    "{a}.round()", "torch.nan_to_num({a})", "torch.cos({a})", "torch.special.expit({a})", "{a}.erf()",
    "torch.lerp({a}, {b}, 0.3)", "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / ({b} * {b} + 1)", "{a} @ {b}",
    "torch.maximum({a}, {b})", "torch.minimum({a}, {b})", "torch.maximum({a}, {a})", "{a} * {a}", "{a} - {a}",
    "torch.sub({a}, {a})", "torch.sub(other={a}, input={b})", "torch.sub(other={a}, input={a})",
    "torch.sub({a}, {b}, alpha=2)", "torch.rsub({a}, {b})", "torch.atan2({a}, {b})", "torch.hypot({a}, {b})",
    "torch.addcmul({a}, {b}, {c}, value=0.5)", "torch.add({a}, {b}, alpha=3)",
    "torch.addcdiv({a}, {b}, {c} * {c} + 1)", "torch.fmod({a}, {k})", "torch.where({a} > 0, {a}, {b})",
    "torch.where({m}, {a}, {b})", "torch.where({m}, {a}, 0.5)", "torch.where({m}, 1.0, {a})",
    "torch.masked_fill({a}, {m}, {f})", "{a}.masked_fill({m}, 0.0)", "{a}[{m}]", "torch.masked_select({a}, {m})",
    "{a} * {m}", "{m} * {a}", "{i} * {a}", "{a} + {i}", "{a}[{i}]", "{a}.sum()", "{a}.sum({d})",
    "{a}.sum(dim={d}, keepdim=True)", "{a}.mean()", "{a}.mean({d}, keepdim=True)", "torch.prod({a}, {d})",
    "{a}.max()", "{a}.min()", "{a}.amax({d})", "{a}.amin(dim={d}, keepdim=True)", "torch.amax(F.relu({a}), {d})",
    "{a}.std()", "{a}.var({d})", "{a}.norm()", "torch.linalg.vector_norm({a}, dim={d})", "torch.logsumexp({a}, {d})",
    "{a}.cumsum({d})", "torch.cumprod({a}, {d})", "torch.max({a}, {d}).values", "torch.max({a}, dim={d})[0]",
    "{a}.sort({d}).values", "{a}.sort(dim={d}, descending=True)[0]", "torch.topk({a}, 2, dim={d}).values",
    "{a}.median()", "{a}.flip({d})", "torch.roll({a}, 1, {d})", "torch.diff({a}, dim={d})", "torch.matmul({a}, {b})",
    "{a} @ {a}.T", "{a}.T @ {b}", "torch.mm({a}, {b})", "torch.bmm({a}, {b})", "{a}.mT @ {a}",
    "torch.einsum('ij,kj->ik', {a}, {b})", "torch.einsum('ij,ij->', {a}, {a})", "torch.einsum('i,j->ij', {a}, {b})",
    "torch.einsum('ij,jk,kl->il', {a}, {b}, {c})", "torch.einsum('bij,bjk->bik', {a}, {b})", "torch.outer({a}, {b})",
    "torch.addmm({a}, {b}, {c})", "torch.tensordot({a}, {b}, dims=1)", "torch.dot({a}, {a})", "torch.cdist({a}, {b})",
    "torch.linalg.det({a})", "torch.trace({a})", "torch.diagonal({a})", "torch.tril({a})", "torch.kron({a}, {b})",
    "torch.cross({a}, {b}, dim=-1)", "torch.linalg.solve({a} @ {a}.T + torch.eye(3, dtype={a}.dtype), {b})",
    "torch.linalg.inv({a} @ {a}.mT + 2 * torch.eye(3, dtype={a}.dtype))", "{a}[0]", "{a}[-1]", "{a}[:, 0]",
    "{a}[..., 1:]", "{a}[::2]", "{a}[None]", "{a}[[0, 0, 1]]", "{a}.T", "{a}.mT", "{a}.reshape(-1)", "{a}.view(-1)",
    "{a}.flatten()", "{a}.unsqueeze({d})", "{a}.squeeze()", "{a}.expand(2, *{a}.shape)",
    "{a}.repeat(2, *[1] * {a}.dim())", "{a}.transpose(0, -1)", "{a}.movedim(0, -1)", "torch.permute({a}, (1, 0))",
    "{a}.narrow({d}, 0, 1)", "{a}.select({d}, 0)", "{a}.clone()", "{a}.contiguous()", "{a}.expand_as({b})",
    "torch.broadcast_to({a}, (2, 3))", "{a}.reshape({b}.shape)", "torch.atleast_2d({a})",
    "{a}.gather({d}, {a}.argsort({d}))", "{a}.index_select(0, {i})",
    "torch.take_along_dim({a}, {a}.argmax({d}, keepdim=True), {d})", "{a}.unfold(0, 2, 1)",
    "torch.scatter_add(torch.zeros_like({a}), 0, {a}.argsort(0), {a})", "torch.stack([{a}, {b}])",
    "torch.stack([{a}, {a}], dim=-1)", "torch.cat([{a}, {b}])", "torch.cat([{a}, {a}], dim={d})",
    "torch.cat((1 - {a}, {b} * 2), -1)", "torch.cat([{a}[:1], {b}[1:]])", "torch.vstack([{a}, {b}])",
    "torch.block_diag({a}, {b})", "torch.cartesian_prod({a}, {b})", "F.pad({a}, (1, 1))", "F.softmax({a}, dim={d})",
    "F.log_softmax({a}, {d})", "{a}.softmax(-1)", "F.layer_norm({a}, {a}.shape[-1:])",
    "F.layer_norm({a}, (3,), {b}, {c})", "F.layer_norm({a}, (3,), bias={b}, weight={b})",
    "F.cross_entropy({a}, {i}[: {a}.shape[0]])", "F.cross_entropy({a}, F.softmax({b}, -1))",
    "F.nll_loss(F.log_softmax({a}, 1), {i}[: {a}.shape[0]])", "F.mse_loss({a}, {b})", "F.mse_loss({a}, {a})",
    "F.mse_loss({a}, torch.ones_like({a}), reduction='none')", "F.l1_loss({a}, {b})", "F.smooth_l1_loss({a}, {b})",
    "F.huber_loss({a}, {b}, delta=0.5)", "F.binary_cross_entropy_with_logits({a}, torch.sigmoid({b}))",
    "F.binary_cross_entropy(torch.sigmoid({a}), torch.sigmoid({b}))",
    "F.kl_div(F.log_softmax({a}, -1), F.softmax({b}, -1), reduction='batchmean')",
    "F.cosine_similarity({a}, {b}, dim={d})", "F.normalize({a}, dim={d})", "F.linear({a}, {b})", "F.linear({a}, {a})",
    "F.linear({a}, {b}, {c})", "F.linear({a}, {a}, {b})",
    "F.bilinear({a}, {b}, torch.ones(2, 3, 3, dtype={a}.dtype))", "F.conv1d({a}, {b})", "F.conv1d({a}, {a})",
    "F.conv1d({a}, {b}, padding=1)", "F.embedding({i}, {a})", "F.embedding(torch.tensor([0, 1, 0]), {a})",
    "F.scaled_dot_product_attention({a}, {b}, {c})", "F.scaled_dot_product_attention({a}, {a}, {a})",
    "F.scaled_dot_product_attention({a}, {b}, {b}, is_causal=True)", "F.dropout({a}, 0.4)",
    "F.dropout({a}, p=0.5, training=True)", "F.glu({a})", "F.avg_pool1d({a}, 2)", "F.max_pool1d({a}, 2)",
    "F.prelu({a}, {b}[:1])", "F.batch_norm({a}, None, None, training=True)", "F.group_norm({a}, 1)",
    "F.one_hot({i}, 4) * {f} + {a}.sum()", "F.pairwise_distance({a}, {b})", "{a}.detach()", "{a}.data * {b}",
    "{a} * {b}.detach()", "torch.zeros_like({a}) + {a}", "{a}.double()", "{a}.float()", "{a}.to({b}.dtype)",
    "{a}.half()", "torch.complex({a}, {b})", "{a}.to(torch.complex64)", "{a}.real", "{a}.imag",
    "torch.view_as_real({a})", "{a}.conj()", "{a} * {a}.conj()", "{a} * 1j", "torch.polar({a}.abs(), {b})",
    "torch.fft.fft({a})", "{a}.abs()", "{a}.angle()", "torch.tensor({f}) * {a}", "{a}.item() * {b}",
    "{a}.numel() * {a}", "sum([{a}, {b}, {a}])", "sum({a})", "(lambda t: t * t + 1)({a})",
    "torch.compiler.disable(torch.sin)({a})", "Cube.apply({a})", "Cube.apply(Cube.apply({a}))",
    "Both.apply({a}, {b}, 2.0)[0]", "Both.apply({a}, {a}, 0.5)[1]", "Both.apply({a}, {b}, 1.5)[1]", "{a}.unbind()[0]",
    "{a}.chunk(2)[0]", "{a}.split(1)[-1]", "{a}.split([1, 1, 1])[1]", "torch.meshgrid({a}, {b}, indexing='ij')[0]",
    "torch.var_mean({a})[0]", "torch.aminmax({a})[1]", "torch.linalg.qr({a})[0]", "torch.linalg.eigh({a} @ {a}.T)[0]",
]  # fmt: skip
"""Expressions of tensors `a`, `b`, `c`, a mask `m`, indices `i`, a dimension `d` and numbers `k` and `f`."""

PAIRS = [
    "{n}, {o} = Both.apply({a}, {b}, {f})", "{n}, {o} = Both.apply({a}, {a}, {f})", "{n}, {o} = {a}.unbind()",
    "{n}, {o}, *_ = {a}", "{n}, {o} = {a}.chunk(2, -1)", "{n}, {o} = {a}.split([1, 2], -1)",
    "{n}, {o} = torch.max({a}, {d})", "{n}, {o} = torch.var_mean({a}, {d})", "{n}, {o} = torch.std_mean({a})",
    "{n}, {o} = torch.aminmax({a})", "{n}, {o} = torch.meshgrid({a}, {b}, indexing='ij')", "{n}, {o} = {a}.sort({d})",
    "{n}, {o} = torch.frexp({a})", "{n}, {o} = torch.linalg.eigh({a} + {a}.mT)",
    "{n}, {o} = torch.broadcast_tensors({a}, {b})", "{n}, {o} = {a} * 2, {a} + {b}", "{n} = {o} = {a} * {b}",
    "{n}, {o} = torch.tensor_split({a}, 2)",
    "{n}, {o} = torch.linalg.slogdet({a} @ {a}.mT + torch.eye(3, dtype={a}.dtype))",
]  # fmt: skip

WRITES = [
    "{a}[0] = {f}", "{a}[0] = {b}", "{a}[0] = {b}[0]", "{a}[..., 1:] = {b}[..., 1:]", "{a}[{m}] = 0.0",
    "{a}[{m}] = {f}", "{a}[{i}] = {b}", "{a} += {b}", "{a} -= 1", "{a} *= {b}", "{a} /= 2", "{a} *= 2.0",
    "{a}.mul_({f})", "{a}.add_({b})", "{a}.add_({b}, alpha=2)", "{a}.zero_()", "{a}.fill_({f})", "{a}.copy_({b})",
    "{a}.clamp_(min=0)", "{a}.relu_()", "{a}.tanh_()", "{a}.exp_()", "{a}.neg_()", "F.relu({a}, inplace=True)",
    "{a}.masked_fill_({m}, {f})", "{a}.index_add_(0, {i}, {b})", "{a}.index_fill_(0, {i}[:1], 2.0)", "{a}[0].mul_(3)",
    "{a}[:, 0].add_({b}[:, 0])", "{a}[1:] *= {b}[1:]", "{a}[0, 0] += 1", "{a}.T.mul_({f})", "{a}.view(-1)[0] = 7.0",
    "{a}.diagonal().add_(1)", "torch.sub({a}, {b}, alpha=2).mul_({a})", "{a}.squeeze_()", "{a}.unsqueeze_(0)",
    "{a}.t_()", "{a}.detach_()", "{a}.sub_({a})", "torch.add({b}, {b}.detach(), out={a}.detach())",
    "{a}.requires_grad_()", "{a}.scatter_(0, {i}[None], {b})", "{a}.lerp_({b}, 0.25)", "{a}.addcmul_({b}, {b})",
    "{a}.data.mul_(2)", "{a}.detach().add_(1)", "{a}.transpose_(0, -1)", "{a}.addmm_({b}, {c})",
    "{a}.squeeze().add_({b})",
]  # fmt: skip

VIEWS = [
    "{n} = {a}[0]", "{n} = {a}[1:]", "{n} = {a}.view(-1)", "{n} = {a}.T", "{n} = {a}[..., :2]",
    "{n} = {a}.diagonal()", "{n} = {a}.unsqueeze(0)", "{n} = {a}.reshape(-1)",
]  # fmt: skip
"""Views, which one of `WRITES` follows."""

BLOCKS = [
    "with torch.no_grad():\n    {n} = {a} * {b}\n    {o} = {a} + 1",
    "with torch.no_grad():\n    {n} = {a} * 2\n    with torch.enable_grad():\n        {o} = {a} * {b}",
    "with torch.set_grad_enabled(False):\n    {n} = {a}.sum()",
    "torch.set_grad_enabled(False)\n{n} = {a} * 3\ntorch.set_grad_enabled(True)",
    "with torch.inference_mode():\n    {n} = {a} * 2\n    {n} += 1",
    "{n} = {a}\nfor k in range(3):\n    {n} = torch.tanh({n} * {b})",
    "{n} = {a}\nfor k in range(2):\n    {n} = {n} * {a} if k else {n} + {b}",
    "{n} = torch.zeros_like({a})\nfor k in range(len({a})):\n    {n}[k] = {a}[k] * (k + 1)",
    "{n} = 0\nfor row in {a}:\n    {n} = {n} + row * {f}",
    "{n} = torch.stack([row * k for k, row in enumerate({a})])",
    "{n} = {a} * 2\n{n} += {b}\n{n}[0] = {f}",
    "{n} = {a}.clone()\n{n}[0] = {b}[0]\n{n}.mul_(2)",
    "{n} = {a} * 1\nview = {n}[0]\nview.mul_({f})\n{o} = view * {n}",
    "{n} = {a} * 1\nview = {n}[0]\nother = {n}[1]\nview.add_(other)\n{o} = other * view",
    "{n} = {a} * 1\nview = {n}[0]\n{n}.mul_({f})\n{o} = view * 3",
    "{n} = torch.zeros({a}.shape, dtype={a}.dtype)\nview = {n}[0]\nview.copy_({a}[0])\n{o} = {n} * 2",
    "{n} = torch.empty_like({a})\n{n}[:] = {a}\n{n}[1:] += {b}[1:]",
    "for part in ({a} * 1).unbind():\n    {n} = part * 2",
    "{n} = (\n    {a}\n    * {b}\n    + {c}\n)",
    "{n} = torch.where(\n    {a} > 0,\n    {a} * 2,\n    {b},\n)",
    "if {a}.sum() > 0:\n    {n} = {a} * 2\nelse:\n    {n} = {b} - 1",
    "def inner(t, u=2):\n    h = t * u\n    return h + t\n{n} = inner({a}, {f})",
    "torch.manual_seed({k})\n{n} = F.dropout({a}, 0.5)",
    "torch.manual_seed({k})\n{n} = torch.rand_like({a}) * {a}",
    "{n} = torch.bernoulli(torch.sigmoid({a})) * {b}",
    "net = torch.nn.Linear({a}.shape[-1], 2, dtype={a}.dtype)\n{n} = net({a})",
    "net = Net({a}.shape[-1]).to({a}.dtype)\n{n} = net({a})",
    (
        "net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4)).to({a}.dtype)\n"
        "{n} = net({a})"
    ),
    "net = torch.nn.Embedding(4, 3)\n{n} = net({i})",
    "net = torch.nn.BatchNorm1d(3).to({a}.dtype)\n{n} = net({a})",
    "net = torch.nn.Conv1d({a}.shape[-2], 2, 2).to({a}.dtype)\n{n} = net({a})",
    (
        "z = ({a}.sum() * torch.ones(2, 3)).abs()\n"
        "net = torch.nn.LSTMCell(3, 2)\n"
        "h, c = net(z)\n"
        "h, c = net(z * 2, (h, c))\n"
        "{n} = h * 2\n"
        "{o} = c - 1"
    ),
    "z = ({a}.sum() * torch.ones(2, 2, 3)).abs()\nnet = torch.nn.LSTM(3, 2, 2)\n{n}, (h, {o}) = net(z)",
    "z = ({a}.sum() * torch.ones(2, 3)).abs()\nnet = torch.nn.GRU(3, 2)\n{n}, {o} = net(z)",
    ("z = ({a}.sum() * torch.ones(2, 4)).abs()\nnet = torch.nn.MultiheadAttention(4, 2)\n{n}, {o} = net(z, z * 2, z)"),
    "lost = {a} * {b}\ndel lost\n{n} = {a} + 1",
    "{n} = torch.nn.Parameter({a}.detach().clone())\n{o} = {n} * {b}",
    "{n} = {a} + 0\n{n}.retain_grad()\n{o} = {n} * 2",
    "{n} = torch.utils.checkpoint.checkpoint(torch.tanh, {a}, use_reentrant=False)",
]

HOOKS = [
    "{n} = {a} * 1\n{n}.register_hook(lambda g: g * 2)\n{o} = {n} * {b}",
    "{x}.register_hook(lambda g: 0.5 * g)\n{n} = {x} * {b}",
    "{n} = {a} + {b}\n{n}.register_hook(lambda g: None)",
    "{n} = {a} + {b}\n{n}.register_hook(lambda g: g.clamp(-1, 1))",
]
"""What changes gradients on their way, which a trace says it has not followed."""

PASSES = [
    "loss.backward()",
    "loss.backward(retain_graph=True)\nloss.backward()",
    "loss.backward(retain_graph=True)\n{x}.grad = None\nloss.backward()",
    "loss.backward(torch.tensor(2.0, dtype=loss.dtype))",
    "torch.autograd.backward([loss, {a}.abs().sum()])",
    "torch.autograd.backward(loss, inputs=[{x}])",
    "loss.backward(inputs=[{x}])",
    "(g,) = torch.autograd.grad(loss, {x}, allow_unused=True)",
    "grads = torch.autograd.grad(loss, [{x}, {y}], allow_unused=True)",
    "grads = torch.autograd.grad(loss, ({x}, {a}), allow_unused=True, retain_graph=True)\nloss.backward()",
    (
        "seeds = [torch.tensor(3.0, dtype=loss.dtype), None]\n"
        "grads = torch.autograd.grad([loss, {a}.abs().sum()], [{x}], seeds, allow_unused=True)"
    ),
    ("(g,) = torch.autograd.grad(loss, {x}, create_graph=True)\nsecond = (g * g.conj()).real.sum()\nsecond.backward()"),
    (
        "(g,) = torch.autograd.grad(loss, {x}, create_graph=True)\n"
        "(h,) = torch.autograd.grad(g.abs().sum(), {x}, create_graph=True)\n"
        "h.abs().sum().backward()"
    ),
    "(g,) = torch.autograd.grad(loss, {x}, create_graph=True)\n(loss + (g * g.conj()).real.sum()).backward()",
    (
        "grads = torch.autograd.grad(loss, [{x}, {y}], create_graph=True)\n"
        "penalty = sum((g * g.conj()).real.sum() for g in grads)\n"
        "penalty.backward(retain_graph=True)\n"
        "loss.backward()"
    ),
    "{a}.backward(torch.ones_like({a}), retain_graph=True)\nloss.backward()",
    (
        "opt = torch.optim.SGD([{x}], lr=0.1, momentum=0.9)\n"
        "opt.zero_grad()\n"
        "loss.backward()\n"
        "opt.step()\n"
        "({x} * {x}.conj()).real.sum().backward()"
    ),
    (
        "opt = torch.optim.Adam([{x}, {y}], lr=0.1)\n"
        "for k in range(3):\n"
        "    opt.zero_grad()\n"
        "    error = ({x} * 2).abs().sum() + {y}.abs().mean()\n"
        "    error.backward()\n"
        "    opt.step()"
    ),
    "loss.backward()\n{x}.grad.zero_()\n({x} * {x}).abs().sum().backward()",
    (
        "loss.backward()\n"
        "with torch.no_grad():\n"
        "    {x} -= 0.1 * ({x}.grad if {x}.grad is not None else 1)\n"
        "    {x}.grad = None\n"
        "({x} * {x}).abs().sum().backward()"
    ),
    "loss.backward()\nwith torch.no_grad():\n    {x}.mul_(0.5)\n({x} * {f}).abs().sum().backward()",
    "loss.backward()\n{x}.data = {x}.data * 2\n({x} * {x}).abs().sum().backward()",
]

MASKS = ["{a} > 0", "{a} != {b}", "({a} > 0) & ({a} < 1)", "{a}.isnan()"]

KINDS = {"value": VALUES, "pair": PAIRS, "write": WRITES, "block": BLOCKS, "hook": HOOKS, "mask": MASKS, "view": VIEWS}

SHAPES = ["3", "2, 3", "3, 3", "2, 2, 3", "1, 3", "2, 1", "3, 3, 3", ""]
DTYPES = ["float32"] * 5 + ["float64"] * 3 + ["float16", "bfloat16", "complex64"]


class Writer:
    """Draws the lines of a program, and keeps those that run."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.space: dict[str, Any] = {}
        self.hooked = False
        exec(HEADER, self.space)

    def values(self, fits: Any) -> list[str]:
        """List the names of the tensors that fit."""
        return [name for name, value in self.space.items() if isinstance(value, torch.Tensor) and is_true(fits, value)]

    def run(self, text: str) -> bool:
        """Add lines to the program, if they run."""
        before = dict(self.space)
        try:
            exec(text, self.space)
        except Exception:
            self.space = before
            return False
        finally:
            torch.set_grad_enabled(True)
        self.lines += text.split("\n")
        return True

    def fill(self, template: str) -> str | None:
        """Put names and numbers in the places of a template."""
        floats = self.values(lambda t: t.is_floating_point() or t.is_complex())
        recent = floats[-4:]
        chosen = [self.draw.choice(floats if self.draw.random() < 0.5 else recent) for _ in range(3)]
        leaves = self.values(lambda t: t.is_leaf and t.requires_grad and (t.is_floating_point() or t.is_complex()))
        masks, indices = self.values(lambda t: t.dtype == torch.bool), self.values(lambda t: t.dtype == torch.int64)
        names = dict(zip("abc", chosen, strict=True))
        names |= {"m": self.draw.choice(masks), "i": self.draw.choice(indices)}
        names |= {"x": leaves[0], "y": self.draw.choice(leaves), "n": f"t{len(self.space)}", "o": f"u{len(self.space)}"}
        numbers = {
            "d": self.draw.choice([-1, 0, -1, 1]),
            "k": self.draw.choice([1, 2, 3, -2]),
            "f": self.draw.choice([0.5, 1.5, -2.0, 3.0]),
        }
        return template.format(**names, **numbers)

    def line(self) -> bool:
        """Add a drawn statement."""
        kind = self.draw.choices([*KINDS], [60, 9, 9, 15, 2, 3, 6])[0]
        text = self.fill(self.draw.choice(KINDS[kind]))
        if kind in ("value", "mask"):
            return self.run(f"{kind[0]}{len(self.space)} = {text}")
        self.hooked |= kind == "hook"
        if kind != "view" or not self.run(text):
            return kind != "view" and self.run(text)
        return self.run(self.fill(self.draw.choice(WRITES).replace("{a}", list(self.space)[-1])))

    def program(self) -> str:
        """Draw a whole program."""
        self.run(f"torch.manual_seed({self.draw.randrange(1000)})")
        dtype = self.draw.choice(DTYPES)
        for k in range(self.draw.choice([2, 2, 3])):
            shape = self.draw.choice(SHAPES)
            grad = ", requires_grad=True" if k < 2 else ""
            kind = self.draw.choice(["randn", "randn", "ones" if self.draw.random() < 0.3 else "rand"])
            self.run(f"x{k} = torch.{kind}({shape or '()'}, dtype=torch.{dtype}{grad})")
        self.run("i = torch.tensor([0, 2, 1])")
        self.run("m = torch.tensor([True, False, True])")
        count = self.draw.randrange(3, 12)
        while count:
            count -= self.line()
        parts = self.values(lambda t: t.requires_grad and (t.is_floating_point() or t.is_complex()))[-4:]
        real = {part: f"{part}.abs()" if self.space[part].is_complex() else part for part in parts}
        total = " + ".join(f"{real[part]}.{self.draw.choice(['sum', 'mean', 'sum'])}()" for part in parts)
        self.run(f"loss = {total}")
        for _ in range(self.draw.choice([1, 1, 2])):
            text = self.fill(self.draw.choice(PASSES))
            if not self.run(text):
                return ""
        return (
            HEADER
            + "def program():\n"
            + "".join(f"    {line}\n" for line in self.lines)
            + "    return dict(locals())\n"
        )


def is_true(fits: Any, value: torch.Tensor) -> bool:
    """Return whether a tensor fits; one whose base has been written into may refuse to say."""
    try:
        return bool(fits(value))
    except RuntimeError:
        return False


def write_program(seed: int) -> tuple[str, bool]:
    """Return the text of a program that runs, and whether it has hooks that change gradients."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for again in range(50):
            writer = Writer(1000 * seed + again)
            if text := writer.program():
                return text, writer.hooked
    raise AssertionError(f"no program runs: {seed}")
