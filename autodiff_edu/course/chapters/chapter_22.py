"""Chapter 22, a project: its predictions, and the milestones of its four projects, which have a file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..predictions import Prediction
from .project_attention import attention
from .project_convolution import convolution
from .project_physics import physics
from .project_tape import own_tape

EXERCISES: dict[str, Callable[[Any], str]] = {
    "22.1": physics,
    "22.2": attention,
    "22.3": convolution,
    "22.4": own_tape,
}
"""The checks by exercise."""

PREDICTIONS: dict[str, Prediction] = {
    "22.a": Prediction(
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
    "22.b": Prediction(
        "The tea needed one condition besides its equation. How many does u″ = −u need?",
        answer=2,
        hints={
            1: "sin(x) and 2 sin(x) both begin at 0. What tells them apart?",
            0: "Without any, u(x) = 0 has loss 0, and so has cos(x).",
            3: "A place to begin and a speed are enough. What would the third one be?",
        },
        why="Where it begins and how fast: sin(x) and 2 sin(x) both begin at 0.",
    ),
    "22.c": Prediction(
        "A mask after the softmax sets the shares of later tokens to 0. Do the first token's shares still add up to 1?",
        answer="no, to less than 1",
        choices=("yes", "no, to less than 1", "no, to more than 1"),
        hints={
            "yes": "They added up to 1 before some of them were taken away.",
            "no, to more than 1": "Shares are positive, and some of them were taken away.",
        },
        why="The softmax divided by a sum with the future in it. So mask the scores, before the softmax.",
    ),
    "22.d": Prediction(
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
    "22.e": Prediction(
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
}
"""The predictions by their ids."""
