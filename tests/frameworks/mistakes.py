"""Programs as people post them about PyTorch: each with its symptom, the line to blame, and a repair.

`# <-` marks the line to blame, and is taken away before the program runs.
"""

from __future__ import annotations

from typing import NamedTuple

MARK = "  # <-"

NO_GRAD_FN = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
MODIFIED = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation"
)
SECOND_TIME = "RuntimeError: Trying to backward through the graph a second time"
NOT_SCALAR = "RuntimeError: grad can be implicitly created only for scalar outputs"
LEAF_WRITTEN = "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation"
LEAF_VIEW_WRITTEN = "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation"
NOT_IN_THE_GRAPH = "RuntimeError: The differentiated Tensor at index "


class Mistake(NamedTuple):
    """A program with a typical mistake.

    Attributes
    ----------
    name : str
        What goes wrong, in a few words.
    marked : str
        The code, with the line to blame marked.
    note : tuple of str
        What the note says about the cause, and about the repair.
    repair : tuple of (str, str)
        What to replace in the code, and by what.
    holds : str
        An expression that is true after the repaired code.
    error : str
        The first words of the error that PyTorch or Python raises; empty if there is none.
    silent : str
        Without an error: an expression that is true after the code, and shows that it went wrong.
    asked : str
        Without an error: the target and the source to ask about.
    """

    name: str
    marked: str
    note: tuple[str, ...]
    repair: tuple[tuple[str, str], ...]
    holds: str
    error: str = ""
    silent: str = ""
    asked: str = ""

    @property
    def code(self) -> str:
        """The code as it was posted."""
        return self.marked.lstrip("\n").replace(MARK, "")

    @property
    def line(self) -> int:
        """The number of the line to blame, from 1."""
        (number,) = (n for n, line in enumerate(self.marked.lstrip("\n").splitlines(), 1) if line.endswith(MARK))
        return number

    @property
    def repaired(self) -> str:
        """The code with its repair."""
        code = self.code
        for old, new in self.repair:
            assert code.count(old) == 1, (self.name, old)
            code = code.replace(old, new)
        return code


# "element 0 of tensors does not require grad": nothing leads from the loss to a tensor that requires a gradient -------

CUT = (
    Mistake(
        "item in the middle",
        """
import torch

x = torch.tensor([1.0, 2.0, 3.0])
y = torch.tensor([2.0, 4.0, 6.0])
w = torch.tensor(0.5, requires_grad=True)

slope = w.item()  # <-
loss = ((slope * x - y) ** 2).mean()
loss.backward()
""",
        note=("w.item()", "Compute with w itself"),
        repair=(("w.item()", "w"),),
        holds="w.grad.item() == -14.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "item at the end",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.ones(4, 3), torch.zeros(4, 1)

loss = nn.functional.mse_loss(model(x), y).item()  # <-
print("loss:", loss)
optimizer.zero_grad()
loss.backward()
""",
        note=(".item()", "backward()"),
        repair=(("y).item()", "y)"), ('"loss:", loss', '"loss:", loss.item()')),
        holds="torch.allclose(model.bias.grad, 2 * model(x).mean())",
        error="AttributeError: 'float' object has no attribute 'backward'",
    ),
    Mistake(
        "items added up",
        """
import torch

w = torch.tensor(1.0, requires_grad=True)
total = 0.0
for x, y in [(1.0, 2.0), (2.0, 4.0)]:
    loss = (w * x - y) ** 2
    total += loss.item()  # <-
total = total / 2
total.backward()
""",
        note=("loss.item()", "a plain number", "backward()", "where you print"),
        repair=(("loss.item()", "loss"),),
        holds="w.grad.item() == -5.0",
        error="AttributeError: 'float' object has no attribute 'backward'",
    ),
    Mistake(
        "detach",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
x, y = torch.ones(5, 2), torch.zeros(5, 1)
print("largest weight:", model.weight.max().item())

prediction = model(x).detach()  # <-
loss = nn.functional.mse_loss(prediction, y)
loss.backward()
""",
        note=("detach()", "cuts the flow", "Use "),
        repair=(("model(x).detach()", "model(x)"),),
        holds="torch.allclose(model.bias.grad, 2 * prediction.mean())",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a number as an index",
        """
import torch

w = torch.tensor(1.75, requires_grad=True)
table = torch.arange(5.0) ** 2

k = int(w)  # <-
loss = table[k] ** 2
loss.backward()
""",
        note=("int(w)", "As an index", "no slope with respect to w"),
        repair=(("table[k] ** 2", "table[k] + (w - k) * (table[k + 1] - table[k])"),),
        holds="w.grad.item() == 3.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "an integer that is only printed",
        """
import torch

w = torch.tensor(1.75, requires_grad=True)
v = torch.tensor(2.0, requires_grad=True)
print("epoch", int(w))

v.requires_grad_(False)  # <-
loss = (v * 3) ** 2
loss.backward()
""",
        note=("v.requires_grad_(False)", "switches the gradient off"),
        repair=(("requires_grad_(False)", "requires_grad_(True)"),),
        holds="v.grad.item() == 36.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a number of turns",
        """
import torch

w = torch.tensor(2.5, requires_grad=True)
x = torch.tensor(3.0)

turns = int(w)  # <-
y = torch.tensor(1.0)
for _ in range(turns):
    y = y * x
y.backward()
""",
        note=("int(w)", "in range()", "no slope with respect to w"),
        repair=(("torch.tensor(1.0)\nfor", "x**w\nfor"),),
        holds="abs(w.grad.item() - 9 * 3.0**2.5 * 1.0986123) < 1e-2",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "data",
        """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
target = torch.tensor([0.0, 1.0])

weights = w.data  # <-
loss = ((weights - target) ** 2).sum()
loss.backward()
print(w.grad)
""",
        note=("w.data", "Compute with w itself"),
        repair=(("w.data", "w"),),
        holds="w.grad.tolist() == [2.0, 2.0]",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "no_grad around the forward pass",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
x, y = torch.ones(5, 2), torch.zeros(5, 1)

def predict(x):
    with torch.no_grad():
        return model(x)  # <-

loss = ((predict(x) - y) ** 2).mean()
loss.backward()
""",
        note=("torch.no_grad()", "Move this line out of"),
        repair=(("    with torch.no_grad():\n        return", "    return"),),
        holds="torch.allclose(model[2].bias.grad, 2 * model(x).mean())",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a new tensor of losses",
        """
import torch

w = torch.tensor(1.0, requires_grad=True)
data = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)]

