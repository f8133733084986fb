"""What the chapter "A cup of tea" asks: the answers, the wrong answers that students give, and a hint for each.

The notebook 01-a-cup-of-tea.ipynb shows these questions. It finds them by their order below: `predict("1.a")` is the
first prediction of chapter 1, `predict("1.b")` the second, and `check("1.1", answer)` judges the first exercise.
The texts are Markdown. When you have changed something here, run both:

    python -m autodiff_edu.course check                          to test every answer and every hint
    python -m autodiff_edu.course execute 01-a-cup-of-tea.ipynb  to bring the notebook up to date, and run it
"""

import numpy as np

from autodiff_edu.course import Number, Prediction

QUESTIONS = (
    # A prediction is asked before the cell that shows the answer. It is plain text and ends with a question mark.
    Prediction(
        "What is the slope of the temperature at t = 0, in degrees per minute?",
        # What is right: a number, None, a shape such as (2, 3), or one of `choices=("up", "down")`.
        answer=-2,
        # A wrong answer that you expect, and the hint for it. Any other gets a general sentence.
        hints={
            2: "That is how fast it changes. But does it get warmer or colder?",
            -60: "It cools by 60 degrees in all, and `t / 30.0` makes that 30 times slower.",
            80: "That is the temperature itself at t = 0.",
        },
        # What a student reads once the question is settled.
        why="The curve falls from 60 degrees above the room, 30 times slower than `np.exp(-t)`: -60 / 30.",
        # The relative tolerance: 0.01 is 1 %, and also what holds if this line is left out.
        within=0.01,
    ),
    # An exercise has a title and a question, and `check` judges its answer. `Number` is the simplest form;
    # autodiff_edu.course has the others: Shape, Choice, Table, Function, Recording and Judge.
    Number(
        "Half a degree per minute",
        """\
The tea cools more and more slowly. After how many minutes does it lose half a degree per minute? A formula is fine as
an answer: `np.log` is the logarithm.""",
        # Three digits are enough.
        answer=30 * np.log(4),
        within=0.005,
        # These keys are computed, so that nobody has to ask where 20.79 comes from.
        hints={
            30 * np.log(2): "By then it loses one degree per minute. You want half of that.",
            30 * np.log(3): "By then it is 20 degrees above the room and not 40 or 80. But how fast does it cool?",
            -30 * np.log(4): "That is before the tea was poured. Check the sign of the logarithm.",
        },
        why="The slope is `-2 * np.exp(-t / 30)`. It is -0.5 when the exponential is 1/4.",
    ),
)
