"""The exercises of appendix C, PyTorch and JAX under the player: five `.grad`s, three lines to blame, a batch.

None of them needs PyTorch. `tests/frameworks/test_appendix_torch.py` runs their programs with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercises import Function, Number, Table
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "In the next cell, the first pass sends −10 back to `rate`, the second 6.5. What does `rate.grad` hold then?",
        answer="−3.5",
        choices=("6.5", "−10", "−3.5"),
        hints={
            "6.5": "That's the gradient of the second loss. Was anything in `rate.grad` before?",
            "−10": "That's what the first pass left. The second one doesn't leave it as it is.",
        },
        why="`backward()` adds to what is there: −10 + 6.5. Nothing in this cell clears it.",
    ),
    Prediction(
        "Without clearing, the loss has gone from 3.5 to 1.69 and to 5.06. What does it do in thirty turns?",
        answer="It keeps swinging",
        choices=("It settles near 0, only later", "It keeps swinging", "It grows without end"),
        hints={
            "It settles near 0, only later": "A step goes by the sum of all gradients so far. Does anything make the "
            "old ones count for less?",
            "It grows without end": "Once a parameter has gone too far, its new gradients have the other sign. What do "
            "they do to the sum?",
        },
        why="The new gradients turn the steps round, but too late each time: the old ones still count in full.",
    ),
    Prediction(
        "In the next cell, −10 flows back to `rate`. What does `rate.grad` hold?",
        answer="None",
        choices=("−10", "−0.1", "0", "None"),
        hints={
            "−10": "That flows through `rate`, and on to what `rate` was computed from.",
            "−0.1": "That arrives one step further back, at the tensor that was divided by 100.",
            "0": "Nobody puts a 0 there.",
        },
        why="`rate` is the result of a division, and PyTorch keeps `.grad` only where the path ends.",
    ),
    Prediction(
        "In the next cell, `y` is three times `x * x`. What does `x.grad` hold?",
        answer="6",
        choices=("0", "6", "12", "18"),
        hints={
            "0": "One of the three, `square` itself, is still connected.",
            "12": "That's two of the three. Does anything flow back from `target`, or from `bound`?",
            "18": "That's the slope of 3x². Does anything flow back from `target`, or from `bound`?",
        },
        why="Only `square` is connected, and its slope is 2x = 6.",
    ),
    Prediction(
        "In the next cell, `loss.backward()` begins at `loss`, in line 5. How far back does it get before the error?",
        answer="through line 4, to line 3",
        choices=("it doesn't begin", "to line 4", "through line 4, to line 3"),
        hints={
            "it doesn't begin": "The logarithm in line 5 reads the new numbers, and those are still there.",
            "to line 4": "The division keeps what it needs before it writes. Whose numbers are gone?",
        },
        why="Only `torch.exp` needs the numbers that line 4 has written over.",
    ),
    Prediction(
        "In the next cell, `base` is cut off by `stop_gradient`. What is the slope of the loss with respect to it?",
        answer="0",
        choices=("−3", "0", "None"),
        hints={
            "−3": "That's the slope without the cut.",
            "None": "PyTorch would leave `None`. A JAX function always returns a number.",
        },
        why="JAX has no `None`: a cut looks like a flat spot.",
    ),
)

GRADS = Table(
    "What does .grad hold?",
    """\
Each program starts anew with `w = torch.tensor(2.0, requires_grad=True)`. What does the last line show? Write a number, or `None`.