losses = []
for x, y in data:
    losses.append((w * x - y) ** 2)
loss = torch.tensor(losses).mean()  # <-
loss.backward()
""",
        note=("torch.tensor(losses)", "torch.stack"),
        repair=(("torch.tensor(losses)", "torch.stack(losses)"),),
        holds="torch.allclose(w.grad, torch.tensor(-28.0 / 3))",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "through NumPy and back",
        """
import numpy as np
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
w = torch.tensor([0.5, -0.5], requires_grad=True)

scores = (x @ w).detach().numpy()  # <-
scores = np.clip(scores, 0.0, 1.0)
loss = torch.from_numpy(scores + 1.0).log().sum()
loss.backward()
""",
        note=("numpy()", "the plain numbers of x @ w"),
        repair=(
            ("(x @ w).detach().numpy()", "x @ w"),
            ("np.clip(scores, 0.0, 1.0)", "torch.clamp(scores, -1.0, 1.0)"),
            ("torch.from_numpy(scores + 1.0)", "(scores + 1.0)"),
        ),
        holds="w.grad.tolist() == [8.0, 12.0]",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "an integer dtype",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(1, 1)
hours = torch.tensor([[1.0], [2.0], [3.0]])
visitors = torch.tensor([[10], [20], [30]])

prediction = model(hours).int()  # <-
loss = ((prediction - visitors) ** 2).float().mean()
loss.backward()
""",
        note=(".int()", "integers", "floating point"),
        repair=(("model(hours).int()", "model(hours)"),),
        holds="torch.allclose(model.bias.grad, 2 * (prediction - visitors).mean())",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "argmax",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
x, labels = torch.eye(4), torch.tensor([0, 1, 2, 0])

