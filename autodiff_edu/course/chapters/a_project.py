"""A project: its predictions, and the milestones of its four projects, which have a file each."""

from __future__ import annotations

from ..exercises import Exercise
from ..milestones import Milestones
from ..predictions import Prediction
from . import project_attention, project_convolution, project_physics, project_tape

QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "How many contributions arrive at w in the backward pass?",
        answer=2,
        hints={
            1: "u is computed from w. And the rate?",
            3: "`violation` uses u twice, but those contributions arrive at u, and go on to w as one.",
            4: "Count the operations that take w itself: each sends one contribution.",
        },
        why="One from w * 2.0, which computes u, and one from the product in `rate`, which takes w itself.",
    ),
    Prediction(
        "The loss is the mean of (u′ + u)². Which of these functions has loss 0?",
        answer="u(x) = 0",
        choices=("u(x) = 0", "u(x) = 1", "u(x) = x", "none: only e⁻ˣ does"),
        hints={
            "u(x) = 1": "Its slope is 0, so u′ + u is 1 everywhere.",
            "u(x) = x": "Its slope is 1, so u′ + u is 1 + x.",
            "none: only e⁻ˣ does": "So does 2e⁻ˣ. What about half of e⁻ˣ, or 0 times e⁻ˣ?",
        },
        why="u′ + u is 0 + 0. So 0 is as good as e⁻ˣ, for this loss.",
    ),
    Prediction(
        "Which of these sentences from a report would earn a point for Measured?",
        answer="at 301 points of [0, 3], it is off by 0.002 at worst",
        choices=(
            "the loss is 2e-5 in the end",
            "at 301 points of [0, 3], it is off by 0.002 at worst",
            "at the 20 trained points, it is off by 0.002 at worst",
            "the gradient agrees with central differences",
        ),
        hints={
            "the loss is 2e-5 in the end": "A's loss was lower still. What did the question ask for?",
            "at the 20 trained points, it is off by 0.002 at worst": "That is a number for the question, but on what was "
            "trained on.",
            "the gradient agrees with central differences": "That earns a point for Checked. It says nothing about e⁻ˣ.",
        },
        why="It answers the question, and 300 of the points or so weren't trained on.",
    ),
    Prediction(
        "The tea needed one condition besides its equation. How many does u″ = −u need?",
        answer=2,
        hints={
            1: "sin(x) and 2 sin(x) both begin at 0. What tells them apart?",
            0: "Without any, u(x) = 0 has loss 0, and so has cos(x).",
            3: "A place to begin and a speed are enough. What would the third one be?",
        },
        why="Where it begins and how fast: sin(x) and 2 sin(x) both begin at 0.",
    ),
    Prediction(
        "A mask after the softmax sets the shares of later tokens to 0. Do the first token's shares still add up to 1?",
        answer="no, to less than 1",
        choices=("yes", "no, to less than 1", "no, to more than 1"),
        hints={
            "yes": "They added up to 1 before some of them were taken away.",
            "no, to more than 1": "Shares are positive, and some of them were taken away.",
        },
        why="The softmax divided by a sum with the future in it. So mask the scores, before the softmax.",
    ),
    Prediction(
        "A kernel of 3 × 3 slides over a picture of 20 × 20. What shape does the result have?",
        answer=(18, 18),
        hints={
            (20, 20): "At the rim, a part of the kernel would lie outside.",
            (17, 17): "From the first place to the last there are 17 steps. How many places is that?",
            (3, 3): "That is the kernel. At how many places does it fit?",
            (18, 18, 3, 3): "Those are the windows. The products in each are added up.",
        },
        why="It fits at 20 − 3 + 1 = 18 places in each direction.",
    ),
    Prediction(
        "The program above computes 2 · 3 + 2. If your tape writes `=` in place of `+=`, what slope does the first "
        "input get?",
        answer=3,
        hints={
            4: "That's the right slope, 3 + 1, and needs `+=`.",
            1: "The walk goes backward: the addition comes first. Which contribution is written last?",
            2: "That's the slope of the second input.",
        },
        why="The addition's 1 arrives first, and the product's 3 then replaces it.",
    ),
    Milestones(
        "",
        """\
| milestone | hand in |
|---|---|
| 1 `"second"` | `second(u, x)`: u″ at each number in the array `x`, for any function `u` that works elementwise; training differentiates it once more, so a tape must be able to follow. The course has taught at least five ways, and each counts |
| 2 `"loss"` | `loss(u)`, for a *function* u: one number, which is 0 for sin(x), and clearly above 0 for a function that breaks the equation or one of the two conditions |
| 3 `"solution"` | `solution(x)`: your trained network, nowhere more than 0.05 away from sin(x) on [0, π] |
| 4 `"errors"` | `{"inside": …, "outside": …}`: the largest distance between solution(x) and sin(x) on [0, π] and on [π, 2π], to two significant digits, such as 0.0012; it counts once milestone 3 is reached |

**Likely mistakes**

- You take the gradient with respect to the weights where you need the slope with respect to `x`.
- You leave a condition out, or square only some of the parts.
- You train the network on `points` and measure it on the same `points`.
- You stop the optimizer too early. Plot the loss on a logarithmic axis.

**A good report shows** `second` by two ways that agree, the loss's parts one by one, the error at points between the trained ones, and what more units or more points change.

**Further.** u″ = −u − 0.2u′, whose solution you can look up. Make the frequency a variable, and find it from five measured positions. Replace Adam by chapter 17's Newton steps.""",
        parts=project_physics.MILESTONES,
        answer=project_physics.RIGHT,
        why=project_physics.WHY,
    ),
    Milestones(
        "",
        """\
The picture shows the slopes of such a layer for six tokens of one number each, where q, k and v are all x. In your layer, each token has d numbers, so each field becomes a block of d × d slopes.

The picture's layer multiplies exp(scores) by `np.tri`, which works for small scores. For large ones, exp overflows before the mask can remove anything. So mask the scores first, and then subtract each row's largest score before exp, as in chapter 12.

| milestone | hand in |
|---|---|
| 1 `"attend"` | `attend(q, k, v)` for arrays or tensors of shape (sentences, tokens, d), for any number of sentences, tokens and d; scores of 1000 must not give NaN |
| 2 `"causal"` | `causal(q, k, v)`: the same, but token i mixes only the tokens up to and including i |
| 3 `"pull"` | `pull(q, k, v, g)`: the cotangents of q, k and v, given the cotangent `g` of the result of `attend`, by formulas and without a tape |
| 4 `"reach"` | `reach(f, x)`: for any `f` that maps `x`, of shape (tokens, d), to that same shape: a table of `True` and `False`. [i, j] says whether output i has a nonzero slope with respect to token j at this x. Read it off the Jacobian's blocks |

**Likely mistakes**

- The softmax runs along the wrong axis. It's the shares of one *query* that add up to 1.
- The mask multiplies the scores by 0. But exp(0) is 1, so the token still gets a share. And 0 · −∞ is NaN, so choose by `np.where`.
- The mask comes after the softmax, so the shares no longer add up to 1.
- `pull` treats the softmax as elementwise.
- `reach` adds slopes before taking absolute values, so that they cancel.

**A good report shows** `pull` against the tape, the table of `reach` before and after the mask (for `lambda x: causal(x[None], x[None], x[None])[0]` and one sentence), and the number of bytes that the tape keeps for 10, 100 and 1000 tokens. It answers one more question: you have shown that no output has a slope with respect to a later token, at your x. Why is this not a proof? What would be?

**Further.** Several heads, with one more letter in the einsum. Train one layer to copy the token before. Put `ad.checkpoint` around it and measure again.""",
        parts=project_attention.MILESTONES,
        why=project_attention.WHY,
    ),
    Milestones(
        "",
        """\
| milestone | hand in |
|---|---|
| 1 `"slide"` | `slide(image, kernel)`: the sum of products at each place where the kernel fits, by `sliding_window_view`; it must also work on tensors |
| 2 `"to_kernel"` | `to_kernel(image, g)`: the cotangent of the kernel, given the cotangent `g` of the result, without a tape |
| 3 `"to_image"` | `to_image(kernel, g)`: the cotangent of the image, given the same `g`, without a tape |
| 4 `"learned"` | the kernel of 3 × 3 numbers that makes `edges` out of `picture`, found by training, each number within 0.05 |

**Likely mistakes**

- You turn the kernel around. Mathematicians do, and call the result a convolution. Networks don't, so what they compute is really a **cross-correlation**.
- Your cotangent of the image is too small. Before you slide over `g`, pad it, so that the kernel also reaches the picture's rim.
- You slide over `g` with the kernel as it is. For the picture, it does have to be turned around. Do you see why?
- You write 3 × 3 into a function. `check` sends kernels of other sizes.

**A good report shows** both cotangents against the tape, the loss over the steps, the learned kernel as a picture, and how much noise in `edges` it tolerates.

**Further.** Several channels, with one more axis in the windows. A stride of 2. Two such layers with a relu between them, on pictures of crosses and circles that you draw yourself.""",
        parts=project_convolution.MILESTONES,
        why=project_convolution.WHY,
    ),
    Milestones(
        "",
        r'''This little program stands in for yours. It speaks the format and can add, and its gradients are all 0. Replace it. The source of your program stays in the notebook, as text, and `run(text)` starts it and returns what it prints:

```python
TAPE = r"""…"""  # the r keeps a \n in your program as it is


def run(text):
    how = {"capture_output": True, "text": True, "check": True}
    command = ["node", "-e", TAPE]
    return subprocess.run(command, input=text, timeout=60, **how).stdout
```

A language that you compile takes three lines more. Write the source to a file and compile it in an earlier cell. Then the command in `run` is the finished program:

```python
with open("tape.rs", "w") as file:
    file.write(TAPE)
subprocess.run(["rustc", "-O", "tape.rs"], check=True)
```

So for Rust the command is `["./tape"]`. For C, write `tape.c` and call `["cc", "-O2", "tape.c", "-o", "tape", "-lm"]`. (A notebook that runs inside the browser can't start other programs: for this project, work on a computer of your own.)

The milestones build on each other, so here the count stops at the first that isn't reached.

| milestone | `check` sends |
|---|---|
| 1 values | programs with `add`, `sub`, `mul` and `div`; only the values count, and the gradients may be `[]` |
| 2 chains | programs that use each value once, with all eight operations |
| 3 forks | programs that use values twice or not at all |
| 4 all | 40 random programs of 30 operations, with a relative error below 1e-9 |

**Likely mistakes**

- You write `=` in place of `+=`.
- You don't set the gradient to 0 before the next program.
- `["mul", 0, 0]` uses the same value twice, and only one use contributes.
- Nothing uses an input, and its slope is missing. It is 0.
- You print numbers with six digits, or compute with 32-bit floats.

**A good report shows** the tape's code in full, how you found your last mistake, and how long 1000 operations take in your language and here.

**Further.** Arrays with `matmul` and `sum`. Forward mode beside it, so that your two modes can check each other. Draw the tape.''',
        parts=project_tape.MILESTONES,
        in_order=True,
        why=project_tape.WHY,
    ),
)