```python
# a
(3 * w).backward()
(w * w).backward()
w.grad

# b
(3 * w).backward()
w.grad = None
(w * w).backward()
w.grad

# c
y = 3 * w
(y.detach() * w).backward()
w.grad

# d
v = 2 * w
(v * v).backward()
v.grad

# e
with torch.no_grad():
    y = w * w
(y + 5 * w).backward()
w.grad
```""",
    parts={
        "a": Number(
            answer=7,
            hints={
                4: "4 is what the second pass sends back in `a`. What did the first one leave?",
                3: "3 is what the first pass leaves in `a`. The second adds to it.",
                5: "In `a`, the slope of `w * w` is 2w, and `w` is 2.",
                None: "In `a`, `w` is a leaf, and two passes reach it.",
            },
        ),
        "b": Number(
            answer=4,
            hints={
                7: "In `b`, what the first pass left is gone by the time the second begins.",
                3: "In `b`, 3 is what the first pass leaves. The next line throws it away.",
                2: "In `b`, the slope of `w * w` is 2w, and `w` is 2.",
                None: "In `b`, `None` is there only until the second pass.",
            },
        ),
        "c": Number(
            answer=6,
            hints={
                12: "In `c`, 12 is the slope of 3w². One of the two factors is cut off.",
                3: "In `c`, 3 is the slope of `y`, and nothing flows back to `y`.",
                2: "In `c`, 2 would flow back to `y`, but `detach` cuts there. What flows to the `w` on the right?",
                0: "In `c`, the factor `w` on the right is still connected.",
                None: "In `c`, the factor `w` on the right is still connected.",
            },
        ),
        "d": Number(
            answer=None,
            hints={
                8: "In `d`, 8 flows back to `v`. Does it stay there? Ask whether `v` is a leaf.",
                4: "In `d`, 4 is the value of `v`. What flows back to it, and does that stay there?",
                16: "In `d`, 16 is what `w.grad` holds. The last line asks for `v.grad`.",
                0: "In `d`, nobody puts a 0 there. Ask whether `v` is a leaf.",
            },
        ),
        "e": Number(
            answer=5,
            hints={
                9: "In `e`, 9 counts the slope of `w * w`, which was computed while nothing was recorded.",
                4: "In `e`, 4 is the slope of `w * w`, which was computed while nothing was recorded.",
                0: "In `e`, the path through `5 * w` is still there.",
                None: "In `e`, the path through `5 * w` is still there.",
            },
        ),
    },
    why="`backward()` adds, `None` clears, a cut factor counts as a plain number, and only a leaf keeps its gradient.",
    minutes=5,
)

LINES = Table(
    "Which line?",
    """\
Three programs, each with what somebody wrote about it. In each, one line is to blame. Which is it? (`x`, `y`, `start`, `mask` and `label` are data. In b and c, `w` is a leaf that requires a gradient.)

a) "The loss is the same number in every turn. No error."

```
1  w = torch.zeros(3, requires_grad=True)
2  optimizer = torch.optim.SGD([w], lr=0.1)
3  w = w + start
4  for turn in range(100):
5      optimizer.zero_grad()
6      loss = torch.mean((x @ w - y) ** 2)
7      loss.backward()
8      optimizer.step()
```

b) "Line 5 raises: … has been modified by an inplace operation."

```
1  p = torch.sigmoid(x @ w)
2  error = p - y
3  p *= mask
4  loss = torch.mean(error ** 2) + torch.mean(p)
5  loss.backward()
```

c) "Line 5 raises: element 0 of tensors does not require grad."