predicted = model(x).argmax(dim=1)  # <-
loss = nn.functional.l1_loss(predicted.float(), labels.float())
loss.backward()
""",
        note=("argmax", "integers", "cross_entropy"),
        repair=(
            ("predicted = model(x).argmax(dim=1)", "logits = model(x)"),
            ("l1_loss(predicted.float(), labels.float())", "cross_entropy(logits, labels)"),
        ),
        holds="torch.allclose(model.bias.grad.sum(), torch.tensor(0.0), atol=1e-6) and model.bias.grad.norm() > 0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a comparison",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = torch.tensor([[0.0], [1.0], [1.0]])

with torch.no_grad():
    print("before:", model(x).sigmoid().round().squeeze().tolist())
positive = model(x) > 0  # <-
error_rate = (positive != y.bool()).float().mean()
error_rate.backward()
""",
        note=("model(x) > 0", "booleans", "binary_cross_entropy_with_logits"),
        repair=(
            ("positive = model(x) > 0", "logits = model(x)"),
            ("(positive != y.bool()).float().mean()", "nn.functional.binary_cross_entropy_with_logits(logits, y)"),
        ),
        holds="torch.allclose(model.bias.grad, (torch.sigmoid(logits) - y).mean())",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "requires_grad forgotten",
        """
import torch

x = torch.tensor([1.0, 2.0, 3.0])
y = torch.tensor([3.0, 5.0, 7.0])
w = torch.zeros(2)  # <-

prediction = w[0] * x + w[1]
loss = ((prediction - y) ** 2).mean()
loss.backward()
""",
        note=("requires_grad=True", "w"),
        repair=(("torch.zeros(2)", "torch.zeros(2, requires_grad=True)"),),
        holds="torch.allclose(w.grad, torch.tensor([-68.0 / 3, -10.0]))",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "requires_grad too late",
        """
import torch

x = torch.tensor([1.0, 2.0])
y = x ** 2  # <-
loss = y.sum()

x.requires_grad_()
loss.backward()
print(x.grad)
""",
        note=("before", "requires_grad", "x"),
        repair=(("x = torch.tensor([1.0, 2.0])", "x = torch.tensor([1.0, 2.0], requires_grad=True)"),),
        holds="x.grad.tolist() == [2.0, 4.0]",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "the gradient switched off",
        """
import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(2, 3), nn.Linear(3, 1)
for parameter in [*encoder.parameters(), *head.parameters()]:
    parameter.requires_grad = False  # <-

loss = head(torch.relu(encoder(torch.ones(4, 2)))).mean()
loss.backward()
""",
        note=("parameter.requires_grad = False", "switches the gradient off", "loss"),
        repair=(("[*encoder.parameters(), *head.parameters()]", "encoder.parameters()"),),
        holds="encoder.weight.grad is None and head.bias.grad.tolist() == [1.0]",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "the error silenced",
        """
import torch

w = torch.tensor([0.2, 0.8], requires_grad=True)
x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
y = torch.tensor([1.0, 1.0])

prediction = torch.tensor((x @ w).tolist())  # <-
loss = ((prediction - y) ** 2).mean()
loss.requires_grad = True
loss.backward()
print(w.grad)
""",
        note=("tolist()", "loss.requires_grad = True", "trains nothing"),
        repair=(("torch.tensor((x @ w).tolist())", "x @ w"), ("loss.requires_grad = True\n", "")),
        holds="torch.allclose(w.grad, torch.tensor([-0.8, -0.2]))",
        silent="w.grad is None",
        asked="loss, w",
    ),
    Mistake(
        "no create_graph for the second derivative",
        """
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 3

(slope,) = torch.autograd.grad(y, x)  # <-
(curvature,) = torch.autograd.grad(slope, x)
print(curvature)
""",
        note=("torch.autograd.grad(y, x)", "create_graph=True"),
        repair=(("grad(y, x)", "grad(y, x, create_graph=True)"),),
        holds="slope.item() == 12.0 and curvature.item() == 12.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a penalty on the gradient",
        """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 3).sum()
loss.backward()

penalty = (w.grad ** 2).sum()  # <-
penalty.backward()
""",
        note=("w.grad is a gradient without a history", "create_graph=True"),
        repair=(
            ("loss.backward()\n", "(slope,) = torch.autograd.grad(loss, w, create_graph=True)\n"),
            ("w.grad ** 2", "slope ** 2"),
        ),
        holds="w.grad.tolist() == [36.0, 288.0]",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "one loss in a new tensor",
        """
import torch

w = torch.tensor(3.0, requires_grad=True)
losses = [(w - 1) ** 2]
loss = torch.Tensor(losses).mean()  # <-
loss.backward()
""",
        note=("torch.Tensor(losses)", "torch.stack(losses)"),
        repair=(("torch.Tensor(losses)", "torch.stack(losses)"),),
        holds="w.grad.item() == 4.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a parameter beside a number in a new tensor",
        """
import torch

a = torch.tensor(1.5, requires_grad=True)
scale = torch.tensor([a, 2.0])  # <-
loss = (torch.ones(2) * scale).sum()
loss.backward()
""",
        note=("torch.tensor([a, 2.0])", "torch.stack([a, 2.0])", "all parts must be tensors"),
        repair=(("torch.tensor([a, 2.0])", "torch.stack([a, torch.tensor(2.0)])"),),
        holds="a.grad.item() == 1.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a tensor filled with data",
        """
import torch

w = torch.tensor(1.0, requires_grad=True)
out = torch.zeros(3)
for i in range(3):
    out[i] = (w * i).data  # <-
loss = out.sum()
loss.backward()
""",
        note=("(w * i).data", "Compute with w * i itself"),
        repair=(("(w * i).data", "w * i"),),
        holds="w.grad.item() == 3.0",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "a frozen network asked for its gradient",
        """
import torch
from torch import nn

torch.manual_seed(0)
backbone, head = nn.Linear(2, 3), nn.Linear(3, 1)
for parameter in backbone.parameters():
    parameter.requires_grad = False  # <-
loss = head(backbone(torch.ones(1, 2))).sum()
loss.backward()
""",
        note=("parameter.requires_grad = False", "switches the gradient off"),
        repair=(("parameter.requires_grad = False", "parameter.requires_grad = True"),),
        holds="torch.equal(backbone.bias.grad, head.weight[0])",
        silent="backbone.weight.grad is None and head.weight.grad is not None",
        asked="loss, backbone.weight",
    ),
)


# "modified by an inplace operation": a line wrote into numbers that the backward pass needs ---------------------------

