"""Cases of indexing, in every form that NumPy has, and of the two operations it is pulled back with."""

import numpy as np

from autodiff_edu.rules.shapes import gather, scatter

from .case import case


def indexing(text):
    """A case that takes `x[text]` of an array of shape (3, 4, 2)."""
    index = eval(f"np.s_[{text}]")
    return case(f"x[{text}]", lambda x: x[index], (3, 4, 2))


CASES = [
    *(
        indexing(text)
        for text in [
            "1",
            "-1, 2, 0",
            "1:",
            "::-1",
            "2:0:-2, ::2",
            "...",
            "..., 0",
            "1, ..., ::-1",
            "None",
            ":, None, 1",
            "0:0",
            "[0, 2]",
            "[2, 2, 0, 2]",
            "np.array([[0, 1], [1, 1]])",
            "np.array(1)",
            "[0, 1], [2, 2]",
            "[0, 0, 0], [1, 1, 2], [1, 1, 0]",
            "[0, 2], :, [1, 0]",
            "1, :, [1, 1]",
            "..., [1, 0, 1]",
            "[[0], [2]], [1, 3]",
            "None, [0, 1], ..., None",
            "np.array([True, False, True])",
            "[True, False, True], 1",
            "np.arange(24).reshape(3, 4, 2) % 3 == 0",
            "np.array([True, False, True]), [1, 1]",
            ":, np.array([True, False, True, True]), 0",
        ]
    ),
    case("x[tensor]", lambda x: x[np.argmax(x)], (4,), real=True),
    case("for row in x", lambda x: sum(k * row for k, row in enumerate(x, 1)), (3, 2)),
    case("gather", lambda x: gather(x, np.array([0, 2, 2]), (3, 2)) if np.ndim(x) else x, (3, 2)),
    case("scatter", lambda g: scatter(g, np.array([0, 2, 2]), (3, 2)), (3, 2)),
    case("scatter of a slice", lambda g: scatter(g, (slice(1, 3), 0), (3, 2)), (2,)),
]