```
1  p = torch.softmax(x @ w, dim=1)
2  guess = p.argmax(dim=1)
3  wrong = (guess - label) ** 2
4  loss = torch.mean(wrong.float())
5  loss.backward()
```""",
    parts={
        "a": Number(
            answer=3,
            hints={
                1: "Line 1 of `a` makes a leaf, as it should. What is `w` in line 6?",
                2: "Line 2 of `a` is given a leaf, as it should be. Is that the `w` of line 6?",
                4: "Line 4 of `a` only repeats the others. Which tensor does the optimizer train?",
                5: "Line 5 of `a` clears the gradient of the tensor that line 2 was given. Is that the `w` of line 6?",
                6: "Line 6 of `a` is right. Is its `w` the tensor that line 2 was given?",
                7: "Line 7 of `a` sends a gradient all the way back, to a tensor that has lost its name.",
                8: "Line 8 of `a` moves the tensor that line 2 was given. Is that the `w` of line 6?",
            },
            otherwise="For `a`, write the number of one of its lines. Which tensor does the optimizer train?",
        ),
        "b": Number(
            answer=3,
            hints={
                1: "Line 1 of `b` keeps its result for the backward pass. Which line writes into that?",
                2: "Line 2 of `b` makes a new tensor. Which line writes into an old one?",
                4: "Line 4 of `b` only reads. Which line writes?",
                5: "Line 5 of `b` is where it comes to light. Which line wrote into a tensor?",
            },
            otherwise="For `b`, write the number of one of its lines. Which one writes into a tensor?",
        ),
        "c": Number(
            answer=2,
            hints={
                1: "Line 1 of `c` is smooth, and recorded. What comes out of the next line?",
                3: "At line 3 of `c`, `guess` is already cut off: it holds whole numbers.",
                4: "Line 4 of `c` turns whole numbers into floats. The path was cut before.",
                5: "Line 5 of `c` is where it comes to light. Follow the path back from `loss`: where does it end?",
            },
            otherwise="For `c`, write the number of one of its lines. Where does the path back from `loss` end?",
        ),
    },
    called="line",
    why="A new tensor under an old name, a write into a result that is needed later, and a position, which has no slope. "
    "Where there is an error, another line is to blame.",
    minutes=5,
)


def scales(sizes: Any) -> Any:
    """Return the factor of each part's loss."""
    return np.array(sizes) / np.sum(sizes)


SCALES = Function(
    "A batch in parts",
    """\
A batch doesn't fit into memory. So you cut it into parts, clear the gradients once, and call `backward()` for the loss of each part, which is the *mean* over its samples. The gradients add up, but not to the gradient of the mean over the whole batch.

Write `scales(sizes)`, which is given how many samples each part has, and returns the factor by which to multiply the loss of each part so that they do. A list or an array will do.""",
    signature="scales(sizes)",
    cases=[([5, 3],), ([4, 4, 4],), ([7],), ([1, 2, 2, 5],)],
    answer=scales,
    spellings=[lambda sizes: [size / sum(sizes) for size in sizes]],
    hints=[
        (
            lambda sizes: np.ones(len(sizes)),
            "Without a factor, three equal parts give three times the gradient.",
        ),
        (
            lambda sizes: np.array(sizes) / np.max(sizes),
            "The larger part counts for more, as it should. But three equal parts still give three times the gradient.",
        ),
        (
            lambda sizes: np.array(sizes) * len(sizes) / np.sum(sizes),
            "Your factors add up to the number of parts. For a mean over the batch, they add up to 1.",
        ),
        (
            lambda sizes: np.full(len(sizes), 1 / len(sizes)),
            "That's right for parts of the same size. A part of five samples counts for more than one of three.",
        ),
        (
            lambda sizes: np.full(len(sizes), 1 / np.sum(sizes)),
            "The loss of a part is already divided by its own size. Undo that first.",
        ),
        (
            lambda sizes: np.array(sizes) * 1.0,
            "That makes a sum over all samples. The mean is wanted.",
        ),
        (
            lambda sizes: 1 / np.array(sizes),
            "The loss of a part is already divided by its own size.",
        ),
        (
            lambda sizes: np.sum(sizes) / np.array(sizes),
            "The other way round: the larger part should count for more.",
        ),
        (
            lambda sizes: np.array(sizes) / len(sizes),
            "Divide by how many samples there are in all, not by how many parts.",
        ),
    ],
    why="Each mean is multiplied by its share of the samples, and then adding up, which `backward()` does anyway, is "
    "just what you want.",
    minutes=5,
)

QUESTIONS = (*PREDICTIONS, GRADS, LINES, SCALES)