OVERWRITTEN = (
    Mistake(
        "adding to the result of exp",
        """
import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = torch.exp(x)
y += 1  # <-
loss = y.sum()
loss.backward()
""",
        note=("y += 1", "torch.exp(x)", "line 4", "y = y + 1"),
        repair=(("y += 1", "y = y + 1"),),
        holds="torch.equal(x.grad, torch.exp(x))",
        error=MODIFIED,
    ),
    Mistake(
        "a mask after a sigmoid",
        """
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
w = torch.zeros(2, 2, requires_grad=True)
mask = torch.tensor([1.0, 0.0])

gate = torch.sigmoid(x @ w)
gate *= mask  # <-
loss = gate.sum()
loss.backward()
""",
        note=("gate *= mask", "torch.sigmoid", "line 7", "gate = gate * mask"),
        repair=(("gate *= mask", "gate = gate * mask"),),
        holds="w.grad.tolist() == [[1.0, 0.0], [1.5, 0.0]]",
        error=MODIFIED,
    ),
    Mistake(
        "relu in place after tanh",
        """
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
layer = nn.Linear(3, 3)
x = torch.ones(2, 3)

h = torch.tanh(layer(x))
out = F.relu(h, inplace=True) + x  # <-
loss = out.sum()
loss.backward()
""",
        note=("relu", "torch.tanh", "line 9", "inplace"),
        repair=(("F.relu(h, inplace=True)", "F.relu(h)"),),
        holds="torch.allclose(layer.bias.grad, 2.0 * (h[0] > 0) * (1 - h[0] ** 2))",
        error=MODIFIED,
    ),
    Mistake(
        "an element assigned after it was used",
        """
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
z = y ** 2
y[0] = 0.0  # <-
loss = z.sum() + y.sum()
loss.backward()
""",
        note=("y[0] = 0.0", "y ** 2", "line 5", "clone()"),
        repair=(("y[0] = 0.0", "y = y.clone()\ny[0] = 0.0"),),
        holds="x.grad.tolist() == [8.0, 18.0, 26.0]",
        error=MODIFIED,
    ),
    Mistake(
        "an optimizer's step between two backward passes",
        """
import torch
from torch import nn

torch.manual_seed(0)
generator, critic = nn.Linear(1, 1), nn.Linear(1, 1)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)

fake = generator(torch.ones(4, 1))
critic_loss = critic(fake).mean()
generator_loss = -critic(fake).mean()
critic_loss.backward(retain_graph=True)
optimizer.step()  # <-
generator_loss.backward()
""",
        note=("optimizer.step()", "critic(fake)", "line 10", "after the step"),
        repair=(
            ("generator_loss = -critic(fake).mean()\n", ""),
            ("optimizer.step()\n", "optimizer.step()\ngenerator_loss = -critic(fake).mean()\n"),
        ),
        holds="torch.allclose(generator.bias.grad, 0.1 * fake.mean())",
        error=MODIFIED,
    ),
    Mistake(
        "weights clipped before the backward pass",
        """
import torch

w = torch.tensor([3.0, -0.5], requires_grad=True)
loss = (w ** 2).sum()
with torch.no_grad():
    w.clamp_(-1.0, 1.0)  # <-
loss.backward()
""",
        note=("w.clamp_(-1.0, 1.0)", "w ** 2", "line 4", "below the backward pass"),
        repair=(
            ("with torch.no_grad():\n    w.clamp_(-1.0, 1.0)\n", ""),
            ("loss.backward()\n", "loss.backward()\nwith torch.no_grad():\n    w.clamp_(-1.0, 1.0)\n"),
        ),
        holds="w.grad.tolist() == [6.0, -1.0] and w.tolist() == [1.0, -0.5]",
        error=MODIFIED,
    ),
    Mistake(
        "states written into one tensor",
        """
import torch

x = torch.tensor([1.0, 0.5, 0.25])
w = torch.tensor(0.5, requires_grad=True)

states = torch.zeros(4)
for t in range(3):
    states[t + 1] = x[t] + w * states[t]  # <-
loss = states[-1]
loss.backward()
print(w.grad)
""",
        note=("states[t + 1] =", "w * states[t]", "torch.stack"),
        repair=(
            ("states = torch.zeros(4)", "states = [torch.zeros(())]"),
            ("    states[t + 1] = x[t] + w * states[t]", "    states.append(x[t] + w * states[t])"),
            ("loss = states[-1]", "states = torch.stack(states)\nloss = states[-1]"),
        ),
        holds="w.grad.item() == 1.5",
        error=MODIFIED,
    ),
    Mistake(
        "retain_graph in a loop that carries its state",
        """
import torch

w = torch.tensor(0.5, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
h = torch.tensor(1.0)
for x in (0.1, 0.2, 0.3):
    h = torch.tanh(w * h + x)
    loss = (h - 1.0) ** 2
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()  # <-
""",
        note=("optimizer.step()", "retain_graph=True", "h.detach()"),
        repair=(("    h = torch.tanh(w * h + x)", "    h = torch.tanh(w * h.detach() + x)"), ("retain_graph=True", "")),
        holds="torch.allclose(w.grad, 2 * (h - 1) * (1 - h**2) * (torch.atanh(h) - x) / (w + 0.1 * w.grad))",
        error=MODIFIED,
    ),
)


# "Trying to backward through the graph a second time" -----------------------------------------------------------------

TWICE = (
    Mistake(
        "two losses of one graph",
        """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = torch.exp(x)
loss_a = (h ** 2).sum()
loss_b = h.sum()

loss_a.backward()  # <-
loss_b.backward()
""",
        note=("loss_a.backward()", "torch.exp(x)", "(loss_a + loss_b).backward()", "retain_graph=True"),
        repair=(("loss_a.backward()\nloss_b.backward()", "(loss_a + loss_b).backward()"),),
        holds="torch.allclose(x.grad, 2 * torch.exp(2 * x) + torch.exp(x))",
        error=SECOND_TIME,
    ),
    Mistake(
        "a state carried from one iteration to the next",
        """
import torch

w = torch.tensor(0.5, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
h = torch.tensor(1.0)
for x in (0.1, 0.2, 0.3):
    h = torch.tanh(w * h + x)  # <-
    loss = (h - 1.0) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        note=("torch.tanh", "an earlier iteration", "line 10", "h.detach()"),
        repair=(("w * h + x", "w * h.detach() + x"),),
        holds="torch.allclose(w.grad, 2 * (h - 1) * (1 - h**2) * (torch.atanh(h) - x) / (w + 0.1 * w.grad))",
        error=SECOND_TIME,
    ),
    Mistake(
        "a state that a module keeps",
        """
import torch
from torch import nn

class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.h = nn.RNNCell(1, 2), torch.zeros(1, 2)

    def forward(self, x):
        self.h = self.cell(x, self.h)  # <-
        return self.h.sum()

counter = Counter()
for x in (0.1, 0.2):
    loss = counter(torch.tensor([[x]]))
    loss.backward()
""",
        note=("self.h = self.cell(x, self.h)", "an earlier iteration", "line 16", "self.h.detach()"),
        repair=(("self.cell(x, self.h)", "self.cell(x, self.h.detach())"),),
        holds="torch.allclose(counter.cell.bias_hh.grad, 2 - counter.h[0] ** 2"
        " - counter.cell(torch.tensor([[0.1]]), torch.zeros(1, 2))[0] ** 2)",
        error=SECOND_TIME,
    ),
    Mistake(
        "backward called twice",
        """
import torch

w = torch.tensor([1.0, -1.0], requires_grad=True)
loss = (w ** 2).sum()

loss.backward()  # <-
print("first:", w.grad)
loss.backward()
print("second:", w.grad)
""",
        note=("loss.backward()", "Compute loss again", "retain_graph=True"),
        repair=(('loss.backward()\nprint("second', 'loss = (w ** 2).sum()\nloss.backward()\nprint("second'),),
        holds="w.grad.tolist() == [4.0, -4.0]",
        error=SECOND_TIME,
    ),
    Mistake(
        "computed once, before the loop",
        """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
x, y = torch.tensor([1.0, 1.0]), torch.tensor(0.0)

penalty = (w ** 2).sum()  # <-
for step in range(3):
    loss = (w @ x - y) ** 2 + 0.01 * penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        note=("w ** 2", "line 11", "in a loop, inside it"),
        repair=(
            (
                "penalty = (w ** 2).sum()\nfor step in range(3):\n",
                "for step in range(3):\n    penalty = (w ** 2).sum()\n",
            ),
        ),
        holds="torch.allclose(w.grad, 2 * (w + 0.1 * w.grad).sum() + 0.02 * (w + 0.1 * w.grad))",
        error=SECOND_TIME,
    ),
)


# The shape of the target, and the tensors that are differentiated with respect to -------------------------------------

ASKED_WRONG = (
    Mistake(
        "a loss for each element",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
x, y = torch.ones(4, 2), torch.zeros(4, 1)

loss = nn.MSELoss(reduction="none")(model(x), y)  # <-
loss.backward()
""",
        note=("shape (4, 1)", "loss.mean()"),
        repair=(("loss.backward()", "loss.mean().backward()"),),
        holds="torch.allclose(model.bias.grad, 2 * model(x).mean())",
        error=NOT_SCALAR,
    ),
    Mistake(
        "an input that was not used",
        """
import torch

x = torch.tensor([1.0, 2.0, 3.0])
w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(0.0, requires_grad=True)

prediction = w * x
loss = (prediction ** 2).sum()
dw, db = torch.autograd.grad(loss, (w, b))  # <-
""",
        note=("allow_unused=True", "Nothing that leads to loss was computed from b"),
        repair=(("w * x", "w * x + b"),),
        holds="dw.item() == 56.0 and db.item() == 24.0",
        error=NOT_IN_THE_GRAPH,
    ),
    Mistake(
        "an input that requires no gradient",
        """
import torch

x = torch.tensor([1.0, 2.0])
w = torch.tensor(3.0, requires_grad=True)

y = (w * x ** 2).sum()
(slope,) = torch.autograd.grad(y, x)  # <-
""",
        note=("x does not require a gradient", "requires_grad=True"),
        repair=(("torch.tensor([1.0, 2.0])", "torch.tensor([1.0, 2.0], requires_grad=True)"),),
        holds="slope.tolist() == [6.0, 12.0]",
        error="RuntimeError: One of the differentiated Tensors does not require grad",
    ),
    Mistake(
        "integers as weights",
        """
import torch

x = torch.tensor([1.0, 2.0])
w = torch.tensor([1, 2], requires_grad=True)  # <-
loss = (w * x).sum()
loss.backward()
""",
        note=("integers", "decimal point", "dtype=torch.float32"),
        repair=(("torch.tensor([1, 2],", "torch.tensor([1.0, 2.0],"),),
        holds="w.grad.tolist() == [1.0, 2.0]",
        error="RuntimeError: Only Tensors of floating point and complex dtype can require gradients",
    ),
    Mistake(
        "a column taken after the computation",
        """
import torch

points = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
u = (points[:, 0] ** 2 * points[:, 1]).sum()

(u_x,) = torch.autograd.grad(u, points[:, 0])  # <-
print(u_x)
""",
        note=("points[:, 0]", "a new tensor", "points"),
        repair=(
            (
                "(u_x,) = torch.autograd.grad(u, points[:, 0])",
                "(u_points,) = torch.autograd.grad(u, points)\nu_x = u_points[:, 0]",
            ),
        ),
        holds="u_x.tolist() == [4.0, 24.0]",
        error=NOT_IN_THE_GRAPH,
    ),
)


# Leaves, and what is not a leaf any more ------------------------------------------------------------------------------

LEAVES = (
    Mistake(
        "a weight bound to a new tensor",
        """
import torch

x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
w = torch.tensor(0.0, requires_grad=True)
for step in range(10):
    loss = ((w * x - y) ** 2).mean()
    loss.backward()
    w = w - 0.1 * w.grad  # <-
""",
        note=("w = w - 0.1 * w.grad", "a new tensor", "torch.no_grad()", "w -= "),
        repair=(
            ("    w = w - 0.1 * w.grad", "    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None"),
        ),
        holds="torch.allclose(w, torch.tensor(2.0), atol=1e-2)",
        error="TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'",
    ),
    Mistake(
        "a gradient set to zero before there is one",
        """
import torch

w = torch.tensor(1.0, requires_grad=True)
for step in range(3):
    w.grad.zero_()  # <-
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
""",
        note=("w.grad is None", "no backward pass has reached w"),
        repair=(("w.grad.zero_()", "w.grad = None"),),
        holds="w.item() == 2.75 and w.grad.item() == -1.0",
        error="AttributeError: 'NoneType' object has no attribute 'zero_'",
    ),
    Mistake(
        "a weight scaled before it is trained",
        """
import torch

x, y = torch.ones(4, 3), torch.zeros(4)
w = torch.ones(3, requires_grad=True) * 0.1  # <-
optimizer = torch.optim.SGD([w], lr=0.1)

loss = ((x @ w - y) ** 2).mean()
loss.backward()
optimizer.step()
""",
        note=("is not a leaf", "requires_grad_()"),
        repair=(("torch.ones(3, requires_grad=True) * 0.1", "(torch.ones(3) * 0.1).requires_grad_()"),),
        holds="torch.allclose(w.grad, torch.tensor(0.6))",
        error="ValueError: can't optimize a non-leaf Tensor",
    ),
    Mistake(
        "a weight moved to another dtype",
        """
import torch

x = torch.tensor([1.0, 2.0], dtype=torch.float64)
w = torch.tensor([0.5, 0.5], requires_grad=True)
w = w.to(torch.float64)  # <-

loss = (w * x).sum() ** 2
loss.backward()
print(w.grad)
""",
        note=("w = w.to(torch.float64)", "is not a leaf", "requires_grad_()"),
        repair=(
            ("w = torch.tensor([0.5, 0.5], requires_grad=True)\n", "w = torch.tensor([0.5, 0.5])\n"),
            ("w.to(torch.float64)", "w.to(torch.float64).requires_grad_()"),
        ),
        holds="w.grad.tolist() == [3.0, 6.0]",
        silent="w.grad is None",
        asked="loss, w",
    ),
    Mistake(
        "a parameter replaced after the optimizer was built",
        """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.weight = nn.Parameter(torch.tensor([[1.0, 2.0]]))  # <-

for step in range(20):
    loss = model(torch.ones(1, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        note=("model.weight", "no optimizer that took a step has it", "Build the optimizer after"),
        repair=(
            ("optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n", ""),
            ("2.0]]))\n", "2.0]]))\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"),
        ),
        holds="loss.item() < 1e-3",
        silent="model.weight.tolist() == [[1.0, 2.0]] and loss.item() == 9.0",
        asked="loss, model.weight",
    ),
    Mistake(
        "layers in a plain list",
        """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(2, 2)]  # <-
        self.out = nn.Linear(2, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)

torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = model.hidden[0].bias.tolist()
loss = model(torch.ones(1, 2)).sum()
loss.backward()
optimizer.step()
""",
        note=("nn.Linear(2, 2)", "no optimizer that took a step has it", "nn.ModuleList"),
        repair=(("[nn.Linear(2, 2)]", "nn.ModuleList([nn.Linear(2, 2)])"),),
        holds="model.hidden[0].bias.tolist() != before",
        silent="model.hidden[0].bias.tolist() == before",
        asked="loss, model.hidden[0].weight",
    ),
    Mistake(
        "the gradient of a value in between",
        """
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x ** 2  # <-
loss = (3 * h).sum()
loss.backward()
print(h.grad)
""",
        note=("h", "is not a leaf", "h.retain_grad()"),
        repair=(("h = x ** 2", "h = x ** 2\nh.retain_grad()"),),
        holds="h.grad.tolist() == [3.0, 3.0]",
        silent="h.grad is None",
        asked="loss, h",
    ),
    Mistake(
        "an update that PyTorch would record",
        """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 2).sum()
loss.backward()
w -= 0.1 * w.grad  # <-
print(w)
""",
        note=("w -= 0.1 * w.grad", "with torch.no_grad():"),
        repair=(("w -= 0.1 * w.grad", "with torch.no_grad():\n    w -= 0.1 * w.grad"),),
        holds="w.is_leaf and torch.allclose(w, torch.tensor([0.8, 1.6]))",
        error=LEAF_WRITTEN,
    ),
    Mistake(
        "an element of a weight set",
        """
import torch

embedding = torch.ones(3, 2, requires_grad=True)
embedding[0] = 0.0  # <-
loss = (embedding ** 2).sum()
loss.backward()
""",
        note=("embedding[0] = 0.0", "with torch.no_grad():"),
        repair=(("embedding[0] = 0.0", "with torch.no_grad():\n    embedding[0] = 0.0"),),
        holds="embedding.grad.tolist() == [[0.0, 0.0], [2.0, 2.0], [2.0, 2.0]]",
        error=LEAF_VIEW_WRITTEN,
    ),
)


# A gradient that is there, and wrong ----------------------------------------------------------------------------------

WRONG = (
    Mistake(
        "zero_grad forgotten",
        """
import torch

x, y = torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0])
w = torch.tensor(0.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = ((w * x - y) ** 2).mean()
    loss.backward()  # <-
    optimizer.step()
""",
        note=("adds", "w.grad", "optimizer.zero_grad()"),
        repair=(("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()"),),
        holds="torch.allclose(w.grad, torch.tensor(-2.5)) and torch.allclose(w, torch.tensor(1.75))",
        silent="torch.allclose(w.grad, torch.tensor(-10.0 - 5.0 + 2.5)) and torch.allclose(w, torch.tensor(3.75))",
        asked="loss, w",
    ),
    Mistake(
        "the square root of 0 behind where",
        """
import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
safe = x > 0
length = torch.where(safe, torch.sqrt(x), 0.0)  # <-
loss = length.sum()
loss.backward()
print(x.grad)
""",
        note=("sqrt of 0", "torch.where", "1.0"),
        repair=(("torch.sqrt(x)", "torch.sqrt(torch.where(safe, x, 1.0))"),),
        holds="x.grad.tolist() == [0.0, 0.25]",
        silent="x.grad.isnan().tolist() == [True, False] and loss.item() == 2.0",
        asked="loss, x",
    ),
    Mistake(
        "the logarithm of 0 behind where",
        """
import torch

p = torch.tensor([0.0, 0.5, 0.5], requires_grad=True)
logs = torch.log(p)  # <-
entropy = -torch.where(p > 0, p * logs, torch.zeros_like(p)).sum()
entropy.backward()
print(p.grad)
""",
        note=("log of 0", "torch.where", "1.0"),
        repair=(("torch.log(p)", "torch.log(torch.where(p > 0, p, 1.0))"),),
        holds="p.grad[0] == 0 and torch.allclose(p.grad[1:], -torch.log(torch.tensor(0.5)) - 1)",
        silent="p.grad[0].isnan().item() and entropy.isfinite().item()",
        asked="entropy, p",
    ),
    Mistake(
        "0 divided by 0 behind where",
        """
import torch

total = torch.tensor([6.0, 0.0], requires_grad=True)
count = torch.tensor([3.0, 0.0])
mean = total / count  # <-
loss = torch.where(count > 0, mean, 0.0).sum()
loss.backward()
print(total.grad)
""",
        note=("0 divided by 0", "torch.where", "1.0"),
        repair=(("total / count", "total / torch.where(count > 0, count, 1.0)"),),
        holds="torch.allclose(total.grad, torch.tensor([1.0 / 3, 0.0]))",
        silent="total.grad[1].isnan().item() and loss.item() == 2.0",
        asked="loss, total",
    ),
    Mistake(
        "rounded on the way",
        """
import torch

stars = torch.tensor([2.2, 3.7], requires_grad=True)
given = torch.tensor([3.0, 3.0])
loss = (torch.round(stars) - given).pow(2).sum()  # <-
loss.backward()
print(stars.grad)
""",
        note=("torch.round(stars) has steps", "derivative is 0", "smooth function"),
        repair=(("torch.round(stars)", "stars"),),
        holds="torch.allclose(stars.grad, torch.tensor([-1.6, 1.4]))",
        silent="stars.grad.tolist() == [0.0, 0.0] and loss.item() == 2.0",
        asked="loss, stars",
    ),
    Mistake(
        "no_grad to freeze a network",
        """
import torch
from torch import nn

torch.manual_seed(0)
classifier = nn.Linear(3, 2)
image = torch.zeros(1, 3, requires_grad=True)

with torch.no_grad():
    logits = classifier(image)  # <-
loss = nn.functional.cross_entropy(logits, torch.tensor([1]))
loss.backward()
""",
        note=("torch.no_grad()", "requires_grad_(False)"),
        repair=(("with torch.no_grad():\n    logits", "classifier.requires_grad_(False)\nlogits"),),
        holds="classifier.weight.grad is None"
        " and torch.allclose(image.grad, (logits.softmax(1) - torch.tensor([0.0, 1.0])) @ classifier.weight)",
        error=NO_GRAD_FN,
    ),
    Mistake(
        "detach as a statement",
        """
import torch

w = torch.tensor(1.0, requires_grad=True)
target_w = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(2.0)

goal = target_w * x
goal.detach()  # <-
loss = (w * x - goal) ** 2
loss.backward()
print(target_w.grad)
""",
        note=("goal.detach()", "returns a new tensor", "goal = goal.detach()"),
        repair=(("\ngoal.detach()", "\ngoal = goal.detach()"),),
        holds="target_w.grad is None and w.grad.item() == -16.0",
        silent="target_w.grad.item() == 16.0",
        asked="loss, target_w",
    ),
    Mistake(
        "half of the gradient cut",
        """
import torch

w = torch.tensor([3.0, 4.0], requires_grad=True)
length = w.norm().item()  # <-
unit = w / length
loss = unit.sum()
print("loss:", loss.item())
loss.backward()
print(w.grad)
""",
        note=("misses", "w.norm().item()", "Compute with"),
        repair=(("w.norm().item()", "w.norm()"),),
        holds="torch.allclose(w.grad, torch.tensor([0.032, -0.024]))",
        silent="torch.allclose(w.grad, torch.tensor([0.2, 0.2]))",
        asked="loss, w",
    ),
    Mistake(
        "numbers written through data",
        """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
y = w * 3
z = y ** 2
y.data[0] = 0.0  # <-
loss = z.sum() + y.sum()
loss.backward()
""",
        note=("y.data[0] = 0.0 changes y without PyTorch recording it", "clone()"),
        repair=(("y.data[0] = 0.0", "y = y.clone()\ny[0] = 0.0"),),
        holds="w.grad.tolist() == [18.0, 39.0]",
        silent="w.grad.tolist() == [3.0, 39.0]",
        asked="loss, w",
    ),
    Mistake(
        "a result clipped without recording",
        """
import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)
y = w * 3
with torch.no_grad():
    y.clamp_(min=0.0)  # <-
loss = y.sum()
loss.backward()
""",
        note=("y.clamp_(min=0.0) changes y without PyTorch recording it", "outside of no_grad()"),
        repair=(("with torch.no_grad():\n    y.clamp_(min=0.0)", "y = y.clone()\ny.clamp_(min=0.0)"),),
        holds="w.grad.tolist() == [3.0, 0.0]",
        silent="w.grad.tolist() == [3.0, 3.0]",
        asked="loss, w",
    ),
    Mistake(
        "detach in a recurrent loop",
        """
import torch

w = torch.tensor(2.0, requires_grad=True)
h = torch.tensor(1.0)
for x in (0.5, 1.5):
    h = w * h.detach() + x  # <-
loss = h ** 2
loss.backward()
""",
        note=("On another path, nothing flows back", "h.detach() cuts the flow on purpose", "Use h itself"),
        repair=(("h.detach()", "h"),),
        holds="w.grad.item() == 2 * 6.5 * (2 * 2.0 + 0.5)",
        silent="w.grad.item() == 2 * 6.5 * 2.5",
        asked="loss, w",
    ),
)

MISTAKES = (*CUT, *OVERWRITTEN, *TWICE, *ASKED_WRONG, *LEAVES, *WRONG)
